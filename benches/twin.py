#!/usr/bin/env python3
"""A second implementation of the tests over items, runs and clusters, in numpy, independent of the program's code.

    python3 benches/twin.py check --binary target/debug/evalreport [--stores 10000]
    python3 benches/twin.py worlds [--worlds 1000]

`check` makes random tables, lets the program compare them, and computes each p-value and interval again: they must agree to 1e-9. `worlds`
simulates arms whose true difference is known and prints the tables of docs/measured/simulations.md on runs, gates and clusters. Needs numpy and scipy.
"""

import argparse
import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

ALPHA = 0.05
MIN_RUN_DEGREES = 5
MIN_FLIPPED_CLUSTERS = 12


def factor(degrees):
    """How many times the variance that items explain is subtracted, if two arms are judged by their own runs."""
    return min(1.75 - 0.8 / degrees, 1 + 2.2 / degrees)


class Arm:
    """An arm's values, by item and run, and the two parts of the variance between its runs."""

    def __init__(self, values, codes=None):
        self.values = values
        self.items, self.runs = values.shape
        self.means = values.mean(1)
        self.degrees = self.runs - 1
        if self.runs > 1:
            # By unit (an item, or a cluster of items) and run: what the unit adds to the run's deviation from the arm's mean.
            units = np.arange(self.items) if codes is None else codes
            parts = np.zeros((units.max() + 1, self.runs))
            np.add.at(parts, units, (values - self.means[:, None]) / self.items)
            shares = np.bincount(units) / self.items
            between, within = (parts.sum(0) ** 2).sum(), (parts**2).sum()
            self.measured = between / self.degrees
            of_runs = (between - within) / (self.degrees * (1 - (shares**2).sum()))
            self.explained = max(0.0, self.measured - of_runs)


def pooled(arms):
    """The noise of one run over all arms, and which arms keep their own because their runs vary more than the others'."""
    several = [arm for arm in arms if arm.runs > 1]

    def pool(among):
        degrees = sum(arm.degrees for arm in among)
        if degrees == 0:
            return None
        weigh = lambda part: sum(arm.degrees * part(arm) for arm in among) / degrees
        return weigh(lambda arm: arm.measured), weigh(lambda arm: arm.explained), degrees

    noisy = set()
    for arm in several:
        others = pool([other for other in several if other is not arm])
        if others:
            expected = arm.explained + max(0.0, others[0] - others[1])
            if arm.measured > 0 and stats.f.sf(arm.measured / expected if expected else np.inf, arm.degrees, others[2]) < ALPHA:
                noisy.add(id(arm))
    found = pool([arm for arm in several if id(arm) not in noisy])
    found = found if found and found[2] >= MIN_RUN_DEGREES else None
    return {id(arm): None if id(arm) in noisy else found for arm in arms}


def adds(board):
    """Whether runs add to the noise of a board beyond rounding."""
    return board is not None and board[0] - board[1] > 1e-9 * board[0]


def charged(arms, noise):
    """What runs add to the variance of a difference: the variance, what was measured of it, and its degrees of freedom."""
    own = [arm for arm in arms if noise[id(arm)] is None and arm.runs > 1]
    variance = measured = 0.0
    degrees = 1.0
    if own:
        of_own = [arm.measured / arm.runs for arm in own]
        total = sum(of_own)
        if total > 0:
            shares = [1 / arm.runs for arm in own]
            welch = lambda parts: sum(parts) ** 2 / sum(part**2 / arm.degrees for part, arm in zip(parts, own))
            degrees = min(welch(of_own), welch(shares))
            explained = sum(arm.explained / arm.runs for arm in own)
            variance = max(0.0, total - factor(min(arm.degrees for arm in own)) * explained)
            measured = total if variance > 0 else 0.0
    of_board, of_board_degrees = 0.0, np.inf
    for arm in arms:
        board = noise[id(arm)]
        if adds(board):
            variance += (board[0] - board[1]) / arm.runs
            of_board += board[0] / arm.runs
            of_board_degrees = board[2]
    if of_board > 0:
        total = measured + of_board
        degrees = 1 / ((measured / total) ** 2 / degrees + (of_board / total) ** 2 / of_board_degrees)
        measured = total
    return variance, measured, degrees


