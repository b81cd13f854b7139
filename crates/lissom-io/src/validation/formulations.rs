//! Tree against nodal formulation on the same files: rows of how far they are apart.
//!
//! In a beam's own frame the tree keeps deformation to second order in the slope $`\theta`$, so that a deflection is
//! off by a part of the order of $`\theta^2`$. A beam split into $`n`$ bodies has an $`n`$-th of the slope in each, and
//! a part of the order of $`\theta^2/n^2`$: what is left falls until the elements' own error shows.

use lissom::integrate::Flow;
use lissom::mesh::{self, Mesh};
use lissom::model::spec::{
    AttachmentSpec, BasisSpec, BodySpec, FixedSpec, JointSpec, ModelSpec, Place,
};
use lissom::model::{Model, Override};
use lissom::simulate::{Recording, Run, run, sample_instants};

use super::Row;
use crate::models;

/// One arm in both formulations.
struct Case {
    model: &'static str,
    /// Changes for both.
    changes: &'static [&'static str],
    /// Changes for the nodal run.
    nodal: &'static [&'static str],
    /// Flexible bodies.
    beams: &'static [&'static str],
    marker: &'static str,
    elements: usize,
    /// Modes of each part of a beam in every way that it deforms.
    modes: usize,
    /// Bodies that each beam is split into.
    parts: &'static [usize],
    slow: bool,
}

/// Part of the deflection that is due to the mesh and to the steps of time.
const RESOLUTION: f64 = 2e-4;

const CASES: [Case; 2] = [
    Case {
        model: "spin-up-beam",
        changes: &["simulation.duration_s=7"],
        nodal: &["simulation.integrator.dop853={rtol=1e-7, atol=1e-9}"],
        beams: &["beam"],
        marker: "tip",
        elements: 16,
        modes: 4,
        parts: &[1, 2, 4],
        slow: true,
    },
    Case {
        model: "two-link-arm",
        changes: &["simulation.duration_s=1"],
        nodal: &["simulation.integrator.dop853={rtol=1e-7, atol=1e-9}"],
        beams: &["upper_arm", "forearm"],
        marker: "hand",
        elements: 8,
        modes: 3,
        parts: &[1, 2],
        slow: true,
    },
];

pub(super) fn rows(quick: bool) -> Vec<Row> {
    let cases = CASES.iter().filter(|case| !(quick && case.slow));
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
            (Some(tree), Some(nodes)) => apart(&tree.recording, &nodes.recording, case.marker),
            _ => None,
        };
        let row = Row {
            case: format!("{}, each link {parts} bodies of the tree", case.model),
            source: "formulations".to_owned(),
            quantity: format!(
                "largest distance of {} from {} nodal elements, over the largest deflection",
                case.marker, case.elements
            ),
            printed: None,
            reference: Some(0.0),
            computed: apart,
            tolerance: slope * slope + RESOLUTION,
            pass: false,
            unmet: false,
            remark: format!(
                "the square of the largest slope, {slope:.4}, in a body's own frame, and {RESOLUTION:.0e} of mesh and steps"
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
    let spec = spec(case, case.nodal)?;
    let mesh = Mesh::new(&spec, case.elements).ok()?;
    let samples = sample_instants(&spec, &[]);
    let simulation = &spec.simulation;
    Some(mesh::run(&mesh, simulation, &samples, None, &mut |_| {
        Flow::Continue
    }))
}

fn tree(case: &Case, parts: usize) -> Option<Run> {
    let mut spec = spec(case, &[])?;
    for &beam in case.beams {
        split(&mut spec, beam, parts, case.modes);
    }
    spec.check().ok()?;
    let model = Model::build(&spec).ok()?;
    let samples = sample_instants(&spec, &[]);
    Some(run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    }))
}

/// Largest distance of a marker in two recordings, over its largest deflection in the second.
fn apart(tree: &Recording, nodes: &Recording, marker: &str) -> Option<f64> {
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
    let deflection = read(nodes, "deflection")?;
    Some(largest(&from, Some(&to)) / largest(&deflection, None))
}

/// Splits a uniform beam into equal bodies, each clamped to the tip of the one before; what was at its tip goes to the
/// last of them.
fn split(spec: &mut ModelSpec, name: &str, parts: usize, modes: usize) {
    let Some(index) = spec.body.iter().position(|body| body.name == name) else {
        return;
    };
    let body = &mut spec.body[index];
    if let Some(beam) = &mut body.beam {
        beam.length_m = beam.length_m.map(|length| length / parts as f64);
        if let BasisSpec::ClampedFree(counts) = &mut beam.basis {
            for count in [
                &mut counts.bending_y,
                &mut counts.bending_z,
                &mut counts.stretch,
                &mut counts.torsion,
            ] {
                if *count > 0 {
                    *count = modes;
                }
            }
        }
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
