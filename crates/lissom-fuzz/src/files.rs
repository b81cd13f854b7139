//! The target for models that name files, and for robots: meshes, matrices, bodies, tables and URDF files are read, reduced and run.

use std::io;
use std::path::Path;

use lissom::ModelSpec;
use lissom_io::load::{self, LoadError};
use lissom_io::measured::{self, Heads};
use lissom_io::sweep::Points;
use lissom_io::urdf;

use crate::campaign::{File, Target};
use crate::model::{LARGEST, in_both_formulations, size, words_of_schema};
use crate::random::Random;
use crate::scratch::Scratch;
use crate::text::{Dictionary, Syntax};

/// Most changes of an input.
const CHANGES: usize = 3;

/// Problems of a model that are located.
const LOCATED: usize = 4;

/// The file of an input that is a model or a robot; the others are named by it, or stand beside it.
const MODEL: &str = "model.toml";
const ROBOT: &str = "robot.urdf";

/// Keywords of the formats of other programs.
const WORDS: &str = "$MeshFormat $EndMeshFormat $PhysicalNames $Entities $Nodes $EndNodes $Elements $EndElements *NODE *ELEMENT \
    *NSET *ELSET *SURFACE GENERATE NSET=ALL TYPE=C3D4 TYPE=C3D10 TYPE=C3D20 GRID CTETRA CHEXA PSOLID MAT1 CONM2 \
    RBE2 SPC1 THRU DMIG %%MatrixMarket coordinate array general symmetric robot link joint inertial origin mass \
    inertia parent child axis limit dynamics fixed floating prismatic visual geometry mesh filename scale vertex endloop solid";

/// A folder of `seeds/` with its files.
macro_rules! seed {
    ($folder:literal: $($name:literal),+) => {
        &[$(($name, include_str!(concat!("../seeds/", $folder, "/", $name)))),+]
    };
}

/// What is mutated: every reader of a file that a model names, and robots.
const SEEDS: [&[(&str, &str)]; 14] = [
    seed!("abaqus": "model.toml", "bar.inp"),
    seed!("calculix": "model.toml", "nodes.csv", "cube.mas", "cube.sti", "cube.dof"),
    seed!("dmig": "model.toml", "cube.bdf"),
    seed!("frame": "model.toml"),
    seed!("gmsh_2": "model.toml", "bar.msh"),
    seed!("gmsh_4": "model.toml", "bar.msh"),
    seed!("matrix_market": "model.toml", "nodes.csv", "mass.mtx", "stiffness.mtx", "gain.mtx"),
    seed!("nastran": "model.toml", "bar.bdf"),
    seed!("nodal_file": "model.toml", "wing.json"),
    seed!("reduced_file": "model.toml", "body.json"),
    seed!("table": "model.toml", "drive.csv", "turn.csv"),
    seed!("urdf": "robot.urdf", "robot.flexible.toml"),
    seed!("urdf_rigid": "robot.urdf"),
    seed!("visual": "robot.urdf", "part.stl", "part.obj"),
];

/// Mutated models that name files, and robots.
#[derive(Debug)]
pub struct Files {
    dictionary: Dictionary,
    scratch: Scratch,
}

impl Files {
    /// Mutations of the seeds; `folder` is for the files of inputs, and removed in the end.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let texts = SEEDS.iter().flat_map(|seed| seed.iter());
        let texts: Vec<String> = texts.map(|(_, text)| (*text).to_owned()).collect();
        let words = WORDS.split_whitespace().map(str::to_owned);
        Ok(Self {
            dictionary: Dictionary::new(words.chain(words_of_schema()), &texts),
            scratch: Scratch::new(folder)?,
        })
    }
}

fn files_of(seed: &[(&str, &str)]) -> Vec<File> {
    let file = |(name, text): &(&str, &str)| File {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    seed.iter().map(file).collect()
}

impl Target for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn input(&self, random: &mut Random) -> Vec<File> {
        let mut files = random
            .one_of(&SEEDS)
            .map_or_else(Vec::new, |seed| files_of(seed));
        for _ in 0..=random.below(CHANGES) {
            // a model has been tried elsewhere, so that what stands beside it is more often changed
            let others = usize::from(files.len() > 1 && !random.one_in(4));
            let at = others + random.below(files.len() - others);
            let syntax = match Path::new(&files[at].name).extension() {
                Some(ending) if ending == "toml" || ending == "json" => Syntax::Toml,
                _ => Syntax::Plain,
            };
            let bytes = &mut files[at].bytes;
            self.dictionary.mutate_as(syntax, bytes, random);
        }
        files
    }

    fn execute(&mut self, files: &[File]) -> &'static str {
        self.scratch.put(files).expect("the folder takes files");
        let is_model = |file: &&File| [MODEL, ROBOT].contains(&file.name.as_str());
        let Some(model) = files.iter().find(is_model) else {
            return "no model";
        };
        files.iter().for_each(read_as_tables);
        let path = self.scratch.folder().join(&model.name);
        match is_too_large(&path, model) {
            Ok(false) => {}
            Ok(true) => return "too large to build",
            Err(error) => return refused(&error),
        }
        match load::load(&path, &[]) {
            Ok(loaded) => in_both_formulations(&loaded.spec, Some(&loaded.mechanism)),
            Err(error) => refused(&error),
        }
    }
}

/// Gives tables to the readers of those that no model names: measured data, and values of sweeps.
fn read_as_tables(file: &File) {
    let text = std::str::from_utf8(&file.bytes);
    if let Some(text) = text.ok().filter(|_| file.is_of("csv")) {
        if let Err(error) = measured::parse(&file.name, text, &Heads::default()) {
            assert!(!error.to_string().is_empty());
        }
        if let Ok(points) = Points::table(text) {
            // a value that no model can hold is told
            for error in (0..points.rows.len()).filter_map(|at| points.changes(at).err()) {
                assert!(!error.is_empty());
            }
        }
    }
}

/// Whether a model asks for more than is tried.
fn is_too_large(path: &Path, model: &File) -> Result<bool, LoadError> {
    let text = if urdf::is_urdf(path) {
        load::robot_text(path, None)?
    } else {
        String::from_utf8_lossy(&model.bytes).into_owned()
    };
    // one that cannot be parsed is explained where it is loaded
    let spec = ModelSpec::parse(&text, &[]);
    Ok(spec.is_ok_and(|spec| size(&spec) > LARGEST))
}

/// Everything that is told of a model that cannot run.
fn refused(error: &LoadError) -> &'static str {
    assert!(!error.problems.is_empty() && !error.to_string().is_empty());
    for (problem, at) in error.problems.iter().zip(error.locate(LOCATED)) {
        assert!(!problem.to_string().is_empty());
        let _ = problem.remedy();
        if let (Some(at), Some(text)) = (at, &error.text) {
            assert!(text.get(at.clone()).is_some(), "{at:?} is in the text");
        }
    }
    "refused"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is mutated runs before it is.
    #[test]
    fn every_seed_runs() {
        let folder = std::env::temp_dir().join(format!("lissom-files-{}", std::process::id()));
        let mut target = Files::new(&folder).unwrap();
        for seed in SEEDS {
            let files = files_of(seed);
            let reached = target.execute(&files);
            assert!(reached.starts_with("ran"), "{reached}: {}", seed[0].1);
        }
    }
}
