//! A chat API over HTTP. A prompt is repeated until the API answers, the time runs out, or another try is pointless.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::address::{region_in, url_host};
use super::command::exchange_transcript;
use super::dialect::{AnswerEnd, ChatAnswer, ChatRequest, Dialect, error_text};
use super::environment::{AgentEnvironment, RetryPolicy};
use super::http::{HttpClient, HttpResponse, RequestError};
use super::rate_limit::RateLimiter;
use super::reply::{
    AgentFailure, AgentFailureKind, AgentPrompt, FailureOutlook, MAX_RAW_BYTES, Reply,
    ReplyMeasurements, ServedBy, shorten_middle,
};
use super::retry::retry_pause;
use super::setup::SetupError;
use crate::config;
use crate::domain::{Repeated, escape_invisible};
use crate::process::StopSignal;

/// Time limit of one request if the configuration sets no `timeout`. Models that think answer late.
const DEFAULT_REQUEST_TIME: Duration = Duration::from_mins(5);
/// Time limit of all requests for one prompt if no budget sets one.
const DEFAULT_TIME: Duration = Duration::from_mins(15);
/// Why there is no answer after a stop.
const STOPPED: &str = "stopped by the user";

#[derive(Clone)]
pub struct ChatApi {
    dialect: Dialect,
    url: String,
    is_original: bool,
    client: HttpClient,
    key: Option<String>,
    key_variable: Option<String>,
    model: String,
    temperature: Option<f64>,
    max_tokens: Option<u64>,
    request_time: Duration,
    retries: RetryPolicy,
    limiter: Option<Arc<RateLimiter>>,
}

/// The result of one try.
enum RequestOutcome {
    Answered(Box<ChatAnswer>),
    /// The next try may work, perhaps only after the wait that the service asks for.
    Again {
        reason: String,
        after: Option<Duration>,
        /// The service was overloaded.
        is_throttled: bool,
    },
    Over(AgentFailureKind, String),
    /// The service refuses the key, or does not know the model.
    Refused(FailureOutlook, String),
}

