//! Publishing stores into a lake: only what is new, and only by adding files.
//!
//! Outcomes are written and committed before the rows of their runs. Until the latter are committed nobody sees any of it, so a publisher can
//! be killed at any time, and the next one starts from what is committed.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::*;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tracing::info;

use crate::domain::{
    Filter, ItemKind, Problem, Problems, Run, RunId, escape_invisible, latest_revision, to_hex,
};
use crate::external_rows::OutcomeChecksum;
use crate::facts::NO_FACTS;
use crate::files;
use crate::hidden::HiddenBy;
use crate::item_file::{ItemFile, path_text};
use crate::matrix::RowScores;
use crate::open::Warehouse;
use crate::results::{ItemLine, ScoreLine, details_of, to_json};
use crate::row_check::{OutcomeMetadata, line_checksum};
use crate::segment::file_digest;
use crate::spool::{LineSpool, RunLines};
use crate::statuses::status_code;
use crate::threads;
use crate::totals::ItemTotals;

use super::board_bytes::BoardBytes;
use super::log::{DeltaLog, NewFile, sync_folder, to_folder_name};
use super::marker;
use super::rows::{LakeOutcomeRow, LakeOutcomeRows};
use super::run_rows;
use super::standing::{self as stood, LakeRunRow, LatestLakeRun, month_of};

/// Rows of one row group, unless their texts are long.
const ROW_GROUP_ROWS: usize = 1 << 18;
const ROW_GROUP_BYTES: usize = 256 << 20;
/// Rows after which a file ends with the current run, and after which all files so far are committed.
const FILE_ROWS: u64 = 4 << 20;
const COMMIT_ROWS: u64 = 16 << 20;

/// Who publishes, as the caller says: the lake has no clock of its own.
pub struct Publication<'a> {
    /// A UUID of version 7, made for this publication.
    pub id: &'a str,
    pub time: DateTime<Utc>,
}

/// What a publication added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublicationCounts {
    pub new: usize,
    pub revised: usize,
    pub retracted: usize,
    /// Runs whose retraction was taken back.
    pub restored: usize,
    /// Runs of which the lake has everything.
    pub unchanged: usize,
    /// Item lines.
    pub outcomes: u64,
}

impl PublicationCounts {
    /// Returns the number of added rows of runs.
    pub fn run_row_count(&self) -> usize {
        self.new + self.revised + self.retracted + self.restored
    }
}

/// A run that the store has, as the lake should have it.
struct RunToPublish {
    run: Arc<Run>,
    totals: Option<ItemTotals>,
    hidden: Option<(HiddenBy, String)>,
    content: String,
}

/// What is to be added about a run.
enum PlannedChange {
    Nothing,
    /// The run with its outcomes.
    Whole,
    /// A row alone: a retraction, or a run that was retracted before it was published.
    Row(Box<LakeRunRow>),
}

impl Warehouse {
    /// Publishes the selected runs into a lake, which is made if the folder is new or empty. Runs that the lake has already are left out, so
    /// that a second call adds nothing. Several publishers may work at once.
    pub fn publish_to_lake(
        &self,
        lake: &Path,
        filter: &Filter,
        by: &Publication<'_>,
    ) -> Result<PublicationCounts, Problems> {
        self.add_to_lake(lake, filter, by)
            .map_err(|problem| Problems(vec![problem]))
    }

