"""The reference answer to suites/logagg: every rule of its requirements, in one file, so that a break is one replaced text."""

import argparse
import csv
import gzip
import json
import re
import sys
import zlib
from collections import Counter
from datetime import datetime, timedelta, timezone

LEVELS = ["debug", "info", "warning", "error", "critical"]
ALIASES = {"warn": "warning", "err": "error", "fatal": "critical"}
NAMED_LINES = 10

TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII)
PAIR = re.compile(r'([^\s="]+)=(?:"((?:[^"\\]|\\["\\])*)"|([^\s"]*))(?:\s+|$)')
PLAIN = re.compile(r"(\S+|\S+ \S+) \[([^\]]*)\] ([^\s:]+): (.*)")


class Unreadable(Exception):
    """A file that cannot be read."""


def parse_time(text):
    """Returns the time in UTC; raises ValueError when the text is no time."""
    match = TIME.fullmatch(text)
    if not match:
        raise ValueError(text)
    day, clock, fraction, zone = match.groups()
    time = datetime.strptime(f"{day} {clock}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc)
    time += timedelta(microseconds=int((fraction or ".0")[1:].ljust(6, "0")))
    if zone and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 23 or minutes > 59:
            raise ValueError(text)
        offset = timedelta(hours=hours, minutes=minutes)
        time = time - offset if zone[0] == "+" else time + offset
    return time


def parse_level(text):
    """Returns the level's first name; raises ValueError when it is unknown."""
    level = text.lower()
    level = ALIASES.get(level, level)
    if level not in LEVELS:
        raise ValueError(text)
    return level


def pairs_of(line):
    """Returns the pairs of a line; raises ValueError where something else stands between them."""
    pairs, position = {}, 0
    while position < len(line):
        match = PAIR.match(line, position)
        if not match:
            raise ValueError(line)
        key, quoted, bare = match.groups()
        pairs[key] = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        position = match.end()
    return pairs


def parse_line(line):
    """Returns time, level, service and message; raises ValueError when the line is malformed."""
    if line.startswith("{"):
        record = json.loads(line)
        parts = [record.get("time"), record.get("level"), record.get("service", ""), record.get("message")]
    elif plain := PLAIN.fullmatch(line):
        parts = list(plain.groups())
    else:
        record = pairs_of(line)
        parts = [record.get("time"), record.get("level"), record.get("service", ""), record.get("msg")]
    if not all(isinstance(part, str) for part in parts):
        raise ValueError(line)
    time, level, service, message = parts
    return parse_time(time), parse_level(level), service or "unknown", message


def lines_of(name):
    """Yields the lines of one file."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read()
        elif name.endswith(".gz"):
            with gzip.open(name) as file:
                data = file.read()
        else:
            with open(name, "rb") as file:
                data = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"logagg: {name}: {getattr(error, 'strerror', None) or error}") from error
    lines = data.decode("utf-8", errors="replace").split("\n")
    return [line.removesuffix("\r") for line in lines]


def option_time(text):
    try:
        return parse_time(f"{text}T00:00:00Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"`{text}` is no time") from None


def option_level(text):
    try:
        return parse_level(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no level") from None


def option_count(text):
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 0")
    return int(text)


def option_format(text):
    if text not in ("text", "json", "csv"):
        raise argparse.ArgumentTypeError(f"`{text}` is no report format")
    return text


def arguments():
    parser = argparse.ArgumentParser(prog="logagg", description="Reports what is in log files.", allow_abbrev=False)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--level", type=option_level)
    parser.add_argument("--service")
    parser.add_argument("--since", type=option_time)
    parser.add_argument("--until", type=option_time)
    parser.add_argument("--grep")
    parser.add_argument("--top", type=option_count, default=5)
    parser.add_argument("--format", type=option_format, default="text")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_intermixed_args()
    if options.since and options.until and options.until <= options.since:
        parser.error(f"--until {options.until.isoformat()} is not later than --since {options.since.isoformat()}")
    return options


def passes(options, time, level, service, message):
    if options.level and LEVELS.index(level) < LEVELS.index(options.level):
        return False
    if options.service is not None and service != options.service:
        return False
    if options.since and time < options.since:
        return False
    if options.until and time >= options.until:
        return False
    if options.grep and options.grep.lower() not in message.lower():
        return False
    return True


def most_frequent(counter):
    return [{"name": name, "count": count} for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))]


def second(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else None


def aggregate(options):
    """Returns the report and the places of the malformed lines."""
    malformed, entries = [], 0
    levels, services, hours, messages = Counter(), Counter(), Counter(), Counter()
    first = last = None
    for name in options.files:
        for number, line in enumerate(lines_of(name), start=1):
            if not line.strip():
                continue
            try:
                time, level, service, message = parse_line(line)
            except (ValueError, OverflowError, RecursionError):
                malformed.append((name, number))
                continue
            entries += 1
            if not passes(options, time, level, service, message):
                continue
            levels[level] += 1
            services[service] += 1
            hours[time.strftime("%Y-%m-%dT%H:00Z")] += 1
            messages[message] += 1
            first = min(first or time, time)
            last = max(last or time, time)
    report = {
        "lines": entries + len(malformed),
        "malformed": len(malformed),
        "matched": sum(levels.values()),
        "first": second(first),
        "last": second(last),
        "levels": {level: levels[level] for level in LEVELS},
        "services": most_frequent(services),
        "hours": [{"name": hour, "count": hours[hour]} for hour in sorted(hours)],
        "messages": most_frequent(messages)[: options.top],
    }
    return report, malformed


def rows(report):
    for name in ("lines", "malformed", "matched"):
        yield "total", name, report[name]
    for level, count in report["levels"].items():
        yield "level", level, count
    for kind in ("service", "hour", "message"):
        for entry in report[f"{kind}s"]:
            yield kind, entry["name"], entry["count"]


def visible(name):
    return re.sub(r"[\x00-\x1f\x7f]", "?", name)


def print_text(report):
    for name in ("lines", "malformed", "matched"):
        print(f"{name}: {report[name]}")
    levels = [{"name": level, "count": count} for level, count in report["levels"].items()]
    for title, entries in [("levels", levels), *((title, report[title]) for title in ("services", "hours", "messages"))]:
        print(f"{title}:")
        for entry in entries:
            print(f"  {entry['count']} {visible(entry['name'])}")
        if not entries:
            print("  (none)")


def main():
    options = arguments()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        report, malformed = aggregate(options)
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 3
    for name, number in malformed[:NAMED_LINES]:
        print(f"logagg: {name}:{number}: malformed line", file=sys.stderr)
    if len(malformed) > NAMED_LINES:
        print(f"logagg: {len(malformed) - NAMED_LINES} more malformed lines", file=sys.stderr)
    if options.format == "json":
        print(json.dumps(report, ensure_ascii=False, indent=2))
    elif options.format == "csv":
        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(["kind", "name", "count"])
        table.writerows(rows(report))
    else:
        print_text(report)
    return 1 if options.strict and malformed else 0


if __name__ == "__main__":
    sys.exit(main())
