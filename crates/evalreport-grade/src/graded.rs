//! What a grader says of a reply.

/// The grade of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyGrade {
    /// The answer was read and is right.
    Pass,
    /// The answer was read and is wrong.
    Fail,
    /// No answer could be read. It never counts as passed, and stays in the denominator.
    Error(GradeError),
}

/// Why no answer could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GradeError {
    /// There is no answer.
    Missing,
    /// There is an answer, but not of the grader's kind.
    Unparsable,
    /// The answer has several readings, and only some of them are right.
    Ambiguous,
    /// The unit is none of the grader's, or is absent although it is required.
    Unit,
}

impl GradeError {
    pub const ALL: [Self; 4] = [Self::Missing, Self::Unparsable, Self::Ambiguous, Self::Unit];

    /// Returns the name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unparsable => "unparsable",
            Self::Ambiguous => "ambiguous",
            Self::Unit => "unit",
        }
    }
}

/// A grade, with the answer that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradedReply {
    pub grade: ReplyGrade,
    /// The answer as it was read. `None` if there was none.
    pub answer: Option<String>,
}

impl GradedReply {
    pub(crate) fn new(grade: ReplyGrade, answer: impl Into<String>) -> Self {
        Self {
            grade,
            answer: Some(answer.into()),
        }
    }

    pub(crate) fn error(error: GradeError) -> Self {
        Self {
            grade: ReplyGrade::Error(error),
            answer: None,
        }
    }
}

/// One way of reading an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Right,
    Wrong,
    /// It has a unit that the grader does not know, or lacks one.
    NoUnit,
}

/// Returns the grade of an answer with these readings. Doubt counts only if it matters: several readings that are all right, or all wrong, are no
/// doubt.
pub(crate) fn decide_readings(readings: &[Reading]) -> ReplyGrade {
    let has = |wanted: Reading| readings.contains(&wanted);
    match (
        has(Reading::Right),
        has(Reading::Wrong),
        has(Reading::NoUnit),
    ) {
        (true, false, false) => ReplyGrade::Pass,
        (true, _, _) => ReplyGrade::Error(GradeError::Ambiguous),
        (false, _, true) => ReplyGrade::Error(GradeError::Unit),
        (false, true, false) => ReplyGrade::Fail,
        (false, false, false) => ReplyGrade::Error(GradeError::Missing),
    }
}

/// Returns the grade of several demands on one reply: one that is not met decides, before one that could not be read.
pub(crate) fn decide_all(grades: impl IntoIterator<Item = ReplyGrade>) -> ReplyGrade {
    let mut whole = ReplyGrade::Pass;
    for grade in grades {
        match (whole, grade) {
            (_, ReplyGrade::Fail) => return ReplyGrade::Fail,
            (ReplyGrade::Pass, grade) => whole = grade,
            (ReplyGrade::Fail | ReplyGrade::Error(_), _) => {}
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_counts_only_if_it_matters() {
        use Reading::{NoUnit, Right, Wrong};
        for (readings, grade) in [
            (&[Right, Right][..], ReplyGrade::Pass),
            (&[Wrong, Wrong], ReplyGrade::Fail),
            (&[Right, Wrong], ReplyGrade::Error(GradeError::Ambiguous)),
            (&[NoUnit], ReplyGrade::Error(GradeError::Unit)),
            (&[NoUnit, Wrong], ReplyGrade::Error(GradeError::Unit)),
            (&[NoUnit, Right], ReplyGrade::Error(GradeError::Ambiguous)),
            (&[], ReplyGrade::Error(GradeError::Missing)),
        ] {
            assert_eq!(decide_readings(readings), grade, "{readings:?}");
        }
    }

    #[test]
    fn one_demand_that_is_not_met_decides() {
        let error = ReplyGrade::Error(GradeError::Unit);
        assert_eq!(
            decide_all([ReplyGrade::Pass, error, ReplyGrade::Fail]),
            ReplyGrade::Fail
        );
        assert_eq!(decide_all([ReplyGrade::Pass, error]), error);
        assert_eq!(decide_all([]), ReplyGrade::Pass);
    }
}
