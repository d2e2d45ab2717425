#!/usr/bin/env python3
"""Recomputes the numbers of the site that this file lies in, or of another FOLDER, from the outcomes in data/, with nothing but Python's own
library: python3 verify_site.py [FOLDER]
Compares data files with their digests, counts checked numbers and what the data alone cannot give, names each mismatch; ends with 0 or 1.
"""
import decimal, hashlib, itertools, json, math, os, pathlib, re, statistics, sys
from collections import Counter, defaultdict
CONFIDENCE, CLOSE, MOST_REARRANGEMENTS, COUNTED_RUNS = 0.95, 1e-6, 1 << 18, {"completed", "failed", "limit"}
KINDS, COUNTED = ["question", "task", "test", "criterion", "check"], {"pass", "fail", "error", "limit"}
normal = lambda confidence: statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
half_up = lambda number, places: decimal.Decimal(f"{number:.11e}").quantize(decimal.Decimal(places), decimal.ROUND_HALF_UP)
def beta_share(a, b, x):
    """The regularised incomplete beta function, by its continued fraction."""
    if not 0 < x < 1: return float(x >= 1)
    if x > (a + 1) / (a + b + 2): return 1 - beta_share(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 100_000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            c, d = 1 + term / c, 1 / (1 + term * d)
            result *= c * d
        if abs(c * d - 1) < 1e-15: break
    return front * result
def bisect(low, high, is_below):
    for middle in ((low + high) / 2 for _ in range(60)):
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
t_two_sided = lambda t, degrees: beta_share(degrees / 2, 0.5, degrees / (degrees + t * t))
def t_quantile(confidence, degrees):
    high = next(2.0**k for k in itertools.count(1) if t_two_sided(2.0**k, degrees) <= 1 - confidence)
    return bisect(0.0, high, lambda t: t_two_sided(t, degrees) > 1 - confidence)
def wilson(passed, total, confidence=CONFIDENCE):
    z, share = normal(confidence), passed / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (0.0 if passed == 0 else max(0.0, centre - half)), (1.0 if passed == total else min(1.0, centre + half))
def clopper_pearson(passed, total):
    end = lambda passed: 0.0 if passed == 0 else bisect(0.0, 1.0, lambda x: beta_share(passed, total - passed + 1, x) < (1 - CONFIDENCE) / 2)
    return end(passed), 1 - end(total - passed)
def newcombe(passed_a, total_a, passed_b, total_b, confidence, correlation=0.0):
    a, b = passed_a / total_a, passed_b / total_b
    (low_a, high_a), (low_b, high_b) = wilson(passed_a, total_a, confidence), wilson(passed_b, total_b, confidence)
    reach = lambda x, y: math.sqrt(max(0.0, x * x - 2 * correlation * x * y + y * y))
    return max(-1.0, a - b - reach(a - low_a, high_b - b)), min(1.0, a - b + reach(high_a - a, b - low_b))
def newcombe_paired(both, won, lost, neither, confidence):
    n = both + won + lost + neither
    margins, product = (both + won) * (lost + neither) * (both + lost) * (won + neither), both * neither - won * lost
    product = max(0.0, product - n / 2) if product > 0 else product
    return newcombe(both + won, n, both + lost, n, confidence, product / math.sqrt(margins) if margins else 0.0)
def tango(won, lost, n, confidence):
    z = normal(confidence)
    def score(won, lost, d):
        a, b, c = 2 * n, (2 * n - won + lost) * d - won - lost, -lost * d * (1 - d)
        root = math.sqrt(max(0.0, b * b - 4 * a * c))
        only_b = (-2 * c / (root + b)) if b > 0 else (root - b) / (2 * a)
        variance, distance = n * (2 * only_b + d * (1 - d)), won - lost - n * d
        return distance / math.sqrt(variance) if variance > 0 else (0.0 if distance == 0 else math.copysign(math.inf, distance))
    end = lambda won, lost: bisect((won - lost) / n, 1.0, lambda d: score(won, lost, d) > -z)
    return -end(lost, won), end(won, lost)
def mcnemar(won, lost):
    n, fewer = won + lost, min(won, lost)
    chance = lambda k: math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
    at_most = sum(chance(k) for k in range(fewer + 1))
    return min(1.0, 2 * at_most), min(1.0, 2 * at_most - chance(fewer))
def fisher(passed_a, total_a, passed_b, total_b):
    passed, choose = passed_a + passed_b, lambda n, k: math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    tables = range(max(0, passed - total_b), min(passed, total_a) + 1)
    weights = {k: choose(total_a, k) + choose(total_b, passed - k) - choose(total_a + total_b, passed) for k in tables}
    return min(1.0, sum(math.exp(w) for w in weights.values() if w <= weights[passed_a] + 1e-7))
def sign_flip(values):
    """Nothing where there are too many ways to look at all."""
    moving = [*filter(None, values)]
    if 2 ** len(moving) > MOST_REARRANGEMENTS: return None
    limit, sums = abs(math.fsum(moving)) - 1e-9 * math.fsum(map(abs, moving)), [0.0]
    for value in moving:
        sums = [s + value for s in sums] + [s - value for s in sums]
    return sum(abs(s) >= limit for s in sums) / len(sums)
def permutation(a, b):
    fewer, more = sorted((a, b), key=len)
    if math.comb(len(a) + len(b), len(a)) > MOST_REARRANGEMENTS: return None
    pool = [value - math.fsum(a + b) / len(a + b) for value in fewer + more]
    limit = abs(math.fsum(pool[:len(fewer)])) - 1e-9 * math.fsum(map(abs, pool)) - 8.9e-16 * math.fsum(map(abs, a + b))
    return statistics.fmean(abs(sum(chosen)) >= limit for chosen in itertools.combinations(pool, len(fewer)))
def mean_sd(values):
    mean, varies = math.fsum(values) / len(values), max(values) > min(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) if varies else 0.0
def correlation(pairs):
    (x, of_x), (y, of_y) = (mean_sd(side) for side in zip(*pairs)) if len(pairs) > 2 else ((0, 0), (0, 0))
    return math.fsum((a - x) * (b - y) for a, b in pairs) / (of_x * of_y * (len(pairs) - 1)) if of_x and of_y else None
def around(middle, error, degrees, confidence):
    return middle - t_quantile(confidence, degrees) * error, middle + t_quantile(confidence, degrees) * error
def t_mean(values, confidence=CONFIDENCE):
    """Mean, interval and p; the last two absent where nothing varies."""
    mean, sd = mean_sd(values)
    if sd <= 1e-12 * abs(mean):
        return mean, None, None
    error, degrees = sd / math.sqrt(len(values)), len(values) - 1
    return mean, around(mean, error, degrees, confidence), t_two_sided(mean / error, degrees)
def clustered(values, clusters, confidence=CONFIDENCE):
    """Mean, interval and p by CR2 (Bell and McCaffrey) with Satterthwaite's degrees; the last two absent where nothing varies."""
    mean, sums, n, square = math.fsum(values) / len(values), defaultdict(float), len(values), lambda x: x * x
    for value, cluster in zip(values, clusters):
        sums[cluster] += value - mean
    parts = [(sums[cluster], size / n) for cluster, size in Counter(clusters).items()]
    error = math.sqrt(math.fsum(s * s / (1 - share) for s, share in parts)) / n if len(parts) > 1 else 0.0
    if error <= 1e-12:
        return mean, None, None
    beside = math.fsum(share * share / (1 - share) for _, share in parts)
    degrees = 1 / (beside * beside + math.fsum(share * share - square(share * share / (1 - share)) for _, share in parts))
    return mean, around(mean, error, degrees, confidence), t_two_sided(mean / error, degrees)
def flip_interval(parts, confidence):
    """The means that sign flips of whole clusters do not reject, from each cluster's sum and size: order statistics of the means of both sides of all splits."""
    if len(parts) > 16: return None
    (total, n), lows, highs = (sum(side) for side in zip(*parts)), [], []
    for chosen in itertools.product((False, True), repeat=len(parts) - 1):
        part, size = (sum(side) for side in zip((0, 0), *itertools.compress(parts[1:], chosen)))
        means = (part / size, (total - part) / (n - size)) if size else (-math.inf, math.inf)
        lows.append(min(means)), highs.append(max(means))
    place = max(1, math.ceil((1 - confidence) * len(lows) - 1e-9)) - 1
    return sorted(lows)[place], sorted(highs)[-1 - place]
def bounds(metric, values):  # The least and the greatest possible value, unless one is beyond. A share adjusted for chance may be below 0.
    is_share = metric["name"] in ("shared_tests", "own_tests", "pass_rate", "accuracy")
    low, high = {"fraction": (is_share - 1.0, 1.0), "points": (0.0, 100.0), "number": (-math.inf, math.inf)}.get(metric["unit"], (0.0, math.inf))
    return (low, high) if values and low <= min(values) and max(values) <= high else (-math.inf, math.inf)
def welch(a, b, confidence):
    (mean_a, sd_a), (mean_b, sd_b) = mean_sd(a), mean_sd(b)
    if min(len(a), len(b)) < 2 or sd_a == sd_b == 0:
        return mean_a - mean_b, None, None
    of_a, of_b = sd_a ** 2 / len(a), sd_b ** 2 / len(b)
    degrees = (of_a + of_b) ** 2 / (of_a ** 2 / (len(a) - 1) + of_b ** 2 / (len(b) - 1))
    difference, error = mean_a - mean_b, math.sqrt(of_a + of_b)
    return difference, around(difference, error, degrees, confidence), t_two_sided(difference / error, degrees)
def holm(ps):
    adjusted, largest = {}, 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        largest = adjusted[place] = min(1.0, max(largest, ps[place] * (len(ps) - rank)))
    return [adjusted[place] for place in range(len(ps))]
def benjamini_hochberg(ps):
    adjusted, least = {}, 1.0
    for rank, place in sorted(enumerate(sorted(range(len(ps)), key=lambda place: ps[place]), 1), reverse=True):
        least = adjusted[place] = min(least, ps[place] * len(ps) / rank)
    return [adjusted[place] for place in range(len(ps))]
ADJUSTED = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}
MIN_ITEMS, MIN_LABELS = 6, 20
def units(*arms):
    """By item: each arm's mean over its evaluators that all arms have, its passed and counted outcomes, and the cluster or the item itself."""
    columns = defaultdict(list)
    for key in arms[0]:
        if all(key in arm for arm in arms):
            columns[key[0], key[2]].append(key)
    of = lambda arm, keys: (statistics.fmean(arm[key][0] / arm[key][1] for key in keys), *(sum(arm[key][n] for key in keys) for n in (0, 1)))
    cluster = lambda keys: next((arm[key][2] for arm in arms for key in keys if arm[key][2]), None)
    return {item: ([of(arm, keys) for arm in arms], cluster(keys) or item) for item, keys in columns.items()}
