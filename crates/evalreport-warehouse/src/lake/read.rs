//! Reading a lake: what stands in it, joined to a snapshot as the files of a store are.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tracing::info;

use crate::cache::LAKE_PREFIX;
use crate::domain::{ItemKind, ItemStatus, Problem, Run, escape_invisible, to_hex};
use crate::external_rows::{ExternalJoin, ExternalPart, ExternalRun, OutcomeChecksum};
use crate::files;
use crate::item_file::ExternalLines;
use crate::progress::Progress;
use crate::results::ScoreLine;
use crate::snapshot::{CachedLake, CachedLakeRun, ItemUnit};
use crate::source_stamp::FileStamp;
use crate::threads;

use super::decoding::decode_file;
use super::lines::LakeLines;
use super::log::{DataFile, DeltaLog};
use super::marker;
use super::rows::{BOARD_COLUMNS, RUN_COLUMNS, integer_column, text_column};
use super::standing::{self, LakeRunRow, RESTORE_HINT, scan_file};

/// Rows of a file in memory at once.
const SLICE_ROWS: u32 = 1 << 20;

/// By run: the publish whose outcomes stand.
pub(super) type PublishByRun = HashMap<String, String>;

/// Joins the standing runs of a lake, and their standing outcomes without money, times and texts. With `suites`, only outcomes of runs of
/// these suites, by stored name, are read. What an earlier command read is not read again, as long as the log and the state of the files on
/// disk are the same.
///
/// Fails if anything that stands cannot be read: half a lake would be a wrong board.
pub(crate) fn join_lake(
    joining: &mut ExternalJoin,
    lake: &Path,
    suites: Option<&[String]>,
    progress: &Progress,
) -> Result<(), Problem> {
    let name = format!("{LAKE_PREFIX}{}", lake.display());
    let shown = escape_invisible(&name);
    let in_lake = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE_HINT);
    marker::check_marker(lake)?;
    // Outcomes are committed before their runs, so their log is read after that of the runs.
    let listed_runs = DeltaLog::new(lake.join("runs")).read_listing()?;
    let listed = DeltaLog::new(lake.join("outcomes")).read_listing()?;
    // A publisher makes both tables before it writes to either.
    if listed_runs.version.is_none() && !listed.files.is_empty() {
        return Err(in_lake("the log of its table `runs` is gone".to_owned()));
    }
    let mut earlier = joining.take_cached_lake(&name);
    let stamp = FileStamp::from_state_text(
        &listed_runs
            .files
            .iter()
            .map(file_state)
            .collect::<Vec<String>>()
            .join("\n"),
    );
    let kept_facts = earlier
        .as_ref()
        .filter(|kept| kept.stamp == stamp)
        .and_then(|kept| restore_runs(&kept.runs, &kept.facts));
    let mut changed = kept_facts.is_none();
    let given =
        || threads::check_threads().map_err(|error| Problem::in_file(&*shown, error.to_string()));
    let facts: Vec<LakeRunRow> = match kept_facts {
        Some(facts) => facts,
        None => {
            given()?;
            let mut facts: Vec<LakeRunRow> = standing::read_latest_runs(&listed_runs.files)?
                .into_values()
                .map(|standing| standing.fact)
                .collect();
            facts.sort_by(|left, right| left.run.id.cmp(&right.run.id));
            facts
        }
    };
    if let Some(note) = unnamed_outcomes(&listed.files, &facts, &lake.join("runs")) {
        joining.add_note(note);
    }
    let is_read = |suite: &str| suites.is_none_or(|suites| suites.iter().any(|read| read == suite));
    let in_question = |fact: &&LakeRunRow| fact.seal.outcomes > 0 && is_read(&fact.run.suite);
    let wanted: PublishByRun = facts
        .iter()
        .filter(in_question)
        .map(|fact| (fact.run.id.as_str().to_owned(), fact.publish.clone()))
        .collect();
    let wanted = Arc::new(wanted);
    let files = CountedRunDigests {
        digests: digest_by_publish(&facts),
        all: digest_runs(facts.iter().filter(in_question)),
    };
    let runs = facts.iter().map(|fact| {
        let run = fact.to_external_run();
        ExternalRun {
            seal: run.seal.filter(|_| is_read(&fact.run.suite)),
            ..run
        }
    });
    let first = joining.unit_count();
    joining
        .begin_source(&name, runs.collect())
        .map_err(&in_lake)?;

    let mut units: HashMap<String, ItemUnit> = earlier
        .as_mut()
        .map(|kept| std::mem::take(&mut kept.units))
        .unwrap_or_default()
        .into_iter()
        .map(|unit| (unit.path.clone(), unit))
        .collect();
    let (mut spare, mut unread) = (Vec::new(), Vec::new());
    let mut known = 0;
    for file in &listed.files {
        let Some(standing) = files.digest_for_file(file) else {
            continue;
        };
        let lines = LakeLines::new(
            file.clone(),
            Arc::clone(&wanted),
            &format!("{standing} {}", file_state(file)),
        );
        let unit = units
            .remove(lines.source_name())
            .filter(|unit| unit.stamp == FileStamp::from_state_text(&lines.content_stamp()));
        match (
            unit,
            file.partition
                .get("suite")
                .is_none_or(|suite| is_read(suite)),
        ) {
            (Some(unit), true) => {
                known += 1;
                joining
                    .join_cached_part(unit, Arc::new(lines))
                    .map_err(&in_lake)?;
            }
            (None, true) => unread.push((file, lines)),
            (unit, false) => spare.extend(unit),
        }
    }
    // Files that no run stands in any more.
    changed |= !units.is_empty() || !unread.is_empty();
    info!(lake = %lake.display(), runs = facts.len(), known, read = unread.len(), of = listed.files.len(), "lake listed");
    if !unread.is_empty() {
        given()?;
    }
    progress.begin_phase(
        "reading the lake",
        unread.iter().map(|(file, _)| file.bytes).sum(),
    );
    // A few files at once: each is held only until it is joined.
    let mut unread = unread.into_iter().peekable();
    while unread.peek().is_some() {
        let files: Vec<(&DataFile, LakeLines)> = unread
            .by_ref()
            .take(rayon::current_num_threads().max(1))
            .collect();
        let parts: Vec<ExternalPart> = files
            .par_iter()
            .map(|(file, _)| read_part(file, &wanted))
            .collect::<Result<_, Problem>>()?;
        for ((file, lines), part) in files.into_iter().zip(parts) {
            progress.advance(file.bytes);
            joining.join_part(part, Arc::new(lines)).map_err(&in_lake)?;
        }
    }
    progress.end_phase();
    let (runs, facts) = (
        facts.iter().map(|fact| Arc::clone(&fact.run)).collect(),
        facts.iter().map(to_cached_run).collect(),
    );
    joining
        .end_lake(
            CachedLake {
                name,
                stamp,
                runs,
                facts,
                units: spare,
            },
            first,
            changed,
        )
        .map_err(&in_lake)
}

