//! [`Manifest`]: how a recording came about, as `manifest.json` beside it.

use lissom::{Channel, Recording};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::Written;

/// Everything needed to understand a recording and to make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this layout, [`Manifest::FORMAT`].
    pub format: u32,
    /// Version of Lissom that ran the model.
    pub lissom_version: String,
    /// Name of the model file; absent for a model that was no file.
    pub model_file: Option<String>,
    /// The model as run: TOML text with all changes made on the command line. Bodies given by numbers are files beside it.
    pub model: String,
    /// Options of the run, in full.
    pub options: Value,
    /// Fidelity switches, in full.
    pub fidelity: Value,
    /// Channels of the recording, in their order.
    pub channels: Vec<ChannelEntry>,
    /// The other files of the run, in the folder of the manifest.
    pub files: Vec<FileEntry>,
    /// What the run reported at its end: audit, cost, extremes.
    pub summary: Value,
    /// Whether the run reached its end.
    pub completed: bool,
    /// Instant the run was stopped at, absent when it reached its end.
    pub stopped_at_s: Option<f64>,
}

/// A file of the run, and by what it is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// CRC-32 of its content.
    pub crc32: u32,
}

impl FileEntry {
    /// The entry of a file that was written.
    pub fn of(file: &Written) -> Self {
        let name = file.path.file_name();
        Self {
            name: name.map_or_else(String::new, |name| name.display().to_string()),
            bytes: file.bytes,
            crc32: file.crc32,
        }
    }
}

/// Name and unit of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelEntry {
    /// Name, as in the recording.
    pub name: String,
    /// SI unit, `1` when it has none.
    pub unit: String,
}

impl Manifest {
    /// Version of the layout written here.
    pub const FORMAT: u32 = 3;

    /// The entry of a file.
    pub fn file(&self, name: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The entries for [`Manifest::channels`] of a recording.
    pub fn channels_of(recording: &Recording) -> Vec<ChannelEntry> {
        let entry = |channel: &Channel| ChannelEntry {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
        };
        recording.channels.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identity: what is read is what was written.
    #[test]
    fn json_round_trip() {
        let mut recording = Recording::with_capacity([("tip.position.x", "m")], 1);
        recording.push(0.0, &[1.0]);
        let manifest = Manifest {
            format: Manifest::FORMAT,
            lissom_version: "0.1.0".to_owned(),
            model_file: Some("arm.toml".to_owned()),
            model: "format = 1\n".to_owned(),
            options: serde_json::json!({ "rtol": 1e-9 }),
            fidelity: serde_json::json!({ "preset": "default" }),
            channels: Manifest::channels_of(&recording),
            files: vec![FileEntry {
                name: "recording.csv".to_owned(),
                bytes: 40,
                crc32: 7,
            }],
            summary: Value::Null,
            completed: false,
            stopped_at_s: Some(0.1 + 0.2),
        };
        let text = serde_json::to_string_pretty(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
    }
}
