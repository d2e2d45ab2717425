"""The commands that are disturbed, and the projects they work on."""

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Callable

QUESTIONS = 6
ANSWERS = ["one", "two", "three"]
MAP = """\
format: evalreport/map/1
name: table
rows: item
run: {suite: {constant: quiz}, approach: approach, model: {constant: m1}}
item: {id: item, kind: {constant: question}, status: passed}
"""
CONFIGURATION = """\
version: 1
agents:
  - {id: mixed, type: replay, file: mixed.jsonl}
  - {id: good, type: replay, file: good.jsonl}
  - {id: asked, type: command, command: [sh, -c, 'echo once >> asked; echo "<answer>two</answer>"']}
  - {id: strict, type: command, command: [sh, judge.sh, 'false']}
  - {id: kind, type: command, command: [sh, judge.sh, 'true']}
judge: {agent: kind}
approaches:
  - {id: writer, command: [sh, -c, 'echo $EVAL_SEED > made.txt; mkdir -p src; echo "print()" > src/a.py']}
tasks:
  - {id: quiz, type: question_eval, questions_file: questions.yaml}
gate:
  - {metric: pass_rate, max_drop: 50pp}
"""
JUDGE = """\
cat > /dev/null
echo "[{\\"criterion\\": \\"a file is there\\", \\"passed\\": true, \\"reasoning\\": \\"so\\"},"
echo " {\\"criterion\\": \\"it is long\\", \\"passed\\": $1, \\"reasoning\\": \\"so\\"}]"
"""
CHECK = """\
echo 1..2
if [ -s "$EVAL_WORKSPACE/made.txt" ]; then echo 'ok 1 - made'; else echo 'not ok 1 - made'; fi
if grep -q '[02468]$' "$EVAL_WORKSPACE/made.txt"; then echo 'ok 2 - even'; else echo 'not ok 2 - even'; fi
"""
JUNIT = """\
<testsuites><testsuite name="unit" tests="3"><testcase classname="a" name="one" time="0.1"/>
<testcase classname="a" name="two" time="0.2"><failure message="no">no</failure></testcase>
<testcase classname="b" name="three" time="0.1"/></testsuite></testsuites>
"""


def write(place, files):
    for name, text in files.items():
        path = place.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def stored(place, run, approach, passes, nights=1):
    """A run of questions that somebody wrote by hand, with messages and files."""
    header = {"suite": "quiz", "approach": approach, "model": "m1", "timestamp": f"2026-02-0{nights}T09:00:00Z", "cost_usd": 0.5}
    items = (
        {"item": f"q{number}", "kind": "question", "evaluator": "answers", "status": "pass" if number < passes else "fail"}
        for number in range(QUESTIONS)
    )
    write(
        place,
        {
            f"results/{run}/items.jsonl": lines(items),
            f"results/{run}/transcript.jsonl": lines([{"item": "q0", "entry": {"role": "user", "content": "What?"}}]),
            f"results/{run}/output/src/a.py": "print()\n",
            f"results/{run}.json": json.dumps(header),
        },
    )


def table(approach, passes):
    rows = [f"q{number},{approach},{'pass' if number < passes else 'fail'}" for number in range(QUESTIONS)]
    return "\n".join(["item,approach,passed", *rows]) + "\n"


