//! The item matrix and the pages of items: right, within their budgets, and the same in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::browser::Browser;
use crate::programs::Start as _;
use crate::support::{Project, lines, question, result};

const ARMS: usize = 8;
const ITEMS: usize = 2_000;

/// Eight arms, one run each, at two thousand questions: harder ones later, better arms first. Question 7 is never passed, question 8
/// always, and question 9 only by the weak.
fn large() -> Project {
    let project = Project::new();
    for arm in 0..ARMS {
        let id = format!("run-of-arm-{arm}-0123456789abcdef");
        project.result(&result(
            &id,
            "many",
            &format!("arm-{arm}"),
            json!({"timestamp": format!("2026-01-0{}T00:00:00Z", arm + 1)}),
        ));
        let passes = |item: usize| match item {
            7 => false,
            8 => true,
            9 => arm >= 5,
            // A fixed scatter around what the arm and the item are good for.
            item => (item * 7_919 + arm * 104_729) % 1_000 + 90 * arm + item / 8 < 900,
        };
        let outcome = |item: usize| {
            question(
                &format!("question number {item:04}"),
                1,
                if passes(item) { "pass" } else { "fail" },
            )
        };
        project.file(
            &format!("results/{id}/items.jsonl"),
            lines((0..ITEMS).map(outcome)),
        );
    }
    let output = project.run(["build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    project
}

fn pages_below(project: &Project, folder: &str) -> BTreeMap<String, String> {
    let pages = project.files(folder).into_iter().filter(|path| {
        Path::new(path)
            .extension()
            .is_some_and(|extension| extension == "html")
    });
    pages
        .map(|path| (path.clone(), project.read(&path)))
        .collect()
}

/// Elements of a page, counted by their start tags.
fn nodes(page: &str) -> usize {
    page.match_indices('<')
        .filter(|(place, _)| {
            page[place + 1..].starts_with(|letter: char| letter.is_ascii_alphabetic())
        })
        .count()
}

fn verify(site: &Path) -> (i32, String) {
    let program = std::fs::read_to_string(site.join("verify_site.py")).expect("the site has it");
    assert!(
        program.lines().count() <= 560,
        "somebody is to read it before trusting it"
    );
    let output = std::process::Command::new("python3")
        .arg(site.join("verify_site.py"))
        .finish();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

#[test]
fn a_large_matrix_keeps_its_budgets_and_says_which_items_are_odd() {
    needs!("python3");
    let project = large();
    let matrix = pages_below(&project, "site/suites/many/items");
    let items = pages_below(&project, "site/suites/many/i");
    assert_eq!(items.len(), ITEMS / 10);
    assert!(
        (20..80).contains(&matrix.len()),
        "{} pages of the matrix",
        matrix.len()
    );
    for (path, page) in matrix.iter().chain(&items) {
        assert!(page.len() <= 150 * 1024, "{path} has {} bytes", page.len());
        assert!(nodes(page) <= 8_000, "{path} has {} elements", nodes(page));
    }
    // Every item stands on one page by name and has one place among the item pages.
    let by_name: Vec<&String> = matrix
        .iter()
        .filter(|(path, _)| path.ends_with("/index.html") || path.contains("/p0"))
        .map(|(_, page)| page)
        .collect();
    let listed: usize = by_name
        .iter()
        .map(|page| page.matches("<th scope=\"row\"><a href=\"../i/").count())
        .sum();
    assert_eq!(listed, ITEMS);
    let anchors: BTreeSet<&str> = items
        .values()
        .flat_map(|page| {
            page.split("<h2 id=\"")
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
        })
        .collect();
    assert_eq!(anchors.len(), ITEMS);
    // The orders begin with what they ask for.
    let first = |order: &str| {
        let page = &matrix[&format!("site/suites/many/items/{order}.html")];
        let table = page
            .split("<table id=\"matrix\"")
            .nth(1)
            .unwrap_or_default();
        table
            .split("<th scope=\"row\">")
            .nth(1)
            .and_then(|row| row.split("</tr>").next())
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        first("suspect").contains("question number 0009")
            && first("suspect").contains("against the rest"),
        "{}",
        first("suspect")
    );
    assert!(
        first("hardest").contains("0 of 8") && first("hardest").contains("never solved"),
        "{}",
        first("hardest")
    );
    let page = &items["site/suites/many/i/0001.html"];
    for text in [
        "against the rest",
        "never solved",
        "always solved",
        "3 of 8 outcomes",
        "0 of 8 outcomes",
        "8 of 8 outcomes",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Cells and outcomes lead to the runs, and runs to the items.
    assert!(page.contains("href=\"../../../runs/run-of-arm-0-0123456789abcdef/index.html\""));
    let run = project.read("site/runs/run-of-arm-0-0123456789abcdef/index.html");
    assert!(run.contains("href=\"../../suites/many/i/0001.html#i-question-number-0007\""));
    let suite = project.read("site/suites/many/index.html");
    for text in [
        "items/index.html",
        "items/hardest.html",
        "items/suspect.html",
        "i/0001.html#i-question-number-0009",
    ] {
        assert!(suite.contains(text), "{text}");
    }
    // However many items there are, the map has all arms by name and all items, several in a column.
    let index = &matrix["site/suites/many/items/index.html"];
    let map = index
        .split("<table id=\"map\"")
        .nth(1)
        .and_then(|rest| rest.split("</table>").next())
        .expect("a map");
    assert_eq!(map.matches("<tr>").count(), 8, "{map}");
    assert!(
        map.contains("<bdi>arm-7</bdi></a>") && map.contains("(7 items)"),
        "{map}"
    );
    assert!(
        index.contains("A column is 7 items. Mixed shade: several outcomes.")
            && !index.contains("<img")
    );
    assert!(index.contains(">2,000 questions: ") && index.contains(" never passed, "));
    let (code, said) = verify(&project.path("site"));
    assert!(
        code == 0
            && said.contains("2000 of rate of an item")
            && said.contains("of correlation of an item"),
        "{said}"
    );
}

#[test]
fn a_changed_cell_of_an_item_is_found() {
    needs!("python3");
    let project = small();
    let path = "site/data/items/s.json";
    let text = project.read(path);
    assert!(text.contains("\"passed\": 2"), "{text}");
    let changed = text.replacen("\"rate\": 0.5", "\"rate\": 0.625", 1);
    assert_ne!(changed, text);
    project.file(path, changed);
    let (code, said) = verify(&project.path("site"));
    assert_eq!(code, 1);
    assert!(
        said.contains("data/items/s.json: its bytes are not")
            && said.contains("rate of an item is stated as 0.625"),
        "{said}"
    );
}

/// Ids that a file system, a browser or a person could mistake for one another or for something else.
fn ids() -> Vec<String> {
    let ids = [
        "../../x",
        "con",
        "CON",
        "same",
        "Same",
        "__proto__",
        "</script><script>window.pwned=1</script>",
        "<img src=x onerror=window.pwned=1>",
        "\"><svg onload=window.pwned=1>",
        "javascript:window.pwned=1 \u{202e} evil \u{1b}]8;;x {{7*7}} \u{2028}",
        "",
        "漢字",
    ];
    ids.into_iter()
        .map(str::to_owned)
        .chain(["n".repeat(300), "n".repeat(299) + "N"])
        .collect()
}

/// Two arms with two runs each at hostile items, whose answers and reasons are hostile too.
fn small() -> Project {
    let project = Project::new();
    for (run, approach) in [
        ("a1", "first"),
        ("a2", "first"),
        ("b1", "second"),
        ("b2", "second"),
    ] {
        project.result(&result(run, "s", approach, json!({})));
        let outcome = |(number, id): (usize, &String)| {
            let mut item = question(
                id,
                1,
                if (number + run.len() + approach.len()) % 2 == 0 {
                    "pass"
                } else {
                    "fail"
                },
            );
            item["details"] = json!({
                "answer": ids()[(number + 6) % ids().len()],
                "reason": format!("{} {}", ids()[7], "<&>\"'".repeat(200)),
                "expected": [ids()[8]],
                "category": ids()[9],
            });
            item
        };
        project.items(
            run,
            &ids().iter().enumerate().map(outcome).collect::<Vec<_>>(),
        );
    }
    let output = project.run(["build"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    project
}

#[test]
fn hostile_items_have_addresses_of_their_own_and_stay_text() {
    let project = small();
    let pages = pages_below(&project, "site/suites/s/i");
    let anchors: Vec<&str> = pages
        .values()
        .flat_map(|page| {
            page.split("<h2 id=\"")
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
        })
        .collect();
    assert_eq!(anchors.len(), ids().len());
    let distinct: BTreeSet<String> = anchors
        .iter()
        .map(|anchor| anchor.to_ascii_lowercase())
        .collect();
    assert_eq!(distinct.len(), ids().len(), "{anchors:?}");
    for anchor in anchors {
        assert!(anchor.starts_with("i-") && anchor.len() <= 80, "{anchor}");
        assert!(
            anchor.bytes().all(|byte| byte.is_ascii_lowercase()
                || byte.is_ascii_digit()
                || b"-_.".contains(&byte)),
            "{anchor}"
        );
    }
    for (path, page) in pages_below(&project, "site") {
        for raw in [
            "<script>window",
            "<img src=x",
            "<svg onload",
            "\u{202e}",
            "\u{1b}",
        ] {
            assert!(!page.contains(raw), "{path} has {raw:?}");
        }
        assert!(page.len() <= 150 * 1024, "{path} has {} bytes", page.len());
    }
    let page = pages.values().next().expect("a page");
    for text in [
        "Answers and reasons",
        "&#60;img src=x onerror=window.pwned=1&#62;",
        "2 times",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn item_pages_are_right_in_a_browser() {
    needs!("chromium", "chromedriver");
    let (small, large) = (small(), large());
    let browser = Browser::start();
    let pages = [
        (&small, "site/suites/s/items/index.html"),
        (&small, "site/suites/s/items/suspect.html"),
        (&small, "site/suites/s/i/0001.html"),
        (&small, "site/suites/s/i/0002.html"),
        (&small, "site/suites/s/index.html"),
        (&large, "site/suites/many/items/index.html"),
        (&large, "site/suites/many/items/p0002.html"),
        (&large, "site/suites/many/items/hardest.html"),
        (&large, "site/suites/many/i/0001.html"),
    ];
    for (project, page) in pages {
        for (width, dark) in [(1280, false), (320, true)] {
            browser.resize(width, 900);
            browser.prefer_dark(dark);
            browser.open(&project.path(page));
            let told = format!("{page} at {width} px");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{told}");
            let overflow = browser.evaluate("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(overflow, 0, "{told} overflows by so many pixels");
            assert_eq!(
                browser.evaluate("return typeof window.pwned"),
                "undefined",
                "{told}"
            );
            assert_eq!(
                browser.evaluate("return [...document.images].every(image => image.complete && image.naturalWidth > 0 && image.alt)"),
                true,
                "{told}"
            );
            let nodes = browser
                .evaluate("return document.getElementsByTagName('*').length")
                .as_u64();
            assert!(
                nodes.is_some_and(|nodes| nodes <= 8_000),
                "{told}: {nodes:?} elements"
            );
        }
    }
    // A word that answers a question filters the page, and the address keeps it.
    browser.resize(1280, 900);
    browser.open(&large.path("site/suites/many/items/index.html"));
    let chip = "const chip = [...document.querySelectorAll('.tools button')].find(button => button.textContent.startsWith('against the rest')); \
                chip.click(); return [document.querySelectorAll('#matrix tbody tr:not([hidden])').length, location.hash]";
    let found = browser.evaluate(chip);
    let shown = found[0].as_u64().unwrap_or_default();
    assert!(
        (1..20).contains(&shown) && found[1] == "#f.matrix=against%20the%20rest",
        "{found}"
    );
    // Each cell is heard as a word, whatever its colour.
    let words = browser
        .evaluate("return [...new Set([...document.querySelectorAll('#matrix td a i')].map(word => word.textContent.trim()))].sort()");
    assert_eq!(words, json!(["not passed", "passed"]));
    // An item's address leads to the item.
    let href = browser.evaluate("return document.querySelector('#matrix tbody a').href");
    browser.evaluate("document.querySelector('#matrix tbody a').click()");
    let target =
        browser.evaluate("return [location.href, document.querySelector(':target').tagName]");
    assert_eq!(target, json!([href, "H2"]));
}

#[test]
fn a_new_run_keeps_the_addresses_of_items() {
    let project = small();
    let before = pages_below(&project, "site/suites/s/i");
    project.result(&result("c1", "s", "third", json!({})));
    project.items(
        "c1",
        &ids()
            .iter()
            .map(|id| question(id, 1, "pass"))
            .collect::<Vec<_>>(),
    );
    assert_eq!(project.run(["build"]).code, 0);
    let grown = pages_below(&project, "site");
    let clean = Project::new();
    for path in project.files("results") {
        clean.bytes(
            &path,
            &fs::read(project.path(&path)).expect("a stored file"),
        );
    }
    assert_eq!(clean.run(["build"]).code, 0);
    assert_eq!(grown, pages_below(&clean, "site"), "as built anew");
    for (path, page) in &before {
        for anchor in page
            .split("<h2 id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            assert!(
                grown[path].contains(&format!("<h2 id=\"{anchor}\"")),
                "{path}#{anchor} is gone"
            );
        }
    }
}

#[test]
fn the_map_is_read_with_the_keys_and_leads_to_the_items() {
    needs!("chromium", "chromedriver");
    let project = Project::new();
    let ends = |arm: usize, item: usize| {
        if (item * 7 + arm * 5) % 12 < 3 + 3 * arm {
            "pass"
        } else {
            "fail"
        }
    };
    for (arm, name) in ["weak", "middle", "strong"].into_iter().enumerate() {
        project.result(&result(name, "s", name, json!({})));
        project.items(
            name,
            &(0..60)
                .map(|item| question(&format!("q{item:02}"), 1, ends(arm, item)))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(project.run(["build"]).code, 0);
    let page = project.path("site/suites/s/items/index.html");
    let browser = Browser::start();
    browser.open(&page);
    let drawn = "const rows = [...document.querySelectorAll('#map tbody tr')];
        return [rows.map(row => row.cells[0].textContent), document.querySelectorAll('#map-box [tabindex], #map-box a').length,
            rows.slice(1).every(row => row.cells[1].getAttribute('data-cells').length === 60)]";
    assert_eq!(
        browser.evaluate(drawn),
        json!([["All arms", "strong", "middle", "weak"], 3, true])
    );
    // The easiest item is at the left, and its outcome by the leader is read out.
    let key = |name: &str| {
        let press = format!(
            "const box = document.getElementById('map-box'); box.focus();
             box.dispatchEvent(new KeyboardEvent('keydown', {{key: '{name}', bubbles: true}}));
             return document.getElementById('map-read').textContent"
        );
        browser
            .evaluate(&press)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let home = key("Home");
    assert!(home.contains(", strong: passed. All arms: "), "{home}");
    let last = key("End");
    assert!(
        last.contains(", strong: ") && last != key("ArrowLeft"),
        "{last}"
    );
    assert!(key("ArrowDown").contains(", middle: "));
    // What a colour says is said by the word as well, and the cell leads to its item.
    let name = key("End").split(',').next().unwrap_or_default().to_owned();
    key("Enter");
    let arrived = format!("return location.hash === '#i-{name}'");
    let started = std::time::Instant::now();
    while browser.evaluate(&arrived) != true && started.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(browser.evaluate(&arrived), true, "{name}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
