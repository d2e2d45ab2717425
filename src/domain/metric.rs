//! Named numbers with a unit and a direction.

use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    /// Neither: shown, never won.
    None,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A share between 0 and 1, shown in percent; differences in percentage points.
    Fraction,
    /// Points on a scale of 0 to 100.
    Points,
    Seconds,
    Tokens,
    Usd,
    Count,
    /// A plain number of unknown scale.
    Number,
}

impl Unit {
    pub const ALL: [Self; 7] = [Self::Fraction, Self::Points, Self::Seconds, Self::Tokens, Self::Usd, Self::Count, Self::Number];

    pub fn name(self) -> &'static str {
        match self {
            Self::Fraction => "fraction",
            Self::Points => "points",
            Self::Seconds => "seconds",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
            Self::Count => "count",
            Self::Number => "number",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }
}

impl Direction {
    pub const ALL: [Self; 3] = [Self::Up, Self::Down, Self::None];

    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::None => "none",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.name() == name)
    }
}

/// What family of methods fits the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Passed of total.
    Rate,
    /// Positive and skewed: duration, tokens, cost.
    Amount,
    /// A mean of bounded or unbounded scores.
    Score,
    Count,
}

/// Reads a difference as people write one: `2pp` and `2%` are 0.02, a plain number is what it is. A plus sign says nothing more.
pub fn parse_amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (number, scale) = match text.strip_suffix("pp").or_else(|| text.strip_suffix('%')) {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0 && !value.is_sign_negative()).then_some(value / scale)
}

/// How far a metric may go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub value: f64,
    /// It was written with a percent sign.
    pub is_percent: bool,
}

impl Bound {
    /// Reads a bound as people write one, see [`parse_amount`].
    pub fn parse(text: &str) -> Option<Self> {
        parse_amount(text).map(|value| Self { value, is_percent: text.trim_end().ends_with('%') })
    }
}

/// Returns the key of a metric from the names it goes by.
pub fn metric_key(name: &str) -> &str {
    match name.trim() {
        "pass_rate" | "accuracy" => "shared_tests",
        "cost" => "cost_usd",
        "duration" => "duration_seconds",
        "tokens" => "total_tokens",
        name => name,
    }
}

/// Returns the words a table shows for a score of that name: our own have some, others go by their name.
pub fn score_label(name: &str) -> &str {
    match name {
        "accuracy" => "Accuracy",
        "chance_adjusted_accuracy" => "Chance-adjusted accuracy",
        name => name,
    }
}

/// A named number's description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Metric {
    /// The key in JSON and in the configuration.
    pub name: String,
    /// The words a table shows.
    pub label: String,
    pub unit: Unit,
    pub direction: Direction,
    pub kind: MetricKind,
}

/// What a project says about one of its metrics; each value replaces what the metric has of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MetricSettings {
    pub label: Option<String>,
    pub direction: Option<Direction>,
    pub unit: Option<Unit>,
    pub kind: Option<MetricKind>,
    /// The largest difference that does not matter, in the metric's unit; declared before looking.
    pub margin: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_people_write_them() {
        for (text, value) in [("2pp", 0.02), ("+10%", 0.1), (" 1.5 ", 1.5), ("0", 0.0), ("0.5 pp", 0.005)] {
            assert_eq!(parse_amount(text), Some(value), "{text}");
        }
        for text in ["", "pp", "-2pp", "-0", "1e999", "nan", "2 p", "%"] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }
}
