//! Tree against nodal formulation on the same files: rows of how far they are apart.
//!
//! In a beam's own frame the tree keeps deformation to second order in the slope $`\theta`$, so that a deflection is
//! off by a part of the order of $`\theta^2`$. A beam split into $`n`$ bodies has an $`n`$-th of the slope in each, and
//! a part of the order of $`\theta^2/n^2`$: what is left falls until the elements' own error shows.

use lissom::spec::{
    AttachmentSpec, BodySpec, FixedSpec, FormulationSpec, JointSpec, NodalFormulationSpec, Place,
};
use lissom::{Mechanism, ModelSpec, Override, Recording, Run, sample_instants};

use super::Row;
use crate::models;

/// One arm in both formulations.
struct Case {
    model: &'static str,
    /// Changes for both: beams of finite elements in the tree too, which bend exactly under forces and moments at their
    /// tips, as no small number of modes does.
    changes: &'static [&'static str],
    /// Changes for the nodal run.
    nodal: &'static [&'static str],
    /// Flexible bodies.
    beams: &'static [&'static str],
    marker: &'static str,
    /// What the distance is set against: the marker's largest deflection, or its largest displacement where
    /// torques drive the joints and differences add up.
    over: &'static str,
    elements: usize,
    /// Bodies that each beam is split into.
    parts: &'static [usize],
}

/// Part of the deflection that is due to the nodal model and to the steps of time.
const RESOLUTION: f64 = 2e-4;

const CASES: [Case; 3] = [
    Case {
        model: "spin-up-beam",
        changes: &[
            "simulation.duration_s=7",
            "body.beam.beam.basis={elements={count=4}}",
            "simulation.integrator.dop853={rtol=1e-7, atol=1e-9}",
        ],
        nodal: &["simulation.integrator={generalized_alpha={step_s=0.005, tolerance=1e-8}}"],
        beams: &["beam"],
        marker: "tip",
        over: "deflection",
        elements: 16,
        parts: &[1, 2, 4],
    },
    Case {
        model: "two-link-arm",
        changes: &[
            "simulation.duration_s=1",
            "body.upper_arm.beam.basis={elements={count=3}}",
            "body.forearm.beam.basis={elements={count=3}}",
            "simulation.integrator.dop853={rtol=1e-7, atol=1e-9}",
        ],
        nodal: &["simulation.integrator={generalized_alpha={step_s=0.0005, tolerance=1e-8}}"],
        beams: &["upper_arm", "forearm"],
        marker: "hand",
        over: "displacement",
        elements: 6,
        parts: &[1, 2],
    },
    Case {
        model: "shuttle-arm-slow",
        changes: &[
            "fidelity.preset=default",
            "body.upper_boom.beam.basis={elements={count=2, stretch=true, torsion=true}}",
            "body.lower_boom.beam.basis={elements={count=2, stretch=true, torsion=true}}",
            "simulation.integrator={generalized_alpha={step_s=0.02, tolerance=1e-8}}",
        ],
        nodal: &[],
        beams: &["upper_boom", "lower_boom"],
        marker: "upper_tip",
        over: "displacement",
        elements: 2,
        parts: &[1, 2],
    },
];

pub(super) fn rows(quick: bool) -> Vec<Row> {
    // they take a minute
    let cases = CASES.iter().filter(|_| !quick);
    cases.flat_map(case_rows).collect()
}

fn case_rows(case: &Case) -> Vec<Row> {
    let nodes = nodal(case);
    let mut rows = Vec::new();
    for &parts in case.parts {
        let tree = tree(case, parts);
        let slope = tree.as_ref().map_or(0.0, |run| {
            let slopes = run.audit.bodies.iter().map(|body| body.slope.value);
            slopes.fold(0.0, f64::max)
        });
        let apart = match (&tree, &nodes) {
            (Some(tree), Some(nodes)) => apart(&tree.recording, &nodes.recording, case),
            _ => None,
        };
        let row = Row {
            case: format!("{}, each link {parts} bodies of the tree", case.model),
            source: "formulations".to_owned(),
            quantity: format!(
                "largest distance of {} from that of {} nodal elements per link, over its largest {}",
                case.marker, case.elements, case.over
            ),
            printed: None,
            digits: None,
            reference: Some(0.0),
            computed: apart,
            tolerance: slope * slope + RESOLUTION,
            pass: false,
            unmet: false,
            remark: format!(
                "the square of the largest slope, {slope:.4}, in a body's own frame, and {RESOLUTION:.0e} of elements and steps"
            ),
        };
        rows.push(row.judged());
    }
    rows
}

