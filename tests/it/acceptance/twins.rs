//! The same numbers wherever they are printed: terminal, Markdown, CSV, JSON and page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use regex::Regex;
use serde_json::Value;

use super::fixture::{ARMS, SUITES, store};
use super::{Project, built};

/// A printed number with half a unit of its last digit.
#[derive(Debug)]
struct Printed {
    value: f64,
    half_unit: f64,
}

/// Returns every number of a text as it is printed: `1,234`, `−0.5`, `.20`.
fn numbers(text: &str) -> Vec<Printed> {
    let number =
        Regex::new(r"([−-])?((?:\d{1,3}(?:,\d{3})+|\d+)?)(\.\d+)?").expect("an expression");
    let printed = |found: regex::Captures<'_>| {
        let (whole, fraction) = (
            found[2].replace(',', ""),
            found.get(3).map_or("", |part| part.as_str()),
        );
        let value: f64 = format!("{whole}{fraction}").parse().ok()?;
        let decimals = i32::try_from(fraction.len().saturating_sub(1)).ok()?;
        Some(Printed {
            value: if found.get(1).is_some() {
                -value
            } else {
                value
            },
            half_unit: 0.5 * 10_f64.powi(-decimals),
        })
    };
    number.captures_iter(text).filter_map(printed).collect()
}

/// Whether a text prints this value, in the digits that it chose.
#[track_caller]
fn assert_says(text: &str, what: &str, value: f64) {
    let said = numbers(text)
        .iter()
        .any(|one| (one.value - value).abs() <= one.half_unit * (1.0 + 1e-9));
    assert!(
        said,
        "{what} is {value}, and nothing of that kind is in: {text}"
    );
}

/// The cells of each line of a table drawn for a terminal, without headings.
fn terminal_rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with('│'));
    let rows = lines.map(|line| {
        line.trim_matches('│')
            .split('│')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    });
    rows.filter(|cells| cells.len() > 1).skip(1).collect()
}

fn markdown_rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &str| {
        let mut cells = vec![String::new()];
        let mut escaped = false;
        for character in line
            .trim()
            .trim_start_matches('|')
            .trim_end_matches('|')
            .chars()
        {
            match (character, escaped) {
                ('\\', false) => escaped = true,
                ('|', false) => cells.push(String::new()),
                (character, _) => {
                    cells.last_mut().expect("never empty").push(character);
                    escaped = false;
                }
            }
        }
        cells
            .into_iter()
            .map(|cell| cell.trim().replace("&gt;", ">").replace("&lt;", "<"))
            .collect::<Vec<_>>()
    };
    lines.skip(2).map(cells).collect()
}

/// The words of a page, as a reader without scripts has them.
fn words(html: &str) -> String {
    let text = Regex::new("<[^>]*>")
        .expect("an expression")
        .replace_all(html, " ")
        .into_owned();
    [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
    ]
    .iter()
    .fold(text, |text, (escaped, plain)| text.replace(escaped, plain))
}

