//! Reading a lake: what stands in it, joined to a snapshot as the files of a store are.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tracing::info;

use crate::domain::{ItemKind, ItemStatus, Problem, Run, hex, visible};
use crate::files;
use crate::results::ScoreLine;
use crate::warehouse::cache::LAKE;
use crate::warehouse::item_file::StandingLines;
use crate::warehouse::progress::Progress;
use crate::warehouse::snapshot::{ItemUnit, KeptFact, KeptLake};
use crate::warehouse::standing_rows::{Joining, Seal, StandingPart, StandingRun};
use crate::warehouse::threads;
use crate::warehouse::unit::Stamp;

use super::lines::LakeLines;
use super::log::{DataFile, Log};
use super::marker;
use super::rows::{OF_BOARD, OF_RUN, text, whole};
use super::standing::{self, RESTORE, RunFact, scan};

/// Rows of a file in memory at once.
const SLICE: u32 = 1 << 20;

/// By run: the publish whose outcomes stand.
pub(super) type Wanted = HashMap<String, String>;

/// Joins the standing runs of a lake, and their standing outcomes without money, times and texts. With `suites`, only outcomes of runs of
/// these suites, by stored name, are read. What an earlier command read is not read again, as long as the log and the state of the files on
/// disk are the same.
///
/// Fails if anything that stands cannot be read: half a lake would be a wrong board.
pub(in crate::warehouse) fn join(
    joining: &mut Joining,
    lake: &Path,
    suites: Option<&[String]>,
    progress: &Progress,
) -> Result<(), Problem> {
    let name = format!("{LAKE}{}", lake.display());
    let shown = visible(&name);
    let in_lake = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE);
    marker::check(lake)?;
    // Outcomes are committed before their runs, so their log is read after that of the runs.
    let listed_runs = Log::of(lake.join("runs")).read()?;
    let listed = Log::of(lake.join("outcomes")).read()?;
    // A publisher makes both tables before it writes to either.
    if listed_runs.version.is_none() && !listed.files.is_empty() {
        return Err(in_lake("the log of its table `runs` is gone".to_owned()));
    }
    let mut earlier = joining.take_kept(&name);
    let stamp = Stamp::of_state(
        &listed_runs
            .files
            .iter()
            .map(state)
            .collect::<Vec<String>>()
            .join("\n"),
    );
    let kept_facts = earlier
        .as_ref()
        .filter(|kept| kept.stamp == stamp)
        .and_then(|kept| facts_of(&kept.runs, &kept.facts));
    let mut changed = kept_facts.is_none();
    let given = || threads::check().map_err(|error| Problem::in_file(&*shown, error.to_string()));
    let facts: Vec<RunFact> = match kept_facts {
        Some(facts) => facts,
        None => {
            given()?;
            let mut facts: Vec<RunFact> = standing::read(&listed_runs.files)?
                .into_values()
                .map(|standing| standing.fact)
                .collect();
            facts.sort_by(|left, right| left.run.id.cmp(&right.run.id));
            facts
        }
    };
    if let Some(note) = unnamed(&listed.files, &facts, &lake.join("runs")) {
        joining.note(note);
    }
    let is_read = |suite: &str| suites.is_none_or(|suites| suites.iter().any(|read| read == suite));
    let in_question = |fact: &&RunFact| fact.seal.outcomes > 0 && is_read(&fact.run.suite);
    let wanted: Wanted = facts
        .iter()
        .filter(in_question)
        .map(|fact| (fact.run.id.as_str().to_owned(), fact.publish.clone()))
        .collect();
    let wanted = Arc::new(wanted);
    let files = Files {
        digests: digests(&facts),
        all: digest(facts.iter().filter(in_question)),
    };
    let runs = facts.iter().map(|fact| {
        let run = fact.standing();
        StandingRun {
            seal: run.seal.filter(|_| is_read(&fact.run.suite)),
            ..run
        }
    });
    let first = joining.units();
    joining.begin(&name, runs.collect()).map_err(&in_lake)?;

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
        let Some(standing) = files.standing(file) else {
            continue;
        };
        let lines = LakeLines::new(
            file.clone(),
            Arc::clone(&wanted),
            &format!("{standing} {}", state(file)),
        );
        let unit = units
            .remove(lines.place())
            .filter(|unit| unit.stamp == Stamp::of_state(&lines.state()));
        match (
            unit,
            file.partition
                .get("suite")
                .is_none_or(|suite| is_read(suite)),
        ) {
            (Some(unit), true) => {
                known += 1;
                joining.kept_part(unit, Arc::new(lines)).map_err(&in_lake)?;
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
    progress.begin(
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
        let parts: Vec<StandingPart> = files
            .par_iter()
            .map(|(file, _)| part(file, &wanted))
            .collect::<Result<_, Problem>>()?;
        for ((file, lines), part) in files.into_iter().zip(parts) {
            progress.advance(file.bytes);
            joining.part(part, Arc::new(lines)).map_err(&in_lake)?;
        }
    }
    progress.end();
    let (runs, facts) = (
        facts.iter().map(|fact| Arc::clone(&fact.run)).collect(),
        facts.iter().map(kept_fact).collect(),
    );
    joining
        .end_lake(
            KeptLake {
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
fn unnamed(outcomes: &[DataFile], facts: &[RunFact], runs: &Path) -> Option<Problem> {
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
        Problem::in_file(visible(&runs.display().to_string()), message).with_hint(
            "a publisher was killed or still works, or the last commit of the table is lost: publish the runs again with `evalreport export lake`",
        )
    })
}

/// Returns a text that changes if a file may have changed, on disk or in the log.
fn state(file: &DataFile) -> String {
    // A file that is gone is found out when it is read.
    let on_disk = Stamp::of(&file.path).ok();
    format!(
        "{} {} {:?} {on_disk:?}",
        file.path.display(),
        file.bytes,
        file.sha256
    )
}

/// Which runs stand in which files.
struct Files {
    /// By publish and suite: a digest of the runs that stand.
    digests: BTreeMap<(String, String), String>,
    /// Of all runs in question.
    all: String,
}

impl Files {
    /// Returns a digest of the runs that may stand in a file, or `None` if none can.
    fn standing(&self, file: &DataFile) -> Option<&str> {
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

fn digests(facts: &[RunFact]) -> BTreeMap<(String, String), String> {
    let mut runs: BTreeMap<(String, String), Vec<&RunFact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.seal.outcomes > 0) {
        runs.entry((fact.publish.clone(), fact.run.suite.clone()))
            .or_default()
            .push(fact);
    }
    runs.into_iter()
        .map(|(of, runs)| (of, digest(runs.into_iter())))
        .collect()
}

/// Returns a digest of some runs, which are sorted by id, and of what their outcomes must be.
fn digest<'a>(facts: impl Iterator<Item = &'a RunFact>) -> String {
    let mut digest = Sha256::new();
    for RunFact {
        run, publish, seal, ..
    } in facts
    {
        digest.update(format!("{} {publish} {seal:?}\n", run.id));
    }
    hex(&digest.finalize())
}

fn kept_fact(fact: &RunFact) -> KeptFact {
    let RunFact {
        run: _,
        totals,
        publish,
        hidden,
        content,
        seal: Seal { outcomes, check },
        lines: _,
        score_lines,
    } = fact;
    let (totals, outcomes, check) = (*totals, *outcomes, *check);
    let score_lines = if score_lines.is_empty() {
        String::new()
    } else {
        kept_lines(score_lines)
    };
    KeptFact {
        publish: publish.clone(),
        totals,
        hidden: hidden.clone(),
        content: content.clone(),
        outcomes,
        check,
        score_lines,
    }
}

fn kept_lines(lines: &[ScoreLine]) -> String {
    serde_json::to_string(lines).expect("scores are JSON: their keys are text")
}

/// Returns what an earlier command knew, or `None` if it cannot be understood.
fn facts_of(runs: &[Arc<Run>], kept: &[KeptFact]) -> Option<Vec<RunFact>> {
    let fact = |(run, kept): (&Arc<Run>, &KeptFact)| {
        let KeptFact {
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
        Some(RunFact {
            run: Arc::clone(run),
            totals,
            publish,
            hidden,
            content,
            seal: Seal { outcomes, check },
            lines: 0,
            score_lines,
        })
    };
    runs.iter().zip(kept).map(fact).collect()
}

/// Reads the columns of a board of one file.
fn part(file: &DataFile, wanted: &Wanted) -> Result<StandingPart, Problem> {
    let shown = visible(&file.path.display().to_string());
    let wrong = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE);
    match files::if_there(std::fs::metadata(&file.path)) {
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
        Err(error) => return Err(Problem::unread(&*shown, &error)),
    }
    let is_published = file
        .board
        .as_ref()
        .map_or(Ok(true), |board| board.are_in(&file.path));
    if !is_published.map_err(|error| Problem::unread(&*shown, &error))? {
        return Err(wrong(
            "is not as it was published: its digest differs".to_owned(),
        ));
    }
    let mut part = StandingPart::default();
    let mut offset = 0;
    loop {
        let columns: Vec<Expr> = OF_RUN.into_iter().chain(OF_BOARD).map(col).collect();
        let lazy = scan(&file.path).map(|lazy| {
            lazy.slice(i64::try_from(offset).unwrap_or(i64::MAX), SLICE)
                .select(columns)
        });
        let frame = lazy
            .and_then(LazyFrame::collect)
            .map_err(|error| wrong(format!("cannot be read: {}", visible(&error.to_string()))))?;
        let read = add(&mut part, &frame, wanted)
            .map_err(|error| wrong(format!("cannot be read: {}", visible(&error.to_string()))))?;
        read.map_err(|row| wrong(format!("row {} is no outcome", offset + row as u64 + 1)))?;
        offset += frame.height() as u64;
        if frame.height() < SLICE as usize || file.rows == Some(offset) {
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
fn add(
    part: &mut StandingPart,
    frame: &DataFrame,
    wanted: &Wanted,
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
    .map(|name| text(frame, name));
    let (run_id, publish_id, kind, evaluator) = (run_id?, publish_id?, kind?, evaluator?);
    let (item, cluster, status) = (item?, cluster?, status?);
    let (attempt, standing) = (
        whole(frame, "attempt")?,
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
                    .then(|| part.run(run));
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
        let item = part.item(kind, evaluator, item, cluster.get(row));
        part.push(number, item, attempt, status, score.get(row));
    }
    Ok(Ok(()))
}
