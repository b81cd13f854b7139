"""The equations of a mechanism at states: names of its free coordinates, and evaluations in arrays of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._arrays import matched
from lissom._native import State
from lissom.results import Derivatives, Energy, Evaluation

Array = NDArray[np.float64]


class Equations(_native.Mechanism):
    """What :class:`lissom.Mechanism` says of states by itself, with every joint free and inputs left out."""

    @cached_property
    def free_positions(self) -> Mapping[str, str]:
        """Names and units of the positions with every joint free, as arrays of states have them."""
        return MappingProxyType(dict(self._free_coordinates()[0]))

    @cached_property
    def free_velocities(self) -> Mapping[str, str]:
        """Names and units of the velocities with every joint free, as arrays of states, forces and accelerations have them."""
        return MappingProxyType(dict(self._free_coordinates()[1]))

    def energy(self, state: State | ArrayLike, *, time_s: float | None = None) -> Energy:
        """Kinetic energy, strain energy and energy of gravity in J."""
        found = self._energies(state, time_s=time_s)
        return Energy(*(found[..., at][()] for at in range(3)))

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

    def derivatives(
        self, state: State | ArrayLike, force: ArrayLike | None = None, *, time_s: float | None = None
    ) -> Derivatives:
        """Derivatives of :meth:`forward_dynamics` by positions, velocities and forces, exact but for rounding.

        Where loops of a tree close, changes that open them are among the columns: what they do is that of equations which keep
        the closures' accelerations at zero. Changes that keep loops closed change the closed mechanism so.
        """
        found = self._derivatives(state, force, time_s=time_s)
        return Derivatives(*(found[..., at, :, :] for at in range(3)))

    def integrate(
        self, position: State | ArrayLike, step: ArrayLike, *, out: Array | None = None
    ) -> Array:
        """Positions after velocities of ``step`` in unit time: the sum where velocities are rates of positions, turned
        quaternions where they are not. Positions go by :attr:`free_positions`, steps by :attr:`free_velocities`, last axis; other
        axes are matched as NumPy does."""
        counts = (len(self.free_positions), len(self.free_velocities))
        return self._displaced(*matched(self._positions(position), step, counts), out=out)

    def difference(
        self, start: State | ArrayLike, end: State | ArrayLike, *, out: Array | None = None
    ) -> Array:
        """Velocities that lead from one position to another in unit time, so that ``integrate(start, difference(start, end))`` is
        ``end``; orientations turn the shorter way."""
        counts = (len(self.free_positions),) * 2
        return self._change(*matched(self._positions(start), self._positions(end), counts), out=out)

    def _positions(self, given: State | ArrayLike) -> ArrayLike:
        return self.free_state(given)[: len(self.free_positions)] if isinstance(given, State) else given

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
