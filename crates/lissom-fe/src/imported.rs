//! Bodies from mass and stiffness matrices that another program has written.
//!
//! Of such a body the mass matrix, $`\int\psi\,dm`$ and $`\int r\times\psi\,dm`$ are exact. With displacements alone the mass is that of a field, $`m_{ab}\,1`$
//! between nodes $`a`$ and $`b`$, and everything else is exact too. Rotations have no place in a field: of a body with such unknowns the symmetric part of
//! $`\int r\psi^T dm`$ and the products $`\int\psi\psi^T dm`$ are those of the displacements of its nodes, and what the products lack of the mass matrix is
//! shared by the three directions.

mod integrals;

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, Vector3};

use crate::FeError;
use crate::basis::{self, Attached};
use crate::cholesky::Cholesky;
use crate::finite_elements::Field;
use crate::matrix::Matrix;
use crate::mesh::Mesh;
use crate::modes::dot;
use crate::reduce::{Reduction, Source, frame_node, none_is_far, residuals, signed};
use crate::solids::nearest;
use crate::stop::Stop;
use crate::structure::{Frame, Functional, Structure};
use crate::surface;
use crate::table::DIRECTIONS;
use crate::ties::{Interface, on_line};
use lissom_spec::spec::{
    GeometricStiffnessSpec, MeshSpec, ReducedNodeSpec, ReducedSpec, SecondOrderIntegralsSpec,
    TieSpec,
};

/// Force that rigid motion may take, relative to what its parts take: rounding of files.
const RIGID: f64 = 1e-6;

/// Square of an entry of the mass over the product of those on the diagonal, beyond one, that is rounding of files.
const ROUNDED: f64 = 1e-4;

/// Difference between the masses along x, y and z.
const SAME_MASS: f64 = 1e-6;

/// Mass and stiffness over unknowns of nodes, in the units of their files.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// Mass.
    pub mass: Matrix,
    /// Stiffness.
    pub stiffness: Matrix,
    /// Number of the node and direction (from 0, displacements first) of every row; all nodes in their order when absent.
    pub unknowns: Option<Vec<(usize, usize)>>,
    /// What the body gains in stiffness under loads.
    pub geometric: Vec<(GeometricStiffnessSpec, Matrix)>,
}

/// Matrices in SI units, with what their rows are.
struct Imported<'m> {
    mesh: &'m Mesh,
    mass: Matrix,
    stiffness: Matrix,
    /// Node and direction of every row.
    unknowns: Vec<(usize, usize)>,
    /// Row of every direction of every node.
    rows: Vec<[Option<usize>; DIRECTIONS]>,
    /// What every row moves with.
    motion: Vec<Functional>,
}

