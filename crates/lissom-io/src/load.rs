//! A model from its file, with the files it names, ready to run.
//!
//! Text is parsed and checked, files named in it are read and put in their place, the whole is checked
//! again, and the system is built. Every stage reports all it finds; what a later stage would say about
//! a broken earlier one is not asked for.

mod bodies;
mod files;
mod model_file;
mod systems;
mod tables;
mod visuals;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lissom::{BuildError, ErrorKind, Mechanism, ModelError, ModelSpec, Override};
use lissom_fe::{FeError, NEVER, Source, Stop};
use lissom_spec::Step;

use files::Files;
pub use model_file::ModelFile;

use crate::as_run::AsRun;
use crate::resource::Content;
use crate::urdf::{self, UrdfError};
use crate::visual::VisualMesh;
use crate::{IoError, resource};

/// A model that can run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model as written, with overrides applied and the files it names put in their place.
    pub spec: ModelSpec,
    /// The mechanism built from it.
    pub mechanism: Mechanism,
    /// The model file; absent for a text that is no file.
    pub path: Option<PathBuf>,
    /// What the model is called where a short name is wanted: the name of its file without extension, or
    /// that of a shipped model.
    pub label: String,
    /// The same as recordings keep it.
    pub as_run: AsRun,
    /// What bodies were reduced from when the model was read, by their names.
    pub meshes: BTreeMap<String, Source>,
    /// Meshes that bodies are drawn by, by the names that the model has for their files.
    pub visuals: BTreeMap<String, VisualMesh>,
    /// What was left out when the model was read, and why, and what may be wrong with a mesh.
    pub notes: Vec<String>,
}

/// Why a model cannot run: every problem that was found.
#[derive(Debug, thiserror::Error)]
#[error("{count} in {origin}: {first}", count = count(.problems.len()), first = first(.problems))]
pub struct LoadError {
    /// What the text is called: the path of the file, or the name of a shipped model.
    pub origin: String,
    /// The text, unless it could not be read.
    pub text: Option<String>,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The model file cannot be read.
    #[error(transparent)]
    Unreadable(IoError),
    /// The model says something wrong.
    #[error(transparent)]
    Model(ModelError),
    /// A file that the model names cannot be read, or is not what it should be.
    #[error("{error}")]
    File {
        /// Where the model names it.
        at: lissom::Path,
        /// What is wrong with it.
        error: FileError,
    },
    /// A file that the model names can be read but says something wrong.
    #[error("{file}: `{key}`: {error}")]
    InFile {
        /// Where the model names it.
        at: lissom::Path,
        /// The file, as the model names it.
        file: String,
        /// The place in the file.
        key: String,
        /// What is wrong there.
        error: ModelError,
    },
    /// A frame that cannot be reduced.
    #[error("{error}")]
    Frame {
        /// Where the frame, or what is wrong with it, stands.
        at: lissom::Path,
        /// What is wrong with it.
        error: FeError,
    },
    /// The robot of a URDF file is no model.
    #[error(transparent)]
    Urdf(UrdfError),
    /// The model describes no mechanism.
    #[error(transparent)]
    Build(BuildError),
}

/// What is wrong with a file that a model names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read, or is no time table.
    #[error(transparent)]
    Io(#[from] IoError),
    /// It is not a mesh that can be reduced.
    #[error("{file}: {error}")]
    Mesh {
        /// The file, as the model names it.
        file: String,
        /// What is wrong with it.
        error: FeError,
    },
    /// It is no body file.
    #[error("{file} is no body file: {message}; `lissom body` writes them")]
    Body {
        /// The file, as the model names it.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// It holds no linear system.
    #[error(
        "{file} holds no linear system: {message}; write arrays A, B, C, D, and r if wanted, with numpy.savez"
    )]
    System {
        /// The file, as the model names it.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// It is not the JSON of a nodal body.
    #[error(
        "{file}, line {line}, column {column}: {message}; write an object with nodes, stiffness and, \
         if wanted, coordinates"
    )]
    Json {
        /// The file, as the model names it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the reader of the text says.
        message: String,
    },
}

/// Reads a model file, with everything it names, and builds the model. A URDF file, whose name ends in `.urdf`, is taken as the model
/// that [`robot_text`] makes of it.
///
/// # Errors
///
/// Every problem of the file and of the files it names.
pub fn load(path: &Path, overrides: &[Override]) -> Result<Loaded, LoadError> {
    load_watched(path, overrides, NEVER)
}

/// The same, where whoever reads the model may end the reduction of its bodies: an error then says so.
///
/// # Errors
///
/// As [`load`].
pub fn load_watched(
    path: &Path,
    overrides: &[Override],
    stop: Stop<'_>,
) -> Result<Loaded, LoadError> {
    ModelFile::read(path)?.load_watched(overrides, stop)
}

