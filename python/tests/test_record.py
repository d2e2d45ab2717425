import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict

import pytest

import evalreport
from conftest import journal, program

ARM: Dict[str, Any] = {"suite": "quiz", "approach": "mine", "model": "sonnet"}


def header(run: "evalreport.Recording") -> Dict[str, Any]:
    told: Dict[str, Any] = json.loads(Path("results", f"{run.id}.json").read_text())
    return told


def whole() -> str:
    told = program("doctor", "--verify")
    assert "no damage found" in told
    return told


def test_every_argument_arrives() -> None:
    with evalreport.record(
        **ARM, batch="night-1", run_index=2, seed=0, tags={"k": "v"}, suite_version="2", agent="loop", kind="task", evaluator="judge"
    ) as run:
        run.messages([{"role": "user", "content": "Why?"}], item="q1")
        run.item(
            "q1",
            True,
            score=0.5,
            answer=42,
            expected="42",
            question="What?",
            reply="It is 42",
            category="c",
            cluster="p1",
            duration_seconds=1,
            cost_usd=0.25,
            input_tokens=3,
            output_tokens=4,
            steps=2,
            tools={"Read": 1},
            model="sonnet-4",
            scores={"rouge": 0.1},
        )
        run.item("q2", status="skipped", kind="test", evaluator="own_tests", reason="no time")
        run.item("q3", error="boom", attempt=2)
        run.score("calm", 0.75, unit="fraction", n=3, standard_error=0.1)
        assert "q1" in run and ("q3", 2) in run and ("q3", 1) not in run and "q2" not in run
        assert run.decided == {("q1", 1), ("q3", 2)}
    lines = journal(run.id)
    assert lines[0] == {
        "item": "q1", "kind": "task", "evaluator": "judge", "attempt": 1, "revision": 0, "status": "pass", "score": 0.5, "cluster": "p1",
        "category": "c", "duration_seconds": 1.0, "cost_usd": 0.25, "input_tokens": 3, "output_tokens": 4,
        "details": {
            "reply": "It is 42", "answer": "42", "expected": ["42"], "usage": {"input": 3, "output": 4}, "steps": 2, "model": "sonnet-4",
            "tools": {"Read": 1}, "question": "What?", "scores": {"rouge": 0.1},
        },
    }  # fmt: skip
    assert (lines[1]["kind"], lines[1]["evaluator"], lines[1]["details"]) == ("test", "own_tests", {"reason": "no time"})
    assert (lines[2]["status"], lines[2]["details"]) == ("error", {"reason": "boom"})
    told = header(run)
    for key, value in {**ARM, "batch_id": "night-1", "run_index": 2, "seed": 0, "tags": {"k": "v"}, "suite_version": "2"}.items():
        assert told[key] == value
    assert told["agent"] == "loop" and told["status"] == "completed" and (told["shared_tests_passed"], told["shared_tests_total"]) == (1, 2)
    assert "1 run sealed" in whole()
    assert json.loads(Path("results", run.id, "transcript.jsonl").read_text())["item"] == "q1"


