"""Filters: each from its kept and its dropped side, and together."""

import pytest
from conftest import named


def matched(report):
    return report["matched"]


@pytest.mark.parametrize(
    ("level", "kept"), [("debug", 6), ("info", 5), ("WARN", 4), ("error", 3), ("Critical", 1), ("fatal", 1)]
)
def test_level_keeps_it_and_the_more_severe(logagg, mixed, level, kept):
    assert matched(logagg.json(mixed, "--level", level)) == kept


def test_service_is_exact(logagg, mixed):
    report = logagg.json(mixed, "--service", "web")
    assert named(report["services"]) == [("web", 2)]
    assert matched(logagg.json(mixed, "--service", "we")) == 0


def test_since_is_inclusive_and_until_exclusive(logagg, mixed):
    report = logagg.json(mixed, "--since", "2026-03-01T11:00:00Z", "--until", "2026-03-02T00:00:00Z")
    assert (matched(report), report["first"], report["last"]) == (2, "2026-03-01T11:00:00Z", "2026-03-01T11:30:00Z")


def test_since_may_be_a_day_and_may_have_a_zone(logagg, mixed):
    assert matched(logagg.json(mixed, "--since", "2026-03-02")) == 2
    assert matched(logagg.json(mixed, "--since", "2026-03-02T02:10:00+02:00")) == 1


def test_fractions_count_in_time_filters(logagg):
    text = "2026-03-01T10:00:00.250Z [info] s: m\n"
    assert matched(logagg.of(text, "--since", "2026-03-01T10:00:00.5")) == 0
    assert matched(logagg.of(text, "--since", "2026-03-01T10:00:00.25")) == 1


def test_grep_ignores_case_and_is_no_pattern(logagg, mixed):
    assert matched(logagg.json(mixed, "--grep", "CARD dec")) == 2
    assert matched(logagg.json(mixed, "--grep", "c.rd")) == 0
    assert matched(logagg.json(mixed, "--grep", "payments")) == 0


def test_filters_together_must_all_pass(logagg, mixed):
    report = logagg.json("--level", "error", mixed, "--service", "payments", "--until", "2026-03-01T11:00:00Z")
    assert matched(report) == 1
    assert (report["lines"], report["malformed"]) == (7, 1)
