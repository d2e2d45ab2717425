//! No room, and no right to write: an error that says so, nothing half-written, and going on works once there is room.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::{check, go_on, is_kind, kept, quiz, undisturbed};
use crate::needs;
use crate::programs::Start as _;
use crate::support::{BINARY, Output, Project};

const ARGUMENTS: [&str; 8] = [
    "run", "quiz", "--agent", "mixed", "--runs", "2", "--seed", "7",
];

/// Expects a store in which every record is whole.
#[track_caller]
fn check_whole(project: &Project, results: &str) {
    for file in project.files(results) {
        let text = project.read(&file);
        if is_kind(&file, "jsonl") {
            assert!(
                text.is_empty() || text.ends_with('\n'),
                "{file} ends in half a line"
            );
            assert!(
                text.lines()
                    .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
                "{file}"
            );
        } else if is_kind(&file, "json") {
            serde_json::from_str::<serde_json::Value>(&text).expect("a header or plan is whole");
        } else {
            assert!(file.ends_with(".runner.lock"), "{file} was left behind");
        }
    }
}

#[track_caller]
fn check_refusal(output: &Output, reason: &str) {
    assert!(
        output.code == 2 && output.stdout.is_empty(),
        "exit {}: {}",
        output.code,
        output.stderr
    );
    let error = output
        .stderr
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_default();
    assert!(
        error.starts_with("error: cannot ") && error.contains("results") && error.contains(reason),
        "{}",
        output.stderr
    );
}

#[cfg(unix)]
#[test]
fn files_that_must_not_grow() {
    let limited = |project: &Project, bytes: usize, arguments: &[&str]| {
        let mut command = Command::new("sh");
        // Blocks of 512 bytes where no limit in bytes can be set. A write beyond the limit is an error where the signal is ignored.
        let script = "trap '' XFSZ; limit=$1; shift\n\
                      if command -v prlimit >/dev/null; then exec prlimit --fsize=$limit \"$@\"; fi\n\
                      ulimit -f $((limit / 512)); exec \"$@\"";
        command
            .args(["-c", script, "sh", &bytes.to_string(), BINARY])
            .args(arguments);
        project.output(
            command
                .env("PATH", std::env::var("PATH").unwrap_or_default())
                .env("HOME", "/nonexistent"),
        )
    };
    let expected = undisturbed(&quiz(4), &ARGUMENTS);
    let (mut refused, mut journals) = (0, 0);
    for bytes in (0..1800).step_by(120) {
        let project = quiz(4);
        let output = limited(&project, bytes, &ARGUMENTS);
        if output.code != 0 {
            check_refusal(&output, "File too large");
            refused += 1;
            journals += usize::from(output.stderr.contains(".jsonl: "));
            let has_plan = !project.files("results/batches").is_empty();
            assert_eq!(
                output
                    .stderr
                    .contains("resume with `evalreport run --resume "),
                has_plan,
                "{}",
                output.stderr
            );
            if has_plan {
                check_refusal(
                    &limited(&project, bytes, &["run", "--resume"]),
                    "File too large",
                );
            }
        }
        check_whole(&project, "results");
        go_on(&project, &ARGUMENTS);
        check(&project, "results", &expected);
    }
    assert!(
        (5..15).contains(&refused) && journals > 0,
        "{refused} of 15, {journals} in the middle of a journal"
    );
}

/// A file system of its own, gone with the test.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = mounting("umount", &[]).arg(&self.0).succeeds();
    }
}

/// Mounts a file system of 256 KiB, if this user may.
fn mount(folder: &std::path::Path) -> Option<Mounted> {
    let mut command = mounting(
        "mount",
        &["-t", "tmpfs", "-o", "size=256k,mode=777", "tmpfs"],
    );
    command
        .arg(folder)
        .succeeds()
        .then(|| Mounted(folder.to_owned()))
}

