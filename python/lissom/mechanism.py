"""Mechanisms: what a model is, ready to be evaluated, simulated and linearised."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._arrays import complex_of, instants, numbers, refuse_below_one
from lissom._equations import Equations
from lissom._names import components, listed, place
from lissom._native import State
from lissom.errors import Interrupted, ModelError, Problem, SimulationError
from lissom.recording import Recording
from lissom.results import (
    ClosedEvaluation,
    Encounter,
    EndEffector,
    Equilibrium,
    Modes,
    Rollout,
)

if TYPE_CHECKING:
    from lissom.control import BatchSimulator, Sampled, Simulator
    from lissom.linear import Linearization
    from lissom.model import Model
    from lissom.workspace import WorkspaceMap

__all__ = ["Mechanism"]

Array = NDArray[np.float64]
About = Literal["state", "equilibrium", "nominal", "run"]
Start: TypeAlias = "State | Mapping[str, float] | ArrayLike"
"""Where something begins: a state, values by name, or positions and velocities in an array."""


class Mechanism(Equations):
    """A mechanism: bodies reduced, loops closed, every name resolved. It never changes and holds no state.

    Methods that look at states take a :class:`State`, or an array whose last axis holds positions and velocities in the
    order of :attr:`free_positions` and :attr:`free_velocities`; axes before that are members of a batch, and results have
    them too. Evaluations are of the mechanism by itself with every joint free: inputs, controllers, prescribed motions and
    motors behind elastic gears are left out, joint springs and friction are part of the bias. They are at ``time_s``, by default
    the instant of the :class:`State`, or for an array that at which the model starts.

    Studies and simulators begin at a :class:`State`, at values by name as :meth:`state` takes them, or at an array as
    :meth:`state_at` does; by default where the model starts.
    """

    def __new__(cls, model: Model | _native.Model) -> Mechanism:
        return super().__new__(cls, _read_model(model))

    def __init__(self, model: Model | _native.Model) -> None:
        self._model = _read_model(model)
        self._less: dict[frozenset[str], Mechanism] = {}
        taken: dict[str, str] = {}
        names: tuple[str, ...] = ()
        try:
            names = (*self.positions, *self.velocities, *self.channels)
        except SimulationError:
            pass  # a mechanism that cannot be placed says so when something is asked of it
        for name in names:
            before = taken.setdefault(name.replace(".", "_"), name)
            if before != name:
                message = f"the names {before!r} and {name!r} are the same once . becomes _, as other packages need it"
                problem = Problem(message, remedy="rename a joint, body or marker")
                raise ModelError(message, file=self._model.label, problems=[problem])

    @property
    def model(self) -> Model:
        """The model that it was built from."""
        from lissom.model import Model

        return Model(self._model)

    def __repr__(self) -> str:
        return f"<lissom.Mechanism {self._model.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._model.label, self._model.toml)

    def __copy__(self) -> Mechanism:
        return self

    def __deepcopy__(self, memo: object) -> Mechanism:
        return self

    # names

    @cached_property
    def positions(self) -> Mapping[str, str]:
        """Names of the positions of its states, and their units."""
        return MappingProxyType(dict(self._coordinates()[0]))

    @cached_property
    def velocities(self) -> Mapping[str, str]:
        """Names of the velocities of its states, and their units."""
        return MappingProxyType(dict(self._coordinates()[1]))

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, such as ``shoulder.torque``."""
        return self._input_names()

    @cached_property
    def controllers(self) -> Mapping[str, Sequence[str]]:
        """Names of the controllers of the model, and the inputs that each adds to."""
        names = [own["name"] for own in self.model.to_dict().get("controller", [])]
        driven = {
            name: tuple(own for own in self.inputs if f"{name}.{own.partition('#')[0]}" in self.channels)
            for name in names
        }
        return MappingProxyType(driven)

    def _without(self, release: Sequence[str]) -> Mechanism:
        """The mechanism without some of its controllers."""
        released = frozenset(listed("release", release) or [])
        if not released:
            return self
        unknown = released - set(self.controllers)
        if unknown:
            place("controller", sorted(unknown)[0], list(self.controllers))
        if released not in self._less:
            kept = [own for own in self.model.to_dict()["controller"] if own["name"] not in released]
            self._less[released] = self.model.replace({"controller": kept}).build()
        return self._less[released]

    def _driven(self, inputs: Sequence[str] | None) -> list[str]:
        """Inputs that somebody wants to drive, by default all; refuses those that a controller of the model drives."""
        given = listed("inputs", inputs)
        chosen = self.inputs if given is None else given
        for name, driven in self.controllers.items():
            both = [own for own in chosen if own in driven]
            if both:
                raise ValueError(
                    f"the controller {name!r} of the model drives {', '.join(both)}: "
                    f"say release=[{name!r}] to take over, or name other inputs"
                )
        return chosen

    @property
    def markers(self) -> list[str]:
        """Names of the markers."""
        return self._markers()

    @cached_property
    def channels(self) -> Mapping[str, str]:
        """Names of everything that can be recorded, and their units."""
        return MappingProxyType(dict(self._signals()))

    # states

    def state(
        self, values: Mapping[str, float] | None = None, *, time_s: float | None = None
    ) -> State:
        """The state of positions and velocities by name; what is not given is as the model writes it.

        Where loops close, joints that are not given follow.
        """
        if values is not None and not isinstance(values, Mapping):
            raise TypeError("values go by name, as in state({'shoulder.angle': 0.2}); state_at takes an array")
        return self._state_of(numbers(values or {}), time_s)

    def place(
        self,
        markers: Mapping[str, Mapping[str, float]],
        *,
        near: Start | None = None,
        rates: Mapping[str, Mapping[str, float]] | None = None,
        held: Sequence[str] = (),
    ) -> State:
        """The state nearest to another, by default the one that the model writes, in which markers are where they should be and loops
        close: inverse kinematics. ``place({"hand": {"x": 0.6, "y": 0.3}})`` moves joints until the hand is there, and motors behind elastic
        gears with them; deformations stay.

        Components are ``x``, ``y``, ``z`` of the position in m and ``rotation_x``, ``rotation_y``, ``rotation_z`` of the rotation
        vector in rad, in ground axes. ``rates`` are the same components of velocity and angular velocity, zero if absent. Joints
        in ``held`` stay where they are.
        """
        moving = rates or {}
        for marker, own in moving.items():
            for component in own:
                if component not in markers.get(marker, {}):
                    raise ValueError(f"rates has {component!r} of marker {marker!r}, and markers does not say where it is; give both")
        wanted = [
            (marker, component, float(value), float(moving.get(marker, {}).get(component, 0.0)))
            for marker, own in markers.items()
            for component, value in own.items()
        ]
        begin = self.state() if near is None else self._begun(near)
        return _native.placed(self, begin, wanted, listed("held", held) or [])

    def state_from(
        self, source: Recording | str | os.PathLike[str], *, time_s: float | None = None
    ) -> State:
        """The state at an instant of a recording or of the folder of a run, its last one unless ``time_s`` says which; or the one
        that a file such as ``state.json`` holds. As ``--from`` of the command takes it; between samples by cubics."""
        if not isinstance(source, Recording):
            at = "" if time_s is None else f"@{float(time_s)!r}"
            return self._state_named(f"{os.fspath(source)}{at}")
        if time_s is None and source.last is not None:
            return source.last
        if len(source.time_s) == 0:
            raise ValueError("the recording has no instants")
        at_s = float(source.time_s[-1]) if time_s is None else float(time_s)
        return self._recorded_state(source.time_s, source._samples(), at_s)

    def _begun(self, start: Start | None) -> State:
        """The state that something begins at."""
        if start is None:
            return self.start()
        if isinstance(start, State):
            return start
        if isinstance(start, Mapping):
            return self.state(start)
        if np.ndim(start) == 0:
            raise TypeError(f"state is {start!r}, expected a State, values by name or an array; how long is duration_s=")
        return self.state_at(start)

    # studies

    def evaluate_closed(self, state: Start, force: ArrayLike | None = None) -> ClosedEvaluation:
        """The equations of one state with loops closed, in independent speeds, and what every closure carries under a generalised force
        (in the order of :attr:`free_velocities`, none if absent). As :meth:`evaluate` every joint is free."""
        return ClosedEvaluation(**_native.closed_evaluation(self, self._begun(state), force))

    def simulate(
        self,
        state: Start | None = None,
        *,
        duration_s: float | None = None,
        sample_period_s: float | None = None,
        at_s: ArrayLike = (),
        channels: Sequence[str] | None = None,
        controller: Sampled | None = None,
        out: str | os.PathLike[str] | None = None,
        checkpoint_every_s: float | None = None,
        resume: bool = False,
    ) -> Recording:
        """Simulate from a state, by default the model's start, for a duration, by default to the end that the model says.

        ``at_s`` are instants to be recorded beside the regular ones, ``channels`` beginnings of the names to be recorded.
        A ``controller`` takes over the inputs that it names; every tick of it is recorded then, and all channels unless
        ``channels`` names some.

        With ``out`` the run is written into a folder as ``lissom run`` does, at its end and on its way: every ``checkpoint_every_s``
        seconds of clock time, by default so seldom that it costs no time. With ``resume`` the same call goes on from the last of
        these if there is one, and the rows until there stay in front; a run that is complete is read and returned.

        Raises :class:`SimulationError` when it cannot go on, and :class:`Interrupted` on Ctrl-C; both have the ``recording``
        until then, and ``out`` holds it.
        """
        asked = listed("channels", channels)
        if out is None and (resume or checkpoint_every_s is not None):
            raise ValueError("checkpoint_every_s and resume are of a folder that keeps the run; name it with out")
        start = self._begun(state)
        if controller is not None:
            from lissom.control import Sampled, simulate_sampled

            if not isinstance(controller, Sampled):
                raise TypeError("controller is no Sampled: write lissom.Sampled(controller, period_s=…)")
            if out is not None:
                raise ValueError(
                    "out keeps runs that can go on, and what a controller of yours remembers is not in their states; save the recording"
                )
            return simulate_sampled(
                self, start, controller, duration_s, sample_period_s, instants(at_s), asked
            )
        goes_on = resume and out is not None and os.path.exists(os.path.join(out, "manifest.json"))
        lasts_s = None if duration_s is None else (start.time_s, float(duration_s))
        if goes_on:
            assert out is not None
            start = self.state_from(out)
            if start.time_s >= (self._end_s() if lasts_s is None else sum(lasts_s)):
                return Recording.load(out)
        told, interruption = _native.run(
            self,
            start,
            lasts_s=lasts_s,
            sample_period_s=sample_period_s,
            at_s=instants(at_s),
            channels=asked,
            folder=None if out is None else (os.fspath(out), checkpoint_every_s, goes_on),
        )
        failure = told.pop("failure")
        told["summary"] = json.loads(told["summary"])
        recording = Recording(**told, model=self.model)
        if isinstance(interruption, KeyboardInterrupt):
            raise Interrupted(
                f"interrupted at {recording.stopped_at_s} s", recording=recording
            ) from interruption
        if interruption is not None:
            raise interruption
        if failure is not None:
            assert isinstance(failure, SimulationError)
            failure.recording = recording
            raise failure
        return recording

    def _end_s(self) -> float:
        """Where the simulation of the model ends."""
        simulation = self.model.to_dict()["simulation"]
        return float(simulation.get("start_s", 0.0) + simulation["duration_s"])

    def equilibrium(self, near: Start | None = None) -> Equilibrium:
        """Where it is at rest under its loads, near a state or the one that the model writes. What inputs drive stays."""
        begin = self.state() if near is None else self._begun(near)
        found, told, stability, load_parts = _native.find_equilibrium(self, begin)
        return Equilibrium(found, Recording(**told, model=self.model), stability, load_parts)

    def linearize(
        self,
        state: Start | None = None,
        *,
        about: About = "state",
        times_s: ArrayLike = (),
        points: int | None = None,
        inputs: Sequence[str] | Literal["all"] | None = None,
        outputs: Sequence[str] | None = None,
        closed_loop: bool = False,
    ) -> Linearization:
        """The equations linearised at a state (by default the model's start), at the equilibrium near it, or along the nominal
        trajectory or the run from it: at ``times_s`` (in s), or at so many ``points`` evenly to the end, 51 if absent.

        ``inputs`` and ``outputs`` choose some by name. By default the inputs are those that something of the model drives
        (``"all"``: the efforts on all joints too), and the outputs positions of markers and coordinates of joints. ``closed_loop``
        has the controllers of the model in the loop."""
        from lissom.linear import Linearization

        refuse_below_one("points", points)
        self._refuse_without_controllers(closed_loop)
        start = self._begun(state)
        chosen = (inputs is None, closed_loop)
        arrays = _native.linearized(self, start, about, (instants(times_s), points), chosen)
        found = Linearization(arrays, model=self.model)
        return found.select(inputs=None if inputs == "all" else inputs, outputs=outputs)

    def _refuse_without_controllers(self, closed_loop: bool) -> None:
        if closed_loop and not self.controllers:
            raise ValueError("closed_loop closes the loops of controllers, and the model has no [[controller]]")

    def modes(
        self,
        state: Start | None = None,
        *,
        about: About = "state",
        times_s: ArrayLike = (),
        points: int | None = None,
        count: int = 8,
        free: bool = False,
        closed_loop: bool = False,
        case: Literal[1, 3, 5] = 1,
    ) -> Modes:
        """The ``count`` lowest modes of the equations frozen at a state, at an equilibrium, or along a motion, at ``times_s`` (in s)
        or at so many ``points`` evenly to its end, 51 if absent. There modes are followed, so that curves do not swap.

        Joints that inputs drive are held unless ``free``; ``closed_loop`` closes the loops of controllers, whose states add
        eigenvalues (``further``). ``case`` leaves out
        stiffening as ``lissom modes`` does: 1 nothing, 3 both kinds, 5 the geometric one. A few modes of one state with many degrees
        of freedom are sought alone, and whether higher ones grow is then not judged (``judged_all``)."""
        refuse_below_one("count", count)
        refuse_below_one("points", points)
        self._refuse_without_controllers(closed_loop)
        start = self._begun(state)
        joints = (free, closed_loop)
        found = _native.find_modes(self, start, about, (instants(times_s), points), joints, case, count)
        found["eigenvalues"] = complex_of(found["eigenvalues"])
        for key in ("growing", "further"):
            found[key] = [complex_of(own) for own in found[key]]
        found["encounters"] = [Encounter(*met) for met in found["encounters"]]
        found["vibrating"] = [
            {"frequency_rad_per_s": frequency, "damping_ratio": ratio} for frequency, ratio in found["vibrating"]
        ]
        return Modes(**found)

    def inverse(
        self,
        times_s: ArrayLike = (),
        *,
        flexible: Literal["quasi-static", "causal", "stable"] | None = None,
        marker: str | None = None,
    ) -> Recording:
        """What would drive the model along its motion if every body and gear were rigid: torque or force, rate and power of every
        drive, at ``times_s`` or where a run records. The motion is that of its inputs and its prescribed motions, as ``lissom inverse``
        takes it; of more drives than degrees of freedom the smallest in sum of squares are taken. ``summary`` has peaks and root mean
        squares.

        With ``flexible`` links bend and a ``marker`` stays on the path that it has with rigid ones, as with ``lissom inverse --flexible``.
        ``summary["start"]`` has the coordinates in which the mechanism has to start, as :meth:`state` takes them."""
        if marker is not None and flexible is None:
            raise ValueError("marker is for flexible links: say flexible, too")
        told, summary = _native.inverted(self, instants(times_s), (flexible, marker))
        return Recording(**told, summary=json.loads(summary), model=self.model)

    def end_effector(self, marker: str, near: Start | None = None) -> EndEffector:
        """Stiffness, velocities and lowest frequency at a marker, at rest near a state or the one that the model writes, with driven
        joints held."""
        begin = self.state() if near is None else self._begun(near)
        return EndEffector(**_native.end_effector(self, begin, marker))

    def map(
        self,
        over: Mapping[str, ArrayLike],
        *,
        marker: str | None = None,
        threads: int | None = None,
    ) -> WorkspaceMap:
        """The mechanism at a marker, by default its last, over a grid of two coordinates: of joints, ``{"shoulder.angle": a,
        "elbow.angle": b}``, or of a marker, ``{"hand.x": x, "hand.y": y}``, with values that rise. For a grid of a marker joints follow
        by inverse kinematics, from one place to the next."""
        from lissom.workspace import mapped

        return mapped(self, over, marker, threads)

    def perturb(
        self,
        state: Start | None = None,
        *,
        points: int = 201,
        case: int = 1,
        interpolation: Literal["matrices", "state_space"] = "matrices",
        first_order: bool = False,
    ) -> Recording:
        """The run of the system linearised along its nominal trajectory (Jonker & Aarts 2001), from a state to the end that the
        model says, at so many ``points``. ``case`` chooses terms; ``interpolation`` is of M, C and K, or of A and B as in the
        paper; with ``first_order`` markers move to first order only. Its ``summary`` is that of ``lissom perturb --json``, with the
        error that interpolating leaves. Raises :class:`SimulationError` where linear equations hold no more before the end, with
        the ``recording`` until then."""
        if interpolation not in ("matrices", "state_space"):
            raise ValueError(f'interpolation is {interpolation!r}; it can be "matrices" or "state_space"')
        refuse_below_one("points", points)
        start = self._begun(state)
        order = (interpolation == "state_space", first_order)
        told, summary, failure = _native.perturbed(self, start, points, case, order)
        recording = Recording(**told, summary=json.loads(summary), model=self.model)
        if failure is not None:
            assert isinstance(failure, SimulationError)
            failure.recording = recording
            raise failure
        return recording

    def converge(
        self,
        state: Start | None = None,
        *,
        channels: Sequence[str] | None = None,
        within: float = 0.01,
        cross_check: bool = False,
    ) -> dict[str, Any]:
        """How accurate a run of the model is, as ``lissom converge --json`` tells it."""
        asked = listed("channels", channels)
        start = None if state is None else self._begun(state)
        found: dict[str, Any] = json.loads(_native.converged(self, start, asked, within, cross_check))
        return found

    def compare(
        self,
        fidelities: Sequence[str] = (),
        *,
        state: Start | None = None,
        channels: Sequence[str] | None = None,
        within: float = 0.01,
    ) -> dict[str, Any]:
        """Runs with several fidelities held against each other, as ``lissom compare --json`` tells it."""
        chosen = listed("fidelities", fidelities) or []
        asked = listed("channels", channels)
        start = None if state is None else self._begun(state)
        found: dict[str, Any] = json.loads(_native.compared(self, chosen, start, asked, within))
        return found

    # in the loop

    def simulator(
        self,
        state: Start | None = None,
        *,
        dt_s: float,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        release: Sequence[str] = (),
    ) -> Simulator:
        """The mechanism in somebody else's loop: inputs are held over steps of ``dt_s``, outputs are read at their ends.

        By default all inputs of the model are given and all positions and velocities are read; an output such as ``hand.position``
        is its components. The integrator is the model's,
        with its error control inside a step. Controllers of the model act too; inputs that one of them drives are refused
        unless ``release`` names it, which takes it out.
        """
        from lissom.control import Simulator

        mechanism = self._without(release)
        start = self._begun(state)
        return Simulator(mechanism, start, dt_s, mechanism._driven(inputs), self._read(outputs))

    def batch_simulator(
        self,
        states: Start | Sequence[State],
        *,
        dt_s: float,
        members: int | None = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        release: Sequence[str] = (),
        threads: int | None = None,
    ) -> BatchSimulator:
        """Many members in somebody else's loop, stepped on all cores or ``threads``; otherwise as :meth:`simulator`.

        ``states`` are where members begin: one each, as states or as rows of positions and velocities, or one for all
        ``members``.
        """
        from lissom.control import BatchSimulator, starts_of

        mechanism = self._without(release)
        starts = starts_of(self, states, members)
        driven, read = mechanism._driven(inputs), self._read(outputs)
        return BatchSimulator(mechanism, starts, dt_s, driven, read, threads)

    def _read(self, outputs: Sequence[str] | None) -> list[str]:
        """Signals that somebody wants to read, by default positions and velocities; vectors are all their components."""
        given = listed("outputs", outputs)
        return [*self.positions, *self.velocities] if given is None else components(given, self.channels)

    def rhs(
        self, inputs: Mapping[str, float] | None = None, state: Start | None = None
    ) -> Callable[[float, ArrayLike], Array]:
        """The equations of motion as ``f(t, x)`` for ``scipy.integrate.solve_ivp``, where ``x`` holds the positions and
        velocities of states (``state.x``). Inputs have the values that are given, and those of the model otherwise.

        Where loops close, they are not projected back: they drift open with the error of the solver.
        """
        held = dict(inputs or {})
        self._driven(list(held))
        start = self._begun(state)
        native = _native.Simulator(self, start, 1.0, list(held), [])
        if held:
            native.hold(np.array(list(held.values()), dtype=np.float64))
        return native.rates

    def rollout(
        self,
        states: Start | Sequence[State],
        inputs: ArrayLike,
        *,
        dt_s: float,
        input_names: Sequence[str] | None = None,
        outputs: Sequence[str] = (),
        release: Sequence[str] = (),
        threads: int | None = None,
    ) -> Rollout:
        """Runs of many members, whose ``inputs`` (members × steps × inputs) are held over steps of ``dt_s``.

        ``states`` are where members begin: one for all, or one each, as states or as rows of positions and velocities. Each
        member is what :meth:`simulator` gives for it alone, bit for bit, whatever else is in the batch and however many
        threads there are. A member that fails is marked in ``ok``. ``release`` takes out controllers of the model.
        """
        from lissom.control import starts_of

        held = np.asarray(inputs, dtype=np.float64)
        if held.ndim != 3:
            raise ValueError(
                f"the inputs have the shape {held.shape}; it must be members, steps, inputs"
            )
        mechanism = self._without(release)
        starts = starts_of(self, states, len(held))
        names = (mechanism._driven(input_names), self._read(outputs))
        found, read, ok = _native.rolled(mechanism, starts, held, names, dt_s, threads=threads)
        return Rollout(found, read, np.array(ok, dtype=np.bool_))


def _read_model(model: Model | _native.Model) -> _native.Model:
    if isinstance(model, _native.Model):
        return model
    found = getattr(model, "_native", None)
    if not isinstance(found, _native.Model):
        raise TypeError(f"a mechanism is built from a Model, not from {model!r}; lissom.load reads one from a file")
    return found


def _restored(label: str, toml: str) -> Mechanism:
    return Mechanism(_native.Model.from_text(label, toml, []))


def _restored_state(mechanism: Mechanism, saved: str) -> State:
    return mechanism._state_from_json(saved)
