#!/usr/bin/env python3
"""Times evalreport against DuckDB and against the floor, on the same files in the same run.

    cargo build --release && cargo bench --bench generate
    pip install duckdb
    python3 benches/against_duckdb.py

Every figure is the median wall time of several runs of a whole process (evalreport) or of a query after `import duckdb` (DuckDB), with
a warm page cache. The floor reads the same bytes and counts their line breaks, on as many threads. Prints a Markdown table.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("BENCH_DATA", ROOT / "target/bench-data"))
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/release/evalreport"))
THREADS = os.cpu_count()
ROUNDS = int(os.environ.get("ROUNDS", "5"))


def timed(work, rounds=ROUNDS):
    seconds = []
    for _ in range(rounds):
        before = work.prepare() if hasattr(work, "prepare") else None
        start = time.perf_counter()
        work(before) if hasattr(work, "prepare") else work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


class Command:
    """One run of evalreport; a cold one starts without a cache."""

    def __init__(self, *arguments, cold):
        self.arguments, self.cold, self.peak = arguments, cold, 0

    def prepare(self):
        return None

    def __call__(self, _=None):
        cache = CACHE
        if self.cold:
            shutil.rmtree(cache, ignore_errors=True)
        process = subprocess.Popen([BINARY, *self.arguments, "--cache", cache, "--quiet"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        self.peak = max(self.peak, usage.ru_maxrss)
        assert status == 0, (self.arguments, status)


def floor_lines(paths):
    """Reads in blocks and counts line breaks: no tool can do less."""

    def count(path):
        lines = 0
        with open(path, "rb", buffering=0) as file:
            buffer = bytearray(4 << 20)
            while read := file.readinto(buffer):
                lines += buffer.count(b"\n", 0, read)
        return lines

    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(count, paths, chunksize=64))


def main():
    import duckdb

    items = sorted((DATA / "items").glob("*/items.jsonl"))
    headers = sorted((DATA / "items").glob("*.json"))
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
    board = """
        SELECT r.suite, r.approach, r.model, avg((i.status = 'pass')::INT) AS rate, count(*) AS n, sum(i.cost_usd) AS cost
        FROM {items} i JOIN {runs} r ON regexp_extract(i.filename, '([^/]+)/items.jsonl', 1) = r.id
        WHERE i.status IN ('pass', 'fail', 'error', 'limit') GROUP BY ALL ORDER BY ALL"""
    read_items = f"read_ndjson('{item_glob}', columns = {columns}, filename = true)"
    read_runs = f"read_ndjson('{header_glob}', columns = {{id: 'VARCHAR', suite: 'VARCHAR', approach: 'VARCHAR', model: 'VARCHAR'}})"

    def duck_cold():
        connection.execute(board.format(items=read_items, runs=read_runs)).fetchall()

    parquet = str(DATA / "duckdb-items.parquet")
    runs_parquet = str(DATA / "duckdb-runs.parquet")
    if not os.path.exists(parquet):
        connection.execute(f"COPY (SELECT * FROM {read_items}) TO '{parquet}' (FORMAT parquet, COMPRESSION zstd)")
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

    def row(what, seconds, floor, peer=None, peak=None):
        rows.append((what, seconds, seconds / floor if floor else None, peer, seconds / peer if peer else None, peak))

    items_store, small_store = str(DATA / "items"), str(DATA / "small")
    floor = timed(lambda: floor_lines(items + headers))
    cold = Command("leaderboard", "--results", items_store, cold=True)
    row("cold `leaderboard`, 5 million outcomes", timed(cold), floor, timed(duck_cold), cold.peak)
    warm = Command("leaderboard", "--results", items_store, cold=False)
    warm()
    row("warm `leaderboard`, 5 million outcomes", timed(warm), None, timed(duck_warm), warm.peak)
    segments = Command("sql", "SELECT count(*) FROM items", "--results", items_store, cold=True)
    row("cold `sql`, segments written", timed(segments, 1), floor, None, segments.peak)
    query = Command("sql", "SELECT status, count(*) AS n, sum(cost_usd) AS cost FROM items GROUP BY status", "--results", items_store, cold=False)
    row("warm `sql` over all outcomes", timed(query), None, None, query.peak)
    small_floor = timed(lambda: floor_lines(small))
    cold_small = Command("leaderboard", "--results", small_store, cold=True)
    row("cold `leaderboard`, 100,000 small files", timed(cold_small), small_floor, timed(duck_small, 3), cold_small.peak)
    warm_small = Command("leaderboard", "--results", small_store, cold=False)
    warm_small()
    row("warm `leaderboard`, 100,000 small files", timed(warm_small), None, None, warm_small.peak)

    site = tempfile.mkdtemp()
    build = Command("build", "--results", str(ROOT / "results"), "--out", f"{site}/site", cold=False)
    build()
    row("warm `build`, the shipped results", timed(build), None, None, build.peak)
    shutil.rmtree(site)
    help_ = timed(lambda: subprocess.run([BINARY, "--help"], stdout=subprocess.DEVNULL, check=True), 20)
    rows.append(("`--help`", help_, None, None, None, None))

    print(f"{THREADS} threads, {len(items)} journals of {size / 1e6:.0f} MB, {len(small)} small files of {small_size / 1e6:.0f} MB; DuckDB {duckdb.__version__};")
    print(f"floor: {floor:.3f} s for the outcomes, {small_floor:.3f} s for the small files; medians of {ROUNDS}\n")
    print("| what | seconds | × floor | DuckDB seconds | × DuckDB | peak MiB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    number = lambda value, digits: "" if value is None else f"{value:.{digits}f}"
    for what, seconds, of_floor, peer, of_peer, peak in rows:
        print(f"| {what} | {seconds:.3f} | {number(of_floor, 1)} | {number(peer, 3)} | {number(of_peer, 2)} | {number(peak / 1024 if peak else None, 0)} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CACHE = f"{folder}/cache"
        sys.exit(main())