    fn add_to_lake(
        &self,
        lake: &Path,
        filter: &Filter,
        by: &Publication<'_>,
    ) -> Result<PublicationCounts, Problem> {
        let shown = escape_invisible(&lake.display().to_string());
        threads::check_threads().map_err(|error| Problem::in_file(&*shown, error.to_string()))?;
        marker::create_marker(lake)?;
        let (runs, outcomes) = (lake.join("runs"), lake.join("outcomes"));
        let polars = |error: PolarsError| {
            Problem::in_file(
                &*shown,
                format!(
                    "cannot be written: {}",
                    escape_invisible(&error.to_string())
                ),
            )
        };
        let schema = |frame: PolarsResult<DataFrame>| {
            frame
                .map(|frame| frame.schema().as_ref().clone())
                .map_err(polars)
        };
        let outcome_schema = schema(LakeOutcomeRows::new().finish())?;
        let (run_log, outcome_log) = (DeltaLog::new(runs.clone()), DeltaLog::new(outcomes.clone()));
        outcome_log.create_table("outcomes", &outcome_schema, &["suite", "month"], by.time)?;
        run_log.create_table(
            "runs",
            &schema(run_rows::build_run_frame(&[], 0, 0))?,
            &[],
            by.time,
        )?;

        let mut published = PublicationCounts::default();
        let listed = run_log.read_listing()?;
        let known = stood::read_latest_runs(&listed.files)?;
        let mut wishes: Vec<RunToPublish> = self.runs_to_publish(filter);
        wishes.sort_by(|left, right| publish_order(&left.run).cmp(&publish_order(&right.run)));
        let mut facts: Vec<LakeRunRow> = Vec::new();
        let mut whole = Vec::new();
        for wish in wishes {
            match plan_change(&wish, known.get(wish.run.id.as_str()), by.id) {
                PlannedChange::Nothing => published.unchanged += 1,
                PlannedChange::Row(fact) => facts.push(*fact),
                PlannedChange::Whole => whole.push(wish),
            }
        }
        drop(known);
        let mut writer = OutcomeFileWriter {
            folder: outcomes,
            schema: outcome_schema,
            by,
            part: None,
            made: Vec::new(),
            number: 0,
            rows: 0,
        };
        let mut sources = PublishSources::new(self, &whole);
        let folders = self.score_folders();
        for wish in &whole {
            let (seal, lines) = writer.write_run(wish, &mut sources)?;
            facts.push(LakeRunRow {
                score_lines: self.scores_without_replies(&wish.run.id, &folders),
                run: Arc::clone(&wish.run),
                totals: wish.totals,
                publish: by.id.to_owned(),
                hidden: None,
                content: wish.content.clone(),
                seal,
                lines,
            });
            if writer.rows >= COMMIT_ROWS {
                commit_publication(
                    &mut writer,
                    &outcome_log,
                    (&runs, &run_log),
                    std::mem::take(&mut facts),
                    &mut published,
                )?;
            }
        }
        commit_publication(
            &mut writer,
            &outcome_log,
            (&runs, &run_log),
            facts,
            &mut published,
        )?;
        info!(lake = %lake.display(), runs = published.run_row_count(), outcomes = published.outcomes, "published");
        Ok(published)
    }

    /// Returns the folders with files of scores, by run.
    fn score_folders(&self) -> HashMap<&str, PathBuf> {
        let mut folders = HashMap::new();
        for header in &self.snapshot.headers {
            let own = header.only_run().filter(|_| header.scores_stamp.is_some());
            folders.extend(
                own.map(|run| (run.id.as_str(), Path::new(&header.path).with_extension(""))),
            );
            let judged = header
                .judged
                .iter()
                .filter(|judged| judged.scores_stamp.is_some());
            folders
                .extend(judged.map(|judged| (judged.run.as_str(), PathBuf::from(&judged.folder))));
        }
        folders
    }

    /// Returns what evaluators said of a run, without the replies of judges, which are long.
    fn scores_without_replies(
        &self,
        run: &RunId,
        folders: &HashMap<&str, PathBuf>,
    ) -> Vec<ScoreLine> {
        let lines = match folders.get(run.as_str()) {
            Some(folder) => ScoreLine::read_all(&folder.join("scores.jsonl"), &mut Vec::new()),
            None => self.score_lines(run).to_vec(),
        };
        lines
            .into_iter()
            .map(|line| ScoreLine {
                raw: Vec::new(),
                ..line
            })
            .collect()
    }

    /// Returns the selected runs, shown and hidden, under their stored names.
    fn runs_to_publish(&self, filter: &Filter) -> Vec<RunToPublish> {
        let mut stored: HashMap<&RunId, &Arc<Run>> = HashMap::new();
        for run in self.snapshot.headers.iter().flat_map(|header| &header.runs) {
            stored.entry(&run.id).or_insert(run);
        }
        let mut digests = SharedDigests::default();
        let mut wish =
            |run: &Arc<Run>, totals: Option<ItemTotals>, hidden: Option<(HiddenBy, String)>| {
                let run = stored.get(&run.id).copied().unwrap_or(run);
                RunToPublish {
                    run: Arc::clone(run),
                    totals,
                    hidden,
                    content: self.run_content_digest(run, totals.as_ref(), &mut digests),
                }
            };
        let mut wishes: Vec<RunToPublish> = self
            .select_runs(filter)
            .map(|row| wish(&row.run, row.items, None))
            .collect();
        for hidden in self
            .hidden_runs()
            .iter()
            .filter(|hidden| filter.matches(&hidden.run))
        {
            wishes.push(wish(
                &hidden.run,
                self.totals_of(&hidden.run.id),
                Some((hidden.by, hidden.reason.clone())),
            ));
        }
        wishes
    }