def cr2(values, codes):
    """The bias-reduced variance of a mean over clusters, with Satterthwaite's degrees of freedom."""
    n, mean = len(values), values.mean()
    sizes = np.bincount(codes)
    sums = np.bincount(codes, weights=values - mean)
    sums, share = sums[sizes > 0], sizes[sizes > 0] / n
    covariance = np.diag(share) - np.outer(share, share)
    weights = np.sqrt(1 / (1 - share))
    omega = covariance * np.outer(weights, weights)
    return (sums**2 / (1 - share)).sum() / n**2, np.trace(omega) ** 2 / (omega**2).sum()


def two_way(one, other, noise, codes=None):
    """Student's t of the difference over items or clusters, and runs: difference, p, interval."""
    differences = one.means - other.means
    if codes is None:
        of_items, item_degrees = differences.var(ddof=1) / len(differences), len(differences) - 1
    else:
        of_items, item_degrees = cr2(differences, codes)
    of_runs, measured, run_degrees = charged([one, other], noise)
    total = of_items + of_runs
    if total <= 1e-30:
        return differences.mean(), None, None
    reciprocal = (of_items / total) ** 2 / item_degrees
    if of_runs > 0:
        reciprocal += (measured / total) ** 2 / run_degrees
    degrees = max(1.0, 1 / reciprocal)
    error, mean = np.sqrt(total), differences.mean()
    reach = stats.t.ppf(1 - ALPHA / 2, degrees) * error
    return mean, 2 * stats.t.sf(abs(mean) / error, degrees), (mean - reach, mean + reach)


def mcnemar(won, lost):
    return min(1.0, 2 * stats.binom.cdf(min(won, lost), won + lost, 0.5)) if won + lost else 1.0


def flips(differences, codes):
    """The sign-flip test of clusters and the interval that inverts it, over all splits."""
    sizes = np.bincount(codes)
    sums = np.bincount(codes, weights=differences)[sizes > 0]
    sizes = sizes[sizes > 0]
    signs = np.array(list(itertools.product((0, 1), repeat=len(sums) - 1)))
    signs = np.hstack([np.zeros((len(signs), 1), int), signs])
    part, n = signs @ sums, signs @ sizes
    extreme = np.abs(sums.sum() - 2 * part) >= abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.stack([np.where(n > 0, part / n, -np.inf), np.where(n > 0, (sums.sum() - part) / (sizes.sum() - n), np.inf)])
    place = max(1, int(np.ceil(ALPHA * len(signs) - 1e-9))) - 1
    return extreme.mean(), (np.sort(means.min(0))[place], np.sort(means.max(0))[::-1][place])


# --- the program beside the twin


def random_board(random):
    """A board of complete arms: values by item and run, and clusters or none."""
    items = int(random.integers(12, 60))
    arms = int(random.integers(2, 6))
    runs = [int(random.integers(1, 5)) for _ in range(arms)]
    if random.random() < 0.4:
        runs = [max(2, max(runs))] * arms
    hardness, deviation = random.beta(1.5, 1, items), random.choice([0.0, 0.03, 0.1])
    codes = None
    if random.random() < 0.4:
        codes = np.sort(random.integers(0, int(random.integers(6, 15)), items))
        codes = np.unique(codes, return_inverse=True)[1]
        codes = codes if codes.max() >= 5 else None
    values = []
    for number in runs:
        own = np.clip(hardness + random.normal(0, 0.15, items) + random.normal(0, 0.1), 0, 1)
        shifts = random.normal(0, deviation, number)
        values.append((random.random((items, number)) < np.clip(own[:, None] + shifts, 0, 1)).astype(float))
    return values, codes


def expected(board):
    """The twin's p-value and interval of each pair, with the name of the test, or nothing for what only the program decides."""
    values, codes = board
    arms = [Arm(own, codes) for own in values]
    noise = pooled(arms)
    found = {}
    for one, other in itertools.combinations(range(len(arms)), 2):
        a, b = arms[one], arms[other]
        is_charged = any(adds(noise[id(arm)]) for arm in (a, b))
        differences = a.means - b.means
        if a.runs > 1 or b.runs > 1 or is_charged:
            _, p, interval = two_way(a, b, noise, codes)
            found[one, other] = ("two_way", p, interval)
        elif codes is None:
            found[one, other] = ("mcnemar_exact", mcnemar((differences > 0).sum(), (differences < 0).sum()), None)
        elif codes.max() + 1 < MIN_FLIPPED_CLUSTERS:
            _, p, interval = two_way(a, b, noise, codes)
            found[one, other] = ("cluster_t", p, interval)
        else:
            found[one, other] = ("cluster_sign_flip", *flips(differences, codes))
    return found


