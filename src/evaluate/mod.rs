//! Evaluators: what an agent's answer, the tests' reports or a finished workspace are worth. One evaluator per file.

mod answer;
pub mod code;
mod evaluated;
pub mod test_report;

pub use answer::{AnswerError, AnswerOutcome, parse_answer, score};
pub use evaluated::{Effort, Evaluated, EvaluatedItem, Judged, Workpiece, points};
