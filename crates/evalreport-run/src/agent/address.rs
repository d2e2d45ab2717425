//! Parses the addresses of APIs: the host, and the region where the provider serves the model.

/// First words of region names.
const REGION_PREFIXES: [&str; 20] = [
    "af",
    "ap",
    "asia",
    "australia",
    "australiaeast",
    "ca",
    "cn",
    "eastus",
    "eu",
    "europe",
    "francecentral",
    "il",
    "me",
    "mx",
    "northamerica",
    "sa",
    "southamerica",
    "swedencentral",
    "us",
    "westus",
];

/// Returns the host of an address, without port, user name and password.
pub fn url_host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    match authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, _)) => host,
        None => authority
            .split_once(':')
            .map_or(authority, |(host, _)| host),
    }
}

/// Returns the region named in a host, such as `us-east-1` in `bedrock-runtime.us-east-1.amazonaws.com`.
pub fn region_in(url: &str) -> Option<String> {
    let labels = url_host(url)
        .split('.')
        .map(|label| label.strip_suffix("-aiplatform").unwrap_or(label));
    let mut regions = labels.filter(|label| {
        let mut words = label.split('-');
        let (first, last) = (words.next().unwrap_or_default(), words.next_back());
        let is_numbered = last.is_some_and(|last| last.ends_with(|end: char| end.is_ascii_digit()));
        let is_named = last.is_none()
            && first.len() > 4
            && REGION_PREFIXES.contains(&first.trim_end_matches(|end: char| end.is_ascii_digit()));
        is_named || (is_numbered && REGION_PREFIXES.contains(&first))
    });
    regions.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_regions_are_read_from_addresses() {
        for (url, name, region) in [
            ("https://api.openai.com/v1", "api.openai.com", None),
            (
                "https://bedrock-runtime.us-east-1.amazonaws.com/x",
                "bedrock-runtime.us-east-1.amazonaws.com",
                Some("us-east-1"),
            ),
            (
                "https://europe-west4-aiplatform.googleapis.com:443/v1",
                "europe-west4-aiplatform.googleapis.com",
                Some("europe-west4"),
            ),
            (
                "https://mine.eastus2.inference.example.com",
                "mine.eastus2.inference.example.com",
                Some("eastus2"),
            ),
            ("http://user:word@localhost:8080/v1", "localhost", None),
            ("http://[::1]:9/v1", "::1", None),
            ("http://api-v1.example.com", "api-v1.example.com", None),
            ("", "", None),
        ] {
            assert_eq!(
                (url_host(url), region_in(url).as_deref()),
                (name, region),
                "{url}"
            );
        }
    }
}