/// As root, or as somebody who may become root without a password.
fn mounting(program: &str, arguments: &[&str]) -> Command {
    let is_root = rustix::process::geteuid().is_root();
    let mut command = Command::new(if is_root { program } else { "sudo" });
    command
        .args(["-n", program].iter().filter(|_| !is_root))
        .args(arguments);
    command
}

/// Whether this user may mount a file system.
pub fn can_mount() -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let is_there = |program: &str| needs::is_met(program);
    (rustix::process::geteuid().is_root() || is_there("sudo"))
        && is_there("mount")
        && mount(folder.path()).is_some()
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full() {
    needs!(needs::MOUNTS);
    let project = quiz(4);
    let expected = undisturbed(&quiz(4), &ARGUMENTS);
    let folder = project.path("results");
    fs::create_dir(&folder).expect("a folder");
    let _mounted = mount(&folder).expect("it could be mounted just now");
    let mut refused = BTreeSet::new();
    for free in 0..12 {
        // A page is the least that a file takes.
        let filler = project.path("results/filler");
        let mut size = (64 - free) * 4096;
        while fs::write(&filler, vec![1; size]).is_err() {
            size -= 4096;
        }
        let resume = if project.files("results/batches").is_empty() {
            ARGUMENTS.to_vec()
        } else {
            vec!["run", "--resume"]
        };
        let output = project.run(resume);
        let is_done = output.code == 0 || output.stderr.starts_with("error: no unfinished batch");
        if !is_done {
            check_refusal(&output, "No space left on device");
            let error = output
                .stderr
                .lines()
                .find(|line| line.starts_with("error: "))
                .unwrap_or_default();
            refused.insert(
                ["batches", "items.jsonl", "transcript.jsonl", ".json"]
                    .iter()
                    .position(|part| error.contains(part)),
            );
        }
        fs::remove_file(&filler).expect("ours");
        check_whole(&project, "results");
    }
    assert!(
        refused.len() > 1,
        "it was full at several places: {refused:?}"
    );
    go_on(&project, &ARGUMENTS);
    check(&project, "results", &expected);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_not_ours_to_write() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    /// The id of `nobody`.
    const NOBODY: u32 = 65_534;
    // The plan is smaller than the limit below, and what one run says is larger.
    let project = quiz(6);
    let mode = |path: &str, mode| {
        fs::set_permissions(project.path(path), fs::Permissions::from_mode(mode))
            .expect("ours to change");
    };
    let expected = undisturbed(&project, &ARGUMENTS);
    fs::create_dir(project.path("results")).expect("a folder");
    mode("", 0o755);
    mode("results", 0o555);
    let is_root = fs::metadata(project.path("results"))
        .expect("it is there")
        .uid()
        == 0;
    // Nobody may not reach the build folder.
    let program = project.path("evalreport");
    if fs::hard_link(BINARY, &program).is_err() {
        fs::copy(BINARY, &program).expect("the program can be copied");
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .env("PATH", std::env::var("PATH").unwrap_or_default());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        project.output(&mut command)
    };
    check_refusal(&run(&ARGUMENTS), "Permission denied");
    assert!(project.files("results").is_empty());

    // In the middle of a batch: the second run has no folder yet, and none can be made.
    mode("results", 0o777);
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 3; exec \"$@\"";
    command
        .args(["-c", script, "sh", BINARY])
        .args(ARGUMENTS)
        .env("PATH", std::env::var("PATH").unwrap_or_default());
    assert_eq!(project.output(&mut command).code, 2);
    for file in project.files("results") {
        mode(&file, 0o666);
    }
    for entry in fs::read_dir(project.path("results"))
        .expect("it is there")
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
    {
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o555))
            .expect("ours to change");
    }
    let committed = kept(&project, "results").len();
    check_refusal(&run(&["run", "--resume"]), "Permission denied");
    assert_eq!(kept(&project, "results").len(), committed);
    check_whole(&project, "results");
    for entry in fs::read_dir(project.path("results"))
        .expect("it is there")
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
    {
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o777))
            .expect("ours to change");
    }
    let resumed = run(&["run", "--resume", "--quiet"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    check(&project, "results", &expected);
}
