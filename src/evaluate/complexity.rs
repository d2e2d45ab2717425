//! How dense the code is.

use super::evaluated::{Evaluated, Workpiece};
use super::layer::Layer;
use crate::domain::{Evaluator, Problem};

#[derive(Clone, Debug, PartialEq, Default)]
pub struct ComplexitySettings {}

impl ComplexitySettings {
    pub fn read(_layers: &[Layer], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

pub fn complexity(_piece: &Workpiece, _settings: &ComplexitySettings) -> Evaluated {
    Evaluated::missing(Evaluator::Complexity, "not measured")
}