is_person = lambda evaluator: evaluator.partition(":")[0] == "human"
def by_verdict(judged, labels):
    """A judge's mean, corrected by people's labels of some items: their means by verdict, weighed as the verdicts are; nothing for verdicts in part."""
    if not labels or any(value % 1 for value in (*judged.values(), *labels.values())):
        return None
    known = defaultdict(list)
    for item, label in labels.items():
        known[judged[item]].append(label)
    return statistics.fmean(statistics.fmean(known.get(said) or labels.values()) for said in judged.values())
CORRECTED = ("prediction_powered", "known_errors")
TWO_WAY = ("t_over_items_and_runs", "wilson_effective", "two_way", "each_run_alone", "pooled_totals", "delta_on_logs")
class Site:
    def __init__(self, root):
        self.split = set()
        self.root, self.checked, self.wrong, self.left_out, self.runs, self.outcomes, self.given, self.tries = root, Counter(), [], Counter(), {}, {}, {}, {}
        self.labels = defaultdict(lambda: defaultdict(list))
    read = lambda self, path: json.loads(self.text(path))
    text = lambda self, path: pathlib.Path(self.root, path).read_text(encoding="utf-8")
    def below(self, folder, ending):
        found = [os.path.join(base, name) for base, _, names in os.walk(os.path.join(self.root, folder)) for name in names]
        return sorted(os.path.relpath(path, self.root).replace(os.sep, "/") for path in found if path.endswith(ending))
    def check(self, kind, place, stated, found):
        if stated is None or found is None:
            self.left_out[f"{kind} that only one side has"] += (stated is None) != (found is None)
            return
        self.checked[kind] += 1
        if abs(stated - found) > CLOSE * max(1.0, abs(stated), abs(found)):
            self.wrong.append(f"{place}: {kind} is stated as {stated:.10g}, and the data give {found:.10g}")
    def check_ends(self, kind, place, stated, found, least=-math.inf, most=math.inf):
        for end, value in zip(("low", "high"), found or (None, None)):
            self.check(kind, f"{place}, {end} end", (stated or {}).get(end), min(max(value, least), most) if found else None)
    def counts(self, place, stated, **found):
        for name, value in found.items():
            self.check("count", f"{place}, {name}", stated.get(name), value)
    def digests(self):
        listed = self.read("data/digests.json")["files"]
        there = {path for path in self.below("data", "") if path != "data/digests.json"}
        self.checked["digest"] += len(there | set(listed))
        for path in sorted(there | set(listed)):
            if path not in there or path not in listed:
                self.wrong.append(f"{path}: is {'listed and not there' if path in listed else 'there and not listed'}")
            elif hashlib.sha256(open(os.path.join(self.root, path), "rb").read()).hexdigest() != listed[path]:
                self.wrong.append(f"{path}: its bytes are not those that the site was built with")
    def load_runs(self):
        people, judged = [], set()
        for answer in map(self.read, self.below("data/runs", ".json")):
            run = answer["run"]
            self.runs[run["id"]], self.outcomes[run["id"]] = run, defaultdict(lambda: [0, 0, None])
            self.tries.setdefault(run["id"], defaultdict(lambda: [0, 0]))
            for row in answer["items"]:
                if is_person(row["evaluator"]):
                    people.append((run, row))
                elif row["evaluator"] not in ("own_tests", "functional_tests"):
                    judged.add((run["suite"], row["kind"], row["item"]))
                    self.add(run["id"], row)
        # A person's outcome of an item that another evaluator decides is a label: it checks that evaluator.
        for run, row in people:
            if (run["suite"], row["kind"], row["item"]) not in judged:
                self.add(run["id"], row)
            elif row["status"] in COUNTED:
                self.labels[run["id"]][row["kind"], row["item"]].append(float(row["status"] == "pass"))
    def add(self, run, row):
        cell = self.outcomes[run][(row["kind"], row["evaluator"], row["item"])]
        for sums in (cell, self.tries[run][row["kind"], row["item"], row.get("attempt", 1)]):
            sums[0] += row["status"] == "pass"
            sums[1] += row["status"] in COUNTED
        cell[2] = cell[2] or row.get("cluster")
    def suite(self, path):
        board = (answer := self.read(path))["board"]
        if board.get("excluded_items"):
            self.left_out["boards with excluded items"] += 1
            return
        kind = min((key[0] for run in answer["runs"] for key in self.outcomes[run["id"]]), key=KINDS.index, default=None)
        for line in answer["runs"]:
            cells = self.outcomes[line["id"]] = {key: cell for key, cell in self.outcomes[line["id"]].items() if key[0] == kind}
            tries = [tried for key, tried in self.tries[line["id"]].items() if key[0] == kind and tried[1]]
            # An item whose evaluators disagree passes in part, and counts once.
            passed, total = math.floor(math.fsum(tried[0] / tried[1] for tried in tries) + 0.5), len(tries)
            if any(0 < tried[0] < tried[1] for tried in tries):
                self.split.add(line["id"])
            if total:
                self.counts(f"run {line['id']}", line, passed=passed, total=total)
            else:
                passed, total = line.get("passed"), line.get("total")
                self.left_out["counts of a run without outcomes, taken as given"] += total is not None
            self.given[line["id"]] = (passed, total) if total else None
            if total and line.get("interval"):
                interval = self.run_interval(cells, kind) or wilson(passed, total)
                self.check_ends("interval of a rate", f"run {line['id']}", line["interval"], interval, 0.0, 1.0)
        for entry in board["entries"]:
            arm, place = (entry["approach"], entry["model"]), f"{path}, {entry['approach']} with {entry['model']}"
            own = [run for run in answer["runs"] if (run["approach"], run["model"]) == arm and run["status"] in COUNTED_RUNS]
            # A board counts since the newest change; an arm without newer runs keeps its older ones.
            since, names = board.get("since") or {}, {"approach": arm[0], "model": arm[1]}
            first = "" if names in since.get("older", []) or since.get("because") == "no_change" else since.get("date", "")
            runs = [run["id"] for run in own if run.get("timestamp", "")[:10] >= first]
            self.estimate(place, entry.get("pass_rate"), runs)
            self.reliability(place, entry.get("reliability", []), runs)
            self.left_out["chance of coming first, which is drawn"] += "p_best" in (entry.get("standing") or {})
        self.page(path[5:-5] + "/leaderboard.html", [entry["pass_rate"] for entry in board["entries"] if entry.get("pass_rate")])
        for table in answer["tables"]:
            self.comparison(f"{path}, table", table)
            for row in table["rows"]:
                self.adjusted(f"{path}, table, {row['metric']['name']}", *map(row["evidence"].get, ("adjustment", "tested", "pairs")))
    def cells(self, runs, without=()):
        """Passed and counted attempts by item, over runs, without some items; nothing where a run has no outcomes."""
        if not runs or any(not self.outcomes.get(run) for run in runs):
            return None
        cells = defaultdict(lambda: [0, 0, None])
        for key, (passed, counted, cluster) in itertools.chain.from_iterable(self.outcomes[run].items() for run in runs):
            cells[key] = [cells[key][0] + passed, cells[key][1] + counted, cells[key][2] or cluster]
        return {key: cell for key, cell in cells.items() if cell[1] and key not in without}
    def run_interval(self, cells, kind):
        """One run's interval over items, several attempts and evaluators averaged, or over their clusters; nothing where its outcomes are counts."""
        items = list(units({key: cell for key, cell in cells.items() if cell[1]}).values())
        means, clusters = [own[0] for [own], _ in items], [cluster for _, cluster in items]
        found = len(set(clusters))
        if found < len(items) and kind != "task" and (kind == "question" or found >= MIN_ITEMS):
            return clustered(means, clusters)[1] or wilson(math.fsum(means) / len(means) * found, found)
        tries = defaultdict(list)
        for (of, _, item), (passed, counted, _) in cells.items():
            tries[of, item].append((passed, counted))
        if all(counted <= 1 for found in tries.values() for _, counted in found) and all(mean in (0, 1) for mean in means):
            return None
        return t_mean(means)[1] or wilson(math.fsum(means), len(means))
    def stated_rates(self, runs):
        """What sources state of runs of which they give no counts."""
        found = [[score for score in self.runs[run]["scores"] if score["metric"] in ("accuracy", "pass_rate") and score["unit"] == "fraction"] for run in runs]
        newest = [max(scores, key=lambda score: score["revision"]) for scores in found if scores]
        return [score["value"] for score in newest if "value" in score]
    rates = lambda self, runs: [self.given[run][0] / self.given[run][1] for run in runs if self.given.get(run)]
    def estimate(self, place, stated, runs):
        if not stated or stated["method"] in ("stated", "stated_error"):
            self.left_out["rates that a source states without counts"] += bool(stated)
            return
        method, known = stated["method"], [self.given[run] for run in runs if self.given.get(run)]
        passed, total = (sum(counts) for counts in zip(*known)) if known else (None, None)
        if self.split.isdisjoint(runs):
            self.counts(place, stated, passed=passed, total=total)
        by_item = units(self.cells(runs) or {})
        items, interval = by_item.values(), None
        means = [own[0] for [own], _ in items]
        if method in CORRECTED:
            self.check("rate", f"{place}, by the judge alone", stated["judge"]["value"], statistics.fmean(means) if means else None)
            is_known = method == "prediction_powered" and not stated.get("clusters")
            found = by_verdict({item: own[0] for item, ([own], _) in by_item.items()}, self.labelled(by_item, runs)) if is_known else None
            self.corrected("rate", place, stated["value"], found)
            return
        if method in ("wilson", "wilson_one_run"):
            value, interval = passed / total, wilson(passed, total)
            guaranteed = clopper_pearson(passed, total) if stated.get("guaranteed") else None
            self.check_ends("interval of a rate", f"{place}, guaranteed", stated.get("guaranteed"), guaranteed)
        elif method == "t_over_clusters":
            value, interval, _ = clustered(means, [cluster for _, cluster in items])
        else:
            is_of_items = bool(means) and (method in ("t_over_items", *TWO_WAY) or (method == "none" and stated["n_of"] != "runs"))
            value, interval, _ = t_mean(means if is_of_items else self.rates(runs) or self.stated_rates(runs))
        self.check("rate", place, stated["value"], value)
        if method in TWO_WAY:
            self.left_out["intervals of rates over items and runs at once"] += 1
        else:
            self.check_ends("interval of a rate", place, stated.get("interval"), interval, 0.0, 1.0)
    def reliability(self, place, stated, runs):
        cells = self.cells(runs) or {}
        for k, line in ((line["k"], line) for line in stated):
            some = math.fsum(1 - math.comb(n - p, k) / math.comb(n, k) for p, n, _ in cells.values()) / len(cells)
            every = math.fsum(math.comb(p, k) / math.comb(n, k) for p, n, _ in cells.values()) / len(cells)
            self.check("rate", f"{place}, pass@{k}", line["any_passes"], some)
            self.check("rate", f"{place}, pass^{k}", line["all_pass"], every)
    def value(self, metric, run):
        """A run's number; for amounts and scores as its data give them."""
        run = self.runs[run]
        if metric == "own_tests":
            return run["own_tests_passed"] / run["own_tests_total"] if run.get("own_tests_total") else None
        scores = [(score["revision"], score["value"]) for score in run["scores"] if score["metric"] == metric and "value" in score]
        return max(scores)[1] if scores else run.get({"total_tokens": "tokens"}.get(metric, metric))
    def comparison(self, place, table):
        arms, changed, cut = [arm["run_ids"] for arm in table["arms"]], {}, lambda out: None in out
        for pair in table.get("comparability", ()):
            # Items whose texts differ are no pair; None stands for those that are not listed.
            out = {(item["kind"], item["evaluator"], item["item"]) for item in pair.get("changed_items", ())}
            changed[pair["first"], pair["second"]] = out | ({None} if len(out) < pair.get("items", {}).get("changed", 0) else set())
        for row in table["rows"]:
            metric, evidence, at = row["metric"], row["evidence"], f"{place}, {row['metric']['name']}"
            is_rate = metric["name"] == "shared_tests"
            if not is_rate and any(cell.get("estimate") for cell in row["cells"]):
                self.left_out["means of items' scores"] += 1
                continue
            apart = self.apart(arms, evidence["pairs"], changed) if is_rate else set()
            for runs, cell in zip(arms, row["cells"]):
                if apart:
                    self.shared_rate(at, cell.get("estimate"), runs, apart)
                    continue
                self.estimate(at, cell.get("estimate"), runs)
                self.figure(at, cell.get("figure"), self.rates(runs) if is_rate else self.values(metric["name"], runs), metric)
            for pair in evidence["pairs"]:
                out = changed.get((pair["first"], pair["second"]), ()) if is_rate else ()
                if out and (cut(out) or pair["design"] in ("runs", "counts")):
                    self.left_out["pairs over runs, or with many items whose texts differ"] += 1
                    continue
                self.pair(at, metric, pair, arms[pair["first"]], arms[pair["second"]], 1 - evidence["alpha"], out)
        flips, out = table.get("flips"), changed.get((0, 1), ())
        cells = [self.cells(runs, out) for runs in arms]
        if flips and len(arms) == 2 and all(cells) and not cut(out):
            # Of equal rates, those above one half count as passed by both.
            def fell(one, other):
                return "only_first" if one > other + 1e-12 else "only_second" if other > one + 1e-12 else "both_passed" if one > 0.5 + 1e-12 else "neither"
            fell = {item: fell(*(own[0] for own in both)) for item, (both, _) in units(*cells).items()}
            for name in ("neither", "only_second", "only_first", "both_passed"):
                keys = {key for key, side in fell.items() if side == name}
                self.check("count", f"{place}, {name}", flips[name], len(keys))
                if "listed" in flips:
                    strangers = {(item["kind"], item["item"]) for item in flips["listed"][name]} - keys
                    self.wrong += [f"{place}: {item!r} is listed under {name} and does not belong there" for _, item in sorted(strangers)]
                    self.prints(place, f'href="#{name.replace("_", "-")}">{flips[name]:,}<', f"{name}, {flips[name]}")
    def prints(self, place, markup, what):
        self.checked["number on a page"] += 1
        self.wrong += [f"{place[5:-5]}.html: does not print {what}, as the data have it"] * (markup not in self.text(place[5:-5] + ".html"))
    def prints_difference(self, path, value, label):
        """With as many places as the rates beside it have; zero has no sign."""
        texts = [f"{half_up(value, places):{'+' if value else ''}} pp".replace("-", "\u2212") for places in ("1", "0.1", "0.01", "0.001")]
        found = [text for text in texts if f'<td data-v="">{text}' in self.text(path[5:-5] + ".html")]
        self.prints(path, f'<td data-v="">{(found or texts)[0]}', f"the difference {texts[0]} of {label}")
    def apart(self, arms, pairs, changed):
        """The items that only one of two arms has outcomes of, or in another text, if the rates beside their difference are over the others."""
        cells = [self.cells(runs) for runs in arms]
        if len(arms) != 2 or not all(cells) or not all("pairs" in pair["sizes"] and "difference" in pair for pair in pairs):
            return set()
        return set(cells[0]) ^ set(cells[1]) | set(changed.get((0, 1), ()))
    def shared_rate(self, place, stated, runs, apart):
        means = [own[0] for [own], _ in units(self.cells(runs, apart) or {}).values()]
        if None in apart or not means or not stated or stated.get("judge"):
            self.left_out["rates over the items of both arms that cannot be told"] += 1
        else:
            self.check("rate", place, stated["value"], statistics.fmean(means))
    values = lambda self, metric, runs: [value for value in (self.value(metric, run) for run in runs) if value is not None]
    def figure(self, place, stated, values, metric):
        if not stated or not values or len(values) != stated["n"]:
            self.left_out["means over runs whose numbers are sums over items"] += bool(stated)
            return
        mean, interval, _ = t_mean(values)
        self.check("mean", place, stated["mean"], mean)
        self.check("mean", f"{place}, sd", stated.get("sd"), mean_sd(values)[1] if len(values) > 1 else None)
        if metric["kind"] == "amount" and min(values) > 0:
            # What is compared is the geometric mean.
            interval = (ends := t_mean([math.log(value) for value in values])[1]) and tuple(math.exp(end) for end in ends)
        self.check_ends("interval of a mean", place, stated.get("interval"), interval, *bounds(metric, values))
    def pair(self, place, metric, pair, one, other, confidence, without):
        stated, test, detail = pair.get("difference"), pair.get("test"), pair.get("detail") or {}
        for name in ("detectable", "needed", "effect", "bill", "doubled"):
            self.left_out[f"`{name}`: planning figures and sizes beside the verdict"] += name in pair or name in detail
        if not stated:
            return
        place, check = f"{place}, {pair['first']} and {pair['second']}", detail.get("cross_check") or {}
        second, ends, least, cells = None, None, -1.0, [self.cells(runs, without) for runs in (one, other)]
        if metric["name"] == "shared_tests" and pair["design"] in ("items", "clusters") and all(cells):
            by_item = units(*cells)
            items = by_item.values()
            differences = [first[0] - second[0] for (first, second), _ in items]
            won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
            if pair.get("judge"):
                self.check("difference", f"{place}, by the judge alone", pair["judge"]["value"], statistics.fmean(differences))
                first, second = (self.labelled(by_item, runs) for runs in (one, other))
                both = {item: first[item] - second[item] for item in first if item in second}
                is_known = test == "prediction_powered" and pair["design"] == "items" and len(both) >= MIN_LABELS
                self.corrected("difference", place, stated["value"], by_verdict(dict(zip(by_item, differences)), both) if is_known else None)
                return
            self.counts(place, pair["record"], won=won, lost=lost)
            value, interval, p = t_mean(differences, confidence) if len(differences) > 1 else (sum(differences), None, None)
            if test == "mcnemar_exact":
                both = sum(first[0] == second[0] == 1 for (first, second), _ in items)
                interval, (p, second) = tango(won, lost, len(items), confidence), mcnemar(won, lost)
                ends = newcombe_paired(both, won, lost, len(items) - won - lost - both, confidence)
            elif test == "cluster_t":
                value, interval, p = clustered(differences, [cluster for _, cluster in items], confidence)
            elif test == "cluster_sign_flip":
                parts = defaultdict(list)
                for difference, (_, cluster) in zip(differences, items):
                    parts[cluster].append(difference)
                parts = [(math.fsum(own), len(own)) for own in parts.values()]
                varies = clustered(differences, [cluster for _, cluster in items])[1]
                interval, p = varies and flip_interval(parts, confidence), sign_flip([own for own, _ in parts])
            elif test == "sign_flip":
                interval, p = None, sign_flip(differences)
            elif check:
                second = sign_flip(differences)
        else:
            is_taken = lambda run: metric["kind"] != "amount" or self.runs[run]["status"] == "completed"
            of = self.rates if metric["name"] == "shared_tests" else lambda runs: self.values(metric["name"], filter(is_taken, runs))
            a, b = of(one), of(other)
            sizes = (pair["sizes"]["first"], pair["sizes"]["second"]) if pair["design"] != "items" else (1, 1)
            is_over_items = pair["design"] == "items" and metric["name"] != "shared_tests"
            if not a or not b or is_over_items or (len(a), len(b)) != sizes:
                self.left_out["differences of numbers that are sums over items"] += 1
                return
            is_ratio, (low, high) = stated["scale"] == "ratio", bounds(metric, (*a, *b))
            least = -math.inf if is_ratio else low - high
            a, b = ([math.log(x) if is_ratio else x for x in values] for values in (a, b))
            value, interval, p = welch(a, b, confidence)
            if test == "fisher_exact":
                counts = (*self.given[one[0]], *self.given[other[0]])
                interval, p = newcombe(*counts, confidence) if pair["design"] == "items" else None, fisher(*counts)
            elif test == "permutation":
                interval, p = None, permutation(a, b)
            elif check:
                second = permutation(a, b)
            if is_ratio:
                value, interval = math.exp(value), interval and tuple(math.exp(end) for end in interval)
        self.check("difference", place, stated["value"], value)
        if test in TWO_WAY:
            self.left_out["intervals and p of differences over items and runs at once"] += 1
            return
        equal = float(stated["scale"] == "ratio")
        if interval and (pair.get("p") or 0) >= 1 - confidence:
            interval = min(equal, interval[0]), max(equal, interval[1])
        if test == "cluster_sign_flip" and not interval:
            self.left_out["intervals over more clusters than are split here, or that do not vary"] += 1
        else:
            self.check_ends("interval of a difference", place, stated.get("interval"), interval, least, -least)
        for stated_p, found, name in ((pair.get("p"), p, test), (check.get("p"), second, check.get("check"))):
            if stated_p is not None and found is None:
                self.left_out[f"p by {name} over more rearrangements than are looked at here"] += 1
            elif stated_p is not None:
                self.check("p", f"{place}, {name}", stated_p, found)
        if check.get("interval"):
            self.check_ends("interval of a difference", f"{place}, {check['check']}", check["interval"], ends)
    def labelled(self, items, runs):
        """People's mean label of each labelled item of an arm's one run."""
        labels = self.labels[runs[0]] if len(runs) == 1 else {}
        return {item: statistics.fmean(labels[item]) for item in labels if item in items}
    def corrected(self, kind, place, stated, found):
        self.left_out[f"{kind}s corrected by error rates, over clusters, by people who disagree, or by labels of different items"] += found is None
        self.left_out[f"intervals and p of corrected {kind}s"] += 1
        self.check(kind, place, stated if found is not None else None, found)
    def adjusted(self, place, adjustment, tested, pairs):
        pairs = [pair for pair in pairs if pair.get("p_adjusted") is not None]
        if adjustment not in ADJUSTED or len(pairs) != tested:
            self.left_out["adjusted p of families that no page shows whole, or of joint sign flips"] += len(pairs)
            return
        for pair, found in zip(pairs, ADJUSTED[adjustment]([pair["p"] for pair in pairs])):
            self.check("adjusted p", place, pair["p_adjusted"], found)
    def pairs(self):
        families = defaultdict(list)
        for path in self.below("data/compare", ".json"):
            for table in self.read(path).get("comparisons", ()):
                if table.get("excluded_items"):
                    self.left_out["comparisons with excluded items"] += 1
                    continue
                self.comparison(path, table)
                for row in table["rows"]:
                    evidence = row["evidence"]
                    family = (os.path.dirname(path), row["metric"]["name"], evidence["adjustment"], evidence["tested"])
                    families[family] += evidence["pairs"]
                    found = row["evidence"]["pairs"][0].get("difference") if row["evidence"]["pairs"] else None
                    if found and found["scale"] == "share":
                        self.prints_difference(path, 100 * found["value"] + 0.0, row["metric"]["label"])
                cells = (cell for row in table["rows"] for cell in row["cells"] if row["metric"]["name"] == "shared_tests")
                self.page(path[5:-5] + ".html", [cell["estimate"] for cell in cells if cell.get("estimate")])
        for (folder, metric, *how), pairs in sorted(families.items()):
            self.adjusted(f"{folder}, {metric}", *how, pairs)
    def page(self, path, estimates):
        """What a page prints for a rate and its interval is the data's number, rounded."""
        printed = defaultdict(list)
        for number, text in re.findall(r'<td data-v="([^"]+)">(?:<strong>)?([\d.]+(?: \[[\d.]+, [\d.]+\])?)(?: published)?<', self.text(path)):
            printed[number].append(re.findall(r"[\d.]+", text))
        for estimate in estimates:
            numbers = [estimate["value"], *(estimate["interval"][end] for end in ("low", "high") if estimate.get("interval"))]
            rounds = lambda text, number: abs(float(text) - 100 * number) <= 0.5000001 * 10.0 ** -len(text.partition(".")[2])
            texts = [text for key, found in printed.items() if float(key) == estimate["value"] for text in found]
            self.checked["number on a page"] += len(numbers)
            if not any(len(text) == len(numbers) and all(map(rounds, text, numbers)) for text in texts):
                self.wrong.append(f"{path}: does not print the rate {estimate['value']:.6g} with its interval as the data have it")
    def items(self):
        for path in self.below("data/items", ".json"):
            answer = self.read(path)
            lines = {(item["kind"], item["evaluator"], item["item"]): item for item in answer["items"]}
            arms = [[{key: cell for key, cell in self.outcomes[run].items() if key in lines} for run in arm["runs"]] for arm in answer["arms"]]
            if not all(map(all, arms)):
                self.left_out["items whose outcomes stand with the criteria of runs"] += len(lines)
                continue
            in_rest = {key: "excluded" not in item["signs"] for key, item in lines.items()}
            runs = [(run, *(sum(cell[n] for key, cell in run.items() if in_rest[key]) for n in (0, 1))) for of_arm in arms for run in of_arm]
            for key, item in lines.items():
                place, cells = f"{path}, {item['item']}", [[sum(run[key][n] for run in arm if key in run) for n in (0, 1)] for arm in arms]
                for arm, n in itertools.product(range(len(arms)), (0, 1)):
                    self.check("count of an item", f"{place}, arm {arm + 1}, {('passed', 'counted')[n]}", item["cells"][arm][n], cells[arm][n])
                rates = [passed / counted for passed, counted in cells if counted]
                self.check("rate of an item", place, item.get("rate"), math.fsum(rates) / len(rates) if rates else None)
                tried = [(*run[key][:2], passed, counted) for run, passed, counted in runs if key in run and run[key][1]]
                rest = [(p / n, passed - p * in_rest[key], counted - n * in_rest[key]) for p, n, passed, counted in tried]
                stated, pairs = item.get("discrimination") or {}, [(own, passed / counted) for own, passed, counted in rest if counted]
                self.check("correlation of an item", place, stated.get("value"), correlation(pairs))
    def verify(self):
        try:
            self.digests()
            self.load_runs()
            for path in self.below("data/suites", ".json"): self.suite(path)
            self.pairs()
            self.items()
        except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
            self.wrong.append(f"the data cannot be gone through: {error!r}")
        print(f"{sum(self.checked.values())} numbers checked: " + ", ".join(f"{count} of {kind}" for kind, count in sorted(self.checked.items())))
        print("".join(f"not recomputed: {count} of {reason}\n" for reason, count in sorted(self.left_out.items()) if count), end="")
        print("".join(f"MISMATCH {line}\n" for line in self.wrong) + f"{len(self.wrong)} mismatches")
        return 1 if self.wrong else 0
if __name__ == "__main__": sys.exit(Site(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))).verify())
