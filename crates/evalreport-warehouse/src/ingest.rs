//! From the files of a store to a snapshot: unchanged files are taken from the last snapshot, all others are parsed in parallel.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tracing::info;

use crate::domain::{
    ItemStatus, Problem, Run, can_judge_again, escape_invisible, latest_outcome_revision,
    latest_revision,
};
use crate::files;
use crate::results::{
    HeaderlessFolder, ItemLine, MAX_LINE_BYTES, ScoreLine, SealedReader, StoreContents,
    for_each_line, read_opened_header,
};

use super::facts::{FactInterner, NO_FACTS};
use super::intern::{ItemKeyInterner, TextInterner, id_from_len};
use super::item_file::{ItemFile, path_text};
use super::items::{LineDictionary, OutcomeBlock, OutcomeCell, OwnScore, ScoreKind};
use super::matrix::RowScores;
use super::progress::Progress;
use super::snapshot::{HeaderUnit, ItemUnit, JudgedFolder, NO_FACT_COLUMN, Snapshot, StoredRow};
use super::source_stamp::FileStamp;
use super::statuses::Statuses;
use super::totals::ItemTotals;

/// Block size: large enough that items repeat within a block, small enough to keep two cores busy with little memory.
const BLOCK_BYTES: u64 = 16 << 20;

/// What is read at once: it stays in a core's cache until it is parsed.
const READ_BYTES: u64 = 256 << 10;

/// Several shares per thread even out slow ones; each share costs a dictionary.
const SHARES_PER_THREAD: u64 = 4;

/// Item files whose outcomes are put into rows together. Few, because rows need memory until their lists are numbered.
const FILES_PER_STEP: usize = 64;

/// Headers whose memory is allocated at once. Together they stay below the size that the C library maps separately (128 KiB).
const HEADERS_PER_STEP: usize = 48;
const HEADER_HEAP_BYTES: usize = 2 << 10;

/// The present content of the stores.
pub(super) struct IngestedStores {
    /// With the lakes that `old` had.
    pub snapshot: Snapshot,
    /// The item files, in the order of the snapshot's item units.
    pub files: Vec<ItemFile>,
    /// Whether the snapshot differs from the previous one.
    pub changed: bool,
}

/// Reads the files that `old` does not have yet.
pub(super) fn ingest_stores(
    contents: &[StoreContents],
    old: Option<Snapshot>,
    progress: &Progress,
) -> IngestedStores {
    let mut old = old.unwrap_or_default();
    let known_headers = old.headers.len();
    let headers = read_header_units(contents, std::mem::take(&mut old.headers), progress);
    let files = list_item_files(contents, headers.iter().map(|(unit, _)| unit));

    let mut known: HashMap<String, ItemUnit> = std::mem::take(&mut old.items)
        .into_iter()
        .map(|unit| (unit.path.clone(), unit))
        .collect();
    let known_units = known.len();
    let mut units: Vec<Option<ItemUnit>> = Vec::with_capacity(files.len());
    let mut fresh = Vec::new();
    for file in &files {
        let stamp = FileStamp::from_path(&file.path);
        let path = path_text(&file.path);
        let is_known = |unit: &ItemUnit| {
            stamp.as_ref().is_ok_and(|stamp| unit.stamp == *stamp) && unit.standing == file.standing
        };
        match known.remove(&path).filter(is_known) {
            Some(unit) => units.push(Some(unit)),
            None => {
                fresh.push((units.len(), file.clone(), stamp));
                units.push(None);
            }
        }
    }
    info!(
        known = headers.iter().filter(|(_, is_new)| !is_new).count(),
        read = headers.iter().filter(|(_, is_new)| *is_new).count(),
        runs = headers
            .iter()
            .map(|(unit, _)| unit.runs.len())
            .sum::<usize>(),
        "run files"
    );
    info!(
        known = files.len() - fresh.len(),
        read = fresh.len(),
        bytes = fresh
            .iter()
            .map(|(_, _, stamp)| stamped_length(stamp))
            .sum::<u64>(),
        "outcome files"
    );
    let headers_changed =
        headers.iter().any(|(_, is_new)| *is_new) || headers.len() != known_headers;
    let changed = headers_changed || !fresh.is_empty() || known_units != units.len();

    let lakes = std::mem::take(&mut old.lakes);
    let mut merge = SnapshotBuilder::from_snapshot(old);
    let (dictionaries, parsed) = parse_files(&fresh, progress);
    info!(
        lines = parsed
            .iter()
            .flat_map(|file| &file.blocks)
            .map(|(_, block)| block.lines)
            .sum::<usize>(),
        outcomes = parsed
            .iter()
            .flat_map(|file| &file.blocks)
            .map(|(_, block)| block.cells.len())
            .sum::<usize>(),
        "outcomes read"
    );
    let numbers: Vec<DictionaryIds> = dictionaries
        .iter()
        .map(|dictionary| merge.intern_dictionary(dictionary))
        .collect();
    drop(dictionaries);
    let mut parsed = parsed.into_iter();
    for files in fresh.chunks(FILES_PER_STEP) {
        let parsed: Vec<ParsedItemFile> = parsed.by_ref().take(files.len()).collect();
        let gathered: Vec<GatheredRows> = files
            .par_iter()
            .zip(parsed)
            .map(|((_, file, _), parsed)| merge.gather_rows(file, parsed, &numbers))
            .collect();
        for ((place, file, stamp), gathered) in files.iter().zip(gathered) {
            units[*place] = Some(merge.build_unit(
                file,
                *stamp.as_ref().unwrap_or(&FileStamp::default()),
                gathered,
            ));
        }
    }
    let snapshot = Snapshot {
        headers: headers.into_iter().map(|(unit, _)| unit).collect(),
        items: units.into_iter().flatten().collect(),
        lakes,
        ..merge.finish()
    };
    IngestedStores {
        snapshot,
        files,
        changed,
    }
}

