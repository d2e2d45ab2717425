//! HTTP requests: limited in time and size, ended by a stop, with the proxy and certificates that the environment names.

use std::fmt;
use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};

use super::environment::AgentEnvironment;
use super::retry::parse_retry_after;
use crate::files;
use crate::process::StopSignal;

/// Maximum size of a response body.
pub const MAX_BODY_BYTES: u64 = 16 << 20;
const MAX_HEADER_BYTES: usize = 64 * 1024;
const MAX_CONNECT: Duration = Duration::from_secs(20);
/// Response headers in which services name their region.
const REGION_HEADERS: [&str; 2] = ["x-ms-region", "x-region"];
const MAX_REGION_CHARACTERS: usize = 80;
/// Interval between checks for a stop.
const STOP_CHECK: Duration = Duration::from_millis(25);

#[derive(Clone)]
pub struct HttpClient {
    agent: ureq::Agent,
}

/// A response with any status.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// The region named in the response, if any.
    pub region: Option<String>,
    pub body: Vec<u8>,
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The connection failed or broke. The next try may work.
    Connection(String),
    /// A connection was made, but the answer did not come in time.
    TimedOut,
    /// Another try will fail as well.
    Hopeless(String),
    Stopped,
}

impl HttpClient {
    /// Prepares requests to `url`.
    ///
    /// # Errors
    ///
    /// Names the environment variable with an unusable value.
    pub fn new(url: &str, environment: &AgentEnvironment) -> Result<Self, String> {
        let proxy = match proxy_for(url, environment) {
            // The message names only the variable: its value may hold a password.
            Some((name, value)) => Some(
                ureq::Proxy::new(value)
                    .map_err(|_| format!("`{name}` is no address of a proxy"))?,
            ),
            None => None,
        };
        let mut config = ureq::Agent::config_builder()
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(MAX_CONNECT))
            .max_response_header_size(MAX_HEADER_BYTES)
            .user_agent(concat!("evalreport/", env!("CARGO_PKG_VERSION")));
        if url.starts_with("https://") {
            config = config.tls_config(
                TlsConfig::builder()
                    .root_certs(trusted_roots(environment)?)
                    .build(),
            );
        }
        Ok(Self {
            agent: config.build().new_agent(),
        })
    }

    /// Sends JSON and waits for the answer, a stop or the end of `wait`.
    pub fn post_json(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
        wait: Duration,
        stop: &StopSignal,
    ) -> Result<HttpResponse, RequestError> {
        let mut request = self
            .agent
            .post(url)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.config().timeout_global(Some(wait)).build();
        let (sender, receiver) = mpsc::channel();
        // A separate thread, because a blocking read ends only at its time-out. After a stop, the thread lives on until then.
        let started = thread::Builder::new().spawn(move || {
            let answer = request
                .send(&body[..])
                .map_err(|error| classify_error(&error))
                .and_then(receive_response);
            // After a stop nobody receives this.
            let _ = sender.send(answer);
        });
        started.map_err(|error| {
            RequestError::Hopeless(format!("no thread can be started for the request: {error}"))
        })?;
        let last = Instant::now() + wait + Duration::from_secs(1);
        loop {
            if stop.is_stopped() {
                return Err(RequestError::Stopped);
            }
            match receiver.recv_timeout(STOP_CHECK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if Instant::now() < last => {}
                Err(RecvTimeoutError::Timeout) => return Err(RequestError::TimedOut),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RequestError::Hopeless(
                        "the request came to no end".to_owned(),
                    ));
                }
            }
        }
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Client")
    }
}

fn receive_response(
    mut response: ureq::http::Response<ureq::Body>,
) -> Result<HttpResponse, RequestError> {
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    let retry_after =
        header("retry-after").and_then(|value| parse_retry_after(value, header("date")));
    let region = REGION_HEADERS
        .iter()
        .find_map(|name| header(name))
        .map(|region| region.chars().take(MAX_REGION_CHARACTERS).collect());
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let read = response
        .body_mut()
        .as_reader()
        .take(MAX_BODY_BYTES + 1)
        .read_to_end(&mut body);
    read.map_err(|error| classify_error(&ureq::Error::from(error)))?;
    if body.len() as u64 > MAX_BODY_BYTES {
        return Err(RequestError::Hopeless(format!(
            "the response is larger than {} MiB",
            MAX_BODY_BYTES >> 20
        )));
    }
    Ok(HttpResponse {
        status,
        retry_after,
        region,
        body,
    })
}

fn classify_error(error: &ureq::Error) -> RequestError {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            RequestError::Connection("no connection in time".to_owned())
        }
        ureq::Error::Timeout(_) => RequestError::TimedOut,
        ureq::Error::Io(error) if error.kind() == ErrorKind::TimedOut => RequestError::TimedOut,
        ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => {
            RequestError::Hopeless(format!("no secure connection: {error}"))
        }
        ureq::Error::Io(error) => RequestError::Connection(error.to_string()),
        ureq::Error::HostNotFound => RequestError::Connection("the host was not found".to_owned()),
        ureq::Error::ConnectionFailed
        | ureq::Error::ConnectProxyFailed(_)
        | ureq::Error::Protocol(_)
        | ureq::Error::BodyStalled => RequestError::Connection(error.to_string()),
        // The foreign enum may gain variants. Only errors known to be temporary are retried.
        _ => RequestError::Hopeless(error.to_string()),
    }
}

