"""What a store says, read without the program, and how it may differ from what an undisturbed command leaves."""

import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

LOST, DOUBLED, WRONG, FALSE, STUCK = "lost", "doubled", "wrong answers", "false successes", "stuck"
# Libraries below end the program, or wait for ever, where the system refuses a thread or a descriptor after it gave some. Nothing is wrong
# afterwards, and nothing can be done here: it is counted and is no violation.
STARVED = "starved"
KINDS = [LOST, DOUBLED, WRONG, FALSE, STUCK, STARVED]
VARYING = {"id", "timestamp", "batch_id", "duration_seconds", "output_dir", "run", "seal", "host", "resources"}
# Judgements may be repeated, so that of these only the current ones are compared.
JUDGED = "requirementFulfillment"


class Place:
    """A folder of a project and of all that belongs to it: temporary files, workspaces, a home."""

    def __init__(self, root, binary):
        self.root, self.binary = Path(root), str(binary)
        self.project = self.root / "project"
        self.results = self.project / "results"
        self.remake()

    def remake(self, template=None):
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in ("home", "tmp"):
            (self.root / folder).mkdir(parents=True)
        if template:
            shutil.copytree(template, self.project, symlinks=True)
        else:
            self.project.mkdir()

    def environment(self):
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "NO_COLOR": "1",
            "COLUMNS": "120",
            "RAYON_NUM_THREADS": "2",
            "POLARS_MAX_THREADS": "2",
        }

    def program(self, *arguments, code=0, said=""):
        """Runs the program undisturbed, with a text as its input. Without a code any exit is fine."""
        command = [self.binary, *arguments]
        ended = subprocess.run(
            command, cwd=self.project, env=self.environment(), input=said, capture_output=True, text=True, errors="replace", timeout=120
        )
        assert code is None or ended.returncode == code, f"{arguments}: exit {ended.returncode}: {ended.stdout}{ended.stderr}"
        return ended

    def files(self):
        return [path for path in self.project.rglob("*") if path.is_file() and not path.is_symlink()]

    def plans(self):
        return set((self.results / "batches").glob("*.json"))


def said(place, text):
    """An answer without what differs from one go to the next: where it was, and how long it took."""
    text = text.replace(str(place.root), "PLACE")
    return re.sub(r"\d+(\.\d+)?(?= ?(ms|s)\b)|(?<=seconds\": )[\d.e-]+", "N", text)


def json_lines(path):
    """The whole lines of a file."""
    try:
        text = path.read_text()
    except (FileNotFoundError, NotADirectoryError):
        return []
    *whole, rest = text.split("\n")
    try:
        # A whole line may have lost no more than its end.
        rest and json.loads(rest)
    except ValueError:
        rest = ""
    return [json.loads(line) for line in [*whole, rest] if line]


def plain(value):
    return {key: entry for key, entry in value.items() if key not in VARYING}


def current(items, scores):
    """Items without the judgements that do not count: those without a score, and those before the last one with one."""
    last = max((score.get("revision", 0) for score in scores if score.get("metric") == JUDGED), default=0)
    counted = {}
    for item in items:
        is_judged = item.get("evaluator") == JUDGED
        if is_judged and item.get("revision", 0) != last:
            continue
        key = (item["kind"], item["evaluator"], item["item"], item.get("attempt", 1), 0 if is_judged else item.get("revision", 0))
        value = plain(item)
        value.pop("revision", None)
        counted[str(key)] = value
    return counted


def name_of(header, old):
    if header["id"] in old:
        return header["id"]
    return " ".join(str(header.get(key)) for key in ("suite", "approach", "model", "agent", "run_index", "seed"))


