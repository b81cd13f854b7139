//! [`ModelFile`]: a model file that is read once, for models with several changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lissom::Override;
use lissom_fe::{NEVER, Stop};

use super::{
    LoadError, Loaded, label_of, load_text_with, read_model, resource, robot_text, unreadable,
};
use crate::IoError;
use crate::resource::Content;
use crate::urdf;

/// A model file and the files that it names, as they are when they are first read: whoever edits them meanwhile does not have models with
/// other changes come from other texts.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    /// The text of a model, which a URDF file becomes.
    text: String,
    /// Content of files by the names that the model has for them.
    known: Mutex<BTreeMap<String, Content>>,
}

impl ModelFile {
    /// Reads a model file, or a URDF file, whose name ends in `.urdf`.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, or every problem of a URDF file.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let text = if urdf::is_urdf(path) {
            robot_text(path, None)?
        } else {
            read_model(path).map_err(|error| unreadable(path, error))?
        };
        Ok(Self {
            path: path.to_owned(),
            text,
            known: Mutex::default(),
        })
    }

    /// The text, if it is that of the file.
    pub fn text(&self) -> Option<&str> {
        (!urdf::is_urdf(&self.path)).then_some(self.text.as_str())
    }

    /// The model with changes.
    ///
    /// # Errors
    ///
    /// Every problem of the file and of the files it names.
    pub fn load(&self, overrides: &[Override]) -> Result<Loaded, LoadError> {
        self.load_watched(overrides, NEVER)
    }

    /// The same, where whoever loads it may end the reduction of its bodies.
    ///
    /// # Errors
    ///
    /// As [`ModelFile::load`].
    pub fn load_watched(
        &self,
        overrides: &[Override],
        stop: Stop<'_>,
    ) -> Result<Loaded, LoadError> {
        let label = label_of(&self.path);
        let find = |name: &str| self.find(name);
        let loaded = load_text_with(&find, &label, &self.text, overrides, stop);
        let named = |error: LoadError| LoadError {
            origin: self.origin(),
            ..error
        };
        Ok(Loaded {
            path: Some(self.path.clone()),
            ..loaded.map_err(named)?
        })
    }

    fn origin(&self) -> String {
        let path = self.path.display();
        if urdf::is_urdf(&self.path) {
            format!("{path}, as a model file")
        } else {
            path.to_string()
        }
    }

    fn find(&self, name: &str) -> Result<Content, IoError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = known.get(name) {
            return Ok(content.clone());
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let content = if urdf::is_urdf(&self.path) {
            let file = urdf::locate(folder, name)?;
            resource::content_below(&file.folder, &file.name)?
        } else {
            resource::content_below(folder, name)?
        };
        known.insert(name.to_owned(), content.clone());
        Ok(content)
    }
}
