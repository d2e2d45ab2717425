"""The notebook runs in a kernel of its own, and shows tables, drawings and the program's figures."""

import json
from pathlib import Path
from typing import Any, List

from conftest import python

NOTEBOOK = Path(__file__).with_name("first_look.ipynb")
RUN = """
import json, nbclient, nbformat
notebook = nbformat.read({path!r}, as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
print(json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == "code"]))
"""


def shown(outputs: List[Any], form: str) -> str:
    """Returns the last output of a cell in a form."""
    text = outputs[-1]["data"][form]
    return "".join(text) if isinstance(text, list) else str(text)


def test_the_notebook_shows_tables_and_drawings() -> None:
    done = python(["notebook", "pandas"], RUN.format(path=str(NOTEBOOK)))
    assert done.returncode == 0, done.stderr
    _, compared, board, pairs, gate, decided, problem = json.loads(done.stdout.splitlines()[-1])
    html = shown(compared, "text/html")
    assert html.startswith('<div class="evalreport">') and html.count("<table>") == 1 and html.count("<svg") == 1
    assert "<title>Accuracy, mira vs nova: " in html and "<title>Accuracy, lyra vs nova: " in html
    assert "frame: 3 arms" in shown(compared, "text/plain"), "consoles show the table"
    assert html.count("<script") == html.count("http") == 0
    assert shown(board, "text/html").count("<circle") == 3
    assert "a_wins" in shown(pairs, "text/plain") and "not_enough_evidence" in shown(pairs, "text/plain")
    html = shown(gate, "text/html")
    assert "Gate against baseline: regression" in html and "stroke-dasharray" in html and "\n- " not in html
    assert shown(decided, "text/plain") == "('regression', False, 1)"
    assert "`passed` names the column `right`, which argument 1 does not have" in problem[0]["text"]
