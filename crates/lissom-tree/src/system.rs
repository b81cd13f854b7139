//! [`System`]: a tree of rigid and flexible bodies, valid or absent.
//!
//! # Invariants
//!
//! - Bodies stand parents first: `bodies[k].parent < k`, so every recursion is one loop.
//! - Every number is finite, every mass matrix that a recursion factors is positive definite as far as
//!   the data can tell (a massless cross of a universal joint always carries a massive body).
//! - Coordinates stand in the order of the bodies: first the joint's, then the elastic ones.
//! - A place on a flexible body that no elastic coordinate moves is a [`Place::Fixed`].

use crate::flex::{
    FlexibleBody, PackedField, PackedStrain, ShorteningInertia, ShorteningSums, SpannedField,
};
use crate::joint::{Joint, JointGeometry};
use lissom_spatial::{Matrix, Motion, RigidInertia, Transform, Vector};
use lissom_spec::{Elasticity, Fidelity, ShorteningTerms, Tip};

/// A mechanism that the recursions can run on.
#[derive(Clone, Debug)]
pub struct System {
    bodies: Vec<Body>,
    gravity: Vector<f64>,
    layout: Layout,
    joint_geometry: Vec<JointGeometry>,
    hinge_motions: Vec<Motion<f64>>,
    shortening: Vec<Option<ShorteningInertia>>,
    centrifugal_stiffness: Vec<Option<Vec<f64>>>,
    strain: Vec<Option<PackedStrain>>,
}

/// One body with the joint that carries it.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name, unique in the system.
    pub name: String,
    /// Index of the body it hangs on; `None` is the ground.
    pub parent: Option<usize>,
    /// The joint between the parent and this body.
    pub joint: Joint,
    /// Where the joint sits on the parent.
    pub outboard: Place,
    /// Where the joint sits on this body.
    pub inboard: Place,
    /// Mass properties of the undeformed body.
    pub rigid: RigidInertia<f64>,
    /// How it bends; `None` for a rigid body.
    pub flexible: Option<FlexibleBody>,
    /// Which of its terms are kept.
    pub fidelity: Fidelity,
}

/// Where a joint or a marker sits on a body.
#[derive(Clone, Debug)]
pub enum Place {
    /// At a pose that does not change in the body's frame.
    Fixed(Transform<f64>),
    /// At a node of a flexible body, displaced from the node's frame by `offset`.
    Node {
        /// Index into [`FlexibleBody::nodes`].
        index: usize,
        /// Pose in the node's frame.
        offset: Transform<f64>,
    },
}

impl Place {
    /// The constant part of the pose: in the body's frame, or in the node's.
    pub fn offset(&self) -> &Transform<f64> {
        match self {
            Self::Fixed(pose) | Self::Node { offset: pose, .. } => pose,
        }
    }

    /// Where the place is in the undeformed body.
    #[must_use]
    pub fn undeformed(self, flexible: Option<&FlexibleBody>) -> Self {
        match (self, flexible) {
            (Self::Node { index, offset }, Some(body)) => {
                let node = Transform::new(Matrix::identity(), Vector(body.nodes[index].position));
                Self::Fixed(node * offset)
            }
            (Self::Node { offset, .. }, None) => Self::Fixed(offset),
            (fixed, _) => fixed,
        }
    }

    /// The place as the recursions want it: a node that nothing moves becomes a fixed pose.
    #[must_use]
    pub fn simplified(self, flexible: Option<&FlexibleBody>) -> Self {
        let Self::Node { index, offset } = self else {
            return self;
        };
        let Some(node) = flexible.map(|f| &f.nodes[index]) else {
            return Self::Fixed(offset);
        };
        let still = |v: &[[f64; 3]]| v.iter().flatten().all(|&x| x == 0.0);
        if still(&node.displacement)
            && still(&node.rotation)
            && node.second_order.iter().all(|&x| x == 0.0)
        {
            let node_pose = Transform::new(Matrix::identity(), Vector(node.position));
            Self::Fixed(node_pose * offset)
        } else {
            Self::Node { index, offset }
        }
    }
}

