"""What several tests use."""

from __future__ import annotations

import pytest

import lissom


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
