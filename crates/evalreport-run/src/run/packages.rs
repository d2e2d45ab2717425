//! The packages that a suite's setup installs by name, which its tests may use too.

use std::path::Path;

use crate::evaluate::simple_commands;

/// Options of `pip install` that choose no packages, without a value.
const PIP_FLAGS: [&str; 13] = [
    "-q",
    "-qq",
    "-U",
    "-v",
    "--quiet",
    "--upgrade",
    "--pre",
    "--no-cache-dir",
    "--no-deps",
    "--no-input",
    "--prefer-binary",
    "--no-index",
    "--disable-pip-version-check",
];
/// Options with a value.
const PIP_VALUED_OPTIONS: [&str; 9] = [
    "-i",
    "--index-url",
    "--extra-index-url",
    "--trusted-host",
    "--timeout",
    "--retries",
    "--only-binary",
    "--no-binary",
    "-f",
];
/// Options whose value is a file with names of packages.
const PIP_LIST_OPTIONS: [&str; 4] = ["-r", "--requirement", "-c", "--constraint"];

/// Returns the arguments of each `pip install` of packages that the suite chose: those named in `setup`, and lists in the suite's folder.
/// Leaves out everything of the workspace, which the approach wrote.
pub fn chosen_packages(setup: &[String], suite: &Path) -> Vec<Vec<String>> {
    setup
        .iter()
        .flat_map(|line| simple_commands(line))
        .filter_map(|words| install_arguments(&words, suite))
        .collect()
}

fn install_arguments(words: &[String], suite: &Path) -> Option<Vec<String>> {
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .skip_while(|word| matches!(*word, "then" | "else" | "do" | "exec"))
        .collect();
    let is_python = |word: &str| word.starts_with("python");
    let rest = match words.as_slice() {
        ["pip" | "pip3", "install", rest @ ..] | ["uv", "pip", "install", rest @ ..] => rest,
        [python, "-m", "pip", "install", rest @ ..] if is_python(python) => rest,
        _ => return None,
    };
    let mut arguments = Vec::new();
    let mut has_packages = false;
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        let (name, inline) = word
            .split_once('=')
            .filter(|_| word.starts_with("--"))
            .map_or((word, None), |(name, value)| (name, Some(value)));
        if PIP_LIST_OPTIONS.contains(&name) {
            let list = inline
                .or_else(|| words.next())
                .and_then(|list| suite_path(list, suite));
            has_packages |= list.is_some() && matches!(name, "-r" | "--requirement");
            arguments.extend(list.into_iter().flat_map(|list| [name.to_owned(), list]));
        } else if PIP_VALUED_OPTIONS.contains(&name) {
            let value = inline.or_else(|| words.next())?;
            arguments.extend([name.to_owned(), value.to_owned()]);
        } else if PIP_FLAGS.contains(&word) {
            arguments.push(word.to_owned());
        } else if matches!(word, "-e" | "--editable" | "-t" | "--target") {
            words.next();
        } else if is_requirement(word) {
            has_packages = true;
            arguments.push(word.to_owned());
        }
    }
    has_packages.then_some(arguments)
}

/// Returns the path of a list in the suite's folder.
fn suite_path(list: &str, suite: &Path) -> Option<String> {
    let below = ["$EVAL_SUITE_DIR/", "${EVAL_SUITE_DIR}/"]
        .iter()
        .find_map(|start| list.strip_prefix(start))?;
    let is_plain = !below.contains(['$', '`']) && !below.split('/').any(|part| part == "..");
    is_plain.then(|| suite.join(below).display().to_string())
}

/// Returns whether a word names a package of an index, such as `flask[async]>=3`, and no file or address.
fn is_requirement(word: &str) -> bool {
    let end = word
        .find(|character: char| !(character.is_ascii_alphanumeric() || "._-".contains(character)))
        .unwrap_or(word.len());
    let (name, rest) = word.split_at(end);
    let is_file = [".whl", ".zip", ".gz", ".txt"]
        .iter()
        .any(|ending| word.ends_with(ending));
    let is_version =
        |character: char| character.is_ascii_alphanumeric() || "[],.<>=!~*+-_ ".contains(character);
    let is_constrained = rest.is_empty() || rest.starts_with(['[', '<', '>', '=', '!', '~', ' ']);
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !is_file
        && is_constrained
        && rest.chars().all(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_suite_names_is_installed_for_its_tests() {
        let of = |line: &str| -> Vec<String> {
            chosen_packages(&[line.to_owned()], Path::new("/s"))
                .into_iter()
                .map(|arguments| arguments.join(" "))
                .collect()
        };
        for (line, expected) in [
            ("pip install -q pytest flask", vec!["-q pytest flask"]),
            (
                "python -m pip install 'pytest>=8' \"httpx[http2]==0.27\"",
                vec!["pytest>=8 httpx[http2]==0.27"],
            ),
            (
                "pip install --index-url https://x.example/simple pytest -r requirements.txt",
                vec!["--index-url https://x.example/simple pytest"],
            ),
            (
                "pip install -r \"$EVAL_SUITE_DIR/tests/requirements.txt\"",
                vec!["-r /s/tests/requirements.txt"],
            ),
            (
                "pip install -U pip && pip install pytest .",
                vec!["-U pip", "pytest"],
            ),
            (
                "if [ -f requirements.txt ]; then pip install -q -r requirements.txt; fi",
                vec![],
            ),
            ("pip install .", vec![]),
            (
                "pip install ./evil -e mine other.whl git+https://x.example/evil",
                vec![],
            ),
            (
                "pip install -r $EVAL_SUITE_DIR/../workspace/requirements.txt",
                vec![],
            ),
            ("pip install \"$PACKAGES\"", vec![]),
            ("npm install pytest", vec![]),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }
}
