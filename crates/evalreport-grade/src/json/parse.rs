//! JSON of replies: RFC 8259 with exact numbers. A key that occurs twice is noted, not resolved.

use crate::number::Rational;

/// Deepest nesting that is read.
pub(crate) const MAX_DEPTH: usize = 128;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JsonValue {
    Null,
    Bool(bool),
    Number(JsonNumber),
    Text(String),
    List(Vec<JsonValue>),
    /// Sorted by key.
    Map(Vec<(String, JsonValue)>),
}

/// A number of JSON by its exact value, in one form for each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JsonNumber {
    is_negative: bool,
    /// Without zeros at the ends; empty for 0.
    digits: String,
    /// Power of ten of the last digit.
    exponent: i64,
}

impl JsonNumber {
    /// Reads a number as JSON writes it. Returns `None` for other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let has_zeros = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || has_zeros || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - digits.len()).ok()?;
        let exponent = exponent
            .checked_sub(i64::try_from(fraction.len()).ok()?)?
            .checked_add(dropped)?;
        let digits = digits.trim_start_matches('0').to_owned();
        let is_zero = digits.is_empty();
        Some(Self {
            is_negative: is_negative && !is_zero,
            exponent: if is_zero { 0 } else { exponent },
            digits,
        })
    }

    /// Returns the number, or `None` if it is too large to calculate with.
    pub(crate) fn to_rational(&self) -> Option<Rational> {
        let sign = if self.is_negative { "-" } else { "" };
        let digits = if self.digits.is_empty() {
            "0"
        } else {
            &self.digits
        };
        Rational::parse(&format!("{sign}{digits}e{}", self.exponent))
    }

    /// Returns the number as text.
    pub(crate) fn to_text(&self) -> String {
        let sign = if self.is_negative { "-" } else { "" };
        match (self.digits.as_str(), usize::try_from(self.exponent)) {
            ("", _) => "0".to_owned(),
            (digits, Ok(zeros)) if zeros < 20 => format!("{sign}{digits}{}", "0".repeat(zeros)),
            (digits, _) => format!("{sign}{digits}e{}", self.exponent),
        }
    }
}

impl JsonValue {
    /// Returns the value that schemas are checked with, whose numbers are those of the machine.
    pub(crate) fn to_serde(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => serde_json::from_str(&number.to_text()).unwrap_or(Value::Null),
            Self::Text(text) => Value::String(text.clone()),
            Self::List(items) => Value::Array(items.iter().map(Self::to_serde).collect()),
            Self::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), value.to_serde()))
                    .collect(),
            ),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .binary_search_by(|(known, _)| known.as_str().cmp(key))
                .ok()
                .map(|place| &entries[place].1),
            _ => None,
        }
    }
}

/// JSON that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedJson {
    pub(crate) value: JsonValue,
    /// Whether a map has a key twice, of which readers keep different ones.
    pub(crate) has_repeated_key: bool,
    /// Number of bytes read.
    pub(crate) end: usize,
}

/// Reads the value at the start of the text. `is_lenient` also takes comments and trailing commas. Each byte that is looked at takes one of `steps`.
pub(crate) fn parse_start(text: &str, is_lenient: bool, steps: &mut usize) -> Option<ParsedJson> {
    let mut parser = JsonParser {
        text,
        at: 0,
        is_lenient,
        has_repeated_key: false,
    };
    let value = parser.read_value(0);
    *steps = steps.saturating_sub(parser.at.max(1));
    Some(ParsedJson {
        value: value?,
        has_repeated_key: parser.has_repeated_key,
        end: parser.at,
    })
}

