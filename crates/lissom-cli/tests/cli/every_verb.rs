//! Every shipped model goes through every verb in both formulations, or is refused for a reason that stands here.

use std::collections::BTreeSet;

use lissom::{CoordinateKind, Mechanism, Override};

use lissom_io::load::load_text;
use lissom_io::models::{self, ShippedModel};
use serde_json::Value;

use crate::golden::cases::cheap;
use crate::{Answer, Folder, number};

/// Accepted steps of a run.
const STEPS: u64 = 60;
/// The part of them that verbs take which make several runs, and what they are given.
const FEW: f64 = 2.0 / STEPS as f64;

/// One model in one formulation.
struct Case {
    model: &'static ShippedModel,
    formulation: &'static str,
}

impl Case {
    fn of_nodes(&self) -> bool {
        self.model.text.contains("[[element]]")
    }

    /// Why a verb refuses the case, in words of its message.
    fn refusal(&self, verb: &str) -> Option<&'static str> {
        let slides = self.model.text.contains("[[support]]");
        if slides && self.formulation == "nodal" && verb != "compare" {
            return Some("a support that a beam slides through");
        }
        let of_modes = self.model.text.contains("[body.frame]");
        if of_modes && self.formulation == "nodal" && verb != "compare" {
            return Some("a body given by its modes is not known");
        }
        if self.of_nodes() && self.formulation == "tree" && verb != "compare" {
            return Some("has no tree formulation");
        }
        match verb {
            "compare" if self.of_nodes() => Some("nodes and elements"),
            // markers are of bodies
            "map" if self.of_nodes() => Some("no [[marker]] to look at"),
            // a free beam that is pushed
            "equilibrium" if self.model.name == "flying-spaghetti" => {
                Some("no equilibrium at t = 0: nothing holds")
            }
            // nothing says how it should move
            "inverse" if !self.has_motion() => Some("what drives the mechanism along which motion"),
            _ => None,
        }
    }

    /// Whether joints are driven along a motion that is written down.
    fn has_motion(&self) -> bool {
        let lines = self.model.text.lines();
        let mut written = lines.filter(|line| !line.starts_with('#'));
        written.any(|line| {
            let says = |words: &str| line.contains(words);
            let prescribed = !self.of_nodes() && says("[[motion]]");
            prescribed || says("rigid_inverse_dynamics") || says("nominal_motion = true")
        })
    }

    /// Calls a verb with options of its own and what makes it cheap.
    fn call(
        &self,
        folder: &Folder,
        verb: &str,
        options: &[&str],
        integrator: &str,
    ) -> Option<Value> {
        let runs_often = ["converge", "sweep", "fit"].contains(&verb);
        let part = if runs_often { FEW } else { 1.0 };
        self.call_over(part, folder, verb, options, integrator)
    }

    /// What makes the model cheap that is simulated over a part of its time.
    fn sets(&self, part: f64, integrator: &str) -> Vec<String> {
        let ([tree_s, nodal_s], changes) = cheap(self.model.name);
        let whole_s = if self.formulation == "tree" {
            tree_s
        } else {
            nodal_s
        };
        let duration_s = part * whole_s;
        let integrator = integrator.replace("STEP", &format!("{:?}", whole_s / STEPS as f64));
        let mut sets = vec![
            format!("simulation.duration_s={duration_s:?}"),
            format!("simulation.integrator={integrator}"),
            format!(
                "output={{sample_period_s={:?},formats=[\"csv\"]}}",
                duration_s / 4.0
            ),
        ];
        sets.extend(changes.iter().map(|&change| change.to_owned()));
        sets
    }

    /// What makes it one of the formulation.
    fn elements(&self) -> Option<String> {
        let divides = self.formulation == "nodal" && !self.of_nodes();
        divides.then(|| "formulation.nodal.elements_per_link=1".to_owned())
    }

    /// The same over a part of the time that is simulated.
    fn call_over(
        &self,
        part: f64,
        folder: &Folder,
        verb: &str,
        options: &[&str],
        integrator: &str,
    ) -> Option<Value> {
        let mut sets = self.sets(part, integrator);
        let mut words = vec![verb, self.model.name, "--json"];
        if verb != "compare" {
            words.extend(["--formulation", self.formulation]);
            sets.extend(self.elements());
        }
        for set in &sets {
            words.extend(["--set", set.as_str()]);
        }
        words.extend_from_slice(options);
        let answer = folder.lissom(&words);
        let name = format!("{verb} {} {}", self.model.name, self.formulation);
        match self.refusal(verb) {
            Some(reason) => {
                answer.says(1, &[reason]);
                None
            }
            None => Some(answered(&answer, &name)),
        }
    }

    /// Goes through all verbs; returns the columns of its run and of its perturbation.
    fn through_every_verb(&self) -> Option<[BTreeSet<String>; 2]> {
        const FIXED: &str = "{generalized_alpha={step_s=STEP,tolerance=1e-7}}";
        const LOOSE: &str = "{radau={rtol=1e-3,atol=1e-5}}";
        let folder = Folder::new();
        folder.write("state.json", "{}");
        let name = format!("{} {}", self.model.name, self.formulation);
        self.call(&folder, "check", &[], FIXED);
        if let Some(rest) = self.call(&folder, "equilibrium", &[], FIXED) {
            assert!(!rest["channels"].as_object().unwrap().is_empty(), "{name}");
        }
        if let Some(found) = self.call(&folder, "eval", &["--state", "state.json"], FIXED) {
            for list in ["positions", "velocities"] {
                let entries = found[list].as_array().unwrap().iter();
                distinct(&name, list, entries.map(|entry| &entry["name"]));
            }
        }
        if self.formulation == "tree" {
            let options = ["--with", "default,exact", "--out", "compared"];
            self.call(&folder, "compare", &options, FIXED);
        }
        if let Some(modes) = self.call(&folder, "modes", &["--count", "4"], FIXED) {
            assert!(!modes["modes"].as_array().unwrap().is_empty(), "{name}");
            distinct(
                &name,
                "coordinates",
                modes["coordinates"].as_array().unwrap(),
            );
        }
        for along in ["start", "nominal"] {
            let mut options = vec!["--about", along];
            if along == "nominal" {
                options.extend(["--points", POINTS]);
            }
            let Some(linear) = self.call(&folder, "linearize", &options, FIXED) else {
                continue;
            };
            for (list, names) in linear.as_object().unwrap() {
                if list.contains("_names") {
                    distinct(&name, list, names.as_array().unwrap());
                }
            }
            // what nothing drives answers to nothing
            let is_driven = !linear["input_names"].as_array().unwrap().is_empty();
            if along == "start" && is_driven {
                let response = self
                    .call(&folder, "response", &["--count", "5"], FIXED)
                    .unwrap();
                let poles = response["poles_per_s"].as_array().unwrap();
                assert!(!poles.is_empty(), "{name}");
            }
        }
        self.through_runs(&folder);
        self.through_map(&folder);
        let run = self.call(&folder, "run", &["--out", "run"], FIXED)?;
        assert!(
            number(&run["cost"]["steps"]) >= 50.0,
            "{name}: {}",
            run["cost"]
        );
        let columns = columns(&folder, &name, "run");
        let report = folder.lissom(&["report", "run", "--out", "page.html"]);
        assert_eq!(report.code, 0, "report of {name}: {}", report.stderr);
        if let Some(found) = self.call(&folder, "inverse", &["--out", "inverse"], FIXED) {
            let drives = found["drives"].as_array().unwrap();
            distinct(&name, "drives", drives.iter().map(|drive| &drive["name"]));
            for drive in drives {
                assert!(number(&drive["effort"]["rms"]).is_finite(), "{name}");
            }
        }
        let options = ["--out", "perturbed", "--points", POINTS];
        self.call(&folder, "perturb", &options, LOOSE)?;
        Some([columns, self::columns(&folder, &name, "perturbed")])
    }
}

