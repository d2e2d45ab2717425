//! Metrics: named numbers with a unit and a direction.

use serde::{Deserialize, Serialize};

use super::ItemKind;

/// Which way is better.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    /// Neither: shown, never won.
    None,
}

/// What a number counts.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
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
    pub const ALL: [Self; 7] = [
        Self::Fraction,
        Self::Points,
        Self::Seconds,
        Self::Tokens,
        Self::Usd,
        Self::Count,
        Self::Number,
    ];

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
        Self::ALL
            .into_iter()
            .find(|direction| direction.name() == name)
    }
}

/// What family of methods fits the metric.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
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

/// Parses an amount in human notation: `2pp` and `2%` are 0.02, and a plain number is itself. A plus sign is ignored.
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

/// The mark with which an amount was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountMark {
    None,
    /// `10%`.
    Percent,
    /// `2pp`.
    PercentagePoints,
}

/// A limit for a metric's change, or a margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeBound {
    /// The value from [`parse_amount`]: 0.02 for `2pp` and `2%`.
    pub value: f64,
    pub mark: AmountMark,
}

/// Largest sensible margin of a rate. A larger one is probably a wrong unit.
const MAX_SHARE: f64 = 0.5;

/// Why an amount is not a valid margin of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMargin {
    /// Worded to follow "the margin".
    pub problem: &'static str,
    pub hint: &'static str,
}

impl ChangeBound {
    /// Parses a bound in human notation. See [`parse_amount`].
    pub fn parse(text: &str) -> Option<Self> {
        let mark = match text.trim_end() {
            text if text.ends_with('%') => AmountMark::Percent,
            text if text.ends_with("pp") => AmountMark::PercentagePoints,
            _ => AmountMark::None,
        };
        parse_amount(text).map(|value| Self { value, mark })
    }

    pub fn is_percent(self) -> bool {
        self.mark == AmountMark::Percent
    }

    /// Returns this value as a margin of a metric: a fraction for rates, relative for amounts (0.1 for 10%), otherwise in the metric's
    /// unit.
    pub fn to_margin(self, unit: Unit, kind: MetricKind) -> Result<f64, NoMargin> {
        let wrong = match (kind, self.mark) {
            (MetricKind::Count, _) => Some((
                "is for a count, and counts are shown but never judged",
                "leave it out",
            )),
            (MetricKind::Amount, AmountMark::PercentagePoints) => Some((
                "is in percentage points, but an amount needs a percentage",
                "write 10%",
            )),
            // 5 could mean 5 seconds or five times.
            (MetricKind::Amount, AmountMark::None) if self.value >= 1.0 => Some((
                "has no percent sign, and for an amount it is relative",
                "write 10% or 0.1 for a tenth",
            )),
            (MetricKind::Rate | MetricKind::Score, AmountMark::Percent)
                if unit == Unit::Fraction =>
            {
                Some((
                    "is in percent, which for a share could be relative",
                    "write 2pp or 0.02 for two percentage points",
                ))
            }
            (MetricKind::Rate | MetricKind::Score, _)
                if unit == Unit::Fraction && self.value > MAX_SHARE =>
            {
                Some((
                    "is more than 50 percentage points",
                    "write 2pp or 0.02 for two percentage points",
                ))
            }
            (
                MetricKind::Rate | MetricKind::Score,
                AmountMark::Percent | AmountMark::PercentagePoints,
            ) if unit != Unit::Fraction => Some((
                "is no plain number, and the metric is no share",
                "write it in the metric's own unit, as in 1.5",
            )),
            _ => None,
        };
        wrong.map_or(Ok(self.value), |(problem, hint)| {
            Err(NoMargin { problem, hint })
        })
    }
}

/// The key of the pass rate.
pub const PASS_RATE: &str = "shared_tests";

/// The key of the cost per solved item.
pub const COST_PER_SOLVED: &str = "cost_per_solved_usd";

/// The metrics of every comparison, measured or not, with their units and kinds.
pub const BUILT_IN: [(&str, Unit, MetricKind); 9] = [
    ("duration_seconds", Unit::Seconds, MetricKind::Amount),
    ("total_tokens", Unit::Tokens, MetricKind::Amount),
    ("cost_usd", Unit::Usd, MetricKind::Amount),
    (PASS_RATE, Unit::Fraction, MetricKind::Rate),
    ("own_tests", Unit::Fraction, MetricKind::Rate),
    ("files_generated", Unit::Count, MetricKind::Count),
    ("lines_generated", Unit::Count, MetricKind::Count),
    ("total_calls", Unit::Count, MetricKind::Count),
    ("turns", Unit::Count, MetricKind::Count),
];

/// Returns the unit and kind of a built-in metric by its key.
pub fn built_in_metric(key: &str) -> Option<(Unit, MetricKind)> {
    BUILT_IN
        .into_iter()
        .find(|(name, _, _)| *name == key)
        .map(|(_, unit, kind)| (unit, kind))
}

/// Returns the key of a metric from any of its names.
pub fn metric_key(name: &str) -> &str {
    match name.trim() {
        "pass_rate" | "accuracy" => PASS_RATE,
        "cost" => "cost_usd",
        "duration" => "duration_seconds",
        "tokens" => "total_tokens",
        name => name,
    }
}

/// Returns what an arm's share of passed items is called, by their kind.
pub fn rate_label(kind: Option<ItemKind>) -> &'static str {
    match kind {
        Some(ItemKind::Question) => "Accuracy",
        _ => "Pass rate",
    }
}

