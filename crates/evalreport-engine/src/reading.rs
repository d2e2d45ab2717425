//! Reads everything that counts, and holds the answers of the queries against each other.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use crate::domain::{Aliases, ItemKey, ItemKind, ItemOutcome, ItemStatus, RunId, escape_invisible};
use crate::results::parse_header;
use crate::warehouse::{
    CheckedRunFields, EngineAnswer, EngineCell, EngineItem, EngineLines, EngineRow, EngineRun,
    ExpectedOutcomes, HiddenBy, describe_mismatches, item_id,
};

use super::client::{EngineAccess, EngineClient};
use super::columns::{AnswerBatch, TextColumn};
use super::engine_error::EngineError;
use super::queries::{CELLS, COMMITS, EngineQuery, ITEMS, LINES, PUBLICATIONS, ROWS, RUNS, SCORES};
use super::sums::{SetSums, item_number};

/// How often everything is read again if somebody published in between.
const MAX_TRIES: usize = 3;
/// Number of runs that a query names at most; above that it is asked about all.
const MAX_NAMED_RUNS: usize = 5_000;
/// Number of changed rows after which no more are read.
const MAX_OTHER: usize = 1_000;

/// Reads all runs of the lake that an engine has, and the outcomes of those in the named suites; if a name is no run's suite, all outcomes.
///
/// # Errors
///
/// Says why there is no whole answer: no connection, no message in time, a refusal, an answer of another form, or answers that contradict
/// each other.
pub fn read_engine_answer(
    access: &EngineAccess,
    suites: &[String],
    aliases: &Aliases,
) -> Result<EngineAnswer, EngineError> {
    let mut client = EngineClient::connect(access)?;
    let mut tried = 1;
    loop {
        match read_attempt(&mut client, access, suites, aliases) {
            Err(error) if error.is_contradiction && tried < MAX_TRIES => tried += 1,
            read => return read,
        }
    }
}

fn read_attempt(
    client: &mut EngineClient,
    access: &EngineAccess,
    suites: &[String],
    aliases: &Aliases,
) -> Result<EngineAnswer, EngineError> {
    let before = read_runs(client)?;
    check_commits(client, &before)?;
    check_publications(client, &before)?;
    let wanted = &select_wanted_runs(before.iter().map(|(_, run)| run), suites, aliases);
    // In the order of the runs, which is that of their ids.
    let is_wanted = |run: &RunId| {
        wanted
            .as_ref()
            .is_none_or(|wanted| wanted.binary_search(run).is_ok())
    };
    // Of hidden runs, and of those that nobody asked about, no outcome is read.
    let mut before = before;
    for (_, of) in &mut before {
        of.published = of
            .published
            .filter(|_| of.hidden.is_none() && is_wanted(&of.run.id));
    }
    let places = read_rows(client, wanted, &before)?;
    let sets = read_item_sets(client, wanted)?;
    let mut rows = Vec::with_capacity(places.len());
    for place in &places {
        let set = sets.set_number(place)?;
        rows.push(EngineRow {
            run: place.run.clone(),
            attempt: place.attempt,
            set,
            cells: Vec::new(),
            scores: Vec::new(),
        });
    }
    read_cells(client, wanted, &places, &sets, &mut rows)?;
    read_scores(client, wanted, &mut rows)?;
    // Files of a lake are never rewritten: if the revisions that count are the same as before, so is what they hold.
    let after = read_runs(client)?;
    if !before
        .iter()
        .map(|(revision, _)| revision)
        .eq(after.iter().map(|(revision, _)| revision))
    {
        return Err(EngineError::contradiction(
            "the runs changed while they were read",
        ));
    }
    Ok(EngineAnswer {
        name: access.address.to_string(),
        runs: before.into_iter().map(|(_, run)| run).collect(),
        sets: sets
            .all
            .into_iter()
            .map(|set| set.into_iter().map(|item| item.item).collect())
            .collect(),
        rows,
        lines: Some(Arc::new(EngineOutcomeReader {
            access: access.clone(),
            client: Mutex::default(),
        })),
    })
}

/// The runs whose outcomes are read. `None` means all.
type WantedRuns = Option<Vec<RunId>>;

