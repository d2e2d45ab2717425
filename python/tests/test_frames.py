"""Frames with each library alone."""

import json
from typing import List

import pytest

import evalreport
from conftest import python, record_two

READ = """
import evalreport, sys
frame = evalreport.{table}(as_={as_!r})
print(type(frame).__module__.split(".")[0], len(frame), sorted({columns}))
"""


@pytest.mark.parametrize(
    "libraries, as_, module, columns",
    [
        (["polars"], None, "polars", "frame.columns"),
        (["polars"], "polars", "polars", "frame.columns"),
        (["pyarrow"], None, "pyarrow", "frame.column_names"),
        (["pyarrow"], "arrow", "pyarrow", "frame.column_names"),
        (["pandas", "pyarrow"], None, "pandas", "frame.columns"),
        (["pandas", "pyarrow"], "arrow", "pyarrow", "frame.column_names"),
    ],
)
def test_a_frame_of_what_is_installed(libraries: List[str], as_: str, module: str, columns: str) -> None:
    record_two()
    for table, rows, known in (("runs", 2, "suite"), ("items", 120, "standing"), ("scores", 0, "metric")):
        done = python(libraries, READ.format(table=table, as_=as_, columns=columns))
        assert done.returncode == 0, done.stderr
        told, count, names = done.stdout.split(maxsplit=2)
        assert (told, count) == (module, str(rows)) and f"'{known}'" in names and "'run_id'" in names


@pytest.mark.parametrize("libraries", [["polars"], ["pyarrow"], ["pandas", "pyarrow"]])
def test_texts_are_columns_if_asked_for(libraries: List[str]) -> None:
    with evalreport.record(suite="quiz", approach="a") as run:
        run.item(1, passed=False, question="Why?", answer="So", expected=["Because", "Since"], reason="wrong", reply="So.")
        run.item(2, passed=True)
    code = """
import evalreport, json
rows = evalreport.items(texts=True)
rows = rows.to_dict("records") if hasattr(rows, "to_dict") and not hasattr(rows, "to_dicts") else rows.to_dicts() if hasattr(rows, "to_dicts") else rows.to_pylist()
names = ("item", "question", "answer", "expected", "reason", "reply")
print(json.dumps([[None if row[name] != row[name] else row[name] for name in names] for row in rows]))
"""
    done = python(libraries, code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["1", "Why?", "So", "Because | Since", "wrong", "So."], ["2", None, None, None, None, None]]


@pytest.mark.parametrize(
    "libraries, as_, message, hint",
    [
        ([], None, "no library for data frames is installed", "polars"),
        ([], "polars", "polars is not installed", "pip install polars"),
        ([], "arrow", "pyarrow is not installed", "pip install pyarrow"),
        ([], "pandas", "pandas is not installed", "pip install pandas pyarrow"),
        (["pandas"], None, "pandas reads Parquet only with pyarrow or fastparquet", "pip install pyarrow"),
        (["pandas"], "pandas", "pandas reads Parquet only with pyarrow or fastparquet", "pip install pyarrow"),
        ([], "spark", "no frames `spark`", "polars, pandas or arrow"),
    ],
)
def test_a_missing_library_is_named(libraries: List[str], as_: str, message: str, hint: str) -> None:
    record_two()
    done = python(libraries, f"import evalreport; evalreport.runs(as_={as_!r})")
    assert done.returncode != 0 and message in done.stderr and hint in done.stderr, done.stderr


def test_values_are_those_of_the_store() -> None:
    record_two()
    code = """
import evalreport
frame = evalreport.items(approach="bad")
assert frame["status"].to_list().count("fail") == 30, frame
assert frame["score"].null_count() == 60, "unmeasured values are null"
try:
    evalreport.items(suite="none")
except evalreport.Error as error:
    print(error.message)
"""
    done = python(["polars"], code)
    assert done.returncode == 0 and done.stdout == "no suite `none`\n", done.stdout + done.stderr
