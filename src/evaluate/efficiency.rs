//! What the work took.

use super::evaluated::{Evaluated, Workpiece};
use super::layer::Layer;
use crate::domain::{Evaluator, Problem};

/// Every constant of the formula.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EfficiencySettings {}

impl EfficiencySettings {
    pub fn read(_layers: &[Layer], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

pub fn efficiency(_piece: &Workpiece, _settings: &EfficiencySettings) -> Evaluated {
    Evaluated::missing(Evaluator::Efficiency, "not measured")
}
