//! Which counts can be behind a printed rate, and which total is behind a column of them.
//!
//! GRIM, the granularity test of Brown and Heathers (2017, "The GRIM test", Social Psychological and Personality Science 8, 363–369): a
//! mean of `n` whole numbers is a multiple of 1/n, so most printed means are impossible for a small `n`.

/// A printed rate in units of its last digit: 61.7% is 617 of 1,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrintedRate {
    pub units: u64,
    pub whole: u64,
}

/// How the last printed digit was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, with ties in either direction: half up, half even, and the errors of floats.
    Nearest,
    /// Later digits were cut off.
    Down,
    Up,
}

/// The total behind a column of printed rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveredTotal {
    /// The smallest total that explains the column best. Its multiples do as well.
    pub total: u64,
    pub rounding: Rounding,
    /// Number of different rates that are counts of the total, and of all.
    pub fits: u64,
    pub rates: u64,
    /// Upper bound of the probability that any total would fit as well if the digits were arbitrary.
    pub chance: f64,
}

/// Largest total that is looked for.
const MAX_TOTAL: u64 = 50_000;
/// Largest share of rates that may misfit.
const MAX_MISFITS: f64 = 0.15;
/// A total is recovered only if chance would give one this rarely.
const MAX_CHANCE: f64 = 0.001;
/// And only if no other total that is not its multiple explains the rates nearly as well.
const MIN_ODDS: f64 = 1000.0;
const MIN_RATES: usize = 4;

impl Rounding {
    pub const ALL: [Self; 3] = [Self::Nearest, Self::Down, Self::Up];
}

impl PrintedRate {
    pub fn value(self) -> f64 {
        self.units as f64 / self.whole as f64
    }

    /// Returns whether every total has a count for the rate: nothing or everything.
    pub fn is_trivial(self) -> bool {
        self.units == 0 || self.units == self.whole
    }

    /// Returns the least and the greatest count out of `total` that are printed so. `None` if no count is, or the rate is above 1.
    pub fn possible_counts(self, total: u64, rounding: Rounding) -> Option<(u64, u64)> {
        let (units, whole, total) = (
            i128::from(self.units),
            i128::from(self.whole),
            i128::from(total),
        );
        let up = |part: i128, of: i128| -(-part).div_euclid(of);
        let (least, most) = match rounding {
            Rounding::Nearest => (
                up(2 * units * total - total, 2 * whole),
                (2 * units * total + total).div_euclid(2 * whole),
            ),
            Rounding::Down => (up(units * total, whole), up((units + 1) * total, whole) - 1),
            Rounding::Up => (
                ((units - 1) * total).div_euclid(whole) + 1,
                (units * total).div_euclid(whole),
            ),
        };
        let (least, most) = (least.max(0), most.min(total));
        Some((u64::try_from(least).ok()?, u64::try_from(most).ok()?))
            .filter(|(least, most)| total > 0 && least <= most)
    }

    /// Returns whether some count out of `total` is printed so. Faster than [`Self::possible_counts`] for totals that are tried one by one.
    fn has_possible_count(self, total: u64, rounding: Rounding) -> bool {
        const MAX_FAST_TOTAL: u64 = 1 << 30;
        let Self { units, whole } = self;
        if units == 0 || units >= whole || whole > MAX_FAST_TOTAL || total > MAX_FAST_TOTAL {
            return self.possible_counts(total, rounding).is_some();
        }
        match rounding {
            // The greatest count that is not above the rate's upper end.
            Rounding::Nearest => {
                (2 * units + 1) * total / (2 * whole) * 2 * whole + total >= 2 * units * total
            }
            Rounding::Down => (units * total).div_ceil(whole) * whole < (units + 1) * total,
            Rounding::Up => units * total / whole * whole > (units - 1) * total,
        }
    }

    /// Returns the counts just below and above the rate, and how they are printed.
    pub fn neighbouring_counts(self, total: u64, rounding: Rounding) -> [(u64, Self); 2] {
        let count = (u128::from(self.units) * u128::from(total) / u128::from(self.whole))
            .min(u128::from(total.saturating_sub(1)));
        let below = u64::try_from(count).unwrap_or(0);
        [below, below + 1]
            .map(|count| (count, Self::from_count(count, total, self.whole, rounding)))
    }

    /// Returns how a count is printed. Ties go up.
    pub fn from_count(count: u64, total: u64, whole: u64, rounding: Rounding) -> Self {
        let (count, total, wide) = (
            u128::from(count),
            u128::from(total.max(1)),
            u128::from(whole),
        );
        let units = match rounding {
            Rounding::Nearest => (2 * count * wide + total) / (2 * total),
            Rounding::Down => count * wide / total,
            Rounding::Up => (count * wide).div_ceil(total),
        };
        Self {
            units: u64::try_from(units).unwrap_or(u64::MAX),
            whole,
        }
    }
}

