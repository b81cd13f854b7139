//! `lissom check`: a summary of a model, in words or as JSON.

use lissom::diagnose::{BodySummary, DegreesOfFreedom, LoopsSummary, StartChange, Warning};
use std::time::Instant;

use lissom_io::model_summary::{CostSummary, ModelSummary};

use crate::arguments::CheckArguments;
use crate::output::{counted, percent, rounded, short, vector};
use crate::source;
use crate::stop::Stop;

/// Digits of a number of evaluations that is known to a factor of three.
const COST_DIGITS: i32 = 2;

/// Frequencies that are shown of each body.
const SHOWN_FREQUENCIES: usize = 6;

/// Notes that are shown: a robot may lack every one of its meshes.
const SHOWN_NOTES: usize = 5;

/// Shows a summary of a model.
pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Stop> {
    let named = arguments.model.named()?;
    let loaded = source::load(&named)?;
    let summary = ModelSummary::of(&loaded);
    let began = Instant::now();
    let summary = summary.with_cost(&loaded);
    let tried_s = began.elapsed().as_secs_f64();
    (arguments.answer).give(&summary, || in_words(&summary, &named.to_string(), tried_s))
}

fn in_words(summary: &ModelSummary<'_>, typed: &str, tried_s: f64) -> String {
    let diagnosis = &summary.diagnosis;
    let mut lines = vec![summary.model.to_owned(), String::new()];
    // a model of nodes and elements has no bodies
    let of_bodies = !diagnosis.bodies.is_empty();
    if of_bodies {
        lines.push("ground".to_owned());
        for body in &diagnosis.bodies {
            lines.extend(body_in_words(body));
        }
        lines.push(String::new());
        lines.push(freedoms_in_words(&diagnosis.degrees_of_freedom));
    }
    if let Some(nodal) = &diagnosis.nodal {
        lines.push(format!(
            "nodal formulation   {} degrees of freedom ({} of elements), {} prescribed; {}, {}",
            nodal.degrees_of_freedom,
            nodal.deformations.len(),
            nodal.prescribed,
            counted(nodal.nodes, "node"),
            counted(nodal.elements, "element")
        ));
    }
    if let Some(loops) = &diagnosis.loops {
        lines.extend(loops_in_words(loops));
    }
    let changes = diagnosis.start_changes.iter();
    lines.extend(changes.map(|change| format!("{:<20}{}", "start", start_in_words(change))));
    lines.push(format!(
        "mass                {} kg, centre at {} m at the start",
        short(diagnosis.total_mass_kg),
        vector(&diagnosis.center_of_mass_m)
    ));
    lines.push(format!(
        "gravity             {} m/s^2",
        vector(&diagnosis.gravity_m_per_s2)
    ));
    let flexible = diagnosis
        .bodies
        .iter()
        .filter(|body| !body.frequencies_rad_per_s.is_empty());
    for body in flexible {
        lines.push(frequencies_in_words(body));
    }
    for chosen in &diagnosis.chosen_functions {
        lines.push(format!(
            "{:<20}{}: {} {} in {}, as {}",
            "functions",
            chosen.body,
            chosen.count,
            chosen.functions,
            chosen.deformation,
            chosen.reason
        ));
    }
    for chosen in &summary.chosen_bases {
        let left_out = chosen.left_out.map_or_else(String::new, |share| {
            let share = percent(share);
            format!("; it leaves out {share} of the deformation under acceleration")
        });
        lines.push(format!(
            "{:<20}{}: {}, {}, as {}{left_out}",
            "basis",
            chosen.body,
            chosen.basis,
            counted(chosen.coordinates, "coordinate"),
            chosen.reason
        ));
    }
    let (inputs, motions) = (diagnosis.inputs.iter(), &diagnosis.motions);
    let controls = diagnosis.controllers.iter().chain(&diagnosis.actuators);
    for driven in inputs.chain(motions).chain(controls) {
        lines.push(format!(
            "{:<20}{} of {}",
            driven.what, driven.profile, driven.target
        ));
    }
    lines.push(format!(
        "simulation          {} s by {}, sampled every {} s",
        short(diagnosis.duration_s),
        diagnosis.integrator,
        short(diagnosis.sample_period_s)
    ));
    lines.extend((summary.cost.iter()).map(|cost| cost_in_words(cost, tried_s)));
    lines.extend((summary.notes.iter().take(SHOWN_NOTES)).map(|note| format!("note: {note}")));
    if let Some(more) = summary
        .notes
        .len()
        .checked_sub(SHOWN_NOTES)
        .filter(|&more| more > 0)
    {
        lines.push(format!("note: and {more} more, which --json lists"));
    }
    for warning in &diagnosis.warnings {
        lines.push(format!("warning: {warning}"));
    }
    lines.push(format!("\n{}", verdict(&diagnosis.warnings, typed)));
    lines.join("\n")
}

