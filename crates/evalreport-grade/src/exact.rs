//! The grader `exact`: the final answer is a text.

use crate::cleaning::clean_answer;
use crate::final_answer::{AnswerPlace, is_decoration, restart_at_correction};
use crate::graded::{GradeError, GradedReply, Reading, ReplyGrade, decide_readings};
use crate::text_form::TextForm;

/// Compares the final answer with texts.
#[derive(Clone, Debug)]
pub(crate) struct ExactGrader {
    /// At least one text, each of them right.
    pub(crate) expected: Vec<String>,
    pub(crate) form: TextForm,
    pub(crate) place: AnswerPlace,
}

impl ExactGrader {
    pub(crate) fn grade(&self, visible: &str) -> GradedReply {
        let answers = find_texts(visible, &self.place);
        let Some(answers) = answers else {
            return GradedReply::error(GradeError::Missing);
        };
        let shown = answers
            .iter()
            .map(|text| clean_answer(text))
            .collect::<Vec<_>>();
        if shown.iter().all(String::is_empty) {
            return GradedReply::error(GradeError::Unparsable);
        }
        let readings: Vec<Reading> = answers
            .iter()
            .map(|answer| {
                if self.is_right(answer) {
                    Reading::Right
                } else {
                    Reading::Wrong
                }
            })
            .collect();
        GradedReply::new(decide_readings(&readings), shown.join(" | "))
    }

    /// Grades a text that is an answer as a whole, such as a value of JSON.
    pub(crate) fn grade_whole(&self, answer: &str) -> ReplyGrade {
        if self.is_right(answer) {
            ReplyGrade::Pass
        } else {
            ReplyGrade::Fail
        }
    }

    /// Says whether the answer equals one of the texts, as written or without decoration.
    pub(crate) fn is_right(&self, answer: &str) -> bool {
        let (written, clean) = (
            self.form.apply(answer),
            self.form.apply(&clean_answer(answer)),
        );
        self.expected.iter().any(|expected| {
            self.form.apply(expected) == written
                || !clean.is_empty() && self.form.apply(&clean_answer(expected)) == clean
        })
    }
}

/// Returns the texts of the final answer: those of a marker, to the end of their lines, or the last line. `None` if there is none.
pub(crate) fn find_texts(visible: &str, place: &AnswerPlace) -> Option<Vec<String>> {
    if !place.final_line_only {
        let text = restart_at_correction(visible, |rest| place.find_marked(rest).is_some());
        if let Some(marked) = place.find_marked(text) {
            return Some(marked.into_iter().map(|marked| marked.text).collect());
        }
        if place.require_marker {
            return None;
        }
    }
    let last = visible.lines().rev().find(|line| !is_decoration(line))?;
    Some(vec![last.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &[&str], reply: &str, grade: ReplyGrade) {
        let grader = ExactGrader {
            expected: expected.iter().map(|text| (*text).to_owned()).collect(),
            form: TextForm::default(),
            place: AnswerPlace::new(false, false, &[]),
        };
        assert_eq!(grader.grade(reply).grade, grade, "{reply:?}");
    }

    #[test]
    fn the_final_answer_is_compared_whole() {
        check(&["Oslo"], "**Oslo.**\n", ReplyGrade::Pass);
        check(&["Oslo"], "The capital is Oslo.", ReplyGrade::Fail);
        check(&["Oslo"], "Let me see.\n\n```\nOslo\n```", ReplyGrade::Pass);
        check(
            &["Oslo"],
            "Answer: Bergen\n\nNo, wait.\n\nAnswer: Oslo",
            ReplyGrade::Pass,
        );
        check(&["Oslo"], "Oslo\nis what I would say", ReplyGrade::Fail);
        check(&["a b"], "b a", ReplyGrade::Fail);
        check(&["a b"], "a \u{a0} b", ReplyGrade::Pass);
        check(&["4 May", "May 4"], "Answer: May 4", ReplyGrade::Pass);
        check(&["42"], "42.0", ReplyGrade::Fail);
        check(&["U.S."], "Answer: U.S.", ReplyGrade::Pass);
        check(&["(a, b)"], "Answer: (a, b)", ReplyGrade::Pass);
        check(&["\\frac{1}{2}"], "$\\frac{1}{2}$", ReplyGrade::Pass);
        check(&["No"], "Answer: No, it does not", ReplyGrade::Fail);
    }

    #[test]
    fn two_markers_of_a_line_are_doubt_only_if_it_matters() {
        let ambiguous = ReplyGrade::Error(GradeError::Ambiguous);
        check(&["a"], "\\boxed{a} or \\boxed{b}", ambiguous);
        check(&["c"], "\\boxed{a} or \\boxed{b}", ReplyGrade::Fail);
        check(&["a", "b"], "\\boxed{a} or \\boxed{b}", ReplyGrade::Pass);
        check(
            &["a"],
            "\\boxed{}",
            ReplyGrade::Error(GradeError::Unparsable),
        );
    }
}
