//! Reading a lake: what stands in it, joined to a snapshot as the files of a store are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tracing::info;

use crate::domain::{ItemKind, ItemStatus, Problem, hex, visible};
use crate::files;
use crate::warehouse::progress::Progress;
use crate::warehouse::standing_rows::{Joining, StandingPart, StandingRun};
use crate::warehouse::threads;

use super::lines::LakeLines;
use super::log::{DataFile, Log};
use super::marker;
use super::rows::{OF_BOARD, OF_RUN, text, whole};
use super::standing::{self, RESTORE, StandingFact, scan};

/// Rows of a file in memory at once.
const SLICE: u32 = 1 << 20;

/// By run: the publish whose outcomes stand.
pub(super) type Wanted = HashMap<String, String>;

/// Joins the standing runs of a lake, and their standing outcomes without money, times and texts. With `suites`, only outcomes of runs of
/// these suites, by stored name, are read.
///
/// Fails if anything that stands cannot be read: half a lake would be a wrong board.
pub(in crate::warehouse) fn join(
    joining: &mut Joining,
    lake: &Path,
    suites: Option<&[String]>,
    progress: &Progress,
) -> Result<(), Problem> {
    let name = format!("lake:{}", lake.display());
    let shown = visible(&name);
    let in_lake = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE);
    threads::check().map_err(|error| Problem::in_file(&*shown, error.to_string()))?;
    marker::check(lake)?;
    // Outcomes are committed before their runs, so their log is read after that of the runs.
    let listed_runs = Log::of(lake.join("runs")).read()?;
    let listed = Log::of(lake.join("outcomes")).read()?;
    let standing = standing::read(&listed_runs.files)?;
    let is_read = |fact: &StandingFact| suites.is_none_or(|suites| suites.contains(&fact.fact.run.suite));
    let wanted: Wanted = standing
        .iter()
        .filter(|(_, fact)| is_read(fact) && fact.fact.seal.outcomes > 0)
        .map(|(run, fact)| (run.clone(), fact.fact.publish.clone()))
        .collect();
    let mut runs: Vec<StandingRun> = standing
        .values()
        .map(|fact| {
            let run = fact.run();
            StandingRun { seal: run.seal.filter(|_| is_read(fact)), ..run }
        })
        .collect();
    runs.sort_by(|left, right| left.run.id.cmp(&right.run.id));
    let partitions: HashSet<&str> = standing.values().filter(|fact| is_read(fact)).map(|fact| fact.fact.run.suite.as_str()).collect();
    let publishes = digests(&wanted);
    let has_any = |file: &&DataFile| {
        file.publish_id.as_ref().is_none_or(|publish| publishes.contains_key(publish))
            && file.partition.get("suite").is_none_or(|suite| partitions.contains(suite.as_str()))
    };
    let files: Vec<&DataFile> = listed.files.iter().filter(has_any).collect();
    info!(lake = %lake.display(), runs = runs.len(), files = files.len(), of = listed.files.len(), "lake listed");
    joining.begin(&name, runs).map_err(&in_lake)?;
    let whole = hex(&Sha256::digest(format!("{publishes:?}")));
    let wanted = Arc::new(wanted);
    progress.begin("reading the lake", files.iter().map(|file| file.bytes).sum());
    // A few files at once: each is held only until it is joined.
    for files in files.chunks(rayon::current_num_threads().max(1)) {
        let parts: Vec<StandingPart> = files.par_iter().map(|file| part(file, &wanted)).collect::<Result<_, Problem>>()?;
        for (file, part) in files.iter().zip(parts) {
            progress.advance(file.bytes);
            let standing = file.publish_id.as_ref().and_then(|publish| publishes.get(publish)).map_or(&*whole, String::as_str);
            let lines = LakeLines::new((*file).clone(), Arc::clone(&wanted), standing);
            joining.part(part, Arc::new(lines)).map_err(&in_lake)?;
        }
    }
    progress.end();
    Ok(())
}

