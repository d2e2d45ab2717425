//! Regressions that stay open: how often a night is red though nothing changed, while a regression is unrepaired, and after its repair.
//!
//! Nights are judged by the tests of the gate and followed by its own walk over nights.

use evalreport::stats::{
    self, Interval, ItemsByRuns, JudgedNights, LevelWalk, NightJudge, NightState, Ruling,
};

use rayon::prelude::*;

use super::Table;
use super::rule::{ALPHA, CONFIDENCE};
use super::world::{Share, World, nth};

/// Nights before anything changes, all of which a full baseline has.
const BEFORE: usize = 7;
const WORLDS: u64 = 300;
/// Runs that a gate asks for before it rules on tests.
const MIN_RUNS: usize = 3;

/// How an arm's nights come about.
#[derive(Clone, Copy)]
struct Suite {
    /// Whether the items are tests of one artefact, of which only runs are independent.
    of_tests: bool,
    items: usize,
    /// Runs of each night.
    runs: usize,
    /// Share of the items that pass now and then, with chances from 10 to 90 %; of the rest, nine of ten always pass.
    flaky: f64,
    /// Standard deviation of what moves all flaky items of a night.
    nightly: f64,
    /// The allowed drop.
    limit: f64,
}

/// What happens after the baseline's nights.
#[derive(Clone, Copy)]
struct Fate {
    /// Share of the items that break, of those that pass most.
    broken: f64,
    nights: usize,
    /// Nights after which they are repaired.
    repaired: Option<usize>,
}

/// Outcomes by night, run and item.
struct Nights {
    suite: Suite,
    outcomes: Vec<Vec<Vec<f64>>>,
}

impl Nights {
    fn new(suite: Suite, fate: Fate, world: &mut World) -> Self {
        let chance = |world: &mut World| {
            if world.happens(suite.flaky) {
                0.1 + 0.8 * world.uniform()
            } else {
                f64::from(u8::from(world.happens(0.9)))
            }
        };
        let mut chances: Vec<f64> = (0..suite.items).map(|_| chance(world)).collect();
        chances.sort_by(|one, other| other.total_cmp(one));
        let broken = (0..suite.items)
            .filter(|item| (*item as f64) < fate.broken * suite.items as f64)
            .count();
        let night = |night: usize, world: &mut World| -> Vec<Vec<f64>> {
            let is_broken = night >= BEFORE
                && fate
                    .repaired
                    .is_none_or(|repaired| night < BEFORE + repaired);
            let off = suite.nightly * world.normal();
            let outcome = |item: usize, world: &mut World| {
                let chance = if is_broken && item < broken {
                    0.0
                } else {
                    chances[item]
                };
                let is_flaky = chance > 0.0 && chance < 1.0;
                f64::from(u8::from(world.happens(if is_flaky {
                    chance + off
                } else {
                    chance
                })))
            };
            (0..suite.runs)
                .map(|_| (0..suite.items).map(|item| outcome(item, world)).collect())
                .collect()
        };
        let outcomes = (0..BEFORE + fate.nights)
            .map(|number| night(number, world))
            .collect();
        Self { suite, outcomes }
    }

    fn runs(&self, nights: &[usize]) -> Vec<&Vec<f64>> {
        nights
            .iter()
            .flat_map(|night| &self.outcomes[*night])
            .collect()
    }

