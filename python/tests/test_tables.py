"""Tables in memory: every library gives the answer of the same rows as a file, and each problem names its argument, row and column."""

import csv
import datetime
import decimal
import enum
import io
import json
import tempfile
import uuid
from pathlib import Path
from typing import Any, Dict, List

import pytest

import evalreport
from conftest import program, python
from evalreport import _tables
from evalreport._translate import PLAIN, Translation

Rows = List[Dict[str, Any]]


def answers(items: int = 60, **arms: int) -> Rows:
    """Each arm fails every item whose number its figure divides."""
    every = arms or {"nova": 10, "lyra": 3}
    return [
        {"model": arm, "question": number, "correct": number % step > 0, "cost_usd": 0.001 * (1 + number % 7) * step}
        for number in range(items)
        for arm, step in every.items()
    ]


def as_file(rows: Rows, name: str = "frame.jsonl") -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def test_a_table_has_the_answer_of_its_file() -> None:
    rows = answers()
    told = json.loads(program("compare", as_file(rows), "--format", "json"))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for table in (rows, tuple(rows), iter(rows), columns):
        answer = evalreport.compare(table)
        assert answer.data == told and answer.exit_code == 0
    assert told["comparisons"][0]["suite"] == "frame"
    board = evalreport.leaderboard(rows)
    assert board.data["suites"][0]["entries"] == json.loads(program("leaderboard", "frame.jsonl", "--format", "json"))["suites"][0]["entries"]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    text.seek(0)
    assert evalreport.compare(csv.DictReader(text)).comparisons[0]["rows"] == told["comparisons"][0]["rows"]


MADE = {
    "pandas": "pandas.DataFrame(rows)",
    "polars": "polars.DataFrame(rows)",
    "lazy polars": "polars.DataFrame(rows).lazy()",
    "pyarrow": "pyarrow.Table.from_pylist(rows)",
    "pandas index": 'pandas.DataFrame(rows).set_index("question")',
    "pandas categories": 'pandas.DataFrame(rows).astype({"model": "category", "question": "Int64", "correct": "boolean"})',
}


@pytest.mark.parametrize("made", list(MADE))
def test_every_library_gives_the_same_answer(made: str) -> None:
    library = next(name for name in ("pandas", "polars", "pyarrow") if name in made)
    (told,) = evalreport.compare(answers()).comparisons
    Path("rows.json").write_text(json.dumps(answers()))
    code = f"""
import evalreport, json, sys, {library}
rows = json.load(open("rows.json"))
answer = evalreport.compare({MADE[made]})
print(json.dumps(answer.comparisons))
gate = evalreport.gate({MADE[made]}, baseline={MADE[made]}, max_drop="2pp")
assert (gate.ruling, gate.exit_code) == ("pass", 0)
"""
    done = python([library], code)
    assert done.returncode == 0, done.stderr
    (given,) = json.loads(done.stdout)
    assert (given["rows"], given["decision"]) == (told["rows"], told["decision"])


def test_named_tables_are_arms() -> None:
    before = [{"question": row["question"], "correct": row["correct"]} for row in answers(only=3)]
    after = [{"question": row["question"], "correct": row["correct"], "cost_usd": 0.1} for row in answers(only=10)]
    answer = evalreport.compare({"before": before, "after": {name: [row[name] for row in after] for name in after[0]}}, set={"suite": "quiz"})
    (comparison,) = answer.comparisons
    assert [arm["approach"] for arm in comparison["arms"]] == ["after", "before"] and comparison["suite"] == "quiz"
    pair = answer.pairs[0]
    assert (pair["first"], pair["second"], pair["n"], pair["verdict"]) == ("after", "before", 60, "a_wins")
    for told, table in (
        (r"argument 1: `before` is the name of an arm, and its table has a column `approach` too", {"before": [{"approach": "x"}], "after": after}),
        (r"arguments 1 and 2 are tables without a name", None),
    ):
        with pytest.raises(evalreport.Error, match=told):
            evalreport.compare(table) if table else evalreport.compare(before, after)


def test_whole_numbers_are_the_same_ids_with_and_without_blanks() -> None:
    before = [{"question": number, "correct": number % 3 > 0} for number in range(30)]
    after = [{"question": float(number), "correct": float(number % 10 > 0)} for number in range(30)]
    assert evalreport.compare({"before": before, "after": after}).pairs[0]["n"] == 30


def test_one_row_is_a_table() -> None:
    (board,) = evalreport.leaderboard(answers(items=1, nova=10)).suites
    assert (board["suite"], board["items"]) == ("frame", 1) and board["sources"] == ["frame"]


