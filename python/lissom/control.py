"""Mechanisms in the loop: stepped from Python, or under a sampled controller."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._names import listed, refuse_unknown
from lissom._native import State
from lissom.errors import Interrupted, SimulationError
from lissom.recording import Recording

if TYPE_CHECKING:
    from lissom.mechanism import Mechanism, Start

__all__ = ["BatchSimulator", "Sampled", "Simulator"]

Array = NDArray[np.float64]

_SAME = 1e-9
"""Share of a period by which instants that are one may differ."""
_MOST_INSTANTS = 1e8


class Simulator:
    """A mechanism that is brought forward in steps of ``dt_s``; :meth:`lissom.Mechanism.simulator` makes one.

    After k steps it stands at ``t0 + k dt_s``. Inputs are held over a step, outputs are read at its end; inside a step the
    integrator of the model works with its own steps.
    """

    def __init__(
        self, mechanism: Mechanism, state: State, dt_s: float, inputs: list[str], outputs: list[str]
    ) -> None:
        self._native = _native.Simulator(mechanism, state, dt_s, inputs, outputs)
        self._mechanism, self._start = mechanism, state

    def __repr__(self) -> str:
        return f"<lissom.Simulator at {self.time_s:g} s, {_driven_and_read(self)}>"

    @property
    def time_s(self) -> float:
        """Instant that has been reached, in s."""
        return self._native.time_s

    @property
    def dt_s(self) -> float:
        """Length of a step, in s."""
        return self._native.dt_s

    @property
    def inputs(self) -> list[str]:
        """Names of what :meth:`step` takes."""
        return self._native.inputs

    @property
    def outputs(self) -> list[str]:
        """Names of what :meth:`step` returns."""
        return self._native.outputs

    @property
    def state(self) -> State:
        """Where the mechanism is, a copy with all that evaluations and the integrator remember. Set it to go on from there."""
        return self._native.state

    @state.setter
    def state(self, state: State) -> None:
        self._native.set_state(state)

    def reset(self, state: Start | None = None) -> Array:
        """Go back to the start, or begin at another state; returns the outputs there."""
        start = self._start if state is None else self._mechanism._begun(state)
        self._native.begin(start)
        self._start = start
        return self._native.read()

    def read(self) -> Array:
        """The outputs now."""
        return self._native.read()

    def step(self, u: ArrayLike | None = None, /) -> Array:
        """Hold the inputs, in N m or N, over one step; returns the outputs at its end.

        Raises :class:`lissom.SimulationError` when the mechanism cannot go on, and :class:`lissom.Interrupted` on Ctrl-C: it then
        stands where it was, and the next step goes on to the same tick.
        """
        return self._native.step(u)

    def advance(self, to_s: float, u: ArrayLike | None = None, /) -> Array:
        """Hold the inputs until an instant in s; returns the outputs there. Steps count from there on."""
        return self._native.advance(to_s, u)


class BatchSimulator:
    """Members that are brought forward side by side, on all cores; :meth:`lissom.Mechanism.batch_simulator` makes one.

    Member i is what a :class:`Simulator` gives for it alone, bit for bit, whatever else is in the batch and however many threads
    there are. One that cannot begin or go on is not ``ok``, and its outputs are NaN until it is reset.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        states: Sequence[State | None],
        dt_s: float,
        inputs: list[str],
        outputs: list[str],
        threads: int | None = None,
    ) -> None:
        self._native = _native.BatchSimulator(mechanism, states, dt_s, inputs, outputs)
        self._mechanism, self._starts = mechanism, list(states)
        self._threads = threads

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<lissom.BatchSimulator of {len(self)} members, {_driven_and_read(self)}>"

    @property
    def dt_s(self) -> float:
        """Length of a step, in s."""
        return self._native.dt_s

    @property
    def inputs(self) -> list[str]:
        """Names of what :meth:`step` takes for each member."""
        return self._native.inputs

    @property
    def outputs(self) -> list[str]:
        """Names of what :meth:`step` returns for each member."""
        return self._native.outputs

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which members are under way."""
        return np.array(self._native.ok(), dtype=np.bool_)

    @property
    def time_s(self) -> Array:
        """Instants that members have reached, in s; NaN where one has failed."""
        return self._native.times()

    def state(self, member: int) -> State:
        """Where a member is, a copy with all that evaluations and the integrator remember."""
        return self._native.state(*_chosen([member], len(self)))

    def reset(
        self, states: Start | Sequence[State] | None = None, *, members: ArrayLike | None = None
    ) -> Array:
        """Begin again: all members or some (by number or as a mask), where they began before or at other states, one for all or one
        each as :meth:`lissom.Mechanism.batch_simulator` takes them. Returns the outputs of all."""
        chosen = _chosen(members, len(self))
        if states is None:
            begins = [self._starts[at] for at in chosen]
        else:
            begins = starts_of(self._mechanism, states, len(chosen))
        self._native.begin(chosen, begins)
        for at, state in zip(chosen, begins, strict=True):
            self._starts[at] = state
        return self._native.read()

    def read(self) -> Array:
        """The outputs now, members × outputs."""
        return self._native.read()

    def step(self, u: ArrayLike, /, *, out: Array | None = None) -> Array:
        """Hold inputs (members × inputs, in N m or N) over one step; returns the outputs at its end, members × outputs.

        Raises :class:`lissom.Interrupted` on Ctrl-C; the next step goes on with the members that were not at the tick yet.
        """
        return self._native.step(u, out=out, threads=self._threads)


def starts_of(
    mechanism: Mechanism, states: Start | Sequence[State], members: int | None
) -> list[State | None]:
    """One state per member; none for a row that is not one, which fails at once."""
    starts: list[State | None]
    if isinstance(states, (State, Mapping)):
        starts = [mechanism._begun(states)]
    elif isinstance(states, Sequence) and all(isinstance(one, State) for one in states):
        starts = [one for one in states if isinstance(one, State)]
    else:
        rows = np.atleast_2d(np.asarray(states, dtype=np.float64))
        starts = [mechanism.state_at(row) if np.isfinite(row).all() else None for row in rows]
    if members is not None and len(starts) == 1:
        starts = starts * members
    if members is not None and len(starts) != members:
        raise ValueError(f"there are {len(starts)} states for {members} members")
    return starts


def _driven_and_read(sim: Simulator | BatchSimulator) -> str:
    return f"steps of {sim.dt_s:g} s, {len(sim.inputs)} inputs, {len(sim.outputs)} outputs"


def _chosen(members: ArrayLike | None, count: int) -> list[int]:
    """Members by number or as a mask."""
    if members is None:
        return list(range(count))
    given = np.atleast_1d(np.asarray(members))
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise ValueError(f"the mask of members has the shape {given.shape}; there are {count} members")
        return [int(at) for at in np.flatnonzero(given)]
    chosen = [int(at) for at in given]
    wrong = [at for at in chosen if not 0 <= at < count]
    if wrong:
        raise IndexError(f"there is no member {wrong[0]}; there are {count}")
    return chosen


@dataclass(frozen=True)
class Sampled:
    """A controller that is called every ``period_s`` and whose answer acts after ``delay_s``.

    ``call(t_s, y)`` gets the outputs as they are at ``t_s`` and returns the inputs. A method ``reset(t_s, y)``, if it has one,
    is called before the first.
    """

    call: Callable[[float, Array], ArrayLike]
    period_s: float
    delay_s: float = 0.0
    inputs: Sequence[str] | None = None
    """Names of the inputs that it drives; all of the model if absent."""
    outputs: Sequence[str] | None = None
    """Names of the signals that it measures; all positions and velocities if absent."""
    u0: ArrayLike | None = None
    """Inputs until its first answer acts; zero if absent."""
    release: Sequence[str] = ()
    """Controllers of the model that do not act meanwhile, by name."""

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise TypeError(f"{self.call!r} cannot be called; a controller is called with an instant and the outputs")
        if not 0.0 < self.period_s < math.inf:
            raise ValueError(f"period_s is {self.period_s}, expected a positive number of seconds")
        if not 0.0 <= self.delay_s <= self.period_s:
            raise ValueError(
                f"delay_s is {self.delay_s}; it must be between zero and period_s, {self.period_s}"
            )
        listed("inputs", self.inputs)
        listed("outputs", self.outputs)
        listed("release", self.release)


def simulate_sampled(
    mechanism: Mechanism,
    start: State,
    controller: Sampled,
    duration_s: float | None,
    sample_period_s: float | None,
    at_s: Sequence[float],
    channels: Sequence[str] | None,
) -> Recording:
    """A run under a sampled controller. It lands on every tick and on every instant that is recorded."""
    mechanism = mechanism._without(controller.release)
    if duration_s is None:
        duration_s = mechanism._end_s() - start.time_s
    if not 0.0 < duration_s < math.inf:
        raise ValueError(f"the run lasts {duration_s} s; say for how long with duration_s")
    outside = [at for at in at_s if not start.time_s <= at <= start.time_s + duration_s]
    if outside:
        raise ValueError(f"at_s has {outside[0]}, which is not in the run; name instants inside")
    if sample_period_s is not None and not 0.0 < sample_period_s < math.inf:
        raise ValueError(f"sample_period_s is {sample_period_s}, expected a positive number of seconds")
    shortest_s = min(controller.period_s, sample_period_s or math.inf)
    if duration_s / shortest_s > _MOST_INSTANTS:
        raise ValueError(f"{duration_s} s in steps of {shortest_s} s are more than {_MOST_INSTANTS:g} instants")
    t0, end = start.time_s, start.time_s + duration_s
    units = mechanism.channels
    wanted = list(units)
    if channels is not None:
        refuse_unknown(channels, wanted)
        wanted = [name for name in wanted if name.startswith(tuple(channels))]
    inputs = mechanism._driven(controller.inputs)
    measured = mechanism._read(controller.outputs)
    simulator = _native.Simulator(mechanism, start, controller.period_s, inputs, [*wanted, *measured])
    split = len(wanted)

    held = _answer("u0 is", np.zeros(len(inputs)) if controller.u0 is None else controller.u0, inputs)
    coming = held
    times: list[float] = []
    rows: list[Array] = []

    def recorded(stopped_at_s: float | None, failure: SimulationError | None = None) -> Recording:
        samples = np.array(rows).reshape(len(rows), split)
        recording = Recording(
            time_s=np.array(times),
            channels={name: samples[:, at].copy() for at, name in enumerate(wanted)},
            units={name: units[name] for name in wanted},
            last=simulator.state,
            stopped_at_s=stopped_at_s,
            model=mechanism.model,
        )
        summary = json.loads(
            _native.stepped_summary(recording._of_run(), duration_s, at_s, time.perf_counter() - began_s)
        )
        if failure is not None:
            del summary["stopped_at_s"]
            summary["failure"] = {"time_s": stopped_at_s, "coordinate": failure.coordinate, "message": str(failure)}
        recording.summary = summary
        return recording

    began_s = time.perf_counter()
    simulator.hold(held)
    y = simulator.read()
    at_once = controller.delay_s <= _SAME * controller.period_s
    reset = getattr(controller.call, "reset", None)
    try:
        if reset is not None:
            reset(t0, y[split:].copy())
        for t, is_tick, acts, is_kept in _instants(controller, t0, end, sample_period_s, at_s):
            if t > simulator.time_s:
                y = simulator.advance(t, held)
            # an answer that comes with the next tick acts before that asks for another
            if acts and not at_once:
                held = coming
            if is_tick:
                answer = controller.call(t, y[split:].copy())
                coming = _answer(f"at {t:g} s the controller returned", answer, inputs)
            if is_tick and at_once:
                held = coming
            if is_kept:
                times.append(t)
                rows.append(y[:split])
    except SimulationError as error:
        error.recording = recorded(simulator.time_s, error)
        raise
    except KeyboardInterrupt as error:
        at = simulator.time_s
        raise Interrupted(f"interrupted at {at} s", recording=recorded(at)) from error
    except Exception as error:
        # the controller's own: what was recorded until then goes with it where it can
        with suppress(AttributeError):
            error.recording = recorded(simulator.time_s)  # type: ignore[attr-defined]
        raise
    return recorded(None)


def _answer(told: str, given: Any, inputs: Sequence[str]) -> Array:
    """The inputs that somebody gives: as many finite numbers as there are."""
    if given is not None:
        # a copy: controllers may fill the same array again before it acts
        found = np.array(given, dtype=np.float64, ndmin=1)
        if found.shape == (len(inputs),) and np.isfinite(found).all():
            return found
    raise ValueError(f"{told} {given!r}, expected one number per input: {', '.join(inputs)}")


def _instants(
    controller: Sampled,
    t0: float,
    end: float,
    sample_period_s: float | None,
    at_s: Sequence[float],
) -> Iterator[tuple[float, bool, bool, bool]]:
    """Instants of a run, rising, with what happens there: a tick, an answer that begins to act, a sample."""
    near_s = max(_SAME * controller.period_s, 4.0 * math.ulp(max(abs(t0), abs(end))))

    def every(period_s: float) -> Array:
        count = math.floor((end - t0) / period_s + _SAME) + 1
        found: Array = np.minimum(t0 + np.arange(count) * period_s, end)
        return found

    ticks = every(controller.period_s)
    ticks = ticks[ticks < end - near_s]
    acts = ticks + controller.delay_s
    acts = np.where(acts < end - near_s, acts, end)
    # instants that differ by rounding are one
    together = np.sort(np.concatenate([ticks, acts, [end]]))
    merged = together[np.diff(together, prepend=-math.inf) > near_s]

    def snapped(t: Array) -> Array:
        after = np.searchsorted(merged, t)
        before = merged[np.maximum(after - 1, 0)]
        behind = merged[np.minimum(after, len(merged) - 1)]
        near = np.where(np.abs(before - t) <= np.abs(behind - t), before, behind)
        return np.where(np.abs(near - t) <= near_s, near, t)

    ticks, acts = snapped(ticks), snapped(acts)
    samples = np.empty(0) if sample_period_s is None else every(sample_period_s)
    kept = np.concatenate([ticks, snapped(np.concatenate([samples, at_s, [end]]))])
    instants = np.unique(np.concatenate([acts, kept]))
    return zip(instants.tolist(), *(np.isin(instants, own).tolist() for own in (ticks, acts, kept)), strict=True)
