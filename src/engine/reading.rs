//! Reads everything that counts, and holds the answers of the queries against each other.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;

use crate::domain::{Aliases, ItemKey, ItemKind, ItemOutcome, ItemStatus, RunId, visible};
use crate::results::parse_header;
use crate::warehouse::{
    EngineAnswer, EngineCell, EngineItem, EngineLines, EngineRow, EngineRun, HiddenBy,
    PublishedOutcomes, RunFields, item_id, other_outcomes,
};

use super::client::{Access, Client};
use super::columns::{Batch, Texts};
use super::engine_error::EngineError;
use super::queries::{CELLS, COMMITS, ITEMS, LINES, PUBLICATIONS, Query, ROWS, RUNS, SCORES};
use super::sums::{SetSums, item_number};

/// How often everything is read again if somebody published in between.
const TRIES: usize = 3;
/// Number of runs that a query names at most; above that it is asked about all.
const MOST_NAMED_RUNS: usize = 5_000;
/// Number of changed rows after which no more are read.
const MOST_OTHER: usize = 1_000;

/// Reads all runs of the lake that an engine has, and the outcomes of those in the named suites; if a name is no run's suite, all outcomes.
///
/// # Errors
///
/// Says why there is no whole answer: no connection, no message in time, a refusal, an answer of another form, or answers that contradict
/// each other.
pub fn read(
    access: &Access,
    suites: &[String],
    aliases: &Aliases,
) -> Result<EngineAnswer, EngineError> {
    let mut client = Client::connect(access)?;
    let mut tried = 1;
    loop {
        match read_once(&mut client, access, suites, aliases) {
            Err(error) if error.is_contradiction && tried < TRIES => tried += 1,
            read => return read,
        }
    }
}

fn read_once(
    client: &mut Client,
    access: &Access,
    suites: &[String],
    aliases: &Aliases,
) -> Result<EngineAnswer, EngineError> {
    let before = runs(client)?;
    commits(client, &before)?;
    publications(client, &before)?;
    let wanted = &wanted(before.iter().map(|(_, run)| run), suites, aliases);
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
    let places = rows(client, wanted, &before)?;
    let sets = sets(client, wanted)?;
    let mut rows = Vec::with_capacity(places.len());
    for place in &places {
        let set = sets.number(place)?;
        rows.push(EngineRow {
            run: place.run.clone(),
            attempt: place.attempt,
            set,
            cells: Vec::new(),
            scores: Vec::new(),
        });
    }
    cells(client, wanted, &places, &sets, &mut rows)?;
    scores(client, wanted, &mut rows)?;
    // Files of a lake are never rewritten: if the revisions that count are the same as before, so is what they hold.
    let after = runs(client)?;
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
        lines: Some(Arc::new(Lines {
            access: access.clone(),
            client: Mutex::default(),
        })),
    })
}

/// The runs whose outcomes are read. `None` means all.
type Wanted = Option<Vec<RunId>>;

/// Returns the runs of the named suites, under their stored or their shown names.
fn wanted<'a>(
    runs: impl Iterator<Item = &'a EngineRun> + Clone,
    suites: &[String],
    aliases: &Aliases,
) -> Wanted {
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
    Some(ids).filter(|ids| ids.len() <= MOST_NAMED_RUNS)
}

/// Asks a query about all runs or the wanted ones, and hands on its batches.
fn ask(
    client: &mut Client,
    query: Query,
    wanted: Option<&[RunId]>,
    mut each: impl FnMut(&Batch<'_>) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let sql = wanted.map_or_else(|| query.of_all(), |runs| query.of_runs(runs));
    client.ask(query, sql, &mut |batch: &RecordBatch| {
        each(&Batch {
            batch,
            query: query.name,
        })
    })
}

/// The revision of a run that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Revision {
    run: RunId,
    publish_id: String,
    sequence: i64,
    /// The digest of the row.
    check: i64,
}

