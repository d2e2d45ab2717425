"""Makes the vectors of judged rates and differences over items and runs, `tests/fixtures/judges/runs.json`, with numpy and scipy.

    python benches/judge_vectors.py > tests/fixtures/judges/runs.json

The formulas of `crates/evalreport-stats/src/judge_corrected.rs` from their definitions: every pair of runs of two arms is listed, influences are one matrix of items and
runs, and centring over runs is a matrix product.
"""
import itertools
import json

import numpy as np
import scipy
from scipy.optimize import brentq
from scipy.stats import beta, norm
from scipy.stats import t as student

random = np.random.default_rng(20261127)
CONFIDENCE = 0.95


def arm(items, runs, rate, labelled, every=False, missing=0.0, shift=0.0, levels=1):
    """Verdicts and labels by item and run; None if missing. With `levels` above 1 values are parts of it."""
    ease = random.beta(rate * 2, (1 - rate) * 2, items)
    moves = shift * random.standard_normal(runs)
    judged, labels = [], []
    for item in range(items):
        truth = random.binomial(levels, np.clip(ease[item] + moves, 0.02, 0.98)) / levels
        said = np.where(random.random(runs) < 0.85, truth, 1 - truth)
        lost = random.random(runs) < missing
        lost[random.integers(runs)] = False
        only = random.choice(np.flatnonzero(~lost))
        judged.append([None if lost[run] else float(said[run]) for run in range(runs)])
        is_labelled = [item in labelled and not lost[run] and (every or run == only) for run in range(runs)]
        labels.append([[float(truth[run]), float(said[run])] if is_labelled[run] else None for run in range(runs)])
    return {"runs": runs, "judged": judged, "labels": labels}


def present(row):
    return [run for run, value in enumerate(row) if value is not None]


def combinations(arms, item, of):
    """All choices of one run with a value for each arm."""
    return list(itertools.product(*(present(own[of][item]) for own in arms)))


def difference(values):
    return values[0] - values[1] if len(values) > 1 else values[0]


def caution(degrees):
    return min(1.75 - 0.8 / degrees, 1 + 2.2 / degrees)


