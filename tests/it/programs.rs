//! Programs that tests start. Each has a process group of its own, which is killed when the test lets go of the program, or when the program's
//! time is up: no test waits for ever, and none leaves a program behind, whoever runs the tests.

use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may run: it takes seconds at most, and a machine may be slow or busy.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// How long those may run that open dozens of pages, or go through several nights.
pub const LONG_PATIENCE: Duration = Duration::from_mins(20);
/// How long the output of a killed program is read on, by which time nothing of its group holds it.
const SETTLE: Duration = Duration::from_secs(5);

/// A started program. Its group is killed when this is dropped.
pub struct Program {
    child: Child,
    name: String,
    patience: Duration,
    is_overdue: Arc<AtomicBool>,
    /// Ends the watch when dropped.
    _watch: Sender<()>,
}

/// Starting a program in a test: the one way to do so.
pub trait Start {
    /// Starts the program, which may run for [`PATIENCE`].
    fn start(&mut self) -> Program;

    /// Starts the program, which may run for so long.
    fn start_for(&mut self, patience: Duration) -> Program;

    /// Runs the program without input to its end, and returns what it printed.
    fn finish(&mut self) -> Output;

    /// Runs the program without input, and says whether it succeeded.
    fn succeeds(&mut self) -> bool;
}

impl Start for Command {
    #[track_caller]
    fn start(&mut self) -> Program {
        self.start_for(PATIENCE)
    }

    #[track_caller]
    fn start_for(&mut self, patience: Duration) -> Program {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(self, 0);
        let name = self.get_program().to_string_lossy().into_owned();
        let child = self
            .spawn()
            .unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
        let group = child.id();
        let (watch, ended) = channel::<()>();
        let is_overdue = Arc::new(AtomicBool::new(false));
        let overdue = Arc::clone(&is_overdue);
        thread::spawn(move || {
            if ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                overdue.store(true, Ordering::SeqCst);
                kill_group(group);
            }
        });
        Program {
            child,
            name,
            patience,
            is_overdue,
            _watch: watch,
        }
    }

    #[track_caller]
    fn finish(&mut self) -> Output {
        self.stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .start()
            .finish()
    }

    #[track_caller]
    fn succeeds(&mut self) -> bool {
        self.finish().status.success()
    }
}

impl Program {
    /// Waits for the end of the program.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("it is ours");
        assert!(
            !self.is_overdue.load(Ordering::SeqCst),
            "{} did not end within {:?}",
            self.name,
            self.patience
        );
        status
    }

    /// Waits for the end of the program and returns what is left of its output, as far as that was piped.
    #[track_caller]
    pub fn finish(mut self) -> Output {
        drop(self.child.stdin.take());
        let (stdout, stderr) = (
            self.child.stdout.take().map(read),
            self.child.stderr.take().map(read),
        );
        let last = Instant::now() + self.patience + SETTLE;
        let (stdout, stderr) = (gathered(stdout, last), gathered(stderr, last));
        let status = self.child.wait().expect("it is ours");
        let output = Output {
            status,
            stdout,
            stderr,
        };
        let is_overdue = self.is_overdue.load(Ordering::SeqCst);
        assert!(
            !is_overdue,
            "{} did not end within {:?}\n{}{}",
            self.name,
            self.patience,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// Asks the program to end, as Ctrl-C does.
    #[track_caller]
    pub fn interrupt(&self) {
        #[cfg(unix)]
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::INT,
        )
        .expect("it runs");
        #[cfg(not(unix))]
        panic!("{}: programs are interrupted on Unix only", self.name);
    }
}

impl Deref for Program {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.child
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // An ended program has been waited for, and others may have its number.
        if matches!(self.child.try_wait(), Ok(None)) {
            kill_group(self.child.id());
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(unix)]
fn kill_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(group: u32) {
    let _ = Command::new("taskkill")
        .args(["/T", "/F", "/PID", &group.to_string()])
        .status();
}

/// What a stream has given so far, and the news of its end.
type Reading = (Arc<Mutex<Vec<u8>>>, Receiver<()>);

fn read(mut stream: impl Read + Send + 'static) -> Reading {
    let (gathered, end) = (Arc::new(Mutex::new(Vec::new())), channel());
    let (whole, sender) = (Arc::clone(&gathered), end.0);
    thread::spawn(move || {
        let mut block = vec![0; 1 << 16];
        while let Ok(read @ 1..) = stream.read(&mut block) {
            whole
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend_from_slice(&block[..read]);
        }
        drop(sender);
    });
    (gathered, end.1)
}

fn gathered(reading: Option<Reading>, last: Instant) -> Vec<u8> {
    let Some((gathered, end)) = reading else {
        return Vec::new();
    };
    let _ = end.recv_timeout(last.saturating_duration_since(Instant::now()));
    std::mem::take(&mut gathered.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Room for two browsers: each takes a core and half a gigabyte. Under a runner with a process for each test, that runner says how many run.
static BROWSERS: Mutex<usize> = Mutex::new(0);
static BROWSER_LEFT: std::sync::Condvar = std::sync::Condvar::new();
const MAX_BROWSERS: usize = 2;

/// The place of a browser among those that may run at once.
pub struct BrowserPlace(());

impl BrowserPlace {
    /// Waits until there is room.
    pub fn take() -> Self {
        let running = BROWSERS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = BROWSER_LEFT
            .wait_while(running, |running| *running >= MAX_BROWSERS)
            .unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Self(())
    }
}

impl Drop for BrowserPlace {
    fn drop(&mut self) {
        *BROWSERS.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        BROWSER_LEFT.notify_one();
    }
}

#[cfg(unix)]
#[test]
fn a_program_whose_time_is_up_is_killed_with_what_it_started_and_its_words_are_told() {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "sleep 600 & echo waiting; wait"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begin = Instant::now();
    let program = shell.start_for(Duration::from_millis(300));
    let fault = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program.finish()))
        .expect_err("its time is up");
    let said = fault.downcast_ref::<String>().expect("a text");
    assert!(
        said.contains("sh did not end within 300ms") && said.ends_with("waiting\n"),
        "{said}"
    );
    assert!(
        begin.elapsed() < Duration::from_mins(1),
        "what it started held its output"
    );
}

#[cfg(unix)]
#[test]
fn a_program_that_is_let_go_of_ends_with_what_it_started() {
    let mut shell = Command::new("sh");
    let mut program = shell
        .args(["-c", "sleep 600 & echo $!; wait"])
        .stdout(Stdio::piped())
        .start();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(program.stdout.take().expect("piped")),
        &mut line,
    )
    .expect("a line");
    let sleeper = line
        .trim()
        .parse()
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("a number");
    drop(program);
    let begin = Instant::now();
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", sleeper.as_raw_nonzero()))
            .unwrap_or_default();
        rustix::process::test_kill_process(sleeper).is_ok() && !stat.contains(") Z")
    };
    while is_running() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it runs on");
        thread::sleep(Duration::from_millis(5));
    }
}