/// Returns the last revision of every run, by id.
fn runs(client: &mut Client) -> Result<Vec<(Revision, EngineRun)>, EngineError> {
    let (mut runs, mut revisions, mut other) = (Vec::new(), BTreeMap::new(), Vec::new());
    // The last commit, with the number of runs since.
    let mut newest: Option<(i64, i64)> = None;
    ask(client, RUNS, None, |batch| {
        let (ids, publishes, sequences) = (
            batch.texts("run_id")?,
            batch.texts("publish_id")?,
            batch.integers("sequence")?,
        );
        let (records, totals) = (batch.texts("record")?, batch.texts("totals")?);
        let (by, reasons) = (batch.texts("deleted_by")?, batch.texts("deleted_reason")?);
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
        ] = numbers.map(|name| batch.integers(name));
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
            let run = run_id(batch.known("run_id", ids.at(row))?, RUNS)?;
            let record = batch.known("record", records.at(row))?;
            let fields = RunFields {
                run_id: run.as_str(),
                publish_id: batch.known("publish_id", publishes.at(row))?,
                sequence: batch.known("sequence", sequences.at(row))?,
                deleted: batch.known(
                    "deleted",
                    arrow_array::Array::is_valid(deleted, row).then(|| deleted.value(row)),
                )?,
                deleted_by: by.at(row),
                deleted_reason: reasons.at(row),
                outcomes: batch.known("outcomes", outcomes.at(row))?,
                outcomes_check: batch.known("outcomes_check", outcomes_check.at(row))?,
                lines_check: batch.known("lines_check", lines_check.at(row))?,
                commit_rows: batch.known("commit_rows", commit_rows.at(row))?,
                all_runs: batch.known("all_runs", all_runs.at(row))?,
                totals: totals.at(row),
                record,
            };
            let check = batch.known("row_check", row_check.at(row))?;
            let revision = Revision {
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
            if fields.check() != check {
                other.push(format!("`{run}`"));
                revisions.insert(run, revision);
                if other.len() > MOST_OTHER {
                    break;
                }
                continue;
            }
            let wrong = |why: &dyn std::fmt::Display| {
                EngineError::new(format!(
                    "{}: the record of run `{run}` {}",
                    RUNS.name,
                    visible(&why.to_string())
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
            let published = Some(PublishedOutcomes {
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
        if other.len() > MOST_OTHER {
            Err(other_rows(&other))
        } else {
            Ok(())
        }
    })?;
    if !other.is_empty() {
        return Err(other_rows(&other));
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

fn other_rows(other: &[String]) -> EngineError {
    EngineError::incomplete(format!(
        "{}: the rows of {} are not as they were published",
        RUNS.name,
        several(other)
    ))
}

/// Checks that no row of `runs` is missing or there twice, in whatever revision.
fn commits(client: &mut Client, runs: &[(Revision, EngineRun)]) -> Result<(), EngineError> {
    let (mut next, mut other) = (1, Vec::new());
    ask(client, COMMITS, None, |batch| {
        let [sequences, found, runs, least, most] =
            ["sequence", "found", "runs", "least", "most"].map(|name| batch.integers(name));
        let (sequences, found, runs, least, most) = (sequences?, found?, runs?, least?, most?);
        for row in 0..batch.len() {
            let sequence = batch.known("sequence", sequences.at(row))?;
            let [found, runs] = [
                batch.known("found", found.at(row))?,
                batch.known("runs", runs.at(row))?,
            ];
            let [least, most] = [
                batch.known("least", least.at(row))?,
                batch.known("most", most.at(row))?,
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
            several(&other)
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
fn publications(client: &mut Client, runs: &[(Revision, EngineRun)]) -> Result<(), EngineError> {
    let last = runs
        .iter()
        .map(|(revision, _)| revision.publish_id.as_str())
        .max()
        .unwrap_or_default();
    let mut later = 0;
    ask(client, PUBLICATIONS, None, |batch| {
        let (ids, outcomes) = (batch.texts("publish_id")?, batch.integers("outcomes")?);
        for row in 0..batch.len() {
            let outcomes = batch.known("outcomes", outcomes.at(row))?;
            if batch.known("publish_id", ids.at(row))? > last {
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
fn several(all: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = match all.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", all[..all.len().min(SHOWN)].join(", "))
}

/// An item of a set, with the number by which its cells are weighed.
struct SetItem {
    number: i64,
    item: EngineItem,
}

/// One row of the matrix, before its cells are read.
struct Place {
    run: RunId,
    attempt: u32,
    sums: SetSums,
    cells_sum: i64,
}

/// Returns the rows in the engine's order, which is also that of the cells.
///
/// Fails if a run has other outcomes there than its row in `runs` says.
fn rows(
    client: &mut Client,
    wanted: &Wanted,
    runs: &[(Revision, EngineRun)],
) -> Result<Vec<Place>, EngineError> {
    let mut places = Vec::new();
    let published = |of: &EngineRun| of.published.map_or(0, |published| published.outcomes);
    // By run: the outcomes that its rows have.
    let mut found: Vec<u64> = vec![0; runs.len()];
    ask(client, ROWS, wanted.as_deref(), |batch| {
        let (ids, attempts) = (batch.texts("run_id")?, batch.integers("attempt")?);
        let sums = [
            "cells",
            "items_sum",
            "items_squares",
            "clusters_sum",
            "cells_sum",
        ];
        let [cells, items, squares, clusters, of_cells] = sums.map(|name| batch.integers(name));
        let (cells, items, squares, clusters, of_cells) =
            (cells?, items?, squares?, clusters?, of_cells?);
        for row in 0..batch.len() {
            let run = run_id(batch.known("run_id", ids.at(row))?, ROWS)?;
            let Ok(number) = runs.binary_search_by(|(revision, _)| revision.run.cmp(&run)) else {
                return Err(EngineError::contradiction(format!(
                    "{}: run `{run}` is not in {}",
                    ROWS.name, RUNS.name
                )));
            };
            let count = batch.known("cells", cells.at(row))?;
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
                let other =
                    other_outcomes(&[format!("`{run}` (at least {} of {most})", found[number])]);
                return Err(EngineError::incomplete(format!("{}: {other}", ROWS.name)));
            }
            places.push(Place {
                run,
                attempt: attempt(batch.known("attempt", attempts.at(row))?, ROWS)?,
                sums: SetSums {
                    cells: batch.known("cells", cells.at(row))?,
                    items_sum: batch.known("items_sum", items.at(row))?,
                    items_squares: batch.known("items_squares", squares.at(row))?,
                    clusters_sum: batch.known("clusters_sum", clusters.at(row))?,
                },
                cells_sum: batch.known("cells_sum", of_cells.at(row))?,
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
            other_outcomes(&other)
        )))
    }
}

/// The sets of items that rows share.
#[derive(Default)]
struct Sets {
    all: Vec<Vec<SetItem>>,
    numbers: BTreeMap<SetSums, usize>,
}

impl Sets {
    fn add(&mut self, sums: SetSums, items: Vec<SetItem>) -> Result<(), EngineError> {
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
    fn number(&self, place: &Place) -> Result<usize, EngineError> {
        self.numbers.get(&place.sums).copied().ok_or_else(|| {
            let Place { run, attempt, .. } = place;
            EngineError::contradiction(format!(
                "{}: the items of run `{run}`, attempt {attempt} are not in {}",
                ROWS.name, ITEMS.name
            ))
        })
    }
}

/// Reads the sets of items.
fn sets(client: &mut Client, wanted: &Wanted) -> Result<Sets, EngineError> {
    let mut sets = Sets::default();
    let mut current: Option<(RunId, u32)> = None;
    let (mut sums, mut items, mut last) = (SetSums::default(), Vec::new(), i64::MIN);
    ask(client, ITEMS, wanted.as_deref(), |batch| {
        let (ids, attempts, item_ids) = (
            batch.texts("run_id")?,
            batch.integers("attempt")?,
            batch.integers("item_id")?,
        );
        let (names, clusters) = (Names::of(batch)?, batch.texts("cluster")?);
        for row in 0..batch.len() {
            let of = (
                run_id(batch.known("run_id", ids.at(row))?, ITEMS)?,
                attempt(batch.known("attempt", attempts.at(row))?, ITEMS)?,
            );
            if current.as_ref() != Some(&of) {
                sets.add(std::mem::take(&mut sums), std::mem::take(&mut items))?;
                current = Some(of);
            }
            let key = names.key(batch, row)?;
            let id = batch.known("item_id", item_ids.at(row))?;
            if item_id(key.kind, &key.evaluator, &key.item) != id {
                return Err(EngineError::new(format!(
                    "{}: item `{}` has an id that its names do not give",
                    ITEMS.name,
                    visible(&key.item)
                )));
            }
            if !items.is_empty() && id <= last {
                return Err(EngineError::contradiction(format!(
                    "{}: the items are not in order, or one is there twice",
                    ITEMS.name
                )));
            }
            last = id;
            let cluster = clusters.at(row).map(str::to_owned);
            sums.add(id, cluster.as_deref());
            items.push(SetItem {
                number: item_number(id),
                item: EngineItem { key, cluster },
            });
        }
        Ok(())
    })?;
    sets.add(sums, items)?;
    Ok(sets)
}

/// Fills in the cells of the rows, and checks that each row has as many as the engine counted, with the same weighed sum.
fn cells(
    client: &mut Client,
    wanted: &Wanted,
    places: &[Place],
    sets: &Sets,
    rows: &mut [EngineRow],
) -> Result<(), EngineError> {
    let mut current = 0;
    let mut sum: i64 = 0;
    ask(client, CELLS, wanted.as_deref(), |batch| {
        let column = batch.integers("cell")?;
        let Some(codes) = column.bytes() else {
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
                    visible(name)
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
fn scores(client: &mut Client, wanted: &Wanted, rows: &mut [EngineRow]) -> Result<(), EngineError> {
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
    ask(client, SCORES, wanted.as_deref(), |batch| {
        let scores = batch.floats("score")?;
        for place in 0..batch.len() {
            let score = batch.known("score", scores.at(place))?;
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
struct Lines {
    access: Access,
    client: Mutex<Option<Client>>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "lines of {}", self.access.address)
    }
}

impl EngineLines for Lines {
    fn each(
        &self,
        runs: &[RunId],
        most: usize,
        each: &mut dyn FnMut(&ItemOutcome),
    ) -> io::Result<()> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.is_none() {
            *client = Some(Client::connect(&self.access).map_err(io::Error::other)?);
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
            lines(
                &Batch {
                    batch,
                    query: LINES.name,
                },
                each,
            )
        };
        client
            .ask(LINES, LINES.of_runs(runs), &mut read)
            .map_err(io::Error::other)
    }
}

fn lines(batch: &Batch<'_>, each: &mut dyn FnMut(&ItemOutcome)) -> Result<(), EngineError> {
    let (ids, attempts, statuses) = (
        batch.texts("run_id")?,
        batch.integers("attempt")?,
        batch.texts("status")?,
    );
    let (names, clusters, categories) = (
        Names::of(batch)?,
        batch.texts("cluster")?,
        batch.texts("category")?,
    );
    let (scores, seconds, costs) = (
        batch.floats("score")?,
        batch.floats("duration_seconds")?,
        batch.floats("cost_usd")?,
    );
    let (inputs, outputs) = (
        batch.integers("input_tokens")?,
        batch.integers("output_tokens")?,
    );
    for row in 0..batch.len() {
        let ItemKey {
            kind,
            evaluator,
            item,
        } = names.key(batch, row)?;
        let status = batch.known("status", statuses.at(row))?;
        let Some(status) = ItemStatus::ALL
            .into_iter()
            .find(|known| known.name() == status)
        else {
            return Err(EngineError::new(format!(
                "{}: `{}` is no status of an outcome",
                LINES.name,
                visible(status)
            )));
        };
        let count = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        each(&ItemOutcome {
            run: run_id(batch.known("run_id", ids.at(row))?, LINES)?,
            kind,
            item,
            cluster: clusters.at(row).map(str::to_owned),
            category: categories.at(row).map(str::to_owned),
            attempt: attempt(batch.known("attempt", attempts.at(row))?, LINES)?,
            status,
            score: scores.at(row),
            evaluator,
            revision: 0,
            duration_seconds: seconds.at(row),
            cost_usd: costs.at(row),
            input_tokens: count(inputs.at(row)),
            output_tokens: count(outputs.at(row)),
        });
    }
    Ok(())
}

/// The columns with the names of an item.
struct Names<'a> {
    kinds: Texts<'a>,
    evaluators: Texts<'a>,
    items: Texts<'a>,
}

impl<'a> Names<'a> {
    fn of(batch: &Batch<'a>) -> Result<Self, EngineError> {
        Ok(Self {
            kinds: batch.texts("kind")?,
            evaluators: batch.texts("evaluator")?,
            items: batch.texts("item")?,
        })
    }

    fn key(&self, batch: &Batch<'_>, row: usize) -> Result<ItemKey, EngineError> {
        let kind = batch.known("kind", self.kinds.at(row))?;
        let Some(known) = ItemKind::from_name(kind) else {
            return Err(EngineError::new(format!(
                "{}: `{}` is no kind of item",
                batch.query,
                visible(kind)
            )));
        };
        let evaluator = batch
            .known("evaluator", self.evaluators.at(row))?
            .to_owned();
        Ok(ItemKey {
            kind: known,
            evaluator,
            item: batch.known("item", self.items.at(row))?.to_owned(),
        })
    }
}

fn run_id(text: &str, query: Query) -> Result<RunId, EngineError> {
    RunId::parse(text).map_err(|why| EngineError::new(format!("{}: {why}", query.name)))
}

fn attempt(number: i64, query: Query) -> Result<u32, EngineError> {
    let counted = u32::try_from(number).ok().filter(|attempt| *attempt > 0);
    counted.ok_or_else(|| {
        EngineError::new(format!(
            "{}: attempt {number} is none: attempts count from 1",
            query.name
        ))
    })
}
