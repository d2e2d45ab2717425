//! The meaning of a single value: by YAML 1.2's core schema if plain, and always text if quoted.

/// A single value: its text as written, without quotes, and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    pub text: String,
    pub kind: ScalarKind,
    /// Whether it is written without quotes, so that other readers may take it for something else.
    pub is_plain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarKind {
    Text,
    Null,
    Bool(bool),
    Integer(i64),
    /// May be infinite or NaN (`.inf`, `1e400`). Includes integers beyond 64 bits.
    Float(f64),
}

impl Scalar {
    pub(super) fn from_quoted(text: String) -> Self {
        Self {
            text,
            kind: ScalarKind::Text,
            is_plain: false,
        }
    }

    /// Resolves plain text by YAML 1.2's core schema, which includes JSON's literals and numbers.
    pub(super) fn from_plain(text: String) -> Self {
        let kind = resolve_plain(&text);
        Self {
            text,
            kind,
            is_plain: true,
        }
    }
}

fn resolve_plain(text: &str) -> ScalarKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" => return ScalarKind::Bool(true),
        "false" | "False" | "FALSE" => return ScalarKind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return ScalarKind::Float(f64::NAN),
        _ => {}
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return i64::from_str_radix(digits, radix)
                .map_or(ScalarKind::Text, ScalarKind::Integer);
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return ScalarKind::Float(if text.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    if !is_decimal(unsigned) {
        return ScalarKind::Text;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(integer) = text.parse()
    {
        return ScalarKind::Integer(integer);
    }
    text.parse().map_or(ScalarKind::Text, ScalarKind::Float)
}

/// Matches `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text
        .split_once(['e', 'E'])
        .map_or((text, None), |(mantissa, exponent)| {
            (mantissa, Some(exponent))
        });
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: ScalarKind) {
        assert_eq!(resolve_plain(text), kind, "{text}");
    }

    #[test]
    fn the_core_schema_decides() {
        for text in ["", "~", "null", "Null", "NULL"] {
            check(text, ScalarKind::Null);
        }
        check("true", ScalarKind::Bool(true));
        check("FALSE", ScalarKind::Bool(false));
        for text in [
            "yes", "no", "on", "off", "y", "tRUE", "nULL", "1_000", "1:30", "0o", "0x", "0o9",
            "0xg", "0b1", "-0x1", ".", "+", "-.",
        ] {
            check(text, ScalarKind::Text);
        }
        for text in [
            "e5", ".e5", "1e", "1e+", "1.2.3", "4,5", "inf", "nan", "Infinity", "NaN", "-.nan",
            "--1", "+-1", "1 2",
        ] {
            check(text, ScalarKind::Text);
        }
        check("007", ScalarKind::Integer(7));
        check("+12", ScalarKind::Integer(12));
        check("-0", ScalarKind::Integer(0));
        check("0o17", ScalarKind::Integer(15));
        check("0xFf", ScalarKind::Integer(255));
        check("9223372036854775807", ScalarKind::Integer(i64::MAX));
        check(
            "9223372036854775808",
            ScalarKind::Float(9_223_372_036_854_775_808.0),
        );
        check("4.10", ScalarKind::Float(4.1));
        check(".5", ScalarKind::Float(0.5));
        check("5.", ScalarKind::Float(5.0));
        check("1e3", ScalarKind::Float(1000.0));
        check("-1.5E-3", ScalarKind::Float(-0.0015));
        check("1e400", ScalarKind::Float(f64::INFINITY));
        check("-.inf", ScalarKind::Float(f64::NEG_INFINITY));
        check("+.INF", ScalarKind::Float(f64::INFINITY));
        assert!(matches!(resolve_plain(".nan"), ScalarKind::Float(number) if number.is_nan()));
    }
}
