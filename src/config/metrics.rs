//! What the project says about its metrics: words, unit, direction.

use std::collections::BTreeMap;

use crate::document::Fields;
use crate::domain::{Direction, MetricKind, MetricSettings, Unit};

const KINDS: [(&str, MetricKind); 4] =
    [("rate", MetricKind::Rate), ("amount", MetricKind::Amount), ("score", MetricKind::Score), ("count", MetricKind::Count)];

pub(super) fn read(fields: &mut Fields) -> BTreeMap<String, MetricSettings> {
    fields.each_named("metrics", |_, mut fields| {
        let settings = MetricSettings {
            label: fields.text("label"),
            direction: fields.one_of("direction", &Direction::ALL.map(|direction| (direction.name(), direction))),
            unit: fields.one_of("unit", &Unit::ALL.map(|unit| (unit.name(), unit))),
            kind: fields.one_of("kind", &KINDS),
            margin: fields.amount("margin"),
        };
        fields.finish();
        Some(settings)
    })
}
