//! A judge's opinion on statements, across all groups of statements, all votes and all parts of the work.
//!
//! A vote asks about each part of the work in turn; a statement that holds in any part holds. Votes that could be read are counted, and a
//! statement holds if more than half of them say so. Groups are independent: a failure in one group does not affect the statements of
//! another.

use super::JudgeAgent;
use super::question::{JudgeQuestion, StatementGroup};
use super::reply::{StatementVerdict, parse_reply};
use super::tally::JudgeUsageTally;
use crate::agent::{AgentFailureKind, AgentPrompt};
use crate::config::QuestionBudget;
use crate::evaluate::JudgeRecord;
use crate::process::StopSignal;

/// The decisions of a judge, and what it took to get them.
pub(crate) struct JudgeOpinion {
    /// One decision per statement, in their order, or the reason why the statement was not decided.
    pub decisions: Vec<Result<StatementDecision, String>>,
    /// Number of votes counted: the minimum over the groups that were decided.
    pub counted: u64,
    /// Why a vote was not counted, or why it failed every statement of its group.
    pub trouble: Option<String>,
    pub judged: JudgeRecord,
}

/// The decision on one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementDecision {
    pub passed: bool,
    /// Reasoning of the first vote that agrees with the decision.
    pub reasoning: String,
    /// Number of counted votes in favour.
    pub votes_for: u64,
    /// Whether any vote named the statement. A statement that no vote names does not pass.
    pub is_named: bool,
}

/// Result of one vote.
enum VoteResult {
    Counted(Vec<StatementVerdict>, Option<String>),
    Uncounted(String),
    /// The service failed, so that further votes are pointless.
    Outage(String),
    Stopped,
}

impl JudgeOpinion {
    /// Asks the judge. `None` if the user stopped it.
    pub fn ask_judge(
        judge: &JudgeAgent,
        question: &JudgeQuestion,
        stop: &StopSignal,
    ) -> Option<Self> {
        let wanted = judge.votes.max(1);
        let mut tally = JudgeUsageTally::default();
        let mut decisions = Vec::new();
        let mut cast: Vec<Vec<Vec<StatementVerdict>>> = Vec::new();
        let mut trouble: Option<String> = None;
        for group in &question.groups {
            let (votes, reason) =
                collect_votes(judge, (&question.system, group), &mut tally, stop)?;
            if votes.is_empty() {
                let reason = reason
                    .clone()
                    .unwrap_or_else(|| "the judge was not asked".to_owned());
                decisions.extend(group.statements.iter().map(|_| Err(reason.clone())));
            } else {
                decisions.extend(
                    (0..group.statements.len()).map(|place| Ok(decide_statement(&votes, place))),
                );
                cast.push(votes);
            }
            trouble = trouble.or(reason);
        }
        let counted = cast
            .iter()
            .map(|votes| votes.len() as u64)
            .min()
            .unwrap_or(0);
        let judged = tally.into_record(
            judge,
            question.prompt_sha256.clone(),
            wanted,
            vote_agreement(&cast),
        );
        Some(Self {
            decisions,
            counted,
            trouble,
            judged,
        })
    }

    /// Returns the first reason why a statement was not decided; `None` if all were decided.
    pub fn undecided_reason(&self) -> Option<String> {
        let mut reasons = self
            .decisions
            .iter()
            .filter_map(|decision| decision.as_ref().err());
        let first = reasons.next()?;
        let count = reasons.count() + 1;
        let all = self.decisions.len();
        Some(if count == all {
            first.clone()
        } else {
            format!("{count} of {all} were not decided: {first}")
        })
    }
}

/// Returns the counted votes on one group, and the first reason why a vote was not counted or failed every statement. `None` if the user
/// stopped it.
fn collect_votes(
    judge: &JudgeAgent,
    asked: (&str, &StatementGroup),
    tally: &mut JudgeUsageTally,
    stop: &StopSignal,
) -> Option<(Vec<Vec<StatementVerdict>>, Option<String>)> {
    let mut votes: Vec<Vec<StatementVerdict>> = Vec::new();
    let mut trouble: Option<String> = None;
    for seed in 0..judge.votes.max(1) {
        let (reason, is_over) = match cast_vote(judge, asked, seed, tally, stop) {
            VoteResult::Counted(verdicts, reason) => {
                votes.push(verdicts);
                (reason, false)
            }
            VoteResult::Uncounted(reason) => (Some(reason), false),
            VoteResult::Outage(reason) => (Some(reason), true),
            VoteResult::Stopped => return None,
        };
        trouble = trouble.or(reason);
        if is_over {
            break;
        }
    }
    Some((votes, trouble))
}

