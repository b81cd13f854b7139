"""Regulators with Kalman filters, designed in python-control and read by the model from their files, against the same loops in python-control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lissom

control = pytest.importorskip("control")

SMALL_RAD = 1e-3
"""How far the arm is turned at first. What is not linear in its equations (the stiffening by rotation, the tip's path) is of third order in it."""
NOT_LINEAR = SMALL_RAD**2
"""What is of third order, as a part of what is of first; tolerances of the run are far below."""
POLES = 1e-4
"""Readings of nodes are known to 1e-6 in linear models, and poles move by up to some hundred times as much."""
PERIOD_S = 2e-3
MEASURED = ["encoder", "root_strain"]

MODEL = """
format = 1
[formulation.nodal]
elements_per_link = 2
[[body]]
name = "arm"
damping = { modal_ratio = 0.01 }
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 1.2
bending_stiffness_y_n_m2 = 60.0
basis.elements = { count = 2 }
[[payload]]
name = "gripper"
body = "arm"
mass_kg = 0.5
[[joint]]
name = "shoulder"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.001
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 40.0 }
[[marker]]
name = "hand"
body = "arm"
[[sensor]]
name = "encoder"
encoder = { joint = "shoulder", side = "motor" }
[[sensor]]
name = "root_strain"
strain = { body = "arm", at_m = 0.05, offset_m = [0.01, 0.0] }
[[controller]]
name = "lqg"
measures = ["encoder", "root_strain"]
drives = ["shoulder"]
state_space = { file = "lqg.npz" }
[simulation]
duration_s = 2.0
integrator.dop853 = { rtol = 1e-9, atol = 1e-13 }
[output]
sample_period_s = 0.002
"""

Matrices = dict[str, NDArray[np.float64]]


def plant_of(mech: lissom.Mechanism) -> lissom.Linearization:
    """Deviations from the arm that lies still at no angle, so that the torque is zero there."""
    return mech.linearize(mech.state({"shoulder.angle": 0.0}), inputs=["shoulder.torque"], outputs=MEASURED)


def weights(names: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What states cost, and how much the two readings are believed."""
    costs = [100.0 if name == "shoulder.angle" else 1.0 for name in names]
    return np.diag(costs), np.diag([1e-8, 1e-12])


def continuous(lin: lissom.Linearization) -> Matrices:
    """dx/dt = (A - B K - L C) x + L y, u = -K x."""
    plant = lin.to_control()
    cost, noise = weights(lin.states)
    K, _, _ = control.lqr(plant, cost, [[0.1]])
    L, _, _ = control.lqe(plant.A, plant.B, plant.C, [[1.0]], noise)
    return {"A": plant.A - plant.B @ K - L @ plant.C, "B": L, "C": -K, "D": np.zeros((1, 2))}


def sampled(lin: lissom.Linearization) -> Matrices:
    """The same from tick to tick, for a plant whose torque is held in between."""
    plant = lin.to_control(dt_s=PERIOD_S)
    cost, noise = weights(lin.states)
    K, _, _ = control.dlqr(plant, cost, [[0.1]])
    L, _, _ = control.dlqe(plant.A, plant.B, plant.C, [[1.0]], noise / PERIOD_S)
    return {"A": plant.A - plant.B @ K - L @ plant.C, "B": L, "C": -K, "D": np.zeros((1, 2))}


def loop_of(lin: lissom.Linearization, law: Matrices, dt_s: float | None) -> Any:
    """Plant and law in a ring, by python-control: its states are those of the plant, then those of the law."""
    plant = lin.to_control(dt_s=dt_s)
    system = control.ss(law["A"], law["B"], law["C"], law["D"], *([] if dt_s is None else [dt_s]))
    return control.feedback(control.ss(plant.A, plant.B, plant.C, plant.D, plant.dt), system, sign=1)


def arm(folder: Path, formulation: str, changes: dict[str, Any]) -> lissom.Model:
    text = MODEL if formulation == "nodal" else MODEL.replace("[formulation.nodal]\nelements_per_link = 2\n", "")
    path = folder / "arm.toml"
    path.write_text(text)
    return lissom.load(path, changes)


@pytest.mark.parametrize("formulation", ["tree", "nodal"])
@pytest.mark.parametrize("period_s", [None, PERIOD_S])
def test_an_lqg_from_a_file_is_the_loop_of_python_control(
    tmp_path: Path, formulation: str, period_s: float | None
) -> None:
    design = sampled if period_s else continuous
    changes: dict[str, Any] = {"controller.lqg.sampled": {"period_s": period_s}} if period_s else {}
    # any law that fits, for a plant to design by
    np.savez(tmp_path / "lqg.npz", D=np.zeros((1, 2)))
    lin = plant_of(arm(tmp_path, formulation, changes).build())
    law = design(lin)
    np.savez(tmp_path / "lqg.npz", **law)
    mech = arm(tmp_path, formulation, changes).build()
    run = mech.simulate()

    loop = loop_of(lin, law, period_s)
    start = np.zeros(loop.nstates)
    start[lin.states.index("shoulder.angle")] = SMALL_RAD
    motion = control.forced_response(loop, run.time_s, np.zeros((1, len(run.time_s))), start)
    # that there is something to compare: the loop is stable and the hand is still, the arm has moved far on its way there
    poles = np.linalg.eigvals(loop.A)
    assert (np.abs(poles) < 1.0).all() if period_s else (poles.real < 0.0).all()
    assert abs(run["shoulder.angle"][-1]) < 0.01 * SMALL_RAD < np.ptp(run["shoulder.angle"])
    for at, name in enumerate(MEASURED):
        expected = motion.outputs[at]
        off = np.abs(run[name] - expected).max()
        assert off < NOT_LINEAR * np.abs(expected).max(), (name, off / np.abs(expected).max())
    for at in range(len(lin.states)):
        expected = motion.states[len(lin.states) + at]
        size = np.abs(expected).max()
        found = run[f"lqg.state_{at + 1}"]
        # a sample at a tick is taken behind it
        found, expected = (found[:-1], expected[1:]) if period_s else (found, expected)
        assert np.abs(found - expected).max() < NOT_LINEAR * size

    if period_s is None:
        closed = mech.linearize(mech.state({"shoulder.angle": 0.0}), outputs=MEASURED, closed_loop=True)
        own = np.linalg.eigvals(closed.A)
        assert len(own) == len(poles)
        for pole in poles:
            assert np.abs(own - pole).min() < POLES * np.abs(pole), pole
