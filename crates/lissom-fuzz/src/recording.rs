//! The target for recordings: what a run has left is read back.

use std::path::Path;
use std::{fs, io};

use lissom::{Channel, Mechanism, Override, Recording};
use lissom_io::batch::Batch;
use lissom_io::output::MANIFEST;
use lissom_io::stored::Stored;
use lissom_io::summary::Summary;
use lissom_io::{csv, load, npz, record, state, stored};
use lissom_report::{Chart, Format, Source, Style};
use serde_json::{Value, json};

use crate::campaign::{File, Target};
use crate::model::{LARGEST, made_small, run_from, size};
use crate::random::Random;
use crate::scratch::Scratch;
use crate::text::Dictionary;
use crate::{bytes, campaign};

/// Most changes of an input.
const CHANGES: usize = 3;

/// Out of so many recordings, one is plotted, and one is shown on a page, which computes natural frequencies, if they can be read.
const PLOTS: usize = 8;
const PAGES: usize = 128;

/// Doubles at which programs break.
const SAMPLES: [f64; 10] = [
    0.0,
    -0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    1e16,
];

/// Models whose short runs are mutated, with what is changed in them: a tree, a loop, a floating base, nodes and elements, bodies in files of their own, and every integrator
/// that remembers something from step to step.
const MODELS: [(&str, f64, &str); 8] = [
    ("two-link-arm", 0.1, ""),
    ("two-link-arm", 0.1, "simulation.integrator={adams={}}"),
    ("two-link-arm", 0.05, "simulation.integrator={radau={}}"),
    (
        "four-bar",
        0.05,
        "simulation.integrator={generalized_alpha={step_s=0.005}}",
    ),
    ("four-bar", 0.05, ""),
    ("space-arm", 0.5, "simulation.integrator={esdirk={}}"),
    ("spin-up-elements", 0.05, ""),
    ("frame-arm", 0.05, ""),
];

/// Mutated recordings.
#[derive(Debug)]
pub struct Recordings {
    seeds: Vec<Seed>,
    dictionary: Dictionary,
    scratch: Scratch,
}

#[derive(Debug)]
struct Seed {
    mechanism: Mechanism,
    recording: Recording,
    files: Vec<File>,
}

impl Recordings {
    /// Runs some shipped models for a moment; `folder` is for the files of inputs, and removed in the end.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let seeds = MODELS.map(|(name, duration_s, change)| seed(name, duration_s, change, folder));
        let seeds = seeds.into_iter().collect::<io::Result<Vec<Seed>>>()?;
        let texts: Vec<String> = (seeds.iter().flat_map(|seed| &seed.files))
            .filter_map(|file| String::from_utf8(file.bytes.clone()).ok())
            .collect();
        let words = ["null", "true", "false", "format", "model", "memory", "nan"];
        let words = words.map(str::to_owned);
        Ok(Self {
            seeds,
            dictionary: Dictionary::new(words, &texts),
            scratch: Scratch::new(folder)?,
        })
    }

    fn mutate(&self, seed: &Seed, files: &mut [File], random: &mut Random) {
        let at = random.below(files.len());
        let File { name, bytes } = &mut files[at];
        let ending = Path::new(name.as_str()).extension();
        match ending.and_then(|ending| ending.to_str()) {
            Some("npz") if random.one_in(2) => {
                let damaged = damaged(&seed.recording, random);
                bytes.clear();
                // what it refuses to write is as good as what is cut short
                let _ = npz::write(&damaged, bytes);
            }
            Some("csv") if random.one_in(2) => {
                let damaged = damaged(&seed.recording, random);
                bytes.clear();
                let _ = csv::write(&damaged, bytes);
            }
            Some("npz") => {
                bytes::mutate(bytes, random);
                if random.one_in(2) {
                    restore_checksums(bytes);
                }
            }
            _ => self.dictionary.mutate(bytes, random),
        }
    }
}

impl Target for Recordings {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn input(&self, random: &mut Random) -> Vec<File> {
        let Some(seed) = random.one_of(&self.seeds) else {
            return Vec::new();
        };
        let mut files = seed.files.clone();
        // the reader prefers NPZ
        if random.one_in(2) {
            files.retain(|file| !file.is_of("npz"));
        }
        for _ in 0..=random.below(CHANGES) {
            self.mutate(seed, &mut files, random);
        }
        if !random.one_in(8) {
            vouch(&mut files);
        }
        files
    }

