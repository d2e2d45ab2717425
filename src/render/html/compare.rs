//! Two arms on one suite: the winner, the difference, its evidence, and the items on which they differ.

use askama::Template;

use crate::domain::{Evaluator, beginning};
use crate::render::{comparability, format, summary, verdicts, words};
use crate::views::{
    Comparability, Comparison, CriterionFlips, CriterionRow, Flips, ListedItem, MOST_LISTED, OverviewSuite, PairEvidence, SiteContext,
    SuiteState, Test,
};

use super::areas::Areas;
use super::board::{rate, samples};
use super::cut::cut;
use super::forest::{self, Forest};
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::hero::Hero;
use super::items::{criterion_href, item_href};
use super::link::{ItemLink, Link};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::sides::{self, Sides};
use super::suite_tabs::{Tab, bar};
use super::whisker::Whisker;
use super::{SiteFile, metrics, state};

/// Maximum number of runs listed per arm.
const MAX_RUNS: usize = 20;
/// Maximum number of listed items on which the arms differ, per kind, and on which they agree.
const MAX_DIFFERING: usize = 60;
const MAX_AGREEING: usize = 20;
/// Maximum number of listed items that are not compared.
const MAX_CHANGED: usize = 20;
/// Maximum characters of an item's name in a list or a heading.
const LONGEST_NAME: usize = 120;
/// Maximum number of criteria listed.
const MAX_CRITERIA: usize = 60;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    shell: Shell,
    hero: Hero,
    first: Text,
    second: Text,
    mark: &'static str,
    sentences: Vec<Text>,
    facts: Vec<Fact>,
    fairness: Option<Fairness>,
    rates: Option<Grid>,
    forests: Vec<Forest>,
    metrics: Grid,
    notes: Vec<Text>,
    outcomes: Option<Outcomes>,
    /// Address of the list of all the suite's items.
    all_items: Option<String>,
    /// Why no items are compared one by one.
    unpaired: Option<Text>,
    criteria: Option<Criteria>,
    sides: Option<Sides>,
    runs: Vec<ArmLinks>,
}

/// A label with its text.
struct Fact {
    label: &'static str,
    /// The label's anchor in the glossary.
    term: Option<&'static str>,
    text: Text,
}

