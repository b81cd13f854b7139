//! What `lissom compare` says of random arms is what their recordings say.
//!
//! Trees in a plane and in space and closed loops, of one to four links, with and without gravity. Every number and every
//! judgement, in the file and in words, is held against the difference of the two recordings, which is taken here from
//! the written files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::{Folder, number};

/// Numbers in words have two digits.
const TWO_DIGITS: f64 = 0.06;
/// Recordings are written with all their digits.
const WRITTEN: f64 = 1e-12;

/// Stiffnesses of links, from such that bend by a tenth of their length to such that bend by a millimetre and less.
const IN_ARMS: [f64; 2] = [0.3, 3.0];
/// Links in loops are held at both ends: softer ones bend as far.
const IN_LOOPS: [f64; 2] = [0.0, 1.5];

/// Random numbers by the generator `SplitMix64`.
struct Random(u64);

impl Random {
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = (z ^ (z >> 31)) >> 11;
        from + (to - from) * share as f64 / (1_u64 << 53) as f64
    }

    fn one_in_two(&mut self) -> bool {
        self.uniform(0.0, 1.0) < 0.5
    }
}

/// A link whose stiffness is ten to a power from `powers`.
fn beam(random: &mut Random, name: &str, spatial: bool, powers: [f64; 2]) -> String {
    let both = if spatial {
        "bending_stiffness_z_n_m2 = 60.0\n"
    } else {
        ""
    };
    let in_z = if spatial { ", bending_z = 1" } else { "" };
    format!(
        "[[body]]\nname = \"{name}\"\n[body.beam]\nlength_m = {:.3}\nmass_per_length_kg_per_m = {:.3}\n\
         bending_stiffness_y_n_m2 = {:.3}\n{both}basis = {{ clamped_free = {{ bending_y = {}{in_z} }} }}\n",
        random.uniform(0.3, 1.0),
        random.uniform(0.1, 1.0),
        10.0_f64.powf(random.uniform(powers[0], powers[1])),
        if random.one_in_two() { 1 } else { 2 },
    )
}

fn head(random: &mut Random, seed: u64) -> String {
    let gravity = if random.one_in_two() { -9.81 } else { 0.0 };
    format!("format = 1\nname = \"arm {seed}\"\ngravity_m_per_s2 = [0.0, {gravity:?}, 0.0]\n")
}

const TAIL: &str = "[simulation]\nduration_s = 0.1\nintegrator = { dop853 = { rtol = 1e-7, atol = 1e-9 } }\n\
     [output]\nsample_period_s = 0.005\nformats = [\"csv\"]\n";

/// One to four links one after the other, each moving.
fn tree(seed: u64, spatial: bool) -> String {
    let mut random = Random(seed);
    let mut text = head(&mut random, seed);
    let links = 1 + (seed % 4);
    for link in 1..=links {
        text += &beam(&mut random, &format!("link_{link}"), spatial, IN_ARMS);
        let parent = if link == 1 {
            "ground".to_owned()
        } else {
            format!("link_{}", link - 1)
        };
        let axis = if spatial && random.one_in_two() {
            "[0.0, 1.0, 0.0]"
        } else {
            "[0.0, 0.0, 1.0]"
        };
        write!(
            text,
            "[[joint]]\nname = \"joint_{link}\"\nparent = \"{parent}\"\nchild = \"link_{link}\"\n\
             revolute = {{ axis = {axis}, initial_angle_rad = {:.3}, initial_rate_rad_per_s = {:.3} }}\n",
            random.uniform(-1.5, 1.5),
            random.uniform(-3.0, 3.0),
        )
        .unwrap();
    }
    text + &format!("[[marker]]\nname = \"hand\"\nbody = \"link_{links}\"\n") + TAIL
}

