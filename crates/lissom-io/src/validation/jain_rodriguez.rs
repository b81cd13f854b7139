//! The seeded chains of `validation/jain_rodriguez_1992/cases.json`: mass matrix, bias, inverse dynamics and
//! accelerations by both algorithms, in the equations of \[Jain & Rodriguez 1992\].
//!
//! Each chain becomes a model of nodal bodies, so that the whole road from a model to its equations is
//! checked. The file counts bodies from the tip and puts elastic coordinates first; ours come from the base,
//! the joint first.

use lissom::evaluate::{EvaluateOptions, Evaluation};
use lissom::spec::{
    AttachmentSpec, BodySpec, FidelityPreset, FidelitySpec, JointSpec, NodalNodeSpec, NodalSpec,
    PrismaticSpec, RevoluteSpec,
};
use lissom::{Mechanism, ModelSpec, State};
use lissom_spatial::{Matrix, rotation_vector_of};
use serde::Deserialize;

use super::Row;

const CASES: &str = include_str!("../../../../validation/jain_rodriguez_1992/cases.json");

/// Agreement of independent implementations in double precision, relative to the largest entry or 1.
const RELATIVE_TOLERANCE: f64 = 1e-10;

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    gravity: [f64; 3],
    dof_offsets: Vec<usize>,
    bodies: Vec<BodyData>,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
    tau: Vec<f64>,
    full: Expected,
    ruthless: Expected,
}

#[derive(Deserialize)]
struct BodyData {
    n_m: usize,
    /// Node of the inboard joint.
    d: usize,
    /// Node of the outboard joint.
    t: usize,
    nodes: Vec<NodeData>,
    #[serde(rename = "Kff")]
    stiffness: Vec<Vec<f64>>,
    hinge: HingeData,
}

