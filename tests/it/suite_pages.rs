//! The pages of a suite: a bar of tabs on all of them, the answer and its figures first, arms drawn on one axis, and small pictures of
//! categories, nights and repeated attempts.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::kept;
use crate::programs::Start as _;
use crate::support::{Project, question, result};

const FOLDER: &str = "site/suites/core";

/// The text between two others.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    page.split_once(start)
        .and_then(|(_, rest)| rest.split_once(end))
        .map_or("", |(found, _)| found)
}

/// The words of the bar's tabs, the current one marked.
fn tabs(page: &str) -> Vec<String> {
    words_of(between(page, "<nav class=\"bar\"", "</nav>"))
}

/// The words of a list of links, the current one marked.
fn words_of(list: &str) -> Vec<String> {
    let tab = |item: &str| {
        let word = item
            .split('>')
            .nth(1)
            .and_then(|rest| rest.split('<').next())
            .unwrap_or_default();
        format!(
            "{}{word}",
            if item.contains("aria-current") {
                "*"
            } else {
                ""
            }
        )
    };
    list.split("<li>").skip(1).map(tab).collect()
}

/// Two arms over ten nights, of which one falls after five; items have categories and two attempts.
fn nightly() -> Project {
    let project = Project::new();
    for (approach, solves) in [("planner", 9), ("react", 6)] {
        for day in 1..=10_u64 {
            let id = format!("{approach}-{day}");
            let more = json!({"timestamp": format!("2026-03-{day:02}T02:00:00Z"), "cost_usd": 0.1 * solves as f64, "duration_seconds": 30.0});
            let solves = if approach == "react" && day > 5 {
                2
            } else {
                solves
            };
            let line = |item: u64, attempt: u32| {
                let passes = (item * 7 + day * 3 + u64::from(attempt) * 5) % 10 < solves;
                let mut line = question(
                    &format!("q{item:02}"),
                    attempt,
                    if passes { "pass" } else { "fail" },
                );
                line["category"] = json!(if item.is_multiple_of(2) {
                    "algebra"
                } else {
                    "logic"
                });
                line
            };
            let lines: Vec<Value> = (0..40)
                .flat_map(|item| [line(item, 1), line(item, 2)])
                .collect();
            project
                .result(&result(&id, "core", approach, more))
                .items(&id, &lines);
        }
    }
    project.result(&result(
        "lone",
        "lone",
        "planner",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
    ));
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    project
}

#[test]
fn the_bar_has_the_pages_that_there_are() {
    let project = nightly();
    let all = ["Verdict", "Cost", "Items", "Pairs", "History and runs"];
    // Each page with its place among the tabs, and the pages beside it.
    let verdict = ["Verdict", "Leaderboard", "Audit"].as_slice();
    let items = ["Items", "Categories"].as_slice();
    let history = ["History", "Runs"].as_slice();
    let pages = [
        ("index", 0, verdict, "Verdict"),
        ("leaderboard", 0, verdict, "Leaderboard"),
        ("audit", 0, verdict, "Audit"),
        ("cost", 1, [].as_slice(), ""),
        ("categories", 2, items, "Categories"),
        ("items/index", 2, items, "Items"),
        ("../../compare/core/index", 3, [].as_slice(), ""),
        ("history", 4, history, "History"),
        ("runs", 4, history, "Runs"),
    ];
    for (page, at, beside, own) in pages {
        let mut expected = all.map(str::to_owned);
        expected[at].insert(0, '*');
        let html = project.read(&format!("{FOLDER}/{page}.html"));
        assert_eq!(tabs(&html), expected, "{page}");
        let expected: Vec<String> = beside
            .iter()
            .map(|word| format!("{}{word}", if *word == own { "*" } else { "" }))
            .collect();
        let found = if html.contains("<nav class=\"beside") {
            words_of(between(&html, "<nav class=\"beside", "</nav>"))
        } else {
            Vec::new()
        };
        assert_eq!(found, expected, "{page}");
        assert!(
            between(&html, "<nav class=\"bar\"", "</nav>").contains("</svg>changed</span>"),
            "{page}"
        );
    }
    // Pages of single items and pairs belong to them.
    assert!(tabs(&project.read(&format!("{FOLDER}/i/0001.html"))).contains(&"*Items".to_owned()));
    let pair = project
        .files("site/compare/core")
        .into_iter()
        .find(|path| path.contains("--"))
        .expect("a pair");
    assert!(tabs(&project.read(&pair)).contains(&"*Pairs".to_owned()));
    assert_eq!(
        tabs(&project.read("site/suites/lone/index.html")),
        ["*Verdict", "Runs"]
    );
    for gone in ["cost", "categories", "history"] {
        assert!(
            !project
                .path(&format!("site/suites/lone/{gone}.html"))
                .exists(),
            "{gone}"
        );
    }
}

