//! A guard that kills the programs if this process dies without doing so.
//!
//! Only unsafe code can make the system end children with their parent. Instead, a shell runs beside this process and reads the list of
//! running groups. When its input ends, this process is gone, for whatever reason, and the shell kills all groups still listed. The guard
//! starts with the first program that runs longer than [`GUARD_DELAY`], so short programs cost nothing. Without a shell there is no guard.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::system;

/// How long a program runs without a guard.
pub const GUARD_DELAY: Duration = Duration::from_millis(100);

/// Reads lines of a sign and a group number: `+` for a started group, `-` for an ended one.
const GUARD_SCRIPT: &str = r#"
groups=
while read -r sign group; do
    case $sign in
    +) groups="$groups $group" ;;
    -)
        others=
        for one in $groups; do [ "$one" = "$group" ] || others="$others $one"; done
        groups=$others
        ;;
    esac
done
for one in $groups; do kill -s KILL -- "-$one"; done
"#;

static GUARD: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Keeps a process group on the guard's list until dropped.
pub struct GuardedGroup(u32);

impl GuardedGroup {
    pub fn new(group: u32) -> Self {
        tell_guard('+', group);
        Self(group)
    }
}

impl Drop for GuardedGroup {
    fn drop(&mut self) {
        tell_guard('-', self.0);
    }
}

fn tell_guard(sign: char, group: u32) {
    if let Some(input) = GUARD.get_or_init(start_guard) {
        // Without a guard, programs still keep their limits.
        let _ = input
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(format!("{sign} {group}\n").as_bytes());
    }
}

fn start_guard() -> Option<Mutex<ChildStdin>> {
    if cfg!(not(unix)) {
        return None;
    }
    let mut command = Command::new("sh");
    command
        .args(["-c", GUARD_SCRIPT])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // The terminal's Ctrl-C must not reach the guard.
    system::apart(&mut command);
    let known = system::starting();
    let mut guard = command.spawn().ok()?;
    // The guard is never reaped, so it stays registered while this process lives.
    known.own(guard.id(), "");
    guard.stdin.take().map(Mutex::new)
}
