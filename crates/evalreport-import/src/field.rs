//! How a map finds a field's value in a foreign row. The rules are a closed set that always ends: sums, differences and scales, nothing to
//! execute.

use std::borrow::Cow;

use regex::Regex;

use crate::document::quote_text;

use super::cell::{
    CellKind, NumberRange, Refused, RowCell, parse_count, parse_date_time, parse_number, same_value,
};
use super::notation::{Notation, NumberKind, UnitScale};
use super::source::hex_digest;

/// A row with its number and its source.
pub(super) struct RowView<'a> {
    pub cells: &'a [RowCell],
    pub notation: &'a Notation,
    /// Row number within the part, from 1.
    pub number: u64,
    /// The source's file name.
    pub file: &'a str,
    /// The file's name inside an archive.
    pub member: Option<&'a str>,
}

/// Where a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueOrigin {
    /// A slot of the row's cells.
    Column(usize),
    /// The source's file name.
    File,
    /// The name of the archive's member.
    Member,
    /// The number of the row.
    Row,
}

/// How a value is found.
#[derive(Clone, Debug)]
pub(super) enum FieldRule {
    Constant(String),
    Cell(ValueOrigin),
    /// Several values with `/` between them. Not measured if one of them is not.
    Joined(Vec<ValueOrigin>),
    /// Maps exactly these values to texts. A target of `None` means not measured. The empty value is a blank cell, which is else not measured.
    Values {
        origin: ValueOrigin,
        values: Vec<(String, Option<String>)>,
        otherwise: UnlistedValuePolicy,
    },
    Regex {
        origin: ValueOrigin,
        pattern: Regex,
        group: usize,
    },
    /// Sum of several columns. Not measured if one of them is not.
    Sum(Vec<ValueOrigin>),
    /// The first minus the second: of numbers, or of times in seconds.
    Difference(ValueOrigin, ValueOrigin),
    /// The first divided by the second, or a cell such as `3/4`.
    Ratio(ValueOrigin, Option<ValueOrigin>),
}

/// Treatment of a value that a value map does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnlistedValuePolicy {
    Refuse,
    Keep,
    /// Not measured.
    Missing,
    Constant(String),
}

#[derive(Clone, Debug)]
pub(super) struct MappedField {
    /// The column or other origin, as messages name it.
    pub label: String,
    pub rule: FieldRule,
    pub scale: UnitScale,
}

impl ValueOrigin {
    /// Returns the trimmed text, or `None` if the value is not measured: absent, null, empty, or a text that the map calls missing.
    pub fn read_text<'a>(
        self,
        label: &str,
        row: &RowView<'a>,
    ) -> Result<Option<Cow<'a, str>>, Refused> {
        let text = match self {
            Self::Row => return Ok(Some(Cow::Owned(row.number.to_string()))),
            Self::Column(slot) => {
                let cell = &row.cells[slot];
                match cell.kind {
                    CellKind::Absent | CellKind::Null => return Ok(None),
                    CellKind::Text | CellKind::Number | CellKind::Boolean => cell.text.as_str(),
                    CellKind::Compound => {
                        return Err(Refused::new(format!(
                            "{label} is a list or an object, not one value"
                        )));
                    }
                    CellKind::Ambiguous => {
                        return Err(Refused::new(format!(
                            "{label} is there twice, with different values"
                        )));
                    }
                    CellKind::Invalid => {
                        return Err(Refused::new(format!("{label} is not UTF-8")));
                    }
                    CellKind::Uncomputed => {
                        return Err(Refused::new(format!(
                            "{label} is a formula whose value is not stored"
                        )));
                    }
                }
            }
            Self::File => row.file,
            Self::Member => row.member.unwrap_or(row.file),
        };
        let text = text.trim();
        Ok((!text.is_empty() && !row.notation.is_missing(text)).then_some(Cow::Borrowed(text)))
    }

    fn read_number(self, label: &str, row: &RowView<'_>) -> Result<Option<f64>, Refused> {
        let text = self.read_text(label, row)?;
        text.map(|text| {
            parse_number(
                label,
                &row.notation.normalise_number(&text, NumberKind::Itself),
                NumberRange::Any,
            )
        })
        .transpose()
    }
}

