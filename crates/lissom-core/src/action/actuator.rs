//! Actuators: what a motor gives of what inputs and controllers ask of it.
//!
//! The sum of what is asked on an axis is clipped to the largest effort, $`\bar u = \mathrm{sat}(\sum u)`$. Without a response time the
//! actuator gives $`\bar u`$; with one its effort $`w`$ follows by
//! $`\dot w = \mathrm{sat}_r\big((\bar u - w)/T\big)`$, no faster than its largest rate $`r`$.

use lissom_numerics::linear::Saturation;
use lissom_numerics::{Coordinate, CoordinateKind};
use lissom_spec::spec::ActuatorSpec;

use crate::axis::AxisName;
use crate::view::AxisId;

/// The motor of an axis with its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Name, unique among actuators.
    pub name: String,
    /// What the joint's axis is called.
    pub axis: AxisName,
    /// What it drives: the axis itself, or the motor behind its elastic gear.
    pub drive: AxisId,
    /// Largest effort either way.
    pub limit: Option<f64>,
    /// How it follows what is asked for, if not at once.
    pub response: Option<Response>,
}

/// How an actuator follows what is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Time constant.
    pub time: f64,
    /// Fastest change either way.
    pub fastest: Option<f64>,
}

/// What an actuator does at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivery {
    /// What is asked for.
    pub asked: f64,
    /// What acts on the axis.
    pub effort: f64,
    /// By how much what is asked for is clipped.
    pub excess: f64,
    /// How fast the effort of an actuator with a response time changes.
    pub rate: f64,
    /// Whether that is as fast as it can.
    pub is_fastest: bool,
}

impl Delivery {
    /// Which limits hold it back.
    pub fn saturation(&self) -> Saturation {
        Saturation {
            effort: self.excess != 0.0,
            rate: self.is_fastest,
        }
    }
}

impl Actuator {
    /// An actuator of the file on an axis.
    pub fn of(spec: &ActuatorSpec, axis: AxisName, drive: AxisId) -> Self {
        let fastest = spec.rate_limit();
        Self {
            name: spec.name.clone(),
            axis,
            drive,
            limit: spec.limit(),
            response: (spec.response_time_s).map(|time| Response { time, fastest }),
        }
    }

    /// What it gives of what is asked for; `state` is its effort so far, if it has a response time.
    pub(super) fn deliver(&self, asked: f64, state: Option<f64>) -> Delivery {
        let clipped = clip(asked, self.limit);
        let excess = clipped - asked;
        let (Some(response), Some(effort)) = (self.response, state) else {
            return Delivery {
                asked,
                effort: clipped,
                excess,
                ..Delivery::default()
            };
        };
        let wanted = (clipped - effort) / response.time;
        let rate = clip(wanted, response.fastest);
        Delivery {
            asked,
            effort,
            excess,
            rate,
            is_fastest: rate != wanted,
        }
    }

    /// Name and unit of its effort.
    pub fn signal(&self) -> (String, &'static str) {
        let [.., unit] = self.axis.units();
        (format!("{}.{}", self.name, self.axis.effort_word()), unit)
    }

    /// Its state, if it has one: the effort.
    pub(super) fn state(&self) -> Option<Coordinate> {
        let (name, unit) = self.signal();
        (self.response).map(|_| Coordinate::new(name, unit, CoordinateKind::Control))
    }
}

/// A number that is not a number stays one.
fn clip(value: f64, limit: Option<f64>) -> f64 {
    match limit {
        Some(limit) if value > limit => limit,
        Some(limit) if value < -limit => -limit,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn torque_and_its_rate_are_clipped() {
        let mut spec = ActuatorSpec {
            max_torque_n_m: Some(2.0),
            ..ActuatorSpec::default()
        };
        let axis = AxisName {
            joint: "hinge".to_owned(),
            suffix: "angle".to_owned(),
            part: None,
            translates: false,
            is_motor: false,
        };
        let made = |spec: &ActuatorSpec| Actuator::of(spec, axis.clone(), AxisId(0));
        let delivered = made(&spec).deliver(-5.0, None);
        assert_eq!((delivered.effort, delivered.excess), (-2.0, 3.0));
        assert_eq!(made(&spec).deliver(1.5, None).excess, 0.0);
        assert!(made(&spec).deliver(f64::NAN, None).effort.is_nan());
        (spec.response_time_s, spec.max_torque_rate_n_m_per_s) = (Some(0.5), Some(3.0));
        let fast = made(&spec).deliver(9.0, Some(-1.0));
        assert_eq!(
            (fast.effort, fast.excess, fast.rate, fast.is_fastest),
            (-1.0, -7.0, 3.0, true)
        );
        let slow = made(&spec).deliver(9.0, Some(1.5));
        assert_eq!((slow.rate, slow.is_fastest), (1.0, false));
    }
}
