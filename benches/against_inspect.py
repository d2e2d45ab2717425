#!/usr/bin/env python3
"""Times the import of Inspect AI's logs against its own dataframe reader, and large files against reading and inflating alone.

    cargo build --release
    pip install inspect_ai pandas pyarrow
    python3 benches/against_inspect.py --python PYTHON      # the Python that has them

The logs are made by benches/inspect_log.py. In each round every program has its turn once; the figures are medians of the rounds. The reader
of Inspect is timed without starting Python and importing it; `evalreport` is a whole process, which also takes the digest of the file. CPU
seconds, of user and system, depend less on what else the machine does than wall seconds. Prints Markdown tables.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAP = """\
format: evalreport/map/1
name: bench
rows: item
run: {suite: {constant: bench}, approach: {constant: generate}, model: model}
item: {id: question, kind: {constant: question}, cluster: category, status: {column: right, values: {1: pass, 0: fail}}, input_tokens: tokens_in, output_tokens: tokens_out}
"""
READER = """\
import json, resource, sys, time
from inspect_ai.analysis import evals_df, samples_df
import pandas, pyarrow
wall, cpu = time.perf_counter(), time.process_time()
if sys.argv[2] == "evals":
    frame = evals_df(sys.argv[1], quiet=True)
else:
    frame = samples_df(sys.argv[1], quiet=True, full=sys.argv[2] == "full")
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps({"wall": wall, "cpu": cpu, "rows": len(frame)}))
"""
FLOOR = """\
import json, sys, time, zipfile
try:
    import zipfile_zstd
except ImportError:
    pass
wall, cpu = time.perf_counter(), time.process_time()
with open(sys.argv[1], "rb", buffering=0) as file:
    while file.read(1 << 18):
        pass
with zipfile.ZipFile(sys.argv[1]) as archive:
    for member in archive.infolist():
        with archive.open(member) as stream:
            while stream.read(1 << 18):
                pass
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))
"""


class Program:
    """One program on one file, once a round."""

    def __init__(self, name, command, reports_itself=False, stores=None):
        self.name, self.command, self.reports_itself, self.stores = name, [str(word) for word in command], reports_itself, stores
        self.wall, self.cpu, self.peak = [], [], 0

    def run(self):
        if self.stores:
            shutil.rmtree(self.stores, ignore_errors=True)
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        wall, cpu = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
        assert status == 0, (self.command, status)
        if self.reports_itself:
            said = json.loads(printed.splitlines()[-1])
            wall, cpu = said["wall"], said["cpu"]
        self.wall.append(wall)
        self.cpu.append(cpu)
        self.peak = max(self.peak, usage.ru_maxrss)

    def medians(self):
        return statistics.median(self.wall), statistics.median(self.cpu)


def table(title, programs, base, rounds):
    """Runs the programs in turns and prints each beside `base`, one of them."""
    for _ in range(rounds):
        for program in programs:
            program.run()
    base_wall, base_cpu = base.medians()
    print(f"{title}, medians of {rounds}\n")
    print(f"| what | seconds | CPU seconds | {base.name} / it | the same in CPU | peak MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for program in programs:
        wall, cpu = program.medians()
        print(f"| {program.name} | {wall:.2f} | {cpu:.2f} | {base_wall / wall:.1f} | {base_cpu / cpu:.1f} | {program.peak / 1024:.0f} |")
    print(flush=True)


def log(folder, options, name, *arguments):
    """Makes a log, unless it is there, in a process of its own: what a parent holds counts as its child's peak."""
    path = folder / f"{name}.eval"
    if not path.exists():
        subprocess.run([options.python, ROOT / "benches/inspect_log.py", path, *arguments], check=True, stdout=sys.stderr)
    return path


def imports(folder, options, path, *arguments):
    """The dry run and the import of a file, into a store that is new each time."""
    store, cache = folder / "store", folder / "cache"
    command = [options.binary, "--results", store, "--cache", cache, "--quiet", "import", path, *arguments]
    return [Program("`import --dry-run`", [*command, "--dry-run"]), Program("`import`", command, stores=store)]


def described(path):
    return f"{path.stat().st_size / 1e6:.0f} MB"


def csv(folder, rows):
    path = folder / "rows.csv"
    draw = random.Random(7)
    with path.open("w") as file:
        file.write("model,question,category,right,tokens_in,tokens_out\n")
        for number in range(rows):
            file.write(f"m{number % 20},q{number // 20},c{number // 20 % 14},{draw.randrange(2)},{draw.randrange(100, 3000)},{draw.randrange(1, 900)}\n")
    (folder / "map.yaml").write_text(MAP)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/evalreport")
    parser.add_argument("--python", default=sys.executable, help="a Python that has inspect_ai, pandas and pyarrow")
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=200_000, help="samples of the log that Inspect is not asked to read")
    parser.add_argument("--rows", type=int, default=240_000, help="of the CSV")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="have Inspect read whole samples too, once: minutes")
    parser.add_argument("--keep", type=Path, help="a folder for the logs, which are made anew only where they are missing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        reader = lambda path, what, name: Program(name, [options.python, "-c", READER, path, what], reports_itself=True)
        floor = lambda path: Program("read and inflate alone", [options.python, "-c", FLOOR, path], reports_itself=True)
        for compression in ("deflate", "zstd"):
            path = log(folder, options, compression, "--samples", str(options.samples), "--compression", compression)
            samples = reader(path, "samples", "`samples_df`")
            programs = [samples, reader(path, "evals", "`evals_df`, no samples"), *imports(folder, options, path)]
            table(f"{options.samples:,} samples, {compression}, {described(path)}", programs, samples, options.rounds)
        path = log(folder, options, "unsummed", "--samples", str(options.samples), "--no-summaries")
        whole = floor(path)
        programs = [whole, *imports(folder, options, path)]
        if options.full:
            whole = reader(path, "full", "`samples_df(full=True)`")
            programs.insert(0, whole)
        table(f"{options.samples:,} samples without summaries, {described(path)}", programs, whole, 1 if options.full else options.rounds)
        for name, arguments in (("large", ["--characters", "780"]), ("large-unsummed", ["--characters", "1000", "--no-summaries"])):
            path = log(folder, options, name, "--samples", str(options.large), *arguments)
            whole = floor(path)
            what = "without summaries" if "--no-summaries" in arguments else "with summaries"
            table(f"{options.large:,} samples {what}, {described(path)}", [whole, *imports(folder, options, path)], whole, min(options.rounds, 3))
        path = csv(folder, options.rows)
        dry, stored = imports(folder, options, path, "--map", folder / "map.yaml")
        table(f"{options.rows:,} rows of CSV, {described(path)}", [dry, stored], stored, options.rounds)


if __name__ == "__main__":
    main()
