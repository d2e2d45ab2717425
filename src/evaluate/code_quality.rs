//! What static analysis finds.

use super::command_result::Runner;
use super::evaluated::{Evaluated, Workpiece};
use super::layer::Layer;
use crate::domain::{Evaluator, Problem};

#[derive(Clone, Debug, PartialEq, Default)]
pub struct CodeQualitySettings {}

impl CodeQualitySettings {
    pub fn read(_layers: &[Layer], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

/// None where the run was stopped meanwhile.
pub fn code_quality(_runner: &Runner, _piece: &Workpiece, _settings: &CodeQualitySettings) -> Option<Evaluated> {
    Some(Evaluated::missing(Evaluator::CodeQuality, "not measured"))
}
