//! The rigid counterpart of a model: what the fidelity preset `rigid` makes of it.
//!
//! Links become rigid bodies with the same mass, centre of mass, inertia and places. A support that a rigid beam slides
//! through holds a point on a straight line, and with tied slopes a second one. In a model of nodes and elements every
//! deformation with a stiffness is suppressed. Joints keep what they have: springs, gears and motors are no links.

use std::borrow::Cow;
use std::collections::BTreeSet;

use lissom_core::rotation_matrix;
use lissom_spatial::{Matrix, RigidInertia, Symmetric, Transform, Vector};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    AttachmentSpec, BeamElementSpec, BeamRolesSpec, BeamSpec, BodyKind, BodySpec, LoopSpec,
    NodalNodeSpec, NodalSpec, NodeSpec, Place, PointOnLineSpec, ReducedSpec, RigidSpec, RoleSpec,
    Slopes, SupportSpec,
};

/// The model with rigid bodies in the place of the links that its fidelity makes rigid; itself if there are none.
pub(crate) fn rigid_counterpart(spec: &ModelSpec) -> Cow<'_, ModelSpec> {
    if spec.is_of_nodes() {
        return if spec.fidelity.is_rigid() {
            Cow::Owned(without_deformations(spec))
        } else {
            Cow::Borrowed(spec)
        };
    }
    let links = (spec.body.iter()).filter(|body| body.rigid.is_none() && spec.makes_rigid(body));
    let links: BTreeSet<&str> = links.map(|body| body.name.as_str()).collect();
    if links.is_empty() {
        return Cow::Borrowed(spec);
    }
    let mut rigid = spec.clone();
    say_places(&mut rigid, &links);
    for body in &mut rigid.body {
        if links.contains(body.name.as_str()) {
            *body = rigid_body(body);
        }
    }
    let (straight, bent): (Vec<_>, Vec<_>) =
        (spec.support.iter()).partition(|support| links.contains(support.beam.as_str()));
    rigid.support = bent.into_iter().cloned().collect();
    let lines = straight
        .into_iter()
        .flat_map(|support| lines(spec, support));
    rigid.loops.extend(lines);
    Cow::Owned(rigid)
}

/// Writes down the places of links that are understood where none is said: a rigid body has others.
fn say_places(spec: &mut ModelSpec, links: &BTreeSet<&str>) {
    let say = |body: &str, at: &mut Option<String>, position: Option<[f64; 3]>, end: &str| {
        if links.contains(body) && at.is_none() && position.is_none() {
            *at = Some(end.to_owned());
        }
    };
    let say_side = |side: &mut AttachmentSpec, end: &str| {
        say(&side.body, &mut side.at, side.position_m, end);
    };
    for joint in &mut spec.joint {
        say_side(&mut joint.parent, "tip");
        say_side(&mut joint.child, "root");
    }
    for closure in &mut spec.loops {
        say_side(&mut closure.from, "tip");
        say_side(&mut closure.to, "tip");
    }
    for support in &mut spec.support {
        say_side(&mut support.on, "tip");
    }
    for payload in &mut spec.payload {
        say(&payload.body, &mut payload.at, payload.position_m, "tip");
    }
    for marker in &mut spec.marker {
        say(&marker.body, &mut marker.at, marker.position_m, "tip");
    }
    for body in &mut spec.body {
        for mass in &mut body.point_mass {
            say(&body.name, &mut mass.at, mass.position_m, "tip");
        }
    }
}

/// A link as a rigid body that knows the same places by name.
fn rigid_body(link: &BodySpec) -> BodySpec {
    let (inertia, places) = match link.kind() {
        Some(BodyKind::Beam(beam)) => (beam_inertia(beam), vec!["root", "tip"]),
        Some(BodyKind::Nodal(nodal)) => {
            let names = nodal.nodes.iter().filter_map(|node| node.name.as_deref());
            (nodal_inertia(nodal), names.collect())
        }
        Some(BodyKind::Reduced(reduced)) => {
            let names = reduced.nodes.iter().map(|node| node.name.as_str());
            (reduced_inertia(reduced), names.collect())
        }
        _ => return link.clone(),
    };
    let is_new = |name: &&str| !link.node.iter().any(|node| node.name == *name);
    let named = places.into_iter().filter(is_new).filter_map(|name| {
        Some(NodeSpec {
            name: name.to_owned(),
            position_m: link.named_position(name)?,
        })
    });
    BodySpec {
        name: link.name.clone(),
        rigid: Some(about_centre(&inertia)),
        node: link.node.iter().cloned().chain(named).collect(),
        point_mass: link.point_mass.clone(),
        ..BodySpec::default()
    }
}

/// Inertia of an undeformed beam about its root, without its point masses.
fn beam_inertia(beam: &BeamSpec) -> RigidInertia<f64> {
    let (mut begin, mut inertia) = (0.0, RigidInertia::zero());
    for segment in beam.uniform_segments() {
        let (length, end) = (segment.length_m, begin + segment.length_m);
        let mass = segment.mass_per_length_kg_per_m * length;
        let along = mass * (begin * begin + begin * end + end * end) / 3.0;
        let across = [
            segment.section_inertia_y_kg_m * length,
            segment.section_inertia_z_kg_m * length,
        ];
        inertia = inertia
            + RigidInertia::from_moments(
                mass,
                Vector([0.5 * mass * (begin + end), 0.0, 0.0]),
                Matrix([
                    [along, 0.0, 0.0],
                    [0.0, across[0], 0.0],
                    [0.0, 0.0, across[1]],
                ]),
            );
        begin = end;
    }
    inertia
}

