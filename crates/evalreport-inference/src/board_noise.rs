//! What one repeat of an arm adds to its mean, measured over all arms of a board: one fit for every command.

use crate::stats::{RunNoise, SummedArm};

use super::estimate::sum_over_repeats;
use super::item_scores::ItemScores;
use super::policy::Design;
use super::sample::{ArmRates, RunSums, RunValueMatrix, SuiteItems};

/// Sets the noise by which each arm's pass rate is judged.
pub(super) fn measure_rate_noise(rates: &mut [ArmRates], items: &SuiteItems, unit: Design) {
    let has_repeats = |rates: &ArmRates| matches!(rates, ArmRates::Outcomes(outcomes) if !outcomes.repeats.is_empty());
    if !rates.iter().any(has_repeats) {
        return;
    }
    let arms = rates.iter_mut().map(|rates| match rates {
        ArmRates::Outcomes(outcomes) => {
            let means = items.item_means(|column| outcomes.item_mean(column));
            Some((means, &outcomes.repeats, &mut outcomes.over_runs))
        }
        ArmRates::Counts(_) | ArmRates::Unknown => None,
    });
    let arms = arms.map(|arm| {
        let (means, repeats, sums) = arm?;
        Some((means, RunValueMatrix::Shares(repeats), sums))
    });
    measure_noise(arms.collect(), items, unit);
}

/// Sets the noise by which each arm's mean score is judged.
pub(super) fn measure_score_noise(scores: &mut [ItemScores], items: &SuiteItems, unit: Design) {
    if scores.iter().all(|scores| scores.repeats.is_empty()) {
        return;
    }
    let arms = scores.iter_mut().map(|scores| {
        let means = items.item_means(|column| scores.means[column]);
        let repeats = RunValueMatrix::Values(&scores.repeats);
        Some((means, repeats, &mut scores.over_runs))
    });
    measure_noise(arms.collect(), items, unit);
}

/// An arm's means by item, its values by repeat, and where its noise belongs.
type MeasuredArm<'a> = (Vec<(u32, f64)>, RunValueMatrix<'a>, &'a mut RunSums);

fn measure_noise(mut arms: Vec<Option<MeasuredArm<'_>>>, items: &SuiteItems, unit: Design) {
    if !unit.is_over_items() {
        return;
    }
    let clusters = items
        .clusters
        .as_deref()
        .filter(|_| unit == Design::Clusters);
    for is_clustered in [false, true] {
        let codes = |means: &[(u32, f64)]| {
            clusters.filter(|_| is_clustered).map(|codes| {
                means
                    .iter()
                    .map(|(item, _)| codes[*item as usize])
                    .collect::<Vec<u32>>()
            })
        };
        if is_clustered && clusters.is_none() {
            break;
        }
        let summed: Vec<Option<&SummedArm>> = arms
            .iter()
            .map(|arm| {
                let (means, repeats, sums) = arm.as_ref()?;
                (repeats.len() > 1)
                    .then(|| {
                        sums.get(is_clustered, || {
                            sum_over_repeats(means, *repeats, items, codes(means).as_deref())
                        })
                    })
                    .flatten()
            })
            .collect();
        let noise = RunNoise::by_arm(&summed);
        for (arm, noise) in arms.iter_mut().zip(noise) {
            if let Some((_, _, sums)) = arm {
                sums.set_noise(is_clustered, noise);
            }
        }
    }
}
