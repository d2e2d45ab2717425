//! One answer, wherever it is read: the table, its JSON, Markdown and CSV, the board, the site, the badge and the feed name the same winner,
//! the same numbers for the same words, and nothing changes but the side when arms change their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use evalreport::domain::{Acceptance, Filter, Redacted, Redactor, Run};
use evalreport::render::cell::TableCell;
use evalreport::render::comparison::annotated_table as laid_out;
use evalreport::render::html::{badge_and_feed_files, plan_site, single_file, site_files};
use evalreport::render::table::ReportTable;
use evalreport::render::{board, csv, markdown, phrases, summary, terminal, verdicts};
use evalreport::views::{
    Arm, BatchSelection, Comparison, ComparisonRow, Overview, PairEvidence, PairOrder, PairVerdict,
    Place, Policy, Scale, SiteOptions, SortKey, SuiteBoard, board_groups, build_boards,
    build_overview, compare_arms, list_news,
};
use evalreport::warehouse::{
    DisplayNames, Progress, RedactedWarehouse, Warehouse, WarehouseOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Project, result};

/// Random numbers of our own: the same stores in every run.
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0, below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn happens(&mut self, chance: f64) -> bool {
        self.share() < chance
    }
}

/// What a made-up suite consists of.
const KINDS: [&str; 10] = [
    "questions",
    "tasks",
    "tests",
    "counts",
    "counted tasks",
    "scores",
    "judges",
    "missing outcomes",
    "failed runs",
    "a crashed arm",
];
/// Names of arms; a renaming turns their order round.
const NAMES: [&str; 4] = ["ash", "birch", "cedar", "dogwood"];

/// Writes a store of one suite or two. Arms are called what `names` says; the runs' ids do not tell.
fn store(seed: u64, names: &[&str; 4]) -> Project {
    let project = Project::new();
    let mut chance = Chance::new(seed);
    for number in 0..=chance.below(2) {
        suite(&project, &mut chance, number, names);
    }
    project
}

fn suite(project: &Project, chance: &mut Chance, number: u64, names: &[&str; 4]) {
    let kind = KINDS[usize::try_from(chance.below(KINDS.len() as u64)).expect("small")];
    let suite = format!("suite-{number}");
    let arms = 2 + chance.below(3);
    let items = 6 + chance.below(24);
    let hardness: Vec<f64> = (0..items).map(|_| chance.share()).collect();
    // Now and then nothing varies from run to run.
    let is_fixed = chance.happens(0.2);
    let has_costs = chance.happens(0.8);
    let most_runs = 1 + chance.below(5);
    for arm in 0..arms {
        let skill = 1.2 * chance.share() - 0.3;
        let price = 0.01 + 0.2 * chance.share() * chance.share();
        let runs = if chance.happens(0.7) {
            most_runs
        } else {
            1 + chance.below(5)
        };
        for run in 0..runs {
            let id = format!("r-{number}-{arm}-{run}");
            let time = format!("2026-03-{:02}T0{arm}:00:00Z", run + 1);
            let mut fields =
                json!({"suite_version": "v1", "timestamp": time, "batch_id": format!("b-{arm}")});
            if has_costs {
                fields["cost_usd"] = json!(price * (0.8 + 0.4 * chance.share()) * items as f64);
                fields["duration_seconds"] =
                    json!(30.0 + 900.0 * price * (0.8 + 0.4 * chance.share()));
                fields["total_tokens"] = json!(1_000 + chance.below(50_000));
            }
            let has_crashed = kind == "a crashed arm" && arm == 0;
            let is_failed = has_crashed || (kind == "failed runs" && chance.happens(0.3));
            if is_failed {
                fields["status"] = json!("failed");
            }
            let mut lines = Vec::new();
            let mut passed = 0;
            for (item, hardness) in hardness.iter().enumerate() {
                let draw = if is_fixed {
                    Chance::new(seed_of(number, arm, item)).share()
                } else {
                    chance.share()
                };
                let is_pass = draw < (0.5 * hardness + skill).clamp(0.02, 0.98)
                    && !(is_failed && item % 2 == 0);
                passed += u64::from(is_pass);
                lines.extend(outcomes(
                    if has_crashed { "crash" } else { kind },
                    item,
                    is_pass,
                    chance,
                ));
            }
            match kind {
                "counts" | "counted tasks" => {
                    fields["shared_tests_passed"] = json!(passed);
                    fields["shared_tests_total"] = json!(items);
                    if kind == "counted tasks" {
                        fields["counted"] = json!("task");
                    }
                    lines.clear();
                }
                _ => {}
            }
            let arm = names[usize::try_from(arm).expect("small")];
            project.result(&result(&id, &suite, arm, fields));
            if !lines.is_empty() {
                project.items(&id, &lines);
            }
        }
    }
}

fn seed_of(number: u64, arm: u64, item: usize) -> u64 {
    1_000_000 * number + 10_000 * arm + item as u64
}

