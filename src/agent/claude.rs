//! Claude's command line program.

use std::time::Duration;

use super::claude_output::Output;
use super::outage::is_outage;
use super::program::{crash, interrupted, measure};
use super::reply::{Failure, FailureKind, Measured, Reply};
use super::tool::{Asked, Line, Tool};
use crate::process::{End, Finished};

/// A success this short may be a usage limit all the same: the program has reported those as answers.
const LONGEST_LIMIT_MESSAGE: usize = 120;

pub const TOOL: Tool = Tool {
    program: "claude",
    keys: &["ANTHROPIC_*", "CLAUDE_*"],
    writing: &["--permission-mode", "acceptEdits"],
    takes_system: true,
    complete,
    read,
};

fn read(finished: &Finished, wall: Duration) -> Result<Reply, Failure> {
    let output = Output::parse(&finished.stdout.text());
    let mut measured = measure(finished);
    output.fill(&mut measured);
    judge(&output, finished, wall, measured)
}

fn complete(line: &mut Line, asked: &Asked<'_>) {
    line.add_unless(&["-p", "--print"], &["-p"]);
    if !line.says(&["--output-format"]) {
        // Tells tool calls and, after a time-out, the tokens used until then, which plain `json` does not.
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

fn judge(output: &Output, finished: &Finished, wall: Duration, mut measured: Measured) -> Result<Reply, Failure> {
    let fail = |kind, reason: &str, measured| Err(Failure::new(kind, reason, measured));
    if let Some((kind, reason)) = interrupted(finished.end, wall) {
        return fail(kind, &reason, measured);
    }
    let text = output.text();
    if output.is_success() {
        let Some(text) = text else { return fail(FailureKind::Error, "reported success without a message", measured) };
        if text.len() <= LONGEST_LIMIT_MESSAGE && text.contains("usage limit reached|") {
            return fail(FailureKind::Infra, &text, measured);
        }
        if finished.end != End::Exited(0) {
            measured.note = Some(format!("the result was a success, but the program {}", crash(finished)));
        }
        if finished.stdout.dropped == 0 && std::str::from_utf8(&finished.stdout.bytes).is_err() {
            return fail(FailureKind::Error, "printed what is not UTF-8", measured);
        }
        return Ok(Reply { text, measured });
    }
    let Some(subtype) = output.failure() else {
        let outage = finished.end != End::Exited(0) && (is_outage(&finished.stderr.text()) || is_outage(&finished.stdout.text()));
        let kind = if outage { FailureKind::Infra } else { FailureKind::Error };
        return fail(kind, &format!("gave no result; it {}", crash(finished)), measured);
    };
    let message = [Some(subtype.clone()), text].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let kind = if subtype.starts_with("error_max_") {
        FailureKind::Limit
    } else if is_outage(&message) || is_outage(&finished.stderr.text()) {
        FailureKind::Infra
    } else {
        FailureKind::Error
    };
    fail(kind, &format!("reported {message}"), measured)
}

#[cfg(test)]
mod tests {
    use super::super::tool::command_line;
    use super::*;

    #[test]
    fn the_command_of_the_configuration_is_completed_not_contradicted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = |own: &str, asked: Asked<'_>| command_line(&TOOL, &words(own), &asked);
        assert_eq!(line("claude", Asked::default()), words("claude -p --output-format stream-json --verbose"));
        assert_eq!(
            line("npx claude --verbose", Asked { model: Some("m"), max_steps: Some(3), system: Some("Be brief.") }),
            [
                words("npx claude --verbose -p --output-format stream-json --model m --max-turns 3 --append-system-prompt"),
                vec!["Be brief.".to_owned()]
            ]
            .concat()
        );
        let own = "claude --print --output-format=json --model {model} --max-turns 9";
        let asked = Asked { model: Some("m"), max_steps: Some(3), system: None };
        assert_eq!(line(own, asked), words("claude --print --output-format=json --model m --max-turns 9"));
    }
}
