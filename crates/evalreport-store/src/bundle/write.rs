//! Packing runs into a bundle.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::domain::{
    Acceptance, ItemDetails, ItemOutcome, Problem, Problems, Run, RunId, Secrets, escape_invisible,
};
use crate::files;

use super::super::header::StoredHeader;
use super::super::{
    AtomicOutput, ItemLine, Retraction, ScoreLine, SealedPair, SealedReader, StoreError,
    TranscriptLine, acceptance, details_of, for_each_line, item_line, presence,
};
use super::decisions::BundleDecisions;
use super::judged::JudgementsHeader;
use super::output_file::BundledFile;
use super::{
    BUNDLE_FORMAT, BundleCounts, BundleExtent, BundleHeader, BundleTrailer, FORMAT_WITH_DECISIONS,
    FORMAT_WITH_JUDGED, PairHeader, is_key, partial_key,
};

/// Bundles are written once and copied often: a smaller size is worth some time.
const COMPRESSION_LEVEL: i32 = 9;

enum BundleSink {
    Plain(BufWriter<AtomicOutput>),
    Compressed(BufWriter<zstd::Encoder<'static, AtomicOutput>>),
}

impl BundleSink {
    fn write_line(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(line.as_bytes()),
            Self::Compressed(writer) => writer.write_all(line.as_bytes()),
        }
    }

