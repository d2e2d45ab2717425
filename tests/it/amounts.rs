//! What outcomes cost and took, beside the matrix they belong to.

use std::collections::BTreeMap;
use std::fs;

use evalreport::domain::{Aliases, ItemKind, ItemOutcome, ItemStatus, Run, RunId};
use evalreport::results::{SealedWriter, Store};
use evalreport::warehouse::{
    AttemptUsage, ItemUsage, OutcomeMatrix, Progress, RunRow, Warehouse, WarehouseOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Project, question, result};

const NOTHING: AttemptUsage = AttemptUsage {
    cost_usd: None,
    tokens: None,
    seconds: None,
};

fn open(project: &Project, items: &[(&str, &str)]) -> Warehouse {
    let item = items
        .iter()
        .map(|(name, shown)| ((*name).to_owned(), (*shown).to_owned()))
        .collect();
    let aliases = Aliases {
        item,
        ..Aliases::default()
    };
    Warehouse::open(
        &WarehouseOptions {
            stores: vec![project.path("results")],
            aliases,
            ..WarehouseOptions::default()
        },
        &Progress::SILENT,
    )
    .expect("the tombstones can be read")
}

fn all(warehouse: &Warehouse) -> (OutcomeMatrix, Vec<&RunRow>) {
    let rows: Vec<&RunRow> = warehouse.runs().iter().collect();
    (
        warehouse.outcome_matrix(rows.iter().map(|row| &row.run.id)),
        rows,
    )
}

/// The amounts of all runs, by run, attempt, evaluator and item.
fn amounts(warehouse: &Warehouse) -> BTreeMap<(String, u32, String, String), AttemptUsage> {
    let (matrix, rows) = all(warehouse);
    let amounts = warehouse.item_usage(&matrix, &rows);
    let mut named = BTreeMap::new();
    for (number, row) in matrix.rows.iter().enumerate() {
        for (place, item) in row.items.iter().enumerate() {
            let key = &matrix.items[*item as usize].key;
            named.insert(
                (
                    row.run.to_string(),
                    row.attempt,
                    key.evaluator.clone(),
                    key.item.clone(),
                ),
                amounts.for_outcome(number, place),
            );
        }
    }
    named
}

#[track_caller]
fn is(
    found: &BTreeMap<(String, u32, String, String), AttemptUsage>,
    place: (&str, u32, &str, &str),
    expected: (Option<f64>, Option<u64>, Option<f64>),
) {
    let (run, attempt, evaluator, item) = place;
    let found = found[&(
        run.to_owned(),
        attempt,
        evaluator.to_owned(),
        item.to_owned(),
    )];
    assert_eq!(
        (found.cost_usd, found.tokens, found.seconds),
        expected,
        "{place:?}"
    );
}

fn with(mut line: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else {
        unreachable!("the fields are an object")
    };
    line.as_object_mut().expect("an object").extend(fields);
    line
}

#[test]
fn amounts_stand_beside_their_outcomes() {
    let project = Project::with(&[
        result("r-1", "s", "a", json!({})),
        result("r-2", "s", "b", json!({})),
        result("r-3", "s", "c", json!({})),
    ]);
    project.items(
        "r-1",
        &[
            // In another order than the matrix has, and with an attempt that lacks an item.
            with(question("q2", 1, "fail"), json!({"cost_usd": 0.25, "input_tokens": 100, "output_tokens": 10})),
            with(question("q1", 1, "pass"), json!({"duration_seconds": 1.5, "cost_usd": 0.0, "input_tokens": 5})),
            with(question("q1", 2, "pass"), json!({"duration_seconds": 2.5})),
            // A later revision stands, with what it says and without what it does not; of two lines of one the later.
            with(
                json!({"item": "q2", "kind": "question", "evaluator": "answers", "attempt": 2, "revision": 1, "status": "pass"}),
                json!({"cost_usd": 4.0}),
            ),
            with(question("q2", 2, "fail"), json!({"cost_usd": 2.0, "duration_seconds": 9.0})),
            with(question("q3", 1, "fail"), json!({"cost_usd": 7.0})),
            with(question("q3", 1, "pass"), json!({"cost_usd": 8.0})),
        ],
    );
    project.items("r-2", &[question("q1", 1, "pass")]);
    project.items(
        "r-3",
        &[with(question("q1", 1, "pass"), json!({"output_tokens": 3}))],
    );
    let found = amounts(&open(&project, &[]));
    is(
        &found,
        ("r-1", 1, "answers", "q1"),
        (Some(0.0), None, Some(1.5)),
    );
    is(
        &found,
        ("r-1", 1, "answers", "q2"),
        (Some(0.25), Some(110), None),
    );
    is(&found, ("r-1", 2, "answers", "q1"), (None, None, Some(2.5)));
    is(&found, ("r-1", 2, "answers", "q2"), (Some(4.0), None, None));
    is(&found, ("r-1", 1, "answers", "q3"), (Some(8.0), None, None));
    is(&found, ("r-2", 1, "answers", "q1"), (None, None, None));
    is(&found, ("r-3", 1, "answers", "q1"), (None, None, None));
    assert_eq!(found.len(), 7);
}

