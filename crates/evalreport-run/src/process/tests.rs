//! Real programs that behave badly in every way that a waiting process must handle.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Instant;

use super::*;

/// Longer than any test takes: a program with this duration never ends by itself.
const EVER: &str = "600";
const SHORT: Duration = Duration::from_millis(150);

fn command(argv: &[&str]) -> ProgramCommand {
    let limits = ProgramLimits {
        grace: Duration::from_secs(20),
        ..ProgramLimits::default()
    };
    ProgramCommand {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: "/".into(),
        env: BTreeMap::new(),
        input: Vec::new(),
        limits,
        confinement: None,
    }
}

fn shell(script: &str) -> ProgramCommand {
    command(&["sh", "-c", script])
}

#[track_caller]
fn finished(command: &ProgramCommand) -> FinishedProgram {
    run_program(command, &StopSignal::new()).expect("the program starts")
}

/// Waits for a condition; fails the test if it never holds.
#[track_caller]
fn soon(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "this never happened: {what}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns whether a process runs. A process that has ended but is not reaped does not count.
fn is_running(number: &str) -> bool {
    let states = if cfg!(target_os = "linux") {
        fs::read_to_string(format!("/proc/{number}/stat"))
            .map(|stat| stat.rsplit(") ").next().unwrap_or_default().to_owned())
    } else {
        std::process::Command::new("ps")
            .args(["-o", "stat=", "-p", number])
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    states.is_ok_and(|states| !states.trim().is_empty() && !states.trim().starts_with('Z'))
}

/// Runs the command, calls `act` once the script has made the file `ready`, and returns the program's result.
#[track_caller]
fn stopped_when_ready(
    mut command: ProgramCommand,
    folder: &Path,
    act: impl Fn(&StopSignal),
) -> FinishedProgram {
    folder.clone_into(&mut command.cwd);
    let stop = StopSignal::new();
    thread::scope(|scope| {
        let running = scope.spawn(|| run_program(&command, &stop).expect("the program starts"));
        soon("the program is ready", || folder.join("ready").exists());
        act(&stop);
        running.join().expect("the run comes to an end")
    })
}

/// Returns the command that runs one ignored test in a process of its own.
pub fn alone(test: &str) -> std::process::Command {
    let mut command =
        std::process::Command::new(std::env::current_exe().expect("the tests are a program"));
    command
        .args(["--ignored", "--exact", test])
        .stdin(std::process::Stdio::null());
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

#[test]
fn a_program_runs_with_its_input_environment_and_folder() {
    let folder = folder();
    let mut command =
        shell(r#"pwd -P; cat; printf '%s|%s|%s' "$ADDED" "${HOME-none}" "$1" >&2; exit 7"#);
    command
        .argv
        .extend(["name".into(), "an argument; echo no".into()]);
    command.cwd = folder.path().canonicalize().expect("the folder is there");
    command.env.insert("ADDED".into(), Some("value".into()));
    command.env.insert("HOME".into(), None);
    command.input = b"to read\n".to_vec();
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::Exited(7));
    assert_eq!(
        finished.stdout.text(),
        format!("{}\nto read\n", command.cwd.display())
    );
    assert_eq!(finished.stderr.text(), "value|none|an argument; echo no");
    assert!(finished.wall > Duration::ZERO);
}

#[test]
fn a_signal_from_elsewhere_is_told_apart() {
    assert_eq!(
        finished(&shell("kill -KILL $$")).end,
        ProgramExit::Signalled(9)
    );
    assert_eq!(
        finished(&shell("kill -TERM $$")).end,
        ProgramExit::Signalled(15)
    );
}

#[test]
fn without_input_there_is_nothing_to_read() {
    assert_eq!(finished(&shell("cat; echo over")).stdout.text(), "over\n");
}

#[test]
fn more_input_and_output_than_pipes_hold_goes_through() {
    let mut command = command(&["cat"]);
    command.input = (0..3_000_000_u32)
        .map(|position| u8::try_from(position % 251).expect("below 251"))
        .collect();
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::Exited(0));
    assert!(
        finished.stdout.bytes == command.input,
        "{} bytes came back",
        finished.stdout.bytes.len()
    );
}

#[test]
fn input_that_is_not_read_holds_nothing_up() {
    for script in ["exit 3", "exec 0<&-; printf x; exit 3", "head -c 1; exit 3"] {
        for size in [10, 10_000_000] {
            let mut command = shell(script);
            command.input = vec![b'x'; size];
            assert_eq!(
                finished(&command).end,
                ProgramExit::Exited(3),
                "{script} {size}"
            );
        }
    }
    // A program that waits until its time is up.
    let mut command = command(&["sleep", EVER]);
    command.input = vec![b'x'; 1_000_000];
    command.limits.wall = Some(SHORT);
    assert_eq!(finished(&command).end, ProgramExit::TimedOut);
}

#[test]
fn bytes_survive_as_they_are() {
    assert_eq!(
        finished(&shell(r"printf 'a\377\000\n\303'")).stdout.bytes,
        b"a\xff\0\n\xc3"
    );
}

#[test]
fn a_flood_is_drained_and_its_two_ends_are_kept() {
    let mut command = shell(
        "echo first; head -c 100000000 /dev/zero; echo last; (echo first; head -c 30000000 /dev/zero; echo last) >&2",
    );
    command.limits.output_bytes = 100_000;
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::Exited(0));
    for (stream, size) in [
        (&finished.stdout, 100_000_000),
        (&finished.stderr, 30_000_000),
    ] {
        assert_eq!(stream.bytes.len(), 100_000);
        assert_eq!(stream.dropped, size + 11 - 100_000);
        assert!(stream.bytes.starts_with(b"first\n\0") && stream.bytes.ends_with(b"\0last\n"));
    }
}

#[test]
fn time_is_up_and_half_a_line_is_kept() {
    let mut command = shell(&format!("printf half; sleep {EVER}"));
    command.limits.wall = Some(SHORT);
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::TimedOut);
    assert_eq!(finished.stdout.text(), "half");
    assert!(
        finished.wall >= SHORT && finished.wall < command.limits.grace,
        "{:?}",
        finished.wall
    );
}