    /// Returns a digest of everything about a run that can change: its record, the sums of its lines, and the outcomes that count.
    fn run_content_digest(
        &self,
        run: &Run,
        totals: Option<&ItemTotals>,
        digests: &mut SharedDigests,
    ) -> String {
        let mut digest = Sha256::new();
        digest.update(to_json(run));
        digest.update(format!("\n{totals:?}\n"));
        for (unit, number) in self.locate_all_outcomes(&run.id) {
            let rows = self.snapshot.items[unit as usize]
                .rows
                .iter()
                .filter(|row| row.run == number);
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by_key(|row| row.attempt);
            for row in rows {
                let set = &self.snapshot.item_sets[row.items as usize];
                let (places, named) = digests.sets.entry(row.items).or_insert_with(|| {
                    let keys = &self.snapshot.keys;
                    let mut places: Vec<usize> = (0..set.len()).collect();
                    places.sort_by_key(|place| &keys[set[*place] as usize]);
                    let mut named = Sha256::new();
                    for place in &places {
                        named.update(format!("{:?}\n", keys[set[*place] as usize]));
                    }
                    (places, to_hex(&named.finalize()))
                });
                let facts = digests
                    .columns
                    .entry((row.items, row.facts))
                    .or_insert_with(|| {
                        let mut told = Sha256::new();
                        let column = &self.snapshot.fact_columns[row.facts as usize];
                        for place in places.iter() {
                            let facts = &self.snapshot.facts
                                [column.get(*place).copied().unwrap_or(NO_FACTS) as usize];
                            told.update(format!("{facts:?}\n"));
                        }
                        to_hex(&told.finalize())
                    });
                digest.update(format!("{} {named} {facts}\n", row.attempt));
                digest.update(
                    places
                        .iter()
                        .map(|place| status_code(row.statuses.get(*place)))
                        .collect::<Vec<u8>>(),
                );
                match &row.scores {
                    RowScores::Own(scores) => {
                        digest.update(format!(
                            "{:?}\n",
                            places
                                .iter()
                                .map(|place| scores[*place])
                                .collect::<Vec<_>>()
                        ));
                    }
                    same => digest.update(format!("{same:?}\n")),
                }
            }
        }
        to_hex(&digest.finalize())
    }
}

/// Commits the outcomes written so far, then the rows of their runs. If another publisher commits first, looks what it added, and adds the
/// rest.
fn commit_publication(
    writer: &mut OutcomeFileWriter<'_>,
    outcomes: &DeltaLog,
    (folder, runs): (&Path, &DeltaLog),
    mut facts: Vec<LakeRunRow>,
    published: &mut PublicationCounts,
) -> Result<(), Problem> {
    let by = writer.by;
    let made = writer.take_files()?;
    published.outcomes += std::mem::take(&mut writer.rows);
    if !made.is_empty() {
        // Files are only added, so it does not matter after which commit.
        while !outcomes.commit_files(
            outcomes
                .read_listing()?
                .version
                .map_or(0, |version| version + 1),
            &made,
            by.time,
        )? {}
    }
    loop {
        let listed = runs.read_listing()?;
        let known = stood::read_latest_runs(&listed.files)?;
        // Outcomes that are written are named by a row, even if another publisher was faster with the same run: outcomes that no row names are
        // a hint of a lost commit.
        let is_written = |fact: &LakeRunRow| fact.publish == by.id && fact.seal.outcomes > 0;
        let is_known = |fact: &LakeRunRow| {
            known
                .get(fact.run.id.as_str())
                .is_some_and(|known| is_unchanged((&fact.hidden, &fact.content), &known.fact))
        };
        facts.retain(|fact| is_written(fact) || !is_known(fact));
        if facts.is_empty() {
            return Ok(());
        }
        let version = listed.version.map_or(0, |version| version + 1);
        let all = known.len()
            + facts
                .iter()
                .filter(|fact| !known.contains_key(fact.run.id.as_str()))
                .count();
        let file = writer.write_run_rows(folder, &facts, (version, all))?;
        let path = folder.join(&file.path);
        if runs.commit_files(version, &[file], by.time)? {
            for fact in &facts {
                let before = known.get(fact.run.id.as_str());
                let count = match (&fact.hidden, before) {
                    (Some(_), _) => &mut published.retracted,
                    (None, None) => &mut published.new,
                    (None, Some(before)) if before.fact.hidden.is_some() => &mut published.restored,
                    (None, Some(_)) => &mut published.revised,
                };
                *count += 1;
            }
            return Ok(());
        }
        // Nobody has seen it.
        let _ = fs::remove_file(path);
    }
}

