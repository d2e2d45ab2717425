"""Compares AI agents: pass rates, costs, and whether the differences are real.

    import evalreport

    print(evalreport.compare("logs/run-a", "logs/run-b"))      # results of other tools, read where they are
    evalreport.compare(frame)                                  # a data frame: an outcome a row
    evalreport.leaderboard()                                   # the store in `results`

    with evalreport.record(suite="capitals", approach="oneshot", model="sonnet") as run:
        run.item("france", passed=True, cost_usd=0.0004)
"""

from importlib import metadata as _metadata

from . import schema
from ._answers import Answer, Comparisons, Gate, GateDecision, GatePlan, Leaderboard, Records, Site
from ._binary import Error, EvalreportWarning, binary
from ._commands import build, compare, gate, gate_decide, gate_plan, leaderboard, records, run
from ._frames import items, runs, scores
from ._pairs import Pair
from ._record import Recording, record

try:
    __version__ = _metadata.version("evalreport")
except _metadata.PackageNotFoundError:  # from a checkout
    __version__ = "0"

__all__ = [
    "Answer",
    "Comparisons",
    "Error",
    "EvalreportWarning",
    "Gate",
    "GateDecision",
    "GatePlan",
    "Leaderboard",
    "Pair",
    "Recording",
    "Records",
    "Site",
    "binary",
    "build",
    "compare",
    "gate",
    "gate_decide",
    "gate_plan",
    "items",
    "leaderboard",
    "record",
    "records",
    "run",
    "runs",
    "schema",
    "scores",
]
