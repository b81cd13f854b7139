"""Measured data: tables that other programs have written, as recordings."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lissom._names import meant
from lissom.recording import Recording

__all__ = ["read_csv"]

Array = NDArray[np.float64]

_TIME = ("time_s", "time", "t")
_DEGREE = math.pi / 180.0
_SI = {
    "ms": ("s", 1e-3),
    "mm": ("m", 1e-3),
    "cm": ("m", 1e-2),
    "um": ("m", 1e-6),
    "mm/s": ("m/s", 1e-3),
    "mm/s^2": ("m/s^2", 1e-3),
    "deg": ("rad", _DEGREE),
    "°": ("rad", _DEGREE),
    "mrad": ("rad", 1e-3),
    "deg/s": ("rad/s", _DEGREE),
    "°/s": ("rad/s", _DEGREE),
    "rpm": ("rad/s", 2.0 * math.pi / 60.0),
    "kN": ("N", 1e3),
    "mNm": ("N m", 1e-3),
    "Nm": ("N m", 1.0),
    "N*m": ("N m", 1.0),
    "N·m": ("N m", 1.0),
}
"""Units of laboratories, and how many of SI they are."""


def read_csv(
    path: str | os.PathLike[str],
    *,
    names: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Recording:
    """Read a table of measured data as a recording: a column ``time_s`` (``time``, ``t``), others headed ``name [unit]``.

    Columns are separated by commas, tabs or semicolons, with which numbers may have decimal commas; cells may be quoted. Lines that
    begin with ``#`` and empty ones are left out; an empty cell is NaN. ``names`` gives columns the names of channels, ``units``
    units to columns that are headed without one. Degrees, millimetres and the like become SI; units that are not known, or
    that mean several things (``g``), stay what they are.
    """
    target, renamed, given = Path(path), dict(names or {}), dict(units or {})
    lines = enumerate(target.read_text(encoding="utf-8-sig").splitlines(), 1)
    kept = [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not kept:
        raise ValueError(f"{target} holds no table")
    mark = max(",;\t", key=kept[0][1].count)
    heads = [_head(cell) for cell in _cells(kept[0][1], mark)]
    time = next((name for name, _ in heads if name.casefold() in _TIME), None)
    if time is None:
        raise ValueError(f"{target} has no column time_s; there are {', '.join(name for name, _ in heads)}")
    for name in (*renamed, *given):
        known = [own for own, _ in heads]
        if name not in known:
            there = f"; there are {', '.join(known)}"
            raise ValueError(f"{target} has no column {name!r}{meant(name, known) or there}")
    columns: dict[str, Array] = {}
    found: dict[str, str] = {}
    for (name, headed), column in zip(heads, _columns(target, kept[1:], len(heads), mark), strict=True):
        unit = (headed or given.get(name, "s" if name == time else "1")).replace("²", "^2")
        channel = renamed.get(name, name)
        if channel in columns:
            raise ValueError(f"{target} has two columns {channel!r}")
        found[channel], factor = _SI.get(unit, (unit, 1.0))
        columns[channel] = factor * column
    clock = renamed.get(time, time)
    if found.pop(clock) != "s":
        raise ValueError(f"{target}: {time} is in {dict(heads)[time]}, expected s or ms")
    return Recording(columns.pop(clock), columns, found)


def _head(cell: str) -> tuple[str, str]:
    """Name and unit of a column, which may be in brackets of either kind or missing."""
    found = re.fullmatch(r"(.*?)\s*(?:\[(.*)\]|\((.*)\))?", cell.strip())
    assert found is not None
    return found[1], (found[2] or found[3] or "").strip()


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line; what is in quotation marks is one of them."""
    return next(csv.reader([line], delimiter=mark, skipinitialspace=True))


def _columns(path: Path, rows: list[tuple[int, str]], width: int, mark: str) -> list[Array]:
    """The numbers below the heads, column by column."""
    table = np.empty((len(rows), width))
    for own, (at, line) in zip(table, rows, strict=True):
        cells = _cells(line.replace(",", ".") if mark == ";" else line, mark)
        if len(cells) != width:
            raise ValueError(f"{path}:{at}: there are {len(cells)} cells, and {width} columns")
        try:
            own[:] = [float(cell) if cell.strip() else np.nan for cell in cells]
        except ValueError as error:
            raise ValueError(f"{path}:{at}: {error}") from None
    return list(table.T.copy())
