//! Verdicts foreseen from chosen items: how often they are those of all items, what they cost, and how many are false.

use std::collections::BTreeMap;
use std::path::Path;

use evalreport::stats::{
    AdaptiveInquiry, AdaptiveStopping, Foreseen, Resampling, Units, clustered_mean,
    difficulty_group, holm_adjustment, mcnemar_test, sign_flip,
};
use rayon::prelude::*;

use super::Table;
use super::rule::ALPHA;
use super::world::{Share, World, nth};

const WORLDS: u32 = 4_000;
/// The same for clusters, whose flips take longer, and for several arms.
const FEWER_WORLDS: u32 = 400;
/// Earlier arms whose outcomes group the questions.
const EARLIER: u64 = 5;
/// Sign flips of the full run's test, fewer than in a comparison.
const FLIPS: Resampling = Resampling {
    seed: 1,
    draws: 4_999,
};

/// A unit with its items: by item, the value of each arm.
#[derive(Clone)]
struct Asked {
    group: usize,
    items: Vec<Vec<f64>>,
}

/// What a full run would say, and what was foreseen.
struct Found {
    /// By pair of arms.
    foreseen: Vec<Foreseen>,
    whole: Vec<Foreseen>,
    /// Share of the full run's item-runs.
    share: f64,
}

impl Found {
    fn same(&self) -> u64 {
        self.foreseen
            .iter()
            .zip(&self.whole)
            .filter(|(one, other)| one == other)
            .count() as u64
    }
}

/// Asks in blocks, as `run --until decided` does, or looks after every item.
fn ask(
    rule: &AdaptiveStopping,
    of: Units,
    units: &[Asked],
    arms: usize,
    looks_after_each: bool,
    world: &mut World,
) -> Found {
    let mut units = units.to_vec();
    shuffle(&mut units, world);
    for unit in &mut units {
        shuffle(&mut unit.items, world);
    }
    let sizes: Vec<(usize, u64)> = units
        .iter()
        .map(|unit| (unit.group, unit.items.len() as u64))
        .collect();
    let mut inquiry = AdaptiveInquiry::new(rule, &sizes, arms);
    let whole = whole(of, &units, arms);
    let mut asked = 0;
    let mut places = vec![0; units.len()];
    let mut size = None;
    while let Some(block) = inquiry.next_block(size) {
        size = looks_after_each.then_some(1);
        for unit in block.units {
            let values = &units[unit].items[places[unit]];
            places[unit] += 1;
            asked += block.arms.len();
            let value = |arm: usize| block.arms.contains(&arm).then(|| values[arm]);
            inquiry.count_item(unit, &(0..arms).map(value).collect::<Vec<_>>());
        }
    }
    let all: u64 = sizes.iter().map(|(_, size)| size * arms as u64).sum();
    let foreseen = inquiry
        .foreseen_verdicts()
        .into_iter()
        .map(|verdict| verdict.expect("every pair is foreseen"))
        .collect();
    Found {
        foreseen,
        whole,
        share: asked as f64 / all as f64,
    }
}

fn shuffle<T>(values: &mut [T], world: &mut World) {
    for place in (1..values.len()).rev() {
        values.swap(place, world.below(place + 1));
    }
}

/// The verdicts of all items, adjusted by Holm over the pairs.
fn whole(of: Units, units: &[Asked], arms: usize) -> Vec<Foreseen> {
    let tests: Vec<(f64, f64, bool)> = AdaptiveInquiry::arm_pairs(arms)
        .map(|(first, second)| test(of, units, first, second))
        .collect();
    let p: Vec<f64> = tests.iter().map(|(_, p, _)| *p).collect();
    let adjusted = holm_adjustment(&p).expect("probabilities");
    let verdict = |((lead, _, is_clear), p): (&(f64, f64, bool), &f64)| match (
        *p <= ALPHA && *is_clear,
        *lead > 0.0,
    ) {
        (false, _) => Foreseen::NoWinner,
        (true, true) => Foreseen::FirstWins,
        (true, false) => Foreseen::SecondWins,
    };
    tests.iter().zip(&adjusted).map(verdict).collect()
}

