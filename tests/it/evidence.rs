//! Whether a difference is evidence: the verdict of each design on real stores.

use serde_json::{Value, json};

use crate::support::{Project, question, result, test};

/// The pair of a metric's row.
#[track_caller]
fn pair<'a>(answer: &'a Value, metric: &str) -> &'a Value {
    &row(answer, metric)["evidence"]["pairs"][0]
}

#[track_caller]
fn row<'a>(answer: &'a Value, metric: &str) -> &'a Value {
    let rows = answer["comparisons"][0]["rows"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["metric"]["name"] == metric)
        .expect("the metric has a row")
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let got = value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"));
    assert!((got - expected).abs() < 5e-4, "{got}, expected {expected}");
}

/// One run of each arm over the same questions; the text has a letter per question: `+` passed, `-` failed, `!` outage, ` ` not asked.
fn questions(arms: &[(&str, &str)]) -> Project {
    let project = Project::new();
    for (arm, outcomes) in arms {
        add_questions(&project, &format!("run-{arm}"), arm, outcomes);
    }
    project
}

fn add_questions(project: &Project, run: &str, arm: &str, outcomes: &str) {
    let status = |letter| match letter {
        '+' => Some("pass"),
        '-' => Some("fail"),
        '!' => Some("infra"),
        _ => None,
    };
    let items: Vec<Value> = outcomes
        .chars()
        .enumerate()
        .filter_map(|(number, letter)| Some(question(&format!("q{number:03}"), 1, status(letter)?)))
        .collect();
    project
        .result(&result(
            run,
            "s",
            arm,
            json!({"batch_id": format!("batch-{arm}")}),
        ))
        .items(run, &items);
}

fn compare(project: &Project, more: &[&str]) -> Value {
    project
        .run(
            ["compare", "s", "--format", "json"]
                .into_iter()
                .chain(more.iter().copied()),
        )
        .json()
}

/// 18 and 6 of 25 discordant questions: exact McNemar p by hand from the binomial table, Tango's interval from the score equation.
#[test]
fn questions_are_paired() {
    let (a, b) = (
        "+".repeat(20) + &"+".repeat(12) + &"-".repeat(2) + &"-".repeat(6),
        "+".repeat(20) + &"-".repeat(12) + &"+".repeat(2) + &"-".repeat(6),
    );
    let project = questions(&[("a", &a), ("b", &b)]);
    let answer = compare(&project, &[]);
    let pair = pair(&answer, "shared_tests");
    assert_eq!(
        (&pair["verdict"], &pair["design"], &pair["test"]),
        (&json!("a_wins"), &json!("items"), &json!("mcnemar_exact")),
        "{pair}"
    );
    near(&pair["difference"]["value"], 0.25);
    // 2 × (C(14,0) + C(14,1) + C(14,2)) / 2^14.
    near(&pair["p"], 2.0 * 106.0 / 16384.0);
    assert_eq!(
        pair["p"], pair["p_adjusted"],
        "one pair is a family of its own"
    );
    assert_eq!(pair["record"], json!({"won": 12, "lost": 2, "same": 26}));
    assert_eq!(pair["sizes"]["pairs"], 40);
    let interval = &pair["difference"]["interval"];
    assert!(
        interval["low"].as_f64() > Some(0.0) && interval["high"].as_f64() < Some(0.45),
        "{interval}"
    );
    let table = project.run(["compare", "s"]);
    let text = table.answer().replace('\n', " ");
    for part in [
        "a wins, p = 0.013",
        "a's accuracy is 25 pp higher than b's",
        "40 shared questions: 12 only a passed, 2 only b",
        "): a wins.",
        "Decision: ship a",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn too_little_says_what_it_could_have_shown() {
    let project = questions(&[
        ("a", &("+".repeat(30) + "++++-" + &"-".repeat(15))),
        ("b", &("+".repeat(30) + "----+" + &"-".repeat(15))),
    ]);
    let answer = compare(&project, &[]);
    let pair = pair(&answer, "shared_tests");
    assert_eq!(pair["verdict"], "not_enough_evidence");
    near(&pair["p"], 0.375);
    // The exact test needs six discordant pairs for any verdict: it can show less than a normal approximation promises, which is
    // (1.95996 + 0.84162) × sd / √50 with 4 times +1, once −1 and 45 times 0.
    let sd = ((5.0 - 50.0 * 0.06 * 0.06) / 49.0_f64).sqrt();
    let promised = 2.801_58 * sd / 50f64.sqrt();
    let detectable = pair["detectable"].as_f64().expect("a difference");
    assert!(
        detectable > promised && detectable < 1.5 * promised,
        "{detectable}, promised {promised}"
    );
    assert_eq!(pair["needed"]["of"], "items");
    let needed = pair["needed"]["n"].as_f64().expect("a number");
    assert!(needed >= (2.801_58 * sd / 0.06).powi(2).floor(), "{needed}");
}

#[test]
fn five_questions_are_too_few_and_equal_rates_are_open() {
    let project = questions(&[("a", "+++++"), ("b", "-----")]);
    let answer = compare(&project, &[]);
    assert_eq!(
        (
            &pair(&answer, "shared_tests")["verdict"],
            &pair(&answer, "shared_tests")["reason"]
        ),
        (&json!("not_enough_evidence"), &json!("few_items"))
    );
    let project = questions(&[("a", "+-+-+-+-"), ("b", "-+-+-+-+")]);
    assert_eq!(
        pair(&compare(&project, &[]), "shared_tests")["verdict"],
        "not_enough_evidence"
    );
}

#[test]
fn only_shared_questions_count_and_none_shared_are_not_comparable() {
    let project = questions(&[("a", "+++++++---  "), ("b", "  -------+++")]);
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (
            found["sizes"]["first"].as_u64(),
            found["sizes"]["second"].as_u64(),
            found["sizes"]["pairs"].as_u64()
        ),
        (Some(10), Some(10), Some(8))
    );
    let project = questions(&[("a", "++++++++        "), ("b", "        --------")]);
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_comparable"), &json!("disjoint_items"))
    );
}

