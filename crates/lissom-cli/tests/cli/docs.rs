//! The documents say what is there: links, paths, commands, models and keys that they name exist.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lissom::{ModelSpec, json_schema};
use lissom_io::models;
use lissom_io::urdf::is_urdf;
use serde_json::Value;

/// Folders of the repository whose paths documents name.
const FOLDERS: [&str; 7] = [
    "crates/",
    "docs/",
    "models/",
    "tools/",
    "validation/",
    "viewer/",
    ".ci/",
];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// A document, or a file of this folder and all below it.
fn collect(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for entry in entries {
            collect(&entry, found);
        }
    } else if path.extension() == Some("md".as_ref()) {
        found.push(path.to_owned());
    }
}

/// Every document with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut paths = Vec::new();
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "docs",
        "models",
        "validation",
    ] {
        collect(&root.join(name), &mut paths);
    }
    for name in [
        "lissom",
        "lissom-io",
        "lissom-report",
        "lissom-cli",
        "lissom-bench",
        "lissom-fuzz",
    ] {
        collect(
            &root.join("crates").join(name).join("README.md"),
            &mut paths,
        );
    }
    assert!(paths.len() > 15, "only {} documents", paths.len());
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

/// Fenced blocks of a text, each with its language, and the text without them.
fn split_fences(text: &str) -> (Vec<(String, String)>, String) {
    let (mut blocks, mut prose) = (Vec::new(), String::new());
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, block))) => block.extend([line, "\n"]),
            (None, None) => prose.extend([line, "\n"]),
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    (blocks, prose)
}

/// Blocks of one language in all documents, with where they stand.
fn blocks(language: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for (path, text) in documents() {
        for (of, block) in split_fences(&text).0 {
            if of == language {
                found.push((path.clone(), block));
            }
        }
    }
    found
}

/// The text between back quotes.
fn code_spans(prose: &str) -> Vec<&str> {
    prose.split('`').skip(1).step_by(2).collect()
}

/// Targets of Markdown links and images.
fn link_targets(prose: &str) -> Vec<&str> {
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| rest.split(')').next()).collect()
}

/// What a heading is called in links to it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        letter if letter.is_alphanumeric() => letter.to_lowercase().next(),
        _ => None,
    });
    kept.collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let (_, prose) = split_fences(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// Existence: every relative link leads to a file, and to a heading where it names one.
#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for (path, text) in documents() {
        for target in link_targets(&split_fences(&text).1) {
            if target.contains("://") {
                continue;
            }
            checked += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            assert!(file.exists(), "{}: no {target}", path.display());
            if !heading.is_empty() {
                let there = anchors(&std::fs::read_to_string(&file).unwrap());
                assert!(
                    there.contains(heading),
                    "{}: no heading {target} among {there:?}",
                    path.display()
                );
            }
        }
    }
    assert!(checked > 40, "only {checked} links");
}

/// Existence: what looks like a path of the repository is one.
#[test]
fn paths_exist() {
    let root = root();
    let mut checked = 0;
    for (path, text) in documents() {
        for span in code_spans(&split_fences(&text).1) {
            let is_source = |extension: &OsStr| extension == "rs" || extension == "md";
            let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
            let is_path = span.chars().all(plain)
                && (FOLDERS.iter().any(|folder| span.starts_with(folder))
                    || Path::new(span).extension().is_some_and(is_source));
            if !is_path {
                continue;
            }
            checked += 1;
            let mut bases = vec![
                root.clone(),
                path.parent().unwrap().to_owned(),
                root.join("crates"),
                root.join("crates/lissom-tree/src/tree"),
            ];
            for kernel in [
                "-engine",
                "-spatial",
                "-numerics",
                "-spec",
                "-core",
                "-tree",
                "-nodal",
            ] {
                bases.push(root.join(format!("crates/lissom{kernel}/src")));
            }
            assert!(
                bases.iter().any(|base| base.join(span).exists()),
                "{}: there is no {span}",
                path.display()
            );
        }
    }
    assert!(checked > 40, "only {checked} paths");
}

/// Words of a shell command; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => quote = Some(letter),
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Calls the command; it must succeed.
fn lissom(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_lissom"))
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "lissom {arguments:?}: {words}");
}

/// The arguments of `lissom` in a line of shell, however it is called.
fn arguments_of(line: &str) -> Option<Vec<String>> {
    const FROM_SOURCE: &str = "cargo run --release -p lissom-cli -- ";
    let rest = line
        .strip_prefix("lissom ")
        .or_else(|| line.strip_prefix(FROM_SOURCE))?;
    Some(words(rest))
}

