//! The first process of a confined program: it confines itself for good, then becomes or starts the program.
//!
//! It has a session of its own, so that the program has no terminal; of this program's files only input and outputs; and no powers. If the
//! system offers namespaces, it also makes them: then it waits outside for the end of the program, and a second process, the first one
//! inside, starts the program, reaps what that leaves behind, and ends everything with itself (pid_namespaces(7)).
//!
//! Loading this program takes longer than all that, so it is loaded once: a porter with a single thread forks the first processes. Its parent
//! adopts them, because they are its grandchildren, whose parent ends at once ([`super::adopt`]).

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use fork::{Fork, fork};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, raise};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, WaitOptions, WaitStatus, chdir, getpid, getppid,
    set_dumpable_behavior, setrlimit, setsid, wait, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space, sched_yield};

use super::handover::receive_files;
use super::network::{map_own_user, own_ids};
use super::order::StartOrder;
use super::{calls, fence, powers, scene};

/// The only argument of the porter.
pub const PORTER_ARGUMENT: &str = "--porter";

/// Exit code of shells if a program cannot be started.
const CANNOT_START: u8 = 126;

/// The signal that nobody can ignore.
const KILL_SIGNAL: u8 = 9;

/// The number of the first process follows, in four bytes.
pub const NUMBER_TAG: u8 = b'P';
/// Said to whoever waits for the start: the program is about to start, and any failure follows.
pub const READY_TAG: u8 = b'R';
/// An error number of the system follows: the program could not be started.
pub const NOT_STARTED: u8 = b'E';
/// A text follows: the program could not be confined.
pub const NOT_CONFINED: u8 = b'F';

/// The namespaces of a network, in the order of entering: the first grants the right to enter the second.
const NETWORK_NAMESPACES: [LinkNameSpaceType; 2] =
    [LinkNameSpaceType::User, LinkNameSpaceType::Network];

enum EntranceFailure {
    Start(io::Error),
    Confinement(io::Error),
}

impl From<io::Error> for EntranceFailure {
    fn from(error: io::Error) -> Self {
        Self::Confinement(error)
    }
}

/// How a program ended: 1 if by a signal, otherwise 0, and its number or the exit code.
type WireExit = [u8; 2];

/// Forks a first process for each order that comes over standard input, until the other end is closed. Returns the exit code.
pub fn serve_orders() -> u8 {
    close_inherited();
    let Ok(door) = stdin().try_clone_to_owned().map(UnixStream::from) else {
        return CANNOT_START;
    };
    release_streams();
    loop {
        let files = match receive_files(&door) {
            Ok(files) if !files.is_empty() => files,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // The other end is closed.
            _ => return 0,
        };
        match fork() {
            Ok(Fork::Parent(child)) => {
                drop(files);
                let _ = waitpid(Pid::from_raw(child), WaitOptions::empty());
            }
            Ok(Fork::Child) => {
                let between = getpid();
                return match fork() {
                    Ok(Fork::Child) => {
                        drop(door);
                        await_adoption(between);
                        carry_out_order(files)
                    }
                    _ => 0,
                };
            }
            // Whoever waits for the start finds the line closed.
            Err(_) => {}
        }
    }
}

/// Waits until the process between this one and the porter has ended, so that the porter's parent can wait for this one.
fn await_adoption(between: Pid) {
    while getppid() == Some(between) {
        sched_yield();
    }
}

/// Carries out an order. Returns the exit code.
fn carry_out_order(files: Vec<OwnedFd>) -> u8 {
    // Requests to end are for the program, which gets them itself.
    let before = SigSet::thread_get_mask();
    let _ = SigSet::all().thread_block();
    // Whatever is started has the signals blocked that this process came with. The first process inside is safe without.
    let unblock = || before.map_or(Ok(()), |before| before.thread_set_mask());
    let mut files = files.into_iter();
    let Some(line) = files.next().map(UnixStream::from) else {
        return CANNOT_START;
    };
    let _ = (&line).write_all(
        &[
            &[NUMBER_TAG][..],
            &getpid().as_raw_nonzero().get().to_le_bytes(),
        ]
        .concat(),
    );
    let order = match prepare_process(files) {
        Ok(order) => order,
        Err(failure) => return report_failure(&line, &failure),
    };
    if !order.rules.is_apart {
        return report_failure(&line, &become_program(&line, &order, unblock));
    }
    let (reader, writer) = match io::pipe() {
        Ok(ends) => ends,
        Err(error) => return report_failure(&line, &EntranceFailure::Confinement(error)),
    };
    match fork() {
        Ok(Fork::Parent(_)) => {
            drop((writer, line));
            release_streams();
            await_end(reader)
        }
        Ok(Fork::Child) => {
            drop(reader);
            let _ = unblock();
            match start_inside(&order) {
                Ok(program) => {
                    let _ = (&line).write_all(&[READY_TAG]);
                    drop(line);
                    release_streams();
                    reap_until_empty(program, writer)
                }
                Err(failure) => report_failure(&line, &failure),
            }
        }
        Err(error) => report_failure(&line, &EntranceFailure::Confinement(error)),
    }
}

/// Closes the files that this program was started with: not its own, which close by themselves, but those of who started it.
fn close_inherited() {
    let numbers = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let numbers: Vec<i32> = numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The one that listed them is closed already.
        let _ = nix::unistd::close(number);
    }
}

