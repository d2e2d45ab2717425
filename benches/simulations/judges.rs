//! Rates and differences from a judge's verdicts and people's labels of some items, where the truth is known.

#![expect(clippy::cast_sign_loss, reason = "counts of labels")]

use evalreport::stats::{
    Calibration, Interval, ItemsByRuns, JudgedRuns, JudgedSample, LabelledAttempts, PairedTable,
    corrected_difference, corrected_rate, mean_interval, one_way, prediction_powered, rogan_gladen,
    tango_interval, two_way, welch_test, wilson_score_interval,
};

use super::Table;
use super::world::{Share, World};

const WORLDS: u32 = 4_000;
/// Of several runs, which take longer.
const WORLDS_OF_RUNS: u32 = 2_000;

/// Asks in every world; a world without an answer to one question has none to any.
fn shares<const N: usize>(
    ask: impl Fn(&mut World) -> Option<[Option<bool>; N]> + Sync,
) -> [Share; N] {
    shares_in(WORLDS, ask)
}

fn shares_in<const N: usize>(
    worlds: u32,
    ask: impl Fn(&mut World) -> Option<[Option<bool>; N]> + Sync,
) -> [Share; N] {
    super::world::shares(worlds, |world| ask(world).unwrap_or([None; N]))
}

fn number(is: bool) -> f64 {
    f64::from(u8::from(is))
}

#[expect(clippy::unnecessary_wraps, reason = "an answer of a world")]
fn holds(interval: Interval, truth: f64) -> Option<bool> {
    Some(interval.low <= truth && truth <= interval.high)
}

fn width(interval: Interval) -> f64 {
    interval.high - interval.low
}

/// An arm's verdicts, and people's labels of some of them, by item and run.
struct Arm {
    runs: usize,
    judged: Vec<Option<f64>>,
    labels: Vec<Option<LabelledAttempts>>,
}

impl Arm {
    fn of(runs: usize) -> Self {
        Self {
            runs,
            judged: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn add(&mut self, label: f64, judged: f64, is_labelled: bool) {
        self.judged.push(Some(judged));
        self.labels.push(is_labelled.then_some(LabelledAttempts {
            people: label,
            judge: judged,
        }));
    }

    fn data(&self) -> JudgedRuns<'_> {
        JudgedRuns {
            runs: self.runs,
            judged: &self.judged,
            labels: &self.labels,
        }
    }

    /// The verdicts alone.
    fn said(&self) -> ItemsByRuns<'_> {
        ItemsByRuns {
            runs: self.runs,
            values: &self.judged,
        }
    }

    /// The same as if each outcome were of an item of its own.
    fn apart(&self) -> JudgedRuns<'_> {
        JudgedRuns {
            runs: 1,
            ..self.data()
        }
    }
}

/// Labels, verdicts on the same items, and verdicts on the others, as the papers have them.
#[derive(Default)]
struct Lists {
    labels: Vec<f64>,
    judged: Vec<f64>,
    others: Vec<f64>,
}

impl Lists {
    fn of(arm: &Arm) -> Self {
        Self::between(arm, None)
    }

    fn between(one: &Arm, other: Option<&Arm>) -> Self {
        let mut lists = Self::default();
        for place in 0..one.judged.len() {
            let less = |own: f64, of: &dyn Fn(&Arm) -> f64| own - other.map_or(0.0, of);
            let said = less(one.judged[place].unwrap_or_default(), &|other| {
                other.judged[place].unwrap_or_default()
            });
            match one.labels[place] {
                Some(label) => {
                    lists.labels.push(less(label.people, &|other| {
                        other.labels[place].map_or(0.0, |label| label.people)
                    }));
                    lists.judged.push(said);
                }
                None => lists.others.push(said),
            }
        }
        lists
    }

    fn data(&self) -> JudgedSample<'_> {
        JudgedSample {
            labels: &self.labels,
            judged: &self.judged,
            others: &self.others,
        }
    }

    fn passed(&self) -> u64 {
        self.labels.iter().filter(|label| **label > 0.0).count() as u64
    }
}

