//! A running program: the threads that feed, read and await it, and the steps of ending it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::captured::{CapturedOutput, OutputCollector};
use super::guard::GuardedGroup;
use super::system::{self, Offspring, Own, Reach, SignalTarget, StopRequest};
use super::{FinishedProgram, Listener, ProgramCommand, ProgramExit, StartError, port};

/// How long a killed program may take to disappear, and its output to end.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// Bytes read at once: the usual size of a pipe's buffer.
const CHUNK_BYTES: usize = 64 << 10;
/// An empty pipe accepts this many bytes at once, so writing them cannot block.
const AT_ONCE: usize = 4096;

/// Reports from a program's threads and from those who stop it.
pub enum ProgramEvent {
    Ended(ProgramEnd),
    /// An output stream has ended.
    Eof,
    Stop,
}

/// How and when a program ended.
pub struct ProgramEnd {
    end: ProgramExit,
    at: Instant,
    #[expect(
        dead_code,
        reason = "held so that it is reaped no earlier than its group is killed"
    )]
    remains: UnreapedChild,
}

/// An ended child that is not yet reaped. Until it is, the system gives its number, and so its group's, to no other process.
struct UnreapedChild {
    child: Offspring,
    own: Own,
}

impl Drop for UnreapedChild {
    fn drop(&mut self) {
        // For an ended child these calls neither kill nor wait, and their results are known.
        let Self { child, own } = self;
        own.reap(|| child.kill_and_reap());
    }
}

#[derive(Clone, Copy)]
pub enum OutputStreams {
    Apart,
    Merged,
}

pub struct RunningProgram {
    /// Declared before `ended`, so that the group leaves the list while its number is still its own.
    guarded: Option<GuardedGroup>,
    reach: Reach,
    started: Instant,
    grace: Duration,
    events: Receiver<ProgramEvent>,
    sender: Sender<ProgramEvent>,
    ended: Option<ProgramEnd>,
    /// Number of output streams still open.
    open: usize,
    outputs: Vec<Arc<Mutex<OutputCollector>>>,
}

impl RunningProgram {
    pub fn start(command: &ProgramCommand, streams: OutputStreams) -> Result<Self, StartError> {
        let failed = |source| StartError::Io {
            program: command.argv.first().cloned().unwrap_or_default(),
            source,
        };
        let mark = system::fresh_mark();
        let (mut readers, mut writers) = (Vec::new(), Vec::new());
        for _ in 0..stream_count(streams) {
            let (reader, writer) = io::pipe().map_err(failed)?;
            readers.push(reader);
            writers.push(writer);
        }
        let last = writers
            .pop()
            .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let first = writers
            .pop()
            .map_or_else(|| last.try_clone(), Ok)
            .map_err(failed)?;
        let started = Instant::now();
        let (child, own, input) = spawn_program(command, &mark, first, last)?;
        let reach = Reach::of(&child, mark);
        let (sender, events) = mpsc::channel();
        let outputs = readers
            .iter()
            .map(|_| {
                Arc::new(Mutex::new(OutputCollector::new(
                    command.limits.output_bytes,
                )))
            })
            .collect();
        let running = Self {
            guarded: None,
            reach,
            started,
            grace: command.limits.grace,
            events,
            sender,
            ended: None,
            open: readers.len(),
            outputs,
        };
        running
            .start_threads(UnreapedChild { child, own }, readers, input, &command.input)
            .map_err(|source| {
                // Without its threads, the program would have no limits.
                system::signal(&running.reach, StopRequest::Kill, SignalTarget::All);
                failed(source)
            })?;
        Ok(running)
    }

    /// Starts the threads.
    fn start_threads(
        &self,
        mut remains: UnreapedChild,
        readers: Vec<PipeReader>,
        input: Option<PipeWriter>,
        text: &[u8],
    ) -> io::Result<()> {
        let sender = self.sender.clone();
        // Not reaped here if the system allows: see `Remains`.
        thread::Builder::new().name("await".into()).spawn(move || {
            let end = system::await_end(&mut remains.child);
            let _ = sender.send(ProgramEvent::Ended(ProgramEnd {
                end,
                at: Instant::now(),
                remains,
            }));
        })?;
        for (reader, keep) in readers.into_iter().zip(&self.outputs) {
            let (sender, keep) = (self.sender.clone(), Arc::clone(keep));
            thread::Builder::new().name("read".into()).spawn(move || {
                read_output(reader, &keep);
                let _ = sender.send(ProgramEvent::Eof);
            })?;
        }
        if let Some(mut input) = input {
            // A program need not read its input: ending early or closing it is no failure.
            if text.len() <= AT_ONCE {
                let _ = input.write_all(text);
            } else {
                let text = text.to_vec();
                thread::Builder::new()
                    .name("feed".into())
                    .spawn(move || input.write_all(&text))?;
            }
        }
        Ok(())
    }

