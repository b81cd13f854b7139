"""How Sphinx makes the book of the Markdown in this repository.

The Markdown is written for GitHub and stays free of directives: the table of contents is here, equations are fences of ``math`` or
stand between ``$``` and ```$``, notebooks are read cell by cell. ``docs/book/build`` calls Sphinx with the repository as its
folder of sources, so that links between documents are the same in both places.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinxcontrib.katex import katex_version

log = logging.getLogger(__name__)

HERE = Path(__file__).resolve().parent

KATEX = "0.16.22"
"""Version of the style sheet and fonts in ``static/``; the script comes with sphinxcontrib-katex."""
if katex_version != KATEX:
    raise RuntimeError(f"sphinxcontrib-katex brings KaTeX {katex_version}: put its style sheet and fonts into docs/book/static")

CHAPTERS: dict[str, list[str]] = json.loads((HERE / "contents.json").read_text(encoding="utf-8"))
"""Documents under each heading of the table of contents, in the order of reading."""

project = "Lissom"
root_doc = "README"
smartquotes = False
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
include_patterns = ["README.md", "docs/**", *(f"{name}.*" for names in CHAPTERS.values() for name in names)]
exclude_patterns = ["target", "results", ".git", "**/node_modules", "**/*.toml", "**/*.csv"]

extensions = ["myst_parser", "sphinx_copybutton", "sphinxcontrib.katex"]
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = "Lissom"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # browsers do not let a page read other files
html_show_copyright = False
katex_css_path = "katex.min.css"
katex_options = "strict: 'error', throwOnError: false"


class GitHubMath(SphinxTransform):
    """Takes the back quotes off equations, which GitHub wants inside the dollars. Dollars without them are reported."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Changes the equations within lines; those of fences have no back quotes."""
        for equation in list(self.document.findall(nodes.math)):
            text = equation.astext()
            if not (text.startswith("`") and text.endswith("`") and len(text) > 2):
                log.warning("$%s$ is no equation for GitHub: write $`…`$", text, location=equation)
            equation.clear()
            equation += nodes.Text(text.strip("`"))


class NotebookParser(MystParser):
    """Reads a notebook as the Markdown of its cells. The tests run them; their outputs are not kept."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parses the cells as one text."""
        parts = []
        for cell in json.loads(inputstring)["cells"]:
            text = "".join(cell["source"])
            parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        super().parse("\n\n".join(parts), document)


def add_contents(_: Sphinx, name: str, source: list[str]) -> None:
    """Gives the first page the table of contents that the side bar shows."""
    if name == root_doc:
        for heading, names in CHAPTERS.items():
            entries = "\n".join(f"/{entry}" for entry in names)
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{entries}\n```\n"


def add_index(app: Sphinx, failure: Exception | None) -> None:
    """The first page by the name that browsers and servers look for."""
    if failure is None and app.builder.name == "html":
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the above."""
    app.add_source_parser(NotebookParser)
    app.add_transform(GitHubMath)
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
