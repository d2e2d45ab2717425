//! Evaluates with a judge whether acceptance criteria are met.
//!
//! Each criterion without children passes or fails, with the judge's reasoning. The score is the share of passed criteria or, if criteria
//! have weights or children, the weighted mean of the tree.

use serde_json::{Value, json};

use super::budget::MaterialBudget;
use super::excerpts::JudgeMaterial;
use super::judge::{
    CriteriaOrder, JudgeAgent, JudgeOpinion, JudgeQuestion, StatementDecision, prompt_sha256,
    split_into_groups,
};
use super::{EvaluatorItem, EvaluatorResult, SettingsLayer, Workpiece, clamp_score};
use crate::domain::{Evaluator, ItemDetails, ItemKind, ItemStatus, Problem};
use crate::process::StopSignal;
use crate::suite::AcceptanceCriterion;

const RULES: &str = "\
You judge whether work that an AI agent did meets acceptance criteria. You are shown what was made, what the agent did, and a numbered \
list of criteria.

Reply only with a JSON array, without a word before or after it. It holds one object for each criterion, in the order of the list:
[{\"criterion\": \"the criterion, word for word\", \"passed\": true, \"reasoning\": \"one or two sentences\"}]
`passed` is true or false, without quotes: true only if what you are shown is evidence that the criterion is met, false if it is not met or \
if there is no evidence. Judge each criterion by itself, by its own words, and name the evidence in `reasoning`.
";
const HEADING: &str = "Criteria";

/// How much material the judge is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FulfilmentSettings {
    budget: MaterialBudget,
}

impl FulfilmentSettings {
    /// Reads the layers; later layers override earlier ones, key by key.
    pub fn from_layers(layers: &[SettingsLayer<'_>], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            settings.budget.read_fields(fields);
        });
        settings
    }
}

/// Asks the judge about each of the suite's criteria. `None` if the user stopped it.
pub fn evaluate_fulfilment(
    piece: &Workpiece,
    judge: &JudgeAgent,
    settings: &FulfilmentSettings,
    order: CriteriaOrder,
    stop: &StopSignal,
) -> Option<EvaluatorResult> {
    let evaluator = Evaluator::RequirementFulfillment;
    let criteria = &piece.suite.acceptance_criteria;
    let mut list = Vec::new();
    list_leaf_criteria(criteria, &mut Vec::new(), &mut list);
    if list.is_empty() {
        return Some(EvaluatorResult::without_score(
            evaluator,
            "the suite has no `acceptance_criteria`",
        ));
    }
    let statements: Vec<String> = list
        .iter()
        .map(|(statement, _)| statement.clone())
        .collect();
    let material = JudgeMaterial::from_workpiece(piece, &statements, &settings.budget);
    if material.is_empty() {
        return Some(not_evaluated(
            &statements,
            "there is nothing to judge: neither files nor a transcript",
        ));
    }
    let mut groups = split_into_groups(list, settings.budget.criteria_per_question);
    match order {
        CriteriaOrder::Given => {}
        // The groups keep their criteria, so that only the order differs.
        CriteriaOrder::Reversed => {
            groups.reverse();
            for group in &mut groups {
                group.reverse();
            }
        }
    }
    let item = format!("{}/{}", piece.suite.name, evaluator.name());
    let question = JudgeQuestion::new(RULES, HEADING, &item, &piece.suite.name, &material, &groups);
    let mut opinion = JudgeOpinion::ask_judge(judge, &question, stop)?;
    match order {
        CriteriaOrder::Given => {}
        CriteriaOrder::Reversed => opinion.decisions.reverse(),
    }
    let undecided = opinion.undecided_reason();
    let decided = opinion
        .decisions
        .iter()
        .filter(|decision| decision.is_ok())
        .count();
    if let Some(reason) = undecided.as_ref().filter(|_| decided == 0) {
        return Some(EvaluatorResult {
            judged: Some(opinion.judged),
            ..not_evaluated(&statements, reason)
        });
    }
    let named = || statements.iter().zip(&opinion.decisions);
    let entries: Vec<Value> = named()
        .filter_map(|(statement, decision)| {
            Some(decision_json(
                statement,
                decision.as_ref().ok()?,
                opinion.judged.votes,
            ))
        })
        .collect();
    let met: Vec<Option<bool>> = opinion
        .decisions
        .iter()
        .map(|decision| decision.as_ref().ok().map(|decision| decision.passed))
        .collect();
    let (score, mut details) = score_fulfilment(criteria, &entries, &met);
    if opinion.judged.votes > 1 {
        details["votes"] = json!({"asked": opinion.judged.votes, "counted": opinion.counted});
    }
    if question.part_count() > 1 {
        details["parts"] = json!(question.part_count());
    }
    if question.groups.len() > 1 {
        details["questions"] = json!(question.groups.len());
    }
    let mut reasoning = format!(
        "{} of {decided} criteria met",
        met.iter().filter(|met| **met == Some(true)).count()
    );
    if let Some(trouble) = &opinion.trouble {
        let what = match &undecided {
            Some(_) => "not everything was decided",
            None if opinion.counted < opinion.judged.votes => "votes not counted",
            None => "held against the criteria",
        };
        reasoning = format!("{reasoning}; {what}: {trouble}");
        details["trouble"] = json!(trouble);
    }
    let items = named().map(|(statement, decision)| match decision {
        Ok(StatementDecision {
            passed: true,
            reasoning,
            ..
        }) => criterion_item(statement, ItemStatus::Pass, reasoning),
        Ok(StatementDecision {
            passed: false,
            reasoning,
            ..
        }) => criterion_item(statement, ItemStatus::Fail, reasoning),
        Err(reason) => criterion_item(statement, ItemStatus::NotEvaluated, reason),
    });
    Some(EvaluatorResult {
        evaluator,
        items: items.collect(),
        score: score.ok_or_else(|| undecided.unwrap_or_default()),
        details,
        reasoning: Some(reasoning),
        judged: Some(opinion.judged),
    })
}

