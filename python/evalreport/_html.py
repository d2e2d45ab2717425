"""The Markdown that `evalreport` writes, as HTML for notebooks.

The program escapes every special character of foreign text, so cells end only where the program ends them. Everything is escaped again for
HTML.
"""

import html
import re
from typing import Iterator, List, Sequence

_STYLE = "text-align:left;white-space:nowrap"
_RIGHT = "text-align:right;white-space:nowrap"
_SUMMARY = re.compile(r"<details><summary>(.*)</summary>")
#: Code, bold text, or one character, with its backslash if it has one.
_PIECE = re.compile(r"`([^`]*)`|\*\*((?:\\.|[^\\*])+)\*\*|\\?.", re.DOTALL)


def plain(text: str) -> str:
    """Undoes the escapes of Markdown."""
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


def inline(text: str) -> str:
    """Returns a sentence as HTML, with its bold words and its code."""
    parts: List[str] = []
    for piece in _PIECE.finditer(text):
        code, bold = piece.group(1), piece.group(2)
        if code is not None:
            parts.append(f"<code>{html.escape(code)}</code>")
        elif bold is not None:
            parts.append(f"<strong>{html.escape(plain(bold))}</strong>")
        else:
            parts.append(piece.group())
    # Entities have several characters, so what is plain is undone as a whole.
    return "".join(part if part.startswith(("<code>", "<strong>")) else html.escape(plain(part)) for part in _joined(parts))


def _joined(parts: List[str]) -> Iterator[str]:
    plain_text = ""
    for part in parts:
        if part.startswith(("<code>", "<strong>")):
            yield plain_text
            yield part
            plain_text = ""
        else:
            plain_text += part
    yield plain_text


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{inline(text)}</{tag}>'


def _split(line: str) -> List[str]:
    """Splits a row at the `|` that have no backslash before them."""
    cells, cell, place = [], "", 0
    line = line.strip()
    while place < len(line):
        if line[place] == "\\":
            cell += line[place : place + 2]
            place += 2
            continue
        if line[place] == "|":
            cells.append(cell.strip())
            cell = ""
        else:
            cell += line[place]
        place += 1
    return cells[1:]


def _table(lines: List[str]) -> str:
    rows = [_split(line) for line in lines]
    styles = [_RIGHT if rule.endswith(":") else _STYLE for rule in rows[1]] if len(rows) > 1 else []
    head = "".join(_cell("th", cell, style) for cell, style in zip(rows[0], styles))
    body = "".join("<tr>" + "".join(_cell("td", cell, style) for cell, style in zip(row, styles)) + "</tr>" for row in rows[2:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _line(line: str) -> str:
    summary = _SUMMARY.fullmatch(line)
    if summary:
        return f"<details><summary>{inline(summary.group(1))}</summary>"
    if line == "</details>":
        return line
    if line.startswith("### "):
        return f"<p><strong>{html.escape(plain(line[4:]))}</strong></p>"
    return "" if not line or line.startswith("<!--") else f"<p>{inline(line)}</p>"


def tables(markdown: str, drawing: str = "", notes: Sequence[str] = ()) -> str:
    """Returns tables, titles, lists and sentences as HTML, below them a drawing, and notes, which are no Markdown."""
    out: List[str] = []
    lines = markdown.splitlines()
    place = 0
    while place < len(lines):
        start = place
        for mark, form in (("|", _table), ("- ", _list)):
            while place < len(lines) and lines[place].startswith(mark):
                place += 1
            if place > start:
                out.append(form(lines[start:place]))
                break
        else:
            out.append(_line(lines[place].strip()))
            place += 1
    out += [drawing, *(f"<p>{html.escape(note)}</p>" for note in notes)]
    return '<div class="evalreport">' + "".join(out) + "</div>"


def _list(lines: List[str]) -> str:
    return "<ul>" + "".join(f"<li>{inline(line[2:])}</li>" for line in lines) + "</ul>"