def base(place):
    """A project that can run everything, with a store that holds runs of every kind but those of the program's own."""
    asked = "version: 1\nquestions:\n"
    records = []
    for number in range(QUESTIONS):
        asked += f"  - {{id: q{number}, question: What is {number}?, answers: [one, two, three], correct_answers: [two]}}\n"
        records += [{"item": f"q{number}", "answer": f"<answer>{answer}</answer>", "cost_usd": 0.25} for answer in ANSWERS]
    write(
        place,
        {
            "evalreport.yaml": CONFIGURATION,
            "questions.yaml": asked,
            "mixed.jsonl": lines(records),
            "good.jsonl": lines(record for record in records if "two" in record["answer"]),
            "judge.sh": JUDGE,
            "suites/lines/requirements.md": "Write lines.\n",
            "suites/lines/check.sh": CHECK,
            "suites/lines/suite.yaml": "name: lines\nrequirements: suites/lines/requirements.md\n"
            "tests:\n  shared:\n    - sh suites/lines/check.sh\nacceptance_criteria:\n  - a file is there\n  - it is long\n",
            "map.yaml": MAP,
            "old.csv": table("imported", 4),
            "new.csv": table("new", 2),
            "more.csv": table("more", 3),
            "logs/unit.xml": JUNIT,
        },
    )
    stored(place, "quiz-1", "a", 5)
    stored(place, "quiz-2", "b", 2)
    stored(place, "quiz-3", "a", 4, nights=2)
    place.program("import", "old.csv", "--map", "map.yaml", "-q")
    # The cache belongs to each case.
    shutil.rmtree(place.project / ".evalreport", ignore_errors=True)


def with_code(place):
    base(place)
    place.program(*CODE, "-q")
    shutil.rmtree(place.project / ".evalreport", ignore_errors=True)


def with_export(place):
    with_code(place)
    place.program("export", "csv", "out", "--suite", "quiz", "-q")
    shutil.rmtree(place.project / ".evalreport", ignore_errors=True)


def with_bundle(place):
    """A store of its own and a bundle of three other runs, one of them imported."""
    base(place)
    results = place.project / "results"
    results.rename(place.project / "aside")
    for run, approach in (("there-1", "x"), ("there-2", "y")):
        stored(place, run, approach, 3)
    place.program("import", "more.csv", "--map", "map.yaml", "-q")
    place.program("export", "bundle", "all.bundle", "-q")
    shutil.rmtree(results)
    (place.project / "aside").rename(results)
    shutil.rmtree(place.project / ".evalreport", ignore_errors=True)


def interrupted(place):
    """In the second run, when a third transcript is written and its outcome is not."""
    base(place)
    strace = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:signal=KILL:when=24"]
    command = [*strace, place.binary, *QUIZ]
    subprocess.run(command, cwd=place.project, env=place.environment(), capture_output=True)
    assert any((place.project / "results/batches").glob("*.json")), "the batch was begun"


def with_site(place):
    base(place)
    place.program("build", "--out", "site", "-q")
    stored(place, "quiz-4", "b", 6)
    shutil.rmtree(place.project / ".evalreport", ignore_errors=True)


def retracted(place):
    base(place)
    place.program("retract", "quiz-1", "--reason", "wrong", "-q")


ARM = ["--suite", "quiz", "--approach", "mine", "--id", "mine-1"]
SAID = [
    *(
        line
        for number in range(QUESTIONS)
        for line in (
            {"messages": {"item": f"q{number}", "entries": [{"role": "user", "content": "What?"}]}},
            {"item": {"item": f"q{number}", "passed": number % 2 == 0, "cost_usd": 0.25}},
        )
    ),
    {"score": {"metric": "calm", "value": 0.5, "unit": "fraction", "direction": "up"}},
    {"end": {"duration_seconds": 3}},
]


def with_harness(place):
    """The lines of a harness of somebody else."""
    base(place)
    write(place, {"said.jsonl": lines(SAID)})


def begun(place):
    """A harness was killed between the messages and the outcome of an item."""
    with_harness(place)
    write(place, {"rest.jsonl": lines(SAID[4:])})
    place.program("record", *ARM, code=2, said=lines(SAID[:5]))


def record_again(place):
    """Goes on as a harness does: it asks what is decided, and sends the rest."""
    resume = ["record", "--resume", "mine-1"]
    asked = place.program(*resume, code=None, said="")
    if not asked.stdout:
        is_begun = (place.results / "mine-1.json").exists()
        return asked if is_begun else place.program("record", *ARM, code=None, said=lines(SAID))
    decided = {item["item"] for item in json.loads(asked.stdout.splitlines()[0])["decided"]}
    item_of = lambda line: next((part["item"] for part in line.values() if "item" in part), None)
    return place.program(*resume, code=None, said=lines(line for line in SAID if item_of(line) not in decided))


