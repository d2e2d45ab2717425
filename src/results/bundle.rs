//! Bundles: some runs with their outcomes in one file, to carry to a machine that has no store.
//!
//! ```text
//! {"format":"evalreport/bundle/1","runs":2}      how many headers follow
//! {"format":"evalreport/result/1","id":…}        the headers, by id
//! {"run":…,"item":…}                             the outcomes
//! {"end":{"items":128}}                          how many they were: a file without this line is cut off
//! ```
//!
//! Plain where the name ends in `.jsonl`, else in one zstd frame with a checksum. Both are written and read line by line.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::domain::{ItemOutcome, Problem, Run, RunId, visible};

use super::{ItemLine, SealedWriter, Store, StoreError, durable, for_each_line, header, item_line};

const FORMAT: &str = "evalreport/bundle/1";
const FORMAT_PREFIX: &str = "evalreport/bundle/";
/// What a bundle begins with, whatever its version.
const OPENING: &[u8] = b"{\"format\":\"evalreport/bundle/";
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bundles are written once and carried around: smaller is worth a little time.
const COMPRESSION_LEVEL: i32 = 9;

#[derive(Serialize, Deserialize)]
struct Opening {
    format: String,
    runs: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Closing {
    end: Counts,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    items: u64,
}

enum Sink {
    Plain(BufWriter<NamedTempFile>),
    Compressed(BufWriter<zstd::Encoder<'static, NamedTempFile>>),
}

impl Sink {
    fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(line.as_bytes()),
            Self::Compressed(writer) => writer.write_all(line.as_bytes()),
        }
    }

    fn finish(self) -> io::Result<NamedTempFile> {
        match self {
            Self::Plain(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error),
            Self::Compressed(writer) => writer.into_inner().map_err(io::IntoInnerError::into_error)?.finish(),
        }
    }
}

/// Writes one bundle. Dropping it without [`BundleWriter::commit`] leaves nothing behind.
pub struct BundleWriter {
    path: PathBuf,
    sink: Sink,
    line: String,
    items: u64,
}

impl BundleWriter {
    /// Begins the file with the headers, which come in the order of their ids.
    pub fn create<'a>(path: &Path, runs: impl ExactSizeIterator<Item = &'a Run>) -> Result<Self, StoreError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(StoreError::io("cannot create", folder))?;
        let file = durable::temporary_in(folder).map_err(StoreError::io("cannot write in", folder))?;
        let sink = if path.extension().is_some_and(|extension| extension == "jsonl") {
            Sink::Plain(BufWriter::new(file))
        } else {
            let mut encoder = zstd::Encoder::new(file, COMPRESSION_LEVEL).map_err(StoreError::io("cannot write in", folder))?;
            encoder.include_checksum(true).map_err(StoreError::io("cannot write in", folder))?;
            Sink::Compressed(BufWriter::with_capacity(64 << 10, encoder))
        };
        let mut writer = Self { path: path.to_owned(), sink, line: String::new(), items: 0 };
        writer.json(&Opening { format: FORMAT.to_owned(), runs: runs.len() as u64 })?;
        for run in runs {
            let mut line = header::to_json(run);
            line.push('\n');
            writer.sink.write(&line).map_err(StoreError::io("cannot write", &writer.path))?;
        }
        Ok(writer)
    }

    pub fn item(&mut self, outcome: &ItemOutcome) -> Result<(), StoreError> {
        self.line.clear();
        item_line::write_item_line(outcome, true, &mut self.line);
        self.items += 1;
        self.sink.write(&self.line).map_err(StoreError::io("cannot write", &self.path))
    }

    /// Ends the file and puts it into its place; returns how many outcomes it holds.
    pub fn commit(mut self) -> Result<u64, StoreError> {
        let items = self.items;
        self.json(&Closing { end: Counts { items } })?;
        let file = self.sink.finish().map_err(StoreError::io("cannot write", &self.path))?;
        file.as_file().sync_all().map_err(StoreError::io("cannot sync", &self.path))?;
        file.persist(&self.path).map_err(|error| StoreError::io("cannot write", &self.path)(error.error))?;
        Ok(items)
    }

    fn json(&mut self, value: &impl Serialize) -> Result<(), StoreError> {
        let mut line = serde_json::to_string(value).expect("counts and text are JSON");
        line.push('\n');
        self.sink.write(&line).map_err(StoreError::io("cannot write", &self.path))
    }
}

