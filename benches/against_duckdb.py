#!/usr/bin/env python3
"""Times evalreport against DuckDB and against the floor, on the same files in the same run.

    cargo build --release && cargo bench --bench generate
    pip install duckdb
    python3 benches/against_duckdb.py

Every figure is the median wall time of several runs of a whole process (evalreport) or of a query after `import duckdb` (DuckDB), with
a warm page cache; "to the answer" is until the last byte of it is printed, before the cache is
written. A cold run includes the removal of the old cache and the writing of the new one. Prints a Markdown table.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("BENCH_DATA", ROOT / "target/bench-data"))
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/release/evalreport"))
THREADS = os.cpu_count()
ROUNDS = int(os.environ.get("ROUNDS", "5"))


def timed(work, rounds=ROUNDS):
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


class Command:
    """One run of evalreport; a cold one starts without a cache."""

    def __init__(self, *arguments, cold):
        self.arguments, self.cold, self.peak, self.answers = arguments, cold, 0, []

    def __call__(self):
        cache = CACHE
        if self.cold:
            shutil.rmtree(cache, ignore_errors=True)
        start = time.perf_counter()
        process = subprocess.Popen([BINARY, *self.arguments, "--cache", cache, "--quiet"], stdout=subprocess.PIPE, bufsize=0)
        answered = None
        while process.stdout.read(1 << 16):
            answered = time.perf_counter() - start
        # `build` prints nothing: its answer is the folder.
        if answered is not None:
            self.answers.append(answered)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        self.peak = max(self.peak, usage.ru_maxrss)
        assert status == 0, (self.arguments, status)


def floors():
    """Finds the same files, reads their bytes and counts line breaks on every core, in Rust: no tool can do less."""
    program = os.environ.get("FLOOR")
    command = [program] if program else ["cargo", "bench", "--quiet", "--bench", "floor", "--"]
    command.append(str(DATA))
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = dict(line.split() for line in printed.splitlines() if len(line.split()) == 2)
    return float(found["items"]), float(found["small"])


def main():
    items_store, small_store = str(DATA / "items"), str(DATA / "small")
    floor, small_floor = floors()
    # Before DuckDB is loaded: a child's peak counts that of the process it was forked from.
    cold = Command("leaderboard", "--results", items_store, cold=True)
    warm = Command("leaderboard", "--results", items_store, cold=False)
    cold_small = Command("leaderboard", "--results", small_store, cold=True)
    segments = Command("sql", "SELECT count(*) FROM items", "--results", items_store, cold=True)
    by_status = "SELECT status, count(*) AS n, sum(cost_usd) AS cost FROM {} GROUP BY status"
    query = Command("sql", by_status.format("items"), "--results", items_store, cold=False)
    for command in (cold, warm, cold_small, segments, query):
        command()
    peaks = {command: command.peak for command in (cold, warm, cold_small, segments, query)}

    import duckdb

    items = sorted((DATA / "items").glob("*/items.jsonl"))
    small = sorted((DATA / "small").glob("*.json"))
    size = sum(path.stat().st_size for path in items)
    small_size = sum(path.stat().st_size for path in small)
    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")

    columns = (
        "{item: 'VARCHAR', kind: 'VARCHAR', evaluator: 'VARCHAR', attempt: 'UINTEGER', revision: 'UINTEGER', status: 'VARCHAR', score: 'DOUBLE',"
        " cluster: 'VARCHAR', duration_seconds: 'DOUBLE', cost_usd: 'DOUBLE', input_tokens: 'UBIGINT', output_tokens: 'UBIGINT'}"
    )
    item_glob, header_glob, small_glob = (str(DATA / part) for part in ("items/*/items.jsonl", "items/*.json", "small/*.json"))
    # As DuckDB's users write it: one row per file before the join, and no regular expression per outcome.
    board = """
        WITH outcomes AS (
            SELECT filename, count(*) AS n, count(*) FILTER (status = 'pass') AS passed, sum(cost_usd) AS cost
            FROM {items} WHERE status IN ('pass', 'fail', 'error', 'limit') GROUP BY filename)
        SELECT r.suite, r.approach, r.model, sum(o.passed) / sum(o.n) AS rate, sum(o.n) AS n, sum(o.cost) AS cost
        FROM outcomes o JOIN {runs} r ON parse_path(o.filename)[-2] = r.id GROUP BY ALL ORDER BY ALL"""
    read_items = f"read_ndjson('{item_glob}', columns = {columns}, filename = true)"
    read_runs = f"read_ndjson('{header_glob}', columns = {{id: 'VARCHAR', suite: 'VARCHAR', approach: 'VARCHAR', model: 'VARCHAR'}})"

    def duck_cold():
        connection.execute(board.format(items=read_items, runs=read_runs)).fetchall()

    parquet = str(DATA / "duckdb-items.parquet")
    runs_parquet = str(DATA / "duckdb-runs.parquet")

    def duck_copy():
        connection.execute(f"COPY (SELECT * FROM {read_items}) TO '{parquet}' (FORMAT parquet, COMPRESSION zstd)")

    if not os.path.exists(parquet):
        duck_copy()
    connection.execute(f"COPY (SELECT * FROM {read_runs}) TO '{runs_parquet}' (FORMAT parquet)")

    def duck_warm():
        connection.execute(board.format(items=f"'{parquet}'", runs=f"'{runs_parquet}'")).fetchall()

    small_columns = (
        "{id: 'VARCHAR', suite: 'VARCHAR', approach: 'VARCHAR', model: 'VARCHAR', duration_seconds: 'DOUBLE', cost_usd: 'DOUBLE',"
        " shared_tests_passed: 'UBIGINT', shared_tests_total: 'UBIGINT', input_tokens: 'UBIGINT', output_tokens: 'UBIGINT'}"
    )

    def duck_small():
        connection.execute(
            f"SELECT suite, approach, model, avg(shared_tests_passed / shared_tests_total), sum(cost_usd), count(*) FROM"
            f" read_ndjson('{small_glob}', columns = {small_columns}) GROUP BY ALL ORDER BY ALL"
        ).fetchall()

    rows = []

    def row(what, command, floor, peer=None, rounds=ROUNDS):
        command.answers.clear()
        seconds = timed(command, rounds)
        answer = statistics.median(command.answers) if command.answers else None
        rows.append((what, seconds, answer, answer / floor if floor and answer else None, peer, seconds / peer if peer else None, peaks.get(command)))

    row("cold `leaderboard`, 5 million outcomes", cold, floor, timed(duck_cold))
    warm()
    row("warm `leaderboard`, 5 million outcomes", warm, None, timed(duck_warm))
    row("cold `sql`, segments written", segments, floor, timed(duck_copy, 3), rounds=3)

    def duck_sql():
        connection.execute(by_status.format(f"'{CACHE}/segments/*.parquet'")).fetchall()

    row("warm `sql` over all outcomes", query, None, timed(duck_sql))
    row("cold `leaderboard`, 100,000 small files", cold_small, small_floor, timed(duck_small, 1))
    warm_small = Command("leaderboard", "--results", small_store, cold=False)
    warm_small()
    row("warm `leaderboard`, 100,000 small files", warm_small, None)

    site = tempfile.mkdtemp()
    build = Command("build", "--results", str(ROOT / "results"), "--out", f"{site}/site", cold=False)
    build()
    row("warm `build`, the shipped results", build, None)
    shutil.rmtree(site)
    help_ = timed(lambda: subprocess.run([BINARY, "--help"], stdout=subprocess.DEVNULL, check=True), 20)
    rows.append(("`--help`", help_, help_, None, None, None, None))

    print(f"{THREADS} threads, {len(items)} journals of {size / 1e6:.0f} MB, {len(small)} small files of {small_size / 1e6:.0f} MB; DuckDB {duckdb.__version__};")
    print(f"floor: {floor:.3f} s for the outcomes, {small_floor:.3f} s for the small files; medians of {ROUNDS}\n")
    print("| what | seconds | to the answer | × floor | DuckDB seconds | × DuckDB | peak MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    number = lambda value, digits: "" if value is None else f"{value:.{digits}f}"
    for what, seconds, answer, of_floor, peer, of_peer, peak in rows:
        print(f"| {what} | {seconds:.3f} | {number(answer, 3)} | {number(of_floor, 1)} | {number(peer, 3)} | {number(of_peer, 2)} | {number(peak / 1024 if peak else None, 0)} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CACHE = f"{folder}/cache"
        sys.exit(main())
