//! `serve`: it follows its sources, streams its files, and gives nothing to pages of other origins, whatever browser shows them.

#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::firefox::Firefox;
use crate::programs::{LONG_PATIENCE, PATIENCE, Program, Start as _};
use crate::support::{BINARY, Project, question, result};

/// The program, serving a project's site until it is asked to end.
struct Served {
    child: Program,
    address: String,
}

impl Served {
    fn begin(project: &Project, words: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["serve", "--port", "0"])
            .args(words)
            .current_dir(project.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .start_for(LONG_PATIENCE);
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut address)
            .expect("an address");
        let address = address
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self { child, address }
    }

    fn port(&self) -> &str {
        self.address
            .rsplit(':')
            .next()
            .expect("an address has a port")
    }

    /// Sends a request and leaves the answer to be read.
    fn ask(&self, path: &str, fields: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n",
            self.address
        )
        .expect("it reads");
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut answer = String::new();
        self.ask(path, "")
            .read_to_string(&mut answer)
            .expect("an answer");
        answer
    }

    #[track_caller]
    fn wait_for(&self, path: &str, is_there: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !is_there(&self.get(path)) {
            assert!(start.elapsed() < PATIENCE, "the site was not built again");
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn end(mut self) {
        self.child.interrupt();
        assert_eq!(self.child.wait().code(), Some(0));
    }
}

/// Three arms on ten questions, so that the site has data in scripts of every kind.
fn project() -> Project {
    let project = Project::new();
    for (run, approach) in ["first", "second", "third"].into_iter().enumerate() {
        let id = format!("r{run}");
        let items: Vec<Value> = (0..10)
            .map(|item| {
                question(
                    &format!("q{item}"),
                    1,
                    if item % (run + 2) == 0 {
                        "fail"
                    } else {
                        "pass"
                    },
                )
            })
            .collect();
        project
            .result(&result(&id, "s", approach, json!({})))
            .items(&id, &items);
    }
    project
}

#[test]
fn a_served_site_follows_its_store_and_ends_when_asked() {
    let project = project();
    let served = Served::begin(&project, &[]);
    let page = served.get("/");
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"),
        "{page}"
    );
    assert!(
        served
            .get("/runs/late/index.html")
            .starts_with("HTTP/1.1 404")
    );
    assert!(
        served
            .get("/../evalreport.yaml")
            .starts_with("HTTP/1.1 404")
    );
    project.result(&result(
        "late",
        "s",
        "late",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
    ));
    served.wait_for("/runs/late/index.html", |answer| {
        answer.starts_with("HTTP/1.1 200")
    });
    served.end();
}

#[test]
fn a_served_site_follows_the_logs_of_another_tool() {
    let project = Project::new();
    project.fixture("import/inspect/plain.json", "logs/first.json");
    let served = Served::begin(&project, &["logs"]);
    let page = served.get("/");
    assert!(
        page.contains("capitals") && !page.contains("dict-scores"),
        "{page}"
    );
    project.fixture(
        "import/inspect/dict-scores.json",
        "logs/deeper/output/second.json",
    );
    served.wait_for("/", |answer| answer.contains("dict-scores"));
    served.end();
    assert!(
        !project.path("results").exists(),
        "the store stays as it is"
    );
}

/// Ten readers who stop after the first bytes of 200 MB leave the program as small as it was, and one who reads on gets every byte.
#[cfg(target_os = "linux")]
#[test]
fn many_readers_of_a_large_file_need_little_memory() {
    const LARGE: u64 = 200 << 20;
    let project = project();
    let served = Served::begin(&project, &["--out", "site"]);
    File::create(project.path("site/large.bin"))
        .and_then(|file| file.set_len(LARGE))
        .expect("room for no bytes");
    let resident = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id()))
            .expect("it runs");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("a size");
        line.trim()
            .trim_end_matches(" kB")
            .parse::<u64>()
            .expect("a number")
            << 10
    };
    let before = resident();
    let readers: Vec<TcpStream> = (0..10)
        .map(|_| {
            let mut reader = served.ask("/large.bin", "");
            reader.read_exact(&mut [0; 1 << 10]).expect("an answer");
            reader
        })
        .collect();
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 32 << 20,
        "{} MiB for {} readers",
        grown >> 20,
        readers.len()
    );
    drop(readers);
    let mut reader = BufReader::new(served.ask("/large.bin", ""));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).expect("a head"), 0, "{head}");
    }
    assert!(
        head.contains(&format!("Content-Length: {LARGE}\r\n")),
        "{head}"
    );
    assert_eq!(
        std::io::copy(&mut reader, &mut std::io::sink()).expect("the content"),
        LARGE
    );
    served.end();
}

