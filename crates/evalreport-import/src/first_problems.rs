//! The problems of a table's rows: the first ones, and how many more there are.

use crate::domain::Problem;

use super::rows::{ReadStop, SourceRow};

/// Maximum number of problems listed.
const MAX_LISTED: usize = 20;

#[derive(Default)]
pub(super) struct FirstProblems {
    listed: Vec<Problem>,
    more: u64,
}

impl FirstProblems {
    /// Adds the problem of a row. `label` names the file or its part.
    pub fn add(&mut self, label: &str, row: &SourceRow<'_>, message: String) {
        if self.listed.len() < MAX_LISTED {
            let line = row.line.and_then(|line| usize::try_from(line).ok());
            self.listed.push(Problem {
                line,
                ..Problem::in_file(label, message)
            });
        } else {
            self.more += 1;
        }
    }

    /// Returns all problems after the rows were read. `shown` names the file.
    pub fn into_problems(self, read: Result<(), ReadStop>, shown: &str) -> Vec<Problem> {
        let Self {
            listed: mut problems,
            mut more,
        } = self;
        match read {
            Ok(()) => {}
            // A column that is not there explains the rows without it.
            Err(ReadStop::Unreadable(stopped)) => (problems, more) = (stopped, 0),
            Err(ReadStop::Store(error)) => {
                problems.push(Problem::in_file(shown, error.to_string()));
            }
        }
        if more > 0 {
            problems.push(Problem::in_file(
                shown,
                format!("has {more} more problems like these"),
            ));
        }
        problems
    }
}
