//! Judges stored runs without repeating them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::domain::{
    Evaluator, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, latest_revision,
};
use crate::evaluate::{
    CriteriaOrder, Effort, EvaluatorItem, EvaluatorResult, Workpiece, code,
    fulfilment_prompt_sha256, score_fulfilment, tool_use_prompt_sha256,
};
use crate::files;
use crate::process::StopSignal;
use crate::results::{JudgeLine, Judgements, ScoreLine, Store, StoreError, TranscriptLine};
use crate::suite::{AcceptanceCriterion, Suite};

use super::answers::build_transcript;
use super::code::made_files;
use super::evaluation::{JudgeSettings, SuiteEvaluation, to_records};

/// The stored results of a run's work.
#[derive(Clone, Debug)]
pub struct KeptWork {
    /// The folder with the produced files. `None` if none were produced.
    folder: Option<PathBuf>,
    files: Vec<PathBuf>,
    transcript: Vec<Value>,
    effort: Effort,
}

/// Why a judge would see less of a run than was produced.
pub enum UnfitReason {
    /// It was never stored.
    Lacking(String),
    /// It may be stored, but cannot be read now.
    Unread(String),
}

impl KeptWork {
    /// Finds the stored results of a run.
    pub fn find_results(store: &Store, run: &Run, suite: &Suite) -> Result<Self, UnfitReason> {
        let unread = |error: StoreError| UnfitReason::Unread(error.full_message());
        let folder = store.output_path(&run.id).map_err(unread)?;
        let transcript = store.transcript_path(&run.id).map_err(unread)?;
        let has_transcript = transcript.is_some();
        // For an imported run, the imported data is all there is.
        let is_all = run.files_generated == Some(0)
            || run.provenance.is_some() && run.files_generated.is_none() && has_transcript;
        if folder.is_none() && !is_all {
            return Err(UnfitReason::Lacking(
                match (run.provenance.is_some(), has_transcript) {
                    (false, _) => "what it made was not kept".to_owned(),
                    (true, true) => {
                        "it was imported without the files it made, which its record counts"
                            .to_owned()
                    }
                    (true, false) => {
                        "it was imported with neither what it made nor a transcript".to_owned()
                    }
                },
            ));
        }
        let listed = folder.as_deref().map(code::list_files);
        if listed.as_ref().is_some_and(|listed| listed.is_partial) {
            return Err(UnfitReason::Unread(
                "not all of what it made can be listed".to_owned(),
            ));
        }
        let made = folder.as_deref().zip(listed).map(|(folder, listed)| {
            made_files(
                &listed,
                folder,
                suite.workspace.as_deref(),
                suite.requirements.as_deref(),
            )
        });
        let transcript = match transcript {
            Some(path) => read_transcript(&path).map_err(|error| {
                UnfitReason::Unread(format!("its transcript cannot be read: {error}"))
            })?,
            None => Vec::new(),
        };
        Ok(Self {
            folder,
            files: made.unwrap_or_default().into_iter().collect(),
            transcript,
            effort: run_effort(run),
        })
    }

    /// Uses the answers of an imported run as its transcript. Returns `None` if no item has an answer.
    pub fn from_answers(run: &Run, items: &[(ItemOutcome, ItemDetails)]) -> Option<Self> {
        Some(Self {
            folder: None,
            files: Vec::new(),
            transcript: build_transcript(items)?,
            effort: run_effort(run),
        })
    }

    fn to_workpiece<'a>(&'a self, suite: &'a Suite) -> Workpiece<'a> {
        Workpiece {
            suite,
            folder: self.folder.as_deref(),
            files: &self.files,
            transcript: &self.transcript,
            effort: self.effort.clone(),
        }
    }
}

fn run_effort(run: &Run) -> Effort {
    Effort {
        usage: run.usage.unwrap_or_default(),
        cost_usd: run.cost_usd,
        turns: run.turns,
        duration: run
            .duration_seconds
            .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok()),
        tools: None,
    }
}

/// Reads a transcript. Skips unreadable lines, as a crash may have cut the last one.
fn read_transcript(path: &Path) -> std::io::Result<Vec<Value>> {
    let text = String::from_utf8_lossy(&files::read(path)?).into_owned();
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str::<TranscriptLine>(line).ok())
        .map(|line| line.entry)
        .collect())
}

