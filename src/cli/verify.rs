//! `verify`: checks whether a goal is met in a checkout, by running a few checks before and after the change.

use std::env;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::info;

use crate::config;
use crate::domain::{Profile, Verification, visible};
use crate::process::Stop;
use crate::render::verification;
use crate::run::verification::{Tickets, Verifying, prepare};
use crate::verify::Overrides;

use super::arguments::{Format, Verify, VerifyProfile};
use super::failure::Failure;
use super::settings::Settings;
use super::shown::shown;
use super::{carry, exit_code, output};

/// Interval between two updates of the line on a terminal.
const TICK: Duration = Duration::from_millis(120);

pub(super) fn run(settings: &Settings, arguments: &Verify) -> Result<u8, Failure> {
    if settings.format == Format::Junit {
        return Err(output::no_junit());
    }
    if arguments.goal.trim().is_empty() {
        return Err(Failure::new("the goal is empty")
            .with_hint("describe the goal of the change in a sentence"));
    }
    let folder = folder(&arguments.folder)?;
    let overrides = overrides(settings)?;
    let scratch = scratch(arguments.scratch.as_deref(), &folder)?;
    let environment = settings.environment(folder.clone());
    let root = settings.root()?;
    let tickets = Tickets::of(&overrides, &root, &root);
    let stop = Stop::new();
    let bar = bar(settings.interactive);
    let tell = |what: &str| {
        info!(what, "step");
        if let Some(bar) = &bar {
            bar.set_message(what.to_owned());
        }
    };
    let verifying = Verifying {
        folder: &folder,
        goal: arguments.goal.trim(),
        profile: arguments
            .profile
            .map(VerifyProfile::profile)
            .or(overrides.profile)
            .unwrap_or(Profile::Strict),
        files: arguments
            .file
            .iter()
            .map(|file| below(&folder, file))
            .collect::<Result<_, _>>()?,
        base: arguments.base.as_deref(),
        overrides: &overrides,
        tickets: tickets.as_ref(),
        environment: &environment,
        scratch: &scratch,
        stop: &stop,
        step: &tell,
    };
    let prepared = prepare(&verifying).map_err(|error| Failure::new(error.to_string()))?;
    if arguments.dry_run {
        print(settings, &prepared.record())?;
        return Ok(exit_code::DONE);
    }
    let over = Arc::new(AtomicBool::new(false));
    carry::listen(&stop, &over)?;
    let record = prepared.verify(&verifying);
    over.store(true, Ordering::SeqCst);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let Some((record, status)) = record else {
        output::say(settings, "stopped; nothing is left behind");
        return Ok(exit_code::INTERRUPTED);
    };
    print(settings, &record)?;
    Ok(status.exit_code())
}

fn print(settings: &Settings, record: &Verification) -> Result<(), Failure> {
    output::answer(settings, "verify", &verification::tables(record), || {
        record.clone()
    })
}

fn folder(folder: &Path) -> Result<PathBuf, Failure> {
    let found = folder
        .canonicalize()
        .map_err(|error| Failure::new(format!("cannot look at {}: {error}", shown(folder))))?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(Failure::new(format!("{} is not a folder", shown(folder))))
    }
}

fn overrides(settings: &Settings) -> Result<Overrides, Failure> {
    let Some(node) = &settings.config.verification else {
        return Ok(Overrides::default());
    };
    let path = settings
        .config_path
        .clone()
        .or_else(|| config::find(&settings.config.folder))
        .unwrap_or_default();
    let mut problems = Vec::new();
    let overrides = Overrides::read(
        &visible(&path.display().to_string()),
        "verification",
        node,
        &mut problems,
    );
    if problems.is_empty() {
        Ok(overrides)
    } else {
        Err(Failure::of_document(&path, &problems))
    }
}

fn scratch(asked: Option<&Path>, folder: &Path) -> Result<PathBuf, Failure> {
    let scratch = asked.map_or_else(env::temp_dir, Path::to_owned);
    let scratch = std::path::absolute(&scratch).unwrap_or(scratch);
    let real = scratch.canonicalize().unwrap_or_else(|_| scratch.clone());
    // Otherwise the tree before the change would be among the files of the tree after it.
    if real.starts_with(folder) {
        return Err(Failure::new(format!(
            "the folder for the tree before the change, {}, is inside {}",
            shown(&scratch),
            shown(folder)
        ))
        .with_hint("name one outside with --scratch DIR"));
    }
    Ok(real)
}

/// Returns the path of a file relative to the folder.
fn below(folder: &Path, file: &Path) -> Result<String, Failure> {
    let outside = || {
        Failure::new(format!("{} is not below {}", shown(file), shown(folder)))
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

fn bar(interactive: bool) -> Option<ProgressBar> {
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = interactive.then(|| {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10))
            .with_style(style)
    })?;
    bar.enable_steady_tick(TICK);
    Some(bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_below_the_folder() {
        let folder = Path::new("/home/u/app");
        let of = |file: &str| below(folder, Path::new(file)).ok();
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
