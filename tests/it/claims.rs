//! Published figures against themselves: real leaderboards, and tables of every format with an error in each.

use std::path::Path;

use serde_json::Value;

use crate::support::Project;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claims");

/// Makes a table, with or without its error.
type Table<'t> = &'t dyn Fn(bool) -> String;

fn audit(project: &Project, files: &[&str]) -> Value {
    let mut arguments = vec!["audit", "--format", "json"];
    for file in files {
        arguments.extend(["--claims", file]);
    }
    project.run(arguments).json()["claims"].clone()
}

/// Returns the findings but first places, each as `kind file:line column stated -> possible`.
fn told(audit: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |finding: &Value| {
        let places: Vec<String> = finding["places"]
            .as_array()
            .expect("places")
            .iter()
            .map(|place| place["line"].as_u64().map_or_else(|| format!("#{}", place["row"]), |line| line.to_string()))
            .collect();
        let table = word(&finding["table"]);
        let file = Path::new(&table).file_name().map_or_else(|| table.clone(), |name| name.to_string_lossy().into_owned());
        let possible: Vec<String> = finding["possible"].as_array().expect("figures").iter().map(word).collect();
        let (kind, column, stated) = (word(&finding["kind"]), word(&finding["column"]), word(&finding["stated"]));
        format!("{kind} {file}:{} {column} {stated} -> {}", places.join(","), possible.join(" "))
    };
    audit["findings"].as_array().expect("findings").iter().filter(|finding| finding["kind"] != "first_place").map(line).collect()
}

#[test]
fn the_contradictions_of_real_leaderboards_are_found_and_nothing_else() {
    let project = Project::new();
    let files = ["deepseek-down.yml", "o1_results.yml", "qwq.yml", "r1_architect.yml"].map(|name| format!("{FIXTURES}/{name}"));
    let audit = audit(&project, &files.each_ref().map(String::as_str));
    assert_eq!(
        told(&audit),
        [
            "impossible_rate deepseek-down.yml:54 pass_rate_2 48.0 -> 48.6",
            "impossible_rate deepseek-down.yml:106 pass_rate_2 48.4 -> 48.7",
            "impossible_rate o1_results.yml:73 percent_cases_well_formed 90.0 -> 100.0",
            "impossible_rate qwq.yml:77 pass_rate_2 73.6 -> 73.5 74.2",
            "impossible_rate qwq.yml:125 percent_cases_well_formed 90.0 -> 100.0",
            "impossible_rate r1_architect.yml:59 pass_rate_2 61.7 -> 62.1",
            "different_totals deepseek-down.yml:54 test_cases 222 -> 225",
            "different_totals deepseek-down.yml:106 test_cases 224 -> 225",
            "different_totals qwq.yml:77 test_cases 132 -> 133",
            "different_totals r1_architect.yml:59 test_cases 224 -> 225",
        ]
    );
}

#[test]
fn a_number_of_items_is_recovered_from_the_digits() {
    let project = Project::new();
    let audit = audit(&project, &[&format!("{FIXTURES}/instructions.md")]);
    assert_eq!(told(&audit), ["rate_against_column instructions.md:9 Prompt-level accuracy 73.51 -> 73.38 73.57"]);
    let checked = &audit["checked"][0];
    assert_eq!((checked["recovered"].as_u64(), checked["agree"].as_u64(), checked["rows"].as_u64()), (Some(541), Some(9), Some(10)));
    // Few figures with one decimal do not tell it.
    project.file("few.csv", "model,accuracy\na,84.1\nb,82.6\nc,79.7\nd,74.3\ne,69.7\n");
    assert_eq!(self::audit(&project, &["few.csv"])["checked"], serde_json::json!([]));
}

/// Systems with their passes of 200 items.
const PASSED: [(&str, u32); 8] =
    [("nova", 171), ("lyra", 163), ("vega", 150), ("orion", 133), ("altair", 118), ("rigel", 97), ("deneb", 64), ("mira", 31)];

/// Half a win each is the win rate of two systems that tie, not a wrong digit.
#[test]
fn win_rates_of_systems_that_tie_are_not_accused() {
    let project = Project::new();
    let table = |is_tied: bool| {
        let won = |place: i32| if place == 22 || (is_tied && place == 23) { 22.5 } else { f64::from(place) };
        let row = |place: i32| format!("m{place},{:.3}\n", won(place) / 45.0);
        format!("model,win_rate\n{}", (0..46).map(row).collect::<String>())
    };
    project.file("tied.csv", table(true));
    project.file("wrong.csv", table(false));
    let found = audit(&project, &["tied.csv"]);
    assert_eq!((&found["checked"][0]["recovered"], told(&found)), (&Value::from(45), Vec::new()));
    assert_eq!(told(&audit(&project, &["wrong.csv"])).len(), 1);
}

