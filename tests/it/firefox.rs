//! Firefox, driven over its own protocol, Marionette: messages of `LENGTH:[type, id, name, parameters]` on a socket.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs::{BrowserPlace, LONG_PATIENCE, PATIENCE, Program, Start as _};

/// As a user has it, but for what would ask others and for the port: pages of `file:` are strangers to each other, and policies hold.
const PREFERENCES: &str = "user_pref('marionette.port', 0);\n\
    user_pref('security.fileuri.strict_origin_policy', true);\n\
    user_pref('security.csp.enable', true);\n\
    user_pref('app.update.auto', false);\n\
    user_pref('browser.safebrowsing.update.enabled', false);\n\
    user_pref('browser.shell.checkDefaultBrowser', false);\n\
    user_pref('datareporting.policy.dataSubmissionEnabled', false);\n\
    user_pref('network.captive-portal-service.enabled', false);\n\
    user_pref('network.connectivity-service.enabled', false);\n\
    user_pref('toolkit.telemetry.reportingpolicy.firstRun', false);\n";

/// A headless Firefox with a profile of its own; closed when dropped.
pub struct Firefox {
    _program: Program,
    _place: BrowserPlace,
    stream: BufReader<TcpStream>,
    messages: u64,
    /// Firefox writes to it up to its end, so it goes last.
    _profile: tempfile::TempDir,
}

impl Firefox {
    /// Starts it with a session.
    pub fn start() -> Self {
        let place = BrowserPlace::take();
        let profile = tempfile::tempdir().expect("a temporary folder");
        fs::write(profile.path().join("user.js"), PREFERENCES).expect("a writable folder");
        let program = Command::new("firefox-esr")
            .args([
                "--headless",
                "--marionette",
                "--no-remote",
                "--remote-allow-system-access",
                "--profile",
            ])
            .arg(profile.path())
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .start_for(LONG_PATIENCE);
        let port = awaited(|| {
            fs::read_to_string(profile.path().join("MarionetteActivePort"))
                .ok()?
                .trim()
                .parse::<u16>()
                .ok()
        });
        let stream = awaited(|| TcpStream::connect(("127.0.0.1", port)).ok());
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let mut firefox = Self {
            _program: program,
            _place: place,
            stream: BufReader::new(stream),
            messages: 0,
            _profile: profile,
        };
        let greeting = firefox.read();
        assert_eq!(greeting["marionetteProtocol"], 3, "{greeting}");
        firefox.call(
            "WebDriver:NewSession",
            &json!({"acceptInsecureCerts": false}),
        );
        firefox
    }

    pub fn open(&mut self, url: &str) {
        self.call("WebDriver:Navigate", &json!({"url": url}));
    }

    /// Runs a function body in the page, past its content security policy, and returns what it returns.
    pub fn evaluate(&mut self, script: &str) -> Value {
        self.call(
            "WebDriver:ExecuteScript",
            &json!({"script": script, "args": []}),
        )["value"]
            .clone()
    }

    /// Returns the console's warnings and errors since the last call, refused content among them.
    pub fn complaints(&mut self) -> Vec<String> {
        let of_pages = "const found = Services.console.getMessageArray()
                .filter(one => one instanceof Ci.nsIScriptError && (one.flags & Ci.nsIScriptError.infoFlag) === 0)
                .filter(one => /^(file|http):/.test(one.sourceName) || /Security/.test(one.category))
                .map(one => one.category + ': ' + one.errorMessage + ' ' + one.sourceName);
            Services.console.reset();
            return found;";
        self.call("Marionette:SetContext", &json!({"value": "chrome"}));
        let found = self.evaluate(of_pages);
        self.call("Marionette:SetContext", &json!({"value": "content"}));
        found
            .as_array()
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect()
    }

    fn call(&mut self, name: &str, parameters: &Value) -> Value {
        self.messages += 1;
        let message = json!([0, self.messages, name, parameters]).to_string();
        let stream = self.stream.get_mut();
        write!(stream, "{}:{message}", message.len()).expect("Firefox reads");
        let mut answer = self.read();
        assert!(answer[2].is_null(), "{name}: {}", answer[2]);
        answer[3].take()
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).expect("Firefox answers");
            match byte[0] {
                b':' => break,
                digit => length = length * 10 + usize::from(digit - b'0'),
            }
        }
        let mut message = vec![0; length];
        self.stream
            .read_exact(&mut message)
            .expect("a whole message");
        serde_json::from_slice(&message).expect("JSON")
    }
}

/// Asks again until there is something: Firefox needs seconds to begin.
fn awaited<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "Firefox did not begin");
        std::thread::sleep(Duration::from_millis(50));
    }
}
