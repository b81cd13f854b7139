"""What mechanisms answer: several arrays at a time, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lissom._native import State
    from lissom.recording import Recording

__all__ = ["Derivatives", "Energy", "Equilibrium", "Evaluation", "Modes", "Rollout"]

Array = NDArray[np.float64]


class Derivatives(NamedTuple):
    """How accelerations change, each … × n × n: rows are accelerations, columns what they are differentiated by."""

    position: Array
    """By displacements of the position: steps as :meth:`Mechanism.integrate` takes them, in m or rad."""
    velocity: Array
    """By velocities, in m/s or rad/s."""
    force: Array
    """By generalised forces, in N or N m: the inverse of the mass matrix."""


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
