"""Reduced bodies: links that come from a mesh, a frame of beams or matrices, and their summaries."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lissom import _native

__all__ = ["ReducedBody", "read_body"]

Array = NDArray[np.float64]


class ReducedBody:
    """Summary of a link that was reduced from a mesh, a frame of beams or matrices; :meth:`lissom.Model.body` and
    :func:`lissom.read_body` give one. Places and axes are those of the body's frame."""

    def __init__(self, native: _native.Body) -> None:
        self._native = native
        self.summary: dict[str, Any] = json.loads(native.summary())
        """Everything, as ``lissom body --json`` tells it."""

    @property
    def name(self) -> str:
        """Its name in the model, or that of its file."""
        return str(self.summary["body"])

    @property
    def crc32(self) -> str:
        """CRC-32 of its content, by which its file is recognised."""
        return str(self.summary["crc32"])

    @property
    def mass_kg(self) -> float:
        """Mass."""
        return float(self.summary["mass_kg"])

    @property
    def center_of_mass_m(self) -> Array:
        """Centre of mass of the undeformed body."""
        return np.array(self.summary["center_of_mass_m"])

    @property
    def inertia_kg_m2(self) -> Array:
        """Inertia about the centre of mass, 3 × 3."""
        return np.array(self.summary["inertia_kg_m2"])

    @property
    def frequency_rad_per_s(self) -> Array:
        """Frequencies of its modes with its frame held, rising."""
        return np.array([mode["frequency_rad_per_s"] for mode in self.summary["modes"]])

    @property
    def mass_share(self) -> Array:
        """Share of the mass that moves along x, y and z with every mode: modes × 3."""
        return np.array([mode["mass_share"] for mode in self.summary["modes"]]).reshape(-1, 3)

    @property
    def rotation_stiffening(self) -> Array | None:
        """By how many times Ω² the square of every frequency grows when the body rotates about x, y or z with Ω, without what the mass of
        the mode takes away: modes × 3. ``None`` for a body that does not stiffen."""
        if not self.stiffens:
            return None
        return np.array([mode["rotation_stiffening"] for mode in self.summary["modes"]]).reshape(-1, 3)

    @property
    def stiffens(self) -> bool:
        """Whether it stiffens under rotation, acceleration and loads: whether it has second-order data."""
        return bool(self.summary["stiffens"])

    @property
    def nodes(self) -> dict[str, Array]:
        """Names of the places where something may be attached, and where they are in m."""
        return {node["name"]: np.array(node["position_m"]) for node in self.summary["nodes"]}

    @property
    def missing_compliance(self) -> dict[str, Array]:
        """What the modes leave out at every interface that moves: shares of its compliance to forces along and moments about x, y, z.

        Empty for a body from a file, which does not say what it was reduced from."""
        mesh = self.summary["mesh"] or {"interfaces": []}
        return {own["name"]: np.array(own["missing_compliance"]) for own in mesh["interfaces"]}

    @property
    def warnings(self) -> list[str]:
        """What to know before it is used: elements that hardly bend, sizes and frequencies that no link of a machine has, no stiffening."""
        return list(self.summary["warnings"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that models name as ``reduced_file``, so that the body need not be reduced again."""
        if not os.fspath(path).endswith(".json"):
            raise ValueError(f"{os.fspath(path)} does not end with .json, as body files do")
        self._native.write(os.fspath(path))

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page that ``lissom body --page`` makes: the modes, moving, with the summary of the body. Returns its path."""
        target = Path(path)
        self._native.write_page(target)
        return target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReducedBody) and self._native.text == other._native.text

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        frequencies = self.frequency_rad_per_s
        lowest = f", the lowest at {frequencies[0]:.6g} rad/s" if len(frequencies) else ""
        return f"<lissom.ReducedBody {self.name!r} of {self.mass_kg:g} kg with {len(frequencies)} modes{lowest}>"


def read_body(path: str | os.PathLike[str]) -> ReducedBody:
    """Read a body file, as :meth:`ReducedBody.save` and ``lissom body --out`` write it."""
    return ReducedBody(_native.Body.read(os.fspath(path)))
