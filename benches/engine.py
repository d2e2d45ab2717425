#!/usr/bin/env python3
"""Holds the answers of a lake against each other: read by evalreport itself, and asked of Sail, DuckDB and polars with `queries/*.sql`.

    pip install pysail pyarrow duckdb polars
    EVALREPORT=target/debug/evalreport python3 benches/engine.py            # the shipped results; minutes
    EVALREPORT=target/release/evalreport python3 benches/engine.py large 100000000 DIR

Sail runs as a server of its own on the loopback. DuckDB and polars are libraries: a stand-in server in this script hands them the same SQL,
and also does what a bad server does: another type, a missing column, a truncated or reordered stream, silence, a kill in the middle.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from urllib.parse import unquote

import duckdb
import polars
import pyarrow
from pyarrow import flight

warnings.simplefilter("ignore", UserWarning)

ROOT = Path(__file__).resolve().parent.parent
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/debug/evalreport"))
SAIL = str(Path(sys.executable).parent / "sail")
TABLES = ("runs", "outcomes")
QUESTIONS = (
    ("leaderboard",),
    ("compare",),
    ("history",),
    ("gate", "--baseline", "last:1", "--max-drop", "2pp", "--max-cost", "+10%"),
)


def files(table):
    """The files of a Delta table, from its log: what is in the folder besides does not exist."""
    found = {}
    for entry in sorted((table / "_delta_log").glob("*.json")):
        for line in entry.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                found[action["add"]["path"]] = None
            if "remove" in action:
                found.pop(action["remove"]["path"], None)
    return [str(table / unquote(path)) for path in found]


def duckdb_engine(lake):
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"create view {table} as select * from read_parquet({files(lake / table)!r}, hive_partitioning = false)")
    return lambda sql: connection.cursor().execute(sql).to_arrow_table()


def polars_engine(lake):
    frames = {table: polars.scan_parquet(files(lake / table), hive_partitioning=False) for table in TABLES}
    context = polars.SQLContext(frames)
    return lambda sql: context.execute(sql, eager=True).to_arrow()


class StandIn(flight.FlightServerBase):
    """Answers Arrow Flight SQL statements with a function from SQL to a table. `fault` changes an answer: (query, table) → table."""

    def __init__(self, engine, fault=None, token=None, stall=None, **options):
        super().__init__("grpc://127.0.0.1:0" if "tls_certificates" not in options else "grpc+tls://localhost:0", **options)
        self.engine, self.fault, self.token, self.stall, self.answers = engine, fault, token, stall, {}
        # Set when nobody waits for a stalled answer: the server ends only after its threads.
        self.given_up = threading.Event()

    @staticmethod
    def statement(command):
        """The query in a packed CommandStatementQuery: field 2 of an Any, field 1 of the message."""
        fields = dict(protobuf(command))
        assert fields[1].endswith(b"CommandStatementQuery"), fields[1]
        return dict(protobuf(fields[2]))[1].decode()

    def get_flight_info(self, context, descriptor):
        sql = self.statement(descriptor.command)
        table = self.engine(sql)
        name = next(path.stem for path in sorted((ROOT / "queries").glob("*.sql")) if sql.split('\n')[0] == path.read_text().split('\n')[0])
        if self.fault:
            table = self.fault(name, table)
        ticket = str(len(self.answers)).encode()
        self.answers[ticket] = (name, table)
        return flight.FlightInfo(table.schema, descriptor, [flight.FlightEndpoint(ticket, [])], table.num_rows, -1)

    def do_get(self, context, ticket):
        name, table = self.answers.pop(ticket.ticket)
        if self.stall == name:
            self.given_up.wait(60)
        return flight.RecordBatchStream(table)


class Token(flight.ServerMiddlewareFactory):
    def __init__(self, token):
        self.token = token

    def start_call(self, information, headers):
        if headers.get("authorization") != [f"Bearer {self.token}"]:
            raise flight.FlightUnauthenticatedError("no valid token")


def protobuf(message):
    """The length-delimited fields of a message."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        tag = varint()
        length = varint()
        yield tag >> 3, message[place : place + length]
        place += length


