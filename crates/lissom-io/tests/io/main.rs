//! Files on a disk, and shipped models from their names to what they show.

mod advisor;
mod damaren_findings;
mod files;
