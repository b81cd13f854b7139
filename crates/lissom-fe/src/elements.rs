//! Mass, stiffness and the third derivative of the strain energy of a mesh, element by element.
//!
//! The material is linear in Green's strain, $`E = \varepsilon(u) + \tfrac12 q(u, u)`$ with $`q(a, b) = \mathrm{sym}(\nabla a^T\nabla b)`$, so that the energy
//! $`\tfrac12\int E : C : E\,dV`$ has at rest the second derivative $`K`$ and the third derivative
//!
//! ```math
//! K'''(a, b, c) = \int \sigma(a) : q(b, c) + \sigma(b) : q(a, c) + \sigma(c) : q(a, b)\,dV ,
//! ```
//!
//! the stress part of the first argument and its displacement parts \[Fattah 1995, eqs (3.26)–(3.31), has the first only\].

use std::collections::BTreeMap;

use nalgebra::{DMatrix, Matrix3};

use crate::FeError;
use crate::finite_elements::Field;
use crate::mesh::{Lump, Mesh, Solid};
use crate::modes::dot;
use crate::shape::Kind;
use crate::stop::Stop;
use lissom_spec::spec::MaterialSpec;

/// A mesh with its materials.
pub(crate) struct Elements<'m> {
    pub(crate) mesh: &'m Mesh,
    /// Lamé's constants of every element.
    lame: Vec<[f64; 2]>,
    density: Vec<f64>,
    /// Mass of every element between its nodes, by rows; the same for all three directions.
    mass: Vec<Vec<f64>>,
    /// Points of every kind for the stiffness: slopes in the reference element and weight.
    rules: Vec<(Kind, Vec<RulePoint>)>,
}

/// Asks for nodes of which none is there twice: an edge that has shrunk to a point has stresses without end beside it.
fn distinct(mesh: &Mesh, solid: &Solid) -> Result<(), FeError> {
    let mut nodes = solid.nodes.clone();
    nodes.sort_unstable();
    match nodes.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(FeError::RepeatedNode {
            element: solid.number,
            kind: solid.kind.name(),
            node: mesh.numbers.get(pair[0]).copied().unwrap_or(pair[0] + 1),
        }),
    }
}

/// Slopes of all functions at a point of the reference element, and the weight of the point.
type RulePoint = (Vec<[f64; 3]>, f64);

/// The slopes of the functions of an element at one of its points, with the volume it stands for.
struct Station {
    slopes: Vec<[f64; 3]>,
    volume: f64,
}

impl<'m> Elements<'m> {
    /// Looks at every element once.
    ///
    /// # Errors
    /// For elements that are inverted or have no material.
    pub(crate) fn new(mesh: &'m Mesh, materials: &[MaterialSpec]) -> Result<Self, FeError> {
        if mesh.solids.is_empty() {
            return Err(FeError::NoSolids);
        }
        mesh.solids
            .iter()
            .try_for_each(|solid| distinct(mesh, solid))?;
        let material = materials_of(mesh, materials)?;
        let mut elements = Self {
            mesh,
            lame: Vec::with_capacity(material.len()),
            density: Vec::with_capacity(material.len()),
            mass: Vec::with_capacity(material.len()),
            rules: [Kind::Tetra4, Kind::Tetra10, Kind::Hexa8, Kind::Hexa20]
                .map(|kind| (kind, rule_points(kind)))
                .into(),
        };
        for (
            index,
            &MaterialSpec {
                youngs_modulus_pa: e,
                poisson_ratio: nu,
                density_kg_per_m3,
                ..
            },
        ) in material.iter().copied().enumerate()
        {
            let lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
            elements.lame.push([lambda, 0.5 * e / (1.0 + nu)]);
            elements.density.push(density_kg_per_m3);
            let mass = elements.element_mass(index)?;
            elements.mass.push(mass);
            elements.stations(index)?;
        }
        Ok(elements)
    }

    fn element_mass(&self, index: usize) -> Result<Vec<f64>, FeError> {
        let solid = &self.mesh.solids[index];
        let size = solid.nodes.len();
        let mut mass = vec![0.0; size * size];
        for (at, weight) in solid.kind.mass_rule() {
            let functions = solid.kind.functions(at);
            let slopes: Vec<[f64; 3]> = functions.iter().map(|f| f.slopes).collect();
            let (_, determinant) = self.jacobian(index, &slopes)?;
            let weight = weight * determinant * self.density[index];
            for (i, a) in functions.iter().enumerate() {
                for (j, b) in functions.iter().enumerate() {
                    mass[i * size + j] += weight * a.value * b.value;
                }
            }
        }
        Ok(mass)
    }

