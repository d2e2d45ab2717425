//! From the files of a store to a snapshot: unchanged files are taken from the last snapshot, all others are parsed in parallel.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tracing::info;

use crate::domain::{
    ItemStatus, Problem, Run, is_asked_again, standing, standing_revision, visible,
};
use crate::files;
use crate::results::{
    Contents, Headless, ItemLine, MAX_LINE_BYTES, ScoreLine, SealedReader, for_each_line,
    read_opened_header,
};

use super::facts::{FactNumbers, NOTHING};
use super::intern::{Keys, Texts, number};
use super::item_file::{ItemFile, path_text};
use super::items::{Block, Cell, Dictionary, Mark, Score};
use super::matrix::RowScores;
use super::progress::Progress;
use super::snapshot::{HeaderUnit, ItemUnit, JudgedFolder, NOTHING_KNOWN, Snapshot, StoredRow};
use super::statuses::Statuses;
use super::totals::ItemTotals;
use super::unit::Stamp;

/// Block size: large enough that items repeat within a block, small enough to keep two cores busy with little memory.
const BLOCK_BYTES: u64 = 16 << 20;

/// What is read at once: it stays in a core's cache until it is parsed.
const PIECE_BYTES: u64 = 256 << 10;

/// Several shares per thread even out slow ones; each share costs a dictionary.
const SHARES_PER_THREAD: u64 = 4;

/// Item files whose outcomes are put into rows together. Few, because rows need memory until their lists are numbered.
const FILES_PER_STEP: usize = 64;

/// Headers whose memory is allocated at once. Together they stay below the size that the C library maps separately (128 KiB).
const HEADERS_PER_STEP: usize = 48;
const HEADER_MEMORY: usize = 2 << 10;

/// The present content of the stores.
pub(super) struct Ingested {
    /// With the lakes that `old` had.
    pub snapshot: Snapshot,
    /// The item files, in the order of the snapshot's item units.
    pub files: Vec<ItemFile>,
    /// Whether the snapshot differs from the previous one.
    pub changed: bool,
}

/// Reads the files that `old` does not have yet.
pub(super) fn ingest(
    contents: &[Contents],
    old: Option<Snapshot>,
    progress: &Progress,
) -> Ingested {
    let mut old = old.unwrap_or_default();
    let known_headers = old.headers.len();
    let headers = header_units(contents, std::mem::take(&mut old.headers), progress);
    let files = item_files(contents, headers.iter().map(|(unit, _)| unit));

    let mut known: HashMap<String, ItemUnit> = std::mem::take(&mut old.items)
        .into_iter()
        .map(|unit| (unit.path.clone(), unit))
        .collect();
    let known_units = known.len();
    let mut units: Vec<Option<ItemUnit>> = Vec::with_capacity(files.len());
    let mut fresh = Vec::new();
    for file in &files {
        let stamp = Stamp::of(&file.path);
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
        bytes = fresh.iter().map(|(_, _, stamp)| bytes(stamp)).sum::<u64>(),
        "outcome files"
    );
    let headers_changed =
        headers.iter().any(|(_, is_new)| *is_new) || headers.len() != known_headers;
    let changed = headers_changed || !fresh.is_empty() || known_units != units.len();

    let lakes = std::mem::take(&mut old.lakes);
    let mut merge = Merge::over(old);
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
    let numbers: Vec<Numbers> = dictionaries
        .iter()
        .map(|dictionary| merge.numbers(dictionary))
        .collect();
    drop(dictionaries);
    let mut parsed = parsed.into_iter();
    for files in fresh.chunks(FILES_PER_STEP) {
        let parsed: Vec<Parsed> = parsed.by_ref().take(files.len()).collect();
        let gathered: Vec<Gathered> = files
            .par_iter()
            .zip(parsed)
            .map(|((_, file, _), parsed)| merge.gathered(file, parsed, &numbers))
            .collect();
        for ((place, file, stamp), gathered) in files.iter().zip(gathered) {
            units[*place] =
                Some(merge.unit(file, *stamp.as_ref().unwrap_or(&Stamp::default()), gathered));
        }
    }
    let snapshot = Snapshot {
        headers: headers.into_iter().map(|(unit, _)| unit).collect(),
        items: units.into_iter().flatten().collect(),
        lakes,
        ..merge.finish()
    };
    Ingested {
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
    headless: &'a HashMap<&'a str, &'a Headless>,
}

impl HeaderSource<'_> {
    /// Returns the folders with judgements of a sealed pair's runs.
    fn judged(&self, runs: &[Arc<Run>]) -> io::Result<Vec<JudgedFolder>> {
        if !self.is_sealed || self.headless.is_empty() {
            return Ok(Vec::new());
        }
        let folder = |one: &&Headless| -> io::Result<JudgedFolder> {
            Ok(JudgedFolder {
                run: one.run().to_owned(),
                folder: path_text(&one.folder),
                items: one.items.as_deref().map(path_text),
                scores_stamp: one.scores.as_deref().map(Stamp::of).transpose()?,
            })
        };
        runs.iter()
            .filter_map(|run| self.headless.get(run.id.as_str()))
            .map(folder)
            .collect()
    }
}

