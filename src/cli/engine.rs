//! `--engine` and `--from-counts`: reads what an engine holds, or what it exported.

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::info;

use crate::domain::{Problem, Problems};
use crate::engine::{EngineAccess, EngineAddress, EngineError, read_engine_answer};
use crate::import::read_item_counts;
use crate::warehouse::{EngineAnswer, Warehouse};

use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Engine;
use super::settings::Settings;

/// The variable with the engine's token.
const TOKEN_VARIABLE: &str = "EVALREPORT_ENGINE_TOKEN";
const MAX_WAIT_SECONDS: f64 = 86_400.0;

/// Returns settings that read what the engine holds, if one is named. `names` are those that may be suites: only their outcomes are read.
pub(super) fn with_engine(
    settings: &Settings,
    asked: &Engine,
    names: &[&[String]],
) -> Result<Settings, CommandFailure> {
    if !asked.from_counts.is_empty() {
        let answers = asked
            .from_counts
            .iter()
            .map(|path| read_counts(path))
            .collect::<Result<_, CommandFailure>>()?;
        return Ok(Settings {
            answers,
            ..settings.clone()
        });
    }
    let Some(url) = &asked.engine else {
        return Ok(settings.clone());
    };
    let address =
        EngineAddress::parse(url).map_err(|why| CommandFailure::new(format!("--engine: {why}")))?;
    for (option, seconds) in [
        ("--engine-timeout", asked.engine_timeout),
        ("--engine-time-limit", asked.engine_time_limit),
    ] {
        if !(seconds > 0.0 && seconds <= MAX_WAIT_SECONDS) {
            return Err(CommandFailure::new(format!(
                "{option} `{seconds}` is not between 0 and {MAX_WAIT_SECONDS} seconds"
            )));
        }
    }
    let token = match env::var(TOKEN_VARIABLE) {
        Ok(token) => Some(token.trim().to_owned()).filter(|token| !token.is_empty()),
        Err(env::VarError::NotPresent) => None,
        Err(env::VarError::NotUnicode(_)) => {
            return Err(CommandFailure::new(format!("{TOKEN_VARIABLE} is no text")));
        }
    };
    let [wait, total] =
        [asked.engine_timeout, asked.engine_time_limit].map(Duration::from_secs_f64);
    let access = EngineAccess {
        address,
        token,
        wait,
        total,
    };
    let start = Instant::now();
    let answer = read_engine_answer(&access, &names.concat(), &settings.config.aliases)?;
    info!(
        engine = %access.address,
        runs = answer.runs.len(),
        rows = answer.rows.len(),
        outcomes = answer.rows.iter().map(|row| row.cells.len()).sum::<usize>(),
        seconds = start.elapsed().as_secs_f64(),
        "engine read"
    );
    Ok(Settings {
        answers: vec![Arc::new(answer)],
        ..settings.clone()
    })
}

/// Fails if an engine became silent while the answer was made: an answer without its figures would look whole.
pub(super) fn refuse_incomplete(
    settings: &Settings,
    warehouse: &Warehouse,
) -> Result<(), CommandFailure> {
    match warehouse.late_problems().into_iter().next() {
        Some(problem) if !settings.answers.is_empty() => Err(problem.into()),
        _ => Ok(()),
    }
}

/// Reads a table of counts.
fn read_counts(path: &Path) -> Result<Arc<EngineAnswer>, CommandFailure> {
    let counts =
        read_item_counts(path).map_err(|problems| CommandFailure::from(Problems(problems)))?;
    let answer = EngineAnswer::from_counts(&display_path(path), &counts);
    answer
        .map(Arc::new)
        .map_err(|why| Problem::in_file(display_path(path), why).into())
}

impl From<EngineError> for CommandFailure {
    fn from(error: EngineError) -> Self {
        Self {
            hint: error.hint.map(str::to_owned),
            ..Self::new(error.message)
        }
    }
}
