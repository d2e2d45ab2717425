#!/usr/bin/env python3
"""Runs a shipped suite's tests against its reference implementation, or against a copy that is broken on purpose.

    python3 tests/references/check.py SUITE                 the reference as it is
    python3 tests/references/check.py SUITE --break NAME    one break of the suite's breaks.json
    python3 tests/references/check.py SUITE --file NAME.py  another implementation of the same folder, such as skeleton.py
    python3 tests/references/check.py SUITE --list          the names of the breaks
    python3 tests/references/check.py SUITE --all           the reference and every break, compared with what breaks.json says

Prints {"passed": [ids], "failed": [ids], "skipped": [ids]} as JSON; an id is `tests/FILE.py::NAME` as pytest writes it, relative to the
suite's folder. Exit status: 0 the tests ran, whatever they found (with --all: everything was as recorded); 1 --all found a difference;
2 the tests could not be run.

A suite consists of suites/SUITE/tests and tests/references/SUITE. The reference runs in a copy of its folder, so nothing here is ever
changed. breaks.json maps a name to {"what": text, "replace": [[old, new], ...], "caught_by": [ids]}; each `old` occurs exactly once in the
file, which is the suite's main file unless the break names another one as "file".

Needs only the standard library, and pytest in the Python that runs it.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Per suite: its main file, and whether that is a server (started with `--port N`) or is called by the tests in EVAL_WORKSPACE.
SUITES = {
    "tasktracker": {"file": "main.py", "server": True},
    "flask": {"file": "main.py", "server": True},
    "logagg": {"file": "logagg.py", "server": False},
}
START_SECONDS = 20
TEST_SECONDS = 300
STOP_SECONDS = 5
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class CannotRun(Exception):
    """The tests could not be run, with the reason."""


def reference_dir(suite):
    return ROOT / "tests" / "references" / suite


def load_breaks(suite):
    path = reference_dir(suite) / "breaks.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def apply_break(workspace, entry, default_file):
    path = workspace / entry.get("file", default_file)
    text = path.read_text("utf-8")
    for old, new in entry["replace"]:
        if text.count(old) != 1:
            raise CannotRun(f"{path.name} holds this {text.count(old)} times instead of once:\n{old}")
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


def run(suite, break_name=None, file=None):
    """Runs the suite's tests once in a workspace of their own."""
    settings = SUITES[suite]
    main_file = settings["file"]
    with tempfile.TemporaryDirectory(prefix=f"check-{suite}-") as folder:
        workspace = Path(folder) / "workspace"
        shutil.copytree(reference_dir(suite), workspace, ignore=shutil.ignore_patterns("breaks.json", "__pycache__"))
        if break_name is not None:
            breaks = load_breaks(suite)
            if break_name not in breaks:
                raise CannotRun(f"no break `{break_name}` in {suite}; there are: {', '.join(breaks)}")
            apply_break(workspace, breaks[break_name], main_file)
        if file is not None:
            shutil.copyfile(reference_dir(suite) / file, workspace / main_file)
        environment = {
            **os.environ,
            "EVAL_WORKSPACE": str(workspace),
            "EVAL_SUITE_DIR": str(ROOT / "suites" / suite),
            # What tests start as `python` is the Python that runs this, as in a run's own environment.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        environment.pop("PYTEST_ADDOPTS", None)
        report = Path(folder) / "report.xml"
        if not settings["server"]:
            run_pytest(suite, report, environment)
        else:
            log = Path(folder) / "server.log"
            server, port = start_server(workspace, main_file, environment, log)
            try:
                environment.update(EVAL_PORT=str(port), EVAL_BASE_URL=f"http://127.0.0.1:{port}")
                run_pytest(suite, report, environment)
                if server.poll() is not None:
                    raise CannotRun(f"the server ended during the tests:\n{log.read_text('utf-8', 'replace')[-2000:]}")
            finally:
                stop(server)
        return outcomes(suite, report)


def start_server(workspace, main_file, environment, log):
    """Starts the server on a free port and waits until it answers. Gives the process and its port."""
    for _ in range(3):  # another process may take the port between finding it and using it
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with log.open("wb") as output:
            server = subprocess.Popen(
                [sys.executable, main_file, "--port", str(port)],
                cwd=workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            deadline = time.monotonic() + START_SECONDS
            while server.poll() is None and time.monotonic() < deadline:
                if answers(f"http://127.0.0.1:{port}/health"):
                    return server, port
                time.sleep(0.05)
        except BaseException:
            stop(server)
            raise
        stop(server)
    raise CannotRun(f"the server did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")


def answers(url):
    try:
        with LOCAL.open(url, timeout=2):
            return True
    except urllib.error.HTTPError:
        return True  # any reply shows that it listens; what it says is for the tests
    except OSError:
        return False


def stop(process):
    """Ends a process with all that it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass
        try:
            process.wait(STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue


def run_pytest(suite, report, environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", str(report), f"suites/{suite}/tests"]
    pytest = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = pytest.communicate(timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"the tests of {suite} took more than {TEST_SECONDS} seconds") from None
    finally:
        if pytest.poll() is None:
            stop(pytest)
    # 0 all passed, 1 some failed; all else, or no report, means that pytest could not go on or is not installed
    if pytest.returncode not in (0, 1) or not report.exists():
        raise CannotRun(f"pytest ended with status {pytest.returncode}:\n{output.decode('utf-8', 'replace')[-2000:]}")


def outcomes(suite, report):
    """Reads pytest's report. A test with an error in its set-up or end counts as failed."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        test = node_id(suite, case.get("classname", ""), case.get("name", ""))
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        if found.get(test) != "failed":  # a failure stays, even if a second entry for the same test follows
            found[test] = outcome
    if not found:
        raise CannotRun(f"the suite {suite} has no tests")
    return {kind: sorted(test for test, outcome in found.items() if outcome == kind) for kind in ("passed", "failed", "skipped")}


def node_id(suite, class_name, name):
    """`tests.test_auth.TestLogin` and `test_x` become `tests/test_auth.py::TestLogin::test_x`."""
    parts = class_name.split(".")
    for length in range(len(parts), 0, -1):
        file = "/".join(parts[:length]) + ".py"
        for prefix in ("", "tests/"):
            if (ROOT / "suites" / suite / f"{prefix}{file}").is_file():
                return "::".join([prefix + file, *parts[length:], name])
        # pytest names a test from the repository's root where the suite has no settings of its own
        prefix = f"suites/{suite}/"
        if file.startswith(prefix) and (ROOT / file).is_file():
            return "::".join([file.removeprefix(prefix), *parts[length:], name])
    return "::".join([*parts, name])


def check_all(suite):
    """Compares the reference and every break with what is recorded. Gives whether all was as recorded."""
    right = True
    for name, entry in {None: {"caught_by": []}, **load_breaks(suite)}.items():
        started = time.monotonic()
        result = run(suite, break_name=name)
        expected, failed = set(entry["caught_by"]), set(result["failed"])
        same = expected == failed and not result["skipped"] and (name is None or bool(failed))
        right &= same
        seconds = time.monotonic() - started
        counts = f"{len(failed)} failed, {len(result['passed'])} passed, {seconds:.1f} s"
        print(f"{'ok ' if same else 'BAD'} {name or 'reference'}: {counts}", flush=True)
        for test in sorted(failed - expected):
            print(f"      failed but is not recorded: {test}")
        for test in sorted(expected - failed):
            print(f"      recorded but did not fail: {test}")
        for test in result["skipped"]:
            print(f"      skipped: {test}")
    return right


def main():
    parser = argparse.ArgumentParser(description="run a shipped suite against its reference or a broken copy of it")
    parser.add_argument("suite", choices=sorted(SUITES))
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--break", dest="break_name", metavar="NAME", help="break the reference as breaks.json says")
    what.add_argument("--file", metavar="NAME.py", help="run another implementation of the reference's folder")
    what.add_argument("--list", action="store_true", help="print the names of the breaks")
    what.add_argument("--all", action="store_true", help="compare the reference and every break with breaks.json")
    asked = parser.parse_args()
    # Ending this script must end the server too: as an exception, the signal passes through every `finally`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if asked.list:
            print("\n".join(load_breaks(asked.suite)))
        elif asked.all:
            return 0 if check_all(asked.suite) else 1
        else:
            print(json.dumps(run(asked.suite, asked.break_name, asked.file), indent=1))
    except (CannotRun, OSError) as error:
        print(f"check.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