/// Reads every changed header file. The flag is true for files read now.
fn header_units(
    contents: &[Contents],
    old: Vec<HeaderUnit>,
    progress: &Progress,
) -> Vec<(HeaderUnit, bool)> {
    let headless: Vec<HashMap<&str, &Headless>> = contents
        .iter()
        .map(|contents| {
            contents
                .headless
                .iter()
                .map(|one| (one.run(), one))
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
    progress.begin("reading runs", known.len() as u64);
    let units = known
        .into_par_iter()
        .with_max_len(HEADERS_PER_STEP)
        .map_init(grow_heap, |(), (source, path, unit)| {
            progress.advance(1);
            let scores_stamp = source.scores.map(Stamp::of).transpose();
            let is_unchanged = |unit: &HeaderUnit| {
                scores_stamp
                    .as_ref()
                    .is_ok_and(|stamp| unit.scores_stamp == *stamp)
                    && Stamp::of(source.path).is_ok_and(|stamp| unit.stamp == stamp)
                    && source
                        .judged(&unit.runs)
                        .is_ok_and(|judged| unit.judged == judged)
            };
            match unit.filter(is_unchanged) {
                Some(unit) => (unit, false),
                None => (
                    read_unit(&source, path, scores_stamp.unwrap_or_default()),
                    true,
                ),
            }
        })
        .collect();
    progress.end();
    units
}

/// Allocates and frees the memory that the next few headers need. The C library grows a thread's heap page by page, each with a system call
/// that stops all threads; allocating a block first makes one call for many small texts.
fn grow_heap() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(
        HEADERS_PER_STEP * HEADER_MEMORY,
    )));
}

