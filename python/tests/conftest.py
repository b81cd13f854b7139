"""What several tests use."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator

import pytest

import lissom

COMMANDS = [[sys.executable, "-m", "lissom"], *([[os.environ["LISSOM_BIN"]]] if "LISSOM_BIN" in os.environ else [])]
"""The command of the package, and the one that cargo has built where it is named."""


@pytest.fixture(params=COMMANDS, ids=lambda words: "package" if len(words) > 1 else "cargo")
def command(request: pytest.FixtureRequest) -> list[str]:
    """How the command is called."""
    found: list[str] = request.param
    return found


@pytest.fixture
def interrupt_after() -> Iterator[Callable[[float], object]]:
    """Raises what Ctrl-C raises after some seconds, while the test lasts."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs a timer that sends signals")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def arm() -> lissom.Mechanism:
    """Two flexible links in a plane, for a short while."""
    model = lissom.shipped("two-link-arm", {"simulation.duration_s": 0.2})
    return model.build()


@pytest.fixture(scope="session")
def state(arm: lissom.Mechanism) -> lissom.State:
    """The arm in motion, bent."""
    values = {
        "shoulder.angle": 0.3,
        "elbow.angle": -0.7,
        "upper_arm.bending_y_1": 0.02,
        "forearm.bending_y_1": -0.01,
        "shoulder.angle.rate": 1.1,
        "elbow.angle.rate": -0.4,
        "forearm.bending_y_2.rate": 0.2,
    }
    return arm.state(values)