/// Digests of what many runs share.
#[derive(Default)]
struct SharedDigests {
    /// By item set: its places in the order of names, and the names.
    sets: HashMap<u32, (Vec<usize>, String)>,
    columns: HashMap<(u32, u32), String>,
}

fn publish_order(run: &Run) -> (&str, String, &RunId) {
    (&run.suite, month_of(run), &run.id)
}

/// Decides what is to be added about a run.
fn plan_change(wish: &RunToPublish, known: Option<&LatestLakeRun>, publish: &str) -> PlannedChange {
    let row = |known: &LakeRunRow| LakeRunRow {
        run: Arc::clone(&wish.run),
        totals: wish.totals,
        hidden: wish.hidden.clone(),
        ..known.clone()
    };
    match (known, &wish.hidden) {
        (None, Some(_)) => PlannedChange::Row(Box::new(LakeRunRow {
            run: Arc::clone(&wish.run),
            totals: wish.totals,
            publish: publish.to_owned(),
            hidden: wish.hidden.clone(),
            content: String::new(),
            seal: OutcomeChecksum::default(),
            lines: 0,
            score_lines: Vec::new(),
        })),
        (Some(known), hidden) if is_unchanged((hidden, &wish.content), &known.fact) => {
            PlannedChange::Nothing
        }
        (Some(known), Some(_)) => PlannedChange::Row(Box::new(LakeRunRow {
            run: Arc::clone(&known.fact.run),
            totals: known.fact.totals,
            ..row(&known.fact)
        })),
        // A retraction that was taken back: the outcomes are there already.
        (Some(known), None) if known.fact.content == wish.content => {
            PlannedChange::Row(Box::new(row(&known.fact)))
        }
        (_, None) => PlannedChange::Whole,
    }
}

/// Returns whether a row would say nothing new.
fn is_unchanged(
    (hidden, content): (&Option<(HiddenBy, String)>, &str),
    known: &LakeRunRow,
) -> bool {
    *hidden == known.hidden && (hidden.is_some() || *content == known.content)
}

/// The files of the runs to publish. A file that several runs share is copied to disk with an index once, and kept until the last of them.
struct PublishSources<'w> {
    warehouse: &'w Warehouse,
    files: HashMap<String, &'w ItemFile>,
    /// By item unit: the runs still to come.
    left: HashMap<u32, HashSet<RunId>>,
    spools: HashMap<u32, LineSpool>,
}

impl<'w> PublishSources<'w> {
    fn new(warehouse: &'w Warehouse, wishes: &[RunToPublish]) -> Self {
        let files = warehouse
            .files
            .iter()
            .map(|file| (path_text(&file.path), file))
            .collect();
        let mut left: HashMap<u32, HashSet<RunId>> = HashMap::new();
        for id in wishes.iter().map(|wish| &wish.run.id) {
            for (unit, _) in warehouse.locate_all_outcomes(id) {
                left.entry(unit).or_default().insert(id.clone());
            }
        }
        Self {
            warehouse,
            files,
            left,
            spools: HashMap::new(),
        }
    }

    /// Returns a run's lines, one file after the other, and the file that says which revisions may stand.
    fn read_run_lines(&mut self, run: &RunId) -> io::Result<(Vec<RunLines>, Option<&'w ItemFile>)> {
        let mut all = Vec::new();
        let mut ruling = None;
        let places: Vec<(u32, u32)> = self.warehouse.locate_all_outcomes(run).collect();
        for (unit, _) in places {
            let file = self
                .warehouse
                .snapshot
                .items
                .get(unit as usize)
                .and_then(|unit| self.files.get(&unit.path))
                .copied();
            let Some(file) = file else { continue };
            // Judgements of an imported run come last, and decide.
            ruling = Some(file);
            let left = self.left.entry(unit).or_default();
            let mut spool = match self.spools.remove(&unit) {
                Some(spool) => spool,
                None => LineSpool::from_item_file(file, left.iter())?,
            };
            all.push(spool.take_run(run)?);
            left.remove(run);
            if !left.is_empty() {
                self.spools.insert(unit, spool);
            }
        }
        Ok((all, ruling))
    }
}

