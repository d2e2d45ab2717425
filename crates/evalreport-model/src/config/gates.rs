//! Gates: limits on regressions.

use crate::document::{Fields, ScalarKind, Value, ValueForm, quote_text};
use crate::domain::{AmountMark, ChangeBound};

/// What an inconclusive gate means for whoever reads the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconclusiveMeaning {
    Fail,
    Pass,
}

const INCONCLUSIVE_WORDS: [(&str, InconclusiveMeaning); 2] = [
    ("fail", InconclusiveMeaning::Fail),
    ("pass", InconclusiveMeaning::Pass),
];

/// One rule. It applies to every suite and approach unless it names some.
#[derive(Clone, Debug, PartialEq)]
pub struct GateConfig {
    pub metric: Option<String>,
    pub suite: Option<String>,
    pub approach: Option<String>,
    /// The largest fall and rise allowed, in the metric's unit. Relative for time, tokens and cost: 0.1 means 10%.
    pub max_drop: Option<ChangeBound>,
    pub max_rise: Option<ChangeBound>,
    /// Items that must pass.
    pub must_pass: Vec<String>,
    /// Whether an item that always passed in the baseline must not fail now.
    pub no_new_failures: bool,
    /// Whether items of the baseline may be gone.
    pub allow_removed: bool,
    /// Share of the baseline's items that may have no outcome.
    pub max_missing: Option<ChangeBound>,
}

pub(super) fn read_on_inconclusive(fields: &mut Fields) -> Option<InconclusiveMeaning> {
    fields.one_of("on_inconclusive", &INCONCLUSIVE_WORDS)
}

pub(super) fn read_section(fields: &mut Fields) -> Vec<GateConfig> {
    fields.read_each("gate", |fields| Some(read_gate(fields)))
}

fn read_gate(mut fields: Fields) -> GateConfig {
    let gate = GateConfig {
        metric: fields.text("metric"),
        suite: fields.text("suite"),
        approach: fields.text("approach"),
        max_drop: read_bound(&mut fields, "max_drop"),
        max_rise: read_bound(&mut fields, "max_rise"),
        must_pass: fields.texts("must_pass"),
        no_new_failures: fields.boolean("no_new_failures").unwrap_or_default(),
        allow_removed: fields.boolean("allow_removed").unwrap_or_default(),
        max_missing: read_bound(&mut fields, "max_missing"),
    };
    let bounded = ["max_drop", "max_rise"]
        .into_iter()
        .find(|key| fields.child(key).is_some());
    let has_metric = fields.child("metric").is_some();
    // As on the command line, a drop is one of the pass rate unless a metric is named; no metric is meant by a rise alone.
    if fields.child("max_rise").is_some() && !has_metric {
        let message = format!(
            "{} is missing, which {} needs",
            quote_text(&fields.path_of("metric")),
            quote_text("max_rise")
        );
        fields.reject(
            "metric",
            message,
            Some("for example `metric: cost`".to_owned()),
        );
    }
    if has_metric && bounded.is_none() {
        let message = format!("{} has no bound", quote_text(&fields.path_of("metric")));
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
pub(super) fn read_bound(fields: &mut Fields, key: &str) -> Option<ChangeBound> {
    fields.note_form(key, || {
        ValueForm::OneOf(vec![ValueForm::Amount, ValueForm::Filled])
    });
    let text = match &fields.child(key)?.value {
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Text => &scalar.text,
        Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
            return fields.amount(key).map(|value| ChangeBound {
                value,
                mark: AmountMark::None,
            });
        }
    };
    let bound = ChangeBound::parse(text);
    if bound.is_none() {
        let message = format!(
            "{} must be an amount, not {}",
            quote_text(&fields.path_of(key)),
            quote_text(text)
        );
        fields.reject(
            key,
            message,
            Some("write a number, or as in 2pp or 10%".to_owned()),
        );
    }
    bound
}
