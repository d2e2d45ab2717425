//! Unpacking a bundle into a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::domain::{Carried, Problem, Run, RunId, Signer, escape_invisible};
use crate::files;

use super::super::header::StoredHeader;
use super::super::import_lock::STAGING_PREFIX;
use super::super::{
    ItemLine, LineProblem, ScoreLine, SealedWriter, Store, StoreError, TranscriptLine, details_of,
    durable, for_each_line, item_line, presence, verify_digests,
};
use super::decisions::{BundleDecisions, BundleNights, parse_tombstone};
use super::judged::{ImportedRun, JudgementsHeader, JudgementsSection};
use super::output_file::BundledFile;
use super::record::{append_line, parse_record, split_record};
use super::{
    BUNDLE_FORMAT, BundleExtent, BundleHeader, BundleTrailer, FORMAT_PREFIX, PairHeader, is_key,
    open_bundle, partial_key,
};

/// Marker in an imported run's folder until its header exists.
const IMPORT_MARKER: &str = ".importing";

/// The result of unpacking a bundle.
#[derive(Debug, Default)]
pub struct UnpackedBundle {
    pub new: Vec<Run>,
    /// Runs that the store already had. Its own versions were kept.
    pub repeated: Vec<Run>,
    /// Outcomes of the new runs.
    pub items: u64,
    /// Accepted regressions and tombstones that the store did not know.
    pub decisions: BundleDecisions,
}

/// Unpacks the records that figures need into a new store of their own.
///
/// The first problem ends it: bundles are written by programs, so any error means damage.
pub fn unpack_figures(path: &Path, store: &Store) -> Result<Vec<RunId>, Problem> {
    let unpacked = unpack_extent(path, store, BundleExtent::Figures)?;
    Ok(unpacked.new.into_iter().map(|run| run.id).collect())
}

/// Unpacks every record into a new folder, which appears only when it is complete. A truncated bundle leaves nothing behind.
pub fn unpack_into_folder(path: &Path, folder: &Path) -> Result<UnpackedBundle, Problem> {
    let in_file = |error: StoreError| {
        Problem::in_file(
            escape_invisible(&path.display().to_string()),
            error.full_message(),
        )
    };
    let above = folder.parent().unwrap_or(folder);
    fs::create_dir_all(above)
        .map_err(StoreError::io("cannot create", above))
        .map_err(in_file)?;
    let staging = tempfile::Builder::new()
        .prefix(STAGING_PREFIX)
        .tempdir_in(above);
    let staging = staging
        .map_err(StoreError::io("cannot write in", above))
        .map_err(in_file)?;
    // The content goes one folder deeper, because `staging` itself is removed at the end.
    let whole = staging.path().join("store");
    fs::create_dir(&whole)
        .map_err(StoreError::io("cannot create", &whole))
        .map_err(in_file)?;
    let unpacked = unpack_extent(path, &Store::new(&whole), BundleExtent::Whole)?;
    match fs::rename(&whole, folder) {
        // Another command unpacked the same bundle first.
        Err(_) if folder.is_dir() => Ok(unpacked),
        renamed => renamed
            .map_err(StoreError::io("cannot move it to", folder))
            .map_err(in_file)
            .map(|()| unpacked),
    }
}

fn unpack_extent(
    path: &Path,
    store: &Store,
    extent: BundleExtent,
) -> Result<UnpackedBundle, Problem> {
    let nothing = BTreeSet::new();
    let content = BundleReader::read_bundle(path, Some(store), store, &nothing, extent, None)?;
    let in_file = |error: StoreError| {
        Problem::in_file(
            escape_invisible(&path.display().to_string()),
            error.full_message(),
        )
    };
    for written in &content.own {
        store.save_stored_header(written).map_err(in_file)?;
    }
    content.decisions.append_to(store).map_err(in_file)?;
    Ok(content.into())
}

