//! The grader `contains`: phrases in the reply. No meaning is read: "not Paris" contains Paris.

use crate::cleaning::drop_emphasis;
use crate::exact::find_texts;
use crate::final_answer::AnswerPlace;
use crate::graded::{GradeError, GradedReply, ReplyGrade};
use crate::text_form::TextForm;

/// Looks for phrases.
#[derive(Clone, Debug)]
pub(crate) struct ContainsGrader {
    pub(crate) all_of: Vec<String>,
    /// Empty if there is no such demand.
    pub(crate) any_of: Vec<String>,
    pub(crate) none_of: Vec<String>,
    /// The choices of the question. If one that is not among `all_of` and `any_of` is there too, the reply has several readings.
    pub(crate) options: Vec<String>,
    /// Whether phrases are whole words.
    pub(crate) words: bool,
    pub(crate) form: TextForm,
    /// Where the final answer is, if only that counts.
    pub(crate) scope: Option<AnswerPlace>,
}

impl ContainsGrader {
    pub(crate) fn grade(&self, visible: &str) -> GradedReply {
        let Some(place) = &self.scope else {
            return GradedReply {
                grade: self.grade_whole(visible),
                answer: None,
            };
        };
        match find_texts(visible, place) {
            Some(texts) => {
                let text = texts.join("\n");
                GradedReply::new(self.grade_whole(&text), text)
            }
            None => GradedReply::error(GradeError::Missing),
        }
    }

    /// Grades a text that counts as a whole.
    pub(crate) fn grade_whole(&self, text: &str) -> ReplyGrade {
        let text: Vec<char> = self.form.apply(&drop_emphasis(text)).chars().collect();
        let wanted = || self.all_of.iter().chain(&self.any_of);
        let phrases: Vec<(&String, Vec<char>)> = wanted()
            .chain(&self.none_of)
            .chain(&self.options)
            .map(|phrase| (phrase, self.form.apply(phrase).chars().collect()))
            .collect();
        let is_option = |phrase: &String| self.options.contains(phrase);
        let places = |phrase: &String| -> Vec<(usize, usize)> {
            phrases
                .iter()
                .find(|(known, _)| *known == phrase)
                .map(|(_, form)| find_phrase(&text, form, self.words))
                .unwrap_or_default()
        };
        // An option within a longer one that is there is not named itself.
        let mut option_places: Vec<(usize, usize)> =
            self.options.iter().flat_map(&places).collect();
        option_places.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let mut covering: Vec<(usize, usize)> = Vec::new();
        for place in option_places {
            if covering.last().is_none_or(|(_, end)| *end < place.1) {
                covering.push(place);
            }
        }
        let is_there = |phrase: &String| {
            places(phrase).into_iter().any(|(start, end)| {
                if !is_option(phrase) {
                    return true;
                }
                let after = covering.partition_point(|(begin, _)| *begin <= start);
                after > 0 && covering[after - 1].1 == end && covering[after - 1].0 == start
            })
        };
        let holds = self.all_of.iter().all(is_there)
            && (self.any_of.is_empty() || self.any_of.iter().any(is_there))
            && !self.none_of.iter().any(is_there);
        let is_other = |option: &&String| !wanted().any(|phrase| phrase == *option);
        if !holds {
            return ReplyGrade::Fail;
        }
        if self.options.iter().filter(is_other).any(is_there) {
            return ReplyGrade::Error(GradeError::Ambiguous);
        }
        ReplyGrade::Pass
    }
}

/// Returns the places of the phrase, overlapping ones too, as start and end. Takes time in proportion to both lengths (Knuth, Morris and Pratt).
pub(crate) fn find_phrase(text: &[char], phrase: &[char], words: bool) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    if phrase.is_empty() {
        return places;
    }
    let mut border = vec![0; phrase.len()];
    for index in 1..phrase.len() {
        let mut length = border[index - 1];
        while length > 0 && phrase[index] != phrase[length] {
            length = border[length - 1];
        }
        border[index] = length + usize::from(phrase[index] == phrase[length]);
    }
    let mut length = 0;
    for (index, character) in text.iter().enumerate() {
        while length > 0 && *character != phrase[length] {
            length = border[length - 1];
        }
        length += usize::from(*character == phrase[length]);
        if length == phrase.len() {
            let (start, end) = (index + 1 - length, index + 1);
            if !words || is_word(text, start, end) {
                places.push((start, end));
            }
            length = border[length - 1];
        }
    }
    places
}

