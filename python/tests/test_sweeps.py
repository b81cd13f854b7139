"""Many runs of one model."""

from __future__ import annotations

import csv
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
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


def kept_rows(out: Path) -> list[str]:
    """The rows that are in the folder of a sweep."""
    path = out / "rows.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


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


def test_draws_are_those_of_the_command(tmp_path: Path) -> None:
    values = {"payload.gripper.mass_kg": "normal(0.5, 0.1)", "simulation.duration_s": "uniform(0.01, 0.02)"}
    points = lissom.draw(values, runs=3, seed=7, latin_hypercube=True)
    words = ["sweep", "two-link-arm", "--runs", "3", "--seed", "7", "--drawing", "latin_hypercube", "--out", str(tmp_path), "--quiet"]
    for path, distribution in values.items():
        words += ["--vary", f"{path}={distribution}"]
    subprocess.run([sys.executable, "-m", "lissom", *words], check=True)
    with (tmp_path / "sweep.csv").open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    assert [{path: float(row[path]) for path in values} for row in told] == points
    rows = lissom.sweep(lissom.shipped("two-link-arm"), points, measure=measure)
    assert [row["x"] for row in rows] == [float(row["hand.position.x.last [m]"]) for row in told]
    with pytest.raises(ValueError, match="distribution"):
        lissom.draw({"a": "uniform(1, 0)"}, runs=2)
    with pytest.raises(ValueError, match="list"):
        lissom.draw({"a": "1,2"}, runs=2)


def test_a_list_of_points_is_one_run_each() -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    points = [{"payload.gripper.mass_kg": np.float64(0.2)}, {"payload.gripper.mass_kg": 0.6}]
    rows = lissom.sweep(model, points, measure=lambda rec: {"hand": rec["hand.position"][-1]})
    assert [row["hand"][0] for row in rows] == [expected()[1], expected()[3]]
    with pytest.raises(TypeError, match="expected a list"):
        lissom.sweep(model, {"name": "arm"}, measure=measure)
    with pytest.raises(TypeError, match="expected a list"):
        lissom.sweep(model, {"payload.gripper.mass_kg": 0.5}, measure=measure)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="expected a dictionary"):
        lissom.sweep(model, points, measure=lambda rec: 1.0)  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="window"):
        lissom.sweep(model, points, measure=measure, window=0)
    with pytest.raises(TypeError, match="no set"):
        lissom.sweep(model, points, measure=lambda rec: {"what": {1, 2}})


def dies(rec: lissom.Recording) -> dict[str, float]:
    """Takes its process along with the last run."""
    if rec.model is not None and rec.model.to_dict()["payload"][0]["mass_kg"] == 0.6:
        os._exit(1)
    return measure(rec)


def test_a_broken_pool_ends_with_what_is_there(tmp_path: Path) -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    values = {"payload.gripper.mass_kg": [0.2, 0.3, 0.4, 0.6, 0.5]}
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor,
        pytest.raises(lissom.SweepError, match="goes on where it was stopped") as caught,
    ):
        lissom.sweep(model, values, measure=dies, executor=executor, out=tmp_path, window=1)
    assert [row["payload.gripper.mass_kg"] for row in caught.value.rows] == [0.2, 0.3, 0.4]
    assert pickle.loads(pickle.dumps(caught.value)).rows == caught.value.rows
    again: list[float] = []

    def counted(rec: lissom.Recording) -> dict[str, float]:
        again.append(float(rec.time_s[-1]))
        return measure(rec)

    rows = lissom.sweep(model, values, measure=counted, out=tmp_path)
    assert len(again) == 2 and len(rows) == 5 and rows[:3] == caught.value.rows


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
def test_ctrl_c_ends_the_runs_that_are_under_way(tmp_path: Path) -> None:
    """The first run is short, the others would take hours; none of them is waited for."""
    model = lissom.shipped("two-link-arm")
    values = {"simulation.duration_s": [0.01, *(1e6 + k for k in range(3))], "output.sample_period_s": [1e3]}

    def interrupt() -> None:
        while not kept_rows(tmp_path):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(lissom.Interrupted, match="goes on where it was stopped") as caught:
        lissom.sweep(model, values, measure=lambda rec: {"end": rec.time_s[-1]}, out=tmp_path)
    other.join()
    assert [row["end"] for row in caught.value.rows] == [0.01]


def as_another_version() -> None:
    """What a worker with another version of the package has."""
    import lissom.sweeps

    lissom.sweeps.__version__ = "0.0.0"


def test_workers_of_another_version_are_refused() -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    spawn = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=spawn, initializer=as_another_version) as executor,
        pytest.raises(RuntimeError, match="this worker has 0.0.0"),
    ):
        lissom.sweep(model, VALUES, measure=measure, executor=executor)


def test_a_model_that_fails_is_a_row_with_its_error() -> None:
    model = lissom.shipped("two-link-arm", MODEL)
    rows = lissom.sweep(model, {"payload.gripper.mass_kg": [-1.0, 0.5]}, measure=measure)
    assert "mass_kg" in rows[0]["error"] and rows[1]["error"] is None
