//! `bisect`: finds the commit from which on something fails more often, with as few trials as the evidence needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemStatus, escape_invisible};
use crate::files;
use crate::junit::{self, JunitEvent};
use crate::process::{ProgramCommand, ProgramExit, ProgramLimits, StopSignal, run_program};
use crate::render::format;
use crate::render::json::{AnswerSchema, answer_schema};
use crate::render::table::ReportTable;
use crate::run::{
    Checkout, NamedCommit, NoCommit, commit_named, commits_after, describe_commit,
    prefix_in_repository,
};
use crate::stats::{FallSearch, PlaceTally};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::execute_plan::listen_for_interrupt;
use super::failure::CommandFailure;
use super::settings::Settings;
use super::{exit_code, output};

/// Trials at each end before the search, and at most before the ends are said to be alike.
const MIN_END_TRIALS: u64 = 2;
const MAX_END_TRIALS: u64 = 5;
/// Exit code with which a command says that a commit cannot be tried, as for `git bisect run`.
const SKIPPED: i32 = 125;
/// From this exit code on, a command was not carried out: not found, not executable, or ended by a signal.
const NOT_CARRIED_OUT: i32 = 126;
/// Maximum number of commits in the answer's table.
const MAX_SHOWN: usize = 5;
/// Shown characters of a commit's id.
const ID_CHARS: usize = 10;

/// Find the commit from which on a test or a rate fails more often
#[derive(Args)]
pub(super) struct BisectArguments {
    /// A commit that is good: branch, tag or id
    #[arg(value_name = "GOOD")]
    pub good: String,
    /// A later commit that is bad
    #[arg(value_name = "BAD")]
    pub bad: String,
    /// What to run in each commit: 0 is good, 125 cannot be tried, other codes up to 124 are bad
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
    /// A JUnit report that the command writes, from the folder that it starts in: its tests are the trials, and not the exit code
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Only tests of the report whose name contains this
    #[arg(long, value_name = "NAME", requires = "report")]
    pub item: Option<String>,
    /// Stop when one commit is this likely
    #[arg(long, value_name = "CHANCE", default_value_t = 0.97)]
    pub certainty: f64,
    /// Most runs of the command
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub max_runs: u64,
    /// Longest time of a run, in seconds; a run that takes longer is bad
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
}

/// The answer as JSON.
#[derive(Serialize, JsonSchema)]
struct BisectAnswer {
    outcome: BisectOutcome,
    /// Runs of the command.
    runs: u64,
    /// Commits after the good one, up to the bad one.
    commits: u64,
    /// The pass rates before the likeliest commit and from it on, as the search estimates them.
    rate_before: f64,
    rate_since: f64,
    /// The likeliest commits, best first, at most five. Empty if nothing fell.
    likeliest: Vec<LikelyCommit>,
    /// Commits that could not be tried.
    skipped: Vec<String>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BisectOutcome {
    /// One commit is as likely as was asked for.
    Found,
    /// Good and bad commit do not differ, as far as five runs of each tell.
    NoFall,
    /// The runs were used up, or the commits left cannot be tried.
    Open,
}

#[derive(Serialize, JsonSchema)]
struct LikelyCommit {
    commit: String,
    date: String,
    subject: String,
    /// Between 0 and 1.
    probability: f64,
    passed: u64,
    failed: u64,
}

impl Command for BisectArguments {
    const NAME: &'static str = "bisect";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport bisect HEAD~1 HEAD -- sh -c 'exit 0'",
            "any command; here both commits are good",
        ),
        (
            "evalreport bisect HEAD~1 HEAD --max-runs 20 -- sh -c 'exit 0'",
            "with a limit, if each run costs money",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("bisect", answer_schema::<BisectAnswer>)];
    const UNREAD: &'static [&'static str] = &["report"];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::None, |settings| run_command(settings, self))
    }
}

/// What one run of the command told.
enum BisectTrial {
    Counted(PlaceTally),
    /// The commit cannot be tried.
    Skipped(String),
    Stopped,
}

