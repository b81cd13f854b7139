//! Unknowns of a mesh, and the frames of its interfaces.
//!
//! A node is free, with three unknowns, or tied to a frame with six: three displacements and a rotation vector $`\theta`$. To
//! second order a tied node at $`\rho`$ from the origin of its frame moves by
//! $`t + \theta\times\rho + \tfrac12\theta\times(\theta\times\rho)`$. An interface that averages leaves its nodes free, and its frame moves as
//! the rigid body does that is nearest to them: by the mean of their displacements, and by the rotation of least squares.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, Matrix3, Vector3};

use crate::FeError;
use crate::finite_elements::Field;
use crate::mesh::Mesh;
use crate::structure::Frame;
use lissom_spec::spec::{InterfaceSpec, TieSpec};

/// An interface with its frame.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) origin: [f64; 3],
    pub(crate) nodes: Vec<usize>,
    pub(crate) tie: TieSpec,
}

/// What a node of the mesh moves with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Motion {
    /// Nothing: it belongs to no element.
    None,
    /// Its own unknowns, from this one on.
    Free(usize),
    /// The frame whose unknowns begin here, at this offset from its origin.
    Tied(usize, [f64; 3]),
}

/// The unknowns.
pub(crate) struct Ties {
    motion: Vec<Motion>,
    /// Frames of the interfaces.
    pub(crate) frames: Vec<Frame>,
    pub(crate) unknowns: usize,
    /// Where every unknown is, for messages.
    pub(crate) places: Vec<[f64; 3]>,
}

impl Interface {
    /// Finds the nodes among those that are `used`; some of them may have rotations of their own.
    ///
    /// # Errors
    /// For groups that are not there, have no nodes in use, or nodes on a line.
    pub(crate) fn all(
        mesh: &Mesh,
        used: &BTreeSet<usize>,
        turns: impl Fn(usize) -> bool,
        specs: &[InterfaceSpec],
    ) -> Result<Vec<Self>, FeError> {
        let mut found: Vec<Self> = Vec::new();
        for spec in specs {
            let group = spec.group.as_ref().unwrap_or(&spec.name);
            let nodes: Vec<usize> = (mesh.groups[mesh.place_group(group)?].nodes)
                .intersection(used)
                .copied()
                .collect();
            if nodes.is_empty() {
                return Err(FeError::EmptyInterface {
                    interface: spec.name.clone(),
                    group: group.clone(),
                });
            }
            let own: BTreeSet<usize> = nodes.iter().copied().collect();
            if let Some(other) =
                (found.iter()).find(|other| other.nodes.iter().any(|node| own.contains(node)))
            {
                return Err(FeError::SharedNodes {
                    first: other.name.clone(),
                    second: spec.name.clone(),
                });
            }
            let count = nodes.len();
            let mean = mean_of(mesh, &nodes);
            let holds_rotation =
                spec.tie == TieSpec::Rigid && nodes.iter().any(|&node| turns(node));
            if !holds_rotation && on_line(mesh, &nodes) {
                let interface = spec.name.clone();
                return Err(FeError::InterfaceOnLine { interface, count });
            }
            found.push(Self {
                name: spec.name.clone(),
                origin: spec.position_m.unwrap_or(mean),
                nodes,
                tie: spec.tie,
            });
        }
        Ok(found)
    }

    /// $`\sum f_i \rho_{ij}`$ of forces on the nodes: what second-order motion of a tie works against.
    pub(crate) fn moments(&self, mesh: &Mesh, forces: &Field) -> Matrix3<f64> {
        let mut moments = Matrix3::zeros();
        for &node in &self.nodes {
            let offset = Vector3::from(self.offset(mesh, node));
            moments += Vector3::from(forces[node]) * offset.transpose();
        }
        moments
    }

    pub(crate) fn offset(&self, mesh: &Mesh, node: usize) -> [f64; 3] {
        std::array::from_fn(|k| mesh.nodes[node][k] - self.origin[k])
    }

