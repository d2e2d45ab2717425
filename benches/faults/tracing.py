"""Kills a command at a system call, or has a call fail, by strace; and runs it under limits of the system."""

import os
import re
import resource
import signal
import subprocess
from dataclasses import dataclass

SECONDS = 60

# Calls by which files change; a kill at each of them leaves another state behind. Not every machine has each.
CHANGING = (
    "mkdir mkdirat write writev pwrite64 fsync fdatasync ftruncate link linkat symlink symlinkat rename renameat renameat2 unlink unlinkat "
    "rmdir flock copy_file_range sendfile chmod fchmod fchmodat"
).split()
OPENING = ["open", "openat"]
READING = "read pread64 readv stat lstat fstat statx newfstatat getdents64 lseek readlink readlinkat".split()
STARTING = ["clone3"]
CALLS = CHANGING + OPENING + READING + STARTING

# What a call may be refused with. `+` stands for "and every one after it", as on a full disk or without free descriptors.
ERRORS = {
    "open": ["EMFILE", "EMFILE+", "EIO", "EACCES", "EINTR"],
    "openat": ["EMFILE", "EMFILE+", "EIO", "EACCES", "EINTR"],
    "read": ["EIO", "EIO+", "EINTR"],
    "pread64": ["EIO", "EINTR"],
    "readv": ["EIO"],
    "write": ["ENOSPC", "ENOSPC+", "EIO", "EINTR"],
    "writev": ["ENOSPC", "EIO"],
    "pwrite64": ["ENOSPC", "EIO"],
    "copy_file_range": ["ENOSPC", "EIO"],
    "sendfile": ["ENOSPC", "EIO"],
    "fsync": ["EIO", "EIO+", "ENOSPC"],
    "fdatasync": ["EIO", "ENOSPC"],
    "ftruncate": ["EIO", "ENOSPC"],
    "mkdir": ["ENOSPC", "EACCES", "EIO"],
    "mkdirat": ["ENOSPC", "EACCES", "EIO"],
    "link": ["EIO", "ENOSPC", "EMLINK"],
    "linkat": ["EIO", "ENOSPC", "EMLINK"],
    "symlink": ["EIO", "ENOSPC"],
    "symlinkat": ["EIO", "ENOSPC"],
    "rename": ["EIO", "ENOSPC", "EACCES"],
    "renameat": ["EIO", "ENOSPC", "EACCES"],
    "renameat2": ["EIO", "ENOSPC", "EACCES"],
    "unlink": ["EIO", "EACCES"],
    "unlinkat": ["EIO", "EACCES"],
    "rmdir": ["EIO", "EACCES"],
    "flock": ["EIO", "ENOLCK", "EINTR"],
    "chmod": ["EPERM"],
    "fchmod": ["EPERM"],
    "fchmodat": ["EPERM"],
    "stat": ["EIO", "EACCES"],
    "lstat": ["EIO", "EACCES"],
    "fstat": ["EIO"],
    "statx": ["EIO", "EACCES", "EIO+"],
    "newfstatat": ["EIO", "EACCES"],
    "getdents64": ["EIO", "EIO+"],
    "lseek": ["EIO"],
    "readlink": ["EIO"],
    "readlinkat": ["EIO"],
    "clone3": ["EAGAIN", "EAGAIN+"],
}
KILL = "KILL"
# A write stops at this length of a file: it is short, and the next one is refused, or is the process's last.
SHORT = "SHORT"
TORN = "TORN"
# So many descriptors may be open.
FILES = "FILES"


@dataclass(frozen=True, order=True)
class Point:
    """Where a command is disturbed: the call, how many of its name its thread made up to it, and how. For limits, the limit."""

    call: str
    number: int
    how: str

    @property
    def is_kill(self):
        return self.how in (KILL, TORN)

    def __str__(self):
        return f"{self.call}:{self.number}:{self.how}"

    @classmethod
    def parse(cls, text):
        call, number, how = text.split(":")
        return cls(call, int(number), how)


@dataclass
class Ended:
    code: int
    stdout: str
    stderr: str
    # Whether the disturbance came about: calls are not exactly as many each time.
    is_met: bool = True
    is_hung: bool = False
    # The call that was disturbed, as strace wrote it.
    call: str = ""


