//! Evaluates with a judge whether the agent used the available invocables and obeyed the rules.
//!
//! Only a suite or a configuration knows what the agent had available, so both can declare it. A rule about certain files applies only if
//! the agent touched one of them. If nothing is declared as available and no rule applies, there is no score.

use serde_json::{Value, json};

use super::budget::MaterialBudget;
use super::excerpts::{JudgeMaterial, to_slash_path};
use super::judge::{
    JudgeAgent, JudgeOpinion, JudgeQuestion, StatementDecision, prompt_sha256, split_into_groups,
};
use super::path_pattern::PathPattern;
use super::{EvaluatorItem, EvaluatorResult, SettingsLayer, Workpiece, clamp_score};
use crate::document::{Fields, quote_text};
use crate::domain::{Evaluator, ItemDetails, ItemKind, ItemStatus, Problem};
use crate::process::StopSignal;

const RULES: &str = "\
You judge how an AI agent used what it had at hand. You are shown what was made, what the agent did, and a numbered list of commands, \
agents and MCP tools that were available to it and of rules that it had to obey.

Reply only with a JSON array, without a word before or after it. It holds one object for each entry of the list, in its order:
[{\"criterion\": \"the entry, word for word\", \"passed\": true, \"reasoning\": \"one or two sentences\"}]
`passed` is true or false, without quotes. For a command, an agent or an MCP tool it is true if the transcript shows that the agent used it, \
or if the task gave no occasion for it; false if it would have served the task and was not used. For a rule it is true if the work obeys it \
and false if it breaks it. Name the evidence in `reasoning`.
";
const HEADING: &str = "Available, and rules";

/// Invocables that were available to the agent, rules it had to obey, and how much material the judge is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUseSettings {
    available: Vec<Invocable>,
    rules: Vec<ToolUseRule>,
    budget: MaterialBudget,
}

/// Something that an agent can call.
#[derive(Clone, Debug, PartialEq)]
struct Invocable {
    name: String,
    kind: InvocableKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InvocableKind {
    Command,
    Agent,
    McpTool,
}

/// A rule that the agent must obey.
#[derive(Clone, Debug, PartialEq)]
struct ToolUseRule {
    rule: String,
    /// Patterns of the files that the rule applies to. Empty if it applies to all work.
    paths: Vec<PathPattern>,
}

impl InvocableKind {
    const ALL: [Self; 3] = [Self::Command, Self::Agent, Self::McpTool];

    fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Agent => "agent",
            Self::McpTool => "mcp_tool",
        }
    }

    fn display_name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Agent => "agent",
            Self::McpTool => "MCP tool",
        }
    }
}

