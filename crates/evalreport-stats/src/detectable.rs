//! The smallest difference that a design can detect, by inverting the deciding test itself, and the sample size for a given difference.
//!
//! Formulas from normal quantiles are too optimistic for discrete tests and for few clusters. Instead, the power of the deciding test is
//! computed (by binomial sums, the noncentral t distribution, or the test itself on seeded draws), and the difference is sought that has
//! the requested power. A difference counts as detected if p is below alpha and the sign is right. For a family, pass alpha divided by the
//! number of pairs: Holm's strictest level.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::distribution::FairCoin;
use super::exact::{Resampling, fisher_exact, sign_flip};
use super::power::{Aim, ArmRunsSummary, n_mcnemar, n_welch, round_up_units};
use super::{Undefined, normal_quantile, t_quantile};

/// The smallest difference that a design detects with the requested power.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detectable {
    /// A difference above zero, in the unit of the question.
    Difference(f64),
    /// Not even the largest possible difference has the requested power.
    Unreachable {
        /// The smallest p-value that the design can give. If it is at least alpha, no data can ever name a winner.
        smallest_p: f64,
    },
}

/// Expected number of discordant pairs up to which McNemar's power is summed exactly. Beyond it the normal approximation, with a correction
/// for whole counts, is accurate to a few thousandths.
const MAX_SUMMED_PAIRS: f64 = 2_000.0;

/// Returns the power of McNemar's exact test to detect a difference `delta` of two shares over `n` pairs, of which a share `discordant`
/// differ.
///
/// The number of discordant pairs is binomial, and so is the number of those that the better arm passed (Duffy 1984 has the same double
/// sum). If the difference exceeds the discordant share, the better arm passes all discordant pairs.
pub fn power_mcnemar(n: u64, discordant: f64, delta: f64, alpha: f64) -> Result<f64, Undefined> {
    check_proportion(discordant)?;
    check_proportion(delta)?;
    let discordant = discordant.max(delta);
    if n == 0 {
        return Err(Undefined::NoData);
    }
    if discordant <= 0.0 {
        return Ok(0.0);
    }
    if n as f64 * discordant > MAX_SUMMED_PAIRS {
        let z = normal_quantile(1.0 - alpha / 2.0)?;
        let n = n as f64;
        let distance = n * delta - z * (n * discordant).sqrt() - 1.0;
        return Ok(
            Normal::standard().cdf(distance / (n * (discordant - delta * delta)).max(1.0).sqrt())
        );
    }
    let better = 0.5 + 0.5 * delta / discordant;
    let numbers = BinomialChances::new(n, discordant);
    let found =
        numbers
            .counts_and_chances()
            .map(|(number, chance)| match max_lost_pairs(number, alpha) {
                Some(lost) if chance > 0.0 => {
                    chance * BinomialChances::new(number, better).at_least(number - lost)
                }
                _ => 0.0,
            });
    Ok(found.sum::<f64>().min(1.0))
}

/// Returns the smallest difference of two shares over the same items that McNemar's exact test detects with the requested power, from the
/// number of items and the share on which the arms differ.
pub fn detectable_mcnemar(n: u64, discordant: f64, aim: Aim) -> Result<Detectable, Undefined> {
    check_aim(aim)?;
    let smallest_p = 2.0 * 0.5_f64.powf(n as f64);
    smallest_difference(1.0, aim, smallest_p.min(1.0), |delta| {
        power_mcnemar(n, discordant, delta, aim.alpha)
    })
}

/// Returns the items that McNemar's exact test needs to detect a difference `delta` with the requested power, or `None` if more than `cap`.
pub fn pairs_needed(
    discordant: f64,
    delta: f64,
    aim: Aim,
    cap: u64,
) -> Result<Option<u64>, Undefined> {
    if !(delta > 0.0 && delta <= 1.0) {
        return Err(Undefined::OutOfRange);
    }
    check_aim(aim)?;
    check_proportion(discordant)?;
    let discordant = discordant.max(delta);
    let mut n = n_mcnemar(discordant, delta, aim)?.saturating_add(round_up_units(1.0 / delta)?);
    // The formula with the correction for whole counts (Fleiss 1981) is within a few items of the sum, which takes long for many.
    if n as f64 * discordant > MAX_SEARCHED_PAIRS {
        n = n.saturating_add(n / 100);
        return Ok((n <= cap).then_some(n));
    }
    let reaches = |n: u64| {
        Ok::<bool, Undefined>(power_mcnemar(n, discordant, delta, aim.alpha)? >= aim.power)
    };
    while n <= cap && !reaches(n)? {
        n += 1;
    }
    while n > 1 && reaches(n - 1)? {
        n -= 1;
    }
    Ok((n <= cap).then_some(n))
}

