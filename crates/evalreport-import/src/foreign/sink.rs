//! Takes what other tools' importers read, under the names of the command line, and tells the ledger. It notes oddities, and counts present
//! and missing fields.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::domain::{
    ItemDetails, ItemKind, ItemOutcome, ItemStatus, PriceTable, Run, RunId, StatedFigure, Unit,
    is_amount, is_count, is_figure,
};
use crate::results::Store;

use super::super::cell::Refused;
pub(crate) use super::super::ledger::RunHandle;
use super::super::ledger::{AttemptNumbering, Ledger};
use super::super::name_overrides::NameOverrides;
use super::super::origin::{SourceOrigins, UnnamedModel};
use super::super::report::{
    FieldCoverage, ForeignReport, PublishedFigureLine, SourceReport, SourceRun,
};
use super::super::rows::ReadStop;
pub(crate) use super::super::stored::RunMoment;
use super::super::stored::UnnamedRun;
use super::super::texts::MAX_TEXT_CHARS;
pub(crate) use super::super::texts::clip_text;
use super::format::ForeignFormat;
use super::json::to_count;
use super::source::ForeignFileGroup;

/// Maximum length of a name of a suite, an approach, a model or an item.
const MAX_NAME_CHARS: usize = 500;
const MAX_QUIRKS: usize = 64;
const CUT_QUIRK: &str = "texts are cut to 2000 characters";

/// Takes an importer's records of one source.
pub(crate) struct ImportSink<'a> {
    format: ForeignFormat,
    names: &'a NameOverrides,
    ledger: Ledger<'a>,
    /// File or folder that tells models without a name apart.
    origin: PathBuf,
    origins: &'a SourceOrigins,
    file: &'a str,
    last_repeated: Option<SourceRun>,
    notes: SourceNotes,
}

/// What a source of another tool has besides runs.
#[derive(Default)]
pub(super) struct SourceNotes {
    /// Published figures of runs that are stored already.
    repeated_stated: Vec<(Vec<StatedFigure>, SourceRun)>,
    version: Option<String>,
    quirks: Vec<(String, u64)>,
    held: BTreeMap<&'static str, u64>,
}

impl<'a> ImportSink<'a> {
    pub(super) fn new(
        ledger: Ledger<'a>,
        source: &'a ForeignFileGroup,
        names: &'a NameOverrides,
        origins: &'a SourceOrigins,
    ) -> Self {
        Self {
            format: source.format,
            names,
            ledger,
            origin: PathBuf::from(&source.shown),
            origins,
            file: &source.shown,
            last_repeated: None,
            notes: SourceNotes::default(),
        }
    }

    pub(super) fn into_parts(self) -> (Ledger<'a>, SourceNotes) {
        (self.ledger, self.notes)
    }

    /// Begins a run, or returns one that was begun. Returns `None` if the run is stored already and need not be read.
    ///
    /// `identity` is the source's own id of the run, which no other run has, wherever its file lies. A file's name, an agent or a model is no
    /// such id. `names` are the run's suite, approach and model, which the command line may replace.
    pub fn begin_run(&mut self, identity: &[&str], names: [&str; 3]) -> Option<RunHandle> {
        if identity.iter().all(|part| part.trim().is_empty()) {
            return self.begin_run_of_bytes(identity, names, RunMoment::Unread);
        }
        self.find_or_begin_run(identity, names, None)
    }

    /// Begins a run by its id, or by the source's bytes if it has none.
    pub fn begin_run_with(
        &mut self,
        id: Option<&str>,
        identity: &[&str],
        names: [&str; 3],
    ) -> Option<RunHandle> {
        match id.filter(|id| !id.trim().is_empty()) {
            Some(id) => self.find_or_begin_run(&[&[id], identity].concat(), names, None),
            None => self.begin_run_of_bytes(identity, names, RunMoment::Unread),
        }
    }

    /// Begins a run that nothing in the source names: another source with other bytes has another run. `identity` tells the source's runs
    /// apart. If the same place gave a run of the same names and time before, it is that run.
    pub fn begin_run_of_bytes(
        &mut self,
        identity: &[&str],
        names: [&str; 3],
        moment: RunMoment,
    ) -> Option<RunHandle> {
        self.find_or_begin_run(
            &[identity, &[self.ledger.context().read.sha256]].concat(),
            names,
            Some(moment),
        )
    }

    /// Begins a run that nothing in the source names. As [`Self::begin_run_of_bytes`], but `identity` has a digest of the run's content, which
    /// copies in another notation share.
    pub fn begin_unnamed_run(
        &mut self,
        identity: &[&str],
        names: [&str; 3],
        moment: RunMoment,
    ) -> Option<RunHandle> {
        self.find_or_begin_run(identity, names, Some(moment))
    }

