//! Pure mathematics on slices and counts: knows neither polars nor the domain. What has no value has a reason ([`Undefined`]), never NaN.

mod adjust;
mod cluster;
mod distribution;
mod effect;
mod exact;
mod interval;
mod mean;
mod proportion;
mod proportion_difference;
mod quantile;
mod ratio;
mod undefined;
mod verdict;

pub use adjust::{benjamini_hochberg, holm};
pub use cluster::{Clustered, clustered_mean};
pub use distribution::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
pub use effect::{Dominance, StandardizedDifference, cliffs_delta, hedges_g};
pub use exact::{McNemar, Permutation, Resampling, fisher, mcnemar, permutation, sign_flip};
pub use interval::Interval;
pub use mean::{Comparison, Summary, mean_interval, paired_t, summary, welch};
pub use proportion::{clopper_pearson, wilson};
pub use proportion_difference::{Pairs, newcombe, newcombe_paired, tango};
pub use quantile::{MedianInterval, median_absolute_deviation, median_interval, quantile};
pub use ratio::{
    LogRatio, RatioOfMeans, geometric_mean, log_ratio_paired, log_ratio_welch, ratio_of_means, ratio_of_means_paired, relative_change,
};
pub use undefined::Undefined;
pub use verdict::{Question, Verdict, decide};
