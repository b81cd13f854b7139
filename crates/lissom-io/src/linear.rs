//! Linearised equations as named arrays.
//!
//! | array | shape | meaning |
//! |---|---|---|
//! | `time_s` | points | instants |
//! | `M`, `C`, `K0`, `N0`, `G0` | n × n | $`M\ddot q + C\dot q + (K_0 + N_0 + G_0)\,q = B u + \sigma_0`$ |
//! | `B` | n × inputs | |
//! | `sigma0` | n | generalised stresses of the motion with opposite signs, and what its inputs leave: what drives deviations |
//! | `A`, `B_state`, `C_output`, `D` | 2n × 2n, … | $`\dot x = Ax + B_{state}u`$, $`y = C_{output}x + Du`$, $`x = (q, \dot q)`$ |
//! | `q0`, `v0` | n | coordinates and rates of the state that deviations are taken from |
//! | `u0` | joints driven | nominal inputs, named by `u0_names` |
//! | `y0` | outputs | positions of the markers, then coordinates of the joints that are outputs, then readings of sensors |
//! | `H_output` | 3 × markers, n, n | second derivatives of these: $`y = y_0 + C_{output}x + \tfrac12 q^T H q`$ |
//! | `x_start` | rows of `A` | deviation of the state that the study begins at from the first instant; without an axis for instants, and left out where that state cannot be expressed in its coordinates |
//!
//! Along a motion all others have one more axis in front, for its instants. Texts: `coordinate_names`, `state_names`,
//! `input_names`, `output_names`, `marker_names`, and the units of each. Where loops need other independent coordinates along a
//! motion, `coordinate_set` (points) says which set an instant has, counted from one, and `coordinate_names_2`,
//! `state_names_2` and so on name the further ones.

use lissom::spec::SimulationSpec;
use lissom::{LinearError, Linearized, LinearizedTrajectory, Point, SignalNames, StateSpace};
use nalgebra::DMatrix;

use crate::arrays::Arrays;

