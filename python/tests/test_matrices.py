"""Bodies from matrices in memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lissom

scipy_sparse = pytest.importorskip("scipy.sparse")

CELLS = 6


def lattice() -> tuple[np.ndarray, object, object]:
    """Point masses joined by bars along the edges and diagonals of cubes: places, mass and stiffness."""
    places = np.array([(0.1 * k, 0.1 * y, 0.1 * z) for k in range(CELLS + 1) for y in (0, 1) for z in (0, 1)])
    stiffness = scipy_sparse.lil_array((places.size, places.size))
    for one in range(len(places)):
        for other in range(one):
            along = places[one] - places[other]
            length = np.linalg.norm(along)
            if length > 0.18:
                continue
            block = 1e6 / length**3 * np.outer(along, along)
            for a, b, sign in ((one, one, 1), (other, other, 1), (one, other, -1), (other, one, -1)):
                stiffness[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    mass = scipy_sparse.diags_array(np.full(places.size, 0.02))
    return places, mass, stiffness.tocsr()


def test_matrices_of_scipy_are_a_body_of_a_model() -> None:
    """Frequencies of the body held at one end are those of the matrices without the rows of that end."""
    import scipy.linalg

    places, mass, stiffness = lattice()
    ends = {"root": range(4), "tip": range(4 * CELLS, 4 * CELLS + 4)}
    body = lissom.body_from_matrices(
        "link", mass=mass, stiffness=stiffness, nodes=places, interfaces=ends, basis={"craig_bampton": {"modes": 8}}
    )
    assert body.reduced is not None and body.reduced.mass_kg == pytest.approx(0.02 * len(places), rel=1e-12)
    hub = {"name": "hub", "parent": "ground", "child": {"body": "link", "at": "root"}, "revolute": {"axis": [0.0, 0.0, 1.0]}}
    model = lissom.Model.from_dict({"format": 1, "body": [body], "joint": [hub]})
    assert pickle.loads(pickle.dumps(model)) == model

    # the tip moves as a rigid body, as an interface does
    free = 3 * 4 * (CELLS - 1)
    tie = np.zeros((places.size - 12, free + 6))
    tie[:free, :free] = np.eye(free)
    centre = places[list(ends["tip"])].mean(axis=0)
    for at, node in enumerate(ends["tip"]):
        x, y, z = places[node] - centre
        rows = tie[free + 3 * at : free + 3 * at + 3, free:]
        rows[:, :3], rows[:, 3:] = np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    held = [tie.T @ matrix.toarray()[12:, 12:] @ tie for matrix in (stiffness, mass)]
    expected = np.sqrt(scipy.linalg.eigh(*held, eigvals_only=True)[:3])
    found = np.sqrt(np.diag(np.array(body.reduced.stiffness)) / np.diag(np.array(body.reduced.mass_matrix)))[:3]
    np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_what_is_wrong_with_matrices_is_told() -> None:
    places, mass, stiffness = lattice()

    def body(**other: object) -> lissom.spec.Body:
        given = {"mass": mass, "stiffness": stiffness, "nodes": places, "interfaces": {"root": range(4)}}
        return lissom.body_from_matrices("link", **(given | {"basis": {"clamped_free": {"modes": 2}}} | other))  # type: ignore[arg-type]

    with pytest.raises(ValueError, match="nodes × 3"):
        body(nodes=places[:, :2])
    with pytest.raises(IndexError, match="nodes 0 to 27"):
        body(interfaces={"root": [99]})
    with pytest.raises(ValueError, match="belongs to 'root' and to 'tip'"):
        body(interfaces={"root": range(4), "tip": [3]})
    with pytest.raises(lissom.ModelError, match="link"):
        body(stiffness=stiffness[:-3, :-3])
    lopsided = stiffness.tolil()
    lopsided[0, 5] += 1e6
    with pytest.raises(lissom.ModelError, match="symmetric"):
        body(stiffness=lopsided)
