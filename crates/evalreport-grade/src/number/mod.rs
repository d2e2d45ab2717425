//! The grader `number`: the final answer is a number, compared exactly.

mod cardinal_words;
mod digits;
mod rational;
mod scan;
mod units;

pub(crate) use digits::NumberMark;
pub(crate) use rational::Rational;
pub(crate) use scan::Magnitude;
pub(crate) use units::UnitDemand;

use scan::{ScannedValue, scan_values};
use units::FoundUnit;

use crate::cleaning::{clean_answer, clean_text};
use crate::final_answer::{AnswerPlace, cut_sentence, is_decoration, restart_at_correction};
use crate::graded::{GradeError, GradedReply, Reading, ReplyGrade, decide_readings};

/// Which numbers are right.
#[derive(Clone, Debug)]
pub(crate) enum RightNumber {
    Equal {
        expected: Magnitude,
        /// Largest difference that is right, edges included.
        tolerance: Rational,
    },
    /// A closed interval, open-ended where there is `None`.
    Within {
        min: Option<Rational>,
        max: Option<Rational>,
    },
}

impl RightNumber {
    fn holds(&self, number: &Magnitude) -> bool {
        match (self, number) {
            (
                Self::Equal {
                    expected: Magnitude::Finite(expected),
                    tolerance,
                },
                Magnitude::Finite(number),
            ) => number.plus(&expected.clone().negated()).absolute() <= *tolerance,
            (Self::Equal { expected, .. }, number) => expected == number,
            (Self::Within { min, max }, Magnitude::Finite(number)) => {
                min.as_ref().is_none_or(|min| number >= min)
                    && max.as_ref().is_none_or(|max| number <= max)
            }
            (Self::Within { .. }, Magnitude::Infinite { .. }) => false,
        }
    }
}

/// Which of several values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakenValue {
    First,
    Last,
}

/// Reads and compares numbers.
#[derive(Clone, Debug)]
pub(crate) struct NumberGrader {
    /// All of them must hold.
    pub(crate) right: Vec<RightNumber>,
    pub(crate) decimal: NumberMark,
    pub(crate) units: UnitDemand,
    pub(crate) taken: Option<TakenValue>,
    pub(crate) place: AnswerPlace,
}

impl NumberGrader {
    pub(crate) fn grade(&self, visible: &str) -> GradedReply {
        let Some((values, answer)) = self.find_values(visible) else {
            return GradedReply::error(GradeError::Missing);
        };
        if values.is_empty() {
            return GradedReply::new(ReplyGrade::Error(GradeError::Unparsable), answer);
        }
        let taken = match self.taken {
            None => values.as_slice(),
            Some(TakenValue::First) => &values[..1],
            Some(TakenValue::Last) => &values[values.len() - 1..],
        };
        let readings: Vec<Reading> = taken.iter().flat_map(|value| self.read(value)).collect();
        GradedReply::new(decide_readings(&readings), answer)
    }

    /// Grades a number that is an answer as a whole and has no unit, such as a value of JSON.
    pub(crate) fn grade_whole(&self, number: Rational) -> ReplyGrade {
        decide_readings(&self.read(&ScannedValue {
            readings: vec![Magnitude::Finite(number)],
            unit: None,
            is_bound: false,
        }))
    }

    /// Returns the values of the final answer, and its text. `None` without an answer.
    fn find_values(&self, visible: &str) -> Option<(Vec<ScannedValue>, String)> {
        if !self.place.final_line_only {
            let text = restart_at_correction(visible, |rest| self.find_in_lines(rest).is_some());
            if let Some(marked) = self.place.find_marked(text) {
                let texts: Vec<String> = marked
                    .iter()
                    .map(|marked| {
                        clean_text(if marked.is_prose {
                            cut_sentence(&marked.text)
                        } else {
                            &marked.text
                        })
                    })
                    .collect();
                let values = texts.iter().flat_map(|text| self.values_of(text)).collect();
                return Some((values, texts.join(" | ").trim().to_owned()));
            }
            return if self.place.require_marker {
                None
            } else {
                self.find_in_lines(text)
            };
        }
        let last = visible.lines().rev().find(|line| !is_decoration(line))?;
        self.find_in_lines(last)
    }

