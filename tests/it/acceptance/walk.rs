//! Ten questions of a reader, each answered at most two pages from the overview.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::kept;

/// A question, the links that lead from the overview to its answer, and the words that the answer has there. What is clicked is the first
/// visible element that matches; boxes that are ticked on the way load no page.
const QUESTIONS: [(&str, &[&str], &str); 10] = [
    ("who wins", &[], "wins"),
    (
        "is it evidence",
        &["#suites a[href*='compare/mmlu-pro-business/']"],
        "95% CI",
    ),
    (
        "what does it cost",
        &["nav a[href='cost.html']"],
        "per solved",
    ),
    (
        "what changed last night",
        &[".changed a[href*='history']"],
        "nights before",
    ),
    (
        "why did B lose an item",
        &[
            "#suites a[href*='compare/basics/']",
            "main a[href*='/i/00']",
        ],
        "Reason",
    ),
    (
        "how do these two of 69 compare",
        &[
            "#suites a[href='suites/aider-polyglot/index.html']",
            ".ticks a[href*='any.html']",
        ],
        "Newcombe",
    ),
    (
        "which category is weakest",
        &[
            "#suites a[href='suites/basics/index.html']",
            "main a[href*='categories']",
        ],
        "Accuracy in % by arm and category",
    ),
    (
        "what did the agent say",
        &["#suites a[href*='compare/basics/']", "main a[href*='/t/']"],
        "reply",
    ),
    (
        "how was it computed",
        &["footer a[href$='method.html']"],
        "Wilson",
    ),
    (
        "give me the numbers",
        &["footer a[href$='leaderboard.json']"],
        "evalreport/leaderboard/",
    ),
];

#[test]
fn ten_questions_are_answered_within_two_pages() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped()
        .path("site")
        .canonicalize()
        .expect("just built");
    let browser = Browser::start();
    browser.resize(1440, 900);
    let mut lost = Vec::new();
    for (question, links, words) in QUESTIONS {
        browser.open(&site.join("index.html"));
        for link in links {
            if link.starts_with(".ticks") {
                browser.evaluate(
                    "document.querySelectorAll('#arms input.tick').forEach((box, at) => { if (at === 5 || at === 40) box.click(); })",
                );
            }
            let found = browser.evaluate(&format!(
                "const links = [...document.querySelectorAll({})].filter(one => one.checkVisibility());
                document.querySelectorAll('details').forEach(one => {{ if (one.contains(links[0])) one.open = true; }});
                return links.length ? links[0].href : null;",
                json!(link)
            ));
            let Value::String(address) = found else {
                lost.push(format!(
                    "{question}: no {link} on {}",
                    browser.evaluate("return location.href")
                ));
                break;
            };
            browser.open_address(&address);
        }
        let said = browser.evaluate(
            "return new Promise(done => setTimeout(() => {
                document.querySelectorAll('details').forEach(one => { one.open = true; });
                done(document.body.innerText);
            }, 300));",
        );
        if !said
            .as_str()
            .is_some_and(|said| said.to_lowercase().contains(&words.to_lowercase()))
        {
            lost.push(format!(
                "{question}: {} does not say {words}",
                browser.evaluate("return location.href")
            ));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}
