"""The program's messages in the words of Python: arguments instead of options, and tables instead of the files they were written to."""

import re
import shlex
from typing import Any, Dict, List, Match

_OPTION = r"--([a-z][a-z]*(?:-[a-z]+)*)"
#: What ends the value of an option in a sentence.
_END = r"(?=$|[,;.)](?:\s|$)|\s+(?:or|and)\s|\s+\(|\s+--)"
_COMMANDS = ("compare", "leaderboard", "gate", "build", "import")
#: Options that no function has.
_FOREIGN = ("help", "dry-run", "map", "write-map", "yes", "as")
#: Options that the package itself gives.
_OWN = ("format", "cache")
_FLAGS = ("strict", "explain", "flips", "resample", "quiet", "redact", "noindex", "newest-batch", "no-new-failures", "allow-empty")


class Translation:
    """Translates texts.

    Args:
        places: A word for each path that the user has not given.
    """

    def __init__(self, places: "Dict[str, str]") -> None:
        self._places = [(_path(path), label) for path, label in places.items()]
        self._labels = places

    def plain(self, value: Any) -> Any:
        """Replaces paths in an answer."""
        if isinstance(value, str):
            for path, label in self._places:
                # The words of places have no backslash.
                value = path.sub(label, value)
            return value
        if isinstance(value, list):
            return [self.plain(one) for one in value]
        if isinstance(value, dict):
            return {key: self.plain(one) for key, one in value.items()}
        return value

    def table(self, text: str) -> str:
        """Replaces paths in drawn tables, whose columns keep their width."""
        return "\n".join(self._line(line) for line in text.split("\n"))

    def _line(self, line: str) -> str:
        if not line.startswith("│"):
            return str(self.plain(line))
        cells = [(cell, str(self.plain(cell))) for cell in line.split("│")]
        return "│".join(new + " " * (len(old) - len(new)) for old, new in cells)

    def message(self, text: str) -> str:
        """Replaces paths, commands and options in a message."""
        if self._labels:
            # Of a table, the option names the column of the arm.
            text = text.replace("--approach ", "--arm ")
        text = re.sub(rf"evalreport ({'|'.join(_COMMANDS)}) ([^`;]*)(?=;|$)", self._command, text)
        # What is left of commands is for a terminal.
        parts = re.split(r"(`evalreport [^`]*`)", text)
        translated = [part if place % 2 else _arguments(part) for place, part in enumerate(parts)]
        return str(self.plain("".join(translated)))

    def _command(self, match: "Match[str]") -> str:
        """Returns a call of Python for a command, or the command if it has no such call."""
        try:
            words = shlex.split(match.group(2))
        except ValueError:
            return match.group(0)
        sources: List[str] = []
        given: Dict[str, List[str]] = {}
        while words:
            word = words.pop(0)
            name, _, value = word[2:].partition("=")
            if word == "--" or word.startswith("--") and name in _OWN:
                continue
            if not word.startswith("--"):
                sources.append(self._labels.get(word) or repr(word))
            elif name in _FLAGS:
                given[_name(name)] = []
            elif name in _FOREIGN or not (value or words):
                return match.group(0)
            else:
                given.setdefault(_name(name), []).append(value or words.pop(0))
        named = [f"{name}={_values(values)}" for name, values in given.items()]
        if match.group(1) == "import":
            # There is no such function: of tables, the arguments of any other decide it.
            return ", ".join(named) if self._labels and named else match.group(0)
        return f"evalreport.{match.group(1)}({', '.join([*sources, *named])})"


def _path(path: str) -> "re.Pattern[str]":
    # Markdown has a backslash before some characters.
    return re.compile("".join(r"\\?" + re.escape(one) for one in path))


def _values(values: List[str]) -> str:
    return "True" if not values else _quoted(values[0]) if len(values) == 1 else repr(values)


def _quoted(value: str) -> str:
    return value if value.isupper() else '"' + value.replace('"', '\\"') + '"'


def _arguments(text: str) -> str:
    """Returns a sentence with Python's arguments."""
    if any(f"--{name}" in text for name in _FOREIGN):
        return text
    text = re.sub(rf"(for )?'{_OPTION}(?: <[^>]*>)?'", lambda match: f"{match.group(1) or ''}`{_name(match.group(2))}`", text)
    text = re.sub(rf"--({'|'.join(_FLAGS)})\b", lambda match: f"`{_name(match.group(1))}`", text)
    text = re.sub(rf"{_OPTION}[ =]([^\s`,;()]+){_END}", lambda match: f"{_name(match.group(1))}={_quoted(match.group(2))}", text)
    return re.sub(rf"{_OPTION}(?= ?)", lambda match: f"`{_name(match.group(1))}`", text)


def _name(option: str) -> str:
    return option.replace("-", "_")


#: Without tables.
PLAIN = Translation({})
