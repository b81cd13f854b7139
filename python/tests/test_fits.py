"""Numbers of a model from measured data."""

from __future__ import annotations

import numpy as np
import pytest

import lissom

MASS = "payload.gripper.mass_kg"


def test_a_fit_finds_what_made_the_data() -> None:
    model = lissom.shipped("two-link-arm", {"simulation.duration_s": 0.1, "output.sample_period_s": 0.01})
    truth = model.replace({MASS: 0.45}).build().simulate(channels=["hand.position.x", "hand.position.y"])
    noise = 1e-9 * np.sin(7.0 * np.arange(len(truth.time_s)))
    names = ["hand.position.x", "hand.position.y"]
    measured = lissom.Recording(truth.time_s, {name: truth[name] + noise for name in names}, {name: "m" for name in names})
    found = lissom.fit(model, measured, [MASS])
    assert abs(found.values[MASS] / 0.45 - 1.0) < 1e-3
    low, high = found.intervals[MASS]
    assert low < found.values[MASS] < high and found.deviations[MASS] > 0.0 and found.covariance.shape == (1, 1)
    assert found.model.to_dict()["payload"][0]["mass_kg"] == found.values[MASS]
    assert list(found.recording)[:2] == ["hand.position.x.measured", "hand.position.x.fitted"]
    assert found.bounds == {}
    with pytest.raises(ValueError, match="leads to no number"):
        lissom.fit(model, measured, ["payload.gripper.weight"])
    with pytest.raises(TypeError, match="a fit is of a Model"):
        lissom.fit(model.build(), measured, [MASS])  # type: ignore[arg-type]


def test_a_parameter_stays_at_its_bound() -> None:
    """By construction: data that a damper with a negative constant would have made leave it at zero."""
    friction = "joint.shoulder.revolute.friction.viscous_n_m_s_per_rad"
    model = lissom.shipped("two-link-arm", {"simulation.duration_s": 0.1, "output.sample_period_s": 0.01})
    still = model.replace({friction: 0.0}).build().simulate(channels=["shoulder.angle"])
    more = model.replace({friction: 0.1}).build().simulate(channels=["shoulder.angle"])
    pushed = 2.0 * still["shoulder.angle"] - more["shoulder.angle"]
    measured = lissom.Recording(still.time_s, {"shoulder.angle": pushed}, {"shoulder.angle": "rad"})
    found = lissom.fit(model, measured, [friction])
    assert found.values[friction] == 0.0 and found.bounds == {friction: 0.0}
    assert any("stays at its bound, 0" in warning for warning in found.summary["warnings"])
