"""The commands that answer questions about results."""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._answers import AnAnswer, Answer, Comparisons, Gate, GateDecision, GatePlan, Leaderboard, Records, Site, answer, document_of
from ._arguments import Names, Pairs, PathLike, Paths, common, evidence, options, pairs, selection, several, text
from ._binary import call
from ._tables import sources

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import Columns, Source


def _ask(
    kind: "type[AnAnswer]",
    arguments: List[str],
    what: "Sequence[Source]",
    columns: Mapping[str, Any],
    baseline: "Optional[Source]",
    cache: Optional[PathLike],
) -> AnAnswer:
    with sources(what, columns, _FUNCTIONS[kind], baseline, cache) as seen:
        return answer(kind, seen.call(arguments), seen.translation)


def compare(
    *what: "Source",
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    files: Optional[Paths] = None,
    baseline: "Optional[Source]" = None,
    against: Optional[str] = None,
    newest_batch: bool = False,
    explain: bool = False,
    flips: bool = False,
    by: Optional[str] = None,
    margin: Optional[Pairs] = None,
    alpha: Optional[float] = None,
    cluster: Optional[str] = None,
    design: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
    **columns: "Unpack[Columns]",
) -> Comparisons:
    """Compares arms on each suite: difference, interval, verdict and decision.

    Args:
        what: Suites, run ids, or paths to other tools' results, which are read where they are. Without any, every suite with two arms.
            Or a table: a data frame of pandas, polars or Arrow, rows as dictionaries, or lists by column, with a row for each outcome. Several
            tables have the names of their arms: `{"before": old, "after": new}`.
        results: The store, or several, of which the first is written to. Without it, `results` beside the configuration.
        suite, approach, model, tag, since, batch: Only these runs. `since` is a day or a time, such as `"2026-01-31"`.
        files: Result files to compare instead of stored runs.
        baseline: What to compare each arm with: a store, bundle, result file, run, `"last:K"`, `"tag KEY=VALUE"`, git revision or table.
        against: Compare all other arms with this one, by its name in the table, its approach or its model.
        newest_batch: Only each arm's newest batch.
        explain: The table has the methods, plans and flips too.
        flips: The answer lists the items that only one of two arms passed.
        by: `"category"`: the table has pass rates by category of item too.
        margin: The largest unimportant difference by metric, such as `{"pass_rate": "2pp", "cost_usd": "10%"}`.
        alpha: The significance level, 0.05 without it.
        cluster: `"cluster"` or `"none"`: the dependence of items.
        design: `"items"`, `"clusters"` or `"runs"`: the unit of sampling.
        config: The configuration file.
        cache: The cache folder.
        strict: Refuse unreadable files, contradicting runs and arms that were not measured alike.
        columns: What the columns of tables and files mean, if their names do not say it. `arm` (of tables only), `item`, `passed`, `score`,
            `attempt` and `evaluator` name a column. `direction` is `"up"` or `"down"`, the better end of a score. `value` gives words their
            meaning, as in `{"partial": "fail"}`. `wide` is `"approaches"`, `"items"`, `"suites"` or `"attempts"`, of columns side by side.
            `set` gives fields to all rows, as in `{"suite": "quiz"}`. `decimal`, `sheet` and `list` are for files.

    Raises:
        Error: There is nothing to compare, or an argument is wrong. It names the argument, and of a table row and column.
        TypeError: An argument has a type that it cannot have.
    """
    arguments = [
        "compare",
        "--format=full",
        *common(results, config, None, strict),
        *selection(suite, approach, model, tag, since, batch),
        *evidence(margin, alpha, cluster, design),
        *options(against=against, newest_batch=newest_batch, explain=explain, flips=flips, by=by, files=several("files", files)),
    ]
    return _ask(Comparisons, arguments, what, columns, baseline, cache)


def leaderboard(
    *what: "Source",
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
    **columns: "Unpack[Columns]",
) -> Leaderboard:
    """Ranks the arms of each suite.

    Args:
        what: Suites, paths to other tools' results, or a table. Without any, all suites.
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
        *common(results, config, None, strict),
        *selection(suite, approach, model, tag, since, batch),
        *evidence(margin, alpha, cluster, design),
        *options(sort=sort, overall=overall, resample=resample),
    ]
    return _ask(Leaderboard, arguments, what, columns, None, cache)


def gate(
    *what: "Source",
    baseline: "Optional[Source]" = None,
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
    **columns: "Unpack[Columns]",
) -> Gate:
    """Checks whether new runs are worse than the rules allow.

    A regression and an inconclusive result are answers, not errors: see `Gate.passed`.

    Args:
        what: Suites, or paths to other tools' results, or a table. Paths and tables are then the only new runs.
        baseline: A store, bundle, result file, run, `"last:K"`, `"tag KEY=VALUE"`, git revision or table.
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
        must_pass=several("must_pass", must_pass),
        no_new_failures=no_new_failures,
        on_inconclusive=on_inconclusive,
        junit=junit,
    )
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(results, config, None, strict)
    arguments = ["gate", "--format=full", *selected, *rules, *tests, *places, *options(newest_batch=newest_batch)]
    return _ask(Gate, arguments, what, columns, baseline, cache)


