//! Whether intervals of time horizons hold.

use evalreport::stats::{
    HORIZON_PENALTY, Seed, SuccessCurve, TimedAttempt, horizon_intervals, success_curve,
    task_weights,
};

use super::Table;
use super::world::{World, shares};

/// Made-up tasks: families, at most so many tasks in one, attempts at each, and how much families and tasks differ in log odds.
const CASES: [(&str, usize, usize, u32, f64, f64); 7] = [
    ("100 single tasks, once", 100, 1, 1, 0.0, 0.0),
    (
        "100 single tasks of own difficulty, 4 times",
        100,
        1,
        4,
        0.0,
        1.0,
    ),
    ("40 families of 1 to 5, tasks differ", 40, 5, 4, 0.0, 1.0),
    ("40 families of 1 to 5, families differ", 40, 5, 4, 1.0, 0.5),
    ("20 such families", 20, 5, 4, 1.0, 0.5),
    ("10 such families", 10, 5, 4, 1.0, 0.5),
    ("6 such families", 6, 5, 4, 1.0, 0.5),
];
const CURVE: SuccessCurve = SuccessCurve {
    intercept: 3.0,
    slope: -0.7,
};
const CHANCES: [f64; 2] = [0.5, 0.8];

fn made(world: &mut World, case: (&str, usize, usize, u32, f64, f64)) -> Vec<TimedAttempt> {
    let (_, families, most, tries, family_spread, task_spread) = case;
    let mut attempts = Vec::new();
    let (mut family_code, mut task) = (0, 0);
    for _ in 0..families {
        let (luck, length) = (family_spread * world.normal(), 10.0 * world.uniform());
        for _ in 0..=world.below(most) {
            // Tasks of a family have similar lengths.
            let minutes = (length + world.normal() - 1.0).exp2();
            let odds = CURVE.intercept
                + CURVE.slope * minutes.log2()
                + luck
                + task_spread * world.normal();
            for _ in 0..tries {
                let score = f64::from(u8::from(world.happens(1.0 / (1.0 + (-odds).exp()))));
                attempts.push(TimedAttempt {
                    task,
                    family: family_code,
                    minutes,
                    score,
                });
            }
            task += 1;
        }
        family_code += 1;
    }
    attempts
}

/// Returns the curve's value in such a world with very many families: what the fit with its penalty estimates.
fn truth(world: &mut World, case: (&str, usize, usize, u32, f64, f64)) -> SuccessCurve {
    let attempts = made(world, (case.0, 40_000, case.2, 1, case.4, case.5));
    success_curve(&attempts, &task_weights(&attempts), HORIZON_PENALTY).expect("a curve")
}

pub fn coverage() -> Table {
    let mut table = Table::new(
        "Intervals of horizons that hold, where 95% should be",
        &[
            "tasks",
            "half of the time",
            "8 of 10 times",
            "half of the time, tasks as units",
        ],
    );
    for case in CASES {
        let truth = truth(&mut super::world::nth(0), case);
        let wanted = CHANCES.map(|chance| truth.horizon_minutes(chance).expect("it falls"));
        let got = shares(1_000, |world| {
            let attempts = made(world, case);
            let weights = task_weights(&attempts);
            let alone: Vec<TimedAttempt> = attempts
                .iter()
                .map(|attempt| TimedAttempt {
                    family: attempt.task,
                    ..*attempt
                })
                .collect();
            let seed = Seed(world.below(1 << 30) as u64);
            let holds = |attempts: &[TimedAttempt], at: usize| {
                let found = horizon_intervals(
                    attempts,
                    &weights,
                    HORIZON_PENALTY,
                    &CHANCES[at..=at],
                    0.95,
                    600,
                    seed,
                )
                .remove(0)
                .ok()?;
                Some(found.low <= wanted[at] && wanted[at] <= found.high)
            };
            [holds(&attempts, 0), holds(&attempts, 1), holds(&alone, 0)]
        });
        table.row(&[case.0.to_owned()], &got);
    }
    table
}
