//! Plans how to get the most detailed report from a test command, which a suite declares as one line of shell.
//!
//! - pytest gets its options through `PYTEST_ADDOPTS`, whatever the rest of the command is. This also reaches `make test` and `tox`, and
//!   leaves the command unchanged. The options include `-v`, so that output without a report names the tests.
//! - go, node, jest and vitest get options right after their own word, if the command calls exactly one runner, once, and has no construct
//!   that hides commands from this parser (`$(…)`, a here-document). If the report goes to standard output, the command must not have a
//!   pipe either.
//! - cargo has no stable report format, so its text is read. Every other command stays unchanged, and its output is read.

use std::path::{Path, PathBuf};

/// The command to start, and the place of its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommandPlan {
    /// The command as declared in the suite. It names outcomes that belong to no test.
    pub declared: String,
    /// The command to run with `sh -c`.
    pub command: String,
    /// Environment variables to set. They replace variables of the same name.
    pub environment: Vec<(String, String)>,
    pub report: Option<ReportFile>,
    /// `None` if the command names no known runner, or several.
    pub runner: Option<TestRunner>,
    /// Whether the command is one call, without a list, a pipe or a substitution, so that its exit code is the runner's own.
    pub is_simple: bool,
    /// Words that the ids of the control's tests contain, if there is a control.
    pub control: Option<String>,
}

impl TestCommandPlan {
    /// Returns whether the runner alone writes the report, so that nothing else names tests.
    pub(super) fn has_held_report(&self) -> bool {
        self.runner == Some(TestRunner::Pytest)
            && self.report.as_ref().is_some_and(|report| report.is_ours)
    }

    /// Adds a control whose file exists. Ids of its tests contain `words`.
    #[must_use]
    pub fn with_control(mut self, file: &Path, words: &str) -> Self {
        self.command = format!("{} {}", self.command, quote_word(&file.to_string_lossy()));
        self.control = Some(words.to_owned());
        self
    }
}

/// A report file that the command writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// Path as the command names it: absolute, or relative to the command's working folder.
    pub path: PathBuf,
    /// Whether we requested the report. The command's own report file may be left from an earlier run.
    pub is_ours: bool,
}

/// The known test runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestRunner {
    Pytest,
    Cargo,
    Nextest,
    Go,
    Node,
    Jest,
    Vitest,
}

/// Plans a command. `report` is an absolute path to a file that does not exist yet. `addopts` is the current value of `PYTEST_ADDOPTS`.
pub fn plan_command(declared: &str, report: &Path, addopts: Option<&str>) -> TestCommandPlan {
    build_plan(declared, Some(report), addopts)
}

/// Plans a command whose report would have no trustworthy writer: only its output is read.
pub fn plan_unreported(declared: &str, addopts: Option<&str>) -> TestCommandPlan {
    build_plan(declared, None, addopts)
}

fn build_plan(declared: &str, report: Option<&Path>, addopts: Option<&str>) -> TestCommandPlan {
    let script = ShellScript::parse(declared);
    let calls: Vec<RunnerCall> = script
        .segments
        .iter()
        .filter_map(|segment| find_runner_call(segment))
        .collect();
    let first = calls.first().map(|call| call.runner);
    let runner = first.filter(|runner| calls.iter().all(|call| call.runner == *runner));
    let is_once = calls.len() == 1 && !script.repeats && !script.is_opaque;
    let mut plan = TestCommandPlan {
        declared: declared.to_owned(),
        command: declared.to_owned(),
        environment: Vec::new(),
        report: None,
        runner,
        is_simple: script.segments.len() == 1 && !script.is_opaque,
        control: None,
    };
    let ours = report.map(|report| ReportFile {
        path: report.to_owned(),
        is_ours: true,
    });
    let path = report.map(|report| quote_word(&report.to_string_lossy()));
    let insert =
        |at: usize, options: &str| format!("{} {options}{}", &declared[..at], &declared[at..]);
    match (runner, calls.first()) {
        (Some(TestRunner::Pytest) | None, call) => {
            let own = call.and_then(|call| call.find_option(&["--junitxml", "--junit-xml"]));
            let mut options: Vec<String> = addopts
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
                .into_iter()
                .collect();
            options.push("-v".to_owned());
            // Two sessions would write to the same file, so read the text instead.
            let is_repeated = runner.is_some() && (calls.len() > 1 || script.repeats);
            if let Some(own) = own.filter(|_| plan.is_simple) {
                plan.report = Some(ReportFile {
                    path: PathBuf::from(own),
                    is_ours: false,
                });
            } else if let Some(path) = path.filter(|_| !is_repeated) {
                options.push(format!("--junitxml={path}"));
                plan.report = ours;
            }
            // This older format names the file of each test.
            options.push("-o junit_family=xunit1".to_owned());
            plan.environment
                .push(("PYTEST_ADDOPTS".to_owned(), options.join(" ")));
        }
        (Some(TestRunner::Go), Some(call)) => {
            if is_once && !script.has_pipe && call.find_option(&["-json"]).is_none() {
                plan.command = insert(call.at, "-json");
            }
        }
        (Some(TestRunner::Node), Some(call)) => {
            if is_once && !script.has_pipe && call.find_option(&["--test-reporter"]).is_none() {
                plan.command = insert(call.at, "--test-reporter=tap");
            }
        }
        (Some(TestRunner::Jest), Some(call)) => {
            if let Some(path) =
                path.filter(|_| is_once && call.find_option(&["--json", "--outputFile"]).is_none())
            {
                plan.command = insert(call.at, &format!("--json --outputFile={path}"));
                plan.report = ours;
            }
        }
        (Some(TestRunner::Vitest), Some(call)) => {
            let own = ["--reporter", "--outputFile", "--outputFile.json"];
            if let Some(path) = path.filter(|_| is_once && call.find_option(&own).is_none()) {
                plan.command = insert(
                    call.at,
                    &format!("--reporter=default --reporter=json --outputFile.json={path}"),
                );
                plan.report = ours;
            }
        }
        (Some(TestRunner::Cargo | TestRunner::Nextest), _) | (Some(_), None) => {}
    }
    plan
}

