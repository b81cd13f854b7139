//! From elements to a [`ReducedSpec`]: basis, modal integrals, interfaces and second-order displacements.

use nalgebra::Vector3;

use crate::FeError;
use crate::bars;
use crate::basis::{self, Attached, Chosen};
use crate::finite_elements::{Field, FiniteElements, Moves, Place};
use crate::mesh::Mesh;
use crate::modes::{Mode, dot};
use crate::second_order::{Assembled, Load};
use crate::solids::Solids;
use crate::stop::Stop;
use crate::structure::{Frame, Structure, value};
use lissom_spec::spec::{
    MeshBasisSpec, MeshSpec, ReducedNodeSpec, ReducedSpec, SecondOrderIntegralsSpec,
};

/// Furthest that a node may lie from the origin, as far as positions of a model may.
const FURTHEST_M: f64 = 1e9;

/// A mesh, reduced, with what may be told of how.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// The body.
    pub body: ReducedSpec,
    /// What it came from.
    pub source: Source,
}

/// What a body was reduced from, and what the reduction leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The basis, if it was to be chosen.
    pub chosen: Option<Chosen>,
    /// Elements; none if it was given by matrices.
    pub elements: usize,
    /// How many of them are solids with functions that are linear along edges, which are too stiff in bending.
    pub linear_elements: usize,
    /// Unknowns: three or six per free node, six per interface that is tied rigidly, without the six that hold the body.
    pub unknowns: usize,
    /// Numbers that the factor of the stiffness holds.
    pub factor_entries: usize,
    /// Largest share of the mass of a mode that is no mass of displacements of nodes, by which its modal integrals may be off; zero for elements.
    pub from_displacements: f64,
    /// Largest share of the static deformation under linear and angular accelerations of the first interface that the basis does not make;
    /// none from mean axes, which such accelerations do not deform.
    pub left_out: Option<f64>,
    /// The interfaces that move in the frame of the body: all but the first, or all if the frame is not tangent there.
    pub interfaces: Vec<Residual>,
}

/// What the basis leaves out of the static compliance of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// Name of the interface.
    pub interface: String,
    /// Share of the displacement along x, y, z under a force along it that the basis does not make, then of the rotation about x, y, z under
    /// a moment.
    pub missing: [f64; 6],
}

/// Reduces a mesh to elastic coordinates, in the frame of its file.
///
/// # Errors
/// For meshes that are not one sound body with materials and interfaces, or when it is stopped.
pub fn reduce(
    mesh: &Mesh,
    spec: &MeshSpec,
    attached: &Attached,
    stop: Stop<'_>,
) -> Result<Reduction, FeError> {
    none_is_far(mesh)?;
    if let Some(unread) = &mesh.unread {
        return Err(unread.clone());
    }
    if !mesh.bars.is_empty() {
        let beams = bars::beams(mesh, spec, &attached.points)?;
        return reduced(&beams, &spec.basis, attached, spec.stiffening, stop);
    }
    let solids = Solids::new(mesh, spec, &attached.points)?;
    let mut found = reduced(&solids, &spec.basis, attached, spec.stiffening, stop)?;
    let linear = mesh.solids.iter().filter(|own| own.kind.is_linear());
    found.source.linear_elements = linear.count();
    Ok(found)
}

/// Asks for nodes within reach.
pub(crate) fn none_is_far(mesh: &Mesh) -> Result<(), FeError> {
    let is_far = |node: &&[f64; 3]| node.iter().any(|x| x.abs() > FURTHEST_M);
    let far = mesh.nodes.iter().find(is_far);
    far.map_or(Ok(()), |&at| Err(FeError::Far { at }))
}

