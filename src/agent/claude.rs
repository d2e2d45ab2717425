//! Claude's command line program.

use super::claude_output::Output;
use super::outage::is_outage_status;
use super::reply::{FailureKind, Measured};
use super::session::{self, Ending, Said};
use super::tool::{Asked, Choice, EDITS, Home, Line, Rights, Tool};

/// Longest answer that may be a usage limit in disguise: the program has reported usage limits as successful answers.
const LONGEST_LIMIT_MESSAGE: usize = 120;

pub const TOOL: Tool = Tool {
    program: "claude",
    keys: &["ANTHROPIC_*", "CLAUDE_*"],
    variables: &[],
    homes: &[
        Home {
            variable: "CLAUDE_CONFIG_DIR",
            then: "",
            place: ".claude",
        },
        Home {
            variable: "CLAUDE_CONFIG_DIR",
            then: ".claude.json",
            place: ".claude.json",
        },
    ],
    writing: &[Choice {
        names: &["--permission-mode", "--dangerously-skip-permissions"],
        words: &["--permission-mode", "acceptEdits"],
        confined: &["--dangerously-skip-permissions"],
        full: &["--dangerously-skip-permissions", "bypassPermissions"],
    }],
    free_rights: EDITS,
    // Otherwise it refuses this option to root.
    writing_variables: Rights {
        confined: &[("IS_SANDBOX", "1")],
        free: &[],
    },
    takes_system: true,
    complete,
    read: |finished, wall| session::reply(finished, wall, read),
};

fn read(stdout: &str, measured: &mut Measured) -> Said {
    let output = Output::parse(stdout);
    output.fill(measured);
    let text = output.text();
    let ending = match (output.failure(), &text) {
        _ if output.is_ended_session() => Ending::Success,
        _ if !output.has_result() => Ending::Unsaid,
        (None, Some(text))
            if text.len() <= LONGEST_LIMIT_MESSAGE && text.contains("usage limit reached|") =>
        {
            Ending::Failure(FailureKind::Infra, text.clone())
        }
        (None, _) => Ending::Success,
        (Some(subtype), _) => {
            let kind = if subtype.starts_with("error_max_") {
                FailureKind::Limit
            } else if output.status().is_some_and(is_outage_status) {
                FailureKind::Infra
            } else {
                FailureKind::Error
            };
            Ending::Failure(
                kind,
                [Some(subtype), text.clone()]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": "),
            )
        }
    };
    Said {
        text,
        ending,
        awaited: output.awaited(),
    }
}

fn complete(line: &mut Line, asked: &Asked<'_>) {
    line.add_unless(&["-p", "--print"], &["-p"]);
    if !line.says(&["--output-format"]) {
        // This format reports tool calls and, after a time-out, the tokens used so far. Plain `json` does not.
        line.add(&["--output-format", "stream-json"]);
        line.add_unless(&["--verbose"], &["--verbose"]);
    }
    line.add_model(&["--model"], asked.model);
    if let Some(steps) = asked.max_steps {
        line.add_unless(&["--max-turns"], &["--max-turns", &steps.to_string()]);
    }
    if let Some(system) = asked.system {
        line.add(&["--append-system-prompt", system]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tool::command_line;
    use super::*;

    #[test]
    fn the_command_of_the_configuration_is_completed_not_contradicted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = |own: &str, asked: Asked<'_>| command_line(&TOOL, &words(own), &asked);
        assert_eq!(
            line("claude", Asked::default()),
            words("claude -p --output-format stream-json --verbose")
        );
        assert_eq!(
            line("npx claude --verbose", Asked { model: Some("m"), max_steps: Some(3), system: Some("Be brief.") }),
            [
                words("npx claude --verbose -p --output-format stream-json --model m --max-turns 3 --append-system-prompt"),
                vec!["Be brief.".to_owned()]
            ]
            .concat()
        );
        let own = "claude --print --output-format=json --model {model} --max-turns 9";
        let asked = Asked {
            model: Some("m"),
            max_steps: Some(3),
            system: None,
        };
        assert_eq!(
            line(own, asked),
            words("claude --print --output-format=json --model m --max-turns 9")
        );
    }
}
