"""Mechanisms in the loop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lissom

SHORT_STEPS = {"simulation.integrator": {"dop853": {"max_step_s": 1e-3}}}
"""So that a second takes a thousand steps however little happens."""
OUTPUTS = ["elbow.angle", "hand.position.x", "energy.kinetic"]


def test_steps_under_held_inputs_are_a_run_under_constant_ones() -> None:
    constant = [
        {"joint": "shoulder", "torque_constant": {"value_n_m": 1.5}},
        {"joint": "elbow", "torque_constant": {"value_n_m": -0.5}},
    ]
    mech = lissom.shipped("two-link-arm", {"input": constant}).build()
    run = mech.simulate(duration_s=0.05)
    sim = mech.simulator(dt_s=0.005, outputs=OUTPUTS)
    assert sim.inputs == ["shoulder.torque", "elbow.torque"]
    for _ in range(10):
        y = sim.step([1.5, -0.5])
    assert sim.time_s == 0.05
    # the tolerance of the run is 1e-8
    np.testing.assert_allclose(y, [run[name][-1] for name in OUTPUTS], atol=1e-7)


def test_vectors_are_read_by_their_components(arm: lissom.Mechanism) -> None:
    sim = arm.simulator(dt_s=1e-3, outputs=["hand.position", "elbow.angle", "hand.quaternion"])
    expected = [f"hand.position.{part}" for part in "xyz"] + ["elbow.angle"]
    assert sim.outputs == expected + [f"hand.quaternion.{part}" for part in "wxyz"]
    assert "8 outputs" in repr(sim)
    assert arm.linearize(outputs=["hand.position"]).outputs == expected[:3]


def test_a_state_is_saved_and_restored(arm: lissom.Mechanism) -> None:
    sim = arm.simulator(dt_s=1e-3, outputs=OUTPUTS)
    first = sim.reset()
    for k in range(5):
        sim.step([0.1 * k, 0.0])
    saved = sim.state
    ahead = [sim.step([0.3, -0.1]).copy() for _ in range(5)]
    sim.state = saved
    assert sim.time_s == saved.time_s
    again = [sim.step([0.3, -0.1]).copy() for _ in range(5)]
    assert np.array_equal(ahead, again)
    assert np.array_equal(sim.reset(), first) and sim.time_s == 0.0


def test_wrong_names_and_values_are_refused(arm: lissom.Mechanism) -> None:
    with pytest.raises(ValueError, match="shoulder.torque"):
        arm.simulator(dt_s=1e-3, inputs=["sholder.torque"])
    with pytest.raises(ValueError, match="no such output.*hand.position.x"):
        arm.simulator(dt_s=1e-3, outputs=["hand.positon.x"])
    with pytest.raises(ValueError, match="dt_s"):
        arm.simulator(dt_s=0.0)
    with pytest.raises(TypeError, match="inputs"):
        arm.simulator(dt_s=1e-3, inputs="shoulder.torque")
    sim = arm.simulator(dt_s=1e-3)
    with pytest.raises(ValueError, match="2 values"):
        sim.step([1.0])
    with pytest.raises(ValueError, match="shoulder.torque"):
        sim.step()
    with pytest.raises(ValueError, match="elbow.torque is NaN"):
        sim.step([0.0, np.nan])
    with pytest.raises(KeyError, match="names"):
        sim.state["sholder.angle"]


class Proportional:
    """Remembers what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, float]] = []
        self.was_reset_at: float | None = None

    def reset(self, t_s: float, y: np.ndarray) -> None:
        self.was_reset_at = t_s

    def __call__(self, t_s: float, y: np.ndarray) -> list[float]:
        self.calls.append((t_s, float(y[0])))
        return [-2.0 * float(y[0]), 0.0]