fn rows(row: impl Fn(usize, &str, u32) -> String) -> String {
    (0..).zip(PASSED).map(|(place, (name, passed))| row(place, name, passed) + "\n").collect()
}

#[test]
fn each_kind_of_error_is_found_and_the_right_table_is_not_accused() {
    let share = |passed: u32| f64::from(passed) / 200.0;
    let error = |passed: u32| (share(passed) * (1.0 - share(passed)) / 200.0).sqrt();
    let rate = |passed: u32| format!("{:.1}", share(passed) * 100.0);
    let counts = |wrong: bool| {
        let figure = |place, passed| if wrong && place == 3 { "66.9".to_owned() } else { rate(passed) };
        format!("model,correct,total,accuracy\n{}", rows(|place, name, passed| format!("{name},{passed},200,{}", figure(place, passed))))
    };
    let errors = |wrong: bool| {
        let figure = |place, passed| format!("{:.4}", error(passed) * if wrong && place == 2 { 1.5 } else { 1.0 });
        format!(
            "model,n,acc,acc_stderr\n{}",
            rows(|place, name, passed| format!("{name},200,{:.3},{}", share(passed), figure(place, passed)))
        )
    };
    let intervals = |wrong: bool| {
        let ends = |place: usize, passed: u32| {
            let half = 1.959_964 * error(passed) * if wrong && place == 5 { 0.6 } else { 1.0 };
            format!("{:.1},{:.1}", (share(passed) - half) * 100.0, (share(passed) + half) * 100.0)
        };
        let table = rows(|place, name, passed| format!("{name},200,{},{}", rate(passed), ends(place, passed)));
        format!("model,questions,accuracy,ci_low,ci_high\n{table}")
    };
    let means = |wrong: bool| {
        let row = |place: usize, name: &str, passed: u32| {
            let (one, other) = (share(passed) * 90.0, share(passed) * 70.0 + place as f64);
            let mean = f64::midpoint(one, other) + if wrong && place == 6 { 2.0 } else { 0.0 };
            format!("{name},{mean:.2},{one:.2},{other:.2}")
        };
        format!("model,Average,MMLU,GPQA\n{}", rows(row))
    };
    let repeated = |wrong: bool| {
        let table = rows(|_, name, passed| format!("{name},{}", rate(passed)));
        let again = if wrong { "vega,71.5\n" } else { "vega,75.0\n" };
        format!("model,accuracy\n{table}{again}")
    };
    let outcomes = |wrong: bool| {
        let again = if wrong { "nova,t3,fail\n" } else { "nova,t3,pass\n" };
        let all: Vec<String> = (0..12).map(|item| format!("nova,t{item},{}\n", if item % 4 == 1 { "fail" } else { "pass" })).collect();
        let all = all.concat();
        format!("model,task,outcome\n{all}{again}")
    };
    let runs = |wrong: bool| {
        let table = rows(|place, name, passed| {
            let rest = if wrong && place == 1 { ",".to_owned() } else { format!("{},{}", rate(passed + 2), rate(passed + 1)) };
            format!("{name},3,{},{rest}", rate(passed))
        });
        format!("model,runs,run_1,run_2,run_3\n{table}")
    };
    let bold = |wrong: bool| {
        let mark = |place: usize, figure: String| if place == usize::from(wrong) { format!("**{figure}**") } else { figure };
        format!(
            "| model | accuracy |\n| --- | --- |\n{}",
            rows(|place, name, passed| format!("| {name} | {} |", mark(place, rate(passed))))
        )
    };
    let attempts = |wrong: bool| {
        let more = |place, passed| if wrong && place == 4 { passed - 9 } else { passed + 9 };
        format!("model,pass@1,pass@3\n{}", rows(|place, name, passed| format!("{name},{},{}", rate(passed), rate(more(place, passed)))))
    };
    let outside = |wrong: bool| {
        let low = |place, passed| share(passed) * 100.0 + if wrong && place == 2 { 3.0 } else { -6.0 };
        let table =
            rows(|place, name, passed| format!("{name},{},{:.1},{:.1}", rate(passed), low(place, passed), share(passed) * 100.0 + 7.0));
        format!("model,score,lower,upper\n{table}")
    };
    let tables: [(&str, Table<'_>, &str); 10] = [
        ("counts.csv", &counts, "impossible_rate counts.csv:5 accuracy 66.9 -> 66.5"),
        ("errors.csv", &errors, "spread_against_rate errors.csv:4 acc_stderr 0.0459 -> 0.0306"),
        ("intervals.csv", &intervals, "spread_against_rate intervals.csv:7 ci_low 44.3 -> 41.6 to 55.4"),
        ("means.csv", &means, "total_against_parts means.csv:8 Average 30.60 -> 28.6"),
        ("repeated.csv", &repeated, "conflicting_rows repeated.csv:4,10 accuracy 75.0 -> "),
        ("outcomes.csv", &outcomes, "conflicting_outcomes outcomes.csv:5,14 outcome pass -> "),
        ("runs.csv", &runs, "missing_runs runs.csv:3 runs 3 -> 1"),
        ("bold.md", &bold, "bold_is_not_best bold.md:4,3 accuracy **81.5** -> 85.5"),
        ("attempts.csv", &attempts, "fewer_with_more attempts.csv:6 pass@3 54.5 -> "),
        ("outside.csv", &outside, "figure_outside_interval outside.csv:4 score 75.0 -> "),
    ];
    let project = Project::new();
    for (name, table, expected) in tables {
        project.file(name, table(true));
        assert_eq!(told(&audit(&project, &[name])), [expected], "{name}\n{}", table(true));
        project.file(name, table(false));
        assert_eq!(told(&audit(&project, &[name])), [""; 0], "{name}\n{}", table(false));
    }
}

#[test]
fn tables_of_every_form_are_read_and_files_are_compared() {
    let project = Project::new();
    let figures = |name: &str| {
        PASSED
            .iter()
            .map(|(model, passed)| format!("{{\"id\": \"{model}\", \"{name}\": {}}}", f64::from(*passed) / 2.0))
            .collect::<Vec<_>>()
    };
    project.file("one.json", format!("{{\"results\": [{}]}}", figures("score").join(", ")));
    let mut other = figures("score");
    other[2] = other[2].replace("75", "71.5");
    project.file("other.jsonl", other.join("\n"));
    assert_eq!(told(&audit(&project, &["one.json", "other.jsonl"])), ["conflicting_rows other.jsonl:3 score 71.5 -> 75"]);
    // A key that is there twice, and several tables of a text.
    project.file("twice.yml", "- {model: a, score: 50.5, score: 51.5}\n- {model: b, score: 40.5}\n");
    assert_eq!(told(&audit(&project, &["twice.yml"])), ["doubled_key twice.yml:1 score  -> "]);
    let table = "| model | passed | total | rate |\n|-|-|-|-|\n| a | 3 | 8 | 38% |\n| b | 5 | 8 | 63% |\n| c | 7 | 8 | 78% |\n";
    project.file("two.md", format!("# One\n\n{table}\n# Two\n\n{table}"));
    let found = audit(&project, &["two.md"]);
    assert_eq!(told(&found), ["impossible_rate two.md:7 rate 78% -> 88%", "impossible_rate two.md:15 rate 78% -> 88%"]);
    assert_eq!(found["tables"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_answer_is_for_people_and_for_ci() {
    let project = Project::new();
    project.file("board.csv", "model,correct,total,accuracy\nnova,171,200,85.5\nlyra,163,200,81.5\nvega,150,200,72.7\n");
    insta::assert_snapshot!(project.run(["audit", "--claims", "board.csv"]).snapshot());
    let code = |limit: &str| project.run(["audit", "--claims", "board.csv", "--fail-on", limit]).code;
    assert_eq!((code("impossible"), code("contradictory"), code("not-established")), (1, 1, 1));
    project.file("right.csv", "model,correct,total,accuracy\nnova,171,200,85.5\nlyra,163,200,81.5\n");
    assert_eq!(project.run(["audit", "--claims", "right.csv", "--fail-on", "contradictory"]).code, 0);
    assert_eq!(project.run(["audit", "--claims", "right.csv", "--fail-on", "not-established"]).code, 1, "the first place is open");
    project.file("text.md", "No table.\n").file("empty.csv", "");
    insta::assert_snapshot!(project.run(["audit", "--claims", "text.md", "--claims", "empty.csv", "--claims", "absent.csv"]).snapshot());
}
