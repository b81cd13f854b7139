"""The guide does what it says: its commands and programs run, page by page, in the order in which a reader meets them.

Each page has an empty folder. What it shows is taken as follows:

- ``sh`` is run by the shell, and must succeed; ``text`` right behind it is what that printed: every line of it, but for those with a
  clock, was printed in this order, and ``…`` stands for the rest of a line or for any number of lines;
- ``python`` is run by one interpreter per page, which remembers what the blocks before have defined;
- a block behind a line that ends with the name of a file and a colon, "Write this to `servo.toml`:", becomes that file;
- what cannot be run here carries the reason: ``<!-- not run: reason -->`` on the line before.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parent.resolve() / "../.."
CONTENTS = json.loads((REPOSITORY / "docs/book/contents.json").read_text(encoding="utf-8"))
PAGES = [*CONTENTS["Tasks"], *CONTENTS["Guide"]]

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILES = {"toml": "toml", "json": "json", "xml": "urdf"}
"""How files end whose content is shown as a language."""
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
CLOCK = re.compile(r"\bin [\d.]+ s\b")
ENDS_BY_ITSELF_WITHIN_S = 300


class Block(NamedTuple):
    """What stands between two fences, and what the line before says of it."""

    line: int
    language: str
    text: str
    file: str | None
    not_run: str | None
    follows: bool


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    text = (REPOSITORY / f"{page}.md").read_text(encoding="utf-8")
    end = 0
    for fence in FENCE.finditer(text):
        between = text[end : fence.start()].strip()
        before = between.splitlines()[-1] if between else ""
        file = re.search(rf"`([\w./-]+\.{FILES.get(fence[1], 'none')})`[^`]*:$", before)
        reason = NOT_RUN.match(before)
        yield Block(
            line=text.count("\n", 0, fence.start()) + 1,
            language=fence[1],
            text=fence[2],
            file=file and file[1],
            not_run=reason and reason[1],
            follows=end > 0 and not between,
        )
        end = fence.end()


def program(page: str) -> str:
    """One program of all that a page has to run."""
    lines = ["import subprocess", "from pathlib import Path", "own = {'__name__': '__main__'}", "printed = ''"]
    lines += ["def run(command, line):"]
    lines += ["    global printed"]
    lines += ["    done = subprocess.run(['bash', '-euo', 'pipefail', '-c', command], stdout=subprocess.PIPE, text=True)"]
    lines += ["    assert done.returncode == 0, f'line {line}: exit code {done.returncode}'"]
    lines += ["    printed = done.stdout"]
    for block in blocks(page):
        if block.not_run:
            continue
        if block.file:
            lines.append(f"Path({block.file!r}).parent.mkdir(parents=True, exist_ok=True)")
            lines.append(f"Path({block.file!r}).write_text({block.text!r}, encoding='utf-8')")
        elif block.language == "sh":
            lines.append(f"run({block.text!r}, {block.line})")
        elif block.language == "python":
            lines.append(f"exec(compile({block.text!r}, {f'{page}.md, line {block.line}'!r}, 'exec'), own)")
        elif block.language == "text" and block.follows:
            for shown in block.text.splitlines():
                shown = shown.partition("…")[0].rstrip()
                if shown and not CLOCK.search(shown):
                    lines.append(f"at = printed.find({shown!r})")
                    lines.append(f"assert at >= 0, {f'line {block.line}: not printed: {shown}'!r} + chr(10) + printed")
                    lines.append(f"printed = printed[at + {len(shown)}:]")
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    words = [os.environ["LISSOM_BIN"]] if "LISSOM_BIN" in os.environ else [sys.executable, "-m", "lissom"]
    command = commands / "lissom"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    folder = tmp_path / "folder"
    folder.mkdir()
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", program(page)],
        cwd=folder,
        env={**os.environ, "PATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=ENDS_BY_ITSELF_WITHIN_S,
    )
    assert done.returncode == 0, f"{page}: exit code {done.returncode}: {done.stderr}"


def test_what_is_not_run_is_little() -> None:
    shown = [block for page in PAGES for block in blocks(page) if block.language in ("sh", "python")]
    left_out = [block for block in shown if block.not_run]
    assert len(shown) > 60
    assert len(left_out) * 10 < len(shown), [block.not_run for block in left_out]
