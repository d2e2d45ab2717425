//! Evaluators: they score an agent's answer, test reports or finished workspace. Each evaluator has its own file.

mod answer;
mod budget;
pub mod code;
mod code_quality;
mod command_result;
mod complexity;
mod coverage;
#[cfg(test)]
mod documented;
mod efficiency;
mod evaluated;
mod excerpts;
mod fulfilment;
mod functional;
mod judge;
mod layer;
mod path_pattern;
#[cfg(test)]
mod sample;
pub mod test_report;
mod tool_use;
mod transcript;

pub use answer::{AnswerError, AnswerOutcome, parse_answer, score_answer};
pub use code_quality::{CodeQualitySettings, evaluate_code_quality};
pub use command_result::{
    CommandContext, CommandPurpose, CommandResult, CommandRunner, named_tools, required_tools,
};
pub use complexity::{ComplexitySettings, evaluate_complexity};
pub use efficiency::{EfficiencySettings, evaluate_efficiency};
pub use evaluated::{Effort, EvaluatorItem, EvaluatorResult, JudgeRecord, Workpiece, clamp_score};
pub use fulfilment::{
    FulfilmentSettings, evaluate_fulfilment, fulfilment_prompt_sha256, score_fulfilment,
};
pub use functional::{FunctionalSettings, evaluate_functional};
pub use judge::{CriteriaOrder, JudgeAgent};
pub use layer::SettingsLayer;
pub use test_report::simple_commands;
pub use tool_use::{ToolUseSettings, evaluate_tool_use, tool_use_prompt_sha256};
