//! Converts selection arguments into a filter, and checks it against the stored runs.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::{DateTime, NaiveDate, Utc};

use crate::domain::{Filter, Run, RunId, escape_invisible, may_mean, nearest_name};
use crate::views::{BatchSelection, night_key};
use crate::warehouse::Warehouse;

use super::assignments::parse_assignment;
use super::failure::CommandFailure;
use super::options::Selection;
use super::{output, predecessors};

impl Selection {
    /// Converts the arguments into a filter. Checks only their form.
    pub fn to_filter(&self) -> Result<Filter, CommandFailure> {
        let tags = self
            .tag
            .iter()
            .map(|one| parse_assignment("--tag", one, "--tag KEY=VALUE"));
        Ok(Filter {
            suites: self.suite.clone(),
            approaches: self.approach.clone(),
            models: self.model.clone(),
            tags: tags.collect::<Result<_, CommandFailure>>()?,
            since: self.since.as_deref().map(parse_time).transpose()?,
            batch: self.batch.clone(),
            ids: Vec::new(),
        })
    }
}

fn parse_time(text: &str) -> Result<DateTime<Utc>, CommandFailure> {
    let day = || {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()
            .and_then(|day| day.and_hms_opt(0, 0, 0))
            .map(|time| time.and_utc())
    };
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.to_utc())
        .ok()
        .or_else(day)
        .ok_or_else(|| {
            CommandFailure::new(format!(
                "--since `{}` is not a time",
                escape_invisible(text)
            ))
            .with_hint("write a day like 2026-01-31 or a time like 2026-01-31T12:00:00Z")
        })
}

/// Returns one of a run's names, such as its suite.
type NameGetter = fn(&crate::domain::Run) -> &str;

/// Fails if the filter has a name that no run has, suggesting the nearest one, or if it selects nothing.
pub(super) fn check_filter(warehouse: &Warehouse, filter: &Filter) -> Result<(), CommandFailure> {
    if warehouse.runs().is_empty() {
        let hidden = warehouse.hidden_runs().len();
        if let Some(first) = warehouse.problems().first().filter(|_| hidden == 0) {
            return Err(
                CommandFailure::new(format!("no run of the store could be read: {first}"))
                    .with_hint("`evalreport doctor` lists everything that is wrong"),
            );
        }
        let unfinished = warehouse.unfinished_count();
        return Err(if hidden == 0 && unfinished > 0 {
            let runs = output::format_count(unfinished, "run");
            CommandFailure::new(format!("the store holds no finished run, and {runs} without an end"))
                .with_hint("`evalreport run --resume` ends an interrupted batch; `evalreport list --runs` shows its runs")
        } else if hidden > 0 {
            CommandFailure::new(format!("all {hidden} runs of the store are retracted"))
                .with_hint("`evalreport retract --undo` with the same selector shows them again")
        } else {
            CommandFailure::new("the store holds no runs").with_hint(
                predecessors::results_hint(Path::new("")).unwrap_or(
                    "bring some in with `evalreport import FILE`, or point --results at a folder of result files",
                ),
            )
        });
    }
    let names: [(&str, &[String], NameGetter); 3] = [
        ("suite", &filter.suites, |run| &run.suite),
        ("approach", &filter.approaches, |run| &run.approach),
        ("model", &filter.models, |run| &run.model),
    ];
    for (what, wanted, name) in names {
        for one in wanted {
            if !warehouse.runs().iter().any(|row| name(&row.run) == one) {
                return Err(unknown_name(
                    what,
                    one,
                    warehouse.runs().iter().map(|row| name(&row.run)),
                ));
            }
        }
    }
    if warehouse.select_runs(filter).next().is_none() {
        return Err(CommandFailure::new("no run matches the selection")
            .with_hint("`evalreport list --runs` shows all runs"));
    }
    Ok(())
}

/// Adds to each model of the filter the stored names that may mean it: `sonnet` selects its dated names too. What is stored in a filter, such
/// as a tombstone, keeps the exact names.
pub(super) fn with_model_names(warehouse: &Warehouse, filter: Filter) -> Filter {
    let known: BTreeSet<&str> = warehouse
        .runs()
        .iter()
        .map(|row| row.run.model.as_str())
        .collect();
    let mut models = filter.models.clone();
    for asked in &filter.models {
        let meant = known.iter().filter(|name| may_mean(asked, name));
        models.extend(meant.map(|name| (*name).to_owned()));
    }
    // Of a name that no run has, only those that it means.
    models.retain(|name| {
        known.contains(name.as_str()) || !known.iter().any(|known| may_mean(name, known))
    });
    models.sort();
    models.dedup();
    Filter { models, ..filter }
}

/// Returns the filter as the stored runs have its names, see [`with_model_names`]. Fails if it has an unknown name or selects nothing.
pub(super) fn resolve_filter(
    warehouse: &Warehouse,
    filter: Filter,
) -> Result<Filter, CommandFailure> {
    let filter = with_model_names(warehouse, filter);
    check_filter(warehouse, &filter)?;
    Ok(filter)
}