/// The commits with what is known of each.
struct CommitSearch<'a> {
    arguments: &'a BisectArguments,
    checkout: Checkout,
    /// The folder of the command within the repository.
    below: PathBuf,
    /// The good commit first.
    commits: Vec<NamedCommit>,
    trials: Vec<PlaceTally>,
    skipped: Vec<bool>,
    runs: u64,
    stop: StopSignal,
    is_quiet: bool,
}

fn run_command(settings: &Settings, arguments: &BisectArguments) -> Result<u8, CommandFailure> {
    if !(arguments.certainty > 0.5 && arguments.certainty < 1.0) {
        return Err(CommandFailure::new(format!(
            "--certainty must be above 0.5 and below 1, but is {}",
            arguments.certainty
        )));
    }
    let here = Path::new(".");
    let named = |name: &str| {
        commit_named(here, name).map_err(|why| match why {
            NoCommit::NoRepository => CommandFailure::new("there is no git repository here")
                .with_hint("start it in the repository whose commits are searched"),
            NoCommit::Unknown => {
                CommandFailure::new(format!("no commit is called `{}`", escape_invisible(name)))
                    .with_hint("name a branch, a tag or an id; `git log` lists them")
            }
        })
    };
    let (good, bad) = (named(&arguments.good)?, named(&arguments.bad)?);
    let after = commits_after(here, &good, &bad).filter(|after| !after.is_empty());
    let Some(after) = after else {
        return Err(CommandFailure::new(format!(
            "`{}` is no later commit than `{}`",
            escape_invisible(&arguments.bad),
            escape_invisible(&arguments.good)
        ))
        .with_hint("write the good commit first; it must be an ancestor of the bad one"));
    };
    let first = describe_commit(here, &good)
        .ok_or_else(|| CommandFailure::new("git does not tell the good commit"))?;
    let stop = StopSignal::new();
    let over = Arc::new(AtomicBool::new(false));
    listen_for_interrupt(&stop, &over)?;
    let failed = |why: String| CommandFailure::new(format!("cannot copy the repository: {why}"));
    let folder = settings.temporary_folder()?.join("checkout");
    let checkout = Checkout::create(here, &folder, &stop).map_err(failed)?;
    let commits: Vec<NamedCommit> = [first].into_iter().chain(after).collect();
    let mut search = CommitSearch {
        arguments,
        checkout,
        below: prefix_in_repository(here),
        trials: vec![PlaceTally::default(); commits.len()],
        skipped: vec![false; commits.len()],
        commits,
        runs: 0,
        stop,
        is_quiet: settings.quiet,
    };
    let outcome = search.find_fall()?;
    over.store(true, Ordering::SeqCst);
    let Some(outcome) = outcome else {
        return Ok(exit_code::INTERRUPTED);
    };
    let answer = search.answer(outcome)?;
    output::print_answer(settings, "bisect", &[answer_table(&answer)], || &answer)?;
    Ok(match outcome {
        BisectOutcome::Found => exit_code::DONE,
        BisectOutcome::NoFall | BisectOutcome::Open => exit_code::INCONCLUSIVE,
    })
}

