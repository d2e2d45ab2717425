"""The drawing of a notebook has the figures of the JSON."""

import math
import re
import xml.etree.ElementTree as ElementTree
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import pytest

import evalreport
from conftest import program, record_two
from evalreport import _forest
from evalreport._pairs import labels_of, pairs_of


class Drawn(NamedTuple):
    """A row as it is drawn, with its places read back as values."""

    label: str
    told: str
    text: str
    value: float
    low: Optional[float]
    high: Optional[float]
    marks: List[float]


def panels(html: str) -> List[Tuple[str, List[Drawn]]]:
    """Reads the panels back, by their ticks alone."""
    found = []
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        root = ElementTree.fromstring(svg)
        ticks = [(float(text.attrib["x"]), text.text or "") for text in root.findall("text")]
        found.append((root.attrib["aria-label"], [drawn(group, ticks) for group in root.findall("g")]))
    return found


def value_at(x: float, ticks: List[Tuple[float, str]]) -> float:
    """Returns the value at a place, from two ticks."""
    (x0, word0), (x1, word1) = ticks[0], ticks[-1]
    low, high = number(word0), number(word1)
    if "×" in word0:
        return math.exp(math.log(low) + (math.log(high) - math.log(low)) * (x - x0) / (x1 - x0))
    return low + (high - low) * (x - x0) / (x1 - x0)


def number(word: str) -> float:
    word = word.replace("−", "-")
    if word.startswith("1/"):
        return 1 / float(word[2:-1])
    return float(word.rstrip("×%p ")) / (100 if word[-1] in "%p" else 1)


def drawn(group: "ElementTree.Element", ticks: List[Tuple[float, str]]) -> Drawn:
    texts = [text.text or "" for text in group.findall("text")]
    lines = group.findall("line")
    bars = [line for line in lines if "stroke-dasharray" not in line.attrib]
    marks = [value_at(float(line.attrib["x1"]), ticks) for line in lines if "stroke-dasharray" in line.attrib]
    ends = [value_at(float(bars[0].attrib[end]), ticks) for end in ("x1", "x2")] if bars else [None, None]
    (circle,) = group.findall("circle")
    told = group.find("title")
    assert told is not None and told.text is not None
    return Drawn(texts[0], told.text, texts[1], value_at(float(circle.attrib["cx"]), ticks), ends[0], ends[1], marks)


def is_near(drawn: Optional[float], exact: Optional[float]) -> bool:
    return drawn is exact is None or drawn is not None and exact is not None and abs(drawn - exact) < 0.004 * max(1.0, abs(exact))


def record(rates: Dict[str, int], runs: int = 1, suite: str = "quiz", tokens: bool = False) -> None:
    for arm, every in rates.items():
        for index in range(runs):
            with evalreport.record(suite=suite, approach=arm, model="m", run_index=index + 1) as run:
                for item in range(60):
                    run.item(item, passed=(item + index) % every > 0, cost_usd=0.01 * every + 0.001 * (item % 5), duration_seconds=1 + item % 3)


def test_two_arms_are_drawn_on_each_metric() -> None:
    record({"good": 10, "bad": 3}, runs=3)
    answer = evalreport.compare(margin={"pass_rate": "2pp"})
    pairs = {pair["label"]: pair for pair in answer.pairs if pair["difference"] is not None}
    rows = {row.label: row for _, panel in panels(answer._repr_html_()) for row in panel}
    assert set(rows) == set(pairs) and len(rows) >= 3
    for label, row in rows.items():
        pair = pairs[label]
        assert is_near(row.value, pair["difference"]) and is_near(row.low, pair["low"]) and is_near(row.high, pair["high"]), (row, pair)
        interval = "" if pair["low"] is None else f" [{pair['low']!r}, {pair['high']!r}]"
        assert f"good vs bad: {pair['difference']!r}{interval} ({pair['scale']}), {pair['verdict']}" in row.told
        if pair["margin"] is not None:
            assert any(is_near(mark, pair["margin"]) for mark in row.marks)
    assert "+23.3 pp" in rows["Accuracy"].text and "+23.3 pp" in str(answer), "the drawing and the table have one number"


