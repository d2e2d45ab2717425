//! A gate's rulings on simulated days like the seen ones.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::{Ruling, Seed, Undefined};

/// The design of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatePlan {
    /// Runs of all items in the baseline, then in the new runs; at least one each.
    pub baseline_runs: usize,
    pub head_runs: usize,
    /// Standard deviation, as a share, of whole runs beyond the variation of their items; 0 if unknown.
    pub run_deviation: f64,
    /// Simulated worlds for each drop. One standard error of a share of 2,000 worlds is at most 1.1 percentage points.
    pub worlds: u32,
    pub seed: Seed,
}

/// Simulated outcomes: for each run, whether each item passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateWorld {
    pub baseline: Vec<Vec<bool>>,
    pub head: Vec<Vec<bool>>,
}

/// The shares of the worlds with each ruling.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct GateOdds {
    /// The true drop of the pass rate, as a share. At 0 a regression is a false alarm.
    pub drop: f64,
    pub pass: f64,
    pub inconclusive: f64,
    pub regression: f64,
}

/// Simulates worlds from the items' outcomes for each of the `drops` in the pass rate, and counts the rulings of `decide`.
///
/// `items` are passes and attempts of each item. For every world, an item's probability to pass is drawn from its posterior (beta-binomial,
/// with a prior fitted to all items by moments). Items with one attempt each do not show which are flaky, so four fifths of the variance
/// are assumed to lie between items, as if three in ten items were flaky. A drop breaks items for good: each fails in all new runs with
/// probability drop / rate. A run that deviates by some share has this share of its outcomes changed.
///
/// Undefined without attempts, and if a drop is not below the pass rate. All drops use the same worlds.
pub fn gate_odds(
    items: &[(u64, u64)],
    drops: &[f64],
    plan: GatePlan,
    decide: impl Fn(&GateWorld) -> Ruling + Sync,
) -> Result<Vec<GateOdds>, Undefined> {
    let is_plan = plan.baseline_runs > 0
        && plan.head_runs > 0
        && plan.worlds > 0
        && (0.0..0.5).contains(&plan.run_deviation);
    if !is_plan || items.iter().any(|(passed, counted)| passed > counted) {
        return Err(Undefined::OutOfRange);
    }
    let prior = ItemPrior::from_attempts(items)?;
    let makers: Vec<Option<WorldSimulator<'_>>> = drops
        .iter()
        .map(|drop| WorldSimulator::new(items, prior, plan, *drop))
        .collect();
    let odds = |(maker, drop): (Option<WorldSimulator<'_>>, &f64)| {
        let maker = maker.ok_or(Undefined::OutOfRange)?;
        let count = |number: u32| match decide(&maker.simulate_world(u64::from(number))) {
            Ruling::Pass => [1_u64, 0, 0],
            Ruling::Inconclusive => [0, 1, 0],
            Ruling::Regression => [0, 0, 1],
        };
        let add = |one: [u64; 3], other: [u64; 3]| std::array::from_fn(|at| one[at] + other[at]);
        let counts = (0..plan.worlds)
            .into_par_iter()
            .map(count)
            .reduce(|| [0; 3], add);
        let [pass, inconclusive, regression] =
            counts.map(|count| count as f64 / f64::from(plan.worlds));
        Ok(GateOdds {
            drop: *drop,
            pass,
            inconclusive,
            regression,
        })
    };
    makers.into_iter().zip(drops).map(odds).collect()
}

/// The distribution of items' probabilities: Beta(rate · size, (1 − rate) · size).
#[derive(Clone, Copy, Debug, PartialEq)]
struct ItemPrior {
    rate: f64,
    size: f64,
}

/// Assumed share of the variance between items, if no item was attempted twice.
const UNKNOWN_BETWEEN: f64 = 0.8;
/// Limits of the share of the variance between items, whatever the sample says.
const BETWEEN_SHARE_LIMITS: [f64; 2] = [0.02, 0.995];

