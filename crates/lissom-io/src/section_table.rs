//! `loads.csv`: how large the loads and stresses in the sections of beams were in a run, one row per section and quantity.

use std::io::{self, Write};

use lissom::recording::SectionExtremes;

use crate::csv::quoted;

/// Name of the file.
pub const FILE: &str = "loads.csv";

/// Writes the table; numbers as those of recordings.
///
/// # Errors
///
/// What the writer reports.
pub fn write(extremes: &[SectionExtremes], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "beam,quantity,unit,section,place_m,minimum,minimum_time_s,maximum,maximum_time_s"
    )?;
    for own in extremes {
        writeln!(
            out,
            "{},{},{},{},{:?},{:?},{:?},{:?},{:?}",
            quoted(&own.beam),
            own.quantity,
            own.unit,
            own.section,
            own.place_m,
            own.minimum.value,
            own.minimum.time_s,
            own.maximum.value,
            own.maximum.time_s
        )?;
    }
    Ok(())
}
