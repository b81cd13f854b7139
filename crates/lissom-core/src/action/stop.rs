//! Stops at the ends of a joint's travel: stiff, damped, and never pulling.
//!
//! A joint that is beyond an end by the depth $`p`$ is pressed back with
//!
//! ```math
//! F = \max(0,\; k\,p + c\,\dot p) .
//! ```
//!
//! The stop stores $`\tfrac12 k\,p^2`$ and takes $`(F - k\,p)\,\dot p \ge 0`$: what a joint that leaves faster than the stop can follow does not
//! get back goes into the damper. Where it touches and where it leaves the force has a jump or a kink; runs locate both, and evaluate one smooth
//! piece in between ([`Contact`]).

use lissom_spatial::{Real, Scalar};

use crate::axis::AxisName;
use crate::view::{AxisId, View};

/// Stops at the ends of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct JointStop {
    /// What the axis is called.
    pub name: AxisName,
    /// The axis.
    pub axis: AxisId,
    /// Lower and upper end; infinite where there is none.
    pub ends: [f64; 2],
    /// $`k`$.
    pub stiffness: f64,
    /// $`c`$.
    pub damping: f64,
}

/// An end of the travel of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The smallest position.
    Lower,
    /// The largest position.
    Upper,
}

/// What a joint has to do with its stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// It is between them.
    #[default]
    Apart,
    /// It is pressed back from an end.
    Pressed(End),
    /// It is beyond an end and comes back faster than the stop would push it.
    Released(End),
}

impl End {
    fn outward(self) -> f64 {
        match self {
            Self::Lower => -1.0,
            Self::Upper => 1.0,
        }
    }
}

impl JointStop {
    /// Depth beyond an end, and its rate.
    #[inline(always)]
    fn beyond<T: Scalar>(&self, end: End, [position, rate]: [T; 2]) -> [T; 2] {
        let outward = end.outward();
        let depth = (position - T::constant(self.ends[end as usize])) * outward;
        [depth, rate * outward]
    }

    /// Depth at which the spring alone would press as spring and damper do.
    fn pressure(&self, [depth, speed]: [f64; 2]) -> f64 {
        depth + self.damping / self.stiffness * speed
    }

    /// What the joint has to do with its stops at a position and rate.
    pub fn contact(&self, motion: [f64; 2]) -> Contact {
        let beyond = |end: &End| self.beyond(*end, motion)[0] > 0.0;
        match [End::Lower, End::Upper].into_iter().find(beyond) {
            None => Contact::Apart,
            Some(end) if self.pressure(self.beyond(end, motion)) >= 0.0 => Contact::Pressed(end),
            Some(end) => Contact::Released(end),
        }
    }

    /// Becomes positive where a contact ends.
    fn distance_beyond(&self, contact: Contact, motion: [f64; 2]) -> f64 {
        let depth = |end| self.beyond(end, motion)[0];
        let pressure = |end| self.pressure(self.beyond(end, motion));
        match contact {
            Contact::Apart => depth(End::Lower).max(depth(End::Upper)),
            Contact::Pressed(end) => -pressure(end),
            Contact::Released(end) => pressure(end).max(-depth(end)),
        }
    }

    /// Whether the joint, which is between its stops and moves away from one of them, may have touched that in the time before: at its rate it would
    /// have come from beyond.
    fn may_have_touched(&self, contact: Contact, [position, rate]: [f64; 2], span_s: f64) -> bool {
        let came_from = [position - span_s * rate, rate];
        contact == Contact::Apart && self.distance_beyond(contact, came_from) > 0.0
    }

    /// The effort that it exerts on its axis at a position and rate.
    pub fn effort(&self, motion: [f64; 2]) -> f64 {
        match self.contact(motion) {
            Contact::Pressed(end) => {
                -end.outward() * self.stiffness * self.pressure(self.beyond(end, motion))
            }
            Contact::Apart | Contact::Released(_) => 0.0,
        }
    }

    /// Name and unit of that effort.
    pub fn signal(&self) -> (String, &'static str) {
        let [.., unit] = self.name.units();
        (self.name.stop_effort(), unit)
    }

    /// Pushes, as in a contact; returns the power that is dissipated.
    #[inline(always)]
    fn push<T: Real>(&self, contact: Contact, view: &mut impl View<T>) -> T {
        match contact {
            Contact::Apart => T::zero(),
            Contact::Pressed(end) => {
                let [depth, speed] = self.beyond(end, view.axis(self.axis));
                let drag = speed * self.damping;
                let effort = depth * self.stiffness + drag;
                view.push_axis(self.axis, effort * -end.outward());
                drag * speed
            }
            Contact::Released(end) => {
                let [depth, speed] = self.beyond(end, view.axis(self.axis));
                depth * -self.stiffness * speed
            }
        }
    }

    /// Energy that it stores.
    fn energy(&self, motion: [f64; 2]) -> f64 {
        let ends = [End::Lower, End::Upper];
        let depth = ends.map(|end| self.beyond(end, motion)[0].max(0.0));
        0.5 * self.stiffness * (depth[0] * depth[0] + depth[1] * depth[1])
    }

    /// Its stiffness and how far it is compressed, where it presses.
    fn spring<T: Real>(&self, view: &impl View<T>, spring: &mut impl FnMut(f64, T)) {
        let motion = view.axis(self.axis);
        if let Contact::Pressed(end) = self.contact(motion.map(Real::value)) {
            spring(self.stiffness, self.beyond(end, motion)[0]);
        }
    }
}

