"""Runs that are kept on their way, and go on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lissom

def test_a_run_is_written_as_the_command_writes_it(arm: lissom.Mechanism, tmp_path: Path, command: list[str]) -> None:
    found = arm.simulate(out=tmp_path / "run", channels=["hand"])
    again = lissom.Recording.load(tmp_path / "run")
    assert again == found and again.completed and again.last is not None and again.last["shoulder.angle"] == found.last["shoulder.angle"]
    subprocess.run([*command, "report", str(tmp_path / "run"), "--out", str(tmp_path / "run.html")], check=True, capture_output=True)


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    arm: lissom.Mechanism, tmp_path: Path, interrupt_after: Callable[[float], object]
) -> None:
    """To the last bit, and with every row once; a call for a run that is complete reads it."""
    folder = tmp_path / "run"

    def kept(duration_s: float) -> lissom.Recording:
        return arm.simulate(duration_s=duration_s, sample_period_s=0.05, channels=["hand"], out=folder, resume=True)

    end_s = 6e3
    interrupt_after(0.3)
    with pytest.raises(lissom.Interrupted) as stopped:
        kept(end_s)
    part = stopped.value.recording
    assert part is not None and part.stopped_at_s is not None and lissom.Recording.load(folder) == part
    whole = arm.simulate(duration_s=end_s, sample_period_s=0.05, channels=["hand"])
    again = kept(end_s)
    assert again == whole and again.completed and again.summary["continued_at_s"] == part.stopped_at_s
    assert lissom.Recording.load(folder) == whole and kept(end_s) == whole
    longer = kept(end_s + 0.1)
    assert longer.time_s[-1] == end_s + 0.1 and np.array_equal(longer["hand.position"][: len(part.time_s)], part["hand.position"])


SCRIPT = """
import sys, lissom
arm = lissom.shipped("two-link-arm").build()
print("begun", flush=True)
arm.simulate(duration_s=1e4, sample_period_s=0.05, channels=["hand"], out=sys.argv[1], checkpoint_every_s=0.05)
"""


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        until = time.monotonic() + 60.0
        while not (folder / "state.json").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        process.kill()
    part = lissom.Recording.load(folder)
    assert part.summary["in_progress"] and part.stopped_at_s is not None and not part.completed
    arm = lissom.shipped("two-link-arm").build()
    end_s = part.stopped_at_s + 0.1
    again = arm.simulate(duration_s=end_s, sample_period_s=0.05, channels=["hand"], out=folder, resume=True)
    assert again == arm.simulate(duration_s=end_s, sample_period_s=0.05, channels=["hand"])


def test_what_cannot_be_kept_is_refused(arm: lissom.Mechanism, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name it with out"):
        arm.simulate(resume=True)
    with pytest.raises(ValueError, match="checkpoint_every_s is -1"):
        arm.simulate(out=tmp_path / "run", checkpoint_every_s=-1.0)
    assert not (tmp_path / "run" / "manifest.json").exists()
    law = lissom.Sampled(lambda t, y: [0.0, 0.0], period_s=1e-2)
    with pytest.raises(ValueError, match="save the recording"):
        arm.simulate(out=tmp_path / "run", controller=law)
    arm.simulate(duration_s=0.05, out=tmp_path / "run")
    other = arm.model.replace({"payload.gripper.mass_kg": 0.9}).build()
    with pytest.raises(ValueError, match="another model"):
        other.simulate(out=tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="other channels"):
        arm.simulate(duration_s=0.1, out=tmp_path / "run", channels=["hand"], resume=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        arm.simulate(duration_s=0.05, out=tmp_path / "file")


def test_a_run_that_fails_is_kept_until_there(tmp_path: Path) -> None:
    """Steps that may not be made any shorter than they are allowed to be long."""
    mech = lissom.shipped("two-link-arm", {"simulation.integrator": {"dop853": {"rtol": 1e-13, "max_steps": 40}}}).build()
    with pytest.raises(lissom.SimulationError) as failed:
        mech.simulate(out=tmp_path / "run")
    assert failed.value.recording is not None and lissom.Recording.load(tmp_path / "run") == failed.value.recording
