//! `verify`: checks whether a goal is met in a checkout, by running a few checks before and after the change.

use std::env;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::info;

use crate::config;
use crate::domain::{Profile, Verification, escape_invisible};
use crate::process::StopSignal;
use crate::render::json::{AnswerSchema, answer_schema};
use crate::render::verification;
use crate::run::verification::{Tickets, VerificationInput, prepare_verification};
use crate::verify::Overrides;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Format;
use super::settings::Settings;
use super::{execute_plan, exit_code, output, predecessors};

/// Exit codes of `verify`.
const VERIFY_EXIT_CODES: &str = "Exit codes: 0 done_success, done_partial or a dry run; 1 not_done, blocked; 2 wrong arguments or configuration; \
                                 3 unverified (nothing to check); 130 interrupted";

/// Check whether a goal is met in a checkout
#[derive(Args)]
#[command(after_help = VERIFY_EXIT_CODES)]
pub(super) struct VerifyArguments {
    /// The checkout, or a folder in one
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Goal of the change, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub goal: String,
    /// Extent of the checks [default: the configuration's, else strict]
    #[arg(long, value_enum, value_name = "PROFILE")]
    pub profile: Option<VerifyProfile>,
    /// The git revision before the change [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// File that the goal concerns, below DIR; repeatable
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,
    /// Print the stack and the checks, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Folder for the tree before the change, outside of DIR [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

impl Command for VerifyArguments {
    const NAME: &'static str = "verify";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport verify --goal 'Greet several people' --dry-run",
            "which checks fit this goal",
        ),
        (
            "evalreport verify checkout --goal 'Greet several people' --profile fast",
            "run the fast ones in a checkout",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("verify", answer_schema::<Verification>)];
    const UNREAD: &'static [&'static str] = &["file", "scratch"];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::None, |settings| run_command(settings, self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyProfile {
    /// All relevant checks
    Strict,
    /// Core or targeted tests
    Fast,
    /// A start or a build
    Smoke,
    /// One cheap check
    Yolo,
}

impl VerifyProfile {
    pub fn to_profile(self) -> Profile {
        match self {
            Self::Strict => Profile::Strict,
            Self::Fast => Profile::Fast,
            Self::Smoke => Profile::Smoke,
            Self::Yolo => Profile::Yolo,
        }
    }
}

/// Interval between two updates of the line on a terminal.
const UPDATE_INTERVAL: Duration = Duration::from_millis(120);

fn run_command(settings: &Settings, arguments: &VerifyArguments) -> Result<u8, CommandFailure> {
    if settings.format == Format::Junit {
        return Err(output::no_junit_failure());
    }
    if arguments.goal.trim().is_empty() {
        return Err(CommandFailure::new("the goal is empty")
            .with_hint("describe the goal of the change in a sentence"));
    }
    let folder = check_folder(&arguments.folder)?;
    let overrides = read_overrides(settings)?;
    if let Some(note) = predecessors::verification_note(&folder) {
        output::print_message(settings, note);
    }
    let scratch = scratch_folder(arguments.scratch.as_deref(), &folder)?;
    let environment = settings.agent_environment(folder.clone());
    let root = settings.project_root()?;
    let tickets = Tickets::from_overrides(&overrides, &root, &root);
    let stop = StopSignal::new();
    let bar = progress_bar(settings.interactive);
    let tell = |what: &str| {
        info!(what, "step");
        if let Some(bar) = &bar {
            bar.set_message(what.to_owned());
        }
    };
    let verifying = VerificationInput {
        folder: &folder,
        goal: arguments.goal.trim(),
        profile: arguments
            .profile
            .map(VerifyProfile::to_profile)
            .or(overrides.profile)
            .unwrap_or(Profile::Strict),
        files: arguments
            .file
            .iter()
            .map(|file| path_below(&folder, file))
            .collect::<Result<_, _>>()?,
        base: arguments.base.as_deref(),
        overrides: &overrides,
        tickets: tickets.as_ref(),
        environment: &environment,
        scratch: &scratch,
        stop: &stop,
        step: &tell,
    };
    let prepared =
        prepare_verification(&verifying).map_err(|error| CommandFailure::new(error.to_string()))?;
    if arguments.dry_run {
        print_record(settings, &prepared.planned_record())?;
        return Ok(exit_code::DONE);
    }
    let over = Arc::new(AtomicBool::new(false));
    execute_plan::listen_for_interrupt(&stop, &over)?;
    let record = prepared.run_checks(&verifying);
    over.store(true, Ordering::SeqCst);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let Some((record, status)) = record else {
        output::print_message(settings, "stopped; nothing is left behind");
        return Ok(exit_code::INTERRUPTED);
    };
    print_record(settings, &record)?;
    Ok(status.exit_code())
}

fn print_record(settings: &Settings, record: &Verification) -> Result<(), CommandFailure> {
    output::print_answer(
        settings,
        "verify",
        &verification::check_and_failure_tables(record),
        || record.clone(),
    )
}

fn check_folder(folder: &Path) -> Result<PathBuf, CommandFailure> {
    let found = folder.canonicalize().map_err(|error| {
        CommandFailure::new(format!("cannot look at {}: {error}", display_path(folder)))
    })?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(CommandFailure::new(format!(
            "{} is not a folder",
            display_path(folder)
        )))
    }
}

