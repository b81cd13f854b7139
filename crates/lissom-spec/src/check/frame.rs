//! `[body.frame]`: nodes, members and their sections.

use std::collections::{BTreeMap, BTreeSet};

use super::Checker;
use super::inertia::tensor;
use super::limits::SMALLEST;
use crate::error::{ErrorKind, FrameFault};
use crate::path::Path;
use crate::spec::{BeamFrameSpec, MemberSpec, SectionSpec};

/// Most corners of a polygon: every two of its edges are compared.
const MOST_CORNERS: usize = 1000;

impl Checker<'_> {
    pub(super) fn frame(&mut self, path: &Path, frame: &BeamFrameSpec) {
        let list = path.key("node");
        let names = frame.node.iter().map(|node| node.name.as_str());
        self.names("node", &list, names);
        let mut places: BTreeMap<[u64; 3], &str> = BTreeMap::new();
        for (index, node) in frame.node.iter().enumerate() {
            // zero may have either sign
            let place = node.position_m.map(|x| (x + 0.0).to_bits());
            if let Some(&first) = places.get(&place) {
                let kind = FrameFault::SameNode {
                    first: first.to_owned(),
                    second: node.name.clone(),
                };
                self.error(list.index(index), ErrorKind::Frame(kind));
            } else {
                places.insert(place, &node.name);
            }
        }
        for (key, is_missing) in [
            ("node", frame.node.is_empty()),
            ("member", frame.member.is_empty()),
            ("interface", frame.interface.is_empty()),
        ] {
            if is_missing {
                let key = key.to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
        }
        let nodes: BTreeSet<&str> = frame.node.iter().map(|node| node.name.as_str()).collect();
        let mut known = nodes.clone();
        for (index, member) in frame.member.iter().enumerate() {
            let path = path.key("member").index(index);
            self.member(&path, &nodes, member);
            for (index, place) in member.place.iter().enumerate() {
                let path = path.key("place").index(index);
                let share = place.share;
                let inside = (SMALLEST..1.0).contains(&share);
                self.in_range(
                    path.key("share"),
                    share,
                    inside,
                    "a number above 0 and below 1",
                );
                let name = place.name.clone();
                if !known.insert(&place.name) {
                    let kind = ErrorKind::DuplicateName { what: "node", name };
                    self.error(path.key("name"), kind);
                }
            }
        }
        self.in_one_piece(path, frame);
        for (index, lump) in frame.lump.iter().enumerate() {
            let path = path.key("lump").index(index);
            self.known(path.key("at"), &lump.at, &known);
            self.positive(path.key("mass_kg"), lump.mass_kg);
            let inertia = tensor(lump.inertia_kg_m2, [0.0; 3]);
            self.inertia_of_mass(
                path.key("inertia_kg_m2"),
                inertia,
                super::inertia::CENTRE_OF_MASS,
            );
        }
        let list = path.key("interface");
        let mut seen = BTreeSet::new();
        for (index, name) in frame.interface.iter().enumerate() {
            self.known(list.index(index), name, &known);
            if !seen.insert(name) {
                let (what, name) = ("interface", name.clone());
                self.error(list.index(index), ErrorKind::DuplicateName { what, name });
            }
        }
        self.mesh_basis(&path.key("basis"), frame.basis);
    }

    fn known(&mut self, path: Path, name: &str, known: &BTreeSet<&str>) {
        if !known.contains(name) {
            self.unknown(path, "node of the frame", name, known.iter().copied());
        }
    }

    fn member(&mut self, path: &Path, nodes: &BTreeSet<&str>, member: &MemberSpec) {
        self.known(path.key("from"), &member.from, nodes);
        self.known(path.key("to"), &member.to, nodes);
        if member.from == member.to {
            let node = member.from.clone();
            let kind = FrameFault::WithoutLength { node };
            self.error(path.key("to"), ErrorKind::Frame(kind));
        }
        if member.arc_through_m.is_some() && !member.spline_through_m.is_empty() {
            let reason = "the member is an arc";
            self.no_effect(path.key("spline_through_m"), reason);
        }
        if let Some(direction) = member.z_direction {
            self.direction(path.key("z_direction"), direction);
        }
        let choices = [
            ("section", member.section.is_some()),
            ("station", !member.station.is_empty()),
        ];
        self.exactly_one(path, &choices);
        if !member.station.is_empty() {
            for (key, is_given) in [
                ("offset_m", member.offset_m != [0.0; 2]),
                ("angle_rad", member.angle_rad != 0.0),
            ] {
                if is_given {
                    self.no_effect(path.key(key), "the stations say their own");
                }
            }
        }
        let list = path.key("station");
        for (index, pair) in member.station.windows(2).enumerate() {
            let path = list.index(index + 1);
            let (before, after) = (&pair[0], &pair[1]);
            let rising = after.share >= before.share;
            let expected = format!("{} at least, that of the station before", before.share);
            self.in_range(path.key("share"), after.share, rising, &expected);
            if before.share < after.share && before.section.between(&after.section, 0.5).is_none() {
                let kind = FrameFault::SectionsDiffer {
                    before: before.section.key(),
                    after: after.section.key(),
                };
                self.error(path.key("section"), ErrorKind::Frame(kind));
            }
        }
        if let Some(section) = &member.section {
            self.section(&path.key("section"), section);
        }
        for (index, station) in member.station.iter().enumerate() {
            self.section(&list.index(index).key("section"), &station.section);
        }
        let of_material = |section: &SectionSpec| !matches!(section, SectionSpec::Properties(_));
        let mut sections =
            (member.section.iter()).chain(member.station.iter().map(|own| &own.section));
        if member.material.is_none() && sections.any(of_material) {
            let key = "material".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
    }

    /// Sizes that fit into each other.
    pub(super) fn section(&mut self, path: &Path, section: &SectionSpec) {
        let path = path.key(section.key());
        let mut fits = |key: &str, value: f64, most: f64| {
            let expected = format!("a number below {most}, so that something is left inside");
            self.in_range(path.key(key), value, value < most, &expected);
        };
        match section {
            SectionSpec::Tube(own) => fits("wall_m", own.wall_m, 0.5 * own.diameter_m),
            SectionSpec::Box(own) => {
                fits("wall_m", own.wall_m, 0.5 * own.size_y_m.min(own.size_z_m));
            }
            SectionSpec::IBeam(own) => {
                fits("flange_m", own.flange_m, 0.5 * own.size_y_m);
                fits("web_m", own.web_m, own.size_z_m);
            }
            SectionSpec::Polygon(own) => {
                let path = path.key("points_m");
                let count = own.points_m.len();
                let accepted = (3..=MOST_CORNERS).contains(&count);
                let expected = format!("3 to {MOST_CORNERS} corners");
                self.in_range(path.clone(), count as f64, accepted, &expected);
                if !accepted {
                    return;
                }
                if let Some([first, second]) = own.crossing() {
                    let kind = FrameFault::PolygonCrosses { first, second };
                    self.error(path, ErrorKind::Frame(kind));
                } else if own.signed_area() == 0.0 {
                    let (key, value) = ("area of the polygon".to_owned(), 0.0);
                    self.error(path, ErrorKind::NotPositive { key, value });
                }
            }
            SectionSpec::Properties(own) => {
                for (key, value) in [
                    ("mass_per_length_kg_per_m", own.mass_per_length_kg_per_m),
                    ("axial_stiffness_n", own.axial_stiffness_n),
                    ("bending_stiffness_y_n_m2", own.bending_stiffness_y_n_m2),
                    ("bending_stiffness_z_n_m2", own.bending_stiffness_z_n_m2),
                    ("torsional_stiffness_n_m2", own.torsional_stiffness_n_m2),
                ] {
                    self.positive(path.key(key), value);
                }
            }
            SectionSpec::Circle(_) | SectionSpec::Rectangle(_) => {}
        }
    }

    /// Asks for members that connect every node with the first one.
    fn in_one_piece(&mut self, path: &Path, frame: &BeamFrameSpec) {
        let mut neighbours: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for member in &frame.member {
            let ends = [member.from.as_str(), member.to.as_str()];
            for (own, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                neighbours.entry(own).or_default().push(other);
            }
        }
        let Some(first) = frame.node.first() else {
            return;
        };
        let mut reached = BTreeSet::from([first.name.as_str()]);
        let mut pending = vec![first.name.as_str()];
        while let Some(own) = pending.pop() {
            for &other in neighbours.get(own).into_iter().flatten() {
                if reached.insert(other) {
                    pending.push(other);
                }
            }
        }
        for (index, node) in frame.node.iter().enumerate() {
            if !reached.contains(node.name.as_str()) {
                let kind = FrameFault::NodeApart {
                    node: node.name.clone(),
                    from: first.name.clone(),
                };
                self.error(path.key("node").index(index), ErrorKind::Frame(kind));
            }
        }
    }
}
