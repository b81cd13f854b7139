"""The examples by hand of the theory: each chapter writes out a model, and its numbers are computed anew.

The truth held here is a closed form: the numbers below are those of the chapters, found with paper and pencil.
"""

import json
import re

import numpy
import pandas
import pytest
from test_runs import REPOSITORY, lissom

# numbers of the chapters that are written with all their digits
ROUNDING = 1e-12


class Example:
    """The model of a chapter in a folder of its own."""

    def __init__(self, chapter, cwd):
        self.cwd = cwd
        self.text = (REPOSITORY / f"docs/theory/{chapter}.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```toml\n(.*?)```", self.text, re.DOTALL)
        models = [block for block in blocks if "format = 1" in block]
        assert len(models) == 1, f"{chapter} has {len(models)} models"
        (cwd / "model.toml").write_text(models[0], encoding="utf-8")

    def says(self, *numbers):
        """The chapter contains these numbers as they are written here."""
        for number in numbers:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", self.text), number

    def eval(self, *options, **state):
        """The equations at a state: what `lissom eval` says, as arrays."""
        (self.cwd / "state.json").write_text(json.dumps(state))
        told = json.loads(lissom("eval", "model.toml", "--state", "state.json", "--json", *options, cwd=self.cwd))
        return {name: numpy.array(told[name]) for name in told if name not in ("positions", "velocities")}

    def start(self):
        """Channels at the start of a run."""
        lissom("run", "model.toml", "--quiet", "--out", "out", cwd=self.cwd)
        table = pandas.read_csv(self.cwd / "out/recording.csv")
        return {name.split(" [")[0]: values.iloc[0] for name, values in table.items()}


@pytest.fixture
def example(request, tmp_path):
    """The model of the chapter that a test names."""
    return Example(request.param, tmp_path)


def of(chapter):
    """A test of the example of a chapter."""
    return pytest.mark.parametrize("example", [chapter], indirect=True)


def vector(channels, name):
    """Three channels as a vector."""
    return numpy.array([channels[f"{name}.{axis}"] for axis in "xyz"])


def close(found, expected, tolerance=ROUNDING):
    """Numbers agree to a part of the largest."""
    numpy.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * numpy.max(numpy.abs(expected)))


@of("frames")
def test_yaw_and_pitch(example):
    start = example.start()
    close(vector(start, "tip.position"), [0.0, 1.6, 2.2])
    close(vector(start, "tip.velocity"), [-0.8, 1.2, -1.6])
    # (0.3, 1, 0.4) in the axes of the boom
    close(vector(start, "tip.angular_velocity"), [-1.0, 0.0, 0.5])
    close(example.eval(acceleration=[0.0, 0.0])["inverse_dynamics"], [1.92, -16.48])
    example.says("1.92", "-16.48", "(0, 1.6, 2.2)", "(-0.8, 1.2, -1.6)")


@of("rigid")
def test_two_rods(example):
    told = example.eval()
    close(told["mass_matrix"], [[5.0, 1.0], [1.0, 1.0]])
    close(told["bias"], [-12.0, 1.5])
    close(told["acceleration"], [3.375, -4.875])
    close(told["acceleration_by_composite_bodies"], [3.375, -4.875])
    example.says("3.375", "-4.875", "-12", "1.5")


@of("flexible-body")
def test_blade_on_a_hub(example):
    mass = numpy.array([[1.56, -0.22], [-0.22, 0.04]])
    gain = numpy.array([[0.24, -0.05], [-0.05, 0.06]])
    straight = example.eval()["mass_matrix"]
    close(straight, [[1.4, 1.47, -0.21], [1.47, 1.56, -0.22], [-0.21, -0.22, 0.04]])
    bent = {"blade.v_2": 0.01, "blade.v_slope_2": 0.015}
    eta = numpy.array(list(bent.values()))
    linear = example.eval("--set", "fidelity.shortening=none", position=bent)["bias"][1:]
    close(linear, [1.77, 0.16])

    # shortening along the blade as polynomials: s = ½ Σ S η η, S = ∫ ψ' ψ' dx
    x = numpy.polynomial.Polynomial([0.0, 1.0])
    slopes = [(3 * x**2 - 2 * x**3).deriv(), (x**3 - x**2).deriv()]
    gradients = [sum((a * b).integ() * q for b, q in zip(slopes, eta, strict=True)) for a in slopes]
    shortening = 0.5 * sum(g * q for g, q in zip(gradients, eta, strict=True))
    third = numpy.array([-100.0 * 4.2 * (shortening * g).integ()(1.0) for g in gradients])
    close(third, [-6.4e-5, 4e-6], 0.01)
    told = example.eval(position=bent)
    close(told["bias"][1:], [3.165, 0.04] + third)
    fourth = 4.2 * (shortening**2).integ()(1.0)
    close(told["mass_matrix"][0, 0] - 1.4 - fourth, -2.25e-5, 1e-9)  # a difference of numbers of one
    close([eta @ gain @ eta, eta @ mass @ eta], [2.25e-5, 9.9e-5])
    example.says("3.165", "1.77", "0.16", "2.25", "1.47", "-0.21", "1.8", "-0.27")


