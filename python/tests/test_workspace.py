"""Motions, stiffness at a marker and maps, beside closed forms and the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lissom

ROUNDING = 1e-9
"""Of closed forms of two links, in SI units."""
UPPER_M, LOWER_M = 0.7, 0.4
LINK = """
[[body]]
name = "{name}"
rigid = {{ mass_kg = 1.0, center_of_mass_m = [{middle}, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }}
node = [{{ name = "end", position_m = [{length}, 0.0, 0.0] }}]
"""
JOINT = """
[[joint]]
name = "{name}"
parent = {parent}
child = "{child}"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {angle}
motor = {{ inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = {stiffness} }}
"""
STIFFNESS = (900.0, 400.0)
QUINTIC = {"quintic": {"final_angle_rad": 0.8, "duration_s": 0.4}}


def text() -> str:
    """Two rigid links of 0.7 and 0.4 m behind elastic gears."""
    parts = ["format = 1\n"]
    parts += [LINK.format(name=name, middle=length / 2, length=length) for name, length in (("upper", UPPER_M), ("lower", LOWER_M))]
    parts.append(JOINT.format(name="shoulder", parent='"ground"', child="upper", angle=0.0, stiffness=STIFFNESS[0]))
    elbow = '{ body = "upper", at = "end" }'
    parts.append(JOINT.format(name="elbow", parent=elbow, child="lower", angle=1.0, stiffness=STIFFNESS[1]))
    parts.append('[[marker]]\nname = "hand"\nbody = "lower"\nat = "end"\n[simulation]\nduration_s = 0.4\n')
    return "".join(parts)


@pytest.fixture(scope="module")
def model() -> lissom.Model:
    held = [{"joint": joint, "torque_constant": {"value_n_m": 0.0}} for joint in ("shoulder", "elbow")]
    return lissom.Model.from_text(text()).replace({"input": held})


def test_a_motion_takes_the_torques_that_the_command_tells(
    model: lissom.Model, command: list[str], tmp_path: Path
) -> None:
    driven = model.replace({"input": [{"joint": "shoulder", "rigid_inverse_dynamics": QUINTIC}]})
    mech = driven.build()
    found = mech.inverse()
    assert np.array_equal(found.time_s, mech.simulate(channels=["shoulder"]).time_s)
    (drive,) = found.summary["drives"]
    assert drive["name"] == "shoulder" and drive["effort"]["peak"]["value"] == pytest.approx(
        max(found["shoulder.torque"], key=abs), rel=0.0, abs=0.0
    )
    np.testing.assert_allclose(found["shoulder.power"], found["shoulder.torque"] * found["shoulder.rate"])
    assert np.ptp(found["shoulder.torque"]) > 1.0, "something is moved"
    (tmp_path / "arm.toml").write_text(driven.toml)
    told = subprocess.run(
        [*command, "inverse", "arm.toml", "--json"], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    assert json.loads(told.stdout)["drives"] == found.summary["drives"]

    named = mech.inverse([0.1, 0.2])
    assert np.array_equal(named.time_s, [0.1, 0.2])
    at = [int(np.argmin(abs(found.time_s - own))) for own in named.time_s]
    np.testing.assert_allclose(named["shoulder.torque"], found["shoulder.torque"][at], rtol=ROUNDING)
    with pytest.raises(lissom.SimulationError, match="nothing says what drives"):
        model.build().inverse()
    with pytest.raises(ValueError, match="say flexible"):
        mech.inverse(marker="hand")
    with pytest.raises(ValueError, match="quasi-static"):
        mech.inverse(flexible="rigid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="times_s"):
        mech.inverse([99.0])


def test_stiffness_at_a_marker_is_that_of_the_gears(model: lissom.Model) -> None:
    mech = model.build()
    found = mech.end_effector("hand", {"shoulder.angle": 0.3})
    q1, q2 = 0.3, 1.0
    columns = np.array(
        [
            [-UPPER_M * np.sin(q1) - LOWER_M * np.sin(q1 + q2), -LOWER_M * np.sin(q1 + q2)],
            [UPPER_M * np.cos(q1) + LOWER_M * np.cos(q1 + q2), LOWER_M * np.cos(q1 + q2)],
            [0.0, 0.0],
        ]
    )
    compliance = columns @ np.diag(1.0 / np.array(STIFFNESS)) @ columns.T
    np.testing.assert_allclose(found.compliance_m_per_n, compliance, atol=ROUNDING)
    assert found.is_stable and found.free is None and np.isnan(found.stiffness_n_per_m).all(), "nothing gives way along z"
    assert found.frequency_rad_per_s > 0.0
    with pytest.raises(ValueError, match="no marker"):
        mech.end_effector("foot")


def test_maps_of_joints_and_of_places(
    model: lissom.Model, interrupt_after: Callable[[float], object]
) -> None:
    mech = model.build()
    elbow = np.linspace(0.2, 2.6, 4)
    found = mech.map({"shoulder.angle": [-1.0, 0.0, 1.0], "elbow.angle": elbow})
    assert found.marker == "hand" and found.units == ("rad", "rad") and not found.errors
    assert found.manipulability.shape == (4, 3) and found.compliance_m_per_n.shape == (4, 3, 3, 3)
    expected = UPPER_M * LOWER_M * np.sin(elbow)
    np.testing.assert_allclose(found.manipulability, np.tile(expected[:, None], 3), rtol=1e-9)
    largest = np.linalg.eigvalsh(found.compliance_m_per_n)[..., -1]
    np.testing.assert_allclose(found.least_stiffness, 1.0 / largest, rtol=1e-9)

    places = mech.map({"hand.x": [0.5, 0.8, 1.4], "hand.y": [0.2, 0.4]}, threads=1)
    assert places.units == ("m", "m") and set(places.errors) == {(0, 2), (1, 2)}, "1.4 m is out of reach"
    np.testing.assert_allclose(places.position_m[1, 0], [0.5, 0.4, 0.0], atol=1e-8)
    assert np.isnan(places.lowest_frequency[0, 2]) and "2 of them" in repr(places)
    for wrong, said in [({"hand.x": [0.5, 0.8]}, "two coordinates"), ({"hand.x": [0.8, 0.5], "hand.y": [0.2, 0.4]}, "rise")]:
        with pytest.raises(ValueError, match=said):
            mech.map(wrong)

    pytest.importorskip("matplotlib").use("Agg")
    axes = places.plot("manipulability")
    assert axes.get_xlabel() == "hand.x [m]" and axes.get_ylabel() == "hand.y [m]"

    interrupt_after(0.2)
    many = np.linspace(-3.0, 3.0, 300)
    with pytest.raises(lissom.Interrupted):
        mech.map({"shoulder.angle": many, "elbow.angle": many})


def test_modes_shape_motions(model: lissom.Model) -> None:
    modes = model.build().modes()
    assert [own["frequency_rad_per_s"] for own in modes.vibrating] == pytest.approx(modes.frequency_rad_per_s[:, -1])
    driven = model.replace({"input": [{"joint": "shoulder", "rigid_inverse_dynamics": QUINTIC}]})
    shaped = driven.replace({"shaping.zvd": modes.vibrating})
    assert shaped.to_dict()["shaping"] == {"zvd": modes.vibrating}