fn cast_vote(
    judge: &JudgeAgent,
    (system, group): (&str, &StatementGroup),
    seed: u64,
    tally: &mut JudgeUsageTally,
    stop: &StopSignal,
) -> VoteResult {
    let mut verdicts: Option<Vec<StatementVerdict>> = None;
    let mut trouble = None;
    for part in &group.parts {
        let prompt = AgentPrompt {
            text: part,
            system: Some(system),
            item: Some(&group.item),
            seed,
            limits: QuestionBudget {
                max_seconds: judge.timeout.map(|timeout| timeout.as_secs_f64()),
                ..QuestionBudget::default()
            },
            folder: None,
        };
        let said = match judge.agent.answer_prompt(&prompt, stop) {
            Ok(reply) => {
                tally.add_question(&reply.measured, Some(&reply.text));
                parse_reply(&reply.text, &group.statements)
            }
            Err(failure) => {
                tally.add_question(&failure.measured, None);
                let reason = format!("the judge gave no reply: {failure}");
                return match failure.kind {
                    AgentFailureKind::Stopped => VoteResult::Stopped,
                    AgentFailureKind::Infra => VoteResult::Outage(reason),
                    AgentFailureKind::Error | AgentFailureKind::Limit => {
                        VoteResult::Uncounted(reason)
                    }
                };
            }
        };
        let found = match said {
            Ok(found) => found,
            Err(reason) if judge.is_strict => {
                let failed = StatementVerdict {
                    passed: false,
                    reasoning: reason.clone(),
                    is_named: false,
                };
                trouble = trouble.or(Some(reason));
                vec![failed; group.statements.len()]
            }
            Err(reason) => return VoteResult::Uncounted(reason),
        };
        verdicts = Some(match verdicts {
            Some(before) => before
                .into_iter()
                .zip(found)
                .map(|(before, now)| stronger_verdict(before, now))
                .collect(),
            None => found,
        });
    }
    match verdicts {
        Some(verdicts) => VoteResult::Counted(verdicts, trouble),
        None => VoteResult::Uncounted("there is nothing to ask about".to_owned()),
    }
}

/// Returns the stronger of two parts' verdicts: first a pass, then a verdict that names the statement.
fn stronger_verdict(before: StatementVerdict, now: StatementVerdict) -> StatementVerdict {
    let says = |verdict: &StatementVerdict| (verdict.passed, verdict.is_named);
    if says(&now) > says(&before) {
        now
    } else {
        before
    }
}

fn decide_statement(votes: &[Vec<StatementVerdict>], place: usize) -> StatementDecision {
    let cast = || votes.iter().map(|verdicts| &verdicts[place]);
    let votes_for = cast().filter(|verdict| verdict.passed).count();
    let passed = votes_for * 2 > votes.len();
    let reasoning = cast()
        .find(|verdict| verdict.passed == passed)
        .map(|verdict| verdict.reasoning.clone())
        .unwrap_or_default();
    let is_tie = votes_for * 2 == votes.len();
    let reasoning = if is_tie {
        format!("the votes are tied, which does not pass; against it: {reasoning}")
    } else {
        reasoning
    };
    StatementDecision {
        passed,
        reasoning,
        votes_for: votes_for as u64,
        is_named: cast().any(|verdict| verdict.is_named),
    }
}