/// Reduces matrices over the nodes of a mesh, whose lengths are in metres already.
///
/// # Errors
/// For matrices that are not those of one free body, or when it is stopped.
pub fn reduce_matrices(
    mesh: &Mesh,
    matrices: Matrices,
    spec: &MeshSpec,
    attached: &Attached,
    stop: Stop<'_>,
) -> Result<Reduction, FeError> {
    none_is_far(mesh)?;
    let (mut imported, geometric) = Imported::new(mesh, matrices, spec.mass_unit_kg, spec.unit_m)?;
    imported.is_one_free_body()?;
    let used: BTreeSet<usize> = imported.unknowns.iter().map(|&(node, _)| node).collect();
    let turns = |node: usize| imported.rows[node][3..].iter().all(Option::is_some);
    let interfaces = Interface::all(mesh, &used, turns, &spec.interface)?;
    let frames = imported.tie(&interfaces);
    let imported = imported;
    let unknowns = imported.motion.iter().flatten().map(|&(u, _)| u + 1).max();
    let unknowns = unknowns.unwrap_or(0);
    let rigid = imported.rigid_motions(unknowns, &interfaces);
    let mass = |x: &[f64]| imported.loads(unknowns, &imported.mass.times(&imported.moved(x)));
    let mut structure = Structure::new(frames, rigid, mass, |held| {
        imported.factorised(unknowns, held, stop)
    })?;
    let names: Vec<&str> = interfaces.iter().map(|own| own.name.as_str()).collect();
    let chosen = basis::choose(&spec.basis, &structure, &names, attached);
    let basis = chosen.as_ref().map_or(&spec.basis, |own| &own.basis);
    let mut modes = basis::modes(&mut structure, basis, &names, attached, stop)?;
    let shapes = signed(&mut modes, |x| imported.field(&imported.moved(x)));
    let moved: Vec<Vec<f64>> = modes
        .iter()
        .map(|mode| imported.moved(&mode.vector))
        .collect();
    let (mut body, from_displacements) = imported.integrals(&modes, &moved, &shapes);
    body.nodes = (interfaces.iter().enumerate())
        .map(|(index, own)| {
            let frame = structure.moving_frame(index);
            frame_node(&own.name, own.origin, frame, &modes)
        })
        .collect();
    let points = (attached.points.iter()).filter_map(|point| {
        let node = nearest(mesh, &used, point.position_m)?;
        Some(imported.point_node(&point.name, node, &moved))
    });
    body.nodes.extend(points);
    body.surface = surface::of_solids(mesh, &shapes, |_, _| None);
    if spec.stiffening && !geometric.is_empty() {
        stiffen(&mut body, &moved, &geometric, structure.first_moving());
    }
    Ok(Reduction {
        body,
        source: Source {
            chosen,
            elements: 0,
            linear_elements: 0,
            unknowns: structure.deformations(),
            factor_entries: structure.factor_entries(),
            left_out: basis::left_out(&structure, &modes),
            interfaces: residuals(&structure, &names, &modes),
            from_displacements,
        },
    })
}

impl<'m> Imported<'m> {
    fn new(
        mesh: &'m Mesh,
        matrices: Matrices,
        mass_unit: f64,
        unit: f64,
    ) -> Result<(Self, Vec<(GeometricStiffnessSpec, Matrix)>), FeError> {
        let Matrices {
            mut mass,
            mut stiffness,
            unknowns,
            mut geometric,
        } = matrices;
        let size = stiffness.size();
        let nodes = mesh.nodes.len();
        let unknowns = match unknowns {
            Some(named) => numbered(mesh, &named)?,
            None if size == 3 * nodes || size == 6 * nodes => {
                let each = size / nodes;
                (0..size).map(|row| (row / each, row % each)).collect()
            }
            None => return Err(FeError::Rows { rows: size, nodes }),
        };
        let others = geometric.iter().map(|(_, matrix)| matrix);
        for other in [&mass].into_iter().chain(others).map(Matrix::size) {
            // bare triplets end with their last entry
            if other != size {
                return Err(FeError::Sizes {
                    stiffness: size,
                    other,
                });
            }
        }
        if unknowns.len() != size {
            return Err(FeError::Unknowns {
                rows: size,
                unknowns: unknowns.len(),
            });
        }
        let mut rows = vec![[None; DIRECTIONS]; nodes];
        for (row, &(node, direction)) in unknowns.iter().enumerate() {
            if rows[node][direction].replace(row).is_some() {
                let (node, direction) = (mesh.numbers[node], direction + 1);
                return Err(FeError::TwoRows { node, direction });
            }
        }
        for (node, own) in rows.iter().enumerate() {
            let is_used = own.iter().any(Option::is_some);
            if let (true, Some(direction)) = (is_used, own[..3].iter().position(Option::is_none)) {
                let (node, direction) = (mesh.numbers[node], direction + 1);
                return Err(FeError::NoRow { node, direction });
            }
        }
        let factors: Vec<f64> = (unknowns.iter())
            .map(|&(_, direction)| mass_unit.sqrt() * if direction < 3 { 1.0 } else { unit })
            .collect();
        mass.scale(&factors);
        stiffness.scale(&factors);
        for (spec, matrix) in &mut geometric {
            matrix.scale(&factors);
            let per = if spec.moment.is_some() {
                // a moment of one is a newton metre
                1.0 / (mass_unit * unit * unit)
            } else if spec.force.is_some() {
                1.0 / (mass_unit * unit)
            } else if spec
                .force_per_mass
                .is_some_and(|own| own.growing_with.is_none())
            {
                1.0 / unit
            } else {
                1.0
            };
            matrix.scale(&vec![per.sqrt(); size]);
        }
        let imported = Self {
            mesh,
            mass,
            stiffness,
            unknowns,
            rows,
            motion: Vec::new(),
        };
        Ok((imported, geometric))
    }