/// Ten of thirty answers of `b` are lost to an outage: they could turn a lead of 20 questions.
#[test]
fn missing_outcomes_that_could_turn_it_round_forbid_a_winner() {
    let a = "+".repeat(8) + &"-".repeat(12) + &"-".repeat(10);
    let b = "-".repeat(8) + &"-".repeat(12) + &"!".repeat(10);
    let project = questions(&[("a", &a), ("b", &b)]);
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert!(found["p"].as_f64() < Some(0.05), "{found}");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_enough_evidence"), &json!("missing_outcomes"))
    );
    near(&found["bounds"]["low"], -2.0 / 30.0);
    near(&found["bounds"]["high"], 8.0 / 30.0);
}

/// Twelve questions in six clusters of two: the twin of every question adds nothing.
#[test]
fn clusters_are_the_units_unless_told_otherwise() {
    let project = Project::new();
    for (run, arm, passes) in [("run-a", "a", true), ("run-b", "b", false)] {
        let items: Vec<Value> = (0..12)
            .map(|number| {
                let mut item = question(
                    &format!("q{number:02}"),
                    1,
                    if passes { "pass" } else { "fail" },
                );
                item["cluster"] = json!(format!("passage-{}", number / 2));
                item
            })
            .collect();
        project
            .result(&result(run, "s", arm, json!({})))
            .items(run, &items);
    }
    let clustered = compare(&project, &[]);
    let found = pair(&clustered, "shared_tests");
    assert_eq!(
        (&found["design"], found["sizes"]["clusters"].as_u64()),
        (&json!("clusters"), Some(6))
    );
    // All six clusters favour one arm: 2 / 2^6.
    near(&found["p"], 0.03125);
    let plain = compare(&project, &["--cluster", "none"]);
    let found = pair(&plain, "shared_tests");
    assert_eq!(found["design"], "items");
    near(&found["p"], 2.0 / 4096.0);
}

/// Three runs a side with equal outcomes: a stated fact, not a p-value.
#[test]
fn runs_that_never_vary_are_deterministic() {
    let project = Project::new();
    for (arm, passed) in [("a", 9), ("b", 4)] {
        for number in 1..=3 {
            let id = format!("run-{arm}{number}");
            let items: Vec<Value> = (0..10)
                .map(|item| {
                    test(
                        &format!("t{item}"),
                        if item < passed { "pass" } else { "fail" },
                    )
                })
                .collect();
            project
                .result(&result(&id, "s", arm, json!({"batch_id": arm})))
                .items(&id, &items);
        }
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["design"]),
        (&json!("deterministic_difference"), &json!("runs"))
    );
    near(&found["difference"]["value"], 0.5);
    assert_eq!(
        found["difference"]["interval"],
        Value::Null,
        "an interval would decide nothing"
    );
    let table = project.run(["compare", "s"]);
    let text = table.answer().replace('\n', " ");
    assert!(
        text.contains("fixed result: a ahead")
            && text.contains("in every run (3 runs each). The result is fixed."),
        "{text}"
    );
}

fn runs(arms: &[(&str, &[f64])], field: &str) -> Project {
    let project = Project::new();
    for (arm, values) in arms {
        for (number, value) in values.iter().enumerate() {
            let mut fields = json!({"batch_id": arm});
            fields[field] = json!(value);
            project.result(&result(&format!("run-{arm}{number}"), "s", arm, fields));
        }
    }
    project
}

/// Twice as much every time: as the logarithms vary alike, Welch has 6 degrees of freedom.
#[test]
fn amounts_are_ratios() {
    let project = runs(
        &[("a", &[1.0, 1.1, 0.9, 1.05]), ("b", &[2.0, 2.2, 1.8, 2.1])],
        "cost_usd",
    );
    let answer = compare(&project, &[]);
    let found = pair(&answer, "cost_usd");
    assert_eq!(
        (
            &found["verdict"],
            &found["test"],
            &found["difference"]["scale"]
        ),
        (&json!("a_wins"), &json!("welch_on_logs"), &json!("ratio"))
    );
    near(&found["difference"]["value"], 0.5);
    let interval = &found["difference"]["interval"];
    assert!(
        interval["low"].as_f64() > Some(0.4) && interval["high"].as_f64() < Some(0.6),
        "{interval}"
    );
    let wide = compare(&project, &["--margin", "cost_usd=200%"]);
    assert_eq!(
        pair(&wide, "cost_usd")["verdict"],
        "equivalent",
        "different, but by less than was said to matter"
    );
}

#[test]
fn two_runs_a_side_and_a_cost_of_zero() {
    let project = runs(&[("a", &[1.0, 1.1]), ("b", &[200.0, 220.0])], "cost_usd");
    let found = compare(&project, &[]);
    assert_eq!(
        (
            &pair(&found, "cost_usd")["verdict"],
            &pair(&found, "cost_usd")["reason"]
        ),
        (&json!("not_enough_evidence"), &json!("few_runs"))
    );
    let project = runs(
        &[("a", &[0.0, 0.0, 0.0]), ("b", &[0.2, 0.3, 0.4])],
        "cost_usd",
    );
    let found = compare(&project, &[]);
    assert_eq!(
        pair(&found, "cost_usd")["difference"]["scale"],
        "unit",
        "nothing can be a multiple of zero"
    );
}

#[test]
fn a_time_out_is_no_duration() {
    let project = runs(
        &[("a", &[10.0, 11.0, 12.0]), ("b", &[100.0, 110.0, 120.0])],
        "duration_seconds",
    );
    project.result(&result(
        "run-a9",
        "s",
        "a",
        json!({"batch_id": "a", "duration_seconds": 900.0, "status": "limit"}),
    ));
    let found = compare(&project, &[]);
    assert_eq!(
        (
            &pair(&found, "duration_seconds")["verdict"],
            &pair(&found, "duration_seconds")["reason"]
        ),
        (&json!("not_enough_evidence"), &json!("censored"))
    );
}

