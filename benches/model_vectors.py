"""Makes the vectors of fitted models, `tests/fixtures/vectors/models.json`, with numpy, scipy, statsmodels and scikit-learn.

    python benches/model_vectors.py > tests/fixtures/vectors/models.json
"""
import json

import numpy as np
from scipy.optimize import minimize
from scipy.stats import t as student
import sklearn
from sklearn.linear_model import LogisticRegression
import statsmodels
import statsmodels.api as sm

random = np.random.default_rng(20261125)


def votes(arms, count, covariates, voters, prompts, tie):
    strength = random.normal(0, 0.8, arms)
    taste = random.normal(0, 0.7, voters)
    rows = []
    for _ in range(count):
        first, second = (int(arm) for arm in random.choice(arms, 2, replace=False))
        voter, prompt = int(random.integers(voters)), int(random.integers(prompts))
        style = [float(np.round(random.normal(), 3)) for _ in range(covariates)]
        odds = strength[first] - strength[second] + 0.5 * sum(style) + taste[voter] * (first - second) / arms
        voted = "tie" if random.random() < tie else "first" if random.random() < 1 / (1 + np.exp(-odds)) else "second"
        rows.append({"first": first, "second": second, "voted": voted, "style": style, "voter": voter, "prompt": prompt})
    return rows


def design(rows, arms):
    """Differences with the last arm's column removed, then the covariates."""
    x = np.zeros((len(rows), arms - 1 + len(rows[0]["style"])))
    for at, row in enumerate(rows):
        if row["first"] < arms - 1:
            x[at, row["first"]] += 1
        if row["second"] < arms - 1:
            x[at, row["second"]] -= 1
        x[at, arms - 1 :] = row["style"]
    return x


def centring(arms, others):
    """From strengths against the last arm to strengths against the mean."""
    whole = np.zeros((arms + others, arms - 1 + others))
    whole[: arms - 1, : arms - 1] = np.eye(arms - 1)
    whole[:arms, : arms - 1] -= 1 / arms
    whole[arms:, arms - 1 :] = np.eye(others)
    return whole


def likelihood(parameters, x, y, davidson):
    """Per vote; complex parameters give exact derivatives."""
    odds = x @ (parameters[:-1] if davidson else parameters)
    if davidson:
        whole = np.exp(odds / 2) + np.exp(-odds / 2) + np.exp(parameters[-1])
        own = np.where(y == 1, odds / 2, np.where(y == 0, -odds / 2, parameters[-1]))
        return own - np.log(whole)
    return y * odds - np.log(1 + np.exp(odds))


def scores(parameters, *data):
    step = 1e-30
    columns = []
    for place in range(len(parameters)):
        moved = parameters.astype(complex)
        moved[place] += 1j * step
        columns.append(likelihood(moved, *data).imag / step)
    return np.array(columns).T


def information(parameters, *data):
    step = 1e-5
    rows = []
    for place in range(len(parameters)):
        up, down = parameters.copy(), parameters.copy()
        up[place] += step
        down[place] -= step
        rows.append((scores(down, *data).sum(0) - scores(up, *data).sum(0)) / (2 * step))
    return (np.array(rows) + np.array(rows).T) / 2


def sandwich(inverse, own, codes):
    units = [own[codes == code].sum(0) for code in np.unique(codes)]
    return len(units) / (len(units) - 1) * inverse @ sum(np.outer(unit, unit) for unit in units) @ inverse, len(units)


def preferences(rows, arms, ties, kinds):
    davidson = ties == "davidson" and any(row["voted"] == "tie" for row in rows)
    x, y = design(rows, arms), np.array([{"first": 1, "second": 0, "tie": 0.5}[row["voted"]] for row in rows])
    data = (x, y, davidson)
    count = x.shape[1] + davidson
    found = minimize(
        lambda p: -likelihood(p, *data).sum(), np.zeros(count), jac=lambda p: -scores(p, *data).sum(0),
        hess=lambda p: information(p, *data), method="trust-exact", options={"gtol": 1e-11},
    ).x
    inverse, own = np.linalg.inv(information(found, *data)), scores(found, *data)
    codes = [np.array([row[kind] for row in rows]) for kind in kinds]
    if not kinds:
        codes = [np.arange(len(rows))]
        if not davidson:
            # A second implementation of the fit and of its errors.
            other = sm.GLM(y, x, family=sm.families.Binomial()).fit(cov_type="HC0", tol=1e-13, maxiter=100)
            assert np.allclose(other.params, found, atol=1e-7)
            assert np.allclose(other.cov_params() * len(rows) / (len(rows) - 1), sandwich(inverse, own, codes[0])[0], atol=1e-6)
    spreads = [sandwich(inverse, own, code) for code in codes]
    whole = centring(arms, count - arms + 1)
    variances = [np.diag(whole @ spread @ whole.T) for spread, _ in spreads]
    if len(kinds) == 2:
        both = sandwich(inverse, own, codes[0] * 1000 + codes[1])[0]
        variances = np.maximum(np.maximum(variances[0] + variances[1] - np.diag(whole @ both @ whole.T), variances[0]), variances[1])
    else:
        variances = variances[0]
    values, errors = whole @ found, np.sqrt(variances)
    half = student.ppf(0.975, min(units for _, units in spreads) - 1) * errors
    return {
        "values": values.tolist(), "errors": errors.tolist(), "model_errors": np.sqrt(np.diag(whole @ inverse @ whole.T)).tolist(),
        "low": (values - half).tolist(), "high": (values + half).tolist(),
    }


