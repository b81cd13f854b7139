//! Meshes from the text of Abaqus input files, which CalculiX reads too: `*NODE`, `*ELEMENT`, `*MASS`, `*NSET`, `*ELSET` and `*SURFACE`.
//!
//! Solid elements (C3D4, C3D10, C3D8, C3D20 and their variants of integration) become solids, whose groups are the sets that they are in;
//! `MASS` elements become masses of their nodes; other elements only give their nodes to their sets, and are told of where something makes them
//! stiff or heavy. Sets of nodes and of elements and surfaces of element faces are groups. Names are compared without
//! regard to case, as Abaqus does, and kept as they are first written. Keywords that are not needed are passed over; parts and instances, which
//! number their nodes anew, are refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::FeError;
use crate::mesh::{Group, Lump, MOST_IN_SETS, Mesh, Solid};
use crate::shape::Kind;

/// Corners of the faces S1, S2, … of a tetrahedron.
const TETRA_FACES: [&[usize]; 4] = [&[0, 1, 2], &[0, 3, 1], &[1, 3, 2], &[2, 3, 0]];

/// Corners of the faces S1, S2, … of a hexahedron.
const HEXA_FACES: [&[usize]; 6] = [
    &[0, 1, 2, 3],
    &[4, 7, 6, 5],
    &[0, 4, 5, 1],
    &[1, 5, 6, 2],
    &[2, 6, 7, 3],
    &[3, 7, 4, 0],
];

/// Keywords by which elements that are not read become stiff or heavy, or nodes are tied to each other.
const REFUSED: [&str; 16] = [
    "BEAM GENERAL SECTION",
    "BEAM SECTION",
    "CONNECTOR SECTION",
    "EQUATION",
    "FRAME SECTION",
    "GAP",
    "JOINT",
    "MEMBRANE SECTION",
    "MPC",
    "ROTARY INERTIA",
    "SHELL GENERAL SECTION",
    "SHELL SECTION",
    "SPRING",
    "TIE",
    "TRUSS SECTION",
    "USER ELEMENT",
];

/// Reads a mesh.
///
/// # Errors
/// With the line, if the text is not that of a flat input file, names what is not there or has solids of another kind.
pub fn parse(text: &str) -> Result<Mesh, FeError> {
    let mut parser = Parser::default();
    let mut keyword = Keyword::default();
    // a line that ends with a comma goes on in the next one
    let mut pending = String::new();
    for (index, line) in text.lines().enumerate() {
        parser.line = index + 1;
        let line = line.trim();
        if line.starts_with("**") || line.is_empty() {
            continue;
        }
        pending.push_str(line);
        if pending.ends_with(',') && (keyword.name == "ELEMENT" || pending.starts_with('*')) {
            continue;
        }
        let whole = std::mem::take(&mut pending);
        match whole.strip_prefix('*') {
            Some(words) => keyword = parser.begin(words)?,
            // what is wrong may follow from what is not read
            None => (parser.data(&keyword, &whole))
                .map_err(|error| parser.mesh.unread.take().unwrap_or(error))?,
        }
    }
    if parser.mesh.nodes.is_empty() {
        return Err(parser.error("there is no *NODE; give an input file of Abaqus or CalculiX"));
    }
    Ok(parser.finished())
}

/// A keyword with its parameters.
#[derive(Default)]
struct Keyword {
    name: String,
    parameters: BTreeMap<String, String>,
    /// The group that its data belong to.
    group: Option<usize>,
}

impl Keyword {
    fn has(&self, parameter: &str) -> bool {
        self.parameters.contains_key(parameter)
    }
}

#[derive(Default)]
struct Parser {
    line: usize,
    /// Places of nodes in the mesh by their number.
    nodes: BTreeMap<usize, usize>,
    /// Nodes of elements by their number, and the solid if it is one.
    elements: BTreeMap<usize, Element>,
    /// Groups by their names in capitals.
    groups: BTreeMap<String, usize>,
    /// Elements of each group.
    members: Vec<BTreeSet<usize>>,
    /// Nodes and elements that sets have named so far.
    in_sets: usize,
    /// The group of elements whose mass the next line of data gives.
    pending_mass: Option<usize>,
    mesh: Mesh,
}

struct Element {
    nodes: Vec<usize>,
    kind: Option<Kind>,
}