/// A file of headers in a store.
struct HeaderSource<'a> {
    path: &'a Path,
    scores: Option<&'a Path>,
    is_sealed: bool,
    /// By run name: the folders of its store without a header.
    headless: &'a HashMap<&'a str, &'a HeaderlessFolder>,
}

impl HeaderSource<'_> {
    /// Returns the folders with judgements of a sealed pair's runs.
    fn judged_folders(&self, runs: &[Arc<Run>]) -> io::Result<Vec<JudgedFolder>> {
        if !self.is_sealed || self.headless.is_empty() {
            return Ok(Vec::new());
        }
        let folder = |one: &&HeaderlessFolder| -> io::Result<JudgedFolder> {
            Ok(JudgedFolder {
                run: one.run_id().to_owned(),
                folder: path_text(&one.folder),
                items: one.items.as_deref().map(path_text),
                scores_stamp: one
                    .scores
                    .as_deref()
                    .map(FileStamp::from_path)
                    .transpose()?,
            })
        };
        runs.iter()
            .filter_map(|run| self.headless.get(run.id.as_str()))
            .map(folder)
            .collect()
    }
}

/// Reads every changed header file. The flag is true for files read now.
fn read_header_units(
    contents: &[StoreContents],
    old: Vec<HeaderUnit>,
    progress: &Progress,
) -> Vec<(HeaderUnit, bool)> {
    let headless: Vec<HashMap<&str, &HeaderlessFolder>> = contents
        .iter()
        .map(|contents| {
            contents
                .headless
                .iter()
                .map(|one| (one.run_id(), one))
                .collect()
        })
        .collect();
    let sources = contents
        .iter()
        .zip(&headless)
        .flat_map(|(contents, headless)| {
            let own = contents
                .headers
                .iter()
                .map(|file| (&file.path, file.scores.as_deref(), false));
            let all = own.chain(contents.sealed.iter().map(|pair| (&pair.runs, None, true)));
            all.map(move |(path, scores, is_sealed)| HeaderSource {
                path,
                scores,
                is_sealed,
                headless,
            })
        });
    let mut old: HashMap<String, HeaderUnit> = old
        .into_iter()
        .map(|unit| (unit.path.clone(), unit))
        .collect();
    let known: Vec<(HeaderSource<'_>, String, Option<HeaderUnit>)> = sources
        .map(|source| {
            let path = path_text(source.path);
            let unit = old.remove(&path);
            (source, path, unit)
        })
        .collect();
    progress.begin_phase("reading runs", known.len() as u64);
    let units = known
        .into_par_iter()
        .with_max_len(HEADERS_PER_STEP)
        .map_init(grow_heap, |(), (source, path, unit)| {
            progress.advance(1);
            let scores_stamp = source.scores.map(FileStamp::from_path).transpose();
            let is_unchanged = |unit: &HeaderUnit| {
                scores_stamp
                    .as_ref()
                    .is_ok_and(|stamp| unit.scores_stamp == *stamp)
                    && FileStamp::from_path(source.path).is_ok_and(|stamp| unit.stamp == stamp)
                    && source
                        .judged_folders(&unit.runs)
                        .is_ok_and(|judged| unit.judged == judged)
            };
            match unit.filter(is_unchanged) {
                Some(unit) => (unit, false),
                None => (
                    read_header_unit(&source, path, scores_stamp.unwrap_or_default()),
                    true,
                ),
            }
        })
        .collect();
    progress.end_phase();
    units
}

/// Allocates and frees the memory that the next few headers need. The C library grows a thread's heap page by page, each with a system call
/// that stops all threads; allocating a block first makes one call for many small texts.
fn grow_heap() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        HEADERS_PER_STEP * HEADER_HEAP_BYTES,
    )));
}

