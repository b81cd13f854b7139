"""Many runs of one model."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import lissom

MODEL = {"simulation.duration_s": 0.02}
VALUES = {"payload.gripper.mass_kg": np.array([0.2, 0.6]), "simulation.duration_s": [0.01, 0.02]}


def measure(rec: lissom.Recording) -> dict[str, float]:
    """Something of a run."""
    return {"end": rec.time_s[-1], "x": rec["hand.position.x"][-1]}


def expected() -> list[float]:
    model = lissom.shipped("two-link-arm", MODEL)
    found = []
    for mass in (0.2, 0.6):
        for duration_s in (0.01, 0.02):
            changes = {"payload.gripper.mass_kg": mass, "simulation.duration_s": duration_s}
            found.append(float(model.replace(changes).build().simulate()["hand.position.x"][-1]))
    return found


def test_threads_and_processes_find_the_same() -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    by_threads = lissom.sweep(model, VALUES, measure=measure, window=3)
    assert [row["x"] for row in by_threads] == expected()
    assert [row["end"] for row in by_threads] == [0.01, 0.02, 0.01, 0.02]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        by_processes = lissom.sweep(model, VALUES, measure=measure, executor=executor)
    assert by_processes == by_threads


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    calls: list[float] = []

    def broken(rec: lissom.Recording) -> dict[str, float]:
        if len(calls) == 2:
            raise ZeroDivisionError
        calls.append(float(rec.time_s[-1]))
        return measure(rec)

    with pytest.raises(ZeroDivisionError):
        lissom.sweep(model, VALUES, measure=broken, out=tmp_path, window=1)
    again: list[float] = []

    def counted(rec: lissom.Recording) -> dict[str, float]:
        again.append(float(rec.time_s[-1]))
        return measure(rec)

    rows = lissom.sweep(model, VALUES, measure=counted, out=tmp_path)
    assert len(calls) == 2 and len(again) == 2 and [row["x"] for row in rows] == expected()
    with pytest.raises(ValueError, match="another sweep"):
        lissom.sweep(model, {"simulation.duration_s": [0.01]}, measure=measure, out=tmp_path)


def test_a_model_that_fails_is_a_row_with_its_error() -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    rows = lissom.sweep(model, {"payload.gripper.mass_kg": [-1.0, 0.5]}, measure=measure)
    assert "mass_kg" in rows[0]["error"] and rows[1]["error"] is None