/// With three arms, p = .03125 of one pair is no evidence: three were looked at.
#[test]
fn the_family_is_adjusted() {
    let project = questions(&[
        ("a", "++++++----"),
        ("b", "----------"),
        ("c", "+-+-+-----"),
    ]);
    let two = compare(&project, &["--approach", "a,b"]);
    assert_eq!(pair(&two, "shared_tests")["verdict"], "a_wins");
    let three = compare(&project, &[]);
    let evidence = &row(&three, "shared_tests")["evidence"];
    assert_eq!(evidence["pairs"].as_array().map(Vec::len), Some(3));
    near(&evidence["pairs"][0]["p"], 0.03125);
    near(&evidence["pairs"][0]["p_adjusted"], 0.09375);
    assert_eq!(
        (&evidence["pairs"][0]["verdict"], &evidence["leading"]),
        (&json!("not_enough_evidence"), &json!([0, 1, 2]))
    );
    assert_eq!(evidence["ranks"][0], json!({"best": 1, "worst": 3}));
}

#[test]
fn a_winner_over_all_leads_alone() {
    let project = questions(&[
        ("a", &"+".repeat(20)),
        ("b", &"-".repeat(20)),
        ("c", &("-".repeat(15) + "+++++")),
    ]);
    let answer = compare(&project, &[]);
    let evidence = &row(&answer, "shared_tests")["evidence"];
    assert_eq!(
        (&evidence["winner"], &evidence["leading"]),
        (&json!(0), &json!([0]))
    );
    assert_eq!(
        evidence["ranks"],
        json!([{"best": 1, "worst": 1}, {"best": 2, "worst": 3}, {"best": 2, "worst": 3}])
    );
    assert_eq!(evidence["letters"], json!(["a", "b", "b"]));
    assert!(
        project
            .run(["compare", "s"])
            .answer()
            .replace('\n', " ")
            .contains("a wins against both other arms on accuracy")
    );
}

/// A margin that would change nothing, or something else than was meant, is refused, and what would do is named.
#[test]
fn margins_are_checked_as_bounds_of_gates_are() {
    let project = Project::with(&["a", "b"].map(|arm| {
        let scores = json!([{"metric": "quality", "value": 71.5, "unit": "points", "direction": "up", "revision": 0},
            {"metric": "size", "value": 3, "unit": "count", "direction": "none", "revision": 0}]);
        let fields = json!({"shared_tests_passed": 90, "shared_tests_total": 100, "cost_usd": 1.5, "total_calls": 3, "scores": scores});
        result(&format!("run-{arm}"), "s", arm, fields)
    }));
    let judged = "judged here: cost_per_solved_usd, cost_usd, quality, shared_tests";
    for (margin, error, hint) in [
        (
            "speed=5",
            "no metric `speed`",
            "there are: cost_per_solved_usd, cost_usd, quality, shared_tests",
        ),
        ("qualty=5", "no metric `qualty`", "did you mean `quality`?"),
        (
            "pass_rate=60pp",
            "--margin `pass_rate=60pp` is more than 50 percentage points",
            "write 2pp or 0.02 for two percentage points",
        ),
        (
            "shared_tests=5",
            "--margin `shared_tests=5` is more than 50 percentage points",
            "write 2pp or 0.02 for two percentage points",
        ),
        (
            "pass_rate=2%",
            "--margin `pass_rate=2%` is in percent, which for a share could be relative",
            "write 2pp or 0.02",
        ),
        (
            "cost=5",
            "--margin `cost=5` has no percent sign, and for an amount it is relative",
            "write 10% or 0.1 for a tenth",
        ),
        (
            "cost=2pp",
            "--margin `cost=2pp` is in percentage points, but an amount needs a percentage",
            "write 10%",
        ),
        (
            "quality=2pp",
            "--margin `quality=2pp` is no plain number, and the metric is no share",
            "write it in the metric's own unit",
        ),
        (
            "duration=10%",
            "--margin `duration=10%`: no selected run measures `duration_seconds`",
            judged,
        ),
        (
            "total_calls=3",
            "--margin `total_calls=3` is for a count, and counts are shown but never judged",
            "leave it out",
        ),
        (
            "size=3",
            "--margin `size=3`: `size` is shown but never judged",
            judged,
        ),
        (
            "own_tests=2pp",
            "--margin `own_tests=2pp`: no selected run measures `own_tests`",
            judged,
        ),
    ] {
        let output = project.run(["compare", "s", "--margin", margin]);
        let said = output.refusal();
        assert!(
            said.contains(error) && said.contains(hint),
            "{margin}: {said}"
        );
    }
    for margin in [
        "pass_rate=2pp",
        "accuracy=0.02",
        "shared_tests=50pp",
        "cost=10%",
        "cost_usd=200%",
        "quality=1.5",
    ] {
        assert_eq!(
            project.run(["compare", "s", "--margin", margin]).code,
            0,
            "{margin}"
        );
    }
    assert_eq!(
        project
            .run(["leaderboard", "--margin", "pass_rate=2pp"])
            .code,
        0
    );
    for arguments in [
        ["leaderboard", "--margin", "cost=10%"],
        ["leaderboard", "--margin", "pass_rate=5"],
        ["history", "--margin", "pass_rate=2pp"],
    ] {
        assert!(
            project.run(arguments).refusal().contains("--margin"),
            "{arguments:?}"
        );
    }
    let gate = project.run([
        "gate",
        "s",
        "--baseline",
        "run-a",
        "--max-drop",
        "2pp",
        "--margin",
        "speed=5",
    ]);
    assert!(
        gate.refusal().contains("no metric `speed`"),
        "{}",
        gate.stderr
    );
    project.file(
        "evalreport.yaml",
        "version: 1\nmetrics:\n  pass_rate: {margin: 500pp}\n",
    );
    assert!(
        project
            .run(["compare", "s"])
            .refusal()
            .contains("is more than 50 percentage points")
    );
}