impl Case {
    /// Through the verbs that make several runs.
    fn through_runs(&self, folder: &Folder) {
        self.through_fit(folder);
        const FIXED: &str = "{generalized_alpha={step_s=STEP,tolerance=1e-7}}";
        let name = format!("{} {}", self.model.name, self.formulation);
        let vary = [
            "--vary",
            "simulation.start_s=0,0",
            "--threads",
            "1",
            "--out",
            "swept",
        ];
        if let Some(swept) = self.call(folder, "sweep", &vary, FIXED) {
            assert_eq!(
                [&swept["done"], &swept["failed"]].map(number),
                [2.0, 0.0],
                "{name}"
            );
            columns_of(folder, &name, "swept/sweep.csv");
        }
        if let Some(found) = self.call(folder, "converge", &["--out", "refined"], FIXED) {
            let accuracy = found["accuracy"].as_array().unwrap();
            assert!(!accuracy.is_empty(), "{name}");
            distinct(
                &name,
                "accuracy",
                accuracy.iter().map(|own| &own["quantity"]),
            );
        }
    }
}

impl Case {
    /// A number that the model writes.
    fn parameter(&self) -> String {
        let spec = load_text(self.model.name, self.model.text, &[])
            .unwrap()
            .spec;
        let beam = (spec.body.iter()).find(|body| body.beam.is_some());
        let element = (spec.element.iter()).find(|element| element.beam.is_some());
        let damped = (spec.body.iter()).find(|body| body.damping.is_some());
        match (beam, element, damped) {
            (Some(body), ..) => format!("body.{}.beam.bending_stiffness_y_n_m2", body.name),
            (_, Some(own), _) => format!("element.{}.beam.bending_stiffness_y_n_m2", own.name),
            (.., Some(body)) => format!("body.{}.damping.modal_ratio", body.name),
            _ => format!("body.{}.rigid.mass_kg", spec.body[0].name),
        }
    }

