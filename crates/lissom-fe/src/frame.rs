//! From a [`BeamFrameSpec`] to [`Beams`], and their reduction.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Matrix6, Vector3, Vector6};

use crate::FeError;
use crate::basis::Attached;
use crate::beams::{Beams, NODES, Section};
use crate::curve::Curve;
use crate::error::MemberFault;
use crate::reduce::{Reduction, reduced};
use crate::stop::Stop;
use lissom_spec::spec::{BeamFrameSpec, MemberSpec, SectionStiffness, StationSpec};

/// Elements of a member that does not say how many it has.
const ELEMENTS: usize = 6;

/// Shares of a length that are the same place.
const SAME: f64 = 1e-9;

/// Sine of the angle to the line of a member below which a direction says nothing about its section.
const ALONG: f64 = 1e-2;

/// Reduces a frame to elastic coordinates, in the frame of the body.
///
/// # Errors
/// For frames that are not one sound body, or when it is stopped.
pub fn reduce_frame(
    spec: &BeamFrameSpec,
    attached: &Attached,
    stop: Stop<'_>,
) -> Result<Reduction, FeError> {
    reduced(&beams(spec)?, &spec.basis, attached, spec.stiffening, stop)
}

/// A member with its line and the places along it where something changes.
struct Divided<'s> {
    spec: &'s MemberSpec,
    stations: Vec<StationSpec>,
    z_direction: Vector3<f64>,
    /// Shares of the length from element to element, and the nodes of the elements.
    elements: Vec<([f64; 2], [usize; NODES])>,
}

pub(crate) fn beams(spec: &BeamFrameSpec) -> Result<Beams, FeError> {
    let mut nodes: Vec<Vector3<f64>> = Vec::new();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &spec.node {
        named.insert(&node.name, nodes.len());
        nodes.push(node.position_m.into());
    }
    let mut members = Vec::with_capacity(spec.member.len());
    for (index, member) in spec.member.iter().enumerate() {
        let fault = |fault: MemberFault| FeError::Member {
            index,
            from: member.from.clone(),
            to: member.to.clone(),
            fault,
        };
        members.push(divided(member, &mut nodes, &mut named).map_err(fault)?);
    }
    let node = |name: &str| {
        let found = named.get(name).copied();
        found.ok_or_else(|| FeError::UnknownPlace {
            name: name.to_owned(),
        })
    };
    let mut beams = Beams::new(nodes);
    for (index, member) in members.iter().enumerate() {
        for &(shares, nodes) in &member.elements {
            let section = |xi: f64, tangent: Vector3<f64>| member.section(shares, xi, tangent);
            beams
                .add_element(nodes, section)
                .map_err(|fault| FeError::Member {
                    index,
                    from: member.spec.from.clone(),
                    to: member.spec.to.clone(),
                    fault,
                })?;
        }
    }
    for lump in &spec.lump {
        let axes = [0, 1, 2].map(|axis| Vector3::ith(axis, 1.0));
        let [xx, yy, zz] = lump.inertia_kg_m2;
        let second = [yy + zz - xx, xx + zz - yy, xx + yy - zz].map(|twice| 0.5 * twice);
        let points = points_of(lump.mass_kg, lump.center_of_mass_m.into(), axes, second);
        beams.add_lump(node(&lump.at)?, points.into_iter());
    }
    for name in &spec.interface {
        beams.add_place(name, node(name)?, true);
    }
    let interfaces: BTreeSet<&str> = spec.interface.iter().map(String::as_str).collect();
    let others = (spec.place_names()).filter(|name| !interfaces.contains(name));
    for name in others {
        beams.add_place(name, node(name)?, false);
    }
    Ok(beams)
}

