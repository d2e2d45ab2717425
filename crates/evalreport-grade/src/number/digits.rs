//! Digits with their group and decimal marks.

use super::rational::Rational;

/// Which mark is the decimal one if a number could be read both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NumberMark {
    #[default]
    Point,
    Comma,
    /// Neither is known, so there are two readings.
    Any,
}

/// Digits as they stand in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DigitRun {
    /// Place after the last character.
    pub(crate) end: usize,
    /// The possible readings, as ASCII decimals. Empty if the digits are grouped in no accepted way.
    pub(crate) readings: Vec<String>,
    /// Whether the run is digits alone, so a whole number.
    pub(crate) is_plain: bool,
}

/// The first of each ten digits of a script.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16a60, 0x16ac0,
    0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1fbf0,
];

/// Returns the value of a decimal digit of any script.
pub(crate) fn digit_value(character: char) -> Option<u32> {
    if character.is_ascii() {
        return character.to_digit(10);
    }
    let code = u32::from(character);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let value = code - ZEROS.get(after.checked_sub(1)?)?;
    (value < 10).then_some(value)
}

/// Returns the mark in its ASCII form: `,`, `.`, `'`, `_` or a space.
fn group_mark(character: char) -> Option<char> {
    match character {
        ',' | '\u{ff0c}' | '\u{66c}' => Some(','),
        '.' | '\u{ff0e}' | '\u{66b}' => Some('.'),
        '\'' | '\u{2019}' => Some('\''),
        '_' => Some('_'),
        ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => Some(' '),
        _ => None,
    }
}

/// Reads the run that begins with the digit, or with the point before a digit, at `start`.
pub(crate) fn read_digits(characters: &[char], start: usize, decimal: NumberMark) -> DigitRun {
    let mut parts = vec![String::new()];
    let mut marks = Vec::new();
    let mut at = start;
    loop {
        while let Some(value) = characters.get(at).and_then(|digit| digit_value(*digit)) {
            if let Some(part) = parts.last_mut() {
                part.extend(char::from_digit(value, 10));
            }
            at += 1;
        }
        let Some(mark) = characters.get(at).and_then(|mark| group_mark(*mark)) else {
            break;
        };
        let following = characters[at + 1..]
            .iter()
            .take_while(|digit| digit_value(**digit).is_some())
            .take(4)
            .count();
        let is_first_point = at == start && mark == '.';
        let fits = match mark {
            // Spaces and marks that also mean something else only group.
            ' ' | '\'' | '_' => {
                following == 3
                    && marks.iter().all(|known| *known == mark)
                    && (1..=3).contains(&parts.last().map_or(0, String::len))
                    && !parts[0].starts_with('0')
            }
            _ => following > 0,
        };
        if !fits || at == start && !is_first_point {
            break;
        }
        marks.push(mark);
        parts.push(String::new());
        at += 1;
    }
    DigitRun {
        end: at,
        is_plain: marks.is_empty(),
        readings: read_parts(&parts, &marks, decimal),
    }
}

/// Returns the possible readings of digits between marks.
fn read_parts(parts: &[String], marks: &[char], decimal: NumberMark) -> Vec<String> {
    let grouped = |parts: &[String]| parts.concat();
    let with_fraction = |whole: &[String], fraction: &str| format!("{}.{fraction}", whole.concat());
    let Some((last, earlier)) = marks.split_last() else {
        return vec![grouped(parts)];
    };
    let (whole, fraction) = (&parts[..parts.len() - 1], &parts[parts.len() - 1]);
    if earlier.is_empty() && matches!(last, '.' | ',') {
        let first = &parts[0];
        let is_either =
            fraction.len() == 3 && (1..=3).contains(&first.len()) && !first.starts_with('0');
        let is_decimal = match (decimal, last) {
            (NumberMark::Point, '.') | (NumberMark::Comma, ',') => true,
            (NumberMark::Any, _) => {
                return if is_either {
                    vec![grouped(parts), with_fraction(whole, fraction)]
                } else {
                    vec![with_fraction(whole, fraction)]
                };
            }
            _ => !is_either,
        };
        return vec![if is_decimal {
            with_fraction(whole, fraction)
        } else {
            grouped(parts)
        }];
    }
    if marks.iter().all(|mark| mark == last) {
        return if is_grouped(parts, *last) {
            vec![grouped(parts)]
        } else {
            Vec::new()
        };
    }
    let group = earlier[0];
    let has_one_decimal = matches!(last, '.' | ',') && earlier.iter().all(|mark| *mark == group);
    if has_one_decimal && group != *last && is_grouped(whole, group) {
        return vec![with_fraction(whole, fraction)];
    }
    Vec::new()
}