/// Returns the runs of the named suites, under their stored or their shown names.
fn select_wanted_runs<'a>(
    runs: impl Iterator<Item = &'a EngineRun> + Clone,
    suites: &[String],
    aliases: &Aliases,
) -> WantedRuns {
    let is_of = |of: &EngineRun, suite: &String| {
        of.run.suite == *suite || aliases.suite.get(&of.run.suite) == Some(suite)
    };
    if suites.is_empty()
        || !suites
            .iter()
            .all(|suite| runs.clone().any(|of| is_of(of, suite)))
    {
        return None;
    }
    let ids: Vec<RunId> = runs
        .filter(|of| suites.iter().any(|suite| is_of(of, suite)))
        .map(|of| of.run.id.clone())
        .collect();
    // Engines take long texts, but not any.
    Some(ids).filter(|ids| ids.len() <= MAX_NAMED_RUNS)
}

/// Asks a query about all runs or the wanted ones, and hands on its batches.
fn query_batches(
    client: &mut EngineClient,
    query: EngineQuery,
    wanted: Option<&[RunId]>,
    mut each: impl FnMut(&AnswerBatch<'_>) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let sql = wanted.map_or_else(|| query.full_text(), |runs| query.text_for_runs(runs));
    client.run_query(query, sql, &mut |batch: &RecordBatch| {
        each(&AnswerBatch {
            batch,
            query: query.name,
        })
    })
}

/// The revision of a run that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RunRevision {
    run: RunId,
    publish_id: String,
    sequence: i64,
    /// The digest of the row.
    check: i64,
}

/// Returns the last revision of every run, by id.
fn read_runs(client: &mut EngineClient) -> Result<Vec<(RunRevision, EngineRun)>, EngineError> {
    let (mut runs, mut revisions, mut other) = (Vec::new(), BTreeMap::new(), Vec::new());
    // The last commit, with the number of runs since.
    let mut newest: Option<(i64, i64)> = None;
    query_batches(client, RUNS, None, |batch| {
        let (ids, publishes, sequences) = (
            batch.text_column("run_id")?,
            batch.text_column("publish_id")?,
            batch.integer_column("sequence")?,
        );
        let (records, totals) = (batch.text_column("record")?, batch.text_column("totals")?);
        let (by, reasons) = (
            batch.text_column("deleted_by")?,
            batch.text_column("deleted_reason")?,
        );
        let numbers = [
            "outcomes",
            "outcomes_check",
            "lines_check",
            "commit_rows",
            "all_runs",
            "row_check",
        ];
        let [
            outcomes,
            outcomes_check,
            lines_check,
            commit_rows,
            all_runs,
            row_check,
        ] = numbers.map(|name| batch.integer_column(name));
        let (outcomes, outcomes_check, lines_check) = (outcomes?, outcomes_check?, lines_check?);
        let (commit_rows, all_runs, row_check) = (commit_rows?, all_runs?, row_check?);
        let Some(deleted) = batch
            .batch
            .column_by_name("deleted")
            .and_then(|column| column.as_boolean_opt())
        else {
            return Err(EngineError::new(format!(
                "{}: the answer has no column `deleted` of yes and no",
                RUNS.name
            )));
        };
        for row in 0..batch.len() {
            let run = parse_run_id(batch.require_value("run_id", ids.value_at(row))?, RUNS)?;
            let record = batch.require_value("record", records.value_at(row))?;
            let fields = CheckedRunFields {
                run_id: run.as_str(),
                publish_id: batch.require_value("publish_id", publishes.value_at(row))?,
                sequence: batch.require_value("sequence", sequences.value_at(row))?,
                deleted: batch.require_value(
                    "deleted",
                    arrow_array::Array::is_valid(deleted, row).then(|| deleted.value(row)),
                )?,
                deleted_by: by.value_at(row),
                deleted_reason: reasons.value_at(row),
                outcomes: batch.require_value("outcomes", outcomes.value_at(row))?,
                outcomes_check: batch
                    .require_value("outcomes_check", outcomes_check.value_at(row))?,
                lines_check: batch.require_value("lines_check", lines_check.value_at(row))?,
                commit_rows: batch.require_value("commit_rows", commit_rows.value_at(row))?,
                all_runs: batch.require_value("all_runs", all_runs.value_at(row))?,
                totals: totals.value_at(row),
                record,
            };
            let check = batch.require_value("row_check", row_check.value_at(row))?;
            let revision = RunRevision {
                run: run.clone(),
                publish_id: fields.publish_id.to_owned(),
                sequence: fields.sequence,
                check,
            };
            if revisions.contains_key(&run) {
                return Err(EngineError::contradiction(format!(
                    "{}: run `{run}` is there twice",
                    RUNS.name
                )));
            }
            let is_newer = newest.is_none_or(|(sequence, _)| sequence < fields.sequence);
            if is_newer {
                newest = Some((fields.sequence, fields.all_runs));
            }
            if fields.checksum() != check {
                other.push(format!("`{run}`"));
                revisions.insert(run, revision);
                if other.len() > MAX_OTHER {
                    break;
                }
                continue;
            }
            let wrong = |why: &dyn std::fmt::Display| {
                EngineError::new(format!(
                    "{}: the record of run `{run}` {}",
                    RUNS.name,
                    escape_invisible(&why.to_string())
                ))
            };
            let read = parse_header(record.as_bytes(), "is no run", None, None)
                .map_err(|error| wrong(&error))?;
            if read.id != run {
                return Err(wrong(&format!("is of `{}`", read.id)));
            }
            let totals = fields.totals.map(serde_json::from_str).transpose();
            let totals = totals.map_err(|error| wrong(&format!("has no totals: {error}")))?;
            let by = fields
                .deleted_by
                .and_then(HiddenBy::from_name)
                .unwrap_or(HiddenBy::Tombstone);
            let hidden = fields
                .deleted
                .then(|| (by, fields.deleted_reason.unwrap_or_default().to_owned()));
            let published = Some(ExpectedOutcomes {
                outcomes: u64::try_from(fields.outcomes)
                    .map_err(|_| wrong(&"is of less than no outcome"))?,
                check: fields.outcomes_check.cast_unsigned(),
                lines_check: fields.lines_check.cast_unsigned(),
            });
            revisions.insert(run, revision.clone());
            runs.push((
                revision,
                EngineRun {
                    run: read,
                    totals,
                    hidden,
                    published,
                },
            ));
        }
        // Enough to be sure: an answer without end would never be compared.
        if other.len() > MAX_OTHER {
            Err(changed_rows_error(&other))
        } else {
            Ok(())
        }
    })?;
    if !other.is_empty() {
        return Err(changed_rows_error(&other));
    }
    if let Some((_, all)) = newest.filter(|(_, all)| usize::try_from(*all) != Ok(runs.len())) {
        return Err(EngineError::incomplete(format!(
            "{}: there are {} runs, and {all} were published",
            RUNS.name,
            runs.len()
        )));
    }
    runs.sort_by(|(left, _), (right, _)| left.run.cmp(&right.run));
    Ok(runs)
}