def test_several_arms_are_drawn_against_their_leader() -> None:
    record({"ben": 10, "fair": 4, "abe": 2})
    answer = evalreport.compare()
    ((caption, rows),) = panels(answer._repr_html_())
    assert caption == "quiz: Accuracy, each less ben, difference in percentage points with 95% CI"
    assert [row.label for row in rows] == ["fair", "abe"], "as in the table, the best first"
    found = [pair for pair in answer.pairs if pair["metric"] == "shared_tests" and "ben" in (pair["first"], pair["second"])]
    abe, fair = found
    assert (abe["second"], fair["first"]) == ("ben", "ben"), "one pair has the leader second, and another one first"
    for row, pair in zip(rows, (fair, abe)):
        turns = pair["first"] == "ben"
        low, high = (pair["high"], pair["low"]) if turns else (pair["low"], pair["high"])
        sign = -1 if turns else 1
        assert pair["difference"] is not None and low is not None and high is not None
        assert is_near(row.value, sign * pair["difference"]) and is_near(row.low, sign * low) and is_near(row.high, sign * high)
        assert row.text.replace(" pp", "") in str(answer), "the drawing and the table have one text"
    assert "80% CI" in panels(evalreport.compare(alpha=0.2)._repr_html_())[0][0]
    ((caption, rows),) = panels(evalreport.compare(against="fair")._repr_html_())
    assert "each less fair" in caption and [row.label for row in rows] == ["ben", "abe"]


def test_a_board_is_drawn_by_arm() -> None:
    record({"good": 10, "bad": 2})
    board = evalreport.leaderboard()
    ((_, rows),) = panels(board._repr_html_())
    for row, entry in zip(rows, board.suites[0]["entries"]):
        estimate = entry["primary"]
        assert estimate is not None and estimate["interval"] is not None
        assert row.label == entry["approach"] and is_near(row.value, estimate["value"])
        assert is_near(row.low, estimate["interval"]["low"]) and is_near(row.high, estimate["interval"]["high"])
        assert row.text.replace("%", "") in board.markdown.replace("\\", ""), "the drawing and the table have one text"


def test_a_gate_is_drawn_with_its_limit() -> None:
    record({"same": 10})
    program("export", "bundle", "base.bundle")
    with evalreport.record(suite="quiz", approach="same", model="m", results="new") as run:
        for item in range(60):
            run.item(item, passed=item % 3 > 0)
    gate = evalreport.gate(baseline="base.bundle", max_drop="5pp", results="new")
    ((caption, (row,)),) = panels(gate._repr_html_())
    difference = (gate.checks[0]["evidence"] or {})["difference"]  # type: ignore[typeddict-item]
    assert difference is not None and difference["interval"] is not None
    assert is_near(row.value, difference["value"]) and is_near(row.low, difference["interval"]["low"])
    assert [round(mark, 3) for mark in row.marks] == [-0.05] and "limit -0.05, regression" in row.told
    assert "95% CI; dotted: limit" in caption
    new = [{"model": arm, "question": number, "correct": number > 1} for number in range(9) for arm in ("old", "new")]
    lacking = evalreport.gate(new, baseline=new[::2], max_drop="2pp")
    assert "Not drawn: frame, new: Accuracy: no difference." in lacking._repr_html_(), "what has no figure is named"


def test_a_pair_is_turned_round_as_a_whole() -> None:
    (pair,) = pairs_of(comparison({"difference": {"value": 4.0, "scale": "ratio", "interval": {"low": 2.0, "high": 8.0}}, "verdict": "a_wins", "levels": {"first": 8, "second": 2}}))
    turned = _forest.seen_from(pair, "a")
    assert turned is not None and [turned[name] for name in ("first", "second", "difference", "low", "high")] == ["b", "a", 0.25, 0.125, 0.5]  # type: ignore[literal-required]
    assert (turned["first_value"], turned["second_value"], turned["verdict"], turned["first_approach"]) == (2, 8, "b_wins", "b")
    assert _forest.seen_from(pair, "b") == pair and _forest.seen_from(pair, "c") is None and _forest.seen_from(turned, "b") == pair


def test_what_has_no_interval_is_drawn_without_one() -> None:
    record({"good": 10, "bad": 3})
    answer = evalreport.compare()
    rows = {row.label: row for _, panel in panels(answer._repr_html_()) for row in panel}
    pair = next(pair for pair in answer.pairs if pair["label"] == "Duration")
    assert pair["low"] is None and pair["confidence"] is None, "time of one run is not tested"
    assert rows["Duration"].low is None and rows["Duration"].text.endswith("no interval")


def comparison(*pairs: Dict[str, Any]) -> Dict[str, Any]:
    """A comparison with one metric a pair."""
    arms = [{"approach": "a", "model": ""}, {"approach": "b", "model": ""}]
    rows = [
        {
            "metric": {"name": f"m{place}", "label": f"M{place}"},
            "role": "secondary",
            "evidence": {"alpha": 0.05, "pairs": [{"first": 0, "second": 1, "verdict": "no_data", "sizes": {"of": "runs"}, **pair}]},
        }
        for place, pair in enumerate(pairs)
    ]
    return {"suite": "s", "arms": arms, "rows": rows}