/// A page that tries everything a page can do to read another origin's files, and notes what it got.
fn thief(target: &str, scripts: &[String]) -> String {
    let script = |path: &String| {
        format!(
            "<script src=\"{target}{path}\" onload=\"ran('{path}')\" onerror=\"refused('{path}')\"></script>\n"
        )
    };
    let scripts: String = scripts.iter().map(script).collect();
    format!(
        "<!doctype html><meta charset=utf-8><title>thief</title><script>
            window.stolen = []; window.refusals = 0;
            const ran = what => stolen.push('loaded ' + what), refused = () => {{ window.refusals += 1; }};
            window.evalreportShard = window.evalreportSearch = (...all) => stolen.push('told ' + JSON.stringify(all).slice(0, 80));
        </script>
        {scripts}
        <link rel=stylesheet href=\"{target}/a/site.css\">
        <img src=\"{target}/badge/s.svg\" onload=\"ran('badge')\" onerror=\"refused('badge')\">
        <script>
            const tries = [];
            for (const path of ['/', '/leaderboard.json', '/data/runs.csv']) for (const mode of ['no-cors', 'cors'])
                tries.push(fetch('{target}' + path, {{mode}}).then(answer => stolen.push(mode + ' ' + path + ' ' + answer.type), refused));
            Promise.all(tries).then(() => {{ window.tried = tries.length; }});
        </script>
        <a id=link href=\"{target}/\">to the site</a>
        <button id=open onclick=\"window.held = window.open('{target}/')\">open</button>"
    )
}

/// Serves one page on a port of this machine until it is dropped.
struct OnePage {
    port: u16,
    ends: Arc<AtomicBool>,
}

impl OnePage {
    fn begin(page: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                // A browser also opens connections that it may never ask on: one that is silent must not hold up the others.
                if let Ok(stream) = stream {
                    let page = page.clone();
                    thread::spawn(move || answer(&stream, &page));
                }
            }
        });
        Self { port, ends }
    }
}

fn answer(mut stream: &TcpStream, page: &str) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        line.clear();
    }
    // The browser may have gone: that is its right.
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
}

impl Drop for OnePage {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// What of a browser the tests of other origins need.
trait Look {
    fn go(&mut self, address: &str);
    fn ask(&mut self, script: &str) -> Value;

    /// Asks until the script returns something.
    fn wait(&mut self, script: &str) -> Value {
        let start = Instant::now();
        loop {
            let found = self.ask(script);
            if !found.is_null() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{script}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Look for Browser {
    fn go(&mut self, address: &str) {
        self.open_address(address);
    }

    fn ask(&mut self, script: &str) -> Value {
        self.evaluate(script)
    }
}

impl Look for Firefox {
    fn go(&mut self, address: &str) {
        self.open(address);
    }

    fn ask(&mut self, script: &str) -> Value {
        self.evaluate(script)
    }
}

/// A browser shows a page of each kind of other origin: another site, another port of the same site, and a file. `opens` says whether such a
/// page may open windows here: Chromium's driver then waits for ever.
fn gets_nothing(browser: &mut impl Look, opens: bool) {
    let project = project();
    let served = Served::begin(&project, &["--out", "site"]);
    let scripts: Vec<String> = project
        .files("site")
        .into_iter()
        .filter(|path| {
            Path::new(path)
                .extension()
                .is_some_and(|extension| extension == "js")
        })
        .map(|path| path.trim_start_matches("site").to_owned())
        .collect();
    assert!(
        scripts.iter().any(|path| path.starts_with("/d/pairs-s-0")),
        "{scripts:?}"
    );
    for host in ["127.0.0.1", "localhost"] {
        let target = format!("http://{host}:{}", served.port());
        let page = thief(&target, &scripts);
        project.file("thief.html", &page);
        let file = format!(
            "file://{}",
            project
                .path("thief.html")
                .canonicalize()
                .expect("written")
                .display()
        );
        let other = OnePage::begin(page);
        for origin in [
            format!("http://127.0.0.1:{}/", other.port),
            format!("http://localhost:{}/", other.port),
            file,
        ] {
            browser.go(&origin);
            browser.wait("return window.tried || null");
            assert_eq!(
                browser.ask("return window.stolen"),
                json!([]),
                "{origin} of {target}"
            );
            let refusals = browser.wait(&format!(
                "return window.refusals >= {} ? window.refusals : null",
                scripts.len() + 7
            ));
            assert_eq!(
                refusals,
                json!(scripts.len() + 7),
                "scripts, a picture and requests; {origin} of {target}"
            );
            // The site's style sheet would give the page its colours.
            let colour = "return getComputedStyle(document.documentElement).getPropertyValue('--back').trim()";
            assert_eq!(browser.ask(colour), json!(""), "{origin} of {target}");
            // A link works. It leads to a page that works, and that the page with the link cannot hold.
            if opens {
                browser.ask("document.getElementById('open').click()");
                browser.wait("return window.held && window.held.closed || null");
            }
            browser.ask("setTimeout(() => document.getElementById('link').click(), 0)");
            browser
                .wait("return location.href.endsWith('/') && document.querySelector('main') && document.readyState === 'complete' || null");
            assert_eq!(
                browser.ask("return location.origin"),
                json!(target),
                "{origin}"
            );
        }
        // The site itself has all that it asks for.
        browser.go(&format!("{target}/compare/s/any.html"));
        browser.wait("return document.getElementById('any').hidden ? null : true");
        assert_eq!(
            browser.ask("return document.querySelectorAll('#any option').length"),
            json!(6)
        );
    }
    served.end();
}

#[test]
fn pages_of_other_origins_get_nothing_in_chromium() {
    needs!("chromium", "chromedriver");
    gets_nothing(&mut Browser::start(), false);
}

#[test]
fn pages_of_other_origins_get_nothing_in_firefox() {
    needs!("firefox-esr");
    gets_nothing(&mut Firefox::start(), true);
}
