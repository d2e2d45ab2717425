//! Accuracies by frames, from SQL over the item lines, and by the matrix of outcomes: two ways to the same counts.

use std::collections::BTreeMap;
use std::path::Path;

use evalreport::domain::{Filter, ItemKind};
use evalreport::inference::{BatchSelection, suite_groups};
use evalreport::warehouse::{Progress, Warehouse, WarehouseOptions};

use crate::support::Project;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Passed and counted outcomes by run, kind and evaluator, and their mean over items, as polars counts them.
const BY_FRAMES: &str = "SELECT run_id, kind, evaluator, sum(passed) AS passed, sum(tries) AS tries, avg(passed / tries) AS accuracy FROM (\
     SELECT run_id, kind, evaluator, item, CAST(sum(CASE WHEN status = 'pass' THEN 1 ELSE 0 END) AS DOUBLE) AS passed, CAST(count(*) AS DOUBLE) AS tries \
     FROM items WHERE standing AND status IN ('pass', 'fail', 'error', 'limit') GROUP BY run_id, kind, evaluator, item\
     ) GROUP BY run_id, kind, evaluator ORDER BY run_id, kind, evaluator";

/// Passed and counted outcomes by item.
type Cells = BTreeMap<u32, (f64, f64)>;

#[test]
fn frames_and_the_matrix_give_every_accuracy_of_the_shipped_results() {
    let project = Project::new();
    let results = format!("{ROOT}/results");
    let mut by_frames: BTreeMap<(String, String, String), (f64, f64, f64)> = BTreeMap::new();
    for row in project
        .run(["sql", BY_FRAMES, "--format", "csv", "--results", &results])
        .rows()
    {
        let text = |name: &str| row[name].clone();
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        by_frames.insert(
            (text("run_id"), text("kind"), text("evaluator")),
            (number("passed"), number("tries"), number("accuracy")),
        );
    }

    let options = WarehouseOptions {
        stores: vec![Path::new(&results).to_owned()],
        ..WarehouseOptions::default()
    };
    let warehouse = Warehouse::open(&options, &Progress::SILENT).expect("the shipped results");
    let (mut compared, mut questions) = (0, 0);
    for group in suite_groups(&warehouse, &Filter::default(), BatchSelection::AllBatches) {
        for row in group.arms.iter().flat_map(|arm| &arm.counted) {
            let matrix = warehouse.outcome_matrix([&row.run.id]);
            // By evaluator and item.
            let mut cells: BTreeMap<(ItemKind, &str), Cells> = BTreeMap::new();
            for attempt in &matrix.rows {
                for (item, status) in attempt.outcomes().filter(|(_, status)| status.is_counted()) {
                    let key = &matrix.items[item as usize].key;
                    let cell = cells
                        .entry((key.kind, &key.evaluator))
                        .or_default()
                        .entry(item)
                        .or_default();
                    *cell = (
                        cell.0 + f64::from(u8::from(status.name() == "pass")),
                        cell.1 + 1.0,
                    );
                }
            }
            for ((kind, evaluator), cells) in cells {
                let key = (
                    row.run.id.to_string(),
                    kind.name().to_owned(),
                    evaluator.to_owned(),
                );
                let (passed, tries, accuracy) = by_frames
                    .get(&key)
                    .copied()
                    .unwrap_or_else(|| panic!("{key:?} is not in the frames"));
                let sum = |of: fn(&(f64, f64)) -> f64| cells.values().map(of).sum::<f64>();
                assert_eq!(
                    (passed, tries),
                    (sum(|cell| cell.0), sum(|cell| cell.1)),
                    "{key:?}"
                );
                let mean = sum(|cell| cell.0 / cell.1) / cells.len() as f64;
                assert!(
                    (accuracy - mean).abs() <= 1e-12 * mean,
                    "{key:?}: {accuracy} {mean}"
                );
                compared += 1;
                questions += usize::from(kind == ItemKind::Question);
            }
        }
    }
    assert!(
        compared > 50 && questions > 20,
        "{compared} accuracies, {questions} of questions"
    );
}
