//! How far flexible bodies bend in a recorded run, and when it stops being bending.

use serde::Serialize;

use crate::flex::{FlexibleBody, Node};
use crate::model::{CoordinateKind, Model};
use crate::simulate::recording::{Recording, Sample};

/// How far one flexible body bends in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BodyExtent {
    /// Name of the body.
    pub body: String,
    /// Largest distance of its nodes and mass points from its origin.
    pub length_m: f64,
    /// Largest displacement of a point in the body's frame, without shortening.
    pub deflection: Sample,
    /// Largest small rotation of a section.
    pub slope: Sample,
    /// Lowest natural frequency with the body's frame held; `None` if there is none.
    pub lowest_frequency_rad_per_s: Option<f64>,
}

/// The instant at which a run leaves what its equations describe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    /// The first sample that is beyond.
    pub time_s: f64,
    /// The coordinate that contributes most there, or the first that is not finite.
    pub coordinate: String,
    /// Displacement of the point furthest out, in lengths of its body; `None` when it is not finite.
    pub lengths: Option<f64>,
}

/// A flexible body and where its coordinates are recorded.
struct Bent<'a> {
    name: &'a str,
    flexible: &'a FlexibleBody,
    columns: Vec<&'a [f64]>,
    names: Vec<&'a str>,
    length: f64,
}

impl<'a> Bent<'a> {
    /// The flexible bodies whose coordinates are all recorded.
    fn all(model: &'a Model, recording: &'a Recording) -> Vec<Self> {
        let layout = model.system.layout();
        let bodies = model.system.bodies().iter().enumerate();
        let bent = bodies.filter_map(|(k, body)| {
            let flexible = body.flexible.as_ref()?;
            let coordinates = &model.positions[layout.elastic_position[k]..][..body.modes()];
            let columns = coordinates
                .iter()
                .map(|c| Some(recording.channel(&c.name)?.samples.as_slice()));
            let distance = |node: &Node| node.position.iter().map(|x| x * x).sum::<f64>().sqrt();
            Some(Self {
                name: &body.name,
                flexible,
                columns: columns.collect::<Option<_>>()?,
                names: coordinates.iter().map(|c| c.name.as_str()).collect(),
                length: points(flexible).map(distance).fold(0.0, f64::max),
            })
        });
        bent.collect()
    }

    /// Length of the longest $`\sum x_\alpha \eta_\alpha`$ over all points at a sample.
    fn largest(&self, sample: usize, of: fn(&Node) -> &[[f64; 3]]) -> f64 {
        let mut most = 0.0;
        for node in points(self.flexible) {
            let mut sum = [0.0; 3];
            for (shape, column) in of(node).iter().zip(&self.columns) {
                for (s, x) in sum.iter_mut().zip(shape) {
                    *s += x * column[sample];
                }
            }
            let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            most = f64::max(most, length);
        }
        most
    }

    fn peak(&self, time_s: &[f64], of: fn(&Node) -> &[[f64; 3]]) -> Sample {
        let mut peak = Sample {
            value: 0.0,
            time_s: time_s.first().copied().unwrap_or(0.0),
        };
        for (k, &time_s) in time_s.iter().enumerate() {
            let value = self.largest(k, of);
            if value > peak.value {
                peak = Sample { value, time_s };
            }
        }
        peak
    }

    /// Name of the coordinate that displaces some point most.
    fn leading(&self, sample: usize) -> &'a str {
        let reach = |alpha: usize| {
            let moved = points(self.flexible).map(|node| {
                let shape = node.displacement[alpha];
                let length = shape.iter().map(|x| x * x).sum::<f64>().sqrt();
                length * self.columns[alpha][sample].abs()
            });
            moved.fold(0.0, f64::max)
        };
        let order = (0..self.names.len()).max_by(|&a, &b| reach(a).total_cmp(&reach(b)));
        order.map_or(self.name, |alpha| self.names[alpha])
    }
}

fn points(flexible: &FlexibleBody) -> impl Iterator<Item = &Node> {
    let slices = flexible.mass_nodes.iter().map(|mass| &mass.node);
    flexible.nodes.iter().chain(slices)
}

/// How far every flexible body bends in a run.
pub fn extents(model: &Model, recording: &Recording) -> Vec<BodyExtent> {
    let extent = |bent: &Bent<'_>| BodyExtent {
        body: bent.name.to_owned(),
        length_m: bent.length,
        deflection: bent.peak(&recording.time_s, |node| &node.displacement),
        slope: bent.peak(&recording.time_s, |node| &node.rotation),
        lowest_frequency_rad_per_s: (bent.flexible.frequencies().ok())
            .and_then(|frequencies| frequencies.first().copied()),
    };
    Bent::all(model, recording).iter().map(extent).collect()
}

/// The first sample at which a body is displaced beyond `lengths` times its length, or a coordinate of the
/// mechanism is not finite.
pub fn departure(model: &Model, recording: &Recording, lengths: f64) -> Option<Departure> {
    let bodies = Bent::all(model, recording);
    let coordinates: Vec<_> = (model.positions.iter())
        .filter(|c| c.kind != CoordinateKind::Motor)
        .filter_map(|c| recording.channel(&c.name))
        .collect();
    for (k, &time_s) in recording.time_s.iter().enumerate() {
        if let Some(channel) = coordinates.iter().find(|c| !c.samples[k].is_finite()) {
            return Some(Departure {
                time_s,
                coordinate: channel.name.clone(),
                lengths: None,
            });
        }
        for bent in &bodies {
            let beyond = bent.largest(k, |node| &node.displacement) / bent.length;
            if beyond > lengths {
                return Some(Departure {
                    time_s,
                    coordinate: bent.leading(k).to_owned(),
                    lengths: Some(beyond),
                });
            }
        }
    }
    None
}
