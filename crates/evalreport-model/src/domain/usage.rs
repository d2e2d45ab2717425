//! Token usage and costs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Tokens by how they are billed. Absent parts were not measured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

impl Usage {
    /// Returns all input tokens, cached or not, or `None` if no part was measured.
    pub fn input_total(&self) -> Option<u64> {
        Self::sum_known([self.input, self.cache_write, self.cache_read])
    }

    /// Returns all input and output tokens.
    pub fn total(&self) -> Option<u64> {
        Self::sum_known([self.input_total(), self.output])
    }

    /// Adds two usages. A part that only one side measured is kept.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input: Self::sum_known([self.input, other.input]),
            cache_write: Self::sum_known([self.cache_write, other.cache_write]),
            cache_read: Self::sum_known([self.cache_read, other.cache_read]),
            output: Self::sum_known([self.output, other.output]),
        }
    }

    /// Sums the known parts. Saturates, because foreign numbers may be huge.
    fn sum_known<const N: usize>(parts: [Option<u64>; N]) -> Option<u64> {
        parts.into_iter().flatten().reduce(u64::saturating_add)
    }
}

/// Where a cost figure came from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The agent or the source said so.
    Reported,
    /// Computed from tokens and a dated price table.
    Priced,
    Unknown,
}

impl CostSource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Priced => "priced",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for CostSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