#[test]
fn a_program_that_closed_its_output_is_still_bounded() {
    let mut command = shell(&format!("exec >/dev/null 2>&1; sleep {EVER}"));
    command.limits.wall = Some(SHORT);
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::TimedOut);
    assert!(finished.wall < command.limits.grace);
}

#[test]
fn a_program_may_end_in_its_own_way() {
    let folder = folder();
    let script = "trap 'echo bye; exit 0' TERM; touch ready; while :; do sleep 0.02; done";
    let finished = stopped_when_ready(shell(script), folder.path(), StopSignal::stop);
    assert_eq!(
        (finished.end, &*finished.stdout.text()),
        (ProgramExit::Stopped, "bye\n")
    );
}

#[test]
fn a_child_has_the_same_grace_as_its_parent() {
    let folder = folder();
    // The parent ends at once. The child, which writes only to a file, needs time to clean up.
    let child = "trap 'sleep 0.2; echo done > tidied; exit' TERM; touch ready; while :; do sleep 0.02; done";
    let script = format!("({child}) >/dev/null 2>&1 & wait");
    let finished = stopped_when_ready(shell(&script), folder.path(), StopSignal::stop);
    assert_eq!(finished.end, ProgramExit::Stopped);
    if cfg!(target_os = "linux") {
        assert_eq!(
            fs::read_to_string(folder.path().join("tidied"))
                .ok()
                .as_deref(),
            Some("done\n")
        );
    }
}

#[test]
fn who_does_not_listen_is_killed_with_all_children() {
    let folder = folder();
    let script = format!(
        "trap '' TERM; sleep {EVER} & echo $$ $!; touch ready; wait; while :; do sleep {EVER}; done"
    );
    let mut command = shell(&script);
    command.limits.grace = SHORT;
    let finished = stopped_when_ready(command, folder.path(), StopSignal::stop);
    assert_eq!(finished.end, ProgramExit::Stopped);
    assert!(finished.wall >= SHORT);
    let output = finished.stdout.text();
    let numbers: Vec<&str> = output.split_whitespace().collect();
    assert_eq!(numbers.len(), 2, "{output}");
    assert!(
        !Path::new(&format!("/proc/{}", numbers[0])).exists(),
        "the program is reaped"
    );
    soon("its child is gone", || !is_running(numbers[1]));
}

