//! Models with bodies and joints of chosen kinds.

use lissom_spec::spec::{
    AttachmentSpec, BasisSpec, BeamSpec, BodySpec, Boundary, DampingSpec, EachSpec, ElementsSpec,
    FidelitySpec, FixedSpec, FreeMotorSpec, FreeSpec, FunctionsSpec, GROUND, JointSpec, MarkerSpec,
    ModeCounts, ModelSpec, NodalNodeSpec, NodalSpec, NodeSpec, PayloadSpec, PointMassSpec,
    PrismaticMotorSpec, PrismaticSpec, RevoluteMotorSpec, RevoluteSpec, RigidSpec, SegmentSpec,
    SphericalMotorSpec, SphericalSpec, UniversalSpec,
};
use lissom_spec::{ShorteningTerms, Tip};

use super::Random;

/// A kind of body that may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomBody {
    /// Rigid.
    Rigid,
    /// A beam in clamped-free eigenfunctions.
    ClampedFree,
    /// A beam in free-free eigenfunctions.
    FreeFree,
    /// A beam of finite elements.
    Elements,
    /// A beam whose frame lies on its chord: sines in one plane, fixed-interface functions in the other.
    Chord,
    /// A nodal body.
    Nodal,
}

/// A kind of joint that may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomJoint {
    /// `revolute`
    Revolute,
    /// `prismatic`
    Prismatic,
    /// `fixed`
    Fixed,
    /// `universal`
    Universal,
    /// `spherical`
    Spherical,
    /// `free`
    Free,
}

/// What may occur in a random mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Variety<'a> {
    /// Number of bodies, payloads not counted.
    pub bodies: usize,
    /// Kinds of bodies, taken in turn.
    pub body_kinds: &'a [RandomBody],
    /// Kinds of joints, taken in turn.
    pub joint_kinds: &'a [RandomJoint],
    /// Whether bodies may carry several others, and several may stand on the ground.
    pub branching: bool,
    /// Whether the only joint on the ground is a free one.
    pub floating: bool,
    /// Whether elastic coordinates are damped and payloads carried.
    pub extras: bool,
    /// Shortening of bent beams.
    pub shortening: ShorteningTerms,
    /// How nodes carry other bodies.
    pub tip: Tip,
}

impl Variety<'static> {
    /// Every kind of body.
    pub const BODIES: &'static [RandomBody] = &[
        RandomBody::Rigid,
        RandomBody::ClampedFree,
        RandomBody::FreeFree,
        RandomBody::Elements,
        RandomBody::Nodal,
        RandomBody::Chord,
    ];
    /// Every kind of joint. All pairs with kinds of bodies meet after as many bodies as there are pairs.
    pub const JOINTS: &'static [RandomJoint] = &[
        RandomJoint::Revolute,
        RandomJoint::Prismatic,
        RandomJoint::Fixed,
        RandomJoint::Universal,
        RandomJoint::Spherical,
        RandomJoint::Free,
    ];
    /// Joints whose positions are vectors with the velocities for rates.
    pub const VECTOR_JOINTS: &'static [RandomJoint] = &[
        RandomJoint::Revolute,
        RandomJoint::Prismatic,
        RandomJoint::Universal,
        RandomJoint::Fixed,
    ];

    /// A branched tree of `bodies` bodies in which everything occurs.
    pub const fn everything(bodies: usize) -> Self {
        Self {
            bodies,
            body_kinds: Self::BODIES,
            joint_kinds: Self::JOINTS,
            branching: true,
            floating: false,
            extras: true,
            shortening: ShorteningTerms::Kinematic,
            tip: Tip::RotationVector,
        }
    }
}

