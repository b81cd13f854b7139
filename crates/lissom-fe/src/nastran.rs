//! Meshes and matrices from the bulk data of Nastran, in free, small and large fields.
//!
//! Read are `GRID` in the basic system, `CTETRA` (4 or 10 nodes), `CHEXA` (8 or 20), `PSOLID`, `MAT1`, `CONM2` (`masses`), `RBE2` and `SPC1`, whose nodes
//! are groups, `DMIG`, beams (`bars`), and `PARAM,WTMASS`. Elements of other kinds are told of, all other entries are passed over. Groups are called `PSOLID 1`, `RBE2 12`, `SPC1 3` after
//! their numbers; with beams every node is a group too, `GRID 5`.

mod bars;
mod masses;

use std::collections::{BTreeMap, BTreeSet};

use crate::FeError;
use crate::imported::Matrices;
use crate::matrix::Matrix;
use crate::mesh::{Group, MOST_IN_SETS, Mesh, Solid};
use crate::shape::Kind;
use lissom_spec::spec::MaterialSpec;

/// Nodes of a hexahedron of Nastran in the order of Abaqus: middles of upright edges stand before those of the top.
const HEXA20: [usize; 20] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15,
];

/// Elements and connections that would be missing if they were passed over.
const REFUSED: [&str; 43] = [
    "CBEAM3", "CBEND", "CBUSH", "CBUSH1D", "CBUSH2D", "CELAS1", "CELAS2", "CELAS3", "CELAS4",
    "CFAST", "CGAP", "CMASS1", "CMASS2", "CMASS3", "CMASS4", "CONM1", "CONROD", "CPENTA", "CPYRA",
    "CPYRAM", "CQUAD", "CQUAD4", "CQUAD8", "CQUADR", "CQUADX", "CROD", "CSEAM", "CSHEAR", "CTRIA3",
    "CTRIA6", "CTRIAR", "CTRIAX", "CTRIAX6", "CTUBE", "CWELD", "GENEL", "MPC", "RBAR", "RBE1",
    "RBE3", "RROD", "RSPLINE", "RTRPLT",
];

/// An entry of the bulk data with all that continues it.
struct Entry<'t> {
    line: usize,
    name: String,
    /// The fields behind the name, blank ones too.
    fields: Vec<&'t str>,
}

impl Entry<'_> {
    fn error(&self, message: impl Into<String>) -> FeError {
        FeError::Text {
            line: self.line,
            message: message.into(),
        }
    }

    fn field(&self, index: usize) -> &str {
        self.fields.get(index).copied().unwrap_or_default()
    }

    fn integer(&self, index: usize, what: &str) -> Result<usize, FeError> {
        let word = self.field(index);
        let none = || self.error(format!("{}: expected {what}, found {word:?}", self.name));
        word.parse().map_err(|_| none())
    }

    /// A number, zero if it is blank; `1.5-3` is 1.5e-3.
    fn real(&self, index: usize, what: &str) -> Result<f64, FeError> {
        let word = self.field(index);
        if word.is_empty() {
            return Ok(0.0);
        }
        let mut text = word.replace(['d', 'D', 'E'], "e");
        let sign = text.rfind(['+', '-']).filter(|&at| at > 0);
        if let Some(at) = sign
            && !text[..at].ends_with('e')
        {
            text.insert(at, 'e');
        }
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
        let none = || self.error(format!("{}: expected {what}, found {word:?}", self.name));
        parsed.ok_or_else(none)
    }

    /// The nodes of the fields from one on, `1 THRU 5` among them.
    fn nodes(&self, from: usize) -> Result<Vec<usize>, FeError> {
        let mut nodes: Vec<usize> = Vec::new();
        let mut index = from;
        while index < self.fields.len() {
            let word = self.field(index);
            if word.eq_ignore_ascii_case("THRU") {
                let last = self.integer(index + 1, "the last node after THRU")?;
                let first = nodes.last().copied().unwrap_or(last);
                if last.saturating_sub(first) > MOST_IN_SETS.saturating_sub(nodes.len()) {
                    return Err(self.error("THRU names more nodes than a file can hold"));
                }
                nodes.extend(first + 1..=last);
                index += 1;
            } else if !word.is_empty() {
                nodes.push(self.integer(index, "a node")?);
            }
            index += 1;
        }
        Ok(nodes)
    }
}