fn read_header_unit(
    source: &HeaderSource<'_>,
    path: String,
    scores_stamp: Option<FileStamp>,
) -> HeaderUnit {
    let opened =
        files::open(source.path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let (file, metadata) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let problem = Problem::unread_file(escape_invisible(&path), &error);
            return HeaderUnit {
                path,
                stamp: FileStamp::default(),
                scores_stamp,
                judged: Vec::new(),
                runs: Vec::new(),
                problems: vec![problem],
            };
        }
    };
    let stamp = FileStamp::from_metadata(&metadata);
    let (mut runs, mut problems) = if source.is_sealed {
        SealedReader::read_runs(source.path)
    } else {
        match read_opened_header(source.path, file, &metadata) {
            Ok(run) => (vec![run], Vec::new()),
            Err(problems) => (Vec::new(), problems.0),
        }
    };
    if let (Some(scores), [run]) = (source.scores, runs.as_mut_slice()) {
        ScoreLine::add_to_run(ScoreLine::read_all(scores, &mut problems), run);
    }
    let mut runs: Vec<Arc<Run>> = runs.into_iter().map(Arc::new).collect();
    // List the judgements before reading scores, so that a later change is noticed next time.
    let judged = source.judged_folders(&runs).unwrap_or_else(|error| {
        problems.push(Problem::unread_file(escape_invisible(&path), &error));
        Vec::new()
    });
    for run in &mut runs {
        if let Some(scores) = source
            .headless
            .get(run.id.as_str())
            .filter(|_| source.is_sealed)
            .and_then(|one| one.scores.as_deref())
        {
            ScoreLine::add_to_run(
                ScoreLine::read_all(scores, &mut problems),
                Arc::make_mut(run),
            );
        }
    }
    HeaderUnit {
        path,
        stamp,
        scores_stamp,
        judged,
        runs,
        problems,
    }
}

/// Lists the item files of readable headers.
fn list_item_files<'a>(
    contents: &[StoreContents],
    headers: impl Iterator<Item = &'a HeaderUnit> + Clone,
) -> Vec<ItemFile> {
    let with_journal: HashSet<String> = contents
        .iter()
        .flat_map(|contents| &contents.headers)
        .filter(|header| header.items.is_some())
        .map(|header| path_text(&header.path))
        .collect();
    let run_of: HashMap<&str, &Run> = headers
        .clone()
        .filter(|unit| with_journal.contains(&unit.path))
        .filter_map(|unit| Some((unit.path.as_str(), unit.only_run()?)))
        .collect();
    let mut files = Vec::new();
    for contents in contents {
        for header in &contents.headers {
            let run = header
                .items
                .as_ref()
                .and_then(|_| run_of.get(path_text(&header.path).as_str()));
            if let (Some(items), Some(run)) = (&header.items, run) {
                let (path, standing) = (items.clone(), latest_revisions(run));
                files.push(ItemFile {
                    path,
                    journal_of: Some(run.id.clone()),
                    is_of_judges: false,
                    standing,
                    elsewhere: None,
                });
            }
        }
        files.extend(
            contents
                .sealed
                .iter()
                .filter_map(|pair| pair.items.clone())
                .map(|path| ItemFile {
                    path,
                    journal_of: None,
                    is_of_judges: false,
                    standing: Vec::new(),
                    elsewhere: None,
                }),
        );
    }
    // A run in several pairs is judged once.
    let mut known = HashSet::new();
    for (unit, judged) in
        headers.flat_map(|unit| unit.judged.iter().map(move |judged| (unit, judged)))
    {
        let run = unit.runs.iter().find(|run| run.id.as_str() == judged.run);
        if let Some((run, items)) = run
            .zip(judged.items.as_ref())
            .filter(|(_, items)| known.insert(items.as_str()))
        {
            let (path, standing) = (PathBuf::from(items), latest_revisions(run));
            files.push(ItemFile {
                path,
                journal_of: Some(run.id.clone()),
                is_of_judges: true,
                standing,
                elsewhere: None,
            });
        }
    }
    files
}

