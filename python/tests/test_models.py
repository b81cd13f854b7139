"""Models from files, texts and dictionaries, and what is wrong with them."""

from __future__ import annotations

import copy
import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import lissom
from lissom import spec

BROKEN = """\
format = 1
[[body]]
name = "arm"
rigid = { mass_kg = -1.0 }
"""


def test_every_problem_has_file_line_path_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(BROKEN)
    with pytest.raises(lissom.ModelError) as caught:
        lissom.load(path)
    error = caught.value
    assert isinstance(error, lissom.LissomError)
    assert error.file == str(path)
    mass = next(problem for problem in error.problems if problem.path == "body[0].rigid.mass_kg")
    assert mass.line == 4 and mass.remedy
    assert f"{path}:4:" in str(error) and mass.message in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems and str(again) == str(error)


def test_a_path_that_is_none_is_a_problem_with_a_remedy() -> None:
    with pytest.raises(lissom.ModelError, match="a step of its path is empty") as caught:
        lissom.shipped("two-link-arm").replace({"payload..mass_kg": 1.0})
    (problem,) = caught.value.problems
    assert problem.message and problem.remedy == caught.value.remedy and problem.remedy in str(caught.value)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(lissom.ModelError, match="nowhere.toml"):
        lissom.load("nowhere.toml")
    with pytest.raises(ValueError, match="two-link-arm"):
        lissom.shipped("two-link-army")


def test_dictionaries_are_the_same_model() -> None:
    for name in lissom.shipped_models():
        model = lissom.shipped(name)
        assert lissom.Model.from_dict(model.to_dict(), name=name) == model, name


def test_replace_takes_paths_and_values_of_every_kind() -> None:
    model = lissom.shipped("two-link-arm")
    changed = model.replace(
        {
            "payload.gripper.mass_kg": np.float64(0.6),
            "simulation.integrator": {"dopri5": {"rtol": 1e-6}},
            "gravity_m_per_s2": np.array([0.0, 0.0, -9.81]),
            "name": 'an "arm"\n',
        }
    )
    told = changed.to_dict()
    assert next(p for p in told["payload"] if p["name"] == "gripper")["mass_kg"] == 0.6
    assert told["simulation"]["integrator"]["dopri5"]["rtol"] == 1e-6
    assert told["gravity_m_per_s2"] == [0.0, 0.0, -9.81]
    assert changed.name == 'an "arm"\n'
    assert model.to_dict() != told, "the model itself stays as it was"
    with pytest.raises(lissom.ModelError, match="mass_kg"):
        model.replace({"payload.gripper.mass_kg": -1.0})
    with pytest.raises(lissom.ModelError, match="gripper"):
        model.replace({"payload.griper.mass_kg": 1.0})
    with pytest.raises(TypeError, match="set"):
        model.replace({"payload.gripper.mass_kg": {1.0}})


def test_a_model_carries_the_files_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lissom.shipped("two-link-arm").to_dict()
    text["input"] = [
        {"joint": "shoulder", "torque_table": {"file": "torque.csv"}},
    ]
    (tmp_path / "torque.csv").write_text("0.0, 0.0\n1.0, 2.0\n2.0, 0.0\n")
    monkeypatch.chdir(tmp_path)
    model = lissom.Model.from_dict(text)
    monkeypatch.chdir("/")
    again = pickle.loads(pickle.dumps(model))
    assert again == model and copy.deepcopy(model) == model
    assert again.to_dict()["input"][0]["torque_table"]["value_n_m"] == [0.0, 2.0, 0.0]


def bar_mesh(elements: int) -> str:
    """A bar of hexahedra along x in the format of Gmsh, with its ends as groups."""
    corners = [(k, *across) for k in range(elements + 1) for across in ((0, 0), (1, 0), (1, 1), (0, 1))]
    nodes = [f"{at} {0.1 * x} {0.02 * y} {0.02 * z}" for at, (x, y, z) in enumerate(corners, 1)]
    faces = [[4 * k + corner for corner in range(1, 5)] for k in range(elements + 1)]
    quads = [f"{1 + at} 3 2 {1 + at} {1 + at} {' '.join(map(str, faces[-at]))}" for at in (0, 1)]
    solids = [
        f"{3 + k} 5 2 3 3 {' '.join(map(str, faces[k] + faces[k + 1]))}" for k in range(elements)
    ]
    parts = {
        "MeshFormat": ["2.2 0 8"],
        "PhysicalNames": ["3", '2 1 "flange"', '2 2 "tip"', '3 3 "metal"'],
        "Nodes": [str(len(nodes)), *nodes],
        "Elements": [str(2 + elements), *quads, *solids],
    }
    return "".join("\n".join([f"${name}", *lines, f"$End{name}\n"]) for name, lines in parts.items())


