"""A start for suites/logagg, and a floor for its scores: plain lines of plain files are counted, nothing else is done."""

import argparse
import json
import re
from collections import Counter

parser = argparse.ArgumentParser(prog="logagg")
parser.add_argument("files", nargs="+")
parser.add_argument("--format", default="text")
options = parser.parse_args()

levels, services, malformed = Counter(), Counter(), 0
for name in options.files:
    with open(name, encoding="utf-8") as file:
        for line in file:
            if match := re.match(r"(\S+) \[(\w+)\] (\w+): (.*)", line):
                levels[match[2].lower()] += 1
                services[match[3]] += 1
            else:
                malformed += 1

report = {"lines": sum(levels.values()) + malformed, "malformed": malformed, "matched": sum(levels.values())}
if options.format == "json":
    print(json.dumps({**report, "levels": levels, "services": services}))
else:
    for name, count in report.items():
        print(f"{name}: {count}")
