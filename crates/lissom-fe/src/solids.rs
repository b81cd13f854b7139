//! [`Solids`]: a mesh of solid elements with its interfaces, as [`FiniteElements`].

use std::collections::BTreeSet;

use nalgebra::{DMatrix, Matrix3, Vector3};

use crate::FeError;
use crate::cholesky::Cholesky;
use crate::elements::Elements;
use crate::finite_elements::{Field, FiniteElements, Moves, Place, second_order_work};
use crate::mesh::Mesh;
use crate::stop::Stop;
use crate::structure::value;
use crate::surface;
use crate::ties::{Interface, Ties};
use lissom_spec::spec::{MeshSpec, NodeSpec, SurfaceSpec, TieSpec};

/// A mesh of solid elements with frames at its interfaces.
pub(crate) struct Solids<'m> {
    pub(crate) elements: Elements<'m>,
    pub(crate) ends: Vec<Interface>,
    pub(crate) ties: Ties,
    places: Vec<Place>,
}

impl<'m> Solids<'m> {
    /// `points` are places at whose nearest nodes something may be attached.
    ///
    /// # Errors
    /// For meshes that are not one sound body with materials and interfaces.
    pub(crate) fn new(
        mesh: &'m Mesh,
        spec: &MeshSpec,
        points: &[NodeSpec],
    ) -> Result<Self, FeError> {
        let materials = if spec.material.is_empty() {
            &mesh.materials
        } else {
            &spec.material
        };
        let elements = Elements::new(mesh, materials)?;
        mesh.connected()?;
        let used: BTreeSet<usize> = (mesh.solids.iter())
            .flat_map(|solid| solid.nodes.iter().copied())
            .collect();
        for lump in &mesh.lumps {
            let node = mesh.numbers[lump.node];
            if !used.contains(&lump.node) {
                return Err(FeError::LooseMass { node });
            }
            if !lump.is_point() {
                return Err(FeError::TurningMass { node });
            }
        }
        let ends = Interface::all(mesh, &used, |_| false, &spec.interface)?;
        let ties = Ties::new(mesh, &ends);
        let interfaces = ends.iter().zip(&ties.frames).map(|(end, frame)| Place {
            name: end.name.clone(),
            position: end.origin,
            moves: Moves::Frame(frame.clone()),
        });
        let points = points.iter().filter_map(|spec| {
            let node = nearest(mesh, &used, spec.position_m)?;
            Some(Place {
                name: spec.name.clone(),
                position: mesh.nodes[node],
                moves: Moves::Point {
                    point: node,
                    rotation: elements.rotation_near(node),
                },
            })
        });
        Ok(Self {
            places: interfaces.chain(points).collect(),
            elements,
            ends,
            ties,
        })
    }
}

/// The node in use that is nearest to a place.
pub(crate) fn nearest(mesh: &Mesh, used: &BTreeSet<usize>, at: [f64; 3]) -> Option<usize> {
    let away = |node: usize| {
        (0..3)
            .map(|k| (mesh.nodes[node][k] - at[k]).powi(2))
            .sum::<f64>()
    };
    let nodes = used.iter().copied();
    nodes.min_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)))
}

