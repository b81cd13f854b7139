"""Frequency responses beside those of other packages."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

import lissom

SOLVED = 1e-9
"""Rounding of a dense solve near a resonance, as a share of the largest gain of a pair."""
POLYNOMIALS = 1e-6
"""SciPy goes by the polynomials of order 16 of a transfer function, which keep about half of the digits."""
EIGENVALUES = 1e-6
"""Rounding of eigenvalues that two programs seek in different coordinates, as a share of the largest."""


@pytest.fixture(scope="module")
def lin() -> lissom.Linearization:
    """An arm whose joints are held by springs and dampers, so that everything has a static gain."""
    model = lissom.shipped("two-link-arm").to_dict()
    for joint in model["joint"]:
        joint["revolute"] |= {"spring": {"stiffness_n_m_per_rad": 40.0}, "friction": {"viscous_n_m_s_per_rad": 0.3}}
    mech = lissom.Model.from_dict(model).build()
    return mech.linearize({"shoulder.angle": 0.4, "elbow.angle": -0.9}, outputs=["hand.position", "elbow.angle"])


def test_gains_are_those_of_python_control_and_scipy(lin: lissom.Linearization) -> None:
    control = pytest.importorskip("control")
    import scipy.signal

    found = lin.response(range_rad_per_s=(0.1, 500.0), count=60)
    omega = found.frequency_rad_per_s
    assert len(omega) > 60 and np.all(np.diff(omega) > 0.0), "peaks are looked at more closely"
    assert found.gain.shape == (len(omega), 4, 2) and found.inputs == lin.inputs and found.outputs == lin.outputs
    other = np.moveaxis(lin.to_control()(1j * omega), -1, 0)
    for row, output in enumerate(lin.outputs):
        for column, given in enumerate(lin.inputs):
            own, expected = found.between(given, output), other[:, row, column]
            largest = np.abs(expected).max()
            if output == "hand.position.z":
                assert not np.any(own) and largest < 1e-12, "an arm in a plane does not leave it"
                continue
            np.testing.assert_allclose(own, expected, atol=SOLVED * largest, rtol=0.0)
            single = lin.select(inputs=[given], outputs=[output])
            _, expected = scipy.signal.freqresp(single.to_scipy(), omega)
            np.testing.assert_allclose(own, expected, atol=POLYNOMIALS * largest, rtol=0.0)
    gains = control.dcgain(lin.to_control())
    np.testing.assert_allclose(found.static_gain, gains, atol=SOLVED * np.abs(gains).max())
    assert found.units[0] == ["m/(N m)", "m/(N m)"] and found.units[3] == ["rad/(N m)", "rad/(N m)"]


def test_frequencies_may_be_named(lin: lissom.Linearization) -> None:
    omega = [3.0, 0.0, 70.0]
    found = lin.response(omega)
    assert np.array_equal(found.frequency_rad_per_s, omega)
    np.testing.assert_allclose(found.gain[1].real, found.static_gain, atol=SOLVED * np.abs(found.static_gain).max())
    assert np.array_equal(lin.response(3.0).gain[0], found.gain[0])


def test_poles_and_zeros_are_those_of_other_packages(lin: lissom.Linearization) -> None:
    """Poles are the eigenvalues of A. Zeros of one input and one output are the finite eigenvalues of Rosenbrock's pencil."""
    import scipy.linalg

    found = lin.response(count=5)
    eigenvalues = np.linalg.eigvals(lin.A)
    largest = np.abs(eigenvalues).max()
    both = np.concatenate([found.poles, found.poles[found.poles.imag != 0.0].conj()])
    assert len(both) == len(eigenvalues)
    for own in both:
        assert np.abs(eigenvalues - own).min() < EIGENVALUES * largest
    for row, output in enumerate(lin.outputs):
        for column, given in enumerate(lin.inputs):
            zeros = found.zeros[row][column]
            if output == "hand.position.z":
                assert len(zeros) == 0
                continue
            one = lin.select(inputs=[given], outputs=[output])
            pencil = np.block([[one.A, one.B], [one.C, one.D]])
            pick = np.zeros_like(pencil)
            pick[: len(one.A), : len(one.A)] = np.eye(len(one.A))
            expected = scipy.linalg.eigvals(pencil, pick)
            expected = expected[np.isfinite(expected) & (np.abs(expected) < 1e3 * largest)]
            assert len(zeros) > 0
            for zero in zeros:
                assert np.abs(expected - zero).min() < EIGENVALUES * largest, (given, output, zero)
            assert found.minimum_phase[row, column] == bool(np.all(zeros.real <= 1e-7 * np.abs(zeros)))
    assert not found.minimum_phase[:2].all(), "the hand of a flexible arm is non-minimum phase"


def test_it_is_what_the_command_tells(command: list[str]) -> None:
    words = ["response", "spatial-two-link", "--closed-loop", "--count", "30", "--outputs", "tip.position", "--json"]
    told = json.loads(subprocess.run([*command, *words], check=True, capture_output=True, text=True).stdout)
    mech = lissom.shipped("spatial-two-link").build()
    found = mech.linearize(closed_loop=True, outputs=["tip.position"]).response(count=30)
    assert told["frequency_rad_per_s"] == found.frequency_rad_per_s.tolist()
    assert told["poles_per_s"] == [[pole.real, pole.imag] for pole in found.poles]
    for pair in told["pairs"]:
        own = found.between(pair["input"], pair["output"])
        assert pair["real"] == own.real.tolist() and pair["imaginary"] == own.imag.tolist()
        at = found.outputs.index(pair["output"]), found.inputs.index(pair["input"])
        assert pair["unit"] == found.units[at[0]][at[1]] and pair["minimum_phase"] == found.minimum_phase[at]
        assert pair["static_gain"] == found.static_gain[at]


def test_what_makes_no_sense_is_refused(lin: lissom.Linearization, arm: lissom.Mechanism) -> None:
    with pytest.raises(ValueError, match="rising positive"):
        lin.response(range_rad_per_s=(3.0, 1.0))
    with pytest.raises(ValueError, match="negative or not finite"):
        lin.response([1.0, -2.0])
    with pytest.raises(ValueError, match="give one of them"):
        lin.response([1.0], range_rad_per_s=(1.0, 2.0))
    with pytest.raises(ValueError, match="count is 0"):
        lin.response(count=0)
    with pytest.raises(ValueError, match=r"at\(time_s\)"):
        arm.linearize(about="run", points=3).response()
    with pytest.raises(ValueError, match="no input or no output"):
        lin.select(outputs=[]).response()
    with pytest.raises(ValueError, match="did you mean 'elbow.torque'"):
        lin.response(count=5).between("elbw.torque", "elbow.angle")
    with pytest.raises(ValueError, match="controller"):
        arm.linearize(closed_loop=True)


def test_a_plot_has_magnitude_and_phase(lin: lissom.Linearization) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    above, below = lin.response(count=20).plot(inputs=["shoulder.torque"], outputs=["elbow.angle", "hand.position.z"])
    assert [line.get_label() for line in above.lines] == ["shoulder.torque to elbow.angle"] and len(below.lines) == 1
    assert above.get_ylabel() == "magnitude [rad/(N m)]"


def test_ctrl_c_ends_a_response(lin: lissom.Linearization, interrupt_after: Callable[[float], object]) -> None:
    interrupt_after(0.2)
    with pytest.raises(lissom.Interrupted):
        lin.response(count=1_000_000)