fn read_overrides(settings: &Settings) -> Result<Overrides, CommandFailure> {
    let Some(node) = &settings.config.verification else {
        return Ok(Overrides::default());
    };
    let path = settings
        .config_path
        .clone()
        .or_else(|| config::find_file(&settings.config.folder))
        .unwrap_or_default();
    let mut problems = Vec::new();
    let overrides = Overrides::from_node(
        &escape_invisible(&path.display().to_string()),
        "verification",
        node,
        &mut problems,
    );
    if problems.is_empty() {
        Ok(overrides)
    } else {
        Err(CommandFailure::from_document(&path, &problems))
    }
}

fn scratch_folder(asked: Option<&Path>, folder: &Path) -> Result<PathBuf, CommandFailure> {
    let scratch = asked.map_or_else(env::temp_dir, Path::to_owned);
    let scratch = std::path::absolute(&scratch).unwrap_or(scratch);
    let real = scratch.canonicalize().unwrap_or_else(|_| scratch.clone());
    // Otherwise the tree before the change would be among the files of the tree after it.
    if real.starts_with(folder) {
        return Err(CommandFailure::new(format!(
            "the folder for the tree before the change, {}, is inside {}",
            display_path(&scratch),
            display_path(folder)
        ))
        .with_hint("name one outside with --scratch DIR"));
    }
    Ok(real)
}

/// Returns the path of a file relative to the folder.
fn path_below(folder: &Path, file: &Path) -> Result<String, CommandFailure> {
    let outside = || {
        CommandFailure::new(format!(
            "{} is not below {}",
            display_path(file),
            display_path(folder)
        ))
        .with_hint("--file takes paths below DIR")
    };
    let relative = if file.is_absolute() {
        file.strip_prefix(folder).map_err(|_| outside())?
    } else {
        file
    };
    let mut parts = Vec::new();
    for component in relative.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    if parts.is_empty() {
        Err(outside())
    } else {
        Ok(parts.join("/"))
    }
}

fn progress_bar(interactive: bool) -> Option<ProgressBar> {
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = interactive.then(|| {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10))
            .with_style(style)
    })?;
    bar.enable_steady_tick(UPDATE_INTERVAL);
    Some(bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_below_the_folder() {
        let folder = Path::new("/home/u/app");
        let of = |file: &str| path_below(folder, Path::new(file)).ok();
        assert_eq!(of("./src//main.py").as_deref(), Some("src/main.py"));
        assert_eq!(
            of("/home/u/app/src/main.py").as_deref(),
            Some("src/main.py")
        );
        for outside in ["../other.py", "/etc/passwd", "", ".", "src/../../x"] {
            assert_eq!(of(outside), None, "{outside}");
        }
    }
}
