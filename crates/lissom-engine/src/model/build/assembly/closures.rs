//! Loops and supports of the file and joints that are cut become closures.

use super::{Assembly, unit};
use lissom_core::Load;
use lissom_spatial::Transform;
use lissom_spec::spec::{
    self, AttachmentSpec, BodyKind, BodySpec, ClosureSpec, GROUND, JointKind, LoopKind, Slopes,
    SupportSpec, Twist,
};
use lissom_tree::{Closure, ClosureEnd, ClosureKind, ClosureMethod, Place};

impl Assembly<'_> {
    /// Joints that are cut, then loops, then supports, each in the order of the file.
    pub(super) fn closures(&self) -> Vec<Closure> {
        let spec = self.spec;
        let cuts = self.tree.cuts.iter().filter_map(|&cut| {
            let joint = &spec.joint[cut];
            if let Some(stub) = self.stub_end(cut) {
                return Some(Closure {
                    name: joint.name.clone(),
                    kind: ClosureKind::Fixed,
                    from: stub,
                    to: self.joint_end(&joint.child, true),
                });
            }
            let kind = match joint.kind()? {
                JointKind::Revolute(r) => ClosureKind::Revolute { axis: unit(r.axis) },
                JointKind::Prismatic(p) => ClosureKind::Prismatic { axis: unit(p.axis) },
                JointKind::Fixed => ClosureKind::Fixed,
                JointKind::Universal(u) => ClosureKind::Universal {
                    first: unit(u.first.axis),
                    second: unit(u.second.axis),
                },
                JointKind::Spherical(_) => ClosureKind::Spherical,
                JointKind::Free(_) => return None,
            };
            Some(Closure {
                name: joint.name.clone(),
                kind,
                from: self.joint_end(&joint.parent, false),
                to: self.joint_end(&joint.child, true),
            })
        });
        let loops = spec.loops.iter().filter_map(|closure| {
            let kind = match closure.kind()? {
                LoopKind::Revolute(r) => ClosureKind::Revolute { axis: unit(r.axis) },
                LoopKind::Prismatic(p) => ClosureKind::Prismatic { axis: unit(p.axis) },
                LoopKind::Universal(u) => ClosureKind::Universal {
                    first: unit(u.axes[0]),
                    second: unit(u.axes[1]),
                },
                LoopKind::Spherical => ClosureKind::Spherical,
                LoopKind::Fixed => ClosureKind::Fixed,
                LoopKind::PointOnLine(line) => ClosureKind::PointOnLine {
                    direction: unit(line.direction),
                },
                LoopKind::Distance(distance) => ClosureKind::Distance {
                    length: distance.length_m,
                },
            };
            Some(Closure {
                name: closure.name.clone(),
                kind,
                from: self.loop_end(&closure.from),
                to: self.loop_end(&closure.to),
            })
        });
        let supports = spec
            .support
            .iter()
            .flat_map(|support| self.support(support));
        cuts.chain(loops).chain(supports).collect()
    }

    /// The point of a support, and direction and twist of the beam if it holds them.
    fn support(&self, support: &SupportSpec) -> Vec<Closure> {
        let Some(BodyKind::Beam(beam)) =
            (self.spec.find_body(&support.beam)).and_then(BodySpec::kind)
        else {
            return Vec::new();
        };
        let [y, z, ..] = beam.deformations();
        let planes = [y, z];
        let closure = |name: String, kind: ClosureKind| Closure {
            name,
            kind,
            from: ClosureEnd {
                body: self.index.get(support.beam.as_str()).copied(),
                place: Place::Fixed(Transform::identity()),
            },
            to: self.loop_end(&support.on),
        };
        let mut closures = vec![closure(
            support.name.clone(),
            ClosureKind::OnBeam { planes },
        )];
        if support.slopes == Slopes::Tied {
            let name = format!("{}.slope", support.name);
            closures.push(closure(name, ClosureKind::AlongBeam { planes }));
        }
        if support.twist == Twist::Tied {
            let name = format!("{}.twist", support.name);
            closures.push(closure(name, ClosureKind::TwistOfBeam));
        }
        closures
    }

    fn joint_end(&self, side: &AttachmentSpec, child_side: bool) -> ClosureEnd {
        ClosureEnd {
            body: self.index.get(side.body.as_str()).copied(),
            place: self.side(side, child_side),
        }
    }

    fn loop_end(&self, end: &AttachmentSpec) -> ClosureEnd {
        let end = self.spec.loop_end(end);
        let attachment = AttachmentSpec {
            body: end.body.to_owned(),
            at: match end.place {
                spec::Place::Named(at) => Some(at.to_owned()),
                _ => None,
            },
            position_m: match end.place {
                spec::Place::Position(position) => Some(position),
                _ => None,
            },
            rotation_vector_rad: end.rotation_vector_rad,
        };
        self.joint_end(&attachment, false)
    }

    /// The method that the file asks for. Components of a marker that are not named stay empty until the
    /// degrees of freedom are known.
    pub(super) fn closure_method(&self, loads: &[Load]) -> ClosureMethod {
        let spec = self.spec;
        match &spec.simulation.closure {
            None | Some(ClosureSpec::Automatic(_)) => ClosureMethod::Automatic,
            Some(ClosureSpec::JointSpace(settings)) => {
                let mut independent: Vec<usize> = match &settings.independent {
                    Some(names) => names
                        .iter()
                        .filter_map(|name| self.components.get(name.as_str()))
                        .flatten()
                        .map(|component| component.velocity)
                        .collect(),
                    None => loads
                        .iter()
                        .filter_map(|load| {
                            let places = &self.model.places;
                            places.velocity(&load.target, &self.model.transmissions)
                        })
                        .collect(),
                };
                independent.sort_unstable();
                independent.dedup();
                ClosureMethod::JointSpace { independent }
            }
            Some(ClosureSpec::CartesianSpace(settings)) => {
                let chosen = |marker: &spec::MarkerSpec| match &settings.marker {
                    Some(name) => marker.name == *name,
                    None => marker.body != GROUND,
                };
                let components = settings.components.iter().flatten();
                ClosureMethod::CartesianSpace {
                    marker: spec.marker.iter().position(chosen).unwrap_or(0),
                    components: components.map(|component| component.entry()).collect(),
                }
            }
            Some(ClosureSpec::Stabilized(settings)) => ClosureMethod::Stabilized {
                frequency: settings.frequency_rad_per_s,
                damping_ratio: settings.damping_ratio,
            },
            Some(ClosureSpec::Projected(_)) => ClosureMethod::Projected,
            Some(ClosureSpec::OperationalSpace(_)) => ClosureMethod::OperationalSpace,
        }
    }
}
