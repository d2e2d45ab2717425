//! Sites of stores that load and are odd: nobody has seen such runs, and no page fails on them or shows a number that is none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::acceptance::HOSTILE;
use crate::browser::Browser;
use crate::support::{Project, result};

/// Bounds of what a record may hold: an amount, and a figure.
const AMOUNTS: [f64; 4] = [1e-30, 0.0, 1e9, 1.0];
const FIGURES: [f64; 4] = [-1e60, 1e-60, 1e60, 0.0];

/// Adds runs to a store, each with a number of its own.
struct Runs<'a> {
    project: &'a Project,
    next: usize,
}

impl Runs<'_> {
    fn add(&mut self, suite: &str, approach: &str, fields: Value, items: &[Value]) {
        let id = format!("run-{:03}", self.next);
        self.next += 1;
        let mut run = result(
            &id,
            suite,
            approach,
            json!({"timestamp": format!("2026-03-{:02}T00:00:00Z", 1 + self.next % 28)}),
        );
        let Value::Object(fields) = fields else {
            unreachable!("the fields are an object")
        };
        run.as_object_mut()
            .expect("a result is an object")
            .extend(fields);
        self.project.result(&run);
        if !items.is_empty() {
            self.project.items(&id, items);
        }
    }
}

fn item(name: &str, kind: &str, evaluator: &str, status: &str) -> Value {
    json!({"item": name, "kind": kind, "evaluator": evaluator, "status": status})
}

/// Outcomes of questions, of which each arm fails others.
fn outcomes(arm: usize, names: std::ops::Range<usize>, evaluator: &str) -> Vec<Value> {
    names
        .map(|name| {
            item(
                &format!("q{name}"),
                "question",
                evaluator,
                if (name * 5 + arm).is_multiple_of(3) {
                    "fail"
                } else {
                    "pass"
                },
            )
        })
        .collect()
}

