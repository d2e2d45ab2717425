//! The terms of the site, each with an address of its own.

use askama::Template;

use crate::views::Overview;

use super::SiteFile;
use super::routes::SiteRoutes;
use super::shell::{NavigationEntry, PageShell};

#[derive(Template)]
#[template(path = "glossary.html")]
struct GlossaryPage {
    shell: PageShell,
    groups: &'static [GlossaryGroup],
}

struct GlossaryGroup {
    anchor: &'static str,
    heading: &'static str,
    terms: &'static [GlossaryTerm],
}

pub(super) struct GlossaryTerm {
    anchor: &'static str,
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    /// Anchor and title of a section of the method page.
    method: Option<(&'static str, &'static str)>,
}

const fn define_term(
    anchor: &'static str,
    name: &'static str,
    meaning: &'static str,
) -> GlossaryTerm {
    GlossaryTerm {
        anchor,
        name,
        meaning,
        method: None,
    }
}

impl GlossaryTerm {
    /// Adds a link to the section of the method page that says more.
    const fn with_method(self, anchor: &'static str, label: &'static str) -> Self {
        Self {
            method: Some((anchor, label)),
            ..self
        }
    }
}

const TERM_GROUPS: &[GlossaryGroup] = &[
    GlossaryGroup {
        anchor: "parts",
        heading: "What is evaluated",
        terms: &[
            define_term("suite", "Suite", "A fixed set of items with a name and versions. Elsewhere: benchmark, task, data set."),
            define_term(
                "item",
                "Item",
                "The smallest thing that passes or fails: a question, task, test, criterion or check. Elsewhere: sample, instance.",
            ),
            define_term("cluster", "Cluster", "Items that depend on each other, such as questions about one passage or tasks in one repository."),
            define_term("category", "Category", "A subject, language or tag of items. Reported, and never the unit of a test."),
            define_term("agent", "Agent", "A program, an API or a recording that answers a prompt."),
            define_term("approach", "Approach", "A way of working: how an agent turns requirements into a result. Elsewhere: scaffold, harness."),
            define_term("arm", "Arm", "An approach combined with a model. The unit that is compared."),
            define_term("baseline", "Baseline", "The approach or the earlier runs that others are compared with."),
            define_term("run", "Run", "One execution of an arm on a suite."),
            define_term("attempt", "Attempt", "One execution of an item within a run, usually one per item. Elsewhere: epoch, trial."),
            define_term("batch", "Batch", "Runs started by one command."),
            define_term(
                "evaluator",
                "Evaluator",
                "A program or a judge that turns results into outcomes and scores. Elsewhere: scorer, grader, verifier.",
            ),
            define_term(
                "judge",
                "Judge",
                "A model that decides criteria. With a different model or prompt it is a different judge, and scores are not compared.",
            ),
            define_term("criterion", "Criterion", "A requirement that a judge decides to be met or not."),
            define_term("verification", "Verification", "A run of the project's own checks, to see whether a change meets its goal."),
            define_term("transcript", "Transcript", "The messages and tool calls of an agent in a run."),
        ],
    },
    GlossaryGroup {
        anchor: "endings",
        heading: "Outcomes",
        terms: &[
            define_term("outcome", "Outcome", "The result of one attempt at an item: one of the seven statuses below.")
                .with_method("statuses", "Statuses"),
            define_term("pass", "Pass", "The evaluator accepted the result."),
            define_term("fail", "Fail", "The evaluator rejected the result; counted as not passed."),
            define_term("error", "Error", "The agent crashed; counted as not passed."),
            define_term("limit", "Limit", "Time or budget ran out; counted as not passed."),
            define_term("infra", "Infra", "An outage or harness failure, not the agent's; missing."),
            define_term("not-evaluated", "Not evaluated", "Not run, or the evaluator failed; missing."),
            define_term("skipped", "Skipped", "Deliberately not asked; in no figure."),
            define_term("counted", "Counted", "In the denominator of a pass rate: pass, fail, error and limit."),
            define_term(
                "missing",
                "Missing",
                "Expected, but without an outcome: infra and not evaluated. Not in the pass rate, but reported beside it.",
            ),
            define_term(
                "excluded",
                "Excluded item",
                "A broken item, removed from every figure with a reason; comparisons also show the result with it.",
            ),
            define_term("retracted", "Retracted run", "A run hidden by its owner, with a reason. The pages give the number."),
            define_term("unknown", "Unknown", "Not measured. Never the same as 0; a sum with an unknown part is a lower bound (≥)."),
        ],
    },
    GlossaryGroup {
        anchor: "figures",
        heading: "Figures",
        terms: &[
            define_term("metric", "Score, metric", "A named number with a unit and, for most, a better direction."),
            define_term("pass-rate", "Pass rate", "Passed outcomes over counted outcomes.").with_method("rates", "Pass rates"),
            define_term("n", "n", "Sample size. The label gives the unit: items, clusters or runs."),
            define_term("estimate", "Estimate", "A value with its interval, its sample size, and the number of missing outcomes."),
            define_term(
                "interval",
                "Interval, 95% CI",
                "95% confidence interval. Intervals made this way contain the true value about 95% of the time.",
            )
            .with_method("rates", "Which interval"),
            define_term("pp", "pp", "Percentage points: from 40% to 50% is 10 pp, and 25 percent."),
            define_term("solved", "Cost per solved item", "Total cost of the runs over passed outcomes.").with_method("amounts", "Amounts"),
            define_term("stated", "Published figure", "Claimed by the source, perhaps without its counts.").with_method("stated", "Published figures"),
            define_term(
                "first-in-resamples",
                "First in resamples",
                "Share of bootstrap samples of the items in which the arm ranks first. Not a verdict.",
            ),
            define_term("rank", "Rank", "Range of ranks that the pairwise tests cannot rule out."),
            define_term("leading-group", "Leading group", "The leader and every arm that is not significantly worse."),
            define_term("letters", "Letters", "Arms that share a letter are not ordered, for all pairs at once."),
        ],
    },
    GlossaryGroup {
        anchor: "comparisons",
        heading: "Comparisons and verdicts",
        terms: &[
            define_term("comparison", "Comparison", "Two or more arms on one suite, item by item if they share items.")
                .with_method("arms", "Which runs are compared"),
            define_term("difference", "Difference", "The first arm minus the second; for amounts the first divided by the second."),
            define_term("paired", "Paired difference", "A difference over the items that both arms have, so that hard items affect both alike."),
            define_term(
                "comparability",
                "Comparability",
                "Whether two arms were measured alike, from A (no known differences) to F (no item is shared).",
            )
            .with_method("comparability", "Is the comparison fair?"),
            define_term("flip", "Flip", "An item or criterion that only one of two arms passes."),
            define_term(
                "p-value",
                "p, p-value",
                "Probability of a difference at least this large if the arms were equal, adjusted for all pairs of a table.",
            ),
            define_term(
                "margin",
                "Margin",
                "The largest unimportant difference, declared beforehand. Without it no arms are called equivalent, and decisions use 2 pp for rates and 10% \
                 for cost and time.",
            ),
            define_term("winner", "Winner", "The arm that is better beyond chance, after adjustment. An arm with only the better number leads.")
                .with_method("verdict", "Verdicts"),
            define_term("equivalent", "Equivalent", "The whole interval of the difference lies within the declared margin."),
            define_term("tie", "Tie", "No run of either arm varies, and the numbers are exactly equal. An open comparison is not a tie."),
            define_term(
                "not-enough-evidence",
                "Open, not enough evidence",
                "The data cannot rule out either direction. It does not mean that the arms are equal.",
            ),
            define_term(
                "decision",
                "Decision",
                "Advice from quality, cost and time together: ship, keep, choose by price, measure more, or cannot be settled by this suite.",
            ),
            define_term(
                "runs-vary",
                "Runs vary",
                "Whole runs of an arm differ more than their items explain. The interval includes this variation.",
            ),
            define_term(
                "not-comparable",
                "Not comparable",
                "No shared items, different judges, own tests, or a metric without a better direction.",
            ),
            define_term("no-data", "No data", "An arm has no value."),
            define_term("deterministic", "Fixed result", "All runs of each arm have identical outcomes, so more runs change nothing."),
            define_term("detectable", "Smallest detectable difference", "The smallest true difference that this design finds with 80% power."),
            define_term("second-look", "Other methods", "Figures of other methods beside the verdict. They decide nothing."),
        ],
    },
    GlossaryGroup {
        anchor: "charts",
        heading: "Charts and time",
        terms: &[
            define_term("pareto", "Pareto front", "The arms that no other beats on both pass rate and cost.").with_method("drawings", "Charts"),
            define_term("dominated", "Dominated", "Another arm is at least as good on both figures, and better on one."),
            define_term("ecdf", "Cumulative share (ECDF)", "For every amount, the share of runs at or below it."),
            define_term(
                "inconsistencies",
                "Differences and inconsistencies",
                "For two arms: how many items they differ on (inconsistencies), and how far those favour one arm (difference). Many inconsistencies with \
                 little difference are noise.",
            ),
            define_term("whisker", "Dot and whisker", "The dot is the value, the line its interval; a hollow dot has none."),
            define_term("night", "Night", "The runs of one arm on one day."),
            define_term("change-point", "Change point", "The night from which a series differs from before, beyond chance."),
            define_term("duel", "Duel", "Two arms compared by night on shared items. Its e-value is valid under repeated looks."),
            define_term("broken", "Broken item", "An item that passed, and fails every attempt since a night, beyond the chance of a flaky item."),
            define_term("flaky", "Flaky item", "An item that passes and fails within a night, or more often in turn than one change explains."),
            define_term("discrimination", "Discrimination", "Correlation of an item with the rest of its suite: high if better runs pass it."),
        ],
    },
];