/// The entries of a text; what stands before `BEGIN BULK` is not among them.
fn entries(text: &str) -> Result<Vec<Entry<'_>>, FeError> {
    let is_begin = |line: &str| line.trim().to_ascii_uppercase().starts_with("BEGIN");
    let skipped = text.lines().position(is_begin).map_or(0, |at| at + 1);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate().skip(skipped) {
        let line = line.split('$').next().unwrap_or_default().trim_end();
        if line.trim().is_empty() {
            continue;
        }
        if line.trim().eq_ignore_ascii_case("ENDDATA") {
            break;
        }
        if !line.is_ascii() {
            let message = "the bulk data of Nastran has letters without accents only".to_owned();
            let line = index + 1;
            return Err(FeError::Text { line, message });
        }
        let (name, fields) = split(line).map_err(|message| FeError::Text {
            line: index + 1,
            message,
        })?;
        let name = name.trim_end_matches('*').to_ascii_uppercase();
        if name.is_empty() || name.starts_with(['+', '*']) {
            let Some(last) = entries.last_mut() else {
                continue;
            };
            last.fields.extend(fields);
        } else {
            let line = index + 1;
            entries.push(Entry { line, name, fields });
        }
    }
    Ok(entries)
}

/// The name of a line and its fields, without those of continuation.
///
/// # Errors
/// With words, if a line in free fields has more of them than a line holds.
fn split(line: &str) -> Result<(&str, Vec<&str>), String> {
    if line.contains(',') {
        let mut words = line.split(',').map(str::trim);
        let name = words.next().unwrap_or_default();
        let count = if name.contains('*') { 4 } else { 8 };
        let mut fields: Vec<&str> = words.by_ref().take(count).collect();
        fields.resize(count, "");
        // the next word names the line that continues this one
        if let Some(more) = words.skip(1).find(|word| !word.is_empty()) {
            return Err(format!(
                "a line in free fields holds {count} fields behind its name and the name of its continuation, and {more:?} stands behind them; write it in a line \
                 of its own that begins with a comma"
            ));
        }
        return Ok((name, fields));
    }
    let cut = |from: usize, to: usize| {
        let to = to.min(line.len());
        line.get(from.min(to)..to).unwrap_or_default().trim()
    };
    let name = cut(0, 8);
    let fields = if name.contains('*') {
        (0..4).map(|k| cut(8 + 16 * k, 24 + 16 * k)).collect()
    } else {
        (0..8).map(|k| cut(8 + 8 * k, 16 + 8 * k)).collect()
    };
    Ok((name, fields))
}

