"""The two ends of a baseline: the prompt that comes in, and the answer that goes out.

The prompt's form is fixed: the question, a line `Choices:`, one `- choice` per choice, and a closing instruction.
"""

import re
import sys
from xml.sax.saxutils import escape

CHOICES = "\n\nChoices:\n- "
INSTRUCTION = "\n\nAnswer with exactly one of the choices."

# Words that say nothing about the subject.
COMMON = frozenset(
    """a about all also am an and any are as at be been but by can did do does each for from give given had has have he her his how if in
    into is it its many more most much must no nor not of off on one only or other out over same she so some such than that the their them
    then there these they this those to too under up was we were what when where which who whom whose why will with would you your""".split()
)


class Prompt:
    """A question with its choices, taken apart."""

    def __init__(self, text):
        end = text.rfind(INSTRUCTION)
        start = text.rfind(CHOICES, 0, end) if end >= 0 else -1
        if start < 0:
            raise ValueError("the prompt has no list of choices")
        self.question = text[:start].strip()
        # A choice may have several lines; only a new one begins with a dash.
        self.choices = [choice.strip() for choice in text[start + len(CHOICES) : end].split("\n- ")]

    def asked(self):
        """The last paragraph: what is asked, after any passage."""
        return self.question.split("\n\n")[-1].strip()

    def passage(self):
        """Everything before the last paragraph; empty where there is only a question."""
        return "\n\n".join(self.question.split("\n\n")[:-1]).strip()


def read():
    """Returns the prompt of standard input, or ends the program with a message."""
    try:
        return Prompt(sys.stdin.buffer.read().decode("utf-8").replace("\r\n", "\n"))
    except ValueError as error:
        sys.exit(f"cannot read the prompt: {error}")


def words(text):
    """The words and numbers of a text in order, in lower case."""
    return re.findall(r"\w+", text.casefold())


def keywords(text):
    """The words of a text that may carry its subject."""
    return {word for word in words(text) if word not in COMMON}


def write(reasoning, choice):
    """Prints one line of reasoning, and the answer as the last thing."""
    output = f"{' '.join(reasoning.split())}\n<answer>{escape(choice)}</answer>\n"
    sys.stdout.buffer.write(output.encode("utf-8"))