def kept(place, old):
    """Everything that is committed, by names that are the same each time; and what is there twice."""
    runs, doubled = {}, []
    for path in sorted(place.results.glob("*.json")):
        header = json.loads(path.read_text())
        header.setdefault("id", path.stem)
        name = name_of(header, old)
        if name in runs:
            doubled.append(f"the run {name}")
        folder = place.results / path.stem
        items, scores = json_lines(folder / "items.jsonl"), json_lines(folder / "scores.jsonl")
        unjudged = [item for item in items if item.get("evaluator") != JUDGED]
        times = Counter((item["kind"], item["evaluator"], item["item"], item.get("attempt", 1), item.get("revision", 0)) for item in unjudged)
        doubled += [f"{item} of {name}" for item, count in times.items() if count > 1]
        messages = sorted(json.dumps(message, sort_keys=True) for message in json_lines(folder / "transcript.jsonl"))
        output = folder / "output"
        runs[name] = {
            "header": plain(header),
            "items": current(items, scores),
            "messages": messages,
            "output": tree(output) if output.exists() else None,
        }
    tombstones = {json.dumps(plain(line) | {"time": 0}, sort_keys=True) for line in json_lines(place.results / "retractions.jsonl")}
    imports = {}
    for path in sorted((place.results / "imports").glob("*.runs.jsonl")):
        pair = path.with_name(path.name.replace(".runs.jsonl", ".items.jsonl.zst"))
        imports[path.name] = [digest(path), digest(pair)]
    return {"runs": runs, "imports": imports, "tombstones": sorted(tombstones)}, doubled


def digest(path):
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return None


def tree(path):
    """What a command wrote: a file, or a folder of them, without names that start with a dot."""
    if path.is_file():
        return digest(path)
    files = (file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith("."))
    return {str(file.relative_to(path)): digest(file) for file in files} if path.is_dir() else None


def viewed(place, old, cache):
    """What the program says is in the store: the bytes of an export and a board, and the export by names that are the same each time."""
    where = ["--cache", str(place.root / cache)] if cache else []
    target = place.root / "view.json"
    target.unlink(missing_ok=True)
    export = place.program("export", "json", str(target), "-q", *where, code=None)
    board = place.program("leaderboard", "--format", "json", *where, code=None)
    if export.returncode != 0:
        if "no runs" in export.stderr:
            return ("empty", board.stdout), {"runs": {}}
        return (f"exit {export.returncode}: {export.stderr}", board.stdout), None
    text = target.read_text()
    document = json.loads(text)
    names = {header["id"]: name_of(header, old) for header in document["runs"]}
    for header in document["runs"]:
        if "scores" in header:
            newest = {score["metric"]: score | {"revision": 0} for score in sorted(header["scores"], key=lambda score: score.get("revision", 0))}
            header["scores"] = list(newest.values())
    runs = {names[header["id"]]: {"header": plain(header), "items": {}} for header in document["runs"]}
    for outcome in document["items"]:
        is_judged = outcome["evaluator"] == JUDGED
        if is_judged and not outcome.get("standing", True):
            continue
        key = (outcome["kind"], outcome["evaluator"], outcome["item"], outcome.get("attempt", 1), 0 if is_judged else outcome.get("revision", 0))
        value = plain(outcome)
        value.pop("revision", None)
        runs[names[outcome["run"]]]["items"][str(key)] = value
    return (text, board.stdout), {"runs": runs, "count": len(document["runs"]), "outcomes": len(document["items"])}


def differences(expected, found, instead=(), path=""):
    """Where two values differ, as texts. Of runs with an item that the harness could not decide, only the other items are compared."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if instead and "items" in found and is_spared(found, instead):
            expected, found = {"items": expected["items"]}, {"items": spared(expected["items"], found["items"], instead)}
        elif instead and "outcomes" in found:
            expected, found = {"runs": expected["runs"]}, {"runs": found["runs"]}
        said = []
        for key in sorted(set(expected) | set(found), key=str):
            if key not in found:
                said.append(f"{path}/{key} is missing")
            elif key not in expected:
                said.append(f"{path}/{key} is too much")
            else:
                said += differences(expected[key], found[key], instead, f"{path}/{key}")
        return said
    return [] if expected == found else [f"{path}: {short(expected)} became {short(found)}"]


def is_spared(run, instead):
    header = run["header"]
    # What could not be done is in the run's record then, and was said.
    return header.get("status") in instead or header.get("error") or any(item.get("status") in instead for item in run["items"].values())


def spared(expected, found, instead):
    is_infra = lambda key: key not in found or found[key].get("status") in instead
    return {key: expected[key] if key in expected and is_infra(key) else found[key] for key in set(found) | set(expected)}


def short(value):
    text = json.dumps(value) if not isinstance(value, str) else value
    return text if len(text) < 160 else text[:157] + "…"