/// A margin of the configuration holds under every name of its metric.
#[test]
fn a_margin_has_an_alias() {
    let project = questions(&[("a", &"+-".repeat(100)), ("b", &"+-".repeat(100))]);
    project.file(
        "evalreport.yaml",
        "version: 1\nmetrics:\n  pass_rate: {margin: 10pp}\n",
    );
    near(
        &pair(&compare(&project, &[]), "shared_tests")["margin"],
        0.1,
    );
}

#[test]
fn options_of_the_policy() {
    let project = questions(&[("a", "++++++--"), ("b", "--------")]);
    assert_eq!(
        pair(&compare(&project, &["--alpha", "0.01"]), "shared_tests")["verdict"],
        "not_enough_evidence"
    );
    assert!(
        project
            .run(["compare", "s", "--alpha", "0.01"])
            .answer()
            .contains("99% CI")
    );
    for (option, value) in [
        ("--alpha", "1.5"),
        ("--margin", "cost_usd"),
        ("--margin", "cost_usd=-1"),
        ("--margin", "=2pp"),
    ] {
        let refused = project.run(["compare", "s", option, value]);
        assert!(refused.refusal().contains(option), "{}", refused.stderr);
    }
    // A suite with counts only, whose items are independent.
    let project = Project::with(&[
        result(
            "run-a",
            "s",
            "a",
            json!({"shared_tests_passed": 90, "shared_tests_total": 100}),
        ),
        result(
            "run-b",
            "s",
            "b",
            json!({"shared_tests_passed": 60, "shared_tests_total": 100}),
        ),
    ]);
    assert_eq!(
        pair(&compare(&project, &[]), "shared_tests")["verdict"],
        "not_enough_evidence"
    );
    assert_eq!(
        pair(&compare(&project, &["--design", "items"]), "shared_tests")["verdict"],
        "a_wins"
    );
    project.file("evalreport.yaml", "version: 1\ndesigns: {s: items}\n");
    assert_eq!(
        pair(&compare(&project, &[]), "shared_tests")["verdict"],
        "a_wins"
    );
}

#[test]
fn excluded_items_are_out_and_shown_both_ways() {
    let project = questions(&[("a", "++++++++-+"), ("b", "++++++++++")]);
    project.file(
        "exclusions.yaml",
        "version: 1\nexclusions:\n  - {item: q008, suite: s, reason: 'its key is wrong'}\n",
    );
    let answer = compare(&project, &[]);
    assert_eq!(
        answer["comparisons"][0]["excluded_items"],
        json!([{"item": "q008", "reason": "its key is wrong", "outcomes": 2}])
    );
    let cells = row(&answer, "shared_tests")["cells"]
        .as_array()
        .expect("cells");
    assert_eq!(
        (cells[0]["passed"].as_u64(), cells[0]["total"].as_u64()),
        (Some(9), Some(9))
    );
    assert_eq!(cells[0]["estimate"]["missing"], 0, "nobody asked for it");
    assert_eq!(
        answer["comparisons"][0]["with_excluded"]["cells"][0]["total"],
        10
    );
    let text = project
        .run(["compare", "s", "--explain"])
        .answer()
        .replace('\n', " ");
    assert!(
        text.contains("Excluded item q008 (2 outcomes): its key is wrong.")
            && text.contains("With excluded items: a 9/10 (90%)"),
        "{text}"
    );
    project.file("exclusions.yaml", "exclusions:\n  - {item: q008}\n");
    let refused = project.run(["compare", "s"]);
    assert!(
        refused.refusal().contains("exclusions[0].reason")
            && refused.stderr.contains("`version` is missing"),
        "{}",
        refused.stderr
    );
}

#[test]
fn flips_by_name() {
    let project = questions(&[("a", "+++-"), ("b", "-+-+"), ("c", "----")]);
    let answer = compare(&project, &["--flips", "--approach", "a,b"]);
    assert_eq!(
        answer["comparisons"][0]["flips"]["items"],
        json!({"only_first": ["q000", "q002"], "only_second": ["q003"]})
    );
    let text = project.run(["compare", "s", "--flips", "--approach", "a,b"]);
    assert!(
        text.answer().contains("Only a: q000, q002.") && text.answer().contains("Only b: q003."),
        "{}",
        text.stdout
    );
    assert!(
        project
            .run(["compare", "s", "--flips"])
            .refusal()
            .contains("--flips needs two arms")
    );
}

/// Runs of the same tests; the text has a letter per test as in [`questions`].
fn test_runs(arms: &[(&str, &[&str])]) -> Project {
    let project = Project::new();
    for (arm, runs) in arms {
        for (number, outcomes) in runs.iter().enumerate() {
            let id = format!("run-{arm}{number}");
            let status = |letter| match letter {
                '+' => "pass",
                '!' => "infra",
                _ => "fail",
            };
            let items: Vec<Value> = outcomes
                .chars()
                .enumerate()
                .map(|(item, letter)| test(&format!("t{item:02}"), status(letter)))
                .collect();
            project
                .result(&result(&id, "s", arm, json!({"batch_id": arm})))
                .items(&id, &items);
        }
    }
    project
}

/// The hard half of the tests was lost to an outage in every run of one arm.
#[test]
fn runs_over_fewer_tests_win_nothing() {
    let lost = [
        "+++++++++-!!!!!!!!!!",
        "++++++++--!!!!!!!!!!",
        "++++++++++!!!!!!!!!!",
        "+++++++++-!!!!!!!!!!",
    ];
    let whole = [
        "+++++++++-----------",
        "++++++++------------",
        "++++++++++----------",
        "+++++++++-----------",
    ];
    let answer = compare(&test_runs(&[("a", &lost), ("b", &whole)]), &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_enough_evidence"), &json!("missing_outcomes")),
        "{found}"
    );
}

