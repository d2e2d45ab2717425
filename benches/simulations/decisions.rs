//! What to do about two arms: how often the rule ships the wrong one, and what its choices cost against simpler rules.
//!
//! A world has two arms, 50 to 500 questions and one to three runs a side. An arm is worth what its passes are worth less what it costs, each
//! per question and in the long run. The regret of a choice is what the better arm is worth more. Where a rule chooses nothing – it says to
//! measure, to keep what is in use, or that nothing is settled – the arm in use stays, which is either one with the same chance: its regret is
//! half the distance. Measuring more is never followed by measuring, which is the worst that can be said of that advice. Where the rule
//! leaves it to the price, the reader knows the price and takes the arm that looks worth more.

use std::collections::BTreeMap;

use evalreport::inference::{Decision, ItemTable, Policy, decide_pair};
use evalreport::stats::{self, ItemsByRuns};
use rayon::prelude::*;

use super::Table;
use super::rule::{self, ALPHA, CONFIDENCE};
use super::world::{self, Share, World};

const WORLDS: u64 = 10_000;
/// The number of the first world. The rule was chosen among about a dozen on worlds 0 to 9,999, which would flatter it; no rule was ever
/// chosen on these. Whoever changes the rule after a look at these figures reports it on others.
const FIRST: u64 = 5_000_000;
/// Dollars for a question of the second arm.
const COST: f64 = 0.10;
/// What a passed question is worth, in dollars. At the second of them the rule's margins are worth the same: two points of quality as much as
/// a tenth of the cost.
const PRICES: [f64; 3] = [0.20, 0.50, 1.00];
/// Differences of quality, and shares of cost, that do not matter.
const MARGIN: f64 = 0.02;
const COST_MARGIN: f64 = 0.1;

/// How a world is made, and what is true in it.
struct Truth {
    /// Passes per question in the long run.
    quality: [f64; 2],
    /// Dollars per question in the long run.
    cost: [f64; 2],
    /// Runs of an arm differ in their level by this much.
    deviation: f64,
    items: usize,
    runs: usize,
    /// Deviations of the logarithm of costs: of the question, of the arm on it, and of the attempt.
    spread: [f64; 3],
}

/// How costs of questions vary, and in the world of heavy tails.
const SPREAD: [f64; 3] = [0.6, 0.3, 0.5];
const HEAVY_SPREAD: [f64; 3] = [1.2, 0.6, 1.2];

/// Worlds in which the first arm costs 0.3 times as much as the second and is worse by a normal number of points, 3 ± 4, as cheaper models are.
#[derive(Clone, Copy)]
struct Cheap {
    name: &'static str,
    items: usize,
    runs: usize,
    deviation: f64,
    spread: [f64; 3],
    /// The cheap arm is this much worse, instead of by a random number of points.
    loss: Option<f64>,
}

const CHEAP: [Cheap; 7] = [
    Cheap {
        name: "cheaper is worse",
        items: 200,
        runs: 1,
        deviation: 0.0,
        spread: SPREAD,
        loss: None,
    },
    Cheap {
        name: "the same, runs vary by 2 pp",
        items: 200,
        runs: 1,
        deviation: 0.02,
        spread: SPREAD,
        loss: None,
    },
    Cheap {
        name: "the same, three runs",
        items: 200,
        runs: 3,
        deviation: 0.02,
        spread: SPREAD,
        loss: None,
    },
    Cheap {
        name: "heavy-tailed costs",
        items: 200,
        runs: 1,
        deviation: 0.0,
        spread: HEAVY_SPREAD,
        loss: None,
    },
    Cheap {
        name: "1,000 questions",
        items: 1000,
        runs: 1,
        deviation: 0.0,
        spread: SPREAD,
        loss: None,
    },
    Cheap {
        name: "always 3 pp worse",
        items: 200,
        runs: 1,
        deviation: 0.0,
        spread: SPREAD,
        loss: Some(0.03),
    },
    Cheap {
        name: "always 8 pp worse",
        items: 200,
        runs: 1,
        deviation: 0.0,
        spread: SPREAD,
        loss: Some(0.08),
    },
];

/// What was measured, by question and run.
struct Seen {
    passed: [Vec<Option<bool>>; 2],
    cost: [Vec<Option<f64>>; 2],
}