/// Computes the score and the details. `met` holds the decisions on the criteria without children, in order; the score needs all of them.
/// `entries` are the details of the decided criteria.
pub fn score_fulfilment(
    criteria: &[AcceptanceCriterion],
    entries: &[Value],
    met: &[Option<bool>],
) -> (Option<f64>, Value) {
    let mut details = json!({
        "criteria": entries,
        "passedCount": met.iter().filter(|met| **met == Some(true)).count(),
        "totalCount": met.len(),
    });
    let undecided = met.iter().filter(|met| met.is_none()).count();
    if undecided > 0 {
        details["notEvaluatedCount"] = json!(undecided);
    }
    let (share, tree) = weigh_criteria(criteria, &mut met.iter().copied());
    if criteria.iter().any(|criterion| {
        !criterion.children.is_empty() || (criterion.weight - 1.0).abs() > f64::EPSILON
    }) {
        details["weighted"] = json!(true);
        details["tree"] = Value::Array(tree);
    }
    (share.map(|share| clamp_score(100.0 * share)), details)
}

/// Returns the hash of the judge's instructions and question template: a different prompt makes a different measurement.
pub fn fulfilment_prompt_sha256() -> String {
    prompt_sha256(RULES, HEADING)
}

/// Lists the criteria without children, each with a note that names its parents.
fn list_leaf_criteria(
    criteria: &[AcceptanceCriterion],
    above: &mut Vec<String>,
    list: &mut Vec<(String, String)>,
) {
    for criterion in criteria {
        if criterion.children.is_empty() {
            let note = if above.is_empty() {
                String::new()
            } else {
                format!("a part of: {}", above.join(" / "))
            };
            list.push((criterion.criterion.clone(), note));
        } else {
            above.push(criterion.criterion.clone());
            list_leaf_criteria(&criterion.children, above, list);
            above.pop();
        }
    }
}

