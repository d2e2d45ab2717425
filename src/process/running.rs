//! A running program: the threads that feed, read and await it, and the steps of ending it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::captured::{Captured, Keep};
use super::guard::Guarded;
use super::system::{self, Offspring, Own, Reach, Request, Whom};
use super::{Command, End, Finished, Listener, StartError, port};

/// How long a killed program may take to disappear, and its output to end.
const SETTLE: Duration = Duration::from_millis(500);
/// Bytes read at once: the usual size of a pipe's buffer.
const CHUNK: usize = 64 << 10;
/// An empty pipe accepts this many bytes at once, so writing them cannot block.
const AT_ONCE: usize = 4096;

/// Reports from a program's threads and from those who stop it.
pub enum Event {
    Ended(Ended),
    /// An output stream has ended.
    Eof,
    Stop,
}

/// How and when a program ended.
pub struct Ended {
    end: End,
    at: Instant,
    #[expect(
        dead_code,
        reason = "held so that it is reaped no earlier than its group is killed"
    )]
    remains: Remains,
}

/// An ended child that is not yet reaped. Until it is, the system gives its number, and so its group's, to no other process.
struct Remains {
    child: Offspring,
    own: Own,
}

impl Drop for Remains {
    fn drop(&mut self) {
        // For an ended child these calls neither kill nor wait, and their results are known.
        let Self { child, own } = self;
        own.reap(|| child.end());
    }
}

#[derive(Clone, Copy)]
pub enum Streams {
    Apart,
    Merged,
}

pub struct Running {
    /// Declared before `ended`, so that the group leaves the list while its number is still its own.
    guarded: Option<Guarded>,
    reach: Reach,
    started: Instant,
    grace: Duration,
    events: Receiver<Event>,
    sender: Sender<Event>,
    ended: Option<Ended>,
    /// Number of output streams still open.
    open: usize,
    outputs: Vec<Arc<Mutex<Keep>>>,
}

