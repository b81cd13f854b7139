"""The file format as typed dataclasses, one field per key. Made by ``python/tools/make_spec.py``: do not edit.

>>> import lissom
>>> from lissom import spec
>>> arm = spec.Body(name="arm", rigid=spec.Rigid(mass_kg=1.0, inertia_kg_m2=[0.1, 0.1, 0.1]))
>>> hinge = spec.Joint(name="hinge", parent="ground", child="arm", revolute=spec.Revolute(axis=[0.0, 0.0, 1.0]))
>>> model = lissom.Model.from_dict(spec.Model(format=1, body=[arm], joint=[hinge]))
>>> list(model.build().positions)
['hinge.angle']

What is absent (``None``) is as the documentation of the key says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(kw_only=True)
class Actuator:
    """The motor of a joint with its limits. Inputs and controllers on the joint act through it: their sum is
    clipped."""

    joint: str
    """The joint that it drives: revolute or prismatic."""

    max_force_n: float | None = None
    """Largest force either way, of a prismatic joint; no limit when absent."""

    max_force_rate_n_per_s: float | None = None
    """Fastest change of the force, of a prismatic joint; needs `response_time_s`."""

    max_torque_n_m: float | None = None
    """Largest torque either way, of a revolute joint; no limit when absent."""

    max_torque_rate_n_m_per_s: float | None = None
    """Fastest change of the torque, of a revolute joint; needs `response_time_s`."""

    name: str
    """Name, unique among actuators, and not that of a joint."""

    response_time_s: float | None = None
    """Time constant with which torque or force follow what is asked for; at once when absent."""


@dataclass(kw_only=True)
class Adaptive:
    """Tolerances and step limits of an adaptive integrator."""

    atol: float | None = None
    """Absolute error allowed per step, in the unit of each state; 1e-12 when absent."""

    initial_step_s: float | None = None
    """First step that is tried; chosen by the integrator when absent."""

    max_step_s: float | None = None
    """Longest step; unlimited when absent."""

    max_steps: int | None = None
    """Most steps that are tried before giving up; ten million when absent."""

    rtol: float | None = None
    """Relative error allowed per step; 1e-9 when absent."""


@dataclass(kw_only=True)
class AngularVelocity:
    """A constant angular velocity from where the marker starts."""

    angular_velocity_rad_per_s: Sequence[float]
    """Angular velocity in ground axes."""


@dataclass(kw_only=True)
class ArcPath:
    """A part of a circle: about an axis, or through two points."""

    angle_rad: float | None = None
    """Angle about the axis, more than a turn if need be."""

    axis: Sequence[float] | None = None
    """Direction of the axis."""

    center_m: Sequence[float] | None = None
    """A point of the axis."""

    to_m: Sequence[float] | None = None
    """Where it ends."""

    via_m: Sequence[float] | None = None
    """A point on the way, instead."""


@dataclass(kw_only=True)
class AtJoint:
    """A sensor that a joint stands on."""

    joint: str
    """The joint."""


@dataclass(kw_only=True)
class AtMarker:
    """A sensor that sits at a marker."""

    marker: str
    """The marker."""


Attachment: TypeAlias = "str | AttachmentTable"
"""The name of a body, or a table that also says where on the body."""


@dataclass(kw_only=True)
class AttachmentTable:
    """The table form of `Attachment`."""

    at: str | None = None
    """Name of a place on the body."""

    body: str
    """Name of the body, or `ground` on the parent side."""

    position_m: Sequence[float] | None = None
    """Position in the body's frame, instead of `at`."""

    rotation_vector_rad: Sequence[float] | None = None
    """Turns the frame of the place into the frame of the joint."""


@dataclass(kw_only=True)
class Auto:
    """Functions that are chosen by what holds the ends of the link: sines between hinges that carry no moment,
    functions clamped at the root where the tip is free, static shapes of the ends and functions clamped at both
    otherwise."""

    bending_y: bool | None = None
    """Whether the beam bends along y; when absent, if its stiffness is given."""

    bending_z: bool | None = None
    """Whether the beam bends along z; when absent, if its stiffness is given."""

    frequency_rad_per_s: float | None = None
    """Frequency up to which vibration matters: functions whose natural frequency lies below it are taken, instead of
    a number."""

    functions: int | None = None
    """Bending functions in each plane, those behind static shapes where there are such; when absent two, or one
    behind static shapes. Stretch and torsion have one."""

    stretch: bool | None = None
    """Whether the beam stretches."""

    torsion: bool | None = None
    """Whether the beam twists."""


@dataclass(kw_only=True)
class Automatic:
    """No settings."""


@dataclass(kw_only=True)
class AxisClosure:
    """The axis of a revolute or prismatic loop."""

    axis: Sequence[float]
    """Axis, the same in the frames of both places; any length but zero."""


AxisName: TypeAlias = "Literal['x', 'y', 'z']"
"""An axis of a body's frame."""


@dataclass(kw_only=True)
class BasisClampedFree:
    """Eigenfunctions of the beam clamped at its root and free at its tip."""

    clamped_free: ModeCounts


@dataclass(kw_only=True)
class BasisFreeFree:
    """Eigenfunctions of the beam free at both ends."""

    free_free: ModeCounts


@dataclass(kw_only=True)
class BasisUnconstrained:
    """The same with the rigid motions before them, counted among them: the root moves in the body's frame, which its
    joint carries, and supports must hold the beam."""

    unconstrained: ModeCounts


@dataclass(kw_only=True)
class BasisPinnedPinned:
    """Sines in a frame on the chord: bending of links that hinge at both ends and are driven at neither. Stretch and
    torsion are held at the root."""

    pinned_pinned: ModeCounts


@dataclass(kw_only=True)
class BasisClampedClamped:
    """Eigenfunctions of the beam clamped at both ends, which then do not move against each other."""

    clamped_clamped: ModeCounts


@dataclass(kw_only=True)
class BasisFixedInterface:
    """Static shapes of what neighbours do to the ends, in a frame on the chord, and functions clamped at both ends
    behind them; counted together. Bending has two static shapes, stretch and torsion have one."""

    fixed_interface: ModeCounts


@dataclass(kw_only=True)
class BasisEach:
    """Each deformation in functions of its own."""

    each: Each


@dataclass(kw_only=True)
class BasisAuto:
    """The functions that fit what holds the ends of the beam; `lissom check` tells which."""

    auto: Auto


@dataclass(kw_only=True)
class BasisElements:
    """Finite elements: Hermite in bending, linear in stretch and torsion."""

    elements: Elements


Basis: TypeAlias = "BasisClampedFree | BasisFreeFree | BasisUnconstrained | BasisPinnedPinned | BasisClampedClamped | BasisFixedInterface | BasisEach | BasisAuto | BasisElements"
"""The functions in which the deformation of a beam is expanded."""


@dataclass(kw_only=True)
class BeamDeformations:
    """Numbers for single deformations of a beam, all of them lengths; those of the plane, or those of space."""

    bending_p: float | None = None
    """Bending at the end `from`; only in the plane."""

    bending_q: float | None = None
    """Bending at the end `to`; only in the plane."""

    bending_y_p: float | None = None
    """Bending along y at the end `from`; only in space."""

    bending_y_q: float | None = None
    """Bending along y at the end `to`; only in space."""

    bending_z_p: float | None = None
    """Bending along z at the end `from`; only in space."""

    bending_z_q: float | None = None
    """Bending along z at the end `to`; only in space."""

    elongation: float | None = None
    """Change of length."""

    torsion: float | None = None
    """Twist times length; only in space."""


@dataclass(kw_only=True)
class BeamElement:
    """A beam; it is straight where its nodes stand at first, and all its deformations are zero there."""

    axial_stiffness_n: float | None = None
    """EA. Without it the beam does not stretch."""

    bending_stiffness_y_n_m2: float | None = None
    """EI against displacement along y, the only one in the plane. Without it the beam does not bend so."""

    bending_stiffness_z_n_m2: float | None = None
    """EI against displacement along z. Without it the beam does not bend so."""

    damping_time_s: float | None = None
    """Damping over stiffness."""

    divisions: int | None = None
    """Equal elements it is divided into, with nodes of their own; one when absent."""

    from_: End
    """Where its x axis begins."""

    initial_deformations_m: BeamDeformations | None = None
    """Deformations at the start, where they are degrees of freedom; zero when absent."""

    initial_rates_m_per_s: BeamDeformations | None = None
    """Rates of deformations at the start, where they are degrees of freedom."""

    mass_per_length_kg_per_m: float | None = None
    """Mass per length."""

    rest_deformations_m: BeamDeformations | None = None
    """Deformations at which it carries no stress; zero when absent: it is straight."""

    role: Role | None = None
    """What its deformations are that it has: degrees of freedom when absent, or free for a beam that closes a loop."""

    roles: BeamRoles | None = None
    """What single deformations are instead, whether or not they have a stiffness."""

    rotary_inertia_kg_m: Sequence[float] | None = None
    """Rotary inertia of the section per length about its x, y and z axes."""

    second_order: SecondOrder | None = None
    """Which second-order terms its deformations have; all when absent."""

    shear_stiffness_n: Sequence[float] | None = None
    """GA against displacement along y and z; no shear when absent."""

    to: End
    """Where its x axis ends."""

    torsional_stiffness_n_m2: float | None = None
    """GJ. Without it the beam does not twist."""

    y_direction: Sequence[float] | None = None
    """Where its y axis points, as far as it is across the beam; only in space."""


@dataclass(kw_only=True)
class BeamFrame:
    """A body made of beams in space, straight or curved, uniform or not, which is reduced to elastic coordinates
    when the model is read."""

    basis: MeshBasis
    """The shapes in which the deformation is expanded."""

    interface: Sequence[str]
    """Names of nodes or places where neighbours act, of which the first one carries the body."""

    lump: Sequence[Lump] | None = None
    """Masses that are fixed to nodes or places."""

    member: Sequence[Member]
    """The beams."""

    node: Sequence[FrameNode]
    """Where members begin and end."""

    stiffening: bool | None = None
    """Whether the body stiffens when it rotates or is loaded."""


@dataclass(kw_only=True)
class BeamMaterialElastic:
    """Its constants."""

    elastic: Elastic


BeamMaterial: TypeAlias = "Literal['steel', 'aluminium', 'titanium'] | BeamMaterialElastic"
"""What a beam is made of."""


@dataclass(kw_only=True)
class BeamProperties:
    """Stiffness and mass of a section per length, by their numbers."""

    axial_stiffness_n: float
    """EA."""

    bending_stiffness_y_n_m2: float
    """EI against deflection along y."""

    bending_stiffness_z_n_m2: float
    """EI against deflection along z."""

    mass_center_m: Sequence[float] | None = None
    """Centre of mass y, z from the line of the beam."""

    mass_per_length_kg_per_m: float
    """Mass per length."""

    section_inertia_y_kg_m: float | None = None
    """∫ρy²dA about the centre of mass."""

    section_inertia_z_kg_m: float | None = None
    """∫ρz²dA about the centre of mass."""

    shear_center_m: Sequence[float] | None = None
    """Where a transverse force does not twist."""

    shear_stiffness_y_n: float
    """kGA against shear along y."""

    shear_stiffness_z_n: float
    """kGA against shear along z."""

    tension_center_m: Sequence[float] | None = None
    """Where an axial force does not bend."""

    torsional_stiffness_n_m2: float
    """GJ."""


@dataclass(kw_only=True)
class BeamRoles:
    """What single deformations of a beam are; those of the plane, or those of space."""

    bending_p: Role | None = None
    """Bending at the end `from`; only in the plane."""

    bending_q: Role | None = None
    """Bending at the end `to`; only in the plane."""

    bending_y_p: Role | None = None
    """Bending along y at the end `from`; only in space."""

    bending_y_q: Role | None = None
    """Bending along y at the end `to`; only in space."""

    bending_z_p: Role | None = None
    """Bending along z at the end `from`; only in space."""

    bending_z_q: Role | None = None
    """Bending along z at the end `to`; only in space."""

    elongation: Role | None = None
    """Change of length."""

    torsion: Role | None = None
    """Twist times length; only in space."""