/// Returns a hint if there are outcomes of a publication after the last one that `runs` names: its commit there may be lost, or the publisher
/// has not ended. Ids of publications are in the order of time, so those that another publisher overtook are not meant.
fn unnamed_outcomes(outcomes: &[DataFile], facts: &[LakeRunRow], runs: &Path) -> Option<Problem> {
    let last = facts
        .iter()
        .map(|fact| fact.publish.as_str())
        .max()
        .unwrap_or_default();
    let rows: u64 = outcomes
        .iter()
        .filter(|file| {
            file.publish_id
                .as_deref()
                .is_some_and(|publish| publish > last)
        })
        .filter_map(|file| file.rows)
        .sum();
    (rows > 0).then(|| {
        let message = format!("names no run of the last publication, of which there are {rows} outcomes");
        Problem::in_file(escape_invisible(&runs.display().to_string()), message).with_hint(
            "a publisher was killed or still works, or the last commit of the table is lost: publish the runs again with `evalreport export lake`",
        )
    })
}

/// Returns a text that changes if a file may have changed, on disk or in the log.
fn file_state(file: &DataFile) -> String {
    // A file that is gone is found out when it is read.
    let on_disk = FileStamp::from_path(&file.path).ok();
    format!(
        "{} {} {:?} {on_disk:?}",
        file.path.display(),
        file.bytes,
        file.sha256
    )
}

