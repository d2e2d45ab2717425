//! The means of each operating system to find the processes of a program and to end them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::process::Child;

use super::ProgramExit;

/// Environment variable that marks everything a program starts, so that processes outside its group can be found.
pub const MARK_VARIABLE: &str = "EVAL_PROCESS";

/// The temporary folders of Unix systems, which all programs and users share.
pub const TEMPORARY_FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// This program. A different program that links this crate does not understand the arguments, so it can neither confine programs nor give
/// them a network of their own.
#[cfg(target_os = "linux")]
pub const SELF_EXECUTABLE: &str = "/proc/self/exe";

/// A request to processes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// Asks them to end.
    End,
    /// Kills them.
    Kill,
}

/// Which processes of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SignalTarget {
    /// Those of its process group.
    Group,
    /// Also those that left the group, if they can be found.
    All,
}

/// Returns a unique, unguessable value for [`MARK_VARIABLE`]. The hasher's keys come from the system's randomness.
pub fn fresh_mark() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(target_os = "linux")]
pub use orphans::{Own, adopt, end_orphans, is_within, register_child, starting, variables};

/// Other systems cannot make this process the parent of orphans.
#[cfg(not(target_os = "linux"))]
pub use no_orphans::{Own, adopt, end_orphans, starting, variables};

#[cfg(unix)]
pub use unix::{Reach, apart, await_end, is_left, is_no_program, signal};

#[cfg(not(unix))]
pub use other::{Reach, apart, await_end, is_left, is_no_program, signal};

/// A child of this process.
pub enum Offspring {
    Started(Child),
    /// Started for this process by another, which has ended.
    #[cfg(target_os = "linux")]
    Adopted(rustix::process::Pid),
}

impl Offspring {
    pub fn number(&self) -> u32 {
        match self {
            Self::Started(child) => child.id(),
            #[cfg(target_os = "linux")]
            Self::Adopted(pid) => pid.as_raw_nonzero().get().unsigned_abs(),
        }
    }