impl Parser {
    fn error(&self, message: impl Into<String>) -> FeError {
        FeError::Text {
            line: self.line,
            message: message.into(),
        }
    }

    /// The mesh, whose solids know the sets that they are in.
    fn finished(self) -> Mesh {
        let mut mesh = self.mesh;
        let places: BTreeMap<usize, usize> = (mesh.solids.iter().enumerate())
            .map(|(place, solid)| (solid.number, place))
            .collect();
        for (group, members) in self.members.iter().enumerate() {
            for place in members.iter().filter_map(|number| places.get(number)) {
                mesh.solids[*place].groups.push(group);
            }
        }
        mesh
    }

    /// Counts what a set names.
    fn count(&mut self, named: usize) -> Result<(), FeError> {
        self.in_sets += named;
        if self.in_sets > MOST_IN_SETS {
            let most = format!("{MOST_IN_SETS} nodes and elements");
            return Err(self.error(format!("the sets of the file name more than {most}")));
        }
        Ok(())
    }

    /// A line with a keyword.
    fn begin(&mut self, words: &str) -> Result<Keyword, FeError> {
        let mut words = words.split(',').map(str::trim);
        let name = words.next().unwrap_or_default().to_ascii_uppercase();
        let parameters: BTreeMap<String, String> = words
            .filter(|word| !word.is_empty())
            .map(|word| {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                let value = value.trim().trim_matches('"');
                (key.trim().to_ascii_uppercase(), value.to_owned())
            })
            .collect();
        if matches!(
            name.as_str(),
            "INSTANCE" | "PART" | "INCLUDE" | "SYSTEM" | "NGEN" | "ELGEN"
        ) {
            let remedy = match name.as_str() {
                // the words of Abaqus/CAE
                "INSTANCE" | "PART" => {
                    " (\"Do not use parts and assemblies in input files\" among the attributes of the model)"
                }
                _ => "",
            };
            return Err(self.error(format!(
                "*{name} is not read; write one flat file in which all nodes and elements are listed{remedy}"
            )));
        }
        let set = match name.as_str() {
            "MASS" => {
                let set = parameters.get("ELSET");
                let none = || self.error("*MASS does not name its elements (ELSET)");
                let known = self.known(set.ok_or_else(none)?)?;
                self.pending_mass = Some(known);
                None
            }
            name if REFUSED.contains(&name) => {
                let unread = self.error(format!(
                    "*{name} is not read; mesh all that bears loads with C3D4, C3D10, C3D8 or C3D20, or give mass and stiffness as matrices"
                ));
                self.mesh.unread.get_or_insert(unread);
                None
            }
            "NODE" | "NSET" => parameters.get("NSET"),
            "ELEMENT" | "ELSET" => parameters.get("ELSET"),
            "SURFACE" => parameters.get("NAME"),
            _ => None,
        };
        if set.is_none() && matches!(name.as_str(), "NSET" | "ELSET" | "SURFACE") {
            return Err(self.error(format!("*{name} has no name")));
        }
        let group = set.cloned().map(|set| self.group(&set));
        Ok(Keyword {
            name,
            parameters,
            group,
        })
    }

    /// The group of that name, which may be new.
    fn group(&mut self, name: &str) -> usize {
        let new = self.mesh.groups.len();
        let group = *self.groups.entry(name.to_ascii_uppercase()).or_insert(new);
        if group == new {
            self.members.push(BTreeSet::new());
            self.mesh.groups.push(Group {
                name: name.to_owned(),
                nodes: BTreeSet::new(),
            });
        }
        group
    }

    /// A line of data.
    fn data(&mut self, keyword: &Keyword, line: &str) -> Result<(), FeError> {
        let mut words: Vec<&str> = line.split(',').map(str::trim).collect();
        if words.last() == Some(&"") {
            words.pop();
        }
        match (keyword.name.as_str(), keyword.group) {
            ("NODE", group) => self.node(&words, group),
            ("ELEMENT", group) => self.element(keyword, &words, group),
            ("NSET", Some(group)) => self.set(keyword, &words, group, Self::add_node),
            ("ELSET", Some(group)) => self.set(keyword, &words, group, Self::add_element),
            ("SURFACE", Some(group)) => self.face(&words, group),
            ("MASS", _) => self.mass(&words),
            _ => Ok(()),
        }
    }

