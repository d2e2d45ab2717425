//! Rates and differences from a judge's verdicts and people's labels of some items, where the truth is known.

#![expect(clippy::cast_sign_loss, reason = "counts of labels")]

use evalreport::stats::{
    Calibration, Interval, Judged, Pairs, Spread, corrected, mean_interval, prediction_powered, rogan_gladen, tango, wilson,
};

use super::Table;
use super::world::{Share, World};

const WORLDS: u32 = 4_000;

/// Asks in every world; a world without an answer to one question has none to any.
fn shares<const N: usize>(ask: impl Fn(&mut World) -> Option<[Option<bool>; N]> + Sync) -> [Share; N] {
    super::world::shares(WORLDS, |world| ask(world).unwrap_or([None; N]))
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

/// Labels, verdicts on the same items, and verdicts on the others.
#[derive(Default)]
struct Sample {
    labels: Vec<f64>,
    judged: Vec<f64>,
    others: Vec<f64>,
}

impl Sample {
    fn data(&self) -> Judged<'_> {
        Judged { labels: &self.labels, judged: &self.judged, others: &self.others }
    }

    fn passed(&self) -> u64 {
        self.labels.iter().filter(|label| **label > 0.0).count() as u64
    }

    fn add(&mut self, label: f64, judged: f64, is_labelled: bool) {
        if is_labelled {
            self.labels.push(label);
            self.judged.push(judged);
        } else {
            self.others.push(judged);
        }
    }
}