def run(place, command, point=None, said=None):
    """Runs a command in a place, perhaps disturbed; its standard output is a file, as in a build server's step, and so is what is `said` to
    it."""
    trace = place.root / "trace"
    limits = None
    wrapped = [str(word) for word in command]
    if point and point.how in (SHORT, TORN, FILES):
        limits = lambda: limit(point)
    elif point:
        wrapped = ["strace", "-f", "-b", "execve", "-y", "-qq", "-o", str(trace), *injection(point), *wrapped]
    told = place.project / said if said else os.devnull
    with open(told, "rb") as heard, open(place.root / "stdout", "wb+") as out, open(place.root / "stderr", "wb+") as err:
        # Without `restore_signals` a write beyond the limit of a file's length is an error, with it the end.
        child = subprocess.Popen(
            wrapped,
            cwd=place.project,
            env=place.environment(),
            stdin=heard,
            stdout=out,
            stderr=err,
            preexec_fn=limits,
            restore_signals=not (point and point.how == SHORT),
            start_new_session=True,
        )
        is_hung = False
        try:
            code = child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            is_hung = True
            os.killpg(child.pid, signal.SIGKILL)
            code = child.wait()
        out.seek(0)
        err.seek(0)
        ended = Ended(code, out.read().decode(errors="replace"), err.read().decode(errors="replace"), is_hung=is_hung)
    if point and limits is None:
        lines = trace.read_text(errors="replace").splitlines() if trace.exists() else []
        injected = [line for line in lines if "(INJECTED)" in line]
        if point.is_kill:
            ended.is_met = code == -signal.SIGKILL
            injected = [line for line in lines if f" {point.call}(" in line][-1:]
        else:
            # What is no file, such as the alarm clock of a library's threads, knows no full disk: that is nothing that can come about.
            is_file = all(point.call in STARTING or re.search(r"<(/|pipe)|AT_FDCWD|\(\"", line) for line in injected)
            ended.is_met = bool(injected) and is_file
        ended.call = injected[0] if injected else ""
    elif point and point.how == TORN:
        ended.is_met = code == -signal.SIGXFSZ
    return ended


def limit(point):
    kind = resource.RLIMIT_NOFILE if point.how == FILES else resource.RLIMIT_FSIZE
    resource.setrlimit(kind, (point.number, point.number))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def injection(point):
    how = "signal=KILL" if point.how == KILL else f"error={point.how.rstrip('+')}"
    when = f"{point.number}{'+' if point.how.endswith('+') else ''}"
    return ["-e", f"trace={point.call}", "-e", f"inject={point.call}:{how}:when={when}"]


def works():
    command = ["strace", "-f", "-b", "execve", "-qq", "-o", os.devnull, "-e", "trace=write", "true"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def points(place, command, said=None):
    """Every point at which a command that makes these calls can be disturbed. Only calls on files of the place count, and its output: what
    the system's loader does is not ours."""
    trace = place.root / "calls"
    names = ",".join(f"?{name}" for name in CALLS)
    strace = ["strace", "-f", "-b", "execve", "-y", "-qq", "-s", "0", "-o", str(trace), "-e", f"trace={names}"]
    ended = run(place, [*strace, *command], said=said)
    counts, found = {}, set()
    for line in trace.read_text(errors="replace").splitlines():
        called = re.match(r"(\d+) +(\w+)\((.*)", line)
        if not called:
            continue
        thread, name, arguments = called.groups()
        number = counts[thread, name] = counts.get((thread, name), 0) + 1
        if name not in STARTING and not is_ours(place, name, arguments):
            continue
        if name in CHANGING or (name in OPENING and re.search(r"O_CREAT|O_TRUNC", arguments)):
            found.add(Point(name, number, KILL))
        found.update(Point(name, number, error) for error in ERRORS.get(name, []))
    return ended, sorted(found)


def is_ours(place, name, arguments):
    named = re.match(r'(?:(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"', arguments)
    opened = re.match(r"\d+<([^>]*)>", arguments)
    if named and name not in ("write", "read", "pread64", "pwrite64"):
        path = os.path.join(named.group(1) or str(place.project), named.group(2))
    elif opened:
        path = opened.group(1)
    else:
        return False
    return path.startswith(str(place.root)) and not path.endswith("/stderr")


def limits(place, before, may_lack_files):
    """Points that need no strace: files that may not grow beyond a length, and few descriptors."""
    lengths = sorted({path.stat().st_size for path in place.files() if path not in before or path.stat().st_size != before[path]})
    found = set()
    for length in lengths:
        for at in {0, 1, length // 3, length * 2 // 3, length - 1}:
            if 0 <= at < length:
                found.update([Point("fsize", at, SHORT), Point("fsize", at, TORN)])
    if may_lack_files:
        found.update(Point("nofile", files, FILES) for files in range(3, 24))
    return sorted(found)
