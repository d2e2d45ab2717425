"""Baseline: takes a choice at random. `EVAL_SEED` decides, so that the same seed and prompt give the same choice."""

import os
import random

import prompt

asked = prompt.read()
seed = os.environ.get("EVAL_SEED", "0")
# The question is part of the seed: one seed for all questions would otherwise take the same place in every list.
chosen = random.Random(f"{seed}\n{asked.question}").randrange(len(asked.choices))
prompt.write(f"Taken at random: choice {chosen + 1} of {len(asked.choices)}, seed {seed}.", asked.choices[chosen])
