#!/usr/bin/env python3
"""Disturbs every command that writes, and those that read through the cache, and looks for what was lost, doubled, wrong or pretended.

    cargo build && python3 benches/faults                      # 3,000 kills and 5,000 faults
    python3 benches/faults --kills 60 --faults 100             # a sample
    python3 benches/faults --command judge                     # of one command
    python3 benches/faults --only 'judge/fsync:3:EIO' --keep d # one case, and its folder
    python3 benches/faults --self-test                         # whether damage would be noticed

Each command runs once undisturbed under strace, which gives its system calls on files of the project; then again and again on a fresh copy
of the same project, killed at one of these calls, or with one of them refused, or from one on, or with files that may not grow or few
descriptors. After each: what was in the store is as it was; every outcome that was decided is there once; a command that exited as if
nothing had happened has its whole effect; the cache changes no answer; the same command, or `run --resume`, brings the undisturbed result;
and `doctor` finds no damage. Exits with 1 if anything else was seen, and says how to see it again. Needs strace and git.
"""

import argparse
import concurrent.futures
import json
import os
import queue
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True

import self_test
import tracing
from checks import DOUBLED, FALSE, KINDS, LOST, STARVED, STUCK, WRONG, Place, differences, json_lines, kept, said, short, tree, viewed
from scenarios import RESUME, SCENARIOS
from tracing import FILES, Point


@dataclass
class Truth:
    """What an undisturbed command says and leaves, and the project that it began with."""

    template: Path
    code: int
    stdout: str
    store: dict
    view: dict
    writes: dict
    old: set


@dataclass
class Case:
    scenario: object
    point: Point
    ended: object = None
    violations: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.scenario.name}/{self.point}"


def learn(scenario, binary, folder):
    """The truth of a scenario, found twice so that what varies by itself is not taken for damage, and where it can be disturbed."""
    place = Place(folder / "place", binary)
    scenario.setup(place)
    template = folder / "template"
    shutil.copytree(place.project, template, symlinks=True)
    old = {path.stem for path in (template / "results").glob("*.json")}
    truths = []
    for _ in range(2):
        begin(place, scenario, template)
        lengths = {path: path.stat().st_size for path in place.files()}
        ended = tracing.run(place, [binary, *scenario.arguments], said=scenario.said)
        writes = {name: tree(place.project / name) for name in scenario.writes}
        store, doubled = kept(place, old)
        assert not doubled, f"{scenario.name}: {doubled}"
        _, view = viewed(place, old, None)
        truths.append(Truth(template, ended.code, said(place, scenario.answer(ended.stdout)), store, view, writes, old))
    for part in ("code", "store", "view", "writes") + (("stdout",) if scenario.answers else ()):
        first, second = (getattr(truth, part) for truth in truths)
        assert first == second, f"{scenario.name} varies in its {part}: {differences(first, second)}\n{ended.stderr}"
    points = tracing.limits(place, lengths, not scenario.starts)
    begin(place, scenario, template)
    traced, called = tracing.points(place, [binary, *scenario.arguments], scenario.said)
    assert traced.code == truths[0].code, f"{scenario.name} under strace: exit {traced.code}: {traced.stderr}"
    # Words of the program that are no longer those of the scenario would look like damage, in the few cases that need them.
    stuck = []
    go_on(place, scenario, truths[0], None, lambda _, words: stuck.append(words))
    assert not stuck, f"{scenario.name}, after it is done: {stuck}"
    return truths[0], called + points


def begin(place, scenario, template):
    place.remake(template)
    for arguments in scenario.before:
        place.program(*arguments)


def attempt(place, scenario, truth, point, harm=None):
    """One case: disturbed, looked at, gone on with, and looked at again. `harm` is done to the store on purpose."""
    case = Case(scenario, point)
    begin(place, scenario, truth.template)
    before = place.plans()
    case.ended = tracing.run(place, [place.binary, *scenario.arguments], point, scenario.said)
    if harm:
        harm(place)
    if case.ended.is_met:
        examine(place, case, truth, before)
    return case


