//! The noise ledger: published figures of trials, planted conditions, and items that do not help.

use serde_json::{Value, json};

use crate::schema::validate;
use crate::support::{Project, question, result, test};

fn ledger(project: &Project, of: &str) -> Value {
    let answer = project.run(["noise", of, "--format", "json"]).json();
    validate("noise", &answer).expect("the answer keeps to its schema");
    answer["suites"][0].clone()
}

fn near(got: &Value, wanted: f64, tolerance: f64) {
    let got = got.as_f64().unwrap_or_else(|| panic!("{got} is no number"));
    assert!((got - wanted).abs() <= tolerance, "{got} and not {wanted}");
}

#[test]
fn the_published_figures_of_tau_bench_are_reproduced() {
    let project = Project::new();
    project.fixture("tau-bench/airline-gpt-4o.csv", "airline.csv");
    let ledger = ledger(&project, "airline.csv");
    let arm = &ledger["arms"][0];
    assert_eq!((&arm["repeats"], &arm["items"]), (&4.into(), &50.into()));
    // tau-bench's README and the variance in its issue 57.
    near(&arm["flips"], 0.52, 1e-9);
    near(&arm["icc"], 0.405, 5e-4);
    for (k, wanted) in [0.420, 0.273, 0.220, 0.200].into_iter().enumerate() {
        near(&arm["reliability"][k]["all_pass"], wanted, 5e-4);
    }
    // By numpy: 1.96 · √(2 · mean of p(1 − p)·4/3 / 50), because runs share less than nothing.
    near(&arm["sources"]["shared"], 0.0, 1e-12);
    insta::assert_snapshot!(project.run(["noise", "airline.csv"]).snapshot());
}

