//! One value of a foreign row, and the ways to read its text.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Utc};

use crate::document::quote_text;

use super::counts;

/// Kind of a value, as the reader found it. The text stays as the source wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CellKind {
    /// The row does not have the column.
    #[default]
    Absent,
    Null,
    Text,
    Number,
    Boolean,
    /// A list or an object where one value is expected. Only a list of yes and no has a text.
    Compound,
    /// The row has the column twice, with different values.
    Ambiguous,
    /// Bytes that are not UTF-8.
    Invalid,
    /// A formula whose value the workbook does not have.
    Uncomputed,
}

/// Maximum number of attempts at an item in one cell.
pub(super) const MAX_TRIES: usize = 1000;

/// A reused buffer: reading ten million rows allocates only when a text is longer than any before it.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCell {
    pub kind: CellKind,
    pub text: String,
}

impl RowCell {
    pub fn clear(&mut self) {
        self.set(CellKind::Absent, "");
    }

    pub fn set(&mut self, kind: CellKind, text: &str) {
        self.kind = kind;
        self.text.clear();
        self.text.push_str(text);
    }

    /// Sets a list. It has a text if it is short and each item is yes or no, because these may be the outcomes of attempts: `[true, false]`.
    pub fn set_list(&mut self, items: impl IntoIterator<Item = Option<bool>>) {
        self.set(CellKind::Compound, "");
        for (number, item) in items.into_iter().enumerate() {
            let Some(item) = item.filter(|_| number < MAX_TRIES) else {
                return self.text.clear();
            };
            self.text
                .push_str(if self.text.is_empty() { "[" } else { ", " });
            self.text.push_str(if item { "true" } else { "false" });
        }
        if !self.text.is_empty() {
            self.text.push(']');
        }
    }

    /// Returns a value that is yes or no.
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind == CellKind::Boolean).then_some(self.text == "true")
    }

    pub fn set_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.set(CellKind::Text, text),
            Err(_) => self.set(CellKind::Invalid, ""),
        }
    }
}

/// Reason why a row was refused. Rows with the same `reason` are counted together, so `reason` holds no value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub reason: String,
    /// This row's value or other detail, shown with the examples.
    pub detail: Option<String>,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            detail: None,
        }
    }

    pub fn with_value(reason: impl Into<String>, value: &str) -> Self {
        Self {
            reason: reason.into(),
            detail: Some(format!("it is {}", quote_text(value))),
        }
    }

    pub fn with_detail(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            detail: Some(detail.into()),
        }
    }
}

/// Returns whether two texts are the same value: equal texts, or numbers of equal size (`0`, `0.0`, `0.0000`).
pub(super) fn same_value(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    let looks_numeric = |text: &str| {
        text.bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.'))
    };
    if !looks_numeric(left) || !looks_numeric(right) {
        return false;
    }
    // Compare long integers (ids) as integers: as floats, neighbours beyond 2^53 would be equal.
    if let (Ok(left), Ok(right)) = (left.parse::<i128>(), right.parse::<i128>()) {
        return left == right;
    }
    #[expect(
        clippy::float_cmp,
        reason = "two spellings of one number parse to the same bits"
    )]
    match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => left.is_finite() && left == right,
        _ => false,
    }
}

/// Allowed range of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberRange {
    Any,
    NotNegative,
}

/// Reads a finite number.
pub(super) fn parse_number(name: &str, text: &str, range: NumberRange) -> Result<f64, Refused> {
    let value: f64 = text
        .parse()
        .map_err(|_| Refused::with_value(format!("{name} is not a number"), text))?;
    if value.is_nan() {
        return Err(Refused::with_value(format!("{name} is not a number"), text));
    }
    if value.is_infinite() {
        return Err(Refused::with_value(
            format!("{name} is not a finite number"),
            text,
        ));
    }
    if range == NumberRange::NotNegative && value < 0.0 {
        return Err(Refused::with_value(format!("{name} is negative"), text));
    }
    // A negative zero would print as `-0`.
    Ok(value + 0.0)
}