fn changed_rows_error(other: &[String]) -> EngineError {
    EngineError::incomplete(format!(
        "{}: the rows of {} are not as they were published",
        RUNS.name,
        list_first(other)
    ))
}

/// Checks that no row of `runs` is missing or there twice, in whatever revision.
fn check_commits(
    client: &mut EngineClient,
    runs: &[(RunRevision, EngineRun)],
) -> Result<(), EngineError> {
    let (mut next, mut other) = (1, Vec::new());
    query_batches(client, COMMITS, None, |batch| {
        let [sequences, found, runs, least, most] =
            ["sequence", "found", "runs", "least", "most"].map(|name| batch.integer_column(name));
        let (sequences, found, runs, least, most) = (sequences?, found?, runs?, least?, most?);
        for row in 0..batch.len() {
            let sequence = batch.require_value("sequence", sequences.value_at(row))?;
            let [found, runs] = [
                batch.require_value("found", found.value_at(row))?,
                batch.require_value("runs", runs.value_at(row))?,
            ];
            let [least, most] = [
                batch.require_value("least", least.value_at(row))?,
                batch.require_value("most", most.value_at(row))?,
            ];
            if sequence != next {
                return Err(EngineError::incomplete(format!(
                    "{}: the rows of commit {next} of `runs` are missing",
                    COMMITS.name
                )));
            }
            next += 1;
            if [found, runs, least] != [most; 3] {
                other.push(format!("{sequence} ({found} of {most})"));
            }
        }
        Ok(())
    })?;
    if !other.is_empty() {
        return Err(EngineError::incomplete(format!(
            "{}: `runs` has other rows than were published in commits {}",
            COMMITS.name,
            list_first(&other)
        )));
    }
    let last = runs
        .iter()
        .map(|(revision, _)| revision.sequence)
        .max()
        .unwrap_or(0);
    if last != next - 1 {
        return Err(EngineError::incomplete(format!(
            "{}: `runs` has {} commits, and a run of commit {last}",
            COMMITS.name,
            next - 1
        )));
    }
    Ok(())
}

