//! One arm over all suites: its rank on each, cost and time, pass rates over the nights, weakest categories, and runs.

use askama::Template;

use crate::domain::Unit;
use crate::render::{chart, format, verdicts, words};
use crate::views::{ArmOnSuite, ArmPage, Entry, Lead, Overview, Scale, SuiteState};

use super::SiteFile;
use super::arm_list::spent_words;
use super::arms::axis;
use super::figure::Figure;
use super::grid::{Grid, Kind, Look, Sort};
use super::plan::tone;
use super::plan::{Plan, SuitePlace};
use super::runs::{Of, run_grid};
use super::shell::{Crumb, Here, Shell, Text};
use super::state::{Sign, sign};
use super::strip::{self, Axis, Mark};

/// Maximum number of runs listed. The list of all runs has the others.
const MAX_RUNS: usize = 20;
/// Maximum number of suites with a row. Only a project's way of naming puts one arm on more.
const MAX_SUITES: usize = 200;
/// Maximum number of charts of nights, and of nights in each.
const MAX_CHARTS: usize = 4;
const MAX_NIGHTS: usize = 60;
/// Maximum number of suites whose weakest categories are listed.
const MAX_WEAK: usize = 6;

#[derive(Template)]
#[template(path = "arm.html")]
struct ArmHtml {
    shell: Shell,
    headline: Text,
    /// CSS class of the arm's colour.
    tone: &'static str,
    name: Text,
    /// Label of the suites' figures.
    measure: &'static str,
    has_cost: bool,
    has_time: bool,
    /// Ends of the axis of the rates.
    ends: Option<[String; 2]>,
    facts: Vec<(&'static str, String)>,
    rows: Vec<Row>,
    more_rows: Option<String>,
    trends: Vec<Trend>,
    weak: Vec<Weak>,
    runs: Grid,
    more_runs: Option<String>,
}

/// The arm on one suite.
struct Row {
    sign: Sign,
    /// The better arm, if known.
    by: Text,
    label: Text,
    href: String,
    rank: String,
    rate: Text,
    /// The rate with its interval, on the axis of all suites.
    drawn: Option<Mark>,
    /// The best other arm with its page's address.
    against: Option<(Text, String)>,
    pair: Option<String>,
    difference: Option<Difference>,
    cost: String,
    time: String,
}

/// Difference from the best other arm, with zero on the axis.
struct Difference {
    key: String,
    text: Text,
    interval: Text,
    is_clear: bool,
    zero: String,
    mark: Option<Mark>,
}

/// The arm over a suite's nights.
struct Trend {
    href: String,
    figure: Figure,
}

/// The arm's weakest categories on a suite.
struct Weak {
    label: Text,
    href: String,
    categories: Vec<(Text, String, String)>,
}

pub(super) fn pages<'a>(
    overview: &'a Overview,
    plan: &'a Plan,
) -> impl Iterator<Item = SiteFile> + 'a {
    overview
        .arm_pages()
        .into_iter()
        .map(|arm| page(overview, plan, &arm))
}

fn page(overview: &Overview, plan: &Plan, arm: &ArmPage<'_>) -> SiteFile {
    let path = plan.arms.path(arm.arm);
    let name = words::arm_over(&arm.suite_names(), arm.arm);
    let headline = headline(plan, arm, &name);
    let title = format!("Arm {name} · {}", overview.context.title);
    let shell = Shell::new(
        &overview.context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        headline.clone(),
    );
    let shell = shell
        .styled(&plan.assets.suite)
        .styled(&plan.assets.pair)
        .crumbs(vec![Crumb::new("index.html", "Arms")])
        .foot(&overview.context);
    let root = shell.root.as_str();
    let shown = &arm.runs[..arm.runs.len().min(MAX_RUNS)];
    let listed = &arm.suites[..arm.suites.len().min(MAX_SUITES)];
    let is_share = |on: &&ArmOnSuite<'_>| on.suite.board.primary.unit == Unit::Fraction;
    let shared = axis(
        listed
            .iter()
            .filter(is_share)
            .filter_map(|on| on.entry.primary.as_ref()),
        true,
    );
    let rows: Vec<Row> = listed
        .iter()
        .map(|on| row(plan, on, shared.filter(|_| is_share(&on)), root))
        .collect();
    let of = |number: usize, all: usize, what: &str| {
        (number < all).then(|| {
            format!(
                "{} of {} are listed here.",
                format::integer(number as u64),
                words::count_of(all as u64, what)
            )
        })
    };
    let page = ArmHtml {
        headline: Text::from(headline),
        tone: tone(
            listed
                .iter()
                .find_map(|on| plan.suites[on.place].colour(arm.arm)),
        ),
        measure: if listed.iter().all(|on| is_share(&on)) {
            "Pass rate"
        } else {
            "Primary metric"
        },
        has_cost: listed
            .iter()
            .any(|on| on.entry.cost_per_solved_usd.is_some()),
        has_time: listed.iter().any(|on| on.entry.duration.is_some()),
        ends: shared
            .map(|axis| [axis.low, axis.high].map(|end| format!("{}%", strip::end(end * 100.0)))),
        facts: facts(arm),
        rows,
        more_rows: of(listed.len(), arm.suites.len(), "suites"),
        trends: trends(plan, arm, &name, root),
        weak: listed
            .iter()
            .filter(|on| !on.weakest.is_empty())
            .take(MAX_WEAK)
            .map(|on| weak(plan, on, root))
            .collect(),
        runs: run_grid(
            "runs-table",
            "Its runs, newest first",
            shown,
            plan,
            root,
            Of::OneArm,
        ),
        more_runs: of(shown.len(), arm.runs.len(), "runs"),
        name: Text::from(name),
        shell,
    };
    SiteFile::page(path, &page)
}