/// Reads a whole number, also when it is written `12.0`.
pub(super) fn parse_count(name: &str, text: &str) -> Result<u64, Refused> {
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let value = parse_number(name, text, NumberRange::NotNegative)?;
    counts::count_from_float(value)
        .ok_or_else(|| Refused::with_value(format!("{name} is not a whole number"), text))
}

/// End of the year 9999. Years of later times have more than four digits, and records with such a time cannot be read back.
const MAX_SECONDS: f64 = 253_402_300_799.0;

/// Returns the time if its year, in UTC, has four digits.
fn check_year(name: &str, text: &str, time: DateTime<Utc>) -> Result<DateTime<Utc>, Refused> {
    let is_writable = (0..=9999).contains(&time.year());
    if is_writable {
        Ok(time)
    } else {
        Err(Refused::with_value(
            format!("{name} is not in the years 0 to 9999"),
            text,
        ))
    }
}

/// Converts seconds since 1970 into a time, to the microsecond. Returns `None` before 1970 and after the year 9999.
pub(super) fn time_from_unix_seconds(seconds: f64) -> Option<DateTime<Utc>> {
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "within the range of times")]
    DateTime::from_timestamp_micros((seconds * 1e6).round() as i64)
}

/// Parses a time: RFC 3339, RFC 2822, a date, or a date and time without a zone, which is taken as UTC.
pub(super) fn parse_date_time(name: &str, text: &str) -> Result<DateTime<Utc>, Refused> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return check_year(name, text, time.to_utc());
    }
    if let Ok(time) = DateTime::parse_from_rfc2822(text) {
        return check_year(name, text, time.to_utc());
    }
    let local = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
    ]
    .into_iter()
    .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
    .or_else(|| {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)
    });
    let local =
        local.ok_or_else(|| Refused::with_value(format!("{name} is not a date or time"), text))?;
    check_year(name, text, local.and_utc())
}

/// Parses a time in a `strftime` pattern. A time without a zone is taken as UTC.
pub(super) fn parse_date_time_by_pattern(
    name: &str,
    text: &str,
    pattern: &str,
) -> Result<DateTime<Utc>, Refused> {
    // A date cell of a workbook has the standard form, whatever pattern the map gives for texts.
    if let Ok(time) = parse_date_time(name, text) {
        return Ok(time);
    }
    let time = match_date_time(text, pattern).ok_or_else(|| {
        Refused::with_value(format!("{name} is not a time as the map writes it"), text)
    })?;
    check_year(name, text, time)
}

/// Parses a time in a `strftime` pattern, with months in several languages. A year of two digits is none of four.
pub(super) fn match_date_time(text: &str, pattern: &str) -> Option<DateTime<Utc>> {
    const MIN_YEAR: i32 = 1000;
    let text = if pattern.contains("%b") || pattern.contains("%B") {
        with_english_month(text)
    } else {
        Cow::Borrowed(text)
    };
    let local = || {
        let time = NaiveDateTime::parse_from_str(&text, pattern).ok();
        time.or_else(|| {
            NaiveDate::parse_from_str(&text, pattern)
                .ok()?
                .and_hms_opt(0, 0, 0)
        })
        .map(|time| time.and_utc())
    };
    let time = DateTime::parse_from_str(&text, pattern)
        .map(|time| time.to_utc())
        .ok()
        .or_else(local)?;
    (time.year() >= MIN_YEAR || !pattern.contains("%Y")).then_some(time)
}

