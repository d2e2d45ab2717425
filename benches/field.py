#!/usr/bin/env python3
"""Tries the program on results as people have them, in the layouts of public files, and prints how far it gets with each.

    python3 benches/field.py --binary target/debug/evalreport tests/it/field [--only WORD] [--json FILE]

Each folder with an `answer.json` is a case. `evalreport leaderboard ./` reads a copy of its `input`, and the answer says what the board has to show:

    right               the board is right without an option
    right by command    a command in a hint leads to a right board; at most two are typed, one after the other, each as it is printed
    asked               the program asks, and another option that it names leads to a right board, or asking is the answer
    useless             the program refuses, or leaves out what is wanted, and its hints lead nowhere; or it says itself that the board is wrong
    wrong in silence    the board has a wrong figure, lacks an arm, or has one too many, and nothing says so

`answer.json` is an object of:

    boards          list of boards, each of which is right
        figures         what is on the board
            arm, suite          a word of its name, or a list of words; `*` is any name
            metric              a word of the name of a column, a suite or an arm; without it the figure is the headline
            passed, of, value, missing, n, runs, cost    the figure; a value in percent is given as a share
            wins                whether the arm alone has rank 1
            standard_error      compared only if the board has one
            if_shown            true if the figure may be absent
        never           figures that are not on the board
        arms            the most arms of a suite: any if it is null; those of the figures if it is left out
        suites          the number of suites
        must_say        patterns of what the program prints beside the board
        must_not_say    patterns of what it does not print
    asked           patterns of what a question has to name if asking is an answer too; then no hint may lead to a wrong board
    admits          pattern by which the program says that a board is wrong
    ways            lists of commands; each is tried instead of `leaderboard ./`, and the worst counts

A board with figures that no `figures` name is wrong. Exits with 1 if a case is wrong in silence.
"""

import argparse
import concurrent.futures
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLASSES = ["right", "right by command", "asked", "useless", "wrong in silence"]
# From best to worst. A refusal has no board.
VERDICTS = ["right", "incomplete", "wrong", "refused"]
MAX_FOLLOWED = 2
# Of a number that the board does not have.
UNSTATED = object()
MAX_OPTIONS = 8


class Output:
    """What a command printed, and the board if it made one."""

    def __init__(self, code, stdout, stderr, board=None):
        self.code, self.stdout, self.stderr, self.board = code, stdout, stderr, board

    @property
    def text(self):
        return f"{self.stderr}\n{self.stdout}"