    /// $`\partial x/\partial\xi`$ and its determinant, which must be positive.
    fn jacobian(&self, index: usize, slopes: &[[f64; 3]]) -> Result<(Matrix3<f64>, f64), FeError> {
        let solid = &self.mesh.solids[index];
        let mut jacobian = Matrix3::zeros();
        for (&node, slope) in solid.nodes.iter().zip(slopes) {
            for i in 0..3 {
                for j in 0..3 {
                    jacobian[(i, j)] += self.mesh.nodes[node][i] * slope[j];
                }
            }
        }
        let determinant = jacobian.determinant();
        if determinant > 0.0 {
            Ok((jacobian, determinant))
        } else {
            Err(FeError::Inverted {
                element: solid.number,
                kind: solid.kind.name(),
                at: self.mesh.nodes[solid.nodes[0]],
                determinant,
            })
        }
    }

    fn stations(&self, index: usize) -> Result<Vec<Station>, FeError> {
        let kind = self.mesh.solids[index].kind;
        let rules = self.rules.iter().filter(|(of, _)| *of == kind);
        let points = rules.flat_map(|(_, points)| points);
        points.map(|point| self.station(index, point)).collect()
    }

    fn station(&self, index: usize, (reference, weight): &RulePoint) -> Result<Station, FeError> {
        let (jacobian, determinant) = self.jacobian(index, reference)?;
        // rows of the inverse, by cross products of the columns
        let row = |j: usize| {
            jacobian
                .column((j + 1) % 3)
                .cross(&jacobian.column((j + 2) % 3))
        };
        let rows = [row(0), row(1), row(2)].map(|row| row / determinant);
        let slopes = reference
            .iter()
            .map(|slope| std::array::from_fn(|i| (0..3).map(|j| rows[j][i] * slope[j]).sum()));
        Ok(Station {
            slopes: slopes.collect(),
            volume: weight * determinant,
        })
    }

    /// Stress of every field at a point of the reference element: xx, yy, zz, xy, xz, yz; none where the element is bent beyond a right angle.
    pub(crate) fn stresses(
        &self,
        index: usize,
        at: [f64; 3],
        fields: &[Field],
    ) -> Option<Vec<[f64; 6]>> {
        let solid = &self.mesh.solids[index];
        let functions = solid.kind.functions(at);
        let point = (functions.iter().map(|f| f.slopes).collect(), 1.0);
        let station = self.station(index, &point).ok()?;
        let of_field = |field: &Field| {
            let s = self.stress(index, &gradient(&station, &solid.nodes, field));
            [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| s[at])
        };
        Some(fields.iter().map(of_field).collect())
    }

    /// Stiffness of one element, three rows and columns per node.
    pub(crate) fn stiffness(&self, index: usize) -> Result<DMatrix<f64>, FeError> {
        let size = self.mesh.solids[index].nodes.len();
        let [lambda, mu] = self.lame[index];
        let stations = self.stations(index)?;
        let mut stiffness = DMatrix::zeros(3 * size, 3 * size);
        for a in 0..size {
            for b in 0..=a {
                // ∫∇a ∇bᵀ dV
                let mut slopes = Matrix3::zeros();
                for station in &stations {
                    let (g, h) = (station.slopes[a], station.slopes[b]);
                    for j in 0..3 {
                        for i in 0..3 {
                            slopes[(i, j)] += station.volume * g[i] * h[j];
                        }
                    }
                }
                let block = slopes * lambda
                    + (slopes.transpose() + Matrix3::identity() * slopes.trace()) * mu;
                let mut view = stiffness.fixed_view_mut::<3, 3>(3 * a, 3 * b);
                view.copy_from(&block);
                let mut view = stiffness.fixed_view_mut::<3, 3>(3 * b, 3 * a);
                view.copy_from(&block.transpose());
            }
        }
        Ok(stiffness)
    }

