"""V4 in Pinocchio: the articulated-body algorithm on serial chains of revolute joints, axes z, y, z, y, ..., called from Python; the shortest
CPU time of a call over many batches, for the number of joints that is the setting."""

import json
import time

import numpy as np
import pinocchio as pin

BATCHES = 60
JOINTS_PER_BATCH = 20000


def chain(joints):
    model, parent = pin.Model(), 0
    inertia = pin.Inertia(1.0, np.array([0.25, 0.01, 0.02]), np.diag([0.002, 0.02, 0.02]))
    for i in range(joints):
        joint = pin.JointModelRY() if i % 2 else pin.JointModelRZ()
        placement = pin.SE3(np.eye(3), np.array([0.5 if i else 0.0, 0.0, 0.0]))
        parent = model.addJoint(parent, joint, placement, f"joint_{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def seconds_per_call(joints):
    model = chain(joints)
    data = model.createData()
    q = np.array([0.3 - 0.1 * (i % 7) for i in range(joints)])
    v = np.array([0.2 + 0.1 * (i % 5) for i in range(joints)])
    tau = np.zeros(joints)
    calls = JOINTS_PER_BATCH // joints
    best = float("inf")
    for _ in range(BATCHES):
        start = time.process_time()
        for _ in range(calls):
            pin.aba(model, data, q, v, tau)
        best = min(best, (time.process_time() - start) / calls)
    return best


if __name__ == "__main__":
    for joints in (7, 20, 100):
        print(json.dumps({"program": "Pinocchio", "setting": str(joints), "cpu_s": seconds_per_call(joints)}), flush=True)
