//! Code metrics and evaluators beyond the tests: their names and settings.

use std::collections::BTreeMap;

use crate::document::{Fields, MapKey, SwitchSetting, Value, ValueForm, nearest_hint, quote_text};
use crate::domain::{Evaluator, Problem};

/// A metric of the produced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeMetric {
    LinesOfCode,
    FileCount,
}

impl CodeMetric {
    pub const ALL: [Self; 2] = [Self::LinesOfCode, Self::FileCount];

    pub fn name(self) -> &'static str {
        match self {
            Self::LinesOfCode => "lines_of_code",
            Self::FileCount => "file_count",
        }
    }
}

type MetricEvaluatorSettings = (
    BTreeMap<CodeMetric, SwitchSetting>,
    BTreeMap<Evaluator, SwitchSetting>,
);

/// Reads `metrics`, a list of names or a map, and `evaluators`, a map. An evaluator may be listed in either, but only once.
pub(super) fn read_settings(fields: &mut Fields) -> MetricEvaluatorSettings {
    let evaluators = || Evaluator::ALL.map(Evaluator::name);
    let names = || {
        CodeMetric::ALL
            .map(CodeMetric::name)
            .into_iter()
            .chain(evaluators())
    };
    let switches = |names: Vec<&'static str>| {
        ValueForm::Known(
            names
                .into_iter()
                .map(|name| (name, SwitchSetting::accepted_form()))
                .collect(),
            None,
        )
    };
    fields.note_form("metrics", || {
        ValueForm::OneOf(vec![
            ValueForm::list_of(ValueForm::Word(names().map(str::to_owned).collect())),
            switches(names().collect()),
        ])
    });
    fields.note_form("evaluators", || switches(evaluators().into()));
    let mut read = SettingsReader {
        metrics: BTreeMap::new(),
        evaluators: BTreeMap::new(),
    };
    if let Some(node) = fields.child("metrics") {
        match &node.value {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(name) = fields.text_of(item, &format!("metrics[{index}]")) {
                        read.take_setting(
                            fields,
                            "metrics",
                            &MapKey {
                                text: name,
                                line: item.line,
                                column: item.column,
                            },
                            SwitchSetting::On,
                        );
                    }
                }
            }
            Value::Map(_) => read.read_map(fields, "metrics"),
            Value::Scalar(_) => {
                fields.reject(
                    "metrics",
                    format!(
                        "`metrics` must be a list of names or a map of names, not {}",
                        node.kind_noun()
                    ),
                    None,
                );
            }
        }
    }
    read.read_map(fields, "evaluators");
    (read.metrics, read.evaluators)
}

struct SettingsReader {
    metrics: BTreeMap<CodeMetric, SwitchSetting>,
    evaluators: BTreeMap<Evaluator, SwitchSetting>,
}

impl SettingsReader {
    fn read_map(&mut self, fields: &mut Fields, key: &str) {
        for (name, node) in fields.entries_of(key) {
            if let Some(setting) =
                SwitchSetting::read_at(fields, node, &format!("{key}.{}", name.text))
            {
                self.take_setting(fields, key, name, setting);
            }
        }
    }

    fn take_setting(
        &mut self,
        fields: &mut Fields,
        key: &str,
        name: &MapKey,
        setting: SwitchSetting,
    ) {
        let metric = CodeMetric::ALL
            .into_iter()
            .find(|metric| metric.name() == name.text && key == "metrics");
        let is_repeated = match (metric, Evaluator::from_name(&name.text)) {
            (Some(metric), _) => self.metrics.insert(metric, setting).is_some(),
            (None, Some(evaluator)) => self.evaluators.insert(evaluator, setting).is_some(),
            (None, None) => {
                let mut known: Vec<&str> = Evaluator::ALL.map(Evaluator::name).to_vec();
                if key == "metrics" {
                    known.extend(CodeMetric::ALL.map(CodeMetric::name));
                }
                let hint = nearest_hint(&name.text, known.iter().copied())
                    .unwrap_or_else(|| format!("known: {}", known.join(", ")));
                let noun = key.strip_suffix('s').unwrap_or(key);
                reject_name(
                    fields,
                    name,
                    format!("unknown {noun} {}", quote_text(&name.text)),
                    &hint,
                );
                return;
            }
        };
        if is_repeated {
            reject_name(
                fields,
                name,
                format!("{} is given twice", quote_text(&name.text)),
                "keep one of the two",
            );
        }
    }
}

fn reject_name(fields: &mut Fields, name: &MapKey, message: String, hint: &str) {
    let problem =
        Problem::at_position(fields.file(), name.line, name.column, message).with_hint(hint);
    fields.problems().push(problem);
}
