//! People's labels beside a judge's outcomes: how they get in, what they correct, and which come next.

use serde_json::{Value, json};

use crate::support::Project;

const ITEMS: usize = 400;

/// Whether people pass an item, and whether the judge passes it for the first and the second arm: it favours the second.
fn truth(item: usize) -> bool {
    (item * 7919) % 100 < 55
}

fn judged(item: usize) -> [bool; 2] {
    [
        (item * 7919) % 100 < 62,
        (item * 7919) % 100 < 62 || (item * 104_729) % 97 < 35,
    ]
}

fn number(is: bool) -> u8 {
    u8::from(is)
}

/// A store with two arms that a judge decided.
fn judged_only(project: &Project) {
    let mut table = "suite,approach,model,item,passed,judge\n".to_owned();
    for item in 0..ITEMS {
        let [first, second] = judged(item).map(number);
        table.push_str(&format!("support,v3,nova,q{item},{first},gpt-judge\nsupport,v4,nova,q{item},{second},gpt-judge\n"));
    }
    project.file("answers.csv", table);
    assert_eq!(project.run(["import", "answers.csv", "--yes"]).code, 0);
}

/// Fills in the labels of a file as people would.
fn filled(csv: &str) -> String {
    let mut lines = csv.lines();
    let mut filled = format!("{}\n", lines.next().expect("a header"));
    for line in lines {
        let mut cells: Vec<&str> = line.split(',').collect();
        let item: usize = cells[1].trim_start_matches('q').parse().expect("an item");
        cells[2] = if truth(item) { "pass" } else { "fail" };
        filled.push_str(&format!("{}\n", cells.join(",")));
    }
    filled
}

fn board(project: &Project) -> Value {
    let answer = project.run(["leaderboard", "--format", "json"]).json();
    crate::schema::validate("leaderboard", &answer).expect("it keeps to its schema");
    answer["suites"][0].clone()
}

fn rate(board: &Value, approach: &str) -> Value {
    let entries = board["entries"].as_array().expect("entries");
    entries
        .iter()
        .find(|entry| entry["approach"] == approach)
        .expect("an arm")["primary"]
        .clone()
}

#[test]
fn labels_take_a_judges_winner_away() {
    let project = Project::new();
    judged_only(&project);
    let before = board(&project);
    assert_eq!(before["judged_by"]["judges"], json!(["gpt-judge"]));
    assert_eq!(
        (
            &before["judged_by"]["is_corrected"],
            &before["judged_by"]["labels"]
        ),
        (&json!(false), &json!(0))
    );
    let shown = project.run_in(["leaderboard"], &[("COLUMNS", "200")]);
    assert!(
        shown.answer().contains("by an unchecked judge")
            && shown.stdout.contains("not calibrated against people"),
        "{}",
        shown.stdout
    );
    let compared = project.run(["compare", "--format", "json"]).json();
    assert_eq!(
        compared["comparisons"][0]["rows"][0]["evidence"]["winner"], 0,
        "the judge alone sees a winner: {compared}"
    );

    let next = project
        .run(["judge", "--next", "160", "--format", "csv"])
        .answer()
        .to_owned();
    assert_eq!(next.lines().count(), 161, "{next}");
    assert!(next.starts_with("run,item,label,rater,"), "{next}");
    project.file("labels.csv", filled(&next));
    let stored = project
        .run(["import", "labels.csv", "--format", "json"])
        .json();
    crate::schema::validate("labels", &stored).expect("it keeps to its schema");
    assert_eq!(stored["runs"].as_array().map(Vec::len), Some(2));
    assert!(
        stored["runs"].as_array().is_some_and(|runs| runs
            .iter()
            .all(|run| run["added"] == 80 && run["rater"] == "human")),
        "{stored}"
    );

    let after = board(&project);
    assert_eq!(
        (
            &after["judged_by"]["is_corrected"],
            &after["judged_by"]["labels"]
        ),
        (&json!(true), &json!(80))
    );
    for approach in ["v3", "v4"] {
        let rate = rate(&after, approach);
        assert_eq!(
            (&rate["method"], &rate["n"], &rate["judge"]["labels"]),
            (&json!("prediction_powered"), &json!(ITEMS), &json!(80))
        );
        let ends = ["low", "high"].map(|end| rate["interval"][end].as_f64().expect("an end"));
        let real = (0..ITEMS).filter(|item| truth(*item)).count() as f64 / ITEMS as f64;
        assert!(ends[0] < real && real < ends[1], "{rate}");
    }
    // The judge alone is off by more than ten points.
    assert!(
        rate(&after, "v4")["judge"]["value"].as_f64() > Some(0.7),
        "{after}"
    );
    let answer = project.run(["compare", "--format", "json"]).json();
    crate::schema::validate("compare", &answer).expect("it keeps to its schema");
    let evidence = &answer["comparisons"][0]["rows"][0]["evidence"];
    let pair = &evidence["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["test"]),
        (&json!("not_enough_evidence"), &json!("prediction_powered")),
        "{pair}"
    );
    assert_eq!(evidence["winner"], Value::Null);
    assert!(
        pair["judge"]["value"]
            .as_f64()
            .is_some_and(|value| value.abs() > 0.1),
        "{pair}"
    );
    let shown = project.run(["compare"]);
    // The terminal's width may break a line anywhere.
    let text = shown.answer().replace('\n', " ");
    assert!(
        text.contains("The judge alone: ") && text.contains("corrected by people's labels"),
        "{text}"
    );
    assert_eq!(project.run(["doctor", "--verify"]).code, 0);
}