impl ToolUseSettings {
    /// Reads the layers; later layers override earlier ones, key by key.
    pub fn from_layers(layers: &[SettingsLayer<'_>], problems: &mut Vec<Problem>) -> Self {
        let mut settings = Self::default();
        SettingsLayer::read_all(layers, problems, |fields| {
            settings.budget.read_fields(fields);
            if fields.child("available").is_some() {
                settings.available = fields.read_each("available", read_invocable);
            }
            if fields.child("rules").is_some() {
                settings.rules = fields.read_each("rules", read_rule);
            }
        });
        settings
    }
}

fn read_invocable(mut fields: Fields) -> Option<Invocable> {
    let name = fields.required_text("name");
    let kind = fields
        .one_of("kind", &InvocableKind::ALL.map(|kind| (kind.name(), kind)))
        .unwrap_or(InvocableKind::Command);
    fields.finish();
    Some(Invocable {
        name: name?.trim().to_owned(),
        kind,
    })
}

fn read_rule(mut fields: Fields) -> Option<ToolUseRule> {
    let rule = fields.required_text("rule");
    let mut paths = Vec::new();
    for text in fields.texts("paths") {
        match PathPattern::parse(&text) {
            Some(pattern) => paths.push(pattern),
            None => {
                let message = format!(
                    "{} holds {}, which is no pattern of paths",
                    quote_text(&fields.path_of("paths")),
                    quote_text(&text)
                );
                fields.reject(
                    "paths",
                    message,
                    Some("write for example `src/**/*.py`".to_owned()),
                );
            }
        }
    }
    fields.finish();
    Some(ToolUseRule {
        rule: rule?.trim().to_owned(),
        paths,
    })
}

/// Asks the judge about each available invocable and each rule that applies. `None` if the user stopped it.
pub fn evaluate_tool_use(
    piece: &Workpiece,
    judge: &JudgeAgent,
    settings: &ToolUseSettings,
    stop: &StopSignal,
) -> Option<EvaluatorResult> {
    let evaluator = Evaluator::ToolUse;
    let touched: Vec<String> = piece.files.iter().map(|path| to_slash_path(path)).collect();
    let applies = |rule: &&ToolUseRule| {
        rule.paths.is_empty()
            || rule
                .paths
                .iter()
                .any(|pattern| touched.iter().any(|path| pattern.matches(path)))
    };
    let (applicable, others): (Vec<&ToolUseRule>, Vec<&ToolUseRule>) =
        settings.rules.iter().partition(applies);
    if settings.available.is_empty() && applicable.is_empty() {
        let reason = if settings.rules.is_empty() {
            "nothing is declared as `available`, and there are no `rules`"
        } else {
            "nothing is declared as `available`, and none of the `rules` applies to the files that were touched"
        };
        return Some(EvaluatorResult::without_score(evaluator, reason));
    }
    let invocables = settings
        .available
        .iter()
        .map(|invocable| format!("{}: {}", invocable.kind.display_name(), invocable.name));
    let rules = applicable.iter().map(|rule| format!("rule: {}", rule.rule));
    let statements: Vec<String> = invocables.chain(rules).collect();
    let unevaluated = |reason: String| {
        let items = statements
            .iter()
            .map(|statement| evaluator_item(statement, ItemStatus::NotEvaluated, &reason))
            .collect();
        EvaluatorResult {
            items,
            ..EvaluatorResult::without_score(evaluator, reason)
        }
    };
    if piece.transcript.is_empty() {
        return Some(unevaluated("there is no transcript".to_owned()));
    }
    let material = JudgeMaterial::from_workpiece(piece, &statements, &settings.budget);
    let list: Vec<(String, String)> = statements
        .iter()
        .map(|statement| (statement.clone(), String::new()))
        .collect();
    let item = format!("{}/{}", piece.suite.name, evaluator.name());
    let groups = split_into_groups(list, settings.budget.criteria_per_question);
    let question = JudgeQuestion::new(RULES, HEADING, &item, &piece.suite.name, &material, &groups);
    let opinion = JudgeOpinion::ask_judge(judge, &question, stop)?;
    let undecided = opinion.undecided_reason();
    // If any statement is undecided, there is no score: a partial list says nothing about the whole.
    let Ok(decisions) = opinion
        .decisions
        .into_iter()
        .collect::<Result<Vec<StatementDecision>, String>>()
    else {
        return Some(EvaluatorResult {
            judged: Some(opinion.judged),
            ..unevaluated(undecided.unwrap_or_default())
        });
    };
    // A statement that the judge omits counts as failed. If the judge names no statement at all, there is no judgement.
    if decisions.iter().all(|decision| !decision.is_named) {
        let reason =
            "the judge's reply says nothing of what was available, or of the rules".to_owned();
        return Some(EvaluatorResult {
            judged: Some(opinion.judged),
            ..unevaluated(reason)
        });
    }
    let (used, obeyed) = decisions.split_at(settings.available.len());
    let score = ToolUseScore {
        used: count_passed(used),
        available: used.len(),
        obeyed: count_passed(obeyed),
        applicable: obeyed.len(),
    };
    let items = statements
        .iter()
        .zip(&decisions)
        .map(|(statement, decision)| {
            let status = if decision.passed {
                ItemStatus::Pass
            } else {
                ItemStatus::Fail
            };
            evaluator_item(statement, status, &decision.reasoning)
        });
    let trouble = opinion
        .trouble
        .map(|trouble| format!("; of the votes: {trouble}"))
        .unwrap_or_default();
    Some(EvaluatorResult {
        evaluator,
        score: score
            .mean_percent()
            .ok_or_else(|| "there is nothing to score".to_owned()),
        details: score.to_details(settings, (used, obeyed), (&applicable, &others)),
        reasoning: Some(format!("{}{trouble}", score.describe_counts())),
        items: items.collect(),
        judged: Some(opinion.judged),
    })
}

/// Returns the hash of the judge's instructions and question template: a different prompt makes a different measurement.
pub fn tool_use_prompt_sha256() -> String {
    prompt_sha256(RULES, HEADING)
}

/// The counts that the score is made of.
#[derive(Clone, Copy, Debug)]
struct ToolUseScore {
    used: usize,
    available: usize,
    obeyed: usize,
    applicable: usize,
}

impl ToolUseScore {
    /// Percentage of the available invocables that were used, rounded to a whole percent.
    fn invocables_percent(self) -> Option<f64> {
        percent_of(self.used, self.available).map(f64::round)
    }