def run(options, command, cwd):
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(cwd.parent), "NO_COLOR": "1", "COLUMNS": "240", "LANG": "C.UTF-8"}
    try:
        done = subprocess.run(
            [options.binary, *command], cwd=str(cwd), env=environment, timeout=options.seconds,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
    except subprocess.TimeoutExpired:
        return Output(None, "", f"error: not done after {options.seconds} s")
    return Output(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def play(options, case, commands):
    """Runs commands in a copy of a case, and `leaderboard` if the last of them imports. Returns the last output."""
    with tempfile.TemporaryDirectory() as folder:
        # A name that no case has: it may become that of a suite.
        place = Path(folder) / "case"
        shutil.copytree(str(case), str(place))
        cwd = place / "input"
        for command in commands:
            output = run(options, command, cwd)
        if output.code == 0 and command[0] != "leaderboard":
            command = ["leaderboard"]
            shown = run(options, command, cwd)
            output = Output(shown.code, shown.stdout, output.text + shown.stderr)
        if output.code == 0:
            try:
                output.board = json.loads(run(options, [*command, "--format", "json"], cwd).stdout)
            except ValueError:
                output.code = None
        return output


def rows(board):
    """The figures of a board, each with the names that tell where it is."""
    for suite in board["suites"]:
        for entry in suite["entries"]:
            names = {"suite": suite["suite"], "arm": f"{entry['approach']} {entry['model']}"}
            headline = entry.get("primary") or {}
            primary = suite.get("primary") or {}
            common = {
                "missing": headline.get("missing"), "n": headline.get("n"), "runs": entry.get("runs"),
                "cost": (entry.get("cost") or {}).get("usd"), "wins": (entry.get("standing") or {}).get("rank") == {"best": 1, "worst": 1},
            }
            yield {**names, **common, **headline, "metric": f"{primary.get('label')} {primary.get('name')}", "is_headline": True}
            for metric in ("pass_rate", "item_score"):
                if entry.get(metric):
                    yield {**names, **common, **entry[metric], "metric": metric.replace("_", " "), "is_headline": False}
            # The board does not say of how many items a further score is the mean: the notes do.
            for metric, found in (entry.get("scores") or {}).items():
                yield {**names, **common, "n": UNSTATED, "missing": UNSTATED, "value": found["mean"], "metric": metric, "is_headline": False}


def has_words(text, words):
    words = [words] if isinstance(words, str) else words
    return all(word == "*" or re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text, re.IGNORECASE) for word in words)


def is_in_place(row, figure):
    """Whether a row has the arm and the suite of a figure."""
    return has_words(row["arm"], figure.get("arm", "*")) and has_words(row["suite"], figure.get("suite", "*"))


def is_of(row, figure):
    """Whether a row is where a figure has to be."""
    # A metric may be shown as a column, as a suite, or as an arm.
    is_metric = has_words(f"{row['metric']} {row['suite']} {row['arm']}", figure["metric"]) if "metric" in figure else row["is_headline"]
    return is_metric and is_in_place(row, figure)


def is_near(found, expected):
    return found is not None and abs(found - expected) <= 1e-6 * max(1.0, abs(expected))


def agrees(row, figure):
    if "of" in figure:
        if row.get("total") is None:
            if not is_near(row.get("value"), figure["passed"] / figure["of"]):
                return False
        elif (row["passed"], row["total"]) != (figure["passed"], figure["of"]):
            return False
    if "value" in figure and not is_near(row.get("value"), figure["value"]):
        return False
    if "standard_error" in figure and row.get("standard_error") is not None and abs(row["standard_error"] - figure["standard_error"]) > 1e-4:
        return False
    exact = all(row[key] in (UNSTATED, figure[key]) for key in ("missing", "n", "runs", "wins") if key in figure)
    return exact and ("cost" not in figure or is_near(row["cost"], figure["cost"]))


def named(figure):
    def text(words):
        return words if isinstance(words, str) else " ".join(words)

    return " ".join(text(figure[key]) for key in ("arm", "suite", "metric") if figure.get(key, "*") != "*") or "the arm"


def shown(row):
    counts = f" ({row['passed']}/{row['total']})" if row.get("total") is not None else ""
    missing = f", {row['missing']} missing" if row["missing"] not in (None, 0, UNSTATED) else ""
    return f"{row['value']:.4g}{counts}{missing}"


def judge(output, boards):
    """Returns the verdict on an output by the answer that it is nearest to, and what is not as it should be."""
    if output.board is None:
        lines = [line for line in output.stderr.splitlines() if line.startswith("error")]
        return "refused", lines[0] if lines else f"exit {output.code}"
    found = list(rows(output.board))
    verdicts = [judge_board(output, found, board) for board in boards] or [("wrong", "no board is right")]
    return min(verdicts, key=lambda verdict: VERDICTS.index(verdict[0]))


def judge_board(output, found, board):
    valued = [row for row in found if row.get("value") is not None]
    lacking = []
    for figure in board["figures"]:
        # A grade of a judge is something else than the share of what passed by it.
        here = [row for row in valued if is_of(row, figure) and not ("of" in figure and row["value"] > 1)]
        if any(agrees(row, figure) for row in here):
            continue
        if here:
            return "wrong", f"{named(figure)} is {shown(here[0])}"
        if figure.get("if_shown"):
            continue
        is_arm_lost = valued and not any(has_words(row["arm"], figure.get("arm", "*")) for row in found)
        if is_arm_lost and not re.search(r"^warning: .* rows? refused", output.stderr, re.MULTILINE):
            return "wrong", f"{named(figure)} is not on the board"
        lacking.append(f"no figure of {named(figure)}")
    for figure in board.get("never", []):
        for row in valued:
            if is_of(row, figure) and agrees(row, figure):
                return "wrong", f"{row['metric']} of {row['arm']} in {row['suite']} is {shown(row)}"
    headlines = [row for row in valued if row["is_headline"]]
    for row in headlines:
        if not any(is_in_place(row, figure) for figure in board["figures"]):
            return "wrong", f"{row['arm']} in {row['suite']} is {shown(row)}"
    named_arms = {str(figure.get("arm", "*")) for figure in board["figures"]}
    most = board.get("arms", None if "*" in named_arms else len(named_arms))
    suites = {row["suite"]: {other["arm"] for other in headlines if other["suite"] == row["suite"]} for row in headlines}
    for suite, arms in suites.items():
        if most is not None and len(arms) > most:
            return "wrong", f"{len(arms)} arms in {suite}: {', '.join(sorted(arms))}"
    if len(suites) != board.get("suites", len(suites)):
        return "wrong", f"{len(suites)} suites: {', '.join(sorted(suites))}"
    lacking.extend(f"says nothing of /{pattern}/" for pattern in board.get("must_say", []) if not says(output, pattern))
    lacking.extend(f"says /{pattern}/" for pattern in board.get("must_not_say", []) if says(output, pattern))
    return ("incomplete", "; ".join(lacking)) if lacking else ("right", "")


def says(output, pattern):
    return re.search(pattern, output.text, re.IGNORECASE | re.MULTILINE) is not None


def words_of(command):
    """Splits a printed command like a shell, and returns its arguments, or None if it is no command of the program."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return words[1:] if len(words) > 1 and words[0] == "evalreport" else None


def printed_commands(output):
    """The commands in hints. A hint has one at its end or up to a semicolon, or some in backticks."""
    commands = []
    for line in output.text.splitlines():
        if "hint: " not in line:
            continue
        hint = line.split("hint: ", 1)[1]
        bare = re.findall(r"(?:^|: )(evalreport .*?)(?:; or |$)", hint)
        for text in bare or re.findall(r"`(evalreport [^`]*)`", hint):
            command = words_of(text)
            # Other commands make no board, nor does one that only shows how files would be read.
            if command and command[0] in ("import", "leaderboard") and "--dry-run" not in command and command not in commands:
                commands.append(command)
    return commands


def other_commands(output):
    """The printed commands with the other options that a question names."""
    options = []
    for line in output.stderr.splitlines():
        found = re.search(r": (--[a-z].*)$", line)
        if not found or "hint: " in line:
            continue
        first, *rest = re.split(r" \(", found.group(1), maxsplit=1)
        options.append(first)
        # ` (or --attempt column)`, or ` (or items, or suites)`; other words in parentheses explain.
        for other in re.split(r",? ?\bor ", rest[0].rstrip(")"))[1:] if rest and rest[0].startswith("or ") else []:
            options.append(other if other.startswith("--") else f"{first.rsplit(' ', 1)[0]} {other}")
    try:
        options = [shlex.split(option) for option in options]
    except ValueError:
        return []
    commands = []
    for command in printed_commands(output):
        for given in options:
            if command[-len(given):] == given:
                commands.extend([*command[: -len(given)], *option] for option in options if option != given)
    return [command for place, command in enumerate(commands) if command not in commands[:place]][:MAX_OPTIONS]


def follow(options, case, before, commands, boards, followed=1):
    """Types printed commands, and those that are printed then. Returns the ones that lead to a right board, and wrong boards on the way."""
    wrong = []
    for command in commands:
        output = play(options, case, [*before, command])
        verdict, why = judge(output, boards)
        if verdict == "right":
            return [command], wrong
        if verdict == "wrong":
            wrong.append(why)
        elif followed < MAX_FOLLOWED:
            rest, more = follow(options, case, [*before, command], printed_commands(output), boards, followed + 1)
            wrong.extend(more)
            if rest:
                return [command, *rest], wrong
    return [], wrong


def typed(commands):
    return "; ".join(" ".join(shlex.quote(word) for word in command) for command in commands)


def classify_way(options, case, answer, way):
    boards = answer["boards"]
    output = play(options, case, way)
    verdict, why = judge(output, boards)
    if verdict == "right":
        return "right", ""
    followed, wrong = follow(options, case, way, printed_commands(output), boards)
    if followed:
        return "right by command", typed(followed)
    if verdict == "refused":
        chosen, _ = follow(options, case, way, other_commands(output), boards)
        if chosen:
            return "asked", typed(chosen)
        if output.code == 2 and "asked" in answer and not wrong and all(says(output, pattern) for pattern in answer["asked"]):
            return "asked", why
        return "useless", f"{why}; by a hint, {wrong[0]}" if wrong else why
    if verdict == "wrong" and not ("admits" in answer and says(output, answer["admits"])):
        return "wrong in silence", why
    return "useless", why


def classify(options, case):
    answer = json.loads((case / "answer.json").read_text())
    ways = answer.get("ways", [[["leaderboard", "./"]]])
    return max((classify_way(options, case, answer, way) for way in ways), key=lambda found: CLASSES.index(found[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--binary", default=str(ROOT / "target/debug/evalreport"), type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", type=Path, help="write the class of each case to this file")
    parser.add_argument("--seconds", type=int, default=60, help="the longest that a command may take")
    parser.add_argument("--memory", type=int, default=8192, help="the most address space of a command, in MiB")
    options = parser.parse_args()
    cases = sorted(path.parent for path in options.folder.glob("*/answer.json") if options.only in path.parent.name)
    if not cases:
        sys.exit(f"{options.folder} has no cases")
    # What the program gets too, being a child.
    resource.setrlimit(resource.RLIMIT_AS, (options.memory << 20, options.memory << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: classify(options, case), cases))
    width = max(len(case.name) for case in cases)
    for case, (name, why) in zip(cases, found):
        print(f"{case.name:{width}}  {name:16}  {why}".rstrip())
    print()
    for name in CLASSES:
        count = sum(1 for one, _ in found if one == name)
        print(f"{name:16} {count:4} {100 * count / len(cases):5.1f} %")
    if options.json:
        options.json.write_text(json.dumps({case.name: {"class": name, "why": why} for case, (name, why) in zip(cases, found)}, indent=1) + "\n")
    sys.exit(any(name == "wrong in silence" for name, _ in found))


if __name__ == "__main__":
    main()
