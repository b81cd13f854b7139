"""V1 to V3 in Exudyn: absolute nodal coordinates (ANCF cables in the plane), generalised-alpha."""

import sys
import time

import exudyn as exu
import numpy as np
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.itemInterface import (
    Cable2D,
    CoordinateConstraint,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerNodeCoordinate,
    MarkerNodePosition,
    NodePoint2DSlope1,
    NodePointGround,
    NodeRigidBody2D,
    ObjectGround,
    ObjectRigidBody2D,
    RevoluteJoint2D,
    SensorNode,
)

from measured import tell

MOST_CPU_S = 3.0


def beam(mbs, start, angle, length, elements, section, gravity=0.0):
    """A straight beam from a point at an angle; its nodes."""
    along = [np.cos(angle), np.sin(angle)]
    nodes = []
    for i in range(elements + 1):
        place = [start[k] + along[k] * length * i / elements for k in (0, 1)]
        nodes.append(mbs.AddNode(NodePoint2DSlope1(referenceCoordinates=place + along)))
    for i in range(elements):
        cable = Cable2D(
            physicsLength=length / elements,
            physicsMassPerLength=section["mass_per_length"],
            physicsBendingStiffness=section["bending"],
            physicsAxialStiffness=section["axial"],
            nodeNumbers=[nodes[i], nodes[i + 1]],
        )
        body = mbs.AddObject(cable)
        if gravity:
            marker = mbs.AddMarker(MarkerBodyMass(bodyNumber=body))
            mbs.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, -gravity, 0]))
    return nodes


def turned_root(mbs, node, angle, initial):
    """Holds the position of a node and turns its slope: `angle` is a symbolic function of time, compiled, so that the integration does
    not call Python."""
    ground = mbs.AddNode(NodePointGround())
    still = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for coordinate in range(4):
        marker = mbs.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        constraint = mbs.AddObject(CoordinateConstraint(markerNumbers=[still, marker]))
        if coordinate > 1:
            offset = slope_of(angle, initial, coordinate)
            symbolic = CreateSymbolicUserFunction(mbs, offset, "offsetUserFunction", constraint)
            mbs.SetObjectParameter(constraint, "offsetUserFunction", symbolic)


def slope_of(angle, initial, coordinate):
    """How far a component of the slope has come from its start, as Exudyn wants a function."""

    def offset(mbs, t, itemNumber, lOffset):
        if coordinate == 2:
            return exu.symbolic.cos(angle(t)) - np.cos(initial)
        return exu.symbolic.sin(angle(t)) - np.sin(initial)

    return offset


def tip_sensor(mbs, node):
    return mbs.AddSensor(SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=exu.OutputVariableType.Position))


def settings(duration_s, step_s, sample_s):
    """Generalised-alpha, nothing written to disk.

    With Exudyn's own tolerances of Newton's iteration, 1e-8 and 1e-10, the stiff axial direction keeps it from converging and every step is
    divided again and again: a spun-up beam then takes seconds instead of 60 ms. The errors are those of the time step either way."""
    wanted = exu.SimulationSettings()
    wanted.timeIntegration.numberOfSteps = round(duration_s / step_s)
    wanted.timeIntegration.endTime = duration_s
    wanted.timeIntegration.verboseMode = 0
    wanted.timeIntegration.newton.relativeTolerance = 1e-5
    wanted.timeIntegration.newton.absoluteTolerance = 1e-6
    wanted.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    wanted.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    wanted.solutionSettings.writeSolutionToFile = False
    wanted.solutionSettings.sensorsWritePeriod = sample_s
    return wanted


def runner(make, duration_s, step_s, sample_s, read=lambda times, places: places.tolist()):
    """`make` adds a mechanism to a system and returns a sensor of positions, `read` makes samples of times and positions."""

    def run():
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        sensor = make(mbs)
        mbs.Assemble()
        wanted = settings(duration_s, step_s, sample_s)
        start = time.process_time()
        if not mbs.SolveDynamic(wanted):
            raise RuntimeError("the solver did not converge")
        elapsed = time.process_time() - start
        if elapsed > MOST_CPU_S:
            raise RuntimeError(f"took {elapsed:.1f} s")
        stored = mbs.GetSensorStoredData(sensor)
        return elapsed, read(stored[:, 0], stored[:, 1:3])

    return run


def falling_chain(links, elements):
    section = {"mass_per_length": 0.1384, "bending": 7.815, "axial": 3.49747e6}

    def make(mbs):
        ground = mbs.AddObject(ObjectGround())
        last = mbs.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
        for link in range(links):
            nodes = beam(mbs, [float(link), 0.0], 0.0, 1.0, elements, section, 9.81)
            root = mbs.AddMarker(MarkerNodePosition(nodeNumber=nodes[0]))
            mbs.AddObject(RevoluteJoint2D(markerNumbers=[last, root]))
            last = mbs.AddMarker(MarkerNodePosition(nodeNumber=nodes[-1]))
        return tip_sensor(mbs, nodes[-1])

    return make


SPEED_RAD_PER_S, RAMP_S = 4.0, 15.0


def hub_angle(t, cos, choose):
    """Integral of speed (s - sin(2 pi s) / 2 pi) with s = t / ramp, then at constant speed."""
    rate = 2 * np.pi / RAMP_S
    ramp = SPEED_RAD_PER_S / RAMP_S * (t * t / 2 + (cos(rate * t) - 1) / rate**2)
    return choose(t < RAMP_S, ramp, SPEED_RAD_PER_S * (t - RAMP_S / 2))


