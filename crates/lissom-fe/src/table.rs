//! Nodes of a mesh from a table, and the unknowns of its matrices.

use std::collections::BTreeMap;

use crate::FeError;
use crate::mesh::{Group, Mesh};

/// Unknowns of a node: three displacements and three rotations.
pub(crate) const DIRECTIONS: usize = 6;

fn error(line: usize, message: impl Into<String>) -> FeError {
    let message = message.into();
    FeError::Text { line, message }
}

/// Lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (text.lines().enumerate()).map(|(index, line)| (index + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '%']))
}

/// Reads a table of nodes: number, x, y, z and, if wanted, a group, separated by commas; a first line of words is their head.
///
/// # Errors
/// With the line, if there is something else.
pub fn parse_nodes(text: &str) -> Result<Mesh, FeError> {
    let mut mesh = Mesh::default();
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    let mut known = std::collections::BTreeSet::new();
    for (index, (line, words)) in lines(text).enumerate() {
        let cells: Vec<&str> = words.split(',').map(str::trim).collect();
        let Ok(number) = cells[0].parse::<usize>() else {
            if index == 0 {
                continue;
            }
            return Err(error(
                line,
                format!("{:?} is no number of a node", cells[0]),
            ));
        };
        let (place, group) = match cells[1..] {
            [x, y, z] => ([x, y, z], ""),
            [x, y, z, group] => ([x, y, z], group),
            _ => {
                return Err(error(
                    line,
                    "expected node, x, y, z and, if wanted, a group, separated by commas",
                ));
            }
        };
        let mut position = [0.0; 3];
        for (coordinate, word) in position.iter_mut().zip(place) {
            let parsed = word.parse().ok().filter(|x: &f64| x.is_finite());
            *coordinate = parsed.ok_or_else(|| {
                error(
                    line,
                    format!("node {number} is at {word:?}, which is no number"),
                )
            })?;
        }
        if !known.insert(number) {
            return Err(error(line, format!("there are two nodes {number}")));
        }
        let node = mesh.nodes.len();
        mesh.nodes.push(position);
        mesh.numbers.push(number);
        if !group.is_empty() {
            let new = mesh.groups.len();
            let own = *groups.entry(group).or_insert(new);
            if own == new {
                mesh.groups.push(Group {
                    name: group.to_owned(),
                    ..Group::default()
                });
            }
            mesh.groups[own].nodes.insert(node);
        }
    }
    if mesh.nodes.is_empty() {
        return Err(error(
            1,
            "there are no nodes; write lines of node, x, y, z and, if wanted, a group",
        ));
    }
    Ok(mesh)
}

/// Reads the unknowns of matrices: a line `node.direction` for every row, as CalculiX writes them.
///
/// # Errors
/// With the line, if there is something else.
pub fn parse_unknowns(text: &str) -> Result<Vec<(usize, usize)>, FeError> {
    let unknown = |words: &str| {
        let (node, direction) = words.split_once('.')?;
        let direction = direction.parse::<usize>().ok()?.checked_sub(1)?;
        let is_known = direction < DIRECTIONS;
        is_known.then_some((node.trim().parse().ok()?, direction))
    };
    let read = |(line, words)| {
        unknown(words).ok_or_else(|| error(line, format!("expected node.direction with a direction from 1 to {DIRECTIONS}, found {words:?}")))
    };
    lines(text).map(read).collect()
}