MESHED = """\
format = 1
[[body]]
name = "bar"
[body.mesh]
file = "bar.msh"
interface = [{ name = "flange" }, { name = "tip" }]
basis = { clamped_free = { modes = 2 } }
[[body.mesh.material]]
youngs_modulus_pa = 7.0e10
poisson_ratio = 0.3
density_kg_per_m3 = 2700.0
[[joint]]
name = "hub"
parent = "ground"
child = { body = "bar", at = "flange" }
revolute = { axis = [0.0, 0.0, 1.0] }
"""

ROBOT = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
</robot>
"""

BENDS = """\
[upper]
beam = { length_m = 0.4, mass_per_length_kg_per_m = 2.0, bending_stiffness_y_n_m2 = 300.0, basis = { clamped_free = { bending_y = 1 } } }
"""


@pytest.mark.parametrize("name", ["bar.toml", "arm.urdf"])
def test_meshes_and_robots_go_where_a_model_goes(name: str, tmp_path: Path) -> None:
    """Pickled, written again as dictionaries and swept over, when the files are gone."""
    (tmp_path / "bar.toml").write_text(MESHED)
    (tmp_path / "bar.msh").write_text(bar_mesh(4))
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "arm.flexible.toml").write_text(BENDS)
    model = lissom.load(tmp_path / name, {"simulation": {"duration_s": 0.01}})
    flexible = model.check()["degrees_of_freedom"]["elastic"]
    assert flexible == (2 if name == "bar.toml" else 1)
    for file in tmp_path.iterdir():
        file.unlink()
    mech = model.build()
    values = {next(iter(mech.velocities)): 1.0}
    expected = mech.simulate(mech.state(values)).last
    assert expected is not None
    copies = (
        pickle.loads(pickle.dumps(model)).build(),
        pickle.loads(pickle.dumps(mech)),
        copy.deepcopy(model).build(),
        lissom.Model.from_dict(model.to_dict(), name=model.label).build(),
    )
    for again in copies:
        last = again.simulate(again.state(values)).last
        assert last is not None and np.array_equal(last.x, expected.x)
    assert lissom.sweep(model, {"simulation.duration_s": [0.005]}, measure=lambda rec: {})[0]["error"] is None


def test_the_dataclasses_are_those_of_the_file_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not: python python/tools/make_spec.py > python/lissom/spec.py, with the package installed."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "../tools"))
    make_spec = importlib.import_module("make_spec")
    assert make_spec.made() == Path(spec.__file__).read_text(encoding="utf-8")


def test_what_is_understood_of_a_model_is_told() -> None:
    told = lissom.shipped("shuttle-arm").check()
    assert {"bodies", "degrees_of_freedom", "warnings", "total_mass_kg"} <= set(told)
    stiff = lissom.shipped("shuttle-arm", {"simulation.integrator": {"dop853": {"rtol": 1e-7}}, "simulation.duration_s": 1e4}).check()
    assert len(stiff["warnings"]) > len(told["warnings"])


def test_dataclasses_describe_a_model() -> None:
    """Keys that are words of Python, tables in tables and choices among them."""
    step = spec.TorqueStep(value_n_m=1.0, from_s=0.0, until_s=0.5)
    model = spec.Model(
        format=1,
        body=[
            spec.Body(
                name="beam",
                beam=spec.Beam(
                    length_m=1.0,
                    mass_per_length_kg_per_m=0.5,
                    bending_stiffness_y_n_m2=20.0,
                    basis=spec.BasisClampedFree(clamped_free=spec.ModeCounts(bending_y=2)),
                ),
            )
        ],
        joint=[spec.Joint(name="hub", parent="ground", child="beam", revolute=spec.Revolute(axis=(0.0, 0.0, 1.0)))],
        input=[spec.Input(joint="hub", torque_step=step)],
        simulation=spec.Simulation(duration_s=0.1, integrator=spec.IntegratorDopri5(dopri5=spec.Adaptive(rtol=1e-7))),
    )
    found = lissom.Model.from_dict(model)
    told = found.to_dict()
    assert told["input"][0]["torque_step"]["value_n_m"] == 1.0
    assert told["simulation"]["integrator"]["dopri5"]["rtol"] == 1e-7
    assert found.build().simulate()["hub.angle"][-1] > 0.0
    with pytest.raises(TypeError):
        spec.Marker(nme="hand")  # type: ignore[call-arg]
