//! Recognises failures of the service behind a program, not of the program: outages, used-up quotas, refused keys.

/// Lower-case phrases with which services and their programs report an outage or a used-up quota.
const OUTAGE_PHRASES: [&str; 32] = [
    "usage limit reached",
    "reached your usage limit",
    "hit your usage limit",
    "hit your limit",
    "hour limit reached",
    "weekly limit reached",
    "session limit reached",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "quota exceeded",
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "overloaded_error",
    "server is overloaded",
    "api error: 5",
    "api error (connection error",
    "service unavailable",
    "stream disconnected before completion",
    "exceeded retry limit",
    "unexpected status 403",
    "unexpected status 404",
    "unexpected status 429",
    "unexpected status 5",
    "model is at capacity",
    "resource_exhausted",
    "resource has been exhausted",
    "exhausted your daily quota",
    "exhausted your capacity",
    "please set an auth method",
];
/// Lower-case phrases that mean the next prompt will fail too: the service refuses the key, the account or the model, or there is no key.
const REFUSAL_PHRASES: [&str; 54] = [
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
    "authentication_error",
    "authentication_failed",
    "api key not valid",
    "api error: 401",
    "unexpected status 401",
    "\"status\":\"unauthenticated\"",
    "please run /login",
    "not logged in",
    "model_not_found",
    "model not found",
    "unknown model",
    "invalid model name",
    "issue with the selected model",
    "does not exist or you do not have access",
    "is not found for api version",
    "requested entity was not found",
    "invalid x-api-key",
    "invalid subscription key",
    "401 unauthorized",
    "401 client error",
    "error code: 401",
    "status code 401",
    "status code: 401",
    "error: 401",
    "http 401",
    "403 forbidden",
    "403 client error",
    "error code: 403",
    "status code 403",
    "status code: 403",
    "api error: 403",
    "error: 403",
    "http 403",
    "no auth credentials found",
    "could not resolve authentication method",
    "api_key environment variable not set",
    "api_key environment variable is not set",
    "api_key is not set",
    "api_key must be set",
    "api_key client option must be set",
    "no api key found",
    "missing api key",
    "unrecognizedclientexception",
    "security token included in the request is invalid",
    "unable to locate credentials",
    "model identifier is invalid",
    "not a valid model id",
    "not_found_error', 'message': 'model:",
    "not_found_error\",\"message\":\"model:",
    "deploymentnotfound",
    "not found, try pulling it first",
];
/// The HTTP statuses of refusals.
const REFUSED_STATUSES: [u16; 3] = [401, 403, 404];
/// Only the end of the output is searched. Earlier in it, the model may have written about limits.
const TAIL_BYTES: usize = 4096;

/// Returns whether the end of a *failed* program's or request's output reports a service failure, including refusals. Never call it on a
/// successful answer: the answer may discuss rate limits.
pub fn is_outage(text: &str) -> bool {
    tail_contains(text, &OUTAGE_PHRASES) || is_refusal(text)
}

/// Returns whether an HTTP status means that the service, the account or the model failed.
pub fn is_outage_status(status: u64) -> bool {
    matches!(status, 401..=404 | 408 | 429 | 500..=599)
}

/// Returns whether the end of a failed program's or request's output means that the next prompt will fail too.
pub fn is_refusal(text: &str) -> bool {
    tail_contains(text, &REFUSAL_PHRASES)
}

/// Returns the HTTP status with which a refusal says that the key, the account or the model is refused. `None` if it states none.
pub fn refused_status(text: &str) -> Option<u16> {
    tail(text)
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter_map(|word| word.parse().ok())
        .find(|status| REFUSED_STATUSES.contains(status))
}

fn tail_contains(text: &str, phrases: &[&str]) -> bool {
    let tail = tail(text).to_lowercase();
    phrases.iter().any(|phrase| tail.contains(phrase))
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL_BYTES))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_are_told_from_crashes() {
        for text in [
            "Claude AI usage limit reached|1749924000",
            "You've hit your limit · resets 3pm",
            "5-hour limit reached ∙ resets 5pm",
            "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
            "API Error: 529 overloaded",
            "HTTP 429 Too Many Requests",
            "Credit balance is too low",
            "Invalid API key · Please run /login",
            "stream disconnected before completion: error sending request",
            "exceeded retry limit, last status: 429 Too Many Requests",
            "unexpected status 503 Service Unavailable: {}",
            "Selected model is at capacity. Please try a different model.",
            "You have exhausted your daily quota on this model.",
            "API key not valid. Please pass a valid API key.",
        ] {
            assert!(is_outage(text), "{text}");
        }
        for text in [
            "",
            "Traceback (most recent call last):",
            "ValueError: limit",
            "unexpected status of the order",
            &format!("rate limit{}", "ü".repeat(4096)),
        ] {
            assert!(!is_outage(text), "{text}");
        }
    }

    #[test]
    fn refusals_are_told_from_what_passes() {
        for text in [
            "Invalid API key · Please run /login",
            "API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}",
            "There's an issue with the selected model (nope). It may not exist",
            "{\"code\": \"model_not_found\"}",
            "status 401, authentication_failed",
            "The model `nope` does not exist or you do not have access to it.",
            "[API Error: models/nope is not found for API version v1beta, or is not supported for generateContent.]",
            "API key not valid. Please pass a valid API key.",
            "unexpected status 401 Unauthorized: Incorrect",
            "anthropic.AuthenticationError: Error code: 401 - {'type': 'error', 'error': {'type': 'authentication_error'}}",
            "anthropic.NotFoundError: Error code: 404 - {'type': 'error', 'error': {'type': 'not_found_error', 'message': 'model: claude-9'}}",
            "API error 404: {\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: claude-9\"}}",
            "Error: HTTP 401 Unauthorized",
            "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://api.example.org/v1/chat",
            "openai.PermissionDeniedError: Error code: 403 - {'error': {'message': 'no access'}}",
            "Error: 401 invalid x-api-key",
            "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.org/v1/chat",
            "Error: model \"foo\" not found, try pulling it first",
            "{\"error\":{\"message\":\"No auth credentials found\",\"code\":401}}",
            "{\"error\":{\"message\":\"foo/bar is not a valid model ID\",\"code\":400}}",
            "Error: 401 Access denied due to invalid subscription key or wrong API endpoint.",
            "Error code: 404 - {'error': {'code': 'DeploymentNotFound', 'message': 'The API deployment does not exist.'}}",
            "An error occurred (UnrecognizedClientException): The security token included in the request is invalid.",
            "botocore.errorfactory.ValidationException: The provided model identifier is invalid.",
            "error: ANTHROPIC_API_KEY environment variable not set",
            "The api_key client option must be set either by passing api_key to the client or by setting OPENAI_API_KEY",
        ] {
            assert!(is_refusal(text) && is_outage(text), "{text}");
        }
        for text in [
            "",
            "You've hit your limit",
            "API Error: 529 overloaded",
            "the model was not found wanting",
            "AssertionError: expected 401, got 200",
            "{'type': 'not_found_error', 'message': 'file: a.txt'}",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
    }

    #[test]
    fn refusals_state_their_status_or_none() {
        for (text, status) in [
            ("API Error: 401 {\"type\":\"error\"}", Some(401)),
            (
                "openai.PermissionDeniedError: Error code: 403 - {'error': {}}",
                Some(403),
            ),
            ("Invalid API key · Please run /login", None),
            ("model_not_found after 4010 ms", None),
        ] {
            assert_eq!(refused_status(text), status, "{text}");
        }
    }
}