/// Each is a suite of one store. Three arms or more have a page for any two of them.
fn many_suites(project: &Project) {
    let mut runs = Runs { project, next: 0 };
    let counts = |passed: u64, total: u64| json!({"shared_tests_passed": passed, "shared_tests_total": total});
    // An evaluator that other arms lack, on the same items, on others and on more.
    for (suite, evaluators, from) in [
        ("lacking", vec!["x", "x", "answers"], [0, 0, 0, 0]),
        (
            "other names",
            vec!["x", "x", "answers", "answers"],
            [3, 3, 0, 0],
        ),
        ("overlapping", vec!["b", "a", "c", "a"], [0, 2, 4, 5]),
    ] {
        for (arm, evaluator) in evaluators.into_iter().enumerate() {
            runs.add(
                suite,
                ["a", "b", "c", "d"][arm],
                json!({}),
                &outcomes(arm, from[arm]..from[arm] + 6, evaluator),
            );
        }
    }
    for arm in 0..4 {
        let name = ["a", "b", "c", "d"][arm];
        // One evaluator's name for items of two kinds, and two evaluators of which one is missing for some items.
        let shared: Vec<Value> = ["question", "test"]
            .map(|kind| {
                item(
                    "same",
                    kind,
                    "x",
                    if arm % 2 == 0 { "pass" } else { "fail" },
                )
            })
            .to_vec();
        runs.add("one name two kinds", name, json!({}), &shared);
        let several: Vec<Value> = outcomes(arm, 0..6, "x")
            .into_iter()
            .chain(outcomes(arm + 1, arm..5, "y"))
            .chain(outcomes(arm, 0..2, "person:p"))
            .collect();
        runs.add("several evaluators", name, json!({}), &several);
        runs.add("one item", name, json!({}), &outcomes(arm, 0..1, "x"));
        runs.add("nothing", name, json!({}), &[]);
        runs.add("no tests", name, counts(0, 0), &[]);
        runs.add("some without tests", name, counts(0, arm as u64), &[]);
        runs.add(
            "all tests there are",
            name,
            counts(1_000_000_000 - arm as u64, 1_000_000_000),
            &[],
        );
        for status in ["failed", "infra", "timeout", "limit"] {
            runs.add(
                &format!("only {status}"),
                name,
                json!({"status": status, "error": "it ended"}),
                &[],
            );
            let judged = outcomes(arm, 0..3, "x");
            runs.add(
                &format!("{status} with items"),
                name,
                json!({"status": status, "error": "it ended"}),
                if arm < 2 { &judged } else { &[] },
            );
        }
        for status in ["infra", "error", "skip"] {
            let all: Vec<Value> = (0..4)
                .map(|number| {
                    item(
                        &format!("q{number}"),
                        "question",
                        "x",
                        if arm == 3 { "pass" } else { status },
                    )
                })
                .collect();
            runs.add(&format!("items that are {status}"), name, json!({}), &all);
        }
        let attempts: Vec<Value> = [1_u32, 2, 3, 70_000, u32::MAX]
            .iter()
            .map(|attempt| {
                let mut line = item(
                    "q0",
                    "question",
                    "x",
                    if attempt.wrapping_add(u32::try_from(arm).expect("four")) % 2 == 0 {
                        "pass"
                    } else {
                        "fail"
                    },
                );
                line["attempt"] = json!(attempt);
                line
            })
            .collect();
        runs.add("attempts", name, json!({}), &attempts);
        let grouped: Vec<Value> = outcomes(arm, 0..6, "x")
            .into_iter()
            .map(|mut line| {
                line["cluster"] = json!("all of them");
                line["category"] = json!(HOSTILE[arm]);
                line
            })
            .collect();
        runs.add("one cluster", name, json!({}), &grouped);
        // Every name is odd: no path, no address, no element may be made of it as it is.
        let odd: Vec<Value> = HOSTILE
            .iter()
            .map(|text| {
                item(
                    text,
                    "criterion",
                    HOSTILE[arm],
                    if arm == 0 { "pass" } else { "fail" },
                )
            })
            .collect();
        runs.add(
            HOSTILE[1],
            HOSTILE[arm + 2],
            json!({"model": HOSTILE[arm]}),
            &odd,
        );
        let long = format!("{}{arm}", "long".repeat(1_200));
        runs.add(
            &"suite".repeat(900),
            &long,
            json!({"model": ""}),
            &[
                item(&long, "question", &long, "pass"),
                item("x", "question", &long, "fail"),
            ],
        );
        let time = [
            "0001-01-02T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "1969-12-31",
            "2026-02-28T23:59:59.999999999Z",
        ][arm];
        runs.add("times", name, json!({"timestamp": time}), &[]);
    }
    for arm in 0..2 {
        runs.add(
            "two arms",
            ["a", "b"][arm],
            json!({}),
            &outcomes(arm, 0..5, "x"),
        );
        runs.add(
            "two arms with counts",
            ["a", "b"][arm],
            counts(arm as u64, 1),
            &[],
        );
    }
    runs.add("one arm", "a", json!({}), &outcomes(0, 0..5, "x"));
    runs.add("one arm of counts", "a", counts(1, 1), &[]);
    amounts(&mut runs);
}

/// Amounts, figures and counts at their bounds, by run and by item, the same for all arms and different ones.
fn amounts(runs: &mut Runs<'_>) {
    for shift in 0..4 {
        for (suite, is_same) in [("amounts", false), ("same amounts", true)] {
            let suite = format!("{suite} {shift}");
            for arm in 0..4_usize {
                for round in 0..3_usize {
                    let place = if is_same { shift } else { (arm + shift) % 4 };
                    let (amount, figure) = (AMOUNTS[place], FIGURES[place]);
                    let tokens = [0, 1, 10_000_000_000_000_u64][place % 3];
                    let score = |metric: &str, unit: &str, value: f64| json!({"metric": metric, "value": value, "unit": unit, "direction": "up"});
                    let fields = json!({
                        "cost_usd": amount, "duration_seconds": amount, "input_tokens": tokens,
                        "output_tokens": 10_000_000_000_000_u64, "turns": 10_000_000_000_000_u64, "total_calls": 0,
                        "shared_tests_passed": 10 + arm + round, "shared_tests_total": 20,
                        "scores": [score("z", "points", figure), score("wait", "seconds", amount), score("share", "fraction", amount.min(1.0))],
                        "stated": [{"name": "claimed", "value": figure, "unit": "points", "recomputed": FIGURES[arm]}],
                    });
                    runs.add(&suite, ["a", "b", "c", "d"][arm], fields, &[]);
                }
                let items: Vec<Value> = outcomes(arm, 0..8, "x")
                    .into_iter()
                    .enumerate()
                    .map(|(number, mut line)| {
                        let place = if is_same {
                            shift
                        } else {
                            (arm + shift + number) % 4
                        };
                        line["cost_usd"] = json!(AMOUNTS[place]);
                        line["duration_seconds"] = json!(AMOUNTS[place]);
                        line["score"] = json!(FIGURES[place]);
                        line["input_tokens"] = json!(10_000_000_000_000_u64);
                        line
                    })
                    .collect();
                for _ in 0..2 {
                    runs.add(
                        &format!("{suite} of items"),
                        ["a", "b", "c", "d"][arm],
                        json!({}),
                        &items,
                    );
                }
            }
        }
    }
}

