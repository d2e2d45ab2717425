//! What a grader says of a reply.

/// The grade of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
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
    pub grade: Grade,
    /// The answer as it was read. `None` if there was none.
    pub answer: Option<String>,
}

impl GradedReply {
    pub(crate) fn new(grade: Grade, answer: impl Into<String>) -> Self {
        Self {
            grade,
            answer: Some(answer.into()),
        }
    }

    pub(crate) fn error(error: GradeError) -> Self {
        Self {
            grade: Grade::Error(error),
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
pub(crate) fn decide_readings(readings: &[Reading]) -> Grade {
    let has = |wanted: Reading| readings.contains(&wanted);
    match (
        has(Reading::Right),
        has(Reading::Wrong),
        has(Reading::NoUnit),
    ) {
        (true, false, false) => Grade::Pass,
        (true, _, _) => Grade::Error(GradeError::Ambiguous),
        (false, _, true) => Grade::Error(GradeError::Unit),
        (false, true, false) => Grade::Fail,
        (false, false, false) => Grade::Error(GradeError::Missing),
    }
}

/// Returns the grade of several demands on one reply: one that is not met decides, before one that could not be read.
pub(crate) fn decide_all(grades: impl IntoIterator<Item = Grade>) -> Grade {
    let mut whole = Grade::Pass;
    for grade in grades {
        match (whole, grade) {
            (_, Grade::Fail) => return Grade::Fail,
            (Grade::Pass, grade) => whole = grade,
            (Grade::Fail | Grade::Error(_), _) => {}
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
            (&[Right, Right][..], Grade::Pass),
            (&[Wrong, Wrong], Grade::Fail),
            (&[Right, Wrong], Grade::Error(GradeError::Ambiguous)),
            (&[NoUnit], Grade::Error(GradeError::Unit)),
            (&[NoUnit, Wrong], Grade::Error(GradeError::Unit)),
            (&[NoUnit, Right], Grade::Error(GradeError::Ambiguous)),
            (&[], Grade::Error(GradeError::Missing)),
        ] {
            assert_eq!(decide_readings(readings), grade, "{readings:?}");
        }
    }

    #[test]
    fn one_demand_that_is_not_met_decides() {
        let error = Grade::Error(GradeError::Unit);
        assert_eq!(decide_all([Grade::Pass, error, Grade::Fail]), Grade::Fail);
        assert_eq!(decide_all([Grade::Pass, error]), error);
        assert_eq!(decide_all([]), Grade::Pass);
    }
}