/// Reads a mesh.
///
/// # Errors
/// With the line, if an entry that is read is not as it should be, or if there are elements of another kind.
pub fn parse(text: &str) -> Result<Mesh, FeError> {
    let entries = entries(text)?;
    let mut mesh = Mesh::default();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    // nodes whose displacements are not along the axes of the basic system
    let mut turned: BTreeSet<usize> = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.name == "GRID") {
        let number = entry.integer(0, "the number of a node")?;
        if !matches!(entry.field(1), "" | "0") {
            return Err(
                entry.error("GRID: only the basic coordinate system is read; write nodes in it")
            );
        }
        let mut position = [0.0; 3];
        for (k, coordinate) in position.iter_mut().enumerate() {
            *coordinate = entry.real(2 + k, "a coordinate")?;
        }
        if !matches!(entry.field(5), "" | "0") {
            turned.insert(mesh.nodes.len());
        }
        if places.insert(number, mesh.nodes.len()).is_some() {
            return Err(entry.error(format!("there are two nodes {number}")));
        }
        mesh.nodes.push(position);
        mesh.numbers.push(number);
    }
    if mesh.nodes.is_empty() {
        let message = "there is no GRID; give the bulk data of Nastran".to_owned();
        return Err(FeError::Text { line: 1, message });
    }
    let located = |entry: &Entry<'_>, nodes: Vec<usize>| -> Result<Vec<usize>, FeError> {
        let place = |node: usize| {
            let none = || {
                entry.error(format!(
                    "{} has the node {node}, which is not there",
                    entry.name
                ))
            };
            places.get(&node).copied().ok_or_else(none)
        };
        nodes.into_iter().map(place).collect()
    };
    refuse_repeated(&entries)?;
    let mut groups = Groups::default();
    let mut materials: BTreeMap<usize, MaterialSpec> = BTreeMap::new();
    let mut properties: Vec<(usize, usize)> = Vec::new();
    let mut of_beams = BTreeMap::new();
    let mut beams = Vec::new();
    let mut weight_to_mass = 1.0;
    for entry in &entries {
        match entry.name.as_str() {
            "CBAR" | "CBEAM" => beams.push(bars::bar(entry, located, &turned)?),
            "PBAR" | "PBARL" | "PBEAM" => {
                let (number, property) = bars::property(entry)?;
                of_beams.insert(number, property);
            }
            "CTETRA" | "CHEXA" => {
                let number = entry.integer(0, "the number of an element")?;
                let property = entry.integer(1, "a property")?;
                let nodes = located(entry, entry.nodes(2)?)?;
                let kind = match (entry.name.as_str(), nodes.len()) {
                    ("CTETRA", 4) => Kind::Tetra4,
                    ("CTETRA", 10) => Kind::Tetra10,
                    ("CHEXA", 8) => Kind::Hexa8,
                    ("CHEXA", 20) => Kind::Hexa20,
                    (name, count) => {
                        return Err(
                            entry.error(format!("element {number} ({name}) has {count} nodes"))
                        );
                    }
                };
                let nodes = match kind {
                    Kind::Hexa20 => HEXA20.iter().map(|&k| nodes[k]).collect(),
                    _ => nodes,
                };
                let group = groups.add(&mut mesh, format!("PSOLID {property}"), &nodes);
                mesh.solids.push(Solid {
                    number,
                    kind,
                    nodes,
                    groups: vec![group],
                });
            }
            "PSOLID" => properties.push((
                entry.integer(0, "the number of a property")?,
                entry.integer(1, "a material")?,
            )),
            "MAT1" => {
                let number = entry.integer(0, "the number of a material")?;
                let [young, shear, ratio] =
                    [1, 2, 3].map(|k| entry.real(k, "a modulus or a ratio"));
                let (young, shear, ratio) = (young?, shear?, ratio?);
                // any two of three may be given
                let (young, ratio) = match (entry.field(1), entry.field(3)) {
                    (_, "") if shear > 0.0 => (young, 0.5 * young / shear - 1.0),
                    ("", _) => (2.0 * shear * (1.0 + ratio), ratio),
                    _ => (young, ratio),
                };
                let material = MaterialSpec {
                    group: None,
                    youngs_modulus_pa: young,
                    poisson_ratio: ratio,
                    density_kg_per_m3: entry.real(4, "a density")?,
                };
                let is_sound =
                    young > 0.0 && ratio > -1.0 && ratio < 0.5 && material.density_kg_per_m3 > 0.0;
                if !is_sound {
                    return Err(entry.error(format!(
                        "MAT1 {number} has Young's modulus {young}, Poisson's ratio {ratio} and density {}; moduli and density must be positive, the ratio above -1 and below 0.5",
                        material.density_kg_per_m3
                    )));
                }
                materials.insert(number, material);
            }
            "CONM2" => {
                let node = located(entry, vec![entry.integer(1, "a node")?])?[0];
                mesh.lumps.extend(masses::lump(entry, node)?);
            }
            "RBE2" => {
                let number = entry.integer(0, "the number of an element")?;
                let nodes = located(entry, groups.set(entry, 3)?)?;
                groups.add(&mut mesh, format!("RBE2 {number}"), &nodes);
            }
            "SPC1" => {
                let number = entry.integer(0, "the number of a set")?;
                let nodes = located(entry, groups.set(entry, 2)?)?;
                groups.add(&mut mesh, format!("SPC1 {number}"), &nodes);
            }
            "INCLUDE" => {
                return Err(entry.error("INCLUDE is not read; write all entries into one file"));
            }
            "GRDSET" if !matches!(entry.field(1), "" | "0") => {
                return Err(entry
                    .error("GRDSET: only the basic coordinate system is read; write nodes in it"));
            }
            "PARAM" if entry.field(0).eq_ignore_ascii_case("WTMASS") => {
                weight_to_mass = entry.real(1, "the factor from weight to mass")?;
            }
            name if REFUSED.contains(&name) => {
                let unread = entry.error(format!(
                    "{name} is not read; use CTETRA and CHEXA, or CBAR and CBEAM, or write the matrices (DMIG) of the whole"
                ));
                mesh.unread.get_or_insert(unread);
            }
            _ => {}
        }
    }
    for (property, material) in properties {
        if let Some(material) = materials.get(&material)
            && groups.places.contains_key(&format!("PSOLID {property}"))
        {
            mesh.materials.push(MaterialSpec {
                group: Some(format!("PSOLID {property}")),
                ..material.clone()
            });
        }
    }
    for own in &beams {
        let bar = bars::finished(own, &mesh.nodes, &of_beams, &materials, beams.len())?;
        mesh.bars.push(bar);
    }
    mesh.scale_mass(weight_to_mass);
    let ends: BTreeSet<usize> = mesh.bars.iter().flat_map(|bar| bar.nodes).collect();
    for node in ends {
        mesh.groups.push(Group {
            name: format!("GRID {}", mesh.numbers[node]),
            nodes: BTreeSet::from([node]),
        });
    }
    Ok(mesh)
}