def test_columns_are_named_by_arguments() -> None:
    rows = [{"zeug": row["model"], "nummer": row["question"], "gut": row["correct"], "remark": "x"} for row in answers()]
    with pytest.raises(evalreport.Error) as unclear:
        evalreport.compare(rows)
    assert unclear.value.hint is not None and "evalreport.compare(frame, passed=" in unclear.value.hint
    assert "/" not in "".join(unclear.value.details)
    named = evalreport.compare(rows, arm="zeug", item="nummer", passed="gut")
    assert [arm["approach"] for arm in named.comparisons[0]["arms"]] == ["nova", "lyra"]
    graded = [{"model": row["model"], "question": row["question"], "grade": "ok" if row["correct"] else "partial"} for row in answers()]
    assert evalreport.compare(graded, passed="grade", value={"ok": "pass", "partial": "fail"}).pairs[0]["difference"] == named.pairs[0]["difference"]
    scored = [{"model": row["model"], "question": row["question"], "loss": row["cost_usd"]} for row in answers()]
    assert evalreport.compare(scored, score="loss", direction="down").pairs[0]["verdict"] == "a_wins"
    # The same columns, of a file.
    file = as_file([{"model": row["zeug"], "nummer": row["nummer"], "gut": row["gut"]} for row in rows], "other.jsonl")
    assert evalreport.compare(file, item="nummer", passed="gut").pairs[0]["difference"] == named.pairs[0]["difference"]


@pytest.mark.parametrize(
    "kind, told, given",
    [
        (TypeError, "argument 1 is 3, and takes a name, a path, a data frame", [3]),
        (TypeError, "argument 1 is None", [None]),
        (TypeError, "argument 2 is b'x', and takes a text or a path", ["quiz", b"x"]),
        (TypeError, "argument 1 is a list whose entry 1 is 'x'", [[{"a": 1}, "x"]]),
        (TypeError, "argument 1 is a mapping, and takes a list of values for each column: `a` is 'x'", [{"a": "x"}]),
        (evalreport.Error, "columns of different lengths: `a` has 1, `b` has 2", [{"a": [1], "b": [1, 2]}]),
        (evalreport.Error, "argument 1 is a table without rows", [[]]),
        (evalreport.Error, r"argument 1, row 1, column `x`: inf is no number", [[{"x": 1}, {"x": float("inf")}]]),
        (evalreport.Error, r"argument 1, row 0, column `x`: .*object.* is of type object", [[{"x": object()}]]),
        (evalreport.Error, "arguments 1 and 2 are tables without a name", [[{"x": 1}], [{"x": 1}]]),
    ],
)
def test_a_wrong_table_is_named(kind: Any, told: str, given: List[Any]) -> None:
    with pytest.raises(kind, match=told):
        evalreport.compare(*given)


@pytest.mark.parametrize(
    "kind, told, given",
    [
        (TypeError, "`margin` is 3, and takes pairs", {"margin": 3}),
        (TypeError, "`suite` is 3, and takes a text or a list of texts", {"suite": 3}),
        (TypeError, "`model` is 3, and takes a text", {"model": [3]}),
        (TypeError, "`results` is 5, and takes a text", {"results": 5}),
        (TypeError, r"`alpha` is \[0.1\]|`alpha` is \{\}", {"alpha": {}}),
        (TypeError, "`baseline` is 3, and takes a name, a path, a data frame", {"baseline": 3}),
        (TypeError, "`arm` is 3, and takes the name of a column", {"arm": 3}),
        (TypeError, "`passed` is 3, and takes a text", {"passed": 3}),
        (TypeError, "compare has no argument `pased`: did you mean `passed`?", {"pased": "correct"}),
        (TypeError, "compare has no argument `aplha`: did you mean `alpha`?", {"aplha": 0.1}),
        (TypeError, "compare has no argument `zzz`: the arguments about columns are arm, item, passed", {"zzz": 1}),
        (evalreport.Error, "`passed` names the column `gut`, which argument 1 does not have", {"passed": "gut"}),
        (evalreport.Error, "`arm` names the column `gut`, which argument 1 does not have", {"arm": "gut"}),
        (evalreport.Error, "invalid value 'x' for `alpha`", {"alpha": "x"}),
        (evalreport.Error, "`alpha` NaN is not between 0 and 1", {"alpha": float("nan")}),
        (evalreport.Error, "invalid value 'luck' for `design`", {"design": "luck"}),
        (evalreport.Error, "`since` `yesterday` is not a time", {"since": "yesterday"}),
        (evalreport.Error, "`suit` cannot be set", {"set": {"suit": "x"}}),
        (evalreport.Error, "no metric `speed`", {"margin": {"speed": "2pp"}}),
    ],
)
def test_a_wrong_argument_is_named(kind: Any, told: str, given: Dict[str, Any]) -> None:
    with pytest.raises(kind, match=told):
        evalreport.compare(answers(), **given)


