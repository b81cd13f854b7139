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
