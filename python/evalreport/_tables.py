"""Tables in memory, such as data frames, as files that the program reads.

A table is written as JSON lines, a row a line, so that whole numbers, booleans and blanks arrive as they are. The program proposes the
meaning of its columns, as of every table. No library is imported: a table is known by what it can do.
"""

import contextlib
import datetime
import decimal
import difflib
import enum
import inspect
import json
import math
import os
import re
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._arguments import Pairs, PathLike, options, pairs, text
from ._binary import Error, Output, call, warn, whole_characters
from ._translate import Translation

if TYPE_CHECKING:
    from typing import Protocol, TypedDict

    class Frame(Protocol):
        """A data frame of pandas, polars or Arrow."""

        @property
        def columns(self) -> Any: ...

    #: A data frame, rows as dictionaries, lists by column, or several of these by the name of their arm.
    Table = Union[Frame, Iterable[Mapping[str, Any]], Mapping[str, Any]]
    #: A name, a path or a table.
    Source = Union[PathLike, Table]

    class Columns(TypedDict, total=False):
        """What the columns of tables mean, if their names do not say it."""

        arm: str
        item: str
        passed: str
        score: str
        direction: str
        attempt: str
        evaluator: str
        wide: str
        value: Pairs
        decimal: str
        sheet: str
        list: str
        set: Pairs


#: Arguments that name a column.
_NAMING = ("arm", "item", "passed", "score", "attempt", "evaluator")
_KNOWN = (*_NAMING, "direction", "wide", "value", "decimal", "sheet", "list", "set")
#: Maximum number of problems in one error.
MAX_PROBLEMS = 5
#: Whole numbers above it have no exact float.
_MAX_WHOLE = 2**53
#: The name of a table's file, which is the name of its suite if no column has one.
_NAME = "frame"


class Sources(NamedTuple):
    """What to look at, as the program's arguments."""

    options: List[str]
    targets: List[str]
    translation: Translation
    #: Words of the new runs' tables and of the baseline's.
    places: Dict[str, str]
    #: The first row of each named arm in a table's file.
    starts: Dict[str, Dict[str, int]]

    def call(self, arguments: Sequence[str]) -> Output:
        """Runs the program. Its messages name the tables and the arguments of Python, and the rows that it refused."""
        words = [*arguments, *self.options, *(["--", *self.targets] if self.targets else [])]
        try:
            output = call(words, translation=self.translation, is_quiet=True)
        except Error as error:
            if any("refused" in line for line in [*error.details, error.message]):
                error.details = [*self._without_files(error.details), *self._refused_rows()]
            raise
        messages = list(output.messages)
        if any(line.startswith("warning: ") and "refused" in line for line in messages):
            messages += [f"warning: {row}" for row in self._refused_rows()]
        messages = self._without_files(messages)
        warn(messages)
        return output._replace(messages=messages)

    def _without_files(self, messages: Sequence[str]) -> List[str]:
        """Leaves out advice about files of tables, which are gone when the user reads it."""
        files = tuple(f"`evalreport import {label} " for label in self.places.values())
        return [line for line in messages if not any(file in line for file in files)]

    def _refused_rows(self) -> List[str]:
        """Returns examples of refused rows, counted from 0."""
        told: List[str] = []
        reading = [word for word in self.options if word.startswith(_OF_TABLES)]
        for path, label in self.places.items():
            with contextlib.suppress(Error, ValueError, KeyError):
                answer = json.loads(call(["import", "--dry-run", "--format=json", *reading, "--", path], is_quiet=True).text)
                for refusal in (one for source in answer["sources"] for one in source["refusals"]):
                    for example in refusal["examples"]:
                        line = re.search(r":(\d+): row \d+: (.*)", example, re.DOTALL)
                        if line:
                            told.append(f"{label}: {_place(int(line.group(1)) - 1, self.starts[path])}: {line.group(2)}")
        return told


_OF_TABLES = tuple(f"--{name}=" for name in _KNOWN if name != "arm")