/// A four-bar of three moving links.
fn four_bar(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = head(&mut random, seed);
    let rate = random.uniform(-15.0, 15.0);
    let revolute = "axis = [0.0, 0.0, 1.0]";
    text +=
        &beam(&mut random, "crank", false, IN_LOOPS).replace("length_m = ", "length_m = 0.2 # ");
    for (name, length) in [("coupler", "0.6"), ("rocker", "0.4")] {
        let length = format!("length_m = {length} # ");
        text += &beam(&mut random, name, false, IN_LOOPS).replace("length_m = ", &length);
    }
    text + &format!(
        "[[joint]]\nname = \"motor\"\nparent = \"ground\"\nchild = \"crank\"\n\
         revolute = {{ {revolute}, initial_angle_rad = 1.0, initial_rate_rad_per_s = {rate:.3}, held = true }}\n\
         [[joint]]\nname = \"crank_pin\"\nparent = \"crank\"\nchild = \"coupler\"\nrevolute = {{ {revolute} }}\n\
         [[joint]]\nname = \"pivot\"\nparent = {{ body = \"ground\", position_m = [0.5, 0.0, 0.0] }}\nchild = \"rocker\"\n\
         revolute = {{ {revolute}, initial_angle_rad = 1.0, branch = \"positive\" }}\n\
         [[joint]]\nname = \"rocker_pin\"\nparent = \"coupler\"\nchild = {{ body = \"rocker\", at = \"tip\" }}\n\
         revolute = {{ {revolute} }}\n\
         [[marker]]\nname = \"hand\"\nbody = \"coupler\"\n{TAIL}"
    )
}

/// The columns of a recording by name.
fn columns(folder: &Folder, run: &str) -> BTreeMap<String, Vec<f64>> {
    let text = String::from_utf8(folder.read(&format!("out/{run}/recording.csv"))).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap().split(',');
    let mut columns: Vec<(String, Vec<f64>)> = names
        .map(|name| (name.split(" [").next().unwrap().to_owned(), Vec::new()))
        .collect();
    for line in lines {
        for ((_, column), value) in columns.iter_mut().zip(line.split(',')) {
            column.push(value.parse().unwrap());
        }
    }
    columns.into_iter().collect()
}

/// Largest difference of two recordings in a channel, as far as both go.
fn apart(one: &[f64], other: &[f64]) -> f64 {
    let differences = one.iter().zip(other).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

fn close(stated: f64, measured: f64, relative: f64) -> bool {
    (stated - measured).abs() <= relative * measured.abs() + f64::MIN_POSITIVE
}

/// How many judgements were held against recordings.
#[derive(Debug, Default)]
struct Judged {
    small: usize,
    large: usize,
    unsound: usize,
}

/// One comparison, as written and in words.
struct Case<'a> {
    folder: &'a Folder,
    comparison: Value,
    words: String,
    reference: BTreeMap<String, Vec<f64>>,
}

impl Case<'_> {
    /// Holds what is said of one run against its recording; tells whether it is within, unless it is not sound.
    fn hold(&self, said: &Value, run: &str, differences: &Value, called: &str) -> Option<bool> {
        let at = || format!("{run}: {said} in {}", self.words);
        // what is said of fidelities stands last
        let begins = |line: &&str| line.starts_with(&format!("  {called}: "));
        let line = self.words.lines().rev().find(begins);
        let line = line.unwrap_or_else(|| panic!("no line of {called}: {}", at()));
        let recording = columns(self.folder, run);
        let [mut position, mut angle] = [None::<f64>; 2];
        for difference in differences.as_array().unwrap() {
            let name = difference["channel"].as_str().unwrap();
            let measured = apart(&self.reference[name], &recording[name]);
            let stated = number(&difference["largest"]["value"]).abs();
            assert!(
                close(stated, measured, WRITTEN),
                "{name}: {measured} {}",
                at()
            );
            let worst = match difference["unit"].as_str().unwrap() {
                "m" => &mut position,
                "rad" => &mut angle,
                _ => continue,
            };
            *worst = Some(worst.unwrap_or(0.0).max(measured));
        }
        if let Some(ended) = said.get("ended") {
            let how = ended["how"].as_str().unwrap();
            assert!(["diverged", "failed"].contains(&how), "{}", at());
            assert!(line.contains(how) && !line.contains("differs"), "{}", at());
            assert_eq!((said.get("difference"), said.get("within")), (None, None));
            let short = recording["time_s"].len() < self.reference["time_s"].len();
            assert!(short || how == "diverged", "{}", at());
            return None;
        }
        assert_eq!(recording["time_s"].len(), self.reference["time_s"].len());
        let told = line.split("differs by ").nth(1).unwrap();
        let parts = [("position_m", position), ("angle_rad", angle)];
        for ((key, measured), told) in parts.into_iter().zip(told.split(" and ")) {
            let measured = measured.unwrap();
            let stated = number(&said["difference"][key]);
            assert!(close(stated, measured, WRITTEN), "{measured} {}", at());
            let told: f64 = told.split(' ').next().unwrap().parse().unwrap();
            assert!(close(told, measured, TWO_DIGITS), "{measured} {line}");
        }
        let advice = &self.comparison["advice"];
        let within = position.unwrap() <= number(&advice["within_m"])
            && angle.unwrap() <= number(&advice["within"]);
        assert_eq!(said["within"], within, "{}", at());
        assert!(
            !line.contains("diverged") && !line.contains("failed"),
            "{line}"
        );
        if called.starts_with("without") {
            assert!(line.ends_with(if within {
                "it did not matter"
            } else {
                "it mattered"
            }));
        }
        Some(within)
    }
}