/// Returns the weighted mean of the criteria, from 0 to 1, and their tree with a score per node. A mean or score is absent if a criterion
/// below it was not decided. `met` holds the decisions on the leaves, in order.
fn weigh_criteria(
    criteria: &[AcceptanceCriterion],
    met: &mut impl Iterator<Item = Option<bool>>,
) -> (Option<f64>, Vec<Value>) {
    // Weights are divided by the largest one, so that no sum overflows.
    let largest = criteria
        .iter()
        .map(|criterion| criterion.weight)
        .fold(0.0, f64::max);
    let (mut sum, mut weights) = (Some(0.0), 0.0);
    let mut tree = Vec::new();
    for criterion in criteria {
        let mut node = json!({"criterion": criterion.criterion, "weight": criterion.weight});
        let share = if criterion.children.is_empty() {
            met.next().flatten().map(|met| f64::from(u8::from(met)))
        } else {
            let (share, children) = weigh_criteria(&criterion.children, met);
            node["children"] = Value::Array(children);
            share
        };
        if let Some(share) = share {
            node["score"] = json!(clamp_score(100.0 * share));
        }
        tree.push(node);
        let weight = criterion.weight / largest;
        sum = sum.zip(share).map(|(sum, share)| sum + weight * share);
        weights += weight;
    }
    (sum.map(|sum| sum / weights), tree)
}

fn decision_json(statement: &str, decision: &StatementDecision, votes: u64) -> Value {
    let mut shown =
        json!({"criterion": statement, "passed": decision.passed, "reasoning": decision.reasoning});
    if votes > 1 {
        shown["votesFor"] = json!(decision.votes_for);
    }
    shown
}

fn not_evaluated(statements: &[String], reason: &str) -> EvaluatorResult {
    let items = statements
        .iter()
        .map(|statement| criterion_item(statement, ItemStatus::NotEvaluated, reason))
        .collect();
    EvaluatorResult {
        items,
        ..EvaluatorResult::without_score(Evaluator::RequirementFulfillment, reason)
    }
}

