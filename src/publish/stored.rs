//! Reading a run's files in the stores, other than its header.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::{ItemDetails, ItemOutcome, Run, RunId, escape_invisible, natural_key};
use crate::results::{ScoreLine, Store};
use crate::views::{EvaluatorScore, JudgeView, newest_scores};
use crate::warehouse::{DisplayNames, RunRow, Warehouse};

use super::error::PublishError;

/// The stores, and the names under which runs and items are shown.
#[derive(Clone, Copy, Debug)]
pub struct NamedStores<'a> {
    pub folders: &'a [PathBuf],
    pub names: &'a DisplayNames,
}

/// Files of a run's folder that pages show.
pub(super) const JOURNAL_FILES: [&str; 3] = ["items.jsonl", "scores.jsonl", "transcript.jsonl"];

impl NamedStores<'_> {
    /// Returns the store that has the run as a file of its own.
    pub fn store_of(&self, id: &RunId) -> Result<Option<Store>, PublishError> {
        for store in self.folders.iter().map(Store::new) {
            if store.has_run(id)? {
                return Ok(Some(store));
            }
        }
        Ok(None)
    }

    /// Returns the store whose folder of this run has evaluators' scores: the store with the run's own file, or, for an imported run, the
    /// store where judges judged it.
    pub fn score_store_of(
        &self,
        warehouse: &Warehouse,
        id: &RunId,
    ) -> Result<Option<Store>, PublishError> {
        let judged = || {
            warehouse
                .judgement_folder(id)
                .and_then(Path::parent)
                .map(Store::new)
        };
        Ok(self.store_of(id)?.or_else(judged))
    }

    /// Reads a run's journal, under shown names.
    pub fn read_journal(
        &self,
        store: &Store,
        id: &RunId,
    ) -> Result<Option<Vec<(ItemOutcome, ItemDetails)>>, PublishError> {
        let mut items = store.read_detailed_items(id)?;
        for (outcome, _) in items.iter_mut().flatten() {
            self.names.rename_outcome(outcome);
        }
        Ok(items)
    }

    /// Reads the outcomes and details of imported runs, under shown names.
    pub fn read_detailed_imports(
        &self,
        warehouse: &Warehouse,
        runs: &[Arc<Run>],
    ) -> Result<Vec<(ItemOutcome, ItemDetails)>, PublishError> {
        let mut items = warehouse
            .read_detailed_outcomes(runs)
            .map_err(|error| PublishError::new(escape_invisible(&error.to_string())))?;
        for (outcome, _) in &mut items {
            self.names.rename_outcome(outcome);
        }
        // A run of ours that is in a lake keeps its order.
        let imported: BTreeSet<&RunId> = runs
            .iter()
            .filter(|run| run.provenance.is_some())
            .map(|run| &run.id)
            .collect();
        sort_by_item(&mut items, |run| imported.contains(run));
        Ok(items)
    }

    /// Reads the outcomes of imported runs without details, and adds judges' details if there are any.
    pub fn read_imported_outcomes(
        &self,
        warehouse: &Warehouse,
        runs: &[&RunId],
    ) -> Result<Vec<(ItemOutcome, ItemDetails)>, PublishError> {
        let outcomes = warehouse
            .read_outcomes(runs)
            .map_err(|error| PublishError::new(escape_invisible(&error.to_string())))?;
        let mut said = BTreeMap::new();
        for run in runs {
            let items = self.read_import_judgements(warehouse, run)?;
            said.extend(items.into_iter().map(|(outcome, details)| {
                (
                    (outcome.run.clone(), outcome.key(), outcome.attempt),
                    details,
                )
            }));
        }
        let with_details = |outcome: ItemOutcome| {
            let details = said
                .remove(&(outcome.run.clone(), outcome.key(), outcome.attempt))
                .unwrap_or_default();
            (outcome, details)
        };
        let mut items: Vec<_> = outcomes.into_iter().map(with_details).collect();
        sort_by_item(&mut items, |_| true);
        Ok(items)
    }

    /// Reads judges' decisions about an imported run, with their reasons.
    pub fn read_import_judgements(
        &self,
        warehouse: &Warehouse,
        run: &RunId,
    ) -> Result<Vec<(ItemOutcome, ItemDetails)>, PublishError> {
        warehouse
            .read_judged_outcomes(run)
            .map_err(|error| PublishError::new(escape_invisible(&error.to_string())))
    }

    /// Names the run's file for a message.
    pub(super) fn name_run_file(&self, id: &RunId) -> String {
        self.store_of(id).ok().flatten().map_or_else(
            || format!("imported run {id}"),
            |store| display_path(&store.header_path(id)),
        )
    }

    /// Names a file of the run's folder for a message.
    pub(super) fn name_journal_file(&self, id: &RunId, name: &str) -> String {
        self.store_of(id).ok().flatten().map_or_else(
            || format!("imported run {id}"),
            |store| display_path(&store.run_dir(id).join(name)),
        )
    }
}

/// Orders the outcomes of imported runs for people, since the store keeps no order of theirs. Attempts and revisions keep their order.
fn sort_by_item(items: &mut [(ItemOutcome, ItemDetails)], is_imported: impl Fn(&RunId) -> bool) {
    items.sort_by_cached_key(|(outcome, _)| {
        is_imported(&outcome.run).then(|| {
            (
                outcome.kind,
                outcome.evaluator.clone(),
                natural_key(&outcome.item),
            )
        })
    });
}

/// Formats a path for messages.
pub(super) fn display_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}

/// Maximum lines of a run whose texts are held in memory for one page.
const MAX_DETAILED: u64 = 20_000;

/// Says whether the lines of a run that no store has as a file of its own are worth reading for their texts.
pub fn has_details(warehouse: &Warehouse, row: &RunRow) -> bool {
    let is_imported = row.run.provenance.is_some();
    if !is_imported && warehouse.is_external(&row.run.id) {
        return true;
    }
    is_imported && row.items.is_some_and(|items| items.lines <= MAX_DETAILED)
}

/// Reads evaluators' scores of a run; `store` is the one with its folder, if there is one. Unreadable lines were already reported when the
/// store was opened.
pub fn read_evaluator_scores(
    store: Option<&Store>,
    warehouse: &Warehouse,
    id: &RunId,
) -> Vec<EvaluatorScore> {
    let lines = match store {
        Some(store) => ScoreLine::read_all(&store.scores_path(id), &mut Vec::new()),
        None => warehouse.score_lines(id).to_vec(),
    };
    newest_scores(
        lines
            .into_iter()
            .filter(|line| !line.is_probe())
            .map(to_evaluator_score)
            .collect(),
    )
}

fn to_evaluator_score(line: ScoreLine) -> EvaluatorScore {
    let ScoreLine {
        score,
        details,
        reasoning,
        not_evaluated,
        judge,
        raw: _,
    } = line;
    EvaluatorScore {
        evaluator: score.metric,
        value: score.value,
        unit: score.unit,
        direction: score.direction,
        revision: score.revision,
        earlier: 0,
        not_evaluated,
        reasoning,
        details: details.filter(|details| !details.is_null()),
        judge: judge.map(|judge| JudgeView {
            agent: judge.agent,
            model: judge.model,
            prompt_sha256: judge.prompt_sha256,
            votes: judge.votes,
            agreement: judge.agreement,
            input_tokens: judge.usage.and_then(|usage| usage.input),
            output_tokens: judge.usage.and_then(|usage| usage.output),
            cost_usd: judge.cost_usd,
            cost_source: judge.cost_source.map(|source| source.name().to_owned()),
        }),
    }
}
