"""Reduced bodies as they are understood, and the files that keep them."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lissom


def block(cells: tuple[int, int, int]) -> str:
    """A bar of 0.4 x 0.04 x 0.03 m in hexahedra as Gmsh writes it, its ends the groups root and tip."""
    nx, ny, nz = cells
    places = itertools.product(range(nx + 1), range(ny + 1), range(nz + 1))
    number = {place: at for at, place in enumerate(places, 1)}
    nodes = [f"{n} {0.4 * i / nx} {0.04 * j / ny} {0.03 * k / nz}" for (i, j, k), n in number.items()]
    elements, around = [], ((0, 0), (1, 0), (1, 1), (0, 1))
    for end, group in ((0, 1), (nx, 2)):
        for j, k in itertools.product(range(ny), range(nz)):
            corners = [number[end, j + b, k + c] for b, c in around]
            elements.append(f"3 2 {group} {group} " + " ".join(map(str, corners)))
    for i, j, k in itertools.product(range(nx), range(ny), range(nz)):
        corners = [number[i + a, j + b, k + c] for c in (0, 1) for a, b in around]
        elements.append("5 2 3 3 " + " ".join(map(str, corners)))
    numbered = [f"{at} {own}" for at, own in enumerate(elements, 1)]
    names = ['2 1 "root"', '2 2 "tip"', '3 3 "steel"']
    parts = [
        ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "3", *names, "$EndPhysicalNames"],
        ["$Nodes", str(len(nodes)), *nodes, "$EndNodes", "$Elements", str(len(numbered)), *numbered, "$EndElements", ""],
    ]
    return "\n".join(line for part in parts for line in part)


MODEL = """
format = 1
[[body]]
name = "link"
[body.mesh]
file = "bar.msh"
material = [{ group = "steel", density_kg_per_m3 = 7800.0, youngs_modulus_pa = 2.0e11, poisson_ratio = 0.3 }]
interface = [{ name = "root", group = "root" }, { name = "tip", group = "tip" }]
basis = { craig_bampton = { modes = 4 } }
[[joint]]
name = "hub"
parent = "ground"
child = { body = "link", at = "root" }
revolute = { axis = [0.0, 0.0, 1.0] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bar")
    (folder / "bar.msh").write_text(block((8, 1, 1)), encoding="utf-8")
    (folder / "bar.toml").write_text(MODEL, encoding="utf-8")
    return folder


def test_a_body_of_a_mesh_is_told(folder: Path, command: list[str]) -> None:
    """Closed forms of a box, what is known of the model, and what the command tells."""
    model = lissom.load(folder / "bar.toml")
    body = model.body("link")
    mass = 7800.0 * 0.4 * 0.04 * 0.03
    assert body.name == "link" and body.mass_kg == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(body.center_of_mass_m, [0.2, 0.02, 0.015], rtol=1e-12)
    sizes = np.array([0.4, 0.04, 0.03])
    expected = np.diag(mass / 12.0 * ((sizes**2).sum() - sizes**2))
    np.testing.assert_allclose(body.inertia_kg_m2, expected, atol=1e-12 * mass)
    (told,) = model.check()["bodies"]
    assert told["frequencies_rad_per_s"] == pytest.approx(body.frequency_rad_per_s.tolist(), rel=1e-12)
    assert body.mass_share.shape == (10, 3) and 0.5 < body.mass_share.sum(axis=0).max() <= 1.0
    assert body.stiffens and body.rotation_stiffening is not None and body.rotation_stiffening.shape == (10, 3)
    (stiff,) = body.warnings
    assert "8 of 8 elements are linear" in stiff
    assert list(body.nodes) == ["root", "tip"] and body.nodes["tip"] == pytest.approx([0.4, 0.02, 0.015])
    # the interface functions of Craig and Bampton leave nothing out
    assert np.abs(body.missing_compliance["tip"]).max() < 1e-6
    words = [*command, "body", f"{folder / 'bar.toml'}:link", "--json"]
    assert json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout) == body.summary
    assert "ReducedBody 'link' of 3.744 kg with 10 modes" in repr(body)


def test_a_body_is_kept_in_a_file(folder: Path) -> None:
    body = lissom.load(folder / "bar.toml").body("link")
    body.save(folder / "kept.json")
    again = lissom.read_body(folder / "kept.json")
    assert again == body and again.crc32 == body.crc32 and again.missing_compliance == {}
    page = body.report(folder / "link.html")
    assert page == folder / "link.html" and f"link: {body.mass_kg:g} kg" in page.read_text(encoding="utf-8")
    text = MODEL.split("[body.mesh]")[0] + 'reduced_file = "kept.json"\n[[joint]]' + MODEL.split("[[joint]]")[1]
    (folder / "kept.toml").write_text(text, encoding="utf-8")
    one, other = (lissom.load(folder / name).build() for name in ("bar.toml", "kept.toml"))
    state = {"hub.angle": 0.3}
    assert np.array_equal(one.mass_matrix(one.state(state)), other.mass_matrix(other.state(state)))
    with pytest.raises(ValueError, match="does not end with .json"):
        body.save(folder / "kept")


def test_what_is_no_reduced_body_is_refused(folder: Path) -> None:
    model = lissom.shipped("frame-arm")
    name = model.to_dict()["body"][0]["name"]
    assert model.body(name).stiffens
    with pytest.raises(ValueError, match="did you mean"):
        model.body(name + "x")
    with pytest.raises(ValueError, match="not reduced from a mesh"):
        lissom.shipped("two-link-arm").body("forearm")
    with pytest.raises(FileNotFoundError, match="nowhere.json"):
        lissom.read_body(folder / "nowhere.json")
    (folder / "broken.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no body file"):
        lissom.read_body(folder / "broken.json")


def test_ctrl_c_ends_the_reduction_of_a_mesh(tmp_path: Path, interrupt_after: Callable[[float], object]) -> None:
    """Nearly nine thousand nodes, which take several seconds to reduce."""
    (tmp_path / "bar.msh").write_text(block((60, 12, 10)), encoding="utf-8")
    (tmp_path / "bar.toml").write_text(MODEL, encoding="utf-8")
    interrupt_after(0.3)
    with pytest.raises(lissom.Interrupted):
        lissom.load(tmp_path / "bar.toml")