/// Expected number of discordant pairs up to which the items needed are searched one by one.
const MAX_SEARCHED_PAIRS: f64 = 300.0;

/// Returns the power of a t test with `degrees` of freedom if the true difference is `noncentrality` standard errors: the noncentral t
/// distribution, integrated over the observed spread.
pub fn power_t(noncentrality: f64, degrees: f64, alpha: f64) -> Result<f64, Undefined> {
    if !(noncentrality.is_finite() && alpha > 0.0 && alpha < 1.0) {
        return Err(Undefined::OutOfRange);
    }
    let (limit, normal) = (t_quantile(1.0 - alpha / 2.0, degrees)?, Normal::standard());
    // Let u be the logarithm of s/σ, where ν s²/σ² is χ²: density exp(ν u − ν exp(2u) / 2) without its constant, with its maximum at 0.
    let (low, high) = (
        -(9.0 / degrees.sqrt()).max(40.0 / degrees).min(60.0),
        (6.0 / degrees.sqrt()).min(3.0),
    );
    let steps = 2_000_u32;
    let (mut sum, mut found) = (0.0, 0.0);
    for step in 0..=steps {
        let u = low + (high - low) * f64::from(step) / f64::from(steps);
        let density = (degrees * (u - (2.0 * u).exp() / 2.0 + 0.5)).exp();
        sum += density;
        found += density * normal.cdf(noncentrality - limit * u.exp());
    }
    Ok(found / sum)
}

/// Returns the smallest difference that a t test detects with the requested power, from its standard error and degrees of freedom. For
/// paired items, CR1 over clusters, runs, and items over runs. Undefined if the error is not above zero.
pub fn detectable_t(standard_error: f64, degrees: f64, aim: Aim) -> Result<Detectable, Undefined> {
    check_aim(aim)?;
    if !standard_error.is_finite() {
        return Err(Undefined::NotFinite);
    }
    if standard_error <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    // The largest possible value, for a test with one degree of freedom.
    let most = 4.0 * (t_quantile(1.0 - aim.alpha / 2.0, degrees)? + 10.0) / (1.0 - aim.power);
    match smallest_difference(most, aim, 0.0, |noncentrality| {
        power_t(noncentrality, degrees, aim.alpha)
    })? {
        Detectable::Difference(noncentrality) => {
            Ok(Detectable::Difference(noncentrality * standard_error))
        }
        unreachable @ Detectable::Unreachable { .. } => Ok(unreachable),
    }
}

/// Returns the smallest difference of the means of unpaired runs that Welch's test detects with the requested power, from the runs' true
/// spread.
///
/// The test's degrees of freedom depend on the observed spreads, which seldom agree for few runs. So the power is averaged over the χ²
/// distributions of both.
pub fn detectable_welch(
    a: ArmRunsSummary,
    b: ArmRunsSummary,
    aim: Aim,
) -> Result<Detectable, Undefined> {
    check_aim(aim)?;
    let (limits, squared) = welch_limits(a, b, aim.alpha)?;
    let normal = Normal::standard();
    let power = |noncentrality: f64| {
        Ok(limits
            .iter()
            .map(|limit| normal.cdf(noncentrality - limit))
            .sum::<f64>()
            / limits.len() as f64)
    };
    let most = limits.iter().copied().fold(0.0, f64::max) + 10.0;
    match smallest_difference(most, aim, 0.0, power)? {
        Detectable::Difference(noncentrality) => {
            Ok(Detectable::Difference(noncentrality * squared.sqrt()))
        }
        unreachable @ Detectable::Unreachable { .. } => Ok(unreachable),
    }
}

/// Returns equally likely limits of Welch's test, in true standard errors of the difference, and the square of that error.
fn welch_limits(
    a: ArmRunsSummary,
    b: ArmRunsSummary,
    alpha: f64,
) -> Result<(Vec<f64>, f64), Undefined> {
    if a.n < 2 || b.n < 2 {
        return Err(Undefined::TooFew);
    }
    let parts = [a, b].map(|side| side.sd * side.sd / side.n as f64);
    let squared: f64 = parts.iter().sum();
    if !squared.is_finite() {
        return Err(Undefined::NotFinite);
    }
    if squared <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    let degrees = [a, b].map(|side| (side.n - 1) as f64);
    let [first, second] = [
        variance_quantiles(degrees[0])?,
        variance_quantiles(degrees[1])?,
    ];
    // For each pair of observed spreads: the required difference in true standard errors.
    let mut limits = Vec::with_capacity(first.len() * second.len());
    for one in &first {
        for other in &second {
            let (of_a, of_b) = (parts[0] / squared * one, parts[1] / squared * other);
            let together = of_a + of_b;
            let own = 1.0
                / ((of_a / together).powi(2) / degrees[0] + (of_b / together).powi(2) / degrees[1]);
            limits.push(t_quantile(1.0 - alpha / 2.0, own)? * together.sqrt());
        }
    }
    Ok((limits, squared))
}

