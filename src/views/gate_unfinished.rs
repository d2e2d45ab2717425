//! Arms of a gate whose newest run is not there.

use chrono::{DateTime, SubsecRound, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{RunId, UnfinishedRun};
use crate::inference::{Arm, ArmRuns, BaselineComparison};
use crate::warehouse::Warehouse;

/// An arm whose newest run did not finish, so the gate could judge only older ones.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnfinishedArm {
    pub suite: String,
    #[serde(flatten)]
    pub arm: Arm,
    #[schemars(with = "String")]
    pub run: RunId,
    pub begun: DateTime<Utc>,
    /// The command that resumes the run, if it is abandoned and can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

/// Returns the arms of which a run began after all of their new runs and did not finish. An arm whose new runs the user chose has none.
pub(super) fn find_unfinished_arms<'g>(
    warehouse: &Warehouse,
    groups: impl Iterator<Item = &'g BaselineComparison<'g>>,
) -> Vec<UnfinishedArm> {
    if warehouse.unfinished_count() == 0 {
        return Vec::new();
    }
    let unfinished = warehouse.unfinished_runs();
    let of_arm = |held: &BaselineComparison<'_>, arm: &ArmRuns<'_>| {
        // A begun run knows its time in seconds. Within one, ids tell: those of our runs are in the order of time.
        let newest = arm
            .all_runs()
            .filter_map(|row| Some((row.run.timestamp?.trunc_subsecs(0), &row.run.id)))
            .max();
        let is_own = |run: &&UnfinishedRun| {
            run.suite.as_ref() == Some(&held.suite)
                && run.approach.as_ref() == Some(&arm.arm.approach)
                && run.model.as_ref() == Some(&arm.arm.model)
        };
        let begun = unfinished
            .iter()
            .filter(is_own)
            .filter_map(|run| Some((run.begun?, run)))
            .max_by_key(|(begun, run)| (*begun, &run.id));
        let (begun, run) = begun.filter(|(begun, run)| Some((*begun, &run.id)) > newest)?;
        Some(UnfinishedArm {
            suite: held.suite.clone(),
            arm: arm.arm.clone(),
            run: run.id.clone(),
            begun,
            resume: run.resume.clone(),
        })
    };
    groups
        .filter(|held| held.takes_newest)
        .flat_map(|held| held.head.iter().filter_map(move |arm| of_arm(held, arm)))
        .collect()
}