/// Returns the current revision of each judged evaluator, except those at revision 0, which is most of them.
fn latest_revisions(run: &Run) -> Vec<(String, u32)> {
    if run.scores.iter().all(|score| score.revision == 0) {
        return Vec::new();
    }
    let evaluators: BTreeSet<&str> = run
        .scores
        .iter()
        .map(|score| score.metric.as_str())
        .collect();
    let standing = |evaluator: &str| {
        Some((
            evaluator.to_owned(),
            latest_outcome_revision(evaluator, &run.scores)?,
        ))
    };
    evaluators
        .into_iter()
        .filter_map(standing)
        .filter(|(_, revision)| *revision > 0)
        .collect()
}

/// One file's blocks in order, each with the number of its dictionary, and the reason if reading ended early.
#[derive(Default)]
pub(super) struct ParsedItemFile {
    pub blocks: Vec<(usize, OutcomeBlock)>,
    pub failure: Option<Problem>,
}

/// A range of a file. The lines that begin in it are read together.
struct ByteRange {
    file: usize,
    start: u64,
    end: u64,
}

fn parse_files(
    files: &[(usize, ItemFile, io::Result<FileStamp>)],
    progress: &Progress,
) -> (Vec<LineDictionary>, Vec<ParsedItemFile>) {
    let mut dictionaries = Vec::new();
    let mut parsed: Vec<ParsedItemFile> = files.iter().map(|_| ParsedItemFile::default()).collect();
    if files.is_empty() {
        return (dictionaries, parsed);
    }
    progress.begin_phase(
        "reading outcomes",
        files
            .iter()
            .map(|(_, _, stamp)| stamped_length(stamp))
            .sum(),
    );
    let mut ranges = Vec::new();
    for (file, (_, item_file, stamp)) in files.iter().enumerate() {
        if item_file.journal_of.is_none() {
            parsed[file] = parse_compressed(&item_file.path, &mut dictionaries, progress);
        } else {
            // An unknown length is an error, not zero.
            parsed[file].failure = stamp
                .as_ref()
                .err()
                .map(|error| incomplete_read(&item_file.path, error));
            let mut start = 0;
            while start < stamped_length(stamp) {
                let end = (start + BLOCK_BYTES).min(stamped_length(stamp));
                ranges.push(ByteRange { file, start, end });
                start = end;
            }
        }
    }
    let shares: Vec<(LineDictionary, Vec<io::Result<OutcomeBlock>>)> = split_ranges(&ranges)
        .into_par_iter()
        .map(|share| {
            let (mut dictionary, mut buffer) = (LineDictionary::default(), Vec::new());
            let blocks = share.iter().map(|range| {
                let (_, file, _) = &files[range.file];
                let mut block = OutcomeBlock::default();
                read_lines(&file.path, range.start, range.end, &mut buffer, |lines| {
                    dictionary.parse_lines(lines, file.journal_of.as_ref(), &mut block);
                })?;
                progress.advance(range.end - range.start);
                Ok(block)
            });
            let blocks = blocks.collect();
            (dictionary, blocks)
        })
        .collect();
    let mut range = ranges.iter();
    for (dictionary, blocks) in shares {
        for (range, block) in range.by_ref().take(blocks.len()).zip(blocks) {
            match block {
                Ok(block) => parsed[range.file].blocks.push((dictionaries.len(), block)),
                Err(error) => {
                    parsed[range.file].failure =
                        Some(incomplete_read(&files[range.file].1.path, &error));
                }
            }
        }
        dictionaries.push(dictionary);
    }
    progress.end_phase();
    (dictionaries, parsed)
}

/// Returns the length of a file, or 0 if it is unknown.
fn stamped_length(stamp: &io::Result<FileStamp>) -> u64 {
    stamp.as_ref().map_or(0, |stamp| stamp.bytes)
}

/// Splits the ranges into enough groups of neighbours to keep every thread busy. Neighbours share a dictionary.
fn split_ranges(ranges: &[ByteRange]) -> Vec<&[ByteRange]> {
    let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let wanted = bytes / (rayon::current_num_threads() as u64 * SHARES_PER_THREAD) + 1;
    let mut shares = Vec::new();
    let (mut first, mut held) = (0, 0);
    for (index, range) in ranges.iter().enumerate() {
        held += range.end - range.start;
        if held >= wanted || index + 1 == ranges.len() {
            shares.push(&ranges[first..=index]);
            (first, held) = (index + 1, 0);
        }
    }
    shares
}