/// Returns the certificates to trust: those of `SSL_CERT_FILE` if set, else the system's, else Mozilla's.
fn trusted_roots(environment: &AgentEnvironment) -> Result<RootCerts, String> {
    let certificates: Vec<Certificate<'static>> = match environment.variable("SSL_CERT_FILE") {
        Some(path) => {
            let shown = crate::domain::escape_invisible(path);
            let text = files::read(path).map_err(|error| {
                format!("`SSL_CERT_FILE` names `{shown}`, which cannot be read: {error}")
            })?;
            let certificates: Vec<_> = ureq::tls::parse_pem(&text)
                .filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(certificate),
                    // Bundles also hold comments, keys and other blocks.
                    Ok(_) | Err(_) => None,
                })
                .collect();
            if certificates.is_empty() {
                return Err(format!(
                    "`SSL_CERT_FILE` names `{shown}`, which holds no certificate"
                ));
            }
            certificates
        }
        None => rustls_native_certs::load_native_certs()
            .certs
            .iter()
            .map(|found| Certificate::from_der(found).to_owned())
            .collect(),
    };
    Ok(if certificates.is_empty() {
        RootCerts::WebPki
    } else {
        RootCerts::new_with_certs(&certificates)
    })
}

/// Returns the variable that names the proxy for `url`, and its value. Local addresses never use a proxy.
fn proxy_for<'a>(url: &str, environment: &'a AgentEnvironment) -> Option<(&'static str, &'a str)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let (host, port) = match authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or_default()),
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let host = host.to_lowercase();
    let is_local = host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host.starts_with("127.");
    let no_proxy = ["no_proxy", "NO_PROXY"]
        .iter()
        .find_map(|name| environment.variable(name))
        .unwrap_or_default();
    if is_local || is_proxy_exception(&host, port, no_proxy) {
        return None;
    }
    let names: &[&'static str] = if scheme == "https" {
        &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    } else {
        &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
    };
    names
        .iter()
        .find_map(|name| Some((*name, environment.variable(name)?)))
}

/// Returns whether a list such as `example.org,.internal,10.0.0.1:8080` contains the host or a domain above it.
fn is_proxy_exception(host: &str, port: &str, list: &str) -> bool {
    list.split([',', ' '])
        .map(|entry| entry.trim().to_lowercase())
        .filter(|entry| !entry.is_empty())
        .any(|entry| {
            let (name, wanted) = entry
                .rsplit_once(':')
                .filter(|(name, _)| !name.contains(':'))
                .unwrap_or((&entry, ""));
            let domain = name.trim_start_matches("*.").trim_start_matches('.');
            let is_host = name == "*"
                || host == domain
                || host
                    .strip_suffix(domain)
                    .is_some_and(|before| before.ends_with('.'));
            is_host && (wanted.is_empty() || wanted == port)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> AgentEnvironment {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        AgentEnvironment {
            variables,
            ..AgentEnvironment::default()
        }
    }

    #[test]
    fn the_proxy_is_the_one_of_the_scheme_unless_excepted() {
        let around = environment(&[
            ("HTTPS_PROXY", "s"),
            ("http_proxy", "h"),
            ("NO_PROXY", "example.org, .internal,10.0.0.1:81,*.wild.net"),
        ]);
        let value = |url: &str| proxy_for(url, &around).map(|(_, value)| value);
        assert_eq!(value("https://api.example.com/v1"), Some("s"));
        assert_eq!(value("http://api.example.com:80"), Some("h"));
        for url in [
            "https://example.org",
            "https://api.example.org:8443/x",
            "https://a.internal",
            "http://10.0.0.1:81",
            "https://x.wild.net",
            "http://localhost:1",
            "http://127.0.0.1:8",
            "http://[::1]:9/v1",
        ] {
            assert_eq!(value(url), None, "{url}");
        }
        assert_eq!(value("https://notexample.org"), Some("s"));
        assert_eq!(value("http://10.0.0.1:82"), Some("h"));
        assert_eq!(
            proxy_for("http://a.b", &environment(&[("ALL_PROXY", "x")])),
            Some(("ALL_PROXY", "x"))
        );
        assert_eq!(
            proxy_for(
                "http://a.b",
                &environment(&[("ALL_PROXY", "x"), ("no_proxy", "*")])
            ),
            None
        );
    }

    #[test]
    fn what_the_environment_gets_wrong_is_named_without_its_value() {
        let error = HttpClient::new(
            "https://a.b",
            &environment(&[("HTTPS_PROXY", "ftp://user:hunter2@host")]),
        )
        .expect_err("no such proxy");
        assert!(
            error.contains("`HTTPS_PROXY`") && !error.contains("hunter2"),
            "{error}"
        );
        let error = HttpClient::new(
            "https://a.b",
            &environment(&[("SSL_CERT_FILE", "/no/such/file")]),
        )
        .expect_err("no such file");
        assert!(
            error.contains("`SSL_CERT_FILE` names `/no/such/file`"),
            "{error}"
        );
    }
}