/// Imports the runs of a bundle into a store, except the runs that it already has (`taken`). Own runs stay own runs, with everything in
/// their folders, and sealed pairs stay sealed pairs. The caller read `taken` under the [`super::super::ImportLock`] and still has it.
///
/// Nothing is stored of a bundle with any error. An import that is killed leaves only whole runs, and parts that importing the bundle again
/// completes.
pub fn unpack_into_store(
    path: &Path,
    store: &Store,
    taken: &BTreeSet<RunId>,
    signer: Option<&Signer>,
) -> Result<UnpackedBundle, Problem> {
    let in_file = |error: StoreError| {
        Problem::in_file(
            escape_invisible(&path.display().to_string()),
            error.full_message(),
        )
    };
    // Unpack inside the store, so that the result can be moved into place. A store ignores names that begin with a dot.
    fs::create_dir_all(store.root())
        .map_err(StoreError::io("cannot create", store.root()))
        .map_err(in_file)?;
    let staging = tempfile::Builder::new()
        .prefix(STAGING_PREFIX)
        .tempdir_in(store.root());
    let staging = staging
        .map_err(StoreError::io("cannot write in", store.root()))
        .map_err(in_file)?;
    let staged = Store::new(staging.path());
    let content = BundleReader::read_bundle(
        path,
        Some(&staged),
        store,
        taken,
        BundleExtent::Whole,
        signer,
    )?;
    move_into_store(&staged, store, &content).map_err(in_file)?;
    let decisions = content.decisions.without_known(store).map_err(in_file)?;
    decisions.append_to(store).map_err(in_file)?;
    Ok(UnpackedBundle {
        decisions,
        ..content.into()
    })
}

/// Reads a bundle like [`unpack_into_store`], but stores nothing.
pub fn preview_bundle(
    path: &Path,
    store: &Store,
    taken: &BTreeSet<RunId>,
) -> Result<UnpackedBundle, Problem> {
    let unpacked = UnpackedBundle::from(BundleReader::read_bundle(
        path,
        None,
        store,
        taken,
        BundleExtent::Whole,
        None,
    )?);
    let in_file = |error: StoreError| {
        Problem::in_file(
            escape_invisible(&path.display().to_string()),
            error.full_message(),
        )
    };
    Ok(UnpackedBundle {
        decisions: unpacked.decisions.without_known(store).map_err(in_file)?,
        ..unpacked
    })
}

/// Returns whether a run's folder is from an import that was killed before the run's header was written.
pub(in super::super) fn is_half_imported(folder: &Path) -> bool {
    folder.join(IMPORT_MARKER).is_file()
}

