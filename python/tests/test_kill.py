"""A harness that is killed at random moments: nothing acknowledged is lost, nothing is doubled, and the store says what the run is."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import List

import pytest

from conftest import journal, program

ITEMS = 400
#: Acknowledged items go to a file of their own, each with one write.
HARNESS = """
import os, sys
import evalreport

acknowledged = os.open("acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
given = {"resume": sys.argv[1]} if len(sys.argv) > 1 else {"suite": "quiz", "approach": "mine", "model": "sonnet"}
with evalreport.record(**given) as run:
    for number in range(%d):
        name = f"q{number}"
        if name not in run:
            run.item(name, passed=number %% 3 > 0, cost_usd=0.01, answer="x" * (number %% 7 * 1000))
            os.write(acknowledged, (name + "\\n").encode())
""" % ITEMS


def wait_for_writers() -> None:
    """The program ends when it sees the end of its input."""
    until = time.monotonic() + 30
    while "in progress" in program("list"):
        assert time.monotonic() < until
        time.sleep(0.01)


def acknowledged() -> List[str]:
    path = Path("acknowledged")
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.skipif(os.name != "posix", reason="kills are signals")
@pytest.mark.parametrize("seed", range(20))
def test_killed_at_a_random_moment(seed: int) -> None:
    chance = random.Random(seed)
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", HARNESS])
    # Somewhere between the start and, most of the time, before the end.
    wanted = chance.randrange(ITEMS)
    while len(acknowledged()) < wanted and child.poll() is None and time.monotonic() - began < 60:
        time.sleep(0.0005)
    time.sleep(chance.random() * 0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    wait_for_writers()

    names = [path.parent.name for path in Path("results").glob("*/items.jsonl")]
    committed = list(Path("results").glob("*.json"))
    if not names:
        assert not acknowledged()
        return
    (name,) = names
    stored = [line["item"] for line in journal(name)]
    assert set(acknowledged()) <= set(stored), "an acknowledged outcome is lost"
    assert len(stored) == len(set(stored)) <= len(acknowledged()) + 1, "an outcome is doubled"
    if not committed:
        listed = json.loads(program("list", "--runs", "--format", "json"))
        (unfinished,) = listed["unfinished_runs"]
        assert unfinished["state"] == "abandoned" and unfinished["outcomes"] == len(stored)
        if (Path("results") / name / "begun.json").exists():
            assert (unfinished["suite"], unfinished["approach"], unfinished["model"]) == ("quiz", "mine", "sonnet")
        assert f"evalreport record --resume {name}" in program("doctor", expected=1)
        # The journal ends in the middle of a line, as after a power cut.
        if chance.random() < 0.5:
            with Path("results", name, "items.jsonl").open("ab") as file:
                file.write(b'{"item":"half')
        assert subprocess.call([sys.executable, "-c", HARNESS, name]) == 0
    stored = [line["item"] for line in journal(name)]
    assert stored == [f"q{number}" for number in range(ITEMS)]
    assert "1 run sealed" in program("doctor", "--verify")
    board = json.loads(program("leaderboard", "--format", "json"))
    assert board["suites"][0]["items"] == ITEMS
