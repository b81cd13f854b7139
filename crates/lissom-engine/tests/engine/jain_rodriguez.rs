//! The seeded cases of \[Jain & Rodriguez 1992\], through the model file's structs.
//!
//! `validation/jain_rodriguez_1992/cases.json` says in its `schema` what its numbers mean: bodies from the
//! tip to the base, and in every body the elastic coordinates before the joint's.

use lissom_engine::model::Model;
use lissom_engine::simulate::{StateInput, evaluate};
use lissom_spatial::{Matrix, rotation_vector_of};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    AttachmentSpec, BodySpec, FidelityPreset, FidelitySpec, JointSpec, NodalNodeSpec, NodalSpec,
    PrismaticSpec, RevoluteSpec,
};
use serde_json::Value;

use crate::numbers::numbers;

const CASES: &str = include_str!("../../../../validation/jain_rodriguez_1992/cases.json");

/// What the case file asks, relative to the largest entry or one.
const CASE_TOLERANCE: f64 = 1e-10;

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

fn three(value: &Value) -> [f64; 3] {
    numbers(value).try_into().unwrap()
}

fn three_by_three(value: &Value) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| three(&value[i]))
}

fn rotation_vector(value: &Value) -> [f64; 3] {
    rotation_vector_of(&Matrix(three_by_three(value))).0
}

fn node_name(index: usize) -> String {
    format!("node_{index}")
}

/// The model of a case, base first.
fn spec_of(case: &Value, preset: FidelityPreset) -> ModelSpec {
    let bodies = list(&case["bodies"]);
    let mut spec = ModelSpec {
        gravity_m_per_s2: three(&case["gravity"]),
        fidelity: FidelitySpec {
            preset: Some(preset),
            ..FidelitySpec::default()
        },
        ..ModelSpec::default()
    };
    for (k, body) in bodies.iter().enumerate().rev() {
        let nodes = list(&body["nodes"])
            .iter()
            .enumerate()
            .map(|(index, node)| NodalNodeSpec {
                name: Some(node_name(index)),
                position_m: three(&node["l0"]),
                mass_kg: node["m"].as_f64().unwrap(),
                center_of_mass_m: three(&node["p"]),
                inertia_kg_m2: three_by_three(&node["J"]),
                influence: rows(&node["Pi"]),
            })
            .collect();
        spec.body.push(BodySpec {
            name: format!("body_{k}"),
            nodal: Some(NodalSpec {
                coordinates: Vec::new(),
                nodes,
                stiffness: rows(&body["Kff"]),
            }),
            ..BodySpec::default()
        });

        let hinge = &body["hinge"];
        let parent = match bodies.get(k + 1) {
            Some(parent) => AttachmentSpec {
                at: Some(node_name(count(&parent["t"]))),
                ..AttachmentSpec::new(format!("body_{}", k + 1))
            },
            None => AttachmentSpec {
                position_m: Some(three(&hinge["r0"])),
                ..AttachmentSpec::new("ground")
            },
        };
        let mut joint = JointSpec {
            name: format!("joint_{k}"),
            parent: AttachmentSpec {
                rotation_vector_rad: rotation_vector(&hinge["Rp"]),
                ..parent
            },
            child: AttachmentSpec {
                at: Some(node_name(count(&body["d"]))),
                rotation_vector_rad: rotation_vector(&hinge["Rm"]),
                ..AttachmentSpec::new(format!("body_{k}"))
            },
            ..JointSpec::default()
        };
        let axis = three(&hinge["axis"]);
        if hinge["type"] == "revolute" {
            joint.revolute = Some(RevoluteSpec {
                axis,
                ..RevoluteSpec::default()
            });
        } else {
            joint.prismatic = Some(PrismaticSpec {
                axis,
                ..PrismaticSpec::default()
            });
        }
        spec.joint.push(joint);
    }
    spec
}

/// Entry of the case's vectors for every entry of the model's: base first, joint before elastic.
fn entries_of(case: &Value) -> Vec<usize> {
    let mut entries = Vec::new();
    for (body, first) in list(&case["bodies"])
        .iter()
        .zip(list(&case["dof_offsets"]))
        .rev()
    {
        let (first, modes) = (count(first), count(&body["n_m"]));
        entries.push(first + modes);
        entries.extend(first..first + modes);
    }
    entries
}

#[track_caller]
fn assert_case(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let apart = (a - b).abs() / scale;
        assert!(
            apart <= CASE_TOLERANCE,
            "{what}, entry {i}: {a} against {b}"
        );
    }
}

fn check(result: &str, preset: FidelityPreset) {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    assert_eq!(list(&cases["cases"]).len(), 5);
    for case in list(&cases["cases"]) {
        let model = Model::build(&spec_of(case, preset)).unwrap();
        let entries = entries_of(case);
        let size = entries.len();
        assert_eq!(size, count(&case["ndof"]));
        let pick = |value: &Value| -> Vec<f64> {
            let all = numbers(value);
            entries.iter().map(|&at| all[at]).collect()
        };
        let evaluation = evaluate(
            &model,
            &StateInput {
                position: pick(&case["q"]),
                velocity: pick(&case["v"]),
                force: pick(&case["tau"]),
                acceleration: Some(pick(&case["vdot"])),
            },
        );
        let expected = &case[result];
        let what = |quantity: &str| format!("{quantity} of {}, {result}", case["name"]);
        let all = numbers(&expected["mass_matrix"]);
        let mass_matrix: Vec<f64> = (0..size * size)
            .map(|at| all[entries[at / size] * size + entries[at % size]])
            .collect();
        assert_case(&evaluation.mass_matrix, &mass_matrix, &what("mass matrix"));
        assert_case(&evaluation.bias, &pick(&expected["bias"]), &what("bias"));
        assert_case(
            &evaluation.inverse_dynamics.unwrap(),
            &pick(&expected["inverse_dynamics_T"]),
            &what("inverse dynamics"),
        );
        let acceleration = pick(&expected["forward_dynamics_vdot"]);
        let what = what("forward dynamics");
        assert_case(&evaluation.acceleration, &acceleration, &what);
        let by_composite = evaluation.acceleration_by_composite_bodies.unwrap();
        assert_case(&by_composite, &acceleration, &what);
    }
}

#[test]
fn paper_jain_rodriguez_1992_full_cases() {
    check("full", FidelityPreset::JainRodriguez);
}

#[test]
fn paper_jain_rodriguez_1992_ruthless_cases() {
    check("ruthless", FidelityPreset::JainRodriguezRuthless);
}
