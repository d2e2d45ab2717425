//! Agents against real processes and sockets that do everything wrong: each way to fail has its status, what was measured is kept, and
//! nothing grows, hangs or tells a key.

#[cfg(unix)]
mod coding;
#[cfg(unix)]
mod programs;
pub mod service;
mod services;

use std::time::Duration;

use evalreport::agent::{
    Agent, AgentEnvironment, AgentFailure, AgentFailureKind, AgentPrompt, Prices, Reply,
    RetryPolicy, SetupError,
};
use evalreport::config::{self, QuestionBudget};
use evalreport::process::StopSignal;

/// Long enough not to be an English word by chance.
const KEY: &str = "sk-test-4f9a1c7e";

fn environment(folder: &std::path::Path, variables: &[(&str, &str)]) -> AgentEnvironment {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let retries = RetryPolicy {
        attempts: 3,
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(40),
    };
    AgentEnvironment {
        variables,
        root: folder.to_path_buf(),
        retries,
        grace: Duration::from_millis(300),
        ..AgentEnvironment::default()
    }
}

/// Builds the one agent of a configuration, given as the lines of its map.
fn build(agent: &str, environment: &AgentEnvironment) -> Result<Agent, SetupError> {
    let text = format!(
        "version: 1\nagents:\n  - {{id: a, {agent}}}\nprices:\n  - {{model: m, usd_per_million: {{input: 1, output: 2, cache_read: 0.5}}}}\n"
    );
    let config =
        config::parse("evalreport.yaml", &text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let prices = Prices::new(&config.prices, "2026-03-01".parse().expect("it is a date"));
    Agent::new(&config.agents[0], None, environment, &prices)
}

fn agent(agent: &str, environment: &AgentEnvironment) -> Agent {
    build(agent, environment).unwrap_or_else(|error| panic!("{error}"))
}

fn prompt(seconds: f64) -> AgentPrompt<'static> {
    let limits = QuestionBudget {
        max_seconds: Some(seconds),
        ..QuestionBudget::default()
    };
    AgentPrompt {
        text: "Which colour?",
        system: None,
        item: None,
        seed: 7,
        limits,
        folder: None,
    }
}

fn ask(agent: &Agent, seconds: f64) -> Result<Reply, AgentFailure> {
    agent.answer_prompt(&prompt(seconds), &StopSignal::new())
}

#[track_caller]
fn fails(outcome: Result<Reply, AgentFailure>, kind: AgentFailureKind, said: &str) -> AgentFailure {
    let failure = outcome.expect_err("it must fail");
    assert!(
        failure.kind == kind && failure.reason.contains(said),
        "{:?}: {}",
        failure.kind,
        failure.reason
    );
    assert!(
        failure.reason.len() < 2200 && !failure.reason.contains(char::is_control),
        "{}",
        failure.reason
    );
    assert!(!format!("{failure:?}").contains(KEY), "{failure:?}");
    failure
}