def spun_up_beam(elements):
    youngs, area, inertia, density = 6.895e10, 7.3e-5, 8.218e-9, 2766.67
    section = {"mass_per_length": density * area, "bending": youngs * inertia, "axial": youngs * area}

    def make(mbs):
        nodes = beam(mbs, [0.0, 0.0], 0.0, 8.0, elements, section)
        turned_root(mbs, nodes[0], lambda t: hub_angle(t, exu.symbolic.cos, exu.symbolic.IfThenElse), 0.0)
        return tip_sensor(mbs, nodes[-1])

    return make


def lag(times, places):
    """Component of the tip across the turning axis."""
    angles = [hub_angle(t, np.cos, lambda test, a, b: a if test else b) for t in times]
    return [[float(-x * np.sin(a) + y * np.cos(a))] for a, (x, y) in zip(angles, places)]


CORNERS_M, BASE_M, PROXIMAL_M, DISTAL_M, MOVE_M, MOVE_S = 0.4 / np.sqrt(3), 1 / np.sqrt(3), 0.45, 0.55, 0.08, 0.25


def proximal_angle(direction, x, atan2, acos, sqrt):
    """Angle of a leg's first link when the rigid platform has moved by `x`, the elbow to the left of the leg."""
    dx = x + (CORNERS_M - BASE_M) * np.cos(direction)
    dy = (CORNERS_M - BASE_M) * np.sin(direction)
    distance = sqrt(dx * dx + dy * dy)
    return atan2(dy, dx) + acos((PROXIMAL_M**2 + distance * distance - DISTAL_M**2) / (2 * PROXIMAL_M * distance))


def leg_section(mass_per_length):
    """The axial stiffness of the falling chain: it stretches by micrometres here."""
    return {"mass_per_length": mass_per_length, "bending": 7.815, "axial": 3.49747e6}


def parallel_robot(elements):
    def make(mbs):
        inertia = 0.0959 * 0.4**2 / 12
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[0, 0, 0]))
        platform = mbs.AddObject(ObjectRigidBody2D(physicsMass=0.0959, physicsInertia=inertia, nodeNumber=node))
        for number in range(3):
            direction = np.pi * (2 / 3 * number - 5 / 6)
            base = [BASE_M * np.cos(direction), BASE_M * np.sin(direction)]
            corner = [CORNERS_M * np.cos(direction), CORNERS_M * np.sin(direction)]
            first = proximal_angle(direction, 0.0, np.arctan2, np.arccos, np.sqrt)
            elbow = [base[0] + PROXIMAL_M * np.cos(first), base[1] + PROXIMAL_M * np.sin(first)]
            second = np.arctan2(corner[1] - elbow[1], corner[0] - elbow[0])
            proximal = beam(mbs, base, first, PROXIMAL_M, elements, leg_section(0.0623 / PROXIMAL_M))
            distal = beam(mbs, elbow, second, DISTAL_M, elements, leg_section(0.0761 / DISTAL_M))

            def angle(t, direction=direction):
                s = exu.symbolic
                tau = t / MOVE_S
                moved = s.IfThenElse(t < MOVE_S, MOVE_M * (tau - s.sin(2 * np.pi * tau) / (2 * np.pi)), s.Real(MOVE_M))
                return proximal_angle(direction, moved, lambda y, x: s.atan2(s.Real(y), x), s.acos, s.sqrt)

            turned_root(mbs, proximal[0], angle, first)
            ends = [mbs.AddMarker(MarkerNodePosition(nodeNumber=end)) for end in (proximal[-1], distal[0])]
            mbs.AddObject(RevoluteJoint2D(markerNumbers=ends))
            wrist = mbs.AddMarker(MarkerNodePosition(nodeNumber=distal[-1]))
            at = mbs.AddMarker(MarkerBodyPosition(bodyNumber=platform, localPosition=corner + [0]))
            mbs.AddObject(RevoluteJoint2D(markerNumbers=[wrist, at]))
        return tip_sensor(mbs, node)

    return make


if __name__ == "__main__":
    problem = sys.argv[1]
    if problem == "chain":
        links = int(sys.argv[2])
        for elements in (1, 2, 4):
            for step_s in (5e-3, 2e-3, 1e-3, 5e-4):
                setting = f"{elements} elements, {step_s * 1e3:g} ms"
                tell("Exudyn", f"chain-{links}", setting, runner(falling_chain(links, elements), 1.0, step_s, 0.05))
    elif problem == "spun-up":
        for elements in (4, 8, 16):
            for step_s in (5e-2, 2e-2, 1e-2, 5e-3):
                setting = f"{elements} elements, {step_s * 1e3:g} ms"
                tell("Exudyn", "spun-up", setting, runner(spun_up_beam(elements), 20.0, step_s, 0.1, lag))
    else:
        for elements in (1, 2, 4):
            for step_s in (5e-3, 2e-3, 1e-3, 5e-4):
                setting = f"{elements} elements, {step_s * 1e3:g} ms"
                tell("Exudyn", "3rrr", setting, runner(parallel_robot(elements), 0.5, step_s, 0.01))