    fn find_or_begin_run(
        &mut self,
        identity: &[&str],
        [suite, approach, model]: [&str; 3],
        unnamed: Option<RunMoment>,
    ) -> Option<RunHandle> {
        let given = |given: &Option<String>, own: &str, lacking: &str| -> String {
            let own = own.trim();
            given.clone().unwrap_or_else(|| {
                if own.is_empty() {
                    lacking.to_owned()
                } else {
                    clip_text(own, MAX_NAME_CHARS).into_owned()
                }
            })
        };
        // Models without a name are not one model: each is its source's own. Reports of test runners speak of no model, and are runs of one
        // arm, however their files are named.
        let told = *self.ledger.context();
        let unknown = (self.names.model.is_none() && model.trim().is_empty()).then(|| {
            if self.format.kind() == ItemKind::Test {
                SourceOrigins::shared_model()
            } else {
                self.origins
                    .name_model(&self.origin, told.read.place, told.stored, told.store)
            }
        });
        let UnnamedModel {
            model: unknown,
            origin,
        } = unknown.unwrap_or_else(SourceOrigins::shared_model);
        let own = [
            (&self.names.suite, suite, "unnamed"),
            (&self.names.approach, approach, "unnamed"),
            (&self.names.model, model, &unknown),
        ];
        let [suite, approach, model] = own.map(|(set, own, lacking)| given(set, own, lacking));
        let mut id = self.first_id(identity);
        if let Some(moment) = unnamed {
            id = self.ledger.resolve_unnamed(
                id,
                UnnamedRun {
                    names: [&suite, &approach, &model],
                    index: None,
                    moment,
                },
            );
        }
        if let Some(handle) = self.ledger.find_begun(&id) {
            return Some(handle);
        }
        let identity = Some(identity.join("/"));
        let source = SourceRun {
            id,
            suite,
            approach,
            model,
            identity,
            file: self.file.to_owned(),
            line: None,
        };
        if told.looks_twice && self.ledger.is_stored(&source.id) {
            self.note_repeated(source);
            return None;
        }
        let handle = self.ledger.begin_run(source, false);
        self.ledger.set_origin(handle, origin);
        Some(handle)
    }

    /// Begins a run under the id that it has in another store. Returns `None` if the store has it: then it is kept as it is. Other names
    /// from the command line make it another run.
    pub fn begin_kept_run(&mut self, id: RunId, names: [&str; 3]) -> Option<RunHandle> {
        if !self.names.is_empty() {
            return self.begin_run(&[id.as_str()], names);
        }
        if let Some(handle) = self.ledger.find_begun(&id) {
            return Some(handle);
        }
        let [suite, approach, model] =
            names.map(|name| clip_text(name.trim(), MAX_NAME_CHARS).into_owned());
        let identity = Some(id.to_string());
        let source = SourceRun {
            id,
            suite,
            approach,
            model,
            identity,
            file: self.file.to_owned(),
            line: None,
        };
        if self.ledger.context().stored.contains(&source.id) {
            self.ledger.keep_run(source);
            return None;
        }
        Some(self.ledger.begin_run(source, false))
    }

    /// Keeps the totals that the run has now, instead of adding up its outcomes.
    pub fn keep_totals(&mut self, handle: RunHandle) {
        self.ledger.keep_totals(handle);
    }

    /// Returns the id under which a run with this identity is first imported.
    fn first_id(&self, identity: &[&str]) -> RunId {
        let mut parts = identity.to_vec();
        // Other names make it another run. Otherwise a run imported under wrong names could not be corrected.
        let names: Vec<String> = self
            .names
            .identity_parts()
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        if !self.names.is_empty() {
            parts.extend(names.iter().map(String::as_str));
        }
        Store::imported_run_id(self.format.name(), &parts)
    }

    fn note_repeated(&mut self, run: SourceRun) {
        self.last_repeated = Some(run.clone());
        self.ledger.skip_run(run);
    }

    /// Notes that a run of the store was made in this session. The two are joined when the import ends.
    pub fn note_naming_run(&mut self, session: &str) {
        if let Some(id) = self
            .ledger
            .context()
            .stored
            .run_of_session(session)
            .cloned()
        {
            self.note_quirk(&format!("run `{id}` of the store names this session"));
        }
    }

    /// Returns the session that counts the message, and its run.
    pub fn session_with(&self, message: u64) -> Option<(&'a str, &'a RunId)> {
        self.ledger.context().stored.session_of_message(message)
    }