def test_a_sampled_controller_is_a_loop_by_hand(arm: lissom.Mechanism, state: lissom.State) -> None:
    law = Proportional()
    sampled = lissom.Sampled(law, period_s=0.01, delay_s=0.004, outputs=["shoulder.angle"])
    rec = arm.simulate(state, duration_s=0.05, controller=sampled)
    assert law.was_reset_at == 0.0 and len(law.calls) == 5

    sim = arm.simulator(state, dt_s=0.01, outputs=["shoulder.angle"])
    u = np.zeros(2)
    y = sim.read()
    for k in range(5):
        t = k * 0.01
        sim.advance(t + 0.004, u)
        u = np.array([-2.0 * y[0], 0.0])
        y = sim.advance(0.05 if k == 4 else t + 0.01, u)
    assert rec["shoulder.angle"][-1] == y[0]
    at = [float(rec["shoulder.angle"][np.argmin(abs(rec.time_s - t))]) for t, _ in law.calls]
    assert at == [y for _, y in law.calls]
    assert rec.last is not None and rec.last.time_s == 0.05
    finer = arm.simulate(state, duration_s=0.05, controller=sampled, sample_period_s=0.005, at_s=[0.014])
    assert {0.0, 0.005, 0.01, 0.014, 0.05} <= set(finer.time_s) and len(finer.time_s) == 12


def test_an_answer_may_act_a_whole_period_later(arm: lissom.Mechanism, state: lissom.State) -> None:
    sampled = lissom.Sampled(
        Proportional(), period_s=0.01, delay_s=0.01, outputs=["shoulder.angle"], u0=[0.5, 0.0]
    )
    rec = arm.simulate(state, duration_s=0.05, controller=sampled)
    sim = arm.simulator(state, dt_s=0.01, outputs=["shoulder.angle"])
    u, y = np.array([0.5, 0.0]), sim.read()
    for _ in range(5):
        coming = np.array([-2.0 * y[0], 0.0])
        y = sim.step(u)
        u = coming
    assert rec["shoulder.angle"][-1] == pytest.approx(y[0], rel=1e-9)
    assert rec["shoulder.torque"][0] == 0.5


def test_a_run_under_a_controller_is_summed_up(arm: lissom.Mechanism, state: lissom.State, tmp_path: Path) -> None:
    """What a run of the model says of itself, but for what only the integration of a whole run knows."""
    controller = lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=0.05)
    run = arm.simulate(state, duration_s=0.1, controller=controller, at_s=[0.07])
    known = arm.simulate(state, duration_s=0.1).summary
    assert {*known} - {*run.summary} == {"audit", "integrator"} and [*run.summary["cost"]] == ["wall_s"]
    assert run.summary["completed"] and run.summary["duration_s"] == 0.1 and run.summary["model"] == known["model"]
    told = run.summary["channels"]["elbow.angle"]
    samples = run["elbow.angle"]
    assert told["maximum"]["value"] == samples.max() and told["minimum"]["value"] == samples.min()
    assert told["final"] == samples[-1] and told["unit"] == "rad"
    [at] = run.summary["at"]
    assert at["time_s"] == 0.07 and at["channels"]["elbow.angle"] == samples[run.time_s == 0.07]
    run.save(tmp_path / "run")
    assert lissom.Recording.load(tmp_path / "run").summary == run.summary

    def fails(t_s: float, y: np.ndarray) -> list[float]:
        return [1e300, 0.0] if t_s > 0.0 else [0.0, 0.0]

    with pytest.raises(lissom.SimulationError) as failed:
        arm.simulate(state, duration_s=0.2, controller=lissom.Sampled(fails, period_s=0.05))
    recording = failed.value.recording
    assert recording is not None and not recording.summary["completed"] and "stopped_at_s" not in recording.summary
    assert recording.summary["failure"]["message"] == str(failed.value)


