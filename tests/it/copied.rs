//! What a reader copies from a page is what the program writes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::kept;

/// Keeps what the page copies instead of handing it to the system.
const CATCH: &str = "window.copied = ''; window.evalreport.copy = (text, done) => { window.copied = text; done(true); };";

/// Runs a command of the palette by its whole name, and returns what it copied.
fn copy(browser: &Browser, command: &str) -> Option<String> {
    browser.evaluate(CATCH);
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))");
    let found = wait(
        browser,
        &format!(
            "const field = document.querySelector('#palette input'); if (!field) return false;
             field.value = {}; field.dispatchEvent(new Event('input'));
             const row = document.querySelector('#palette li');
             return Boolean(row) && row.textContent.startsWith('do') && row.textContent.includes('Copy table')",
            json!(command)
        ),
    );
    if !found {
        browser.evaluate("window.evalreportPalette()");
        return None;
    }
    browser.evaluate("document.querySelector('#palette li').click()");
    assert!(
        wait(browser, "return window.copied !== ''"),
        "{command}: nothing is copied"
    );
    let copied = browser.evaluate("return window.copied");
    browser.evaluate("window.evalreportPalette()");
    copied.as_str().map(str::to_owned)
}

fn wait(browser: &Browser, condition: &str) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        if browser.evaluate(condition) == Value::Bool(true) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_copied_table_is_the_file_that_the_page_links() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    let pair = site
        .files("site/compare/mmlu-pro-history")
        .into_iter()
        .find(|path| path.contains("--") && path.strip_suffix(".html").is_some())
        .expect("a pair");
    let pages = [
        "site/index.html",
        "site/cost.html",
        "site/overall.html",
        "site/runs/index.html",
        "site/suites/aider-polyglot/index.html",
        "site/suites/aider-polyglot/leaderboard.html",
        "site/suites/nightly-sums-made/history.html",
        "site/suites/flask/audit.html",
        &pair,
    ];
    for page in pages {
        browser.open(&site.path(page));
        let linked = browser.evaluate(
            "return document.querySelector(\"footer a[href$='.md']\").getAttribute('href').replace(/^(\\.\\.\\/)+/, '').replace(/\\.md$/, '')",
        );
        let stem = format!("site/{}", linked.as_str().expect("a link"));
        for (command, ending) in [
            ("copy table as markdown", "md"),
            ("copy table as csv", "csv"),
        ] {
            assert_eq!(
                copy(&browser, command),
                Some(site.read(&format!("{stem}.{ending}"))),
                "{page}: {command}"
            );
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A table without a file of its own has one value in each cell, and no column that is empty or hidden.
#[test]
fn a_table_without_a_file_is_copied_cell_by_cell() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    let run = site
        .files("site/runs")
        .into_iter()
        .find(|path| path.ends_with("/items-0002.html"))
        .expect("a run with items");
    for page in ["site/arms/index.html", &run] {
        browser.open(&site.path(page));
        let rows = browser
            .evaluate("return document.querySelector('main table[id]').rows.length")
            .as_u64()
            .and_then(|rows| usize::try_from(rows).ok())
            .expect("a number");
        let csv = copy(&browser, "copy table as csv").expect("a command");
        let mut read = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(csv.as_bytes());
        let records: Vec<csv::StringRecord> = read
            .records()
            .collect::<Result<_, _>>()
            .expect("rows of one length");
        assert_eq!(records.len(), rows, "{page}");
        for column in 0..records[0].len() {
            assert!(!records[0][column].is_empty(), "{page}: {csv}");
            assert!(
                records[1..].iter().any(|row| !row[column].is_empty()),
                "{page}: column {column} is empty"
            );
        }
        assert!(
            !csv.lines().any(|line| line.starts_with('\'')),
            "{page}: {csv}"
        );
        let markdown = copy(&browser, "copy table as markdown").expect("a command");
        assert_eq!(markdown.lines().count(), rows + 1, "{page}");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
