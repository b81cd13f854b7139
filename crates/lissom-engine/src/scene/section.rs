//! Centrelines of flexible bodies: where they run, how thick they are drawn, how bending strains them.

use serde::Serialize;

use super::{DrawnBody, FlexiblePoint};
use crate::model::beam_of;
use lissom_spatial::Vector;
use lissom_spec::spec::{BeamSpec, BodyKind, BodySpec, SegmentSpec};
use lissom_tree::Body;
use lissom_tree::flex::{Component, Damping, FlexibleBody, Node};
use lissom_tree::tree::keeps_second_order;

/// Stations along a beam: enough that a tenth bending mode still looks smooth.
const STATIONS: usize = 41;

/// Distance of the places whose slopes give the curvature, in lengths of the beam. The error of the difference
/// quotient is of the order of $`(\lambda h)^2/6`$, below 1e-4 for ten modes, far below what a colour shows.
const CURVATURE_STEP: f64 = 1e-3;

/// Half thickness over length of a beam whose sections are not known.
const ASSUMED_SLENDERNESS: f64 = 0.01;

/// The line along which a flexible body is drawn.
///
/// Lists over stations and coordinates run over the coordinates of one station first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Centreline {
    /// Undeformed positions of the stations in the body's frame, from root to tip.
    pub positions: Vec<[f64; 3]>,
    /// $`\psi_\alpha`$ at every station.
    pub displacement: Vec<[f64; 3]>,
    /// $`\theta_\alpha`$ at every station.
    pub rotation: Vec<[f64; 3]>,
    /// The parts of $`H`$ that the model keeps, with the entries of one station behind those of another.
    pub second_order: Vec<SecondOrder>,
    /// Curvatures $`v_\alpha''`$ and $`w_\alpha''`$ at every station; empty where they are not known.
    pub curvature: Vec<[f64; 2]>,
    /// Half axes of the elliptic section along y and z at every station; empty where nothing is known of the
    /// sections.
    pub half_axes: Vec<[f64; 2]>,
    /// Whether `half_axes` follow from the model rather than from its length alone.
    pub sections_known: bool,
    /// Young's modulus of the section in Pa at every station; empty where the model does not tell.
    pub youngs_modulus: Vec<f64>,
}

/// A part of $`H`$: what two groups of elastic coordinates add to one component of a displacement or rotation to second order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecondOrder {
    /// 0 to 2 along x, y, z of the displacement, 3 to 5 of the rotation vector.
    pub component: usize,
    /// First coordinate of the rows, and the one behind the last.
    pub rows: [usize; 2],
    /// The same of the columns. Where they are not those of the rows, the mirror image of the entries counts too.
    pub columns: [usize; 2],
    /// Entries by rows.
    pub entries: Vec<f64>,
}

/// What the colour of flexible bodies means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Colour {
    /// Largest bending stress of a section in Pa, for the solid elliptic section with the EI and EA of the beam; von Mises' stress on surfaces.
    Stress,
    /// Largest bending strain of a section, for the half axes drawn.
    Strain,
    /// Nothing: no body has curvatures.
    Nothing,
}

/// What the colour means; moduli that would not be used are taken away, so that all bodies show one quantity.
pub(super) fn colour(bodies: &mut [DrawnBody]) -> Colour {
    let lines = || {
        let lines = bodies.iter().filter_map(|body| body.line.as_ref());
        lines.filter(|line| !line.curvature.is_empty())
    };
    let mut surfaces = bodies.iter().filter_map(|body| body.surface.as_ref());
    let has_stress = surfaces.any(|surface| !surface.stress.is_empty());
    if lines().next().is_none() && !has_stress {
        return Colour::Nothing;
    }
    if lines().all(|line| !line.youngs_modulus.is_empty()) {
        return Colour::Stress;
    }
    for body in bodies {
        if let Some(line) = &mut body.line {
            line.youngs_modulus.clear();
        }
        if let Some(surface) = &mut body.surface {
            surface.stress.clear();
        }
    }
    Colour::Strain
}

