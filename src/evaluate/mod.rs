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

pub use answer::{AnswerError, AnswerOutcome, parse_answer, score};
pub use code_quality::{CodeQualitySettings, code_quality};
pub use command_result::{CommandResult, Ground, Purpose, Runner, first_tools, tools_of};
pub use complexity::{ComplexitySettings, complexity};
pub use efficiency::{EfficiencySettings, efficiency};
pub use evaluated::{Effort, Evaluated, EvaluatedItem, Judged, Workpiece, points};
pub use fulfilment::{FulfilmentSettings, fulfilment, fulfilment_prompt_sha256, fulfilment_sum};
pub use functional::{FunctionalSettings, functional};
pub use judge::{Judge, Order};
pub use layer::Layer;
pub use test_report::simple_commands;
pub use tool_use::{ToolUseSettings, tool_use, tool_use_prompt_sha256};