/// Returns pytest's arguments if the command is a single plain call of pytest; otherwise `None`.
pub fn pytest_arguments(declared: &str) -> Option<Vec<String>> {
    let script = ShellScript::parse(declared);
    let [segment] = script.segments.as_slice() else {
        return None;
    };
    let call = find_runner_call(segment).filter(|call| call.runner == TestRunner::Pytest)?;
    let is_plain =
        !script.is_opaque && !script.repeats && !declared.contains(['#', '\n', '>', '<', '$']);
    is_plain.then(|| {
        call.arguments
            .iter()
            .map(|word| word.text.clone())
            .collect()
    })
}

/// Returns the simple commands of a line as words without quotes. Variables are not filled in.
pub fn simple_commands(line: &str) -> Vec<Vec<String>> {
    ShellScript::parse(line)
        .segments
        .into_iter()
        .map(|words| words.into_iter().map(|word| word.text).collect())
        .collect()
}

/// One call of a runner.
struct RunnerCall<'a> {
    runner: TestRunner,
    /// Where options can be inserted: the end of a word, in bytes from the start of the command.
    at: usize,
    arguments: &'a [ShellWord],
}

impl RunnerCall<'_> {
    /// Returns the value of the first option in `names` that is present. The value is empty if the option has none.
    fn find_option(&self, names: &[&str]) -> Option<&str> {
        self.arguments.iter().enumerate().find_map(|(index, word)| {
            let (name, value) = word
                .text
                .split_once('=')
                .map_or((word.text.as_str(), None), |(name, value)| {
                    (name, Some(value))
                });
            let next = || {
                self.arguments
                    .get(index + 1)
                    .map_or("", |word| word.text.as_str())
            };
            names.contains(&name).then(|| value.unwrap_or_else(next))
        })
    }
}