/// The lead over all items, its p, and whether an interval excludes zero.
fn test(of: Units, units: &[Asked], first: usize, second: usize) -> (f64, f64, bool) {
    let differences = || {
        units.iter().map(|unit| {
            unit.items
                .iter()
                .map(|values| values[first] - values[second])
        })
    };
    let sums: Vec<f64> = differences().map(Iterator::sum).collect();
    let lead = sums.iter().sum();
    match of {
        Units::Items => {
            let count = |sign: f64| sums.iter().filter(|sum| **sum * sign > 0.5).count() as u64;
            (lead, mcnemar_test(count(1.0), count(-1.0)).exact, true)
        }
        Units::Clusters | Units::Tasks => {
            let moving: Vec<f64> = sums
                .iter()
                .copied()
                .filter(|sum| sum.abs() > 1e-9)
                .collect();
            let p = sign_flip(&moving, FLIPS).map_or(1.0, |test| test.p);
            let values: Vec<f64> = differences().flatten().collect();
            let codes: Vec<u32> = (0..)
                .zip(units)
                .flat_map(|(code, unit)| vec![code; unit.items.len()])
                .collect();
            let interval = clustered_mean(&values, &codes, 1.0 - ALPHA).map(|found| found.interval);
            (
                lead,
                p,
                of == Units::Tasks || interval.is_ok_and(|ends| ends.low > 0.0 || ends.high < 0.0),
            )
        }
    }
}

/// How two arms of equal or different ability differ by question.
#[derive(Clone, Copy)]
enum Kind {
    /// The first arm is better by this much on the logit scale.
    Shift(f64),
    /// The first arm is better on cleared questions and worse on hard ones.
    ByDifficulty,
    /// Each arm is better on half of the questions, which nothing tells apart.
    ByTopic,
}

fn passes(ease: f64, world: &mut World) -> bool {
    world.happens(1.0 / (1.0 + (-ease).exp()))
}

fn number(passed: bool) -> f64 {
    f64::from(u8::from(passed))
}

fn questions(count: u64, kind: Kind, world: &mut World) -> Vec<Asked> {
    (0..count)
        .map(|_| {
            let ease = 1.5 * world.normal();
            let cleared = (0..EARLIER).filter(|_| passes(ease, world)).count() as u64;
            let better = match kind {
                Kind::Shift(by) => by,
                Kind::ByDifficulty => ease.signum(),
                Kind::ByTopic => {
                    if world.happens(0.5) {
                        1.5
                    } else {
                        -1.5
                    }
                }
            };
            let values = vec![
                number(passes(ease + better / 2.0, world)),
                number(passes(ease - better / 2.0, world)),
            ];
            Asked {
                group: difficulty_group(cleared, EARLIER),
                items: vec![values],
            }
        })
        .collect()
}

pub fn made() -> Table {
    let mut table = Table::new(
        "Verdicts foreseen from chosen questions",
        &[
            "pair",
            "questions",
            "look",
            "winner named",
            "of all questions",
            "same verdict",
            "asked",
        ],
    );
    let kinds = [
        ("equal", Kind::Shift(0.0)),
        ("equal; differ by difficulty", Kind::ByDifficulty),
        ("equal; differ by topic", Kind::ByTopic),
        ("better by 0.3", Kind::Shift(0.3)),
        ("better by 0.6", Kind::Shift(0.6)),
        ("better by 1.2", Kind::Shift(1.2)),
    ];
    for (label, kind) in kinds {
        for count in [60, 200, 600, 1_500] {
            for (look, looks_after_each) in [("block", false), ("each", true)] {
                let rule = AdaptiveStopping::new(Units::Items, count, 2, ALPHA);
                let pair = |world: &mut World| {
                    let questions = questions(count, kind, world);
                    ask(&rule, Units::Items, &questions, 2, looks_after_each, world)
                };
                table.rows.push(
                    [
                        vec![label.to_owned(), count.to_string(), look.to_owned()],
                        summed(&worlds(WORLDS, &pair)),
                    ]
                    .concat(),
                );
            }
        }
    }
    table
}

