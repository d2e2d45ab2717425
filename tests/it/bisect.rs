//! `bisect`: the commit from which on a command, a test or a rate fails more often, although outcomes vary.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::programs::Start as _;
use crate::support::Project;

/// A repository of commits, of which those from `bad` on fail more often: every commit has the file `rate` with its pass rate in percent.
fn history(commits: usize, bad: usize, [before, since]: [u32; 2]) -> Project {
    let project = Project::new();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(project.path("")).args(arguments).envs([
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
            ("GIT_AUTHOR_DATE", "2026-03-24T10:00:00Z"),
            ("GIT_COMMITTER_DATE", "2026-03-24T10:00:00Z"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ]);
        let output = command.finish();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    for number in 0..commits {
        project.file(
            "rate",
            format!("{}\n", if number < bad { before } else { since }),
        );
        project.file("number", format!("{number}\n"));
        // A trial: passes as often as `rate` says, by a count of all trials.
        project.file("trial.sh", "read rate < rate\ncount=$(cat \"$1\" 2>/dev/null || echo 0)\necho $((count + 1)) > \"$1\"\n[ $(((count * 7919 + 13) % 97 * 100 / 97)) -lt \"$rate\" ]\n");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", &format!("commit {number}")]);
        git(&["tag", &format!("c{number}")]);
    }
    project
}

fn subject(answer: &Value) -> (&str, &str) {
    let first = &answer["likeliest"][0]["subject"];
    (
        answer["outcome"].as_str().unwrap_or_default(),
        first.as_str().unwrap_or_default(),
    )
}

#[test]
fn the_commit_that_broke_a_command_is_found_in_little_more_than_bisection() {
    let project = history(40, 23, [100, 0]);
    let count = project.path("count").display().to_string();
    let line = [
        "bisect", "c0", "c39", "--format", "json", "--", "sh", "trial.sh", &count,
    ];
    let answer = project.run(line);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let told = answer.json();
    assert_eq!(subject(&told), ("found", "commit 23"));
    assert!(
        told["runs"].as_u64().is_some_and(|runs| runs <= 16),
        "{told}"
    );
    crate::schema::validate("bisect", &told).expect("it keeps to its schema");
    // Neither the repository nor its worktrees have changed.
    assert!(!project.path(".git/worktrees").exists());
    let status = Command::new("git")
        .current_dir(project.path(""))
        .args(["status", "--porcelain"])
        .finish();
    assert_eq!(String::from_utf8_lossy(&status.stdout).trim(), "?? count");
}

#[test]
fn the_commit_is_found_though_outcomes_vary() {
    let project = history(30, 11, [90, 20]);
    let count = project.path("count").display().to_string();
    let answer = project.run(["bisect", "c0", "c29", "--", "sh", "trial.sh", &count]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(
        answer.stdout.contains("is the first bad commit: 9"),
        "{}",
        answer.stdout
    );
    let row = answer
        .stdout
        .lines()
        .find(|line| line.contains("commit "))
        .expect("a row");
    assert!(row.contains("commit 11"), "{}", answer.stdout);
    assert!(
        answer.stderr.contains("run 1: ") && answer.stderr.contains("(0 of 29) good"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_test_of_a_report_is_followed_and_a_commit_without_a_report_is_not_green() {
    let project = history(20, 7, [100, 0]);
    // The report of commit 9 is missing; another test always fails.
    let script = "read number < number\n[ \"$number\" = 9 ] && exit 0\nif sh trial.sh \"$1\"; then inner=; else inner='<failure/>'; fi\n\
        echo \"<testsuite><testcase classname='t' name='adds'>$inner</testcase><testcase classname='t' name='other'><failure/></testcase></testsuite>\" > out.xml\n";
    let path = project.path("report.sh");
    fs::write(&path, script).expect("written");
    let (script, count) = (
        path.display().to_string(),
        project.path("count").display().to_string(),
    );
    let answer = project.run([
        "bisect", "c0", "c19", "--report", "out.xml", "--item", "adds", "--format", "json", "--",
        "sh", &script, &count,
    ]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_eq!(subject(&answer.json()), ("found", "commit 7"));
}

#[test]
fn what_cannot_be_searched_is_said() {
    let project = history(4, 4, [100, 0]);
    let alike = project.run(["bisect", "c0", "c3", "--", "true"]);
    assert_eq!(alike.code, 3, "{}", alike.stderr);
    assert!(
        alike
            .stdout
            .contains("do not differ (10 runs over 3 commits)"),
        "{}",
        alike.stdout
    );
    for (line, said) in [
        (
            &["bisect", "c3", "c0", "--", "true"][..],
            "`c0` is no later commit than `c3`",
        ),
        (
            &["bisect", "c0", "none", "--", "true"],
            "no commit is called `none`",
        ),
        (
            &["bisect", "c0", "c3", "--", "no-such-program"],
            "cannot start `no-such-program`",
        ),
        (
            &["bisect", "c0", "c3", "--", "sh", "-c", "exit 127"],
            "was not carried out: exit code 127",
        ),
        (
            &["bisect", "c0", "c3", "--", "sh", "-c", "exit 125"],
            "`c0` cannot be tried",
        ),
        (
            &["bisect", "c0", "c3", "--certainty", "1", "--", "true"],
            "--certainty must be",
        ),
    ] {
        let answer = project.run(line.iter().copied());
        assert!(
            answer.code == 2 && answer.stderr.contains(said),
            "{line:?}: {}",
            answer.stderr
        );
    }
    let few = history(30, 11, [90, 20]);
    let count = few.path("count").display().to_string();
    let open = few.run([
        "bisect",
        "c0",
        "c29",
        "--max-runs",
        "8",
        "--",
        "sh",
        "trial.sh",
        &count,
    ]);
    assert_eq!(open.code, 3, "{}", open.stderr);
    assert!(
        open.stdout
            .contains("Not settled after 8 runs over 29 commits"),
        "{}",
        open.stdout
    );
}