#[test]
fn the_figures_of_the_suite_are_those_of_the_overview() {
    let project = nightly();
    let (overview, suite) = (
        project.read("site/index.html"),
        project.read(&format!("{FOLDER}/index.html")),
    );
    let row = between(&overview, "<tbody>", "</tr>");
    let difference = between(
        between(row, "<td class=\"gap\"", "</td>"),
        "<strong>",
        "</strong>",
    );
    let keys = between(&suite, "<dl class=\"keys\">", "</dl>");
    assert!(
        difference.starts_with('+')
            && keys.contains(&format!("<dt>Over the next</dt><dd>{difference}")),
        "{difference}: {keys}"
    );
    let cost = between(row, "<td class=\"money\"", "<span")
        .split_once('>')
        .map_or("", |(_, text)| text.trim());
    assert!(
        cost.starts_with('$') && keys.contains(&format!("<dt>Cost per solved</dt><dd>{cost}")),
        "{cost}: {keys}"
    );
    let deed = between(
        row.rsplit("<td class=\"deed\">").next().unwrap_or_default(),
        "<bdi>",
        "<span",
    );
    assert!(
        !deed.is_empty()
            && between(&suite, "<p class=\"deed\">", "</p>")
                .contains(deed.trim_end_matches("</bdi>")),
        "{deed}"
    );
}

#[test]
fn an_arm_has_one_colour_on_every_page_and_most_arms_have_none() {
    let run = |suite: &str, approach: &str, passed: u64| {
        let more = json!({"shared_tests_passed": passed, "shared_tests_total": 100});
        result(&format!("{suite}-{approach}"), suite, approach, more)
    };
    let wide = (0..9).map(|number| run("wide", &format!("arm-{number}"), 90 - 5 * number));
    let narrow = [
        run("narrow", "arm-0", 20),
        run("narrow", "arm-4", 30),
        run("narrow", "other", 40),
    ];
    let project = Project::with(&wide.chain(narrow).collect::<Vec<_>>());
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    let tone = |suite: &str, arm: &str| {
        let page = project.read(&format!("site/suites/{suite}/index.html"));
        let row = page
            .split("<tr id=\"arm-")
            .find(|row| row.contains(&format!("title=\"{arm}\"")))
            .expect("a row")
            .to_owned();
        between(&row, "class=\"tone ", "\"").to_owned()
    };
    let best: Vec<String> = (0..5)
        .map(|number| tone("wide", &format!("arm-{number}")))
        .collect();
    assert!(
        best.iter().all(|tone| tone != "an") && best.iter().collect::<BTreeSet<_>>().len() == 5,
        "{best:?}"
    );
    assert!((5..9).all(|number| tone("wide", &format!("arm-{number}")) == "an"));
    for arm in ["arm-0", "arm-4"] {
        assert_eq!(tone("wide", arm), tone("narrow", arm));
    }
}

