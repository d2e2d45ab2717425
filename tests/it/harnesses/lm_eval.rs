//! lm-evaluation-harness: results and samples of one time stamp, of every age.

use serde_json::{Value, json};

use super::{imported, project, quirks, stored};

const STAMP: &str = "2026-02-03T10-20-30.125000";

#[test]
fn a_task_is_a_run_with_its_samples() {
    let project = project("lm_eval", "plain");
    let (source, runs) = imported(&project, "lm-eval");
    assert_eq!(
        [
            &source["items"],
            &source["stated_checked"],
            &source["stated_agree"]
        ],
        [&json!(4), &json!(2), &json!(2)],
        "{source}"
    );
    assert_eq!(
        (&source["foreign"]["version"], &source["foreign"]["files"]),
        (&json!("lm_eval 0.4.9"), &json!(2))
    );
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&json!({"run": runs[0], "first": stored(&project)[0]}))
            .expect("JSON")
    );
    // The monotonic clock of `start_time` and `end_time` is no time: the run ended 60.5 s after its date.
    assert_eq!(runs[0]["timestamp"], "2026-02-03T10:21:30.625Z");
    let again = project
        .run([
            "import",
            &format!("out/org__tiny/results_{STAMP}.json"),
            "--format",
            "json",
        ])
        .json();
    assert_eq!(
        again["sources"][0]["outcome"], "nothing_new",
        "the results alone are the same run"
    );
}

#[test]
fn the_first_filter_decides_and_the_others_are_scores() {
    let project = project("lm_eval", "filters");
    let (source, runs) = imported(&project, "lm-eval");
    assert_eq!(
        [
            &source["items"],
            &source["stated_checked"],
            &source["stated_agree"]
        ],
        [&json!(4), &json!(4), &json!(4)],
        "{source}"
    );
    let run = &runs[0];
    assert_eq!(
        (&run["approach"], &run["passed"], &run["total"]),
        (&json!("8-shot chat"), &json!(2), &json!(4)),
        "{run}"
    );
    let scores = run["scores"].as_array().expect("scores");
    assert_eq!(scores.len(), 1);
    assert_eq!(
        (&scores[0]["metric"], &scores[0]["value"], &scores[0]["n"]),
        (
            &json!("exact_match,flexible-extract"),
            &json!(0.75),
            &json!(4)
        )
    );
    let item = &stored(&project)[3];
    assert_eq!(
        (&item["item"], &item["status"]),
        (&json!("3"), &json!("fail")),
        "{item}"
    );
    assert_eq!(
        (&item["evaluator"], &item["scores"]),
        (
            &json!("exact_match,strict-match"),
            &json!({"exact_match,flexible-extract": 1.0})
        )
    );
    assert_eq!(
        (&item["answer"], &item["reply"]),
        (&json!("[invalid]"), &json!("It is 4. #### 4")),
        "{item}"
    );
}

#[test]
fn metrics_over_a_corpus_give_samples_no_score() {
    let (source, runs) = imported(&project("lm_eval", "corpus-metrics"), "lm-eval");
    let run = &runs[0];
    assert_eq!(run["statuses"], json!({"skipped": 3}), "{run}");
    let said = quirks(&source);
    assert!(
        said.contains("such as `N/A` are read as not measured")
            && said.contains("outside of the pass rate"),
        "{said}"
    );
    let stated: Vec<_> = run["stated"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|one| (one["name"].clone(), one.get("recomputed").cloned()))
        .collect();
    let expected = [
        ("bleu,none", None),
        ("rougeL,none", Some(json!(0.5))),
        ("rougeL_stderr,none", Some(json!(0.25_f64 / 3.0_f64.sqrt()))),
    ];
    assert_eq!(
        stated.len(),
        3,
        "an error that is `N/A` is no figure: {stated:?}"
    );
    for ((name, recomputed), (expected_name, expected)) in stated.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert_eq!(recomputed.is_some(), expected.is_some(), "{name}");
    }
    assert_eq!(
        (&source["stated_checked"], &source["stated_agree"]),
        (&json!(2), &json!(1)),
        "the stated error of rougeL is wrong"
    );
    let units: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|one| (one["metric"].clone(), one["unit"].clone()))
        .collect();
    assert_eq!(
        units,
        [
            (json!("bleu"), json!("number")),
            (json!("rougeL"), json!("fraction"))
        ]
    );
}