def test_what_is_assumed_of_columns_is_said() -> None:
    rows = [{"zeug": row["model"], "nummer": row["question"], "gut": row["correct"]} for row in answers(good=10, bad=3)]
    guessed = evalreport.compare(rows)
    (note,) = guessed.notes
    assert note.startswith("note: side by side as approaches") and str(guessed).endswith(note)
    assert "<p>note: side by side as approaches" in guessed._repr_html_()


def test_of_two_columns_of_the_arm_none_is_guessed() -> None:
    with pytest.raises(evalreport.Error, match="`arm` is `model`, and argument 1 has a column `approach` too"):
        evalreport.compare([{**row, "approach": "x"} for row in answers()], arm="model")
    with pytest.raises(evalreport.Error, match="`arm` names a column of a table in memory"):
        evalreport.compare("logs.csv", arm="x")


def test_refused_rows_are_named() -> None:
    rows: Rows = answers()
    for place in (5, 9):
        rows[place]["question"] = None
    with pytest.warns(evalreport.EvalreportWarning) as warned:
        answer = evalreport.compare(rows)
    told = [str(warning.message) for warning in warned]
    assert told == ["frame: 2 of 120 rows refused: `question` is empty", "frame: row 5: `question` is empty", "frame: row 9: `question` is empty"]
    assert all(warning.filename == __file__ for warning in warned), "the warning is about the user's line"
    assert not any("evalreport import" in message for message in answer.messages)
    with pytest.raises(evalreport.Error, match="row 9: `question` is empty") as caught:
        evalreport.compare(rows, strict=True)
    assert "`strict` refuses" in caught.value.message


def test_rows_of_named_tables_are_counted_in_their_own_table() -> None:
    before = [{"question": row["question"], "correct": row["correct"]} for row in answers(only=3)]
    after: Rows = [dict(row) for row in before]
    after[4]["question"] = None
    with pytest.warns(evalreport.EvalreportWarning, match="frame: `after`, row 4: `question` is empty"):
        evalreport.compare({"before": before, "after": after})
    after[7]["question"] = float("inf")
    with pytest.raises(evalreport.Error, match="argument 1, `after`, row 7, column `question`: inf is no number"):
        evalreport.compare({"before": before, "after": after})


def test_a_gate_of_tables_decides_as_the_program() -> None:
    old, new = answers(only=10), answers(only=2)
    Path("new").mkdir()
    Path("old").mkdir()
    as_file(new, "new/frame.jsonl")
    as_file(old, "old/frame.jsonl")
    for drop, ruling, code in (("2pp", "regression", 1), ("90pp", "pass", 0), ("38pp", "inconclusive", 3)):
        gate = evalreport.gate(new, baseline=old, max_drop=drop)
        told = program("gate", "new/frame.jsonl", "--baseline", "old/frame.jsonl", "--max-drop", drop, "--format", "json", expected=code)
        assert (gate.ruling, gate.exit_code, gate["checks"]) == (ruling, code, json.loads(told)["checks"])
        assert gate["against"] == "baseline" and f"Gate against baseline: {ruling}" in str(gate)
        assert len({len(line) for line in str(gate).splitlines() if line[0] in "┌│├└"}) == 1, "the table is as wide in each line"
    mixed = evalreport.gate("new/frame.jsonl", baseline=old, max_drop="2pp")
    assert mixed["checks"] == evalreport.gate(new, baseline="old/frame.jsonl", max_drop="2pp")["checks"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = tmp_path / "passing"
    passing.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(passing))
    evalreport.compare(answers(), baseline=answers())
    evalreport.leaderboard(answers())
    with pytest.raises(evalreport.Error):
        evalreport.compare([{"x": 1}])
    with pytest.raises(evalreport.Error):
        evalreport.compare([{"x": float("inf")}])
    assert list(passing.iterdir()) == [] and list(tmp_path.iterdir()) == [passing]


def test_a_site_of_a_table() -> None:
    site = evalreport.build(answers(), out="pages", set={"suite": "quiz"})
    assert site.path == Path("pages", "index.html") and "quiz" in Path(site).read_text(encoding="utf-8")
    assert str(site).startswith("pages: ") and "open pages/index.html" in str(site)
    single = evalreport.build(answers(), single_file="one.html")
    assert single.path == Path("one.html") and single.path.stat().st_size > 1000
    assert evalreport.build(answers()).path == Path("site", "index.html")
    Path("elsewhere").mkdir()
    Path("elsewhere", "mine.txt").write_text("mine")
    with pytest.raises(evalreport.Error, match="elsewhere"):
        evalreport.build(answers(), out="elsewhere")
    assert [file.name for file in Path("elsewhere").iterdir()] == ["mine.txt"]


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "value, written",
    [
        (None, None),
        (float("nan"), None),
        (True, True),
        (2.0, 2),
        (0.5, 0.5),
        (2**70, 2**70),
        (decimal.Decimal("1.5"), 1.5),
        (decimal.Decimal("NaN"), None),
        ("a\ud800", "a\ufffd"),
        (Colour.RED, "red"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone.utc), "2026-01-02T03:00:00+00:00"),
        (datetime.timedelta(seconds=90.5), "PT90.5S"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("a"), "a"),
        ({"a": (1.0, None)}, {"a": [1, None]}),
    ],
)
def test_a_value_keeps_its_meaning(value: Any, written: Any) -> None:
    assert json.dumps(_tables.cell(value)) == json.dumps(written)