impl ItemPrior {
    fn from_attempts(items: &[(u64, u64)]) -> Result<Self, Undefined> {
        let tried: Vec<(f64, f64)> = items
            .iter()
            .filter(|item| item.1 > 0)
            .map(|(passed, counted)| (*passed as f64, *counted as f64))
            .collect();
        if tried.is_empty() {
            return Err(Undefined::NoData);
        }
        let n = tried.len() as f64;
        // Half an item more of each kind, so that no probability is 1 even if all passed.
        let rate = (tried
            .iter()
            .map(|(passed, counted)| passed / counted)
            .sum::<f64>()
            + 0.5)
            / (n + 1.0);
        let repeated: Vec<f64> = tried
            .iter()
            .filter(|(_, counted)| *counted > 1.0)
            .map(|(passed, counted)| passed * (counted - passed) / (counted * (counted - 1.0)))
            .collect();
        let between = if repeated.is_empty() {
            UNKNOWN_BETWEEN
        } else {
            1.0 - repeated.iter().sum::<f64>() / repeated.len() as f64 / (rate * (1.0 - rate))
        };
        Ok(Self {
            rate,
            size: 1.0 / between.clamp(BETWEEN_SHARE_LIMITS[0], BETWEEN_SHARE_LIMITS[1]) - 1.0,
        })
    }
}

/// Creates worlds in which the new pass rate is lower by a drop.
struct WorldSimulator<'a> {
    items: &'a [(u64, u64)],
    prior: ItemPrior,
    plan: GatePlan,
    /// The probability that an item breaks.
    breaks: f64,
}

impl<'a> WorldSimulator<'a> {
    fn new(items: &'a [(u64, u64)], prior: ItemPrior, plan: GatePlan, drop: f64) -> Option<Self> {
        let breaks = drop / prior.rate;
        (0.0..1.0).contains(&breaks).then_some(Self {
            items,
            prior,
            plan,
            breaks,
        })
    }

    fn simulate_world(&self, number: u64) -> GateWorld {
        let mut random = self.plan.seed.replicate_stream(number);
        let ItemPrior { rate, size } = self.prior;
        let mut chance = |(passed, counted): &(u64, u64)| {
            let (passed, failed) = (*passed as f64, (counted - passed) as f64);
            random_beta(
                &mut random,
                passed + rate * size,
                failed + (1.0 - rate) * size,
            )
        };
        let before: Vec<f64> = self.items.iter().map(&mut chance).collect();
        let baseline = self.simulate_runs(&mut random, &before, self.plan.baseline_runs);
        let after: Vec<f64> = before
            .iter()
            .map(|chance| {
                if random_uniform(&mut random) < self.breaks {
                    0.0
                } else {
                    *chance
                }
            })
            .collect();
        let head = self.simulate_runs(&mut random, &after, self.plan.head_runs);
        GateWorld { baseline, head }
    }

    fn simulate_runs(
        &self,
        random: &mut ChaCha8Rng,
        chances: &[f64],
        runs: usize,
    ) -> Vec<Vec<bool>> {
        (0..runs)
            .map(|_| {
                let off = self.plan.run_deviation * random_normal(random);
                let (lost, gained) = (
                    (-off / self.prior.rate).max(0.0),
                    (off / (1.0 - self.prior.rate)).max(0.0),
                );
                let mut outcome = |chance: &f64| {
                    let (passes, turns) =
                        (random_uniform(random) < *chance, random_uniform(random));
                    if passes {
                        turns >= lost
                    } else {
                        turns < gained
                    }
                };
                chances.iter().map(&mut outcome).collect()
            })
            .collect()
    }
}

