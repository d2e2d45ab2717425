//! Broken input: one clear message that names the file, everything else goes on, and `--strict` refuses.

use std::fs;
use std::io::Write;
use std::process::Command;

use serde_json::json;

use crate::programs::Start as _;
use crate::support::{BINARY, Project, passed, question, result};

fn good() -> Project {
    Project::with(&[result(
        "good-1",
        "s",
        "a",
        json!({"shared_tests_passed": 1, "shared_tests_total": 2}),
    )])
}

/// Expects exactly this warning, the good run unaffected, a refusal under `--strict`, and `doctor` to agree.
#[track_caller]
fn check(project: &Project, message: &str) {
    let lenient = project.run(["list", "--runs", "--format", "csv"]);
    assert_eq!(lenient.stderr, format!("warning: {message}\n"));
    assert_eq!(lenient.code, 0);
    let rows = lenient.rows();
    let good = rows
        .iter()
        .find(|row| row["run"] == "good-1")
        .expect("the good run is listed");
    assert_eq!(passed(good), "1/2");

    let quiet = project.run(["list", "--runs", "--format", "csv", "--quiet"]);
    assert_eq!(
        quiet.answer(),
        lenient.stdout,
        "from the cache, and without a word"
    );

    let strict = project.run(["list", "--strict"]);
    let refusal = format!(
        "{message}\nerror: 1 part of the results could not be read, which --strict refuses\n"
    );
    assert_eq!(strict.refusal(), refusal);

    let doctor = project.run(["doctor"]);
    let place = message
        .lines()
        .next()
        .and_then(|line| line.split(": ").next())
        .expect("the message has a place");
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(
        doctor.stdout.contains(place),
        "{} does not name {place}",
        doctor.stdout
    );
}

#[track_caller]
fn check_header(bytes: &[u8], message: &str) {
    let project = good();
    project.bytes("results/bad.json", bytes);
    check(&project, message);
}

#[test]
fn empty_file() {
    let hint = "\n  hint: delete the file, or run the evaluation again";
    check_header(b"", &format!("results/bad.json: is empty{hint}"));
    check_header(b" \n\t\n", &format!("results/bad.json: is empty{hint}"));
}

#[test]
fn truncated_json() {
    check_header(
        b"{\"suite\":\"s\",\n\"approach\":\"a",
        "results/bad.json:2:13: is cut off in the middle of the JSON",
    );
}

#[test]
fn not_a_result() {
    check_header(b"[1, 2]", "results/bad.json: is JSON, but not an object");
    check_header(b"[]", "results/bad.json: is JSON, but not an object");
    check_header(
        br#"["evalreport/result/1", "x", "s", "a", "m"]"#,
        "results/bad.json: is JSON, but not an object",
    );
    check_header(
        b"{}{}",
        "results/bad.json:1:3: is not JSON: trailing characters",
    );
    check_header(
        br#"{"approach":"a","model":"m"}"#,
        "results/bad.json: key `suite` is missing or empty",
    );
}

#[test]
fn wrong_type() {
    let message = "results/bad.json: key `duration_seconds`: invalid type: string \"long\", expected a number (it is `\"long\"`)";
    check_header(
        br#"{"suite":"s","approach":"a","duration_seconds":"long"}"#,
        message,
    );
}