/// Says whether the text between these places stands by itself.
fn is_word(text: &[char], start: usize, end: usize) -> bool {
    let at = |index: Option<usize>| index.and_then(|index| text.get(index)).copied();
    let before = (at(start.checked_sub(1)), at(start.checked_sub(2)));
    let after = (at(Some(end)), at(Some(end + 1)));
    is_boundary(text[start], before) && is_boundary(text[end - 1], after)
}

/// Says whether a phrase can end with `inner`, before these two characters, which count away from the phrase.
fn is_boundary(inner: char, outer: (Option<char>, Option<char>)) -> bool {
    if !inner.is_alphanumeric() {
        return true;
    }
    let (Some(next), beyond) = outer else {
        return true;
    };
    if next.is_alphanumeric() || next == '_' {
        return is_written_without_spaces(inner) && is_written_without_spaces(next);
    }
    let continues_number =
        matches!(next, '.' | ',') && inner.is_numeric() && beyond.is_some_and(char::is_numeric);
    !continues_number
}

/// Says whether the character is an ideograph or kana, between which every place is a boundary.
fn is_written_without_spaces(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grader(all_of: &[&str]) -> ContainsGrader {
        ContainsGrader {
            all_of: all_of.iter().map(|text| (*text).to_owned()).collect(),
            any_of: Vec::new(),
            none_of: Vec::new(),
            options: Vec::new(),
            words: true,
            form: TextForm::default(),
            scope: None,
        }
    }

    #[track_caller]
    fn check(phrase: &str, reply: &str, grade: ReplyGrade) {
        assert_eq!(
            grader(&[phrase]).grade(reply).grade,
            grade,
            "{phrase:?} in {reply:?}"
        );
    }

    #[test]
    fn phrases_are_whole_words() {
        check("cat", "a cat.", ReplyGrade::Pass);
        check("cat", "concatenate", ReplyGrade::Fail);
        check("cat", "cat_1", ReplyGrade::Fail);
        check("5", "25", ReplyGrade::Fail);
        check("5", "2.5", ReplyGrade::Fail);
        check("5", "5,000", ReplyGrade::Fail);
        check("5", "It is 5.", ReplyGrade::Pass);
        check("C", "C++", ReplyGrade::Pass);
        check("C++", "C++17", ReplyGrade::Pass);
        check(
            "\u{6771}\u{4eac}",
            "\u{6771}\u{4eac}\u{90fd}\u{3067}\u{3059}",
            ReplyGrade::Pass,
        );
        check("New York", "new\n**New  York** city", ReplyGrade::Pass);
        check("a a", "xa a a", ReplyGrade::Pass);
        check("not", "not Paris", ReplyGrade::Pass);
    }

    #[test]
    fn all_any_and_none_are_demands_of_one_reply() {
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut grader = grader(&["red", "blue"]);
        assert_eq!(grader.grade("blue, red").grade, ReplyGrade::Pass);
        assert_eq!(grader.grade("blue").grade, ReplyGrade::Fail);
        grader.any_of = text(&["green", "black"]);
        assert_eq!(grader.grade("blue red").grade, ReplyGrade::Fail);
        assert_eq!(grader.grade("blue red black").grade, ReplyGrade::Pass);
        grader.none_of = text(&["white"]);
        assert_eq!(grader.grade("blue red black white").grade, ReplyGrade::Fail);
    }

    #[test]
    fn another_option_is_doubt_only_beside_the_right_one() {
        let mut grader = grader(&["York"]);
        grader.options = ["York", "New York", "Hull"].map(str::to_owned).to_vec();
        for (reply, grade) in [
            ("It is York.", ReplyGrade::Pass),
            ("It is New York.", ReplyGrade::Fail),
            ("York or Hull", ReplyGrade::Error(GradeError::Ambiguous)),
            ("Hull", ReplyGrade::Fail),
        ] {
            assert_eq!(grader.grade(reply).grade, grade, "{reply}");
        }
        grader.scope = Some(AnswerPlace::new(false, false, &[]));
        assert_eq!(
            grader.grade("Hull is small.\nAnswer: York").grade,
            ReplyGrade::Pass
        );
    }

    #[test]
    fn near_misses_take_linear_time() {
        let text: Vec<char> = "aab".repeat(300_000).chars().collect();
        let phrase: Vec<char> = "aab".repeat(100_000).chars().chain(['x']).collect();
        let started = std::time::Instant::now();
        assert!(find_phrase(&text, &phrase, true).is_empty());
        assert!(started.elapsed().as_secs() < 5);
    }
}
