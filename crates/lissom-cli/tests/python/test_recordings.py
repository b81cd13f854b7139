"""Recordings as their readers see them: pandas, NumPy and SciPy read what lissom-io writes.

The truth held here is identity: every reader sees the same names, units and bits. The sample is
written by `cargo run -p lissom-io --example write_sample`; set LISSOM_SAMPLE_DIR to a folder that
already holds it.
"""

import json
import os
import pathlib
import subprocess
import zipfile
import zlib

import numpy
import pandas
import pytest
import scipy.io

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]

UNITS = {
    "shoulder.angle": "rad",
    "shoulder.torque": "N m",
    "boom.bending_y_1": "1",
    "tip.position.x": "m",
    "tip_position.x": "m",
    "base.momentum, total": "kg m/s",
    "energy": "J",
}
INSTANTS = 101


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with the sample."""
    if made := os.environ.get("LISSOM_SAMPLE_DIR"):
        return pathlib.Path(made)
    made = tmp_path_factory.mktemp("sample")
    command = ["cargo", "run", "-q", "-p", "lissom-io", "--example", "write_sample", "--", made]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    return made


@pytest.fixture(scope="module")
def npz(folder):
    """The NPZ file, read without the danger of pickled objects."""
    with numpy.load(folder / "recording.npz", allow_pickle=False) as arrays:
        return dict(arrays)


def bits(values):
    """The doubles as integers: equal only if identical, signed zeros included."""
    return numpy.ascontiguousarray(values, dtype="<f8").view("<u8")


def test_npz_holds_every_channel_under_its_name(npz):
    assert set(npz) == {"time_s", "channel_names", "channel_units", *UNITS}
    for name in ["time_s", *UNITS]:
        assert npz[name].dtype == numpy.dtype("<f8")
        assert npz[name].shape == (INSTANTS,)


def test_npz_names_the_units_in_order(npz):
    assert dict(zip(npz["channel_names"], npz["channel_units"])) == UNITS
    assert list(npz["channel_names"]) == list(UNITS)


def test_npz_values_are_those_that_were_written(npz):
    steps = numpy.arange(INSTANTS)
    assert (bits(npz["time_s"]) == bits(steps * 0.005)).all()
    assert (bits(npz["energy"]) == bits(steps)).all()
    assert (bits(npz["tip_position.x"]) == bits(numpy.full(INSTANTS, -0.0))).all()
    subnormal = numpy.finfo(float).tiny / 2**20 * steps
    assert (bits(npz["base.momentum, total"]) == bits(subnormal)).all()
    # The sines of two libraries may differ in their last bit.
    angle = numpy.sin(3.0 * npz["time_s"])
    numpy.testing.assert_allclose(npz["shoulder.angle"], angle, rtol=4 * numpy.finfo(float).eps)


def test_archive_passes_its_own_checks(folder):
    with zipfile.ZipFile(folder / "recording.npz") as archive:
        assert archive.testzip() is None


def test_csv_has_names_with_units_and_the_same_bits(folder, npz):
    # The default parser of pandas is quick but off by a bit now and then.
    table = pandas.read_csv(folder / "recording.csv", float_precision="round_trip")
    columns = {name: f"{name} [{unit}]" for name, unit in UNITS.items()}
    assert list(table.columns) == ["time_s", *columns.values()]
    assert (bits(table["time_s"].to_numpy()) == bits(npz["time_s"])).all()
    for name, column in columns.items():
        assert (bits(table[column].to_numpy()) == bits(npz[name])).all(), name


def test_mat_has_columns_names_and_units(folder, npz):
    variables = scipy.io.loadmat(folder / "recording.mat")
    names, variable_names, units = (
        [str(cell.item()) for cell in variables[key].ravel()]
        for key in ["channel_names", "channel_variables", "channel_units"]
    )
    assert dict(zip(names, units)) == UNITS
    assert variable_names[:2] == ["shoulder_angle", "shoulder_torque"]
    assert len(set(variable_names)) == len(UNITS)
    assert all(name.isidentifier() for name in variable_names)
    for name, variable in [("time_s", "time_s"), *zip(names, variable_names)]:
        assert variables[variable].shape == (INSTANTS, 1)
        assert (bits(variables[variable][:, 0]) == bits(npz[name])).all(), name


def test_manifest_lists_channels_and_files(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["format"] == 3
    assert {entry["name"]: entry["unit"] for entry in manifest["channels"]} == UNITS
    names = [file["name"] for file in manifest["files"]]
    assert names == ["recording.csv", "recording.npz", "recording.mat"]
    for file in manifest["files"]:
        content = (folder / file["name"]).read_bytes()
        assert (len(content), zlib.crc32(content)) == (file["bytes"], file["crc32"])
    assert manifest["completed"] is True
    assert manifest["stopped_at_s"] is None