impl Running {
    pub fn start(command: &Command, streams: Streams) -> Result<Self, StartError> {
        let failed = |source| StartError::Io {
            program: command.argv.first().cloned().unwrap_or_default(),
            source,
        };
        let mark = system::fresh_mark();
        let (mut readers, mut writers) = (Vec::new(), Vec::new());
        for _ in 0..count(streams) {
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
        let (child, own, input) = spawn(command, &mark, first, last)?;
        let reach = Reach::of(&child, mark);
        let (sender, events) = mpsc::channel();
        let outputs = readers
            .iter()
            .map(|_| Arc::new(Mutex::new(Keep::new(command.limits.output_bytes))))
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
            .attend(Remains { child, own }, readers, input, &command.input)
            .map_err(|source| {
                // Without its threads, the program would have no limits.
                system::signal(&running.reach, Request::Kill, Whom::All);
                failed(source)
            })?;
        Ok(running)
    }

    /// Starts the threads.
    fn attend(
        &self,
        mut remains: Remains,
        readers: Vec<PipeReader>,
        input: Option<PipeWriter>,
        text: &[u8],
    ) -> io::Result<()> {
        let sender = self.sender.clone();
        // Not reaped here if the system allows: see `Remains`.
        thread::Builder::new().name("await".into()).spawn(move || {
            let end = system::await_end(&mut remains.child);
            let _ = sender.send(Event::Ended(Ended {
                end,
                at: Instant::now(),
                remains,
            }));
        })?;
        for (reader, keep) in readers.into_iter().zip(&self.outputs) {
            let (sender, keep) = (self.sender.clone(), Arc::clone(keep));
            thread::Builder::new().name("read".into()).spawn(move || {
                read(reader, &keep);
                let _ = sender.send(Event::Eof);
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
    pub fn guard(&mut self) {
        self.guarded = Some(Guarded::new(self.reach.number()));
    }

    pub fn listener(&self, port: u16) -> Listener {
        port::listener(&self.reach, port)
    }

    pub fn started(&self) -> Instant {
        self.started
    }

    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    pub fn end(&self) -> Option<End> {
        self.ended.as_ref().map(|ended| ended.end)
    }

    /// Returns how the program ended, if its end has been reported by now.
    pub fn end_by_now(&mut self) -> Option<End> {
        self.wait(Some(Instant::now()), |running| running.ended.is_some());
        self.end()
    }

    pub fn output(&self) -> Captured {
        self.outputs
            .first()
            .map(|keep| lock(keep).so_far())
            .unwrap_or_default()
    }

    /// Processes reports until `enough` holds or the time is up.
    pub fn wait(&mut self, until: Option<Instant>, enough: impl Fn(&Self) -> bool) {
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
                Ok(Event::Ended(ended)) => self.ended = Some(ended),
                Ok(Event::Eof) => self.open -= 1,
                Ok(Event::Stop) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// After the program's own end: reads the rest of its output within the grace, and kills the processes that it left behind.
    pub fn drain(&mut self, hurry: impl Fn() -> bool) {
        self.wait(later(self.grace), |running| running.open == 0 || hurry());
        system::signal(&self.reach, Request::Kill, Whom::Group);
        // Processes that left the group may still hold the output open, or run unnoticed.
        if !system::end_orphans(&self.reach) {
            system::signal(&self.reach, Request::Kill, Whom::All);
        }
        if self.open > 0 {
            self.wait(later(SETTLE), |running| running.open == 0);
        }
    }

    /// Asks the program and its children to end. Kills the remaining ones after the grace.
    pub fn terminate(&mut self, hurry: impl Fn() -> bool) {
        if !hurry() {
            system::signal(&self.reach, Request::End, Whom::All);
            let until = later(self.grace);
            self.wait(until, |running| running.ended.is_some() || hurry());
            // Children have the same grace as their parent. Nothing reports their end, so it is polled.
            let mut pause = Duration::from_millis(1);
            while !hurry()
                && until.is_none_or(|until| Instant::now() < until)
                && system::is_left(&self.reach).unwrap_or(self.open > 0)
            {
                let next = later(pause).map(|next| until.map_or(next, |until| next.min(until)));
                self.wait(next, |_| hurry());
                pause = (2 * pause).min(Duration::from_millis(50));
            }
        }
        system::signal(&self.reach, Request::Kill, Whom::All);
        self.wait(later(SETTLE), |running| running.ended.is_some());
        // Also ends orphans, even those without the mark in their environment.
        system::end_orphans(&self.reach);
        self.wait(later(SETTLE), |running| {
            running.ended.is_some() && running.open == 0
        });
    }

    /// Returns the result, and reaps the program.
    pub fn finish(self, end: End) -> Finished {
        let wall = self.ended.as_ref().map_or_else(
            || self.started.elapsed(),
            |ended| ended.at.saturating_duration_since(self.started),
        );
        let mut outputs = self.outputs.iter().map(|keep| lock(keep).close());
        let stdout = outputs.next().unwrap_or_default();
        Finished {
            end,
            stdout,
            stderr: outputs.next().unwrap_or_default(),
            wall,
        }
    }
}

fn count(streams: Streams) -> usize {
    match streams {
        Streams::Apart => 2,
        Streams::Merged => 1,
    }
}

/// A started program, and the other end of its input.
type Spawned = (Offspring, Own, Option<PipeWriter>);

/// Starts the program in its own group. Closes this process's copies of the pipes' write ends.
fn spawn(
    command: &Command,
    mark: &str,
    stdout: PipeWriter,
    stderr: PipeWriter,
) -> Result<Spawned, StartError> {
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
        start(mark, || {
            confinement.spawn(
                &command.argv,
                &command.cwd,
                variables(command, mark),
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
        starting.env(system::MARK, mark);
        system::apart(&mut starting);
        start(mark, || starting.spawn().map(Offspring::Started))
    };
    let (child, own) = started.map_err(|source| start_error(command, program, source))?;
    Ok((child, own, input))
}

/// Starts a program, also if a newly written file is busy, which it is while a program that another thread is just starting still holds it open.
fn start(
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
fn variables(command: &Command, mark: &str) -> Vec<(OsString, OsString)> {
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
    variables.insert(system::MARK.into(), mark.into());
    variables.into_iter().collect()
}

fn start_error(command: &Command, program: &std::ffi::OsStr, source: io::Error) -> StartError {
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
fn read(mut reader: PipeReader, keep: &Mutex<Keep>) {
    let mut chunk = vec![0; CHUNK];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                if !lock(keep).add(&chunk[..length]) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn lock(keep: &Mutex<Keep>) -> std::sync::MutexGuard<'_, Keep> {
    keep.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the time after a wait, or `None` if the clock cannot represent it.
pub(super) fn later(wait: Duration) -> Option<Instant> {
    Instant::now().checked_add(wait)
}