    /// Returns the stored run of a session, which grows if the source has further messages. Returns `None` if sources are read anew.
    pub fn stored_session(&self, session: &str) -> Option<&'a Run> {
        self.ledger
            .context()
            .stored
            .session_run(&self.first_id(&[session]))
            .filter(|_| !self.ledger.context().stored.is_anew())
    }

    /// Keeps the run that counts all messages of a session. The session gets no run of its own.
    pub fn keep_session_run(&mut self, id: RunId, session: &str, names: [&str; 3]) {
        let [suite, approach, model] = names.map(str::to_owned);
        let identity = Some(session.to_owned());
        self.note_repeated(SourceRun {
            id,
            suite,
            approach,
            model,
            identity,
            file: self.file.to_owned(),
            line: None,
        });
    }

    /// Returns the prices of tokens from the configuration.
    pub fn prices(&self) -> &PriceTable {
        &self.names.prices
    }

    /// Returns the run, to be filled in. Missing counts, cost and tokens are added up from its outcomes at the end.
    pub fn run_mut(&mut self, handle: RunHandle) -> &mut Run {
        self.ledger.run_mut(handle)
    }

    /// Names the folder that models without a name are called after, if it tells more than the source's own path.
    pub fn set_origin_folder(&mut self, folder: PathBuf) {
        self.origin = folder;
    }

    /// Returns whether the command line names the model.
    pub fn is_model_given(&self) -> bool {
        self.names.model.is_some()
    }

    /// Returns the run's number of outcomes so far.
    pub fn outcome_count(&self, handle: RunHandle) -> u64 {
        self.ledger.outcome_count(handle)
    }

    /// Creates an outcome with defaults for the caller to change: the first attempt at an item of the tool's kind, evaluated by the tool.
    pub fn new_outcome(&self, handle: RunHandle, item: &str, status: ItemStatus) -> ItemOutcome {
        ItemOutcome {
            run: self.ledger.run_of(handle).id.clone(),
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
    pub fn add_outcome(
        &mut self,
        handle: RunHandle,
        place: &str,
        mut outcome: ItemOutcome,
        mut details: ItemDetails,
    ) -> Result<(), ReadStop> {
        self.ledger.rows_read += 1;
        if outcome.item.trim().is_empty() {
            self.refuse_read(place, Refused::new("the item has no name"));
            return Ok(());
        }
        outcome.item = self.shorten_name(&outcome.item);
        outcome.evaluator = self.shorten_name(&outcome.evaluator);
        for group in [&mut outcome.cluster, &mut outcome.category] {
            *group = group
                .take()
                .filter(|name| !name.trim().is_empty())
                .map(|name| self.shorten_name(&name));
        }
        outcome.score = outcome.score.filter(|score| is_figure(*score));
        outcome.duration_seconds = outcome
            .duration_seconds
            .filter(|seconds| is_amount(*seconds));
        outcome.cost_usd = outcome.cost_usd.filter(|cost| is_amount(*cost));
        for tokens in [&mut outcome.input_tokens, &mut outcome.output_tokens] {
            *tokens = tokens.filter(|tokens| is_count(*tokens));
        }
        self.shorten_texts(&mut details);

        match self
            .ledger
            .number_item(Some(handle), &outcome, AttemptNumbering::Given)
        {
            Ok(item) => {
                self.count_present_fields(&outcome, &details);
                self.ledger.add_outcome(
                    handle,
                    (item, AttemptNumbering::Given),
                    &mut outcome,
                    &details,
                )?;
            }
            Err(refused) => self.refuse_read(place, refused),
        }
        Ok(())
    }

    /// Counts a record that is a whole run, without outcomes.
    pub fn count_run_record(&mut self) {
        self.ledger.count_records(1);
    }

    /// Checks published figures of the repeated run that `begin_run` found last. This source may have other figures.
    pub fn check_repeated_figures(&mut self, figures: Vec<StatedFigure>) {
        if let Some(run) = &self.last_repeated {
            self.notes.repeated_stated.push((figures, run.clone()));
        }
    }

    /// Refuses a part of the source; parts refused for the same reason are counted together.
    pub fn refuse_part(&mut self, place: &str, refused: Refused) {
        self.ledger.rows_read += 1;
        self.refuse_read(place, refused);
    }

    fn refuse_read(&mut self, place: &str, refused: Refused) {
        self.ledger.note_refused(refused, self.file, place, None);
    }

    /// Notes an oddity and how it was read.
    pub fn note_quirk(&mut self, text: &str) {
        if let Some((_, count)) = self
            .notes
            .quirks
            .iter_mut()
            .find(|(known, _)| known == text)
        {
            *count += 1;
        } else if self.notes.quirks.len() < MAX_QUIRKS {
            self.notes.quirks.push((text.to_owned(), 1));
        }
    }

    /// Notes the version of the tool or the format that the file names.
    pub fn note_version(&mut self, version: &str) {
        self.notes
            .version
            .get_or_insert_with(|| clip_text(version, MAX_NAME_CHARS).into_owned());
    }

    /// Keeps a published figure of the run, beside the recomputed one if there is one.
    pub fn add_published_figure(
        &mut self,
        handle: RunHandle,
        name: &str,
        value: f64,
        unit: Unit,
        recomputed: Option<f64>,
        rounding: Option<f64>,
    ) {
        if is_figure(value) {
            let recomputed = recomputed.filter(|value| is_figure(*value));
            self.run_mut(handle).stated.push(StatedFigure {
                name: name.to_owned(),
                value,
                unit,
                recomputed,
                rounding,
            });
        }
    }

    /// Keeps a published count of the run beside the recomputed one. A value that is no count is passed over.
    pub fn add_published_count(
        &mut self,
        handle: RunHandle,
        name: &str,
        stated: &Value,
        recomputed: Option<u64>,
    ) {
        if let Some(stated) = to_count(stated) {
            let recomputed = recomputed.map(|count| count as f64);
            self.add_published_figure(handle, name, stated as f64, Unit::Count, recomputed, None);
        }
    }

    fn shorten_name(&mut self, name: &str) -> String {
        let clipped = clip_text(name, MAX_NAME_CHARS);
        if clipped.len() == name.len() {
            return name.to_owned();
        }
        // Long names may share their beginning.
        self.note_quirk("names are shortened to 500 characters");
        format!(
            "{clipped} {}",
            &super::super::source::hex_digest(&[name.as_bytes()], false)[..12]
        )
    }

    fn shorten_texts(&mut self, details: &mut ItemDetails) {
        let ItemDetails {
            reason,
            reply,
            answer,
            expected,
            question,
            item_hash,
            ..
        } = details;
        let texts = [reason, reply, answer, question, item_hash]
            .into_iter()
            .flatten()
            .chain(expected);
        let mut is_cut = false;
        for text in texts {
            let clipped = clip_text(text, MAX_TEXT_CHARS);
            if clipped.len() < text.len() {
                is_cut = true;
                *text = clipped.into_owned();
            }
        }
        if is_cut {
            self.note_quirk(CUT_QUIRK);
        }
    }

    fn count_present_fields(&mut self, outcome: &ItemOutcome, details: &ItemDetails) {
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
            (
                "item.answer",
                details.answer.is_some() || details.reply.is_some(),
            ),
            ("item.reason", details.reason.is_some()),
            ("item.item_hash", details.item_hash.is_some()),
        ];
        for (field, is_held) in held {
            *self.notes.held.entry(field).or_default() += u64::from(is_held);
        }
    }
}

