//! Whether intervals of abilities and of rates on all items hold, and how often equal arms that were asked different items are ordered.

use evalreport::stats::{ItemResponse, ResponseModel, Seed, Strength, item_fit, item_response};

use super::Table;
use super::world::{World, shares};

/// Which items an arm is asked.
#[derive(Clone, Copy)]
enum Asked {
    All,
    /// The first half of the arms skips the last third of the items, the others the first third. The last third is harder by this much.
    Thirds(f64),
    /// A random half of the items for each arm.
    Halves,
}

#[derive(Clone, Copy)]
enum Difficulties {
    Normal,
    /// Two kinds of items, 4 apart.
    TwoKinds,
    /// Many easy items and few hard ones.
    Skewed,
}

#[derive(Clone, Copy)]
struct Case {
    arms: usize,
    items: usize,
    /// Standard deviations of abilities, difficulties and log discriminations.
    abilities: f64,
    difficulties: f64,
    discriminations: f64,
    shape: Difficulties,
    asked: Asked,
    /// Standard deviation of what the first two arms share on an item beyond its difficulty.
    family: f64,
}

const CASES: [(&str, Case); 14] = {
    let case = Case {
        arms: 10,
        items: 200,
        abilities: 0.7,
        difficulties: 1.3,
        discriminations: 0.0,
        shape: Difficulties::Normal,
        asked: Asked::Thirds(1.5),
        family: 0.0,
    };
    let equal = Case {
        abilities: 0.0,
        ..case
    };
    [
        (
            "all items asked",
            Case {
                asked: Asked::All,
                ..case
            },
        ),
        ("different items", case),
        ("different items, equal arms", equal),
        ("3 arms", Case { arms: 3, ..equal }),
        ("5 arms", Case { arms: 5, ..equal }),
        (
            "5 arms, 60 items",
            Case {
                arms: 5,
                items: 60,
                ..equal
            },
        ),
        ("10 arms, 60 items", Case { items: 60, ..equal }),
        (
            "30 arms, 100 items",
            Case {
                arms: 30,
                items: 100,
                ..equal
            },
        ),
        (
            "random halves",
            Case {
                asked: Asked::Halves,
                ..equal
            },
        ),
        (
            "discriminations of 0.5",
            Case {
                discriminations: 0.5,
                ..equal
            },
        ),
        (
            "of 1, unequal arms",
            Case {
                discriminations: 1.0,
                ..case
            },
        ),
        (
            "items of two kinds",
            Case {
                shape: Difficulties::TwoKinds,
                discriminations: 0.5,
                ..equal
            },
        ),
        (
            "many easy items",
            Case {
                shape: Difficulties::Skewed,
                discriminations: 0.5,
                ..equal
            },
        ),
        (
            "two arms of one family",
            Case {
                family: 1.5,
                ..equal
            },
        ),
    ]
};

/// Rates are means over this many times more items than were asked.
const MORE: usize = 20;

struct Made {
    abilities: Vec<f64>,
    scores: Vec<Vec<Option<f64>>>,
    /// By arm: its mean chance on items like these.
    rates: Vec<f64>,
}

impl Case {
    /// Draws an item: its difficulty and discrimination.
    fn item(&self, world: &mut World, place: usize) -> (f64, f64) {
        let shift = if matches!(self.asked, Asked::Thirds(_)) && 3 * place >= 2 * self.items {
            self.harder()
        } else {
            0.0
        };
        let unit = match self.shape {
            Difficulties::Normal => world.normal(),
            Difficulties::TwoKinds => {
                0.5 * world.normal() + if world.happens(0.5) { 1.5 } else { -1.5 }
            }
            Difficulties::Skewed => -world.uniform().ln() - 1.5,
        };
        (
            shift + self.difficulties * unit,
            (self.discriminations * world.normal()).exp(),
        )
    }

    fn harder(&self) -> f64 {
        if let Asked::Thirds(shift) = self.asked {
            shift
        } else {
            0.0
        }
    }

