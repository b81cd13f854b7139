//! Files on a real disk: written whole or not at all, read below one folder only.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lissom::Recording;
use lissom::spec::{OutputFormat, OutputSpec};
use lissom_io::batch::Batch;
use lissom_io::output;
use lissom_io::resource::read_below;
use lissom_io::{IoError, atomic};

/// An empty folder of the test's own.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an old folder of ours can go");
    }
    fs::create_dir_all(&folder).expect("the target folder takes files");
    folder
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder of a test can be listed");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("so can its entries")
                .file_name()
                .display()
                .to_string()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_write_replaces_the_file() {
    let folder = folder("a_write_replaces_the_file");
    let path = folder.join("a.txt");
    fs::write(&path, "a long old text").unwrap();
    atomic::write(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names_in(&folder), ["a.txt"]);
}

#[test]
fn a_failing_write_leaves_the_old_file_and_nothing_else() {
    let folder = folder("a_failing_write");
    let path = folder.join("a.txt");
    fs::write(&path, "old").unwrap();
    let error = atomic::write(&path, |out| {
        out.write_all(b"half of it")?;
        out.flush()?;
        Err(io::Error::other("the disk is full"))
    })
    .unwrap_err();
    assert!(
        error.to_string().contains("a.txt: the disk is full"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names_in(&folder), ["a.txt"]);
}

#[test]
fn a_panicking_write_leaves_the_old_file_and_nothing_else() {
    let folder = folder("a_panicking_write");
    let path = folder.join("a.txt");
    fs::write(&path, "old").unwrap();
    let outcome = std::panic::catch_unwind(|| {
        atomic::write(&path, |_| -> io::Result<()> { panic!("a bug in a writer") })
    });
    assert!(outcome.is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names_in(&folder), ["a.txt"]);
}

#[test]
fn a_folder_in_the_way_is_left_alone() {
    let folder = folder("a_folder_in_the_way");
    let path = folder.join("taken");
    fs::create_dir(&path).unwrap();
    assert!(atomic::write(&path, |out| out.write_all(b"new")).is_err());
    assert_eq!(names_in(&folder), ["taken"]);
}

/// Renaming would replace a link, a device or a pipe by a file.
#[cfg(unix)]
#[test]
fn nothing_but_a_file_is_replaced() {
    let folder = folder("nothing_but_a_file");
    let link = folder.join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for (path, what) in [
        (link.as_path(), "a link"),
        (Path::new("/dev/null"), "a device"),
    ] {
        let error = atomic::write(path, |out| out.write_all(b"new")).unwrap_err();
        assert!(matches!(error, IoError::NotReplaced { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    assert_eq!(names_in(&folder), ["link"]);
}

#[test]
fn temporary_files_of_dead_writers_are_removed() {
    let folder = folder("temporary_files_of_dead_writers");
    let abandoned = folder.join(".mine.0-0.tmp");
    fs::write(&abandoned, "half").unwrap();
    let of_another_file = folder.join(".other.0-0.tmp");
    fs::write(&of_another_file, "half").unwrap();
    let held = folder.join(".mine.1-0.tmp");
    let writer = fs::File::create(&held).unwrap();
    writer.try_lock().unwrap();
    atomic::write(&folder.join("mine"), |out| out.write_all(b"new")).unwrap();
    assert_eq!(
        names_in(&folder),
        [".mine.1-0.tmp", ".other.0-0.tmp", "mine"]
    );
}

fn recording() -> Recording {
    let mut recording = Recording::with_capacity([("shoulder.angle", "rad")], 1);
    recording.push(0.0, &[0.5]);
    recording
}

#[test]
fn output_makes_the_folder_and_the_chosen_files() {
    let folder = folder("output_makes_the_folder").join("runs/first");
    let mut batch = Batch::begin(&folder, Vec::new()).unwrap();
    let files = output::write(
        &mut batch,
        "",
        &recording(),
        &[OutputFormat::Mat, OutputFormat::Csv],
    )
    .unwrap();
    let paths: Vec<_> = files.into_iter().map(|file| file.path).collect();
    assert_eq!(
        paths,
        [folder.join("recording.mat"), folder.join("recording.csv")]
    );
    batch.finish().unwrap();
    assert_eq!(names_in(&folder), ["recording.csv", "recording.mat"]);
}

/// Same recording in, same bytes out.
#[test]
fn output_is_deterministic() {
    let folder = folder("output_is_deterministic");
    let [first, second] = ["first", "second"].map(|name| {
        let mut batch = Batch::begin(&folder.join(name), Vec::new()).unwrap();
        let files =
            output::write(&mut batch, "", &recording(), &OutputSpec::default().formats).unwrap();
        batch.finish().unwrap();
        let bytes = files.iter().map(|file| fs::read(&file.path).unwrap());
        bytes.collect::<Vec<_>>()
    });
    assert_eq!(first, second);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = folder("a_folder_that_cannot_be_made").join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("out");
    let error = Batch::begin(&below, Vec::new()).unwrap_err();
    assert!(matches!(&error, IoError::CreateFolder { path, .. } if *path == below));
    let beginning = format!("cannot make the folder {}: ", below.display());
    assert!(error.to_string().starts_with(&beginning), "{error}");
}

#[test]
fn files_below_the_folder_are_read() {
    let folder = folder("files_below_the_folder");
    fs::create_dir(folder.join("tables")).unwrap();
    fs::write(folder.join("tables/drive.csv"), "0,1\n").unwrap();
    assert_eq!(read_below(&folder, "tables/drive.csv").unwrap(), "0,1\n");
    assert_eq!(read_below(&folder, "./tables/drive.csv").unwrap(), "0,1\n");
}

#[test]
fn files_elsewhere_are_refused() {
    let outer = folder("files_elsewhere");
    let inner = outer.join("model");
    fs::create_dir_all(inner.join("tables")).unwrap();
    fs::write(outer.join("secret.csv"), "0,1\n").unwrap();
    let absolute = outer.join("secret.csv").display().to_string();
    fs::write(inner.join("drive.csv"), "0,2\n").unwrap();
    // The third lies below after all, but can be named without `..`.
    for name in ["../secret.csv", &absolute, "tables/../drive.csv"] {
        let error = read_below(&inner, name).unwrap_err();
        assert!(matches!(error, IoError::Outside { .. }), "{name}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_refused_and_links_within_followed() {
    use std::os::unix::fs::symlink;
    let outer = folder("links_out_of_the_folder");
    let inner = outer.join("model");
    fs::create_dir(&inner).unwrap();
    fs::write(outer.join("secret.csv"), "0,1\n").unwrap();
    fs::write(inner.join("drive.csv"), "0,2\n").unwrap();
    symlink(outer.join("secret.csv"), inner.join("out.csv")).unwrap();
    symlink(&outer, inner.join("up")).unwrap();
    symlink(inner.join("drive.csv"), inner.join("same.csv")).unwrap();
    for name in ["out.csv", "up/secret.csv"] {
        let error = read_below(&inner, name).unwrap_err();
        assert!(matches!(error, IoError::Outside { .. }), "{name}: {error}");
    }
    assert_eq!(read_below(&inner, "same.csv").unwrap(), "0,2\n");
}

#[test]
fn what_is_no_text_file_is_refused() {
    let folder = folder("what_is_no_text_file");
    fs::write(folder.join("binary.csv"), b"0,1\n\xff\xfe").unwrap();
    let error = read_below(&folder, "binary.csv").unwrap_err();
    assert!(matches!(error, IoError::NotText { byte: 4, .. }), "{error}");
    let error = read_below(&folder, ".").unwrap_err();
    assert!(matches!(error, IoError::NotAFile { .. }), "{error}");
    let error = read_below(&folder, "missing.csv").unwrap_err();
    assert!(matches!(error, IoError::Read { .. }), "{error}");
    assert!(error.to_string().contains("missing.csv"), "{error}");
}

/// A sparse file: the size is claimed, the disk stays empty.
#[test]
fn huge_files_are_refused() {
    let folder = folder("huge_files");
    let file = fs::File::create(folder.join("huge.csv")).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    let error = read_below(&folder, "huge.csv").unwrap_err();
    assert!(matches!(error, IoError::TooLarge { .. }), "{error}");
}