/// Opens a file as it is, or decompressed.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut reader = BufReader::with_capacity(64 << 10, File::open(path)?);
    Ok(if reader.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        Box::new(BufReader::with_capacity(64 << 10, zstd::Decoder::with_buffer(reader)?))
    } else {
        Box::new(reader)
    })
}

/// Says whether a file begins like a bundle of some version.
pub fn is_bundle(path: &Path) -> io::Result<bool> {
    let mut start = Vec::with_capacity(OPENING.len());
    // What cannot be decompressed is no bundle either.
    let read = open(path)?.take(OPENING.len() as u64).read_to_end(&mut start);
    Ok(read.is_ok() && start == OPENING)
}

/// Unpacks a bundle into a store of its own, whose only content it becomes.
///
/// The first thing that is wrong ends it: a bundle was written by a program, so one that is wrong anywhere is damaged.
pub fn unpack(path: &Path, store: &Store) -> Result<Vec<RunId>, Problem> {
    let name = visible(&path.display().to_string());
    let in_file = |message: String| Problem::in_file(&name, message);
    let mut reading = Reading { state: State::Opening, runs: Vec::new(), ids: BTreeSet::new(), items: 0 };
    let mut writer = SealedWriter::create(store, "bundle").map_err(|error| in_file(error_text(&error)))?;
    let mut failure: Option<Problem> = None;
    let reader = open(path).map_err(|error| in_file(format!("cannot read: {error}")))?;
    let read = for_each_line(reader, |number, line| {
        if failure.is_none() {
            let taken = line.map_err(super::LineProblem::message).and_then(|line| reading.take(line, &mut writer));
            failure = taken.err().map(|message| Problem::at_line(&name, number, message));
        }
    });
    if let Some(problem) = failure {
        return Err(problem);
    }
    read.map_err(|error| in_file(format!("is damaged or cut off: {error}")))?;
    if reading.state != State::Closed {
        return Err(in_file("is cut off: its last line is missing".to_owned()));
    }
    writer.commit(&reading.runs).map_err(|error| in_file(error_text(&error)))?;
    Ok(reading.runs.into_iter().map(|run| run.id).collect())
}

