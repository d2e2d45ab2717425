"""Results as data frames, through Parquet."""

import importlib.util
import os
import tempfile
from typing import Any, Dict, List, Optional

from ._arguments import Names, Pairs, PathLike, Paths, common, selection
from ._binary import Error, call
from ._commands import records

_ALL = "`pip install polars`, or pandas with pyarrow, or pyarrow"


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _has_pandas() -> bool:
    return _has("pandas") and (_has("pyarrow") or _has("fastparquet"))


def _library(as_: Optional[str]) -> str:
    has = {"polars": _has("polars"), "pandas": _has_pandas(), "arrow": _has("pyarrow")}
    if as_ is None:
        found = next((name for name, is_there in has.items() if is_there), None)
        if found is not None:
            return found
        if _has("pandas"):
            raise Error("pandas reads Parquet only with pyarrow or fastparquet", "`pip install pyarrow`, or `pip install polars`")
        raise Error("no library for data frames is installed", _ALL)
    if as_ not in has:
        raise Error(f"no frames `{as_}`", "write polars, pandas or arrow")
    if has[as_]:
        return as_
    if as_ == "pandas" and _has("pandas"):
        raise Error("pandas reads Parquet only with pyarrow or fastparquet", "`pip install pyarrow`")
    package = "pyarrow" if as_ == "arrow" else as_
    raise Error(f"{package} is not installed", f"`pip install {'pandas pyarrow' if as_ == 'pandas' else package}`")


def _read(path: str, library: str) -> Any:
    if library == "polars":
        import polars

        # Read into memory: the file is deleted afterwards.
        return polars.read_parquet(path, memory_map=False)
    if library == "pandas" and not _has("pyarrow"):
        import pandas

        return pandas.read_parquet(path)
    import pyarrow.parquet

    # By its path and not by an open file, as pandas does: threads of pyarrow may hold that one's buffers when the interpreter ends, which
    # then waits for ever.
    table = pyarrow.parquet.read_table(path, memory_map=False)
    return table.to_pandas() if library == "pandas" else table


def _table(name: str, as_: Optional[str], arguments: List[str]) -> Any:
    library = _library(as_)
    with tempfile.TemporaryDirectory(prefix="evalreport-frames-") as folder:
        target = os.path.join(folder, "tables")
        call(["export", *arguments, "--", "parquet", target])
        return _read(os.path.join(target, f"{name}.parquet"), library)


def _arguments(selected: Dict[str, Any]) -> List[str]:
    places = common(selected.pop("results"), selected.pop("config"), selected.pop("cache"), selected.pop("strict"))
    return [*places, *selection(**selected)]


def runs(
    *,
    as_: Optional[str] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Any:
    """Returns the runs as a data frame, one a row. Unmeasured values are null, never 0.

    Args:
        as_: `"polars"`, `"pandas"` (with pyarrow or fastparquet) or `"arrow"`. Without it, the first of these that is installed.
        suite, approach, model, tag, since, batch: Only these runs.

    Raises:
        Error: No such library is installed, no run matches, or an argument is wrong.
    """
    selected = dict(suite=suite, approach=approach, model=model, tag=tag, since=since, batch=batch)
    return _table("runs", as_, _arguments(dict(results=results, config=config, cache=cache, strict=strict, **selected)))


#: Columns that tell outcomes apart, and the columns of their texts.
_KEYS = ("run_id", "item", "kind", "evaluator", "attempt", "revision")
_TEXTS = ("question", "answer", "expected", "reason", "reply")


def _with_texts(frame: Any, selected: Dict[str, Any]) -> Any:
    """Adds the columns of texts."""
    known: Dict[Any, Dict[str, Any]] = {}
    for outcome in records(**selected).items:
        key = (outcome.get("run"), outcome["item"], outcome["kind"], outcome["evaluator"], outcome.get("attempt", 1), outcome.get("revision", 0))
        known[key] = dict(outcome.get("details") or {})
    rows = list(zip(*(_values(frame[name]) for name in _KEYS)))
    for name in _TEXTS:
        texts = [_joined(known.get(row, {}).get(name)) for row in rows]
        frame = _with_column(frame, name, texts)
    return frame


def _joined(value: Any) -> Optional[str]:
    """Returns a text, or several right answers as one."""
    return " | ".join(value) or None if isinstance(value, list) else value


def _values(column: Any) -> List[Any]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return list(values)


def _with_column(frame: Any, name: str, texts: List[Optional[str]]) -> Any:
    if hasattr(frame, "append_column"):
        import pyarrow

        return frame.append_column(name, pyarrow.array(texts, pyarrow.string()))
    if hasattr(frame, "with_columns"):
        import polars

        return frame.with_columns(polars.Series(name, texts, dtype=polars.Utf8))
    return frame.assign(**{name: texts})


def items(
    *,
    as_: Optional[str] = None,
    texts: bool = False,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Any:
    """Returns the outcomes of items as a data frame, one a row. `run_id` joins them with `runs()`; where `standing` is true they count.

    Args:
        texts: Also the columns `question`, `answer`, `expected` (several right answers are joined by ` | `), `reason` and `reply`.

    The other arguments and the errors are those of `runs`.
    """
    selected: Dict[str, Any] = dict(suite=suite, approach=approach, model=model, tag=tag, since=since, batch=batch)
    selected.update(results=results, config=config, cache=cache, strict=strict)
    frame = _table("items", as_, _arguments(dict(selected)))
    return _with_texts(frame, selected) if texts else frame


def scores(
    *,
    as_: Optional[str] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Any:
    """Returns the scores of runs as a data frame, one a row. `run_id` joins them with `runs()`.

    The arguments and errors are those of `runs`.
    """
    selected = dict(suite=suite, approach=approach, model=model, tag=tag, since=since, batch=batch)
    return _table("scores", as_, _arguments(dict(results=results, config=config, cache=cache, strict=strict, **selected)))