impl Truth {
    /// Half of the worlds have arms that are equally good or differ by up to two points, the others differ by any number of points, mostly
    /// up to 20. A quarter cost the same, a quarter about the same, and in half of them one arm costs up to several times the other.
    fn draw(world: &mut World) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 50 and 500"
        )]
        let items = (50.0 * 10f64.powf(world.uniform())) as usize;
        let runs = 1 + world.below(3);
        let base = 0.2 + 0.6 * world.uniform();
        let kind = world.uniform();
        let ahead = match kind {
            kind if kind < 0.25 => 0.0,
            kind if kind < 0.5 => 2.0 * MARGIN * (world.uniform() - 0.5),
            _ => 0.1 * world.normal(),
        };
        let kind = world.uniform();
        let log_ratio = match kind {
            kind if kind < 0.25 => 0.0,
            kind if kind < 0.5 => 0.1 * world.normal(),
            _ => 0.7 * world.normal(),
        };
        let quality = [(base + ahead).clamp(0.02, 0.98), base];
        let deviation = [0.0, 0.01, 0.02][world.below(3)];
        Self {
            quality,
            cost: [COST * f64::exp(log_ratio), COST],
            deviation,
            items,
            runs,
            spread: SPREAD,
        }
    }

    fn draw_cheap(kind: Cheap, world: &mut World) -> Self {
        let base = 0.4 + 0.4 * world.uniform();
        let loss = kind.loss.unwrap_or(0.03 + 0.04 * world.normal());
        Self {
            quality: [(base - loss).clamp(0.02, 0.98), base],
            cost: [0.3 * COST, COST],
            deviation: kind.deviation,
            items: kind.items,
            runs: kind.runs,
            spread: kind.spread,
        }
    }

    /// Questions are easy or hard for both arms and for each of them, dear or cheap likewise, and every attempt has noise of its own.
    fn measure(&self, world: &mut World) -> Seen {
        let mut seen = Seen {
            passed: [Vec::new(), Vec::new()],
            cost: [Vec::new(), Vec::new()],
        };
        let base = self.quality[1];
        let shifts = [0, 1].map(|arm| {
            (0..self.runs)
                .map(|_| self.quality[arm] - base + self.deviation * world.normal())
                .collect::<Vec<f64>>()
        });
        let spread = self.spread;
        let centre = spread
            .iter()
            .map(|deviation| deviation * deviation)
            .sum::<f64>()
            / 2.0;
        for _ in 0..self.items {
            let (hardness, size) = (world.chance(base, 0.4), spread[0] * world.normal());
            for (arm, shifts) in shifts.iter().enumerate() {
                let chance = if hardness > 0.0 && hardness < 1.0 {
                    world.chance(hardness, 0.3)
                } else {
                    hardness
                };
                let own = spread[1] * world.normal();
                for shift in shifts {
                    seen.passed[arm].push(Some(attempt(world, chance, base, *shift)));
                    let log = size + own + spread[2] * world.normal() - centre;
                    seen.cost[arm].push(Some(self.cost[arm] * log.exp()));
                }
            }
        }
        seen
    }

    /// What an arm is worth per question.
    fn worth(&self, arm: usize, price: f64) -> f64 {
        price * self.quality[arm] - self.cost[arm]
    }

    /// Shipping it would be wrong where a pass is worth so much: it is worth less by more than a margin of quality.
    fn is_worth_less(&self, arm: usize, price: f64) -> bool {
        self.worth(arm, price) < self.worth(1 - arm, price) - price * MARGIN
    }

    /// Shipping it would be wrong: it is worse by more than the margin, or it is no better and costs more by more than the margin.
    fn is_wrong(&self, arm: usize) -> bool {
        let other = 1 - arm;
        let is_worse = self.quality[arm] < self.quality[other] - MARGIN;
        is_worse
            || (self.quality[arm] <= self.quality[other]
                && self.cost[arm] > (1.0 + COST_MARGIN) * self.cost[other])
    }
}

/// One attempt at a question whose chances have the mean `base`, at a level that is `shift` above it: so many of the failures are turned.
fn attempt(world: &mut World, chance: f64, base: f64, shift: f64) -> bool {
    let passes = world.happens(chance);
    match passes {
        false if shift > 0.0 => world.happens(shift / (1.0 - base)),
        true if shift < 0.0 => !world.happens(-shift / base),
        passes => passes,
    }
}

/// The rules, by what they are called.
const RULES: [&str; 4] = [
    "the decision",
    "higher mean",
    "p < .05 on quality",
    "intervals that do not overlap",
];

/// What came of one world: by rule whether it shipped, and whether wrongly; by rule and price the regret.
struct Outcome {
    shipped: [Option<bool>; RULES.len()],
    regret: [[f64; PRICES.len()]; RULES.len()],
    action: &'static str,
}

