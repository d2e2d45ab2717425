//! Whether what was available was used, and rules were obeyed, by a judge.

use super::judge::Judge;
use super::{Evaluated, Layer, Workpiece};
use crate::domain::{Evaluator, Problem};
use crate::process::Stop;

/// What was available to the agent, and what it had to obey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUseSettings {}

impl ToolUseSettings {
    /// Reads the layers; later ones go over earlier ones, key by key.
    pub fn read(_layers: &[Layer<'_>], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

/// Asks the judge about each thing that was available and each rule that applies; none where the user stopped it.
pub fn tool_use(_piece: &Workpiece, _judge: &Judge, _settings: &ToolUseSettings, _stop: &Stop) -> Option<Evaluated> {
    Some(Evaluated::missing(Evaluator::ToolUse, "not yet"))
}

/// Returns the hash of the judge's instructions and of the form of its question: other words are another measure.
pub fn tool_use_prompt_sha256() -> String {
    String::new()
}