fn report_failure(mut line: &UnixStream, failure: &EntranceFailure) -> u8 {
    let said = match failure {
        EntranceFailure::Start(error) => [
            &[NOT_STARTED][..],
            &error.raw_os_error().unwrap_or(0).to_le_bytes(),
        ]
        .concat(),
        EntranceFailure::Confinement(error) => {
            [&[NOT_CONFINED][..], error.to_string().as_bytes()].concat()
        }
    };
    let _ = line.write_all(&said);
    CANNOT_START
}

/// Starts a session, takes over the program's streams and folder, and makes or enters the namespaces.
fn prepare_process(
    mut files: impl Iterator<Item = OwnedFd>,
) -> Result<StartOrder, EntranceFailure> {
    setsid().map_err(io::Error::from)?;
    let mut next = || files.next().ok_or_else(missing_order_error);
    let (order, input, output, errors) = (next()?, next()?, next()?, next()?);
    dup2_stdin(&input)
        .and_then(|()| dup2_stdout(&output))
        .and_then(|()| dup2_stderr(&errors))
        .map_err(io::Error::from)?;
    let (mut order, mut bytes) = (File::from(order), Vec::new());
    order.rewind()?;
    order.read_to_end(&mut bytes)?;
    let order = StartOrder::from_bytes(&bytes).ok_or_else(missing_order_error)?;
    chdir(&order.folder).map_err(|error| EntranceFailure::Start(error.into()))?;
    let spaces: Vec<OwnedFd> = files.collect();
    for (space, kind) in spaces.iter().zip(NETWORK_NAMESPACES) {
        move_into_link_name_space(space.as_fd(), Some(kind)).map_err(io::Error::from)?;
    }
    if order.rules.is_apart {
        let ids = own_ids();
        let apart = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
        // The user of a network's namespaces may make others there.
        let of_user = if spaces.is_empty() {
            CloneFlags::CLONE_NEWUSER
        } else {
            CloneFlags::empty()
        };
        unshare(of_user | apart).map_err(io::Error::from)?;
        if spaces.is_empty() {
            map_own_user(ids)?;
        }
    }
    Ok(order)
}

fn missing_order_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "there is no order")
}

/// Confines this process for good.
fn confine_process(order: &StartOrder) -> io::Result<()> {
    powers::drop_capabilities()?;
    fence::restrict_thread(&order.rules)?;
    calls::refuse_calls(&order.rules)
}

fn build_command(order: &StartOrder) -> io::Result<Command> {
    let (program, arguments) = order
        .words
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.variables.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// Becomes the program. Returns why it did not.
fn become_program(
    mut line: &UnixStream,
    order: &StartOrder,
    unblock: impl Fn() -> nix::Result<()>,
) -> EntranceFailure {
    let mut ready = || -> io::Result<Command> {
        confine_process(order)?;
        let command = build_command(order)?;
        line.write_all(&[READY_TAG])?;
        unblock()?;
        Ok(command)
    };
    match ready() {
        Ok(mut command) => EntranceFailure::Start(command.exec()),
        Err(error) => EntranceFailure::Confinement(error),
    }
}

/// Starts the program from the first process of the namespaces.
fn start_inside(order: &StartOrder) -> Result<Pid, EntranceFailure> {
    scene::make_scene(&order.rules, &order.folder)?;
    // The folder as it is seen now.
    chdir(&order.folder).map_err(io::Error::from)?;
    confine_process(order)?;
    // Nobody inside may look into this process, which holds the line that tells how the program ended. Starting a program takes this off there.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(io::Error::from)?;
    let program = build_command(order)?
        .spawn()
        .map_err(EntranceFailure::Start)?;
    Ok(Pid::from_child(&program))
}

/// Gives up standard input and outputs, so that an output ends with the programs that write to it.
fn release_streams() {
    let Ok(nothing) = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) else {
        return;
    };
    let _ = dup2_stdin(&nothing)
        .and_then(|()| dup2_stdout(&nothing))
        .and_then(|()| dup2_stderr(&nothing));
}

/// Reaps whatever ends, reports the end of the program, and ends when nothing is left. Until then its end would end all others.
fn reap_until_empty(program: Pid, mut end: PipeWriter) -> u8 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == program => {
                let _ = end.write_all(&exit_of(status));
            }
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing is left.
            Err(_) => return 0,
        }
    }
}

fn exit_of(status: WaitStatus) -> WireExit {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match status.terminating_signal() {
        Some(signal) => [1, byte(signal)],
        None => [0, byte(status.exit_status().unwrap_or(-1))],
    }
}

/// Waits for the end of the program inside, and ends in the same way.
fn await_end(mut reader: PipeReader) -> u8 {
    // If the first process inside was killed, so was the program.
    let mut end: WireExit = [0; 2];
    let (1, number) = reader
        .read_exact(&mut end)
        .map_or((1, KILL_SIGNAL), |()| (end[0], end[1]))
    else {
        return end[1];
    };
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    if let Ok(signal) = Signal::try_from(i32::from(number)) {
        let _ = SigSet::from(signal).thread_unblock();
        // The handler that finds overflows of the stack gives way after the first.
        let _ = raise(signal).and_then(|()| raise(signal));
    }
    // A signal without a name.
    128_u8.saturating_add(number)
}
