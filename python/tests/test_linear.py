"""Linear models and the bridges to other packages."""

from __future__ import annotations

import numpy as np
import pytest

import lissom


@pytest.fixture(scope="module")
def lin(arm: lissom.Mechanism) -> lissom.Linearization:
    return arm.linearize(arm.start())


def test_matrices_are_derivatives(arm: lissom.Mechanism, lin: lissom.Linearization) -> None:
    """By central differences of the forward dynamics, whose errors are of second order in the step."""
    x = arm.start().x
    n = len(arm.positions)
    assert lin.states == list(arm.positions) + list(arm.velocities)

    def rates(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], arm.forward_dynamics(x)])

    step = 1e-6
    columns = [(rates(x + step * e) - rates(x - step * e)) / (2 * step) for e in np.eye(2 * n)]
    np.testing.assert_allclose(lin.A, np.array(columns).T, atol=2e-4 * np.abs(lin.A).max())


def test_select_chooses_by_name(lin: lissom.Linearization) -> None:
    chosen = lin.select(inputs=["elbow.torque"], outputs=["elbow.angle", "hand.position.x"])
    assert chosen.B.shape == (16, 1) and chosen.C.shape == (2, 16) and chosen.D.shape == (2, 1)
    assert np.array_equal(chosen.B[:, 0], lin.B[:, lin.inputs.index("elbow.torque")])
    assert chosen.C[0, lin.states.index("elbow.angle")] == 1.0 and np.abs(chosen.C[0]).sum() == 1.0
    assert "H_output" in lin.select(inputs=["elbow.torque"]).arrays and "H_output" not in chosen.arrays
    with pytest.raises(TypeError, match="outputs"):
        lin.select(outputs="elbow.angle")
    with pytest.raises(ValueError, match="elbow.torque"):
        lin.select(inputs=["elbw.torque"])


def test_outputs_have_the_values_that_they_deviate_from() -> None:
    """Motors behind elastic gears are outputs beside the positions of markers."""
    mech = lissom.shipped("flexible-joint").build()
    state = mech.state({"drive.angle": 0.3, "drive.motor_angle": 0.4})
    found = mech.linearize(state)
    assert found.y0.shape == (len(found.outputs),)
    assert dict(zip(found.outputs, found.y0, strict=True))["drive.motor_angle"] == 0.4
    chosen = found.select(outputs=["drive.motor_angle", "tip.position.x", "drive.angle"])
    tip = mech.marker_pose(state, "tip")[0, 3]
    np.testing.assert_allclose(chosen.y0, [0.4, tip, 0.3], atol=1e-12)


@pytest.mark.parametrize("changes", [{}, {"formulation": {"nodal": {}}}], ids=["tree", "nodal"])
@pytest.mark.parametrize("name", ["slider-crank", "planar-3rrr", "floating-shuttle-arm"])
def test_joints_that_follow_are_outputs_with_their_values(name: str, changes: dict[str, object]) -> None:
    """What a simulator reads at the same state; where loops close, some joints are no states."""
    pytest.importorskip("control")
    mech = lissom.shipped(name, changes).build()
    found = mech.linearize()
    read = mech.simulator(dt_s=1e-3, inputs=[], outputs=found.outputs).read()
    np.testing.assert_allclose(found.y0, read, atol=1e-9)
    assert np.array_equal(found.to_control().y0, found.y0)


def test_joints_that_follow_are_outputs_along_a_motion() -> None:
    mech = lissom.shipped("slider-crank").build()
    along = mech.linearize(about="run", times_s=[0.0, 0.02])
    recorded = mech.simulate(duration_s=0.02)
    assert along.y0.shape == (2, len(along.outputs))
    np.testing.assert_allclose(along.y0[1], [recorded[own][-1] for own in along.outputs], atol=1e-9)


def test_inputs_are_those_that_are_driven_unless_named() -> None:
    mech = lissom.shipped("four-bar").build()
    found = mech.linearize()
    assert found.inputs == ["motor.torque"] and found.B.shape[-1] == found.D.shape[-1] == 1
    both = mech.linearize(inputs=["crank_pin.torque", "motor.torque"])
    assert np.array_equal(both.B[:, 1:], found.B)


def test_a_motion_is_interpolated(arm: lissom.Mechanism) -> None:
    along = arm.linearize(about="run", times_s=[0.0, 0.1, 0.2])
    assert along.is_trajectory and along.A.shape == (3, 16, 16)
    assert np.array_equal(along.at(0.1).A, along.A[1])
    np.testing.assert_allclose(along.at(0.05).A, 0.5 * (along.A[0] + along.A[1]), rtol=1e-12)
    with pytest.raises(ValueError, match="at"):
        along.to_scipy()


def test_python_control(lin: lissom.Linearization) -> None:
    control = pytest.importorskip("control")
    plant = lin.to_control()
    assert plant.input_labels == [name.replace(".", "_") for name in lin.inputs]
    sampled = lin.to_control(dt_s=1e-3)
    assert sampled.dt == 1e-3 and sampled.state_labels == plant.state_labels
    import scipy.linalg

    np.testing.assert_allclose(sampled.A, scipy.linalg.expm(lin.A * 1e-3), atol=1e-9)
    assert isinstance(plant, control.StateSpace)
    assert np.array_equal(sampled.x0, lin.x0) and np.array_equal(sampled.y0, lin.y0) and sampled.u0.shape == (2,)


def test_names_that_python_control_cannot_tell_apart_are_refused_early() -> None:
    model = lissom.shipped("flexible-joint").to_dict()
    other = dict(model["joint"][0], name="drive_motor", parent={"body": "link", "at": "tip"}, child="hand")
    hand = {"name": "hand", "rigid": {"mass_kg": 0.1, "inertia_kg_m2": [1e-3] * 3}}
    built = lissom.Model.from_dict(dict(model, joint=[*model["joint"], other], body=[*model["body"], hand]))
    with pytest.raises(lissom.ModelError, match="'drive_motor.angle' and 'drive.motor_angle'") as caught:
        built.build()
    (problem,) = caught.value.problems
    assert "drive_motor.angle" in problem.message and problem.remedy == caught.value.remedy == "rename a joint, body or marker"
    # names of channels too: a marker `a` and a marker `a_position`, of which one says `a.position.x`
    markers = [dict(model["marker"][0], name=name) for name in ("a.position", "a_position")]
    with pytest.raises(lissom.ModelError, match="rename a joint, body or marker"):
        lissom.Model.from_dict(dict(model, marker=markers)).build()


def test_scipy(arm: lissom.Mechanism, lin: lissom.Linearization) -> None:
    scipy = pytest.importorskip("scipy")
    import scipy.integrate

    system = lin.to_scipy()
    assert np.array_equal(system.A, lin.A)
    start = arm.start()
    solved = scipy.integrate.solve_ivp(
        arm.rhs({"shoulder.torque": 1.5, "elbow.torque": -0.5}), (0.0, 0.05), start.x, rtol=1e-9, atol=1e-11
    )
    sim = arm.simulator(start, dt_s=0.05)
    y = sim.step([1.5, -0.5])
    np.testing.assert_allclose(solved.y[:, -1], y, atol=1e-6)