/// The lines of one item.
fn outcomes(kind: &str, item: usize, is_pass: bool, chance: &mut Chance) -> Vec<Value> {
    let status = if is_pass { "pass" } else { "fail" };
    let line = |kind: &str, evaluator: &str, status: &str| json!({"item": format!("i{item:03}"), "kind": kind, "evaluator": evaluator, "attempt": 1, "revision": 0, "status": status});
    match kind {
        "tasks" => {
            let mut line = line("task", "tests", status);
            line["cluster"] = json!(format!("repo-{}", item % 7));
            vec![line]
        }
        "tests" => vec![line("test", "shared_tests", status)],
        "scores" => {
            let mut line = line("question", "rubric", "not_evaluated");
            line["status"] = json!("skipped");
            line["score"] = json!(2.0 * f64::from(u8::from(is_pass)) + chance.share() * 7.0);
            vec![line]
        }
        "judges" => {
            let other = if chance.happens(0.85) { status } else { "fail" };
            vec![
                line("question", "judge-a", status),
                line("question", "judge-b", other),
            ]
        }
        "crash" => vec![line("question", "answers", "error")],
        "missing outcomes" if chance.happens(0.1) => vec![line("question", "answers", "infra")],
        _ => vec![line("question", "answers", status)],
    }
}

fn open(folder: PathBuf) -> Warehouse {
    let options = WarehouseOptions {
        stores: vec![folder],
        ..WarehouseOptions::default()
    };
    Warehouse::open(&options, &Progress::SILENT).expect("the tombstones can be read")
}

fn comparisons(warehouse: &Warehouse) -> Vec<Comparison> {
    let groups = board_groups(
        warehouse,
        &Filter::default(),
        BatchSelection::AllBatches,
        &Policy::default(),
    );
    groups
        .iter()
        .map(|group| compare_arms(warehouse, group, &Policy::default(), PairOrder::AheadFirst))
        .collect()
}

/// What is known of who is best on a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Wins(Arm),
    /// Ahead in every run, none of which varies.
    Fixed(Arm),
    Open,
    /// One arm, or no figures.
    Alone,
}

/// The state by the table's JSON, which is what the others are held against.
fn state(comparison: &Comparison) -> State {
    let Some(row) = comparison
        .primary_row()
        .filter(|row| !row.evidence.pairs.is_empty())
    else {
        return State::Alone;
    };
    let evidence = &row.evidence;
    let Some(winner) = evidence.winner else {
        return State::Open;
    };
    let arm = comparison.arms[winner].arm.clone();
    let mut known = evidence
        .pairs
        .iter()
        .filter(|pair| !matches!(pair.verdict, PairVerdict::NoData { .. }));
    let is_fixed =
        known.all(|pair| matches!(pair.verdict, PairVerdict::DeterministicDifference { .. }));
    if is_fixed {
        State::Fixed(arm)
    } else {
        State::Wins(arm)
    }
}

/// Text without markup: tags, escapes of HTML and of Markdown.
pub fn bare(text: &str) -> String {
    let mut shown = String::new();
    let mut is_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            '\\' => {}
            _ if !is_tag => shown.push(letter),
            _ => {}
        }
    }
    shown
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The rest of a text from a mark on, up to another.
fn between<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    text.split_once(from)
        .and_then(|(_, rest)| rest.split_once(to))
        .map(|(found, _)| found)
}

/// Collects what does not agree.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    /// Holds a sentence, or several, to the state.
    fn sentence(
        &mut self,
        surface: &str,
        text: &str,
        state: &State,
        label: impl Fn(&Arm) -> String,
    ) {
        let claims = text.contains(" wins") || text.contains("in every run");
        let holds = match state {
            State::Wins(arm) => text.contains(&format!("{} wins", label(arm))),
            State::Fixed(arm) => {
                text.contains("in every run")
                    && text.contains(&label(arm))
                    && !text.contains(" wins")
            }
            State::Open | State::Alone => !claims,
        };
        self.unless(holds, || format!("{surface}: {state:?} but {text:?}"));
    }
}

/// Everything that a store's readers see, held against each other.
fn check(warehouse: &mut Warehouse, complaints: &mut Complaints) -> Vec<State> {
    let policy = Policy::default();
    let redactor = Redactor::new(&[], &evalreport::domain::Secrets::default());
    let run = |run: &Run| Some(redactor.redact_value(run.clone(), &mut |_, _| true));
    let accepted = |one: &Acceptance| redactor.redact_value(one.clone(), &mut |_, _| true);
    let warehouse = &warehouse.show_redacted(
        redactor.redact_value(DisplayNames::default(), &mut |_, _| true),
        (run, accepted),
    );
    let comparisons = comparisons(warehouse);
    let board = build_boards(
        warehouse,
        &Filter::default(),
        BatchSelection::AllBatches,
        SortKey::Primary,
        &policy,
        false,
    );
    let site = build_overview(
        warehouse,
        (&Filter::default(), &policy, &SiteOptions::default()),
        &[],
        "0",
        "digest",
    );
    let pages = Pages::of(warehouse, &site, &policy);
    assert_eq!(comparisons.len(), board.suites.len());
    let mut states = Vec::new();
    for (place, (comparison, suite)) in comparisons.iter().zip(&board.suites).enumerate() {
        assert_eq!(comparison.suite, suite.suite);
        let state = state(comparison);
        table(comparison, &state, complaints);
        signs(comparison, complaints);
        one_board(comparison, suite, &state, complaints);
        pages.check(place, &site, comparison, &state, complaints);
        digits(comparison, suite, &pages, complaints);
        states.push(state);
    }
    states
}

