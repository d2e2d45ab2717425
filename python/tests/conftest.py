"""A store of its own for each test, and the program beside the package.

`EVALREPORT_FRAMES` names a folder with one folder of installed packages for each library.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

import evalreport


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(*arguments: str, expected: int = 0) -> str:
    """Runs the program itself."""
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run([evalreport.binary(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == expected, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode("utf-8")


def journal(run_id: str, results: str = "results") -> List[Dict[str, Any]]:
    """The whole lines of a run's outcomes."""
    text = Path(results, run_id, "items.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n")[:-1]]


def record_two(hostile: str = "") -> None:
    """Two arms on one suite, of which one is much better."""
    for approach, every in ((f"good{hostile}", 10), (f"bad{hostile}", 2)):
        with evalreport.record(suite="quiz", approach=approach, model="m") as run:
            for number in range(60):
                run.item(f"q{number}", passed=number % every > 0, cost_usd=0.01)


def python(libraries: List[str], code: str) -> "subprocess.CompletedProcess[str]":
    """Runs code with these libraries only: the tests' own are not seen."""
    root = os.environ.get("EVALREPORT_FRAMES")
    folders = [Path(root, library) for library in libraries] if root else []
    if libraries and not all(folder.is_dir() for folder in folders):
        pytest.skip("EVALREPORT_FRAMES does not name a folder with " + ", ".join(libraries))
    own = Path(evalreport.__file__).resolve().parents[1]
    environment = {**os.environ, "EVALREPORT_BINARY": evalreport.binary()}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [*folders, *([] if "site-packages" in str(own) else [own])]))
    return subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env=environment
    )
