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

    def prints(self, numbers):
        """The chapter prints these numbers, each as exactly as its digits say."""
        for printed, value in numbers.items():
            assert re.search(rf"(?<![\d.]){re.escape(printed)}(?!\d|\.\d)", self.text), f"{printed} is not printed"
            digits = printed.replace(r"\,", "")
            half_a_unit = 0.5 * 10.0 ** -len(digits.partition(".")[2])
            assert abs(float(digits) - value) <= half_a_unit * (1 + 1e-9), f"{printed} is {value}"

    def eval(self, *options, **state):
        """The equations at a state: what `lissom eval` says, as arrays."""
        (self.cwd / "state.json").write_text(json.dumps(state))
        told = json.loads(lissom("eval", "model.toml", "--state", "state.json", "--json", *options, cwd=self.cwd))
        return {name: numpy.array(told[name]) for name in told if name not in ("positions", "velocities")}

    def run(self, *options):
        """The recording of a run."""
        lissom("run", "model.toml", "--quiet", "--out", "out", *options, cwd=self.cwd)
        return pandas.read_csv(self.cwd / "out/recording.csv")

    def start(self):
        """Channels at the start of a run."""
        return {name.split(" [")[0]: values.iloc[0] for name, values in self.run().items()}


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


CHAPTERS = sorted(
    path.stem for path in (REPOSITORY / "docs/theory").glob("*.md") if "\n## By hand\n" in path.read_text(encoding="utf-8")
)


def test_every_chapter_that_derives_is_here():
    assert len(CHAPTERS) == 9
    here = (REPOSITORY / "crates/lissom-cli/tests/python/test_theory.py").read_text(encoding="utf-8")
    assert [chapter for chapter in CHAPTERS if f'@of("{chapter}")' not in here] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_functions_are_in_the_files_that_a_chapter_names(chapter):
    text = (REPOSITORY / f"docs/theory/{chapter}.md").read_text(encoding="utf-8")
    table = text.split("\n## In the code\n")[1].split("\n## ")[0]
    source, checked = "", 0
    for row in table.splitlines():
        if not row.startswith("| ") or row.startswith("| here"):
            continue
        # equations have back quotes too
        spans = re.findall(r"(?<!\$)`([^`$]+)`(?!\$)", row.split("|", 2)[2])
        files = [span for span in spans if span.endswith(".rs")]
        if files:
            source = "".join((REPOSITORY / file).read_text(encoding="utf-8") for file in files)
        for span in spans:
            if span not in files:
                missing = [word for word in span.split("::") if not re.search(rf"\b{word}\b", source)]
                assert missing == [], row
        checked += len(spans)
    assert checked >= 3


@of("frames")
def test_yaw_and_pitch(example):
    start = example.start()
    position, velocity = vector(start, "tip.position"), vector(start, "tip.velocity")
    close(position, [0.0, 1.6, 2.2])
    close(velocity, [-0.8, 1.2, -1.6])
    # (0.3, 1, 0.4) in the axes of the boom
    close(vector(start, "tip.angular_velocity"), [-1.0, 0.0, 0.5])
    yaw, pitch = example.eval(acceleration=[0.0, 0.0])["inverse_dynamics"]
    close([yaw, pitch], [1.92, -16.48])
    example.prints({"1.92": yaw, "-16.48": pitch, "1.6": position[1], "2.2": position[2], "-0.8": velocity[0], "1.2": velocity[1]})


@of("rigid")
def test_two_rods(example):
    told = example.eval()
    close(told["mass_matrix"], [[5.0, 1.0], [1.0, 1.0]])
    close(told["bias"], [-12.0, 1.5])
    close(told["acceleration"], [3.375, -4.875])
    close(told["acceleration_by_composite_bodies"], [3.375, -4.875])
    first, second = told["acceleration"]
    example.prints({"3.375": first, "-4.875": second, "-12": told["bias"][0], "1.5": told["bias"][1]})


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
    told = example.eval(position=bent)
    close(told["bias"][1:], [3.165, 0.04] + third)
    fourth = 4.2 * (shortening**2).integ()(1.0)
    close(told["mass_matrix"][0, 0] - 1.4 - fourth, -2.25e-5, 1e-9)  # a difference of numbers of one
    close([eta @ gain @ eta, eta @ mass @ eta], [2.25e-5, 9.9e-5])
    force = told["bias"][1] - third[0]
    example.prints({"3.165": force, "1.77": linear[0], "0.16": linear[1], "2.25": 1e5 * eta @ gain @ eta})
    example.prints({"-6.4": 1e5 * third[0], "4": 1e6 * third[1], "1.47": straight[0, 1], "-0.21": straight[0, 2]})


@of("flexible-tree")
def test_blade_with_a_load(example):
    told = example.eval(force={"hub.angle.rate": 1.0})
    close(told["mass_matrix"], [[2.4, 2.47, -0.21], [2.47, 2.56, -0.22], [-0.21, -0.22, 0.04]])
    hub = 3375.0 / 56.0
    bend = -hub * numpy.array([0.0526, 0.0058]) / 0.054
    # three digits are lost where the inertia felt is a difference
    close(told["acceleration"], [hub, *bend], 1e3 * ROUNDING)
    example.prints({"60.268": hub, "-58.705": bend[0], "-6.4732": bend[1], "1.56": hub + bend[0], "0.016593": 1.0 / hub})
    # the heaviest load that the hub can feel
    heavy = example.eval("--set", "payload.load.mass_kg=1e9", force={"hub.angle.rate": 1.0})
    felt = 1.0 / heavy["acceleration"][0]
    close(felt, 0.0175, 1e-8)  # the load lacks 1e-9 of being infinite
    example.prints({"0.0175": felt})


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
    example.prints({"0.175963": speed, "0.802752": acceleration[1], "2.305505": force})
    example.prints({"1.93778": across @ mass @ across, "0.362126": row @ numpy.linalg.solve(mass, row)})
    example.prints({"1.844404": 0.8 * force, "1.383303": 0.6 * force})

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