fn error_text(error: &StoreError) -> String {
    let source = std::error::Error::source(error).map_or_else(String::new, |source| format!(": {source}"));
    visible(&format!("{error}{source}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Opening,
    /// So many headers are still to come.
    Headers(u64),
    Items,
    Closed,
}

struct Reading {
    state: State,
    runs: Vec<Run>,
    ids: BTreeSet<RunId>,
    items: u64,
}

impl Reading {
    fn take(&mut self, line: &[u8], writer: &mut SealedWriter) -> Result<(), String> {
        match self.state {
            State::Opening => {
                let opening: Opening = serde_json::from_slice(line).map_err(|_| format!("is not the first line of a `{FORMAT}` file"))?;
                match opening.format.strip_prefix(FORMAT_PREFIX).and_then(|version| version.parse::<u32>().ok()) {
                    Some(0 | 1) => {}
                    Some(_) => return Err(format!("`{}` was written by a newer evalreport than this one", visible(&opening.format))),
                    None => return Err(format!("`{}` is not `{FORMAT}`", visible(&opening.format))),
                }
                self.state = if opening.runs == 0 { State::Items } else { State::Headers(opening.runs) };
            }
            State::Headers(left) => {
                let run = header::parse_header(line, "", None, None).map_err(|problems| {
                    let first = problems.0.into_iter().next().map_or_else(String::new, |problem| problem.message);
                    format!("is not the header of a run: {first}")
                })?;
                if !self.ids.insert(run.id.clone()) {
                    return Err(format!("holds the run `{}` again", run.id));
                }
                self.runs.push(run);
                self.state = if left == 1 { State::Items } else { State::Headers(left - 1) };
            }
            State::Items if line.starts_with(b"{\"end\"") => {
                let closing: Closing = serde_json::from_slice(line).map_err(|_| "is not the last line of a bundle".to_owned())?;
                if closing.end.items != self.items {
                    return Err(format!("says {} outcomes, but there are {}", closing.end.items, self.items));
                }
                self.state = State::Closed;
            }
            State::Items => {
                let item = ItemLine::parse(line).map_err(|error| error.0)?;
                let run = item.run.as_deref().ok_or_else(|| "names no run".to_owned()).and_then(RunId::parse)?;
                if !self.ids.contains(&run) {
                    return Err(format!("is of the run `{run}`, which the bundle has no header of"));
                }
                let outcome = item.to_outcome(&run).map_err(|error| error.0)?;
                writer.item(&outcome).map_err(|error| error_text(&error))?;
                self.items += 1;
            }
            State::Closed => return Err("comes after the last line of the bundle".to_owned()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemKind, ItemStatus};

    fn outcome(run: &Run, item: &str) -> ItemOutcome {
        ItemOutcome {
            run: run.id.clone(),
            kind: ItemKind::Test,
            item: item.to_owned(),
            cluster: None,
            attempt: 1,
            status: ItemStatus::Pass,
            score: Some(0.5),
            evaluator: "shared_tests".to_owned(),
            revision: 0,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    fn write(path: &Path) -> Run {
        let run = Run::new(RunId::parse("r1").expect("a valid id"), "s", "a", "m");
        let mut writer = BundleWriter::create(path, [&run].into_iter()).expect("writable");
        writer.item(&outcome(&run, "x")).expect("writable");
        writer.item(&outcome(&run, "y")).expect("writable");
        assert_eq!(writer.commit().expect("writable"), 2);
        run
    }

    #[test]
    fn what_was_written_is_unpacked() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["a.jsonl", "a.bundle"] {
            let path = folder.path().join(name);
            let run = write(&path);
            assert!(is_bundle(&path).expect("readable"), "{name}");
            let store = Store::at(folder.path().join(format!("{name}-store")));
            assert_eq!(unpack(&path, &store).expect("whole"), [run.id]);
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("a.jsonl")).expect("text").lines().count(), 5);
    }

    #[test]
    fn every_cut_is_noticed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["a.jsonl", "a.bundle"] {
            let path = folder.path().join(name);
            write(&path);
            let whole = std::fs::read(&path).expect("readable");
            let damaged = folder.path().join(format!("damaged-{name}"));
            // Without its last line break a plain file still says everything.
            let end = if name == "a.jsonl" { whole.len() - 1 } else { whole.len() };
            for length in 0..end {
                std::fs::write(&damaged, &whole[..length]).expect("writable");
                let store = Store::at(folder.path().join("store"));
                assert!(unpack(&damaged, &store).is_err(), "{name} cut to {length}");
            }
        }
    }

    #[test]
    fn hostile_lines_are_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("h.jsonl");
        let head = r#"{"format":"evalreport/bundle/1","runs":1}"#;
        let run = r#"{"id":"r","suite":"s","approach":"a"}"#;
        let item = r#"{"run":"r","item":"x","kind":"test","evaluator":"e","status":"pass"}"#;
        let other = r#"{"run":"../q","item":"x","kind":"test","evaluator":"e","status":"pass"}"#;
        for (lines, message) in [
            (vec![r#"{"format":"evalreport/bundle/9","runs":1}"#], "h.jsonl:1: `evalreport/bundle/9` was written by a newer evalreport"),
            (vec![head], "is cut off: its last line is missing"),
            (vec![head, "{}"], "h.jsonl:2: is not the header of a run"),
            (vec![head, r#"{"id":"../r","suite":"s","approach":"a"}"#], "key `id`"),
            (vec![head, run, other], "h.jsonl:3: id `../q` has characters"),
            (vec![head, run, &item.replace("\"r\"", "\"q\"")], "has no header of"),
            (vec![head, run, item, r#"{"end":{"items":2}}"#], "says 2 outcomes, but there are 1"),
            (vec![head, run, item, r#"{"end":{"items":1}}"#, item], "comes after the last line"),
            (vec![r#"{"format":"evalreport/bundle/1","runs":2}"#, run, run], "holds the run `r` again"),
        ] {
            std::fs::write(&path, lines.join("\n")).expect("writable");
            let problem = unpack(&path, &Store::at(folder.path().join("store"))).expect_err(message);
            assert!(problem.to_string().contains(message), "{problem}");
        }
    }
}
