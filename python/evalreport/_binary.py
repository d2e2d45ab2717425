"""Finds and runs the `evalreport` program."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import warnings
from importlib import metadata
from pathlib import Path
from typing import IO, Any, Iterator, List, NamedTuple, Optional, Sequence

from ._translate import PLAIN, Translation

_HALVES = re.compile("[\ud800-\udfff]")
_NAME = "evalreport.exe" if os.name == "nt" else "evalreport"
#: Exit codes that are answers: done, a negative answer, and an inconclusive one.
_ANSWERS = (0, 1, 3)


class Error(Exception):
    """A request that `evalreport` refused, or a fault of the program itself.

    Attributes:
        message: What is wrong, in lower case.
        hint: What to do about it, or `None`.
        details: Further lines, such as each problem of a file.
        exit_code: The program's exit code: 2 for wrong arguments, configuration or data.
    """

    def __init__(self, message: str, hint: Optional[str] = None, details: Sequence[str] = (), exit_code: int = 2) -> None:
        self.message = message
        self.hint = hint
        self.details = list(details)
        self.exit_code = exit_code
        super().__init__(message)

    def __str__(self) -> str:
        hint = [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join([*self.details, self.message, *hint])

    def __reduce__(self) -> Any:
        return (Error, (self.message, self.hint, self.details, self.exit_code))


class EvalreportWarning(UserWarning):
    """Something that an answer lacks, such as a file that could not be read."""


class Output(NamedTuple):
    """What the program printed."""

    text: str
    messages: List[str]
    exit_code: int


def binary() -> str:
    """Returns the path of the program.

    `EVALREPORT_BINARY` names one for development. Otherwise it is the program that was installed with this package, or one on `PATH`.

    Raises:
        Error: There is none.
    """
    named = os.environ.get("EVALREPORT_BINARY")
    if named:
        if shutil.which(named) is None:
            raise Error(f"EVALREPORT_BINARY names `{named}`, which is no program")
        return named
    for path in _installed():
        if path.is_file() and os.access(str(path), os.X_OK):
            return str(path)
    found = shutil.which(_NAME)
    if found is None:
        raise Error("the program `evalreport` is not installed", "`pip install --force-reinstall evalreport` brings it")
    return found


def _installed() -> Iterator[Path]:
    scripts = sysconfig.get_path("scripts")
    if scripts:
        yield Path(scripts, _NAME)
    # Installed with `--user`, `--target` or `--prefix`, the scripts are elsewhere.
    try:
        files = metadata.files("evalreport") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == _NAME:
            yield Path(str(file.locate()))


def whole_characters(text: str) -> str:
    """Replaces halves of surrogate pairs, which have no UTF-8."""
    return _HALVES.sub("\ufffd", text)


def environment() -> "dict[str, str]":
    """Returns the environment for the program: this one, without colours."""
    return {**os.environ, "NO_COLOR": "1"}


def call(arguments: Sequence[str], echo: bool = False, translation: Translation = PLAIN, is_quiet: bool = False) -> Output:
    """Runs the program to its end. With `echo`, its messages appear on `sys.stderr` as they come.

    Args:
        translation: Of messages.
        is_quiet: The caller warns of what the program warns of.

    Raises:
        Error: The exit code is no answer.
    """
    try:
        child = subprocess.Popen(
            [binary(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=environment(),
        )
    except (OSError, ValueError) as error:
        raise Error(f"cannot start evalreport: {error}") from error
    messages: List[str] = []
    assert child.stdout is not None and child.stderr is not None
    listener = threading.Thread(target=_listen, args=(child.stderr, messages, echo), daemon=True)
    listener.start()
    try:
        text = child.stdout.read()
        code = child.wait()
    except KeyboardInterrupt:
        # The terminal has interrupted the program too. It stores finished work before it ends.
        try:
            child.wait()
        except KeyboardInterrupt:
            child.kill()
        raise
    finally:
        child.stdout.close()
        listener.join(10 if child.poll() is not None else 0)
    if code not in _ANSWERS:
        raise error_of(messages, code, translation)
    output = Output(text, [str(translation.plain(line)) for line in messages], code)
    if not is_quiet:
        warn(output.messages)
    return output


def warn(messages: Sequence[str]) -> None:
    """Warns of the program's warnings, where the user's code is."""
    level = 2
    while level < 10 and sys._getframe(level - 1).f_globals.get("__package__") == "evalreport":
        level += 1
    for line in messages:
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], EvalreportWarning, stacklevel=level)


def _listen(stream: IO[str], messages: List[str], echo: bool) -> None:
    with stream:
        for line in stream:
            messages.append(line.rstrip("\n"))
            if echo:
                sys.stderr.write(line)
                sys.stderr.flush()


def error_of(messages: Sequence[str], code: int, translation: Translation = PLAIN) -> Error:
    """Returns the error that the program's last messages describe, in the words of Python."""
    place = next((place for place, line in enumerate(messages) if line.startswith("error: ")), None)
    if place is None:
        last = [line for line in messages if line.strip()][-20:]
        told = "was stopped by signal {}".format(-code) if code < 0 else f"ended with code {code}"
        return Error(f"evalreport {told}", None, last, code)
    details = [line for line in messages[:place] if not re.match(r"(warning|note): ", line)]
    message, hint = [messages[place][len("error: ") :]], None
    for line in messages[place + 1 :]:
        if line.startswith("  hint: "):
            hint = line[len("  hint: ") :]
        elif line.startswith(("Usage: ", "For more information")) or not line.strip():
            continue
        elif line.startswith("  tip: "):
            hint = line[len("  tip: ") :]
        else:
            message.append(line)
    words = translation.message
    return Error(words("\n".join(message)), None if hint is None else words(hint), [words(line) for line in details], code)