fn worlds(count: u32, of: &(dyn Fn(&mut World) -> Found + Sync)) -> Vec<Found> {
    (0..count)
        .into_par_iter()
        .map(|number| of(&mut nth(u64::from(number))))
        .collect()
}

/// Winner named, and by all items; same verdict, by pair; asked.
fn summed(found: &[Found]) -> Vec<String> {
    let has_winner = |of: fn(&Found) -> &Vec<Foreseen>| {
        count_of(found, &|found| {
            of(found)
                .iter()
                .any(|verdict| *verdict != Foreseen::NoWinner)
        })
    };
    let pairs = found.iter().map(|found| found.whole.len() as u64).sum();
    vec![
        has_winner(|found| &found.foreseen).with_error(),
        has_winner(|found| &found.whole).with_error(),
        Share::of(found.iter().map(Found::same).sum(), pairs).with_error(),
        format!("{:.0}", 100.0 * mean_share(found.iter())),
    ]
}

/// Clusters of questions that share a difficulty and how much better the first arm is.
pub fn clusters() -> Table {
    let mut table = Table::new(
        "Verdicts foreseen from questions in clusters",
        &[
            "pair",
            "clusters",
            "look",
            "winner named",
            "of all questions",
            "same verdict",
            "asked",
        ],
    );
    for (label, better, spread) in [
        ("equal", 0.0, 0.0),
        ("equal; clusters differ", 0.0, 1.0),
        ("better by 0.6; clusters differ", 0.6, 1.0),
        ("better by 1.2; clusters differ", 1.2, 1.0),
    ] {
        for (shape, sizes) in [
            ("10 of 60", vec![60; 10]),
            ("15 of 4 or 40", [vec![4; 8], vec![40; 7]].concat()),
            ("30 of 20", vec![20; 30]),
            ("100 of 5", vec![5; 100]),
            (
                "100 of 2 to 40",
                (0..100).map(|place| [2, 5, 10, 40][place % 4]).collect(),
            ),
        ] {
            let is_long = sizes.len() > 30;
            let rule = AdaptiveStopping::new(
                Units::Clusters,
                sizes.iter().sum::<usize>() as u64,
                2,
                ALPHA,
            );
            for (look, looks_after_each) in [("block", false), ("each", true)] {
                if looks_after_each && is_long {
                    continue;
                }
                let pair = |world: &mut World| {
                    let units = sizes
                        .iter()
                        .map(|size: &usize| {
                            let (common, favour) =
                                (1.0 * world.normal(), better + spread * world.normal());
                            let eases: Vec<f64> =
                                (0..*size).map(|_| common + 1.1 * world.normal()).collect();
                            let cleared = eases
                                .iter()
                                .map(|ease| {
                                    (0..EARLIER).filter(|_| passes(*ease, world)).count() as u64
                                })
                                .sum();
                            let item = |ease: &f64| {
                                vec![
                                    number(passes(ease + favour / 2.0, world)),
                                    number(passes(ease - favour / 2.0, world)),
                                ]
                            };
                            let items = eases.iter().map(item).collect();
                            Asked {
                                group: difficulty_group(cleared, EARLIER * *size as u64),
                                items,
                            }
                        })
                        .collect::<Vec<_>>();
                    ask(&rule, Units::Clusters, &units, 2, looks_after_each, world)
                };
                table.rows.push(
                    [
                        vec![label.to_owned(), shape.to_owned(), look.to_owned()],
                        summed(&worlds(FEWER_WORLDS, &pair)),
                    ]
                    .concat(),
                );
            }
        }
    }
    table
}