def attempts(tasks, families, most, fractions):
    rows = []
    for task in range(tasks):
        family, minutes = int(random.integers(families)), float(np.round(2 ** random.uniform(-3, 11), 3))
        ease = random.normal(0, 1)
        for _ in range(int(random.integers(1, most + 1))):
            chance = 1 / (1 + np.exp(-(2 + ease - 0.7 * np.log2(minutes))))
            passed = float(random.random() < chance)
            rows.append({"task": task, "family": family, "minutes": minutes, "score": round(random.random(), 2) if random.random() < fractions else passed})
    return rows


def horizon(rows, penalty, weighted):
    tries = {task: sum(row["task"] == task for row in rows) for task in {row["task"] for row in rows}}
    sizes = {family: len({row["task"] for row in rows if row["family"] == family}) for family in {row["family"] for row in rows}}
    weights = np.array([1 / (tries[row["task"]] * np.sqrt(sizes[row["family"]])) for row in rows])
    if not weighted:
        weights = np.ones(len(rows))
    weights = weights / weights.sum()
    x, score = np.log2([row["minutes"] for row in rows]), np.array([row["score"] for row in rows])
    # A score between 0 and 1 is that share of a success and the rest of a failure.
    x, y, w = np.concatenate([x, x]), np.concatenate([np.ones(len(x)), np.zeros(len(x))]), np.concatenate([weights * score, weights * (1 - score)])
    kept = w > 0
    model = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=1e-14, max_iter=10_000)
    model.fit(x[kept, None], y[kept], sample_weight=w[kept])
    a, b = float(model.intercept_[0]), float(model.coef_[0, 0])
    at = lambda q: float(2 ** ((np.log(q / (1 - q)) - a) / b)) if b < 0 else None
    return {"intercept": a, "slope": b, "p50": at(0.5), "p80": at(0.8)}


cases = []


def case(method, given, expected, tolerance):
    cases.append({"method": method, "input": given, "expected": expected, "tolerance": tolerance})


for arms, count, covariates, voters, prompts, tie in [(3, 40, 0, 6, 5, 0.0), (5, 80, 1, 9, 7, 0.25), (4, 60, 2, 12, 8, 0.4)]:
    rows = votes(arms, count, covariates, voters, prompts, tie)
    for ties in ["half_wins", "davidson"]:
        for kinds in [[], ["voter"], ["voter", "prompt"]]:
            if (ties, len(kinds)) in [("davidson", 1)] or (tie == 0 and ties == "davidson"):
                continue
            columns = {key: [row[key] for row in rows] for key in ["first", "second", "style", *kinds]}
            given = {"arms": arms, "voted": "".join(row["voted"][0] for row in rows), **columns, "ties": ties, "units": kinds}
            case("preferences", given, preferences(rows, arms, ties, kinds), {"abs": 2e-7, "rel": 1e-6})
for wins in [[[0, 12, 3.5], [5, 0, 8], [6.5, 4, 0]], [[0, 3, 0, 1], [2, 0, 6, 0], [0, 1, 0, 4], [3, 0, 2, 0]]]:
    rows = [
        {"first": i, "second": j, "voted": voted, "style": []}
        for i, row in enumerate(wins) for j, n in enumerate(row) for voted in ["first"] * int(n) + ["tie"] * (i < j and n % 1 > 0)
    ]
    found = preferences(rows, len(wins), "half_wins", [])
    case("bradley_terry", {"wins": wins}, {"log_strength": found["values"], "se": found["model_errors"]}, {"abs": 1e-7, "rel": 1e-7})
for wins in [[[0, 2], [0, 0]], [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]]:
    case("bradley_terry", {"wins": wins}, {"log_strength": None, "se": None}, {})


def lists(rows):
    return {key: [row[key] for row in rows] for key in ["task", "family", "minutes", "score"]}


rows = attempts(25, 8, 3, 0)
for given, penalty, weighted in [(rows, 0.1, True), (rows, 0.1, False), (rows, 1e-5, True), (attempts(20, 20, 2, 0.5), 0.1, True), (attempts(12, 3, 4, 0.2), 0.5, True)]:
    case("horizon", {**lists(given), "penalty": penalty, "weighted": weighted}, horizon(given, penalty, weighted), {"abs": 1e-7, "rel": 1e-6})
for score in [0.0, 1.0]:
    alike = [{**row, "score": score} for row in rows[:6]]
    case("horizon", {**lists(alike), "penalty": 0.1, "weighted": True}, {"intercept": None, "slope": None, "p50": None, "p80": None}, {})
how = (
    f"Made by benches/model_vectors.py with numpy {np.__version__}, statsmodels {statsmodels.__version__} and scikit-learn {sklearn.__version__}: "
    "strengths by scipy's trust-exact with derivatives by complex steps, checked against statsmodels' GLM; curves by LogisticRegression."
)
print(json.dumps({"how": how, "cases": []})[:-2] + "\n " + ",\n ".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]}")