@dataclass(kw_only=True)
class Beam:
    """An Euler–Bernoulli beam, uniform or made of uniform segments. Its properties are given either here, for a
    uniform beam, or in `segments`."""

    axial_stiffness_n: float | None = None
    """Stiffness EA against stretch; needed by stretch coordinates."""

    basis: Basis
    """The functions in which the deformation is expanded."""

    bending_stiffness_y_n_m2: float | None = None
    """Stiffness EI against deflection along y; needed by bending coordinates in y."""

    bending_stiffness_z_n_m2: float | None = None
    """Stiffness EI against deflection along z; needed by bending coordinates in z."""

    length_m: float | None = None
    """Length of a uniform beam."""

    mass_per_length_kg_per_m: float | None = None
    """Mass per length of a uniform beam."""

    material: BeamMaterial | None = None
    """What the section is made of."""

    rotary_inertia: bool | None = None
    """Whether the sections' rotary inertia enters the bending modes; it does unless this is false."""

    section: Section | None = None
    """The section of a uniform beam, from which with `material` mass and all stiffnesses follow; its centre is on
    the line of the beam."""

    section_inertia_y_kg_m: float | None = None
    """∫ρy²dA of the section: rotary inertia in the bending along y, and part of that of torsion."""

    section_inertia_z_kg_m: float | None = None
    """∫ρz²dA of the section: rotary inertia in the bending along z, and part of that of torsion."""

    segments: Sequence[Segment] | None = None
    """Uniform segments from root to tip, instead of the uniform properties above."""

    torsional_stiffness_n_m2: float | None = None
    """Stiffness GJ against twist; needed by torsion coordinates."""


@dataclass(kw_only=True)
class Body:
    """One body. Exactly one of `rigid`, `beam`, `frame`, `mesh`, `reduced`, `reduced_file`, `nodal` and `nodal_file`
    says of which kind."""

    beam: Beam | None = None
    """A straight beam along its own x axis, from the root at the origin to the tip at x = length."""

    damping: Damping | None = None
    """Damping of the elastic coordinates; none when absent."""

    fidelity: Fidelity | None = None
    """Which terms of this body are kept; as for the whole model when absent."""

    frame: BeamFrame | None = None
    """Beams in space, straight or curved, joined at nodes, which are reduced when the model is read."""

    initial: InitialElastic | None = None
    """Deformation at the start; undeformed and at rest when absent."""

    mesh: Mesh | None = None
    """A mesh of solid elements, which is reduced when the model is read."""

    name: str
    """Name by which joints, payloads and markers refer to the body."""

    nodal: Nodal | None = None
    """A body given by nodes that carry its mass as lumps, and modes."""

    nodal_file: str | None = None
    """A JSON file, below the folder of the model, with the content of `nodal`."""

    node: Sequence[Node] | None = None
    """Named places on a rigid body or a beam, or at the nearest nodes of a mesh."""

    point_mass: Sequence[PointMass] | None = None
    """Point masses that belong to the body."""

    reduced: Reduced | None = None
    """A body of any shape, reduced to elastic coordinates."""

    reduced_file: str | None = None
    """A body file, below the folder of the model, with the content of `reduced`: `lissom body` writes it."""

    rigid: Rigid | None = None
    """A rigid body."""


Boundary: TypeAlias = "Literal['clamped', 'free', 'unconstrained']"
"""How the root of a meshed beam is held in the body's frame."""


@dataclass(kw_only=True)
class Box:
    """A rectangular tube."""

    size_y_m: float
    """Outer size along y."""

    size_z_m: float
    """Outer size along z."""

    wall_m: float
    """Thickness of the walls."""


Branch: TypeAlias = "Literal['positive', 'negative']"
"""Which of two ways of closing a loop is meant."""


@dataclass(kw_only=True)
class CartesianSpace:
    """Which velocities of a marker are independent."""

    components: Sequence[TwistComponent] | None = None
    """Components of its velocity; when absent the first independent ones, translations before rotations, as many as
    there are rigid degrees of freedom."""

    marker: str | None = None
    """Name of the marker; the first one of the file when absent."""


@dataclass(kw_only=True)
class Circle:
    """A solid circle."""

    diameter_m: float
    """Diameter."""


@dataclass(kw_only=True)
class ClosureJointSpace:
    """Orthogonal complement; some joints and all elastic coordinates are independent."""

    joint_space: JointSpace


@dataclass(kw_only=True)
class ClosureCartesianSpace:
    """Orthogonal complement; components of a marker's velocity and all elastic coordinates are independent."""

    cartesian_space: CartesianSpace


@dataclass(kw_only=True)
class ClosureAutomatic:
    """Orthogonal complement; independent coordinates are chosen by pivoting, and anew when the motion asks for it."""

    automatic: Automatic


@dataclass(kw_only=True)
class ClosureStabilized:
    """Multipliers with Baumgarte's stabilisation."""

    stabilized: Stabilized


@dataclass(kw_only=True)
class ClosureProjected:
    """Multipliers, with projection onto the closures after every step."""

    projected: Projected


@dataclass(kw_only=True)
class ClosureOperationalSpace:
    """Multipliers by recursion over the tree, with projection: for long chains."""

    operational_space: OperationalSpace


Closure: TypeAlias = "ClosureJointSpace | ClosureCartesianSpace | ClosureAutomatic | ClosureStabilized | ClosureProjected | ClosureOperationalSpace"
"""How the equations of a model with loops are formed."""


@dataclass(kw_only=True)
class ComputedPd:
    """Proportional and derivative feedback that gives the rigid mechanism one frequency and damping ratio."""

    damping_ratio: float
    """Its damping ratio."""

    frequency_rad_per_s: float
    """Frequency of the controlled rigid mechanism."""


@dataclass(kw_only=True)
class ConstantRate:
    """A constant rate from the joint's initial position."""

    rate_m_per_s: float | None = None
    """Rate of translation."""

    rate_rad_per_s: float | None = None
    """Rate of rotation."""


@dataclass(kw_only=True)
class Controller:
    """Feedback that keeps joints on the nominal motion of their inputs, or where they start. Exactly one law is
    given."""

    computed_pd: ComputedPd | None = None
    """Gains from the mass matrix of the rigid mechanism along the nominal motion."""

    drives: Sequence[str] | None = None
    """Names of the actuators or joints that `state_space` drives."""

    joint_pd: JointPd | None = None
    """Gains of every joint by itself."""

    joints: Sequence[str] | None = None
    """Names of the joints that it measures and drives: revolute or prismatic. For every law but `state_space`."""

    measures: Sequence[str] | None = None
    """Names of the sensors that `state_space` measures, or of single channels of them."""

    name: str
    """Name, unique among controllers."""

    pid: Pid | None = None
    """Gains of every joint by itself, with the integral of its deviation."""

    sampled: Sampled | None = None
    """Measures and answers at ticks, and holds its answer in between; continuous when absent."""

    state_space: StateSpace | None = None
    """A linear system between readings of sensors and torques or forces."""


@dataclass(kw_only=True)
class CycloidMotion:
    """From one position to another with zero rate and acceleration at both ends, $`\\theta_0 + (\\theta_1 -
    \\theta_0)(s - \\sin 2\\pi s / 2\\pi)`$ with s running from 0 to 1; held outside."""

    duration_s: float
    """How long it takes."""

    final_angle_rad: float | None = None
    """Angle after."""

    final_displacement_m: float | None = None
    """Displacement after."""

    from_s: float | None = None
    """When the motion begins."""

    initial_angle_rad: float | None = None
    """Angle before; the joint's initial angle when absent."""

    initial_displacement_m: float | None = None
    """Displacement before; the joint's initial displacement when absent."""


@dataclass(kw_only=True)
class CycloidalRamps:
    """From one position to another, at rest at both ends and at a constant rate between: in ramps of `ramp_s` at the
    beginning and the end the acceleration is a squared sine, $`1 - \\cos 2\\pi s`$. Held outside."""

    duration_s: float
    """How long it takes, both ramps included."""

    final_angle_rad: float | None = None
    """Angle after."""

    final_displacement_m: float | None = None
    """Displacement after."""

    from_s: float | None = None
    """When the motion begins."""

    initial_angle_rad: float | None = None
    """Angle before; the joint's initial angle when absent."""

    initial_displacement_m: float | None = None
    """Displacement before; the joint's initial displacement when absent."""

    ramp_s: float
    """How long each ramp takes, at most half of the duration."""


@dataclass(kw_only=True)
class CycloidalRate:
    """From rest to a constant rate: the rate is $`\\Omega (s - \\sin 2\\pi s / 2\\pi)`$ with s running from 0 to 1,
    then Ω. The motion starts at the joint's initial position."""

    duration_s: float
    """How long it takes to reach the rate."""

    final_rate_m_per_s: float | None = None
    """Rate of translation that is reached."""

    final_rate_rad_per_s: float | None = None
    """Rate of rotation that is reached."""

    from_s: float | None = None
    """When the motion begins."""


@dataclass(kw_only=True)
class DampingModalRatio:
    """The same damping ratio for every mode."""

    modal_ratio: float


@dataclass(kw_only=True)
class DampingModalRatios:
    """A damping ratio for every elastic coordinate, in their order."""

    modal_ratios: Sequence[float]


@dataclass(kw_only=True)
class DampingRayleigh:
    """Proportional to mass and stiffness."""

    rayleigh: Rayleigh


Damping: TypeAlias = "DampingModalRatio | DampingModalRatios | DampingRayleigh"
"""Damping of the elastic coordinates of one body."""


Deformation: TypeAlias = "Literal['elongation', 'torsion', 'bending_y_p', 'bending_y_q', 'bending_z_p', 'bending_z_q', 'bending_p', 'bending_q', 'rotation', 'tilt_y', 'tilt_z', 'travel', 'offset_y', 'offset_z']"
"""A deformation of an element, called as in recordings."""


@dataclass(kw_only=True)
class Distance:
    """A distance that is held."""

    length_m: float
    """The distance."""


@dataclass(kw_only=True)
class Each:
    """Functions of each deformation; those that are absent do not occur. A hinge about z lets a link turn in the
    plane of its bending along y and clamps it in the other: each plane then wants functions of its own."""

    bending_y: Functions | None = None
    """Bending along y."""

    bending_z: Functions | None = None
    """Bending along z."""

    stretch: Functions | None = None
    """Stretch along x."""

    torsion: Functions | None = None
    """Torsion about x."""


@dataclass(kw_only=True)
class Elastic:
    """Constants of a material."""

    density_kg_per_m3: float
    """Density."""

    shear_modulus_pa: float
    """Shear modulus G."""

    youngs_modulus_pa: float
    """Young's modulus E."""


Elasticity: TypeAlias = "Literal['linear', 'constant_axial_load', 'third_order', 'full']"
"""Which strains store energy \\[Damaren & Sharf 1995, section 2.3\\]."""


ElementCrossings: TypeAlias = "Literal['located', 'stepped_over']"
"""What happens where a support passes a node of its beam, at which the curvature of finite elements jumps."""


@dataclass(kw_only=True)
class ElementNode:
    """One node. Exactly one of `point`, `orientation`, `planar_point` and `planar_angle` says of which kind. Points
    and orientations are nodes of their own: a hinge is between two orientations at one point."""

    name: str
    """Name by which elements, inputs and motions refer to the node."""

    orientation: Orientation | None = None
    """An orientation in space."""

    planar_angle: PlanarAngle | None = None
    """An orientation that turns about z only."""

    planar_point: PlanarPoint | None = None
    """A point that stays in the plane z = 0."""

    point: Point | None = None
    """A point in space."""


@dataclass(kw_only=True)
class Element:
    """One element. Exactly one of `beam`, `rigid_beam`, `hinge`, `truss` and `slider` says of which kind."""

    beam: BeamElement | None = None
    """A beam between two ends."""

    hinge: Hinge | None = None
    """A rotation between two orientations."""

    name: str
    """Name by which inputs and motions refer to the element."""

    rigid_beam: RigidBeam | None = None
    """Two ends that move as one body, without mass."""

    slider: Slider | None = None
    """A point that travels along an axis."""

    truss: Truss | None = None
    """A bar between two points."""


@dataclass(kw_only=True)
class Elements:
    """A mesh of finite elements along the beam."""

    bending_y: bool | None = None
    """Whether the beam bends along y; when absent, if its stiffness is given."""

    bending_z: bool | None = None
    """Whether the beam bends along z; when absent, if its stiffness is given."""

    boundary: Boundary | None = None
    """How the root is held in the body's frame."""

    count: int | None = None
    """Elements of the uniform beam, or of every segment that does not say its own."""

    membrane: Membrane | None = None
    """Where axial strain of second order is taken."""

    modes: int | None = None
    """Number of lowest modes of each deformation that are kept; when absent, deflections and slopes at the nodes are
    the coordinates. A free mesh needs it."""

    stretch: bool | None = None
    """Whether the beam stretches."""

    torsion: bool | None = None
    """Whether the beam twists."""


EncoderSide: TypeAlias = "Literal['joint', 'motor']"
"""Where an encoder sits."""


@dataclass(kw_only=True)
class Encoder:
    """An encoder. It reads in radians or metres of the joint, on whichever side it sits."""

    counts_per_revolution: float | None = None
    """Steps that a turn is divided into, of the joint or of the motor; as fine as numbers when absent."""

    joint: str
    """A revolute or prismatic joint."""

    resolution_m: float | None = None
    """Step of a linear encoder at a prismatic joint; as fine as numbers when absent."""

    side: EncoderSide | None = None
    """Where it sits; `joint` when absent."""


@dataclass(kw_only=True)
class End:
    """One end of a beam."""

    orientation: str
    """Name of the orientation that the end is clamped to."""

    point: str
    """Name of a point."""


