//! Any two arms of a suite: the browser counts and weighs them as the program does. Arms' own pages, and what leads to them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::{Project, question, result};

/// Numbers without a pattern, the same each time.
struct Draws(u64);

impl Draws {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Arms of one run each on questions that they pass more or less often; some outcomes are missing.
fn arms(count: u64, questions: u64) -> Project {
    let mut draws = Draws(7);
    let project = Project::new();
    for arm in 0..count {
        let id = format!("run-{arm:02}");
        project.result(&result(&id, "s", &format!("arm-{arm:02}"), json!({})));
        let status = |draws: &mut Draws| match draws.next(100) {
            0..=4 => "infra",
            5..=7 => "error",
            lot if lot < 25 + arm => "pass",
            _ => "fail",
        };
        let items: Vec<Value> = (0..questions)
            .map(|item| question(&format!("q{item:03}"), 1, status(&mut draws)))
            .collect();
        project.items(&id, &items);
    }
    project
}

/// Asks a page until it answers something.
fn wait_for(browser: &Browser, script: &str) -> Value {
    let started = Instant::now();
    loop {
        let found = browser.evaluate(script);
        if !found.is_null() || started.elapsed() > Duration::from_secs(20) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn built(project: &Project) {
    let output = project.run(["build", "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

/// The pairs of suite `s`, as `compare` weighs them, each with what its page makes of it in a browser.
fn weighed_twice(project: &Project) -> Vec<(Value, Value)> {
    let known: Value =
        serde_json::from_str(&project.run(["compare", "s", "--format", "json"]).stdout)
            .expect("JSON");
    let table = &known["comparisons"][0];
    let names: Vec<String> = table["arms"]
        .as_array()
        .expect("arms")
        .iter()
        .map(|arm| format!("{} · m1", arm["approach"].as_str().unwrap_or_default()))
        .collect();
    let row = table["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["metric"]["name"] == "shared_tests")
        .expect("the rate");
    let pairs = row["evidence"]["pairs"].as_array().expect("pairs");
    let browser = Browser::start();
    browser.open(
        &project
            .path("site/compare/s/any.html")
            .canonicalize()
            .expect("just built"),
    );
    wait_for(
        &browser,
        "return document.getElementById('any').hidden ? null : true",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.evaluate(
        "evalreport.load('d/pairs-s-0.js', function (table) { window.outcomes = table; })",
    );
    let made = wait_for(
        &browser,
        "const table = window.outcomes;
        if (!table) return null;
        const cell = evalreportPairs.decode(table), all = [];
        for (let a = 0; a < table.arms.length; a += 1) for (let b = 0; b < table.arms.length; b += 1) {
            if (a === b) continue;
            const found = evalreportPairs.compare(table, cell, a, b);
            all.push([table.arms[a][1], table.arms[b][1], found.shared, found.onlyA.length, found.onlyB.length,
                found.difference, found.interval && found.interval.low, found.interval && found.interval.high, found.p,
                found.verdict, found.ahead]);
        }
        return all;",
    );
    let key = |row: &Value, at: usize| row[at].as_str().unwrap_or_default().to_owned();
    let made: BTreeMap<(String, String), &Value> = made
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| ((key(row, 0), key(row, 1)), row))
        .collect();
    let of = |pair: &Value| {
        let place =
            |key: &str| usize::try_from(pair[key].as_u64().expect("a place")).expect("small");
        made[&(
            names[place("first")].clone(),
            names[place("second")].clone(),
        )]
            .clone()
    };
    pairs.iter().map(|pair| (pair.clone(), of(pair))).collect()
}

#[track_caller]
fn agree(pair: &Value, found: &Value) {
    let wanted = [
        &pair["difference"]["value"],
        &pair["difference"]["interval"]["low"],
        &pair["difference"]["interval"]["high"],
        &pair["p"],
    ];
    for (at, wanted) in (5..).zip(wanted) {
        let (found, wanted) = (
            found[at].as_f64().expect("a number"),
            wanted.as_f64().expect("a number"),
        );
        assert!(
            (found - wanted).abs() <= 1e-9,
            "{at}: {found} and {wanted} of {pair}"
        );
    }
    let (letter, ahead) = match pair["verdict"].as_str().expect("a verdict") {
        "a_wins" => ("w", Some(0)),
        "b_wins" => ("w", Some(1)),
        "deterministic_difference" => ("f", None),
        "tie" => ("t", None),
        "equivalent" => ("e", None),
        "not_enough_evidence" => ("o", None),
        other => panic!("{other}"),
    };
    assert_eq!(found[9], letter, "{pair}");
    assert!(
        ahead.is_none_or(|ahead| found[10] == ahead),
        "{found} of {pair}"
    );
}

#[test]
fn a_browser_weighs_a_thousand_pairs_as_the_program_does() {
    needs!("chromium", "chromedriver");
    let project = arms(46, 48);
    built(&project);
    let pairs = weighed_twice(&project);
    assert!(pairs.len() >= 1_000, "{} pairs", pairs.len());
    for (pair, found) in &pairs {
        assert_eq!(
            (&found[2], &found[3], &found[4]),
            (
                &pair["sizes"]["pairs"],
                &pair["record"]["won"],
                &pair["record"]["lost"]
            ),
            "{pair}"
        );
        agree(pair, found);
    }
}

#[test]
fn a_browser_weighs_pairs_of_counts_as_the_program_does() {
    needs!("chromium", "chromedriver");
    let project = Project::new();
    let mut draws = Draws(11);
    let passed: Vec<u64> = [0, 1, 224, 225]
        .into_iter()
        .chain((0..26).map(|_| draws.next(226)))
        .collect();
    for (arm, passed) in passed.iter().enumerate() {
        let counts =
            json!({"shared_tests_passed": passed, "shared_tests_total": 225, "counted": "task"});
        project.result(&result(
            &format!("run-{arm:02}"),
            "s",
            &format!("arm-{arm:02}"),
            counts,
        ));
    }
    built(&project);
    let pairs = weighed_twice(&project);
    assert_eq!(pairs.len(), 435);
    for (pair, found) in &pairs {
        assert_eq!(pair["test"], "fisher_exact", "{pair}");
        agree(pair, found);
    }
    let browser = Browser::start();
    let page = project
        .path("site/compare/s/any.html")
        .canonicalize()
        .expect("just built");
    browser.open_address(&format!(
        "file://{}?a=arm-00-m1&b=arm-03-m1",
        page.display()
    ));
    wait_for(
        &browser,
        "return document.querySelector('#any .gap') ? true : null",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let said = browser
        .evaluate("return document.querySelector('main').innerText")
        .to_string();
    for words in [
        "WINS\\n",
        "arm-03 · m1 wins: 100.0% vs 0.0% (+100.0 pp) on s",
        "passed 0 of 225 tasks",
        "(Newcombe), p < 0.001 (Fisher's exact test, this pair alone, not adjusted)",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Two rows of the suite's own table lead there.
    assert!(
        project
            .read("site/suites/s/index.html")
            .contains("data-any=\"../../compare/s/any.html\"")
    );
}

/// Arms of several runs each: what `compare` makes of them is what the page says.
#[test]
fn pairs_of_several_runs_have_the_programs_own_figures() {
    needs!("chromium", "chromedriver");
    let mut draws = Draws(3);
    let project = Project::new();
    for arm in 0..12 {
        for run in 0..3 {
            let id = format!("run-{arm:02}-{run}");
            project.result(&result(&id, "s", &format!("arm-{arm:02}"), json!({})));
            let status = |draws: &mut Draws| {
                if draws.next(100) < 30 + 4 * arm {
                    "pass"
                } else {
                    "fail"
                }
            };
            let items: Vec<Value> = (0..40)
                .map(|item| question(&format!("q{item:03}"), 1, status(&mut draws)))
                .collect();
            project.items(&id, &items);
        }
    }
    built(&project);
    let pairs = weighed_twice(&project);
    assert_eq!(pairs.len(), 66);
    for (pair, found) in &pairs {
        assert_eq!(pair["test"], "two_way", "{pair}");
        assert_eq!(
            (&found[2], &found[3], &found[4]),
            (
                &pair["sizes"]["pairs"],
                &pair["record"]["won"],
                &pair["record"]["lost"]
            ),
            "{pair}"
        );
        agree(pair, found);
    }
    let browser = Browser::start();
    let page = project
        .path("site/compare/s/any.html")
        .canonicalize()
        .expect("just built");
    browser.open_address(&format!(
        "file://{}?a=arm-11-m1&b=arm-03-m1",
        page.display()
    ));
    wait_for(
        &browser,
        "return document.querySelector('#any .gap') ? true : null",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let said = browser
        .evaluate("return document.querySelector('main').innerText")
        .to_string();
    let of = |pair: &Value| {
        pair[0] == "arm-03 · m1" && pair[1] == "arm-11 · m1"
            || pair[1] == "arm-03 · m1" && pair[0] == "arm-11 · m1"
    };
    let (pair, _) = pairs.iter().find(|(_, found)| of(found)).expect("the two");
    let is_won = ["a_wins", "b_wins"].contains(&pair["verdict"].as_str().expect("a verdict"));
    let answer = if is_won {
        "arm-11 · m1 wins: "
    } else {
        "No winner yet: arm-11 · m1 "
    };
    for words in [
        answer,
        "95% CI ",
        "paired t test over items and runs",
        "has the higher pass rate on",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_pinned_baseline_changes_the_differences_and_their_heading() {
    needs!("chromium", "chromedriver");
    let project = arms(6, 40);
    built(&project);
    let browser = Browser::start();
    let page = project
        .path("site/suites/s/index.html")
        .canonicalize()
        .expect("just built");
    browser.open(&page);
    let column = "const of = () => Array.from(document.querySelectorAll('#arms td.gap'), cell => cell.textContent.trim());
        const head = () => document.querySelector('#arms th.gap bdi').textContent;";
    let before = browser.evaluate(&format!("{column} return [head(), of()];"));
    assert_eq!(before[0], "To the leader", "{before}");
    let boxes = "const boxes = document.querySelectorAll('#arms input.tick'); boxes[3].click(); document.querySelector('.ticks button').click();";
    browser.evaluate(&format!("{boxes} return 1;"));
    let after = wait_for(
        &browser,
        &format!(
            "{column} return head() === 'To the leader' ? null : [head(), of(), location.hash];"
        ),
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let rows = |found: &Value| -> Vec<String> {
        found[1]
            .as_array()
            .expect("cells")
            .iter()
            .filter_map(|cell| cell.as_str().map(str::to_owned))
            .collect()
    };
    assert_eq!(rows(&after)[3], "baseline", "{after}");
    assert_ne!(rows(&after)[0], rows(&before)[0]);
    // The figure is the program's: the leader less the pinned arm.
    let leader = after[1][0].as_str().unwrap_or_default();
    let known: Value =
        serde_json::from_str(&project.run(["compare", "s", "--format", "json"]).stdout)
            .expect("JSON");
    let row = known["comparisons"][0]["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["metric"]["name"] == "shared_tests")
        .expect("the rate")
        .clone();
    let shown: f64 = leader
        .split(' ')
        .next()
        .unwrap_or_default()
        .replace('\u{2212}', "-")
        .parse()
        .expect("a number");
    let all = row["evidence"]["pairs"].as_array().expect("pairs");
    assert!(
        all.iter().any(|pair| (pair["difference"]["value"]
            .as_f64()
            .unwrap_or_default()
            .abs()
            * 100.0
            - shown.abs())
        .abs()
            < 0.51),
        "{leader}"
    );
    // The address keeps it, and unpinning restores the column.
    browser.open_address(&format!(
        "file://{}{}",
        page.display(),
        after[2].as_str().unwrap_or_default()
    ));
    let again = wait_for(
        &browser,
        &format!("{column} return head() === 'To the leader' ? null : [head(), of()];"),
    );
    assert_eq!((&again[0], rows(&again)), (&after[0], rows(&after)));
    let unpinned = browser.evaluate(&format!(
        "{column} document.querySelector('.ticks button').click(); return [head(), of()];"
    ));
    assert_eq!((&unpinned[0], rows(&unpinned)), (&before[0], rows(&before)));
}

#[test]
fn suites_of_counts_have_a_table_of_all_pairs_with_several_shades() {
    let project = Project::new();
    for (arm, passed) in [200, 195, 180, 150, 90, 40].into_iter().enumerate() {
        let counts =
            json!({"shared_tests_passed": passed, "shared_tests_total": 225, "counted": "task"});
        project.result(&result(
            &format!("run-{arm}"),
            "s",
            &format!("arm-{arm}"),
            counts,
        ));
    }
    built(&project);
    let pairs = project.read("site/compare/s/index.html");
    for cell in [
        "class=\"p1\"",
        "class=\"p2",
        "class=\"p3",
        "class=\"p5 win\"",
        "class=\"n5 win\"",
        "+71.1</a>",
    ] {
        assert!(pairs.contains(cell), "{cell}: {pairs}");
    }
}

#[test]
fn what_both_arms_answered_stands_side_by_side() {
    needs!("chromium", "chromedriver");
    let project = Project::new();
    for arm in 0..4 {
        let id = format!("run-{arm}");
        project.result(&result(&id, "s", &format!("arm-{arm}"), json!({})));
        let items: Vec<Value> = (0..20)
            .map(|number| {
                let mut item = question(&format!("q{number:02}"), 1, if (number + arm) % 4 == 0 { "pass" } else { "fail" });
                item["details"] = json!({"answer": format!("<b>{arm} says</b> {number}"), "expected": [format!("right {number}")],
                    "reason": format!("because of {arm}")});
                item
            })
            .collect();
        project.items(&id, &items);
    }
    built(&project);
    let page = project
        .path("site/compare/s/any.html")
        .canonicalize()
        .expect("just built");
    let browser = Browser::start();
    browser.open_address(&format!("file://{}?a=arm-1-m1&b=arm-2-m1", page.display()));
    wait_for(
        &browser,
        "return document.querySelector('#any .told .side') ? true : null",
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let first = browser.evaluate("return document.querySelector('#any .told li').innerText");
    for words in [
        "q02",
        "only arm-2",
        "Expected: right 2",
        "<b>1 says</b> 2",
        "<b>2 says</b> 2",
        "Reason: because of 2",
    ] {
        assert!(
            first.as_str().is_some_and(|first| first.contains(words)),
            "{words}: {first}"
        );
    }
    let overflow = browser.evaluate(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    assert_eq!(overflow, 0);
}

#[test]
fn any_two_arms_are_compared_with_flips_that_lead_to_their_items() {
    needs!("chromium", "chromedriver");
    let project = arms(14, 30);
    built(&project);
    let page = project
        .path("site/compare/s/any.html")
        .canonicalize()
        .expect("just built");
    let browser = Browser::start();
    let open = |query: &str| {
        browser.open_address(&format!("file://{}{query}", page.display()));
        wait_for(
            &browser,
            "return document.querySelector('#any .links a, #any .empty') ? true : null",
        );
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{query}");
        browser
            .evaluate("return document.querySelector('main').innerText")
            .to_string()
    };
    let made = open("?a=arm-02-m1&b=arm-07-m1");
    assert!(
        made.contains("The verdict is adjusted for all pairs of the suite.")
            && made.contains("exact McNemar test"),
        "{made}"
    );
    assert!(made.contains("arm-02 · m1 vs arm-07 · m1"), "{made}");
    let links = browser.evaluate(
        "return Array.from(document.querySelectorAll('#any .links a'), link => link.href)",
    );
    let links = links.as_array().expect("links");
    assert!(
        !links.is_empty()
            && links.iter().all(|link| link
                .as_str()
                .is_some_and(|link| link.contains("/suites/s/i/00"))),
        "{links:?}"
    );
    // The areas and the list count alike, and a chip shows one side only.
    let counts = browser.evaluate(
        "const chips = document.querySelectorAll('.chips button'), rows = () => document.querySelectorAll('#any .links li').length;
        const all = rows(); chips[1].click(); const first = rows(); chips[2].click(); return [all, first, rows()];",
    );
    let counts: Vec<u64> = counts
        .as_array()
        .expect("counts")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    assert_eq!(counts[0], counts[1] + counts[2], "{counts:?}");
    // A pair that the program compared is said to be one, and linked.
    let first = browser.evaluate(
        "return Array.from(document.querySelectorAll('#any-a option'), option => option.value)",
    );
    let first: Vec<&str> = first
        .as_array()
        .expect("arms")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let known = open(&format!("?a={}&b={}", first[0], first[1]));
    assert!(
        known.contains("The program compared this pair") && !known.contains("Not adjusted"),
        "{known}"
    );
    // A pinned baseline is the second arm.
    browser.open_address("about:blank");
    let pinned = open(&format!("?a={}#base={}", first[3], first[9]));
    assert_eq!(
        browser.evaluate("return document.getElementById('any-b').value"),
        first[9],
        "{pinned}"
    );
}

#[test]
fn two_rows_are_ticked_and_a_baseline_goes_along() {
    needs!("chromium", "chromedriver");
    let project = arms(5, 12);
    built(&project);
    let browser = Browser::start();
    for (page, table) in [("index.html", "arms"), ("leaderboard.html", "board")] {
        browser.open(
            &project
                .path(&format!("site/suites/s/{page}"))
                .canonicalize()
                .expect("just built"),
        );
        let ticked = browser.evaluate(&format!(
            "const boxes = document.querySelectorAll('#{table} input.tick'); boxes[1].click(); boxes[3].click();
            return document.querySelector('.ticks a').getAttribute('href');",
        ));
        let ticked = ticked.as_str().unwrap_or_default();
        assert!(
            ticked.starts_with("../../compare/s/any.html?a=arm-0")
                && ticked.contains("-m1&b=arm-0"),
            "{page}: {ticked}"
        );
        let pinned = browser.evaluate(&format!(
            "const boxes = document.querySelectorAll('#{table} input.tick'); boxes[3].click();
            document.querySelector('.ticks button').click();
            const link = document.querySelector('.brand');
            link.addEventListener('click', event => event.preventDefault()); link.click();
            return [location.hash, link.hash];",
        ));
        assert!(
            pinned[0]
                .as_str()
                .is_some_and(|hash| hash.starts_with("#base=arm-0"))
                && pinned[0] == pinned[1],
            "{page}: {pinned}"
        );
    }
}

#[test]
fn every_arm_has_a_page_with_all_its_suites() {
    let project = arms(4, 12);
    project.result(&result(
        "other",
        "t",
        "arm-03",
        json!({"shared_tests_passed": 5, "shared_tests_total": 10, "cost_usd": 0.5}),
    ));
    built(&project);
    let page = project.read("site/arms/arm-03-m1.html");
    assert_eq!(page.matches("<h1").count(), 1);
    for wanted in [
        "../suites/s/index.html",
        "../suites/t/index.html",
        "../runs/other/index.html",
        "../arms/arm-0",
        "../compare/s/",
    ] {
        assert!(
            page.contains(&format!("href=\"{wanted}")),
            "{wanted}: {page}"
        );
    }
    let list = project.read("site/arms/index.html");
    assert!(
        list.contains("href=\"../arms/arm-03-m1.html\"><bdi>arm-03 · m1</bdi>"),
        "{list}"
    );
    // Names lead there from the leaderboard, lists of runs, a run, items, a pair and all pairs.
    let pair = project
        .files("site/compare")
        .into_iter()
        .find(|file| file.contains("arm-03") && file.contains("--"))
        .expect("a pair");
    let places = [
        "site/suites/s/index.html",
        "site/runs/index.html",
        "site/runs/run-03/index.html",
        "site/suites/s/i/0001.html",
        &pair,
    ];
    for place in places
        .into_iter()
        .chain(["site/compare/s/index.html", "site/search.html"])
    {
        assert!(
            project.read(place).contains("arms/arm-03-m1.html\""),
            "{place}"
        );
    }
    let pairs = project.read("site/compare/s/index.html");
    assert!(
        pairs.contains("class=\"all-pairs\"") && pairs.contains("--arm-0"),
        "{pairs}"
    );
}

#[test]
fn a_pairs_page_begins_with_its_state_its_answer_and_one_picture() {
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    let items = |passes: u32| -> Vec<Value> {
        (0..60)
            .map(|item| {
                question(
                    &format!("q{item:02}"),
                    1,
                    if item < passes { "pass" } else { "fail" },
                )
            })
            .collect()
    };
    project
        .items("run-a", &items(50))
        .items("run-b", &items(20));
    built(&project);
    let path = project
        .files("site/compare")
        .into_iter()
        .find(|file| file.contains("--"))
        .expect("a pair");
    let page = project.read(&path);
    let main = page
        .split("<main id=\"main\">")
        .nth(1)
        .expect("a main part");
    let place = |text: &str| {
        main.find(text)
            .unwrap_or_else(|| panic!("no {text}: {main}"))
    };
    assert!(
        place("class=\"state is-wins\"") < place("<h1>") && place("</h1>") < place("class=\"gap\""),
        "{main}"
    );
    assert!(
        main.contains("<h1><bdi>a wins: 83% vs 33% (+50 pp) on s</bdi></h1>"),
        "{main}"
    );
    assert!(main.contains("class=\"areas\""), "{main}");
}
