"""What the tests of the log aggregator share: running the program of the workspace, and a small log whose numbers are known.

The tests know the program only by its command line: `python logagg.py` in the folder `EVAL_WORKSPACE`.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

MIXED = """\
{"time": "2026-03-01T10:15:00Z", "level": "error", "service": "payments", "message": "card declined"}
time=2026-03-01T10:59:59Z level=info service=web msg="GET /start"
2026-03-01T11:00:00Z [WARNING] web: slow answer

this line is no log entry
2026-03-01 11:30:00 [ERROR] payments: card declined
time=2026-03-02T00:00:00Z level=fatal service=db msg="disk full"
{"time": "2026-03-02T00:10:00Z", "level": "debug", "service": "db", "message": "retry"}
"""


class Outcome:
    """What one run of the program gave."""

    def __init__(self, finished):
        self.code = finished.returncode
        self.out = finished.stdout.decode("utf-8")
        self.err = finished.stderr.decode("utf-8", errors="replace")
        assert "Traceback" not in self.err, self.err

    def report(self, code=0):
        assert self.code == code, f"exit code {self.code}: {self.err}"
        return json.loads(self.out)


class Logagg:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def file(self, name, content):
        """Writes a log into the test's own folder and returns its path."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    def run(self, *arguments, stdin=b""):
        command = ["python", str(self.program), *map(str, arguments)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return Outcome(subprocess.run(command, cwd=self.folder, input=stdin, capture_output=True, timeout=30, env=environment))

    def json(self, *arguments, stdin=b"", code=0):
        return self.run(*arguments, "--format", "json", stdin=stdin).report(code)

    def of(self, text, *arguments, code=0):
        """The JSON report of one log."""
        return self.json(self.file("one.log", text), *arguments, code=code)


@pytest.fixture
def logagg(tmp_path):
    workspace = os.environ.get("EVAL_WORKSPACE")
    if not workspace:
        pytest.exit("EVAL_WORKSPACE is not set: it names the folder with logagg.py", returncode=4)
    return Logagg(Path(workspace).resolve() / "logagg.py", tmp_path)


@pytest.fixture
def mixed(logagg):
    return logagg.file("mixed.log", MIXED)


def named(entries):
    """Entries of a section as pairs, for short comparisons."""
    return [(entry["name"], entry["count"]) for entry in entries]