/// Boards of several arms, all pairs adjusted by Holm.
pub fn several() -> Table {
    let mut table = Table::new(
        "Boards foreseen from chosen questions",
        &[
            "arms",
            "questions",
            "look",
            "a wrong pair",
            "of all questions",
            "same verdict",
            "asked",
        ],
    );
    let boards: [(&str, &[f64]); 5] = [
        ("4 equal", &[0.0; 4]),
        ("8 equal", &[0.0; 8]),
        ("4, the last worse by 1.2", &[0.0, 0.0, 0.0, -1.2]),
        ("4, each better by 0.6", &[1.8, 1.2, 0.6, 0.0]),
        (
            "8 in four equal pairs, each better by 0.8",
            &[2.4, 2.4, 1.6, 1.6, 0.8, 0.8, 0.0, 0.0],
        ),
    ];
    for (label, abilities) in boards {
        for count in [200, 600, 1_500] {
            let rule = AdaptiveStopping::new(Units::Items, count, abilities.len(), ALPHA);
            for (look, looks_after_each) in [("block", false), ("each", true)] {
                if looks_after_each && count > 200 {
                    continue;
                }
                let middle = abilities.iter().sum::<f64>() / abilities.len() as f64;
                let board = |world: &mut World| {
                    let questions = (0..count)
                        .map(|_| {
                            let ease = 1.5 * world.normal();
                            let cleared =
                                (0..EARLIER).filter(|_| passes(ease, world)).count() as u64;
                            let values = abilities
                                .iter()
                                .map(|ability| number(passes(ease + ability - middle, world)))
                                .collect();
                            Asked {
                                group: difficulty_group(cleared, EARLIER),
                                items: vec![values],
                            }
                        })
                        .collect::<Vec<_>>();
                    ask(
                        &rule,
                        Units::Items,
                        &questions,
                        abilities.len(),
                        looks_after_each,
                        world,
                    )
                };
                let found = worlds(FEWER_WORLDS, &board);
                let is_wrong = |verdicts: &Vec<Foreseen>| {
                    AdaptiveInquiry::arm_pairs(abilities.len())
                        .zip(verdicts)
                        .any(|((first, second), verdict)| match verdict {
                            Foreseen::NoWinner => false,
                            Foreseen::FirstWins => abilities[first] <= abilities[second],
                            Foreseen::SecondWins => abilities[second] <= abilities[first],
                        })
                };
                let mut row = summed(&found);
                row[0] = count_of(&found, &|found| is_wrong(&found.foreseen)).with_error();
                row[1] = count_of(&found, &|found| is_wrong(&found.whole)).with_error();
                table.rows.push(
                    [
                        vec![label.to_owned(), count.to_string(), look.to_owned()],
                        row,
                    ]
                    .concat(),
                );
            }
        }
    }
    table
}

/// Two arms on several tasks, each with several runs that have pass rates.
pub fn tasks() -> Table {
    let mut table = Table::new(
        "Verdicts foreseen from chosen runs of tasks",
        &[
            "pair",
            "tasks",
            "runs",
            "look",
            "winner named",
            "of all runs",
            "same verdict",
            "asked",
        ],
    );
    for (label, better, spread) in [
        ("equal", 0.0, 0.0),
        ("equal; tasks differ", 0.0, 0.15),
        ("better by 10 pp", 0.1, 0.1),
        ("better by 20 pp", 0.2, 0.1),
    ] {
        for tasks in [8, 12, 24, 48] {
            for runs in [5, 10] {
                let rule = AdaptiveStopping::new(Units::Tasks, tasks * runs, 2, ALPHA);
                for (look, looks_after_each) in [("block", false), ("each", true)] {
                    let pair = |world: &mut World| {
                        let units = (0..tasks)
                            .map(|_| {
                                let (rate, favour) = (
                                    0.2 + 0.6 * world.uniform(),
                                    better + spread * world.normal(),
                                );
                                let mut run =
                                    |mean: f64| (mean + 0.1 * world.normal()).clamp(0.0, 1.0);
                                Asked {
                                    group: 0,
                                    items: (0..runs)
                                        .map(|_| {
                                            vec![run(rate + favour / 2.0), run(rate - favour / 2.0)]
                                        })
                                        .collect(),
                                }
                            })
                            .collect::<Vec<_>>();
                        ask(&rule, Units::Tasks, &units, 2, looks_after_each, world)
                    };
                    let case = vec![
                        label.to_owned(),
                        tasks.to_string(),
                        runs.to_string(),
                        look.to_owned(),
                    ];
                    table
                        .rows
                        .push([case, summed(&worlds(FEWER_WORLDS, &pair))].concat());
                }
            }
        }
    }
    table
}

