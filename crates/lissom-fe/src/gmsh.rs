//! Meshes from the text of Gmsh's `.msh` files, versions 2.2 and 4.1.
//!
//! Elements of volumes become solids; those of surfaces, lines and points only give their nodes to their physical groups. Sections
//! that are not needed are passed over.

use std::collections::BTreeMap;
use std::str::{FromStr, SplitWhitespace};

use crate::FeError;
use crate::mesh::{Group, Mesh, Solid};
use crate::shape::Kind;

/// Places of the nodes of Gmsh's tetrahedron of 10 nodes, in our order.
const TETRA_10: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8];

/// Places of the nodes of Gmsh's hexahedron of 20 nodes, in our order.
const HEXA_20: [usize; 20] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15,
];

/// Reads a mesh.
///
/// # Errors
/// With the line, if the text is not that of a mesh of these versions or has solids of another kind.
pub fn parse(text: &str) -> Result<Mesh, FeError> {
    let mut reader = Reader {
        lines: text.lines(),
        line: 0,
    };
    let mut parser = Parser::default();
    while let Some(line) = reader.next_line() {
        let Some(section) = line.trim().strip_prefix('$') else {
            continue;
        };
        match section {
            "MeshFormat" => parser.format(&mut reader)?,
            "PhysicalNames" => parser.physical_names(&mut reader)?,
            "Entities" => parser.entities(&mut reader)?,
            "Nodes" => parser.nodes(&mut reader)?,
            "Elements" => parser.elements(&mut reader)?,
            _ => {}
        }
        let end = format!("$End{section}");
        loop {
            match reader.next_line() {
                Some(line) if line.trim() == end => break,
                Some(_) => {}
                None => return Err(reader.error(format!("the text ends before {end}"))),
            }
        }
    }
    if parser.version.is_none() {
        return Err(
            reader.error(
                "there is no $MeshFormat; give a .msh file of Gmsh, version 2.2 or 4.1; other meshes are known by their endings: .inp of Abaqus and CalculiX, .bdf and \
                 .nas of Nastran",
            )
        );
    }
    Ok(parser.mesh)
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    /// 2.2.
    Two,
    /// 4.1.
    Four,
}

#[derive(Default)]
struct Parser {
    version: Option<Version>,
    /// Names of physical groups by dimension and number.
    names: BTreeMap<(usize, i64), String>,
    /// Physical groups of entities by dimension and number.
    physical: BTreeMap<(usize, i64), Vec<i64>>,
    /// Places of nodes in the mesh by their number.
    nodes: BTreeMap<usize, usize>,
    /// Places of solids in the mesh by their nodes, sorted.
    solids: BTreeMap<Vec<usize>, usize>,
    /// Groups of the mesh by dimension and number.
    groups: BTreeMap<(usize, i64), usize>,
    mesh: Mesh,
}

impl Parser {
    fn format(&mut self, reader: &mut Reader<'_>) -> Result<(), FeError> {
        let mut words = reader.words()?;
        let version: String = words.next("the version")?;
        let binary: i64 = words.next("the file type")?;
        self.version = match version.as_str() {
            "2.2" => Some(Version::Two),
            "4.1" => Some(Version::Four),
            _ => {
                let message = format!("version {version} is not read; save as version 4.1 or 2.2");
                return Err(reader.error(message));
            }
        };
        if binary != 0 {
            return Err(reader.error("the file is binary; save it as text (Mesh.Binary = 0)"));
        }
        Ok(())
    }

    fn version(&self, reader: &Reader<'_>) -> Result<Version, FeError> {
        self.version
            .ok_or_else(|| reader.error("$MeshFormat must come first"))
    }

    fn physical_names(&mut self, reader: &mut Reader<'_>) -> Result<(), FeError> {
        let count: usize = reader.words()?.next("the number of names")?;
        for _ in 0..count {
            let line = reader.line_of("a physical name")?;
            let mut words = reader.split(line);
            let dimension: usize = words.next("a dimension")?;
            let number: i64 = words.next("a number")?;
            let name = line.split('"').nth(1);
            let name = name.ok_or_else(|| reader.error("a physical name stands in quotes"))?;
            self.names.insert((dimension, number), name.to_owned());
        }
        Ok(())
    }

