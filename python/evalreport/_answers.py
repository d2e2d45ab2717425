"""Answers of the program."""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar, cast

from . import _forest, _html
from ._binary import Error, Output
from ._pairs import Pair, pairs_of
from ._translate import PLAIN, Translation
from .schema import (
    Apart,
    CompareAnswer,
    Comparison,
    Decision,
    GateAnswer,
    GateCheck,
    GateDecideAnswer,
    GatePlanAnswer,
    HeldDecision,
    LeaderboardAnswer,
    NewFailures,
    Outcome,
    PlannedGate,
    RecordsAnswer,
    Run,
    SuiteBoard,
)

class Answer(Mapping[str, Any]):
    """An answer: a mapping with the keys of its JSON schema.

    `str(answer)` is the table that the terminal shows, with the notes on how files and tables were read. A notebook shows it as a table too, with a
    drawing of the intervals. Both are of the same moment as the figures.

    Attributes:
        data: The JSON as dictionaries and lists. Keys of later versions may be there too.
        exit_code: 0, or 1 for a negative answer, or 3 for an inconclusive one.
        messages: Notes and warnings of the program, one a line.
        markdown: The answer as Markdown.
    """

    def __init__(self, data: Mapping[str, Any], table: str, markdown: str, exit_code: int = 0, messages: Sequence[str] = ()) -> None:
        self.data = dict(data)
        self.exit_code = exit_code
        self.messages = list(messages)
        self.markdown = markdown
        self._table = table

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def notes(self) -> List[str]:
        """What the program assumed, such as the meaning of columns, and what it did not read."""
        return [line for line in self.messages if line.startswith("note: ")]

    def __str__(self) -> str:
        return "\n".join([self._table.rstrip("\n"), *self.notes])

    __repr__ = __str__

    def _drawing(self) -> str:
        """Returns the intervals as SVG."""
        return ""

    def _repr_html_(self) -> str:
        return _html.tables(self.markdown, self._drawing(), self.notes)


class Comparisons(Answer):
    """Comparisons of arms, one for each suite."""

    @property
    def json(self) -> CompareAnswer:
        """The answer with its types."""
        return cast(CompareAnswer, self.data)

    @property
    def comparisons(self) -> List[Comparison]:
        return self.json["comparisons"]

    @property
    def apart(self) -> List[Apart]:
        """Arms of a suite that are in no common table."""
        return cast(List[Apart], self.data.get("apart", []))

    @property
    def decision(self) -> Optional[Decision]:
        """What to do, if there is one comparison. `None` if there are several, or if it has one arm."""
        return self.comparisons[0].get("decision") if len(self.comparisons) == 1 else None

    @property
    def pairs(self) -> List[Pair]:
        """The differences of two arms on a metric, a row each, as for a data frame: `pandas.DataFrame(answer.pairs)`."""
        return [pair for comparison in self.comparisons for pair in pairs_of(comparison)]

    def _drawing(self) -> str:
        return _forest.of_comparisons(self.data)


class Leaderboard(Answer):
    """A ranking of arms for each suite."""

    @property
    def json(self) -> LeaderboardAnswer:
        """The answer with its types."""
        return cast(LeaderboardAnswer, self.data)

    @property
    def suites(self) -> List[SuiteBoard]:
        return self.json["suites"]

    def _drawing(self) -> str:
        return _forest.of_leaderboard(self.data)


class Gate(Answer):
    """Whether new runs are worse than the rules allow. True in a condition only if the gate passed."""

    @property
    def json(self) -> GateAnswer:
        """The answer with its types."""
        return cast(GateAnswer, self.data)

    @property
    def ruling(self) -> str:
        """The worst ruling of all checks: `pass`, `inconclusive` or `regression`. `exit_code` is that of the program."""
        return self.json["ruling"]

    @property
    def passed(self) -> Optional[bool]:
        """`True`, or `False` for a regression, or `None` if the evidence is not enough."""
        return {"pass": True, "regression": False}.get(self.ruling)

    @property
    def checks(self) -> List[GateCheck]:
        return self.json["checks"]

    @property
    def new_failures(self) -> List[NewFailures]:
        """Items that fail now and did not in the baseline, by arm."""
        return cast(List[NewFailures], self.data.get("new_failures", []))

    def __bool__(self) -> bool:
        return self.passed is True

    def _drawing(self) -> str:
        return _forest.of_gate(self.data)


class GatePlan(Answer):
    """How often the rules raise false alarms and detect drops."""

    @property
    def json(self) -> GatePlanAnswer:
        """The answer with its types."""
        return cast(GatePlanAnswer, self.data)

    @property
    def plans(self) -> List[PlannedGate]:
        return self.json["plans"]


class GateDecision(Answer):
    """Whether to ship the new runs, by quality, cost and time."""

    @property
    def json(self) -> GateDecideAnswer:
        """The answer with its types."""
        return cast(GateDecideAnswer, self.data)

    @property
    def choice(self) -> str:
        """`ship`, `keep`, `choose_by_price`, `measure` or `cannot_settle`."""
        return self.json["choice"]

    @property
    def decisions(self) -> List[HeldDecision]:
        return self.json["decisions"]

    @property
    def sentences(self) -> List[str]:
        return self.json["sentences"]


class Records:
    """Runs and their outcomes, with answers and texts.

    Attributes:
        data: The JSON as dictionaries and lists.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = dict(data)

    def __repr__(self) -> str:
        return f"<evalreport.Records of {len(self.runs)} runs, {len(self.items)} outcomes>"

    @property
    def json(self) -> RecordsAnswer:
        """The records with their types."""
        return cast(RecordsAnswer, self.data)

    @property
    def runs(self) -> List[Run]:
        return self.json["runs"]

    @property
    def items(self) -> List[Outcome]:
        """The outcomes. `run` is the id of their run, and `details` has the texts."""
        return self.json["items"]


class Site:
    """A site that was written.

    Attributes:
        path: The page to open.
        messages: Notes and warnings of the program, one a line.
    """

    def __init__(self, path: Path, messages: Sequence[str]) -> None:
        self.path = path
        self.messages = list(messages)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return "\n".join(line for line in self.messages if not line.startswith(("note: ", "warning: ")))

    __repr__ = __str__


AnAnswer = TypeVar("AnAnswer", bound=Answer)


def answer(kind: "type[AnAnswer]", output: Output, translation: Translation = PLAIN) -> AnAnswer:
    """Reads what the program printed in the format `full`."""
    document = document_of(output)
    data, markdown = translation.plain(document["answer"]), translation.plain(document["markdown"])
    return kind(data, translation.table(document["table"]), markdown, output.exit_code, output.messages)


def document_of(output: Output) -> Dict[str, Any]:
    try:
        # What JSON cannot write is not defined.
        document = json.loads(output.text, parse_constant=lambda _: None)
        return cast(Dict[str, Any], document) if "answer" in document else _not_ours(output)
    except (ValueError, TypeError):
        return _not_ours(output)


def _not_ours(output: Output) -> Dict[str, Any]:
    raise Error("evalreport gave no answer", None, output.messages, output.exit_code)