    /// $`\int \rho\,u\,dV`$ against the functions of the nodes.
    pub(crate) fn times_mass(&self, field: &Field) -> Field {
        let mut product = vec![[0.0; 3]; field.len()];
        for (solid, mass) in self.mesh.solids.iter().zip(&self.mass) {
            for (&row, entries) in solid.nodes.iter().zip(mass.chunks_exact(solid.nodes.len())) {
                let mut sum = [0.0; 3];
                for (&column, entry) in solid.nodes.iter().zip(entries) {
                    for (sum, value) in sum.iter_mut().zip(field[column]) {
                        *sum += entry * value;
                    }
                }
                for (product, sum) in product[row].iter_mut().zip(sum) {
                    *product += sum;
                }
            }
        }
        for &Lump { node, mass, .. } in &self.mesh.lumps {
            for (product, value) in product[node].iter_mut().zip(field[node]) {
                *product += mass * value;
            }
        }
        product
    }

    /// Forces that hold displacements, at those nodes that are `wanted`.
    pub(crate) fn forces(&self, fields: &[Field], wanted: &[bool]) -> Vec<Field> {
        let mut forces: Vec<Field> = fields
            .iter()
            .map(|field| vec![[0.0; 3]; field.len()])
            .collect();
        let touched = |nodes: &[usize]| nodes.iter().any(|&node| wanted[node]);
        self.at_stations(touched, |index, station, solid| {
            for (field, forces) in fields.iter().zip(&mut forces) {
                let stress = self.stress(index, &gradient(station, solid, field)) * station.volume;
                for (&node, g) in solid.iter().zip(&station.slopes) {
                    for i in 0..3 {
                        forces[node][i] += (0..3).map(|j| stress[(i, j)] * g[j]).sum::<f64>();
                    }
                }
            }
        });
        forces
    }

    /// $`\tfrac12\nabla\times u = \sum w\times u`$ around a node, the mean over the elements that have it: the nodes of these and their $`w`$.
    pub(crate) fn rotation_near(&self, node: usize) -> Vec<(usize, [f64; 3])> {
        let (mut rotation, mut volume) = (BTreeMap::new(), 0.0);
        self.at_stations(
            |nodes| nodes.contains(&node),
            |_, station, solid| {
                for (&node, slope) in solid.iter().zip(&station.slopes) {
                    let own = rotation.entry(node).or_insert([0.0; 3]);
                    for (own, slope) in own.iter_mut().zip(slope) {
                        *own += 0.5 * station.volume * slope;
                    }
                }
                volume += station.volume;
            },
        );
        let mean = |(node, own): (usize, [f64; 3])| (node, own.map(|w| w / volume));
        rotation.into_iter().map(mean).collect()
    }

