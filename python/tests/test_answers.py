import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import evalreport
from conftest import program, record_two
from evalreport._answers import answer
from evalreport._binary import Output


def test_the_installed_package_is_tested() -> None:
    if os.environ.get("EVALREPORT_INSTALLED"):
        assert Path(evalreport.__file__).resolve().is_relative_to(Path(sys.prefix).resolve()) if sys.version_info >= (3, 9) else True
        assert Path(evalreport.binary()).parent == Path(sys.executable).parent
        assert subprocess.check_output([evalreport.binary(), "--version"]).decode().split()[1] == evalreport.__version__
        assert Path(evalreport.__file__).with_name("py.typed").exists()


def test_a_comparison_is_the_json_and_prints_as_the_terminal() -> None:
    record_two()
    compared = evalreport.compare("quiz")
    assert isinstance(compared, evalreport.Comparisons) and compared.exit_code == 0
    assert compared.data == json.loads(program("compare", "quiz", "--format", "json"))
    # The terminal alone is told how to see more.
    assert program("compare", "quiz").startswith(str(compared).rstrip())
    assert repr(compared) == str(compared)
    assert compared["schema"] == compared.json["schema"] == "evalreport/compare/2" and len(compared) == len(list(compared))
    decision = compared.decision
    assert decision is not None and decision["action"] == "ship"
    assert compared.comparisons[0]["arms"][0]["approach"] == "good"
    assert compared.apart == []


def test_pairs_are_rows_of_figures() -> None:
    record_two()
    compared = evalreport.compare()
    (comparison,) = compared.comparisons
    assert [(pair["metric"], pair["first"], pair["second"]) for pair in compared.pairs] == [
        (row["metric"]["name"], "good", "bad") for row in comparison["rows"] for _ in row["evidence"]["pairs"]
    ]
    evidence = comparison["rows"][0]["evidence"]["pairs"][0]
    pair = compared.pairs[0]
    assert evidence["difference"] is not None and evidence["difference"]["interval"] is not None and evidence["levels"] is not None
    assert (pair["difference"], pair["low"]) == (evidence["difference"]["value"], evidence["difference"]["interval"]["low"])
    assert (pair["first_value"], pair["p"], pair["verdict"], pair["confidence"]) == (evidence["levels"]["first"], evidence["p"], "a_wins", 0.95)
    assert (pair["first_approach"], pair["second_model"], pair["n"], pair["n_of"]) == ("good", "m", 60, "questions")
    assert "NaN" not in json.dumps(compared.data) and "Infinity" not in json.dumps(compared.pairs)


def test_arguments_of_comparisons_arrive() -> None:
    for approach, every in (("good", 10), ("bad", 2)):
        with evalreport.record(suite="quiz", approach=approach, model="m") as run:
            run.items([{"item": item, "passed": item % every > 0, "category": "even" if item % 2 else "odd"} for item in range(60)])
    for given, options in (
        ({"against": "bad"}, ["--against", "bad"]),
        ({"by": "category"}, ["--by", "category"]),
        ({"flips": True, "explain": True}, ["--flips", "--explain"]),
        ({"margin": {"pass_rate": "5pp"}, "alpha": 0.1}, ["--margin", "pass_rate=5pp", "--alpha", "0.1"]),
    ):
        compared = evalreport.compare("quiz", **given)  # type: ignore[arg-type]
        assert compared.data == json.loads(program("compare", "quiz", "--format", "json", *options)), given


def test_what_has_no_number_is_none() -> None:
    output = Output('{"answer": {"p": NaN, "q": [Infinity, 1]}, "table": "", "markdown": ""}', [], 0)
    assert answer(evalreport.Gate, output).data == {"p": None, "q": [None, 1]}


def test_records_have_answers_and_texts() -> None:
    with evalreport.record(suite="quiz", approach="mine", model="m") as run:
        run.item(1, passed=False, question="Why?", answer="So", expected=["Because"], reason="wrong", reply="So.")
        run.item(2, passed=True)
    record_two()
    records = evalreport.records(approach="mine")
    assert repr(records) == "<evalreport.Records of 1 runs, 2 outcomes>"
    assert records.json["schema"] == "evalreport/records/1" and [one["id"] for one in records.runs] == [run.id]
    first, second = records.items
    assert (first["run"], first["item"], first["status"]) == (run.id, "1", "fail")
    details = first["details"]
    assert (details["question"], details["answer"], details["expected"], details["reply"]) == ("Why?", "So", ["Because"], "So.")
    assert "cost_usd" not in second and "answer" not in second.get("details", {}), "what was not measured is absent"
    with pytest.raises(evalreport.Error, match="no approach `nobody`"):
        evalreport.records(approach="nobody")


def test_a_leaderboard() -> None:
    record_two()
    board = evalreport.leaderboard(sort="cost", suite="quiz")
    assert board.suites[0]["suite"] == "quiz"
    assert str(board) == program("leaderboard", "--sort", "cost", "--suite", "quiz").rstrip()


