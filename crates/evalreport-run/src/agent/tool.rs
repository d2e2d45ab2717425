//! Coding agents with their own command line program: how each is started, and how its output is read.
//!
//! To add one, write a [`CodingAgent`] in a file of its own and add a line to [`super::known_tools`].

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::environment::AgentEnvironment;
use super::program::{MODEL_PLACEHOLDER, Program, has_model_placeholder, join_prompts};
use super::reply::{AgentFailure, AgentPrompt, Reply, ReplyMeasurements};
use crate::process::{FinishedProgram, StopSignal};

/// The properties of one type of agent.
#[derive(Debug)]
pub struct CodingAgent {
    /// The name of the installed program.
    pub program: &'static str,
    /// The variables that hold its own keys: names, or prefixes followed by `*`.
    pub keys: &'static [&'static str],
    /// Variables that it gets unless the environment sets them.
    pub variables: &'static [(&'static str, &'static str)],
    /// Folders for its sign-in, settings and sessions. If it has permission, the program creates them itself.
    pub homes: &'static [ProgramHome],
    /// The options that let it change files without asking for permission.
    pub writing: &'static [DefaultOption],
    /// What these options let it do if it is not confined.
    pub free_rights: &'static str,
    /// Variables that it gets, unless the environment sets them, if it writes files: confined, and otherwise.
    pub writing_variables: Rights<&'static [(&'static str, &'static str)]>,
    /// Whether it takes a system prompt separately.
    pub takes_system: bool,
    /// Adds the options for a run without a user.
    pub complete: fn(&mut CommandLine, &InvocationOptions<'_>),
    /// Reads an ended program's output. The duration is its time limit.
    pub read: fn(&FinishedProgram, Duration) -> Result<Reply, AgentFailure>,
}

/// A folder that belongs to a program.
#[derive(Debug)]
pub struct ProgramHome {
    /// The environment variable that holds the folder's path.
    pub variable: &'static str,
    /// Path appended to the variable's value.
    pub then: &'static str,
    /// Path below the home folder, if the variable is not set.
    pub place: &'static str,
}

impl ProgramHome {
    /// Returns the folder's path, or `None` if neither its variable nor the home folder is set. Also returns `None` for a relative path,
    /// and for the home folder and everything above it, because those hold more than the program's own files.
    pub fn resolve_path(&self, environment: &AgentEnvironment) -> Option<PathBuf> {
        let home = environment.variable("HOME").map(Path::new);
        let path = match environment.variable(self.variable) {
            // Joining an empty path would append a slash.
            Some(set) if self.then.is_empty() => PathBuf::from(set),
            Some(set) => Path::new(set).join(self.then),
            None => home?.join(self.place),
        };
        (path.is_absolute() && is_own_folder(&path, home)).then_some(path)
    }
}

/// Returns whether a folder can be a program's own. A program may read and change its own folder even when confined.
fn is_own_folder(folder: &Path, home: Option<&Path>) -> bool {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = place(folder);
    let goes_up = folder.components().any(|part| part == Component::ParentDir);
    !goes_up
        && folder.components().count() > 1
        && !home.is_some_and(|home| place(home).starts_with(&folder))
}

/// Default words of a command line, left out if the configuration sets the same option.
#[derive(Debug)]
pub struct DefaultOption {
    /// The options that replace these words.
    pub names: &'static [&'static str],
    pub words: &'static [&'static str],
    /// The words used instead if evalreport confines the program. Then it may use every tool, as those of all makers may: what it reaches is
    /// limited, and its own sandbox could not work.
    pub confined: &'static [&'static str],
    /// Words of these options with which it may use every tool.
    pub full: &'static [&'static str],
}

/// What a program may do, by whether evalreport confines it.
#[derive(Clone, Copy, Debug)]
pub struct Rights<T> {
    pub confined: T,
    pub free: T,
}

impl<T: Copy> Rights<T> {
    pub fn for_confinement(&self, is_confined: bool) -> T {
        if is_confined {
            self.confined
        } else {
            self.free
        }
    }
}

/// Settings that the options of a program depend on.
#[derive(Clone, Copy, Debug, Default)]
pub struct InvocationOptions<'a> {
    pub model: Option<&'a str>,
    pub max_steps: Option<u64>,
    pub system: Option<&'a str>,
}

