//! Rows that are no runs of shipped models: mechanisms of the literature and the numbers that `nodal.toml` and `any_shape.toml` files name.

use std::collections::BTreeMap;

use lissom::{
    Interpolation, Mechanism, OutputOrder, PerturbOptions, Point, Recording, Terms, sample_instants,
};
use serde::Deserialize;

use super::Row;
use super::any_shape::swung_link;
use super::buckling::lateral_buckling;
use super::claims::{perturbation_time, two_link_shapes, two_link_uncontrolled};
use super::flutter::flutter;
use super::perturbation::{
    COMPLETE, along_nominal, instants, lag, largest_apart, lateral, nonlinear_deviation, perturbed,
    shipped, squares, steady, tip, turning,
};

/// Every `nodal.toml` and `any_shape.toml` of `validation/`.
const FILES: [&str; 7] = [
    include_str!("../../../../validation/jonker_aarts_2001/nodal.toml"),
    include_str!("../../../../validation/simo_1986/nodal.toml"),
    include_str!("../../../../validation/dowell_traybar_1975/nodal.toml"),
    include_str!("../../../../validation/bathe_bolourchi_1979/nodal.toml"),
    include_str!("../../../../validation/timoshenko_1961/nodal.toml"),
    include_str!("../../../../validation/beck_1952/nodal.toml"),
    include_str!("../../../../validation/fattah_1995/any_shape.toml"),
];

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
    TwoLinkShapes,
    TwoLinkUncontrolled,
    PerturbationTime,
    Simo,
    Spaghetti,
    Princeton {
        angle_deg: f64,
    },
    Bend,
    LateralBuckling,
    Flutter,
    SwungLink,
}

pub(super) type Numbers = BTreeMap<String, f64>;

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
                        digits: None,
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
            Self::TwoLinkShapes => two_link_shapes().unwrap_or_default(),
            Self::TwoLinkUncontrolled => two_link_uncontrolled().unwrap_or_default(),
            Self::PerturbationTime => perturbation_time().unwrap_or_default(),
            Self::Simo => simo().unwrap_or_default(),
            Self::Spaghetti => flying_spaghetti().unwrap_or_default(),
            Self::Princeton { angle_deg } => {
                let (sin, cos) = angle_deg.to_radians().sin_cos();
                let direction = format!("input.0.direction=[0, {cos}, {sin}]");
                deflection("princeton-beam", &[&direction]).unwrap_or_default()
            }
            Self::Bend => deflection("bend-45", &[]).unwrap_or_default(),
            Self::LateralBuckling => lateral_buckling(),
            Self::Flutter => flutter(),
            Self::SwungLink => swung_link(),
        }
    }
}

/// The recording of a shipped model of nodes and elements, sampled every 5 ms.
fn recorded(name: &str, changes: &[&str]) -> Option<Recording> {
    let changes = [changes, &["output.sample_period_s=0.005"]].concat();
    let loaded = shipped(name, &changes)?;
    let samples = sample_instants(&loaded.spec, &[]);
    Some(loaded.mechanism.run(&samples).recording)
}

