//! The one way from a source to the store: tables, rubrics and other tools' formats all tell a ledger their runs and outcomes.
//!
//! It decides which run is which, keeps repeated attempts out, adds up counts and spending, compares stored runs with what the source says,
//! checks published figures, and seals the pair.

use std::collections::{BTreeMap, BTreeSet};

use tracing::debug;

use crate::domain::{
    CostSource, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Provenance, Run, RunId,
    StatedFigure, escape_invisible, is_amount,
};
use crate::results::{ItemTextDigests, SealedWriter, Store, StoreError};

use super::attempt_counter::{ItemNumbers, SeenAttempts};
use super::cell::Refused;
use super::content::ContentSum;
use super::copied_items::{CopiedItems, whole_question};
use super::mode::ImportMode;
use super::reimport::{note_replaced, resolve_known_runs};
use super::report::{PublishedFigureCheck, Refusals, SourceOutcome, SourceReport, SourceRun};
use super::rows::ReadStop;
use super::run_content::{RunContent, RunContentSums};
use super::stored::{SourceFingerprint, StoredRuns, UnnamedRun};
use super::usage_totals::{CompensatedSum, UsageTotals};

/// Evaluator whose tests are the run's own, as in the store's examination.
const OWN_TESTS: &str = "own_tests";
const FUNCTIONAL_TESTS: &str = "functional_tests";

/// Handle of a run that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunHandle(usize);

/// Says who numbers the attempts at an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptNumbering {
    /// The source does. The same number twice is a repetition, which is refused.
    Given,
    /// Nobody does: each further outcome of an item is its next attempt.
    InOrder,
}

/// What is read, and where its runs go.
#[derive(Clone, Copy)]
pub(super) struct SourceContext<'a> {
    pub importer: &'static str,
    /// Kind of the items that a run without outcomes counts. `None` if the source itself says it.
    pub kind: Option<ItemKind>,
    /// Runs of the store and of earlier sources of the command.
    pub stored: &'a StoredRuns,
    pub store: &'a Store,
    pub key: &'a str,
    pub read: SourceFingerprint<'a>,
    pub mode: ImportMode,
    /// A source that holds many runs need not be read in full to find that it has nothing new. Its stored runs are summed up only in a
    /// second reading.
    pub looks_twice: bool,
    /// A run's provenance has a digest of its outcomes, and its record one of its items. A table may have too many rows for that: its runs
    /// are compared with the store's own records.
    pub keeps_content: bool,
}

impl<'a> SourceContext<'a> {
    /// A source of another tool, with the kind of its items.
    pub fn for_tool(self, kind: ItemKind) -> Self {
        Self {
            kind: Some(kind),
            looks_twice: true,
            keeps_content: true,
            ..self
        }
    }

    /// A source whose rows are read once.
    pub fn for_rows(
        importer: &'static str,
        (stored, store, key): (&'a StoredRuns, &'a Store, &'a str),
        read: SourceFingerprint<'a>,
        mode: ImportMode,
    ) -> Self {
        Self {
            importer,
            kind: None,
            stored,
            store,
            key,
            read,
            mode,
            looks_twice: false,
            keeps_content: false,
        }
    }
}

/// Texts of a table's items that are remembered, which takes some 50 MB.
const MAX_ROW_TEXTS: usize = 1_000_000;

/// Takes the runs and outcomes of one source.
pub(super) struct Ledger<'a> {
    told: SourceContext<'a>,
    /// New ids for runs whose stored record is to be replaced, by their first ids.
    ids: BTreeMap<RunId, RunId>,
    /// First ids of the runs that were begun or skipped.
    begun: BTreeSet<RunId>,
    runs: Vec<RunBuilder>,
    by_id: BTreeMap<RunId, usize>,
    /// Stored runs that the source has and nobody read.
    skipped: Vec<SourceRun>,
    /// Runs that the store has under the source's own ids, and that no source replaces.
    kept: Vec<SourceRun>,
    items: ItemNumbers,
    key: String,
    /// Created with the first outcome, so that a source with nothing to store leaves no trace.
    writer: Option<SealedWriter>,
    pub rows_read: u64,
    pub rows_accepted: u64,
    /// Outcomes of new runs.
    pub outcomes: u64,
    refusals: Refusals,
    /// How many more texts of a table's items are remembered. None are, once it is 0.
    texts_left: usize,
}

