//! Judges stored runs without repeating them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::domain::{
    Evaluator, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, RunId, standing,
};
use crate::evaluate::{
    Effort, Evaluated, EvaluatedItem, Order, Workpiece, code, fulfilment_prompt_sha256,
    fulfilment_sum, tool_use_prompt_sha256,
};
use crate::files;
use crate::process::Stop;
use crate::results::{JudgeLine, Judgements, ScoreLine, Store, StoreError, TranscriptLine};
use crate::suite::{Criterion, Suite};

use super::answers::transcript_of;
use super::code::made_files;
use super::evaluation::{Evaluation, Jury, recorded};

/// The stored results of a run's work.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The folder with the produced files. `None` if none were produced.
    folder: Option<PathBuf>,
    files: Vec<PathBuf>,
    transcript: Vec<Value>,
    effort: Effort,
}

/// Why a judge would see less of a run than was produced.
pub enum Unfit {
    /// It was never stored.
    Lacking(String),
    /// It may be stored, but cannot be read now.
    Unread(String),
}

impl Kept {
    /// Finds the stored results of a run.
    pub fn find(store: &Store, run: &Run, suite: &Suite) -> Result<Self, Unfit> {
        let unread = |error: StoreError| Unfit::Unread(error.whole());
        let folder = store.output_path(&run.id).map_err(unread)?;
        let transcript = store.transcript_path(&run.id).map_err(unread)?;
        let has_transcript = transcript.is_some();
        // For an imported run, the imported data is all there is.
        let is_all = run.files_generated == Some(0)
            || run.provenance.is_some() && run.files_generated.is_none() && has_transcript;
        if folder.is_none() && !is_all {
            return Err(Unfit::Lacking(
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
        let listed = folder.as_deref().map(code::files);
        if listed.as_ref().is_some_and(|listed| listed.is_partial) {
            return Err(Unfit::Unread(
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
                Unfit::Unread(format!("its transcript cannot be read: {error}"))
            })?,
            None => Vec::new(),
        };
        Ok(Self {
            folder,
            files: made.unwrap_or_default().into_iter().collect(),
            transcript,
            effort: effort(run),
        })
    }

    /// Uses the answers of an imported run as its transcript. Returns `None` if no item has an answer.
    pub fn of_answers(run: &Run, items: &[(ItemOutcome, ItemDetails)]) -> Option<Self> {
        Some(Self {
            folder: None,
            files: Vec::new(),
            transcript: transcript_of(items)?,
            effort: effort(run),
        })
    }

    fn piece<'a>(&'a self, suite: &'a Suite) -> Workpiece<'a> {
        Workpiece {
            suite,
            folder: self.folder.as_deref(),
            files: &self.files,
            transcript: &self.transcript,
            effort: self.effort.clone(),
        }
    }
}

fn effort(run: &Run) -> Effort {
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
pub struct Bench<'a> {
    pub store: &'a Store,
    pub suite: &'a Suite,
    pub evaluation: &'a Evaluation,
    pub stop: &'a Stop,
}

/// A new judgement beside the current one.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub evaluator: Evaluator,
    pub before: Option<Standing>,
    pub after: Standing,
    /// The revision that it was stored as. `None` if it was not stored, because it adds nothing to the current judgement.
    pub revision: Option<u32>,
    /// Number of criteria kept from earlier, which were not asked again.
    pub kept: usize,
    /// Cost of asking.
    pub cost_usd: Option<f64>,
}

/// A judge's decisions about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub judge: Option<String>,
    pub score: Option<f64>,
    pub not_evaluated: Option<String>,
    /// The status of each criterion, in suite order.
    pub items: Vec<(String, ItemStatus)>,
}

impl Standing {
    fn decided(&self) -> usize {
        self.items
            .iter()
            .filter(|(_, status)| is_decided(*status))
            .count()
    }

    /// Returns whether everything has been decided.
    pub fn is_whole(&self) -> bool {
        self.score.is_some() && self.decided() == self.items.len()
    }

    /// Returns whether each criterion is met, or `None` if it is undecided.
    pub fn met(&self) -> Vec<(String, Option<bool>)> {
        self.items
            .iter()
            .map(|(item, status)| (item.clone(), is_met(*status)))
            .collect()
    }

