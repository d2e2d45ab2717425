//! Whether days got worse than the days before them, checked every day.

use rand_chacha::rand_core::RngCore;

use super::wander::{inflation_by_correlation, inflation_by_wander};
use super::{Seed, Undefined};

/// The evidence after some days that they got worse.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct GateProcess {
    /// Number of baseline days; then of days compared with them.
    pub baseline: u64,
    pub nights: u64,
    /// Evidence against "nothing got worse" after the last day.
    pub e_value: f64,
    /// The largest evidence on any day. An alarm, once raised, stays.
    pub largest: f64,
    /// Number of days until the evidence first sufficed: reached 1/α.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm_at: Option<u64>,
}

/// Assumed rates of falling below the other days, relative to a day that is not worse.
const HAZARD_RATIOS: [f64; 3] = [3.0, 10.0, 40.0];
/// Candidate starts of bad days: the first day, then weekly, and after this many weeks every four weeks.
const DAYS_BETWEEN_STARTS: usize = 7;
const WEEKLY_STARTS: usize = 8;
/// The weight of a start on the first day.
const FIRST_START_WEIGHT: f64 = 0.7;
/// Standard errors added to the correlation of days, and to their wander. With these margins, days of correlations up to .9, and days of half
/// noise and half wander of correlation .8, keep alpha 5% within 60 days after 3 to 30 (`benches/simulations/gates.rs`).
const CORRELATION_MARGIN: f64 = 1.5;
const WANDER_MARGIN: f64 = 0.0;
/// Random orders of days with equal rates that are averaged.
const TIE_BREAKS: usize = 4;

/// Accumulates, day by day, the evidence that the rates of `head` are lower than those before: all of them, or those from a later start on.
///
/// It is an e-process on ranks. If all days are exchangeable, every order of the rates is equally likely, whatever their distribution, so
/// the chance that the evidence reaches 1/α on any day is at most α (Ville 1939; Ramdas et al. 2023). The alternative is the probability of
/// the order if the days from some start on fall θ times as fast below the rest (Savage 1956: the partial likelihood of proportional
/// hazards), from below or, mirrored, from above. It is averaged over θ, over both directions, and over the start: the first day has seven
/// tenths of the weight, the k-th later start 1/(k (k + 1)) of the rest. The items must be the same every day.
///
/// Days that resemble their neighbours are not exchangeable: n of them say as much as n/τ independent ones, τ the inflation of the variance of
/// their mean. So the likelihood ratio of each start is raised to 1/τ (an adjusted composite likelihood, Pace et al. 2011), with τ estimated from
/// the ranks of the days before and after that start, up to the last day. That is no proof but a correction that simulations bear out.
///
/// With few days before, the evidence is limited: with b of them, it is below C(b + t, t) after t days. See [`least_nights`].
///
/// Takes time of about days³ / 7.
pub fn gate_process(baseline: &[f64], head: &[f64], alpha: f64) -> Result<GateProcess, Undefined> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Undefined::OutOfRange);
    }
    if baseline.is_empty() || head.is_empty() {
        return Err(Undefined::NoData);
    }
    if baseline.iter().chain(head).any(|rate| !rate.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let mut orders: Vec<RateOrder> = (0..TIE_BREAKS as u64).map(RateOrder::new).collect();
    if !has_ties(baseline, head) {
        orders.truncate(1);
    }
    for order in &mut orders {
        for rate in baseline {
            order.insert(*rate);
        }
    }
    let mut process = GateProcess {
        baseline: baseline.len() as u64,
        nights: head.len() as u64,
        e_value: 1.0,
        largest: 1.0,
        alarm_at: None,
    };
    for (night, rate) in head.iter().enumerate() {
        for order in &mut orders {
            order.insert(*rate);
        }
        process.e_value = orders
            .iter()
            .map(|order| order.e_value(baseline.len()))
            .sum::<f64>()
            / orders.len() as f64;
        process.largest = process.largest.max(process.e_value);
        if process.e_value >= 1.0 / alpha && process.alarm_at.is_none() {
            process.alarm_at = Some(night as u64 + 1);
        }
    }
    Ok(process)
}