/// Completes abbreviated run ids, so that a stored selection keeps its meaning when more runs are added.
pub(super) fn complete_ids(
    warehouse: &Warehouse,
    ids: &[String],
) -> Result<Vec<String>, CommandFailure> {
    // If there are no runs, the selection is refused for that reason later.
    if warehouse.runs().is_empty() {
        return Ok(ids.to_vec());
    }
    ids.iter().map(|id| complete_id(warehouse, id)).collect()
}

/// The newest run, or the newest batch. Ids of runs that were made together begin alike, so this is quicker to write.
pub(super) const LAST_WORD: &str = "last";

/// Returns the newest run. Runs without a time are older than all others.
fn newest_run(warehouse: &Warehouse) -> Option<&Run> {
    warehouse
        .runs()
        .iter()
        .map(|row| &*row.run)
        .max_by_key(|run| (run.timestamp, &run.id))
}

/// Returns the ids of the newest batch: the runs that were started or imported together with the newest run.
/// Returns the batches that the options of a board ask for.
pub(super) fn batch_selection(newest_batch: bool, all_nights: bool) -> BatchSelection {
    match (newest_batch, all_nights) {
        (true, _) => BatchSelection::NewestBatch,
        (false, true) => BatchSelection::AllNights,
        (false, false) => BatchSelection::AllBatches,
    }
}

pub(super) fn newest_batch(warehouse: &Warehouse) -> Vec<String> {
    let Some(newest) = newest_run(warehouse).map(night_key) else {
        return Vec::new();
    };
    warehouse
        .runs()
        .iter()
        .filter(|row| night_key(&row.run) == newest)
        .map(|row| row.run.id.to_string())
        .collect()
}

fn complete_id(warehouse: &Warehouse, text: &str) -> Result<String, CommandFailure> {
    if let Some(run) = newest_run(warehouse).filter(|_| {
        text == LAST_WORD
            && warehouse
                .runs()
                .iter()
                .all(|row| row.run.id.as_str() != LAST_WORD)
    }) {
        return Ok(run.id.to_string());
    }
    let hidden = warehouse.hidden_runs();
    let retracted = |ids: &[&RunId]| {
        let one = hidden.iter().find(|hidden| ids.contains(&&hidden.run.id))?;
        Some(CommandFailure::new(format!(
            "run `{}` is retracted: {}",
            one.run.id,
            escape_invisible(&one.reason)
        )))
    };
    // A complete id means that run, even if the run is retracted and its id is the beginning of another id.
    let whole: Vec<&RunId> = hidden
        .iter()
        .map(|hidden| &hidden.run.id)
        .filter(|id| id.as_str() == text)
        .collect();
    if let Some(failure) = retracted(&whole) {
        return Err(failure);
    }
    match match_ids(text, warehouse.runs().iter().map(|row| &row.run.id)).as_slice() {
        [one] => Ok(one.to_string()),
        [] => Err(
            retracted(&match_ids(text, hidden.iter().map(|hidden| &hidden.run.id))).unwrap_or_else(
                || {
                    if text.len() < 4 {
                        CommandFailure::new(format!("no run `{}`", escape_invisible(text)))
                            .with_hint("the beginning of an id needs at least four characters")
                    } else {
                        unknown_name(
                            "run",
                            text,
                            warehouse.runs().iter().map(|row| row.run.id.as_str()),
                        )
                    }
                },
            ),
        ),
        several => Err(CommandFailure::new(format!(
            "`{}` is the beginning of {} run ids",
            escape_invisible(text),
            several.len()
        ))
        .with_hint("give more of the id")),
    }
}

/// Returns the ids that `text` names: the equal id, else all ids that begin with `text` if it has at least four characters.
pub(super) fn match_ids<'a>(
    text: &str,
    ids: impl Iterator<Item = &'a RunId> + Clone,
) -> Vec<&'a RunId> {
    match ids.clone().find(|id| id.as_str() == text) {
        Some(whole) => vec![whole],
        None if text.len() < 4 => Vec::new(),
        None => ids.filter(|id| id.as_str().starts_with(text)).collect(),
    }
}

/// Returns the failure for an unknown name, with the nearest known name or some known names.
pub(super) fn unknown_name<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> CommandFailure {
    let known: BTreeSet<&str> = known.collect();
    let failure = CommandFailure::new(format!("no {what} `{}`", escape_invisible(name)));
    match nearest_name(name, known.iter().copied()) {
        Some(near) => failure.with_hint(format!("did you mean `{}`?", escape_invisible(near))),
        None => {
            let some: Vec<String> = known
                .iter()
                .take(8)
                .map(|name| escape_invisible(name))
                .collect();
            let rest = known.len().saturating_sub(some.len());
            let rest = if rest > 0 {
                format!(" and {rest} more")
            } else {
                String::new()
            };
            failure.with_hint(format!("there are: {}{rest}", some.join(", ")))
        }
    }
}