/// Inertia of the undeformed nodes about the origin of their body, without its point masses.
fn nodal_inertia(nodal: &NodalSpec) -> RigidInertia<f64> {
    let of_node = |node: &NodalNodeSpec| {
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = node.inertia_kg_m2;
        RigidInertia {
            mass: node.mass_kg,
            first_moment: Vector(node.center_of_mass_m).scale(node.mass_kg),
            rotational: Symmetric([xx, xy, xz, yy, yz, zz]),
        }
        .to_parent(&Transform::new(Matrix::identity(), Vector(node.position_m)))
    };
    let nodes = nodal.nodes.iter().map(of_node);
    nodes.fold(RigidInertia::zero(), |sum, node| sum + node)
}

fn reduced_inertia(reduced: &ReducedSpec) -> RigidInertia<f64> {
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = reduced.inertia_kg_m2;
    RigidInertia {
        mass: reduced.mass_kg,
        first_moment: Vector::zero(),
        rotational: Symmetric([xx, xy, xz, yy, yz, zz]),
    }
    .to_parent(&Transform::new(
        Matrix::identity(),
        Vector(reduced.center_of_mass_m),
    ))
}

/// Mass properties as a model file has them.
fn about_centre(inertia: &RigidInertia<f64>) -> RigidSpec {
    let mass = inertia.mass;
    let centre = if mass > 0.0 {
        inertia.first_moment.scale(1.0 / mass)
    } else {
        Vector::zero()
    };
    let [x, y, z] = centre.0;
    let Symmetric([xx, xy, xz, yy, yz, zz]) = inertia.rotational;
    RigidSpec {
        mass_kg: mass,
        center_of_mass_m: centre.0,
        inertia_kg_m2: [
            xx - mass * (y * y + z * z),
            yy - mass * (x * x + z * z),
            zz - mass * (x * x + y * y),
        ],
        products_of_inertia_kg_m2: [xy + mass * x * y, xz + mass * x * z, yz + mass * y * z],
    }
}

/// What a support of a straight beam holds: its place on the axis of the beam, and with tied slopes a place ahead of it on
/// its x axis too.
fn lines(spec: &ModelSpec, support: &SupportSpec) -> Vec<LoopSpec> {
    let on = spec.loop_end(&support.on);
    let holder = spec.find_body(on.body);
    let said = match (on.place, holder) {
        (Place::Position(position), _) => Some(position),
        (place, Some(holder)) => holder.position(place, false),
        (_, None) => None,
    };
    let place = Vector(said.unwrap_or_default());
    let axes = rotation_matrix(Vector(on.rotation_vector_rad));
    let length = match spec.find_body(&support.beam).and_then(BodySpec::kind) {
        Some(BodyKind::Beam(beam)) => beam.total_length_m(),
        _ => 1.0,
    };
    let line = |name: String, ahead: f64| LoopSpec {
        name,
        from: AttachmentSpec {
            body: support.beam.clone(),
            at: Some("root".to_owned()),
            ..AttachmentSpec::default()
        },
        to: AttachmentSpec {
            body: on.body.to_owned(),
            position_m: Some((place + axes * Vector([ahead, 0.0, 0.0])).0),
            ..AttachmentSpec::default()
        },
        point_on_line: Some(PointOnLineSpec {
            direction: [1.0, 0.0, 0.0],
        }),
        ..LoopSpec::default()
    };
    let mut lines = vec![line(support.name.clone(), 0.0)];
    if support.slopes == Slopes::Tied {
        lines.push(line(format!("{}.slope", support.name), length));
    }
    lines
}

/// A model of nodes and elements without the deformations that have a stiffness. What is driven or released stays so.
fn without_deformations(spec: &ModelSpec) -> ModelSpec {
    let mut rigid = spec.clone();
    for element in &mut rigid.element {
        let planar = spec.is_planar_element(element);
        if let Some(beam) = &mut element.beam {
            beam.roles = Some(suppressed(beam, planar));
            beam.initial_deformations_m = None;
            beam.initial_rates_m_per_s = None;
        }
        if let Some(truss) = &mut element.truss
            && truss.axial_stiffness_n > 0.0
            && is_passive(truss.role.unwrap_or(RoleSpec::Free))
        {
            truss.role = Some(RoleSpec::Fixed);
            truss.rest_length_m = None;
            truss.initial_elongation_m = None;
            truss.initial_rate_m_per_s = 0.0;
        }
    }
    rigid
}

/// Whether nothing drives a deformation.
fn is_passive(role: RoleSpec) -> bool {
    !matches!(role, RoleSpec::Prescribed | RoleSpec::Actuated)
}

/// Roles of the deformations of a beam of which those with a stiffness are suppressed.
fn suppressed(beam: &BeamElementSpec, planar: bool) -> BeamRolesSpec {
    let said = beam.roles.unwrap_or_default();
    let role = |said: Option<RoleSpec>, stiffness: Option<f64>, is_there: bool| {
        let role = said.or(beam.role).unwrap_or(RoleSpec::Dof);
        if is_there && stiffness.is_some() && is_passive(role) {
            Some(RoleSpec::Fixed)
        } else {
            said
        }
    };
    let [y, z] = [beam.bending_stiffness_y_n_m2, beam.bending_stiffness_z_n_m2];
    BeamRolesSpec {
        elongation: role(said.elongation, beam.axial_stiffness_n, true),
        torsion: role(said.torsion, beam.torsional_stiffness_n_m2, !planar),
        bending_y_p: role(said.bending_y_p, y, !planar),
        bending_y_q: role(said.bending_y_q, y, !planar),
        bending_z_p: role(said.bending_z_p, z, !planar),
        bending_z_q: role(said.bending_z_q, z, !planar),
        bending_p: role(said.bending_p, y, planar),
        bending_q: role(said.bending_q, y, planar),
    }
}
