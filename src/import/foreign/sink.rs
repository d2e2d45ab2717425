//! Takes what importers read: they begin runs and pass outcomes, which go to the sealed pair. The sink counts refused, odd, present and
//! missing parts on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::domain::{
    CostSource, ItemDetails, ItemKind, ItemOutcome, ItemStatus, PriceTable, Provenance, Run, RunId, RunStatus, StatedFigure, Unit, visible,
};
use crate::results::{ItemTexts, SealedWriter, Store, StoreError};

use super::super::again::note_replaced;
use super::super::cell::Refused;
use super::super::content::ContentSum;
use super::super::held::{Held, SUPERSEDED_TAG, Sums};
use super::super::names::GivenNames;
use super::super::origin::{Origins, Unnamed as UnnamedModel};
use super::super::report::{FieldHeld, ForeignReport, ImportedRun, Refusals, SourceOutcome, SourceReport, StatedLine, StatedReport};
use super::super::rows::Stop;
use super::super::seen::{Attempts, Dictionary};
use super::super::spent::Spent;
pub(in crate::import) use super::super::stored::Moment;
use super::super::stored::{Read, StoredRuns, Unnamed};
use super::super::table::Mode;
use super::super::texts::MOST_TEXT_CHARS;
pub(in crate::import) use super::super::texts::clip;
use super::format::ForeignFormat;
use super::source::ForeignSource;

/// Maximum length of a name of a suite, an approach, a model or an item.
const MOST_NAME_CHARS: usize = 500;
const MOST_QUIRKS: usize = 64;
const CUT: &str = "texts are cut to 2000 characters";

/// Handle of a run that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) struct Handle(usize);

/// Takes an importer's records of one source.
pub(in crate::import) struct Sink<'a> {
    format: ForeignFormat,
    superseded_by: Option<&'a RunId>,
    names: &'a GivenNames,
    /// Runs of the store and of earlier sources of the command.
    taken: &'a StoredRuns,
    /// New ids for runs whose stored record is to be replaced.
    ids: BTreeMap<RunId, RunId>,
    store: &'a Store,
    key: &'a str,
    mode: Mode,
    /// Runs that are stored already are read too, and summed up.
    is_look: bool,
    /// File or folder that tells models without a name apart.
    origin: PathBuf,
    origins: &'a Origins,
    read: Read<'a>,
    /// Runs that were begun, by their first id.
    begun: BTreeSet<RunId>,
    /// Created with the first outcome, so that a source with nothing to store leaves no trace.
    writer: Option<SealedWriter>,
    file: &'a str,
    runs: Vec<State>,
    by_id: BTreeMap<RunId, usize>,
    repeated: Vec<ImportedRun>,
    /// Runs that the store has under the source's own ids.
    kept: Vec<ImportedRun>,
    last_repeated: Option<ImportedRun>,
    /// Published figures of runs that are stored already.
    repeated_stated: Vec<(Vec<StatedFigure>, ImportedRun)>,
    items: Dictionary,
    rows_read: u64,
    rows_accepted: u64,
    refusals: Refusals,
    version: Option<String>,
    quirks: Vec<(String, u64)>,
    held: BTreeMap<&'static str, u64>,
}

