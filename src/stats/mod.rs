//! Pure mathematics on slices and counts: knows neither polars nor the domain. Undefined is `None`, never NaN.

mod interval;
mod mean;
mod proportion;
mod quantile;

pub use interval::Interval;
pub use mean::{Summary, mean_interval, summary};
pub use proportion::wilson;
pub use quantile::quantile;