/// Returns the power of Welch's test, in the right direction, to find a difference of the means of unpaired runs, from the runs' true spread.
///
/// Averaged over the observed spreads as in [`detectable_welch`].
pub fn power_welch(
    a: ArmRunsSummary,
    b: ArmRunsSummary,
    delta: f64,
    alpha: f64,
) -> Result<f64, Undefined> {
    let (limits, squared) = welch_limits(a, b, alpha)?;
    let (normal, noncentrality) = (Normal::standard(), delta / squared.sqrt());
    Ok(limits
        .iter()
        .map(|limit| normal.cdf(noncentrality - limit))
        .sum::<f64>()
        / limits.len() as f64)
}

/// Returns the runs of each arm that Welch's test needs to find a difference of `delta`, from the arms' standard deviations, or `None` if more
/// than `cap`.
pub fn runs_needed(
    sds: [f64; 2],
    delta: f64,
    aim: Aim,
    cap: u64,
) -> Result<Option<u64>, Undefined> {
    check_aim(aim)?;
    // Quantiles of t with the true degrees of freedom ask for slightly too few runs, since the observed ones vary.
    let mut n = n_welch(sds[0], sds[1], delta, aim)?.max(2);
    let reaches = |n: u64| {
        Ok::<bool, Undefined>(
            power_welch(
                ArmRunsSummary { sd: sds[0], n },
                ArmRunsSummary { sd: sds[1], n },
                delta,
                aim.alpha,
            )? >= aim.power,
        )
    };
    while n <= cap && n <= MAX_SEARCHED_RUNS && !reaches(n)? {
        n += 1;
    }
    Ok((n <= cap).then_some(n))
}

/// Beyond this number of runs, the quantiles of t are as good as the power itself.
const MAX_SEARCHED_RUNS: u64 = 60;

/// Returns equally likely values of the observed variance, as shares of the true one.
fn variance_quantiles(degrees: f64) -> Result<Vec<f64>, Undefined> {
    const VARIANCE_VALUES: u32 = 24;
    let distribution = ChiSquared::new(degrees).map_err(|_| Undefined::OutOfRange)?;
    Ok((0..VARIANCE_VALUES)
        .map(|at| {
            distribution.inverse_cdf((f64::from(at) + 0.5) / f64::from(VARIANCE_VALUES)) / degrees
        })
        .collect())
}

