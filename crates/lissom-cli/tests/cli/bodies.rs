//! Bodies given by numbers in recordings: files of their own beside the manifest, named by their content.

use crate::Folder;

const MODEL: &str = "frame-arm";
const OUT: &str = "results/frame-arm";

/// That of `{}`.
const EMPTY_CRC32: u32 = 0xa3a6_bf43;

fn run(folder: &Folder, duration_s: &str, more: &[&str]) -> crate::Answer {
    let duration = format!("simulation.duration_s={duration_s}");
    let mut words = vec!["run", MODEL, "--quiet", "--set", &duration];
    words.extend(["--set", "output.formats=[\"csv\"]"]);
    words.extend_from_slice(more);
    folder.lissom(&words)
}

/// Names of the body files in a folder.
fn bodies(folder: &Folder, within: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path.join(within)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("body-")).collect();
    names.sort();
    names
}

/// The recording of a model of frames is whole without them: the manifest names the bodies and their checksums, each is the file that
/// `lissom body` writes, page and continued run come of them, and the next run of another model takes them away.
#[test]
fn recordings_keep_bodies_beside_them() {
    let folder = Folder::new();
    run(&folder, "0.02", &[]).says(0, &[]);
    let manifest = folder.read_json(&format!("{OUT}/manifest.json"));
    let model = manifest["model"].as_str().unwrap();
    assert!(
        !model.contains("[body.frame") && !model.contains("[body.reduced"),
        "{model}"
    );
    let kept = bodies(&folder, OUT);
    assert_eq!(kept.len(), 2);
    for body in ["upper_arm", "forearm"] {
        let told = folder.json(&[
            "body",
            &format!("{MODEL}:{body}"),
            "--out",
            "body.json",
            "--json",
        ]);
        let name = format!("body-{}.json", told["crc32"].as_str().unwrap());
        assert!(kept.contains(&name), "{name} {kept:?}");
        assert_eq!(
            folder.read("body.json"),
            folder.read(&format!("{OUT}/{name}"))
        );
        assert!(
            model.contains(&format!("reduced_file = \"{name}\"")),
            "{model}"
        );
        let files = manifest["files"].as_array().unwrap();
        assert!(files.iter().any(|file| file["name"] == name.as_str()));
    }
    // the model in it is a model file of its own
    folder.write(&format!("{OUT}/again.toml"), model);
    let again = format!("{OUT}/again.toml");
    folder
        .lissom(&["run", &again, "--quiet", "--out", "again"])
        .says(0, &[]);
    let recording = |of: &str| folder.read(&format!("{of}/recording.csv"));
    assert_eq!(recording("again"), recording(OUT));
    let before = recording(OUT);
    run(&folder, "0.03", &["--from", OUT]).says(0, &[]);
    let after = recording(OUT);
    assert!(after.starts_with(&before) && after.len() > before.len());
    assert_eq!(bodies(&folder, OUT), kept);
    folder.lissom(&["report", OUT]).says(0, &[]);
    // the body of another link is another model
    let thicker = "body.upper_arm.frame.lump=[]";
    run(&folder, "0.04", &["--from", OUT, "--set", thicker]).says(1, &["a run of another model"]);
    run(&folder, "0.02", &["--set", thicker]).says(0, &[]);
    let now = bodies(&folder, OUT);
    assert!(now.len() == 2 && now != kept, "{now:?}");
    let other = ["run", "two-link-arm", "--quiet", "--out", OUT];
    folder
        .lissom(&[&other[..], &["--set", "simulation.duration_s=0.01"]].concat())
        .says(0, &[]);
    assert!(bodies(&folder, OUT).is_empty());
    // every run of a comparison is whole by itself
    let options = ["--with", "default,rigid", "--quiet", "--out", "compared"];
    let words = [
        &["compare", MODEL, "--set", "simulation.duration_s=0.01"][..],
        &options,
    ]
    .concat();
    folder.lissom(&words).says(0, &[]);
    assert_eq!(bodies(&folder, "compared/default"), kept);
    folder.lissom(&["report", "compared/default"]).says(0, &[]);
}

