//! Unknowns of a mesh whose interfaces move as rigid bodies.
//!
//! A node is free (three unknowns), held, or tied to a frame with six: three displacements and a rotation vector $`\theta`$. To
//! second order a tied node at $`\rho`$ from the origin of its frame moves by
//! $`t + \theta\times\rho + \tfrac12\theta\times(\theta\times\rho)`$.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, Matrix3, Vector3};

use crate::FeError;
use crate::elements::Field;
use crate::mesh::Mesh;
use lissom_spec::spec::InterfaceSpec;

/// An interface with its frame.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) origin: [f64; 3],
    pub(crate) nodes: Vec<usize>,
}

/// What a node of the mesh moves with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Motion {
    /// Its own unknowns, from this one on.
    Free(usize),
    /// Nothing.
    Held,
    /// The frame whose unknowns begin here, at this offset from its origin.
    Tied(usize, [f64; 3]),
}

/// The unknowns.
pub(crate) struct Ties {
    motion: Vec<Motion>,
    /// First unknown of every interface but the first, which is held.
    pub(crate) frames: Vec<usize>,
    pub(crate) unknowns: usize,
    /// Where every unknown is, for messages.
    pub(crate) places: Vec<[f64; 3]>,
}

impl Interface {
    /// Finds the nodes.
    ///
    /// # Errors
    /// For groups that are not there, have no nodes of elements, or nodes on a line.
    pub(crate) fn all(mesh: &Mesh, specs: &[InterfaceSpec]) -> Result<Vec<Self>, FeError> {
        let used: BTreeSet<usize> = (mesh.solids.iter())
            .flat_map(|solid| solid.nodes.iter().copied())
            .collect();
        let mut found: Vec<Self> = Vec::new();
        for spec in specs {
            let group = spec.group.as_ref().unwrap_or(&spec.name);
            let nodes: Vec<usize> = (mesh.groups[mesh.group(group)?].nodes)
                .intersection(&used)
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
            let mean: [f64; 3] = std::array::from_fn(|k| {
                nodes.iter().map(|&node| mesh.nodes[node][k]).sum::<f64>() / count as f64
            });
            if on_line(mesh, &nodes, mean) {
                let interface = spec.name.clone();
                return Err(FeError::InterfaceOnLine { interface, count });
            }
            found.push(Self {
                name: spec.name.clone(),
                origin: spec.position_m.unwrap_or(mean),
                nodes,
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

    fn offset(&self, mesh: &Mesh, node: usize) -> [f64; 3] {
        std::array::from_fn(|k| mesh.nodes[node][k] - self.origin[k])
    }
}

/// Whether nodes have no extent across one direction.
fn on_line(mesh: &Mesh, nodes: &[usize], mean: [f64; 3]) -> bool {
    /// Second largest variance over the largest: far below that of any surface, far above rounding.
    const FLAT: f64 = 1e-12;
    let mut variance = Matrix3::zeros();
    for &node in nodes {
        let offset = Vector3::from(mesh.nodes[node]) - Vector3::from(mean);
        variance += offset * offset.transpose();
    }
    let mut values: Vec<f64> = variance.symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values[1] <= FLAT * values[2]
}

/// Work of $`\tfrac12(a\times(b\times\rho) + b\times(a\times\rho))`$ against forces with these moments.
pub(crate) fn second_order_work(moments: &Matrix3<f64>, a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    0.5 * (a.dot(&(moments * b)) + b.dot(&(moments * a))) - moments.trace() * a.dot(b)
}

impl Ties {
    /// Holds the first interface and ties the others.
    pub(crate) fn new(mesh: &Mesh, interfaces: &[Interface]) -> Self {
        let mut motion = vec![Motion::Held; mesh.nodes.len()];
        let mut places = Vec::new();
        let mut frames = Vec::new();
        let mut known = vec![false; mesh.nodes.len()];
        for (index, interface) in interfaces.iter().enumerate() {
            if index > 0 {
                frames.push(places.len());
            }
            for &node in &interface.nodes {
                known[node] = true;
                if index > 0 {
                    motion[node] = Motion::Tied(places.len(), interface.offset(mesh, node));
                }
            }
            if index > 0 {
                places.extend([interface.origin; 6]);
            }
        }
        for solid in &mesh.solids {
            for &node in &solid.nodes {
                if !known[node] {
                    known[node] = true;
                    motion[node] = Motion::Free(places.len());
                    places.extend([mesh.nodes[node]; 3]);
                }
            }
        }
        Self {
            motion,
            frames,
            unknowns: places.len(),
            places,
        }
    }

    /// The displacements that unknowns make.
    pub(crate) fn field(&self, unknowns: &[f64]) -> Field {
        let vector = |first: usize| Vector3::from_column_slice(&unknowns[first..first + 3]);
        let moved = |motion: &Motion| match *motion {
            Motion::Held => [0.0; 3],
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
                Motion::Held => {}
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

    /// Unknowns that nodes of an element move with, rising.
    pub(crate) fn unknowns_of(&self, nodes: &[usize]) -> Vec<usize> {
        let mut unknowns: Vec<usize> = Vec::with_capacity(3 * nodes.len());
        for &node in nodes {
            match self.motion[node] {
                Motion::Held => {}
                Motion::Free(first) => unknowns.extend(first..first + 3),
                Motion::Tied(first, _) => unknowns.extend(first..first + 6),
            }
        }
        unknowns.sort_unstable();
        unknowns.dedup();
        unknowns
    }

    /// The matrix of an element between its unknowns.
    pub(crate) fn condensed(
        &self,
        nodes: &[usize],
        unknowns: &[usize],
        matrix: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut map = DMatrix::zeros(3 * nodes.len(), unknowns.len());
        for (index, &node) in nodes.iter().enumerate() {
            let (first, offset) = match self.motion[node] {
                Motion::Held => continue,
                Motion::Free(first) => (first, None),
                Motion::Tied(first, offset) => (first, Some(offset)),
            };
            let Ok(column) = unknowns.binary_search(&first) else {
                continue;
            };
            for k in 0..3 {
                map[(3 * index + k, column + k)] = 1.0;
            }
            if let Some(offset) = offset {
                // θ × ρ = −ρ × θ
                let cross = -Vector3::from(offset).cross_matrix();
                map.view_mut((3 * index, column + 3), (3, 3))
                    .copy_from(&cross);
            }
        }
        map.tr_mul(&(matrix * &map))
    }
}