    /// A rigid motion of all rows: displacements along x, y, z, then rotations about the axes through the origin.
    fn rigid_rows(&self, k: usize) -> Vec<f64> {
        let [translation, rotation] = rigid_motion(k);
        let entry = |&(node, direction): &(usize, usize)| {
            if direction < 3 {
                (translation + rotation.cross(&Vector3::from(self.mesh.nodes[node])))[direction]
            } else {
                rotation[direction - 3]
            }
        };
        self.unknowns.iter().map(entry).collect()
    }

    /// Asks for the matrices of one body without supports.
    fn is_one_free_body(&self) -> Result<(), FeError> {
        let size = self.stiffness.size();
        if let Some(row) = (0..size).find(|&row| diagonal(&self.mass, row) < 0.0) {
            let (node, direction) = self.unknowns[row];
            return Err(FeError::NegativeMass {
                node: self.mesh.numbers[node],
                direction: direction + 1,
                mass: diagonal(&self.mass, row),
            });
        }
        self.has_mass_of_bodies()?;
        let masses = [0, 1, 2].map(|k| {
            let moved = self.rigid_rows(k);
            dot(&moved, &self.mass.times(&moved))
        });
        let most = masses.into_iter().fold(0.0, f64::max);
        let least = masses.into_iter().fold(f64::INFINITY, f64::min);
        if least <= 0.0 || most - least > SAME_MASS * most {
            return Err(FeError::Masses { masses });
        }
        for k in 0..6 {
            let moved = self.rigid_rows(k);
            let forces = self.stiffness.times(&moved);
            for (row, force) in forces.iter().enumerate() {
                let parts = self.stiffness.row(row).iter();
                let parts: f64 = parts.map(|&(j, value)| (value * moved[j]).abs()).sum();
                // a row may be weak beside its neighbours, whose rounding it then shows
                let own = diagonal(&self.stiffness, row) * moved[row].abs();
                if force.abs() > RIGID * parts.max(own) && force.abs() > 0.0 {
                    let (node, direction) = self.unknowns[row];
                    return Err(FeError::Supported {
                        motion: ["x", "y", "z"][k % 3],
                        rotates: k >= 3,
                        node: self.mesh.numbers[node],
                        direction: direction + 1,
                    });
                }
            }
        }
        self.is_connected()
    }

    /// Asks for entries of the mass that no two by two minor forbids: of matrices that are none, files in disorder among them, hardly one has them all.
    fn has_mass_of_bodies(&self) -> Result<(), FeError> {
        for row in 0..self.mass.size() {
            for &(column, value) in self.mass.row(row) {
                let own = [row, column].map(|at| diagonal(&self.mass, at));
                if value * value > (1.0 + ROUNDED) * own[0] * own[1] {
                    return Err(FeError::IndefiniteMass {
                        row: row + 1,
                        column: column + 1,
                        value,
                        diagonal: own,
                    });
                }
            }
        }
        Ok(())
    }

