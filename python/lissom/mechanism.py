"""Mechanisms: what a model is, ready to be evaluated, simulated and linearised."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._names import listed
from lissom._native import State
from lissom.errors import Interrupted, ModelError, SimulationError
from lissom.recording import Recording

if TYPE_CHECKING:
    from lissom.control import BatchSimulator, Sampled, Simulator
    from lissom.linear import Linearization
    from lissom.model import Model

__all__ = ["Energy", "Equilibrium", "Evaluation", "Mechanism", "Modes", "Rollout"]

Array = NDArray[np.float64]
About = Literal["state", "equilibrium", "nominal", "run"]


class Energy(NamedTuple):
    """Energy of a mechanism in J; arrays for several states."""

    kinetic: Any
    strain: Any
    """Of bodies and springs."""
    gravity: Any

    @property
    def total(self) -> Any:
        """The sum."""
        return self.kinetic + self.strain + self.gravity


class Equilibrium(NamedTuple):
    """A mechanism at rest under its loads."""

    state: State
    recording: Recording
    """Every channel there, as one sample."""
    stability: str | None
    """``"stable"``, or which coordinate leaves or stays where it is put; ``None`` where only the modes tell."""


class Evaluation(NamedTuple):
    """What the equations say of states: ``mass_matrix @ acceleration + bias = force``."""

    mass_matrix: Array
    bias: Array
    acceleration: Array
    inverse_dynamics: Array | None


class Modes(NamedTuple):
    """Modes at the instants ``time_s``, followed along a motion where there are several: first axis modes, second instants."""

    time_s: Array
    frequency_rad_per_s: Array
    damping_ratio: Array
    growth_per_s: Array
    shape: Array
    """Modes × instants × ``coordinates``."""
    coordinates: list[str]
    rigid: list[str]
    """Coordinates that nothing resists, taken out before."""
    held: list[str]
    """Coordinates that are held because inputs drive them."""


class Rollout(NamedTuple):
    """Runs of several members side by side."""

    states: Array
    """Members × steps + 1 × positions and velocities; the first is where a member begins."""
    outputs: Array
    """Members × steps + 1 × outputs."""
    ok: NDArray[np.bool_]
    """Which members reached their end; what the others did not reach is NaN."""


class Mechanism(_native.Mechanism):
    """A mechanism: bodies reduced, loops closed, every name resolved. It never changes and holds no state.

    Methods that look at states take a :class:`State`, or an array whose last axis holds positions and velocities in the
    order of :attr:`free_positions` and :attr:`free_velocities`; axes before that are members of a batch, and results have
    them too. Evaluations are of the mechanism by itself with every joint free: inputs, controllers, prescribed motions and
    motors behind elastic gears are left out, joint springs and friction are part of the bias. They are at ``time_s``, by default
    the instant of the :class:`State`, or for an array that at which the model starts.
    """

    _model: _native.Model

    def __init__(self, model: _native.Model) -> None:
        self._model = model
        self._less: dict[frozenset[str], Mechanism] = {}
        taken: dict[str, str] = {}
        names: tuple[str, ...] = ()
        try:
            names = (*self.positions, *self.velocities)
        except SimulationError:
            pass  # a mechanism that cannot be placed says so when something is asked of it
        for name in names:
            before = taken.setdefault(name.replace(".", "_"), name)
            if before != name:
                raise ModelError(
                    f"the names {before!r} and {name!r} are the same once . becomes _, as other packages need it: rename a joint",
                    file=model.label,
                )

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

    @property
    def positions(self) -> dict[str, str]:
        """Names of the positions of its states, and their units."""
        return dict(self._coordinates()[0])

    @property
    def velocities(self) -> dict[str, str]:
        """Names of the velocities of its states, and their units."""
        return dict(self._coordinates()[1])

    @property
    def free_positions(self) -> dict[str, str]:
        """Names and units of the positions with every joint free, as arrays of states have them."""
        return dict(self._free_coordinates()[0])

    @property
    def free_velocities(self) -> dict[str, str]:
        """Names and units of the velocities with every joint free, as arrays of states, forces and accelerations have them."""
        return dict(self._free_coordinates()[1])

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, such as ``shoulder.torque``."""
        return self._input_names()

    @property
    def controllers(self) -> dict[str, list[str]]:
        """Names of the controllers of the model, and the inputs that each adds to."""
        signals = {name for name, _, _ in self._signals()}
        names = [own["name"] for own in self.model.to_dict().get("controller", [])]
        return {
            name: [own for own in self.inputs if f"{name}.{own.partition('#')[0]}" in signals]
            for name in names
        }

    def _without(self, release: Sequence[str]) -> Mechanism:
        """The mechanism without some of its controllers."""
        released = frozenset(listed("release", release) or [])
        if not released:
            return self
        unknown = released - set(self.controllers)
        if unknown:
            there = ", ".join(self.controllers) or "none"
            raise ValueError(f"there is no controller {sorted(unknown)[0]!r} to release; there are {there}")
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

    @property
    def channels(self) -> dict[str, str]:
        """Names of everything that can be recorded, and their units."""
        return {name: unit for name, unit, _ in self._signals()}

    # states

    def state(
        self, values: Mapping[str, float] | None = None, *, time_s: float | None = None
    ) -> State:
        """The state of positions and velocities by name; what is not given is as the model writes it.

        Where loops close, joints that are not given follow.
        """
        if values is not None and not isinstance(values, Mapping):
            raise TypeError("values go by name, as in state({'shoulder.angle': 0.2}); state_at takes an array")
        given = {name: float(value) for name, value in (values or {}).items()}
        return self._state_of(given, time_s)

    # what the equations say

    def energy(self, state: State | ArrayLike, *, time_s: float | None = None) -> Energy:
        """Kinetic energy, strain energy and energy of gravity in J."""
        found = self._energies(state, time_s=time_s)
        return Energy(found[..., 0], found[..., 1], found[..., 2])

    def jacobian(
        self,
        state: State | ArrayLike,
        marker: str,
        *,
        axes: Literal["ground", "marker"] = "ground",
        time_s: float | None = None,
        out: Array | None = None,
    ) -> Array:
        """The twist of a marker for every velocity at one, 6 × n: angular velocity in rows 0 to 2, velocity of the marker's
        own point in rows 3 to 5, in the axes of the ground or of the marker."""
        if axes not in ("ground", "marker"):
            raise ValueError(f'axes is {axes!r}; it can be "ground" or "marker"')
        found = self._ground_jacobian(state, marker, time_s=time_s, out=out)
        if axes == "marker":
            pose = self.marker_pose(state, marker, time_s=time_s)
            marker_from_ground = np.swapaxes(pose[..., :3, :3], -1, -2)
            for rows in (slice(0, 3), slice(3, 6)):
                found[..., rows, :] = marker_from_ground @ found[..., rows, :]
        return found

    def integrate(self, position: State | ArrayLike, step: ArrayLike) -> Array:
        """Positions after velocities of ``step`` in unit time: the sum where velocities are rates of positions, turned
        quaternions where they are not. Positions go by :attr:`free_positions`, steps by :attr:`free_velocities`, last axis; other
        axes are matched as NumPy does."""
        return self._moved(self._displaced, self._positions(position), step, len(self.free_velocities))

    def difference(self, start: State | ArrayLike, end: State | ArrayLike) -> Array:
        """Velocities that lead from one position to another in unit time, so that ``integrate(start, difference(start, end))`` is
        ``end``; orientations turn the shorter way."""
        n = len(self.free_positions)
        return self._moved(self._change, self._positions(start), self._positions(end), n)

    def _positions(self, given: State | ArrayLike) -> ArrayLike:
        return self.free_state(given)[: len(self.free_positions)] if isinstance(given, State) else given

    def _moved(
        self, move: Callable[[Array, Array], Array], one: ArrayLike, other: ArrayLike, width: int
    ) -> Array:
        """What two arrays with other axes in front give, which are matched."""
        first, second = (np.asarray(given, dtype=np.float64) for given in (one, other))
        for given, own in ((first, len(self.free_positions)), (second, width)):
            if given.ndim == 0 or given.shape[-1] != own:
                raise ValueError(f"an array has the shape {given.shape}; its last axis must have {own} entries")
        axes = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
        return move(
            np.ascontiguousarray(np.broadcast_to(first, (*axes, first.shape[-1]))),
            np.ascontiguousarray(np.broadcast_to(second, (*axes, second.shape[-1]))),
        )

    def evaluate(
        self,
        state: State | ArrayLike,
        force: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        *,
        time_s: float | None = None,
    ) -> Evaluation:
        """Mass matrix, bias and accelerations under a generalised force; generalised force of accelerations, if given.

        Where loops close, mass matrix, bias and inverse dynamics of a tree are those with its loops cut; accelerations keep
        them closed.
        """
        return Evaluation(
            self.mass_matrix(state, time_s=time_s),
            self.bias(state, time_s=time_s),
            self.forward_dynamics(state, force, time_s=time_s),
            None
            if acceleration is None
            else self.inverse_dynamics(state, acceleration, time_s=time_s),
        )

    # studies

    def simulate(
        self,
        state: State | None = None,
        *,
        duration_s: float | None = None,
        sample_period_s: float | None = None,
        at_s: Sequence[float] = (),
        channels: Sequence[str] | None = None,
        controller: Sampled | None = None,
    ) -> Recording:
        """Simulate from a state, by default the model's start, for a duration, by default to the end that the model says.

        ``at_s`` are instants to be recorded beside the regular ones, ``channels`` beginnings of the names to be recorded.
        A ``controller`` takes over the inputs that it names; every tick of it is recorded then, and all channels unless
        ``channels`` names some.

        Raises :class:`SimulationError` when it cannot go on, and :class:`Interrupted` on Ctrl-C; both have the ``recording``
        until then.
        """
        asked = listed("channels", channels)
        if state is not None and not isinstance(state, State):
            raise TypeError(f"state is {state!r}, expected a State, as state() gives it; how long is duration_s=")
        start = self.start() if state is None else state
        if controller is not None:
            from lissom.control import Sampled, simulate_sampled

            if not isinstance(controller, Sampled):
                raise TypeError("controller is no Sampled: write lissom.Sampled(controller, period_s=…)")
            return simulate_sampled(
                self, start, controller, duration_s, sample_period_s, at_s, asked
            )
        told, interruption = _native.run(
            self,
            start,
            duration_s=duration_s,
            sample_period_s=sample_period_s,
            at_s=[float(at) for at in at_s],
            channels=asked,
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

    def equilibrium(self, near: State | None = None) -> Equilibrium:
        """Where it is at rest under its loads, near a state or the one that the model writes. What inputs drive stays."""
        found, told, stability = _native.find_equilibrium(self, self.state() if near is None else near)
        return Equilibrium(found, Recording(**told, model=self.model), stability)

    def linearize(
        self,
        state: State | None = None,
        *,
        about: About = "state",
        times_s: ArrayLike = (),
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
    ) -> Linearization:
        """The equations linearised at a state (by default the model's start), at the equilibrium near it, or along the nominal
        trajectory or the run from it at ``times_s``. ``inputs`` and ``outputs`` choose some by name; by default the inputs are
        those that something of the model drives, and the outputs positions of markers."""
        from lissom.linear import Linearization

        start = self.start() if state is None else state
        arrays = _native.linearized(self, start, about, _instants(times_s), inputs is None)
        found = Linearization(arrays, model=self.model)
        return found.select(inputs=inputs, outputs=outputs)

    def modes(
        self,
        state: State | None = None,
        *,
        about: About = "state",
        times_s: ArrayLike = (),
        count: int = 6,
        free: bool = False,
        closed_loop: bool = False,
        case: int = 1,
    ) -> Modes:
        """Modes of the equations frozen at a state, at an equilibrium, or at ``times_s`` of a motion. Joints that inputs drive
        are held unless ``free``; ``closed_loop`` closes the loops of controllers. ``case`` chooses terms as ``lissom modes``
        does."""
        start = self.start() if state is None else state
        joints = (free, closed_loop)
        return Modes(**_native.find_modes(self, start, about, _instants(times_s), joints, case, count))

    def perturb(self, state: State | None = None, *, points: int = 51, case: int = 1) -> Recording:
        """The run of the system linearised along its nominal trajectory (Jonker & Aarts 2001), from a state to the end that the
        model says. ``case`` chooses terms as ``lissom perturb`` does."""
        start = self.start() if state is None else state
        simulation = self.model.to_dict()["simulation"]
        end_s = simulation.get("start_s", 0.0) + simulation["duration_s"]
        times = np.linspace(start.time_s, end_s, points)
        return Recording(**_native.perturbed(self, start, times.tolist(), case), model=self.model)

    def converge(
        self,
        state: State | None = None,
        *,
        channels: Sequence[str] | None = None,
        within: float = 0.01,
        cross_check: bool = False,
    ) -> dict[str, Any]:
        """How accurate a run of the model is, as ``lissom converge --json`` tells it."""
        asked = listed("channels", channels)
        found: dict[str, Any] = json.loads(_native.converged(self, state, asked, within, cross_check))
        return found

    def compare(
        self,
        fidelities: Sequence[str] = (),
        *,
        state: State | None = None,
        channels: Sequence[str] | None = None,
        within: float = 0.01,
    ) -> dict[str, Any]:
        """Runs with several fidelities held against each other, as ``lissom compare --json`` tells it."""
        chosen = listed("fidelities", fidelities) or []
        asked = listed("channels", channels)
        found: dict[str, Any] = json.loads(_native.compared(self, chosen, state, asked, within))
        return found

    # in the loop

    def simulator(
        self,
        state: State | None = None,
        *,
        dt_s: float,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        release: Sequence[str] = (),
    ) -> Simulator:
        """The mechanism in somebody else's loop: inputs are held over steps of ``dt_s``, outputs are read at their ends.

        By default all inputs of the model are given and all positions and velocities are read. The integrator is the model's,
        with its error control inside a step. Controllers of the model act too; inputs that one of them drives are refused
        unless ``release`` names it, which takes it out.
        """
        from lissom.control import Simulator

        mechanism = self._without(release)
        start = self.start() if state is None else state
        return Simulator(mechanism, start, dt_s, mechanism._driven(inputs), self._read(outputs))

    def batch_simulator(
        self,
        states: State | Sequence[State] | ArrayLike,
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
        from lissom.control import BatchSimulator

        mechanism = self._without(release)
        starts = self._starts(states, members)
        driven, read = mechanism._driven(inputs), self._read(outputs)
        return BatchSimulator(mechanism, starts, dt_s, driven, read, threads)

    def _read(self, outputs: Sequence[str] | None) -> list[str]:
        given = listed("outputs", outputs)
        return [*self.positions, *self.velocities] if given is None else given

    def _starts(self, states: State | Sequence[State] | ArrayLike, members: int | None) -> list[State]:
        """One state per member."""
        starts: list[State]
        if isinstance(states, State):
            starts = [states]
        elif isinstance(states, Sequence) and all(isinstance(one, State) for one in states):
            starts = [one for one in states if isinstance(one, State)]
        else:
            starts = [self.state_at(row) for row in np.atleast_2d(np.asarray(states, dtype=np.float64))]
        if members is not None and len(starts) == 1:
            starts = starts * members
        if members is not None and len(starts) != members:
            raise ValueError(f"there are {len(starts)} states for {members} members")
        return starts

    def rhs(
        self, inputs: Mapping[str, float] | None = None, state: State | None = None
    ) -> Callable[[float, ArrayLike], Array]:
        """The equations of motion as ``f(t, x)`` for ``scipy.integrate.solve_ivp``, where ``x`` holds the positions and
        velocities of states (``state.x``). Inputs have the values that are given, and those of the model otherwise.

        Where loops close, they are not projected back: they drift open with the error of the solver.
        """
        held = dict(inputs or {})
        self._driven(list(held))
        start = self.start() if state is None else state
        native = _native.Simulator(self, start, 1.0, list(held), [])
        if held:
            native.hold(np.array(list(held.values()), dtype=np.float64))
        return native.rates

    def rollout(
        self,
        states: State | Sequence[State] | ArrayLike,
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
        held = np.asarray(inputs, dtype=np.float64)
        if held.ndim != 3:
            raise ValueError(
                f"the inputs have the shape {held.shape}; it must be members, steps, inputs"
            )
        mechanism = self._without(release)
        starts = self._starts(states, len(held))
        names = (mechanism._driven(input_names), listed("outputs", outputs) or [])
        found, read, ok = _native.rolled(mechanism, starts, held, names, dt_s, threads=threads)
        return Rollout(found, read, np.array(ok, dtype=np.bool_))


def _instants(times_s: ArrayLike) -> list[float]:
    found: list[float] = np.atleast_1d(np.asarray(times_s, dtype=np.float64)).tolist()
    return found


def _restored(label: str, toml: str) -> Mechanism:
    return Mechanism(_native.Model.from_text(label, toml, []))


def _restored_state(mechanism: Mechanism, saved: str) -> State:
    return mechanism._state_from_json(saved)
