//! Claude's command line program.

use std::time::Duration;

use super::claude_output::Output;
use super::outage::is_outage;
use super::program::{Program, crash, interrupted, measure};
use super::reply::{Failure, FailureKind, Measured, Prompt, Reply};
use crate::process::{End, Finished, Stop};

/// A success this short may be a usage limit all the same: the program has reported those as answers.
const LONGEST_LIMIT_MESSAGE: usize = 120;

#[derive(Clone, Debug)]
pub struct Claude {
    program: Program,
    /// The program and the arguments that come first.
    argv: Vec<String>,
    max_steps: Option<u64>,
}

impl Claude {
    pub fn new(program: Program, command: &[String], max_steps: Option<u64>) -> Self {
        let argv = if command.is_empty() { vec!["claude".to_owned()] } else { command.to_vec() };
        Self { program, argv, max_steps }
    }

    pub fn program(&self) -> Option<&str> {
        self.argv.first().map(String::as_str)
    }

    pub fn ask(&self, prompt: &Prompt, wall: Duration, stop: &Stop) -> Result<Reply, Failure> {
        let max_steps = [self.max_steps, prompt.limits.max_steps].into_iter().flatten().min();
        let argv = arguments(&self.argv, self.program.model(), max_steps, prompt.system);
        let finished = self.program.run(argv, prompt.text.to_owned(), prompt, wall, stop)?;
        read(&finished, wall).map_err(|failure| self.program.explain(failure))
    }
}

/// Reads what the program left behind, however it was started; `wall` was its limit of time.
pub fn read(finished: &Finished, wall: Duration) -> Result<Reply, Failure> {
    let output = Output::parse(&finished.stdout.text());
    let mut measured = measure(finished);
    output.fill(&mut measured);
    judge(&output, finished, wall, measured)
}

/// Adds what a run without a person needs. What the configuration's command says itself is not said twice.
fn arguments(argv: &[String], model: Option<&str>, max_steps: Option<u64>, system: Option<&str>) -> Vec<String> {
    let says = |names: &[&str]| {
        argv.iter().any(|argument| {
            names.iter().any(|name| argument == name || argument.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
        })
    };
    let mut filled: Vec<String> = argv.iter().map(|argument| argument.replace("{model}", model.unwrap_or_default())).collect();
    let mut add = |words: &[&str]| filled.extend(words.iter().map(|word| (*word).to_owned()));
    if !says(&["-p", "--print"]) {
        add(&["-p"]);
    }
    if !says(&["--output-format"]) {
        // Tells tool calls and, after a time-out, the tokens used until then, which plain `json` does not.
        add(&["--output-format", "stream-json"]);
        if !says(&["--verbose"]) {
            add(&["--verbose"]);
        }
    }
    if let Some(model) = model
        && !says(&["--model"])
        && !argv.iter().any(|argument| argument.contains("{model}"))
    {
        add(&["--model", model]);
    }
    if let Some(steps) = max_steps
        && !says(&["--max-turns"])
    {
        add(&["--max-turns", &steps.to_string()]);
    }
    if let Some(system) = system {
        add(&["--append-system-prompt", system]);
    }
    filled
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
    use super::*;

    #[test]
    fn the_command_of_the_configuration_is_completed_not_contradicted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(arguments(&words("claude"), None, None, None), words("claude -p --output-format stream-json --verbose"));
        assert_eq!(
            arguments(&words("npx claude --verbose"), Some("m"), Some(3), Some("Be brief.")),
            [
                words("npx claude --verbose -p --output-format stream-json --model m --max-turns 3 --append-system-prompt"),
                vec!["Be brief.".to_owned()]
            ]
            .concat()
        );
        let own = words("claude --print --output-format=json --model {model} --max-turns 9");
        assert_eq!(arguments(&own, Some("m"), Some(3), None), words("claude --print --output-format=json --model m --max-turns 9"));
    }
}
