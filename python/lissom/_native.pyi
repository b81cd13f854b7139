"""The binding to the core. Use it through the package ``lissom``."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "BatchSimulator",
    "Body",
    "Mechanism",
    "Model",
    "Simulator",
    "State",
    "Stop",
    "SweepFolder",
    "__version__",
    "closed_evaluation",
    "compared",
    "converged",
    "drawn",
    "end_effector",
    "find_equilibrium",
    "find_modes",
    "fitted",
    "inverted",
    "json_schema",
    "limit_threads",
    "linearized",
    "main_with",
    "mapped",
    "measured",
    "perturbed",
    "placed",
    "read_recording",
    "responded",
    "rolled",
    "run",
    "shipped_models",
    "stepped_summary",
    "write_page",
    "write_recording",
    "write_run",
]

__version__: str

_Array = NDArray[np.float64]
_Names = list[tuple[str, str]]
_Channels = Sequence[tuple[str, str, _Array]]

@final
class Model:
    @staticmethod
    def load(path: str | os.PathLike[str], changes: Sequence[str]) -> Model: ...
    @staticmethod
    def from_text(label: str, text: str, changes: Sequence[str]) -> Model: ...
    @staticmethod
    def shipped(name: str, changes: Sequence[str]) -> Model: ...
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def toml(self) -> str: ...
    def json(self) -> str: ...
    def summary(self) -> str: ...

@final
class Body:
    @staticmethod
    def of(model: Model, name: str) -> Body: ...
    @staticmethod
    def read(path: str | os.PathLike[str]) -> Body: ...
    @property
    def text(self) -> str: ...
    def summary(self) -> str: ...
    def write(self, path: str | os.PathLike[str]) -> None: ...
    def write_page(self, path: str | os.PathLike[str]) -> None: ...

@final
class State:
    """Where a mechanism is: positions and velocities by name, with what evaluations and the integrator remember. It never changes."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that it is a state of."""
    @property
    def time_s(self) -> float:
        """The instant, in s."""
    @property
    def position(self) -> _Array:
        """Positions in the order and units of `mechanism.positions`, a copy."""
    @property
    def velocity(self) -> _Array:
        """Velocities in the order and units of `mechanism.velocities`, a copy."""
    @property
    def control(self) -> dict[str, float]:
        """States of controllers and actuators by name."""
    @property
    def x(self) -> _Array:
        """Positions, then velocities, a copy."""
    def names(self) -> list[str]:
        """Names of the positions, then of the velocities."""
    def replace(self, values: dict[str, float], *, time_s: float | None = None) -> State:
        """The state with other values by name. Where loops close, what is not named is as the model writes it or follows."""
    def to_json(self) -> str:
        """The state as `state.json` has it."""
    def __getitem__(self, name: str, /) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...

