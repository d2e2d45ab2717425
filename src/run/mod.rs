//! Carrying out a plan: workspaces, agents, tests, and the commit of each run.
//!
//! A plan is recorded before its first run and names every run by id and seed, so what is left of it can be told at any time from what
//! the store holds: a run whose header is there is done, any other begins again, or, of questions, goes on where its journal ends.
//! What agents and tests do wrong is recorded as data; only the store itself can end a plan early.

mod addition;
mod answers;
mod approach;
mod arm;
mod code;
mod control;
mod evaluation;
mod examine;
mod execute;
mod grounds;
mod isolation;
pub mod judge;
mod machine;
mod plan;
mod provenance;
mod python;
mod questions;
mod record;
mod server;
mod shell;
mod suite_copy;
mod tampering;
mod testing;
mod tools;
pub mod verification;
mod workspace;

use std::path::PathBuf;

use crate::agent::Environment;
use crate::domain::{Git, ItemStatus, Run};
use crate::process::Stop;
use crate::results::{PlannedArm, PlannedRun, Store};

pub use addition::digest as digest_of_addition;
pub use approach::{Approach, Means, names_model};
pub use arm::{Arm, CodeWork, QuestionWork, Work};
pub use evaluation::{Evaluation, Jury};
pub use execute::{Executed, Refusal, execute};
pub use isolation::{Isolation, Kept};
pub use plan::{batch_id, interleaved, item_seed};
pub use provenance::git_state;
pub use tools::ToolVersions;

/// What every run of a plan shares.
pub struct Context<'a> {
    pub store: &'a Store,
    pub environment: &'a Environment,
    /// The folder of the repository, where tests run and paths of suites begin.
    pub root: PathBuf,
    /// Where workspaces are made; outside the repository's tree.
    pub scratch: PathBuf,
    /// What programs may reach of this machine.
    pub isolation: Isolation,
    /// Files that no run may change, beside suites and the store: the configuration.
    pub watched: Vec<PathBuf>,
    pub host: Option<String>,
    pub tool_version: &'a str,
    pub git: Option<Git>,
    /// Of what tests the work.
    pub tools: ToolVersions,
    /// How much goes on at once: questions of a run, or runs of code. One, or what a task says, where nobody says.
    pub jobs: Option<usize>,
    /// Keep what the agent made beside the run's record.
    pub keep_output: bool,
    pub stop: &'a Stop,
    pub events: &'a (dyn Fn(&Event<'_>) + Sync),
}

/// How a run came to its end, or did not.
enum Ended {
    Whole(Box<Run>),
    Stopped,
    /// Its agent cannot be asked, now or later: why.
    Refused(String),
}

/// What happens while a plan is carried out.
#[derive(Debug)]
pub enum Event<'a> {
    Started {
        arm: &'a PlannedArm,
        run: &'a PlannedRun,
    },
    /// Items of questions are decided one by one.
    Item {
        run: &'a PlannedRun,
        item: &'a str,
        status: ItemStatus,
        /// Why it did not pass, where that is known.
        reason: Option<&'a str>,
        cost_usd: Option<f64>,
    },
    /// So many items of the run were decided before.
    Resumed {
        run: &'a PlannedRun,
        items: usize,
    },
    /// Something that a person should know while there is time to stop.
    Warning {
        run: &'a PlannedRun,
        what: &'a str,
    },
    /// A step of a code run, in words.
    Step {
        run: &'a PlannedRun,
        what: &'a str,
    },
    Finished {
        run: &'a PlannedRun,
        record: &'a Run,
        /// Criteria that a judge found met, of those decided; for runs without tests.
        criteria: Option<(u64, u64)>,
    },
    /// Another process is at it.
    Taken {
        run: &'a PlannedRun,
    },
}