fn is_power_of_ten(total: u64) -> bool {
    10_u64.checked_pow(total.ilog10()) == Some(total)
}

/// Returns the share of printable rates that are counts of `total`: the probability that arbitrary digits fit by chance.
pub fn possible_share(total: u64, whole: u64, rounding: Rounding) -> f64 {
    if total >= whole {
        return 1.0;
    }
    // A tie makes two rates possible. k/n is one where 2kW is an odd multiple of n.
    let divisor = greatest_divisor(2 * whole, total);
    let has_ties = rounding == Rounding::Nearest && (2 * whole / divisor) % 2 == 1;
    let ties = if has_ties { divisor as f64 / 2.0 } else { 0.0 };
    ((total as f64 + 1.0 + ties) / (whole as f64 + 1.0)).min(1.0)
}

fn greatest_divisor(left: u64, right: u64) -> u64 {
    if right == 0 {
        left
    } else {
        greatest_divisor(right, left % right)
    }
}

/// Returns the probability that at least `fits` of `trials` fit, each with the probability `share`.
pub fn upper_tail(fits: u64, trials: u64, share: f64) -> f64 {
    if fits == 0 || share >= 1.0 {
        return 1.0;
    }
    let (log_fit, log_miss) = (share.ln(), (-share).ln_1p());
    let mut log_ways = 0.0;
    let mut sum = 0.0;
    // From all fits downwards: the number of ways to choose the misfits.
    for misfits in 0..=trials.saturating_sub(fits) {
        if misfits > 0 {
            log_ways += ((trials - misfits + 1) as f64 / misfits as f64).ln();
        }
        sum += (log_ways + (trials - misfits) as f64 * log_fit + misfits as f64 * log_miss).exp();
    }
    sum.min(1.0)
}