/// A suite's outcomes: by system and item, whether it passed; and by item its cluster, if the table has them.
#[derive(Default)]
struct Matrix<'a> {
    systems: BTreeMap<&'a str, BTreeMap<&'a str, bool>>,
    clusters: BTreeMap<&'a str, &'a str>,
}

impl Matrix<'_> {
    /// The units of some systems on the items of all. Outcomes of `others` group them.
    fn units(&self, arms: &[&str], others: &[&str]) -> Vec<Asked> {
        let is_everywhere = |item: &&&str| {
            self.systems
                .values()
                .all(|outcomes| outcomes.contains_key(**item))
        };
        let items = self
            .systems
            .values()
            .next()
            .into_iter()
            .flat_map(BTreeMap::keys)
            .filter(is_everywhere);
        let mut units: BTreeMap<&str, (u64, Vec<Vec<f64>>)> = BTreeMap::new();
        for item in items {
            let unit = units
                .entry(self.clusters.get(item).unwrap_or(item))
                .or_default();
            unit.0 += others
                .iter()
                .filter(|other| self.systems[**other][item])
                .count() as u64;
            unit.1.push(
                arms.iter()
                    .map(|arm| number(self.systems[*arm][item]))
                    .collect(),
            );
        }
        let group = |passed: u64, items: usize| {
            if others.is_empty() {
                0
            } else {
                difficulty_group(passed, (others.len() * items) as u64)
            }
        };
        units
            .into_values()
            .map(|(passed, items)| Asked {
                group: group(passed, items.len()),
                items,
            })
            .collect()
    }

    fn rule(&self, arms: usize) -> AdaptiveStopping {
        let items = self.systems.values().map(BTreeMap::len).max().unwrap_or(0);
        AdaptiveStopping::new(self.units_of(), items as u64, arms, ALPHA)
    }

    fn units_of(&self) -> Units {
        if self.clusters.is_empty() {
            Units::Items
        } else {
            Units::Clusters
        }
    }
}

/// Replays a table with the columns system, suite, item and passed (0 or 1), and perhaps cluster; each suite on its own. Of the other
/// systems' outcomes, those of none, three and all group the questions. The first tables are all pairs, the second boards of four and eight.
pub fn replayed(path: &Path) -> [Table; 2] {
    let text = std::fs::read_to_string(path).expect("the table can be read");
    let mut suites: BTreeMap<&str, Matrix<'_>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split(',');
        let mut field = || {
            fields
                .next()
                .unwrap_or_else(|| panic!("four columns: {line}"))
        };
        let [system, suite, item, passed] = [field(), field(), field(), field()];
        let matrix = suites.entry(suite).or_default();
        matrix
            .systems
            .entry(system)
            .or_default()
            .insert(item, passed == "1");
        if let Some(cluster) = fields.next() {
            matrix.clusters.insert(item, cluster);
        }
    }
    [pairs_of(&suites), boards_of(&suites)]
}

fn pairs_of(suites: &BTreeMap<&str, Matrix<'_>>) -> Table {
    let mut table = Table::new(
        "Verdicts foreseen on a real matrix",
        &[
            "earlier arms",
            "pairs",
            "same verdict",
            "asked",
            "with a winner: same, asked",
            "without: same, asked",
            "another winner",
        ],
    );
    for earlier in [0, 3, usize::MAX] {
        let mut found: Vec<Found> = Vec::new();
        for matrix in suites.values() {
            let names: Vec<&str> = matrix.systems.keys().copied().collect();
            let pairs: Vec<(usize, [&str; 2])> = names
                .iter()
                .enumerate()
                .flat_map(|(place, first)| {
                    names[..place].iter().map(move |second| [*first, *second])
                })
                .zip(found.len()..)
                .map(|(arms, number)| (number, arms))
                .collect();
            let rule = matrix.rule(2);
            found.extend(
                pairs
                    .into_par_iter()
                    .map(|(number, arms)| replay(&rule, matrix, &arms, earlier, number))
                    .collect::<Vec<_>>(),
            );
        }
        let has_winner = |found: &&Found| found.whole[0] != Foreseen::NoWinner;
        let part = |wanted: bool| {
            let of: Vec<&Found> = found
                .iter()
                .filter(|found| has_winner(found) == wanted)
                .collect();
            let same = of.iter().map(|found| found.same()).sum();
            format!(
                "{}: {}, {:.0}",
                of.len(),
                Share::of(same, of.len() as u64).percent(),
                100.0 * mean_share(of.into_iter())
            )
        };
        let names_another = |found: &&Found| {
            found.same() == 0 && !found.foreseen.contains(&Foreseen::NoWinner) && has_winner(found)
        };
        table.rows.push(vec![
            named(earlier),
            found.len().to_string(),
            count_of(&found, &|found| found.same() == 1).with_error(),
            format!("{:.0}", 100.0 * mean_share(found.iter())),
            part(true),
            part(false),
            found.iter().filter(names_another).count().to_string(),
        ]);
    }
    table
}