/// Names of months in German, French, Spanish, Italian, Portuguese, Dutch and Swedish that are not written as in English.
#[rustfmt::skip]
const MONTH_NAMES: [(&str, &str); 60] = [
    ("januar", "Jan"), ("jänner", "Jan"), ("janvier", "Jan"), ("enero", "Jan"), ("ene", "Jan"), ("gennaio", "Jan"), ("gen", "Jan"), ("janeiro", "Jan"),
    ("januari", "Jan"), ("februar", "Feb"), ("février", "Feb"), ("févr", "Feb"), ("febrero", "Feb"), ("febbraio", "Feb"), ("fevereiro", "Feb"), ("februari", "Feb"),
    ("märz", "Mar"), ("mär", "Mar"), ("mars", "Mar"), ("marzo", "Mar"), ("março", "Mar"), ("maart", "Mar"), ("avril", "Apr"), ("avr", "Apr"), ("abril", "Apr"),
    ("aprile", "Apr"), ("mai", "May"), ("mayo", "May"), ("maggio", "May"), ("maio", "May"), ("mei", "May"), ("maj", "May"), ("juni", "Jun"), ("juin", "Jun"),
    ("junio", "Jun"), ("juli", "Jul"), ("juillet", "Jul"), ("julio", "Jul"), ("août", "Aug"), ("agosto", "Aug"), ("sept", "Sep"), ("okt", "Oct"), ("oktober", "Oct"),
    ("dez", "Dec"), ("dezember", "Dec"), ("augustus", "Aug"), ("augusti", "Aug"), ("septembre", "Sep"), ("octobre", "Oct"), ("octubre", "Oct"), ("ottobre", "Oct"),
    ("outubro", "Oct"), ("noviembre", "Nov"), ("novembre", "Nov"), ("septiembre", "Sep"), ("settembre", "Sep"), ("setembro", "Sep"), ("novembro", "Nov"),
    ("décembre", "Dec"), ("diciembre", "Dec"),
];

/// Writes the month's name in English, without the point of an abbreviation.
fn with_english_month(text: &str) -> Cow<'_, str> {
    let Some(start) = text.find(char::is_alphabetic) else {
        return Cow::Borrowed(text);
    };
    let length = text[start..]
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(text.len() - start);
    let (word, rest) = text[start..].split_at(length);
    let known = MONTH_NAMES
        .iter()
        .find(|(name, _)| *name == word.to_lowercase());
    let is_short = word.chars().count() <= 4;
    let rest = if is_short {
        rest.strip_prefix('.').unwrap_or(rest)
    } else {
        rest
    };
    Cow::Owned(format!(
        "{}{}{rest}",
        &text[..start],
        known.map_or(word, |(_, english)| english)
    ))
}

/// Parses a time in parts of seconds since 1970, for example milliseconds with 1000 parts.
pub(super) fn parse_unix_time(
    name: &str,
    text: &str,
    parts: f64,
) -> Result<DateTime<Utc>, Refused> {
    let seconds = parse_number(name, text, NumberRange::NotNegative)? / parts;
    time_from_unix_seconds(seconds).ok_or_else(|| {
        Refused::with_value(format!("{name} is not in the years 1970 to 9999"), text)
    })
}

/// Parses a time that a spreadsheet has as a number of days, with the time of day as the fraction.
pub(super) fn parse_spreadsheet_time(name: &str, text: &str) -> Result<DateTime<Utc>, Refused> {
    /// The first day of 1970.
    const DAYS_BEFORE_1970: f64 = 25_569.0;
    let seconds =
        (parse_number(name, text, NumberRange::NotNegative)? - DAYS_BEFORE_1970) * 86_400.0;
    time_from_unix_seconds(seconds).ok_or_else(|| {
        Refused::with_value(format!("{name} is not in the years 1970 to 9999"), text)
    })
}