#[test]
fn labels_are_drawn_on_and_replaced() {
    let project = Project::new();
    judged_only(&project);
    let items = |csv: &str| -> Vec<String> {
        csv.lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).expect("an item").to_owned())
            .collect()
    };
    let next = |count: &str| {
        project
            .run(["judge", "--next", count, "--format", "csv"])
            .answer()
            .to_owned()
    };
    let first = next("60");
    assert_eq!(first, next("60"), "the same question has the same answer");
    let whole = items(&next("100"));
    project.file("labels.csv", filled(&first));
    assert_eq!(project.run(["import", "labels.csv"]).code, 0);
    let mut all: Vec<String> = items(&first)
        .into_iter()
        .chain(items(&next("40")))
        .collect();
    let mut expected = whole;
    all.sort();
    expected.sort();
    assert_eq!(all, expected, "a second draw goes on where the first ended");

    // The same labels again change nothing; another answer replaces the first; an empty one is skipped.
    let again = project
        .run(["import", "labels.csv", "--format", "json"])
        .json();
    assert!(
        again["runs"].as_array().is_some_and(|runs| runs
            .iter()
            .all(|run| run["added"] == 0 && run["changed"] == 0)),
        "{again}"
    );
    let line = first.lines().nth(1).expect("a line");
    let (run, item) = line
        .split(',')
        .next()
        .zip(line.split(',').nth(1))
        .expect("two cells");
    let label = if truth(item.trim_start_matches('q').parse().expect("a number")) {
        "fail"
    } else {
        "pass"
    };
    project.file(
        "other.csv",
        format!("run,item,label\n{run},{item},{label}\n{run},q1,\n"),
    );
    let other = project
        .run(["import", "other.csv", "--format", "json"])
        .json();
    assert_eq!(
        (
            &other["blank"],
            &other["runs"][0]["changed"],
            &other["runs"][0]["labels"]
        ),
        (&json!(1), &json!(1), &json!(30)),
        "{other}"
    );

    project.file(
        "wrong.csv",
        format!("run,item,label\n{run},nothing,pass\nnobody,q1,pass\n"),
    );
    let refused = project.run(["import", "wrong.csv"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("has no item `nothing`")
            && refused.stderr.contains("no run `nobody`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn agreement_is_told_by_category() {
    let project = Project::new();
    let mut table = "suite,approach,model,item,category,passed,judge\n".to_owned();
    for item in 0..60 {
        let category = if item < 40 { "billing" } else { "refund" };
        // The judge passes every refund; people pass half of them.
        let (people, judge) = (item % 2 == 0, item % 2 == 0 || item >= 40);
        for (who, passed) in [("gpt-judge", judge), ("human", people)] {
            table.push_str(&format!(
                "support,v3,nova,q{item},{category},{},{who}\n",
                number(passed)
            ));
        }
    }
    project.file("both.csv", table);
    assert_eq!(project.run(["import", "both.csv", "--yes"]).code, 0);
    let answer = project
        .run(["judge", "--agreement", "--format", "json"])
        .json();
    crate::schema::validate("agreement", &answer).expect("it keeps to its schema");
    let bias = answer["bias"].as_array().expect("rows");
    let row = |place: usize, key: &str| bias[place][key].clone();
    assert_eq!(
        (row(0, "n"), row(0, "alike"), row(0, "too_lenient")),
        (json!(60), json!(50), json!(10))
    );
    assert_eq!(
        (row(1, "category"), row(1, "bias")),
        (json!("billing"), json!(0.0))
    );
    assert_eq!(
        (row(2, "category"), row(2, "bias"), row(2, "too_strict")),
        (json!("refund"), json!(0.5), json!(0))
    );
    assert!(
        project
            .run(["judge", "--agreement"])
            .answer()
            .contains("refund")
    );
    // The labels of all items leave the judge nothing to say.
    let rate = rate(&board(&project), "v3");
    assert!(
        (rate["value"].as_f64().expect("a rate") - 0.5).abs() < 1e-12,
        "{rate}"
    );

    let empty = Project::new();
    judged_only(&empty);
    let refused = empty.run(["judge", "--agreement"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("no person has labelled"),
        "{}",
        refused.stderr
    );
}

#[test]
fn known_error_rates_correct_what_nobody_labelled() {
    let project = Project::new();
    judged_only(&project);
    let errors = "sensitivity=.95/200,specificity=.8/150";
    let answer = project
        .run(["leaderboard", "--judge-errors", errors, "--format", "json"])
        .json();
    let rate = rate(&answer["suites"][0], "v3");
    let judged = rate["judge"]["value"].as_f64().expect("the judge's rate");
    assert_eq!(rate["method"], "known_errors");
    assert!(
        (rate["value"].as_f64().expect("a rate") - (judged + 0.8 - 1.0) / 0.75).abs() < 1e-12,
        "{rate}"
    );
    let compared = project
        .run(["compare", "--judge-errors", errors, "--format", "json"])
        .json();
    let pair = &compared["comparisons"][0]["rows"][0]["evidence"]["pairs"][0];
    let [value, by_judge] = [&pair["difference"]["value"], &pair["judge"]["value"]]
        .map(|value| value.as_f64().expect("a number"));
    assert!((value - by_judge / 0.75).abs() < 1e-12, "{pair}");
    for (wrong, why) in [
        ("sensitivity=.9", "is not two shares"),
        (
            "sensitivity=.4/50,specificity=.5/50",
            "no better than chance",
        ),
    ] {
        let refused = project.run(["compare", "--judge-errors", wrong]);
        assert!(
            refused.code == 2 && refused.stderr.contains(why),
            "{}",
            refused.stderr
        );
    }
}

/// Labels the next items of some arms as people would.
fn label(project: &Project, count: &str, is_wanted: impl Fn(&str) -> bool) {
    let next = project
        .run(["judge", "--next", count, "--format", "csv"])
        .answer()
        .to_owned();
    let filled = filled(&next);
    let lines: Vec<&str> = filled
        .lines()
        .enumerate()
        .filter(|(number, line)| *number == 0 || is_wanted(line))
        .map(|(_, line)| line)
        .collect();
    project.file("labels.csv", lines.join("\n") + "\n");
    assert_eq!(project.run(["import", "labels.csv"]).code, 0);
}

#[test]
fn no_surface_shows_the_order_that_labels_correct() {
    needs!("python3");
    let project = Project::new();
    judged_only(&project);
    let audit = project.run(["audit", "--format", "json"]).json();
    crate::schema::validate("audit", &audit).expect("it keeps to its schema");
    assert_eq!(
        audit["audits"][0]["judged_by"]["is_corrected"], false,
        "an unchecked judge is named: {audit}"
    );
    assert_eq!(project.run(["build", "--out", "unchecked"]).code, 0);
    assert!(
        project
            .read("unchecked/badge/order/support.svg")
            .contains("unchecked judge")
    );
    assert!(
        project
            .read("unchecked/index.html")
            .contains("by an unchecked judge")
    );
    let items = |site: &str| -> Value {
        serde_json::from_str(&project.read(&format!("{site}/data/items/support.json")))
            .expect("JSON")
    };

    label(&project, "160", |_| true);
    let refused = project.run(["audit"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("has only the judge's outcomes"),
        "{}",
        refused.stderr
    );
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    assert!(
        !project.path("site/badge/order/support.svg").exists()
            && !project.path("site/suites/support/audit.html").exists()
    );
    for page in ["site/index.html", "site/suites/support/index.html"] {
        assert!(
            project.read(page).contains("as people would judge")
                || project.read(page).contains("corrected by people"),
            "{page}"
        );
    }
    // Labels are no outcomes of the items.
    assert_eq!(items("site")["items"], items("unchecked")["items"]);
    let path = std::env::var("PATH").unwrap_or_default();
    let verify = project.output(
        std::process::Command::new("python3")
            .arg("site/verify_site.py")
            .env("PATH", path),
    );
    assert!(
        verify.code == 0 && verify.stdout.ends_with("\n0 mismatches\n"),
        "{}{}",
        verify.stdout,
        verify.stderr
    );

    let compared = project.run(["compare", "--format", "json"]).json();
    let decision = &compared["comparisons"][0]["decision"];
    assert_eq!(
        (&decision["action"], &decision["more"]["of"]),
        (&json!("measure"), &json!("labels")),
        "{decision}"
    );
    assert!(
        project
            .run(["compare"])
            .answer()
            .contains("Decision: label more items (80 of 400 items are labelled)")
    );
}

#[test]
fn an_arm_without_labels_has_no_verdict_against_one_with_them() {
    let project = Project::new();
    judged_only(&project);
    label(&project, "160", |line| line.contains("v4"));
    let answer = project.run(["compare", "--format", "json"]).json();
    crate::schema::validate("compare", &answer).expect("it keeps to its schema");
    let pair = &answer["comparisons"][0]["rows"][0]["evidence"]["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["reason"]),
        (&json!("not_enough_evidence"), &json!("unlabelled")),
        "{pair}"
    );
    let shown = project.run(["compare"]).answer().replace('\n', " ");
    assert!(
        shown.contains("Decision: label at least 20 items of each arm")
            && shown.contains("so no verdict includes it"),
        "{shown}"
    );
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    let board = project.run_in(["leaderboard"], &[("COLUMNS", "200")]);
    assert!(
        board.answer().contains("corrected in part"),
        "{}",
        board.stdout
    );
}

#[test]
fn people_who_contradict_each_other_are_told() {
    let project = Project::new();
    judged_only(&project);
    let next = project
        .run(["judge", "--next", "80", "--format", "csv"])
        .answer()
        .to_owned();
    let labels = next.lines().skip(1).flat_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        ["pass", "fail"].map(|label| format!("{},{},{label},{label}er\n", cells[0], cells[1]))
    });
    project.file(
        "labels.csv",
        format!("run,item,label,rater\n{}", labels.collect::<String>()),
    );
    assert_eq!(project.run(["import", "labels.csv"]).code, 0);
    assert_eq!(board(&project)["judged_by"]["disputed"], 80);
    assert!(
        project
            .run(["leaderboard"])
            .answer()
            .replace('\n', " ")
            .contains("People contradict each other about 80 outcomes.")
    );
}

#[test]
fn error_rates_of_the_configuration_are_those_of_the_option() {
    let project = Project::new();
    judged_only(&project);
    let by_option = project
        .run([
            "leaderboard",
            "--judge-errors",
            "sensitivity=.95/200,specificity=.8/150",
            "--format",
            "json",
        ])
        .json();
    project.file(
        "evalreport.yaml",
        "version: 1\njudge_errors: {sensitivity: 0.95/200, specificity: 0.8/150}\n",
    );
    assert_eq!(board(&project), by_option["suites"][0]);
    // The option goes first.
    let other = project
        .run([
            "leaderboard",
            "--judge-errors",
            "sensitivity=.99/200,specificity=.8/150",
            "--format",
            "json",
        ])
        .json();
    assert_ne!(other["suites"][0], by_option["suites"][0]);
}

const RUNS: usize = 3;

/// A store with three runs of each arm that a judge decided. It favours the second arm, whose second run passes less.
fn judged_in_runs(project: &Project) {
    let mut table = "suite,approach,model,run,item,passed,judge\n".to_owned();
    for (run, item) in (1..=RUNS).flat_map(|run| (0..ITEMS).map(move |item| (run, item))) {
        let [first, second] = judged(item);
        let second = second && !(run == 2 && item % 40 == 3);
        table.push_str(&format!(
            "support,v3,nova,{run},q{item},{},gpt-judge\n",
            number(first)
        ));
        table.push_str(&format!(
            "support,v4,nova,{run},q{item},{},gpt-judge\n",
            number(second)
        ));
    }
    project.file("answers.csv", table);
    assert_eq!(project.run(["import", "answers.csv", "--yes"]).code, 0);
}

/// Returns how many of the lines of a file are about each run.
fn by_run(csv: &str) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for line in csv.lines().skip(1) {
        *counts
            .entry(line.split(',').next().expect("a run").to_owned())
            .or_default() += 1;
    }
    counts
}

#[test]
fn labels_of_several_runs_correct_them() {
    let project = Project::new();
    judged_in_runs(&project);
    let compared = project.run(["compare", "--format", "json"]).json();
    assert_eq!(
        compared["comparisons"][0]["rows"][0]["evidence"]["winner"], 0,
        "the judge alone sees a winner: {compared}"
    );

    let next = project
        .run(["judge", "--next", "180", "--format", "csv"])
        .answer()
        .to_owned();
    let runs = by_run(&next);
    assert_eq!(
        (runs.len(), next.lines().count()),
        (2 * RUNS, 181),
        "every run is drawn from: {runs:?}"
    );
    assert!(runs.values().all(|labels| *labels >= 15), "{runs:?}");
    let mut items: Vec<&str> = next
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).expect("an item"))
        .collect();
    items.sort_unstable();
    items.dedup();
    assert_eq!(
        items.len(),
        90,
        "an item is labelled in one run of each arm"
    );
    project.file("labels.csv", filled(&next));
    assert_eq!(project.run(["import", "labels.csv"]).code, 0);

    let after = board(&project);
    assert_eq!(
        (
            &after["judged_by"]["is_corrected"],
            &after["judged_by"]["labels"]
        ),
        (&json!(true), &json!(90)),
        "{after}"
    );
    assert_eq!(after["judged_by"].get("runs_to_label"), None);
    let real = (0..ITEMS).filter(|item| truth(*item)).count() as f64 / ITEMS as f64;
    for approach in ["v3", "v4"] {
        let rate = rate(&after, approach);
        assert_eq!(
            (&rate["method"], &rate["judge"]["labels"]),
            (&json!("prediction_powered"), &json!(90))
        );
        let ends = ["low", "high"].map(|end| rate["interval"][end].as_f64().expect("an end"));
        assert!(ends[0] < real && real < ends[1], "{rate}");
    }
    let answer = project.run(["compare", "--format", "json"]).json();
    crate::schema::validate("compare", &answer).expect("it keeps to its schema");
    let pair = &answer["comparisons"][0]["rows"][0]["evidence"]["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["test"]),
        (&json!("not_enough_evidence"), &json!("prediction_powered")),
        "{pair}"
    );
    assert_eq!(project.run(["build", "--out", "site"]).code, 0);
    assert!(
        project
            .run(["leaderboard"])
            .answer()
            .contains("corrected by people's labels")
    );
}