#[test]
fn counts_of_different_totals_are_not_comparable() {
    let project = Project::new();
    for number in 0..4 {
        for (arm, passed, total) in [("a", 24 - number % 2, 25), ("b", 20 + number % 2, 48)] {
            let fields = json!({"batch_id": arm, "shared_tests_passed": passed, "shared_tests_total": total});
            project.result(&result(&format!("run-{arm}{number}"), "s", arm, fields));
        }
    }
    for more in [&[][..], &["--design", "items"]] {
        let answer = compare(&project, more);
        let found = pair(&answer, "shared_tests");
        assert_eq!(
            (&found["verdict"], &found["reason"]),
            (&json!("not_comparable"), &json!("other_totals")),
            "{found}"
        );
    }
}

/// A question without a cluster among clustered ones does not make the others independent.
#[test]
fn one_unclustered_question_leaves_the_clusters() {
    let project = Project::new();
    for (run, arm, passes) in [("run-a", "a", true), ("run-b", "b", false)] {
        let items: Vec<Value> = (0..13)
            .map(|number| {
                let mut item = question(
                    &format!("q{number:02}"),
                    1,
                    if passes { "pass" } else { "fail" },
                );
                // Only one of the two arms knows the clusters.
                if number < 12 && passes {
                    item["cluster"] = json!(format!("passage-{}", number / 2));
                }
                item
            })
            .collect();
        project
            .result(&result(run, "s", arm, json!({})))
            .items(run, &items);
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["design"], found["sizes"]["clusters"].as_u64()),
        (&json!("clusters"), Some(7)),
        "{found}"
    );
}

/// 3/3 and 1/3 against 2/3 and 2/3: equal, whatever the last digit of the mean says.
#[test]
fn thirds_are_equal() {
    let project = Project::new();
    let attempts = |item: &str, passed: u32| -> Vec<Value> {
        (1..=3)
            .map(|attempt| {
                question(
                    item,
                    attempt,
                    if attempt <= passed { "pass" } else { "fail" },
                )
            })
            .collect()
    };
    for (run, arm, cells) in [("run-a", "a", [3, 1]), ("run-b", "b", [2, 2])] {
        let items: Vec<Value> = (0..8)
            .flat_map(|item| attempts(&format!("q{item}"), cells[item % 2]))
            .collect();
        project
            .result(&result(
                run,
                "s",
                arm,
                json!({"timestamp": "2026-01-01T03:00:00Z"}),
            ))
            .items(run, &items);
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["difference"]["value"]),
        (&json!("not_enough_evidence"), &json!(0.0))
    );
    let history = project.run(["history", "s", "--format", "json"]).json();
    assert_eq!(history["histories"][0]["duels"][0]["same"], 1);
}

/// Each of ten questions one attempt of three better: the differences are equal, and that is evidence.
#[test]
fn equal_differences_have_their_signs_flipped() {
    let project = Project::new();
    for (run, arm, more) in [("run-a", "a", 1), ("run-b", "b", 0)] {
        let items: Vec<Value> = (0..10)
            .flat_map(|item| {
                let passed = more + if item < 5 { 2 } else { 0 };
                (1..=3).map(move |attempt| {
                    question(
                        &format!("q{item}"),
                        attempt,
                        // Which attempts pass differs by question, so that no attempt is better than another.
                        if (attempt + item) % 3 < passed {
                            "pass"
                        } else {
                            "fail"
                        },
                    )
                })
            })
            .collect();
        project
            .result(&result(run, "s", arm, json!({})))
            .items(run, &items);
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["test"]),
        (&json!("a_wins"), &json!("sign_flip")),
        "{found}"
    );
    near(&found["p"], 2.0 / 1024.0);
}

/// Deterministic arms are facts: no p-value, and no place in the family of those that vary.
#[test]
fn deterministic_arms_leave_the_family_alone() {
    let varied = (
        ["+++++++++-", "++++++++--", "+++++++++-", "++++++++++"],
        ["+++++++---", "++++++----", "+++++++---", "++++++----"],
    );
    let (same, other) = (["+++++-----"; 4], ["+++-------"; 4]);
    let two = compare(&test_runs(&[("a", &varied.0), ("b", &varied.1)]), &[]);
    let four = compare(
        &test_runs(&[
            ("a", &varied.0),
            ("b", &varied.1),
            ("c", &same),
            ("d", &other),
        ]),
        &[],
    );
    let pairs = row(&four, "shared_tests")["evidence"]["pairs"]
        .as_array()
        .expect("pairs");
    let fixed = pairs
        .iter()
        .find(|pair| pair["first"] == 2)
        .expect("c against d");
    assert_eq!(fixed["verdict"], "deterministic_difference");
    assert!(
        fixed.get("p").is_none() && fixed.get("p_adjusted").is_none(),
        "{fixed}"
    );
    assert_eq!(row(&four, "shared_tests")["evidence"]["tested"], 5);
    assert_eq!(pair(&two, "shared_tests")["p"], pairs[0]["p"]);
}

#[test]
fn no_direction_no_winner() {
    let project = questions(&[("a", "++++++++++"), ("b", "----------")]);
    project.file(
        "evalreport.yaml",
        "version: 1\nmetrics: {shared_tests: {direction: none}}\n",
    );
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_comparable"), &json!("direction_unknown"))
    );
}

/// 20 of 100 answers are missing: whether the arms are equal within 10 points, nobody knows.
#[test]
fn missing_outcomes_forbid_equivalence() {
    let a = "+".repeat(60) + &"-".repeat(20) + &"!".repeat(20);
    let b = "+".repeat(60) + &"-".repeat(20) + &"-".repeat(20);
    let answer = compare(
        &questions(&[("a", &a), ("b", &b)]),
        &["--margin", "pass_rate=10pp"],
    );
    assert_ne!(pair(&answer, "shared_tests")["verdict"], "equivalent");
}

