"""Differences and rates with their intervals, drawn for notebooks: one panel a scale, one row a pair or an arm.

The drawing is SVG without scripts, fonts or addresses. Its figures are those of the JSON, which each row's title has in full.
"""

import decimal
import html
import math
import unicodedata
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, cast

from ._pairs import Pair, full_name, labels_of, pairs_of

_WIDTH, _LEFT, _PLOT, _ROW, _HEAD, _FOOT = 720.0, 210.0, 270.0, 22.0, 8.0, 22.0
#: Factor by which the axis exceeds the outermost value.
_REACH = 1.08
#: Maximum number of characters of a label, and of rows of a panel.
MAX_LABEL = 32
MAX_ROWS = 40
_FACTORS = (1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
_DECIDED = ("a_wins", "b_wins", "deterministic_difference")


class Row(NamedTuple):
    """One line of a panel. `low` and `high` are `None` without an interval; `marks` are limits."""

    label: str
    value: float
    low: Optional[float]
    high: Optional[float]
    text: str
    told: str
    is_decided: bool
    marks: Tuple[float, ...] = ()


class Panel(NamedTuple):
    """Rows of one scale: `share`, `unit` or `ratio` for differences, `rate` or `level` for values of arms."""

    caption: str
    scale: str
    rows: List[Row]
    #: Of what there is no figure.
    lacking: List[str]


def of_comparisons(answer: Mapping[str, Any]) -> str:
    return _draw(panel for one in answer["comparisons"] for panel in comparison_panels(one))


def of_leaderboard(answer: Mapping[str, Any]) -> str:
    return _draw(board_panel(board) for board in answer["suites"])


def of_gate(answer: Mapping[str, Any]) -> str:
    return _draw(gate_panels(answer))


def comparison_panels(comparison: Mapping[str, Any]) -> List[Panel]:
    """Returns the panels of two arms on all metrics. Of more arms, those of each to the leader, or to a named arm, on the deciding metric."""
    pairs = pairs_of(comparison)
    if len(comparison["arms"]) < 3:
        return _panels(pairs, lambda pair: pair["label"], lambda pair: f"{comparison['suite']}: {pair['first']} vs {pair['second']}")
    labels = labels_of(comparison["suite"], comparison["arms"])
    row = next((row for row in comparison["rows"] if row["role"] == "primary"), None)
    if row is None:
        return []
    order = _by_value(row)
    base = comparison.get("against")
    if base is None:
        # An arm with a rate over fewer items than others cannot lead.
        partial = row["evidence"].get("partial") or []
        base = next((arm for arm in order if arm not in partial), order[0])
    seen = {pair["first"]: pair for pair in (seen_from(pair, labels[base]) for pair in pairs if pair["metric"] == row["metric"]["name"]) if pair}
    shown = [seen[labels[arm]] for arm in order if labels[arm] in seen]
    return _panels(shown, lambda pair: pair["first"], lambda pair: f"{comparison['suite']}: {pair['label']}, each less {pair['second']}")


def _by_value(row: Mapping[str, Any]) -> List[int]:
    """Returns the arms as the table has them: the best value first, and arms without a value last."""
    sign = 1 if row["metric"].get("direction") == "down" else -1
    values = [cell.get("value") for cell in row["cells"]]
    return sorted(range(len(values)), key=lambda arm: (values[arm] is None, sign * (values[arm] or 0.0)))


def seen_from(pair: Pair, second: str) -> Optional[Pair]:
    """Returns a pair with this arm as the second. `None` if it is of neither."""
    if pair["second"] == second:
        return pair
    if pair["first"] != second:
        return None

    def turned(value: Optional[float]) -> Optional[float]:
        if value is None:
            return None
        if pair["scale"] == "ratio":
            return 1 / value if value else math.inf
        # No figure is a negative zero.
        return -value if value else 0.0

    verdict = {"a_wins": "b_wins", "b_wins": "a_wins"}.get(pair["verdict"], pair["verdict"])
    turned_pair = dict(pair, first=pair["second"], second=pair["first"], first_value=pair["second_value"], second_value=pair["first_value"])
    turned_pair.update(difference=turned(pair["difference"]), low=turned(pair["high"]), high=turned(pair["low"]), verdict=verdict)
    for end in ("approach", "model"):
        turned_pair.update({f"first_{end}": pair[f"second_{end}"], f"second_{end}": pair[f"first_{end}"]})  # type: ignore[literal-required]
    return cast(Pair, turned_pair)


def _panels(pairs: Sequence[Pair], label: Callable[[Pair], str], title: Callable[[Pair], str]) -> List[Panel]:
    groups: Dict[str, List[Pair]] = {}
    for pair in pairs:
        # A metric in a unit of its own has an axis of its own.
        key = f"unit {pair['metric']}" if pair["scale"] == "unit" else pair["scale"] or ""
        groups.setdefault(key, []).append(pair)
    lacking = [f"{label(pair)}: no difference" for pair in groups.pop("", [])]
    panels = []
    for scale, of_scale in sorted(groups.items(), key=lambda entry: ("share", "ratio").index(entry[0]) if entry[0] in ("share", "ratio") else 2):
        drawn = [pair for pair in of_scale if _distance(scale.split()[0], pair["difference"]) is not None]
        lacking += [f"{label(pair)}: no finite difference" for pair in of_scale if pair not in drawn]
        if drawn:
            rows = [_pair_row(pair, label(pair)) for pair in drawn]
            panels.append(Panel(f"{title(drawn[0])}, {_meaning(scale.split()[0])}{_level(drawn)}", scale.split()[0], rows, []))
    if lacking:
        panels = [*panels[:-1], panels[-1]._replace(lacking=lacking)] if panels else [Panel(title(pairs[0]), "share", [], lacking)]
    return panels


def _meaning(scale: str) -> str:
    return {"share": "difference in percentage points", "ratio": "ratio"}.get(scale, "difference")


def _level(pairs: Sequence[Pair]) -> str:
    level = next((pair["confidence"] for pair in pairs if pair["confidence"] is not None), None)
    return "" if level is None else f" with {level * 100:g}% CI"


def _pair_row(pair: Pair, label: str) -> Row:
    value, low, high = pair["difference"], pair["low"], pair["high"]
    assert value is not None and pair["scale"] is not None
    margin = pair["margin"]
    marks: Tuple[float, ...] = ()
    if margin is not None:
        marks = (1 / (1 + margin), 1 + margin) if pair["scale"] == "ratio" else (-margin, margin)
    told = f"{pair['label']}, {pair['first']} vs {pair['second']}: {_exact(value, low, high)} ({pair['scale']}), {pair['verdict']}"
    decimals = _decimals(pair["test"], pair["n"], pair["first_n"], pair["second_n"], pair["n_of"])
    return Row(label, value, low, high, _words(pair["scale"], value, low, high, decimals), told, pair["verdict"] in _DECIDED, marks)


def board_panel(board: Mapping[str, Any]) -> Panel:
    """Returns the panel of a board: the deciding metric of each arm."""
    metric = board.get("primary")
    entries = board["entries"]
    labels = labels_of(board["suite"], entries)
    if metric is None:
        return Panel(board["suite"], "level", [], [f"{label}: no figure" for label in labels])
    scale = "rate" if metric["unit"] == "fraction" else "level"
    rows, lacking = [], []
    for entry, label in zip(entries, labels):
        estimate = entry.get("primary") or {}
        value = estimate.get("value")
        if value is None:
            lacking.append(f"{label}: no figure")
            continue
        interval = estimate.get("interval") or {}
        low, high = interval.get("low"), interval.get("high")
        told = f"{metric['label']}, {label}: {_exact(value, low, high)}"
        rows.append(Row(label, value, low, high, _words(scale, value, low, high, _percent_decimals(estimate.get("n"))), told, True))
    return Panel(f"{board['suite']}: {metric['label']} with 95% CI", scale, rows, lacking)


def gate_panels(answer: Mapping[str, Any]) -> List[Panel]:
    """Returns the panels of the checks of a metric, with their limits."""
    groups: Dict[str, List[Row]] = {}
    lacking: List[str] = []
    for check in answer["checks"]:
        rule, metric = check["rule"], check.get("metric")
        if rule["kind"] not in ("max_drop", "max_rise") or metric is None:
            continue
        label = f"{check['suite']}, {labels_of(check['suite'], [check['arm']])[0]}: {metric['label']}"
        evidence = check.get("evidence") or {}
        difference: Dict[str, Any] = evidence.get("difference") or {}
        scale, value = difference.get("scale"), difference.get("value")
        if scale is None or value is None or _distance(scale, value) is None:
            lacking.append(f"{label}: no difference")
            continue
        interval = difference.get("interval") or {}
        low, high = interval.get("low"), interval.get("high")
        limit = -rule["allowed"] if rule["kind"] == "max_drop" else rule["allowed"]
        mark = 1 + limit if scale == "ratio" else limit
        named = f"{metric['label']}, {check['suite']}, {full_name(check['arm'])}"
        told = f"{named}: {_exact(value, low, high)} ({scale}), limit {mark!r}, {check['ruling']}"
        sizes = evidence["sizes"]
        decimals = _decimals(evidence.get("test"), sizes.get("pairs"), sizes.get("first"), sizes.get("second"), sizes.get("of"))
        text = _words(scale, value, low, high, decimals)
        row = Row(label, value, low, high, text, told, check["ruling"] != "inconclusive", (mark,))
        groups.setdefault(scale if scale != "unit" else f"unit {metric['name']}", []).append(row)
    level = f" with {answer['confidence'] * 100:g}% CI" if answer.get("confidence") else ""
    panels = [Panel(f"Change, {_meaning(key.split()[0])}{level}; dotted: limit", key.split()[0], rows, []) for key, rows in groups.items()]
    if lacking:
        panels = [*panels[:-1], panels[-1]._replace(lacking=lacking)] if panels else [Panel("Change", "share", [], lacking)]
    return panels


def _distance(scale: str, value: Optional[float]) -> Optional[float]:
    """Returns a value's place on its axis. `None` if it has none, as the ratio 0."""
    if value is None or not math.isfinite(value) or (scale == "ratio" and value <= 0):
        return None
    return math.log(value) if scale == "ratio" else value


def _exact(value: float, low: Optional[float], high: Optional[float]) -> str:
    return repr(value) if low is None or high is None else f"{value!r} [{low!r}, {high!r}]"


def _percent_decimals(n: Optional[int]) -> int:
    """Returns how many decimals a percentage of so many outcomes supports, as the tables have them."""
    return 0 if n is None or n < 100 else 1 if n < 10_000 else 2


def _decimals(test: Optional[str], pairs: Optional[int], first: Optional[int], second: Optional[int], of: Optional[str]) -> int:
    """Returns the decimals of a difference of rates, as the tables have them."""
    decimals = _percent_decimals(min(first or 0, second or 0) if pairs is None else pairs)
    # Over several runs, rates have more outcomes than there are items.
    return decimals if test in ("mcnemar_exact", "fisher_exact") and of != "runs" else max(decimals, 1)


def _words(scale: str, value: float, low: Optional[float], high: Optional[float], decimals: int) -> str:
    """Returns a value with its interval as a cell has it."""
    is_large = scale == "ratio" and max(value, high or 0.0) >= 2
    unit = {"share": " pp", "rate": "%"}.get(scale, "")

    def form(x: float) -> str:
        if scale == "share":
            return _signed(x * 100, decimals)
        if scale == "rate":
            return str(_rounded(x * 100, decimals))
        if scale == "ratio" and not is_large:
            return f"{_signed((x - 1) * 100, 0)}%"
        return f"{x:.2g}×" if is_large else _plain(x)

    interval = "no interval" if low is None or high is None else f"[{form(low)}, {form(high)}]"
    return f"{form(value)}{unit} {interval}"


def _plain(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _signed(value: float, decimals: int) -> str:
    """Returns a number with its sign. A small one gets decimals until it differs from zero."""
    if value == 0:
        return "0"
    while decimals < 6 and _rounded(value, decimals) == 0:
        decimals += 1
    return f"{_rounded(value, decimals):+f}".replace("-", "−")


def _rounded(value: float, decimals: int) -> decimal.Decimal:
    """Rounds halves up, as the tables do, which leave out the digits behind the twelfth."""
    return decimal.Decimal(f"{value:.11e}").quantize(decimal.Decimal(1).scaleb(-decimals), decimal.ROUND_HALF_UP)


def _draw(panels: Iterable[Panel]) -> str:
    return "".join(_figure(panel) for panel in panels)


def _figure(panel: Panel) -> str:
    shown = panel.rows[:MAX_ROWS]
    lacking = [*panel.lacking, *([f"{len(panel.rows) - MAX_ROWS} more rows"] if len(panel.rows) > MAX_ROWS else [])]
    note = f'<p style="font-size:12px">Not drawn: {_safe("; ".join(lacking))}.</p>' if lacking else ""
    if not shown:
        return note
    at, ticks, middle = _axis(panel)
    height = _HEAD + _ROW * len(shown) + _FOOT
    bottom = _HEAD + _ROW * len(shown)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH:g} {height:g}" width="{_WIDTH:g}" height="{height:g}" role="img" aria-label="{_safe(panel.caption)}"'
        ' style="max-width:100%;height:auto;font:12px sans-serif;color:inherit">'
    ]
    for x, word in ticks:
        is_middle = middle is not None and abs(x - middle) < 0.01
        parts.append(_line(x, _HEAD, x, bottom, 1.0 if is_middle else 0.5, 0.9 if is_middle else 0.3))
        parts.append(f'<text x="{x:.2f}" y="{bottom + 15:.2f}" text-anchor="middle" fill="currentColor">{_safe(word)}</text>')
    for place, row in enumerate(shown):
        parts.append(_drawn_row(row, panel.scale, at, _HEAD + _ROW * (place + 0.5)))
    caption = f'<p style="margin-bottom:2px"><strong>{_safe(panel.caption)}</strong></p>'
    return caption + "".join(parts) + "</svg>" + note


