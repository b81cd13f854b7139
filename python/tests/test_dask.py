"""A sweep on a cluster of Dask whose workers are processes, of which one is killed."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

import lissom

distributed = pytest.importorskip("distributed")

MASSES = [0.1 + 0.01 * k for k in range(40)]
WAIT_S = 0.1
"""How long a run takes at least: the sweep is still under way when a worker is killed."""
KILLED_AFTER = 8


class Counted:
    """Measures a run, and leaves a mark for every time it does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, rec: lissom.Recording) -> dict[str, Any]:
        time.sleep(WAIT_S)
        mass = rec.model.to_dict()["payload"][0]["mass_kg"] if rec.model else None
        (self.folder / f"{mass}-{os.getpid()}-{uuid.uuid4().hex}").touch()
        return {"x": rec["hand.position.x"][-1], "pid": os.getpid()}


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    marks, out = tmp_path / "marks", tmp_path / "sweep"
    marks.mkdir()
    model = lissom.shipped("two-link-arm", {"simulation.duration_s": 0.01})
    received: set[int] = set()

    def kept() -> list[int]:
        rows = out / "rows.txt"
        whole = rows.read_text(encoding="utf-8").rpartition("\n")[0] if rows.exists() else ""
        return [int(line.split(" ", 1)[0]) for line in whole.splitlines()]

    def kill_one(client: Any) -> None:
        while len(kept()) < KILLED_AFTER:
            time.sleep(0.01)
        victim = next(iter(client.run(os.getpid).values()))
        received.update(kept())
        os.kill(victim, signal.SIGKILL)

    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL
    )
    with cluster, distributed.Client(cluster) as client:
        killer = threading.Thread(target=kill_one, args=(client,))
        killer.start()
        rows = lissom.sweep(
            model,
            {"payload.gripper.mass_kg": MASSES},
            measure=Counted(marks),
            executor=client.get_executor(pure=False, retries=2),
            out=out,
            window=6,
        )
        killer.join()
    assert [row["payload.gripper.mass_kg"] for row in rows] == MASSES
    assert all(row["error"] is None for row in rows)
    alone = model.replace({"payload.gripper.mass_kg": MASSES[7]}).build().simulate()
    assert rows[7]["x"] == alone["hand.position.x"][-1]
    # what had been received ran once; what was under way may have run twice
    runs = {mass: sum(path.name.startswith(f"{mass}-") for path in marks.iterdir()) for mass in MASSES}
    assert KILLED_AFTER <= len(received) < len(MASSES)
    for at in received:
        assert runs[MASSES[at]] == 1, at
    assert all(count >= 1 for count in runs.values())
    assert len({row["pid"] for row in rows}) >= 3
