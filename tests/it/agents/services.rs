//! Chat APIs.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use evalreport::agent::AgentFailureKind::{Error, Infra, Limit, Stopped};
use evalreport::domain::CostSource;
use serde_json::{Value, json};

use super::service::{Act, Service};
use super::*;

fn openai_answer() -> Act {
    let body = json!({"model": "m", "choices": [{"message": {"content": "<answer>Blue</answer>"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}});
    Act::Answer(200, "", body.to_string().into_bytes())
}

fn refusal(status: u16, headers: &'static str, message: &str) -> Act {
    Act::Answer(
        status,
        headers,
        json!({"error": {"message": message}})
            .to_string()
            .into_bytes(),
    )
}

fn around() -> AgentEnvironment {
    environment(
        Path::new(""),
        &[
            ("OTHER_KEY", KEY),
            ("OPENAI_API_KEY", "sk-of-another-service"),
        ],
    )
}

/// An agent of the OpenAI kind at a service that does these acts.
fn at(acts: Vec<Act>) -> (Service, Agent) {
    let service = Service::start(acts);
    let agent = agent(
        &format!(
            "type: openai, model: m, base_url: \"{}\", api_key_env: OTHER_KEY",
            service.url("/v1")
        ),
        &around(),
    );
    (service, agent)
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("it has a body").1)
        .expect("the body is JSON")
}

#[test]
fn openai_answers_with_usage_price_and_transcript() {
    let (service, agent) = at(vec![openai_answer()]);
    let reply = ask(&agent, 10.0).expect("it answers");
    let measured = &reply.measured;
    assert_eq!(reply.text, "<answer>Blue</answer>");
    assert_eq!(
        (
            measured.usage.input,
            measured.usage.cache_read,
            measured.usage.output
        ),
        (Some(40), Some(60), Some(10))
    );
    assert_eq!(measured.cost.source, CostSource::Priced);
    let usd = measured.cost.usd.expect("it is priced");
    assert!(
        (usd - (40.0 + 60.0 * 0.5 + 10.0 * 2.0) / 1e6).abs() < 1e-12,
        "{usd}"
    );
    assert_eq!(
        (
            measured.steps,
            measured.transcript.len(),
            measured.model.as_deref()
        ),
        (Some(1), 2, Some("m"))
    );
    let request = &service.requests()[0];
    assert!(
        request.starts_with("POST /v1/chat/completions HTTP/1.1")
            && request.contains(&format!("authorization: Bearer {KEY}")),
        "{request}"
    );
    assert_eq!(
        body(request),
        json!({"model": "m", "messages": [{"role": "user", "content": "Which colour?"}]})
    );
    assert!(!format!("{agent:?} {reply:?}").contains(KEY));
}

#[test]
fn anthropic_answers_with_its_own_headers_and_bounds() {
    let body_sent = json!({"model": "m-1", "content": [{"type": "text", "text": "Blue"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 2, "cache_creation_input_tokens": 6843, "cache_read_input_tokens": 91983, "output_tokens": 4}});
    let service = Service::start(vec![Act::Answer(
        200,
        "",
        body_sent.to_string().into_bytes(),
    )]);
    let config = format!(
        "type: anthropic, model: m, temperature: 0.5, base_url: \"{}\", api_key_env: OTHER_KEY",
        service.url("")
    );
    let mut asked = prompt(10.0);
    asked.system = Some("Be brief.");
    asked.limits.max_tokens = Some(99_000);
    let reply = agent(&config, &around())
        .answer_prompt(&asked, &StopSignal::new())
        .expect("it answers");
    assert_eq!(reply.measured.usage.input_total(), Some(98_828));
    assert_eq!(
        reply.measured.cost.source,
        CostSource::Unknown,
        "writes to the cache have no price"
    );
    let request = &service.requests()[0];
    assert!(
        request.starts_with("POST /v1/messages HTTP/1.1"),
        "{request}"
    );
    assert!(
        request.contains(&format!("x-api-key: {KEY}")) && request.contains("anthropic-version: "),
        "{request}"
    );
    let sent = body(request);
    assert_eq!(
        (&sent["system"], &sent["temperature"], &sent["max_tokens"]),
        (&json!("Be brief."), &json!(0.5), &json!(99_000))
    );
    asked.limits.max_tokens = Some(98_831);
    let failure = fails(
        agent(&config, &around()).answer_prompt(&asked, &StopSignal::new()),
        Limit,
        "used 98832 tokens, more than 98831",
    );
    assert_eq!(failure.measured.usage.output, Some(4));
}

#[test]
fn a_busy_service_is_asked_again_when_it_says() {
    let (service, agent) = at(vec![
        refusal(429, "retry-after: 1\r\n", "slow down"),
        refusal(503, "", "soon"),
        Act::Close,
        openai_answer(),
    ]);
    let started = Instant::now();
    let failure = fails(
        ask(&agent, 20.0),
        Infra,
        "gave up after 3 tries: connection failed",
    );
    let repeated = failure.measured.repeated.expect("an API tells");
    assert_eq!((repeated.retries, repeated.throttled), (2, 2));
    assert!(
        repeated
            .waited_seconds
            .is_some_and(|seconds| (1.0..2.0).contains(&seconds)),
        "{repeated:?}"
    );
    assert!(
        started.elapsed() >= Duration::from_secs(1),
        "it must wait as asked"
    );
    assert_eq!(service.requests().len(), 3);
    let (service, agent) = at(vec![
        refusal(429, "retry-after: 0\r\n", "slow down"),
        Act::CloseMidBody,
        openai_answer(),
    ]);
    let reply = ask(&agent, 20.0).expect("the third try answers");
    assert_eq!(reply.text, "<answer>Blue</answer>");
    assert_eq!(service.requests().len(), 3);
    assert_eq!(
        reply
            .measured
            .repeated
            .map(|repeated| (repeated.retries, repeated.throttled)),
        Some((2, 1))
    );
    let served = reply.measured.served;
    assert_eq!(
        (served.provider.as_deref(), served.region),
        (Some("127.0.0.1"), None)
    );
    let Act::Answer(status, _, body) = openai_answer() else {
        unreachable!("it answers")
    };
    let (_service, agent) = at(vec![Act::Answer(
        status,
        "x-ms-region: Sweden Central\r\n",
        body,
    )]);
    let measured = ask(&agent, 20.0).expect("it answers").measured;
    assert_eq!(measured.served.region.as_deref(), Some("Sweden Central"));
    assert_eq!(
        measured
            .repeated
            .map(|repeated| (repeated.retries, repeated.waited_seconds)),
        Some((0, Some(0.0)))
    );
}

#[test]
fn what_asking_again_cannot_help_is_not_asked_again() {
    for (act, kind, said) in [
        (
            refusal(429, "retry-after: 3600\r\n", "slow down"),
            Infra,
            "the next try would be in 3600 s",
        ),
        (
            refusal(429, "", "You exceeded your current quota"),
            Infra,
            "HTTP status 429: You exceeded",
        ),
        (
            refusal(401, "", &format!("bad key {KEY}")),
            Infra,
            "environment variable `OTHER_KEY` was refused (HTTP status 401: bad key [OTHER_KEY])",
        ),
        (refusal(403, "", "no"), Infra, "`OTHER_KEY`"),
        (
            refusal(404, "", "no such model"),
            Infra,
            "HTTP status 404: no such model",
        ),
        (
            refusal(
                400,
                "",
                "This model's maximum context length is 8192 tokens",
            ),
            Limit,
            "HTTP status 400",
        ),
        (
            refusal(400, "", "content_policy_violation"),
            Error,
            "HTTP status 400",
        ),
        (
            refusal(302, "location: http://127.0.0.1:1/\r\n", "elsewhere"),
            Infra,
            "HTTP status 302",
        ),
        (Act::Flood(100 << 20), Infra, "larger than 16 MiB"),
    ] {
        let (service, agent) = at(vec![act, openai_answer()]);
        fails(ask(&agent, 10.0), kind, said);
        assert_eq!(service.requests().len(), 1, "{said}");
    }
}

#[test]
fn a_service_that_stays_broken_is_an_outage() {
    for (act, said) in [
        (
            refusal(500, "", "\u{1b}[31moops"),
            "gave up after 3 tries: HTTP status 500: ␛[31moops",
        ),
        (
            Act::Answer(200, "", b"{\"choices\": [".to_vec()),
            "gave up after 3 tries: the response is not JSON",
        ),
        (
            Act::Answer(200, "", b"{\"caf\xe9\": 1}".to_vec()),
            "the response is not UTF-8",
        ),
        (
            Act::Answer(200, "", b"{\"error\": \"busy\"}".to_vec()),
            "the response holds no answer: busy",
        ),
        (
            Act::CloseMidBody,
            "gave up after 3 tries: connection failed",
        ),
        (Act::Close, "gave up after 3 tries: connection failed"),
    ] {
        let (service, agent) = at(vec![act]);
        fails(ask(&agent, 10.0), Infra, said);
        assert_eq!(service.requests().len(), 3, "{said}");
    }
    let closed = agent(
        "type: openai, model: m, base_url: \"http://127.0.0.1:1\"",
        &around(),
    );
    fails(
        ask(&closed, 10.0),
        Infra,
        "gave up after 3 tries: connection failed",
    );
}

#[test]
fn time_runs_out_on_the_model_or_on_the_service() {
    let (_service, agent) = at(vec![Act::Stall]);
    let failure = fails(ask(&agent, 0.4), Limit, "no answer within 0.4 s");
    assert!(
        (Duration::from_millis(350)..Duration::from_secs(3)).contains(&failure.measured.duration),
        "{:?}",
        failure.measured.duration
    );
    let (_service, agent) = at(vec![refusal(500, "", "oops"), Act::Stall]);
    fails(
        ask(&agent, 0.4),
        Infra,
        "the limit of 0.4 s passed while the service failed: HTTP status 500",
    );
    // Each request has its own time, and the budget is for all of them.
    let service = Service::start(vec![Act::Stall, openai_answer()]);
    let config = format!(
        "type: openai, model: m, timeout: 1s, base_url: \"{}\"",
        service.url("")
    );
    assert_eq!(
        ask(&super::agent(&config, &around()), 10.0)
            .expect("the second request is answered")
            .measured
            .steps,
        Some(1)
    );
}

#[test]
fn a_cut_or_filtered_reply_is_no_answer() {
    for (reason, kind) in [("length", Limit), ("content_filter", Error)] {
        let body = json!({"choices": [{"message": {"content": "Bl"}, "finish_reason": reason}], "usage": {"prompt_tokens": 4, "completion_tokens": 2}});
        let (_service, agent) = at(vec![Act::Answer(200, "", body.to_string().into_bytes())]);
        let failure = fails(ask(&agent, 10.0), kind, "cut");
        assert_eq!(
            (failure.measured.usage.output, failure.measured.cost.source),
            (Some(2), CostSource::Priced)
        );
    }
}

#[test]
fn a_stop_is_heard_while_waiting_and_between_tries() {
    for acts in [
        vec![Act::Stall],
        vec![refusal(429, "retry-after: 15\r\n", "slow down")],
    ] {
        let (_service, agent) = at(acts);
        let stop = StopSignal::new();
        let later = stop.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            later.stop();
        });
        let started = Instant::now();
        fails(
            agent.answer_prompt(&prompt(20.0), &stop),
            Stopped,
            "stopped",
        );
        assert!(
            started.elapsed() < Duration::from_secs(3),
            "{:?}",
            started.elapsed()
        );
    }
}