#[test]
fn a_second_interrupt_skips_the_grace() {
    let folder = folder();
    let script = format!("trap '' TERM; touch ready; sleep {EVER}; sleep {EVER}");
    let finished = stopped_when_ready(shell(&script), folder.path(), |stop| {
        stop.stop();
        stop.stop_at_once();
    });
    assert_eq!(finished.end, ProgramExit::Stopped);
    assert!(
        finished.wall < Duration::from_secs(15),
        "{:?}",
        finished.wall
    );
}

#[test]
fn one_stop_is_for_all_and_for_ever() {
    let stop = StopSignal::new();
    let folder = folder();
    thread::scope(|scope| {
        let running: Vec<_> = (0..4)
            .map(|index| {
                let mut command = shell(&format!("touch {index}; sleep {EVER}"));
                command.cwd = folder.path().to_owned();
                let stop = stop.clone();
                scope.spawn(move || {
                    run_program(&command, &stop)
                        .expect("the program starts")
                        .end
                })
            })
            .collect();
        soon("all run", || {
            (0..4).all(|index| folder.path().join(index.to_string()).exists())
        });
        assert!(!stop.is_stopped());
        stop.stop();
        for one in running {
            assert_eq!(
                one.join().expect("the run comes to an end"),
                ProgramExit::Stopped
            );
        }
    });
    let mut late = shell("touch late");
    late.cwd = folder.path().to_owned();
    assert_eq!(
        run_program(&late, &stop).expect("nothing is started").end,
        ProgramExit::Stopped
    );
    assert!(!folder.path().join("late").exists());
}

#[test]
fn output_held_by_a_child_is_read_for_the_grace_only() {
    let mut command = shell(&format!("sleep {EVER} & echo $!; exit 4"));
    command.limits.grace = SHORT;
    let start = Instant::now();
    let finished = finished(&command);
    assert!(start.elapsed() >= SHORT);
    assert_eq!(finished.end, ProgramExit::Exited(4));
    soon("the child is gone", || {
        !is_running(finished.stdout.text().trim())
    });
}

#[test]
fn a_child_may_finish_writing_within_the_grace() {
    let finished = finished(&shell("(sleep 0.1; echo late) & echo early"));
    assert_eq!(
        (finished.end, &*finished.stdout.text()),
        (ProgramExit::Exited(0), "early\nlate\n")
    );
    assert!(finished.wall < Duration::from_secs(15));
}