    /// Returns the values of the last line that has any.
    fn find_in_lines(&self, text: &str) -> Option<(Vec<ScannedValue>, String)> {
        text.lines().rev().find_map(|line| {
            let cleaned = clean_text(drop_list_mark(line));
            let values = self.values_of(&cleaned);
            (!values.is_empty()).then(|| (values, cleaned.trim().to_owned()))
        })
    }

    /// Returns the values of a text: those right of its last `=` or `≈`, or the whole text's.
    fn values_of(&self, text: &str) -> Vec<ScannedValue> {
        let scan = |text: &str| scan_values(text, self.decimal, &self.units);
        let by_side: Vec<ScannedValue> =
            split_equations(text).into_iter().flat_map(&scan).collect();
        let values = if by_side.is_empty() {
            scan(text)
        } else {
            by_side
        };
        if values.is_empty() {
            return self.read_words(text).into_iter().collect();
        }
        values
    }

    /// Reads a text that is a number in words, and perhaps a unit, as a whole.
    fn read_words(&self, text: &str) -> Option<ScannedValue> {
        let answer = clean_answer(text);
        if answer.len() > 1000 {
            return None;
        }
        let value = |number, unit| ScannedValue {
            readings: vec![Magnitude::Finite(Rational::from_integer(number))],
            unit,
            is_bound: false,
        };
        if let Some(number) = cardinal_words::parse_words(&answer) {
            return Some(value(number, None));
        }
        let characters: Vec<char> = answer.chars().collect();
        let spaces = characters
            .iter()
            .enumerate()
            .filter(|(_, space)| **space == ' ');
        spaces.map(|(place, _)| place).find_map(|place| {
            let words: String = characters[..place].iter().collect();
            let number = cardinal_words::parse_words(&words)?;
            let (unit, end) = self.units.read_unit(&characters, place + 1, false)?;
            (end == characters.len()).then(|| value(number, Some(unit)))
        })
    }

    /// Returns what each reading of a value is.
    fn read(&self, value: &ScannedValue) -> Vec<Reading> {
        let factor = match (&self.units, &value.unit) {
            (UnitDemand::None, _) | (UnitDemand::Names { .. }, Some(FoundUnit::Named(_))) => None,
            (UnitDemand::Names { is_required, .. }, None) => {
                if *is_required {
                    return vec![Reading::NoUnit];
                }
                None
            }
            (UnitDemand::Factors(factors), Some(FoundUnit::Named(place))) => {
                factors.get(*place).map(|(_, factor)| factor)
            }
            (UnitDemand::Factors(factors), None) => {
                let bare = factors.iter().find(|(name, _)| name.is_empty());
                let Some((_, factor)) = bare else {
                    return vec![Reading::NoUnit];
                };
                Some(factor)
            }
            (_, Some(FoundUnit::Percent | FoundUnit::Other)) => return vec![Reading::NoUnit],
        };
        let is_percent = value.unit == Some(FoundUnit::Percent);
        let mut readings = Vec::new();
        for number in &value.readings {
            let number = match (number, factor) {
                (Magnitude::Finite(number), Some(factor)) => {
                    Magnitude::Finite(number.times(factor))
                }
                (number, _) => number.clone(),
            };
            if is_percent && let Magnitude::Finite(number) = &number {
                let share = Magnitude::Finite(number.clone().scaled_by_ten(-2));
                readings.push(self.judge(&share));
            }
            readings.push(self.judge(&number));
        }
        if value.is_bound {
            // A bound is no value, so it is never simply right.
            readings.push(Reading::Wrong);
        }
        readings
    }

    fn judge(&self, number: &Magnitude) -> Reading {
        if self.right.iter().all(|right| right.holds(number)) {
            Reading::Right
        } else {
            Reading::Wrong
        }
    }
}

