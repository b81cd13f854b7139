//! `lissom body`: a summary of a body of any shape, and the file that keeps it.

use std::io::Write as _;
use std::path::Path;

use lissom_io::body_summary::NamedBody;
use lissom_io::{atomic, body_file};
use serde_json::{Value, json};

use crate::arguments::{BodyArguments, NamedModel};
use crate::output::{counted, percent, short, vector};
use crate::source;
use crate::stop::Stop;

/// Shows a reduced body, and writes it if asked to.
pub(crate) fn run(arguments: &BodyArguments) -> Result<(), Stop> {
    for path in arguments.out.iter().chain(&arguments.page) {
        atomic::refuse_unwritable(path)?;
    }
    let found = found(arguments)?;
    let (text, crc32) = body_file::text(&found.body)?;
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
    let words = in_words(&found);
    if let Some(path) = &arguments.page {
        atomic::write(path, |out| out.write_all(page(&found).as_bytes()))?;
    }
    (arguments.answer).give(&found.summary(crc32.clone()), || {
        let page = (arguments.page.iter()).map(|path| format!("\nWrote {}", path.display()));
        format!("{words}\n{kept}{}", page.collect::<String>())
    })
}

/// The page of a body: its modes, moving, and all that is said of it.
pub(crate) fn page(found: &NamedBody) -> String {
    lissom_report::body_html(&found.name, &in_words(found), &drawn(found))
}

/// What a page needs to draw the modes of a body.
fn drawn(found: &NamedBody) -> Value {
    let modes: Vec<Value> = (found.modes().iter())
        .map(|mode| json!({ "frequency_rad_per_s": mode.frequency_rad_per_s }))
        .collect();
    let surface = found.body.surface.as_ref().map(|own| {
        json!({
            "positions_m": own.positions_m,
            "triangles": own.triangles,
            "displacement": own.displacement,
            "stress_pa": own.stress_pa,
        })
    });
    json!({ "modes": modes, "surface": surface })
}

/// The body that was named.
fn found(arguments: &BodyArguments) -> Result<NamedBody, Stop> {
    let named = arguments.body.as_str();
    let path = Path::new(named);
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    if is_json && (path.exists() || !named.contains(':')) {
        return Ok(NamedBody::read(path)?);
    }
    let Some((model, name)) = named.rsplit_once(':') else {
        return Err(Stop::Usage(format!(
            "{named:?} is neither a body file (.json) nor MODEL:BODY; write for example arm.toml:link"
        )));
    };
    let loaded = source::load(&NamedModel::with(model, &arguments.set))?;
    Ok(NamedBody::of(&loaded, model, name)?)
}

/// Share of the mass of a mode that is worth telling.
const VISIBLE_SHARE: f64 = 1e-4;

fn in_words(found: &NamedBody) -> String {
    let NamedBody {
        name,
        body,
        source: mesh,
        warnings,
    } = found;
    let mesh = mesh.as_ref();
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
        lines.extend(mesh.left_out.map(|share| {
            format!(
                "  left out         {} of the deformation under accelerations of the first interface",
                percent(share)
            )
        }));
        if mesh.from_displacements > VISIBLE_SHARE {
            lines.push(format!(
                "  rotations        up to {:.2} % of the mass of a mode is that of rotations of nodes, whose share in the inertia of the bent body is estimated",
                100.0 * mesh.from_displacements
            ));
        }
    }
    lines.extend((warnings.iter()).map(|what| format!("  warning          {what}")));
    lines.push(String::new());
    lines.push(match body.second_order {
        Some(_) => "  mode   rad/s        Hz           share of mass along x, y, z      ω² grows by Ω² about x, y, z times".to_owned(),
        None => "  mode   rad/s        Hz           share of mass along x, y, z".to_owned(),
    });
    for (index, mode) in found.modes().iter().enumerate() {
        let omega = mode.frequency_rad_per_s;
        let share = mode.mass_share.map(|share| format!("{share:.4}")).join(" ");
        let stiffening = mode.rotation_stiffening.map_or_else(String::new, |own| {
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
                // rounding may be below zero
                .map(|share| format!("{:.2}", 100.0 * share.max(0.0)))
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