#[test]
fn fewer_samples_than_were_asked_leave_the_stated_figure() {
    let (source, runs) = imported(&project("lm_eval", "truncated"), "lm-eval");
    assert_eq!(
        (&source["items"], &source["stated_checked"]),
        (&json!(0), &json!(0)),
        "{source}"
    );
    assert!(
        quirks(&source).contains("`big` has 2 of 5000 samples in its file"),
        "{source}"
    );
    assert_eq!(
        (&runs[0]["passed"], &runs[0]["total"]),
        (&json!(2), &json!(5000)),
        "0.04 % of 5000, with the error that grades have"
    );
    assert_eq!(
        runs[0]["tags"]["truncated"],
        "2 of 5000 samples in the file"
    );
}

#[test]
fn a_line_that_is_cut_off_is_refused_and_the_rest_is_kept() {
    let cut = |project: &crate::support::Project, file: &str| {
        let whole = std::fs::read(project.path(file)).expect("readable");
        project.bytes(file, &whole[..whole.len() - 3]);
    };
    let samples = "out/org__tiny/samples_trivia_2026-02-03T10-20-30.125000.jsonl";
    // The results say of how many: theirs stands.
    let whole = self::project("lm_eval", "plain");
    cut(&whole, samples);
    let (source, runs) = imported(&whole, "lm-eval");
    assert_eq!(
        (&source["items"], &runs[0]["status"]),
        (&json!(0), &json!("completed")),
        "{source}"
    );
    assert!(
        source
            .to_string()
            .contains("line 4: is cut off in the middle of the JSON"),
        "{source}"
    );
    assert!(runs[0]["tags"]["truncated"].is_string());
    // Without them nothing does.
    let alone = self::project("lm_eval", "samples-alone");
    cut(&alone, samples);
    let (source, runs) = imported(&alone, "lm-eval");
    assert_eq!(
        (&source["items"], &runs[0]["status"]),
        (&json!(1), &json!("failed")),
        "{source}"
    );
    for project in [whole, alone] {
        assert_eq!(
            project
                .run(["import", "out", "--strict", "--set", "suite=other"])
                .code,
            2
        );
    }
}

#[test]
fn a_group_is_checked_against_its_tasks() {
    let (source, runs) = imported(&project("lm_eval", "group"), "lm-eval");
    let suites: Vec<_> = runs.iter().map(|run| run["suite"].clone()).collect();
    assert_eq!(suites, [json!("all"), json!("all_one"), json!("all_two")]);
    let figure = &runs[0]["stated"][0];
    assert_eq!(
        (&figure["name"], &figure["disagrees"]),
        (&json!("acc,none"), &json!(false)),
        "0.5 of 4 and 5/6 of 6: {figure}"
    );
    assert_eq!(
        (&runs[0]["scores"][0]["n"], &runs[0]["suite_version"]),
        (&json!(10), &Value::Null)
    );
    assert_eq!(
        (&runs[2]["passed"], &runs[2]["total"]),
        (&json!(5), &json!(6)),
        "{source}"
    );
    assert_eq!(
        runs[2].get("duration_seconds").cloned().unwrap_or_default(),
        Value::Null,
        "the time of all tasks is of none of them"
    );
}

#[test]
fn the_error_of_an_unweighted_group_is_that_of_its_mean() {
    let project = project("lm_eval", "group");
    let file = format!("out/results_{STAMP}.json");
    let mut results: Value = serde_json::from_str(&project.read(&file)).expect("JSON");
    let (one, two) = (0.288_675_134_594_812_87_f64, 0.166_666_666_666_666_66_f64);
    let pooled = |sizes: [f64; 2]| {
        let [a, b] = sizes;
        let variance = ((a - 1.0) * one * one * a + (b - 1.0) * two * two * b) / (a + b - 2.0);
        (variance / (a + b)).sqrt()
    };
    let plain = (one * one + two * two).sqrt() / 2.0;
    results["groups"]["all"]["acc,none"] = json!(f64::midpoint(0.5, 5.0 / 6.0));
    results["groups"]["all"]["acc_stderr,none"] = json!(pooled([4.0, 6.0]));
    project.file(&file, results.to_string());
    let (source, runs) = imported(&project, "lm-eval");
    let stated: Vec<_> = runs[0]["stated"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|figure| (figure["name"].clone(), figure["disagrees"].clone()))
        .collect();
    assert_eq!(
        stated,
        [
            (json!("acc,none"), json!(false)),
            (json!("acc_stderr,none"), json!(true))
        ]
    );
    let error = runs[0]["scores"][0]["standard_error"]
        .as_f64()
        .expect("an error");
    assert!((error - plain).abs() < 1e-12, "{error} {plain}");
    assert!(
        quirks(&source).contains("the figure of the group `all` is the unweighted mean")
            && quirks(&source)
                .contains("the published standard error of the group `all` does not belong"),
        "{source}"
    );
    // A task without the figure is out of the group's mean, and named.
    let without = self::project("lm_eval", "group");
    results["groups"]["all"]["acc,none"] = json!(0.5);
    results["results"]["all_two"] = json!({"alias": " - two", "f1,none": 0.25});
    without.file(&file, results.to_string());
    let (source, _) = imported(&without, "lm-eval");
    assert!(
        quirks(&source).contains("`acc,none` of the group `all` is over 1 of its 2 tasks"),
        "{source}"
    );
}

