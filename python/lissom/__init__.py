"""Dynamics of robot manipulators whose links bend.

>>> import lissom
>>> mech = lissom.shipped("two-link-arm").build()
>>> rec = mech.simulate(duration_s=0.5)
>>> rec["hand.position"].shape
(51, 3)

Values are in SI units and arrays are those of NumPy. The conventions (order of twists, quaternions, positions and
velocities) are on one page of the guide, ``docs/guide/conventions.md``.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lissom._native import State, __version__
    from lissom.bodies import ReducedBody, read_body
    from lissom.control import BatchSimulator, Sampled, Simulator
    from lissom.errors import (
        Interrupted,
        LissomError,
        ModelError,
        Problem,
        SimulationError,
        SweepError,
    )
    from lissom.fits import Fit, fit
    from lissom.linear import Linearization
    from lissom.matrices import body_from_matrices
    from lissom.measured import read_csv
    from lissom.mechanism import Mechanism
    from lissom.model import Model, load, shipped, shipped_models
    from lissom.recording import Page, Recording
    from lissom.response import Response
    from lissom.results import (
        ClosedEvaluation,
        Derivatives,
        Encounter,
        EndEffector,
        Energy,
        Equilibrium,
        Evaluation,
        Modes,
        Rollout,
    )
    from lissom.sweeps import draw, sweep, threads
    from lissom.workspace import WorkspaceMap

# Importing NumPy takes its time, and the command does without.
_HOME = {
    "BatchSimulator": "control",
    "ClosedEvaluation": "results",
    "Derivatives": "results",
    "Encounter": "results",
    "EndEffector": "results",
    "Energy": "results",
    "Equilibrium": "results",
    "Evaluation": "results",
    "Fit": "fits",
    "Interrupted": "errors",
    "Linearization": "linear",
    "LissomError": "errors",
    "Mechanism": "mechanism",
    "Model": "model",
    "ModelError": "errors",
    "Modes": "results",
    "Page": "recording",
    "Problem": "errors",
    "Recording": "recording",
    "ReducedBody": "bodies",
    "Response": "response",
    "Rollout": "results",
    "Sampled": "control",
    "SimulationError": "errors",
    "Simulator": "control",
    "State": "_native",
    "SweepError": "errors",
    "WorkspaceMap": "workspace",
    "__version__": "_native",
    "body_from_matrices": "matrices",
    "draw": "sweeps",
    "fit": "fits",
    "load": "model",
    "read_body": "bodies",
    "read_csv": "measured",
    "shipped": "model",
    "shipped_models": "model",
    "sweep": "sweeps",
    "threads": "sweeps",
}

__all__ = [
    "BatchSimulator",
    "ClosedEvaluation",
    "Derivatives",
    "Encounter",
    "EndEffector",
    "Energy",
    "Equilibrium",
    "Evaluation",
    "Fit",
    "Interrupted",
    "Linearization",
    "LissomError",
    "Mechanism",
    "Model",
    "ModelError",
    "Modes",
    "Page",
    "Problem",
    "Recording",
    "ReducedBody",
    "Response",
    "Rollout",
    "Sampled",
    "SimulationError",
    "Simulator",
    "State",
    "SweepError",
    "WorkspaceMap",
    "__version__",
    "body_from_matrices",
    "draw",
    "fit",
    "load",
    "read_body",
    "read_csv",
    "shipped",
    "shipped_models",
    "sweep",
    "threads",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        if name in ("gym", "spec"):
            return importlib.import_module(f"lissom.{name}")
        message = f"module 'lissom' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])
    return getattr(importlib.import_module(f"lissom.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "gym", "spec"])