struct RunBuilder {
    run: Run,
    /// The source has the run's totals, which are not added up.
    keeps_totals: bool,
    /// The id made of the run's identity, if it is stored under another.
    first: Option<RunId>,
    source: SourceRun,
    /// Digest of the location that the model is called after, if it has no name.
    origin: Option<String>,
    /// Sums of the run's content, if the store may have the run: it is compared, and not written.
    sums: Option<RunContentSums>,
    content: ContentSum,
    attempts: SeenAttempts,
    texts: ItemTextDigests,
    copies: CopiedItems,
    shared: PassTally,
    own: PassTally,
    spent: UsageTotals,
    score: CompensatedSum,
    /// Published figures that are checked and not kept with the run, beside or instead of those that are.
    checked: Option<Vec<StatedFigure>>,
}

#[derive(Default)]
struct PassTally {
    passed: u64,
    total: u64,
}

impl PassTally {
    fn passed_and_total(&self) -> Option<(u64, u64)> {
        (self.total > 0).then_some((self.passed, self.total))
    }
}

/// Reads a source into a ledger, and returns it with what else there is to know.
type LedgerReader<'r, 'a, More> =
    dyn FnMut(Ledger<'a>, &mut SourceReport) -> Result<(Ledger<'a>, More), ReadStop> + 'r;

/// Reads a source into a ledger. Reads it again if stored runs are to be replaced, because their outcomes were not written. Returns `None` if
/// the source cannot be read; then the report tells why.
pub(super) fn read_into_ledger<'a, More>(
    told: SourceContext<'a>,
    report: &mut SourceReport,
    read: &mut LedgerReader<'_, 'a, More>,
) -> Result<Option<(Ledger<'a>, More)>, StoreError> {
    let mut read = |ledger, report: &mut SourceReport| match read(ledger, report) {
        Ok(done) => Ok(Some(done)),
        Err(ReadStop::Store(error)) => Err(error),
        Err(ReadStop::Unreadable(problems)) => {
            report.mark_unreadable(problems);
            Ok(None)
        }
    };
    let Some((mut ledger, more)) = read(Ledger::new(told), report)? else {
        return Ok(None);
    };
    if !ledger.has_repeated() {
        return Ok(Some((ledger, more)));
    }
    let ids = if told.looks_twice {
        let look = SourceContext {
            mode: ImportMode::DryRun,
            looks_twice: false,
            ..told
        };
        let Some((mut look, _)) = read(Ledger::new(look), report)? else {
            return Ok(None);
        };
        look.settle_repeated(report)?
    } else {
        ledger.settle_repeated(report)?
    };
    if ids.is_empty() {
        return Ok(Some((ledger, more)));
    }
    drop(ledger);
    read(
        Ledger {
            ids,
            ..Ledger::new(told)
        },
        report,
    )
}

impl<'a> Ledger<'a> {
    pub fn new(told: SourceContext<'a>) -> Self {
        Self {
            told,
            ids: BTreeMap::new(),
            begun: BTreeSet::new(),
            runs: Vec::new(),
            by_id: BTreeMap::new(),
            skipped: Vec::new(),
            kept: Vec::new(),
            items: ItemNumbers::default(),
            key: String::new(),
            writer: None,
            rows_read: 0,
            rows_accepted: 0,
            outcomes: 0,
            refusals: Refusals::default(),
            texts_left: MAX_ROW_TEXTS,
        }
    }

