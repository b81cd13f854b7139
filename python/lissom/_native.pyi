"""The binding to the core. Use it through the package ``lissom``."""

import os
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, disjoint_base

__all__ = [
    "Mechanism",
    "Model",
    "Simulator",
    "State",
    "__version__",
    "compared",
    "converged",
    "find_equilibrium",
    "find_modes",
    "json_schema",
    "linearized",
    "main_with",
    "perturbed",
    "read_recording",
    "rolled",
    "run",
    "shipped_models",
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

@final
class State:
    """Where a mechanism is: positions, velocities and what evaluations remember. It never changes."""

    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def time_s(self) -> float: ...
    @property
    def position(self) -> _Array: ...
    @property
    def velocity(self) -> _Array: ...
    @property
    def x(self) -> _Array: ...
    def names(self) -> list[str]: ...
    def replace(self, values: dict[str, float], *, time_s: float | None = None) -> State: ...
    def to_json(self) -> str: ...
    def __getitem__(self, name: str, /) -> float: ...

@disjoint_base
class Mechanism:
    def __new__(cls, model: Model) -> Self: ...
    def _coordinates(self) -> tuple[_Names, _Names]: ...
    def _free_coordinates(self) -> tuple[_Names, _Names]: ...
    def _signals(self) -> list[tuple[str, str, str]]: ...
    def _input_names(self) -> list[str]: ...
    def _markers(self) -> list[str]: ...
    def start(self) -> State: ...
    def _state_of(self, values: dict[str, float], time_s: float | None) -> State: ...
    def state_at(self, x: ArrayLike, *, time_s: float | None = None) -> State: ...
    def _state_from_json(self, json: str) -> State: ...
    def free_state(self, state: State) -> _Array: ...
    def mass_matrix(
        self, state: State | ArrayLike, *, time_s: float | None = None, out: _Array | None = None
    ) -> _Array: ...
    def bias(
        self, state: State | ArrayLike, *, time_s: float | None = None, out: _Array | None = None
    ) -> _Array: ...
    def forward_dynamics(
        self,
        state: State | ArrayLike,
        force: ArrayLike | None = None,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
    def inverse_dynamics(
        self,
        state: State | ArrayLike,
        acceleration: ArrayLike,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
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
    ) -> _Array: ...
    def marker_twist(
        self,
        state: State | ArrayLike,
        marker: str,
        *,
        time_s: float | None = None,
        out: _Array | None = None,
    ) -> _Array: ...
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
    def read(self) -> _Array: ...
    def rates(self, time_s: float, x: ArrayLike) -> _Array: ...
    def hold(self, u: ArrayLike | None) -> None: ...
    def step(self, u: ArrayLike | None = None, /) -> _Array: ...
    def advance(self, to_s: float, u: ArrayLike | None = None, /) -> _Array: ...

def main_with(arguments: Sequence[str]) -> int: ...
def json_schema() -> str: ...
def shipped_models() -> list[tuple[str, str]]: ...
def read_recording(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], Model | None, str | None]: ...
def write_recording(path: str | os.PathLike[str], time_s: _Array, channels: _Channels) -> None: ...
def write_run(
    folder: str | os.PathLike[str],
    model: Model,
    time_s: _Array,
    channels: _Channels,
    summary: str,
    options: str,
    stopped_at_s: float | None,
) -> None: ...
def run(
    mechanism: Mechanism,
    state: State,
    *,
    duration_s: float | None,
    sample_period_s: float | None,
    at_s: Sequence[float],
    channels: Sequence[str] | None,
) -> tuple[dict[str, Any], BaseException | None]: ...
def find_equilibrium(mechanism: Mechanism, state: State) -> tuple[State, dict[str, Any], str | None]: ...
def linearized(
    mechanism: Mechanism, state: State, about: str, times_s: Sequence[float], driven: bool
) -> dict[str, Any]: ...
def find_modes(
    mechanism: Mechanism,
    state: State,
    about: str,
    times_s: Sequence[float],
    joints: tuple[bool, bool],
    case: int,
    count: int,
) -> dict[str, Any]: ...
def perturbed(mechanism: Mechanism, state: State, times_s: Sequence[float], case: int) -> dict[str, Any]: ...
def converged(
    mechanism: Mechanism, state: State | None, channels: Sequence[str] | None, within: float, cross_check: bool
) -> str: ...
def compared(
    mechanism: Mechanism, fidelities: Sequence[str], channels: Sequence[str] | None, within: float
) -> str: ...
def rolled(
    mechanism: Mechanism,
    states: Sequence[State],
    inputs: ArrayLike,
    names: tuple[Sequence[str], Sequence[str]],
    dt_s: float,
    threads: int,
) -> tuple[_Array, _Array, list[bool]]: ...