/// A judge that errs equally often on passes and fails.
fn rates_of(world: &mut World, labelled: usize, others: usize, rate: f64, accuracy: f64) -> Arm {
    let mut arm = Arm::of(1);
    for item in 0..labelled + others {
        let is_pass = world.happens(rate);
        let said = is_pass == world.happens(accuracy);
        arm.add(number(is_pass), number(said), item < labelled);
    }
    arm
}

/// Thirty regimes: labels, other items, true rate, share of right verdicts.
pub fn rates() -> Table {
    let mut table = Table::new(
        "Intervals of a rate that promise 95%",
        &[
            "labels",
            "other items",
            "rate",
            "judge right",
            "corrected",
            "PPI++, normal",
            "the labels alone, Wilson",
            "the judge alone, Wilson",
            "corrected is narrower than the labels alone",
        ],
    );
    for (labelled, others) in [
        (20, 100),
        (20, 2_000),
        (50, 1_000),
        (100, 10_000),
        (600, 3_400),
    ] {
        for (rate, accuracy) in [
            (0.05, 0.8),
            (0.2, 0.6),
            (0.5, 0.9),
            (0.8, 0.8),
            (0.95, 0.9),
            (0.5, 0.99),
        ] {
            let got = shares(|world| {
                let arm = rates_of(world, labelled, others, rate, accuracy);
                let sample = Lists::of(&arm);
                let found = corrected_rate(arm.data(), None, 0.95).ok()?.interval;
                let plain = prediction_powered(sample.data(), 0.95).ok()?.interval;
                let people = wilson_score_interval(sample.passed(), labelled as u64, 0.95).ok()?;
                let said = sample
                    .judged
                    .iter()
                    .chain(&sample.others)
                    .filter(|said| **said > 0.0)
                    .count() as u64;
                let judge = wilson_score_interval(said, (labelled + others) as u64, 0.95).ok()?;
                Some([
                    holds(found, rate),
                    holds(plain, rate),
                    holds(people, rate),
                    holds(judge, rate),
                    Some(width(found) < width(people)),
                ])
            });
            table.row(
                &[
                    labelled.to_string(),
                    others.to_string(),
                    percent(rate),
                    percent(accuracy),
                ],
                &got,
            );
        }
    }
    table
}

/// Two arms on the same items, and a judge that favours the second.
pub fn differences() -> Table {
    let mut table = Table::new(
        "Intervals of a paired difference that promise 95%, with a judge that favours the second arm; and false winners of equal arms",
        &[
            "labels",
            "other items",
            "difference",
            "judge right",
            "favour",
            "corrected",
            "PPI++, normal",
            "the labels alone, Tango",
            "the judge alone, t",
            "corrected is narrower than the labels alone",
        ],
    );
    for (labelled, others) in [(20, 200), (50, 1_000), (100, 1_000), (600, 3_400)] {
        for (base, gain, accuracy, favour) in [
            (0.6, 0.0, 0.8, 0.1),
            (0.7, 0.09, 0.9, 0.05),
            (0.9, 0.05, 0.8, 0.1),
            (0.5, 0.0, 0.98, 0.0),
        ] {
            let got = shares(|world| {
                let mut arms = [Arm::of(1), Arm::of(1)];
                for item in 0..labelled + others {
                    let ease = world.uniform();
                    let first = ease < base + gain;
                    let second = if world.happens(0.5) {
                        ease < base
                    } else {
                        world.happens(base)
                    };
                    let mut verdict = |is_pass: bool, favour: f64| {
                        is_pass == world.happens(accuracy) || world.happens(favour)
                    };
                    let said = [verdict(first, 0.0), verdict(second, favour)].map(number);
                    for (arm, (is_pass, said)) in
                        arms.iter_mut().zip([first, second].into_iter().zip(said))
                    {
                        arm.add(number(is_pass), said, item < labelled);
                    }
                }
                let [one, other] = &arms;
                let sample = Lists::between(one, Some(other));
                let found = corrected_difference(one.data(), other.data(), None, 0.95)
                    .ok()?
                    .interval;
                let plain = prediction_powered(sample.data(), 0.95).ok()?.interval;
                let won = sample.passed();
                let lost = sample.labels.iter().filter(|label| **label < 0.0).count() as u64;
                let people = tango_interval(
                    PairedTable {
                        only_a: won,
                        only_b: lost,
                        neither: labelled as u64 - won - lost,
                        both: 0,
                    },
                    0.95,
                )
                .ok()?;
                let said: Vec<f64> = sample
                    .judged
                    .iter()
                    .chain(&sample.others)
                    .copied()
                    .collect();
                let judge = mean_interval(&said, 0.95).ok()?;
                Some([
                    holds(found, gain),
                    holds(plain, gain),
                    holds(people, gain),
                    holds(judge, gain),
                    Some(width(found) < width(people)),
                ])
            });
            let case = [
                labelled.to_string(),
                others.to_string(),
                percent(gain),
                percent(accuracy),
                percent(favour),
            ];
            table.row(&case, &got);
        }
    }
    table
}