/// Existence: verbs and packages in shell lines are there, and shipped models with changes pass `check`.
#[test]
fn commands_are_understood() {
    let mut checked = 0;
    for (path, block) in blocks("sh") {
        for line in block.lines() {
            let all = words(line);
            for (at, word) in all.iter().enumerate() {
                if word == "-p" || word == "--path" {
                    let package = all[at + 1].trim_start_matches("crates/");
                    let folder = root().join("crates").join(package);
                    assert!(folder.exists(), "{}: {line}", path.display());
                }
            }
            let Some(arguments) = arguments_of(line) else {
                continue;
            };
            checked += 1;
            let verb = arguments[0].as_str();
            lissom(&[verb, "--help"]);
            let shipped = arguments.get(1).is_some_and(|m| models::find(m).is_some());
            if ["check", "run"].contains(&verb) && shipped {
                let mut call = vec!["check", arguments[1].as_str()];
                for pair in arguments.windows(2) {
                    if pair[0] == "--set" || pair[0] == "--fidelity" {
                        call.extend([pair[0].as_str(), pair[1].as_str()]);
                    }
                }
                lissom(&call);
            }
            // `run --from` names a state, `new --from` a shipped model or a robot
            let from = arguments.iter().position(|word| word == "--from");
            if let Some(at) = from.filter(|_| verb == "new") {
                let named = &arguments[at + 1];
                assert!(
                    is_urdf(Path::new(named)) || models::find(named).is_some(),
                    "{line}"
                );
            }
        }
    }
    assert!(checked > 15, "only {checked} commands");
}

/// Existence: a model that is written out in full is sound.
#[test]
fn whole_models_are_sound() {
    let mut checked = 0;
    for (path, block) in blocks("toml") {
        if block.contains("format = 1") {
            checked += 1;
            if let Err(errors) = ModelSpec::parse(&block, &[]) {
                panic!("{}: {errors:?}", path.display());
            }
        }
    }
    assert!(checked >= 2, "only {checked} models");
}

/// Keys and words of the format, as its schema has them.
fn words_of_schema(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(entries) => {
            // a key may itself be called `properties`
            let keys = entries.get("properties").and_then(Value::as_object);
            let keys = keys.filter(|keys| keys.values().all(Value::is_object));
            found.extend(keys.into_iter().flat_map(|keys| keys.keys().cloned()));
            let words = entries.get("enum").and_then(Value::as_array);
            let words = words.into_iter().flatten().chain(entries.get("const"));
            found.extend(words.filter_map(Value::as_str).map(str::to_owned));
            for entry in entries.values() {
                words_of_schema(entry, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words_of_schema(item, found)),
        _ => {}
    }
}

/// Completeness: the page on the model file names every key of the format.
#[test]
fn the_model_file_page_is_complete() {
    let mut known = BTreeSet::new();
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    words_of_schema(&schema, &mut known);
    assert!(known.len() > 150, "only {} keys", known.len());
    let page = std::fs::read_to_string(root().join("docs/guide/model-file.md")).unwrap();
    let named: BTreeSet<&str> = page
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let missing: Vec<&String> = known
        .iter()
        .filter(|word| !named.contains(word.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Agreement: the version is the same wherever it is written.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("CITATION.cff", format!("\nversion: {version}\n")),
        (
            "viewer/package.json",
            format!("\n  \"version\": \"{version}\",\n"),
        ),
        (
            "viewer/package-lock.json",
            format!("\n  \"version\": \"{version}\",\n"),
        ),
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(&line), "{file} is not of version {version}");
    }
}

/// Every name that the crate `lissom` hands out is used in an example of its page, and the examples are tests.
#[test]
fn every_public_name_of_the_library_has_an_example() {
    let library = root().join("crates/lissom");
    let source = std::fs::read_to_string(library.join("src/lib.rs")).unwrap();
    let page = std::fs::read_to_string(library.join("README.md")).unwrap();
    let examples: String = page.split("```").skip(1).step_by(2).collect();
    let words: BTreeSet<&str> = examples.split(|c: char| !is_of_name(c)).collect();
    let mut names = 0;
    let public = ["pub use ", "pub mod "];
    for line in public
        .into_iter()
        .flat_map(|kind| source.split(kind).skip(1))
    {
        let line = line.split(';').next().unwrap();
        let listed = line.rsplit_once("::").map_or(line, |(_, name)| name);
        let listed = line.split_once('{').map_or(listed, |(_, names)| names);
        for name in listed
            .split(|c: char| !is_of_name(c))
            .filter(|name| !name.is_empty())
        {
            assert!(words.contains(name), "`{name}` has no example");
            names += 1;
        }
    }
    assert!((60..=80).contains(&names), "{names} names");
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
