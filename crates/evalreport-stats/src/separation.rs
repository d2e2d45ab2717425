//! What separates two systems, and all systems, item by item.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::mean::compensated_sum;
use super::{ScoreMatrix, Undefined, quantile};

/// How well the items tell two systems apart. R10 and R11 of the Leaderboard Reporting Standard, draft 0.2.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Separation {
    /// Mean of the first minus mean of the second.
    pub gap: f64,
    /// Standard error of the gap over items, with divisor n − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Gap over its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
    /// Deviation of the differences as a share of that of unrelated systems, after the items' means were taken out: 1 if the two have nothing
    /// in common, near 0 if they fail on the same items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Items that the difference effectively rests on: (Σ|d|)² / Σd². For passes, the items on which the two differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_items: Option<f64>,
    /// Such items that a difference of this size needs to reach twice its standard error. Absent for equal means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_items: Option<f64>,
}

/// Compares the first system with the second. Undefined for fewer than two items.
pub fn pair_separation(
    matrix: &ScoreMatrix,
    first: usize,
    second: usize,
) -> Result<Separation, Undefined> {
    if matrix.item_count() < 2 {
        return Err(Undefined::TooFew);
    }
    let n = matrix.item_count() as f64;
    let differences: Vec<f64> = matrix
        .by_item()
        .map(|scores| scores[first] - scores[second])
        .collect();
    let gap = compensated_sum(differences.iter().copied()) / n;
    let standard_error = above_zero(
        (compensated_sum(differences.iter().map(|d| (d - gap).powi(2))) / (n - 1.0)).sqrt()
            / n.sqrt(),
    );
    let t = standard_error.map(|error| gap / error);
    let squares = compensated_sum(differences.iter().map(|d| d * d));
    let effective_items = above_zero(squares)
        .map(|squares| compensated_sum(differences.iter().map(|d| d.abs())).powi(2) / squares);
    let needed_items = effective_items
        .zip(t)
        .filter(|(_, t)| *t != 0.0)
        .map(|(items, t)| items * (2.0 / t).powi(2));
    Ok(Separation {
        gap,
        standard_error,
        t,
        kappa: KappaTable::new(matrix).kappa(first, second),
        effective_items,
        needed_items,
    })
}

/// Returns the median of [`Separation::kappa`] over all pairs that have it.
pub fn median_kappa(matrix: &ScoreMatrix) -> Result<f64, Undefined> {
    let kappas = KappaTable::new(matrix);
    let values: Vec<f64> = (0..matrix.system_count())
        .into_par_iter()
        .flat_map_iter(|first| {
            (first + 1..matrix.system_count()).map(move |second| (first, second))
        })
        .filter_map(|(first, second)| kappas.kappa(first, second))
        .collect();
    quantile(&values, 0.5)
}

fn above_zero(value: f64) -> Option<f64> {
    (value > 1e-12).then_some(value)
}

/// The rows without the items' means, and their deviations.
struct KappaTable {
    rows: Vec<Vec<f64>>,
    variances: Vec<f64>,
}

impl KappaTable {
    fn new(matrix: &ScoreMatrix) -> Self {
        let means = matrix.item_means();
        let rows: Vec<Vec<f64>> = (0..matrix.system_count())
            .map(|system| {
                let row: Vec<f64> = matrix
                    .system_scores(system)
                    .iter()
                    .zip(&means)
                    .map(|(score, mean)| score - mean)
                    .collect();
                let mean = compensated_sum(row.iter().copied()) / row.len() as f64;
                row.iter().map(|score| score - mean).collect()
            })
            .collect();
        let variances = rows
            .iter()
            .map(|row| row.iter().map(|value| value * value).sum::<f64>())
            .collect();
        Self { rows, variances }
    }

    fn kappa(&self, first: usize, second: usize) -> Option<f64> {
        let apart: f64 = self.rows[first]
            .iter()
            .zip(&self.rows[second])
            .map(|(one, other)| (one - other).powi(2))
            .sum();
        above_zero(self.variances[first] + self.variances[second]).map(|both| (apart / both).sqrt())
    }
}

/// Returns the discordance of these systems: the mean over their pairs of Σ|difference| over items. For passes it is the number of items on
/// which two systems differ. R8 of the Leaderboard Reporting Standard. Undefined for fewer than two systems.
pub fn mean_discordance(matrix: &ScoreMatrix, systems: &[usize]) -> Result<f64, Undefined> {
    let count = systems.len();
    if count < 2 {
        return Err(Undefined::TooFew);
    }
    // Over sorted scores, each stands `place` times on the larger side and `count − 1 − place` times on the smaller.
    let sum = compensated_sum(matrix.by_item().map(|scores| {
        let mut own: Vec<f64> = systems.iter().map(|system| scores[*system]).collect();
        own.sort_by(f64::total_cmp);
        own.iter()
            .enumerate()
            .map(|(place, score)| score * (2.0 * place as f64 - (count - 1) as f64))
            .sum::<f64>()
    }));
    Ok(sum / (count * (count - 1) / 2) as f64)
}

/// How the items share the work of separating systems that pass or fail. C1 of the Leaderboard Reporting Standard.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Splitting {
    /// Items that split at least one pair: some system passes and another fails.
    pub live_items: u64,
    /// Items that all pass or all fail.
    pub dead_items: u64,
    /// Items that the order effectively rests on: (Σw)² / Σw², with w the number of pairs that an item splits. Absent if none splits any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_items: Option<f64>,
}