#[test]
fn several_evaluators_of_an_item_share_its_amounts() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    let by = |evaluator: &str, item: &str, fields: Value| {
        with(
            question(item, 1, "pass"),
            with(json!({"evaluator": evaluator}), fields),
        )
    };
    project.items(
        "r-1",
        &[
            by(
                "letters",
                "q1",
                json!({"cost_usd": 0.5, "duration_seconds": 3.0}),
            ),
            by(
                "words",
                "q1",
                json!({"cost_usd": 0.5, "duration_seconds": 4.0}),
            ),
            by("words", "q2", json!({"cost_usd": 0.25})),
            by("letters", "q2", json!({})),
            by("words", "q3", json!({})),
        ],
    );
    let found = amounts(&open(&project, &[]));
    for evaluator in ["letters", "words"] {
        is(
            &found,
            ("r-1", 1, evaluator, "q1"),
            (Some(0.5), None, Some(4.0)),
        );
        is(
            &found,
            ("r-1", 1, evaluator, "q2"),
            (Some(0.25), None, None),
        );
    }
    is(&found, ("r-1", 1, "words", "q3"), (None, None, None));
}

#[test]
fn of_a_judge_only_what_stands_counts() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    let criterion = |revision: u32, cost: f64| {
        json!({"item": "saves", "kind": "criterion", "evaluator": "requirementFulfillment", "attempt": 1, "revision": revision,
            "status": "pass", "cost_usd": cost})
    };
    project.items(
        "r-1",
        &[criterion(0, 1.0), criterion(1, 2.0), criterion(2, 3.0)],
    );
    let score = |revision: u32| json!({"metric": "requirementFulfillment", "value": 100.0, "unit": "points", "direction": "up", "revision": revision});
    // The third was never finished.
    project.file(
        "results/r-1/scores.jsonl",
        crate::support::lines([score(0), score(1)]),
    );
    let found = amounts(&open(&project, &[]));
    is(
        &found,
        ("r-1", 1, "requirementFulfillment", "saves"),
        (Some(2.0), None, None),
    );
}

#[test]
fn items_that_are_shown_as_one_are_not_added_up() {
    for order in [["old", "new"], ["new", "old"]] {
        let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
        let line = |item: &str| {
            let (status, cost) = if item == "new" {
                ("pass", 1.0)
            } else {
                ("fail", 2.0)
            };
            with(question(item, 1, status), json!({"cost_usd": cost}))
        };
        project.items("r-1", &order.map(line));
        let warehouse = open(&project, &[("old", "item"), ("new", "item")]);
        let (matrix, _) = all(&warehouse);
        assert_eq!(
            matrix.rows[0].outcomes().collect::<Vec<_>>(),
            [(0, ItemStatus::Pass)],
            "the first by its own name, whoever came first"
        );
        is(
            &amounts(&warehouse),
            ("r-1", 1, "answers", "item"),
            (Some(1.0), None, None),
        );
    }
}