/// Checks that no outcomes are of a publication after the last one that the runs name: then `runs` lacks the newest runs.
fn check_publications(
    client: &mut EngineClient,
    runs: &[(RunRevision, EngineRun)],
) -> Result<(), EngineError> {
    let last = runs
        .iter()
        .map(|(revision, _)| revision.publish_id.as_str())
        .max()
        .unwrap_or_default();
    let mut later = 0;
    query_batches(client, PUBLICATIONS, None, |batch| {
        let (ids, outcomes) = (
            batch.text_column("publish_id")?,
            batch.integer_column("outcomes")?,
        );
        for row in 0..batch.len() {
            let outcomes = batch.require_value("outcomes", outcomes.value_at(row))?;
            if batch.require_value("publish_id", ids.value_at(row))? > last {
                later += outcomes;
            }
        }
        Ok(())
    })?;
    if later == 0 {
        return Ok(());
    }
    let message = format!(
        "{}: no run is named of the last publication, of which there are {later} outcomes",
        PUBLICATIONS.name
    );
    Err(EngineError::incomplete(message).with_hint(
        "the engine's `runs` is older than its `outcomes`: load both again; or a publisher was killed: publish again with `evalreport export lake`",
    ))
}

/// Lists the first few.
fn list_first(all: &[String]) -> String {
    const MAX_LISTED: usize = 5;
    let more = match all.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", all[..all.len().min(MAX_LISTED)].join(", "))
}

/// An item of a set, with the number by which its cells are weighed.
struct NumberedItem {
    number: i64,
    item: EngineItem,
}

/// One row of the matrix, before its cells are read.
struct MatrixRowSums {
    run: RunId,
    attempt: u32,
    sums: SetSums,
    cells_sum: i64,
}

/// Returns the rows in the engine's order, which is also that of the cells.
///
/// Fails if a run has other outcomes there than its row in `runs` says.
fn read_rows(
    client: &mut EngineClient,
    wanted: &WantedRuns,
    runs: &[(RunRevision, EngineRun)],
) -> Result<Vec<MatrixRowSums>, EngineError> {
    let mut places = Vec::new();
    let published = |of: &EngineRun| of.published.map_or(0, |published| published.outcomes);
    // By run: the outcomes that its rows have.
    let mut found: Vec<u64> = vec![0; runs.len()];
    query_batches(client, ROWS, wanted.as_deref(), |batch| {
        let (ids, attempts) = (
            batch.text_column("run_id")?,
            batch.integer_column("attempt")?,
        );
        let sums = [
            "cells",
            "items_sum",
            "items_squares",
            "clusters_sum",
            "cells_sum",
        ];
        let [cells, items, squares, clusters, of_cells] =
            sums.map(|name| batch.integer_column(name));
        let (cells, items, squares, clusters, of_cells) =
            (cells?, items?, squares?, clusters?, of_cells?);
        for row in 0..batch.len() {
            let run = parse_run_id(batch.require_value("run_id", ids.value_at(row))?, ROWS)?;
            let Ok(number) = runs.binary_search_by(|(revision, _)| revision.run.cmp(&run)) else {
                return Err(EngineError::contradiction(format!(
                    "{}: run `{run}` is not in {}",
                    ROWS.name, RUNS.name
                )));
            };
            let count = batch.require_value("cells", cells.value_at(row))?;
            let Some(count) = u64::try_from(count).ok().filter(|count| *count > 0) else {
                return Err(EngineError::new(format!(
                    "{}: run `{run}` has a row of {count} outcomes",
                    ROWS.name
                )));
            };
            found[number] = found[number].saturating_add(count);
            let most = published(&runs[number].1);
            if found[number] > most {
                // At once: an answer without end would never be compared.
                let other = describe_mismatches(&[format!(
                    "`{run}` (at least {} of {most})",
                    found[number]
                )]);
                return Err(EngineError::incomplete(format!("{}: {other}", ROWS.name)));
            }
            places.push(MatrixRowSums {
                run,
                attempt: parse_attempt(
                    batch.require_value("attempt", attempts.value_at(row))?,
                    ROWS,
                )?,
                sums: SetSums {
                    cells: batch.require_value("cells", cells.value_at(row))?,
                    items_sum: batch.require_value("items_sum", items.value_at(row))?,
                    items_squares: batch.require_value("items_squares", squares.value_at(row))?,
                    clusters_sum: batch.require_value("clusters_sum", clusters.value_at(row))?,
                },
                cells_sum: batch.require_value("cells_sum", of_cells.value_at(row))?,
            });
        }
        Ok(())
    })?;
    let other: Vec<String> = runs
        .iter()
        .zip(&found)
        .filter(|((_, of), found)| published(of) != **found)
        .map(|((_, of), found)| format!("`{}` ({found} of {})", of.run.id, published(of)))
        .collect();
    if other.is_empty() {
        Ok(places)
    } else {
        Err(EngineError::incomplete(format!(
            "{}: {}",
            ROWS.name,
            describe_mismatches(&other)
        )))
    }
}