    fn number(&self, word: &str) -> Result<usize, FeError> {
        (word.parse()).map_err(|_| self.error(format!("expected a number, found {word:?}")))
    }

    fn node(&mut self, words: &[&str], group: Option<usize>) -> Result<(), FeError> {
        let number = self.number(words[0])?;
        let mut position = [0.0; 3];
        for (coordinate, word) in position.iter_mut().zip(&words[1..]) {
            let parsed = word.replace(['d', 'D'], "e").parse().ok();
            *coordinate = parsed.filter(|x: &f64| x.is_finite()).ok_or_else(|| {
                self.error(format!("node {number} is at {word:?}, which is no number"))
            })?;
        }
        let place = self.mesh.nodes.len();
        if self.nodes.insert(number, place).is_some() {
            return Err(self.error(format!("there are two nodes {number}")));
        }
        self.mesh.nodes.push(position);
        self.mesh.numbers.push(number);
        if let Some(group) = group {
            self.mesh.groups[group].nodes.insert(place);
        }
        Ok(())
    }

    fn element(
        &mut self,
        keyword: &Keyword,
        words: &[&str],
        group: Option<usize>,
    ) -> Result<(), FeError> {
        let named = keyword.parameters.get("TYPE").map_or("", String::as_str);
        let kind = self.kind(named);
        let number = self.number(words[0])?;
        let nodes = words[1..].iter().map(|word| {
            let node = self.number(word)?;
            let found = self.nodes.get(&node).copied();
            found.ok_or_else(|| {
                self.error(format!(
                    "element {number} has the node {node}, which is not there"
                ))
            })
        });
        let nodes = nodes.collect::<Result<Vec<usize>, FeError>>()?;
        if let Some(kind) = kind
            && nodes.len() != kind.nodes()
        {
            let (found, wanted) = (nodes.len(), kind.nodes());
            return Err(self.error(format!(
                "element {number} has {found} nodes, a {named} has {wanted}"
            )));
        }
        if let Some(kind) = kind {
            self.mesh.solids.push(Solid {
                number,
                kind,
                nodes: nodes.clone(),
                groups: Vec::new(),
            });
        }
        if self
            .elements
            .insert(number, Element { nodes, kind })
            .is_some()
        {
            return Err(self.error(format!("there are two elements {number}")));
        }
        if let Some(group) = group {
            self.members[group].insert(number);
            let nodes = &self.elements[&number].nodes;
            self.mesh.groups[group].nodes.extend(nodes);
        }
        Ok(())
    }

    /// The kind of solid that a type of elements is; none for those that are no solids.
    fn kind(&mut self, named: &str) -> Option<Kind> {
        let capitals = named.to_ascii_uppercase();
        let solid = capitals.strip_prefix("C3D")?;
        let digits = solid.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        match digits {
            "4" => Some(Kind::Tetra4),
            "10" => Some(Kind::Tetra10),
            "8" => Some(Kind::Hexa8),
            "20" => Some(Kind::Hexa20),
            _ => {
                let unread = self.error(format!(
                    "elements of the type {named} are not known; mesh with C3D4, C3D10, C3D8 or C3D20"
                ));
                self.mesh.unread.get_or_insert(unread);
                None
            }
        }
    }

    /// The line of `*MASS`: that of every element of its set.
    fn mass(&mut self, words: &[&str]) -> Result<(), FeError> {
        let Some(group) = self.pending_mass.take() else {
            return Ok(());
        };
        let parsed = words.first().and_then(|word| word.parse::<f64>().ok());
        let mass = parsed.filter(|mass| mass.is_finite() && *mass > 0.0);
        let mass = mass.ok_or_else(|| {
            self.error(format!(
                "*MASS: expected a mass above zero, found {words:?}"
            ))
        })?;
        for number in &self.members[group] {
            let nodes = self.elements.get(number).map(|element| &element.nodes[..]);
            let Some(&[node]) = nodes else {
                let message = format!(
                    "*MASS: element {number} has not one node, as elements of the type MASS have"
                );
                return Err(self.error(message));
            };
            self.mesh.lumps.push(Lump {
                node,
                mass,
                ..Lump::default()
            });
        }
        Ok(())
    }