def gate_plan(
    *what: "Source",
    baseline: "Optional[Source]" = None,
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
    **columns: "Unpack[Columns]",
) -> GatePlan:
    """Estimates how often the rules of a gate raise false alarms, and detect drops of 2, 5 and 10 percentage points.

    The arguments are those of `gate`.

    Raises:
        Error: No rule is about a pass rate, or an argument is wrong.
    """
    rules = options(max_drop=max_drop, no_new_failures=no_new_failures)
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(results, config, None, strict)
    arguments = ["gate", "--format=full", "--plan", *selected, *rules, *tests, *places, *options(newest_batch=newest_batch)]
    return _ask(GatePlan, arguments, what, columns, baseline, cache)


def gate_decide(
    *what: "Source",
    baseline: "Optional[Source]" = None,
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
    **columns: "Unpack[Columns]",
) -> GateDecision:
    """Decides between new runs and a baseline by quality, cost and time.

    The arguments are those of `gate`.

    Raises:
        Error: There is no new run, or an argument is wrong.
    """
    selected = selection(suite, approach, model, tag, since, batch)
    tests = evidence(margin, alpha, cluster, design)
    places = common(results, config, None, strict)
    arguments = ["gate", "--format=full", "--decide", *selected, *tests, *places, *options(newest_batch=newest_batch)]
    return _ask(GateDecision, arguments, what, columns, baseline, cache)


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
        *options(approach=several("approach", approach), agent=several("agent", agent), model=several("model", model), tag=pairs("tag", tag)),
        *options(runs=runs if runs != 1 else None, resume=resume or None, until=until, max_runs=max_runs, seed=seed, shuffle=shuffle),
        *options(jobs=jobs, fail_under=fail_under, no_output=no_output, no_isolation=no_isolation, exclusive=exclusive),
        *options(scratch=scratch, site=site, summary=summary, quiet=quiet),
        *(["--", *(text(f"argument {place + 1}", one) for place, one in enumerate(what))] if what else []),
    ]
    output = call(arguments, echo=not quiet)
    is_comparison = "comparisons" in document_of(output)["answer"]
    return answer(Comparisons, output) if is_comparison else answer(Leaderboard, output)


def build(
    *what: "Source",
    out: Optional[PathLike] = None,
    single_file: Optional[PathLike] = None,
    allow_empty: bool = False,
    without_results: bool = False,
    base_url: Optional[str] = None,
    noindex: bool = False,
    redact: bool = False,
    transcripts: Optional[str] = None,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
    **columns: "Unpack[Columns]",
) -> Site:
    """Writes the static site.

    Args:
        what: Paths to other tools' results, or a table, to show beside the stored runs.
        out: The folder of the site: empty, new, or an earlier site. `"site"` without it.
        single_file: One HTML file instead of a folder.
        allow_empty: Replace a site that shows runs by one without any.
        without_results: Leave out the results file that `import` reads back.
        base_url: The address of the published site.
        noindex: Ask search engines not to list the site.
        redact: Remove keys, tokens, passwords, e-mail addresses and user names from every text.
        transcripts: `"usual"`, `"all"`, `"failing"`, `"disagreeing"`, `"none"` or `"budget:SIZE"`.

    The other arguments are those of `compare`.

    Raises:
        Error: There are no runs, the folder holds something else, or an argument is wrong.
    """
    arguments = [
        "build",
        *common(results, config, None, strict),
        *selection(suite, approach, model, tag, since, batch),
        *options(out=out, single_file=single_file, allow_empty=allow_empty, without_results=without_results, base_url=base_url),
        *options(noindex=noindex, redact=redact, transcripts=transcripts),
    ]
    with sources(what, columns, build, None, cache, reads_store=True) as seen:
        output = seen.call(arguments)
    path = Path(single_file) if single_file is not None else Path(out if out is not None else "site", "index.html")
    return Site(path, output.messages)


def records(
    *,
    results: Optional[Paths] = None,
    suite: Optional[Names] = None,
    approach: Optional[Names] = None,
    model: Optional[Names] = None,
    tag: Optional[Pairs] = None,
    since: Optional[str] = None,
    batch: Optional[str] = None,
    config: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    strict: bool = False,
) -> Records:
    """Returns runs and their outcomes as dictionaries, with questions, answers and reasons. What was not measured is absent.

    Args:
        suite, approach, model, tag, since, batch: Only these runs.

    Raises:
        Error: No run matches, or an argument is wrong.
    """
    arguments = [*common(results, config, cache, strict), *selection(suite, approach, model, tag, since, batch)]
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        target = os.path.join(folder, "records.json")
        call(["export", *arguments, "--", "json", target])
        with open(target, encoding="utf-8") as file:
            return Records(json.load(file, parse_constant=lambda _: None))


_FUNCTIONS: "Dict[type[Answer], Callable[..., Answer]]" = {
    Comparisons: compare,
    Leaderboard: leaderboard,
    Gate: gate,
    GatePlan: gate_plan,
    GateDecision: gate_decide,
}