/// Returns for each publish a digest of its runs that stand.
fn digests(wanted: &Wanted) -> BTreeMap<String, String> {
    let mut runs: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (run, publish) in wanted {
        runs.entry(publish).or_default().insert(run);
    }
    runs.into_iter().map(|(publish, runs)| (publish.clone(), hex(&Sha256::digest(format!("{runs:?}"))))).collect()
}

/// Reads the columns of a board of one file.
fn part(file: &DataFile, wanted: &Wanted) -> Result<StandingPart, Problem> {
    let shown = visible(&file.path.display().to_string());
    let wrong = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE);
    match files::if_there(std::fs::metadata(&file.path)) {
        Ok(Some(metadata)) if metadata.len() == file.bytes => {}
        Ok(Some(metadata)) => return Err(wrong(format!("has {} bytes; {} were published", metadata.len(), file.bytes))),
        Ok(None) => return Err(wrong("is gone, and the log of the lake lists it".to_owned())),
        Err(error) => return Err(Problem::unread(&*shown, &error)),
    }
    let is_published = file.board.as_ref().map_or(Ok(true), |board| board.are_in(&file.path));
    if !is_published.map_err(|error| Problem::unread(&*shown, &error))? {
        return Err(wrong("is not as it was published: its digest differs".to_owned()));
    }
    let mut part = StandingPart::default();
    let mut offset = 0;
    loop {
        let columns: Vec<Expr> = OF_RUN.into_iter().chain(OF_BOARD).map(col).collect();
        let lazy = scan(&file.path).map(|lazy| lazy.slice(i64::try_from(offset).unwrap_or(i64::MAX), SLICE).select(columns));
        let frame = lazy.and_then(LazyFrame::collect).map_err(|error| wrong(format!("cannot be read: {}", visible(&error.to_string()))))?;
        let read = add(&mut part, &frame, wanted).map_err(|error| wrong(format!("cannot be read: {}", visible(&error.to_string()))))?;
        read.map_err(|row| wrong(format!("row {} is no outcome", offset + row as u64 + 1)))?;
        offset += frame.height() as u64;
        if frame.height() < SLICE as usize || file.rows == Some(offset) {
            break;
        }
    }
    match file.rows {
        Some(rows) if rows != offset => Err(wrong(format!("has {offset} rows; {rows} were published"))),
        _ => Ok(part),
    }
}

/// Adds the standing outcomes of wanted runs. Fails with the number of the first row that is none.
fn add(part: &mut StandingPart, frame: &DataFrame, wanted: &Wanted) -> PolarsResult<Result<(), usize>> {
    let [run_id, publish_id, kind, evaluator, item, cluster, status] =
        ["run_id", "publish_id", "kind", "evaluator", "item", "cluster", "status"].map(|name| text(frame, name));
    let (run_id, publish_id, kind, evaluator) = (run_id?, publish_id?, kind?, evaluator?);
    let (item, cluster, status) = (item?, cluster?, status?);
    let (attempt, standing) = (whole(frame, "attempt")?, frame.column("standing")?.bool()?.clone());
    let score = frame.column("score")?.f64()?.clone();
    // Consecutive rows mostly are of one run and one kind.
    let mut last: Option<(&str, &str, Option<u32>)> = None;
    let mut last_kind: Option<(&str, ItemKind)> = None;
    for row in 0..frame.height() {
        if standing.get(row) != Some(true) {
            continue;
        }
        let (Some(run), Some(publish)) = (run_id.get(row), publish_id.get(row)) else { return Ok(Err(row)) };
        let number = match last {
            Some((of, by, number)) if of == run && by == publish => number,
            _ => {
                let number = wanted.get(run).is_some_and(|standing| standing == publish).then(|| part.run(run));
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
        let attempt = attempt.get(row).and_then(|attempt| u32::try_from(attempt).ok());
        let (Some(kind), Some(evaluator), Some(item), Some(status), Some(attempt)) =
            (kind, evaluator.get(row), item.get(row), status, attempt)
        else {
            return Ok(Err(row));
        };
        let item = part.item(kind, evaluator, item, cluster.get(row));
        part.push(number, item, attempt, status, score.get(row));
    }
    Ok(Ok(()))
}