/// Runs the command in a format on a terminal wide enough for one line a row.
fn said(project: &Project, command: &str, suite: &str, format: &str) -> String {
    let output = project.run_in([command, suite, "--format", format], &[("COLUMNS", "2000")]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    output.stdout
}

fn json(project: &Project, command: &str, suite: &str) -> Value {
    serde_json::from_str(&said(project, command, suite, "json")).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_board_says_the_same_everywhere() {
    let (project, _) = built();
    let folders = folders(&project);
    for suite in SUITES {
        let rows = |format: &str| match format {
            "table" => terminal_rows(&said(&project, "leaderboard", suite, format)),
            _ => markdown_rows(&said(&project, "leaderboard", suite, format)),
        };
        let (terminal, markdown) = (rows("table"), rows("markdown"));
        assert_eq!(terminal.len(), ARMS);
        // Hostile names are made harmless in different ways; figures are the same to the letter.
        let figures = |rows: &[Vec<String>]| {
            rows.iter()
                .map(|row| row[3..row.len() - 2].to_vec())
                .collect::<Vec<_>>()
        };
        assert_eq!(figures(&terminal), figures(&markdown), "{suite}");
        let page = project.read(&format!("site/suites/{}/leaderboard.html", folders[suite]));
        let table = page.split("<tbody").nth(1).expect("the board");
        let entries = json(&project, "leaderboard", suite);
        let entries = entries["suites"][0]["entries"].as_array().expect("entries");
        let html: Vec<String> = table
            .split("<tr")
            .skip(1)
            .take(entries.len())
            .map(words)
            .collect();
        for ((entry, printed), html) in entries.iter().zip(&terminal).zip(&html) {
            let printed = printed[3..].join(" | ");
            let rate = &entry["pass_rate"];
            for text in [&printed, html] {
                assert_says(text, "the pass rate", 100.0 * number(&rate["value"]));
                assert_says(
                    text,
                    "its lower end",
                    100.0 * number(&rate["interval"]["low"]),
                );
                assert_says(
                    text,
                    "its upper end",
                    100.0 * number(&rate["interval"]["high"]),
                );
                assert_says(text, "n", number(&rate["n"]));
                assert_says(text, "the number of runs", number(&entry["runs"]));
                assert_says(text, "the cost", number(&entry["cost"]["usd"]));
                assert_says(
                    text,
                    "the cost of a solved item",
                    number(&entry["cost_per_solved_usd"]),
                );
            }
        }
    }
}

#[test]
fn a_pair_says_the_same_everywhere() {
    let (project, _) = built();
    let folders = folders(&project);
    let mut compared = 0;
    for suite in SUITES {
        let (terminal, markdown) = (
            said(&project, "compare", suite, "table"),
            said(&project, "compare", suite, "markdown"),
        );
        let figures = |rows: Vec<Vec<String>>| {
            rows.into_iter()
                .map(|row| row[1..row.len() - 2].to_vec())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            figures(terminal_rows(&terminal)),
            figures(markdown_rows(&markdown)),
            "{suite}"
        );
        for file in project.files(&format!("site/data/compare/{}", folders[suite])) {
            let Some(stem) = file
                .strip_suffix(".json")
                .filter(|stem| stem.contains("--"))
            else {
                continue;
            };
            let data: Value = serde_json::from_str(&project.read(&file)).expect("JSON");
            let page = project.read(&file.replace("/data/", "/").replace(".json", ".html"));
            let main = words(page.split("<main").nth(1).expect("a main part"));
            let of_items = ["Pass rate", "Accuracy"];
            let row = data["comparisons"][0]["rows"]
                .as_array()
                .and_then(|rows| {
                    rows.iter().find(|row| {
                        of_items
                            .iter()
                            .any(|&label| row["metric"]["label"] == label)
                    })
                })
                .unwrap_or_else(|| panic!("{file} has no rate"));
            let pair = &row["evidence"]["pairs"][0];
            let difference = &pair["difference"];
            assert_says(
                &main.replace('−', ""),
                "the difference",
                100.0 * number(&difference["value"]).abs(),
            );
            if difference["interval"].is_object() {
                // The page words a difference from the leader's side.
                let sign = number(&difference["value"]).signum();
                let mut ends = [
                    number(&difference["interval"]["low"]),
                    number(&difference["interval"]["high"]),
                ]
                .map(|end| 100.0 * end);
                if sign < 0.0 {
                    ends = [-ends[1], -ends[0]];
                }
                assert_says(&main, "the lower end", ends[0]);
                assert_says(&main, "the upper end", ends[1]);
            }
            if pair["p_adjusted"].as_f64().is_some_and(|p| p >= 0.01) {
                assert_says(&main, "p", number(&pair["p_adjusted"]));
            }
            pasted(&project, stem, &data["comparisons"][0]);
            compared += 1;
        }
    }
    assert!(compared > 60, "only {compared} pairs");
}

/// What is beside a pair's JSON says the same: the Markdown rounded, the spreadsheet in full.
fn pasted(project: &Project, stem: &str, comparison: &Value) {
    let rows = comparison["rows"].as_array().expect("rows");
    let shown = project.read(&format!("{stem}.md"));
    let shown = markdown_rows(&shown);
    let records = records(&project.read(&format!("{stem}.csv")));
    assert_eq!(
        (shown.len(), records.len()),
        (rows.len(), rows.len()),
        "{stem}"
    );
    for ((row, cells), record) in rows.iter().zip(&shown).zip(&records) {
        // What is shown names the statistic or the items too: `Cost, typical run`.
        let label = row["metric"]["label"].as_str().expect("a label");
        let rest = cells[0].strip_prefix(label);
        assert!(
            rest.is_some_and(|rest| ["", " per run", ", shared items"].contains(&rest)
                || rest.starts_with(", typical ")),
            "{stem}: {} is not {label}",
            cells[0]
        );
        assert_eq!(
            row["metric"]["name"].as_str(),
            record.get("metric").map(String::as_str)
        );
        let pair = &row["evidence"]["pairs"][0];
        for (name, value) in [
            ("difference", &pair["difference"]["value"]),
            ("p", &pair["p"]),
            ("p_adjusted", &pair["p_adjusted"]),
        ] {
            assert_eq!(
                record[name].parse::<f64>().ok(),
                value.as_f64(),
                "{stem}: {name} of {}",
                cells[0]
            );
        }
        assert_eq!(
            record["verdict"],
            pair["verdict"].as_str().expect("a verdict")
        );
        for (arm, cell) in (1..).zip(row["cells"].as_array().expect("cells")) {
            assert_eq!(
                record[&format!("value_{arm}")].parse::<f64>().ok(),
                cell["value"].as_f64(),
                "{stem}: {}",
                cells[0]
            );
            if let Some(passed) = cell["passed"].as_f64().filter(|_| cell["figure"].is_null()) {
                assert_says(&cells[arm], "what passed", passed);
            }
        }
    }
}

/// The records of a spreadsheet, by the names of their columns.
fn records(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let record = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.expect("as many fields as the header has");
        header
            .iter()
            .map(str::to_owned)
            .zip(record.iter().map(str::to_owned))
            .collect()
    };
    reader.records().map(record).collect()
}

/// The Markdown beside the data is what the commands print for the same selection.
#[test]
fn what_the_site_offers_to_paste_is_what_the_commands_print() {
    let (project, _) = built();
    let printed = |arguments: &[&str]| {
        let output = project.run(arguments.iter().copied().chain(["--format", "markdown"]));
        assert_eq!(output.code, 0, "{}", output.stderr);
        output.stdout
    };
    assert_eq!(
        project.read("site/data/leaderboard.md"),
        printed(&["leaderboard"])
    );
    for (suite, folder) in folders(&project) {
        assert_eq!(
            project.read(&format!("site/data/suites/{folder}.md")),
            printed(&["leaderboard", suite])
        );
        let board = records(&project.read(&format!("site/data/suites/{folder}.csv")));
        assert_eq!(board.len(), ARMS, "{suite}");
        let costs = project.read("site/data/cost.csv");
        let costs: Vec<_> = records(&costs)
            .into_iter()
            .filter(|record| record["suite"] == board[0]["suite"])
            .collect();
        for (on_board, cost) in board.iter().zip(&costs) {
            for column in [
                "approach",
                "model",
                "cost_usd",
                "cost_per_solved_usd",
                "pass_rate",
                "cost_front",
            ] {
                assert_eq!(on_board[column], cost[column], "{suite}: {column}");
            }
        }
    }
    let folder = &folders(&project)[SUITES[0]];
    assert_eq!(
        project.read(&format!("site/data/history/{folder}.md")),
        printed(&["history", SUITES[0], "--nights", "999"])
    );
    // What a solved item costs stands on the board and in the bill, in the same letters.
    let column = |text: &str, name: &str| {
        let heads = text
            .lines()
            .find(|line| line.starts_with("| "))
            .expect("a table")
            .replace('\\', "");
        let place = heads
            .trim_matches('|')
            .split('|')
            .position(|head| head.trim().starts_with(name))
            .unwrap_or_else(|| panic!("{heads}"));
        markdown_rows(text)
            .into_iter()
            .map(|row| row[place].clone())
            .collect::<Vec<_>>()
    };
    let board = project.read("site/data/leaderboard.md");
    let first = |text: &str| text.split("\n### ").next().unwrap_or_default().to_owned();
    let (board, bill) = (first(&board), first(&project.read("site/data/cost.md")));
    assert_eq!(
        column(&board, "Cost per solved"),
        column(&bill, "Cost per solved")
    );
    assert_eq!(column(&board, "Cost per solved").len(), ARMS);
    // Judged criteria: the same counts as the spreadsheet's.
    let folder = &folders(&project)[SUITES[1]];
    let criteria = markdown_rows(&project.read(&format!("site/data/criteria/{folder}.md")));
    let met = records(&project.read(&format!("site/data/criteria/{folder}.csv")));
    let said: Vec<&String> = criteria.iter().flat_map(|row| &row[1..]).collect();
    assert_eq!(said.len(), met.len());
    for (said, met) in said.iter().zip(&met) {
        let expected = if met["total"] == "0" {
            "not asked".to_owned()
        } else {
            format!("{} of {}", met["passed"], met["total"])
        };
        assert_eq!(**said, expected);
    }
    assert_eq!(
        records(&project.read("site/data/runs.csv")).len(),
        ARMS * (SUITES.len() + 1)
    );
}

/// No text of the data is markup in what is pasted, nor a formula in a spreadsheet.
#[test]
fn hostile_texts_are_inert_in_what_is_pasted() {
    let (project, _) = built();
    let markup = Regex::new(r"(?:^|[^\\])(?:[<!`*_\[]|@(?:[^\x{200b}]|$))|://|www\.")
        .expect("an expression");
    let (mut tables, mut formulas) = (0, BTreeSet::new());
    for file in project.files("site/data") {
        let ending = file.rsplit('.').next();
        if ending == Some("bundle") {
            continue;
        }
        let text = project.read(&file);
        if ending == Some("md") {
            assert!(
                !text.contains(|letter: char| letter.is_control() && letter != '\n'),
                "{file}"
            );
            for line in text.lines() {
                assert!(!markup.is_match(line), "{file}: {line}");
            }
            let widths: BTreeSet<usize> = text
                .split("### ")
                .flat_map(|part| {
                    let rows = markdown_rows(part);
                    let widths: BTreeSet<usize> = rows.iter().map(Vec::len).collect();
                    assert!(widths.len() <= 1, "{file}: {widths:?}");
                    widths
                })
                .collect();
            tables += widths.len();
        } else if ending == Some("csv") {
            let kind = file
                .trim_start_matches("site/data/")
                .split(['/', '.'])
                .next()
                .expect("a name")
                .to_owned();
            let fields = csv::ReaderBuilder::new()
                .flexible(true)
                .from_reader(text.as_bytes())
                .into_records()
                .flat_map(|record| {
                    record
                        .expect("CSV")
                        .iter()
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                });
            for field in fields {
                let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r'])
                    && field.parse::<f64>().is_err();
                assert!(!is_formula, "{file}: {field}");
                if field.starts_with("'=") {
                    formulas.insert(kind.clone());
                }
            }
        }
    }
    assert!(tables > 60, "{tables}");
    assert!(
        [
            "leaderboard",
            "cost",
            "runs",
            "suites",
            "items",
            "compare",
            "history",
            "criteria"
        ]
        .iter()
        .all(|kind| formulas.contains(*kind)),
        "{formulas:?}"
    );
}

/// Swapping the two sides of a comparison changes signs and nothing else.
#[test]
fn the_other_way_round_only_signs_differ() {
    let project = store();
    let pairs = |project: &Project| {
        let all = json(project, "compare", SUITES[0]);
        let comparison = &all["comparisons"][0];
        let arms: Vec<String> = comparison["arms"]
            .as_array()
            .expect("arms")
            .iter()
            .map(|arm| arm["approach"].to_string())
            .collect();
        let row = &comparison["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|row| row["metric"]["name"] == "shared_tests")
            .expect("a rate")
            .clone();
        let pairs: BTreeMap<(String, String), Value> = row["evidence"]["pairs"]
            .as_array()
            .expect("pairs")
            .iter()
            .map(|pair| {
                let arm = |side: &str| {
                    arms[pair[side]
                        .as_u64()
                        .and_then(|index| usize::try_from(index).ok())
                        .expect("an index")]
                    .clone()
                };
                ((arm("first"), arm("second")), pair.clone())
            })
            .collect();
        pairs
    };
    let before = pairs(&project);
    // Arms stand in the order of their names: new names turn it around.
    for file in project.files("results") {
        if let Some(text) = file.strip_suffix(".json").map(|_| project.read(&file)) {
            let mut run: Value = serde_json::from_str(&text).expect("JSON");
            let name = run["approach"].as_str().expect("a name").to_owned();
            let order = b'z' - name.bytes().next().expect("a letter") % 26;
            run["approach"] = Value::from(format!("{}{name}", char::from(order)));
            fs::write(project.path(&file), run.to_string()).expect("a writable folder");
        }
    }
    let after = pairs(&project);
    let old = |name: &str| format!("\"{}", name.get(2..).unwrap_or_default());
    let mut turned = 0;
    for ((first, second), pair) in &after {
        let (first, second) = (old(first), old(second));
        let (same, other) = (
            before.get(&(first.clone(), second.clone())),
            before.get(&(second.clone(), first.clone())),
        );
        let (reference, sign) = match (same, other) {
            (Some(reference), _) => (reference, 1.0),
            (None, Some(reference)) => {
                turned += 1;
                (reference, -1.0)
            }
            (None, None) => panic!("{first} and {second} were not compared"),
        };
        let close = |left: f64, right: f64| (left - right).abs() < 1e-9;
        assert!(
            close(
                number(&pair["difference"]["value"]),
                sign * number(&reference["difference"]["value"])
            ),
            "{first} {second}"
        );
        if let (Some(p), Some(q)) = (pair["p"].as_f64(), reference["p"].as_f64()) {
            assert!(close(p, q), "{first} {second}: {p} and {q}");
        }
    }
    assert!(turned > 0, "no pair was turned around");
}

/// By suite: the folder of its pages.
fn folders(project: &Project) -> BTreeMap<&'static str, String> {
    let mut folders = BTreeMap::new();
    for file in project.files("site/data/suites") {
        let Some(stem) = file
            .rsplit('/')
            .next()
            .and_then(|name| name.strip_suffix(".json"))
        else {
            continue;
        };
        let data: Value = serde_json::from_str(&project.read(&file)).expect("JSON");
        if let Some(suite) = SUITES
            .iter()
            .find(|&&suite| data["board"]["suite"] == suite)
        {
            folders.insert(*suite, stem.to_owned());
        }
    }
    assert_eq!(
        folders.len(),
        SUITES.len(),
        "{:?}",
        project.files("site/data/suites")
    );
    folders
}

/// What stands between two texts.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("{start} is not in {text}"));
    rest.split_once(end).map_or(rest, |(found, _)| found)
}

