//! A real browser, driven over WebDriver: just the calls the site's checks need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{BrowserPlace, LONG_PATIENCE, PATIENCE, Program, Start as _};

/// A family of fonts, and how the names of its files begin.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    files: &'static str,
}

/// Tall: its lines' boxes are 1.36 times the size.
pub const NOTO: Family = Family {
    name: "Noto Sans",
    files: "NotoSans-",
};
/// Flat: 1.15 times.
pub const LIBERATION: Family = Family {
    name: "Liberation Sans",
    files: "LiberationSans-",
};

impl Family {
    /// Returns the folder with its files, if it is installed.
    pub fn folder(self) -> Option<PathBuf> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let of_user = home
            .iter()
            .flat_map(|home| [home.join(".fonts"), home.join(".local/share/fonts")]);
        let mut folders: Vec<PathBuf> = ["/usr/share/fonts", "/usr/local/share/fonts"]
            .map(PathBuf::from)
            .into_iter()
            .chain(of_user)
            .collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_name() == *format!("{}Regular.ttf", self.files) {
                    return Some(folder);
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
        None
    }

    /// The settings of a machine that has this family and no other, whatever else this one has.
    fn settings(self, folder: &Path, cache: &Path) -> String {
        format!(
            "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig><dir>{}</dir><cachedir>{}</cachedir><selectfont>\
             <acceptfont><glob>*/{}*</glob></acceptfont><rejectfont><glob>*</glob></rejectfont></selectfont></fontconfig>",
            folder.display(),
            cache.display(),
            self.files
        )
    }
}

/// A headless Chromium with a profile of its own; closed when dropped.
pub struct Browser {
    _driver: Program,
    _place: BrowserPlace,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    /// Starts chromedriver and a session.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts it as on a machine whose only fonts are those of a family.
    pub fn start_in(family: Family) -> Self {
        let folder = family.folder().expect("the test needs this family");
        let browser = Self::start_with(Some((family, folder)));
        browser.open_address("data:text/html,<p>Overview</p>");
        browser.devtools("DOM.enable", &json!({}));
        browser.devtools("CSS.enable", &json!({}));
        let root = browser.devtools("DOM.getDocument", &json!({}))["root"]["nodeId"].clone();
        let node = browser.devtools(
            "DOM.querySelector",
            &json!({"nodeId": root, "selector": "p"}),
        )["nodeId"]
            .clone();
        let used = browser.devtools("CSS.getPlatformFontsForNode", &json!({"nodeId": node}));
        assert_eq!(used["fonts"][0]["familyName"], family.name, "{used}");
        browser
    }

    fn start_with(family: Option<(Family, PathBuf)>) -> Self {
        let place = BrowserPlace::take();
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("chromedriver");
        if let Some((family, folder)) = family {
            let file = profile.path().join("fonts.conf");
            std::fs::write(
                &file,
                family.settings(&folder, &profile.path().join("fonts")),
            )
            .expect("a writable folder");
            command.env("FONTCONFIG_FILE", file);
        }
        command
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // It takes a free port of one address family, and ends if the other family's port of that number is taken.
        let mut start = || {
            let mut driver = command.start_for(LONG_PATIENCE);
            let mut lines = BufReader::new(driver.stdout.take().expect("a piped stdout")).lines();
            let said = lines.find_map(|line| {
                line.ok()?
                    .split("successfully on port ")
                    .nth(1)?
                    .trim_end_matches('.')
                    .trim()
                    .parse()
                    .ok()
            });
            if said.is_none() {
                driver.wait();
            }
            Some((driver, lines, said?))
        };
        let (driver, lines, port) = (0..5)
            .find_map(|_| start())
            .expect("chromedriver says its port");
        // Keep reading, so that the driver never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self {
            _driver: driver,
            _place: place,
            port,
            session: String::new(),
            profile,
        };
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let started = browser.call("POST", "/session", &wanted);
        started["sessionId"]
            .as_str()
            .expect("a session")
            .clone_into(&mut browser.session);
        browser
    }

    pub fn open(&self, page: &Path) {
        self.open_address(&format!("file://{}", page.display()));
    }

    pub fn open_address(&self, address: &str) {
        self.command("url", &json!({"url": address}));
    }

    /// Runs a function body in the page, past its content security policy, and returns what it returns.
    pub fn evaluate(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Presses a key and lets it go: a letter, or one of those that WebDriver has a character for.
    pub fn press(&self, key: char) {
        let strokes = [
            json!({"type": "keyDown", "value": key}),
            json!({"type": "keyUp", "value": key}),
        ];
        self.command(
            "actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}),
        );
    }

    pub fn back(&self) {
        self.command("back", &json!({}));
    }

    /// Sets the size of the page.
    pub fn resize(&self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub fn prefer_dark(&self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        self.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    pub fn allow_scripts(&self, allow: bool) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": !allow}),
        );
    }

    /// Returns the console's warnings and errors since the last call, refused content among them.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.command("se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries
            .iter()
            .filter(|entry| entry["level"] != "INFO" && entry["level"] != "DEBUG")
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    fn devtools(&self, method: &str, parameters: &Value) -> Value {
        self.command(
            "goog/cdp/execute",
            &json!({"cmd": method, "params": parameters}),
        )
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        self.call("POST", &format!("/session/{}/{name}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .expect("chromedriver reads");
        let mut answer = String::new();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).expect("an answer");
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        reader
            .take(length)
            .read_to_string(&mut answer)
            .expect("a body");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert!(
            answer["value"]["error"].is_null(),
            "{method} {path}: {answer}"
        );
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
    }
}
