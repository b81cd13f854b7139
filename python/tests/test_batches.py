"""Many states and many members at once: the bits of single ones, whatever the batch, the order and the threads."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest

import lissom

OUTPUTS = ["shoulder.angle", "elbow.angle.rate", "hand.position.x", "energy.kinetic"]
ROWS = 150
"""More than one thread takes at a time."""


def states(mech: lissom.Mechanism, count: int) -> np.ndarray:
    """States about the start, quaternions of length one."""
    rng = np.random.default_rng(3)
    start = mech.free_state(mech.start())
    n_q, n_v = len(mech.free_positions), len(mech.free_velocities)
    q = mech.integrate(start[:n_q], 0.05 * rng.standard_normal((count, n_v)))
    return np.concatenate([q, rng.standard_normal((count, n_v))], axis=-1)


@pytest.mark.parametrize("name", ["two-link-arm", "space-arm", "shuttle-arm", "planar-3rrr", "flexible-joint"])
def test_a_batch_of_evaluations_has_the_bits_of_single_ones(name: str) -> None:
    mech = lissom.shipped(name).build()
    x = states(mech, ROWS)
    n = len(mech.free_velocities)
    given = np.random.default_rng(4).standard_normal((ROWS, n))
    marker = mech.markers[-1]
    asked: list[Callable[[np.ndarray, np.ndarray], np.ndarray]] = [
        lambda x, given: mech.mass_matrix(x),
        lambda x, given: mech.bias(x),
        lambda x, given: mech.forward_dynamics(x),
        lambda x, given: mech.forward_dynamics(x, given),
        lambda x, given: mech.inverse_dynamics(x, given),
        lambda x, given: mech.jacobian(x, marker),
        lambda x, given: mech.marker_pose(x, marker),
        lambda x, given: mech.energy(x).total,
        lambda x, given: mech.derivatives(x, given).position,
    ]
    for ask in asked:
        together = ask(x, given)
        assert np.isfinite(together).all()
        assert np.array_equal(together, [ask(x[at], given[at]) for at in range(ROWS)])
        with lissom.threads(1):
            assert np.array_equal(together, ask(x, given))
        order = np.random.default_rng(5).permutation(ROWS)
        assert np.array_equal(together[order], ask(x[order], given[order]))


def test_one_force_for_all_and_results_into_an_array(arm: lissom.Mechanism) -> None:
    x = states(arm, ROWS)
    n = len(arm.free_velocities)
    force = np.linspace(-1.0, 1.0, n)
    out = np.empty((ROWS, n))
    assert arm.forward_dynamics(x, force, out=out) is out
    assert np.array_equal(out, arm.forward_dynamics(x, np.tile(force, (ROWS, 1))))
    x[70, 1] = np.nan
    found = arm.forward_dynamics(x)
    assert np.isnan(found[70]).all() and np.isfinite(np.delete(found, 70, axis=0)).all()
    assert arm.forward_dynamics(x[:0]).shape == (0, n)
    assert arm.forward_dynamics(x.reshape(10, 15, -1)).shape == (10, 15, n)
    with pytest.raises(ValueError, match="last axis"):
        arm.forward_dynamics(x[:, :-1])
    with pytest.raises(ValueError, match="leading axes"):
        arm.forward_dynamics(x, np.zeros((3, n)))
    jacobian = np.empty((6, n))
    assert arm.jacobian(x[0], "hand", axes="marker", out=jacobian) is jacobian


@pytest.mark.parametrize("name", ["two-link-arm", "space-arm", "spatial-3rrs"])
def test_differences_take_steps_back(name: str) -> None:
    mech = lissom.shipped(name).build()
    n_q, n_v = len(mech.free_positions), len(mech.free_velocities)
    q = mech.free_state(mech.start())[:n_q]
    steps = 0.3 * np.random.default_rng(6).standard_normal((2, 5, n_v))
    moved = mech.integrate(q, steps)
    assert moved.shape == (2, 5, n_q)
    np.testing.assert_allclose(mech.difference(q, moved), steps, atol=1e-12)
    assert np.array_equal(mech.difference(mech.start(), mech.start()), np.zeros(n_v))
    into = np.empty_like(moved)
    assert mech.integrate(q, steps, out=into) is into and np.array_equal(into, moved)
    with pytest.raises(ValueError, match="last axis"):
        mech.integrate(q[1:], steps)


def test_velocities_are_what_positions_change_by() -> None:
    """In a short run the difference over the time is the mean velocity, to second order in the time."""
    mech = lissom.shipped("space-arm", {"simulation.duration_s": 1e-4}).build()
    start = mech.start()
    rec = mech.simulate(start)
    assert rec.last is not None
    n_q = len(mech.free_positions)
    before, after = mech.free_state(start)[n_q:], mech.free_state(rec.last)[n_q:]
    rate = mech.difference(start, rec.last) / 1e-4
    np.testing.assert_allclose(rate, 0.5 * (before + after), atol=1e-6 + 1e-3 * np.abs(before).max())


def test_members_are_simulators(arm: lissom.Mechanism) -> None:
    rng = np.random.default_rng(8)
    starts = [arm.state({"shoulder.angle": 0.1 * k}) for k in range(5)]
    inputs = rng.standard_normal((6, 5, 2))
    inputs[3, 2] = np.nan  # member 2 fails in the fourth step
    runs = {}
    for threads in (1, 3):
        batch = arm.batch_simulator(starts, dt_s=0.004, outputs=OUTPUTS, threads=threads)
        assert len(batch) == 5 and batch.ok.all()
        runs[threads] = np.array([batch.reset(), *(batch.step(u) for u in inputs)])
        assert batch.ok.tolist() == [True, True, False, True, True]
        assert np.isnan(batch.time_s[2]) and batch.time_s[0] == pytest.approx(0.024)
        with pytest.raises(ValueError, match="failed"):
            batch.state(2)
    assert np.array_equal(runs[1], runs[3], equal_nan=True)
    for member, start in enumerate(starts):
        sim = arm.simulator(start, dt_s=0.004, outputs=OUTPUTS)
        steps = 3 if member == 2 else 6
        alone = [sim.reset(), *(sim.step(u[member]) for u in inputs[:steps])]
        assert np.array_equal(runs[1][: steps + 1, member], alone)
    assert np.isnan(runs[1][4:, 2]).all()
    # those that are begun anew are as at first, others go on
    y = batch.reset(members=[2])
    assert batch.ok.all() and np.array_equal(y[2], runs[1][0, 2]) and np.array_equal(y[0], runs[1][-1, 0])
    y = batch.reset(starts[4], members=np.array([True, False, False, False, False]))
    assert np.array_equal(y[0], runs[1][0, 4])
    assert batch.state(0).time_s == 0.0
    with pytest.raises(ValueError, match="5 members, 2 inputs"):
        batch.step(inputs[0, :2])
    with pytest.raises(IndexError):
        batch.reset(members=[7])
    with pytest.raises(ValueError, match="no such output"):
        arm.batch_simulator(starts, dt_s=0.004, outputs=["nothing"])


def test_a_controller_of_the_model_is_not_driven_over() -> None:
    mech = lissom.shipped("quarter-turn", {"simulation.duration_s": 0.1}).build()
    assert mech.controllers == {"servo": ("hub.torque",)}
    law = lissom.Sampled(lambda t_s, y: [0.0], period_s=0.01, inputs=["hub.torque"])
    for drive in (
        lambda: mech.simulator(dt_s=0.01),
        lambda: mech.simulator(dt_s=0.01, inputs=["hub.torque"]),
        lambda: mech.batch_simulator(mech.start(), dt_s=0.01),
        lambda: mech.rollout(mech.start(), np.zeros((1, 2, 1)), dt_s=0.01),
        lambda: mech.rhs({"hub.torque": 0.0}),
        lambda: mech.simulate(controller=law),
    ):
        with pytest.raises(ValueError, match=r"release=\['servo'\]"):
            drive()
    with pytest.raises(ValueError, match="there is no controller 'serv'; did you mean 'servo'"):
        mech.simulator(dt_s=0.01, release=["serv"])
    with pytest.raises(TypeError, match="release"):
        mech.simulator(dt_s=0.01, release="servo")
    # with it the joint follows; without it and without torque it stays
    kept = mech.simulator(dt_s=0.1, inputs=[], outputs=["hub.rotation"])
    freed = mech.simulator(dt_s=0.1, outputs=["hub.rotation"], release=["servo"])
    start = kept.reset()[0]
    assert freed.step([0.0])[0] == pytest.approx(start, abs=1e-9) != kept.step()[0]
    assert freed.step([5.0])[0] != start


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_goes_on(arm: lissom.Mechanism) -> None:
    x = states(arm, ROWS)
    before = arm.forward_dynamics(x)
    child = os.fork()
    if child == 0:
        same = np.array_equal(arm.forward_dynamics(x), before)
        ran = arm.rollout(arm.start(), np.zeros((3, 2, 2)), dt_s=1e-3).ok.all()
        os._exit(0 if same and ran else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