def test_values_of_numpy_and_pandas() -> None:
    code = """
import numpy, pandas
from evalreport._tables import cell
values = [numpy.float64("nan"), pandas.NA, pandas.NaT, numpy.datetime64("NaT"), numpy.int64(3), numpy.float32(2), numpy.bool_(True), numpy.str_("x"),
    numpy.array([1.0, 2.5]), pandas.Timestamp("2026-01-02"), pandas.Timedelta("90.5s"), numpy.datetime64("2026-01-02T03:04:05")]
print([cell(value) for value in values])
"""
    done = python(["pandas"], code)
    assert done.returncode == 0, done.stderr
    wanted = [None, None, None, None, 3, 2, True, "x", [1, 2.5], "2026-01-02T00:00:00", "PT90.5S", "2026-01-02T03:04:05"]
    assert done.stdout.strip() == str(wanted)


def test_frames_that_are_no_tables_are_refused() -> None:
    code = """
import evalreport, pandas
frame = pandas.DataFrame({"model": ["a"], "question": [1]})
two = pandas.concat([frame, frame], axis=1)
levels = frame.copy()
levels.columns = pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
for value in (frame.model, frame.groupby("model"), frame.to_numpy(), two, levels, frame.iloc[:0]):
    try:
        evalreport.compare(value)
    except (TypeError, evalreport.Error) as error:
        print(str(error).splitlines()[0])
"""
    done = python(["pandas"], code)
    assert done.returncode == 0, done.stderr
    wanted = ["argument 1 is a Series, and takes", "argument 1 is a DataFrameGroupBy whose entry 0 is a tuple", "argument 1 is a ndarray"]
    wanted += ["argument 1 has two columns `model`", "argument 1 has columns of several levels", "argument 1 is a table without rows"]
    lines = done.stdout.splitlines()
    assert len(lines) == len(wanted) and all(line.startswith(start) or start in line for line, start in zip(lines, wanted)), lines


@pytest.mark.parametrize(
    "said, meant",
    [
        ("for example --max-drop 2pp, --max-cost +10% or --must-pass ITEM; or set", 'for example max_drop="2pp", max_cost="+10%" or must_pass=ITEM; or set'),
        ("or point --results at a folder of result files", "or point `results` at a folder of result files"),
        ("invalid value 'x' for '--alpha <CHANCE>': invalid float", "invalid value 'x' for `alpha`: invalid float"),
        ("decides: --score 1 --direction up", 'decides: score="1" direction="up"'),
        ("which --strict refuses", "which `strict` refuses"),
        ("`evalreport list --runs` shows the ids", "`evalreport list --runs` shows the ids"),
        ("decide it: evalreport compare a.csv --passed ok; or", "decide it: evalreport.compare('a.csv', passed=\"ok\"); or"),
        ("run evalreport compare a.csv --wide approaches --flips", "run evalreport.compare('a.csv', wide=\"approaches\", flips=True)"),
    ],
)
def test_messages_are_in_the_words_of_python(said: str, meant: str) -> None:
    assert PLAIN.message(said) == meant


def test_paths_of_tables_are_their_words() -> None:
    words = Translation({"/t/x_1/frame.jsonl": "frame"})
    assert words.plain({"a": ["/t/x_1/frame.jsonl: x", r"/t/x\_1/frame.jsonl", 1]}) == {"a": ["frame: x", "frame", 1]}
    assert words.message("--approach model (or --attempt COLUMN)") == 'arm="model" (or attempt=COLUMN)'
    said = "decide it: evalreport import /t/x_1/frame.jsonl --passed grade --value ok=pass --value no=fail --approach model; or write a map"
    assert words.message(said) == "decide it: passed=\"grade\", value=['ok=pass', 'no=fail'], arm=\"model\"; or write a map"
    table = "┌────┐\n│ against /t/x_1/frame.jsonl: pass │ b │\n└────┘\n/t/x_1/frame.jsonl"
    assert words.table(table) == "┌────┐\n│ against frame: pass" + " " * 13 + " │ b │\n└────┘\nframe"
    assert words.message("evalreport compare --format=full --cache=/t/c -- /t/x_1/frame.jsonl --passed ok") == 'evalreport.compare(frame, passed="ok")'
