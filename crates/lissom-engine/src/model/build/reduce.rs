//! Bodies of the file become mass properties and elastic coordinates.

use std::collections::BTreeMap;

use super::BuildError;
use lissom_core::rotation_matrix;
use lissom_spatial::{Matrix, RigidInertia, Symmetric, Transform, Vector};
use lissom_spec::spec::{
    self, BasisSpec, BeamSpec, BodyKind, BodySpec, DampingSpec, FunctionsSpec, ModelSpec,
    NodalSpec, ReducedNodeSpec, ReducedSpec,
};
use lissom_tree::Place;
use lissom_tree::flex::{
    Basis, Beam, Boundary, Damping, Deformation, FlexError, FlexibleBody, Functions, Membrane,
    NodalBody, NodalMass, Node, ReducedBody, SecondOrderIntegrals, Segment,
};

/// A body of the file, reduced.
pub(super) struct Reduced {
    pub(super) rigid: RigidInertia<f64>,
    pub(super) flexible: Option<FlexibleBody>,
    /// Undeformed positions of the nodes of `flexible`.
    nodes: Vec<[f64; 3]>,
}

impl Reduced {
    /// The place at an undeformed position, or at a node that is known, turned by a rotation vector.
    pub(super) fn place(
        &self,
        position: [f64; 3],
        node: Option<usize>,
        rotation_vector: [f64; 3],
    ) -> Place {
        let rotation = rotation_matrix(Vector(rotation_vector));
        let at = Transform::new(rotation, Vector(position));
        let Some(flexible) = &self.flexible else {
            return Place::Fixed(at);
        };
        match node.or_else(|| self.nodes.iter().position(|node| *node == position)) {
            Some(index) => Place::Node {
                index,
                offset: Transform::new(rotation, Vector::zero()),
            }
            .simplified(Some(flexible)),
            None => Place::Fixed(at),
        }
    }
}

/// Undeformed positions on every body that something is attached to.
pub(crate) fn places_in_use(spec: &ModelSpec) -> BTreeMap<&str, Vec<[f64; 3]>> {
    let bodies = spec.bodies_by_name();
    let mut places: BTreeMap<&str, Vec<[f64; 3]>> = BTreeMap::new();
    let mut note = |body: &str, place: spec::Place<'_>, child_side: bool| {
        let Some(body) = bodies.get(body) else {
            return;
        };
        if let Some(position) = body.position(place, child_side) {
            let known = places.entry(body.name.as_str()).or_default();
            if !known.contains(&position) {
                known.push(position);
            }
        }
    };
    for joint in &spec.joint {
        note(&joint.parent.body, joint.parent.place(), false);
        note(&joint.child.body, joint.child.place(), true);
    }
    for end in (spec.loops.iter()).flat_map(|closure| [&closure.from, &closure.to]) {
        let end = spec.loop_end(end);
        note(end.body, end.place, false);
    }
    for support in &spec.support {
        let end = spec.loop_end(&support.on);
        note(end.body, end.place, false);
    }
    for payload in &spec.payload {
        note(&payload.body, payload.place(), false);
    }
    for marker in &spec.marker {
        note(&marker.body, marker.place(), false);
    }
    places
}

/// Every body of the file by its name, or every reason why one cannot be reduced.
pub(super) fn bodies(spec: &ModelSpec) -> Result<BTreeMap<&str, Reduced>, Vec<BuildError>> {
    let places = places_in_use(spec);
    let mut reduced = BTreeMap::new();
    let mut errors = Vec::new();
    for (index, body) in spec.body.iter().enumerate() {
        let used = places
            .get(body.name.as_str())
            .map_or(&[][..], Vec::as_slice);
        match reduce(body, used) {
            Ok(result) => {
                reduced.insert(body.name.as_str(), result);
            }
            Err(source) => errors.push(BuildError {
                body: index,
                name: body.name.clone(),
                source,
            }),
        }
    }
    // payloads on rigid bodies are part of them
    let written = spec.bodies_by_name();
    for payload in &spec.payload {
        let host = written.get(payload.body.as_str());
        let position = host.and_then(|host| host.position(payload.place(), false));
        if let (Some(position), Some(host)) = (position, reduced.get_mut(payload.body.as_str()))
            && host.flexible.is_none()
        {
            let at = Transform::new(Matrix::identity(), Vector(position));
            host.rigid = host.rigid + payload_inertia(payload).to_parent(&at);
        }
    }
    if errors.is_empty() {
        Ok(reduced)
    } else {
        Err(errors)
    }
}

