"""Abilities, their errors, expected rates and items, by direct maximisation of the marginal likelihood with scipy.

The models of `crates/evalreport-stats/src/item_response.rs` on the answers of its tests: difficulties integrated by Gauss-Legendre pieces, log discriminations on
the nodes -4 to 4, derivatives by differences. It prints what the tests want, in minutes. Needs numpy and scipy.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

SIX = [
    "0000110010011000100110000110000000011011....................",
    "0000111011010101101110101000101110000000....................",
    "100111001101111111111111101100110101000001100100000000000000",
    "100011110110010011111010110110111111101110100000100101100101",
    "111111001110010111111111101010111111101101100101000010001001",
    "....................1111101111111111101101100001010100000001",
]
EIGHT = [
    "0011011010000000000100101100000100010100....................",
    "000100100000010001100000111001000001100001010011000000000011",
    "010101100010011011100110110001010000011010010000011100010111",
    "000100101000110001111011111111001000110101110001000111010010",
    "100001100111111100010001110111010000111001111101001111100011",
    "110101111111011011111110110011010010011011011000001101001111",
    "111101110111110010111101110111011010111101111111110111000101",
    "..............1111111101111111011010111111011100101111111111",
]
POINTS, SHARES = np.polynomial.legendre.leggauss(20)
EDGES = np.linspace(-7, 7, 13)
HALVES = np.diff(EDGES) / 2
NODES = np.concatenate([low + half * (1 + POINTS) for low, half in zip(EDGES, HALVES)])
WEIGHTS = np.concatenate([half * SHARES for half in HALVES]) * np.exp(-NODES**2 / 2)


def slopes(function, at, step=2e-3):
    """Derivatives by each parameter, exact to the fourth order of the step."""
    def one(unit):
        near = function(at + step * unit) - function(at - step * unit)
        return (8 * near - function(at + 2 * step * unit) + function(at - 2 * step * unit)) / (12 * step)
    return np.array([one(unit) for unit in np.eye(len(at))])


class Fit:
    def __init__(self, rows, has_two):
        self.scores = np.array([[np.nan if answer == "." else float(answer) for answer in row] for row in rows])
        self.arms, self.items = self.scores.shape
        patterns = [tuple(np.where(~np.isnan(self.scores[:, item]))[0]) for item in range(self.items)]
        # Items that were asked of the same arms share a mean difficulty.
        self.set = [sorted(set(patterns)).index(pattern) for pattern in patterns]
        self.sets = max(self.set) + 1
        self.has_two = has_two
        self.levels = np.arange(-4, 5.0) if has_two else np.zeros(1)
        shares = np.exp(-self.levels**2 / 2)
        self.logs = (np.log(WEIGHTS / WEIGHTS.sum())[:, None] + np.log(shares / shares.sum())[None, :]).ravel()
        # The last ability makes the sum 0.
        self.contrast = np.vstack([np.eye(self.arms - 1), -np.ones((1, self.arms - 1))])

    def posterior(self, at, item):
        """Log likelihood of an item's answers by node, the arms' log odds, difficulties and log discriminations."""
        place = self.arms - 1 + self.sets
        slope = np.exp(at[place + 1]) * self.levels if self.has_two else self.levels
        difficulty = at[self.arms - 1 + self.set[item]] + np.exp(at[place]) * NODES
        difficulty, slope = np.repeat(difficulty, len(self.levels)), np.tile(slope, len(NODES))
        odds = np.exp(slope)[:, None] * ((self.contrast @ at[: self.arms - 1])[None, :] - difficulty[:, None])
        asked = ~np.isnan(self.scores[:, item])
        logs = (self.scores[asked, item] * odds[:, asked] - np.logaddexp(0, odds[:, asked])).sum(1) + self.logs
        return logs, odds, difficulty, slope

    def likelihoods(self, at):
        return np.array([logsumexp(self.posterior(at, item)[0]) for item in range(self.items)])

    def expected(self, at):
        """Scores with the expectation where an arm was not asked, and each item's parameters."""
        scores, items = self.scores.copy(), []
        for item in range(self.items):
            logs, odds, difficulty, slope = self.posterior(at, item)
            weights = np.exp(logs - logsumexp(logs))
            unasked = np.isnan(self.scores[:, item])
            scores[unasked, item] = (weights @ expit(odds))[unasked]
            mean, log = weights @ difficulty, weights @ slope
            errors = [np.sqrt(max(0, weights @ (of - centre) ** 2)) for of, centre in [(difficulty, mean), (slope, log)]]
            items.append([mean, errors[0], np.exp(log), errors[1]])
        return scores, np.array(items)

    def print(self):
        at = np.concatenate([np.zeros(self.arms - 1 + self.sets), [0.4, -0.5] if self.has_two else [0.4]])
        at = minimize(lambda given: -self.likelihoods(given).sum(), at, method="BFGS", options={"gtol": 1e-4}).x
        gradient = lambda given: slopes(self.likelihoods, given)
        for _ in range(3):
            curvature = slopes(lambda given: gradient(given).sum(1), at)
            at = at - np.linalg.solve(curvature, gradient(at).sum(1))
        inverse, scores, factor = np.linalg.inv(-curvature), gradient(at), self.items / (self.items - 1)
        error = lambda matrix: np.sqrt(np.diag(self.contrast @ matrix[: self.arms - 1, : self.arms - 1] @ self.contrast.T))
        filled, items = self.expected(at)
        rates = filled.mean(1)
        through = slopes(lambda given: self.expected(given)[0].mean(1), at).T @ inverse @ scores
        influence = (filled - rates[:, None]) / self.items + through
        for name, value in [
            ("log likelihood", self.likelihoods(at).sum()),
            ("spreads", np.exp(at[self.arms - 1 + self.sets :])),
            ("abilities", self.contrast @ at[: self.arms - 1]),
            ("errors", error(inverse @ scores @ scores.T @ inverse * factor)),
            ("model errors", error(inverse)),
            ("rates", rates),
            ("rate errors", np.sqrt((influence**2).sum(1) * factor)),
            ("first items", items[:2]),
        ]:
            print(name, value)


np.set_printoptions(precision=9, suppress=True, linewidth=140)
Fit(SIX, False).print()
Fit(EIGHT, True).print()