/// Moves the unpacked files into place, each run's header last. Until then its folder has a marker.
fn move_into_store(
    staged: &Store,
    store: &Store,
    content: &BundleContent,
) -> Result<(), StoreError> {
    let mut lacking = Vec::new();
    for written in &content.own {
        let run = &written.run;
        let there = store.run_dir(&run.id);
        // An import that this one waited for may have stored the run.
        if store.has_run(&run.id)? {
            continue;
        }
        if presence::is_folder(&there).map_err(StoreError::io("cannot look for", &there))?
            && !is_half_imported(&there)
        {
            return Err(StoreError::InFlight {
                id: run.id.to_string(),
                path: there,
            });
        }
        lacking.push(written);
    }
    for run in &content.judged {
        let there = store.run_dir(run);
        if presence::is_folder(&there).map_err(StoreError::io("cannot look for", &there))?
            && !is_half_imported(&there)
        {
            return Err(StoreError::InFlight {
                id: run.to_string(),
                path: there,
            });
        }
    }
    let moved = |from: &Path, to: &Path| {
        fs::rename(from, to).map_err(StoreError::io("cannot move a part of it to", to))
    };
    let move_marked = |run: &RunId| {
        let (folder, there) = (staged.run_dir(run), store.run_dir(run));
        let mark = folder.join(IMPORT_MARKER);
        File::create(&mark)
            .and_then(|mark| mark.sync_all())
            .map_err(StoreError::io("cannot write", &mark))?;
        durable::sync_folder(&folder).map_err(StoreError::io("cannot sync", &folder))?;
        if is_half_imported(&there) {
            fs::remove_dir_all(&there).map_err(StoreError::io("cannot replace", &there))?;
        }
        moved(&folder, &there)
    };
    for written in lacking {
        let run = &written.run;
        if presence::is_folder(&staged.run_dir(&run.id))
            .map_err(StoreError::io("cannot look for", staged.root()))?
        {
            move_marked(&run.id)?;
        }
        store.save_stored_header(written)?;
    }
    // Move judgements before the pair, which has their runs' headers.
    content.judged.iter().try_for_each(move_marked)?;
    if !content.keys.is_empty() {
        let folder = store.imports_dir();
        fs::create_dir_all(&folder).map_err(StoreError::io("cannot create", &folder))?;
        for key in &content.keys {
            for name in [
                format!("{key}.items.jsonl.zst"),
                format!("{key}.runs.jsonl"),
            ] {
                moved(&staged.imports_dir().join(&name), &folder.join(&name))?;
            }
        }
        durable::sync_folder(&folder).map_err(StoreError::io("cannot sync", &folder))?;
        for key in &content.keys {
            let path = folder.join(format!("{key}.runs.jsonl"));
            let bytes = files::read(&path).map_err(StoreError::io("cannot read", &path))?;
            store.added_records().note_file(store.root(), &path, &bytes);
        }
    }
    // Each judgement's line has the digest of all before it.
    for run in content
        .own
        .iter()
        .map(|written| &written.run.id)
        .chain(&content.judged)
    {
        let path = store.scores_path(run);
        let bytes = files::missing_as_none(files::read(&path))
            .map_err(StoreError::io("cannot read", &path))?
            .unwrap_or_default();
        if let Some(line) = bytes
            .split(|byte| *byte == b'\n')
            .rfind(|line| !line.trim_ascii().is_empty())
        {
            store
                .added_records()
                .note_last_line(store.root(), &path, line);
        }
    }
    // Also remove markers that a killed import left after writing the header.
    let repeated = content
        .own
        .iter()
        .map(|written| &written.run)
        .chain(&content.repeated)
        .map(|run| &run.id);
    for run in repeated.chain(&content.judged) {
        let mark = store.run_dir(run).join(IMPORT_MARKER);
        files::missing_as_none(fs::remove_file(&mark))
            .map_err(StoreError::io("cannot remove", &mark))?;
    }
    Ok(())
}

/// The current section of the bundle.
enum BundleSection {
    /// Before the first line.
    Opening,
    /// Between runs.
    None,
    Own(Box<OwnRunSection>),
    Pair(Box<PairSection>),
    /// Judgements of an imported run.
    Judged(Box<JudgementsSection>),
    Closed,
}

/// One of the store's own runs.
struct OwnRunSection {
    written: StoredHeader,
    /// The run's folder, or `None` if it is not wanted.
    folder: Option<PathBuf>,
    items: Option<BufWriter<File>>,
    scores: Option<BufWriter<File>>,
    transcript: Option<BufWriter<File>>,
    /// The output file written last, which may have further parts.
    output: Option<(PathBuf, File)>,
    is_new: bool,
}

/// A sealed pair, or a part of one.
struct PairSection {
    key: String,
    /// Number of headers still to come.
    left: u64,
    ids: BTreeSet<RunId>,
    kept: Vec<StoredHeader>,
    kept_ids: BTreeSet<RunId>,
    /// The runs whose lines are kept unchanged because they are sealed.
    sealed_ids: BTreeSet<RunId>,
    writer: Option<SealedWriter>,
}

struct BundleReader<'a> {
    /// The store to write to. With `None` nothing is written.
    place: Option<&'a Store>,
    /// The store that will receive the runs.
    target: &'a Store,
    taken: &'a BTreeSet<RunId>,
    extent: BundleExtent,
    /// The signer of the bundle.
    signer: Option<&'a Signer>,
    version: u32,
    section: BundleSection,
    ids: BTreeSet<RunId>,
    /// The new runs of sealed pairs.
    imported: BTreeMap<RunId, ImportedRun>,
    /// Runs whose judgements were begun.
    judged: BTreeSet<RunId>,
    expected_runs: u64,
    lines: u64,
    items: u64,
    content: BundleContent,
    nights: BundleNights,
    line: String,
}

