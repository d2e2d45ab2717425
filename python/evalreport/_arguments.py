"""Python's arguments as options of the program. Each problem names the argument."""

import os
from typing import Any, List, Mapping, Optional, Sequence, Union

PathLike = Union[str, "os.PathLike[str]"]
#: One path or several.
Paths = Union[PathLike, Sequence[PathLike]]
#: One name or several.
Names = Union[str, Sequence[str]]
#: `{"night": "12"}`, or `"night=12"`, or several of these.
Pairs = Union[Names, Mapping[str, str]]


def text(name: str, value: Any) -> str:
    """Returns a name or a path.

    Raises:
        TypeError: It is none.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise TypeError(f"{_quoted(name)} is {value!r}, and takes a text or a path")
    return path


def several(name: str, value: Any) -> List[str]:
    """Returns each of one or several names or paths."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [text(name, value)]
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        raise TypeError(f"{_quoted(name)} is {value!r}, and takes a text or a list of texts")
    return [text(name, one) for one in value]


def pairs(name: str, value: Any) -> List[str]:
    """Returns `KEY=VALUE` for each pair."""
    if isinstance(value, Mapping):
        return [f"{key}={one}" for key, one in value.items()]
    if value is not None and not isinstance(value, (str, Sequence)):
        raise TypeError(f'{_quoted(name)} is {value!r}, and takes pairs, such as {{"key": "value"}}')
    return several(name, value)


def options(**given: Any) -> List[str]:
    """Returns the options of a command: `True` is an option without a value, a list repeats it, and `None` and `False` leave it out."""
    arguments: List[str] = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, list):
            arguments += [f"{option}={one}" for one in value]
        elif value is None or value is False:
            continue
        elif isinstance(value, (str, int, float, os.PathLike)) or hasattr(value, "dtype"):
            arguments.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        else:
            raise TypeError(f"{_quoted(name)} is {value!r}, and takes a text or a number")
    return arguments


def _quoted(name: str) -> str:
    return name if " " in name else f"`{name}`"


def common(results: Optional[Paths], config: Optional[PathLike], cache: Optional[PathLike], strict: bool = False) -> List[str]:
    """Returns the options of every command."""
    return options(results=several("results", results), config=config, cache=cache, strict=strict)


def selection(
    suite: Optional[Names],
    approach: Optional[Names],
    model: Optional[Names],
    tag: Optional[Pairs],
    since: Optional[str],
    batch: Optional[str],
) -> List[str]:
    """Returns the options that select runs."""
    # The program splits approaches at commas.
    return options(
        suite=several("suite", suite),
        approach=several("approach", approach),
        model=several("model", model),
        tag=pairs("tag", tag),
        since=since,
        batch=batch,
    )


def evidence(margin: Optional[Pairs], alpha: Optional[float], cluster: Optional[str], design: Optional[str]) -> List[str]:
    """Returns the options of the tests."""
    return options(margin=pairs("margin", margin), alpha=alpha, cluster=cluster, design=design)
