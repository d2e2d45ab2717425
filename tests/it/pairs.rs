//! Pages of two arms: the four outcomes with their items, the criteria, and both answers beside each other; and the search over all names.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::{Output, Project, lines, question, result, test};

const HOSTILE: &str = "</pre><script>window.pwned=1</script>\u{202e}\u{1b}]8;;x<ins>";

/// A question with what was answered.
fn answered(item: &str, status: &str, reply: &str) -> Value {
    let mut line = question(item, 1, status);
    line["details"] = json!({"reply": reply, "answer": reply.to_lowercase(), "expected": ["Paris"], "reason": "compared by letters"});
    line
}

/// Two arms on four questions: one of each outcome, and two that only the first gets right.
fn answers(config: &str, reply: &str) -> Project {
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    project.items(
        "run-a",
        &[
            answered("q1", "pass", "The capital of France is Paris, of course."),
            answered("q2", "pass", "yes"),
            answered("q3", "fail", "no"),
            answered("q4", "fail", "no"),
            answered("q5", "pass", reply),
        ],
    );
    project.items(
        "run-b",
        &[
            answered("q1", "fail", "The capital of France is Lyon, of course."),
            answered("q2", "pass", "yes"),
            answered("q3", "pass", "completely other words than those before"),
            answered("q4", "fail", "no"),
            answered("q5", "error", ""),
        ],
    );
    project.file("evalreport.yaml", format!("version: 1\n{config}"));
    let output = project.run(["build", "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    project
}

/// The only page of a pair, and its data.
fn pair(project: &Project) -> (String, Value) {
    let find = |below: &str, ending: &str| {
        let files = project.files(below);
        let found: Vec<&String> = files
            .iter()
            .filter(|file| file.contains("--") && file.ends_with(ending))
            .collect();
        assert_eq!(found.len(), 1, "{files:?}");
        project.read(found[0])
    };
    (
        find("site/compare", ".html"),
        serde_json::from_str(&find("site/data/compare", ".json")).expect("JSON"),
    )
}

#[test]
fn a_pairs_page_groups_lost_items_by_their_reasons() {
    let project = answers("", "Paris");
    let (page, data) = pair(&project);
    let (_, why) = page
        .split_once("<h2 id=\"why\">Why they differ</h2>")
        .expect("the section is there");
    let why = why.split("<h2").next().expect("a section");
    for said in [
        "2 of 2 questions that b lost: “compared by letters”",
        "Lost by a",
        "1 of 1",
    ] {
        assert!(why.contains(said), "{said}: {why}");
    }
    let found = &data["comparisons"][0]["why"];
    assert_eq!(found["cohorts"][0]["pattern"], "compared by letters");
    // Five questions are too few for an interval.
    assert_eq!(found["cohorts"][0].get("interval"), None);
    assert_eq!(found["all"]["lost"].as_u64(), Some(1));
    // The terminal, from the records, says the same as the page, from the pages of runs.
    let output = project.run(["compare", "s", "--why", "--format", "json"]);
    let answer: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(&answer["comparisons"][0]["why"], found);
}

#[test]
fn a_pairs_markdown_is_what_compare_prints() {
    let project = answers("aliases: {model: {m1: mapped}}\n", "Paris");

    project.result(&result("run-c", "s", "b", json!({})));
    assert_eq!(
        project
            .run(["retract", "run-c", "--reason", "a broken machine"])
            .code,
        0
    );
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let beside = |ending: &str| {
        let file = project
            .files("site/data/compare")
            .into_iter()
            .find(|file| file.contains("--") && file.ends_with(ending));
        project.read(&file.expect("a pair"))
    };
    let printed = project.run(["compare", "s", "--format", "markdown"]);
    assert_eq!(beside(".md"), printed.stdout);
    assert!(
        printed.stdout.contains("1 run retracted") && printed.stdout.contains("mapped"),
        "{}",
        printed.stdout
    );
    let spreadsheet = beside(".csv");
    assert_eq!(
        spreadsheet,
        project.run(["compare", "s", "--format", "csv"]).stdout
    );
    let rate = spreadsheet
        .lines()
        .find(|line| line.contains(",shared_tests,"))
        .expect("the rate");
    assert!(
        rate.starts_with("s,,,shared_tests,fraction,up,a,mapped,0.6,")
            && rate.contains(",b,mapped,0.4,"),
        "{rate}"
    );
    let page = project
        .files("site/compare")
        .into_iter()
        .find(|file| file.contains("--"))
        .expect("a page");
    let page = project.read(&page);
    assert!(
        ["JSON</a>", "CSV</a>", "Markdown</a>"]
            .iter()
            .all(|label| page.contains(label)),
        "{page}"
    );
}

fn verified(project: &Project) -> Output {
    project.output(
        Command::new("python3")
            .arg("site/verify_site.py")
            .env("PATH", std::env::var("PATH").unwrap_or_default()),
    )
}

#[test]
fn each_outcome_leads_to_its_items_and_they_to_their_pages() {
    needs!("python3");
    let project = answers("", "Paris");
    let (page, data) = pair(&project);
    let listed = &data["comparisons"][0]["flips"]["listed"];
    for (anchor, key, count, items) in [
        ("only-first", "only_first", 2, vec!["q1", "q5"]),
        ("only-second", "only_second", 1, vec!["q3"]),
        ("both-passed", "both_passed", 1, vec!["q2"]),
        ("neither", "neither", 1, vec!["q4"]),
    ] {
        assert!(
            page.contains(&format!("<a href=\"#{anchor}\">{count}<")),
            "{anchor}"
        );
        let names: Vec<&str> = listed[key]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|item| item["item"].as_str())
            .collect();
        assert_eq!(names, items, "{key}");
        let list = page
            .split(&format!("<h3 id=\"{anchor}\">"))
            .nth(1)
            .and_then(|rest| rest.split("</ul>").next())
            .expect("a list");
        for item in items {
            assert!(
                list.contains(&format!(
                    "<a href=\"../../suites/s/i/0001.html#i-{item}\"><bdi>{item}</bdi></a>"
                )),
                "{item}: {list}"
            );
        }
        assert_eq!(
            list.contains("href=\"#side-"),
            anchor.starts_with("only"),
            "{list}"
        );
    }
    let verify = verified(&project);
    assert_eq!(verify.code, 0, "{}", verify.stdout);
}

#[test]
fn a_changed_count_or_difference_is_found_by_the_sites_own_program() {
    needs!("python3");
    let project = answers("", "Paris");
    let path = project
        .files("site/compare")
        .into_iter()
        .find(|file| file.contains("--"))
        .expect("a pair");
    let page = project.read(&path);
    for (from, to, told) in [
        (
            "<a href=\"#only-first\">2<",
            "<a href=\"#only-first\">3<",
            "does not print only_first, 2",
        ),
        (
            "<td data-v=\"\">+20 pp",
            "<td data-v=\"\">+21 pp",
            "does not print the difference +20 pp of Accuracy",
        ),
    ] {
        assert!(page.contains(from), "{from}: {page}");
        project.file(&path, page.replace(from, to));
        let verify = verified(&project);
        assert_eq!(
            (verify.code, verify.stdout.contains(told)),
            (1, true),
            "{}",
            verify.stdout
        );
    }
}

#[test]
fn answers_stand_side_by_side_with_the_words_marked_that_one_has_alone() {
    let project = answers("", HOSTILE);
    let (page, data) = pair(&project);
    assert!(
        page.contains("The capital of France is <del>Paris</del>, of course."),
        "{page}"
    );
    assert!(page.contains("The capital of France is <ins>Lyon</ins>, of course."));
    assert!(page.contains("The two have so little in common that no words are marked."));
    assert!(
        page.contains("Right answer: <bdi>Paris</bdi>")
            && page.contains("Reason: <bdi>compared by letters</bdi>")
    );
    // Only items that ended differently, and the hostile answer as text.
    let sides = data["comparisons"][0]["sides"].as_array().expect("a list");
    assert_eq!(
        sides
            .iter()
            .map(|side| side["item"].as_str())
            .collect::<Vec<_>>(),
        [Some("q1"), Some("q5"), Some("q3")]
    );
    assert_eq!(
        (&sides[1]["first"]["reply"], sides[1]["second"].get("reply")),
        (&json!(HOSTILE), None)
    );
    assert!(page.contains("&#60;/pre&#62;&#60;script&#62;window.pwned=1&#60;/script&#62;\\u{202e}␛]8;;x&#60;ins&#62;"), "{page}");
    assert_eq!(page.matches("<script").count(), 2);
}

/// Two arms of three runs each: on some items one passes more often than the other, on others both pass equally often.
fn repeated() -> Project {
    let project = Project::new();
    // By item: how many of three runs of each arm pass.
    let passes = [
        (3, 2),
        (2, 1),
        (1, 0),
        (3, 1),
        (2, 2),
        (1, 2),
        (3, 3),
        (0, 0),
        (1, 1),
        (2, 3),
    ];
    for (arm, pick) in [("a", 0), ("b", 1)] {
        for run in 0..3 {
            let id = format!("{arm}-{run}");
            project.result(&result(&id, "s", arm, json!({})));
            let status = |(a, b): &(u32, u32)| if run < [*a, *b][pick] { "pass" } else { "fail" };
            let items: Vec<Value> = passes
                .iter()
                .enumerate()
                .map(|(at, of)| question(&format!("q{at}"), 1, status(of)))
                .collect();
            project.items(&id, &items);
        }
    }
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    project
}

#[test]
fn with_several_runs_items_are_better_equal_and_worse_as_the_verdict_counts_them() {
    needs!("chromium", "chromedriver");
    let project = repeated();
    let (page, data) = pair(&project);
    let table = &data["comparisons"][0];
    let flips = &table["flips"];
    let row = table["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["metric"]["name"] == "shared_tests")
        .expect("the rate");
    let record = &row["evidence"]["pairs"][0]["record"];
    assert_eq!(
        (
            &flips["by_rate"],
            &flips["only_first"],
            &flips["only_second"]
        ),
        (&json!(true), &json!(4), &json!(2))
    );
    assert_eq!(
        (&flips["only_first"], &flips["only_second"]),
        (&record["won"], &record["lost"])
    );
    assert_eq!(
        (&flips["both_passed"], &flips["neither"]),
        (&json!(2), &json!(2))
    );
    for words in [
        "Of 10 shared items, a has the higher pass rate on 4 and b on 2; on 4 the rates are equal.",
        "<h3 id=\"only-first\"><bdi>Higher rate of a: 4</bdi></h3>",
        "6 items with different pass rates",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(
        !page.contains("agree on 10") && !page.contains("passed: None"),
        "{page}"
    );
    let told = project.run(["compare", "s", "--explain"]).stdout;
    assert!(
        told.contains("On 10 items: a has the higher pass rate on 4, b on 2; 4 are equal."),
        "{told}"
    );
    assert_eq!(verified(&project).code, 0, "{}", verified(&project).stdout);
}

#[test]
fn the_page_has_picture_counts_amounts_and_flips_before_the_fold() {
    let (page, _) = pair(&answers("", "Paris"));
    let main = page
        .split("<main id=\"main\">")
        .nth(1)
        .expect("a main part");
    let place = |text: &str| {
        main.find(text)
            .unwrap_or_else(|| panic!("no {text}: {main}"))
    };
    assert!(
        place("class=\"gap\"") < place("class=\"areas\"")
            && place("class=\"areas\"") < place("id=\"flips\""),
        "{main}"
    );
    assert!(
        place("id=\"flips\"") < place("<details class=\"rest\"")
            && place("<details class=\"rest\"") < place("id=\"metrics\""),
        "{main}"
    );
    // The arms have one colour each, here and on the suite's page.
    assert!(
        main.contains("rect class=\"only-a a") && main.contains("<i class=\"tone a"),
        "{main}"
    );
    assert!(!main.contains(">None."), "{main}");
}

#[test]
fn a_declared_margin_is_drawn_and_said() {
    let (page, _) = pair(&answers("", "Paris"));
    assert!(!page.contains("class=\"band\"") && !page.contains("Declared margin"));
    let (page, _) = pair(&answers(
        "metrics:\n  shared_tests: {margin: 0.05}\n",
        "Paris",
    ));
    // In the picture on top, and in the table.
    assert_eq!(page.matches("class=\"band\"").count(), 2, "{page}");
    assert!(page.contains("margin 5.0 pp"));
}

#[test]
fn arms_without_a_common_item_are_said_to_be_unpaired() {
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    project.items("run-a", &[test("t1", "pass"), test("t2", "fail")]);
    project.items("run-b", &[test("t3", "pass"), test("t4", "pass")]);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let (page, data) = pair(&project);
    assert!(
        page.contains("No item has a counted outcome of both b and a."),
        "{page}"
    );
    assert!(!page.contains("id=\"outcomes-table\"") && !page.contains("id=\"answers\""));
    assert_eq!(data["comparisons"][0].get("flips"), None);

    // Totals alone: compared, but not paired, and the page says how.
    let counts = |id: &str, approach: &str, passed: u32| {
        result(
            id,
            "s",
            approach,
            json!({"shared_tests_passed": passed, "shared_tests_total": 40}),
        )
    };
    let runs: Vec<Value> = [("a", 30), ("b", 20)]
        .into_iter()
        .flat_map(|(arm, passed)| {
            (0..3).map(move |run| counts(&format!("{arm}-{run}"), arm, passed + run))
        })
        .collect();
    let project = Project::with(&runs);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let (page, _) = pair(&project);
    assert!(
        page.contains(
            "not paired: 3 runs each, about this suite, run again; Welch&#39;s t test over runs."
        ),
        "{page}"
    );
}

/// A run that was judged on two criteria.
fn judged(project: &Project, id: &str, approach: &str, outcomes: [&str; 2]) {
    project.result(&result(id, "s", approach, json!({})));
    let criteria = ["Saves notes", "Lists notes"].into_iter().zip(outcomes).map(|(item, status)| {
        json!({"item": item, "kind": "criterion", "evaluator": "requirementFulfillment", "attempt": 1, "revision": 0, "status": status,
            "details": {"reason": format!("{item}: {status} says the judge of {id}")}})
    });
    project.items(id, &[vec![test("t1", "pass")], criteria.collect()].concat());
    let judge = json!({"agent": "claude", "model": "opus", "prompt_sha256": "0123456789abcdef", "votes": 1});
    let score = json!({"metric": "requirementFulfillment", "value": 50.0, "unit": "points", "direction": "up", "revision": 0,
        "evaluator": "claude:opus #01234567", "judge": judge});
    project.file(&format!("results/{id}/scores.jsonl"), lines([score]));
}

#[test]
fn criteria_that_flip_have_the_judge_and_both_reasons_as_the_terminal_counts_them() {
    let project = Project::new();
    judged(&project, "run-a", "a", ["pass", "pass"]);
    judged(&project, "run-b", "b", ["fail", "pass"]);
    // Two scores say that the header does too.
    for (id, approach) in [("run-a", "a"), ("run-b", "b")] {
        let score = json!([{"metric": "requirementFulfillment", "value": 50.0, "unit": "points", "direction": "up", "revision": 0,
            "evaluator": "claude:opus #01234567"}]);
        project.result(&result(id, "s", approach, json!({"scores": score})));
    }
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let (page, data) = pair(&project);
    for expected in [
        "On 2 shared criteria, judged by claude:opus #01234567: both met 1, only a 1, only b 0, neither 0.",
        "Saves notes: pass says the judge of run-a",
        "Saves notes: fail says the judge of run-b",
        "met in 1 of 1 runs",
        "not met in 1 of 1 runs",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert!(!page.contains("Lists notes: pass says"));
    let terminal = project.run(["compare", "s", "--format", "json"]).json();
    assert_eq!(
        data["comparisons"][0]["criteria"],
        terminal["comparisons"][0]["criteria"]
    );
    assert_eq!(
        data["comparisons"][0]["criteria"]["only_first"],
        json!(["Saves notes"])
    );
}

#[test]
fn long_lists_and_answers_are_cut_and_say_where_the_rest_is() {
    needs!("python3");
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    let side = |status: &str| -> Vec<Value> {
        (0..300)
            .map(|number| {
                answered(
                    &format!("q{number:03}"),
                    status,
                    &format!("{status} {}", "<word> ".repeat(400)),
                )
            })
            .collect()
    };
    project.items("run-a", &side("pass"));
    project.items("run-b", &side("fail"));
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let (page, data) = pair(&project);
    assert!(page.len() < 150_000, "{} bytes", page.len());
    assert!(
        page.contains(
            "The first 60 are listed; the JSON file of this page has the first 200. <a href=\"../../suites/s/items/index.html\">"
        )
    );
    assert!(
        page.contains(" of 300 items, the first of each kind")
            && page.contains("Texts are cut after 1,200 characters")
    );
    assert_eq!(
        data["comparisons"][0]["flips"]["listed"]["only_first"]
            .as_array()
            .map(Vec::len),
        Some(200)
    );
    assert_eq!(
        data["comparisons"][0]["sides"].as_array().map(Vec::len),
        Some(12)
    );
    assert_eq!(verified(&project).code, 0);
}

/// Waits until a page says something.
fn wait_for(browser: &Browser, script: &str) -> Value {
    let started = Instant::now();
    loop {
        let found = browser.evaluate(script);
        if found
            .as_str()
            .is_some_and(|text| !text.is_empty() && !text.contains("Loading"))
            || started.elapsed() > Duration::from_secs(10)
        {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn names_are_found_in_one_order_and_the_address_keeps_the_question() {
    needs!("chromium", "chromedriver");
    let names = [
        "Paris",
        "paris-2",
        "of paris",
        "comparison",
        HOSTILE,
        "__proto__",
    ];
    let items = |status: &str| -> Vec<Value> {
        names.iter().map(|name| question(name, 1, status)).collect()
    };
    let project = Project::with(&[
        result("paris", "s", "parisian", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    project
        .items("paris", &items("pass"))
        .items("run-b", &items("fail"));
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let site = project.path("site").canonicalize().expect("just built");
    let (browser, page) = (Browser::start(), site.join("search.html"));
    let found = |query: &str| -> Vec<String> {
        browser.open(&site.join("index.html"));
        browser.open(&site.join(format!("search.html#q={query}")));
        wait_for(
            &browser,
            "return document.getElementById('search-status').textContent",
        );
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{query}");
        let rows = browser.evaluate("return Array.from(document.querySelectorAll('#search-results a'), link => link.textContent)");
        rows.as_array()
            .expect("a list")
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    // The name itself, a run before an item; its beginning, arms before items; the beginning of a word; a part of a word; what it belongs to.
    assert_eq!(
        found("paris"),
        [
            "paris",
            "Paris",
            "parisian · m1",
            "paris-2",
            "of paris",
            "comparison"
        ]
    );
    assert_eq!(found("PARIS%20of"), ["of paris"]);
    assert_eq!(found("__proto__"), ["__proto__"]);
    assert_eq!(found("nothing%20like%20it"), Vec::<String>::new());
    assert_eq!(
        found("script"),
        ["</pre><script>window.pwned=1</script>\\u{202e}␛]8;;x<ins>"]
    );
    assert_eq!(browser.evaluate("return typeof window.pwned"), "undefined");
    // What is typed goes into the address, and the key leads to the field.
    browser.open(&site.join("index.html"));
    browser.open(&page);
    assert_eq!(browser.evaluate("return performance.getEntriesByType('resource').filter(one => one.name.includes('/d/')).length"), 0);
    let typed = browser.evaluate(
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}));
        const field = document.activeElement;
        field.value = 'of'; field.dispatchEvent(new Event('input'));
        return field.id + ' ' + location.hash;",
    );
    assert_eq!(typed, "search-field #q=of");
    // Every link leads to a place that is there.
    wait_for(
        &browser,
        "return document.getElementById('search-status').textContent",
    );
    let href =
        browser.evaluate("return document.querySelector('#search-results a').getAttribute('href')");
    let (path, anchor) = href
        .as_str()
        .and_then(|href| href.split_once('#'))
        .expect("an item's address");
    assert!(
        fs::read_to_string(site.join(path))
            .expect("a page")
            .contains(&format!("id=\"{anchor}\"")),
        "{href}"
    );
}

#[test]
fn the_lists_have_every_name_without_a_script() {
    let items: Vec<Value> = (0..700)
        .map(|number| question(&format!("item-{number:03}"), 1, "pass"))
        .collect();
    let project = Project::with(&[
        result("run-a", "s", "a", json!({})),
        result("run-b", "s", "b", json!({})),
    ]);
    project.items("run-a", &items).items("run-b", &items);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let search = project.read("site/search.html");
    assert!(
        search.contains("<a href=\"search/s-items-0001.html\"><bdi>item-000 … item-499</bdi></a>"),
        "{search}"
    );
    let lists = [
        project.read("site/search/s-items-0001.html"),
        project.read("site/search/s-items-0002.html"),
    ]
    .concat();
    for number in 0..700 {
        assert_eq!(
            lists
                .matches(&format!("<bdi>item-{number:03}</bdi>"))
                .count(),
            1,
            "{number}"
        );
    }
    assert!(search.contains("runs/run-a/index.html") && search.contains("<bdi>a · m1</bdi>"));
    // One file has no place for an index beside it.
    assert_eq!(
        project
            .run(["build", "--quiet", "--single-file", "one.html"])
            .code,
        0
    );
    assert!(!project.read("one.html").contains("search-results\" class="));
}
