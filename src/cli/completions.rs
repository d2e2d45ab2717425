//! `completions`: prints shell completions or the man page, and answers shells that ask for completions.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::{Args, FromArgMatches, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::domain::{Run, escape_invisible};
use crate::views::{Runnable, RunnableAgent, RunnableSuite, RunnableTask};
use crate::warehouse::{Progress, Warehouse};

use super::command::{Command, Example, Invocation};
use super::failure::CommandFailure;
use super::options::Global;
use super::selection::LAST_WORD;
use super::settings::Settings;
use super::{exit_code, help, output, runnable};

/// Print shell completions or the man page
#[derive(Args)]
pub(super) struct CompletionsArguments {
    /// Shell, or `man` for the man page
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

impl Command for CompletionsArguments {
    const NAME: &'static str = "completions";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport completions bash > evalreport.bash",
            "for `source evalreport.bash`",
        ),
        (
            "evalreport completions man > evalreport.1",
            "for `man ./evalreport.1`",
        ),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        print_completions(self, invocation.command_line)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

impl Shell {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
            Self::Man => "man",
        }
    }
}

/// The variable with which a shell asks for completions.
const COMPLETE_VARIABLE: &str = "COMPLETE";
/// A longer list helps nobody.
const MAX_RUNS: usize = 100;

fn print_completions(
    arguments: &CompletionsArguments,
    command_line: fn() -> clap::Command,
) -> Result<u8, CommandFailure> {
    let mut bytes = Vec::new();
    let written = match arguments.shell {
        Shell::Man => clap_mangen::Man::new(command_line()).render(&mut bytes),
        shell => {
            let shells = Shells::builtins();
            let shell = shells
                .completer(shell.name())
                .expect("every shell of the argument is built in");
            shell.write_registration(
                COMPLETE_VARIABLE,
                "evalreport",
                "evalreport",
                "evalreport",
                &mut bytes,
            )
        }
    };
    written.map_err(|error| CommandFailure::new(format!("cannot write: {error}")))?;
    output::print_text(&String::from_utf8_lossy(&bytes))?;
    Ok(exit_code::DONE)
}

/// Answers a shell that asks for completions of these words. Returns whether one did.
pub(super) fn answer_shell(words: &[OsString], command_line: fn() -> clap::Command) -> bool {
    let here = std::env::current_dir().ok();
    let completions =
        CompleteEnv::with_factory(|| with_known_values(command_line())).var(COMPLETE_VARIABLE);
    completions
        .try_complete(words.iter().cloned(), here.as_deref())
        .is_ok_and(|is_answered| is_answered)
}

/// The arguments whose values are in the configuration, the results or the documentation, by their ids.
fn with_known_values(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let topics: Vec<String> = names.iter().cloned().chain(help::topic_names()).collect();
    let command = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            let ids: Vec<String> = command
                .get_arguments()
                .map(|argument| argument.get_id().to_string())
                .collect();
            let known = ids
                .into_iter()
                .filter_map(|id| Some((candidates_of(name, &id)?, id)));
            known.fold(command, |command, (candidates, id)| {
                command.mut_arg(id, |argument| {
                    argument.add(ArgValueCandidates::new(candidates))
                })
            })
        })
    });
    command.mut_subcommand("help", |command| {
        command.mut_arg("topic", |argument| {
            argument.add(ArgValueCandidates::new(move || {
                topics.iter().map(CompletionCandidate::new).collect()
            }))
        })
    })
}