/// Returns a uniform value between 0 and 1, both excluded.
fn random_uniform(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Returns a standard normal value (Box and Muller 1958).
fn random_normal(random: &mut ChaCha8Rng) -> f64 {
    (-2.0 * random_uniform(random).ln()).sqrt()
        * (std::f64::consts::TAU * random_uniform(random)).cos()
}

fn random_beta(random: &mut ChaCha8Rng, a: f64, b: f64) -> f64 {
    let (one, other) = (random_gamma(random, a), random_gamma(random, b));
    // Tiny shapes can give two zeros; the probability is then 0 or 1.
    if one + other > 0.0 {
        one / (one + other)
    } else {
        f64::from(u8::from(random_uniform(random) < a / (a + b)))
    }
}

/// Returns a gamma-distributed value (Marsaglia and Tsang 2000).
fn random_gamma(random: &mut ChaCha8Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let power = random_uniform(random).powf(1.0 / shape);
        return random_gamma(random, shape + 1.0) * power;
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = random_normal(random);
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && random_uniform(random).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule_point;

    const PLAN: GatePlan = GatePlan {
        baseline_runs: 3,
        head_runs: 3,
        run_deviation: 0.0,
        worlds: 400,
        seed: Seed(1),
    };

    fn rate(runs: &[Vec<bool>]) -> f64 {
        let all: Vec<bool> = runs.concat();
        all.iter().filter(|passed| **passed).count() as f64 / all.len() as f64
    }

    /// Rules on a drop of more than a percentage point.
    fn any_fall(world: &GateWorld) -> Ruling {
        rule_point(rate(&world.head) - rate(&world.baseline), -0.01)
    }

    #[test]
    fn steady_items_make_no_alarm_and_drops_are_seen() {
        let steady: Vec<(u64, u64)> = (0..200)
            .map(|item| if item < 160 { (5, 5) } else { (0, 5) })
            .collect();
        let odds = gate_odds(&steady, &[0.0, 0.05, 0.1], PLAN, any_fall).expect("a plan");
        assert!(
            odds[0].regression < 0.05 && odds[1].regression > 0.9 && odds[2].regression > 0.99,
            "{odds:?}"
        );
        assert!(
            odds.iter()
                .all(|odds| (odds.pass + odds.inconclusive + odds.regression - 1.0).abs() < 1e-9)
        );
        let flaky: Vec<(u64, u64)> = vec![(3, 5); 200];
        let odds = gate_odds(&flaky, &[0.0], PLAN, any_fall).expect("a plan");
        assert!(
            (0.2..0.5).contains(&odds[0].regression),
            "a gate that fails on every drop: {odds:?}"
        );
    }

    #[test]
    fn runs_that_are_off_make_more_alarms() {
        let steady: Vec<(u64, u64)> = (0..200)
            .map(|item| if item < 160 { (5, 5) } else { (0, 5) })
            .collect();
        let off = gate_odds(
            &steady,
            &[0.0],
            GatePlan {
                run_deviation: 0.03,
                ..PLAN
            },
            any_fall,
        )
        .expect("a plan");
        assert!(off[0].regression > 0.15, "{off:?}");
    }

    /// The simulated rates are the requested ones and vary like the seen ones.
    #[test]
    fn worlds_resemble_what_was_seen() {
        let items: Vec<(u64, u64)> = (0..300)
            .map(|item| ([8, 8, 8, 4, 0][item % 5], 8))
            .collect();
        let prior = ItemPrior::from_attempts(&items).expect("items");
        let maker = WorldSimulator::new(&items, prior, PLAN, 0.1).expect("a drop");
        let worlds: Vec<GateWorld> = (0..200)
            .map(|number| maker.simulate_world(number))
            .collect();
        let mean = |of: fn(&GateWorld) -> f64| worlds.iter().map(of).sum::<f64>() / 200.0;
        let (before, after) = (
            mean(|world| rate(&world.baseline)),
            mean(|world| rate(&world.head)),
        );
        assert!(
            (before - 0.7).abs() < 0.01 && (after - 0.6).abs() < 0.01,
            "{before} {after}"
        );
        // Some 60 of 300 items have probability one half: 16% of the outcomes of two runs differ, or 10%.
        let differ = |world: &GateWorld| {
            world.baseline[0]
                .iter()
                .zip(&world.baseline[1])
                .filter(|(one, other)| one != other)
                .count() as f64
                / 300.0
        };
        let differing = worlds.iter().map(differ).sum::<f64>() / 200.0;
        assert!((0.09..0.16).contains(&differing), "{differing}");
    }

    #[test]
    fn plans_that_make_no_sense() {
        let of = |items: &[(u64, u64)], drop, plan| gate_odds(items, &[drop], plan, any_fall);
        assert_eq!(of(&[], 0.0, PLAN), Err(Undefined::NoData));
        assert_eq!(of(&[(0, 0)], 0.0, PLAN), Err(Undefined::NoData));
        assert_eq!(of(&[(2, 1)], 0.0, PLAN), Err(Undefined::OutOfRange));
        assert_eq!(of(&[(1, 2); 9], 0.9, PLAN), Err(Undefined::OutOfRange));
        assert_eq!(
            of(
                &[(1, 2); 9],
                0.0,
                GatePlan {
                    head_runs: 0,
                    ..PLAN
                }
            ),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(of(&[(1, 1); 9], 0.0, PLAN), of(&[(1, 1); 9], 0.0, PLAN));
    }
}
