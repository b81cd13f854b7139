//! Time tables of inputs and motions that stand in files of their own.

use lissom::ModelSpec;
use lissom::spec::{InputSpec, JointSpec, MarkerPathSpec, MotionProfileSpec, TableMotionSpec};

use super::Files;
use crate::{IoError, table};

impl Files<'_> {
    /// Reads the time tables of inputs and motions.
    pub(super) fn tables(&mut self, spec: &mut ModelSpec) {
        let mut inputs = std::mem::take(&mut spec.input);
        for (index, input) in inputs.iter_mut().enumerate() {
            let path = lissom::Path::root().key("input").index(index);
            self.input(&path, input, spec);
        }
        spec.input = inputs;
        let mut motions = std::mem::take(&mut spec.motion);
        for (index, motion) in motions.iter_mut().enumerate() {
            let path = lissom::Path::root().key("motion").index(index).key("table");
            let translates = translates(spec, &motion.joint, motion.component);
            if let Some(table) = &mut motion.table {
                self.motion_table(&path, table, translates);
            }
        }
        spec.motion = motions;
        if let Some(nominal) = &mut spec.nominal_motion {
            for (key, profile, translates) in [
                ("x", &mut nominal.x, true),
                ("y", &mut nominal.y, true),
                ("z", &mut nominal.z, true),
                ("rotation", &mut nominal.rotation, false),
            ] {
                if let Some(MotionProfileSpec::Table(table)) = profile {
                    let path = lissom::Path::root().key("nominal_motion").key(key);
                    self.motion_table(&path.key("table"), table, translates);
                }
            }
            if let Some(MarkerPathSpec {
                distance: MotionProfileSpec::Table(table),
                ..
            }) = &mut nominal.path
            {
                let path = lissom::Path::root().key("nominal_motion").key("path");
                self.motion_table(&path.key("distance").key("table"), table, true);
            }
        }
    }

    fn input(&mut self, path: &lissom::Path, input: &mut InputSpec, spec: &ModelSpec) {
        if let Some(table) = &mut input.torque_table
            && let Some(name) = table.file.take()
            && let Some((time_s, values)) = self.time_table(name, &path.key("torque_table"))
        {
            (table.time_s, table.value_n_m) = (time_s, values);
        }
        if let Some(table) = &mut input.force_table
            && let Some(name) = table.file.take()
            && let Some((time_s, values)) = self.time_table(name, &path.key("force_table"))
        {
            (table.time_s, table.value_n) = (time_s, values);
        }
        if let Some(MotionProfileSpec::Table(table)) = &mut input.rigid_inverse_dynamics {
            let joint = input.joint.as_deref().unwrap_or_default();
            let translates = translates(spec, joint, input.component);
            let path = path.key("rigid_inverse_dynamics").key("table");
            self.motion_table(&path, table, translates);
        }
    }

    fn motion_table(&mut self, path: &lissom::Path, table: &mut TableMotionSpec, translates: bool) {
        if let Some(name) = table.file.take()
            && let Some((time_s, values)) = self.time_table(name, path)
        {
            table.time_s = time_s;
            if translates {
                table.displacement_m = Some(values);
            } else {
                table.angle_rad = Some(values);
            }
        }
    }

    fn time_table(&mut self, name: String, path: &lissom::Path) -> Option<(Vec<f64>, Vec<f64>)> {
        let parse = |name: &str, text: &str| Ok(table::parse(name, text).map_err(IoError::from)?);
        self.read(name, path.key("file"), path.clone(), parse)
    }
}

/// Whether a component of a joint is a displacement.
fn translates(spec: &ModelSpec, joint: &str, component: usize) -> bool {
    let kind = spec.find_joint(joint).and_then(JointSpec::kind);
    kind.is_some_and(|kind| kind.translates(component))
}
