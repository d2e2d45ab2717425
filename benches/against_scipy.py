#!/usr/bin/env python3
"""Times a full comparison of 20 arms on 12,000 shared questions against the same with numpy, scipy and statsmodels.

    cargo build --release && cargo bench --bench generate
    pip install numpy scipy statsmodels
    python3 benches/against_scipy.py

evalreport is timed as whole processes that start, read their cache, compare all metrics, adjust and print. Python is timed after its imports
and after reading the outcomes, on what evalreport computes for the headline alone: exact McNemar tests and an interval for each of 190
pairs, Holm, and 2,000 resamples of the items for the chance of being best. Prints a Markdown table.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("BENCH_DATA", ROOT / "target/bench-data"))
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/release/evalreport"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))


def timed(work):
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def outcomes():
    """One row of 0 and 1 for each arm, the questions in one order."""
    rows = []
    for header in sorted((DATA / "pairs").glob("*.json")):
        lines = (header.with_suffix("") / "items.jsonl").read_text().splitlines()
        items = sorted((item["item"], item["status"] == "pass") for item in map(json.loads, lines))
        rows.append([passed for _, passed in items])
    return np.array(rows, dtype=np.int64)


def tango(b, c, n, z):
    """Tango's score interval, by the root finder of scipy."""

    def score(d):
        first, second = -b - c + (2 * n - b + c) * d, -c * d * (1 - d)
        q = (np.sqrt(first * first - 8 * n * second) - first) / (4 * n)
        return (b - c - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))

    middle, edge = (b - c) / n, 1 - 1e-9
    low = optimize.brentq(lambda d: score(d) - z, -edge, middle - 1e-9)
    return low, optimize.brentq(lambda d: score(d) + z, middle + 1e-9, edge)


def python(rows):
    arms, n = rows.shape
    z = stats.norm.ppf(0.975)
    p = []
    for first in range(arms):
        for second in range(first + 1, arms):
            b = int(np.sum(rows[first] > rows[second]))
            c = int(np.sum(rows[first] < rows[second]))
            p.append(stats.binomtest(min(b, c), b + c, 0.5).pvalue)
            tango(b, c, n, z)
    multipletests(p, method="holm")
    random = np.random.default_rng(1)
    best = np.zeros(arms)
    for _ in range(2000):
        counts = np.bincount(random.integers(0, n, n), minlength=n)
        best[np.argmax(rows @ counts)] += 1
    return best / 2000


def command(*arguments):
    with tempfile.TemporaryDirectory() as cache:
        call = [BINARY, *arguments, "--results", str(DATA / "pairs"), "--cache", cache, "--format", "json"]

        def work():
            subprocess.run(call, check=True, stdout=subprocess.DEVNULL)

        work()
        return timed(work)


def main():
    rows = outcomes()
    peer = timed(lambda: python(rows))
    compare, board = command("compare", "pairs"), command("leaderboard", "pairs", "--p-best")
    print("| what | seconds | numpy, scipy and statsmodels | ratio |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| `compare`, 190 pairs, all metrics, Holm | {compare:.3f} | | |")
    print(f"| `leaderboard --p-best`, rank ranges and 2,000 resamples | {board:.3f} | | |")
    print(f"| both | {compare + board:.3f} | {peer:.3f} | {(compare + board) / peer:.2f} |")


if __name__ == "__main__":
    main()