    fn entities(&mut self, reader: &mut Reader<'_>) -> Result<(), FeError> {
        let mut words = reader.words()?;
        let mut counts = [0_usize; 4];
        for count in &mut counts {
            *count = words.next("a number of entities")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let mut words = reader.words()?;
                let number: i64 = words.next("the number of an entity")?;
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    words.next::<f64>("a bound of an entity")?;
                }
                let groups: usize = words.next("the number of physical groups")?;
                let groups = (0..groups).map(|_| words.next::<i64>("a physical group"));
                let groups = groups.collect::<Result<Vec<i64>, FeError>>()?;
                self.physical.insert((dimension, number), groups);
            }
        }
        Ok(())
    }

    fn nodes(&mut self, reader: &mut Reader<'_>) -> Result<(), FeError> {
        let version = self.version(reader)?;
        let blocks: usize = reader.words()?.next("a number of nodes")?;
        if version == Version::Two {
            for _ in 0..blocks {
                let mut words = reader.words()?;
                let number = words.next("the number of a node")?;
                self.node(number, &mut words)?;
            }
            return Ok(());
        }
        for _ in 0..blocks {
            let mut words = reader.words()?;
            for what in ["a dimension", "an entity", "parametric"] {
                words.next::<i64>(what)?;
            }
            let count: usize = words.next("the number of nodes of a block")?;
            let mut numbers = Vec::new();
            for _ in 0..count {
                numbers.push(reader.words()?.next("the number of a node")?);
            }
            for number in numbers {
                let mut words = reader.words()?;
                self.node(number, &mut words)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, number: usize, words: &mut Words<'_>) -> Result<(), FeError> {
        let mut position = [0.0; 3];
        for coordinate in &mut position {
            *coordinate = words.next("a coordinate")?;
            if !f64::is_finite(*coordinate) {
                return Err(words.error("a coordinate is not finite"));
            }
        }
        if self.nodes.insert(number, self.mesh.nodes.len()).is_some() {
            return Err(words.error(format!("node {number} was there before")));
        }
        self.mesh.nodes.push(position);
        self.mesh.numbers.push(number);
        Ok(())
    }

    fn elements(&mut self, reader: &mut Reader<'_>) -> Result<(), FeError> {
        let version = self.version(reader)?;
        let blocks: usize = reader.words()?.next("a number of elements")?;
        for _ in 0..blocks {
            let mut words = reader.words()?;
            if version == Version::Two {
                let number: usize = words.next("the number of an element")?;
                let kind: usize = words.next("the type of an element")?;
                let tags: usize = words.next("a number of tags")?;
                let tags = (0..tags).map(|_| words.next::<i64>("a tag"));
                let tags = tags.collect::<Result<Vec<i64>, FeError>>()?;
                let groups: Vec<i64> = tags
                    .first()
                    .copied()
                    .filter(|&group| group != 0)
                    .into_iter()
                    .collect();
                self.element(number, kind, &groups, &mut words)?;
            } else {
                let dimension: usize = words.next("a dimension")?;
                let entity: i64 = words.next("an entity")?;
                let kind: usize = words.next("the type of elements")?;
                let count: usize = words.next("the number of elements of a block")?;
                let groups = self.physical.get(&(dimension, entity)).cloned();
                let groups = groups.unwrap_or_default();
                for _ in 0..count {
                    let mut words = reader.words()?;
                    let number: usize = words.next("the number of an element")?;
                    self.element(number, kind, &groups, &mut words)?;
                }
            }
        }
        Ok(())
    }

    fn element(
        &mut self,
        number: usize,
        kind: usize,
        groups: &[i64],
        words: &mut Words<'_>,
    ) -> Result<(), FeError> {
        let (dimension, count) = match kind {
            15 => (0, 1),
            1 => (1, 2),
            8 => (1, 3),
            2 => (2, 3),
            3 => (2, 4),
            9 => (2, 6),
            16 => (2, 8),
            10 => (2, 9),
            4 => (3, 4),
            5 => (3, 8),
            11 => (3, 10),
            17 => (3, 20),
            _ => {
                let name = match kind {
                    6 | 13 | 18 => "a prism",
                    7 | 14 | 19 => "a pyramid",
                    12 => "a hexahedron of 27 nodes (set Mesh.SecondOrderIncomplete = 1)",
                    _ => "of a type that is not read",
                };
                let unread = words.error(format!(
                    "element {number} (type {kind}) is {name}; solids are tetrahedra of 4 or 10 and hexahedra of 8 or 20 nodes"
                ));
                self.mesh.unread.get_or_insert(unread);
                return Ok(());
            }
        };
        let mut own = Vec::with_capacity(count);
        for _ in 0..count {
            let node: usize = words.next("a node of an element")?;
            let place = self.nodes.get(&node);
            own.push(*place.ok_or_else(|| {
                words.error(format!(
                    "element {number} has node {node}, which is not there"
                ))
            })?);
        }
        // a negative one turns the orientation round
        let groups = groups.iter().map(|group| group.saturating_abs());
        let groups: Vec<usize> = groups.map(|group| self.group(dimension, group)).collect();
        for &group in &groups {
            self.mesh.groups[group].nodes.extend(&own);
        }
        let (kind, nodes) = match kind {
            4 => (Kind::Tetra4, own),
            5 => (Kind::Hexa8, own),
            11 => (Kind::Tetra10, TETRA_10.map(|i| own[i]).into()),
            17 => (Kind::Hexa20, HEXA_20.map(|i| own[i]).into()),
            _ => return Ok(()),
        };
        // version 2.2 writes an element once for every group that it is in
        let mut key = nodes.clone();
        key.sort_unstable();
        let next = self.mesh.solids.len();
        let place = *self.solids.entry(key).or_insert(next);
        if place < next {
            let own = &mut self.mesh.solids[place].groups;
            for group in groups {
                if !own.contains(&group) {
                    own.push(group);
                }
            }
            return Ok(());
        }
        self.mesh.solids.push(Solid {
            number,
            kind,
            nodes,
            groups,
        });
        Ok(())
    }

    fn group(&mut self, dimension: usize, number: i64) -> usize {
        let (names, mesh) = (&self.names, &mut self.mesh);
        *self.groups.entry((dimension, number)).or_insert_with(|| {
            let name = names.get(&(dimension, number));
            mesh.groups.push(Group {
                name: name.cloned().unwrap_or_else(|| number.to_string()),
                ..Group::default()
            });
            mesh.groups.len() - 1
        })
    }
}

/// The lines of a text with their numbers.
struct Reader<'t> {
    lines: std::str::Lines<'t>,
    line: usize,
}