#[test]
fn categories_nights_and_attempts_are_drawn() {
    let project = nightly();
    let page = project.read(&format!("{FOLDER}/categories.html"));
    let heat = between(&page, "<table id=\"heat\"", "</table>");
    assert!(
        heat.contains("<bdi>algebra</bdi> <span class=\"sub\">20 items</span>"),
        "{heat}"
    );
    // The rate of one arm fell from 60 to 20%, and pages count the ten nights since.
    assert!(
        heat.contains("title=\"20 items, 200 outcomes\"") && heat.contains("<span class=\"ends\">"),
        "{heat}"
    );
    let history = project.read(&format!("{FOLDER}/history.html"));
    let panes = between(&history, "<div class=\"panes\">", "</div>");
    assert!(
        panes.contains("class=\"since\" x=\"55.6%\"") && panes.contains("60 → 20"),
        "{panes}"
    );
    assert_eq!(
        panes.matches("<a href=\"../../runs/react-").count(),
        10,
        "{panes}"
    );
    let index = project.read(&format!("{FOLDER}/index.html"));
    assert!(
        index.contains("id=\"nights\"")
            && index.contains("id=\"attempts\"")
            && index.contains("class=\"dashes\"")
    );
}

#[test]
fn an_arms_weakest_categories_are_those_of_the_categories_page() {
    let project = nightly();
    let page = project.read("site/arms/react-m1.html");
    let weak = between(&page, "<h2 id=\"weakest\">Weakest categories</h2>", "</ul>");
    assert!(
        weak.contains("href=\"../suites/core/categories.html\""),
        "{weak}"
    );
    let heat = project.read(&format!("{FOLDER}/categories.html"));
    for category in ["algebra", "logic"] {
        let rate = between(
            weak,
            &format!("<bdi>{category}</bdi> <span><strong>"),
            "</strong>",
        );
        let whole = rate.split('.').next().unwrap_or_default();
        assert!(
            !whole.is_empty() && heat.contains(&format!(">{whole}")) && weak.contains("20 items"),
            "{category} {rate}: {weak}\n{heat}"
        );
    }
}

