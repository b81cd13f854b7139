//! [`SectionExtremes`]: how large the loads and stresses along the beams of a model were in a run, and where and when.

use std::collections::BTreeMap;

use lissom_spec::ModelSpec;
use serde::Serialize;

use super::{Extremes, Recording, Sample};
use crate::signal::{SECTION_LOADS, SECTION_STRESSES, section_signal};

/// The smallest and the largest value of a load or stress in one section of a beam, among the samples of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionExtremes {
    /// Name of the beam.
    pub beam: String,
    /// Which load or stress, as in the name of its channel: `bending_moment.z`.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: String,
    /// Number of the section, from 1 at the root.
    pub section: usize,
    /// Where the section is, from the root.
    pub place_m: f64,
    /// The smallest sample.
    pub minimum: Sample,
    /// The largest sample.
    pub maximum: Sample,
}

/// The largest size of a load or stress along a beam, among the samples of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPeak {
    /// Name of the beam.
    pub beam: String,
    /// Which load or stress.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: String,
    /// Its value there and then.
    pub value: f64,
    /// When.
    pub time_s: f64,
    /// Where, from the root.
    pub place_m: f64,
    /// Number of that section, from 1 at the root.
    pub section: usize,
}

impl SectionExtremes {
    /// Those of a recording of a model, beam by beam, quantity by quantity, from root to tip; what was not recorded is left out.
    pub fn of(recording: &Recording, spec: &ModelSpec) -> Vec<Self> {
        let beams = spec.loaded_beams();
        if beams.is_empty() {
            return Vec::new();
        }
        let extremes = recording.extremes();
        let by_name: BTreeMap<&str, &Extremes> = (extremes.iter())
            .map(|channel| (channel.name.as_str(), channel))
            .collect();
        let loads = SECTION_LOADS.iter().map(|(what, _)| *what);
        let quantities: Vec<&str> = loads.chain(SECTION_STRESSES).collect();
        let mut found = Vec::new();
        for loaded in &beams {
            for &quantity in &quantities {
                let places = (1..).zip(&loaded.sections_m);
                found.extend(places.filter_map(|(section, &place_m)| {
                    let name = section_signal(&loaded.body.name, section, quantity);
                    let channel = by_name.get(name.as_str())?;
                    Some(Self {
                        beam: loaded.body.name.clone(),
                        quantity,
                        unit: channel.unit.clone(),
                        section,
                        place_m,
                        minimum: channel.minimum,
                        maximum: channel.maximum,
                    })
                }));
            }
        }
        found
    }

    /// The sample of larger size.
    fn larger(&self) -> Sample {
        let [minimum, maximum] = [self.minimum, self.maximum];
        if minimum.value.abs().total_cmp(&maximum.value.abs()).is_gt() {
            minimum
        } else {
            maximum
        }
    }
}

impl LoadPeak {
    /// The peaks of all beams and quantities: of several that are equally large, the one nearest to the root.
    pub fn of(extremes: &[SectionExtremes]) -> Vec<Self> {
        let mut peaks: Vec<Self> = Vec::new();
        for own in extremes {
            let Sample { value, time_s } = own.larger();
            let peak = Self {
                beam: own.beam.clone(),
                quantity: own.quantity,
                unit: own.unit.clone(),
                value,
                time_s,
                place_m: own.place_m,
                section: own.section,
            };
            match peaks.last_mut() {
                Some(last) if last.beam == peak.beam && last.quantity == peak.quantity => {
                    if peak.value.abs().total_cmp(&last.value.abs()).is_gt() {
                        *last = peak;
                    }
                }
                _ => peaks.push(peak),
            }
        }
        peaks
    }
}
