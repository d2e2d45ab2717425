//! Any program: it reads the prompt from standard input and writes the answer to standard output.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::program::{
    MAX_OUTPUT_BYTES, MODEL_PLACEHOLDER, Program, describe_crash, describe_interruption,
    join_prompts, measure_process, write_prompt_file,
};
use super::reply::{AgentFailure, AgentFailureKind, AgentPrompt, Cost, Reply, ReplyMeasurements};
use crate::domain::is_outage;
use crate::process::{ProgramExit, StopSignal};
use crate::transcript::{as_amount, as_count, find_usage};

#[derive(Clone, Debug)]
pub struct CommandAgent {
    program: Program,
    argv: Vec<String>,
}

impl CommandAgent {
    pub fn new(program: Program, argv: Vec<String>) -> Self {
        Self { program, argv }
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
        self.run_prompt(prompt, wall, stop)
            .map_err(|failure| self.program.explain_failure(failure))
    }

    fn run_prompt(
        &self,
        prompt: &AgentPrompt,
        wall: Duration,
        stop: &StopSignal,
    ) -> Result<Reply, AgentFailure> {
        let input = join_prompts(prompt);
        let asks_for_file = self
            .argv
            .iter()
            .any(|argument| argument.contains("{prompt_file}"));
        let file = if asks_for_file {
            Some(write_prompt_file(&input)?)
        } else {
            None
        };
        let path = file.as_ref().map(|file| file.path().display().to_string());
        let argv = fill_placeholders(
            &self.argv,
            self.program.model().unwrap_or_default(),
            path.as_deref().unwrap_or_default(),
        );
        let finished = self.program.run_program(argv, input, prompt, wall, stop)?;
        let measured = measure_process(&finished);
        let fail = |kind, reason: &str, measured| Err(AgentFailure::new(kind, reason, measured));
        if let Some((kind, reason)) = describe_interruption(finished.end, wall) {
            return fail(kind, &reason, measured);
        }
        if finished.end != ProgramExit::Exited(0) {
            let outage = is_outage(&finished.stderr.text()) || is_outage(&finished.stdout.text());
            return fail(
                if outage {
                    AgentFailureKind::Infra
                } else {
                    AgentFailureKind::Error
                },
                &describe_crash(&finished),
                measured,
            );
        }
        if finished.stdout.dropped > 0 {
            let reason = format!("printed more than {} MiB", MAX_OUTPUT_BYTES >> 20);
            return fail(AgentFailureKind::Error, &reason, measured);
        }
        let Ok(stdout) = String::from_utf8(finished.stdout.bytes) else {
            return fail(
                AgentFailureKind::Error,
                "printed what is not UTF-8",
                measured,
            );
        };
        Ok(read_answer(stdout, prompt, measured))
    }
}

/// Fills in the placeholders. Placeholders inside the inserted text stay as they are.
fn fill_placeholders(argv: &[String], model: &str, prompt_file: &str) -> Vec<String> {
    let fill = |argument: &String| {
        let parts: Vec<String> = argument
            .split(MODEL_PLACEHOLDER)
            .map(|part| part.replace("{prompt_file}", prompt_file))
            .collect();
        parts.join(model)
    };
    argv.iter().map(fill).collect()
}

/// Reads the answer: plain text, or a JSON object with a text `answer` and optional measurements.
fn read_answer(stdout: String, prompt: &AgentPrompt, mut measured: ReplyMeasurements) -> Reply {
    let object = Some(stdout.trim())
        .filter(|text| text.starts_with('{'))
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some((object, answer)) = object.and_then(|object| {
        let answer = object.get("answer")?.as_str()?.to_owned();
        Some((object, answer))
    }) else {
        measured.transcript = exchange_transcript(prompt, &stdout);
        return Reply {
            text: stdout,
            measured,
        };
    };
    measured.usage = object.get("usage").map(find_usage).unwrap_or_default();
    measured.cost = object
        .get("cost_usd")
        .and_then(as_amount)
        .map(Cost::from_report)
        .unwrap_or_default();
    measured.steps = object.get("steps").and_then(as_count);
    measured.tools = object.get("tools").and_then(Value::as_object).map(|tools| {
        let counts = tools
            .iter()
            .filter_map(|(name, count)| Some((name.clone(), as_count(count)?)));
        counts.collect::<BTreeMap<String, u64>>()
    });
    measured.model = object
        .get("model")
        .and_then(Value::as_str)
        .map(str::to_owned);
    measured.transcript = match object.get("transcript") {
        Some(Value::Array(messages)) => messages.clone(),
        Some(_) | None => exchange_transcript(prompt, &answer),
    };
    Reply {
        text: answer,
        measured,
    }
}

/// Returns the transcript of a single prompt and its answer.
pub fn exchange_transcript(prompt: &AgentPrompt, answer: &str) -> Vec<Value> {
    let system = prompt
        .system
        .map(|system| json!({"role": "system", "content": system}));
    let messages = [
        json!({"role": "user", "content": prompt.text}),
        json!({"role": "assistant", "content": answer}),
    ];
    system.into_iter().chain(messages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QuestionBudget;
    use crate::domain::{CostSource, Usage};

    fn reply(stdout: &str) -> Reply {
        let prompt = AgentPrompt {
            text: "question",
            system: None,
            item: None,
            seed: 0,
            limits: QuestionBudget::default(),
            folder: None,
        };
        read_answer(stdout.to_owned(), &prompt, ReplyMeasurements::default())
    }

    #[test]
    fn plain_text_is_the_answer() {
        for text in [
            "Blue",
            " {\"answer\": 7} ",
            "{\"answer\": \"a\"} tail",
            "[\"answer\"]",
            "{",
            "",
            "{\"a\": {\"answer\": \"x\"}}",
        ] {
            let reply = reply(text);
            assert_eq!(
                (
                    reply.text.as_str(),
                    reply.measured.steps,
                    reply.measured.transcript.len()
                ),
                (text, None, 2)
            );
            assert_eq!(reply.measured.cost, Cost::default());
        }
    }

    #[test]
    fn an_object_tells_what_it_took() {
        let reply = reply(
            "\n{\"answer\": \"Blue\", \"usage\": {\"input_tokens\": 2, \"output_tokens\": \"3\"}, \"cost_usd\": 0, \"steps\": 4, \
             \"tools\": {\"cost\": 2, \"bad\": -1}, \"transcript\": [{\"role\": \"user\"}]}\n",
        );
        let measured = reply.measured;
        assert_eq!(reply.text, "Blue");
        assert_eq!(
            measured.usage,
            Usage {
                input: Some(2),
                output: Some(3),
                ..Usage::default()
            }
        );
        assert_eq!(
            (measured.cost.usd, measured.cost.source, measured.steps),
            (Some(0.0), CostSource::Reported, Some(4))
        );
        assert_eq!(
            measured.tools,
            Some(BTreeMap::from([("cost".to_owned(), 2)]))
        );
        assert_eq!(measured.transcript.len(), 1);
    }

    #[test]
    fn placeholders_are_filled_once() {
        let argv = [
            "run".to_owned(),
            "--model={model}".to_owned(),
            "{prompt_file}{model}".to_owned(),
            "{other}".to_owned(),
        ];
        assert_eq!(
            fill_placeholders(&argv, "{prompt_file}", "/p"),
            ["run", "--model={prompt_file}", "/p{prompt_file}", "{other}"]
        );
    }
}
