//! The grader `json`: a value of JSON, compared deeply, field by field or by a schema.

use std::fmt;
use std::sync::Arc;

mod compare;
mod find;
mod parse;
mod path;
mod schema;

pub(crate) use compare::{ExtraKeys, JsonEquality};
pub(crate) use parse::{JsonNumber, JsonValue};
pub(crate) use path::JsonPath;
pub(crate) use schema::JsonSchema;

use find::find_json;

use crate::exact::find_texts;
use crate::final_answer::AnswerPlace;
use crate::graded::{GradeError, GradedReply, ReplyGrade, decide_all};

/// Longest answer that is shown.
const MAX_SHOWN: usize = 200;

/// A grader of single values, of whatever kind.
pub(crate) trait GradeField: fmt::Debug + Send + Sync {
    /// Grades a value of JSON, which is an answer as a whole. A value of another type fails.
    fn grade_field(&self, value: &JsonValue) -> ReplyGrade;
}

/// What a field must be.
#[derive(Clone, Debug)]
pub(crate) enum FieldDemand {
    Equal(JsonValue),
    Graded(Arc<dyn GradeField>),
}

/// Reads and compares JSON. What is `None` or empty is not demanded.
#[derive(Clone, Debug)]
pub(crate) struct JsonGrader {
    pub(crate) expected: Option<JsonValue>,
    pub(crate) fields: Vec<(JsonPath, FieldDemand)>,
    pub(crate) schema: Option<JsonSchema>,
    pub(crate) is_lenient: bool,
    pub(crate) equality: JsonEquality,
    /// Where the final answer is, if only that counts.
    pub(crate) scope: Option<AnswerPlace>,
}

impl JsonGrader {
    pub(crate) fn grade(&self, visible: &str) -> GradedReply {
        let text = match &self.scope {
            None => visible.to_owned(),
            Some(place) => match find_texts(visible, place) {
                Some(texts) => texts.join("\n"),
                None => return GradedReply::error(GradeError::Missing),
            },
        };
        let found = match find_json(&text, self.is_lenient) {
            Ok(found) => found,
            Err(error) => return GradedReply::error(error),
        };
        let shown: Vec<String> = found
            .iter()
            .map(|parsed| {
                parsed
                    .value
                    .to_serde()
                    .to_string()
                    .chars()
                    .take(MAX_SHOWN)
                    .collect()
            })
            .collect();
        let mut grades: Vec<ReplyGrade> = found
            .iter()
            .map(|parsed| match self.grade_value(&parsed.value) {
                _ if parsed.has_repeated_key => ReplyGrade::Error(GradeError::Ambiguous),
                grade => grade,
            })
            .collect();
        grades.dedup();
        let grade = match grades.as_slice() {
            [grade] => *grade,
            _ if grades.contains(&ReplyGrade::Pass) => ReplyGrade::Error(GradeError::Ambiguous),
            _ => decide_all(grades.iter().copied()),
        };
        GradedReply::new(grade, shown.join(" | "))
    }

    /// Grades one value.
    pub(crate) fn grade_value(&self, value: &JsonValue) -> ReplyGrade {
        let is_equal = |expected: &JsonValue| self.equality.are_equal(expected, value);
        let as_grade = |holds: bool| {
            if holds {
                ReplyGrade::Pass
            } else {
                ReplyGrade::Fail
            }
        };
        let expected = self
            .expected
            .as_ref()
            .map(|expected| as_grade(is_equal(expected)));
        let schema = self
            .schema
            .as_ref()
            .map(|schema| as_grade(schema.accepts(value)));
        let fields = self
            .fields
            .iter()
            .map(|(path, demand)| match path.find(value) {
                None => ReplyGrade::Fail,
                Some(found) => match demand {
                    FieldDemand::Equal(expected) => {
                        as_grade(self.equality.are_equal(expected, found))
                    }
                    FieldDemand::Graded(grader) => grader.grade_field(found),
                },
            });
        decide_all(expected.into_iter().chain(schema).chain(fields))
    }
}