fn find_runner_call(words: &[ShellWord]) -> Option<RunnerCall<'_>> {
    let at = |index: usize| {
        words
            .get(index)
            .map_or("", |word: &ShellWord| word.text.as_str())
    };
    let found = |runner: TestRunner, index: usize| {
        Some(RunnerCall {
            runner,
            at: words[index].end,
            arguments: &words[index + 1..],
        })
    };
    let mut index = 0;
    while index < words.len() {
        let word = at(index);
        let name = word.rsplit('/').next().unwrap_or(word);
        match name {
            "pytest" | "py.test" => return found(TestRunner::Pytest, index),
            "jest" => return found(TestRunner::Jest, index),
            "vitest" => {
                return found(
                    TestRunner::Vitest,
                    if at(index + 1) == "run" {
                        index + 1
                    } else {
                        index
                    },
                );
            }
            "go" if at(index + 1) == "test" => return found(TestRunner::Go, index + 1),
            "cargo" => {
                let verb = if at(index + 1).starts_with('+') {
                    index + 2
                } else {
                    index + 1
                };
                return match at(verb) {
                    "test" | "t" => found(TestRunner::Cargo, verb),
                    "nextest" => found(TestRunner::Nextest, verb),
                    _ => None,
                };
            }
            "node" => {
                let options = words[index + 1..]
                    .iter()
                    .take_while(|word| word.text.starts_with('-'))
                    .count();
                let flag = (index + 1..=index + options).find(|index| at(*index) == "--test")?;
                return found(TestRunner::Node, flag);
            }
            "npx" | "bunx" | "pnpx" => index = skip_options(words, index + 1, &["-p", "--package"]),
            "npm" | "pnpm" | "yarn" | "bun" => {
                let verb = skip_options(
                    words,
                    index + 1,
                    &["--filter", "-F", "--dir", "-C", "--cwd", "--prefix"],
                );
                index = match at(verb) {
                    "exec" | "dlx" | "x" => skip_options(words, verb + 1, &["-p", "--package"]),
                    // yarn and pnpm can call programs without a verb such as `run`.
                    "jest" | "vitest" if name != "npm" => verb,
                    _ => return None,
                };
            }
            "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "rye" | "coverage"
                if at(index + 1) == "run" =>
            {
                let valued = [
                    "--with",
                    "--python",
                    "-p",
                    "--extra",
                    "--group",
                    "--directory",
                    "--project",
                    "--env-file",
                    "--with-requirements",
                    "--source",
                ];
                index = skip_options(words, index + 2, &valued);
            }
            "timeout" => {
                index =
                    skip_options(words, index + 1, &["-k", "-s", "--signal", "--kill-after"]) + 1;
            }
            "env" | "nice" | "nohup" | "exec" | "command" | "time" | "!" | "then" | "do"
            | "else" | "if" | "while" | "stdbuf" | "{" => {
                index = skip_options(words, index + 1, &["-u", "-n"]);
            }
            name if name.starts_with("python") || name == "py" => {
                let module = skip_options(words, index + 1, &["-X", "-W"]);
                return (at(module) == "pytest" && at(module - 1) == "-m")
                    .then(|| found(TestRunner::Pytest, module))
                    .flatten();
            }
            _ if is_assignment(word) => index += 1,
            _ => return None,
        }
    }
    None
}

