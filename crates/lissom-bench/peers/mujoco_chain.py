"""V1 in MuJoCo: every link is a row of rigid segments with torsional springs between them.

A link of length l and n segments has springs EI n / l at its n - 1 inner hinges; the hinges between links are free."""

import sys
import time

import mujoco

from measured import tell

EI_N_M2 = 7.815
MASS_PER_LENGTH_KG_PER_M = 0.1384
DURATION_S = 1.0
SAMPLE_PERIOD_S = 0.05


def chain(links, segments, step_s, integrator):
    """The chain as MuJoCo's XML."""
    length = 1.0 / segments
    mass = MASS_PER_LENGTH_KG_PER_M * length
    across = mass * length**2 / 12
    text, end = "", ""
    for i in range(links * segments):
        stiffness = 0.0 if i % segments == 0 else EI_N_M2 / length
        x = 0.0 if i == 0 else length
        text += (
            f'<body pos="{x} 0 0"><joint type="hinge" axis="0 0 1" stiffness="{stiffness}"/>'
            f'<inertial pos="{length / 2} 0 0" mass="{mass}" diaginertia="{across / 1000} {across} {across}"/>'
        )
        end += "</body>"
    tip = f'<site name="tip" pos="{length} 0 0"/>'
    option = f'<option timestep="{step_s}" integrator="{integrator}" gravity="0 -9.81 0"><flag contact="disable" constraint="disable"/></option>'
    return f"<mujoco>{option}<worldbody>{text}{tip}{end}</worldbody></mujoco>"


def runner(links, segments, step_s, integrator):
    model = mujoco.MjModel.from_xml_string(chain(links, segments, step_s, integrator))
    data = mujoco.MjData(model)
    steps = round(SAMPLE_PERIOD_S / step_s)

    def run():
        mujoco.mj_resetData(model, data)
        mujoco.mj_forward(model, data)
        samples = [data.site_xpos[0][:2].tolist()]
        start = time.process_time()
        for _ in range(round(DURATION_S / SAMPLE_PERIOD_S)):
            mujoco.mj_step(model, data, steps)
            # positions belong to the end of the step, which costs one pass of kinematics for each sample
            mujoco.mj_kinematics(model, data)
            samples.append(data.site_xpos[0][:2].tolist())
        return time.process_time() - start, samples

    return run


if __name__ == "__main__":
    links = int(sys.argv[1])
    for segments in (2, 4, 6, 8, 12):
        for integrator, step_s in (("RK4", 2e-3), ("RK4", 1.25e-3), ("RK4", 1e-3), ("RK4", 6.25e-4), ("RK4", 5e-4), ("implicitfast", 2.5e-4)):
            setting = f"{segments} segments, {integrator} {step_s * 1e3:g} ms"
            tell("MuJoCo", f"chain-{links}", setting, runner(links, segments, step_s, integrator))