def examine(place, case, truth, before):
    scenario, ended = case.scenario, case.ended
    found = lambda kind, words: case.violations.append((kind, short(words)))
    is_starved = case.point and (case.point.call in ("clone3", "clone") or case.point.how == FILES)
    ended_badly = STARVED if is_starved else STUCK
    if ended.is_hung:
        found(ended_badly, f"it did not end within {tracing.SECONDS} s")
    if "panicked at" in ended.stderr or ended.code in (101, -6, -11, 134, 139):
        found(ended_badly, f"it crashed with {ended.code}: {ended.stderr[-300:]}")
    is_done = ended.code == truth.code
    is_failed = ended.code < 0 or ended.code in scenario.codes or ended.code == 127 or case.point and case.point.how == FILES and ended.code > 2
    if not is_done and not is_failed and ended.code != 101:
        found(FALSE if ended.code == 0 else WRONG, f"exit {ended.code} and not {truth.code}: {ended.stderr[-300:]}")
    is_undone = not is_done or ended.code in scenario.codes and ended.code != 0 and "error" in ended.stderr
    store, doubled = kept(place, truth.old)
    for what in doubled:
        found(DOUBLED, what)
    if is_done and not is_undone:
        is_told = scenario.warns and ("cannot" in ended.stderr or "warning" in ended.stderr)
        for difference in differences(truth.store, store, scenario.instead):
            found(FALSE, f"exit {ended.code}, and {difference}")
        if not is_told:
            if scenario.answers and said(place, scenario.answer(ended.stdout)) != truth.stdout:
                found(FALSE, f"exit {ended.code}, and another answer: {ended.stdout[-200:]} {ended.stderr[-200:]}")
            for name, content in truth.writes.items():
                for difference in differences(content, tree(place.project / name)):
                    found(FALSE, f"exit {ended.code}, and {name}{difference} {ended.stderr[-200:]}")
        for name in scenario.leaves:
            if not (place.project / name).exists():
                found(FALSE, f"exit {ended.code}, and no {name}")
    decided = acknowledged(place)
    agree(place, truth, found)
    looked = place.program("doctor", "--verify", code=None)
    # Damage may be there until one goes on, but then it is named.
    if not is_absent(place, looked) and (looked.returncode not in (0, 1) or looked.returncode == 1 and "results/" not in looked.stdout):
        found(STUCK, f"doctor: exit {looked.returncode}: {looked.stdout}{looked.stderr}")
    if is_undone:
        go_on(place, scenario, truth, before, found)
    old_files(place, scenario, truth, found)
    for path, lines in decided.items():
        have = Counter(json.dumps(line, sort_keys=True) for line in json_lines(path))
        for line in lines:
            if have[json.dumps(line, sort_keys=True)] != 1:
                found(LOST if not have[json.dumps(line, sort_keys=True)] else DOUBLED, f"{path.parent.name}: {line}")
    store, doubled = kept(place, truth.old)
    for what in doubled:
        found(DOUBLED, f"{what}, after going on")
    for difference in differences(truth.store, store, scenario.instead):
        found(LOST if "missing" in difference else WRONG, f"after going on {difference}")
    if is_undone:
        for name, content in truth.writes.items():
            for difference in differences(content, tree(place.project / name)):
                found(WRONG, f"after going on {name}{difference}")
    cold, view = agree(place, truth, found)
    if view is None:
        found(STUCK, f"no export after going on: {cold[0]}")
    for difference in differences(truth.view, view or truth.view, scenario.instead):
        found(WRONG, f"shown after going on: {difference}")
    looked = place.program("doctor", "--verify", code=None)
    is_whole = looked.returncode == 0 and ("no damage found" in looked.stdout or "no runs" in looked.stdout)
    if not is_whole and not is_absent(place, looked):
        found(STUCK, f"doctor afterwards: exit {looked.returncode}: {looked.stdout}{looked.stderr}")


def is_absent(place, looked):
    """Whether there are no results to look at, as before the first run, and `doctor` says so."""
    return not place.results.exists() and looked.returncode == 2 and "no such file or folder" in looked.stderr


