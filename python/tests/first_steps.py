"""A program that uses the types of the package, for mypy."""

import numpy as np

import lissom

model = lissom.shipped("two-link-arm").replace({"payload.gripper.mass_kg": 0.6})
mech = model.build()
x0: lissom.State = mech.state({"shoulder.angle": 0.2})
mass = mech.mass_matrix(x0)
jacobian = mech.jacobian(x0, "hand", axes="marker")
assert mass.shape == (8, 8) and jacobian.shape == (6, 8)


class Damper:
    """Brakes the shoulder."""

    def reset(self, t_s: float, y: np.ndarray) -> None:
        self.calls = 0

    def __call__(self, t_s: float, y: np.ndarray) -> list[float]:
        self.calls += 1
        return [-0.5 * float(y[0])]


controller = lissom.Sampled(
    Damper(), period_s=1e-2, inputs=["shoulder.torque"], outputs=["shoulder.angle.rate"]
)
recording = mech.simulate(x0, duration_s=0.1, controller=controller)
peak: float = float(np.abs(recording["hand.position"]).max())
plant = mech.linearize(mech.equilibrium(x0).state).select(inputs=["elbow.torque"])
assert plant.A.shape == (16, 16) and peak > 0.0