def packed(sql):
    """A CommandStatementQuery in an Any."""

    def field(number, value):
        length, size = b"", len(value)
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + value

    url = b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    return field(1, url) + field(2, field(1, sql.encode()))


class Sail:
    """A Sail server with the tables of a lake as views."""

    def __init__(self, lake, mode="local"):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"grpc://127.0.0.1:{self.port}"
        log = tempfile.NamedTemporaryFile(prefix="sail-", suffix=".log", delete=False)
        self.log = log.name
        command = [SAIL, "flight", "server", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "SAIL_MODE": mode})
        for _ in range(120):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.5)
        client = flight.connect(self.url)
        for table in TABLES:
            sql = f"create or replace temporary view {table} as select * from delta.`{lake.resolve() / table}`"
            info = client.get_flight_info(flight.FlightDescriptor.for_command(packed(sql)))
            client.do_get(info.endpoints[0].ticket).read_all()

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait()
        Path(self.log).unlink(missing_ok=True)


class Ran:
    """One run of evalreport."""

    def __init__(self, *arguments, **environment):
        start = time.perf_counter()
        self.process = subprocess.Popen(
            [BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **environment}
        )
        errors = []
        reader = threading.Thread(target=lambda: errors.append(self.process.stderr.read()))
        reader.start()
        self.output = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        reader.join()
        self.process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.errors, self.seconds, self.peak = errors[0].decode(), time.perf_counter() - start, usage.ru_maxrss / 1024

    def digest(self):
        return hashlib.sha256(self.output).hexdigest()[:16]


def asked(question, *source, **environment):
    with tempfile.TemporaryDirectory() as cache:
        return Ran(*question, "--format", "json", "--cache", cache, *source, **environment)


def without_reasons(answer):
    """An answer without why items failed: reasons are texts, and engines send none."""
    if isinstance(answer, dict):
        return {key: without_reasons(value) for key, value in answer.items() if key != "reason"}
    return [without_reasons(value) for value in answer] if isinstance(answer, list) else answer


def is_same(ran, expected, has_texts):
    """Whether two answers have the same bytes, or without texts the same content."""
    if ran.code != expected.code or not expected.output or not ran.output:
        return False
    if has_texts:
        return ran.output == expected.output
    one, other = [without_reasons(json.loads(answer.output)) for answer in (ran, expected)]
    return json.dumps(one) == json.dumps(other)


def same(lake, store):
    """Every question has the same bytes from the store and the lake, and the same from every engine but for reasons."""
    sail = Sail(lake)
    stands = {"DuckDB": StandIn(duckdb_engine(lake)), "polars": StandIn(polars_engine(lake))}
    sources = {"store": ("--results", store), "lake": ("--results", f"lake:{lake}"), "Sail": ("--engine", sail.url)}
    sources |= {name: ("--engine", f"grpc://127.0.0.1:{stand.port}") for name, stand in stands.items()}
    print("| question | " + " | ".join(sources) + " |\n| --- |" + " --- |" * len(sources))
    failed = []
    for question in QUESTIONS:
        runs = {name: asked(question, *source) for name, source in sources.items()}
        cells = [f"{ran.digest()} {ran.seconds:.1f} s" for ran in runs.values()]
        print(f"| {question[0]} | " + " | ".join(cells) + " |", flush=True)
        expected = runs["store"]
        for name, ran in runs.items():
            if not is_same(ran, expected, name in ("store", "lake")):
                failed.append(f"{question[0]} by {name}: code {ran.code}, not {expected.code}: {ran.errors[:300]}")
    for stand in stands.values():
        stand.shutdown()
    sail.stop()
    return failed


def replaced(name, column, change):
    """A fault: `change` gets the column of a query's answer; `None` removes it."""

    def fault(query, table):
        if query != name:
            return table
        place = table.schema.get_field_index(column)
        values = change(table.column(place))
        return table.remove_column(place) if values is None else table.set_column(place, column, values)

    return fault


def on(name, change):
    return lambda query, table: change(table) if query == name else table


