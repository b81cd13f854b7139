//! Numbers of one part of a mechanism, in the order of its signals.

use lissom_spatial::Force;

use super::part::{BeamPart, Coordinates};
use super::readout::Readout;

/// Appends the positions of coordinates.
pub(super) fn read_position(part: &Coordinates, readout: &dyn Readout, row: &mut Vec<f64>) {
    match part {
        Coordinates::Axis(axis, _) => row.push(readout.axis(*axis)[0]),
        Coordinates::Joint {
            joint, translates, ..
        } => {
            let reading = readout.joint(*joint);
            if *translates {
                row.extend_from_slice(&reading.position);
            }
            row.extend_from_slice(&reading.quaternion);
        }
        Coordinates::Elastic { at, .. } => row.push(readout.elastic(*at)[0]),
        Coordinates::Orientation { at, .. } => row.extend(readout.orientation(*at)),
    }
}

/// Appends their rates.
pub(super) fn read_rate(part: &Coordinates, readout: &dyn Readout, row: &mut Vec<f64>) {
    match part {
        Coordinates::Axis(axis, _) => row.push(readout.axis(*axis)[1]),
        Coordinates::Joint {
            joint, translates, ..
        } => {
            let reading = readout.joint(*joint);
            row.extend_from_slice(&reading.angular_velocity);
            if *translates {
                row.extend_from_slice(&reading.velocity);
            }
        }
        Coordinates::Elastic { at, .. } => row.push(readout.elastic(*at)[1]),
        Coordinates::Orientation { turns: false, .. } => {}
        Coordinates::Orientation { at, .. } => row.extend(readout.orientation_rate(*at)),
    }
}

/// Appends loads and stresses of a section.
pub(super) fn read_section(beam: &BeamPart, load: &Force<f64>, row: &mut Vec<f64>) {
    row.extend_from_slice(&load.force.0);
    row.extend_from_slice(&load.moment.0);
    if let Some(section) = &beam.section {
        let stresses = section.under(load);
        row.extend_from_slice(&stresses.normal);
        row.extend(stresses.shear);
        row.extend(stresses.equivalent());
    }
}