impl Body {
    /// Number of elastic coordinates.
    pub fn modes(&self) -> usize {
        self.flexible.as_ref().map_or(0, |f| f.coordinates.len())
    }
}

/// Where the coordinates of every body stand in the vectors of the system.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// First joint position of every body.
    pub joint_position: Vec<usize>,
    /// First joint velocity of every body.
    pub joint_velocity: Vec<usize>,
    /// First elastic position of every body.
    pub elastic_position: Vec<usize>,
    /// First elastic velocity of every body.
    pub elastic_velocity: Vec<usize>,
    /// First elastic coordinate of every body, counted over elastic coordinates only; one more at the end.
    pub elastic: Vec<usize>,
    /// First entry of every body's modal square blocks; one more at the end.
    pub modal_block: Vec<usize>,
    /// First joint degree of freedom of every body, counted over joints only; one more at the end.
    pub hinge: Vec<usize>,
    /// First entry of every joint's square block; one more at the end.
    pub hinge_block: Vec<usize>,
    /// First influence of the parent's elastic coordinates on every body; one more at the end.
    pub influence: Vec<usize>,
    /// First entry of the orientation (a quaternion) of the node that carries the body, where its parent's tip
    /// is exact.
    pub orientation: Vec<Option<usize>>,
    /// Length of the position vector.
    pub positions: usize,
    /// Length of the velocity vector.
    pub velocities: usize,
}

impl Layout {
    fn new(bodies: &[Body]) -> Self {
        let mut l = Self::default();
        let (mut elastic, mut block, mut hinge, mut hinge_block, mut influence) = (0, 0, 0, 0, 0);
        for body in bodies {
            let n = body.modes();
            let kind = &body.joint.kind;
            l.elastic.push(elastic);
            l.modal_block.push(block);
            l.hinge.push(hinge);
            l.hinge_block.push(hinge_block);
            l.influence.push(influence);
            l.joint_position.push(l.positions);
            l.joint_velocity.push(l.velocities);
            l.elastic_position.push(l.positions + kind.positions());
            l.elastic_velocity.push(l.velocities + kind.velocities());
            l.positions += kind.positions() + n;
            l.velocities += kind.velocities() + n;
            elastic += n;
            block += n * n;
            hinge += kind.velocities();
            hinge_block += kind.velocities() * kind.velocities();
            l.orientation.push(None);
            if let (Some(parent), Place::Node { .. }) = (body.parent, &body.outboard) {
                influence += bodies[parent].modes();
                if bodies[parent].fidelity.tip == Tip::Exact {
                    l.orientation.pop();
                    l.orientation.push(Some(l.positions));
                    l.positions += 4;
                }
            }
        }
        l.elastic.push(elastic);
        l.modal_block.push(block);
        l.hinge.push(hinge);
        l.hinge_block.push(hinge_block);
        l.influence.push(influence);
        l
    }
}

