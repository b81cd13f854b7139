"""Writes the page of the package's API from its signatures and docstrings: ``python python/tools/make_api.py > docs/python-api.md``."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from typing import Any

import lissom

HEAD = """# The Python package, name by name

Made by `python/tools/make_api.py` from the package's own documentation: do not edit. [Python](guide/python.md) introduces it,
[conventions](guide/conventions.md) states what stands where in arrays. The dataclasses of `lissom.spec` mirror
[the model file](guide/model-file.md) key by key.
"""


def text(owner: Any) -> str:
    """A docstring as Markdown."""
    found = inspect.getdoc(owner) or ""
    found = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", found).replace("``", "`")
    lines: list[str] = []
    inside = False
    for line in found.splitlines():
        if line.startswith(">>> ") and not inside:
            lines.append("```text")
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines).replace("::\n", "\n")


def signature(owner: Any) -> str:
    """How it is called; types are those of the stubs."""
    try:
        found = str(inspect.signature(owner))
    except (TypeError, ValueError):
        return "(…)"
    found = found.split(" -> ")[0].replace("(self, /, ", "(").replace("(self, /)", "()")
    found = found.replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(")
    found = re.sub(r": (?:'[^']*'|\"[^\"]*\"|[^,=()\[\]]*(?:\[[^\]]*\])*[^,=()]*?)(?=,| =|\))", "", found)
    return found.replace(" = ", "=").replace(", /)", ")").replace(", /,", ",").replace("(*, ", "(*, ")


def described(owner: type) -> list[str]:
    """A class with its members."""
    lines = [text(owner), ""]
    fields = [field.name for field in dataclasses.fields(owner)] if dataclasses.is_dataclass(owner) else []
    fields += list(getattr(owner, "_fields", ()))
    if fields:
        lines += ["Fields: " + ", ".join(f"`{name}`" for name in fields) + ".", ""]
    for name in sorted(own for own in dir(owner) if not own.startswith("_")):
        member = inspect.getattr_static(owner, name)
        plain = getattr(owner, name)
        if name in fields or hasattr(BaseException, name) or hasattr(dict, name) or hasattr(tuple, name):
            continue
        called = "" if isinstance(member, property) or not callable(plain) else signature(plain)
        # an example does not fit into a line
        told = text(plain if callable(plain) else member).split("```")[0].strip()
        told = told.replace("\n\n", "<br>").replace("\n", " ")
        lines.append(f"- **`{name}{called}`** {told}")
    return lines


def made() -> str:
    """The whole page."""
    lines = [HEAD]
    for name in sorted(lissom.__all__, key=str.lower):
        if name.startswith("__"):
            continue
        owner = getattr(lissom, name)
        lines += [f"## `lissom.{name}`", ""]
        if inspect.isclass(owner):
            lines += described(owner)
        else:
            lines += [f"`{name}{signature(owner)}`", "", text(owner)]
        lines.append("")
    gym = importlib.import_module("lissom.gym")
    lines += ["# `lissom.gym`", "", text(gym), ""]
    for name in gym.__all__:
        owner = getattr(gym, name)
        lines += [f"## `lissom.gym.{name}`", "", f"`{name}{signature(owner.__init__)}`", "", text(owner), ""]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(made())