def bad_answers(lake):
    """No answer of a bad server becomes a board: exit code 2, a message that says why, and nothing on standard output."""
    engine = duckdb_engine(lake)
    to = pyarrow.array
    turned = lambda table: table.take(list(range(table.num_rows - 1, -1, -1)))
    other_cell = lambda cells: to([9 if cell.as_py() == 10 else 10 for cell in cells], pyarrow.int8())
    faults = {
        "cells of 16 bits": (replaced("cells", "cell", lambda cells: cells.cast(pyarrow.int16())), "not of bytes"),
        "cells as text": (replaced("cells", "cell", lambda cells: cells.cast(pyarrow.string())), "of type"),
        "no column of cells": (on("cells", lambda table: table.rename_columns(["other"])), "no column `cell`"),
        "a cell is null": (replaced("cells", "cell", lambda cells: to([None] + cells.to_pylist()[1:], pyarrow.int8())), "without nulls"),
        "an unknown status": (replaced("cells", "cell", lambda cells: to([0] + cells.to_pylist()[1:], pyarrow.int8())), "does not know"),
        "other outcomes": (replaced("cells", "cell", other_cell), "another sum"),
        "cells end early": (on("cells", lambda table: table.slice(0, table.num_rows - 1)), "end at row"),
        "cells too many": (on("cells", lambda table: pyarrow.concat_tables([table, table.slice(0, 1)])), "more cells"),
        "cells turned round": (on("cells", turned), "another sum"),
        "items turned round": (on("items", turned), "not in order"),
        "an item is renamed": (replaced("items", "item", lambda items: to(["other"] + items.to_pylist()[1:])), "names do not give"),
        "an unknown kind": (replaced("items", "kind", lambda kinds: to(["wish"] + kinds.to_pylist()[1:])), "no kind of item"),
        "items end early": (on("items", lambda table: table.slice(0, 1)), "are not in"),
        "rows end early": (on("rows", lambda table: table.slice(0, table.num_rows - 1)), "other outcomes"),
        "no record": (replaced("runs", "record", lambda records: None), "no column `record`"),
        "a broken record": (replaced("runs", "record", lambda records: to(["{"] * len(records))), "not as they were published"),
        "another's record": (replaced("runs", "record", lambda records: to(records.to_pylist()[::-1])), "not as they were published"),
        "no lines": (replaced("lines", "cost_usd", lambda costs: None), "no column `cost_usd`"),
        "lines end early": (on("lines", lambda table: table.slice(0, table.num_rows - 1)), "time, money or tokens"),
        "a run is lost": (on("runs", lambda table: table.slice(1)), "were published"),
        "a commit is lost": (on("commits", lambda table: table.slice(1)), "commits"),
        "later outcomes": (replaced("publications", "publish_id", lambda ids: to(["~"] * len(ids))), "no run is named of the last publication"),
        "a run twice": (on("runs", lambda table: pyarrow.concat_tables([table, table.slice(0, 1)])), "twice"),
    }
    failed = []
    for name, (fault, said) in faults.items():
        with StandIn(engine, fault) as stand:
            # A leaderboard asks for no lines.
            question = "compare" if "lines" in name else "leaderboard"
            ran = asked((question,), "--engine", f"grpc://127.0.0.1:{stand.port}")
        message = ran.errors.splitlines()[0] if ran.errors else ""
        print(f"  {name}: {ran.code}, {message}", flush=True)
        if ran.code != 2 or ran.output or said not in ran.errors:
            failed.append(f"{name}: code {ran.code}, {message!r}, {len(ran.output)} bytes of an answer")
    return failed


