#!/usr/bin/env python3
"""Measures the profiles of `evalreport verify`: which seeded breaks each catches, and what it takes.

    cargo build && python3 benches/verification.py

makes three small projects (Python with pytest, Node with its own test runner, a Rust crate), breaks each in turn as a careless change
would, lets every profile look at it, and prints the tables of docs/measured/verification.md and docs/measured/verification-*.csv. Harmless changes
are among them: what is called broken there is a false alarm. Needs pytest, node, npm and cargo on the PATH; what is missing is left out and
said.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROFILES = ["strict", "fast", "smoke", "yolo"]

PYTHON = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "0"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "conftest.py": "",
    "adder.py": "def add(left, right):\n    return left + right\n",
    "prices.py": "from adder import add\n\n\ndef total(prices):\n    result = 0\n    for price in prices:\n        result = add(result, price)\n    return result\n",
    "words.py": "def shout(text):\n    return text.upper()\n\n\ndef whisper(text):\n    return text.lower()\n",
    "app.py": "from prices import total\n\nprint(total([1, 2, 3]))\n",
    "tests/test_adder.py": "from adder import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    "tests/test_prices.py": "import time\n\nfrom prices import total\n\n\ndef test_total():\n    time.sleep(1)\n    assert total([1, 2, 3]) == 6\n\n\ndef test_nothing():\n    assert total([]) == 0\n",
    "tests/test_words.py": "from words import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A'\n",
}
NODE = {
    "package.json": '{"name": "app", "version": "0.0.0", "scripts": {"test": "node --test", "build": "node build.js", "start": "node app.js"}}\n',
    "adder.js": "exports.add = (left, right) => left + right;\n",
    "prices.js": "const { add } = require('./adder.js');\nexports.total = (prices) => prices.reduce(add, 0);\n",
    "words.js": "exports.shout = (text) => text.toUpperCase();\nexports.whisper = (text) => text.toLowerCase();\n",
    "build.js": "const { execFileSync } = require('node:child_process');\nfor (const file of ['adder.js', 'prices.js', 'words.js', 'app.js']) execFileSync('node', ['--check', file], { stdio: 'inherit' });\n",
    "app.js": "const { total } = require('./prices.js');\nconsole.log(total([1, 2, 3]));\n",
    "test/adder.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../adder.js');\ntest('adds', () => assert.strictEqual(add(1, 2), 3));\n",
    "test/prices.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { total } = require('../prices.js');\ntest('total', async () => { await new Promise((done) => setTimeout(done, 1000)); assert.strictEqual(total([1, 2, 3]), 6); });\n",
    "test/words.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { shout } = require('../words.js');\ntest('shouts', () => assert.strictEqual(shout('a'), 'A'));\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "app"\nversion = "0.0.0"\nedition = "2021"\n',
    ".gitignore": "/target\n/Cargo.lock\n",
    "src/lib.rs": "pub mod adder;\npub mod prices;\npub mod words;\n",
    "src/main.rs": 'fn main() {\n    println!("{}", app::prices::total(&[1, 2, 3]));\n}\n',
    "src/adder.rs": "pub fn add(left: i64, right: i64) -> i64 {\n    left + right\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n",
    "src/prices.rs": "use crate::adder::add;\n\npub fn total(prices: &[i64]) -> i64 {\n    prices.iter().fold(0, |sum, price| add(sum, *price))\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn total() {\n        std::thread::sleep(std::time::Duration::from_secs(1));\n        assert_eq!(super::total(&[1, 2, 3]), 6);\n    }\n}\n",
    "src/words.rs": "pub fn shout(text: &str) -> String {\n    text.to_uppercase()\n}\n\npub fn whisper(text: &str) -> String {\n    text.to_lowercase()\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn shouts() {\n        assert_eq!(super::shout(\"a\"), \"A\");\n    }\n}\n",
}

# Kind of break, goal, file, old text, new text; without new text the file goes. An empty kind is a harmless change.
FIX, TINY, RENAME, SHOW = "Fix the sum of prices", "Fix typo in {file}", "Refactor the adder", "Let the program shout"
CHANGES = {
    "python": [
        ("", RENAME, "adder.py", "return left + right", "return right + left"),
        ("", TINY, "words.py", "return text.upper()", "return text.upper()  # louder"),
        ("wrong result, own test", FIX, "adder.py", "left + right", "left - right"),
        ("wrong result, own test", TINY, "words.py", "upper", "title() + text.upper"),
        ("wrong result, only another module's test", FIX, "prices.py", "add(result, price)", "price"),
        ("wrong result, only another module's test", TINY, "adder.py", "return left + right", "return 3"),
        ("wrong result, no test", SHOW, "words.py", "text.lower()", "text"),
        ("syntax error", RENAME, "adder.py", "def add(left, right):", "def add(left, right)"),
        ("syntax error", SHOW, "app.py", "print(", "print(("),
        ("does not start", SHOW, "app.py", "from prices import total", "from prices import totals as total"),
        ("renamed, uses left behind", RENAME, "adder.py", "def add", "def plus"),
        ("file gone", RENAME, "prices.py", "", None),
        ("broken manifest", TINY, "pyproject.toml", "[project]", "[project"),
    ],
    "node": [
        ("", RENAME, "adder.js", "left + right", "right + left"),
        ("", TINY, "words.js", "text.toUpperCase();", "text.toUpperCase(); // louder"),
        ("wrong result, own test", FIX, "adder.js", "left + right", "left - right"),
        ("wrong result, own test", TINY, "words.js", "toUpperCase", "trim"),
        ("wrong result, only another module's test", FIX, "prices.js", "reduce(add, 0)", "length"),
        ("wrong result, only another module's test", TINY, "adder.js", "left + right", "3"),
        ("wrong result, no test", SHOW, "words.js", "toLowerCase", "trim"),
        ("syntax error", RENAME, "adder.js", "=>", "=>>"),
        ("syntax error", SHOW, "app.js", "console.log(", "console.log(("),
        ("does not start", SHOW, "app.js", "./prices.js", "./price.js"),
        ("renamed, uses left behind", RENAME, "adder.js", "exports.add", "exports.plus"),
        ("file gone", RENAME, "prices.js", "", None),
        ("broken manifest", TINY, "package.json", '"scripts"', "scripts"),
    ],
    "rust": [
        ("", RENAME, "src/adder.rs", "left + right", "right + left"),
        ("", TINY, "src/words.rs", "text.to_uppercase()", "text.to_uppercase() // louder"),
        ("wrong result, own test", FIX, "src/adder.rs", "left + right", "left - right"),
        ("wrong result, own test", TINY, "src/words.rs", "text.to_uppercase()", "text.to_owned()"),
        ("wrong result, only another module's test", FIX, "src/prices.rs", "fold(0,", "fold(1,"),
        ("wrong result, only another module's test", TINY, "src/adder.rs", "left + right", "left + right - left + 1"),
        ("wrong result, no test", SHOW, "src/words.rs", "text.to_lowercase()", "text.to_owned()"),
        ("syntax error", RENAME, "src/adder.rs", "-> i64 {", "-> i64"),
        ("does not start", SHOW, "src/main.rs", "fn main() {", 'fn main() {\n    panic!("no");'),
        ("renamed, uses left behind", RENAME, "src/adder.rs", "pub fn add", "pub fn plus"),
        ("file gone", RENAME, "src/prices.rs", "", None),
        ("broken manifest", TINY, "Cargo.toml", "[package]", "[package"),
    ],
}
PROJECTS = {"python": (PYTHON, ["pytest"]), "node": (NODE, ["node", "npm"]), "rust": (RUST, ["cargo"])}


def git(folder, *arguments):
    name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "-C", folder, *name, *arguments], check=True, capture_output=True)


def make(folder, files):
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "state")


def change(folder, file, old, new):
    place = folder / file
    if new is None:
        place.unlink()
        return
    text = place.read_text()
    assert old in text, f"{file} has no {old!r}"
    place.write_text(text.replace(old, new, 1))


def verify(program, folder, goal, profile, scratch):
    command = [program, "verify", folder, "--goal", goal, "--profile", profile, "--scratch", scratch, "--format", "json"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent)
    if said.returncode == 2:
        raise SystemExit(said.stderr)
    record = json.loads(said.stdout)
    # What the person waits for: the tree as it is. The tree as it was costs as much again.
    return record["terminalStatus"], sum(check.get("seconds", 0) for check in record["checks"]), len(record["checks"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/debug/evalreport", help="the binary to measure")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    os.environ["CARGO_NET_OFFLINE"] = "true"
    # Trees that share a folder of builds pass for each other.
    os.environ.pop("CARGO_TARGET_DIR", None)
    seen = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, (files, needs) in PROJECTS.items():
            missing = [need for need in needs if shutil.which(need) is None]
            if missing:
                print(f"{name} left out: no {', '.join(missing)}", file=sys.stderr)
                continue
            for number, (kind, goal, file, old, new) in enumerate(CHANGES[name]):
                for profile in PROFILES:
                    folder = Path(scratch) / f"{name}-{number}-{profile}"
                    folder.mkdir()
                    make(folder, files)
                    change(folder, file, old, new)
                    status, seconds, checks = verify(program, folder, goal.format(file=file), profile, scratch)
                    seen.append((name, kind, profile, status, seconds, checks))
                    print(f"{name} {number:2} {profile:6} {status:12} {checks} {seconds:6.2f} s  {kind or 'harmless'}", file=sys.stderr)
    report(seen)


def report(seen):
    is_alarm = lambda status: status in ("not_done", "blocked")
    strict = {name: statistics.median(row[4] for row in seen if row[0] == name and row[2] == "strict") for name in {row[0] for row in seen}}
    print("| profile | breaks caught | not checked | false alarms | checks, mean | seconds, median | saved against `strict` |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for profile in PROFILES:
        rows = [row for row in seen if row[2] == profile]
        broken, harmless = [row for row in rows if row[1]], [row for row in rows if not row[1]]
        caught = sum(is_alarm(row[3]) for row in broken)
        unchecked = sum(row[3] == "unverified" for row in rows)
        alarms = sum(is_alarm(row[3]) for row in harmless)
        seconds = statistics.median(row[4] for row in rows)
        whole = statistics.median(row[4] for row in seen if row[2] == "strict")
        print(
            f"| `{profile}` | {caught} of {len(broken)} | {unchecked} of {len(rows)} | {alarms} of {len(harmless)} "
            f"| {statistics.mean(row[5] for row in rows):.1f} | {seconds:.1f} | {whole - seconds:.1f} ({100 * (1 - seconds / whole):.0f}%) |"
        )
    names = sorted(strict)
    print("\n| seconds, median | " + " | ".join(f"{name}" for name in names) + " |")
    print("| --- |" + " ---: |" * len(names))
    for profile in PROFILES:
        cells = [statistics.median(row[4] for row in seen if row[0] == name and row[2] == profile) for name in names]
        print(f"| `{profile}` | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    print("\n| break | " + " | ".join(f"`{profile}`" for profile in PROFILES) + " |")
    print("| --- |" + " ---: |" * len(PROFILES))
    for kind in dict.fromkeys(row[1] for row in seen if row[1]):
        cells = []
        for profile in PROFILES:
            rows = [row for row in seen if row[1] == kind and row[2] == profile]
            cells.append(f"{sum(is_alarm(row[3]) for row in rows)} of {len(rows)}")
        print(f"| {kind} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