/// A body that is missing, damaged, exchanged, elsewhere, or not told of is named, and nothing is read in its place.
#[test]
fn bodies_of_other_recordings_are_refused() {
    let folder = Folder::new();
    run(&folder, "0.01", &[]).says(0, &[]);
    let [first, second] = <[String; 2]>::try_from(bodies(&folder, OUT)).unwrap();
    let (at, other) = (format!("{OUT}/{first}"), format!("{OUT}/{second}"));
    let sound = folder.read(&at);
    let refused = |words: &[&str]| {
        folder.lissom(&["report", OUT]).says(1, words);
        run(&folder, "0.02", &["--from", OUT]).says(1, words);
    };
    std::fs::remove_file(folder.path.join(&at)).unwrap();
    refused(&[&first]);
    let mut damaged = sound.clone();
    damaged[100] ^= 1;
    folder.write(&at, damaged);
    refused(&[
        &first,
        "is not the file that the manifest beside it tells of",
    ]);
    folder.write(&at, folder.read(&other));
    refused(&[
        &first,
        "is not the file that the manifest beside it tells of",
    ]);
    #[cfg(unix)]
    {
        folder.write("elsewhere.json", &sound);
        let place = folder.path.join(&at);
        std::fs::remove_file(&place).unwrap();
        std::os::unix::fs::symlink(folder.path.join("elsewhere.json"), &place).unwrap();
        let report = folder.lissom(&["report", OUT]);
        report.says(1, &[&first, "does not lie below"]);
        // said before a run, not after it
        run(&folder, "0.01", &[]).says(1, &[&first, "nothing but a file is replaced"]);
        std::fs::remove_file(&place).unwrap();
    }
    folder.write(&at, &sound);
    folder.lissom(&["report", OUT]).says(0, &[]);
    #[cfg(unix)]
    for name in ["recording.csv", "manifest.json"] {
        // whose bytes are those that belong there
        let place = folder.path.join(OUT).join(name);
        std::fs::rename(&place, folder.path.join(name)).unwrap();
        std::os::unix::fs::symlink(folder.path.join(name), &place).unwrap();
        let report = folder.lissom(&["report", OUT]);
        report.says(1, &[name, "does not lie below"]);
        std::fs::rename(folder.path.join(name), &place).unwrap();
    }
    // a manifest that tells of the body by another name, or of a body that is no such
    let name = format!("{OUT}/manifest.json");
    let manifest = folder.read_json(&name);
    let mut doctored = manifest.clone();
    let files = doctored["files"].as_array_mut().unwrap();
    files.retain(|file| file["name"] != first.as_str());
    folder.write(&name, doctored.to_string());
    let report = folder.lissom(&["report", OUT]);
    report.says(1, &[&first, "the manifest tells of no such file"]);
    let mut doctored = manifest;
    folder.write(&at, "{}");
    for file in doctored["files"].as_array_mut().unwrap() {
        if file["name"] == first.as_str() {
            file["bytes"] = 2.into();
            file["crc32"] = EMPTY_CRC32.into();
        }
    }
    folder.write(&name, doctored.to_string());
    let report = folder.lissom(&["report", OUT]);
    report.says(1, &[&first, "is no body file"]);
}

/// What is no body file is told by what is wrong with it.
#[test]
fn body_files_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    folder.write("latin.json", b"{ \"name\": \"b\xe9ton\" }");
    std::fs::create_dir(folder.path.join("folder.json")).unwrap();
    for (file, words) in [
        ("nowhere.json", "cannot read nowhere.json"),
        ("latin.json", "latin.json is not UTF-8 at byte 12"),
        ("folder.json", "folder.json is not a file"),
    ] {
        folder.lissom(&["body", file]).says(1, &[words]);
    }
    folder.lissom(&["body", "arm"]).says(2, &["MODEL:BODY"]);
}
