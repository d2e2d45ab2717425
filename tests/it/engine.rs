//! `--engine` with a stand-in that can lie, without an engine, and `--from-counts`. The answers of real engines are held against files by
//! `benches/engine.py`.

mod lying;
mod stand_in;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Project, question, result};

/// Two arms with two runs each at 30 questions, of which one is lost to an outage once.
fn stored() -> Project {
    let project = Project::new();
    for (arm, lost) in [("a", 12), ("b", 3)] {
        for run in 1..=2_u32 {
            let id = format!("{arm}-{run}");
            let status = |number: u32| match number {
                29 if run == 2 => "infra",
                _ if number * 7 % 30 < lost + run => "fail",
                _ => "pass",
            };
            let items: Vec<Value> = (0..30)
                .map(|number| question(&format!("q{number:02}"), 1, status(number)))
                .collect();
            project
                .result(&result(&id, "s", arm, json!({})))
                .items(&id, &items);
        }
    }
    project
}

/// Writes the same as a table of counts.
fn count(project: &Project) {
    let rows = project
        .run([
            "sql",
            "--format",
            "csv",
            "SELECT run_id, item, status FROM items ORDER BY run_id, item",
        ])
        .rows();
    assert_eq!(rows.len(), 120);
    let mut text = "run_id,suite,approach,model,item,passed,counted,missing\n".to_owned();
    for row in rows {
        let counts = match row["status"].as_str() {
            "pass" => "1,1,0",
            "infra" => "0,0,1",
            _ => "0,1,0",
        };
        text.push_str(&format!(
            "{},s,{},m1,{},{counts}\n",
            row["run_id"],
            &row["run_id"][..1],
            row["item"]
        ));
    }
    project.file("counts.csv", text);
}

#[test]
fn a_board_of_counts_is_that_of_the_outcomes() {
    let project = stored();
    count(&project);
    for question in ["leaderboard", "compare"] {
        let of_outcomes = project.run([question, "--format", "json"]).json();
        let of_counts = project
            .run([question, "--format", "json", "--from-counts", "counts.csv"])
            .json();
        assert_eq!(of_counts, of_outcomes, "{question}");
    }
    let board = project
        .run([
            "leaderboard",
            "--format",
            "json",
            "--from-counts",
            "counts.csv",
        ])
        .json();
    let rates: Vec<&Value> = board["suites"][0]["entries"]
        .as_array()
        .expect("arms")
        .iter()
        .map(|entry| &entry["pass_rate"]["missing"])
        .collect();
    assert_eq!(rates, [&json!(1), &json!(1)], "an outage is not a failure");
    // Counts as new runs, with the stored runs as their baseline.
    project.file(
        "new.csv",
        project
            .read("counts.csv")
            .replace("\na-", "\nnew-a-")
            .replace("\nb-", "\nnew-b-"),
    );
    let gate = project
        .run([
            "gate",
            "--max-drop",
            "20pp",
            "--baseline",
            "results",
            "--format",
            "json",
            "--from-counts",
            "new.csv",
        ])
        .json();
    assert_eq!(gate["ruling"], json!("pass"), "{gate}");
}

#[test]
fn counts_that_contradict_themselves_are_no_board() {
    let project = Project::new();
    project.file("counts.csv", "run_id,suite,approach,model,item,passed,counted\nr,s,a,m,x,2,1\nr,s,a,m,y,1,1\nr,s,b,m,z,1,1\n");
    assert!(
        project
            .run(["leaderboard", "--from-counts", "counts.csv"])
            .refusal()
            .contains("counts.csv:2: passed is 2, but counted is 1")
    );
    project.file(
        "counts.csv",
        "run_id,suite,approach,model,item,passed,counted\nr,s,a,m,y,1,1\nr,s,b,m,z,1,1\n",
    );
    assert!(
        project
            .run(["leaderboard", "--from-counts", "counts.csv"])
            .refusal()
            .contains("run `r` is of two arms or suites")
    );
}

#[test]
fn an_engine_that_is_not_there_or_says_nothing_is_a_message_in_time() {
    let project = Project::new();
    // Accepts connections and never answers.
    let mute = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("grpc://{}", mute.local_addr().expect("an address"));
    let start = Instant::now();
    let silent = project.run(["leaderboard", "--engine", &url, "--engine-timeout", "0.5"]);
    assert!(
        silent.refusal().contains("sent nothing for 0.5 s"),
        "{}",
        silent.stderr
    );
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(mute);
    let gone = project.run(["leaderboard", "--engine", &url]);
    assert!(
        gone.refusal().contains(&format!("no connection to {url}")),
        "{}",
        gone.stderr
    );
}

#[test]
fn an_address_is_checked_before_anything_is_sent() {
    let project = Project::new();
    let refused = |url: &str, environment: &[(&str, &str)]| {
        project
            .run_in(["leaderboard", "--engine", url], environment)
            .refusal()
            .to_owned()
    };
    assert!(
        refused("http://localhost:1", &[])
            .contains("write grpc://HOST:PORT or grpc+tls://HOST:PORT")
    );
    let secret = refused("grpc://me:hunter2@localhost:1", &[]);
    assert!(
        secret.contains("EVALREPORT_ENGINE_TOKEN") && !secret.contains("hunter2"),
        "{secret}"
    );
    // An address that is reserved for documents: nothing may be sent there.
    let token = refused(
        "grpc://192.0.2.1:1",
        &[("EVALREPORT_ENGINE_TOKEN", "s3cr3t")],
    );
    assert!(
        token.contains("the token is not sent") && !token.contains("s3cr3t"),
        "{token}"
    );
    let both = project.run([
        "leaderboard",
        "--engine",
        "grpc://localhost:1",
        "--from-counts",
        "x.csv",
    ]);
    assert!(
        both.refusal().contains("cannot be used with"),
        "{}",
        both.stderr
    );
}
