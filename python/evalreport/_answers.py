"""The commands that answer questions about results, and their answers."""

import json
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union, cast

from . import _html
from ._binary import Error, Output, call
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
    PlannedGate,
    SuiteBoard,
)

PathLike = Union[str, "os.PathLike[str]"]
#: One path or several.
Paths = Union[PathLike, Sequence[PathLike]]
#: One name or several.
Names = Union[str, Sequence[str]]
#: `{"night": "12"}`, or `"night=12"`, or several of these.
Pairs = Union[Names, Mapping[str, str]]


class Answer(Mapping[str, Any]):
    """An answer: a mapping with the keys of its JSON schema.

    `str(answer)` is the table that the terminal shows, and a notebook shows it as a table too. Both are of the same moment as the figures.

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

    def __str__(self) -> str:
        return self._table.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.tables(self.markdown)


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


class Leaderboard(Answer):
    """A ranking of arms for each suite."""

    @property
    def json(self) -> LeaderboardAnswer:
        """The answer with its types."""
        return cast(LeaderboardAnswer, self.data)

    @property
    def suites(self) -> List[SuiteBoard]:
        return self.json["suites"]


class Gate(Answer):
    """Whether new runs are worse than the rules allow. True in a condition only if the gate passed."""

    @property
    def json(self) -> GateAnswer:
        """The answer with its types."""
        return cast(GateAnswer, self.data)

    @property
    def ruling(self) -> str:
        """The worst ruling of all checks: `pass`, `inconclusive` or `regression`."""
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


AnAnswer = TypeVar("AnAnswer", bound=Answer)


def several(value: Optional[Paths]) -> List[str]:
    """Returns each of one or several names or paths."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    return [os.fspath(one) for one in value]


def pairs(value: Optional[Pairs]) -> List[str]:
    """Returns `KEY=VALUE` for each pair."""
    if isinstance(value, Mapping):
        return [f"{key}={one}" for key, one in value.items()]
    return several(value)


def options(**given: Any) -> List[str]:
    """Returns the options of a command: `True` is an option without a value, a list repeats it, and `None` and `False` leave it out."""
    arguments: List[str] = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, list):
            arguments += [f"{option}={one}" for one in value]
        elif value is not None and value is not False:
            arguments.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return arguments


def targets(what: Sequence[PathLike]) -> List[str]:
    """Returns names and paths as arguments. A path object always names a path, and so gets a separator."""
    words = []
    for one in what:
        word = os.fspath(one)
        is_path = not isinstance(one, str)
        words.append(os.path.join(os.curdir, word) if is_path and not os.path.dirname(word) else word)
    return ["--", *words] if words else []


def common(results: Optional[Paths], config: Optional[PathLike], cache: Optional[PathLike], strict: bool = False) -> List[str]:
    """Returns the options of every command."""
    return options(results=several(results), config=config, cache=cache, strict=strict)


def selection(
    suite: Optional[Names],
    approach: Optional[Names],
    model: Optional[Names],
    tag: Optional[Pairs],
    since: Optional[str],
    batch: Optional[str],
) -> List[str]:
    """Returns the options that select runs."""
    # The program splits approaches at commas.
    return options(
        suite=several(suite), approach=several(approach), model=several(model), tag=pairs(tag), since=since, batch=batch
    )


def evidence(margin: Optional[Pairs], alpha: Optional[float], cluster: Optional[str], design: Optional[str]) -> List[str]:
    """Returns the options of the tests."""
    return options(margin=pairs(margin), alpha=alpha, cluster=cluster, design=design)


def answer(kind: "type[AnAnswer]", output: Output) -> AnAnswer:
    """Reads what the program printed in the format `full`."""
    document = document_of(output)
    return kind(document["answer"], document["table"], document["markdown"], output.exit_code, output.messages)


def document_of(output: Output) -> Dict[str, Any]:
    try:
        document = json.loads(output.text)
        return cast(Dict[str, Any], document) if "answer" in document else _not_ours(output)
    except (ValueError, TypeError):
        return _not_ours(output)


def _not_ours(output: Output) -> Dict[str, Any]:
    raise Error("evalreport gave no answer", None, output.messages, output.exit_code)


