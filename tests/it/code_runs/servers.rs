//! The server of a suite.

use std::net::{TcpListener, TcpStream};

use super::*;
use crate::programs::Start as _;

const ASKED: &str =
    "tests: {shared: ['python3 suites/s/ask.py /', 'python3 suites/s/ask.py /again']}\n";

fn server(command: &str, more: &str) -> String {
    let command = serde_json::to_string(command).expect("text is JSON");
    format!("server: {{command: {command}{more}}}\n{ASKED}")
}

const COMMAND: &str = "exec python3 \"$EVAL_SUITE_DIR/server.py\" {port}";
const CHECKED: &str = ", health_check: 'http://localhost:{port}/health'";

#[test]
fn a_server_gets_a_free_port_and_is_stopped() {
    needs!("python3");
    let suite =
        server(COMMAND, CHECKED).replace("/again'", "/again && echo $EVAL_PORT > $OUT/port.txt'");
    let out = tempfile::tempdir().expect("a folder");
    let code = Code::new(&suite, "").sharing(out.path());
    let ran = code.run_with(&[], &[("OUT", &out.path().display().to_string())]);
    ran.ended("completed", "");
    ran.shared(2, 2);
    let port: u16 = fs::read_to_string(out.path().join("port.txt"))
        .expect("written")
        .trim()
        .parse()
        .expect("a port");
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_err(),
        "it is gone"
    );
}

#[test]
fn without_a_health_check_an_open_port_will_do() {
    needs!("python3");
    Code::new(&server(COMMAND, ""), "").run().shared(2, 2);
}

#[test]
fn a_taken_port_is_said_and_its_owner_left_alone() {
    needs!("python3");
    let owner = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = owner.local_addr().expect("an address").port();
    let suite = server(
        &format!("python3 \"$EVAL_SUITE_DIR/server.py\" {port}"),
        &format!(", health_check: 'http://localhost:{port}/'"),
    );
    let ran = Code::new(&suite, "").run();
    ran.ended("infra", &format!("port {port} is taken by another process"));
    ran.is_untested();
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_ok(),
        "the owner is there"
    );
}

#[test]
fn a_literal_port_is_used_as_it_is() {
    needs!("python3");
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port();
    let suite = server(
        &format!("python3 \"$EVAL_SUITE_DIR/server.py\" {port}"),
        &format!(", health_check: 'http://localhost:{port}/'"),
    );
    let ran = Code::new(&suite, "").run();
    ran.ended("completed", "");
    ran.shared(2, 2);
}

#[test]
fn a_server_that_never_answers_fails_its_tests() {
    needs!("python3");
    let ran = Code::new(
        &server(
            "echo waiting for nothing; sleep 95; : {port}",
            &format!("{CHECKED}, startup_timeout: 1s"),
        ),
        "",
    )
    .run();
    ran.ended(
        "completed",
        "the server did not answer within 1 s: waiting for nothing",
    );
    ran.shared(0, 2);
}

#[test]
fn a_server_that_ends_at_once_says_why() {
    needs!("python3");
    let ran = Code::new(
        &server("echo no module named main >&2; exit 3; : {port}", CHECKED),
        "",
    )
    .run();
    ran.ended(
        "completed",
        "the server ended before it answered (exit status 3): no module named main",
    );
    ran.shared(0, 2);
}

#[test]
fn a_server_that_ends_during_the_tests_is_noted() {
    needs!("python3");
    let ran = Code::new(&server(COMMAND, CHECKED).replace("/again", "/die"), "").run();
    ran.ended(
        "completed",
        "the server ended during the tests (exit status 7)",
    );
    ran.shared(1, 2);
}

#[test]
fn what_a_server_leaves_behind_goes_with_it() {
    needs!("python3");
    let stubborn = "(trap '' TERM; sleep 94) & exec python3 \"$EVAL_SUITE_DIR/server.py\" {port}";
    Code::new(&server(stubborn, CHECKED), "").run().shared(2, 2);
}

#[test]
fn the_wait_for_a_server_is_part_of_the_runs_time() {
    needs!("python3");
    let suite = format!(
        "timeout: 2s\n{}",
        server(
            "sleep 93; : {port}",
            &format!("{CHECKED}, startup_timeout: 1h")
        )
    );
    Code::new(&suite, "")
        .run()
        .ended("limit", "did not answer within");
}

/// A suite whose server has one port, whoever makes it, and an approach with a page beside one without.
fn at_one_port(network: &str) -> Code {
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port();
    let serve = format!("exec python3 -m http.server {port} --bind 127.0.0.1");
    let suite = format!(
        "{network}server: {{command: '{serve}', health_check: 'http://127.0.0.1:{port}/'}}\n\
         tests: {{shared: ['python3 suites/s/ask.py /page.txt && sleep 0.3']}}\n"
    );
    let code = Code::new(&suite, "");
    code.project.file("page.sh", "echo page > page.txt\n").file("none.sh", "true\n").file(
        "evalreport.yaml",
        "version: 1\napproaches:\n  - {id: page, command: [sh, \"{root}/page.sh\"]}\n  - {id: none, command: [sh, \"{root}/none.sh\"]}\n",
    );
    code
}