/// Boards of systems that are drawn at random, 20 of each size from each suite.
fn boards_of(suites: &BTreeMap<&str, Matrix<'_>>) -> Table {
    let mut table = Table::new(
        "Boards foreseen on a real matrix",
        &[
            "arms",
            "earlier arms",
            "boards",
            "same verdict, by pair",
            "whole board the same",
            "asked",
            "pairs with another winner",
        ],
    );
    for arms in [4, 8] {
        let rules: Vec<AdaptiveStopping> =
            suites.values().map(|matrix| matrix.rule(arms)).collect();
        for earlier in [0, 3] {
            let boards: Vec<(&AdaptiveStopping, &Matrix<'_>)> = suites
                .values()
                .zip(&rules)
                .flat_map(|(matrix, rule)| [(rule, matrix); 20])
                .collect();
            let one = |(number, (rule, matrix)): (usize, (&AdaptiveStopping, &Matrix<'_>))| {
                let mut names: Vec<&str> = matrix.systems.keys().copied().collect();
                shuffle(&mut names, &mut nth(number as u64));
                replay(rule, matrix, &names[..arms], earlier, number)
            };
            let found: Vec<Found> = boards.into_par_iter().enumerate().map(one).collect();
            let pairs = || {
                found
                    .iter()
                    .flat_map(|found| found.foreseen.iter().zip(&found.whole))
            };
            let same = pairs().filter(|(one, other)| one == other).count() as u64;
            let is_another = |(one, other): &(&Foreseen, &Foreseen)| {
                one != other && **one != Foreseen::NoWinner && **other != Foreseen::NoWinner
            };
            table.rows.push(vec![
                arms.to_string(),
                named(earlier),
                found.len().to_string(),
                Share::of(same, pairs().count() as u64).with_error(),
                count_of(&found, &|found| found.same() == found.whole.len() as u64).with_error(),
                format!("{:.0}", 100.0 * mean_share(found.iter())),
                format!(
                    "{} of {}",
                    pairs().filter(is_another).count(),
                    pairs().count()
                ),
            ]);
        }
    }
    table
}

fn replay(
    rule: &AdaptiveStopping,
    matrix: &Matrix<'_>,
    arms: &[&str],
    earlier: usize,
    number: usize,
) -> Found {
    let mut world = nth(number as u64);
    let mut others: Vec<&str> = matrix
        .systems
        .keys()
        .copied()
        .filter(|name| !arms.contains(name))
        .collect();
    shuffle(&mut others, &mut world);
    others.truncate(earlier);
    ask(
        rule,
        matrix.units_of(),
        &matrix.units(arms, &others),
        arms.len(),
        false,
        &mut world,
    )
}

fn named(earlier: usize) -> String {
    if earlier == usize::MAX {
        "all others".to_owned()
    } else {
        earlier.to_string()
    }
}

fn count_of(found: &[Found], of: &dyn Fn(&Found) -> bool) -> Share {
    Share::of(
        found.iter().filter(|found| of(found)).count() as u64,
        found.len() as u64,
    )
}

fn mean_share<'a>(found: impl ExactSizeIterator<Item = &'a Found>) -> f64 {
    let n = found.len() as f64;
    found.map(|found| found.share).sum::<f64>() / n
}
