//! The server of a suite.

use std::net::{TcpListener, TcpStream};

use super::*;

const ASKED: &str = "tests: {shared: ['python3 suites/s/ask.py /', 'python3 suites/s/ask.py /again']}\n";

fn server(command: &str, more: &str) -> String {
    let command = serde_json::to_string(command).expect("text is JSON");
    format!("server: {{command: {command}{more}}}\n{ASKED}")
}

const COMMAND: &str = "exec python3 \"$EVAL_SUITE_DIR/server.py\" {port}";
const CHECKED: &str = ", health_check: 'http://localhost:{port}/health'";

#[test]
fn a_server_gets_a_free_port_and_is_stopped() {
    let suite = server(COMMAND, CHECKED).replace("/again'", "/again && echo $EVAL_PORT > $OUT/port.txt'");
    let code = Code::new(&suite, "");
    let out = tempfile::tempdir().expect("a folder");
    let ran = code.run_with(&[], &[("OUT", &out.path().display().to_string())]);
    ran.ended("completed", "");
    ran.shared(2, 2);
    let port: u16 = fs::read_to_string(out.path().join("port.txt")).expect("written").trim().parse().expect("a port");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it is gone");
}

#[test]
fn without_a_health_check_an_open_port_will_do() {
    Code::new(&server(COMMAND, ""), "").run().shared(2, 2);
}

#[test]
fn a_taken_port_is_said_and_its_owner_left_alone() {
    let owner = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = owner.local_addr().expect("an address").port();
    let suite = server(&format!("python3 \"$EVAL_SUITE_DIR/server.py\" {port}"), &format!(", health_check: 'http://localhost:{port}/'"));
    let ran = Code::new(&suite, "").run();
    ran.ended("infra", &format!("port {port} is taken by another process"));
    ran.is_untested();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "the owner is there");
}

#[test]
fn a_literal_port_is_used_as_it_is() {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).expect("a port").port();
    let suite = server(&format!("python3 \"$EVAL_SUITE_DIR/server.py\" {port}"), &format!(", health_check: 'http://localhost:{port}/'"));
    let ran = Code::new(&suite, "").run();
    ran.ended("completed", "");
    ran.shared(2, 2);
}

#[test]
fn a_server_that_never_answers_fails_its_tests() {
    let ran = Code::new(&server("echo waiting for nothing; sleep 95; : {port}", &format!("{CHECKED}, startup_timeout: 1s")), "").run();
    ran.ended("completed", "the server did not answer within 1 s: waiting for nothing");
    ran.shared(0, 2);
}

#[test]
fn a_server_that_ends_at_once_says_why() {
    let ran = Code::new(&server("echo no module named main >&2; exit 3; : {port}", CHECKED), "").run();
    ran.ended("completed", "the server ended before it answered (exit status 3): no module named main");
    ran.shared(0, 2);
}

#[test]
fn a_server_that_ends_during_the_tests_is_noted() {
    let ran = Code::new(&server(COMMAND, CHECKED).replace("/again", "/die"), "").run();
    ran.ended("completed", "the server ended during the tests (exit status 7)");
    ran.shared(1, 2);
}

#[test]
fn what_a_server_leaves_behind_goes_with_it() {
    let stubborn = "(trap '' TERM; sleep 94) & exec python3 \"$EVAL_SUITE_DIR/server.py\" {port}";
    Code::new(&server(stubborn, CHECKED), "").run().shared(2, 2);
}

#[test]
fn the_wait_for_a_server_is_part_of_the_runs_time() {
    let suite = format!("timeout: 2s\n{}", server("sleep 93; : {port}", &format!("{CHECKED}, startup_timeout: 1h")));
    Code::new(&suite, "").run().ended("limit", "did not answer within");
}