impl System {
    /// Bodies in the order parents first; whoever calls has checked what the invariants ask for.
    pub fn new(bodies: Vec<Body>, gravity: Vector<f64>) -> Self {
        debug_assert!(
            bodies
                .iter()
                .enumerate()
                .all(|(k, body)| body.parent.is_none_or(|parent| parent < k))
        );
        let layout = Layout::new(&bodies);
        let joint_geometry = bodies
            .iter()
            .map(|b| JointGeometry::new(&b.joint.kind, b.outboard.offset(), b.inboard.offset()))
            .collect();
        let hinge_motions = bodies
            .iter()
            .flat_map(|body| body.joint.kind.motions(body.inboard.offset()))
            .collect();
        let shortening = bodies
            .iter()
            .map(|body| {
                let flexible = body.flexible.as_ref().filter(|own| !own.is_empty())?;
                let field = flexible.second_order.as_ref()?;
                let integrals = &flexible.second_order_integrals;
                match (body.fidelity.shortening, integrals) {
                    (ShorteningTerms::None | ShorteningTerms::GeometricStiffness, _) => None,
                    (_, Some(integrals)) => {
                        let spanned = SpannedField::new(flexible, integrals);
                        Some(ShorteningInertia::Integrals(spanned))
                    }
                    (ShorteningTerms::Kinematic, None) => {
                        Some(ShorteningInertia::Full(PackedField::new(flexible, field)))
                    }
                    (ShorteningTerms::SecondOrder, None) => {
                        let sums = ShorteningSums::new(flexible, field);
                        Some(ShorteningInertia::SecondOrder(sums))
                    }
                }
            })
            .collect();
        let centrifugal_stiffness = bodies
            .iter()
            .map(|body| {
                let stiffens = body.fidelity.shortening == ShorteningTerms::GeometricStiffness;
                let flexible = body.flexible.as_ref().filter(|_| stiffens)?;
                flexible.centrifugal_stiffness()
            })
            .collect();
        let strain = bodies
            .iter()
            .map(|body| {
                let nonlinear = body.fidelity.elasticity != Elasticity::Linear && body.modes() > 0;
                let beam = body.flexible.as_ref()?.strain.as_ref()?;
                nonlinear.then(|| PackedStrain::new(beam))
            })
            .collect();
        Self {
            bodies,
            gravity,
            layout,
            joint_geometry,
            hinge_motions,
            shortening,
            centrifugal_stiffness,
            strain,
        }
    }

    /// The bodies, parents first.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Gravitational acceleration in the ground frame.
    pub fn gravity(&self) -> Vector<f64> {
        self.gravity
    }

    /// Where the coordinates stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How the pose of every body follows from its joint's position.
    pub(crate) fn joint_geometry(&self) -> &[JointGeometry] {
        &self.joint_geometry
    }

    /// Motion of the inboard place per unit of every joint velocity, as [`Layout::hinge`] counts them.
    pub(crate) fn hinge_motions(&self) -> &[Motion<f64>] {
        &self.hinge_motions
    }

    /// What moves the points of a body to second order, where there is such a thing and the fidelity keeps it.
    pub(crate) fn shortening(&self, body: usize) -> Option<&ShorteningInertia> {
        self.shortening[body].as_ref()
    }

    /// Stiffness of a body per square of its angular velocity across its axis, n × n by rows, where the fidelity
    /// asks for it.
    pub(crate) fn centrifugal_stiffness(&self, body: usize) -> Option<&[f64]> {
        self.centrifugal_stiffness[body].as_deref()
    }

    /// The axial strain of a body, where it has one and the fidelity keeps its nonlinear part.
    pub(crate) fn strain(&self, body: usize) -> Option<&PackedStrain> {
        self.strain[body].as_ref()
    }

    /// Length of the position vector.
    pub fn position_count(&self) -> usize {
        self.layout.positions
    }

    /// Length of the velocity vector: the number of degrees of freedom.
    pub fn velocity_count(&self) -> usize {
        self.layout.velocities
    }

    /// The same mechanism with no joint prescribed.
    #[must_use]
    pub fn released(&self) -> Self {
        let mut free = self.clone();
        for body in &mut free.bodies {
            body.joint.prescribed = false;
        }
        free
    }

    /// The same mechanism with every flexible body held in its undeformed shape.
    #[must_use]
    pub fn rigidified(&self) -> Self {
        let mut bodies = self.bodies.clone();
        for (k, body) in bodies.iter_mut().enumerate() {
            let own = &self.bodies[k];
            let parent = own.parent.and_then(|p| self.bodies[p].flexible.as_ref());
            body.outboard = own.outboard.clone().undeformed(parent);
            body.inboard = own.inboard.clone().undeformed(own.flexible.as_ref());
            body.flexible = None;
        }
        Self::new(bodies, self.gravity)
    }
}
