//! Files for other programs and pages: a small leaderboard, badges, and a feed of changes.

use askama::Template;
use serde::Serialize;

use crate::domain::Redacted;
use crate::render::{audit, format, json, phrases};
use crate::views::{
    Arm, Audit, Interval, LevelChange, NewsEntry, NewsEvent, Overview, OverviewSuite, RankRange,
    Series, SuiteBoard,
};

use super::SiteFile;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::Text;

/// Content of `leaderboard.json`: leaders and rates. The files below data/ have everything.
#[derive(Serialize)]
struct SiteLeaderboards<'a> {
    title: &'a str,
    /// Digest of the data behind the file.
    data_digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<String>,
    suites: Vec<SuiteLeaderboard<'a>>,
}

#[derive(Serialize)]
struct SuiteLeaderboard<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    /// Absolute if the site's own address is known.
    page: String,
    badge: String,
    /// Address of the badge that says how many arms could be first. Absent without an audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_badge: Option<String>,
    /// `leader`, `not_enough_evidence` or `nothing_to_compare`.
    verdict: &'static str,
    /// The arm that wins against all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    leader: Option<&'a Arm>,
    arms: Vec<LeaderboardArm<'a>>,
}

#[derive(Serialize)]
struct LeaderboardArm<'a> {
    #[serde(flatten)]
    arm: &'a Arm,
    runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<RankRange>,
}

#[derive(Template)]
#[template(path = "badge.svg")]
struct Badge {
    label: Text,
    said: Text,
    about: Text,
    /// CSS class: `leads` or `open`.
    class: &'static str,
    label_width: String,
    said_width: String,
    width: String,
    label_length: String,
    said_length: String,
    label_x: String,
    said_x: String,
}

#[derive(Template)]
#[template(path = "feed.xml")]
struct Feed {
    title: Text,
    id: String,
    base: Option<Text>,
    updated: String,
    version: Text,
    entries: Vec<FeedEntry>,
}

struct FeedEntry {
    id: String,
    title: Text,
    updated: String,
    href: Text,
    said: Text,
}

/// Makes the leaderboard file, the badges and the feed.
pub fn badge_and_feed_files(
    overview: &Redacted<Overview>,
    plan: &SiteRoutes,
    news: &Redacted<Vec<NewsEntry>>,
) -> Vec<SiteFile> {
    let suites = || overview.suites.iter().zip(&plan.suites);
    let context = &overview.context;
    let address = |path: String| {
        context
            .base_url
            .as_ref()
            .map_or(path.clone(), |base| format!("{base}/{path}"))
    };
    let boards = SiteLeaderboards {
        title: &context.title,
        data_digest: &context.data_digest,
        newest: context.newest.map(|time| format::rfc3339_time(&time)),
        suites: suites()
            .map(|(suite, place)| summarise_suite(suite, place, &address))
            .collect(),
    };
    let text = json::write_document("site", boards);
    let mut files = vec![
        SiteFile {
            path: "leaderboard.json".to_owned(),
            bytes: text.into_bytes(),
        },
        render_feed(overview, plan, news),
    ];
    files.extend(suites().map(|(suite, place)| {
        SiteFile::from_template(
            badge_path(place),
            &verdict_badge(&place.label, &suite.board),
        )
    }));
    let of_order = |(suite, place): (&OverviewSuite, &SuiteRoutes)| {
        Some(SiteFile::from_template(
            order_badge_path(place),
            &order_badge(&place.label, suite.audit.as_ref()?),
        ))
    };
    files.extend(suites().filter_map(of_order));
    files
}

fn badge_path(place: &SuiteRoutes) -> String {
    format!("badge/{}.svg", place.segment)
}

fn order_badge_path(place: &SuiteRoutes) -> String {
    format!("badge/order/{}.svg", place.segment)
}

