#![doc = include_str!("../README.md")]

pub mod bytes;
pub mod campaign;
pub mod model;
pub mod random;
pub mod recording;
pub mod text;