    /// Kills and reaps it.
    pub fn kill_and_reap(&mut self) {
        match self {
            Self::Started(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            #[cfg(target_os = "linux")]
            Self::Adopted(pid) => {
                let _ = rustix::process::kill_process(*pid, rustix::process::Signal::KILL);
                while matches!(
                    rustix::process::waitpid(Some(*pid), rustix::process::WaitOptions::empty()),
                    Err(rustix::io::Errno::INTR)
                ) {}
            }
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::process::{CommandExt, ExitStatusExt};

    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    use super::{Offspring, ProgramExit, SignalTarget, StopRequest, io};

    /// How to find the processes of a program.
    pub struct Reach {
        group: Pid,
        /// Works only on Linux, which shows the environment of processes.
        pub mark: String,
    }

    impl Reach {
        pub fn of(child: &Offspring, mark: String) -> Self {
            Self {
                group: child_pid(child),
                mark,
            }
        }

        pub fn number(&self) -> u32 {
            self.group.as_raw_nonzero().get().unsigned_abs()
        }
    }

    fn child_pid(child: &Offspring) -> Pid {
        match child {
            Offspring::Started(child) => Pid::from_child(child),
            #[cfg(target_os = "linux")]
            Offspring::Adopted(pid) => *pid,
        }
    }

    /// Gives the program its own process group: a signal to the group reaches all its processes, and the terminal's Ctrl-C none.
    pub fn apart(command: &mut std::process::Command) {
        command.process_group(0);
    }

    /// Waits for the end without reaping the child, so that the number of its group is not reused.
    pub fn await_end(child: &mut Offspring) -> ProgramExit {
        loop {
            match waitid(
                WaitId::Pid(child_pid(child)),
                WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
            ) {
                Ok(Some(status)) => {
                    if let Some(end) = status
                        .exit_status()
                        .map(ProgramExit::Exited)
                        .or(status.terminating_signal().map(ProgramExit::Signalled))
                    {
                        return end;
                    }
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        // The child was reaped elsewhere, or the system cannot wait in this way.
        let status = match child {
            Offspring::Started(child) => child.wait().ok(),
            #[cfg(target_os = "linux")]
            Offspring::Adopted(_) => None,
        };
        status.map_or(ProgramExit::Exited(-1), |status| {
            status.code().map_or(
                ProgramExit::Signalled(status.signal().unwrap_or_default()),
                ProgramExit::Exited,
            )
        })
    }

    pub fn is_no_program(error: &io::Error) -> bool {
        error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error())
    }

    /// Sends the request. Ignores processes that are already gone.
    pub fn signal(reach: &Reach, request: StopRequest, whom: SignalTarget) {
        let signal = match request {
            StopRequest::End => Signal::TERM,
            StopRequest::Kill => Signal::KILL,
        };
        let _ = kill_process_group(reach.group, signal);
        #[cfg(target_os = "linux")]
        if whom == SignalTarget::All {
            super::linux::signal_marked(reach, request, signal);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (whom, &reach.mark);
    }

    /// Returns whether any process of the program still runs, or `None` if the system does not tell.
    pub fn is_left(reach: &Reach) -> Option<bool> {
        #[cfg(target_os = "linux")]
        return super::linux::is_left(reach);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = reach;
            None
        }
    }
}

/// Finding processes through `/proc`.
///
/// A process leaves its group by starting a session, as daemons do, but keeps the environment that it was started with unless that is
/// emptied on purpose. So the mark in the environment finds processes that the group's signal misses. This is best effort: processes of
/// other users, or behind a private `/proc`, hide their environment.
#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process};

    use super::MARK_VARIABLE;
    use super::{StopRequest, unix::Reach};

    /// Rounds of searching for processes that started while others were being killed.
    const MAX_KILL_ROUNDS: usize = 8;

    enum Member {
        OfGroup,
        Marked,
    }

    pub fn signal_marked(reach: &Reach, request: StopRequest, signal: Signal) {
        let rounds = match request {
            StopRequest::End => 1,
            StopRequest::Kill => MAX_KILL_ROUNDS,
        };
        let mut seen = BTreeSet::new();
        for _ in 0..rounds {
            let mut is_new = false;
            for (number, member) in list_members(reach) {
                is_new |= seen.insert(number);
                match member {
                    // The group already got the signal. Processes started since then are killed later.
                    Member::OfGroup if request == StopRequest::End => {}
                    Member::OfGroup | Member::Marked => {
                        let _ = Pid::from_raw(number).map(|pid| kill_process(pid, signal));
                    }
                }
            }
            if !is_new {
                return;
            }
        }
    }

    pub fn is_left(reach: &Reach) -> Option<bool> {
        fs::exists("/proc/self/stat")
            .ok()
            .filter(|is_there| *is_there)?;
        Some(list_members(reach).next().is_some())
    }

    /// Returns the processes of the program that still run.
    fn list_members(reach: &Reach) -> impl Iterator<Item = (i32, Member)> {
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        numbers.filter_map(|number| find_membership(number, reach).map(|member| (number, member)))
    }

    /// Returns whether a process is in the program's group or has its mark.
    pub fn is_member(number: i32, reach: &Reach) -> bool {
        find_membership(number, reach).is_some()
    }

    /// Returns the group of a process that still runs.
    pub fn group_of(number: i32) -> Option<u32> {
        running_in_group(&fs::read(format!("/proc/{number}/stat")).ok()?)
    }

    fn find_membership(number: i32, reach: &Reach) -> Option<Member> {
        let group = group_of(number)?;
        if group == reach.number() {
            return Some(Member::OfGroup);
        }
        let environment = fs::read(format!("/proc/{number}/environ")).ok()?;
        let wanted = format!("{MARK_VARIABLE}={}", reach.mark);
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
            .then_some(Member::Marked)
    }

    /// Returns the process group from `/proc/PID/stat`, or `None` for a process that has ended and waits to be reaped.
    ///
    /// The name in parentheses may hold any character, so parsing starts after the last parenthesis.
    fn running_in_group(stat: &[u8]) -> Option<u32> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = str::from_utf8(&stat[name_end + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        (!matches!(state, "Z" | "X" | "x"))
            .then(|| fields.nth(1)?.parse().ok())
            .flatten()
    }

    #[cfg(test)]
    mod tests {
        use super::running_in_group;

        #[test]
        fn the_group_of_a_running_process_is_read() {
            assert_eq!(running_in_group(b"12 (sh) S 1 77 77 0 -1"), Some(77));
            assert_eq!(running_in_group(b"12 (a) Z 5 (\xff)) R 1 78 77"), Some(78));
            assert_eq!(running_in_group(b"12 (sh) Z 1 77 77"), None);
            assert_eq!(running_in_group(b"12 (sh"), None);
            assert_eq!(running_in_group(b""), None);
        }
    }
}

/// Takes over and ends the processes that programs leave behind.
///
/// A process whose parent has ended goes to its nearest ancestor that asked for orphans (`PR_SET_CHILD_SUBREAPER`, prctl(2)). So all
/// descendants of a program stay below this process, whatever their session, group or environment. When the last process between has ended,
/// a descendant becomes a child of ours that we did not start.
#[cfg(target_os = "linux")]
mod orphans {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
    use std::time::Duration;

    use rustix::process::{DumpableBehavior, Pid, Signal, WaitId, WaitIdOptions};
    use rustix::process::{
        getpid, kill_process, set_child_subreaper, set_dumpable_behavior, waitid,
    };

    use super::{MARK_VARIABLE, Reach};

    static IS_ADOPTING: AtomicBool = AtomicBool::new(false);
    static VARIABLES: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();
    /// Held shared while a child is started, exclusively while orphans are searched.
    static START_GATE: RwLock<()> = RwLock::new(());
    /// The children that this process started itself, with their marks. The guard's mark is empty.
    static OWN_CHILDREN: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());
    /// Rounds of searching for children of the orphans just killed.
    const MAX_REAP_ROUNDS: usize = 200;
    const REAP_PAUSE: Duration = Duration::from_millis(1);
    /// Maximum number of ancestors looked at.
    const MAX_GENERATIONS: usize = 1000;

    fn lock_own_children() -> MutexGuard<'static, BTreeMap<i32, String>> {
        OWN_CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes this process the parent of everything that its programs leave behind, and lets it end all children that it did not start. Also
    /// hides its environment from other processes. `variables` are that environment, which confined programs get. Call it only in a process
    /// that starts programs in no other way.
    pub fn adopt(variables: Vec<(OsString, OsString)>) {
        let _ = VARIABLES.set(variables);
        IS_ADOPTING.store(
            set_child_subreaper(Some(getpid())).is_ok(),
            Ordering::SeqCst,
        );
        // Programs run as the same user and could read the keys from `/proc`.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }

    /// Returns the environment of this process, or `None` if it does not adopt.
    pub fn variables() -> Option<&'static [(OsString, OsString)]> {
        VARIABLES
            .get()
            .filter(|_| IS_ADOPTING.load(Ordering::SeqCst))
            .map(Vec::as_slice)
    }

    /// While held, a child that is being started cannot be mistaken for an orphan.
    pub struct Starting(RwLockReadGuard<'static, ()>);

    pub fn starting() -> Starting {
        Starting(START_GATE.read().unwrap_or_else(PoisonError::into_inner))
    }

    impl Starting {
        /// Registers the started child.
        pub fn own(self, number: u32, mark: &str) -> Own {
            let own = register_child(number, mark);
            let Self(gate) = self;
            drop(gate);
            own
        }
    }

    /// Registers a child that was started while the caller holds [`Starting`].
    pub fn register_child(number: u32, mark: &str) -> Own {
        let number = i32::try_from(number).unwrap_or(0);
        lock_own_children().insert(number, mark.to_owned());
        Own(number)
    }

    /// A child that this process started, until it is reaped.
    pub struct Own(i32);

    impl Own {
        /// Reaps the child and forgets its number, which may then be reused.
        pub fn reap(&self, reap: impl FnOnce()) {
            let mut own = lock_own_children();
            reap();
            own.remove(&self.0);
        }
    }

    /// Kills and reaps the orphans of an ended program, and those that appear when these are gone. Spares orphans with the mark of another
    /// program that still runs. Returns whether this system supports it.
    pub fn end_orphans(reach: &Reach) -> bool {
        if !IS_ADOPTING.load(Ordering::SeqCst) {
            return false;
        }
        let mut pause = REAP_PAUSE / 32;
        for _ in 0..MAX_REAP_ROUNDS {
            let gate = START_GATE.write().unwrap_or_else(PoisonError::into_inner);
            let Some(mut children) = list_children() else {
                return false;
            };
            {
                let own = lock_own_children();
                children.retain(|number| {
                    !own.contains_key(number) && !belongs_to_another(*number, reach, &own)
                });
            }
            let mut are_reaped = true;
            for pid in children.iter().filter_map(|number| Pid::from_raw(*number)) {
                let _ = kill_process(pid, Signal::KILL);
                // Once it is reaped, its children become ours.
                are_reaped &= !matches!(
                    waitid(
                        WaitId::Pid(pid),
                        WaitIdOptions::EXITED | WaitIdOptions::NOHANG
                    ),
                    Ok(None)
                );
            }
            drop(gate);
            if children.is_empty() {
                break;
            }
            if !are_reaped {
                std::thread::sleep(pause);
                pause = (2 * pause).min(REAP_PAUSE);
            }
        }
        true
    }

    /// Returns whether a process belongs to a program: by group, mark or ancestors. An orphan belongs to it unless it has another's mark.
    pub fn is_within(number: i32, reach: &Reach) -> bool {
        if super::linux::is_member(number, reach) {
            return true;
        }
        let this = getpid().as_raw_nonzero().get();
        let mut number = number;
        for _ in 0..MAX_GENERATIONS {
            match parent_of(number) {
                Some(parent) if parent == this => {
                    let own = lock_own_children();
                    return !own.contains_key(&number) && !belongs_to_another(number, reach, &own);
                }
                Some(parent) if parent > 1 && !super::linux::is_member(parent, reach) => {
                    number = parent;
                }
                parent => return parent.is_some_and(|parent| parent > 1),
            }
        }
        false
    }

    fn parent_of(number: i32) -> Option<i32> {
        let stat = fs::read(format!("/proc/{number}/stat")).ok()?;
        // The name in parentheses may hold any character.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        str::from_utf8(&stat[name_end + 1..])
            .ok()?
            .split_ascii_whitespace()
            .nth(1)?
            .parse()
            .ok()
    }

    fn belongs_to_another(number: i32, reach: &Reach, own: &BTreeMap<i32, String>) -> bool {
        let group = super::linux::group_of(number);
        group.is_some_and(|group| {
            group != reach.number()
                && i32::try_from(group).is_ok_and(|group| own.contains_key(&group))
        }) || mark_of(number)
            .is_some_and(|mark| mark != reach.mark && own.values().any(|live| *live == mark))
    }

    /// Returns the mark in a process's environment, or `None` if it was removed or cannot be read.
    fn mark_of(number: i32) -> Option<String> {
        let environment = fs::read(format!("/proc/{number}/environ")).ok()?;
        let mark = environment
            .split(|byte| *byte == 0)
            .find_map(|variable| variable.strip_prefix(format!("{MARK_VARIABLE}=").as_bytes()))?;
        String::from_utf8(mark.to_vec()).ok()
    }

    /// Returns the numbers of this process's children, over all its threads, or `None` if the system does not list them.
    fn list_children() -> Option<Vec<i32>> {
        let mut children = Vec::new();
        for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
            // The children of an ended thread have moved to another thread.
            if let Ok(text) = fs::read_to_string(thread.path().join("children")) {
                children.extend(
                    text.split_ascii_whitespace()
                        .filter_map(|number| number.parse::<i32>().ok()),
                );
            }
        }
        fs::exists("/proc/thread-self/children")
            .ok()
            .filter(|is_there| *is_there)
            .map(|_| children)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::process::tests::alone;

        #[test]
        fn nobody_reads_what_this_process_was_given() {
            // A process that adopts kills what it did not start: this one has other tests beside this one, and their programs.
            let other = alone("process::system::orphans::tests::adopted")
                .output()
                .expect("it starts");
            let said = String::from_utf8_lossy(&other.stdout);
            assert!(
                other.status.success() && said.contains("1 passed"),
                "{said}"
            );
        }

        #[test]
        #[ignore = "the process in the test above"]
        fn adopted() {
            adopt(Vec::new());
            assert_eq!(
                rustix::process::dumpable_behavior().ok(),
                Some(DumpableBehavior::NotDumpable)
            );
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod no_orphans {
    use std::ffi::OsString;

    use super::Reach;

    pub fn adopt(_variables: Vec<(OsString, OsString)>) {}

    pub fn variables() -> Option<&'static [(OsString, OsString)]> {
        None
    }

    pub struct Starting;

    pub fn starting() -> Starting {
        Starting
    }

    impl Starting {
        pub fn own(self, _number: u32, _mark: &str) -> Own {
            Own
        }
    }

    pub struct Own;

    impl Own {
        pub fn reap(&self, reap: impl FnOnce()) {
            reap();
        }
    }

    pub fn end_orphans(_reach: &Reach) -> bool {
        false
    }
}

/// Windows has no groups to signal. `taskkill` ends a process and those it started.
#[cfg(not(unix))]
mod other {
    use super::{Offspring, ProgramExit, SignalTarget, StopRequest, io};

    pub struct Reach {
        number: u32,
    }

    impl Reach {
        pub fn of(child: &Offspring, _mark: String) -> Self {
            Self {
                number: child.number(),
            }
        }

        pub fn number(&self) -> u32 {
            self.number
        }
    }

    #[cfg_attr(
        not(windows),
        expect(unused_variables, reason = "there is nothing to set")
    )]
    pub fn apart(command: &mut std::process::Command) {
        #[cfg(windows)]
        {
            // CREATE_NEW_PROCESS_GROUP: the console's Ctrl-C must not reach the program.
            std::os::windows::process::CommandExt::creation_flags(command, 0x200);
        }
    }

    pub fn await_end(child: &mut Offspring) -> ProgramExit {
        let Offspring::Started(child) = child;
        child
            .wait()
            .ok()
            .and_then(|status| status.code())
            .map_or(ProgramExit::Exited(-1), ProgramExit::Exited)
    }

    pub fn is_no_program(error: &io::Error) -> bool {
        // ERROR_BAD_EXE_FORMAT.
        error.raw_os_error() == Some(193)
    }

    /// Kills the tree of processes for either request: Windows cannot ask a console program to end.
    ///
    /// Does nothing for a group: it does not outlive the program.
    pub fn signal(reach: &Reach, _request: StopRequest, whom: SignalTarget) {
        if whom == SignalTarget::Group {
            return;
        }
        let number = reach.number.to_string();
        let mut command = std::process::Command::new("taskkill");
        command
            .args(["/T", "/F", "/PID", &number])
            .stdin(std::process::Stdio::null());
        let _ = command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
    }

    pub fn is_left(_reach: &Reach) -> Option<bool> {
        None
    }
}
