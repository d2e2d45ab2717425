#!/usr/bin/env python3
"""False winners, power and errors of the sign of evalreport and three Python packages, on the same made worlds.

    python3 benches/against_stats.py --binary target/release/evalreport [--worlds 1000] [--only WORDS]

It needs numpy, pandas and evalsig 0.1.2, truescore 0.7.4 and evalstats 0.3.3 from the package index. Each peer is called as its documentation
says for the data at hand: its automatic method, with clusters where it takes them (evalstats takes none and gets cluster means, which its users
would give it). evalreport gets a table of all worlds, each a suite of its own, and answers `compare --format json`. Of judged worlds the truth
is what people would say: they labelled 60 of 300 items, chosen at random. evalsig corrects no judge and gets the labelled items alone.

Prints a Markdown table. A cell is the share of worlds with a winner at the two-sided level 5%, in percent; of equal arms each of them is false.
With 1,000 worlds, 5% is known to ± 0.7, 50% to ± 1.6. A dash says that a peer gives no answer.
"""

import argparse
import csv
import json
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import evalsig
import evalstats
import numpy as np
import pandas
import truescore.compare

ALPHA = 0.05


def chance(ease):
    return 1 / (1 + np.exp(-ease))


class World(NamedTuple):
    """Outcomes by arm, run and item. A cluster of each item, if there are clusters. Of a judged world, people's labels by arm and item, and
    which items they labelled."""

    arms: list
    code: np.ndarray | None = None
    labels: list | None = None
    labelled: np.ndarray | None = None


def items(n, better=0.0, ease=0.0, spread=1.5, runs=1, run_noise=0.0):
    """A world of independent items."""

    def world(rng):
        logits = ease + spread * rng.standard_normal(n)
        arms = []
        for shift in (better / 2, -better / 2):
            noise = run_noise * rng.standard_normal((runs, 1))
            arms.append((rng.random((runs, n)) < chance(logits + shift + noise)).astype(int))
        return World(arms)

    return world


def clusters(sizes, better=0.0, between=0.7):
    """A world of clusters. Which arm is better differs by cluster, so that items of a cluster are no independent evidence."""

    def world(rng):
        code = np.repeat(np.arange(len(sizes)), sizes)
        ease = (1.0 * rng.standard_normal(len(sizes)))[code] + rng.standard_normal(len(code))
        tilt = better + (between * rng.standard_normal(len(sizes)))[code]
        arms = [(rng.random((1, len(code))) < chance(ease + sign * tilt / 2)).astype(int) for sign in (1, -1)]
        return World(arms, code)

    return world


def judged(false_passes, better=0.0, hits=0.92, n=300, labelled=60):
    """A world of a judge that passes some wrong answers, by arm, and `hits` of the right ones."""

    def world(rng):
        logits = 1.5 * rng.standard_normal(n)
        labels = [(rng.random(n) < chance(logits + sign * better / 2)).astype(int) for sign in (1, -1)]
        arms = [
            (rng.random(n) < np.where(truth == 1, hits, wrong)).astype(int)[np.newaxis]
            for truth, wrong in zip(labels, false_passes)
        ]
        return World(arms, labels=labels, labelled=np.sort(rng.choice(n, labelled, replace=False)))

    return world


WORLDS = [
    ("200 items, equal", items(200), True),
    ("200 items, better by 0.5", items(200, 0.5), False),
    ("30 items, equal", items(30), True),
    ("30 items, better by 1.5", items(30, 1.5), False),
    ("100 items at a ceiling of 97%, equal", items(100, ease=5.0), True),
    ("100 items at a ceiling of 97%, better by 3", items(100, 3.0, ease=4.0), False),
    ("50 items, 3 runs that vary, equal", items(50, runs=3, run_noise=0.5), True),
    ("50 items, 3 runs, equal", items(50, runs=3), True),
    ("50 items, 3 runs, better by 1", items(50, 1.0, runs=3), False),
    ("6 clusters of 10, equal", clusters([10] * 6), True),
    ("6 clusters of 10, better by 2", clusters([10] * 6, 2.0), False),
    ("5 clusters of 10, equal", clusters([10] * 5), True),
    ("15 clusters of 10, equal", clusters([10] * 15), True),
    ("15 clusters of 10, better by 1", clusters([10] * 15, 1.0), False),
    ("2 clusters of 38, equal", clusters([38] * 2), True),
    ("a judge that errs alike, equal", judged([0.15, 0.15]), True),
    ("a judge that likes one arm, equal", judged([0.35, 0.1]), True),
    ("a judge that errs alike, better by 1", judged([0.15, 0.15], 1.0), False),
    ("a judge that likes the worse arm, better by 1", judged([0.1, 0.35], 1.0), False),
]

def of_evalsig(world):
    arms, code, labels, labelled = world
    if labels is not None:
        arms = [label[labelled][np.newaxis] for label in labels]

    def frame(name, runs):
        found = [
            evalsig.ItemResult(item_id=f"q{place}", score=float(score), cluster_id=None if code is None else f"c{code[place]}", epoch=epoch)
            for epoch, run in enumerate(runs)
            for place, score in enumerate(run)
        ]
        return evalsig.RunFrame(run_id=name, model_id=name, task_id="t", metric_name="accuracy", items=found)

    found = evalsig.compare(frame("a", arms[0]), frame("b", arms[1]), cluster=None if code is None else "c", alpha=ALPHA)
    return -np.sign(found.delta) if found.significant else 0