/// Stores of which a whole site has little to say.
fn small_stores() -> Vec<Project> {
    let of = |fill: &dyn Fn(&mut Runs<'_>)| {
        let project = Project::new();
        fill(&mut Runs {
            project: &project,
            next: 0,
        });
        project
    };
    vec![
        of(&|runs| runs.add("s", "a", json!({"status": "failed", "error": "x"}), &[])),
        of(&|runs| runs.add("s", "a", json!({"status": "infra", "error": "x"}), &[])),
        of(&|runs| runs.add("s", "a", json!({}), &[])),
        of(&|runs| runs.add("s", "a", json!({}), &outcomes(0, 0..1, "x"))),
        of(&|runs| {
            (0..3).for_each(|arm| {
                runs.add(
                    "s",
                    ["a", "b", "c"][arm],
                    json!({"status": "infra", "error": "x"}),
                    &outcomes(arm, 0..2, "x"),
                );
            });
        }),
    ]
}

/// Words that stand for no number, where a number or a text should be.
const NONE: [&str; 6] = [
    "NaN",
    "Infinity",
    "undefined",
    "inf",
    "[object Object]",
    "-nan",
];

/// Returns the words for no number in a text, each with what is around it.
fn absurd(text: &str) -> Vec<String> {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let mut found = Vec::new();
    for word in NONE {
        for (place, _) in text.match_indices(word) {
            let before = text[..place]
                .chars()
                .next_back()
                .is_some_and(|last| is_part(last) && last != '-');
            let after = text[place + word.len()..]
                .chars()
                .next()
                .is_some_and(is_part);
            if !before && !after {
                let start = text[..place]
                    .char_indices()
                    .rev()
                    .take(50)
                    .last()
                    .map_or(0, |(start, _)| start);
                let end = text[place..]
                    .char_indices()
                    .nth(40)
                    .map_or(text.len(), |(end, _)| place + end);
                found.push(text[start..end].to_owned());
            }
        }
    }
    found
}

/// Pages to open: of each folder a few items and runs, and everything else.
fn pages(project: &Project) -> Vec<String> {
    const OF_A_KIND: usize = 2;
    let mut seen = BTreeMap::<String, usize>::new();
    let mut pages = Vec::new();
    for path in project.files("site") {
        let page = path.trim_start_matches("site/").to_owned();
        if Path::new(&page)
            .extension()
            .is_none_or(|extension| extension != "html")
        {
            continue;
        }
        let parts: Vec<&str> = page.split('/').collect();
        let kind = match parts.as_slice() {
            ["runs", _, ..] if parts.len() > 2 => None,
            ["suites", suite, "i", ..] => Some(format!("item of {suite}")),
            ["suites", suite, "criteria", ..] => Some(format!("criterion of {suite}")),
            ["compare", suite, name] if name.contains("--") => Some(format!("pair of {suite}")),
            ["arms", name] if *name != "index.html" => Some("arm".to_owned()),
            ["embed", ..] => Some("embed".to_owned()),
            _ => Some(page.clone()),
        };
        // Of runs, every eighth is opened: the stores have several of each kind.
        let count = seen
            .entry(kind.clone().unwrap_or_else(|| "run".to_owned()))
            .or_default();
        *count += 1;
        if kind.map_or(*count % 8 == 1, |_| *count <= OF_A_KIND) {
            pages.push(page);
        }
    }
    pages
}

/// Waits for the names of the items that differ, and says whether they came.
const NAMED: &str = "return new Promise(done => {
    const start = Date.now(), ask = () => {
        const is_named = ![...document.querySelectorAll('#any li')].some(one => one.innerText.startsWith('item '));
        if (is_named || Date.now() - start > 5000) done(is_named); else setTimeout(ask, 20);
    };
    ask();
})";

