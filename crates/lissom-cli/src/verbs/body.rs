//! `lissom body`: what was understood of a body of any shape, and the file that keeps it.

use std::io::Write as _;
use std::path::Path;

use lissom::spec::{BodySpec, ReducedSpec};
use lissom_fe::Source;
use lissom_io::{atomic, body_file, resource};
use lissom_spec::nearest;
use serde_json::{Value, json};

use crate::arguments::{BodyArguments, NamedModel};
use crate::output::{counted, short, vector};
use crate::source;
use crate::stop::Stop;

/// Shows a reduced body, and writes it if asked to.
pub(crate) fn run(arguments: &BodyArguments) -> Result<(), Stop> {
    for path in arguments.out.iter().chain(&arguments.page) {
        atomic::refuse_unwritable(path)?;
    }
    let (name, body, mesh) = found(arguments)?;
    let (text, crc32) = body_file::text(&body)?;
    if let Some(path) = &arguments.out {
        atomic::write(path, |out| out.write_all(text.as_bytes()))?;
    }
    let kept = match &arguments.out {
        Some(path) => format!(
            "Wrote {} ({crc32}); in a model: reduced_file = {:?}",
            path.display(),
            path.file_name().unwrap_or_default().display().to_string()
        ),
        None => format!(
            "Content {crc32}; --out FILE keeps the body, so that no run has to reduce it again"
        ),
    };
    let words = in_words(&name, &body, mesh.as_ref());
    if let Some(path) = &arguments.page {
        let page = lissom_report::body_html(&name, &words, &drawn(&body));
        atomic::write(path, |out| out.write_all(page.as_bytes()))?;
    }
    (arguments.answer).give(&as_json(&name, &body, mesh.as_ref(), &crc32), || {
        let page = (arguments.page.iter()).map(|path| format!("\nWrote {}", path.display()));
        format!("{words}\n{kept}{}", page.collect::<String>())
    })
}

/// What a page needs to draw the modes of a body.
fn drawn(body: &ReducedSpec) -> Value {
    let modes: Vec<Value> = (modes(body).iter())
        .map(|mode| json!({ "frequency_rad_per_s": mode.frequency_rad_per_s }))
        .collect();
    let surface = body.surface.as_ref().map(|own| {
        json!({
            "positions_m": own.positions_m,
            "triangles": own.triangles,
            "displacement": own.displacement,
            "stress_pa": own.stress_pa,
        })
    });
    json!({ "modes": modes, "surface": surface })
}

/// The body that was named, with what it was reduced from if that was done now.
fn found(arguments: &BodyArguments) -> Result<(String, ReducedSpec, Option<Source>), Stop> {
    let named = arguments.body.as_str();
    let path = Path::new(named);
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    if is_json && (path.exists() || !named.contains(':')) {
        let text = resource::read_text(path)?;
        let body = body_file::parse_checked(named, &text)?;
        return Ok((named.to_owned(), body, None));
    }
    let Some((model, name)) = named.rsplit_once(':') else {
        return Err(Stop::Usage(format!(
            "{named:?} is neither a body file (.json) nor MODEL:BODY; write for example arm.toml:link"
        )));
    };
    let mut loaded = source::load(&NamedModel::with(model, &arguments.set))?;
    let is_named = |body: &&mut BodySpec| body.name == name;
    let names: Vec<String> = loaded
        .spec
        .body
        .iter()
        .map(|body| body.name.clone())
        .collect();
    let Some(body) = loaded.spec.body.iter_mut().find(is_named) else {
        let hint = nearest(name, names.iter().map(String::as_str));
        let hint = hint.map_or_else(
            || names.join(", "),
            |near| format!("did you mean {near:?}?"),
        );
        return Err(Stop::Failed(format!(
            "{model} has no body {name:?}: {hint}"
        )));
    };
    let Some(reduced) = body.reduced.take() else {
        return Err(Stop::Failed(format!(
            "{name} is not reduced from a mesh, a frame or a body file; `lissom check {model}` tells of beams, rigid and nodal bodies"
        )));
    };
    let mesh = loaded.meshes.remove(name);
    Ok((name.to_owned(), reduced, mesh))
}

/// Share of the mass of a mode that is worth telling.
const VISIBLE_SHARE: f64 = 1e-4;

/// A mode of the body with its frame held.
struct ModeSummary {
    frequency_rad_per_s: f64,
    /// Share of the mass that moves along x, y and z.
    mass: [f64; 3],
    /// Growth of the squared frequency per square of the angular velocity about x, y and z, without what the mass of the mode
    /// takes away.
    stiffening: Option<[f64; 3]>,
}

