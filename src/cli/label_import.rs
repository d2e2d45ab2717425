//! `import` of people's labels: they are stored beside the runs that they are about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::{
    Direction, ItemDetails, ItemOutcome, ItemStatus, Problem, Run, RunId, ScoreRecord, Unit,
    escape_invisible, is_person, person_evaluator,
};
use crate::render::json::LabelsAnswer;
use crate::render::labelling;
use crate::results::ScoreLine;
use crate::suite::normalize_answer;
use crate::views::{LabelReport, LabelledRun};
use crate::warehouse::Warehouse;

use super::display_path::display_path;
use super::failure::CommandFailure;
use super::import_arguments::ImportArguments;
use super::labels::{self, HumanLabel, LabelFile};
use super::settings::Settings;
use super::{exit_code, output, selection};

/// An outcome's place in a run: its item, as named there, and the attempt.
type AttemptKey = (String, u32);

/// Returns the file if the import is of one file of labels and no option says otherwise.
pub(super) fn labels_file(arguments: &ImportArguments) -> Option<&PathBuf> {
    let [path] = arguments.files.as_slice() else {
        return None;
    };
    let is_free = arguments.kind.is_none()
        && arguments.map.is_none()
        && arguments.set.is_empty()
        && arguments.signed_by.is_none();
    (is_free && labels::is_labels(path)).then_some(path)
}

/// Adds the labels of a file to the labels of the runs that it names. A label replaces an earlier one of the same person.
pub(super) fn run_command(
    settings: &Settings,
    arguments: &ImportArguments,
    path: &Path,
) -> Result<u8, CommandFailure> {
    let LabelFile { labels, blank } = labels::read_file(path)?;
    let warehouse = settings.open_stored(&[])?;
    output::refuse_unread("what is labelled", warehouse.problems())?;
    let (by_run, problems) = labels_by_run(&warehouse, path, &labels);
    let mut found = Vec::new();
    let mut all = problems;
    for (run, labels) in &by_run {
        let outcomes = warehouse
            .read_detailed_outcomes(std::slice::from_ref(run))
            .map_err(|error| {
                CommandFailure::new(format!(
                    "the outcomes of run `{}` cannot be read: {error}",
                    run.id
                ))
            })?;
        match find_outcomes(path, run, labels, &outcomes) {
            Ok(placed) => found.push((run, outcomes, placed)),
            Err(problems) => all.extend(problems),
        }
    }
    if !all.is_empty() {
        return Err(labels::problems_failure(path, &all));
    }
    let mut runs = Vec::new();
    for (run, outcomes, placed) in found {
        for (rater, new) in placed {
            runs.push(store_labels(
                settings,
                arguments.dry_run,
                run,
                &rater,
                &new,
                &outcomes,
            )?);
        }
    }
    let report = LabelReport {
        file: display_path(path),
        is_dry: arguments.dry_run,
        blank,
        runs,
    };
    output::print_answer(
        settings,
        "labels",
        &[labelling::added_labels_table(&report)],
        || LabelsAnswer { report },
    )?;
    Ok(exit_code::DONE)
}

/// Runs with their labels.
type RunsWithLabels<'a> = Vec<(Arc<Run>, Vec<&'a HumanLabel>)>;

fn labels_by_run<'a>(
    warehouse: &Warehouse,
    path: &Path,
    labels: &'a [HumanLabel],
) -> (RunsWithLabels<'a>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut by_run = BTreeMap::<RunId, (Arc<Run>, Vec<&HumanLabel>)>::new();
    for label in labels {
        let found =
            selection::match_ids(&label.run, warehouse.runs().iter().map(|row| &row.run.id));
        let message = match found.as_slice() {
            [id] => {
                if let Some(row) = warehouse.runs().iter().find(|row| row.run.id == **id) {
                    by_run
                        .entry((*id).clone())
                        .or_insert_with(|| (Arc::clone(&row.run), Vec::new()))
                        .1
                        .push(label);
                }
                continue;
            }
            [] => format!("no run `{}`", escape_invisible(&label.run)),
            several => format!(
                "`{}` is the beginning of {} run ids",
                escape_invisible(&label.run),
                several.len()
            ),
        };
        problems.push(Problem::at_line(display_path(path), label.line, message));
    }
    (by_run.into_values().collect(), problems)
}

