//! Gates: limits on regressions.

use crate::document::{Fields, Form, ScalarKind, Value, quote};
use crate::domain::{Bound, Mark};

/// What an inconclusive gate means for whoever reads the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInconclusive {
    Fail,
    Pass,
}

const WORDS: [(&str, OnInconclusive); 2] = [
    ("fail", OnInconclusive::Fail),
    ("pass", OnInconclusive::Pass),
];

/// One rule. It applies to every suite and approach unless it names some.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub metric: Option<String>,
    pub suite: Option<String>,
    pub approach: Option<String>,
    /// The largest fall and rise allowed, in the metric's unit. Relative for time, tokens and cost: 0.1 means 10%.
    pub max_drop: Option<Bound>,
    pub max_rise: Option<Bound>,
    /// Items that must pass.
    pub must_pass: Vec<String>,
    /// Whether an item that always passed in the baseline must not fail now.
    pub no_new_failures: bool,
    /// Whether items of the baseline may be gone.
    pub allow_removed: bool,
    /// Share of the baseline's items that may have no outcome.
    pub max_missing: Option<Bound>,
}

pub(super) fn read_on_inconclusive(fields: &mut Fields) -> Option<OnInconclusive> {
    fields.one_of("on_inconclusive", &WORDS)
}

pub(super) fn read(fields: &mut Fields) -> Vec<Gate> {
    fields.each("gate", |fields| Some(read_gate(fields)))
}

fn read_gate(mut fields: Fields) -> Gate {
    let gate = Gate {
        metric: fields.text("metric"),
        suite: fields.text("suite"),
        approach: fields.text("approach"),
        max_drop: bound(&mut fields, "max_drop"),
        max_rise: bound(&mut fields, "max_rise"),
        must_pass: fields.texts("must_pass"),
        no_new_failures: fields.boolean("no_new_failures").unwrap_or_default(),
        allow_removed: fields.boolean("allow_removed").unwrap_or_default(),
        max_missing: bound(&mut fields, "max_missing"),
    };
    let bounded = ["max_drop", "max_rise"]
        .into_iter()
        .find(|key| fields.child(key).is_some());
    let has_metric = fields.child("metric").is_some();
    // As on the command line, a drop is one of the pass rate unless a metric is named; no metric is meant by a rise alone.
    if fields.child("max_rise").is_some() && !has_metric {
        let message = format!(
            "{} is missing, which {} needs",
            quote(&fields.path_of("metric")),
            quote("max_rise")
        );
        fields.reject(
            "metric",
            message,
            Some("for example `metric: cost`".to_owned()),
        );
    }
    if has_metric && bounded.is_none() {
        let message = format!("{} has no bound", quote(&fields.path_of("metric")));
        fields.reject(
            "metric",
            message,
            Some("give the allowed change with `max_drop` or `max_rise`".to_owned()),
        );
    }
    if !has_metric
        && bounded.is_none()
        && fields.child("must_pass").is_none()
        && !gate.no_new_failures
    {
        let hint = "give a `metric` with a bound, `must_pass` or `no_new_failures`";
        fields.reject(
            "metric",
            "this gate asks for nothing",
            Some(hint.to_owned()),
        );
    }
    fields.finish();
    gate
}

/// Reads a number, or text such as `2pp` or `10%`.
pub(super) fn bound(fields: &mut Fields, key: &str) -> Option<Bound> {
    fields.note(key, || Form::OneOf(vec![Form::Amount, Form::Filled]));
    let text = match &fields.child(key)?.value {
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Text => &scalar.text,
        Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
            return fields.amount(key).map(|value| Bound {
                value,
                mark: Mark::None,
            });
        }
    };
    let bound = Bound::parse(text);
    if bound.is_none() {
        let message = format!(
            "{} must be an amount, not {}",
            quote(&fields.path_of(key)),
            quote(text)
        );
        fields.reject(
            key,
            message,
            Some("write a number, or as in 2pp or 10%".to_owned()),
        );
    }
    bound
}
