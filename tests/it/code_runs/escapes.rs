//! Twenty ways by which an approach leaves something running behind it, and fifty-two out of its confinement: none outlives its run, and none
//! leads out.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::Code;
use crate::programs::Start as _;
use crate::support::{BINARY, Project};

/// Appends to a file as long as it runs: `beat NAME`, in shell and in Python.
const BEATS: &str = r#"
cat > beat.sh <<'END'
while :; do echo x >> "$1"; sleep 0.02; done
END
cat > beat.py <<'END'
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
while True:
    open(sys.argv[1], "a").write("x")
    time.sleep(0.02)
END
B=$PWD/beat.sh P=$PWD/beat.py
"#;

/// A name and a line of shell that starts `beat` on `$OUT/NAME`.
const WAYS: [(&str, &str); 20] = [
    ("background", "sh $B $OUT/background &"),
    ("closed", "sh $B $OUT/closed >/dev/null 2>&1 </dev/null &"),
    ("nohup", "nohup sh $B $OUT/nohup >/dev/null 2>&1 &"),
    ("session", "setsid sh $B $OUT/session >/dev/null 2>&1 &"),
    (
        "forked-session",
        "setsid --fork sh $B $OUT/forked-session >/dev/null 2>&1",
    ),
    (
        "empty-environment",
        "env -i PATH=$PATH setsid sh $B $OUT/empty-environment >/dev/null 2>&1 &",
    ),
    (
        "empty-forked",
        "env -i PATH=$PATH setsid --fork sh $B $OUT/empty-forked >/dev/null 2>&1",
    ),
    (
        "double-fork",
        "(setsid sh -c \"(sh $B $OUT/double-fork) &\" >/dev/null 2>&1 &)",
    ),
    (
        "triple-fork",
        "(env -i PATH=$PATH setsid sh -c \"(setsid sh -c '(sh $B $OUT/triple-fork) &' &)\" >/dev/null 2>&1 &)",
    ),
    (
        "other-mark",
        "env EVAL_PROCESS=0123456789abcdef0123456789abcdef setsid --fork sh $B $OUT/other-mark >/dev/null 2>&1",
    ),
    (
        "without-mark",
        "env -u EVAL_PROCESS setsid --fork sh $B $OUT/without-mark >/dev/null 2>&1",
    ),
    ("deaf", "python3 $P $OUT/deaf >/dev/null 2>&1 &"),
    (
        "deaf-session",
        "setsid --fork python3 $P $OUT/deaf-session >/dev/null 2>&1",
    ),
    (
        "own-group",
        "set -m; sh $B $OUT/own-group >/dev/null 2>&1 & set +m",
    ),
    (
        "renamed",
        "cp \"$(command -v sh)\" ./kworker; env -i PATH=$PATH setsid --fork ./kworker $B $OUT/renamed >/dev/null 2>&1",
    ),
    (
        "deleted",
        "cp \"$(command -v sh)\" ./gone; env -i PATH=$PATH setsid --fork ./gone $B $OUT/deleted >/dev/null 2>&1; sleep 0.1; rm gone",
    ),
    (
        "elsewhere",
        "cd /; env -i PATH=$PATH setsid --fork sh $B $OUT/elsewhere >/dev/null 2>&1; cd - >/dev/null",
    ),
    (
        "holds-the-output",
        "setsid --fork sh $B $OUT/holds-the-output",
    ),
    (
        "watchdog",
        "env -i PATH=$PATH setsid --fork sh -c \"while :; do sh $B $OUT/watchdog; done\" >/dev/null 2>&1",
    ),
    (
        "python-daemon",
        "python3 -c \"import os,sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.closerange(0, 100); \
         os.execve('/bin/sh', ['sh', '$B', '$OUT/python-daemon'], {'PATH': os.environ['PATH']})\"",
    ),
];

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_that_a_run_started_lives_after_it() {
    needs!("python3");
    let out = tempfile::tempdir().expect("a folder");
    let ways: Vec<&str> = WAYS.iter().map(|(_, line)| *line).collect();
    let script = format!(
        "OUT={}\n{BEATS}\n{}\nsleep 0.5\n",
        out.path().display(),
        ways.join("\n")
    );
    let code = Code::new("tests:\n  shared:\n    - \"true\"\n", &script).sharing(out.path());
    code.command(&[], &[]);
    let beats: Vec<u64> = WAYS
        .iter()
        .map(|(name, _)| size(&out.path().join(name)))
        .collect();
    std::thread::sleep(Duration::from_millis(400));
    for ((name, _), before) in WAYS.iter().zip(beats) {
        let now = size(&out.path().join(name));
        assert!(now > 0, "{name} never ran");
        assert_eq!(now, before, "{name} still runs");
    }
}

