//! Killed at every call by which it changes a file, and at random moments.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use evalreport::domain::{Run, RunId};
use evalreport::results::Store;

use super::{check, go_on, kept, plans, quiz, say, start, undisturbed, workshop};
use crate::support::{BINARY, Output, Project, question};

/// Calls that make, fill, name, shorten, lock and sync files. Not every machine has each.
const CALLS: &str = "?open,openat,?mkdir,mkdirat,write,?writev,?pwrite64,fsync,fdatasync,ftruncate,?link,linkat,?rename,?renameat,renameat2,\
                     ?unlink,unlinkat,flock";

fn strace(project: &Project, options: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new("strace");
    command.arg("-qq").args(options).arg(BINARY).args(arguments);
    project.output(
        command
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("HOME", "/nonexistent"),
    )
}

/// A call by its name and how many of that name there were up to it.
type Call = (String, usize);

/// The calls that a command makes. The store is written by one thread, which is the one that is followed.
fn calls(project: &Project, arguments: &[&str]) -> Vec<Call> {
    assert_eq!(
        strace(
            project,
            &["-o", "trace", "-e", &format!("trace={CALLS}")],
            arguments
        )
        .code,
        0
    );
    let mut counts = BTreeMap::<String, usize>::new();
    let trace = project.read("trace");
    let names = trace
        .lines()
        .filter_map(|line| Some(line.split_once('(')?.0))
        .filter(|name| !name.contains(' '));
    let calls = names.map(|name| {
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        (name.to_owned(), *count)
    });
    calls.collect()
}

/// Runs and kills it when it begins a call.
fn killed_at(project: &Project, (name, number): &Call, arguments: &[&str]) -> bool {
    let options = [
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={name}"),
        "-e",
        &format!("inject={name}:signal=KILL:when={number}"),
    ];
    let output = strace(project, &options, arguments);
    assert!(
        matches!(output.code, -1 | 0),
        "exit {} at {name} {number}: {}",
        output.code,
        output.stderr
    );
    output.code == -1
}

/// Does it for every so-manieth call, on both cores. `go` says whether it killed: a program that waits for others does not make exactly as
/// many calls each time, so the last ones are not always reached.
fn for_each(calls: &[Call], step: usize, go: impl Fn(&Call) -> bool + Sync) {
    let begin = Instant::now();
    let calls: Vec<&Call> = calls.iter().step_by(step).collect();
    let (next, unreached) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(call) = calls.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if !go(call) {
                        unreached.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let unreached = unreached.into_inner();
    assert!(
        unreached * 20 <= calls.len(),
        "{unreached} of {} calls were not made again",
        calls.len()
    );
    say(&format!(
        "{} kills in {:.1} s",
        calls.len() - unreached,
        begin.elapsed().as_secs_f64()
    ));
}

/// Kills a command at every so-manieth call, goes on, and expects what it would have kept without.
fn sweep(project: impl Fn() -> Project + Sync, arguments: &[&str], step: usize) {
    let expected = undisturbed(&project(), arguments);
    let calls = calls(&project(), arguments);
    assert!(calls.len() > 90, "{calls:?} are not all");
    for_each(&calls, step, |call| {
        let project = project();
        let is_killed = killed_at(&project, call, arguments);
        go_on(&project, arguments);
        check(&project, "results", &expected);
        is_killed
    });
}

#[test]
fn a_batch_of_three_runs_killed_at_every_call() {
    needs!("strace");
    let arguments = [
        "run",
        "quiz",
        "--agent",
        "mixed",
        "--runs",
        "3",
        "--seed",
        "7",
        "--shuffle",
        "--tag",
        "night=12",
    ];
    sweep(|| quiz(4), &arguments, 1);
}

/// Without isolation, whose calls are as many as there are folders beside the project.
const CODE: [&str; 9] = [
    "run",
    "lines",
    "--approach",
    "writer",
    "--runs",
    "2",
    "--seed",
    "7",
    "--no-isolation",
];

#[test]
fn a_batch_of_code_killed_at_calls() {
    needs!("strace");
    sweep(workshop, &CODE, 3);
}

#[test]
#[ignore = "half a minute more of the same"]
fn a_batch_of_code_killed_at_every_call() {
    needs!("strace");
    sweep(workshop, &CODE, 1);
}

/// What goes on is killed as well, at calls of its own.
fn sweep_resumed(step: usize) {
    let arguments = [
        "run", "quiz", "--agent", "mixed", "--runs", "2", "--seed", "7",
    ];
    let expected = undisturbed(&quiz(5), &arguments);
    // In the second run, when a third transcript is written and its outcome is not. Programs that take long, as under load, are made known to
    // a guard, by a call more each.
    let killed = |call: usize| {
        let project = quiz(5);
        assert!(killed_at(&project, &("write".to_owned(), call), &arguments));
        let items = project
            .files("results")
            .into_iter()
            .filter(|file| file.ends_with("items.jsonl"));
        let begun = items
            .min_by_key(|file| project.read(file).len())
            .expect("it was journalled");
        (project.read(&begun).lines().count() == 2).then_some((project, begun))
    };
    let interrupted = || {
        let (project, begun) = (25..35)
            .find_map(killed)
            .expect("two questions are answered after one of these calls");
        let text = project.read(&begun);
        let [first, second] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("there are two lines: {text}")
        };
        // As if several had been asked at once, and the power been cut in the middle of a line.
        project.file(
            &begun,
            format!("{second}\n{first}\n{{\"item\":\"q02\",\"ki"),
        );
        project
    };
    let found = interrupted();
    assert_eq!(
        (kept(&found, "results").len(), found.run(["doctor"]).code),
        (1, 1),
        "one run is done and one is begun"
    );
    let resume = ["run", "--resume"];
    let calls = calls(&interrupted(), &resume);
    assert!(
        calls.len() > 60
            && calls
                .iter()
                .filter(|(name, _)| name == "renameat" || name == "rename")
                .count()
                > 1,
        "{calls:?} are not all"
    );
    for_each(&calls, step, |call| {
        let project = interrupted();
        let is_killed = killed_at(&project, call, &resume);
        go_on(&project, &arguments);
        check(&project, "results", &expected);
        is_killed
    });
}