/// The sets of items that rows share.
#[derive(Default)]
struct ItemSets {
    all: Vec<Vec<NumberedItem>>,
    numbers: BTreeMap<SetSums, usize>,
}

impl ItemSets {
    fn add_set(&mut self, sums: SetSums, items: Vec<NumberedItem>) -> Result<(), EngineError> {
        // Before the first item there is none.
        if items.is_empty() {
            return Ok(());
        }
        if self.numbers.insert(sums, self.all.len()).is_none() {
            self.all.push(items);
            return Ok(());
        }
        Err(EngineError::contradiction(format!(
            "{}: two sets of items have the same sums",
            ITEMS.name
        )))
    }

    /// Returns the number of a row's set.
    fn set_number(&self, place: &MatrixRowSums) -> Result<usize, EngineError> {
        self.numbers.get(&place.sums).copied().ok_or_else(|| {
            let MatrixRowSums { run, attempt, .. } = place;
            EngineError::contradiction(format!(
                "{}: the items of run `{run}`, attempt {attempt} are not in {}",
                ROWS.name, ITEMS.name
            ))
        })
    }
}

/// Reads the sets of items.
fn read_item_sets(client: &mut EngineClient, wanted: &WantedRuns) -> Result<ItemSets, EngineError> {
    let mut sets = ItemSets::default();
    let mut current: Option<(RunId, u32)> = None;
    let (mut sums, mut items, mut last) = (SetSums::default(), Vec::new(), i64::MIN);
    query_batches(client, ITEMS, wanted.as_deref(), |batch| {
        let (ids, attempts, item_ids) = (
            batch.text_column("run_id")?,
            batch.integer_column("attempt")?,
            batch.integer_column("item_id")?,
        );
        let (names, clusters) = (
            ItemNameColumns::from_batch(batch)?,
            batch.text_column("cluster")?,
        );
        for row in 0..batch.len() {
            let of = (
                parse_run_id(batch.require_value("run_id", ids.value_at(row))?, ITEMS)?,
                parse_attempt(
                    batch.require_value("attempt", attempts.value_at(row))?,
                    ITEMS,
                )?,
            );
            if current.as_ref() != Some(&of) {
                sets.add_set(std::mem::take(&mut sums), std::mem::take(&mut items))?;
                current = Some(of);
            }
            let key = names.item_key(batch, row)?;
            let id = batch.require_value("item_id", item_ids.value_at(row))?;
            if item_id(key.kind, &key.evaluator, &key.item) != id {
                return Err(EngineError::new(format!(
                    "{}: item `{}` has an id that its names do not give",
                    ITEMS.name,
                    escape_invisible(&key.item)
                )));
            }
            if !items.is_empty() && id <= last {
                return Err(EngineError::contradiction(format!(
                    "{}: the items are not in order, or one is there twice",
                    ITEMS.name
                )));
            }
            last = id;
            let cluster = clusters.value_at(row).map(str::to_owned);
            sums.add_item(id, cluster.as_deref());
            items.push(NumberedItem {
                number: item_number(id),
                item: EngineItem { key, cluster },
            });
        }
        Ok(())
    })?;
    sets.add_set(sums, items)?;
    Ok(sets)
}