/// The modes of a body whose coordinates are its modes, as all are that are reduced here; of another one, its coordinates.
fn modes(body: &ReducedSpec) -> Vec<ModeSummary> {
    let mode = |alpha: usize| {
        let modal_mass = body.mass_matrix[alpha][alpha];
        ModeSummary {
            frequency_rad_per_s: (body.stiffness[alpha][alpha] / modal_mass).sqrt(),
            mass: body.displacement_integrals[alpha].map(|p| p * p / (modal_mass * body.mass_kg)),
            stiffening: body.second_order.as_ref().map(|second_order| {
                let along = |axis: usize| second_order.position_integrals[axis][axis][alpha][alpha];
                // ω×(ω×r) = −ω²r across the axis
                [0, 1, 2].map(|axis| {
                    let across = (0..3).filter(|&other| other != axis);
                    -across.map(along).sum::<f64>() / modal_mass
                })
            }),
        }
    };
    (0..body.stiffness.len()).map(mode).collect()
}

fn in_words(name: &str, body: &ReducedSpec, mesh: Option<&Source>) -> String {
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = body.inertia_kg_m2;
    let mut lines = vec![
        format!("{name}: {} kg", short(body.mass_kg)),
        format!("  centre of mass   {} m", vector(&body.center_of_mass_m)),
        format!(
            "  inertia there    xx yy zz {}, xy xz yz {} kg m2",
            vector(&[xx, yy, zz]),
            vector(&[xy, xz, yz])
        ),
    ];
    if let Some(mesh) = mesh {
        let elements = match mesh.elements {
            0 => "matrices".to_owned(),
            count => counted(count, "element"),
        };
        lines.push(format!(
            "  mesh             {elements}, {}",
            counted(mesh.unknowns, "unknown")
        ));
        if let Some(chosen) = &mesh.chosen {
            lines.push(format!(
                "  basis            {}, as {}",
                chosen.basis.modes().0,
                chosen.reason
            ));
        }
        if mesh.from_displacements > VISIBLE_SHARE {
            lines.push(format!(
                "  rotations        up to {:.2} % of the mass of a mode is that of rotations of nodes, whose share in the inertia of the bent body is estimated",
                100.0 * mesh.from_displacements
            ));
        }
    }
    lines.push(String::new());
    lines.push(match body.second_order {
        Some(_) => "  mode   rad/s        Hz           share of mass along x, y, z      ω² grows by Ω² about x, y, z times".to_owned(),
        None => "  mode   rad/s        Hz           share of mass along x, y, z".to_owned(),
    });
    for (index, mode) in modes(body).iter().enumerate() {
        let omega = mode.frequency_rad_per_s;
        let share = mode.mass.map(|share| format!("{share:.4}")).join(" ");
        let stiffening = mode.stiffening.map_or_else(String::new, |own| {
            own.map(|own| format!("{own:>9.4}")).join(" ")
        });
        lines.push(format!(
            "  {:<6} {:<12} {:<12} {share:<32} {stiffening}",
            index + 1,
            short(omega),
            short(omega / std::f64::consts::TAU)
        ));
    }
    lines.push(String::new());
    for node in &body.nodes {
        let held = if node.influence.is_empty() {
            "held: the body's frame is tangent here"
        } else {
            "moves"
        };
        lines.push(format!(
            "  node {:<12} {} m, {held}",
            node.name,
            vector(&node.position_m)
        ));
        let interfaces = mesh.map_or(&[][..], |mesh| &mesh.interfaces);
        let residual = interfaces.iter().find(|own| own.interface == node.name);
        if let Some(residual) = residual {
            let share = residual
                .missing
                .map(|share| format!("{:.2}", 100.0 * share))
                .join(" ");
            lines.push(format!(
                "       the modes leave out {share} % of its compliance to forces along and moments about x, y, z"
            ));
        }
    }
    lines.push(String::new());
    lines.push(if body.second_order.is_some() {
        "It stiffens under rotation, acceleration and loads at its nodes (shortening = \"kinematic\").".to_owned()
    } else {
        "It does not stiffen: it has no second-order data.".to_owned()
    });
    lines.join("\n")
}

fn as_json(name: &str, body: &ReducedSpec, mesh: Option<&Source>, crc32: &str) -> Value {
    let modes: Vec<Value> = (modes(body).iter())
        .map(|mode| {
            json!({
                "frequency_rad_per_s": mode.frequency_rad_per_s,
                "mass_share": mode.mass,
                "rotation_stiffening": mode.stiffening,
            })
        })
        .collect();
    let interfaces = mesh.map(|mesh| {
        let told = |own: &lissom_fe::Residual| json!({ "name": own.interface, "missing_compliance": own.missing });
        mesh.interfaces.iter().map(told).collect::<Vec<Value>>()
    });
    json!({
        "body": name,
        "crc32": crc32,
        "mass_kg": body.mass_kg,
        "center_of_mass_m": body.center_of_mass_m,
        "inertia_kg_m2": body.inertia_kg_m2,
        "modes": modes,
        "nodes": body.nodes.iter().map(|node| json!({ "name": node.name, "position_m": node.position_m })).collect::<Vec<Value>>(),
        "stiffens": body.second_order.is_some(),
        "mesh": mesh.map(|mesh| json!({
            "elements": mesh.elements,
            "unknowns": mesh.unknowns,
            "basis": mesh.chosen.as_ref().map(|chosen| json!({ "kind": chosen.basis.modes().0, "reason": chosen.reason })),
            "rotation_mass_share": mesh.from_displacements,
            "interfaces": interfaces,
        })),
    })
}
