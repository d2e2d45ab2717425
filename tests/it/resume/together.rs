//! Several runners on one store.

use super::{
    alive, check, count_lines, go_on, kept, only_plan, quiz, start, undisturbed, wait_for, workshop,
};

#[test]
fn two_batches_at_once() {
    let project = quiz(12);
    let first = [
        "run", "quiz", "--agent", "good", "--runs", "8", "--seed", "1", "--jobs", "2",
    ];
    let second = [
        "run", "quiz", "--agent", "mixed", "--runs", "8", "--seed", "2",
    ];
    let mut expected = undisturbed(&quiz(12), &first);
    expected.append(&mut undisturbed(&quiz(12), &second));
    let children =
        [first.as_slice(), second.as_slice()].map(|arguments| start(&project, arguments));
    for child in children {
        let output = child.finish();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let answer = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(
            [" good ", " mixed "]
                .iter()
                .filter(|arm| answer.contains(**arm))
                .count(),
            1,
            "each speaks of its own:\n{answer}"
        );
    }
    check(&project, "results", &expected);
}

/// Two that go on with one batch share its runs: none is done twice, none is left out, none is harmed.
#[test]
fn one_batch_resumed_twice_at_once() {
    let arguments = [
        "run", "quiz", "--agent", "asked", "--runs", "6", "--seed", "1",
    ];
    let expected = undisturbed(&quiz(3), &arguments);
    for _ in 0..3 {
        let project = quiz(3);
        let mut child = start(&project, &arguments);
        wait_for("a question", || count_lines(&project.path("asked")) > 0);
        child.kill().expect("ours");
        child.wait();
        let children = [0, 1].map(|_| start(&project, &["run", "--resume"]));
        for child in children {
            let output = child.finish();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() || said.contains("no unfinished batch"),
                "{said}"
            );
        }
        go_on(&project, &arguments);
        check(&project, "results", &expected);
        assert!(
            count_lines(&project.path("asked")) <= 18 + 1,
            "nothing is asked twice but what was cut short"
        );
    }
}

#[test]
fn one_batch_of_code_resumed_three_times_at_once() {
    let arguments = [
        "run",
        "lines",
        "--approach",
        "writer",
        "--runs",
        "8",
        "--seed",
        "1",
    ];
    let expected = undisturbed(&workshop(), &arguments);
    for _ in 0..3 {
        let project = workshop();
        let mut child = start(&project, &arguments);
        wait_for("an approach", || {
            count_lines(&project.path("log/starts")) > 0
        });
        child.kill().expect("ours");
        child.wait();
        let begun = count_lines(&project.path("log/starts"));
        let done = kept(&project, "results").len();
        let children = [0, 1, 2].map(|_| start(&project, &["run", "--resume", "--jobs", "2"]));
        for child in children {
            let output = child.finish();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() || said.contains("no unfinished batch"),
                "{said}"
            );
        }
        go_on(&project, &arguments);
        check(&project, "results", &expected);
        let starts = count_lines(&project.path("log/starts"));
        assert!(
            starts <= begun + 8 - done,
            "{starts} starts, of which {begun} before, with {done} done"
        );
    }
}

#[test]
fn one_at_a_time_where_that_is_asked_for() {
    let project = quiz(3);
    let refused = "error: another `run` works on these results\n";
    for exclusive in [false, true] {
        let _ = std::fs::remove_file(project.path("asleep.pids"));
        let arguments = ["run", "quiz", "--agent", "asleep", "--exclusive"];
        let mut child = start(
            &project,
            if exclusive {
                &arguments
            } else {
                &arguments[..4]
            },
        );
        wait_for("the agent", || {
            count_lines(&project.path("asleep.pids")) == 2
        });
        let before = project.files("results");
        assert!(
            project
                .run(["run", "quiz", "--agent", "good", "--exclusive"])
                .refusal()
                .starts_with(refused)
        );
        if exclusive {
            assert!(
                project
                    .run(["run", "quiz", "--agent", "good"])
                    .refusal()
                    .starts_with(refused)
            );
            assert!(
                project
                    .run(["eval", "questions.yaml", "--agent", "good"])
                    .refusal()
                    .starts_with(refused)
            );
            assert!(
                project
                    .run(["run", "--resume"])
                    .refusal()
                    .starts_with(refused)
            );
            assert_eq!(
                project.files("results"),
                before,
                "what is refused leaves nothing"
            );
        } else {
            let doctor = project.run(["doctor"]);
            assert_eq!(
                doctor.code, 0,
                "a run in flight is no damage: {}",
                doctor.stdout
            );
            // The run in flight is left alone.
            let id = only_plan(&project, "results")["id"]
                .as_str()
                .expect("an id")
                .to_owned();
            let resumed = project.run(["run", "--resume", &id]);
            assert_eq!(resumed.code, 0, "{}", resumed.stderr);
            assert!(
                resumed.stderr.contains("another process"),
                "{}",
                resumed.stderr
            );
            assert_eq!(
                project
                    .run(["run", "quiz", "--agent", "good", "--quiet"])
                    .code,
                0,
                "others may run beside it"
            );
        }
        child.interrupt();
        assert_eq!(child.wait().code(), Some(130));
        assert!(alive(&project, "asleep.pids").is_empty());
        std::fs::remove_dir_all(project.path("results")).expect("ours");
    }
}