#[test]
fn a_resumed_batch_killed_at_calls() {
    needs!("strace");
    sweep_resumed(3);
}

#[test]
#[ignore = "half a minute more of the same"]
fn a_resumed_batch_killed_at_every_call() {
    needs!("strace");
    sweep_resumed(1);
}

/// All that changes the store happens on the thread that the tests above follow.
#[test]
fn one_thread_writes_the_store() {
    needs!("strace");
    let project = quiz(6);
    let options = [
        "-f",
        "-y",
        "-o",
        "trace",
        "-e",
        "trace=write,fsync,ftruncate,renameat2,mkdir,flock",
    ];
    assert_eq!(
        strace(
            &project,
            &options,
            &[
                "run", "quiz", "--agent", "good", "--runs", "2", "--jobs", "4"
            ]
        )
        .code,
        0
    );
    let trace = project.read("trace");
    let mut threads: Vec<&str> = trace
        .lines()
        .filter(|line| line.contains("/results"))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(threads.len() > 20, "{trace}");
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 1, "{trace}");
}

/// A store to import into, and a bundle of three runs: with outputs and messages, imported ones beside them.
fn bundled() -> Project {
    let project = Project::new();
    for run in ["one", "two"] {
        project.items(run, &[question("q1", 1, "pass"), question("q2", 1, "fail")]);
        project.file(
            &format!("results/{run}/transcript.jsonl"),
            "{\"entry\": {\"role\": \"user\"}}\n",
        );
        project.file(&format!("results/{run}/output/src/a.py"), "print()\n");
        let sealed = Run::new(RunId::parse(run).expect("an id"), "quiz", run, "m1");
        Store::new(project.path("results"))
            .save_run(&sealed)
            .expect("room");
    }
    let packed = project.run(["export", "bundle", "all.bundle"]);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    fs::rename(project.path("results"), project.path("source")).expect("ours");
    project
}

/// What a store holds, by the file's name, without what only its own machine has.
fn content(project: &Project, store: &str) -> BTreeMap<String, String> {
    let files = project.records(store).into_iter().filter_map(|file| {
        let name = file.strip_prefix(&format!("{store}/"))?.to_owned();
        (!name.starts_with('.') || name.contains('/')).then(|| (name, project.read(&file)))
    });
    files.collect()
}

#[test]
fn an_import_of_a_bundle_killed_at_every_call() {
    needs!("strace");
    let import = ["import", "all.bundle"];
    let undisturbed = bundled();
    assert_eq!(undisturbed.run(import).code, 0);
    let expected = content(&undisturbed, "results");
    assert!(
        ["one.json", "two.json", "two/output/src/a.py"]
            .iter()
            .all(|name| expected.contains_key(*name)),
        "{expected:?}"
    );
    let calls = calls(&bundled(), &import);
    for_each(&calls, 1, |call| {
        let project = bundled();
        let is_killed = killed_at(&project, call, &import);
        let listed = project.run(["list", "--runs", "--format", "csv"]);
        assert!(
            listed.code == 0 || listed.stderr.contains("the store holds no runs"),
            "{call:?}: {}",
            listed.stderr
        );
        let again = project.run(import);
        assert_eq!(again.code, 0, "{call:?}: {}{}", again.stdout, again.stderr);
        assert_eq!(content(&project, "results"), expected, "{call:?}");
        let doctor = project.run(["doctor", "--verify"]);
        assert_eq!(doctor.code, 0, "{call:?}: {}", doctor.stdout);
        assert!(
            doctor.stdout.ends_with("results: 2 runs sealed\n"),
            "{call:?}: {}",
            doctor.stdout
        );
        is_killed
    });
}

