//! A stored run as commands use it.

use std::sync::Arc;

use crate::domain::Run;

use super::totals::ItemTotals;

/// A run and the totals of its items.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The run, with suite, approach and model under their aliases.
    pub run: Arc<Run>,
    /// `None` if the run has no item lines.
    pub items: Option<ItemTotals>,
    /// Tags of the settings that keep the run's arm apart from others of its suite, approach and model; its model's name tells them.
    pub settings: Vec<String>,
}
