//! What other evaluation tools write, recognised by content: one module a format.
//!
//! Each format's module has private structs of what its files hold, in which nothing has to be there, and two functions: `claim`, which
//! says from a first look whether a file is of the format and which files belong together, and `read`, which tells a [`Sink`] what a
//! source holds. The sink keeps the account: what is refused, odd, held, lacking, and what the source states about itself beside the same
//! recomputed.

mod aider;
mod attempts;
mod cogni;
mod ctrf;
mod elements;
mod evalperf;
mod every_eval_ever;
mod harbor;
mod helm;
mod inspect;
mod json;
mod junit;
mod kotef;
mod lm_eval;
mod measured;
mod moments;
mod namesakes;
mod near;
mod peek;
mod promptfoo;
mod ralph;
mod sink;
mod source;
mod swe_bench;
mod terminal_bench;
mod times;
mod tries;
mod unread;
mod walk;
mod zelda;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tracing::{debug, info};

use crate::domain::{ItemKind, Problem, Provenance, Run, RunId, visible};
use crate::results::{SealedWriter, Store, StoreError};

use super::bundle::import_bundle;
use super::names::GivenNames;
use super::report::{ImportReport, ReplacedRun, SourceOutcome, SourceReport};
use super::rows::Stop;
use super::source::hex_digest;
use super::stored::{Read, Relation, StoredRuns};
use super::table::Mode;

pub use inspect::superseded;
use peek::Peek;
use sink::Sink;
use source::ForeignSource;
use walk::walk;

/// The formats that are read.
///
/// A file is of the first that claims it, so those with names of their own in them come before those that share their shape with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignFormat {
    Inspect,
    Harbor,
    TerminalBench,
    Promptfoo,
    LmEval,
    Helm,
    SweBench,
    Aider,
    Evalperf,
    EveryEvalEver,
    Zelda,
    Cogni,
    Kotef,
    Ralph,
    Ctrf,
    Junit,
}

/// Changes when importers give other records for the same bytes: what was imported before is then read again, and replaced where it differs.
const READING: &[u8] = b"reading 2";
/// Enough of a key to tell the sources of a cache apart.
const SHORT_KEY: usize = 32;

/// What a format says of a file that it recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The file is a source.
    Alone,
    /// It belongs with the others that name the same folder, or the same beginning of their names.
    PartOf(PathBuf),
}

impl ForeignFormat {
    pub const ALL: [Self; 16] = [
        Self::Inspect,
        Self::Harbor,
        Self::TerminalBench,
        Self::Promptfoo,
        Self::LmEval,
        Self::Helm,
        Self::SweBench,
        Self::Aider,
        Self::Evalperf,
        Self::EveryEvalEver,
        Self::Zelda,
        Self::Cogni,
        Self::Kotef,
        Self::Ralph,
        Self::Ctrf,
        Self::Junit,
    ];

    /// Returns the name that `--as` takes and provenance has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Harbor => "harbor",
            Self::TerminalBench => "terminal-bench",
            Self::Promptfoo => "promptfoo",
            Self::LmEval => "lm-eval",
            Self::Helm => "helm",
            Self::SweBench => "swe-bench",
            Self::Aider => "aider",
            Self::Evalperf => "evalperf",
            Self::EveryEvalEver => "every-eval-ever",
            Self::Zelda => "zelda",
            Self::Cogni => "cogni",
            Self::Kotef => "kotef",
            Self::Ralph => "ralph",
            Self::Ctrf => "ctrf",
            Self::Junit => "junit",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns what the items of the tool are, where a file does not say otherwise of some.
    pub(super) fn kind(self) -> ItemKind {
        match self {
            Self::Harbor | Self::TerminalBench | Self::SweBench | Self::Aider | Self::Evalperf | Self::Kotef => ItemKind::Task,
            Self::Inspect | Self::Promptfoo | Self::LmEval | Self::Helm | Self::EveryEvalEver | Self::Cogni => ItemKind::Question,
            Self::Zelda => ItemKind::Criterion,
            Self::Ralph | Self::Ctrf | Self::Junit => ItemKind::Test,
        }
    }

