//! What killed commands leave is removed by the next one, and by `doctor --tidy`; what somebody holds, or others made, stays.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use crate::programs::{Program, Start as _};
use crate::support::{BINARY, Project, result};

/// One suite with an approach that waits until a file is there.
fn waiting() -> Project {
    let project = Project::lasting();
    project
        .file(
            "suites/s/suite.yaml",
            "name: s\nrequirements: suites/s/order.md\ntests: {shared: ['true']}\n",
        )
        .file("suites/s/order.md", "Make it.\n")
        .file(
            "a.sh",
            format!(
                "while [ ! -e {} ]; do sleep 0.05; done; echo done > made.txt\n",
                project.path("go").display()
            ),
        )
        .file(
            "evalreport.yaml",
            "version: 1\napproaches:\n  - {id: a, command: [sh, \"{root}/a.sh\"]}\n",
        );
    project
}

fn workspaces(scratch: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(scratch).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.join("workspace").is_dir())
        .collect()
}

fn begun(project: &Project, scratch: &Path) -> Program {
    let before = workspaces(scratch);
    let mut command = Command::new(BINARY);
    command
        .args(["run", "s", "--approach", "a", "-q", "--scratch"])
        .arg(scratch)
        .current_dir(project.path("."));
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .start();
    let start = Instant::now();
    while workspaces(scratch)
        .iter()
        .all(|workspace| before.contains(workspace))
    {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "a workspace is made"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_workspace_is_private_and_goes_with_the_next_run_if_its_own_was_killed() {
    let project = waiting();
    let above = tempfile::tempdir().expect("a folder");
    let scratch = above.path().join("made");
    fs::create_dir_all(scratch.join("evalreport-mine/workspace")).expect("room");
    fs::remove_dir_all(&scratch).expect("there");
    let mut killed = begun(&project, &scratch);
    let left = workspaces(&scratch);
    for folder in [&scratch, &left[0]] {
        assert_eq!(
            fs::metadata(folder).expect("there").permissions().mode() & 0o777,
            0o700,
            "{}",
            folder.display()
        );
    }
    killed.kill().expect("it runs");
    killed.wait();
    assert!(left[0].exists());
    fs::create_dir_all(scratch.join("evalreport-mine/workspace")).expect("room");

    let mut running = begun(&project, &scratch);
    assert!(!left[0].exists(), "the killed run's is gone");
    let held: Vec<PathBuf> = workspaces(&scratch);
    assert_eq!(held.len(), 2, "{held:?}");
    let environment = scratch.display().to_string();
    let tidied = project.run_in(["doctor", "--tidy"], &[("TMPDIR", &environment)]);
    assert!(tidied.stderr.contains("0 workspaces"), "{}", tidied.stderr);
    assert_eq!(
        workspaces(&scratch),
        held,
        "one is held, and one is somebody else's"
    );
    project.file("go", "");
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(
        workspaces(&scratch),
        [scratch
            .join("evalreport-mine/workspace")
            .parent()
            .expect("above")]
    );
}

#[test]
fn half_written_files_go_with_the_next_command_that_writes() {
    let project = Project::new();
    project
        .result(&result("r-1", "s", "a", json!({})))
        .result(&result("r-2", "s", "b", json!({})));
    let aged = |path: &str| {
        project.file(path, "half");
        let hour_ago = SystemTime::now() - Duration::from_hours(1);
        fs::File::options()
            .write(true)
            .open(project.path(path))
            .and_then(|file| file.set_modified(hour_ago))
            .expect("ours");
    };
    let lefts = [
        "results/.writing-a.tmp",
        "results/batches/.writing-b.tmp",
        "results/imports/.writing-c.tmp",
    ];
    let others = [
        "results/writing.tmp",
        "results/r-1/output/.writing-agent.tmp",
        "results/.gitignore",
    ];
    lefts.iter().chain(&others).for_each(|path| aged(path));
    project.file("results/.writing-young.tmp", "half");
    assert_eq!(project.run(["list", "-q"]).code, 0);
    assert!(
        lefts.iter().all(|path| project.path(path).exists()),
        "who reads removes nothing"
    );
    assert_eq!(
        project
            .run(["retract", "r-1", "--reason", "why", "-q"])
            .code,
        0
    );
    assert!(lefts.iter().all(|path| !project.path(path).exists()));

    let more = [
        "results/r-1/.writing-d.tmp",
        "results/.importing-x/store/half.json",
        ".evalreport/cache/.writing-e.tmp",
    ];
    lefts.iter().chain(&more).for_each(|path| aged(path));
    let held = fs::File::open(project.path(lefts[0])).expect("there");
    held.lock().expect("free");
    let environment = project.path("empty").display().to_string();
    fs::create_dir(&environment).expect("room");
    let tidied = project.run_in(["doctor", "--tidy"], &[("TMPDIR", &environment)]);
    assert!(
        tidied.code == 0
            && tidied
                .stderr
                .contains("removed: 5 half-written files, 0 workspaces"),
        "{}",
        tidied.stderr
    );
    assert!(
        lefts[1..]
            .iter()
            .chain(&more)
            .all(|path| !project.path(path).exists())
    );
    assert!(project.path(lefts[0]).exists() && project.path("results/.writing-young.tmp").exists());
    assert!(others.iter().all(|path| project.path(path).exists()));

    aged("site/.writing-f.tmp");
    assert_eq!(project.run(["build", "--out", "elsewhere", "-q"]).code, 0);
    aged("elsewhere/.writing-f.tmp");
    aged(".evalreport/cache/.writing-g.tmp");
    project.result(&result("r-3", "s", "c", json!({})));
    assert_eq!(project.run(["build", "--out", "elsewhere", "-q"]).code, 0);
    assert!(
        !project.path("elsewhere/.writing-f.tmp").exists()
            && !project.path(".evalreport/cache/.writing-g.tmp").exists()
    );
    assert!(project.path("site/.writing-f.tmp").exists());
}