/// A judge that errs equally often on passes and fails.
fn rates_of(world: &mut World, labelled: usize, others: usize, rate: f64, accuracy: f64) -> Sample {
    let mut sample = Sample::default();
    for item in 0..labelled + others {
        let is_pass = world.happens(rate);
        let said = is_pass == world.happens(accuracy);
        sample.add(number(is_pass), number(said), item < labelled);
    }
    sample
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
    for (labelled, others) in [(20, 100), (20, 2_000), (50, 1_000), (100, 10_000), (600, 3_400)] {
        for (rate, accuracy) in [(0.05, 0.8), (0.2, 0.6), (0.5, 0.9), (0.8, 0.8), (0.95, 0.9), (0.5, 0.99)] {
            let got = shares(|world| {
                let sample = rates_of(world, labelled, others, rate, accuracy);
                let found = corrected(sample.data(), Spread::Shares, None, 0.95).ok()?.interval;
                let plain = prediction_powered(sample.data(), 0.95).ok()?.interval;
                let people = wilson(sample.passed(), labelled as u64, 0.95).ok()?;
                let said = sample.judged.iter().chain(&sample.others).filter(|said| **said > 0.0).count() as u64;
                let judge = wilson(said, (labelled + others) as u64, 0.95).ok()?;
                Some([holds(found, rate), holds(plain, rate), holds(people, rate), holds(judge, rate), Some(width(found) < width(people))])
            });
            table.row(&[labelled.to_string(), others.to_string(), percent(rate), percent(accuracy)], &got);
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
        for (base, gain, accuracy, favour) in [(0.6, 0.0, 0.8, 0.1), (0.7, 0.09, 0.9, 0.05), (0.9, 0.05, 0.8, 0.1), (0.5, 0.0, 0.98, 0.0)] {
            let got = shares(|world| {
                let mut sample = Sample::default();
                for item in 0..labelled + others {
                    let ease = world.uniform();
                    let first = ease < base + gain;
                    let second = if world.happens(0.5) { ease < base } else { world.happens(base) };
                    let mut verdict = |is_pass: bool, favour: f64| is_pass == world.happens(accuracy) || world.happens(favour);
                    let said = [verdict(first, 0.0), verdict(second, favour)].map(number);
                    sample.add(number(first) - number(second), said[0] - said[1], item < labelled);
                }
                let found = corrected(sample.data(), Spread::Differences, None, 0.95).ok()?.interval;
                let plain = prediction_powered(sample.data(), 0.95).ok()?.interval;
                let won = sample.passed();
                let lost = sample.labels.iter().filter(|label| **label < 0.0).count() as u64;
                let people = tango(Pairs { only_a: won, only_b: lost, neither: labelled as u64 - won - lost, both: 0 }, 0.95).ok()?;
                let said: Vec<f64> = sample.judged.iter().chain(&sample.others).copied().collect();
                let judge = mean_interval(&said, 0.95).ok()?;
                Some([holds(found, gain), holds(plain, gain), holds(people, gain), holds(judge, gain), Some(width(found) < width(people))])
            });
            let case = [labelled.to_string(), others.to_string(), percent(gain), percent(accuracy), percent(favour)];
            table.row(&case, &got);
        }
    }
    table
}

/// Scores, clusters, labels drawn by verdict as `judge --next` does, and known error rates.
pub fn others() -> Table {
    let mut table = Table::new(
        "Further corrected intervals that promise 95%",
        &["data", "labels", "other items", "corrected", "the same without that care"],
    );
    for (labelled, others) in [(20, 200), (50, 500), (200, 2_000)] {
        let case = |name: &str| [name.to_owned(), labelled.to_string(), others.to_string()];
        let scores = shares(|world| {
            let mut sample = Sample::default();
            for item in 0..labelled + others {
                let truth = world.chance(0.6, 0.3);
                let said = (truth + 0.1 + 0.15 * world.normal()).clamp(0.0, 1.0);
                sample.add(truth, said, item < labelled);
            }
            let found = corrected(sample.data(), Spread::Shares, None, 0.95).ok()?.interval;
            let plain = prediction_powered(sample.data(), 0.95).ok()?.interval;
            Some([holds(found, 0.6), holds(plain, 0.6)])
        });
        table.row(&case("scores; normal interval"), &scores);
        let clustered = shares(|world| {
            let (mut sample, mut codes) = (Sample::default(), [Vec::new(), Vec::new()]);
            // Whole clusters of five items are labelled.
            for cluster in 0..(labelled + others) / 5 {
                let (ease, skill) = (world.chance(0.7, 0.3), world.chance(0.85, 0.1));
                for _ in 0..5 {
                    let is_pass = world.happens(ease);
                    let said = is_pass == world.happens(skill);
                    let is_labelled = cluster < labelled / 5;
                    sample.add(number(is_pass), number(said), is_labelled);
                    codes[usize::from(!is_labelled)].push(u32::try_from(cluster).unwrap_or_default());
                }
            }
            let found = corrected(sample.data(), Spread::Shares, Some(&codes.concat()), 0.95).ok()?.interval;
            let plain = corrected(sample.data(), Spread::Shares, None, 0.95).ok()?.interval;
            Some([holds(found, 0.7), holds(plain, 0.7)])
        });
        table.row(&case("clusters of five; as if independent"), &clustered);
        let drawn = shares(|world| {
            let all = rates_of(world, labelled + others, 0, 0.7, 0.85);
            // First half of the labels at random, then twice as often among fails, which are rarer and less certain.
            let mut sample = Sample::default();
            let mut left = [labelled / 3, labelled - labelled / 3];
            for (place, (label, said)) in all.labels.iter().zip(&all.judged).enumerate() {
                let left = &mut left[usize::from(*said > 0.0)];
                // Items come in random order, so the first of each verdict are a random part of it.
                let is_labelled = *left > 0 && place < labelled + others;
                *left -= usize::from(is_labelled);
                sample.add(*label, *said, is_labelled);
            }
            let found = corrected(sample.data(), Spread::Shares, None, 0.95).ok()?.interval;
            let people = wilson(sample.passed(), sample.labels.len() as u64, 0.95).ok()?;
            Some([holds(found, 0.7), holds(people, 0.7)])
        });
        table.row(&case("more labels of fails; the labels alone"), &drawn);
        let known = shares(|world| {
            let passes = labelled / 2;
            let right = [0.9, 0.8].map(|chance| world.passed(passes as u64, chance) as f64 / passes as f64);
            let rate = 0.7 * 0.9 + 0.3 * 0.2;
            let said = world.passed(others as u64, rate) as f64 / others as f64;
            let known = Calibration { sensitivity: right[0], passes: passes as f64, specificity: right[1], fails: passes as f64 };
            let found = rogan_gladen(said, others as f64, known, 0.95).ok()?;
            let (low, high) = (found.rate - 1.96 * found.standard_error, found.rate + 1.96 * found.standard_error);
            Some([holds(found.interval, 0.7), holds(Interval { low, high }, 0.7)])
        });
        table.row(&case("known error rates (Lee); delta method"), &known);
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

pub fn tables() -> [Table; 3] {
    [rates(), differences(), others()]
}
