//! Packing runs into a bundle.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::domain::{
    Acceptance, ItemDetails, ItemOutcome, Problem, Problems, Run, RunId, Secrets, visible,
};
use crate::files;

use super::super::header::WrittenRun;
use super::super::{
    ItemLine, Retraction, ScoreLine, SealedPair, SealedReader, StoreError, TranscriptLine,
    WholeFile, acceptance, details_of, for_each_line, item_line, presence,
};
use super::decisions::Decisions;
use super::judged::JudgedRun;
use super::output_file::OutputFile;
use super::{
    Closing, Counts, Extent, FORMAT, FORMAT_WITH_DECISIONS, FORMAT_WITH_JUDGED, Opening, Source,
    is_key, partial_key,
};

/// Bundles are written once and copied often: a smaller size is worth some time.
const COMPRESSION_LEVEL: i32 = 9;

enum Sink {
    Plain(BufWriter<WholeFile>),
    Compressed(BufWriter<zstd::Encoder<'static, WholeFile>>),
}

impl Sink {
    fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(line.as_bytes()),
            Self::Compressed(writer) => writer.write_all(line.as_bytes()),
        }
    }

    fn finish(self) -> io::Result<WholeFile> {
        match self {
            Self::Plain(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error),
            Self::Compressed(writer) => writer
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .finish(),
        }
    }
}

/// What a bundle will have, which its first line says.
#[derive(Clone, Copy, Debug, Default)]
pub struct BundleParts {
    pub runs: usize,
    /// Some are imported runs with judgements of their own.
    pub with_judged: bool,
    pub with_decisions: bool,
}

/// Changes records on their way into a bundle. A changed record loses its seal, which covered the original.
pub trait Rewriter {
    fn run(&mut self, run: &mut Run);
    fn outcome(&mut self, outcome: &mut ItemOutcome, details: &mut ItemDetails);
    fn score(&mut self, score: &mut ScoreLine);
    fn acceptance(&mut self, accepted: &mut Acceptance);
    fn tombstone(&mut self, retracted: &mut Retraction);
}

/// Writes one bundle. Dropping it without [`BundleWriter::commit`] leaves nothing behind.
pub struct BundleWriter<'a> {
    path: PathBuf,
    extent: Extent,
    /// Secrets of this process's environment. A bundle that contains one is refused.
    secrets: &'a Secrets,
    rewriter: Option<&'a mut dyn Rewriter>,
    sink: Sink,
    line: String,
    lines: u64,
    items: u64,
    left_out: Vec<Problem>,
}

