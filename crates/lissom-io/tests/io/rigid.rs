//! Shipped models with rigid links.

use lissom::{Coordinate, CoordinateKind, Override};
use lissom_io::load::load_text;
use lissom_io::models;

/// Models that finite elements refuse with rigid links: a joint that is prescribed and a support hold the same, and which of the two
/// is to give way is not theirs to say. The tree takes the support for redundant.
const HELD_TWICE: [&str; 2] = ["sliding-boom", "sliding-links"];

/// Every shipped model can be put together with rigid links in both formulations, or says why not, and has no elastic
/// coordinate then.
#[test]
fn every_shipped_model_has_a_rigid_counterpart() {
    let mut refused = Vec::new();
    for model in models::all() {
        for formulation in ["tree", "{nodal={}}"] {
            let of_nodes = model.text.contains("[[element]]");
            if of_nodes && formulation == "tree" {
                continue;
            }
            let changes = [
                "fidelity.preset=rigid".to_owned(),
                format!("formulation={formulation}"),
            ];
            let changes: Vec<Override> = (changes.iter())
                .map(|change| Override::parse(change).expect("a change"))
                .collect();
            let Ok(loaded) = load_text(model.name, model.text, &changes) else {
                refused.push((model.name, formulation));
                continue;
            };
            let [positions, _] = loaded.mechanism.coordinates().expect("a start");
            // coordinates of nodes that move freely are not those of elements or bodies
            let elements = loaded.spec.element.iter().map(|element| &element.name);
            let bodies = loaded.spec.body.iter().map(|body| &body.name);
            let parts: Vec<String> = elements
                .chain(bodies)
                .map(|name| format!("{name}."))
                .collect();
            let deforms = |entry: &&Coordinate| {
                entry.kind == CoordinateKind::Elastic
                    && parts.iter().any(|part| entry.name.starts_with(part))
            };
            let deformation = positions.iter().find(deforms);
            assert_eq!(deformation, None, "{} {formulation}", model.name);
        }
    }
    assert_eq!(refused, HELD_TWICE.map(|name| (name, "{nodal={}}")));
}