/// Displacement of the tip of a shipped model at rest.
fn deflection(name: &str, changes: &[&str]) -> Option<Numbers> {
    let loaded = shipped(name, changes)?;
    let rest = loaded
        .mechanism
        .equilibrium(&loaded.mechanism.written())
        .ok()?;
    let start = loaded.spec.find_node("tip")?.point.as_ref()?.position_m;
    let moved = |(axis, start): (&str, f64)| {
        let channel = (rest.recording).channel(&format!("tip.position.{axis}"))?;
        Some((axis.to_owned(), channel.samples.first()? - start))
    };
    ["x", "y", "z"].into_iter().zip(start).map(moved).collect()
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

fn table_1(quadratic: bool) -> Option<Numbers> {
    const INTERVALS: usize = 600;
    let terms = if quadratic { "elongation" } else { "none" };
    let terms = format!("element.beam.beam.second_order={terms}");
    let loaded = shipped("rotating-beam", &[&terms])?;
    let found = along_nominal(&loaded, &instants(15.0, INTERVALS))?;
    let samples = instants(15.0, 3000);
    let mut numbers = Numbers::new();
    for (case, &terms) in Terms::CASES[..4].iter().enumerate() {
        let options = PerturbOptions {
            terms,
            interpolation: Interpolation::Matrices,
            order: OutputOrder::Second,
        };
        let recording = perturbed(&loaded, &found, options, &samples)?;
        let (largest, _) = lowest(&lag(&recording)?, &samples);
        numbers.insert(format!("case_{}", case + 1), -largest);
    }
    // a tenth of the points
    let few = along_nominal(&loaded, &instants(15.0, INTERVALS / 10))?;
    let options = PerturbOptions {
        terms: COMPLETE,
        interpolation: Interpolation::Matrices,
        order: OutputOrder::Second,
    };
    let (largest, _) = lowest(
        &lag(&perturbed(&loaded, &few, options, &samples)?)?,
        &samples,
    );
    numbers.insert("case_1_60_points".to_owned(), -largest);
    let trajectory = &found.trajectory;
    for (name, point) in [("at_rest", 0), ("turning", INTERVALS)] {
        let frequency = squares(trajectory, point, COMPLETE)?[0].sqrt();
        numbers.insert(format!("frequency_{name}"), frequency);
    }
    // between two points the square of the frequency is nearly linear in time
    for point in 1..=INTERVALS {
        let [before, after] =
            [point - 1, point].map(|i| Some(squares(trajectory, i, Terms::CASES[4])?[0]));
        let (before, after) = (before?, after?);
        if before > 0.0 && after <= 0.0 {
            let share = before / (before - after);
            let [from, until] = [point - 1, point].map(|i| trajectory.points()[i].time);
            numbers.insert("case_5_zero".to_owned(), from + share * (until - from));
        }
    }
    Some(numbers)
}

fn quarter_turn(closed: bool) -> Option<Numbers> {
    const LENGTH_M: f64 = 8.0;
    let mut loaded = shipped("quarter-turn", &[])?;
    if !closed {
        loaded.spec.controller.clear();
        loaded.mechanism = Mechanism::build(&loaded.spec).ok()?;
    }
    let samples = [1.0, 3.0, 5.0, 8.0];
    let times = loaded.mechanism.with_breaks(&instants(8.0, 600)).ok()?;
    let found = along_nominal(&loaded, &times)?;
    let options = PerturbOptions {
        terms: COMPLETE,
        interpolation: Interpolation::Matrices,
        order: OutputOrder::First,
    };
    let linear = perturbed(&loaded, &found, options, &samples)?;
    let nonlinear = loaded.mechanism.run(&samples).recording;
    let (off, place) = (lag(&linear)?, tip(&nonlinear, "position")?);
    let angle = |recording: &Recording| Some(recording.channel("hub.rotation")?.samples.clone());
    let (turned, perturbed_angle) = (angle(&nonlinear)?, angle(&linear)?);
    let hub =
        (found.trajectory.labels().coordinates.iter()).position(|c| c.name == "hub.rotation")?;
    let mut numbers = Numbers::new();
    for (i, &time) in samples.iter().enumerate() {
        let mut nominal = [0.0];
        let angle = |point: &Point, _| point.position[hub];
        found.trajectory.nominal(time, angle, &mut nominal);
        let [nominal] = nominal;
        let [x, y, _] = place[i];
        for (name, value) in [
            ("elastic_nonlinear", lateral([x, y], turned[i])),
            (
                "elastic_perturbed",
                off[i] - LENGTH_M * (perturbed_angle[i] - nominal),
            ),
            ("nominal_nonlinear", lateral([x, y], nominal)),
            ("nominal_perturbed", off[i]),
        ] {
            numbers.insert(format!("{name}_{time}"), value);
        }
    }
    Some(numbers)
}

fn two_link_arm() -> Option<Numbers> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let loaded = shipped("spatial-two-link", &["simulation.initial=quasi_static"])?;
    let mut numbers = Numbers::new();
    let fine = along_nominal(&loaded, &instants(2.0, 1500))?;
    for (point, at) in [(0, "at_A"), (375, "at_05_s")] {
        let squares = squares(&fine.trajectory, point, COMPLETE)?;
        for (i, square) in squares.into_iter().enumerate() {
            numbers.insert(format!("frequency_{}_{at}", i + 1), square.sqrt());
        }
    }
    let first = (0..fine.trajectory.points().len())
        .map(|point| Some(squares(&fine.trajectory, point, COMPLETE)?[0].sqrt()));
    let first: Option<Vec<f64>> = first.collect();
    let least = first?.into_iter().fold(f64::INFINITY, f64::min);
    numbers.insert("least_frequency".to_owned(), least);
    for (i, &torque) in fine.trajectory.points()[0].input.iter().enumerate() {
        numbers.insert(format!("torque_{}", i + 1), torque);
    }
    let steady = steady(&loaded, &fine)?;
    for (axis, value) in AXES.iter().zip(tip(&steady, "deviation")?[0]) {
        numbers.insert(format!("steady_{axis}"), 1e3 * value);
    }

    let samples = instants(2.0, 200);
    let nonlinear = nonlinear_deviation(&loaded, &fine, &samples)?;
    for sample in [0, 50, 100, 200] {
        for (axis, value) in AXES.iter().zip(nonlinear[sample]) {
            numbers.insert(format!("nonlinear_{sample}_{axis}"), 1e3 * value);
        }
    }

    let coarse = along_nominal(&loaded, &instants(2.0, 250))?;
    for (name, found, interpolation) in [
        ("state_space_250", &coarse, Interpolation::StateSpace),
        ("state_space_1500", &fine, Interpolation::StateSpace),
        ("matrices_250", &coarse, Interpolation::Matrices),
    ] {
        let options = PerturbOptions {
            terms: COMPLETE,
            interpolation,
            order: OutputOrder::Second,
        };
        let linear = tip(&perturbed(&loaded, found, options, &samples)?, "deviation")?;
        for (axis, worst) in AXES.iter().zip(largest_apart(&linear, &nonlinear)) {
            numbers.insert(format!("{name}_{axis}"), 1e3 * worst);
        }
    }
    Some(numbers)
}

fn simo() -> Option<Numbers> {
    let recording = recorded("spin-up-elements", &["simulation.duration_s=18"])?;
    let [trajectory, across] = turning(&recording)?;
    let (largest, instant) = lowest(&across, &recording.time_s);
    Some(Numbers::from([
        ("largest".to_owned(), largest),
        ("instant".to_owned(), instant),
        ("at_5".to_owned(), across[1000]),
        ("at_10".to_owned(), across[2000]),
        ("extension".to_owned(), trajectory[3600] - 10.0),
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