def bad_times(lake):
    """A server that is slow, silent, gone or killed is a message within the time-out, or the same bytes."""
    engine, failed = duckdb_engine(lake), []

    def expect(name, ran, said, within):
        message = ran.errors.splitlines()[0] if ran.errors else ""
        print(f"  {name}: {ran.code} after {ran.seconds:.1f} s, {message}", flush=True)
        if ran.code != 2 or ran.output or said not in ran.errors or ran.seconds > within:
            failed.append(f"{name}: code {ran.code} after {ran.seconds:.1f} s, {message!r}")

    for query in ("runs", "cells"):
        with StandIn(engine, stall=query) as stand:
            ran = asked(("leaderboard",), "--engine", f"grpc://127.0.0.1:{stand.port}", "--engine-timeout", "2")
            stand.given_up.set()
            expect(f"silent at {query}", ran, "sent nothing for 2 s", 12)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        expect("accepts and says nothing", asked(("leaderboard",), "--engine", f"grpc://127.0.0.1:{mute.getsockname()[1]}", "--engine-timeout", "2"), "", 8)
        port = mute.getsockname()[1]
    expect("nobody there", asked(("leaderboard",), "--engine", f"grpc://127.0.0.1:{port}"), "no connection", 8)
    whole = asked(("leaderboard",), "--engine", (sail := Sail(lake)).url)
    sail.stop()
    for delay in (0.1, 0.3, 0.6, 1.2):
        sail = Sail(lake, mode="local-cluster")
        killer = threading.Timer(delay, sail.stop, (signal.SIGKILL,))
        killer.start()
        ran = asked(("leaderboard",), "--engine", sail.url, "--engine-timeout", "10")
        killer.join()
        message = ran.errors.splitlines()[0] if ran.errors else ""
        print(f"  killed after {delay} s: {ran.code}, {message or ran.digest()}", flush=True)
        if not (ran.code == 2 and not ran.output and message or (ran.code, ran.output) == (0, whole.output)):
            failed.append(f"killed: code {ran.code}, {message!r}, {len(ran.output)} bytes of an answer")
    return failed