class Scalar:
    """A value as numpy's and torch's are: `item()` gives Python's."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        if isinstance(self.value, list):
            raise ValueError("can only convert an array of size 1")
        return self.value


def test_passed_takes_what_can_mean_one_thing_only() -> None:
    with evalreport.record(**ARM) as run:
        for place, passed in enumerate([True, False, 1, 0, Scalar(True), Scalar(0)]):
            run.item(place, passed=passed)  # type: ignore[arg-type]
        wrong = ["no", "False", "0", "", b"1", 0.3, 1.0, 2, -1, float("nan"), [], [1], Scalar("yes"), Scalar([True, False]), Scalar(0.5), object()]
        for value in wrong:
            with pytest.raises(TypeError, match="takes True or False, 0 or 1: for example passed=value"):
                run.item("wrong", passed=value)  # type: ignore[arg-type]
        assert "wrong" not in run
    assert [line["status"] for line in journal(run.id)] == ["pass", "fail"] * 3


def test_whole_numbers_are_ids_and_nothing_else_is() -> None:
    with evalreport.record(**ARM) as run:
        run.item(3, passed=True)
        run.item(Scalar(4), passed=False)  # type: ignore[arg-type]
        run.messages([{"role": "user", "content": "Why?"}], item=3)
        assert 3 in run and "3" in run and (4, 1) in run and 5 not in run
        with pytest.raises(evalreport.Error, match="item `3`, attempt 1 is recorded already"):
            run.item("3", passed=False)
        for value in [True, None, 3.0, ("q", 1)]:
            with pytest.raises(TypeError, match="takes a text or a whole number"):
                run.item(value, passed=True)  # type: ignore[arg-type]
    assert [line["item"] for line in journal(run.id)] == ["3", "4"]


def test_an_item_may_have_a_score_alone() -> None:
    with evalreport.record(**ARM) as run:
        run.item("q1", score=0.7)
        run.item("q2", score=Scalar2(0.5))  # type: ignore[arg-type]
        for value in ["0.7", "n/a", b"1", object()]:
            with pytest.raises(TypeError, match="takes a number: for example score=float"):
                run.item("q3", score=value)  # type: ignore[arg-type]
        with pytest.raises(evalreport.Error, match="`score` is nan"):
            run.item("q3", score=float("nan"))
        with pytest.raises(evalreport.Error, match="has no `passed`, no `status` and no `score`"):
            run.item("q3")
    assert [(line["status"], line["score"]) for line in journal(run.id)] == [("skipped", 0.7), ("skipped", 0.5)]
    assert header(run)["status"] == "completed"


def test_a_table_is_recorded_by_row() -> None:
    with evalreport.record(**ARM) as run:
        assert run.items([{"item": 1, "passed": True, "answer": "Paris", "cost_usd": 0.5}, {"item": 2.0, "passed": 0, "cost_usd": float("nan")}]) == 2
        assert run.items({"item": ["x"], "score": [0.5], "expected": [["a", "b"]]}) == 1
        for rows, told in (
            ([{"item": "y", "passed": True}, {"item": "z", "passed": "no"}], "row 1: item `z`: `passed` is 'no'"),
            ([{"item": 1, "passed": True}], "row 0: item `1`, attempt 1 is recorded already"),
            ([{"item": None, "passed": True}], "row 0: the id of an item is None"),
            ([{"item": "q", "passed": True, "cost_usd": -1}], "row 0: item `q`: `cost_usd` is negative"),
            ([{"item": "q", "passed": True, "input_tokens": float("inf")}], "row 0: inf is no number"),
            ([{"item": "q", "right": True}], "`rows` has columns that are no arguments of `item`: `right`"),
            ([{"passed": True}], "`rows` has no column `item`"),
            (3, "`rows` is 3, and takes"),
        ):
            with pytest.raises((evalreport.Error, TypeError), match=told):
                run.items(rows)  # type: ignore[arg-type]
    lines = journal(run.id)
    assert [(line["item"], line["status"]) for line in lines] == [("1", "pass"), ("2", "fail"), ("x", "skipped"), ("y", "pass")]
    assert lines[0]["details"]["answer"] == "Paris" and "cost_usd" not in lines[1] and lines[2]["details"]["expected"] == ["a", "b"]
    whole()


def test_problems_name_item_and_argument() -> None:
    with evalreport.record(**ARM) as run:
        for given, told in (
            ({"status": "won"}, "item `q`: `status` is `won`, expected one of `pass`"),
            ({"passed": True, "kind": "riddle"}, "item `q`: `kind` is `riddle`, expected one of `question`"),
            ({"passed": True, "input_tokens": 1.5}, "item `q`: `input_tokens` is 1.5, which is no whole number"),
            ({"passed": True, "output_tokens": "3"}, "item `q`: `output_tokens` is '3', and takes a whole number"),
            ({"passed": True, "steps": True}, "item `q`: `steps` is True, and takes a whole number"),
            ({"passed": True, "tools": {"Read": object()}}, r"item `q`: `tools\['Read'\]` is <object"),
            ({"passed": True, "tools": 3}, "item `q`: `tools` is 3, and takes a mapping"),
            ({"passed": True, "scores": {"rouge": "high"}}, r"item `q`: `scores\['rouge'\]` is 'high', and takes a number"),
            ({"passed": True, "attempt": 0}, "item `q`: attempts count from 1"),
        ):
            with pytest.raises((evalreport.Error, TypeError), match=told):
                run.item("q", **given)  # type: ignore[arg-type]
        run.item("q", passed=True, input_tokens=3.0)  # type: ignore[arg-type]
    assert journal(run.id)[0]["input_tokens"] == 3


class Scalar2:
    """A number of another library."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


def test_an_exception_ends_the_run_as_failed() -> None:
    with pytest.raises(ZeroDivisionError):
        with evalreport.record(**ARM) as run:
            run.item("q1", passed=True)
            1 / 0
    assert (header(run)["status"], header(run)["error"]) == ("failed", "ZeroDivisionError: division by zero")
    assert len(journal(run.id)) == 1
    with pytest.raises(evalreport.Error, match="has ended"):
        run.item("q2", passed=True)
    whole()