    /// Two coordinates of its states as axes of a grid that begins where the model does.
    fn grid(&self) -> [String; 2] {
        const FIXED: &str = "{generalized_alpha={step_s=STEP,tolerance=1e-7}}";
        // so that the range is small beside whatever the mechanism is like
        const RANGE: f64 = 1e-3;
        let sets = (self.sets(1.0, FIXED).into_iter()).chain(self.elements());
        let overrides: Vec<Override> = sets.map(|set| Override::parse(&set).unwrap()).collect();
        let loaded = load_text(self.model.name, self.model.text, &overrides).unwrap();
        let mechanism = Mechanism::build(&loaded.spec).unwrap();
        let [positions, _] = mechanism.coordinates().unwrap();
        let written = mechanism.written();
        let single = (positions.iter().zip(&written.position))
            .filter(|(coordinate, _)| coordinate.kind != CoordinateKind::Quaternion);
        let axes: Vec<String> = single
            .map(|(coordinate, from)| format!("{}={from:?},{:?}", coordinate.name, from + RANGE))
            .take(2)
            .collect();
        axes.try_into().unwrap()
    }

    /// Through a small map of its workspace, of which it is at one corner in any case.
    fn through_map(&self, folder: &Folder) {
        const FIXED: &str = "{generalized_alpha={step_s=STEP,tolerance=1e-7}}";
        let name = format!("{} {}", self.model.name, self.formulation);
        let axes = match self.refusal("map") {
            Some(_) => ["a=0,1", "b=0,1"].map(str::to_owned),
            None => self.grid(),
        };
        let [one, other] = axes.each_ref().map(String::as_str);
        let options = [
            "--over",
            one,
            "--over",
            other,
            "--threads",
            "1",
            "--out",
            "map.csv",
        ];
        if let Some(found) = self.call(folder, "map", &options, FIXED) {
            assert_eq!(number(&found["places"]), 4.0, "{name}");
            assert!(number(&found["reached"]) >= 1.0, "{name}: {found}");
            columns_of(folder, &name, "map.csv");
        }
    }