/// The runs that were read, by kind of storage.
#[derive(Default)]
struct BundleContent {
    own: Vec<StoredHeader>,
    imported: Vec<Run>,
    repeated: Vec<Run>,
    /// Keys of the written pairs.
    keys: Vec<String>,
    /// Imported runs with a folder of judgements.
    judged: Vec<RunId>,
    /// Number of outcomes of runs that are not repeated.
    items: u64,
    decisions: BundleDecisions,
}

impl From<BundleContent> for UnpackedBundle {
    fn from(content: BundleContent) -> Self {
        let own = content.own.into_iter().map(|written| written.run);
        Self {
            new: own.chain(content.imported).collect(),
            repeated: content.repeated,
            items: content.items,
            decisions: content.decisions,
        }
    }
}

impl<'a> BundleReader<'a> {
    fn read_bundle(
        path: &Path,
        place: Option<&'a Store>,
        target: &'a Store,
        taken: &'a BTreeSet<RunId>,
        extent: BundleExtent,
        signer: Option<&'a Signer>,
    ) -> Result<BundleContent, Problem> {
        let name = escape_invisible(&path.display().to_string());
        let mut reading = Self {
            place,
            target,
            taken,
            extent,
            signer,
            version: 0,
            section: BundleSection::Opening,
            ids: BTreeSet::new(),
            imported: BTreeMap::new(),
            judged: BTreeSet::new(),
            expected_runs: 0,
            lines: 0,
            items: 0,
            content: BundleContent::default(),
            nights: BundleNights::default(),
            line: String::new(),
        };
        let mut failure: Option<Problem> = None;
        let reader = open_bundle(path)
            .map_err(|error| Problem::in_file(&name, format!("cannot read: {error}")))?;
        let read = for_each_line(reader, |number, line| {
            if failure.is_none() {
                let taken = line
                    .map_err(LineProblem::message)
                    .and_then(|line| reading.read_line(line));
                failure = taken
                    .err()
                    .map(|message| Problem::at_line(&name, number, message));
            }
        });
        if let Some(problem) = failure {
            return Err(problem);
        }
        read.map_err(|error| Problem::in_file(&name, format!("is damaged or cut off: {error}")))?;
        match reading.section {
            BundleSection::Closed => Ok(reading.content),
            BundleSection::Opening
            | BundleSection::None
            | BundleSection::Own(_)
            | BundleSection::Pair(_)
            | BundleSection::Judged(_) => Err(Problem::in_file(
                &name,
                "is cut off: its last line is missing",
            )),
        }
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), String> {
        // A secret cannot be removed from a record that another store sealed.
        if let Some(name) = self.target.secrets().first_in(line) {
            return Err(format!(
                "holds the value of ${name}; a secret is not stored, and without that variable it is none"
            ));
        }
        match self.section {
            BundleSection::Opening => self.read_opening(line)?,
            BundleSection::Closed => {
                return Err("comes after the last line of the bundle".to_owned());
            }
            BundleSection::None
            | BundleSection::Own(_)
            | BundleSection::Pair(_)
            | BundleSection::Judged(_)
                if self.version == 1 =>
            {
                self.read_first_version(line)?;
            }
            BundleSection::None
            | BundleSection::Own(_)
            | BundleSection::Pair(_)
            | BundleSection::Judged(_) => self.read_record(line)?,
        }
        self.lines += 1;
        Ok(())
    }

