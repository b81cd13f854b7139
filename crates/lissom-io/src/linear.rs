//! Linearised equations as named arrays.
//!
//! | array | shape | meaning |
//! |---|---|---|
//! | `time_s` | points | instants |
//! | `M`, `C`, `K0`, `N0`, `G0` | n × n | $`M\ddot q + C\dot q + (K_0 + N_0 + G_0)\,q = B u`$ |
//! | `B` | n × inputs | |
//! | `A`, `B_state`, `C_output`, `D` | 2n × 2n, … | $`\dot x = Ax + B_{state}u`$, $`y = C_{output}x + Du`$, $`x = (q, \dot q)`$ |
//! | `q0`, `v0` | n | coordinates and rates of the state that deviations are taken from |
//! | `u0` | actuators | nominal inputs on coordinates with actuators |
//! | `y0` | 3 × markers | positions of the markers |
//!
//! Along a motion all have one more axis in front, for its instants. Texts: `coordinate_names`, `state_names`,
//! `input_names`, `output_names`, `marker_names`, and the units of each.

use lissom::linear::{Along, LinearError, Point, SignalNames, StateSpace};
use nalgebra::DMatrix;

use crate::arrays::Arrays;

/// An array of one point, by name.
type Named<T, R> = (&'static str, fn(&T) -> R);

/// The equations along a motion, or at one state.
///
/// # Errors
///
/// When a mass matrix is singular.
pub fn arrays(along: &Along) -> Result<Arrays, LinearError> {
    let mut arrays = Arrays::default();
    let points = along.points();
    let spaces = points
        .iter()
        .map(|point| StateSpace::new(along, point))
        .collect::<Result<Vec<_>, _>>()?;
    let times: Vec<f64> = points.iter().map(|point| point.time).collect();
    arrays.push("time_s", vec![times.len()], times);
    let matrices: [Named<Point, DMatrix<f64>>; 6] = [
        ("M", |point| point.linear.mass.clone()),
        ("C", |point| point.linear.damping.clone()),
        ("K0", |point| point.linear.structural.clone()),
        ("N0", |point| point.linear.dynamic.clone()),
        ("G0", |point| point.linear.geometric.clone()),
        ("B", |point| point.linear.input.clone()),
    ];
    for (name, matrix) in matrices {
        push(&mut arrays, name, points.iter().map(matrix));
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
    let vectors: [Named<Point, Vec<f64>>; 4] = [
        ("q0", |point| point.position.clone()),
        ("v0", |point| point.velocity.clone()),
        ("u0", |point| point.input.clone()),
        ("y0", |point| {
            let positions = point.outputs.iter().flat_map(|output| output.position.0);
            positions.collect()
        }),
    ];
    for (name, vector) in vectors {
        let rows: Vec<Vec<f64>> = points.iter().map(vector).collect();
        let mut shape = leading(points.len());
        shape.push(rows.first().map_or(0, Vec::len));
        arrays.push(name, shape, rows.concat());
    }
    let names = SignalNames::new(along);
    let labels = &along.labels().coordinates;
    let coordinates: Vec<(String, String)> = labels
        .iter()
        .map(|label| (label.name.clone(), label.unit.to_owned()))
        .collect();
    for (what, signals) in [
        ("coordinate", &coordinates),
        ("state", &names.states),
        ("input", &names.inputs),
        ("output", &names.outputs),
    ] {
        let (names, units): (Vec<String>, Vec<String>) = signals.iter().cloned().unzip();
        arrays.texts.push((format!("{what}_names"), names));
        arrays.texts.push((format!("{what}_units"), units));
    }
    let markers = along.labels().markers.clone();
    arrays.texts.push(("marker_names".to_owned(), markers));
    Ok(arrays)
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