fn spec(case: &Case, more: &[&str]) -> Option<ModelSpec> {
    let text = models::find(case.model)?.text;
    let changes = case.changes.iter().chain(more);
    let changes: Option<Vec<Override>> = changes.map(|c| Override::parse(c).ok()).collect();
    let mut spec = ModelSpec::parse(text, &changes?).ok()?;
    for body in &mut spec.body {
        // modal damping means other losses in other coordinates
        body.damping = None;
    }
    Some(spec)
}

fn nodal(case: &Case) -> Option<Run> {
    let mut spec = spec(case, case.nodal)?;
    spec.formulation = FormulationSpec::Nodal(NodalFormulationSpec {
        elements_per_link: case.elements,
    });
    run(&spec)
}

fn tree(case: &Case, parts: usize) -> Option<Run> {
    let mut spec = spec(case, &[])?;
    for &beam in case.beams {
        split(&mut spec, beam, parts);
    }
    run(&spec)
}

fn run(spec: &ModelSpec) -> Option<Run> {
    let mechanism = Mechanism::build(spec).ok()?;
    Some(mechanism.run(&sample_instants(spec, &[])))
}

/// Largest distance of a marker in two recordings, over what the case says of the second.
fn apart(tree: &Recording, nodes: &Recording, case: &Case) -> Option<f64> {
    let marker = case.marker;
    let read = |recording: &Recording, what: &str| -> Option<Vec<Vec<f64>>> {
        let of = |axis| {
            Some(
                recording
                    .channel(&format!("{marker}.{what}.{axis}"))?
                    .samples
                    .clone(),
            )
        };
        ["x", "y", "z"].into_iter().map(of).collect()
    };
    let largest = |a: &[Vec<f64>], b: Option<&[Vec<f64>]>| {
        let distance = |sample: usize| {
            let square = |i: usize| {
                let from = b.map_or(0.0, |b| b[i][sample]);
                (a[i][sample] - from) * (a[i][sample] - from)
            };
            (0..3).map(square).sum::<f64>().sqrt()
        };
        (0..a[0].len()).map(distance).fold(0.0, f64::max)
    };
    let (from, to) = (read(tree, "position")?, read(nodes, "position")?);
    if from[0].len() != to[0].len() {
        return None;
    }
    let reference = if case.over == "deflection" {
        largest(&read(nodes, "deflection")?, None)
    } else {
        let start: Vec<Vec<f64>> = to.iter().map(|axis| vec![axis[0]; axis.len()]).collect();
        largest(&to, Some(&start))
    };
    Some(largest(&from, Some(&to)) / reference)
}

/// Splits a uniform beam into equal bodies, each clamped to the tip of the one before; what was at its tip goes to the
/// last of them.
fn split(spec: &mut ModelSpec, name: &str, parts: usize) {
    let Some(index) = spec.body.iter().position(|body| body.name == name) else {
        return;
    };
    let body = &mut spec.body[index];
    if let Some(beam) = &mut body.beam {
        beam.length_m = beam.length_m.map(|length| length / parts as f64);
    }
    let part = body.clone();
    let called = |part: usize| format!("{name}_{part}");
    let at_tip = |body: &str, place: Place<'_>| {
        body == name && matches!(place, Place::Unsaid | Place::Named("tip"))
    };
    let last = called(parts);
    if parts > 1 {
        for joint in &mut spec.joint {
            if at_tip(&joint.parent.body, joint.parent.place()) {
                joint.parent.body.clone_from(&last);
            }
        }
        for payload in &mut spec.payload {
            if at_tip(&payload.body, payload.place()) {
                payload.body.clone_from(&last);
            }
        }
        for marker in &mut spec.marker {
            if at_tip(&marker.body, marker.place()) {
                marker.body.clone_from(&last);
            }
        }
    }
    for number in 2..=parts {
        let before = if number == 2 {
            name.to_owned()
        } else {
            called(number - 1)
        };
        spec.body.push(BodySpec {
            name: called(number),
            ..part.clone()
        });
        spec.joint.push(JointSpec {
            name: format!("{name}_clamp_{number}"),
            parent: AttachmentSpec::new(before),
            child: AttachmentSpec::new(called(number)),
            fixed: Some(FixedSpec {}),
            ..JointSpec::default()
        });
    }
}