    fn finish(self) -> io::Result<AtomicOutput> {
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
pub trait BundleRewriter {
    fn rewrite_run(&mut self, run: &mut Run);
    fn rewrite_outcome(&mut self, outcome: &mut ItemOutcome, details: &mut ItemDetails);
    fn rewrite_score(&mut self, score: &mut ScoreLine);
    fn rewrite_acceptance(&mut self, accepted: &mut Acceptance);
    fn rewrite_tombstone(&mut self, retracted: &mut Retraction);
}

/// Writes one bundle. Dropping it without [`BundleWriter::commit`] leaves nothing behind.
pub struct BundleWriter<'a> {
    path: PathBuf,
    extent: BundleExtent,
    /// Secrets of this process's environment. A bundle that contains one is refused.
    secrets: &'a Secrets,
    rewriter: Option<&'a mut dyn BundleRewriter>,
    sink: BundleSink,
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
        extent: BundleExtent,
        secrets: &'a Secrets,
        rewriter: Option<&'a mut dyn BundleRewriter>,
    ) -> Result<Self, StoreError> {
        let format = match parts {
            BundleParts {
                with_decisions: true,
                ..
            } => FORMAT_WITH_DECISIONS,
            BundleParts {
                with_judged: true, ..
            } => FORMAT_WITH_JUDGED,
            BundleParts { .. } => BUNDLE_FORMAT,
        };
        let file = AtomicOutput::create(path).map_err(StoreError::io("cannot write", path))?;
        let sink = if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            BundleSink::Plain(BufWriter::new(file))
        } else {
            let mut encoder = zstd::Encoder::new(file, COMPRESSION_LEVEL)
                .map_err(StoreError::io("cannot write", path))?;
            encoder
                .include_checksum(true)
                .map_err(StoreError::io("cannot write", path))?;
            BundleSink::Compressed(BufWriter::with_capacity(64 << 10, encoder))
        };
        let mut writer = Self {
            path: path.to_owned(),
            // A rewriter cannot change messages and files, so they are omitted.
            extent: if rewriter.is_some() {
                BundleExtent::Figures
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
        writer.write_line(|line| {
            push_json(
                line,
                &BundleHeader {
                    format: format.to_owned(),
                    runs: parts.runs as u64,
                },
            );
        })?;
        Ok(writer)
    }

    /// Packs an own run: its header and the files in its folder. Unreadable lines are skipped; opening the store reports them.
    pub fn write_own_run(&mut self, header_path: &Path) -> Result<(), StoreError> {
        let written =
            self.rewrite_header(StoredHeader::read_file(header_path).map_err(StoreError::Invalid)?);
        // Sealed records are copied byte for byte.
        let (run, is_sealed) = (&written.run, written.sealed.is_some());
        self.write_record("run", |line| line.push_str(&written.header_text()))?;
        let folder = header_path.with_extension("");
        self.for_each_file_line(
            &folder.join("items.jsonl"),
            |writer, bytes| match ItemLine::parse(bytes) {
                Ok(item) => writer.write_item(&item, &run.id, bytes, is_sealed, false),
                Err(_) => Ok(()),
            },
        )?;
        self.for_each_file_line(&folder.join("scores.jsonl"), |writer, bytes| {
            writer.write_score(bytes, is_sealed)
        })?;
        match self.extent {
            BundleExtent::Figures => Ok(()),
            BundleExtent::Whole => {
                self.for_each_file_line(&folder.join("transcript.jsonl"), |writer, bytes| {
                    match serde_json::from_slice::<TranscriptLine>(bytes) {
                        Ok(message) => writer.write_record("message", |line| {
                            match sealed_text(is_sealed, bytes) {
                                Some(raw) => line.push_str(raw),
                                None => push_json(line, &message),
                            }
                        }),
                        Err(_) => Ok(()),
                    }
                })?;
                self.write_output(&folder.join("output"))
            }
        }
    }

    /// Packs the runs of a sealed pair that have these ids.
    pub fn write_imported_runs(
        &mut self,
        pair: &SealedPair,
        ids: &BTreeSet<RunId>,
    ) -> Result<(), StoreError> {
        let readable = SealedReader::read_stored_headers(&pair.runs)
            .map_err(StoreError::io("cannot read", &pair.runs))?;
        let all = readable.len();
        let wanted = readable
            .into_iter()
            .filter(|(run, _)| ids.contains(&run.id));
        let runs = wanted
            .map(|(_, written)| written)
            .collect::<Result<Vec<StoredHeader>, Problems>>()
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
        self.write_record("source", |line| {
            push_json(
                line,
                &PairHeader {
                    key,
                    runs: runs.len() as u64,
                },
            );
        })?;
        let mut sealed = BTreeSet::new();
        for written in runs {
            let written = self.rewrite_header(written);
            self.write_record("imported", |line| line.push_str(&written.header_text()))?;
            if written.sealed.is_some() {
                sealed.insert(written.run.id);
            }
        }
        let Some(path) = &pair.items else {
            return Ok(());
        };
        let items = SealedReader::open_items(path).map_err(StoreError::io("cannot read", path))?;
        self.for_each_reader_line(
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
                    Some(run) => writer.write_item(&item, &run, bytes, sealed.contains(&run), true),
                    None => Ok(()),
                }
            },
        )
    }

    /// Packs the judgements of an imported run after its pair: the lines of `folder`, unchanged.
    pub fn write_judgements(&mut self, run: &RunId, folder: &Path) -> Result<(), StoreError> {
        self.write_record("judged", |line| {
            push_json(
                line,
                &JudgementsHeader {
                    run: run.to_string(),
                },
            );
        })?;
        self.for_each_file_line(
            &folder.join("items.jsonl"),
            |writer, bytes| match ItemLine::parse(bytes) {
                Ok(item) => writer.write_item(&item, run, bytes, true, false),
                Err(_) => Ok(()),
            },
        )?;
        self.for_each_file_line(&folder.join("scores.jsonl"), |writer, bytes| {
            writer.write_score(bytes, true)
        })
    }

    /// Packs what was decided about the runs, after all of them.
    pub fn write_decisions(&mut self, decisions: &BundleDecisions) -> Result<(), StoreError> {
        for one in &decisions.accepted {
            let mut one = one.clone();
            if let Some(rewriter) = &mut self.rewriter {
                rewriter.rewrite_acceptance(&mut one);
            }
            self.write_record("acceptance", |line| {
                line.push_str(&acceptance::to_line(&one));
            })?;
        }
        for one in &decisions.retracted {
            let mut one = one.clone();
            if let Some(rewriter) = &mut self.rewriter {
                rewriter.rewrite_tombstone(&mut one);
            }
            self.write_record("tombstone", |line| line.push_str(&one.to_line()))?;
        }
        Ok(())
    }

    fn rewrite_header(&mut self, mut written: StoredHeader) -> StoredHeader {
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.rewrite_run(&mut written.run);
            written.sealed = None;
        }
        written
    }

    /// Packs one outcome. If the line is sealed and nothing rewrites it, its bytes are copied.
    fn write_item(
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
        if let Some(raw) = sealed_text(is_sealed && self.rewriter.is_none(), bytes) {
            return self.write_record("item", |line| line.push_str(raw));
        }
        let mut details = details_of(bytes);
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.rewrite_outcome(&mut outcome, &mut details);
        }
        self.write_record("item", |line| {
            item_line::write_detailed_line(&outcome, &details, with_run, line);
        })
    }

    /// Packs one score, with the same rule as [`BundleWriter::write_item`].
    fn write_score(&mut self, bytes: &[u8], is_sealed: bool) -> Result<(), StoreError> {
        let Ok(mut score) = serde_json::from_slice::<ScoreLine>(bytes) else {
            return Ok(());
        };
        if let Some(raw) = sealed_text(is_sealed && self.rewriter.is_none(), bytes) {
            return self.write_record("score", |line| line.push_str(raw));
        }
        if let Some(rewriter) = &mut self.rewriter {
            rewriter.rewrite_score(&mut score);
        }
        self.write_record("score", |line| push_json(line, &score))
    }

    /// Finishes the file and moves it into place. Returns the number of outcomes, and the output files that the bundle omits.
    pub fn commit(mut self) -> Result<(u64, Vec<Problem>), StoreError> {
        let counts = BundleCounts {
            lines: Some(self.lines),
            items: self.items,
        };
        self.write_line(|line| push_json(line, &BundleTrailer { end: counts }))?;
        let file = self
            .sink
            .finish()
            .map_err(StoreError::io("cannot write", &self.path))?;
        file.commit()
            .map_err(StoreError::io("cannot write", &self.path))?;
        Ok((self.items, self.left_out))
    }

    /// Packs the files below a folder, in the order of their paths. Links are not followed.
    fn write_output(&mut self, folder: &Path) -> Result<(), StoreError> {
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
                let name = escape_invisible(&entry.path().display().to_string());
                self.left_out.push(Problem::in_file(
                    name,
                    "has a name that is not UTF-8, and is left out of the bundle",
                ));
                continue;
            };
            BundledFile::for_each_part(&parts.join("/"), entry.path(), |part| {
                self.write_record("file", |line| push_json(line, part))
                    .map_err(PackFileError::Write)
            })
            .map_err(|error| match error {
                PackFileError::Read(error) => StoreError::io("cannot read", entry.path())(error),
                PackFileError::Write(error) => error,
            })?;
        }
        Ok(())
    }

    fn for_each_file_line(
        &mut self,
        path: &Path,
        each: impl FnMut(&mut Self, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match files::open(path) {
            Ok(file) => {
                self.for_each_reader_line(path, BufReader::with_capacity(1 << 20, file), each)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(StoreError::io("cannot read", path)(error)),
        }
    }

    fn for_each_reader_line(
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
    fn write_record(
        &mut self,
        kind: &str,
        write: impl FnOnce(&mut String),
    ) -> Result<(), StoreError> {
        self.write_line(|line| {
            line.push_str("{\"");
            line.push_str(kind);
            line.push_str("\":");
            write(line);
            line.truncate(line.trim_end_matches('\n').len());
            line.push('}');
        })
    }

    fn write_line(&mut self, write: impl FnOnce(&mut String)) -> Result<(), StoreError> {
        self.line.clear();
        write(&mut self.line);
        if let Some(name) = self.secrets.first_in(self.line.as_bytes()) {
            let problem = Problem::in_file(
                escape_invisible(&self.path.display().to_string()),
                format!("would hold the value of ${name}"),
            )
            .with_hint("change the key, for it is in the results; then retract the runs");
            return Err(StoreError::Invalid(Problems(vec![problem])));
        }
        self.line.push('\n');
        self.lines += 1;
        self.sink
            .write_line(&self.line)
            .map_err(StoreError::io("cannot write", &self.path))
    }
}

/// Returns the text of a line that is copied unchanged.
fn sealed_text(is_sealed: bool, bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|_| is_sealed)
}

/// An error in packing a file: in reading it, or in writing the bundle.
enum PackFileError {
    Read(io::Error),
    Write(StoreError),
}

impl From<io::Error> for PackFileError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn push_json(line: &mut String, value: &impl Serialize) {
    line.push_str(&serde_json::to_string(value).expect("every key of it is text"));
}