#[test]
fn no_arm_is_tested_against_the_server_of_another() {
    needs!("python3");
    // With a network of one's own, and in the one that all share.
    for network in ["network: [approach, setup]\n", ""] {
        let code = at_one_port(network);
        code.started(
            &["s", "--approach", "page,none", "--runs", "4"],
            &["--jobs", "4"],
            &[],
        );
        let all = code.all();
        assert_eq!(all.len(), 8);
        for ran in all {
            ran.ended("completed", "");
            ran.shared(u64::from(ran.header["approach"] == "page"), 1);
        }
    }
}

#[test]
fn two_processes_take_turns_at_a_port() {
    needs!("python3");
    let code = at_one_port("");
    let suite = code
        .project
        .read("suites/s/suite.yaml")
        .replace("http.server", "http.server -d .");
    // An arm whose server never listens, and one whose server does.
    code.project
        .file("none.sh", "echo 'import time; time.sleep(9)' > main.py\n")
        .file("page.sh", "echo page > page.txt\n");
    let suite = suite
        .replace(
            "exec python3 -m",
            "test ! -f main.py || exec python3 main.py; exec python3 -m",
        )
        .replace("'}", "', startup_timeout: 3s}");
    code.project.file("suites/s/suite.yaml", &suite);
    let other = code
        .scratch
        .path()
        .parent()
        .expect("a folder")
        .join(format!("{}-other", code.scratch.path().display()));
    std::fs::create_dir_all(&other).expect("room");
    std::thread::scope(|scope| {
        let both =
            [("page,none", "results"), ("none,page", "others")].map(|(approaches, store)| {
                let (project, scratch) = (&code.project, other.join(store).display().to_string());
                scope.spawn(move || {
                    project.run([
                        "run",
                        "s",
                        "--approach",
                        approaches,
                        "--results",
                        store,
                        "--scratch",
                        &scratch,
                    ])
                })
            });
        for run in both {
            let output = run.join().expect("it ends");
            assert_eq!(output.code, 0, "{}", output.stderr);
        }
    });
    std::fs::remove_dir_all(&other).expect("ours");
    for store in ["results", "others"] {
        let is_header = |path: &String| {
            std::path::Path::new(path)
                .extension()
                .is_some_and(|ending| ending == "json")
                && path.matches('/').count() == 1
        };
        for path in code.project.files(store).into_iter().filter(is_header) {
            let header: Value = serde_json::from_str(&code.project.read(&path)).expect("JSON");
            let passed = u64::from(header["approach"] == "page");
            assert_eq!(
                (&header["status"], header["shared_tests_passed"].as_u64()),
                (&"completed".into(), Some(passed)),
                "{header}"
            );
        }
    }
}

#[test]
fn a_server_of_another_that_comes_later_is_not_tested() {
    needs!("python3");
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port();
    // The server of the run only sleeps; another begins after it.
    let suite = format!(
        "server: {{command: 'touch \"$OUT/begun\"; sleep 9', health_check: 'http://127.0.0.1:{port}/', startup_timeout: 5s}}\n\
         tests: {{shared: ['python3 suites/s/ask.py /']}}\n"
    );
    let out = tempfile::tempdir().expect("a folder");
    let begun = out.path().join("begun");
    let other = std::thread::spawn(move || {
        while !begun.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let serve = [
            "-m",
            "http.server",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
        ];
        std::process::Command::new("python3")
            .args(serve)
            .stderr(std::process::Stdio::null())
            .start()
    });
    let code = Code::new(&suite, "").sharing(out.path());
    let ran = code.run_with(&[], &[("OUT", &out.path().display().to_string())]);
    drop(other.join().expect("it began"));
    ran.ended("infra", &format!("another process answers at port {port}"));
    ran.is_untested();
}

#[test]
fn in_a_network_of_its_own_a_taken_port_is_free() {
    needs!("python3");
    let (owner, code) = (0..20)
        .find_map(|_| {
            let code = at_one_port("network: [approach, setup]\n");
            let suite = code.project.read("suites/s/suite.yaml");
            let port: u16 = suite
                .split("127.0.0.1:")
                .nth(1)?
                .split('/')
                .next()?
                .parse()
                .ok()?;
            Some((TcpListener::bind(("127.0.0.1", port)).ok()?, code))
        })
        .expect("a port");
    code.started(&["s", "--approach", "page"], &[], &[]);
    let ran = &code.all()[0];
    let has_networks = code
        .project
        .run(["doctor", "--system", "--format", "json"])
        .json()["system"]["networks"]
        == true;
    if has_networks {
        ran.ended("completed", "");
        ran.shared(1, 1);
    } else {
        ran.ended("infra", "is taken by another process");
    }
    drop(owner);
}

#[test]
fn who_answers_in_the_place_of_a_server_is_not_tested() {
    needs!("python3");
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port();
    let suite = format!(
        "server: {{command: 'timeout 1 python3 -m http.server {port} --bind 127.0.0.1', health_check: 'http://127.0.0.1:{port}/'}}\n\
         tests: {{shared: ['sleep 3 && python3 suites/s/ask.py /']}}\n"
    );
    // Takes the port when the server has left it.
    let other = std::thread::spawn(move || {
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        loop {
            match TcpListener::bind(("127.0.0.1", port)) {
                Ok(owner) => return owner,
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(20)),
            }
        }
    });
    let ran = Code::new(&suite, "").run();
    ran.ended("infra", &format!("another process answers at port {port}"));
    ran.is_untested();
    drop(other.join().expect("the port was taken"));
}
