//! Writes a small recording in every format, with its manifest, into the folder named on the command
//! line: `cargo run -p lissom-io --example write_sample -- DIR`.
//!
//! The values are chosen to be hard on writers and readers: they need all their digits, or a name that
//! a format cannot hold as it is.

use std::path::Path;
use std::process::ExitCode;

use lissom::Recording;
use lissom::spec::OutputSpec;
use lissom_io::IoError;
use lissom_io::batch::Batch;
use lissom_io::manifest::{FileEntry, Manifest};
use lissom_io::output;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err("name the folder to write to".into());
    };
    write_sample(Path::new(&folder))?;
    Ok(ExitCode::SUCCESS)
}

fn write_sample(folder: &Path) -> Result<(), IoError> {
    let channels = [
        ("shoulder.angle", "rad"),
        ("shoulder.torque", "N m"),
        ("boom.bending_y_1", "1"),
        ("tip.position.x", "m"),
        ("tip_position.x", "m"),
        ("base.momentum, total", "kg m/s"),
        ("energy", "J"),
    ];
    let mut recording = Recording::with_capacity(channels, 101);
    for step in 0..=100 {
        let time_s = f64::from(step) * 0.005;
        let angle = (3.0 * time_s).sin();
        recording.push(
            time_s,
            &[
                angle,
                angle / 3.0,
                1e-17 * angle,
                1e300 * angle,
                -0.0,
                f64::MIN_POSITIVE / f64::from(1 << 20) * f64::from(step),
                f64::from(step),
            ],
        );
    }
    let mut batch = Batch::begin(folder, Vec::new())?;
    let files = output::write(&mut batch, "", &recording, &OutputSpec::default().formats)?;
    let manifest = Manifest {
        format: Manifest::FORMAT,
        lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
        model_file: None,
        model: String::new(),
        options: serde_json::Value::Null,
        fidelity: serde_json::Value::Null,
        channels: Manifest::channels_of(&recording),
        files: files.iter().map(FileEntry::of).collect(),
        summary: serde_json::Value::Null,
        completed: true,
        stopped_at_s: None,
    };
    output::write_manifest(&mut batch, "", &manifest)?;
    batch.finish()
}
