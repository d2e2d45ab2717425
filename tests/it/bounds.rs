//! What a command may take, and what it may lack: time, memory, threads, outputs, room and clocks.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::programs::Start as _;
use crate::support::{BINARY, Output, Project, question, result};

/// Two runs of two thousand questions each.
fn project() -> Project {
    let project = Project::new();
    for run in ["quiz-1", "quiz-2"] {
        project.result(&result(run, "quiz", run, json!({"cost_usd": 0.5})));
        project.items(
            run,
            &(0..2000)
                .map(|number| question(&format!("q{number}"), 1, "pass"))
                .collect::<Vec<_>>(),
        );
    }
    project
}

/// Runs the program by way of a shell.
fn shell(project: &Project, script: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", BINARY]).args(arguments);
    command
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("NO_COLOR", "1");
    project.output(&mut command)
}

#[test]
fn queries_have_bounds_of_depth_time_and_memory() {
    let project = project();
    let chain = |part: &str, times: usize| format!("select {}1", part.repeat(times));
    let deep = [
        chain("- ", 20_000),
        chain("-", 20_000).replace("--", "-+"),
        chain("(", 100_000),
        chain("1+", 2000),
        chain("1+", 60_000),
        chain("not ", 10_000),
        format!("{}select 1", "select 1 union all ".repeat(3000)),
        format!(
            "select * from {}runs{}",
            "(select * from ".repeat(60),
            ") x".repeat(60)
        ),
        "select count(*) from items a, items b, items c".to_owned(),
    ];
    for query in &deep {
        let output = project.run(["sql", query]);
        let refusal = output.refusal();
        assert!(
            refusal.starts_with("error: "),
            "{}: {refusal}",
            &query[..40]
        );
        assert!(refusal.len() < 400, "{refusal}");
    }
    for query in [
        chain("1+", 90),
        chain("- ", 40),
        format!("{}select 1", "select 1 union all ".repeat(90)),
    ] {
        assert_eq!(project.run(["sql", &query]).code, 0, "{query}");
    }
    let long = "select count(*) as n from items a join items b on a.kind = b.kind join items c on a.kind = c.kind";
    let start = Instant::now();
    let refusal = project
        .run(["sql", long, "--timeout", "1", "--memory", "1000000"])
        .refusal()
        .to_owned();
    assert!(
        refusal.contains("took more than 1 second") && refusal.contains("--timeout"),
        "{refusal}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    if cfg!(target_os = "linux") {
        let refusal = project
            .run(["sql", long, "--memory", "600"])
            .refusal()
            .to_owned();
        assert!(
            refusal.contains("more than 600 MiB") && refusal.contains("--memory"),
            "{refusal}"
        );
    }
}

/// Everything that reads, and needs the cache for that or puts something there.
const ANSWERS: [&[&str]; 5] = [
    &["list", "--format", "csv"],
    &["leaderboard", "--format", "csv"],
    &["compare", "quiz", "--format", "csv"],
    &["sql", "select count(*) as n from items", "--format", "csv"],
    &[
        "leaderboard",
        "./report.xml",
        "./more.bundle",
        "--format",
        "csv",
    ],
];

#[test]
fn a_cache_that_cannot_be_written_stops_nothing() {
    let project = project();
    project.fixture("import/junit/surefire-reruns.xml", "report.xml");
    let other = project_of_bundle();
    fs::copy(other.path("more.bundle"), project.path("more.bundle")).expect("room");
    let answers: Vec<&[&str]> = ANSWERS[..4]
        .iter()
        .copied()
        .chain([&[
            "leaderboard",
            "./report.xml",
            "./more.bundle",
            "--format",
            "csv",
        ][..]])
        .collect();
    let truth: Vec<Output> = answers
        .iter()
        .map(|arguments| project.run(arguments.iter().copied()))
        .collect();
    assert!(
        truth.iter().all(|output| output.code == 0),
        "{}",
        truth[4].stderr
    );
    fs::remove_dir_all(project.path(".evalreport")).expect("there");
    project.file("file", "").file("full/snapshot", "");
    let check = |output: &Output, truth: &Output, arguments: &[&str]| {
        assert_eq!(
            (output.code, &output.stdout),
            (0, &truth.stdout),
            "{arguments:?}: {}",
            output.stderr
        );
        assert_eq!(
            output.stderr.matches("warning: the cache").count(),
            1,
            "{arguments:?}: {}",
            output.stderr
        );
        assert_eq!(
            output.stderr.matches("could not be written").count(),
            1,
            "{arguments:?}: {}",
            output.stderr
        );
    };
    for (arguments, truth) in answers.iter().zip(&truth) {
        let below: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(["--cache", "file/cache"])
            .collect();
        check(&project.run(below), truth, arguments);
    }
    // No file may grow: neither the cache nor a temporary folder takes anything.
    for (arguments, truth) in answers.iter().zip(&truth).take(4) {
        check(
            &shell(
                &project,
                "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
                arguments,
            ),
            truth,
            arguments,
        );
    }
    let built = project.run(["build", "--out", "site", "--cache", "file/cache"]);
    assert!(
        built.code == 0
            && built
                .stderr
                .contains("warning: the cache file/cache could not be written"),
        "{}",
        built.stderr
    );

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir(project.path("closed")).expect("room");
        fs::set_permissions(project.path("closed"), fs::Permissions::from_mode(0o555))
            .expect("ours");
        for (arguments, truth) in answers.iter().zip(&truth) {
            let closed: Vec<&str> = arguments
                .iter()
                .copied()
                .chain(["--cache", "closed"])
                .collect();
            let output = project.run(closed);
            // The one who may do everything writes there, too.
            assert_eq!(
                (output.code, &output.stdout),
                (0, &truth.stdout),
                "{arguments:?}: {}",
                output.stderr
            );
        }
    }
}

