"""What the equations say of states: identities that hold for any mechanism, and batches."""

from __future__ import annotations

import copy
import importlib
import json
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lissom

MODELS = ["two-link-arm", "space-arm", "branched-tree", "shuttle-arm", "rotating-beam"]


def random_states(mech: lissom.Mechanism, count: int) -> np.ndarray:
    """States near the start, of a mechanism without loops."""
    rng = np.random.default_rng(7)
    start = mech.free_state(mech.start())
    return start + 0.01 * rng.standard_normal((count, start.size))


@pytest.mark.parametrize("name", MODELS)
def test_forward_dynamics_inverts_inverse_dynamics(name: str) -> None:
    mech = lissom.shipped(name).build()
    x = random_states(mech, 3)
    n = len(mech.free_velocities)
    force = np.random.default_rng(1).standard_normal((3, n))
    acceleration = mech.forward_dynamics(x, force)
    needed = mech.inverse_dynamics(x, acceleration)
    scale = np.abs(mech.bias(x)).max() + np.abs(force).max()
    np.testing.assert_allclose(needed, force, atol=1e-8 * scale, rtol=0)
    by_matrix = np.einsum("bij,bj->bi", mech.mass_matrix(x), acceleration) + mech.bias(x)
    np.testing.assert_allclose(by_matrix, force, atol=1e-8 * scale, rtol=0)


