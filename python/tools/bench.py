"""What calls from Python cost, beside the same calls inside Rust, and control loops beside real time.

    python python/tools/bench.py

Ratios come from one run. Times are the shortest of several rounds, the least disturbed; on one thread they are those of the processor.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

import lissom

STATES = 10_000


def shortest_s(call: Callable[[], object], count: int, clock: Callable[[], float], rounds: int = 9) -> float:
    """Seconds of one call."""
    found = []
    for _ in range(rounds):
        began = clock()
        for _ in range(count):
            call()
        found.append((clock() - began) / count)
    return min(found)


def forward_dynamics(name: str) -> None:
    """A call by itself, what of it is not Rust, and many states in one call."""
    mech = lissom.shipped(name).build()
    rng = np.random.default_rng(1)
    start = mech.free_state(mech.start())
    n_q, n = len(mech.free_positions), len(mech.free_velocities)
    x = np.concatenate(
        [
            mech.integrate(start[:n_q], 0.01 * rng.standard_normal((STATES, n))),
            rng.standard_normal((STATES, n)),
        ],
        axis=-1,
    )
    force, out = rng.standard_normal((STATES, n)), np.zeros((STATES, n))

    def first(rows: int) -> Callable[[], object]:
        states, forces, found = x[:rows], force[:rows], out[:rows]
        return lambda: mech.forward_dynamics(states, forces, out=found)

    state, forces, found = x[0], force[0], out[0]

    def alone() -> object:
        return mech.forward_dynamics(state, forces, out=found)

    with lissom.threads(1):
        # too few rows to be evaluated side by side: two more of them are two more calls inside Rust
        one, three = (shortest_s(first(rows), 2000, time.process_time) for rows in (1, 3))
        single = (three - one) / 2.0
        call = shortest_s(alone, 2000, time.process_time)
        many = shortest_s(first(STATES), 1, time.process_time) / STATES
    cores = shortest_s(first(STATES), 1, time.perf_counter) / STATES
    print(
        f"{name}: forward_dynamics {1e6 * call:.2f} us a call, {1e6 * single:.2f} us inside Rust, "
        f"overhead {1e6 * (call - single):.2f} us; {STATES} states in one call: "
        f"{single / many:.2f} times the throughput on one core, {single / cores:.2f} on {os.cpu_count()}"
    )


def steps() -> None:
    """The Shuttle arm at 1 kHz."""
    sim = lissom.shipped("shuttle-arm").build().simulator(dt_s=1e-3)
    u = np.zeros(len(sim.inputs))
    took = shortest_s(lambda: sim.step(u), 1000, time.process_time, rounds=3)
    print(f"shuttle-arm: steps of 1 ms, {1e-3 / took:.1f} times faster than real time")


def main() -> None:
    """Print a line per measurement."""
    for name in ("two-link-arm", "shuttle-arm"):
        forward_dynamics(name)
    steps()


if __name__ == "__main__":
    main()
