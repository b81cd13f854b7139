"""What mechanisms answer: several arrays at a time, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lissom._native import State
    from lissom.recording import Recording

__all__ = [
    "ClosedEvaluation",
    "Derivatives",
    "Encounter",
    "EndEffector",
    "Energy",
    "Equilibrium",
    "Evaluation",
    "Modes",
    "Rollout",
]

Array = NDArray[np.float64]


class ClosedEvaluation(NamedTuple):
    """What the equations say of a state with loops closed: ``mass_matrix @ du/dt + bias = force``, in the speeds ``independent``."""

    method: str
    """How accelerations and forces of the closures were formed."""
    independent: list[str]
    """Names of the independent speeds u."""
    complement: Array
    """All velocities are ``complement @ u``: n × speeds."""
    mass_matrix: Array
    bias: Array
    force: Array
    """The generalised force that was given, on the independent speeds."""
    acceleration: Array
    """Of all velocities."""
    closures: dict[str, Array]
    """Force in N and then moment in N m of every closure on its end ``to``, at the frame of that end and in its axes."""


class Derivatives(NamedTuple):
    """How accelerations change, each … × n × n: rows are accelerations, columns what they are differentiated by."""

    position: Array
    """By displacements of the position: steps as :meth:`Mechanism.integrate` takes them, in m or rad."""
    velocity: Array
    """By velocities, in m/s or rad/s."""
    force: Array
    """By generalised forces, in N or N m: the inverse of the mass matrix."""


class Encounter(NamedTuple):
    """Modes that met between two instants, so that something about their numbers is a convention."""

    time_s: float
    """Where they meet, or the later of the instants."""
    modes: list[int]
    """Their places on the first axis of arrays; one alone if it met modes that are not followed."""
    kind: str
    """``"coalescence"`` (two frequencies have become one), ``"separation"`` (they part again), ``"ambiguity"`` (they cannot be told
    apart) or ``"untracked"`` (the equations change too much between instants, and curves may have swapped: take more)."""


class EndEffector(NamedTuple):
    """A mechanism at a marker, at rest with its driven joints held; directions are those of the ground frame."""

    position_m: Array
    compliance_m_per_n: Array
    """Displacement of the marker by a force on it: 3 × 3; NaN where nothing holds it."""
    stiffness_n_per_m: Array
    """Force by displacement: 3 × 3; NaN where the marker cannot be displaced in all directions, or nothing holds it."""
    is_stable: bool
    """Whether the mechanism comes back when it is touched; where it does not, a displacement by a force says where the balance is, not that
    anything goes there."""
    free: str | None
    """The coordinate that nothing holds."""
    jacobian: Array
    """Velocity of the marker for every driven coordinate at unit rate, nothing deforming: 3 × coordinates."""
    driven: list[str]
    """The coordinates that are driven, and are held."""
    frequency_rad_per_s: float
    """Lowest natural frequency; NaN where nothing vibrates or the equilibrium is unstable."""


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
    load_parts: int
    """In how many parts the load was added."""


class Evaluation(NamedTuple):
    """What the equations say of states: ``mass_matrix @ acceleration + bias = force``."""

    mass_matrix: Array
    bias: Array
    acceleration: Array
    inverse_dynamics: Array | None


class Modes(NamedTuple):
    """Modes at the instants ``time_s``, followed along a motion where there are several: first axis modes, second instants.

    Frequencies leave velocity terms out; damping, growth and eigenvalues are those of the complete equations.
    """

    time_s: Array
    frequency_rad_per_s: Array
    """NaN where the stiffness pushes away."""
    damping_ratio: Array
    growth_per_s: Array
    """How fast a mode grows; zero where it does not."""
    eigenvalues: NDArray[np.complex128]
    """Modes × instants × 2: conjugate, or real and rising."""
    shape: Array
    """Modes × instants × ``coordinates``, with unit modal mass."""
    mac: Array
    """Modal assurance with the same mode at the instant before; one at the first."""
    coordinates: list[str]
    rigid: list[str]
    """Coordinates that nothing resists, taken out before."""
    held: list[str]
    """Coordinates that are held because inputs drive them."""
    growing: list[NDArray[np.complex128]]
    """All eigenvalues that grow, for every instant; also those of modes that are not followed."""
    further: list[NDArray[np.complex128]]
    """With states of controllers in the loop: the eigenvalues that belong to no mode, for every instant."""
    judged_all: bool
    """Whether nothing else can grow; not so where the lowest modes of many were sought alone."""
    encounters: list[Encounter]
    """Where numbers of modes are a convention, by rising instants."""
    vibrating: list[dict[str, float]]
    """Those that vibrate at the last instant, as the model file takes them for input shaping:
    ``model.replace({"shaping.zvd": modes.vibrating})``."""


class Rollout(NamedTuple):
    """Runs of several members side by side."""

    states: Array
    """Members × steps + 1 × positions and velocities; the first is where a member begins."""
    outputs: Array
    """Members × steps + 1 × outputs."""
    ok: NDArray[np.bool_]
    """Which members reached their end; what the others did not reach is NaN."""