/// Calls `each` with the lines that begin in `start..end`, a few at a time.
fn read_lines(
    path: &Path,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&[u8]),
) -> io::Result<()> {
    buffer.clear();
    let mut file = files::open(path)?;
    // One byte before the start shows whether a line begins exactly there.
    let from = start.saturating_sub(1);
    file.seek(SeekFrom::Start(from))?;
    let mut within = (&mut file).take(end - from);
    let mut is_begun = start == 0;
    loop {
        let held = buffer.len();
        if within.by_ref().take(READ_BYTES).read_to_end(buffer)? == 0 {
            break;
        }
        if !is_begun {
            let Some(place) = memchr::memchr(b'\n', buffer) else {
                // The line belongs to the range where it began.
                buffer.clear();
                continue;
            };
            is_begun = true;
            buffer.drain(..=place);
        }
        let fresh = held.min(buffer.len());
        if let Some(place) = memchr::memrchr(b'\n', &buffer[fresh..]) {
            let whole = fresh + place + 1;
            each(&buffer[..whole]);
            buffer.drain(..whole);
        }
    }
    if !buffer.is_empty() {
        let mut rest = BufReader::with_capacity(64 << 10, file);
        rest.by_ref()
            .take(MAX_LINE_BYTES as u64)
            .read_until(b'\n', buffer)?;
        each(buffer);
    }
    Ok(())
}

/// Decompresses blocks of whole lines on this thread and parses a few of them in parallel.
fn parse_compressed(
    path: &Path,
    dictionaries: &mut Vec<LineDictionary>,
    progress: &Progress,
) -> ParsedItemFile {
    let mut parsed = ParsedItemFile::default();
    let mut reader = match SealedReader::open_items(path) {
        Ok(reader) => reader,
        Err(error) => {
            return ParsedItemFile {
                failure: Some(incomplete_read(path, &error)),
                ..parsed
            };
        }
    };
    let first = dictionaries.len();
    let mut own: Vec<LineDictionary> = std::iter::repeat_with(LineDictionary::default)
        .take(rayon::current_num_threads().max(2))
        .collect();
    let mut rest = Vec::new();
    let mut at_end = false;
    while !at_end {
        let mut texts = Vec::new();
        while texts.len() < own.len() && !at_end {
            let mut text = std::mem::take(&mut rest);
            let wanted = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
            text.reserve(wanted);
            match reader.by_ref().take(BLOCK_BYTES).read_to_end(&mut text) {
                Ok(0) => at_end = true,
                Ok(_) if text.len() > MAX_LINE_BYTES + wanted => {
                    parsed.failure = Some(Problem::in_file(
                        display_path(path),
                        format!("has a line of more than {MAX_LINE_BYTES} bytes"),
                    ));
                    at_end = true;
                }
                Ok(_) => {
                    let whole = memchr::memrchr(b'\n', &text).map_or(0, |place| place + 1);
                    rest = text.split_off(whole);
                }
                Err(error) => {
                    parsed.failure = Some(incomplete_read(path, &error));
                    at_end = true;
                }
            }
            texts.push(text);
        }
        let blocks: Vec<OutcomeBlock> = own
            .par_iter_mut()
            .zip(&texts)
            .map(|(dictionary, text)| {
                let mut block = OutcomeBlock::default();
                dictionary.parse_lines(text, None, &mut block);
                block
            })
            .collect();
        parsed.blocks.extend((first..).zip(blocks));
    }
    dictionaries.append(&mut own);
    progress.advance(FileStamp::from_path(path).map_or(0, |stamp| stamp.bytes));
    parsed
}

/// Describes an error in reading outcomes: either the file is damaged, or the system failed and a later read may succeed.
fn incomplete_read(path: &Path, error: &io::Error) -> Problem {
    match error.raw_os_error() {
        Some(_) => Problem::unread_file(display_path(path), error),
        None => Problem::in_file(
            display_path(path),
            format!("cannot be read to its end: {error}"),
        ),
    }
}

fn display_path(path: &Path) -> String {
    escape_invisible(&path_text(path))
}

