"""What calls from Python cost, beside the same calls inside Rust, and control loops beside real time.

    python python/tools/bench.py

Ratios come from one run, in which what is compared is measured turn and turn about. Times are the shortest of several rounds, the least
disturbed, of the processor where one thread works and by the clock where several do; what the threads took of the processor together is
told beside it, because a clock says little on a machine that does other work. `cargo run --release -p lissom-bench -- batches` measures batches inside Rust.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lissom

STATES = 10_000
NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs/notebooks"


Call = Callable[[], object]


def shortest_s(call: Call, count: int, clock: Callable[[], float], rounds: int = 9) -> float:
    """Seconds of one call."""
    (found,) = shortest_of([(call, count)], clock, rounds)
    return found


def shortest_of(calls: list[tuple[Call, int]], clock: Callable[[], float], rounds: int = 9) -> list[float]:
    """Seconds of one of each call, turn and turn about; each is made so many times a round."""
    found = [math.inf] * len(calls)
    for _ in range(rounds):
        for at, (call, count) in enumerate(calls):
            began = clock()
            for _ in range(count):
                call()
            found[at] = min(found[at], (clock() - began) / count)
    return found


def chain(bodies: int, modes: int) -> lissom.Model:
    """Links of half a metre one behind the other, axes z, y, z, y, …, rigid or with modes of bending in both planes."""
    rigid = {"mass_kg": 1.0, "center_of_mass_m": [0.25, 0.01, 0.02], "inertia_kg_m2": [0.002, 0.02, 0.02]}
    counts = {"bending_y": (modes + 1) // 2, "bending_z": modes // 2}
    beam = {
        "length_m": 0.5,
        "mass_per_length_kg_per_m": 2.0,
        "bending_stiffness_y_n_m2": 400.0,
        "bending_stiffness_z_n_m2": 300.0,
        "basis": {"clamped_free": counts},
    }
    joints = [
        {
            "name": f"joint_{at}",
            "parent": {"body": f"link_{at - 1}", "position_m": [0.5, 0.0, 0.0]} if at else "ground",
            "child": f"link_{at}",
            "revolute": {"axis": [0.0, 1.0, 0.0] if at % 2 else [0.0, 0.0, 1.0], "initial_angle_rad": 0.3 - 0.1 * (at % 7)},
        }
        for at in range(bodies)
    ]
    links = [{"name": f"link_{at}", **({"beam": beam} if modes else {"rigid": rigid})} for at in range(bodies)]
    return lissom.Model.from_dict({"format": 1, "gravity_m_per_s2": [0.0, -9.81, 0.0], "body": links, "joint": joints})


def forward_dynamics(name: str, model: lissom.Model) -> None:
    """A call by itself, what of it is not Rust, and many states in one call."""
    mech = model.build()
    rng = np.random.default_rng(1)
    start = mech.free_state(mech.start())
    n_q, n = len(mech.free_positions), len(mech.free_velocities)
    q = mech.integrate(start[:n_q], 0.01 * rng.standard_normal((STATES, n)))
    x = np.concatenate([q, rng.standard_normal((STATES, n))], axis=-1)
    force, out = rng.standard_normal((STATES, n)), np.zeros((STATES, n))

    def first(rows: int) -> Call:
        states, forces, found = x[:rows], force[:rows], out[:rows]
        return lambda: mech.forward_dynamics(states, forces, out=found)

    state, forces, found = x[0], force[0], out[0]

    def alone() -> object:
        return mech.forward_dynamics(state, forces, out=found)

    # one and three rows are too few to be evaluated side by side: two more of them are two more calls inside Rust
    calls = [(first(1), 2000), (first(3), 2000), (alone, 2000), (first(STATES), 1)]
    with lissom.threads(1):
        one, three, call, many = shortest_of(calls, time.process_time, rounds=15)
    single = (three - one) / 2.0
    cores = shortest_s(first(STATES), 1, time.perf_counter, rounds=50)
    together = shortest_s(first(STATES), 1, time.process_time, rounds=15)
    print(
        f"{name}: forward_dynamics {1e6 * call:.2f} us a call, {1e6 * single:.2f} us inside Rust, "
        f"overhead {1e6 * (call - single):.2f} us; {STATES} states in one call: "
        f"{STATES * single / many:.2f} times the throughput on one core, {STATES * single / cores:.2f} on {os.cpu_count()}, "
        f"whose threads took {together / many:.2f} of the processor time of one"
    )


def steps() -> None:
    """The Shuttle arm at 1 kHz."""
    sim = lissom.shipped("shuttle-arm").build().simulator(dt_s=1e-3)
    u = np.zeros(len(sim.inputs))
    took = shortest_s(lambda: sim.step(u), 1000, time.process_time, rounds=3)
    print(f"shuttle-arm: steps of 1 ms, {1e-3 / took:.1f} times faster than real time")


def notebook_of_the_scara() -> None:
    """The LQG at 1 kHz: lines of code, and 2 s of the loop beside real time."""
    path = NOTEBOOKS / "scara-lqg.ipynb"
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    code = "\n".join("".join(cell["source"]) for cell in cells)
    lines = [line for line in code.splitlines() if line.strip()]
    names: dict[str, Any] = {"__name__": "__main__"}
    os.chdir(NOTEBOOKS)
    exec(compile(code, str(path), "exec"), names)
    mech, start, law = names["mech"], names["start"], names["law"]
    took = shortest_s(lambda: mech.simulate(start, duration_s=2.0, controller=law), 1, time.process_time, rounds=3)
    print(f"scara-lqg: {len(lines)} lines, 2 s under the controller with all channels, {2.0 / took:.1f} times faster than real time")


def imports() -> None:
    """Importing the package and starting the command, beside starting Python."""

    def ran(*words: str) -> float:
        # the processor's time of children is not that of this process
        return shortest_s(lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True), 1, time.perf_counter)

    bare = ran("-c", "pass")
    package, command = ran("-c", "import lissom"), ran("-m", "lissom", "--version")
    loaded = ran("-c", "import lissom; lissom.shipped")
    print(
        f"import lissom: {1e3 * (package - bare):.0f} ms; first use, with NumPy: {1e3 * (loaded - bare):.0f} ms; "
        f"lissom --version: {1e3 * (command - bare):.0f} ms over the {1e3 * bare:.0f} ms of Python"
    )


def main() -> None:
    """Print a line per measurement."""
    forward_dynamics("7 rigid joints", chain(7, 0))
    for name in ("two-link-arm", "shuttle-arm"):
        forward_dynamics(name, lissom.shipped(name))
    forward_dynamics("10 links with 5 modes", chain(10, 5))
    steps()
    imports()
    notebook_of_the_scara()


if __name__ == "__main__":
    main()