/// Returns the text behind a number that only counts the items of a list.
fn drop_list_mark(line: &str) -> &str {
    let text = line
        .trim_start_matches(|mark: char| mark.is_whitespace() || matches!(mark, '>' | '*' | '#'));
    let rest = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let has_digits = (1..=3).contains(&(text.len() - rest.len()));
    match rest.strip_prefix(['.', ')']) {
        Some(item) if has_digits && item.starts_with([' ', '\t']) => item,
        _ => line,
    }
}

/// Returns what is right of the last `=` or `≈`, once for each alternative joined by "or". Empty without such a sign.
fn split_equations(text: &str) -> Vec<&str> {
    let Some(start) = last_equals(text) else {
        return Vec::new();
    };
    let right = &text[start..];
    let before = &text[..start];
    // In "x = 2 or x = 3" both are answers.
    match before.rfind(" or ") {
        Some(place) if last_equals(&before[..place]).is_some() => {
            let first = &before[..place];
            let first = last_equals(first).map_or(first, |start| &first[start..]);
            vec![first, right]
        }
        _ => vec![right],
    }
}

/// Returns the place after the last `=` or `≈` that is no part of `<=`, `>=`, `!=`, `==` or `=>`.
fn last_equals(text: &str) -> Option<usize> {
    text.rmatch_indices(['=', '\u{2248}'])
        .find_map(|(at, sign)| {
            let before = text[..at].chars().next_back();
            let after = text[at + sign.len()..].chars().next();
            let is_other = sign == "="
                && (matches!(before, Some('<' | '>' | '!' | '=' | ':'))
                    || matches!(after, Some('>' | '=')));
            (!is_other).then_some(at + sign.len())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(text: &str) -> Rational {
        Rational::parse(text).expect("a number")
    }

    fn grader(expected: &str) -> NumberGrader {
        NumberGrader {
            right: vec![RightNumber::Equal {
                expected: Magnitude::Finite(rational(expected)),
                tolerance: rational("0"),
            }],
            decimal: NumberMark::Point,
            units: UnitDemand::None,
            taken: None,
            place: AnswerPlace::new(false, false, &[]),
        }
    }

    #[track_caller]
    fn check(grader: &NumberGrader, reply: &str, grade: ReplyGrade) {
        assert_eq!(grader.grade(reply).grade, grade, "{reply:?}");
    }

    const AMBIGUOUS: ReplyGrade = ReplyGrade::Error(GradeError::Ambiguous);
    const UNPARSABLE: ReplyGrade = ReplyGrade::Error(GradeError::Unparsable);
    const MISSING: ReplyGrade = ReplyGrade::Error(GradeError::Missing);
    const UNIT: ReplyGrade = ReplyGrade::Error(GradeError::Unit);

    #[test]
    fn the_final_answer_is_the_number_that_counts() {
        let grader = grader("12");
        check(
            &grader,
            "Of 3 boxes each has 4.\n\nAnswer: 12",
            ReplyGrade::Pass,
        );
        check(&grader, "3 \u{d7} 4 = 12", ReplyGrade::Pass);
        check(&grader, "12 is right.\nAnswer: 13", ReplyGrade::Fail);
        check(&grader, "It is 11. Wait, it is 12.", ReplyGrade::Pass);
        check(&grader, "1. Count.\n2. It is 12\n3. Done", ReplyGrade::Pass);
        check(&grader, "twelve", ReplyGrade::Pass);
        check(&grader, "The answer is twelve.", ReplyGrade::Pass);
        check(&grader, "Answer: XII", UNPARSABLE);
        check(&grader, "Answer: 12:30", UNPARSABLE);
        check(&grader, "I do not know.", MISSING);
        check(&grader, "x = 12 or x = 13", AMBIGUOUS);
        check(&grader, "x = 14 or x = 13", ReplyGrade::Fail);
        check(&grader, "12 or 13", AMBIGUOUS);
        check(&grader, "at least 12", AMBIGUOUS);
        check(&grader, "at least 13", ReplyGrade::Fail);
        check(&grader, "Answer: 12 (not 13)", ReplyGrade::Pass);
        check(&grader, "Answer: 12 because 3 times 4", ReplyGrade::Pass);
    }

    #[test]
    fn tolerance_and_intervals_include_their_edges() {
        let mut near = grader("0.3");
        near.right = vec![RightNumber::Equal {
            expected: Magnitude::Finite(rational("0.3")),
            tolerance: rational("0.1"),
        }];
        check(&near, "0.4", ReplyGrade::Pass);
        check(&near, "0.41", ReplyGrade::Fail);
        let mut within = grader("0");
        within.right = vec![RightNumber::Within {
            min: Some(rational("10")),
            max: Some(rational("12")),
        }];
        check(&within, "10 to 12", ReplyGrade::Pass);
        check(&within, "10 to 13", AMBIGUOUS);
        check(&within, "\u{221e}", ReplyGrade::Fail);
    }

    #[test]
    fn infinity_equals_only_itself() {
        let mut infinite = grader("0");
        infinite.right = vec![RightNumber::Equal {
            expected: Magnitude::Infinite { is_negative: false },
            tolerance: rational("1000"),
        }];
        check(
            &infinite,
            "\\infty is the limit: $\\boxed{\\infty}$",
            ReplyGrade::Pass,
        );
        check(&infinite, "$-\\infty$", ReplyGrade::Fail);
        check(&infinite, "1e9999", ReplyGrade::Fail);
        check(&infinite, "Answer: NaN", UNPARSABLE);
    }

    #[test]
    fn percent_without_a_unit_has_two_readings() {
        check(&grader("25"), "25%", AMBIGUOUS);
        check(&grader("0.25"), "25 percent", AMBIGUOUS);
        check(&grader("26"), "25%", ReplyGrade::Fail);
        check(&grader("5000"), "5k", AMBIGUOUS);
    }

    #[test]
    fn units_are_converted_only_by_their_factors() {
        let mut km = grader("5");
        km.units = UnitDemand::Names {
            names: vec!["km".to_owned()],
            is_required: false,
        };
        check(&km, "5 km", ReplyGrade::Pass);
        check(&km, "5", ReplyGrade::Pass);
        check(&km, "5 apples", ReplyGrade::Pass);
        check(&km, "5 miles", UNIT);
        check(&km, "5 km/h", UNIT);
        check(&km, "5%", UNIT);
        check(&km, "five km", ReplyGrade::Pass);
        check(&km, "five miles", UNIT);
        km.units = UnitDemand::Names {
            names: vec!["km".to_owned()],
            is_required: true,
        };
        check(&km, "5", UNIT);
        km.units = UnitDemand::Factors(vec![
            ("km".to_owned(), rational("1")),
            ("m".to_owned(), rational("0.001")),
        ]);
        check(&km, "5,000 m", ReplyGrade::Pass);
        check(&km, "5,000", UNIT);
        check(&km, "5 miles", UNIT);
        let mut dollars = grader("-5");
        dollars.units = UnitDemand::Names {
            names: vec!["$".to_owned(), "USD".to_owned()],
            is_required: true,
        };
        check(&dollars, "-$5", ReplyGrade::Pass);
        check(&dollars, "USD -5", ReplyGrade::Pass);
        check(&dollars, "-5 \u{20ac}", UNIT);
    }

    #[test]
    fn of_several_values_one_can_be_taken() {
        let mut last = grader("5");
        last.taken = Some(TakenValue::Last);
        check(&last, "3 of 5", ReplyGrade::Pass);
        last.taken = Some(TakenValue::First);
        check(&last, "3 of 5", ReplyGrade::Fail);
    }

    #[test]
    fn a_megabyte_is_graded_in_linear_time() {
        for part in [
            "Wait, 5. ",
            "5\n",
            "Answer: \n",
            "x = 1 or ",
            "17 of 900, ",
            "no numbers here ",
        ] {
            let text = part.repeat(1_000_000 / part.len());
            let started = std::time::Instant::now();
            let _ = grader("5").grade(&text);
            assert!(
                started.elapsed().as_secs() < 10,
                "{part:?} {:?}",
                started.elapsed()
            );
        }
    }
}