/// Which runs stand in which files.
struct CountedRunDigests {
    /// By publish and suite: a digest of the runs that stand.
    digests: BTreeMap<(String, String), String>,
    /// Of all runs in question.
    all: String,
}

impl CountedRunDigests {
    /// Returns a digest of the runs that may stand in a file, or `None` if none can.
    fn digest_for_file(&self, file: &DataFile) -> Option<&str> {
        match (&file.publish_id, file.partition.get("suite")) {
            (Some(publish), Some(suite)) => self
                .digests
                .get(&(publish.clone(), suite.clone()))
                .map(String::as_str),
            // A file of several publications or suites, which another program wrote.
            (Some(publish), None) => self
                .digests
                .keys()
                .any(|(of, _)| of == publish)
                .then_some(&*self.all),
            (None, Some(suite)) => self
                .digests
                .keys()
                .any(|(_, of)| of == suite)
                .then_some(&*self.all),
            (None, None) => Some(&*self.all),
        }
    }
}

fn digest_by_publish(facts: &[LakeRunRow]) -> BTreeMap<(String, String), String> {
    let mut runs: BTreeMap<(String, String), Vec<&LakeRunRow>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.seal.outcomes > 0) {
        runs.entry((fact.publish.clone(), fact.run.suite.clone()))
            .or_default()
            .push(fact);
    }
    runs.into_iter()
        .map(|(of, runs)| (of, digest_runs(runs.into_iter())))
        .collect()
}

/// Returns a digest of some runs, which are sorted by id, and of what their outcomes must be.
fn digest_runs<'a>(facts: impl Iterator<Item = &'a LakeRunRow>) -> String {
    let mut digest = Sha256::new();
    for LakeRunRow {
        run, publish, seal, ..
    } in facts
    {
        digest.update(format!("{} {publish} {seal:?}\n", run.id));
    }
    to_hex(&digest.finalize())
}

fn to_cached_run(fact: &LakeRunRow) -> CachedLakeRun {
    let LakeRunRow {
        run: _,
        totals,
        publish,
        hidden,
        content,
        seal: OutcomeChecksum { outcomes, check },
        lines: _,
        score_lines,
    } = fact;
    let (totals, outcomes, check) = (*totals, *outcomes, *check);
    let score_lines = if score_lines.is_empty() {
        String::new()
    } else {
        score_lines_json(score_lines)
    };
    CachedLakeRun {
        publish: publish.clone(),
        totals,
        hidden: hidden.clone(),
        content: content.clone(),
        outcomes,
        check,
        score_lines,
    }
}

fn score_lines_json(lines: &[ScoreLine]) -> String {
    serde_json::to_string(lines).expect("scores are JSON: their keys are text")
}

/// Returns what an earlier command knew, or `None` if it cannot be understood.
fn restore_runs(runs: &[Arc<Run>], kept: &[CachedLakeRun]) -> Option<Vec<LakeRunRow>> {
    let fact = |(run, kept): (&Arc<Run>, &CachedLakeRun)| {
        let CachedLakeRun {
            publish,
            totals,
            hidden,
            content,
            outcomes,
            check,
            score_lines,
        } = kept.clone();
        let score_lines = if score_lines.is_empty() {
            Vec::new()
        } else {
            serde_json::from_str(&score_lines).ok()?
        };
        Some(LakeRunRow {
            run: Arc::clone(run),
            totals,
            publish,
            hidden,
            content,
            seal: OutcomeChecksum { outcomes, check },
            lines: 0,
            score_lines,
        })
    };
    runs.iter().zip(kept).map(fact).collect()
}