@disjoint_base
class Mechanism:
    def __new__(cls, model: Model) -> Self: ...
    def _coordinates(self) -> tuple[_Names, _Names]: ...
    def _free_coordinates(self) -> tuple[_Names, _Names]: ...
    def _signals(self) -> _Names: ...
    def _input_names(self) -> list[str]: ...
    def _markers(self) -> list[str]: ...
    def start(self) -> State:
        """The state in which the model starts: as written, in equilibrium or quasi-static, as `simulation.initial` says."""
    def _state_of(self, values: dict[str, float], time_s: float | None) -> State: ...
    def state_at(self, x: ArrayLike, *, time_s: float | None = None) -> State:
        """The state of positions and velocities as they stand in an array, in the order of `positions` and `velocities`."""
    def _state_named(self, named: str) -> State: ...
    def _recorded_state(self, time_s: _Array, channels: _Channels, at_s: float) -> State: ...
    def _state_from_json(self, json: str) -> State: ...
    def free_state(self, state: State) -> _Array:
        """A state with every joint free, as evaluations take it: positions, then velocities."""
    def mass_matrix(
        self, state: State | ArrayLike, *, time_s: float | None = None, out: _Array | None = None
    ) -> _Array:
        """The mass matrix, n × n, in kg, kg m and kg m² by the units of the velocities. Where loops close, a tree has them cut."""
    def bias(
        self, state: State | ArrayLike, *, time_s: float | None = None, out: _Array | None = None
    ) -> _Array:
        """The generalised force, in N or N m, that holds all accelerations at zero: gravity, springs, friction, velocity terms."""
    def forward_dynamics(
        self,
        state: State | ArrayLike,
        force: ArrayLike | None = None,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array:
        """Accelerations under a generalised force in N or N m (none if absent), in m/s² or rad/s². Loops stay closed."""
    def inverse_dynamics(
        self,
        state: State | ArrayLike,
        acceleration: ArrayLike,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array:
        """The generalised force, in N or N m, of accelerations. Where loops close, a tree has them cut."""
    def _energies(
        self, state: State | ArrayLike, *, time_s: float | None = None, out: _Array | None = None
    ) -> _Array: ...
    def marker_pose(
        self,
        state: State | ArrayLike,
        marker: str,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array:
        """Rotation and position of a marker in the ground frame, as a 4 × 4 matrix; positions in m."""
    def marker_twist(
        self,
        state: State | ArrayLike,
        marker: str,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array:
        """Angular velocity in rad/s and then velocity in m/s of a marker, in ground axes."""
    def _derivatives(
        self,
        state: State | ArrayLike,
        force: ArrayLike | None = None,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
    def _displaced(self, position: _Array, step: _Array, out: _Array | None = None) -> _Array: ...
    def _change(self, start: _Array, end: _Array, out: _Array | None = None) -> _Array: ...
    def _ground_jacobian(
        self,
        state: State | ArrayLike,
        marker: str,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array: ...

@final
class Simulator:
    def __new__(
        cls,
        mechanism: Mechanism,
        state: State,
        dt_s: float,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> Self: ...
    @property
    def time_s(self) -> float: ...
    @property
    def dt_s(self) -> float: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def state(self) -> State: ...
    def set_state(self, state: State) -> None: ...
    def begin(self, state: State) -> None: ...
    def read(self) -> _Array: ...
    def rates(self, time_s: float, x: ArrayLike) -> _Array: ...
    def hold(self, u: ArrayLike | None) -> None: ...
    def step(self, u: ArrayLike | None = None, /) -> _Array: ...
    def advance(self, to_s: float, u: ArrayLike | None = None, /) -> _Array: ...

@final
class BatchSimulator:
    def __new__(
        cls,
        mechanism: Mechanism,
        states: Sequence[State | None],
        dt_s: float,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def dt_s(self) -> float: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    def ok(self) -> list[bool]: ...
    def times(self) -> _Array: ...
    def state(self, member: int) -> State: ...
    def begin(self, members: Sequence[int], states: Sequence[State | None]) -> None: ...
    def read(self) -> _Array: ...
    def step(self, u: ArrayLike, *, out: _Array | None, threads: int | None) -> _Array: ...

@final
class Stop:
    def __new__(cls) -> Self: ...
    def ask(self) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_raised: object) -> None: ...

@final
class SweepFolder:
    def __new__(cls, path: str | os.PathLike[str], identity: str) -> Self: ...
    def found(self) -> dict[int, str]: ...
    def add(self, at: int, row: str) -> None: ...
    def close(self) -> None: ...

def drawn(distributions: Sequence[tuple[str, str]], runs: int, seed: int, latin_hypercube: bool) -> list[list[float]]: ...
def limit_threads(most: int) -> int: ...
def main_with(arguments: Sequence[str]) -> int: ...
def json_schema() -> str: ...
def shipped_models() -> list[tuple[str, str]]: ...
def read_recording(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], Model | None, str | None]: ...
def fitted(
    model: Model, time_s: _Array, channels: _Channels, parameters: Sequence[str], each: bool
) -> tuple[str, str, dict[str, Any]]: ...
def measured(file: str, text: str, names: Mapping[str, str], units: Mapping[str, str]) -> dict[str, Any]: ...
def write_recording(path: str | os.PathLike[str], time_s: _Array, channels: _Channels) -> None: ...
def stepped_summary(run: Mapping[str, Any], duration_s: float, at_s: Sequence[float], wall_s: float) -> str: ...
def write_run(folder: str | os.PathLike[str], run: Mapping[str, Any]) -> None: ...
def write_page(
    path: str | os.PathLike[str], runs: Sequence[tuple[str, Mapping[str, Any]]], channels: Sequence[str]
) -> None: ...
def run(
    mechanism: Mechanism,
    state: State,
    *,
    lasts_s: tuple[float, float] | None,
    sample_period_s: float | None,
    at_s: Sequence[float],
    channels: Sequence[str] | None,
    folder: tuple[str, float | None, bool] | None,
) -> tuple[dict[str, Any], BaseException | None]: ...
def responded(
    equations: Mapping[str, Any], frequencies: tuple[Sequence[float] | None, tuple[float, float] | None, int]
) -> dict[str, Any]: ...
def placed(
    mechanism: Mechanism, near: State, markers: Sequence[tuple[str, str, float, float]], held: Sequence[str]
) -> State: ...
def closed_evaluation(mechanism: Mechanism, state: State, force: ArrayLike | None) -> dict[str, Any]: ...
def find_equilibrium(mechanism: Mechanism, state: State) -> tuple[State, dict[str, Any], str | None, int]: ...
def linearized(
    mechanism: Mechanism, state: State, about: str, instants: tuple[Sequence[float], int | None], chosen: tuple[bool, bool]
) -> dict[str, Any]: ...
def find_modes(
    mechanism: Mechanism,
    state: State,
    about: str,
    instants: tuple[Sequence[float], int | None],
    joints: tuple[bool, bool],
    case: int,
    count: int,
) -> dict[str, Any]: ...
def inverted(
    mechanism: Mechanism, times_s: Sequence[float], flexible: tuple[str | None, str | None]
) -> tuple[dict[str, Any], str]: ...
def end_effector(mechanism: Mechanism, near: State, marker: str) -> dict[str, Any]: ...
def mapped(
    mechanism: Mechanism,
    marker: str,
    axes: Sequence[tuple[str, Sequence[float]]],
    threads: int | None,
) -> dict[str, Any]: ...
def perturbed(
    mechanism: Mechanism, state: State, points: int, case: int, order: tuple[bool, bool]
) -> tuple[dict[str, Any], str, BaseException | None]: ...
def converged(
    mechanism: Mechanism, state: State | None, channels: Sequence[str] | None, within: float, cross_check: bool
) -> str: ...
def compared(
    mechanism: Mechanism, fidelities: Sequence[str], state: State | None, channels: Sequence[str] | None, within: float
) -> str: ...
def rolled(
    mechanism: Mechanism,
    states: Sequence[State | None],
    inputs: ArrayLike,
    names: tuple[Sequence[str], Sequence[str]],
    dt_s: float,
    *,
    threads: int | None,
) -> tuple[_Array, _Array, list[bool]]: ...
