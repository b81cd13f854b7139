"""What calls from Python cost: a call by itself, beside the same state inside a large batch, and steps of the Shuttle arm.

    python python/tools/bench.py

Seconds are those of the processor; the fastest of several rounds counts, as the least disturbed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import lissom


def fastest_s(call: Callable[[], object], count: int, rounds: int = 7) -> float:
    """Seconds of one call."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(count):
            call()
        found.append((time.process_time() - began) / count)
    return min(found)


def main() -> None:
    """Print a line per measurement."""
    for name in ("two-link-arm", "shuttle-arm"):
        mech = lissom.shipped(name).build()
        x = mech.free_state(mech.start())
        n = len(mech.free_velocities)
        force, out = np.zeros(n), np.zeros(n)
        single = fastest_s(lambda: mech.forward_dynamics(x, force, out=out), 2000)
        batch = np.tile(x, (10_000, 1))
        many = np.zeros((10_000, n))
        inside = fastest_s(lambda: mech.forward_dynamics(batch, force, out=many), 1) / len(batch)
        told = f"{1e6 * single:.2f} us a call, {1e6 * inside:.2f} us in a batch"
        print(f"{name}: forward_dynamics {told}, overhead {1e6 * (single - inside):.2f} us")
    mech = lissom.shipped("shuttle-arm").build()
    sim = mech.simulator(dt_s=1e-3)
    u = np.zeros(len(sim.inputs))
    began = time.process_time()
    for _ in range(1000):
        sim.step(u)
    print(f"shuttle-arm: 1000 steps of 1 ms in {time.process_time() - began:.3f} s")


if __name__ == "__main__":
    main()