/// Returns the units (items, clusters or runs) that a paired t test needs to detect a mean difference of `delta`, from the standard
/// deviation of the units' differences, or `None` if more than `cap`.
pub fn units_needed(sd: f64, delta: f64, aim: Aim, cap: u64) -> Result<Option<u64>, Undefined> {
    if !(sd.is_finite() && delta.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    if sd <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    if delta == 0.0 {
        return Err(Undefined::OutOfRange);
    }
    fewest_units(2, cap, aim, |n| {
        power_t(
            delta.abs() / sd * (n as f64).sqrt(),
            (n - 1) as f64,
            aim.alpha,
        )
    })
}

/// Returns the power of Fisher's exact test to separate two true shares, in the right direction: the double binomial sum.
///
/// Exact for up to 2,000 tries per arm; beyond, by the normal approximation with the correction of Casagrande, Pike and Smith (1978).
pub fn power_proportions(p1: f64, n1: u64, p2: f64, n2: u64, alpha: f64) -> Result<f64, Undefined> {
    check_proportion(p1)?;
    check_proportion(p2)?;
    if n1 == 0 || n2 == 0 {
        return Err(Undefined::NoData);
    }
    if n1.max(n2) > 2_000 {
        let (one, other) = (n1 as f64, n2 as f64);
        let pooled = (p1 * one + p2 * other) / (one + other);
        let shares = 1.0 / one + 1.0 / other;
        let needed = normal_quantile(1.0 - alpha / 2.0)?
            * (pooled * (1.0 - pooled) * shares).sqrt()
            + shares / 2.0;
        let error = (p1 * (1.0 - p1) / one + p2 * (1.0 - p2) / other).sqrt();
        return Ok(
            Normal::standard().cdf(((p1 - p2).abs() - needed) / error.max(f64::MIN_POSITIVE))
        );
    }
    // From here on the first share is the lower one. Mirrored shares are counts of failures.
    let (low, low_n, high, high_n) = if p1 <= p2 {
        (p1, n1, p2, n2)
    } else {
        (p2, n2, p1, n1)
    };
    let (first, second) = (
        BinomialChances::new(low_n, low),
        BinomialChances::new(high_n, high),
    );
    let (mut found, mut from) = (0.0, 0);
    for (passed, chance) in first.counts_and_chances() {
        // The fewest passes of the better arm that are significant grow with the passes of the other arm.
        from = from.max(passed * high_n / low_n);
        while from <= high_n && fisher_exact(passed, low_n, from, high_n)? >= alpha {
            from += 1;
        }
        if from > high_n {
            break;
        }
        found += chance * second.at_least(from);
    }
    Ok(found.min(1.0))
}

/// Returns the items of each arm that Fisher's exact test needs to separate two true shares, or `None` if more than `cap`.
pub fn items_needed(p1: f64, p2: f64, aim: Aim, cap: u64) -> Result<Option<u64>, Undefined> {
    if (p1 - p2).abs() <= 0.0 {
        return Err(Undefined::OutOfRange);
    }
    fewest_units(1, cap, aim, |n| power_proportions(p1, n, p2, n, aim.alpha))
}

/// Returns the smallest number of units, from `least` to `cap`, with the power that is aimed at, or `None` if there is none. The power grows
/// with the units.
pub fn units_for(
    least: u64,
    cap: u64,
    aim: Aim,
    power: impl Fn(u64) -> Result<f64, Undefined>,
) -> Result<Option<u64>, Undefined> {
    fewest_units(least, cap, aim, power)
}

/// Returns the smallest distance from the share `p1`, towards one half where shares vary most, that Fisher's exact test detects with the
/// requested power. For totals of tasks whose items are unknown, with one run per arm.
pub fn detectable_proportions(
    p1: f64,
    n1: u64,
    n2: u64,
    aim: Aim,
) -> Result<Detectable, Undefined> {
    check_aim(aim)?;
    check_proportion(p1)?;
    let towards = if p1 > 0.5 { -1.0 } else { 1.0 };
    let smallest_p = fisher_exact(0, n1, n2, n2)?;
    smallest_difference(p1.max(1.0 - p1), aim, smallest_p, |distance| {
        power_proportions(
            p1,
            n1,
            (p1 + towards * distance).clamp(0.0, 1.0),
            n2,
            aim.alpha,
        )
    })
}

/// The sources of the variance of paired differences over clustered items.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ClusterVariance {
    /// Variance of one item's difference inside its cluster.
    pub within: f64,
    /// Variance of the clusters' true mean differences. A negative estimate is set to zero.
    pub between: f64,
}

