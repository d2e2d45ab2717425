//! The place in an ordered series at which a pass rate fell, found with few trials although outcomes vary.

use statrs::function::beta::ln_beta;

use super::Undefined;
use super::mean::compensated_sum;

/// Prior of the pass rate before the fall: most trials pass. Shapes of a beta distribution.
const BEFORE: (f64, f64) = (4.0, 0.4);
/// Prior of the pass rate since the fall (Jeffreys).
const SINCE: (f64, f64) = (0.5, 0.5);

/// Passed and failed trials at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceTally {
    pub passed: u64,
    pub failed: u64,
}

/// What the trials so far say of where the rate fell.
#[derive(Clone, Debug, PartialEq)]
pub struct FallSearch {
    /// The posterior probability of each place from the second on that it is the first with the lower rate. They add up to 1.
    pub posterior: Vec<f64>,
    /// Index, among all places, of the likeliest first place with the lower rate.
    pub likeliest: usize,
    /// By place: how much one more trial there is expected to tell about the first place with the lower rate, in nats.
    gains: Vec<f64>,
    /// The mean posterior pass rates before the likeliest place and from it on.
    pub rates: (f64, f64),
    /// The posterior probability that the rate did not fall at all, at equal odds before the first trial.
    pub no_fall: f64,
}

impl FallSearch {
    /// Computes the posterior of the first place with the lower rate, from the trials at all places in their order. All places from the second
    /// on are equally likely beforehand. Each side has one rate with a beta prior, so trials anywhere tell about both rates.
    ///
    /// The next trial is that with the largest mutual information between its outcome and the place (Lindley 1956), which becomes ordinary
    /// bisection if outcomes never vary. Undefined with fewer than two places.
    pub fn from_trials(trials: &[PlaceTally]) -> Result<Self, Undefined> {
        if trials.len() < 2 {
            return Err(Undefined::NoData);
        }
        let all = trials.iter().fold((0.0, 0.0), |sum, counts| {
            (sum.0 + counts.passed as f64, sum.1 + counts.failed as f64)
        });
        // Counts before each place from the second on.
        let before: Vec<(f64, f64)> = trials[..trials.len() - 1]
            .iter()
            .scan((0.0, 0.0), |sum, counts| {
                sum.0 += counts.passed as f64;
                sum.1 += counts.failed as f64;
                Some(*sum)
            })
            .collect();
        let evidence = |(a, b): (f64, f64), (passed, failed): (f64, f64)| {
            ln_beta(a + passed, b + failed) - ln_beta(a, b)
        };
        let logs: Vec<f64> = before
            .iter()
            .map(|side| evidence(BEFORE, *side) + evidence(SINCE, (all.0 - side.0, all.1 - side.1)))
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let total = compensated_sum(weights.iter().copied());
        let posterior: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mean_fall = most + (total / posterior.len() as f64).ln();
        let no_fall = 1.0 / (1.0 + (mean_fall - evidence(BEFORE, all)).exp());
        let mean = |(a, b): (f64, f64), (passed, failed): (f64, f64)| {
            (a + passed) / (a + b + passed + failed)
        };
        let rates: Vec<(f64, f64)> = before
            .iter()
            .map(|side| {
                (
                    mean(BEFORE, *side),
                    mean(SINCE, (all.0 - side.0, all.1 - side.1)),
                )
            })
            .collect();
        let likeliest = first_largest(posterior.iter().copied());
        Ok(Self {
            likeliest: likeliest + 1,
            gains: expected_gains(&posterior, &rates),
            rates: rates[likeliest],
            posterior,
            no_fall,
        })
    }

    /// Returns the index of the allowed place at which one more trial is expected to tell the most. `None` if none is allowed.
    pub fn next_among(&self, is_allowed: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.gains.len())
            .filter(|place| is_allowed(*place))
            .fold(None, |best: Option<usize>, place| match best {
                Some(best) if self.gains[best] >= self.gains[place] => Some(best),
                _ => Some(place),
            })
    }

    /// Returns the posterior probability of the likeliest place.
    pub fn certainty(&self) -> f64 {
        self.posterior[self.likeliest - 1]
    }
}

