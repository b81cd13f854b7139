//! `[[actuator]]`.

use std::collections::BTreeSet;

use super::Checker;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{ActuatorSpec, JointKind};

impl Checker<'_> {
    pub(super) fn actuators(&mut self) {
        let spec = self.spec;
        let list = Path::root().key("actuator");
        let names = spec.actuator.iter().map(|actuator| actuator.name.as_str());
        self.names("actuator", &list, names);
        let mut driven = BTreeSet::new();
        for (index, actuator) in spec.actuator.iter().enumerate() {
            let path = list.index(index);
            let joints = spec.joint.iter().map(|joint| joint.name.as_str());
            let elements = spec.element.iter().map(|element| element.name.as_str());
            // recordings call the torque of an actuator and of a joint alike
            if joints.chain(elements).any(|name| name == actuator.name) {
                let (what, name) = ("actuator", actuator.name.clone());
                self.error(path.key("name"), ErrorKind::ReservedName { what, name });
            }
            self.driven_joint(path.key("joint"), &actuator.joint);
            if !driven.insert(actuator.joint.as_str()) {
                let reason = "another actuator drives the same joint";
                self.no_effect(path.key("joint"), reason);
            }
            self.actuator_limits(&path, actuator);
        }
    }

    /// Limits of the quantity that the joint takes, and a response time for those of its change.
    fn actuator_limits(&mut self, path: &Path, actuator: &ActuatorSpec) {
        let given = [
            ("max_torque_n_m", actuator.max_torque_n_m, false, false),
            ("max_force_n", actuator.max_force_n, true, false),
            (
                "max_torque_rate_n_m_per_s",
                actuator.max_torque_rate_n_m_per_s,
                false,
                true,
            ),
            (
                "max_force_rate_n_per_s",
                actuator.max_force_rate_n_per_s,
                true,
                true,
            ),
        ];
        let slides = self.slides(&actuator.joint);
        for (key, limit, of_force, of_rate) in given {
            if limit.is_none() {
                continue;
            }
            match slides {
                Some(false) if of_force => {
                    self.no_effect(path.key(key), "the joint turns: it takes a torque");
                }
                Some(true) if !of_force => {
                    self.no_effect(path.key(key), "the joint slides: it takes a force");
                }
                _ if of_rate && actuator.response_time_s.is_none() => {
                    let key = "response_time_s".to_owned();
                    self.error(path.clone(), ErrorKind::MissingKey { key });
                }
                _ => {}
            }
        }
    }

    /// Whether a driven joint or element slides; `None` for what is not there.
    fn slides(&self, name: &str) -> Option<bool> {
        let spec = self.spec;
        if spec.is_of_nodes() {
            let element = spec.element.iter().find(|element| element.name == name)?;
            return Some(element.hinge.is_none());
        }
        match spec.find_joint(name)?.kind()? {
            JointKind::Revolute(_) => Some(false),
            JointKind::Prismatic(_) => Some(true),
            _ => None,
        }
    }
}