/// Returns the number of digits after the decimal point, as printed.
pub(super) fn count_decimals(text: &str) -> u32 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = mantissa
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    let shift: i64 = exponent.parse().unwrap_or(0);
    let digits = i64::try_from(digits).unwrap_or(0) - shift;
    u32::try_from(digits.clamp(0, 30)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_as_numbers_and_text_as_text() {
        for (left, right, expected) in [
            ("0", "0.0000", true),
            ("1", "1e0", true),
            ("-0.5", "-.5", true),
            ("9007199254740993", "9007199254740992", false),
            ("A", "A", true),
            ("A", "a", false),
            ("nan", "NaN", false),
            ("1", "true", false),
            ("1e999", "2e999", false),
        ] {
            assert_eq!(same_value(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!(
            parse_number("x", "-0", NumberRange::NotNegative).map(f64::to_bits),
            Ok(0.0_f64.to_bits())
        );
        for (text, reason) in [
            ("NaN", "x is not a number"),
            ("inf", "x is not a finite number"),
            ("-Infinity", "x is not a finite number"),
            ("1e400", "x is not a finite number"),
            ("1,000", "x is not a number"),
            ("-3", "x is negative"),
        ] {
            assert_eq!(
                parse_number("x", text, NumberRange::NotNegative).map_err(|refused| refused.reason),
                Err(reason.to_owned()),
                "{text}"
            );
        }
        assert_eq!(parse_number("x", "-3", NumberRange::Any), Ok(-3.0));
    }

    #[test]
    fn whole_numbers_are_whole() {
        assert_eq!(parse_count("n", "12"), Ok(12));
        assert_eq!(parse_count("n", "12.0"), Ok(12));
        assert_eq!(parse_count("n", "18446744073709551615"), Ok(u64::MAX));
        for text in ["1.5", "-1", "1e300", "x", "NaN"] {
            assert!(parse_count("n", text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_without_a_zone_are_utc() {
        for text in [
            "2024-05-01T10:00:00Z",
            "2024-05-01T12:00:00+02:00",
            "2024-05-01 10:00:00",
            "2024-05-01T10:00",
        ] {
            assert_eq!(
                parse_date_time("t", text).map(|time| time.to_rfc3339()),
                Ok("2024-05-01T10:00:00+00:00".to_owned()),
                "{text}"
            );
        }
        assert_eq!(
            parse_date_time("t", "2024-05-01").map(|time| time.timestamp()),
            Ok(1_714_521_600)
        );
        assert!(parse_date_time("t", "yesterday").is_err());
    }

    #[test]
    fn times_that_records_cannot_hold_are_refused() {
        let shown = |time: Result<DateTime<Utc>, Refused>| {
            time.map(|time| time.to_rfc3339())
                .map_err(|refused| refused.reason)
        };
        assert_eq!(
            shown(parse_unix_time("t", "1763683200.5", 1.0)).as_deref(),
            Ok("2025-11-21T00:00:00.500+00:00")
        );
        assert_eq!(
            shown(parse_unix_time("t", "1763683200500", 1000.0)).as_deref(),
            Ok("2025-11-21T00:00:00.500+00:00")
        );
        let seconds = Err("t is not in the years 1970 to 9999".to_owned());
        assert_eq!(
            shown(parse_spreadsheet_time("t", "46329.25")).as_deref(),
            Ok("2026-11-03T06:00:00+00:00")
        );
        assert_eq!(shown(parse_spreadsheet_time("t", "25568")), seconds);
        for text in ["1763683200500", "253402300800", "1e300"] {
            assert_eq!(
                shown(parse_unix_time("t", text, 1.0)),
                seconds,
                "milliseconds that are taken for seconds"
            );
        }
        let years = Err("t is not in the years 0 to 9999".to_owned());
        for text in [
            "9999-12-31T23:59:59-01:00",
            "+57845-01-01",
            "-0001-01-01 00:00:00",
        ] {
            assert_eq!(shown(parse_date_time("t", text)), years, "{text}");
        }
        assert_eq!(
            shown(parse_date_time_by_pattern("t", "01.01.+12025", "%d.%m.%Y")),
            years
        );
    }

    #[test]
    fn printed_digits_are_counted() {
        for (text, digits) in [
            ("61.7", 1),
            ("90", 0),
            ("0.250", 3),
            ("1e-3", 3),
            ("1.5e2", 0),
        ] {
            assert_eq!(count_decimals(text), digits, "{text}");
        }
    }
}