/// Returns the smallest number of days, each worse than all `baseline` days before, after which the evidence suffices.
pub fn least_nights(baseline: u64, alpha: f64) -> Result<u64, Undefined> {
    let baseline = usize::try_from(baseline).map_err(|_| Undefined::OutOfRange)?;
    let mut order = RateOrder::new(0);
    (0..baseline).for_each(|_| order.insert(1.0));
    if baseline == 0 || !(alpha > 0.0 && alpha < 1.0) {
        return Err(Undefined::OutOfRange);
    }
    (1..=MAX_NIGHTS)
        .find(|_| {
            order.insert(0.0);
            order.e_value(baseline) >= 1.0 / alpha
        })
        .ok_or(Undefined::TooFew)
}

/// Maximum number of days that [`least_nights`] tries.
const MAX_NIGHTS: u64 = 400;

fn has_ties(baseline: &[f64], head: &[f64]) -> bool {
    let mut rates: Vec<f64> = baseline.iter().chain(head).copied().collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates.windows(2).any(|pair| is_equal_rate(pair[0], pair[1]))
}

/// Returns whether two rates are equal up to rounding. Rates are sums of fractions.
fn is_equal_rate(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-12
}

/// Days from the lowest rate to the highest; equal ones in random order.
struct RateOrder {
    random: rand_chacha::ChaCha8Rng,
    nights: Vec<RankedNight>,
}

struct RankedNight {
    rate: f64,
    chance: u64,
    /// Number of the day.
    night: usize,
}

impl RateOrder {
    fn new(number: u64) -> Self {
        Self {
            random: Seed(0).replicate_stream(number),
            nights: Vec::new(),
        }
    }

    fn insert(&mut self, rate: f64) {
        let (chance, night) = (self.random.next_u64(), self.nights.len());
        let is_before = |place: &RankedNight| {
            if is_equal_rate(place.rate, rate) {
                place.chance < chance
            } else {
                place.rate < rate
            }
        };
        let at = self.nights.partition_point(is_before);
        self.nights.insert(
            at,
            RankedNight {
                rate,
                chance,
                night,
            },
        );
    }

    /// Returns the evidence of this order that days got worse, relative to chance. The first `baseline` days are the baseline.
    fn e_value(&self, baseline: usize) -> f64 {
        let first = FIRST_START_WEIGHT * self.evidence(baseline);
        let (mut later, mut left, mut number) = (0.0, 1.0 - FIRST_START_WEIGHT, 1.0);
        let months = (WEEKLY_STARTS + 4..).step_by(4);
        let starts = (1..=WEEKLY_STARTS)
            .chain(months)
            .map(|week| baseline + week * DAYS_BETWEEN_STARTS);
        for start in starts.take_while(|start| *start < self.nights.len()) {
            let weight = (1.0 - FIRST_START_WEIGHT) / (number * (number + 1.0));
            later += weight * self.evidence(start);
            left -= weight;
            number += 1.0;
        }
        // Later starts have not begun, so they keep their weight.
        first + later + left
    }

    /// Returns the evidence for the days from `start` on: the likelihood ratio of as many independent days as these are worth.
    fn evidence(&self, start: usize) -> f64 {
        let ratio = self.likelihood_ratio(start);
        let scores = self.scores_by_day(start);
        let inflation = inflation_by_correlation(&scores, CORRELATION_MARGIN)
            .max(inflation_by_wander(&scores, 2, WANDER_MARGIN));
        ratio.powf(inflation.recip())
    }

    /// Returns a score for each day, in their order: the share of its side that is below it less the share above. A side is all days before
    /// `start`, or all others.
    fn scores_by_day(&self, start: usize) -> Vec<f64> {
        let all = self.nights.len();
        let sizes = [start as f64, (all - start) as f64];
        let (mut scores, mut below) = (vec![0.0; all], [0.0; 2]);
        for equal in self
            .nights
            .chunk_by(|one, other| is_equal_rate(one.rate, other.rate))
        {
            let side = |place: &RankedNight| usize::from(place.night >= start);
            let mut here = [0.0; 2];
            for place in equal {
                here[side(place)] += 1.0;
            }
            for place in equal {
                let side = side(place);
                scores[place.night] = (2.0 * below[side] + here[side] - sizes[side]) / sizes[side];
            }
            for side in [0, 1] {
                below[side] += here[side];
            }
        }
        scores
    }

    /// Returns the likelihood ratio averaged over the speeds and both directions. Days from `start` on are the worse ones.
    fn likelihood_ratio(&self, start: usize) -> f64 {
        let upward = sum_of_ratios(
            self.nights.iter().map(|place| place.night >= start),
            self.nights.len() - start,
            start,
        );
        let downward = sum_of_ratios(
            self.nights.iter().rev().map(|place| place.night < start),
            start,
            self.nights.len() - start,
        );
        (upward + downward) / (2 * HAZARD_RATIOS.len()) as f64
    }
}