fn summarise_suite<'a>(
    suite: &'a OverviewSuite,
    place: &SuiteRoutes,
    address: &impl Fn(String) -> String,
) -> SuiteLeaderboard<'a> {
    let board = &suite.board;
    let evidence = board.evidence.as_ref();
    let leader = evidence.and_then(|evidence| evidence.winner.as_ref());
    SuiteLeaderboard {
        suite: &board.suite,
        suite_version: board.suite_version.as_deref(),
        page: address(place.path()),
        badge: address(badge_path(place)),
        order_badge: suite
            .audit
            .as_ref()
            .map(|_| address(order_badge_path(place))),
        verdict: match (evidence, leader) {
            (_, Some(_)) => "leader",
            (Some(_), None) => "not_enough_evidence",
            (None, None) => "nothing_to_compare",
        },
        leader,
        arms: board
            .entries
            .iter()
            .map(|entry| LeaderboardArm {
                arm: &entry.arm,
                runs: entry.runs,
                pass_rate: entry.pass_rate.as_ref().map(|rate| rate.value),
                ci95: entry.pass_rate.as_ref().and_then(|rate| rate.interval),
                n: entry.pass_rate.as_ref().map(|rate| rate.n),
                n_of: entry.pass_rate.as_ref().map(|rate| rate.n_of),
                rank: entry.standing.as_ref().map(|standing| standing.rank),
            })
            .collect(),
    }
}

/// Pixels between a text and the edge of its field.
const TEXT_MARGIN: f64 = 6.0;
const FONT_SIZE: f64 = 11.0;
/// Maximum letters of a name on a badge.
const MAX_NAME_LENGTH: usize = 40;

fn verdict_badge(label: &str, board: &SuiteBoard) -> Badge {
    let winner = board
        .evidence
        .as_ref()
        .and_then(|evidence| evidence.winner.as_ref());
    let entry = winner.and_then(|winner| board.entries.iter().find(|entry| entry.arm == *winner));
    let (class, said) = match (entry, &board.evidence) {
        (Some(entry), _) => {
            // The figure of the metric by which the arm wins.
            let figure = entry.primary.as_ref().map_or_else(String::new, |figure| {
                let percent = if board.primary.unit == crate::domain::Unit::Fraction {
                    "%"
                } else {
                    ""
                };
                format!(
                    " {}{percent}",
                    phrases::figure_with_interval(&board.primary, figure)
                )
            });
            (
                "leads",
                format!(
                    "{}{figure}",
                    truncate_name(&phrases::arm_name(&board.suite, &entry.arm))
                ),
            )
        }
        (None, evidence) if evidence.is_some() || board.entries.len() > 1 => {
            ("open", "not enough evidence".to_owned())
        }
        (None, _) => ("open", "nothing to compare".to_owned()),
    };
    draw_badge(
        label,
        said,
        class,
        if class == "leads" {
            "the leader is "
        } else {
            ""
        },
    )
}

/// Says how many arms could be first; green if it is one, and not only by an unchecked judge.
fn order_badge(label: &str, found: &Audit) -> Badge {
    let is_settled = found
        .established
        .as_ref()
        .is_some_and(|order| order.could_be_first == 1)
        && found.judged_by.is_none();
    draw_badge(
        label,
        audit::possible_first_places(found),
        if is_settled { "leads" } else { "open" },
        "",
    )
}

/// Draws a label and what is said of it. `before` introduces it for screen readers.
fn draw_badge(label: &str, said: String, class: &'static str, before: &str) -> Badge {
    let label = Text::from(truncate_name(label));
    let said = Text::from(said);
    let about = Text::from(format!("{label}: {before}{said}"));
    let (left, right) = (
        estimate_width(&label.to_string()) + 2.0 * TEXT_MARGIN,
        estimate_width(&said.to_string()) + 2.0 * TEXT_MARGIN,
    );
    let pixels = |number: f64| format!("{number:.1}");
    Badge {
        label_width: pixels(left),
        said_width: pixels(right),
        width: pixels(left + right),
        label_length: pixels(left - 2.0 * TEXT_MARGIN),
        said_length: pixels(right - 2.0 * TEXT_MARGIN),
        label_x: pixels(TEXT_MARGIN),
        said_x: pixels(left + TEXT_MARGIN),
        label,
        said,
        about,
        class,
    }
}