/// What one run leaves behind cannot reach the workspace of the next, which is honest.
#[test]
#[cfg(target_os = "linux")]
fn a_daemon_does_not_poison_the_next_run() {
    let scratch = tempfile::tempdir().expect("a folder");
    let poison = format!(
        "env -i PATH=$PATH setsid --fork sh -c 'while :; do for f in {}/evalreport-*/workspace/made; do [ -e $f ] && echo bad > $f; done; done' \
         >/dev/null 2>&1\necho good > made\n",
        scratch.path().display()
    );
    let code = Code {
        scratch,
        ..Code::new(
            "tests:\n  shared:\n    - 'grep -q good \"$EVAL_WORKSPACE/made\"'\n",
            &poison,
        )
    };
    let honest = "command: [sh, \"{root}/b.sh\"]";
    code.project.file("b.sh", "echo good > made\nsleep 0.3\n").file(
        "evalreport.yaml",
        format!("version: 1\napproaches:\n  - {{id: a, command: [sh, \"{{root}}/a.sh\"]}}\n  - {{id: b, {honest}}}\n"),
    );
    code.started(
        &["s", "--approach", "a", "--approach", "b"],
        &["--runs", "2"],
        &[],
    );
    let passed = code.project.run(["list", "--runs", "--format", "csv"]);
    let of_b: Vec<String> = passed
        .rows()
        .iter()
        .filter(|row| row["approach"] == "b")
        .map(|row| row["passed"].clone())
        .collect();
    assert_eq!(of_b, ["1", "1"], "{}", passed.stdout);
}

/// What somebody else has: a process, memory that programs share, a socket without a file, and a file and a socket in the temporary folder. It says that all is there, and waits.
const VICTIM: &str = r#"
import ctypes, os, socket, sys, time
name = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
libc.shmget(int(name), 4096, 0o1600)
open(f"/dev/shm/evalreport-{name}", "w").write("KEPT")
open(f"/tmp/evalreport-{name}", "w").write("KEPT")
server = socket.socket(socket.AF_UNIX)
server.bind(f"/tmp/evalreport-{name}.socket")
server.listen()
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0evalreport-" + name)
listener.listen()
print("there", flush=True)
try:
    sys.stdin.read()
finally:
    libc.shmctl(libc.shmget(int(name), 4096, 0), 0, None)
    for path in (f"/dev/shm/evalreport-{name}", f"/tmp/evalreport-{name}", f"/tmp/evalreport-{name}.socket"):
        os.remove(path)
"#;

/// Goes through `TRIES`, one after the other, and writes down which got through, and with what.
const PROBE: &str = r#"
import ctypes, fcntl, glob, json, os, platform, resource, socket, stat, struct, subprocess, sys, time
victim, name, port = int(os.environ["VICTIM"]), os.environ["NAME"], int(os.environ["PORT"])
open("right.txt", "w").close()
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
is_intel = platform.machine() == "x86_64"

def call(intel, arm, *arguments):
    kept = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    answer = libc.syscall(ctypes.c_long(intel if is_intel else arm), *kept)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer

def some(found):
    if not found:
        raise OSError("none")
    return found

def checked(answer):
    if answer != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def any_of(what, of):
    through = []
    for one in of:
        try:
            what(one)
            through.append(str(one))
        except (OSError, ValueError):
            pass
    return some(through)

def push(path):
    file = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY) if isinstance(path, str) else path
    fcntl.ioctl(file, 0x5412, b'x')

def rewrite(path):
    # The same value again: nothing is changed if it gets through.
    text = open(path).read()
    open(path, "r+").write(text)

def device(path):
    os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY))