/// Scores, clusters, labels drawn by verdict as `judge --next` does, and known error rates.
pub fn others() -> Table {
    let mut table = Table::new(
        "Further corrected intervals that promise 95%",
        &[
            "data",
            "labels",
            "other items",
            "corrected",
            "the same without that care",
        ],
    );
    for (labelled, others) in [(20, 200), (50, 500), (200, 2_000)] {
        let case = |name: &str| [name.to_owned(), labelled.to_string(), others.to_string()];
        let scores = shares(|world| {
            let mut arm = Arm::of(1);
            for item in 0..labelled + others {
                let truth = world.chance(0.6, 0.3);
                let said = (truth + 0.1 + 0.15 * world.normal()).clamp(0.0, 1.0);
                arm.add(truth, said, item < labelled);
            }
            let found = corrected_rate(arm.data(), None, 0.95).ok()?.interval;
            let plain = prediction_powered(Lists::of(&arm).data(), 0.95)
                .ok()?
                .interval;
            Some([holds(found, 0.6), holds(plain, 0.6)])
        });
        table.row(&case("scores; normal interval"), &scores);
        let clustered = shares(|world| {
            let (mut arm, mut codes) = (Arm::of(1), Vec::new());
            // Whole clusters of five items are labelled.
            for cluster in 0..(labelled + others) / 5 {
                let (ease, skill) = (world.chance(0.7, 0.3), world.chance(0.85, 0.1));
                for _ in 0..5 {
                    let is_pass = world.happens(ease);
                    let said = is_pass == world.happens(skill);
                    arm.add(number(is_pass), number(said), cluster < labelled / 5);
                    codes.push(u32::try_from(cluster).unwrap_or_default());
                }
            }
            let found = corrected_rate(arm.data(), Some(&codes), 0.95)
                .ok()?
                .interval;
            let plain = corrected_rate(arm.data(), None, 0.95).ok()?.interval;
            Some([holds(found, 0.7), holds(plain, 0.7)])
        });
        table.row(&case("clusters of five; as if independent"), &clustered);
        let drawn = shares(|world| {
            let mut arm = rates_of(world, labelled + others, 0, 0.7, 0.85);
            // First half of the labels at random, then twice as often among fails, which are rarer and less certain.
            let mut left = [labelled / 3, labelled - labelled / 3];
            // Items come in random order, so the first of each verdict are a random part of it.
            for label in &mut arm.labels {
                let left = &mut left[usize::from(label.is_some_and(|label| label.judge > 0.0))];
                if *left > 0 { *left -= 1 } else { *label = None }
            }
            let found = corrected_rate(arm.data(), None, 0.95).ok()?.interval;
            let people = Lists::of(&arm);
            let people =
                wilson_score_interval(people.passed(), people.labels.len() as u64, 0.95).ok()?;
            Some([holds(found, 0.7), holds(people, 0.7)])
        });
        table.row(&case("more labels of fails; the labels alone"), &drawn);
        let known = shares(|world| {
            let passes = labelled / 2;
            let right =
                [0.9, 0.8].map(|chance| world.passed(passes as u64, chance) as f64 / passes as f64);
            let rate = 0.7 * 0.9 + 0.3 * 0.2;
            let said = world.passed(others as u64, rate) as f64 / others as f64;
            let known = Calibration {
                sensitivity: right[0],
                passes: passes as f64,
                specificity: right[1],
                fails: passes as f64,
            };
            let found = rogan_gladen(said, others as f64, known, 0.95).ok()?;
            let (low, high) = (
                found.rate - 1.96 * found.standard_error,
                found.rate + 1.96 * found.standard_error,
            );
            Some([
                holds(found.interval, 0.7),
                holds(Interval { low, high }, 0.7),
            ])
        });
        table.row(&case("known error rates (Lee); delta method"), &known);
        let over_runs = shares_in(WORLDS_OF_RUNS, |world| {
            let passes = labelled / 2;
            let right =
                [0.9, 0.8].map(|chance| world.passed(passes as u64, chance) as f64 / passes as f64);
            let known = Calibration {
                sensitivity: right[0],
                passes: passes as f64,
                specificity: right[1],
                fails: passes as f64,
            };
            let shifts: Vec<f64> = (0..3).map(|_| VARIED.passes * world.normal()).collect();
            let said: Vec<Option<f64>> = (0..others)
                .flat_map(|_| {
                    let ease = world.chance(0.7, 0.4);
                    let said = |shift: &f64| {
                        let is_pass = world.happens(moved(ease, *shift));
                        Some(number(world.happens(if is_pass { 0.9 } else { 0.2 })))
                    };
                    shifts.iter().map(said).collect::<Vec<_>>()
                })
                .collect();
            // As `inference::estimate` does: the effective number of items is that of the interval's length.
            let judge = one_way(
                ItemsByRuns {
                    runs: 3,
                    values: &said,
                },
                None,
                0.95,
            )
            .ok()?;
            let spread = judge.estimate * (1.0 - judge.estimate);
            let found = |error: f64| {
                rogan_gladen(judge.estimate, spread / (error * error), known, 0.95).ok()
            };
            let reach = (judge.interval.high - judge.interval.low) / (2.0 * 1.96);
            Some([
                holds(found(reach)?.interval, 0.7),
                holds(found((spread / others as f64).sqrt())?.interval, 0.7),
            ])
        });
        table.row(
            &case("known error rates, three runs that vary; as one run"),
            &over_runs,
        );
    }
    table
}

