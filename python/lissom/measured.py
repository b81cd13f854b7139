"""Measured data: tables that other programs have written, as recordings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lissom._native import measured
from lissom.recording import Recording

__all__ = ["read_csv"]


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
    text = Path(path).read_text(encoding="utf-8-sig")
    found = measured(os.fspath(path), text, dict(names or {}), dict(units or {}))
    return Recording(found["time_s"], found["channels"], found["units"])
