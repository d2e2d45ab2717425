//! A cursor over text that should have the shape that our own writers give it: fixed keys in a fixed order, without spaces or escapes.
//!
//! Every step returns `None` for anything else, and then a general parser reads the whole line. So a step may refuse what is valid, but
//! must never read a value that the general parser reads differently.

use serde::de::IgnoredAny;

use super::lines::MAX_LINE_BYTES;

/// Powers of ten up to the most decimals that [`CanonicalCursor::read_float`] divides by. All are exact.
const POWERS_OF_TEN: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];
/// The most digits that fit into a `u64`, whichever they are.
const MAX_DIGITS: usize = 18;

/// The rest of the text.
#[derive(Clone, Copy)]
pub(super) struct CanonicalCursor<'a>(pub &'a [u8]);

impl<'a> CanonicalCursor<'a> {
    pub fn skip_literal(&mut self, literal: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    /// Reads up to the closing quote. Returns `None` for escapes and for bytes that JSON does not allow in text.
    pub fn read_string(&mut self) -> Option<&'a str> {
        let end = memchr::memchr2(b'"', b'\\', self.0)?;
        if self.0[end] == b'\\' {
            return None;
        }
        let bytes = &self.0[..end];
        if bytes.iter().any(|byte| *byte < 0x20) {
            return None;
        }
        self.0 = &self.0[end + 1..];
        std::str::from_utf8(bytes).ok()
    }

    /// Reads digits without a leading zero that fit well within a `u64`.
    pub fn read_integer(&mut self) -> Option<u64> {
        let (number, length) = read_digits(self.0, 0);
        if length == 0
            || length > MAX_DIGITS
            || (length > 1 && self.0[0] == b'0')
            || is_fraction(self.0.get(length))
        {
            return None;
        }
        self.0 = &self.0[length..];
        Some(number)
    }

    /// Reads `digits` or `digits.digits`, with an optional minus. Returns `None` for exponents.
    pub fn read_float(&mut self) -> Option<f64> {
        let negative = usize::from(self.0.first() == Some(&b'-'));
        let text = &self.0[negative..];
        let (mut mantissa, whole) = read_digits(text, 0);
        if whole == 0 || (whole > 1 && text[0] == b'0') {
            return None;
        }
        let (mut length, mut decimals) = (whole, 0);
        if text.get(whole) == Some(&b'.') {
            (mantissa, decimals) = read_digits(&text[whole + 1..], mantissa);
            length += 1 + decimals;
            if decimals == 0 {
                return None;
            }
        }
        if is_fraction(text.get(length)) {
            return None;
        }
        let number = if whole + decimals <= MAX_DIGITS && mantissa <= 1 << f64::MANTISSA_DIGITS {
            // Both numbers are exact, so the quotient is the nearest number to the text.
            let number = mantissa as f64 / POWERS_OF_TEN[decimals];
            if negative == 1 { -number } else { number }
        } else {
            std::str::from_utf8(&self.0[..negative + length])
                .ok()?
                .parse()
                .ok()?
        };
        self.0 = &text[length..];
        number.is_finite().then_some(number)
    }

    /// Reads one of some names, and the closing quote.
    pub fn read_name_of<T: Copy>(
        &mut self,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        all.iter().copied().find(|one| {
            let rest = self
                .0
                .strip_prefix(name(*one).as_bytes())
                .and_then(|rest| rest.strip_prefix(b"\""));
            rest.inspect(|rest| self.0 = rest).is_some()
        })
    }

    /// Reads the end of an object in a line of its own, after a last value that readers skip, if there is one. Returns the length of the
    /// line break that follows: 0 at the end of the text.
    pub fn read_end(&mut self, skipped: &[u8]) -> Option<usize> {
        if self.skip_literal(skipped).is_some() {
            let end = memchr::memchr(b'\n', self.0).unwrap_or(self.0.len());
            let (line, rest) = self.0.split_at(end);
            serde_json::from_slice::<IgnoredAny>(line.strip_suffix(b"}")?).ok()?;
            self.0 = rest;
        } else {
            self.skip_literal(b"}")?;
        }
        if self.0.is_empty() {
            return Some(0);
        }
        self.skip_literal(b"\n").map(|()| 1)
    }
}

/// Reads digits after those that gave `number`. Returns the number, which is wrong if all of them are more than [`MAX_DIGITS`], and the count.
fn read_digits(text: &[u8], mut number: u64) -> (u64, usize) {
    let mut length = 0;
    while let Some(digit) = text
        .get(length)
        .map(|byte| byte.wrapping_sub(b'0'))
        .filter(|digit| *digit < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (number, length)
}

fn is_fraction(next: Option<&u8>) -> bool {
    matches!(next, Some(b'.' | b'e' | b'E'))
}

/// Returns whether a line is short enough to be read. `used` counts its bytes with the line break.
pub(super) fn is_short(used: usize) -> bool {
    used <= MAX_LINE_BYTES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_general_parser(text in "-?(0|[1-9][0-9]{0,21}|00|)(\\.[0-9]{0,24})?([eE][+-]?[0-9]{1,3})?[,}]") {
            let (number, _) = text.split_at(text.len() - 1);
            let (mut float, mut integer) = (CanonicalCursor(text.as_bytes()), CanonicalCursor(text.as_bytes()));
            if let Some(read) = float.read_float() {
                prop_assert_eq!(read.to_bits(), serde_json::from_str::<f64>(number).expect("a number").to_bits());
                prop_assert_eq!(float.0.len(), 1);
            }
            if let Some(read) = integer.read_integer() {
                prop_assert_eq!(read, serde_json::from_str::<u64>(number).expect("a whole number"));
            }
        }
    }

    #[test]
    fn a_number_is_the_nearest_to_its_text() {
        for text in [
            "0.1",
            "123456789.123456789",
            "9007199254740993",
            "0.000001234567890123",
            "5e-324",
            "179769313486231570000.5",
        ] {
            let mut shape = CanonicalCursor(text.as_bytes());
            if let Some(number) = shape.read_float() {
                assert_eq!(
                    number.to_bits(),
                    text.parse::<f64>().expect("a number").to_bits(),
                    "{text}"
                );
            }
        }
        assert_eq!(CanonicalCursor(b"1e3").read_float(), None);
        assert_eq!(CanonicalCursor(b"-0.5,").read_float(), Some(-0.5));
    }

    #[test]
    fn an_object_ends_with_its_line() {
        let end = |text: &str| CanonicalCursor(text.as_bytes()).read_end(b",\"x\":");
        assert_eq!(
            (
                end("}\nnext"),
                end("}"),
                end(",\"x\":{\"a\":[1]}}\nnext"),
                end(",\"x\":1}")
            ),
            (Some(1), Some(0), Some(1), Some(0))
        );
        for other in [
            "} \n",
            "}\r\n",
            "}}",
            ",\"x\":1}}\n",
            ",\"x\":1,\"y\":2}\n",
            ",\"x\":}\n",
            ",\"x\":1\n}",
            "",
        ] {
            assert_eq!(end(other), None, "{other:?}");
        }
    }
}