def agree(place, truth, found):
    """The same answers with the cache that there is, and with none. Returns those of the latter."""
    warm, _ = viewed(place, truth.old, None)
    shutil.rmtree(place.root / "cold", ignore_errors=True)
    cold, view = viewed(place, truth.old, "cold")
    for first, second, what in zip(warm, cold, ("export", "leaderboard")):
        if first != second:
            found(WRONG, f"another {what} from the cache: {first[:300]} and not {second[:300]}")
    return cold, view


def acknowledged(place):
    """The outcomes of questions that are on disk, by file."""
    lines = {}
    for path in place.results.glob("*/items.jsonl"):
        decided = [line for line in json_lines(path) if line.get("kind") == "question"]
        if decided:
            lines[path] = decided
    return lines


def go_on(place, scenario, truth, before, found):
    again = scenario.again or scenario.arguments
    if callable(again):
        ended = again(place)
        return went_on(scenario, truth, ended, found)
    # A batch that was never begun cannot be resumed.
    if "--resume" in again and place.plans() == before and scenario.arguments != RESUME:
        again = scenario.arguments
    went_on(scenario, truth, place.program(*again, code=None), found)


def went_on(scenario, truth, ended, found):
    is_over = scenario.over in ended.stderr
    if ended.returncode != truth.code and not is_over:
        found(STUCK, f"going on: exit {ended.returncode}: {ended.stdout[-200:]}{ended.stderr[-300:]}")


def old_files(place, scenario, truth, found):
    """What was there is as it was, but for what the command is there to write."""
    for path in truth.template.rglob("*"):
        name = path.relative_to(truth.template)
        if not path.is_file() or path.is_symlink() or ".git" in name.parts or name.name.startswith("."):
            continue
        if name.parts[0] in scenario.writes or any(part in scenario.replaces for part in name.parts):
            continue
        if name.parts[0] == "results" and len(name.parts) > 2 and name.parts[1] not in truth.old and name.parts[1] not in ("imports", "batches"):
            continue
        now = place.project / name
        if not now.exists():
            found(LOST, f"{name} is gone")
        elif name.name in scenario.appends or name.name.endswith(".commits.jsonl"):
            if not now.read_bytes().startswith(path.read_bytes()):
                found(LOST, f"{name} does not begin as it was")
        elif now.read_bytes() != path.read_bytes():
            found(LOST, f"{name} is changed")


def sample(points, kills, faults, seed):
    """So many kills and faults of all scenarios, as evenly as they allow."""
    chosen = []
    for wanted, is_kill in ((kills, True), (faults, False)):
        numbers = random.Random(seed)
        waiting = []
        for name in points:
            own = [point for point in points[name] if point.is_kill == is_kill]
            numbers.shuffle(own)
            waiting.append((name, own))
        while wanted > 0 and any(own for _, own in waiting):
            for name, own in waiting:
                if own and wanted > 0:
                    chosen.append((name, own.pop()))
                    wanted -= 1
    # So that whoever stops early has seen some of everything.
    random.Random(seed).shuffle(chosen)
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/debug/evalreport", help="the program to disturb")
    parser.add_argument("--kills", type=int, default=3000, help="so many kills")
    parser.add_argument("--faults", type=int, default=5000, help="so many refused calls")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so long")
    parser.add_argument("--seed", type=int, default=20261123, help="what the sample is drawn from")
    parser.add_argument("--command", action="append", help="only scenarios whose name begins so")
    parser.add_argument("--only", help="one case, as a violation names it: SCENARIO/CALL:NUMBER:HOW")
    parser.add_argument("--keep", type=Path, help="with --only: leave the project in this folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many cases at a time")
    parser.add_argument("--work", default="/dev/shm" if os.access("/dev/shm", os.W_OK) else None, help="where projects are made")
    parser.add_argument("--self-test", action="store_true", help="harm stores on purpose; fail where that is not noticed")
    options = parser.parse_args()
    binary = Path(options.binary).resolve()
    if not binary.exists():
        raise SystemExit(f"there is no {binary}: cargo build")
    if not tracing.works():
        raise SystemExit("strace is not installed, or may not trace here")
    with tempfile.TemporaryDirectory(prefix="faults-", dir=options.work) as work:
        if options.self_test:
            return self_test.run(sys.modules[__name__], binary, Path(work))
        return campaign(options, binary, Path(work))


