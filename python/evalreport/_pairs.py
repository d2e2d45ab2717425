"""Differences of two arms, a row each, from the JSON of a comparison."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict

#: Names of arms that nobody has named: of new runs, and of a baseline's.
_UNNAMED_APPROACHES = ("unnamed", "unnamed (baseline)")
_UNNAMED_MODELS = ("", "none", "unknown")


class Pair(TypedDict):
    """Two arms on one metric. What is not measured or undefined is `None`."""

    suite: str
    #: The key of the metric and its words.
    metric: str
    label: str
    #: The arms' names as tables have them, and in full.
    first: str
    second: str
    first_approach: str
    first_model: str
    second_approach: str
    second_model: str
    #: The arms' own values, over what both have.
    first_value: Optional[float]
    second_value: Optional[float]
    #: `scale` says of what kind: `share` or `unit`, the first minus the second, or `ratio`, the first over the second.
    difference: Optional[float]
    scale: Optional[str]
    #: The interval, and its level, such as 0.95.
    low: Optional[float]
    high: Optional[float]
    confidence: Optional[float]
    #: The test that decides, such as `mcnemar_exact`.
    test: Optional[str]
    p: Optional[float]
    p_adjusted: Optional[float]
    #: Units of each arm and shared ones, and which: `questions`, `runs`, … Without pairing, `n` is `None`.
    first_n: Optional[int]
    second_n: Optional[int]
    n: Optional[int]
    n_of: Optional[str]
    margin: Optional[float]
    #: `a_wins` is about the first.
    verdict: str


def labels_of(suite: str, arms: Sequence[Mapping[str, Any]]) -> List[str]:
    """Returns the shortest distinct names of arms, as the program's tables have them: the approach, the model, or both."""
    has_one_model = len({arm["model"] for arm in arms}) <= 1
    has_one_approach = len(arms) > 1 and len({arm["approach"] for arm in arms}) == 1
    has_baseline = any(arm["approach"] == _UNNAMED_APPROACHES[1] for arm in arms)
    unnamed = {_UNNAMED_APPROACHES[0]: "new" if has_baseline else "", _UNNAMED_APPROACHES[1]: "baseline"}

    def label(arm: Mapping[str, Any]) -> str:
        approach = unnamed.get(arm["approach"], arm["approach"])
        model = "" if arm["model"] in _UNNAMED_MODELS else arm["model"]
        if not arm["model"] or (has_one_model and not has_one_approach):
            return approach or model or suite
        parts = [model] if has_one_approach else [approach, model]
        return " · ".join(part for part in parts if part) or suite

    labels = [label(arm) for arm in arms]
    return [name if labels.count(name) == 1 else full_name(arm) for name, arm in zip(labels, arms)]


def full_name(arm: Mapping[str, Any]) -> str:
    return f"{arm['approach']} · {arm['model']}" if arm["model"] else str(arm["approach"])


def pairs_of(comparison: Mapping[str, Any]) -> List[Pair]:
    """Returns the pairs of a comparison, by metric."""
    arms = comparison["arms"]
    labels = labels_of(comparison["suite"], arms)
    found: List[Pair] = []
    for row in comparison["rows"]:
        alpha = row["evidence"].get("alpha")
        for evidence in row["evidence"]["pairs"]:
            first, second = evidence["first"], evidence["second"]
            difference: Dict[str, Any] = evidence.get("difference") or {}
            interval = difference.get("interval") or {}
            values = evidence.get("levels") or {}
            sizes = evidence["sizes"]
            found.append(
                Pair(
                    suite=comparison["suite"],
                    metric=row["metric"]["name"],
                    label=row["metric"]["label"],
                    first=labels[first],
                    second=labels[second],
                    first_approach=arms[first]["approach"],
                    first_model=arms[first]["model"],
                    second_approach=arms[second]["approach"],
                    second_model=arms[second]["model"],
                    first_value=values.get("first"),
                    second_value=values.get("second"),
                    difference=difference.get("value"),
                    scale=difference.get("scale"),
                    low=interval.get("low"),
                    high=interval.get("high"),
                    confidence=round(1 - alpha, 12) if interval and alpha is not None else None,
                    test=evidence.get("test"),
                    p=evidence.get("p"),
                    p_adjusted=evidence.get("p_adjusted"),
                    first_n=sizes.get("first"),
                    second_n=sizes.get("second"),
                    n=sizes.get("pairs"),
                    n_of=sizes.get("of"),
                    margin=evidence.get("margin"),
                    verdict=evidence["verdict"],
                )
            )
    return found