#[test]
fn what_a_program_leaves_in_its_group_ends_with_it() {
    let finished = finished(&shell(&format!("sleep {EVER} >/dev/null 2>&1 & echo $!")));
    assert_eq!(finished.end, ProgramExit::Exited(0));
    soon("what was left is gone", || {
        !is_running(finished.stdout.text().trim())
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_in_a_session_of_its_own_is_found_by_its_mark() {
    // First a child that holds the output open after the program's end, then a silent child of a stopped program.
    let script = format!("setsid sh -c 'echo $$; exec sleep {EVER}' & sleep 0.1; exit 4");
    let mut held = shell(&script);
    held.limits.grace = SHORT;
    let finished_held = finished(&held);
    assert_eq!(finished_held.end, ProgramExit::Exited(4));
    let folder = folder();
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ > number; touch ready; exec sleep {EVER}' >/dev/null 2>&1 & wait"
    );
    let mut silent = shell(&script);
    silent.limits.grace = SHORT;
    assert_eq!(
        stopped_when_ready(silent, folder.path(), StopSignal::stop).end,
        ProgramExit::Stopped
    );
    let number = fs::read_to_string(folder.path().join("number")).expect("the child wrote it");
    for number in [&*finished_held.stdout.text(), &*number] {
        assert!(number.trim().parse::<u32>().is_ok(), "{number}");
        soon("the child is gone", || !is_running(number.trim()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_that_cannot_be_found_holds_nothing_up() {
    let mut command = shell(&format!(
        "env -i setsid sh -c 'echo $$; exec sleep {EVER}' & sleep 0.1"
    ));
    command.limits.grace = SHORT;
    let finished = finished(&command);
    assert_eq!(finished.end, ProgramExit::Exited(0));
    let number = finished.stdout.text().trim().to_owned();
    assert!(
        is_running(&number),
        "this test is about a child that escapes"
    );
    let number = number
        .parse()
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("a number");
    rustix::process::kill_process(number, rustix::process::Signal::KILL).expect("it runs");
}

#[test]
fn each_program_has_a_mark_of_its_own() {
    let mark = || {
        finished(&shell(&format!("printf %s ${MARK_VARIABLE}")))
            .stdout
            .text()
            .into_owned()
    };
    let (one, other) = (mark(), mark());
    assert!(
        one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{one}"
    );
    assert_ne!(one, other);
}

#[test]
fn programs_hold_no_pipes_of_each_other() {
    // Each `cat` ends with its input. A sleeper with a copy of the pipe's other end would keep it waiting.
    let stop = StopSignal::new();
    thread::scope(|scope| {
        let pairs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let sleeper = BackgroundProgram::start(&command(&["sleep", EVER]))
                        .expect("the program starts");
                    let mut cat = command(&["cat"]);
                    cat.input = vec![b'x'; 100_000];
                    cat.limits.wall = Some(Duration::from_secs(20));
                    let finished = run_program(&cat, &stop).expect("the program starts");
                    (sleeper, finished.end, finished.stdout.bytes.len())
                })
            })
            .collect();
        for pair in pairs {
            let (sleeper, end, length) = pair.join().expect("the run comes to an end");
            assert_eq!((end, length), (ProgramExit::Exited(0), 100_000));
            assert_eq!(sleeper.stop().end, ProgramExit::Stopped);
        }
    });
}

#[test]
fn what_cannot_be_started_says_why() {
    let folder = folder();
    let file = |name: &str, text: &str, mode| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("the folder can be written to");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the file is ours");
        path.to_str().expect("a temporary path is text").to_owned()
    };
    let error = |argv: &[&str]| {
        run_program(&command(argv), &StopSignal::new())
            .expect_err("it cannot start")
            .to_string()
    };
    assert_eq!(
        error(&["no-such-program-here", "x"]),
        "program `no-such-program-here` not found"
    );
    assert_eq!(
        error(&["/no/such/program"]),
        "program `/no/such/program` not found"
    );
    for path in [
        file("plain", "#!/bin/sh\n", 0o644),
        file("orphan", "#!/no/such/interpreter\n", 0o755),
        "/tmp".to_owned(),
    ] {
        assert_eq!(
            error(&[&path]),
            format!("`{path}` is not a program that can be executed here")
        );
    }
    assert_eq!(
        error(&[]),
        "program `` could not be started: the command is empty"
    );
    assert!(error(&["sh", "a\0b"]).starts_with("program `sh` could not be started: "));
    let mut nowhere = shell("exit");
    nowhere.cwd = "/no/such/folder".into();
    let error = run_program(&nowhere, &StopSignal::new())
        .expect_err("it cannot start")
        .to_string();
    assert_eq!(
        error,
        "program `sh` could not be started: `/no/such/folder`, where it is to start, is no folder"
    );
    assert!(matches!(
        BackgroundProgram::start(&command(&["no-such-program-here"])),
        Err(StartError::NotFound { .. })
    ));
}

#[test]
fn a_program_is_found_where_its_own_path_says() {
    let folder = folder();
    let program = folder.path().join("mine");
    fs::write(&program, "#!/bin/sh\necho mine\n").expect("the folder can be written to");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    let mut command = command(&["mine"]);
    let path = std::env::join_paths([folder.path(), Path::new("/bin"), Path::new("/usr/bin")])
        .expect("no path has a colon");
    command.env.insert("PATH".into(), Some(path));
    assert_eq!(finished(&command).stdout.text(), "mine\n");
    command.env.clear();
    command.argv = vec!["./mine".into()];
    command.cwd = folder.path().to_owned();
    assert_eq!(finished(&command).stdout.text(), "mine\n");
}

#[test]
fn a_server_runs_beside_and_is_stopped() {
    let script = "trap 'echo bye; exit 0' TERM; echo listening; echo careful >&2; while :; do sleep 0.02; done";
    let mut server = BackgroundProgram::start(&shell(script)).expect("the program starts");
    soon("it says so", || {
        server.captured_output().text() == "listening\ncareful\n"
    });
    assert_eq!(server.exit_by_now(), None);
    let finished = server.stop();
    assert_eq!(finished.end, ProgramExit::Stopped);
    // Some shells report between these lines that their `sleep` was ended.
    let output = finished.stdout.text();
    assert!(
        output.starts_with("listening\ncareful\n") && output.ends_with("bye\n"),
        "{output}"
    );
    assert_eq!(finished.stderr, CapturedOutput::default());
}

#[test]
fn a_server_that_ended_says_how() {
    let mut server =
        BackgroundProgram::start(&shell("echo no >&2; exit 5")).expect("the program starts");
    soon("it ends", || server.exit_by_now().is_some());
    assert_eq!(server.exit_by_now(), Some(ProgramExit::Exited(5)));
    let finished = server.stop();
    assert_eq!(
        (finished.end, &*finished.stdout.text()),
        (ProgramExit::Exited(5), "no\n")
    );
}

#[test]
fn a_server_that_is_dropped_ends_with_its_children() {
    let server = BackgroundProgram::start(&shell(&format!("sleep {EVER} & echo $$ $!; wait")))
        .expect("the program starts");
    soon("it says its numbers", || {
        server.captured_output().text().ends_with('\n')
    });
    let output = server.captured_output().text().into_owned();
    drop(server);
    assert_eq!(output.split_whitespace().count(), 2, "{output}");
    for number in output.split_whitespace() {
        soon("it is gone", || !is_running(number));
    }
}

/// The environment variable with the folder for [`killed_outright`].
const STAGE: &str = "EVALREPORT_TEST_STAGE";

#[test]
fn who_is_killed_outright_leaves_no_programs() {
    let folder = folder();
    let mut other = alone("process::tests::killed_outright")
        .env(STAGE, folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let names = ["server", "child", "agent"];
    soon("all run", || {
        names.iter().all(|name| read(name).ends_with('\n')) && !read("over").is_empty()
    });
    // Time for the agent to be put on the list, and for the guard to read the list.
    thread::sleep(10 * guard::GUARD_DELAY);
    other.kill().expect("it is ours");
    other.wait().expect("it is ours");
    for name in names {
        soon(&format!("the {name} is gone"), || {
            !is_running(read(name).trim())
        });
    }
}

#[test]
#[ignore = "the one that is killed in the test above"]
fn killed_outright() {
    let Some(stage) = std::env::var_os(STAGE) else {
        return;
    };
    let start = |script: &str| {
        let mut command = shell(script);
        command.cwd = stage.clone().into();
        command
    };
    let server = BackgroundProgram::start(&start(&format!(
        "echo $$ > server; sleep {EVER} & echo $! > child; wait"
    )))
    .expect("the program starts");
    finished(&start("sleep 0.2"));
    BackgroundProgram::start(&start("exec sleep 60"))
        .expect("the program starts")
        .stop();
    finished(&start("echo yes > over"));
    finished(&start(&format!(
        "echo $$ > agent; trap '' TERM; sleep {EVER}; sleep {EVER}"
    )));
    drop(server);
}

#[test]
fn a_free_port_can_be_taken() {
    let port = free_port().expect("some port is free");
    assert!(port > 0);
    TcpListener::bind(("127.0.0.1", port)).expect("it is free");
}