fn outcome(number: u64) -> Outcome {
    let mut world = world::nth(number);
    let truth = Truth::draw(&mut world);
    let seen = truth.measure(&mut world);
    let table = |arm: usize| ItemTable {
        runs: truth.runs,
        passed: &seen.passed[arm],
        cost_usd: &seen.cost[arm],
        seconds: &[],
    };
    let decision = decide_pair(&table(0), &table(1), &Policy::default());
    let (rates, [higher, by_p, apart]) = simple_rules(&truth, &seen);
    let costs = [0, 1].map(|arm: usize| mean(seen.cost[arm].iter().flatten().copied()));
    let looks = |price: f64| usize::from(price * rates[0] - costs[0] < price * rates[1] - costs[1]);
    let (shipped, action) = match decision {
        Decision::Ship { arm, because, .. } => (Some(arm), because_name(because)),
        Decision::ChooseByPrice { .. } => (None, "choose by price"),
        Decision::KeepEither { .. } => (None, "keep what is in use"),
        Decision::Measure { .. } => (None, "measure more"),
        Decision::CannotSettle { .. } => (None, "cannot be settled"),
    };
    let choices = |price: f64| {
        let ours = if action == "choose by price" {
            Some(looks(price))
        } else {
            shipped
        };
        [ours, higher, by_p, apart]
    };
    let regret = |rule: usize, price: f64| {
        let worth = [truth.worth(0, price), truth.worth(1, price)];
        let best = worth[0].max(worth[1]);
        choices(price)[rule].map_or(best - f64::midpoint(worth[0], worth[1]), |arm| {
            best - worth[arm]
        })
    };
    Outcome {
        shipped: [shipped, higher, by_p, apart].map(|arm| arm.map(|arm| truth.is_wrong(arm))),
        regret: std::array::from_fn(|rule| PRICES.map(|price| regret(rule, price))),
        action,
    }
}

fn because_name(because: evalreport::inference::Because) -> &'static str {
    use evalreport::inference::Because;
    match because {
        Because::Better | Because::BetterAndCheaper => "ship: better",
        Because::SameAndCheaper => "ship: no worse and cheaper",
        Because::WorthMore => "ship: worth more",
        Because::SameAndFaster => "ship: no worse and faster",
    }
}

/// The p-value that the verdict on quality has, too.
fn p_of_quality(truth: &Truth, seen: &Seen) -> Option<f64> {
    if truth.runs == 1 {
        let flat = [0, 1].map(|arm: usize| {
            seen.passed[arm]
                .iter()
                .flatten()
                .copied()
                .collect::<Vec<bool>>()
        });
        return rule::paired_items(&flat[0], &flat[1]).p;
    }
    let values = [0, 1].map(|arm: usize| -> Vec<Option<f64>> {
        seen.passed[arm]
            .iter()
            .map(|passed| passed.map(|passed| f64::from(u8::from(passed))))
            .collect()
    });
    let tables = [0, 1].map(|arm: usize| ItemsByRuns {
        runs: truth.runs,
        values: &values[arm],
    });
    stats::two_way(tables[0], tables[1], None, CONFIDENCE)
        .ok()
        .map(|found| found.p)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / n
}

/// What the decision says of a cheap arm without an exchange rate, and with one: whether it ships, and whether wrongly; the regret.
struct CheapOutcome {
    plain: Option<bool>,
    is_by_price: bool,
    rated: Option<bool>,
    /// Of the rated decision, and of the three simple rules.
    regret: [f64; RULES.len()],
}

/// A pass is worth this much, in dollars, where an exchange rate is declared.
const RATED_PRICE: f64 = 0.50;

fn cheap_outcome(kind: Cheap, number: u64) -> CheapOutcome {
    let mut world = world::nth(number);
    let truth = Truth::draw_cheap(kind, &mut world);
    let seen = truth.measure(&mut world);
    let table = |arm: usize| ItemTable {
        runs: truth.runs,
        passed: &seen.passed[arm],
        cost_usd: &seen.cost[arm],
        seconds: &[],
    };
    let decided = |usd_per_unit| {
        let policy = Policy {
            usd_per_unit,
            ..Policy::default()
        };
        decide_pair(&table(0), &table(1), &policy)
    };
    let shipped = |decision: &Decision| match decision {
        Decision::Ship { arm, .. } => Some(*arm),
        _ => None,
    };
    let (plain, rated) = (decided(None), decided(Some(RATED_PRICE)));
    let (_, rules) = simple_rules(&truth, &seen);
    let worth = [truth.worth(0, RATED_PRICE), truth.worth(1, RATED_PRICE)];
    let best = worth[0].max(worth[1]);
    let regret = |choice: Option<usize>| {
        choice.map_or(best - f64::midpoint(worth[0], worth[1]), |arm| {
            best - worth[arm]
        })
    };
    let choices = [shipped(&rated), rules[0], rules[1], rules[2]];
    CheapOutcome {
        plain: shipped(&plain).map(|arm| truth.is_wrong(arm)),
        is_by_price: matches!(plain, Decision::ChooseByPrice { .. }),
        rated: shipped(&rated).map(|arm| truth.is_worth_less(arm, RATED_PRICE)),
        regret: choices.map(regret),
    }
}

