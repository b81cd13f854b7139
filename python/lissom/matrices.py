"""Bodies from the matrices of a finite-element program."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lissom import spec
from lissom.errors import ModelError
from lissom.model import _document, load

__all__ = ["body_from_matrices"]


def body_from_matrices(
    name: str,
    *,
    mass: Any,
    stiffness: Any,
    nodes: ArrayLike,
    interfaces: Mapping[str, Sequence[int]],
    basis: Mapping[str, Any] | spec.MeshBasis,
) -> spec.Body:
    """A flexible body of a model from its mass and stiffness matrix, sparse ones of SciPy or arrays, in kg, m and s.

    Rows are those of ``nodes`` (places, n × 3, in m) in their order: three displacements each, or these and three rotations. The
    body is free: nothing holds it but ``interfaces``, numbers of nodes by the name of the frame that they move with, of which the
    first carries the body. ``basis`` is that of ``[body.mesh]``, such as ``{"craig_bampton": {"modes": 6}}``.

    Matrices say nothing of how the body stiffens when it turns fast; ``lissom check`` tells from when on that matters.
    """
    places = np.asarray(nodes, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] != 3:
        raise ValueError(f"nodes has the shape {places.shape}; it must be nodes × 3")
    groups = _groups(interfaces, len(places))
    mesh = {
        "file": "nodes.csv",
        "matrices": {"mass": "mass.mtx", "stiffness": "stiffness.mtx"},
        "interface": [{"name": own} for own in interfaces],
        "basis": basis,
    }
    held = {"name": "held", "parent": "ground", "child": {"body": name, "at": next(iter(interfaces))}}
    model = {
        "format": 1,
        "body": [{"name": name, "mesh": mesh}],
        "joint": [{**held, "revolute": {"axis": [0.0, 0.0, 1.0]}}],
    }
    with tempfile.TemporaryDirectory() as folder:
        within = Path(folder)
        rows = (
            f"{at + 1}, {x!r}, {y!r}, {z!r}, {group}\n" if group else f"{at + 1}, {x!r}, {y!r}, {z!r}\n"
            for at, ((x, y, z), group) in enumerate(zip(places.tolist(), groups, strict=True))
        )
        (within / "nodes.csv").write_text("".join(rows), encoding="utf-8")
        _write(within / "mass.mtx", mass)
        _write(within / "stiffness.mtx", stiffness)
        (within / "body.toml").write_text(_document(model), encoding="utf-8")
        try:
            reduced = load(within / "body.toml").to_dict()["body"][0]["reduced"]
        except ModelError as error:
            raise ModelError(str(error), file=name, problems=error.problems) from None
    reduced["nodes"] = [spec.ReducedNode(**node) for node in reduced["nodes"]]
    return spec.Body(name=name, reduced=spec.Reduced(**reduced))


def _groups(interfaces: Mapping[str, Sequence[int]], count: int) -> list[str]:
    """The interface of every node, if it has one."""
    if not interfaces:
        raise ValueError("there are no interfaces; name at least the one that carries the body")
    groups = [""] * count
    for name, nodes in interfaces.items():
        for node in np.atleast_1d(np.asarray(nodes)).tolist():
            if not 0 <= node < count:
                raise IndexError(f"interface {name!r} has node {node}; there are nodes 0 to {count - 1}")
            if groups[node]:
                raise ValueError(f"node {node} belongs to {groups[node]!r} and to {name!r}")
            groups[node] = name
    return groups


def _write(path: Path, matrix: Any) -> None:
    """A matrix in the format of Matrix Market, to the last bit."""
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        rows, columns, values = sparse.row, sparse.col, np.asarray(sparse.data, dtype=np.float64)
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        rows, columns = np.nonzero(dense)
        values = dense[rows, columns]
    with path.open("w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n")
        file.write("{} {} {}\n".format(*matrix.shape, len(values)))
        np.savetxt(file, np.rec.fromarrays([rows + 1, columns + 1, values]), fmt="%d %d %.17g")