def forbidden_devices():
    few = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev/pts/ptmx"}
    for folder, _, files in os.walk("/dev"):
        for file in files:
            path = os.path.join(folder, file)
            mode = os.lstat(path).st_mode
            if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and path not in few:
                yield path

def made_node():
    os.mknod("node", 0o60600, os.makedev(1, 1))
    open("node", "rb").read(1)

def in_a_new_user(*then):
    script = "import os, ctypes, sys\nos.unshare(0x10000000 | 0x20000)\n" + "\n".join(then)
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)

def powers():
    said = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True).stdout
    held = [line for line in said.splitlines() if line.startswith("Cap") and not line.startswith("CapBnd") and int(line.split()[1], 16)]
    return some(held)

def connected(kind, protocol, how):
    one = socket.socket(socket.AF_INET, kind, protocol)
    how(one, ("127.0.0.1", port))
    return True

def foreign_files():
    held = {int(one) for one in os.listdir("/proc/self/fd")}
    return some([one for one in held if one > 2 and os.path.exists(f"/proc/self/fd/{one}")])

def others():
    return some([one for one in os.listdir("/proc") if one == str(victim)])

def services():
    found = []
    for folder, _, files in os.walk("/run"):
        found += [file for file in files if stat.S_ISSOCK(os.lstat(os.path.join(folder, file)).st_mode)]
    return some(found)

tried = {}
for title, expression in json.loads(os.environ["TRIES"]):
    try:
        tried[title] = str(eval(expression))
    except (OSError, AttributeError, ValueError, subprocess.SubprocessError):
        tried[title] = None
json.dump(tried, open("tried.json", "w"))
"#;

/// Where a try is refused.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// On every kernel that confines programs.
    Always,
    /// It may end without an error, but somebody else's process is as it was.
    Unchanged,
    /// With namespaces alone: the kernel offers nothing else against it.
    Apart,
}