    fn read_opening(&mut self, line: &[u8]) -> Result<(), String> {
        let opening: BundleHeader = serde_json::from_slice(line)
            .map_err(|_| format!("is not the first line of a `{BUNDLE_FORMAT}` file"))?;
        self.version = match opening
            .format
            .strip_prefix(FORMAT_PREFIX)
            .and_then(|version| version.parse::<u32>().ok())
        {
            Some(0 | 1) => 1,
            Some(2..=4) => 2,
            Some(_) => {
                return Err(format!(
                    "`{}` was written by a newer evalreport than this one",
                    escape_invisible(&opening.format)
                ));
            }
            None => {
                return Err(format!(
                    "`{}` is not `{BUNDLE_FORMAT}`",
                    escape_invisible(&opening.format)
                ));
            }
        };
        self.expected_runs = opening.runs;
        self.section = if self.version == 1 {
            BundleSection::Pair(Box::new(PairSection::new(String::new(), opening.runs)))
        } else {
            BundleSection::None
        };
        Ok(())
    }

    /// Reads a line of version 1, which has headers and then outcomes. They become one pair.
    fn read_first_version(&mut self, line: &[u8]) -> Result<(), String> {
        match &self.section {
            BundleSection::Pair(pair) if pair.left > 0 => self.read_imported_header(line),
            _ if line.starts_with(b"{\"end\"") => self.read_trailer(line),
            _ => self.read_item(line),
        }
    }

    fn read_record(&mut self, line: &[u8]) -> Result<(), String> {
        let (kind, record) = split_record(line).ok_or_else(|| {
            let is_cut = !line.ends_with(b"}");
            if is_cut {
                "is cut off in the middle"
            } else {
                "is no line of a bundle"
            }
            .to_owned()
        })?;
        match (kind, &mut self.section) {
            ("end", _) => self.read_trailer(line),
            ("imported", BundleSection::Pair(_)) => self.read_imported_header(record),
            (_, BundleSection::Pair(pair)) if pair.left > 0 => {
                Err("comes before the last header of its source".to_owned())
            }
            ("run", _) => self.begin_own_run(record),
            ("source", _) => self.begin_source(record),
            ("judged", _) => self.begin_judgements(record),
            ("acceptance", _) => {
                self.end_section()?;
                self.content
                    .decisions
                    .accepted
                    .push(self.nights.parse_acceptance(record)?);
                Ok(())
            }
            ("tombstone", _) => {
                self.end_section()?;
                self.content
                    .decisions
                    .retracted
                    .push(parse_tombstone(record)?);
                Ok(())
            }
            ("item", BundleSection::Own(_) | BundleSection::Pair(_) | BundleSection::Judged(_)) => {
                self.read_item(record)
            }
            ("score", BundleSection::Judged(judged)) => judged.take_score(record),
            ("score" | "message" | "file", BundleSection::Own(_)) => {
                self.read_other_record(kind, record)
            }
            ("item" | "score" | "message" | "file" | "imported", _) => {
                Err("belongs to no run".to_owned())
            }
            (other, _) => Err(format!(
                "is of the kind `{}`, which a bundle does not have",
                escape_invisible(other)
            )),
        }
    }

    fn parse_header(&mut self, record: &[u8]) -> Result<StoredHeader, String> {
        let mut written = StoredHeader::parse(record, "", None, None).map_err(|problems| {
            let first = problems
                .0
                .into_iter()
                .next()
                .map_or_else(String::new, |problem| problem.message);
            format!("is not the header of a run: {first}")
        })?;
        if !self.ids.insert(written.run.id.clone()) {
            return Err(format!("holds the run `{}` again", written.run.id));
        }
        self.nights.add_run(&written.run);
        // Replace the other store's record of how it got the run.
        written.run.carried = self.signer.map(|signer| Carried {
            signed_by: Some(signer.clone()),
            ..Carried::default()
        });
        Ok(written)
    }

    fn begin_own_run(&mut self, record: &[u8]) -> Result<(), String> {
        self.end_section()?;
        let written = self.parse_header(record)?;
        let is_new = !self.taken.contains(&written.run.id);
        let folder = self
            .place
            .filter(|_| is_new)
            .map(|place| place.run_dir(&written.run.id));
        self.section = BundleSection::Own(Box::new(OwnRunSection {
            written,
            folder,
            items: None,
            scores: None,
            transcript: None,
            output: None,
            is_new,
        }));
        Ok(())
    }