/// Reduces a body of elements to elastic coordinates.
///
/// # Errors
/// If it is not one body that its first interface holds, has fewer modes than are asked for, or when it is stopped.
pub(crate) fn reduced(
    elements: &dyn FiniteElements,
    basis: &MeshBasisSpec,
    attached: &Attached,
    stiffening: bool,
    stop: Stop<'_>,
) -> Result<Reduction, FeError> {
    let interfaces = &elements.places()[..elements.interfaces()];
    let frames = interfaces.iter().filter_map(|place| match &place.moves {
        Moves::Frame(frame) => Some(frame.clone()),
        Moves::Point { .. } => None,
    });
    let mass = |x: &[f64]| elements.loads(&elements.times_mass(&elements.field(x)));
    let mut structure = Structure::new(frames.collect(), elements.rigid_motions(), mass, |held| {
        elements.factorised(held, stop)
    })?;
    let names: Vec<&str> = interfaces.iter().map(|place| place.name.as_str()).collect();
    let chosen = basis::choose(basis, &structure, &names, attached);
    let basis = chosen.as_ref().map_or(basis, |own| &own.basis);
    let mut modes = basis::modes(&mut structure, basis, &names, attached, stop)?;
    let shapes = signed(&mut modes, |x| elements.field(x));
    let assembled = Assembled {
        elements,
        structure: &structure,
        stop,
    };
    let mut body = assembled.integrals(&modes, &shapes);
    body.nodes = assembled.nodes(&modes, &shapes);
    let vectors: Vec<&[f64]> = modes.iter().map(|mode| mode.vector.as_slice()).collect();
    body.surface = elements.surface(&vectors, &shapes);
    if stiffening {
        assembled.stiffen(&mut body, &modes, &shapes)?;
    }
    Ok(Reduction {
        body,
        source: Source {
            chosen,
            elements: elements.elements(),
            linear_elements: 0,
            unknowns: structure.deformations(),
            factor_entries: structure.factor_entries(),
            from_displacements: 0.0,
            left_out: basis::left_out(&structure, &modes),
            interfaces: residuals(&structure, &names, &modes),
        },
    })
}

/// The fields of modes, each with its largest displacement positive.
pub(crate) fn signed(modes: &mut [Mode], field: impl Fn(&[f64]) -> Field) -> Vec<Field> {
    (modes.iter_mut())
        .map(|mode| {
            let mut shape = field(&mode.vector);
            if largest(&shape) < 0.0 {
                mode.vector.iter_mut().for_each(|x| *x = -*x);
                shape.iter_mut().flatten().for_each(|x| *x = -*x);
            }
            shape
        })
        .collect()
}

/// The displacement of a field that is largest in size, with its sign.
fn largest(field: &Field) -> f64 {
    /// What is less larger than another is as large: sides of a symmetric body differ by rounding.
    const ALIKE: f64 = 1.0 + 1e-6;
    let all = field.iter().flatten();
    all.fold(0.0, |most: f64, &x| {
        if x.abs() > ALIKE * most.abs() {
            x
        } else {
            most
        }
    })
}

/// A frame as a node of a body; `None` if it does not move.
pub(crate) fn frame_node(
    name: &str,
    position_m: [f64; 3],
    frame: Option<&Frame>,
    modes: &[Mode],
) -> ReducedNodeSpec {
    let influence = frame.map_or_else(Vec::new, |frame| {
        // rotations stand before displacements
        let rows = frame[3..].iter().chain(&frame[..3]);
        rows.map(|row| modes.iter().map(|mode| value(row, &mode.vector)).collect())
            .collect()
    });
    ReducedNodeSpec {
        name: name.to_owned(),
        position_m,
        influence,
        second_order: Vec::new(),
    }
}