/// The influence on a node, with those second-order terms that the body's fidelity keeps.
pub(super) fn point(body: &Body, node: &Node) -> FlexiblePoint {
    FlexiblePoint {
        position: node.position,
        displacement: node.displacement.clone(),
        rotation: node.rotation.clone(),
        second_order: body.flexible.as_ref().map_or_else(Vec::new, |flexible| {
            second_order(body, flexible, &node.second_order)
        }),
    }
}

fn second_order(body: &Body, flexible: &FlexibleBody, entries: &[f64]) -> Vec<SecondOrder> {
    let Some(field) = &flexible.second_order else {
        return Vec::new();
    };
    let (tip, shortening) = (body.fidelity.marker_tip(), body.fidelity.shortening);
    let range = |range: &std::ops::Range<usize>| [range.start, range.end];
    (field.entries(entries))
        .filter(|(block, _)| keeps_second_order(shortening, tip, block.component))
        .map(|(block, entries)| SecondOrder {
            component: match block.component {
                Component::Displacement(axis) => axis,
                Component::Rotation(axis) => 3 + axis,
            },
            rows: range(&block.rows),
            columns: range(&block.columns),
            entries: entries.to_vec(),
        })
        .collect()
}

/// The line of a body of the file; `None` for a rigid one.
pub(super) fn line(own: &BodySpec, body: &Body) -> Option<Centreline> {
    let flexible = body.flexible.as_ref()?;
    match own.kind()? {
        BodyKind::Beam(beam) => beam_line(own, beam, body),
        BodyKind::Rigid(_) => None,
        _ => Some(nodal_line(body, flexible)),
    }
}

fn beam_line(own: &BodySpec, beam: &BeamSpec, body: &Body) -> Option<Centreline> {
    let segments = beam.uniform_segments();
    let length: f64 = segments.iter().map(|segment| segment.length_m).sum();
    let step = CURVATURE_STEP * length;
    let stations: Vec<f64> = (0..STATIONS)
        .map(|i| length * i as f64 / (STATIONS - 1) as f64)
        .collect();
    // every station, then the places before and behind it whose slopes differ by its curvature
    let inside = |x: f64| x.clamp(0.0, length);
    let beside = |x: f64| [inside(x - step), inside(x + step)];
    let places: Vec<f64> = (stations.iter().copied())
        .chain(stations.iter().flat_map(|&x| beside(x)))
        .collect();
    let reduced = beam_of(own, beam).reduce(&places, &Damping::None).ok()?;
    let (nodes, pairs) = reduced.nodes.split_at(STATIONS);
    let curvature = (stations.iter().zip(pairs.chunks(2))).flat_map(|(&x, pair)| {
        let [before, behind] = beside(x);
        let slopes = pair[0].rotation.iter().zip(&pair[1].rotation);
        // θ = (φ, −w′, v′)
        slopes.map(move |(a, b)| {
            [
                (b[2] - a[2]) / (behind - before),
                (a[1] - b[1]) / (behind - before),
            ]
        })
    });
    let sections: Vec<Section> = stations
        .iter()
        .map(|&x| Section::at(&segments, x, length))
        .collect();
    let moduli: Option<Vec<f64>> = sections.iter().map(|s| s.youngs_modulus).collect();
    Some(Centreline {
        curvature: curvature.collect(),
        half_axes: sections.iter().map(|section| section.half_axes).collect(),
        sections_known: sections.iter().all(|section| section.known),
        youngs_modulus: moduli.unwrap_or_default(),
        ..line_through(body, nodes)
    })
}

/// A line through nodes, with nothing said of its sections.
fn line_through<'a>(body: &Body, nodes: impl IntoIterator<Item = &'a Node>) -> Centreline {
    let points: Vec<FlexiblePoint> = nodes.into_iter().map(|node| point(body, node)).collect();
    // the parts are the same at every station
    let mut second_order = points
        .first()
        .map_or_else(Vec::new, |first| first.second_order.clone());
    for point in points.iter().skip(1) {
        for (whole, part) in second_order.iter_mut().zip(&point.second_order) {
            whole.entries.extend_from_slice(&part.entries);
        }
    }
    Centreline {
        positions: points.iter().map(|p| p.position).collect(),
        displacement: points.iter().flat_map(|p| p.displacement.clone()).collect(),
        rotation: points.iter().flat_map(|p| p.rotation.clone()).collect(),
        second_order,
        curvature: Vec::new(),
        half_axes: Vec::new(),
        sections_known: false,
        youngs_modulus: Vec::new(),
    }
}