    fn begin_source(&mut self, record: &[u8]) -> Result<(), String> {
        self.end_section()?;
        let source: PairHeader = serde_json::from_slice(record)
            .map_err(|_| "is not the beginning of a source".to_owned())?;
        if !is_key(&source.key) {
            return Err(format!(
                "names a source `{}`, which is no SHA-256",
                escape_invisible(&source.key)
            ));
        }
        self.section = BundleSection::Pair(Box::new(PairSection::new(source.key, source.runs)));
        Ok(())
    }

    fn begin_judgements(&mut self, record: &[u8]) -> Result<(), String> {
        self.end_section()?;
        let judged: JudgementsHeader = serde_json::from_slice(record)
            .map_err(|_| "is not the beginning of judgements".to_owned())?;
        let run = RunId::parse(&judged.run)?;
        let is_new = self.imported.contains_key(&run);
        if !is_new && !self.taken.contains(&run) {
            return Err(format!(
                "is about the run `{run}`, which no source before it has"
            ));
        }
        if !self.judged.insert(run.clone()) {
            return Err(format!("begins the judgements of run `{run}` again"));
        }
        let folder = self
            .place
            .filter(|_| is_new)
            .map(|place| place.run_dir(&run));
        self.section = BundleSection::Judged(Box::new(JudgementsSection::new(run, folder)));
        Ok(())
    }

    /// Reads a header of a pair.
    fn read_imported_header(&mut self, record: &[u8]) -> Result<(), String> {
        let written = self.parse_header(record)?;
        let BundleSection::Pair(pair) = &mut self.section else {
            return Err("belongs to no source".to_owned());
        };
        pair.left = pair
            .left
            .checked_sub(1)
            .ok_or_else(|| "is one more header than its source was said to have".to_owned())?;
        let id = &written.run.id;
        pair.ids.insert(id.clone());
        if self.taken.contains(id) {
            self.content.repeated.push(written.run);
        } else {
            pair.kept_ids.insert(id.clone());
            if written.sealed.is_some() {
                pair.sealed_ids.insert(id.clone());
            }
            pair.kept.push(written);
        }
        Ok(())
    }

    fn read_item(&mut self, record: &[u8]) -> Result<(), String> {
        let item = ItemLine::parse(record).map_err(|error| error.0)?;
        let named = item.run.as_deref().map(RunId::parse).transpose()?;
        self.items += 1;
        self.line.clear();
        match &mut self.section {
            BundleSection::Own(own) => {
                if named.is_some_and(|run| run != own.written.run.id) {
                    return Err("is of another run than the lines before it".to_owned());
                }
                if !own.is_new {
                    return Ok(());
                }
                let outcome = (ItemLine { run: None, ..item })
                    .to_outcome(&own.written.run.id)
                    .map_err(|error| error.0)?;
                self.content.items += 1;
                match own.raw_line(record) {
                    Some(raw) => self.line.push_str(&raw),
                    None => item_line::write_detailed_line(
                        &outcome,
                        &details_of(record),
                        false,
                        &mut self.line,
                    ),
                }
                append_line(
                    own.folder.as_deref(),
                    "items.jsonl",
                    &mut own.items,
                    &self.line,
                )
            }
            BundleSection::Pair(pair) => {
                let run = named.ok_or_else(|| "names no run".to_owned())?;
                if !pair.ids.contains(&run) {
                    return Err(format!(
                        "is of the run `{run}`, which the bundle has no header of"
                    ));
                }
                if !pair.kept_ids.contains(&run) {
                    return Ok(());
                }
                let outcome = item.to_outcome(&run).map_err(|error| error.0)?;
                self.content.items += 1;
                match self.place {
                    Some(place) => {
                        let raw = std::str::from_utf8(record)
                            .ok()
                            .filter(|_| pair.sealed_ids.contains(&run));
                        let written =
                            pair.open_writer(place, self.target)
                                .and_then(|writer| match raw {
                                    Some(raw) => writer.write_sealed_item(&run, raw),
                                    None => writer
                                        .write_item_with_details(&outcome, &details_of(record)),
                                });
                        written.map_err(|error| error.full_message())
                    }
                    None => Ok(()),
                }
            }
            BundleSection::Judged(judged) => {
                judged.take_item(record, &item)?;
                self.content.items += u64::from(self.imported.contains_key(judged.run_id()));
                Ok(())
            }
            BundleSection::Opening | BundleSection::None | BundleSection::Closed => {
                Err("belongs to no run".to_owned())
            }
        }
    }