impl<'a> BundleWriter<'a> {
    /// Creates the file.
    pub fn create(
        path: &Path,
        parts: BundleParts,
        extent: Extent,
        secrets: &'a Secrets,
        rewriter: Option<&'a mut dyn Rewriter>,
    ) -> Result<Self, StoreError> {
        let format = match parts {
            BundleParts {
                with_decisions: true,
                ..
            } => FORMAT_WITH_DECISIONS,
            BundleParts {
                with_judged: true, ..
            } => FORMAT_WITH_JUDGED,
            BundleParts { .. } => FORMAT,
        };
        let file = WholeFile::create(path).map_err(StoreError::io("cannot write", path))?;
        let sink = if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            Sink::Plain(BufWriter::new(file))
        } else {
            let mut encoder = zstd::Encoder::new(file, COMPRESSION_LEVEL)
                .map_err(StoreError::io("cannot write", path))?;
            encoder
                .include_checksum(true)
                .map_err(StoreError::io("cannot write", path))?;
            Sink::Compressed(BufWriter::with_capacity(64 << 10, encoder))
        };
        let mut writer = Self {
            path: path.to_owned(),
            // A rewriter cannot change messages and files, so they are omitted.
            extent: if rewriter.is_some() {
                Extent::Figures
            } else {
                extent
            },
            secrets,
            rewriter,
            sink,
            line: String::new(),
            lines: 0,
            items: 0,
            left_out: Vec::new(),
        };
        writer.line(|line| {
            json(
                line,
                &Opening {
                    format: format.to_owned(),
                    runs: parts.runs as u64,
                },
            )
        })?;
        Ok(writer)
    }

    /// Packs an own run: its header and the files in its folder. Unreadable lines are skipped; opening the store reports them.
    pub fn own_run(&mut self, header_path: &Path) -> Result<(), StoreError> {
        let written = self.rewritten(WrittenRun::read(header_path).map_err(StoreError::Invalid)?);
        // Sealed records are copied byte for byte.
        let (run, is_sealed) = (&written.run, written.sealed.is_some());
        self.record("run", |line| line.push_str(&written.text()))?;
        let folder = header_path.with_extension("");
        self.each_line_of(
            &folder.join("items.jsonl"),
            |writer, bytes| match ItemLine::parse(bytes) {
                Ok(item) => writer.item(&item, &run.id, bytes, is_sealed, false),
                Err(_) => Ok(()),
            },
        )?;
        self.each_line_of(&folder.join("scores.jsonl"), |writer, bytes| {
            writer.score(bytes, is_sealed)
        })?;
        match self.extent {
            Extent::Figures => Ok(()),
            Extent::Whole => {
                self.each_line_of(&folder.join("transcript.jsonl"), |writer, bytes| {
                    match serde_json::from_slice::<TranscriptLine>(bytes) {
                        Ok(message) => {
                            writer.record("message", |line| match raw(is_sealed, bytes) {
                                Some(raw) => line.push_str(raw),
                                None => json(line, &message),
                            })
                        }
                        Err(_) => Ok(()),
                    }
                })?;
                self.output(&folder.join("output"))
            }
        }
    }

    /// Packs the runs of a sealed pair that have these ids.
    pub fn imported(&mut self, pair: &SealedPair, ids: &BTreeSet<RunId>) -> Result<(), StoreError> {
        let readable =
            SealedReader::written(&pair.runs).map_err(StoreError::io("cannot read", &pair.runs))?;
        let all = readable.len();
        let wanted = readable
            .into_iter()
            .filter(|(run, _)| ids.contains(&run.id));
        let runs = wanted
            .map(|(_, written)| written)
            .collect::<Result<Vec<WrittenRun>, Problems>>()
            .map_err(StoreError::Invalid)?;
        let name = pair
            .runs
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".runs.jsonl"))
            .unwrap_or_default();
        let is_whole = runs.len() == all && is_key(name) && self.rewriter.is_none();
        let key = if is_whole {
            name.to_owned()
        } else {
            partial_key(name, runs.iter().map(|written| &written.run.id))
        };
        self.record("source", |line| {
            json(
                line,
                &Source {
                    key,
                    runs: runs.len() as u64,
                },
            )
        })?;
        let mut sealed = BTreeSet::new();
        for written in runs {
            let written = self.rewritten(written);
            self.record("imported", |line| line.push_str(&written.text()))?;
            if written.sealed.is_some() {
                sealed.insert(written.run.id);
            }
        }
        let Some(path) = &pair.items else {
            return Ok(());
        };
        let items = SealedReader::items(path).map_err(StoreError::io("cannot read", path))?;
        self.each_line(
            path,
            BufReader::with_capacity(1 << 20, items),
            |writer, bytes| {
                let Ok(item) = ItemLine::parse(bytes) else {
                    return Ok(());
                };
                match item
                    .run
                    .as_deref()
                    .and_then(|run| RunId::parse(run).ok())
                    .filter(|run| ids.contains(run))
                {
                    Some(run) => writer.item(&item, &run, bytes, sealed.contains(&run), true),
                    None => Ok(()),
                }
            },
        )
    }

    /// Packs the judgements of an imported run after its pair: the lines of `folder`, unchanged.
    pub fn judged(&mut self, run: &RunId, folder: &Path) -> Result<(), StoreError> {
        self.record("judged", |line| {
            json(
                line,
                &JudgedRun {
                    run: run.to_string(),
                },
            )
        })?;
        self.each_line_of(
            &folder.join("items.jsonl"),
            |writer, bytes| match ItemLine::parse(bytes) {
                Ok(item) => writer.item(&item, run, bytes, true, false),
                Err(_) => Ok(()),
            },
        )?;
        self.each_line_of(&folder.join("scores.jsonl"), |writer, bytes| {
            writer.score(bytes, true)
        })
    }

    /// Packs what was decided about the runs, after all of them.
    pub fn decisions(&mut self, decisions: &Decisions) -> Result<(), StoreError> {
        for one in &decisions.accepted {
            let mut one = one.clone();
            if let Some(rewriter) = &mut self.rewriter {
                rewriter.acceptance(&mut one);
            }
            self.record("acceptance", |line| {
                line.push_str(&acceptance::to_line(&one))
            })?;
        }
        for one in &decisions.retracted {
            let mut one = one.clone();
            if let Some(rewriter) = &mut self.rewriter {
                rewriter.tombstone(&mut one);
            }
            self.record("tombstone", |line| line.push_str(&one.to_line()))?;
        }
        Ok(())
    }

    fn rewritten(&mut self, mut written: WrittenRun) -> WrittenRun {
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.run(&mut written.run);
            written.sealed = None;
        }
        written
    }

    /// Packs one outcome. If the line is sealed and nothing rewrites it, its bytes are copied.
    fn item(
        &mut self,
        item: &ItemLine<'_>,
        run: &RunId,
        bytes: &[u8],
        is_sealed: bool,
        with_run: bool,
    ) -> Result<(), StoreError> {
        let Ok(mut outcome) = item.to_outcome(run) else {
            return Ok(());
        };
        self.items += 1;
        if let Some(raw) = raw(is_sealed && self.rewriter.is_none(), bytes) {
            return self.record("item", |line| line.push_str(raw));
        }
        let mut details = details_of(bytes);
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.outcome(&mut outcome, &mut details);
        }
        self.record("item", |line| {
            item_line::write_detailed_line(&outcome, &details, with_run, line)
        })
    }

    /// Packs one score, with the same rule as [`BundleWriter::item`].
    fn score(&mut self, bytes: &[u8], is_sealed: bool) -> Result<(), StoreError> {
        let Ok(mut score) = serde_json::from_slice::<ScoreLine>(bytes) else {
            return Ok(());
        };
        if let Some(raw) = raw(is_sealed && self.rewriter.is_none(), bytes) {
            return self.record("score", |line| line.push_str(raw));
        }
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.score(&mut score);
        }
        self.record("score", |line| json(line, &score))
    }

    /// Finishes the file and moves it into place. Returns the number of outcomes, and the output files that the bundle omits.
    pub fn commit(mut self) -> Result<(u64, Vec<Problem>), StoreError> {
        let counts = Counts {
            lines: Some(self.lines),
            items: self.items,
        };
        self.line(|line| json(line, &Closing { end: counts }))?;
        let file = self
            .sink
            .finish()
            .map_err(StoreError::io("cannot write", &self.path))?;
        file.commit()
            .map_err(StoreError::io("cannot write", &self.path))?;
        Ok((self.items, self.left_out))
    }

    /// Packs the files below a folder, in the order of their paths. Links are not followed.
    fn output(&mut self, folder: &Path) -> Result<(), StoreError> {
        if !presence::is_folder(folder).map_err(StoreError::io("cannot read", folder))? {
            return Ok(());
        }
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry =
                entry.map_err(|error| StoreError::io("cannot read", folder)(error.into()))?;
            if !entry.file_type().is_file() {
                continue;
            }
            let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let parts: Option<Vec<&str>> = relative
                .components()
                .map(|part| part.as_os_str().to_str())
                .collect();
            let Some(parts) = parts else {
                // One odd file name must not prevent packing everything else.
                let name = visible(&entry.path().display().to_string());
                self.left_out.push(Problem::in_file(
                    name,
                    "has a name that is not UTF-8, and is left out of the bundle",
                ));
                continue;
            };
            OutputFile::parts(&parts.join("/"), entry.path(), |part| {
                self.record("file", |line| json(line, part))
                    .map_err(Packing::Write)
            })
            .map_err(|error| match error {
                Packing::Read(error) => StoreError::io("cannot read", entry.path())(error),
                Packing::Write(error) => error,
            })?;
        }
        Ok(())
    }

    fn each_line_of(
        &mut self,
        path: &Path,
        each: impl FnMut(&mut Self, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match files::open(path) {
            Ok(file) => self.each_line(path, BufReader::with_capacity(1 << 20, file), each),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(StoreError::io("cannot read", path)(error)),
        }
    }

    fn each_line(
        &mut self,
        path: &Path,
        reader: impl BufRead,
        mut each: impl FnMut(&mut Self, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut written = Ok(());
        let read = for_each_line(reader, |_, line| {
            if let (Ok(line), Ok(())) = (line, &written) {
                written = each(self, line);
            }
        });
        written?;
        read.map_err(StoreError::io("cannot read", path))
    }

    /// Writes one record with the name of its kind. Text added by `write` may end in a line break.
    fn record(&mut self, kind: &str, write: impl FnOnce(&mut String)) -> Result<(), StoreError> {
        self.line(|line| {
            line.push_str("{\"");
            line.push_str(kind);
            line.push_str("\":");
            write(line);
            line.truncate(line.trim_end_matches('\n').len());
            line.push('}');
        })
    }

    fn line(&mut self, write: impl FnOnce(&mut String)) -> Result<(), StoreError> {
        self.line.clear();
        write(&mut self.line);
        if let Some(name) = self.secrets.first_in(self.line.as_bytes()) {
            let problem = Problem::in_file(
                visible(&self.path.display().to_string()),
                format!("would hold the value of ${name}"),
            )
            .with_hint("change the key, for it is in the results; then retract the runs");
            return Err(StoreError::Invalid(Problems(vec![problem])));
        }
        self.line.push('\n');
        self.lines += 1;
        self.sink
            .write(&self.line)
            .map_err(StoreError::io("cannot write", &self.path))
    }
}

/// Returns the text of a line that is copied unchanged.
fn raw(is_sealed: bool, bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|_| is_sealed)
}

/// An error in packing a file: in reading it, or in writing the bundle.
enum Packing {
    Read(io::Error),
    Write(StoreError),
}

impl From<io::Error> for Packing {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn json(line: &mut String, value: &impl Serialize) {
    line.push_str(&serde_json::to_string(value).expect("every key of it is text"));
}
