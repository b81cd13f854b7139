//! Files of one run replace those of another together, whenever a process is killed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lissom_io::IoError;
use lissom_io::batch::Batch;

use crate::files::{folder, names_in};

/// Writes files with the content `of` as one batch.
fn write(folder: &Path, of: &str, names: &[&str], all: &[&str]) {
    let all = all.iter().map(|&name| name.to_owned()).collect();
    let mut batch = Batch::begin(folder, all).unwrap();
    for name in names {
        batch
            .write(name, |out| out.write_all(of.as_bytes()))
            .unwrap();
    }
    batch.finish().unwrap();
}

fn content(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// What a process leaves that is killed while it writes its files, before or after they count.
fn left_behind(folder: &Path, ending: &str, files: &[(&str, &str)]) -> PathBuf {
    let stage = folder.join(format!(".lissom-0-0{ending}"));
    fs::create_dir(&stage).unwrap();
    for (name, content) in files {
        fs::write(stage.join(name), content).unwrap();
    }
    stage
}

const BOTH: [&str; 2] = ["a", "b"];

#[test]
fn files_are_replaced_together_and_others_stay() {
    let folder = folder("files_are_replaced_together");
    fs::write(folder.join("mine.txt"), "mine").unwrap();
    write(&folder, "old", &BOTH, &BOTH);
    assert_eq!(names_in(&folder), ["a", "b", "mine.txt"]);
    // the second batch has no b: that of the first is not to stay beside the a of the second
    write(&folder, "new", &["a"], &BOTH);
    assert_eq!(names_in(&folder), ["a", "mine.txt"]);
    assert_eq!(content(&folder, "a"), "new");
    assert_eq!(content(&folder, "mine.txt"), "mine");
}

#[test]
fn a_batch_that_is_dropped_changes_nothing() {
    let folder = folder("a_batch_that_is_dropped");
    write(&folder, "old", &BOTH, &BOTH);
    let mut batch = Batch::begin(&folder, Vec::new()).unwrap();
    batch.write("a", |out| out.write_all(b"new")).unwrap();
    drop(batch);
    assert_eq!(names_in(&folder), ["a", "b"]);
    assert_eq!(content(&folder, "a"), "old");
}

#[test]
fn whoever_is_killed_while_writing_leaves_the_old_files() {
    let folder = folder("killed_while_writing");
    write(&folder, "old", &BOTH, &BOTH);
    left_behind(&folder, ".new", &[("a", "half")]);
    assert_eq!(content(&folder, "a"), "old");
    drop(Batch::begin(&folder, Vec::new()).unwrap());
    assert_eq!(names_in(&folder), ["a", "b"], "nothing is left behind");
    assert_eq!(content(&folder, "a"), "old");
}

#[test]
fn whoever_is_killed_while_moving_leaves_the_new_files() {
    let folder = folder("killed_while_moving");
    write(&folder, "old", &["a", "b", "c"], &[]);
    // a has been moved, b has not, c is to go
    fs::write(folder.join("a"), "new").unwrap();
    left_behind(&folder, ".done", &[("b", "new"), (".removed", "c")]);
    drop(Batch::begin(&folder, Vec::new()).unwrap());
    assert_eq!(names_in(&folder), ["a", "b"]);
    assert_eq!(content(&folder, "b"), "new");
}

#[test]
fn a_batch_of_somebody_who_lives_is_left_alone() {
    let folder = folder("a_batch_of_somebody_who_lives");
    let mut first = Batch::begin(&folder, Vec::new()).unwrap();
    first.write("a", |out| out.write_all(b"first")).unwrap();
    write(&folder, "second", &BOTH, &BOTH);
    assert_eq!(content(&folder, "a"), "second");
    first.write("b", |out| out.write_all(b"first")).unwrap();
    first.finish().unwrap();
    assert_eq!(content(&folder, "a"), "first");
    assert_eq!(content(&folder, "b"), "first");
    assert_eq!(names_in(&folder), ["a", "b"]);
}

/// Length and CRC-32 are those of the bytes that were written: the check value of the specification.
#[test]
fn a_file_is_told_with_its_checksum() {
    let folder = folder("a_file_with_its_checksum");
    let mut batch = Batch::begin(&folder, Vec::new()).unwrap();
    let written = batch.write("a", |out| out.write_all(b"123456789")).unwrap();
    assert_eq!((written.bytes, written.crc32), (9, 0xCBF4_3926));
    assert_eq!(written.path, folder.join("a"));
}

/// A comparison fills several folders, which count together.
#[test]
fn folders_in_a_folder_are_replaced_together() {
    let folder = folder("folders_in_a_folder");
    write(&folder, "old", &["a/x", "b/x", "c"], &[]);
    assert_eq!(names_in(&folder), ["a", "b", "c"]);
    write(&folder, "new", &["a/x", "c"], &["a/x", "b/x", "c"]);
    assert_eq!(content(&folder, "a/x"), "new");
    assert_eq!(names_in(&folder), ["a", "c"]);
}

#[cfg(unix)]
#[test]
fn links_and_folders_are_not_replaced() {
    let folder = folder("links_are_not_replaced");
    std::os::unix::fs::symlink("/dev/null", folder.join("a")).unwrap();
    fs::create_dir(folder.join("b")).unwrap();
    for name in BOTH {
        let mut batch = Batch::begin(&folder, Vec::new()).unwrap();
        let refused = batch.write(name, |out| out.write_all(b"new")).unwrap_err();
        assert!(matches!(refused, IoError::NotReplaced { .. }), "{refused}");
    }
    assert_eq!(
        fs::read_link(folder.join("a")).unwrap(),
        Path::new("/dev/null")
    );
}

/// A folder may come from somebody else, with a batch in it that seems to be complete: nothing outside the folder is touched, neither
/// by the names of the batch nor through links.
#[cfg(unix)]
#[test]
fn a_batch_of_somebody_else_touches_nothing_outside() {
    use std::os::unix::fs::symlink;

    let outside = folder("outside_of_somebody_else");
    let mine = outside.join("mine");
    fs::write(&mine, "mine").unwrap();
    let refuses = |folder: &Path| {
        let refused = Batch::begin(folder, Vec::new()).unwrap_err();
        assert_eq!(content(&outside, "mine"), "mine", "{refused}");
    };
    for removed in ["../outside_of_somebody_else/mine", mine.to_str().unwrap()] {
        let folder = folder("somebody_else");
        left_behind(&folder, ".done", &[(".removed", removed)]);
        refuses(&folder);
    }

    let linked = folder("linked_by_somebody_else");
    symlink(&outside, linked.join("default")).unwrap();
    let stage = left_behind(&linked, ".done", &[(".removed", "default/mine")]);
    refuses(&linked);
    fs::write(stage.join(".removed"), "").unwrap();
    fs::create_dir(stage.join("default")).unwrap();
    fs::write(stage.join("default/mine"), "theirs").unwrap();
    refuses(&linked);
    fs::remove_dir_all(stage.join("default")).unwrap();
    symlink(&mine, stage.join("a")).unwrap();
    refuses(&linked);

    // nor does a batch of our own go through a link
    fs::remove_dir_all(stage).unwrap();
    let mut batch = Batch::begin(&linked, Vec::new()).unwrap();
    let refused = batch.write("default/mine", |out| out.write_all(b"new"));
    assert!(matches!(refused, Err(IoError::NotReplaced { .. })));
    assert_eq!(content(&outside, "mine"), "mine");
}