impl MappedField {
    pub fn from_constant(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(
            format!("the constant {}", quote_text(&text)),
            FieldRule::Constant(text),
        )
    }

    pub fn new(label: String, rule: FieldRule) -> Self {
        Self {
            label,
            rule,
            scale: UnitScale::NONE,
        }
    }

    /// Returns the field's text in this row, or `None` if it is not measured. If the map scales the field, the text is the scaled number.
    pub fn read_text<'a>(&'a self, row: &RowView<'a>) -> Result<Option<Cow<'a, str>>, Refused> {
        if self.scale == UnitScale::NONE {
            return self.read_unscaled(row);
        }
        Ok(self
            .read_number(row, NumberRange::Any)?
            .map(|number| Cow::Owned(number.to_string())))
    }

    /// Returns the text as the source has it, unscaled.
    fn read_unscaled<'a>(&'a self, row: &RowView<'a>) -> Result<Option<Cow<'a, str>>, Refused> {
        match &self.rule {
            FieldRule::Constant(text) => Ok(Some(Cow::Borrowed(text))),
            FieldRule::Cell(origin) => origin.read_text(&self.label, row),
            FieldRule::Joined(origins) => {
                let mut joined = String::new();
                for (index, origin) in origins.iter().enumerate() {
                    let Some(part) = origin.read_text(&self.label, row)? else {
                        return Ok(None);
                    };
                    if index > 0 {
                        joined.push('/');
                    }
                    joined.push_str(&part);
                }
                Ok(Some(Cow::Owned(joined)))
            }
            FieldRule::Values {
                origin,
                values,
                otherwise,
            } => {
                let Some(raw) = origin.read_text(&self.label, row)? else {
                    let blank = values.iter().find(|(value, _)| value.is_empty());
                    return Ok(blank.and_then(|(_, target)| target.as_deref().map(Cow::Borrowed)));
                };
                if let Some((_, target)) = values.iter().find(|(value, _)| same_value(value, &raw))
                {
                    return Ok(target.as_deref().map(Cow::Borrowed));
                }
                match otherwise {
                    UnlistedValuePolicy::Refuse => Err(Refused::with_value(
                        format!("{} has a value that the map does not list", self.label),
                        &raw,
                    )),
                    UnlistedValuePolicy::Keep => Ok(Some(raw)),
                    UnlistedValuePolicy::Missing => Ok(None),
                    UnlistedValuePolicy::Constant(text) => Ok(Some(Cow::Borrowed(text))),
                }
            }
            FieldRule::Regex {
                origin,
                pattern,
                group,
            } => {
                let Some(raw) = origin.read_text(&self.label, row)? else {
                    return Ok(None);
                };
                let Some(captures) = pattern.captures(&raw) else {
                    return Err(Refused::with_value(
                        format!("{} does not match the pattern", self.label),
                        &raw,
                    ));
                };
                let text = captures
                    .get(*group)
                    .map_or("", |found| found.as_str().trim());
                Ok((!text.is_empty()).then(|| Cow::Owned(text.to_owned())))
            }
            FieldRule::Sum(origins) => {
                let mut sum = 0.0;
                for origin in origins {
                    let Some(part) = origin.read_number(&self.label, row)? else {
                        return Ok(None);
                    };
                    sum += part;
                }
                Ok(Some(Cow::Owned(sum.to_string())))
            }
            FieldRule::Difference(from, less) => {
                let (Some(left), Some(right)) = (
                    from.read_text(&self.label, row)?,
                    less.read_text(&self.label, row)?,
                ) else {
                    return Ok(None);
                };
                let difference = match (
                    parse_date_time(&self.label, &left),
                    parse_date_time(&self.label, &right),
                ) {
                    (Ok(left), Ok(right)) => (left - right)
                        .num_microseconds()
                        .map_or(f64::NAN, |micros| micros as f64 / 1e6),
                    _ => {
                        from.read_number(&self.label, row)?.unwrap_or_default()
                            - less.read_number(&self.label, row)?.unwrap_or_default()
                    }
                };
                Ok(Some(Cow::Owned(difference.to_string())))
            }
            FieldRule::Ratio(part, whole) => {
                let (part, whole) = match whole {
                    Some(whole) => (
                        part.read_number(&self.label, row)?,
                        whole.read_number(&self.label, row)?,
                    ),
                    None => {
                        let Some(text) = part.read_text(&self.label, row)? else {
                            return Ok(None);
                        };
                        let cell = text.split_once('/').ok_or_else(|| {
                            Refused::with_value(format!("{} is not a ratio", self.label), &text)
                        })?;
                        let number = |text: &str| {
                            parse_number(
                                &self.label,
                                &row.notation
                                    .normalise_number(text.trim(), NumberKind::Itself),
                                NumberRange::Any,
                            )
                        };
                        (Some(number(cell.0)?), Some(number(cell.1)?))
                    }
                };
                let (Some(part), Some(whole)) = (part, whole) else {
                    return Ok(None);
                };
                if whole == 0.0 {
                    return Err(Refused::new(format!("{} is divided by zero", self.label)));
                }
                Ok(Some(Cow::Owned((part / whole).to_string())))
            }
        }
    }