    /// Returns the name that the tool has in prose.
    pub fn title(self) -> &'static str {
        match self {
            Self::Inspect => "Inspect AI",
            Self::Harbor => "Harbor",
            Self::TerminalBench => "Terminal-Bench",
            Self::Promptfoo => "promptfoo",
            Self::LmEval => "lm-evaluation-harness",
            Self::Helm => "HELM",
            Self::SweBench => "SWE-bench",
            Self::Aider => "aider",
            Self::Evalperf => "EvalPerf",
            Self::EveryEvalEver => "Every Eval Ever",
            Self::Zelda => "zelda",
            Self::Cogni => "cogni",
            Self::Kotef => "kotef",
            Self::Ralph => "ralph eval",
            Self::Ctrf => "CTRF",
            Self::Junit => "JUnit XML",
        }
    }

    fn claim(self, peek: &Peek) -> Option<Claim> {
        match self {
            Self::Inspect => inspect::claim(peek),
            Self::Harbor => harbor::claim(peek),
            Self::TerminalBench => terminal_bench::claim(peek),
            Self::Promptfoo => promptfoo::claim(peek),
            Self::LmEval => lm_eval::claim(peek),
            Self::Helm => helm::claim(peek),
            Self::SweBench => swe_bench::claim(peek),
            Self::Aider => aider::claim(peek),
            Self::Evalperf => evalperf::claim(peek),
            Self::EveryEvalEver => every_eval_ever::claim(peek),
            Self::Zelda => zelda::claim(peek),
            Self::Cogni => cogni::claim(peek),
            Self::Kotef => kotef::claim(peek),
            Self::Ralph => ralph::claim(peek),
            Self::Ctrf => ctrf::claim(peek),
            Self::Junit => junit::claim(peek),
        }
    }

    fn read(self, source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
        match self {
            Self::Inspect => inspect::read(source, sink),
            Self::Harbor => harbor::read(source, sink),
            Self::TerminalBench => terminal_bench::read(source, sink),
            Self::Promptfoo => promptfoo::read(source, sink),
            Self::LmEval => lm_eval::read(source, sink),
            Self::Helm => helm::read(source, sink),
            Self::SweBench => swe_bench::read(source, sink),
            Self::Aider => aider::read(source, sink),
            Self::Evalperf => evalperf::read(source, sink),
            Self::EveryEvalEver => every_eval_ever::read(source, sink),
            Self::Zelda => zelda::read(source, sink),
            Self::Cogni => cogni::read(source, sink),
            Self::Kotef => kotef::read(source, sink),
            Self::Ralph => ralph::read(source, sink),
            Self::Ctrf => ctrf::read(source, sink),
            Self::Junit => junit::read(source, sink),
        }
    }

    /// Says whether a file that nobody reads, by its path below a source's folder, is one that the tool leaves there.
    fn is_companion(self, below: &Path) -> bool {
        match self {
            Self::Harbor => harbor::is_companion(below),
            Self::TerminalBench => terminal_bench::is_companion(below),
            Self::Inspect
            | Self::Promptfoo
            | Self::LmEval
            | Self::Helm
            | Self::SweBench
            | Self::Aider
            | Self::Evalperf
            | Self::EveryEvalEver
            | Self::Zelda
            | Self::Cogni
            | Self::Kotef
            | Self::Ralph
            | Self::Ctrf
            | Self::Junit => false,
        }
    }

    /// Says whether a file's name is part of what it says, so that the same bytes under another name are another import.
    fn reads_names(self) -> bool {
        match self {
            Self::SweBench | Self::Aider | Self::LmEval | Self::Junit | Self::Ctrf | Self::Kotef | Self::Promptfoo | Self::Evalperf => true,
            Self::Inspect
            | Self::Harbor
            | Self::TerminalBench
            | Self::Helm
            | Self::EveryEvalEver
            | Self::Zelda
            | Self::Cogni
            | Self::Ralph => false,
        }
    }
}