impl Variety<'_> {
    /// The mechanism of a seed, with a marker on every body, named like the body.
    pub fn mechanism(&self, seed: u64) -> ModelSpec {
        let mut random = Random::new(seed);
        let mut spec = ModelSpec {
            gravity_m_per_s2: random.vector(10.0),
            fidelity: FidelitySpec {
                shortening: Some(self.shortening),
                tip: Some(self.tip),
                ..FidelitySpec::default()
            },
            ..ModelSpec::default()
        };
        let (first_body, first_joint) = (
            random.below(self.body_kinds.len()),
            random.below(self.joint_kinds.len()),
        );
        for k in 0..self.bodies {
            let kind = self.body_kinds[(first_body + k) % self.body_kinds.len()];
            let name = format!("body_{k}");
            spec.body.push(self.body(&mut random, name.clone(), kind));

            let parent = self.parent(&mut random, &spec.body[..k]);
            let floats = self.floating && parent.is_ground();
            let joint = if floats {
                RandomJoint::Free
            } else {
                let round = k / self.body_kinds.len();
                self.joint_kinds[(first_joint + k + round) % self.joint_kinds.len()]
            };
            let child = AttachmentSpec {
                rotation_vector_rad: random.vector(1.0),
                ..inboard(&mut random, &spec.body[k])
            };
            let name = format!("joint_{k}");
            let mut joint = joint_of(&mut random, name, joint, parent, child);
            if let (true, Some(free)) = (floats, &mut joint.free) {
                // the rotors of a motor on the ground would push from outside
                free.motor = None;
            }
            spec.joint.push(joint);

            let place = outboard(&mut random, &spec.body[k]);
            spec.marker.push(MarkerSpec {
                name: format!("body_{k}"),
                body: place.body,
                at: place.at,
                position_m: place.position_m,
            });
            if self.extras && random.one_in(3) {
                let place = outboard(&mut random, &spec.body[k]);
                let [x, y, z]: [f64; 3] = std::array::from_fn(|_| random.uniform(1e-3, 1e-2));
                spec.payload.push(PayloadSpec {
                    name: format!("payload_{k}"),
                    body: place.body,
                    at: place.at,
                    position_m: place.position_m,
                    mass_kg: random.uniform(0.2, 1.0),
                    center_of_mass_m: random.vector(0.1),
                    inertia_kg_m2: [y + z, x + z, x + y],
                    products_of_inertia_kg_m2: random.vector(5e-4),
                });
            }
        }
        spec
    }

    fn parent(&self, random: &mut Random, bodies: &[BodySpec]) -> AttachmentSpec {
        let on_ground =
            bodies.is_empty() || (self.branching && !self.floating && random.one_in(12));
        let place = if on_ground {
            AttachmentSpec {
                position_m: Some(random.vector(0.5)),
                ..AttachmentSpec::new(GROUND)
            }
        } else {
            let mut carrier = bodies.len() - 1;
            if self.branching && random.one_in(2) {
                carrier = random.below(bodies.len());
            }
            outboard(random, &bodies[carrier])
        };
        AttachmentSpec {
            rotation_vector_rad: random.vector(1.0),
            ..place
        }
    }

    fn body(&self, random: &mut Random, name: String, kind: RandomBody) -> BodySpec {
        let mut body = BodySpec {
            name,
            ..BodySpec::default()
        };
        if self.extras && kind != RandomBody::Rigid && random.one_in(2) {
            body.damping = Some(DampingSpec::ModalRatio(random.uniform(0.005, 0.05)));
        }
        match kind {
            RandomBody::Rigid => {
                let [x, y, z]: [f64; 3] = std::array::from_fn(|_| random.uniform(0.01, 0.1));
                body.rigid = Some(RigidSpec {
                    mass_kg: random.uniform(0.5, 3.0),
                    center_of_mass_m: random.vector(0.3),
                    inertia_kg_m2: [y + z, x + z, x + y],
                    products_of_inertia_kg_m2: random.vector(5e-3),
                });
                body.node.push(NodeSpec {
                    name: "flange".to_owned(),
                    position_m: random.vector(0.4),
                });
                body.point_mass.push(PointMassSpec {
                    mass_kg: random.uniform(0.1, 0.5),
                    position_m: Some(random.vector(0.3)),
                    ..PointMassSpec::default()
                });
            }
            RandomBody::Nodal => body.nodal = Some(nodal(random)),
            _ => {
                let beam = beam(random, kind);
                let length = beam.total_length_m();
                body.node.push(NodeSpec {
                    name: "middle".to_owned(),
                    position_m: [length * random.uniform(0.3, 0.8), 0.0, 0.0],
                });
                if random.one_in(2) {
                    body.point_mass.push(PointMassSpec {
                        mass_kg: random.uniform(0.1, 0.5),
                        position_m: Some([length * random.uniform(0.2, 1.0), 0.0, 0.0]),
                        ..PointMassSpec::default()
                    });
                }
                body.beam = Some(beam);
            }
        }
        body
    }
}

