//! Sources of the noise of a mean: the questions, or the runs of one question.

use super::Undefined;

/// The variance of scores split by question (one-way random effects, equal numbers of runs; Fisher 1925, Shrout and Fleiss 1979).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct VarianceSplit {
    pub questions: u64,
    pub runs: u64,
    pub ms_between: f64,
    pub ms_within: f64,
    /// Variance of the questions' true means. A negative estimate is set to zero.
    pub var_between: f64,
    /// Variance between the runs of one question.
    pub var_within: f64,
    /// Intraclass correlation ICC(1,1), negative if runs of one question differ more than questions do. `None` if all scores are equal.
    pub icc: Option<f64>,
    /// Standard error of the mean over similar questions.
    pub se_mean: f64,
}

/// What to add for the most precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Buy {
    Items,
    Runs,
}

/// Maximum number of runs at which questions and runs are said to contribute equally.
const MAX_BALANCED_RUNS: f64 = 1e6;

/// Splits the variance of a table of scores, with questions as rows and their runs as columns.
///
/// Undefined for fewer than two questions or two runs of each, and if questions have unequal numbers of runs.
pub fn variance_split(scores: &[impl AsRef<[f64]>]) -> Result<VarianceSplit, Undefined> {
    let runs = scores.first().ok_or(Undefined::NoData)?.as_ref().len();
    if scores.iter().any(|row| row.as_ref().len() != runs) {
        return Err(Undefined::Unequal);
    }
    if scores.len() < 2 || runs < 2 {
        return Err(Undefined::TooFew);
    }
    if scores
        .iter()
        .flat_map(AsRef::as_ref)
        .any(|value| !value.is_finite())
    {
        return Err(Undefined::NotFinite);
    }
    let (q, r) = (scores.len() as f64, runs as f64);
    let means: Vec<f64> = scores.iter().map(|row| exact_mean(row.as_ref())).collect();
    let grand = means.iter().sum::<f64>() / q;
    let between: f64 = means.iter().map(|mean| (mean - grand).powi(2)).sum();
    let within: f64 = scores
        .iter()
        .zip(&means)
        .map(|(row, mean)| squared_deviations(row.as_ref(), *mean))
        .sum();
    let ms_between = if has_variation(&means) {
        r * between / (q - 1.0)
    } else {
        0.0
    };
    let ms_within = within / (q * (r - 1.0));
    let spread = ms_between + (r - 1.0) * ms_within;
    Ok(VarianceSplit {
        questions: scores.len() as u64,
        runs: runs as u64,
        ms_between,
        ms_within,
        var_between: ((ms_between - ms_within) / r).max(0.0),
        var_within: ms_within,
        icc: (spread > 0.0).then(|| (ms_between - ms_within) / spread),
        se_mean: (ms_between / (q * r)).sqrt(),
    })
}

impl VarianceSplit {
    /// Returns the variance of the mean over `items` questions with `runs` runs of each.
    pub fn variance_of_mean(&self, items: u64, runs: u64) -> Result<f64, Undefined> {
        if items == 0 || runs == 0 {
            return Err(Undefined::NoData);
        }
        Ok(self.var_between / items as f64 + self.var_within / (items as f64 * runs as f64))
    }

    /// Returns the number of runs at which both sources contribute equally. Beyond it, more questions are worth more than more runs.
    ///
    /// Undefined if questions do not differ beyond what runs explain: more runs then always help.
    pub fn balanced_runs(&self) -> Result<f64, Undefined> {
        let ratio = self.var_within / self.var_between;
        // A difference of questions that is only of rounding makes it as good as infinite.
        if ratio < MAX_BALANCED_RUNS {
            Ok(ratio)
        } else {
            Err(Undefined::NoVariation)
        }
    }

    /// Returns the larger source of noise in the measured mean: questions or runs.
    pub fn larger_source(&self) -> Result<Buy, Undefined> {
        if self.var_between == 0.0 && self.var_within == 0.0 {
            return Err(Undefined::NoVariation);
        }
        Ok(if self.var_between >= self.var_within / self.runs as f64 {
            Buy::Items
        } else {
            Buy::Runs
        })
    }
}

fn exact_mean(values: &[f64]) -> f64 {
    // A computed mean of equal values can differ in the last digit, which would look like variation.
    if has_variation(values) {
        values.iter().sum::<f64>() / values.len() as f64
    } else {
        values[0]
    }
}

fn squared_deviations(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

fn has_variation(values: &[f64]) -> bool {
    values
        .iter()
        .any(|value| value.total_cmp(&values[0]).is_ne())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_questions_two_runs_by_hand() {
        // Means 1, 3, 8 around 4: MSB = 2 · (9 + 1 + 16) / 2 = 26; within 2 · 1 + 0 + 2 · 4 = 10 over 3.
        let split = variance_split(&[[0.0, 2.0], [3.0, 3.0], [6.0, 10.0]]).expect("a full table");
        assert!(
            (split.ms_between - 26.0).abs() < 1e-12 && (split.ms_within - 10.0 / 3.0).abs() < 1e-12
        );
        assert!((split.var_between - (26.0 - 10.0 / 3.0) / 2.0).abs() < 1e-12);
        assert!(
            (split.icc.expect("varied") - (26.0 - 10.0 / 3.0) / (26.0 + 10.0 / 3.0)).abs() < 1e-12
        );
        assert!((split.se_mean - (26.0f64 / 6.0).sqrt()).abs() < 1e-12);
        // For the present design the plan gives back its own standard error.
        assert!((split.variance_of_mean(3, 2).expect("some").sqrt() - split.se_mean).abs() < 1e-12);
        assert_eq!(split.larger_source(), Ok(Buy::Items));
        assert!(
            (split.balanced_runs().expect("varied") - (10.0 / 3.0) / split.var_between).abs()
                < 1e-12
        );
    }

    #[test]
    fn runs_alone_vary() {
        let split = variance_split(&[[0.0, 2.0], [2.0, 0.0]]).expect("a full table");
        assert_eq!((split.var_between, split.icc), (0.0, Some(-1.0)));
        assert_eq!(
            (split.larger_source(), split.balanced_runs()),
            (Ok(Buy::Runs), Err(Undefined::NoVariation))
        );
    }

    #[test]
    fn no_table_no_split() {
        let constant = variance_split(&[[0.1; 3], [0.1; 3]]).expect("a full table");
        assert_eq!(
            (constant.ms_between, constant.ms_within, constant.icc),
            (0.0, 0.0, None)
        );
        assert_eq!(
            (constant.larger_source(), constant.balanced_runs()),
            (Err(Undefined::NoVariation), Err(Undefined::NoVariation))
        );
        assert_eq!(variance_split(&[[0.0; 2]; 0]), Err(Undefined::NoData));
        assert_eq!(variance_split(&[[1.0, 2.0]]), Err(Undefined::TooFew));
        assert_eq!(variance_split(&[[1.0], [2.0]]), Err(Undefined::TooFew));
        assert_eq!(
            variance_split(&[vec![1.0, 2.0], vec![1.0]]),
            Err(Undefined::Unequal)
        );
        assert_eq!(
            variance_split(&[[1.0, f64::NAN], [1.0, 2.0]]),
            Err(Undefined::NotFinite)
        );
        assert_eq!(constant.variance_of_mean(0, 1), Err(Undefined::NoData));
    }
}
