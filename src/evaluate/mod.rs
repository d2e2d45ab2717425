//! Evaluators: what an agent's answer or a finished workspace is worth. One evaluator per file.

mod answer;

pub use answer::{AnswerError, AnswerOutcome, parse_answer, score};
