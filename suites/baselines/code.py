"""Baseline approach: delivers a known answer of a suite in place of writing one.

`reference` copies the suite's reference answer, `reference-without-validation` the same with the break `no-validation` applied,
`skeleton` the few lines somebody starts with. All of it comes from ROOT/tests/references/SUITE.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

# The file a suite's requirements name as the start of the program.
ENTRY = {"flask": "main.py", "logagg": "logagg.py", "tasktracker": "main.py"}
BREAK = "no-validation"
# What lies beside a reference and is no part of the answer.
BESIDE = {"breaks.json", "skeleton.py", "README.md", "__pycache__"}


def reference_files(reference):
    return sorted(
        path for path in reference.rglob("*") if path.is_file() and not BESIDE.intersection(path.relative_to(reference).parts)
    )


def copy(path, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def apply_break(reference, output):
    """Replaces each text of the break in the one delivered file that has it, exactly once."""
    listed = json.loads((reference / "breaks.json").read_text(encoding="utf-8"))
    if BREAK not in listed:
        sys.exit(f"`{reference / 'breaks.json'}` has no break `{BREAK}`")
    files = [output / path.relative_to(reference) for path in reference_files(reference)]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    for old, new in listed[BREAK]["replace"]:
        places = [path for path, text in texts.items() if old in text]
        if len(places) != 1 or texts[places[0]].count(old) != 1:
            sys.exit(f"break `{BREAK}`: the text {old!r} is not in the reference exactly once")
        texts[places[0]] = texts[places[0]].replace(old, new)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Delivers a known answer of a suite.", allow_abbrev=False)
    parser.add_argument("answer", choices=["reference", "reference-without-validation", "skeleton"])
    parser.add_argument("--suite", required=True)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--output-dir", required=True, type=Path)
    options = parser.parse_args()
    reference = options.root / "tests" / "references" / options.suite
    if options.suite not in ENTRY or not reference.is_dir():
        known = ", ".join(name for name in ENTRY if (options.root / "tests" / "references" / name).is_dir())
        sys.exit(f"no reference for the suite `{options.suite}` in `{options.root / 'tests' / 'references'}`; there are: {known or 'none'}")
    if options.answer == "skeleton":
        copy(reference / "skeleton.py", options.output_dir / ENTRY[options.suite])
        print(f"skeleton of {options.suite}: {ENTRY[options.suite]}")
        return
    files = reference_files(reference)
    for path in files:
        copy(path, options.output_dir / path.relative_to(reference))
    if options.answer == "reference-without-validation":
        apply_break(reference, options.output_dir)
    print(f"{options.answer} of {options.suite}: {', '.join(str(path.relative_to(reference)) for path in files)}")


if __name__ == "__main__":
    main()
