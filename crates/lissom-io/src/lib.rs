//! Files of Lissom: what a model names is read, what a run leaves is written.
//!
//! Reading: [`resource`] opens files below a model's folder and nowhere else, [`table`] understands
//! time tables. Writing: [`csv`], [`npz`] and [`mat`] turn a recording into bytes, [`manifest`] tells
//! how it came about, [`atomic`] puts a file in place whole or not at all, [`output`] does it all for one
//! run. Nothing here knows mechanics and nothing prints.

pub mod atomic;
pub mod csv;
pub mod error;
pub mod manifest;
pub mod mat;
pub mod npz;
pub mod output;
pub mod resource;
pub mod table;

pub use error::IoError;
