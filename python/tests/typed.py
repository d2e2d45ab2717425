"""A user's file, for the type checkers only."""

from pathlib import Path
from typing import List, Optional, Tuple

import evalreport
from evalreport.schema import Comparison, SuiteBoard


def compare() -> str:
    answer = evalreport.compare("quiz", Path("logs"), approach=["a", "b"], margin={"pass_rate": "2pp"}, results="results")
    table: Comparison = answer.comparisons[0]
    names: List[str] = [arm["approach"] for arm in table["arms"]]
    decision = answer.decision
    action: Optional[str] = decision["action"] if decision is not None else None
    return f"{answer}{names}{action}{answer.exit_code}"


def tables() -> Tuple[List[evalreport.Pair], Path]:
    rows = [{"model": "nova", "question": 1, "correct": True}]
    answer = evalreport.compare({"before": rows, "after": {"question": [1], "correct": [False]}}, item="question", value={"x": "fail"}, set={"suite": "s"})
    gate = evalreport.gate(rows, baseline=rows, max_drop="2pp", passed="correct")
    site = evalreport.build(rows, out=Path("site"))
    details = [one.get("details") for one in evalreport.records().items]
    texts: List[Optional[str]] = [one.get("answer") for one in details if one is not None]
    differences: List[Optional[float]] = [pair["difference"] for pair in answer.pairs]
    print(gate.exit_code, texts, differences, answer.notes)
    return answer.pairs, site.path


def gate() -> bool:
    answer = evalreport.gate("quiz", baseline="last:1", max_drop="2pp", must_pass=["q1"])
    passed: Optional[bool] = answer.passed
    rulings: List[str] = [check["ruling"] for check in answer.checks]
    return bool(answer) and passed is not False and bool(rulings)


def board() -> List[SuiteBoard]:
    try:
        return evalreport.leaderboard(sort="cost").suites
    except evalreport.Error as error:
        print(error.message, error.hint, error.exit_code)
        return []


def record() -> str:
    with evalreport.record(suite="quiz", approach="mine", model="m", tags={"k": "v"}) as run:
        run.item("q1", passed=True, cost_usd=0.1, answer="x", expected=["x"], duration_seconds=2)
        count: int = run.items([{"item": 1, "passed": True}])
        run.score("calm", 0.5, unit="fraction")
        if "q2" not in run:
            run.item("q2", status="infra", reason=f"503 after {count}")
    return run.id