/// Ways out: a name, an expression of Python that tries it, and where it is refused.
const TRIES: [(&str, &str, Where); 52] = [
    ("open the terminal", "device('/dev/tty')", Where::Always),
    (
        "type into the terminals",
        "any_of(push, glob.glob('/dev/pts/[0-9]*') + glob.glob('/dev/tty*') + ['/dev/console'])",
        Where::Always,
    ),
    (
        "type into the streams",
        "any_of(push, [0, 1, 2])",
        Where::Always,
    ),
    (
        "other devices",
        "any_of(device, forbidden_devices())",
        Where::Always,
    ),
    ("virtual machines", "device('/dev/kvm')", Where::Always),
    (
        "loop devices",
        "any_of(device, ['/dev/loop0', '/dev/loop-control'])",
        Where::Always,
    ),
    (
        "the kernel's log",
        "any_of(device, ['/dev/kmsg', '/proc/kmsg'])",
        Where::Always,
    ),
    (
        "read disks",
        "any_of(lambda path: open(path, 'rb').read(1), glob.glob('/dev/[shv]d*') + glob.glob('/dev/nvme*'))",
        Where::Always,
    ),
    ("make a device", "made_node()", Where::Always),
    ("change the root folder", "os.chroot('.')", Where::Always),
    (
        "mount",
        "checked(libc.mount(b'none', b'.', b'tmpfs', 0, None))",
        Where::Always,
    ),
    (
        "mount as another user",
        "in_a_new_user('assert ctypes.CDLL(None).mount(b\"none\", b\".\", b\"tmpfs\", 0, None) == 0')",
        Where::Always,
    ),
    (
        "the starter of crashes",
        "rewrite('/proc/sys/kernel/core_pattern')",
        Where::Always,
    ),
    (
        "the starter of modules",
        "rewrite('/proc/sys/kernel/modprobe')",
        Where::Always,
    ),
    (
        "memory of the system",
        "rewrite('/proc/sys/vm/overcommit_memory')",
        Where::Always,
    ),
    (
        "magic keys",
        "open('/proc/sysrq-trigger', 'w').close()",
        Where::Always,
    ),
    (
        "control groups",
        "any_of(lambda path: open(path, 'a').close(), glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True)[:20])",
        Where::Always,
    ),
    (
        "files of the kernel",
        "any_of(lambda path: open(path, 'a').close(), ['/sys/kernel/mm/ksm/run', '/sys/power/state'])",
        Where::Always,
    ),
    (
        "the clock",
        "time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))",
        Where::Always,
    ),
    (
        "the machine's name",
        "socket.sethostname(socket.gethostname())",
        Where::Always,
    ),
    (
        "become another user",
        "os.setresuid(1, 1, 1)",
        Where::Always,
    ),
    ("keep groups", "os.setgroups([0])", Where::Always),
    ("powers", "powers()", Where::Always),
    (
        "programs in the kernel",
        "call(321, 280, 5, ctypes.create_string_buffer(128), 128)",
        Where::Always,
    ),
    (
        "watch the processor",
        "call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
        Where::Always,
    ),
    ("faults of memory", "call(323, 282, 1)", Where::Always),
    (
        "rings of calls",
        "call(425, 425, 8, ctypes.create_string_buffer(120))",
        Where::Always,
    ),
    (
        "a lease on a file",
        "__import__('fcntl').fcntl(open(os.environ['TMPDIR'] + '/leased', 'w'), 1024, 1) == 0",
        Where::Always,
    ),
    (
        "the session's keys",
        "call(250, 219, 0, -3, 1)",
        Where::Always,
    ),
    (
        "a key for later",
        "call(248, 217, b'user', b'evalreport', b'x', 1, -4)",
        Where::Always,
    ),
    (
        "the machine's host",
        "socket.socket(40, socket.SOCK_STREAM)",
        Where::Always,
    ),
    (
        "raw packets",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        Where::Always,
    ),
    (
        "connect by TCP",
        "connected(socket.SOCK_STREAM, 0, lambda one, to: one.connect(to))",
        Where::Always,
    ),
    (
        "connect by sending",
        "connected(socket.SOCK_STREAM, 0, lambda one, to: one.sendto(b'x', 0x20000000, to))",
        Where::Always,
    ),
    (
        "connect by several paths",
        "connected(socket.SOCK_STREAM, 262, lambda one, to: one.connect(to))",
        Where::Always,
    ),
    (
        "send datagrams",
        "connected(socket.SOCK_DGRAM, 0, lambda one, to: one.sendto(b'x', to))",
        Where::Always,
    ),
    (
        "a socket without a file",
        "socket.socket(socket.AF_UNIX).connect('\\0evalreport-' + name)",
        Where::Always,
    ),
    ("files of the starter", "foreign_files()", Where::Always),
    (
        "trace a process",
        "call(101, 117, 16, victim, 0, 0)",
        Where::Always,
    ),
    (
        "memory of a process",
        "open(f'/proc/{victim}/mem', 'rb').read(1)",
        Where::Always,
    ),
    (
        "variables of a process",
        "open(f'/proc/{victim}/environ', 'rb').read(1)",
        Where::Always,
    ),
    (
        "files of a process",
        "os.readlink(f'/proc/{victim}/fd/0')",
        Where::Always,
    ),
    ("end a process", "os.kill(victim, 9)", Where::Unchanged),
    (
        "limits of a process",
        "[resource.prlimit(victim, one, (64, 64)) for one in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE)]",
        Where::Unchanged,
    ),
    (
        "priority of all processes",
        "os.setpriority(os.PRIO_PROCESS, victim, 19) or os.setpriority(os.PRIO_USER, os.getuid(), 19)",
        Where::Unchanged,
    ),
    (
        "processors of a process",
        "os.sched_setaffinity(victim, {min(os.sched_getaffinity(0))}) or os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0))",
        Where::Unchanged,
    ),
    (
        "who is killed first",
        "open(f'/proc/{victim}/oom_score_adj', 'w').write('1000')",
        Where::Unchanged,
    ),
    (
        "the system's passwords",
        "open('/etc/shadow').read(1)",
        Where::Always,
    ),
    (
        "a temporary file",
        "open(f'/tmp/evalreport-{name}').read()",
        Where::Apart,
    ),
    (
        "a temporary socket",
        "socket.socket(socket.AF_UNIX).connect(f'/tmp/evalreport-{name}.socket') or True",
        Where::Apart,
    ),
    (
        "see others",
        "any_of(lambda one: one(), [others, services])",
        Where::Apart,
    ),
    (
        "memory that is shared",
        "any_of(lambda one: one(), [lambda: open(f'/dev/shm/evalreport-{name}').read(), lambda: call(29, 194, int(name), 4096, 0)])",
        Where::Apart,
    ),
];

