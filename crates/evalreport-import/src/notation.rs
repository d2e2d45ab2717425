//! Notation of a source's numbers and of values that were not measured.

use std::borrow::Cow;

/// The decimal mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    Point,
    Comma,
}

/// A map's facts about the notation of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notation {
    /// Decimal mark. If set, numbers may have thousands separators, a sign for dollars or percent, and a typographic minus. Otherwise
    /// numbers are written as in programs.
    pub decimal: Option<DecimalMark>,
    /// Texts that mean not measured, in lower case.
    pub missing: Vec<String>,
}

/// Kind of a field's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// A plain number.
    Itself,
    /// A time, possibly with its unit: `350 ms`, `1m 30s`, `00:01:30`.
    Time,
    /// An amount of one currency, possibly with the currency's sign.
    Money(Currency),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Currency {
    Dollar,
    Cent,
    Euro,
    Pound,
    Franc,
    Yen,
}

/// Conversion of a written number to ours: times `multiply`, divided by `divide`. There are both, because 61.7 / 100 is the nearest float
/// and 61.7 × 0.01 is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UnitScale {
    pub counted: NumberKind,
    pub multiply: f64,
    pub divide: f64,
}

impl UnitScale {
    pub const NONE: Self = Self {
        counted: NumberKind::Itself,
        multiply: 1.0,
        divide: 1.0,
    };

    /// Units of fields in seconds or dollars.
    pub const UNITS: [(&'static str, Self); 13] = [
        (
            "ms",
            Self {
                counted: NumberKind::Time,
                multiply: 1.0,
                divide: 1000.0,
            },
        ),
        (
            "s",
            Self {
                counted: NumberKind::Time,
                multiply: 1.0,
                divide: 1.0,
            },
        ),
        (
            "min",
            Self {
                counted: NumberKind::Time,
                multiply: 60.0,
                divide: 1.0,
            },
        ),
        (
            "h",
            Self {
                counted: NumberKind::Time,
                multiply: 3600.0,
                divide: 1.0,
            },
        ),
        (
            "us",
            Self {
                counted: NumberKind::Time,
                multiply: 1.0,
                divide: 1e6,
            },
        ),
        (
            "ns",
            Self {
                counted: NumberKind::Time,
                multiply: 1.0,
                divide: 1e9,
            },
        ),
        (
            "d",
            Self {
                counted: NumberKind::Time,
                multiply: 86_400.0,
                divide: 1.0,
            },
        ),
        (
            "USD",
            Self {
                counted: NumberKind::Money(Currency::Dollar),
                multiply: 1.0,
                divide: 1.0,
            },
        ),
        (
            "cents",
            Self {
                counted: NumberKind::Money(Currency::Cent),
                multiply: 1.0,
                divide: 100.0,
            },
        ),
        (
            "EUR",
            Self {
                counted: NumberKind::Money(Currency::Euro),
                multiply: 1.0,
                divide: 1.0,
            },
        ),
        (
            "GBP",
            Self {
                counted: NumberKind::Money(Currency::Pound),
                multiply: 1.0,
                divide: 1.0,
            },
        ),
        (
            "CHF",
            Self {
                counted: NumberKind::Money(Currency::Franc),
                multiply: 1.0,
                divide: 1.0,
            },
        ),
        (
            "JPY",
            Self {
                counted: NumberKind::Money(Currency::Yen),
                multiply: 1.0,
                divide: 1.0,
            },
        ),
    ];

    pub fn apply(self, value: f64) -> f64 {
        value * self.multiply / self.divide
    }
}

impl Currency {
    pub const ALL: [Self; 6] = [
        Self::Dollar,
        Self::Cent,
        Self::Euro,
        Self::Pound,
        Self::Franc,
        Self::Yen,
    ];

    /// Returns the signs and codes that may stand before or after an amount.
    pub fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Dollar => &["US$", "USD", "$"],
            Self::Cent => &["¢", "cents", "cent", "ct"],
            Self::Euro => &["EUR", "€"],
            Self::Pound => &["GBP", "£"],
            Self::Franc => &["CHF", "SFr."],
            Self::Yen => &["JPY", "¥"],
        }
    }

    /// Returns the currency whose sign is beside the amount.
    pub fn from_amount(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| strip_sign(text.trim(), one.signs()).is_some())
    }
}

