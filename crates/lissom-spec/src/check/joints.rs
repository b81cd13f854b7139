//! `[[joint]]` and the tree that the joints make.

use std::collections::BTreeSet;

use super::Checker;
use super::limits::SMALLEST;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{
    FreeSpec, GROUND, JointSpec, PrismaticSpec, RevoluteSpec, SphericalSpec, UniversalSpec,
};
use crate::topology::{adrift, can_reverse, spanning_tree};

/// Sine of the angle between two axes below which they count as parallel.
const PARALLEL: f64 = 1e-6;

impl Checker<'_> {
    pub(super) fn joints(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("joint");
        self.names(
            "joint",
            &list,
            spec.joint.iter().map(|joint| joint.name.as_str()),
        );
        for (index, joint) in spec.joint.iter().enumerate() {
            let path = list.index(index);
            self.sides(&path, joint);
            self.kind(&path, joint);
        }
    }

    fn sides(&mut self, path: &Path, joint: &JointSpec) {
        for (key, side, ground_too) in [
            ("parent", &joint.parent, true),
            ("child", &joint.child, false),
        ] {
            let path = path.key(key);
            if side.is_ground() && !ground_too {
                let joint = joint.name.clone();
                self.error(path, ErrorKind::GroundAsChild { joint });
                continue;
            }
            // `body` is there in the table form only; without it the string itself is found
            self.body_called(path.key("body"), &side.body, ground_too);
            self.place(&path, &side.body, side.at.as_deref(), side.position_m);
        }
    }

    fn kind(&mut self, path: &Path, joint: &JointSpec) {
        let choices = [
            ("revolute", joint.revolute.is_some()),
            ("prismatic", joint.prismatic.is_some()),
            ("fixed", joint.fixed.is_some()),
            ("universal", joint.universal.is_some()),
            ("spherical", joint.spherical.is_some()),
            ("free", joint.free.is_some()),
        ];
        self.exactly_one(path, &choices);
        if let Some(revolute) = &joint.revolute {
            self.revolute(&path.key("revolute"), revolute);
        }
        if let Some(prismatic) = &joint.prismatic {
            self.prismatic(&path.key("prismatic"), prismatic);
        }
        if let Some(universal) = &joint.universal {
            self.universal(&path.key("universal"), universal);
        }
        if let Some(spherical) = &joint.spherical {
            self.spherical(&path.key("spherical"), spherical);
        }
        if let Some(free) = &joint.free {
            self.free(&path.key("free"), free);
        }
    }

    fn revolute(&mut self, path: &Path, joint: &RevoluteSpec) {
        self.direction(path.key("axis"), joint.axis);
        if let Some(motor) = &joint.motor {
            let path = path.key("motor");
            self.rotor(
                &path,
                motor.inertia_kg_m2,
                ("stiffness_n_m_per_rad", motor.stiffness_n_m_per_rad),
            );
            self.gear(path.key("gear_ratio"), motor.gear_ratio);
        }
        if let Some(limits) = &joint.limits {
            let path = path.key("limits").key("min_rad");
            self.limits(path, limits.min_rad, limits.max_rad);
        }
        if let Some(stops) = &joint.stops {
            let limits = joint.limits.unwrap_or_default();
            let has_end = limits.min_rad.is_some() || limits.max_rad.is_some();
            let (key, stiffness) = ("stiffness_n_m_per_rad", stops.stiffness_n_m_per_rad);
            self.stops(&path.key("stops"), has_end, (key, stiffness));
        }
    }

    fn prismatic(&mut self, path: &Path, joint: &PrismaticSpec) {
        self.direction(path.key("axis"), joint.axis);
        if let Some(motor) = &joint.motor {
            let path = path.key("motor");
            self.rotor(
                &path,
                motor.inertia_kg_m2,
                ("stiffness_n_per_m", motor.stiffness_n_per_m),
            );
            self.gear(path.key("gear_ratio_rad_per_m"), motor.gear_ratio_rad_per_m);
        }
        if let Some(limits) = &joint.limits {
            let path = path.key("limits").key("min_m");
            self.limits(path, limits.min_m, limits.max_m);
        }
        if let Some(stops) = &joint.stops {
            let limits = joint.limits.unwrap_or_default();
            let has_end = limits.min_m.is_some() || limits.max_m.is_some();
            let (key, stiffness) = ("stiffness_n_per_m", stops.stiffness_n_per_m);
            self.stops(&path.key("stops"), has_end, (key, stiffness));
        }
    }

    fn universal(&mut self, path: &Path, joint: &UniversalSpec) {
        self.revolute(&path.key("first"), &joint.first);
        self.revolute(&path.key("second"), &joint.second);
        if sine_between(joint.first.axis, joint.second.axis).is_some_and(|sine| sine < PARALLEL) {
            self.error(path.key("second").key("axis"), ErrorKind::ParallelAxes);
        }
    }

    fn spherical(&mut self, path: &Path, joint: &SphericalSpec) {
        if let Some(motor) = &joint.motor {
            let path = path.key("motor");
            self.not_negative(path.key("inertia_kg_m2"), motor.inertia_kg_m2);
            self.gear(path.key("gear_ratio"), motor.gear_ratio);
        }
    }

    fn free(&mut self, path: &Path, joint: &FreeSpec) {
        if let Some(motor) = &joint.motor {
            let path = path.key("motor");
            self.gear(path.key("angular_gear_ratio"), motor.angular_gear_ratio);
            self.gear(
                path.key("linear_gear_ratio_rad_per_m"),
                motor.linear_gear_ratio_rad_per_m,
            );
        }
        if let Some(limits) = &joint.limits {
            let path = path.key("limits").key("min_m");
            for axis in 0..3 {
                let along = |bound: Option<[f64; 3]>| bound.map(|bound| bound[axis]);
                self.limits(path.index(axis), along(limits.min_m), along(limits.max_m));
            }
        }
    }

    /// A rotor behind an elastic transmission moves on its own and needs inertia to do so.
    fn rotor(&mut self, path: &Path, inertia_kg_m2: f64, (key, stiffness): (&str, Option<f64>)) {
        let inertia = path.key("inertia_kg_m2");
        if let Some(stiffness) = stiffness {
            self.positive(inertia, inertia_kg_m2);
            self.positive(path.key(key), stiffness);
        } else {
            self.not_negative(inertia, inertia_kg_m2);
        }
    }

    fn gear(&mut self, path: Path, ratio: f64) {
        let accepted = ratio.abs() >= SMALLEST;
        self.in_range(path, ratio, accepted, "a ratio other than zero");
    }

    fn limits(&mut self, path: Path, min: Option<f64>, max: Option<f64>) {
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::LimitsReversed { key, min, max });
        }
    }

    /// Stops are stiff, and stand at a limit.
    fn stops(&mut self, path: &Path, has_end: bool, (key, stiffness): (&str, f64)) {
        self.positive(path.key(key), stiffness);
        if !has_end {
            self.error(path.clone(), ErrorKind::StopsWithoutLimits);
        }
    }

    /// Asks for a joint that carries every body.
    pub(super) fn tree(&mut self) {
        let spec = self.spec;
        let joints = spec.joint.iter().filter(|joint| !joint.cut);
        let sides = joints.flat_map(|joint| {
            let parent = Some(&joint.parent).filter(|parent| !parent.is_ground());
            parent.into_iter().chain([&joint.child])
        });
        let joined: BTreeSet<&str> = sides.map(|side| side.body.as_str()).collect();
        for (index, body) in spec.body.iter().enumerate() {
            if !body.name.is_empty() && !joined.contains(body.name.as_str()) {
                let path = Path::root().key("body").index(index);
                let body = body.name.clone();
                self.error(path.key("name"), ErrorKind::NoJoint { body });
            }
        }
        let list = Path::root().key("joint");
        let adrift = adrift(spec);
        for (first, bodies) in &adrift {
            let bodies: Vec<String> = bodies.iter().map(ToString::to_string).collect();
            if bodies.len() > 1 {
                let path = list.index(*first).key("parent").key("body");
                self.error(path, ErrorKind::Adrift { bodies });
            }
        }
        for (index, joint) in spec.joint.iter().enumerate() {
            if joint.parent.body == joint.child.body && joint.child.body != GROUND {
                let kind = ErrorKind::OnItself {
                    what: "joint",
                    name: joint.name.clone(),
                    body: joint.child.body.clone(),
                };
                self.error(list.index(index).key("parent").key("body"), kind);
            }
        }
        if adrift.is_empty() {
            self.reversals();
        }
    }

    /// Asks for joints that can be reversed where bodies hang on them the other way.
    fn reversals(&mut self) {
        let spec = self.spec;
        let tree = spanning_tree(spec);
        let bodies = tree.joints.iter().map(|joint| &joint.sides(spec).1.body);
        let carried: BTreeSet<&str> = bodies.map(String::as_str).collect();
        let carried = |name: &str| name == GROUND || carried.contains(name);
        for (index, joint) in spec.joint.iter().enumerate() {
            let Some(kind) = joint.kind() else { continue };
            let (parent, child) = (&joint.parent.body, &joint.child.body);
            if !can_reverse(joint)
                && !joint.cut
                && carried(child)
                && !carried(parent)
                && self.bodies.contains_key(parent.as_str())
            {
                let kind = ErrorKind::NotReversible {
                    body: parent.clone(),
                    joint: joint.name.clone(),
                    kind: kind.key(),
                };
                let path = Path::root().key("joint").index(index);
                self.error(path.key("parent").key("body"), kind);
            }
        }
    }
}

/// Sine of the angle between two vectors; `None` if either is zero or not finite.
fn sine_between(a: [f64; 3], b: [f64; 3]) -> Option<f64> {
    let [a, b] = [unit(a)?, unit(b)?];
    let cross = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    Some(cross.iter().map(|x| x * x).sum::<f64>().sqrt())
}

/// The vector at length one, without overflow on the way.
pub(super) fn unit(vector: [f64; 3]) -> Option<[f64; 3]> {
    let largest = vector
        .iter()
        .fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 || !vector.iter().all(|x| x.is_finite()) {
        return None;
    }
    let scaled = vector.map(|x| x / largest);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}