/// Which runs of a labelled item are labelled.
#[derive(Clone, Copy, PartialEq)]
enum Labelled {
    /// One, at random.
    One,
    Every,
}

/// How runs differ: the spread of a run's passes around the mean, and of the judge's accuracy.
#[derive(Clone, Copy)]
struct RunsVary {
    passes: f64,
    judge: f64,
}

/// An arm over several runs. Its items are more or less easy in all runs, the judge errs more or less often about them, and half of its errors
/// are the same in all runs. It passes fails with the chance `favour` beyond its errors.
fn over_runs(
    world: &mut World,
    ease: &[f64],
    runs: usize,
    labels: (usize, Labelled),
    favour: f64,
    vary: RunsVary,
) -> Arm {
    let mut arm = Arm::of(runs);
    let shifts: Vec<[f64; 2]> = (0..runs)
        .map(|_| [vary.passes * world.normal(), vary.judge * world.normal()])
        .collect();
    for (item, ease) in ease.iter().enumerate() {
        let (skill, shared) = (world.chance(0.85, 0.2), world.uniform());
        let only = world.below(runs);
        for (run, [pass, judge]) in shifts.iter().enumerate() {
            let is_pass = world.happens(moved(*ease, *pass));
            let error = if world.happens(0.5) {
                shared
            } else {
                world.uniform()
            };
            let said = is_pass == (error < moved(skill, *judge)) || world.happens(favour);
            let is_labelled = item < labels.0 && (labels.1 == Labelled::Every || run == only);
            arm.add(number(is_pass), number(said), is_labelled);
        }
    }
    arm
}

/// A chance moved by a run. It leaves the mean over items and runs where it is, and stays from 0 to 1.
fn moved(chance: f64, by: f64) -> f64 {
    chance + by.clamp(-0.25, 0.25) * 4.0 * chance * (1.0 - chance)
}