def corrected(arms, clusters):
    kept = [item for item in range(len(arms[0]["judged"])) if all(present(own["judged"][item]) for own in arms)]
    verdicts = {item: [(runs, difference([own["judged"][item][run] for own, run in zip(arms, runs)])) for runs in combinations(arms, item, "judged")] for item in kept}
    terms = []
    for item in kept:
        chosen = combinations(arms, item, "labels")
        for runs in chosen:
            pairs = [own["labels"][item][run] for own, run in zip(arms, runs)]
            terms.append((item, runs, difference([pair[0] for pair in pairs]), difference([pair[1] for pair in pairs]), 1 / len(chosen)))
    labelled = sorted({term[0] for term in terms})
    size, n = len(kept), len(labelled)
    whole = all(float(value).is_integer() for own in arms for row in own["judged"] for value in row if value is not None)
    whole = whole and all(float(term[2]).is_integer() and float(term[3]).is_integer() for term in terms)
    weight = np.array([term[4] for term in terms])
    label = np.array([term[2] for term in terms])
    said = np.array([term[3] for term in terms])
    if whole:
        classes = [-1.0, 0.0, 1.0]
        share = np.array([np.mean([np.mean([value == c for _, value in verdicts[item]]) for item in kept]) for c in classes])
        count = np.array([weight[said == c].sum() for c in classes])
        overall = np.average(label, weights=weight)
        mean_of = {c: np.average(label[said == c], weights=weight[said == c]) if (said == c).any() else overall for c in classes}
        predict = lambda value: mean_of[value]
        coefficient = np.array([w * share[classes.index(f)] / count[classes.index(f)] for w, f in zip(weight, said)])
        residual = label - np.array([mean_of[f] for f in said])
        offset = 0.0
    else:
        value = np.array([np.mean([value for _, value in verdicts[item]]) for item in kept])
        w = weight / weight.sum()
        covariance = (w * (label - w @ label) * (said - w @ said)).sum()
        slope = np.clip(covariance / value.var(ddof=1), 0, size / (size - n)) if size > n else 0.0
        predict = lambda value: slope * value
        coefficient = w
        offset = w @ (label - slope * said)
        residual = label - slope * said - offset
    predicted = np.array([np.mean([predict(value) for _, value in verdicts[item]]) for item in kept])
    estimate = predicted.mean() + offset

    several = clusters is not None or len(terms) > n
    code = {item: clusters[item] if clusters is not None else item for item in kept}
    units = sorted(set(code.values()))
    of_labels, of_verdicts = dict.fromkeys(units, 0.0), dict.fromkeys(units, 0.0)
    for item, value in zip(kept, predicted):
        of_verdicts[code[item]] += (value - predicted.mean()) / size
    for (item, *_), c, r in zip(terms, coefficient, residual):
        of_labels[code[item]] += c * r
    labelled_units = len({code[item] for item in labelled})
    few = lambda units: units / (units - 1) if several else 1
    first, second = np.array([of_labels[u] for u in units]), np.array([of_verdicts[u] for u in units])
    v_labels = few(labelled_units) * (first**2).sum()
    v_others = few(len(units)) * (second**2 + 2 * first * second).sum()
    v_labels, v_others = max(v_labels + min(v_others, 0), 0), max(v_others, 0)

    parts = []
    for number, own in enumerate(arms):
        runs = own["runs"]
        if runs < 2:
            continue
        influence = {u: np.zeros(runs) for u in units}
        part = np.zeros(runs)
        for item, value in zip(kept, predicted):
            has = present(own["judged"][item])
            for run in has:
                given = np.mean([predict(v) for chosen, v in verdicts[item] if chosen[number] == run])
                influence[code[item]][run] += (given - value) / (size * len(has))
        for (item, chosen, *_), w, c, r in zip(terms, weight, coefficient, residual):
            influence[code[item]][chosen[number]] += c * r
            part[chosen[number]] += w / n
        centring = np.eye(runs) - 1 / runs
        centred = np.array([centring @ influence[u] for u in units])
        seen = (part**2).sum() - 2 * (part**3).sum() + (part**2).sum() ** 2
        factor = max((part**2).sum() / seen, runs / (runs - 1))
        effective = 1 / (part**2).sum()
        parts.append((factor * (centred.sum(axis=0) ** 2).sum(), factor * (centred**2).sum(), 1 / effective, max(effective - 1, 1)))
    v_runs, measured, run_degrees = 0.0, 0.0, 1.0
    if parts:
        welch = lambda values, degrees: sum(values) ** 2 / sum(v * v / d for v, d in zip(values, degrees))
        degrees = [p[3] for p in parts]
        measured = sum(p[0] for p in parts)
        v_runs = max(measured - caution(min(degrees)) * sum(p[1] for p in parts), 0)
        run_degrees = min(welch([p[0] for p in parts], degrees), welch([p[2] for p in parts], degrees))

    def degrees_of(labels, own):
        total = labels + v_others + v_runs
        inverse = 0.0
        if np.isfinite(own):
            inverse += (labels / total) ** 2 / own + (v_others / total) ** 2 / (len(units) - 1)
        if v_runs > 0:
            inverse += (measured / total) ** 2 / run_degrees
        return max(1 / inverse, 1) if inverse > 0 else np.inf

    if not whole:
        factor = 1 if several else n / (n - 2)
        degrees = degrees_of(v_labels * factor, labelled_units - 1 if several else n - 2)
        error = np.sqrt(v_labels * factor + v_others + v_runs)
        reach = student.ppf(0.5 + CONFIDENCE / 2, degrees) * error
        ends = [estimate - reach, estimate + reach]
        p = 2 * student.sf(abs(estimate / error), degrees)
    else:
        variance = lambda c: np.average(label[said == c] ** 2, weights=weight[said == c]) - mean_of[c] ** 2
        alone = sum(share[k] ** 2 * variance(c) / count[k] for k, c in enumerate(classes) if count[k] > 0)
        effect = max(v_labels / alone, n / len(terms)) if alone > 0 else 1.0

        def jeffreys(passed, count, z):
            tail = norm.sf(z)
            low, high = beta.ppf([tail, 1 - tail], passed + 0.5, count - passed + 0.5)
            return (low if passed > 1e-9 else 0.0), (high if count - passed > 1e-9 else 1.0)

        def squares(z):
            below = above = 0.0
            for k, c in enumerate(classes):
                if share[k] == 0:
                    continue
                if count[k] == 0:
                    low, high = (-1 if len(arms) > 1 else 0), 1
                else:
                    own = said == c
                    effective = count[k] / effect
                    won, lost = ((weight[own] * (sign * label[own] > 0)).sum() / effect for sign in (1, -1))
                    (won_low, won_high), (lost_low, lost_high) = jeffreys(won, effective, z), jeffreys(lost, effective, z)
                    won, lost = won / effective, lost / effective
                    if len(arms) == 1:
                        low, high = won_low, won_high
                    else:
                        both = 2 * z * z * won * lost / effective
                        low = won - lost - np.sqrt((won - won_low) ** 2 + (lost_high - lost) ** 2 + both)
                        high = won - lost + np.sqrt((won_high - won) ** 2 + (lost - lost_low) ** 2 + both)
                below += (share[k] * (mean_of[c] - low)) ** 2
                above += (share[k] * (high - mean_of[c])) ** 2
            return np.array([below, above])

        z = norm.ppf(0.5 + CONFIDENCE / 2)
        degrees = degrees_of((np.sqrt(squares(z)).mean() / z) ** 2, labelled_units - 1 if several else np.inf)

        def reach(z):
            factor = student.isf(norm.sf(z), degrees) / z if np.isfinite(degrees) else 1
            return factor * np.sqrt(squares(z) + z * z * (v_others + v_runs))

        ends = estimate + np.array([-1, 1]) * reach(z)
        side = 0 if estimate > 0 else 1
        p = 2 * norm.sf(brentq(lambda z: abs(estimate) - reach(z)[side], 1e-6, 6, xtol=1e-13)) if reach(6)[side] > abs(estimate) else 2 * norm.sf(6)
    low = -1 if len(arms) > 1 else 0
    return {"mean": float(np.clip(estimate, low, 1)), "ends": [float(max(ends[0], low)), float(min(ends[1], 1))], "p": float(p), "degrees": float(degrees) if np.isfinite(degrees) else None}