/// Returns the sum over speeds of the likelihood ratio of an order against chance. `falls` is true for days that fall faster, of which
/// there are `fast`.
fn sum_of_ratios(falls: impl Iterator<Item = bool>, fast: usize, slow: usize) -> f64 {
    let (mut fast, mut slow) = (fast as f64, slow as f64);
    let (mut factors, mut logs) = ([1.0; HAZARD_RATIOS.len()], [0.0; HAZARD_RATIOS.len()]);
    for (step, is_fast) in falls.enumerate() {
        let all = fast + slow;
        for (factor, hazard) in factors.iter_mut().zip(HAZARD_RATIOS) {
            *factor *= (if is_fast { hazard } else { 1.0 }) * all / (hazard * fast + slow);
        }
        if is_fast {
            fast -= 1.0;
        } else {
            slow -= 1.0;
        }
        // At most 32 factors, none above a hundred thousand, stay within the range of a number.
        if step % 32 == 31 {
            for (log, factor) in logs.iter_mut().zip(&mut factors) {
                *log += factor.ln();
                *factor = 1.0;
            }
        }
    }
    logs.iter()
        .zip(factors)
        .map(|(log, factor)| (log + factor.ln()).exp().min(f64::MAX / 1e3))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(nights: usize, stream: u64) -> Vec<f64> {
        let mut random = Seed(5).replicate_stream(stream);
        (0..nights)
            .map(|_| {
                (0..12)
                    .map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX))
                    .sum::<f64>()
                    - 6.0
            })
            .collect()
    }

    #[test]
    fn one_night_against_three_by_hand() {
        // The new day is the lowest of four. From below, θ times as fast: θ · 4 / (θ + 3). From above, the three others fall θ times as
        // fast: 3θ/(3θ + 1) · 2θ/(2θ + 1) · θ/(θ + 1) · 4!/3!. Three tenths of the weight are still on later starts.
        let ratio = |hazard: f64| {
            let upward = hazard * 4.0 / (hazard + 3.0);
            let downward = 4.0
                * (3.0 * hazard / (3.0 * hazard + 1.0))
                * (2.0 * hazard / (2.0 * hazard + 1.0))
                * (hazard / (hazard + 1.0));
            upward + downward
        };
        let expected = 0.3 + 0.7 * HAZARD_RATIOS.map(ratio).iter().sum::<f64>() / 6.0;
        let got = gate_process(&[0.8, 0.9, 0.85], &[0.5], 0.05).expect("nights");
        assert!(
            (got.e_value - expected).abs() < 1e-12
                && got.alarm_at.is_none()
                && (got.baseline, got.nights) == (3, 1),
            "{got:?}"
        );
    }

    /// Over all orders of the days the mean likelihood ratio is one, as for every e-value, and no dependence that is seen adds to it.
    #[test]
    fn its_mean_over_all_orders_is_one() {
        fn orders(values: &mut Vec<f64>, from: usize, sum: &mut (f64, f64, u32)) {
            if from == values.len() {
                let e = gate_process(&values[..2], &values[2..], 0.05)
                    .expect("nights")
                    .e_value;
                let mut order = RateOrder::new(0);
                for rate in values.iter() {
                    order.insert(*rate);
                }
                *sum = (sum.0 + order.likelihood_ratio(2), sum.1 + e, sum.2 + 1);
            }
            for at in from..values.len() {
                values.swap(from, at);
                orders(values, from + 1, sum);
                values.swap(from, at);
            }
        }
        let mut sum = (0.0, 0.0, 0);
        orders(&mut vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0, &mut sum);
        assert_eq!(sum.2, 720);
        assert!((sum.0 / 720.0 - 1.0).abs() < 1e-9, "{sum:?}");
        assert!(sum.1 / 720.0 <= 1.0, "{sum:?}");
    }

    #[test]
    fn scores_by_day_are_of_each_side() {
        let mut order = RateOrder::new(0);
        for rate in [0.2, 0.4, 0.4, 0.9, 0.1, 0.5] {
            order.insert(rate);
        }
        let scores = order.scores_by_day(3);
        let wanted = [-2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0, 0.0];
        for (got, wanted) in scores.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-12, "{scores:?}");
        }
    }

    /// Nothing changes in 60 days after 7, and each day resembles the one before. Without the correction 28 and 60 of 100 such series have an
    /// alarm.
    #[test]
    fn days_that_resemble_their_neighbours_raise_no_alarm() {
        for (correlation, most) in [(0.5_f64, 10), (0.8, 12)] {
            let alarms = (0..100).filter(|&stream| {
                let mut day = 0.0;
                let days: Vec<f64> = noise(67, 300 + stream)
                    .into_iter()
                    .map(|noise| {
                        day = correlation * day + (1.0 - correlation * correlation).sqrt() * noise;
                        day
                    })
                    .collect();
                gate_process(&days[..7], &days[7..], 0.05)
                    .expect("nights")
                    .alarm_at
                    .is_some()
            });
            let alarms = alarms.count();
            assert!(alarms <= most, "{alarms} of 100 at {correlation}");
        }
    }

    #[test]
    fn a_drop_is_found_now_and_later_and_nothing_else_is() {
        let steps = |nights: &[(usize, f64)]| -> Vec<f64> {
            let levels = nights
                .iter()
                .flat_map(|(nights, level)| std::iter::repeat_n(*level, *nights));
            levels
                .zip(noise(100, 3))
                .map(|(level, noise)| level + noise)
                .collect()
        };
        let alarm = |baseline, head: &[(usize, f64)]| {
            let nights = steps(&[&[(baseline, 0.0)], head].concat());
            gate_process(&nights[..baseline], &nights[baseline..], 0.05)
                .expect("nights")
                .alarm_at
        };
        assert!(alarm(7, &[(10, -4.0)]).is_some_and(|night| night <= 6));
        assert!(alarm(7, &[(49, 0.0), (14, -4.0)]).is_some_and(|night| (50..=60).contains(&night)));
        assert_eq!(
            (alarm(7, &[(60, 0.0)]), alarm(7, &[(30, 4.0)])),
            (None, None)
        );
        let alarms = (0..100).filter(|&stream| {
            let nights = noise(90, 100 + stream);
            gate_process(&nights[..7], &nights[7..], 0.05)
                .expect("nights")
                .alarm_at
                .is_some()
        });
        assert!(alarms.count() <= 8);
    }

    /// Days that never vary are in any order with equal probability, and a day lower than all of them is the lowest.
    #[test]
    fn equal_nights_raise_no_alarm() {
        assert_eq!(
            gate_process(&[1.0; 5], &[1.0; 60], 0.05)
                .expect("nights")
                .alarm_at,
            None
        );
        assert_eq!(
            gate_process(&[0.9; 8], &[1.0; 60], 0.05)
                .expect("nights")
                .alarm_at,
            None
        );
        let found = gate_process(&[1.0; 8], &[0.99; 5], 0.05).expect("nights");
        assert_eq!(found.alarm_at, least_nights(8, 0.05).ok());
        let rounded = [0.1 + 0.2, 0.3, 0.3];
        assert_eq!(
            gate_process(&rounded, &rounded, 0.05),
            gate_process(&[0.3; 3], &[0.3; 3], 0.05)
        );
    }

    #[test]
    fn what_has_no_answer() {
        assert_eq!(gate_process(&[], &[1.0], 0.05), Err(Undefined::NoData));
        assert_eq!(gate_process(&[1.0], &[], 0.05), Err(Undefined::NoData));
        assert_eq!(
            gate_process(&[1.0], &[f64::NAN], 0.05),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            gate_process(&[1.0], &[1.0], 1.0),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(least_nights(0, 0.05), Err(Undefined::OutOfRange));
        assert!(least_nights(30, 0.05) <= least_nights(3, 0.05));
        // Numbers of days that need logarithms.
        let many = gate_process(&[1.0; 40], &[0.5; 500], 0.05).expect("nights");
        assert!(many.e_value.is_finite() && many.e_value > 1e50);
    }

    proptest::proptest! {
        #[test]
        fn only_the_order_of_the_rates_matters(rates in proptest::collection::vec(0u8..20, 4..40), baseline in 1usize..4) {
            let of = |scale: f64, shift: f64| {
                let rates: Vec<f64> = rates.iter().map(|rate| f64::from(*rate) * scale + shift).collect();
                gate_process(&rates[..baseline], &rates[baseline..], 0.05).expect("nights")
            };
            proptest::prop_assert_eq!(of(1.0, 0.0), of(0.5, 3.0));
        }
    }
}