/// The table of `compare` in every format.
fn table(comparison: &Comparison, state: &State, complaints: &mut Complaints) {
    let suite = &comparison.suite;
    let arms: Vec<Arm> = comparison.arms.iter().map(|arm| arm.arm.clone()).collect();
    let labels = phrases::arm_labels(suite, &arms);
    let label = |arm: &Arm| {
        arms.iter()
            .position(|known| known == arm)
            .map_or_else(String::new, |at| labels[at].clone())
    };
    let headline = summary::comparison_headline(comparison, &labels);
    complaints.sentence(&format!("{suite}: headline"), &headline, state, label);
    let laid = laid_out(comparison);
    let text = terminal::draw_table(
        &laid,
        terminal::Style {
            width: 4_000,
            color: false,
        },
    );
    complaints.unless(text.contains(&headline), || {
        format!("{suite}: the table does not say {headline:?}")
    });
    let marked = markdown::write_tables(std::slice::from_ref(&laid))
        .replace('\\', "")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    complaints.unless(marked.contains(&headline), || {
        format!("{suite}: Markdown does not say {headline:?}: {marked}")
    });
    if let Some(row) = comparison.primary_row() {
        let short = verdicts::verdict_cell(comparison, row);
        let holds = match state {
            State::Wins(arm) => short.contains(&format!("{} wins", label(arm))),
            State::Fixed(arm) => short.contains(&label(arm)) && short.contains("ahead"),
            State::Open | State::Alone => !short.contains("wins") && !short.contains("ahead"),
        };
        complaints.unless(holds, || {
            format!("{suite}: column: {state:?} but {short:?}")
        });
        let (csv, json) = (
            csv::write_table(&laid),
            serde_json::to_value(comparison).expect("JSON"),
        );
        let in_csv = figure(&csv, &row.metric.name, "winner");
        let named = match state {
            State::Wins(arm) | State::Fixed(arm) => phrases::arm_name(suite, arm),
            State::Open | State::Alone => String::new(),
        };
        complaints.unless(in_csv == named, || {
            format!("{suite}: CSV says {in_csv:?}, not {named:?}")
        });
        let rows = json["rows"].as_array().map_or(&[][..], Vec::as_slice);
        let winner = rows
            .iter()
            .find(|row| row["role"] == "primary")
            .map(|row| &row["evidence"]["winner"]);
        let expected = match state {
            State::Wins(arm) | State::Fixed(arm) => {
                json!(arms.iter().position(|known| known == arm))
            }
            State::Open | State::Alone => Value::Null,
        };
        complaints.unless(winner == Some(&expected), || {
            format!("{suite}: JSON names {winner:?}, not {expected}")
        });
    }
    decision(comparison, state, &labels, complaints);
    if let ([first, _], Some(row)) = (comparison.arms.as_slice(), comparison.primary_row()) {
        let behind = |pair: &PairEvidence| {
            pair.better_arm()
                .is_some_and(|better| comparison.arms[better].arm != first.arm)
        };
        complaints.unless(!row.evidence.pairs.iter().any(behind), || {
            format!("{suite}: the better arm stands second")
        });
    }
}

/// What a sheet says of a metric.
fn figure(csv: &str, metric: &str, column: &str) -> String {
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let place = |name: &str| {
        header
            .iter()
            .position(|known| known == name)
            .expect("the column is there")
    };
    let (named, asked) = (place("metric"), place(column));
    let records = reader
        .records()
        .map(|record| record.expect("as many fields as the header"));
    let mut of_metric = records
        .filter(|record| &record[named] == metric)
        .map(|record| record[asked].to_owned());
    of_metric.next().unwrap_or_default()
}

/// A decision ships no arm that another is better than, and a winner is shipped, or chosen by price.
fn decision(
    comparison: &Comparison,
    state: &State,
    labels: &[String],
    complaints: &mut Complaints,
) {
    let suite = &comparison.suite;
    let Some(said) = summary::decision_sentence(comparison, labels) else {
        return;
    };
    let shipped = labels
        .iter()
        .position(|label| said.starts_with(&format!("Decision: ship {label} ")));
    let loses = |arm: usize| {
        let pairs = comparison
            .primary_row()
            .map_or(&[][..], |row| &row.evidence.pairs);
        pairs.iter().any(|pair| {
            (pair.first == arm || pair.second == arm)
                && pair.better_arm().is_some_and(|better| better != arm)
        })
    };
    complaints.unless(!shipped.is_some_and(loses), || {
        format!("{suite}: ships what another arm is better than: {said}")
    });
    if let State::Wins(arm) | State::Fixed(arm) = state {
        let is_it = shipped.is_some_and(|shipped| comparison.arms[shipped].arm == *arm);
        complaints.unless(
            is_it || said.contains("by price") || said.contains("cannot be settled"),
            || format!("{suite}: {state:?} but {said}"),
        );
    }
}

