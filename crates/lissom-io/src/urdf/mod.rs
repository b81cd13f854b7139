//! Robots of URDF files as models: [`model_text`] writes the model file that a robot is.
//!
//! ```text
//! arm.urdf ─Robot::parse─► links and joints ─┐
//! arm.flexible.toml ─Flexible::parse─────────┴─► Conversion ──► the text of a model file
//! ```
//!
//! | URDF | model |
//! |---|---|
//! | the root link | the ground, or a body that floats if `arm.flexible.toml` says `root = "free"` |
//! | a link on a joint that moves | a rigid body in the link's frame, or what `arm.flexible.toml` makes of it |
//! | a link on a fixed joint | part of the body that carries it, and a marker at its frame |
//! | `revolute`, `continuous`, `prismatic`, `floating` | joints with friction and limits |
//! | `planar`, `mimic` | refused by name |
//! | `visual` | shapes that the report draws on rigid bodies and the ground; flexible bodies are drawn by their own |
//!
//! Shapes for contact are left out; the text says what else was.

mod conversion;
mod flexible;
mod keys;
mod package;
mod robot;

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use conversion::Conversion;
use flexible::Flexible;
pub(crate) use package::locate;
use robot::Robot;

/// What is wrong with a URDF file, or with what stands beside it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{fault}")]
pub struct UrdfError {
    /// Line of the URDF file, from 1; zero where it is not about a line.
    pub line: u32,
    /// What is wrong.
    pub fault: UrdfFault,
}

/// A kind of fault of a URDF file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UrdfFault {
    /// Not XML.
    #[error("this is no XML: {message}")]
    NoXml {
        /// What the reader says.
        message: String,
    },
    /// XML of something else.
    #[error(
        "the file begins with <{found}>, a URDF file begins with <robot>; expand xacro files first"
    )]
    NoRobot {
        /// The element that is there.
        found: String,
    },
    /// An attribute or element is not there.
    #[error("{element} has no `{attribute}`")]
    Missing {
        /// What lacks it.
        element: String,
        /// What it lacks.
        attribute: String,
    },
    /// An attribute is not made of numbers.
    #[error(
        "`{attribute}` is {text:?}, expected numbers: {count}, finite, with blanks between them"
    )]
    NoNumbers {
        /// The attribute.
        attribute: String,
        /// Its text.
        text: String,
        /// How many numbers it should be.
        count: usize,
    },
    /// A kind of joint that Lissom does not have.
    #[error(
        "joint {name:?} is of the type {kind:?}; use revolute, continuous, prismatic, fixed or floating joints"
    )]
    UnknownJoint {
        /// The joint.
        name: String,
        /// Its type.
        kind: String,
    },
    /// A joint that follows another one.
    #[error(
        "joint {name:?} mimics another one, and models have no such joints; remove <mimic>, or close the mechanism by a \
         [[loop]] of the model file"
    )]
    Mimic {
        /// The joint.
        name: String,
    },
    /// A name that two links or two joints have.
    #[error("there are two {what}s called {name:?}")]
    Twice {
        /// `link` or `joint`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A joint to a link that is not there.
    #[error("joint {joint:?} names the link {link:?}, which the file does not have")]
    NoLink {
        /// The joint.
        joint: String,
        /// The link.
        link: String,
    },
    /// A link that two joints carry.
    #[error(
        "link {link:?} is the child of two joints; URDF knows trees only, close loops in the model file"
    )]
    TwoParents {
        /// The link.
        link: String,
    },
    /// Links that hang on nothing but each other, or several roots.
    #[error("link {link:?} is not connected to the root link {root:?}")]
    Apart {
        /// The link.
        link: String,
        /// The root.
        root: String,
    },
    /// No link at all, or all of them in a circle.
    #[error("the robot has no root link, on which all others hang")]
    NoRoot,
    /// A link that moves without inertia.
    #[error(
        "link {link:?} moves on its joint with the mass {mass} and the moments of inertia {moments}; all of them must be above zero: give it \
         <inertial>, or fix it to another link"
    )]
    NoInertia {
        /// The link.
        link: String,
        /// Its mass, with that of what is fixed to it.
        mass: String,
        /// Its moments of inertia about the centre of mass.
        moments: String,
    },
    /// The file of flexible links is wrong.
    #[error("{message}")]
    Flexible {
        /// What is wrong with it.
        message: String,
    },
}

impl UrdfError {
    fn new(line: u32, fault: UrdfFault) -> Self {
        Self { line, fault }
    }

    /// Where its line stands in the text of the file.
    pub fn place_in(&self, text: &str) -> Option<Range<usize>> {
        let at = usize::try_from(self.line).ok()?.checked_sub(1)?;
        let line = text.split('\n').nth(at)?;
        let start: usize = text.split('\n').take(at).map(|line| line.len() + 1).sum();
        let indent = line.len() - line.trim_start().len();
        Some(start + indent..start + line.len())
    }
}

/// Whether a file is a URDF file, by its name.
pub fn is_urdf(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "urdf")
}

/// What a file that a URDF file names is called in a model file, or why it is not there.
pub type Called<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// The model file of a robot. `flexible` is the text of the file that says which links are flexible, see [`flexible_file`]; `called` says
/// what the model file calls the meshes of pictures.
///
/// # Errors
///
/// Everything that is wrong with either.
pub fn model_text(
    text: &str,
    flexible: Option<&str>,
    called: &Called<'_>,
) -> Result<String, Vec<UrdfError>> {
    let mut robot = Robot::parse(text)?;
    let flexible = Flexible::parse(flexible.unwrap_or_default(), &robot)?;
    if flexible.root_is_free {
        robot.set_free()?;
    }
    Ok(Conversion::of(&robot, &flexible)?.text(called))
}

/// What a file that a URDF file of `folder` names is called below the folder `of_model`.
///
/// # Errors
/// With the reason, if it is not there, or lies elsewhere.
pub(crate) fn below(folder: &Path, name: &str, of_model: &Path) -> Result<String, String> {
    let of_model = if of_model.as_os_str().is_empty() {
        Path::new(".")
    } else {
        of_model
    };
    let file = locate(folder, name).map_err(|error| error.to_string())?;
    let found = |path: PathBuf| {
        let found = path.canonicalize();
        found.map_err(|error| format!("cannot find {}: {error}", path.display()))
    };
    let path = found(file.folder.join(file.name))?;
    let below = path.strip_prefix(found(of_model.to_owned())?).ok();
    below
        .and_then(Path::to_str)
        .map(str::to_owned)
        .ok_or_else(|| {
            "it does not lie below the folder of this file; copy it there and add it as [[visual]]"
                .to_owned()
        })
}

/// Name of the file beside a URDF file that says which of its links are flexible: `arm.flexible.toml` for `arm.urdf`.
pub fn flexible_file(urdf: &str) -> String {
    let stem = urdf.strip_suffix(".urdf").unwrap_or(urdf);
    format!("{stem}.flexible.toml")
}
