//! Rows of the nodal formulation: mechanisms of the literature and the numbers that `nodal.toml` files name.

use std::collections::BTreeMap;

use lissom::integrate::{Control, FirstOrder, Flow, Method, Observer, Schedule, integrate};
use lissom::linear::{
    Along, Feedback, Interpolation, OpenLoop, Perturbed, Servo, Terms, UndampedModes, with_breaks,
};
use lissom::mesh;
use lissom::model::Override;
use lissom::nodal::classics::{QuarterTurn, SpinUp, TwoLinkPath, jonker_beam, lateral, two_link};
use lissom::nodal::{Dynamics, Equations, NodalError, Role, Steered, linearize_along};
use lissom::simulate::{Recording, sample_instants};
use lissom::spatial::Vector;
use serde::Deserialize;

use super::Row;
use crate::load::{self, Loaded};
use crate::models;

/// Every `nodal.toml` of `validation/`.
const FILES: [&str; 4] = [
    include_str!("../../../../validation/jonker_aarts_2001/nodal.toml"),
    include_str!("../../../../validation/simo_1986/nodal.toml"),
    include_str!("../../../../validation/dowell_traybar_1975/nodal.toml"),
    include_str!("../../../../validation/bathe_bolourchi_1979/nodal.toml"),
];

/// The complete perturbation method.
const COMPLETE: Terms = Terms::CASES[0];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Source,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    compute: Compute,
    /// Whether `--quick` leaves it out.
    #[serde(default)]
    slow: bool,
    row: Vec<RowSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowSpec {
    quantity: String,
    /// Name of the number among those of the computation.
    number: String,
    printed: Option<f64>,
    reference: Option<f64>,
    tolerance: f64,
    reason: String,
}

/// What is computed; each gives numbers by name.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Compute {
    SpinUp {
        quadratic: bool,
    },
    #[serde(rename = "table_1")]
    Table1 {
        quadratic: bool,
    },
    QuarterTurn {
        closed: bool,
    },
    TwoLink,
    Simo,
    Spaghetti,
    Princeton {
        angle_deg: f64,
    },
    Bend,
}

type Numbers = BTreeMap<String, f64>;

pub(super) fn rows(quick: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for text in FILES {
        let file: File = toml::from_str(text).expect("a test parses every shipped nodal.toml");
        for case in file.case.iter().filter(|case| !(quick && case.slow)) {
            // a number that could not be computed does not pass
            let numbers = case.compute.numbers();
            for row in &case.row {
                rows.push(
                    Row {
                        case: case.name.clone(),
                        source: file.source.key.clone(),
                        quantity: row.quantity.clone(),
                        printed: row.printed,
                        reference: row.reference,
                        computed: numbers.get(&row.number).copied(),
                        tolerance: row.tolerance,
                        pass: false,
                        unmet: false,
                        remark: row.reason.clone(),
                    }
                    .judged(),
                );
            }
        }
    }
    rows
}

impl Compute {
    /// The numbers; none where they could not be computed.
    fn numbers(self) -> Numbers {
        match self {
            Self::SpinUp { quadratic } => spin_up(quadratic).unwrap_or_default(),
            Self::Table1 { quadratic } => table_1(quadratic).unwrap_or_default(),
            Self::QuarterTurn { closed } => quarter_turn(closed).unwrap_or_default(),
            Self::TwoLink => two_link_arm().unwrap_or_default(),
            Self::Simo => simo().unwrap_or_default(),
            Self::Spaghetti => flying_spaghetti().unwrap_or_default(),
            Self::Princeton { angle_deg } => {
                let (sin, cos) = angle_deg.to_radians().sin_cos();
                let direction = format!("input.0.direction=[0, {cos}, {sin}]");
                deflection("princeton-beam", &[&direction]).unwrap_or_default()
            }
            Self::Bend => deflection("bend-45", &[]).unwrap_or_default(),
        }
    }
}

/// A shipped model with changes.
fn shipped(name: &str, changes: &[&str]) -> Option<Loaded> {
    let changes: Option<Vec<Override>> = (changes.iter())
        .map(|change| Override::parse(change).ok())
        .collect();
    let model = models::find(name)?;
    load::load_text(model.name, model.text, &changes?).ok()
}

/// The recording of a shipped model of nodes and elements, sampled every 5 ms.
fn recorded(name: &str, changes: &[&str]) -> Option<Recording> {
    let changes = [changes, &["output.sample_period_s=0.005"]].concat();
    let loaded = shipped(name, &changes)?;
    let samples = sample_instants(&loaded.spec, &[]);
    let simulation = &loaded.spec.simulation;
    let run = mesh::run(
        loaded.mesh.as_ref()?,
        simulation,
        &samples,
        None,
        &mut |_| Flow::Continue,
    );
    Some(run.recording)
}