#[test]
fn keys_are_asked_for_by_name_and_kept_from_other_servers() {
    let error = build(
        "type: anthropic, model: m",
        &environment(Path::new(""), &[]),
    )
    .expect_err("no key");
    assert!(
        error.to_string().contains(
            "the environment variable `ANTHROPIC_API_KEY`, which holds its key, is not set"
        ),
        "{error}"
    );
    let error = build(
        "type: openai, model: m",
        &environment(Path::new(""), &[("OPENAI_API_KEY", "two words")]),
    )
    .expect_err("no key");
    assert!(
        error.to_string().contains("`OPENAI_API_KEY` holds no key")
            && !error.to_string().contains("two words"),
        "{error}"
    );
    let error = build("type: openai", &around()).expect_err("no model");
    assert!(error.to_string().contains("no model is named"), "{error}");
    let service = Service::start(vec![openai_answer()]);
    let reply = ask(
        &agent(
            &format!(
                "type: openai, model: m, base_url: \"{}\"",
                service.url("/v1")
            ),
            &around(),
        ),
        10.0,
    );
    assert!(
        reply.is_ok() && !service.requests()[0].contains("authorization"),
        "{}",
        service.requests()[0]
    );
}

#[test]
fn a_proxy_of_the_environment_is_used() {
    let proxy = Service::start(vec![refusal(502, "", "no way")]);
    let around = environment(
        Path::new(""),
        &[("HTTPS_PROXY", &proxy.url("/")), ("OPENAI_API_KEY", KEY)],
    );
    fails(
        ask(&agent("type: openai, model: m", &around), 10.0),
        Infra,
        "gave up after 3 tries",
    );
    assert!(
        proxy.requests()[0].starts_with("CONNECT api.openai.com:443 "),
        "{}",
        proxy.requests()[0]
    );
    assert!(
        proxy
            .requests()
            .iter()
            .all(|request| !request.contains(KEY))
    );
}

#[test]
fn agents_of_one_id_keep_to_their_limit_together_and_the_wait_is_not_the_models() {
    let service = Service::start((0..6).map(|_| openai_answer()).collect());
    let around = around();
    let described = format!(
        "type: openai, model: m, base_url: \"{}\", api_key_env: OTHER_KEY, requests_per_minute: 120",
        service.url("/v1")
    );
    // As arms of two models have it: two agents of one environment.
    let agents = [agent(&described, &around), agent(&described, &around)];
    let started = Instant::now();
    let durations: Vec<Duration> = thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|number| {
                let agent = &agents[number % 2];
                scope.spawn(move || agent.answer_prompt(&prompt(20.0), &StopSignal::new()))
            })
            .collect();
        asked
            .into_iter()
            .map(|one| one.join().expect("no panic").expect("an answer"))
            .map(|reply| reply.measured.duration)
            .collect()
    });
    // Two at once, and then one each half second.
    let all = started.elapsed();
    assert!(all >= Duration::from_millis(1_900), "{all:?}");
    let longest = durations.iter().max().expect("six answers");
    assert!(*longest < Duration::from_millis(1_500), "{durations:?}");
}