#[test]
fn a_run_says_the_same_everywhere() {
    let (project, _) = built();
    let row = |rows: &[Vec<String>], label: &str| {
        rows.iter()
            .find(|row| row[0] == label)
            .unwrap_or_else(|| panic!("{label} is not in {rows:?}"))[1..]
            .join(" | ")
    };
    for (suite, arm) in [(0, 0), (0, 7), (1, 2), (1, 3), (2, 5)] {
        let id = format!("s{suite}-a{arm}-n0");
        let (terminal, markdown) = (
            said(&project, "show", &id, "table"),
            said(&project, "show", &id, "markdown"),
        );
        let (terminal, markdown) = (terminal_rows(&terminal), markdown_rows(&markdown));
        let run = json(&project, "show", &id)["runs"][0].clone();
        let page = project.read(&format!("site/runs/{id}/index.html"));
        let fact = |label: &str| words(between(&page, &format!("<dt>{label}</dt>"), "</dd>"));
        let passed = if suite == 0 { "Accuracy" } else { "Passed" };
        for label in [
            passed,
            "Status",
            "Outcomes",
            "Cost",
            "Duration",
            "Agent calls",
        ] {
            assert_eq!(row(&terminal, label), row(&markdown, label), "{id}");
        }
        for text in [row(&terminal, passed), fact("Passed")] {
            assert_says(&text, "what passed", number(&run["passed"]));
            assert_says(&text, "of how many", number(&run["total"]));
            assert_says(
                &text,
                "the rate",
                100.0 * number(&run["passed"]) / number(&run["total"]),
            );
            assert_says(
                &text,
                "its lower end",
                100.0 * number(&run["interval"]["low"]),
            );
            assert_says(
                &text,
                "its upper end",
                100.0 * number(&run["interval"]["high"]),
            );
        }
        for text in [row(&terminal, "Cost"), fact("Cost")] {
            assert_says(&text, "the cost", number(&run["cost_usd"]));
            assert!(
                text.contains(run["cost_source"].as_str().expect("a word")),
                "{text}"
            );
        }
        assert_eq!(row(&terminal, "Duration"), fact("Duration").trim(), "{id}");
        assert_eq!(
            row(&terminal, "Agent calls"),
            fact("Agent calls").trim(),
            "{id}"
        );
        assert_eq!(row(&terminal, "Status"), fact("Status").trim(), "{id}");
        let table = words(between(&page, "<table id=\"statuses-table\"", "</table>"));
        for (status, count) in run["statuses"].as_object().expect("statuses") {
            for text in [&row(&terminal, "Outcomes"), &table] {
                assert!(text.contains(&status.replace('_', " ")), "{status}: {text}");
                assert_says(text, status, number(count));
            }
        }
        items_agree(&project, &id, &run, &page);
        if suite == 1 {
            judged_agrees(&terminal, &markdown, &run, &page);
        }
    }
}