fn eases(world: &mut World, items: usize, mean: f64) -> Vec<f64> {
    (0..items).map(|_| world.chance(mean, 0.4)).collect()
}

const STEADY: RunsVary = RunsVary {
    passes: 0.0,
    judge: 0.0,
};
const VARIED: RunsVary = RunsVary {
    passes: 0.05,
    judge: 0.05,
};

fn cases_of_runs(items: [(usize, usize); 3]) -> Vec<(usize, usize, usize, Labelled, RunsVary)> {
    let mut cases = Vec::new();
    for runs in [2, 3, 5] {
        for (labelled, items) in items {
            for (labels, vary) in [
                (Labelled::One, STEADY),
                (Labelled::One, VARIED),
                (Labelled::Every, STEADY),
                (Labelled::Every, VARIED),
            ] {
                cases.push((runs, labelled, items, labels, vary));
            }
        }
    }
    cases
}

fn words_of(
    (runs, labelled, items, labels, vary): (usize, usize, usize, Labelled, RunsVary),
) -> Vec<String> {
    let of = if labels == Labelled::One {
        "one run"
    } else {
        "every run"
    };
    let vary = if vary.passes > 0.0 {
        "runs and judge vary by 5 pp"
    } else {
        "steady"
    };
    vec![
        runs.to_string(),
        labelled.to_string(),
        items.to_string(),
        of.to_owned(),
        vary.to_owned(),
    ]
}

/// Rates over several runs.
pub fn rates_of_runs() -> Table {
    let mut table = Table::new(
        "Intervals of a rate over several runs that promise 95%, true rates 70% and 93%",
        &[
            "runs",
            "labelled items",
            "items",
            "labelled in",
            "runs",
            "70%",
            "93%",
            "as if each outcome were an item, 70%",
            "93%",
            "the judge alone, 70%",
            "93%",
        ],
    );
    for case in cases_of_runs([(20, 200), (60, 300), (200, 1_000)]) {
        let (runs, labelled, items, labels, vary) = case;
        let got = shares_in(WORLDS_OF_RUNS, |world| {
            let mut found = [None; 6];
            for (place, rate) in [0.7, 0.93].into_iter().enumerate() {
                let ease = eases(world, items, rate);
                let arm = over_runs(world, &ease, runs, (labelled, labels), 0.05, vary);
                found[place] = holds(corrected_rate(arm.data(), None, 0.95).ok()?.interval, rate);
                found[place + 2] =
                    holds(corrected_rate(arm.apart(), None, 0.95).ok()?.interval, rate);
                found[place + 4] = one_way(arm.said(), None, 0.95)
                    .ok()
                    .and_then(|found| holds(found.interval, rate));
            }
            Some(found)
        });
        table.row(&words_of(case), &got);
    }
    table
}

