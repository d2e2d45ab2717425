//! Whether acceptance criteria are met, by a judge.

use super::judge::{Judge, Order};
use super::{Evaluated, Layer, Workpiece};
use crate::domain::{Evaluator, Problem};
use crate::process::Stop;

/// How much the judge is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FulfilmentSettings {}

impl Default for FulfilmentSettings {
    fn default() -> Self {
        Self {}
    }
}

impl FulfilmentSettings {
    /// Reads the layers; later ones go over earlier ones, key by key.
    pub fn read(_layers: &[Layer<'_>], _problems: &mut Vec<Problem>) -> Self {
        Self::default()
    }
}

/// Asks the judge about each of the suite's criteria; none where the user stopped it.
pub fn fulfilment(_piece: &Workpiece, _judge: &Judge, _settings: &FulfilmentSettings, _order: Order, _stop: &Stop) -> Option<Evaluated> {
    Some(Evaluated::missing(Evaluator::RequirementFulfillment, "not yet"))
}

/// Returns the hash of the judge's instructions and of the form of its question: other words are another measure.
pub fn fulfilment_prompt_sha256() -> String {
    String::new()
}
