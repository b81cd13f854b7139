"""Numbers that callers give, and that come back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["complex_of", "instants", "matched", "numbers", "refuse_below_one"]

Array = NDArray[np.float64]


def matched(one: ArrayLike, other: ArrayLike, counts: tuple[int, int]) -> tuple[Array, Array]:
    """Two arrays with last axes of these lengths, their other axes matched as NumPy does."""
    given = [np.asarray(array, dtype=np.float64) for array in (one, other)]
    for array, count in zip(given, counts, strict=True):
        if array.ndim == 0 or array.shape[-1] != count:
            raise ValueError(f"an array has the shape {array.shape}; its last axis must have {count} entries")
    axes = np.broadcast_shapes(*(array.shape[:-1] for array in given))
    first, second = (np.broadcast_to(array, (*axes, array.shape[-1])) for array in given)
    return np.ascontiguousarray(first), np.ascontiguousarray(second)


def instants(times_s: ArrayLike) -> list[float]:
    """Instants in s: several, one, or none."""
    found: list[float] = np.atleast_1d(np.asarray(times_s, dtype=np.float64)).tolist()
    return found


def numbers(values: Mapping[str, float]) -> dict[str, float]:
    """Values by name, each a number."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{name!r} is {value!r}, expected a number") from None
    return found


def refuse_below_one(what: str, count: int | None) -> None:
    """Refuse how many of something there should be where that is none."""
    if count is not None and count < 1:
        raise ValueError(f"{what} is {count}, expected at least one")


def complex_of(parts: Array) -> NDArray[np.complex128]:
    """Numbers of which the last axis has both parts."""
    return parts[..., 0] + 1j * parts[..., 1]