/// Writes outcomes as files of the table, one after the other.
struct OutcomeFileWriter<'p> {
    folder: PathBuf,
    schema: Schema,
    by: &'p Publication<'p>,
    part: Option<OutcomePart>,
    made: Vec<NewFile>,
    /// The number of the next file.
    number: usize,
    /// Rows since the last commit.
    rows: u64,
}

/// A file being written: the outcomes of runs of one suite and month.
struct OutcomePart {
    suite: String,
    month: String,
    path: String,
    file: NamedTempFile,
    writer: BatchedWriter<BufWriter<File>>,
    held: LakeOutcomeRows,
    rows: u64,
    first: String,
    last: String,
}

impl OutcomeFileWriter<'_> {
    fn write_problem(&self, error: &dyn std::fmt::Display) -> Problem {
        Problem::in_file(
            escape_invisible(&self.folder.display().to_string()),
            format!(
                "cannot be written: {}",
                escape_invisible(&error.to_string())
            ),
        )
    }

    /// Writes all lines of a run. Returns what its standing outcomes add up to, without and with their time and money.
    fn write_run(
        &mut self,
        wish: &RunToPublish,
        sources: &mut PublishSources<'_>,
    ) -> Result<(OutcomeChecksum, u64), Problem> {
        let (run, month) = (&wish.run, month_of(&wish.run));
        let unread = |error: io::Error| Problem::unread_file(format!("run {}", run.id), &error);
        let (mut all, ruling) = sources.read_run_lines(&run.id).map_err(unread)?;
        let mut text = Vec::new();
        let mut ends = Vec::new();
        for lines in &mut all {
            lines
                .for_each(|line| {
                    text.extend_from_slice(line);
                    ends.push(text.len());
                    Ok::<(), io::Error>(())
                })
                .map_err(unread)?;
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lines: Vec<&[u8]> = starts
            .zip(&ends)
            .map(|(start, end)| &text[start..*end])
            .collect();
        let items: Vec<(usize, ItemLine<'_>)> = lines
            .iter()
            .enumerate()
            .filter_map(|(place, line)| Some((place, ItemLine::parse(line).ok()?)))
            .collect();
        let (mut seal, mut sum) = (OutcomeChecksum::default(), 0_u64);
        if items.is_empty() {
            return Ok((seal, sum));
        }
        self.begin_part(&run.suite, &month, run.id.as_str())?;
        for SortedLine {
            row,
            first,
            cluster,
            is_standing,
        } in sort_lines(&items, ruling)
        {
            let (place, item) = &items[row];
            if is_standing {
                let of_item =
                    OutcomeChecksum::item_checksum(item.kind, &item.evaluator, &item.item, cluster);
                seal.add_outcome(of_item, item.attempt, item.status, item.score);
                let beside = OutcomeMetadata {
                    category: item.category.as_deref(),
                    duration_seconds: item.duration_seconds,
                    cost_usd: item.cost_usd,
                    input_tokens: item.input_tokens,
                    output_tokens: item.output_tokens,
                };
                sum = sum.wrapping_add(line_checksum(
                    of_item,
                    item.attempt,
                    (item.status, item.score),
                    &beside,
                ));
            }
            let row = LakeOutcomeRow {
                run: run.id.as_str(),
                publish: self.by.id,
                suite: &run.suite,
                month: &month,
                item,
                cluster,
                line: i64::try_from(first + 1).unwrap_or(i64::MAX),
                standing: is_standing,
                details: details_of(lines[*place]),
            };
            self.push_row(row)?;
        }
        Ok((seal, sum))
    }

    /// Makes sure that there is a file for runs of this suite and month.
    fn begin_part(&mut self, suite: &str, month: &str, run: &str) -> Result<(), Problem> {
        if self.part.as_ref().is_some_and(|part| {
            part.suite != suite || part.month != month || part.rows >= FILE_ROWS
        }) {
            self.end_part()?;
        }
        if let Some(part) = &mut self.part {
            run.clone_into(&mut part.last);
            return Ok(());
        }
        let mut name = to_folder_name(suite);
        if name.len() > 200 {
            // No file system has longer names; the log has the whole suite.
            name = format!("{}-{}", &name[..150], &to_hex(&Sha256::digest(suite))[..16]);
        }
        let path = format!(
            "suite={name}/month={month}/part-{}-{:05}.parquet",
            self.by.id, self.number
        );
        self.number += 1;
        let folder = self.folder.join(&path);
        let folder = folder.parent().unwrap_or(&self.folder);
        let made = fs::create_dir_all(folder).and_then(|()| files::create_temporary_in(folder));
        let file = made.map_err(|error| self.write_problem(&error))?;
        let handle = file
            .as_file()
            .try_clone()
            .map_err(|error| self.write_problem(&error))?;
        // The Parquet writer writes single bytes.
        let writer = ParquetWriter::new(BufWriter::with_capacity(1 << 20, handle))
            .with_compression(ParquetCompression::Zstd(None));
        let writer = writer
            .batched(&self.schema)
            .map_err(|error| self.write_problem(&error))?;
        self.part = Some(OutcomePart {
            suite: suite.to_owned(),
            month: month.to_owned(),
            path,
            file,
            writer,
            held: LakeOutcomeRows::new(),
            rows: 0,
            first: run.to_owned(),
            last: run.to_owned(),
        });
        Ok(())
    }

    fn push_row(&mut self, row: LakeOutcomeRow<'_>) -> Result<(), Problem> {
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        part.held.push(row);
        part.rows += 1;
        self.rows += 1;
        if part.held.len() >= ROW_GROUP_ROWS || part.held.bytes >= ROW_GROUP_BYTES {
            let written = part.flush();
            written.map_err(|error| self.write_problem(&error))?;
        }
        Ok(())
    }

    /// Gives the current file its name. It belongs to the table once it is committed.
    fn end_part(&mut self) -> Result<(), Problem> {
        let Some(mut part) = self.part.take() else {
            return Ok(());
        };
        let path = self.folder.join(&part.path);
        part.flush()
            .and_then(|()| part.writer.finish())
            .map_err(|error| self.write_problem(&error))?;
        drop(part.writer);
        let board =
            BoardBytes::from_file(part.file.path()).map_err(|error| self.write_problem(&error))?;
        let (bytes, sha256) =
            persist_file(part.file, &path).map_err(|error| self.write_problem(&error))?;
        let publish = self.by.id.to_owned();
        self.made.push(NewFile {
            path: part.path,
            bytes,
            rows: part.rows,
            sha256,
            board: Some(board),
            partition: vec![("suite", part.suite), ("month", part.month)],
            ranges: vec![
                ("run_id", part.first, part.last),
                ("publish_id", publish.clone(), publish),
            ],
        });
        Ok(())
    }

    /// Returns the files since the last commit.
    fn take_files(&mut self) -> Result<Vec<NewFile>, Problem> {
        self.end_part()?;
        Ok(std::mem::take(&mut self.made))
    }

    /// Writes rows of runs as a file of their table.
    fn write_run_rows(
        &self,
        folder: &Path,
        facts: &[LakeRunRow],
        (version, all): (u64, usize),
    ) -> Result<NewFile, Problem> {
        let path = format!("part-{}-{version:05}.parquet", self.by.id);
        let write = || -> Result<(u64, String), Box<dyn std::error::Error>> {
            let mut frame = run_rows::build_run_frame(facts, version, all)?;
            let file = files::create_temporary_in(folder)?;
            ParquetWriter::new(BufWriter::new(file.as_file().try_clone()?))
                .with_compression(ParquetCompression::Zstd(None))
                .finish(&mut frame)?;
            Ok(persist_file(file, &folder.join(&path))?)
        };
        let (bytes, sha256) = write().map_err(|error| self.write_problem(&error))?;
        Ok(NewFile {
            path,
            bytes,
            rows: facts.len() as u64,
            sha256,
            board: None,
            partition: Vec::new(),
            ranges: Vec::new(),
        })
    }
}

impl OutcomePart {
    fn flush(&mut self) -> PolarsResult<()> {
        if self.held.len() == 0 {
            return Ok(());
        }
        let rows = std::mem::replace(&mut self.held, LakeOutcomeRows::new());
        self.writer.write_batch(&rows.finish()?)
    }
}

/// Gives a written file its name, which nobody has, and makes it survive a power cut. Returns its size and digest.
fn persist_file(file: NamedTempFile, path: &Path) -> io::Result<(u64, String)> {
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    let sha256 = file_digest(file.path())?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    path.parent().map_or(Ok(()), sync_folder)?;
    Ok((bytes, sha256))
}

/// A line of a run in the order of the table.
struct SortedLine<'i> {
    /// The place among the parsed lines.
    row: usize,
    /// The place of the first line of the same outcome, where a later judgement of it is shown too.
    first: usize,
    /// The cluster to publish.
    cluster: Option<&'i str>,
    is_standing: bool,
}

