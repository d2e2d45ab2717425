#!/usr/bin/env python3
"""Measures how time, processor time and memory grow with the number of outcomes, and draws it.

    cargo build --release
    python3 benches/growth.py [--up-to 7] [--sites-up-to 7] [--folder target/growth]

For 10^5, 10^6, … outcomes in runs of 20,000 questions by ten arms it times a cold board, a warm board, the board after one run more, a
cold build and a gate, each as a whole process and once. It prints a Markdown table and writes docs/measured/growth.csv and growth.svg.
10^8 outcomes need 26 GB of disk, and their site 75 GB more.
"""

import argparse
import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/release/evalreport"))
ITEMS = 20_000
ARMS = 10
COLOURS = ["#1f4e9e", "#b4540a", "#2f7d32", "#7b3fa0", "#a31f34"]


def add_run(store, number):
    """Writes one run of 20,000 outcomes."""
    name = f"01d00000-0000-7000-8000-{number:012}"
    draw = random.Random(number)
    folder = store / name
    folder.mkdir(parents=True)
    passed = 0
    with open(folder / "items.jsonl", "w", encoding="utf-8") as lines:
        for item in range(ITEMS):
            passes = draw.random() < 0.5 + 0.02 * (number % ARMS)
            passed += passes
            status, score = ("pass", 1.0) if passes else ("fail", 0.0)
            lines.write(
                f'{{"item":"category-{item % 14:02}/question-{item:06}","kind":"question","evaluator":"answers","attempt":1,"revision":0,'
                f'"status":"{status}","score":{score},"cluster":"category-{item % 14:02}","duration_seconds":{draw.randrange(100_000) / 1000},'
                f'"cost_usd":{draw.randrange(100, 9973) / 1e6:.6f},"input_tokens":{draw.randrange(20_000)},"output_tokens":{draw.randrange(3000)}}}\n'
            )
    header = {"id": name, "suite": "growth", "approach": f"approach-{number % ARMS}", "model": "model", "status": "completed"}
    header |= {"timestamp": f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}T00:00:00Z", "batch_id": f"batch-{number // ARMS}"}
    header |= {"shared_tests_passed": passed, "shared_tests_total": ITEMS}
    (store / f"{name}.json").write_text(json.dumps(header), encoding="utf-8")


def measured(*arguments):
    """Runs a command. Returns wall seconds, processor seconds and peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen([BINARY, *map(str, arguments), "--quiet"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    # A gate that finds a regression or nothing to say has done its work.
    assert process.returncode in (0, 1, 3), (arguments, process.returncode)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def drawing(rows):
    """Draws seconds over outcomes, both in powers of ten."""
    from math import log10

    commands = list(dict.fromkeys(row["command"] for row in rows))
    outcomes = sorted({row["outcomes"] for row in rows})
    least, most = min(row["seconds"] for row in rows), max(row["seconds"] for row in rows)
    low, high = int(log10(least)) - 1, int(log10(most)) + 1
    width, height, left, top = 640, 400, 60, 20
    across = lambda value: left + (log10(value) - log10(outcomes[0])) / max(log10(outcomes[-1] / outcomes[0]), 1) * (width - left - 150)
    down = lambda value: top + (high - log10(value)) / (high - low) * (height - top - 40)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append("<title>Seconds by outcomes</title>")
    for power in range(low, high + 1):
        y = down(10**power)
        parts.append(f'<path d="M{left} {y:.1f}H{width - 150}" stroke="#ccc"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for value in outcomes:
        parts.append(f'<text x="{across(value):.1f}" y="{height - 12}" text-anchor="middle">{value:,}</text>')
    ends = []
    for command, colour in zip(commands, COLOURS):
        points = [(across(row["outcomes"]), down(row["seconds"])) for row in rows if row["command"] == command]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        ends.append((points[-1][1], command, colour))
    place = 0
    for y, command, colour in sorted(ends):
        place = max(y, place + 14)
        parts.append(f'<text x="{width - 142}" y="{place + 4:.1f}" fill="{colour}">{command}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--up-to", type=int, default=7, help="the last power of ten")
    parser.add_argument("--sites-up-to", type=int, default=7, help="the last power of ten with a site, which takes most of the time")
    parser.add_argument("--folder", type=Path, default=ROOT / "target/growth")
    given = parser.parse_args()
    store, rows, runs = given.folder / "results", [], 0
    shutil.rmtree(given.folder, ignore_errors=True)
    for power in range(5, given.up_to + 1):
        needed = 10**power // ITEMS
        with ProcessPoolExecutor() as pool:
            list(pool.map(add_run, repeat(store), range(runs, needed), chunksize=16))
        runs = max(runs, needed)
        cache = given.folder / "cache"
        places = ["--results", store, "--cache", cache]
        commands = {
            "cold board": ["leaderboard", *places],
            "warm board": ["leaderboard", *places],
            "one run more": ["leaderboard", *places],
            "cold build": ["build", *places, "--out", given.folder / "site"],
            "gate": ["gate", "growth", "--baseline", "last:3", "--max-drop", "5pp", *places],
        }
        if power > given.sites_up_to:
            del commands["cold build"]
        for command, arguments in commands.items():
            if command.startswith("cold"):
                shutil.rmtree(cache, ignore_errors=True)
                shutil.rmtree(given.folder / "site", ignore_errors=True)
            if command == "one run more":
                add_run(store, runs)
                runs += 1
            seconds, processor, peak = measured(*arguments)
            rows.append({"outcomes": 10**power, "command": command, "seconds": seconds, "processor_seconds": processor, "peak_mib": peak})
            print(f"| {10**power:,} | {command} | {seconds:.2f} | {processor:.2f} | {peak:.0f} |", flush=True)
    measured_folder = ROOT / "docs/measured"
    with open(measured_folder / "growth.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.3f}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    (measured_folder / "growth.svg").write_text(drawing(rows), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