    pub fn read_amount(&self, row: &RowView<'_>) -> Result<Option<f64>, Refused> {
        self.read_number(row, NumberRange::NotNegative)
    }

    /// Returns the number in our unit.
    pub fn read_number(
        &self,
        row: &RowView<'_>,
        range: NumberRange,
    ) -> Result<Option<f64>, Refused> {
        let Some(text) = self.read_unscaled(row)? else {
            return Ok(None);
        };
        if self.scale.counted == NumberKind::Time {
            let seconds = row.notation.parse_seconds(&text, self.scale);
            let seconds = seconds.ok_or_else(|| {
                Refused::with_value(format!("{} is not a time", self.label), &text)
            })?;
            return parse_number(&self.label, &seconds.to_string(), range).map(Some);
        }
        let value = parse_number(&self.label, &self.to_plain_number(&text, row), range)?;
        Ok(Some(self.scale.apply(value)))
    }

    /// Returns the number in the notation of programs. A sum, a difference or a ratio is in it already.
    fn to_plain_number<'a>(&self, text: &'a str, row: &RowView<'_>) -> Cow<'a, str> {
        match self.rule {
            FieldRule::Sum(_) | FieldRule::Difference(..) | FieldRule::Ratio(..) => {
                Cow::Borrowed(text)
            }
            _ => row.notation.normalise_number(text, self.scale.counted),
        }
    }

    /// Returns the number's text in the notation of programs, unscaled.
    pub fn read_numeral<'a>(&'a self, row: &RowView<'a>) -> Result<Option<Cow<'a, str>>, Refused> {
        let Some(text) = self.read_unscaled(row)? else {
            return Ok(None);
        };
        Ok(Some(match self.to_plain_number(&text, row) {
            Cow::Borrowed(_) => text,
            Cow::Owned(plain) => Cow::Owned(plain),
        }))
    }

    /// Returns the whole number in our unit.
    pub fn read_count(&self, row: &RowView<'_>) -> Result<Option<u64>, Refused> {
        /// As floats, 4.35 × 100 is not quite 435.
        const ROUNDING_SLACK: f64 = 1e-9;
        let Some(text) = self.read_numeral(row)? else {
            return Ok(None);
        };
        if self.scale == UnitScale::NONE {
            return parse_count(&self.label, &text).map(Some);
        }
        let scaled = self
            .scale
            .apply(parse_number(&self.label, &text, NumberRange::NotNegative)?);
        let nearest = scaled.round();
        let is_whole = (scaled - nearest).abs() <= ROUNDING_SLACK * nearest.max(1.0);
        let found = if is_whole {
            parse_count(&self.label, &nearest.to_string()).ok()
        } else {
            None
        };
        found.map(Some).ok_or_else(|| {
            Refused::with_value(
                format!("{} is not a whole number once it is scaled", self.label),
                &text,
            )
        })
    }