    fn add_node(&mut self, number: usize, group: usize) -> Result<(), FeError> {
        let place = self.nodes.get(&number).copied();
        let place = place.ok_or_else(|| self.error(format!("there is no node {number}")))?;
        self.mesh.groups[group].nodes.insert(place);
        self.count(1)
    }

    fn add_element(&mut self, number: usize, group: usize) -> Result<(), FeError> {
        let Some(element) = self.elements.get(&number) else {
            return Err(self.error(format!("there is no element {number}")));
        };
        self.members[group].insert(number);
        self.mesh.groups[group].nodes.extend(&element.nodes);
        let nodes = element.nodes.len();
        self.count(1 + nodes)
    }

    /// A line of `*NSET` or `*ELSET`: numbers, other sets, or with GENERATE first, last and step.
    fn set(
        &mut self,
        keyword: &Keyword,
        words: &[&str],
        group: usize,
        add: fn(&mut Self, usize, usize) -> Result<(), FeError>,
    ) -> Result<(), FeError> {
        if keyword.has("GENERATE") {
            let numbers = words.iter().map(|word| self.number(word));
            let numbers = numbers.collect::<Result<Vec<usize>, FeError>>()?;
            let (first, last, step) = match numbers[..] {
                [first, last] => (first, last, 1),
                [first, last, step] if step > 0 => (first, last, step),
                _ => return Err(self.error("GENERATE takes a first number, a last one and a step")),
            };
            for number in (first..=last).step_by(step) {
                add(self, number, group)?;
            }
            return Ok(());
        }
        for word in words {
            if let Ok(number) = word.parse() {
                add(self, number, group)?;
                continue;
            }
            let other = self.known(word)?;
            let (nodes, members) = (
                self.mesh.groups[other].nodes.clone(),
                self.members[other].clone(),
            );
            self.count(nodes.len() + members.len())?;
            self.mesh.groups[group].nodes.extend(nodes);
            self.members[group].extend(members);
        }
        Ok(())
    }

    fn known(&self, name: &str) -> Result<usize, FeError> {
        let found = self
            .groups
            .get(&name.trim_matches('"').to_ascii_uppercase());
        found
            .copied()
            .ok_or_else(|| self.error(format!("there is no set {name:?} yet")))
    }

    /// A line of `*SURFACE`: an element or a set of them, and a face.
    fn face(&mut self, words: &[&str], group: usize) -> Result<(), FeError> {
        let elements = match words[0].parse() {
            Ok(number) => vec![number],
            Err(_) => self.members[self.known(words[0])?]
                .iter()
                .copied()
                .collect(),
        };
        self.count(elements.len())?;
        let Some(face) = words.get(1) else {
            // a surface of nodes
            let nodes = self.mesh.groups[self.known(words[0])?].nodes.clone();
            self.count(nodes.len())?;
            self.mesh.groups[group].nodes.extend(nodes);
            return Ok(());
        };
        let side = face
            .strip_prefix(['S', 's'])
            .and_then(|side| side.parse::<usize>().ok());
        let none = || {
            self.error(format!(
                "{face:?} is no face of a solid element; faces are S1, S2, …"
            ))
        };
        let side = side.and_then(|side| side.checked_sub(1)).ok_or_else(none)?;
        let mut found = BTreeSet::new();
        for number in elements {
            let element = self.elements.get(&number);
            let element =
                element.ok_or_else(|| self.error(format!("there is no element {number}")))?;
            let Some(kind) = element.kind else {
                return Err(self.error(format!("element {number} is no solid, it has no faces")));
            };
            let faces: &[&[usize]] = match kind {
                Kind::Tetra4 | Kind::Tetra10 => &TETRA_FACES,
                Kind::Hexa8 | Kind::Hexa20 => &HEXA_FACES,
            };
            let corners = faces.get(side).ok_or_else(none)?;
            let on_face = |local: &usize| match kind.edge_of(*local) {
                None => corners.contains(local),
                Some(edge) => edge.iter().all(|end| corners.contains(end)),
            };
            found.extend(
                (0..kind.nodes())
                    .filter(on_face)
                    .map(|local| element.nodes[local]),
            );
        }
        self.mesh.groups[group].nodes.extend(found);
        Ok(())
    }
}