    /// Reads a record of an own run other than its header and outcomes.
    fn read_other_record(&mut self, kind: &str, record: &[u8]) -> Result<(), String> {
        let BundleSection::Own(own) = &mut self.section else {
            return Err("belongs to no run".to_owned());
        };
        let folder = own.folder.as_deref();
        let is_wanted = match self.extent {
            BundleExtent::Whole => true,
            BundleExtent::Figures => false,
        };
        match kind {
            "score" => {
                let score = parse_record::<ScoreLine>(record, "is not what an evaluator said")?;
                let line = own.raw_line(record).unwrap_or_else(|| score.to_line());
                append_line(folder, "scores.jsonl", &mut own.scores, &line)
            }
            "message" => {
                let message = parse_record::<TranscriptLine>(record, "is no message")?;
                let line = own.raw_line(record).unwrap_or_else(|| {
                    let mut line = serde_json::to_string(&message).expect("a JSON value is JSON");
                    line.push('\n');
                    line
                });
                append_line(
                    folder.filter(|_| is_wanted),
                    "transcript.jsonl",
                    &mut own.transcript,
                    &line,
                )
            }
            _ => {
                let file = parse_record::<BundledFile>(record, "is no file")?;
                let path = file.relative_path()?;
                let bytes = file.into_bytes()?;
                match folder.filter(|_| is_wanted) {
                    Some(folder) => write_own_output(folder, &path, &bytes, &mut own.output),
                    None => Ok(()),
                }
            }
        }
    }

    fn end_section(&mut self) -> Result<(), String> {
        match std::mem::replace(&mut self.section, BundleSection::None) {
            BundleSection::Opening | BundleSection::None | BundleSection::Closed => {}
            BundleSection::Own(own) => {
                for file in [own.items, own.scores, own.transcript]
                    .into_iter()
                    .flatten()
                {
                    let synced = file
                        .into_inner()
                        .map_err(io::IntoInnerError::into_error)
                        .and_then(|file| file.sync_all());
                    synced.map_err(|error| format!("cannot be unpacked: {error}"))?;
                }
                if let Some((_, file)) = own.output {
                    file.sync_all()
                        .map_err(|error| format!("cannot be unpacked: {error}"))?;
                }
                let mut written = own.written;
                if let (Some(sealed), Some(folder)) = (&written.sealed, &own.folder) {
                    let unread = |error: io::Error| format!("cannot be read again: {error}");
                    let without =
                        verify_digests::missing_parts(&sealed.seal, folder).map_err(unread)?;
                    let changes = verify_digests::find_changes(
                        Some(&sealed.seal),
                        &written.run.scores,
                        &without,
                        folder,
                    )
                    .map_err(unread)?;
                    if let Some(change) = changes.first() {
                        return Err(format!(
                            "ends the run `{}`, which is not as it was sealed: {}",
                            written.run.id, change.message
                        ));
                    }
                    if !without.is_empty() {
                        written.run.carried.get_or_insert_default().without = without;
                    }
                }
                if own.is_new {
                    self.content.own.push(written);
                } else {
                    self.content.repeated.push(written.run);
                }
            }
            BundleSection::Pair(mut pair) => {
                if pair.left > 0 {
                    return Err("comes before the last header of its source".to_owned());
                }
                if pair.kept.is_empty() {
                    return Ok(());
                }
                if let Some(place) = self.place {
                    let key = pair.kept_key(self.target);
                    let sealed = pair.open_writer(place, self.target).map(|_| ());
                    let written = sealed.and_then(|()| {
                        pair.writer
                            .take()
                            .map_or(Ok(()), |writer| writer.commit_headers(&pair.kept))
                    });
                    written.map_err(|error| error.full_message())?;
                    self.content.keys.push(key);
                }
                for written in pair.kept {
                    let known = ImportedRun {
                        scores: written.run.scores.clone(),
                        is_sealed: written.sealed.is_some(),
                    };
                    self.imported.insert(written.run.id.clone(), known);
                    self.content.imported.push(written.run);
                }
            }
            BundleSection::Judged(judged) => {
                let of = self.imported.get(judged.run_id());
                self.content.judged.extend(judged.finish(of)?);
            }
        }
        Ok(())
    }