    /// Returns a name of bounded length. A longer one, such as a question's text, is cut and ends in its digest.
    pub fn read_name<'a>(&'a self, row: &RowView<'a>) -> Result<Option<Cow<'a, str>>, Refused> {
        const MAX_NAME_BYTES: usize = 1024;
        const KEPT_NAME_BYTES: usize = 200;
        Ok(self.read_text(row)?.map(|name| {
            if name.len() <= MAX_NAME_BYTES {
                return name;
            }
            let end = (0..=KEPT_NAME_BYTES)
                .rev()
                .find(|end| name.is_char_boundary(*end))
                .unwrap_or_default();
            Cow::Owned(format!(
                "{}… {}",
                &name[..end],
                &hex_digest(&[name.as_bytes()], false)[..16]
            ))
        }))
    }

    /// Returns a name. An empty one is an error.
    pub fn read_required_name<'a>(&'a self, row: &RowView<'a>) -> Result<Cow<'a, str>, Refused> {
        self.read_name(row)?
            .ok_or_else(|| Refused::new(format!("{} is empty", self.label)))
    }

    /// Returns the texts that the map itself supplies. They are checked before any row is read.
    pub fn constant_texts(&self) -> Vec<&str> {
        match &self.rule {
            FieldRule::Constant(text) => vec![text],
            FieldRule::Cell(_)
            | FieldRule::Joined(_)
            | FieldRule::Regex { .. }
            | FieldRule::Sum(_)
            | FieldRule::Difference(..)
            | FieldRule::Ratio(..) => Vec::new(),
            FieldRule::Values {
                values, otherwise, ..
            } => {
                let mut texts: Vec<&str> = values
                    .iter()
                    .filter_map(|(_, target)| target.as_deref())
                    .collect();
                if let UnlistedValuePolicy::Constant(text) = otherwise {
                    texts.push(text);
                }
                texts
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMN: ValueOrigin = ValueOrigin::Column(0);

    fn check(rule: FieldRule, raw: &str, expected: Result<Option<&str>, &str>) {
        let mut cells = vec![RowCell::default(), RowCell::default()];
        cells[0].set(CellKind::Text, raw);
        cells[1].set(CellKind::Number, "7");
        let field = MappedField::new("`x`".to_owned(), rule);
        let notation = Notation {
            missing: vec!["n/a".to_owned()],
            ..Notation::default()
        };
        let row = RowView {
            cells: &cells,
            notation: &notation,
            number: 1,
            file: "outputs_m1_5shots.zip",
            member: None,
        };
        let found = field.read_text(&row).map_err(|refused| refused.reason);
        assert_eq!(
            found.as_ref().map(Option::as_deref).map_err(String::as_str),
            expected,
            "{raw}"
        );
    }

    #[test]
    fn a_cell_is_trimmed_and_empty_is_not_measured() {
        check(FieldRule::Cell(COLUMN), " a b ", Ok(Some("a b")));
        check(FieldRule::Cell(COLUMN), "  ", Ok(None));
        check(FieldRule::Cell(COLUMN), "N/A", Ok(None));
        check(FieldRule::Cell(ValueOrigin::Row), "N/A", Ok(Some("1")));
        check(
            FieldRule::Sum(vec![COLUMN, ValueOrigin::Column(1)]),
            "0.5",
            Ok(Some("7.5")),
        );
        check(
            FieldRule::Difference(COLUMN, ValueOrigin::Column(1)),
            "10",
            Ok(Some("3")),
        );
        check(
            FieldRule::Ratio(COLUMN, Some(ValueOrigin::Column(1))),
            "3.5",
            Ok(Some("0.5")),
        );
        check(FieldRule::Ratio(COLUMN, None), "3 / 4", Ok(Some("0.75")));
        check(
            FieldRule::Ratio(COLUMN, None),
            "3/0",
            Err("`x` is divided by zero"),
        );
        check(
            FieldRule::Ratio(COLUMN, None),
            "3",
            Err("`x` is not a ratio"),
        );
        check(FieldRule::Ratio(COLUMN, None), "", Ok(None));
        check(FieldRule::Constant("c".to_owned()), "", Ok(Some("c")));
        check(
            FieldRule::Joined(vec![COLUMN, ValueOrigin::Column(1)]),
            "a",
            Ok(Some("a/7")),
        );
        check(
            FieldRule::Joined(vec![COLUMN, ValueOrigin::Column(1)]),
            "",
            Ok(None),
        );
    }

    #[test]
    fn a_value_map_lists_what_may_be() {
        let values = || {
            vec![
                ("0".to_owned(), None),
                ("1".to_owned(), Some("pass".to_owned())),
            ]
        };
        let rule = |otherwise| FieldRule::Values {
            origin: COLUMN,
            values: values(),
            otherwise,
        };
        check(rule(UnlistedValuePolicy::Refuse), "1.0", Ok(Some("pass")));
        check(rule(UnlistedValuePolicy::Refuse), "0.0000", Ok(None));
        check(rule(UnlistedValuePolicy::Refuse), "", Ok(None));
        check(
            rule(UnlistedValuePolicy::Refuse),
            "2",
            Err("`x` has a value that the map does not list"),
        );
        check(rule(UnlistedValuePolicy::Keep), "2", Ok(Some("2")));
        check(rule(UnlistedValuePolicy::Missing), "2", Ok(None));
        check(
            rule(UnlistedValuePolicy::Constant("fail".to_owned())),
            "2",
            Ok(Some("fail")),
        );
    }

    #[test]
    fn a_pattern_takes_one_group() {
        let pattern = Regex::new("^outputs_(.+)_5shots").expect("a valid pattern");
        check(
            FieldRule::Regex {
                origin: ValueOrigin::File,
                pattern: pattern.clone(),
                group: 1,
            },
            "",
            Ok(Some("m1")),
        );
        check(
            FieldRule::Regex {
                origin: COLUMN,
                pattern,
                group: 1,
            },
            "other",
            Err("`x` does not match the pattern"),
        );
    }

    #[test]
    fn a_scale_holds_for_texts_and_whole_numbers_too() {
        let notation = Notation::default();
        let field = |multiply, divide| {
            let scale = UnitScale {
                multiply,
                divide,
                ..UnitScale::NONE
            };
            MappedField {
                scale,
                ..MappedField::new("`x`".to_owned(), FieldRule::Cell(COLUMN))
            }
        };
        let check = |raw: &str, field: &MappedField, expected: Result<u64, &str>| {
            let mut cells = vec![RowCell::default()];
            cells[0].set(CellKind::Text, raw);
            let row = RowView {
                cells: &cells,
                notation: &notation,
                number: 1,
                file: "f",
                member: None,
            };
            let found = field.read_count(&row).map_err(|refused| refused.reason);
            assert_eq!(found, expected.map(Some).map_err(str::to_owned), "{raw}");
            if let Ok(whole) = expected {
                let text = field.read_text(&row).ok().flatten().unwrap_or_default();
                assert!(
                    text.parse::<f64>()
                        .is_ok_and(|number| (number - whole as f64).abs() < 1e-6),
                    "{text}"
                );
            }
        };
        check("12.5", &field(1000.0, 1.0), Ok(12_500));
        check("4.35", &field(100.0, 1.0), Ok(435));
        check("3000", &field(1.0, 1000.0), Ok(3));
        check(
            "3001",
            &field(1.0, 1000.0),
            Err("`x` is not a whole number once it is scaled"),
        );
        check(
            "1e300",
            &field(1000.0, 1.0),
            Err("`x` is not a whole number once it is scaled"),
        );
        check("-1", &field(1000.0, 1.0), Err("`x` is negative"));
    }

    #[test]
    fn what_is_no_single_value_is_refused() {
        let mut cells = vec![RowCell::default()];
        for (kind, reason) in [
            (
                CellKind::Compound,
                "x is a list or an object, not one value",
            ),
            (
                CellKind::Ambiguous,
                "x is there twice, with different values",
            ),
            (CellKind::Invalid, "x is not UTF-8"),
            (
                CellKind::Uncomputed,
                "x is a formula whose value is not stored",
            ),
        ] {
            cells[0].set(kind, "");
            let notation = Notation::default();
            let found = COLUMN.read_text(
                "x",
                &RowView {
                    cells: &cells,
                    notation: &notation,
                    number: 1,
                    file: "f",
                    member: None,
                },
            );
            assert_eq!(
                found.map_err(|refused| refused.reason),
                Err(reason.to_owned())
            );
        }
    }
}