def test_runs_of_no_length_are_refused(arm: lissom.Mechanism) -> None:
    sampled = lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=0.01)
    for sample_period_s in (0.0, -0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="sample_period_s"):
            arm.simulate(controller=sampled, sample_period_s=sample_period_s)
    for duration_s in (0.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="duration_s"):
            arm.simulate(controller=sampled, duration_s=duration_s)
    with pytest.raises(ValueError, match="sample_period_s"):
        arm.simulate(sample_period_s=1e-12)
    # three periods of 0.1 s end behind 0.3 s
    rec = arm.simulate(controller=sampled, duration_s=0.3, sample_period_s=0.1)
    assert rec.time_s[-1] == 0.3 and len(rec.time_s) == 31


def test_a_controller_may_fill_one_array_again(arm: lissom.Mechanism, state: lissom.State) -> None:
    """Its answer is what it was when it was given, also while it waits to act."""
    answer = np.zeros(2)

    def again(t_s: float, y: np.ndarray) -> np.ndarray:
        answer[0] = 1.0 + 100.0 * t_s
        return answer

    def anew(t_s: float, y: np.ndarray) -> list[float]:
        return [1.0 + 100.0 * t_s, 0.0]

    runs = [
        arm.simulate(state, duration_s=0.05, controller=lissom.Sampled(law, period_s=0.01, delay_s=0.006))
        for law in (again, anew)
    ]
    assert runs[0] == runs[1]


def test_errors_of_a_controller_come_through(arm: lissom.Mechanism) -> None:
    def broken(t_s: float, y: np.ndarray) -> list[float]:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        arm.simulate(controller=lissom.Sampled(broken, period_s=0.01))
    assert isinstance(caught.value.recording, lissom.Recording)  # type: ignore[attr-defined]
    for answer in ([0.0], None, [0.0, np.nan]):
        with pytest.raises(ValueError, match="at 0 s the controller returned.*shoulder.torque, elbow.torque"):
            arm.simulate(controller=lissom.Sampled(lambda t_s, y, answer=answer: answer, period_s=0.01))
    with pytest.raises(ValueError, match="u0 is"):
        arm.simulate(controller=lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=0.01, u0=[1.0]))
    with pytest.raises(ValueError, match="delay_s"):
        lissom.Sampled(broken, period_s=0.01, delay_s=0.02)


def test_instants_that_differ_by_rounding_are_one(arm: lissom.Mechanism) -> None:
    """Ticks, answers that act a period later and samples fall together: each instant once, and the controller once at each tick."""
    calls: list[float] = []

    def law(t_s: float, y: np.ndarray) -> list[float]:
        calls.append(t_s)
        return [0.0, 0.0]

    controller = lissom.Sampled(law, period_s=0.1 / 3, delay_s=0.1 / 3)
    rec = arm.simulate(duration_s=0.3, sample_period_s=0.1, at_s=[0.05, 0.2], controller=controller)
    assert calls == pytest.approx([k * 0.1 / 3 for k in range(9)], abs=1e-15)
    assert rec.time_s == pytest.approx(sorted([*calls, 0.05, 0.3]), abs=1e-15)


def test_ctrl_c_before_the_first_tick(arm: lissom.Mechanism, interrupt_after: Callable[[float], object]) -> None:
    """Millions of instants are put in order before the first one."""
    law = lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=1e-3)
    assert arm.channels
    interrupt_after(0.1)
    with pytest.raises(lissom.Interrupted) as caught:
        arm.simulate(duration_s=10_000.0, controller=law)
    assert isinstance(caught.value.recording, lissom.Recording)


def test_members_of_a_rollout_are_single_runs(arm: lissom.Mechanism) -> None:
    rng = np.random.default_rng(3)
    inputs = rng.standard_normal((5, 4, 2))
    starts = [arm.state({"shoulder.angle": 0.1 * k}) for k in range(5)]
    for threads in (1, 3):
        found = arm.rollout(starts, inputs, dt_s=0.005, outputs=OUTPUTS, threads=threads)
        assert found.ok.all() and found.states.shape == (5, 5, 16)
        for member, start in enumerate(starts):
            sim = arm.simulator(start, dt_s=0.005, outputs=OUTPUTS)
            rows = [sim.reset(), *(sim.step(u).copy() for u in inputs[member])]
            assert np.array_equal(found.outputs[member], rows)
            assert np.array_equal(found.states[member, -1], sim.state.x)


