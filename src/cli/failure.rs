//! Failures of commands.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::{Problem, Problems};
use crate::files;
use crate::publish::PublishError;
use crate::results::StoreError;

use super::display_path::display_path;
use super::exit_code;

/// A failed command: messages for the user, and the exit code.
#[derive(Clone, Debug)]
pub(super) struct CommandFailure {
    /// Lower case, without a final full stop.
    pub message: String,
    /// Advice on what to do.
    pub hint: Option<String>,
    /// Details that are printed in full, such as every problem of a file.
    pub details: Vec<String>,
    pub code: u8,
}

impl CommandFailure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            details: Vec::new(),
            code: exit_code::BAD_INPUT,
        }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is none.
    pub fn with_default_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// Makes a failure of a document's problems, each with its line if the file can still be read.
    pub fn from_document(path: &Path, problems: &[Problem]) -> Self {
        let source = files::read_to_string(path).unwrap_or_default();
        let count = problems.len();
        let details = list_problems(problems, |problem| {
            crate::document::render_problem(problem, &source)
        });
        Self {
            details,
            ..Self::new(format!(
                "{} has {count} {}",
                display_path(path),
                if count == 1 { "problem" } else { "problems" }
            ))
        }
    }
}

/// Maximum number of problems that are printed in full although they differ in numbers only.
const MAX_ALIKE: usize = 3;

/// Prints problems in order. Of many that differ in numbers only, the first are printed in full and the rest in one line.
fn list_problems(problems: &[Problem], print: impl Fn(&Problem) -> String) -> Vec<String> {
    // By kind: the number of problems, the number of those listed, and the last line of any.
    let mut kinds = BTreeMap::<_, (usize, usize, Option<usize>)>::new();
    for problem in problems {
        let (count, _, last) = kinds.entry(kind_of(problem)).or_default();
        *count += 1;
        *last = problem.line.max(*last);
    }
    let mut listed = Vec::new();
    for problem in problems {
        let (count, done, last) = kinds.entry(kind_of(problem)).or_default();
        *done += 1;
        // A line that stands for one problem would hide more than it saves.
        if *done <= MAX_ALIKE || *count == MAX_ALIKE + 1 {
            listed.push(print(problem));
        } else if *done == MAX_ALIKE + 1 {
            let until = last.map_or_else(String::new, |line| format!(", up to line {line}"));
            listed.push(format!(
                "{}: {} more such problems{until}: {}",
                problem.file,
                *count - MAX_ALIKE,
                problem.message
            ));
        }
    }
    listed
}

/// Returns what problems that differ in numbers only have in common.
fn kind_of(problem: &Problem) -> (&str, String, Option<&str>) {
    let message = problem
        .message
        .replace(|one: char| one.is_ascii_digit(), "");
    (&problem.file, message, problem.hint.as_deref())
}

/// Fails, under `--strict`, if arms are not comparable.
pub(super) fn refuse_incomparable(reasons: &[String]) -> Result<(), CommandFailure> {
    if reasons.is_empty() {
        return Ok(());
    }
    let details = reasons
        .iter()
        .map(|reason| crate::domain::escape_invisible(reason))
        .collect();
    let failure = CommandFailure {
        details,
        ..CommandFailure::new("arms were not measured alike, and --strict refuses to compare them")
    };
    Err(failure.with_hint(
        "without --strict the shared part is compared, and the answer names the differences",
    ))
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        Self::new(error.full_message())
    }
}

impl From<PublishError> for CommandFailure {
    fn from(error: PublishError) -> Self {
        Self {
            hint: error.hint,
            ..Self::new(error.message)
        }
    }
}

impl From<Problem> for CommandFailure {
    fn from(problem: Problem) -> Self {
        Self::from(Problems(vec![problem]))
    }
}

impl From<Problems> for CommandFailure {
    fn from(problems: Problems) -> Self {
        match problems.0.as_slice() {
            [one] => Self {
                hint: one.hint.clone(),
                ..Self::new(one.to_string())
            },
            several => {
                let details = list_problems(several, ToString::to_string);
                Self {
                    details,
                    ..Self::new(format!("{} problems", several.len()))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_problems_of_one_kind() {
        let missing =
            |line| Problem::at_line("q.yaml", line, format!("`questions[{line}]` is bad"));
        let listed = |lines: &[usize]| {
            let mut problems: Vec<Problem> = lines.iter().copied().map(missing).collect();
            problems.insert(1, Problem::in_file("q.yaml", "has no `version`"));
            list_problems(&problems, ToString::to_string)
        };
        assert_eq!(
            listed(&[2, 3, 4, 5]).len(),
            5,
            "one line instead of one saves nothing"
        );
        assert_eq!(
            listed(&[2, 3, 4, 5, 16]),
            [
                "q.yaml:2: `questions[2]` is bad",
                "q.yaml: has no `version`",
                "q.yaml:3: `questions[3]` is bad",
                "q.yaml:4: `questions[4]` is bad",
                "q.yaml: 2 more such problems, up to line 16: `questions[5]` is bad",
            ]
        );
    }
}