/// Returns the index of the first word that is not an option. Options in `valued` take the next word as their value.
fn skip_options(words: &[ShellWord], mut index: usize, valued: &[&str]) -> usize {
    while let Some(word) = words.get(index).filter(|word| word.text.starts_with('-')) {
        index += if valued.contains(&word.text.as_str()) {
            2
        } else {
            1
        };
    }
    index
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// Quotes a text as one word of a shell.
fn quote_word(text: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A parsed line of shell, as far as needed: its commands as words, without redirections.
#[derive(Default)]
struct ShellScript {
    segments: Vec<Vec<ShellWord>>,
    has_pipe: bool,
    /// Whether the script has a loop.
    repeats: bool,
    /// Whether the script has a construct that may hide a command.
    is_opaque: bool,
}

struct ShellWord {
    /// The word without quotes.
    text: String,
    /// End of the word in the script, in bytes.
    end: usize,
}

impl ShellScript {
    fn parse(text: &str) -> Self {
        let mut script = Self::default();
        let mut segment = Vec::new();
        let mut characters = text.char_indices().peekable();
        let mut is_target = false;
        while let Some(&(start, character)) = characters.peek() {
            match character {
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    characters.next();
                    let is_double = characters.next_if(|(_, next)| *next == character).is_some();
                    script.has_pipe |= character == '|' && !is_double;
                    script.is_opaque |= matches!(character, '(' | ')');
                    script.end_segment(&mut segment);
                    is_target = false;
                }
                '<' | '>' => {
                    characters.next();
                    script.is_opaque |= character == '<'
                        && characters
                            .peek()
                            .is_some_and(|(_, next)| matches!(next, '<' | '('));
                    while characters
                        .next_if(|(_, next)| matches!(next, '<' | '>' | '&' | '|'))
                        .is_some()
                    {}
                    // The number of a stream is directly before the redirection sign.
                    let is_stream = |word: &mut ShellWord| {
                        word.end == start && word.text.chars().all(|digit| digit.is_ascii_digit())
                    };
                    segment.pop_if(is_stream);
                    is_target = true;
                }
                '#' => while characters.next_if(|(_, next)| *next != '\n').is_some() {},
                character if character.is_whitespace() => {
                    characters.next();
                }
                _ => {
                    let word = script.parse_word(text.len(), &mut characters);
                    if !std::mem::take(&mut is_target) {
                        segment.push(word);
                    }
                }
            }
        }
        script.end_segment(&mut segment);
        script
    }

    fn parse_word(
        &mut self,
        length: usize,
        characters: &mut std::iter::Peekable<std::str::CharIndices>,
    ) -> ShellWord {
        let mut text = String::new();
        let mut quote = None;
        while let Some(&(_, character)) = characters.peek() {
            let ends = character.is_whitespace()
                || matches!(character, ';' | '&' | '|' | '(' | ')' | '<' | '>');
            if quote.is_none() && ends && !(character == '(' && text.ends_with('$')) {
                break;
            }
            characters.next();
            match (quote, character) {
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), close) if open == close => quote = None,
                (None | Some('"'), '\\') => text.extend(characters.next().map(|(_, next)| next)),
                (None | Some('"'), '`' | '(') => {
                    self.is_opaque |= character == '`' || text.ends_with('$');
                    text.push(character);
                }
                (_, character) => text.push(character),
            }
        }
        self.is_opaque |= quote.is_some();
        ShellWord {
            text,
            end: characters.peek().map_or(length, |(index, _)| *index),
        }
    }

    fn end_segment(&mut self, segment: &mut Vec<ShellWord>) {
        if !segment.is_empty() {
            self.repeats |= segment.first().is_some_and(|word| {
                matches!(word.text.as_str(), "for" | "while" | "until" | "xargs")
            });
            self.segments.push(std::mem::take(segment));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> TestCommandPlan {
        plan_command(command, Path::new("/tmp/r.xml"), None)
    }

    #[test]
    fn pytest_is_found_in_every_form_and_its_command_left_alone() {
        for command in [
            "pytest",
            "pytest -q suites/x/tests 2>&1",
            "python -m pytest tests",
            "python3.12 -X dev -m pytest",
            ".venv/bin/pytest -x",
            "uv run pytest",
            "uv run --with requests -m pytest tests",
            "poetry run python -m pytest",
            "cd tests && pytest -q | tee log",
            "A=1 timeout -k 5 60 env B='2 3' pytest 'a b'",
            "coverage run -m pytest",
            "pip install pytest && pytest",
        ] {
            let plan = of(command);
            assert_eq!(plan.runner, Some(TestRunner::Pytest), "{command}");
            assert_eq!(plan.command, command);
            let options = "-v --junitxml=/tmp/r.xml -o junit_family=xunit1".to_owned();
            assert_eq!(
                plan.environment,
                [("PYTEST_ADDOPTS".to_owned(), options)],
                "{command}"
            );
            assert!(
                plan.report.is_some_and(|report| report.is_ours),
                "{command}"
            );
        }
    }

    #[test]
    fn two_sessions_do_not_share_a_file() {
        for command in ["pytest a && pytest b", "for d in a b; do pytest $d; done"] {
            assert_eq!(of(command).report, None, "{command}");
            assert!(
                !of(command).environment[0].1.contains("junitxml"),
                "{command}"
            );
        }
    }

    #[test]
    fn what_is_there_already_is_kept() {
        let own = of("pytest --junitxml=out.xml");
        assert_eq!(
            own.report,
            Some(ReportFile {
                path: PathBuf::from("out.xml"),
                is_ours: false
            })
        );
        let spaced = plan_command("pytest", Path::new("/tmp/my report.xml"), Some("-x "));
        assert_eq!(
            spaced.environment[0].1,
            "-x -v --junitxml='/tmp/my report.xml' -o junit_family=xunit1"
        );
        for command in [
            "go test -json ./...",
            "npx jest --json",
            "npx vitest --reporter verbose",
            "node --test --test-reporter=spec",
        ] {
            assert_eq!(of(command).command, command);
        }
    }

    #[test]
    fn options_go_right_after_the_runner() {
        for (command, expected) in [
            ("go test ./...", "go test -json ./..."),
            (
                "cd app && go test ./... 2>&1",
                "cd app && go test -json ./... 2>&1",
            ),
            (
                "node --test tests/",
                "node --test --test-reporter=tap tests/",
            ),
            (
                "npx --yes jest -- x",
                "npx --yes jest --json --outputFile=/tmp/r.xml -- x",
            ),
            (
                "npx jest|tail",
                "npx jest --json --outputFile=/tmp/r.xml|tail",
            ),
            (
                "pnpm exec vitest run a",
                "pnpm exec vitest run --reporter=default --reporter=json --outputFile.json=/tmp/r.xml a",
            ),
            (
                "yarn vitest",
                "yarn vitest --reporter=default --reporter=json --outputFile.json=/tmp/r.xml",
            ),
        ] {
            assert_eq!(of(command).command, expected);
        }
    }

    #[test]
    fn what_is_not_understood_stays() {
        for command in [
            "go test ./... | tail -3",
            "go test a && go test b",
            "echo \"$(npx jest)\"",
            "npx jest; npx vitest",
            "cargo test --workspace",
            "curl -sf http://localhost",
            "echo 'pytest; go test'",
            "npm test",
            "node server.js --test",
            "",
            "'",
        ] {
            assert_eq!(of(command).command, command);
        }
        assert_eq!(of("npm test").runner, None);
        assert_eq!(of("cargo +nightly test").runner, Some(TestRunner::Cargo));
        assert_eq!(of("cargo nextest run").runner, Some(TestRunner::Nextest));
        assert!(
            of("curl -sf 'http://x?a&b'").is_simple
                && !of("a && b").is_simple
                && !of("a $(b)").is_simple
        );
    }
}
