//! English cardinal numbers in words.

use num_bigint::BigInt;

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
/// The words for 10³, 10⁶, 10⁹ and 10¹².
const SCALES: [&str; 4] = ["thousand", "million", "billion", "trillion"];

/// Returns the exponent of ten of a word such as `million`.
pub(crate) fn scale_of(word: &str) -> Option<i64> {
    let place = SCALES.iter().position(|scale| *scale == word)?;
    Some(3 * (i64::try_from(place).ok()? + 1))
}

/// Reads a text that is a cardinal number in words as a whole, such as `minus one hundred and five`.
pub(crate) fn parse_words(text: &str) -> Option<BigInt> {
    let lower = text.trim().to_lowercase();
    let mut words: Vec<&str> = lower
        .split(|mark: char| mark.is_whitespace() || matches!(mark, '-' | '\u{2010}' | '\u{2011}'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_negative = matches!(words.first(), Some(&("minus" | "negative")));
    if is_negative {
        words.remove(0);
    }
    if words.is_empty() || words.len() > 64 {
        return None;
    }
    let (mut total, mut last_scale) = (BigInt::ZERO, usize::MAX);
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        // "one thousand and five"
        if last_scale != usize::MAX && rest[0] == "and" {
            rest = &rest[1..];
        }
        let (below_thousand, after) = read_hundreds(rest, last_scale == usize::MAX)?;
        let scale = after
            .first()
            .and_then(|word| SCALES.iter().position(|scale| scale == word));
        let power = scale.map_or(0, |scale| scale + 1);
        if power >= last_scale || below_thousand == 0 && words.len() > 1 {
            return None;
        }
        total += BigInt::from(below_thousand) * BigInt::from(1000).pow(u32::try_from(power).ok()?);
        last_scale = power;
        rest = &after[usize::from(scale.is_some())..];
    }
    Some(if is_negative { -total } else { total })
}

/// Reads a number below 1,000 at the start of the words. Returns the words after it.
fn read_hundreds<'w>(words: &'w [&'w str], is_first: bool) -> Option<(u32, &'w [&'w str])> {
    let small = |word: &str| {
        let place = SMALL.iter().position(|small| *small == word)?;
        u32::try_from(place).ok()
    };
    let first = *words.first()?;
    let has_article = is_first && first == "a";
    let next = words.get(1).copied().unwrap_or_default();
    if has_article && scale_of(next).is_some() {
        return Some((1, &words[1..]));
    }
    let hundreds = if has_article {
        Some(1)
    } else {
        small(first).filter(|digit| (1..10).contains(digit))
    };
    if let Some(hundreds) = hundreds
        && next == "hundred"
    {
        let mut rest = &words[2..];
        let has_and = rest.first() == Some(&"and");
        if has_and {
            rest = &rest[1..];
        }
        return match read_tens(rest, small) {
            Some((tens, after)) if tens > 0 => Some((100 * hundreds + tens, after)),
            Some(_) => None,
            None if has_and => None,
            None => Some((100 * hundreds, rest)),
        };
    }
    read_tens(words, small)
}

fn read_tens<'w>(
    words: &'w [&'w str],
    small: impl Fn(&str) -> Option<u32>,
) -> Option<(u32, &'w [&'w str])> {
    let first = *words.first()?;
    if let Some(value) = small(first) {
        return Some((value, &words[1..]));
    }
    let place = TENS.iter().position(|tens| *tens == first)?;
    let tens = 10 * (u32::try_from(place).ok()? + 2);
    let unit = words
        .get(1)
        .and_then(|word| small(word))
        .filter(|unit| (1..10).contains(unit));
    Some(match unit {
        Some(unit) => (tens + unit, &words[2..]),
        None => (tens, &words[1..]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cardinal_words_are_read_whole() {
        for (text, value) in [
            ("zero", 0),
            ("forty-two", 42),
            ("Forty Two", 42),
            ("one hundred and five", 105),
            ("minus seven", -7),
            ("a thousand", 1000),
            ("two million three hundred thousand and one", 2_300_001),
            ("nineteen", 19),
            ("a hundred", 100),
            ("ninety", 90),
        ] {
            assert_eq!(parse_words(text), Some(BigInt::from(value)), "{text}");
        }
        for text in [
            "",
            "IV",
            "a dozen",
            "first",
            "one two",
            "twenty twenty",
            "forty-two apples",
            "hundred",
            "thousand",
            "one and two",
            "one hundred and",
            "two thousand million",
            "a",
            "half",
            "a five",
        ] {
            assert_eq!(parse_words(text), None, "{text}");
        }
    }
}
