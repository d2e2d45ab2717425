//! Pages by keyboard alone, addresses that keep what one looks at, and pages on paper.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{built, file_url, root};
use crate::browser::Browser;

use crate::programs::Start as _;

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

/// Presses Tab until what has the focus matches, and sees that the focus shows all the way.
#[track_caller]
fn tab_to(browser: &Browser, selector: &str) {
    for _ in 0..400 {
        browser.press(TAB);
        let at = browser.evaluate(&format!(
            "const one = document.activeElement; const style = getComputedStyle(one);
            return [one.matches({}), one === document.body || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
                one.outerHTML.slice(0, 200)]",
            Value::from(selector)
        ));
        assert_eq!(
            at[1], true,
            "nothing shows that this has the focus: {}",
            at[2]
        );
        if at[0] == true {
            return;
        }
    }
    panic!(
        "Tab does not lead to {selector} on {}",
        browser.evaluate("return location.href")
    );
}

fn place(browser: &Browser) -> String {
    // A page is followed to by the next tick.
    std::thread::sleep(std::time::Duration::from_millis(300));
    browser
        .evaluate("return location.href")
        .as_str()
        .expect("an address")
        .to_owned()
}

#[test]
fn the_keyboard_leads_from_the_board_to_a_transcript_and_back() {
    needs!("chromium", "chromedriver");
    let (project, _) = built();
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(&root(&project).join("index.html"));
    tab_to(&browser, "main th button.sort");
    browser.press(ENTER);
    let sorted =
        browser.evaluate("return document.activeElement.closest('th').getAttribute('aria-sort')");
    assert!(sorted == "ascending" || sorted == "descending", "{sorted}");
    tab_to(&browser, "main a[href*='compare/questions/'][href*='--']");
    browser.press(ENTER);
    let pair = place(&browser);
    assert!(pair.contains("/compare/"), "{pair}");
    tab_to(&browser, "main a[href*='runs/'][href*='-n1/']");
    browser.press(ENTER);
    let run = place(&browser);
    assert!(run.contains("/runs/"), "{run}");
    tab_to(&browser, "main a[href^='t/']");
    browser.press(ENTER);
    let transcript = place(&browser);
    assert!(
        transcript.contains("/t/") && transcript.contains('#'),
        "{transcript}"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.back();
    assert_eq!(place(&browser).split('#').next(), run.split('#').next());
    browser.back();
    assert_eq!(place(&browser), pair);
}

#[test]
fn an_address_keeps_the_filter_and_the_order() {
    needs!("chromium", "chromedriver");
    let (project, kinds) = built();
    let root = root(&project);
    let browser = Browser::start();
    let page = &kinds["runs/*/items-.html"][0];
    browser.open(&root.join(page));
    let shown = "return [...document.querySelectorAll('table[data-filter] tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].innerText)";
    let all = browser.evaluate(shown);
    // What is typed into the filter filters.
    tab_to(&browser, "input[type=search]");
    for key in ['1', '7'] {
        browser.press(key);
    }
    let filtered = browser.evaluate(shown);
    let count = |rows: &Value| rows.as_array().map_or(0, Vec::len);
    assert!(
        count(&filtered) > 0 && count(&filtered) < count(&all),
        "{} of {}",
        count(&filtered),
        count(&all)
    );
    tab_to(&browser, "th button.sort");
    browser.press(ENTER);
    let (sorted, address) = (browser.evaluate(shown), place(&browser));
    let state = "return [...document.querySelectorAll('th')].map(head => head.getAttribute('aria-sort')).find(way => way && way !== 'none')";
    let way = browser.evaluate(state);
    assert!(way.is_string() && address.contains("17"), "{address}");

    // In another tab the same address shows the same; following a link and coming back does, too.
    browser.open(&root.join("index.html"));
    browser.open_address(&address);
    assert_eq!(
        (browser.evaluate(shown), browser.evaluate(state)),
        (sorted.clone(), way.clone())
    );
    browser.evaluate("document.querySelector('nav a, header a').click()");
    assert_ne!(place(&browser), address);
    browser.back();
    assert_eq!(place(&browser), address);
    assert_eq!(
        (browser.evaluate(shown), browser.evaluate(state)),
        (sorted, way)
    );
}

/// On paper there is nothing to open or to scroll: what is folded or wide is printed whole.
#[test]
fn pages_are_printed_whole() {
    needs!("chromium", "chromedriver", "pdftotext");
    let (project, kinds) = built();
    let root = root(&project);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let browser = Browser::start();
    for kind in [
        "index.html",
        "suites/*/index.html",
        "compare/*/pair.html",
        "cost.html",
    ] {
        let page = kinds[kind].last().expect("a page");
        let printed = folder.path().join("page.pdf");
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
                folder.path().join("profile").display()
            ))
            .arg(format!("--print-to-pdf={}", printed.display()))
            .arg(file_url(&root, page)));
        let text = run(Command::new("pdftotext").arg("-raw").arg(&printed).arg("-"));
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let paper = squeezed(&text);
        browser.open(&root.join(page));
        // The last column is the first to be cut; what is folded is the first to be forgotten. A column that the reader has not chosen is
        // neither on the screen nor on paper.
        let wanted = browser.evaluate(
            "document.querySelectorAll('details').forEach(one => { one.open = true; });
            return [...document.querySelectorAll('main tr > :last-child, main details p, main details td')]
                .filter(one => !one.hidden && !one.closest('.unseen')).map(one => one.innerText).filter(text => /^[\\x20-\\x7e]+$/.test(text) && text.length < 60)",
        );
        let wanted = wanted.as_array().expect("a list");
        assert!(!wanted.is_empty(), "{page} has no table");
        for text in wanted {
            let text = text.as_str().expect("a text");
            assert!(
                paper.contains(&squeezed(text)),
                "{page}: `{text}` is not on paper"
            );
        }
    }
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// At 400 % a window of 1280 pixels has 320, which the pages fit: here the text alone is twice as large.
#[test]
fn large_letters_fit() {
    needs!("chromium", "chromedriver");
    let (project, kinds) = built();
    let root = root(&project);
    let browser = Browser::start();
    browser.resize(640, 900);
    for page in kinds.values().filter_map(|pages| pages.first()) {
        browser.open(&root.join(page));
        let overflow = browser.evaluate(
            "document.documentElement.style.fontSize = '200%';
            return document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert_eq!(overflow, 0, "{}", Path::new(page).display());
    }
}