/// What others may see and change of a process.
fn state(process: u32) -> String {
    let read =
        |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
    let stat = read("stat");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let status: Vec<String> = read("status")
        .lines()
        .filter(|line| line.starts_with("Cpus_allowed:"))
        .map(str::to_owned)
        .collect();
    // Priority, niceness and policy (proc_pid_stat(5), 18, 19 and 41).
    format!(
        "{:?} {status:?} {} {}",
        [15, 16, 38].map(|place| fields.get(place)),
        read("limits"),
        read("oom_score_adj")
    )
}

/// Goes through the tries in an approach that `words` start, which end in the program. Returns what got through.
fn through(words: &[&str]) -> Vec<String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string();
    // The whole machine sees what the victim makes. Its port is no other test's, whereas tests of one process share their process's number.
    let name = &port;
    let project = tempfile::tempdir().expect("a folder");
    let [script, probe] = [("victim.py", VICTIM), ("probe.py", PROBE)].map(|(file, text)| {
        let path = project.path().join(file);
        fs::write(&path, text).expect("room");
        path
    });
    let mut command = std::process::Command::new("python3");
    command
        .arg(&script)
        .arg(name)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut victim = command.start();
    let mut said = String::new();
    let stdout = victim.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut said)
        .expect("it speaks");
    assert_eq!(said, "there\n");
    let code = Code::new(
        "network: [setup]\ntests:\n  shared:\n    - test -e \"$EVAL_WORKSPACE/right.txt\"\n",
        "",
    );
    code.project
        .file("probe.py", fs::read_to_string(probe).expect("there"));
    let code = code.config("{id: a, command: [python3, \"{root}/probe.py\"]}");
    let number = victim.id();
    let before = state(number);
    let tries: Vec<_> = TRIES
        .iter()
        .map(|(title, expression, _)| (title, expression))
        .collect();
    let scratch = code.scratch.path().display().to_string();
    let secret = project.path().join("victim.py").display().to_string();
    // With a file that its starter left open.
    let script = ["-c", "exec 9<\"$0\"; exec \"$@\"", &secret];
    let run = [BINARY, "run", "s", "--approach", "a", "--scratch", &scratch];
    let mut command = std::process::Command::new("sh");
    command
        .args(script)
        .args(words)
        .args(run)
        .envs(Project::environment());
    command
        .env("VICTIM", number.to_string())
        .env("NAME", name)
        .env("PORT", &port);
    command.env(
        "TRIES",
        serde_json::to_string(&tries).expect("text is JSON"),
    );
    let output = code.project.output(&mut command);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let ran = code.all().remove(0);
    ran.ended("completed", "");
    ran.shared(1, 1);
    let tried: std::collections::BTreeMap<String, Option<String>> =
        serde_json::from_str(ran.kept("tried.json").expect("it wrote what it tried"))
            .expect("JSON");
    assert_eq!(tried.len(), TRIES.len());
    let is_unchanged = before == state(number);
    assert!(is_unchanged, "{before}\n{}", state(number));
    let is_through = |(title, _, place): &&(&str, &str, Where)| {
        *place != Where::Unchanged && tried[*title].is_some()
    };
    TRIES
        .iter()
        .filter(is_through)
        .map(|(title, ..)| format!("{title}: {}", tried[*title].as_deref().unwrap_or_default()))
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn no_way_leads_out() {
    needs!(crate::needs::LANDLOCK, "python3");
    let has_spaces = super::has_spaces(&Project::new());
    let through = through(&[]);
    let is_named = |line: &String| {
        !has_spaces
            && TRIES
                .iter()
                .any(|(title, _, place)| *place == Where::Apart && line.starts_with(title))
    };
    assert!(through.iter().all(is_named), "{through:#?}");
}