impl<'t> Reader<'t> {
    fn next_line(&mut self) -> Option<&'t str> {
        self.line += 1;
        self.lines.next()
    }

    fn line_of(&mut self, what: &str) -> Result<&'t str, FeError> {
        self.next_line().ok_or_else(|| FeError::Text {
            line: self.line,
            message: format!("the text ends where {what} is expected"),
        })
    }

    fn words(&mut self) -> Result<Words<'t>, FeError> {
        let line = self.line_of("a line of numbers")?;
        Ok(self.split(line))
    }

    fn split(&self, line: &'t str) -> Words<'t> {
        Words {
            words: line.split_whitespace(),
            line: self.line,
        }
    }

    fn error(&self, message: impl Into<String>) -> FeError {
        FeError::Text {
            line: self.line,
            message: message.into(),
        }
    }
}

/// The words of a line.
struct Words<'t> {
    words: SplitWhitespace<'t>,
    line: usize,
}

impl Words<'_> {
    fn next<T: FromStr>(&mut self, what: &str) -> Result<T, FeError> {
        let word = self.words.next().unwrap_or_default();
        word.parse().map_err(|_| {
            let found = if word.is_empty() {
                "nothing".to_owned()
            } else {
                format!("{word:?}")
            };
            self.error(format!("{what} is expected, found {found}"))
        })
    }

    fn error(&self, message: impl Into<String>) -> FeError {
        FeError::Text {
            line: self.line,
            message: message.into(),
        }
    }
}
