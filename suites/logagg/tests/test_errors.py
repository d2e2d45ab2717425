"""Exit codes and messages: malformed lines, wrong command lines, files that cannot be read."""

import gzip

import pytest

GOOD = "2026-03-01T10:00:00Z [info] s: m\n"


def wrong_usage(outcome, value=""):
    assert outcome.code == 2, f"exit code {outcome.code}"
    assert outcome.out == ""
    assert outcome.err.strip() and value in outcome.err


def unreadable(outcome, name):
    assert outcome.code == 3, f"exit code {outcome.code}: {outcome.err}"
    assert outcome.out == ""
    assert name in outcome.err


def test_malformed_lines_are_named_with_file_and_line(logagg):
    path = logagg.file("one.log", f"{GOOD}\nbad\n{GOOD}worse\n")
    outcome = logagg.run(path, "-", stdin=b"bad")
    assert outcome.err.splitlines() == [f"logagg: {path}:3: malformed line", f"logagg: {path}:5: malformed line", "logagg: -:1: malformed line"]
    assert outcome.code == 0


def test_only_ten_malformed_lines_are_named(logagg):
    lines = logagg.run(logagg.file("one.log", "bad\n" * 13)).err.splitlines()
    assert len(lines) == 11
    assert lines[9].endswith(":10: malformed line")
    assert lines[10] == "logagg: 3 more malformed lines"


def test_nothing_on_standard_error_when_all_is_well(logagg):
    outcome = logagg.run(logagg.file("one.log", GOOD))
    assert (outcome.code, outcome.err) == (0, "")


def test_strict_exits_with_one_but_reports(logagg):
    assert logagg.of(f"{GOOD}bad\n", "--strict", code=1)["malformed"] == 1
    assert logagg.of(GOOD, "--strict", code=0)["malformed"] == 0


def test_help(logagg):
    outcome = logagg.run("--help")
    assert outcome.code == 0
    assert "--since" in outcome.out


def test_no_file_is_wrong_usage(logagg):
    wrong_usage(logagg.run())


def test_unknown_option_is_wrong_usage(logagg):
    wrong_usage(logagg.run(logagg.file("one.log", GOOD), "--colour"), "--colour")


@pytest.mark.parametrize("value", ["loud", ""], ids=["unknown", "empty"])
def test_bad_level_is_wrong_usage(logagg, value):
    wrong_usage(logagg.run(logagg.file("one.log", GOOD), "--level", value), value)


@pytest.mark.parametrize("option", ["--since", "--until"], ids=["since", "until"])
@pytest.mark.parametrize("value", ["yesterday", "2026-02-30", "2026-03-01T25:00:00Z"], ids=["word", "no-such-day", "no-such-hour"])
def test_bad_time_is_wrong_usage(logagg, option, value):
    wrong_usage(logagg.run(logagg.file("one.log", GOOD), option, value), value)


def test_until_must_be_later_than_since(logagg):
    path = logagg.file("one.log", GOOD)
    wrong_usage(logagg.run(path, "--since", "2026-03-02", "--until", "2026-03-01"), "2026-03-01")
    wrong_usage(logagg.run(path, "--since", "2026-03-02", "--until", "2026-03-02"), "2026-03-02")


@pytest.mark.parametrize("value", ["-1", "many", "2.5"], ids=["negative", "word", "fraction"])
def test_bad_top_is_wrong_usage(logagg, value):
    wrong_usage(logagg.run(logagg.file("one.log", GOOD), f"--top={value}"), value)


def test_bad_format_is_wrong_usage(logagg):
    wrong_usage(logagg.run(logagg.file("one.log", GOOD), "--format", "xml"), "xml")


def test_wrong_usage_comes_before_reading(logagg):
    wrong_usage(logagg.run("missing.log", "--level", "loud"), "loud")


def test_missing_file(logagg):
    unreadable(logagg.run(logagg.file("one.log", GOOD), "missing.log"), "missing.log")


def test_folder_in_place_of_a_file(logagg):
    (logagg.folder / "folder.log").mkdir()
    unreadable(logagg.run("folder.log"), "folder.log")


def test_damaged_gzip(logagg):
    packed = gzip.compress(GOOD.encode() * 100)
    unreadable(logagg.run(logagg.file("cut.gz", packed[:-12])), "cut.gz")
    unreadable(logagg.run(logagg.file("plain.gz", GOOD)), "plain.gz")