    fn is_asked(&self, world: &mut World, arm: usize, item: usize) -> bool {
        match self.asked {
            Asked::All => true,
            Asked::Thirds(_) if 2 * arm < self.arms => 3 * item < 2 * self.items,
            Asked::Thirds(_) => 3 * item >= self.items,
            Asked::Halves => world.happens(0.5),
        }
    }

    fn made(&self, world: &mut World) -> Made {
        let mut abilities: Vec<f64> = (0..self.arms)
            .map(|_| self.abilities * world.normal())
            .collect();
        let mean = abilities.iter().sum::<f64>() / self.arms as f64;
        for ability in &mut abilities {
            *ability -= mean;
        }
        let chance = |ability: f64, (difficulty, slope): (f64, f64)| {
            1.0 / (1.0 + (-slope * (ability - difficulty)).exp())
        };
        let mut scores = vec![vec![None; self.items]; self.arms];
        for item in 0..self.items {
            let drawn = self.item(world, item);
            let shared = self.family * world.normal();
            for (arm, (ability, row)) in abilities.iter().zip(&mut scores).enumerate() {
                let own = if arm < 2 {
                    shared
                } else {
                    self.family * world.normal()
                };
                let passed = world.happens(chance(ability + own, drawn));
                if self.is_asked(world, arm, item) {
                    row[item] = Some(f64::from(u8::from(passed)));
                }
            }
        }
        let mut rates = vec![0.0; self.arms];
        for place in (0..self.items).flat_map(|place| std::iter::repeat_n(place, MORE)) {
            let drawn = self.item(world, place);
            rates
                .iter_mut()
                .zip(&abilities)
                .for_each(|(rate, ability)| {
                    *rate += chance(*ability, drawn) / (self.items * MORE) as f64;
                });
        }
        Made {
            abilities,
            scores,
            rates,
        }
    }
}

/// Returns whether the first arm's ability and rate lie in their intervals, and whether no pair is ordered wrongly.
fn holds(found: &ItemResponse, made: &Made, case: Case) -> [Option<bool>; 3] {
    let lies = |interval: evalreport::stats::Interval, truth: f64| {
        interval.low <= truth && truth <= interval.high
    };
    let ability = match found.abilities[0] {
        Strength::Finite(effect) => effect
            .interval
            .map(|interval| lies(interval, made.abilities[0])),
        _ => None,
    };
    let rate = found.rates[0]
        .and_then(|rate| rate.interval)
        .map(|interval| lies(interval, made.rates[0]));
    let is_right = |(better, worse): (usize, usize)| {
        !found.beats[better][worse] || made.abilities[better] > made.abilities[worse]
    };
    let mut pairs = (0..case.arms).flat_map(|one| (0..case.arms).map(move |other| (one, other)));
    // Family effects change the scale on which an ability is right, not who is better.
    let has_scale = case.family == 0.0;
    [
        ability.filter(|_| has_scale),
        rate.filter(|_| has_scale),
        Some(pairs.all(is_right)),
    ]
}

pub fn coverage() -> Table {
    let mut table = Table::new(
        "Abilities and rates on all items within their intervals, and boards without a wrongly ordered pair, where 95% should be",
        &[
            "arms and items",
            "ability",
            "rate on all items",
            "order",
            "no item marked",
            "no pair marked",
            "two parameters",
        ],
    );
    for (name, case) in CASES {
        let got = shares(200, |world| {
            let made = case.made(world);
            let Ok(found) = item_response(&made.scores, None, 0.95) else {
                return [None; 6];
            };
            let [ability, rate, order] = holds(&found, &made, case);
            let fit = item_fit(&made.scores, &found, Seed(1)).expect("a fit of these scores");
            let is_clean = !fit.reversed.contains(&true);
            let is_plain = !fit.pairs.iter().any(|pair| pair.is_off);
            [
                ability,
                rate,
                order,
                Some(is_clean),
                Some(is_plain),
                Some(found.model == ResponseModel::TwoParameter),
            ]
        });
        table.row(&[name.to_owned()], &got);
    }
    table
}