#[test]
fn nothing_is_read_where_nobody_has_amounts() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    project.items("r-1", &[question("q1", 1, "pass")]);
    let warehouse = open(&project, &[]);
    fs::remove_dir_all(project.path("results")).expect("ours");
    let (matrix, rows) = all(&warehouse);
    assert_eq!(warehouse.item_usage(&matrix, &rows), ItemUsage::default());
    assert!(warehouse.item_usage(&matrix, &rows).is_empty());
}

#[test]
fn a_file_that_is_gone_is_told_of() {
    let project = Project::with(&[result("r-1", "s", "a", json!({}))]);
    project.items(
        "r-1",
        &[with(question("q1", 1, "pass"), json!({"cost_usd": 1.0}))],
    );
    let warehouse = open(&project, &[]);
    fs::remove_dir_all(project.path("results")).expect("ours");
    let (matrix, rows) = all(&warehouse);
    assert!(
        warehouse.item_usage(&matrix, &[]).is_empty() && warehouse.late_problems().is_empty(),
        "nobody was asked"
    );
    assert!(warehouse.item_usage(&matrix, &rows).is_empty());
    let [problem] = warehouse.late_problems().try_into().expect("one file");
    assert!(
        problem.is_unread && problem.file.ends_with("items.jsonl"),
        "{problem}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Journals and sealed imports, whatever the order of the lines, give what was written.
    #[test]
    fn what_was_written_is_found(
        written in prop::collection::btree_map((0..3_u8, 1..3_u32, 0..6_u8), (prop::option::of(0.0..9.0), prop::option::of(0..99_u64), prop::option::of(0.0..9.0)), 1..30),
        is_sealed: bool,
    ) {
        let project = Project::new();
        let store = Store::new(project.path("results"));
        let run_id = |run: u8| RunId::parse(&format!("run-{run}")).expect("a valid id");
        let outcome = |place: &(u8, u32, u8), amounts: &(Option<f64>, Option<u64>, Option<f64>)| ItemOutcome {
            run: run_id(place.0),
            kind: ItemKind::Question,
            item: format!("q{}", place.2),
            cluster: None,
            category: None,
            attempt: place.1,
            status: ItemStatus::Pass,
            score: None,
            evaluator: "answers".to_owned(),
            revision: 0,
            duration_seconds: amounts.2,
            cost_usd: amounts.0,
            input_tokens: amounts.1,
            output_tokens: amounts.1,
        };
        let runs: Vec<Run> = (0..3).map(|run| Run::new(run_id(run), "s", format!("a{run}"), "m")).collect();
        // Last come first.
        let outcomes: Vec<ItemOutcome> = written.iter().rev().map(|(place, amounts)| outcome(place, amounts)).collect();
        if is_sealed {
            let mut writer = SealedWriter::create(&store, "aaaa").expect("a new pair");
            for outcome in &outcomes {
                writer.write_item(outcome).expect("room");
            }
            writer.commit(&runs).expect("room");
        } else {
            for run in &runs {
                store.save_run(run).expect("the first");
                let own: Vec<Value> = outcomes.iter().filter(|outcome| outcome.run == run.id).map(|outcome| {
                    with(question(&outcome.item, outcome.attempt, "pass"), json!({"cost_usd": outcome.cost_usd,
                        "duration_seconds": outcome.duration_seconds, "input_tokens": outcome.input_tokens, "output_tokens": outcome.output_tokens}))
                }).collect();
                project.items(run.id.as_str(), &own);
            }
        }
        let found = amounts(&open(&project, &[]));
        prop_assert_eq!(found.len(), written.len());
        for ((run, attempt, item), (cost_usd, tokens, seconds)) in &written {
            let place = (run_id(*run).to_string(), *attempt, "answers".to_owned(), format!("q{item}"));
            // Input and output were alike.
            let expected = AttemptUsage { cost_usd: *cost_usd, tokens: tokens.map(|tokens| 2 * tokens), seconds: *seconds };
            prop_assert_eq!(found[&place], expected);
        }
        prop_assert!(!found.values().all(|amounts| *amounts == NOTHING) || written.values().all(|amounts| *amounts == (None, None, None)));
    }
}