/// Pushes all stops, in the contacts that hold or, where none are given, those of the state; returns the power that is dissipated.
#[inline(always)]
pub(super) fn push_stops<T: Real>(
    stops: &[JointStop],
    contacts: &[Contact],
    view: &mut impl View<T>,
) -> T {
    let mut dissipated = T::zero();
    for (at, stop) in stops.iter().enumerate() {
        let contact = contact_of(stop, contacts.get(at), view);
        dissipated += stop.push(contact, view);
    }
    dissipated
}

#[inline(always)]
fn contact_of<T: Real>(
    stop: &JointStop,
    holding: Option<&Contact>,
    view: &impl View<T>,
) -> Contact {
    let of_state = || stop.contact(view.axis(stop.axis).map(Real::value));
    holding.copied().unwrap_or_else(of_state)
}

/// Energy of all stops.
pub(super) fn stop_energy(stops: &[JointStop], view: &impl View<f64>) -> f64 {
    stops
        .iter()
        .fold(0.0, |sum, stop| sum + stop.energy(view.axis(stop.axis)))
}

/// Stiffness and compression of all stops that press.
pub(super) fn stop_springs<T: Real>(
    stops: &[JointStop],
    view: &impl View<T>,
    spring: &mut impl FnMut(f64, T),
) {
    for stop in stops {
        stop.spring(view, spring);
    }
}

/// Tells stiffness and damping of all stops that press.
pub(super) fn stop_pulls(
    stops: &[JointStop],
    contacts: &[Contact],
    view: &impl View<f64>,
    mut tell: impl FnMut(AxisId, [f64; 2]),
) {
    for (at, stop) in stops.iter().enumerate() {
        if let Contact::Pressed(_) = contact_of(stop, contacts.get(at), view) {
            tell(stop.axis, [stop.stiffness, stop.damping]);
        }
    }
}

/// The contacts of a state.
pub(super) fn find_contacts(
    stops: &[JointStop],
    view: &impl View<f64>,
    contacts: &mut Vec<Contact>,
) {
    contacts.clear();
    contacts.extend(stops.iter().map(|stop| stop.contact(view.axis(stop.axis))));
}

/// Becomes positive where one of the contacts that hold ends.
pub(super) fn contact_distance(
    stops: &[JointStop],
    contacts: &[Contact],
    view: &impl View<f64>,
) -> f64 {
    let distances = (stops.iter().zip(contacts))
        .map(|(stop, contact)| stop.distance_beyond(*contact, view.axis(stop.axis)));
    distances.fold(f64::NEG_INFINITY, f64::max)
}

/// Whether a joint that moves away from a stop may have touched it in the time before.
pub(super) fn may_have_touched(
    stops: &[JointStop],
    contacts: &[Contact],
    span_s: f64,
    view: &impl View<f64>,
) -> bool {
    let mut all = stops.iter().zip(contacts);
    all.any(|(stop, contact)| stop.may_have_touched(*contact, view.axis(stop.axis), span_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop() -> JointStop {
        JointStop {
            name: AxisName {
                joint: "hinge".to_owned(),
                suffix: "angle".to_owned(),
                part: None,
                translates: false,
                is_motor: false,
            },
            axis: AxisId(0),
            ends: [-1.0, 2.0],
            stiffness: 100.0,
            damping: 4.0,
        }
    }

    /// By hand.
    #[test]
    fn stops_press_and_never_pull() {
        let stop = stop();
        for (motion, contact, effort) in [
            ([0.0, 9.0], Contact::Apart, 0.0),
            ([2.0, 9.0], Contact::Apart, 0.0),
            ([2.5, 1.0], Contact::Pressed(End::Upper), -54.0),
            ([2.5, -20.0], Contact::Released(End::Upper), 0.0),
            ([-1.25, -1.0], Contact::Pressed(End::Lower), 29.0),
            ([-1.25, 8.0], Contact::Released(End::Lower), 0.0),
        ] {
            assert_eq!(stop.contact(motion), contact, "{motion:?}");
            assert!((stop.effort(motion) - effort).abs() < 1e-12, "{motion:?}");
            // a contact holds where it was found
            assert!(stop.distance_beyond(contact, motion) <= 0.0, "{motion:?}");
        }
        assert!(stop.distance_beyond(Contact::Apart, [2.1, 0.0]) > 0.0);
        assert!(stop.distance_beyond(Contact::Pressed(End::Upper), [2.1, -5.0]) > 0.0);
        assert!(stop.distance_beyond(Contact::Released(End::Upper), [1.9, -5.0]) > 0.0);
        assert!(stop.distance_beyond(Contact::Released(End::Upper), [2.1, 0.0]) > 0.0);
        assert_eq!(stop.energy([-1.5, 3.0]), 12.5);
    }

    /// Closed form of a parabola that peaks beyond the end within the span; one that comes from too far inside has not been there.
    #[test]
    fn joints_that_turn_back_are_suspected() {
        let stop = stop();
        let at = |span: f64, peak: f64| [peak - 5.0 * span * span, -10.0 * span];
        assert!(stop.may_have_touched(Contact::Apart, at(0.05, 2.001), 0.1));
        assert!(!stop.may_have_touched(Contact::Apart, [1.0, -0.1], 0.1));
        assert!(!stop.may_have_touched(Contact::Apart, [1.99, 0.1], 0.1));
    }
}
