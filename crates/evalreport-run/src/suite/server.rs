//! The server of a suite that is tested over the network.

use std::time::Duration;

use super::text::read_nonblank;
use crate::document::{Fields, duration, quote_text};

/// Longest wait for a server, if the suite names none.
pub const DEFAULT_STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

/// Placeholder for a free port.
const PORT_PLACEHOLDER: &str = "{port}";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// A shell command; `{port}` stands for a free port.
    pub command: String,
    /// A URL that answers once the server is ready. May hold `{port}`.
    pub health_check: Option<String>,
    pub startup_timeout: Option<Duration>,
}

pub(super) fn read_server(fields: &mut Fields) -> Option<ServerSettings> {
    let mut fields = fields.fields("server")?;
    let command = fields.required_text("command");
    let health_check = read_nonblank(&mut fields, "health_check");
    if let Some(address) = &health_check {
        let path = quote_text(&fields.path_of("health_check"));
        if !["http://", "https://"]
            .iter()
            .any(|scheme| address.starts_with(scheme))
        {
            let hint = format!("write http://localhost:{PORT_PLACEHOLDER}/health");
            fields.reject(
                "health_check",
                format!(
                    "{path} must be an http address, not {}",
                    quote_text(address)
                ),
                Some(hint),
            );
        } else if command
            .as_ref()
            .is_some_and(|command| command.contains(PORT_PLACEHOLDER))
            && !address.contains(PORT_PLACEHOLDER)
        {
            let hint = format!("write `{PORT_PLACEHOLDER}` for the port in the health check too");
            fields.reject(
                "health_check",
                format!("{path} asks a fixed port, but the command uses a free one"),
                Some(hint),
            );
        }
    }
    let startup_timeout = duration::read_duration(&mut fields, "startup_timeout");
    fields.finish();
    Some(ServerSettings {
        command: command?,
        health_check,
        startup_timeout,
    })
}