def test_what_is_undefined_is_none_and_named() -> None:
    bare = comparison({}, {"difference": {"value": 0.0, "scale": "ratio"}}, {"difference": {"value": 2.0, "scale": "unit", "interval": None}})
    first, zero, unit = pairs_of(bare)
    assert all(first[name] is None for name in ("difference", "scale", "low", "high", "p", "n", "margin", "confidence", "first_value"))  # type: ignore[literal-required]
    assert (zero["difference"], unit["low"]) == (0.0, None)
    html = _forest.of_comparisons({"comparisons": [bare]})
    assert "Not drawn: M0: no difference; M1: no finite difference." in html and len(panels(html)) == 1
    assert "Not drawn: M0: no difference." in _forest.of_comparisons({"comparisons": [comparison({})]})
    # An end of an interval that has no place is at the edge.
    edge = comparison({"difference": {"value": 2.0, "scale": "ratio", "interval": {"low": 0.0, "high": 8.0}}})
    assert len(panels(_forest.of_comparisons({"comparisons": [edge]}))) == 1
    flat = comparison({"difference": {"value": 0.0, "scale": "share", "interval": {"low": 0.0, "high": 0.0}}})
    assert panels(_forest.of_comparisons({"comparisons": [flat]}))[0][1][0].text == "0 pp [0, 0]"


@pytest.mark.parametrize(
    "scale, decimals, figures, text",
    [
        ("share", 0, (0.1625, 0.0427, 0.2829), "+16 pp [+4, +28]"),
        ("share", 1, (-0.0004, -0.13, 0.1), "−0.04 pp [−13.0, +10.0]"),
        ("rate", 0, (0.725, 0.6, 0.8), "73% [60, 80]"),
        ("rate", 2, (0.12345, 0.1, 0.2), "12.35% [10.00, 20.00]"),
        ("rate", 1, (0.58749999999999993, 0.5, 0.6), "58.8% [50.0, 60.0]"),
        ("ratio", 0, (0.8, 0.67, 0.96), "−20% [−33%, −4%]"),
        ("ratio", 0, (5.8, 4.0, 8.25), "5.8× [4×, 8.2×]"),
        ("unit", 0, (-1.5, -2.0, -1.0), "−1.5 [−2, −1]"),
        ("share", 0, (0.1, None, None), "+10 pp no interval"),
    ],
)
def test_numbers_have_the_form_of_tables(scale: str, decimals: int, figures: Any, text: str) -> None:
    assert _forest._words(scale, *figures, decimals) == text


def test_a_long_panel_and_a_long_name_are_cut_and_said() -> None:
    many = comparison(*[{"difference": {"value": 0.1, "scale": "share"}} for _ in range(_forest.MAX_ROWS + 3)])
    many["arms"][0]["approach"] = "x" * 300
    html = _forest.of_comparisons({"comparisons": [many]})
    ((_, rows),) = panels(html)
    assert len(rows) == _forest.MAX_ROWS and "Not drawn: 3 more rows." in html
    many["rows"][0]["metric"]["label"] = "y" * 300
    assert len(panels(_forest.of_comparisons({"comparisons": [many]}))[0][1][0].label) == _forest.MAX_LABEL


@pytest.mark.parametrize(
    "arms",
    [
        [("one", "m"), ("two", "m")],
        [("same", "m1"), ("same", "m2")],
        [("one", "m1"), ("two", "m2")],
        [("one", ""), ("two", "")],
        [("one", "m"), ("two", "none")],
        [("unnamed", "m1"), ("unnamed", "m2")],
        [("unnamed", "m1"), ("two", "m2")],
        [("one", "unknown"), ("one", "m")],
    ],
)
def test_arms_are_called_as_in_tables(arms: List[Tuple[str, str]]) -> None:
    for place, (approach, model) in enumerate(arms):
        with evalreport.record(suite="quiz", approach=approach, model=model) as run:
            for item in range(30):
                run.item(item, passed=item % (3 + place) > 0)
    answer = evalreport.compare()
    labels = labels_of("quiz", answer.comparisons[0]["arms"])
    head = next(line for line in answer.markdown.splitlines() if line.startswith("| Metric"))
    assert [cell.strip() for cell in head.split("|")[2:4]] == labels


def test_hostile_names_are_text_in_drawings() -> None:
    hostile = "</title></svg><img src=x onerror=alert(1)>\"'&\u202e"
    record_two(hostile)
    for answer in (evalreport.compare(), evalreport.leaderboard()):
        html = answer._repr_html_()
        assert "<img" not in html and len(panels(html)) >= 1
        drawn = [row for _, rows in panels(html) for row in rows]
        assert any("</title></svg><img" in row.told for row in drawn) and "\u202e" not in "".join(row.told for row in drawn)