/// Asks for one entry of every number: elements, masses, rigid elements, materials and properties are each numbered through.
fn refuse_repeated(entries: &[Entry<'_>]) -> Result<(), FeError> {
    let mut lines: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for entry in entries {
        let kind = match entry.name.as_str() {
            "CTETRA" | "CHEXA" | "CBAR" | "CBEAM" => "elements",
            "CONM2" => "masses",
            "RBE2" => "rigid elements",
            "MAT1" => "materials",
            "PSOLID" | "PBAR" | "PBARL" | "PBEAM" => "properties",
            _ => continue,
        };
        let number = entry.integer(0, "its number")?;
        if let Some(line) = lines.insert((kind, number), entry.line) {
            return Err(entry.error(format!(
                "there are two {kind} {number}, the first in line {line}; keep one, or number them differently"
            )));
        }
    }
    Ok(())
}

/// Groups of a mesh in the making.
#[derive(Default)]
struct Groups {
    /// Their places in the mesh by name.
    places: BTreeMap<String, usize>,
    /// Nodes that sets have named so far.
    in_sets: usize,
}

impl Groups {
    /// The nodes that a set names from a field on.
    fn set(&mut self, entry: &Entry<'_>, from: usize) -> Result<Vec<usize>, FeError> {
        let nodes = entry.nodes(from)?;
        self.in_sets += nodes.len();
        if self.in_sets > MOST_IN_SETS {
            let message = format!("the sets of the file name more than {MOST_IN_SETS} nodes");
            return Err(entry.error(message));
        }
        Ok(nodes)
    }

    /// Adds nodes to the group of that name, which may be new.
    fn add(&mut self, mesh: &mut Mesh, name: String, nodes: &[usize]) -> usize {
        let group = *self.places.entry(name).or_insert_with_key(|name| {
            mesh.groups.push(Group {
                name: name.clone(),
                nodes: BTreeSet::new(),
            });
            mesh.groups.len() - 1
        });
        mesh.groups[group].nodes.extend(nodes);
        group
    }
}

/// A matrix of `DMIG` entries: values by node and direction, from 0, of columns and rows.
pub struct Dmig {
    entries: Vec<([(usize, usize); 2], f64)>,
    is_symmetric: bool,
}

/// Whether a text holds matrices of Nastran.
pub fn is_dmig(text: &str) -> bool {
    text.lines()
        .any(|line| line.to_ascii_uppercase().starts_with("DMIG"))
}

/// Reads the one matrix of a text whose name begins with a letter: K for stiffness, M for mass.
///
/// # Errors
/// If there is none or more than one, or if one is complex or not square.
pub fn parse_dmig(text: &str, initial: char) -> Result<Dmig, FeError> {
    let entries = entries(text)?;
    let is_of = |entry: &&Entry<'_>| {
        entry.name == "DMIG" && entry.field(0).to_ascii_uppercase().starts_with(initial)
    };
    let own: Vec<&Entry<'_>> = entries.iter().filter(is_of).collect();
    let names: BTreeSet<&str> = own.iter().map(|entry| entry.field(0)).collect();
    let Some(head) = own.first() else {
        let message = format!("there is no matrix (DMIG) whose name begins with {initial}");
        return Err(FeError::Text { line: 1, message });
    };
    if names.len() > 1 {
        let names: Vec<&str> = names.into_iter().collect();
        return Err(head.error(format!(
            "there are several matrices whose names begin with {initial}: {}; keep one",
            names.join(", ")
        )));
    }
    let form = head.field(2);
    if head.field(1) != "0" || !matches!(form, "1" | "6") || !matches!(head.field(3), "1" | "2") {
        return Err(head.error(
            "DMIG: expected 0, the form 1 (square) or 6 (symmetric) and the type 1 or 2 (real)",
        ));
    }
    let mut matrix = Dmig {
        entries: Vec::new(),
        is_symmetric: form == "6",
    };
    for entry in &own[1..] {
        let column = unknown(entry, 1)?;
        let mut at = 4;
        while at < entry.fields.len() {
            if !entry.field(at).is_empty() {
                let value = entry.real(at + 2, "a value")?;
                matrix.entries.push(([unknown(entry, at)?, column], value));
            }
            at += 4;
        }
    }
    Ok(matrix)
}

