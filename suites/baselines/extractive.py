"""Baseline: takes the choice whose words stand close together in the passage, near the words of what is asked.

Without a passage, or where no choice is found in it, it falls back on the overlap of words.
"""

import prompt
from keyword_overlap import overlap

# How far around the choice's own words the words of the question are looked for.
NEAR = 12


def best_window(wanted, text):
    """Returns first and last place of the smallest stretch of the text with the most of the wanted words; None where there is none."""
    places = [(place, word) for place, word in enumerate(text) if word in wanted]
    best = None
    for start in range(len(places)):
        seen = set()
        for place, word in places[start:]:
            seen.add(word)
            rank = (-len(seen), place - places[start][0])
            if best is None or rank < best[0]:
                best = (rank, places[start][0], place)
    return best[1:] if best else None


def score(choice, text, asked):
    """Higher is better: the part of the choice found close together, then its nearness to the words of the question."""
    wanted = prompt.keywords(choice) or set(prompt.words(choice))
    window = best_window(wanted, text)
    if window is None:
        return (0.0, 0.0)
    first, last = window
    found = len(wanted & set(text[first : last + 1])) / len(wanted)
    density = len(wanted) / (last - first + 1)
    around = set(text[max(0, first - NEAR) : last + 1 + NEAR])
    near = len(around & (asked - wanted)) / max(1, len(asked - wanted))
    return (found * min(1.0, density) + near, found)


asked = prompt.read()
text = prompt.words(asked.passage())
about = prompt.keywords(asked.asked())
scores = [score(choice, text, about) for choice in asked.choices]
if any(found for _, found in scores):
    chosen = asked.choices[max(range(len(scores)), key=lambda place: scores[place])]
    reasoning = "Its words stand closest together in the passage, near what is asked."
else:
    known = set(prompt.words(asked.question))
    chosen = max(asked.choices, key=lambda choice: overlap(choice, known))
    reasoning = "Nothing of any choice is in a passage; its words overlap most with the question."
prompt.write(reasoning, chosen)
