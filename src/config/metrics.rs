//! What the project says about its metrics: words, unit, direction.

use std::collections::BTreeMap;

use crate::document::{Fields, Key, Node, Scalar, ScalarKind, Setting, Value, nearest_hint, quote};
use crate::domain::{Direction, Evaluator, MetricKind, MetricSettings, Problem, Unit};

const KINDS: [(&str, MetricKind); 4] =
    [("rate", MetricKind::Rate), ("amount", MetricKind::Amount), ("score", MetricKind::Score), ("count", MetricKind::Count)];

/// Reads what is said about metrics, and which evaluators are switched on: under `evaluators`, or as `metrics.NAME: true`.
pub(super) fn read(fields: &mut Fields) -> (BTreeMap<String, MetricSettings>, BTreeMap<Evaluator, Setting>) {
    let mut metrics = BTreeMap::new();
    let mut evaluators = BTreeMap::new();
    for (name, node) in fields.entries_of("metrics") {
        let path = format!("metrics.{}", name.text);
        if let Value::Scalar(Scalar { kind: ScalarKind::Bool(_), .. }) = &node.value {
            take(fields, name, node, &path, &mut evaluators);
        } else if let Some(own) = Fields::new(fields.file(), node, path, fields.problems()) {
            metrics.insert(name.text.clone(), read_one(own));
        }
    }
    for (name, node) in fields.entries_of("evaluators") {
        take(fields, name, node, &format!("evaluators.{}", name.text), &mut evaluators);
    }
    (metrics, evaluators)
}

fn read_one(mut fields: Fields) -> MetricSettings {
    let settings = MetricSettings {
        label: fields.text("label"),
        direction: fields.one_of("direction", &Direction::ALL.map(|direction| (direction.name(), direction))),
        unit: fields.one_of("unit", &Unit::ALL.map(|unit| (unit.name(), unit))),
        kind: fields.one_of("kind", &KINDS),
        margin: fields.amount("margin"),
    };
    fields.finish();
    settings
}

fn take(fields: &mut Fields, name: &Key, node: &Node, path: &str, evaluators: &mut BTreeMap<Evaluator, Setting>) {
    let Some(setting) = Setting::read(fields, node, path) else { return };
    let mut reject = |message, hint: String| {
        let problem = Problem::at(fields.file(), name.line, name.column, message).with_hint(hint);
        fields.problems().push(problem);
    };
    let Some(evaluator) = Evaluator::from_name(&name.text) else {
        let known = Evaluator::ALL.map(Evaluator::name);
        let hint = nearest_hint(&name.text, known).unwrap_or_else(|| format!("known: {}", known.join(", ")));
        reject(format!("unknown evaluator {}", quote(&name.text)), hint);
        return;
    };
    if evaluators.insert(evaluator, setting).is_some() {
        reject(format!("{} is given twice", quote(&name.text)), "keep one of the two".to_owned());
    }
}