/// A soft beam, so that its elastic forces do not hide the inertial ones.
fn beam(random: &mut Random, kind: RandomBody) -> BeamSpec {
    let mut counts = ModeCounts {
        bending_y: 1 + random.below(2),
        bending_z: random.below(3),
        stretch: random.below(2),
        torsion: random.below(2),
        ..ModeCounts::default()
    };
    let mut segment = |length_m: f64| SegmentSpec {
        length_m,
        mass_per_length_kg_per_m: random.uniform(0.5, 2.0),
        bending_stiffness_y_n_m2: Some(random.uniform(10.0, 50.0)),
        bending_stiffness_z_n_m2: Some(random.uniform(10.0, 50.0)),
        axial_stiffness_n: Some(random.uniform(1e3, 4e3)),
        torsional_stiffness_n_m2: Some(random.uniform(5.0, 20.0)),
        section_inertia_y_kg_m: random.uniform(1e-3, 5e-3),
        section_inertia_z_kg_m: random.uniform(1e-3, 5e-3),
        elements: None,
    };
    let mut segments = vec![segment(0.7), segment(0.5)];
    if random.one_in(2) {
        segments.truncate(1);
    }
    let basis = match kind {
        RandomBody::FreeFree => {
            counts.stretch = 0;
            BasisSpec::FreeFree(counts)
        }
        RandomBody::Elements => {
            let floats = random.one_in(2);
            let reduced = floats || random.one_in(2);
            BasisSpec::Elements(ElementsSpec {
                count: Some(if reduced { 3 } else { 1 }),
                modes: reduced.then_some(1),
                stretch: counts.stretch > 0,
                torsion: counts.torsion > 0,
                boundary: if floats {
                    Boundary::Free
                } else {
                    Boundary::Clamped
                },
                ..ElementsSpec::default()
            })
        }
        RandomBody::Chord => BasisSpec::Each(EachSpec {
            bending_y: Some(FunctionsSpec::PinnedPinned(counts.bending_y)),
            bending_z: Some(FunctionsSpec::FixedInterface(2)),
            stretch: None,
            torsion: Some(FunctionsSpec::FixedInterface(counts.torsion)),
        }),
        _ => BasisSpec::ClampedFree(counts),
    };
    BeamSpec {
        length_m: None,
        section: None,
        material: None,
        mass_per_length_kg_per_m: None,
        bending_stiffness_y_n_m2: None,
        bending_stiffness_z_n_m2: None,
        axial_stiffness_n: None,
        torsional_stiffness_n_m2: None,
        section_inertia_y_kg_m: 0.0,
        section_inertia_z_kg_m: 0.0,
        segments,
        rotary_inertia: random.one_in(2),
        basis,
    }
}

/// Nodes named `0`, `1`, …; the first one is at rest in the body's frame in half of the cases.
fn nodal(random: &mut Random) -> NodalSpec {
    let modes = 2 + random.below(2);
    let clamped = random.one_in(2);
    let mut nodes = Vec::new();
    for index in 0_u8..4 {
        let mass = random.uniform(0.1, 0.5);
        let centre = random.vector(0.05);
        // inertia of the mass at its centre, and of three points beside it on the axes
        let [x, y, z]: [f64; 3] = std::array::from_fn(|_| random.uniform(1e-3, 3e-3));
        let own = [y + z, x + z, x + y];
        let squared: f64 = centre.iter().map(|c| c * c).sum();
        let inertia = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let diagonal = if i == j { own[i] + mass * squared } else { 0.0 };
                diagonal - mass * centre[i] * centre[j]
            })
        });
        let size = if clamped && index == 0 { 0.0 } else { 1.0 };
        let along = 0.3 * f64::from(index);
        let aside = random.vector(0.1);
        nodes.push(NodalNodeSpec {
            name: Some(index.to_string()),
            position_m: [along + aside[0], aside[1], aside[2]],
            mass_kg: mass,
            center_of_mass_m: centre,
            inertia_kg_m2: inertia,
            influence: (0..6).map(|_| random.list(modes, size)).collect(),
        });
    }
    // a diagonal that outweighs the rest is positive definite
    let coupling = random.uniform(1.0, 5.0);
    let stiffness = (0..modes)
        .map(|i| {
            (0..modes)
                .map(|j| {
                    if i == j {
                        40.0 + 10.0 * i as f64
                    } else {
                        coupling
                    }
                })
                .collect()
        })
        .collect();
    NodalSpec {
        coordinates: Vec::new(),
        nodes,
        stiffness,
    }
}