fn reduce(body: &BodySpec, used: &[[f64; 3]]) -> Result<Reduced, FlexError> {
    let damping = match &body.damping {
        None => Damping::None,
        Some(DampingSpec::ModalRatio(ratio)) => Damping::ModalRatios(vec![*ratio]),
        Some(DampingSpec::ModalRatios(ratios)) => Damping::ModalRatios(ratios.clone()),
        Some(DampingSpec::Rayleigh(r)) => Damping::Rayleigh {
            mass: r.mass_per_s,
            stiffness: r.stiffness_s,
        },
    };
    let flexible = match body.kind() {
        Some(BodyKind::Rigid(rigid)) => {
            let own = inertia_about_centre(
                rigid.mass_kg,
                rigid.center_of_mass_m,
                rigid.inertia_kg_m2,
                rigid.products_of_inertia_kg_m2,
            );
            let points = body.point_mass.iter().filter_map(|point| {
                let position = body.position(point.place(), false)?;
                Some(inertia_about_centre(
                    point.mass_kg,
                    position,
                    [0.0; 3],
                    [0.0; 3],
                ))
            });
            return Ok(Reduced {
                rigid: points.fold(own, |sum, point| sum + point),
                flexible: None,
                nodes: Vec::new(),
            });
        }
        Some(BodyKind::Beam(beam)) => {
            let x: Vec<f64> = used.iter().map(|position| position[0]).collect();
            beam_of(body, beam).reduce(&x, &damping)?
        }
        Some(BodyKind::Nodal(nodal)) => nodal_of(body, nodal).reduce(&damping)?,
        Some(BodyKind::Reduced(reduced)) => reduced_of(body, reduced).reduce(&damping)?,
        Some(
            BodyKind::Frame(_)
            | BodyKind::Mesh(_)
            | BodyKind::ReducedFile(_)
            | BodyKind::NodalFile(_),
        )
        | None => {
            return Err(FlexError::NoModes);
        }
    };
    check_initial(body, &flexible)?;
    let rigid = RigidInertia::from_moments(
        flexible.mass,
        Vector(flexible.first_moment),
        Matrix(flexible.second_moment),
    );
    let bends = !flexible.coordinates.is_empty();
    Ok(Reduced {
        rigid,
        nodes: flexible.nodes.iter().map(|node| node.position).collect(),
        flexible: bends.then_some(flexible),
    })
}

/// Refuses a deformation at the start that the body does not have. The checks of the file find it unless the
/// coordinates are known only now.
fn check_initial(body: &BodySpec, flexible: &FlexibleBody) -> Result<(), FlexError> {
    let initial = body.initial.iter();
    let mut names = initial.flat_map(|i| i.elastic.keys().chain(i.elastic_rate.keys()));
    match names.find(|name| !flexible.coordinates.contains(name)) {
        None => Ok(()),
        Some(name) => Err(FlexError::UnknownCoordinate {
            name: name.clone(),
            known: flexible.coordinates.clone(),
        }),
    }
}