/// The text of the model file that a URDF file is, with the flexible links of the file beside it if there is one. Meshes of its
/// pictures are called as the URDF file calls them, or as they lie below the folder `of_model`, in which the text is to stand.
///
/// # Errors
///
/// Every problem of either file.
pub fn robot_text(path: &Path, of_model: Option<&Path>) -> Result<String, LoadError> {
    let text = read_model(path).map_err(|error| unreadable(path, error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().and_then(|name| name.to_str());
    let beside = name
        .map(urdf::flexible_file)
        .filter(|name| folder.join(name).exists());
    let flexible = beside
        .map(|name| resource::read_below(folder, &name))
        .transpose()
        .map_err(|error| unreadable(path, error))?;
    let called = |name: &str| match of_model {
        Some(of_model) => urdf::below(folder, name, of_model),
        None => Ok(name.to_owned()),
    };
    urdf::model_text(&text, flexible.as_deref(), &called).map_err(|errors| LoadError {
        origin: path.display().to_string(),
        problems: errors.into_iter().map(Problem::Urdf).collect(),
        text: Some(text),
    })
}

fn unreadable(path: &Path, error: IoError) -> LoadError {
    LoadError {
        origin: path.display().to_string(),
        text: None,
        problems: vec![Problem::Unreadable(error)],
    }
}

/// Builds a model from a text that is no file. Files it names are looked for in the current folder.
///
/// # Errors
///
/// Every problem of the text and of the files it names.
pub fn load_text(label: &str, text: &str, overrides: &[Override]) -> Result<Loaded, LoadError> {
    load_text_watched(label, text, overrides, NEVER)
}

/// The same, where whoever reads the model may end the reduction of its bodies.
///
/// # Errors
///
/// As [`load_text`].
pub fn load_text_watched(
    label: &str,
    text: &str,
    overrides: &[Override],
    stop: Stop<'_>,
) -> Result<Loaded, LoadError> {
    let find = |name: &str| resource::content_below(Path::new(""), name);
    load_text_with(&find, label, text, overrides, stop)
}

/// The same for a text that names files of which `find` gives the content.
pub(crate) fn load_text_with(
    find: &Find<'_>,
    label: &str,
    text: &str,
    overrides: &[Override],
    stop: Stop<'_>,
) -> Result<Loaded, LoadError> {
    let Assembled {
        spec,
        mechanism,
        as_run,
        meshes,
        visuals,
        notes,
    } = assemble(text, overrides, find, stop).map_err(|problems| LoadError {
        origin: label.to_owned(),
        text: Some(text.to_owned()),
        problems,
    })?;
    Ok(Loaded {
        spec,
        mechanism,
        path: None,
        label: label.to_owned(),
        as_run,
        meshes,
        visuals,
        notes,
    })
}

/// Whether a text is a sound model without any file.
pub fn stands_alone(label: &str, text: &str) -> bool {
    let nowhere = |name: &str| {
        Err(IoError::Outside {
            name: name.to_owned(),
            folder: PathBuf::new(),
        })
    };
    load_text_with(&nowhere, label, text, &[], NEVER).is_ok()
}

impl Loaded {
    /// What the model is called: its own name, or its label.
    pub fn name(&self) -> &str {
        self.spec.name.as_deref().unwrap_or(&self.label)
    }

    /// The model as TOML, with its bodies, in one text that names no files: meshes that bodies are drawn by are left out.
    ///
    /// # Errors
    ///
    /// With what the writer says, if TOML cannot hold a number of it.
    pub fn whole_text(&self) -> Result<String, String> {
        let mut spec = self.spec.clone();
        spec.visual.retain(|visual| visual.mesh.is_none());
        toml::to_string(&spec).map_err(|error| error.to_string())
    }
}

impl LoadError {
    /// Byte ranges of the text that the first `count` problems are about.
    pub fn locate(&self, count: usize) -> Vec<Option<Range<usize>>> {
        let problems = self.problems.iter().take(count);
        let Some(text) = self.text.as_deref() else {
            return problems.map(|_| None).collect();
        };
        // the text of a robot is no TOML
        let is_of_robot = |problem: &Problem| matches!(problem, Problem::Urdf(_));
        if self.problems.iter().any(is_of_robot) {
            let line = |problem: &Problem| match problem {
                Problem::Urdf(error) => error.place_in(text),
                _ => None,
            };
            return problems.map(line).collect();
        }
        let at = |path: lissom::Path| {
            let message = String::new();
            ModelError::new(path, ErrorKind::Unreadable { message })
        };
        // where a problem is, and where else it may be
        let places: Vec<[ModelError; 2]> = problems
            .map(|problem| match problem {
                Problem::Unreadable(_) | Problem::Urdf(_) => {
                    [at(lissom::Path::root()), at(lissom::Path::root())]
                }
                Problem::Model(error) => [error.clone(), error.clone()],
                Problem::File { at: path, .. }
                | Problem::InFile { at: path, .. }
                | Problem::Frame { at: path, .. } => [at(path.clone()), at(path.clone())],
                Problem::Build(error) => {
                    [at(error.path()), at(lissom::Path::root().key("element"))]
                }
            })
            .collect();
        let located = ModelError::locate_all(places.iter().flatten(), text);
        let pairs = located.chunks_exact(2);
        pairs
            .map(|pair| pair[0].clone().or_else(|| pair[1].clone()))
            .collect()
    }
}

impl Problem {
    /// What to do about it, where the message does not say so itself.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Model(error)
            | Self::InFile { error, .. }
            | Self::Build(BuildError::Model(error)) => Some(error.remedy()),
            Self::Unreadable(_)
            | Self::File { .. }
            | Self::Frame { .. }
            | Self::Urdf(_)
            | Self::Build(_) => None,
        }
    }
}

