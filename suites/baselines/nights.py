"""Made nights for the demonstration: two small calculators answer the same 60 sums on 24 nights. Writes a table to import.

    python3 suites/baselines/nights.py > nights.csv
    evalreport import nights.csv --map suites/baselines/nights.yaml

Nothing here is an agent or was recorded: the programs are the functions below, the dates are counted up from FIRST, and the one change in the
middle is a defect built in on purpose. The seeds are fixed, so every call writes the same bytes.
"""

import csv
import datetime
import random
import sys

FIRST = datetime.date(2026, 3, 1)
NIGHTS = 24
# From this night on `column-adder` drops the carries of its multiplications.
BROKEN_FROM = 17
KINDS = {"addition": "+", "subtraction": "-", "multiplication": "*"}


def sums():
    """The same 60 sums every night, 20 of each kind."""
    draw = random.Random(20260301)
    for kind in KINDS:
        for number in range(1, 21):
            yield f"{kind}-{number:02}", kind, draw.randint(100, 999), draw.randint(12, 99)


def exact(kind, left, right):
    return {"addition": left + right, "subtraction": left - right, "multiplication": left * right}[kind]


def without_carries(left, right):
    """Long multiplication that keeps the last digit of each product only."""
    return sum((int(a) * int(b)) % 10 * 10 ** (i + j) for i, a in enumerate(str(left)[::-1]) for j, b in enumerate(str(right)[::-1]))


def slip(draw, answer, probability):
    """One digit wrong, now and then: what makes a night differ from the next."""
    return answer + 10 ** draw.randrange(2) if draw.random() < probability else answer


def column_adder(draw, night, kind, left, right):
    answer = without_carries(left, right) if kind == "multiplication" and night >= BROKEN_FROM else exact(kind, left, right)
    return slip(draw, answer, 0.06)


def double_checker(draw, night, kind, left, right):
    """Works everything out twice and, where the two differ, a third time."""
    first, second, third = (slip(draw, exact(kind, left, right), 0.14) for _ in range(3))
    return first if first == second else third


def main():
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["ended", "approach", "sum", "kind", "expected", "answer"])
    for night in range(1, NIGHTS + 1):
        day = FIRST + datetime.timedelta(days=night - 1)
        for name, calculator in [("column-adder", column_adder), ("double-checker", double_checker)]:
            draw = random.Random(f"{day} {name}")
            for item, kind, left, right in sums():
                answer = calculator(draw, night, kind, left, right)
                table.writerow([f"{day}T02:00:00Z", name, item, kind, exact(kind, left, right), answer])


main()