    /// Identity: a recording of the model is fitted by the model as it is.
    fn through_fit(&self, folder: &Folder) {
        const FIXED: &str = "{generalized_alpha={step_s=STEP,tolerance=1e-7}}";
        /// Nothing is left over, so that nothing moves the parameter.
        const SAME: f64 = 1e-9;
        let name = format!("{} {}", self.model.name, self.formulation);
        let options = ["--out", "measured"];
        if self
            .call_over(FEW, folder, "run", &options, FIXED)
            .is_none()
        {
            folder.write("measured/recording.csv", "t,x\n0,0\n1,0\n");
        }
        let parameter = self.parameter();
        let options = [
            "measured/recording.csv",
            "--parameters",
            &parameter,
            "--threads",
            "1",
            "--out",
            "fitted",
        ];
        if let Some(found) = self.call(folder, "fit", &options, FIXED) {
            let own = &found["parameters"][0];
            let (start, value) = (number(&own["start"]), number(&own["value"]));
            assert!((value / start - 1.0).abs() < SAME, "{name}: {own}");
        }
    }
}

/// Instants along a motion; so many that the longest of them is shorter than a beam's element under a support.
const POINTS: &str = "9";

#[track_caller]
fn answered(answer: &Answer, name: &str) -> Value {
    assert_eq!(answer.code, 0, "{name}: {}", answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap()
}

/// Names that are all different.
fn distinct<'v>(case: &str, list: &str, names: impl IntoIterator<Item = &'v Value>) {
    let mut seen = BTreeSet::new();
    for name in names {
        let name = name.as_str().unwrap();
        assert!(seen.insert(name), "{case}: {list} has {name} twice");
    }
}

/// Columns of a recording, which are all different.
fn columns(folder: &Folder, case: &str, recording: &str) -> BTreeSet<String> {
    columns_of(folder, case, &format!("{recording}/recording.csv"))
}

/// Columns of a table, which are all different.
fn columns_of(folder: &Folder, case: &str, table: &str) -> BTreeSet<String> {
    let csv = String::from_utf8(folder.read(table)).unwrap();
    let mut seen = BTreeSet::new();
    for column in csv.lines().next().unwrap().split(',') {
        assert!(seen.insert(column.to_owned()), "{case}: {column} twice");
    }
    seen
}

/// Columns that belong to joints of a model.
fn of_joints(model: &ShippedModel, columns: &BTreeSet<String>) -> BTreeSet<String> {
    let spec = load_text(model.name, model.text, &[]).unwrap().spec;
    let is_of = |column: &&String| {
        let mut joints = spec.joint.iter();
        // orientations of tips are a tree's own
        !column.contains(".tip.")
            && joints.any(|joint| column.starts_with(&format!("{}.", joint.name)))
    };
    columns.iter().filter(is_of).cloned().collect()
}

/// Every verb answers, no name stands twice, and a joint has one name in both formulations.
#[test]
fn every_model_goes_through_every_verb() {
    let (half, rest): (Vec<_>, Vec<_>) =
        (models::all().iter().enumerate()).partition(|(index, _)| index % 2 == 0);
    std::thread::scope(|scope| {
        let threads = [half, rest].map(|models| {
            scope.spawn(move || models.into_iter().for_each(|(_, model)| in_both(model)))
        });
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

fn in_both(model: &'static ShippedModel) {
    let [tree, nodal] = ["tree", "nodal"].map(|formulation| {
        let case = Case { model, formulation };
        case.through_every_verb()
    });
    let (Some([run, perturbed]), Some([nodal_run, nodal_perturbed])) = (tree, nodal) else {
        return;
    };
    // coordinates that loops solve for and inputs on them are the tree's to tell, not the elements'; joints that turn in any
    // way deviate in axes of their own
    let coordinates = |columns| {
        let mut columns = of_joints(model, columns);
        let of_axes = |column: &String| {
            [".angle", ".displacement"]
                .iter()
                .any(|x| column.contains(x))
        };
        columns.retain(|column| of_axes(column) && !column.contains("[N"));
        columns
    };
    let [tree, nodal] = [&run, &nodal_run].map(coordinates);
    assert_eq!(tree, nodal, "{}", model.name);
    let [tree, nodal] = [&perturbed, &nodal_perturbed].map(coordinates);
    assert!(nodal.is_subset(&tree), "{}: {tree:?} {nodal:?}", model.name);
}
