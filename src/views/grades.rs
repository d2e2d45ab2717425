//! The grades of comparability, with the differences that cause each.

use crate::inference::MismatchKind;

/// A grade below A and the differences that cause it.
pub struct GradeCauses {
    /// A letter from B to F.
    pub grade: String,
    /// Clauses that describe the differences.
    pub causes: Vec<&'static str>,
}

/// Returns the grades below A, best first, with what causes each.
pub fn grade_causes() -> Vec<GradeCauses> {
    let mut grades: Vec<GradeCauses> = Vec::new();
    for kind in MismatchKind::ALL {
        let grade = format!("{:?}", kind.grade());
        match grades.last_mut() {
            Some(known) if known.grade == grade => known.causes.push(kind.describe()),
            _ => grades.push(GradeCauses {
                grade,
                causes: vec![kind.describe()],
            }),
        }
    }
    grades
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_causes_one_grade() {
        let grades = grade_causes();
        let letters: Vec<&str> = grades.iter().map(|one| one.grade.as_str()).collect();
        assert_eq!(letters, ["B", "C", "D", "E", "F"]);
        let causes: usize = grades.iter().map(|one| one.causes.len()).sum();
        assert_eq!(causes, MismatchKind::ALL.len());
    }
}