/// Displacement of the tip of a shipped model at rest.
fn deflection(name: &str, changes: &[&str]) -> Option<Numbers> {
    let loaded = shipped(name, changes)?;
    let rest = mesh::rest(loaded.mesh.as_ref()?, &loaded.spec.simulation).ok()?;
    let start = loaded.spec.find_node("tip")?.point.as_ref()?.position_m;
    let moved = |(axis, start): (&str, f64)| {
        let channel = (rest.recording).channel(&format!("tip.position.{axis}"))?;
        Some((axis.to_owned(), channel.samples.first()? - start))
    };
    ["x", "y", "z"].into_iter().zip(start).map(moved).collect()
}

/// Tip along and across the axis of the hub at the samples.
fn turning(recording: &Recording) -> Option<[Vec<f64>; 2]> {
    let of = |name: &str| Some(&recording.channel(name)?.samples);
    let (angle, x, y) = (
        of("hub.rotation")?,
        of("tip.position.x")?,
        of("tip.position.y")?,
    );
    let (mut along, mut across) = (Vec::new(), Vec::new());
    for (i, angle) in angle.iter().enumerate() {
        let (sin, cos) = angle.sin_cos();
        along.push(cos * x[i] + sin * y[i]);
        across.push(lateral([x[i], y[i], 0.0], *angle));
    }
    Some([along, across])
}

/// States at the samples.
#[derive(Default)]
struct States(Vec<Vec<f64>>);

