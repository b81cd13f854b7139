//! `[[loop]]`, joints that are cut, and `[simulation.closure]`.

use std::collections::BTreeSet;

use super::Checker;
use super::joints::unit;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    AttachmentSpec, BodyKind, ClosureSpec, GROUND, JointKind, JointSpec, LoopKind, LoopSpec,
    RevoluteSpec,
};
use crate::topology::{is_acted_on, prescribed, spanning_tree};

/// Cosine of the angle between two axes below which they count as orthogonal to each other.
const ORTHOGONAL: f64 = 1e-9;

impl Checker<'_> {
    pub(super) fn loops(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("loop");
        let names = || spec.loops.iter().map(|closure| closure.name.as_str());
        self.names("loop", &list, names());
        for (index, closure) in spec.loops.iter().enumerate() {
            let path = list.index(index);
            if spec.find_joint(&closure.name).is_some() {
                let kind = ErrorKind::DuplicateName {
                    what: "loop",
                    name: closure.name.clone(),
                };
                self.error(path.key("name"), kind);
            }
            self.loop_end(&path.key("from"), &closure.from);
            self.loop_end(&path.key("to"), &closure.to);
            self.loop_kind(&path, closure);
            let (from, to) = (spec.loop_end(&closure.from), spec.loop_end(&closure.to));
            let rigid = from.body == GROUND
                || (spec.find_body(from.body))
                    .is_some_and(|body| matches!(body.kind(), Some(BodyKind::Rigid(_))));
            if from.body == to.body && rigid {
                let kind = ErrorKind::OnItself {
                    what: "loop",
                    name: closure.name.clone(),
                    body: to.body.to_owned(),
                };
                self.error(path.key("to").key("body"), kind);
            }
        }
        let cuts = spanning_tree(spec).cuts;
        self.cuts(&cuts);
        let has_loops = !cuts.is_empty() || !spec.loops.is_empty() || !spec.support.is_empty();
        if !has_loops {
            self.assembly_without_loops();
        }
        self.closure(has_loops);
    }

    pub(super) fn loop_end(&mut self, path: &Path, end: &AttachmentSpec) {
        let spec = self.spec;
        let is_marker = spec.find_marker(&end.body).is_some() && end.is_name_only();
        if is_marker && spec.find_body(&end.body).is_none() {
            return;
        }
        self.body_called(path.key("body"), &end.body, true);
        self.place(path, &end.body, end.at.as_deref(), end.position_m);
    }

    fn loop_kind(&mut self, path: &Path, closure: &LoopSpec) {
        let choices = [
            ("revolute", closure.revolute.is_some()),
            ("spherical", closure.spherical.is_some()),
            ("prismatic", closure.prismatic.is_some()),
            ("universal", closure.universal.is_some()),
            ("fixed", closure.fixed.is_some()),
            ("point_on_line", closure.point_on_line.is_some()),
            ("distance", closure.distance.is_some()),
        ];
        self.exactly_one(path, &choices);
        match closure.kind() {
            Some(LoopKind::Revolute(spec)) => {
                self.direction(path.key("revolute").key("axis"), spec.axis);
            }
            Some(LoopKind::Prismatic(spec)) => {
                self.direction(path.key("prismatic").key("axis"), spec.axis);
            }
            Some(LoopKind::Universal(spec)) => {
                let path = path.key("universal").key("axes");
                let [first, second] = spec.axes;
                self.direction(path.index(0), first);
                self.direction(path.index(1), second);
                self.orthogonal(path.index(1), first, second);
            }
            Some(LoopKind::PointOnLine(spec)) => {
                self.direction(path.key("point_on_line").key("direction"), spec.direction);
            }
            Some(LoopKind::Spherical | LoopKind::Fixed | LoopKind::Distance(_)) | None => {}
        }
    }

    fn orthogonal(&mut self, path: Path, first: [f64; 3], second: [f64; 3]) {
        if let (Some(first), Some(second)) = (unit(first), unit(second)) {
            let cosine: f64 = first.iter().zip(second).map(|(a, b)| a * b).sum();
            if cosine.abs() > ORTHOGONAL {
                self.error(path, ErrorKind::NotOrthogonal);
            }
        }
    }

    /// Joints that are cut become closures of their kind, which not every joint can be.
    fn cuts(&mut self, cuts: &[usize]) {
        let spec = self.spec;
        let prescribed = prescribed(spec);
        let prescribed = |joint: &JointSpec| prescribed.contains(joint.name.as_str());
        let instead = || {
            let cuts: BTreeSet<usize> = cuts.iter().copied().collect();
            let all = spec.joint.iter().enumerate();
            let others = all.filter(|(index, _)| !cuts.contains(index));
            let others = others.filter(|(_, joint)| joint.free.is_none() && !prescribed(joint));
            others.map(|(_, joint)| joint.name.clone()).collect()
        };
        for &index in cuts {
            let joint = &spec.joint[index];
            let at = if joint.cut { "cut" } else { "name" };
            let path = Path::root().key("joint").index(index);
            if prescribed(joint) {
                let kind = ErrorKind::CutPrescribed {
                    joint: joint.name.clone(),
                    instead: self.suggests().then(instead).unwrap_or_default(),
                };
                self.error(path.key(at), kind);
            }
            self.cut(&path, at, joint);
        }
    }

    /// What may be wrong with the kind of a joint that is cut.
    fn cut(&mut self, path: &Path, at: &str, joint: &JointSpec) {
        match joint.kind() {
            Some(JointKind::Free(_)) => {
                let joint = joint.name.clone();
                self.error(path.key(at), ErrorKind::CutFree { joint });
            }
            Some(JointKind::Universal(universal)) => {
                let path = path.key("universal").key("second").key("axis");
                self.orthogonal(path, universal.first.axis, universal.second.axis);
            }
            _ => {}
        }
    }

    /// Keys of joints that only the assembly of loops reads.
    fn assembly_without_loops(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("joint");
        for (index, joint) in spec.joint.iter().enumerate() {
            let path = list.index(index);
            let of = |r: &RevoluteSpec| (r.held, r.branch.is_some());
            let keys = match joint.kind() {
                Some(JointKind::Revolute(r)) => vec![(path.key("revolute"), of(r))],
                Some(JointKind::Prismatic(p)) => {
                    vec![(path.key("prismatic"), (p.held, p.branch.is_some()))]
                }
                Some(JointKind::Universal(u)) => {
                    let path = path.key("universal");
                    vec![
                        (path.key("first"), of(&u.first)),
                        (path.key("second"), of(&u.second)),
                    ]
                }
                _ => Vec::new(),
            };
            for (path, (held, branch)) in keys {
                for (key, given) in [("held", held), ("branch", branch)] {
                    if given {
                        self.no_effect(path.key(key), "the model has no loop to be assembled");
                    }
                }
            }
        }
    }

    fn closure(&mut self, has_loops: bool) {
        let spec = self.spec;
        let Some(closure) = &spec.simulation.closure else {
            return;
        };
        let path = Path::root().key("simulation").key("closure");
        if !has_loops {
            self.no_effect(path, "the model has no loop");
            return;
        }
        let path = path.key(closure.key());
        match closure {
            ClosureSpec::JointSpace(settings) => {
                let cuts = spanning_tree(spec).cuts;
                let known = || {
                    (spec.joint.iter().enumerate())
                        .filter(|(index, _)| !cuts.contains(index))
                        .map(|(_, joint)| joint.name.as_str())
                };
                for (index, name) in settings.independent.iter().flatten().enumerate() {
                    let path = path.key("independent").index(index);
                    let Some(joint) = spec.joint.iter().position(|joint| joint.name == *name)
                    else {
                        self.unknown(path, "joint", name, known());
                        continue;
                    };
                    if cuts.contains(&joint) && !is_acted_on(spec, &spec.joint[joint]) {
                        let reason = "the joint closes a loop and is cut; it has no coordinate";
                        self.no_effect(path, reason);
                    } else if spec.joint[joint].fixed.is_some() {
                        let joint = name.clone();
                        self.error(path, ErrorKind::NoFreedom { joint });
                    }
                }
            }
            ClosureSpec::CartesianSpace(settings) => {
                let markers = || spec.marker.iter().map(|marker| marker.name.as_str());
                match &settings.marker {
                    Some(name) if spec.find_marker(name).is_none() => {
                        self.unknown(path.key("marker"), "marker", name, markers());
                    }
                    None if spec.marker.is_empty() => {
                        let key = "marker".to_owned();
                        self.error(path.clone(), ErrorKind::MissingKey { key });
                    }
                    _ => {}
                }
                let chosen = settings.marker.as_deref().or(markers().next());
                if chosen
                    .and_then(|name| spec.find_marker(name))
                    .is_some_and(|marker| marker.body == GROUND)
                {
                    self.no_effect(
                        path.key("marker"),
                        "the marker is on the ground, which does not move",
                    );
                }
            }
            ClosureSpec::Stabilized(settings) => {
                self.frequency(
                    path.key("frequency_rad_per_s"),
                    settings.frequency_rad_per_s,
                );
                self.positive(path.key("damping_ratio"), settings.damping_ratio);
            }
            ClosureSpec::Automatic(_)
            | ClosureSpec::Projected(_)
            | ClosureSpec::OperationalSpace(_) => {}
        }
    }
}
