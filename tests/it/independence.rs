//! The answer for a suite rests on its own runs: not on what else lies in the store, not on the cache, and not on who came first.

use std::path::Path;

use evalreport::domain::Filter;
use evalreport::warehouse::{OutcomeMatrix, Progress, Warehouse, WarehouseOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Project, question, result};

/// A run of a suite: which cluster it says each item is in, and whether it passed.
#[derive(Clone, Debug)]
struct Told {
    id: String,
    suite: String,
    approach: String,
    items: Vec<(Option<&'static str>, bool)>,
}

impl Told {
    fn new(
        id: &str,
        suite: &str,
        approach: &str,
        items: Vec<(Option<&'static str>, bool)>,
    ) -> Self {
        Self {
            id: id.to_owned(),
            suite: suite.to_owned(),
            approach: approach.to_owned(),
            items,
        }
    }

    fn store(&self, project: &Project) {
        project.result(&result(
            &self.id,
            &self.suite,
            &self.approach,
            json!({"suite_version": "v1"}),
        ));
        project.items(&self.id, &self.lines());
    }

    fn lines(&self) -> Vec<Value> {
        let line = |(number, (cluster, passes)): (usize, &(Option<&str>, bool))| {
            let mut line = question(
                &number.to_string(),
                1,
                if *passes { "pass" } else { "fail" },
            );
            if let Some(cluster) = cluster {
                line["cluster"] = json!(cluster);
            }
            line
        };
        self.items.iter().enumerate().map(line).collect()
    }
}

/// What is said of the suite `quiz`.
fn answers(project: &Project) -> String {
    let commands: [&[&str]; 2] = [
        &["compare", "quiz", "--format", "json"],
        &["leaderboard", "quiz", "--format", "json"],
    ];
    let answer = |arguments: &&[&str]| {
        let output = project.run(arguments.iter().copied());
        assert_eq!(output.code, 0, "{}", output.stderr);
        output.stdout
    };
    commands.iter().map(answer).collect()
}

/// Two arms on 24 items, of which the second passes four more.
fn quiz(cluster: impl Fn(usize) -> Option<&'static str>) -> Vec<Told> {
    let run = |id: &str, approach: &str, passes: &dyn Fn(usize) -> bool| {
        Told::new(
            id,
            "quiz",
            approach,
            (0..24).map(|item| (cluster(item), passes(item))).collect(),
        )
    };
    vec![
        run("m-1", "plain", &|item| item < 4),
        run("m-2", "tuned", &|item| item < 20),
    ]
}

#[test]
fn another_suites_clusters_are_not_ours() {
    let alone = Project::new();
    for run in &quiz(|_| None) {
        run.store(&alone);
    }
    let truth = answers(&alone);
    assert!(!truth.contains("\"clusters\": 2"), "{truth}");

    let halves = |item: usize| {
        (
            if item < 12 {
                Some("front")
            } else {
                Some("back")
            },
            true,
        )
    };
    let other = Told::new("a-1", "another", "plain", (0..24).map(halves).collect());
    let beside = Project::new();
    other.store(&beside);
    for run in &quiz(|_| None) {
        run.store(&beside);
    }
    assert_eq!(
        answers(&beside),
        truth,
        "beside a suite whose items have the same names"
    );

    let before = Project::new();
    other.store(&before);
    assert_eq!(before.run(["list"]).code, 0);
    for run in &quiz(|_| None) {
        run.store(&before);
    }
    assert_eq!(
        answers(&before),
        truth,
        "with a cache that knows the other suite only"
    );
}

fn open(project: &Project) -> Warehouse {
    let options = WarehouseOptions {
        stores: vec![project.path("results")],
        ..WarehouseOptions::default()
    };
    Warehouse::open(&options, &Progress::SILENT).expect("the tombstones can be read")
}

/// The clusters of a matrix of all runs of one suite version.
fn clusters(warehouse: &Warehouse, suite: &str, version: &str) -> Vec<Option<String>> {
    let filter = Filter {
        suites: vec![suite.to_owned()],
        ..Filter::default()
    };
    let rows = warehouse
        .select_runs(&filter)
        .filter(|row| row.run.suite_version.as_deref() == Some(version));
    let matrix: OutcomeMatrix = warehouse.outcome_matrix(rows.map(|row| &row.run.id));
    matrix.items.into_iter().map(|item| item.cluster).collect()
}

#[test]
fn versions_of_a_suite_have_clusters_of_their_own() {
    let project = Project::new();
    for (id, version, cluster) in [
        ("q-1", "v1", "old"),
        ("q-2", "v2", "new"),
        ("q-3", "v3", ""),
    ] {
        project.result(&result(
            id,
            "quiz",
            "plain",
            json!({"suite_version": version}),
        ));
        let mut line = question("0", 1, "pass");
        if !cluster.is_empty() {
            line["cluster"] = json!(cluster);
        }
        project.items(id, &[line]);
    }
    let warehouse = open(&project);
    assert_eq!(clusters(&warehouse, "quiz", "v1"), [Some("old".to_owned())]);
    assert_eq!(clusters(&warehouse, "quiz", "v2"), [Some("new".to_owned())]);
    assert_eq!(clusters(&warehouse, "quiz", "v3"), [None]);
    assert_eq!(warehouse.find_fact_conflicts(), [], "versions may differ");
}

#[test]
fn runs_that_contradict_each_other_are_told_and_the_most_are_right() {
    let project = Project::new();
    for (id, clusters) in [
        ("q-1", ["a", "a", "b"]),
        ("q-2", ["z", "z", "b"]),
        ("q-3", ["z", "y", "b"]),
    ] {
        Told::new(
            id,
            "quiz",
            id,
            clusters
                .into_iter()
                .map(|cluster| (Some(cluster), true))
                .collect(),
        )
        .store(&project);
    }
    Told::new("q-4", "quiz", "silent", vec![(None, true); 3]).store(&project);
    Told::new("o-1", "other", "plain", vec![(Some("else"), true); 3]).store(&project);
    let warehouse = open(&project);
    // Of `1` each of three clusters has one vote: the clustering that sorts first wins.
    let expected = ["z", "a", "b"].map(|cluster| Some(cluster.to_owned()));
    assert_eq!(clusters(&warehouse, "quiz", "v1"), expected);

    let output = project.run(["leaderboard", "quiz", "--format", "csv"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(
        output.stderr,
        "warning: results/q-1/items.jsonl: suite `quiz`, version `v1`: the cluster of `0` is `a` (q-1) and `z` (q-2, q-3) at once; so is \
         another item's\n  hint: what most runs say counts; store or import the runs again, alike\n"
    );
    assert!(
        project
            .run(["--quiet", "leaderboard", "quiz"])
            .stderr
            .is_empty()
    );
    let refusal = project.run(["--strict", "leaderboard", "quiz"]);
    assert!(
        refusal
            .refusal()
            .contains("error: runs contradict each other about items"),
        "{}",
        refusal.stderr
    );
    // Whose runs are hidden have no say.
    assert_eq!(
        project
            .run([
                "retract",
                "q-1",
                "--reason",
                "clustered otherwise",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run([
                "retract",
                "q-3",
                "--reason",
                "clustered otherwise",
                "--quiet"
            ])
            .code,
        0
    );
    assert_eq!(open(&project).find_fact_conflicts(), []);
    assert_eq!(
        clusters(&open(&project), "quiz", "v1"),
        ["z", "z", "b"].map(|cluster| Some(cluster.to_owned()))
    );
}

const CLUSTERS: [&str; 4] = ["c0", "c1", "c2", "c3"];

/// Of each item its cluster, and whether it passes.
type Items = Vec<(Option<&'static str>, bool)>;

fn items(number: usize) -> impl Strategy<Value = Items> {
    prop::collection::vec(
        (
            prop::option::weighted(0.8, prop::sample::select(&CLUSTERS[..])),
            any::<bool>(),
        ),
        number,
    )
}

/// Runs of `quiz` whose clusters are mostly those of the first of them.
fn quizzes() -> impl Strategy<Value = Vec<Told>> {
    (8..24_usize).prop_flat_map(|number| {
        prop::collection::vec((items(number), prop::bool::weighted(0.3)), 2..5).prop_map(|runs| {
            let clusters: Vec<Option<&str>> =
                runs[0].0.iter().map(|(cluster, _)| *cluster).collect();
            let told = |(place, (mut items, differs)): (usize, (Items, bool))| {
                if !differs {
                    for (item, cluster) in items.iter_mut().zip(&clusters) {
                        item.0 = *cluster;
                    }
                }
                Told::new(
                    &format!("m-{place}"),
                    "quiz",
                    if place % 2 == 0 { "plain" } else { "tuned" },
                    items,
                )
            };
            runs.into_iter().enumerate().map(told).collect()
        })
    })
}

/// Runs of other suites with items of the same names, that come before and after in every order of names.
fn others() -> impl Strategy<Value = Vec<Told>> {
    let run = (
        items(24),
        prop::sample::select(vec!["another", "quiz-two", "zoo"]),
    );
    prop::collection::vec(run, 1..4).prop_map(|runs| {
        let told = |(place, (items, suite)): (usize, (_, &str))| {
            Told::new(
                &format!("{}-{place}", if place % 2 == 0 { "a" } else { "z" }),
                suite,
                "plain",
                items,
            )
        };
        runs.into_iter().enumerate().map(told).collect()
    })
}

proptest! {
    // Each case starts the program some twenty times.
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_for_a_suite_is_its_own(runs in quizzes(), others in others(), order in Just(()).prop_perturb(|(), mut rng| rng.next_u32())) {
        let alone = Project::new();
        for run in &runs {
            run.store(&alone);
        }
        let truth = answers(&alone);
        prop_assert_eq!(&answers(&alone), &truth, "warm");

        for run in &others {
            run.store(&alone);
        }
        prop_assert_eq!(&answers(&alone), &truth, "others came later");
        remove_cache(&alone.path(".evalreport"));
        prop_assert_eq!(&answers(&alone), &truth, "beside others, without a cache");

        let one_by_one = Project::new();
        let mut arriving: Vec<&Told> = runs.iter().chain(&others).collect();
        let steps = order as usize;
        arriving.rotate_left(steps % (runs.len() + others.len()));
        if steps % 2 == 1 {
            arriving.reverse();
        }
        for run in arriving {
            run.store(&one_by_one);
            prop_assert_eq!(one_by_one.run(["--quiet", "list"]).code, 0);
        }
        prop_assert_eq!(&answers(&one_by_one), &truth, "one by one");
    }
}

fn remove_cache(folder: &Path) {
    std::fs::remove_dir_all(folder).expect("it can be deleted at any time");
}