    fn is_connected(&self) -> Result<(), FeError> {
        let mut parts = crate::mesh::Parts::new(self.mesh.nodes.len());
        for (row, &(node, _)) in self.unknowns.iter().enumerate() {
            for &(column, value) in self.stiffness.row(row) {
                if value != 0.0 {
                    parts.join(node, self.unknowns[column].0);
                }
            }
        }
        let used: BTreeSet<usize> = self.unknowns.iter().map(|&(node, _)| node).collect();
        let of_nodes: Vec<usize> = used.iter().map(|&node| parts.of(node)).collect();
        let all: BTreeSet<usize> = of_nodes.iter().copied().collect();
        let main = of_nodes.first().copied().unwrap_or_default();
        match all.iter().find(|&&part| part != main) {
            None => Ok(()),
            Some(&other) => Err(FeError::Uncoupled {
                parts: all.len(),
                nodes: of_nodes.iter().filter(|&&part| part == other).count(),
                at: self.mesh.nodes[other],
            }),
        }
    }

    /// Ties interfaces to frames.
    fn tie(&mut self, interfaces: &[Interface]) -> Vec<Frame> {
        let size = self.unknowns.len();
        self.motion = vec![Functional::new(); size];
        let mut next = 0;
        let mut frames: Vec<Option<Frame>> = vec![None; interfaces.len()];
        for (interface, frame) in interfaces.iter().zip(&mut frames) {
            if interface.tie == TieSpec::Averaging {
                continue;
            }
            for &node in &interface.nodes {
                // θ × ρ = −ρ × θ
                let cross = -Vector3::from(interface.offset(self.mesh, node)).cross_matrix();
                for (direction, row) in self.rows[node].iter().enumerate() {
                    let Some(row) = *row else { continue };
                    self.motion[row] = vec![(next + direction, 1.0)];
                    if direction < 3 {
                        let turned = (0..3).map(|k| (next + 3 + k, cross[(direction, k)]));
                        self.motion[row].extend(turned.filter(|own| own.1 != 0.0));
                    }
                }
            }
            *frame = Some(std::array::from_fn(|k| vec![(next + k, 1.0)]));
            next += 6;
        }
        for own in self.motion.iter_mut().filter(|own| own.is_empty()) {
            *own = vec![(next, 1.0)];
            next += 1;
        }
        let averages = |interface: &Interface| {
            interface.averages(self.mesh).map(|forces| {
                let on_rows = |(node, force): (usize, [f64; 3])| {
                    let rows = self.rows[node].into_iter().zip(force);
                    rows.filter_map(|(row, force)| Some((self.motion[row?][0].0, force)))
                        .collect::<Functional>()
                };
                forces.into_iter().flat_map(on_rows).collect()
            })
        };
        (frames.into_iter().zip(interfaces))
            .map(|(frame, interface)| frame.unwrap_or_else(|| averages(interface)))
            .collect()
    }

    /// Rows that unknowns make.
    fn moved(&self, unknowns: &[f64]) -> Vec<f64> {
        let row = |own: &Functional| crate::structure::value(own, unknowns);
        self.motion.iter().map(row).collect()
    }