impl CommitSearch<'_> {
    /// Tries commits until one is likely enough. Returns `None` if the user stopped it.
    fn find_fall(&mut self) -> Result<Option<BisectOutcome>, CommandFailure> {
        let last = self.commits.len() - 1;
        for number in 0..MAX_END_TRIALS {
            let is_alike = number < MIN_END_TRIALS || self.search()?.no_fall >= 0.5;
            if !is_alike {
                break;
            }
            for end in [0, last] {
                if !self.try_commit(end)? {
                    return Ok(None);
                }
                if self.skipped[end] {
                    let name = [&self.arguments.good, &self.arguments.bad][usize::from(end > 0)];
                    return Err(CommandFailure::new(format!(
                        "`{}` cannot be tried, so there is nothing to search from",
                        escape_invisible(name)
                    )));
                }
            }
        }
        if self.search()?.no_fall >= 0.5 {
            return Ok(Some(BisectOutcome::NoFall));
        }
        loop {
            let found = self.search()?;
            if found.certainty() >= self.arguments.certainty {
                return Ok(Some(BisectOutcome::Found));
            }
            let next = found.next_among(|place| !self.skipped[place]);
            let Some(next) = next.filter(|_| self.runs < self.arguments.max_runs) else {
                return Ok(Some(BisectOutcome::Open));
            };
            if !self.try_commit(next)? {
                return Ok(None);
            }
        }
    }

    fn search(&self) -> Result<FallSearch, CommandFailure> {
        FallSearch::from_trials(&self.trials)
            .map_err(|error| CommandFailure::new(format!("cannot search: {error}")))
    }

    /// Runs the command in a commit, and counts what it told. Returns `false` if the user stopped it.
    fn try_commit(&mut self, place: usize) -> Result<bool, CommandFailure> {
        let commit = self.commits[place].clone();
        let short = short_id(&commit.id);
        let trial = match self.checkout.switch_to(&commit.id, &self.stop) {
            Err(_) if self.stop.is_stopped() => BisectTrial::Stopped,
            Err(why) => BisectTrial::Skipped(why),
            Ok(()) => self.run_once()?,
        };
        self.runs += 1;
        let said = match trial {
            BisectTrial::Stopped => return Ok(false),
            BisectTrial::Skipped(why) => {
                self.skipped[place] = true;
                format!("cannot be tried: {}", escape_invisible(&why))
            }
            BisectTrial::Counted(counts) => {
                self.trials[place].passed += counts.passed;
                self.trials[place].failed += counts.failed;
                match (counts.passed, counts.failed) {
                    (1, 0) => "good".to_owned(),
                    (0, 1) => "bad".to_owned(),
                    (passed, failed) => format!("{passed} of {} passed", passed + failed),
                }
            }
        };
        if !self.is_quiet {
            output::write_stderr(&format!(
                "run {}: {short} ({} of {}) {said}",
                self.runs,
                place,
                self.commits.len() - 1
            ));
        }
        Ok(true)
    }

    fn run_once(&self) -> Result<BisectTrial, CommandFailure> {
        let folder = self.checkout.folder().join(&self.below);
        let report = self.arguments.report.as_ref().map(|file| folder.join(file));
        if let Some(report) = &report {
            // A report of an earlier run would be taken for this one's.
            let _ = std::fs::remove_file(report);
        }
        if !folder.is_dir() {
            return Ok(BisectTrial::Skipped("the folder is not there".to_owned()));
        }
        let command = ProgramCommand {
            argv: self.arguments.command.iter().map(Into::into).collect(),
            cwd: folder,
            env: std::collections::BTreeMap::new(),
            input: Vec::new(),
            limits: ProgramLimits {
                wall: self.arguments.timeout.map(Duration::from_secs),
                ..ProgramLimits::default()
            },
            confinement: None,
        };
        let name = escape_invisible(&self.arguments.command[0]);
        let finished = run_program(&command, &self.stop)
            .map_err(|error| CommandFailure::new(format!("cannot start `{name}`: {error}")))?;
        let one = |passed: bool| {
            BisectTrial::Counted(PlaceTally {
                passed: u64::from(passed),
                failed: u64::from(!passed),
            })
        };
        match finished.end {
            ProgramExit::Stopped => Ok(BisectTrial::Stopped),
            ProgramExit::Exited(SKIPPED) => {
                Ok(BisectTrial::Skipped(format!("exit code {SKIPPED}")))
            }
            ProgramExit::Exited(code) if code >= NOT_CARRIED_OUT => {
                let told = finished.stderr.text().trim().to_owned();
                Err(CommandFailure::new(format!(
                    "`{name}` was not carried out: exit code {code}{}",
                    if told.is_empty() {
                        String::new()
                    } else {
                        format!(
                            " ({})",
                            escape_invisible(told.lines().last().unwrap_or_default())
                        )
                    }
                )))
            }
            ProgramExit::Signalled(signal) => Err(CommandFailure::new(format!(
                "`{name}` was ended by signal {signal}"
            ))),
            ProgramExit::TimedOut if report.is_none() => Ok(one(false)),
            ProgramExit::Exited(code) if report.is_none() => Ok(one(code == 0)),
            ProgramExit::Exited(_) | ProgramExit::TimedOut => {
                Ok(report.map_or_else(|| one(false), |report| self.count_report(&report)))
            }
        }
    }

    /// Counts the tests of a report. Without a readable report nothing is known of the commit.
    fn count_report(&self, report: &Path) -> BisectTrial {
        let bytes = match files::read(report) {
            Ok(bytes) => bytes,
            Err(error) => return BisectTrial::Skipped(format!("no report: {error}")),
        };
        let mut counts = PlaceTally::default();
        let read = junit::walk_report(bytes.as_slice(), &|| (), &mut |event| {
            if let JunitEvent::Case(case) = event {
                let is_wanted = self
                    .arguments
                    .item
                    .as_ref()
                    .is_none_or(|item| case.id().contains(item));
                match case.status() {
                    _ if !is_wanted => {}
                    ItemStatus::Pass => counts.passed += 1,
                    status => counts.failed += u64::from(status.is_counted()),
                }
            }
            Ok::<(), ()>(())
        });
        match read {
            Err(_) => BisectTrial::Skipped("the report is damaged".to_owned()),
            Ok(()) if counts == PlaceTally::default() => {
                BisectTrial::Skipped("the report has no such test".to_owned())
            }
            Ok(()) => BisectTrial::Counted(counts),
        }
    }

    fn answer(&self, outcome: BisectOutcome) -> Result<BisectAnswer, CommandFailure> {
        let found = self.search()?;
        let mut places: Vec<usize> = (1..self.commits.len()).collect();
        places
            .sort_by(|one, other| found.posterior[other - 1].total_cmp(&found.posterior[one - 1]));
        let likely = |place: usize| LikelyCommit {
            commit: self.commits[place].id.clone(),
            date: self.commits[place].date.clone(),
            subject: self.commits[place].subject.clone(),
            probability: found.posterior[place - 1],
            passed: self.trials[place].passed,
            failed: self.trials[place].failed,
        };
        Ok(BisectAnswer {
            outcome,
            runs: self.runs,
            commits: (self.commits.len() - 1) as u64,
            rate_before: found.rates.0,
            rate_since: found.rates.1,
            likeliest: if outcome == BisectOutcome::NoFall {
                Vec::new()
            } else {
                places.into_iter().take(MAX_SHOWN).map(likely).collect()
            },
            skipped: self
                .commits
                .iter()
                .zip(&self.skipped)
                .filter(|(_, skipped)| **skipped)
                .map(|(commit, _)| commit.id.clone())
                .collect(),
        })
    }
}

