//! Place of a file in a workspace: `<eval>/<configuration>/run-<number>/grading.json`, or without the run's folder.

use super::super::peek::Peek;

pub(super) const BENCHMARK_FILE: &str = "benchmark.json";
pub(super) const EVALS_FILE: &str = "evals.json";
pub(super) const EVAL_METADATA_FILE: &str = "eval_metadata.json";
pub(super) const GRADING_FILE: &str = "grading.json";
pub(super) const TIMING_FILE: &str = "timing.json";
/// Folder with files of an agent and its harness.
const OUTPUTS_FOLDER: &str = "outputs";
/// Folder with the skill's evals.
const EVALS_FOLDER: &str = "evals";
const CONFIGURATIONS: [&str; 4] = ["with_skill", "without_skill", "new_skill", "old_skill"];

/// The configuration, eval and run that a file belongs to, by its path below the iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EvalRunPath {
    pub configuration: String,
    /// The name of the eval's folder.
    pub eval: String,
    /// `None` if the file lies in the configuration's folder.
    pub run: Option<u32>,
}

impl EvalRunPath {
    pub fn from_file_name(name: &str) -> Self {
        let mut folders: Vec<&str> = name.split('/').collect();
        folders.pop();
        folders.pop_if(|folder| *folder == OUTPUTS_FOLDER);
        let run = folders.last().and_then(|folder| parse_run_number(folder));
        if run.is_some() {
            folders.pop();
        }
        let configuration = folders.pop().unwrap_or_default().to_owned();
        Self {
            configuration,
            eval: folders.pop().unwrap_or_default().to_owned(),
            run,
        }
    }
}

/// Returns the eval's folder for a file that lies directly in it.
pub(super) fn eval_folder(name: &str) -> Option<&str> {
    name.rsplit('/').nth(1)
}

fn parse_run_number(folder: &str) -> Option<u32> {
    folder.strip_prefix("run-")?.parse().ok()
}

/// Returns how many levels the iteration's folder is above a file of a run.
pub(super) fn levels_above_run(peek: &Peek) -> usize {
    let outputs = usize::from(peek.folder_name(0) == Some(OUTPUTS_FOLDER));
    let run = usize::from(
        peek.folder_name(outputs)
            .and_then(parse_run_number)
            .is_some(),
    );
    outputs + run + 3
}

/// Returns how many levels the iteration's folder is above a file of an eval, which may lie in the skill's `evals` folder.
pub(super) fn levels_above_eval(peek: &Peek) -> usize {
    if peek.folder_name(1) == Some(EVALS_FOLDER) {
        3
    } else {
        2
    }
}

/// Returns whether the file lies where a grading does. Its content may be damaged.
pub(super) fn is_below_configuration(peek: &Peek) -> bool {
    peek.folder_name(levels_above_run(peek) - 3)
        .is_some_and(|folder| CONFIGURATIONS.contains(&folder))
}

/// Returns the number of an eval whose folder is `eval-<number>`, with or without a suffix such as `-login`.
pub(super) fn parse_eval_number(folder: &str) -> Option<&str> {
    let number = folder.strip_prefix("eval-")?.split('-').next()?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_whose_the_file_is() {
        let place = |run| EvalRunPath {
            configuration: "with_skill".to_owned(),
            eval: "eval-0-login".to_owned(),
            run,
        };
        assert_eq!(
            EvalRunPath::from_file_name("eval-0-login/with_skill/run-2/grading.json"),
            place(Some(2))
        );
        assert_eq!(
            EvalRunPath::from_file_name("eval-0-login/with_skill/outputs/timing.json"),
            place(None)
        );
        assert_eq!(
            EvalRunPath::from_file_name("eval-0-login/with_skill/run-1/outputs/timing.json"),
            place(Some(1))
        );
        assert_eq!(
            EvalRunPath::from_file_name("grading.json"),
            EvalRunPath::default()
        );
        assert_eq!(
            (
                parse_eval_number("eval-12-login"),
                parse_eval_number("eval-login"),
                parse_eval_number("chart")
            ),
            (Some("12"), None, None)
        );
    }
}