def compare(
    *what: PathLike,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    files: Optional[Paths] = None,
    baseline: Optional[PathLike] = None,
    newest_batch: bool = False,
    explain: bool = False,
    flips: bool = False,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Comparisons:
    """Compares arms on each suite: difference, interval, verdict and decision.

    Args:
        what: Suites, run ids, or paths to other tools' results, which are read where they are. Without any, every suite with two arms.
        results: The store, or several, of which the first is written to. Without it, `results` beside the configuration.
        suite, approach, model, tag, since, batch: Only these runs. `since` is a day or a time, such as `"2026-01-31"`.
        files: Result files to compare instead of stored runs.
        baseline: What to compare each arm with: a store, bundle, result file, run, `"last:K"`, `"tag KEY=VALUE"` or git revision.
        newest_batch: Only each arm's newest batch.
        explain: The table has the methods, plans and flips too.
        flips: The answer lists the items that only one of two arms passed.
        margin: The largest unimportant difference by metric, such as `{"pass_rate": "2pp", "cost_usd": "10%"}`.
        alpha: The significance level, 0.05 without it.
        cluster: `"cluster"` or `"none"`: the dependence of items.
        design: `"items"`, `"clusters"` or `"runs"`: the unit of sampling.
        config: The configuration file.
        cache: The cache folder.
        strict: Refuse unreadable files, contradicting runs and arms that were not measured alike.

    Raises:
        Error: There is nothing to compare, or an argument is wrong.
    """
    arguments = [
        "compare",
        "--format=full",
        *common(results, config, cache, strict),
        *selection(suite, approach, model, tag, since, batch),
        *evidence(margin, alpha, cluster, design),
        *options(baseline=baseline, newest_batch=newest_batch, explain=explain, flips=flips),
        *[f"--files={file}" for file in several(files)],
        *targets(what),
    ]
    return answer(Comparisons, call(arguments))


def leaderboard(
    *what: PathLike,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    sort: Optional[str] = None,
    overall: Optional[str] = None,
    resample: bool = False,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Leaderboard:
    """Ranks the arms of each suite.

    Args:
        what: Suites, or paths to other tools' results. Without any, all suites.
        sort: The order of the arms: `"primary"`, `"pass-rate"`, `"cost"`, `"cost-per-solved"`, `"tokens"`, `"duration"`, `"approach"` or
            `"model"`.
        overall: One board over all suites: `"macro"`, the mean of suites, or `"micro"`, all items together.
        resample: Also how often each arm is first in resampled items.

    The other arguments are those of `compare`.

    Raises:
        Error: There are no runs, or an argument is wrong.
    """
    arguments = [
        "leaderboard",
        "--format=full",
        *common(results, config, cache, strict),
        *selection(suite, approach, model, tag, since, batch),
        *evidence(margin, alpha, cluster, design),
        *options(sort=sort, overall=overall, resample=resample),
        *targets(what),
    ]
    return answer(Leaderboard, call(arguments))


def _gate(
    instead: List[str],
    what: Sequence[PathLike],
    baseline: Optional[PathLike],
    results: Optional[Paths],
    selected: List[str],
    rules: List[str],
    tests: List[str],
    places: List[str],
    newest_batch: bool,
) -> Output:
    arguments = ["gate", "--format=full", *instead, *options(baseline=baseline, results=several(results), newest_batch=newest_batch)]
    return call([*arguments, *selected, *rules, *tests, *places, *targets(what)])


def gate(
    *what: PathLike,
    baseline: Optional[PathLike] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    metric: Optional[str] = None,
    max_drop: Optional[str] = None,
    max_rise: Optional[str] = None,
    max_cost: Optional[str] = None,
    must_pass: Optional[Names] = None,
    no_new_failures: bool = False,
    on_inconclusive: Optional[str] = None,
    junit: Optional[PathLike] = None,
    newest_batch: bool = False,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Gate:
    """Checks whether new runs are worse than the rules allow.

    A regression and an inconclusive result are answers, not errors: see `Gate.passed`.

    Args:
        what: Suites, or paths to other tools' results, which are then the only new runs.
        baseline: A store, bundle, result file, run, `"last:K"`, `"tag KEY=VALUE"` or git revision.
        metric: The metric of `max_drop` and `max_rise`, `"pass_rate"` without it.
        max_drop, max_rise: The largest allowed change: `"2pp"` for rates, `"10%"` for time, tokens and money.
        max_cost: The largest allowed rise of the cost, such as `"+10%"`.
        must_pass: Items that must pass. `*` stands for any text.
        no_new_failures: No item may fail that always passed in the baseline.
        on_inconclusive: `"fail"` or `"pass"`: the exit code then is 1 or 0 instead of 3. `Gate.passed` stays `None`.
        junit: A file for the checks as JUnit XML.

    The other arguments are those of `compare`.

    Raises:
        Error: There is no rule or no new run, or an argument is wrong.
    """
    rules = options(
        metric=metric,
        max_drop=max_drop,
        max_rise=max_rise,
        max_cost=max_cost,
        must_pass=several(must_pass),
        no_new_failures=no_new_failures,
        on_inconclusive=on_inconclusive,
        junit=junit,
    )
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(None, config, cache, strict)
    return answer(Gate, _gate([], what, baseline, results, selected, rules, tests, places, newest_batch))


def gate_plan(
    *what: PathLike,
    baseline: Optional[PathLike] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    max_drop: Optional[str] = None,
    no_new_failures: bool = False,
    newest_batch: bool = False,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> GatePlan:
    """Estimates how often the rules of a gate raise false alarms, and detect drops of 2, 5 and 10 percentage points.

    The arguments are those of `gate`.

    Raises:
        Error: No rule is about a pass rate, or an argument is wrong.
    """
    rules = options(max_drop=max_drop, no_new_failures=no_new_failures)
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(None, config, cache, strict)
    return answer(GatePlan, _gate(["--plan"], what, baseline, results, selected, rules, tests, places, newest_batch))


def gate_decide(
    *what: PathLike,
    baseline: Optional[PathLike] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    newest_batch: bool = False,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> GateDecision:
    """Decides between new runs and a baseline by quality, cost and time.

    The arguments are those of `gate`.

    Raises:
        Error: There is no new run, or an argument is wrong.
    """
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(None, config, cache, strict)
    return answer(GateDecision, _gate(["--decide"], what, baseline, results, selected, [], tests, places, newest_batch))


def run(
    *what: str,
    approach: Optional[Names] = None,
    agent: Optional[Names] = None,
    model: Optional[Names] = None,
    runs: int = 1,
    resume: Union[bool, str] = False,
    until: Optional[str] = None,
    max_runs: Optional[int] = None,
    seed: Optional[int] = None,
    shuffle: bool = False,
    tag: Optional[Pairs] = None,
    jobs: Optional[int] = None,
    fail_under: Optional[float] = None,
    no_output: bool = False,
    no_isolation: bool = False,
    exclusive: bool = False,
    scratch: Optional[PathLike] = None,
    site: Optional[PathLike] = None,
    summary: Optional[PathLike] = None,
    results: Optional[Paths] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
    quiet: bool = False,
) -> Union[Comparisons, Leaderboard]:
    """Runs suites or configured tasks, stores the results, and returns what came of them.

    Progress appears on `sys.stderr`. Ctrl-C keeps finished work, and `resume=True` goes on.

    Args:
        what: Suites, configured tasks, or tasks with another agent (`"task@agent"`). Without any, every configured task.
        approach, agent, model: Several make several arms.
        runs: Fresh runs of each arm.
        resume: `True` for the newest unfinished batch, or a batch id.
        until: `"decided"`, or `"ci:5pp"` to repeat until each pass rate is known that well.
        max_runs: With `until`, the largest number of runs for each arm.
        seed: The source of all seeds.
        shuffle: Shuffle the choices of questions.
        tag: Tags for every run.
        jobs: Parallel jobs.
        fail_under: The exit code is 1 if a pass rate is below this percentage.
        no_output: Store no generated files.
        no_isolation: Let approaches access everything.
        exclusive: Refuse to start beside another `run`.
        scratch: A folder for workspaces.
        site: A folder for the static site.
        summary: A file to append the comparison to, as Markdown.
        quiet: No progress.

    Returns:
        A comparison of the arms, or a leaderboard if there is one arm or one for each suite.

    Raises:
        Error: There is nothing to run, or an argument is wrong.
    """
    arguments = [
        "run",
        "--format=full",
        *common(results, config, cache, strict),
        *options(approach=several(approach), agent=several(agent), model=several(model), tag=pairs(tag)),
        *options(runs=runs if runs != 1 else None, resume=resume or None, until=until, max_runs=max_runs, seed=seed, shuffle=shuffle),
        *options(jobs=jobs, fail_under=fail_under, no_output=no_output, no_isolation=no_isolation, exclusive=exclusive),
        *options(scratch=scratch, site=site, summary=summary, quiet=quiet),
        *targets(what),
    ]
    output = call(arguments, echo=not quiet)
    is_comparison = "comparisons" in document_of(output)["answer"]
    return answer(Comparisons, output) if is_comparison else answer(Leaderboard, output)