/// Counts the pairs of these systems that each item splits. Undefined if a score is neither 0 nor 1.
pub fn count_splits(matrix: &ScoreMatrix, systems: &[usize]) -> Result<Splitting, Undefined> {
    if !matrix.is_binary() {
        return Err(Undefined::OutOfRange);
    }
    let splits: Vec<f64> = matrix
        .by_item()
        .map(|scores| {
            let passes: f64 = systems.iter().map(|system| scores[*system]).sum();
            passes * (systems.len() as f64 - passes)
        })
        .collect();
    let live_items = splits.iter().filter(|pairs| **pairs > 0.0).count() as u64;
    let squares = compensated_sum(splits.iter().map(|pairs| pairs * pairs));
    let effective_items = above_zero(squares)
        .map(|squares| compensated_sum(splits.iter().copied()).powi(2) / squares);
    Ok(Splitting {
        live_items,
        dead_items: splits.len() as u64 - live_items,
        effective_items,
    })
}

/// The fewest items without which another system leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingMinority {
    pub rival: usize,
    /// The items on which the leader is furthest ahead of the rival, by falling difference.
    pub items: Vec<usize>,
}

/// Finds the fewest items to leave out so that the sum of another system is larger than the leader's. Of rivals with as few, the one with
/// the higher mean. `None` if no rival is better on any item.
pub fn deciding_minority(matrix: &ScoreMatrix, leader: usize) -> Option<DecidingMinority> {
    let order = matrix.order_by_mean();
    let against = |rival: usize| {
        let mut items: Vec<(usize, f64)> = matrix
            .by_item()
            .map(|scores| scores[leader] - scores[rival])
            .enumerate()
            .collect();
        // The same items whatever their order would be among equal differences.
        items.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut rest = compensated_sum(items.iter().map(|item| item.1));
        let mut left_out = 0;
        while rest >= -1e-9 {
            let (_, difference) = items.get(left_out).filter(|item| item.1 > 0.0)?;
            rest -= difference;
            left_out += 1;
        }
        Some(DecidingMinority {
            rival,
            items: items[..left_out].iter().map(|item| item.0).collect(),
        })
    };
    order
        .into_iter()
        .filter(|rival| *rival != leader)
        .filter_map(against)
        .min_by_key(|found| found.items.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(rows: &[&str]) -> ScoreMatrix {
        let rows: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                row.bytes()
                    .map(|mark| f64::from(u8::from(mark == b'1')))
                    .collect()
            })
            .collect();
        ScoreMatrix::new(&rows).expect("scores")
    }

    #[test]
    fn passes_are_mcnemars_counts() {
        // b = 4, c = 1 of n = 8: t = (b − c)/√n · √(n − 1) / √(b + c − (b − c)²/n).
        let matrix = passes(&["11110100", "00001100"]);
        let found = pair_separation(&matrix, 0, 1).expect("items");
        let t = 3.0 / 8_f64.sqrt() * 7_f64.sqrt() / (5.0_f64 - 9.0 / 8.0).sqrt();
        assert!((found.t.expect("a difference") - t).abs() < 1e-12);
        assert!((found.effective_items.expect("differences") - 5.0).abs() < 1e-12);
        assert!((found.needed_items.expect("a gap") - 5.0 * 4.0 / (t * t)).abs() < 1e-9);
        assert!((mean_discordance(&matrix, &[0, 1]).expect("two") - 5.0).abs() < 1e-12);
        assert_eq!(mean_discordance(&matrix, &[0]), Err(Undefined::TooFew));
    }

    #[test]
    fn equal_systems_have_no_t() {
        let found = pair_separation(&passes(&["1100", "1100"]), 0, 1).expect("items");
        assert_eq!(
            (
                found.gap,
                found.t,
                found.effective_items,
                found.needed_items
            ),
            (0.0, None, None, None)
        );
        let turned = pair_separation(&passes(&["1100", "0011"]), 0, 1).expect("items");
        assert_eq!((turned.t, turned.needed_items), (Some(0.0), None));
    }

    #[test]
    fn items_that_split_no_pair_are_dead() {
        // Pairs split: 2, 0, 0, 2 of three systems.
        let matrix = passes(&["1100", "1101", "0100"]);
        let found = count_splits(&matrix, &[0, 1, 2]).expect("passes");
        assert_eq!(
            (found.live_items, found.dead_items, found.effective_items),
            (2, 2, Some(2.0))
        );
        assert_eq!(
            count_splits(&matrix, &[0]).expect("passes").effective_items,
            None
        );
        assert_eq!(
            count_splits(&ScoreMatrix::new(&[[0.5]]).expect("scores"), &[0]),
            Err(Undefined::OutOfRange)
        );
        assert!((mean_discordance(&matrix, &[0, 1, 2]).expect("three") - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_minority_decides_the_first_place() {
        // The first leads 5 to 4; without two of its three items the second has more.
        let matrix = passes(&["11111000", "11000110", "00000001"]);
        assert_eq!(
            deciding_minority(&matrix, 0),
            Some(DecidingMinority {
                rival: 1,
                items: vec![2, 3]
            })
        );
        assert_eq!(
            deciding_minority(&passes(&["111", "011"]), 0),
            None,
            "nothing makes the second larger"
        );
    }

    #[test]
    fn related_systems_have_a_small_kappa() {
        let matrix = passes(&["11110000", "11100000", "00001111", "10101010"]);
        let close = pair_separation(&matrix, 0, 1)
            .expect("items")
            .kappa
            .expect("variation");
        let far = pair_separation(&matrix, 0, 2)
            .expect("items")
            .kappa
            .expect("variation");
        assert!(
            close < 0.7 && far > 1.2 && median_kappa(&matrix).is_ok(),
            "{close} {far}"
        );
    }
}