/// Says whether the digits are in groups of three, or by commas in Indian ones: two each, and three at the end.
fn is_grouped(parts: &[String], mark: char) -> bool {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return false;
    };
    if first.is_empty() || first.starts_with('0') || last.len() != 3 || parts.len() < 2 {
        return false;
    }
    let inner = &parts[1..parts.len() - 1];
    let by_three = first.len() <= 3 && inner.iter().all(|part| part.len() == 3);
    let indian = mark == ',' && first.len() <= 2 && inner.iter().all(|part| part.len() == 2);
    by_three || indian
}

/// Returns the value of a vulgar fraction.
pub(crate) fn vulgar_fraction(character: char) -> Option<Rational> {
    let (over, under) = match character {
        '\u{bc}' => (1, 4),
        '\u{bd}' => (1, 2),
        '\u{be}' => (3, 4),
        '\u{2150}' => (1, 7),
        '\u{2151}' => (1, 9),
        '\u{2152}' => (1, 10),
        '\u{2153}' => (1, 3),
        '\u{2154}' => (2, 3),
        '\u{2155}' => (1, 5),
        '\u{2156}' => (2, 5),
        '\u{2157}' => (3, 5),
        '\u{2158}' => (4, 5),
        '\u{2159}' => (1, 6),
        '\u{215a}' => (5, 6),
        '\u{215b}' => (1, 8),
        '\u{215c}' => (3, 8),
        '\u{215d}' => (5, 8),
        '\u{215e}' => (7, 8),
        '\u{2189}' => (0, 3),
        _ => return None,
    };
    Rational::quotient(
        &Rational::from_integer(over.into()),
        &Rational::from_integer(under.into()),
    )
}

/// Returns the character of an exponent, `0` to `9`, `-` or `+`.
pub(crate) fn superscript(character: char) -> Option<char> {
    match character {
        '\u{b9}' => Some('1'),
        '\u{b2}' => Some('2'),
        '\u{b3}' => Some('3'),
        '\u{2070}' => Some('0'),
        '\u{2074}'..='\u{2079}' => char::from_digit(u32::from(character) - 0x2070, 10),
        '\u{207a}' => Some('+'),
        '\u{207b}' => Some('-'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, decimal: NumberMark, expected: &[&str]) {
        let characters: Vec<char> = text.chars().collect();
        let run = read_digits(&characters, 0, decimal);
        assert_eq!(run.readings, expected, "{text}");
        assert_eq!(run.end, characters.len(), "{text}");
    }

    #[test]
    fn one_possible_reading_is_taken_in_every_locale() {
        for decimal in [NumberMark::Point, NumberMark::Comma, NumberMark::Any] {
            check("1.234,5", decimal, &["1234.5"]);
            check("1,234.50", decimal, &["1234.50"]);
            check("1.234.567", decimal, &["1234567"]);
            check("3,14", decimal, &["3.14"]);
            check("0,125", decimal, &["0.125"]);
            check("1234.567", decimal, &["1234.567"]);
            check("1\u{202f}234,5", decimal, &["1234.5"]);
            check("1'234'567.89", decimal, &["1234567.89"]);
            check("10_000", decimal, &["10000"]);
            check("12,34,567", decimal, &["1234567"]);
            check(".5", decimal, &[".5"]);
            check("\u{664}\u{662}", decimal, &["42"]);
            check("\u{ff14}\u{ff12}", decimal, &["42"]);
        }
    }

    #[test]
    fn one_mark_before_three_digits_follows_the_grader() {
        check("1,234", NumberMark::Point, &["1234"]);
        check("1,234", NumberMark::Comma, &["1.234"]);
        check("1.234", NumberMark::Point, &["1.234"]);
        check("1.234", NumberMark::Comma, &["1234"]);
        check("1.234", NumberMark::Any, &["1234", "1.234"]);
    }

    #[test]
    fn digits_grouped_in_no_accepted_way_have_no_reading() {
        for text in [
            "1,23,4",
            "1.2.3",
            "1,234.567.890",
            "0,123,456",
            "1234,567,890",
            "12.34.567",
        ] {
            check(text, NumberMark::Point, &[]);
        }
    }

    #[test]
    fn a_space_groups_three_digits_alone() {
        let characters: Vec<char> = "2 3/4".chars().collect();
        assert_eq!(read_digits(&characters, 0, NumberMark::Point).end, 1);
        let characters: Vec<char> = "2021 300".chars().collect();
        assert_eq!(read_digits(&characters, 0, NumberMark::Point).end, 4);
    }

    #[test]
    fn zeros_are_in_order() {
        assert!(ZEROS.is_sorted());
        assert_eq!(digit_value('\u{1d7d9}'), Some(1));
        assert_eq!(digit_value('\u{b2}'), None);
    }
}
