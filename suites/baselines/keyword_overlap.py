"""Baseline: takes the choice that shares the largest part of its words with the question; the first of equal ones."""

import prompt


def overlap(choice, question):
    """The part of the choice's words that the question has, then their number."""
    own = prompt.keywords(choice) or set(prompt.words(choice))
    shared = own & question
    return (len(shared) / len(own) if own else 0.0, len(shared))


if __name__ == "__main__":
    asked = prompt.read()
    known = set(prompt.words(asked.question))
    chosen = max(asked.choices, key=lambda choice: overlap(choice, known))
    part, number = overlap(chosen, known)
    prompt.write(f"{number} of its words are in the question ({part:.0%}).", chosen)