/// Where sources are sealed.
#[derive(Clone, Copy)]
pub enum Destination<'a> {
    /// All in one store, which has these runs already.
    Store(&'a Store, &'a StoredRuns),
    /// Each in a store of its own below the folder, named by its content: a cache of what was read. Sources may hold the same run; whoever
    /// opens the stores takes it from the first.
    Cache(&'a Path),
}

impl Destination<'_> {
    /// Returns the store of a source by its key.
    pub fn store_of(self, key: &str) -> Store {
        match self {
            Self::Store(store, _) => store.clone(),
            Self::Cache(folder) => Store::at(folder.join(&key[..SHORT_KEY])),
        }
    }
}

/// Imports what lies at the paths, folders and all; `forced` names the format instead of looking for it. `progress` is told how many more
/// bytes were read.
///
/// A source that cannot be read is reported and keeps no other from being imported. The error is one of writing to the store.
pub fn import_foreign(
    place: Destination<'_>,
    paths: &[impl AsRef<Path>],
    forced: Option<ForeignFormat>,
    names: &GivenNames,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let mut walked = walk(paths, forced);
    inspect::mark_superseded(&mut walked.sources);
    let other_exports = promptfoo::prefer_json(&mut walked.sources);
    let mut report = ImportReport {
        dry_run: mode == Mode::DryRun,
        unrecognised: walked.unrecognised,
        passed_over: walked.passed_over,
        ..ImportReport::default()
    };
    let mut taken = match place {
        Destination::Store(_, existing) => existing.clone(),
        Destination::Cache(_) => StoredRuns::default(),
    };
    for bundle in &walked.bundles {
        let imported = if names.is_empty() {
            import_bundle(place, bundle, taken.ids(), mode, progress)
        } else {
            keeps_names(&bundle.display().to_string())
        };
        // What is kept of a source in a cache must not depend on the others.
        if let Destination::Store(..) = place {
            imported.runs_new.iter().for_each(|run| taken.add_id(run.id.clone()));
        }
        report.sources.push(imported);
    }
    report.sources.extend(walked.problems.into_iter().map(|problem| {
        let mut unreadable = SourceReport::new(&problem.file);
        unreadable.problems.push(problem);
        unreadable
    }));
    let mut keys = BTreeSet::new();
    for source in &walked.sources {
        let (imported, runs) = import_source(place, source, names, &taken, &mut keys, mode, progress)?;
        info!(
            source = imported.file,
            format = source.format.name(),
            outcome = ?imported.outcome,
            runs = imported.runs_new.len(),
            outcomes = imported.items,
            "source imported"
        );
        if let Destination::Store(..) = place {
            for replaced in &imported.runs_replaced {
                taken.replaced(&replaced.run);
            }
            for run in &runs {
                taken.add(run, true);
            }
        }
        report.sources.push(imported);
    }
    report.sources.extend(other_exports);
    Ok(report)
}

fn keeps_names(bundle: &str) -> SourceReport {
    let mut report = SourceReport::new(bundle);
    let problem = Problem::in_file(visible(bundle), "is a bundle, whose runs keep their names");
    report.problems.push(problem.with_hint("--set is for files of other kinds"));
    report
}

