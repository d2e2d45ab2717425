//! The words of the site, each with an address of its own.

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
    /// A section of the method page, and how it is called.
    method: Option<(&'static str, &'static str)>,
}

const fn term(anchor: &'static str, name: &'static str, meaning: &'static str) -> Term {
    Term { anchor, name, meaning, method: None }
}

impl Term {
    /// Adds the section of the method page that says more.
    const fn see(self, anchor: &'static str, label: &'static str) -> Self {
        Self { method: Some((anchor, label)), ..self }
    }
}

const GROUPS: &[Group] = &[
    Group {
        anchor: "parts",
        heading: "What is evaluated",
        terms: &[
            term(
                "suite",
                "Suite",
                "What is asked, with the tests, criteria or questions that decide. Elsewhere: task, data set, benchmark.",
            ),
            term(
                "item",
                "Item",
                "The smallest thing that is passed, failed or scored: a question, a task, a test, a criterion or a check. Elsewhere: sample, instance.",
            ),
            term("cluster", "Cluster", "Items that are not independent of each other, such as questions about one passage or tasks in one repository."),
            term("category", "Category", "A subject, language or tag of items. Reported, and never the unit of a test."),
            term("agent", "Agent", "What answers a prompt: a program, a service, or a recording of one."),
            term(
                "approach",
                "Approach",
                "The way from a suite's demands to a result with an agent and a model. Elsewhere: scaffold, harness.",
            ),
            term("arm", "Arm", "One approach with one model, as one side of a comparison."),
            term("baseline", "Baseline", "The approach that the others are compared to, where one was named."),
            term("run", "Run", "One go of one arm at one suite."),
            term("attempt", "Attempt", "One go at one item. A run usually has one for each item. Elsewhere: epoch, trial."),
            term("batch", "Batch", "Runs that were started together, by one plan."),
            term("evaluator", "Evaluator", "What turns a finished result into outcomes and scores. Elsewhere: scorer, grader, verifier."),
            term(
                "judge",
                "Judge",
                "A model that decides about criteria. Another model, or other words to it, is another judge and another measure.",
            ),
            term("criterion", "Criterion", "A demand that a judge decides to be met or not."),
            term("verification", "Verification", "Running a project's own checks to see whether what was made does what was asked for."),
            term("transcript", "Transcript", "What an agent was told, said and did in a run."),
        ],
    },
    Group {
        anchor: "endings",
        heading: "How things end",
        terms: &[
            term("outcome", "Outcome", "How one attempt at one item ended: one of the seven statuses below.").see("statuses", "Statuses"),
            term("pass", "Pass", "The evaluator accepted the result."),
            term("fail", "Fail", "The evaluator refused it; counted, as not passed."),
            term("error", "Error", "The agent broke down; counted, as not passed."),
            term("limit", "Limit", "Time or budget ran out; counted, as not passed."),
            term("infra", "Infra", "A service or the harness failed, which says nothing about the agent; missing."),
            term("not-evaluated", "Not evaluated", "Not run, or the evaluator failed; missing."),
            term("skipped", "Skipped", "Meant not to be asked; outside of every figure."),
            term("counted", "Counted", "In the denominator of a pass rate: pass, fail, error and limit."),
            term(
                "missing",
                "Missing",
                "Asked for, but without an answer about the agent: infra and not evaluated. Not in the denominator, and always said.",
            ),
            term(
                "excluded",
                "Excluded item",
                "Known to be broken and taken out of every figure, with its reason; the figures with it are said beside.",
            ),
            term("retracted", "Retracted run", "Hidden by its owner, with a reason. The pages say how many there are."),
            term("unknown", "Unknown", "Not measured. Never the same as 0; a sum with an unknown part is a lower bound (≥)."),
        ],
    },
    Group {
        anchor: "figures",
        heading: "Figures",
        terms: &[
            term("metric", "Score, metric", "A named number with a unit and, where there is one, a better end."),
            term("pass-rate", "Pass rate", "Passed outcomes over counted outcomes.").see("rates", "Pass rates"),
            term("n", "n", "How many of what a figure rests on: items, clusters or runs, as its label says."),
            term("estimate", "Estimate", "A value with its interval, what it was counted over, and what was left out."),
            term(
                "interval",
                "Interval, 95% CI",
                "The values that the data are compatible with: a method that gives such intervals covers the truth 95 times in 100.",
            )
            .see("rates", "Which interval"),
            term("pp", "pp", "Percentage points: from 40% to 50% is 10 pp, and 25 percent."),
            term("solved", "Cost per solved item", "What the runs cost together, over the outcomes they passed.").see("amounts", "Amounts"),
            term("stated", "Stated", "As the source published it, where its own counts are not known.").see("stated", "Stated figures"),
            term("first-in-resamples", "First in resamples", "How often an arm comes first if the items are drawn anew. No verdict."),
            term(
                "rank",
                "Rank",
                "The places that the evidence leaves open: behind all that are surely better, before all that are surely worse.",
            ),
            term("leading-group", "Leading group", "The arm with the best rate and every arm that the evidence does not put behind it."),
            term("letters", "Letters", "Arms that share a letter cannot be told apart."),
        ],
    },
    Group {
        anchor: "comparisons",
        heading: "Comparisons and verdicts",
        terms: &[
            term("comparison", "Comparison", "Two or more arms on one suite, item by item where they share items.")
                .see("arms", "What stands beside what"),
            term(
                "difference",
                "Difference",
                "How far one arm is from another: the first less the second, or for amounts the first over the second.",
            ),
            term(
                "paired",
                "Paired difference",
                "A difference made item by item on what both arms have, so that hard and easy items weigh on both alike.",
            ),
            term(
                "comparability",
                "Comparability",
                "Whether two arms were measured alike, from A (no known differences) to F (no item is shared).",
            )
            .see("comparability", "Is the comparison fair?"),
            term("flip", "Flip", "An item, or a criterion, that one arm passes and the other does not."),
            term(
                "p-value",
                "p, p-value",
                "How often chance alone would give a difference at least this large if there were none, adjusted for all pairs of a table.",
            ),
            term(
                "margin",
                "Margin",
                "A difference smaller than this does not matter, as declared beforehand. Without one nothing is called equivalent, and decisions take 2 pp of \
                 quality and 10% of cost and time.",
            ),
            term(
                "winner",
                "Winner",
                "The arm that a verdict names: better than the other beyond chance, after adjustment. With the better number alone it leads.",
            )
            .see("verdict", "Verdicts"),
            term("equivalent", "Equivalent", "The whole interval of the difference lies within the declared margin."),
            term("tie", "Tie", "Exactly equal numbers; never a difference that failed to show."),
            term(
                "not-enough-evidence",
                "Open, not enough evidence",
                "The data fit too many differences to say. Never that the arms are equal.",
            ),
            term(
                "decision",
                "Decision",
                "What to do, from quality, cost and time together: ship, keep, choose by price, measure more, or cannot be settled by this suite.",
            ),
            term("runs-vary", "Runs vary", "Whole runs of an arm differ by more than their items explain. It is part of the interval."),
            term(
                "not-comparable",
                "Not comparable",
                "Another question was asked: no shared items, another judge, own tests, no better side.",
            ),
            term("no-data", "No data", "An arm has no value."),
            term(
                "deterministic",
                "Fixed result",
                "Every run of an arm has the same outcomes, so repeats add nothing. The difference holds for these items.",
            ),
            term("detectable", "So much data can show …", "The smallest difference that this much data would show four times out of five."),
            term("second-look", "For a second look", "Figures of another method beside the verdict. They decide nothing."),
        ],
    },
    Group {
        anchor: "charts",
        heading: "Charts and time",
        terms: &[
            term("pareto", "Pareto front", "The arms that no other beats on both figures of a chart, pass rate and price.")
                .see("drawings", "Charts"),
            term("dominated", "Dominated", "Another arm is at least as good on both figures, and better on one."),
            term("ecdf", "Cumulative share (ECDF)", "For every amount, the share of runs that took at most so much."),
            term(
                "inconsistencies",
                "Differences and inconsistencies",
                "Of the items on which two arms differ: how far they favour one arm, against how many there are. Much of the second and little of the \
                 first is noise.",
            ),
            term("whisker", "Dot and whisker", "The dot is the value, the line its interval; a hollow dot has none."),
            term("night", "Night", "The runs of one arm on one day."),
            term("change-point", "Change point", "The night from which on a series has another level than before, beyond chance."),
            term("duel", "Duel", "Two arms on the items that both have, night by night; its e-value holds however often one looks."),
            term("flaky", "Flaky item", "An item that most probably neither always passes nor always fails for one arm."),
            term(
                "discrimination",
                "Discrimination",
                "How far an item goes with the rest of its suite: whether better runs are those that pass it.",
            ),
        ],
    },
];

pub(super) fn page(overview: &Overview, plan: &Plan) -> SiteFile {
    let path = "glossary.html";
    let title = format!("Glossary · {}", overview.context.title);
    let shell = Shell::new(&overview.context, &plan.assets, path, Here::Glossary, title, "The words of these pages, each in one sense.");
    SiteFile::page(path.to_owned(), &GlossaryPage { shell, groups: GROUPS })
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
            assert!(anchors.insert(group.anchor), "{} is there twice", group.anchor);
            for term in group.terms {
                assert!(anchors.insert(term.anchor), "{} is there twice", term.anchor);
                assert!(term.meaning.ends_with('.') || term.meaning.ends_with("(≥)."), "{}", term.name);
            }
        }
        for status in ItemStatus::ALL {
            assert!(anchors.contains(status.name().replace('_', "-").as_str()), "{}", status.name());
        }
    }
}