/// As in a container of an ordinary user, where the program is root of a namespace.
#[test]
#[cfg(target_os = "linux")]
fn no_way_leads_out_where_the_starter_is_root_of_a_namespace() {
    needs!(crate::needs::LANDLOCK, "python3", crate::needs::USERS);
    let has_spaces = super::has_spaces(&Project::new());
    let through = through(&["unshare", "--user", "--map-root-user", "--mount"]);
    assert!(!has_spaces || through.is_empty(), "{through:#?}");
}

/// As in most containers, where nobody may make namespaces.
#[test]
#[cfg(target_os = "linux")]
fn without_namespaces_four_ways_are_left_and_are_named() {
    needs!(crate::needs::LANDLOCK, "python3", crate::needs::USERS);
    let none = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let through = through(&[
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        none,
        "sh",
    ]);
    let left: Vec<&str> = through
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    let named: Vec<&str> = TRIES
        .iter()
        .filter(|(.., place)| *place == Where::Apart)
        .map(|(title, ..)| *title)
        .collect();
    assert!(
        left.iter().all(|title| named.contains(title)),
        "{through:#?}"
    );
}

/// What a phase writes to the system's temporary folders is its own: the phase's other programs find it there and in `TMPDIR`, the next
/// phase, the next run and this test do not.
#[test]
#[cfg(target_os = "linux")]
fn temporary_folders_are_of_one_phase() {
    needs!(crate::needs::LANDLOCK, crate::needs::USERS);
    if !super::has_spaces(&Project::new()) {
        // Then the folders are of all, as `doctor --system` tells.
        return;
    }
    let name = format!("evalreport-left-{}", std::process::id());
    let code = Code::new(
        &format!(
            "setup: ['echo setup > /tmp/{name}']\ntests:\n  shared:\n    - 'test ! -e /tmp/{name} && test ! -e /var/tmp/{name}'\n    - test -e \"$EVAL_WORKSPACE/right.txt\"\n"
        ),
        &format!(
            "test ! -e /tmp/{name} || exit 3\necho a > /tmp/{name}\necho b > /var/tmp/{name}.var\ntest \"$(cat \"$TMPDIR/{name}\")\" = a && test -e /tmp/{name}.var && : > right.txt\n"
        ),
    );
    code.command(&["--runs", "2"], &[]);
    for ran in code.all() {
        ran.ended("completed", "");
        ran.shared(2, 2);
    }
    for folder in ["/tmp", "/var/tmp"] {
        assert!(!Path::new(folder).join(&name).exists(), "{folder}");
    }
}

/// Types a command, which the shell of the terminal would run afterwards.
const TYPES: &str = "import fcntl, os\nopen('right.txt', 'w').close()\nfor path in ('/dev/tty', '/proc/self/fd/0', '/proc/self/fd/2'):\n    try:\n        \
                     file = os.open(path, os.O_RDWR)\n        for byte in b'echo INJECTED\\n':\n            fcntl.ioctl(file, 0x5412, bytes([byte]))\n    \
                     except OSError as error:\n        print(error)\n";
/// Runs the program on a terminal of its own, and prints all that the terminal showed.
const TERMINAL: &str = "import os, pty, sys\nshown = b''\n\
                        pid, file = pty.fork()\nif pid == 0:\n    os.execvp(sys.argv[1], sys.argv[1:])\nwhile True:\n    try:\n        data = os.read(file, 65536)\n    \
                        except OSError:\n        break\n    if not data:\n        break\n    shown += data\nos.waitpid(pid, 0)\nprint(shown.decode(errors='replace'))\n";

#[test]
#[cfg(target_os = "linux")]
fn nobody_types_into_the_terminal() {
    needs!(crate::needs::LANDLOCK, "python3");
    let code = Code::new(
        "tests:\n  shared:\n    - test -e \"$EVAL_WORKSPACE/right.txt\"\n",
        "",
    );
    code.project
        .file("types.py", TYPES)
        .file("terminal.py", TERMINAL);
    let code = code.config("{id: a, command: [python3, \"{root}/types.py\"]}");
    let scratch = code.scratch.path().display().to_string();
    let shown = |more: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command
            .args([
                "terminal.py",
                BINARY,
                "run",
                "s",
                "--approach",
                "a",
                "--scratch",
                &scratch,
            ])
            .args(more);
        code.project
            .output(command.envs(Project::environment()))
            .stdout
    };
    let confined = shown(&[]);
    code.all()[0].ended("completed", "");
    assert!(!confined.contains("INJECTED"), "{confined}");
    // Where kernels let anybody type, the test would notice.
    let is_possible =
        fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").is_ok_and(|text| text.trim() == "1");
    let free = shown(&["--no-isolation"]);
    assert!(!is_possible || free.contains("INJECTED"), "{free}");
}