#[test]
fn a_zero_hides_no_time_out() {
    let project = runs(
        &[
            ("a", &[0.0, 1.0, 1.2, 1.1]),
            ("b", &[100.0, 110.0, 120.0, 130.0]),
        ],
        "duration_seconds",
    );
    project.result(&result(
        "run-a9",
        "s",
        "a",
        json!({"batch_id": "a", "duration_seconds": 1000.0, "status": "limit"}),
    ));
    assert_eq!(
        pair(&compare(&project, &[]), "duration_seconds")["reason"],
        "censored"
    );
}

/// With its only outcomes excluded a run is not asked for its header's counts, which still hold them.
#[test]
fn headers_do_not_bring_excluded_items_back() {
    let project = questions(&[("a", "+"), ("b", "-")]);
    for arm in ["a", "b"] {
        let passed = u32::from(arm == "a");
        project.result(&result(
            &format!("run-{arm}"),
            "s",
            arm,
            json!({"shared_tests_passed": passed, "shared_tests_total": 1}),
        ));
    }
    project.file(
        "exclusions.yaml",
        "version: 1\nexclusions: [{item: q000, reason: broken}]\n",
    );
    let answer = compare(&project, &[]);
    assert!(
        !answer
            .to_string()
            .contains("\"value\":1.0,\"passed\":1,\"total\":1,\"figure\"")
            || answer["comparisons"][0]["with_excluded"].is_object()
    );
    let rows = answer["comparisons"][0]["rows"].as_array().expect("rows");
    assert!(
        rows.iter()
            .all(|row| row["metric"]["name"] != "shared_tests"),
        "no rate is left: {rows:?}"
    );
}

#[test]
fn absurd_counts_are_refused() {
    let fields = json!({"shared_tests_passed": 9_000_000_000_000_000_000_u64, "shared_tests_total": 9_200_000_000_000_000_000_u64});
    let project = Project::with(&[
        result("run-a", "s", "a", fields),
        result("run-b", "s", "b", json!({})),
    ]);
    let output = project.run(["compare", "s"]);
    assert!(
        output.stderr.contains("more than any suite has tests"),
        "{}",
        output.stderr
    );
    let many = json!({"shared_tests_passed": 300_000_000, "shared_tests_total": 600_000_000});
    let project = Project::with(&[
        result("run-a", "s", "a", many.clone()),
        result("run-b", "s", "b", many),
    ]);
    assert_eq!(project.run(["compare", "s"]).code, 0);
}

#[test]
fn scores_in_different_units_are_not_comparable() {
    let project = Project::new();
    for number in 0..3 {
        for (arm, value, unit) in [("a", 0.9, "fraction"), ("b", 80.0, "points")] {
            let scores = json!([{"metric": "quality", "value": value + f64::from(number) / 100.0, "unit": unit, "direction": "up"}]);
            project.result(&result(
                &format!("run-{arm}{number}"),
                "s",
                arm,
                json!({"batch_id": arm, "scores": scores}),
            ));
        }
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "quality");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_comparable"), &json!("other_unit"))
    );
}

#[test]
fn scores_of_other_judges_are_not_comparable() {
    let project = |judge_of_b: Option<&str>| {
        let project = Project::new();
        for number in 0..3 {
            for (arm, value, judge) in [("a", 90.0, Some("judge-1")), ("b", 80.0, judge_of_b)] {
                let scores = json!([
                    {"metric": "quality", "value": value + f64::from(number), "unit": "points", "direction": "up", "evaluator": judge}
                ]);
                project.result(&result(
                    &format!("run-{arm}{number}"),
                    "s",
                    arm,
                    json!({"batch_id": arm, "scores": scores}),
                ));
            }
        }
        project
    };
    let answer = compare(&project(Some("judge-2")), &[]);
    let found = pair(&answer, "quality");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_comparable"), &json!("other_evaluator"))
    );
    assert!(
        project(Some("judge-2"))
            .run(["compare", "s"])
            .stdout
            .contains("not comparable: different judges")
    );
    for same_or_unknown in [Some("judge-1"), None] {
        assert_eq!(
            pair(&compare(&project(same_or_unknown), &[]), "quality")["verdict"],
            "a_wins"
        );
    }
}

