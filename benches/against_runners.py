#!/usr/bin/env python3
"""Times what a harness adds to each question: evalreport, Inspect AI and promptfoo, on the same questions in the same run.

    cargo build --release
    pip install inspect_ai
    npm install promptfoo            # in a folder, named by PROMPTFOO
    PROMPTFOO=FOLDER/node_modules/.bin/promptfoo python3 benches/against_runners.py

evalreport starts a process for every question, which prints the answer; the two others are given their own stand-ins for a model,
which start none and answer at once (Inspect's `mockllm`, promptfoo's `echo`). What a harness adds is the wall time of its command less
that of one without questions' worth of work: for evalreport less starting the same processes from a plain loop as well, two at a time.
Prints a Markdown table. A tool that is not there is left out, and said so.
"""

import concurrent.futures
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = os.environ.get("EVALREPORT", str(ROOT / "target/release/evalreport"))
PROMPTFOO = os.environ.get("PROMPTFOO", shutil.which("promptfoo") or "")
QUESTIONS = int(os.environ.get("QUESTIONS", "2000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
JOBS = 2
AGENT = ["/bin/echo", "Because of a rule. <answer>4</answer>"]


def wall(command, **options):
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    seconds = time.perf_counter() - start
    assert done.returncode == 0, (command, done.stdout.decode(errors="replace")[-2000:])
    return seconds


def median(work):
    return statistics.median(work() for _ in range(ROUNDS))


def processes(count):
    """Starts the agent's processes and nothing else, as many at a time as the harness does."""
    run = lambda _: subprocess.run(AGENT, input=b"question", stdout=subprocess.DEVNULL, check=True)
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(run, range(count)))
    return time.perf_counter() - start


def questions(count):
    return [{"id": f"q{n}", "question": f"What is 2 + 2, the {n}th time?", "answers": ["3", "4", "5"], "correct_answers": ["4"]} for n in range(count)]


def ours(folder, count):
    project = Path(tempfile.mkdtemp(dir=folder))
    (project / "evalreport.yaml").write_text(f"version: 1\nagents:\n  - id: echo\n    type: command\n    command: {json.dumps(AGENT)}\n")
    (project / "questions.json").write_text(json.dumps({"version": 1, "questions": questions(count)}))
    return wall([BINARY, "eval", "questions.json", "--agent", "echo", "--jobs", str(JOBS), "--quiet"], cwd=project)


INSPECT = """
import sys, json
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
rows = json.load(open(sys.argv[1]))["questions"]
samples = [Sample(input=row["question"], target=row["correct_answers"][0], id=row["id"]) for row in rows]
def output(*_):
    # With its usage told, or tokens would be counted by a table that is fetched from the network.
    usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return ModelOutput.from_content("mockllm/model", "<answer>4</answer>").model_copy(update={"usage": usage})
model = get_model("mockllm/model", custom_outputs=output)
logs = eval(Task(dataset=samples, solver=generate(), scorer=includes()), model=model, max_samples=int(sys.argv[2]), log_dir=sys.argv[3], display="none")
assert logs[0].status == "success" and len(logs[0].samples) == len(rows), logs[0].status
"""


def inspect(folder, count):
    project = Path(tempfile.mkdtemp(dir=folder))
    (project / "questions.json").write_text(json.dumps({"questions": questions(count)}))
    (project / "task.py").write_text(INSPECT)
    return wall([sys.executable, "task.py", "questions.json", str(JOBS), str(project / "logs")], cwd=project)


def promptfoo(folder, count):
    project = Path(tempfile.mkdtemp(dir=folder))
    tests = [{"vars": {"question": row["question"]}, "assert": [{"type": "contains", "value": "2 + 2"}]} for row in questions(count)]
    config = {"providers": ["echo"], "prompts": ["{{question}}"], "tests": tests}
    (project / "promptfooconfig.json").write_text(json.dumps(config))
    environment = dict(os.environ, PROMPTFOO_DISABLE_TELEMETRY="1", PROMPTFOO_DISABLE_UPDATE="1", PROMPTFOO_CONFIG_DIR=str(project / "state"))
    command = [PROMPTFOO, "eval", "-c", "promptfooconfig.json", "-j", str(JOBS), "--no-cache", "--no-table", "--no-progress-bar", "-o", "out.json"]
    return wall(command, cwd=project, env=environment)


def main():
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        def added(harness, less=0.0):
            few, many = median(lambda: harness(folder, 1)), median(lambda: harness(folder, QUESTIONS))
            return many, (many - few - less) / (QUESTIONS - 1)

        bare = median(lambda: processes(QUESTIONS))
        seconds, each = added(ours, bare)
        _, gross = seconds, (seconds / QUESTIONS)
        rows.append(("evalreport, less its processes", seconds, max(each, 0.0)))
        rows.append(("evalreport, with its processes", seconds, gross))
        try:
            import inspect_ai
            rows.append((f"Inspect AI {inspect_ai.__version__}, no process", *added(inspect)))
        except ImportError:
            print("inspect_ai is not installed: left out\n")
        if PROMPTFOO:
            version = subprocess.run([PROMPTFOO, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1:]
            rows.append((f"promptfoo {' '.join(version)}, no process", *added(promptfoo)))
        else:
            print("promptfoo is not installed: left out\n")
        print(f"{QUESTIONS} questions, {JOBS} at a time; starting the processes alone: {bare:.2f} s; medians of {ROUNDS}\n")
    print("| harness | wall seconds | ms a question |")
    print("| --- | ---: | ---: |")
    for name, seconds, each in rows:
        print(f"| {name} | {seconds:.2f} | {each * 1000:.2f} |")


if __name__ == "__main__":
    main()
