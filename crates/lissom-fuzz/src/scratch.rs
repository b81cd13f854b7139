//! [`Scratch`]: the folder in which the files of an input stand while they are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::campaign::File;

/// A folder with the files of one input after the other. Files that two inputs share are written once.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    written: BTreeMap<String, Vec<u8>>,
}

impl Scratch {
    /// Makes the folder anew; it is removed in the end.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            written: BTreeMap::new(),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Has these files in the folder and no others.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn put(&mut self, files: &[File]) -> io::Result<()> {
        let is_meant = |name: &String| files.iter().any(|file| file.name == *name);
        let gone: Vec<String> = (self.written.keys())
            .filter(|name| !is_meant(name))
            .cloned()
            .collect();
        for name in gone {
            fs::remove_file(self.folder.join(&name))?;
            self.written.remove(&name);
        }
        for file in files {
            if self.written.get(&file.name) != Some(&file.bytes) {
                fs::write(self.folder.join(&file.name), &file.bytes)?;
                self.written.insert(file.name.clone(), file.bytes.clone());
            }
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // a folder that stays behind is no reason to fail
        let _ = fs::remove_dir_all(&self.folder);
    }
}