/// The beam that a body of the file describes.
pub(crate) fn beam_of(body: &BodySpec, beam: &BeamSpec) -> Beam {
    let segments = beam.uniform_segments();
    let held = |boundary: Boundary, counts: &spec::ModeCounts| Basis::Functions {
        of: counts.in_order().map(|count| Functions { boundary, count }),
        foreshortening: counts.foreshortening,
    };
    let basis = match &beam.basis {
        BasisSpec::ClampedFree(counts) => held(Boundary::Clamped, counts),
        BasisSpec::FreeFree(counts) => held(Boundary::Free, counts),
        BasisSpec::Unconstrained(counts) => held(Boundary::Unconstrained, counts),
        BasisSpec::PinnedPinned(counts) => held(Boundary::PinnedPinned, counts),
        BasisSpec::ClampedClamped(counts) => held(Boundary::ClampedClamped, counts),
        BasisSpec::FixedInterface(counts) => held(Boundary::FixedInterface, counts),
        BasisSpec::Each(each) => Basis::Functions {
            of: each.in_order().map(functions),
            foreshortening: false,
        },
        // a mechanism has chosen before; a beam that comes here another way has no functions and is refused
        BasisSpec::Auto(_) => held(Boundary::Clamped, &spec::ModeCounts::default()),
        BasisSpec::Elements(elements) => {
            let given = |stiffness: fn(&spec::SegmentSpec) -> Option<f64>| {
                segments.iter().all(|s| stiffness(s).is_some())
            };
            let planes = [
                (
                    Deformation::BendingY,
                    elements
                        .bending_y
                        .unwrap_or(given(|s| s.bending_stiffness_y_n_m2)),
                ),
                (
                    Deformation::BendingZ,
                    elements
                        .bending_z
                        .unwrap_or(given(|s| s.bending_stiffness_z_n_m2)),
                ),
                (Deformation::Stretch, elements.stretch),
                (Deformation::Torsion, elements.torsion),
            ];
            Basis::Elements {
                per_segment: segments
                    .iter()
                    .map(|s| s.elements.or(elements.count).unwrap_or(1))
                    .collect(),
                planes: planes
                    .into_iter()
                    .filter_map(|(deformation, kept)| kept.then_some(deformation))
                    .collect(),
                modes: elements.modes,
                boundary: match elements.boundary {
                    spec::Boundary::Clamped => Boundary::Clamped,
                    spec::Boundary::Free => Boundary::Free,
                    spec::Boundary::Unconstrained => Boundary::Unconstrained,
                },
                membrane: match elements.membrane {
                    spec::Membrane::Pointwise => Membrane::Pointwise,
                    spec::Membrane::Averaged => Membrane::Averaged,
                },
            }
        }
    };
    Beam {
        segments: segments
            .iter()
            .map(|s| Segment {
                length: s.length_m,
                mass_per_length: s.mass_per_length_kg_per_m,
                bending_stiffness: [
                    s.bending_stiffness_y_n_m2.unwrap_or(0.0),
                    s.bending_stiffness_z_n_m2.unwrap_or(0.0),
                ],
                axial_stiffness: s.axial_stiffness_n.unwrap_or(0.0),
                torsional_stiffness: s.torsional_stiffness_n_m2.unwrap_or(0.0),
                section_inertia: [s.section_inertia_y_kg_m, s.section_inertia_z_kg_m],
            })
            .collect(),
        rotary_inertia: beam.rotary_inertia,
        basis,
        point_masses: body
            .point_mass
            .iter()
            .filter_map(|point| Some((body.position(point.place(), false)?[0], point.mass_kg)))
            .collect(),
    }
}

/// Functions of one deformation; none if it does not occur.
fn functions(spec: Option<FunctionsSpec>) -> Functions {
    let boundary = match spec {
        None | Some(FunctionsSpec::ClampedFree(_)) => Boundary::Clamped,
        Some(FunctionsSpec::FreeFree(_)) => Boundary::Free,
        Some(FunctionsSpec::PinnedPinned(_)) => Boundary::PinnedPinned,
        Some(FunctionsSpec::ClampedClamped(_)) => Boundary::ClampedClamped,
        Some(FunctionsSpec::FixedInterface(_)) => Boundary::FixedInterface,
    };
    let count = spec.map_or(0, FunctionsSpec::count);
    Functions { boundary, count }
}

fn nodal_of(body: &BodySpec, nodal: &NodalSpec) -> NodalBody {
    let n = nodal.stiffness.len();
    let coordinates = if nodal.coordinates.len() == n {
        nodal.coordinates.clone()
    } else {
        (1..=n).map(|i| format!("mode_{i}")).collect()
    };
    let mut nodes: Vec<NodalMass> = nodal
        .nodes
        .iter()
        .map(|node| NodalMass {
            position: node.position_m,
            mass: node.mass_kg,
            centre: node.center_of_mass_m,
            inertia: node.inertia_kg_m2,
            influence: std::array::from_fn(|i| {
                node.influence
                    .get(i)
                    .cloned()
                    .unwrap_or_else(|| vec![0.0; n])
            }),
        })
        .collect();
    for point in &body.point_mass {
        let position = body.position(point.place(), false);
        if let Some(node) = nodes
            .iter_mut()
            .find(|node| Some(node.position) == position)
        {
            // a mass at the node moves the node's centre and leaves its inertia about the node
            let mass = node.mass + point.mass_kg;
            node.centre = node.centre.map(|c| c * node.mass / mass);
            node.mass = mass;
        }
    }
    NodalBody {
        coordinates,
        nodes,
        stiffness: nodal.stiffness.concat(),
    }
}

