//! The terms of the site, each with an address of its own.

use askama::Template;

use crate::views::Overview;

use super::SiteFile;
use super::plan::Plan;
use super::shell::{Here, Shell};

#[derive(Template)]
#[template(path = "glossary.html")]
struct GlossaryPage {
    shell: Shell,
    groups: &'static [Group],
}

struct Group {
    anchor: &'static str,
    heading: &'static str,
    terms: &'static [Term],
}

struct Term {
    anchor: &'static str,
    name: &'static str,
    meaning: &'static str,
    /// Anchor and title of a section of the method page.
    method: Option<(&'static str, &'static str)>,
}

const fn term(anchor: &'static str, name: &'static str, meaning: &'static str) -> Term {
    Term {
        anchor,
        name,
        meaning,
        method: None,
    }
}

impl Term {
    /// Adds a link to the section of the method page that says more.
    const fn see(self, anchor: &'static str, label: &'static str) -> Self {
        Self {
            method: Some((anchor, label)),
            ..self
        }
    }
}

const GROUPS: &[Group] = &[
    Group {
        anchor: "parts",
        heading: "What is evaluated",
        terms: &[
            term("suite", "Suite", "A fixed set of items with a name and versions. Elsewhere: benchmark, task, data set."),
            term(
                "item",
                "Item",
                "The smallest thing that passes or fails: a question, task, test, criterion or check. Elsewhere: sample, instance.",
            ),
            term("cluster", "Cluster", "Items that depend on each other, such as questions about one passage or tasks in one repository."),
            term("category", "Category", "A subject, language or tag of items. Reported, and never the unit of a test."),
            term("agent", "Agent", "A program, an API or a recording that answers a prompt."),
            term("approach", "Approach", "A way of working: how an agent turns requirements into a result. Elsewhere: scaffold, harness."),
            term("arm", "Arm", "An approach combined with a model. The unit that is compared."),
            term("baseline", "Baseline", "The approach or the earlier runs that others are compared with."),
            term("run", "Run", "One execution of an arm on a suite."),
            term("attempt", "Attempt", "One execution of an item within a run, usually one per item. Elsewhere: epoch, trial."),
            term("batch", "Batch", "Runs started by one command."),
            term(
                "evaluator",
                "Evaluator",
                "A program or a judge that turns results into outcomes and scores. Elsewhere: scorer, grader, verifier.",
            ),
            term(
                "judge",
                "Judge",
                "A model that decides criteria. With a different model or prompt it is a different judge, and scores are not compared.",
            ),
            term("criterion", "Criterion", "A requirement that a judge decides to be met or not."),
            term("verification", "Verification", "A run of the project's own checks, to see whether a change meets its goal."),
            term("transcript", "Transcript", "The messages and tool calls of an agent in a run."),
        ],
    },
    Group {
        anchor: "endings",
        heading: "Outcomes",
        terms: &[
            term("outcome", "Outcome", "The result of one attempt at an item: one of the seven statuses below.")
                .see("statuses", "Statuses"),
            term("pass", "Pass", "The evaluator accepted the result."),
            term("fail", "Fail", "The evaluator rejected the result; counted as not passed."),
            term("error", "Error", "The agent crashed; counted as not passed."),
            term("limit", "Limit", "Time or budget ran out; counted as not passed."),
            term("infra", "Infra", "An outage or harness failure, not the agent's; missing."),
            term("not-evaluated", "Not evaluated", "Not run, or the evaluator failed; missing."),
            term("skipped", "Skipped", "Deliberately not asked; in no figure."),
            term("counted", "Counted", "In the denominator of a pass rate: pass, fail, error and limit."),
            term(
                "missing",
                "Missing",
                "Expected, but without an outcome: infra and not evaluated. Not in the pass rate, but reported beside it.",
            ),
            term(
                "excluded",
                "Excluded item",
                "A broken item, removed from every figure with a reason; comparisons also show the result with it.",
            ),
            term("retracted", "Retracted run", "A run hidden by its owner, with a reason. The pages give the number."),
            term("unknown", "Unknown", "Not measured. Never the same as 0; a sum with an unknown part is a lower bound (≥)."),
        ],
    },
    Group {
        anchor: "figures",
        heading: "Figures",
        terms: &[
            term("metric", "Score, metric", "A named number with a unit and, for most, a better direction."),
            term("pass-rate", "Pass rate", "Passed outcomes over counted outcomes.").see("rates", "Pass rates"),
            term("n", "n", "Sample size. The label gives the unit: items, clusters or runs."),
            term("estimate", "Estimate", "A value with its interval, its sample size, and the number of missing outcomes."),
            term(
                "interval",
                "Interval, 95% CI",
                "95% confidence interval. Intervals made this way contain the true value about 95% of the time.",
            )
            .see("rates", "Which interval"),
            term("pp", "pp", "Percentage points: from 40% to 50% is 10 pp, and 25 percent."),
            term("solved", "Cost per solved item", "Total cost of the runs over passed outcomes.").see("amounts", "Amounts"),
            term("stated", "Published figure", "Claimed by the source, perhaps without its counts.").see("stated", "Published figures"),
            term(
                "first-in-resamples",
                "First in resamples",
                "Share of bootstrap samples of the items in which the arm ranks first. Not a verdict.",
            ),
            term("rank", "Rank", "Range of ranks that the pairwise tests cannot rule out."),
            term("leading-group", "Leading group", "The leader and every arm that is not significantly worse."),
            term("letters", "Letters", "Arms that share a letter do not differ significantly."),
        ],
    },
    Group {
        anchor: "comparisons",
        heading: "Comparisons and verdicts",
        terms: &[
            term("comparison", "Comparison", "Two or more arms on one suite, item by item if they share items.")
                .see("arms", "Which runs are compared"),
            term("difference", "Difference", "The first arm minus the second; for amounts the first divided by the second."),
            term("paired", "Paired difference", "A difference over the items that both arms have, so that hard items affect both alike."),
            term(
                "comparability",
                "Comparability",
                "Whether two arms were measured alike, from A (no known differences) to F (no item is shared).",
            )
            .see("comparability", "Is the comparison fair?"),
            term("flip", "Flip", "An item or criterion that only one of two arms passes."),
            term(
                "p-value",
                "p, p-value",
                "Probability of a difference at least this large if the arms were equal, adjusted for all pairs of a table.",
            ),
            term(
                "margin",
                "Margin",
                "The largest unimportant difference, declared beforehand. Without it no arms are called equivalent, and decisions use 2 pp for rates and 10% \
                 for cost and time.",
            ),
            term("winner", "Winner", "The arm that is better beyond chance, after adjustment. An arm with only the better number leads.")
                .see("verdict", "Verdicts"),
            term("equivalent", "Equivalent", "The whole interval of the difference lies within the declared margin."),
            term("tie", "Tie", "No run of either arm varies, and the numbers are exactly equal. An open comparison is not a tie."),
            term(
                "not-enough-evidence",
                "Open, not enough evidence",
                "The data cannot rule out either direction. It does not mean that the arms are equal.",
            ),
            term(
                "decision",
                "Decision",
                "Advice from quality, cost and time together: ship, keep, choose by price, measure more, or cannot be settled by this suite.",
            ),
            term(
                "runs-vary",
                "Runs vary",
                "Whole runs of an arm differ more than their items explain. The interval includes this variation.",
            ),
            term(
                "not-comparable",
                "Not comparable",
                "No shared items, different judges, own tests, or a metric without a better direction.",
            ),
            term("no-data", "No data", "An arm has no value."),
            term("deterministic", "Fixed result", "All runs of each arm have identical outcomes, so more runs change nothing."),
            term("detectable", "Smallest detectable difference", "The smallest true difference that this design finds with 80% power."),
            term("second-look", "Other methods", "Figures of other methods beside the verdict. They decide nothing."),
        ],
    },
    Group {
        anchor: "charts",
        heading: "Charts and time",
        terms: &[
            term("pareto", "Pareto front", "The arms that no other beats on both pass rate and cost.").see("drawings", "Charts"),
            term("dominated", "Dominated", "Another arm is at least as good on both figures, and better on one."),
            term("ecdf", "Cumulative share (ECDF)", "For every amount, the share of runs at or below it."),
            term(
                "inconsistencies",
                "Differences and inconsistencies",
                "For two arms: how many items they differ on (inconsistencies), and how far those favour one arm (difference). Many inconsistencies with \
                 little difference are noise.",
            ),
            term("whisker", "Dot and whisker", "The dot is the value, the line its interval; a hollow dot has none."),
            term("night", "Night", "The runs of one arm on one day."),
            term("change-point", "Change point", "The night from which a series differs from before, beyond chance."),
            term("duel", "Duel", "Two arms compared by night on shared items. Its e-value is valid under repeated looks."),
            term("broken", "Broken item", "An item that passed, and fails every attempt since a night, beyond the chance of a flaky item."),
            term("flaky", "Flaky item", "An item that passes and fails within a night, or more often in turn than one change explains."),
            term("discrimination", "Discrimination", "Correlation of an item with the rest of its suite: high if better runs pass it."),
        ],
    },
];

pub(super) fn page(overview: &Overview, plan: &Plan) -> SiteFile {
    let path = "glossary.html";
    let title = format!("Glossary · {}", overview.context.title);
    let shell = Shell::new(
        &overview.context,
        &plan.assets,
        path,
        Here::Glossary,
        title,
        "The terms of these pages, each with one meaning.",
    );
    SiteFile::page(
        path.to_owned(),
        &GlossaryPage {
            shell,
            groups: GROUPS,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::ItemStatus;

    #[test]
    fn every_term_has_one_address_and_every_status_a_term() {
        let mut anchors = BTreeSet::new();
        for group in GROUPS {
            assert!(
                anchors.insert(group.anchor),
                "{} is there twice",
                group.anchor
            );
            for term in group.terms {
                assert!(
                    anchors.insert(term.anchor),
                    "{} is there twice",
                    term.anchor
                );
                assert!(
                    term.meaning.ends_with('.') || term.meaning.ends_with("(≥)."),
                    "{}",
                    term.name
                );
            }
        }
        for status in ItemStatus::ALL {
            assert!(
                anchors.contains(status.name().replace('_', "-").as_str()),
                "{}",
                status.name()
            );
        }
    }
}