/// Decisions about an arm that is cheaper and, mostly, worse.
pub fn cheap_arms() -> Table {
    let worlds = WORLDS / 5;
    let mut table = Table::new(
        "A cheap arm that mostly is worse, 2,000 worlds a row: decisions in percent, wrong ships of all worlds, and mean regret in cents per question where a pass is worth $0.50",
        &[
            "world",
            "ships",
            "wrong",
            "choose by price",
            "with the rate declared: ships",
            "wrong",
            "regret",
            "higher mean",
            "p < .05 on quality",
            "intervals that do not overlap",
        ],
    );
    for kind in CHEAP {
        let outcomes: Vec<CheapOutcome> = (FIRST..FIRST + worlds)
            .into_par_iter()
            .map(|number| cheap_outcome(kind, number))
            .collect();
        let count = |is_it: &dyn Fn(&CheapOutcome) -> bool| {
            Share::of(
                outcomes.iter().filter(|outcome| is_it(outcome)).count() as u64,
                worlds,
            )
            .with_error()
        };
        let mut case = vec![
            kind.name.to_owned(),
            count(&|outcome| outcome.plain.is_some()),
            count(&|outcome| outcome.plain == Some(true)),
            count(&|outcome| outcome.is_by_price),
            count(&|outcome| outcome.rated.is_some()),
            count(&|outcome| outcome.rated == Some(true)),
        ];
        case.extend(
            (0..RULES.len()).map(|rule| cents(outcomes.iter().map(|outcome| outcome.regret[rule]))),
        );
        table.row(&case, &[]);
    }
    table
}

/// Returns the measured rates, and the choices of the simple rules, in the order of [`RULES`].
fn simple_rules(truth: &Truth, seen: &Seen) -> ([f64; 2], [Option<usize>; 3]) {
    let rates = [0, 1].map(|arm: usize| {
        mean(
            seen.passed[arm]
                .iter()
                .flatten()
                .map(|passed| f64::from(u8::from(*passed))),
        )
    });
    let higher = (rates[0].total_cmp(&rates[1]))
        .is_ne()
        .then(|| usize::from(rates[0] < rates[1]));
    let by_p = higher.filter(|_| p_of_quality(truth, seen).is_some_and(|p| p < ALPHA));
    let interval = |arm: usize| {
        let passed = seen.passed[arm]
            .iter()
            .flatten()
            .filter(|passed| **passed)
            .count() as u64;
        stats::wilson_score_interval(passed, seen.passed[arm].len() as u64, CONFIDENCE)
            .expect("questions")
    };
    let apart = higher.filter(|_| rule::disjoint(interval(0), interval(1)));
    (rates, [higher, by_p, apart])
}

/// Wrong ships and regret by rule, and what the decision says how often.
pub fn tables() -> [Table; 3] {
    let outcomes: Vec<Outcome> = (FIRST..FIRST + WORLDS)
        .into_par_iter()
        .map(outcome)
        .collect();
    let mut rules = Table::new(
        "Two arms on quality and cost, 10,000 worlds: wrong ships in percent, and mean regret in cents per question where a pass is worth so much",
        &[
            "rule",
            "ships",
            "wrong ships of all worlds",
            "wrong of those shipped",
            "$0.20 a pass",
            "$0.50 a pass",
            "$1 a pass",
        ],
    );
    for (rule, name) in RULES.iter().enumerate() {
        let shipped: Vec<bool> = outcomes
            .iter()
            .filter_map(|outcome| outcome.shipped[rule])
            .collect();
        let wrong = shipped.iter().filter(|wrong| **wrong).count() as u64;
        let shares = [
            (shipped.len() as u64, WORLDS),
            (wrong, WORLDS),
            (wrong, shipped.len() as u64),
        ];
        let mut case = vec![(*name).to_owned()];
        case.extend(shares.map(|(yes, all)| Share::of(yes, all).with_error()));
        case.extend(
            (0..PRICES.len())
                .map(|price| cents(outcomes.iter().map(|outcome| outcome.regret[rule][price]))),
        );
        rules.row(&case, &[]);
    }
    let mut actions = Table::new(
        "The same worlds: what the decision says, in percent",
        &["decision", "worlds"],
    );
    let mut counts = BTreeMap::<&str, u64>::new();
    for outcome in &outcomes {
        *counts.entry(outcome.action).or_default() += 1;
    }
    for (action, count) in counts {
        actions.row(
            &[action.to_owned(), Share::of(count, WORLDS).with_error()],
            &[],
        );
    }
    [rules, actions, cheap_arms()]
}

/// A mean in cents with the standard error of the simulation.
fn cents(values: impl Iterator<Item = f64>) -> String {
    let found =
        stats::summarise_sample(&values.map(|dollars| 100.0 * dollars).collect::<Vec<f64>>())
            .expect("worlds");
    format!(
        "{:.2} ± {:.2}",
        found.mean,
        found.sd.unwrap_or(0.0) / (found.n as f64).sqrt()
    )
}
