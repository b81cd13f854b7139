"""Runs of the command, seen from Python: files by their usual readers, motion against SciPy.

Set LISSOM_BIN to the command; otherwise cargo builds and runs it.
"""

import json
import os
import pathlib
import re
import subprocess

import numpy
import pandas
import pytest
import scipy.integrate
import scipy.io

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]


def lissom(*arguments, cwd):
    """What the command prints on stdout; it must succeed."""
    if made := os.environ.get("LISSOM_BIN"):
        command = [made]
    else:
        manifest = REPOSITORY / "Cargo.toml"
        command = ["cargo", "run", "-q", "--manifest-path", manifest, "-p", "lissom-cli", "--"]
    done = subprocess.run([*command, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Folder and summary of a run with every kind of joint."""
    cwd = tmp_path_factory.mktemp("run")
    summary = lissom("run", "branched-tree", "--json", "--at", "0.5,1.2345", "--out", "out", cwd=cwd)
    return cwd / "out", json.loads(summary)


def test_all_files_hold_the_same_bits(run):
    """Identity: CSV, NPZ and MAT are one recording."""
    folder, summary = run
    table = pandas.read_csv(folder / "recording.csv", float_precision="round_trip")
    with numpy.load(folder / "recording.npz", allow_pickle=False) as file:
        arrays = dict(file)
    variables = scipy.io.loadmat(folder / "recording.mat")
    names = [str(cell.item()) for cell in variables["channel_names"].ravel()]
    columns = [str(cell.item()) for cell in variables["channel_variables"].ravel()]
    assert names == list(arrays["channel_names"]) == list(summary["channels"])
    for name, unit, column in zip(names, arrays["channel_units"], columns, strict=True):
        from_csv = table[f"{name} [{unit}]"].to_numpy()
        assert from_csv.tobytes() == arrays[name].tobytes(), name
        assert variables[column][:, 0].tobytes() == arrays[name].tobytes(), name
    assert table["time_s"].to_numpy().tobytes() == arrays["time_s"].tobytes()


def test_summary_is_that_of_the_recording(run):
    """Identity: final value, extremes and requested instants, found again by pandas."""
    folder, summary = run
    table = pandas.read_csv(folder / "recording.csv", float_precision="round_trip", index_col="time_s")
    for name, channel in summary["channels"].items():
        samples = table[f"{name} [{channel['unit']}]"]
        assert channel["final"] == samples.iloc[-1]
        for extreme, found in [("minimum", samples.min()), ("maximum", samples.max())]:
            assert channel[extreme]["value"] == found
            assert samples.loc[channel[extreme]["time_s"]] == found
        for instant in summary["at"]:
            assert instant["channels"][name] == samples.loc[instant["time_s"]]
    assert [instant["time_s"] for instant in summary["at"]] == [0.5, 1.2345]


def test_manifest_says_how_it_came_about(run):
    folder, summary = run
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["completed"] is True
    assert manifest["options"]["at_s"] == [0.5, 1.2345]
    assert manifest["summary"]["channels"] == summary["channels"]
    assert [entry["name"] for entry in manifest["channels"]] == list(summary["channels"])


MASS, LENGTH, CENTRE, INERTIA = [1.3, 0.7], 0.9, [0.4, 0.25], [0.11, 0.03]
GRAVITY = 9.81
START = [0.8, -0.5, 0.3, 1.1]

DOUBLE_PENDULUM = f"""
format = 1
gravity_m_per_s2 = [0.0, -{GRAVITY}, 0.0]

[[body]]
name = "upper"
node = [{{ name = "end", position_m = [{LENGTH}, 0.0, 0.0] }}]
[body.rigid]
mass_kg = {MASS[0]}
center_of_mass_m = [{CENTRE[0]}, 0.0, 0.0]
inertia_kg_m2 = [{INERTIA[0]}, {INERTIA[0]}, {INERTIA[0]}]

[[body]]
name = "lower"
[body.rigid]
mass_kg = {MASS[1]}
center_of_mass_m = [{CENTRE[1]}, 0.0, 0.0]
inertia_kg_m2 = [{INERTIA[1]}, {INERTIA[1]}, {INERTIA[1]}]

[[joint]]
name = "first"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {START[0]}
initial_rate_rad_per_s = {START[2]}

[[joint]]
name = "second"
parent = {{ body = "upper", at = "end" }}
child = "lower"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {START[1]}
initial_rate_rad_per_s = {START[3]}

[simulation]
duration_s = 3.0
[simulation.integrator.dop853]
rtol = 1e-12
atol = 1e-13

[output]
sample_period_s = 0.05
"""


def double_pendulum(_, state):
    """Closed-form equations of motion in absolute angles, from Lagrange's equations."""
    first, second = state[0], state[0] + state[1]
    first_rate, second_rate = state[2], state[2] + state[3]
    coupling = MASS[1] * LENGTH * CENTRE[1]
    mixed = coupling * numpy.cos(second - first)
    mass = numpy.array(
        [
            [INERTIA[0] + MASS[0] * CENTRE[0] ** 2 + MASS[1] * LENGTH**2, mixed],
            [mixed, INERTIA[1] + MASS[1] * CENTRE[1] ** 2],
        ]
    )
    swing = coupling * numpy.sin(second - first)
    force = numpy.array(
        [
            swing * second_rate**2
            - GRAVITY * (MASS[0] * CENTRE[0] + MASS[1] * LENGTH) * numpy.cos(first),
            -swing * first_rate**2 - GRAVITY * MASS[1] * CENTRE[1] * numpy.cos(second),
        ]
    )
    acceleration = numpy.linalg.solve(mass, force)
    return [state[2], state[3], acceleration[0], acceleration[1] - acceleration[0]]


def test_double_pendulum_agrees_with_scipy(tmp_path):
    """Independent oracle: closed-form equations integrated by SciPy's DOP853."""
    (tmp_path / "pendulum.toml").write_text(DOUBLE_PENDULUM, encoding="utf-8")
    lissom("run", "pendulum.toml", "--quiet", "--out", "out", cwd=tmp_path)
    with numpy.load(tmp_path / "out" / "recording.npz", allow_pickle=False) as file:
        recording = dict(file)
    times = recording["time_s"]
    assert len(times) == 61
    tolerance = 1e-12

    def solve(start):
        return scipy.integrate.solve_ivp(
            double_pendulum, (0.0, 3.0), start, "DOP853", times, rtol=tolerance, atol=0.1 * tolerance
        )

    solution = solve(START)
    # every step of both programs errs by a tolerance, and the motion enlarges that as it does a small
    # change of the start; a step takes twelve evaluations
    nudge, size = 1e-6, 1.0 + numpy.abs(solution.y).max()
    disturbed = [solve(START + nudge * component).y for component in numpy.eye(4)]
    condition = max(numpy.abs(y - solution.y).max() for y in disturbed) / nudge
    bound = 2 * (solution.nfev / 12) * condition * tolerance * size
    assert bound < 1e-5, "close enough to tell the equations apart"
    names = ["first.angle", "second.angle", "first.angle.rate", "second.angle.rate"]
    for name, expected in zip(names, solution.y, strict=True):
        numpy.testing.assert_allclose(recording[name], expected, rtol=0.0, atol=bound)
    assert numpy.ptp(solution.y[0]) > 1.0, "it swings"


def polyline(path, colour):
    """Corners of the longest line of a colour in an SVG file."""
    lines = re.findall(rf'stroke="{colour}"[^>]* d="([^"]*)"', path.read_text())
    longest = max(lines, key=len)
    return numpy.array([[float(x) for x in place.split()] for place in re.split("[ML]", longest) if place])


def test_the_plot_shows_the_recording(tmp_path):
    """Agreement of two ways: the curve of the SVG file goes where the CSV file says, to its hundredths of a point."""
    change = ["--set", "simulation.duration_s=1.0", "--out", "out"]
    lissom("run", "two-link-arm", *change, cwd=tmp_path)
    lissom("report", "out", "--plot", "plot.svg", "--channels", "hand.position.x", cwd=tmp_path)
    corners = polyline(tmp_path / "plot.svg", "#0072b2")
    table = pandas.read_csv(tmp_path / "out/recording.csv")
    t, x = table["time_s"].to_numpy(), table["hand.position.x [m]"].to_numpy()
    assert len(corners) == len(t)
    across = numpy.interp(t, [t[0], t[-1]], corners[[0, -1], 0])
    upward = numpy.interp(x, [x.min(), x.max()], [corners[:, 1].max(), corners[:, 1].min()])
    numpy.testing.assert_allclose(corners, numpy.column_stack([across, upward]), atol=0.011)
