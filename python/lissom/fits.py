"""Numbers of a model from measured data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lissom._native import fitted
from lissom._names import listed
from lissom.model import Model
from lissom.recording import Recording

__all__ = ["Fit", "fit"]

Array = NDArray[np.float64]


class Fit(NamedTuple):
    """What :func:`lissom.fit` has found."""

    values: dict[str, float]
    """The parameters by path."""
    deviations: dict[str, float]
    """Their standard deviations; infinite where the data say nothing of one."""
    intervals: dict[str, tuple[float, float]]
    """What covers the truth in 95 of 100 cases, if noise is all that is left over."""
    bounds: dict[str, float]
    """Parameters that stay at a bound of the model because the data ask for values beyond, with that bound."""
    covariance: Array
    """Of the parameters, in their order; zero for those that stay at a bound."""
    model: Model
    """The model with these values."""
    recording: Recording
    """Measured and fitted channels."""
    summary: dict[str, Any]
    """What ``lissom fit --json`` tells, ``warnings`` among it."""


def fit(model: Model, measured: Recording, parameters: Sequence[str], *, each: bool = False) -> Fit:
    """Find numbers of a model, by path, for which its channels are closest to measured ones, as ``lissom fit`` does.

    ``measured`` has channels of the model at any instants, as :func:`lissom.read_csv` reads them; NaN is left out. A path with ``*`` is one
    number in all places, or with ``each`` one for each of them.
    """
    if not isinstance(model, Model):
        raise TypeError(f"a fit is of a Model, not {model!r}; a mechanism has its own as .model")
    channels = [(name, measured.units[name], np.ascontiguousarray(measured[name])) for name in measured]
    paths = list(listed("parameters", parameters) or [])
    found, text, drawn = fitted(model._native, np.ascontiguousarray(measured.time_s), channels, paths, each)
    told: dict[str, Any] = json.loads(found)

    def known(value: float | None, otherwise: float = np.inf) -> float:
        return otherwise if value is None else value

    own = {one["path"]: one for one in told["parameters"]}
    return Fit(
        values={path: one["value"] for path, one in own.items()},
        deviations={path: known(one["deviation"]) for path, one in own.items()},
        intervals={
            path: (known(one["interval_95"][0], -np.inf), known(one["interval_95"][1])) for path, one in own.items()
        },
        bounds={path: one["bound"] for path, one in own.items() if one["bound"] is not None},
        covariance=np.array([[known(entry) for entry in row] for row in told["covariance"]]),
        model=Model.from_text(text, name=model.label),
        recording=Recording(drawn["time_s"], drawn["channels"], drawn["units"]),
        summary=told,
    )
