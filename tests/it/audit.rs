//! Audits of boards: the standard's fields against another implementation, and sets that hold.

use serde_json::{Value, json};

use crate::support::{Project, lines, question, result};
use crate::surfaces::bare;

fn board(name: &str) -> Value {
    let project = Project::new();
    project.fixture(&format!("boards/{name}.csv"), "board.csv");
    project
        .run(["audit", "--matrix", "board.csv", "--format", "json"])
        .json()["audits"][0]
        .clone()
}

fn expected() -> Value {
    serde_json::from_str(include_str!("../fixtures/boards/expected.json")).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_standards_fields_are_those_of_another_implementation() {
    for (name, expected) in expected().as_object().expect("boards") {
        let audit = board(name);
        let (card, order) = (&audit["standard"], &audit["standard"]["order"]);
        let close = |field: &str, got: &Value, wanted: &Value, tolerance: f64| {
            let (got, wanted) = (number(got), number(wanted));
            assert!(
                (got - wanted).abs() <= tolerance,
                "{name}, {field}: {got} and not {wanted}"
            );
        };
        let exact = |field: &str, got: &Value, wanted: &Value| {
            close(field, got, wanted, 1e-9 * number(wanted).abs());
        };
        exact("R1", &audit["systems"], &expected["R1"]["systems"]);
        exact("R1", &audit["items"], &expected["R1"]["items"]);
        assert_eq!(card["sha256_12"], expected["R1"]["sha256_12"]);
        exact("R8", &card["discordance"], &expected["R8"]["D_all"]);
        exact("R8", &card["discordance_top"], &expected["R8"]["D_top"]);
        let first = &card["first_against_second"];
        for (own, theirs) in [
            ("gap", "gap"),
            ("standard_error", "se"),
            ("t", "t"),
            ("kappa", "kappa"),
        ] {
            exact("R10", &first[own], &expected["R10"][theirs]);
        }
        exact(
            "R10",
            &card["median_kappa"],
            &expected["R10"]["kappa_board_median"],
        );
        exact("R11", &first["effective_items"], &expected["R11"]["n_eff"]);
        close(
            "R11",
            &first["needed_items"],
            &expected["R11"]["m_star"],
            1e-6,
        );
        close(
            "R7",
            &card["drift"]["drift"]["metric"],
            &expected["R7"]["metric_drift"],
            1e-6,
        );
        close(
            "R7",
            &card["drift"]["drift"]["ordinal"],
            &expected["R7"]["ordinal_drift"],
            1e-6,
        );
        // What is resampled differs by the random numbers; the tolerances are the spread over seeds.
        for kind in ["metric", "ordinal"] {
            let wanted = &expected["R7"][format!("{kind}_floor")];
            close(
                "R7 floor",
                &card["drift"]["floor"][kind],
                wanted,
                0.5 * number(wanted),
            );
        }
        close(
            "R2",
            &order["critical"],
            &expected["R2"]["critical_single_step"],
            0.12,
        );
        close(
            "R2",
            &order["critical_last"],
            &expected["R2"]["critical_after_stepdown"],
            0.2,
        );
        close(
            "R2",
            &order["median_width"],
            &expected["R2"]["median_width"],
            3.0,
        );
        close(
            "R2",
            &order["could_be_first"],
            &expected["R2"]["could_be_first"],
            3.0,
        );
        assert_eq!(order["places_inside"], expected["R2"]["observed_inside"]);
        close(
            "R3",
            &order["entropy_bits"],
            &expected["R3"]["bits"],
            20.0_f64.min(0.1 * number(&expected["R3"]["ceiling_bits"])),
        );
        close(
            "R4",
            &order["top_entropy_bits"],
            &expected["R4"]["bits"],
            1.0,
        );
        close(
            "R5",
            &order["established_share"],
            &expected["R5"]["established_share"],
            0.01,
        );
        assert_eq!(order["violations"], 0);
        close("R6", &order["tiers"], &expected["R6"]["height"], 1.0);
        close(
            "R6",
            &order["largest_open_group"],
            &expected["R6"]["largest_antichain"],
            3.0,
        );
        for (place, wanted) in expected["top"]
            .as_array()
            .expect("places")
            .iter()
            .enumerate()
        {
            let own = &audit["places"][place];
            assert_eq!(own["system"], wanted["system"], "{name}");
            exact("mean", &own["mean"], &wanted["score"]);
            close("best", &own["standard_rank"]["best"], &wanted["best"], 1.0);
            close(
                "worst",
                &own["standard_rank"]["worst"],
                &wanted["worst"],
                3.0,
            );
        }
    }
}

#[test]
fn names_and_order_of_rows_and_columns_do_not_matter() {
    let text = include_str!("../fixtures/boards/proteingym_indels_zero_shot.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    // Both backwards, and other names for the items.
    let turned = |place: usize, row: &Vec<&str>| -> String {
        let cells: Vec<String> = (1..row.len())
            .rev()
            .map(|at| {
                if place == 0 {
                    format!("item {at}")
                } else {
                    row[at].to_owned()
                }
            })
            .collect();
        format!("{},{}\n", row[0], cells.join(","))
    };
    let other: String = std::iter::once(0)
        .chain((1..rows.len()).rev())
        .map(|place| turned(place, &rows[place]))
        .collect();
    let project = Project::new();
    project.file("one.csv", text).file("other.csv", other);
    let audit = |file: &str| {
        let mut answer = project
            .run(["audit", "--matrix", file, "--format", "json"])
            .json()["audits"][0]
            .clone();
        let audit = answer.as_object_mut().expect("an audit");
        for own in ["board", "sha256"] {
            audit.remove(own);
        }
        audit["minority"]["items"].take();
        audit["standard"]["sha256_12"].take();
        answer
    };
    let (one, other) = (audit("one.csv"), audit("other.csv"));
    assert_eq!(one["places"], other["places"]);
    assert_eq!(one["established"], other["established"]);
    // Sums in another order differ in their last digits.
    assert_eq!(one["standard"]["order"], other["standard"]["order"]);
}

#[test]
fn a_board_of_the_store_and_what_has_no_order() {
    let project = Project::new();
    let row = |arm: &str, passes: [u8; 8]| -> String {
        let line = |(item, pass): (usize, &u8)| {
            format!("{arm},q{item},{}", if *pass == 1 { "yes" } else { "no" })
        };
        lines(passes.iter().enumerate().map(line))
    };
    let table = format!(
        "model,task,passed\n{}{}",
        row("nova", [1; 8]),
        row("lyra", [0, 0, 0, 0, 0, 0, 1, 0])
    );
    project.file("answers.csv", &table);
    let output = project.run(["audit", "answers.csv"]);
    insta::assert_snapshot!(output.snapshot());
    project.file("broken.csv", "name,a,b\nx,1,2\nx,0,\n");
    insta::assert_snapshot!(project.run(["audit", "--matrix", "broken.csv"]).snapshot());
    project.file("gaps.csv", "name,a,b\nx,1,\ny,0,1\n");
    insta::assert_snapshot!(project.run(["audit", "--matrix", "gaps.csv"]).snapshot());
}

/// Three arms of which one solves all items, and two solve a half each.
fn board_of_runs() -> Project {
    let project = Project::new();
    for (approach, solves) in [("all", 0..40), ("early", 0..20), ("late", 20..40)] {
        let more = if approach == "all" {
            json!({"timestamp": "2026-01-02T03:04:05Z", "tags": {"contamination": "items are newer than the model"}})
        } else {
            json!({})
        };
        let items: Vec<Value> = (0..40)
            .map(|item| {
                question(
                    &format!("q{item:02}"),
                    1,
                    if solves.contains(&item) {
                        "pass"
                    } else {
                        "fail"
                    },
                )
            })
            .collect();
        project
            .result(&result(approach, "s", approach, more))
            .items(approach, &items);
    }
    project
}

#[test]
fn the_page_the_badge_and_the_command_say_the_same() {
    let project = board_of_runs();
    let answer = project.run(["audit", "--format", "json"]).json();
    let audit = &answer["audits"][0];
    assert_eq!(
        (
            &audit["established"]["could_be_first"],
            &audit["established"]["established_pairs"]
        ),
        (&json!(1), &json!(2))
    );
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    let data: Value = serde_json::from_str(&project.read("site/data/audit/s.json")).expect("JSON");
    assert_eq!(data, answer);
    assert_eq!(
        project.read("site/data/audit/s.csv"),
        project.run(["audit", "--format", "csv"]).stdout
    );
    assert!(
        project
            .read("site/badge/order/s.svg")
            .contains("<title>s: first place is established</title>")
    );
    let page = project.read("site/suites/s/audit.html");
    let shown = bare(&page).split_whitespace().collect::<Vec<_>>().join(" ");
    for row in [
        "all · m1 1 100 1 1 established",
        "early · m1 2 50 2–3 2 open",
        "late · m1 3 50 2–3 2",
    ] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    for note in project
        .run(["audit", "--format", "markdown"])
        .stdout
        .lines()
        .filter(|line| line.starts_with("Established"))
    {
        assert!(shown.contains(note.trim_end()), "{note}: {shown}");
    }
    assert!(
        project
            .read("site/suites/s/leaderboard.html")
            .contains("first place is established. <a href=\"../../suites/s/audit.html\">")
    );
    let board: Value = serde_json::from_str(&project.read("site/leaderboard.json")).expect("JSON");
    assert_eq!(board["suites"][0]["order_badge"], "badge/order/s.svg");
}

#[test]
fn an_undated_name_selects_the_dated_models_as_in_other_commands() {
    let project = board_of_runs();
    for approach in ["all", "early", "late"] {
        let dated = json!({"model": "claude-sonnet-4-5-20250929"});
        project.result(&result(approach, "s", approach, dated));
    }
    for command in [&["audit"][..], &["fit", "abilities"]] {
        let answer = |more: &[&str]| {
            let arguments = [command, more, &["--format", "json"]].concat();
            let output = project.run(arguments.iter().copied());
            (output.stdout, output.stderr)
        };
        assert_eq!(
            answer(&["--model", "claude-sonnet-4-5"]),
            answer(&[]),
            "{command:?}"
        );
    }
}

#[test]
fn what_runs_do_not_record_is_named() {
    let project = board_of_runs();
    let audit = project.run(["audit", "--format", "json"]).json()["audits"][0].clone();
    let facts = audit["provenance"].as_array().expect("facts");
    let recorded = |name: &str| {
        facts
            .iter()
            .find(|fact| fact["fact"] == name)
            .map(|fact| (fact["recorded"].clone(), fact["of"].clone()))
    };
    assert_eq!(recorded("date"), Some((json!(1), json!(3))));
    assert_eq!(recorded("contamination"), Some((json!(1), json!(3))));
    assert_eq!(recorded("seed"), Some((json!(0), json!(3))));
    let said = project.run(["audit", "--card"]).stdout.replace('\n', " ");
    assert!(
        said.contains("R9, not recorded: date (recorded by 1 of 3 runs), version of the model"),
        "{said}"
    );
    project.file("board.csv", "name,a,b\nx,1,0\ny,0,1\n");
    let table = project
        .run(["audit", "--matrix", "board.csv", "--format", "json"])
        .json();
    let facts = table["audits"][0]["provenance"]
        .as_array()
        .expect("facts")
        .clone();
    assert!(
        facts.len() == 8
            && facts
                .iter()
                .all(|fact| fact["recorded"] == 0 && fact["of"] == 2),
        "{facts:?}"
    );
}