@pytest.mark.parametrize("name", ["two-link-arm", "shuttle-arm", "space-arm"])
def test_evaluations_are_those_of_the_command(name: str, command: list[str], tmp_path: Path) -> None:
    """To the last bit: JSON holds every digit."""
    mech = lissom.shipped(name).build()
    n_q, n = len(mech.free_positions), len(mech.free_velocities)
    rng = np.random.default_rng(9)
    x = mech.free_state(mech.start())
    x[n_q:] = 0.1 * rng.standard_normal(n)
    force, acceleration = rng.standard_normal((2, n))
    asked = {"position": x[:n_q], "velocity": x[n_q:], "force": force, "acceleration": acceleration}
    path = tmp_path / "state.json"
    path.write_text(json.dumps({key: array.tolist() for key, array in asked.items()}))
    words = [*command, "eval", name, "--state", str(path), "--json"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    found = mech.evaluate(x, force, acceleration)
    assert np.array_equal(found.mass_matrix, told["mass_matrix"]) and np.array_equal(found.bias, told["bias"])
    assert np.array_equal(found.acceleration, told["acceleration"])
    assert found.inverse_dynamics is not None and np.array_equal(found.inverse_dynamics, told["inverse_dynamics"])


@pytest.mark.parametrize("name", MODELS[:-1])
def test_jacobians_are_derivatives_of_poses(name: str) -> None:
    mech = lissom.shipped(name).build()
    x = random_states(mech, 1)[0]
    n_q, n_v = len(mech.free_positions), len(mech.free_velocities)
    marker = mech.markers[-1]
    jacobian = mech.jacobian(x, marker)
    assert jacobian.shape == (6, n_v)
    twist = mech.marker_twist(x, marker)
    at_rest = mech.marker_twist(np.concatenate([x[:n_q], np.zeros(n_v)]), marker)
    np.testing.assert_allclose(jacobian @ x[n_q:] + at_rest, twist, atol=1e-9)
    rotation = mech.marker_pose(x, marker)[:3, :3]
    turned = mech.jacobian(x, marker, axes="marker")
    np.testing.assert_allclose(rotation @ turned[:3], jacobian[:3], atol=1e-12)
    if n_q == n_v:  # central differences, second order in the step
        for column, step in enumerate(1e-6 * np.eye(n_q)):
            moved = [mech.marker_pose(np.concatenate([x[:n_q] + s * step, x[n_q:]]), marker) for s in (1, -1)]
            slope = (moved[0] - moved[1])[:3, 3] / 2e-6
            np.testing.assert_allclose(jacobian[3:, column], slope, atol=1e-6)


@pytest.mark.parametrize("name", [*MODELS, "four-bar", "planar-3rrr"])
def test_derivatives_are_those_of_the_accelerations(name: str) -> None:
    """Central differences, whose error is of second order in the step: quaternions are turned by integrate. Accelerations are polynomials of second
    degree in the velocities, so that their step may be long, and rounding small."""
    step, velocity_step = 3e-6, 1e-3
    mech = lissom.shipped(name).build()
    n_q, n = len(mech.free_positions), len(mech.free_velocities)
    x = mech.free_state(mech.start())
    rng = np.random.default_rng(2)
    q, v = mech.integrate(x[:n_q], 0.01 * rng.standard_normal(n)), rng.standard_normal(n)
    force = rng.standard_normal(n)
    found = mech.derivatives(np.concatenate([q, v]), force)

    def accelerations(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        rows = [np.broadcast_to(own, (n, own.shape[-1])) for own in (positions, velocities)]
        return mech.forward_dynamics(np.concatenate(rows, axis=-1), force)

    steps = step * np.eye(n)
    by_position = accelerations(mech.integrate(q, steps), v) - accelerations(mech.integrate(q, -steps), v)
    velocity_steps = velocity_step * np.eye(n)
    by_velocity = accelerations(q, v + velocity_steps) - accelerations(q, v - velocity_steps)
    for exact, by_steps, length in ((found.position, by_position, step), (found.velocity, by_velocity, velocity_step)):
        np.testing.assert_allclose(exact, by_steps.T / (2.0 * length), atol=1e-6 * np.abs(exact).max())
    if name in MODELS:  # loops keep accelerations from being those of the mass matrix
        mass = mech.mass_matrix(np.concatenate([q, v]))
        rounding = 1e-12 * np.abs(found.force) @ np.abs(mass)
        assert (np.abs(found.force @ mass - np.eye(n)) <= rounding).all()
    batch = mech.derivatives(np.tile(np.concatenate([q, v]), (2, 3, 1)), force)
    assert batch.velocity.shape == (2, 3, n, n) and np.array_equal(batch.velocity[1, 2], found.velocity)


def test_both_formulations_have_the_same_jacobian() -> None:
    """Joints of the straight arm turn its hand alike, whatever the deformations are described by."""
    tree = lissom.shipped("two-link-arm").build()
    nodal = tree.model.replace({"formulation": {"nodal": {"elements_per_link": 1}}}).build()
    values = {"shoulder.angle": 0.4, "elbow.angle": -0.9}
    found = [
        dict(zip(mech.free_velocities, mech.jacobian(mech.state(values), "hand").T, strict=True))
        for mech in (tree, nodal)
    ]
    for rate in ("shoulder.angle.rate", "elbow.angle.rate"):
        np.testing.assert_allclose(found[1][rate], found[0][rate], atol=1e-12)


def test_kinetic_energy_is_that_of_the_mass_matrix(arm: lissom.Mechanism, state: lissom.State) -> None:
    v = state.velocity
    energy = arm.energy(state)
    assert energy.kinetic == pytest.approx(0.5 * v @ arm.mass_matrix(state) @ v, rel=1e-12)
    assert energy.total == energy.kinetic + energy.strain + energy.gravity


def test_a_batch_is_its_members(arm: lissom.Mechanism) -> None:
    x = random_states(arm, 6).reshape(2, 3, -1)
    force = np.arange(8.0)
    for evaluate in (
        arm.mass_matrix,
        arm.bias,
        lambda x, out=None: arm.forward_dynamics(x, force, out=out),
        lambda x, out=None: arm.inverse_dynamics(x, force, out=out),
        lambda x, out=None: arm.marker_pose(x, "hand", out=out),
    ):
        batch = evaluate(x)
        assert batch.shape[:2] == (2, 3)
        for at in np.ndindex(2, 3):
            assert np.array_equal(batch[at], evaluate(x[at]))
        out = np.full_like(batch, np.nan)
        assert evaluate(x, out=out) is out and np.array_equal(out, batch)
    strided = np.repeat(x, 2, axis=-1)[..., ::2]
    assert np.array_equal(arm.bias(strided), arm.bias(x))
    assert arm.bias(x[:0]).shape == (0, 3, 8)


def test_shapes_that_do_not_fit_are_refused(arm: lissom.Mechanism, state: lissom.State) -> None:
    with pytest.raises(ValueError, match="16 entries"):
        arm.bias(np.zeros(11))
    with pytest.raises(ValueError, match="force"):
        arm.forward_dynamics(np.zeros((2, 16)), np.zeros((3, 8)))
    with pytest.raises(ValueError, match="out"):
        arm.bias(state, out=np.zeros(5))
    with pytest.raises(TypeError, match="float64"):
        arm.bias(state, out=np.zeros(8, dtype=np.float32))
    x = state.x.copy()
    with pytest.raises(ValueError, match="shares its memory"):
        arm.bias(x, out=x[8:])
    fixed = np.zeros(8)
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="cannot be written"):
        arm.bias(state, out=fixed)
    with pytest.raises(ValueError, match="hand"):
        arm.jacobian(state, "hnd")
    with pytest.raises(ValueError, match="shoulder.angle"):
        arm.state({"sholder.angle": 0.0})
    with pytest.raises(ValueError, match="finite"):
        arm.state_at(np.full(16, np.nan))
    for time_s in (np.nan, np.inf):
        for refused in (
            lambda: arm.state_at(state.x, time_s=time_s),
            lambda: arm.state(time_s=time_s),
            lambda: state.replace({}, time_s=time_s),
            lambda: arm.rhs()(time_s, state.x),
            lambda: arm.bias(state, time_s=time_s),
        ):
            with pytest.raises(ValueError, match="time_s"):
                refused()


def test_states_of_another_mechanism_are_refused(arm: lissom.Mechanism, state: lissom.State) -> None:
    other = lissom.shipped("four-bar").build()
    sim = other.simulator(dt_s=1e-3)
    for refused in (
        lambda: other.bias(state),
        lambda: other.free_state(state),
        lambda: other.simulate(state),
        lambda: other.equilibrium(state),
        lambda: other.linearize(state),
        lambda: other.modes(state),
        lambda: other.perturb(state),
        lambda: other.converge(state),
        lambda: other.simulator(state, dt_s=1e-3),
        lambda: sim.reset(state),
        lambda: other.rollout(state, np.zeros((1, 1, len(other.inputs))), dt_s=1e-3),
    ):
        with pytest.raises(ValueError, match="another mechanism"):
            refused()
    # one of an equal model that was built again fits, and the mechanism that is asked is the one that moves
    assert arm.simulator(pickle.loads(pickle.dumps(state)), dt_s=1e-3).state["elbow.angle"] == -0.7
    heavy = arm.model.replace({"payload.gripper.mass_kg": 5.0}).build()
    found = [one.simulator(state, dt_s=1e-2).step([1.0, 0.0]) for one in (heavy, arm)]
    expected = heavy.simulator(heavy.state_at(state.x), dt_s=1e-2).step([1.0, 0.0])
    np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-9)
    assert np.abs(found[0] - found[1]).max() > 1e-4


