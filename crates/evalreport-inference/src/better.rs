//! How likely the arm that is ahead is truly better. It is for the reader; the p-value decides.

use crate::domain::{Direction, Metric};
use crate::stats;

use super::comparison::Scale;
use super::pair_test::PairFinding;
use super::secondary_effects::Check;

/// The deviation of the true differences of two arms, before these data: most pairs of arms that people compare differ by less than twice
/// this. Without it a suite of 30 items would call an arm better with 93% and be right in 80%.
pub const PRIOR_DEVIATION: f64 = 0.1;

/// Returns the posterior probability that the first arm is truly better. `None` if the data are too thin for a test, if the metric has no better
/// direction, or if it is no share: the prior is about shares.
pub(super) fn probability_first_better(metric: &Metric, finding: &PairFinding) -> Option<f64> {
    let difference = finding
        .difference
        .filter(|found| found.scale == Scale::Share)?;
    let deciding = finding.family_p_value()?;
    // An exact test of few flips promises more than it must, which a probability may not.
    let p = finding
        .detail
        .cross_check
        .filter(|other| other.check == Check::McnemarMidP)
        .map_or(deciding, |other| other.p);
    let ahead =
        stats::probability_of_sign(difference.value, p.max(f64::MIN_POSITIVE), PRIOR_DEVIATION)
            .ok()?;
    let is_higher = difference.value > 0.0;
    match metric.direction {
        Direction::Up => Some(is_higher),
        Direction::Down => Some(!is_higher),
        Direction::None => None,
    }
    .map(|is_first| if is_first { ahead } else { 1.0 - ahead })
}