impl Notation {
    pub fn is_missing(&self, text: &str) -> bool {
        const MAX_MISSING_BYTES: usize = 40;
        !self.missing.is_empty()
            && text.len() <= MAX_MISSING_BYTES
            && self.missing.contains(&text.to_lowercase())
    }

    /// Returns the number in a program's notation. Returns a text that is not a number unchanged.
    pub fn normalise_number<'a>(&self, text: &'a str, counted: NumberKind) -> Cow<'a, str> {
        let signs = match counted {
            NumberKind::Money(currency) => currency.signs(),
            NumberKind::Itself | NumberKind::Time => Currency::Dollar.signs(),
        };
        match (self.decimal, counted) {
            (None, NumberKind::Itself | NumberKind::Time) => Cow::Borrowed(text),
            (None, NumberKind::Money(_)) => Cow::Borrowed(strip_sign(text, signs).unwrap_or(text)),
            (Some(decimal), _) => {
                parse_plain_number(text, decimal, signs).map_or(Cow::Borrowed(text), Cow::Owned)
            }
        }
    }

    /// Parses a time into seconds: `350 ms`, `1m 30s`, `1:30`, `00:01:30.5`, `0 days 00:01:30.5`, `PT1M30S`, or a number in the field's
    /// own unit.
    pub fn parse_seconds(&self, text: &str, unit: UnitScale) -> Option<f64> {
        let number = |text: &str| {
            self.normalise_number(text.trim(), NumberKind::Time)
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
        };
        let text = text.trim();
        let text = text.strip_prefix("PT").unwrap_or(text);
        if let Some((days, clock)) = text.rsplit_once(' ')
            && clock.contains(':')
            && !days.contains(':')
        {
            return Some(self.parse_seconds(days, unit)? + self.parse_seconds(clock, unit)?);
        }
        if text.contains(':') {
            let parts: Vec<f64> = text.split(':').map(number).collect::<Option<_>>()?;
            let is_clock =
                parts.len() <= 3 && parts.iter().skip(1).all(|part| (0.0..60.0).contains(part));
            return is_clock.then(|| parts.iter().fold(0.0, |sum, part| sum * 60.0 + part));
        }
        let mut rest = text.trim();
        if let Some(value) = number(rest) {
            return Some(unit.apply(value));
        }
        let mut sum = 0.0;
        while !rest.is_empty() {
            let end = rest.find(|letter: char| letter.is_alphabetic())?;
            let after = rest[end..]
                .find(|letter: char| !letter.is_alphabetic())
                .map_or(rest.len(), |length| end + length);
            sum += parse_time_unit(&rest[end..after])?.apply(number(&rest[..end])?);
            rest = rest[after..].trim_start_matches(['.', ',']).trim();
        }
        Some(sum)
    }
}

/// Returns the unit of time that a word names.
pub(super) fn parse_time_unit(word: &str) -> Option<UnitScale> {
    let name =
        match word.to_lowercase().as_str() {
            "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds"
            | "millisekunden" => "ms",
            "s" | "sec" | "secs" | "second" | "seconds" | "sek" | "sekunde" | "sekunden"
            | "seconde" | "secondes" | "segundos" | "secondi" => "s",
            "m" | "min" | "mins" | "minute" | "minutes" | "minuten" | "minutos" | "minuti" => "min",
            "h" | "hr" | "hrs" | "hour" | "hours" | "std" | "stunden" | "heures" | "horas"
            | "ore" => "h",
            "us" | "µs" | "μs" | "microseconds" => "us",
            "ns" | "nsec" | "nanos" | "nanoseconds" => "ns",
            "day" | "days" => "d",
            _ => return None,
        };
    UnitScale::UNITS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, scale)| *scale)
}

fn strip_sign<'a>(text: &'a str, signs: &[&str]) -> Option<&'a str> {
    let rest = signs
        .iter()
        .find_map(|sign| text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)))?
        .trim();
    rest.bytes()
        .any(|byte| byte.is_ascii_digit())
        .then_some(rest)
}