fn project_of_bundle() -> Project {
    let project = Project::new();
    project
        .result(&result("more-1", "more", "a", json!({})))
        .items("more-1", &[question("q1", 1, "pass")]);
    assert_eq!(
        project.run(["export", "bundle", "more.bundle", "-q"]).code,
        0
    );
    project
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_that_take_nothing_end_nothing_by_a_crash() {
    let project = project();
    project.result(&result("odd", "odd", "a", json!({"cost_usd": -1})));
    for (script, code) in [
        ("\"$@\" 2>&-", 0),
        ("\"$@\" 2>/dev/full", 0),
        ("\"$@\" >/dev/full", 2),
        ("\"$@\" >/dev/full 2>/dev/full", 2),
    ] {
        for arguments in [
            &["list"][..],
            &["leaderboard"],
            &["--help"],
            &["completions", "bash"],
            &["list", "--verbose"],
        ] {
            let output = shell(&project, script, arguments);
            assert_eq!(
                output.code, code,
                "{script} {arguments:?}: {}",
                output.stderr
            );
        }
        let refused = shell(
            &project,
            script,
            &["list", "--results", "nowhere", "--strict", "--since", "x"],
        );
        assert_eq!(refused.code, 2, "{script}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_is_refused_once_is_one_message() {
    needs!("strace");
    let project = project();
    // The call that each thread makes second is left out: the table engine waits for ever for a thread of its own that did not start.
    for number in [1, 3, 4, 5, 6] {
        for error in ["ENOMEM", "EAGAIN"] {
            let mut command = Command::new("strace");
            let inject = format!("inject=clone3:error={error}:when={number}");
            command.args([
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                "trace=clone3",
                "-e",
                &inject,
                BINARY,
                "build",
                "--out",
                "site",
            ]);
            command
                .env("PATH", std::env::var("PATH").unwrap_or_default())
                .env("HOME", "/nonexistent")
                .env("NO_COLOR", "1");
            let output = project.output(&mut command);
            assert!(
                !output.stderr.contains("panicked") && !output.stderr.contains("poisoned"),
                "{number} {error}: {}",
                output.stderr
            );
            let is_named = output.code == 2
                && output.stderr.contains("threads")
                && output.stderr.matches("error: ").count() == 1;
            assert!(
                output.code == 0 || is_named,
                "{number} {error}: {} {}",
                output.code,
                output.stderr
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_system_that_gives_no_threads_is_done_without_or_named() {
    let project = project();
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    // Root has no limit; a user that nobody else is has one of its own.
    let limited = if is_root {
        "setpriv --reuid=61234 --regid=61234 --clear-groups --no-new-privs -- "
    } else {
        ""
    };
    for path in [".", "results", "results/quiz-1", "results/quiz-2"] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(project.path(path), fs::Permissions::from_mode(0o777)).expect("ours");
    }
    for threads in [1, 2, 3, 5] {
        let script = format!("exec {limited}prlimit --nproc={threads} \"$@\"");
        for arguments in &ANSWERS[..4] {
            let output = shell(&project, &script, arguments);
            if output.stderr.contains("setpriv")
                || output.stderr.contains("prlimit")
                || output.stderr.contains("Permission denied")
            {
                return;
            }
            assert!(
                !output.stderr.contains("panicked"),
                "{threads} {arguments:?}: {}",
                output.stderr
            );
            let is_named = output.code == 2 && output.stderr.contains("no threads");
            assert!(
                output.code == 0 || is_named,
                "{threads} {arguments:?}: {} {}",
                output.code,
                output.stderr
            );
            assert!(
                output.code == 0 || arguments[0] == "sql",
                "{threads} {arguments:?}: {}",
                output.stderr
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn files_from_before_1970_are_files() {
    let project = project();
    let touched = [
        "results/quiz-1.json",
        "results/quiz-1/items.jsonl",
        "results",
        "results/quiz-2.json",
    ];
    let truth = project.run(["list", "--format", "csv"]).stdout;
    fs::remove_dir_all(project.path(".evalreport")).expect("there");
    let touch = Command::new("touch")
        .args(["-d", "1960-01-01"])
        .args(touched.map(|path| project.path(path)))
        .succeeds();
    assert!(touch);
    for _ in 0..2 {
        assert_eq!(project.run(["list", "--format", "csv"]).answer(), truth);
        assert_eq!(project.run(["build", "--out", "site", "-q"]).code, 0);
        assert_eq!(project.run(["doctor", "-q"]).code, 0);
    }
}

#[test]
fn slow_clients_do_not_hold_the_server() {
    let project = project();
    let mut command = Command::new(BINARY);
    command
        .args(["serve", "--port", "0"])
        .current_dir(project.path("."))
        .env("NO_COLOR", "1");
    let mut server = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .start();
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("an address");
    let address = line
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let slow: Vec<TcpStream> = (0..64)
        .map(|_| TcpStream::connect(&address).expect("a connection"))
        .collect();
    let asked = |path: &str| {
        let start = Instant::now();
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a time-out");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("sent");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
    };
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(8) {
        // A byte a second each; who was sent away does not mind.
        for mut stream in &slow {
            let _ = stream.write_all(b"G");
        }
        asked("/");
        std::thread::sleep(Duration::from_secs(1));
    }
    // By now each has had its time, whatever it went on saying.
    let mut ended = 0;
    for mut stream in &slow {
        stream
            .set_read_timeout(Some(Duration::from_secs(3)))
            .expect("a time-out");
        let read = stream.read(&mut [0]);
        ended += usize::from(!read.is_err_and(|error| {
            matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            )
        }));
    }
    assert_eq!(ended, 64);
    server.kill().expect("it runs");
    let _ = server.wait();
}