    /// Lets the guard kill the program if this process no longer can.
    pub fn register_guard(&mut self) {
        self.guarded = Some(GuardedGroup::new(self.reach.number()));
    }

    pub fn find_listener(&self, port: u16) -> Listener {
        port::find_listener(&self.reach, port)
    }

    pub fn start_instant(&self) -> Instant {
        self.started
    }

    pub fn sender(&self) -> Sender<ProgramEvent> {
        self.sender.clone()
    }

    pub fn program_exit(&self) -> Option<ProgramExit> {
        self.ended.as_ref().map(|ended| ended.end)
    }

    /// Returns how the program ended, if its end has been reported by now.
    pub fn exit_by_now(&mut self) -> Option<ProgramExit> {
        self.wait_until(Some(Instant::now()), |running| running.ended.is_some());
        self.program_exit()
    }

    pub fn captured_output(&self) -> CapturedOutput {
        self.outputs
            .first()
            .map(|keep| lock_output(keep).captured_so_far())
            .unwrap_or_default()
    }

    /// Processes reports until `enough` holds or the time is up.
    pub fn wait_until(&mut self, until: Option<Instant>, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let event = match until {
                None => self
                    .events
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
                Some(until) => self
                    .events
                    .recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(ProgramEvent::Ended(ended)) => self.ended = Some(ended),
                Ok(ProgramEvent::Eof) => self.open -= 1,
                Ok(ProgramEvent::Stop) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// After the program's own end: reads the rest of its output within the grace, and kills the processes that it left behind.
    pub fn drain_output(&mut self, hurry: impl Fn() -> bool) {
        self.wait_until(instant_after(self.grace), |running| {
            running.open == 0 || hurry()
        });
        system::signal(&self.reach, StopRequest::Kill, SignalTarget::Group);
        // Processes that left the group may still hold the output open, or run unnoticed.
        if !system::end_orphans(&self.reach) {
            system::signal(&self.reach, StopRequest::Kill, SignalTarget::All);
        }
        if self.open > 0 {
            self.wait_until(instant_after(SETTLE_TIME), |running| running.open == 0);
        }
    }

    /// Asks the program and its children to end. Kills the remaining ones after the grace.
    pub fn terminate(&mut self, hurry: impl Fn() -> bool) {
        if !hurry() {
            system::signal(&self.reach, StopRequest::End, SignalTarget::All);
            let until = instant_after(self.grace);
            self.wait_until(until, |running| running.ended.is_some() || hurry());
            // Children have the same grace as their parent. Nothing reports their end, so it is polled.
            let mut pause = Duration::from_millis(1);
            while !hurry()
                && until.is_none_or(|until| Instant::now() < until)
                && system::is_left(&self.reach).unwrap_or(self.open > 0)
            {
                let next =
                    instant_after(pause).map(|next| until.map_or(next, |until| next.min(until)));
                self.wait_until(next, |_| hurry());
                pause = (2 * pause).min(Duration::from_millis(50));
            }
        }
        system::signal(&self.reach, StopRequest::Kill, SignalTarget::All);
        self.wait_until(instant_after(SETTLE_TIME), |running| {
            running.ended.is_some()
        });
        // Also ends orphans, even those without the mark in their environment.
        system::end_orphans(&self.reach);
        self.wait_until(instant_after(SETTLE_TIME), |running| {
            running.ended.is_some() && running.open == 0
        });
    }

    /// Returns the result, and reaps the program.
    pub fn into_finished(self, end: ProgramExit) -> FinishedProgram {
        let wall = self.ended.as_ref().map_or_else(
            || self.started.elapsed(),
            |ended| ended.at.saturating_duration_since(self.started),
        );
        let mut outputs = self.outputs.iter().map(|keep| lock_output(keep).close());
        let stdout = outputs.next().unwrap_or_default();
        FinishedProgram {
            end,
            stdout,
            stderr: outputs.next().unwrap_or_default(),
            wall,
        }
    }
}

fn stream_count(streams: OutputStreams) -> usize {
    match streams {
        OutputStreams::Apart => 2,
        OutputStreams::Merged => 1,
    }
}

/// A started program, and the other end of its input.
type SpawnedProgram = (Offspring, Own, Option<PipeWriter>);

/// Starts the program in its own group. Closes this process's copies of the pipes' write ends.
fn spawn_program(
    command: &ProgramCommand,
    mark: &str,
    stdout: PipeWriter,
    stderr: PipeWriter,
) -> Result<SpawnedProgram, StartError> {
    let Some((program, arguments)) = command.argv.split_first() else {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
        return Err(StartError::Io {
            program: "".into(),
            source,
        });
    };
    let failed = |source| StartError::Io {
        program: program.clone(),
        source,
    };
    let (reader, input) = (!command.input.is_empty())
        .then(io::pipe)
        .transpose()
        .map_err(failed)?
        .unzip();
    let started = if let Some(confinement) = &command.confinement {
        // A session is a group of its own, too.
        spawn_with_retry(mark, || {
            confinement.spawn(
                &command.argv,
                &command.cwd,
                program_variables(command, mark),
                reader.as_ref(),
                [&stdout, &stderr],
            )
        })
    } else {
        let mut starting = std::process::Command::new(program);
        starting
            .args(arguments)
            .current_dir(&command.cwd)
            .stdout(stdout)
            .stderr(stderr);
        starting.stdin(reader.map_or_else(Stdio::null, Stdio::from));
        for (name, value) in &command.env {
            match value {
                Some(value) => starting.env(name, value),
                None => starting.env_remove(name),
            };
        }
        starting.env(system::MARK_VARIABLE, mark);
        system::apart(&mut starting);
        spawn_with_retry(mark, || starting.spawn().map(Offspring::Started))
    };
    let (child, own) = started.map_err(|source| start_error(command, program, source))?;
    Ok((child, own, input))
}

/// Starts a program, also if a newly written file is busy, which it is while a program that another thread is just starting still holds it open.
fn spawn_with_retry(
    mark: &str,
    mut spawn: impl FnMut() -> io::Result<Offspring>,
) -> io::Result<(Offspring, Own)> {
    let mut attempts = 20;
    loop {
        let known = system::starting();
        match spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && attempts > 0 => {
                attempts -= 1;
                drop(known);
                thread::sleep(Duration::from_millis(5));
            }
            started => {
                return started.map(|child| {
                    let own = known.own(child.number(), mark);
                    (child, own)
                });
            }
        }
    }
}

/// Returns all variables of a confined program.
fn program_variables(command: &ProgramCommand, mark: &str) -> Vec<(OsString, OsString)> {
    let mut variables: BTreeMap<OsString, OsString> = system::variables()
        .unwrap_or_default()
        .iter()
        .cloned()
        .collect();
    for (name, value) in &command.env {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    variables.insert(system::MARK_VARIABLE.into(), mark.into());
    variables.into_iter().collect()
}

fn start_error(
    command: &ProgramCommand,
    program: &std::ffi::OsStr,
    source: io::Error,
) -> StartError {
    let program = program.to_owned();
    if !command.cwd.is_dir() {
        let source = io::Error::new(
            source.kind(),
            format!(
                "`{}`, where it is to start, is no folder",
                command.cwd.display()
            ),
        );
        return StartError::Io { program, source };
    }
    let path = command.cwd.join(&program);
    let is_path = std::path::Path::new(&program).components().count() > 1;
    match source.kind() {
        // The file exists, so the interpreter in its first line is missing.
        io::ErrorKind::NotFound if is_path && path.exists() => {
            StartError::NotExecutable { program }
        }
        io::ErrorKind::NotFound => StartError::NotFound { program },
        io::ErrorKind::PermissionDenied => StartError::NotExecutable { program },
        _ if system::is_no_program(&source) => StartError::NotExecutable { program },
        _ => StartError::Io { program, source },
    }
}

/// Reads an output to its end, or until its collector is closed.
fn read_output(mut reader: PipeReader, keep: &Mutex<OutputCollector>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                if !lock_output(keep).add_bytes(&chunk[..length]) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn lock_output(keep: &Mutex<OutputCollector>) -> std::sync::MutexGuard<'_, OutputCollector> {
    keep.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the time after a wait, or `None` if the clock cannot represent it.
pub(super) fn instant_after(wait: Duration) -> Option<Instant> {
    Instant::now().checked_add(wait)
}
