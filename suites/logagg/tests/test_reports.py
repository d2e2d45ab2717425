"""Reports: order of sections, top messages, and the three formats."""

import csv
import io

import pytest
from conftest import named

LOG = (
    "2026-03-01T10:15:00Z [error] payments: card declined\n"
    "2026-03-01T10:20:00Z [info] web: started\n"
    "bad\n"
    "2026-03-01T11:02:41Z [error] payments: card declined\n"
)
TEXT = """\
lines: 4
malformed: 1
matched: 3
levels:
  0 debug
  1 info
  0 warning
  2 error
  0 critical
services:
  2 payments
  1 web
hours:
  2 2026-03-01T10:00Z
  1 2026-03-01T11:00Z
messages:
  2 card declined
  1 started
"""


def lines_of(counts):
    return "".join(f"2026-03-01T10:00:00Z [info] {name}: {name}\n" * count for name, count in counts)


def test_json_has_exactly_its_keys(logagg):
    report = logagg.of(LOG)
    assert report == {
        "lines": 4,
        "malformed": 1,
        "matched": 3,
        "first": "2026-03-01T10:15:00Z",
        "last": "2026-03-01T11:02:41Z",
        "levels": {"debug": 0, "info": 1, "warning": 0, "error": 2, "critical": 0},
        "services": [{"name": "payments", "count": 2}, {"name": "web", "count": 1}],
        "hours": [{"name": "2026-03-01T10:00Z", "count": 2}, {"name": "2026-03-01T11:00Z", "count": 1}],
        "messages": [{"name": "card declined", "count": 2}, {"name": "started", "count": 1}],
    }
    assert list(report["levels"]) == ["debug", "info", "warning", "error", "critical"]


def test_services_and_messages_by_count_then_name(logagg):
    report = logagg.of(lines_of([("b", 1), ("c", 3), ("a", 1)]))
    assert named(report["services"]) == [("c", 3), ("a", 1), ("b", 1)]
    assert named(report["messages"]) == [("c", 3), ("a", 1), ("b", 1)]


def test_hours_are_ascending(logagg):
    report = logagg.of("2026-03-02T01:00:00Z [info] s: m\n" * 2 + "2026-03-01T23:59:59Z [info] s: m\n")
    assert named(report["hours"]) == [("2026-03-01T23:00Z", 1), ("2026-03-02T01:00Z", 2)]


@pytest.mark.parametrize(
    ("arguments", "shown"), [([], 5), (["--top", "2"], 2), (["--top", "0"], 0), (["--top", "99"], 7)], ids=["default", "two", "none", "all"]
)
def test_top_limits_messages_only(logagg, arguments, shown):
    report = logagg.of(lines_of([(name, 1) for name in "abcdefg"]), *arguments)
    assert [entry["name"] for entry in report["messages"]] == list("abcdefg")[:shown]
    assert len(report["services"]) == 7


def test_text_layout(logagg):
    path = logagg.file("one.log", LOG)
    default, chosen = logagg.run(path), logagg.run(path, "--format", "text")
    assert (default.code, default.out.splitlines()) == (0, TEXT.splitlines())
    assert chosen.out == default.out


def test_text_says_none_for_empty_sections(logagg):
    lines = logagg.run(logagg.file("one.log", LOG), "--service", "nobody").out.splitlines()
    assert lines[2] == "matched: 0"
    for section in ["services:", "hours:", "messages:"]:
        assert lines[lines.index(section) + 1] == "  (none)"


def test_text_hides_control_characters(logagg):
    outcome = logagg.run(logagg.file("one.log", '{"time": "2026-03-01T10:00:00Z", "level": "info", "message": "a\\u001b[31mb\\nc"}\n'))
    assert "  1 a?[31mb?c" in outcome.out.splitlines()
    assert "\x1b" not in outcome.out


def test_csv_rows(logagg):
    outcome = logagg.run(logagg.file("one.log", LOG), "--format", "csv", "--top", "1")
    rows = list(csv.reader(io.StringIO(outcome.out)))
    assert rows == [
        ["kind", "name", "count"],
        ["total", "lines", "4"],
        ["total", "malformed", "1"],
        ["total", "matched", "3"],
        ["level", "debug", "0"],
        ["level", "info", "1"],
        ["level", "warning", "0"],
        ["level", "error", "2"],
        ["level", "critical", "0"],
        ["service", "payments", "2"],
        ["service", "web", "1"],
        ["hour", "2026-03-01T10:00Z", "2"],
        ["hour", "2026-03-01T11:00Z", "1"],
        ["message", "card declined", "2"],
    ]


def test_csv_quotes_what_must_be_quoted(logagg):
    outcome = logagg.run(logagg.file("one.log", '2026-03-01T10:00:00Z [info] s: a,"b"\n'), "--format", "csv")
    assert outcome.out.splitlines()[-1] == 'message,"a,""b""",1'