/// Lays nodes along a member.
fn divided<'s>(
    member: &'s MemberSpec,
    nodes: &mut Vec<Vector3<f64>>,
    named: &mut BTreeMap<&'s str, usize>,
) -> Result<Divided<'s>, MemberFault> {
    let end = |name: &'s str| {
        let found = named.get(name).copied();
        found.ok_or(MemberFault::UnknownNode {
            name: name.to_owned(),
        })
    };
    let (first, last) = (end(&member.from)?, end(&member.to)?);
    let curve = curve(member, nodes[first], nodes[last])?;
    if curve.length() <= 0.0 {
        return Err(MemberFault::NoLength);
    }
    let stations = member.stations();
    let mut breaks = vec![0.0, 1.0];
    breaks.extend(stations.iter().map(|station| station.share));
    breaks.extend(member.place.iter().map(|place| place.share));
    breaks.retain(|share| (0.0..=1.0).contains(share));
    breaks.sort_by(f64::total_cmp);
    breaks.dedup_by(|a, b| *a - *b < SAME);
    if let Some(end) = breaks.last_mut() {
        *end = 1.0;
    }
    let count = member.elements.unwrap_or(ELEMENTS);
    let mut shares = vec![0.0];
    for piece in breaks.windows(2) {
        let own = piece[1] - piece[0];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of at most `elements`, and one"
        )]
        let parts = (own * count as f64 - SAME).ceil().max(1.0) as usize;
        shares.extend((1..=parts).map(|i| piece[0] + own * i as f64 / parts as f64));
    }
    let mut elements = Vec::with_capacity(shares.len() - 1);
    let mut before = first;
    for (index, pair) in shares.windows(2).enumerate() {
        let at = |k: usize| pair[0] + (pair[1] - pair[0]) * k as f64 / (NODES - 1) as f64;
        let mut own = [before; NODES];
        for (k, node) in own.iter_mut().enumerate().skip(1) {
            *node = if k == NODES - 1 && index + 2 == shares.len() {
                last
            } else {
                nodes.push(curve.at(at(k)));
                nodes.len() - 1
            };
        }
        before = own[NODES - 1];
        for place in &member.place {
            if (place.share - pair[1]).abs() < SAME {
                named.insert(&place.name, before);
            }
        }
        elements.push(([pair[0], pair[1]], own));
    }
    Ok(Divided {
        spec: member,
        stations,
        z_direction: z_direction(member, nodes[last] - nodes[first]),
        elements,
    })
}

fn curve(member: &MemberSpec, from: Vector3<f64>, to: Vector3<f64>) -> Result<Curve, MemberFault> {
    if let Some(through) = member.arc_through_m {
        return Curve::arc(from, through.into(), to).ok_or(MemberFault::FlatArc);
    }
    if member.spline_through_m.is_empty() {
        return Ok(Curve::Line { from, to });
    }
    let inner = member.spline_through_m.iter().map(|&point| point.into());
    let points = std::iter::once(from).chain(inner).chain([to]).collect();
    Curve::spline(points).ok_or(MemberFault::RepeatedPoint)
}

fn z_direction(member: &MemberSpec, chord: Vector3<f64>) -> Vector3<f64> {
    let usual = Vector3::z();
    match member.z_direction {
        Some(own) => Vector3::from(own).normalize(),
        None if chord.cross(&usual).norm() < ALONG * chord.norm() => -Vector3::x(),
        None => usual,
    }
}

impl Divided<'_> {
    /// Between two shares of the length, at a place from -1 to 1 in between.
    fn section(
        &self,
        [start, end]: [f64; 2],
        xi: f64,
        tangent: Vector3<f64>,
    ) -> Result<Section, MemberFault> {
        let (middle, share) = (
            0.5 * (start + end),
            start + 0.5 * (1.0 + xi) * (end - start),
        );
        let station = between(&self.stations, middle, share)?;
        let stiffness = (station.section.stiffness(self.spec.material.as_ref()))
            .ok_or(MemberFault::NoMaterial)?;
        let across = self.z_direction - tangent * self.z_direction.dot(&tangent);
        if across.norm() < ALONG {
            return Err(MemberFault::AlongDirection);
        }
        let z = across.normalize();
        let y = z.cross(&tangent);
        let offset = y * station.offset_m[0] + z * station.offset_m[1];
        let (sin, cos) = station.angle_rad.sin_cos();
        let (y, z) = (y * cos + z * sin, z * cos - y * sin);
        Ok(section(&stiffness, [tangent, y, z], offset))
    }
}

