//! The output that an earlier run left, to be tested again without its approach.

use std::path::PathBuf;

use crate::agent::{AgentFailure, AgentFailureKind, Cost, ReplyMeasurements, ServedBy};
use crate::domain::{Run, RunId, RunStatus};
use crate::results::StoreError;

use super::PlanContext;

/// What an earlier run left.
pub struct KeptOutput {
    pub folder: PathBuf,
    record: Run,
    measured: ReplyMeasurements,
}

impl KeptOutput {
    pub fn from_run(id: &RunId, context: &PlanContext<'_>) -> Result<Self, StoreError> {
        let record = context.store.load_run(id)?;
        let told = record.resources.clone().unwrap_or_default();
        let measured = ReplyMeasurements {
            usage: record.usage.unwrap_or_default(),
            cost: Cost {
                usd: record.cost_usd,
                source: record.cost_source,
            },
            calls: record.total_calls,
            steps: record.turns,
            duration: std::time::Duration::try_from_secs_f64(
                record.duration_seconds.unwrap_or_default(),
            )
            .unwrap_or_default(),
            transcript: context
                .store
                .read_transcript(id)?
                .into_iter()
                .map(|line| line.entry)
                .collect(),
            model: record.reported_model.clone(),
            served: ServedBy {
                version: told.agent_version,
                provider: told.provider,
                region: told.region,
            },
            repeated: told.repeated,
            ..ReplyMeasurements::default()
        };
        Ok(Self {
            folder: context.store.run_dir(id).join("output"),
            record,
            measured,
        })
    }

    /// Returns how the approach ended, with what it measured then.
    pub fn approach_result(&self) -> Result<ReplyMeasurements, AgentFailure> {
        let kind = match self.record.status {
            RunStatus::Failed => AgentFailureKind::Error,
            RunStatus::Limit => AgentFailureKind::Limit,
            RunStatus::Completed | RunStatus::Infra | RunStatus::Cancelled | RunStatus::Partial => {
                return Ok(self.measured.clone());
            }
        };
        Err(AgentFailure::new(
            kind,
            self.record.error.as_deref().unwrap_or_default(),
            self.measured.clone(),
        ))
    }
}