/// Recovers the total behind rates with the same number of digits, of which a few may be wrong. `None` if the digits do not tell: too few
/// different rates, or a total that could give any.
pub fn recover_total(rates: &[PrintedRate]) -> Option<RecoveredTotal> {
    let mut rates: Vec<PrintedRate> = rates
        .iter()
        .copied()
        .filter(|rate| !rate.is_trivial() && rate.units < rate.whole)
        .collect();
    rates.sort_unstable();
    rates.dedup();
    let whole = rates.first()?.whole;
    if rates.len() < MIN_RATES || rates.iter().any(|rate| rate.whole != whole) {
        return None;
    }
    // Spread the rates over the column, so that the first few refuse most totals.
    let all = rates.len() as u64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    let most_misfits = (all as f64 * MAX_MISFITS) as u64;
    let candidates = whole.min(MAX_TOTAL);
    let chance_of = |single: f64| single * candidates as f64 * Rounding::ALL.len() as f64;
    let mut found: Vec<RecoveredTotal> = Vec::new();
    for rounding in Rounding::ALL {
        // Fewer digits than are printed look like a total of 10, 100 or 1,000.
        for total in (2..candidates).filter(|total| !is_power_of_ten(*total)) {
            // Even if all rates fit, chance may give as many.
            let share = possible_share(total, whole, rounding);
            if chance_of(upper_tail(all, all, share)) >= MAX_CHANCE * MIN_ODDS {
                continue;
            }
            let mut misfits = 0;
            for rate in &rates {
                misfits += u64::from(!rate.has_possible_count(total, rounding));
                if misfits > most_misfits {
                    break;
                }
            }
            if misfits <= most_misfits {
                let fits = all - misfits;
                let chance = chance_of(upper_tail(fits, all, share));
                found.push(RecoveredTotal {
                    total,
                    rounding,
                    fits,
                    rates: all,
                    chance,
                });
            }
        }
    }
    found.sort_by(|left, right| left.chance.total_cmp(&right.chance));
    let best = *found.first().filter(|best| best.chance < MAX_CHANCE)?;
    // A multiple fits too, for its own reason. So may the same total with another rounding.
    let is_rival = |other: &&RecoveredTotal| {
        !other.total.is_multiple_of(best.total) && other.chance < best.chance * MIN_ODDS
    };
    found.iter().find(is_rival).is_none().then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(units: u64) -> PrintedRate {
        PrintedRate { units, whole: 1000 }
    }

    #[test]
    fn counts_behind_a_rate_are_those_that_round_to_it() {
        for total in 1..=60_u64 {
            for rounding in Rounding::ALL {
                for units in 0..=100 {
                    let rate = PrintedRate { units, whole: 100 };
                    let is_printed = |count: &u64| {
                        let exact = *count as f64 * 100.0 / total as f64;
                        let close = |value: f64| (value - units as f64).abs() < 1e-9;
                        match rounding {
                            Rounding::Nearest => (exact - units as f64).abs() <= 0.5 + 1e-9,
                            Rounding::Down => close((exact + 1e-9).floor()),
                            Rounding::Up => close((exact - 1e-9).ceil()),
                        }
                    };
                    let found: Vec<u64> = (0..=total).filter(is_printed).collect();
                    let expected = found.first().copied().zip(found.last().copied());
                    assert_eq!(
                        rate.possible_counts(total, rounding),
                        expected,
                        "{units} of {total} {rounding:?}"
                    );
                    assert_eq!(
                        rate.has_possible_count(total, rounding),
                        expected.is_some(),
                        "{units} of {total} {rounding:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn published_examples_of_the_test_hold() {
        // Brown and Heathers (2017): a mean of 5.19 of 28 whole numbers is impossible, and 5.18 and 5.21 are 145/28 and 146/28.
        let mean = |units, total| {
            PrintedRate { units, whole: 100 }.possible_counts(total, Rounding::Nearest)
        };
        assert_eq!(
            [mean(18, 28), mean(19, 28), mean(21, 28)],
            [Some((5, 5)), None, Some((6, 6))]
        );
    }

    #[test]
    fn neighbours_are_the_nearest_possible_rates() {
        // 61.7% of 224: 138 is 61.6%, 139 is 62.1%.
        assert_eq!(percent(617).possible_counts(224, Rounding::Nearest), None);
        assert_eq!(
            percent(617).neighbouring_counts(224, Rounding::Nearest),
            [(138, percent(616)), (139, percent(621))]
        );
        assert_eq!(
            percent(618).possible_counts(225, Rounding::Nearest),
            Some((139, 139))
        );
        assert_eq!(
            percent(1000).neighbouring_counts(3, Rounding::Nearest)[1],
            (3, percent(1000))
        );
    }

    #[test]
    fn tails_are_those_of_the_binomial() {
        for (fits, trials, share, expected) in [
            (3, 3, 0.5, 0.125),
            (2, 3, 0.5, 0.5),
            (8, 10, 0.25, 0.000_415_802_001_953_125),
            (0, 5, 0.1, 1.0),
        ] {
            let found = upper_tail(fits, trials, share);
            assert!(
                (found - expected).abs() < 1e-12,
                "{fits} {trials} {share}: {found}"
            );
        }
    }

    #[test]
    fn shares_count_the_possible_rates() {
        for whole in [100, 1000] {
            for total in [1, 7, 8, 16, 40, 80, 99, 164, 400, 541] {
                for rounding in Rounding::ALL {
                    let is_possible = |units: &u64| {
                        PrintedRate {
                            units: *units,
                            whole,
                        }
                        .possible_counts(total, rounding)
                        .is_some()
                    };
                    let exact = (0..=whole).filter(is_possible).count() as f64 / (whole + 1) as f64;
                    let found = possible_share(total, whole, rounding);
                    assert!(
                        (exact - found).abs() < 1.5 / whole as f64,
                        "{total} of {whole} {rounding:?}: {found} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn totals_are_recovered_or_left_open() {
        let printed = |counts: &[u64], total: u64, whole| -> Vec<PrintedRate> {
            counts
                .iter()
                .map(|count| PrintedRate::from_count(*count, total, whole, Rounding::Nearest))
                .collect()
        };
        let counts = [431, 398, 402, 377, 455, 290, 311, 120];
        let found =
            recover_total(&printed(&counts, 541, 10_000)).expect("two decimals of 541 tell");
        assert_eq!((found.total, found.fits, found.rates), (541, 8, 8));
        let mut one_wrong = printed(&counts, 541, 10_000);
        one_wrong[3].units += 5;
        let found = recover_total(&one_wrong).expect("one of eight may be wrong");
        assert_eq!((found.total, found.fits), (541, 7));
        assert_eq!(
            recover_total(&printed(&counts, 541, 1000)),
            None,
            "one decimal of eight rates does not tell 541"
        );
        assert_eq!(
            recover_total(&printed(&counts, 12_032, 10_000)),
            None,
            "every rate is possible"
        );
        let fewer_digits =
            [120, 310, 450, 670, 880, 910].map(|units| PrintedRate { units, whole: 1000 });
        assert_eq!(
            recover_total(&fewer_digits),
            None,
            "whole percents look like a total of 100"
        );
        assert_eq!(recover_total(&[]), None);
    }
}
