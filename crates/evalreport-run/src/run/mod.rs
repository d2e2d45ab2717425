//! Executing a plan: workspaces, agents, tests, and the commit of each run.
//!
//! A plan is recorded before its first run and names every run with its id and seed. So the store shows at any time what is left: a run
//! with a header is done. Any other run starts again; a run of questions continues from its journal. Failures of agents and tests are
//! recorded as data. Only a failure of the store ends a plan early.

mod adaptive_run;
mod answers;
mod approach;
mod arm;
mod canary_tests;
mod checkout;
mod code;
mod evaluation;
mod examine;
mod execute;
mod git;
mod home;
mod home_places;
mod isolation;
pub mod judge;
mod kept;
mod machine;
mod modes;
mod overlay;
mod packages;
mod plan;
mod prerequisites;
mod provenance;
mod purse;
mod python;
mod questions;
mod record;
mod revision;
mod server;
mod shell;
mod suite_copy;
mod suite_snapshot;
mod tampering;
mod testing;
mod tests_python;
mod tools;
mod turns;
pub mod verification;
mod workspace;

use std::path::PathBuf;

use crate::agent::AgentEnvironment;
use crate::domain::{Git, ItemStatus, Run};
use crate::process::StopSignal;
use crate::results::{PlannedArm, PlannedRun, Store};

pub use adaptive_run::{
    AdaptiveResult, AdaptiveStep, ask_until_foreseen, next_step, pass_rate, task_arms,
};
pub use approach::{ApproachKind, ExecutableApproach, mentions_model};
pub use arm::{ArmWork, CodeWork, QuestionWork, RunnableArm};
pub use checkout::{Checkout, NamedCommit, commits_after, describe_commit, prefix_in_repository};
pub use evaluation::{JudgeSettings, SuiteEvaluation};
pub use execute::{ArmRefusal, ExecutionResult, execute_runs};
pub use git::places_around as repositories_around;
pub use isolation::{IsolatedPaths, Isolation};
pub use overlay::digest_overlay;
pub use plan::{interleave_arms, item_seed, new_batch_id};
pub use prerequisites::{MissingPrerequisite, Prerequisites};
pub use provenance::{commit_positions, git_user, read_git_state};
pub use purse::BatchBudget;
pub use record::add_items;
pub use revision::{NoCommit, commit_named, first_parents};
pub use tools::ToolVersions;

/// The context shared by all runs of a plan.
pub struct PlanContext<'a> {
    pub store: &'a Store,
    pub environment: &'a AgentEnvironment,
    /// The repository's folder: tests start in it, and paths of suites are relative to it.
    pub root: PathBuf,
    /// Folder for workspaces, outside the repository.
    pub scratch: PathBuf,
    /// What programs may access on this machine.
    pub isolation: Isolation,
    /// Files besides suites and store that no run may change: the configuration.
    pub watched: Vec<PathBuf>,
    pub host: Option<String>,
    pub tool_version: &'a str,
    pub git: Option<Git>,
    /// Versions of the tools that test the work.
    pub tools: ToolVersions,
    /// Number of parallel jobs: questions within a run, or runs of code. `None` means the task's setting, or else 1.
    pub jobs: Option<usize>,
    /// What agents may cost. `None` for no limit.
    pub purse: Option<&'a BatchBudget>,
    /// Whether to store the produced files with the run's record.
    pub keep_output: bool,
    pub stop: &'a StopSignal,
    pub events: &'a (dyn Fn(&RunEvent<'_>) + Sync),
}

/// How a run ended, or why it did not.
enum RunEnd {
    Whole(Box<Run>),
    Stopped,
    /// Its agent cannot be used now or later, for this reason.
    Refused(String),
}

/// Events during the execution of a plan.
#[derive(Debug)]
pub enum RunEvent<'a> {
    Started {
        arm: &'a PlannedArm,
        run: &'a PlannedRun,
    },
    /// A question was decided.
    Item {
        run: &'a PlannedRun,
        item: &'a str,
        status: ItemStatus,
        /// Why the item did not pass, if known.
        reason: Option<&'a str>,
        cost_usd: Option<f64>,
    },
    /// This many items of the run were decided earlier.
    Resumed { run: &'a PlannedRun, items: usize },
    /// A warning for the user while there is time to stop.
    Warning { run: &'a PlannedRun, what: &'a str },
    /// A step of a code run.
    Step { run: &'a PlannedRun, what: &'a str },
    Finished {
        run: &'a PlannedRun,
        record: &'a Run,
        /// Criteria that a judge found met, and criteria decided. Only for runs without tests.
        criteria: Option<(u64, u64)>,
    },
    /// Another process holds the run.
    Taken { run: &'a PlannedRun },
}