/// Returns how much a trial at each place is expected to tell, by the posterior of the fall's place and the two pass rates if it is each.
fn expected_gains(posterior: &[f64], rates: &[(f64, f64)]) -> Vec<f64> {
    // Sums over the falls at or before a place, and over the falls after it.
    let mut since = [0.0; 2];
    let mut after = posterior
        .iter()
        .zip(rates)
        .fold([0.0; 2], |sum, (weight, (before, _))| {
            [sum[0] + weight * before, sum[1] + weight * entropy(*before)]
        });
    (0..=posterior.len())
        .map(|place| {
            if place > 0 {
                let (weight, (before, low)) = (posterior[place - 1], rates[place - 1]);
                since[0] += weight * low;
                since[1] += weight * entropy(low);
                after[0] -= weight * before;
                after[1] -= weight * entropy(before);
            }
            entropy((since[0] + after[0]).clamp(0.0, 1.0)) - since[1] - after[1]
        })
        .collect()
}

fn first_largest(numbers: impl Iterator<Item = f64>) -> usize {
    numbers
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, (place, number)| {
            if number > best.1 {
                (place, number)
            } else {
                best
            }
        })
        .0
}

/// Entropy of an outcome with this chance, in nats.
fn entropy(chance: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(chance) + term(1.0 - chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    /// Searches among `places` places with a fall at `fall`, until one has a posterior of `certainty`. Returns the place found and the number
    /// of trials.
    fn search(
        random: &mut ChaCha8Rng,
        (places, fall): (usize, usize),
        rates: (f64, f64),
        certainty: f64,
    ) -> (usize, u64) {
        let mut trials = vec![PlaceTally::default(); places];
        let mut count = 0;
        let mut go = |trials: &mut [PlaceTally], place: usize| {
            let rate = if place < fall { rates.0 } else { rates.1 };
            let chance = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            if chance < rate {
                trials[place].passed += 1;
            } else {
                trials[place].failed += 1;
            }
            count += 1;
        };
        for place in [0, places - 1, 0, places - 1] {
            go(&mut trials, place);
        }
        loop {
            let found = FallSearch::from_trials(&trials).expect("places");
            if found.certainty() >= certainty {
                return (found.likeliest, count);
            }
            let next = found.next_among(|_| true).expect("a place");
            go(&mut trials, next);
        }
    }

    #[test]
    fn outcomes_that_never_vary_take_little_more_than_bisection() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for fall in [1, 2, 500, 777, 999] {
            let (found, trials) = search(&mut random, (1_000, fall), (1.0, 0.0), 0.95);
            assert_eq!(found, fall);
            assert!(trials <= 30, "{trials} trials for {fall}");
        }
    }

    #[test]
    fn a_fall_between_flaky_outcomes_is_found_in_19_of_20_searches() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut right = 0;
        for number in 0..100 {
            let fall = 1 + (number * 37) % 99;
            let (found, trials) = search(&mut random, (100, fall), (0.95, 0.3), 0.95);
            right += usize::from(found == fall);
            assert!(trials < 400, "{trials}");
        }
        assert!(right >= 92, "{right} of 100");
    }

    #[test]
    fn from_trials_has_the_posterior_of_its_closed_form() {
        let counts = |passed, failed| PlaceTally { passed, failed };
        // The fall at the second place has B(6, 0.4) B(1.5, 2.5), and at the third B(7, 0.4) B(0.5, 2.5).
        let trials = [counts(2, 0), counts(1, 0), counts(0, 2)];
        let found = FallSearch::from_trials(&trials).expect("places");
        assert!((found.posterior.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(found.likeliest, 2);
        let beta = |a: f64, b: f64| ln_beta(a, b).exp();
        let (one, two) = (
            beta(6.0, 0.4) * beta(1.5, 2.5),
            beta(7.0, 0.4) * beta(0.5, 2.5),
        );
        assert!((found.posterior[1] - two / (one + two)).abs() < 1e-12);
        assert!(
            (found.rates.0 - 7.0 / 7.4).abs() < 1e-12 && (found.rates.1 - 0.5 / 3.0).abs() < 1e-12
        );
    }

    #[test]
    fn ends_that_both_pass_have_probably_no_fall() {
        let same = |passed, failed| PlaceTally { passed, failed };
        let of = |first, last| {
            FallSearch::from_trials(&[first, same(0, 0), last])
                .expect("places")
                .no_fall
        };
        assert!(
            of(same(5, 0), same(5, 0)) > 0.75,
            "{}",
            of(same(5, 0), same(5, 0))
        );
        assert!(of(same(5, 0), same(0, 5)) < 0.01);
        assert_eq!(
            FallSearch::from_trials(&[same(1, 0)]),
            Err(Undefined::NoData)
        );
    }
}