    fn execute(&mut self, files: &[File]) -> &'static str {
        // by the input, so that one that is tried again takes the same way
        let sums = files.iter().map(|file| crc32fast::hash(&file.bytes));
        let chosen = sums.fold(0, |sum, own| sum ^ own) as usize;
        self.scratch.put(files).expect("the folder takes files");
        let read = stored::read(self.scratch.folder());
        // of a recording that cannot be read another mechanism is asked
        let mechanism = match &read {
            Ok(stored) => &stored.loaded.mechanism,
            Err(_) => &self.seeds[chosen % self.seeds.len()].mechanism,
        };
        let folder = self.scratch.folder().display().to_string();
        let goes_on = goes_on(mechanism, &folder, chosen);
        let stored = match read {
            Ok(stored) => stored,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return "refused";
            }
        };
        if chosen.is_multiple_of(PLOTS) {
            plot(&stored);
        }
        if chosen.is_multiple_of(PAGES) {
            put_on_a_page(&stored);
        }
        if goes_on {
            "read and gone on from"
        } else {
            "read"
        }
    }
}

/// Whether a mechanism can go on from a state that a folder tells of.
fn goes_on(mechanism: &Mechanism, folder: &str, chosen: usize) -> bool {
    let named = match chosen % 3 {
        0 => format!("{folder}/{}", state::FILE),
        1 => format!("{folder}@0.02"),
        _ => folder.to_owned(),
    };
    match state::named(&named, mechanism) {
        Ok(state) => size(mechanism.spec()) <= LARGEST && run_from(mechanism, &state) == "ran",
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn plot(stored: &Stored) {
    let labelled = [("a", &stored.recording)];
    let chart = Chart::of_recordings(&stored.loaded, &labelled, &[]);
    if let Some(plot) = chart.draw(Style::default(), Format::Svg) {
        assert!(!plot.bytes.is_empty());
    }
}

fn put_on_a_page(stored: &Stored) {
    let source = Source {
        label: "a".to_owned(),
        loaded: &stored.loaded,
        manifest: &stored.manifest,
        recording: &stored.recording,
        model_summary: Value::Null,
    };
    assert!(!lissom_report::html(&[source], &[]).is_empty());
}

fn seed(name: &str, duration_s: f64, change: &str, folder: &Path) -> io::Result<Seed> {
    let text = lissom_io::models::find(name).map_or("", |model| model.text);
    let text = &made_small(text);
    let overrides = [
        format!("simulation.duration_s={duration_s}"),
        format!("output.sample_period_s={}", duration_s / 5.0),
        "output.formats=[\"csv\", \"npz\"]".to_owned(),
        change.to_owned(),
    ];
    let overrides: Vec<_> = (overrides.iter())
        .filter_map(|text| Override::parse(text).ok())
        .collect();
    let loaded = load::load_text(name, text, &overrides).map_err(io::Error::other)?;
    let instants = lissom::sample_instants(&loaded.spec, &[]);
    let run = loaded.mechanism.run(&instants);
    let mut summary = Summary::new(&loaded, &run, &[], 0.0);
    let mut batch = Batch::begin(folder, Vec::new()).map_err(io::Error::other)?;
    record::add(&mut batch, "", &loaded, &run, json!({}), &mut summary)
        .map_err(io::Error::other)?;
    batch.finish().map_err(io::Error::other)?;
    let files = campaign::read(folder)?;
    fs::remove_dir_all(folder)?;
    Ok(Seed {
        mechanism: loaded.mechanism,
        recording: run.recording,
        files,
    })
}

/// A recording in which something is odd.
fn damaged(recording: &Recording, random: &mut Random) -> Recording {
    let mut damaged = recording.clone();
    let value = *random.one_of(&SAMPLES).unwrap_or(&0.0);
    let (channel, row) = (
        random.below(damaged.channels.len()),
        random.below(damaged.len()),
    );
    match random.below(7) {
        0 => damaged.time_s[row] = value,
        1 => drop(damaged.channels.remove(channel)),
        2 => "ä, \"b\" [c]".clone_into(&mut damaged.channels[channel].name),
        3 => {
            damaged.time_s.truncate(row);
            let channels = damaged.channels.iter_mut();
            channels.for_each(|channel| channel.samples.truncate(row));
        }
        4 => {
            let again: Channel = damaged.channels[channel].clone();
            damaged.channels.push(again);
        }
        5 => damaged.channels[channel].samples.fill(value),
        _ => damaged.channels[channel].samples[row] = value,
    }
    damaged
}

/// Lets the manifest tell of the files and channels that there are, so that the readers behind it are reached.
fn vouch(files: &mut [File]) {
    let Some(manifest) = files.iter().position(|file| file.name == MANIFEST) else {
        return;
    };
    let Ok(mut value) = serde_json::from_slice::<Value>(&files[manifest].bytes) else {
        return;
    };
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let others = files.iter().filter(|file| file.name != MANIFEST);
    let entries: Vec<Value> = others
        .map(|file| {
            let crc32 = crc32fast::hash(&file.bytes);
            json!({ "name": file.name, "bytes": file.bytes.len(), "crc32": crc32 })
        })
        .collect();
    if object.contains_key("files") {
        object.insert("files".to_owned(), Value::from(entries));
    }
    let recording = files.iter().find_map(|file| {
        if file.is_of("npz") {
            npz::read(&file.bytes).ok()
        } else if file.is_of("csv") && !has_npz(files) {
            csv::read(&file.bytes).ok()
        } else {
            None
        }
    });
    if let Some(recording) = recording {
        let channels = recording.channels.iter();
        let channels =
            channels.map(|channel| json!({ "name": channel.name, "unit": channel.unit }));
        object.insert("channels".to_owned(), channels.collect());
    }
    files[manifest].bytes = value.to_string().into_bytes();
}

fn has_npz(files: &[File]) -> bool {
    files.iter().any(|file| file.is_of("npz"))
}

/// Makes the checksums of a ZIP archive those of its members, so that damage in them is seen by whoever reads them.
fn restore_checksums(bytes: &mut [u8]) {
    let number = |bytes: &[u8], at: usize, width: usize| {
        let digits = bytes.get(at..at + width)?.iter().rev();
        Some(digits.fold(0, |sum, &digit| sum << 8 | usize::from(digit)))
    };
    let mut at = 0;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.windows(4).position(|four| four == b"PK\x01\x02"))
    {
        let entry = at + found;
        at = entry + 4;
        let member = || {
            let local = number(bytes, entry + 42, 4)?;
            let size = number(bytes, entry + 24, 4)?;
            let start = local + 30 + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
            bytes.get(start..start.checked_add(size)?)
        };
        let checksum = member().map(crc32fast::hash);
        if let (Some(checksum), Some(place)) = (checksum, bytes.get_mut(entry + 16..entry + 20)) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is mutated can be read before it is, and an archive whose content was changed can be read once its
    /// checksums are restored.
    #[test]
    fn every_seed_is_read() {
        let folder = std::env::temp_dir().join(format!("lissom-seeds-{}", std::process::id()));
        let mut recordings = Recordings::new(&folder).unwrap();
        for at in 0..recordings.seeds.len() {
            let mut files = recordings.seeds[at].files.clone();
            assert_eq!(recordings.execute(&files), "read and gone on from");
            let npz = files.iter_mut().find(|file| file.is_of("npz"));
            let npz = npz.unwrap();
            // the last digits of the last instant stand before the second array
            let mut headers =
                (npz.bytes.windows(4).enumerate()).filter(|(_, four)| four == b"PK\x03\x04");
            let (second, _) = headers.nth(1).unwrap();
            npz.bytes[second - 8] ^= 1;
            assert!(npz::read(&npz.bytes).is_err());
            restore_checksums(&mut npz.bytes);
            npz::read(&npz.bytes).unwrap();
            assert_eq!(recordings.execute(&files), "refused");
            vouch(&mut files);
            assert_eq!(recordings.execute(&files), "read and gone on from");
        }
    }
}