@pytest.mark.parametrize("name", ["four-bar", "planar-3rrr"])
def test_loops_stay_closed(name: str) -> None:
    """Accelerations by multipliers are those of a run, which solves for independent coordinates."""
    mech = lissom.shipped(name).build()
    assert mech.free_velocities == mech.velocities and not mech.model.to_dict().get("controller")
    start = mech.start()
    ahead = mech.simulate(start, duration_s=0.05).last
    assert ahead is not None
    nothing = dict.fromkeys(mech.inputs, 0.0)
    for state in (start, ahead):
        expected = mech.rhs(nothing, state)(state.time_s, state.x)[len(mech.positions) :]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(mech.forward_dynamics(state), expected, atol=1e-7 * scale)


def test_states_by_name_and_by_array(arm: lissom.Mechanism, state: lissom.State) -> None:
    assert state["elbow.angle"] == -0.7
    assert np.array_equal(state.x, np.concatenate([state.position, state.velocity]))
    assert np.array_equal(arm.state_at(state.x).x, state.x)
    other = state.replace({"elbow.angle": 0.1}, time_s=0.05)
    assert other["elbow.angle"] == 0.1 and other["shoulder.angle"] == 0.3 and other.time_s == 0.05
    with pytest.raises(KeyError):
        state["no.such"]


def test_studies_begin_at_states_names_or_arrays(arm: lissom.Mechanism, state: lissom.State) -> None:
    named = dict(zip(state.names(), state.x, strict=True))
    assert arm.state(named) == state != arm.start()
    for start in (named, state.x):
        assert arm.simulate(start, duration_s=0.02) == arm.simulate(state, duration_s=0.02)
        assert np.array_equal(arm.linearize(start).A, arm.linearize(state).A)
        assert np.array_equal(arm.simulator(start, dt_s=1e-3).read(), arm.simulator(state, dt_s=1e-3).read())
    assert lissom.Mechanism(arm.model).positions == arm.positions
    assert isinstance(arm.energy(state).total, float)
    with pytest.raises(ValueError, match="mechanism.positions"):
        arm.state({"wrist": 0.0})