impl ChatApi {
    pub fn new(
        dialect: Dialect,
        agent: &config::AgentConfig,
        model: Option<&str>,
        environment: &AgentEnvironment,
    ) -> Result<Self, SetupError> {
        let refuse = |message: String, hint: &str| SetupError::refused(&agent.id, message, hint);
        let Some(model) = model else {
            return Err(refuse(
                "no model is named".to_owned(),
                "name one as `model` of the agent, of the task, or with --model",
            ));
        };
        let key_variable = key_variable(dialect, agent);
        let key = match &key_variable {
            Some(name) => match environment.variable(name) {
                Some(key) if key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                    Some(key.to_owned())
                }
                Some(_) => {
                    let hint = "a key is one word of plain ASCII; check for spaces and line ends within it";
                    return Err(refuse(
                        format!("the environment variable `{name}` holds no key"),
                        hint,
                    ));
                }
                None => {
                    let hint = "set it, or name another variable as `api_key_env`";
                    return Err(refuse(
                        format!(
                            "the environment variable `{name}`, which holds its key, is not set"
                        ),
                        hint,
                    ));
                }
            },
            None => None,
        };
        let base = agent
            .base_url
            .as_deref()
            .unwrap_or(dialect.default_base_url());
        let url = dialect.endpoint_url(base);
        let client = HttpClient::new(&url, environment)
            .map_err(|message| refuse(message, "correct the environment variable, or unset it"))?;
        Ok(Self {
            dialect,
            is_original: base == dialect.default_base_url(),
            url,
            client,
            key,
            key_variable,
            model: model.to_owned(),
            temperature: agent.temperature,
            max_tokens: agent.max_tokens,
            request_time: agent.timeout.unwrap_or(DEFAULT_REQUEST_TIME),
            retries: environment.retries,
            limiter: environment.rate_limiters.of_agent(&agent.id, agent.rate),
        })
    }

    /// Returns the time limit of all requests for one prompt without a budget.
    pub fn default_time_limit(&self) -> Duration {
        DEFAULT_TIME.max(self.request_time)
    }

    pub fn answer_prompt(
        &self,
        prompt: &AgentPrompt,
        time: Duration,
        stop: &StopSignal,
    ) -> Result<Reply, AgentFailure> {
        let mut started = Instant::now();
        // The budget of the whole prompt also bounds a single reply.
        let max_tokens = [self.max_tokens, prompt.limits.max_tokens]
            .into_iter()
            .flatten()
            .min();
        let request = ChatRequest {
            model: &self.model,
            temperature: self.temperature,
            max_tokens,
            is_original: self.is_original,
        };
        let body = self
            .dialect
            .request_body(&request, prompt)
            .to_string()
            .into_bytes();
        let headers = self.dialect.request_headers(self.key.as_deref());
        let mut measured = ReplyMeasurements {
            steps: Some(1),
            ..ReplyMeasurements::default()
        };
        measured.served = ServedBy {
            version: None,
            provider: Some(url_host(&self.url).to_owned()),
            region: region_in(&self.url),
        };
        let mut repeated = Repeated {
            waited_seconds: Some(0.0),
            ..Repeated::default()
        };
        measured.repeated = Some(repeated);
        let mut failed = 0;
        // If the time runs out on a failing service, the model is not at fault.
        let mut last_failure: Option<String> = None;
        loop {
            let left = time.saturating_sub(started.elapsed());
            if left.is_zero() {
                measured.duration = started.elapsed();
                return Err(time_limit_failure(time, last_failure, measured));
            }
            // The wait for our own limit is neither the model's time nor the service's.
            let since = Instant::now();
            let expected = match &self.limiter {
                None => 0.0,
                Some(limiter) => match limiter.wait(stop) {
                    Some(expected) => expected,
                    None => {
                        measured.duration = started.elapsed().saturating_sub(since.elapsed());
                        return Err(stopped_failure(measured));
                    }
                },
            };
            started += since.elapsed();
            let wait = left.min(self.request_time);
            let sent = self
                .client
                .post_json(&self.url, &headers, body.clone(), wait, stop);
            let (outcome, was_wait) = match sent {
                Ok(response) => {
                    measured.raw =
                        shorten_middle(&String::from_utf8_lossy(&response.body), MAX_RAW_BYTES);
                    if let Some(region) = &response.region {
                        measured.served.region = Some(region.clone());
                    }
                    (self.read_response(&response), false)
                }
                Err(RequestError::Stopped) => (
                    RequestOutcome::Over(AgentFailureKind::Stopped, STOPPED.to_owned()),
                    false,
                ),
                Err(RequestError::Hopeless(reason)) => {
                    (RequestOutcome::Over(AgentFailureKind::Infra, reason), false)
                }
                Err(RequestError::Connection(reason)) => (
                    retryable_failure(&format!("connection failed: {reason}")),
                    false,
                ),
                Err(RequestError::TimedOut) => (
                    retryable_failure(&format!("no answer within {} s", wait.as_secs_f64())),
                    true,
                ),
            };
            measured.duration = started.elapsed();
            if let Some(limiter) = &self.limiter {
                limiter.settle(expected, used_tokens(&outcome));
            }
            match outcome {
                RequestOutcome::Answered(answer) => return build_reply(*answer, prompt, measured),
                RequestOutcome::Over(kind, reason) => {
                    return Err(AgentFailure::new(kind, &reason, measured));
                }
                RequestOutcome::Refused(outlook, reason) => {
                    return Err(
                        AgentFailure::new(AgentFailureKind::Infra, &reason, measured)
                            .with_outlook(outlook),
                    );
                }
                RequestOutcome::Again {
                    reason,
                    after,
                    is_throttled,
                } => {
                    failed += 1;
                    repeated.throttled += u64::from(is_throttled);
                    measured.repeated = Some(repeated);
                    let left = time.saturating_sub(started.elapsed());
                    if was_wait && left.is_zero() {
                        return Err(time_limit_failure(time, last_failure, measured));
                    }
                    if failed >= self.retries.attempts {
                        let tries = if failed == 1 { "try" } else { "tries" };
                        return Err(AgentFailure::new(
                            AgentFailureKind::Infra,
                            &format!("gave up after {failed} {tries}: {reason}"),
                            measured,
                        ));
                    }
                    let pause =
                        after.unwrap_or_else(|| retry_pause(&self.retries, prompt.seed, failed));
                    if pause >= left {
                        let reason = format!(
                            "{reason}; the next try would be in {} s, after the limit of time",
                            pause.as_secs_f64().ceil()
                        );
                        return Err(AgentFailure::new(
                            AgentFailureKind::Infra,
                            &reason,
                            measured,
                        ));
                    }
                    last_failure = if was_wait { last_failure } else { Some(reason) };
                    repeated = repeated.plus(&Repeated {
                        retries: 1,
                        throttled: 0,
                        waited_seconds: Some(pause.as_secs_f64()),
                    });
                    measured.repeated = Some(repeated);
                    if !stop.sleep(pause) {
                        return Err(stopped_failure(measured));
                    }
                }
            }
        }
    }

    fn read_response(&self, response: &HttpResponse) -> RequestOutcome {
        let status = response.status;
        if (200..300).contains(&status) {
            let Ok(text) = std::str::from_utf8(&response.body) else {
                return retryable_failure("the response is not UTF-8");
            };
            let Ok(value) = serde_json::from_str::<Value>(text) else {
                return retryable_failure("the response is not JSON");
            };
            return match self.dialect.read_answer(&value) {
                Some(answer) => RequestOutcome::Answered(Box::new(answer)),
                None => retryable_failure(&append_detail(
                    "the response holds no answer",
                    &error_text(&response.body),
                )),
            };
        }
        let said = error_text(&response.body);
        let lower = said.to_lowercase();
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        let reason = append_detail(&format!("HTTP status {status}"), &said);
        match status {
            // Waiting does not refill an account.
            429 if has(&[
                "insufficient_quota",
                "exceeded your current quota",
                "credit balance",
                "billing",
            ]) =>
            {
                RequestOutcome::Over(AgentFailureKind::Infra, reason)
            }
            408 | 429 | 500..=599 => {
                let is_throttled = Repeated::is_throttled(status.into());
                RequestOutcome::Again {
                    reason,
                    after: response.retry_after,
                    is_throttled,
                }
            }
            401 | 403 => {
                let key = match &self.key_variable {
                    Some(name) => format!("the key in the environment variable `{name}` was refused"),
                    None => "a key was asked for; name the environment variable that holds it as `api_key_env`".to_owned(),
                };
                // Some services answer 403 if they reject the prompt's content.
                let outlook = if status == 401 {
                    FailureOutlook::Hopeless
                } else {
                    FailureOutlook::Doubtful
                };
                RequestOutcome::Refused(outlook, format!("{key} ({reason})"))
            }
            404 => RequestOutcome::Refused(
                FailureOutlook::Doubtful,
                format!(
                    "the service does not know the model `{}`, or `base_url` is not its address ({reason})",
                    escape_invisible(&self.model)
                ),
            ),
            400 | 413
                if has(&[
                    "context_length",
                    "context length",
                    "context window",
                    "prompt is too long",
                    "request_too_large",
                ]) =>
            {
                RequestOutcome::Over(AgentFailureKind::Limit, reason)
            }
            400 if has(&["content_filter", "content_policy"]) => {
                RequestOutcome::Over(AgentFailureKind::Error, reason)
            }
            _ => RequestOutcome::Over(AgentFailureKind::Infra, reason),
        }
    }
}