/// The context in which runs are judged.
pub struct JudgementContext<'a> {
    pub store: &'a Store,
    pub suite: &'a Suite,
    pub evaluation: &'a SuiteEvaluation,
    pub stop: &'a StopSignal,
}

/// A new judgement beside the current one.
#[derive(Clone, Debug)]
pub struct NewJudgement {
    pub evaluator: Evaluator,
    pub before: Option<JudgementState>,
    pub after: JudgementState,
    /// The revision that it was stored as. `None` if it was not stored, because it adds nothing to the current judgement.
    pub revision: Option<u32>,
    /// Number of criteria kept from earlier, which were not asked again.
    pub kept: usize,
    /// Cost of asking.
    pub cost_usd: Option<f64>,
}

/// A judge's decisions about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgementState {
    pub judge: Option<String>,
    pub score: Option<f64>,
    pub not_evaluated: Option<String>,
    /// The status of each criterion, in suite order.
    pub items: Vec<(String, ItemStatus)>,
}

impl JudgementState {
    fn decided_count(&self) -> usize {
        self.items
            .iter()
            .filter(|(_, status)| is_decided(*status))
            .count()
    }

    /// Returns whether everything has been decided.
    pub fn is_whole(&self) -> bool {
        self.score.is_some() && self.decided_count() == self.items.len()
    }

    /// Returns whether each criterion is met, or `None` if it is undecided.
    pub fn criteria_met(&self) -> Vec<(String, Option<bool>)> {
        self.items
            .iter()
            .map(|(item, status)| (item.clone(), is_met(*status)))
            .collect()
    }

    /// Reads one revision of stored judgements.
    pub fn from_revision(judgements: &Judgements, revision: u32) -> Self {
        let line = latest_revision(
            judgements
                .scores
                .iter()
                .filter(|line| line.score.revision == revision),
            |line| line.score.revision,
        );
        Self {
            judge: line
                .and_then(|line| line.judge.as_ref())
                .map(JudgeLine::name),
            score: line.and_then(|line| line.score.value),
            not_evaluated: line.and_then(|line| line.not_evaluated.clone()),
            items: judgements
                .items_of_revision(revision)
                .map(|(outcome, _)| (outcome.item.clone(), outcome.status))
                .collect(),
        }
    }

    /// Reads the newest revision, or returns `None` if there is none.
    pub fn from_newest(judgements: &Judgements) -> Option<Self> {
        judgements
            .latest_score()
            .map(|line| Self::from_revision(judgements, line.score.revision))
    }

    fn from_line(line: &ScoreLine, items: &[(ItemOutcome, ItemDetails)]) -> Self {
        Self {
            judge: line.judge.as_ref().map(JudgeLine::name),
            score: line.score.value,
            not_evaluated: line.not_evaluated.clone(),
            items: items
                .iter()
                .map(|(outcome, _)| (outcome.item.clone(), outcome.status))
                .collect(),
        }
    }
}

/// Returns whether the criterion is met, or `None` if it is undecided.
fn is_met(status: ItemStatus) -> Option<bool> {
    match status {
        ItemStatus::Pass => Some(true),
        ItemStatus::Fail => Some(false),
        ItemStatus::Error
        | ItemStatus::Limit
        | ItemStatus::Infra
        | ItemStatus::Skipped
        | ItemStatus::NotEvaluated => None,
    }
}

fn is_decided(status: ItemStatus) -> bool {
    is_met(status).is_some()
}