/// Calls that a disk or a system may refuse, and with what.
const FAULTS: [(&str, &str); 8] = [
    ("openat", "EMFILE"),
    ("openat", "EIO"),
    ("read", "EIO"),
    ("write", "ENOSPC"),
    ("fsync", "EIO"),
    ("renameat2", "EIO"),
    ("statx", "EIO"),
    ("getdents64", "EIO"),
];

/// Refuses every so-manieth call that a command makes to files of the store, one at a time: whatever it says, the next command has it right.
#[test]
fn a_refused_call_is_said_and_leaves_nothing_wrong() {
    needs!("strace");
    let whole = bundled();
    assert_eq!(whole.run(["import", "all.bundle"]).code, 0);
    let answer = |project: &Project| project.run(["list", "--runs", "--format", "json"]).stdout;
    let truth = answer(&whole);
    let mut faults = 0;
    for (name, error) in FAULTS {
        let paths: Vec<String> = whole
            .files("results")
            .into_iter()
            .filter(|file| !file.contains("/."))
            .collect();
        for path in paths.iter().map(String::as_str).chain([
            "results",
            "results/one",
            "results/imports",
            "results/batches",
        ]) {
            let project = bundled();
            assert_eq!(project.run(["import", "all.bundle"]).code, 0);
            let inject = format!("inject={name}:error={error}");
            let options = [
                "-f",
                "-o",
                "/dev/null",
                "-P",
                path,
                "-e",
                &format!("trace={name}"),
                "-e",
                &inject,
            ];
            let output = strace(&project, &options, &["list", "--runs", "--format", "json"]);
            let is_told =
                output.code != 0 || output.stdout == truth || output.stderr.contains("cannot");
            assert!(
                is_told,
                "{name} {error} {path}: {}{}",
                output.stdout, output.stderr
            );
            let export = strace(&project, &options, &["export", "json", "out.json", "-q"]);
            assert!(
                export.code != 0 || project.read("out.json").matches("\"item\":").count() == 4,
                "{name} {error} {path}: {}",
                export.stderr
            );
            assert_eq!(answer(&project), truth, "{name} {error} {path}");
            faults += 2;
        }
    }
    say(&format!("{faults} commands with a fault"));
}

/// A sequence of numbers that is the same in every go.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn forty_runs_killed_at_thirty_random_moments() {
    const KILLS: usize = 30;
    let arguments = [
        "run", "quiz", "--agent", "mixed", "--runs", "40", "--seed", "11", "--jobs", "2",
    ];
    let begin = Instant::now();
    let reference = quiz(25);
    let expected = undisturbed(&reference, &arguments);
    assert_eq!(
        expected.values().map(|run| run.items.len()).sum::<usize>(),
        40 * 25
    );
    let mut numbers = Numbers(4);
    let (mut kills, mut batches) = (0, 0);
    while kills < KILLS {
        let project = quiz(25);
        batches += 1;
        let mut is_over = false;
        while !is_over && kills < KILLS {
            let resume = ["run", "--resume"];
            let has_plan = !plans(&project, "results").is_empty();
            let mut child = start(&project, if has_plan { &resume } else { &arguments });
            // At any moment from its very start, and more often while it writes.
            if numbers.below(4) > 0 {
                let mut line = String::new();
                BufReader::new(child.stderr.as_mut().expect("piped"))
                    .read_line(&mut line)
                    .expect("it says that a run starts");
            }
            thread::sleep(Duration::from_micros(numbers.below(40_000)));
            is_over = child.try_wait().expect("ours").is_some();
            if !is_over {
                child.kill().expect("ours");
                kills += 1;
            }
            child.wait();
            let ahead = kept(&project, "results");
            assert!(
                ahead.iter().all(|(key, run)| expected[key] == *run),
                "what is committed is whole at any moment"
            );
        }
        go_on(&project, &arguments);
        check(&project, "results", &expected);
    }
    say(&format!(
        "{kills} kills of {batches} batches in {:.1} s",
        begin.elapsed().as_secs_f64()
    ));
}
