//! The grader `regex`: a pattern in the visible text, in linear time.

use regex::{Regex, RegexBuilder};

use crate::exact::{ExactGrader, find_texts};
use crate::final_answer::AnswerPlace;
use crate::graded::{GradeError, GradedReply, ReplyGrade};

/// Looks for a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternGrader {
    pub(crate) pattern: Regex,
    /// What the last match is compared with, and the group that is.
    pub(crate) compared: Option<(usize, ExactGrader)>,
    /// Where the final answer is, if only that counts.
    pub(crate) scope: Option<AnswerPlace>,
}

impl PatternGrader {
    pub(crate) fn grade(&self, visible: &str) -> GradedReply {
        let scoped = match &self.scope {
            None => Some(visible.trim().to_owned()),
            Some(place) => find_texts(visible, place).map(|texts| texts.join("\n")),
        };
        match scoped {
            Some(text) => self.grade_whole(text.trim()),
            None => GradedReply::error(GradeError::Missing),
        }
    }

    /// Grades a text that counts as a whole.
    pub(crate) fn grade_whole(&self, text: &str) -> GradedReply {
        let Some((group, expected)) = &self.compared else {
            return match self.pattern.find(text) {
                Some(found) => GradedReply::new(ReplyGrade::Pass, found.as_str()),
                None => GradedReply {
                    grade: ReplyGrade::Fail,
                    answer: None,
                },
            };
        };
        let last = self.pattern.captures_iter(text).last();
        match last.and_then(|found| found.get(*group)) {
            Some(found) => GradedReply::new(expected.grade_whole(found.as_str()), found.as_str()),
            None => GradedReply::error(GradeError::Missing),
        }
    }
}

/// Compiles a pattern. With `full_match`, it must match the whole text.
///
/// # Errors
///
/// Says why the pattern cannot be used.
pub(crate) fn compile_pattern(
    pattern: &str,
    ignore_case: bool,
    full_match: bool,
) -> Result<Regex, String> {
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern)
            .case_insensitive(ignore_case)
            .build()
    };
    let whole = compile(pattern).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too big".to_owned(),
        regex::Error::Syntax(text) => text
            .lines()
            .last()
            .map(|line| line.trim_start_matches("error: ").to_owned())
            .unwrap_or_default(),
        other => other.to_string(),
    })?;
    if !full_match {
        return Ok(whole);
    }
    // With `(?x)` a comment can run to the end of the pattern's last line.
    compile(&format!(r"\A(?:{pattern})\z"))
        .or_else(|_| compile(&format!("\\A(?:{pattern}\n)\\z")))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_form::TextForm;

    #[track_caller]
    fn check(pattern: &str, full_match: bool, reply: &str, grade: ReplyGrade) {
        let grader = PatternGrader {
            pattern: compile_pattern(pattern, false, full_match).expect("a sound pattern"),
            compared: None,
            scope: None,
        };
        assert_eq!(grader.grade(reply).grade, grade, "{pattern} in {reply:?}");
    }

    #[test]
    fn ends_are_those_of_the_trimmed_text() {
        check("^\\d+$", false, " 42\n", ReplyGrade::Pass);
        check("^\\d+$", false, "a\n42", ReplyGrade::Fail);
        check("(?m)^\\d+$", false, "a\n42", ReplyGrade::Pass);
        check("a.b", false, "a\nb", ReplyGrade::Fail);
        check("(?s)a.b", false, "a\nb", ReplyGrade::Pass);
        check("a|bc", true, "ab", ReplyGrade::Fail);
        check("a|bc", true, "bc", ReplyGrade::Pass);
        check("(?x) bc # two", true, "bc", ReplyGrade::Pass);
    }

    #[test]
    fn the_last_match_is_compared() {
        let mut grader = PatternGrader {
            pattern: compile_pattern("total:\\s*(\\d+)(kg)?", false, false).expect("sound"),
            compared: Some((
                1,
                ExactGrader {
                    expected: vec!["15".to_owned()],
                    form: TextForm::default(),
                    place: AnswerPlace::default(),
                },
            )),
            scope: None,
        };
        assert_eq!(grader.grade("total: 12\ntotal: 15").grade, ReplyGrade::Pass);
        assert_eq!(grader.grade("total: 15\ntotal: 12").grade, ReplyGrade::Fail);
        assert_eq!(
            grader.grade("none").grade,
            ReplyGrade::Error(GradeError::Missing)
        );
        if let Some((group, _)) = &mut grader.compared {
            *group = 2;
        }
        assert_eq!(
            grader.grade("total: 15").grade,
            ReplyGrade::Error(GradeError::Missing)
        );
    }

    #[test]
    fn what_takes_more_than_linear_time_is_refused() {
        for pattern in ["(?=a)b", "(a)\\1", "(", "a{100000}{100000}"] {
            assert!(compile_pattern(pattern, false, false).is_err(), "{pattern}");
        }
        assert!(compile_pattern("a)(b", false, true).is_err());
    }
}