    /// The frame of an interface whose nodes are free, as forces on them that unit forces and moments on the frame are: three
    /// displacements and three rotations.
    pub(crate) fn averages(&self, mesh: &Mesh) -> [Vec<(usize, [f64; 3])>; 6] {
        let count = self.nodes.len() as f64;
        let offsets: Vec<Vector3<f64>> = (self.nodes.iter())
            .map(|&node| Vector3::from(self.offset(mesh, node)))
            .collect();
        let mean = offsets.iter().sum::<Vector3<f64>>() / count;
        let inertia: Matrix3<f64> = (offsets.iter())
            .map(|offset| -(offset - mean).cross_matrix().pow(2))
            .sum();
        // the nodes are on no line
        let inverse = inertia
            .cholesky()
            .map_or_else(Matrix3::zeros, |factor| factor.inverse());
        std::array::from_fn(|row| {
            let [force, moment] = if row < 3 {
                let force = Vector3::ith(row, 1.0);
                // of the force about the mean of the nodes
                [force, (-mean).cross(&force)]
            } else {
                [Vector3::zeros(), Vector3::ith(row - 3, 1.0)]
            };
            let turn = inverse * moment;
            let own = |(&node, offset): (&usize, &Vector3<f64>)| {
                let force = force / count + turn.cross(&(offset - mean));
                (node, force.into())
            };
            self.nodes.iter().zip(&offsets).map(own).collect()
        })
    }
}

fn mean_of(mesh: &Mesh, nodes: &[usize]) -> [f64; 3] {
    let sum = |k: usize| nodes.iter().map(|&node| mesh.nodes[node][k]).sum::<f64>();
    std::array::from_fn(|k| sum(k) / nodes.len() as f64)
}

/// Whether nodes have no extent across one direction.
pub(crate) fn on_line(mesh: &Mesh, nodes: &[usize]) -> bool {
    /// Second largest variance over the largest: far below that of any surface, far above rounding.
    const FLAT: f64 = 1e-12;
    let mean = mean_of(mesh, nodes);
    let mut variance = Matrix3::zeros();
    for &node in nodes {
        let offset = Vector3::from(mesh.nodes[node]) - Vector3::from(mean);
        variance += offset * offset.transpose();
    }
    let mut values: Vec<f64> = variance.symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values[1] <= FLAT * values[2]
}

impl Ties {
    /// Ties interfaces to frames.
    pub(crate) fn new(mesh: &Mesh, interfaces: &[Interface]) -> Self {
        let mut ties = Self {
            motion: vec![Motion::None; mesh.nodes.len()],
            frames: Vec::new(),
            unknowns: 0,
            places: Vec::new(),
        };
        for interface in interfaces.iter().filter(|own| own.tie == TieSpec::Rigid) {
            for &node in &interface.nodes {
                ties.motion[node] = Motion::Tied(ties.places.len(), interface.offset(mesh, node));
            }
            ties.places.extend([interface.origin; 6]);
        }
        for &node in mesh.solids.iter().flat_map(|solid| &solid.nodes) {
            if ties.motion[node] == Motion::None {
                ties.motion[node] = Motion::Free(ties.places.len());
                ties.places.extend([mesh.nodes[node]; 3]);
            }
        }
        ties.unknowns = ties.places.len();
        ties.frames = (interfaces.iter())
            .map(|interface| ties.frame(mesh, interface))
            .collect();
        ties
    }

    fn frame(&self, mesh: &Mesh, interface: &Interface) -> Frame {
        match (interface.tie, self.motion[interface.nodes[0]]) {
            (TieSpec::Rigid, Motion::Tied(first, _)) => {
                std::array::from_fn(|k| vec![(first + k, 1.0)])
            }
            _ => interface.averages(mesh).map(|forces| {
                let unknowns = |(node, force): (usize, [f64; 3])| {
                    let first = match self.motion[node] {
                        Motion::Free(first) => Some(first),
                        Motion::None | Motion::Tied(..) => None,
                    };
                    first.into_iter().flat_map(move |first| {
                        (force.into_iter().enumerate()).map(move |(k, force)| (first + k, force))
                    })
                };
                forces.into_iter().flat_map(unknowns).collect()
            }),
        }
    }

    /// Displacements along x, y, z and rotations about the axes through the origin.
    pub(crate) fn rigid_motions(&self, mesh: &Mesh, interfaces: &[Interface]) -> Vec<Vec<f64>> {
        let motion = |k: usize| {
            let [translation, rotation] = if k < 3 {
                [Vector3::ith(k, 1.0), Vector3::zeros()]
            } else {
                [Vector3::zeros(), Vector3::ith(k - 3, 1.0)]
            };
            let moved = |at: [f64; 3]| translation + rotation.cross(&Vector3::from(at));
            let mut unknowns = vec![0.0; self.unknowns];
            for (motion, &at) in self.motion.iter().zip(&mesh.nodes) {
                if let Motion::Free(first) = *motion {
                    unknowns[first..first + 3].copy_from_slice(moved(at).as_slice());
                }
            }
            for interface in interfaces {
                if let Motion::Tied(first, _) = self.motion[interface.nodes[0]] {
                    let own = &mut unknowns[first..first + 6];
                    own[..3].copy_from_slice(moved(interface.origin).as_slice());
                    own[3..].copy_from_slice(rotation.as_slice());
                }
            }
            unknowns
        };
        (0..6).map(motion).collect()
    }