impl FiniteElements for Solids<'_> {
    fn elements(&self) -> usize {
        self.elements.mesh.solids.len()
    }

    fn unknowns(&self) -> usize {
        self.ties.unknowns
    }

    fn places(&self) -> &[Place] {
        &self.places
    }

    fn interfaces(&self) -> usize {
        self.ends.len()
    }

    fn rigid_motions(&self) -> Vec<Vec<f64>> {
        self.ties.rigid_motions(self.elements.mesh, &self.ends)
    }

    fn factorised(&self, held: &[usize], stop: Stop<'_>) -> Result<Cholesky, FeError> {
        let mesh = self.elements.mesh;
        let unknowns: Vec<Vec<usize>> = (mesh.solids.iter())
            .map(|solid| self.ties.unknowns_of(&solid.nodes, held))
            .collect();
        let centre = |nodes: &[usize]| {
            let count = nodes.len() as f64;
            std::array::from_fn(|k| {
                nodes.iter().map(|&node| mesh.nodes[node][k]).sum::<f64>() / count
            })
        };
        let centres: Vec<[f64; 3]> = (mesh.solids.iter())
            .map(|solid| centre(&solid.nodes))
            .collect();
        let mut broken = None;
        let matrix = |element: usize| match self.elements.stiffness(element) {
            Ok(stiffness) => {
                (self.ties).condensed(&mesh.solids[element].nodes, &unknowns[element], &stiffness)
            }
            Err(error) => {
                broken = Some(error);
                DMatrix::zeros(unknowns[element].len(), unknowns[element].len())
            }
        };
        let factor = Cholesky::new(self.ties.unknowns, &unknowns, &centres, matrix, stop);
        match (broken, factor) {
            (Some(error), _) => Err(error),
            (None, factor) => {
                factor.map_err(|fault| fault.told(|unknown| self.ties.places[unknown]))
            }
        }
    }

    fn positions(&self) -> &Field {
        &self.elements.mesh.nodes
    }

    fn field(&self, unknowns: &[f64]) -> Field {
        self.ties.field(unknowns)
    }

    fn loads(&self, forces: &Field) -> Vec<f64> {
        self.ties.loads(forces)
    }

    fn times_mass(&self, field: &Field) -> Field {
        self.elements.times_mass(field)
    }

    fn moments(&self, forces: &Field) -> Vec<Matrix3<f64>> {
        let moments = |end: &Interface| match end.tie {
            TieSpec::Rigid => end.moments(self.elements.mesh, forces),
            TieSpec::Averaging => Matrix3::zeros(),
        };
        self.ends.iter().map(moments).collect()
    }

    /// The mean of nodes that rotate as a rigid body is, to second order, not that of its rotation vector: what it is too much is taken
    /// away.
    fn moments_on_frame(&self, interface: usize, row: usize) -> Vec<Matrix3<f64>> {
        let own = &self.ends[interface];
        if own.tie == TieSpec::Rigid {
            return Vec::new();
        }
        let mut forces = vec![[0.0; 3]; self.elements.mesh.nodes.len()];
        for (node, force) in &own.averages(self.elements.mesh)[row] {
            forces[*node] = *force;
        }
        let mut moments = vec![Matrix3::zeros(); self.ends.len()];
        moments[interface] = -own.moments(self.elements.mesh, &forces);
        moments
    }

    fn rotations(&self, unknowns: &[f64]) -> Vec<Vector3<f64>> {
        let frames = self.ties.frames.iter();
        frames
            .map(|frame| Vector3::from_fn(|k, _| value(&frame[3 + k], unknowns)))
            .collect()
    }

    /// That of the elements, and what the second-order motion of tied nodes works against the forces that hold displacements.
    fn third_derivative(
        &self,
        unknowns: &[Vec<f64>],
        shapes: usize,
        stop: Stop<'_>,
    ) -> Result<Vec<DMatrix<f64>>, FeError> {
        let fields: Vec<Field> = unknowns.iter().map(|u| self.field(u)).collect();
        let mut third = (self.elements).third_derivative(&fields, &fields[shapes..], stop)?;
        let mut tied = vec![false; self.elements.mesh.nodes.len()];
        let rigid = self.ends.iter().filter(|end| end.tie == TieSpec::Rigid);
        for &node in rigid.flat_map(|end| &end.nodes) {
            tied[node] = true;
        }
        let forces = self.elements.forces(&fields, &tied);
        let moments: Vec<_> = forces.iter().map(|forces| self.moments(forces)).collect();
        let rotations: Vec<_> = unknowns.iter().map(|u| self.rotations(u)).collect();
        let work = |forces: usize, a: usize, b: usize| {
            second_order_work(&moments[forces], &rotations[a], &rotations[b])
        };
        for (x, matrix) in third.iter_mut().enumerate() {
            for i in 0..matrix.nrows() {
                for j in 0..matrix.ncols() {
                    let [a, b] = [shapes + i, shapes + j];
                    matrix[(i, j)] += work(x, a, b) + work(a, x, b) + work(b, x, a);
                }
            }
        }
        Ok(third)
    }

    fn surface(&self, _modes: &[&[f64]], shapes: &[Field]) -> Option<SurfaceSpec> {
        let stress = |element: usize, corner: usize| {
            let at = self.elements.mesh.solids[element].kind.corner(corner);
            self.elements.stresses(element, at, shapes)
        };
        surface::of_solids(self.elements.mesh, shapes, stress)
    }
}
