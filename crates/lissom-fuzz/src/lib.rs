#![doc = include_str!("../README.md")]

pub mod bytes;
pub mod campaign;
pub mod files;
pub mod model;
pub mod random;
pub mod recording;
mod scratch;
pub mod text;