/// Summarises the evidence of all the arm's suites.
fn headline(plan: &Plan, arm: &ArmPage<'_>, name: &str) -> String {
    let (wins, leads) = arm.leads();
    let compared = arm.compared() as u64;
    let label = |lead: Lead| {
        arm.suites
            .iter()
            .find(|on| on.lead == lead)
            .map_or("", |on| plan.suites[on.place].label.as_str())
    };
    let of_all = |count: usize, lead: Lead| match (count, compared) {
        (1, _) => label(lead).to_owned(),
        (count, all) if count as u64 == all => format!("all {}", words::count_of(all, "suites")),
        (count, all) => format!(
            "{} of {}",
            format::integer(count as u64),
            words::count_of(all, "suites")
        ),
    };
    let heads = |first: usize| words::heads(first - arm.fixed(), arm.fixed());
    match (wins, leads) {
        _ if compared == 0 && arm.suites.is_empty() => format!("{name} has no counted run."),
        _ if compared == 0 => format!("{name} has no other arm to compare with."),
        (0, 0) if compared == 1 => {
            let standing = arm
                .suites
                .iter()
                .find(|on| on.lead == Lead::Behind)
                .and_then(|on| on.entry.standing.as_ref());
            let rank = standing.map_or_else(String::new, |standing| {
                format!("; its rank there is {}", words::rank(standing.rank))
            });
            format!("{name} does not lead {}{rank}.", label(Lead::Behind))
        }
        (0, 0) => {
            let rank = arm.best().map_or_else(String::new, |(on, rank)| {
                format!(
                    "; its best rank is {} on {}",
                    words::rank(rank),
                    plan.suites[on.place].label
                )
            });
            format!(
                "{name} does not lead any of {}{rank}.",
                words::count_of(compared, "suites")
            )
        }
        (0, leads) => format!(
            "{name} leads {}; no winner there yet.",
            of_all(leads, Lead::Leads)
        ),
        (first, 0) => format!("{name} {} {}.", heads(first), of_all(first, Lead::Wins)),
        (first, leads) => format!(
            "{name} {} {} and leads {}.",
            heads(first),
            of_all(first, Lead::Wins),
            of_all(leads, Lead::Leads)
        ),
    }
}

fn facts(arm: &ArmPage<'_>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Suites", format::integer(arm.suites.len() as u64)),
        ("Runs", format::integer(arm.runs.len() as u64)),
        (
            "Cost of all runs",
            arm.spent.map_or_else(
                || "unknown".to_owned(),
                |(usd, is_less)| spent_words(usd, is_less),
            ),
        ),
    ];
    facts.extend(
        arm.runs
            .first()
            .and_then(|run| run.timestamp)
            .map(|time| ("Newest run", format::date(&time))),
    );
    facts
}

