//! The item lines of one file, copied to disk with an index by run, so that each run's lines can be read when needed, and repeatedly.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use crate::domain::{ItemDetails, ItemKind, ItemOutcome, RunId, replaces_revision};
use crate::results::{ItemLine, details_of};

use super::display_names::DisplayNames;
use super::ingest::for_each_item_line;
use super::item_file::ItemFile;

/// The offset of a line, and its length.
type LineSpan = (u64, usize);

#[derive(Default)]
pub(super) struct LineSpool {
    file: Option<File>,
    places: HashMap<RunId, Vec<LineSpan>>,
}

impl LineSpool {
    /// Spools the lines of these runs.
    pub fn from_item_file<'a>(
        file: &ItemFile,
        runs: impl Iterator<Item = &'a RunId>,
    ) -> io::Result<Self> {
        let mut places: HashMap<RunId, Vec<LineSpan>> =
            runs.map(|run| (run.clone(), Vec::new())).collect();
        let mut writer = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let (mut at, mut written) = (0_u64, Ok(()));
        let wanted: HashSet<String> = places.keys().map(ToString::to_string).collect();
        for_each_item_line(file, &|run| wanted.contains(run), |line| {
            // Unreadable lines were reported when the store was opened.
            let (Ok(()), Ok(item)) = (&written, ItemLine::parse(line)) else {
                return;
            };
            let named = item.run.as_deref().and_then(|run| RunId::parse(run).ok());
            let Some(places) = file
                .journal_of
                .clone()
                .or(named)
                .and_then(|run| places.get_mut(&run))
            else {
                return;
            };
            places.push((at, line.len()));
            at += line.len() as u64;
            written = writer.write_all(line);
        })?;
        written?;
        Ok(Self {
            file: Some(
                writer
                    .into_inner()
                    .map_err(io::IntoInnerError::into_error)?,
            ),
            places,
        })
    }

    /// Returns the lines of a run. Only one run's lines may be read at a time.
    pub fn take_run(&mut self, run: &RunId) -> io::Result<RunLines> {
        let reader = self
            .file
            .as_ref()
            .map(File::try_clone)
            .transpose()?
            .map(|file| BufReader::with_capacity(256 << 10, file));
        Ok(RunLines {
            reader,
            places: self.places.remove(run).unwrap_or_default(),
        })
    }
}

/// The lines of one run.
#[derive(Default)]
pub(super) struct RunLines {
    reader: Option<BufReader<File>>,
    places: Vec<LineSpan>,
}

impl RunLines {
    /// Calls `each` with every line.
    pub fn for_each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(reader) = &mut self.reader else {
            return Ok(());
        };
        let (mut line, mut at) = (Vec::new(), None);
        for (place, length) in &self.places {
            // A step within the buffer costs nothing, and most lines are adjacent.
            match at {
                Some(at) => reader.seek_relative(place.wrapping_sub(at).cast_signed())?,
                None => _ = reader.seek(SeekFrom::Start(*place))?,
            }
            line.resize(*length, 0);
            reader.read_exact(&mut line)?;
            at = Some(place + *length as u64);
            each(&line)?;
        }
        Ok(())
    }

    /// Keeps only the lines that count: one of each outcome.
    pub fn keep_latest(&mut self, file: &ItemFile, run: &RunId) -> io::Result<()> {
        let mut standing: HashMap<(ItemKind, String, String, u32), (u32, usize)> = HashMap::new();
        let mut place = 0;
        self.for_each(|line| {
            if let Some(outcome) = parse_outcome(line, run)
                .filter(|outcome| file.may_count(&outcome.evaluator, outcome.revision))
            {
                let newest = standing
                    .entry((
                        outcome.kind,
                        outcome.evaluator,
                        outcome.item,
                        outcome.attempt,
                    ))
                    .or_insert((outcome.revision, place));
                if replaces_revision(outcome.revision, newest.0) {
                    *newest = (outcome.revision, place);
                }
            }
            place += 1;
            Ok::<(), io::Error>(())
        })?;
        if standing.len() < self.places.len() {
            let kept: HashSet<usize> = standing.into_values().map(|(_, place)| place).collect();
            let mut place = 0..;
            self.places
                .retain(|_| place.next().is_some_and(|place| kept.contains(&place)));
        }
        Ok(())
    }
}

fn parse_outcome(line: &[u8], run: &RunId) -> Option<ItemOutcome> {
    (ItemLine {
        run: None,
        ..ItemLine::parse(line).ok()?
    })
    .to_outcome(run)
    .ok()
}

/// The outcomes of one run that count, in line order.
pub struct RunOutcomes<'a> {
    run: RunId,
    names: &'a DisplayNames,
    /// By file.
    lines: Vec<RunLines>,
}

impl<'a> RunOutcomes<'a> {
    pub(super) fn new(run: &RunId, names: &'a DisplayNames, lines: Vec<RunLines>) -> Self {
        Self {
            run: run.clone(),
            names,
            lines,
        }
    }

    /// Calls `each` with every outcome, under its display names, and its details.
    pub fn for_each<E: From<io::Error>>(
        &mut self,
        mut each: impl FnMut(&ItemOutcome, &ItemDetails) -> Result<(), E>,
    ) -> Result<(), E> {
        let (run, names) = (&self.run, self.names);
        let mut each = |line: &[u8]| {
            let Some(mut outcome) = parse_outcome(line, run) else {
                return Ok(());
            };
            names.rename_outcome(&mut outcome);
            each(&outcome, &details_of(line))
        };
        self.lines
            .iter_mut()
            .try_for_each(|lines| lines.for_each(&mut each))
    }
}