/// A section in its axes, at an offset from the line.
pub(crate) fn section(
    stiffness: &SectionStiffness,
    axes: [Vector3<f64>; 3],
    offset: Vector3<f64>,
) -> Section {
    let [_, y, z] = axes;
    let at = |[a, b]: [f64; 2]| offset + y * a + z * b;
    Section {
        law: law(stiffness, axes, at),
        masses: masses(stiffness)
            .map(|point| (stiffness.mass / 3.0, at(point)))
            .into(),
    }
}

/// The section at a share of the length, on the side of `middle` where there is a step.
fn between(stations: &[StationSpec], middle: f64, share: f64) -> Result<StationSpec, MemberFault> {
    let behind = stations.partition_point(|station| station.share < middle);
    match (stations[..behind].last(), stations.get(behind)) {
        (Some(before), Some(after)) => {
            let part = (share - before.share) / (after.share - before.share);
            let mix = |a: f64, b: f64| a + part * (b - a);
            let section = before.section.between(&after.section, part);
            Ok(StationSpec {
                share,
                section: section.ok_or(MemberFault::DifferentSections)?,
                offset_m: [0, 1].map(|k| mix(before.offset_m[k], after.offset_m[k])),
                angle_rad: mix(before.angle_rad, after.angle_rad),
            })
        }
        (Some(only), None) | (None, Some(only)) => Ok(only.clone()),
        (None, None) => Err(MemberFault::NoSection),
    }
}

/// Forces and moments per strain and curvature: a strain along `d` at a centre `ρ` is $`d\cdot\Gamma + (\rho\times d)\cdot K`$.
fn law(
    stiffness: &SectionStiffness,
    [x, y, z]: [Vector3<f64>; 3],
    at: impl Fn([f64; 2]) -> Vector3<f64>,
) -> Matrix6<f64> {
    let six = |strain: Vector3<f64>, curvature: Vector3<f64>| {
        Vector6::from_iterator(strain.iter().chain(&curvature).copied())
    };
    let strain = |along: Vector3<f64>, centre: [f64; 2]| six(along, at(centre).cross(&along));
    let curvature = |about: Vector3<f64>| six(Vector3::zeros(), about);
    let square = |stiffness: f64, own: Vector6<f64>| own * own.transpose() * stiffness;
    let (bent_y, bent_z) = (curvature(z), curvature(-y));
    let [yy, yz, zz] = stiffness.bending;
    square(stiffness.axial, strain(x, stiffness.tension_centre))
        + square(stiffness.shear[0], strain(y, stiffness.shear_centre))
        + square(stiffness.shear[1], strain(z, stiffness.shear_centre))
        + square(stiffness.torsional, curvature(x))
        + square(yy, bent_y)
        + square(zz, bent_z)
        + (bent_y * bent_z.transpose() + bent_z * bent_y.transpose()) * yz
}

/// Three points of equal mass with the centre and second moments of a section.
fn masses(stiffness: &SectionStiffness) -> [[f64; 2]; 3] {
    let [yy, yz, zz] = stiffness.inertia.map(|inertia| inertia / stiffness.mass);
    let first = yy.sqrt();
    let mixed = if first > 0.0 { yz / first } else { 0.0 };
    let second = (zz - mixed * mixed).max(0.0).sqrt();
    let [y, z] = stiffness.mass_centre;
    [0.0, 1.0, 2.0].map(|third: f64| {
        let (sin, cos) = (third * std::f64::consts::TAU / 3.0).sin_cos();
        let (a, b) = (
            std::f64::consts::SQRT_2 * cos,
            std::f64::consts::SQRT_2 * sin,
        );
        [y + first * a, z + mixed * a + second * b]
    })
}

/// Six points of equal mass with the centre of a lump and its second moments ∫x²dm along three axes.
pub(crate) fn points_of(
    mass: f64,
    centre: Vector3<f64>,
    axes: [Vector3<f64>; 3],
    second: [f64; 3],
) -> Vec<(f64, Vector3<f64>)> {
    let pair = |axis: usize| {
        // what is below zero is rounding
        let offset = axes[axis] * (3.0 * second[axis].max(0.0) / mass).sqrt();
        [centre + offset, centre - offset]
    };
    let points = [pair(0), pair(1), pair(2)].into_iter().flatten();
    points.map(|at| (mass / 6.0, at)).collect()
}