impl Observer for States {
    fn sample(&mut self, _: f64, state: &[f64]) -> Flow {
        self.0.push(state.to_vec());
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}

fn instants(end: f64, count: usize) -> Vec<f64> {
    (0..=count).map(|i| end * i as f64 / count as f64).collect()
}

fn schedule<'a>(samples: &'a [f64], breakpoints: &'a [f64]) -> Schedule<'a> {
    Schedule {
        start: 0.0,
        end: samples.last().copied().unwrap_or_default(),
        breakpoints,
        samples,
    }
}

fn solved(
    method: Method,
    rtol: f64,
    system: &mut dyn FirstOrder,
    mut state: Vec<f64>,
    samples: &[f64],
    breakpoints: &[f64],
) -> Result<Vec<Vec<f64>>, NodalError> {
    let control = Control {
        rtol,
        atol: vec![1e-2 * rtol],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let mut states = States::default();
    let schedule = schedule(samples, breakpoints);
    integrate(method, &control, system, &schedule, &mut state, &mut states)?;
    Ok(states.0)
}

/// Smallest value and its instant.
fn lowest(values: &[f64], instants: &[f64]) -> (f64, f64) {
    values
        .iter()
        .zip(instants)
        .fold((0.0, 0.0), |best, (&value, &instant)| {
            if value < best.0 {
                (value, instant)
            } else {
                best
            }
        })
}

const SPIN_UP: SpinUp = SpinUp {
    speed: 4.0,
    time: 15.0,
};

fn spin_up(quadratic: bool) -> Option<Numbers> {
    let terms = if quadratic { "elongation" } else { "none" };
    let terms = format!("element.beam.beam.second_order={terms}");
    let recording = recorded("rotating-beam", &[&terms])?;
    let (largest, instant) = lowest(&turning(&recording)?[1], &recording.time_s);
    Some(Numbers::from([
        ("largest".to_owned(), -largest),
        ("instant".to_owned(), instant),
    ]))
}

fn table_1(quadratic: bool) -> Result<Numbers, NodalError> {
    let beam = jonker_beam(4, quadratic, Role::Prescribed)?;
    let mut equations = Equations::new(&beam.mechanism)?;
    let times = instants(15.0, 600);
    let along = linearize_along(&mut equations, &mut SPIN_UP.clone(), &times, &[beam.tip])?;
    let samples = instants(15.0, 3000);
    let deflection = |time: f64, deviation: &[f64]| {
        let displacement = along.displacement(0, time, deviation, true);
        lateral(displacement.0, SPIN_UP.at(time).value)
    };
    let mut numbers = Numbers::new();
    for (case, terms) in Terms::CASES[..4].iter().enumerate() {
        let mut tip = Vec::new();
        if terms.inertia {
            let mut system = Perturbed::new(&along, OpenLoop, *terms, Interpolation::Matrices)?;
            let dofs = system.dof_count();
            let start = vec![0.0; 2 * dofs];
            let states = solved(Method::Dop853, 1e-7, &mut system, start, &samples, &[])?;
            for (state, &time) in states.iter().zip(&samples) {
                tip.push(deflection(time, &state[..dofs]));
            }
        } else {
            for &time in &samples {
                tip.push(deflection(time, &along.steady(time, *terms, None)?));
            }
        }
        let (largest, _) = lowest(&tip, &samples);
        numbers.insert(format!("case_{}", case + 1), -largest);
    }
    numbers.insert(
        "frequency_at_rest".to_owned(),
        first_square(&along, 0, COMPLETE)?.sqrt(),
    );
    numbers.insert(
        "frequency_turning".to_owned(),
        first_square(&along, 600, COMPLETE)?.sqrt(),
    );
    // between two points the square of the frequency is nearly linear in time
    for point in 1..=600 {
        let [before, after] = [point - 1, point].map(|i| first_square(&along, i, Terms::CASES[4]));
        let (before, after) = (before?, after?);
        if before > 0.0 && after <= 0.0 {
            let share = before / (before - after);
            let zero = times[point - 1] + share * (times[point] - times[point - 1]);
            numbers.insert("case_5_zero".to_owned(), zero);
        }
    }
    Ok(numbers)
}

fn first_square(along: &Along, point: usize, terms: Terms) -> Result<f64, NodalError> {
    let (mass, stiffness) = along.constrained(point, terms);
    Ok(UndampedModes::new(&mass, &stiffness)?.squares[0])
}

/// Feedback that may be absent.
#[derive(Clone)]
struct Loop(Option<Servo>);

impl Feedback for Loop {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        match &mut self.0 {
            Some(servo) => servo.effort(time, deviation, rate, effort),
            None => OpenLoop.effort(time, deviation, rate, effort),
        }
    }
}

fn quarter_turn(closed: bool) -> Result<Numbers, NodalError> {
    let beam = jonker_beam(4, true, Role::Actuated)?;
    let mut equations = Equations::new(&beam.mechanism)?;
    let times = with_breaks(&instants(8.0, 600), &[5.0]);
    let along = linearize_along(&mut equations, &mut QuarterTurn, &times, &[beam.tip])?;
    let feedback = Loop(closed.then(|| Servo::new(&along, 1.45, 0.9)));
    let samples = [1.0, 3.0, 5.0, 8.0];
    let mut system = Perturbed::new(&along, feedback.clone(), COMPLETE, Interpolation::Matrices)?;
    let dofs = system.dof_count();
    let start = vec![0.0; 2 * dofs];
    let method = Method::Dop853;
    let linear = solved(method, 1e-7, &mut system, start.clone(), &samples, &[5.0])?;
    let steered = Steered::new(&beam.mechanism, &along, QuarterTurn, feedback);
    let mut dynamics = Dynamics::new(equations.clone(), steered);
    let nonlinear = solved(method, 1e-7, &mut dynamics, start, &samples, &[5.0])?;
    let mut numbers = Numbers::new();
    for (i, &time) in samples.iter().enumerate() {
        let nominal = QuarterTurn::at(time).value;
        let deviation = along.displacement(0, time, &linear[i][..dofs], false);
        let mut elastic = linear[i][..dofs].to_vec();
        elastic[0] = 0.0;
        let elastic = along.displacement(0, time, &elastic, false);
        equations.place(&nonlinear[i][..dofs], &[])?;
        let place = equations.node(beam.tip).position.0;
        for (name, value) in [
            ("elastic_nonlinear", lateral(place, nonlinear[i][0])),
            ("elastic_perturbed", lateral(elastic.0, nominal)),
            ("nominal_nonlinear", lateral(place, nominal)),
            ("nominal_perturbed", lateral(deviation.0, nominal)),
        ] {
            numbers.insert(format!("{name}_{time}"), value);
        }
    }
    Ok(numbers)
}

fn two_link_arm() -> Result<Numbers, NodalError> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let arm = two_link()?;
    let path = TwoLinkPath::new(&arm);
    let mut equations = Equations::new(&arm.mechanism)?;
    let dofs = arm.mechanism.dof_count();
    let mut numbers = Numbers::new();
    let fine = linearize_along(
        &mut equations,
        &mut path.clone(),
        &instants(2.0, 1500),
        &[arm.tip],
    )?;
    for (point, at) in [(0, "at_A"), (375, "at_05_s")] {
        let (mass, stiffness) = fine.constrained(point, COMPLETE);
        let modes = UndampedModes::new(&mass, &stiffness)?;
        for (i, frequency) in modes.frequencies().into_iter().enumerate() {
            numbers.insert(format!("frequency_{}_{at}", i + 1), frequency);
        }
    }
    for (i, &torque) in fine.points()[0].input.iter().enumerate() {
        numbers.insert(format!("torque_{}", i + 1), torque);
    }
    let servo = Servo::new(&fine, 11.8, 0.85);
    let steady = fine.steady(0.0, COMPLETE, Some(&servo.position_gain(0.0)))?;
    let tip = fine.displacement(0, 0.0, &steady, false).scale(1e3);
    for (axis, value) in AXES.iter().zip(tip.0) {
        numbers.insert(format!("steady_{axis}"), value);
    }

