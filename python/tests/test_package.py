"""The package as a whole: command, lazy imports, types, names, examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lissom
import lissom._native

HERE = Path(__file__).parent


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def blocks(page: str) -> list[str]:
    """What a page shows of Python."""
    text = (HERE / "../.." / page).read_text(encoding="utf-8")
    return [block.split("```")[0] for block in text.split("```python\n")[1:]]


def guide() -> str:
    """The blocks of the guide as one program."""
    return "\n".join(blocks("docs/guide/python.md"))


def first_lines() -> str:
    """How the README introduces the package."""
    return next(block for block in blocks("README.md") if block.startswith("import lissom"))


def test_the_command_comes_along(tmp_path: Path) -> None:
    told = python("-m", "lissom", "--version")
    assert told.returncode == 0 and lissom.__version__ in told.stdout
    assert python("-m", "lissom", "no-such-verb").returncode == 2
    found = python("-m", "lissom", "check", "two-link-arm", "--json")
    assert json.loads(found.stdout)["bodies"]


def test_importing_loads_no_numpy() -> None:
    code = "import sys, lissom, lissom.__main__; assert 'numpy' not in sys.modules; lissom.load; assert 'numpy' in sys.modules"
    assert python("-c", code).returncode == 0


def test_every_public_name_is_there_and_documented() -> None:
    assert set(lissom.__all__) == set(lissom._HOME)
    for name in lissom.__all__:
        assert getattr(lissom, name) is not None
        assert name.startswith("__") or getattr(lissom, name).__doc__, name
    owners = [lissom.BatchSimulator, lissom.Linearization, lissom.Mechanism, lissom.Model, lissom.Recording]
    for owner in [*owners, lissom.Simulator, lissom.State]:
        for name in (own for own in dir(owner) if not own.startswith("_")):
            assert getattr(owner, name).__doc__, f"{owner.__name__}.{name}"
    with pytest.raises(AttributeError):
        lissom.no_such_name  # noqa: B018


@pytest.mark.parametrize("module", ["lissom", "lissom.model", "lissom.spec", "lissom.sweeps"])
def test_examples_of_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0 and found.failed == 0


def test_the_page_of_the_api_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not: python python/tools/make_api.py > docs/python-api.md, with the package installed."""
    pytest.importorskip("gymnasium")
    monkeypatch.syspath_prepend(str(HERE / "../tools"))
    made = importlib.import_module("make_api").made()
    assert made == (HERE / "../../docs/python-api.md").read_text(encoding="utf-8")


def test_wrong_names_and_kinds_are_told_with_a_remedy(arm: lissom.Mechanism) -> None:
    rec = arm.simulate(duration_s=0.01)
    for wrong, told in (("hand.positon", "did you mean 'hand.position'"), ("hand", "hand.position.x")):
        for ask in (rec.__getitem__, rec.unit, rec.plot if wrong != "hand" else rec.__getitem__):
            with pytest.raises(KeyError, match=told):
                ask(wrong)
    with pytest.raises(TypeError, match="state_at"):
        arm.state([0.1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="duration_s="):
        arm.simulate(0.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lissom.Sampled"):
        arm.simulate(controller=lambda t_s, y: [0.0, 0.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be called"):
        lissom.Sampled(1.0, period_s=1e-3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="points is 0"):
        arm.perturb(points=0)
    with pytest.raises(ValueError, match="count is 0"):
        arm.modes(count=0)
    with pytest.raises(ValueError, match="dt_s is 0"):
        arm.linearize().to_control(dt_s=0.0)
    with pytest.raises(IndexError, match="no member -1"):
        arm.batch_simulator(arm.start(), members=2, dt_s=1e-3).state(-1)
    with pytest.raises(ValueError, match="one axis"):
        lissom.Recording(np.zeros((2, 2)), {}, {})
    with pytest.raises(TypeError, match="go by name"):
        rec[0]  # type: ignore[index]
    with pytest.raises(ValueError, match="files end with .csv"):
        rec.save("run.cvs")
    with pytest.raises(TypeError, match="lissom.load"):
        lissom.Mechanism("arm.toml")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="values by path"):
        arm.model.replace([("payload.gripper.mass_kg", 0.6)])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="from_text"):
        lissom.Model.from_dict("format = 1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'shoulder.angle' is 'a quarter'"):
        arm.state({"shoulder.angle": "a quarter"})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="mechanism.state"):
        arm.forward_dynamics({"shoulder.angle": 0.1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="as .model"):
        lissom.sweep(arm, {"payload.gripper.mass_kg": [0.1]}, measure=lambda rec: {})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="within is -1"):
        arm.converge(within=-1.0)


def test_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the package, of a program that uses it, and of the guide."""
    pytest.importorskip("mypy")
    monkeypatch.setenv("MYPYPATH", f"{HERE}{os.pathsep}{tmp_path}")
    words = ["--strict", "--config-file", str(HERE / "../../pyproject.toml"), "--cache-dir", str(tmp_path)]
    (tmp_path / "guide.py").write_text(guide())
    (tmp_path / "first_lines.py").write_text(first_lines())
    modules = ("first_steps", "guide", "first_lines")
    checked = python("-m", "mypy", *words, "--package", "lissom", *(f"--module={name}" for name in modules))
    assert checked.returncode == 0, checked.stdout
    assert python(str(HERE / "first_steps.py")).returncode == 0


def test_stubs_are_complete() -> None:
    pytest.importorskip("mypy")
    checked = python("-m", "mypy.stubtest", "lissom._native")
    assert checked.returncode == 0, checked.stdout


def test_stubs_say_what_the_binding_says() -> None:
    """Editors show what stands in the stub, Python what stands in the binding."""
    stub = ast.parse((Path(lissom.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))
    classes = {own.name: own for own in stub.body if isinstance(own, ast.ClassDef)}
    for owner in (lissom.State, lissom._native.Mechanism):
        functions = (own for own in classes[owner.__name__].body if isinstance(own, ast.FunctionDef))
        public = [own for own in functions if not own.name.startswith("_")]
        assert public
        for own in public:
            told = " ".join((ast.get_docstring(own) or "").split())
            assert told == " ".join(getattr(owner, own.name).__doc__.split()), own.name


def test_the_first_lines_of_the_readme() -> None:
    told = python("-c", first_lines())
    assert told.returncode == 0, told.stderr
