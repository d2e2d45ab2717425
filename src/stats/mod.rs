//! Pure mathematics on slices and counts: knows neither polars nor the domain. Undefined is `None`, never NaN.

mod distribution;
mod interval;
mod mean;
mod proportion;
mod quantile;
mod undefined;

pub use distribution::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
pub use interval::Interval;
pub use mean::{Summary, mean_interval, summary};
pub use proportion::wilson;
pub use quantile::quantile;
pub use undefined::Undefined;
