//! Checks a store for damage.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::domain::{
    ItemStatus, Problem, Run, RunId, ScoreRecord, UnfinishedRun, UnfinishedState, can_judge_again,
    escape_invisible, latest_outcome_revision,
};
use crate::files;

use super::{
    Batch, HeaderlessFolder, ItemLine, LineProblem, Retractions, ScoreLine, SealedReader, Store,
    bundle, for_each_line, header, load_acceptances, scan_store, unfinished_runs,
};

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct StoreExamination {
    pub runs: usize,
    pub items: u64,
    pub batches: usize,
    pub retractions: usize,
    pub acceptances: usize,
    /// Folders of runs that another process is writing now, which is no damage.
    pub in_flight: Vec<String>,
    /// Runs without a header: in flight or abandoned.
    pub unfinished: Vec<UnfinishedRun>,
    /// Oddities that do no harm.
    pub notes: Vec<Problem>,
    /// Damage, in store order.
    pub damage: Vec<Problem>,
}

/// A file with the lines of one run.
struct CheckedJournal<'a> {
    run: &'a Run,
    scores: &'a [ScoreRecord],
    /// Whether the run was imported, so that its outcomes are in the sealed pair and this file has only judgements.
    is_of_judges: bool,
}

/// Counts of a run's first evaluation, by evaluator.
#[derive(Default)]
struct FirstEvaluationCounts {
    passed: u64,
    total: u64,
}

/// Reads every file of the store completely.
pub fn examine_store(store: &Store) -> StoreExamination {
    let mut contents = scan_store(store);
    let mut examination = StoreExamination {
        damage: std::mem::take(&mut contents.problems),
        ..StoreExamination::default()
    };
    let mut seen = BTreeMap::<RunId, String>::new();

    for file in &contents.headers {
        let name = display_path(&file.path);
        match header::read_header(&file.path) {
            Ok(run) => {
                check_duplicate_id(&mut seen, &run.id, &name, &mut examination.damage);
                if let Some(stem) = file.path.file_stem().and_then(|stem| stem.to_str())
                    && stem != run.id.as_str()
                    && file.items.is_some()
                {
                    examination.damage.push(Problem::in_file(
                        &name,
                        format!(
                            "has id `{}`, but its items lie in `{}`",
                            run.id,
                            escape_invisible(stem)
                        ),
                    ));
                }
                examination.runs += 1;
                let scores = read_scores(&run, file.scores.as_deref(), &mut examination);
                if let Some(items) = &file.items {
                    let known = BTreeMap::from([(run.id.clone(), &run)]);
                    let journal = CheckedJournal {
                        run: &run,
                        scores: &scores,
                        is_of_judges: false,
                    };
                    check_items(
                        items,
                        files::open(items).map(BufReader::new),
                        Some(&journal),
                        &known,
                        &mut examination,
                    );
                }
            }
            Err(problems) => examination.damage.extend(problems.0),
        }
    }
    let mut imported = BTreeSet::new();
    for pair in &contents.sealed {
        let (runs, problems) = SealedReader::read_runs(&pair.runs);
        examination.damage.extend(problems);
        let name = display_path(&pair.runs);
        for run in &runs {
            check_duplicate_id(&mut seen, &run.id, &name, &mut examination.damage);
        }
        examination.runs += runs.len();
        let known: BTreeMap<RunId, &Run> = runs.iter().map(|run| (run.id.clone(), run)).collect();
        if let Some(items) = &pair.items {
            check_items(
                items,
                SealedReader::open_items(items).map(BufReader::new),
                None,
                &known,
                &mut examination,
            );
        }
        for judged in &contents.headless {
            let of_pair = RunId::parse(judged.run_id())
                .ok()
                .and_then(|id| known.get(&id));
            if let Some(run) = of_pair.filter(|_| imported.insert(judged.run_id())) {
                let scores = read_scores(run, judged.scores.as_deref(), &mut examination);
                if let Some(items) = &judged.items {
                    let journal = CheckedJournal {
                        run,
                        scores: &scores,
                        is_of_judges: true,
                    };
                    check_items(
                        items,
                        files::open(items).map(BufReader::new),
                        Some(&journal),
                        &known,
                        &mut examination,
                    );
                }
            }
        }
    }
    for path in &contents.orphaned_items {
        examination.damage.push(
            Problem::in_file(
                display_path(path),
                "items without header: an import was interrupted before its runs were written",
            )
            .with_hint("import the source again, or delete the file"),
        );
    }
    for HeaderlessFolder {
        folder,
        scores,
        has_transcript,
        ..
    } in contents.unfinished_folders(|id| imported.contains(id))
    {
        let Some(run) = unfinished_runs([folder.as_path()]).pop() else {
            continue;
        };
        if run.state == UnfinishedState::InProgress {
            examination.in_flight.push(display_path(folder));
            examination.unfinished.push(run);
        } else if bundle::is_half_imported(folder) {
            examination.damage.push(
                Problem::in_file(
                    display_path(folder),
                    "half of a run: an import of its bundle was interrupted",
                )
                .with_hint("import the bundle again"),
            );
        } else if scores.is_some() && !has_transcript {
            examination.damage.push(
                Problem::in_file(
                    display_path(folder),
                    "judgements of an imported run that is not in the store",
                )
                .with_hint("import its source again, or delete the folder"),
            );
        } else {
            let hint = match &run.resume {
                Some(command) => format!(
                    "`{}` resumes the run; or delete the folder",
                    escape_invisible(command)
                ),
                None => {
                    "delete the folder; neither a plan nor `begun.json` says how to resume the run"
                        .to_owned()
                }
            };
            let message = format!(
                "abandoned run: no header, and no process is writing it{}",
                describe_progress(&run)
            );
            examination
                .damage
                .push(Problem::in_file(display_path(folder), message).with_hint(hint));
            examination.unfinished.push(run);
        }
    }
    for path in &contents.batches {
        match Batch::load(path) {
            Ok(_) => examination.batches += 1,
            Err(problem) => examination.damage.push(problem),
        }
    }
    match Retractions::load(store) {
        Ok(retractions) => examination.retractions = retractions.standing.len(),
        Err(problems) => examination.damage.extend(problems.0),
    }
    match load_acceptances(store) {
        Ok(accepted) => examination.acceptances = accepted.len(),
        Err(problems) => examination.damage.extend(problems.0),
    }
    examination
}