/// The numbers in a [`SnapshotBuilder`] of a dictionary's entries.
pub(super) struct DictionaryIds {
    runs: Vec<u32>,
    keys: Vec<u32>,
    /// Pairs of item and facts.
    told: Vec<(u32, u32)>,
}

/// One outcome, with numbers of a [`SnapshotBuilder`].
#[derive(Clone, Copy)]
struct InternedOutcome {
    run: u32,
    key: u32,
    attempt: u32,
    revision: u32,
    /// The number of the line's facts about the item.
    facts: u32,
    status: ItemStatus,
    score: ScoreKind,
}

/// Lists of numbers that many rows share.
#[derive(Default)]
struct ListInterner {
    lists: Vec<Vec<u32>>,
    numbers: hashbrown::HashMap<Vec<u32>, u32>,
}

impl ListInterner {
    fn from_lists(lists: Vec<Vec<u32>>) -> Self {
        let mut all = Self::default();
        for list in lists {
            all.intern(list);
        }
        all
    }

    fn intern(&mut self, list: Vec<u32>) -> u32 {
        if let Some(found) = self.numbers.get(&list) {
            return *found;
        }
        let next = id_from_len(self.lists.len());
        self.lists.push(list.clone());
        self.numbers.insert(list, next);
        next
    }
}

/// The dictionaries that all units share.
pub(super) struct SnapshotBuilder {
    runs: TextInterner,
    keys: ItemKeyInterner,
    facts: FactInterner,
    item_sets: ListInterner,
    /// The first column has no facts: [`NO_FACT_COLUMN`].
    fact_columns: ListInterner,
}

impl SnapshotBuilder {
    /// Begins with the dictionaries of a snapshot.
    pub fn from_snapshot(old: Snapshot) -> Self {
        let (mut runs, mut keys, mut facts) = (
            TextInterner::default(),
            ItemKeyInterner::default(),
            FactInterner::default(),
        );
        for run in &old.run_ids {
            runs.intern(run);
        }
        for key in &old.keys {
            keys.intern(key.kind, &key.evaluator, &key.item);
        }
        for known in &old.facts {
            facts.intern_owned(known);
        }
        let mut fact_columns = ListInterner::from_lists(vec![Vec::new()]);
        for column in old.fact_columns {
            fact_columns.intern(column);
        }
        Self {
            runs,
            keys,
            facts,
            item_sets: ListInterner::from_lists(old.item_sets),
            fact_columns,
        }
    }

    /// Returns the number of a run.
    pub fn intern_run(&mut self, id: &str) -> u32 {
        self.runs.intern(id)
    }

    /// Returns the id of a run by its number.
    pub fn run_id(&self, number: u32) -> &str {
        &self.runs.names[number as usize]
    }

    /// Returns this merge's numbers of a dictionary's entries.
    pub fn intern_dictionary(&mut self, dictionary: &LineDictionary) -> DictionaryIds {
        let runs = dictionary
            .runs
            .names
            .iter()
            .map(|run| self.runs.intern(run))
            .collect();
        let keys: Vec<u32> = dictionary
            .keys
            .entries
            .iter()
            .map(|key| self.keys.intern(key.kind, &key.evaluator, &key.item))
            .collect();
        let facts: Vec<u32> = dictionary
            .told
            .facts
            .known
            .iter()
            .map(|facts| self.facts.intern_owned(facts))
            .collect();
        let told = dictionary
            .told
            .pairs
            .iter()
            .map(|(key, said)| (keys[*key as usize], facts[*said as usize]))
            .collect();
        DictionaryIds { runs, keys, told }
    }

    /// Puts the outcomes of a file into rows.
    pub fn gather_rows(
        &self,
        file: &ItemFile,
        parsed: ParsedItemFile,
        numbers: &[DictionaryIds],
    ) -> GatheredRows {
        gather_file(file, parsed, numbers, &self.keys)
    }

    /// Makes the unit of one file.
    pub fn build_unit(
        &mut self,
        file: &ItemFile,
        stamp: FileStamp,
        gathered: GatheredRows,
    ) -> ItemUnit {
        let GatheredRows {
            rows,
            totals,
            problems,
        } = gathered;
        let rows = rows.into_iter().map(|row| self.store_row(row)).collect();
        ItemUnit {
            path: path_text(&file.path),
            stamp,
            standing: file.standing.clone(),
            rows,
            totals,
            problems,
        }
    }

