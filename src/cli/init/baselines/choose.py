"""Answers without thinking: `random` takes any choice, `longest` takes the longest one.

The prompt comes on standard input: the question, a line `Choices:`, one `- choice` per line, and how to answer. Whatever is printed is
the answer, as long as it ends in <answer>choice</answer>.
"""

import os
import sys

lines = sys.stdin.read().split("\nChoices:\n")[-1].splitlines()
choices = [line[2:] for line in lines if line.startswith("- ")]
if sys.argv[1] == "longest":
    choice = max(choices, key=len)
else:
    # The seed is the same whenever this run is done again, and another one for each run and question.
    choice = choices[int(os.environ["EVAL_SEED"]) % len(choices)]
escaped = choice.replace("&", "&amp;").replace("<", "&lt;")
print(f"No reason at all.\n<answer>{escaped}</answer>")