FidelityPreset: TypeAlias = "Literal['default', 'ruthless', 'inconsistent', 'consistent', 'exact', 'jain_rodriguez', 'jain_rodriguez_ruthless', 'rigid']"
"""A set of switches that belong together."""


@dataclass(kw_only=True)
class Fidelity:
    """Which terms the equations of motion keep: a preset, and switches that override it one by one. For a `[[body]]`
    a missing preset means the model's fidelity."""

    elasticity: Elasticity | None = None
    """Which strains store energy; as in the preset when absent."""

    inertia: Inertia | None = None
    """How deformation enters the inertia; as in the preset when absent."""

    preset: FidelityPreset | None = None
    """A set of switches that belong together; `default` when absent."""

    shortening: ShorteningTerms | None = None
    """Shortening of bent beams; as in the preset when absent."""

    tip: Tip | None = None
    """How the nodes that carry other bodies move; as in the preset when absent."""


@dataclass(kw_only=True)
class Fixed:
    """No motion at all: `fixed = {}`."""


@dataclass(kw_only=True)
class ForceConstant:
    """A constant force."""

    value_n: float
    """The value."""


@dataclass(kw_only=True)
class ForceCycloid:
    """A force that goes from one value to another as a cycloid, without a jump in its rate."""

    duration_s: float
    """How long it takes."""

    final_n: float
    """The value after."""

    from_s: float | None = None
    """When the change begins."""

    initial_n: float | None = None
    """The value before."""


@dataclass(kw_only=True)
class ForcePerMass:
    """A force on every particle, in proportion to its mass."""

    along: AxisName
    """Its direction."""

    growing_with: AxisName | None = None
    """The coordinate with which it grows, by one newton per kilogram and metre: centrifugal force about z at one
    radian per second is along x growing with x, and along y growing with y. The same everywhere when absent."""


@dataclass(kw_only=True)
class ForcePolynomial:
    """A force that is a polynomial in the time since `from_s`; zero outside."""

    coefficients_n: Sequence[float]
    """Coefficients from the constant upwards; the k-th is divided by s^k."""

    from_s: float | None = None
    """When it begins."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class ForceSines:
    """A force that is a sum of sines of the time since `from_s`; zero outside."""

    amplitude_n: Sequence[float]
    """Amplitude of every sine."""

    frequency_rad_per_s: Sequence[float]
    """Angular frequency of every sine."""

    from_s: float | None = None
    """When it begins."""

    phase_rad: Sequence[float] | None = None
    """Phase of every sine; zero when absent."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class ForceStep:
    """A force that is switched on and off; zero outside."""

    from_s: float | None = None
    """When it is switched on."""

    until_s: float | None = None
    """When it is switched off; never when absent."""

    value_n: float
    """The value while it is on."""


@dataclass(kw_only=True)
class ForceTable:
    """A force from a table, linear between its rows and constant beyond them."""

    file: str | None = None
    """A CSV file of two columns, time and value, below the folder of the model, instead of the two lists."""

    time_s: Sequence[float] | None = None
    """Instants, rising."""

    value_n: Sequence[float] | None = None
    """The value at every instant."""


@dataclass(kw_only=True)
class FormulationNodal:
    """Finite elements in nodal coordinates, whose beams may bend far."""

    nodal: NodalFormulation


Formulation: TypeAlias = "Literal['tree'] | FormulationNodal"
"""Which equations describe the mechanism."""


Frame: TypeAlias = "Literal['world', 'body']"
"""Axes in which the direction of a load is given."""


@dataclass(kw_only=True)
class FrameNode:
    """A node of a frame."""

    name: str
    """Name by which members, joints, payloads and markers refer to it."""

    position_m: Sequence[float]
    """Position in the body's frame."""


@dataclass(kw_only=True)
class FreeFriction:
    """Friction of a free joint, on every component of the motion."""

    angular_coulomb_n_m: float | None = None
    """Coulomb friction against rotation."""

    angular_coulomb_rate_rad_per_s: float | None = None
    """Rate below which Coulomb friction of rotation is smoothed; 1e-3 rad/s when absent."""

    angular_viscous_n_m_s_per_rad: float | None = None
    """Viscous friction against rotation."""

    linear_coulomb_n: float | None = None
    """Coulomb friction against translation."""

    linear_coulomb_rate_m_per_s: float | None = None
    """Rate below which Coulomb friction of translation is smoothed; 1e-3 m/s when absent."""

    linear_viscous_n_s_per_m: float | None = None
    """Viscous friction against translation."""


@dataclass(kw_only=True)
class FreeLimits:
    """Limits of a free joint: of the position in the joint's axes, of rates and efforts in the child's."""

    max_angle_rad: float | None = None
    """Largest angle of rotation."""

    max_force_n: float | None = None
    """Largest driving force of each translating component in either direction."""

    max_m: Sequence[float] | None = None
    """Largest position along each axis."""

    max_rate_m_per_s: float | None = None
    """Largest rate of each translating component in either direction."""

    max_rate_rad_per_s: float | None = None
    """Largest rate of each rotating component in either direction."""

    max_torque_n_m: float | None = None
    """Largest driving torque of each rotating component in either direction."""

    min_m: Sequence[float] | None = None
    """Smallest position along each axis."""


@dataclass(kw_only=True)
class FreeMotor:
    """Equal motors for the three rotations of a free joint, and equal ones for its three translations."""

    angular_gear_ratio: float | None = None
    """Turns of such a rotor per turn of the joint; 1 when absent."""

    angular_inertia_kg_m2: float | None = None
    """Inertia of each rotor that turns the child."""

    linear_gear_ratio_rad_per_m: float | None = None
    """Rotation of such a rotor per displacement of the joint; 1 when absent."""

    linear_inertia_kg_m2: float | None = None
    """Inertia of each rotor that moves the child."""


@dataclass(kw_only=True)
class Free:
    """Any rotation and translation. Components 1 to 3 rotate, 4 to 6 translate, all in the child's axes, as do the
    recorded angular velocity and velocity; the recorded position is in the joint's axes."""

    friction: FreeFriction | None = None
    """Friction against the motion."""

    initial_angular_velocity_rad_per_s: Sequence[float] | None = None
    """Angular velocity of the child at the start, in the child's axes."""

    initial_position_m: Sequence[float] | None = None
    """Position of the child's place in the joint's frame at the start."""

    initial_rotation_vector_rad: Sequence[float] | None = None
    """Rotation of the child at the start."""

    initial_velocity_m_per_s: Sequence[float] | None = None
    """Velocity at the start, in the joint's axes."""

    limits: FreeLimits | None = None
    """Limits; a run reports when they are passed, nothing stops at them."""

    motor: FreeMotor | None = None
    """Motors for the three rotations and the three translations, with rigid gears."""

    spring: FreeSpring | None = None
    """Springs and dampers towards the joint's frame."""


@dataclass(kw_only=True)
class FreeSpring:
    """Springs and dampers of a free joint, the same in every direction."""

    angular_damping_n_m_s_per_rad: float | None = None
    """Damping of rotation."""

    angular_stiffness_n_m_per_rad: float | None = None
    """Stiffness against rotation."""

    linear_damping_n_s_per_m: float | None = None
    """Damping of translation."""

    linear_stiffness_n_per_m: float | None = None
    """Stiffness against translation."""


@dataclass(kw_only=True)
class FunctionsClampedFree:
    """Clamped at the root, free at the tip."""

    clamped_free: int


@dataclass(kw_only=True)
class FunctionsFreeFree:
    """Free at both ends."""

    free_free: int


@dataclass(kw_only=True)
class FunctionsPinnedPinned:
    """Sines on the chord; in stretch and torsion as `clamped_free`."""

    pinned_pinned: int


@dataclass(kw_only=True)
class FunctionsClampedClamped:
    """Clamped at both ends."""

    clamped_clamped: int


@dataclass(kw_only=True)
class FunctionsFixedInterface:
    """Static shapes of what neighbours do to the ends, and functions clamped at both ends behind them."""

    fixed_interface: int


Functions: TypeAlias = "FunctionsClampedFree | FunctionsFreeFree | FunctionsPinnedPinned | FunctionsClampedClamped | FunctionsFixedInterface"
"""Functions of one deformation and their number."""


@dataclass(kw_only=True)
class GeneralizedAlpha:
    """Settings of generalised-α."""

    spectral_radius: float | None = None
    """Spectral radius at infinite frequency, 0 (strongest damping) to 1 (none); 0.8 when absent."""

    step_s: float
    """Length of a step."""

    tolerance: float | None = None
    """Relative tolerance of the Newton iteration in a step; 1e-10 when absent."""


@dataclass(kw_only=True)
class GeometricStiffness:
    """What a body gains in stiffness under a load of one. Exactly one of `force_per_mass`, `force` and `moment` says
    under which."""

    file: str
    """File of the matrix, over the rows of the stiffness matrix."""

    force: InterfaceLoad | None = None
    """A force of one newton on an interface."""

    force_per_mass: ForcePerMass | None = None
    """A force on every particle, of one newton per kilogram."""

    moment: InterfaceLoad | None = None
    """A moment of one newton metre on an interface."""


@dataclass(kw_only=True)
class Hinge:
    """A rotation between two orientations."""

    axis: Sequence[float] | None = None
    """Axis in ground axes, where its nodes stand at first; z in the plane."""

    damping_n_m_s_per_rad: float | None = None
    """Damping of its rotation."""

    from_: str
    """Name of the orientation that carries it."""

    initial_rate_rad_per_s: float | None = None
    """Rate at the start, where it is a degree of freedom."""

    initial_rotation_rad: float | None = None
    """Rotation at the start, where it is a degree of freedom; none when absent."""

    rest_rotation_rad: float | None = None
    """Rotation at which its stiffness carries no torque; where its nodes stand at first when absent."""

    role: Role | None = None
    """What its rotation is; a degree of freedom when absent."""

    stiffness_n_m_per_rad: float | None = None
    """Stiffness of its rotation."""

    tilt_roles: Sequence[Role] | None = None
    """What the two tilts of its axis are; fixed when absent. Only in space."""

    to: str
    """Name of the orientation that it turns."""


@dataclass(kw_only=True)
class IBeam:
    """Two flanges and a web."""

    flange_m: float
    """Thickness of a flange, along y."""

    size_y_m: float
    """Whole size along y, flanges included."""

    size_z_m: float
    """Size along z: that of the flanges."""

    web_m: float
    """Thickness of the web, along z."""


Inertia: TypeAlias = "Literal['rigid', 'hybrid_forces', 'full', 'lumped_nodes']"
"""How deformation enters the inertia \\[Damaren & Sharf 1995, section 2.2\\]."""


@dataclass(kw_only=True)
class InitialElastic:
    """Deformation at the start, by the names of the elastic coordinates; those not named start at zero."""

    elastic: Mapping[str, float] | None = None
    """Elastic coordinates, for example `bending_y_1 = 0.01`."""

    elastic_rate: Mapping[str, float] | None = None
    """Their rates, per second."""


@dataclass(kw_only=True)
class InitialStaticLoad:
    """Rest in equilibrium under other loads, which are taken off when the run begins."""

    static_load: StaticLoad


Initial: TypeAlias = "Literal['written', 'equilibrium', 'quasi_static'] | InitialStaticLoad"
"""What a run begins with."""


@dataclass(kw_only=True)
class Input:
    """One torque or force, on a joint or at a marker. Exactly one of the `torque_…`, `force_…`,
    `rigid_inverse_dynamics` and `nominal_motion` keys says how it runs in time. A torque turns a joint or acts on
    the body at a marker about `direction`; a force moves a prismatic joint or pulls at a marker along
    `direction`. What drives a joint is counted at the joint side of its gear: the rotor's own torque is smaller
    by the gear ratio."""

    component: int | None = None
    """Which degree of freedom of the joint, counted from 1; a free joint rotates with 1 to 3 and translates with 4
    to 6."""

    deformation: Deformation | None = None
    """Which deformation of an element, in a model of nodes and elements; needed for beams."""

    direction: Sequence[float] | None = None
    """Direction of a load at a marker; any length but zero."""

    force_constant: ForceConstant | None = None
    """A constant force."""

    force_cycloid: ForceCycloid | None = None
    """A force that goes smoothly from one value to another."""

    force_polynomial: ForcePolynomial | None = None
    """A polynomial in time."""

    force_sines: ForceSines | None = None
    """A sum of sines."""

    force_step: ForceStep | None = None
    """A force that is switched on and off."""

    force_table: ForceTable | None = None
    """A force from a table."""

    frame: Frame | None = None
    """Axes in which `direction` is given."""

    in_feedforward: bool | None = None
    """Whether rigid inverse dynamics counts on this load at a marker, as on a weight that is known."""

    joint: str | None = None
    """Name of the driven joint."""

    marker: str | None = None
    """Name of the marker at which the load acts, instead of a joint."""

    nominal_motion: bool | None = None
    """Whether the joint takes part in moving the model along its nominal motion, as `[nominal_motion]` or other
    joints' `rigid_inverse_dynamics` say it: with the torque or force that would do so if every body and gear were
    rigid. Of more such joints than degrees of freedom, the smallest torques and forces are taken."""

    orientation: str | None = None
    """Name of the orientation whose axes are those of the `"body"`, for a force at a point of a model of nodes."""

    rigid_inverse_dynamics: MotionProfile | None = None
    """The torque or force that would move the joint as said if every body and gear were rigid, against gravity,
    springs and friction of the joints. Joints without a nominal motion of their own count as held where they
    start, or as moving as prescribed; loads at markers count where they are `in_feedforward`."""

    torque_constant: TorqueConstant | None = None
    """A constant torque."""

    torque_cycloid: TorqueCycloid | None = None
    """A torque that goes smoothly from one value to another."""

    torque_polynomial: TorquePolynomial | None = None
    """A polynomial in time."""

    torque_sines: TorqueSines | None = None
    """A sum of sines."""

    torque_step: TorqueStep | None = None
    """A torque that is switched on and off."""

    torque_table: TorqueTable | None = None
    """A torque from a table."""