#[test]
fn a_backend_is_no_model() {
    for (config, expected) in [
        (
            json!({"model": "vllm", "model_args": "dtype=auto"}),
            "unknown (out)",
        ),
        (
            json!({"model": "hf", "model_args": "pretrained=org/one"}),
            "org/one",
        ),
    ] {
        let project = project("lm_eval", "before-0.4");
        let mut results: Value =
            serde_json::from_str(&project.read("out/results.json")).expect("JSON");
        results["config"] = config;
        project.file("out/results.json", results.to_string());
        let (_, runs) = imported(&project, "lm-eval");
        assert_eq!(runs[0]["model"], expected);
    }
}

#[test]
fn repeats_of_evalchemy_are_no_samples_of_their_own() {
    let project = crate::support::Project::new();
    let repeat = |number: u64, solved: u64| json!({"repetition": number, "num_total": 4, "num_solved": solved, "accuracy": solved as f64 / 4.0});
    let results = json!({
        "results": {
            "AIME24": {"examples": [{"id": 1, "model_outputs": ["7", "8"]}], "num_total": 4, "solved_avg": 1.5, "run_stats": [repeat(1, 1), repeat(2, 2)],
                "accuracy_avg": 0.375, "accuracy_std_err": 0.0625, "num_repeat": 2},
            "MATH500": {"num_total": 500, "num_solved": 300, "accuracy": 0.6},
        },
        "config": {"model": "vllm", "model_args": "pretrained=org/one"}, "git_hash": "abc", "date": 1_784_594_363.0, "model_name": "org/one",
    });
    project.file(
        &format!("out/org__one/results_{STAMP}.json"),
        results.to_string(),
    );
    let (source, runs) = imported(&project, "lm-eval");
    let [aime, math] = runs.as_slice() else {
        panic!("a run for each task: {source}")
    };
    let scores = aime["scores"].as_array().expect("scores");
    assert_eq!(scores.len(), 1, "a spread is no metric: {aime}");
    let expected = [json!("accuracy_avg"), json!(0.375), json!(0.0625), json!(4)];
    assert_eq!(
        ["metric", "value", "standard_error", "n"].map(|key| scores[0][key].clone()),
        expected
    );
    assert_eq!(
        (
            &aime["model"],
            &aime["tags"]["repeats"],
            &aime["stated"][0]["disagrees"]
        ),
        (&json!("org/one"), &json!("2"), &json!(false))
    );
    assert_eq!(
        (&math["passed"], &math["total"]),
        (&json!(300), &json!(500)),
        "{source}"
    );
}

#[test]
fn means_over_tasks_of_lighteval_are_no_tasks() {
    let project = crate::support::Project::new();
    let results = json!({
        "config_general": {"model_name": "org/one", "start_time": 1.5},
        "results": {
            "lighteval|quiz:a|5": {"acc": 0.5, "acc_stderr": 0.1},
            "lighteval|quiz:b|5": {"acc": 0.75, "acc_stderr": 0.2},
            "lighteval|quiz:_average|5": {"acc": 0.625, "acc_stderr": 0.15},
            "all": {"acc": 0.625, "acc_stderr": 0.15},
        },
        "versions": {"lighteval|quiz:a|5": 0, "lighteval|quiz:b|5": 0},
        "config_tasks": {"lighteval|quiz:a": {"effective_num_docs": 26}},
    });
    project.file(
        &format!("out/org/one/results_{STAMP}.json"),
        results.to_string(),
    );
    let (source, runs) = imported(&project, "lm-eval");
    let told: Vec<_> = runs
        .iter()
        .map(|run| ["suite", "approach", "model"].map(|key| run[key].clone()))
        .collect();
    assert_eq!(
        told,
        ["lighteval|quiz:a|5", "lighteval|quiz:b|5"].map(|suite| [
            json!(suite),
            json!("lighteval"),
            json!("org/one")
        ])
    );
    assert_eq!(
        (&runs[0]["passed"], &runs[0]["total"]),
        (&json!(13), &json!(26)),
        "the error is that of grades"
    );
    assert!(quirks(&source).contains("means over tasks are left out"));
}