/// Of every pair on every metric: the sentence, its interval and its record point the way of the difference.
fn signs(comparison: &Comparison, complaints: &mut Complaints) {
    let arms: Vec<Arm> = comparison.arms.iter().map(|arm| arm.arm.clone()).collect();
    let labels = phrases::arm_labels(&comparison.suite, &arms);
    for row in &comparison.rows {
        for pair in &row.evidence.pairs {
            let Some(difference) = pair.difference else {
                continue;
            };
            let sentence = verdicts::pair_sentence(&row.metric, pair, &labels, &row.evidence);
            let turned =
                verdicts::pair_sentence(&row.metric, &pair.swap_arms(), &labels, &row.evidence);
            let is_equal = difference.signed_distance() == 0.0;
            let what = || format!("{}: {}: {sentence:?}", comparison.suite, row.metric.name);
            complaints.unless(is_equal || sentence == turned, || {
                format!("{} is {turned:?} from the other arm", what())
            });
            complaints.0.extend(
                contradiction(row, pair, &labels, &sentence)
                    .map(|why| format!("{}: {why}", what())),
            );
        }
    }
}

/// What in a sentence contradicts itself.
fn contradiction(
    row: &ComparisonRow,
    pair: &PairEvidence,
    labels: &[String],
    sentence: &str,
) -> Option<&'static str> {
    let difference = pair.difference?;
    let centre = if difference.scale == Scale::Ratio {
        1.0
    } else {
        0.0
    };
    if let Some(ends) = difference.interval
        && !(ends.low <= difference.value && difference.value <= ends.high)
    {
        return Some("the interval does not hold its value");
    }
    let direction_up = row.metric.direction != evalreport::domain::Direction::Down;
    let is_first_ahead = (difference.value > centre) == direction_up;
    let ahead = if is_first_ahead {
        Place::First
    } else {
        Place::Second
    };
    if pair
        .verdict
        .better_place()
        .is_some_and(|better| better != ahead)
    {
        return Some("the verdict's arm is behind");
    }
    if pair.verdict.winning_place().is_some()
        && difference
            .interval
            .is_some_and(|ends| ends.low < centre && centre < ends.high)
    {
        return Some("a winner whose interval holds no difference");
    }
    // Seen from the arm ahead: the first number of the interval belongs to the claim.
    let (first, second) = if is_first_ahead {
        (pair.first, pair.second)
    } else {
        (pair.second, pair.first)
    };
    if difference.signed_distance() != 0.0 && !sentence.starts_with(&labels[first]) {
        return Some("does not begin with the arm ahead");
    }
    let seen = pair.seen_from(first);
    if let Some(interval) = seen.difference.and_then(|found| found.interval)
        && difference.scale != Scale::Ratio
        && let Some(shown) = between(sentence, "CI ", ",")
    {
        let is_minus = shown.starts_with('−');
        let is_zero = !shown
            .split(" to ")
            .next()
            .is_some_and(|end| end.contains(|letter: char| ('1'..='9').contains(&letter)));
        if !is_zero && is_minus != (interval.low < 0.0) {
            return Some("the interval's sign is turned");
        }
    }
    if let Some(record) = seen.record.filter(|record| record.won != record.lost) {
        let expected = [
            format!(": {} only {}", record.won, labels[first]),
            format!(
                ": {} better on {}, {} on {}",
                labels[first], record.won, labels[second], record.lost
            ),
        ];
        let is_said = sentence.contains(" only ") || sentence.contains(" better on ");
        if is_said
            && difference.signed_distance() != 0.0
            && !expected.iter().any(|part| sentence.contains(part.as_str()))
        {
            return Some("won and lost are turned");
        }
    }
    None
}

/// The board and what it says.
fn one_board(
    comparison: &Comparison,
    board: &SuiteBoard,
    state: &State,
    complaints: &mut Complaints,
) {
    let suite = &board.suite;
    let winner = board
        .evidence
        .as_ref()
        .and_then(|evidence| evidence.winner.clone());
    let expected = match state {
        State::Wins(arm) | State::Fixed(arm) => Some(arm.clone()),
        State::Open | State::Alone => None,
    };
    complaints.unless(winner == expected, || {
        format!("{suite}: the board's winner is {winner:?}, the table's {expected:?}")
    });
    let label = phrases::arm_namer(board);
    if let Some(sentence) = verdicts::board_sentence(board) {
        complaints.sentence(&format!("{suite}: board"), &sentence, state, &label);
        let text = terminal::draw_table(
            &board::annotated_table(board),
            terminal::Style {
                width: 4_000,
                color: false,
            },
        );
        complaints.unless(text.contains(&sentence), || {
            format!("{suite}: the board does not say {sentence:?}")
        });
    }
    let first: Vec<&Arm> = board
        .entries
        .iter()
        .filter(|entry| {
            entry
                .standing
                .as_ref()
                .is_some_and(|standing| (standing.rank.best, standing.rank.worst) == (1, 1))
        })
        .map(|entry| &entry.arm)
        .collect();
    complaints.unless(
        first.first().copied() == expected.as_ref() || first.len() > 1,
        || format!("{suite}: rank 1 alone is {first:?}, the winner {expected:?}"),
    );
    // Places follow from the pairs of the table.
    if let Some(row) = comparison.primary_row() {
        for entry in &board.entries {
            let Some(standing) = &entry.standing else {
                continue;
            };
            let own = comparison
                .arms
                .iter()
                .position(|arm| arm.arm == entry.arm)
                .expect("the arm is in the table");
            let better = row
                .evidence
                .pairs
                .iter()
                .filter(|pair| (pair.first == own) != (pair.second == own));
            let lost = better
                .filter(|pair| pair.better_arm().is_some_and(|better| better != own))
                .count();
            // Ranks hold for all arms at once, the table of pairs for its findings: an arm may lose more pairs than its rank admits.
            complaints.unless(standing.rank.best <= lost + 1, || {
                format!(
                    "{suite}: {:?} ranks {:?} and loses {lost}",
                    entry.arm, standing.rank
                )
            });
        }
    }
}