    let samples = instants(2.0, 200);
    let breakpoints = [0.3, 0.7, 1.0];
    let mut start: Vec<f64> = fine.points()[0].position.clone();
    for (position, deviation) in start.iter_mut().zip(&steady) {
        *position += deviation;
    }
    start.extend(vec![0.0; dofs]);
    let steered = Steered::new(&arm.mechanism, &fine, path.clone(), servo);
    let mut dynamics = Dynamics::new(equations.clone(), steered);
    let states = solved(
        Method::Radau,
        1e-6,
        &mut dynamics,
        start,
        &samples,
        &breakpoints,
    )?;
    let mut nonlinear = Vec::new();
    for (state, &time) in states.iter().zip(&samples) {
        equations.place(&state[..dofs], &[])?;
        let nominal = Vector(path.tip(time).map(|drive| drive.value));
        nonlinear.push((equations.node(arm.tip).position - nominal).scale(1e3));
    }
    for sample in [0, 50, 100] {
        for (axis, value) in AXES.iter().zip(nonlinear[sample].0) {
            numbers.insert(format!("nonlinear_{sample}_{axis}"), value);
        }
    }

    let coarse = linearize_along(
        &mut equations,
        &mut path.clone(),
        &instants(2.0, 250),
        &[arm.tip],
    )?;
    for (name, along, interpolation) in [
        ("state_space_250", &coarse, Interpolation::StateSpace),
        ("state_space_1500", &fine, Interpolation::StateSpace),
        ("matrices_250", &coarse, Interpolation::Matrices),
    ] {
        let servo = Servo::new(along, 11.8, 0.85);
        let mut system = Perturbed::new(along, servo, COMPLETE, interpolation)?;
        let mut start = steady.clone();
        start.extend(vec![0.0; dofs]);
        let states = solved(
            Method::Radau,
            1e-6,
            &mut system,
            start,
            &samples,
            &breakpoints,
        )?;
        for (component, axis) in AXES.iter().enumerate() {
            let mut worst = 0.0_f64;
            for (i, &time) in samples.iter().enumerate() {
                let tip = along
                    .displacement(0, time, &states[i][..dofs], true)
                    .scale(1e3);
                worst = worst.max((tip[component] - nonlinear[i][component]).abs());
            }
            numbers.insert(format!("{name}_{axis}"), worst);
        }
    }
    Ok(numbers)
}

fn simo() -> Option<Numbers> {
    let recording = recorded("spin-up-elements", &["simulation.duration_s=18"])?;
    let [along, across] = turning(&recording)?;
    let (largest, instant) = lowest(&across, &recording.time_s);
    Some(Numbers::from([
        ("largest".to_owned(), largest),
        ("instant".to_owned(), instant),
        ("at_5".to_owned(), across[1000]),
        ("at_10".to_owned(), across[2000]),
        ("extension".to_owned(), along[3600] - 10.0),
    ]))
}

/// Loaded end's displacement and speed of the centre of mass at 2.5 s.
fn flying_spaghetti() -> Option<Numbers> {
    let recording = recorded("flying-spaghetti", &["simulation.duration_s=2.5"])?;
    let last = |name: &str| recording.channel(name)?.samples.last().copied();
    Some(Numbers::from([
        ("along_x".to_owned(), last("lower.position.x")? - 6.0),
        ("upwards".to_owned(), last("lower.position.y")?),
        // it weighs 10 kg
        ("speed".to_owned(), last("momentum.linear.x")? / 10.0),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: every file can be read, and every row has something to be compared with.
    #[test]
    fn every_file_is_read() {
        for text in FILES {
            let file: File = toml::from_str(text).unwrap();
            assert!(!file.case.is_empty());
            for case in &file.case {
                assert!(!case.row.is_empty(), "{}", case.name);
                for row in &case.row {
                    assert!(row.reference.or(row.printed).is_some(), "{}", row.quantity);
                }
            }
        }
    }
}