def is_table(value: Any) -> bool:
    return not isinstance(value, (str, bytes, os.PathLike))


@contextlib.contextmanager
def sources(
    what: Sequence["Source"],
    columns: Mapping[str, Any],
    function: Callable[..., Any],
    baseline: "Optional[Source]" = None,
    cache: Optional[PathLike] = None,
    reads_store: bool = False,
) -> Generator[Sources, None, None]:
    """Yields the arguments of names, paths and tables. Tables are files until the end.

    Args:
        function: The user's function, which has further arguments.
        reads_store: The command reads the store too, so its cache is worth keeping.
    """
    unknown = next((name for name in columns if name not in _KNOWN), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, [*inspect.signature(function).parameters, *_KNOWN], 1)
        told = f"did you mean `{near[0]}`?" if near else f"the arguments about columns are {', '.join(_KNOWN)}"
        raise TypeError(f"{function.__name__} has no argument `{unknown}`: {told}")
    tables = [place for place, one in enumerate(what) if is_table(one)]
    if len(tables) > 1:
        raise Error(
            f"arguments {' and '.join(str(place + 1) for place in tables[:2])} are tables without a name",
            'name them, as in {"before": table, "after": table}, or join them into one with a column of the arm',
        )
    has_tables = bool(tables) or (baseline is not None and is_table(baseline))
    if "arm" in columns and not has_tables:
        raise Error("`arm` names a column of a table in memory", "of a file, `evalreport import FILE --approach COLUMN` stores its runs")
    given = [*options(cache=cache)]
    for name in _KNOWN[1:]:
        if columns.get(name) is not None:
            value = pairs(name, columns[name]) if name in ("value", "set") else text(name, columns[name])
            given += options(**{name: value})
    words: List[str] = []
    places: Dict[str, str] = {}
    starts: Dict[str, Dict[str, int]] = {}
    folder = None
    try:
        if has_tables:
            folder = tempfile.mkdtemp(prefix="evalreport-")
            if cache is None and not reads_store:
                # What was read of a table is of no use to anybody else.
                given += options(cache=os.path.join(folder, "cache"))
        for place, one in enumerate(what):
            if is_table(one) and folder is not None:
                path, starts_of = _written(one, folder, "new", f"argument {place + 1}", columns)
                words.append(path)
                places[path], starts[path] = _NAME, starts_of
            else:
                words.append(_target(one, f"argument {place + 1}"))
        if baseline is not None and is_table(baseline) and folder is not None:
            path, starts_of = _written(baseline, folder, "baseline", "`baseline`", columns)
            places[path], starts[path] = "baseline", starts_of
            given += options(baseline=path)
        elif baseline is not None:
            given += options(baseline=text("baseline", baseline))
        yield Sources(given, words, Translation({**places, f"{_NAME}.jsonl": _NAME, f"{_NAME}.json": _NAME} if places else {}), places, starts)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _target(value: Any, name: str) -> str:
    """Returns a name or a path as an argument. A path object always names a path, and so gets a separator."""
    word = text(name, value)
    is_path = not isinstance(value, str)
    return os.path.join(os.curdir, word) if is_path and not os.path.dirname(word) else word


def _place(row: int, starts: Mapping[str, int]) -> str:
    """Returns the words for a row, which is counted within its arm's table."""
    # Of arms that begin at one row, all but the last have no rows.
    arm = max((arm for arm in reversed(list(starts)) if starts[arm] <= row), key=lambda arm: starts[arm], default=None)
    return f"row {row}" if arm is None else f"`{arm}`, row {row - starts[arm]}"