fn reduced_of(body: &BodySpec, reduced: &ReducedSpec) -> ReducedBody {
    let n = reduced.stiffness.len();
    let coordinates = if reduced.coordinates.len() == n {
        reduced.coordinates.clone()
    } else {
        (1..=n).map(|i| format!("mode_{i}")).collect()
    };
    let (mass, centre) = (reduced.mass_kg, reduced.center_of_mass_m);
    let tensor = reduced.inertia_kg_m2;
    let half_trace = 0.5 * (tensor[0][0] + tensor[1][1] + tensor[2][2]);
    let second_order = reduced.second_order.as_ref().map(|own| {
        let matrices = || {
            let with_position = own.position_integrals.iter().flatten();
            own.displacement_integrals.iter().chain(with_position)
        };
        let at = |alpha: usize, beta: usize| {
            let mut sums = [0.0; 12];
            for (sum, matrix) in sums.iter_mut().zip(matrices()) {
                *sum = matrix[alpha][beta];
            }
            sums
        };
        SecondOrderIntegrals {
            sums: (0..n * n).map(|entry| at(entry / n, entry % n)).collect(),
            with_shapes: own
                .shape_integrals
                .iter()
                .flatten()
                .flatten()
                .copied()
                .collect(),
        }
    });
    let mut made = ReducedBody {
        coordinates,
        mass,
        first_moment: centre.map(|x| mass * x),
        second_moment: std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let diagonal = if i == j { half_trace } else { 0.0 };
                diagonal - tensor[i][j] + mass * centre[i] * centre[j]
            })
        }),
        stiffness: reduced.stiffness.concat(),
        mass_matrix: reduced.mass_matrix.concat(),
        first: reduced.displacement_integrals.clone(),
        with_position: reduced.position_integrals.clone(),
        products: reduced.product_integrals.concat(),
        nodes: (reduced.nodes.iter())
            .map(|node| reduced_node(node, n, second_order.is_some()))
            .collect(),
        second_order,
    };
    for point in &body.point_mass {
        let position = body.position(point.place(), false);
        let at = made
            .nodes
            .iter()
            .position(|node| Some(node.position) == position);
        if let Some(node) = at {
            made.add_point_mass(node, point.mass_kg);
        }
    }
    made
}

fn reduced_node(node: &ReducedNodeSpec, n: usize, has_second_order: bool) -> Node {
    let vectors = |first: usize| {
        let entry =
            |row: usize, alpha: usize| node.influence.get(row).map_or(0.0, |row| row[alpha]);
        (0..n)
            .map(|alpha| std::array::from_fn(|axis| entry(first + axis, alpha)))
            .collect::<Vec<[f64; 3]>>()
    };
    // rotations stand before displacements in the file, behind them in the body
    let hessians = [3, 4, 5, 0, 1, 2].iter().flat_map(|&row| {
        let own = node.second_order.get(row).map(|rows| rows.concat());
        own.unwrap_or_else(|| vec![0.0; n * n])
    });
    Node {
        position: node.position_m,
        displacement: vectors(3),
        rotation: vectors(0),
        second_order: if has_second_order {
            hessians.collect()
        } else {
            Vec::new()
        },
    }
}

/// Inertia about the frame's origin from moments about the centre of mass.
fn inertia_about_centre(
    mass: f64,
    centre: [f64; 3],
    [xx, yy, zz]: [f64; 3],
    [xy, xz, yz]: [f64; 3],
) -> RigidInertia<f64> {
    RigidInertia {
        mass,
        first_moment: Vector::zero(),
        rotational: Symmetric([xx, xy, xz, yy, yz, zz]),
    }
    .to_parent(&Transform::new(Matrix::identity(), Vector(centre)))
}

/// Inertia of a payload about its place.
pub(super) fn payload_inertia(payload: &spec::PayloadSpec) -> RigidInertia<f64> {
    inertia_about_centre(
        payload.mass_kg,
        payload.center_of_mass_m,
        payload.inertia_kg_m2,
        payload.products_of_inertia_kg_m2,
    )
}
