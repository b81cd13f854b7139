//! `[[node]]` and `[[element]]`: names, kinds, numbers, and what acts on them.

use super::Checker;
use crate::model::error::ErrorKind;
use crate::model::path::Path;
use crate::model::spec::{
    BeamElementSpec, ElementNodeSpec, ElementSpec, InputSpec, LoadQuantity, MotionSpec, RoleSpec,
};

/// Most elements that a beam is divided into.
const MOST_DIVISIONS: usize = 1000;

impl Checker<'_> {
    pub(super) fn nodes_and_elements(&mut self) {
        let spec = self.spec;
        let root = Path::root();
        let nodes = spec.node.iter().map(|node| node.name.as_str());
        self.names("node", &root.key("node"), nodes);
        let elements = spec.element.iter().map(|element| element.name.as_str());
        self.names("element", &root.key("element"), elements);
        for (key, given) in [
            ("body", !spec.body.is_empty()),
            ("joint", !spec.joint.is_empty()),
            ("loop", !spec.loops.is_empty()),
            ("support", !spec.support.is_empty()),
            ("payload", !spec.payload.is_empty()),
        ] {
            if given {
                let reason = "a model is written in bodies and joints or in nodes and elements";
                self.no_effect(root.key(key), reason);
            }
        }
        if !spec.marker.is_empty() {
            self.no_effect(root.key("marker"), "every node is recorded");
        }
        for (index, node) in spec.node.iter().enumerate() {
            let path = root.key("node").index(index);
            let kinds = [
                ("point", node.point.is_some()),
                ("orientation", node.orientation.is_some()),
                ("planar_point", node.planar_point.is_some()),
                ("planar_angle", node.planar_angle.is_some()),
            ];
            self.exactly_one(&path, &kinds);
            if let Some(point) = &node.point {
                self.not_negative(path.key("point").key("mass_kg"), point.mass_kg);
            }
            if let Some(point) = &node.planar_point {
                self.not_negative(path.key("planar_point").key("mass_kg"), point.mass_kg);
            }
            if let Some(angle) = &node.planar_angle {
                let path = path.key("planar_angle");
                self.not_negative(path.key("inertia_kg_m2"), angle.inertia_kg_m2);
                self.angle(path.key("angle_rad"), angle.angle_rad);
            }
            if let Some(orientation) = &node.orientation {
                let path = path.key("orientation");
                for (i, &moment) in orientation.inertia_kg_m2.iter().enumerate() {
                    self.not_negative(path.key("inertia_kg_m2").index(i), moment);
                }
                for (i, &angle) in orientation.rotation_vector_rad.iter().enumerate() {
                    self.angle(path.key("rotation_vector_rad").index(i), angle);
                }
                if orientation.role == Some(RoleSpec::Prescribed) {
                    let reason =
                        "orientations in space are moved by hinges with a prescribed rotation";
                    self.no_effect(path.key("role"), reason);
                }
            }
        }
        for (index, element) in spec.element.iter().enumerate() {
            self.element(&root.key("element").index(index), element);
        }
        for (index, input) in spec.input.iter().enumerate() {
            self.input_on_nodes(&root.key("input").index(index), input);
        }
        for (index, motion) in spec.motion.iter().enumerate() {
            self.motion_of_nodes(&root.key("motion").index(index), motion);
        }
        self.prescribed_nodes();
        self.nominal_motion();
        self.controllers();
    }

    fn element(&mut self, path: &Path, element: &ElementSpec) {
        let spec = self.spec;
        let kinds = [
            ("beam", element.beam.is_some()),
            ("rigid_beam", element.rigid_beam.is_some()),
            ("hinge", element.hinge.is_some()),
            ("truss", element.truss.is_some()),
            ("slider", element.slider.is_some()),
        ];
        self.exactly_one(path, &kinds);
        for (keys, name, turns) in element.nodes() {
            let at = keys.iter().fold(path.clone(), |path, key| path.key(*key));
            let fitting = |node: &&ElementNodeSpec| node.turns() == turns;
            if !spec
                .node
                .iter()
                .filter(fitting)
                .any(|node| node.name == name)
            {
                let what = if turns { "orientation" } else { "point" };
                let known = spec.node.iter().filter(fitting);
                self.unknown(at, what, name, known.map(|node| node.name.as_str()));
            }
        }
        let planar = |name: &str| spec.find_node(name).is_some_and(ElementNodeSpec::is_planar);
        let in_plane = element.nodes().iter().all(|(_, name, _)| planar(name));
        if let Some(beam) = &element.beam {
            self.beam_element(&path.key("beam"), beam, in_plane);
        }
        let damped_only = match (&element.hinge, &element.slider) {
            (Some(hinge), _) if hinge.stiffness_n_m_per_rad == 0.0 => {
                (hinge.damping_n_m_s_per_rad > 0.0).then_some(("hinge", "damping_n_m_s_per_rad"))
            }
            (_, Some(slider)) if slider.stiffness_n_per_m == 0.0 => {
                (slider.damping_n_s_per_m > 0.0).then_some(("slider", "damping_n_s_per_m"))
            }
            _ => None,
        };
        if let (Some((kind, key)), Some(RoleSpec::Free)) = (damped_only, element.role()) {
            let reason = "what is free is damped together with a stiffness only";
            self.no_effect(path.key(kind).key(key), reason);
        }
        if let Some(hinge) = &element.hinge {
            let path = path.key("hinge");
            self.not_negative(
                path.key("stiffness_n_m_per_rad"),
                hinge.stiffness_n_m_per_rad,
            );
            self.not_negative(
                path.key("damping_n_m_s_per_rad"),
                hinge.damping_n_m_s_per_rad,
            );
            match hinge.axis {
                Some(axis) => self.direction(path.key("axis"), axis),
                None if in_plane => {}
                None => {
                    let key = "axis".to_owned();
                    self.error(path, ErrorKind::MissingKey { key });
                }
            }
        }
        if let Some(truss) = &element.truss {
            let path = path.key("truss").key("axial_stiffness_n");
            self.not_negative(path, truss.axial_stiffness_n);
        }
        if let Some(slider) = &element.slider {
            let path = path.key("slider");
            self.direction(path.key("axis"), slider.axis);
            self.not_negative(path.key("stiffness_n_per_m"), slider.stiffness_n_per_m);
            self.not_negative(path.key("damping_n_s_per_m"), slider.damping_n_s_per_m);
        }
    }

    fn beam_element(&mut self, path: &Path, beam: &BeamElementSpec, planar: bool) {
        let accepted = (1..=MOST_DIVISIONS).contains(&beam.divisions);
        let expected = format!("from 1 to {MOST_DIVISIONS}");
        self.in_range(
            path.key("divisions"),
            beam.divisions as f64,
            accepted,
            &expected,
        );
        for (key, stiffness) in [
            ("axial_stiffness_n", beam.axial_stiffness_n),
            ("torsional_stiffness_n_m2", beam.torsional_stiffness_n_m2),
            ("bending_stiffness_y_n_m2", beam.bending_stiffness_y_n_m2),
            ("bending_stiffness_z_n_m2", beam.bending_stiffness_z_n_m2),
        ] {
            if let Some(stiffness) = stiffness {
                self.positive(path.key(key), stiffness);
            }
        }
        for (i, &stiffness) in beam.shear_stiffness_n.iter().flatten().enumerate() {
            self.positive(path.key("shear_stiffness_n").index(i), stiffness);
        }
        for (i, &inertia) in beam.rotary_inertia_kg_m.iter().enumerate() {
            self.not_negative(path.key("rotary_inertia_kg_m").index(i), inertia);
        }
        self.not_negative(
            path.key("mass_per_length_kg_per_m"),
            beam.mass_per_length_kg_per_m,
        );
        self.not_negative(path.key("damping_time_s"), beam.damping_time_s);
        match (planar, beam.y_direction) {
            (false, None) => {
                let key = "y_direction".to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
            (false, Some(direction)) => self.direction(path.key("y_direction"), direction),
            (true, Some(_)) => {
                let reason = "in the plane local y is a quarter turn from x";
                self.no_effect(path.key("y_direction"), reason);
            }
            (true, None) => {}
        }
        if planar {
            for (key, given) in [
                (
                    "torsional_stiffness_n_m2",
                    beam.torsional_stiffness_n_m2.is_some(),
                ),
                (
                    "bending_stiffness_z_n_m2",
                    beam.bending_stiffness_z_n_m2.is_some(),
                ),
            ] {
                if given {
                    self.no_effect(path.key(key), "the beam stays in the plane");
                }
            }
        }
        if matches!(beam.role, Some(RoleSpec::Prescribed | RoleSpec::Actuated)) {
            let reason = "deformations of a beam are degrees of freedom, free or fixed";
            self.no_effect(path.key("role"), reason);
        }
    }

    fn input_on_nodes(&mut self, path: &Path, input: &InputSpec) {
        let spec = self.spec;
        let target = [
            ("joint", input.joint.is_some()),
            ("marker", input.marker.is_some()),
        ];
        self.exactly_one(path, &target);
        self.load(path, input);
        let mut wrong = None;
        if let Some(name) = &input.joint {
            let moving = |element: &&ElementSpec| {
                matches!(element.role(), Some(RoleSpec::Dof | RoleSpec::Actuated))
            };
            match spec.element.iter().filter(moving).find(|e| e.name == *name) {
                None => {
                    let known = spec.element.iter().filter(moving);
                    let known = known.map(|element| element.name.as_str());
                    let what = "hinge, slider or truss that is a degree of freedom";
                    self.unknown(path.key("joint"), what, name, known);
                }
                Some(element) if element.moves() == Some(true) => {
                    wrong = Some((LoadQuantity::Torque, "force"));
                }
                Some(_) => wrong = Some((LoadQuantity::Force, "torque")),
            }
            if let (Some(motion), Some((_, expected))) = (&input.rigid_inverse_dynamics, wrong) {
                let path = path.key("rigid_inverse_dynamics").key(motion.key());
                self.motion_profile(&path, motion, expected == "force");
            }
        }
        if let Some(name) = &input.marker {
            match spec.find_node(name) {
                None => {
                    let known = spec.node.iter().map(|node| node.name.as_str());
                    self.unknown(path.key("marker"), "node", name, known);
                }
                Some(node) if node.turns() => wrong = Some((LoadQuantity::Force, "torque")),
                Some(_) => wrong = Some((LoadQuantity::Torque, "force")),
            }
            if let Some(direction) = input.direction {
                self.direction(path.key("direction"), direction);
            } else {
                let key = "direction".to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
            for (key, given) in [
                (
                    "rigid_inverse_dynamics",
                    input.rigid_inverse_dynamics.is_some(),
                ),
                ("nominal_motion", input.nominal_motion),
            ] {
                if given {
                    self.no_effect(path.key(key), "it drives elements, not nodes");
                }
            }
        }
        self.follows(path, input);
        self.foreseen(path, input);
        for (key, quantity, _) in input.loads() {
            if let Some((not, expected)) = wrong
                && quantity == not
            {
                let joint = input.joint.as_ref().or(input.marker.as_ref());
                let kind = ErrorKind::WrongLoad {
                    key: key.to_owned(),
                    joint: joint.cloned().unwrap_or_default(),
                    expected,
                };
                self.error(path.key(key), kind);
            }
        }
    }

    fn motion_of_nodes(&mut self, path: &Path, motion: &MotionSpec) {
        self.one_profile(path, motion);
        let (name, component) = (motion.joint.as_str(), motion.component);
        let Some(slides) = self.prescribed(name, component) else {
            let spec = self.spec;
            let elements = spec.element.iter().map(|element| element.name.as_str());
            let nodes = spec.node.iter().map(|node| node.name.as_str());
            let what = "prescribed element or coordinate of a node";
            self.unknown(path.key("joint"), what, name, elements.chain(nodes));
            return;
        };
        for profile in motion.profile_specs() {
            self.motion_profile(&path.key(profile.key()), &profile, slides);
        }
    }

    /// Whether the coordinate of an element or node, which is prescribed, is a length; `None` if it is not prescribed.
    fn prescribed(&self, name: &str, component: usize) -> Option<bool> {
        if let Some(element) = self.spec.find_element(name) {
            let prescribed = element.role() == Some(RoleSpec::Prescribed) && component == 1;
            return element.moves().filter(|_| prescribed);
        }
        let node = self.spec.find_node(name)?;
        let at = component.checked_sub(1)?;
        let point = node.point.as_ref().and_then(|point| point.roles);
        let planar = node.planar_point.as_ref().and_then(|point| point.roles);
        let role = (point.and_then(|roles| roles.get(at).copied()))
            .or_else(|| planar.and_then(|roles| roles.get(at).copied()))
            .or_else(|| {
                let angle = node.planar_angle.as_ref().filter(|_| at == 0);
                angle.and_then(|angle| angle.role)
            });
        (role == Some(RoleSpec::Prescribed)).then(|| !node.turns())
    }

    /// Asks for one motion of everything that is prescribed.
    fn prescribed_nodes(&mut self) {
        let spec = self.spec;
        let root = Path::root();
        let count = |name: &str, component: usize| {
            let same = |motion: &&MotionSpec| motion.joint == name && motion.component == component;
            spec.motion.iter().filter(same).count()
        };
        let nodes = spec.node.iter().enumerate();
        let nodes = nodes.map(|(i, node)| (root.key("node").index(i), node.name.as_str()));
        let elements = spec.element.iter().enumerate();
        let elements = elements.map(|(i, e)| (root.key("element").index(i), e.name.as_str()));
        for (path, name) in nodes.chain(elements) {
            for component in 1..=3 {
                if self.prescribed(name, component).is_none() {
                    continue;
                }
                let (joint, what) = (name.to_owned(), count(name, component));
                if what == 0 {
                    let reason = "no [[motion]] says how it moves";
                    self.no_effect(path.clone(), reason);
                } else if what > 1 {
                    self.error(
                        path.clone(),
                        ErrorKind::PrescribedTwice { joint, component },
                    );
                }
            }
        }
    }
}
