import re
from html.parser import HTMLParser
from typing import Any, List, Optional, Tuple

import evalreport
from conftest import record_two
from evalreport import _html

HOSTILE = "<img src=x onerror=alert(1)>|`b`\\| \"'&amp; </td><script>x</script> ![i](http://e/) \\"
TAGS = {"div", "p", "strong", "code", "ul", "li", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}
DRAWN = {"svg", "g", "title", "text", "line", "circle"}


class Reader(HTMLParser):
    """Collects tags and the texts of cells."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: List[str] = []
        self.rows: List[List[str]] = []
        self.text = ""
        self.is_in_cell = False

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append(tag)
        assert tag in DRAWN or all(name == "style" or (name, value) == ("class", "evalreport") for name, value in attrs), attrs
        assert not any(name.startswith("on") or name in ("href", "src", "xlink:href", "id") or "url(" in (value or "") for name, value in attrs), attrs
        if tag == "tr":
            self.rows.append([])
        self.is_in_cell = tag in ("td", "th")
        if self.is_in_cell:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.is_in_cell:
            self.rows[-1][-1] += data


def read(answer: Any) -> Reader:
    reader = Reader()
    reader.feed(answer._repr_html_())
    return reader


def test_a_notebook_shows_a_table() -> None:
    record_two()
    html = read(evalreport.leaderboard())
    assert html.rows[0][:4] == ["Rank", "Approach", "Model", "Accuracy % [95% CI]"]
    assert [row[1] for row in html.rows[1:]] == ["good", "bad"]
    assert "Leaderboard: quiz" in html.text
    assert read(evalreport.compare()).tags.count("table") == 1


def test_texts_of_others_are_text() -> None:
    record_two(HOSTILE)
    for answer in (evalreport.leaderboard(), evalreport.compare(), evalreport.gate(baseline="last:1", max_drop="2pp")):
        reader = read(answer)
        assert set(reader.tags) <= TAGS | DRAWN, reader.tags
        assert not re.search(r"<(img|script)", answer._repr_html_())
    row = read(evalreport.leaderboard()).rows[1]
    # The program breaks addresses with a space of no width, and the name is otherwise whole.
    assert row[1].replace("\u200b", "") == f"good{HOSTILE}"
    assert len({len(row) for row in read(evalreport.leaderboard()).rows}) == 1, "a cell ended where it should not"


def test_escapes_of_markdown_are_undone_and_nothing_else() -> None:
    html = _html.tables("### a\\_b &lt;x&gt;\n\n| h |\n| ---: |\n| \\\\ \\| &amp;amp; &#64; |\n\nnote  \n")
    assert html == (
        '<div class="evalreport"><p><strong>a_b &lt;x&gt;</strong></p>'
        '<table><thead><tr><th style="text-align:right;white-space:nowrap">h</th></tr></thead>'
        '<tbody><tr><td style="text-align:right;white-space:nowrap">\\ | &amp;amp; @</td></tr></tbody></table>'
        "<p>note</p></div>"
    )


def test_a_gate_is_shown_as_its_markdown_means() -> None:
    html = _html.tables("**Fell**: a\\*b `x<y` &lt;\n\n- `1` \\*\n- **two**\n\n<details><summary>1 more</summary>\n\nlast\n\n</details>\n<b>\n")
    assert html == (
        '<div class="evalreport"><p><strong>Fell</strong>: a*b <code>x&lt;y</code> &lt;</p><ul><li><code>1</code> *</li><li><strong>two</strong></li></ul>'
        "<details><summary>1 more</summary><p>last</p></details><p>&lt;b&gt;</p></div>"
    )
