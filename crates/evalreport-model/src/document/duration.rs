//! Durations in human notation: `90s`, `30m`, `1h30m`.

use std::time::Duration;

use super::{Fields, Scalar, ScalarKind, Value, ValueForm, quote_text};

const DURATION_HINT: &str = "write hours, minutes and seconds such as 2h, 30m, 1h30m or 90s";

/// Parses whole hours, minutes and seconds, each at most once and in this order. Rejects zero, which is no sensible limit.
///
/// The error is worded to follow the key's name.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("must be a duration, not {}", quote_text(text));
    let mut rest = text.trim();
    let mut seconds: u64 = 0;
    for (unit, length) in [('h', 3600), ('m', 60), ('s', 1)] {
        let digits = rest.len()
            - rest
                .trim_start_matches(|character: char| character.is_ascii_digit())
                .len();
        if let Some(after) = rest[digits..].strip_prefix(unit) {
            let count: u64 = rest[..digits].parse().map_err(|_| wrong())?;
            let part = count.checked_mul(length).ok_or_else(wrong)?;
            seconds = seconds.checked_add(part).ok_or_else(wrong)?;
            rest = after;
        }
    }
    if !rest.is_empty() || text.trim().is_empty() {
        return Err(wrong());
    }
    if seconds == 0 {
        return Err(format!("must be longer than {}", quote_text(text)));
    }
    Ok(Duration::from_secs(seconds))
}

/// Reads a key that holds a duration. Rejects a bare number, which has no unit.
pub fn read_duration(fields: &mut Fields, key: &str) -> Option<Duration> {
    fields.note_form(key, || {
        ValueForm::Pattern("^\\s*([0-9]+h([0-9]+m)?([0-9]+s)?|[0-9]+m([0-9]+s)?|[0-9]+s)\\s*$")
    });
    let node = fields.child(key)?;
    let path = quote_text(&fields.path_of(key));
    if let Value::Scalar(Scalar {
        kind: ScalarKind::Integer(_) | ScalarKind::Float(_),
        text,
        ..
    }) = &node.value
    {
        fields.reject(
            key,
            format!("{path} needs a unit after {}", quote_text(text)),
            Some(DURATION_HINT.to_owned()),
        );
        return None;
    }
    let text = fields.text(key)?;
    match parse_duration(&text) {
        Ok(duration) => Some(duration),
        Err(message) => {
            fields.reject(
                key,
                format!("{path} {message}"),
                Some(DURATION_HINT.to_owned()),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_minutes_and_seconds_add_up() {
        for (text, seconds) in [
            ("2h", 7200),
            ("30m", 1800),
            ("1h30m", 5400),
            ("90s", 90),
            ("1h2m3s", 3723),
            ("1h5s", 3605),
            (" 5m ", 300),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_secs(seconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            " ",
            "90",
            "h",
            "1.5h",
            "-1h",
            "30m1h",
            "1h1h",
            "1d",
            "1h 30m",
            "1H",
            "5 m",
            "99999999999999999999s",
            "5124095576030432h",
        ] {
            assert!(
                parse_duration(text)
                    .is_err_and(|message| message.starts_with("must be a duration")),
                "{text}"
            );
        }
        for text in ["0s", "0h0m"] {
            assert!(
                parse_duration(text).is_err_and(|message| message.starts_with("must be longer")),
                "{text}"
            );
        }
    }
}
