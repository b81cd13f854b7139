"""Recordings: the numbers of the command, other packages, files, interruption."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import lissom


@pytest.fixture(scope="module")
def rec(arm: lissom.Mechanism) -> lissom.Recording:
    return arm.simulate()


@pytest.mark.parametrize("name", ["two-link-arm", "four-bar", "rotating-beam", "frame-arm"])
def test_the_numbers_are_those_of_the_command(name: str, command: list[str], tmp_path: Path) -> None:
    changes = {"simulation.duration_s": 0.1}
    words = ["run", name, "--set", "simulation.duration_s=0.1", "--out", str(tmp_path / "run"), "--quiet"]
    subprocess.run([*command, *words], check=True)
    written = lissom.Recording.load(tmp_path / "run")
    found = lissom.shipped(name, changes).build().simulate()
    assert found == written
    assert found.summary["audit"] == written.summary["audit"]


def test_channels_and_their_components(rec: lissom.Recording) -> None:
    assert rec["hand.position"].shape == (len(rec.time_s), 3)
    assert np.array_equal(rec["hand.position"][:, 1], rec["hand.position.y"])
    assert rec["hand.quaternion"].shape == (len(rec.time_s), 4)
    assert rec.unit("hand.position") == "m" and rec.units["shoulder.angle"] == "rad"
    assert "hand.position" in rec and "hand" not in rec
    with pytest.raises(KeyError):
        rec["hand"]
    assert rec.completed and rec.last is not None and rec.last.time_s == rec.time_s[-1]


def test_a_run_goes_on_where_it_ended(arm: lissom.Mechanism, rec: lissom.Recording) -> None:
    half = arm.simulate(duration_s=0.1)
    assert half.last is not None
    rest = arm.simulate(half.last)
    assert rest.time_s[0] == 0.1 and rest.time_s[-1] == 0.2
    np.testing.assert_allclose(rest["hand.position"][-1], rec["hand.position"][-1], atol=1e-7)
    with pytest.raises(ValueError, match="duration_s"):
        arm.simulate(rest.last)
    for controller in (None, lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=0.01)):
        with pytest.raises(ValueError, match="at_s has 0.3"):
            arm.simulate(at_s=[0.1, 0.3], controller=controller)
    longer = arm.simulate(rest.last, duration_s=0.05, sample_period_s=0.025, at_s=[0.21])
    np.testing.assert_allclose(longer.time_s, [0.2, 0.21, 0.225, 0.25], atol=1e-12)


def test_states_of_a_recording(arm: lissom.Mechanism, rec: lissom.Recording, tmp_path: Path) -> None:
    """At a sample they are the samples; from a folder as from the recording; the last is whole."""
    rec.save(tmp_path / "run")
    for source in (rec, tmp_path / "run", str(tmp_path / "run")):
        state = arm.state_from(source, time_s=0.1)
        at = int(np.argmin(np.abs(rec.time_s - 0.1)))
        assert state.time_s == 0.1 and all(state[name] == rec[name][at] for name in arm.positions)
        assert arm.state_from(source) == rec.last
    assert rec.last is not None
    (tmp_path / "mine.json").write_text(rec.last.to_json())
    assert arm.state_from(tmp_path / "mine.json") == rec.last
    with pytest.raises(ValueError, match="0.2"):
        arm.state_from(rec, time_s=9.0)
    with pytest.raises(FileNotFoundError):
        arm.state_from(tmp_path / "none.json")
    words = ["run", "two-link-arm", "--from", str(tmp_path / "run"), "--set", "simulation.duration_s=0.3"]
    subprocess.run([sys.executable, "-m", "lissom", *words, "--out", str(tmp_path / "on"), "--quiet"], check=True)
    on = lissom.Recording.load(tmp_path / "on")
    assert on == arm.simulate(rec.last, duration_s=0.3 - 0.2)


def test_pandas_and_xarray(rec: lissom.Recording) -> None:
    pandas = pytest.importorskip("pandas")
    frame = rec.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.attrs["units"] == rec.units
    assert np.array_equal(frame["hand.position.x"].to_numpy(), rec["hand.position.x"])
    xarray = pytest.importorskip("xarray")
    data = rec.to_xarray()
    assert isinstance(data, xarray.Dataset) and data["elbow.angle"].attrs["units"] == "rad"


def test_plot(rec: lissom.Recording, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    rec.save(tmp_path / "measured.csv")
    _, ax = plt.subplots()
    assert rec.plot("hand.position", ax=ax, overlay=lissom.read_csv(tmp_path / "measured.csv")) is ax
    assert len(ax.get_lines()) == 6 and ax.get_ylabel() == "[m]"
    with pytest.raises(KeyError):
        rec.plot("nothing")
    other = lissom.Recording(rec.time_s, {"elbow.angle": rec["elbow.angle"]}, {"elbow.angle": "turns"})
    with pytest.raises(ValueError, match="in turns, and in rad here"):
        rec.plot("elbow.angle", ax=ax, overlay=other)
    plt.close("all")


@pytest.mark.parametrize(
    "text",
    [
        "time_s,angle [rad],w [m]\n0,0.5,1\n0.25,,2\n",
        "\ufeff# a rig\nTime (ms); angle (deg); w [mm]\n\n0; 28,64788975654116; 1000\n250; ; 2000\n",
        "angle\tt\tw\n0.5\t0\t1\n\t0.25\t2\n",
        '"t (s)", "angle (rad)", "w [m]"\n"0", "0.5", 1\n0.25, "", 2\n',
    ],
)
def test_measured_data_come_as_they_are(text: str, tmp_path: Path) -> None:
    """Commas, semicolons and tabs; units of SI and others, or none; empty cells."""
    path = tmp_path / "measured.txt"
    path.write_text(text, encoding="utf-8")
    headed = {} if "[" in text else {"angle": "rad", "w": "m"}
    found = lissom.read_csv(path, names={"angle": "shoulder.angle"}, units=headed)
    assert found.time_s.tolist() == [0.0, 0.25] and found.units == {"shoulder.angle": "rad", "w": "m"}
    np.testing.assert_allclose(found["shoulder.angle"], [0.5, np.nan], rtol=1e-15)
    assert found["w"].tolist() == [1.0, 2.0]


def test_tables_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "measured.csv"
    for text, told in (
        ("", "no table"),
        ("angle,w\n0,1\n", "no column time_s; there are angle, w"),
        ("t,a\n0,1\n1\n", r"csv:3: there are 1 cells"),
        ("t,a\n0,x\n", r"csv:2: .*'x'"),
        ("t [h],a\n0,1\n", "expected s or ms"),
        ("t,a,a\n0,1,2\n", "two columns"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=told):
            lissom.read_csv(path)
    path.write_text("t,angle\n0,1\n")
    with pytest.raises(ValueError, match="did you mean 'angle'"):
        lissom.read_csv(path, names={"angel": "a"})
    path.write_text("t,a,b,acceleration [g],jerk [m/s²]\n0,1,2,3,4\n")
    with pytest.raises(ValueError, match="two columns 'b'"):
        lissom.read_csv(path, names={"a": "b"})
    # grams or gravities: nobody knows
    assert lissom.read_csv(path).units == {"a": "1", "b": "1", "acceleration": "g", "jerk": "m/s^2"}


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_files_hold_every_bit(rec: lissom.Recording, tmp_path: Path, ending: str) -> None:
    rec.save(tmp_path / f"run.{ending}")
    assert lissom.Recording.load(tmp_path / f"run.{ending}") == rec


def test_a_folder_is_that_of_the_command(rec: lissom.Recording, tmp_path: Path) -> None:
    rec.save(tmp_path / "run")
    again = lissom.Recording.load(tmp_path / "run")
    assert again == rec and again.model == rec.model
    assert again.summary["audit"] == rec.summary["audit"] and again.last == rec.last
    page = rec.report(tmp_path / "run.html")
    assert page.read_text().lstrip().lower().startswith("<!doctype html")
    both = rec.report(tmp_path / "both.html", others={"again": rec}, channels=["elbow.angle"])
    assert len(both.read_bytes()) > len(page.read_bytes())
    with pytest.raises(ValueError, match="name it otherwise"):
        rec.report(tmp_path / "both.html", others={"two-link-arm": rec})
    bare = lissom.Recording(rec.time_s, {"a": rec.time_s}, {"a": "m"})
    for refused in (lambda: bare.save(tmp_path / "other"), lambda: bare.report(tmp_path / "other.html")):
        with pytest.raises(ValueError, match="no model"):
            refused()


def test_bodies_given_by_numbers_lie_beside_the_manifest(tmp_path: Path) -> None:
    rec = lissom.shipped("frame-arm", {"simulation.duration_s": 0.01}).build().simulate()
    rec.save(tmp_path / "run")
    bodies = sorted((tmp_path / "run").glob("body-*.json"))
    assert len(bodies) == 2
    again = lissom.Recording.load(tmp_path / "run")
    assert again == rec and again.model == rec.model
    again.save(tmp_path / "again")
    assert [body.read_bytes() for body in sorted((tmp_path / "again").glob("body-*.json"))] == [
        body.read_bytes() for body in bodies
    ]
    bodies[0].unlink()
    with pytest.raises(FileNotFoundError, match=bodies[0].name):
        lissom.Recording.load(tmp_path / "run")


def test_the_page_is_that_of_the_command(rec: lissom.Recording, tmp_path: Path) -> None:
    rec.save(tmp_path / "two-link-arm")
    words = ["report", str(tmp_path / "two-link-arm"), "--out", str(tmp_path / "command.html"), "--quiet"]
    subprocess.run([sys.executable, "-m", "lissom", *words], check=True)
    assert rec.report(tmp_path / "python.html").read_text() == (tmp_path / "command.html").read_text()


def test_show_opens_the_page(rec: lissom.Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page = rec.show(height_px=300)
    assert opened == [page.path.as_uri()] and page.path.read_text().lstrip().lower().startswith("<!doctype html")
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "height: 300px" in frame and "<script" not in frame
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    assert rec.show().path.exists() and len(opened) == 1


def test_pickles_and_copies(rec: lissom.Recording) -> None:
    for other in (pickle.loads(pickle.dumps(rec)), copy.deepcopy(rec)):
        assert other == rec and other.model == rec.model and other.summary == rec.summary


def test_html_has_summary_and_plot(rec: lissom.Recording) -> None:
    page = rec._repr_html_()
    assert "energy drift" in page and page.count("<polyline") == 3 and "nan" not in page


def test_channels_that_there_are_not_are_refused(arm: lissom.Mechanism) -> None:
    controller = lissom.Sampled(lambda t_s, y: [0.0, 0.0], period_s=0.01)
    for with_it in (None, controller):
        assert set(arm.simulate(channels=["hand.position"], controller=with_it)) == {
            f"hand.position.{axis}" for axis in "xyz"
        }
        with pytest.raises(ValueError, match="hnd"):
            arm.simulate(channels=["hand.", "hnd."], controller=with_it)
        with pytest.raises(TypeError, match="channels"):
            arm.simulate(channels="hand.", controller=with_it)


def test_files_that_there_are_not(rec: lissom.Recording, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("none", "none.npz", "empty"):
        with pytest.raises(FileNotFoundError):
            lissom.Recording.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        rec.save(tmp_path / "none" / "run.npz")


def test_a_failed_run_has_its_recording(tmp_path: Path) -> None:
    limited = {"simulation.duration_s": 1.0, "simulation.integrator": {"dopri5": {"rtol": 1e-9, "max_steps": 20}}}
    mech = lissom.shipped("two-link-arm", limited).build()
    with pytest.raises(lissom.SimulationError) as caught:
        mech.simulate()
    error = caught.value
    assert error.recording is not None and error.time_s is not None
    assert 0.0 < error.recording.time_s[-1] <= error.time_s < 1.0 and not error.recording.completed
    error.recording.save(tmp_path / "run")
    assert lissom.Recording.load(tmp_path / "run").stopped_at_s == error.recording.stopped_at_s


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
def test_ctrl_c_keeps_what_was_recorded() -> None:
    mech = lissom.shipped("shuttle-arm", {"simulation.duration_s": 1000.0}).build()
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(lissom.Interrupted) as caught:
        mech.simulate(channels=["energy."])
    timer.join()
    recording = caught.value.recording
    assert isinstance(caught.value, KeyboardInterrupt) and recording is not None
    assert recording.stopped_at_s is not None and recording.stopped_at_s < 1000.0
    assert signal.getsignal(signal.SIGINT) is before