def _written(table: Any, folder: str, part: str, argument: str, columns: Mapping[str, Any]) -> Tuple[str, Dict[str, int]]:
    """Writes a table and returns its path, with the first row of each named arm."""
    starts: Dict[str, int] = {}
    names, rows = _with_arm(*_of_arms(table, argument, starts), argument, columns.get("arm"))
    for key in _NAMING[1:]:
        column = columns.get(key)
        if isinstance(column, str) and columns.get("wide") is None and column not in names:
            raise Error(f"`{key}` names the column `{column}`, which {argument} does not have", _there_are(names))
    os.mkdir(os.path.join(folder, part))
    path = os.path.join(folder, part, f"{_NAME}.jsonl")
    problems: List[str] = []
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            values: Dict[str, Any] = {}
            for name, value in zip(names, row):
                try:
                    values[name] = cell(value)
                except (TypeError, ValueError) as error:
                    problems.append(f"{argument}, {_place(count, starts)}, column `{name}`: {error}")
            file.write(json.dumps(values, allow_nan=False) + "\n")
            count += 1
            if len(problems) > MAX_PROBLEMS:
                break
    if problems:
        more = ["and more"] if len(problems) > MAX_PROBLEMS else []
        raise Error(f"{argument} has values that no table can hold", "rows are counted from 0", [*problems[:MAX_PROBLEMS], *more])
    if count == 0:
        raise Error(f"{argument} is a table without rows")
    if count == 1:
        # One line of JSON may be any document. A list of one row is a table.
        line, path = path, path[:-1]
        with open(line, encoding="utf-8") as rows_file, open(path, "w", encoding="utf-8") as file:
            file.write(f"[{rows_file.read()}]")
    return path, starts


def _with_arm(names: List[str], rows: Iterator[Sequence[Any]], argument: str, arm: Any) -> Tuple[List[str], Iterator[Sequence[Any]]]:
    """Calls the column of the arm as the program does."""
    if arm is None or arm == "approach":
        return names, rows
    if not isinstance(arm, str):
        raise TypeError(f"`arm` is {arm!r}, and takes the name of a column")
    if arm not in names:
        raise Error(f"`arm` names the column `{arm}`, which {argument} does not have", _there_are(names))
    if "approach" in names:
        raise Error(f"`arm` is `{arm}`, and {argument} has a column `approach` too", "drop one of them, or give it another name")
    return ["approach" if name == arm else name for name in names], rows


def _there_are(names: Sequence[str]) -> str:
    return "its columns are " + ", ".join(f"`{name}`" for name in names)


def _of_arms(table: Any, argument: str, starts: Dict[str, int]) -> Tuple[List[str], Iterator[Sequence[Any]]]:
    """Returns the columns and rows of a table, or of several that have the names of arms, whose first rows `starts` gets on the way."""
    parts = _by_arm(table)
    if parts is None:
        return columns_and_rows(table, argument)
    read = {str(arm): columns_and_rows(part, f"{argument}, `{arm}`") for arm, part in parts.items()}
    for arm, (names, _) in read.items():
        if "approach" in names:
            raise Error(f"{argument}: `{arm}` is the name of an arm, and its table has a column `approach` too", "leave one of them out")
    joined = list(dict.fromkeys(name for names, _ in read.values() for name in names))

    def rows() -> Iterator[Sequence[Any]]:
        count = 0
        for arm, (names, part) in read.items():
            at = {name: place for place, name in enumerate(names)}
            starts[arm] = count
            for row in part:
                count += 1
                yield [arm, *(row[at[name]] if name in at else None for name in joined)]

    return ["approach", *joined], rows()


def _by_arm(table: Any) -> Optional[Mapping[Any, Any]]:
    """Returns the tables of a mapping. `None` for a mapping of columns."""
    if not isinstance(table, Mapping) or not table:
        return None
    return table if all(_is_frame(part) or _is_rows(part) or isinstance(part, Mapping) for part in table.values()) else None