/// Reads all scores of a run.
fn read_scores(
    run: &Run,
    path: Option<&Path>,
    examination: &mut StoreExamination,
) -> Vec<ScoreRecord> {
    let mut scores = run.scores.clone();
    if let Some(path) = path {
        scores.extend(
            ScoreLine::read_all(path, &mut examination.damage)
                .into_iter()
                .map(|line| line.score),
        );
    }
    scores
}

fn check_duplicate_id(
    seen: &mut BTreeMap<RunId, String>,
    id: &RunId,
    file: &str,
    damage: &mut Vec<Problem>,
) {
    if let Some(first) = seen.get(id) {
        damage.push(
            Problem::in_file(file, format!("duplicate id `{id}`, also in {first}"))
                .with_hint("the first one is used; delete one of the two"),
        );
    } else {
        seen.insert(id.clone(), file.to_owned());
    }
}

/// Reads item lines, checks each, and compares the counts of revision 0 with the headers. `journal_of` is the run, if all lines belong to
/// one.
fn check_items(
    path: &Path,
    reader: std::io::Result<impl BufRead>,
    journal_of: Option<&CheckedJournal<'_>>,
    runs: &BTreeMap<RunId, &Run>,
    examination: &mut StoreExamination,
) {
    let name = display_path(path);
    let mut counted = BTreeMap::<(RunId, bool), FirstEvaluationCounts>::new();
    let mut seen = BTreeSet::new();
    let mut unfinished = BTreeSet::new();
    let mut damage = Vec::new();
    let mut items = 0u64;
    let read = reader.and_then(|reader| {
        for_each_line(reader, |number, line| {
            let checked = line.map_err(LineProblem::message).and_then(|line| {
                let item = ItemLine::parse(line).map_err(|error| error.0)?;
                let run = match (&item.run, journal_of) {
                    (Some(id), _) => RunId::parse(id)?,
                    (None, Some(journal)) => journal.run.id.clone(),
                    (None, None) => return Err("names no run".to_owned()),
                };
                if !runs.contains_key(&run) {
                    return Err(format!("item without header: run `{run}` is not in the store"));
                }
                if journal_of.is_some()
                    && !seen.insert((item.kind, item.evaluator.to_string(), item.item.to_string(), item.attempt, item.revision))
                {
                    return Err(format!(
                        "item `{}`, attempt {}, revision {} is there twice",
                        escape_invisible(&item.item),
                        item.attempt,
                        item.revision
                    ));
                }
                if journal_of.is_some_and(|journal| journal.is_of_judges) && (item.revision == 0 || !can_judge_again(&item.evaluator)) {
                    return Err("is not what a judge said later, and counts for nothing beside an imported run".to_owned());
                }
                if let Some(journal) = journal_of
                    && latest_outcome_revision(&item.evaluator, journal.scores).is_some_and(|standing| item.revision > standing)
                {
                    unfinished.insert((item.evaluator.to_string(), item.revision));
                }
                items += 1;
                let own = item.evaluator == "own_tests";
                let is_headline = item.kind.is_counted() && item.evaluator != "functional_tests";
                if item.revision == 0 && is_headline && item.status.is_counted() {
                    let counts = counted.entry((run, own)).or_default();
                    counts.total += 1;
                    counts.passed += u64::from(item.status == ItemStatus::Pass);
                }
                Ok(())
            });
            if let Err(message) = checked {
                damage.push(Problem::at_line(&name, number, message));
            }
        })
    });
    examination.items += items;
    examination.damage.append(&mut damage);
    examination
        .notes
        .extend(unfinished.into_iter().map(|(evaluator, revision)| {
        let message = format!(
            "revision {revision} of `{}` was not finished: it has no score, and counts for nothing",
            escape_invisible(&evaluator)
        );
        Problem::in_file(&name, message)
            .with_hint("`evalreport judge` with the run's id judges it again")
    }));
    if let Err(error) = read {
        examination.damage.push(Problem::in_file(
            &name,
            format!("cannot be read to its end: {error}"),
        ));
        return;
    }
    for ((id, own), counts) in counted {
        let Some(run) = runs.get(&id) else { continue };
        let (key, passed, total) = if own {
            ("own_tests", run.own_tests_passed, run.own_tests_total)
        } else {
            (
                "shared_tests",
                run.shared_tests_passed,
                run.shared_tests_total,
            )
        };
        if let (Some(passed), Some(total)) = (passed, total)
            && (passed, total) != (counts.passed, counts.total)
        {
            examination.damage.push(Problem::in_file(
                &name,
                format!(
                    "run `{id}`: header says {key} {passed} of {total}, its items of revision 0 say {} of {}",
                    counts.passed, counts.total
                ),
            ));
        }
    }
}

/// Says which arm an unfinished run is of, and how many outcomes it has: ` (quiz, oneshot with sonnet: 3 outcomes)`.
pub fn describe_progress(run: &UnfinishedRun) -> String {
    let outcomes = if run.outcomes == 1 {
        "1 outcome".to_owned()
    } else {
        format!("{} outcomes", run.outcomes)
    };
    let model = run
        .model
        .as_deref()
        .filter(|model| !model.is_empty())
        .map_or_else(String::new, |model| {
            format!(" with {}", escape_invisible(model))
        });
    match run.suite.as_deref().zip(run.approach.as_deref()) {
        Some((suite, approach)) => format!(
            " ({}, {}{model}: {outcomes})",
            escape_invisible(suite),
            escape_invisible(approach)
        ),
        None => format!(" ({outcomes})"),
    }
}

fn display_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}