/// The site's files as text, by their paths.
struct Pages {
    files: BTreeMap<String, String>,
    single: String,
    badges: Vec<String>,
    pairs: Vec<Vec<String>>,
    suites: Vec<String>,
}

impl Pages {
    fn of(warehouse: &RedactedWarehouse<'_>, site: &Redacted<Overview>, policy: &Policy) -> Self {
        let plan = plan_site(site);
        let is_text = |path: &str| {
            [".html", ".svg", ".xml", ".json"]
                .iter()
                .any(|ending| path.ends_with(ending))
        };
        let is_wanted = |path: &str| !path.contains("/items/") && !path.contains("assets");
        let files = site_files(site, &plan).chain(badge_and_feed_files(
            site,
            &plan,
            &list_news(warehouse, &Filter::default(), policy, site),
        ));
        let files = files.filter(|file| is_text(&file.path) && is_wanted(&file.path));
        let files: Vec<(String, String)> = files
            .map(|file| {
                (
                    file.path,
                    String::from_utf8(file.bytes).expect("pages are UTF-8"),
                )
            })
            .collect();
        // In the order of the suites.
        let badges: Vec<String> = files
            .iter()
            .map(|(path, _)| path.clone())
            .filter(|path| path.starts_with("badge/") && !path.starts_with("badge/order/"))
            .collect();
        let files: BTreeMap<String, String> = files.into_iter().collect();
        let like = |start: &str, end: &str| -> Vec<String> {
            files
                .keys()
                .filter(|path| path.starts_with(start) && path.ends_with(end))
                .cloned()
                .collect()
        };
        let suites: Vec<String> = badges
            .iter()
            .map(|badge| badge.replace("badge/", "suites/").replace(".svg", "/"))
            .collect();
        let of_suite = |suite: &String| {
            like(&suite.replace("suites/", "compare/"), ".html")
                .iter()
                .map(|path| bare(&files[path]))
                .collect()
        };
        let pairs = suites.iter().map(of_suite).collect();
        Self {
            single: bare(&String::from_utf8(single_file(site, &plan, "")).expect("UTF-8")),
            badges,
            pairs,
            suites,
            files,
        }
    }

    fn check(
        &self,
        place: usize,
        overview: &Overview,
        comparison: &Comparison,
        state: &State,
        complaints: &mut Complaints,
    ) {
        let suite = &overview.suites[place];
        let name = &suite.board.suite;
        assert_eq!(
            (name, overview.suites.len()),
            (&comparison.suite, self.badges.len())
        );
        let board = &suite.board;
        let label = phrases::arm_namer(board);
        let index = &self.files["index.html"];
        let said = index
            .split("<li><a class=\"what\"")
            .nth(place + 1)
            .and_then(|rest| rest.split_once("</li>"))
            .map_or("", |(said, _)| said);
        let (mark, sentence) = (
            between(said, "aria-hidden=\"true\">", "<").unwrap_or("?"),
            between(said, "class=\"said\"><bdi>", "</bdi>"),
        );
        let sentence = bare(sentence.unwrap_or_default());
        complaints.sentence(&format!("{name}: overview"), &sentence, state, &label);
        let holds = match state {
            State::Wins(_) => mark == "▲",
            State::Fixed(_) => mark == "■",
            State::Open => "○=✕".contains(mark),
            State::Alone => mark == "✕",
        };
        complaints.unless(holds, || {
            format!("{name}: overview: mark {mark} of {state:?}")
        });
        let page = bare(&self.files[&format!("{}index.html", self.suites[place])]);
        let shown = &self.single;
        if let State::Wins(_) | State::Fixed(_) = state {
            let first = sentence
                .split(". ")
                .find(|part| part.contains(" wins") || part.contains("in every run"))
                .unwrap_or(&sentence);
            complaints.unless(page.contains(first), || {
                format!("{name}: the suite's page lacks {first:?}")
            });
            complaints.unless(shown.contains(first), || {
                format!("{name}: the single file lacks {first:?}")
            });
        }
        let badge = bare(
            &between(&self.files[&self.badges[place]], "<title>", "</title>")
                .unwrap_or_default()
                .replace("&#38;", "&"),
        );
        let expected = match state {
            State::Wins(arm) | State::Fixed(arm) => {
                badge.contains(&format!(
                    "the leader is {}",
                    phrases::arm_name(&board.suite, arm)
                )) && board
                    .entries
                    .iter()
                    .find(|entry| entry.arm == *arm)
                    .and_then(|entry| entry.primary.as_ref())
                    .is_some_and(|figure| {
                        badge.contains(&phrases::figure_with_interval(&board.primary, figure))
                    })
            }
            State::Open => badge.contains("not enough evidence"),
            State::Alone => !badge.contains("leader"),
        };
        complaints.unless(expected, || format!("{name}: badge {badge:?} of {state:?}"));
        let published: Value = serde_json::from_str(&self.files["leaderboard.json"]).expect("JSON");
        let leader = &published["suites"][place]["leader"];
        let is_leader = match state {
            State::Wins(arm) | State::Fixed(arm) => *leader == json!(arm),
            State::Open | State::Alone => leader.is_null(),
        };
        complaints.unless(is_leader, || {
            format!("{name}: leaderboard.json: {leader} of {state:?}")
        });
        // Of several versions of a suite each has a label of its own.
        let place_label = badge.split(": ").next().unwrap_or(name);
        self.feed(place_label, state, complaints);
        for pair in &suite.pairs {
            let own = self::state(pair);
            let labels = phrases::arm_labels(
                &pair.suite,
                &pair
                    .arms
                    .iter()
                    .map(|arm| arm.arm.clone())
                    .collect::<Vec<_>>(),
            );
            let headline = summary::comparison_headline(pair, &labels);
            let of_arm = |arm: &Arm| {
                pair.arms
                    .iter()
                    .position(|known| known.arm == *arm)
                    .map_or_else(String::new, |at| labels[at].clone())
            };
            complaints.sentence(&format!("{name}: pair page"), &headline, &own, of_arm);
            let is_there = self.pairs[place]
                .iter()
                .any(|page| page.contains(&headline));
            complaints.unless(is_there, || {
                format!("{name}: no page of a pair says {headline:?}")
            });
            same_as_in_table(pair, comparison, complaints);
        }
    }