/// Reads the columns of a board of one file.
fn read_part(file: &DataFile, wanted: &PublishByRun) -> Result<ExternalPart, Problem> {
    let shown = escape_invisible(&file.path.display().to_string());
    let wrong = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE_HINT);
    match files::missing_as_none(std::fs::metadata(&file.path)) {
        Ok(Some(metadata)) if metadata.len() == file.bytes => {}
        Ok(Some(metadata)) => {
            return Err(wrong(format!(
                "has {} bytes; {} were published",
                metadata.len(),
                file.bytes
            )));
        }
        Ok(None) => {
            return Err(wrong(
                "is gone, and the log of the lake lists it".to_owned(),
            ));
        }
        Err(error) => return Err(Problem::unread_file(&*shown, &error)),
    }
    let is_published = file
        .board
        .as_ref()
        .map_or(Ok(true), |board| board.matches_file(&file.path));
    if !is_published.map_err(|error| Problem::unread_file(&*shown, &error))? {
        return Err(wrong(
            "is not as it was published: its digest differs".to_owned(),
        ));
    }
    let mut part = ExternalPart::default();
    let mut offset = 0;
    loop {
        let columns: Vec<Expr> = RUN_COLUMNS
            .into_iter()
            .chain(BOARD_COLUMNS)
            .map(col)
            .collect();
        let start = i64::try_from(offset).unwrap_or(i64::MAX);
        let decode = || {
            scan_file(&file.path)?
                .slice(start, SLICE_ROWS)
                .select(columns)
                .collect()
        };
        let frame = decode_file(decode).map_err(|error| {
            wrong(format!(
                "cannot be read: {}",
                escape_invisible(&error.to_string())
            ))
        })?;
        let read = add_frame(&mut part, &frame, wanted).map_err(|error| {
            wrong(format!(
                "cannot be read: {}",
                escape_invisible(&error.to_string())
            ))
        })?;
        read.map_err(|row| wrong(format!("row {} is no outcome", offset + row as u64 + 1)))?;
        offset += frame.height() as u64;
        if frame.height() < SLICE_ROWS as usize || file.rows == Some(offset) {
            break;
        }
    }
    match file.rows {
        Some(rows) if rows != offset => {
            Err(wrong(format!("has {offset} rows; {rows} were published")))
        }
        _ => Ok(part),
    }
}

/// Adds the standing outcomes of wanted runs. Fails with the number of the first row that is none.
fn add_frame(
    part: &mut ExternalPart,
    frame: &DataFrame,
    wanted: &PublishByRun,
) -> PolarsResult<Result<(), usize>> {
    let [run_id, publish_id, kind, evaluator, item, cluster, status] = [
        "run_id",
        "publish_id",
        "kind",
        "evaluator",
        "item",
        "cluster",
        "status",
    ]
    .map(|name| text_column(frame, name));
    let (run_id, publish_id, kind, evaluator) = (run_id?, publish_id?, kind?, evaluator?);
    let (item, cluster, status) = (item?, cluster?, status?);
    let (attempt, standing) = (
        integer_column(frame, "attempt")?,
        frame.column("standing")?.bool()?.clone(),
    );
    let score = frame.column("score")?.f64()?.clone();
    // Consecutive rows mostly are of one run and one kind.
    let mut last: Option<(&str, &str, Option<u32>)> = None;
    let mut last_kind: Option<(&str, ItemKind)> = None;
    for row in 0..frame.height() {
        if standing.get(row) != Some(true) {
            continue;
        }
        let (Some(run), Some(publish)) = (run_id.get(row), publish_id.get(row)) else {
            return Ok(Err(row));
        };
        let number = match last {
            Some((of, by, number)) if of == run && by == publish => number,
            _ => {
                let number = wanted
                    .get(run)
                    .is_some_and(|standing| standing == publish)
                    .then(|| part.intern_run(run));
                last = Some((run, publish, number));
                number
            }
        };
        let Some(number) = number else { continue };
        let named = kind.get(row);
        let kind = match last_kind {
            Some((name, kind)) if named == Some(name) => Some(kind),
            _ => {
                let kind = named.and_then(ItemKind::from_name);
                last_kind = named.zip(kind);
                kind
            }
        };
        let status = status.get(row).and_then(ItemStatus::from_name);
        let attempt = attempt
            .get(row)
            .and_then(|attempt| u32::try_from(attempt).ok());
        let (Some(kind), Some(evaluator), Some(item), Some(status), Some(attempt)) =
            (kind, evaluator.get(row), item.get(row), status, attempt)
        else {
            return Ok(Err(row));
        };
        let item = part.intern_item(kind, evaluator, item, cluster.get(row));
        part.push_outcome(number, item, attempt, status, score.get(row));
    }
    Ok(Ok(()))
}