    /// Work of forces on rows, per unknown.
    fn loads(&self, unknowns: usize, forces: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; unknowns];
        for (own, force) in self.motion.iter().zip(forces) {
            for &(unknown, factor) in own {
                loads[unknown] += factor * force;
            }
        }
        loads
    }

    /// Displacements of nodes.
    fn field(&self, rows: &[f64]) -> Field {
        let node = |own: &[Option<usize>; DIRECTIONS]| {
            std::array::from_fn(|k| own[k].map_or(0.0, |row| rows[row]))
        };
        self.rows.iter().map(node).collect()
    }

    fn rigid_motions(&self, unknowns: usize, interfaces: &[Interface]) -> Vec<Vec<f64>> {
        let motion = |k: usize| {
            let mut moved = vec![0.0; unknowns];
            for (own, row) in self.motion.iter().zip(self.rigid_rows(k)) {
                if let [(unknown, _)] = own[..] {
                    moved[unknown] = row;
                }
            }
            let [translation, rotation] = rigid_motion(k);
            let tied = interfaces.iter().filter(|own| own.tie == TieSpec::Rigid);
            for (interface, first) in tied.zip((0..).step_by(6)) {
                let at = translation + rotation.cross(&Vector3::from(interface.origin));
                moved[first..first + 3].copy_from_slice(at.as_slice());
                moved[first + 3..first + 6].copy_from_slice(rotation.as_slice());
            }
            moved
        };
        (0..6).map(motion).collect()
    }

    /// The stiffness between unknowns, dissected by pairs of nodes that it couples.
    fn factorised(
        &self,
        unknowns: usize,
        held: &[usize],
        stop: Stop<'_>,
    ) -> Result<Cholesky, FeError> {
        let mut blocks: BTreeMap<[usize; 2], Vec<(usize, usize, f64)>> = BTreeMap::new();
        for (row, &(node, _)) in self.unknowns.iter().enumerate() {
            for &(column, value) in self.stiffness.row(row) {
                let other = self.unknowns[column].0;
                let pair = [node.min(other), node.max(other)];
                blocks.entry(pair).or_default().push((row, column, value));
            }
        }
        let is_held = |unknown: usize| held.contains(&unknown);
        let mut pairs = Vec::with_capacity(blocks.len());
        let mut centres = Vec::with_capacity(blocks.len());
        let mut entries = Vec::with_capacity(blocks.len());
        for ([a, b], own) in blocks {
            let mut touched: Vec<usize> = (own.iter())
                .flat_map(|&(row, column, _)| self.motion[row].iter().chain(&self.motion[column]))
                .map(|&(unknown, _)| unknown)
                .filter(|&unknown| !is_held(unknown))
                .collect();
            touched.sort_unstable();
            touched.dedup();
            pairs.push(touched);
            let [a, b] = [self.mesh.nodes[a], self.mesh.nodes[b]];
            centres.push(std::array::from_fn(|k| 0.5 * (a[k] + b[k])));
            entries.push(own);
        }
        let matrix = |pair: usize| {
            let own: &[usize] = &pairs[pair];
            let mut dense = DMatrix::zeros(own.len(), own.len());
            for &(row, column, value) in &entries[pair] {
                for &(i, by_row) in &self.motion[row] {
                    for &(j, by_column) in &self.motion[column] {
                        if let (Ok(i), Ok(j)) = (own.binary_search(&i), own.binary_search(&j)) {
                            dense[(i, j)] += by_row * value * by_column;
                        }
                    }
                }
            }
            dense
        };
        let factor = Cholesky::new(unknowns, &pairs, &centres, matrix, stop);
        let place = |unknown: usize| {
            let moves = |own: &&Functional| own.iter().any(|&(u, _)| u == unknown);
            let row = self.motion.iter().position(|own| moves(&own)).unwrap_or(0);
            self.mesh.nodes[self.unknowns[row].0]
        };
        factor.map_err(|fault| fault.told(place))
    }

    /// A node of the mesh as one of the body: it turns by its own rotations, or with the nodes around it.
    fn point_node(&self, name: &str, node: usize, moved: &[Vec<f64>]) -> ReducedNodeSpec {
        let own = self.rows[node];
        let displacement =
            |k: usize| -> Functional { own[k].map(|row| (row, 1.0)).into_iter().collect() };
        let rotations: [Functional; 3] = if own[3..].iter().all(Option::is_some) {
            std::array::from_fn(|k| displacement(3 + k))
        } else {
            self.rotation_near(node)
        };
        let rows = rotations.into_iter().chain((0..3).map(displacement));
        ReducedNodeSpec {
            name: name.to_owned(),
            position_m: self.mesh.nodes[node],
            influence: rows
                .map(|functional| {
                    let value = |rows: &Vec<f64>| crate::structure::value(&functional, rows);
                    moved.iter().map(value).collect()
                })
                .collect(),
            second_order: Vec::new(),
        }
    }

    /// The rotation of a node and those that the stiffness couples it with, by least squares; none if they lie on a line.
    fn rotation_near(&self, node: usize) -> [Functional; 3] {
        let rows = self.rows[node].iter().flatten();
        let nodes: BTreeSet<usize> = rows
            .flat_map(|&row| self.stiffness.row(row))
            .filter(|entry| entry.1 != 0.0)
            .map(|&(column, _)| self.unknowns[column].0)
            .collect();
        let around = Interface {
            name: String::new(),
            origin: self.mesh.nodes[node],
            nodes: nodes.into_iter().collect(),
            tie: TieSpec::Averaging,
        };
        if on_line(self.mesh, &around.nodes) {
            return std::array::from_fn(|_| Functional::new());
        }
        let forces = around.averages(self.mesh);
        std::array::from_fn(|k| {
            let on_rows = |&(node, force): &(usize, [f64; 3])| {
                let rows = self.rows[node].into_iter().zip(force);
                rows.filter_map(|(row, force)| Some((row?, force)))
                    .collect::<Functional>()
            };
            forces[3 + k].iter().flat_map(on_rows).collect()
        })
    }
}