@of("sliding-contact")
def test_boom_through_a_ring(example):
    row, gamma = numpy.array([0.005, -0.5, 0.125]), -0.0004
    mass = numpy.array([[4.2, 0.0, 0.0], [0.0, 1.56, -0.22], [0.0, -0.22, 0.04]])
    forces = numpy.array([0.0, 12.0, -10.0])
    felt = row @ numpy.linalg.solve(mass, row)
    multiplier = (-gamma - row @ numpy.linalg.solve(mass, forces)) / felt
    acceleration = numpy.linalg.solve(mass, forces + row * multiplier)
    example.prints({"0.491077": felt, "110.545": multiplier, "0.552725": 0.005 * multiplier})
    example.prints({"0.131601": acceleration[0], "-63.6366": acceleration[1]})

    position = {"slide.displacement": 0.0, "boom.v_2": 0.01, "boom.v_slope_2": 0.04}
    velocity = {"slide.displacement.rate": -0.2, "boom.v_2.rate": -0.002, "boom.v_slope_2.rate": 0.0}
    told = example.eval(position=position, velocity=velocity)
    close(told["velocity"], list(velocity.values()))
    closed = told["closed"].item()
    close(closed["acceleration"], acceleration)
    # on the ring, which is pushed up and back
    close(closed["closures"]["ring"]["force_n"], [-0.005 * multiplier, multiplier, 0.0])


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
    example.prints({"1.333": bent @ [[1.764, -0.147], [-0.147, -0.014]] @ bent})
    example.prints({"1.247": bent @ [[1.8, -0.27], [-0.27, 0.1]] @ bent})
    example.prints({"145.6": geometric[1, 1], "-16.1": geometric[1, 2], "-1.4": geometric[2, 2]})


@of("integration")
@pytest.mark.parametrize(
    ("integrator", "steps"),
    [
        ("newmark={step_s=1.0}", [(0.6, -0.8), (-0.28, -0.96)]),
        ("generalized_alpha={step_s=1.0,spectral_radius=1.0}", [(0.6, -0.8), (-0.28, -0.96)]),
        ("generalized_alpha={step_s=1.0,spectral_radius=0.5}", [(43 / 70, -11 / 14)]),
        ("generalized_alpha={step_s=1.0,spectral_radius=0.0}", [(2 / 3, -3 / 4)]),
    ],
)
def test_mass_on_a_spring(example, integrator, steps):
    table = example.run("--set", f"simulation.integrator={{{integrator}}}")
    found = numpy.column_stack([table["slide.displacement [m]"], table["slide.displacement.rate [m/s]"]])
    # Newton's iteration ends at 1e-10
    close(found[1 : 1 + len(steps)], steps, 1e-9)
    example.prints({"0.6": 0.6, "-0.8": -0.8, "-0.28": 0.6**2 - 0.8**2, "-0.96": -2 * 0.6 * 0.8})
    assert "43/70" in example.text and "-11/14" in example.text


@of("stability")
def test_column_under_a_load(example):
    def told(*words):
        return json.loads(lissom(words[0], "model.toml", "--json", *words[1:], cwd=example.cwd))

    def squares(load):
        modes = told("modes", "--set", f"input.0.force_constant.value_n={load}")["modes"]
        return [mode["frequency_squared"][0] for mode in modes]

    stiffness = numpy.array([[1080.0, -590.0], [-590.0, 1160.0 / 3.0]])
    rest = list(told("equilibrium")["position"].values())
    # terms of third order in a deflection of half a millimetre are 1e-7 of it
    close(rest, numpy.linalg.solve(stiffness, [0.1, 0.0]), 1e-6)
    example.prints({"5.5635": 1e4 * rest[0], "8.4892": 1e4 * rest[1], "1.669": 3000.0 * rest[0]})

    # lower and higher root of the characteristic polynomials
    for load, polynomial in ((100.0, (0.014, -386.8, 69500.0)), (0.0, (0.014, -408.0, 120000.0))):
        close(squares(load), sorted(numpy.roots(polynomial)), 1e-9)
    loaded, free = squares(100.0)[0], squares(0.0)[0]
    example.prints({"180.863": loaded, "297.147": free, "13.4485": loaded**0.5, "17.238": free**0.5, "0.6087": loaded / free})
    buckling = 100.0 * min(numpy.roots([0.15, -5.2, 12.0]))
    example.prints({"248.596": buckling, "0.5977": 1 - 100 / buckling, "246.740": 25 * numpy.pi**2})
    assert squares(0.99999 * buckling)[0] > 0.0 > squares(1.00001 * buckling)[0]

    followed = told("linearize", "--set", 'input.0.frame="body"')
    close(numpy.array(followed["N0"]), [[0.0, 100.0], [0.0, 0.0]])
    close(numpy.array(followed["K0"]) + followed["G0"], stiffness)
    close(numpy.linalg.det(stiffness + followed["N0"]), 128500.0, 1e-9)
    example.prints({r"69\,500": numpy.linalg.det(stiffness), r"59\,000": 100.0 * 590.0})
