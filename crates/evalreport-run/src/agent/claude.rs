//! Claude's command line program.

use super::claude_output::ClaudeOutput;
use super::reply::{AgentFailureKind, ReplyMeasurements};
use super::session::{self, ReportedEnd, SessionReport};
use super::tool::{
    CodingAgent, CommandLine, DefaultOption, EDITS_ONLY, InvocationOptions, ProgramHome, Rights,
};
use crate::domain::is_outage_status;

/// Longest answer that may be a usage limit in disguise: the program has reported usage limits as successful answers.
const MAX_LIMIT_MESSAGE: usize = 120;

pub const CODING_AGENT: CodingAgent = CodingAgent {
    program: "claude",
    keys: &["ANTHROPIC_*", "CLAUDE_*"],
    variables: &[],
    homes: &[
        ProgramHome {
            variable: "CLAUDE_CONFIG_DIR",
            then: "",
            place: ".claude",
        },
        ProgramHome {
            variable: "CLAUDE_CONFIG_DIR",
            then: ".claude.json",
            place: ".claude.json",
        },
    ],
    writing: &[DefaultOption {
        names: &["--permission-mode", "--dangerously-skip-permissions"],
        words: &["--permission-mode", "acceptEdits"],
        confined: &["--dangerously-skip-permissions"],
        full: &["--dangerously-skip-permissions", "bypassPermissions"],
    }],
    free_rights: EDITS_ONLY,
    // Otherwise it refuses this option to root.
    writing_variables: Rights {
        confined: &[("IS_SANDBOX", "1")],
        free: &[],
    },
    takes_system: true,
    complete: complete_command,
    read: |finished, wall| session::read_reply(finished, wall, read_session),
};

fn read_session(stdout: &str, measured: &mut ReplyMeasurements) -> SessionReport {
    let output = ClaudeOutput::parse(stdout);
    output.add_measurements(measured);
    let text = output.answer_text();
    let ending = match (output.failure_kind(), &text) {
        _ if output.is_ended_session() => ReportedEnd::Success,
        _ if !output.has_result() => ReportedEnd::Unsaid,
        (None, Some(text))
            if text.len() <= MAX_LIMIT_MESSAGE && text.contains("usage limit reached|") =>
        {
            ReportedEnd::Failure(AgentFailureKind::Infra, text.clone())
        }
        (None, _) => ReportedEnd::Success,
        (Some(subtype), _) => {
            let kind = if subtype.starts_with("error_max_") {
                AgentFailureKind::Limit
            } else if output.refusal_status().is_some_and(is_outage_status) {
                AgentFailureKind::Infra
            } else {
                AgentFailureKind::Error
            };
            ReportedEnd::Failure(
                kind,
                [Some(subtype), text.clone()]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": "),
            )
        }
    };
    SessionReport {
        text,
        ending,
        awaited: output.pending_retry_reason(),
    }
}

fn complete_command(line: &mut CommandLine, asked: &InvocationOptions<'_>) {
    line.add_words_unless(&["-p", "--print"], &["-p"]);
    if !line.has_option(&["--output-format"]) {
        // This format reports tool calls and, after a time-out, the tokens used so far. Plain `json` does not.
        line.add_words(&["--output-format", "stream-json"]);
        line.add_words_unless(&["--verbose"], &["--verbose"]);
    }
    line.add_model(&["--model"], asked.model);
    if let Some(steps) = asked.max_steps {
        line.add_words_unless(&["--max-turns"], &["--max-turns", &steps.to_string()]);
    }
    if let Some(system) = asked.system {
        line.add_words(&["--append-system-prompt", system]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tool::command_line;
    use super::*;

    #[test]
    fn the_command_of_the_configuration_is_completed_not_contradicted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = |own: &str, asked: InvocationOptions<'_>| {
            command_line(&CODING_AGENT, &words(own), &asked)
        };
        assert_eq!(
            line("claude", InvocationOptions::default()),
            words("claude -p --output-format stream-json --verbose")
        );
        assert_eq!(
            line("npx claude --verbose", InvocationOptions { model: Some("m"), max_steps: Some(3), system: Some("Be brief.") }),
            [
                words("npx claude --verbose -p --output-format stream-json --model m --max-turns 3 --append-system-prompt"),
                vec!["Be brief.".to_owned()]
            ]
            .concat()
        );
        let own = "claude --print --output-format=json --model {model} --max-turns 9";
        let asked = InvocationOptions {
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