/// A chance from 0 to 1 that depends on its arguments alone (SplitMix64).
fn chance(item: u64, run: u64) -> f64 {
    let mix = |state: u64| {
        let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    };
    (mix(mix(run) ^ item) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Adds runs of an arm with so much memory, which pass `rate` of 200 questions on average.
fn runs(project: &Project, arm: &str, gib: u64, rate: f64, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let id = format!("{arm}-{number:02}");
        let fields = json!({
            "resources": {"memory": gib << 30, "cpus": 4},
            "timestamp": format!("2026-03-{:02}T01:00:00Z", number + 1),
        });
        project.result(&result(&id, "quiz", arm, fields));
        let seed = id.bytes().fold(7_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let passes =
            |item: u64| chance(item, seed) < (0.4 * chance(item, 1) + rate - 0.2).clamp(0.0, 1.0);
        let items: Vec<Value> = (0..200)
            .map(|item| {
                question(
                    &format!("q{item:03}"),
                    1,
                    if passes(item) { "pass" } else { "fail" },
                )
            })
            .collect();
        project.items(&id, &items);
    }
}

#[test]
fn resources_that_change_rates_lower_the_grade() {
    let project = Project::new();
    runs(&project, "steady", 4, 0.5, 0..5);
    runs(&project, "steady", 16, 0.65, 5..10);
    runs(&project, "calm", 4, 0.5, 0..5);
    runs(&project, "calm", 8, 0.5, 5..10);
    runs(&project, "small", 4, 0.5, 0..3);
    runs(&project, "large", 16, 0.65, 0..3);
    runs(&project, "eight", 8, 0.5, 0..3);
    let ledger = ledger(&project, "quiz");
    let effects = ledger["conditions"]
        .as_array()
        .expect("two arms under two conditions");
    assert_eq!(effects.len(), 2, "{effects:?}");
    let of = |arm: &str| {
        effects
            .iter()
            .find(|effect| effect["approach"] == arm)
            .expect("the arm has two conditions")
    };
    assert_eq!(
        (
            of("steady")["changes_rate"].as_bool(),
            of("calm")["changes_rate"].as_bool()
        ),
        (Some(true), Some(false))
    );
    near(&of("steady")["difference"], 0.15, 0.05);
    assert_eq!(
        of("steady")["settings"],
        json!([{"what": "memory", "first": "4.0 GiB", "second": "16.0 GiB"}])
    );
    let grade = |one: &str, other: &str| {
        let answer = project
            .run([
                "compare",
                "quiz",
                "--approach",
                one,
                "--approach",
                other,
                "--approach",
                "steady",
                "--format",
                "json",
            ])
            .json();
        let table = &answer["comparisons"][0];
        let place = |arm: &str| {
            table["arms"]
                .as_array()
                .and_then(|arms| arms.iter().position(|own| own["approach"] == arm))
                .expect("an arm")
        };
        let ends = [place(one).min(place(other)), place(one).max(place(other))];
        let pairs = table["comparability"].as_array().expect("pairs").clone();
        let pair = pairs
            .into_iter()
            .find(|pair| pair["first"] == ends[0] && pair["second"] == ends[1])
            .expect("the pair is graded");
        pair["mismatches"]
            .as_array()
            .expect("differences")
            .iter()
            .find(|found| found["what"] == "memory")
            .expect("memory differs")
            .clone()
    };
    let found = grade("small", "large");
    assert_eq!(
        (&found["kind"], &found["grade"]),
        (&"effect_of_resources".into(), &"D".into())
    );
    let found = grade("small", "eight");
    assert_eq!(
        (&found["kind"], &found["grade"]),
        (&"resources".into(), &"B".into())
    );
    insta::assert_snapshot!(project.run(["noise", "quiz"]).snapshot());
}

#[test]
fn one_run_has_no_parts_and_the_questions_are_read() {
    let project = Project::new();
    let asked = |item: &str, asked: &str, expected: &str| {
        let mut line = question(item, 1, "pass");
        line["details"] = json!({"question": asked, "expected": [expected]});
        line
    };
    project.result(&result("once", "quiz", "nova", json!({})));
    let items = [
        asked("a", "2 + 2 = ?", "4"),
        asked("b", "2 + 2 = ?", "4"),
        asked("c", "Capital of Australia?", "Canberra"),
        asked("d", "Capital of Australia?", "Sydney"),
        asked("e", "Capital of Peru?", "Lima"),
    ];
    project.items("once", &items);
    let ledger = ledger(&project, "quiz");
    assert_eq!(
        (
            ledger["pooled"].as_str(),
            ledger["arms"][0]["sources"].as_str(),
            &ledger["repeated_arms"]
        ),
        (None, None, &0.into())
    );
    assert_eq!(ledger["health"]["duplicated"], json!([["a", "b"]]));
    assert_eq!(ledger["health"]["contradictory"], json!([["c", "d"]]));
    insta::assert_snapshot!(project.run(["noise", "quiz"]).snapshot());
}

#[test]
fn runs_without_items_have_no_ledger() {
    let project = Project::new();
    project.result(&result(
        "counts",
        "quiz",
        "nova",
        json!({"sharedTestsPassed": 3, "sharedTestsTotal": 4}),
    ));
    insta::assert_snapshot!(project.run(["noise"]).snapshot());
}

/// Adds runs of code: the tests of a run pass or fail with its one artefact, here a first so many of 20.
fn artefacts(project: &Project, arm: &str, passed: &[usize], fields: impl Fn(usize) -> Value) {
    for (number, passed) in passed.iter().enumerate() {
        let id = format!("{arm}-{number}");
        project.result(&result(&id, "build", arm, fields(number)));
        let items: Vec<Value> = (0..20)
            .map(|item| {
                test(
                    &format!("t{item:02}"),
                    if item < *passed { "pass" } else { "fail" },
                )
            })
            .collect();
        project.items(&id, &items);
    }
}

#[test]
fn tests_of_one_artefact_are_planned_by_runs() {
    let project = Project::new();
    artefacts(&project, "nova", &[12, 15, 18], |_| json!({}));
    artefacts(&project, "apex", &[11, 17, 13], |_| json!({}));
    let ledger = ledger(&project, "build");
    let single = &ledger["single_runs"];
    assert_eq!(
        (&ledger["unit"], &single["pairs"]),
        (&"runs".into(), &1.into()),
        "{ledger}"
    );
    assert_eq!(
        single
            .as_object()
            .expect("differences")
            .keys()
            .collect::<Vec<_>>(),
        ["by_chance", "by_chance_limits", "pairs", "by_runs"]
    );
    // The same figure as the comparison's, which has three runs of each arm.
    let pair = project.run(["compare", "build", "--format", "json"]).json()["comparisons"][0]["rows"][0]["evidence"]["pairs"][0].clone();
    assert_eq!(
        (&pair["design"], &single["by_runs"][0]["runs"]),
        (&"runs".into(), &3.into()),
        "{pair}"
    );
    near(
        &single["by_runs"][0]["difference"],
        pair["detectable"].as_f64().expect("an open pair"),
        1e-12,
    );
    let [three, six] = [0, 1].map(|at: usize| {
        single["by_runs"][at]["difference"]
            .as_f64()
            .expect("a difference")
    });
    assert!(six < three / std::f64::consts::SQRT_2, "{single}");
    // Two runs differ as much as the runs' rates do: 1.96 · √(mean of variances · 2).
    near(
        &single["by_chance"],
        1.959_964 * (2.0 * f64::midpoint(0.15_f64.powi(2), 0.0233_333)).sqrt(),
        1e-5,
    );
    let said = project.run(["noise", "build"]).stdout;
    assert!(
        said.contains("Smallest detectable: 3 runs per arm")
            && !said.contains("one run per arm, same items"),
        "{said}"
    );
}

#[test]
fn code_that_never_varies_has_no_detectable_difference() {
    let project = Project::new();
    artefacts(&project, "nova", &[20; 3], |_| json!({}));
    artefacts(&project, "apex", &[4; 3], |_| json!({}));
    let said = project.run(["noise", "build"]).stdout;
    assert!(
        said.contains("no arm's rate varies") && !said.contains("no arm has two runs"),
        "{said}"
    );
    let single = ledger(&project, "build")["single_runs"].clone();
    let none = json!({"low": 0.0, "high": 0.0});
    assert_eq!(
        single,
        json!({"by_chance": 0.0, "by_chance_limits": none, "pairs": 1})
    );
}

#[test]
fn conditions_of_code_are_compared_over_runs() {
    let project = Project::new();
    let passed = [12, 11, 13, 19, 18, 20];
    artefacts(
        &project,
        "nova",
        &passed,
        |number| json!({"resources": {"time_limit": if number < 3 { 600 } else { 90 }}}),
    );
    let effect = ledger(&project, "build")["conditions"][0].clone();
    assert_eq!(
        effect["settings"],
        json!([{"what": "time limit", "first": "10 min", "second": "90 s"}])
    );
    // Welch's t of 0.6 ± 0.05 and 0.95 ± 0.05 over three runs each: t = 8.573, 4 degrees of freedom.
    assert_eq!(
        (&effect["runs"], &effect["items"]),
        (&json!([3, 3]), &20.into()),
        "{effect}"
    );
    near(&effect["difference"], 0.35, 1e-12);
    near(&effect["p"], 0.001_016_66, 1e-7);
}