struct State {
    run: Run,
    /// The source has the run's totals, which are not added up.
    keeps_totals: bool,
    /// The id made of the run's identity, if it is stored under another.
    first: Option<RunId>,
    source: ImportedRun,
    /// Digest of the location that the model is called after, if it has no name.
    origin: Option<String>,
    content: ContentSum,
    sums: Option<Sums>,
    attempts: Attempts,
    texts: ItemTexts,
    passed: u64,
    counted: u64,
    spent: Spent,
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        source: &'a ForeignSource,
        names: &'a GivenNames,
        (taken, origins): (&'a StoredRuns, &'a Origins),
        (store, key): (&'a Store, &'a str),
        read: Read<'a>,
        mode: Mode,
    ) -> Self {
        Self {
            format: source.format,
            superseded_by: source.superseded_by.as_ref(),
            names,
            taken,
            ids: BTreeMap::new(),
            store,
            key,
            mode,
            is_look: false,
            origin: PathBuf::from(&source.shown),
            origins,
            read,
            begun: BTreeSet::new(),
            writer: None,
            file: &source.shown,
            runs: Vec::new(),
            by_id: BTreeMap::new(),
            repeated: Vec::new(),
            kept: Vec::new(),
            last_repeated: None,
            repeated_stated: Vec::new(),
            items: Dictionary::default(),
            rows_read: 0,
            rows_accepted: 0,
            refusals: Refusals::default(),
            version: None,
            quirks: Vec::new(),
            held: BTreeMap::new(),
        }
    }

    /// Begins a run, or returns one that was begun. Returns `None` if the run is stored already and need not be read.
    ///
    /// `identity` is the source's own id of the run, which no other run has, wherever its file lies. A file's name, an agent or a model is no
    /// such id. `names` are the run's suite, approach and model, which the command line may replace.
    pub fn begin_run(&mut self, identity: &[&str], names: [&str; 3]) -> Option<Handle> {
        if identity.iter().all(|part| part.trim().is_empty()) {
            return self.begin_run_of_bytes(identity, names, Moment::Unread);
        }
        self.begin(identity, names, None)
    }

    /// Begins a run by its id, or by the source's bytes if it has none.
    pub fn begin_run_with(&mut self, id: Option<&str>, identity: &[&str], names: [&str; 3]) -> Option<Handle> {
        match id.filter(|id| !id.trim().is_empty()) {
            Some(id) => self.begin(&[&[id], identity].concat(), names, None),
            None => self.begin_run_of_bytes(identity, names, Moment::Unread),
        }
    }

    /// Begins a run that nothing in the source names: another source with other bytes has another run. `identity` tells the source's runs
    /// apart. If the same place gave a run of the same names and time before, it is that run.
    pub fn begin_run_of_bytes(&mut self, identity: &[&str], names: [&str; 3], moment: Moment) -> Option<Handle> {
        self.begin(&[identity, &[self.read.sha256]].concat(), names, Some(moment))
    }

    /// Begins a run that nothing in the source names. As [`Self::begin_run_of_bytes`], but `identity` has a digest of the run's content, which
    /// copies in another notation share.
    pub fn begin_unnamed_run(&mut self, identity: &[&str], names: [&str; 3], moment: Moment) -> Option<Handle> {
        self.begin(identity, names, Some(moment))
    }

    fn begin(&mut self, identity: &[&str], [suite, approach, model]: [&str; 3], unnamed: Option<Moment>) -> Option<Handle> {
        let given = |given: &Option<String>, own: &str, lacking: &str| -> String {
            let own = own.trim();
            given.clone().unwrap_or_else(|| if own.is_empty() { lacking.to_owned() } else { clip(own, MOST_NAME_CHARS).into_owned() })
        };
        // Models without a name are not one model: each is its source's own.
        let unknown = (self.names.model.is_none() && model.trim().is_empty()).then(|| {
            if self.names.are_one_arm && self.format.kind() == ItemKind::Test {
                Origins::shared()
            } else {
                self.origins.unnamed(&self.origin, self.read.place, self.taken, self.store)
            }
        });
        let UnnamedModel { model: unknown, origin } = unknown.unwrap_or_else(Origins::shared);
        let own =
            [(&self.names.suite, suite, "unnamed"), (&self.names.approach, approach, "unnamed"), (&self.names.model, model, &unknown)];
        let [suite, approach, model] = own.map(|(set, own, lacking)| given(set, own, lacking));
        let mut first = self.first_id(identity);
        if let Some(moment) = unnamed
            && !self.begun.contains(&first)
        {
            let run = Unnamed { names: [&suite, &approach, &model], index: None, moment };
            let known = self.taken.unnamed(first.clone(), self.format.name(), self.read, run);
            if !self.begun.contains(&known) {
                first = known;
            }
        }
        self.begun.insert(first.clone());
        let again = self.ids.get(&first);
        let id = again.unwrap_or(&first).clone();
        let first = again.map(|_| first);
        if let Some(place) = self.by_id.get(&id) {
            return Some(Handle(*place));
        }
        let source = ImportedRun {
            id: id.clone(),
            suite,
            approach,
            model,
            identity: Some(identity.join("/")),
            file: self.file.to_owned(),
            line: None,
        };
        if self.taken.contains(&id) && !self.is_look {
            self.note_repeated(source);
            return None;
        }
        Some(self.add_run(id, first, source, origin))
    }

    fn add_run(&mut self, id: RunId, first: Option<RunId>, source: ImportedRun, origin: Option<String>) -> Handle {
        let run = Run::new(id.clone(), &source.suite, &source.approach, &source.model);
        self.by_id.insert(id, self.runs.len());
        self.runs.push(State {
            run,
            keeps_totals: false,
            first,
            source,
            origin,
            content: ContentSum::default(),
            sums: self.is_look.then(Sums::default),
            attempts: Attempts::default(),
            texts: ItemTexts::default(),
            passed: 0,
            counted: 0,
            spent: Spent::default(),
        });
        Handle(self.runs.len() - 1)
    }

    /// Begins a run under the id that it has in another store. Returns `None` if the store has it: then it is kept as it is. Other names
    /// from the command line make it another run.
    pub fn begin_kept_run(&mut self, id: RunId, names: [&str; 3]) -> Option<Handle> {
        if !self.names.is_empty() {
            return self.begin_run(&[id.as_str()], names);
        }
        if let Some(place) = self.by_id.get(&id) {
            return Some(Handle(*place));
        }
        let [suite, approach, model] = names.map(|name| clip(name.trim(), MOST_NAME_CHARS).into_owned());
        let identity = Some(id.to_string());
        let source = ImportedRun { id: id.clone(), suite, approach, model, identity, file: self.file.to_owned(), line: None };
        if self.taken.contains(&id) {
            self.kept.push(source);
            return None;
        }
        Some(self.add_run(id, None, source, None))
    }

    /// Keeps the totals that the run has now, instead of adding up its outcomes.
    pub fn keep_totals(&mut self, handle: Handle) {
        self.runs[handle.0].keeps_totals = true;
    }

    /// Returns the id under which a run with this identity is first imported.
    fn first_id(&self, identity: &[&str]) -> RunId {
        let mut parts = identity.to_vec();
        // Other names make it another run. Otherwise a run imported under wrong names could not be corrected.
        let names: Vec<String> = self.names.parts().iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        if !self.names.is_empty() {
            parts.extend(names.iter().map(String::as_str));
        }
        Store::imported_run_id(self.format.name(), &parts)
    }

    fn note_repeated(&mut self, run: ImportedRun) {
        self.last_repeated = Some(run.clone());
        if !self.repeated.iter().any(|known| known.id == run.id) {
            self.repeated.push(run);
        }
    }

    /// Notes that a run of the store was made in this session. The two are joined when the import ends.
    pub fn note_named(&mut self, session: &str) {
        if let Some(id) = self.taken.run_of_session(session).cloned() {
            self.quirk(&format!("run `{id}` of the store names this session"));
        }
    }

    /// Returns the session that counts the message, and its run.
    pub fn session_with(&self, message: u64) -> Option<(&'a str, &'a RunId)> {
        self.taken.session_with(message)
    }

    /// Returns the stored run of a session, which grows if the source has further messages. Returns `None` if sources are read anew.
    pub fn stored_session(&self, session: &str) -> Option<&'a Run> {
        self.taken.session(&self.first_id(&[session])).filter(|_| !self.taken.is_anew())
    }

    /// Keeps the run that counts all messages of a session. The session gets no run of its own.
    pub fn keep(&mut self, id: RunId, session: &str, names: [&str; 3]) {
        let [suite, approach, model] = names.map(str::to_owned);
        let identity = Some(session.to_owned());
        self.note_repeated(ImportedRun { id, suite, approach, model, identity, file: self.file.to_owned(), line: None });
    }

    /// Returns the prices of tokens from the configuration.
    pub fn prices(&self) -> &PriceTable {
        &self.names.prices
    }

    /// Returns the run, to be filled in. Missing counts, cost and tokens are added up from its outcomes at the end.
    pub fn run(&mut self, handle: Handle) -> &mut Run {
        &mut self.runs[handle.0].run
    }

    /// Names the folder that models without a name are called after, if it tells more than the source's own path.
    pub fn origin(&mut self, folder: PathBuf) {
        self.origin = folder;
    }

    /// Returns whether the command line names the model.
    pub fn is_model_given(&self) -> bool {
        self.names.model.is_some()
    }

    /// Returns the run's number of outcomes so far.
    pub fn outcomes_of(&self, handle: Handle) -> u64 {
        self.runs[handle.0].spent.outcomes
    }

    /// Creates an outcome with defaults for the caller to change: the first attempt at an item of the tool's kind, evaluated by the tool.
    pub fn outcome(&self, handle: Handle, item: &str, status: ItemStatus) -> ItemOutcome {
        ItemOutcome {
            run: self.runs[handle.0].run.id.clone(),
            kind: self.format.kind(),
            item: item.to_owned(),
            cluster: None,
            category: None,
            attempt: 1,
            status,
            score: None,
            evaluator: self.format.name().to_owned(),
            revision: 0,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Stores one outcome with its details, and refuses a repeated attempt. `place` names the outcome in the file.
    pub fn item(&mut self, handle: Handle, place: &str, mut outcome: ItemOutcome, mut details: ItemDetails) -> Result<(), Stop> {
        self.rows_read += 1;
        if outcome.item.trim().is_empty() {
            self.refuse_read(place, Refused::because("the item has no name"));
            return Ok(());
        }
        outcome.item = self.name(&outcome.item);
        outcome.evaluator = self.name(&outcome.evaluator);
        for group in [&mut outcome.cluster, &mut outcome.category] {
            *group = group.take().filter(|name| !name.trim().is_empty()).map(|name| self.name(&name));
        }
        outcome.score = outcome.score.filter(|score| score.is_finite());
        outcome.duration_seconds = outcome.duration_seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        outcome.cost_usd = outcome.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0);
        self.cut(&mut details);

        let key = format!("{}|{}:{}{}", outcome.kind, outcome.evaluator.len(), outcome.evaluator, outcome.item);
        let Some(item) = self.items.number(&key) else {
            self.refuse_read(place, Refused::because("more different items than can be told apart"));
            return Ok(());
        };
        let state = &mut self.runs[handle.0];
        if outcome.attempt == 0 || state.attempts.contains(item, outcome.attempt) {
            let detail = format!("item `{}`, attempt {}", visible(&outcome.item), outcome.attempt);
            self.refuse_read(place, Refused::with_detail("the attempt at the item is there twice", detail));
            return Ok(());
        }
        state.attempts.insert(item, outcome.attempt);
        outcome.run.clone_from(&state.run.id);
        state.texts.add(outcome.kind, &outcome.evaluator, &outcome.item, details.item_hash.as_deref());
        state.count(&outcome);
        match &mut state.sums {
            // The sums contain the content too.
            Some(sums) => sums.add(&outcome, &details),
            None => state.content.add(&outcome),
        }
        self.rows_accepted += 1;
        self.note_held(&outcome, &details);
        if self.mode == Mode::Store {
            self.begun()?.item_with(&outcome, &details)?;
        }
        Ok(())
    }

    /// Counts a record that is a whole run, without outcomes.
    pub fn record(&mut self) {
        self.rows_read += 1;
        self.rows_accepted += 1;
    }

    /// Checks published figures of the repeated run that `begin_run` found last. This source may have other figures.
    pub fn state_repeated(&mut self, figures: Vec<StatedFigure>) {
        if let Some(run) = &self.last_repeated {
            self.repeated_stated.push((figures, run.clone()));
        }
    }

    /// Refuses a part of the source; parts refused for the same reason are counted together.
    pub fn refuse(&mut self, place: &str, refused: Refused) {
        self.rows_read += 1;
        self.refuse_read(place, refused);
    }

    fn refuse_read(&mut self, place: &str, refused: Refused) {
        self.refusals.add_at(refused, self.file, place, None);
    }

    /// Notes an oddity and how it was read.
    pub fn quirk(&mut self, text: &str) {
        if let Some((_, count)) = self.quirks.iter_mut().find(|(known, _)| known == text) {
            *count += 1;
        } else if self.quirks.len() < MOST_QUIRKS {
            self.quirks.push((text.to_owned(), 1));
        }
    }

    /// Notes the version of the tool or the format that the file names.
    pub fn version(&mut self, version: &str) {
        self.version.get_or_insert_with(|| clip(version, MOST_NAME_CHARS).into_owned());
    }

    /// Keeps a published figure of the run, beside the recomputed one if there is one.
    pub fn stated(&mut self, handle: Handle, name: &str, value: f64, unit: Unit, recomputed: Option<f64>, rounding: Option<f64>) {
        if value.is_finite() {
            let recomputed = recomputed.filter(|value| value.is_finite());
            self.run(handle).stated.push(StatedFigure { name: name.to_owned(), value, unit, recomputed, rounding });
        }
    }

    fn begun(&mut self) -> Result<&mut SealedWriter, StoreError> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => Ok(none.insert(SealedWriter::create(self.store, self.key)?)),
        }
    }

    fn name(&mut self, name: &str) -> String {
        let clipped = clip(name, MOST_NAME_CHARS);
        if clipped.len() == name.len() {
            return name.to_owned();
        }
        // Long names may share their beginning.
        self.quirk("names are shortened to 500 characters");
        format!("{clipped} {}", &super::super::source::hex_digest(&[name.as_bytes()], false)[..12])
    }

    fn cut(&mut self, details: &mut ItemDetails) {
        let ItemDetails { reason, reply, answer, expected, question, item_hash, .. } = details;
        let texts = [reason, reply, answer, question, item_hash].into_iter().flatten().chain(expected);
        let mut is_cut = false;
        for text in texts {
            let clipped = clip(text, MOST_TEXT_CHARS);
            if clipped.len() < text.len() {
                is_cut = true;
                *text = clipped.into_owned();
            }
        }
        if is_cut {
            self.quirk(CUT);
        }
    }

    fn note_held(&mut self, outcome: &ItemOutcome, details: &ItemDetails) {
        let held = [
            ("item.score", outcome.score.is_some()),
            ("item.cluster", outcome.cluster.is_some()),
            ("item.category", outcome.category.is_some()),
            ("item.duration_seconds", outcome.duration_seconds.is_some()),
            ("item.cost_usd", outcome.cost_usd.is_some()),
            ("item.input_tokens", outcome.input_tokens.is_some()),
            ("item.output_tokens", outcome.output_tokens.is_some()),
            ("item.question", details.question.is_some()),
            ("item.expected", !details.expected.is_empty()),
            ("item.answer", details.answer.is_some() || details.reply.is_some()),
            ("item.reason", details.reason.is_some()),
            ("item.item_hash", details.item_hash.is_some()),
        ];
        for (field, is_held) in held {
            *self.held.entry(field).or_default() += u64::from(is_held);
        }
    }

    /// Returns whether a run of the source is stored already.
    pub(super) fn has_repeated(&self) -> bool {
        !self.repeated.is_empty()
    }

    /// Stores runs under the given ids instead of their first ids.
    pub(super) fn under(self, ids: BTreeMap<RunId, RunId>) -> Self {
        Self { ids, ..self }
    }

    /// Also reads runs that are stored already, and sums up their content.
    pub(super) fn looking(self) -> Self {
        Self { is_look: true, ..self }
    }

    /// Returns the runs with their content, and writes nothing.
    pub(super) fn held(self) -> Vec<(Run, Held)> {
        let kind = self.format.kind();
        let of = |mut state: State| {
            state.complete(kind);
            let held = state.sums.take().unwrap_or_default().of(&state.run);
            (state.run, held)
        };
        self.runs.into_iter().map(of).collect()
    }

    /// Ends the source: completes the runs, checks their published figures, seals the pair and returns the runs.
    pub(super) fn finish(mut self, provenance: &Provenance, report: &mut SourceReport) -> Result<Vec<Run>, StoreError> {
        self.runs.sort_by_cached_key(|state| {
            let run = &state.run;
            (run.suite.clone(), run.approach.clone(), run.model.clone(), run.run_index, state.source.identity.clone(), run.id.clone())
        });
        let mut foreign =
            ForeignReport { format: self.format.name(), version: self.version, quirks: self.quirks, ..ForeignReport::default() };
        let mut stated = StatedReport::default();
        let (mut runs, mut outcomes) = (Vec::new(), 0);
        for mut state in self.runs {
            state.complete(self.format.kind());
            if let Some(newer) = self.superseded_by {
                // Cancelled, so that its arm does not count it: the tool's user wanted the retry instead.
                state.run.status = RunStatus::Cancelled;
                state.run.tags.insert(SUPERSEDED_TAG.to_owned(), newer.to_string());
            }
            let content = Some(state.content.of(&state.run));
            let messages = state.run.provenance.take().and_then(|own| own.messages);
            let place = self.read.place.map(str::to_owned);
            state.run.provenance =
                Some(Provenance { content, first: state.first, place, origin: state.origin, messages, ..provenance.clone() });
            stated.check(&state.run.stated, &state.source);
            foreign.stated.extend(state.run.stated.iter().map(|figure| StatedLine { run: state.run.id.clone(), figure: figure.clone() }));
            outcomes += state.spent.outcomes;
            report.runs_new.push(state.source);
            runs.push(state.run);
        }
        for (figures, run) in self.repeated_stated {
            stated.check(&figures, &run);
            foreign.stated.extend(figures.into_iter().map(|figure| StatedLine { run: run.id.clone(), figure }));
        }
        foreign.fields = fields_held(&runs);
        if outcomes > 0 {
            foreign.fields.extend(self.held.iter().map(|(field, held)| FieldHeld { field, held: *held, of: outcomes }));
        }
        report.rows_read = self.rows_read;
        report.rows_accepted = self.rows_accepted;
        report.refusals = self.refusals.into_found();
        report.items = outcomes;
        report.runs_repeated = self.repeated;
        report.runs_repeated.extend(self.kept);
        report.stated = stated;
        report.foreign = Some(foreign);
        report.outcome = match (runs.is_empty(), report.runs_repeated.is_empty()) {
            (false, _) => SourceOutcome::Imported,
            (true, false) => SourceOutcome::NothingNew,
            (true, true) => SourceOutcome::NothingAccepted,
        };
        if self.mode == Mode::Store && !runs.is_empty() {
            let writer = match self.writer {
                Some(writer) => writer,
                None => SealedWriter::create(self.store, self.key)?,
            };
            note_replaced(&mut runs, report);
            writer.commit(&runs)?;
        }
        Ok(runs)
    }
}