    fn read_trailer(&mut self, line: &[u8]) -> Result<(), String> {
        self.end_section()?;
        let end = serde_json::from_slice::<BundleTrailer>(line)
            .map_err(|_| "is not the last line of a bundle".to_owned())?
            .end;
        if end.items != self.items {
            return Err(format!(
                "says {} outcomes, but there are {}",
                end.items, self.items
            ));
        }
        if end.lines.is_some_and(|lines| lines != self.lines) {
            return Err(format!(
                "says {} lines, but there are {}",
                end.lines.unwrap_or(0),
                self.lines
            ));
        }
        if self.expected_runs != self.ids.len() as u64 {
            return Err(format!(
                "ends a bundle of {} runs, but there are {}",
                self.expected_runs,
                self.ids.len()
            ));
        }
        self.section = BundleSection::Closed;
        Ok(())
    }
}

impl OwnRunSection {
    /// Returns a line unchanged if it is sealed.
    fn raw_line(&self, record: &[u8]) -> Option<String> {
        self.written
            .sealed
            .as_ref()
            .map(|_| format!("{}\n", String::from_utf8_lossy(record)))
    }
}

impl PairSection {
    fn new(key: String, runs: u64) -> Self {
        Self {
            key,
            left: runs,
            ids: BTreeSet::new(),
            kept: Vec::new(),
            kept_ids: BTreeSet::new(),
            sealed_ids: BTreeSet::new(),
            writer: None,
        }
    }

    /// Returns the key of the kept runs: the pair's own if all are kept, unless the target has another pair with this key.
    fn kept_key(&self, target: &Store) -> String {
        let is_whole = self.kept.len() == self.ids.len();
        if is_whole && is_key(&self.key) && !SealedWriter::pair_exists(target, &self.key) {
            self.key.clone()
        } else {
            partial_key(&self.key, self.kept.iter().map(|written| &written.run.id))
        }
    }

    /// Creates the pair's writer when it is first needed, after the last header.
    fn open_writer(
        &mut self,
        place: &Store,
        target: &Store,
    ) -> Result<&mut SealedWriter, StoreError> {
        if self.writer.is_none() {
            self.writer = Some(SealedWriter::create(place, &self.kept_key(target))?);
        }
        Ok(self.writer.as_mut().expect("it was made above"))
    }
}

/// Writes a file below `output/`. A further part is appended to the previous one.
fn write_own_output(
    folder: &Path,
    path: &Path,
    bytes: &[u8],
    last: &mut Option<(PathBuf, File)>,
) -> Result<(), String> {
    let written = (|| -> io::Result<()> {
        let target = folder.join("output").join(path);
        if last.as_ref().is_none_or(|(path, _)| *path != target) {
            if let Some((_, done)) = last.take() {
                done.sync_all()?;
            }
            fs::create_dir_all(target.parent().unwrap_or(folder))?;
            let file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&target)?;
            *last = Some((target, file));
        }
        match last {
            Some((_, file)) => file.write_all(bytes),
            None => Ok(()),
        }
    })();
    written.map_err(|error| format!("cannot be unpacked: {error}"))
}