fn answer_table(answer: &BisectAnswer) -> ReportTable {
    let effort = format!(
        "{} over {}",
        format::format_count(answer.runs, "run"),
        format::format_count(answer.commits, "commit")
    );
    let rates = format!(
        "It passes about {} of trials before, and {} since.",
        format::percent(answer.rate_before, 100),
        format::percent(answer.rate_since, 100)
    );
    let mut table = ReportTable::for_rows("bisect");
    table.lead = match (answer.outcome, answer.likeliest.first()) {
        (BisectOutcome::NoFall, _) | (_, None) => vec![format!(
            "The good and the bad commit do not differ ({effort}). Nothing was searched."
        )],
        (BisectOutcome::Found, Some(first)) => vec![format!(
            "{} is the first bad commit: {} likely after {effort}. {rates}",
            short_id(&first.commit),
            format::percent(first.probability, 100)
        )],
        (BisectOutcome::Open, Some(first)) => vec![format!(
            "Not settled after {effort}: {} is {} likely. {rates}",
            short_id(&first.commit),
            format::percent(first.probability, 100)
        )],
    };
    for label in ["Commit", "Date", "Subject"] {
        table.add_text_column(label, 0);
    }
    for label in ["Likely", "Passed", "Failed"] {
        table.add_number_column(label, 0);
    }
    table.add_rows(answer.likeliest.iter().map(|commit| {
        [
            short_id(&commit.commit),
            commit.date.clone(),
            escape_invisible(&commit.subject),
            format::percent(commit.probability, 100),
            commit.passed.to_string(),
            commit.failed.to_string(),
        ]
    }));
    if !answer.skipped.is_empty() {
        table.notes.push(format!(
            "{} could not be tried.",
            output::format_count(answer.skipped.len(), "commit")
        ));
    }
    table
}

fn short_id(id: &str) -> String {
    id.chars().take(ID_CHARS).collect()
}
