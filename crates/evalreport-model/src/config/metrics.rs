//! The project's settings for its metrics: label, unit, direction.

use std::collections::BTreeMap;

use crate::document::{
    Fields, MapKey, Node, Scalar, ScalarKind, SwitchSetting, Value, ValueForm, nearest_hint,
    quote_text,
};
use crate::domain::{
    AmountMark, Direction, Evaluator, MetricKind, MetricSettings, Problem, Unit, built_in_metric,
    metric_key,
};

use super::gates::read_bound;

const KIND_NAMES: [(&str, MetricKind); 4] = [
    ("rate", MetricKind::Rate),
    ("amount", MetricKind::Amount),
    ("score", MetricKind::Score),
    ("count", MetricKind::Count),
];

/// Reads the metrics' settings, and the enabled evaluators: from `evaluators`, or from `metrics.NAME: true`.
pub(super) fn read_sections(
    fields: &mut Fields,
) -> (
    BTreeMap<String, MetricSettings>,
    BTreeMap<Evaluator, SwitchSetting>,
) {
    fields.note_form("metrics", || {
        let settings = || Fields::derive_form(|own| drop(read_metric(own, "")));
        let switch = || ValueForm::OneOf(vec![ValueForm::Boolean, settings()]);
        ValueForm::Known(
            Evaluator::ALL
                .map(|evaluator| (evaluator.name(), switch()))
                .into(),
            Some(Box::new(settings())),
        )
    });
    fields.note_form("evaluators", || {
        ValueForm::Known(
            Evaluator::ALL
                .map(|evaluator| (evaluator.name(), SwitchSetting::accepted_form()))
                .into(),
            None,
        )
    });
    let mut metrics = BTreeMap::new();
    let mut evaluators = BTreeMap::new();
    for (name, node) in fields.entries_of("metrics") {
        let path = format!("metrics.{}", name.text);
        if let Value::Scalar(Scalar {
            kind: ScalarKind::Bool(_),
            ..
        }) = &node.value
        {
            read_evaluator(fields, name, node, &path, &mut evaluators);
        } else if let Some(own) = Fields::new(fields.file(), node, path, fields.problems()) {
            metrics.insert(name.text.clone(), read_metric(own, &name.text));
        }
    }
    for (name, node) in fields.entries_of("evaluators") {
        read_evaluator(
            fields,
            name,
            node,
            &format!("evaluators.{}", name.text),
            &mut evaluators,
        );
    }
    share_margins(&mut metrics);
    (metrics, evaluators)
}

/// Copies a margin given under an alternative name of a metric to the metric's key. Keeps a margin given under the key itself.
fn share_margins(metrics: &mut BTreeMap<String, MetricSettings>) {
    let others = metrics
        .iter()
        .filter_map(|(name, settings)| Some((metric_key(name), settings.margin?)));
    let others: Vec<(String, f64)> = others
        .map(|(key, margin)| (key.to_owned(), margin))
        .collect();
    for (key, margin) in others {
        metrics.entry(key).or_default().margin.get_or_insert(margin);
    }
}

fn read_metric(mut fields: Fields, name: &str) -> MetricSettings {
    let mut settings = MetricSettings {
        label: fields.text("label"),
        direction: fields.one_of(
            "direction",
            &Direction::ALL.map(|direction| (direction.name(), direction)),
        ),
        unit: fields.one_of("unit", &Unit::ALL.map(|unit| (unit.name(), unit))),
        kind: fields.one_of("kind", &KIND_NAMES),
        margin: None,
    };
    settings.margin = read_margin(&mut fields, name, &settings);
    fields.finish();
    settings
}

/// Reads a margin, and checks it against the metric's known unit and kind.
fn read_margin(fields: &mut Fields, name: &str, settings: &MetricSettings) -> Option<f64> {
    let bound = read_bound(fields, "margin")?;
    let (unit, kind) = built_in_metric(metric_key(name))
        .map_or((None, None), |(unit, kind)| (Some(unit), Some(kind)));
    let kind = settings.kind.or(kind).unwrap_or(MetricKind::Score);
    // Without a known unit, a score with a percent mark counts as a fraction, and one without as a plain number.
    let of_mark = || {
        if bound.mark == AmountMark::None {
            Unit::Number
        } else {
            Unit::Fraction
        }
    };
    let unit = settings.unit.or(unit).unwrap_or_else(of_mark);
    bound
        .to_margin(unit, kind)
        .map_err(|wrong| {
            fields.reject(
                "margin",
                format!(
                    "{} {}",
                    quote_text(&fields.path_of("margin")),
                    wrong.problem
                ),
                Some(wrong.hint.to_owned()),
            );
        })
        .ok()
}

fn read_evaluator(
    fields: &mut Fields,
    name: &MapKey,
    node: &Node,
    path: &str,
    evaluators: &mut BTreeMap<Evaluator, SwitchSetting>,
) {
    let Some(setting) = SwitchSetting::read_at(fields, node, path) else {
        return;
    };
    let mut reject = |message, hint: String| {
        let problem =
            Problem::at_position(fields.file(), name.line, name.column, message).with_hint(hint);
        fields.problems().push(problem);
    };
    let Some(evaluator) = Evaluator::from_name(&name.text) else {
        let known = Evaluator::ALL.map(Evaluator::name);
        let hint = nearest_hint(&name.text, known)
            .unwrap_or_else(|| format!("known: {}", known.join(", ")));
        reject(
            format!("unknown evaluator {}", quote_text(&name.text)),
            hint,
        );
        return;
    };
    if evaluators.insert(evaluator, setting).is_some() {
        reject(
            format!("{} is given twice", quote_text(&name.text)),
            "keep one of the two".to_owned(),
        );
    }
}