impl SourceNotes {
    /// Adds to the report what is known of the source, whose new runs are these.
    pub fn add_to_report(
        self,
        format: ForeignFormat,
        files: usize,
        runs: &[Run],
        report: &mut SourceReport,
    ) {
        let stated_by = |run: &RunId, figure: &StatedFigure| PublishedFigureLine {
            run: run.clone(),
            figure: figure.clone(),
        };
        let mut stated: Vec<PublishedFigureLine> = runs
            .iter()
            .flat_map(|run| run.stated.iter().map(|figure| stated_by(&run.id, figure)))
            .collect();
        for (figures, run) in &self.repeated_stated {
            report.stated.check_figures(figures, run);
            stated.extend(figures.iter().map(|figure| stated_by(&run.id, figure)));
        }
        let mut fields = count_run_fields(runs);
        if report.items > 0 {
            fields.extend(self.held.iter().map(|(field, held)| FieldCoverage {
                field,
                held: *held,
                of: report.items,
            }));
        }
        report.foreign = Some(ForeignReport {
            format: format.name(),
            version: self.version,
            files,
            fields,
            quirks: self.quirks,
            stated,
        });
    }
}

fn count_run_fields(runs: &[Run]) -> Vec<FieldCoverage> {
    type HasField = fn(&Run) -> bool;
    let fields: [(&'static str, HasField); 16] = [
        ("timestamp", |run| run.timestamp.is_some()),
        ("duration_seconds", |run| run.duration_seconds.is_some()),
        ("passed and total", |run| run.shared_tests_total.is_some()),
        ("scores", |run| !run.scores.is_empty()),
        ("published figures", |run| !run.stated.is_empty()),
        ("input_tokens", |run| run.input_tokens.is_some()),
        ("output_tokens", |run| run.output_tokens.is_some()),
        ("cache tokens", |run| {
            run.usage
                .is_some_and(|usage| usage.cache_read.is_some() || usage.cache_write.is_some())
        }),
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
    let count = |held: HasField| runs.iter().filter(|run| held(run)).count() as u64;
    if runs.is_empty() {
        Vec::new()
    } else {
        fields
            .into_iter()
            .map(|(field, held)| FieldCoverage {
                field,
                held: count(held),
                of,
            })
            .collect()
    }
}
