"""The Markdown that `evalreport` writes, as HTML for notebooks.

The program escapes every special character of foreign text, so cells end only where the program ends them. Everything is escaped again for
HTML.
"""

import html
import re
from typing import List

_STYLE = "text-align:left;white-space:nowrap"
_RIGHT = "text-align:right;white-space:nowrap"


def plain(text: str) -> str:
    """Undoes the escapes of Markdown."""
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{html.escape(plain(text))}</{tag}>'


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


def tables(markdown: str) -> str:
    """Returns tables, titles and sentences as HTML."""
    out: List[str] = []
    lines = markdown.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        if line.startswith("|"):
            rows = []
            while place < len(lines) and lines[place].startswith("|"):
                rows.append(_split(lines[place]))
                place += 1
            styles = [_RIGHT if rule.endswith(":") else _STYLE for rule in rows[1]] if len(rows) > 1 else []
            head = "".join(_cell("th", cell, style) for cell, style in zip(rows[0], styles))
            body = "".join("<tr>" + "".join(_cell("td", cell, style) for cell, style in zip(row, styles)) + "</tr>" for row in rows[2:])
            out.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
            continue
        if line.startswith("### "):
            out.append(f"<p><strong>{html.escape(plain(line[4:]))}</strong></p>")
        elif line.strip() and not line.startswith("<!--"):
            out.append(f"<p>{html.escape(plain(line.strip()))}</p>")
        place += 1
    return '<div class="evalreport">' + "".join(out) + "</div>"
