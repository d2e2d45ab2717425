//! One grader of any kind.

use crate::choice::ChoiceGrader;
use crate::contains::ContainsGrader;
use crate::exact::ExactGrader;
use crate::graded::{GradeError, GradedReply, ReplyGrade};
use crate::json::{GradeField, JsonGrader, JsonValue};
use crate::number::NumberGrader;
use crate::pattern::PatternGrader;
use crate::visible::visible_text;

/// A grader with its settings, which are sound.
#[derive(Clone, Debug)]
pub struct Grader {
    pub(crate) kind: GraderKind,
    /// The settings in one form for each meaning, for hashes and comparisons.
    pub(crate) settings: String,
    /// The right answers, for people.
    pub(crate) expected: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum GraderKind {
    Exact(ExactGrader),
    Number(Box<NumberGrader>),
    Contains(ContainsGrader),
    Regex(Box<PatternGrader>),
    Json(Box<JsonGrader>),
    Choice(ChoiceGrader),
}

impl PartialEq for Grader {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
    }
}

impl Eq for Grader {}

impl Grader {
    /// Returns the name of the kind, as in the settings.
    pub fn kind(&self) -> &'static str {
        match &self.kind {
            GraderKind::Exact(_) => "exact",
            GraderKind::Number(_) => "number",
            GraderKind::Contains(_) => "contains",
            GraderKind::Regex(_) => "regex",
            GraderKind::Json(_) => "json",
            GraderKind::Choice(_) => "choice",
        }
    }

    /// Returns the settings as text: equal for equal settings.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// Returns the right answers as people read them.
    pub fn expected(&self) -> &[String] {
        &self.expected
    }

    /// Returns the labels and texts of the options, in order; empty for other kinds than `choice`.
    pub fn options(&self) -> &[(String, String)] {
        match &self.kind {
            GraderKind::Choice(choice) => &choice.options,
            GraderKind::Exact(_)
            | GraderKind::Number(_)
            | GraderKind::Contains(_)
            | GraderKind::Regex(_)
            | GraderKind::Json(_) => &[],
        }
    }

    /// Says whether the grader reads one final answer, so that a reply should say which it is.
    pub fn reads_final_answer(&self) -> bool {
        match &self.kind {
            GraderKind::Exact(_) | GraderKind::Number(_) | GraderKind::Choice(_) => true,
            GraderKind::Contains(contains) => contains.scope.is_some(),
            GraderKind::Regex(pattern) => pattern.scope.is_some(),
            GraderKind::Json(json) => json.scope.is_some(),
        }
    }

    /// Returns the probability that a random option is right. 0 for other kinds than `choice`.
    pub fn chance_level(&self) -> f64 {
        match &self.kind {
            GraderKind::Choice(choice) if choice.is_multiple => {
                0.5_f64.powi(i32::try_from(choice.options.len()).unwrap_or(i32::MAX))
            }
            GraderKind::Choice(choice) => {
                choice.expected.len() as f64 / choice.options.len() as f64
            }
            GraderKind::Exact(_)
            | GraderKind::Number(_)
            | GraderKind::Contains(_)
            | GraderKind::Regex(_)
            | GraderKind::Json(_) => 0.0,
        }
    }

    /// Grades a reply.
    pub fn grade(&self, reply: &str) -> GradedReply {
        let Some(visible) = visible_text(reply) else {
            return GradedReply::error(GradeError::Missing);
        };
        match &self.kind {
            GraderKind::Exact(grader) => grader.grade(&visible),
            GraderKind::Number(grader) => grader.grade(&visible),
            GraderKind::Contains(grader) => grader.grade(&visible),
            GraderKind::Regex(grader) => grader.grade(&visible),
            GraderKind::Json(grader) => grader.grade(&visible),
            GraderKind::Choice(grader) => grader.grade(&visible),
        }
    }
}

impl GradeField for Grader {
    fn grade_field(&self, value: &JsonValue) -> ReplyGrade {
        match (&self.kind, value) {
            (GraderKind::Json(grader), value) => grader.grade_value(value),
            (GraderKind::Number(grader), JsonValue::Number(number)) => match number.to_rational() {
                Some(number) => grader.grade_whole(number),
                None => ReplyGrade::Error(GradeError::Unparsable),
            },
            (GraderKind::Exact(grader), JsonValue::Text(text)) => grader.grade_whole(text),
            (GraderKind::Contains(grader), JsonValue::Text(text)) => grader.grade_whole(text),
            (GraderKind::Regex(grader), JsonValue::Text(text)) => grader.grade_whole(text).grade,
            (GraderKind::Choice(grader), JsonValue::Text(text)) => grader.grade_whole(text),
            (
                GraderKind::Exact(_)
                | GraderKind::Number(_)
                | GraderKind::Contains(_)
                | GraderKind::Regex(_)
                | GraderKind::Choice(_),
                _,
            ) => ReplyGrade::Fail,
        }
    }
}