fn import_source(
    place: Destination<'_>,
    source: &ForeignSource,
    names: &GivenNames,
    taken: &StoredRuns,
    keys: &mut BTreeSet<String>,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<(SourceReport, Vec<Run>), StoreError> {
    let mut report = SourceReport::new(&source.shown);
    let examined = match source.examine() {
        Ok(examined) => examined,
        Err(problem) => {
            report.problems.push(problem);
            return Ok((report, Vec::new()));
        }
    };
    progress(examined.bytes);
    report.sha256 = Some(examined.sha256.clone());
    if examined.bytes == 0 {
        report.problems.push(Problem::in_file(&source.shown, "is empty"));
        return Ok((report, Vec::new()));
    }
    let mut parts = vec![READING, source.format.name().as_bytes(), examined.sha256.as_bytes()];
    if source.format.reads_names() {
        parts.push(source.name.as_bytes());
    }
    parts.extend(names.parts());
    parts.extend(source.superseded_by.as_ref().map(|id| id.as_str().as_bytes()));
    let key = hex_digest(&parts, true);
    report.key = Some(key.clone());
    let store = place.store_of(&key);
    if SealedWriter::exists(&store, &key) || !keys.insert(key.clone()) {
        report.outcome = SourceOutcome::AlreadyImported;
        return Ok((report, Vec::new()));
    }

    let mut sink = Sink::new(source, names, taken, &store, &key, mode);
    if !read(source, &mut sink, &mut report)? {
        return Ok((report, Vec::new()));
    }
    if sink.has_repeated() {
        // Some runs of the file are there, and the file is not the one they came from. It is read again, to see whether it says the same.
        let nothing = StoredRuns::default();
        let mut look = Sink::new(source, names, &nothing, &store, &key, Mode::DryRun);
        if !read(source, &mut look, &mut report)? {
            return Ok((report, Vec::new()));
        }
        let bytes = Read { file: &source.name, sha256: &examined.sha256 };
        let ids = replace(&mut sink, look, taken, bytes, &mut report);
        if !ids.is_empty() {
            sink = Sink::new(source, names, taken, &store, &key, mode).under(ids);
            if !read(source, &mut sink, &mut report)? {
                return Ok((report, Vec::new()));
            }
        }
    }
    let provenance = Provenance {
        importer: source.format.name().to_owned(),
        file: source.name.clone(),
        sha256: examined.sha256,
        map: None,
        map_sha256: None,
        url: None,
        content: None,
        first: None,
    };
    let runs = sink.finish(&provenance, &mut report)?;
    if let Some(foreign) = &mut report.foreign {
        foreign.files = source.files.len();
    }
    debug!(source = report.file, key, "source done");
    Ok((report, runs))
}

/// Says whether the source could be read; if not, the report says why.
fn read(source: &ForeignSource, sink: &mut Sink<'_>, report: &mut SourceReport) -> Result<bool, StoreError> {
    match source.format.read(source, sink) {
        Ok(()) => Ok(true),
        Err(Stop::Store(error)) => Err(error),
        Err(Stop::Unreadable(problems)) => {
            report.problems = problems;
            Ok(false)
        }
    }
}

/// Compares the runs that are in the store already with what was seen on a second look, and returns new ids for those that are to be
/// replaced, by the ids that they have.
fn replace(sink: &mut Sink<'_>, look: Sink<'_>, stored: &StoredRuns, read: Read<'_>, report: &mut SourceReport) -> BTreeMap<RunId, RunId> {
    let mut ids = BTreeMap::new();
    for (run, content) in look.contents().into_iter().filter(|(run, _)| stored.contains(&run.id)) {
        match stored.relation(&run, &content, read) {
            Relation::Same => {}
            Relation::Less { stored, found } => {
                sink.quirk(&format!("the store has more outcomes of the run than the file ({stored}, here {found}): it is kept as it is"));
            }
            Relation::Other { file } => {
                sink.quirk(&format!("`{}` holds the same run with other results, and stands", visible(&file)));
            }
            Relation::Changed { stands, stored, found } => {
                let by = Store::imported_run_id("again", &[run.id.as_str(), &content.sum]);
                report.runs_replaced.push(ReplacedRun { run: stands, by: by.clone(), stored, found });
                ids.insert(run.id, by);
            }
        }
    }
    ids
}