#[test]
fn labels_of_one_run_of_several_correct_nothing_and_say_so() {
    let project = Project::new();
    judged_in_runs(&project);
    let next = project
        .run(["judge", "--next", "300", "--format", "csv"])
        .answer()
        .to_owned();
    let first: Vec<String> = ["v3", "v4"]
        .iter()
        .map(|arm| {
            next.lines()
                .find(|line| line.contains(arm))
                .and_then(|line| line.split(',').next())
                .expect("a run")
                .to_owned()
        })
        .collect();
    let filled = filled(&next);
    let of_one: Vec<&str> = filled
        .lines()
        .enumerate()
        .filter(|(place, line)| *place == 0 || first.iter().any(|run| line.starts_with(run)))
        .map(|(_, line)| line)
        .collect();
    project.file("labels.csv", of_one.join("\n") + "\n");
    assert_eq!(project.run(["import", "labels.csv"]).code, 0);
    let judged = board(&project)["judged_by"].clone();
    assert_eq!(
        (&judged["is_corrected"], &judged["runs_to_label"]),
        (&json!(false), &json!(2)),
        "{judged}"
    );
    assert!(judged["labels"].as_u64() >= Some(20), "{judged}");
    let shown = project.run(["leaderboard"]).answer().replace('\n', " ");
    assert!(
        shown.contains("too few runs: at least 2 of each arm must have some"),
        "{shown}"
    );
    // The next labels are of other runs, too.
    assert!(
        by_run(
            project
                .run(["judge", "--next", "60", "--format", "csv"])
                .answer()
        )
        .len()
            > 2
    );
}