/// Reads a text that is one value as a whole.
pub(crate) fn parse_whole(text: &str, is_lenient: bool) -> Option<ParsedJson> {
    let mut steps = usize::MAX;
    let parsed = parse_start(text, is_lenient, &mut steps)?;
    let mut rest = JsonParser {
        text,
        at: parsed.end,
        is_lenient,
        has_repeated_key: false,
    };
    rest.skip_space()?;
    (rest.at == text.len()).then_some(parsed)
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
    is_lenient: bool,
    has_repeated_key: bool,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Skips white space, and comments if they are allowed. `None` if a comment does not end.
    fn skip_space(&mut self) -> Option<()> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            if !self.is_lenient {
                return Some(());
            }
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/")? + 2;
            } else {
                return Some(());
            }
        }
    }

    fn read_value(&mut self, depth: usize) -> Option<JsonValue> {
        self.skip_space()?;
        match self.peek()? {
            b'{' if depth < MAX_DEPTH => self.read_map(depth),
            b'[' if depth < MAX_DEPTH => self.read_list(depth),
            b'"' => self.read_text().map(JsonValue::Text),
            b't' => self.read_word("true", JsonValue::Bool(true)),
            b'f' => self.read_word("false", JsonValue::Bool(false)),
            b'n' => self.read_word("null", JsonValue::Null),
            b'-' | b'0'..=b'9' => self.read_number(),
            _ => None,
        }
    }

    fn read_word(&mut self, word: &str, value: JsonValue) -> Option<JsonValue> {
        self.text[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            value
        })
    }

    fn read_number(&mut self) -> Option<JsonValue> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        ) {
            self.at += 1;
        }
        JsonNumber::parse(&self.text[start..self.at]).map(JsonValue::Number)
    }

    fn read_list(&mut self, depth: usize) -> Option<JsonValue> {
        self.take(b'[')?;
        let mut items = Vec::new();
        self.skip_space()?;
        while self.peek()? != b']' {
            items.push(self.read_value(depth + 1)?);
            self.end_item(b']')?;
        }
        self.take(b']')?;
        Some(JsonValue::List(items))
    }

    /// Reads the comma after an item, unless the end follows.
    fn end_item(&mut self, end: u8) -> Option<()> {
        self.skip_space()?;
        if self.peek()? == end {
            return Some(());
        }
        self.take(b',')?;
        self.skip_space()?;
        (self.is_lenient || self.peek()? != end).then_some(())
    }

    fn read_map(&mut self, depth: usize) -> Option<JsonValue> {
        self.take(b'{')?;
        let mut entries: Vec<(String, JsonValue)> = Vec::new();
        self.skip_space()?;
        while self.peek()? != b'}' {
            let key = self.read_text()?;
            self.skip_space()?;
            self.take(b':')?;
            entries.push((key, self.read_value(depth + 1)?));
            self.end_item(b'}')?;
        }
        self.take(b'}')?;
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        self.has_repeated_key |= entries.windows(2).any(|pair| pair[0].0 == pair[1].0);
        Some(JsonValue::Map(entries))
    }

    fn read_text(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let length =
                rest.find(|character: char| matches!(character, '"' | '\\') || character < ' ');
            let Some(length) = length else {
                self.at = self.text.len();
                return None;
            };
            text.push_str(&rest[..length]);
            self.at += length + 1;
            match rest.as_bytes()[length] {
                b'"' => return Some(text),
                b'\\' => text.push(self.read_escape()?),
                _ => return None,
            }
        }
    }

    fn read_escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.read_code()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                self.take(b'\\')?;
                self.take(b'u')?;
                let second = self
                    .read_code()?
                    .checked_sub(0xdc00)
                    .filter(|low| *low < 0x400)?;
                return char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + second);
            }
            _ => return None,
        })
    }

    fn read_code(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex
            .then(|| u32::from_str_radix(digits, 16).ok())
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<JsonValue> {
        parse_whole(text, false).map(|parsed| parsed.value)
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for (one, other) in [
            ("1", "1.0"),
            ("10", "1e1"),
            ("-0", "0.00"),
            ("0.1", "1E-1"),
            ("1200", "1.2e3"),
        ] {
            assert_eq!(value(one), value(other), "{one}");
        }
        assert_ne!(value("9007199254740993"), value("9007199254740992"));
        assert_ne!(value("1"), value("\"1\""));
        assert_ne!(value("1"), value("true"));
    }

    #[test]
    fn json_is_that_of_the_standard() {
        for text in [
            "[1,]",
            "{'a': 1}",
            "[1 2]",
            "NaN",
            "01",
            "1.",
            ".5",
            "+1",
            "\"a\nb\"",
            "{\"a\" 1}",
            "[1] x",
            "// a\n1",
            "\"\\x\"",
            "\"\\ud800\"",
            "",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(
            value("\"\\ud83d\\ude00\\n\""),
            Some(JsonValue::Text("\u{1f600}\n".to_owned()))
        );
        assert!(value(" {\"b\": [1, {}], \"a\": null} ").is_some());
    }

    #[test]
    fn lenient_takes_comments_and_trailing_commas_alone() {
        let lenient = |text| parse_whole(text, true).map(|parsed| parsed.value);
        assert_eq!(lenient("{\"a\": 1, /* b */ } // end"), value("{\"a\": 1}"));
        assert_eq!(lenient("[1,]"), value("[1]"));
        for text in ["{'a': 1}", "{a: 1}", "[,]", "[1,,]", "[NaN]"] {
            assert_eq!(lenient(text), None, "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_noted() {
        assert!(
            parse_whole("{\"a\": {\"b\": 1, \"b\": 1}}", false)
                .is_some_and(|parsed| parsed.has_repeated_key)
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(value(&deep(128)).is_some());
        assert!(value(&deep(129)).is_none());
        assert!(value(&"[".repeat(1_000_000)).is_none());
    }
}
