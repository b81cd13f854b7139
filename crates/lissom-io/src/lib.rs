//! Files of Lissom: what a model names is read, what a run leaves is written.
//!
//! Reading: [`load`] makes a model of its file, [`resource`] opens files below a model's folder and
//! nowhere else, [`table`] understands time tables, [`measured`] tables of laboratories, [`urdf`] robots of other programs, [`body_file`] reduced bodies, [`visual`] meshes that bodies are drawn by, [`models`] come with the program,
//! [`stored`] reads a run back, [`continued`] the part of one that goes on, [`state`] states of mechanisms. Writing: [`csv`],
//! [`npz`] and [`mat`] turn a recording into bytes, [`arrays`] what is no recording, [`manifest`] tells how it came about, [`summary`]
//! what came of it, [`size`] whether it fits into memory, [`model_summary`] and [`body_summary`] summaries of a model and of a body, [`checkpoint`] keeps a long run on its way, [`compare`] sets runs side by side, [`converge`] tells how accurate one is, [`perturb`] what came of a linear one, [`inverse`] what drives a motion takes, [`response`] how one answers to frequencies, [`sweep`] makes many runs on [`threads`], [`fit`] finds numbers of a model from measured data, [`map`] looks at one over a grid,
//! [`validation`] holds them against published numbers, [`atomic`] puts a file in place whole or not at all, [`batch`] several files
//! together, [`output`] fills a folder and [`record`] does it all for one run, of a model in the form of [`AsRun`]. Nothing here knows mechanics and nothing prints.

pub mod analysis;
pub mod arrays;
mod as_run;
pub mod atomic;
pub mod batch;
pub mod body_file;
pub mod body_summary;
pub mod checkpoint;
pub mod checksum;
pub mod compare;
pub mod continued;
pub mod converge;
pub mod csv;
pub mod error;
pub mod fit;
pub mod inverse;
pub mod linear;
pub mod load;
pub mod manifest;
pub mod map;
pub mod mat;
pub mod measured;
mod meshes;
pub mod model_summary;
pub mod models;
pub mod npz;
pub mod output;
pub mod perturb;
pub mod record;
pub mod resource;
pub mod response;
pub mod section_table;
pub mod size;
pub mod state;
pub mod stored;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod threads;
pub mod urdf;
pub mod validation;
pub mod visual;

pub use as_run::{AsRun, KeptFile};
pub use error::IoError;