impl State {
    fn count(&mut self, outcome: &ItemOutcome) {
        if outcome.kind.is_counted() && outcome.status.is_counted() {
            self.counted += 1;
            self.passed += u64::from(outcome.status == ItemStatus::Pass);
        }
        self.spent.add(outcome);
    }

    /// Sets the run's totals from its outcomes. Counts without outcomes count items of the tool's kind.
    fn complete(&mut self, kind: ItemKind) {
        let run = &mut self.run;
        if self.keeps_totals {
            run.items_digest = self.texts.digest();
            return;
        }
        if self.counted > 0 {
            (run.shared_tests_passed, run.shared_tests_total) = (Some(self.passed), Some(self.counted));
        }
        let has_counts_only = self.spent.outcomes == 0 && run.shared_tests_total.is_some();
        run.counted = run.counted.or(Some(kind)).filter(|kind| has_counts_only && kind.is_sample());
        run.input_tokens = run.input_tokens.or_else(|| run.usage?.input_total()).or_else(|| self.spent.input_tokens());
        run.output_tokens = run.output_tokens.or_else(|| run.usage?.output).or_else(|| self.spent.output_tokens());
        run.total_tokens = run.total_tokens.or_else(|| run.input_tokens?.checked_add(run.output_tokens?));
        run.cost_usd = run.cost_usd.or_else(|| self.spent.cost_usd()).filter(|cost| cost.is_finite() && *cost >= 0.0);
        run.duration_seconds = run.duration_seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        run.items_digest = self.texts.digest();
        run.scores.retain(|score| score.value.is_none_or(f64::is_finite));
        run.cost_source = match (run.cost_usd, run.cost_source) {
            (None, _) => CostSource::Unknown,
            (Some(_), CostSource::Unknown) => CostSource::Reported,
            (Some(_), known) => known,
        };
    }
}

