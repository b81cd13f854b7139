"""Bodies from mass and stiffness matrices, which SciPy writes in Matrix Market's format."""

import json

import numpy
import pytest
import scipy.io
import scipy.linalg
import scipy.sparse
from test_runs import REPOSITORY, lissom

BENDING, PER_LENGTH, LENGTH, ELEMENTS = 1.4e4, 1.2, 10.0, 16

LAG = 0.01


def beam():
    """Mass, stiffness and gain in stiffness under a force per mass along x that grows with x, of a beam of cubic elements with six unknowns per node."""
    step = LENGTH / ELEMENTS
    size = 6 * (ELEMENTS + 1)
    mass, stiffness, gain = (numpy.zeros((size, size)) for _ in range(3))
    stations, weights = numpy.polynomial.legendre.leggauss(4)
    for element in range(ELEMENTS):
        for place, turn, sign in ((1, 5, 1.0), (2, 4, -1.0)):
            rows = [6 * element + place, 6 * element + turn, 6 * element + 6 + place, 6 * element + 6 + turn]
            for station, weight in zip(0.5 + 0.5 * stations, 0.5 * weights * step, strict=True):
                s = station
                scale = numpy.array([1.0, sign * step, 1.0, sign * step])
                value = scale * [1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2]
                slope = scale / step * [6 * s**2 - 6 * s, 1 - 4 * s + 3 * s**2, 6 * s - 6 * s**2, 3 * s**2 - 2 * s]
                curvature = scale / step**2 * [12 * s - 6, 6 * s - 4, 6 - 12 * s, 6 * s - 2]
                x = step * (element + s)
                at = numpy.ix_(rows, rows)
                mass[at] += weight * PER_LENGTH * numpy.outer(value, value)
                stiffness[at] += weight * BENDING * numpy.outer(curvature, curvature)
                gain[at] += weight * 0.5 * PER_LENGTH * (LENGTH**2 - x**2) * numpy.outer(slope, slope)
        for place, stiff, heavy in ((0, 2.8e7, PER_LENGTH), (3, 1.1e4, 1.2e-3)):
            at = numpy.ix_(*2 * [[6 * element + place, 6 * element + 6 + place]])
            stiffness[at] += stiff / step * numpy.array([[1, -1], [-1, 1]])
            mass[at] += heavy * step / 6 * numpy.array([[2, 1], [1, 2]])
    return mass, stiffness, gain


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The beam as files, and the spin-up problem at 3.4 rad/s, 0.9 of its first frequency, with the beam from these files."""
    cwd = tmp_path_factory.mktemp("matrices")
    mass, stiffness, gain = beam()
    for name, matrix in (("mass", mass), ("stiffness", stiffness), ("gain", gain)):
        scipy.io.mmwrite(cwd / f"{name}.mtx", scipy.sparse.coo_matrix(matrix), precision=17, symmetry="symmetric")
    groups = {0: "root", ELEMENTS: "tip"}
    rows = [f"{node + 1}, {LENGTH * node / ELEMENTS!r}, 0, 0, {groups.get(node, '')}" for node in range(ELEMENTS + 1)]
    (cwd / "nodes.csv").write_text("\n".join(["node, x, y, z, group", *rows]))
    shipped = (REPOSITORY / "models/simo_1986/spin_up_beam.toml").read_text()
    shipped = shipped.replace("final_rate_rad_per_s = 6.0", "final_rate_rad_per_s = 3.4")
    (cwd / "beam.toml").write_text(shipped)
    head, rest = shipped.split("[[body]]", 1)
    tail = rest.split("[[joint]]", 1)[1]
    tail = tail.replace('child = "beam"', 'child = { body = "beam", at = "root" }')
    for name, gained in (
        ("stiffens", 'geometric_stiffness = [{ file = "gain.mtx", force_per_mass = { along = "x", growing_with = "x" } }]'),
        ("bare", ""),
    ):
        body = f"""[[body]]
name = "beam"
[body.mesh]
file = "nodes.csv"
interface = [{{ name = "root" }}, {{ name = "tip" }}]
basis = {{ clamped_free = {{ modes = 6 }} }}
[body.mesh.matrices]
mass = "mass.mtx"
stiffness = "stiffness.mtx"
{gained}
"""
        (cwd / f"{name}.toml").write_text(f"{head}{body}[[joint]]{tail}")
    return cwd


def test_frequencies_of_the_source_are_kept(folder):
    """Second formulation: SciPy's eigenvalues of the same matrices, held at the root, to 1e-8."""
    mass, stiffness, _ = beam()
    squares = scipy.linalg.eigh(stiffness[6:, 6:], mass[6:, 6:], eigvals_only=True)
    told = json.loads(lissom("body", "bare.toml:beam", "--json", cwd=folder))
    found = [mode["frequency_rad_per_s"] for mode in told["modes"]]
    assert found == pytest.approx(numpy.sqrt(squares[: len(found)]), rel=1e-8)
    assert told["mass_kg"] == pytest.approx(PER_LENGTH * LENGTH, rel=1e-12)
    assert told["mesh"]["rotation_mass_share"] < 0.2


def lag(folder, model):
    summary = json.loads(lissom("run", model, "--json", cwd=folder))
    return abs(summary["channels"]["tip.deflection.y"]["minimum"]["value"])


def test_an_imported_beam_lags_as_the_beam_does(folder):
    """The spin-up problem at 0.9 of the first frequency: within 1 % with what the source says of its stiffening, far off without, and said so."""
    wanted = lag(folder, "beam.toml")
    assert lag(folder, "stiffens.toml") == pytest.approx(wanted, rel=LAG)
    assert lag(folder, "bare.toml") > 1.4 * wanted
    told = json.loads(lissom("check", "bare.toml", "--json", cwd=folder))
    assert any("does not stiffen" in json.dumps(warning) for warning in told["warnings"])
    told = json.loads(lissom("check", "stiffens.toml", "--json", cwd=folder))
    assert not any("does not stiffen" in json.dumps(warning) for warning in told["warnings"])
    summary = json.loads(lissom("run", "bare.toml", "--json", cwd=folder))
    missing = summary["audit"]["bodies"][0]["missing_stiffness"]
    # 1.193 (3.4/3.80)²
    assert missing["share"] == pytest.approx(1.193 * (3.4 / 3.798) ** 2, rel=0.02)


def test_energy_of_a_free_hub_with_an_imported_beam(folder):
    """Conservation: a hub that floats and spins, with the beam from matrices hinged to it, bent by half a per cent of its length and more: 1e-9 of the peak."""
    body = (folder / "stiffens.toml").read_text().split("[[body]]", 1)[1].split("[[joint]]", 1)[0]
    (folder / "hub.toml").write_text(f"""format = 1
[[body]]
name = "hub"
rigid = {{ mass_kg = 5.0, inertia_kg_m2 = [3.0, 4.0, 5.0] }}
[[body]]{body}
[[joint]]
name = "float"
parent = "ground"
child = "hub"
free = {{ initial_angular_velocity_rad_per_s = [0.1, -0.2, 2.0] }}
[[joint]]
name = "hinge"
parent = "hub"
child = {{ body = "beam", at = "root" }}
revolute = {{ axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 1.0, spring = {{ stiffness_n_m_per_rad = 500.0 }} }}
[simulation]
duration_s = 1.0
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-13 }}
""")
    audit = json.loads(lissom("run", "hub.toml", "--json", cwd=folder))["audit"]
    assert audit["energy"]["max_drift_percent"] < 1e-7
    assert max(body["deflection"]["value"] for body in audit["bodies"]) > 0.05