    /// Reads one revision of stored judgements.
    pub fn of_revision(judgements: &Judgements, revision: u32) -> Self {
        let line = standing(
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
                .of_revision(revision)
                .map(|(outcome, _)| (outcome.item.clone(), outcome.status))
                .collect(),
        }
    }

    /// Reads the newest revision, or returns `None` if there is none.
    pub fn newest(judgements: &Judgements) -> Option<Self> {
        judgements
            .newest()
            .map(|line| Self::of_revision(judgements, line.score.revision))
    }

    fn of_line(line: &ScoreLine, items: &[(ItemOutcome, ItemDetails)]) -> Self {
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

impl Bench<'_> {
    /// Returns whether a judge still has something to decide about the run.
    pub fn is_open(&self, run: &RunId) -> Result<bool, StoreError> {
        for evaluator in self.evaluation.evaluators() {
            if !self.is_decided(
                evaluator,
                Standing::newest(&self.store.judgements(run, evaluator.name())?).as_ref(),
            ) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Judges a run and stores the judgements. With `retry`, skips decided evaluators, and asks only open criteria if the same judge
    /// decided the others. Returns `None` if the user stopped it.
    pub fn judge(
        &self,
        run: &RunId,
        kept: &Kept,
        retry: bool,
    ) -> Result<Option<Vec<Judgement>>, StoreError> {
        let mut judgements = Vec::new();
        for evaluator in self.evaluation.evaluators() {
            let known = self.store.judgements(run, evaluator.name())?;
            let before = Standing::newest(&known);
            if retry && self.is_decided(evaluator, before.as_ref()) {
                continue;
            }
            let decided = if retry {
                self.decided_by_same(evaluator, &known)
            } else {
                BTreeMap::new()
            };
            let Some(evaluated) = self.ask(evaluator, kept, &decided) else {
                return Ok(None);
            };
            let cost_usd = evaluated.judged.as_ref().and_then(|judged| judged.cost.usd);
            let (items, line) = recorded(run, evaluated, known.next);
            let after = Standing::of_line(&line, &items);
            // A judge that was unavailable must not replace earlier decisions.
            let says_more = after.score.is_some()
                || before.as_ref().is_none_or(|before| {
                    before.score.is_none() && before.decided() < after.decided()
                }) && after.decided() > 0;
            let revision = says_more
                .then(|| self.store.append_judgement(run, &items, &line))
                .transpose()?;
            judgements.push(Judgement {
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
    pub fn probe(
        &self,
        run: &RunId,
        kept: &Kept,
    ) -> Result<Option<(Standing, Standing)>, StoreError> {
        let evaluator = Evaluator::RequirementFulfillment;
        let known = self.store.judgements(run, evaluator.name())?;
        let stored = self
            .is_same_judge(evaluator, &known)
            .then(|| Standing::newest(&known))
            .flatten()
            .filter(Standing::is_whole);
        let piece = kept.piece(self.suite);
        let ask = |order| {
            let (items, line) = recorded(
                run,
                self.evaluation.judge(evaluator, &piece, order, self.stop)?,
                0,
            );
            Some((Standing::of_line(&line, &items), line))
        };
        let given = match stored {
            Some(stored) => Some(stored),
            None => ask(Order::Given).map(|(standing, _)| standing),
        };
        let Some((given, (reversed, line))) =
            given.and_then(|given| Some((given, ask(Order::Reversed)?)))
        else {
            return Ok(None);
        };
        if let (Some(score), Some(_)) = (given.score, reversed.score) {
            let next = self
                .store
                .judgements(run, &ScoreLine::probe_of(evaluator.name()))?
                .next;
            self.store
                .append_judgement(run, &[], &line.into_probe(score, next))?;
        }
        Ok(Some((given, reversed)))
    }

    /// Returns whether there is a score and all current criteria are decided. The suite may have gained criteria since.
    fn is_decided(&self, evaluator: Evaluator, standing: Option<&Standing>) -> bool {
        let Some(standing) = standing.filter(|standing| standing.is_whole()) else {
            return false;
        };
        let has = |leaf: &Criterion| {
            standing
                .items
                .iter()
                .any(|(item, _)| *item == leaf.criterion)
        };
        evaluator != Evaluator::RequirementFulfillment
            || Criterion::leaves(&self.suite.acceptance_criteria)
                .into_iter()
                .all(has)
    }

    /// Asks about the undecided criteria, and merges the answers with the decided ones.
    fn ask(&self, evaluator: Evaluator, kept: &Kept, decided: &Decided) -> Option<Evaluated> {
        if decided.is_empty() || evaluator != Evaluator::RequirementFulfillment {
            return self.evaluation.judge(
                evaluator,
                &kept.piece(self.suite),
                Order::Given,
                self.stop,
            );
        }
        let open = Criterion::leaves(&self.suite.acceptance_criteria)
            .into_iter()
            .filter(|leaf| !decided.contains_key(&leaf.criterion));
        let suite = Suite {
            acceptance_criteria: open.cloned().collect(),
            ..self.suite.clone()
        };
        let said =
            self.evaluation
                .judge(evaluator, &kept.piece(&suite), Order::Given, self.stop)?;
        Some(joined(&self.suite.acceptance_criteria, decided, said))
    }

    /// Returns earlier decisions by the same judge with the same prompt, about criteria that still exist.
    fn decided_by_same(&self, evaluator: Evaluator, known: &Judgements) -> Decided {
        let Some(newest) = known
            .newest()
            .filter(|_| self.is_same_judge(evaluator, known))
        else {
            return Decided::new();
        };
        let asked: Vec<&str> = Criterion::leaves(&self.suite.acceptance_criteria)
            .into_iter()
            .map(|leaf| leaf.criterion.as_str())
            .collect();
        let entries = entries(newest.details.as_ref());
        known
            .of_revision(newest.score.revision)
            .filter(|(outcome, _)| {
                is_decided(outcome.status) && asked.contains(&outcome.item.as_str())
            })
            .map(|(outcome, details)| {
                let entry = entries
                    .get(outcome.item.as_str())
                    .map(|entry| (*entry).clone());
                (
                    outcome.item.clone(),
                    Decision {
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
        let newest = known.newest().and_then(|line| line.judge.as_ref());
        newest.zip(self.evaluation.jury.as_ref()).is_some_and(
            |(judge, Jury { agent, votes, .. })| {
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
struct Decision {
    status: ItemStatus,
    details: ItemDetails,
    /// The criterion's entry in the score's details.
    entry: Option<Value>,
}

/// Earlier decisions by criterion.
type Decided = BTreeMap<String, Decision>;

/// Merges earlier and new decisions into one judgement of all criteria.
fn joined(criteria: &[Criterion], decided: &Decided, said: Evaluated) -> Evaluated {
    let now: BTreeMap<&str, &EvaluatedItem> = said
        .items
        .iter()
        .map(|item| (item.item.as_str(), item))
        .collect();
    let items: Vec<EvaluatedItem> = Criterion::leaves(criteria)
        .into_iter()
        .map(|leaf| {
            let item = |status, details| EvaluatedItem {
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
    let fresh = entries(Some(&said.details));
    let entry = |item: &EvaluatedItem| {
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
    let (score, mut details) = fulfilment_sum(criteria, &listed, &met);
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
    Evaluated {
        score,
        details,
        items,
        reasoning: Some(reasoning),
        ..said
    }
}

/// Returns each criterion's entry in the details of a score.
fn entries(details: Option<&Value>) -> BTreeMap<&str, &Value> {
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

    fn criterion(text: &str, weight: f64, children: Vec<Criterion>) -> Criterion {
        Criterion {
            criterion: text.to_owned(),
            weight,
            children,
        }
    }

    fn item(text: &str, status: ItemStatus) -> EvaluatedItem {
        EvaluatedItem {
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
        let decided: Decided = [("a", ItemStatus::Fail), ("b", ItemStatus::Pass)]
            .map(|(item, status)| {
                (
                    item.to_owned(),
                    Decision {
                        status,
                        details: ItemDetails::default(),
                        entry: Some(json!({"criterion": item, "votesFor": 2})),
                    },
                )
            })
            .into();
        let said = Evaluated {
            score: Ok(100.0),
            items: vec![item("c", ItemStatus::Pass)],
            details: json!({"criteria": [{"criterion": "c", "votesFor": 3}], "votes": {"asked": 3, "counted": 3}, "passedCount": 1}),
            ..Evaluated::missing(Evaluator::RequirementFulfillment, "")
        };
        let joined_up = joined(&tree, &decided, said);
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

        let away = joined(
            &tree,
            &decided,
            Evaluated::missing(Evaluator::RequirementFulfillment, "away"),
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