    /// The displacements that unknowns make.
    pub(crate) fn field(&self, unknowns: &[f64]) -> Field {
        let vector = |first: usize| Vector3::from_column_slice(&unknowns[first..first + 3]);
        let moved = |motion: &Motion| match *motion {
            Motion::None => [0.0; 3],
            Motion::Free(first) => vector(first).into(),
            Motion::Tied(first, offset) => {
                (vector(first) + vector(first + 3).cross(&Vector3::from(offset))).into()
            }
        };
        self.motion.iter().map(moved).collect()
    }

    /// The work of forces on nodes, per unknown.
    pub(crate) fn loads(&self, forces: &Field) -> Vec<f64> {
        let mut loads = vec![0.0; self.unknowns];
        for (motion, force) in self.motion.iter().zip(forces) {
            match *motion {
                Motion::None => {}
                Motion::Free(first) => {
                    for k in 0..3 {
                        loads[first + k] += force[k];
                    }
                }
                Motion::Tied(first, offset) => {
                    let moment = Vector3::from(offset).cross(&Vector3::from(*force));
                    for k in 0..3 {
                        loads[first + k] += force[k];
                        loads[first + 3 + k] += moment[k];
                    }
                }
            }
        }
        loads
    }

    /// Unknowns that nodes of an element move with, rising, without those that are held.
    pub(crate) fn unknowns_of(&self, nodes: &[usize], held: &[usize]) -> Vec<usize> {
        let mut unknowns: Vec<usize> = Vec::with_capacity(3 * nodes.len());
        for &node in nodes {
            match self.motion[node] {
                Motion::None => {}
                Motion::Free(first) => unknowns.extend(first..first + 3),
                Motion::Tied(first, _) => unknowns.extend(first..first + 6),
            }
        }
        unknowns.sort_unstable();
        unknowns.dedup();
        unknowns.retain(|unknown| !held.contains(unknown));
        unknowns
    }

    /// The matrix of an element of free nodes between its unknowns.
    fn reordered(
        &self,
        nodes: &[usize],
        unknowns: &[usize],
        matrix: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut rows = vec![0; unknowns.len()];
        for (index, &node) in nodes.iter().enumerate() {
            if let Motion::Free(first) = self.motion[node] {
                for k in 0..3 {
                    // what is held is left out
                    if let Ok(own) = unknowns.binary_search(&(first + k)) {
                        rows[own] = 3 * index + k;
                    }
                }
            }
        }
        DMatrix::from_fn(rows.len(), rows.len(), |i, j| matrix[(rows[i], rows[j])])
    }

    /// The matrix of an element between its unknowns.
    pub(crate) fn condensed(
        &self,
        nodes: &[usize],
        unknowns: &[usize],
        matrix: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let is_tied = |node: &usize| matches!(self.motion[*node], Motion::Tied(..));
        if !nodes.iter().any(is_tied) {
            return self.reordered(nodes, unknowns, matrix);
        }
        let mut map = DMatrix::zeros(3 * nodes.len(), unknowns.len());
        for (index, &node) in nodes.iter().enumerate() {
            let (first, offset) = match self.motion[node] {
                Motion::None => continue,
                Motion::Free(first) => (first, None),
                Motion::Tied(first, offset) => (first, Some(offset)),
            };
            let mut add = |row: usize, unknown: usize, factor: f64| {
                // what is held is left out
                if let Ok(column) = unknowns.binary_search(&unknown) {
                    map[(3 * index + row, column)] = factor;
                }
            };
            for k in 0..3 {
                add(k, first + k, 1.0);
            }
            if let Some(offset) = offset {
                // θ × ρ = −ρ × θ
                let cross = -Vector3::from(offset).cross_matrix();
                for row in 0..3 {
                    for k in 0..3 {
                        add(row, first + 3 + k, cross[(row, k)]);
                    }
                }
            }
        }
        map.tr_mul(&(matrix * &map))
    }
}