/// An array of one point, by name.
type Named<T, R> = (&'static str, fn(&T) -> R);

/// Instants of a motion at which it is linearised unless said.
pub const USUAL_POINTS: usize = 51;

/// An instant that a motion does not have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{at_s} is not in the motion, which is from {start_s} to {end_s} s; name instants inside")]
pub struct OutsideMotion {
    /// The instant.
    pub at_s: f64,
    /// Where the motion begins.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
}

/// Instants at which the motion of a simulation is looked at from a state on: those that are named, each once and in order, or so
/// many evenly to its end if none is.
///
/// # Errors
///
/// When the motion does not have one of them.
pub fn instants_of_motion(
    simulation: &SimulationSpec,
    start_s: f64,
    named: &[f64],
    points: usize,
) -> Result<Vec<f64>, OutsideMotion> {
    let end_s = simulation.end_s();
    if named.is_empty() {
        return Ok(evenly(start_s, end_s - start_s, points));
    }
    let is_inside = |at_s: f64| start_s <= at_s && at_s <= end_s;
    if let Some(&at_s) = named.iter().find(|&&at_s| !is_inside(at_s)) {
        return Err(OutsideMotion {
            at_s,
            start_s,
            end_s,
        });
    }
    let mut instants = named.to_vec();
    instants.sort_by(f64::total_cmp);
    instants.dedup();
    Ok(instants)
}

/// So many instants from the start of a span to its end.
pub fn evenly(start: f64, duration: f64, count: usize) -> Vec<f64> {
    let last = (count.max(2) - 1) as f64;
    // the last is the end itself, not a rounded one
    (0..count)
        .map(|i| start + duration * (i as f64 / last))
        .collect()
}

/// Every instant once, with the equations of the stretch that it belongs to: the states at which other coordinates take over
/// belong to the stretch before.
fn points(found: &Linearized) -> Vec<(usize, &LinearizedTrajectory, &Point)> {
    let stretch = |(set, trajectory): (usize, _)| {
        let trajectory: &LinearizedTrajectory = trajectory;
        let own = trajectory.points().iter().skip(usize::from(set > 0));
        own.map(move |point| (set, trajectory, point))
    };
    found.stretches().enumerate().flat_map(stretch).collect()
}

/// Instants at which a model was linearised.
pub fn instants(found: &Linearized) -> Vec<f64> {
    points(found).iter().map(|(.., point)| point.time).collect()
}

/// The equations along a motion, or at one state.
///
/// # Errors
///
/// When a mass matrix is singular.
pub fn arrays(found: &Linearized) -> Result<Arrays, LinearError> {
    let mut arrays = Arrays::default();
    let all = points(found);
    let spaces = all
        .iter()
        .map(|(_, trajectory, point)| StateSpace::new(trajectory, point))
        .collect::<Result<Vec<_>, _>>()?;
    let points: Vec<&Point> = all.iter().map(|(.., point)| *point).collect();
    let times = instants(found);
    arrays.push("time_s", vec![times.len()], times);
    if !found.further.is_empty() {
        let sets = all.iter().map(|(set, ..)| (set + 1) as f64).collect();
        arrays.push("coordinate_set", vec![all.len()], sets);
    }
    let matrices: [Named<Point, DMatrix<f64>>; 6] = [
        ("M", |point| point.linear.mass.clone()),
        ("C", |point| point.linear.damping.clone()),
        ("K0", |point| point.linear.structural.clone()),
        ("N0", |point| point.linear.dynamic.clone()),
        ("G0", |point| point.linear.geometric.clone()),
        ("B", |point| point.linear.input.clone()),
    ];
    for (name, matrix) in matrices {
        push(&mut arrays, name, points.iter().map(|point| matrix(point)));
    }
    let matrices: [Named<StateSpace, DMatrix<f64>>; 4] = [
        ("A", |space| space.state.clone()),
        ("B_state", |space| space.input.clone()),
        ("C_output", |space| space.output.clone()),
        ("D", |space| space.feedthrough.clone()),
    ];
    for (name, matrix) in matrices {
        push(&mut arrays, name, spaces.iter().map(matrix));
    }
    let mut vectors = |name: &str, vector: &dyn Fn(&Point) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = points.iter().map(|point| vector(point)).collect();
        let mut shape = leading(points.len());
        shape.push(rows.first().map_or(0, Vec::len));
        arrays.push(name, shape, rows.concat());
    };
    vectors("sigma0", &|point| point.excitation.clone());
    vectors("q0", &|point| point.position.clone());
    vectors("v0", &|point| point.velocity.clone());
    vectors("u0", &|point| {
        let places = found.nominal_inputs.iter();
        places.map(|&place| point.input[place]).collect()
    });
    vectors("y0", &|point| {
        let positions = point.outputs.iter().flat_map(|output| output.position.0);
        let readings = point.sensors.reading.iter().copied();
        let joints = point.joints.iter().copied();
        positions.chain(joints).chain(readings).collect()
    });
    push_second_order(&mut arrays, &points);
    if let Some(start) = found.start() {
        arrays.push("x_start", vec![start.len()], start);
    }
    let own = |(name, unit): &(String, String)| (name.clone(), unit.clone());
    for (set, trajectory) in found.stretches().enumerate() {
        let names = SignalNames::new(trajectory);
        let labels = trajectory.labels().coordinates.iter();
        let coordinates: Vec<(String, String)> = labels
            .map(|label| (label.name.clone(), label.unit.to_owned()))
            .collect();
        let kinds = [
            ("coordinate", &coordinates),
            ("state", &names.states),
            ("input", &names.inputs),
            ("output", &names.outputs),
        ];
        // inputs and outputs stay what they are
        let told = if set == 0 { 4 } else { 2 };
        let suffix = match set {
            0 => String::new(),
            set => format!("_{}", set + 1),
        };
        for (what, signals) in &kinds[..told] {
            let (names, units): (Vec<String>, Vec<String>) = signals.iter().map(own).unzip();
            arrays.texts.push((format!("{what}_names{suffix}"), names));
            arrays.texts.push((format!("{what}_units{suffix}"), units));
        }
    }
    let labels = found.trajectory.labels();
    let markers = labels.markers.clone();
    arrays.texts.push(("marker_names".to_owned(), markers));
    let inputs = found.actuated_inputs.iter();
    let inputs = inputs.map(|&input| labels.inputs[input].name.clone());
    arrays.texts.push(("u0_names".to_owned(), inputs.collect()));
    Ok(arrays)
}

/// Second derivatives of the positions of markers, where they were asked for.
fn push_second_order(arrays: &mut Arrays, points: &[&Point]) {
    let mut values = Vec::new();
    let mut shape = [0, 0, 0];
    for point in points {
        let second: Option<Vec<_>> = (point.outputs.iter())
            .map(|output| output.second.as_ref())
            .collect();
        let Some(second) = second else { return };
        let size = point.linear.mass.nrows();
        shape = [3 * second.len(), size, size];
        // symmetric, so that the order of rows and columns does not matter
        values.extend(
            second
                .into_iter()
                .flatten()
                .flat_map(|matrix| matrix.iter()),
        );
    }
    let mut whole = leading(points.len());
    whole.extend(shape);
    arrays.push("H_output", whole, values);
}

/// One state has no axis for instants.
fn leading(points: usize) -> Vec<usize> {
    if points == 1 {
        Vec::new()
    } else {
        vec![points]
    }
}

fn push(arrays: &mut Arrays, name: &str, matrices: impl ExactSizeIterator<Item = DMatrix<f64>>) {
    let mut shape = leading(matrices.len());
    let mut size = [0, 0];
    let mut values = Vec::new();
    for matrix in matrices {
        size = [matrix.nrows(), matrix.ncols()];
        // by rows
        values.extend(matrix.transpose().iter());
    }
    shape.extend(size);
    arrays.push(name, shape, values);
}