def campaign(options, binary, work):
    begun = time.monotonic()
    only = Point.parse(options.only.rsplit("/", 1)[1]) if options.only else None
    wanted = [options.only.rsplit("/", 1)[0]] if options.only else options.command
    scenarios = {s.name: s for s in SCENARIOS if not wanted or any(s.name == name or not only and s.name.startswith(name) for name in wanted)}
    if not scenarios:
        raise SystemExit(f"no scenario begins so; there are: {', '.join(scenario.name for scenario in SCENARIOS)}")
    places = queue.SimpleQueue()
    for number in range(options.jobs):
        places.put(Place(work / f"place-{number}", binary))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        learnt = pool.map(lambda s: (s.name, learn(s, binary, work / f"of-{s.name.replace(' ', '_')}")), scenarios.values())
        truths, points = {}, {}
        for name, (truth, found) in learnt:
            truths[name], points[name] = truth, found
        if only:
            chosen = [(next(iter(scenarios)), only)]
        else:
            chosen = sample(points, options.kills, options.faults, options.seed)
        total = Counter(point.is_kill for found in points.values() for point in found)
        print(f"{len(scenarios)} scenarios, {total[True]} points to kill at, {total[False]} to refuse at; {len(chosen)} are visited", file=sys.stderr)

        def go(choice):
            name, point = choice
            if time.monotonic() - begun > options.seconds:
                return None
            place = places.get()
            try:
                case = attempt(place, scenarios[name], truths[name], point)
                if options.keep:
                    shutil.copytree(place.root, options.keep, symlinks=True)
                return case
            finally:
                places.put(place)

        cases = []
        for case in filter(None, pool.map(go, chosen)):
            cases.append(case)
            if case.violations or only:
                tell(case, options)
            if len(cases) % 500 == 0:
                print(f"{len(cases)} cases, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    report(cases)
    count = sum(any(kind != STARVED for kind, _ in case.violations) for case in cases)
    print(f"\n{len(cases)} cases in {time.monotonic() - begun:.0f} s, seed {options.seed}; {count} with violations")
    return 1 if count else 0


def tell(case, options):
    print(f"{case.name}: exit {case.ended.code} at {case.ended.call or 'a limit'}", file=sys.stderr)
    for kind, words in case.violations:
        print(f"    {kind}: {words}", file=sys.stderr)
    if case.violations:
        print(f"    again: python3 benches/faults --binary {options.binary} --only '{case.name}' --keep FOLDER", file=sys.stderr, flush=True)


def report(cases):
    table("command", cases, lambda case: case.scenario.command)
    print()
    table("disturbance", cases, kind_of)


def kind_of(case):
    how = case.point.how
    if how == "TORN":
        return "killed in the middle of a write"
    if how == "KILL":
        return f"killed at `{case.point.call}`"
    if how == "SHORT":
        return "short write, then EFBIG"
    if how == "FILES":
        return "few descriptors"
    return f"{how.rstrip('+')} {'from a call on' if how.endswith('+') else 'once'}"


def table(title, cases, group):
    print(f"| {title} | kills | faults | {' | '.join(KINDS)} |")
    print("| --- |" + " --: |" * (2 + len(KINDS)))
    groups = {}
    for case in cases:
        groups.setdefault(group(case), []).append(case)
    for name, own in [*sorted(groups.items()), ("all", cases)]:
        met = [case for case in own if case.ended.is_met]
        kills = sum(case.point.is_kill for case in met)
        counts = [sum(any(kind == found for found, _ in case.violations) for case in own) for kind in KINDS]
        print(f"| {name} | {kills:,} | {len(met) - kills:,} | {' | '.join(str(count) for count in counts)} |")


if __name__ == "__main__":
    sys.exit(main())