#[test]
fn merged_results_have_a_run_for_each_time_of_a_task() {
    let project = crate::support::Project::new();
    let results = |acc: f64| {
        json!({
            "results": {
                "quiz": {"2022-07-07-20-56-53": {"acc": acc, "acc_stderr": 0.1}, "2022-07-09-01-02-03": {"acc": 0.5, "acc_stderr": 0.1}},
                "riddle+prompt": {"2022-07-07-20-56-53": {"acc": 0.25, "acc_stderr": 0.1, "prompt_name": "prompt"}},
            },
            "versions": {"quiz": 3, "riddle+prompt": 0},
        })
    };
    project
        .file("out/big/merged.json", results(0.75).to_string())
        .file("out/small/merged.json", results(0.5).to_string());
    assert_eq!(project.run(["import", "out"]).code, 0);
    let runs = project.run([
        "sql",
        "select model, suite, suite_version, count(*), max(value) from runs join scores using (run_id) group by all order by all",
        "--format",
        "csv",
    ]);
    assert_eq!(
        runs.stdout.lines().skip(1).collect::<Vec<_>>(),
        [
            "unknown (big/merged.json),quiz,3,2,0.75",
            "unknown (big/merged.json),riddle+prompt,0,1,0.25",
            "unknown (small/merged.json),quiz,3,2,0.5",
            "unknown (small/merged.json),riddle+prompt,0,1,0.25"
        ],
        "{}",
        runs.stderr
    );
}

#[test]
fn results_of_before_filters_had_names() {
    let (_, runs) = imported(&project("lm_eval", "before-0.4"), "lm-eval");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["approach"], &run["model"]],
        [&json!("quiz"), &json!("25-shot"), &json!("org/old")]
    );
    let scores: Vec<_> = run["scores"]
        .as_array()
        .expect("scores")
        .iter()
        .map(|one| (one["metric"].clone(), one["value"].clone()))
        .collect();
    assert_eq!(
        scores,
        [(json!("acc"), json!(0.5)), (json!("acc_norm"), json!(0.6))],
        "without a count nothing passed or failed"
    );
    assert_eq!(
        run.get("timestamp").cloned().unwrap_or_default(),
        Value::Null
    );
}

#[test]
fn samples_in_one_list_with_arguments_as_lists() {
    let project = project("lm_eval", "list-of-samples");
    let (source, runs) = imported(&project, "lm-eval");
    let run = &runs[0];
    assert_eq!(
        (&run["passed"], &run["total"], &run["model"]),
        (&json!(2), &json!(3), &json!("org/tiny")),
        "{source}"
    );
    let item = &stored(&project)[1];
    assert_eq!(
        (&item["status"], &item["answer"], &item["expected"]),
        (&json!("fail"), &json!("yes"), &json!(["no"])),
        "{item}"
    );
    // `NaN` is no value: two samples have one.
    assert_eq!(
        (&run["scores"][0]["metric"], &run["scores"][0]["n"]),
        (&json!("acc_norm"), &json!(2))
    );
}

#[test]
fn samples_alone_are_named_by_their_files() {
    let (source, runs) = imported(&project("lm_eval", "samples-alone"), "lm-eval");
    let run = &runs[0];
    assert_eq!(
        [&run["suite"], &run["model"], &run["passed"], &run["total"]],
        [&json!("trivia"), &json!("org/tiny"), &json!(1), &json!(2)]
    );
    assert!(quirks(&source).contains("samples without a results file"));
}

#[test]
fn lines_that_are_no_samples_are_refused_with_reasons() {
    let project = project("lm_eval", "refused-lines");
    let said = project.run(["import", "out", "--dry-run"]);
    insta::assert_snapshot!(said.answer());
}