def test_ctrl_c_leaves_a_run_to_be_resumed() -> None:
    with pytest.raises(KeyboardInterrupt):
        with evalreport.record(**ARM) as run:
            run.item("q1", passed=True)
            raise KeyboardInterrupt
    assert "abandoned" in program("list", "--runs")
    with evalreport.record(resume=run.id[:13]) as resumed:
        assert resumed.id == run.id and "q1" in resumed and (resumed.suite, resumed.approach, resumed.model) == ("quiz", "mine", "sonnet")
        with pytest.raises(evalreport.Error, match="recorded already"):
            resumed.item("q1", passed=True)
        resumed.item("q2", passed=False)
    assert [line["item"] for line in journal(run.id)] == ["q1", "q2"] and header(run)["shared_tests_total"] == 2
    whole()


def test_ctrl_c_of_the_terminal_does_not_reach_the_writer() -> None:
    code = """
import evalreport, signal, time
# A program begun in the background by a shell without job control ignores the signal, and so would this child.
signal.signal(signal.SIGINT, signal.default_int_handler)
with evalreport.record(suite="s", approach="a") as run:
    run.item("q1", passed=True)
    try:
        print(run.id, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        run.item("q2", passed=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    name = child.stdout.readline().decode().strip()
    os.killpg(child.pid, signal.SIGINT)
    assert child.wait(30) == 0
    child.stdout.close()
    assert [line["item"] for line in journal(name)] == ["q1", "q2"]
    whole()


def test_an_end_of_its_own() -> None:
    with evalreport.record(**ARM) as run:
        run.item("q1", passed=False)
        run.end(status="limit", error="no more money", cost_usd=1.5, duration_seconds=60, input_tokens=10, output_tokens=5, reported_model="x")
    told = header(run)
    assert (told["status"], told["error"], told["cost_usd"], told["duration_seconds"]) == ("limit", "no more money", 1.5, 60.0)
    assert (told["total_tokens"], told["reported_model"]) == (15, "x")


def test_what_is_wrong_is_refused_and_the_run_goes_on() -> None:
    unbegun = evalreport.record(**ARM)
    with pytest.raises(evalreport.Error, match="has not begun"):
        unbegun.item("q1", passed=True)
    with pytest.raises(TypeError, match="only a recording in progress"):
        pickle.dumps(unbegun)
    for arguments in ({"suite": "s"}, {"suite": "", "approach": "a"}, {"resume": "none"}, {**ARM, "id": ".x"}, {**ARM, "batch": "a/b"}):
        with pytest.raises(evalreport.Error):
            evalreport.record(**arguments).__enter__()
    with evalreport.record(**ARM) as run:
        for wrong in (
            {},
            {"passed": True, "status": "pass"},
            {"status": "won"},
            {"passed": True, "cost_usd": -1},
            {"passed": True, "cost_usd": float("nan")},
            {"passed": True, "error": "boom"},
            {"passed": True, "attempt": 0},
            {"passed": True, "input_tokens": 1.5},
            {"passed": True, "kind": "riddle"},
            {"passed": True, "answer": "x" * (65 << 20)},
            {"passed": True, "tools": {"Read": object()}},
        ):
            with pytest.raises((evalreport.Error, TypeError), match="q1|cannot be written|64 MiB"):
                run.item("q1", **wrong)
        with pytest.raises(evalreport.Error):
            run.__enter__()
        deep: Any = 1
        for _ in range(500):
            deep = [deep]
        with pytest.raises(evalreport.Error, match="recursion limit"):
            run.messages([{"content": deep}])
        run.item("q1", passed=True)
    assert len(journal(run.id)) == 1
    whole()


def test_texts_arrive_whole() -> None:
    odd = "line\nbreak \u2028 \x00 \ud800 \"quoted\" \\ <é> " + "x" * 300_000
    with evalreport.record(**ARM) as run:
        run.item("näme \n \"1\"", passed=True, answer=odd)
    (line,) = journal(run.id)
    assert line["item"] == 'näme \n "1"'
    assert line["details"]["answer"] == odd.replace("\ud800", "\ufffd")
    whole()


def test_numbers_of_other_libraries() -> None:
    class Number:
        def __init__(self, value: Any) -> None:
            self.value = value

        def item(self) -> Any:
            return self.value

        def __float__(self) -> float:
            return float(self.value)

        def __bool__(self) -> bool:
            return bool(self.value)

    with evalreport.record(**ARM) as run:
        run.item("q1", passed=Number(True), cost_usd=Number(0.5), input_tokens=Number(3))  # type: ignore[arg-type]
    assert (journal(run.id)[0]["cost_usd"], journal(run.id)[0]["input_tokens"]) == (0.5, 3)


def test_secrets_of_the_environment_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "hunter2-hunter2")
    with pytest.raises(RuntimeError):
        with evalreport.record(**ARM, tags={"k": "hunter2-hunter2"}) as run:
            run.item("q1", passed=False, answer="the key is hunter2-hunter2", reason="hunter2-hunter2")
            run.messages([{"content": "hunter2-hunter2"}])
            raise RuntimeError("401 for hunter2-hunter2")
    for file in Path("results").rglob("*"):
        assert not file.is_file() or b"hunter2" not in file.read_bytes(), file
    assert header(run)["error"] == "RuntimeError: 401 for [SERVICE_API_KEY]"


def test_a_run_is_readable_while_it_is_written() -> None:
    with evalreport.record(**ARM) as run:
        run.item("q1", passed=True)
        run.item("q2", passed=False)
        assert [line["item"] for line in journal(run.id)] == ["q1", "q2"]
        for command in (["list"], ["list", "--runs"], ["show", run.id]):
            told = program(*command)
            assert all(word in told for word in ("in progress", "quiz", "mine", "sonnet", "1/2 (50%)")), told
        assert "in flight" in program("doctor") and "2 outcomes" in program("doctor")
        with pytest.raises(evalreport.Error, match="being written by another process"):
            evalreport.record(resume=run.id).__enter__()
    assert "Not finished" not in program("list")


def test_threads() -> None:
    with evalreport.record(**ARM) as run:

        def work(number: int) -> None:
            for item in range(50):
                run.item(f"q{number}-{item}", passed=True)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({line["item"] for line in journal(run.id)}) == len(journal(run.id)) == 400
    whole()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_forked_processes_share_a_run() -> None:
    context = multiprocessing.get_context("fork")
    with evalreport.record(**ARM) as run:

        def work(number: int) -> None:
            for item in range(50):
                run.item(f"q{number}-{item}", passed=True)

        processes = [context.Process(target=work, args=(number,)) for number in range(4)]
        for process in processes:
            process.start()
        work(9)
        for process in processes:
            process.join()
            assert process.exitcode == 0
        # One is killed in the middle of its talk, and the others go on.
        endless = context.Process(target=lambda: [work(100 + number) for number in range(1000)])
        endless.start()
        time.sleep(0.2)
        assert endless.pid is not None
        os.kill(endless.pid, signal.SIGKILL)
        endless.join()
        run.item("last", passed=True)
    items = [line["item"] for line in journal(run.id)]
    assert len(set(items)) == len(items) >= 251 and items[-1] == "last"
    whole()


def send(run: "evalreport.Recording", number: int) -> bool:
    for item in range(30):
        run.item(f"q{number}-{item}", passed=True)
    with pytest.raises(evalreport.Error, match="recorded already"):
        run.item(f"q{number}-0", passed=True)
    return "before" in run and f"q{number}-3" in run


def send_for_ever(run: "evalreport.Recording") -> None:
    for number in range(1000, 100_000):
        send(run, number)


def test_started_processes_send_to_the_one_that_records() -> None:
    context = multiprocessing.get_context("spawn")
    with evalreport.record(**ARM) as run:
        run.item("before", passed=True)
        endless = context.Process(target=send_for_ever, args=(run,))
        endless.start()
        with context.Pool(3) as pool:
            assert all(pool.starmap(send, [(run, number) for number in range(6)]))
        assert endless.pid is not None
        os.kill(endless.pid, signal.SIGKILL)
        endless.join()
        run.item("last", passed=True)
    items = [line["item"] for line in journal(run.id)]
    assert len(set(items)) == len(items) >= 182 and {f"q{number}-{item}" for number in range(6) for item in range(30)} < set(items)
    whole()


def one_run(number: int) -> str:
    with evalreport.record(**ARM, batch="together", run_index=number + 1) as run:
        for item in range(20):
            run.item(f"q{item}", passed=item % 3 > 0)
    return run.id


def test_processes_record_runs_of_one_batch() -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        ids = pool.map(one_run, range(8))
    assert len(set(ids)) == 8
    assert len(program("list", "--runs", "--batch", "together", "--format", "csv").splitlines()) == 9
    whole()


def test_a_writer_that_dies_is_an_error_and_the_run_can_be_resumed() -> None:
    with pytest.raises(evalreport.Error, match="stopped by signal 9"):
        with evalreport.record(**ARM) as run:
            run.item("q1", passed=True)
            assert run._pipe is not None
            run._pipe._child.kill()
            run.item("q2", passed=True)
    with evalreport.record(resume=run.id) as resumed:
        resumed.item("q2", passed=True)
    assert header(run)["shared_tests_total"] == 2
    whole()
