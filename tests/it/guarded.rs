//! No command writes into a store, over a configuration or into a suite, whatever path leads there.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::json;

use crate::programs::Start as _;
use crate::support::{Project, question, result};

fn project() -> Project {
    let project = Project::new();
    for (run, approach, passes) in [("quiz-1", "a", 8), ("quiz-2", "b", 3)] {
        project.result(&result(run, "quiz", approach, json!({})));
        let items: Vec<_> = (0..10)
            .map(|number| {
                question(
                    &format!("q{number}"),
                    1,
                    if number < passes { "pass" } else { "fail" },
                )
            })
            .collect();
        project.items(run, &items);
    }
    project.file("evalreport.yaml", "version: 1\nsite:\n  title: Ours\n");
    project.file("suites/quiz/suite.yaml", "name: quiz\n");
    project
}

fn bytes(project: &Project) -> BTreeMap<String, Vec<u8>> {
    ["results", "suites"]
        .iter()
        .flat_map(|folder| project.files(folder))
        .chain(["evalreport.yaml".to_owned()])
        .map(|file| (file.clone(), fs::read(project.path(&file)).expect("there")))
        .collect()
}

#[test]
fn nothing_is_written_over_what_the_work_rests_on() {
    let project = project();
    let before = bytes(&project);
    let targets = [
        "results",
        "results/quiz-1.json",
        "results/new.json",
        "results/quiz-1/items.jsonl",
        "./suites/../results/quiz-1.json",
        "evalreport.yaml",
        "suites/quiz/suite.yaml",
        "suites/quiz",
        #[cfg(unix)]
        "link/quiz-1.json",
        #[cfg(unix)]
        "file-link.json",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("results", project.path("link")).expect("a link");
        std::os::unix::fs::symlink("results/quiz-2.json", project.path("file-link.json"))
            .expect("a link");
    }
    for target in targets {
        let ways: [&[&str]; 14] = [
            &["export", "ctrf", target],
            &["export", "junit", target],
            &["export", "json", target],
            &["export", "eee", target],
            &["export", "csv", target],
            &["export", "parquet", target],
            &["export", "bundle", target],
            &["build", "--single-file", target],
            &["build", "--out", target],
            &["serve", "--single-file", target],
            &["serve", "--out", target],
            &["list", "--log", target],
            &[
                "gate",
                "--baseline",
                "quiz-1",
                "--max-drop",
                "99pp",
                "--junit",
                target,
            ],
            &[
                "gate",
                "--baseline",
                "quiz-1",
                "--max-drop",
                "99pp",
                "--markdown",
                target,
            ],
        ];
        for way in ways {
            let output = project.run(way.iter().copied());
            assert_eq!(
                output.code, 2,
                "{way:?}: {}{}",
                output.stdout, output.stderr
            );
            assert!(
                output.stderr.contains("which nothing else is written to"),
                "{way:?}: {}",
                output.stderr
            );
            assert_eq!(bytes(&project), before, "{way:?}");
        }
    }
}

#[test]
fn other_peoples_stores_are_known_by_what_lies_there() {
    let (project, other) = (project(), project());
    let target = other.path("results/quiz-1.json");
    let before = bytes(&other);
    for way in [
        &["export", "junit"][..],
        &["export", "bundle"],
        &["build", "--single-file"],
        &["list", "--log"],
    ] {
        let output = project.run(way.iter().copied().chain([target.to_str().expect("UTF-8")]));
        assert!(
            output.code == 2 && bytes(&other) == before,
            "{way:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn devices_and_new_places_are_written_to() {
    let project = project();
    for target in ["out.json", "new/folder/out.json", "/dev/null"] {
        let output = project.run(["export", "json", target, "-q"]);
        assert_eq!(output.code, 0, "{target}: {}", output.stderr);
    }
    let piped = Command::new("sh")
        .args([
            "-c",
            "exec \"$0\" export json /dev/stdout -q | head -c 1",
            crate::support::BINARY,
        ])
        .current_dir(project.path(""))
        .finish();
    assert_eq!(piped.stdout, b"{");
}
