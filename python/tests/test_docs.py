"""The code blocks of `docs/do/record-your-own-loop.md` run, one after the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evalreport

PAGE = Path(__file__).resolve().parents[2] / "docs" / "do" / "record-your-own-loop.md"


@pytest.mark.skipif(not PAGE.exists(), reason="only in a checkout")
def test_every_block_runs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)```", text, re.DOTALL)
    root = os.environ.get("EVALREPORT_FRAMES")
    polars = Path(root, "polars") if root else Path("nowhere")
    code = []
    for note, language, block in blocks:
        if note.startswith("not run: "):
            continue
        assert language == "python", f"a block that nothing runs: {block}"
        if note != "needs: polars" or polars.is_dir():
            code.append(block)
    assert len(code) >= 5
    own = Path(evalreport.__file__).resolve().parents[1]
    folders = [*([] if "site-packages" in str(own) else [own]), *([polars] if polars.is_dir() else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "EVALREPORT_BINARY": evalreport.binary()}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "capitals: careful vs quick" in done.stdout and "did you mean `capitals`" in done.stdout
