"""Draws docs/images/spin_up_beam.png from two runs of the command `lissom`.

    python docs/images/draw.py [path of lissom]

Needs NumPy and Matplotlib. The dots are the reference numbers of validation/simo_1986/cases.toml.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def deflection(lissom: str, *changes: str) -> tuple[np.ndarray, np.ndarray]:
    """Time and lag of the tip of the spin-up beam."""
    with tempfile.TemporaryDirectory() as folder:
        command = [lissom, "run", "spin-up-beam", "--quiet", "--out", folder]
        for change in changes:
            command += ["--set", change]
        subprocess.run(command, check=True)
        with np.load(Path(folder) / "recording.npz") as recording:
            return recording["time_s"], recording["tip.deflection.y"]


def references() -> list[tuple[float, float]]:
    """Instants and displacements of the geometrically exact rod."""
    cases = tomllib.loads((ROOT / "validation/simo_1986/cases.toml").read_text())
    rows = [row for case in cases["case"] for row in case["row"]]
    by_measure = {str(row["measure"]): row["reference"] for row in rows}
    points = [(by_measure["time_of_minimum"], by_measure["minimum"])]
    for row in rows:
        if isinstance(row["measure"], dict) and "at_s" in row["measure"]:
            points.append((row["measure"]["at_s"], row["reference"]))
    return sorted(points)


def main() -> None:
    lissom = sys.argv[1] if len(sys.argv) > 1 else "lissom"
    figure, axes = plt.subplots(figsize=(7.2, 3.4), dpi=120, layout="constrained")
    time, lag = deflection(lissom)
    axes.plot(time, lag, color="#1f5fa8", label="with shortening (default)")
    time, lag = deflection(lissom, "fidelity.shortening=none")
    inside = np.flatnonzero(np.abs(lag) > 5.0)
    end = inside[0] if inside.size else lag.size
    axes.plot(time[:end], lag[:end], color="#c0392b", ls="--", label="without shortening")
    axes.plot(*zip(*references()), "ko", ms=5, label="geometrically exact rod")
    axes.axvline(15.0, color="0.75", lw=0.8)
    axes.text(15.1, -1.15, "6 rad/s reached", color="0.4", fontsize=8)
    axes.set(xlim=(0, 20), ylim=(-1.25, 0.15), xlabel="time [s]")
    axes.set_ylabel("tip.deflection.y [m]")
    axes.set_title("Beam of 10 m spun up about its root, three bending modes", fontsize=10)
    axes.legend(loc="lower left", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "spin_up_beam.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