/// Differences over several runs: of equal arms, and of one that is better.
pub fn winners_of_runs() -> Table {
    let mut table = Table::new(
        "Winners over several runs at 5%: arms equal at 70%, where all are false, and the first 10 pp better; the judge likes the second",
        &[
            "runs",
            "labelled items",
            "items",
            "labelled in",
            "runs",
            "equal: corrected",
            "as if each outcome were an item",
            "the judge alone",
            "10 pp better: corrected wins",
            "the judge alone wins",
            "interval holds 0",
            "interval holds 10 pp",
        ],
    );
    for case in cases_of_runs([(20, 200), (60, 300), (200, 1_000)]) {
        let (runs, labelled, items, labels, vary) = case;
        let got = shares_in(WORLDS_OF_RUNS, |world| {
            let mut found = [None; 7];
            for gain in [0.0, 0.1] {
                // Half of the difficulty is the same for both arms.
                let shared = eases(world, items, 0.7);
                let own = |world: &mut World, rate: f64| -> Vec<f64> {
                    shared
                        .iter()
                        .map(|ease| {
                            if world.happens(0.5) {
                                *ease + (rate - 0.7) * (1.0 - ease) / 0.3
                            } else {
                                world.chance(rate, 0.4)
                            }
                        })
                        .collect()
                };
                let (first, second) = (own(world, 0.7 + gain), own(world, 0.7));
                let one = over_runs(world, &first, runs, (labelled, labels), 0.0, vary);
                let other = over_runs(world, &second, runs, (labelled, labels), 0.2, vary);
                let own = corrected_difference(one.data(), other.data(), None, 0.95).ok()?;
                let judge = two_way(one.said(), other.said(), None, 0.95).ok()?;
                let is_winner = |p: f64, mean: f64| p < 0.05 && (gain == 0.0 || mean > 0.0);
                if gain == 0.0 {
                    found[0] = Some(is_winner(own.p, own.mean));
                    let apart = corrected_difference(one.apart(), other.apart(), None, 0.95).ok();
                    found[1] = apart.map(|apart| is_winner(apart.p, apart.mean));
                    found[2] = Some(is_winner(judge.p, judge.estimate));
                    found[5] = holds(own.interval, 0.0);
                } else {
                    found[3] = Some(is_winner(own.p, own.mean));
                    found[4] = Some(is_winner(judge.p, judge.estimate));
                    found[6] = holds(own.interval, gain);
                }
            }
            Some(found)
        });
        table.row(&words_of(case), &got);
    }
    table
}

/// Criteria of one artefact: the run is the unit, and its criteria fail together.
pub fn artefacts() -> Table {
    let mut table = Table::new(
        "Criteria of one artefact, whose run is the unit: intervals of a rate of 75% that promise 95%, and false winners of equal arms at 5%",
        &[
            "runs per arm",
            "criteria",
            "labels per run",
            "correlation in a run",
            "corrected",
            "as if independent",
            "the judge alone, t",
            "false winners: corrected",
            "the judge alone, Welch",
        ],
    );
    for (runs, criteria, labels) in [
        (3, 20, 20),
        (3, 20, 7),
        (5, 20, 20),
        (5, 20, 5),
        (10, 20, 20),
        (10, 20, 4),
        (20, 10, 2),
    ] {
        for correlation in [0.0, 0.05, 0.3] {
            let got = shares_in(WORLDS_OF_RUNS, |world| {
                let arm = |world: &mut World, favour: f64| {
                    let (mut arm, mut codes, mut rates) = (Arm::of(1), Vec::new(), Vec::new());
                    for run in 0..runs {
                        let (ease, skill) =
                            (world.chance(0.75, correlation), world.chance(0.85, 0.05));
                        let mut passed = 0.0;
                        for criterion in 0..criteria {
                            let is_pass = world.happens(ease);
                            let said = is_pass == world.happens(skill) || world.happens(favour);
                            arm.add(number(is_pass), number(said), criterion < labels);
                            passed += number(said);
                            codes.push(u32::try_from(run).unwrap_or_default());
                        }
                        rates.push(passed / f64::from(criteria));
                    }
                    (arm, codes, rates)
                };
                let ((one, codes, rates), (other, _, others)) = (arm(world, 0.0), arm(world, 0.2));
                let [first, second] =
                    [&one, &other].map(|arm| corrected_rate(arm.data(), Some(&codes), 0.95));
                let (first, second) = (first.ok()?, second.ok()?);
                let plain = corrected_rate(one.data(), None, 0.95).ok()?;
                let judge = mean_interval(&rates, 0.95).ok();
                let by_judge = welch_test(&rates, &others, 0.95).ok();
                Some([
                    holds(first.interval, 0.75),
                    holds(plain.interval, 0.75),
                    judge.and_then(|found| holds(found, 0.75)),
                    Some(first.subtract_independent(second, 0.95).ok()?.p < 0.05),
                    by_judge.map(|found| found.p < 0.05),
                ])
            });
            table.row(
                &[
                    runs.to_string(),
                    criteria.to_string(),
                    labels.to_string(),
                    format!("{correlation}"),
                ],
                &got,
            );
        }
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

pub fn tables() -> [Table; 6] {
    [
        rates(),
        differences(),
        others(),
        rates_of_runs(),
        winners_of_runs(),
        artefacts(),
    ]
}