/// Returns a score's label in tables. A score that is not built in is shown by its name.
pub fn score_label(name: &str) -> &str {
    match name {
        "accuracy" => "Accuracy",
        "chance_adjusted_accuracy" => "Chance-adjusted accuracy",
        name => name,
    }
}

/// Returns whether a figure of this name is the share of right answers, in lower case with `_` between its words.
pub fn names_accuracy(name: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 24] = [
        "accuracy", "acc", "overall_acc", "overall_accuracy", "exact_match", "success_rate", "correct", "solved", "success", "pass_1", "pass_rate", "resolved",
        "resolved_rate", "resolve_rate", "solve_rate", "pass", "passed", "rate", "quote", "erfolgsquote", "genauigkeit", "taux", "exactitud", "tasa",
    ];
    NAMES.contains(&name)
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

impl Metric {
    /// Returns the pass rate on the items that all arms share.
    pub fn pass_rate() -> Self {
        Self {
            name: PASS_RATE.to_owned(),
            label: rate_label(None).to_owned(),
            unit: Unit::Fraction,
            direction: Direction::Up,
            kind: MetricKind::Rate,
        }
    }

    /// Returns the pass rate on items of one kind, under its name.
    pub fn pass_rate_of(kind: Option<ItemKind>) -> Self {
        Self {
            label: rate_label(kind).to_owned(),
            ..Self::pass_rate()
        }
    }

    /// Returns whether a metric measures the machine or the service as well as the arm: how long something took, how long it waited, how
    /// much was done in a second.
    ///
    /// Other load, a provider's queue, a cold cache or a slow network moves all items of a run together. So the items of one run are one
    /// observation of such a metric, and its evidence is over runs, as that of tests that share one artefact is. Money, tokens and turns
    /// are the arm's own: their evidence may be over items.
    pub fn shares_state(&self) -> bool {
        // A project may give the time of a run another unit. Speeds have none of their own: their names tell.
        let is_speed = || {
            ["_per_second", "_per_minute", "throughput", "latency"]
                .iter()
                .any(|part| self.name.contains(part))
        };
        self.unit == Unit::Seconds || metric_key(&self.name) == "duration_seconds" || is_speed()
    }
}

/// A project's settings for a metric. Each value overrides the metric's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MetricSettings {
    pub label: Option<String>,
    pub direction: Option<Direction>,
    pub unit: Option<Unit>,
    pub kind: Option<MetricKind>,
    /// The largest unimportant difference, in the metric's unit, declared in advance.
    pub margin: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_people_write_them() {
        for (text, value) in [
            ("2pp", 0.02),
            ("+10%", 0.1),
            (" 1.5 ", 1.5),
            ("0", 0.0),
            ("0.5 pp", 0.005),
        ] {
            assert_eq!(parse_amount(text), Some(value), "{text}");
        }
        for (text, mark) in [
            ("2pp", AmountMark::PercentagePoints),
            ("2 pp ", AmountMark::PercentagePoints),
            ("10%", AmountMark::Percent),
            ("0.1", AmountMark::None),
        ] {
            assert_eq!(
                ChangeBound::parse(text).map(|bound| bound.mark),
                Some(mark),
                "{text}"
            );
        }
        for text in ["", "pp", "-2pp", "-0", "1e999", "nan", "2 p", "%"] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }

    #[test]
    fn shares_state_of_times_and_speeds_and_of_nothing_that_is_the_arms_own() {
        let metric = |name: &str, unit| Metric {
            name: name.to_owned(),
            unit,
            ..Metric::pass_rate()
        };
        for (name, unit) in [
            ("duration_seconds", Unit::Seconds),
            ("duration_seconds", Unit::Number),
            ("time_to_first_token", Unit::Seconds),
            ("tokens_per_second", Unit::Number),
            ("throughput", Unit::Number),
        ] {
            assert!(metric(name, unit).shares_state(), "{name}");
        }
        for (name, unit) in [
            ("cost_usd", Unit::Usd),
            ("total_tokens", Unit::Tokens),
            (PASS_RATE, Unit::Fraction),
            ("bleu", Unit::Number),
            ("turns", Unit::Count),
        ] {
            assert!(!metric(name, unit).shares_state(), "{name}");
        }
    }

    #[test]
    fn a_margin_fits_its_metric() {
        let (rate, share) = (
            (Unit::Fraction, MetricKind::Rate),
            (Unit::Fraction, MetricKind::Score),
        );
        let (cost, points, calls) = (
            (Unit::Usd, MetricKind::Amount),
            (Unit::Points, MetricKind::Score),
            (Unit::Count, MetricKind::Count),
        );
        for (text, (unit, kind), value) in [
            ("2pp", rate, Some(0.02)),
            ("0.02", rate, Some(0.02)),
            ("50pp", rate, Some(0.5)),
            ("51pp", rate, None),
            ("5", rate, None),
            ("2%", rate, None),
            ("2pp", share, Some(0.02)),
            ("2%", share, None),
            ("60pp", share, None),
            ("10%", cost, Some(0.1)),
            ("200%", cost, Some(2.0)),
            ("0.1", cost, Some(0.1)),
            ("5", cost, None),
            ("2pp", cost, None),
            ("1.5", points, Some(1.5)),
            ("150", points, Some(150.0)),
            ("2pp", points, None),
            ("2%", points, None),
            ("3", calls, None),
        ] {
            assert_eq!(
                ChangeBound::parse(text).and_then(|bound| bound.to_margin(unit, kind).ok()),
                value,
                "{text} of {unit:?} {kind:?}"
            );
        }
    }
}
