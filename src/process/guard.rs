//! Who ends programs when this process cannot: killed outright, or gone in a hurry.
//!
//! The system ends children with their parent only where unsafe code asks for it. Instead a shell waits beside this process, reading
//! which groups run; when its input ends, this process is gone, however that came, and what is still on the list is killed. It is
//! started with the first program that runs longer than [`PATIENCE`], so short programs cost nothing. Without a shell there is no guard.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::system;

/// How long a program runs unguarded.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Lines of a sign and the number of a group: `+` runs, `-` is over.
const SCRIPT: &str = r#"
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

/// A group on the guard's list, as long as this lives.
pub struct Guarded(u32);

impl Guarded {
    pub fn new(group: u32) -> Self {
        tell('+', group);
        Self(group)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell('-', self.0);
    }
}

fn tell(sign: char, group: u32) {
    if let Some(input) = GUARD.get_or_init(start) {
        // A guard that is gone protects nothing; the programs are bounded all the same.
        let _ = input.lock().unwrap_or_else(PoisonError::into_inner).write_all(format!("{sign} {group}\n").as_bytes());
    }
}

fn start() -> Option<Mutex<ChildStdin>> {
    if cfg!(not(unix)) {
        return None;
    }
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT]).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // The terminal's Ctrl-C is not for the guard.
    system::apart(&mut command);
    let known = system::starting();
    let mut guard = command.spawn().ok()?;
    // Never reaped: it is ours for as long as this process lives.
    known.own(&guard, "");
    guard.stdin.take().map(Mutex::new)
}
