//! What went wrong in a check, in a form that can be found again.

use super::Check;

/// One thing that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The same for the same failure at another time, in another folder, in another order.
    pub signature: String,
    /// What was said, for people.
    pub text: String,
    /// Paths below the root that the failure points at.
    pub files: Vec<String>,
    /// The test's name, where it is one.
    pub test: Option<String>,
}

/// Reads the failures out of what a failed check said. `roots` are the absolute folders that the tree was in; paths below them become
/// relative.
pub fn failures(_check: &Check, _said: &str, _roots: &[&str]) -> Vec<Failure> {
    Vec::new()
}
