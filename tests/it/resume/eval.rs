//! `eval`: a file of questions, its folder of output, and the options that other tools' users know.

use std::fs;

use serde_json::Value;

use super::{contains, kept, quiz};

#[test]
fn results_and_report_lie_in_one_folder() {
    let project = quiz(6);
    let output = project.run([
        "eval",
        "questions.yaml",
        "--agent",
        "good",
        "--output-dir",
        "out",
        "--runs",
        "2",
        "--quiet",
    ]);
    assert_eq!(
        output.answer().matches(" good ").count(),
        1,
        "{}",
        output.stdout
    );
    assert_eq!(kept(&project, "out/results").len(), 2);
    assert!(project.path("out/report/index.html").is_file());
    assert!(!project.path("results").exists(), "nothing but there");
    assert!(
        project
            .files("")
            .iter()
            .all(|file| !file.starts_with(".evalreport")),
        "{:?}",
        project.files("")
    );
    let header = kept(&project, "out/results")
        .into_values()
        .next()
        .expect("a run")
        .header;
    assert_eq!(
        (header["suite"].as_str(), header["agent"].as_str()),
        (Some("questions"), Some("good"))
    );
}

#[test]
fn options_as_other_tools_spell_them() {
    let project = quiz(6);
    fs::create_dir(project.path("elsewhere")).expect("a folder");
    fs::rename(
        project.path("evalreport.yaml"),
        project.path("elsewhere/my.yaml"),
    )
    .expect("ours");
    for file in ["good.jsonl", "mixed.jsonl", "bad.jsonl"] {
        fs::rename(
            project.path(file),
            project.path(&format!("elsewhere/{file}")),
        )
        .expect("ours");
    }
    let output = project.run([
        "eval",
        "questions.yaml",
        "--spec",
        "elsewhere/my.yaml",
        "--agent",
        "good",
        "--output-dir",
        "out",
        "--no-color",
        "--verbose",
        "--log",
        "log.jsonl",
    ]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        !output.stdout.contains('\u{1b}') && output.stdout.contains(" good "),
        "{}",
        output.stdout
    );
    assert_eq!(
        kept(&project, "out/results")
            .into_values()
            .next()
            .expect("a run")
            .header["shared_tests_passed"],
        6
    );
    assert!(
        output.stderr.contains("run finished"),
        "verbose: {}",
        output.stderr
    );
    let log = project.read("log.jsonl");
    assert!(
        log.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object())),
        "{log}"
    );
    assert!(
        (0..6).all(|number| log.contains(&format!("q{number:02}"))),
        "{log}"
    );
}

#[test]
fn names_that_are_not_known() {
    let project = quiz(3);
    let refusal = |arguments: &[&str]| project.run(arguments.iter().copied()).refusal().to_owned();
    let agent = refusal(&["eval", "questions.yaml", "--agent", "god"]);
    assert!(
        agent.starts_with(
            "error: there is no agent `god`\n  hint: did you mean `good`? known: good, mixed, bad, "
        ),
        "{agent}"
    );
    let task = refusal(&["run", "quizz"]);
    assert!(
        task.starts_with(
            "error: there is no suite or task `quizz`\n  hint: did you mean `quiz`? known: quiz\n"
        ),
        "{task}"
    );
    assert!(refusal(&["run", "quiz@god"]).contains("did you mean `good`?"));
    let file = refusal(&["eval", "nowhere.yaml", "--agent", "good"]);
    assert!(file.contains("nowhere.yaml"), "{file}");
    assert!(
        !project.path("results").exists(),
        "what is refused leaves nothing"
    );
    let which = refusal(&["eval", "questions.yaml"]);
    assert!(which.starts_with("error: which agent?\n"), "{which}");
}

#[test]
fn items_are_in_the_order_of_the_questions() {
    let project = quiz(20);
    // The first ones take the longest.
    let slow = "{id: late, type: command, command: [sh, -c, 'n=$(grep -o \"[0-9][0-9]*\" | head -n 1); sleep 0.$((20 - n)); echo \"<answer>two</answer>\"']}";
    project.file(
        "evalreport.yaml",
        project
            .read("evalreport.yaml")
            .replace("{id: good,", &format!("{slow}\n  - {{id: good,")),
    );
    let output = project.run([
        "eval",
        "questions.yaml",
        "--agent",
        "late",
        "--jobs",
        "4",
        "--quiet",
    ]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let run = kept(&project, "results")
        .into_values()
        .next()
        .expect("a run");
    let order: Vec<String> = run
        .items
        .iter()
        .map(|item| item["item"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(
        order,
        (0..20)
            .map(|number| format!("q{number:02}"))
            .collect::<Vec<_>>()
    );
    let written: Vec<String> = project
        .files("results")
        .into_iter()
        .filter(|file| file.ends_with("transcript.jsonl"))
        .collect();
    let transcript = project.read(&written[0]);
    let asked: Vec<String> = transcript
        .lines()
        .filter_map(|line| {
            Some(
                serde_json::from_str::<Value>(line).ok()?["item"]
                    .as_str()?
                    .to_owned(),
            )
        })
        .collect();
    assert!(
        !asked.is_sorted(),
        "they were answered in another order: {asked:?}"
    );
}

#[test]
fn a_shuffle_is_drawn_from_the_seed() {
    let shown = |seed: &str, more: &[&str]| {
        let project = quiz(8);
        let arguments = [
            "run", "quiz", "--agent", "good", "--runs", "2", "--seed", seed, "--quiet",
        ];
        assert_eq!(
            project
                .run(arguments.into_iter().chain(more.iter().copied()))
                .code,
            0
        );
        kept(&project, "results")
            .into_values()
            .map(|run| run.transcript)
            .collect::<Vec<_>>()
    };
    let first = shown("5", &["--shuffle"]);
    assert_eq!(first, shown("5", &["--shuffle", "--jobs", "4"]));
    assert_ne!(first, shown("6", &["--shuffle"]));
    assert_ne!(first[0], first[1], "every run has an order of its own");
    let plain = shown("5", &[]);
    assert!(
        plain[0] == plain[1] && plain != first,
        "as they are written"
    );
    let project = quiz(4);
    contains(
        &project.run([
            "run",
            "quiz",
            "--agent",
            "good",
            "--shuffle",
            "--tag",
            "oops",
        ]),
        "--tag `oops` is not KEY=VALUE",
    );
}