fn read_unit(source: &HeaderSource<'_>, path: String, scores_stamp: Option<Stamp>) -> HeaderUnit {
    let opened =
        files::open(source.path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let (file, metadata) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let problem = Problem::unread(visible(&path), &error);
            return HeaderUnit {
                path,
                stamp: Stamp::default(),
                scores_stamp,
                judged: Vec::new(),
                runs: Vec::new(),
                problems: vec![problem],
            };
        }
    };
    let stamp = Stamp::from_metadata(&metadata);
    let (mut runs, mut problems) = if source.is_sealed {
        SealedReader::runs(source.path)
    } else {
        match read_opened_header(source.path, file, &metadata) {
            Ok(run) => (vec![run], Vec::new()),
            Err(problems) => (Vec::new(), problems.0),
        }
    };
    if let (Some(scores), [run]) = (source.scores, runs.as_mut_slice()) {
        ScoreLine::add_all(ScoreLine::read_all(scores, &mut problems), run);
    }
    let mut runs: Vec<Arc<Run>> = runs.into_iter().map(Arc::new).collect();
    // List the judgements before reading scores, so that a later change is noticed next time.
    let judged = source.judged(&runs).unwrap_or_else(|error| {
        problems.push(Problem::unread(visible(&path), &error));
        Vec::new()
    });
    for run in &mut runs {
        if let Some(scores) = source
            .headless
            .get(run.id.as_str())
            .filter(|_| source.is_sealed)
            .and_then(|one| one.scores.as_deref())
        {
            ScoreLine::add_all(
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
fn item_files<'a>(
    contents: &[Contents],
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
                let (path, standing) = (items.clone(), standing_revisions(run));
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
            let (path, standing) = (PathBuf::from(items), standing_revisions(run));
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
fn standing_revisions(run: &Run) -> Vec<(String, u32)> {
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
            standing_revision(evaluator, &run.scores)?,
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
pub(super) struct Parsed {
    pub blocks: Vec<(usize, Block)>,
    pub failure: Option<Problem>,
}

/// A range of a file. The lines that begin in it are read together.
struct Range {
    file: usize,
    start: u64,
    end: u64,
}

fn parse_files(
    files: &[(usize, ItemFile, io::Result<Stamp>)],
    progress: &Progress,
) -> (Vec<Dictionary>, Vec<Parsed>) {
    let mut dictionaries = Vec::new();
    let mut parsed: Vec<Parsed> = files.iter().map(|_| Parsed::default()).collect();
    if files.is_empty() {
        return (dictionaries, parsed);
    }
    progress.begin(
        "reading outcomes",
        files.iter().map(|(_, _, stamp)| bytes(stamp)).sum(),
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
                .map(|error| cut_short(&item_file.path, error));
            let mut start = 0;
            while start < bytes(stamp) {
                let end = (start + BLOCK_BYTES).min(bytes(stamp));
                ranges.push(Range { file, start, end });
                start = end;
            }
        }
    }
    let shares: Vec<(Dictionary, Vec<io::Result<Block>>)> = shares(&ranges)
        .into_par_iter()
        .map(|share| {
            let (mut dictionary, mut buffer) = (Dictionary::default(), Vec::new());
            let blocks = share.iter().map(|range| {
                let (_, file, _) = &files[range.file];
                let mut block = Block::default();
                read_lines(&file.path, range.start, range.end, &mut buffer, |lines| {
                    dictionary.parse(lines, file.journal_of.as_ref(), &mut block);
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
                    parsed[range.file].failure = Some(cut_short(&files[range.file].1.path, &error))
                }
            }
        }
        dictionaries.push(dictionary);
    }
    progress.end();
    (dictionaries, parsed)
}

/// Returns the length of a file, or 0 if it is unknown.
fn bytes(stamp: &io::Result<Stamp>) -> u64 {
    stamp.as_ref().map_or(0, |stamp| stamp.bytes)
}

/// Splits the ranges into enough groups of neighbours to keep every thread busy. Neighbours share a dictionary.
fn shares(ranges: &[Range]) -> Vec<&[Range]> {
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
        if within.by_ref().take(PIECE_BYTES).read_to_end(buffer)? == 0 {
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
    dictionaries: &mut Vec<Dictionary>,
    progress: &Progress,
) -> Parsed {
    let mut parsed = Parsed::default();
    let mut reader = match SealedReader::items(path) {
        Ok(reader) => reader,
        Err(error) => {
            return Parsed {
                failure: Some(cut_short(path, &error)),
                ..parsed
            };
        }
    };
    let first = dictionaries.len();
    let mut own: Vec<Dictionary> = std::iter::repeat_with(Dictionary::default)
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
                        path_shown(path),
                        format!("has a line of more than {MAX_LINE_BYTES} bytes"),
                    ));
                    at_end = true;
                }
                Ok(_) => {
                    let whole = memchr::memrchr(b'\n', &text).map_or(0, |place| place + 1);
                    rest = text.split_off(whole);
                }
                Err(error) => {
                    parsed.failure = Some(cut_short(path, &error));
                    at_end = true;
                }
            }
            texts.push(text);
        }
        let blocks: Vec<Block> = own
            .par_iter_mut()
            .zip(&texts)
            .map(|(dictionary, text)| {
                let mut block = Block::default();
                dictionary.parse(text, None, &mut block);
                block
            })
            .collect();
        parsed.blocks.extend((first..).zip(blocks));
    }
    dictionaries.append(&mut own);
    progress.advance(Stamp::of(path).map_or(0, |stamp| stamp.bytes));
    parsed
}

/// Describes an error in reading outcomes: either the file is damaged, or the system failed and a later read may succeed.
fn cut_short(path: &Path, error: &io::Error) -> Problem {
    match error.raw_os_error() {
        Some(_) => Problem::unread(path_shown(path), error),
        None => Problem::in_file(
            path_shown(path),
            format!("cannot be read to its end: {error}"),
        ),
    }
}

fn path_shown(path: &Path) -> String {
    visible(&path_text(path))
}

/// The numbers in a [`Merge`] of a dictionary's entries.
pub(super) struct Numbers {
    runs: Vec<u32>,
    keys: Vec<u32>,
    /// Pairs of item and facts.
    told: Vec<(u32, u32)>,
}

