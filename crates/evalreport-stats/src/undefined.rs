//! Why a statistic has no value.

/// The reason why a statistic is undefined for given data.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    thiserror::Error,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Undefined {
    #[error("no data")]
    NoData,
    #[error("too few values")]
    TooFew,
    #[error("no value differs from another")]
    NoVariation,
    #[error("a ratio needs values above zero")]
    NotPositive,
    #[error("a value is not a finite number")]
    NotFinite,
    #[error("both sides need the same number of values")]
    Unequal,
    /// An argument outside its range, such as more passed than tried, or a confidence of 1.
    #[error("an argument is out of range")]
    OutOfRange,
}
