//! What a log says of the resources of its run: how many samples went on at once, where the model's API was, and the limits of the sandbox.

use serde_json::Value;

use crate::domain::Resources;

use super::super::json::{amount, count, text};
use super::super::sink::clip;
use super::wire::Eval;

/// Characters of a host's name.
const MOST_CHARS: usize = 200;

/// Returns `None` if the log says nothing.
pub(super) fn resources_of(eval: &Eval) -> Option<Resources> {
    let service = of_default_service(&eval.sandbox);
    let resources = Resources {
        jobs: eval.config.get("max_samples").and_then(count),
        provider: text(&eval.model_base_url).and_then(|url| host_of(&url)),
        cpu_limit: service.and_then(|service| whole(amount(service.get("cpus")?)?)),
        memory_limit: service.and_then(|service| bytes(&text(service.get("mem_limit")?)?)),
        ..Resources::default()
    };
    (resources != Resources::default()).then_some(resources)
}

/// Returns the service of a sandbox's inline Compose configuration in which the samples run. A configuration in a file is not in the log.
fn of_default_service(sandbox: &Value) -> Option<&Value> {
    let config = sandbox.get("config").or_else(|| sandbox.get(1))?;
    config.get("services")?.get("default")
}

/// Returns the host of an address, without its port.
fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|digit| digit.is_ascii_digit())).map_or(host, |(host, _)| host);
    (!host.is_empty()).then(|| clip(host, MOST_CHARS).into_owned())
}

/// Returns a number of processors, rounded up: part of one is still one to run on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small count")]
fn whole(cpus: f64) -> Option<u64> {
    (cpus > 0.0 && cpus < 1e6).then(|| cpus.ceil() as u64)
}

/// Parses a size as Compose files write it: a number with `b`, `k`, `m` or `g`, or the same with `b` behind, in powers of 1024.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a count that is exact")]
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "b" => 1.0,
        "k" | "kb" => f64::from(1 << 10),
        "m" | "mb" => f64::from(1 << 20),
        "g" | "gb" => f64::from(1 << 30),
        _ => return None,
    };
    let size = number.parse::<f64>().ok()? * factor;
    (1.0..9e15).contains(&size).then_some(size as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_says_what_its_samples_had() {
        let eval = |more: Value| serde_json::from_value::<Eval>(more).expect("an object");
        let service = json!({"services": {"default": {"cpus": 1.5, "mem_limit": "2gb"}, "web": {"cpus": 8}}});
        let full = eval(json!({
            "config": {"max_samples": 4}, "model_base_url": "https://user:pw@api.example.org:8443/v1?x=1",
            "sandbox": {"type": "docker", "config": service},
        }));
        let got = resources_of(&full).expect("resources");
        assert_eq!((got.jobs, got.cpu_limit, got.memory_limit), (Some(4), Some(2), Some(2 << 30)));
        assert_eq!(got.provider.as_deref(), Some("api.example.org"));
        // Older logs have a pair, and most a file's name.
        let pair = eval(json!({"sandbox": ["docker", service]}));
        assert_eq!(resources_of(&pair).and_then(|got| got.cpu_limit), Some(2));
        for none in
            [json!({}), json!({"sandbox": {"type": "docker", "config": "compose.yaml"}}), json!({"sandbox": ["docker", "compose.yaml"]})]
        {
            assert_eq!(resources_of(&eval(none.clone())), None, "{none}");
        }
    }

    #[test]
    fn sizes_of_compose_files() {
        let sizes = ["512m", "1.5 GB", "1024", "64k", "2b", "", "-1", "2t", "x", "0"].map(bytes);
        assert_eq!(sizes, [Some(512 << 20), Some(3 << 29), Some(1024), Some(64 << 10), Some(2), None, None, None, None, None]);
    }
}
