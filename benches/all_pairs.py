#!/usr/bin/env python3
"""Checks and times exact tests of all pairs of many arms against numpy, scipy and statsmodels.

    pip install numpy scipy statsmodels
    python3 benches/all_pairs.py [ARMS ITEMS]...

evalreport's side is `cargo bench --bench all_pairs`. Python makes the same outcomes, counts all pairs by a product of matrices, tests each
distinct table once by the binomial distribution, and adjusts by Holm. Reading and making the outcomes is timed on neither side. Checks all
counts' sum, 1,000 sampled pairs with `scipy.stats.binomtest`, and the ranks. Prints a Markdown table.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("ALL_PAIRS", "").split() or ["cargo", "bench", "--quiet", "--bench", "all_pairs", "--"]
ALPHA = 0.05
# Products of 0 and 1 are exact in 32 bits up to 2^24 items; a block of items keeps memory small.
BLOCK = 16_384


def mixed(number):
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


def outcomes(arms, items):
    item = np.arange(items, dtype=np.uint64)
    difficulty = np.uint64(7) * (mixed(item) >> np.uint64(40))
    rows = np.empty((arms, items), dtype=np.uint8)
    for arm in range(arms):
        chance = np.uint64(3) * (mixed(np.uint64((arm + 1) << 32) | item) >> np.uint64(40))
        rows[arm] = difficulty + chance < np.uint64(((3500 + 3000 * arm // arms) << 24) // 1000)
    return rows


def tested(rows):
    """Items that only the first arm passed and only the second, exact p-values, adjusted ones, and ranks."""
    arms, items = rows.shape
    both = np.zeros((arms, arms), dtype=np.float32)
    for start in range(0, items, BLOCK):
        block = rows[:, start : start + BLOCK].astype(np.float32)
        both += block @ block.T
    passed = np.diag(both)
    first, second = np.triu_indices(arms, 1)
    b = (passed[first] - both[first, second]).astype(np.int64)
    c = (passed[second] - both[first, second]).astype(np.int64)
    distinct, place = np.unique((b + c) << 32 | np.minimum(b, c), return_inverse=True)
    n, fewer = distinct >> 32, distinct & 0xFFFFFFFF
    p = np.where(n == 0, 1.0, np.minimum(1.0, 2 * stats.binom.cdf(fewer, np.maximum(n, 1), 0.5)))[place]
    adjusted = multipletests(p, method="holm")[1]
    beats = np.zeros((arms, arms), dtype=bool)
    won, lost = (adjusted < ALPHA) & (b > c), (adjusted < ALPHA) & (b < c)
    beats[first[won], second[won]] = True
    beats[second[lost], first[lost]] = True
    ranks = np.stack([1 + beats.sum(axis=0), arms - beats.sum(axis=1)], axis=1)
    return first, second, b, c, p, adjusted, ranks


def check(found, ours):
    first, second, b, c, _, adjusted, ranks = ours
    arms = found["arms"]
    for one, other, only_a, only_b, p, after in found["sample"]:
        at = one * (2 * arms - one - 1) // 2 + other - one - 1
        assert (first[at], second[at], b[at], c[at]) == (one, other, only_a, only_b), (one, other)
        exact = stats.binomtest(min(only_a, only_b), only_a + only_b).pvalue if only_a + only_b else 1.0
        # Below the smallest normal number, the program keeps p-values above 0.
        assert abs(p - exact) <= 1e-9 * exact + 1e-300 and abs(after - adjusted[at]) <= 1e-9 * after + 1e-294, (one, other, p, exact)
    assert (ranks == np.array(found["ranks"])).all(), "ranks"
    return len(found["sample"])


def main():
    sizes = [int(word) for word in sys.argv[1:]] or [1000, 12_000]
    lines = []
    for arms, items in zip(sizes[::2], sizes[1::2]):
        found = json.loads(subprocess.run([*PROGRAM, str(arms), str(items)], check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)
        rows = outcomes(arms, items)
        start = time.perf_counter()
        ours = tested(rows)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        checked = check(found, ours)
        print(f"{arms} x {items}: {checked} pairs and all ranks agree; {found['seconds_of']}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        lines.append(
            f"| {arms:,} × {items:,} | {found['pairs']:,} | {found['seconds']:.2f} | {found['mb_of_planes']} | {found['peak_mb']} "
            f"| {seconds:.2f} | {peak} | {found['seconds'] / seconds:.2f} |"
        )
    print("| arms × items | pairs | seconds | MB of planes | peak MB | numpy, scipy, statsmodels | peak MB | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