/// Without isolation, whoever lowers the limits of evalreport makes no outage of other runs.
#[test]
#[cfg(target_os = "linux")]
fn limits_that_are_lowered_are_restored_and_named() {
    needs!("python3");
    let lowers = "import os, resource\nparent = os.getppid()\n_, most = resource.prlimit(parent, resource.RLIMIT_NOFILE)\n\
                  resource.prlimit(parent, resource.RLIMIT_NOFILE, (20, most))\nopen('right.txt', 'w').close()\n";
    let code = Code::new(
        "tests:\n  shared:\n    - test -e \"$EVAL_WORKSPACE/right.txt\"\n",
        "",
    );
    code.project
        .file("lowers.py", lowers)
        .file("b.sh", ": > right.txt\n");
    let both = "{id: a, command: [python3, \"{root}/lowers.py\"]}\n  - {id: b, command: [sh, \"{root}/b.sh\"]}";
    let code = code.config(both);
    code.started(
        &["s", "--approach", "a", "--approach", "b"],
        &["--no-isolation", "--runs", "2"],
        &[],
    );
    for ran in code.all() {
        if ran.header["approach"] == "a" {
            ran.ended(
                "infra",
                "tampered: evalreport's own limit of open files was changed",
            );
        } else {
            ran.ended("completed", "");
            ran.shared(1, 1);
        }
    }
}

/// The parent that it lowers the limits of is its own.
#[test]
#[cfg(target_os = "linux")]
fn a_confined_approach_lowers_only_its_own_limits() {
    needs!(crate::needs::LANDLOCK, "python3");
    let lowers = "import os, resource\nopen('main.txt', 'w').close()\nfor one in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, \
                  resource.RLIMIT_NPROC, resource.RLIMIT_AS):\n    try:\n        resource.prlimit(os.getppid(), one, (14, 14))\n    \
                  except OSError as error:\n        print(error)\n";
    let code = Code::new(
        "tests:\n  shared:\n    - test -e \"$EVAL_WORKSPACE/right.txt\"\n",
        "",
    );
    code.project
        .file("lowers.py", lowers)
        .file("b.sh", ": > right.txt\n");
    let both = "{id: a, command: [python3, \"{root}/lowers.py\"]}\n  - {id: b, command: [sh, \"{root}/b.sh\"]}";
    let code = code.config(both);
    code.started(
        &["s", "--approach", "a", "--approach", "b"],
        &["--runs", "2"],
        &[],
    );
    for ran in code.all() {
        ran.ended("completed", "");
        ran.shared(u64::from(ran.header["approach"] == "b"), 1);
    }
}

/// Prints what the confinement of one program costs: the difference of two runs with 200 commands, with and without isolation.
#[test]
#[ignore = "measures"]
fn what_isolation_costs() {
    needs!(crate::needs::LANDLOCK);
    let commands: Vec<String> = (0..200)
        .map(|number| format!("    - 'true {number}'\n"))
        .collect();
    let took = |more: &[&str]| {
        let code = Code::new(
            &format!("tests:\n  shared:\n{}", commands.concat()),
            ": > right.txt\n",
        );
        let begin = std::time::Instant::now();
        code.command(more, &[]);
        begin.elapsed().as_secs_f64()
    };
    let least = |more: &[&str]| (0..5).map(|_| took(more)).fold(f64::INFINITY, f64::min);
    let (free, confined) = (least(&["--no-isolation"]), least(&[]));
    let each = (confined - free) / 201.0 * 1000.0;
    eprintln!(
        "{each:.1} ms for each program: {confined:.3} s instead of {free:.3} s for 201 of them"
    );
    assert!(each < 50.0, "{each} ms");
}
