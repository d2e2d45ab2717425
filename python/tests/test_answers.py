import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import evalreport
from conftest import program, record_two


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
    with pytest.raises(evalreport.Error, match="invalid value 'luck'"):
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
    with pytest.raises(evalreport.Error, match="--since `yesterday`"):
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
