"""Meshes and matrices of CalculiX, by the program itself (Debian's ``calculix-ccx``)."""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_runs import lissom

CALCULIX = os.environ.get("CALCULIX") or shutil.which("ccx") or "ccx"

CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]

# what is printed of frequencies has seven digits
PRINTED = 1e-4
# matrices have fourteen
STORED = 1e-8
# squared frequencies change by terms of third and higher order in the load too
STIFFENED = 0.02


Place = tuple[float, float, float]


def bar(cells: int, size: Place, bend: Callable[[Place], Place] = lambda place: place) -> str:
    """A bar of quadratic hexahedra along x, bent as told, as an input file of CalculiX without its step."""
    middles = [tuple((CORNERS[a][k] + CORNERS[b][k]) // 2 for k in range(3)) for a, b in EDGES]
    numbers: dict[tuple[int, ...], int] = {}
    elements = []
    for cell in range(cells):
        places = [(2 * cell + i, j, k) for i, j, k in itertools.chain(CORNERS, middles)]
        elements.append([numbers.setdefault(place, len(numbers) + 1) for place in places])
    lines = ["*NODE, NSET=ALL"]
    for (i, j, k), number in numbers.items():
        x, y, z = bend((size[0] * i / (2 * cells), size[1] * (j / 2 - 0.5), size[2] * (k / 2 - 0.5)))
        # it reads twenty letters of a number
        lines.append(f"{number}, {x:.12e}, {y:.12e}, {z:.12e}")
    lines.append("*ELEMENT, TYPE=C3D20, ELSET=BAR")
    for number, nodes in enumerate(elements, 1):
        lines.append(f"{number}, {', '.join(map(str, nodes[:10]))},")
        lines.append(", ".join(map(str, nodes[10:])))
    for name, end in (("ROOT", 0), ("TIP", 2 * cells)):
        lines.append(f"*NSET, NSET={name}")
        lines += [f"{number}," for place, number in numbers.items() if place[0] == end]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", "2.0e11, 0.3", "*DENSITY", "7800."]
    lines += ["*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL", ""]
    return "\n".join(lines)


def calculix(folder: Path, job: str, text: str) -> None:
    (folder / f"{job}.inp").write_text(text)
    done = subprocess.run([CALCULIX, job], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def printed_frequencies(folder: Path, job: str) -> list[float]:
    lines = (folder / f"{job}.dat").read_text().splitlines()
    rows = [line.split() for line in lines]
    first = next(i for i, row in enumerate(rows) if row[:2] == ["MODE", "NO"])
    found = []
    for row in rows[first + 3 :]:
        if len(row) == 5:
            found.append(float(row[2]))
        elif found:
            break
    return found


def body(folder: Path, mesh: str) -> dict[str, Any]:
    """What Lissom makes of the bar, given by the keys of its mesh."""
    model = f"""format = 1
[[body]]
name = "bar"
[body.mesh]
file = "bar.inp"
{mesh}
[[joint]]
name = "hinge"
parent = "ground"
child = {{ body = "bar", at = "ROOT" }}
revolute = {{ axis = [0, 0, 1] }}
"""
    (folder / "model.toml").write_text(model)
    answer: dict[str, Any] = json.loads(lissom("body", "model.toml:bar", "--json", cwd=folder))
    return answer


def frequencies(told: dict[str, Any]) -> list[float]:
    return [mode["frequency_rad_per_s"] for mode in told["modes"]]


ENDS = """
interface = [{ name = "ROOT" }, { name = "TIP", tie = "averaging" }]
basis = { clamped_free = { modes = 6 } }
"""


def test_frequencies_are_those_of_calculix(tmp_path: Path) -> None:
    text = bar(8, (0.6, 0.05, 0.03))
    calculix(tmp_path, "held", text + "*BOUNDARY\nROOT, 1, 3\n*STEP\n*FREQUENCY\n6\n*END STEP\n")
    # without supports; the file also serves as the mesh
    calculix(tmp_path, "bar", text + "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n1\n*END STEP\n")
    wanted = printed_frequencies(tmp_path, "held")
    assert len(wanted) == 6
    material = "youngs_modulus_pa = 2.0e11, poisson_ratio = 0.3, density_kg_per_m3 = 7800.0"
    meshed = body(tmp_path, f"material = [{{ {material} }}]{ENDS}")
    assert frequencies(meshed) == pytest.approx(wanted, rel=PRINTED)
    assert meshed["stiffens"]
    matrices = 'matrices = { mass = "bar.mas", stiffness = "bar.sti", unknowns = "bar.dof" }'
    stored = body(tmp_path, f"{matrices}{ENDS}")
    assert frequencies(stored) == pytest.approx(wanted, rel=PRINTED)
    assert not stored["stiffens"]
    # the same elements integrated by the same rules: the same body
    assert frequencies(stored) == pytest.approx(frequencies(meshed), rel=STORED)
    assert stored["mass_kg"] == pytest.approx(meshed["mass_kg"], rel=STORED)
    assert stored["center_of_mass_m"] == pytest.approx(meshed["center_of_mass_m"], abs=STORED)
    for one, other in zip(stored["modes"], meshed["modes"], strict=True):
        assert one["mass_share"] == pytest.approx(other["mass_share"], abs=1e-6)


def test_matrices_with_supports_are_refused(tmp_path: Path) -> None:
    text = bar(2, (0.6, 0.05, 0.03)) + "*BOUNDARY\nROOT, 1, 3\n"
    calculix(tmp_path, "bar", text + "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n1\n*END STEP\n")
    matrices = 'matrices = { mass = "bar.mas", stiffness = "bar.sti", unknowns = "bar.dof" }'
    with pytest.raises(AssertionError, match="resists a rigid|without supports|has no nodes"):
        body(tmp_path, f"{matrices}{ENDS}")


def arc(place: Place) -> Place:
    """A hundred degrees of a circle that tapers, out of every plane of the axes."""
    x, y, z = place
    angle, radius = math.radians(100) * x, 0.5 - y * (1 - 0.3 * x)
    return (radius * math.sin(angle) + 0.3 * z, 0.5 - radius * math.cos(angle), z * (1 - 0.2 * x) + 0.2 * radius)


@pytest.mark.parametrize("load", ["force", "weight"])
def test_an_arc_stiffens_under_loads_as_in_calculix(tmp_path: Path, load: str) -> None:
    """Half the difference of squared frequencies between a load and its opposite: what is of first order in the load."""
    toward, tips = (0.6, -0.64, 0.48), 8
    deck = bar(14, (1.0, 0.02, 0.012), arc)
    (tmp_path / "bar.inp").write_text(deck)

    def squares_of_calculix(size: float) -> list[float]:
        force = [f"TIP, {k + 1}, {size * own / tips:.10e}" for k, own in enumerate(toward)]
        weight = f"BAR, GRAV, {size:.6e}, {toward[0]}, {toward[1]}, {toward[2]}"
        loads = ["*CLOAD", *force] if load == "force" else ["*DLOAD", weight]
        steps = ["*BOUNDARY", "ROOT, 1, 3", "*STEP, NLGEOM", "*STATIC", *loads, "*END STEP"]
        steps += ["*STEP, PERTURBATION", "*FREQUENCY", "4", "*END STEP", ""]
        calculix(tmp_path, "loaded", deck + "\n".join(steps))
        return [own**2 for own in printed_frequencies(tmp_path, "loaded")]

    def squares_here(size: float) -> list[float]:
        model = f"""format = 1
gravity_m_per_s2 = {[size * own if load == "weight" else 0.0 for own in toward]}
[[body]]
name = "bar"
[body.mesh]
file = "bar.inp"
material = [{{ youngs_modulus_pa = 2.0e11, poisson_ratio = 0.3, density_kg_per_m3 = 7800.0 }}]
interface = [{{ name = "ROOT" }}, {{ name = "TIP", tie = "averaging" }}]
basis.craig_bampton = {{ modes = 20 }}
[[joint]]
name = "weld"
parent = "ground"
child = {{ body = "bar", at = "ROOT" }}
fixed = {{}}
[[marker]]
name = "end"
body = "bar"
at = "TIP"
"""
        if load == "force":
            model += f"""[[input]]
marker = "end"
direction = {list(toward)}
force_constant = {{ value_n = {size} }}
"""
        (tmp_path / "model.toml").write_text(model)
        told = json.loads(lissom("modes", "model.toml", "--about", "equilibrium", "--count", "4", "--json", cwd=tmp_path))
        return [mode["frequency_squared"][0] for mode in told["modes"]]

    def changes(squares: Callable[[float], list[float]]) -> list[float]:
        size = {"force": 10.0, "weight": 60.0}[load]
        return [0.5 * (one - other) / (one + other) for one, other in zip(squares(size), squares(-size), strict=True)]

    wanted, found = changes(squares_of_calculix), changes(squares_here)
    # what is printed has seven digits
    assert found == pytest.approx(wanted, rel=STIFFENED, abs=4e-7)