    pub fn context(&self) -> &SourceContext<'a> {
        &self.told
    }

    /// Returns the first id of a run that nothing in its source names, from the id that its content makes.
    pub fn resolve_unnamed(&self, own: RunId, run: UnnamedRun<'_>) -> RunId {
        if self.begun.contains(&own) {
            return own;
        }
        let known =
            self.told
                .stored
                .resolve_unnamed(own.clone(), self.told.importer, self.told.read, run);
        if self.begun.contains(&known) {
            own
        } else {
            known
        }
    }

    /// Returns the run with this first id, if it was begun.
    pub fn find_begun(&self, first: &RunId) -> Option<RunHandle> {
        self.by_id
            .get(self.current_id(first))
            .map(|place| RunHandle(*place))
    }

    /// Returns whether the store has the run with this first id, and need not take it again.
    pub fn is_stored(&self, first: &RunId) -> bool {
        !self.ids.contains_key(first) && self.told.stored.contains(first)
    }

    fn current_id<'i>(&'i self, first: &'i RunId) -> &'i RunId {
        self.ids.get(first).unwrap_or(first)
    }

    /// Begins a run, or returns one that was begun. `source` has its first id. A run that the store may have, if only under another id
    /// (`is_copy`), is summed up and not written.
    pub fn begin_run(&mut self, mut source: SourceRun, is_copy: bool) -> RunHandle {
        let first = source.id.clone();
        if let Some(handle) = self.find_begun(&first) {
            return handle;
        }
        let is_repeated = self.is_stored(&first) || is_copy && !self.ids.contains_key(&first);
        source.id = self.current_id(&first).clone();
        self.begun.insert(first.clone());
        let is_renamed = source.id != first;
        self.by_id.insert(source.id.clone(), self.runs.len());
        self.runs.push(RunBuilder {
            run: Run::new(
                source.id.clone(),
                &source.suite,
                &source.approach,
                &source.model,
            ),
            keeps_totals: false,
            first: is_renamed.then_some(first),
            source,
            origin: None,
            sums: is_repeated.then(RunContentSums::default),
            content: ContentSum::default(),
            attempts: SeenAttempts::default(),
            texts: ItemTextDigests::default(),
            copies: CopiedItems::default(),
            shared: PassTally::default(),
            own: PassTally::default(),
            spent: UsageTotals::default(),
            score: CompensatedSum::default(),
            checked: None,
        });
        RunHandle(self.runs.len() - 1)
    }

    /// Notes a run of the store that the source has, and that is not read.
    pub fn skip_run(&mut self, run: SourceRun) {
        self.begun.insert(run.id.clone());
        if !self.skipped.iter().any(|known| known.id == run.id) {
            self.skipped.push(run);
        }
    }

    /// Notes a run of the store that is kept as it is.
    pub fn keep_run(&mut self, run: SourceRun) {
        self.kept.push(run);
    }

    /// Names the location that the run's model is called after.
    pub fn set_origin(&mut self, handle: RunHandle, origin: Option<String>) {
        self.runs[handle.0].origin = origin;
    }

    /// Keeps the totals that the run has now, instead of adding up its outcomes.
    pub fn keep_totals(&mut self, handle: RunHandle) {
        self.runs[handle.0].keeps_totals = true;
    }

    /// Has these published figures checked instead of those that are kept with the run.
    pub fn set_checked_figures(&mut self, handle: RunHandle, figures: Vec<StatedFigure>) {
        self.runs[handle.0].checked = Some(figures);
    }

    /// Returns the run, to be filled in. Missing counts, cost and tokens are added up from its outcomes at the end.
    pub fn run_mut(&mut self, handle: RunHandle) -> &mut Run {
        &mut self.runs[handle.0].run
    }

    pub fn run_of(&self, handle: RunHandle) -> &Run {
        &self.runs[handle.0].run
    }

    pub fn source_of(&self, handle: RunHandle) -> &SourceRun {
        &self.runs[handle.0].source
    }

    /// Returns the run's number of outcomes so far.
    pub fn outcome_count(&self, handle: RunHandle) -> u64 {
        self.runs[handle.0].spent.outcomes
    }

    /// Returns the mean score of the run's outcomes and their number, if there are any.
    pub fn mean_score(&self, handle: RunHandle) -> Option<(f64, u64)> {
        let score = &self.runs[handle.0].score;
        Some((score.value() / score.n as f64, score.n))
            .filter(|(mean, n)| *n > 0 && mean.is_finite())
    }

    pub fn handles(&self) -> impl Iterator<Item = RunHandle> + use<> {
        (0..self.runs.len()).map(RunHandle)
    }

    pub fn runs_mut(&mut self) -> impl Iterator<Item = &mut Run> {
        self.runs.iter_mut().map(|state| &mut state.run)
    }

    /// Returns the number of the outcome's item. Refuses an attempt that the run, if it was begun, has had.
    pub fn number_item(
        &mut self,
        handle: Option<RunHandle>,
        outcome: &ItemOutcome,
        numbering: AttemptNumbering,
    ) -> Result<u32, Refused> {
        item_key(outcome, &mut self.key);
        let item = self
            .items
            .number_of(&self.key)
            .ok_or_else(|| Refused::new("more different items than can be told apart"))?;
        let is_there =
            |handle: RunHandle| self.runs[handle.0].attempts.contains(item, outcome.attempt);
        if numbering == AttemptNumbering::Given
            && (outcome.attempt == 0 || handle.is_some_and(is_there))
        {
            let detail = format!(
                "item `{}`, attempt {}",
                escape_invisible(&outcome.item),
                outcome.attempt
            );
            return Err(Refused::with_detail(
                "the attempt at the item is there twice",
                detail,
            ));
        }
        Ok(item)
    }

    /// Takes the outcome of an item that was not refused.
    pub fn add_outcome(
        &mut self,
        handle: RunHandle,
        (item, numbering): (u32, AttemptNumbering),
        outcome: &mut ItemOutcome,
        details: &ItemDetails,
    ) -> Result<(), StoreError> {
        let state = &mut self.runs[handle.0];
        match numbering {
            AttemptNumbering::Given => state.attempts.insert(item, outcome.attempt),
            AttemptNumbering::InOrder => outcome.attempt = state.attempts.next_attempt(item),
        }
        outcome.run.clone_from(&state.run.id);
        state.count_outcome(outcome);
        // Other tools' items have names of their own, and hashes of their texts in the run's record.
        if self.told.keeps_content {
            state.texts.add_item(
                outcome.kind,
                &outcome.evaluator,
                &outcome.item,
                details.item_hash.as_deref(),
            );
        } else {
            state.copies.add_item(&outcome.item, details);
            self.add_row_text(handle, outcome, details);
        }
        let state = &mut self.runs[handle.0];
        self.rows_accepted += 1;
        if let Some(sums) = &mut state.sums {
            sums.add_outcome(outcome, details);
            return Ok(());
        }
        if self.told.keeps_content {
            state.content.add_outcome(outcome);
        }
        self.outcomes += 1;
        if self.told.mode == ImportMode::Store {
            let writer = match &mut self.writer {
                Some(writer) => writer,
                none => none.insert(SealedWriter::create(self.told.store, self.told.key)?),
            };
            writer.write_item_with_details(outcome, details)?;
        }
        Ok(())
    }

    /// Counts records that are no outcomes.
    /// Remembers the text of a row's item. Equal texts of two runs show that both were asked the same. Of unequal ones nothing follows, since
    /// a column of prompts may hold more than the item.
    fn add_row_text(&mut self, handle: RunHandle, outcome: &ItemOutcome, details: &ItemDetails) {
        if self.texts_left == 0 {
            return;
        }
        self.texts_left -= 1;
        if self.texts_left == 0 {
            // A part of a run's texts would be taken for all.
            for run in &mut self.runs {
                run.texts = ItemTextDigests::default();
            }
            return;
        }
        let text = whole_question(details).map(|question| {
            [&[question.to_owned()], &details.expected[..]]
                .concat()
                .join("\n")
        });
        self.runs[handle.0].texts.add_item(
            outcome.kind,
            &outcome.evaluator,
            &outcome.item,
            text.as_deref(),
        );
    }

    pub fn count_records(&mut self, records: u64) {
        self.rows_read += records;
        self.rows_accepted += records;
    }

    /// Notes a refused part of the source; parts refused for the same reason are counted together.
    pub fn note_refused(&mut self, refused: Refused, label: &str, name: &str, line: Option<usize>) {
        self.refusals.add_refusal(refused, label, name, line);
    }

    /// Returns whether the store may have a run of the source.
    fn has_repeated(&self) -> bool {
        !self.skipped.is_empty() || self.runs.iter().any(|state| state.sums.is_some())
    }

    /// Decides about the runs that the store may have. Returns ids for those that are to be stored.
    fn settle_repeated(
        &mut self,
        report: &mut SourceReport,
    ) -> Result<BTreeMap<RunId, RunId>, StoreError> {
        let SourceContext {
            importer,
            kind,
            stored,
            store,
            read,
            ..
        } = self.told;
        let mut held: Vec<(Run, RunContent)> = Vec::new();
        for state in &mut self.runs {
            state.complete_totals(kind);
            held.extend(
                state
                    .sums
                    .as_ref()
                    .map(|sums| (state.run.clone(), sums.to_content(&state.run))),
            );
        }
        held.sort_by_cached_key(|(run, _)| run_sort_key(run, None));
        let (known, new): (Vec<_>, Vec<_>) = held
            .into_iter()
            .partition(|(run, _)| stored.contains(&run.id));
        let mut ids = resolve_known_runs(stored, store, known, read, report)?;
        for (run, held) in new {
            if !stored.has_same_content(
                store,
                importer,
                (&run, UnnamedRun::from_run(&run)),
                &held,
            )? {
                ids.insert(run.id.clone(), run.id);
            }
        }
        Ok(ids)
    }

    /// Ends the source: completes the runs, checks their published figures, seals the pair and returns the new runs.
    pub fn finish(
        mut self,
        provenance: &Provenance,
        report: &mut SourceReport,
    ) -> Result<Vec<Run>, StoreError> {
        self.runs
            .sort_by_cached_key(|state| run_sort_key(&state.run, state.source.identity.clone()));
        let SourceContext {
            kind,
            store,
            key,
            read,
            mode,
            keeps_content,
            ..
        } = self.told;
        let mut runs = Vec::new();
        report.runs_repeated = self.skipped;
        report.stated = PublishedFigureCheck::default();
        for mut state in self.runs {
            state.complete_totals(kind);
            report.stated.check_figures(
                state.checked.as_ref().unwrap_or(&state.run.stated),
                &state.source,
            );
            if state.sums.is_some() {
                report.runs_repeated.push(state.source);
                continue;
            }
            let content = keeps_content.then(|| state.content.run_content(&state.run));
            let messages = state.run.provenance.take().and_then(|own| own.messages);
            let place = read.place.map(str::to_owned);
            let provenance = Provenance {
                content,
                first: state.first,
                place,
                origin: state.origin,
                messages,
                ..provenance.clone()
            };
            state.run.provenance = Some(provenance);
            report.runs_new.push(state.source);
            runs.push(state.run);
        }
        report.runs_repeated.extend(self.kept);
        (report.rows_read, report.rows_accepted, report.items) =
            (self.rows_read, self.rows_accepted, self.outcomes);
        report.refusals = self.refusals.into_reasons();
        report.outcome = match (runs.is_empty(), report.runs_repeated.is_empty()) {
            (false, _) => SourceOutcome::Imported,
            (true, false) => SourceOutcome::NothingNew,
            (true, true) => SourceOutcome::NothingAccepted,
        };
        note_replaced(&mut runs, report);
        if mode == ImportMode::Store && !runs.is_empty() {
            let writer = match self.writer {
                Some(writer) => writer,
                None => SealedWriter::create(store, key)?,
            };
            writer.commit(&runs)?;
            debug!(file = report.file, key, "sealed in the store");
        }
        Ok(runs)
    }
}