def secured(lake, folder):
    """TLS and a token, by the stand-in: Sail 0.7.2 has neither."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", *subject]
        + ["-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    tls = {"tls_certificates": [(certificate.read_bytes(), key.read_bytes())]}
    failed = []
    with StandIn(duckdb_engine(lake), middleware={"token": Token("s3cr3t")}, **tls) as stand:
        url, trusted = f"grpc+tls://localhost:{stand.port}", {"SSL_CERT_FILE": str(certificate)}
        tries = {
            "TLS and token": (url, {**trusted, "EVALREPORT_ENGINE_TOKEN": "s3cr3t"}, 0, ""),
            "another token": (url, {**trusted, "EVALREPORT_ENGINE_TOKEN": "wrong"}, 2, "refuses"),
            "no token": (url, trusted, 2, "refuses"),
            "a certificate that is not trusted": (url, {"EVALREPORT_ENGINE_TOKEN": "s3cr3t"}, 2, "no connection"),
            "no TLS to a TLS server": (url.replace("+tls", ""), {"EVALREPORT_ENGINE_TOKEN": "s3cr3t"}, 2, ""),
            "a token without TLS to elsewhere": ("grpc://192.0.2.1:1", {"EVALREPORT_ENGINE_TOKEN": "s3cr3t"}, 2, "not sent"),
        }
        for name, (url, environment, code, said) in tries.items():
            ran = asked(("leaderboard",), "--engine", url, "--engine-timeout", "20", **environment)
            message = ran.errors.splitlines()[0] if ran.errors else ""
            print(f"  {name}: {ran.code}, {message or ran.digest()}", flush=True)
            if ran.code != code or said not in ran.errors or "s3cr3t" in ran.errors or bool(ran.output) != (code == 0):
                failed.append(f"{name}: code {ran.code}, {message!r}")
    return failed


def small():
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    lake, store = folder / "lake", ROOT / "results"
    exported = Ran("export", "lake", lake, "--results", store)
    assert exported.code == 0, exported.errors
    failed = []
    for title, check in (
        ("same bytes", lambda: same(lake, store)),
        ("bad answers", lambda: bad_answers(lake)),
        ("bad times", lambda: bad_times(lake)),
        ("TLS and token", lambda: secured(lake, folder)),
    ):
        print(f"\n{title}", flush=True)
        failed += check()
    shutil.rmtree(folder)
    for failure in failed:
        print(f"FAILED {failure}", file=sys.stderr)
    sys.exit(1 if failed else 0)


def item_id(name):
    return int.from_bytes(hashlib.sha256(f"question\nanswers\n{name}".encode()).digest()[:8], "big", signed=True)


def mixed(numbers):
    """The output function of SplitMix64, by which a lake adds up outcomes."""
    import numpy

    word = numpy.uint64
    numbers = numbers + word(0x9E3779B97F4A7C15)
    numbers = (numbers ^ numbers >> word(30)) * word(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> word(27)) * word(0x94D049BB133111EB)
    return numbers ^ numbers >> word(31)


def checks(names, passed):
    """`outcomes_check` and `lines_check` of one attempt at each question, without anything but a status."""
    import numpy

    word = numpy.uint64
    digest = lambda name: int.from_bytes(hashlib.sha256(f"question\nanswers\n{name}\n".encode()).digest()[:8], "big")
    items = numpy.array([digest(name) for name in names], word) if isinstance(names, list) else names
    of_status = numpy.where(passed, word(1 << 8 | 1), word(1 << 8 | 2))
    lines = mixed(items)
    lines = mixed(lines ^ mixed(of_status ^ word(1)))
    for _ in range(6):
        lines = mixed(lines)
    return items, mixed(items ^ mixed(of_status)).sum(dtype=word).astype("int64"), lines.sum(dtype=word).astype("int64")


def row_check(row):
    """The digest of a row of `runs`."""
    names = ("run_id", "publish_id", "sequence", "deleted", "deleted_by", "deleted_reason", "outcomes", "outcomes_check", "lines_check")
    names += ("commit_rows", "all_runs", "totals", "record")
    text = json.dumps({name: row[name] for name in names}, separators=(",", ":"), ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def make(folder, outcomes):
    """Writes a lake of 400 runs with one attempt at every item, file by file: never more than one run is in memory."""
    import numpy
    from pyarrow import parquet

    arms = 400
    count = outcomes // arms
    names = [f"item-{number:07}" for number in range(count)]
    random = numpy.random.default_rng(1)
    difficulty, skill = random.normal(0, 1.5, count), random.normal(0.5, 0.4, arms)
    items, ids = pyarrow.array(names), pyarrow.array([item_id(name) for name in names])
    constant = lambda text: pyarrow.array([text], pyarrow.string()).dictionary_encode().take(pyarrow.array(numpy.zeros(count, "int32")))
    nothing = lambda kind: pyarrow.nulls(count, kind)
    statuses = pyarrow.array(["pass", "fail"])
    numbers = {"revision": 0, "attempt": 1}
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    empty = dict(cluster=text, cluster_id=whole, category=text, score=real, duration_seconds=real, cost_usd=real, input_tokens=whole)
    empty |= dict(output_tokens=whole, question=text, answer=text, expected=text, reply=text, reason=text, item_hash=text, details=text)
    runs, adds, of_names = [], [], names
    for arm in range(arms):
        run, month = f"run-{arm:04}", f"2026-{arm % 12 + 1:02}"
        passed = random.random(count) < 1 / (1 + numpy.exp(difficulty - skill[arm]))
        columns = {name: constant(value) for name, value in dict(run_id=run, publish_id="p", suite="large", month=month, kind="question", evaluator="answers").items()}
        columns |= {"item": items, "item_id": ids, "line": pyarrow.array(numpy.arange(1, count + 1))}
        columns |= {name: pyarrow.array(numpy.full(count, value, "int32")) for name, value in numbers.items()}
        columns |= {"standing": pyarrow.array(numpy.ones(count, bool)), "status": pyarrow.DictionaryArray.from_arrays(pyarrow.array((~passed).astype("int8")), statuses)}
        columns |= {name: nothing(kind) for name, kind in empty.items()}
        path = Path(f"suite=large/month={month}/part-{arm:04}.parquet")
        (folder / "outcomes" / path).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table(columns), folder / "outcomes" / path, compression="zstd", row_group_size=1 << 18, store_schema=False)
        adds.append((path, {"suite": "large", "month": month}, count))
        record = {"id": run, "suite": "large", "approach": f"arm-{arm:04}", "model": "made", "timestamp": f"{month}-01T00:00:00Z", "status": "completed"}
        totals = dict(lines=count, answered=count, cost_usd=0.0, with_cost=0, cost_squares=0.0, cost_of_passed=0.0, passed=int(passed.sum()))
        totals |= dict(duration_seconds=0.0, with_duration=0, input_tokens=0, with_input=0, output_tokens=0, with_output=0)
        row = dict(run_id=run, publish_id="p", sequence=1, deleted=False, deleted_by=None, deleted_reason=None, suite="large", month=month)
        row |= {name: record[name] for name in ("approach", "model", "status")}
        of_names, outcomes_check, lines_check = checks(of_names, passed)
        row |= dict(outcomes=count, outcomes_check=int(outcomes_check), lines_check=int(lines_check), content="made")
        row |= dict(suite_version=None, record=json.dumps(record), totals=json.dumps(totals), score_lines=None, commit_rows=arms, all_runs=arms)
        runs.append(row | dict(row_check=row_check(row)))
    numbers_of_runs = ("sequence", "outcomes", "outcomes_check", "lines_check", "commit_rows", "all_runs", "row_check")
    schema = pyarrow.schema([(name, whole if name in numbers_of_runs else pyarrow.bool_() if name == "deleted" else text) for name in runs[0]])
    table = pyarrow.Table.from_pylist(runs, schema)
    (folder / "runs").mkdir()
    parquet.write_table(table, folder / "runs/part-0.parquet", compression="zstd")
    log(folder / "outcomes", parquet.read_schema(folder / "outcomes" / adds[0][0]), adds)
    log(folder / "runs", table.schema, [(Path("part-0.parquet"), {}, arms)])
    (folder / "_evalreport.json").write_text(json.dumps({"format": "evalreport lake", "version": 2}))


def log(table, schema, adds):
    """Writes the first entry of a Delta log."""
    kinds = {"int64": "long", "int32": "integer", "double": "double", "bool": "boolean"}
    fields = [{"name": field.name, "type": kinds.get(str(field.type), "string"), "nullable": True, "metadata": {}} for field in schema]
    metadata = {"id": table.name, "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps({"type": "struct", "fields": fields})}
    metadata |= {"partitionColumns": list(adds[0][1]), "configuration": {}, "createdTime": 0}
    actions = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]
    for path, partition, rows in adds:
        add = {"path": str(path), "partitionValues": partition, "size": (table / path).stat().st_size, "modificationTime": 0, "dataChange": True}
        actions.append({"add": add | {"stats": json.dumps({"numRecords": rows})}})
    (table / "_delta_log").mkdir()
    (table / "_delta_log/00000000000000000000.json").write_text("".join(json.dumps(action) + "\n" for action in actions))


def peak(process):
    """The most memory that a running process has used, in MB."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text()).group(1)) / 1024


