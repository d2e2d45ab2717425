//! The folders of agents' programs in the home folder: sign-in, settings, sessions. A program is known by the words that start it.

use std::path::{Path, PathBuf};

use crate::config::AgentKind;

use super::environment::AgentEnvironment;
use super::known_tools::coding_agent_of;
use super::tool::{CodingAgent, ProgramHome};

/// A folder or file that belongs to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Where the program looks for it.
    pub at: OwnPlace,
}

/// A place that a program looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnPlace {
    /// This path below the home folder.
    Home(&'static str),
    /// This path, which may be empty, below the folder that an environment variable names.
    Variable(&'static str, &'static str),
}

/// The names and folders of programs that have no type of their own.
const OTHER_PROGRAMS: [(&[&str], &[&str]); 15] = [
    (
        &["aider", "aider-chat"],
        &[
            ".aider",
            ".aider.conf.yml",
            ".aider.model.settings.yml",
            ".aider.model.metadata.json",
        ],
    ),
    (&["amp"], &[".amp", ".config/amp", ".local/share/amp"]),
    (&["auggie"], &[".augment"]),
    (&["cn", "continue", "cli@continue"], &[".continue"]),
    (&["codeium", "windsurf"], &[".codeium"]),
    (&["copilot"], &[".copilot"]),
    (&["crush"], &[".config/crush", ".local/share/crush"]),
    (&["cursor", "cursor-agent"], &[".cursor", ".config/cursor"]),
    (&["droid"], &[".factory"]),
    (
        &["goose"],
        &[".config/goose", ".local/share/goose", ".local/state/goose"],
    ),
    (&["kimi", "kimi-cli"], &[".kimi"]),
    (&["openhands"], &[".openhands"]),
    (&["qwen", "qwen-code"], &[".qwen"]),
    (&["ralph"], &[".ralph"]),
    (&["vibe", "mistral-vibe"], &[".vibe"]),
];

/// The names of packages whose programs have another name.
const PACKAGE_PROGRAMS: [(&str, &str); 3] = [
    ("claude-code", "claude"),
    ("gemini-cli", "gemini"),
    ("opencode-ai", "opencode"),
];
/// Programs that start the program which their arguments name.
const LAUNCHERS: [&str; 14] = [
    "npx", "bunx", "bun", "pnpx", "pnpm", "yarn", "uvx", "uv", "pipx", "env", "nice", "nohup",
    "timeout", "stdbuf",
];
/// Words of launchers that precede the program.
const LAUNCHER_WORDS: [&str; 6] = ["x", "dlx", "exec", "run", "tool", "--"];

/// Returns the folders of the program that these words start. Shells and interpreters have none, whatever their scripts start.
pub fn folders_of(words: &[String], environment: &AgentEnvironment) -> Vec<OwnFolder> {
    let Some(name) = started_program(words) else {
        return Vec::new();
    };
    let known = AgentKind::ALL
        .into_iter()
        .filter_map(coding_agent_of)
        .find(|tool| tool.program == name);
    let other = OTHER_PROGRAMS
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()));
    let mut folders = known
        .map(|tool| folders_of_coding_agent(tool, environment))
        .unwrap_or_default();
    let home = environment.variable("HOME").map(Path::new);
    for place in other.iter().flat_map(|(_, places)| places.iter()) {
        folders.extend(home.map(|home| OwnFolder {
            path: home.join(place),
            at: OwnPlace::Home(place),
        }));
    }
    folders
}

/// Returns the folders of an agent of this type, whatever starts it.
pub fn folders_of_kind(kind: AgentKind, environment: &AgentEnvironment) -> Vec<OwnFolder> {
    coding_agent_of(kind)
        .map(|tool| folders_of_coding_agent(tool, environment))
        .unwrap_or_default()
}

fn folders_of_coding_agent(tool: &CodingAgent, environment: &AgentEnvironment) -> Vec<OwnFolder> {
    let folder = |home: &ProgramHome| {
        let path = home.resolve_path(environment)?;
        let is_moved = environment.variable(home.variable).is_some();
        let at = if is_moved {
            OwnPlace::Variable(home.variable, home.then)
        } else {
            OwnPlace::Home(home.place)
        };
        Some(OwnFolder { path, at })
    };
    tool.homes.iter().filter_map(folder).collect()
}

/// Returns the name of the program that these words start, without its folder, scope and version, or `None` if they only name a launcher.
fn started_program(words: &[String]) -> Option<String> {
    let name = |word: &String| {
        let base = word.rsplit(['/', '\\']).next().unwrap_or_default();
        // A version follows the name: `claude-code@latest`.
        let base = base.split('@').next().unwrap_or_default();
        base.strip_suffix(".exe")
            .or_else(|| base.strip_suffix(".cmd"))
            .unwrap_or(base)
            .to_lowercase()
    };
    let mut after_launcher = false;
    for word in words {
        let name = name(word);
        let is_number = name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b's' | b'm' | b'h' | b'.'));
        if after_launcher
            && (word.starts_with('-')
                || word.contains('=')
                || is_number
                || LAUNCHER_WORDS.contains(&name.as_str()))
        {
            continue;
        }
        if LAUNCHERS.contains(&name.as_str()) {
            after_launcher = true;
            continue;
        }
        return Some(
            PACKAGE_PROGRAMS
                .iter()
                .find(|(package, _)| *package == name)
                .map_or(name, |(_, program)| (*program).to_owned()),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_words_that_start_it() {
        let started =
            |line: &str| started_program(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for (line, program) in [
            ("claude -p", "claude"),
            ("/opt/x/claude --model m", "claude"),
            ("npx -y @anthropic-ai/claude-code@2.1 -p", "claude"),
            ("env A=b nice claude", "claude"),
            ("timeout 5m codex exec", "codex"),
            ("uv tool run aider --yes", "aider"),
            ("pnpm dlx @google/gemini-cli", "gemini"),
            ("bunx opencode-ai@latest run", "opencode"),
            ("sh -c claude", "sh"),
            ("python3 claude.py", "python3"),
        ] {
            assert_eq!(started(line).as_deref(), Some(program), "{line}");
        }
        assert_eq!(started("npx -y"), None);
    }

    #[test]
    fn only_the_folders_of_the_program_are_its_own() {
        let variables = [
            ("HOME", "/h"),
            ("CODEX_HOME", "/c"),
            ("GEMINI_CLI_HOME", "/g"),
        ];
        let variables = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let environment = AgentEnvironment {
            variables,
            ..AgentEnvironment::default()
        };
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            folders_of(&words, &environment)
                .iter()
                .map(|folder| folder.path.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of("claude -p"), "/h/.claude /h/.claude.json");
        assert_eq!(of("codex exec"), "/c");
        assert_eq!(of("gemini"), "/g/.gemini");
        assert_eq!(
            of("goose run"),
            "/h/.config/goose /h/.local/share/goose /h/.local/state/goose"
        );
        for line in [
            "sh -c claude",
            "bash run.sh",
            "python3 agent.py",
            "node x.js",
        ] {
            assert_eq!(of(line), "", "{line}");
        }
        assert_eq!(
            folders_of_kind(AgentKind::Codex, &environment)[0].at,
            OwnPlace::Variable("CODEX_HOME", "")
        );
    }
}