/// Returns the key by which a source's runs are sorted, whatever the order of its parts.
pub(super) fn run_sort_key(
    run: &Run,
    identity: Option<String>,
) -> (String, String, String, Option<u32>, Option<String>, RunId) {
    (
        run.suite.clone(),
        run.approach.clone(),
        run.model.clone(),
        run.run_index,
        identity,
        run.id.clone(),
    )
}

impl RunBuilder {
    fn count_outcome(&mut self, outcome: &ItemOutcome) {
        let is_headline = outcome.kind.is_counted() && outcome.evaluator != FUNCTIONAL_TESTS;
        if is_headline && outcome.status.is_counted() {
            let counted = if outcome.evaluator == OWN_TESTS {
                &mut self.own
            } else {
                &mut self.shared
            };
            counted.total += 1;
            counted.passed += u64::from(outcome.status == ItemStatus::Pass);
        }
        self.spent.add_outcome(outcome);
        if let Some(score) = outcome.score {
            self.score.add(score);
        }
    }

    /// Sets the run's totals from its outcomes. Counts without outcomes count items of the tool's kind.
    fn complete_totals(&mut self, kind: Option<ItemKind>) {
        let run = &mut self.run;
        run.items_digest = self.texts.items_digest();
        run.has_copied_items = self.copies.has_found_some();
        if self.keeps_totals {
            return;
        }
        if let Some((passed, total)) = self.shared.passed_and_total() {
            (run.shared_tests_passed, run.shared_tests_total) = (Some(passed), Some(total));
        }
        if let Some((passed, total)) = self.own.passed_and_total() {
            (run.own_tests_passed, run.own_tests_total) = (Some(passed), Some(total));
        }
        if let Some(kind) = kind {
            let has_counts_only = self.spent.outcomes == 0 && run.shared_tests_total.is_some();
            run.counted = run
                .counted
                .or(Some(kind))
                .filter(|kind| has_counts_only && kind.is_sample());
        }
        run.input_tokens = run
            .input_tokens
            .or_else(|| run.usage?.input_total())
            .or_else(|| self.spent.input_tokens());
        run.output_tokens = run
            .output_tokens
            .or_else(|| run.usage?.output)
            .or_else(|| self.spent.output_tokens());
        run.total_tokens = run
            .total_tokens
            .or_else(|| run.input_tokens?.checked_add(run.output_tokens?));
        run.cost_usd = run
            .cost_usd
            .or_else(|| self.spent.cost_usd())
            .filter(|cost| is_amount(*cost));
        run.duration_seconds = run.duration_seconds.filter(|seconds| is_amount(*seconds));
        run.scores.retain(|score| score.find_problem().is_none());
        run.cost_source = match (run.cost_usd, run.cost_source) {
            (None, _) => CostSource::Unknown,
            (Some(_), CostSource::Unknown) => CostSource::Reported,
            (Some(_), known) => known,
        };
    }
}

/// Writes a key that only this item has.
fn item_key(outcome: &ItemOutcome, key: &mut String) {
    use std::fmt::Write;
    key.clear();
    // Writing to a string cannot fail.
    let _ = write!(
        key,
        "{}|{}:{}{}",
        outcome.kind.name(),
        outcome.evaluator.len(),
        outcome.evaluator,
        outcome.item
    );
}