def test_a_gate_answers_and_never_raises_for_a_regression() -> None:
    record_two()
    program("export", "bundle", "base.bundle", "--approach", "good")
    # The same arm, worse.
    with evalreport.record(suite="quiz", approach="good", model="m", results="new") as run:
        for number in range(60):
            run.item(f"q{number}", passed=number % 2 > 0, cost_usd=0.01)
    gate = evalreport.gate(baseline="base.bundle", max_drop="2pp", results="new", junit="report.xml")
    assert (gate.ruling, gate.passed, gate.exit_code, bool(gate)) == ("regression", False, 1, False)
    assert gate.checks and gate.new_failures and Path("report.xml").exists()
    assert "Gate against base.bundle: regression" in str(gate)
    easy = evalreport.gate(baseline="base.bundle", max_drop="90pp", results="new")
    assert (easy.passed, easy.exit_code, bool(easy)) == (True, 0, True)
    open_gate = evalreport.gate(baseline="base.bundle", max_drop="38pp", results="new")
    assert (open_gate.passed, open_gate.exit_code, bool(open_gate)) == (None, 3, False)
    failed = evalreport.gate(baseline="base.bundle", max_drop="38pp", results="new", on_inconclusive="fail")
    assert (failed.passed, failed.exit_code) == (None, 1)
    assert evalreport.gate_plan(baseline="base.bundle", max_drop="2pp", results="new").plans
    decided = evalreport.gate_decide(baseline="base.bundle", results="new")
    assert decided.choice == "keep" and decided.sentences and decided.decisions and decided.exit_code == 1


def test_a_run_of_the_sample_project() -> None:
    program("init", "project")
    os.chdir("project")
    ran = evalreport.run("hello", approach=["complete", "sketch"], runs=2, quiet=True)
    assert isinstance(ran, evalreport.Comparisons)
    assert {arm["approach"] for arm in ran.comparisons[0]["arms"]} == {"complete", "sketch"}
    one = evalreport.run("hello", approach="complete", quiet=True)
    assert isinstance(one, evalreport.Leaderboard)


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    program("init", "project")
    os.chdir("project")
    evalreport.run("hello", approach="complete")
    assert "results in" in capsys.readouterr().err


def test_errors_have_a_message_and_a_hint() -> None:
    record_two()
    with pytest.raises(evalreport.Error) as caught:
        evalreport.compare("quzi")
    assert caught.value.message == "no suite or run `quzi`"
    assert caught.value.hint is not None and "quiz" in caught.value.hint and caught.value.hint in str(caught.value)
    assert caught.value.exit_code == 2
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message, copy.hint, copy.exit_code) == (caught.value.message, caught.value.hint, 2)
    with pytest.raises(evalreport.Error, match="invalid value 'luck' for `sort`"):
        evalreport.leaderboard(sort="luck")
    with pytest.raises(evalreport.Error, match="no gate rule given"):
        evalreport.gate()


def test_paths_are_paths_and_names_are_names(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    Path("runs").mkdir()
    for approach, passed in (("one", 14), ("two", 5)):
        result = {"suite": "s", "approach": approach, "model": "m", "shared_tests_passed": passed, "shared_tests_total": 20}
        Path("runs", f"{approach}.json").write_text(json.dumps(result))
    assert evalreport.compare(results="runs").comparisons[0]["suite"] == "s"
    assert evalreport.compare(files=[Path("runs/one.json"), Path("runs/two.json")]).comparisons[0]["suite"] == "s"
    program("export", "bundle", "both", "--results", "runs")
    # A path object without a folder is no suite.
    assert evalreport.leaderboard(Path("both")).suites[0]["suite"] == "s"
    with pytest.raises(evalreport.Error, match="`since` `yesterday` is not a time"):
        evalreport.leaderboard(results=["runs"], since="yesterday")
    with pytest.raises(evalreport.Error):
        evalreport.compare("--help", results="runs")


def test_what_cannot_be_read_is_warned_of() -> None:
    record_two()
    Path("results/broken.json").write_text("{")
    with pytest.warns(evalreport.EvalreportWarning, match="broken.json"):
        board = evalreport.leaderboard()
    assert any("broken.json" in message for message in board.messages)
    with pytest.raises(evalreport.Error, match="broken.json"):
        evalreport.leaderboard(strict=True)


def test_a_program_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALREPORT_BINARY", "/nowhere/evalreport")
    with pytest.raises(evalreport.Error, match="EVALREPORT_BINARY names `/nowhere/evalreport`"):
        evalreport.leaderboard()


def test_the_module_is_the_program() -> None:
    told = subprocess.run([sys.executable, "-m", "evalreport", "--version"], stdout=subprocess.PIPE)
    assert told.returncode == 0 and told.stdout.startswith(b"evalreport ")
    assert subprocess.run([sys.executable, "-m", "evalreport", "--bogus"], stderr=subprocess.PIPE).returncode == 2