#[track_caller]
fn holds(browser: &Browser, project: &Project) -> BTreeSet<String> {
    let output = project.run(["build", "--out", "site", "--quiet"]);
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (0, ""),
        "every run loads"
    );
    let mut found = Vec::new();
    for path in project.files("site") {
        let is_prose = path.ends_with("method.html") || path.ends_with("glossary.html");
        let is_text = Path::new(&path).extension().is_some_and(|kind| {
            ["html", "svg", "json", "csv", "md", "xml"]
                .iter()
                .any(|text| kind == *text)
        });
        if is_text && !is_prose {
            let text = String::from_utf8(fs::read(project.path(&path)).expect("just listed"))
                .expect("UTF-8");
            found.extend(
                absurd(&text)
                    .into_iter()
                    .take(3)
                    .map(|what| format!("{path}: {what}")),
            );
        }
    }
    let root = project.path("site").canonicalize().expect("just built");
    let mut opened = BTreeSet::new();
    let mut look = |page: &str, query: &str| {
        browser.open_address(&format!("file://{}/{page}{query}", root.display()));
        // Names of items come after the list; without them, it has numbers.
        let is_named = query.is_empty() || browser.evaluate(NAMED) == true;
        let mut tell = |what: String| found.push(format!("{page}{query}: {what}"));
        browser.complaints().into_iter().for_each(&mut tell);
        if !is_named {
            tell("items without names".to_owned());
        }
        let shown = browser.evaluate(
            "return [document.documentElement.scrollWidth - document.documentElement.clientWidth, document.body.innerText,
                [...document.querySelectorAll('svg *')].flatMap(one => [...one.attributes]).map(one => one.value).join('\\n')]",
        );
        if shown[0] != 0 {
            tell(format!("{} pixels too wide", shown[0]));
        }
        for text in [&shown[1], &shown[2]] {
            absurd(text.as_str().unwrap_or_default())
                .into_iter()
                .take(3)
                .for_each(&mut tell);
        }
    };
    for page in pages(project) {
        look(&page, "");
        if page.ends_with("/any.html") {
            let arms = browser.evaluate(
                "return [...document.querySelectorAll('#any-a option')].map(one => one.value)",
            );
            let arms: Vec<&str> = arms
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            assert!(arms.len() > 2, "{page}: {arms:?}");
            for a in &arms {
                // Of suites that differ in amounts alone, one pair.
                let is_like_another = page.contains("amounts");
                for b in arms.iter().filter(|b| *b > a).take(if is_like_another {
                    usize::from(a == &arms[0])
                } else {
                    arms.len()
                }) {
                    look(&page, &format!("?a={a}&b={b}"));
                }
            }
        }
        opened.insert(page);
    }
    assert!(
        found.is_empty(),
        "{} findings:\n{}",
        found.len(),
        found.join("\n")
    );
    opened
}

#[test]
fn no_page_of_an_odd_store_fails_or_shows_a_number_that_is_none() {
    needs!("chromium", "chromedriver");
    let browser = Browser::start();
    browser.resize(1280, 900);
    for project in small_stores() {
        holds(&browser, &project);
    }
    let project = Project::new();
    many_suites(&project);
    let opened = holds(&browser, &project);
    let any = opened
        .iter()
        .filter(|page| page.ends_with("/any.html"))
        .count();
    assert!(
        any >= 20 && opened.len() >= 200,
        "{any} of {}",
        opened.len()
    );
}

