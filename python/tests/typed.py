"""A user's file, for the type checkers only."""

from pathlib import Path
from typing import List, Optional

import evalreport
from evalreport.schema import Comparison, SuiteBoard


def compare() -> str:
    answer = evalreport.compare("quiz", Path("logs"), approach=["a", "b"], margin={"pass_rate": "2pp"}, results="results")
    table: Comparison = answer.comparisons[0]
    names: List[str] = [arm["approach"] for arm in table["arms"]]
    decision = answer.decision
    action: Optional[str] = decision["action"] if decision is not None else None
    return f"{answer}{names}{action}{answer.exit_code}"


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
        run.score("calm", 0.5, unit="fraction")
        if "q2" not in run:
            run.item("q2", status="infra", reason="503")
    return run.id