@dataclass(kw_only=True)
class IntegratorAuto:
    """`dop853`, and `esdirk` or `radau` where the motion proves stiff and these get on faster."""

    auto: Adaptive


@dataclass(kw_only=True)
class IntegratorDop853:
    """Explicit Runge–Kutta of order 8(5,3), for tight tolerances."""

    dop853: Adaptive


@dataclass(kw_only=True)
class IntegratorDopri5:
    """Explicit Runge–Kutta of order 5(4), for loose tolerances."""

    dopri5: Adaptive


@dataclass(kw_only=True)
class IntegratorAdams:
    """Adams multistep of variable order, for smooth problems."""

    adams: Adaptive


@dataclass(kw_only=True)
class IntegratorRadau:
    """Radau IIA of order 5, for stiff problems."""

    radau: Adaptive


@dataclass(kw_only=True)
class IntegratorEsdirk:
    """Diagonally implicit Runge–Kutta of order 5(4), for stiff mechanisms at moderate tolerances."""

    esdirk: Adaptive


@dataclass(kw_only=True)
class IntegratorGeneralizedAlpha:
    """Generalised-α with fixed steps, for structural systems."""

    generalized_alpha: GeneralizedAlpha


@dataclass(kw_only=True)
class IntegratorNewmark:
    """Newmark with fixed steps, for structural systems."""

    newmark: Newmark


Integrator: TypeAlias = "IntegratorAuto | IntegratorDop853 | IntegratorDopri5 | IntegratorAdams | IntegratorRadau | IntegratorEsdirk | IntegratorGeneralizedAlpha | IntegratorNewmark"
"""The method that advances the motion in time."""


@dataclass(kw_only=True)
class InterfaceLoad:
    """A force or moment on an interface."""

    along: AxisName
    """Its direction."""

    at: str
    """The interface."""


@dataclass(kw_only=True)
class Interface:
    """A set of nodes of a mesh that is tied to a frame."""

    group: str | None = None
    """Physical group of the surface (or of points, lines, volumes); `name` when absent."""

    name: str
    """Name by which joints, payloads and markers refer to the frame."""

    position_m: Sequence[float] | None = None
    """Origin of the frame in the body's frame; the mean of its nodes when absent."""

    tie: Tie | None = None
    """How the nodes and the frame move with each other."""


@dataclass(kw_only=True)
class JointPd:
    """Proportional and derivative feedback, joint by joint."""

    position_gain: Sequence[float]
    """Torque or force per deviation of the position, in N m/rad or N/m: one for every joint."""

    rate_gain: Sequence[float]
    """Torque or force per deviation of the rate, in N m s/rad or N s/m: one for every joint."""


@dataclass(kw_only=True)
class JointSpace:
    """Which joints are independent."""

    independent: Sequence[str] | None = None
    """Names of the joints; those with inputs when absent."""


@dataclass(kw_only=True)
class Joint:
    """One joint. Exactly one of `revolute`, `prismatic`, `fixed`, `universal`, `spherical` and `free` says of which
    kind."""

    child: Attachment
    """What the joint carries."""

    cut: bool | None = None
    """Cuts the joint: it closes a loop instead of carrying its child. Where joints make a loop and none says so, one
    is chosen."""

    fixed: Fixed | None = None
    """No motion at all."""

    free: Free | None = None
    """Any rotation and translation: the base of a robot that floats."""

    name: str
    """Name by which inputs and motions refer to the joint."""

    parent: Attachment
    """Where the joint stands; its frame is the frame of this place. Axes are given in it."""

    prismatic: Prismatic | None = None
    """Translation along one axis."""

    revolute: Revolute | None = None
    """Rotation about one axis."""

    spherical: Spherical | None = None
    """Any rotation."""

    universal: Universal | None = None
    """Rotation about two axes, the second carried by the first."""


@dataclass(kw_only=True)
class LinePath:
    """A straight line."""

    to_m: Sequence[float]
    """Where it ends."""


@dataclass(kw_only=True)
class Loop:
    """One loop. Exactly one of `revolute`, `spherical`, `prismatic`, `universal`, `fixed`, `point_on_line` and
    `distance` says what holds the two places together."""

    distance: Distance | None = None
    """The distance of the two points is held."""

    fixed: Fixed | None = None
    """Everything is held."""

    from_: Attachment
    """One place; axes are given in its frame. A beam means its tip when no place is said; a string may also be the
    name of a marker."""

    name: str
    """Name of the loop, unique among loops and joints."""

    point_on_line: PointOnLine | None = None
    """The point of `to` is held on a line through the point of `from`."""

    prismatic: AxisClosure | None = None
    """All but sliding along one axis is held."""

    revolute: AxisClosure | None = None
    """All but a turn about one axis is held."""

    spherical: Fixed | None = None
    """The two points are held together."""

    to: Attachment
    """The other place, said in the same way."""

    universal: UniversalClosure | None = None
    """All but turns about two axes is held."""


@dataclass(kw_only=True)
class Lump:
    """A rigid mass that is fixed to a frame."""

    at: str
    """Name of a node or place."""

    center_of_mass_m: Sequence[float] | None = None
    """Centre of mass, from the place, in the axes of the body."""

    inertia_kg_m2: Sequence[float] | None = None
    """Moments of inertia xx, yy, zz about the centre of mass, in the axes of the body."""

    mass_kg: float
    """Mass."""


@dataclass(kw_only=True)
class MarkerPath:
    """A curve in space on which a marker stays: a `line`, an `arc` or a `spline`."""

    arc: ArcPath | None = None
    """Along a circle."""

    distance: MotionProfile
    """How the distance from its beginning, measured along it, runs in time; one that says no final displacement ends
    where the path does."""

    from_m: Sequence[float] | None = None
    """Where it begins; where the marker starts when absent."""

    line: LinePath | None = None
    """Straight."""

    spline: SplinePath | None = None
    """Smoothly through points."""


@dataclass(kw_only=True)
class Marker:
    """A place whose motion is recorded and where a force may act."""

    at: str | None = None
    """Name of a place on the body; the tip of a beam or the origin of a rigid body when no place is said."""

    body: str
    """Name of the body, or `ground`."""

    name: str
    """Name of the marker."""

    position_m: Sequence[float] | None = None
    """Position in the body's frame, instead of `at`."""


@dataclass(kw_only=True)
class Material:
    """A linear elastic, isotropic material."""

    density_kg_per_m3: float
    """Density."""

    group: str | None = None
    """Physical group of the elements; all elements that no other material names when absent."""

    poisson_ratio: float
    """Poisson's ratio."""

    youngs_modulus_pa: float
    """Young's modulus."""


@dataclass(kw_only=True)
class Matrices:
    """Mass and stiffness of a free body over the unknowns of its nodes, as another program wrote them. Files are
    Matrix Market's (coordinate or array, real, general or symmetric), bare triplets `row column value` of one
    triangle, as CalculiX writes them, or Nastran's DMIG, where the names of mass and stiffness begin with M and
    K. Units are those of the mesh (`mass_unit_kg`, `unit_m`) and the second."""

    geometric_stiffness: Sequence[GeometricStiffness] | None = None
    """What the body gains in stiffness under loads; without any it does not stiffen."""

    mass: str
    """File of the mass matrix, below the folder of the model."""

    stiffness: str
    """File of the stiffness matrix."""

    unknowns: str | None = None
    """File with a line `node.direction` per row of the matrices: 1, 2, 3 for displacements and 4, 5, 6 for
    rotations. When absent the rows are those of all nodes in the order of their table, three or six each. DMIG
    name their rows themselves."""


@dataclass(kw_only=True)
class MemberPlace:
    """A named place on a member."""

    name: str
    """Name by which lumps, joints, payloads and markers refer to it."""

    share: float
    """Share of the length from the first node, between 0 and 1."""


@dataclass(kw_only=True)
class Member:
    """A beam between two nodes. Members that share a node are joined stiffly."""

    angle_rad: float | None = None
    """Angle by which the section is turned about the line."""

    arc_through_m: Sequence[float] | None = None
    """A point of the arc of a circle from one node to the other; straight when absent."""

    elements: int | None = None
    """Finite elements, each of four nodes; 6 when absent."""

    from_: str
    """Node where it begins."""

    material: BeamMaterial | None = None
    """What it is made of; not needed by a section that is given by its `properties`."""

    offset_m: Sequence[float] | None = None
    """Where the origin of the section is, y, z from the line between the nodes."""

    place: Sequence[MemberPlace] | None = None
    """Named places between the nodes."""

    section: Section | None = None
    """The section, if it is the same all along."""

    spline_through_m: Sequence[Sequence[float]] | None = None
    """Points of a smooth curve from one node to the other, in turn."""

    station: Sequence[Station] | None = None
    """The sections at several shares of the length, instead of one; sizes vary in proportion in between."""

    to: str
    """Node where it ends."""

    z_direction: Sequence[float] | None = None
    """Direction near which the z axis of the section lies: the x axis is along the line, and y normal to both. The
    body's z axis when absent, or its -x axis for a member that runs along z."""


Membrane: TypeAlias = "Literal['pointwise', 'averaged']"
"""Where the axial strain of second order of a bent element is taken."""


@dataclass(kw_only=True)
class MeshBasisClampedFree:
    """Modes of the body held at its first interface, all else free."""

    clamped_free: MeshModes


@dataclass(kw_only=True)
class MeshBasisFreeFree:
    """Modes of the free body, seen from mean axes: the frame in which deformation has no momentum."""

    free_free: MeshModes


@dataclass(kw_only=True)
class MeshBasisCraigBampton:
    """Static shapes of every interface but the first, and modes with all interfaces held."""

    craig_bampton: MeshModes


@dataclass(kw_only=True)
class MeshBasisHinged:
    """Of a body that two passive hinges hold, at two interfaces: modes that turn freely about the axes of both, and
    static shapes of what else the hinges do to the body. The frame lies on the chord between them."""

    hinged: MeshModes


@dataclass(kw_only=True)
class MeshBasisAuto:
    """The one of these that suits what is attached to the interfaces: `clamped_free` where only the first one
    carries anything, `free_free` with residual shapes for a body that floats, `hinged` between two passive
    hinges, `craig_bampton` otherwise."""

    auto: MeshModes


MeshBasis: TypeAlias = "MeshBasisClampedFree | MeshBasisFreeFree | MeshBasisCraigBampton | MeshBasisHinged | MeshBasisAuto"
"""The shapes in which the deformation of a mesh is expanded."""


MeshFrame: TypeAlias = "Literal['tangent', 'mean']"
"""The frame from which the deformation of a mesh is seen."""


@dataclass(kw_only=True)
class MeshModes:
    """Which modes of a mesh are kept: exactly one of `modes`, `frequency_rad_per_s` and `accuracy`."""

    accuracy: float | None = None
    """Share of the static deformation under uniform linear and angular accelerations that may be left out; of a body
    that floats, under forces and moments on its interfaces."""

    frame: MeshFrame | None = None
    """The frame of the body under `craig_bampton`."""

    frequency_rad_per_s: float | None = None
    """Frequency below which all modes are kept."""

    modes: int | None = None
    """Number of modes."""

    residual: bool | None = None
    """Whether what modes leave out of the static compliance of the interfaces is kept by residual attachment shapes,
    six per interface that moves at most; `craig_bampton` leaves nothing out."""


