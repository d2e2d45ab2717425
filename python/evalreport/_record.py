"""Recording the runs of any Python harness.

The program itself writes the store, so locks, order of writing, seals and the removal of secrets are those of its own runs. It reads outcomes
from a pipe and answers each when it is stored. If this process is killed, the pipe ends, and so does the program: the run stays unfinished.
"""

import contextlib
import inspect
import json
import math
import os
import re
import subprocess
import tempfile
import threading
import weakref
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Generator, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Type, Union

from ._arguments import Pairs, PathLike, common, options, pairs
from ._binary import Error, binary, environment, error_of, whole_characters
from ._share import Address, Remote, Server
from ._tables import cell, columns_and_rows

if TYPE_CHECKING:
    from ._tables import Table

try:
    import fcntl
except ImportError:  # Windows, which does not fork
    fcntl = None  # type: ignore[assignment]

#: A number that may be unmeasured.
Number = Optional[float]


class _Pipe:
    """The program that writes one run, and the talk with it: one question and one answer at a time.

    Threads and forked processes share it. A lock of the system orders processes, since it ends with the process that holds it.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._owner = os.getpid()
        self._count = 0
        self._is_closed = False
        self._name = ""
        self._mutex = threading.Lock()
        self._order: IO[bytes] = tempfile.TemporaryFile()
        self._told: IO[bytes] = tempfile.TemporaryFile()
        # Ctrl-C is for the harness, which then says what becomes of the run.
        apart: Dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x200}
        try:
            self._child = subprocess.Popen(
                [binary(), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._told,
                env=environment(),
                bufsize=0,
                **apart,
            )
        except (OSError, ValueError) as error:
            self._order.close()
            self._told.close()
            raise Error(f"cannot start evalreport: {error}") from error
        assert self._child.stdin is not None and self._child.stdout is not None
        self._input = self._child.stdin.fileno()
        self._output = self._child.stdout.fileno()
        _PIPES.add(self)

    def introduction(self) -> Dict[str, Any]:
        """Reads the first answer."""
        answer = next(self._answers())
        if "run" not in answer:
            raise Error("the installed program is of another version than this package", "`pip install --upgrade evalreport`")
        return answer

    def ask(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Sends one line and waits for its answer.

        Raises:
            Error: The program refused the line, or has ended.
        """
        with self._mutex:
            if self._is_closed:
                raise Error("the recording has ended")
            return self._ask(request)

    def _ask(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        with self._in_turn():
            if not self._name:
                self._name = f"{os.getpid()}-{os.urandom(4).hex()}"
            self._count += 1
            n = f"{self._name}-{self._count}"
            # A process that was killed may have left a half line before this one.
            self._write(b"\n" + _line({"n": n, **request}))
            for answer in self._answers():
                # An answer may be for a process that was killed.
                if answer.get("n") == n:
                    if "error" in answer:
                        raise Error(answer["error"], answer.get("hint"))
                    return answer
            raise AssertionError("answers end with an error")

    def close(self) -> None:
        """Ends the talk. A run without its end stays unfinished."""
        if os.getpid() != self._owner:
            return
        with self._mutex:
            self._is_closed = True
            for stream in (self._child.stdin, self._child.stdout):
                if stream is not None:
                    stream.close()
        # Forked processes that live on keep the run in progress.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(10)
        self._order.close()
        self._told.close()

    def forked(self) -> None:
        """Forgets what another thread of the parent may have been doing."""
        self._mutex = threading.Lock()
        self._name = ""

    @contextlib.contextmanager
    def _in_turn(self) -> Generator[None, None, None]:
        if fcntl is None:
            yield
            return
        fcntl.lockf(self._order, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._order, fcntl.LOCK_UN)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._input, rest) :]
        except OSError as error:
            raise self._gone() from error

    def _answers(self) -> Iterator[Dict[str, Any]]:
        """Yields answers. At the end of the program, raises its error."""
        line = b""
        while True:
            # Answers are not read ahead: the next one may be another process's.
            part = os.read(self._output, 1 << 16)
            if not part:
                raise self._gone()
            *whole, line = (line + part).split(b"\n")
            for one in whole:
                try:
                    answer = json.loads(one.decode("utf-8"))
                except ValueError:
                    # The rest of an answer that a killed process had begun to read.
                    continue
                if isinstance(answer, dict):
                    yield answer

    def _gone(self) -> Error:
        if os.getpid() != self._owner:
            return Error("the process that records the run has ended it")
        code = self._child.wait()
        self._told.seek(0)
        return error_of(self._told.read().decode("utf-8", "replace").splitlines(), code)