/// Two arms with an evaluator that the third lacks: their items are named after the items, and not after other columns.
#[test]
fn any_two_arms_name_the_items_that_differ() {
    needs!("chromium", "chromedriver");
    let project = Project::new();
    let mut runs = Runs {
        project: &project,
        next: 0,
    };
    // The columns of `x` come after those of `answers`, and are of other items.
    for (arm, passed) in [("a", [4, 7]), ("b", [5, 8])] {
        let items: Vec<Value> = (3..9)
            .map(|name| {
                item(
                    &format!("q{name}"),
                    "question",
                    "x",
                    if passed.contains(&name) {
                        "pass"
                    } else {
                        "fail"
                    },
                )
            })
            .collect();
        runs.add("s", arm, json!({}), &items);
    }
    for arm in ["c", "d"] {
        runs.add("s", arm, json!({}), &outcomes(1, 0..6, "answers"));
    }
    assert_eq!(project.run(["build", "--quiet"]).code, 0);
    let browser = Browser::start();
    let page = project
        .path("site/compare/s/any.html")
        .canonicalize()
        .expect("just built");
    browser.open(&page);
    let arms = browser.evaluate("return [...document.querySelectorAll('#any-a option')].map(one => [one.textContent, one.value])");
    let value = |name: &str| {
        let mut all = arms.as_array().expect("arms").iter();
        all.find(|arm| arm[0].as_str().is_some_and(|text| text.starts_with(name)))
            .expect("an arm")[1]
            .as_str()
            .expect("text")
            .to_owned()
    };
    browser.open_address(&format!(
        "file://{}?a={}&b={}",
        page.display(),
        value("a "),
        value("b ")
    ));
    let listed = browser.evaluate(
        "return new Promise(done => { const ask = () => {
            const all = [...document.querySelectorAll('#any ul li')].map(one => one.innerText.split('\\n')[0]);
            if (all.length && !all[0].startsWith('item ')) done(all); else setTimeout(ask, 50); }; ask(); })",
    );
    let listed: Vec<&str> = listed
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let names: Vec<&str> = listed
        .iter()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names, ["q4", "q5", "q7", "q8"], "{listed:?}");
    assert!(
        listed[0].contains("only a") && listed[1].contains("only b"),
        "{listed:?}"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// What can only be a mistake or an attack is refused by name, and nothing is lost of the other runs.
#[test]
fn numbers_beyond_all_bounds_are_refused() {
    let good = result(
        "good",
        "s",
        "a",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
    );
    for (field, value, words) in [
        (
            "cost_usd",
            "1e300",
            "key `cost_usd` is 1e300; an amount is 0, or from 1e-30 to 1e9",
        ),
        (
            "cost_usd",
            "5e-324",
            "key `cost_usd` is 5e-324; an amount is 0",
        ),
        ("cost_usd", "-0.5", "key `cost_usd` is negative"),
        (
            "duration_seconds",
            "1e13",
            "key `duration_seconds` is 1e13; an amount is 0",
        ),
        (
            "input_tokens",
            "9007199254740992",
            "key `input_tokens` is 9007199254740992; a count is at most 10000000000000",
        ),
        (
            "usage",
            "{\"cache_read\":18446744073709551615}",
            "key `usage.cache_read` is 18446744073709551615; a count is at most",
        ),
        (
            "scores",
            "[{\"metric\":\"m\",\"value\":1e61,\"unit\":\"points\",\"direction\":\"up\"}]",
            "key `scores`: `m` is 1e61; a number is 0",
        ),
        (
            "stated",
            "[{\"name\":\"n\",\"value\":-1e300,\"unit\":\"points\"}]",
            "key `stated`: `n` is -1e300; a number is 0",
        ),
    ] {
        let project = Project::with(std::slice::from_ref(&good));
        project.file(
            "results/bad.json",
            format!("{{\"suite\":\"s\",\"approach\":\"b\",\"model\":\"m\",\"{field}\":{value}}}"),
        );
        let board = project.run(["leaderboard", "--format", "csv"]);
        assert!(
            board.code == 0
                && board.stderr.contains(words)
                && board.stderr.contains("results/bad.json"),
            "{field}: {}",
            board.stderr
        );
        assert_eq!(board.rows().len(), 1, "{}", board.stdout);
    }
    for (field, value) in [
        ("cost_usd", "1e300"),
        ("duration_seconds", "1e13"),
        ("input_tokens", "9007199254740992"),
        ("score", "1e61"),
    ] {
        let project = Project::with(std::slice::from_ref(&good));
        let line = format!(
            "{{\"item\":\"q\",\"kind\":\"question\",\"evaluator\":\"x\",\"status\":\"pass\",\"{field}\":{value}}}\n"
        );
        project.file("results/good/items.jsonl", line);
        let board = project.run(["leaderboard", "--format", "csv"]);
        assert!(
            board
                .stderr
                .contains(&format!("items.jsonl:1: key `{field}` is {value};")),
            "{field}: {}",
            board.stderr
        );
    }
}