fn unknown(entry: &Entry<'_>, at: usize) -> Result<(usize, usize), FeError> {
    let node = entry.integer(at, "a node")?;
    let direction = entry.integer(at + 1, "a direction from 1 to 6")?;
    if (1..=6).contains(&direction) {
        Ok((node, direction - 1))
    } else {
        Err(entry.error("DMIG: directions are 1 to 6; scalar points are not read"))
    }
}

/// Mass and stiffness over the unknowns of both.
///
/// # Errors
/// If one is not symmetric.
pub fn dmig_matrices(mass: Dmig, stiffness: Dmig) -> Result<Matrices, FeError> {
    let all = mass.entries.iter().chain(&stiffness.entries);
    let unknowns: BTreeSet<(usize, usize)> = all.flat_map(|(at, _)| *at).collect();
    let unknowns: Vec<(usize, usize)> = unknowns.into_iter().collect();
    let matrix = |own: Dmig| {
        let row = |at: &(usize, usize)| unknowns.binary_search(at).unwrap_or(0);
        let triplets = own.entries.iter();
        let triplets = triplets.map(|([i, j], value)| (row(i), row(j), *value));
        Matrix::of_triplets(unknowns.len(), triplets.collect(), own.is_symmetric)
    };
    Ok(Matrices {
        mass: matrix(mass)?,
        stiffness: matrix(stiffness)?,
        unknowns: Some(unknowns.clone()),
        geometric: Vec::new(),
    })
}