    /// Returns the difference of two groups of nights, its interval and its p-value. Both are absent if nothing varies.
    fn difference(&self, nights: &[usize], others: &[usize]) -> (f64, Option<(Interval, f64)>) {
        let (one, other) = (self.runs(nights), self.runs(others));
        if self.suite.of_tests {
            let rates = |runs: &[&Vec<f64>]| {
                runs.iter()
                    .map(|run| run.iter().sum::<f64>() / run.len() as f64)
                    .collect::<Vec<f64>>()
            };
            let (one, other) = (rates(&one), rates(&other));
            let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
            let found = stats::welch_test(&one, &other, CONFIDENCE).ok();
            return (
                mean(&one) - mean(&other),
                found.map(|found| (found.interval, found.p)),
            );
        }
        let by_item = |runs: &[&Vec<f64>]| -> Vec<Option<f64>> {
            (0..self.suite.items)
                .flat_map(|item| runs.iter().map(move |run| Some(run[item])))
                .collect()
        };
        let mean = |runs: &[&Vec<f64>]| {
            runs.iter().map(|run| run.iter().sum::<f64>()).sum::<f64>()
                / (runs.len() * self.suite.items) as f64
        };
        let (values, others) = (by_item(&one), by_item(&other));
        let found = stats::two_way(
            ItemsByRuns {
                runs: one.len(),
                values: &values,
            },
            ItemsByRuns {
                runs: other.len(),
                values: &others,
            },
            None,
            CONFIDENCE,
        );
        (
            mean(&one) - mean(&other),
            found.ok().map(|found| (found.interval, found.p)),
        )
    }

    /// Returns on which nights after the baseline's a gate is red: with the walk, and if every night becomes the baseline.
    fn red(mut self) -> [Vec<bool>; 2] {
        let mut walk = LevelWalk::new(BEFORE);
        let (mut open, mut plain) = (Vec::new(), Vec::new());
        for night in 0..self.outcomes.len() {
            walk.add_night(night, None, &mut self);
            if night >= BEFORE {
                open.push(matches!(walk.state(), NightState::Open { .. }));
                let before: Vec<usize> = (night - BEFORE..night).collect();
                plain.push(self.judge_nights(&[night], &before).ruling == Ruling::Regression);
            }
        }
        [open, plain]
    }
}

impl NightJudge for Nights {
    fn judge_nights(&mut self, nights: &[usize], baseline: &[usize]) -> JudgedNights {
        let (change, found) = self.difference(nights, baseline);
        let floor = -self.suite.limit;
        // Of tests, only several runs are evidence.
        let is_enough = !self.suite.of_tests || nights.len() * self.suite.runs >= MIN_RUNS;
        let ruling = match found {
            _ if !is_enough => Ruling::Inconclusive,
            Some((interval, _)) => stats::rule_on_change(interval, floor),
            None => stats::rule_point(change, floor),
        };
        let is_within = Some(stats::rule_point(change, floor) == Ruling::Pass);
        JudgedNights {
            ruling,
            is_within,
            is_enough,
            is_far: found
                .is_some_and(|(interval, _)| stats::is_far_beyond(change, interval, floor)),
            is_whole: true,
        }
    }

    fn is_better(&mut self, nights: &[usize], regressed: &[usize]) -> bool {
        let (change, found) = self.difference(nights, regressed);
        change > 0.0 && found.is_none_or(|(_, p)| p < ALPHA)
    }
}

const SUITES: [Suite; 9] = [
    Suite {
        of_tests: false,
        items: 10,
        runs: 3,
        flaky: 0.3,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: false,
        items: 40,
        runs: 1,
        flaky: 0.3,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: false,
        items: 100,
        runs: 1,
        flaky: 0.2,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: false,
        items: 100,
        runs: 1,
        flaky: 0.4,
        nightly: 0.05,
        limit: 0.02,
    },
    Suite {
        of_tests: false,
        items: 100,
        runs: 1,
        flaky: 0.4,
        nightly: 0.0,
        limit: 0.0,
    },
    Suite {
        of_tests: true,
        items: 60,
        runs: 1,
        flaky: 0.05,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: true,
        items: 20,
        runs: 1,
        flaky: 0.2,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: true,
        items: 5,
        runs: 3,
        flaky: 0.2,
        nightly: 0.0,
        limit: 0.05,
    },
    Suite {
        of_tests: true,
        items: 10,
        runs: 3,
        flaky: 0.3,
        nightly: 0.0,
        limit: 0.05,
    },
];

