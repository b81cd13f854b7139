"""Frequency responses of linear models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lissom._names import listed, place

__all__ = ["Response"]

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]


class Response(NamedTuple):
    """How outputs of a linear model answer to sinusoidal inputs; :meth:`lissom.Linearization.response` makes one."""

    frequency_rad_per_s: Array
    """Angular frequencies, rising."""
    gain: ComplexArray
    """G(iω): frequencies × outputs × inputs, in the ``units`` of each pair; NaN where an undamped resonance has no value."""
    static_gain: Array
    """G(0): outputs × inputs; NaN where something moves that nothing holds."""
    poles: ComplexArray
    """In 1/s, by rising absolute value, whether or not inputs reach and outputs see them; of conjugate ones that with positive imaginary part."""
    zeros: list[list[ComplexArray]]
    """Transmission zeros in 1/s of every pair: ``zeros[output][input]``; of conjugate ones that with positive imaginary part."""
    minimum_phase: NDArray[np.bool_]
    """Outputs × inputs: whether no zero of the pair lies in the right half-plane."""
    inputs: list[str]
    outputs: list[str]
    units: list[list[str]]
    """Unit of the gain of every pair: ``units[output][input]``."""

    def between(self, input: str, output: str) -> ComplexArray:  # noqa: A002
        """G(iω) from one input to one output, by their names."""
        column, row = place("input", input, self.inputs), place("output", output, self.outputs)
        found: ComplexArray = self.gain[:, row, column]
        return found

    def plot(
        self, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None, axes: Any = None
    ) -> Any:
        """Draw magnitude and phase over frequency with matplotlib, into two ``axes`` or a new figure; returns the axes.

        All pairs are drawn unless ``inputs`` or ``outputs`` choose some; those that are zero are left out.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.4), layout="constrained")
        columns = [place("input", name, self.inputs) for name in listed("inputs", inputs) or self.inputs]
        rows = [place("output", name, self.outputs) for name in listed("outputs", outputs) or self.outputs]
        above, below = axes
        units = set()
        for row in rows:
            for column in columns:
                gain = self.gain[:, row, column]
                if not np.any(gain):
                    continue
                units.add(self.units[row][column])
                label = f"{self.inputs[column]} to {self.outputs[row]}"
                above.loglog(self.frequency_rad_per_s, np.abs(gain), linewidth=1.2, label=label)
                # the 0 and -π of undamped vibrations lie inside, where rounding does not turn them over
                phase = np.angle(gain)
                phase = np.where(phase > np.pi / 2, phase - 2 * np.pi, phase)
                below.semilogx(self.frequency_rad_per_s, phase, linewidth=1.2)
        above.set_ylabel(f"magnitude [{', '.join(sorted(units))}]")
        above.legend(frameon=False)
        below.set_xlabel("angular frequency [rad/s]")
        below.set_ylabel("phase [rad]")
        for own in (above, below):
            own.grid(alpha=0.3, linewidth=0.5)
        return axes

    def __repr__(self) -> str:
        return (
            f"<lissom.Response of {len(self.outputs)} outputs to {len(self.inputs)} inputs "
            f"at {len(self.frequency_rad_per_s)} frequencies>"
        )


def gain_unit(output: str, input: str) -> str:  # noqa: A002
    """The unit of an output per unit of an input."""
    return f"{output}/({input})" if " " in input else f"{output}/{input}"