    /// What the feed said last of who leads.
    fn feed(&self, suite: &str, state: &State, complaints: &mut Complaints) {
        let feed = &self.files["feed.xml"];
        let titles: Vec<String> = feed
            .split("<entry>")
            .skip(1)
            .filter_map(|entry| between(entry, "<title>", "</title>"))
            .map(bare)
            .collect();
        let newest = titles
            .iter()
            .find(|title| title.starts_with(&format!("{suite}: ")) && title.contains("lead"));
        let Some(newest) = newest else { return };
        let holds = match state {
            State::Wins(arm) | State::Fixed(arm) => {
                newest.contains(&format!("{} leads", phrases::arm_name(suite, arm)))
                    && !newest.contains("no more")
            }
            State::Open | State::Alone => {
                newest.contains("no more") || newest.contains("no leader")
            }
        };
        complaints.unless(holds, || format!("{suite}: feed {newest:?} of {state:?}"));
    }
}

fn near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * (1.0 + one.abs()),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// A page of two arms says what the table of all says of them.
fn same_as_in_table(pair: &Comparison, comparison: &Comparison, complaints: &mut Complaints) {
    let place = |arm: &Arm| {
        comparison
            .arms
            .iter()
            .position(|known| known.arm == *arm)
            .expect("the arm is in the table")
    };
    let (one, other) = (place(&pair.arms[0].arm), place(&pair.arms[1].arm));
    for row in &pair.rows {
        let of_table = comparison
            .rows
            .iter()
            .find(|known| known.metric.name == row.metric.name);
        let of_table = of_table
            .and_then(|known| known.evidence.find_pair(one, other))
            .map(|known| known.seen_from(one));
        let shown = row.evidence.pairs.first();
        let alike = of_table.zip(shown).is_none_or(|(known, shown)| {
            (known.verdict, known.p_adjusted, known.record)
                == (shown.verdict, shown.p_adjusted, shown.record)
                && near(
                    known.difference.map(|found| found.value),
                    shown.difference.map(|found| found.value),
                )
        });
        complaints.unless(alike, || {
            format!(
                "{}: {}: the pair's page differs from the table",
                pair.suite, row.metric.name
            )
        });
    }
}