    fn store_row(&mut self, row: InternedRow) -> StoredRow {
        let InternedRow {
            run,
            attempt,
            keys,
            facts,
            statuses,
            scores,
        } = row;
        let is_known = facts.iter().any(|facts| *facts != NO_FACTS);
        let facts = if is_known {
            self.fact_columns.intern(facts)
        } else {
            NO_FACT_COLUMN
        };
        StoredRow {
            run,
            attempt,
            items: self.item_sets.intern(keys),
            facts,
            statuses,
            scores,
        }
    }

    /// Returns the dictionaries as a snapshot without units.
    pub fn finish(self) -> Snapshot {
        Snapshot {
            stores: Vec::new(),
            headers: Vec::new(),
            items: Vec::new(),
            lakes: Vec::new(),
            run_ids: self.runs.names,
            keys: self.keys.entries,
            item_sets: self.item_sets.lists,
            facts: self.facts.known,
            fact_columns: self.fact_columns.lists,
        }
    }
}

/// What a file holds, with the numbers of a [`SnapshotBuilder`].
pub(super) struct GatheredRows {
    rows: Vec<InternedRow>,
    totals: Vec<(u32, ItemTotals)>,
    problems: Vec<Problem>,
}

/// One attempt of one run: its items, and for each its facts and its status.
struct InternedRow {
    run: u32,
    attempt: u32,
    keys: Vec<u32>,
    facts: Vec<u32>,
    statuses: Statuses,
    scores: RowScores,
}

/// Puts the outcomes of a file into rows. `all_keys` are those of the merge.
fn gather_file(
    file: &ItemFile,
    parsed: ParsedItemFile,
    numbers: &[DictionaryIds],
    all_keys: &ItemKeyInterner,
) -> GatheredRows {
    let mut problems = Vec::new();
    let shown = display_path(&file.path);
    let mut first_line = 1;
    let mut totals: HashMap<u32, ItemTotals> = HashMap::new();
    let mut scores = Vec::new();
    let mut outcomes = Vec::with_capacity(
        parsed
            .blocks
            .iter()
            .map(|(_, block)| block.cells.len())
            .sum(),
    );
    for (dictionary, block) in parsed.blocks {
        let DictionaryIds { runs, keys, told } = &numbers[dictionary];
        problems.extend(
            block
                .problems
                .into_iter()
                .map(|(line, message)| Problem::at_line(&shown, first_line + line, message)),
        );
        first_line += block.lines;
        // Totals are of the imported lines, without judgements.
        for (run, block_totals) in block.totals.iter().filter(|_| !file.is_of_judges) {
            totals
                .entry(runs[*run as usize])
                .or_default()
                .merge(block_totals);
        }
        scores.extend(block.scores.iter().map(|score| OwnScore {
            run: runs[score.run as usize],
            key: keys[score.key as usize],
            ..*score
        }));
        outcomes.extend(block.cells.iter().map(|cell| {
            let (key, facts) = told[cell.told as usize];
            let OutcomeCell {
                attempt,
                revision,
                status,
                score,
                ..
            } = *cell;
            InternedOutcome {
                run: runs[cell.run as usize],
                key,
                facts,
                attempt,
                revision,
                status,
                score,
            }
        }));
    }
    problems.extend(parsed.failure);
    let mut totals: Vec<(u32, ItemTotals)> = totals.into_iter().collect();
    totals.sort_by_key(|(run, _)| *run);
    if file.journal_of.is_some() {
        drop_superseded(&mut outcomes, file, all_keys);
    }
    GatheredRows {
        rows: group_rows(outcomes, scores),
        totals,
        problems,
    }
}

/// Drops judge outcomes of all but the current revision.
fn drop_superseded(outcomes: &mut Vec<InternedOutcome>, file: &ItemFile, keys: &ItemKeyInterner) {
    let evaluator =
        |outcome: &InternedOutcome| keys.entries[outcome.key as usize].evaluator.as_str();
    if file.is_of_judges {
        outcomes.retain(|outcome| can_judge_again(evaluator(outcome)) && outcome.revision > 0);
    }
    if file.standing.is_empty() && outcomes.iter().all(|outcome| outcome.revision == 0) {
        return;
    }
    outcomes.retain(|outcome| file.may_count(evaluator(outcome), outcome.revision));
}