fn row(plan: &Plan, on: &ArmOnSuite<'_>, axis: Option<Axis>, root: &str) -> Row {
    let place: &SuitePlace = &plan.suites[on.place];
    let names = words::names_on(&on.suite.board);
    let Entry {
        standing,
        primary,
        cost_per_solved_usd,
        duration,
        ..
    } = on.entry;
    let against = on.against.as_ref();
    let state = against.map_or(SuiteState::NothingToCompare, |against| {
        SuiteState::of_pair(against.pair)
    });
    let better = against.and_then(|against| {
        Some(if against.better? {
            names(&on.entry.arm)
        } else {
            names(against.other)
        })
    });
    Row {
        sign: sign(state),
        by: Text::from(better.unwrap_or_default()),
        label: Text::new(&place.label),
        href: format!("{root}{}", place.path()),
        rank: standing
            .as_ref()
            .map_or_else(|| "n/a".to_owned(), |standing| words::rank(standing.rank)),
        rate: Text::from(primary.as_ref().map_or_else(
            || "unknown".to_owned(),
            |figure| match on.suite.board.primary.unit {
                Unit::Fraction => format::rate(figure),
                _ => words::figure_with_interval(&on.suite.board.primary, figure),
            },
        )),
        drawn: axis
            .zip(primary.as_ref())
            .map(|(axis, rate)| axis.mark(rate.value, rate.interval)),
        against: against.map(|against| {
            (
                Text::from(names(against.other)),
                plan.arm_href(root, against.other),
            )
        }),
        pair: against
            .and_then(|against| place.pair_path(against.pair))
            .map(|path| format!("{root}{path}")),
        difference: difference(on),
        cost: cost_per_solved_usd.map_or_else(|| "unknown".to_owned(), format::money),
        time: duration.as_ref().map_or_else(
            || "unknown".to_owned(),
            |spread| format::seconds(spread.median),
        ),
    }
}

fn difference(on: &ArmOnSuite<'_>) -> Option<Difference> {
    let against = on.against.as_ref()?;
    let seen = against.evidence.as_ref()?;
    let found = seen.difference?;
    let ends = found
        .interval
        .into_iter()
        .flat_map(|ends| [ends.low, ends.high]);
    let axis = Axis::around(
        &[0.0, found.value]
            .into_iter()
            .chain(ends)
            .collect::<Vec<f64>>(),
        None,
    )
    .filter(|_| found.scale != Scale::Ratio);
    let said = verdicts::change_of(&against.pair.primary()?.metric, seen)?;
    // Exactly equal values have no sign.
    let said = if found.value == 0.0 && found.interval.is_none() {
        "none".to_owned()
    } else {
        said
    };
    let (text, interval) = said
        .split_once(" [")
        .map_or((said.as_str(), String::new()), |(text, ends)| {
            (text, format!("[{ends}"))
        });
    Some(Difference {
        key: format!("{}", found.value),
        text: Text::new(text),
        interval: Text::from(interval),
        is_clear: against.better.is_some(),
        zero: axis.map(|axis| axis.at(0.0)).unwrap_or_default(),
        mark: axis.map(|axis| axis.mark(found.value, found.interval)),
    })
}

/// Draws the arm's trends, starting with the suites that have the most nights.
fn trends(plan: &Plan, arm: &ArmPage<'_>, name: &str, root: &str) -> Vec<Trend> {
    let followed = arm
        .suites
        .iter()
        .filter_map(|on| Some((&plan.suites[on.place], on.history?)));
    let draw = |(number, (place, history)): (usize, (&SuitePlace, &crate::views::ArmHistory))| {
        let scale = chart::trend_shares(history, MAX_NIGHTS);
        let drawn = chart::trend(
            history,
            &format!("trend-{number}-chart"),
            name,
            MAX_NIGHTS,
            &scale,
        )?;
        let heading = format!(
            "{}: {}",
            place.label,
            words::count_of(history.nights.len() as u64, "nights")
        );
        let figure = Figure::of_rows(&format!("trend-{number}"), heading, drawn, MAX_NIGHTS);
        Some(Trend {
            href: format!("{root}{}", place.history_path()),
            figure,
        })
    };
    (1..)
        .zip(followed)
        .filter_map(draw)
        .take(MAX_CHARTS)
        .collect()
}

fn weak(plan: &Plan, on: &ArmOnSuite<'_>, root: &str) -> Weak {
    let place = &plan.suites[on.place];
    let category = |(name, cell): &(&str, crate::views::CategoryCell)| {
        (
            Text::new(name),
            format::percent(cell.rate, cell.outcomes),
            words::count_of(cell.items, "items"),
        )
    };
    let categories = on.weakest.iter().map(category).collect();
    Weak {
        label: Text::new(&place.label),
        href: format!("{root}{}", place.categories_path()),
        categories,
    }
}