/// Displacements along x, y, z, then rotations about them.
fn rigid_motion(k: usize) -> [Vector3<f64>; 2] {
    if k < 3 {
        [Vector3::ith(k, 1.0), Vector3::zeros()]
    } else {
        [Vector3::zeros(), Vector3::ith(k - 3, 1.0)]
    }
}

fn diagonal(matrix: &Matrix, row: usize) -> f64 {
    let own = matrix.row(row);
    own.binary_search_by_key(&row, |entry| entry.0)
        .map_or(0.0, |at| own[at].1)
}

/// Nodes by their numbers.
fn numbered(mesh: &Mesh, named: &[(usize, usize)]) -> Result<Vec<(usize, usize)>, FeError> {
    let numbers: BTreeMap<usize, usize> = (mesh.numbers.iter().copied()).zip(0..).collect();
    let unknown = |(row, &(number, direction)): (usize, &(usize, usize))| {
        let node = numbers.get(&number).copied();
        let missing = FeError::NoNode {
            row: row + 1,
            node: number,
        };
        Ok((node.ok_or(missing)?, direction))
    };
    named.iter().enumerate().map(unknown).collect()
}

/// Adds what the body gains in stiffness under loads, as second-order displacements by which these work.
fn stiffen(
    body: &mut ReducedSpec,
    moved: &[Vec<f64>],
    geometric: &[(GeometricStiffnessSpec, Matrix)],
    first_moving: usize,
) {
    let n = moved.len();
    let none = || vec![vec![0.0; n]; n];
    let mut second_order = SecondOrderIntegralsSpec {
        displacement_integrals: vec![none(); 3],
        position_integrals: vec![vec![none(); 3]; 3],
        shape_integrals: vec![none(); n],
    };
    for (spec, matrix) in geometric {
        let products: Vec<Vec<f64>> = moved.iter().map(|rows| matrix.times(rows)).collect();
        let place = if let Some(own) = spec.force_per_mass {
            let along = own.along as usize;
            match own.growing_with {
                None => &mut second_order.displacement_integrals[along],
                Some(with) => &mut second_order.position_integrals[with as usize][along],
            }
        } else {
            let (load, first) = match (&spec.force, &spec.moment) {
                (Some(force), _) => (force, 3),
                (None, Some(moment)) => (moment, 0),
                (None, None) => continue,
            };
            let found = body.nodes.iter().position(|node| node.name == load.at);
            let Some(node) = found.filter(|&node| node >= first_moving) else {
                continue;
            };
            let own = &mut body.nodes[node].second_order;
            if own.is_empty() {
                *own = vec![none(); 6];
            }
            &mut own[first + load.along as usize]
        };
        for (a, row) in place.iter_mut().enumerate() {
            for (b, entry) in row.iter_mut().enumerate() {
                *entry -= 0.5 * (dot(&moved[a], &products[b]) + dot(&moved[b], &products[a]));
            }
        }
    }
    body.second_order = Some(second_order);
}
