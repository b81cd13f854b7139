//! `[[node]]` and `[[element]]`: names, kinds, numbers, and what acts on them.

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    BeamElementSpec, Deformation, ElementNodeSpec, ElementSpec, Frame, InputSpec, LoadQuantity,
    MotionSpec, RoleSpec,
};

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
            ("visual", !spec.visual.is_empty()),
        ] {
            if given {
                let reason = "a model is written in bodies and joints or in nodes and elements";
                self.no_effect(root.key(key), reason);
            }
        }
        if !spec.marker.is_empty() {
            self.no_effect(root.key("marker"), "every node is recorded");
        }
        if !spec.sensor.is_empty() {
            let reason =
                "sensors sit on joints, bodies and markers; nodes and elements are recorded";
            self.no_effect(root.key("sensor"), reason);
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
            if let Some(angle) = &node.planar_angle {
                let path = path.key("planar_angle").key("inertia_kg_m2");
                self.not_negative(path, angle.inertia_kg_m2);
            }
            if let Some(orientation) = &node.orientation {
                let path = path.key("orientation");
                for (i, &moment) in orientation.inertia_kg_m2.iter().enumerate() {
                    self.not_negative(path.key("inertia_kg_m2").index(i), moment);
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
        self.actuators();
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
        let in_plane = spec.is_planar_element(element);
        if let Some(beam) = &element.beam {
            self.beam_element(&path.key("beam"), beam, in_plane);
            self.beam_deformations(&path.key("beam"), element, beam, in_plane);
        }
        let tilts = element.hinge.as_ref().and_then(|hinge| hinge.tilt_roles);
        if in_plane && tilts.is_some() {
            let path = path.key("hinge").key("tilt_roles");
            self.no_effect(path, "a hinge in the plane turns about z only");
        }
        if let Some(hinge) = &element.hinge {
            let path = path.key("hinge");
            match hinge.axis {
                Some(axis) => self.direction(path.key("axis"), axis),
                None if in_plane => {}
                None => {
                    let key = "axis".to_owned();
                    self.error(path, ErrorKind::MissingKey { key });
                }
            }
        }
        if let Some(slider) = &element.slider {
            self.direction(path.key("slider").key("axis"), slider.axis);
        }
        self.start_and_rest(path, element);
    }

    fn beam_element(&mut self, path: &Path, beam: &BeamElementSpec, planar: bool) {
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
    }

    fn input_on_nodes(&mut self, path: &Path, input: &InputSpec) {
        let spec = self.spec;
        self.load(path, input);
        let mut wrong = None;
        if let Some(name) = &input.joint {
            if let Some(deformation) = self.driven_deformation(path, name, input.deformation) {
                wrong = Some(if deformation.turns() {
                    (LoadQuantity::Force, "torque")
                } else {
                    (LoadQuantity::Torque, "force")
                });
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
            self.load_in_space(path, input, "it drives elements, not nodes");
            if input.deformation.is_some() {
                let reason = "nodes have coordinates, elements have deformations";
                self.no_effect(path.key("deformation"), reason);
            }
        }
        self.axes_of_load(path, input);
        self.follows(path, input);
        self.in_feedforward(path, input);
        let target = input.joint.as_ref().or(input.marker.as_ref());
        if let (Some(wrong), Some(target)) = (wrong, target) {
            self.load_of_kind(path, input, target, wrong);
        }
    }

    /// The deformation of an element that an input works on.
    fn driven_deformation(
        &mut self,
        path: &Path,
        name: &str,
        named: Option<Deformation>,
    ) -> Option<Deformation> {
        let spec = self.spec;
        let on = |element: &ElementSpec| {
            let (_, deformation, role) = spec.addressed(element, named)?;
            // of beams only what is actuated is told apart from other deformations
            let driven =
                role == RoleSpec::Actuated || (role == RoleSpec::Dof && element.beam.is_none());
            driven.then_some(deformation)
        };
        let found = spec.find_element(name).and_then(on);
        if found.is_none() {
            let known = spec.element.iter().filter(|element| on(element).is_some());
            let what = if spec.find_element(name).is_some_and(|e| e.beam.is_some()) {
                "actuated `deformation` of a beam"
            } else {
                "hinge, slider or truss that is a degree of freedom"
            };
            let known = known.map(|element| element.name.as_str());
            self.unknown(path.key("joint"), what, name, known);
        }
        found
    }

    /// The axes that the direction of a load at a node is in.
    fn axes_of_load(&mut self, path: &Path, input: &InputSpec) {
        let spec = self.spec;
        let marker = input
            .marker
            .as_deref()
            .and_then(|name| spec.find_node(name));
        let follows = input.frame == Frame::Body;
        if let Some(name) = &input.orientation {
            let at = path.key("orientation");
            let turning = |node: &&ElementNodeSpec| node.turns();
            if !follows {
                self.no_effect(at, "the direction is in the axes of the ground");
            } else if spec.node.iter().filter(turning).all(|n| n.name != *name) {
                let known = spec.node.iter().filter(turning);
                let known = known.map(|node| node.name.as_str());
                self.unknown(at, "orientation", name, known);
            }
        } else if follows && marker.is_some_and(|node| !node.turns()) {
            let key = "orientation".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
    }

    /// Keys of inputs and motions that only models of nodes and elements read.
    pub(super) fn keys_of_nodes(&mut self) {
        let spec = self.spec;
        let reason = "it belongs to models of nodes and elements";
        for (index, input) in spec.input.iter().enumerate() {
            let path = Path::root().key("input").index(index);
            if input.deformation.is_some() {
                self.no_effect(path.key("deformation"), reason);
            }
            if input.orientation.is_some() {
                self.no_effect(path.key("orientation"), reason);
            }
        }
        for (index, motion) in spec.motion.iter().enumerate() {
            if motion.deformation.is_some() {
                let path = Path::root().key("motion").index(index);
                self.no_effect(path.key("deformation"), reason);
            }
        }
    }

    fn motion_of_nodes(&mut self, path: &Path, motion: &MotionSpec) {
        self.one_profile(path, motion);
        let Some((_, slides)) = self.prescribed(motion) else {
            let spec = self.spec;
            let name = motion.joint.as_str();
            let elements = spec.element.iter().map(|element| element.name.as_str());
            let nodes = spec.node.iter().map(|node| node.name.as_str());
            let what = "prescribed deformation of an element or coordinate of a node";
            self.unknown(path.key("joint"), what, name, elements.chain(nodes));
            return;
        };
        for profile in motion.profile_specs() {
            self.motion_profile(&path.key(profile.key()), &profile, slides);
        }
    }

    /// The place from 0 of what a motion prescribes among the deformations of its element or the coordinates of its
    /// node, and whether it is a length; `None` if that is not prescribed.
    fn prescribed(&self, motion: &MotionSpec) -> Option<(usize, bool)> {
        let spec = self.spec;
        if let Some(element) = spec.find_element(&motion.joint) {
            let (index, deformation, role) = spec.addressed(element, motion.deformation)?;
            let prescribed = role == RoleSpec::Prescribed && motion.component == 1;
            return prescribed.then_some((index, !deformation.turns()));
        }
        let node = spec.find_node(&motion.joint)?;
        let at = motion.component.checked_sub(1)?;
        let role = coordinate_roles(node).get(at).copied();
        let prescribed = role == Some(RoleSpec::Prescribed) && motion.deformation.is_none();
        prescribed.then_some((at, !node.turns()))
    }

    /// Asks for one motion of everything that is prescribed.
    fn prescribed_nodes(&mut self) {
        let spec = self.spec;
        let root = Path::root();
        let nodes = spec.node.iter().enumerate().map(|(index, node)| {
            let path = root.key("node").index(index);
            (path, node.name.as_str(), coordinate_roles(node))
        });
        let elements = spec.element.iter().enumerate().map(|(index, element)| {
            let path = root.key("element").index(index);
            let all = element.deformations(spec.is_planar_element(element));
            let roles = all.into_iter().map(|(_, role)| role).collect();
            (path, element.name.as_str(), roles)
        });
        for (path, name, roles) in nodes.chain(elements) {
            let prescribed = |&at: &usize| roles[at] == RoleSpec::Prescribed;
            for at in (0..roles.len()).filter(prescribed) {
                let same = |motion: &&MotionSpec| {
                    motion.joint == name && self.prescribed(motion).is_some_and(|(i, _)| i == at)
                };
                match spec.motion.iter().filter(same).count() {
                    0 => self.no_effect(path.clone(), "no [[motion]] says how it moves"),
                    1 => {}
                    _ => {
                        let (joint, component) = (name.to_owned(), at + 1);
                        let kind = ErrorKind::PrescribedTwice { joint, component };
                        self.error(path.clone(), kind);
                    }
                }
            }
        }
    }
}

/// What the coordinates of a node are that a motion can prescribe.
fn coordinate_roles(node: &ElementNodeSpec) -> Vec<RoleSpec> {
    let point = node.point.as_ref().and_then(|point| point.roles);
    let planar = node.planar_point.as_ref().and_then(|point| point.roles);
    let angle = node.planar_angle.as_ref().and_then(|angle| angle.role);
    let points = point.into_iter().flatten();
    points
        .chain(planar.into_iter().flatten())
        .chain(angle)
        .collect()
}