/// Sorts a run's lines by kind, evaluator, item, attempt and revision. `ruling` is the file that says which revisions may stand.
fn sort_lines<'i>(
    items: &'i [(usize, ItemLine<'_>)],
    ruling: Option<&ItemFile>,
) -> Vec<SortedLine<'i>> {
    let outcome = |row: usize| -> (&str, &str, &str, u32) {
        let item = &items[row].1;
        (
            ItemKind::name(item.kind),
            &item.evaluator,
            &item.item,
            item.attempt,
        )
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    // The sort is stable: lines of one revision keep their order.
    order.sort_by(|left, right| {
        (outcome(*left), items[*left].1.revision).cmp(&(outcome(*right), items[*right].1.revision))
    });
    let may_stand = |row: &usize| {
        let item = &items[*row].1;
        ruling.is_none_or(|file| file.may_count(&item.evaluator, item.revision))
    };
    let mut all = Vec::with_capacity(items.len());
    for same in order.chunk_by(|left, right| outcome(*left) == outcome(*right)) {
        let standing = latest_revision(same.iter().copied().filter(may_stand), |row| {
            items[*row].1.revision
        });
        let in_force = same
            .iter()
            .rev()
            .filter(|row| may_stand(row))
            .find_map(|row| items[*row].1.cluster.as_deref());
        let first = same
            .iter()
            .map(|row| items[*row].0)
            .min()
            .unwrap_or_default();
        all.extend(same.iter().map(|row| {
            let is_standing = standing == Some(*row);
            let own = items[*row].1.cluster.as_deref();
            SortedLine {
                row: *row,
                first,
                cluster: if is_standing { in_force } else { own },
                is_standing,
            }
        }));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use polars::prelude::{
        DataFrame, IntoLazy, JoinArgs, JoinType, SortMultipleOptions, UniqueKeepStrategy, col, len,
        lit,
    };

    use crate::domain::ItemStatus;
    use crate::open::WarehouseOptions;
    use crate::progress::Progress;

    use super::super::rows::{integer_column, text_column};
    use super::super::standing::scan_file;
    use super::*;

    type Arm = (String, String, String);

    fn rows_of(log: &DeltaLog) -> DataFrame {
        let files = log.read_listing().expect("a whole log").files;
        let frames = files.iter().map(|file| {
            scan_file(&file.path)
                .and_then(LazyFrame::collect)
                .expect("readable")
        });
        frames
            .reduce(|all, next| all.vstack(&next).expect("one schema"))
            .expect("a file")
    }

    fn arms(frame: &DataFrame) -> Vec<Arm> {
        let [suite, approach, model] =
            ["suite", "approach", "model"].map(|name| text_column(frame, name).expect("text"));
        let name = |column: &StringChunked, row| column.get(row).unwrap_or_default().to_owned();
        (0..frame.height())
            .map(|row| (name(&suite, row), name(&approach, row), name(&model, row)))
            .collect()
    }

    /// Frames over a lake and the slices of the matrix are two ways to every arm's figures.
    #[test]
    fn frames_and_the_matrix_agree_about_every_arm_of_the_shipped_results() {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lake = folder.path().join("lake");
        let options = WarehouseOptions {
            stores: vec![store],
            ..WarehouseOptions::default()
        };
        let warehouse = Warehouse::open(&options, &Progress::SILENT).expect("the shipped results");
        let by = Publication {
            id: "01a00000-0000-7000-8000-000000000000",
            time: DateTime::UNIX_EPOCH,
        };
        let published = warehouse
            .publish_to_lake(&lake, &Filter::default(), &by)
            .expect("writable");
        assert_eq!(
            published.new + published.retracted,
            warehouse.runs().len() + warehouse.hidden_runs().len()
        );

        let options = SortMultipleOptions::default();
        let runs = rows_of(&DeltaLog::new(lake.join("runs"))).lazy();
        let newest = runs.sort(["sequence"], options).unique(
            Some(polars::prelude::cols(["run_id"])),
            UniqueKeepStrategy::Last,
        );
        let newest = newest.filter(col("deleted").not());
        let of_arm = ["suite", "approach", "model"].map(col);
        let figures = [
            len().alias("runs"),
            col("cost_usd").mean(),
            col("duration_seconds").mean().alias("seconds"),
            col("cost_usd").count().alias("priced"),
        ];
        let figures = newest
            .clone()
            .group_by(of_arm.clone())
            .agg(figures)
            .collect()
            .expect("figures");
        let mut ours: BTreeMap<Arm, Vec<&Run>> = BTreeMap::new();
        for row in warehouse.runs() {
            let run: &Run = &row.run;
            ours.entry((run.suite.clone(), run.approach.clone(), run.model.clone()))
                .or_default()
                .push(run);
        }
        assert_eq!(figures.height(), ours.len());
        let counts = integer_column(&figures, "runs").expect("counts");
        for (row, arm) in arms(&figures).into_iter().enumerate() {
            let of_arm = &ours[&arm];
            assert_eq!(counts.get(row), i64::try_from(of_arm.len()).ok(), "{arm:?}");
            for (column, value) in [
                ("cost_usd", (|run| run.cost_usd) as fn(&Run) -> Option<f64>),
                ("seconds", |run| run.duration_seconds),
            ] {
                let known: Vec<f64> = of_arm.iter().filter_map(|run| value(run)).collect();
                let mean =
                    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
                let found = figures
                    .column(column)
                    .and_then(|column| Ok(column.f64()?.get(row)))
                    .expect("numbers");
                let is_same = match (mean, found) {
                    (Some(mean), Some(found)) => (mean - found).abs() <= 1e-12 * mean.abs(),
                    (mean, found) => mean == found,
                };
                assert!(is_same, "{arm:?} {column}: {mean:?} {found:?}");
            }
        }

        let outcomes = rows_of(&DeltaLog::new(lake.join("outcomes")))
            .lazy()
            .filter(col("standing"));
        let keys = ["run_id", "publish_id"].map(col);
        let joined = outcomes
            .drop(polars::prelude::cols(["suite", "month"]))
            .join(
                newest.select(["run_id", "publish_id", "suite", "approach", "model"].map(col)),
                keys.clone(),
                keys,
                JoinArgs::new(JoinType::Inner),
            );
        let by: Vec<Expr> = of_arm
            .into_iter()
            .chain(["kind", "evaluator"].map(col))
            .collect();
        let passed = col("status").eq(lit("pass")).sum().alias("passed");
        let found = joined
            .group_by(by)
            .agg([len().alias("outcomes"), passed])
            .collect()
            .expect("counts");
        let (kind, evaluator) = (
            text_column(&found, "kind").expect("text"),
            text_column(&found, "evaluator").expect("text"),
        );
        let (total, passed) = (
            integer_column(&found, "outcomes").expect("counts"),
            integer_column(&found, "passed").expect("counts"),
        );
        let mut counted: BTreeMap<(Arm, String, String), (i64, i64)> = BTreeMap::new();
        for (row, arm) in arms(&found).into_iter().enumerate() {
            let name = |column: &StringChunked| column.get(row).unwrap_or_default().to_owned();
            counted.insert(
                (arm, name(&kind), name(&evaluator)),
                (total.get(row).unwrap_or(0), passed.get(row).unwrap_or(0)),
            );
        }
        let mut compared = 0;
        for (arm, runs) in &ours {
            let matrix = warehouse.outcome_matrix(runs.iter().map(|run| &run.id));
            let mut of_matrix: BTreeMap<(Arm, String, String), (i64, i64)> = BTreeMap::new();
            for row in &matrix.rows {
                for (item, status) in row.outcomes() {
                    let key = &matrix.items[item as usize].key;
                    let counts = of_matrix
                        .entry((
                            arm.clone(),
                            key.kind.name().to_owned(),
                            key.evaluator.clone(),
                        ))
                        .or_default();
                    *counts = (
                        counts.0 + 1,
                        counts.1 + i64::from(status == ItemStatus::Pass),
                    );
                }
            }
            for (key, counts) in of_matrix {
                assert_eq!(counted.get(&key), Some(&counts), "{key:?}");
                compared += 1;
            }
        }
        assert!(compared > 20, "only {compared} arms have outcomes");
    }
}