_PIPES: "weakref.WeakSet[_Pipe]" = weakref.WeakSet()


def _after_fork() -> None:
    for pipe in _PIPES:
        pipe.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _line(request: Mapping[str, Any]) -> bytes:
    try:
        # The program repeats the number even of a line that it cannot read, if the number comes first and without a space.
        text = json.dumps(request, ensure_ascii=False, allow_nan=False, default=_plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Error(f"cannot be written as JSON: {error}") from error
    return whole_characters(text).encode("utf-8") + b"\n"


def _plain(value: Any) -> Any:
    """Returns a number of another library, such as numpy's, as a number of Python."""
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _scalar(value: Any) -> Any:
    """Returns a single value of another library, such as numpy's `bool_` or `int64`, as one of Python."""
    try:
        return value.item() if callable(getattr(value, "item", None)) else value
    except (TypeError, ValueError):
        # An array of several values is none of them.
        return value


def _passed(value: Any) -> Optional[bool]:
    """Returns whether an item passed, if the value can mean nothing else: `bool("no")` and `bool(0.3)` are true."""
    if value is None:
        return None
    plain = _scalar(value)
    if isinstance(plain, (bool, int)) and plain in (0, 1):
        return bool(plain)
    is_text = isinstance(plain, (str, bytes))
    remedy = 'passed=value == "yes"' if is_text else "passed=value >= 0.5, or score=value"
    raise TypeError(f"`passed` is {value!r}, and takes True or False, 0 or 1: for example {remedy}")


def _id(value: Any) -> str:
    """Returns an item's id. Whole numbers are ids, because people count their questions."""
    plain = _scalar(value)
    if isinstance(plain, str):
        return plain
    if isinstance(plain, int) and not isinstance(plain, bool):
        return str(plain)
    raise TypeError(f"the id of an item is {value!r}, and takes a text or a whole number: for example str(value)")


def _number(name: str, value: Any) -> Number:
    if value is None:
        return None
    try:
        # A text that holds a number is one, but whoever passes texts passes "n/a" some day.
        number = None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise TypeError(f"`{name}` is {value!r}, and takes a number: for example {name}=float(value)")
    if not math.isfinite(number):
        raise Error(f"`{name}` is {number}", "leave it out if it was not measured")
    return number


def _count(name: str, value: Any) -> Optional[int]:
    plain = _scalar(value)
    if plain is None:
        return None
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise TypeError(f"`{name}` is {value!r}, and takes a whole number")
    # Pandas makes whole numbers into floats if a column has blanks.
    if not math.isfinite(plain) or plain != int(plain):
        raise Error(f"`{name}` is {plain}, which is no whole number", "leave it out if it was not measured")
    return int(plain)


def _each(name: str, values: Any, form: Callable[[str, Any], Any]) -> Optional[Dict[str, Any]]:
    """Returns a mapping with each value in its form."""
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise TypeError(f"`{name}` is {values!r}, and takes a mapping of numbers by name")
    return {key: form(f"{name}[{key!r}]", one) for key, one in values.items()}


def _of_outcome(error: Error, outcome: Mapping[str, Any]) -> Error:
    """Names the item of a problem, and the argument whose word is unknown."""
    message, hint = error.message, error.hint
    unknown = re.search(r"unknown variant `(.*)`, expected (.*)", message)
    argument = next((name for name in ("status", "kind") if unknown and outcome.get(name) == unknown.group(1)), None)
    if unknown and argument:
        message, hint = f"`{argument}` is `{unknown.group(1)}`, expected {unknown.group(2)}", None
    place = f"item `{outcome['item']}`"
    return Error(message if place in message else f"{place}: {message}", hint, error.details, error.exit_code)


@contextlib.contextmanager
def _of(place: str) -> Generator[None, None, None]:
    """Names the place of a problem."""
    try:
        yield
    except Error as error:
        raise Error(f"{place}: {error.message}", error.hint, error.details, error.exit_code) from error
    except (TypeError, ValueError) as problem:
        raise TypeError(f"{place}: {problem}") from problem


def _texts(value: Union[None, str, Sequence[str]]) -> Optional[List[str]]:
    if value is None:
        return None
    return [value] if isinstance(value, str) else [str(one) for one in value]


def _text(value: Any) -> Optional[str]:
    return None if value is None else str(value)


def _filled(**keys: Any) -> Dict[str, Any]:
    """Leaves out what is unknown."""
    return {key: value for key, value in keys.items() if value is not None}


class Recording:
    """A run that is being recorded. Made by `record`; use it in a `with` statement.

    Several threads and processes may use it: forked inside the `with` statement, or with the recording as an argument. If they are killed,
    the others go on.

    Attributes:
        id: The run's id, once it has begun.
        folder: The folder of its outcomes.
    """

    def __init__(self, arguments: Sequence[str], kind: str, evaluator: str) -> None:
        self._arguments = [*arguments, *options(kind=kind, evaluator=evaluator)]
        self._kind, self._evaluator = kind, evaluator
        self._pipe: Union[_Pipe, Remote, None] = None
        self._owner = 0
        self._server: Optional[Server] = None
        self._has_ended = False
        self._decided: Set[Tuple[str, str, str, int]] = set()
        self.id = ""
        self.folder = ""
        self.suite = ""
        self.approach = ""
        self.model = ""

    def __repr__(self) -> str:
        state = "not begun" if self._pipe is None else "ended" if self._has_ended else "in progress"
        return f"<evalreport.Recording {self.id} of {self.suite or '?'}, {state}, {len(self._decided)} outcomes>"

    def __enter__(self) -> "Recording":
        if self._pipe is not None:
            raise Error("the recording has begun before", "record another run, or resume this one by its id")
        pipe = _Pipe(self._arguments)
        self._pipe = pipe
        try:
            told = pipe.introduction()
        except BaseException:
            pipe.close()
            raise
        self._owner = os.getpid()
        self.id, self.folder = told["run"], told["folder"]
        self.suite, self.approach, self.model = told["suite"], told["approach"], told["model"]
        self._decided = {(one["kind"], one["evaluator"], one["item"], one["attempt"]) for one in told["decided"]}
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        # Other processes leave the end to the one that began.
        pipe = self._pipe
        if not isinstance(pipe, _Pipe) or os.getpid() != self._owner:
            return
        try:
            if self._has_ended:
                return
            if error is None:
                self.end()
            elif isinstance(error, Exception):
                text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                # The error that ended the run matters more than one about recording it.
                with contextlib.suppress(Error):
                    self.end(status="failed", error=text)
            # Ctrl-C and the like leave the run unfinished, to be resumed.
        finally:
            self._has_ended = True
            if self._server is not None:
                self._server.close()
            pipe.close()

    def __contains__(self, item: Union[str, int, Tuple[Union[str, int], int]]) -> bool:
        """Whether an item is recorded, or an attempt at it: `"q1" in run`, `("q1", 2) in run`. Knows the outcomes from before the run was
        resumed and those of this process."""
        name, attempt = item if isinstance(item, tuple) else (item, None)
        name = _id(name)
        return any(one[2] == name and attempt in (None, one[3]) for one in self._of_default())

    @property
    def decided(self) -> FrozenSet[Tuple[str, int]]:
        """The recorded items with their attempts, from before the run was resumed and of this process."""
        return frozenset((item, attempt) for _, _, item, attempt in self._of_default())

    def _of_default(self) -> Iterator[Tuple[str, str, str, int]]:
        return (one for one in list(self._decided) if one[:2] == (self._kind, self._evaluator))

    def _ask(self, **request: Any) -> Dict[str, Any]:
        if self._pipe is None:
            raise Error("the recording has not begun", "use it as `with evalreport.record(…) as run:`")
        if self._has_ended:
            raise Error(f"run `{self.id}` has ended", "record another run")
        if isinstance(self._pipe, Remote):
            return self._pipe.ask(_line(request))
        return self._pipe.ask(request)

    def item(
        self,
        item: Union[str, int],
        passed: Union[None, bool, int] = None,
        *,
        status: Optional[str] = None,
        attempt: int = 1,
        score: Number = None,
        answer: Any = None,
        expected: Union[None, str, Sequence[str]] = None,
        error: Optional[str] = None,
        reason: Optional[str] = None,
        question: Optional[str] = None,
        reply: Optional[str] = None,
        category: Optional[str] = None,
        cluster: Optional[str] = None,
        duration_seconds: Number = None,
        cost_usd: Number = None,
        input_tokens: Optional[int] = None,
        output_tokens: Optional[int] = None,
        steps: Optional[int] = None,
        tools: Optional[Mapping[str, int]] = None,
        model: Optional[str] = None,
        scores: Optional[Mapping[str, float]] = None,
        kind: Optional[str] = None,
        evaluator: Optional[str] = None,
    ) -> None:
        """Records the outcome of one attempt at an item. When it returns, the outcome survives a kill of this process.

        Leave out what was not measured: it is unknown then, not 0.

        Args:
            item: The item's id within the suite, a text or a whole number. The same id in runs of other arms is the same item.
            passed: Whether it passed: True or False (also numpy's), 0 or 1. `None` if the item has only a `score`.
            status: Instead of `passed`: `"pass"`, `"fail"`, `"error"` (the agent crashed), `"limit"` (time or budget ran out), `"infra"` (an
                outage; does not count), `"skipped"` or `"not_evaluated"`.
            attempt: The number of the attempt, from 1.
            score: The harness's own score, in its own unit. An item may have a score alone.
            answer: The answer as read from the reply.
            expected: The right answer, or several.
            error: Why the agent crashed. The status is then `"error"`.
            reason: Why it did not pass.
            question, reply: What was asked, and the end of the agent's last message.
            category: A subject, language or tag, by which items are reported.
            cluster: Items of one cluster are dependent, such as questions about one passage.
            duration_seconds: The time of the attempt, in seconds.
            cost_usd: Its cost, in US dollars.
            input_tokens, output_tokens: Its tokens.
            steps: Requests to the model.
            tools: Calls by tool.
            model: The agent's name for the model that answered.
            scores: Further scores by name.
            kind: `"question"`, `"task"`, `"test"`, `"criterion"` or `"check"`, instead of the recording's own.
            evaluator: Who decided, instead of the recording's own.

        Raises:
            Error: The attempt is recorded already, a value is impossible, or the outcome could not be stored.
            TypeError: `passed`, an id or a number is of a type that could mean something else.
        """
        item = _id(item)
        with _of(f"item `{item}`"):
            passed = _passed(passed)
            if error is not None and status is None:
                if passed:
                    raise Error("`passed` is true, and there is an `error`", "give an error only if the agent crashed")
                passed, status = None, "error"
            details = _filled(
                reason=_text(error if error is not None else reason),
                reply=_text(reply),
                answer=_text(answer),
                expected=_texts(expected),
                question=_text(question),
                steps=_count("steps", steps),
                model=model,
                tools=_each("tools", tools, _count),
                scores=_each("scores", scores, _number),
            )
            outcome = _filled(
                item=item,
                kind=kind,
                evaluator=evaluator,
                attempt=_count("attempt", attempt),
                status=status,
                passed=passed,
                score=_number("score", score),
                cluster=_text(cluster),
                category=_text(category),
                duration_seconds=_number("duration_seconds", duration_seconds),
                cost_usd=_number("cost_usd", cost_usd),
                input_tokens=_count("input_tokens", input_tokens),
                output_tokens=_count("output_tokens", output_tokens),
                details=details or None,
            )
        try:
            self._ask(item=outcome)
        except Error as refusal:
            raise _of_outcome(refusal, outcome) from refusal
        self._decided.add((kind or self._kind, evaluator or self._evaluator, item, attempt))

    def items(self, rows: "Table") -> int:
        """Records a table of outcomes: a data frame of pandas, polars or Arrow, rows as dictionaries, or lists by column.

        Columns are called as the arguments of `item`. What is missing in a row is unknown. A wrong row is named, counted from 0, and the rows
        before it are recorded.

        Returns:
            The number of rows.

        Raises:
            Error, TypeError: As of `item`, with the row, or a column has no such name.
        """
        names, table = columns_and_rows(rows, "`rows`")
        unknown = [name for name in names if name not in _ITEM_ARGUMENTS]
        if unknown or "item" not in names:
            told = ", ".join(f"`{name}`" for name in unknown)
            problem = f"`rows` has columns that are no arguments of `item`: {told}" if unknown else "`rows` has no column `item`"
            raise Error(problem, "drop or rename columns; there are " + ", ".join(_ITEM_ARGUMENTS))
        count = 0
        for row in table:
            with _of(f"row {count}"):
                values = {name: cell(value) for name, value in zip(names, row)}
                self.item(values.pop("item"), **_filled(**values))
            count += 1
        return count

    def messages(self, entries: Sequence[Mapping[str, Any]], item: Union[None, str, int] = None) -> None:
        """Records messages and tool calls, before the outcome that they led to.

        Args:
            entries: In the agent's own form, such as `{"role": "user", "content": "…"}`.
            item: Their item. `None` if the run is one piece of work.
        """
        self._ask(messages=_filled(item=None if item is None else _id(item), entries=[dict(entry) for entry in entries]))

    def score(
        self,
        metric: str,
        value: float,
        *,
        unit: str = "number",
        direction: str = "up",
        standard_error: Number = None,
        n: Optional[int] = None,
        evaluator: Optional[str] = None,
        reasoning: Optional[str] = None,
    ) -> None:
        """Records a number of the whole run.

        Args:
            metric: Its name.
            value: In `unit`.
            unit: `"fraction"` (0 to 1), `"points"` (0 to 100), `"seconds"`, `"tokens"`, `"usd"`, `"count"` or `"number"`.
            direction: `"up"` if more is better, `"down"` if less is, or `"none"`.
            standard_error: In `unit`.
            n: The number of measurements behind the value.
        """
        score = _filled(
            metric=metric,
            value=_number(metric, value),
            unit=unit,
            direction=direction,
            standard_error=_number("standard_error", standard_error),
            n=n,
            evaluator=evaluator,
            reasoning=reasoning,
        )
        self._ask(score=score)

    def end(
        self,
        *,
        status: Optional[str] = None,
        error: Optional[str] = None,
        duration_seconds: Number = None,
        cost_usd: Number = None,
        input_tokens: Optional[int] = None,
        output_tokens: Optional[int] = None,
        reported_model: Optional[str] = None,
    ) -> None:
        """Ends the run, which then appears in comparisons. The end of the `with` statement does it too.

        Args:
            status: `"completed"`, `"failed"` (the approach failed), `"limit"`, `"infra"` or `"cancelled"` (the last two do not count).
            error: Why it failed.
            duration_seconds: Its time in seconds, instead of the sum over items. If no item has a time, it is that since the beginning.
            cost_usd: Its cost in US dollars, instead of the sum over items.
            input_tokens, output_tokens: Its tokens, instead of the sums.
            reported_model: The agent's name for its model.

        Raises:
            Error: The run could not be stored.
        """
        end = _filled(
            status=status,
            error=error,
            duration_seconds=_number("duration_seconds", duration_seconds),
            cost_usd=_number("cost_usd", cost_usd),
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            reported_model=reported_model,
        )
        self._ask(end=end)
        self._has_ended = True

    def __reduce__(self) -> Any:
        if isinstance(self._pipe, Remote):
            address = self._pipe.address
        elif self._pipe is None or self._has_ended or os.getpid() != self._owner:
            raise TypeError("only a recording in progress can be sent to another process, by the process that began it")
        else:
            if self._server is None:
                self._server = Server(self._pipe.ask)
            address = self._server.address
        told = (self._kind, self._evaluator, self._decided, self.id, self.folder, self.suite, self.approach, self.model)
        return (_received, (address, told))


_ITEM_ARGUMENTS = tuple(inspect.signature(Recording.item).parameters)[1:]


def _received(address: Address, told: Tuple[Any, ...]) -> Recording:
    """Returns the recording of another process."""
    recording = Recording([], told[0], told[1])
    recording._pipe = Remote(address)
    _, _, decided, recording.id, recording.folder, recording.suite, recording.approach, recording.model = told
    recording._decided = set(decided)
    return recording


def record(
    *,
    suite: Optional[str] = None,
    approach: Optional[str] = None,
    model: Optional[str] = None,
    results: Optional[PathLike] = None,
    resume: Optional[str] = None,
    batch: Optional[str] = None,
    run_index: Optional[int] = None,
    seed: Optional[int] = None,
    tags: Optional[Pairs] = None,
    suite_version: Optional[str] = None,
    agent: Optional[str] = None,
    id: Optional[str] = None,
    kind: str = "question",
    evaluator: str = "answers",
    config: Optional[PathLike] = None,
) -> Recording:
    """Records a run of your own harness into the store.

        with evalreport.record(suite="capitals", approach="oneshot", model="sonnet") as run:
            run.item("france", passed=True, cost_usd=0.0004, answer="Paris")

    An exception inside the `with` statement ends the run as failed, with its text, and is raised again. If the process is killed or
    interrupted by Ctrl-C, the run stays unfinished: `evalreport list` shows it, and `resume` goes on with it.

    Secrets in the environment, as far as their names or values tell them, are replaced by their variables' names.

    Args:
        suite: The suite's name. Arms are compared on one suite.
        approach: The approach's name.
        model: The model's name. An arm is an approach with a model.
        results: The store. Without it, `results` beside the configuration.
        resume: The id of an unfinished recording, or at least its first four characters, instead of suite, approach and model.
        batch: The same text for runs that belong together.
        run_index: The number of the run within its arm and batch, from 1.
        seed: The run's seed.
        tags: Tags, such as `{"night": "12"}`.
        suite_version: A text that changes with the items. Runs of different versions never share a table.
        agent: The agent's name.
        id: The run's id. Without it, a new one.
        kind: What the items are: `"question"` or `"task"` if each has a prompt of its own; `"test"`, `"criterion"` or `"check"` if they look
            at one artefact.
        evaluator: Who decides whether an item passed.
        config: The configuration file.

    Raises:
        Error: When the `with` statement begins: suite or approach is missing, the id is taken, or the store cannot be written.
    """
    arguments = [
        "record",
        *common(results, config, None),
        *options(suite=suite, approach=approach, model=model, resume=resume, batch=batch, run_index=run_index, seed=seed),
        *options(tag=pairs("tags", tags), suite_version=suite_version, agent=agent, id=id),
    ]
    return Recording(arguments, kind, evaluator)
