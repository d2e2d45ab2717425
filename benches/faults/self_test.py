"""Whether the campaign would notice damage: a store is harmed on purpose after a command that nothing disturbed."""

import json
import shutil

from checks import DOUBLED, FALSE, LOST, STUCK, WRONG, Place
from scenarios import SCENARIOS


def own(place):
    """The header of a run that the command made."""
    return next(path for path in sorted(place.results.glob("*.json")) if not path.stem.startswith("quiz-"))


def lose_an_outcome(place):
    items = place.results / own(place).stem / "items.jsonl"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[:-1]))


def lose_a_run(place):
    own(place).unlink()


def double_an_outcome(place):
    items = place.results / own(place).stem / "items.jsonl"
    items.write_text(items.read_text() + items.read_text().splitlines(keepends=True)[-1])


def double_a_run(place):
    header = own(place)
    shutil.copytree(place.results / header.stem, place.results / "twice")
    (place.results / "twice.json").write_text(json.dumps(json.loads(header.read_text()) | {"id": "twice"}))


def change_an_old_outcome(place):
    items = place.results / "quiz-2/items.jsonl"
    items.write_text(items.read_text().replace('"fail"', '"pass"', 1))


def lose_an_old_file(place):
    (place.results / "quiz-1/output/src/a.py").unlink()


def add_a_run(place):
    (place.results / "quiz-9.json").write_text((place.results / "quiz-1.json").read_text())


def break_a_line(place):
    items = place.results / "quiz-1/items.jsonl"
    items.write_text(items.read_text()[:-9])


def empty_what_was_written(place):
    (place.project / "out.json").write_text("")


def write_nothing(place):
    (place.project / "out.json").unlink()


HARMS = [
    ("run, questions", lose_an_outcome, {LOST, FALSE}),
    ("run, questions", lose_a_run, {LOST, FALSE}),
    ("run, questions", double_an_outcome, {DOUBLED}),
    ("run, questions", double_a_run, {DOUBLED}),
    ("run, questions", change_an_old_outcome, {LOST, WRONG}),
    ("run, questions", lose_an_old_file, {LOST}),
    ("run, questions", add_a_run, {WRONG}),
    ("run, questions", break_a_line, {LOST, STUCK}),
    ("export json", empty_what_was_written, {FALSE}),
    ("export json", write_nothing, {FALSE}),
]


def run(campaign, binary, work):
    place = Place(work / "place", binary)
    learnt, missed = {}, 0
    for name, harm, expected in HARMS:
        scenario = next(scenario for scenario in SCENARIOS if scenario.name == name)
        if name not in learnt:
            learnt[name] = campaign.learn(scenario, binary, work / f"of-{name}")[0]
        for how in (None, harm):
            case = campaign.attempt(place, scenario, learnt[name], None, how)
            kinds = {kind for kind, _ in case.violations}
            is_noticed = expected <= kinds if how else not kinds
            missed += not is_noticed
            print(f"{'ok' if is_noticed else 'NOT NOTICED' if how else 'FALSE ALARM'}: {name}, {harm.__name__ if how else 'nothing'}: {', '.join(sorted(kinds)) or 'nothing'}")
    print("every harm was noticed" if not missed else f"{missed} of {2 * len(HARMS)} were taken for something else")
    return 1 if missed else 0