fn truncate_name(text: &str) -> String {
    match text.char_indices().nth(MAX_NAME_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Widths of the characters from space to tilde in common sans-serif fonts, in thousandths of the font size.
const LETTER_WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Width of other letters, assumed to be wide. The badge sets the text's length to this width, so that no font can exceed its field.
const WIDE_LETTER_WIDTH: u16 = 1000;
/// Factor for wider fonts.
const FONT_SLACK: f64 = 1.08;

fn estimate_width(text: &str) -> f64 {
    let advance = |letter: char| {
        (letter as usize)
            .checked_sub(32)
            .and_then(|place| LETTER_WIDTHS.get(place).copied())
            .unwrap_or(WIDE_LETTER_WIDTH)
    };
    text.chars()
        .map(|letter| f64::from(advance(letter)))
        .sum::<f64>()
        / 1000.0
        * FONT_SIZE
        * FONT_SLACK
}

fn render_feed(overview: &Overview, plan: &SiteRoutes, news: &[NewsEntry]) -> SiteFile {
    let context = &overview.context;
    let page = |news: &NewsEntry| {
        let is_of = |suite: &OverviewSuite| {
            suite.board.suite == news.suite
                && news
                    .suite_version
                    .as_ref()
                    .is_none_or(|version| Some(version) == suite.board.suite_version.as_ref())
        };
        let place = overview
            .suites
            .iter()
            .position(is_of)
            .map(|place| &plan.suites[place]);
        (
            place.map_or_else(|| "index.html".to_owned(), SuiteRoutes::path),
            place
                .map_or(news.suite.as_str(), |place| place.label.as_str())
                .to_owned(),
        )
    };
    let entries: Vec<FeedEntry> = news
        .iter()
        .map(|news| {
            let (path, label) = page(news);
            let (title, said) = describe_event(&news.suite, &news.event);
            FeedEntry {
                id: news.id.clone(),
                title: Text::from(format!("{label}: {title}")),
                updated: format::rfc3339_time(&news.time),
                href: Text::from(
                    context
                        .base_url
                        .as_ref()
                        .map_or(path.clone(), |base| format!("{base}/{path}")),
                ),
                said: Text::from(said),
            }
        })
        .collect();
    let newest = news.first().map(|news| news.time).or(context.newest);
    let feed = Feed {
        title: Text::new(&context.title),
        id: feed_id(context.base_url.as_deref().unwrap_or(&context.title)),
        base: context
            .base_url
            .as_ref()
            .map(|base| Text::from(format!("{base}/"))),
        updated: newest.map_or_else(
            || "1970-01-01T00:00:00Z".to_owned(),
            |time| format::rfc3339_time(&time),
        ),
        version: Text::new(&context.version),
        entries,
    };
    SiteFile::from_template("feed.xml".to_owned(), &feed)
}

/// Returns the feed's id, which depends only on the site.
fn feed_id(site: &str) -> String {
    use sha2::{Digest, Sha256};
    let digest = crate::domain::to_hex(&Sha256::digest(
        format!("evalreport feed\n{site}").as_bytes(),
    ));
    format!(
        "urn:uuid:{}-{}-8{}-8{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    )
}

/// Describes an event as a headline and a sentence.
fn describe_event(suite: &str, event: &NewsEvent) -> (String, String) {
    const NOBODY: &str = "no arm beats every other";
    match event {
        NewsEvent::Begins {
            arms,
            leader: Some(leader),
        } => {
            let name = phrases::arm_name(suite, leader);
            (
                format!("{name} leads"),
                format!("The leaderboard begins with {arms} arms. {name} beats every other."),
            )
        }
        NewsEvent::Begins { arms, leader: None } => (
            format!("{arms} arms, no leader"),
            format!("The leaderboard begins with {arms} arms: {NOBODY}."),
        ),
        NewsEvent::Leads {
            before: Some(before),
            now: Some(now),
        } => {
            let (before, now) = (
                phrases::arm_name(suite, before),
                phrases::arm_name(suite, now),
            );
            (
                format!("{now} leads"),
                format!("{now} beats every other arm. Before, {before} did."),
            )
        }
        NewsEvent::Leads {
            before: None,
            now: Some(now),
        } => {
            let now = phrases::arm_name(suite, now);
            (
                format!("{now} leads"),
                format!("{now} beats every other arm. Before, {NOBODY}.")
                    .replace("Before, no arm beats", "Before, no arm beat"),
            )
        }
        NewsEvent::Leads {
            before: Some(before),
            now: None,
        } => {
            let before = phrases::arm_name(suite, before);
            (
                format!("{before} leads no more"),
                format!("{before} no longer beats every other arm; {NOBODY}."),
            )
        }
        NewsEvent::Leads {
            before: None,
            now: None,
        } => ("no leader".to_owned(), format!("{NOBODY}.")),
        NewsEvent::Level { arm, change } => {
            describe_change_point(&phrases::arm_name(suite, arm), change)
        }
    }
}

fn describe_change_point(name: &str, change: &LevelChange) -> (String, String) {
    let (what, before, after) = match change.series {
        Series::PassRate => (
            "pass rate",
            format::percent(change.before, 1_000),
            format::percent(change.after, 1_000),
        ),
        Series::Cost => (
            "cost",
            format::money(change.before),
            format::money(change.after),
        ),
        Series::Duration => (
            "duration",
            format::duration(change.before),
            format::duration(change.after),
        ),
    };
    let is_up = change.after > change.before;
    let is_better = is_up == (change.series == Series::PassRate);
    let kind = if is_better {
        "improvement"
    } else {
        "regression"
    };
    let verb = if is_up { "rose" } else { "fell" };
    (
        format!("{kind}: {what} of {name} {verb}"),
        format!(
            "The {what} of {name} {verb} from {before}, the mean of {} nights, to {after}, the mean of {} nights from {} on.",
            change.nights_before, change.nights_after, change.date
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_letters() {
        assert!((estimate_width("il") - 2.0 * 0.222 * FONT_SIZE * FONT_SLACK).abs() < 1e-9);
        assert!((estimate_width("漢") - FONT_SIZE * FONT_SLACK).abs() < 1e-9);
        assert!(estimate_width("WWW") > 3.0 * estimate_width("i"));
    }

    #[test]
    fn changes_are_told_as_regressions_or_improvements() {
        let date = chrono::NaiveDate::from_ymd_opt(2026, 1, 2).expect("a day");
        let change = |series, before, after| LevelChange {
            commit: None,
            series,
            date,
            before,
            after,
            nights_before: 5,
            nights_after: 4,
            p: 0.001,
            p_adjusted: 0.002,
            cause: None,
            shifts: Vec::new(),
        };
        for (series, before, after, title) in [
            (
                Series::PassRate,
                0.5,
                0.25,
                "regression: pass rate of a fell",
            ),
            (
                Series::PassRate,
                0.25,
                0.5,
                "improvement: pass rate of a rose",
            ),
            (Series::Cost, 1.0, 2.0, "regression: cost of a rose"),
            (
                Series::Duration,
                2.0,
                1.0,
                "improvement: duration of a fell",
            ),
        ] {
            let (found, said) = describe_change_point("a", &change(series, before, after));
            assert_eq!(found, title);
            assert!(
                said.contains("the mean of 5 nights, to") && said.ends_with("from 2026-01-02 on."),
                "{said}"
            );
        }
    }
}