    /// $`K'''(u, \psi_a, \psi_b)`$ for every field `u`, each a symmetric matrix over the shapes: the work of the forces that two shapes together
    /// put on the nodes, which are those of the stress
    ///
    /// ```math
    /// C : q(\psi_a, \psi_b) + \nabla\psi_a\,\sigma(\psi_b) + \nabla\psi_b\,\sigma(\psi_a) .
    /// ```
    ///
    /// # Errors
    /// When somebody stops it.
    pub(crate) fn third_derivative(
        &self,
        fields: &[Field],
        shapes: &[Field],
        stop: Stop<'_>,
    ) -> Result<Vec<DMatrix<f64>>, FeError> {
        let n = shapes.len();
        let pairs: Vec<(usize, usize)> =
            (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
        let mut found = vec![DMatrix::zeros(n, n); fields.len()];
        let mut of_shapes = Vec::with_capacity(n);
        let (mut forces, mut moved) = (Vec::new(), Vec::new());
        for (index, solid) in self.mesh.solids.iter().enumerate() {
            if stop() {
                return Err(FeError::Stopped);
            }
            let unknowns = 3 * solid.nodes.len();
            forces.clear();
            forces.resize(pairs.len() * unknowns, 0.0);
            // every element was looked at when this was made
            for station in self.stations(index).unwrap_or_default() {
                of_shapes.clear();
                of_shapes.extend(shapes.iter().map(|shape| {
                    let slope = gradient(&station, &solid.nodes, shape);
                    (slope, self.stress(index, &slope))
                }));
                for (&(a, b), forces) in pairs.iter().zip(forces.chunks_exact_mut(unknowns)) {
                    let ((slope_a, stress_a), (slope_b, stress_b)) = (&of_shapes[a], &of_shapes[b]);
                    let both = self.stress(index, &slope_a.tr_mul(slope_b));
                    let stress = (both + slope_a * stress_b + slope_b * stress_a) * station.volume;
                    for (force, g) in forces.chunks_exact_mut(3).zip(&station.slopes) {
                        for (i, force) in force.iter_mut().enumerate() {
                            *force += stress[(i, 0)] * g[0]
                                + stress[(i, 1)] * g[1]
                                + stress[(i, 2)] * g[2];
                        }
                    }
                }
            }
            for (field, matrix) in fields.iter().zip(&mut found) {
                moved.clear();
                moved.extend(solid.nodes.iter().flat_map(|&node| field[node]));
                for (&at, forces) in pairs.iter().zip(forces.chunks_exact(unknowns)) {
                    matrix[at] += dot(&moved, forces);
                }
            }
        }
        for matrix in &mut found {
            matrix.fill_upper_triangle_with_lower_triangle();
        }
        Ok(found)
    }

    fn stress(&self, index: usize, slope: &Matrix3<f64>) -> Matrix3<f64> {
        let [lambda, mu] = self.lame[index];
        (slope + slope.transpose()) * mu + Matrix3::identity() * (lambda * slope.trace())
    }

    /// Calls `visit` with every station of elements with nodes that are `wanted`, the element and its nodes.
    fn at_stations(
        &self,
        wanted: impl Fn(&[usize]) -> bool,
        mut visit: impl FnMut(usize, &Station, &[usize]),
    ) {
        let solids = self.mesh.solids.iter().enumerate();
        for (index, solid) in solids.filter(|(_, solid)| wanted(&solid.nodes)) {
            // every element was looked at when this was made
            for station in self.stations(index).unwrap_or_default() {
                visit(index, &station, &solid.nodes);
            }
        }
    }
}

fn rule_points(kind: Kind) -> Vec<RulePoint> {
    let points = kind.stiffness_rule().into_iter();
    points
        .map(|(at, weight)| {
            let functions = kind.functions(at);
            (functions.iter().map(|f| f.slopes).collect(), weight)
        })
        .collect()
}

/// $`\partial u_i/\partial x_j`$.
fn gradient(station: &Station, nodes: &[usize], field: &Field) -> Matrix3<f64> {
    let mut gradient = Matrix3::zeros();
    for (&node, slope) in nodes.iter().zip(&station.slopes) {
        for j in 0..3 {
            for i in 0..3 {
                gradient[(i, j)] += field[node][i] * slope[j];
            }
        }
    }
    gradient
}

/// The material of every element.
fn materials_of<'s>(
    mesh: &Mesh,
    materials: &'s [MaterialSpec],
) -> Result<Vec<&'s MaterialSpec>, FeError> {
    let mut of_group = vec![None; mesh.groups.len()];
    let mut of_others = None;
    for material in materials {
        let (slot, name) = match &material.group {
            Some(name) => (&mut of_group[mesh.volume_group(name)?], name.as_str()),
            None => (&mut of_others, "all that is left"),
        };
        if slot.replace(material).is_some() {
            let group = name.to_owned();
            return Err(FeError::TwoMaterials { group });
        }
    }
    let mut is_taken = vec![false; mesh.groups.len()];
    let mut found = Vec::with_capacity(mesh.solids.len());
    for solid in &mesh.solids {
        let mut named = solid
            .groups
            .iter()
            .filter(|&&group| of_group[group].is_some());
        let own = match (named.next(), named.next()) {
            (Some(&first), Some(&second)) => {
                return Err(FeError::MaterialsOfElement {
                    element: solid.number,
                    groups: [first, second].map(|group| mesh.groups[group].name.clone()),
                });
            }
            (Some(&group), None) => {
                is_taken[group] = true;
                of_group[group]
            }
            (None, _) => of_others,
        };
        found.push(own.ok_or_else(|| {
            let alike = mesh
                .solids
                .iter()
                .filter(|other| other.groups == solid.groups);
            FeError::NoMaterial {
                group: solid
                    .groups
                    .first()
                    .map(|&group| mesh.groups[group].name.clone()),
                count: alike.count(),
                element: solid.number,
            }
        })?);
    }
    let idle = (0..of_group.len()).find(|&group| of_group[group].is_some() && !is_taken[group]);
    match idle {
        Some(group) => Err(FeError::IdleMaterial {
            group: mesh.groups[group].name.clone(),
        }),
        None => Ok(found),
    }
}
