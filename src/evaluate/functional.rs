//! Whether it builds, passes its tests and is covered by them.

use super::command_result::Runner;
use super::evaluated::{Evaluated, Workpiece};
use super::layer::Layer;
use crate::domain::{Evaluator, Problem};

#[derive(Clone, Debug, PartialEq, Default)]
pub struct FunctionalSettings {}

impl FunctionalSettings {
    pub fn read(_layers: &[Layer], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

/// None where the run was stopped meanwhile.
pub fn functional(_runner: &Runner, _piece: &Workpiece, _settings: &FunctionalSettings) -> Option<Evaluated> {
    Some(Evaluated::missing(Evaluator::Functional, "not measured"))
}