#[derive(Deserialize)]
struct NodeData {
    l0: [f64; 3],
    m: f64,
    p: [f64; 3],
    #[serde(rename = "J")]
    inertia: [[f64; 3]; 3],
    #[serde(rename = "Pi")]
    influence: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct HingeData {
    r#type: String,
    axis: [f64; 3],
    #[serde(rename = "Rp")]
    on_parent: [[f64; 3]; 3],
    #[serde(rename = "Rm")]
    on_child: [[f64; 3]; 3],
    r0: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Expected {
    mass_matrix: Vec<Vec<f64>>,
    bias: Vec<f64>,
    #[serde(rename = "inverse_dynamics_T")]
    inverse_dynamics: Vec<f64>,
    #[serde(rename = "forward_dynamics_vdot")]
    acceleration: Vec<f64>,
}

pub(super) fn rows() -> Vec<Row> {
    let file: File = serde_json::from_str(CASES).expect("a test parses the shipped cases.json");
    let mut rows = Vec::new();
    for case in &file.cases {
        for (preset, variant, expected) in [
            (FidelityPreset::JainRodriguez, "full", &case.full),
            (
                FidelityPreset::JainRodriguezRuthless,
                "ruthless",
                &case.ruthless,
            ),
        ] {
            rows.extend(case_rows(case, preset, variant, expected));
        }
    }
    rows
}

fn case_rows(case: &Case, preset: FidelityPreset, variant: &str, expected: &Expected) -> Vec<Row> {
    let order = our_order(case);
    let ours = |theirs: &[f64]| -> Vec<f64> { order.iter().map(|&i| theirs[i]).collect() };
    let mechanism = Mechanism::build(&model_of(case, preset)).ok();
    let evaluation = mechanism.and_then(|mechanism| {
        let state = State {
            position: ours(&case.q),
            velocity: ours(&case.v),
            ..mechanism.written()
        };
        let options = EvaluateOptions {
            force: ours(&case.tau),
            acceleration: Some(ours(&case.vdot)),
        };
        mechanism.evaluate(&state, &options).ok()
    });
    let mass_matrix: Vec<f64> = order
        .iter()
        .flat_map(|&i| ours(&expected.mass_matrix[i]))
        .collect();
    let acceleration = ours(&expected.acceleration);
    type Read = fn(&Evaluation) -> Option<&[f64]>;
    let quantities: [(&str, Vec<f64>, Read); 5] = [
        ("mass matrix", mass_matrix, |e| Some(&e.mass_matrix)),
        ("bias force", ours(&expected.bias), |e| Some(&e.bias)),
        ("inverse dynamics", ours(&expected.inverse_dynamics), |e| {
            e.inverse_dynamics.as_deref()
        }),
        (
            "accelerations, articulated bodies",
            acceleration.clone(),
            |e| Some(&e.acceleration),
        ),
        ("accelerations, composite bodies", acceleration, |e| {
            e.acceleration_by_composite_bodies.as_deref()
        }),
    ];
    quantities
        .into_iter()
        .map(|(quantity, reference, read)| {
            let computed = evaluation.as_ref().and_then(read);
            worst_entry(
                &format!("{}, {variant}", case.name),
                quantity,
                &reference,
                computed,
            )
        })
        .collect()
}

/// The row of the entry that differs most.
fn worst_entry(case: &str, quantity: &str, reference: &[f64], computed: Option<&[f64]>) -> Row {
    let scale = reference.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let difference = |i: usize| computed.map_or(f64::INFINITY, |c| (c[i] - reference[i]).abs());
    let worst = (0..reference.len()).fold(0, |worst, i| {
        // a NaN must not hide
        if difference(i) > difference(worst) || difference(i).is_nan() {
            i
        } else {
            worst
        }
    });
    Row {
        case: case.to_owned(),
        source: "jain_rodriguez_1992".to_owned(),
        quantity: format!("{quantity}, entry with the largest difference"),
        printed: None,
        digits: None,
        reference: reference.get(worst).copied(),
        computed: computed.map(|c| c[worst]),
        tolerance: RELATIVE_TOLERANCE * scale,
        pass: false,
        unmet: false,
        remark: "independent implementation; 1e-10 of the largest entry or of 1".to_owned(),
    }
    .judged()
}

/// Entry of the file's vectors for every entry of ours.
fn our_order(case: &Case) -> Vec<usize> {
    let bodies = case.bodies.iter().zip(&case.dof_offsets).rev();
    bodies
        .flat_map(|(body, &first)| {
            let joint = first + body.n_m;
            std::iter::once(joint).chain(first..joint)
        })
        .collect()
}

fn model_of(case: &Case, preset: FidelityPreset) -> ModelSpec {
    let name = |k: usize| format!("body_{}", k + 1);
    let node = |j: usize| format!("node_{j}");
    let vector = |rotation: &[[f64; 3]; 3]| rotation_vector_of(&Matrix(*rotation)).0;
    let joints = case.bodies.iter().enumerate().rev().map(|(k, body)| {
        let hinge = &body.hinge;
        let parent = match case.bodies.get(k + 1) {
            Some(parent) => AttachmentSpec {
                at: Some(node(parent.t)),
                ..AttachmentSpec::new(name(k + 1))
            },
            None => AttachmentSpec {
                position_m: hinge.r0,
                ..AttachmentSpec::new("ground")
            },
        };
        let revolute = (hinge.r#type == "revolute").then(|| RevoluteSpec {
            axis: hinge.axis,
            ..RevoluteSpec::default()
        });
        let prismatic = (hinge.r#type == "prismatic").then(|| PrismaticSpec {
            axis: hinge.axis,
            ..PrismaticSpec::default()
        });
        JointSpec {
            name: format!("hinge_{}", k + 1),
            parent: AttachmentSpec {
                rotation_vector_rad: vector(&hinge.on_parent),
                ..parent
            },
            child: AttachmentSpec {
                at: Some(node(body.d)),
                rotation_vector_rad: vector(&hinge.on_child),
                ..AttachmentSpec::new(name(k))
            },
            revolute,
            prismatic,
            ..JointSpec::default()
        }
    });
    let bodies = case.bodies.iter().enumerate().map(|(k, body)| BodySpec {
        name: name(k),
        nodal: Some(NodalSpec {
            coordinates: Vec::new(),
            stiffness: body.stiffness.clone(),
            nodes: body
                .nodes
                .iter()
                .enumerate()
                .map(|(j, data)| NodalNodeSpec {
                    name: Some(node(j)),
                    position_m: data.l0,
                    mass_kg: data.m,
                    center_of_mass_m: data.p,
                    inertia_kg_m2: data.inertia,
                    influence: data.influence.clone(),
                })
                .collect(),
        }),
        ..BodySpec::default()
    });
    ModelSpec {
        gravity_m_per_s2: case.gravity,
        body: bodies.collect(),
        joint: joints.collect(),
        fidelity: FidelitySpec {
            preset: Some(preset),
            ..FidelitySpec::default()
        },
        ..ModelSpec::default()
    }
}
