"""Baseline: takes the longest choice, the first of equally long ones. Careless questions give themselves away by length."""

import prompt

asked = prompt.read()
chosen = max(asked.choices, key=len)
prompt.write(f"The longest of {len(asked.choices)} choices, with {len(chosen)} characters.", chosen)