def with_reimport(place):
    """The source of an import holds something else than before."""
    base(place)
    (place.project / "old.csv").write_text(table("imported", 2))


def checkout(passes):
    def setup(place):
        write(
            place,
            {
                "evalreport.yaml": "version: 1\n",
                "app/Makefile": "test:\n\t@sh test.sh\n",
                "app/test.sh": "echo 1..1\nif [ $(cat number) -gt 1 ]; then echo 'ok 1 - large'; else echo 'not ok 1 - large'; exit 1; fi\n",
                "app/number": "5\n",
            },
        )
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(place.project / "app")]
        for arguments in (["init", "-q"], ["add", "--all"], ["commit", "-q", "-m", "state"]):
            subprocess.run([*git, *arguments], check=True, capture_output=True, env=place.environment())
        (place.project / "app/number").write_text("7\n" if passes else "0\n")

    return setup


def verdict(text):
    """Why something is blocked differs; that it is not done does not."""
    try:
        status = json.loads(text)["terminalStatus"]
    except ValueError:
        return text
    return "not_done" if status == "blocked" else status


QUIZ = ["run", "quiz", "--agent", "mixed", "--runs", "2", "--seed", "7"]
CODE = ["run", "lines", "--approach", "writer", "--runs", "2", "--seed", "7"]
RESUME = ["run", "--resume", "-q"]


@dataclass
class Scenario:
    # The command, as the table names it.
    name: str
    arguments: list
    setup: Callable = base
    # Files and folders that the command writes beside the store.
    writes: list = field(default_factory=list)
    # What is done before each case, undisturbed.
    before: list = field(default_factory=list)
    # A file of the project that is its standard input.
    said: str = None
    # How one goes on after the command failed: a command, or a function of the place; itself again unless said otherwise.
    again: object = None
    # What it says when there is nothing left to do.
    over: str = "no unfinished batch"
    # Its standard output is an answer, which must be the same each time.
    answers: bool = True
    # It starts programs of others, which want descriptors and room too.
    starts: bool = False
    # Statuses of items that may be kept instead of the true one: what the harness could not do is nobody's fault, and said.
    instead: tuple = ()
    # Exit codes that are true answers when something could not be done.
    codes: tuple = (2,)
    # What of it counts.
    answer: Callable = str
    # It answers from what it can read, if it says what it could not.
    warns: bool = False
    # What else there must be when it succeeded; its content varies.
    leaves: tuple = ()
    # Files of the store that are appended to, or replaced.
    appends: tuple = ("retractions.jsonl",)
    replaces: tuple = ()

    @property
    def command(self):
        return self.name.split(",")[0]


def exports(kind, target, *more):
    return Scenario(f"export {kind}", ["export", kind, target, *more], with_code, writes=[target])