#[test]
fn questions_that_others_judged_are_not_comparable() {
    let project = Project::new();
    for (arm, judge) in [("a", "judge-1"), ("b", "judge-2")] {
        let items: Vec<Value> = (0..8)
            .map(|number| {
                let mut item = question(&format!("q{number}"), 1, "pass");
                item["evaluator"] = json!(judge);
                item
            })
            .collect();
        let run = format!("run-{arm}");
        project
            .result(&result(&run, "s", arm, json!({})))
            .items(&run, &items);
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    assert_eq!(
        (&found["verdict"], &found["reason"]),
        (&json!("not_comparable"), &json!("other_evaluator"))
    );
}

/// 12 and 2 discordant questions of 40, as above: mid-p is the exact p less the chance of the observed split.
#[test]
fn other_methods_stand_beside_the_verdict() {
    let (a, b) = (
        "+".repeat(20) + &"+".repeat(12) + &"-".repeat(2) + &"-".repeat(6),
        "+".repeat(20) + &"-".repeat(12) + &"+".repeat(2) + &"-".repeat(6),
    );
    let project = questions(&[("a", &a), ("b", &b)]);
    let answer = compare(&project, &[]);
    let check = &pair(&answer, "shared_tests")["detail"]["cross_check"];
    assert_eq!(check["check"], "mcnemar_mid_p");
    near(&check["p"], (2.0 * 106.0 - 91.0) / 16384.0);
    assert!(check["interval"]["low"].as_f64() > Some(0.0), "{check}");
    let told = project
        .run(["compare", "s", "--explain"])
        .answer()
        .replace('\n', " ");
    assert!(
        told.contains("for a second look: McNemar's mid-p = 0.0074, Newcombe's paired interval +"),
        "{told}"
    );
}

#[test]
fn amounts_have_a_bill_and_sizes_without_a_unit() {
    let project = runs(
        &[("a", &[1.0, 2.0, 3.0, 4.0]), ("b", &[2.0, 4.0, 6.0, 8.0])],
        "cost_usd",
    );
    let answer = compare(&project, &[]);
    let detail = &pair(&answer, "cost_usd")["detail"];
    near(&detail["bill"]["ratio"], 0.5);
    // Means 2.5 and 5 with the same relative spread: se² = 2 · (1.290994 / 2.5)² / 4, t(3) = 3.182446.
    let half = 3.182_446 * (2.0 * (1.290_994_4_f64 / 2.5).powi(2) / 4.0).sqrt();
    near(&detail["bill"]["interval"]["high"], 0.5 * half.exp());
    // Of 16 pairs of runs 2 are equal, 2 are higher and 12 lower.
    near(&detail["effect"]["cliffs_delta"], -10.0 / 16.0);
    near(&detail["effect"]["superiority"], 3.0 / 16.0);
    assert_eq!(detail["cross_check"]["check"], "permutation");
    let told = project
        .run(["compare", "s", "--explain"])
        .answer()
        .replace('\n', " ");
    assert!(
        told.contains("Cliff's delta −0.63; mean over mean 0.50× ["),
        "{told}"
    );
}

/// Ten questions are coins that both arms throw twice, and two are hard for one of them: some of the noise is the throws', some the questions'.
#[test]
fn more_items_or_more_attempts() {
    let project = Project::new();
    for (arm, passes) in [("a", [(0, 1), (0, 2)]), ("b", [(1, 1), (0, 2)])] {
        let items: Vec<Value> = (0..12u32)
            .flat_map(|number| {
                passes.map(|(shift, attempt)| {
                    let is_pass = if number < 10 {
                        (number + shift + attempt / 2 * (number / 2)) % 2 == 0
                    } else {
                        arm == "a"
                    };
                    question(
                        &format!("q{number:02}"),
                        attempt,
                        if is_pass { "pass" } else { "fail" },
                    )
                })
            })
            .collect();
        let run = format!("run-{arm}");
        project
            .result(&result(&run, "s", arm, json!({})))
            .items(&run, &items);
    }
    let answer = compare(&project, &[]);
    let found = pair(&answer, "shared_tests");
    let doubled = &found["detail"]["doubled"];
    let (now, items, attempts) = (
        found["detectable"].as_f64().expect("open"),
        doubled["items"].as_f64().expect("a plan"),
        doubled["attempts"].as_f64().expect("a plan"),
    );
    assert!(
        items < now && attempts <= now && items <= attempts,
        "{found}"
    );
    let told = project
        .run(["compare", "s", "--explain"])
        .answer()
        .replace('\n', " ");
    assert!(
        told.contains("with twice the items") && told.contains("with twice the attempts"),
        "{told}"
    );
}

/// One run of each arm over questions with scores of their own.
fn scored(project: &Project, arm: &str, scores: &[f64]) {
    let items: Vec<Value> = scores
        .iter()
        .enumerate()
        .map(|(number, score)| {
            let mut item = question(
                &format!("q{number:02}"),
                1,
                if *score >= 0.5 { "pass" } else { "fail" },
            );
            item["score"] = json!(score);
            item
        })
        .collect();
    let run = format!("run-{arm}");
    project
        .result(&result(&run, "s", arm, json!({})))
        .items(&run, &items);
}

#[test]
fn item_scores_are_paired() {
    let project = Project::new();
    let base = [
        0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.8, 0.9, 0.55, 0.65, 0.75, 0.85,
    ];
    let better: Vec<f64> = base
        .iter()
        .zip([0.05, 0.1].iter().cycle())
        .map(|(score, more)| score + more)
        .collect();
    scored(&project, "a", &better);
    scored(&project, "b", &base);
    let answer = compare(&project, &[]);
    let found = pair(&answer, "item_score");
    assert_eq!(
        (&found["verdict"], &found["design"], &found["test"]),
        (&json!("a_wins"), &json!("items"), &json!("paired_t")),
        "{found}"
    );
    near(&found["difference"]["value"], 0.075);
    // Six of 0.05 and six of 0.1: s² = 12 · 0.025² / 11, t(11) = 2.200985.
    near(
        &found["difference"]["interval"]["low"],
        0.075 - 2.200_985 * (12.0 * 0.025_f64.powi(2) / 11.0).sqrt() / 12f64.sqrt(),
    );
    assert_eq!(found["record"], json!({"won": 12, "lost": 0, "same": 0}));
    assert_eq!(
        pair(&answer, "shared_tests")["verdict"],
        "not_enough_evidence",
        "the same questions pass, once"
    );
    let cell = &row(&answer, "item_score")["cells"][1];
    assert!(
        cell["estimate"]["standard_error"].as_f64() > Some(0.0),
        "{cell}"
    );
    near(&cell["value"], base.iter().sum::<f64>() / 12.0);
    assert_eq!(
        (&cell["estimate"]["method"], &cell["estimate"]["n"]),
        (&json!("t_over_items"), &json!(12))
    );
    assert!(
        project
            .run(["compare", "s"])
            .answer()
            .contains("Item score")
    );
    // Said to be better when low, the other arm wins; and a warm cache says the same.
    project.file(
        "evalreport.yaml",
        "version: 1\nmetrics:\n  item_score: {direction: down}\n",
    );
    assert_eq!(
        pair(&compare(&project, &[]), "item_score")["verdict"],
        "b_wins"
    );
    let boards = project.run(["leaderboard", "--format", "json"]).json();
    near(
        &boards["suites"][0]["entries"][1]["item_score"]["value"],
        base.iter().sum::<f64>() / 12.0,
    );
}

#[test]
fn scores_that_say_what_the_status_says_are_no_metric() {
    for (pass, fail) in [(1.0, 0.0), (100.0, 0.0)] {
        let project = Project::new();
        for arm in ["a", "b"] {
            let items: Vec<Value> = (0..8)
                .map(|number| {
                    let is_pass = number % 3 > 0;
                    let mut item = question(
                        &format!("q{number}"),
                        1,
                        if is_pass { "pass" } else { "fail" },
                    );
                    item["score"] = json!(if is_pass { pass } else { fail });
                    item
                })
                .collect();
            let run = format!("run-{arm}");
            project
                .result(&result(&run, "s", arm, json!({})))
                .items(&run, &items);
        }
        let answer = compare(&project, &[]);
        let rows = answer["comparisons"][0]["rows"].as_array().expect("rows");
        assert!(
            rows.iter().all(|row| row["metric"]["name"] != "item_score"),
            "{pass}"
        );
    }
}

/// The newest revision's score stands; who breaks down scores nothing; a lost answer is no zero.
#[test]
fn scores_of_attempts_that_went_wrong() {
    let project = Project::new();
    scored(&project, "b", &[0.9, 0.8, 0.7, 0.6, 0.5, 0.4]);
    let mut items: Vec<Value> = (0..6)
        .map(|number| question(&format!("q{number:02}"), 1, "pass"))
        .collect();
    for (item, score) in items.iter_mut().zip([0.9, 0.8, 0.7, 0.6]) {
        item["score"] = json!(score);
    }
    items[4]["status"] = json!("limit");
    items[5]["status"] = json!("infra");
    let mut again = items[0].clone();
    (again["revision"], again["score"]) = (json!(1), json!(0.5));
    items.push(again);
    project
        .result(&result("run-a", "s", "a", json!({})))
        .items("run-a", &items);
    let answer = compare(&project, &[]);
    // The arm ahead stands first.
    let cell = &row(&answer, "item_score")["cells"][1];
    near(&cell["value"], (0.5 + 0.8 + 0.7 + 0.6 + 0.0) / 5.0);
    assert_eq!(
        (&cell["estimate"]["n"], &cell["estimate"]["missing"]),
        (&json!(5), &json!(1))
    );
    let found = pair(&answer, "item_score");
    assert_eq!(found["sizes"]["pairs"], 5);
    // The lost answer against 0.4: between the lowest and the highest score of any arm.
    near(&found["bounds"]["low"], (0.4 + 0.5 - 0.9 + 0.4) / 6.0);
    near(&found["bounds"]["high"], (0.4 + 0.5 - 0.0 + 0.4) / 6.0);
}

/// A primary metric that a suite has no figure of is no silent choice of another; one that nothing is called by is a slip.
#[test]
fn a_primary_metric_that_nobody_measured_is_said() {
    let run = |suite: &str, arm: &str, cost: f64, scores: Value| {
        let fields = json!({"shared_tests_passed": 90, "shared_tests_total": 100, "cost_usd": cost, "scores": scores});
        result(&format!("{suite}-{arm}"), suite, arm, fields)
    };
    let quality = json!([{"metric": "quality", "value": 71.5, "unit": "points", "direction": "up", "revision": 0}]);
    let none = || json!([]);
    let project = Project::with(&[
        run("essays", "a", 1.0, quality.clone()),
        run("essays", "b", 2.0, quality),
        run("app", "a", 2.0, none()),
        run("app", "b", 1.0, none()),
    ]);
    let primary =
        |text: &str| _ = project.file("evalreport.yaml", format!("version: 1\nprimary: {text}\n"));
    let primary_row = |suite: &str| {
        let answer = project
            .run(["compare", suite, "--quiet", "--format", "json"])
            .json()["comparisons"][0]
            .clone();
        let rows = answer["rows"].as_array().expect("rows");
        let name = rows
            .iter()
            .find(|row| row["role"] == "primary")
            .map(|row| row["metric"]["name"].clone());
        (name, answer["primary_not_measured"].clone())
    };
    let board = |suite: &str| {
        let answer = project
            .run(["leaderboard", suite, "--quiet", "--format", "json"])
            .json()["suites"][0]
            .clone();
        (
            Some(answer["primary"]["name"].clone()),
            answer["primary_not_measured"].clone(),
        )
    };
    primary("{essays: quality, app: quality}");
    for answer in [
        &primary_row as &dyn Fn(&str) -> (Option<Value>, Value),
        &board,
    ] {
        assert_eq!(answer("essays"), (Some(json!("quality")), Value::Null));
        assert_eq!(
            answer("app"),
            (Some(json!("shared_tests")), json!("quality"))
        );
    }
    for command in ["compare", "leaderboard"] {
        let output = project.run_in([command, "app"], &[("COLUMNS", "200")]);
        assert!(
            output.stdout.contains(
                "The primary metric `quality` was measured in no run here: Pass rate decides."
            ),
            "{}",
            output.stdout
        );
        let warning = "warning: `primary.app` in the configuration: no run here has `quality`; another metric decides\n";
        assert_eq!(output.stderr, warning, "{command}");
        assert_eq!(project.run([command, "essays"]).stderr, "", "{command}");
    }
    assert_eq!(project.run(["build", "--quiet", "--out", "site"]).code, 0);
    assert!(
        project
            .read("site/suites/app/index.html")
            .contains("was measured in no run here")
    );

    // An amount decides on the board as it does in the table.
    primary("{app: cost}");
    assert_eq!(
        (primary_row("app"), board("app")),
        (
            (Some(json!("cost_usd")), Value::Null),
            (Some(json!("cost_usd")), Value::Null)
        )
    );
    primary("{app: qualty}");
    for command in [
        &["compare", "app"][..],
        &["leaderboard"],
        &["gate", "--baseline", "last:1", "--max-drop", "2pp"],
    ] {
        let refused = project.run(command.iter().copied());
        let said = refused.refusal();
        assert!(
            said.contains("`primary.app` in the configuration: no metric `qualty`")
                && said.contains("did you mean `quality`?"),
            "{said}"
        );
    }
    // A site is written all the same, and says so.
    let built = project.run(["build", "--out", "site"]);
    assert_eq!(built.code, 0);
    assert!(
        built
            .stderr
            .contains("warning: `primary.app` in the configuration: no metric `qualty`"),
        "{}",
        built.stderr
    );
}
