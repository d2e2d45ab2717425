"""Reading: the line formats, times, levels, files, gzip, standard input, and what is malformed."""

import gzip

import pytest
from conftest import MIXED, named


def test_counts_over_a_mixed_file(logagg, mixed):
    report = logagg.json(mixed)
    assert (report["lines"], report["malformed"], report["matched"]) == (7, 1, 6)
    assert report["levels"] == {"debug": 1, "info": 1, "warning": 1, "error": 2, "critical": 1}
    assert sorted(named(report["services"])) == [("db", 2), ("payments", 2), ("web", 2)]


def test_json_line(logagg):
    report = logagg.of('{"message": "a \\"b\\" \\u00fc", "level": "Info", "time": "2026-03-01T10:00:00Z", "service": "s", "extra": [1]}\n')
    assert named(report["messages"]) == [('a "b" ü', 1)]
    assert (report["malformed"], named(report["services"])) == (0, [("s", 1)])


def test_key_value_line(logagg):
    report = logagg.of('user=7 msg="say \\"hi\\" \\\\ now" service=chat level=info time="2026-03-01 10:00:00"\n')
    assert named(report["messages"]) == [('say "hi" \\ now', 1)]
    assert (report["malformed"], named(report["services"])) == (0, [("chat", 1)])


def test_plain_line(logagg):
    report = logagg.of("2026-03-01T10:00:00Z [info] web: path: /a [b] k=v\n")
    assert named(report["messages"]) == [("path: /a [b] k=v", 1)]
    assert (report["malformed"], named(report["services"])) == (0, [("web", 1)])


def test_missing_or_empty_service_is_unknown(logagg):
    report = logagg.of(
        '{"time": "2026-03-01T10:00:00Z", "level": "info", "message": "a"}\n'
        '{"time": "2026-03-01T10:00:00Z", "level": "info", "message": "a", "service": ""}\n'
        "time=2026-03-01T10:00:00Z level=info msg=a\n"
    )
    assert (report["malformed"], named(report["services"])) == (0, [("unknown", 3)])


def test_level_names_in_any_case(logagg):
    names = ["Debug", "INFO", "warn", "Warning", "err", "ERROR", "fatal", "Critical"]
    report = logagg.of("".join(f"2026-03-01T10:00:00Z [{name}] s: m\n" for name in names))
    assert report["levels"] == {"debug": 1, "info": 1, "warning": 2, "error": 2, "critical": 2}


def test_times_are_brought_to_utc(logagg):
    report = logagg.of(
        "2026-03-01T00:30:00+02:00 [info] s: m\n"
        "2026-02-28T20:15:00-02:30 [info] s: m\n"
        "2026-02-28 22:59:59.999999 [info] s: m\n"
        "2026-02-28T23:00:00.5Z [info] s: m\n"
    )
    assert report["malformed"] == 0
    assert named(report["hours"]) == [("2026-02-28T22:00Z", 3), ("2026-02-28T23:00Z", 1)]
    assert (report["first"], report["last"]) == ("2026-02-28T22:30:00Z", "2026-02-28T23:00:00Z")


MALFORMED = {
    "no-such-day": "2026-02-30T10:00:00Z [info] s: m",
    "no-such-hour": "2026-03-01T24:00:01Z [info] s: m",
    "date-only": "2026-03-01 [info] s: m",
    "unknown-level": "2026-03-01T10:00:00Z [notice] s: m",
    "plain-without-service": "2026-03-01T10:00:00Z [info] message",
    "json-not-closed": '{"time": "2026-03-01T10:00:00Z", "level": "info", "message": "m"',
    "json-no-message": '{"time": "2026-03-01T10:00:00Z", "level": "info"}',
    "json-level-no-text": '{"time": "2026-03-01T10:00:00Z", "level": 3, "message": "m"}',
    "json-list": '["2026-03-01T10:00:00Z", "info", "m"]',
    "pairs-without-level": "time=2026-03-01T10:00:00Z msg=m",
    "pairs-quote-open": 'time=2026-03-01T10:00:00Z level=info msg="m',
    "pairs-bare-word": "time=2026-03-01T10:00:00Z level=info msg=two words",
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_line_is_counted(logagg, line):
    report = logagg.of(f"2026-03-01T10:00:00Z [info] s: good\n{line}\n")
    assert (report["lines"], report["malformed"], report["matched"]) == (2, 1, 1)


def test_blank_lines_line_ends_and_last_line(logagg):
    report = logagg.of("2026-03-01T10:00:00Z [info] s: m\r\n\r\n   \n\n2026-03-01T10:00:00Z [info] s: m")
    assert (report["lines"], report["malformed"]) == (2, 0)
    assert named(report["messages"]) == [("m", 2)]


def test_bytes_that_are_no_utf8_are_replaced(logagg):
    report = logagg.of(b"2026-03-01T10:00:00Z [info] s: gr\xfcn\n")
    assert named(report["messages"]) == [("gr\ufffdn", 1)]


def test_gzip_file(logagg, mixed):
    packed = logagg.file("mixed.log.gz", gzip.compress(MIXED.encode()))
    assert logagg.json(packed) == logagg.json(mixed)


def test_standard_input(logagg, mixed):
    assert logagg.json("-", stdin=MIXED.encode()) == logagg.json(mixed)


def test_files_are_counted_together(logagg, mixed):
    other = logagg.file("other.log", "2026-03-03T10:00:00Z [info] cron: done\n")
    report = logagg.json(other, mixed, "-", stdin=b"2026-02-01T10:00:00Z [info] cron: done\nbad\n")
    assert (report["lines"], report["malformed"], report["matched"]) == (10, 2, 8)
    assert (report["first"], report["last"]) == ("2026-02-01T10:00:00Z", "2026-03-03T10:00:00Z")


def test_empty_file_gives_an_empty_report(logagg):
    report = logagg.of("")
    assert (report["lines"], report["matched"], report["first"], report["last"]) == (0, 0, None, None)
    assert (report["services"], report["hours"], report["messages"]) == ([], [], [])
    assert report["levels"] == {"debug": 0, "info": 0, "warning": 0, "error": 0, "critical": 0}