/// Fills in the cells of the rows, and checks that each row has as many as the engine counted, with the same weighed sum.
fn read_cells(
    client: &mut EngineClient,
    wanted: &WantedRuns,
    places: &[MatrixRowSums],
    sets: &ItemSets,
    rows: &mut [EngineRow],
) -> Result<(), EngineError> {
    let mut current = 0;
    let mut sum: i64 = 0;
    query_batches(client, CELLS, wanted.as_deref(), |batch| {
        let column = batch.integer_column("cell")?;
        let Some(codes) = column.as_i8_slice() else {
            return Err(EngineError::new(format!(
                "{}: column `cell` is not of bytes without nulls",
                CELLS.name
            )));
        };
        for code in codes {
            let Some(row) = rows.get_mut(current) else {
                return Err(EngineError::contradiction(format!(
                    "{}: there are more cells than {} counts",
                    CELLS.name, ROWS.name
                )));
            };
            let items = &sets.all[row.set];
            let Some(cell) = EngineCell::parse(*code) else {
                let name = &items[row.cells.len()].item.key.item;
                let message = format!(
                    "{}: run `{}`, item `{}`: the outcome has a status that this version does not know",
                    CELLS.name,
                    row.run,
                    escape_invisible(name)
                );
                return Err(
                    EngineError::new(message).with_hint("a newer evalreport may have published it")
                );
            };
            if row.cells.is_empty() {
                row.cells.reserve_exact(items.len());
            }
            sum = sum.wrapping_add(items[row.cells.len()].number.wrapping_mul(i64::from(*code)));
            row.cells.push(cell);
            if row.cells.len() == items.len() {
                if sum != places[current].cells_sum {
                    let (run, attempt) = (&row.run, row.attempt);
                    let message = format!(
                        "{}: the cells of run `{run}`, attempt {attempt} have another sum than in {}",
                        CELLS.name, ROWS.name
                    );
                    return Err(EngineError::contradiction(message));
                }
                (current, sum) = (current + 1, 0);
            }
        }
        Ok(())
    })?;
    if current < rows.len() {
        let message = format!(
            "{}: the cells end at row {} of {}",
            CELLS.name,
            current + 1,
            rows.len()
        );
        return Err(EngineError::contradiction(message));
    }
    Ok(())
}

/// Fills in the scores of the cells that have one of their own.
fn read_scores(
    client: &mut EngineClient,
    wanted: &WantedRuns,
    rows: &mut [EngineRow],
) -> Result<(), EngineError> {
    let counts: Vec<usize> = rows
        .iter()
        .map(|row| row.cells.iter().filter(|cell| cell.has_own_score()).count())
        .collect();
    if counts.iter().all(|count| *count == 0) {
        return Ok(());
    }
    let differs = || {
        EngineError::contradiction(format!(
            "{}: there are not as many scores as {} has cells with one",
            SCORES.name, CELLS.name
        ))
    };
    let mut left = rows
        .iter_mut()
        .zip(&counts)
        .filter(|(_, count)| **count > 0)
        .peekable();
    query_batches(client, SCORES, wanted.as_deref(), |batch| {
        let scores = batch.float_column("score")?;
        for place in 0..batch.len() {
            let score = batch.require_value("score", scores.value_at(place))?;
            let Some((row, count)) = left.peek_mut() else {
                return Err(differs());
            };
            row.scores.push(score);
            if row.scores.len() == **count {
                left.next();
            }
        }
        Ok(())
    })?;
    if left.peek().is_some() {
        Err(differs())
    } else {
        Ok(())
    }
}

/// The outcomes themselves, asked for when time or money per item is needed.
struct EngineOutcomeReader {
    access: EngineAccess,
    client: Mutex<Option<EngineClient>>,
}

impl std::fmt::Debug for EngineOutcomeReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "lines of {}", self.access.address)
    }
}

