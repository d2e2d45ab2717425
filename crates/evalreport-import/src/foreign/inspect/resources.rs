//! What a log says of the resources of its run: how many samples went on at once, where the model's API was, and the limits of the sandbox.

use serde_json::Value;

use crate::domain::Resources;

use super::super::json::{to_amount, to_count, to_text};
use super::super::sink::clip_text;
use super::wire::InspectEval;

/// Characters of a host's name.
const MAX_CHARS: usize = 200;

/// Returns `None` if the log says nothing.
pub(super) fn eval_resources(eval: &InspectEval) -> Option<Resources> {
    let service = default_service(&eval.sandbox);
    let limit =
        |short: &str, long: &str| service.and_then(|service| service_limit(service, short, long));
    let resources = Resources {
        jobs: eval.config.get("max_samples").and_then(to_count),
        provider: to_text(&eval.model_base_url).and_then(|url| url_host(&url)),
        cpu_limit: limit("cpus", "cpus")
            .and_then(to_amount)
            .and_then(round_up_cpus),
        memory_limit: limit("mem_limit", "memory")
            .and_then(to_text)
            .and_then(|size| parse_size(&size)),
        ..Resources::default()
    };
    (resources != Resources::default()).then_some(resources)
}

/// Returns the service of a sandbox's inline Compose configuration in which the samples run: the last that says `x-default: true`, else the
/// one named `default`, as Inspect's Docker sandbox chooses. A configuration in a file is not in the log.
fn default_service(sandbox: &Value) -> Option<&Value> {
    let config = sandbox.get("config").or_else(|| sandbox.get(1))?;
    let services = config.get("services")?.as_object()?;
    let is_default = |service: &&Value| service.get("x-default") == Some(&Value::Bool(true));
    services
        .values()
        .rfind(is_default)
        .or_else(|| services.get("default"))
}

/// Returns a limit of a service by the short key, or by the one under `deploy.resources.limits` for which it stands.
fn service_limit<'a>(service: &'a Value, short: &str, long: &str) -> Option<&'a Value> {
    let of_service = service.get(short).filter(|value| !value.is_null());
    of_service.or_else(|| service.pointer("/deploy/resources/limits")?.get(long))
}

/// Returns the host of an address, without its port.
fn url_host(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| port.chars().all(|digit| digit.is_ascii_digit()))
        .map_or(host, |(host, _)| host);
    (!host.is_empty()).then(|| clip_text(host, MAX_CHARS).into_owned())
}

/// Returns a number of processors, rounded up: part of one is still one to run on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a small count"
)]
fn round_up_cpus(cpus: f64) -> Option<u64> {
    (cpus > 0.0 && cpus < 1e6).then(|| cpus.ceil() as u64)
}

/// Parses a size as Compose files write it: a number with `k`, `m`, `g`, `t` or `p`, and perhaps `b` or `ib` behind, in powers of 1024.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a count that is exact"
)]
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim();
    let unit = unit
        .strip_suffix("ib")
        .or_else(|| unit.strip_suffix('b'))
        .unwrap_or(unit);
    let power = ["", "k", "m", "g", "t", "p"]
        .iter()
        .position(|letter| *letter == unit)?;
    let size = number.parse::<f64>().ok()? * (1_u64 << (10 * power)) as f64;
    (1.0..9e15).contains(&size).then_some(size as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_says_what_its_samples_had() {
        let eval = |more: Value| serde_json::from_value::<InspectEval>(more).expect("an object");
        let service =
            json!({"services": {"default": {"cpus": 1.5, "mem_limit": "2gb"}, "web": {"cpus": 8}}});
        let full = eval(json!({
            "config": {"max_samples": 4}, "model_base_url": "https://user:pw@api.example.org:8443/v1?x=1",
            "sandbox": {"type": "docker", "config": service},
        }));
        let got = eval_resources(&full).expect("resources");
        assert_eq!(
            (got.jobs, got.cpu_limit, got.memory_limit),
            (Some(4), Some(2), Some(2 << 30))
        );
        assert_eq!(got.provider.as_deref(), Some("api.example.org"));
        // Older logs have a pair, and most a file's name.
        let pair = eval(json!({"sandbox": ["docker", service]}));
        assert_eq!(eval_resources(&pair).and_then(|got| got.cpu_limit), Some(2));
        // As Inspect 0.3.285 writes a configuration with a service that is marked, and limits in their long form.
        let limits = json!({"cpus": "1.5", "memory": "2GiB"});
        let agent = json!({"image": "python:3.12", "deploy": {"resources": {"limits": limits}}, "x-default": true});
        let config = json!({"services": {"web": {"image": "nginx", "cpus": 8.0}, "agent": agent, "default": {"cpus": 4.0}}});
        let got = eval_resources(&eval(
            json!({"sandbox": {"type": "docker", "config": config}}),
        ))
        .expect("resources");
        assert_eq!((got.cpu_limit, got.memory_limit), (Some(2), Some(2 << 30)));
        for none in [
            json!({}),
            json!({"sandbox": {"type": "docker", "config": "compose.yaml"}}),
            json!({"sandbox": ["docker", "compose.yaml"]}),
        ] {
            assert_eq!(eval_resources(&eval(none.clone())), None, "{none}");
        }
    }

    #[test]
    fn sizes_of_compose_files() {
        let sizes = ["512m", "1.5 GB", "1024", "64k", "2b", "2t", "1 GiB", "3MiB"].map(parse_size);
        let expected = [
            512 << 20,
            3 << 29,
            1024,
            64 << 10,
            2,
            2 << 40,
            1 << 30,
            3 << 20,
        ];
        assert_eq!(sizes, expected.map(Some));
        assert_eq!(
            ["", "-1", "x", "0", "2e", "2 b b"].map(parse_size),
            [None; 6]
        );
    }
}