@dataclass(kw_only=True)
class Mesh:
    """A mesh of solid elements, or nodes with mass and stiffness matrices, which is reduced to elastic coordinates
    when the model is read."""

    basis: MeshBasis
    """The shapes in which the deformation is expanded."""

    file: str
    """A mesh file below the folder of the model, with tetrahedra of 4 or 10 and hexahedra of 8 or 20 nodes: Gmsh's
    `.msh` (2.2 or 4.1, as text), or an input file of Abaqus or CalculiX (`.inp`), whose sets and surfaces are the
    groups, or bulk data of Nastran (`.bdf`, `.nas`). With `matrices` any of these, of which only nodes and groups
    are taken, or a table of nodes (`.csv`): number, x, y, z and, if wanted, a group."""

    interface: Sequence[Interface]
    """Surfaces that are tied to a frame, to which something may be attached; the first one carries the body."""

    mass_unit_kg: float | None = None
    """Unit of mass of matrices, and of masses and materials in the file: 1000 for tonnes, which go with millimetres
    and newtons."""

    material: Sequence[Material] | None = None
    """What the elements are made of; as the file says when absent (Nastran's does), or unless `matrices` are given."""

    matrices: Matrices | None = None
    """Mass and stiffness over the nodes, from another program."""

    stiffening: bool | None = None
    """Whether the body stiffens when it rotates or is loaded."""

    unit_m: float | None = None
    """Length of the unit of the file: 0.001 for millimetres."""


@dataclass(kw_only=True)
class ModeCounts:
    """How many functions of each kind."""

    bending_y: int | None = None
    """Bending along y."""

    bending_z: int | None = None
    """Bending along z."""

    foreshortening: bool | None = None
    """Whether the stretch of a clamped beam also follows the axis as it draws back in bending: functions ∫φᵢ'φⱼ'dx
    of every two bending functions of one plane join the `stretch` natural ones. Without them a beam with axial
    strain of second order is too stiff. The stretch modes of the joint space are named `stretch_1`, `stretch_2`,
    … as far as functions are independent."""

    stretch: int | None = None
    """Stretch along x."""

    torsion: int | None = None
    """Torsion about x."""


@dataclass(kw_only=True)
class MotionProfileCycloid:
    """From one position to another, as a cycloid."""

    cycloid: CycloidMotion


@dataclass(kw_only=True)
class MotionProfileCycloidalRamps:
    """From one position to another at a constant rate between smooth ramps."""

    cycloidal_ramps: CycloidalRamps


@dataclass(kw_only=True)
class MotionProfileCycloidalRate:
    """From rest to a constant rate, smoothly."""

    cycloidal_rate: CycloidalRate


@dataclass(kw_only=True)
class MotionProfileQuintic:
    """From one position to another as a polynomial of fifth order."""

    quintic: QuinticMotion


@dataclass(kw_only=True)
class MotionProfileTrapezoidal:
    """From one position to another at constant accelerations and a constant rate."""

    trapezoidal: TrapezoidalMotion


@dataclass(kw_only=True)
class MotionProfileSCurve:
    """From one position to another under a limited jerk."""

    s_curve: SCurveMotion


@dataclass(kw_only=True)
class MotionProfilePolynomial:
    """A polynomial in time."""

    polynomial: PolynomialMotion


@dataclass(kw_only=True)
class MotionProfileSines:
    """A sum of sines."""

    sines: SinesMotion


@dataclass(kw_only=True)
class MotionProfileTable:
    """A smooth curve through the rows of a table."""

    table: TableMotion


@dataclass(kw_only=True)
class MotionProfileConstantRate:
    """A constant rate."""

    constant_rate: ConstantRate


MotionProfile: TypeAlias = "MotionProfileCycloid | MotionProfileCycloidalRamps | MotionProfileCycloidalRate | MotionProfileQuintic | MotionProfileTrapezoidal | MotionProfileSCurve | MotionProfilePolynomial | MotionProfileSines | MotionProfileTable | MotionProfileConstantRate"
"""A motion profile by its key."""


@dataclass(kw_only=True)
class Motion:
    """The prescribed motion of one degree of freedom of a joint. Exactly one profile is given."""

    component: int | None = None
    """Which degree of freedom of the joint, counted from 1."""

    constant_rate: ConstantRate | None = None
    """A constant rate."""

    cycloid: CycloidMotion | None = None
    """From one position to another, as a cycloid."""

    cycloidal_ramps: CycloidalRamps | None = None
    """From one position to another at a constant rate between smooth ramps."""

    cycloidal_rate: CycloidalRate | None = None
    """From rest to a constant rate, smoothly."""

    deformation: Deformation | None = None
    """Which deformation of an element, in a model of nodes and elements; needed for beams."""

    joint: str
    """Name of the joint: revolute, prismatic or universal."""

    polynomial: PolynomialMotion | None = None
    """A polynomial in time."""

    quintic: QuinticMotion | None = None
    """From one position to another as a polynomial of fifth order."""

    s_curve: SCurveMotion | None = None
    """From one position to another under a limited jerk."""

    sines: SinesMotion | None = None
    """A sum of sines."""

    table: TableMotion | None = None
    """A smooth curve through the rows of a table."""

    trapezoidal: TrapezoidalMotion | None = None
    """From one position to another at constant accelerations and a constant rate."""


@dataclass(kw_only=True)
class Newmark:
    """Settings of Newmark's method."""

    beta: float | None = None
    """β; 1/4 when absent."""

    gamma: float | None = None
    """γ; 1/2 when absent."""

    step_s: float
    """Length of a step."""

    tolerance: float | None = None
    """Relative tolerance of the Newton iteration in a step; 1e-10 when absent."""


@dataclass(kw_only=True)
class NodalFormulation:
    """How beams are meshed."""

    elements_per_link: int | None = None
    """Elements of a beam, about equal in length; 8 when absent. There are more where sections change or something is
    attached between."""


@dataclass(kw_only=True)
class NodalNode:
    """One node of a nodal body. Everything is in the axes of the body's frame."""

    center_of_mass_m: Sequence[float] | None = None
    """Centre of mass, from the node."""

    inertia_kg_m2: Sequence[Sequence[float]] | None = None
    """Inertia tensor about the node."""

    influence: Sequence[Sequence[float]] | None = None
    """Six rows of n numbers: rotation about x, y, z in rad and translation along x, y, z in m, per unit of every
    elastic coordinate. No rows for a node that does not move."""

    mass_kg: float | None = None
    """Mass; a node may have none."""

    name: str | None = None
    """Name, where something is attached to the node."""

    position_m: Sequence[float]
    """Undeformed position in the body's frame."""


@dataclass(kw_only=True)
class Nodal:
    """A body of nodes with mass and modal influence, \\[Jain & Rodriguez 1992\\]."""

    coordinates: Sequence[str] | None = None
    """Names of the elastic coordinates; `mode_1`, `mode_2`, … when absent."""

    nodes: Sequence[NodalNode]
    """The nodes."""

    stiffness: Sequence[Sequence[float]] | None = None
    """Stiffness of the elastic coordinates, n rows of n numbers; no rows for a body that does not bend."""


@dataclass(kw_only=True)
class Node:
    """A named place on a rigid body, on the axis of a beam, or at the nearest node of a mesh."""

    name: str
    """Name to be used as `at`."""

    position_m: Sequence[float]
    """Undeformed position in the body's frame."""


@dataclass(kw_only=True)
class Noise:
    """Noise: normally distributed numbers, a new one every period. They follow from seed, name of the sensor,
    channel and number of the period alone."""

    period_s: float
    """How long each number lasts; periods are counted from the instant zero."""

    rms: Sequence[float]
    """Standard deviation: one number per channel."""

    seed: int | None = None
    """Another seed gives other numbers."""


@dataclass(kw_only=True)
class NominalMotion:
    """The motion of a marker along which inputs with `nominal_motion = true` drive the model. At least one component
    is given; those that are not follow from the mechanism."""

    marker: str
    """Name of the marker."""

    orientation: OrientationMotion | None = None
    """How the marker's axes turn in any way, instead of `rotation`."""

    path: MarkerPath | None = None
    """Where it goes in space, and how far along that it is, instead of `x`, `y` and `z`."""

    rotation: MotionProfile | None = None
    """Angle about `rotation_axis` by which the marker's axes are turned from those of the ground."""

    rotation_axis: Sequence[float] | None = None
    """Axis of the rotation in ground axes; z when absent."""

    x: MotionProfile | None = None
    """Position along the x axis of the ground."""

    y: MotionProfile | None = None
    """Position along the y axis of the ground."""

    z: MotionProfile | None = None
    """Position along the z axis of the ground."""


@dataclass(kw_only=True)
class OperationalSpace:
    """No settings."""


@dataclass(kw_only=True)
class OrientationAlongPath:
    """From where the marker starts to another orientation about one axis fixed in space, in proportion to the
    distance along the path of the marker. Ways are those of `cycloid`."""

    final_quaternion: Sequence[float] | None = None
    """Orientation at the end of the path, as a quaternion w, x, y, z."""

    final_rotation_vector_rad: Sequence[float] | None = None
    """Orientation at the end of the path, as a rotation vector."""

    relative_to: OrientationFrame | None = None
    """What the orientation is told from."""


@dataclass(kw_only=True)
class OrientationCycloid:
    """From where the marker starts to another orientation about one axis fixed in space, the angle as $`s - \\sin
    2\\pi s / 2\\pi`$ with s running from 0 to 1; held outside. The shorter way is taken, except by a rotation
    vector from the start, which is turned through as it is."""

    duration_s: float
    """How long it takes."""

    final_quaternion: Sequence[float] | None = None
    """Orientation after, as a quaternion w, x, y, z."""

    final_rotation_vector_rad: Sequence[float] | None = None
    """Orientation after, as a rotation vector."""

    from_s: float | None = None
    """When the motion begins."""

    relative_to: OrientationFrame | None = None
    """What the orientation is told from."""


OrientationFrame: TypeAlias = "Literal['ground', 'start']"
"""What orientations are told from."""


@dataclass(kw_only=True)
class OrientationMotionCycloid:
    """From where the marker starts to another orientation about one axis, as a cycloid."""

    cycloid: OrientationCycloid


@dataclass(kw_only=True)
class OrientationMotionCycloidalRamps:
    """The same at a constant rate between smooth ramps."""

    cycloidal_ramps: OrientationRamps


@dataclass(kw_only=True)
class OrientationMotionConstantRate:
    """At a constant angular velocity."""

    constant_rate: AngularVelocity


@dataclass(kw_only=True)
class OrientationMotionAlongPath:
    """From where the marker starts to another orientation about one axis, in proportion to the way along its path."""

    along_path: OrientationAlongPath


@dataclass(kw_only=True)
class OrientationMotionTable:
    """Smoothly through the rows of a table."""

    table: OrientationTable


OrientationMotion: TypeAlias = "OrientationMotionCycloid | OrientationMotionCycloidalRamps | OrientationMotionConstantRate | OrientationMotionAlongPath | OrientationMotionTable"
"""A motion of an orientation, by its key."""


@dataclass(kw_only=True)
class OrientationRamps:
    """The same at a constant rate between ramps whose angular acceleration is $`1 - \\cos 2\\pi s`$."""

    duration_s: float
    """How long it takes, both ramps included."""

    final_quaternion: Sequence[float] | None = None
    """Orientation after, as a quaternion w, x, y, z."""

    final_rotation_vector_rad: Sequence[float] | None = None
    """Orientation after, as a rotation vector."""

    from_s: float | None = None
    """When the motion begins."""

    ramp_s: float
    """How long each ramp takes, at most half of the duration."""

    relative_to: OrientationFrame | None = None
    """What the orientation is told from."""


@dataclass(kw_only=True)
class Orientation:
    """An orientation in space."""

    inertia_kg_m2: Sequence[float] | None = None
    """Moments of inertia xx, yy, zz in its axes."""

    initial_angular_velocity_rad_per_s: Sequence[float] | None = None
    """Angular velocity at the start in ground axes, where it is a degree of freedom."""

    products_of_inertia_kg_m2: Sequence[float] | None = None
    """Entries xy, xz, yz of the inertia tensor."""

    role: Role | None = None
    """What it is as a whole; free when absent."""

    rotation_vector_rad: Sequence[float] | None = None
    """How it is turned at first."""


@dataclass(kw_only=True)
class OrientationTable:
    """A smooth curve with continuous angular acceleration through the orientations of a table, at rest at the first
    and the last row; held beyond them. From row to row the shorter way is taken."""

    path_share: Sequence[float] | None = None
    """Shares of the way along the marker's path, rising, instead of instants."""

    quaternion: Sequence[Sequence[float]] | None = None
    """The orientation at every instant, as a quaternion w, x, y, z."""

    relative_to: OrientationFrame | None = None
    """What the orientations are told from."""

    rotation_vector_rad: Sequence[Sequence[float]] | None = None
    """The orientation at every instant, as a rotation vector."""

    time_s: Sequence[float] | None = None
    """Instants, rising."""


OutputFormat: TypeAlias = "Literal['csv', 'npz', 'mat']"
"""A kind of file."""