fn criterion_item(statement: &str, status: ItemStatus, reason: &str) -> EvaluatorItem {
    let details = ItemDetails {
        reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        ..ItemDetails::default()
    };
    EvaluatorItem {
        kind: ItemKind::Criterion,
        item: statement.to_owned(),
        status,
        details,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::agent::{Agent, AgentEnvironment, Prices};
    use crate::document;
    use crate::evaluate::Effort;
    use crate::{config, suite};

    /// Reads a suite named `s` whose file consists of these lines.
    fn parse_suite(lines: &str) -> suite::Suite {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("s");
        fs::create_dir(&place).expect("a folder");
        fs::write(place.join("suite.yaml"), format!("name: s\n{lines}"))
            .expect("it can be written");
        suite::load_suite(folder.path(), &place).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// Makes an agent that replays these replies, one per vote.
    pub fn agent_with_replies(item: &str, replies: &[&str]) -> (TempDir, Agent) {
        let records: Vec<Value> = replies
            .iter()
            .map(|reply| json!({"item": item, "answer": reply}))
            .collect();
        agent_with_records(&records)
    }

    /// Makes an agent that replays these records.
    pub fn agent_with_records(records: &[Value]) -> (TempDir, Agent) {
        let folder = tempfile::tempdir().expect("a folder");
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        fs::write(folder.path().join("replies.jsonl"), lines.join("\n"))
            .expect("it can be written");
        let text = "version: 1\nagents: [{id: j, type: replay, file: replies.jsonl}]\n";
        let config = config::parse("evalreport.yaml", text)
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        let environment = AgentEnvironment {
            root: folder.path().to_owned(),
            ..AgentEnvironment::default()
        };
        let prices = Prices::new(&[], "2026-03-01".parse().expect("it is a date"));
        let agent = Agent::new(&config.agents[0], None, &environment, &prices)
            .unwrap_or_else(|error| panic!("{error}"));
        (folder, agent)
    }

    struct FulfilmentCase<'c> {
        suite: &'c str,
        replies: &'c [&'c str],
        votes: u64,
        is_strict: bool,
        order: CriteriaOrder,
    }

    impl Default for FulfilmentCase<'_> {
        fn default() -> Self {
            Self {
                suite: "acceptance_criteria: [It adds, It lists, It saves]\n",
                replies: &[],
                votes: 1,
                is_strict: false,
                order: CriteriaOrder::Given,
            }
        }
    }

    fn judge_case(case: &FulfilmentCase) -> EvaluatorResult {
        let (_folder, agent) = agent_with_replies("s/requirementFulfillment", case.replies);
        let suite = parse_suite(case.suite);
        let transcript = [json!({"role": "user", "content": "make it"})];
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &[],
            transcript: &transcript,
            effort: Effort::default(),
        };
        let judge = JudgeAgent {
            agent: &agent,
            votes: case.votes,
            is_strict: case.is_strict,
            timeout: None,
        };
        evaluate_fulfilment(
            &piece,
            &judge,
            &FulfilmentSettings::default(),
            case.order,
            &StopSignal::new(),
        )
        .expect("nobody stops it")
    }

    fn item_statuses(evaluated: &EvaluatorResult) -> Vec<&str> {
        evaluated
            .items
            .iter()
            .map(|item| item.status.name())
            .collect()
    }

    const TWO_OF_THREE: &str = r#"[{"criterion": "It adds", "passed": true, "reasoning": "a"}, {"criterion": "It lists", "passed": false,
        "reasoning": "b"}, {"criterion": "It saves", "passed": true, "reasoning": "c"}]"#;

    #[test]
    fn the_score_is_the_share_that_passed() {
        let evaluated = judge_case(&FulfilmentCase {
            replies: &[TWO_OF_THREE],
            ..FulfilmentCase::default()
        });
        assert_eq!(
            (evaluated.evaluator.name(), &evaluated.score),
            ("requirementFulfillment", &Ok(66.7))
        );
        assert_eq!(
            evaluated.details,
            json!({"criteria": [
                {"criterion": "It adds", "passed": true, "reasoning": "a"},
                {"criterion": "It lists", "passed": false, "reasoning": "b"},
                {"criterion": "It saves", "passed": true, "reasoning": "c"}
            ], "passedCount": 2, "totalCount": 3})
        );
        assert_eq!(item_statuses(&evaluated), ["pass", "fail", "pass"]);
        assert_eq!(evaluated.items[0].details.reason.as_deref(), Some("a"));
        let judged_by = evaluated.judged.as_ref().expect("a judge judged");
        assert_eq!(
            (
                judged_by.agent.as_str(),
                judged_by.votes,
                judged_by.agreement
            ),
            ("j", 1, None)
        );
        assert_eq!(
            (judged_by.prompt_sha256.len(), &judged_by.prompt_sha256),
            (64, &fulfilment_prompt_sha256())
        );
        assert_eq!(judged_by.raw, [TWO_OF_THREE]);
        let four_of_five = r#"[{"criterion": 1, "passed": true}, {"criterion": 2, "passed": true}, {"criterion": 3, "passed": true}, {"criterion": 4, "passed": true}]"#;
        let evaluated = judge_case(&FulfilmentCase {
            suite: "acceptance_criteria: [a, b, c, d, e]\n",
            replies: &[four_of_five],
            ..FulfilmentCase::default()
        });
        assert_eq!(evaluated.score, Ok(80.0));
        assert_eq!(
            evaluated.details["criteria"][4]["reasoning"],
            "not evaluated by the judge"
        );
    }

    #[test]
    fn a_reversed_list_has_reversed_numbers() {
        let by_number = r#"[{"criterion": "1", "passed": true, "reasoning": "first of the list"}]"#;
        assert_eq!(
            item_statuses(&judge_case(&FulfilmentCase {
                replies: &[by_number],
                ..FulfilmentCase::default()
            })),
            ["pass", "fail", "fail"]
        );
        let reversed = judge_case(&FulfilmentCase {
            replies: &[by_number],
            order: CriteriaOrder::Reversed,
            ..FulfilmentCase::default()
        });
        assert_eq!(item_statuses(&reversed), ["fail", "fail", "pass"]);
        assert_eq!(
            reversed.details["criteria"][2],
            json!({"criterion": "It saves", "passed": true, "reasoning": "first of the list"})
        );
        let by_text = judge_case(&FulfilmentCase {
            replies: &[TWO_OF_THREE],
            order: CriteriaOrder::Reversed,
            ..FulfilmentCase::default()
        });
        assert_eq!(item_statuses(&by_text), ["pass", "fail", "pass"]);
    }

    #[test]
    fn weights_and_children_make_a_tree() {
        let suite = "acceptance_criteria:\n  - {criterion: It adds, weight: 3}\n  - criterion: Storage\n    children:\n      - {criterion: It lists, weight: 1}\n      - {criterion: It saves, weight: 3}\n";
        let evaluated = judge_case(&FulfilmentCase {
            suite,
            replies: &[TWO_OF_THREE],
            ..FulfilmentCase::default()
        });
        // (3 · 1 + 1 · 3/4) / 4
        assert_eq!(evaluated.score, Ok(93.8));
        assert_eq!(
            evaluated.details["tree"],
            json!([
                {"criterion": "It adds", "weight": 3.0, "score": 100.0},
                {"criterion": "Storage", "weight": 1.0, "score": 75.0, "children": [
                    {"criterion": "It lists", "weight": 1.0, "score": 0.0},
                    {"criterion": "It saves", "weight": 3.0, "score": 100.0}
                ]}
            ])
        );
        assert_eq!(
            (
                &evaluated.details["weighted"],
                &evaluated.details["passedCount"],
                evaluated.items.len()
            ),
            (&json!(true), &json!(2), 3)
        );
        let huge = "acceptance_criteria:\n  - {criterion: It adds, weight: 1.0e308}\n  - {criterion: It lists, weight: 1.0e308}\n";
        assert_eq!(
            judge_case(&FulfilmentCase {
                suite: huge,
                replies: &[TWO_OF_THREE],
                ..FulfilmentCase::default()
            })
            .score,
            Ok(50.0)
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_evaluated_unless_strict() {
        let lenient = judge_case(&FulfilmentCase {
            replies: &["All good!"],
            ..FulfilmentCase::default()
        });
        assert_eq!(
            lenient.score,
            Err("the judge's reply holds no JSON array of verdicts".to_owned())
        );
        assert_eq!(
            (item_statuses(&lenient), &lenient.details),
            (vec!["not_evaluated"; 3], &Value::Null)
        );
        assert_eq!(
            lenient.items[0].details.reason.as_deref(),
            Some("the judge's reply holds no JSON array of verdicts")
        );
        assert_eq!(lenient.judged.expect("it was asked").raw, ["All good!"]);
        let strict = judge_case(&FulfilmentCase {
            replies: &["All good!"],
            is_strict: true,
            ..FulfilmentCase::default()
        });
        assert_eq!(
            (&strict.score, item_statuses(&strict)),
            (&Ok(0.0), vec!["fail"; 3])
        );
        assert_eq!(
            strict.details["criteria"][0]["reasoning"],
            "the judge's reply holds no JSON array of verdicts"
        );
        assert!(
            strict
                .reasoning
                .expect("it is said")
                .contains("held against the criteria")
        );
        // A judge without any reply decides nothing, in strict mode or not.
        let silent = judge_case(&FulfilmentCase {
            replies: &[],
            is_strict: true,
            ..FulfilmentCase::default()
        });
        assert!(
            silent
                .score
                .expect_err("there is none")
                .starts_with("the judge gave no reply: ")
        );
    }

    #[test]
    fn votes_are_counted_and_agreement_is_kept() {
        let none = r#"[{"criterion": "It adds", "passed": true}]"#;
        let three = judge_case(&FulfilmentCase {
            replies: &[TWO_OF_THREE, none, TWO_OF_THREE],
            votes: 3,
            ..FulfilmentCase::default()
        });
        assert_eq!(
            (&three.score, item_statuses(&three)),
            (&Ok(66.7), vec!["pass", "fail", "pass"])
        );
        assert_eq!(three.details["votes"], json!({"asked": 3, "counted": 3}));
        assert_eq!(three.details["criteria"][2]["votesFor"], 2);
        assert_eq!(
            three.judged.expect("it was asked").agreement,
            Some(8.0 / 9.0)
        );
        let tied = judge_case(&FulfilmentCase {
            replies: &[TWO_OF_THREE, none],
            votes: 2,
            ..FulfilmentCase::default()
        });
        assert_eq!(item_statuses(&tied), ["pass", "fail", "fail"]);
        assert!(
            tied.items[2]
                .details
                .reason
                .as_deref()
                .expect("it is said")
                .starts_with("the votes are tied")
        );
        // A vote that cannot be read does not count. In strict mode, it counts against every criterion.
        let replies = &[TWO_OF_THREE, "?", "?"];
        let lenient = judge_case(&FulfilmentCase {
            replies,
            votes: 3,
            ..FulfilmentCase::default()
        });
        assert_eq!(
            (&lenient.score, &lenient.details["votes"]["counted"]),
            (&Ok(66.7), &json!(1))
        );
        assert!(
            lenient
                .reasoning
                .expect("it is said")
                .contains("votes not counted: the judge's reply holds no")
        );
        assert_eq!(
            judge_case(&FulfilmentCase {
                replies,
                votes: 3,
                is_strict: true,
                ..FulfilmentCase::default()
            })
            .score,
            Ok(0.0)
        );
    }

    #[test]
    fn nothing_to_see_is_not_judged() {
        let (_folder, agent) = agent_with_replies("s/requirementFulfillment", &[TWO_OF_THREE]);
        let suite = parse_suite("acceptance_criteria: [It adds]\n");
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &[],
            transcript: &[],
            effort: Effort::default(),
        };
        let judge = JudgeAgent {
            agent: &agent,
            votes: 1,
            is_strict: true,
            timeout: None,
        };
        let ask = |stop: &StopSignal| {
            evaluate_fulfilment(
                &piece,
                &judge,
                &FulfilmentSettings::default(),
                CriteriaOrder::Given,
                stop,
            )
        };
        let evaluated = ask(&StopSignal::new()).expect("nobody stops it");
        assert!(
            evaluated
                .score
                .as_ref()
                .expect_err("there is none")
                .contains("nothing to judge")
        );
        assert_eq!(item_statuses(&evaluated), ["not_evaluated"]);
        let bare = suite::Suite {
            acceptance_criteria: Vec::new(),
            ..suite.clone()
        };
        let unasked = evaluate_fulfilment(
            &Workpiece {
                suite: &bare,
                effort: Effort::default(),
                ..piece
            },
            &judge,
            &FulfilmentSettings::default(),
            CriteriaOrder::Given,
            &StopSignal::new(),
        );
        let unasked = unasked.expect("nobody stops it");
        assert_eq!(
            (unasked.score, unasked.items.len()),
            (Err("the suite has no `acceptance_criteria`".to_owned()), 0)
        );
        let stopped = StopSignal::new();
        stopped.stop();
        let transcript = [json!({"role": "user", "content": "x"})];
        let piece = Workpiece {
            transcript: &transcript,
            effort: Effort::default(),
            ..piece
        };
        assert!(
            evaluate_fulfilment(
                &piece,
                &judge,
                &FulfilmentSettings::default(),
                CriteriaOrder::Given,
                &stopped
            )
            .is_none()
        );
    }

    #[test]
    fn settings_go_over_each_other_key_by_key() {
        let nodes = [
            "files_bytes: 10\nparts: 2\n",
            "parts: 0\nmesage_bytes: 5\nmessage_bytes: 7\n",
        ]
        .map(|text| document::parse("c.yaml", text).expect("it is YAML"));
        let layers = nodes.each_ref().map(|node| SettingsLayer {
            file: "c.yaml",
            path: "evaluators.requirementFulfillment".to_owned(),
            node,
        });
        let mut problems = Vec::new();
        let read = FulfilmentSettings::from_layers(&layers, &mut problems).budget;
        assert_eq!(
            (read.files_bytes, read.parts, read.message_bytes),
            (10, 2, 7)
        );
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(
            shown[0].ends_with("`evaluators.requirementFulfillment.parts` must be at least 1"),
            "{shown:?}"
        );
        assert!(
            shown[1].contains("unknown key `evaluators.requirementFulfillment.mesage_bytes`"),
            "{shown:?}"
        );
    }
}
