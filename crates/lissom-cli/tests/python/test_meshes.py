"""Meshed links in other frames and with other ties move alike."""

import numpy
import pandas
import pytest
from test_calculix import bar
from test_runs import REPOSITORY, lissom

# the section of the spin-up beam as a square
SIDE = 0.07745966692414834
# a lag of 0.57 m on 10 m: frames differ in what is of third order
THIRD_ORDER = 0.005

BASES = {
    "tangent": ("{ craig_bampton = { modes = 4 } }", "rigid"),
    "averaging": ("{ craig_bampton = { modes = 4 } }", "averaging"),
    "mean": ('{ craig_bampton = { modes = 4, frame = "mean" } }', "rigid"),
    "free": ("{ free_free = { modes = 4, residual = true } }", "rigid"),
}


@pytest.fixture(scope="module")
def lags(tmp_path_factory):
    """Largest lag of the tip behind the hub in the spin-up problem, in space, for every basis and for the beam."""
    cwd = tmp_path_factory.mktemp("meshes")
    (cwd / "bar.inp").write_text(bar(20, (10.0, SIDE, SIDE)))
    shipped = (REPOSITORY / "models/simo_1986/spin_up_beam.toml").read_text()
    head, rest = shipped.split("[[body]]", 1)
    tail = rest.split("[[joint]]", 1)[1]
    tail = tail.replace('child = "beam"', 'child = { body = "beam", at = "ROOT" }').replace('"tip"', '"TIP"')
    models = {"beam": shipped}
    for name, (basis, tie) in BASES.items():
        models[name] = f"""{head}[[body]]
name = "beam"
[body.mesh]
file = "bar.inp"
material = [{{ youngs_modulus_pa = 4.666666666666667e9, poisson_ratio = 0.0, density_kg_per_m3 = 200.0 }}]
interface = [{{ name = "ROOT", tie = "{tie}" }}, {{ name = "TIP", tie = "{tie}" }}]
basis = {basis}
[[joint]]{tail}"""
    found = {}
    for name, model in models.items():
        (cwd / f"{name}.toml").write_text(model)
        radau = "simulation.integrator={radau={rtol=1e-6,atol=1e-8}}"
        lissom("run", f"{name}.toml", "--set", radau, "--out", name, "--quiet", cwd=cwd)
        table = pandas.read_csv(cwd / name / "recording.csv")
        tip = "tip" if name == "beam" else "TIP"
        x, y = table[f"{tip}.position.x [m]"], table[f"{tip}.position.y [m]"]
        angle = table["hub.angle [rad]"]
        found[name] = (x * numpy.sin(angle) - y * numpy.cos(angle)).max()
    return found


@pytest.mark.parametrize("basis", BASES)
def test_links_move_alike_in_every_frame(lags, basis):
    """Second formulation: the beam body; frames tangent, averaged and of mean axes, whose second-order displacements have nothing in common."""
    assert lags[basis] == pytest.approx(lags["beam"], rel=0.01)
    assert lags[basis] == pytest.approx(lags["tangent"], rel=THIRD_ORDER)