/// Every item of a run ended the same way, wherever it is listed.
fn items_agree(project: &Project, id: &str, run: &Value, page: &str) {
    let plain = Regex::new(r"^item-\d{4}$").expect("an expression");
    let ended: BTreeMap<String, String> = run["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            (
                item["item"].as_str().unwrap_or_default().to_owned(),
                item["status"]
                    .as_str()
                    .unwrap_or_default()
                    .replace('_', " "),
            )
        })
        .filter(|(item, _)| plain.is_match(item))
        .collect();
    assert!(ended.len() > 400, "{}", ended.len());
    for format in ["table", "markdown"] {
        let output = project.run_in(
            ["show", id, "--format", format, "--items", "all"],
            &[("COLUMNS", "2000")],
        );
        let rows = if format == "table" {
            terminal_rows(&output.stdout)
        } else {
            markdown_rows(&output.stdout)
        };
        let said = rows
            .into_iter()
            .filter(|row| plain.is_match(&row[0]))
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect();
        assert_eq!(ended, said, "{id} as {format}");
    }
    let cell =
        Regex::new("<bdi>(item-\\d{4})</bdi></a></th>\\s*<td><span class=\"status [^\"]*\"><span aria-hidden=\"true\">. </span>([a-z ]+)<")
            .expect("an expression");
    let further = project
        .files(&format!("site/runs/{id}"))
        .into_iter()
        .filter(|file| file.contains("/items-"))
        .map(|file| project.read(&file));
    let pages: Vec<String> = std::iter::once(page.to_owned()).chain(further).collect();
    let said = pages
        .iter()
        .flat_map(|page| cell.captures_iter(page))
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect();
    assert_eq!(ended, said, "{id} on its pages");
}