/// Finds the outcomes that labels are about, by person.
fn find_outcomes(
    path: &Path,
    run: &Run,
    labels: &[&HumanLabel],
    outcomes: &[(ItemOutcome, ItemDetails)],
) -> Result<BTreeMap<String, BTreeMap<AttemptKey, bool>>, Vec<Problem>> {
    let names: BTreeMap<String, &str> = outcomes
        .iter()
        .map(|(outcome, _)| (normalize_answer(&outcome.item), outcome.item.as_str()))
        .collect();
    let mut placed = BTreeMap::<String, BTreeMap<AttemptKey, bool>>::new();
    let mut problems = Vec::new();
    for label in labels {
        // Our CSV quotes a name that a spreadsheet would take for a formula.
        let asked = label
            .item
            .strip_prefix('\'')
            .filter(|name| name.starts_with(['=', '+', '-', '@']))
            .unwrap_or(&label.item);
        let exact = outcomes
            .iter()
            .find(|(outcome, _)| outcome.item == asked)
            .map(|(outcome, _)| outcome.item.as_str());
        let Some(item) = exact.or_else(|| names.get(&normalize_answer(asked)).copied()) else {
            let problem = Problem::at_line(
                display_path(path),
                label.line,
                format!(
                    "run `{}` has no item `{}`",
                    run.id,
                    escape_invisible(&label.item)
                ),
            );
            problems.push(
                match crate::domain::nearest_name(&label.item, names.values().copied()) {
                    Some(near) => {
                        problem.with_hint(format!("did you mean `{}`?", escape_invisible(near)))
                    }
                    None => problem,
                },
            );
            continue;
        };
        let rater = person_evaluator(if label.rater == labels::ONE_RATER {
            ""
        } else {
            &label.rater
        });
        placed
            .entry(rater)
            .or_default()
            .insert((item.to_owned(), 1), label.met);
    }
    if problems.is_empty() {
        Ok(placed)
    } else {
        Err(problems)
    }
}

/// Stores one person's labels of a run: the earlier ones with the new ones, as one revision.
fn store_labels(
    settings: &Settings,
    is_dry: bool,
    run: &Run,
    rater: &str,
    new: &BTreeMap<AttemptKey, bool>,
    outcomes: &[(ItemOutcome, ItemDetails)],
) -> Result<LabelledRun, CommandFailure> {
    let mut all: BTreeMap<AttemptKey, ItemOutcome> = outcomes
        .iter()
        .filter(|(outcome, _)| outcome.evaluator == rater)
        .map(|(outcome, _)| ((outcome.item.clone(), outcome.attempt), outcome.clone()))
        .collect();
    let (mut added, mut changed) = (0, 0);
    for ((item, attempt), met) in new {
        let status = if *met {
            ItemStatus::Pass
        } else {
            ItemStatus::Fail
        };
        // Other evaluators' outcomes of the item know its kind, cluster and category.
        let Some((known, _)) = outcomes
            .iter()
            .find(|(outcome, _)| outcome.item == *item && !is_person(&outcome.evaluator))
            .or_else(|| outcomes.iter().find(|(outcome, _)| outcome.item == *item))
        else {
            continue;
        };
        let label = ItemOutcome {
            attempt: *attempt,
            status,
            score: None,
            evaluator: rater.to_owned(),
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
            ..known.clone()
        };
        match all.insert((item.clone(), *attempt), label) {
            None => added += 1,
            Some(before) => changed += u64::from(before.status != status),
        }
    }
    if !is_dry && added + changed > 0 {
        let store = settings.store();
        let revision = store.read_judgements(&run.id, rater)?.next.max(
            all.values()
                .map(|outcome| outcome.revision + 1)
                .max()
                .unwrap_or(1),
        );
        let lines: Vec<(ItemOutcome, ItemDetails)> = all
            .values()
            .map(|outcome| (outcome.clone(), ItemDetails::default()))
            .collect();
        let share = ScoreRecord {
            metric: rater.to_owned(),
            value: None,
            unit: Unit::Count,
            direction: Direction::None,
            range: None,
            standard_error: None,
            n: Some(lines.len() as u64),
            evaluator: Some(rater.to_owned()),
            revision,
        };
        store.append_judgement(&run.id, &lines, &ScoreLine::from_score(share))?;
    }
    Ok(LabelledRun {
        run: run.id.to_string(),
        rater: rater.to_owned(),
        labels: all.len() as u64,
        added,
        changed,
    })
}