/// Runs that wrote one artefact each, whose criteria a judge decided; a person labelled those of the first runs.
fn artefacts(runs: usize, labelled: usize) -> Project {
    let project = Project::new();
    for (arm, approach) in ["v3", "v4"].into_iter().enumerate() {
        for run in 0..runs {
            let id = format!("{approach}-{run}");
            project.result(&crate::support::result(
                &id,
                "notes",
                approach,
                json!({"status": "completed"}),
            ));
            let criteria = (0..20).flat_map(|item| {
                let is_met = (item * 7 + run * 3) % 10 < 6;
                // The judge passes some unmet criteria of the second arm.
                let said = is_met || arm == 1 && usize::is_multiple_of(item, 2);
                let of = |who: &str, is: bool| {
                    let status = if is { "pass" } else { "fail" };
                    json!({"item": format!("c{item:02}"), "kind": "criterion", "evaluator": who, "attempt": 1, "revision": 0, "status": status})
                };
                let label = (run < labelled).then(|| of("human", is_met));
                std::iter::once(of("requirementFulfillment", said)).chain(label).collect::<Vec<Value>>()
            });
            project.items(&id, &criteria.collect::<Vec<Value>>());
        }
    }
    project
}

#[test]
fn criteria_of_one_artefact_have_the_run_as_unit() {
    let project = artefacts(5, 3);
    let judged = board(&project)["judged_by"].clone();
    assert_eq!(
        (&judged["is_corrected"], &judged["labels"]),
        (&json!(true), &json!(60)),
        "{judged}"
    );
    let answer = project.run(["compare", "--format", "json"]).json();
    crate::schema::validate("compare", &answer).expect("it keeps to its schema");
    let pair = &answer["comparisons"][0]["rows"][0]["evidence"]["pairs"][0];
    assert_eq!(
        (&pair["design"], &pair["test"], &pair["verdict"]),
        (
            &json!("runs"),
            &json!("prediction_powered"),
            &json!("not_enough_evidence")
        ),
        "{pair}"
    );
    assert!(
        pair["judge"]["value"]
            .as_f64()
            .is_some_and(|value| value.abs() > 0.1),
        "{pair}"
    );
    let [low, high] = ["low", "high"].map(|end| {
        pair["difference"]["interval"][end]
            .as_f64()
            .expect("an end")
    });
    assert!(low < 0.0 && high > 0.0, "{pair}");
    let next = project
        .run(["judge", "--next", "30", "--format", "csv"])
        .answer()
        .to_owned();
    assert!(
        by_run(&next)
            .keys()
            .all(|run| run.ends_with('3') || run.ends_with('4')),
        "what is labelled is not drawn: {next}"
    );

    let few = artefacts(5, 2);
    let judged = board(&few)["judged_by"].clone();
    assert_eq!(
        (&judged["is_corrected"], &judged["runs_to_label"]),
        (&json!(false), &json!(3)),
        "{judged}"
    );
    let shown = few.run(["leaderboard"]).answer().replace('\n', " ");
    assert!(
        shown.contains("at least 3 of each arm must have some"),
        "{shown}"
    );

    let two = artefacts(2, 2);
    assert_eq!(board(&two)["judged_by"]["is_corrected"], false);
    let shown = two
        .run(["judge", "--next", "10"])
        .answer()
        .replace('\n', " ");
    assert!(
        shown.contains("labels correct nothing below 3 runs of each arm"),
        "{shown}"
    );
}