def test_prescribed_joints_are_free_in_evaluations() -> None:
    mech = lissom.shipped("slider-crank").build()
    start = mech.start()
    assert len(mech.free_velocities) == len(mech.velocities) + 1
    assert mech.bias(start).shape == (len(mech.free_velocities),)
    assert np.array_equal(mech.bias(start), mech.bias(mech.free_state(start)))


def test_pickles_and_copies(arm: lissom.Mechanism, state: lissom.State) -> None:
    again = pickle.loads(pickle.dumps(arm))
    assert np.array_equal(again.bias(state.x), arm.bias(state))
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert np.array_equal(other.x, state.x) and other.time_s == state.time_s
    last = arm.simulate(duration_s=0.01).last
    assert last is not None and pickle.loads(pickle.dumps(last)).to_json() == last.to_json()


def test_threads_share_a_mechanism(arm: lissom.Mechanism) -> None:
    x = random_states(arm, 200)
    alone = arm.forward_dynamics(x)
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(arm.forward_dynamics(x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, alone) for one in found)


def test_equilibrium_is_where_nothing_moves() -> None:
    mech = lissom.shipped("two-link-arm", {"input": []}).build()
    found = mech.equilibrium()
    assert found.stability == "stable"
    np.testing.assert_allclose(mech.forward_dynamics(found.state), 0.0, atol=1e-6)


