//! The first page of a site: the answer in a sentence, what changed of late, and a row for every suite.

use serde_json::{Value, json};

use crate::kept;
use crate::support::{Project, result};

fn night(suite: &str, approach: &str, day: u32, passed: u64) -> Value {
    let timestamp = format!("2026-03-{day:02}T02:00:00Z");
    let more =
        json!({"timestamp": timestamp, "shared_tests_passed": passed, "shared_tests_total": 100});
    result(&format!("{suite}-{approach}-{day}"), suite, approach, more)
}

fn overview(runs: &[Value]) -> String {
    let project = Project::with(runs);
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    project.read("site/index.html")
}

/// The text between two others.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    page.split_once(start)
        .and_then(|(_, rest)| rest.split_once(end))
        .map_or_else(|| panic!("no {start} … {end}: {page}"), |(found, _)| found)
}

/// The states of the rows, in their order.
fn states(page: &str) -> Vec<&str> {
    let table = between(page, "<table id=\"suites\"", "</table>");
    table
        .split("<span class=\"state ")
        .skip(1)
        .map(|rest| between(rest, "</svg>", "</span>"))
        .collect()
}

#[test]
fn a_level_that_fell_stands_on_top_with_its_proof() {
    let nights = |approach: &'static str, before: u64, after: u64| {
        (1..=24).map(move |day| {
            night(
                "core",
                approach,
                day,
                if day <= 14 { before } else { after } + u64::from(day % 3),
            )
        })
    };
    let open = [
        night("other", "planner", 1, 50),
        night("other", "react", 1, 52),
    ];
    let runs: Vec<Value> = nights("planner", 90, 90)
        .chain(nights("react", 75, 52))
        .chain(open)
        .collect();
    let page = overview(&runs);
    assert_eq!(states(&page), ["changed", "open"]);
    let headline = between(&page, "<h1><bdi>", "</bdi></h1>");
    assert!(
        headline.starts_with("react fell by 23 points on core; "),
        "{headline}"
    );
    let change = between(&page, "<div class=\"changed\">", "</div>");
    assert!(
        change.contains("fell from")
            && change.contains("on 2026-03-15: 14 nights before, 10 since, adjusted p &#60; 0.001"),
        "{change}"
    );
    assert!(
        change.contains("href=\"suites/core/history.html\""),
        "{change}"
    );
    // Each night is a dot, before and since.
    assert_eq!(
        (
            change.matches("h0").count(),
            change.contains(">76.1%</text>")
        ),
        (24, true),
        "{change}"
    );
    // The verdict is kept beside it.
    assert!(page.contains("<span class=\"sub\">wins</span>"), "{page}");
}

#[test]
fn a_change_of_long_ago_is_no_news() {
    let runs: Vec<Value> = (1..=31)
        .flat_map(|day| {
            [
                night(
                    "core",
                    "a",
                    day,
                    if day <= 8 { 75 } else { 52 } + u64::from(day % 3),
                ),
                night("core", "b", day, 90),
            ]
        })
        .collect();
    let page = overview(&runs);
    assert!(!page.contains("class=\"changed\""), "{page}");
    assert_eq!(states(&page), ["wins"]);
}

#[test]
fn suites_with_nothing_to_compare_are_folded_and_a_hundred_are_a_small_page() {
    let mut runs = vec![night("alone", "a", 1, 50)];
    for number in 0..100 {
        let suite = format!("suite-{number:03}");
        for day in 1..=28 {
            runs.extend([
                night(
                    &suite,
                    "planner-with-a-long-name",
                    day,
                    50 + number / 4 + u64::from(day % 4),
                ),
                night(
                    &suite,
                    "react-with-a-long-name",
                    day,
                    60 + u64::from(day % 5),
                ),
            ]);
        }
    }
    let page = overview(&runs);
    assert_eq!(states(&page).len(), 100);
    // The nights of each leader are on the page of its suite.
    assert_eq!(
        [
            "<td class=\"apart\"><svg",
            "class=\"gap\" data-v=\"",
            "class=\"trend\""
        ]
        .map(|part| page.matches(part).count()),
        [100, 100, 0]
    );
    assert!(
        page.contains("<summary>Nothing to compare: 1</summary>"),
        "{}",
        &page[..2_000]
    );
    let elements = page
        .match_indices('<')
        .filter(|(place, _)| {
            page[place + 1..].starts_with(|letter: char| letter.is_ascii_alphabetic())
        })
        .count();
    assert!(
        page.len() <= 150_000 && elements <= 8_000,
        "{} bytes, {elements} elements",
        page.len()
    );
}

/// The winner over all suites stands before the suites. Its verb is the state's word, and equal rates without a declared margin are open.
#[test]
fn the_headline_says_what_the_states_say() {
    let mut runs = Vec::new();
    for (suite, [one, other]) in [
        ("clear-1", [95, 20]),
        ("clear-2", [90, 30]),
        ("close", [52, 50]),
        ("equal", [50, 50]),
    ] {
        for day in 1..=4 {
            let (odd, late) = (u64::from(day % 2), u64::from(day / 2 % 2));
            runs.extend([
                night(suite, "planner", day, one + 5 * odd),
                night(suite, "react", day, other + 5 * late),
            ]);
        }
    }
    let page = overview(&runs);
    let headline = between(&page, "<h1><bdi>", "</bdi></h1>");
    assert_eq!(headline, "planner · m1 wins over 4 suites: 74.3% vs 40.0%.");
    let by_suite = between(&page, "<p class=\"lede\"><bdi>", "</bdi></p>");
    assert_eq!(by_suite, "planner wins 2 of 4 suites; 2 are open.");
    assert_eq!(states(&page), ["wins", "wins", "open", "open"]);
    let shipped = kept::shipped().read("site/index.html");
    let headline = between(&shipped, "<h1><bdi>", "</bdi></h1>");
    let fixed = states(&shipped)
        .iter()
        .filter(|state| **state == "fixed order")
        .count();
    assert!(
        headline.contains(&format!("reference is always ahead on {fixed} of ")),
        "{headline}"
    );
}
