//! What is evidence: times that share the machine's state, and costs that never vary.

use evalreport::inference::{Decision, ItemTable, Policy, decide_pair};
use evalreport::stats::{self, ItemsByRuns};

use super::Table;
use super::rule::{ALPHA, CONFIDENCE};
use super::world::{World, shares};

const WORLDS: u32 = 2_000;
const QUESTIONS: usize = 250;

/// The seconds of one run's questions: of the question, of the attempt, and of the machine, which other programs keep busy for a while. Its
/// load is remembered from question to question (autocorrelation 0.98), and moves a run by about a fifth.
fn run(world: &mut World, questions: &[f64]) -> Vec<f64> {
    const MEMORY: f64 = 0.98;
    let mut load = 0.2 * world.normal();
    let mut of_question = |question: &f64| {
        load = MEMORY * load + (1.0 - MEMORY * MEMORY).sqrt() * 0.2 * world.normal();
        (question + load + 0.3 * world.normal()).exp()
    };
    questions.iter().map(&mut of_question).collect()
}

/// The same program twice: how often one is shipped because it is "faster".
pub fn one_program() -> Table {
    let mut table = Table::new(
        "The same program twice on a busy machine, 250 questions, equal outcomes: shipped for its time, in percent",
        &[
            "runs each",
            "program twice as fast",
            "shipped",
            "a test over questions finds a difference above 10%",
        ],
    );
    for (runs, ratio) in [
        (1_usize, 1.0_f64),
        (2, 1.0),
        (3, 1.0),
        (5, 1.0),
        (1, 2.0),
        (3, 2.0),
        (5, 2.0),
    ] {
        let found = shares(WORLDS, |world| {
            let questions: Vec<f64> = (0..QUESTIONS).map(|_| 0.5 * world.normal()).collect();
            let passed: Vec<Option<bool>> = (0..QUESTIONS * runs)
                .map(|at| Some(at / runs % 5 != 0))
                .collect();
            let mut arm = |ratio: f64| -> Vec<Option<f64>> {
                let of_runs: Vec<Vec<f64>> = (0..runs).map(|_| run(world, &questions)).collect();
                (0..QUESTIONS)
                    .flat_map(|item| {
                        of_runs
                            .iter()
                            .map(move |run| run[item] / ratio)
                            .collect::<Vec<_>>()
                    })
                    .map(Some)
                    .collect()
            };
            let seconds = [arm(ratio), arm(1.0)];
            let tables = [0, 1].map(|arm: usize| ItemTable {
                runs,
                passed: &passed,
                cost_usd: &[],
                seconds: &seconds[arm],
            });
            let decision = decide_pair(&tables[0], &tables[1], &Policy::default());
            let logs = [0, 1].map(|arm: usize| {
                seconds[arm]
                    .iter()
                    .map(|value| value.map(f64::ln))
                    .collect::<Vec<Option<f64>>>()
            });
            let by_items = [0, 1].map(|arm: usize| ItemsByRuns {
                runs,
                values: &logs[arm],
            });
            let by_items = stats::two_way(by_items[0], by_items[1], None, CONFIDENCE);
            let is_found =
                by_items.is_ok_and(|found| found.p < ALPHA && found.estimate.abs() > 1.1_f64.ln());
            [
                Some(matches!(decision, Decision::Ship { .. })),
                Some(is_found),
            ]
        });
        let case = [
            runs.to_string(),
            if ratio > 1.0 { "yes" } else { "no" }.to_owned(),
        ];
        table.row(
            &case
                .into_iter()
                .chain(found.map(|share| share.with_error()))
                .collect::<Vec<_>>(),
            &[],
        );
    }
    table
}

/// Costs that are the same in every run: whether the decision knows them.
pub fn constant_costs() -> Table {
    let mut table = Table::new(
        "An arm that passes 25 points more in every run, at a cost that never varies, 3 runs each of 20 questions: what is decided, in percent",
        &["its cost over the other's", "ship", "choose by price"],
    );
    for ratio in [0.5, 1.0, 1.05, 1.2, 2.9] {
        let found = shares(200, |world| {
            let cost = 0.01 + world.uniform();
            let passed = [20, 15].map(|passes| {
                (0..60)
                    .map(|at| Some(at / 3 < passes))
                    .collect::<Vec<Option<bool>>>()
            });
            let costs = [ratio, 1.0].map(|ratio| vec![Some(ratio * cost); 60]);
            let tables = [0, 1].map(|arm: usize| ItemTable {
                runs: 3,
                passed: &passed[arm],
                cost_usd: &costs[arm],
                seconds: &[],
            });
            let decision = decide_pair(&tables[0], &tables[1], &Policy::default());
            [
                Some(matches!(decision, Decision::Ship { .. })),
                Some(matches!(decision, Decision::ChooseByPrice { .. })),
            ]
        });
        table.row(&[format!("{ratio}")], &found);
    }
    table
}