fn count(problems: usize) -> String {
    match problems {
        1 => "1 problem".to_owned(),
        _ => format!("{problems} problems"),
    }
}

fn first(problems: &[Problem]) -> String {
    problems
        .first()
        .map_or_else(String::new, ToString::to_string)
}

/// The name of a file without its extension, as a folder may be called.
pub(crate) fn label_of(path: &Path) -> String {
    let stem = path.file_stem().filter(|&stem| stem != "." && stem != "..");
    stem.map_or_else(|| "model".to_owned(), |stem| stem.display().to_string())
}

/// Text of the model file, which may be a link to anywhere.
fn read_model(path: &Path) -> Result<String, IoError> {
    let unreadable = |reason| IoError::Read {
        path: path.to_owned(),
        reason,
    };
    let target = path.canonicalize().map_err(unreadable)?;
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(IoError::NotAFile {
            path: path.to_owned(),
        });
    };
    let Some(name) = name.to_str() else {
        let reason = io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
        return Err(unreadable(reason));
    };
    resource::read_below(folder, name)
}

/// A model without its name.
struct Assembled {
    spec: ModelSpec,
    mechanism: Mechanism,
    as_run: AsRun,
    meshes: BTreeMap<String, Source>,
    visuals: BTreeMap<String, VisualMesh>,
    notes: Vec<String>,
}

/// What gives the content of a file by the name that a model has for it.
pub(crate) type Find<'a> = dyn Fn(&str) -> Result<Content, IoError> + 'a;

fn assemble(
    text: &str,
    overrides: &[Override],
    find: &Find<'_>,
    stop: Stop<'_>,
) -> Result<Assembled, Vec<Problem>> {
    let all = |errors: Vec<ModelError>| errors.into_iter().map(Problem::Model).collect::<Vec<_>>();
    let mut spec = ModelSpec::parse(text, overrides).map_err(all)?;
    let mut files = Files::found_by(find, stop);
    files.bodies(&mut spec);
    files.tables(&mut spec);
    files.systems(&mut spec);
    files.visuals(&mut spec);
    if !files.problems.is_empty() {
        return Err(files.problems);
    }
    if !files.read.is_empty() || !files.meshes.is_empty() {
        spec.check().map_err(|errors| {
            let told = errors.into_iter().map(|error| files.attribute(error));
            told.collect::<Vec<_>>()
        })?;
    }
    let (mechanism, as_run) = build(&spec, &files.visuals)?;
    Ok(Assembled {
        spec,
        mechanism,
        as_run,
        meshes: files.meshes,
        visuals: files.visuals,
        notes: files.notes,
    })
}

/// The mechanism of a spec, and the spec as recordings keep it.
pub(crate) fn build(
    spec: &ModelSpec,
    visuals: &BTreeMap<String, VisualMesh>,
) -> Result<(Mechanism, AsRun), Vec<Problem>> {
    let all = |errors: Vec<BuildError>| errors.into_iter().map(Problem::Build).collect::<Vec<_>>();
    let mechanism = Mechanism::build(spec).map_err(all)?;
    let as_run = AsRun::of(spec, visuals).map_err(|message| {
        let kind = ErrorKind::Unreadable { message };
        vec![Problem::Model(ModelError::new(lissom::Path::root(), kind))]
    })?;
    Ok((mechanism, as_run))
}

/// The steps of a path that come after those of its ancestor.
pub(crate) fn below(path: &lissom::Path, ancestor: &lissom::Path) -> String {
    let steps = path.steps().get(ancestor.steps().len()..).unwrap_or(&[]);
    let rest = steps
        .iter()
        .fold(lissom::Path::root(), |rest, step| match step {
            Step::Key(key) => rest.key(key),
            Step::Index(index) => rest.index(*index),
        });
    rest.to_string()
}