@of("flexible-tree")
def test_blade_with_a_load(example):
    told = example.eval(force={"hub.angle.rate": 1.0})
    close(told["mass_matrix"], [[2.4, 2.47, -0.21], [2.47, 2.56, -0.22], [-0.21, -0.22, 0.04]])
    hub = 3375.0 / 56.0
    bend = -hub * numpy.array([0.0526, 0.0058]) / 0.054
    # three digits are lost where the inertia felt is a difference
    close(told["acceleration"], [hub, *bend], 1e3 * ROUNDING)
    close([hub, *bend, hub + bend[0]], [60.268, -58.705, -6.4732, 1.5625], 1e-5)
    # the heaviest load that the hub can feel
    heavy = example.eval("--set", "payload.load.mass_kg=1e9", force={"hub.angle.rate": 1.0})
    close(1.0 / heavy["acceleration"][0], 0.0175, 1e-8)
    example.says("60.268", "-58.705", "-6.4732", "0.016593", "0.0175")


@of("closures")
@pytest.mark.parametrize("closure", ["automatic", "joint_space", "stabilized", "projected", "operational_space"])
def test_two_rods_on_a_rail(example, closure):
    mass, bias = numpy.array([[7.88, 2.44], [2.44, 1.0]]), numpy.array([-0.1176, 0.1512])
    row, gamma = numpy.array([1.4, 0.6]), -0.728
    across = numpy.array([1.0, -7.0 / 3.0])
    start = numpy.array([0.0, -gamma / 0.6])
    speed = across @ (-bias - mass @ start) / (across @ mass @ across)
    acceleration = across * speed + start
    force = (mass @ acceleration + bias)[1] / row[1]
    # six digits of the chapter
    close([speed, acceleration[1], force], [0.175963, 0.802752, 2.305505], 1e-6)
    close([across @ mass @ across, row @ numpy.linalg.solve(mass, row)], [1.93778, 0.362126], 1e-5)

    if closure == "joint_space":
        options = ["--set", 'simulation.closure={joint_space={independent=["shoulder"]}}']
    else:
        options = ["--closure", closure]
    told = example.eval(*options)
    close(told["mass_matrix"], mass)
    close(told["bias"], bias, 1e2 * ROUNDING)
    closed = told["closed"].item()
    # the angles are written with 16 digits, and closures are closed to 1e-13
    close(closed["acceleration"], acceleration, 1e2 * ROUNDING)
    close(closed["closures"]["rail"]["force_n"], [0.8 * force, 0.6 * force, 0.0], 1e2 * ROUNDING)
    example.says("0.175963", "0.802752", "2.305505", "0.362126", "1.844404", "1.383303")


@of("sliding-contact")
def test_boom_through_a_ring(example):
    row, gamma = numpy.array([0.005, -0.5, 0.125]), -0.0004
    mass = numpy.array([[4.2, 0.0, 0.0], [0.0, 1.56, -0.22], [0.0, -0.22, 0.04]])
    forces = numpy.array([0.0, 12.0, -10.0])
    felt = row @ numpy.linalg.solve(mass, row)
    multiplier = (-gamma - row @ numpy.linalg.solve(mass, forces)) / felt
    acceleration = numpy.linalg.solve(mass, forces + row * multiplier)
    # six digits of the chapter
    close([felt, multiplier, 0.005 * multiplier], [0.491077, 110.545, 0.552725], 1e-6)
    close(acceleration[:2], [0.131601, -63.6366], 1e-6)

    position = {"slide.displacement": 0.0, "boom.v_2": 0.01, "boom.v_slope_2": 0.04}
    velocity = {"slide.displacement.rate": -0.2, "boom.v_2.rate": -0.002, "boom.v_slope_2.rate": 0.0}
    told = example.eval(position=position, velocity=velocity)
    close(told["velocity"], list(velocity.values()))
    closed = told["closed"].item()
    close(closed["acceleration"], acceleration)
    # on the ring, which is pushed up and back
    close(closed["closures"]["ring"]["force_n"], [-0.005 * multiplier, multiplier, 0.0])
    example.says("0.491077", "110.545", "0.552725", "0.131601", "-63.6366")


@of("elements")
def test_blade_as_an_element(example):
    told = json.loads(lissom("linearize", "model.toml", "--json", cwd=example.cwd))
    assert told["coordinate_names"] == ["hub.angle", "blade.1.bending_y_p", "blade.1.bending_y_q"]
    mass, elastic, dynamic, geometric, rate = (numpy.array(told[name]) for name in ("M", "K0", "N0", "G0", "C"))
    close(mass, [[1.4, 1.26, -0.21], [1.26, 1.16, -0.18], [-0.21, -0.18, 0.04]])
    close(elastic[1:, 1:], [[400.0, -200.0], [-200.0, 400.0]])
    close(dynamic, -100.0 * mass)
    close(geometric[1:, 1:], [[145.6, -16.1], [-16.1, -1.4]])
    close((dynamic + geometric)[0] + 1.0, numpy.ones(3))
    close(rate + 1.0, numpy.ones((3, 3)))

    # in deflection and slope of the tip, beside the tree
    turn = numpy.linalg.inv([[1.0, 0.0], [1.0, 1.0]])
    close(turn.T @ geometric[1:, 1:] @ turn / 100.0, [[1.764, -0.147], [-0.147, -0.014]])
    tree = json.loads(lissom("linearize", "model.toml", "--formulation", "tree", "--json", cwd=example.cwd))
    close(numpy.array(tree["G0"])[1:, 1:] / 100.0, [[1.8, -0.27], [-0.27, 0.1]])
    bent = numpy.array([1.0, 11.0 / 8.0])
    close(bent @ [[1.764, -0.147], [-0.147, -0.014]] @ bent, 1.333, 1e-3)
    close(bent @ [[1.8, -0.27], [-0.27, 0.1]] @ bent, 1.247, 1e-3)
    example.says("145.6", "-16.1", "-1.4", "1.764", "-0.147", "-0.014")