def _drawn_row(row: Row, scale: str, at: Callable[[float], float], y: float) -> str:
    label = _visible(row.label)
    short = label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"
    parts = [f"<g><title>{_safe(row.told)}</title>"]
    parts.append(f'<text x="{_LEFT - 12:.2f}" y="{y + 4:.2f}" text-anchor="end" fill="currentColor">{html.escape(short)}</text>')
    for mark in row.marks:
        if _distance(scale, mark) is not None:
            parts.append(_line(at(mark), y - 8, at(mark), y + 8, 1.5, 0.9, ' stroke-dasharray="2 2"'))
    if row.low is not None and row.high is not None:
        parts.append(_line(at(row.low), y, at(row.high), y, 2.0, 0.9))
    fill = "currentColor" if row.is_decided else "none"
    parts.append(f'<circle cx="{at(row.value):.2f}" cy="{y:.2f}" r="4" fill="{fill}" stroke="currentColor" stroke-width="1.5"/>')
    parts.append(f'<text x="{_LEFT + _PLOT + 14:.2f}" y="{y + 4:.2f}" fill="currentColor">{_safe(row.text)}</text></g>')
    return "".join(parts)


def _line(x1: float, y1: float, x2: float, y2: float, width: float, opacity: float, more: str = "") -> str:
    place = f'x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"'
    return f'<line {place} stroke="currentColor" stroke-width="{width:g}" stroke-opacity="{opacity:g}"{more}/>'