@dataclass(kw_only=True)
class Output:
    """What is written, and how often."""

    channels: Sequence[str] | None = None
    """Beginnings of the names of the channels to keep; every channel when absent."""

    formats: Sequence[OutputFormat] | None = None
    """Kinds of files to write; all of them when absent."""

    load_sections: int | None = None
    """Sections of every beam, evenly from root to tip, in which forces, moments and stresses are recorded; none when
    absent."""

    sample_period_s: float | None = None
    """Time between samples; a 200th of the duration when absent."""


@dataclass(kw_only=True)
class Payload:
    """A load that a body carries: a rigid mass fixed to one place of it."""

    at: str | None = None
    """Name of a place on the body; the tip of a beam or the origin of a rigid body when no place is said."""

    body: str
    """Name of the body that carries it."""

    center_of_mass_m: Sequence[float] | None = None
    """Centre of mass, from the place, in its axes."""

    inertia_kg_m2: Sequence[float] | None = None
    """Moments of inertia xx, yy, zz about the payload's centre of mass."""

    mass_kg: float
    """Mass."""

    name: str
    """Name of the payload."""

    position_m: Sequence[float] | None = None
    """Position in the body's frame, instead of `at`."""

    products_of_inertia_kg_m2: Sequence[float] | None = None
    """Entries xy, xz, yz of the inertia tensor."""


@dataclass(kw_only=True)
class Pid:
    """Proportional, integral and derivative feedback, joint by joint."""

    anti_windup_s: float | None = None
    """Time in which the integral is brought back while the actuator of the joint clips; never when absent."""

    integral_gain: Sequence[float]
    """Change of torque or force per deviation of the position, in N m/(rad s) or N/(m s): one for every joint."""

    position_gain: Sequence[float]
    """Torque or force per deviation of the position, in N m/rad or N/m: one for every joint."""

    rate_filter_s: float | None = None
    """Time constant of the first-order filter of the deviation of the rate; unfiltered when absent."""

    rate_gain: Sequence[float]
    """Torque or force per deviation of the rate, in N m s/rad or N s/m: one for every joint."""


@dataclass(kw_only=True)
class PlanarAngle:
    """An orientation that turns about z only."""

    angle_rad: float | None = None
    """How it is turned at first."""

    inertia_kg_m2: float | None = None
    """Moment of inertia."""

    initial_rate_rad_per_s: float | None = None
    """Rate at the start, where it is a degree of freedom."""

    role: Role | None = None
    """What it is; free when absent."""


@dataclass(kw_only=True)
class PlanarPoint:
    """A point that stays in the plane z = 0."""

    initial_velocity_m_per_s: Sequence[float] | None = None
    """Velocity of its degrees of freedom at the start."""

    mass_kg: float | None = None
    """Mass at the point."""

    position_m: Sequence[float]
    """Where it stands at first."""

    roles: Sequence[Role] | None = None
    """What its coordinates x and y are; free when absent."""


@dataclass(kw_only=True)
class PointMass:
    """A point mass that belongs to a body."""

    at: str | None = None
    """Name of a place; the tip of a beam or the origin of a rigid body when no place is said."""

    mass_kg: float
    """Mass."""

    position_m: Sequence[float] | None = None
    """Position in the body's frame, instead of `at`."""


@dataclass(kw_only=True)
class PointOnLine:
    """The line of a point that is held on one."""

    direction: Sequence[float]
    """Direction in the frame of `from`; any length but zero."""


@dataclass(kw_only=True)
class Point:
    """A point in space."""

    initial_velocity_m_per_s: Sequence[float] | None = None
    """Velocity of its degrees of freedom at the start."""

    mass_kg: float | None = None
    """Mass at the point."""

    position_m: Sequence[float]
    """Where it stands at first."""

    roles: Sequence[Role] | None = None
    """What its coordinates x, y and z are; free when absent."""


@dataclass(kw_only=True)
class Polygon:
    """A solid polygon."""

    points_m: Sequence[Sequence[float]]
    """Corners y, z in turn, either way round, measured from the line of the beam."""

    shear_factor: float | None = None
    """Share of the area that resists shear."""

    torsion_constant_m4: float | None = None
    """Torsion constant; Saint-Venant's estimate A⁴/40Iₚ when absent, which is good for compact sections only."""


@dataclass(kw_only=True)
class PolynomialMotion:
    """A polynomial in the time since `from_s`; the position is held outside."""

    coefficients_m: Sequence[float] | None = None
    """Coefficients of the displacement from the constant upwards; the k-th is divided by s^k."""

    coefficients_rad: Sequence[float] | None = None
    """Coefficients of the angle from the constant upwards; the k-th is divided by s^k."""

    from_s: float | None = None
    """When the motion begins."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class PrismaticFriction:
    """Friction of a translation: viscous, and Coulomb regularised as `coulomb × rate / √(rate² + coulomb_rate²)`."""

    coulomb_n: float | None = None
    """Coulomb friction."""

    coulomb_rate_m_per_s: float | None = None
    """Rate below which Coulomb friction is smoothed; 1e-3 m/s when absent."""

    viscous_n_s_per_m: float | None = None
    """Viscous friction."""


@dataclass(kw_only=True)
class PrismaticLimits:
    """Limits of a translation."""

    max_force_n: float | None = None
    """Largest driving force in either direction."""

    max_m: float | None = None
    """Largest displacement."""

    max_rate_m_per_s: float | None = None
    """Largest rate in either direction."""

    min_m: float | None = None
    """Smallest displacement."""


@dataclass(kw_only=True)
class PrismaticMotor:
    """A motor with its screw or rack, rigid or elastic."""

    damping_n_s_per_m: float | None = None
    """Damping of an elastic transmission, at the joint side."""

    gear_ratio_rad_per_m: float
    """Rotation of the rotor per displacement of the joint."""

    inertia_kg_m2: float
    """Inertia of the rotor about its own axis."""

    stiffness_n_per_m: float | None = None
    """Stiffness of the transmission, at the joint side. When given, the motor is a coordinate of its own (its
    displacement at the joint side) and the input acts on it."""


@dataclass(kw_only=True)
class Prismatic:
    """Translation along one axis."""

    axis: Sequence[float]
    """Axis in the joint's frame; any length but zero."""

    branch: Branch | None = None
    """Sign that the position has once loops are assembled; that of the nearest closed configuration when absent."""

    friction: PrismaticFriction | None = None
    """Friction in the joint."""

    held: bool | None = None
    """Keeps the start as it is written when loops are assembled."""

    initial_displacement_m: float | None = None
    """Displacement at the start."""

    initial_rate_m_per_s: float | None = None
    """Rate at the start."""

    limits: PrismaticLimits | None = None
    """Limits; a run reports when they are passed. Nothing stops at them but by `stops`."""

    motor: PrismaticMotor | None = None
    """The motor that drives the joint."""

    spring: PrismaticSpring | None = None
    """A spring and damper across the joint."""

    stops: PrismaticStops | None = None
    """Stops at the smallest and largest displacement."""


@dataclass(kw_only=True)
class PrismaticSpring:
    """A spring and damper across a prismatic joint."""

    damping_n_s_per_m: float | None = None
    """Damping."""

    rest_displacement_m: float | None = None
    """Displacement at which the spring is slack."""

    stiffness_n_per_m: float
    """Stiffness."""


@dataclass(kw_only=True)
class PrismaticStops:
    """Stops at the limits of a displacement: beyond them `stiffness × depth + damping × rate` presses the joint
    back, and never pulls."""

    damping_n_s_per_m: float | None = None
    """Damping."""

    stiffness_n_per_m: float
    """Stiffness."""


@dataclass(kw_only=True)
class Projected:
    """No settings."""


@dataclass(kw_only=True)
class QuinticMotion:
    """From one position to another with zero rate and acceleration at both ends, $`\\theta_0 + (\\theta_1 -
    \\theta_0)(10 s^3 - 15 s^4 + 6 s^5)`$ with s running from 0 to 1; held outside."""

    duration_s: float
    """How long it takes."""

    final_angle_rad: float | None = None
    """Angle after."""

    final_displacement_m: float | None = None
    """Displacement after."""

    from_s: float | None = None
    """When the motion begins."""

    initial_angle_rad: float | None = None
    """Angle before; the joint's initial angle when absent."""

    initial_displacement_m: float | None = None
    """Displacement before; the joint's initial displacement when absent."""


@dataclass(kw_only=True)
class Rayleigh:
    """Rayleigh damping: damping matrix = `mass_per_s` × mass matrix + `stiffness_s` × stiffness matrix."""

    mass_per_s: float | None = None
    """Factor of the mass matrix."""

    stiffness_s: float | None = None
    """Factor of the stiffness matrix."""


@dataclass(kw_only=True)
class Rectangle:
    """A solid rectangle."""

    size_y_m: float
    """Size along y."""

    size_z_m: float
    """Size along z."""


@dataclass(kw_only=True)
class ReducedNode:
    """A place on a reduced body."""

    influence: Sequence[Sequence[float]] | None = None
    """Six rows of n numbers: rotation about x, y, z in rad and translation along x, y, z in m, per unit of every
    elastic coordinate. No rows for a node that does not move."""

    name: str
    """Name by which joints, payloads and markers refer to it."""

    position_m: Sequence[float]
    """Undeformed position in the body's frame."""

    second_order: Sequence[Sequence[Sequence[float]]] | None = None
    """Second derivatives of the same six, each n rows of n numbers; the rotation is a rotation vector. None without
    `second_order` of the body."""


@dataclass(kw_only=True)
class Reduced:
    """A body of any shape, reduced to elastic coordinates: all that its motion needs, as `lissom body` writes it. A
    point at `r` moves by Σψα(r)ηα + ½Σhαβ(r)ηαηβ. Everything is in the axes of the body's frame; integrals go
    over the mass of the undeformed body."""

    center_of_mass_m: Sequence[float]
    """Centre of mass in the body's frame."""

    coordinates: Sequence[str] | None = None
    """Names of the n elastic coordinates; `mode_1`, `mode_2`, … when absent."""

    displacement_integrals: Sequence[Sequence[float]]
    """∫ψα dm: n rows of three."""

    inertia_kg_m2: Sequence[Sequence[float]]
    """Inertia tensor about the centre of mass."""

    mass_kg: float
    """Mass."""

    mass_matrix: Sequence[Sequence[float]]
    """Mass matrix of the elastic coordinates, n rows of n numbers: that of the source, not rebuilt from lumps."""

    nodes: Sequence[ReducedNode]
    """Places where something may be attached; the body is held at the first one unless its shapes move it."""

    position_integrals: Sequence[Sequence[Sequence[float]]]
    """∫rᵢψαⱼ dm: n times three rows i of three columns j."""

    product_integrals: Sequence[Sequence[Sequence[Sequence[float]]]]
    """∫ψαᵢψβⱼ dm: n rows of n times three rows i of three columns j."""

    second_order: SecondOrderIntegrals | None = None
    """Integrals of the second-order displacement h; without them the body does not stiffen when it rotates or is
    loaded."""

    stiffness: Sequence[Sequence[float]]
    """Stiffness matrix, n rows of n numbers."""

    surface: Surface | None = None
    """What the body looks like; nothing but pictures depend on it."""


@dataclass(kw_only=True)
class RevoluteFriction:
    """Friction of a rotation: viscous, and Coulomb regularised as `coulomb × rate / √(rate² + coulomb_rate²)`."""

    coulomb_n_m: float | None = None
    """Coulomb friction."""

    coulomb_rate_rad_per_s: float | None = None
    """Rate below which Coulomb friction is smoothed; 1e-3 rad/s when absent."""

    viscous_n_m_s_per_rad: float | None = None
    """Viscous friction."""


@dataclass(kw_only=True)
class RevoluteLimits:
    """Limits of a rotation."""

    max_rad: float | None = None
    """Largest angle."""

    max_rate_rad_per_s: float | None = None
    """Largest rate in either direction."""

    max_torque_n_m: float | None = None
    """Largest driving torque in either direction."""

    min_rad: float | None = None
    """Smallest angle."""


@dataclass(kw_only=True)
class RevoluteMotor:
    """A motor with its gear, rigid or elastic."""

    damping_n_m_s_per_rad: float | None = None
    """Damping of an elastic transmission, at the joint side."""

    gear_ratio: float | None = None
    """Turns of the rotor per turn of the joint; 1 when absent."""

    inertia_kg_m2: float
    """Inertia of the rotor about its own axis."""

    stiffness_n_m_per_rad: float | None = None
    """Stiffness of the transmission, at the joint side. When given, the motor angle is a coordinate of its own and
    the input acts on it."""