/// What a basis leaves out of the compliance of the interfaces that move.
pub(crate) fn residuals(
    structure: &Structure<'_>,
    interfaces: &[&str],
    modes: &[Mode],
) -> Vec<Residual> {
    /// Compliance, relative to the largest to forces or to moments, that is rounding: what holds the frame does not give way.
    const RIGID: f64 = 1e-9;
    let loads = structure.frame_loads();
    let responses = structure.solve(&loads);
    let whole: Vec<f64> = (loads.iter().zip(&responses))
        .map(|(load, response)| dot(load, response))
        .collect();
    let missing = |interface: usize, row: usize| {
        let index = 6 * interface + row;
        // forces and moments are of two kinds
        let kind = |index: usize| index % 6 / 3;
        let alike = (whole.iter().enumerate()).filter(|(other, _)| kind(*other) == kind(index));
        let largest = alike.fold(0.0, |most: f64, (_, own)| most.max(*own));
        if whole[index] <= RIGID * largest {
            return 0.0;
        }
        let kept = modes
            .iter()
            .map(|mode| dot(&loads[index], &mode.vector).powi(2) / mode.square);
        1.0 - kept.sum::<f64>() / whole[index]
    };
    let moving = interfaces.iter().skip(structure.first_moving());
    moving
        .enumerate()
        .map(|(index, &interface)| Residual {
            interface: interface.to_owned(),
            missing: std::array::from_fn(|row| missing(index, row)),
        })
        .collect()
}

