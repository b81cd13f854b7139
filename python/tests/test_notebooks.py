"""The notebooks: their cells run one after the other, each in a process of its own, and show what notebooks would show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "../../docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# What a kernel does with cells of plain Python: the last expression of each is shown.
RUN = """
import ast, json, sys

import matplotlib

matplotlib.use("Agg")
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]))
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell["id"], "exec"), names)
    if shown is not None:
        value = eval(compile(ast.Expression(shown.value), cell["id"], "eval"), names)
        getattr(value, "_repr_html_", value.__repr__)()
"""


def test_there_is_one_for_every_work_and_three_tasks() -> None:
    assert len(NOTEBOOKS) == 8


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    for package in ("control", "matplotlib", "scipy"):
        pytest.importorskip(package)
    code = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), "strip the outputs"
    told = subprocess.run([sys.executable, "-c", RUN, str(path)], cwd=FOLDER, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