/// The nodes of a nodal body in the order of their distance along the line from the first to the one furthest
/// from it.
fn nodal_line(body: &Body, flexible: &FlexibleBody) -> Centreline {
    let mut nodes: Vec<&Node> = flexible.nodes.iter().collect();
    if let Some(first) = nodes.first().map(|node| Vector(node.position)) {
        let from_first = |node: &Node| Vector(node.position) - first;
        let square = |node: &Node| from_first(node).dot(from_first(node));
        let furthest = nodes
            .iter()
            .copied()
            .max_by(|a, b| square(a).total_cmp(&square(b)));
        let direction = furthest.map_or(Vector::zero(), from_first);
        nodes.sort_by(|a, b| {
            let along = |node: &Node| from_first(node).dot(direction);
            along(a).total_cmp(&along(b))
        });
        nodes.dedup_by(|a, b| a.position == b.position);
    }
    line_through(body, nodes)
}

/// The solid ellipse that stands for a section.
///
/// With the radii of gyration $`i_y^2 = EI_y/EA`$ it has the half axes $`2 i_y`$ and $`2 i_z`$ and Young's modulus
/// $`EA/(\pi\,4\,i_y i_z)`$: the one solid ellipse with the three stiffnesses of the beam. Without EA the radii of
/// gyration are those of the mass, $`\int\rho y^2 dA / \rho A`$, and no modulus follows.
pub(super) struct Section {
    pub(super) half_axes: [f64; 2],
    pub(super) youngs_modulus: Option<f64>,
    pub(super) known: bool,
}

impl Section {
    fn at(segments: &[SegmentSpec], x: f64, length: f64) -> Self {
        let mut end = 0.0;
        let mut found = &segments[segments.len() - 1];
        for segment in segments {
            end += segment.length_m;
            if x < end {
                found = segment;
                break;
            }
        }
        Self::of(found, length)
    }

    fn of(segment: &SegmentSpec, length: f64) -> Self {
        Self::with(
            segment.axial_stiffness_n,
            [
                segment.bending_stiffness_y_n_m2,
                segment.bending_stiffness_z_n_m2,
            ],
            [
                segment.section_inertia_y_kg_m,
                segment.section_inertia_z_kg_m,
            ],
            segment.mass_per_length_kg_per_m,
            length,
        )
    }

    /// Of EA, EI and second moments of mass along y and z, and mass per length, on a beam of some length.
    pub(super) fn with(
        axial: Option<f64>,
        stiffness: [Option<f64>; 2],
        inertia: [f64; 2],
        mass_per_length: f64,
        length: f64,
    ) -> Self {
        let ratios = |values: [Option<f64>; 2], by: f64| {
            let known = values.map(|v| v.filter(|&v| v > 0.0).map(|v| v / by));
            // a beam that bends in one plane only is drawn round
            Some([known[0].or(known[1])?, known[1].or(known[0])?])
        };
        let axial = axial.filter(|&axial| axial > 0.0);
        if let Some(axial) = axial
            && let Some(squares) = ratios(stiffness, axial)
        {
            let half_axes = squares.map(|square| 2.0 * square.sqrt());
            let area = std::f64::consts::PI * half_axes[0] * half_axes[1];
            return Self {
                half_axes,
                youngs_modulus: Some(axial / area),
                known: true,
            };
        }
        match ratios(inertia.map(Some), mass_per_length) {
            Some(squares) => Self {
                half_axes: squares.map(|square| 2.0 * square.sqrt()),
                youngs_modulus: None,
                known: true,
            },
            None => Self {
                half_axes: [ASSUMED_SLENDERNESS * length; 2],
                youngs_modulus: None,
                known: false,
            },
        }
    }
}
