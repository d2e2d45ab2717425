//! Where an engine is.

use std::fmt;

use crate::domain::escape_invisible;

/// The address of an Arrow Flight SQL server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineAddress {
    /// As it is shown.
    text: String,
    /// Host and port.
    authority: String,
    pub(super) is_tls: bool,
    /// Whether the server is on this machine.
    pub(super) is_here: bool,
}

impl EngineAddress {
    /// Reads `grpc://HOST:PORT` or `grpc+tls://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = escape_invisible(text);
        let wrong = |why: &str| Err(format!("`{shown}` is no address of an engine: {why}"));
        let (is_tls, authority) = match text.split_once("://") {
            Some(("grpc" | "grpc+tcp", rest)) => (false, rest),
            Some(("grpc+tls", rest)) => (true, rest),
            _ => return wrong("write grpc://HOST:PORT or grpc+tls://HOST:PORT"),
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        if authority.contains('@') {
            // Not shown: there may be a password in it.
            return Err("the address of an engine has no user or password; give a token by EVALREPORT_ENGINE_TOKEN".to_owned());
        }
        if authority.contains(['/', '?', '#'])
            || !authority.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return wrong("only a host and a port belong there");
        }
        let Some((host, _)) = authority
            .rsplit_once(':')
            .filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
        else {
            return wrong("the port is missing");
        };
        let host = host.to_lowercase();
        let is_here = host == "localhost"
            || host == "[::1]"
            || host
                .parse::<std::net::Ipv4Addr>()
                .is_ok_and(|address| address.is_loopback());
        Ok(Self {
            text: shown,
            authority: authority.to_owned(),
            is_tls,
            is_here,
        })
    }

    /// Returns the address in the form that HTTP/2 uses.
    pub(super) fn uri(&self) -> String {
        format!(
            "{}://{}",
            if self.is_tls { "https" } else { "http" },
            self.authority
        )
    }
}

impl fmt::Display for EngineAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_port() {
        let parsed =
            |text: &str| EngineAddress::parse(text).map(|address| (address.uri(), address.is_here));
        assert_eq!(
            parsed("grpc://127.0.0.1:32010"),
            Ok(("http://127.0.0.1:32010".to_owned(), true))
        );
        assert_eq!(
            parsed("grpc+tls://Engine.example:443/"),
            Ok(("https://Engine.example:443".to_owned(), false))
        );
        assert_eq!(
            parsed("grpc://[::1]:1"),
            Ok(("http://[::1]:1".to_owned(), true))
        );
        // A name that begins like a loopback address is not one.
        assert_eq!(
            parsed("grpc://127.0.0.1.example:1"),
            Ok(("http://127.0.0.1.example:1".to_owned(), false))
        );
        for wrong in [
            "",
            "grpc://",
            "grpc://host",
            "grpc://:1",
            "grpc://host:99999",
            "http://host:1",
            "grpc://host:1/db",
            "grpc://h ost:1",
        ] {
            assert!(EngineAddress::parse(wrong).is_err(), "{wrong}");
        }
        let secret = EngineAddress::parse("grpc://me:hunter2@host:1").expect_err("no password");
        assert!(!secret.contains("hunter2"), "{secret}");
    }
}