@dataclass(kw_only=True)
class Revolute:
    """Rotation about one axis."""

    axis: Sequence[float]
    """Axis in the joint's frame; any length but zero."""

    branch: Branch | None = None
    """Sign that the position has once loops are assembled; that of the nearest closed configuration when absent."""

    friction: RevoluteFriction | None = None
    """Friction in the joint."""

    held: bool | None = None
    """Keeps the start as it is written when loops are assembled."""

    initial_angle_rad: float | None = None
    """Angle at the start."""

    initial_rate_rad_per_s: float | None = None
    """Rate at the start."""

    limits: RevoluteLimits | None = None
    """Limits; a run reports when they are passed. Nothing stops at them but by `stops`."""

    motor: RevoluteMotor | None = None
    """The motor that drives the joint."""

    spring: RevoluteSpring | None = None
    """A spring and damper across the joint."""

    stops: RevoluteStops | None = None
    """Stops at the smallest and largest angle."""


@dataclass(kw_only=True)
class RevoluteSpring:
    """A spring and damper across a revolute joint."""

    damping_n_m_s_per_rad: float | None = None
    """Damping."""

    rest_angle_rad: float | None = None
    """Angle at which the spring is slack."""

    stiffness_n_m_per_rad: float
    """Stiffness."""


@dataclass(kw_only=True)
class RevoluteStops:
    """Stops at the limits of an angle: beyond them `stiffness × depth + damping × rate` presses the joint back, and
    never pulls."""

    damping_n_m_s_per_rad: float | None = None
    """Damping."""

    stiffness_n_m_per_rad: float
    """Stiffness."""


@dataclass(kw_only=True)
class RigidBeam:
    """Two ends that move as one body."""

    from_: End
    """One end."""

    to: End
    """The other end."""


@dataclass(kw_only=True)
class Rigid:
    """A rigid body."""

    center_of_mass_m: Sequence[float] | None = None
    """Centre of mass in the body's frame; the origin when absent."""

    inertia_kg_m2: Sequence[float]
    """Moments of inertia xx, yy, zz about the centre of mass, in the axes of the body's frame."""

    mass_kg: float
    """Mass."""

    products_of_inertia_kg_m2: Sequence[float] | None = None
    """Entries xy, xz, yz of the inertia tensor (with the tensor's sign: −∫xy dm); zero when absent."""


Role: TypeAlias = "Literal['fixed', 'free', 'prescribed', 'dof', 'actuated']"
"""What a coordinate of a node or a deformation of an element is."""


@dataclass(kw_only=True)
class SCurveMotion:
    """From one position to another, at rest at both ends, in seven parts of constant jerk: the acceleration rises,
    stays and falls in either ramp, and the rate is constant between them. Held outside. Either `duration_s`,
    `ramp_s` and `jerk_s` are given, or the limits, under which it takes the shortest time."""

    duration_s: float | None = None
    """How long it takes, both ramps included, instead of limits."""

    final_angle_rad: float | None = None
    """Angle after."""

    final_displacement_m: float | None = None
    """Displacement after."""

    from_s: float | None = None
    """When the motion begins."""

    initial_angle_rad: float | None = None
    """Angle before; the joint's initial angle when absent."""

    initial_displacement_m: float | None = None
    """Displacement before; the joint's initial displacement when absent."""

    jerk_s: float | None = None
    """How long the acceleration rises and falls in each ramp, at most half of the ramp."""

    max_acceleration_m_per_s2: float | None = None
    """Largest acceleration of a translation."""

    max_acceleration_rad_per_s2: float | None = None
    """Largest acceleration of a rotation."""

    max_jerk_m_per_s3: float | None = None
    """Largest jerk of a translation."""

    max_jerk_rad_per_s3: float | None = None
    """Largest jerk of a rotation."""

    max_rate_m_per_s: float | None = None
    """Largest rate of a translation."""

    max_rate_rad_per_s: float | None = None
    """Largest rate of a rotation."""

    ramp_s: float | None = None
    """How long each ramp takes, at most half of the duration."""


@dataclass(kw_only=True)
class Sampled:
    """Ticks of a sampled controller, counted from the start of the simulation."""

    delay_s: float | None = None
    """From a tick to when its answer acts; at most a period."""

    period_s: float
    """From tick to tick."""


@dataclass(kw_only=True)
class SecondOrderIntegrals:
    """Integrals of the second derivatives hαβ of the displacement of a body, each matrix n rows of n numbers. They
    are the geometric stiffness of the body: under a uniform acceleration a it is Σaₖ∫hₖdm, and under rotation the
    part of the acceleration that grows with rᵢ works on ∫rᵢhₖdm."""

    displacement_integrals: Sequence[Sequence[Sequence[float]]]
    """∫hₖ dm: three matrices."""

    position_integrals: Sequence[Sequence[Sequence[Sequence[float]]]]
    """∫rᵢhₖ dm: three times three matrices, i by rows."""

    shape_integrals: Sequence[Sequence[Sequence[float]]]
    """∫ψγ·h dm: n matrices."""


SecondOrder: TypeAlias = "Literal['all', 'elongation', 'none']"
"""Which second-order terms the deformations of a beam have."""


@dataclass(kw_only=True)
class SectionCircle:
    """A solid circle."""

    circle: Circle


@dataclass(kw_only=True)
class SectionTube:
    """A round tube."""

    tube: Tube


@dataclass(kw_only=True)
class SectionRectangle:
    """A solid rectangle."""

    rectangle: Rectangle


@dataclass(kw_only=True)
class SectionBox:
    """A rectangular tube with thin walls."""

    box: Box


@dataclass(kw_only=True)
class SectionIBeam:
    """Two equal flanges along z and a web along y between their middles."""

    i_beam: IBeam


@dataclass(kw_only=True)
class SectionPolygon:
    """A solid polygon."""

    polygon: Polygon


@dataclass(kw_only=True)
class SectionProperties:
    """Stiffness and mass by their numbers, whatever the section looks like."""

    properties: BeamProperties


Section: TypeAlias = "SectionCircle | SectionTube | SectionRectangle | SectionBox | SectionIBeam | SectionPolygon | SectionProperties"
"""The section of a beam. Its y and z axes are those of the beam."""


@dataclass(kw_only=True)
class Segment:
    """A uniform piece of a beam."""

    axial_stiffness_n: float | None = None
    """Stiffness EA against stretch."""

    bending_stiffness_y_n_m2: float | None = None
    """Stiffness EI against deflection along y."""

    bending_stiffness_z_n_m2: float | None = None
    """Stiffness EI against deflection along z."""

    elements: int | None = None
    """Finite elements in this segment; `count` of the basis when absent."""

    length_m: float
    """Length of the segment."""

    mass_per_length_kg_per_m: float
    """Mass per length."""

    section_inertia_y_kg_m: float | None = None
    """∫ρy²dA of the section."""

    section_inertia_z_kg_m: float | None = None
    """∫ρz²dA of the section."""

    torsional_stiffness_n_m2: float | None = None
    """Stiffness GJ against twist."""


@dataclass(kw_only=True)
class Sensor:
    """A sensor: its readings are recorded, and controllers may measure them. Exactly one kind is given."""

    accelerometer: AtMarker | None = None
    """Specific force at a marker, in its axes: acceleration less that of free fall."""

    bias: Sequence[float] | None = None
    """What every reading is off by: one number per channel; zero when absent."""

    encoder: Encoder | None = None
    """Angle or displacement of a joint."""

    force_torque: AtJoint | None = None
    """Force and moment that a joint exerts on the body written as its child, in the axes of the joint there."""

    gyroscope: AtMarker | None = None
    """Angular velocity of a marker, in its axes."""

    name: str
    """Name, unique among sensors, and not that of a joint, loop or support."""

    noise: Noise | None = None
    """Random part of the readings; none when absent."""

    strain: Strain | None = None
    """Axial strain at a point of a beam."""


@dataclass(kw_only=True)
class ShapedMode:
    """A mode that motions are not to excite."""

    damping_ratio: float | None = None
    """Its damping ratio, below 1; 0 when absent."""

    frequency_rad_per_s: float
    """Its undamped angular frequency."""


@dataclass(kw_only=True)
class Shaping:
    """Input shaping: every motion of the model is convolved with impulses that excite no vibration of some modes
    \\[Singer & Seering 1990\\]. Each mode delays the end of the motions, by half of a damped period with `zv` and
    by a whole one with `zvd`."""

    zv: Sequence[ShapedMode] | None = None
    """Modes by two impulses each: zero vibration."""

    zvd: Sequence[ShapedMode] | None = None
    """Modes by three impulses each: zero vibration, and zero derivative of it by the frequency."""


ShorteningTerms: TypeAlias = "Literal['none', 'kinematic', 'second_order', 'geometric_stiffness']"
"""Whether bent beams shorten."""


@dataclass(kw_only=True)
class Simulation:
    """Time span and integrator."""

    closure: Closure | None = None
    """How the equations of loops are formed; `automatic` when absent."""

    duration_s: float | None = None
    """How long to simulate; 1 s when absent."""

    element_crossings: ElementCrossings | None = None
    """What happens where a support passes a node of its beam."""

    initial: Initial | None = None
    """What the run begins with."""

    integrator: Integrator | None = None
    """The method that advances the motion in time; `auto` when absent."""

    start_s: float | None = None
    """The time at which the simulation starts."""


@dataclass(kw_only=True)
class SinesMotion:
    """A sum of sines of the time since `from_s`; the position is held outside."""

    amplitude_m: Sequence[float] | None = None
    """Amplitude of the displacement of every sine."""

    amplitude_rad: Sequence[float] | None = None
    """Amplitude of the angle of every sine."""

    frequency_rad_per_s: Sequence[float]
    """Angular frequency of every sine."""

    from_s: float | None = None
    """When the motion begins."""

    phase_rad: Sequence[float] | None = None
    """Phase of every sine; zero when absent."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class Slider:
    """A point that travels along an axis."""

    axis: Sequence[float]
    """Axis in ground axes, where its nodes stand at first."""

    damping_n_s_per_m: float | None = None
    """Damping of its travel."""

    from_: End
    """The end that carries the axis."""

    initial_rate_m_per_s: float | None = None
    """Rate at the start, where it is a degree of freedom."""

    initial_travel_m: float | None = None
    """Travel at the start, where it is a degree of freedom; that of its points as they stand when absent."""

    offset_roles: Sequence[Role] | None = None
    """What its offsets along y and z are; fixed when absent. In the plane the second is not there."""

    rest_travel_m: float | None = None
    """Travel at which its stiffness carries no force; zero, with both points in one place, when absent."""

    role: Role | None = None
    """What its travel is; a degree of freedom when absent."""

    stiffness_n_per_m: float | None = None
    """Stiffness of its travel."""

    to: str
    """Name of the point that travels."""


Slopes: TypeAlias = "Literal['free', 'tied']"
"""Whether a support holds the direction of a beam."""


@dataclass(kw_only=True)
class SphericalLimits:
    """Limits of a spherical joint."""

    max_angle_rad: float | None = None
    """Largest angle of rotation."""

    max_rate_rad_per_s: float | None = None
    """Largest rate of each component in either direction."""

    max_torque_n_m: float | None = None
    """Largest driving torque of each component in either direction."""


@dataclass(kw_only=True)
class SphericalMotor:
    """Equal motors about the three axes of a spherical joint."""

    gear_ratio: float | None = None
    """Turns of the rotor per turn of the joint; 1 when absent."""

    inertia_kg_m2: float
    """Inertia of each rotor about its own axis."""


@dataclass(kw_only=True)
class Spherical:
    """Any rotation, held as a unit quaternion."""

    friction: RevoluteFriction | None = None
    """Friction in the joint, on every component of the angular velocity."""

    initial_angular_velocity_rad_per_s: Sequence[float] | None = None
    """Angular velocity of the child relative to the parent at the start, in the child's axes."""

    initial_rotation_vector_rad: Sequence[float] | None = None
    """Rotation of the child at the start."""

    limits: SphericalLimits | None = None
    """Limits; a run reports when they are passed, nothing stops at them."""

    motor: SphericalMotor | None = None
    """A motor for each of the three axes."""

    spring: SphericalSpring | None = None
    """A spring and damper across the joint."""


@dataclass(kw_only=True)
class SphericalSpring:
    """A spring and damper that pull a spherical joint back along its rotation vector."""

    damping_n_m_s_per_rad: float | None = None
    """Damping."""

    stiffness_n_m_per_rad: float
    """Stiffness."""


Spline: TypeAlias = "Literal['cubic', 'quintic']"
"""Curves through the rows of a table."""


@dataclass(kw_only=True)
class SplinePath:
    """A cubic spline in space: tangent and curvature are continuous, and its ends are straight."""

    through_m: Sequence[Sequence[float]]
    """The points after its beginning."""


@dataclass(kw_only=True)
class Stabilized:
    """Settings of Baumgarte's stabilisation."""

    damping_ratio: float | None = None
    """Damping ratio of the decay; 1 when absent."""

    frequency_rad_per_s: float | None = None
    """Natural frequency at which violations decay; 100 rad/s when absent."""