/// What judges and verifications said of a run.
fn judged_agrees(terminal: &[Vec<String>], markdown: &[Vec<String>], run: &Value, page: &str) {
    let decided: Vec<String> = run["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .map(|criterion| {
            if criterion["status"] == "pass" {
                "PASS".to_owned()
            } else {
                "FAIL".to_owned()
            }
        })
        .collect();
    // A list on a screen begins with what was not met.
    let sorted = |mut words: Vec<String>| {
        words.sort();
        words
    };
    let decided = sorted(decided);
    assert_eq!(decided.len(), 3);
    let outcomes = |rows: &[Vec<String>]| {
        rows.iter()
            .filter(|row| row.len() > 1 && ["PASS", "FAIL"].contains(&row[1].as_str()))
            .map(|row| row[1].clone())
            .collect::<Vec<_>>()
    };
    let on_page = words(between(page, "<table id=\"criteria-table\"", "</table>"));
    let on_page: Vec<String> = on_page
        .split_whitespace()
        .filter(|word| ["PASS", "FAIL"].contains(word))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        [outcomes(terminal), outcomes(markdown), on_page].map(sorted),
        [decided.clone(), decided.clone(), decided]
    );
    let score = number(&run["evaluators"][0]["value"]);
    for rows in [terminal, markdown] {
        let row = rows
            .iter()
            .find(|row| row[0] == "requirementFulfillment")
            .expect("the evaluator");
        assert_says(&row[1], "its score", score);
    }
    assert_says(
        &words(between(
            page,
            "<summary><bdi>requirementFulfillment</bdi>:",
            "</summary>",
        )),
        "its score",
        score,
    );
    let outcome = "done partial, next: accept partial";
    let says = |rows: &[Vec<String>]| {
        rows.iter()
            .any(|row| row[0] == "Verification" && row[1] == outcome)
    };
    assert!(says(terminal) && says(markdown) && page.contains(outcome));
}