def check(binary, stores, seed):
    random, compared, wrong, left = np.random.default_rng(seed), 0, [], 0
    for start in range(0, stores, 100):
        boards = {f"s{number}": random_board(random) for number in range(start, min(start + 100, stores))}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "table.csv")
            with open(path, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["suite", "model", "id", "run", "passage_id", "passed"])
                for suite, (values, codes) in boards.items():
                    for arm, own in enumerate(values):
                        for item, run in np.ndindex(own.shape):
                            cluster = "" if codes is None else f"p{codes[item]}"
                            writer.writerow([suite, f"m{arm}", f"i{item}", run + 1, cluster, "true" if own[item, run] else "false"])
            done = subprocess.run([binary, "compare", str(path), "--format", "json"], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1):
                sys.exit(done.stderr)
            answers = {answer["suite"]: answer for answer in json.loads(done.stdout)["comparisons"]}
        for suite, board in boards.items():
            answer = answers[suite]
            places = [int(arm["model"][1:]) for arm in answer["arms"]]
            row = next(row for row in answer["rows"] if row["metric"]["name"] == "shared_tests")
            twin = expected(board)
            for pair in row["evidence"]["pairs"]:
                one, other = places[pair["first"]], places[pair["second"]]
                sign = 1 if one < other else -1
                test, p, interval = twin[min(one, other), max(one, other)]
                if pair.get("test") == "each_run_alone" or p is None or pair.get("test") != test:
                    # Each run alone decides only where all runs do; where nothing varies there is no t.
                    left += 1
                    if pair.get("test") not in ("each_run_alone", test) and p is not None:
                        wrong.append(f"{suite} {one} {other}: {pair.get('test')} instead of {test}")
                    continue
                compared += 1
                if abs(pair["p"] - p) > 1e-9:
                    wrong.append(f"{suite} {one} {other} {test}: p = {pair['p']}, twin {p}")
                stated = pair.get("difference", {}).get("interval")
                if interval and stated:
                    low, high = interval if sign > 0 else (-interval[1], -interval[0])
                    if p >= ALPHA:
                        low, high = min(low, 0.0), max(high, 0.0)
                    ends = max(-1.0, low), min(1.0, high)
                    if abs(stated["low"] - ends[0]) > 1e-9 or abs(stated["high"] - ends[1]) > 1e-9:
                        wrong.append(f"{suite} {one} {other} {test}: {stated}, twin {ends}")
    print(f"{stores} stores, {compared} pairs compared, {left} decided by each run alone or without variation, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong or not compared else 0


# --- worlds


def percent(hits, of):
    share = hits / of
    return f"{100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / of):.1f}"


def passes(random, items, runs, deviation, shift=0.0, hardness=None):
    own = np.clip(hardness + random.normal(0, 0.12, items) + shift, 0, 1)
    return (random.random((items, runs)) < np.clip(own[:, None] + random.normal(0, deviation, runs), 0, 1)).astype(float)


def board_worlds(worlds, random):
    print("\n| items, arms, runs, run sd | false: by the pair's runs | by the board's | found, +8 pp: by the pair's | by the board's |\n|---|---|---|---|---|")
    for items, count, runs, deviation in [(200, 10, 2, 0), (200, 10, 2, 0.02), (200, 10, 2, 0.04), (200, 10, 3, 0), (200, 10, 3, 0.02), (200, 10, 3, 0.04), (1000, 6, 2, 0.02), (1000, 5, 3, 0.02)]:
        hits, of = np.zeros(4), np.zeros(2)
        for shift in (0.0, 0.08):
            for _ in range(worlds if shift == 0 else worlds // 2):
                hardness = random.beta(1.2, 1.0, items)
                arms = [Arm(passes(random, items, runs, deviation, shift * (place == 0), hardness)) for place in range(count)]
                noise, alone = pooled(arms), {id(arm): None for arm in arms}
                # One pair a world, so that worlds are independent.
                for place, how in enumerate((alone, noise)):
                    p = two_way(arms[0], arms[1], how)[1]
                    hits[place + 2 * (shift > 0)] += p is not None and p < ALPHA
                of[int(shift > 0)] += 1
        print(f"| {items}, {count}, {runs}, {100 * deviation:.0f} pp | {percent(hits[0], of[0])} | {percent(hits[1], of[0])} | {percent(hits[2], of[1])} | {percent(hits[3], of[1])} |")


def gate_worlds(worlds, random):
    print("\n| items \\ run sd: the new run's variance left out, taken from the baseline | 0 | 1 | 2 | 4 pp |\n|---|---|---|---|---|")
    for items in (100, 200, 500, 1000):
        cells = []
        for deviation in (0.0, 0.01, 0.02, 0.04):
            hits = [0, 0]
            for _ in range(worlds):
                hardness = random.beta(2, 1, items)
                own = hardness[:, None]
                draw = lambda runs: (random.random((items, runs)) < np.clip(own + random.normal(0, deviation, runs), 0, 1)).astype(float)
                before, after = Arm(draw(7)), Arm(draw(1))
                for place, noise in enumerate(({id(before): None, id(after): None}, pooled([before, after]))):
                    _, _, interval = two_way(after, before, noise)
                    hits[place] += interval is not None and interval[1] < 0
            cells.append(f"{percent(hits[0], worlds)}, {percent(hits[1], worlds)}")
        print(f"| {items} | " + " | ".join(cells) + " |")


def second_run_worlds(worlds, random):
    print("\n| 200 items, two arms, run sd | run 1 alone | two runs, t | two runs, t or each run alone |\n|---|---|---|---|")
    for shift in (0.0, 0.08):
        for deviation in (0.0, 0.015, 0.03):
            hits = np.zeros(3)
            for _ in range(worlds):
                hardness = random.beta(1.2, 1.0, 200)
                a, b = (Arm(passes(random, 200, 2, deviation, own, hardness)) for own in (shift, 0.0))
                single = lambda run, other: (lambda d: (mcnemar((d > 0).sum(), (d < 0).sum()), np.sign(d.sum())))(a.values[:, run] - b.values[:, other])
                each = [single(run, other) for run in (0, 1) for other in (0, 1)]
                together = two_way(a, b, {id(a): None, id(b): None})[1]
                is_each = all(p < ALPHA for p, _ in each) and len({sign for _, sign in each}) == 1
                is_found = together is not None and together < ALPHA
                hits += [each[0][0] < ALPHA, is_found, is_found or is_each]
            what = "false" if shift == 0 else "found, +8 pp"
            print(f"| {what}, {100 * deviation:.1f} pp | " + " | ".join(percent(own, worlds) for own in hits) + " |")


def cluster_worlds(worlds, random):
    print("\n| clusters, effect of the cluster on the difference | false: CR1, t(G − 1) | CR2 | flips | found, +20 pp: CR2 | flips |\n|---|---|---|---|---|---|")
    for count, is_equal, effect in [(6, True, 0.0), (6, False, 0.3), (8, True, 0.0), (8, False, 0.3), (12, True, 0.0), (12, False, 0.3)]:
        hits = np.zeros(5)
        for shift in (0.0, 0.2):
            for _ in range(worlds):
                sizes = np.full(count, 12) if is_equal else np.maximum(1, np.round(random.lognormal(np.log(12), 1, count))).astype(int)
                codes = np.repeat(np.arange(count), sizes)
                lean = (random.normal(0, 1, count) * 0.4 * effect)[codes]
                draw = lambda sign: random.random(len(codes)) < np.clip(0.5 + sign * (lean + shift / 2), 0.02, 0.98)
                differences = draw(1).astype(float) - draw(-1)
                variance, degrees = cr2(differences, codes)
                sums = np.bincount(codes, weights=differences - differences.mean())
                cr1 = np.sqrt((sums**2).sum() * count / (count - 1)) / len(codes)
                mean = differences.mean()
                if variance <= 0:
                    continue
                by = [2 * stats.t.sf(abs(mean) / cr1, count - 1), 2 * stats.t.sf(abs(mean) / np.sqrt(variance), degrees), flips(differences, codes)[0]]
                hits += [by[0] < ALPHA, by[1] < ALPHA, by[2] < ALPHA, 0, 0] if shift == 0 else [0, 0, 0, by[1] < ALPHA, by[2] < ALPHA]
        print(f"| {count} {'equal' if is_equal else 'unequal'}, {effect:.1f} | " + " | ".join(percent(own, worlds) for own in hits) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "worlds"])
    parser.add_argument("--binary", default="target/debug/evalreport")
    parser.add_argument("--stores", type=int, default=1000)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=41)
    asked = parser.parse_args()
    if asked.mode == "check":
        sys.exit(check(str(pathlib.Path(asked.binary).resolve()), asked.stores, asked.seed))
    random = np.random.default_rng(asked.seed)
    for worlds in (board_worlds, second_run_worlds, gate_worlds, cluster_worlds):
        worlds(asked.worlds, random)


if __name__ == "__main__":
    main()