/// Splits the variance of differences into that inside clusters and that between clusters (one-way analysis of variance with unequal
/// groups).
///
/// Undefined for one cluster, and if every cluster has one item, because the two parts are then the same.
pub fn cluster_variance(
    differences: &[f64],
    clusters: &[u32],
) -> Result<ClusterVariance, Undefined> {
    if differences.len() != clusters.len() {
        return Err(Undefined::Unequal);
    }
    let mut rows: Vec<(u32, f64)> = clusters
        .iter()
        .copied()
        .zip(differences.iter().copied())
        .collect();
    if rows.iter().any(|row| !row.1.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    rows.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let n = rows.len() as f64;
    let mean = rows.iter().map(|row| row.1).sum::<f64>() / n;
    let (mut groups, mut inside, mut outside, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for cluster in rows.chunk_by(|one, other| one.0 == other.0) {
        let size = cluster.len() as f64;
        let own = cluster.iter().map(|row| row.1).sum::<f64>() / size;
        groups += 1.0;
        inside += cluster.iter().map(|row| (row.1 - own).powi(2)).sum::<f64>();
        outside += size * (own - mean).powi(2);
        squares += size * size;
    }
    if groups < 2.0 || n <= groups {
        return Err(Undefined::TooFew);
    }
    let within = inside / (n - groups);
    let typical = (n - squares / n) / (groups - 1.0);
    Ok(ClusterVariance {
        within,
        between: ((outside / (groups - 1.0) - within) / typical).max(0.0),
    })
}

/// Returns the power of flipping the signs of clusters' sums with a mean difference per item of `delta`, from the test itself on
/// `resampling.draws` simulated samples of normal sums. Beyond 16 clusters by the noncentral t distribution.
pub fn power_flips(
    sizes: &[u64],
    spread: ClusterVariance,
    delta: f64,
    alpha: f64,
    resampling: Resampling,
) -> Result<f64, Undefined> {
    FlipSimulation::new(sizes, spread, resampling)?.power_at(delta, alpha)
}

/// Returns the smallest mean difference per item that flipping the signs of clusters detects with the requested power, from the clusters'
/// sizes and the variance parts. G clusters give no p below 2/2ᴳ: if that is too large, no difference is detectable.
pub fn detectable_flips(
    sizes: &[u64],
    spread: ClusterVariance,
    aim: Aim,
    resampling: Resampling,
) -> Result<Detectable, Undefined> {
    check_aim(aim)?;
    let flips = FlipSimulation::new(sizes, spread, resampling)?;
    let smallest_p = 2.0 * 0.5_f64.powf(flips.sizes.len() as f64);
    if smallest_p >= aim.alpha {
        return Ok(Detectable::Unreachable { smallest_p });
    }
    // Few clusters of unequal sizes can need many standard errors, but a difference far above any spread is always detected.
    let most = 1_000.0 * flips.standard_error();
    smallest_difference(most, aim, smallest_p, |delta| {
        flips.power_at(delta, aim.alpha)
    })
}

/// Clusters whose sums are flipped, with the same simulated noise for every difference.
struct FlipSimulation {
    sizes: Vec<f64>,
    /// Standard deviations of the clusters' sums.
    spreads: Vec<f64>,
    /// By draw: standard normal values of the clusters. Empty if there are too many clusters to enumerate fast.
    noise: Vec<Vec<f64>>,
    resampling: Resampling,
}

impl FlipSimulation {
    fn new(
        sizes: &[u64],
        spread: ClusterVariance,
        resampling: Resampling,
    ) -> Result<Self, Undefined> {
        let sizes: Vec<f64> = sizes
            .iter()
            .filter(|size| **size > 0)
            .map(|size| *size as f64)
            .collect();
        if sizes.len() < 2 {
            return Err(Undefined::TooFew);
        }
        if !(spread.within >= 0.0 && spread.between >= 0.0 && resampling.draws > 0) {
            return Err(Undefined::OutOfRange);
        }
        if spread.within + spread.between <= 0.0 {
            return Err(Undefined::NoVariation);
        }
        let spreads = sizes
            .iter()
            .map(|size| (size * spread.within + size * size * spread.between).sqrt())
            .collect();
        let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
        let draws = if sizes.len() > 16 {
            0
        } else {
            resampling.draws
        };
        let noise = (0..draws)
            .map(|_| sizes.iter().map(|_| random_normal(&mut random)).collect())
            .collect();
        Ok(Self {
            sizes,
            spreads,
            noise,
            resampling,
        })
    }

    fn standard_error(&self) -> f64 {
        self.spreads
            .iter()
            .map(|spread| spread * spread)
            .sum::<f64>()
            .sqrt()
            / self.sizes.iter().sum::<f64>()
    }

    fn power_at(&self, delta: f64, alpha: f64) -> Result<f64, Undefined> {
        if self.noise.is_empty() {
            let fourth: f64 = self.spreads.iter().map(|spread| spread.powi(4)).sum();
            let second: f64 = self.spreads.iter().map(|spread| spread.powi(2)).sum();
            let degrees = (second * second / fourth - 1.0).max(1.0);
            return power_t(delta / self.standard_error(), degrees, alpha);
        }
        let mut found = 0_u32;
        for noise in &self.noise {
            let of_cluster =
                |(size, (spread, noise)): (&f64, (&f64, &f64))| size * delta + spread * noise;
            let sums: Vec<f64> = self
                .sizes
                .iter()
                .zip(self.spreads.iter().zip(noise))
                .map(of_cluster)
                .collect();
            found += u32::from(
                sums.iter().sum::<f64>() > 0.0 && sign_flip(&sums, self.resampling)?.p < alpha,
            );
        }
        Ok(f64::from(found) / self.noise.len() as f64)
    }
}

/// Returns a standard normal value, as the quantile at a uniform value.
fn random_normal(random: &mut ChaCha8Rng) -> f64 {
    let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    Normal::standard().inverse_cdf(uniform)
}

/// Returns the smallest difference up to `most` with the requested power. The power must grow with the difference.
fn smallest_difference(
    most: f64,
    aim: Aim,
    smallest_p: f64,
    power: impl Fn(f64) -> Result<f64, Undefined>,
) -> Result<Detectable, Undefined> {
    if smallest_p >= aim.alpha || power(most)? < aim.power {
        return Ok(Detectable::Unreachable { smallest_p });
    }
    let (mut short, mut enough) = (0.0, most);
    // Four digits are enough for planning.
    while enough - short > 1e-4 * enough {
        let middle = if short == 0.0 && enough > 1e-9 * most {
            enough / 4.0
        } else {
            f64::midpoint(short, enough)
        };
        if power(middle)? >= aim.power {
            enough = middle;
        } else {
            short = middle;
        }
    }
    Ok(Detectable::Difference(enough))
}

/// Returns the fewest units from `least` to `cap` with the requested power, by bisection. The power of discrete tests dips at some numbers,
/// so a smaller number may do, but the result itself has the requested power.
fn fewest_units(
    least: u64,
    cap: u64,
    aim: Aim,
    power: impl Fn(u64) -> Result<f64, Undefined>,
) -> Result<Option<u64>, Undefined> {
    check_aim(aim)?;
    let reaches = |n: u64| Ok::<bool, Undefined>(power(n)? >= aim.power);
    if cap < least {
        return Ok(None);
    }
    let mut enough = least;
    while !reaches(enough)? {
        if enough >= cap {
            return Ok(None);
        }
        enough = enough.saturating_mul(2).min(cap);
    }
    let mut short = if enough == least {
        return Ok(Some(least));
    } else {
        (enough / 2).max(least)
    };
    while enough - short > 1 {
        let middle = short.midpoint(enough);
        if reaches(middle)? {
            enough = middle;
        } else {
            short = middle;
        }
    }
    Ok(Some(enough))
}

/// Returns the most of `number` discordant pairs that the better arm may lose while the exact p stays below `alpha`.
fn max_lost_pairs(number: u64, alpha: f64) -> Option<u64> {
    let coin = FairCoin::new(number);
    let (mut lost, mut beyond) = (None, number / 2 + 1);
    // Bisects over the counts, because the tail grows with them.
    let mut from = 0;
    while from < beyond {
        let middle = from.midpoint(beyond);
        if 2.0 * coin.at_most(middle) < alpha {
            lost = Some(middle);
            from = middle + 1;
        } else {
            beyond = middle;
        }
    }
    lost
}

fn check_proportion(p: f64) -> Result<(), Undefined> {
    if (0.0..=1.0).contains(&p) {
        Ok(())
    } else {
        Err(Undefined::OutOfRange)
    }
}

fn check_aim(aim: Aim) -> Result<(), Undefined> {
    let open = |share: f64| share > 0.0 && share < 1.0;
    if open(aim.alpha) && open(aim.power) {
        Ok(())
    } else {
        Err(Undefined::OutOfRange)
    }
}

/// The probabilities of counts, without negligible ones.
struct BinomialChances {
    first: u64,
    chances: Vec<f64>,
}

impl BinomialChances {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the most likely count lies between 0 and the total"
    )]
    fn new(n: u64, p: f64) -> Self {
        /// A probability, relative to the largest, that is negligible.
        const NEGLIGIBLE_CHANCE: f64 = 1e-14;
        if p <= 0.0 || p >= 1.0 {
            return Self {
                first: if p <= 0.0 { 0 } else { n },
                chances: vec![1.0],
            };
        }
        let mode = (((n + 1) as f64 * p) as u64).min(n);
        let odds = p / (1.0 - p);
        let (mut chances, mut first, mut weight) = (Vec::new(), mode, 1.0);
        while first > 0 && weight > NEGLIGIBLE_CHANCE {
            weight *= first as f64 / (n - first + 1) as f64 / odds;
            first -= 1;
            chances.push(weight);
        }
        chances.reverse();
        chances.push(1.0);
        weight = 1.0;
        let mut count = mode;
        while count < n && weight > NEGLIGIBLE_CHANCE {
            count += 1;
            weight *= (n - count + 1) as f64 / count as f64 * odds;
            chances.push(weight);
        }
        let sum: f64 = chances.iter().sum();
        for chance in &mut chances {
            *chance /= sum;
        }
        Self { first, chances }
    }

    fn counts_and_chances(&self) -> impl Iterator<Item = (u64, f64)> {
        (self.first..).zip(self.chances.iter().copied())
    }

    fn at_least(&self, count: u64) -> f64 {
        self.counts_and_chances()
            .filter(|(of, _)| *of >= count)
            .map(|(_, chance)| chance)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Aim = Aim {
        alpha: 0.05,
        power: 0.8,
    };
    const DRAWS: Resampling = Resampling {
        seed: 7,
        draws: 400,
    };

    fn difference(got: Result<Detectable, Undefined>) -> f64 {
        match got {
            Ok(Detectable::Difference(difference)) => difference,
            other => panic!("no difference: {other:?}"),
        }
    }

    #[test]
    fn noncentral_t_of_the_textbooks() {
        // Power of a paired t test at effect size 0.5: 34 pairs for 80 % (Cohen 1988; G*Power gives .8077), .7935 at 33 pairs.
        let power = |n: f64| power_t(0.5 * n.sqrt(), n - 1.0, 0.05).expect("a test");
        assert!(
            (power(34.0) - 0.8078).abs() < 5e-4 && power(33.0) < 0.8,
            "{} {}",
            power(34.0),
            power(33.0)
        );
        assert_eq!(units_needed(1.0, 0.5, USUAL, 1_000), Ok(Some(34)));
        assert_eq!(units_needed(1.0, 0.01, USUAL, 1_000), Ok(None));
        // Without a true difference, half of alpha is in the right direction.
        for degrees in [1.0, 2.0, 5.5, 30.0, 1e6] {
            let level = power_t(0.0, degrees, 0.05).expect("a test");
            assert!((level - 0.025).abs() < 2e-5, "{degrees}: {level}");
        }
        // Many degrees: (1.959964 + 0.841621) standard errors.
        assert!((difference(detectable_t(2.0, 1e7, USUAL)) / 2.0 - 2.801_585).abs() < 1e-3);
        assert_eq!(detectable_t(0.0, 5.0, USUAL), Err(Undefined::NoVariation));
        let side = ArmRunsSummary { sd: 1.0, n: 3 };
        // Three runs per arm: between the values for four and for two degrees of freedom. One constant arm: n − 1.
        let welch = difference(detectable_welch(side, side, USUAL)) / (2.0f64 / 3.0).sqrt();
        let by_t = |degrees| difference(detectable_t(1.0, degrees, USUAL));
        assert!(welch > by_t(4.0) && welch < by_t(2.0), "{welch}");
        let constant = difference(detectable_welch(
            ArmRunsSummary { sd: 2.0, n: 16 },
            ArmRunsSummary { sd: 0.0, n: 4 },
            USUAL,
        ));
        assert!(
            (constant / 0.5 / by_t(15.0) - 1.0).abs() < 0.01,
            "{constant}"
        );
        assert_eq!(
            detectable_welch(ArmRunsSummary { sd: 1.0, n: 1 }, side, USUAL),
            Err(Undefined::TooFew)
        );
    }

    #[test]
    fn mcnemar_by_hand() {
        // Six pairs that all differ: p < 0.05 only if one arm passes all six, with probability share^6.
        let power = power_mcnemar(6, 1.0, 0.8, 0.05).expect("pairs");
        assert!((power - 0.9f64.powi(6)).abs() < 1e-12);
        // Seven pairs of which half differ: six or seven of them, all in one direction.
        let power = power_mcnemar(7, 0.5, 0.5, 0.05).expect("pairs");
        assert!((power - 8.0 / 128.0).abs() < 1e-12);
        assert_eq!(
            detectable_mcnemar(5, 0.5, USUAL),
            Ok(Detectable::Unreachable { smallest_p: 0.0625 })
        );
        assert_eq!(power_mcnemar(10, 0.0, 0.0, 0.05), Ok(0.0));
        let found = difference(detectable_mcnemar(200, 0.2, USUAL));
        assert!(
            (power_mcnemar(200, 0.2, found, 0.05).expect("pairs") - 0.8).abs() < 2e-3
                && found > 0.08
                && found < 0.11,
            "{found}"
        );
        // At the border between sums and approximation.
        let (below, above) = (
            power_mcnemar(9_999, 0.2, 0.0125, 0.05).expect("pairs"),
            power_mcnemar(10_001, 0.2, 0.0125, 0.05).expect("pairs"),
        );
        assert!(
            (below - above).abs() < 4e-3 && below > 0.7,
            "{below} {above}"
        );
        let n = pairs_needed(0.2, 0.125, USUAL, 100_000)
            .expect("a plan")
            .expect("below the cap");
        assert!(
            (100..115).contains(&n) && power_mcnemar(n, 0.2, 0.125, 0.05).expect("pairs") >= 0.8,
            "{n}"
        );
        assert_eq!(pairs_needed(0.2, 0.001, USUAL, 1_000), Ok(None));
        assert_eq!(
            pairs_needed(0.2, 0.0, USUAL, 1_000),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn proportions_by_hand() {
        // 3 of 3 against 0 of 3 has p = 0.1: never below alpha.
        let never = detectable_proportions(0.5, 3, 3, USUAL).expect("tasks");
        assert!(
            matches!(never, Detectable::Unreachable { smallest_p } if (smallest_p - 0.1).abs() < 1e-12),
            "{never:?}"
        );
        // With four tasks each, only 4 against 0 is significant: p = 2/70.
        let power = power_proportions(0.1, 4, 0.8, 4, 0.05).expect("tasks");
        assert!((power - (0.9f64 * 0.8).powi(4)).abs() < 1e-9, "{power}");
        // Every table of 17 and 23 tasks, one by one.
        let (first, second) = (BinomialChances::new(17, 0.3), BinomialChances::new(23, 0.7));
        let tables = first
            .counts_and_chances()
            .flat_map(|one| second.counts_and_chances().map(move |other| (one, other)));
        let apart = tables.filter(|((one, _), (other, _))| {
            other * 17 > one * 23 && fisher_exact(*one, 17, *other, 23).expect("tasks") < 0.05
        });
        let expected: f64 = apart.map(|((_, one), (_, other))| one * other).sum();
        let power = power_proportions(0.3, 17, 0.7, 23, 0.05).expect("tasks");
        assert!(
            (power - expected).abs() < 1e-12 && power > 0.5,
            "{power} {expected}"
        );
        let power = power_proportions(0.3, 103, 0.5, 103, 0.05).expect("tasks");
        assert!(
            (power - power_proportions(0.5, 103, 0.3, 103, 0.05).expect("tasks")).abs() < 1e-12
        );
        let (below, above) = (
            power_proportions(0.5, 2_000, 0.54, 2_000, 0.05),
            power_proportions(0.5, 2_001, 0.54, 2_001, 0.05),
        );
        assert!(
            (below.expect("tasks") - above.expect("tasks")).abs() < 5e-3,
            "{below:?} {above:?}"
        );
        assert_eq!(
            power_proportions(0.5, 0, 0.5, 3, 0.05),
            Err(Undefined::NoData)
        );
    }

    #[test]
    fn clusters() {
        let spread =
            cluster_variance(&[1.0, 3.0, 5.0, 7.0], &[4, 4, 9, 9]).expect("two clusters of two");
        // Inside 2 + 2 over 2; between 2·(2² + 2²) = 16 over 1, (16 − 2) / 2.
        assert!((spread.within - 2.0).abs() < 1e-12 && (spread.between - 7.0).abs() < 1e-12);
        assert_eq!(
            cluster_variance(&[1.0, 2.0], &[1, 2]),
            Err(Undefined::TooFew)
        );
        let spread = ClusterVariance {
            within: 0.2,
            between: 0.01,
        };
        assert_eq!(
            detectable_flips(&[10; 5], spread, USUAL, DRAWS),
            Ok(Detectable::Unreachable { smallest_p: 0.0625 })
        );
        // Twelve clusters are enough for one pair, but never for 105.
        let repositories = [231, 114, 87, 75, 44, 34, 32, 22, 19, 8, 6, 1];
        let found = difference(detectable_flips(&repositories, spread, USUAL, DRAWS));
        let equal = difference(detectable_flips(&[56; 12], spread, USUAL, DRAWS));
        assert!(found > equal, "{found} {equal}");
        let family = detectable_flips(
            &repositories,
            spread,
            Aim {
                alpha: 0.05 / 105.0,
                ..USUAL
            },
            DRAWS,
        );
        assert_eq!(
            family,
            Ok(Detectable::Unreachable {
                smallest_p: 2.0 / 4096.0
            })
        );
        // Equal clusters are nearly a t test.
        let by_t = difference(detectable_t(
            (0.2f64 / 56.0 + 0.01).sqrt() / 12f64.sqrt(),
            11.0,
            USUAL,
        ));
        assert!((equal / by_t - 1.0).abs() < 0.1, "{equal} {by_t}");
    }

    proptest::proptest! {
        #[test]
        fn more_is_easier(n in 8u64..150, discordant in 0.0..1.0f64, delta in 0.01..0.5f64) {
            let power = power_mcnemar(n, discordant, delta, 0.05).expect("pairs");
            proptest::prop_assert!(power <= power_mcnemar(n, discordant, delta + 0.05, 0.05).expect("pairs") + 1e-9);
            proptest::prop_assert!((0.0..=1.0).contains(&power));
            let apart = power_proportions(0.5 - delta, n, 0.5, n, 0.05).expect("tasks");
            proptest::prop_assert!(apart <= power_proportions((0.45 - delta).max(0.0), n, 0.5, n, 0.05).expect("tasks") + 1e-9);
        }
    }
}
