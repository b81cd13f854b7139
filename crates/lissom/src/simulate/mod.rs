//! TBW

pub mod recording;