/// What a run will cost, by what its first steps took in `tried_s` seconds.
fn cost_in_words(cost: &CostSummary, tried_s: f64) -> String {
    let words = match (cost.evaluations, &cost.unknown) {
        (Some(evaluations), _) => {
            let seconds = tried_s * evaluations as f64 / cost.tried_evaluations.max(1) as f64;
            format!(
                "about {} evaluations of the equations of motion, {} s on this machine",
                rounded(evaluations as f64, COST_DIGITS),
                rounded(seconds, 1)
            )
        }
        (None, Some(reason)) => format!("not known: {reason}"),
        (None, None) => "not known".to_owned(),
    };
    format!("{:<20}{words}", "cost of a run")
}

/// What to think of a model, and what to do next.
fn verdict(warnings: &[Warning], typed: &str) -> String {
    if warnings.iter().any(Warning::prevents_runs) {
        "The model can be read, but a run of it will fail: see the warnings. Next: mend it, then lissom check again".to_owned()
    } else if warnings.is_empty() {
        format!("The model is sound. Next: lissom run {typed}")
    } else {
        format!("The model can be run; see the warnings first. Next: lissom run {typed}")
    }
}

fn loops_in_words(loops: &LoopsSummary) -> Vec<String> {
    let mut lines: Vec<String> = (loops.closures.iter())
        .map(|closure| {
            format!(
                "{:<20}{} ({}{}) from {} to {}, {}",
                "loop",
                closure.name,
                closure.kind,
                if closure.cut { ", cut" } else { "" },
                closure.from,
                closure.to,
                counted(closure.equations, "equation")
            )
        })
        .collect();
    lines.push(format!(
        "mobility            {} with rigid links; Gruebler's formula gives {}",
        loops.rigid_degrees_of_freedom, loops.gruebler
    ));
    lines.push(format!(
        "independent         {} of {} of loops",
        loops.rank,
        counted(loops.equations, "equation")
    ));
    if !loops.redundant.is_empty() {
        lines.push(format!(
            "redundant           {}",
            loops.redundant.join(", ")
        ));
    }
    lines.push(format!("closure             {}", loops.closure));
    lines
}

/// What closing the loops did to a start that is written down.
pub(super) fn start_in_words(change: &StartChange) -> String {
    format!(
        "{} is {} {} with the loops closed, not {} as written",
        change.coordinate,
        short(change.closed),
        change.unit,
        short(change.written)
    )
}

fn freedoms_in_words(freedom: &DegreesOfFreedom) -> String {
    let closed = match freedom.closed {
        0 => String::new(),
        closed => format!(", less {closed} of loops"),
    };
    format!(
        "degrees of freedom  {} ({} of joints, {} elastic, {} of motors{closed}), {} prescribed",
        freedom.total, freedom.joint, freedom.elastic, freedom.motor, freedom.prescribed
    )
}

/// Bodies on top of each other up to which every one is set in further: a chain of thousands would be nothing but space.
const DEEPEST: usize = 40;

fn body_in_words(body: &BodySummary) -> Vec<String> {
    let indent = "  ".repeat(body.depth.min(DEEPEST));
    let at = match &body.joint.at {
        Some(at) => format!(" at {at}"),
        None => String::new(),
    };
    let elastic = match body.elastic_coordinates.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "elastic coordinate")),
    };
    let mut lines = vec![format!(
        "{indent}{} ({}{at}) -> {}: {}, {} kg{elastic}",
        body.joint.name,
        body.joint.kind,
        body.name,
        body.kind,
        short(body.mass_kg),
    )];
    for payload in &body.payloads {
        lines.push(format!(
            "{indent}  payload {}, {} kg",
            payload.name,
            short(payload.mass_kg)
        ));
    }
    if !body.markers.is_empty() {
        let word = if body.markers.len() == 1 {
            "marker"
        } else {
            "markers"
        };
        lines.push(format!("{indent}  {word} {}", body.markers.join(", ")));
    }
    lines
}

fn frequencies_in_words(body: &BodySummary) -> String {
    let shown =
        &body.frequencies_rad_per_s[..body.frequencies_rad_per_s.len().min(SHOWN_FREQUENCIES)];
    let list = |factor: f64| {
        let values: Vec<String> = shown.iter().map(|&x| short(x * factor)).collect();
        values.join(", ")
    };
    let more = if shown.len() < body.frequencies_rad_per_s.len() {
        ", …"
    } else {
        ""
    };
    let held = if body.held_at_root { "root" } else { "frame" };
    format!(
        "frequencies         {}: {}{more} rad/s ({}{more} Hz), its {held} held",
        body.name,
        list(1.0),
        list(1.0 / std::f64::consts::TAU)
    )
}