/// One outcome, with numbers of a [`Merge`].
#[derive(Clone, Copy)]
struct Outcome {
    run: u32,
    key: u32,
    attempt: u32,
    revision: u32,
    /// The number of the line's facts about the item.
    facts: u32,
    status: ItemStatus,
    score: Mark,
}

/// Lists of numbers that many rows share.
#[derive(Default)]
struct Lists {
    lists: Vec<Vec<u32>>,
    numbers: hashbrown::HashMap<Vec<u32>, u32>,
}

impl Lists {
    fn of(lists: Vec<Vec<u32>>) -> Self {
        let mut all = Self::default();
        for list in lists {
            all.number(list);
        }
        all
    }

    fn number(&mut self, list: Vec<u32>) -> u32 {
        if let Some(found) = self.numbers.get(&list) {
            return *found;
        }
        let next = number(self.lists.len());
        self.lists.push(list.clone());
        self.numbers.insert(list, next);
        next
    }
}

/// The dictionaries that all units share.
pub(super) struct Merge {
    runs: Texts,
    keys: Keys,
    facts: FactNumbers,
    item_sets: Lists,
    /// The first column has no facts: [`NOTHING_KNOWN`].
    fact_columns: Lists,
}

impl Merge {
    /// Begins with the dictionaries of a snapshot.
    pub fn over(old: Snapshot) -> Self {
        let (mut runs, mut keys, mut facts) =
            (Texts::default(), Keys::default(), FactNumbers::default());
        for run in &old.run_ids {
            runs.intern(run);
        }
        for key in &old.keys {
            keys.intern(key.kind, &key.evaluator, &key.item);
        }
        for known in &old.facts {
            facts.of(known);
        }
        let mut fact_columns = Lists::of(vec![Vec::new()]);
        for column in old.fact_columns {
            fact_columns.number(column);
        }
        Self {
            runs,
            keys,
            facts,
            item_sets: Lists::of(old.item_sets),
            fact_columns,
        }
    }

    /// Returns the number of a run.
    pub fn run(&mut self, id: &str) -> u32 {
        self.runs.intern(id)
    }

    /// Returns the id of a run by its number.
    pub fn run_id(&self, number: u32) -> &str {
        &self.runs.names[number as usize]
    }

    /// Returns this merge's numbers of a dictionary's entries.
    pub fn numbers(&mut self, dictionary: &Dictionary) -> Numbers {
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
            .map(|facts| self.facts.of(facts))
            .collect();
        let told = dictionary
            .told
            .pairs
            .iter()
            .map(|(key, said)| (keys[*key as usize], facts[*said as usize]))
            .collect();
        Numbers { runs, keys, told }
    }

    /// Puts the outcomes of a file into rows.
    pub fn gathered(&self, file: &ItemFile, parsed: Parsed, numbers: &[Numbers]) -> Gathered {
        gather(file, parsed, numbers, &self.keys)
    }

    /// Makes the unit of one file.
    pub fn unit(&mut self, file: &ItemFile, stamp: Stamp, gathered: Gathered) -> ItemUnit {
        let Gathered {
            rows,
            totals,
            problems,
        } = gathered;
        let rows = rows.into_iter().map(|row| self.stored(row)).collect();
        ItemUnit {
            path: path_text(&file.path),
            stamp,
            standing: file.standing.clone(),
            rows,
            totals,
            problems,
        }
    }