/// Where two surfaces use the same words for a figure, its digits are the same.
fn digits(comparison: &Comparison, board: &SuiteBoard, pages: &Pages, complaints: &mut Complaints) {
    let mut seen = BTreeMap::<(String, String), BTreeMap<String, String>>::new();
    let mut note = |surface: &str, label: &str, arm: &str, text: &str| {
        let text = text
            .split(" [")
            .next()
            .unwrap_or(text)
            .trim_start_matches("▸ ")
            .trim()
            .to_owned();
        // What a rate was counted over comes with more words where there is room.
        if label != "n" && !text.is_empty() && !["unknown", "n/a"].contains(&text.as_str()) {
            seen.entry((label.to_owned(), arm.to_owned()))
                .or_default()
                .insert(surface.to_owned(), text);
        }
    };
    let laid = laid_out(comparison);
    let labels = phrases::arm_labels(
        &comparison.suite,
        &comparison
            .arms
            .iter()
            .map(|arm| arm.arm.clone())
            .collect::<Vec<_>>(),
    );
    let arms: BTreeSet<&str> = labels.iter().map(String::as_str).collect();
    // The first column that is seen names the metric.
    let metric = |row: &[TableCell]| {
        row.iter()
            .find(|cell| !cell.text.is_empty())
            .map_or_else(String::new, |cell| cell.text.clone())
    };
    let mut of_table = |surface: &str, table: &ReportTable| {
        // Items are shared with the arms beside: with other arms, they are other items.
        let beside: BTreeSet<&str> = table
            .columns
            .iter()
            .map(|column| column.label.as_str())
            .filter(|label| arms.contains(label))
            .collect();
        for row in &table.rows {
            for (column, cell) in table.columns.iter().zip(row) {
                if arms.contains(column.label.as_str()) {
                    let metric = metric(row);
                    let of_pair = metric
                        .contains("shared items")
                        .then(|| format!("{metric} of {beside:?}"));
                    note(
                        surface,
                        &of_pair.unwrap_or(metric),
                        &column.label,
                        &cell.single_line(),
                    );
                } else if let Some(arm) = row.iter().find(|cell| arms.contains(cell.text.as_str()))
                {
                    note(
                        surface,
                        &column.full_label(),
                        &arm.text,
                        &cell.single_line(),
                    );
                }
            }
        }
    };
    let mut boards = 0;
    of_table("compare", &laid);
    of_table("leaderboard", &board::annotated_table(board));
    for (path, page) in pages
        .files
        .iter()
        .filter(|(path, _)| path.ends_with("html"))
    {
        if !path.contains("compare")
            && !pages
                .suites
                .iter()
                .any(|suite| *path == format!("{suite}leaderboard.html"))
        {
            continue;
        }
        // Pages of other suites tell of other runs.
        if !page.contains(&format!("<bdi>{}</bdi>", comparison.suite)) && pages.suites.len() > 1 {
            continue;
        }
        if pages.suites.len() > 1 && !path.contains(&comparison.suite) {
            continue;
        }
        for grid in page.split("<table id=\"").skip(1) {
            if grid.starts_with("metrics-table")
                || grid.starts_with("board")
                || grid.starts_with("leaderboard")
            {
                boards += usize::from(grid.starts_with("board"));
                of_table(path, &grid_of(grid));
            }
        }
    }
    complaints.unless(boards > 0, || {
        format!("{}: no page has its board", comparison.suite)
    });
    for ((label, arm), said) in seen {
        let texts: BTreeSet<&String> = said.values().collect();
        complaints.unless(texts.len() == 1, || {
            format!("{}: {label} of {arm}: {said:?}", comparison.suite)
        });
    }
}

/// A table of a page: its heads with what stands small beside them, its cells without it.
fn grid_of(html: &str) -> ReportTable {
    let html = html.split("</table>").next().unwrap_or(html);
    let mut table = ReportTable::new("");
    let (head, body) = html.split_once("</thead>").unwrap_or((html, ""));
    for cell in head.split("<th").skip(2) {
        let text = cell
            .split_once('>')
            .map_or("", |(_, rest)| rest)
            .split("</th>")
            .next()
            .unwrap_or_default();
        let (name, sub) = text
            .split_once("<span class=\"sub\">")
            .unwrap_or((text, ""));
        let (name, sub) = (bare(name).trim().to_owned(), bare(sub).trim().to_owned());
        let title = match sub.as_str() {
            "" => name,
            sub if sub.starts_with("per ") => format!("{name} {sub}"),
            sub => format!("{name}, {sub}"),
        };
        table.add_text_column(&title, 0);
    }
    for row in body.split("<tr>").skip(1) {
        let cells = row
            .split(['\n', '\r'])
            .filter(|line| line.starts_with("<th") || line.starts_with("<td"));
        let cells: Vec<String> = cells
            .map(|cell| {
                bare(cell.split("<span class=\"sub\">").next().unwrap_or(cell))
                    .trim()
                    .to_owned()
            })
            .collect();
        table.add_row(cells);
    }
    table
}

/// Looks at a part of the stores, each of which a test of its own can get through.
#[track_caller]
fn made_up(seeds: std::ops::Range<u64>) {
    let mut complaints = Complaints::default();
    let mut states = BTreeMap::<&str, usize>::new();
    for seed in seeds {
        let project = store(seed, &NAMES);
        let mut warehouse = open(project.path("results"));
        assert_eq!(warehouse.problems(), [], "store {seed}");
        let before = complaints.0.len();
        for state in check(&mut warehouse, &mut complaints) {
            let name = match state {
                State::Wins(_) => "wins",
                State::Fixed(_) => "fixed",
                State::Open => "open",
                State::Alone => "alone",
            };
            *states.entry(name).or_default() += 1;
        }
        complaints.0[before..]
            .iter_mut()
            .for_each(|complaint| complaint.insert_str(0, &format!("store {seed}: ")));
    }
    assert!(
        complaints.0.is_empty(),
        "{} complaints:\n{}",
        complaints.0.len(),
        complaints.0.join("\n")
    );
    for state in ["wins", "open"] {
        assert!(
            states.get(state).is_some_and(|count| *count >= 5),
            "the stores have too little of {state}: {states:?}"
        );
    }
}

#[test]
fn every_surface_of_made_up_stores_says_the_same_1() {
    made_up(0..50);
}

#[test]
fn every_surface_of_made_up_stores_says_the_same_2() {
    made_up(50..100);
}

#[test]
fn every_surface_of_made_up_stores_says_the_same_3() {
    made_up(100..150);
}

#[test]
fn every_surface_of_made_up_stores_says_the_same_4() {
    made_up(150..STORES);
}

