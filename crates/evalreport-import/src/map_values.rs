//! Reads a map's facts about its source's values: rows to skip, columns side by side, and units.

use std::collections::BTreeMap;

use crate::document::{Fields, Value, quote_text};

use super::field::MappedField;
use super::map::TimeFormat;
use super::map_reader::{ColumnNeed, MapReader};
use super::notation::{Currency, NumberKind, UnitScale};
use super::shape::{RowSkip, WideColumns, WideGroup};

impl MapReader<'_> {
    /// Reads which rows to skip, such as totals.
    pub(super) fn read_skip(&mut self, top: &mut Fields<'_, '_>) -> Option<RowSkip> {
        let mut fields = top.fields("skip")?;
        let column = fields.required_text("column");
        let values = fields.texts("values");
        if values.is_empty() {
            fields.reject_missing("values");
        }
        fields.finish();
        Some(RowSkip {
            slot: self.column_slot(&column?, "skip", ColumnNeed::Optional),
            values,
        })
    }

    /// Reads which columns hold outcomes of several approaches or items side by side.
    pub(super) fn read_wide(&mut self, top: &mut Fields<'_, '_>) -> Option<WideColumns> {
        let mut fields = top.fields("wide")?;
        let name = fields.required_text("name");
        let value = fields.text("value");
        let Some(node) = fields.child("columns") else {
            fields.reject_missing("columns");
            return None;
        };
        let mut groups = Vec::new();
        if let Value::Map(_) = node.value {
            for (label, inner) in fields.entries_of("columns") {
                let path = format!("{}.{}", fields.path_of("columns"), label.text);
                let Value::Map(entries) = &inner.value else {
                    let message = format!(
                        "{} must be a map from new columns to columns of the source",
                        quote_text(&path)
                    );
                    fields.reject_entry("columns", &label.text, message, None);
                    continue;
                };
                let mut cells = Vec::new();
                for (target, source) in entries {
                    if let Some(source) = fields.text_of(source, &format!("{path}.{}", target.text))
                    {
                        cells.push((
                            self.column_slot(&source, "wide", ColumnNeed::Optional),
                            self.column_slot(&target.text, "wide", ColumnNeed::Optional),
                        ));
                    }
                }
                groups.push(WideGroup {
                    name: label.text.clone(),
                    cells,
                });
            }
        } else {
            let columns = fields.texts("columns");
            if value.is_none() {
                fields.reject_missing("value");
            }
            let target = self.column_slot(
                value.as_deref().unwrap_or("value"),
                "wide",
                ColumnNeed::Optional,
            );
            for column in columns {
                groups.push(WideGroup {
                    cells: vec![(
                        self.column_slot(&column, "wide", ColumnNeed::Optional),
                        target,
                    )],
                    name: column,
                });
            }
        }
        fields.finish();
        Some(WideColumns {
            name: self.column_slot(&name?, "wide", ColumnNeed::Optional),
            groups,
        })
    }

    pub(super) fn read_further_scores(
        &mut self,
        fields: &mut Fields<'_, '_>,
    ) -> BTreeMap<String, MappedField> {
        let path = fields.path_of("scores");
        let mut scores = BTreeMap::new();
        for (key, node) in fields.entries_of("scores") {
            let file = fields.file();
            if let Some(field) = self.read_field(
                file,
                node,
                &format!("{path}.{}", key.text),
                ColumnNeed::Optional,
                fields.problems(),
                &mut |_| {},
            ) {
                scores.insert(key.text.clone(), field);
            }
        }
        scores
    }

    pub(super) fn read_timestamp(
        &mut self,
        fields: &mut Fields<'_, '_>,
    ) -> (Option<MappedField>, Option<TimeFormat>) {
        let Some(node) = fields.child("timestamp") else {
            return (None, None);
        };
        let (file, path) = (fields.file(), fields.path_of("timestamp"));
        let mut format = None;
        let field = self.read_field(
            file,
            node,
            &path,
            ColumnNeed::Optional,
            fields.problems(),
            &mut |inner| {
                format = inner.text("format").map(|format| match format.as_str() {
                    "unix" => TimeFormat::Unix,
                    "unix_ms" => TimeFormat::UnixMilliseconds,
                    "excel" => TimeFormat::Excel,
                    _ => TimeFormat::Pattern(format),
                });
            },
        );
        (field, format)
    }

    /// Reads a field in seconds or dollars that the source may have in another unit.
    pub(super) fn read_with_unit(
        &mut self,
        fields: &mut Fields<'_, '_>,
        key: &str,
    ) -> Option<MappedField> {
        let node = fields.child(key)?;
        let (file, path) = (fields.file(), fields.path_of(key));
        let mut unit = None;
        let mut field = self.read_field(file, node, &path, ColumnNeed::Optional, fields.problems(), &mut |inner| {
            unit = inner.one_of("unit", &UnitScale::UNITS);
            let is_money = matches!(unit, Some(UnitScale { counted: NumberKind::Money(_), .. }));
            if unit.is_some() && is_money != (key == "cost_usd") {
                inner.reject("unit", format!("{} is no unit of `{key}`", quote_text(&inner.path_of("unit"))), None);
            }
            let is_foreign = matches!(unit, Some(UnitScale { counted: NumberKind::Money(currency), .. }) if !matches!(currency, Currency::Dollar | Currency::Cent));
            if is_foreign && inner.child("multiply").is_none() {
                let hint = "add `multiply`, the dollars of one: {column: cost, unit: EUR, multiply: 1.08}";
                inner.reject("unit", "the cost is not in dollars".to_owned(), Some(hint.to_owned()));
            }
        })?;
        if let Some(unit) = unit {
            field.scale = UnitScale {
                counted: unit.counted,
                multiply: unit.multiply * field.scale.multiply,
                divide: unit.divide * field.scale.divide,
            };
        }
        Some(field)
    }
}
