//! Pure mathematics on slices and counts: knows neither polars nor the domain. Undefined is `None`, never NaN.

mod agreement;
mod attempts;
mod bootstrap;
mod change_point;
mod distribution;
mod interval;
mod letters;
mod mean;
mod posterior;
mod power;
mod proportion;
mod quantile;
mod ranking;
mod sequential;
mod undefined;
mod variance;

pub use agreement::{Agreement, cohen_kappa, krippendorff_alpha_nominal, prevalence};
pub use attempts::{mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k};
pub use bootstrap::{BcaInterval, Replicates, Seed, jackknife};
pub use change_point::{ChangePoint, ChangeRule, Split, change_points, e_divisive_best_split};
pub use distribution::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
pub use interval::Interval;
pub use letters::letters;
pub use mean::{Summary, mean_interval, summary};
pub use posterior::{BetaPrior, beta_credible_interval, probability_flaky};
pub use power::{
    Aim, PairedVariance, Side, mde_miller, mde_paired, mde_two_proportions, mde_welch, n_mcnemar, n_miller, n_paired, n_two_proportions,
    n_welch, power_two_proportions,
};
pub use proportion::wilson;
pub use quantile::quantile;
pub use ranking::{RankRange, leading_group, probability_of_best, rank_intervals, rank_ranges};
pub use sequential::{bernoulli_confidence_sequence, mcnemar_e_value};
pub use undefined::Undefined;
pub use variance::{Buy, VarianceSplit, variance_split};