impl EngineLines for EngineOutcomeReader {
    fn for_each_outcome(
        &self,
        runs: &[RunId],
        most: usize,
        each: &mut dyn FnMut(&ItemOutcome),
    ) -> io::Result<()> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.is_none() {
            *client = Some(EngineClient::connect(&self.access).map_err(io::Error::other)?);
        }
        let Some(client) = client.as_mut() else {
            return Ok(());
        };
        let mut left = most;
        let mut read = |batch: &RecordBatch| {
            left = left.checked_sub(batch.num_rows()).ok_or_else(|| {
                EngineError::incomplete(format!(
                    "{}: there are more than the {most} outcomes that were published",
                    LINES.name
                ))
            })?;
            parse_lines(
                &AnswerBatch {
                    batch,
                    query: LINES.name,
                },
                each,
            )
        };
        client
            .run_query(LINES, LINES.text_for_runs(runs), &mut read)
            .map_err(io::Error::other)
    }
}

fn parse_lines(
    batch: &AnswerBatch<'_>,
    each: &mut dyn FnMut(&ItemOutcome),
) -> Result<(), EngineError> {
    let (ids, attempts, statuses) = (
        batch.text_column("run_id")?,
        batch.integer_column("attempt")?,
        batch.text_column("status")?,
    );
    let (names, clusters, categories) = (
        ItemNameColumns::from_batch(batch)?,
        batch.text_column("cluster")?,
        batch.text_column("category")?,
    );
    let (scores, seconds, costs) = (
        batch.float_column("score")?,
        batch.float_column("duration_seconds")?,
        batch.float_column("cost_usd")?,
    );
    let (inputs, outputs) = (
        batch.integer_column("input_tokens")?,
        batch.integer_column("output_tokens")?,
    );
    for row in 0..batch.len() {
        let ItemKey {
            kind,
            evaluator,
            item,
        } = names.item_key(batch, row)?;
        let status = batch.require_value("status", statuses.value_at(row))?;
        let Some(status) = ItemStatus::ALL
            .into_iter()
            .find(|known| known.name() == status)
        else {
            return Err(EngineError::new(format!(
                "{}: `{}` is no status of an outcome",
                LINES.name,
                escape_invisible(status)
            )));
        };
        let count = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        each(&ItemOutcome {
            run: parse_run_id(batch.require_value("run_id", ids.value_at(row))?, LINES)?,
            kind,
            item,
            cluster: clusters.value_at(row).map(str::to_owned),
            category: categories.value_at(row).map(str::to_owned),
            attempt: parse_attempt(
                batch.require_value("attempt", attempts.value_at(row))?,
                LINES,
            )?,
            status,
            score: scores.value_at(row),
            evaluator,
            revision: 0,
            duration_seconds: seconds.value_at(row),
            cost_usd: costs.value_at(row),
            input_tokens: count(inputs.value_at(row)),
            output_tokens: count(outputs.value_at(row)),
        });
    }
    Ok(())
}

/// The columns with the names of an item.
struct ItemNameColumns<'a> {
    kinds: TextColumn<'a>,
    evaluators: TextColumn<'a>,
    items: TextColumn<'a>,
}

impl<'a> ItemNameColumns<'a> {
    fn from_batch(batch: &AnswerBatch<'a>) -> Result<Self, EngineError> {
        Ok(Self {
            kinds: batch.text_column("kind")?,
            evaluators: batch.text_column("evaluator")?,
            items: batch.text_column("item")?,
        })
    }

    fn item_key(&self, batch: &AnswerBatch<'_>, row: usize) -> Result<ItemKey, EngineError> {
        let kind = batch.require_value("kind", self.kinds.value_at(row))?;
        let Some(known) = ItemKind::from_name(kind) else {
            return Err(EngineError::new(format!(
                "{}: `{}` is no kind of item",
                batch.query,
                escape_invisible(kind)
            )));
        };
        let evaluator = batch
            .require_value("evaluator", self.evaluators.value_at(row))?
            .to_owned();
        Ok(ItemKey {
            kind: known,
            evaluator,
            item: batch
                .require_value("item", self.items.value_at(row))?
                .to_owned(),
        })
    }
}

fn parse_run_id(text: &str, query: EngineQuery) -> Result<RunId, EngineError> {
    RunId::parse(text).map_err(|why| EngineError::new(format!("{}: {why}", query.name)))
}

fn parse_attempt(number: i64, query: EngineQuery) -> Result<u32, EngineError> {
    let counted = u32::try_from(number).ok().filter(|attempt| *attempt > 0);
    counted.ok_or_else(|| {
        EngineError::new(format!(
            "{}: attempt {number} is none: attempts count from 1",
            query.name
        ))
    })
}
