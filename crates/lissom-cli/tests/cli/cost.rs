//! What `check` says a run will cost is what it costs, to a factor of three.

use lissom::cost::{CostUnknown, cost_ahead};
use lissom::{Override, sample_instants};
use lissom_io::load::load_text;
use lissom_io::models::{self, ShippedModel};

use crate::Folder;

/// What is promised.
const FACTOR: f64 = 3.0;
/// Variants of models that are tried, whose runs take half a million evaluations.
const DEAR: [&str; 3] = [
    "shuttle-arm-slow",
    "shuttle-arm-element",
    "shuttle-arm-two-elements",
];

/// Evaluations that were foretold over those of the run; none where it was said that they are not known.
fn ratio(model: &ShippedModel, changes: &[&str]) -> Option<f64> {
    let changes = changes.iter().map(|text| Override::parse(text).unwrap());
    let loaded = load_text(model.name, model.text, &changes.collect::<Vec<_>>()).unwrap();
    let ahead = cost_ahead(&loaded.mechanism).evaluations.ok()?;
    let run = loaded.mechanism.run(&sample_instants(&loaded.spec, &[]));
    Some(ahead as f64 / run.statistics.evaluations as f64)
}

fn is_off(ratio: Option<f64>) -> bool {
    ratio.is_some_and(|ratio| !(1.0 / FACTOR..=FACTOR).contains(&ratio))
}

#[test]
fn what_runs_cost_is_foretold() {
    let models = models::all().iter();
    let models: Vec<_> = models.filter(|model| !DEAR.contains(&model.name)).collect();
    let found = models.iter().map(|model| (model.name, ratio(model, &[])));
    let (known, unknown): (Vec<_>, Vec<_>) = found.partition(|(_, ratio)| ratio.is_some());
    let wrong: Vec<_> = known
        .into_iter()
        .filter(|&(_, ratio)| is_off(ratio))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // to say so is allowed, but not the answer to everything
    assert!(unknown.len() <= models.len() / 4, "{unknown:?}");
}

#[test]
fn every_method_in_either_formulation_is_foretold() {
    let model = models::find("two-link-arm").unwrap();
    for formulation in ["", "formulation.nodal.elements_per_link=2"] {
        for integrator in [
            "auto={}",
            "dop853={}",
            "dopri5={}",
            "adams={}",
            "radau={}",
            "esdirk={}",
            "generalized_alpha={step_s=2e-3}",
            "newmark={step_s=2e-3}",
        ] {
            let integrator = format!("simulation.integrator={{{integrator}}}");
            let mut changes = vec![integrator.as_str()];
            changes.extend((!formulation.is_empty()).then_some(formulation));
            let found = ratio(&model, &changes);
            assert!(!is_off(found), "{changes:?}: {found:?}");
        }
    }
}

/// Torques are let go at half time, after half a million evaluations.
#[test]
fn what_jumps_later_on_is_not_foretold() {
    let model = models::find("shuttle-arm-ii").unwrap();
    let loaded = load_text(model.name, model.text, &[]).unwrap();
    let unknown = cost_ahead(&loaded.mechanism).evaluations.unwrap_err();
    assert_eq!(unknown, CostUnknown::Jumps { at_s: 10.0 });
}

#[test]
fn what_cannot_begin_has_no_cost() {
    let model = models::find("flying-spaghetti").unwrap();
    let nowhere = Override::parse("simulation.initial=\"equilibrium\"").unwrap();
    let loaded = load_text(model.name, model.text, &[nowhere]).unwrap();
    let ahead = cost_ahead(&loaded.mechanism);
    let fails = matches!(ahead.evaluations, Err(CostUnknown::Fails(_)));
    assert!(fails && ahead.tried == 0, "{ahead:?}");
}

#[test]
fn check_tells_the_cost() {
    let folder = Folder::new();
    let answer = folder.lissom(&["check", "two-link-arm"]);
    answer.says(
        0,
        &[
            "cost of a run       about ",
            " evaluations of the equations of motion, ",
        ],
    );
    let cost = folder.json(&["check", "two-link-arm", "--json"])["cost"].clone();
    assert!(cost["evaluations"].as_u64().unwrap() > cost["tried_evaluations"].as_u64().unwrap());
}