RUNS = dict(answers=False, starts=True, instead=("infra", "not_evaluated"), codes=(1, 2), again=RESUME)
JUDGED = ("scores.jsonl", "items.jsonl", "retractions.jsonl")
SCENARIOS = [
    Scenario("run, questions", QUIZ, **(RUNS | {"starts": False})),
    Scenario("run, two arms", ["run", "quiz", "--agent", "mixed,good", "--runs", "3", "--seed", "9"], **(RUNS | {"starts": False})),
    Scenario("run, --gate", [*QUIZ, "--gate", "quiz-1"], **(RUNS | {"starts": False, "again": [*RESUME, "--gate", "quiz-1"]})),
    Scenario("run, code", CODE, **RUNS),
    Scenario("run, --site --summary", [*QUIZ, "--site", "site", "--summary", "summary.md"], leaves=("site/index.html", "summary.md"), **(RUNS | {"starts": False})),
    Scenario("run, --resume", RESUME, interrupted, answers=False, instead=("infra",), codes=(1, 2), again=RESUME),
    Scenario("eval", ["eval", "questions.yaml", "--agent", "asked", "--runs", "2", "--seed", "7", "--jobs", "2"], **RUNS),
    Scenario(
        "judge",
        ["judge", "--suite", "lines", "--judge", "strict"],
        with_code,
        answers=False,
        starts=True,
        instead=("not_evaluated",),
        codes=(1, 2),
        appends=JUDGED,
    ),
    Scenario("verify, done", ["verify", "app", "--goal", "Fix it", "--format", "json"], checkout(True), answer=verdict, starts=True, codes=(1, 2, 3)),
    Scenario("verify, not done", ["verify", "app", "--goal", "Fix it", "--format", "json"], checkout(False), answer=verdict, starts=True, codes=(2, 3)),
    Scenario("record", ["record", *ARM], with_harness, said="said.jsonl", again=record_again, over="is finished"),
    Scenario("record, --resume", ["record", "--resume", "mine-1"], begun, said="rest.jsonl", again=record_again, over="is finished"),
    Scenario("import, table", ["import", "new.csv", "--map", "map.yaml"]),
    Scenario("import, several", ["import", "new.csv", "more.csv", "--map", "map.yaml"]),
    Scenario("import, foreign", ["import", "logs", "--set", "approach=ci"]),
    Scenario("import, changed", ["import", "old.csv", "--map", "map.yaml"], with_reimport, replaces=("imports",)),
    Scenario("import, bundle", ["import", "all.bundle"], with_bundle),
    Scenario("build", ["build", "--out", "site"], writes=["site"], warns=True),
    Scenario("build, again", ["build", "--out", "site"], with_site, writes=["site"], warns=True),
    Scenario("build, with paths", ["build", "logs", "--out", "site"], writes=["site"], warns=True),
    Scenario("build --single-file", ["build", "--single-file", "page.html"], writes=["page.html"], warns=True),
    exports("csv", "out"),
    Scenario("export csv, again", ["export", "csv", "out"], with_export, writes=["out"]),
    exports("parquet", "out"),
    exports("json", "out.json"),
    exports("junit", "out.xml"),
    exports("ctrf", "out"),
    exports("eee", "out"),
    exports("bundle", "out.bundle"),
    Scenario("retract", ["retract", "quiz-1", "--reason", "wrong"], over="is retracted"),
    Scenario("retract --undo", ["retract", "quiz-1", "--undo"], retracted, over="no retraction has this selector"),
    Scenario("gate", ["gate", "quiz", "--baseline", "quiz-1", "--junit", "gate.xml"], writes=["gate.xml"]),
    Scenario("gate, bundle", ["gate", "--baseline", "all.bundle"], with_bundle),
    Scenario("history", ["history", "--format", "json"], warns=True),
    Scenario("sql", ["sql", "select run_id, item, status from items order by run_id, item", "--format", "csv"], warns=True),
    Scenario("sql, cached", ["sql", "select run_id, item, status from items order by run_id, item"], before=[["list", "-q"]], warns=True),
    Scenario("leaderboard", ["leaderboard", "--format", "json"], warns=True),
    Scenario("leaderboard, grown", ["leaderboard", "--format", "json"], before=[["list", "-q"], ["import", "new.csv", "--map", "map.yaml", "-q"]], warns=True),
    Scenario("compare", ["compare", "quiz", "--format", "json"], warns=True),
    Scenario("list", ["list", "--runs", "--format", "json", "--log", "log.jsonl"], warns=True),
    Scenario("doctor", ["doctor"], with_code, warns=True, codes=(1, 2)),
    Scenario("init", ["init", "fresh"], writes=["fresh"], over="is already there\nerror: nothing was written"),
]
