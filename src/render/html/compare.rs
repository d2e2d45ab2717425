//! Two arms on one suite.

use askama::Template;

use crate::render::{format, words};
use crate::views::{Comparison, Flips, SiteContext};

use super::board::{rate, samples};
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Crumb, Here, Shell, Text};
use super::suite::Link;
use super::whisker::Whisker;
use super::{SiteFile, metrics};

/// Runs listed for each arm.
const MAX_RUNS: usize = 20;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    shell: Shell,
    first: Text,
    second: Text,
    suite: Text,
    /// The full names, where the heading has short ones.
    full: Option<(Text, Text)>,
    mark: &'static str,
    sentences: Vec<Text>,
    rates: Option<Grid>,
    metrics: Grid,
    notes: Vec<Text>,
    flips: Option<Outcomes>,
    runs: Vec<ArmLinks>,
}

struct Outcomes {
    sentence: String,
    grid: Grid,
}

struct ArmLinks {
    label: Text,
    links: Vec<Link>,
    more: Option<String>,
}

/// Makes a pair's page; nothing for a comparison of more or fewer than two arms.
pub(super) fn page(context: &SiteContext, plan: &Plan, place: &SuitePlace, pair: &Comparison) -> Option<SiteFile> {
    let path = place.pair_path(pair)?;
    let [first, second] = pair.arms.as_slice() else { return None };
    let labels = metrics::labels(pair);
    let names = [words::arm_name(&first.arm), words::arm_name(&second.arm)];
    let sentences = words::summary_sentences(pair);
    let title = format!("{} against {} on {} · {}", names[0], names[1], place.label, context.title);
    let stem = place.pair_stem(pair)?;
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, sentences.join(" "));
    let back = format!("{}{}", shell.root, place.path());
    let shell = shell.crumbs(vec![Crumb::new(back, place.label.as_str())]).download(&format!("data/{stem}.json"), "JSON");
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
    let page = ComparePage {
        first: Text::new(&labels[0]),
        second: Text::new(&labels[1]),
        suite: Text::new(&place.label),
        full: (labels != names).then(|| (Text::new(&names[0]), Text::new(&names[1]))),
        mark: metrics::mark(pair),
        sentences: sentences.into_iter().map(Text::from).collect(),
        rates: rates(pair, &labels),
        metrics: metrics::grid(pair, "metrics-table", "All metrics").about("Each value is the arm's one run, or the mean over its runs."),
        notes: metrics::notes(pair).into_iter().map(Text::from).collect(),
        flips: pair.flips.as_ref().map(|flips| outcomes(flips, &labels)),
        runs: runs.collect(),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

/// The two rates drawn on one scale.
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

fn outcomes(flips: &Flips, labels: &[String]) -> Outcomes {
    let mut grid = Grid::new("outcomes-table", "Outcomes on the items that both have").fits();
    grid.column(
        Column::new("Items", Look::Key, Sort::None),
        [Cell::head(format!("{} passed", labels[0])), Cell::head(format!("{} did not", labels[0]))],
    );
    grid.column(
        Column::new(format!("{} passed", labels[1]), Look::Number, Sort::None),
        [Cell::count(flips.both_passed), Cell::count(flips.only_second)],
    );
    grid.column(
        Column::new(format!("{} did not", labels[1]), Look::Number, Sort::None),
        [Cell::count(flips.only_first), Cell::count(flips.neither)],
    );
    let sentence = format!(
        "Of {} shared items the two agree on {} and differ on {}.",
        format::integer(flips.shared),
        format::integer(flips.both_passed + flips.neither),
        format::integer(flips.only_first + flips.only_second),
    );
    Outcomes { sentence, grid }
}