def of_truescore(world):
    arms, code, labels, labelled = world
    means = [arm.mean(axis=0) for arm in arms]
    if labels is not None:
        found = truescore.compare.ppi_compare(*means, *(label[labelled] for label in labels), labelled, alpha=ALPHA)
    elif code is not None:
        found = truescore.compare.paired_bootstrap(*means, alpha=ALPHA, clusters=code)
    elif len(arms[0]) == 1:
        found = truescore.compare.mcnemar(arms[0][0], arms[1][0], alpha=ALPHA)
    else:
        found = truescore.compare.paired_bootstrap(*means, alpha=ALPHA)
    return np.sign(found.difference) if found.p_value < ALPHA else 0


def of_evalstats(world):
    arms, code, labels, labelled = world
    if labels is not None:
        rows = [
            (name, f"q{place}", float(runs[0][place]), float(label[place]) if place in labelled else np.nan)
            for name, runs, label in zip("ab", arms, labels)
            for place in range(len(label))
        ]
        data = evalstats.load_from(pandas.DataFrame(rows, columns=["model", "item", "judge", "person"]))
        trusted = evalstats.judge_alignment(data, llm_metric="judge", human_groundtruth="person")
        return winner_of_evalstats(evalstats.compare(data, factors="model", metric="judge", alignment={"judge": trusted}))
    rows = []
    for name, runs in zip("ab", arms):
        for number, run in enumerate(runs):
            scores = enumerate(run) if code is None else ((group, run[code == group].mean()) for group in np.unique(code))
            rows.extend((name, f"q{place}", number, score) for place, score in scores)
    table = pandas.DataFrame(rows, columns=["model", "item", "run", "score"])
    if len(arms[0]) == 1:
        table = table.drop(columns="run")
    return winner_of_evalstats(evalstats.compare(evalstats.load_from(table), factors="model"))


def winner_of_evalstats(found):
    [pair] = found.to_dict()["pairwise"]
    ahead = 1 if (pair["diff"] > 0) == (pair["a"] == "a") else -1
    return ahead if pair["significant"] else 0


PEERS = [("evalsig", of_evalsig), ("truescore", of_truescore), ("evalstats", of_evalstats)]


def header_of(world):
    checked = ["model", "run", "question", "passed"] + ["cluster"] * (world.code is not None)
    return checked if world.labels is None else ["model", "question", "passed", "judge"]


def rows_of(world):
    """Yields the world's rows of a table, under the names of `header_of`."""
    arms, code, labels, labelled = world
    for number, (name, runs) in enumerate(zip("ab", arms)):
        if labels is not None:
            yield from ([name, f"q{place}", passed, "referee"] for place, passed in enumerate(runs[0]))
            yield from ([name, f"q{place}", labels[number][place], "human"] for place in labelled)
            continue
        for run, outcomes in enumerate(runs):
            for place, passed in enumerate(outcomes):
                yield [name, run + 1, f"q{place}", passed] + ([] if code is None else [f"c{code[place]}"])


def ours(binary, worlds):
    """Returns the winner of each world: 1 for the first arm, -1 for the second, 0 for none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "worlds.csv")
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["suite", *header_of(worlds[0])])
            for number, world in enumerate(worlds):
                writer.writerows([f"w{number:06}", *row] for row in rows_of(world))
        for command in (["import", "worlds.csv", "--yes"], ["compare", "--format", "json"]):
            done = subprocess.run([binary, *command], cwd=folder, capture_output=True, text=True)
            if done.returncode > 1:
                raise SystemExit(done.stderr)
    found = {comparison["suite"]: winner_of(comparison) for comparison in json.loads(done.stdout)["comparisons"]}
    return [found[f"w{number:06}"] for number in range(len(worlds))]


def winner_of(comparison):
    [pair] = comparison["rows"][0]["evidence"]["pairs"]
    first = 1 if comparison["arms"][pair["first"]]["model"] == "a" else -1
    return {"a_wins": first, "b_wins": -first}.get(pair["verdict"], 0)


def percent(count, worlds):
    return f"{100 * count / worlds:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--only", default="", help="only worlds whose name has these words")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["evalreport"] + [name for name, _ in PEERS]
    print(f"Share of {arguments.worlds} worlds with a winner, in percent (with the wrong sign):\n")
    print("| world | truth | " + " | ".join(names) + " |")
    print("|" + " --- |" * (len(names) + 2))
    for place, (name, make, is_equal) in enumerate(WORLDS):
        if arguments.only not in name:
            continue
        worlds = [make(np.random.default_rng([20261125, place, number])) for number in range(arguments.worlds)]
        columns = [ours(arguments.binary, worlds)]
        for _, peer in PEERS:
            try:
                columns.append([peer(world) for world in worlds])
            except (ValueError, evalstats.InsufficientItemsError, evalsig.EvalsigError) as error:
                columns.append(error)
        cells = []
        for found in columns:
            if isinstance(found, Exception):
                cells.append("–")
                continue
            won, wrong = sum(winner != 0 for winner in found), sum(winner < 0 for winner in found)
            cells.append(percent(won, len(found)) + ("" if is_equal else f" ({percent(wrong, len(found))})"))
        print(f"| {name} | {'equal' if is_equal else 'first better'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
