//! Agents: they turn a prompt into an answer.
//!
//! An agent is a coding agent's command line program, any other program, a chat API, or a file of recorded answers. Asking any of them
//! returns a [`Reply`], or a [`AgentFailure`] that says whose fault it was. Both carry the measurements. An agent cannot crash the caller, fill
//! its memory or exceed its time limit, and results hold no key of the environment.
//!
//! `docs/look-up/agents.md` lists the statuses, and when each agent returns which.

mod address;
mod chat;
mod claude;
mod claude_output;
mod codex;
mod command;
mod dialect;
mod environment;
mod gemini;
mod http;
mod instructions;
mod known_tools;
mod opencode;
mod own_folders;
mod price;
mod program;
mod rate_limit;
mod replay;
mod reply;
mod retry;
mod session;
mod setup;
mod tool;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::config::{self, AgentKind, QuestionBudget};
use crate::domain::Secrets;
use crate::process::StopSignal;

pub use crate::transcript::{find_cost, find_count, find_usage};
pub use environment::{AgentEnvironment, RetryPolicy, SERVICE_VARIABLES};
pub use instructions::{AgentInstructions, PROMPT_TAG, describe_prompt};
pub use own_folders::{OwnFolder, OwnPlace, folders_of, folders_of_kind};
pub use price::Prices;
pub use program::{
    MODEL_VARIABLE, add_withheld_secrets, describe_crash, describe_failed_start,
    has_model_placeholder,
};
pub use replay::prompt_hash;
pub use reply::{
    AgentFailure, AgentFailureKind, AgentPrompt, Cost, FailureOutlook, Reply, ReplyMeasurements,
    ServedBy, shorten_middle,
};
pub use setup::SetupError;

use chat::ChatApi;
use command::CommandAgent;
use dialect::Dialect;
use known_tools::coding_agent_of;
use program::Program;
use replay::Replay;
use tool::{CodingAgent, CodingAgentProgram, describe_rights, writing_command_line};

/// Time limit of a program if neither its `timeout` nor a budget sets one.
const DEFAULT_PROGRAM_TIME: Duration = Duration::from_mins(10);

/// An agent that answers prompts. Asking does not change it, so several threads may ask at once.
#[derive(Clone, Debug)]
pub struct Agent {
    pub id: String,
    pub kind: AgentKind,
    /// The requested model.
    pub model: Option<String>,
    reach: AgentBackend,
    timeout: Option<Duration>,
    max_steps: Option<u64>,
    prices: Prices,
    /// The model's provider, if the configuration names it.
    provider: Option<String>,
    secrets: Secrets,
    instructions: AgentInstructions,
    settings: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
enum AgentBackend {
    Command(CommandAgent),
    Tool(CodingAgentProgram),
    Chat(Box<ChatApi>),
    Replay(Replay),
}

/// Returns the variables that hold keys for the program of this type.
pub fn key_variables_of(kind: AgentKind) -> Vec<String> {
    coding_agent_of(kind)
        .map(|tool| tool.keys.iter().map(|name| (*name).to_owned()).collect())
        .unwrap_or_default()
}

/// Returns the program that an agent of this type starts unless its `command` names another.
pub fn default_program(kind: AgentKind) -> Option<&'static str> {
    coding_agent_of(kind).map(|tool| tool.program)
}

/// Returns the program that an agent starts: from its command, or else the default of its type.
pub fn program_of(agent: &config::AgentConfig) -> Option<&str> {
    agent
        .command
        .first()
        .map(String::as_str)
        .or_else(|| default_program(agent.kind))
}

/// Says what an agent may do without asking when it writes files, or returns `None` for a program whose options are not known.
pub fn writing_rights(
    agent: &config::AgentConfig,
    more: &[String],
    is_confined: bool,
) -> Option<String> {
    coding_agent_of(agent.kind).map(|tool| describe_rights(tool, &agent.command, more, is_confined))
}

