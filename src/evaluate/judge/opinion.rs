//! A judge's opinion on statements, across all groups of statements, all votes and all parts of the work.
//!
//! A vote asks about each part of the work in turn; a statement that holds in any part holds. Votes that could be read are counted, and a
//! statement holds if more than half of them say so. Groups are independent: a failure in one group does not affect the statements of
//! another.

use super::Judge;
use super::question::{Group, Question};
use super::reply::{Verdict, parse_reply};
use super::tally::Tally;
use crate::agent::{FailureKind, Prompt};
use crate::config::Budget;
use crate::evaluate::Judged;
use crate::process::Stop;

/// The decisions of a judge, and what it took to get them.
pub(crate) struct Opinion {
    /// One decision per statement, in their order, or the reason why the statement was not decided.
    pub decisions: Vec<Result<Decision, String>>,
    /// Number of votes counted: the minimum over the groups that were decided.
    pub counted: u64,
    /// Why a vote was not counted, or why it failed every statement of its group.
    pub trouble: Option<String>,
    pub judged: Judged,
}

/// The decision on one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub passed: bool,
    /// Reasoning of the first vote that agrees with the decision.
    pub reasoning: String,
    /// Number of counted votes in favour.
    pub votes_for: u64,
    /// Whether any vote named the statement. A statement that no vote names does not pass.
    pub is_named: bool,
}

/// Result of one vote.
enum Vote {
    Counted(Vec<Verdict>, Option<String>),
    Uncounted(String),
    /// The service failed, so that further votes are pointless.
    Outage(String),
    Stopped,
}

impl Opinion {
    /// Asks the judge. `None` if the user stopped it.
    pub fn ask(judge: &Judge, question: &Question, stop: &Stop) -> Option<Self> {
        let wanted = judge.votes.max(1);
        let mut tally = Tally::default();
        let mut decisions = Vec::new();
        let mut cast: Vec<Vec<Vec<Verdict>>> = Vec::new();
        let mut trouble: Option<String> = None;
        for group in &question.groups {
            let (votes, reason) = votes(judge, (&question.system, group), &mut tally, stop)?;
            if votes.is_empty() {
                let reason = reason
                    .clone()
                    .unwrap_or_else(|| "the judge was not asked".to_owned());
                decisions.extend(group.statements.iter().map(|_| Err(reason.clone())));
            } else {
                decisions
                    .extend((0..group.statements.len()).map(|place| Ok(decide(&votes, place))));
                cast.push(votes);
            }
            trouble = trouble.or(reason);
        }
        let counted = cast
            .iter()
            .map(|votes| votes.len() as u64)
            .min()
            .unwrap_or(0);
        let judged = tally.judged(
            judge,
            question.prompt_sha256.clone(),
            wanted,
            agreement(&cast),
        );
        Some(Self {
            decisions,
            counted,
            trouble,
            judged,
        })
    }