/// A command line that begins with the configured words. Options that they set are not added again.
#[derive(Clone, Debug)]
pub struct CommandLine {
    own: Vec<String>,
    words: Vec<String>,
    has_model: bool,
}

impl CommandLine {
    fn new(own: &[String], model: Option<&str>) -> Self {
        let words = own
            .iter()
            .map(|word| word.replace(MODEL_PLACEHOLDER, model.unwrap_or_default()))
            .collect();
        Self {
            own: own.to_vec(),
            words,
            has_model: has_model_placeholder(own),
        }
    }

    /// Returns whether the configured words contain one of these options or words.
    pub fn has_option(&self, names: &[&str]) -> bool {
        let is_named = |word: &str| {
            names.iter().any(|name| {
                word == *name
                    || word
                        .strip_prefix(name)
                        .is_some_and(|rest| rest.starts_with('='))
            })
        };
        self.own.iter().skip(1).any(|word| is_named(word))
    }

    pub fn add_words(&mut self, words: &[&str]) {
        self.words
            .extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Adds words unless the configuration gives an option of these names.
    pub fn add_words_unless(&mut self, names: &[&str], words: &[&str]) {
        if !self.has_option(names) {
            self.add_words(words);
        }
    }

    /// Adds the model, unless the configured words name one or contain its placeholder.
    pub fn add_model(&mut self, names: &[&str], model: Option<&str>) {
        if let Some(model) = model
            && !self.has_model
        {
            self.add_words_unless(names, &["--model", model]);
        }
    }
}

/// Returns the command with which a tool writes files: the configured words, the default options that they do not set, and `more`.
pub fn writing_command_line(
    tool: &CodingAgent,
    own: &[String],
    more: &[String],
    is_confined: bool,
) -> Vec<String> {
    let program = [tool.program.to_owned()];
    let mut words = if own.is_empty() {
        program.to_vec()
    } else {
        own.to_vec()
    };
    let said = CommandLine::new(&[&words[..], more].concat(), None);
    for choice in tool
        .writing
        .iter()
        .filter(|choice| !said.has_option(choice.names))
    {
        let added = if is_confined {
            choice.confined
        } else {
            choice.words
        };
        words.extend(added.iter().map(|word| (*word).to_owned()));
    }
    words.extend(more.iter().cloned());
    words
}

/// What a program may do without asking, if only changes of files.
pub const EDITS_ONLY: &str = "edits";
/// What a program may do without asking, if every tool.
pub const EVERY_TOOL: &str = "every tool";

/// Says what a tool may do without asking when it writes files: the default, or what the configured words choose.
pub fn describe_rights(
    tool: &CodingAgent,
    own: &[String],
    more: &[String],
    is_confined: bool,
) -> String {
    let program = [tool.program.to_owned()];
    let words = [if own.is_empty() { &program[..] } else { own }, more].concat();
    let said = CommandLine::new(&words, None);
    // The last choice is the one about permissions.
    let Some(choice) = tool.writing.last() else {
        return EVERY_TOOL.to_owned();
    };
    if !said.has_option(choice.names) {
        return if is_confined {
            EVERY_TOOL.to_owned()
        } else {
            tool.free_rights.to_owned()
        };
    }
    let is_full = words.iter().any(|word| {
        choice
            .full
            .iter()
            .any(|full| word == full || word.rsplit('=').next() == Some(*full))
    });
    if is_full {
        return EVERY_TOOL.to_owned();
    }
    let chosen = words
        .iter()
        .position(|word| {
            CommandLine::new(&[String::new(), word.clone()], None).has_option(choice.names)
        })
        .unwrap_or_default();
    let value = words
        .get(chosen + 1)
        .filter(|value| !value.starts_with('-') && !words[chosen].contains('='));
    std::iter::once(&words[chosen])
        .chain(value)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the command that starts a tool.
pub fn command_line(
    tool: &CodingAgent,
    own: &[String],
    asked: &InvocationOptions<'_>,
) -> Vec<String> {
    let mut line = CommandLine::new(own, asked.model);
    (tool.complete)(&mut line, asked);
    line.words
}

/// A configured tool.
#[derive(Clone, Debug)]
pub struct CodingAgentProgram {
    tool: &'static CodingAgent,
    program: Program,
    /// The program and its first arguments.
    argv: Vec<String>,
    max_steps: Option<u64>,
}

impl CodingAgentProgram {
    pub fn new(
        tool: &'static CodingAgent,
        program: Program,
        command: &[String],
        max_steps: Option<u64>,
    ) -> Self {
        let argv = if command.is_empty() {
            vec![tool.program.to_owned()]
        } else {
            command.to_vec()
        };
        Self {
            tool,
            program,
            argv,
            max_steps,
        }
    }

    pub fn program(&self) -> Option<&str> {
        self.argv.first().map(String::as_str)
    }

    pub fn answer_prompt(
        &self,
        prompt: &AgentPrompt,
        wall: Duration,
        stop: &StopSignal,
    ) -> Result<Reply, AgentFailure> {
        let max_steps = [self.max_steps, prompt.limits.max_steps]
            .into_iter()
            .flatten()
            .min();
        let (system, input) = if self.tool.takes_system {
            (prompt.system, prompt.text.to_owned())
        } else {
            (None, join_prompts(prompt))
        };
        let argv = command_line(
            self.tool,
            &self.argv,
            &InvocationOptions {
                model: self.program.model(),
                max_steps,
                system,
            },
        );
        let finished = self.program.run_program(argv, input, prompt, wall, stop)?;
        match (self.tool.read)(&finished, wall) {
            Ok(mut reply) => {
                self.add_version(&mut reply.measured, stop);
                Ok(reply)
            }
            Err(mut failure) => {
                self.add_version(&mut failure.measured, stop);
                Err(self.program.explain_failure(failure))
            }
        }
    }

    /// Adds the program's version if its session does not report it. A launcher such as `npx` is not asked: it has its own version.
    fn add_version(&self, measured: &mut ReplyMeasurements, stop: &StopSignal) {
        let Some(program) = self.program().filter(|program| {
            Path::new(program)
                .file_stem()
                .is_some_and(|name| name == self.tool.program)
        }) else {
            return;
        };
        if measured.served.version.is_none() {
            measured.served.version = self.program.program_version(program, stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{claude, codex, gemini, opencode};
    use super::*;

    fn writing(tool: &CodingAgent, own: &str, more: &str, is_confined: bool) -> String {
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        writing_command_line(tool, &words(own), &words(more), is_confined).join(" ")
    }

    #[test]
    fn what_the_configuration_leaves_unsaid_lets_a_program_write() {
        assert_eq!(
            writing(&claude::CODING_AGENT, "", "", true),
            "claude --dangerously-skip-permissions"
        );
        assert_eq!(
            writing(&claude::CODING_AGENT, "", "", false),
            "claude --permission-mode acceptEdits"
        );
        assert_eq!(
            writing(&gemini::CODING_AGENT, "", "", true),
            "gemini --approval-mode yolo"
        );
        assert_eq!(
            writing(&claude::CODING_AGENT, "npx claude", "--effort low", false),
            "npx claude --permission-mode acceptEdits --effort low"
        );
        assert_eq!(
            writing(
                &claude::CODING_AGENT,
                "claude",
                "--dangerously-skip-permissions",
                true
            ),
            "claude --dangerously-skip-permissions"
        );
        assert_eq!(
            writing(&codex::CODING_AGENT, "codex -c a=1", "", false),
            "codex -c a=1 exec --sandbox workspace-write"
        );
        assert_eq!(
            writing(&codex::CODING_AGENT, "", "--search", true),
            "codex exec --sandbox danger-full-access --search"
        );
        assert_eq!(
            writing(&codex::CODING_AGENT, "codex exec -s read-only", "", true),
            "codex exec -s read-only"
        );
        assert_eq!(
            writing(&codex::CODING_AGENT, "", "-c sandbox_mode=x", true),
            "codex exec -c sandbox_mode=x"
        );
        assert_eq!(
            writing(&gemini::CODING_AGENT, "gemini --yolo", "", true),
            "gemini --yolo"
        );
        assert_eq!(
            writing(&opencode::CODING_AGENT, "opencode", "", true),
            "opencode run --auto"
        );
        assert_eq!(
            writing(&opencode::CODING_AGENT, "opencode", "", false),
            "opencode run"
        );
    }

    #[test]
    fn programs_of_all_makers_have_the_same_rights_in_isolation() {
        let of = |tool: &CodingAgent, own: &str, is_confined: bool| {
            let words: Vec<String> = own.split_whitespace().map(str::to_owned).collect();
            describe_rights(tool, &words, &[], is_confined)
        };
        let tools = [
            &claude::CODING_AGENT,
            &codex::CODING_AGENT,
            &gemini::CODING_AGENT,
            &opencode::CODING_AGENT,
        ];
        for tool in tools {
            assert_eq!(of(tool, "", true), EVERY_TOOL, "{}", tool.program);
            assert_ne!(of(tool, "", false), EVERY_TOOL, "{}", tool.program);
        }
        for (tool, own) in [
            (
                &claude::CODING_AGENT,
                "claude --dangerously-skip-permissions",
            ),
            (
                &claude::CODING_AGENT,
                "claude --permission-mode=bypassPermissions",
            ),
            (&codex::CODING_AGENT, "codex --yolo"),
            (&codex::CODING_AGENT, "codex exec -s danger-full-access"),
            (&gemini::CODING_AGENT, "gemini -y"),
            (&gemini::CODING_AGENT, "gemini --approval-mode yolo"),
            (&opencode::CODING_AGENT, "opencode run --auto"),
        ] {
            assert_eq!(
                (of(tool, own, true).as_str(), of(tool, own, false).as_str()),
                (EVERY_TOOL, EVERY_TOOL),
                "{own}"
            );
        }
        assert_eq!(
            of(
                &claude::CODING_AGENT,
                "npx claude --permission-mode plan -p",
                true
            ),
            "--permission-mode plan"
        );
        assert_eq!(
            of(
                &codex::CODING_AGENT,
                "codex exec --sandbox=read-only x",
                true
            ),
            "--sandbox=read-only"
        );
    }

    #[test]
    fn a_programs_folders_are_where_its_variables_say() {
        let of = |variables: &[(&str, &str)]| {
            let variables: BTreeMap<_, _> = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let environment = AgentEnvironment {
                variables,
                ..AgentEnvironment::default()
            };
            let tools = [
                &claude::CODING_AGENT,
                &codex::CODING_AGENT,
                &gemini::CODING_AGENT,
                &opencode::CODING_AGENT,
            ];
            let paths = tools
                .iter()
                .flat_map(|tool| tool.homes)
                .filter_map(|home| home.resolve_path(&environment));
            paths
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            of(&[("HOME", "/h")]),
            "/h/.claude /h/.claude.json /h/.codex /h/.gemini /h/.config/opencode /h/.local/share/opencode /h/.local/state/opencode"
        );
        assert_eq!(
            of(&[
                ("CODEX_HOME", "/c"),
                ("GEMINI_CLI_HOME", "/g"),
                ("XDG_DATA_HOME", "/d"),
                ("CLAUDE_CONFIG_DIR", "here")
            ]),
            "/c /g/.gemini /d/opencode"
        );
    }

    #[test]
    fn what_holds_more_than_a_program_is_no_folder_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("people/me");
        std::fs::create_dir_all(&home).expect("ours");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home, folder.path().join("link")).expect("ours");
        let home = home.display().to_string();
        let path = |set: &str| {
            let variables = [("HOME", home.as_str()), ("CODEX_HOME", set)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            codex::CODING_AGENT.homes[0].resolve_path(&AgentEnvironment {
                variables: variables.into(),
                ..AgentEnvironment::default()
            })
        };
        let above = folder.path().join("people").display().to_string();
        for set in [
            "/",
            "//",
            "/.",
            &home,
            &format!("{home}/"),
            &format!("{home}/."),
            &format!("{home}/new/.."),
            &above,
        ] {
            assert_eq!(path(set), None, "{set}");
        }
        #[cfg(unix)]
        assert_eq!(
            path(&folder.path().join("link").display().to_string()),
            None
        );
        for set in [
            format!("{home}/.codex"),
            format!("{above}/you"),
            format!("{home}-codex"),
        ] {
            assert_eq!(path(&set), Some(PathBuf::from(&set)));
        }
    }
}

#[cfg(test)]
pub mod testing {
    //! Helpers for the tests of all tools.

    use super::{CodingAgent, InvocationOptions, command_line};

    /// Returns, as one line, the command of a tool whose configured words are `own`.
    pub fn command_words(tool: &CodingAgent, own: &str, asked: &InvocationOptions<'_>) -> String {
        let own: Vec<String> = own.split(' ').map(str::to_owned).collect();
        command_line(tool, &own, asked).join(" ")
    }
}