def _is_rows(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _is_frame(value: Any) -> bool:
    return any(hasattr(value, name) for name in ("iter_rows", "itertuples", "to_batches", "collect_schema"))


def columns_and_rows(table: Any, argument: str) -> Tuple[List[str], Iterator[Sequence[Any]]]:
    """Returns the columns of one table, and its rows.

    Raises:
        Error, TypeError: It is no table. The message names it as `argument`.
    """
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):
        # A lazy frame of polars.
        table = table.collect()
    rows: Iterable[Sequence[Any]]
    if hasattr(table, "iter_rows") and hasattr(table, "columns"):
        names, rows = list(table.columns), table.iter_rows()
    elif hasattr(table, "itertuples") and hasattr(table, "columns"):
        if getattr(table.columns, "nlevels", 1) > 1:
            raise Error(f"{argument} has columns of several levels", 'join their names: frame.columns = ["_".join(name) for name in frame.columns]')
        # A named index is a column, such as that of the item.
        levels = [name for name in table.index.names if name is not None and name not in table.columns]
        if levels:
            table = table.reset_index(level=levels)
        names, rows = list(table.columns), table.itertuples(index=False, name=None)
    elif hasattr(table, "to_batches") and hasattr(table, "column_names"):
        names = list(table.column_names)
        rows = (row for batch in table.to_batches() for row in zip(*(column.to_pylist() for column in batch.columns)))
    elif isinstance(table, Mapping):
        names, rows = _of_columns(table, argument)
    else:
        names, rows = _of_dictionaries(table, argument)
    for name in names:
        if names.count(name) > 1:
            raise Error(f"{argument} has two columns `{name}`", "drop one of them, or give it another name")
    return [str(name) for name in names], iter(rows)


def _of_columns(table: Mapping[Any, Any], argument: str) -> Tuple[List[Any], Iterable[Sequence[Any]]]:
    lists: List[Sequence[Any]] = []
    for name, values in table.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
            raise TypeError(f"{argument} is a mapping, and takes a list of values for each column: `{name}` is {_short(values)}")
        lists.append(list(values))
    lengths = {str(name): len(values) for name, values in zip(table, lists)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise Error(f"{argument} has columns of different lengths: {told}")
    return list(table), zip(*lists)


def _of_dictionaries(table: Any, argument: str) -> Tuple[List[Any], Iterable[Sequence[Any]]]:
    kind = type(table).__name__
    takes = "a name, a path, a data frame (pandas, polars, Arrow) or rows as dictionaries"
    if not hasattr(table, "__iter__") or isinstance(table, (set, frozenset)) or hasattr(table, "dtype"):
        told = f"a {kind}" if hasattr(table, "dtype") else _short(table)
        raise TypeError(f"{argument} is {told}, and takes {takes}")
    rows = list(table)
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"{argument} is a {kind} whose entry {place} is {_short(row)}, and takes {takes}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return names, ([row.get(name) for name in names] for row in rows)


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 and "\n" not in told else f"a {type(value).__name__}"


def cell(value: Any) -> Any:
    """Returns a value of a table as JSON. What libraries write for "missing" is `None`.

    Raises:
        TypeError: The value has no form in a table.
        ValueError: It is infinite.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return cell(value.value)
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (float, decimal.Decimal)):
        return _number(float(value), value)
    kind = type(value).__name__
    if kind in ("NAType", "NaTType"):
        return None
    if isinstance(value, datetime.timedelta):
        return f"PT{value.total_seconds():.9f}".rstrip("0").rstrip(".") + "S"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if kind in ("datetime64", "timedelta64"):
        return cell(value.astype(f"{kind}[us]").item())
    if isinstance(value, Mapping):
        return {str(key): cell(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0):
        return [cell(one) for one in (value if isinstance(value, (list, tuple)) else value.tolist())]
    if hasattr(value, "dtype") and callable(getattr(value, "item", None)):
        return cell(value.item())
    if kind in ("UUID",) or isinstance(value, os.PathLike):
        return str(value)
    raise TypeError(f"{_short(value)} is of type {kind}, and takes a text, a number, True, False or None")


def _number(number: float, value: Any) -> Union[None, int, float]:
    if math.isnan(number):
        return None
    if math.isinf(number):
        raise ValueError(f"{value} is no number")
    # Pandas makes 3 into 3.0 if a column has blanks, and so an id that no other table has.
    return int(number) if number.is_integer() and abs(number) <= _MAX_WHOLE else number