impl Assembled<'_> {
    /// The frame of a place, if it has one that moves.
    fn frame<'p>(&'p self, index: usize, place: &'p Place) -> Option<&'p Frame> {
        match &place.moves {
            Moves::Frame(_) if index < self.elements.interfaces() => {
                self.structure.moving_frame(index)
            }
            Moves::Frame(frame) => Some(frame),
            Moves::Point { .. } => None,
        }
    }

    /// The places as nodes of a body, with what moves them to first order.
    fn nodes(&self, modes: &[Mode], shapes: &[Field]) -> Vec<ReducedNodeSpec> {
        let node = |(index, place): (usize, &Place)| {
            let mut node = frame_node(&place.name, place.position, self.frame(index, place), modes);
            if let Moves::Point { point, rotation } = &place.moves {
                let rotation = |shape: &Field| {
                    let turned = rotation
                        .iter()
                        .map(|&(point, w)| Vector3::from(w).cross(&Vector3::from(shape[point])));
                    turned.sum::<Vector3<f64>>()
                };
                let rotations: Vec<Vector3<f64>> = shapes.iter().map(rotation).collect();
                let turned = |k: usize| rotations.iter().map(|rotation| rotation[k]).collect();
                let moved = |k: usize| shapes.iter().map(|shape| shape[*point][k]).collect();
                node.influence = (0..3).map(turned).chain((0..3).map(moved)).collect();
            }
            node
        };
        self.elements
            .places()
            .iter()
            .enumerate()
            .map(node)
            .collect()
    }

    /// The field that moves every point along axis `k`, by the factor of its own coordinate along `i` if there is one.
    fn moved_along(&self, k: usize, i: Option<usize>) -> Field {
        let along = |point: &[f64; 3]| {
            let mut moved = [0.0; 3];
            moved[k] = i.map_or(1.0, |i| point[i]);
            moved
        };
        self.elements.positions().iter().map(along).collect()
    }

    /// Mass properties, stiffness and modal integrals.
    fn integrals(&self, modes: &[Mode], shapes: &[Field]) -> ReducedSpec {
        let n = modes.len();
        let points = self.elements.positions();
        let with_mass: Vec<Field> = (shapes.iter())
            .map(|shape| self.elements.times_mass(shape))
            .collect();
        let constant = self.elements.times_mass(&vec![[1.0; 3]; points.len()]);
        let positions = self.elements.times_mass(points);
        let sum = |a: &Field, i: usize, b: &Field, j: usize| -> f64 {
            a.iter().zip(b).map(|(a, b)| a[i] * b[j]).sum()
        };
        let mass: f64 = constant.iter().map(|own| own[0]).sum();
        let centre: [f64; 3] = std::array::from_fn(|k| sum(&constant, k, points, k) / mass);
        let second =
            |i: usize, j: usize| sum(&positions, i, points, j) - mass * centre[i] * centre[j];
        let trace = second(0, 0) + second(1, 1) + second(2, 2);
        let matrix = |a: &Field, b: &Field| -> [[f64; 3]; 3] {
            std::array::from_fn(|i| std::array::from_fn(|j| sum(a, i, b, j)))
        };
        let mut products = vec![vec![[[0.0; 3]; 3]; n]; n];
        for a in 0..n {
            for b in a..n {
                let product = matrix(&shapes[a], &with_mass[b]);
                products[a][b] = product;
                products[b][a] = std::array::from_fn(|i| std::array::from_fn(|j| product[j][i]));
            }
        }
        let diagonal = |entry: &dyn Fn(usize) -> f64| {
            (0..n)
                .map(|row| {
                    (0..n)
                        .map(|column| if row == column { entry(row) } else { 0.0 })
                        .collect()
                })
                .collect()
        };
        ReducedSpec {
            coordinates: Vec::new(),
            mass_kg: mass,
            center_of_mass_m: centre,
            inertia_kg_m2: std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    let [i, j] = [i.min(j), i.max(j)];
                    if i == j {
                        trace - second(i, i)
                    } else {
                        -second(i, j)
                    }
                })
            }),
            stiffness: diagonal(&|mode| modes[mode].square),
            mass_matrix: diagonal(&|_| 1.0),
            displacement_integrals: (with_mass.iter())
                .map(|own| std::array::from_fn(|k| own.iter().map(|x| x[k]).sum()))
                .collect(),
            position_integrals: with_mass.iter().map(|own| matrix(points, own)).collect(),
            product_integrals: products,
            nodes: Vec::new(),
            second_order: None,
            surface: None,
        }
    }

    /// Forces and moments of one on a place that may move.
    fn loads_on(&self, index: usize, place: &Place) -> Vec<Load> {
        if let Some(frame) = self.frame(index, place) {
            // rotations stand before displacements
            let rows = [3, 4, 5, 0, 1, 2].into_iter();
            return rows
                .map(|row| self.load_on_frame(index, frame, row))
                .collect();
        }
        let Moves::Point { point, .. } = place.moves else {
            return Vec::new();
        };
        let along = |k: usize| {
            let mut forces = vec![[0.0; 3]; self.elements.positions().len()];
            forces[point][k] = 1.0;
            self.load(&forces)
        };
        (0..3).map(along).collect()
    }

    /// Adds the second-order displacements.
    fn stiffen(
        &self,
        body: &mut ReducedSpec,
        modes: &[Mode],
        shapes: &[Field],
    ) -> Result<(), FeError> {
        let elements = self.elements;
        let of_mass = |field: &Field| self.load(&elements.times_mass(field));
        let uniform = (0..3).map(|k| of_mass(&self.moved_along(k, None)));
        let growing =
            (0..3).flat_map(|i| (0..3).map(move |k| of_mass(&self.moved_along(k, Some(i)))));
        let places = || elements.places().iter().enumerate();
        let on_places = places().flat_map(|(index, place)| self.loads_on(index, place));
        let loads = uniform.chain(growing).chain(shapes.iter().map(of_mass));
        let n = modes.len();
        let hessians = self.hessians(modes, loads.chain(on_places))?;
        let mut hessians = hessians.iter().map(|own| -> Vec<Vec<f64>> {
            let row = |i: usize| (0..n).map(|j| 0.5 * (own[(i, j)] + own[(j, i)])).collect();
            (0..n).map(row).collect()
        });
        let mut next = |count: usize| hessians.by_ref().take(count).collect::<Vec<_>>();
        body.second_order = Some(SecondOrderIntegralsSpec {
            displacement_integrals: next(3),
            position_integrals: (0..3).map(|_| next(3)).collect(),
            shape_integrals: next(n),
        });
        for (node, (index, place)) in body.nodes.iter_mut().zip(places()) {
            if self.frame(index, place).is_some() {
                node.second_order = next(6);
            } else if let Moves::Point { .. } = place.moves {
                // its rotation is that of first order
                node.second_order = vec![vec![vec![0.0; n]; n]; 3];
                node.second_order.extend(next(3));
            }
        }
        Ok(())
    }
}
