//! Killed at every call by which it changes a file, and at random moments.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{check, go_on, kept, quiz, start, undisturbed, workshop};
use crate::support::{BINARY, Output, Project};

/// Calls that make, fill, name, shorten, lock and sync files. Not every machine has each.
const CALLS: &str = "?open,openat,?mkdir,mkdirat,write,?writev,?pwrite64,fsync,fdatasync,ftruncate,?link,linkat,?rename,?renameat,renameat2,\
                     ?unlink,unlinkat,flock";

/// Says whether calls can be counted and killed at here.
fn has_strace() -> bool {
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "-e", "trace=write", "true"]).status().is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: strace is not installed, or may not trace here");
    }
    works
}

fn strace(project: &Project, options: &[&str], arguments: &[&str]) -> Output {
    let mut command = Command::new("strace");
    command.arg("-qq").args(options).arg(BINARY).args(arguments);
    project.output(command.env("PATH", std::env::var("PATH").unwrap_or_default()).env("HOME", "/nonexistent"))
}

/// A call by its name and how many of that name there were up to it.
type Call = (String, usize);

/// The calls that a command makes. The store is written by one thread, which is the one that is followed.
fn calls(project: &Project, arguments: &[&str]) -> Vec<Call> {
    assert_eq!(strace(project, &["-o", "trace", "-e", &format!("trace={CALLS}")], arguments).code, 0);
    let mut counts = BTreeMap::<String, usize>::new();
    let trace = project.read("trace");
    let names = trace.lines().filter_map(|line| Some(line.split_once('(')?.0)).filter(|name| !name.contains(' '));
    let calls = names.map(|name| {
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        (name.to_owned(), *count)
    });
    calls.collect()
}

/// Runs and kills it when it begins a call.
fn killed_at(project: &Project, (name, number): &Call, arguments: &[&str]) -> bool {
    let options = ["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &format!("inject={name}:signal=KILL:when={number}")];
    let output = strace(project, &options, arguments);
    assert!(matches!(output.code, -1 | 0), "exit {} at {name} {number}: {}", output.code, output.stderr);
    output.code == -1
}

/// Does it for every call, on both cores.
fn for_each(calls: &[Call], go: impl Fn(&Call) + Sync) {
    let begin = Instant::now();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(call) = calls.get(next.fetch_add(1, Ordering::SeqCst)) {
                    go(call);
                }
            });
        }
    });
    eprintln!("{} kills in {:.1} s", calls.len(), begin.elapsed().as_secs_f64());
}

/// Kills a command at every call, goes on, and expects what it would have kept without.
fn sweep(project: impl Fn() -> Project + Sync, arguments: &[&str]) -> usize {
    let expected = undisturbed(&project(), arguments);
    let calls = calls(&project(), arguments);
    for_each(&calls, |call| {
        let project = project();
        assert!(killed_at(&project, call, arguments), "{call:?} is made every time");
        go_on(&project, arguments);
        check(&project, "results", &expected);
    });
    calls.len()
}

#[test]
fn a_batch_of_three_runs_killed_at_every_call() {
    if !has_strace() {
        return;
    }
    let calls = sweep(|| quiz(4), &["run", "quiz", "--agent", "mixed", "--runs", "3", "--seed", "7", "--shuffle", "--tag", "night=12"]);
    assert!(calls > 90, "{calls} calls are not all of three runs");
}

#[test]
fn a_batch_of_code_killed_at_every_call() {
    if !has_strace() {
        return;
    }
    let calls = sweep(workshop, &["run", "lines", "--approach", "writer", "--runs", "2", "--seed", "7"]);
    assert!(calls > 60, "{calls} calls are not all of two runs");
}

/// What goes on is killed as well, at every call of its own.
#[test]
fn a_resumed_batch_killed_at_every_call() {
    if !has_strace() {
        return;
    }
    let arguments = ["run", "quiz", "--agent", "mixed", "--runs", "2", "--seed", "7"];
    let expected = undisturbed(&quiz(5), &arguments);
    // In the middle of the second run, in which a transcript is ahead of its items.
    let interrupted = || {
        let project = quiz(5);
        assert!(killed_at(&project, &("write".to_owned(), 17), &arguments));
        project
    };
    let found = interrupted();
    assert_eq!((kept(&found, "results").len(), found.run(["doctor"]).code), (1, 1), "one run is done and one is begun");
    let resume = ["run", "--resume"];
    let calls = calls(&interrupted(), &resume);
    for_each(&calls, |call| {
        let project = interrupted();
        killed_at(&project, call, &resume);
        go_on(&project, &arguments);
        check(&project, "results", &expected);
    });
    assert!(calls.len() > 60, "{calls:?} are not all");
}

/// All that changes the store happens on the thread that the tests above follow.
#[test]
fn one_thread_writes_the_store() {
    if !has_strace() {
        return;
    }
    let project = quiz(6);
    let options = ["-f", "-y", "-o", "trace", "-e", &format!("trace={CALLS}")];
    assert_eq!(strace(&project, &options, &["run", "quiz", "--agent", "good", "--runs", "2", "--jobs", "4"]).code, 0);
    let trace = project.read("trace");
    let mut threads: Vec<&str> = trace.lines().filter(|line| line.contains("/results") && !line.contains("O_RDONLY")).filter_map(|line| line.split(' ').next()).collect();
    assert!(threads.len() > 20, "{trace}");
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 1, "{trace}");
}

/// A sequence of numbers that is the same in every go.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn forty_runs_killed_at_thirty_random_moments() {
    const KILLS: usize = 30;
    let arguments = ["run", "quiz", "--agent", "mixed", "--runs", "40", "--seed", "11", "--jobs", "2"];
    let begin = Instant::now();
    let reference = quiz(25);
    let expected = undisturbed(&reference, &arguments);
    assert_eq!(expected.values().map(|run| run.items.len()).sum::<usize>(), 40 * 25);
    let mut numbers = Numbers(4);
    let (mut kills, mut batches) = (0, 0);
    while kills < KILLS {
        let project = quiz(25);
        batches += 1;
        let mut is_over = false;
        while !is_over && kills < KILLS {
            let resume = ["run", "--resume"];
            let has_plan = project.files("results/batches").iter().any(|file| file.ends_with(".json"));
            let mut child = start(&project, if has_plan { &resume } else { &arguments });
            // At any moment from its very start, and more often while it writes.
            if numbers.below(4) > 0 {
                let mut line = String::new();
                BufReader::new(child.stderr.as_mut().expect("piped")).read_line(&mut line).expect("it says that a run starts");
            }
            thread::sleep(Duration::from_micros(numbers.below(40_000)));
            is_over = child.try_wait().expect("ours").is_some();
            if !is_over {
                child.kill().expect("ours");
                kills += 1;
            }
            child.wait().expect("ours");
            let ahead = kept(&project, "results");
            assert!(ahead.iter().all(|(key, run)| expected[key] == *run), "what is committed is whole at any moment");
        }
        go_on(&project, &arguments);
        check(&project, "results", &expected);
    }
    eprintln!("{kills} kills of {batches} batches in {:.1} s", begin.elapsed().as_secs_f64());
}