#[test]
fn several_wrong_keys_of_one_file_are_all_named() {
    let project = good();
    project.file("results/bad.json", r#"{"suite":"s","approach":"a","duration_seconds":"long","input_tokens":-5,"status":"wonderful"}"#);
    insta::assert_snapshot!(project.run(["list"]).stderr);
}

#[test]
fn numbers_that_are_none() {
    let hint =
        "\n  hint: JSON has no NaN or Infinity; leave the key out when the value was not measured";
    for (text, message) in [
        (
            "NaN",
            format!("results/bad.json:1:40: is not JSON: expected value{hint}"),
        ),
        (
            "Infinity",
            format!("results/bad.json:1:40: is not JSON: expected value{hint}"),
        ),
        (
            "-Infinity",
            format!("results/bad.json:1:41: is not JSON: invalid number{hint}"),
        ),
        (
            "1e400",
            "results/bad.json:1:44: is not JSON: number out of range".to_owned(),
        ),
    ] {
        check_header(
            format!(r#"{{"suite":"s","approach":"a","cost_usd":{text}}}"#).as_bytes(),
            &message,
        );
    }
}

#[test]
fn negative_tokens() {
    let message = "results/bad.json: key `input_tokens`: invalid value: integer `-5`, expected a whole number, zero or more (it is `-5`)";
    check_header(
        br#"{"suite":"s","approach":"a","input_tokens":-5}"#,
        message,
    );
    check_header(
        br#"{"suite":"s","approach":"a","cost_usd":-0.5}"#,
        "results/bad.json: key `cost_usd` is negative",
    );
}

#[test]
fn more_passed_than_there_are() {
    let message =
        "results/bad.json: keys `shared_tests_passed` and `shared_tests_total`: 3 passed of 2";
    check_header(
        br#"{"suite":"s","approach":"a","shared_tests_passed":3,"shared_tests_total":2}"#,
        message,
    );
}

#[test]
fn invalid_utf8() {
    check_header(
        b"{\"suite\":\"\xff\xfe\",\"approach\":\"a\"}",
        "results/bad.json: is not UTF-8: first bad byte at offset 10",
    );
}

#[test]
fn duplicate_id() {
    let project = good();
    project.file("results/other.json", r#"{"id":"good-1","suite":"s","approach":"a","shared_tests_passed":2,"shared_tests_total":2}"#);
    check(
        &project,
        "results/other.json: duplicate id `good-1`, also in results/good-1.json\n  hint: the first one is used",
    );
}

#[test]
fn an_id_that_is_a_path() {
    let message = "results/bad.json: key `id`: id `../../x` has characters other than letters, digits, `-`, `_` and `.`, or starts with a dot";
    check_header(br#"{"id":"../../x","suite":"s","approach":"a"}"#, message);
}

#[test]
fn a_newer_format() {
    let message = "results/bad.json: key `format`: `evalreport/result/2` was written by a newer evalreport than this one";
    check_header(
        br#"{"format":"evalreport/result/2","suite":"s","approach":"a"}"#,
        message,
    );
}

#[test]
fn control_characters_of_a_value_are_not_printed() {
    let project = good();
    project.file(
        "results/bad.json",
        "{\"suite\":\"s\",\"approach\":\"a\",\"status\":\"\\u001b]0;x\\u0007\"}",
    );
    let output = project.run(["list"]);
    assert!(output.stderr.contains("␛]0;x␇"), "{}", output.stderr);
    assert!(!output.stderr.contains('\u{1b}') && !output.stderr.contains('\u{7}'));
}

#[test]
fn a_folder_with_the_name_of_a_result() {
    let project = good();
    fs::create_dir(project.path("results/bad.json")).expect("a folder");
    check(&project, "results/bad.json: is a folder, not a result file");
}

// The number of the error is Linux's.
#[cfg(target_os = "linux")]
#[test]
fn a_loop_of_symbolic_links() {
    let project = good();
    std::os::unix::fs::symlink("bad.json", project.path("results/bad.json")).expect("a link");
    check(
        &project,
        "results/bad.json: cannot follow the symbolic link: Too many levels of symbolic links (os error 40)",
    );
    fs::remove_file(project.path("results/bad.json")).expect("removable");
    // A link to the store itself is a folder without items: nothing to read twice.
    std::os::unix::fs::symlink(".", project.path("results/again")).expect("a link");
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("run"),
        ["good-1"]
    );
}

/// A file that may not be read, by a user who is bound by permissions.
#[cfg(unix)]
#[test]
fn no_permission() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    /// The id of `nobody`.
    const NOBODY: u32 = 65_534;
    let project = good();
    project.file("results/bad.json", r#"{"suite":"s","approach":"a"}"#);
    let mode = |path: &str, mode| {
        fs::set_permissions(project.path(path), fs::Permissions::from_mode(mode))
            .expect("ours to change");
    };
    mode("results/bad.json", 0o000);
    mode("", 0o755);
    let is_root = fs::metadata(project.path("results"))
        .expect("it is there")
        .uid()
        == 0;
    // Nobody may not reach the build folder, and must not write here: this also is a cache that cannot be written.
    let program = project.path("evalreport");
    if fs::hard_link(BINARY, &program).is_err() {
        fs::copy(BINARY, &program).expect("the program can be copied");
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("COLUMNS", "100");
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        project.output(&mut command)
    };
    let message = "results/bad.json: cannot read: Permission denied (os error 13)";
    let lenient = run(&["list", "--runs", "--format", "csv"]);
    assert_eq!(lenient.column("run"), ["good-1"]);
    assert!(
        lenient.stderr.starts_with(&format!("warning: {message}\n")),
        "{}",
        lenient.stderr
    );
    assert!(run(&["list", "--strict"]).refusal().starts_with(message));
    let doctor = run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains(message), "{}", doctor.stdout);
}

#[test]
fn broken_item_lines() {
    let good_line = r#"{"item":"q1","kind":"question","evaluator":"answers","attempt":1,"revision":0,"status":"pass"}"#;
    let cases: [(&[u8], &str); 9] = [
        (
            br#"["quiz-1","q2","question","answers",1,0,"pass"]"#,
            "is a list, not an object",
        ),
        (br#"{"item":"q2","kind":"ques"#, "is cut off in the middle"),
        (
            br#"{"item":"q2","kind":"question","evaluator":"e","attempt":0,"status":"pass"}"#,
            "key `attempt`: attempts count from 1",
        ),
        (
            br#"{"item":"q2","kind":"question","evaluator":"e","status":"pass","score":NaN}"#,
            "expected value",
        ),
        (
            br#"{"item":"q2","kind":"question","evaluator":"e","status":"pass","score":1e400}"#,
            "number out of range",
        ),
        (
            br#"{"item":"q2","kind":"question","evaluator":"e","status":"pass","input_tokens":-1}"#,
            "invalid value: integer `-1`, expected a whole number, zero or more",
        ),
        (
            br#"{"item":"q2","kind":"question","evaluator":"e","status":"pass","cost_usd":-1}"#,
            "key `cost_usd` is negative",
        ),
        (
            br#"{"item":7,"kind":"question","evaluator":"e","status":"pass"}"#,
            "invalid type: integer `7`, expected text",
        ),
        (
            b"{\"item\":\"\xff\",\"kind\":\"question\",\"evaluator\":\"e\",\"status\":\"pass\"}",
            "invalid unicode code point",
        ),
    ];
    for (line, message) in cases {
        let project = good();
        project.result(&result("quiz-1", "quiz", "a", json!({})));
        project.bytes(
            "results/quiz-1/items.jsonl",
            &[good_line.as_bytes(), b"\n", line].concat(),
        );
        check(
            &project,
            &format!("results/quiz-1/items.jsonl:2: {message}"),
        );
        let board = project.run(["leaderboard", "quiz", "--quiet", "--format", "csv"]);
        assert_eq!(board.passed(), ["1/1"], "the line before counts");
    }
}

#[test]
fn a_line_of_200_megabytes() {
    let project = good();
    project.result(&result("quiz-1", "quiz", "a", json!({})));
    project.file("results/quiz-1/items.jsonl", "");
    let mut file = fs::File::create(project.path("results/quiz-1/items.jsonl")).expect("a file");
    file.write_all(br#"{"item":""#).expect("room on the disk");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&megabyte).expect("room on the disk");
    }
    writeln!(
        file,
        r#"","kind":"question","evaluator":"answers","status":"pass"}}"#
    )
    .expect("room on the disk");
    writeln!(file, "{}", question("q2", 1, "pass")).expect("room on the disk");
    drop(file);
    check(
        &project,
        "results/quiz-1/items.jsonl:1: line is longer than the 67108864 bytes that are read of one",
    );
    assert_eq!(
        project
            .run(["leaderboard", "quiz", "--quiet", "--format", "csv"])
            .passed(),
        ["1/1"],
        "the next line counts"
    );
    let peak = peak_megabytes(&project, &["list", "--cache", "fresh"]);
    assert!(
        peak.is_none_or(|peak| peak < 400),
        "{peak:?} MB for a line that is refused"
    );
}

/// Runs the program and returns the most memory it had, where the system tells.
fn peak_megabytes(project: &Project, arguments: &[&str]) -> Option<u64> {
    let mut child = Command::new(BINARY)
        .args(arguments)
        .current_dir(project.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .start();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().expect("a child").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line
            .and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok())
            .map(|kilobytes| kilobytes / 1024)
            .max(peak);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    peak
}

#[test]
fn unknown_names_get_the_nearest_known_one() {
    let project = Project::with(&[
        result("run-a", "tasktracker", "ralph", json!({})),
        result("run-b", "tasktracker", "oneshot", json!({})),
    ]);
    let near = "did you mean `tasktracker`?";
    for (arguments, message) in [
        (vec!["compare", "tasktraker"], format!("error: no suite or run `tasktraker`\n  hint: {near}\n")),
        (vec!["leaderboard", "tasktrackr"], format!("error: no suite `tasktrackr`\n  hint: {near}\n")),
        (vec!["list", "--suite", "TaskTracker"], format!("error: no suite `TaskTracker`\n  hint: {near}\n")),
        (vec!["list", "--approach", "rlaph"], "error: no approach `rlaph`\n  hint: did you mean `ralph`?\n".to_owned()),
        (vec!["list", "--model", "zzz"], "error: no model `zzz`\n  hint: there are: m1\n".to_owned()),
        (vec!["show", "0198-nothing"], "error: no run `0198-nothing`\n  hint: there are: run-a, run-b\n".to_owned()),
        (vec!["show", "run-"], "error: `run-` is the beginning of 2 run ids\n  hint: give more of the id\n".to_owned()),
        (vec!["list", "--batch", "b"], "error: no run matches the selection\n  hint: `evalreport list --runs` shows all runs\n".to_owned()),
    ] {
        assert_eq!(project.run(arguments.iter().copied()).refusal(), message, "{arguments:?}");
    }
}

#[test]
fn an_empty_store_and_a_missing_one() {
    let project = Project::new();
    for command in [
        vec!["list"],
        vec!["compare"],
        vec!["compare", "s"],
        vec!["leaderboard"],
        vec!["show", "abcd"],
    ] {
        let missing = project.run(command.iter().copied());
        assert!(
            missing
                .refusal()
                .starts_with("error: the store holds no runs\n  hint: "),
            "{command:?}: {}",
            missing.stderr
        );
    }
    fs::create_dir(project.path("results")).expect("a folder");
    assert!(
        project
            .run(["list"])
            .refusal()
            .starts_with("error: the store holds no runs\n")
    );
    assert_eq!(
        project.run(["doctor"]).answer(),
        "results: 0 runs, 0 item lines, 0 batches, 0 tombstones; no damage found\n"
    );
}

#[test]
fn results_that_is_a_file() {
    let project = Project::new();
    project.file("results", "not a folder");
    for command in [vec!["list"], vec!["doctor"], vec!["leaderboard"]] {
        let output = project.run(command.iter().copied());
        assert!(
            output
                .refusal()
                .starts_with("error: results is not a folder\n"),
            "{command:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn every_problem_of_the_configuration_at_once() {
    let project = good();
    project.file(
        "evalreport.yaml",
        "version: 2\naliasses: {}\nsite: {titel: 4}\naliases: [1]\n",
    );
    let output = project.run(["list"]);
    assert_eq!(output.code, 2);
    insta::assert_snapshot!(output.snapshot());
    project.file("evalreport.yaml", "version: 1\naliases: {suite: {a: b}\n");
    let output = project.run(["list"]);
    assert!(
        output.refusal().contains("evalreport.yaml:3:1: "),
        "{}",
        output.stderr
    );
    let missing = project.run(["list", "--config", "nowhere.yaml"]);
    assert!(
        missing.refusal().contains("nowhere.yaml"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_cache_that_cannot_be_written_changes_nothing() {
    let project = good();
    let plain = project.run(["list"]);
    // A file in the place of the folder stops every user, also root.
    project.file("blocked", "");
    let blocked = project.run(["list", "--cache", "blocked/cache"]);
    assert_eq!((blocked.code, &blocked.stdout), (0, &plain.stdout));
    assert!(
        blocked
            .stderr
            .starts_with("warning: the cache blocked/cache could not be written: "),
        "{}",
        blocked.stderr
    );
    let quiet = project.run(["list", "--cache", "blocked/cache", "--quiet", "--strict"]);
    assert_eq!(
        quiet.answer(),
        plain.stdout,
        "a cache is no part of the results"
    );
}

#[test]
fn many_warnings_are_cut_short_and_counted() {
    let project = good();
    for number in 0..14 {
        project.file(&format!("results/bad{number}.json"), "");
    }
    let output = project.run(["list"]);
    assert_eq!(output.code, 0);
    assert_eq!(output.stderr.matches("warning: results/bad").count(), 10);
    assert!(
        output
            .stderr
            .ends_with("warning: and 4 more; `evalreport doctor` lists them all\n"),
        "{}",
        output.stderr
    );
    assert_eq!(
        project.run(["doctor"]).stdout.matches("is empty").count(),
        14
    );
}