#[test]
fn arms_are_drawn_wide_linked_and_with_the_columns_that_the_address_names() {
    needs!("chromium", "chromedriver");
    let project = nightly();
    let browser = Browser::start();
    browser.resize(1440, 900);
    browser.open(&project.path(&format!("{FOLDER}/index.html")));
    let width = browser.evaluate(
        "return document.querySelector('.forest').closest('td').getBoundingClientRect().width",
    );
    assert!(width.as_f64() >= Some(560.0), "{width}");
    let top =
        browser.evaluate("return document.querySelector('.frontier').getBoundingClientRect().top");
    assert!(top.as_f64() < Some(400.0), "{top}");
    let linked = "const point = document.querySelector('.pareto [data-arm=\"1\"]'); point.focus(); \
                  return document.querySelector('#arm-1').classList.contains('hot')";
    assert_eq!(browser.evaluate(linked), true);
    // The header stays.
    browser.evaluate("window.scrollTo({top: 600, behavior: 'instant'})");
    assert_eq!(
        browser.evaluate(
            "return Math.round(document.querySelector('.bar').getBoundingClientRect().top)"
        ),
        0
    );
    let leaderboard = project.path(&format!("{FOLDER}/leaderboard.html"));
    let shown = "return [...document.querySelectorAll('#board thead th')].filter(head => !head.hidden).length";
    browser.open(&leaderboard);
    let usual = browser.evaluate(shown).as_u64().expect("a number");
    browser.evaluate("document.querySelector('.columns').open = true; document.querySelectorAll('.columns input')[1].click()");
    assert_eq!(browser.evaluate(shown), usual + 1);
    let address = browser.evaluate("return location.href");
    let address = address.as_str().expect("an address");
    assert!(address.contains("?columns="), "{address}");
    browser.open_address("about:blank");
    browser.open_address(address);
    assert_eq!(browser.evaluate(shown), usual + 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let all = project.read(&format!("{FOLDER}/leaderboard.html"));
    let table = between(&all, "<table id=\"board\"", "</table>");
    let heads = table.matches("<th scope=\"col\"").count() as u64;
    assert!(
        heads > usual && !table.contains(" hidden"),
        "{heads} columns without scripts, {usual} with"
    );
    // A card of two lines on a phone, and nothing to scroll sideways.
    browser.resize(390, 844);
    browser.open(&project.path(&format!("{FOLDER}/index.html")));
    let height =
        browser.evaluate("return document.querySelector('#arm-1').getBoundingClientRect().height");
    assert!(height.as_f64() <= Some(72.0), "{height}");
    assert_eq!(
        browser.evaluate(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        ),
        0
    );
}

/// Dominated arms are drawn, too; arms on the front have names; and the axis of costs can be read.
#[test]
fn every_priced_arm_is_drawn_and_the_front_is_named() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    browser.resize(1440, 900);
    for suite in ["workflow", "aider-polyglot", "aider-code-in-json"] {
        browser.open(&site.path(&format!("site/suites/{suite}/index.html")));
        let count = |what: &str| {
            browser.evaluate(&format!(
                "return [...document.querySelectorAll('.pareto {what}')].filter(mark => mark.getBoundingClientRect().width > 0).length"
            ))
        };
        let drawn = count("circle:not(.hit, .ring)");
        assert!(
            drawn == count("circle.hit") && drawn.as_u64() >= Some(4),
            "{suite}: {drawn}"
        );
        assert!(count("circle.hollow").as_u64() > Some(0), "{suite}");
        assert!(
            count("text[text-anchor=middle]").as_u64() >= Some(2),
            "{suite}: ticks of the costs"
        );
        let nameless = "return [...document.querySelectorAll('.pareto a')].filter(point => !point.querySelector('.hollow') && point.querySelector('.quiet')).length";
        assert_eq!(browser.evaluate(nameless), 0, "{suite}");
        // A reader can choose more columns here as well, and ticks are beside the filter.
        assert_eq!(
            browser.evaluate("return document.querySelectorAll('.columns').length"),
            1,
            "{suite}"
        );
    }
    browser.open(&site.path("site/index.html"));
    assert_eq!(
        browser.evaluate("return document.querySelectorAll('.above .tools input').length"),
        1
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Sixty-nine arms on four sheets, with names that can be read.
#[test]
fn a_published_table_is_printed_on_four_sheets() {
    needs!("chromium", "chromedriver", "pdftotext");
    let project = Project::new();
    let site = kept::shipped();
    let printed = project.path("page.pdf");
    let run = |command: &mut Command| {
        let output = command.finish();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for page in ["index", "leaderboard"] {
        run(Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--no-pdf-header-footer",
            ])
            .arg(format!(
                "--user-data-dir={}",
                project.path("profile").display()
            ))
            .arg(format!("--print-to-pdf={}", printed.display()))
            .arg(format!(
                "file://{}",
                site.path(&format!("site/suites/aider-polyglot/{page}.html"))
                    .display()
            )));
        let text = run(Command::new("pdftotext")
            .arg("-layout")
            .arg(&printed)
            .arg("-"));
        let sheets: Vec<&str> = text.split_terminator('\u{c}').collect();
        assert!(
            (2..=4).contains(&sheets.len()),
            "{page}: {} sheets",
            sheets.len()
        );
        // The name of each arm is on one line.
        assert!(
            text.contains("architect · o3 (high) + gpt-4.1"),
            "{page}: {text}"
        );
        if page == "leaderboard" {
            // Each sheet names its columns, of which there are six.
            assert!(
                sheets[..3]
                    .iter()
                    .all(|sheet| sheet.contains("Cost per solved") && sheet.contains("Rank")),
                "{text}"
            );
            assert!(
                !text.contains("50%"),
                "the drawing is left to the screen: {text}"
            );
        }
    }
}