def vector(name, arms, clusters=None):
    return {"name": name, "arms": arms, "clusters": clusters, "expected": corrected(arms, clusters)}


def some(items, count):
    return set(random.choice(items, count, replace=False).tolist())


def vectors():
    yield vector("one run", [arm(80, 1, 0.7, some(80, 30))])
    yield vector("three runs, labels in one each", [arm(60, 3, 0.7, some(60, 30), shift=0.1)])
    yield vector("two runs, labels in both, some missing", [arm(60, 2, 0.6, some(60, 25), every=True, missing=0.1)])
    yield vector("five runs that differ, clusters of four", [arm(80, 5, 0.6, some(80, 40), shift=0.2)], [item // 4 for item in range(80)])
    yield vector("one run, clusters", [arm(90, 1, 0.8, set(range(45)))], [item // 5 for item in range(90)])
    labelled = some(100, 50)
    yield vector("difference, one run each", [arm(100, 1, 0.8, labelled), arm(100, 1, 0.5, labelled)])
    labelled = some(90, 40)
    yield vector("difference, three and two runs", [arm(90, 3, 0.8, labelled, shift=0.1), arm(90, 2, 0.6, labelled, shift=0.1)])
    labelled = some(90, 40)
    yield vector("difference, every run, some missing", [arm(90, 3, 0.7, labelled, every=True, missing=0.1), arm(90, 3, 0.6, labelled, every=True)])
    labelled = some(80, 40)
    yield vector("difference in clusters", [arm(80, 2, 0.8, labelled, shift=0.1), arm(80, 3, 0.6, labelled)], [item // 4 for item in range(80)])
    yield vector("parts, one run", [arm(60, 1, 0.6, some(60, 25), levels=4)])
    yield vector("parts, three runs", [arm(60, 3, 0.6, some(60, 25), levels=4, shift=0.15)])
    labelled = some(70, 30)
    yield vector("difference of parts", [arm(70, 2, 0.7, labelled, levels=3, shift=0.1), arm(70, 1, 0.5, labelled, levels=3)])


print(json.dumps({"source": f"benches/judge_vectors.py with numpy {np.__version__} and scipy {scipy.__version__}", "vectors": list(vectors())}, separators=(",", ":")))
