"""Maps of a mechanism over its workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lissom import _native
from lissom._names import place

if TYPE_CHECKING:
    from lissom.mechanism import Mechanism

__all__ = ["WorkspaceMap", "mapped"]

Array = NDArray[np.float64]
Quantity: TypeAlias = Literal["lowest_frequency", "least_stiffness", "manipulability", "conditioning"]

_UNITS = {"lowest_frequency": "rad/s", "least_stiffness": "N/m", "manipulability": "", "conditioning": "1"}


class WorkspaceMap(NamedTuple):
    """A mechanism at a marker over a grid; :meth:`lissom.Mechanism.map` makes one.

    Arrays have a row for every value of the second axis and a column for every value of the first, and NaN where the mechanism cannot be.
    """

    marker: str
    axes: dict[str, Array]
    """Both axes and their values."""
    units: tuple[str, str]
    """Their units."""
    lowest_frequency: Array
    """Lowest natural frequency with the drives held, in rad/s."""
    least_stiffness: Array
    """Smallest stiffness at the marker of all directions, in N/m."""
    manipulability: Array
    """Product of the singular values of the Jacobian of the drives."""
    conditioning: Array
    """Smallest singular value of that Jacobian by its largest: zero where the mechanism is singular."""
    position_m: Array
    """Of the marker: rows × columns × 3."""
    compliance_m_per_n: Array
    """Displacement of the marker by a force on it: rows × columns × 3 × 3."""
    errors: dict[tuple[int, int], str]
    """Why the mechanism cannot be at a place, by row and column."""

    def plot(self, quantity: Quantity = "lowest_frequency", *, ax: Any = None) -> Any:
        """Draw a quantity with matplotlib, into ``ax`` or a new figure; returns the axes."""
        place("quantity", quantity, list(_UNITS))
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
        (across, columns), (upward, rows) = self.axes.items()
        drawn = ax.pcolormesh(columns, rows, np.ma.masked_invalid(getattr(self, quantity)), shading="nearest")
        name, unit = quantity.replace("_", " "), _UNITS[quantity]
        ax.figure.colorbar(drawn, ax=ax, label=f"{name} [{unit}]" if unit not in ("", "1") else name)
        ax.set_xlabel(f"{across} [{self.units[0]}]")
        ax.set_ylabel(f"{upward} [{self.units[1]}]")
        return ax

    def __repr__(self) -> str:
        rows, columns = self.conditioning.shape
        return f"<lissom.WorkspaceMap of {self.marker!r} over {columns} × {rows} places, {len(self.errors)} of them out of reach>"


def mapped(
    mechanism: Mechanism, over: Mapping[str, ArrayLike], marker: str | None, threads: int | None
) -> WorkspaceMap:
    """Looks at a mechanism over a grid."""
    if len(over) != 2:
        raise ValueError(f'a map is over two coordinates, as {{"hand.x": x, "hand.y": y}}; there are {len(over)}')
    if marker is None:
        if not mechanism.markers:
            raise ValueError("the model has no [[marker]] to look at")
        marker = mechanism.markers[-1]
    axes = {name: np.asarray(values, dtype=np.float64).ravel() for name, values in over.items()}
    told = _native.mapped(mechanism, marker, [(name, values.tolist()) for name, values in axes.items()], threads)
    columns = len(next(iter(axes.values())))
    errors = {divmod(at, columns): error for at, error in enumerate(told.pop("errors")) if error is not None}
    units = tuple(told.pop("units"))
    return WorkspaceMap(marker=marker, axes=axes, units=units, errors=errors, **told)