impl Suite {
    fn words(self) -> [String; 5] {
        let kind = if self.of_tests { "tests" } else { "questions" };
        [
            format!("{} {kind}", self.items),
            self.runs.to_string(),
            format!("{:.0} %", 100.0 * self.flaky),
            format!("{:.0} pp", 100.0 * self.nightly),
            format!("{:.0} pp", 100.0 * self.limit),
        ]
    }

    fn worlds(self, fate: Fate) -> Vec<[Vec<bool>; 2]> {
        (0..WORLDS)
            .into_par_iter()
            .map(|number| Nights::new(self, fate, &mut nth(number)).red())
            .collect()
    }
}

/// Nights of one arm are not independent of each other, so the standard error counts arms: that of the mean over them of their shares.
fn mean_share(arms: &[Vec<bool>]) -> String {
    let shares: Vec<f64> = arms
        .iter()
        .map(|red| red.iter().filter(|red| **red).count() as f64 / red.len() as f64)
        .collect();
    match stats::summarise_sample(&shares) {
        Ok(found) => format!(
            "{:.1} ± {:.1}",
            100.0 * found.mean,
            100.0 * found.sd.unwrap_or(0.0) / (shares.len() as f64).sqrt()
        ),
        Err(_) => "none".to_owned(),
    }
}

fn share(answers: impl Iterator<Item = bool>) -> String {
    let answers: Vec<bool> = answers.collect();
    let yes = answers.iter().filter(|answer| **answer).count() as u64;
    if answers.is_empty() {
        "none".to_owned()
    } else {
        Share::of(yes, answers.len() as u64).with_error()
    }
}

/// Returns the nights from the first red one on, if any is red.
fn since_found(red: &[bool]) -> Option<Vec<bool>> {
    red.iter()
        .position(|red| *red)
        .map(|first| red[first..].to_vec())
}

const HEADS: [&str; 5] = [
    "suite",
    "runs a night",
    "of them flaky",
    "deviation of nights",
    "limit",
];

pub fn tables() -> [Table; 2] {
    let mut quiet = Table::new(
        "Nothing changed in ten nights after a baseline of seven: red nights, in % (± standard error of the simulation)",
        &[&HEADS[..], &["red", "if red nights became the baseline"]].concat(),
    );
    let mut open = Table::new(
        "Items broke after a baseline of seven nights: red nights of fourteen from the first red one on; and green nights after a repair on the \
         sixth night, of arms that were red before it, in % (± standard error of the simulation)",
        &[
            &HEADS[..],
            &[
                "broken",
                "red on the first night",
                "red while unrepaired",
                "if red nights became the baseline",
                "green on the night of the repair",
            ],
            &["one night later", "three nights later"],
        ]
        .concat(),
    );
    for suite in SUITES {
        let worlds = suite.worlds(Fate {
            broken: 0.0,
            nights: 10,
            repaired: None,
        });
        let of = |which: usize| {
            worlds
                .iter()
                .map(|red| red[which].clone())
                .collect::<Vec<_>>()
        };
        quiet.rows.push(
            suite
                .words()
                .into_iter()
                .chain([mean_share(&of(0)), mean_share(&of(1))])
                .collect(),
        );
        for broken in [0.2, 0.4] {
            let worlds = suite.worlds(Fate {
                broken,
                nights: 14,
                repaired: None,
            });
            let since = |which: usize| {
                worlds
                    .iter()
                    .filter_map(|red| since_found(&red[which]))
                    .collect::<Vec<_>>()
            };
            let repaired = suite.worlds(Fate {
                broken,
                nights: 9,
                repaired: Some(5),
            });
            let green = |later: usize| {
                share(
                    repaired
                        .iter()
                        .filter(|red| red[0][4])
                        .map(|red| !red[0][5 + later]),
                )
            };
            let found = [
                format!("{:.0} %", 100.0 * broken),
                share(worlds.iter().map(|red| red[0][0])),
                mean_share(&since(0)),
                mean_share(&since(1)),
                green(0),
                green(1),
                green(3),
            ];
            open.rows
                .push(suite.words().into_iter().chain(found).collect());
        }
    }
    [quiet, open]
}