@pytest.mark.parametrize("study", ["equilibrium", "start"])
def test_ctrl_c_ends_a_search_for_an_equilibrium(
    study: str, interrupt_after: Callable[[float], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain of a hundred and fifty flexible links, stretched out at first, which takes seconds to find how it hangs."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "../tools"))
    model = importlib.import_module("bench").chain(150, 2)
    mech = model.replace({"simulation.initial": "equilibrium"}).build()
    written = mech.state()
    interrupt_after(0.2)
    with pytest.raises(lissom.Interrupted):
        mech.equilibrium(written) if study == "equilibrium" else mech.start()


def test_modes_are_those_of_the_linear_model(arm: lissom.Mechanism) -> None:
    start = arm.start()
    modes = arm.modes(start, free=True, count=3)
    lin = arm.linearize(start)
    eigenvalues = np.linalg.eigvals(lin.A)
    for frequency in modes.frequency_rad_per_s[:, 0]:
        assert np.abs(np.abs(eigenvalues) - frequency).min() < 0.01 * frequency


@pytest.mark.parametrize(
    ("name", "words", "asked"),
    [
        ("shuttle-arm", ["--about", "nominal", "--points", "21"], {"about": "nominal", "points": 21}),
        ("two-link-arm", ["--free", "--count", "3", "--case", "5"], {"free": True, "count": 3, "case": 5}),
        ("spatial-two-link", ["--closed-loop"], {"closed_loop": True}),
    ],
)
def test_modes_are_those_of_the_command(name: str, words: list[str], asked: dict[str, Any]) -> None:
    """To the last bit: frequencies, damping, eigenvalues and shapes, what grows, and where modes of the Shuttle arm meet."""
    modes = lissom.shipped(name).build().modes(**asked)
    called = subprocess.run(
        [sys.executable, "-m", "lissom", "modes", name, *words, "--json"], check=True, capture_output=True
    )
    told = json.loads(called.stdout)
    own = {key: np.array([mode[key] for mode in told["modes"]], dtype=np.float64) for key in told["modes"][0] if key != "growth"}
    assert modes.time_s.tolist() == told["time_s"]
    for key in ("frequency_rad_per_s", "damping_ratio", "growth_per_s", "mac", "shape"):
        np.testing.assert_array_equal(getattr(modes, key), own[key])
    np.testing.assert_array_equal(modes.eigenvalues.real, own["eigenvalues"][..., 0])
    np.testing.assert_array_equal(modes.eigenvalues.imag, own["eigenvalues"][..., 1])
    assert [[[root.real, root.imag] for root in roots] for roots in modes.growing] == told["growing"]
    assert [[[root.real, root.imag] for root in roots] for roots in modes.further] == told["further"]
    assert (modes.coordinates, modes.held, modes.rigid) == (told["coordinates"], told["held"], told["rigid_motions"])
    assert modes.judged_all == (told["judged"] == "all")
    met = [{"time_s": met.time_s, "modes": [at + 1 for at in met.modes], "kind": met.kind} for met in modes.encounters]
    assert met == told["encounters"] and bool(met) == (name == "shuttle-arm")


def test_modes_refuse_what_the_command_refuses(arm: lissom.Mechanism) -> None:
    with pytest.raises(ValueError, match="cases 1, 3 and 5"):
        arm.modes(case=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no \\[\\[controller"):
        arm.modes(closed_loop=True)
    with pytest.raises(ValueError, match="one of them"):
        arm.modes(about="nominal", times_s=[0.1], points=3)
    with pytest.raises(ValueError, match="about="):
        arm.modes(points=3)


def test_few_modes_of_many_are_sought_alone() -> None:
    """A hanging chain of 256 links with friction, of which two modes are asked for: eigenvalues of the complete equations."""
    links = 256
    rigid = {"mass_kg": 1.0, "center_of_mass_m": [0.05, 0.0, 0.0], "inertia_kg_m2": [1e-4, 1e-3, 1e-3]}
    friction = {"viscous_n_m_s_per_rad": 1e-3}
    joints = [
        {
            "name": f"joint_{at}",
            "parent": {"body": f"link_{at - 1}", "position_m": [0.1, 0.0, 0.0]} if at else "ground",
            "child": f"link_{at}",
            "revolute": {"axis": [0.0, 0.0, 1.0], "friction": friction, "initial_angle_rad": 0.0 if at else -math.pi / 2},
        }
        for at in range(links)
    ]
    bodies = [{"name": f"link_{at}", "rigid": rigid} for at in range(links)]
    model = {"format": 1, "gravity_m_per_s2": [0.0, -9.81, 0.0], "body": bodies, "joint": joints}
    mech = lissom.Model.from_dict(model).build()
    found = mech.modes(count=2)
    assert not found.judged_all and found.shape.shape == (2, 1, links)
    complete = np.linalg.eigvals(mech.linearize().A)
    for root in found.eigenvalues[:, 0, 0]:
        assert np.abs(complete - root).min() < 1e-6 * abs(root)


def test_all_inputs_of_a_linear_model_can_be_asked_for() -> None:
    mech = lissom.shipped("four-bar").build()
    driven, everything = mech.linearize(), mech.linearize(inputs="all")
    assert set(driven.inputs) < set(everything.inputs)
    columns = [everything.inputs.index(name) for name in driven.inputs]
    np.testing.assert_array_equal(everything.B[:, columns], driven.B)


def test_markers_are_placed_and_loops_closed(tmp_path: Path) -> None:
    """The answer of the command to the same question, and where the marker is then."""
    mech = lissom.shipped("planar-3rrr").build()
    marker = mech.markers[0]
    written = mech.marker_pose(mech.state(), marker)[:3, 3]
    asked = {"x": float(written[0]) + 0.01, "y": float(written[1]) - 0.005}
    state = mech.place({marker: asked}, rates={marker: {"x": 0.1}})
    np.testing.assert_allclose(mech.marker_pose(state, marker)[:2, 3], list(asked.values()), atol=1e-9)
    np.testing.assert_allclose(mech.marker_twist(state, marker)[3:5], [0.1, 0.0], atol=1e-9)
    (tmp_path / "state.json").write_text(json.dumps({"markers": {marker: {**asked, "velocity": {"x": 0.1}}}}))
    called = subprocess.run(
        [sys.executable, "-m", "lissom", "eval", "planar-3rrr", "--state", str(tmp_path / "state.json"), "--json"],
        check=True,
        capture_output=True,
    )
    told = json.loads(called.stdout)
    free = mech.free_state(state)
    np.testing.assert_allclose(free, [*told["position"], *told["velocity"]], atol=1e-12)
    closed = mech.evaluate_closed(state)
    assert closed.independent == [own["name"] for own in told["closed"]["independent"]]
    np.testing.assert_allclose(closed.mass_matrix, told["closed"]["mass_matrix"], rtol=1e-9)
    np.testing.assert_allclose(closed.acceleration, mech.forward_dynamics(state), rtol=1e-9, atol=1e-9)
    mass, bias = mech.mass_matrix(state), mech.bias(state)
    np.testing.assert_allclose(closed.complement.T @ mass @ closed.complement, closed.mass_matrix, rtol=1e-9)
    # what the closures carry does no work on the independent speeds
    left = closed.complement.T @ (mass @ closed.acceleration + bias)
    np.testing.assert_allclose(left, 0.0, atol=1e-9 * np.abs(bias).max())
    for name, carried in closed.closures.items():
        own = told["closed"]["closures"][name]
        np.testing.assert_allclose(carried, [*own["force_n"], *own["moment_n_m"]], rtol=1e-6, atol=1e-9)


def test_places_that_cannot_be_are_told(arm: lissom.Mechanism, state: lissom.State) -> None:
    reached = arm.place({"hand": {"x": 0.5, "y": 0.4}}, near=state)
    np.testing.assert_allclose(arm.marker_pose(reached, "hand")[:2, 3], [0.5, 0.4], atol=1e-9)
    assert reached["upper_arm.bending_y_1"] == 0.02
    for markers, told in (
        ({"hnad": {"x": 0.5}}, "did you mean \"hand\""),
        ({"hand": {"u": 0.5}}, "there are x, y, z, rotation_x"),
        ({"hand": {"x": float("nan")}}, "expected a finite number"),
        ({"hand": {"x": 50.0}}, "hand"),
    ):
        with pytest.raises(ValueError, match=told):
            arm.place(markers)
    with pytest.raises(ValueError, match="give both"):
        arm.place({"hand": {"x": 0.5}}, rates={"hand": {"y": 0.1}})
    with pytest.raises(ValueError, match="no loops"):
        arm.evaluate_closed(state)


def test_converge_and_compare_tell_what_the_command_tells(arm: lissom.Mechanism) -> None:
    short = arm.model.replace({"simulation.duration_s": 0.02}).build()
    found = short.converge()
    assert found["runs"] and all(run["steps"] > 0 for run in found["runs"])
    assert found["accuracy"] and all(one["error"] >= 0.0 for one in found["accuracy"])
    compared = short.compare(["consistent", "rigid"])
    assert [run["fidelity"] for run in compared["runs"]] == ["consistent", "rigid"]
    with pytest.raises(ValueError, match="rigid"):
        short.compare(["riggid"])
    with pytest.raises(ValueError, match="nodes and elements"):
        lissom.shipped("four-bar-elements").build().compare()


def test_perturb_follows_the_run_of_a_stiff_arm() -> None:
    mech = lissom.shipped("quarter-turn", {"simulation.duration_s": 0.2}).build()
    linear, full = mech.perturb(points=21), mech.simulate()
    name = next(own for own in linear if own in full and own.endswith(".position.x"))
    np.testing.assert_allclose(linear[name][-1], full[name][-1], atol=5e-3)
    coarse = mech.perturb(points=3)
    errors = [rec.summary["interpolation_error"]["error_m"] for rec in (linear, coarse)]
    assert 0.0 < errors[0] < errors[1]
    printed = mech.perturb(points=21, interpolation="state_space", first_order=True)
    assert not np.array_equal(printed[name], linear[name])
    np.testing.assert_allclose(printed[name][-1], full[name][-1], atol=5e-3)
    with pytest.raises(ValueError, match="state_space"):
        mech.perturb(interpolation="A")  # type: ignore[arg-type]


def test_perturb_keeps_what_holds() -> None:
    mech = lissom.shipped("four-bar", {"simulation.duration_s": 0.5}).build()
    with pytest.raises(lissom.SimulationError, match="off the nominal motion") as caught:
        mech.perturb(points=51)
    error = caught.value
    assert error.coordinate == "motor.angle"
    assert error.recording is not None and error.time_s is not None
    assert 0.3 < error.recording.time_s[-1] <= error.time_s < 0.4
    assert error.recording.summary["completed"] is False


def test_instants_of_a_motion_are_those_of_the_command() -> None:
    mech = lissom.shipped("quarter-turn", {"simulation.duration_s": 0.2}).build()
    modes = mech.modes(about="nominal", count=1)
    assert len(modes.time_s) == 51 and modes.time_s[-1] == 0.2
    with pytest.raises(ValueError, match="about="):
        mech.linearize(times_s=[0.1])
    with pytest.raises(ValueError, match="0.3"):
        mech.linearize(about="nominal", times_s=[0.1, 0.3])