@dataclass(kw_only=True)
class StateSpace:
    """The linear system $`\\dot x = A x + B (y - r)`$, $`u = C x + D (y - r)`$; of a sampled controller $`x_{k+1} =
    A x_k + B (y_k - r)`$, $`u_k = C x_k + D (y_k - r)`$."""

    a: Sequence[Sequence[float]] | None = None
    """Rows of $`A`$; none for a law without states."""

    b: Sequence[Sequence[float]] | None = None
    """Rows of $`B`$: one per state, with one column per channel measured."""

    c: Sequence[Sequence[float]] | None = None
    """Rows of $`C`$: one per drive, with one column per state."""

    d: Sequence[Sequence[float]] | None = None
    """Rows of $`D`$: one per drive, with one column per channel measured; zero when absent."""

    file: str | None = None
    """NPZ file below the folder of the model with matrices A, B, C, D, and perhaps r, instead of the other keys."""

    reference: Sequence[float] | None = None
    """Readings $`r`$ that count as zero, one per channel measured; zero when absent."""


@dataclass(kw_only=True)
class StaticForce:
    """A force on a marker or point before the start."""

    force_n: Sequence[float]
    """Force in ground axes."""

    marker: str
    """Name of the marker; of the point in a model of nodes and elements."""


@dataclass(kw_only=True)
class StaticLoad:
    """Loads before the start."""

    force: Sequence[StaticForce] | None = None
    """Forces on markers, or on points of a model of nodes and elements."""

    gravity_m_per_s2: Sequence[float] | None = None
    """Acceleration of free fall in ground axes; that of the model when absent."""


@dataclass(kw_only=True)
class Station:
    """The section of a member at a share of its length."""

    angle_rad: float | None = None
    """Angle by which the section is turned about the line."""

    offset_m: Sequence[float] | None = None
    """Where the origin of the section is, y, z from the line between the nodes."""

    section: Section
    """The section."""

    share: float
    """Share of the length from the first node, 0 to 1. Two stations at one share make a step."""


@dataclass(kw_only=True)
class Strain:
    """A strain gauge along the axis of a beam."""

    at_m: float
    """Distance from its root along it."""

    body: str
    """The beam."""

    offset_m: Sequence[float] | None = None
    """Place in the section, y and z of the body's axes; on the axis of the beam when absent."""


@dataclass(kw_only=True)
class Support:
    """A place that the bent axis of a beam always passes through, wherever along the beam that is: the mouth of a
    sleeve, a pair of rollers, a slider."""

    beam: str
    """Name of the beam that slides."""

    name: str
    """Name of the support, unique among supports, loops and joints."""

    on: Attachment
    """What holds it: a body with a place on it, or `ground`; a string may also be the name of a marker."""

    slopes: Slopes | None = None
    """Whether the support also holds the direction of the beam."""

    twist: Twist | None = None
    """Whether the support also holds the sections of the beam against turning about its axis."""


@dataclass(kw_only=True)
class Surface:
    """The surface of a reduced body, for pictures."""

    displacement: Sequence[Sequence[Sequence[float]]]
    """ψα of every point: n vectors each."""

    positions_m: Sequence[Sequence[float]]
    """Undeformed positions of its points in the body's frame."""

    stress_pa: Sequence[Sequence[Sequence[float]]] | None = None
    """Stress at every point, n times xx, yy, zz, xy, xz, yz, in Pa per unit of the coordinate; nothing if it is not
    known."""

    triangles: Sequence[Sequence[int]]
    """Corners of its triangles, as numbers of points from 0, against the clock when seen from outside."""


@dataclass(kw_only=True)
class TableMotion:
    """A spline with continuous acceleration through the rows of a table, at rest at the first and the last row; held
    beyond them."""

    angle_rad: Sequence[float] | None = None
    """The angle at every instant."""

    displacement_m: Sequence[float] | None = None
    """The displacement at every instant."""

    file: str | None = None
    """A CSV file of two columns, time and position, below the folder of the model, instead of the lists."""

    spline: Spline | None = None
    """Of which polynomials the curve between the rows consists."""

    time_s: Sequence[float] | None = None
    """Instants, rising."""


Tie: TypeAlias = "Literal['rigid', 'averaging']"
"""How the nodes of an interface and its frame move with each other."""


Tip: TypeAlias = "Literal['rigid', 'linear', 'euler_321', 'euler_123', 'exact', 'rotation_vector', 'chord', 'rotation_vector_plain_rate']"
"""How a node that carries another body moves, $`\\theta = \\sum \\theta_\\alpha \\eta_\\alpha`$ being its small
rotation \\[Damaren & Sharf 1995, section 2.4\\]."""


@dataclass(kw_only=True)
class TorqueConstant:
    """A constant torque."""

    value_n_m: float
    """The value."""


@dataclass(kw_only=True)
class TorqueCycloid:
    """A torque that goes from one value to another as a cycloid, without a jump in its rate."""

    duration_s: float
    """How long it takes."""

    final_n_m: float
    """The value after."""

    from_s: float | None = None
    """When the change begins."""

    initial_n_m: float | None = None
    """The value before."""


@dataclass(kw_only=True)
class TorquePolynomial:
    """A torque that is a polynomial in the time since `from_s`; zero outside."""

    coefficients_n_m: Sequence[float]
    """Coefficients from the constant upwards; the k-th is divided by s^k."""

    from_s: float | None = None
    """When it begins."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class TorqueSines:
    """A torque that is a sum of sines of the time since `from_s`; zero outside."""

    amplitude_n_m: Sequence[float]
    """Amplitude of every sine."""

    frequency_rad_per_s: Sequence[float]
    """Angular frequency of every sine."""

    from_s: float | None = None
    """When it begins."""

    phase_rad: Sequence[float] | None = None
    """Phase of every sine; zero when absent."""

    until_s: float | None = None
    """When it ends; never when absent."""


@dataclass(kw_only=True)
class TorqueStep:
    """A torque that is switched on and off; zero outside."""

    from_s: float | None = None
    """When it is switched on."""

    until_s: float | None = None
    """When it is switched off; never when absent."""

    value_n_m: float
    """The value while it is on."""


@dataclass(kw_only=True)
class TorqueTable:
    """A torque from a table, linear between its rows and constant beyond them."""

    file: str | None = None
    """A CSV file of two columns, time and value, below the folder of the model, instead of the two lists."""

    time_s: Sequence[float] | None = None
    """Instants, rising."""

    value_n_m: Sequence[float] | None = None
    """The value at every instant."""


@dataclass(kw_only=True)
class TrapezoidalMotion:
    """From one position to another, at rest at both ends: a ramp of constant acceleration, a constant rate, and a
    ramp back to rest. Held outside. Either `duration_s` and `ramp_s` are given, or the limits, under which it
    takes the shortest time: the largest rate is not reached on a way that is too short for it."""

    duration_s: float | None = None
    """How long it takes, both ramps included, instead of limits."""

    final_angle_rad: float | None = None
    """Angle after."""

    final_displacement_m: float | None = None
    """Displacement after."""

    from_s: float | None = None
    """When the motion begins."""

    initial_angle_rad: float | None = None
    """Angle before; the joint's initial angle when absent."""

    initial_displacement_m: float | None = None
    """Displacement before; the joint's initial displacement when absent."""

    max_acceleration_m_per_s2: float | None = None
    """Acceleration of a translation in the ramps."""

    max_acceleration_rad_per_s2: float | None = None
    """Acceleration of a rotation in the ramps."""

    max_rate_m_per_s: float | None = None
    """Largest rate of a translation."""

    max_rate_rad_per_s: float | None = None
    """Largest rate of a rotation."""

    ramp_s: float | None = None
    """How long each ramp takes, at most half of the duration."""


@dataclass(kw_only=True)
class Truss:
    """A bar between two points."""

    axial_stiffness_n: float | None = None
    """EA."""

    from_: str
    """Name of a point."""

    initial_elongation_m: float | None = None
    """Elongation at the start, where it is a degree of freedom; that of its points as they stand when absent."""

    initial_rate_m_per_s: float | None = None
    """Rate of elongation at the start, where it is a degree of freedom."""

    rest_length_m: float | None = None
    """Length from which its elongation counts, and at which it carries no force; the distance of its points when
    absent."""

    role: Role | None = None
    """What its elongation is; free (elastic) when absent."""

    to: str
    """Name of another point."""


@dataclass(kw_only=True)
class Tube:
    """A round tube."""

    diameter_m: float
    """Outer diameter."""

    wall_m: float
    """Thickness of the wall."""


Twist: TypeAlias = "Literal['free', 'tied']"
"""Whether a support holds the sections of a beam against turning about its axis."""


TwistComponent: TypeAlias = "Literal['x', 'y', 'z', 'rotation_x', 'rotation_y', 'rotation_z']"
"""A component of a velocity in ground axes."""


@dataclass(kw_only=True)
class UniversalClosure:
    """The axes of a universal loop."""

    axes: Sequence[Sequence[float]]
    """Axis in the frame of `from`, and axis in the frame of `to` that stays orthogonal to it."""


@dataclass(kw_only=True)
class Universal:
    """Two revolute joints in one place."""

    first: Revolute
    """Rotation next to the parent; its axis is in the joint's frame."""

    second: Revolute
    """Rotation next to the child; its axis is in the frame that the first rotation carries."""


@dataclass(kw_only=True)
class VisualBox:
    """A box."""

    edges_m: Sequence[float]
    """Edges along x, y and z."""


@dataclass(kw_only=True)
class VisualCylinder:
    """A cylinder along z."""

    diameter_m: float
    """Diameter."""

    length_m: float
    """Length along z."""


@dataclass(kw_only=True)
class VisualMesh:
    """Triangles from a file."""

    file: str
    """STL (text or binary) or OBJ file below the model's folder. If it cannot be read the model runs without it, and
    `lissom check` says so."""

    scale: Sequence[float] | None = None
    """Metres per unit of the file along x, y and z; negative factors mirror."""


@dataclass(kw_only=True)
class Visual:
    """A shape that the report draws on a rigid body or on the ground. Nothing but pictures depend on it. Exactly one
    of `mesh`, `box`, `cylinder` and `sphere` is given."""

    body: str
    """Name of the rigid body, or `ground`."""

    box: VisualBox | None = None
    """A box around the origin of its frame."""

    cylinder: VisualCylinder | None = None
    """A cylinder around the origin of its frame, along z."""

    mesh: VisualMesh | None = None
    """Triangles from a file."""

    position_m: Sequence[float] | None = None
    """Origin of the shape's frame in the body's frame."""

    rotation_vector_rad: Sequence[float] | None = None
    """Turns the axes of the body into those of the shape."""

    sphere: VisualSphere | None = None
    """A sphere around the origin of its frame."""


@dataclass(kw_only=True)
class VisualSphere:
    """A sphere."""

    diameter_m: float
    """Diameter."""


@dataclass(kw_only=True)
class Model:
    """A whole model: bodies, the joints that carry them, what acts on them and how to simulate it."""

    actuator: Sequence[Actuator] | None = None
    """Motors with limits, through which inputs and controllers act on their joints."""

    body: Sequence[Body] | None = None
    """Rigid and flexible bodies, in any order."""

    controller: Sequence[Controller] | None = None
    """Feedback that keeps joints on their nominal motion."""

    element: Sequence[Element] | None = None
    """Elements between nodes."""

    fidelity: Fidelity | None = None
    """Which terms the equations of motion keep."""

    format: int
    """Version of the file format; always 1."""

    formulation: Formulation | None = None
    """Which equations describe the mechanism; `tree` when absent."""

    gravity_m_per_s2: Sequence[float] | None = None
    """Acceleration of free fall in ground axes; zero when absent."""

    input: Sequence[Input] | None = None
    """Torques and forces that drive the model."""

    joint: Sequence[Joint] | None = None
    """Joints: each carries one child body on one parent body, or on the ground. Where they make loops, joints are
    cut until a tree remains."""

    loop: Sequence[Loop] | None = None
    """Loops: what holds two places together beyond the joints."""

    marker: Sequence[Marker] | None = None
    """Places whose motion is recorded and where forces may act."""

    motion: Sequence[Motion] | None = None
    """Joint motions that are prescribed instead of driven."""

    name: str | None = None
    """What the model is called in reports."""

    node: Sequence[ElementNode] | None = None
    """Nodes of a model that is written in nodes and elements."""

    nominal_motion: NominalMotion | None = None
    """How a marker is to move, for inputs with `nominal_motion = true`."""

    output: Output | None = None
    """What is written, and how often."""

    payload: Sequence[Payload] | None = None
    """Loads carried by a body."""

    sensor: Sequence[Sensor] | None = None
    """What is measured, for recordings and controllers."""

    shaping: Shaping | None = None
    """Shaping of all motions, so that they excite no vibration of some modes."""

    simulation: Simulation | None = None
    """Time span and integrator."""

    support: Sequence[Support] | None = None
    """Supports that beams slide through."""

    visual: Sequence[Visual] | None = None
    """What rigid bodies and the ground look like in reports, instead of shapes made up from their inertia."""