fn fields_held(runs: &[Run]) -> Vec<FieldHeld> {
    type Held = fn(&Run) -> bool;
    let fields: [(&'static str, Held); 16] = [
        ("timestamp", |run| run.timestamp.is_some()),
        ("duration_seconds", |run| run.duration_seconds.is_some()),
        ("passed and total", |run| run.shared_tests_total.is_some()),
        ("scores", |run| !run.scores.is_empty()),
        ("stated figures", |run| !run.stated.is_empty()),
        ("input_tokens", |run| run.input_tokens.is_some()),
        ("output_tokens", |run| run.output_tokens.is_some()),
        ("cache tokens", |run| run.usage.is_some_and(|usage| usage.cache_read.is_some() || usage.cache_write.is_some())),
        ("cost_usd", |run| run.cost_usd.is_some()),
        ("total_calls", |run| run.total_calls.is_some()),
        ("agent", |run| run.agent.is_some()),
        ("suite_version", |run| run.suite_version.is_some()),
        ("git", |run| run.git.is_some()),
        ("seed", |run| run.seed.is_some()),
        ("host", |run| run.host.is_some()),
        ("error", |run| run.error.is_some()),
    ];
    let of = runs.len() as u64;
    let count = |held: Held| runs.iter().filter(|run| held(run)).count() as u64;
    if runs.is_empty() { Vec::new() } else { fields.into_iter().map(|(field, held)| FieldHeld { field, held: count(held), of }).collect() }
}