/// Returns the share of votes, over the statements of all groups, that agreed with the majority. `None` if no group had more than one vote.
fn vote_agreement(cast: &[Vec<Vec<StatementVerdict>>]) -> Option<f64> {
    let (mut agreeing, mut all) = (0, 0);
    for votes in cast.iter().filter(|votes| votes.len() > 1) {
        for place in 0..votes[0].len() {
            let votes_for = votes
                .iter()
                .filter(|verdicts| verdicts[place].passed)
                .count();
            agreeing += votes_for.max(votes.len() - votes_for);
            all += votes.len();
        }
    }
    (all > 0).then(|| agreeing as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evaluate::fulfilment::tests::agent_with_records;

    fn cast(votes: &[&str]) -> Vec<Vec<StatementVerdict>> {
        let verdict = |sign| StatementVerdict {
            passed: sign == '+',
            reasoning: format!("because {sign}"),
            is_named: sign != '?',
        };
        votes
            .iter()
            .map(|signs| signs.chars().map(verdict).collect())
            .collect()
    }

    #[test]
    fn the_majority_decides_and_a_tie_does_not_pass() {
        let votes = cast(&["+-+", "+--", "+?-"]);
        let decisions: Vec<_> = (0..3)
            .map(|place| decide_statement(&votes, place))
            .collect();
        assert_eq!(
            decisions
                .iter()
                .map(|decision| (decision.passed, decision.votes_for))
                .collect::<Vec<_>>(),
            [(true, 3), (false, 0), (false, 1)]
        );
        assert_eq!(
            (
                decisions[0].reasoning.as_str(),
                decisions[2].reasoning.as_str()
            ),
            ("because +", "because -")
        );
        assert_eq!(vote_agreement(&[votes]), Some(8.0 / 9.0));
        let tie = decide_statement(&cast(&["+", "-"]), 0);
        assert!(
            !tie.passed
                && tie.reasoning.starts_with("the votes are tied")
                && tie.reasoning.ends_with("because -"),
            "{tie:?}"
        );
        assert_eq!(vote_agreement(&[cast(&["+", "-"])]), Some(0.5));
        assert_eq!(vote_agreement(&[cast(&["+"])]), None);
        // Every statement has the same weight, whatever the size of its group.
        assert_eq!(
            vote_agreement(&[cast(&["+-", "++"]), cast(&["-", "-"]), cast(&["+"])]),
            Some(5.0 / 6.0)
        );
    }

    /// Asks about three statements in two parts, which the judge answers with `replies`.
    fn asked(replies: [&str; 2], is_strict: bool) -> JudgeOpinion {
        let parts = ["the beginning", "the end"];
        let records: Vec<_> = parts
            .iter()
            .zip(replies)
            .map(|(part, reply)| json!({"prompt": part, "answer": reply}))
            .collect();
        let (_folder, agent) = agent_with_records(&records);
        let group = StatementGroup {
            parts: parts.map(str::to_owned).to_vec(),
            statements: ["a", "b", "c"].map(str::to_owned).to_vec(),
            item: "s/x".to_owned(),
        };
        let question = JudgeQuestion {
            system: "system".to_owned(),
            groups: vec![group],
            prompt_sha256: "hash".to_owned(),
        };
        JudgeOpinion::ask_judge(
            &JudgeAgent {
                agent: &agent,
                votes: 1,
                is_strict,
                timeout: None,
            },
            &question,
            &StopSignal::new(),
        )
        .expect("nobody stops it")
    }

    #[test]
    fn a_vote_asks_about_every_part() {
        let first = r#"[{"criterion": "a", "passed": true, "reasoning": "1"}, {"criterion": "b", "passed": false, "reasoning": "1"}]"#;
        let second = r#"[{"criterion": "a", "passed": false, "reasoning": "2"}, {"criterion": "b", "passed": true, "reasoning": "2"},
            {"criterion": "c", "passed": false, "reasoning": "2"}]"#;
        let signs = |opinion: &JudgeOpinion| -> Vec<(bool, String)> {
            let decided = opinion
                .decisions
                .iter()
                .map(|decision| decision.as_ref().expect("it is decided"));
            decided
                .map(|decision| (decision.passed, decision.reasoning.clone()))
                .collect()
        };
        let whole = asked([first, second], false);
        assert_eq!(
            signs(&whole),
            [
                (true, "1".to_owned()),
                (true, "2".to_owned()),
                (false, "2".to_owned())
            ]
        );
        assert_eq!(
            (
                whole.counted,
                whole.judged.raw.len(),
                whole.judged.prompt_sha256.as_str()
            ),
            (1, 2, "hash")
        );
        // A vote with an unreadable reply to one part does not count, because the evidence in that part is unknown.
        let half = asked([first, "?"], false);
        assert!(half.decisions.iter().all(Result::is_err) && half.counted == 0);
        let strict = asked([first, "?"], true);
        assert_eq!(
            signs(&strict)
                .iter()
                .map(|(passed, _)| *passed)
                .collect::<Vec<_>>(),
            [true, false, false]
        );
        assert!(strict.trouble.is_some());
    }

    #[test]
    fn what_holds_in_any_part_holds() {
        let merged = |before: &str, now: &str| {
            let (before, now) = (cast(&[before]), cast(&[now]));
            stronger_verdict(before[0][0].clone(), now[0][0].clone()).reasoning
        };
        assert_eq!(
            (merged("-", "+"), merged("+", "-"), merged("?", "-")),
            ("because +".into(), "because +".into(), "because -".into())
        );
    }
}
