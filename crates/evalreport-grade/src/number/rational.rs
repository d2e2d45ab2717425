//! Exact numbers: rationals of any size, never binary floats.

use std::cmp::Ordering;

use num_bigint::BigInt;

/// Exponents beyond this, and numbers of more digits than twice this, are not read.
pub(crate) const MAX_EXPONENT: i64 = 10_000;
const MAX_DIGITS: usize = 20_000;

/// A rational number. Its fraction need not be in lowest terms.
#[derive(Clone, Debug)]
pub(crate) struct Rational {
    numerator: BigInt,
    /// Above 0.
    denominator: BigInt,
}

impl Rational {
    pub(crate) fn from_integer(integer: BigInt) -> Self {
        Self {
            numerator: integer,
            denominator: BigInt::from(1),
        }
    }

    /// Reads ASCII text such as `-12.5e-3`. Returns `None` if it is no number or too large.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty()
            || digits.len() > MAX_DIGITS
            || exponent.abs() > MAX_EXPONENT
            || !digits.bytes().all(|digit| digit.is_ascii_digit())
        {
            return None;
        }
        let mut numerator = BigInt::parse_bytes(digits.as_bytes(), 10)?;
        if mantissa.starts_with('-') {
            numerator = -numerator;
        }
        let places = exponent - i64::try_from(fraction.len()).ok()?;
        Some(Self::from_integer(numerator).scaled_by_ten(places))
    }

    /// Returns the quotient of two whole numbers. `None` if the divisor is 0.
    pub(crate) fn quotient(over: &Self, under: &Self) -> Option<Self> {
        if under.numerator == BigInt::ZERO {
            return None;
        }
        let numerator = &over.numerator * &under.denominator;
        let denominator = &over.denominator * &under.numerator;
        let is_negative = denominator < BigInt::ZERO;
        Some(Self {
            numerator: if is_negative { -numerator } else { numerator },
            denominator: if is_negative {
                -denominator
            } else {
                denominator
            },
        })
    }

    /// Returns the number times 10 to the power of `places`.
    pub(crate) fn scaled_by_ten(mut self, places: i64) -> Self {
        let power = BigInt::from(10).pow(u32::try_from(places.unsigned_abs()).unwrap_or(u32::MAX));
        if places < 0 {
            self.denominator *= power;
        } else {
            self.numerator *= power;
        }
        self
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    pub(crate) fn negated(mut self) -> Self {
        self.numerator = -self.numerator;
        self
    }

    pub(crate) fn absolute(self) -> Self {
        if self.numerator < BigInt::ZERO {
            self.negated()
        } else {
            self
        }
    }

    /// Says whether the number is whole and equals `integer`.
    pub(crate) fn equals_integer(&self, integer: i64) -> bool {
        self.numerator == &self.denominator * BigInt::from(integer)
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Rational {
        Rational::parse(text).expect("a number")
    }

    #[test]
    fn numbers_are_exact() {
        let apart = number("0.4").plus(&number("0.3").negated());
        assert_eq!(apart, number("0.1"));
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert_eq!(number("-12.5e-3"), number("-0.0125"));
        assert_eq!(
            Rational::quotient(&number("3"), &number("-4")),
            Some(number("-0.75"))
        );
        assert_eq!(Rational::quotient(&number("3"), &number("0")), None);
        assert!(number("1e10000") > number("9e9999"));
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        for text in [
            "1e10001",
            "1e-10001",
            "",
            ".",
            "1.2.3",
            "1e99999999999999999999",
            &"1".repeat(20_001),
        ] {
            assert_eq!(Rational::parse(text), None);
        }
    }
}
