"""Writes scipy_reference.json: solutions by SciPy's solvers that the tests of `integrate` compare with.

Run with SciPy installed: python scipy_reference.py
"""

import json
import math
from pathlib import Path

import scipy
from scipy.integrate import solve_ivp

RTOL = 1e-10
ATOL = 1e-12


def duffing(time, state):
    """A forced Duffing oscillator."""
    position, velocity = state
    force = 0.5 * math.cos(1.3 * time)
    return [velocity, position - position**3 - 0.2 * velocity + force]


def rigid_body(time, state):
    """Euler's equations of a free rigid body."""
    x, y, z = state
    return [-2.0 * y * z, 1.25 * x * z, -0.5 * x * y]


def robertson(time, state):
    """Robertson's chemical reaction, stiff."""
    a, b, c = state
    slow = 0.04 * a
    fast = 3e7 * b * b
    mixed = 1e4 * b * c
    return [-slow + mixed, slow - mixed - fast, fast]


PROBLEMS = [
    ("duffing", duffing, [1.0, 0.0], [0.5, 1.0, 2.5, 5.0, 7.5, 10.0], ["DOP853", "RK45", "Radau", "LSODA"]),
    ("rigid_body", rigid_body, [1.0, 0.1, 0.9], [0.5, 1.0, 2.5, 5.0, 7.5, 10.0], ["DOP853", "RK45", "Radau", "LSODA"]),
    ("robertson", robertson, [1.0, 0.0, 0.0], [0.1, 1.0, 10.0, 100.0], ["Radau", "LSODA"]),
]


def main():
    solutions = []
    for name, derivative, start, instants, methods in PROBLEMS:
        for method in methods:
            states = []
            for instant in instants:
                # one run per instant, so that no interpolant enters
                run = solve_ivp(derivative, (0.0, instant), start, method=method, rtol=RTOL, atol=ATOL)
                assert run.success, run.message
                states.append([float(value) for value in run.y[:, -1]])
            solutions.append({"problem": name, "method": method, "instants": instants, "states": states})
    text = json.dumps(
        {"scipy": scipy.__version__, "rtol": RTOL, "atol": ATOL, "solutions": solutions}, indent=1
    )
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