/// Returns the variables that an agent of this type gets when it writes files, unless the environment sets them.
pub fn writing_variables(
    kind: AgentKind,
    is_confined: bool,
) -> &'static [(&'static str, &'static str)] {
    coding_agent_of(kind).map_or(&[], |tool| {
        tool.writing_variables.for_confinement(is_confined)
    })
}

/// Returns the command with which an agent writes files without asking for permission: its own words, the default options of its type that
/// they do not set, and `more`.
pub fn writing_command(
    agent: &config::AgentConfig,
    more: &[String],
    is_confined: bool,
) -> Vec<String> {
    match coding_agent_of(agent.kind) {
        Some(tool) => writing_command_line(tool, &agent.command, more, is_confined),
        None => [&agent.command[..], more].concat(),
    }
}

impl Agent {
    /// Prepares an agent from the configuration. `model` overrides the configured model.
    pub fn new(
        agent: &config::AgentConfig,
        model: Option<&str>,
        environment: &AgentEnvironment,
        prices: &Prices,
    ) -> Result<Self, SetupError> {
        let model = model.or(agent.model.as_deref());
        if has_model_placeholder(&agent.command) && model.is_none() {
            let message = "its command holds `{model}`, and no model is named".to_owned();
            return Err(SetupError::refused(
                &agent.id,
                message,
                "name one as `model` of the agent, of the task, or with --model",
            ));
        }
        let granted: Vec<String> = agent
            .env
            .iter()
            .cloned()
            .chain(agent.api_key_env.clone())
            .chain(key_variables_of(agent.kind))
            .collect();
        let program =
            |defaults| Program::new(environment, model.map(str::to_owned), &granted, defaults);
        let coding = |tool: &'static CodingAgent| {
            let program = CodingAgentProgram::new(
                tool,
                program(tool.variables),
                &agent.command,
                agent.max_steps,
            );
            (AgentBackend::Tool(program), agent.api_key_env.clone())
        };
        let chat = |dialect| {
            let chat = ChatApi::new(dialect, agent, model, environment)?;
            Ok((
                AgentBackend::Chat(Box::new(chat)),
                chat::key_variable(dialect, agent),
            ))
        };
        let (reach, key_variable) = match agent.kind {
            AgentKind::Command => (
                AgentBackend::Command(CommandAgent::new(program(&[]), agent.command.clone())),
                agent.api_key_env.clone(),
            ),
            AgentKind::Claude => coding(&claude::CODING_AGENT),
            AgentKind::Codex => coding(&codex::CODING_AGENT),
            AgentKind::Gemini => coding(&gemini::CODING_AGENT),
            AgentKind::Opencode => coding(&opencode::CODING_AGENT),
            AgentKind::Anthropic => chat(Dialect::Anthropic)?,
            AgentKind::Openai => chat(Dialect::Openai)?,
            AgentKind::Replay => {
                let path = environment
                    .root
                    .join(agent.file.as_deref().unwrap_or_default());
                (
                    AgentBackend::Replay(Replay::load(&path).map_err(SetupError::Recording)?),
                    None,
                )
            }
        };
        let instructions = AgentInstructions::read(agent, &environment.root)?;
        Ok(Self {
            id: agent.id.clone(),
            kind: agent.kind,
            model: model.map(str::to_owned),
            reach,
            timeout: agent.timeout,
            max_steps: agent.max_steps,
            prices: prices.clone(),
            provider: agent.provider.clone(),
            secrets: environment.collect_secrets(key_variable.as_deref()),
            settings: instructions.settings(agent),
            instructions,
        })
    }

    /// Returns what the model is told beside a question.
    pub fn instructions(&self) -> &AgentInstructions {
        &self.instructions
    }

    /// Returns the settings that its runs record as tags, by tag. Runs with other settings are of another arm.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Returns the program started for an answer, or `None` for chat APIs and recordings.
    pub fn program(&self) -> Option<&str> {
        match &self.reach {
            AgentBackend::Command(command) => command.program(),
            AgentBackend::Tool(tool) => tool.program(),
            AgentBackend::Chat(_) | AgentBackend::Replay(_) => None,
        }
    }

    /// Asks, and waits for the answer, the time limit or a stop. Then computes the cost and checks the budget.
    pub fn answer_prompt(
        &self,
        prompt: &AgentPrompt,
        stop: &StopSignal,
    ) -> Result<Reply, AgentFailure> {
        let wall = self.time_limit(&prompt.limits).unwrap_or(Duration::MAX);
        let answered = match &self.reach {
            _ if stop.is_stopped() => Err(AgentFailure::new(
                AgentFailureKind::Stopped,
                "stopped by the user",
                ReplyMeasurements::default(),
            )),
            AgentBackend::Command(command) => command.answer_prompt(prompt, wall, stop),
            AgentBackend::Tool(tool) => tool.answer_prompt(prompt, wall, stop),
            AgentBackend::Chat(chat) => chat.answer_prompt(prompt, wall, stop),
            AgentBackend::Replay(replay) => replay.answer_prompt(prompt),
        };
        match answered {
            Ok(Reply { text, measured }) => {
                let measured = self.complete_measurements(measured);
                match self.budget_excess(prompt, &measured) {
                    Some(reason) => Err(AgentFailure::new(
                        AgentFailureKind::Limit,
                        &reason,
                        measured,
                    )),
                    None => Ok(Reply {
                        text: self.secrets.hide(&text).into_owned(),
                        measured,
                    }),
                }
            }
            Err(failure) => {
                let reason = self.secrets.hide(&failure.reason).into_owned();
                Err(AgentFailure {
                    reason,
                    measured: Box::new(self.complete_measurements(*failure.measured)),
                    ..failure
                })
            }
        }
    }

    /// Returns the time that the agent has for one prompt. Recordings have no limit.
    pub fn time_limit(&self, limits: &QuestionBudget) -> Option<Duration> {
        let budget = limits
            .max_seconds
            .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        match &self.reach {
            AgentBackend::Command(_) | AgentBackend::Tool(_) => Some(
                [self.timeout, budget]
                    .into_iter()
                    .flatten()
                    .min()
                    .unwrap_or(DEFAULT_PROGRAM_TIME),
            ),
            AgentBackend::Chat(chat) => Some(budget.unwrap_or_else(|| chat.default_time_limit())),
            AgentBackend::Replay(_) => None,
        }
    }

    /// Returns whether the agent reports repeated requests.
    pub fn reports_repeats(&self) -> bool {
        matches!(self.reach, AgentBackend::Chat(_))
    }

    /// Adds the cost and the provider, and removes secrets.
    fn complete_measurements(&self, mut measured: ReplyMeasurements) -> ReplyMeasurements {
        if measured.cost.usd.is_none() {
            measured.cost = self.prices.cost_of(&measured, self.model.as_deref());
        }
        if let Cow::Owned(hidden) = self.secrets.hide(&measured.raw) {
            measured.raw = hidden;
        }
        measured
            .transcript
            .iter_mut()
            .for_each(|message: &mut Value| self.secrets.hide_in(message));
        if let Some(provider) = &self.provider {
            measured.served.provider = Some(provider.clone());
        }
        let ServedBy {
            version,
            provider,
            region,
        } = &mut measured.served;
        for text in [
            &mut measured.note,
            &mut measured.model,
            version,
            provider,
            region,
        ]
        .into_iter()
        .flatten()
        {
            if let Cow::Owned(hidden) = self.secrets.hide(text) {
                *text = hidden;
            }
        }
        measured
    }

    /// Returns how an answer exceeded its budget. An unmeasured value exceeds nothing.
    fn budget_excess(&self, prompt: &AgentPrompt, measured: &ReplyMeasurements) -> Option<String> {
        let max_steps = [self.max_steps, prompt.limits.max_steps]
            .into_iter()
            .flatten()
            .min();
        let over = |what: &str, used: Option<u64>, most: Option<u64>| {
            let (used, most) = (used?, most?);
            (used > most).then(|| format!("used {used} {what}, more than {most}"))
        };
        over("tokens", measured.usage.total(), prompt.limits.max_tokens)
            .or_else(|| over("steps", measured.steps, max_steps))
    }
}