/// Made-up stores that are looked at.
const STORES: u64 = 200;

#[test]
fn every_surface_of_the_shipped_suites_says_the_same() {
    let mut complaints = Complaints::default();
    check(
        &mut open(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results")),
        &mut complaints,
    );
    assert!(complaints.0.is_empty(), "{}", complaints.0.join("\n"));
}

/// What is said of every suite with the arms' names mapped back, in no order that names decide.
fn said(project: &Project, names: &[&str; 4]) -> Vec<BTreeMap<String, String>> {
    let warehouse = open(project.path("results"));
    let back = |arm: &Arm| {
        NAMES[names
            .iter()
            .position(|name| *name == arm.approach)
            .expect("the arm was named by us")]
        .to_owned()
    };
    let board = build_boards(
        &warehouse,
        &Filter::default(),
        BatchSelection::AllBatches,
        SortKey::Primary,
        &Policy::default(),
        false,
    );
    let boards = board.suites.iter().map(|suite| {
        let mut said = BTreeMap::new();
        for entry in &suite.entries {
            let rank = entry.standing.as_ref().map(|standing| standing.rank);
            let figures = [
                entry.primary.as_ref().map(|figure| round(figure.value)),
                entry.cost.as_ref().map(|money| round(money.usd)),
            ];
            said.insert(
                format!("board {}", back(&entry.arm)),
                format!("{rank:?} {figures:?}"),
            );
        }
        said
    });
    let tables = comparisons(&warehouse);
    let tables = tables.iter().map(|table| {
        let labels: Vec<String> = table.arms.iter().map(|arm| back(&arm.arm)).collect();
        let mut said = BTreeMap::new();
        for row in &table.rows {
            for pair in &row.evidence.pairs {
                // From the arm that comes first by the names mapped back.
                let seen = if labels[pair.first] < labels[pair.second] {
                    pair.clone()
                } else {
                    pair.swap_arms()
                };
                let name = format!(
                    "{} {} {}",
                    row.metric.name, labels[seen.first], labels[seen.second]
                );
                let difference = seen.difference.map(|found| {
                    (
                        round(found.value),
                        found
                            .interval
                            .map(|ends| [round(ends.low), round(ends.high)]),
                    )
                });
                let p = seen.p_adjusted.map(round);
                let beyond = seen
                    .beyond
                    .as_ref()
                    .map(|beyond| (beyond.verdict, beyond.p_adjusted.map(round)));
                let plans = (seen.detectable.map(round), seen.needed);
                let facts = format!(
                    "{:?} {difference:?} {p:?} {:?} {:?} {beyond:?} {plans:?}",
                    seen.verdict, seen.record, seen.bounds
                );
                said.insert(name.clone(), facts);
                let is_ahead = seen
                    .difference
                    .is_some_and(|found| found.signed_distance() != 0.0);
                if is_ahead {
                    said.insert(
                        format!("{name}, sentence"),
                        verdicts::pair_sentence(&row.metric, &seen, &labels, &row.evidence),
                    );
                }
            }
            let mut leading: Vec<&String> = row
                .evidence
                .leading
                .iter()
                .map(|arm| &labels[*arm])
                .collect();
            leading.sort();
            let winner = row.evidence.winner.map(|winner| &labels[winner]);
            said.insert(
                format!("{} together", row.metric.name),
                format!("{winner:?} {leading:?}"),
            );
        }
        // Of equal arms the one that stands first is told of.
        let value = |arm: usize| table.primary_row().and_then(|row| row.cells[arm].value);
        let is_tied =
            (0..labels.len()).any(|one| (0..one).any(|other| near(value(one), value(other))));
        if let Some(decision) = summary::decision_sentence(table, &labels).filter(|_| !is_tied) {
            said.insert("decision".to_owned(), decision);
        }
        said
    });
    tables.chain(boards).collect()
}

/// Ten digits: a sum in another order may differ in its last.
fn round(value: f64) -> String {
    format!("{value:.10e}").replace("-0.0000000000e0", "0.0000000000e0")
}

#[track_caller]
fn mirrored(seed: u64, names: &[&str; 4]) -> Result<(), String> {
    let (one, other) = (
        said(&store(seed, &NAMES), &NAMES),
        said(&store(seed, names), names),
    );
    for (one, other) in one.iter().zip(&other) {
        for (name, value) in one {
            if other.get(name) != Some(value) {
                return Err(format!(
                    "store {seed}, {names:?}: {name}:\n  {value}\n  {:?}",
                    other.get(name)
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn renamed_arms_are_mirrored_in_made_up_stores() {
    let turned = ["dogwood", "cedar", "birch", "ash"];
    // Those of other seeds are in the property below.
    let failures: Vec<String> = (0..STORES)
        .step_by(2)
        .filter_map(|seed| mirrored(seed, &turned).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any names in any order, and any store.
    #[test]
    fn names_change_nothing_but_the_side(seed in 1_000_u64..1_000_000, order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle()) {
        let named = ["zinc", "Alder", "0-elm", "mango"];
        let names = [named[order[0]], named[order[1]], named[order[2]], named[order[3]]];
        prop_assert_eq!(mirrored(seed, &names), Ok(()));
    }
}