/// Returns the path of the line through an arm's nights, on the scale of all arms.
fn night_line(rates: &[f64], (low, high): (f64, f64), step: f64) -> String {
    let pixels = |number: f64| (number * 10.0).round() / 10.0;
    rates
        .iter()
        .enumerate()
        .map(|(night, rate)| {
            let share = if high > low {
                (rate - low) / (high - low)
            } else {
                0.5
            };
            format!(
                "{}{} {}",
                if night == 0 { 'M' } else { 'L' },
                pixels(4.0 + step * night as f64),
                pixels(4.0 + 12.0 * (1.0 - share))
            )
        })
        .collect::<Vec<String>>()
        .concat()
}

#[test]
fn a_history_says_the_same_everywhere() {
    let (project, _) = built();
    let suite = SUITES[0];
    let (terminal, markdown) = (
        said(&project, "history", suite, "table"),
        said(&project, "history", suite, "markdown"),
    );
    let page = project.read(&format!(
        "site/suites/{}/history.html",
        folders(&project)[suite]
    ));
    let history = json(&project, "history", suite)["histories"][0].clone();
    let data: Value = serde_json::from_str(&project.read(&format!(
        "site/data/history/{}.json",
        folders(&project)[suite]
    )))
    .expect("JSON");
    assert_eq!(history, data["histories"][0]);
    let arms = history["arms"].as_array().expect("arms");

    // The arms, with their trend; hostile names are made harmless in different ways.
    let parts = |text: &str| {
        let (levels, nights) = text.split_once("History: ").expect("two tables");
        (levels.to_owned(), nights.to_owned())
    };
    let ((levels, nights), (levels_md, nights_md)) = (parts(&terminal), parts(&markdown));
    let figures = |rows: Vec<Vec<String>>| {
        rows.into_iter()
            .map(|row| row[1..].to_vec())
            .collect::<Vec<_>>()
    };
    let (levels, levels_md) = (
        figures(terminal_rows(&levels)),
        figures(markdown_rows(&levels_md)),
    );
    assert_eq!(levels, levels_md);
    let on_page: Vec<String> = between(&page, "<table id=\"levels-table\"", "</table>")
        .split("<tr>")
        .skip(2)
        .map(words)
        .collect();
    assert_eq!((levels.len(), on_page.len()), (arms.len(), arms.len()));
    let rates_of = |arm: &Value| -> Vec<f64> {
        arm["nights"]
            .as_array()
            .expect("nights")
            .iter()
            .map(|night| number(&night["pass_rate"]["value"]))
            .collect()
    };
    let all: Vec<Vec<f64>> = arms.iter().map(rates_of).collect();
    let ends = all
        .iter()
        .flatten()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), rate| {
            (low.min(*rate), high.max(*rate))
        });
    let longest = all.iter().map(Vec::len).max().unwrap_or(2).max(2);
    let step = (112.0 / (longest - 1) as f64).min(6.0);
    let mut bars_of_all = BTreeSet::new();
    for ((arm, row), html) in arms.iter().zip(&levels).zip(&on_page) {
        let rates: Vec<f64> = arm["nights"]
            .as_array()
            .expect("nights")
            .iter()
            .map(|night| number(&night["pass_rate"]["value"]))
            .collect();
        let bars: Vec<char> = row[4].chars().collect();
        assert_eq!(bars.len(), rates.len(), "{row:?}");
        let line = night_line(&rates, ends, step);
        assert!(
            page.contains(&format!("d=\"{line}\"")),
            "{line} is not in {html}"
        );
        for (rates, bars) in rates.windows(2).zip(bars.windows(2)) {
            assert!(
                (rates[0] < rates[1]) >= (bars[0] < bars[1])
                    && (rates[0] > rates[1]) >= (bars[0] > bars[1]),
                "{rates:?} {bars:?}"
            );
        }
        bars_of_all.extend(bars);
        for text in [&row.join(" | "), html] {
            assert_says(text, "the first rate", 100.0 * rates[0]);
            assert_says(text, "the newest rate", 100.0 * rates[rates.len() - 1]);
        }
    }
    assert!(
        bars_of_all.len() > 3,
        "arms that differ have bars that do: {bars_of_all:?}"
    );

    // The nights of each arm.
    let (nights, nights_md) = (
        figures(terminal_rows(&nights)),
        figures(markdown_rows(&nights_md)),
    );
    assert_eq!(nights, nights_md);
    let mut rows = nights.iter();
    for (number_of_arm, arm) in (1..).zip(arms) {
        let table = between(
            &page,
            &format!("<table id=\"arm-{number_of_arm}-chart-values\""),
            "</table>",
        );
        let on_page: Vec<String> = table.split("<tr>").skip(2).map(words).collect();
        let of_arm = arm["nights"].as_array().expect("nights");
        assert_eq!(on_page.len(), of_arm.len());
        for night in of_arm {
            let day = night["date"].as_str().expect("a date");
            let row = rows.next().expect("a row for each night").join(" | ");
            // In what order a page lists them is its own choice.
            let html = on_page
                .iter()
                .find(|html| html.contains(day))
                .expect("a row for each night");
            for text in [&row, html] {
                assert!(text.contains(day), "{text}");
                let rate = &night["pass_rate"];
                assert_says(text, "the pass rate", 100.0 * number(&rate["value"]));
                assert_says(
                    text,
                    "its lower end",
                    100.0 * number(&rate["interval"]["low"]),
                );
                assert_says(
                    text,
                    "its upper end",
                    100.0 * number(&rate["interval"]["high"]),
                );
                assert_says(text, "n", number(&rate["n"]));
                assert_says(text, "the cost", number(&night["cost_usd"]));
            }
            assert_says(&row, "the number of runs", number(&night["runs"]));
        }
    }
    assert_eq!(rows.next(), None);

    // Who is better, night by night.
    let duels = history["duels"].as_array().expect("duels");
    let on_page: Vec<String> = between(&page, "<table id=\"duels-table\"", "</table>")
        .split("<tr>")
        .skip(2)
        .map(words)
        .collect();
    let notes = |text: &str| {
        text.lines()
            .filter(|line| line.contains(" by night: ") && line.contains(" better, "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (notes, notes_md) = (notes(&terminal), notes(&markdown));
    assert_eq!(
        (duels.len(), on_page.len(), notes.len(), notes_md.len()),
        (28, 28, 28, 28)
    );
    for (((duel, html), note), note_md) in duels.iter().zip(&on_page).zip(&notes).zip(&notes_md) {
        let counts = ["won", "lost", "same"].map(|what| duel[what].to_string());
        let said = format!(
            "{} better, {} worse, {} equal, e = ",
            counts[0], counts[1], counts[2]
        );
        let verdict = if duel["better"].is_null() {
            "not enough evidence"
        } else {
            "is better, and stays so"
        };
        assert!(
            note.contains(&said) && note_md.contains(&said),
            "{said}: {note} {note_md}"
        );
        for text in [html, note, note_md] {
            assert_says(text, "e", number(&duel["e_value"]));
            assert!(text.contains(verdict), "{verdict}: {text}");
        }
        for count in &counts {
            assert!(
                html.split_whitespace().any(|word| word == count),
                "{count}: {html}"
            );
        }
    }
}