fn candidates_of(command: &str, argument: &str) -> Option<fn() -> Vec<CompletionCandidate>> {
    Some(match (command, argument) {
        ("run", "what") => || {
            let of_suite = |suite: RunnableSuite| (suite.suite, suite.description);
            let of_task =
                |task: RunnableTask| (task.task, Some(format!("questions of {}", task.suite)));
            runnable_candidates(|all| {
                all.suites
                    .into_iter()
                    .map(of_suite)
                    .chain(all.tasks.into_iter().map(of_task))
                    .collect()
            })
        },
        ("run", "approach") => || {
            runnable_candidates(|all| {
                all.approaches
                    .into_iter()
                    .map(|one| (one.approach, one.name))
                    .collect()
            })
        },
        ("run" | "eval" | "judge", "agent") => || {
            runnable_candidates(|all| {
                all.agents
                    .into_iter()
                    .map(|one| (one.agent, one.model))
                    .collect()
            })
        },
        ("run" | "eval", "model") => || {
            let of_agent = |agent: RunnableAgent| {
                Some((agent.model?, Some(format!("of agent {}", agent.agent))))
            };
            let of_task =
                |task: RunnableTask| Some((task.model?, Some(format!("of task {}", task.task))));
            runnable_candidates(|all| {
                all.agents
                    .into_iter()
                    .filter_map(of_agent)
                    .chain(all.tasks.into_iter().filter_map(of_task))
                    .collect()
            })
        },
        // The names in a table are its own, and those of a suite that `eval` makes are new.
        ("run" | "eval" | "import", _) => return None,
        ("compare", "what") => || {
            result_candidates(|results| {
                name_candidates(results, |run| &run.suite)
                    .into_iter()
                    .chain(id_candidates(results))
                    .collect()
            })
        },
        (_, "suite" | "suites") => {
            || result_candidates(|results| name_candidates(results, |run| &run.suite))
        }
        (_, "approach") => {
            || result_candidates(|results| name_candidates(results, |run| &run.approach))
        }
        (_, "model") => || result_candidates(|results| name_candidates(results, |run| &run.model)),
        // A run, but not the newest by its name: `last` is no baseline.
        (_, "baseline") => || {
            result_candidates(|results| {
                id_candidates(results).split_off(usize::from(!results.runs().is_empty()))
            })
        },
        (_, "ids") => || result_candidates(id_candidates),
        _ => return None,
    })
}

/// Returns names of what can be run here, each once, with what is told of it.
fn runnable_candidates(
    names: impl Fn(Runnable) -> Vec<(String, Option<String>)>,
) -> Vec<CompletionCandidate> {
    let found = default_settings()
        .and_then(|settings| runnable::find_runnable(&settings, &[]).ok())
        .map(names)
        .unwrap_or_default();
    let mut known = BTreeSet::new();
    let new = found.into_iter().filter(|(name, _)| {
        !name.is_empty() && escape_invisible(name) == *name && known.insert(name.clone())
    });
    new.map(|(name, about)| {
        CompletionCandidate::new(name).help(about.map(|about| escape_invisible(&about).into()))
    })
    .collect()
}

fn result_candidates(
    candidates: impl Fn(&Warehouse) -> Vec<CompletionCandidate>,
) -> Vec<CompletionCandidate> {
    open_quietly()
        .map(|warehouse| candidates(&warehouse))
        .unwrap_or_default()
}

fn name_candidates(warehouse: &Warehouse, name: fn(&Run) -> &str) -> Vec<CompletionCandidate> {
    let names: BTreeSet<&str> = warehouse.runs().iter().map(|row| name(&row.run)).collect();
    // A name that is not as it looks cannot be typed in a shell.
    names
        .into_iter()
        .filter(|name| !name.is_empty() && escape_invisible(name) == *name)
        .map(CompletionCandidate::new)
        .collect()
}

/// Returns ids of runs, the newest first, each with its suite and arm.
fn id_candidates(warehouse: &Warehouse) -> Vec<CompletionCandidate> {
    let mut runs: Vec<&Run> = warehouse.runs().iter().map(|row| &*row.run).collect();
    runs.sort_by(|one, other| (other.timestamp, &other.id).cmp(&(one.timestamp, &one.id)));
    let about =
        |run: &Run| escape_invisible(&format!("{}: {}, {}", run.suite, run.approach, run.model));
    let last = (!runs.is_empty())
        .then(|| CompletionCandidate::new(LAST_WORD).help(Some("the newest".into())));
    let ids = runs
        .into_iter()
        .take(MAX_RUNS)
        .map(|run| CompletionCandidate::new(run.id.as_str()).help(Some(about(run).into())));
    last.into_iter().chain(ids).collect()
}

/// Opens the results of this folder. `None` if they cannot be read: a completion is no place for messages.
fn open_quietly() -> Option<Warehouse> {
    Warehouse::open(&default_settings()?.source_options(), &Progress::SILENT).ok()
}

fn default_settings() -> Option<Settings> {
    let options = Global::augment_args(clap::Command::new("evalreport"));
    let matches = options
        .try_get_matches_from(["evalreport", "--quiet"])
        .ok()?;
    Settings::new(&Global::from_arg_matches(&matches).ok()?).ok()
}