def test_a_member_that_fails_is_marked(arm: lissom.Mechanism) -> None:
    inputs = np.zeros((3, 3, 2))
    inputs[1, 1] = np.nan
    found = arm.rollout(arm.start(), inputs, dt_s=0.005, outputs=OUTPUTS)
    assert found.ok.tolist() == [True, False, True]
    assert np.isfinite(found.outputs[1, :2]).all() and np.isnan(found.outputs[1, 2:]).all()
    assert np.array_equal(found.states[0], found.states[2])
    # so is one whose start is no state
    rows = np.tile(arm.start().x, (3, 1))
    for none in (np.inf, 1e300, np.nan):
        rows[0, 3] = none
        begun = arm.rollout(rows, inputs, dt_s=0.005, outputs=OUTPUTS)
        assert begun.ok.tolist() == [False, False, True] and np.isnan(begun.states[0, 1:]).all()
        assert np.array_equal(begun.outputs[2], found.outputs[2])
    batch = arm.batch_simulator(rows, dt_s=0.005, outputs=OUTPUTS)
    assert batch.ok.tolist() == [False, True, True] and np.isnan(batch.step(np.zeros((3, 2)))[0]).all()
    rows[0] = rows[1]
    assert np.array_equal(batch.reset(rows[:1], members=[0])[0], found.outputs[0, 0]) and batch.ok.all()
    assert (batch.reset({"elbow.angle": 0.1})[:, 0] == 0.1).all()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
@pytest.mark.parametrize("lasting", [slice(None), slice(0, 1), slice(3, 4)])
def test_ctrl_c_ends_a_rollout(arm: lissom.Mechanism, lasting: slice) -> None:
    """Also where the calling thread has nothing left to do: members without numbers fail at once."""
    inputs = np.full((4, 1_000_000, 2), np.nan)
    inputs[lasting] = 0.0
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(lissom.Interrupted):
        arm.rollout(arm.start(), inputs, dt_s=1e-3, threads=2)
    timer.join()


@pytest.mark.parametrize("members", [None, 3])
def test_ctrl_c_ends_a_long_step(members: int | None, interrupt_after: Callable[[float], object]) -> None:
    """The next step goes on to the same tick; members that were there already wait for the others."""
    mech = lissom.shipped("two-link-arm", SHORT_STEPS).build()
    hour = 3600.0
    if members is None:
        sim = mech.simulator(dt_s=hour)
        call, times = (lambda: sim.step([0.0, 0.0])), (lambda: np.array([sim.time_s]))
    else:
        batch = mech.batch_simulator(mech.start(), members=members, dt_s=hour, threads=1)
        u = np.zeros((members, 2))
        u[0] = np.nan  # fails at once
        call, times = (lambda: batch.step(u)), (lambda: batch.time_s[1:2])
    reached = [0.0]
    for _ in range(2):
        interrupt_after(0.3)
        with pytest.raises(lissom.Interrupted):
            call()
        reached.append(float(times()[0]))
    assert 0.0 < reached[1] < reached[2] < hour
    if members is not None:
        assert batch.ok.tolist() == [False, True, True] and batch.time_s[2] == 0.0


def test_a_simulator_is_for_one_thread_at_a_time() -> None:
    sim = lissom.shipped("two-link-arm", SHORT_STEPS).build().simulator(dt_s=20.0)
    other = threading.Thread(target=sim.step, args=([0.0, 0.0],))
    other.start()
    refused = 0
    while other.is_alive():
        try:
            sim.read()
        except RuntimeError as error:
            assert "another thread" in str(error)
            refused += 1
    assert refused > 0