/// Groups the outcomes by run and attempt, with one current revision each.
fn group_rows(mut outcomes: Vec<InternedOutcome>, mut scores: Vec<OwnScore>) -> Vec<InternedRow> {
    // The sort is stable: lines of one revision keep their order.
    outcomes.sort_by_key(|outcome| (outcome.run, outcome.attempt, outcome.key, outcome.revision));
    scores.sort_by_key(|score| (score.run, score.attempt, score.key, score.revision));
    let mut rows = Vec::new();
    let mut newest_ones = Vec::new();
    for group in
        outcomes.chunk_by(|left, right| (left.run, left.attempt) == (right.run, right.attempt))
    {
        let (mut keys, mut statuses) = (
            Vec::with_capacity(group.len()),
            Vec::with_capacity(group.len()),
        );
        let mut facts = Vec::with_capacity(group.len());
        for same in group.chunk_by(|left, right| left.key == right.key) {
            let Some(newest) = latest_revision(same.iter().copied(), |outcome| outcome.revision)
            else {
                continue;
            };
            keys.push(newest.key);
            statuses.push(newest.status);
            // A later revision without facts leaves earlier ones in force.
            facts.push(
                same.iter()
                    .rev()
                    .map(|outcome| outcome.facts)
                    .find(|facts| *facts != NO_FACTS)
                    .unwrap_or(NO_FACTS),
            );
            newest_ones.push(newest);
        }
        let scores = row_scores(&newest_ones, &scores);
        newest_ones.clear();
        rows.push(InternedRow {
            run: group[0].run,
            attempt: group[0].attempt,
            keys,
            facts,
            statuses: statuses.into_iter().collect(),
            scores,
        });
    }
    rows
}

/// Returns the scores of one attempt's outcomes. `scores` are those that contain more than a status, sorted by run, attempt, key and
/// revision.
fn row_scores(outcomes: &[InternedOutcome], scores: &[OwnScore]) -> RowScores {
    let is_judged =
        |outcome: &&InternedOutcome| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail);
    if !outcomes
        .iter()
        .any(|outcome| outcome.score == ScoreKind::Own)
    {
        let mut judged = outcomes.iter().filter(is_judged).peekable();
        let is_image =
            judged.peek().is_some() && judged.all(|outcome| outcome.score == ScoreKind::Image);
        return if is_image {
            RowScores::Images
        } else {
            RowScores::Absent
        };
    }
    let score = |outcome: &InternedOutcome| match outcome.score {
        ScoreKind::Absent => None,
        ScoreKind::Image => Some(f64::from(u8::from(outcome.status == ItemStatus::Pass))),
        ScoreKind::Own => {
            let place = (outcome.run, outcome.attempt, outcome.key, outcome.revision);
            // Of two lines of one revision the later one counts.
            let end = scores.partition_point(|score| {
                (score.run, score.attempt, score.key, score.revision) <= place
            });
            end.checked_sub(1).map(|last| scores[last].value)
        }
    };
    RowScores::Own(outcomes.iter().map(score).collect())
}

/// Reads one file's item lines without their details, in order. Lines of other runs than the wanted may be left out, and unreadable ones,
/// which were reported when the store was opened, are. Fails if the system cannot read the file.
pub(super) fn for_each_item(
    file: &ItemFile,
    is_wanted: &dyn Fn(&str) -> bool,
    mut each: impl FnMut(&ItemLine<'_>),
) -> io::Result<()> {
    match &file.elsewhere {
        Some(lines) => lines.for_each_item(is_wanted, &mut each),
        None => for_each_item_line(file, is_wanted, |line| {
            if let Ok(item) = ItemLine::parse(line) {
                each(&item);
            }
        }),
    }
}

/// Reads one file's item lines strictly in order, up to any damage, which was reported when the store was opened. Lines of other runs than
/// the wanted may be left out. Fails if the system cannot read the file.
pub(super) fn for_each_item_line(
    file: &ItemFile,
    is_wanted: &dyn Fn(&str) -> bool,
    each: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut each = each;
    let mut good = |_: usize, line: Result<&[u8], _>| {
        if let Some(line) = line.ok().filter(|line| file.accepts_line(line)) {
            each(line);
        }
    };
    if let Some(lines) = &file.elsewhere {
        return lines.for_each_line(is_wanted, &mut each);
    }
    let read = match file.journal_of {
        Some(_) => for_each_line(
            BufReader::with_capacity(1 << 20, files::open(&file.path)?),
            &mut good,
        ),
        None => for_each_line(
            BufReader::with_capacity(1 << 20, SealedReader::open_items(&file.path)?),
            &mut good,
        ),
    };
    read.or_else(|error| {
        if error.raw_os_error().is_some() {
            Err(error)
        } else {
            Ok(())
        }
    })
}
