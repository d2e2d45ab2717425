//! The command palette: what is found, by whom it can be used, and that it reads nothing before it is opened.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::support::{Project, question, result};

const HOSTILE: &str = "</script><img src=x onerror=window.pwned=1>\u{202e}";

/// Two arms at three questions, with what was asked and answered.
fn site() -> Project {
    let project = Project::with(&[
        result("run-a", "colours", "planner", json!({})),
        result("run-b", "colours", "react", json!({})),
    ]);
    let told = |item: &str, asked: &str, answer: &str, status: &str| {
        let mut line = question(item, 1, status);
        line["details"] = json!({"question": asked, "answer": answer});
        line
    };
    let items = |status: &str| {
        [
            told("sky", "What colour has the firmament?", "Azure", status),
            told("grass", "And the meadow?", "Green", status),
            told(HOSTILE, "x", "y", status),
        ]
    };
    project
        .items("run-a", &items("pass"))
        .items("run-b", &items("fail"));
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    assert_eq!(
        project
            .run(["build", "--quiet", "--single-file", "one.html"])
            .code,
        0
    );
    project
}

/// Opens the palette and waits for its index.
fn open(browser: &Browser) {
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))");
    let started = Instant::now();
    let status = "const status = document.getElementById('palette-status'); return Boolean(status) && !status.textContent.startsWith('Loading')";
    while browser.evaluate(status) != Value::Bool(true)
        && started.elapsed() < Duration::from_secs(10)
    {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns what the first row says.
fn first(browser: &Browser, query: &str) -> String {
    let script = format!(
        "const field = document.querySelector('#palette input'); field.value = {}; field.dispatchEvent(new Event('input'));
         const row = document.querySelector('#palette li'); return row ? [...row.children].map(part => part.textContent).join('|') : ''",
        json!(query)
    );
    browser
        .evaluate(&script)
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn names_texts_and_commands_are_found_also_with_typing_errors() {
    needs!("chromium", "chromedriver");
    let project = site();
    let browser = Browser::start();
    let page = project
        .path("site/suites/colours/index.html")
        .canonicalize()
        .expect("just built");
    browser.open(&page);
    let loaded = "return performance.getEntriesByType('resource').filter(one => /palette|\\/d\\//.test(one.name)).length";
    assert_eq!(
        browser.evaluate(loaded),
        0,
        "nothing is read before it is opened"
    );
    open(&browser);
    for (query, found) in [
        ("colours", "suite|colours"),
        ("colurs", "suite|colours"),
        ("planner", "arm|planner · m1|colours"),
        ("plannre", "arm|planner · m1|colours"),
        ("run-a", "run|run-a|planner · m1 · #1 on colours"),
        ("sky", "item|sky|colours"),
        (
            "firmament",
            "text|sky|What colour has the firmament? · Azure",
        ),
        ("azure", "text|sky|"),
        ("link to exactly", "do|Copy a link to exactly this view|"),
        ("nothing like it", ""),
    ] {
        let row = first(&browser, query);
        assert!(
            if found.is_empty() {
                row.is_empty()
            } else {
                row.starts_with(found)
            },
            "{query}: {row}"
        );
    }
    // Whoever cannot see it hears which row the keys are at.
    first(&browser, "colours");
    let keys = "const field = document.activeElement;
        const at = () => { const row = document.getElementById(field.getAttribute('aria-activedescendant')); return [row.id, row.getAttribute('aria-selected')] };
        const press = key => field.dispatchEvent(new KeyboardEvent('keydown', {key: key, bubbles: true}));
        const before = at(); press('ArrowDown'); const after = at(); press('ArrowUp');
        return [field.getAttribute('role'), document.getElementById(field.getAttribute('aria-controls')).getAttribute('role'), before, after, at()]";
    let zeroth = json!(["palette-0", "true"]);
    assert_eq!(
        browser.evaluate(keys),
        json!(["combobox", "listbox", zeroth, ["palette-1", "true"], zeroth])
    );
    first(&browser, "grass");
    browser.evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))");
    let started = Instant::now();
    let arrived = "return location.href.endsWith('#i-grass')";
    while browser.evaluate(arrived) != Value::Bool(true)
        && started.elapsed() < Duration::from_secs(10)
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(browser.evaluate(arrived), true);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.evaluate("return typeof window.pwned"), "undefined");
}

#[test]
fn one_file_has_a_palette_of_its_parts() {
    needs!("chromium", "chromedriver");
    let project = site();
    let browser = Browser::start();
    browser.open(&project.path("one.html").canonicalize().expect("just built"));
    open(&browser);
    let row = first(&browser, "verdict");
    assert!(row.starts_with("part|") || row.starts_with("do|"), "{row}");
    assert!(
        first(&browser, "copy table as csv").starts_with("do|Copy table as CSV"),
        "a command"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn filters_understand_columns_and_limits() {
    needs!("chromium", "chromedriver");
    let runs: Vec<Value> = (0..12)
        .map(|number| {
            let model = if number % 3 == 0 { "opus" } else { "haiku" };
            result(
                &format!("r{number}"),
                "s",
                &format!("a{number}"),
                json!({"model": model, "shared_tests_passed": 40 + 5 * number, "shared_tests_total": 100}),
            )
        })
        .collect();
    let project = Project::with(&runs);
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let browser = Browser::start();
    browser.open(
        &project
            .path("site/runs/index.html")
            .canonicalize()
            .expect("just built"),
    );
    let shown = |query: &str| {
        let script = format!(
            "const field = document.getElementById('filter-runs-table'); field.value = {}; field.dispatchEvent(new Event('input'));
             return document.querySelectorAll('#runs-table tbody tr:not([hidden])').length",
            json!(query)
        );
        browser.evaluate(&script)
    };
    let found: Vec<Value> = [
        "",
        "model:opus",
        "passed>80",
        "passed>90%",
        "passed<=45",
        "model:opus passed>80",
        "model:none",
        ">9000",
    ]
    .into_iter()
    .map(shown)
    .collect();
    assert_eq!(found, [12, 4, 3, 1, 2, 1, 0, 0]);
}