impl fmt::Debug for ChatApi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Chat");
        shown
            .field("dialect", &self.dialect)
            .field("url", &self.url)
            .field("model", &self.model);
        shown
            .field("key_variable", &self.key_variable)
            .finish_non_exhaustive()
    }
}

/// Returns the variable that holds the key. A server with its own `base_url` gets no key unless the configuration names one: the default
/// key belongs to another service.
pub fn key_variable(dialect: Dialect, agent: &config::AgentConfig) -> Option<String> {
    let default = || {
        agent
            .base_url
            .is_none()
            .then(|| dialect.default_key_variable().to_owned())
    };
    agent.api_key_env.clone().or_else(default)
}

/// Returns all tokens of a try: those of its answer, none if the service refused, `None` if nobody knows.
fn used_tokens(outcome: &RequestOutcome) -> Option<u64> {
    match outcome {
        RequestOutcome::Answered(answer) => answer.usage.total(),
        RequestOutcome::Again { .. } | RequestOutcome::Over(..) => None,
        RequestOutcome::Refused(..) => Some(0),
    }
}

fn retryable_failure(reason: &str) -> RequestOutcome {
    RequestOutcome::Again {
        reason: reason.to_owned(),
        after: None,
        is_throttled: false,
    }
}

fn build_reply(
    answer: ChatAnswer,
    prompt: &AgentPrompt,
    mut measured: ReplyMeasurements,
) -> Result<Reply, AgentFailure> {
    measured.usage = answer.usage;
    measured.model = answer.model;
    measured.tools = Some(std::collections::BTreeMap::new());
    measured.transcript = exchange_transcript(prompt, "");
    if let Some(message) = measured.transcript.last_mut() {
        *message = json!({"role": "assistant", "content": answer.content});
    }
    match answer.end {
        AnswerEnd::Whole => Ok(Reply {
            text: answer.text,
            measured,
        }),
        AnswerEnd::Truncated => Err(AgentFailure::new(
            AgentFailureKind::Limit,
            "the reply was cut at its most tokens",
            measured,
        )),
        AnswerEnd::Filtered => Err(AgentFailure::new(
            AgentFailureKind::Error,
            "the service's content filter cut the reply",
            measured,
        )),
    }
}

fn stopped_failure(measured: ReplyMeasurements) -> AgentFailure {
    AgentFailure::new(AgentFailureKind::Stopped, STOPPED, measured)
}

fn time_limit_failure(
    time: Duration,
    last_failure: Option<String>,
    measured: ReplyMeasurements,
) -> AgentFailure {
    let limit = time.as_secs_f64();
    match last_failure {
        Some(reason) => AgentFailure::new(
            AgentFailureKind::Infra,
            &format!("the limit of {limit} s passed while the service failed: {reason}"),
            measured,
        ),
        None => AgentFailure::new(
            AgentFailureKind::Limit,
            &format!("no answer within {limit} s, the limit of time"),
            measured,
        ),
    }
}

fn append_detail(what: &str, said: &str) -> String {
    if said.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {said}")
    }
}