impl JudgementContext<'_> {
    /// Returns whether a judge still has something to decide about the run.
    pub fn is_open(&self, run: &RunId) -> Result<bool, StoreError> {
        for evaluator in self.evaluation.evaluators() {
            if !self.is_decided(
                evaluator,
                JudgementState::from_newest(&self.store.read_judgements(run, evaluator.name())?)
                    .as_ref(),
            ) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Judges a run and stores the judgements. With `retry`, skips decided evaluators, and asks only open criteria if the same judge
    /// decided the others. Returns `None` if the user stopped it.
    pub fn judge_run(
        &self,
        run: &RunId,
        kept: &KeptWork,
        retry: bool,
    ) -> Result<Option<Vec<NewJudgement>>, StoreError> {
        let mut judgements = Vec::new();
        for evaluator in self.evaluation.evaluators() {
            let known = self.store.read_judgements(run, evaluator.name())?;
            let before = JudgementState::from_newest(&known);
            if retry && self.is_decided(evaluator, before.as_ref()) {
                continue;
            }
            let decided = if retry {
                self.decisions_by_same_judge(evaluator, &known)
            } else {
                BTreeMap::new()
            };
            let Some(evaluated) = self.ask_undecided(evaluator, kept, &decided) else {
                return Ok(None);
            };
            let cost_usd = evaluated.judged.as_ref().and_then(|judged| judged.cost.usd);
            let (items, line) = to_records(run, evaluated, known.next);
            let after = JudgementState::from_line(&line, &items);
            // A judge that was unavailable must not replace earlier decisions.
            let says_more = after.score.is_some()
                || before.as_ref().is_none_or(|before| {
                    before.score.is_none() && before.decided_count() < after.decided_count()
                }) && after.decided_count() > 0;
            let revision = says_more
                .then(|| self.store.append_judgement(run, &items, &line))
                .transpose()?;
            judgements.push(NewJudgement {
                evaluator,
                before,
                after,
                revision,
                kept: decided.len(),
                cost_usd,
            });
        }
        Ok(Some(judgements))
    }

    /// Judges the criteria in suite order and in reverse. A complete current judgement by the same judge serves as the first. Two scores are
    /// stored as a probe, which changes no judgement. Returns `None` if the user stopped it.
    pub fn probe_order(
        &self,
        run: &RunId,
        kept: &KeptWork,
    ) -> Result<Option<(JudgementState, JudgementState)>, StoreError> {
        let evaluator = Evaluator::RequirementFulfillment;
        let known = self.store.read_judgements(run, evaluator.name())?;
        let stored = self
            .is_same_judge(evaluator, &known)
            .then(|| JudgementState::from_newest(&known))
            .flatten()
            .filter(JudgementState::is_whole);
        let piece = kept.to_workpiece(self.suite);
        let ask = |order| {
            let (items, line) = to_records(
                run,
                self.evaluation
                    .judge_again(evaluator, &piece, order, self.stop)?,
                0,
            );
            Some((JudgementState::from_line(&line, &items), line))
        };
        let given = match stored {
            Some(stored) => Some(stored),
            None => ask(CriteriaOrder::Given).map(|(standing, _)| standing),
        };
        let Some((given, (reversed, line))) =
            given.and_then(|given| Some((given, ask(CriteriaOrder::Reversed)?)))
        else {
            return Ok(None);
        };
        if let (Some(score), Some(_)) = (given.score, reversed.score) {
            let next = self
                .store
                .read_judgements(run, &ScoreLine::probe_metric(evaluator.name()))?
                .next;
            self.store
                .append_judgement(run, &[], &line.into_probe(score, next))?;
        }
        Ok(Some((given, reversed)))
    }

    /// Returns whether there is a score and all current criteria are decided. The suite may have gained criteria since.
    fn is_decided(&self, evaluator: Evaluator, standing: Option<&JudgementState>) -> bool {
        let Some(standing) = standing.filter(|standing| standing.is_whole()) else {
            return false;
        };
        let has = |leaf: &AcceptanceCriterion| {
            standing
                .items
                .iter()
                .any(|(item, _)| *item == leaf.criterion)
        };
        evaluator != Evaluator::RequirementFulfillment
            || AcceptanceCriterion::collect_leaves(&self.suite.acceptance_criteria)
                .into_iter()
                .all(has)
    }

    /// Asks about the undecided criteria, and merges the answers with the decided ones.
    fn ask_undecided(
        &self,
        evaluator: Evaluator,
        kept: &KeptWork,
        decided: &DecisionsByCriterion,
    ) -> Option<EvaluatorResult> {
        if decided.is_empty() || evaluator != Evaluator::RequirementFulfillment {
            return self.evaluation.judge_again(
                evaluator,
                &kept.to_workpiece(self.suite),
                CriteriaOrder::Given,
                self.stop,
            );
        }
        let open = AcceptanceCriterion::collect_leaves(&self.suite.acceptance_criteria)
            .into_iter()
            .filter(|leaf| !decided.contains_key(&leaf.criterion));
        let suite = Suite {
            acceptance_criteria: open.cloned().collect(),
            ..self.suite.clone()
        };
        let said = self.evaluation.judge_again(
            evaluator,
            &kept.to_workpiece(&suite),
            CriteriaOrder::Given,
            self.stop,
        )?;
        Some(merge_decisions(
            &self.suite.acceptance_criteria,
            decided,
            said,
        ))
    }

    /// Returns earlier decisions by the same judge with the same prompt, about criteria that still exist.
    fn decisions_by_same_judge(
        &self,
        evaluator: Evaluator,
        known: &Judgements,
    ) -> DecisionsByCriterion {
        let Some(newest) = known
            .latest_score()
            .filter(|_| self.is_same_judge(evaluator, known))
        else {
            return DecisionsByCriterion::new();
        };
        let asked: Vec<&str> = AcceptanceCriterion::collect_leaves(&self.suite.acceptance_criteria)
            .into_iter()
            .map(|leaf| leaf.criterion.as_str())
            .collect();
        let entries = criterion_entries(newest.details.as_ref());
        known
            .items_of_revision(newest.score.revision)
            .filter(|(outcome, _)| {
                is_decided(outcome.status) && asked.contains(&outcome.item.as_str())
            })
            .map(|(outcome, details)| {
                let entry = entries
                    .get(outcome.item.as_str())
                    .map(|entry| (*entry).clone());
                (
                    outcome.item.clone(),
                    EarlierDecision {
                        status: outcome.status,
                        details: details.clone(),
                        entry,
                    },
                )
            })
            .collect()
    }

    fn is_same_judge(&self, evaluator: Evaluator, known: &Judgements) -> bool {
        let words = match evaluator {
            Evaluator::RequirementFulfillment => fulfilment_prompt_sha256(),
            Evaluator::ToolUse => tool_use_prompt_sha256(),
            Evaluator::Efficiency
            | Evaluator::Functional
            | Evaluator::CodeQuality
            | Evaluator::Complexity => return false,
        };
        let newest = known.latest_score().and_then(|line| line.judge.as_ref());
        newest.zip(self.evaluation.jury.as_ref()).is_some_and(
            |(judge, JudgeSettings { agent, votes, .. })| {
                let is_same_model = agent
                    .model
                    .as_ref()
                    .is_none_or(|model| judge.model.as_ref() == Some(model));
                judge.agent == agent.id
                    && is_same_model
                    && judge.prompt_sha256 == words
                    && judge.votes == (*votes).max(1)
            },
        )
    }
}

/// An earlier decision about a criterion that is not asked again.
#[derive(Clone, Debug)]
struct EarlierDecision {
    status: ItemStatus,
    details: ItemDetails,
    /// The criterion's entry in the score's details.
    entry: Option<Value>,
}

/// Earlier decisions by criterion.
type DecisionsByCriterion = BTreeMap<String, EarlierDecision>;

/// Merges earlier and new decisions into one judgement of all criteria.
fn merge_decisions(
    criteria: &[AcceptanceCriterion],
    decided: &DecisionsByCriterion,
    said: EvaluatorResult,
) -> EvaluatorResult {
    let now: BTreeMap<&str, &EvaluatorItem> = said
        .items
        .iter()
        .map(|item| (item.item.as_str(), item))
        .collect();
    let items: Vec<EvaluatorItem> = AcceptanceCriterion::collect_leaves(criteria)
        .into_iter()
        .map(|leaf| {
            let item = |status, details| EvaluatorItem {
                kind: ItemKind::Criterion,
                item: leaf.criterion.clone(),
                status,
                details,
            };
            match (
                decided.get(&leaf.criterion),
                now.get(leaf.criterion.as_str()),
            ) {
                (Some(before), _) => item(before.status, before.details.clone()),
                (None, Some(now)) => (*now).clone(),
                (None, None) => item(
                    ItemStatus::NotEvaluated,
                    ItemDetails {
                        reason: said.score.clone().err(),
                        ..ItemDetails::default()
                    },
                ),
            }
        })
        .collect();
    let fresh = criterion_entries(Some(&said.details));
    let entry = |item: &EvaluatorItem| {
        let known = match decided.get(&item.item) {
            Some(before) => before.entry.clone(),
            None => fresh.get(item.item.as_str()).map(|entry| (*entry).clone()),
        };
        known.unwrap_or_else(|| {
            json!({"criterion": item.item, "passed": item.status == ItemStatus::Pass, "reasoning": item.details.reason.as_deref().unwrap_or("")})
        })
    };
    let met: Vec<Option<bool>> = items.iter().map(|item| is_met(item.status)).collect();
    let listed: Vec<Value> = items
        .iter()
        .filter(|item| is_met(item.status).is_some())
        .map(entry)
        .collect();
    let (score, mut details) = score_fulfilment(criteria, &listed, &met);
    // These describe the current request. The older revision describes the earlier one.
    for key in ["votes", "parts", "questions", "trouble"] {
        if let Some(said) = said.details.get(key) {
            details[key] = said.clone();
        }
    }
    let passed = met.iter().filter(|met| **met == Some(true)).count();
    let all = met.iter().flatten().count();
    let reasoning = format!(
        "{passed} of {all} criteria met; {} of them were decided before",
        decided.len()
    );
    let score = score.ok_or_else(|| {
        said.score
            .clone()
            .err()
            .unwrap_or_else(|| "not every criterion was decided".to_owned())
    });
    EvaluatorResult {
        score,
        details,
        items,
        reasoning: Some(reasoning),
        ..said
    }
}

/// Returns each criterion's entry in the details of a score.
fn criterion_entries(details: Option<&Value>) -> BTreeMap<&str, &Value> {
    let listed = details
        .and_then(|details| details.get("criteria"))
        .and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.get("criterion")?.as_str()?, entry)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(
        text: &str,
        weight: f64,
        children: Vec<AcceptanceCriterion>,
    ) -> AcceptanceCriterion {
        AcceptanceCriterion {
            criterion: text.to_owned(),
            weight,
            children,
        }
    }

    fn item(text: &str, status: ItemStatus) -> EvaluatorItem {
        EvaluatorItem {
            kind: ItemKind::Criterion,
            item: text.to_owned(),
            status,
            details: ItemDetails::default(),
        }
    }

    #[test]
    fn what_was_decided_and_what_is_said_now_are_one_judgement() {
        let tree = [
            criterion("a", 1.0, vec![]),
            criterion(
                "both",
                3.0,
                vec![criterion("b", 1.0, vec![]), criterion("c", 1.0, vec![])],
            ),
        ];
        let decided: DecisionsByCriterion = [("a", ItemStatus::Fail), ("b", ItemStatus::Pass)]
            .map(|(item, status)| {
                (
                    item.to_owned(),
                    EarlierDecision {
                        status,
                        details: ItemDetails::default(),
                        entry: Some(json!({"criterion": item, "votesFor": 2})),
                    },
                )
            })
            .into();
        let said = EvaluatorResult {
            score: Ok(100.0),
            items: vec![item("c", ItemStatus::Pass)],
            details: json!({"criteria": [{"criterion": "c", "votesFor": 3}], "votes": {"asked": 3, "counted": 3}, "passedCount": 1}),
            ..EvaluatorResult::without_score(Evaluator::RequirementFulfillment, "")
        };
        let joined_up = merge_decisions(&tree, &decided, said);
        assert_eq!(joined_up.score, Ok(75.0));
        assert_eq!(
            joined_up
                .items
                .iter()
                .map(|item| item.item.as_str())
                .collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        assert_eq!(
            joined_up.details,
            json!({
                "criteria": [{"criterion": "a", "votesFor": 2}, {"criterion": "b", "votesFor": 2}, {"criterion": "c", "votesFor": 3}],
                "passedCount": 2, "totalCount": 3, "votes": {"asked": 3, "counted": 3}, "weighted": true,
                "tree": [
                    {"criterion": "a", "weight": 1.0, "score": 0.0},
                    {"criterion": "both", "weight": 3.0, "score": 100.0, "children": [
                        {"criterion": "b", "weight": 1.0, "score": 100.0}, {"criterion": "c", "weight": 1.0, "score": 100.0}
                    ]}
                ]
            })
        );

        let away = merge_decisions(
            &tree,
            &decided,
            EvaluatorResult::without_score(Evaluator::RequirementFulfillment, "away"),
        );
        assert_eq!(away.score, Err("away".to_owned()));
        assert_eq!(away.items[2].status, ItemStatus::NotEvaluated);
        assert_eq!(away.items[2].details.reason.as_deref(), Some("away"));
        assert_eq!(
            (
                &away.details["notEvaluatedCount"],
                away.details["tree"][1].get("score")
            ),
            (&json!(1), None)
        );
        assert_eq!(away.details["tree"][0]["score"], 0.0);
    }
}
