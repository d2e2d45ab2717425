//! Models that are fitted: abilities, votes on pairs against another implementation, and time horizons.

use serde_json::{Value, json};

use crate::schema::validate;
use crate::support::{Project, lines, result, test};

fn fit(project: &Project, arguments: &[&str]) -> Value {
    let model = arguments[0];
    let answer = project
        .run(
            ["fit"]
                .iter()
                .chain(arguments)
                .copied()
                .chain(["--format", "json"]),
        )
        .json();
    validate(&format!("fit-{model}"), &answer).unwrap_or_else(|error| panic!("{error}"));
    answer
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

/// Holds the scores of a board's arms against others.
fn close(board: &Value, field: &str, wanted: &[(String, f64)], tolerance: f64) {
    let places = board["places"].as_array().expect("places");
    assert_eq!(places.len(), wanted.len());
    for (arm, wanted) in wanted {
        let place = places
            .iter()
            .find(|place| place["arm"] == arm.as_str())
            .unwrap_or_else(|| panic!("no {arm}"));
        let got = place[field].as_f64().expect("a number");
        assert!(
            (got - wanted).abs() <= tolerance,
            "{arm}: {field} {got} and not {wanted}"
        );
    }
}

#[test]
fn strengths_are_those_of_another_implementation() {
    let golden: Vec<(String, f64)> = rows(include_str!("../fixtures/votes/llmfao-golden.csv"))
        .map(|row| (row[0].to_owned(), row[1].parse().expect("a score")))
        .collect();
    assert_eq!(golden.len(), 59);
    let mut votes = "left,right,winner\n".to_owned();
    for row in rows(include_str!("../fixtures/votes/llmfao-pairs.csv")) {
        let count = |at: usize| row[at].parse::<usize>().expect("a count");
        for (at, word) in [(2, "left"), (3, "right"), (4, "tie")] {
            votes.push_str(
                &format!("{},{},{word}\n", golden[count(0)].0, golden[count(1)].0)
                    .repeat(count(at)),
            );
        }
    }
    let project = Project::new();
    project
        .file("votes.csv", votes)
        .fixture("votes/simple.csv", "simple.csv");
    let answer = fit(&project, &["preferences", "votes.csv", "simple.csv"]);
    assert_eq!(
        (&answer["boards"][0]["votes"], &answer["boards"][0]["ties"]),
        (&json!(8931), &json!(3471))
    );
    close(&answer["boards"][0], "share", &golden, 4e-12);
    let of = |pick: fn(&(&str, f64, f64)) -> f64| {
        SIMPLE
            .iter()
            .map(|row| (row.0.to_owned(), pick(row)))
            .collect::<Vec<_>>()
    };
    close(&answer["boards"][1], "share", &of(|row| row.1), 1e-12);
    close(&answer["boards"][1], "elo", &of(|row| row.2), 1e-9);
}

/// Arms of `simple.csv` with evalica's scores and ratings.
const SIMPLE: [(&str, f64, f64); 5] = [
    ("4", 0.349_475_274_899_23, 1_004.056_242_394_867_9),
    ("3", 0.336_888_680_415_738_55, 1_003.886_197_441_153_6),
    ("2", 0.131_685_680_701_105_23, 999.977_307_228_502_4),
    ("1", 0.131_150_691_453_536_8, 999.977_170_595_538_6),
    ("0", 0.050_799_672_530_389_396, 992.103_082_339_937_5),
];

#[test]
fn a_board_of_votes_in_words() {
    let project = Project::new();
    project.fixture("votes/votes.csv", "votes.csv");
    insta::assert_snapshot!(
        project
            .run(["fit", "preferences", "votes.csv", "--style", "words"])
            .snapshot()
    );
    insta::assert_snapshot!(
        project
            .run([
                "fit",
                "preferences",
                "votes.csv",
                "--format",
                "csv",
                "--ties",
                "davidson"
            ])
            .snapshot()
    );
    insta::assert_snapshot!(project.run(["import", "votes.csv"]).snapshot());
}

#[test]
fn tables_without_a_board() {
    let project = Project::new();
    project.file("words.csv", "model_a,model_b,winner\nx,y,purple\nx,,tie\n");
    project.file("columns.csv", "model,passed\nx,yes\n");
    project.file(
        "apart.csv",
        "model_a,model_b,winner\nx,y,model_a\nx,z,model_a\n",
    );
    for arguments in [
        &["words.csv"][..],
        &["columns.csv"],
        &["apart.csv"],
        &["apart.csv", "--column", "colour=red"],
        &["none.csv"],
    ] {
        let output = project.run(["fit", "preferences"].iter().chain(arguments).copied());
        assert_eq!(output.code, 2, "{}", output.stderr);
        insta::assert_snapshot!(output.snapshot());
    }
}

/// Writes attempts of a test vector as METR does.
fn runs(vector: &Value, agent: &str) -> String {
    let of = |key: &str, at: usize| vector["input"][key][at].clone();
    let attempts = vector["input"]["task"].as_array().expect("tasks").len();
    lines((0..attempts).map(|at| {
        let (task, family) = (of("task", at), of("family", at));
        json!({
            "task_id": format!("f{family}/t{task}"), "task_family": format!("f{family}"), "alias": agent, "model": agent,
            "score_binarized": of("score", at), "human_minutes": of("minutes", at), "run_id": format!("{agent} {at}"),
        })
        .to_string()
    }))
}

#[test]
fn horizons_are_those_of_scikit_learn() {
    let vectors: Value =
        serde_json::from_str(include_str!("../fixtures/vectors/models.json")).expect("JSON");
    let is_wanted = |case: &&Value| {
        case["method"] == "horizon"
            && case["input"]["weighted"] == true
            && case["input"]["penalty"] == 0.1
    };
    let whole = |case: &&Value| {
        let scores = case["input"]["score"].as_array().expect("scores");
        scores.iter().all(|score| score == 0.0 || score == 1.0)
    };
    let all = vectors["cases"].as_array().expect("cases");
    let vector = all.iter().filter(is_wanted).find(whole).expect("a case");
    let never = all
        .iter()
        .filter(is_wanted)
        .filter(whole)
        .find(|case| case["expected"]["slope"].is_null())
        .expect("a case");
    let project = Project::new();
    project.file(
        "runs.jsonl",
        runs(vector, "Big 1") + &runs(never, "Small 1"),
    );
    let answer = fit(&project, &["horizons", "runs.jsonl"]);
    let [big, small] = [0, 1].map(|at: usize| &answer["suites"][0]["arms"][at]);
    for (got, wanted) in [
        (&big["curve"]["intercept"], "intercept"),
        (&big["curve"]["slope"], "slope"),
        (&big["half"]["minutes"], "p50"),
        (&big["most"]["minutes"], "p80"),
    ] {
        let (got, wanted) = (
            got.as_f64().expect("a number"),
            vector["expected"][wanted].as_f64().expect("a number"),
        );
        assert!((got / wanted - 1.0).abs() < 1e-6, "{got} and not {wanted}");
    }
    let interval = [
        &big["half"]["low"],
        &big["half"]["minutes"],
        &big["half"]["high"],
    ]
    .map(|end| end.as_f64().expect("a number"));
    assert!(
        interval.is_sorted() && interval[0] < interval[2],
        "{interval:?}"
    );
    assert_eq!(
        (&small["arm"]["approach"], &small["half"], &small["curve"]),
        (&json!("Small 1"), &Value::Null, &Value::Null)
    );
    insta::assert_snapshot!(project.run(["fit", "horizons", "runs.jsonl"]).snapshot());
    project.file("answers.csv", "model,task,passed\nnova,a,yes\nnova,b,no\n");
    assert!(
        project
            .run(["fit", "horizons", "answers.csv"])
            .refusal()
            .contains("no selected outcome has a human time")
    );
}

#[test]
fn abilities_of_arms_that_were_asked_different_items() {
    let project = Project::new();
    project.fixture("abilities/scores.csv", "scores.csv");
    insta::assert_snapshot!(
        project
            .run(["fit", "abilities", "--matrix", "scores.csv"])
            .snapshot()
    );
    insta::assert_snapshot!(
        project
            .run([
                "fit",
                "abilities",
                "--matrix",
                "scores.csv",
                "--format",
                "csv"
            ])
            .snapshot()
    );
    let answer = fit(&project, &["abilities", "--matrix", "scores.csv"]);
    let board = &answer["boards"][0];
    // The four worse arms pass it, the four better ones do not. Of 110 items of eight arms that is no proof yet.
    let p_of = |item: &&Value| item["p"].as_f64().unwrap_or(1.0);
    let strangest = board["asked"]
        .as_array()
        .expect("items")
        .iter()
        .min_by(|one, other| p_of(one).total_cmp(&p_of(other)));
    let strangest = strangest.expect("an item");
    assert_eq!(
        (&strangest["item"], &strangest["is_reversed"]),
        (&json!("both-17"), &json!(false))
    );
    assert!(p_of(&strangest) < 1e-3, "{strangest}");
    let items = project
        .run([
            "fit",
            "abilities",
            "--matrix",
            "scores.csv",
            "--items",
            "--format",
            "csv",
        ])
        .stdout;
    let hardest: Vec<f64> = rows(&items)
        .map(|row| row[3].parse().expect("a difficulty"))
        .collect();
    assert!(
        hardest.len() == 110 && hardest.iter().rev().is_sorted(),
        "{hardest:?}"
    );
    let markdown = project
        .run([
            "fit",
            "abilities",
            "--matrix",
            "scores.csv",
            "--format",
            "markdown",
        ])
        .stdout;
    assert!(markdown.contains("| Place | Arm |"), "{markdown}");
}

#[test]
fn boards_without_abilities() {
    let project = Project::new();
    project.file("two.csv", "arm,a,b\nx,1,0\ny,0,1\n");
    project.file("negative.csv", "arm,a,b\nx,-1,0\ny,0,1\n");
    for file in ["two.csv", "negative.csv", "none.csv"] {
        let output = project.run(["fit", "abilities", "--matrix", file]);
        assert_eq!(output.code, 2, "{}", output.stderr);
        insta::assert_snapshot!(output.snapshot());
    }
}

#[test]
fn abilities_of_a_suite() {
    let project = Project::new();
    let passes = |arm: usize, item: usize| {
        (item * 37 + arm * 53 + item * arm * 11 + item * item * 3) % 10 < 3 + 2 * arm
    };
    let row = |arm: usize, item: usize| {
        format!(
            "m{arm},q{item:02},{}\n",
            if passes(arm, item) { "yes" } else { "no" }
        )
    };
    // The last arm was asked the second half only.
    let asked =
        (0..3).flat_map(|arm| (if arm == 2 { 20 } else { 0 }..40).map(move |item| (arm, item)));
    let table: String = asked.map(|(arm, item)| row(arm, item)).collect();
    project.file("answers.csv", format!("model,task,passed\n{table}"));
    let answer = fit(&project, &["abilities", "answers.csv"]);
    let board = &answer["boards"][0];
    assert_eq!(
        (&board["items"], &board["sets"]),
        (&json!(40), &json!(2)),
        "{answer}"
    );
    let places: Vec<&Value> = board["places"].as_array().expect("places").iter().collect();
    assert_eq!(
        (
            &places[0]["items"],
            places[0]["arm"]
                .as_str()
                .is_some_and(|arm| arm.contains("m2"))
        ),
        (&json!(20), true)
    );
    assert_eq!(places[2]["rate"]["value"], places[2]["score"]);
}

/// The numbers of a table's column on a page, in its order, by the keys that sort it.
fn keys(page: &str, table: &str, column: usize) -> Vec<f64> {
    let table = page
        .split_once(&format!("<table id=\"{table}\""))
        .unwrap_or_else(|| panic!("no table {table}: {page}"))
        .1;
    let body = table
        .split_once("<tbody>")
        .and_then(|(_, rest)| rest.split_once("</tbody>"))
        .expect("a body")
        .0;
    let rows = body.split("<tr").skip(1);
    rows.filter_map(|row| {
        row.split("data-v=\"")
            .nth(column)?
            .split('"')
            .next()?
            .parse()
            .ok()
    })
    .collect()
}

#[test]
fn the_site_has_a_page_of_horizons_if_items_have_human_times() {
    let vectors: Value =
        serde_json::from_str(include_str!("../fixtures/vectors/models.json")).expect("JSON");
    let is_wanted = |case: &&Value| {
        let scores = case["input"]["score"].as_array();
        let is_whole =
            scores.is_some_and(|scores| scores.iter().all(|score| score == 0.0 || score == 1.0));
        case["method"] == "horizon" && is_whole && !case["expected"]["slope"].is_null()
    };
    let vector = vectors["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .find(is_wanted)
        .expect("a case");
    let project = Project::new();
    project.file("runs.jsonl", runs(vector, "Big 1"));
    project.file(
        "answers.csv",
        "model,task,passed\nnova,a,yes\nnova,b,no\nluna,a,no\nluna,b,no\n",
    );
    for file in ["runs.jsonl", "answers.csv"] {
        assert_eq!(project.run(["import", file, "--yes"]).code, 0);
    }
    assert_eq!(project.run(["build", "--out", "site", "--quiet"]).code, 0);
    let pages: Vec<String> = project
        .files("site/suites")
        .into_iter()
        .filter(|path| path.ends_with("/horizons.html"))
        .collect();
    let [page] = pages.as_slice() else {
        panic!("one suite has human times: {pages:?}")
    };
    let told = fit(&project, &["horizons"]);
    let half = told["suites"][0]["arms"][0]["half"]["minutes"]
        .as_f64()
        .expect("minutes");
    let html = project.read(page);
    assert!(
        keys(&html, "horizons", 1)
            .first()
            .is_some_and(|shown| (shown / half - 1.0).abs() < 1e-12),
        "{half}: {html}"
    );
    let folder = page.trim_end_matches("/horizons.html");
    let data = project
        .files("site/data/horizons")
        .into_iter()
        .find(|path| path.contains(".json"))
        .expect("data");
    let data: Value = serde_json::from_str(&project.read(&data)).expect("JSON");
    assert_eq!(
        data["suites"], told["suites"],
        "the same answer as the command's"
    );
    for page in ["index", "leaderboard"] {
        let html = project.read(&format!("{folder}/{page}.html"));
        assert!(
            html.contains("half of the tasks that take people") && html.contains("horizons.html"),
            "{html}"
        );
    }
}

#[test]
fn the_site_has_a_page_of_abilities_if_arms_were_asked_different_items() {
    let passes = |arm: usize, item: usize| {
        (item * 37 + arm * 53 + item * arm * 11 + item * item * 3) % 10 < 3 + 2 * arm
    };
    let table = |last: usize| {
        let asked = (0..3)
            .flat_map(|arm| (if arm == 2 { last } else { 0 }..40).map(move |item| (arm, item)));
        let rows = lines(asked.map(|(arm, item)| {
            format!(
                "m{arm},q{item:02},{}",
                if passes(arm, item) { "yes" } else { "no" }
            )
        }));
        format!("model,task,passed\n{rows}")
    };
    let project = Project::new();
    project
        .file("apart.csv", table(20))
        .file("alike.csv", table(0));
    for file in ["apart.csv", "alike.csv"] {
        assert_eq!(project.run(["import", file, "--yes"]).code, 0);
    }
    assert_eq!(project.run(["build", "--out", "site", "--quiet"]).code, 0);
    let pages: Vec<String> = project
        .files("site/suites")
        .into_iter()
        .filter(|path| path.ends_with("/abilities.html"))
        .collect();
    assert!(pages.len() == 1 && pages[0].contains("apart"), "{pages:?}");
    let told = fit(&project, &["abilities", "apart"]);
    let data: Value =
        serde_json::from_str(&project.read("site/data/abilities/apart.json")).expect("JSON");
    assert_eq!(
        data["boards"], told["boards"],
        "the same answer as the command's"
    );
    let why = "1 of 3 arms were asked only some of the 40 items, so pass rates are of different items and do not compare.";
    for page in ["index", "leaderboard", "abilities"] {
        let html = project.read(&format!("site/suites/apart/{page}.html"));
        assert!(
            html.contains(why) && html.contains("abilities.html"),
            "{page}: {html}"
        );
    }
    let html = project.read("site/suites/apart/abilities.html");
    assert!(html.contains("Check: two arms differ on"), "{html}");
}

#[test]
fn tests_of_one_artefact_have_no_abilities() {
    let project = Project::new();
    for arm in 0..4_usize {
        let id = format!("run-{arm}");
        project.result(&result(&id, "build", &format!("a{arm}"), json!({})));
        let items: Vec<Value> = (0..40)
            .map(|item| {
                test(
                    &format!("t{item}"),
                    if item * 7 % 10 < 2 + 2 * arm {
                        "pass"
                    } else {
                        "fail"
                    },
                )
            })
            .collect();
        project.items(&id, &items);
    }
    let refused = project.run(["fit", "abilities"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("tests of one artefact"),
        "{}",
        refused.stderr
    );
}