    /// Returns the first reason why a statement was not decided; `None` if all were decided.
    pub fn undecided(&self) -> Option<String> {
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
fn votes(
    judge: &Judge,
    asked: (&str, &Group),
    tally: &mut Tally,
    stop: &Stop,
) -> Option<(Vec<Vec<Verdict>>, Option<String>)> {
    let mut votes: Vec<Vec<Verdict>> = Vec::new();
    let mut trouble: Option<String> = None;
    for seed in 0..judge.votes.max(1) {
        let (reason, is_over) = match vote(judge, asked, seed, tally, stop) {
            Vote::Counted(verdicts, reason) => {
                votes.push(verdicts);
                (reason, false)
            }
            Vote::Uncounted(reason) => (Some(reason), false),
            Vote::Outage(reason) => (Some(reason), true),
            Vote::Stopped => return None,
        };
        trouble = trouble.or(reason);
        if is_over {
            break;
        }
    }
    Some((votes, trouble))
}

fn vote(
    judge: &Judge,
    (system, group): (&str, &Group),
    seed: u64,
    tally: &mut Tally,
    stop: &Stop,
) -> Vote {
    let mut verdicts: Option<Vec<Verdict>> = None;
    let mut trouble = None;
    for part in &group.parts {
        let prompt = Prompt {
            text: part,
            system: Some(system),
            item: Some(&group.item),
            seed,
            limits: Budget {
                max_seconds: judge.timeout.map(|timeout| timeout.as_secs_f64()),
                ..Budget::default()
            },
            folder: None,
        };
        let said = match judge.agent.ask(&prompt, stop) {
            Ok(reply) => {
                tally.add(&reply.measured, Some(&reply.text));
                parse_reply(&reply.text, &group.statements)
            }
            Err(failure) => {
                tally.add(&failure.measured, None);
                let reason = format!("the judge gave no reply: {failure}");
                return match failure.kind {
                    FailureKind::Stopped => Vote::Stopped,
                    FailureKind::Infra => Vote::Outage(reason),
                    FailureKind::Error | FailureKind::Limit => Vote::Uncounted(reason),
                };
            }
        };
        let found = match said {
            Ok(found) => found,
            Err(reason) if judge.is_strict => {
                let failed = Verdict {
                    passed: false,
                    reasoning: reason.clone(),
                    is_named: false,
                };
                trouble = trouble.or(Some(reason));
                vec![failed; group.statements.len()]
            }
            Err(reason) => return Vote::Uncounted(reason),
        };
        verdicts = Some(match verdicts {
            Some(before) => before
                .into_iter()
                .zip(found)
                .map(|(before, now)| better(before, now))
                .collect(),
            None => found,
        });
    }
    match verdicts {
        Some(verdicts) => Vote::Counted(verdicts, trouble),
        None => Vote::Uncounted("there is nothing to ask about".to_owned()),
    }
}

/// Returns the stronger of two parts' verdicts: first a pass, then a verdict that names the statement.
fn better(before: Verdict, now: Verdict) -> Verdict {
    let says = |verdict: &Verdict| (verdict.passed, verdict.is_named);
    if says(&now) > says(&before) {
        now
    } else {
        before
    }
}

fn decide(votes: &[Vec<Verdict>], place: usize) -> Decision {
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
    Decision {
        passed,
        reasoning,
        votes_for: votes_for as u64,
        is_named: cast().any(|verdict| verdict.is_named),
    }
}

/// Returns the share of votes, over the statements of all groups, that agreed with the majority. `None` if no group had more than one vote.
fn agreement(cast: &[Vec<Vec<Verdict>>]) -> Option<f64> {
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
    use crate::evaluate::fulfilment::tests::replaying;

    fn cast(votes: &[&str]) -> Vec<Vec<Verdict>> {
        let verdict = |sign| Verdict {
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
        let decisions: Vec<_> = (0..3).map(|place| decide(&votes, place)).collect();
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
        assert_eq!(agreement(&[votes]), Some(8.0 / 9.0));
        let tie = decide(&cast(&["+", "-"]), 0);
        assert!(
            !tie.passed
                && tie.reasoning.starts_with("the votes are tied")
                && tie.reasoning.ends_with("because -"),
            "{tie:?}"
        );
        assert_eq!(agreement(&[cast(&["+", "-"])]), Some(0.5));
        assert_eq!(agreement(&[cast(&["+"])]), None);
        // Every statement has the same weight, whatever the size of its group.
        assert_eq!(
            agreement(&[cast(&["+-", "++"]), cast(&["-", "-"]), cast(&["+"])]),
            Some(5.0 / 6.0)
        );
    }

    /// Asks about three statements in two parts, which the judge answers with `replies`.
    fn asked(replies: [&str; 2], is_strict: bool) -> Opinion {
        let parts = ["the beginning", "the end"];
        let records: Vec<_> = parts
            .iter()
            .zip(replies)
            .map(|(part, reply)| json!({"prompt": part, "answer": reply}))
            .collect();
        let (_folder, agent) = replaying(&records);
        let group = Group {
            parts: parts.map(str::to_owned).to_vec(),
            statements: ["a", "b", "c"].map(str::to_owned).to_vec(),
            item: "s/x".to_owned(),
        };
        let question = Question {
            system: "system".to_owned(),
            groups: vec![group],
            prompt_sha256: "hash".to_owned(),
        };
        Opinion::ask(
            &Judge {
                agent: &agent,
                votes: 1,
                is_strict,
                timeout: None,
            },
            &question,
            &Stop::new(),
        )
        .expect("nobody stops it")
    }

    #[test]
    fn a_vote_asks_about_every_part() {
        let first = r#"[{"criterion": "a", "passed": true, "reasoning": "1"}, {"criterion": "b", "passed": false, "reasoning": "1"}]"#;
        let second = r#"[{"criterion": "a", "passed": false, "reasoning": "2"}, {"criterion": "b", "passed": true, "reasoning": "2"},
            {"criterion": "c", "passed": false, "reasoning": "2"}]"#;
        let signs = |opinion: &Opinion| -> Vec<(bool, String)> {
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
            better(before[0][0].clone(), now[0][0].clone()).reasoning
        };
        assert_eq!(
            (merged("-", "+"), merged("+", "-"), merged("?", "-")),
            ("because +".into(), "because +".into(), "because -".into())
        );
    }
}