/// Compares an arm and holds all that is said against the recordings.
fn compare(text: &str, judged: &mut Judged) {
    let folder = Folder::new();
    folder.write("arm.toml", text);
    let answer = folder.lissom(&["compare", "arm.toml", "--out", "out", "--within", "0.002"]);
    assert_eq!(answer.code, 0, "{text}\n{}", answer.stderr);
    let comparison = folder.read_json("out/comparison.json");
    assert_eq!(comparison["reference"], "default", "{text}");
    let case = Case {
        folder: &folder,
        reference: columns(&folder, "default"),
        words: answer.stdout,
        comparison,
    };
    let mut count = |within: Option<bool>| match within {
        Some(true) => judged.small += 1,
        Some(false) => judged.large += 1,
        None => judged.unsound += 1,
    };
    let mut would_have_done = Vec::new();
    let runs = case.comparison["runs"].as_array().unwrap();
    for verdict in case.comparison["advice"]["fidelities"].as_array().unwrap() {
        let name = verdict["fidelity"].as_str().unwrap();
        let run = runs.iter().find(|run| run["fidelity"] == name).unwrap();
        let within = case.hold(verdict, name, &run["differences"], name);
        assert_eq!(run["sound"], within.is_some());
        count(within);
        if within == Some(true) {
            would_have_done.push(name);
        }
    }
    let said = &case.comparison["advice"]["would_have_done"];
    assert_eq!(*said, Value::from(would_have_done.clone()));
    let line = case
        .words
        .lines()
        .find(|line| line.contains("would have done in place"));
    let told = line
        .unwrap_or_default()
        .split(" would have done")
        .next()
        .unwrap();
    let told: Vec<&str> = told
        .split(", ")
        .filter_map(|n| n.trim().split(' ').next())
        .collect();
    let told: Vec<&str> = told.into_iter().filter(|name| !name.is_empty()).collect();
    assert_eq!(told, would_have_done);
    assert_eq!(
        case.words.contains("None of these was within"),
        would_have_done.is_empty()
    );
    for term in case.comparison["advice"]["terms"].as_array().unwrap() {
        let folder = term["without"].as_str().unwrap().replace('=', "-");
        let called = format!("without {}", term["name"].as_str().unwrap());
        count(case.hold(term, &folder, &term["differences"], &called));
    }
}

fn compare_all(texts: impl Iterator<Item = String>) -> Judged {
    let mut judged = Judged::default();
    for text in texts {
        compare(&text, &mut judged);
    }
    judged
}

#[test]
fn arms_in_a_plane() {
    let judged = compare_all((100..120).map(|seed| tree(seed, false)));
    assert!(judged.small > 20 && judged.large > 20, "{judged:?}");
}

#[test]
fn arms_in_space() {
    let judged = compare_all((200..220).map(|seed| tree(seed, true)));
    assert!(judged.small > 20 && judged.large > 20, "{judged:?}");
}

/// Tips that do not turn truly cannot close a loop: fidelities with such tips fail, and nothing is stated of them.
#[test]
fn closed_loops() {
    let judged = compare_all((300..316).map(four_bar));
    assert!(
        judged.small > 5 && judged.large > 5 && judged.unsound > 16,
        "{judged:?}"
    );
}