/// Differences between the two arms' measurements.
struct Fairness {
    grade: &'static str,
    /// Each difference with its grade.
    lines: Vec<(&'static str, Text)>,
    /// Items that are not compared because their texts differ.
    changed: Vec<Text>,
    more: Option<String>,
}

/// Outcomes of the shared items.
struct Outcomes {
    sentences: Vec<Text>,
    /// Shares of the four outcomes as areas.
    areas: Areas,
    /// Two rows and a row of sums, each with two counts and their sum. The counts link to their lists.
    both: String,
    only_first: String,
    only_second: String,
    neither: String,
    first_passed: String,
    first_not: String,
    second_passed: String,
    second_not: String,
    shared: String,
    lists: Vec<List>,
}

/// Items with one of the four pairs of outcomes.
struct List {
    anchor: &'static str,
    heading: Text,
    items: Vec<ItemLink>,
    more: Option<String>,
}

/// Criteria that one arm meets and the other does not.
struct Criteria {
    sentences: Vec<Text>,
    grid: Option<Grid>,
    href: String,
}

struct ArmLinks {
    label: Text,
    links: Vec<Link>,
    more: Option<String>,
}

/// Makes a pair's page. Returns `None` unless the comparison has two arms.
pub(super) fn page(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace, pair: &Comparison) -> Option<SiteFile> {
    let path = place.pair_path(pair)?;
    let [first, second] = pair.arms.as_slice() else { return None };
    let labels = words::labels(pair);
    let names = [words::arm_name(&first.arm), words::arm_name(&second.arm)];
    let sentences = summary::summary_sentences(pair);
    let title = format!("{} against {} on {} · {}", names[0], names[1], place.label, context.title);
    let stem = place.pair_stem(pair)?;
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, sentences.join(" "));
    let bar = bar(suite, place, &shell.root, Tab::Pairs);
    let shell = shell.of_suite(bar).styled(&plan.assets.pair).downloads(&format!("data/{stem}"));
    let runs = pair.arms.iter().zip(&labels).map(|(arm, label)| ArmLinks {
        label: Text::new(label),
        links: arm
            .run_ids
            .iter()
            .take(MAX_RUNS)
            .map(|id| Link {
                href: plan.run_path(id).map_or_else(String::new, |path| format!("{}{path}", shell.root)),
                label: Text::new(id),
            })
            .collect(),
        more: match arm.run_ids.len() {
            0 => Some("No run counts for this arm.".to_owned()),
            all if all > MAX_RUNS => Some(format!("and {} more", format::integer((all - MAX_RUNS) as u64))),
            _ => None,
        },
    });
    let link = |item: &ListedItem| ItemLink {
        name: name(&item.item),
        href: item_href(place, &shell.root, &item.item, Some(item.kind.name())),
        beside: None,
    };
    let sides = sides::of_pair(pair, &labels, plan, &shell.root, &link);
    let hero = Hero::of(pair, &labels, place, plan, &shell.root);
    // The decision is already shown below the answer.
    let told = usize::from(hero.decision.is_some());
    let page = ComparePage {
        first: Text::new(&labels[0]),
        second: Text::new(&labels[1]),
        hero,
        mark: state::mark(SuiteState::of_pair(pair)),
        sentences: sentences.into_iter().skip(told).map(Text::from).collect(),
        facts: facts(pair),
        fairness: pair.comparability.first().and_then(fairness),
        rates: rates(pair, &labels),
        forests: forest::panels(pair, &labels),
        metrics: metrics::grid(pair, "metrics-table", "All metrics", plan, &shell.root)
            .about("Each value is the arm's one run, or the mean over its runs."),
        notes: metrics::notes(pair).into_iter().map(Text::from).collect(),
        outcomes: pair.flips.as_ref().map(|flips| outcomes(pair, flips, &labels, &link, sides.as_ref())),
        all_items: (!suite.items.items.is_empty()).then(|| format!("{}{}", shell.root, place.items_path())),
        unpaired: pair.flips.is_none().then(|| unpaired(pair, &labels)),
        criteria: pair.criteria.as_ref().map(|flips| criteria(suite, place, pair, flips, &labels, &shell.root)),
        sides,
        runs: runs.collect(),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

/// Returns an item's name for a list or a heading.
fn name(item: &str) -> Text {
    if item.trim().is_empty() { Text::new("(no name)") } else { Text::from(beginning(item, LONGEST_NAME)) }
}

/// Returns the evidence of the deciding metric.
fn headline(pair: &Comparison) -> Option<&PairEvidence> {
    pair.primary()?.evidence.pairs.first()
}

/// Returns the facts that a reader looks for first: difference, evidence and number of items.
fn facts(pair: &Comparison) -> Vec<Fact> {
    let Some(row) = pair.primary() else { return Vec::new() };
    let Some(evidence) = row.evidence.pairs.first() else { return Vec::new() };
    let difference = verdicts::change_of(&row.metric, evidence);
    let margin = evidence.margin.map(|_| verdicts::margin(&row.metric, evidence));
    [
        ("Difference [95% interval]", Some("difference"), difference),
        ("Evidence", Some("comparisons"), Some(verdicts::short(pair, row))),
        ("Compared over", Some("paired"), Some(verdicts::units(evidence))),
        ("Comparability", Some("comparability"), pair.comparability.first().map(comparability::graded)),
        ("Declared margin", Some("margin"), margin),
        ("Method", None, Some(verdicts::method(evidence))),
    ]
    .into_iter()
    .filter_map(|(label, term, text)| Some(Fact { label, term, text: Text::from(text?) }))
    .collect()
}

fn fairness(pair: &Comparability) -> Option<Fairness> {
    let changed = pair.items.map_or(0, |items| items.changed);
    let listed = pair.changed_items.len().min(MAX_CHANGED) as u64;
    (!pair.mismatches.is_empty()).then(|| Fairness {
        grade: comparability::letter(pair.grade),
        lines: comparability::lines(pair).into_iter().map(|(grade, said)| (grade, Text::from(said))).collect(),
        changed: pair.changed_items.iter().take(MAX_CHANGED).map(|changed| name(&changed.item)).collect(),
        more: (changed > listed).then(|| format!("and {} more", format::integer(changed - listed))),
    })
}

/// Draws the two rates on one scale.
fn rates(pair: &Comparison, labels: &[String]) -> Option<Grid> {
    let row = pair.rows.iter().find(|row| row.metric.name == "shared_tests")?;
    let estimates: Vec<_> = row.cells.iter().map(|cell| cell.estimate.as_ref()).collect();
    if estimates.iter().all(Option::is_none) {
        return None;
    }
    let mut grid = Grid::new("rates", format!("{}: pass rates", row.metric.label)).fits();
    grid.column(Column::new("Arm", Look::Key, Sort::None), labels.iter().map(|label| Cell::head(label.as_str())));
    grid.column(
        Column::new("Pass rate, %", Look::Number, Sort::None).sub("95% interval"),
        estimates.iter().map(|estimate| rate(*estimate)),
    );
    grid.column(
        Column::new("Pass rate and interval, drawn", Look::Scale, Sort::None),
        estimates.iter().map(|estimate| Cell::dots(estimate.map(Whisker::of))),
    );
    samples(&mut grid, &estimates, Sort::None);
    Some(grid)
}

fn outcomes(
    pair: &Comparison,
    flips: &Flips,
    labels: &[String],
    link: &dyn Fn(&ListedItem) -> ItemLink,
    sides: Option<&Sides>,
) -> Outcomes {
    let (first, second) = (&labels[0], &labels[1]);
    let mut sentences = vec![format!(
        "Of {} shared {} the two agree on {} and differ on {}.",
        format::integer(flips.shared),
        words::one_or_many(flips.shared, "items"),
        format::integer(flips.both_passed + flips.neither),
        format::integer(flips.only_first + flips.only_second),
    )];
    if headline(pair).is_some_and(|evidence| evidence.test == Some(Test::McnemarExact)) {
        sentences.push(format!(
            "Only where they differ is there anything to tell them apart: if neither were better, the {} would be split like tosses of a coin. \
             The exact McNemar test asks how often chance alone splits them at least as unevenly.",
            format::integer(flips.only_first + flips.only_second),
        ));
    }
    let is_repeated = pair.arms.iter().any(|arm| arm.run_ids.len() > 1);
    if is_repeated {
        sentences.push("With several attempts at an item, an arm passes it when it passed more than half of them.".to_owned());
    }
    let list = |anchor, heading: String, count: u64, items: &[ListedItem], most: usize| List {
        anchor,
        heading: Text::from(format!("{heading}: {}", format::integer(count))),
        items: items.iter().take(most).map(|item| ItemLink { beside: sides.and_then(|sides| sides.anchor(item)), ..link(item) }).collect(),
        more: more(count, items.len(), most),
    };
    let lists = flips.listed.as_ref().map_or_else(Vec::new, |listed| {
        vec![
            list("only-first", format!("Only {first} passed"), flips.only_first, &listed.only_first, MAX_DIFFERING),
            list("only-second", format!("Only {second} passed"), flips.only_second, &listed.only_second, MAX_DIFFERING),
            list("both-passed", "Both passed".to_owned(), flips.both_passed, &listed.both_passed, MAX_AGREEING),
            list("neither", "Neither passed".to_owned(), flips.neither, &listed.neither, MAX_AGREEING),
        ]
    });
    Outcomes {
        sentences: sentences.into_iter().map(Text::from).collect(),
        areas: Areas::of(flips),
        both: format::integer(flips.both_passed),
        only_first: format::integer(flips.only_first),
        only_second: format::integer(flips.only_second),
        neither: format::integer(flips.neither),
        first_passed: format::integer(flips.both_passed + flips.only_first),
        first_not: format::integer(flips.only_second + flips.neither),
        second_passed: format::integer(flips.both_passed + flips.only_second),
        second_not: format::integer(flips.only_first + flips.neither),
        shared: format::integer(flips.shared),
        lists,
    }
}

/// Says how many items a list shows and where the others are, or returns `None` if it shows all.
fn more(count: u64, listed: usize, most: usize) -> Option<String> {
    let shown = listed.min(most) as u64;
    (count > shown).then(|| {
        let kept = if count <= MOST_LISTED as u64 { "all".to_owned() } else { format!("the first {MOST_LISTED}") };
        format!("The first {} are listed; the JSON file of this page has {kept}.", format::integer(shown))
    })
}

/// Says why no items are compared one by one, and how the difference was computed instead.
fn unpaired(pair: &Comparison, labels: &[String]) -> Text {
    let why = format!("No item has a counted outcome of both {} and {}: nothing can be laid side by side.", labels[0], labels[1]);
    let method = headline(pair).filter(|evidence| evidence.difference.is_some()).map(|evidence| {
        format!(" Their difference is one of whole pass rates, not paired: {}, {}.", verdicts::units(evidence), verdicts::method(evidence))
    });
    Text::from(why + &method.unwrap_or_default())
}

/// Lists the criteria on which the arms differ, with the judge's reasons.
fn criteria(
    suite: &OverviewSuite,
    place: &SuitePlace,
    pair: &Comparison,
    flips: &CriterionFlips,
    labels: &[String],
    root: &str,
) -> Criteria {
    let href = format!("{root}{}", place.criteria_path());
    let sentences = words::criteria_notes(pair, labels).into_iter().take(1).map(Text::from).collect();
    let judge = match flips.judges.as_slice() {
        [] => None,
        [one] => Some(one),
        _ => return Criteria { sentences, grid: None, href },
    };
    let table =
        suite.criteria.iter().find(|table| table.evaluator == Evaluator::RequirementFulfillment.name() && table.judge.as_ref() == judge);
    let all = flips.only_first.len() + flips.only_second.len();
    let grid = table.filter(|_| all > 0).map(|table| {
        let is_listed = |row: &&CriterionRow| flips.only_first.contains(&row.criterion) || flips.only_second.contains(&row.criterion);
        let rows: Vec<&CriterionRow> = table.rows.iter().filter(is_listed).take(MAX_CRITERIA).collect();
        let listed = if all > rows.len() { format!("{} of {all}", rows.len()) } else { String::new() };
        let mut grid = Grid::new("criteria-flips", "Criteria that one of them meets and the other does not").about(listed);
        let name =
            |row: &&CriterionRow| Cell::head(cut(&row.criterion)).link(criterion_href(place, root, &row.criterion, &table.evaluator));
        grid.column(Column::new("Criterion", Look::Key, Sort::Ascending), rows.iter().map(name));
        for (label, arm) in labels.iter().zip(&pair.arms) {
            let cell = |row: &&CriterionRow| {
                let Some(cell) = row.cell_of(table, &arm.arm) else { return Cell::words("") };
                let met = 2 * cell.passed > cell.total;
                let reason = if met { cell.met.as_ref() } else { cell.reasons.first() };
                let mut shown = Cell::item_status(if met { "pass" } else { "fail" });
                let counts = format!("{} of {} runs", format::integer(cell.passed), format::integer(cell.total));
                shown.text = Text::from(format!("{} in {counts}", if met { "met" } else { "not met" }));
                shown.sub(reason.map_or_else(String::new, |reason| cut(reason)))
            };
            grid.column(Column::new(label.as_str(), Look::Words, Sort::Ascending), rows.iter().map(cell));
        }
        grid
    });
    Criteria { sentences, grid, href }
}