/// A place to which something can be attached.
fn outboard(random: &mut Random, body: &BodySpec) -> AttachmentSpec {
    let mut place = AttachmentSpec::new(&body.name);
    if body.nodal.is_some() {
        place.at = Some((1 + random.below(3)).to_string());
    } else if let Some(beam) = &body.beam {
        match random.below(4) {
            0 => place.at = Some("middle".to_owned()),
            1 => {
                let x = beam.total_length_m() * random.uniform(0.4, 1.0);
                place.position_m = Some([x, 0.0, 0.0]);
            }
            _ => {}
        }
    } else if random.one_in(2) {
        place.at = Some("flange".to_owned());
    } else {
        place.position_m = Some(random.vector(0.4));
    }
    place
}

/// A place by which a body can be carried; not always one at rest in its frame.
fn inboard(random: &mut Random, body: &BodySpec) -> AttachmentSpec {
    let mut place = AttachmentSpec::new(&body.name);
    if body.nodal.is_some() {
        place.at = Some("0".to_owned());
    } else if body.beam.is_some() {
        if random.one_in(3) {
            place.at = Some("middle".to_owned());
        }
    } else {
        place.position_m = Some(random.vector(0.2));
    }
    place
}

fn joint_of(
    random: &mut Random,
    name: String,
    kind: RandomJoint,
    parent: AttachmentSpec,
    child: AttachmentSpec,
) -> JointSpec {
    let mut joint = JointSpec {
        name,
        parent,
        child,
        ..JointSpec::default()
    };
    let geared = random.one_in(2);
    let revolute = |random: &mut Random| RevoluteSpec {
        axis: random.axis(),
        motor: geared.then(|| RevoluteMotorSpec {
            inertia_kg_m2: random.uniform(1e-5, 1e-4),
            gear_ratio: 50.0,
            stiffness_n_m_per_rad: None,
            damping_n_m_s_per_rad: 0.0,
        }),
        ..RevoluteSpec::default()
    };
    match kind {
        RandomJoint::Revolute => joint.revolute = Some(revolute(random)),
        RandomJoint::Universal => {
            joint.universal = Some(UniversalSpec {
                first: RevoluteSpec {
                    axis: [1.0, random.signed(0.5), random.signed(0.5)],
                    ..revolute(random)
                },
                second: RevoluteSpec {
                    axis: [random.signed(0.5), 1.0, random.signed(0.5)],
                    ..revolute(random)
                },
            });
        }
        RandomJoint::Prismatic => {
            joint.prismatic = Some(PrismaticSpec {
                axis: random.axis(),
                motor: geared.then(|| PrismaticMotorSpec {
                    inertia_kg_m2: random.uniform(1e-5, 1e-4),
                    gear_ratio_rad_per_m: 100.0,
                    ..PrismaticMotorSpec::default()
                }),
                ..PrismaticSpec::default()
            });
        }
        RandomJoint::Fixed => joint.fixed = Some(FixedSpec {}),
        RandomJoint::Spherical => {
            joint.spherical = Some(SphericalSpec {
                motor: geared.then_some(SphericalMotorSpec {
                    inertia_kg_m2: 1e-3,
                    gear_ratio: 5.0,
                }),
                ..SphericalSpec::default()
            });
        }
        RandomJoint::Free => {
            joint.free = Some(FreeSpec {
                motor: geared.then_some(FreeMotorSpec {
                    angular_inertia_kg_m2: 1e-3,
                    angular_gear_ratio: 5.0,
                    linear_inertia_kg_m2: 1e-5,
                    linear_gear_ratio_rad_per_m: 100.0,
                }),
                ..FreeSpec::default()
            });
        }
    }
    joint
}