/// Parses a number in people's notation. Returns `None` if it is none, or if a separator does not separate thousands.
pub(super) fn parse_plain_number(
    text: &str,
    decimal: DecimalMark,
    signs: &[&str],
) -> Option<String> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix(['-', '−', '–']) {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = strip_sign(rest, signs).unwrap_or(rest);
    let rest = rest.strip_suffix('%').unwrap_or(rest).trim();
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(place) => (&rest[..place], Some(&rest[place..])),
        None => (rest, None),
    };
    let (point, mark) = match decimal {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (whole, fraction) = match mantissa.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_mark = |letter: char| {
        letter == mark
            || matches!(
                letter,
                ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’' | '_'
            )
    };
    let mut groups = whole.split(is_mark);
    let first = groups.next()?;
    let groups: Vec<&str> = groups.collect();
    let is_grouped = !groups.is_empty();
    let parts_thousands = !is_grouped
        || ((1..=3).contains(&first.len())
            && !first.starts_with('0')
            && groups.iter().all(|group| group.len() == 3));
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    let are_digits = is_digits(first)
        && groups.iter().all(|group| is_digits(group))
        && fraction.is_none_or(is_digits);
    if !parts_thousands || !has_digits || !are_digits || (exponent.is_some() && is_grouped) {
        return None;
    }
    let mut plain = format!("{sign}{first}{}", groups.concat());
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    plain.push_str(exponent.unwrap_or_default());
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, decimal, expected) in [
            ("1.234,56", DecimalMark::Comma, Some("1234.56")),
            ("68,2 %", DecimalMark::Comma, Some("68.2")),
            ("1.234", DecimalMark::Comma, Some("1234")),
            ("0.123", DecimalMark::Comma, None),
            ("−0,5", DecimalMark::Comma, Some("-0.5")),
            (
                "1\u{a0}234\u{202f}567,8",
                DecimalMark::Comma,
                Some("1234567.8"),
            ),
            ("$1,234.50", DecimalMark::Point, Some("1234.50")),
            ("1'234.5", DecimalMark::Point, Some("1234.5")),
            ("1,5", DecimalMark::Point, None),
            ("12,34,567", DecimalMark::Point, None),
            ("1.5e3", DecimalMark::Point, Some("1.5e3")),
            ("3,50 €", DecimalMark::Comma, None),
            ("", DecimalMark::Point, None),
            ("%", DecimalMark::Point, None),
            ("a", DecimalMark::Point, None),
        ] {
            assert_eq!(
                parse_plain_number(text, decimal, Currency::Dollar.signs()).as_deref(),
                expected,
                "{text}"
            );
        }
        assert_eq!(
            parse_plain_number("3,50 €", DecimalMark::Comma, Currency::Euro.signs()).as_deref(),
            Some("3.50")
        );
        assert_eq!(Currency::from_amount("€ 3,50"), Some(Currency::Euro));
        assert_eq!(Currency::from_amount("euros"), None);
    }

    #[test]
    fn times_carry_their_units() {
        let unit = |name: &str| {
            UnitScale::UNITS
                .iter()
                .find(|(known, _)| *known == name)
                .expect("a unit")
                .1
        };
        let notation = Notation::default();
        for (text, own, expected) in [
            ("350", "ms", Some(0.35)),
            ("350 ms", "s", Some(0.35)),
            ("1m 30s", "s", Some(90.0)),
            ("2 min", "ms", Some(120.0)),
            ("1:30", "s", Some(90.0)),
            ("00:01:30.5", "s", Some(90.5)),
            ("0 days 00:01:30.500000", "s", Some(90.5)),
            ("1 days 00:00:01", "s", Some(86_401.0)),
            ("PT1M3S", "s", Some(63.0)),
            ("5000000", "ns", Some(0.005)),
            ("1:75", "s", None),
            ("soon", "s", None),
            ("5 parsecs", "s", None),
        ] {
            assert_eq!(notation.parse_seconds(text, unit(own)), expected, "{text}");
        }
    }
}