def large(outcomes, folder):
    """One board of many outcomes, by each reader of the lake alone, with time and memory."""
    lake = folder / f"lake-{outcomes}"
    if not lake.exists():
        start = time.perf_counter()
        make(lake, outcomes)
        print(f"{outcomes:,} outcomes written in {time.perf_counter() - start:.0f} s: {sum(file.stat().st_size for file in lake.rglob('*.parquet')) / 1e9:.2f} GB")
    question, rows = ("leaderboard", "--quiet"), []

    def measured(name, ran, engine):
        rows.append(ran)
        print(f"{name}: {ran.seconds:.1f} s, evalreport {ran.peak:.0f} MB, engine {engine:.0f} MB, sha256 {ran.digest()}, code {ran.code} {ran.errors[:200]}", flush=True)

    measured("lake", asked(question, "--results", f"lake:{lake}"), 0)
    sail = Sail(lake)
    measured("Sail", asked(question, "--engine", sail.url, "--engine-timeout", "1800"), peak(sail.process.pid))
    sail.stop()
    for name, engine in (("DuckDB", duckdb_engine), ("polars", polars_engine)):
        child = os.fork()
        if child == 0:
            stand = StandIn(engine(lake))
            (folder / "port").write_text(str(stand.port))
            stand.serve()
        while not (folder / "port").exists() or not (folder / "port").read_text():
            time.sleep(0.1)
        measured(name, asked(question, "--engine", f"grpc://127.0.0.1:{(folder / 'port').read_text()}", "--engine-timeout", "1800"), peak(child))
        (folder / "port").unlink()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert len({(ran.code, ran.output) for ran in rows}) == 1 and rows[0].code == 0, "the boards differ"


if __name__ == "__main__":
    if sys.argv[1:2] == ["large"]:
        large(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        small()
