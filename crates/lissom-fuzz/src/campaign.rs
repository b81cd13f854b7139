//! Executions of a target, by a seed, with what they find.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crate::random::Random;

/// A file of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl File {
    /// Whether its name has this ending.
    pub(crate) fn is_of(&self, ending: &str) -> bool {
        Path::new(&self.name)
            .extension()
            .is_some_and(|own| own == ending)
    }
}

/// What is given hostile input.
pub trait Target {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// The input that some random numbers lead to.
    fn input(&self, random: &mut Random) -> Vec<File>;

    /// Takes an input and says how far it came; panics if there is something wrong with the program.
    fn execute(&mut self, files: &[File]) -> &'static str;
}

/// An input that makes a target panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the execution.
    pub execution: u64,
    /// The input.
    pub files: Arc<Vec<File>>,
    /// What the panic says.
    pub message: String,
}

/// How many executions came how far.
pub type Outcomes = BTreeMap<&'static str, u64>;

/// One execution: how far it came. `watch` is given the input before it is tried.
///
/// # Errors
/// What it found.
pub fn execute(
    target: &mut dyn Target,
    seed: u64,
    execution: u64,
    watch: &mut dyn FnMut(&Arc<Vec<File>>),
) -> Result<&'static str, Finding> {
    let files = Arc::new(target.input(&mut Random::of(seed, execution)));
    watch(&files);
    replay(target, &files).map_err(|message| Finding {
        execution,
        files,
        message,
    })
}

/// Gives a target an input.
///
/// # Errors
/// What the panic says.
pub fn replay(target: &mut dyn Target, files: &[File]) -> Result<&'static str, String> {
    catch_unwind(AssertUnwindSafe(|| target.execute(files))).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "a panic without words".to_owned())
    })
}

/// Writes the files of an input to a folder.
///
/// # Errors
/// What the operating system says.
pub fn write(files: &[File], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for file in files {
        fs::write(folder.join(&file.name), &file.bytes)?;
    }
    Ok(())
}

/// The files of a folder, by name.
///
/// # Errors
/// What the operating system says.
pub fn read(folder: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.display().to_string());
        if let Some(name) = name.filter(|_| path.is_file()) {
            let bytes = fs::read(&path)?;
            files.push(File { name, bytes });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use crate::model::Models;
    use crate::recording::Recordings;

    fn targets(folder: &str) -> [Box<dyn Target>; 3] {
        let scratch = std::env::temp_dir().join(format!("lissom-{folder}-{}", std::process::id()));
        [
            Box::new(Models::of_shipped()),
            Box::new(Recordings::new(&scratch.with_extension("recordings")).unwrap()),
            Box::new(Files::new(&scratch.with_extension("files")).unwrap()),
        ]
    }

    /// Regression: what was found once is found no more.
    #[test]
    fn the_corpus_passes() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut replayed = 0;
        for mut target in targets("corpus") {
            // a target that has found nothing has no folder
            let Ok(entries) = fs::read_dir(corpus.join(target.name())) else {
                continue;
            };
            for entry in entries {
                let path = entry.unwrap().path();
                let files = read(&path).unwrap();
                assert!(!files.is_empty(), "{}", path.display());
                let outcome = replay(&mut *target, &files);
                assert!(outcome.is_ok(), "{}: {outcome:?}", path.display());
                replayed += 1;
            }
        }
        assert!(replayed > 0);
    }

    /// Property: a short campaign finds nothing, and comes deep enough to find something.
    #[test]
    fn a_short_campaign_finds_nothing() {
        const SEED: u64 = 20_250_301;
        for (mut target, executions) in targets("campaign").into_iter().zip([400, 150, 150]) {
            let mut outcomes = Outcomes::new();
            for execution in 0..executions {
                let outcome = super::execute(&mut *target, SEED, execution, &mut |_| {});
                let reached = outcome.unwrap_or_else(|finding| {
                    let Finding { message, files, .. } = finding;
                    let texts = files
                        .iter()
                        .map(|file| String::from_utf8_lossy(&file.bytes));
                    let texts: Vec<_> = texts.collect();
                    panic!("execution {execution} of seed {SEED}: {message}\n{texts:?}")
                });
                *outcomes.entry(reached).or_default() += 1;
            }
            let deepest = [
                "ran in both formulations",
                "ran in one formulation",
                "read",
                "read and gone on from",
            ];
            let deep = deepest.iter().filter_map(|name| outcomes.get(name));
            assert!(deep.sum::<u64>() * 20 > executions, "{outcomes:?}");
        }
    }

    /// A target that panics, to see that it is noticed.
    struct Fragile;

    impl Target for Fragile {
        fn name(&self) -> &'static str {
            "fragile"
        }

        fn input(&self, random: &mut Random) -> Vec<File> {
            vec![File {
                name: "number".to_owned(),
                bytes: random.number().to_le_bytes().to_vec(),
            }]
        }

        fn execute(&mut self, files: &[File]) -> &'static str {
            assert_ne!(files[0].bytes[0] % 4, 0, "a multiple of four");
            "passed"
        }
    }

    /// Property: panics are found, and the input that is written makes the same one again.
    #[test]
    fn panics_are_found_and_made_again() {
        let found = (0..64).find_map(|i| execute(&mut Fragile, 1, i, &mut |_| {}).err());
        let finding = found.unwrap();
        assert!(finding.message.contains("a multiple of four"));
        let folder = std::env::temp_dir().join(format!("lissom-finding-{}", std::process::id()));
        write(&finding.files, &folder).unwrap();
        let files = read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(files, *finding.files);
        assert_eq!(replay(&mut Fragile, &files), Err(finding.message));
    }
}