/// Returns the term with this anchor, or `None` if there is none.
pub(super) fn find_term(anchor: &str) -> Option<&'static GlossaryTerm> {
    TERM_GROUPS
        .iter()
        .flat_map(|group| group.terms)
        .find(|term| term.anchor == anchor)
}

pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> SiteFile {
    let path = "glossary.html";
    let title = format!("Glossary · {}", overview.context.title);
    let shell = PageShell::new(
        &overview.context,
        &plan.assets,
        path,
        NavigationEntry::Glossary,
        title,
        "The terms of these pages, each with one meaning.",
    );
    SiteFile::from_template(
        path.to_owned(),
        &GlossaryPage {
            shell,
            groups: TERM_GROUPS,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::ItemStatus;

    /// The page of the documentation has the terms of the site, in the same words.
    #[test]
    fn documented_terms_are_those_of_the_site() {
        let mut page = "# Glossary\n\nEvery term of the documentation, the site and the program, in the same words.\n".to_owned();
        for group in TERM_GROUPS {
            page.push_str(&format!(
                "\n## {}\n\n| term | meaning |\n| --- | --- |\n",
                group.heading
            ));
            for term in group.terms {
                page.push_str(&format!("| {} | {} |\n", term.name, term.meaning));
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/look-up/glossary.md");
        if std::env::var("EVALREPORT_DOCS").is_ok_and(|wish| wish == "write") {
            std::fs::write(path, &page).expect("the page can be written");
        }
        assert!(
            std::fs::read_to_string(path).is_ok_and(|written| written == page),
            "EVALREPORT_DOCS=write cargo test documented_terms writes {path}"
        );
    }

    #[test]
    fn every_term_has_one_address_and_every_status_a_term() {
        let mut anchors = BTreeSet::new();
        for group in TERM_GROUPS {
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
