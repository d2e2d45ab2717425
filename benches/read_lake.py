#!/usr/bin/env python3
"""Reads a lake with other programs, and holds what they count to what evalreport says of the store that was published.

    pip install duckdb pyarrow pandas polars deltalake
    python3 benches/read_lake.py --binary target/debug/evalreport --results results

Publishes the results twice, the second time after a retraction and its undo, so that rows of `runs` are superseded. Then DuckDB, pandas with
pyarrow, polars and delta-rs (`deltalake`) must find the same standing runs, outcomes, passes and costs. A reader that is not installed is
named and left out; without any the script fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

GROUP = ["suite", "approach", "model", "kind", "evaluator"]

# What stands, in SQL that most engines know: of each run the row with the highest sequence, and of its publish what stands.
STANDING = """
SELECT r.suite, r.approach, r.model, o.kind, o.evaluator, count(*) AS outcomes,
    count(CASE WHEN o.status = 'pass' THEN 1 END) AS passed, count(DISTINCT o.run_id) AS runs, sum(o.cost_usd) AS cost
FROM outcomes o
JOIN (SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY sequence DESC) AS place FROM runs) r
    ON o.run_id = r.run_id AND o.publish_id = r.publish_id
WHERE r.place = 1 AND NOT r.deleted AND o.standing
GROUP BY r.suite, r.approach, r.model, o.kind, o.evaluator
"""

OURS = """
SELECT runs.suite, runs.approach, runs.model, items.kind, items.evaluator, count(*) AS outcomes,
    sum(CASE WHEN items.status = 'pass' THEN 1 ELSE 0 END) AS passed, count(DISTINCT items.run_id) AS runs, sum(items.cost_usd) AS cost
FROM items JOIN runs ON items.run_id = runs.run_id WHERE items.standing
GROUP BY runs.suite, runs.approach, runs.model, items.kind, items.evaluator
"""


def evalreport(arguments, *command):
    done = subprocess.run([arguments.binary, *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def listed(table):
    """The files that the log of a table lists."""
    files = {}
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                files[action["add"]["path"]] = None
            if "remove" in action:
                files.pop(action["remove"]["path"], None)
    return [str(table / unquote(path)) for path in files]


def by_group(rows):
    """Rows as a mapping that readers can be compared by; sums of money in another order may differ in the last digits."""
    return {
        tuple(row[:5]): (int(row[5]), int(row[6]), int(row[7]), None if row[8] is None or row[8] != row[8] else round(float(row[8]), 9))
        for row in rows
    }


def with_duckdb(lake):
    import duckdb

    connection = duckdb.connect()
    for table in ("runs", "outcomes"):
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({listed(lake / table)!r}, hive_partitioning = false)")
    return by_group(connection.execute(STANDING).fetchall()), f"DuckDB {duckdb.__version__}"


def grouped(runs, outcomes):
    """The same with pandas."""
    newest = runs.sort_values("sequence").groupby("run_id").tail(1)
    newest = newest[~newest["deleted"]]
    joined = outcomes[outcomes["standing"]].merge(newest[["run_id", "publish_id", "approach", "model"]], on=["run_id", "publish_id"])
    joined["passed"] = joined["status"] == "pass"
    groups = joined.groupby(GROUP, dropna=False)
    found = groups.agg(outcomes=("item", "size"), passed=("passed", "sum"), runs=("run_id", "nunique")).reset_index()
    cost = groups["cost_usd"].sum(min_count=1).reset_index(drop=True)
    return by_group([*row, cost[place]] for place, row in enumerate(found.itertuples(index=False, name=None)))


def with_pandas(lake):
    import pandas
    import pyarrow.parquet

    frames = [
        pandas.concat([pyarrow.parquet.ParquetFile(file).read().to_pandas() for file in listed(lake / table)], ignore_index=True)
        for table in ("runs", "outcomes")
    ]
    return grouped(*frames), f"pandas {pandas.__version__} with pyarrow {pyarrow.__version__}"


def with_polars(lake):
    import polars

    runs, outcomes = (polars.scan_parquet(listed(lake / table), hive_partitioning=False) for table in ("runs", "outcomes"))
    newest = runs.sort("sequence").group_by("run_id").last().filter(~polars.col("deleted"))
    joined = outcomes.filter("standing").join(newest.select("run_id", "publish_id", "approach", "model"), on=["run_id", "publish_id"])
    cost = polars.when(polars.col("cost_usd").count() > 0).then(polars.col("cost_usd").sum()).alias("cost")
    found = joined.group_by(GROUP).agg(
        polars.len().alias("outcomes"), (polars.col("status") == "pass").sum().alias("passed"), polars.col("run_id").n_unique().alias("runs"), cost
    )
    return by_group(found.collect().rows()), f"polars {polars.__version__}"


def with_deltalake(lake):
    import deltalake

    tables = [deltalake.DeltaTable(str(lake / table)) for table in ("runs", "outcomes")]
    for table, name in zip(tables, ("runs", "outcomes")):
        files = sorted(unquote(path.removeprefix("file://")) for path in table.file_uris())
        ours = sorted(unquote(str(Path(path).resolve())) for path in listed(lake / name))
        assert len(files) == len(ours), (name, files, ours)
    runs, outcomes = (table.to_pandas() for table in tables)
    return grouped(runs, outcomes), f"deltalake {deltalake.__version__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/debug/evalreport")
    parser.add_argument("--results", default="results")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, lake = Path(folder) / "results", Path(folder) / "lake"
        subprocess.run(["cp", "-r", arguments.results, str(store)], check=True)
        place = ["--results", str(store), "--cache", str(Path(folder) / "cache")]
        evalreport(arguments, "export", "lake", str(lake), *place)
        runs = json.loads(evalreport(arguments, "sql", "SELECT run_id FROM runs ORDER BY run_id LIMIT 2", *place, "--format", "json"))
        for [run] in runs["rows"]:
            evalreport(arguments, "retract", run, "--reason", "tried", *place)
            evalreport(arguments, "export", "lake", str(lake), *place)
        # One of the two stays retracted.
        evalreport(arguments, "retract", run, "--undo", *place)
        evalreport(arguments, "export", "lake", str(lake), *place)

        answer = json.loads(evalreport(arguments, "sql", OURS, *place, "--format", "json"))
        expected = by_group(answer["rows"])
        total = sum(counts[0] for counts in expected.values())
        print(f"evalreport: {len(expected)} groups, {total} standing outcomes")
        read = 0
        for reader in (with_duckdb, with_pandas, with_polars, with_deltalake):
            try:
                found, name = reader(lake)
            except ModuleNotFoundError as missing:
                print(f"{missing.name} is not installed: skipped")
                continue
            for group in sorted(expected.keys() | found.keys(), key=str):
                if expected.get(group) != found.get(group):
                    sys.exit(f"{name}: {group}: {found.get(group)} instead of {expected.get(group)}")
            print(f"{name}: the same")
            read += 1
        if read == 0:
            sys.exit("no reader is installed")


if __name__ == "__main__":
    main()