    fn stored(&mut self, row: Row) -> StoredRow {
        let Row {
            run,
            attempt,
            keys,
            facts,
            statuses,
            scores,
        } = row;
        let is_known = facts.iter().any(|facts| *facts != NOTHING);
        let facts = if is_known {
            self.fact_columns.number(facts)
        } else {
            NOTHING_KNOWN
        };
        StoredRow {
            run,
            attempt,
            items: self.item_sets.number(keys),
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

/// What a file holds, with the numbers of a [`Merge`].
pub(super) struct Gathered {
    rows: Vec<Row>,
    totals: Vec<(u32, ItemTotals)>,
    problems: Vec<Problem>,
}

/// One attempt of one run: its items, and for each its facts and its status.
struct Row {
    run: u32,
    attempt: u32,
    keys: Vec<u32>,
    facts: Vec<u32>,
    statuses: Statuses,
    scores: RowScores,
}

/// Puts the outcomes of a file into rows. `all_keys` are those of the merge.
fn gather(file: &ItemFile, parsed: Parsed, numbers: &[Numbers], all_keys: &Keys) -> Gathered {
    let mut problems = Vec::new();
    let shown = path_shown(&file.path);
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
        let Numbers { runs, keys, told } = &numbers[dictionary];
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
        scores.extend(block.scores.iter().map(|score| Score {
            run: runs[score.run as usize],
            key: keys[score.key as usize],
            ..*score
        }));
        outcomes.extend(block.cells.iter().map(|cell| {
            let (key, facts) = told[cell.told as usize];
            let Cell {
                attempt,
                revision,
                status,
                score,
                ..
            } = *cell;
            Outcome {
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
        drop_unfinished(&mut outcomes, file, all_keys);
    }
    Gathered {
        rows: rows(outcomes, scores),
        totals,
        problems,
    }
}

/// Drops judge outcomes of all but the current revision.
fn drop_unfinished(outcomes: &mut Vec<Outcome>, file: &ItemFile, keys: &Keys) {
    let evaluator = |outcome: &Outcome| keys.entries[outcome.key as usize].evaluator.as_str();
    if file.is_of_judges {
        outcomes.retain(|outcome| is_asked_again(evaluator(outcome)) && outcome.revision > 0);
    }
    if file.standing.is_empty() && outcomes.iter().all(|outcome| outcome.revision == 0) {
        return;
    }
    outcomes.retain(|outcome| file.may_stand(evaluator(outcome), outcome.revision));
}

/// Groups the outcomes by run and attempt, with one current revision each.
fn rows(mut outcomes: Vec<Outcome>, mut scores: Vec<Score>) -> Vec<Row> {
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
            let Some(newest) = standing(same.iter().copied(), |outcome| outcome.revision) else {
                continue;
            };
            keys.push(newest.key);
            statuses.push(newest.status);
            // A later revision without facts leaves earlier ones in force.
            facts.push(
                same.iter()
                    .rev()
                    .map(|outcome| outcome.facts)
                    .find(|facts| *facts != NOTHING)
                    .unwrap_or(NOTHING),
            );
            newest_ones.push(newest);
        }
        let scores = row_scores(&newest_ones, &scores);
        newest_ones.clear();
        rows.push(Row {
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
fn row_scores(outcomes: &[Outcome], scores: &[Score]) -> RowScores {
    let is_judged =
        |outcome: &&Outcome| matches!(outcome.status, ItemStatus::Pass | ItemStatus::Fail);
    if !outcomes.iter().any(|outcome| outcome.score == Mark::Own) {
        let mut judged = outcomes.iter().filter(is_judged).peekable();
        let is_image =
            judged.peek().is_some() && judged.all(|outcome| outcome.score == Mark::Image);
        return if is_image {
            RowScores::Images
        } else {
            RowScores::Absent
        };
    }
    let score = |outcome: &Outcome| match outcome.score {
        Mark::Absent => None,
        Mark::Image => Some(f64::from(u8::from(outcome.status == ItemStatus::Pass))),
        Mark::Own => {
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
pub(super) fn each_item_of(
    file: &ItemFile,
    is_wanted: &dyn Fn(&str) -> bool,
    mut each: impl FnMut(&ItemLine<'_>),
) -> io::Result<()> {
    match &file.elsewhere {
        Some(lines) => lines.each_item(is_wanted, &mut each),
        None => each_item_line_of(file, is_wanted, |line| {
            if let Ok(item) = ItemLine::parse(line) {
                each(&item);
            }
        }),
    }
}

/// Reads one file's item lines strictly in order, up to any damage, which was reported when the store was opened. Lines of other runs than
/// the wanted may be left out. Fails if the system cannot read the file.
pub(super) fn each_item_line_of(
    file: &ItemFile,
    is_wanted: &dyn Fn(&str) -> bool,
    each: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut each = each;
    let mut good = |_: usize, line: Result<&[u8], _>| {
        if let Some(line) = line.ok().filter(|line| file.takes(line)) {
            each(line);
        }
    };
    if let Some(lines) = &file.elsewhere {
        return lines.each(is_wanted, &mut each);
    }
    let read = match file.journal_of {
        Some(_) => for_each_line(
            BufReader::with_capacity(1 << 20, files::open(&file.path)?),
            &mut good,
        ),
        None => for_each_line(
            BufReader::with_capacity(1 << 20, SealedReader::items(&file.path)?),
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