    fn rules_percent(self) -> Option<f64> {
        percent_of(self.obeyed, self.applicable)
    }

    /// Mean of the two percentages, or the only one that exists.
    fn mean_percent(self) -> Option<f64> {
        let score = match (self.invocables_percent(), self.rules_percent()) {
            (Some(invocables), Some(rules)) => f64::midpoint(invocables, rules),
            (Some(score), None) | (None, Some(score)) => score,
            (None, None) => return None,
        };
        Some(clamp_score(score))
    }

    fn describe_counts(self) -> String {
        let missed = self.available - self.used;
        let parts = [
            (self.available > 0)
                .then(|| format!("{missed} of {} available missed", self.available)),
            (self.applicable > 0).then(|| {
                format!(
                    "{} of {} applicable rules obeyed",
                    self.obeyed, self.applicable
                )
            }),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn to_details(
        self,
        settings: &ToolUseSettings,
        (used, obeyed): (&[StatementDecision], &[StatementDecision]),
        (applicable, others): (&[&ToolUseRule], &[&ToolUseRule]),
    ) -> Value {
        let available = settings.available.iter().zip(used).map(|(invocable, decision)| {
            json!({"name": invocable.name, "kind": invocable.kind.name(), "used": decision.passed, "reasoning": decision.reasoning})
        });
        let applicable = applicable.iter().zip(obeyed).map(
            |(rule, decision)| json!({"rule": rule.rule, "applicable": true, "obeyed": decision.passed, "reasoning": decision.reasoning}),
        );
        let others = others
            .iter()
            .map(|rule| json!({"rule": rule.rule, "applicable": false}));
        let mut details = json!({
            "available": available.collect::<Vec<_>>(),
            "rules": applicable.chain(others).collect::<Vec<_>>(),
            "availableCount": self.available,
            "missedCount": self.available - self.used,
            "applicableCount": self.applicable,
            "obeyedCount": self.obeyed,
        });
        for (key, score) in [
            ("invocablesScore", self.invocables_percent()),
            ("rulesScore", self.rules_percent()),
        ] {
            if let Some(score) = score {
                details[key] = json!(clamp_score(score));
            }
        }
        details
    }
}

fn count_passed(decisions: &[StatementDecision]) -> usize {
    decisions.iter().filter(|decision| decision.passed).count()
}

fn percent_of(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

fn evaluator_item(statement: &str, status: ItemStatus, reason: &str) -> EvaluatorItem {
    let details = ItemDetails {
        reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        ..ItemDetails::default()
    };
    EvaluatorItem {
        kind: ItemKind::Check,
        item: statement.to_owned(),
        status,
        details,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::document;
    use crate::evaluate::Effort;
    use crate::evaluate::fulfilment::tests::agent_with_replies;
    use crate::evaluate::sample::sample_suite;

    fn settings(text: &str) -> (ToolUseSettings, Vec<String>) {
        let node = document::parse("s.yaml", text).expect("it is YAML");
        let mut problems = Vec::new();
        let layers = [SettingsLayer {
            file: "s.yaml",
            path: "evaluators.tool_use".to_owned(),
            node: &node,
        }];
        let read = ToolUseSettings::from_layers(&layers, &mut problems);
        (read, problems.iter().map(ToString::to_string).collect())
    }

    /// Judges with a reply in which the entries with these numbers pass and all others are listed as missed.
    fn judged(text: &str, reply: &str, touched: &[&str]) -> EvaluatorResult {
        let (settings, problems) = settings(text);
        assert_eq!(problems, [""; 0]);
        let (_folder, agent) = agent_with_replies("sample/tool_use", &[reply]);
        let suite = sample_suite();
        let files: Vec<PathBuf> = touched.iter().map(PathBuf::from).collect();
        let transcript = [json!({"role": "user", "content": "make it"})];
        let piece = Workpiece {
            suite: &suite,
            folder: None,
            files: &files,
            transcript: &transcript,
            effort: Effort::default(),
        };
        let judge = JudgeAgent {
            agent: &agent,
            votes: 1,
            is_strict: false,
            timeout: None,
        };
        evaluate_tool_use(&piece, &judge, &settings, &StopSignal::new()).expect("nobody stops it")
    }

    const YES_NO: &str = r#"[{"criterion": 1, "passed": true, "reasoning": "y"}, {"criterion": 2, "passed": false, "reasoning": "n"}]"#;
    const NO_YES: &str = r#"[{"criterion": 1, "passed": false}, {"criterion": 2, "passed": true}]"#;

    #[test]
    fn pinned_scores() {
        let two = "available: [{name: lint}, {name: reviewer, kind: agent}]\n";
        let missed = judged(two, YES_NO, &[]);
        assert_eq!(missed.score, Ok(50.0));
        assert_eq!(
            (
                &missed.details["missedCount"],
                &missed.details["availableCount"]
            ),
            (&json!(1), &json!(2))
        );
        assert_eq!(
            missed.details["available"][1],
            json!({"name": "reviewer", "kind": "agent", "used": false, "reasoning": "n"})
        );
        assert_eq!(
            missed
                .items
                .iter()
                .map(|item| item.item.as_str())
                .collect::<Vec<_>>(),
            ["command: lint", "agent: reviewer"]
        );
        assert_eq!(
            judged(
                "rules: [{rule: Write tests}, {rule: No globals}]\n",
                YES_NO,
                &[]
            )
            .score,
            Ok(50.0)
        );
        let both = judged(
            "available: [{name: search, kind: mcp_tool}]\nrules: [{rule: Write tests}]\n",
            NO_YES,
            &[],
        );
        assert_eq!(both.score, Ok(50.0));
        assert_eq!(
            (
                &both.details["invocablesScore"],
                &both.details["rulesScore"]
            ),
            (&json!(0.0), &json!(100.0))
        );
        assert_eq!(
            both.reasoning.as_deref(),
            Some("1 of 1 available missed, 1 of 1 applicable rules obeyed")
        );
        let unreadable = judged(two, "both were used", &[]);
        assert!(unreadable.score.is_err() && unreadable.judged.is_some());
        assert!(
            unreadable
                .items
                .iter()
                .all(|item| item.status == ItemStatus::NotEvaluated)
        );
        let three = judged(
            "available: [{name: a}, {name: b}, {name: c}]\n",
            NO_YES,
            &[],
        );
        assert_eq!(three.score, Ok(33.0));
    }

    #[test]
    fn an_empty_list_is_no_judgement() {
        let one = "available: [{name: lint}]\n";
        let said = judged(one, "[]", &[]);
        let reason = "the judge's reply says nothing of what was available, or of the rules";
        assert_eq!(said.score, Err(reason.to_owned()));
        assert!(
            said.judged.is_some()
                && said
                    .items
                    .iter()
                    .all(|item| item.status == ItemStatus::NotEvaluated),
            "{said:?}"
        );
    }

    #[test]
    fn a_rule_about_files_applies_where_one_is_touched() {
        let rules = "rules:\n  - {rule: Types everywhere, paths: [\"*.py\", \"src/**\"]}\n  - {rule: Write tests}\n";
        let touched = judged(rules, YES_NO, &["lib/a.py"]);
        assert_eq!((touched.score, touched.items.len()), (Ok(50.0), 2));
        let untouched = judged(
            rules,
            r#"[{"criterion": "rule: Write tests", "passed": true}]"#,
            &["lib/a.js"],
        );
        assert_eq!((&untouched.score, untouched.items.len()), (&Ok(100.0), 1));
        assert_eq!(
            untouched.details["rules"][1],
            json!({"rule": "Types everywhere", "applicable": false})
        );
        let none = judged(
            "rules: [{rule: Types everywhere, paths: [\"*.py\"]}]\n",
            YES_NO,
            &["a.js"],
        );
        assert!(
            none.score
                .expect_err("nothing applies")
                .contains("none of the `rules` applies")
        );
        assert!(none.judged.is_none(), "nobody is asked");
        assert!(
            judged("{}\n", YES_NO, &[])
                .score
                .expect_err("there is nothing")
                .contains("nothing is declared")
        );
    }

    #[test]
    fn all_problems_of_the_settings_are_named() {
        let (_, problems) = settings(
            "available: [{nam: x}, {name: a, kind: tool}]\nrules: [{rule: r, paths: [\"{a\"]}, {paths: []}]\nx: 1\n",
        );
        for expected in [
            "`evaluators.tool_use.available[0].name` is missing",
            "unknown key `evaluators.tool_use.available[0].nam`",
            "not `tool`",
            "which is no pattern of paths",
            "`evaluators.tool_use.rules[1].rule` is missing",
            "unknown key `evaluators.tool_use.x`",
        ] {
            assert!(
                problems.iter().any(|problem| problem.contains(expected)),
                "{expected}: {problems:?}"
            );
        }
        assert_eq!(problems.len(), 6, "{problems:?}");
    }
}