def _axis(panel: Panel) -> Tuple[Callable[[float], float], List[Tuple[float, str]], Optional[float]]:
    """Returns the place of a value, the ticks with their words, and the place of "no difference"."""
    scale = panel.scale
    values = [one for row in panel.rows for one in (row.value, row.low, row.high, *row.marks) if one is not None]
    places = [one for one in (_distance(scale, value) for value in values) if one is not None]
    if scale in ("rate", "level"):
        least, most = (0.0, 1.0) if scale == "rate" else _around(min(places), max(places))
        at = _placer(scale, least, most)
        steps = [least, (least + most) / 2, most]
        return at, [(at(one), f"{one * 100:g}%" if scale == "rate" else _plain(one)) for one in steps], None
    reach = max((abs(one) for one in places), default=0.0) * _REACH or 1.0
    at = _placer(scale, -reach, reach)
    if scale == "ratio":
        factor = max((one for one in _FACTORS if math.log(one) <= reach), default=_FACTORS[0])
        return at, [(at(1 / factor), f"1/{factor:g}×"), (at(1.0), "1×"), (at(factor), f"{factor:g}×")], at(1.0)
    if scale == "share":
        step = _round_step(reach * 100)
        return at, [(at(one / 100), f"{_signed(one, 0)} pp") for one in (-step, 0.0, step)], at(0.0)
    step = _round_step(reach)
    return at, [(at(one), _plain(one)) for one in (-step, 0.0, step)], at(0.0)


def _around(least: float, most: float) -> Tuple[float, float]:
    room = (most - least) * 0.1 or abs(most) * 0.1 or 1.0
    return least - room, most + room


def _placer(scale: str, least: float, most: float) -> Callable[[float], float]:
    def at(value: float) -> float:
        place = _distance(scale, value)
        # An end without a place, such as the ratio 0, is at the edge.
        share = (place - least) / (most - least) if place is not None else (0.0 if value <= 0 else 1.0)
        return _LEFT + _PLOT * min(1.0, max(0.0, share))

    return at


def _round_step(reach: float) -> float:
    """Returns the largest of 1, 2 and 5 times a power of ten that is in reach."""
    power = 10.0 ** math.floor(math.log10(reach))
    return max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= reach)


def _visible(text: str) -> str:
    """Returns a text whose characters are all visible."""
    return "".join(f"\\u{{{ord(one):x}}}" if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else one for one in text)


def _safe(text: str) -> str:
    return html.escape(_visible(text))
