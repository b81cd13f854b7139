//! The configuration of a nodal model at the samples of a recording, from the channels that it holds.

use lissom_core::{AxisId, Coordinates, ElasticId, MotionCurve, Nominal as _, State, StateError};
use lissom_nodal::{Drive, Equations, Excitation, Mechanism, Motion, NodalError, NodeKind};
use lissom_numerics::Coordinate;

use super::charts::Charts;
use super::trajectory::NodalTrajectory;
use super::{NodalActions, NodalJoint, NodalModel};

/// A nodal model that goes where a recording was.
#[derive(Debug)]
pub(crate) struct Replay<'m> {
    nodal: &'m NodalModel,
    equations: Equations<'m>,
    /// The same without deformation.
    rigid: Equations<'m>,
    /// The same on its nominal motion.
    nominal_place: Equations<'m>,
    acts: NodalActions<'m>,
    drives: Vec<Drive>,
    position: Vec<f64>,
    /// Channels of the positions that are recorded as they are.
    direct: Vec<(usize, String)>,
    /// Channels of the velocities that are recorded as they are.
    rates: Vec<(usize, String)>,
    /// Positions of deformations, and their values without any.
    undeformed: Vec<(usize, f64)>,
    /// Positions of axes with a nominal motion.
    nominal: Vec<(usize, MotionCurve)>,
    /// Where all joints are determined by loops or a marker.
    together: Option<NodalTrajectory<'m>>,
    /// The same with its loops open, where joints can be followed past their dead points.
    open: Option<OpenReplay<'m>>,
}

/// Channels of what is recorded of a mechanism as it is: of positions, and of velocities.
#[derive(Debug)]
struct Recorded {
    direct: Vec<(usize, String)>,
    rates: Vec<(usize, String)>,
}

/// A nodal model whose joints all go where a recording has them, independent or dependent.
#[derive(Debug)]
struct OpenReplay<'m> {
    equations: Equations<'m>,
    position: Vec<f64>,
    recorded: Recorded,
    /// Whether the mechanism was last placed so.
    is_placed: bool,
}

impl Recorded {
    /// In the degrees of freedom of a mechanism.
    fn of(nodal: &NodalModel, mechanism: &Mechanism) -> Self {
        let first = |dof: usize| mechanism.dof_positions(dof).start;
        let mut direct = Vec::new();
        let mut rates = Vec::new();
        for joint in &nodal.joints {
            match *joint {
                NodalJoint::Axis(axis) => {
                    if let Some(dof) = nodal.axis_dof_in(mechanism, axis) {
                        let AxisId(axis) = axis;
                        let coordinate = nodal.axes[axis].name.coordinate();
                        rates.push((dof, format!("{coordinate}.rate")));
                        direct.push((first(dof), coordinate));
                    }
                }
                NodalJoint::Ball(joint) => {
                    let ball = &nodal.balls[joint.0];
                    if let Some(&dof) = ball.dofs(mechanism).first() {
                        let part = nodal.joint_coordinates(joint);
                        // the offset of a free joint stands before its quaternion
                        let at = first(dof) - if ball.translates { 3 } else { 0 };
                        direct.extend(named(part.positions(), at));
                        rates.extend(named(part.rates(), dof));
                    }
                }
            }
        }
        for &node in &nodal.nodes {
            let name = mechanism.node_name(node);
            let dof = |component| mechanism.coordinate_dof(node, component).map(first);
            let (moving, components): (&str, &[&str]) = match mechanism.node_kind(node) {
                NodeKind::PlanarAngle => ("angle", &["", "", "rate"]),
                NodeKind::Orientation => ("angular_velocity", &["x", "y", "z"]),
                NodeKind::PlanarPoint | NodeKind::Point => ("velocity", &["x", "y", "z"]),
            };
            for (component, axis) in components.iter().enumerate() {
                let moves = mechanism.coordinate_dof(node, component);
                rates.extend(moves.map(|dof| (dof, format!("{name}.{moving}.{axis}"))));
            }
            match mechanism.node_kind(node) {
                NodeKind::PlanarAngle => {
                    direct.extend(dof(2).map(|at| (at, format!("{name}.angle"))));
                }
                NodeKind::Orientation => {
                    direct.extend((dof(0).into_iter()).flat_map(|at| quaternion_at(at, name)));
                }
                NodeKind::PlanarPoint | NodeKind::Point => {
                    for (component, axis) in ["x", "y", "z"].into_iter().enumerate() {
                        let at = dof(component);
                        direct.extend(at.map(|at| (at, format!("{name}.position.{axis}"))));
                    }
                }
            }
        }
        for part in nodal.parts().coordinates {
            let (Coordinates::Elastic { at, .. } | Coordinates::Orientation { at, .. }) = &part
            else {
                continue;
            };
            let ElasticId(dof) = *at;
            let deformation = nodal.mechanism.dof_deformation(dof);
            let there = deformation.and_then(|(e, i)| mechanism.deformation_dof(e, i));
            let dof = there.unwrap_or(dof);
            direct.extend(named(part.positions(), first(dof)));
            rates.extend(named(part.rates(), dof));
        }
        Self { direct, rates }
    }
}

impl<'m> Replay<'m> {
    /// Of a nodal model.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular at assembly.
    pub(crate) fn new(nodal: &'m NodalModel) -> Result<Self, NodalError> {
        let mechanism = &nodal.mechanism;
        let first = |dof: usize| mechanism.dof_positions(dof).start;
        let Recorded { direct, rates } = Recorded::of(nodal, mechanism);
        let elastic = nodal.elastic_dofs();
        let undeformed = nodal.undeformed_position();
        let nominal = nodal.actions.loads.iter().filter_map(|load| {
            let at = first(nodal.axis_dof(load.target.axis()?)?);
            let profile = load.nominal_motion()??;
            Some((at, MotionCurve::new(profile, nodal.initial_position[at])))
        });
        Ok(Self {
            nodal,
            equations: Equations::new(mechanism)?,
            rigid: Equations::new(mechanism)?,
            nominal_place: Equations::new(mechanism)?,
            acts: NodalActions::new(nodal),
            drives: mechanism.assembled_drives(),
            position: nodal.initial_position.clone(),
            direct,
            rates,
            undeformed: (elastic.iter())
                .flat_map(|&dof| mechanism.dof_positions(dof))
                .map(|at| (at, undeformed[at]))
                .collect(),
            nominal: nominal.collect(),
            together: nodal.followed_trajectory(),
            open: (nodal.open())
                .map(|open| OpenReplay::new(nodal, open))
                .transpose()?,
        })
    }

    /// Channels that a recording must have.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &str> {
        self.direct.iter().map(|(_, name)| name.as_str())
    }

    /// Whether some axis has a nominal motion.
    pub(crate) fn has_nominal(&self) -> bool {
        !self.nominal.is_empty() || self.together.is_some()
    }

    /// Places the mechanism at an instant at which signals are known by their names; those that are not leave it where it
    /// was.
    ///
    /// # Errors
    ///
    /// When it cannot be there.
    pub(crate) fn place(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), NodalError> {
        self.acts.drive(time_s, &mut self.drives);
        for (at, name) in &self.direct {
            if let Some(value) = value(name) {
                self.position[*at] = value;
            }
        }
        let placed = self.equations.place(&self.position, &self.drives);
        let Some(open) = &mut self.open else {
            return placed;
        };
        let charts = self.nodal.charts.as_ref();
        let agrees = |charts: &Charts| charts.agree(&self.equations, value);
        open.is_placed = placed.is_err()
            || !charts.is_none_or(agrees)
            || (self.nodal).is_ill_conditioned(self.nodal.first_chart(), &mut self.equations);
        if !open.is_placed {
            return Ok(());
        }
        open.place(&self.drives, value)?;
        // from here the next place is sought, if it can be
        if let Ok((equations, motion)) = open.closed(&self.nodal.mechanism, &self.drives) {
            self.equations = equations;
            self.position = motion.position;
        }
        Ok(())
    }

    /// The mechanism as it was last placed.
    pub(crate) fn placed(&self) -> &Equations<'m> {
        match &self.open {
            Some(open) if open.is_placed => &open.equations,
            _ => &self.equations,
        }
    }

    /// The mechanism without deformation as it was last placed.
    pub(crate) fn undeformed(&self) -> &Equations<'m> {
        &self.rigid
    }

    /// The mechanism on its nominal motion as it was last placed.
    pub(crate) fn nominal(&self) -> &Equations<'m> {
        &self.nominal_place
    }

    /// The state at an instant at which all signals that it needs are known by their names.
    ///
    /// # Errors
    ///
    /// When one is not known, or the mechanism cannot be there.
    pub(crate) fn state(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let known = |name: &str| {
            value(name).ok_or_else(|| StateError::NotRecorded {
                channel: name.to_owned(),
            })
        };
        for name in self.channels() {
            known(name)?;
        }
        self.place(time_s, value)
            .map_err(|error| StateError::Unplaced {
                reason: error.to_string(),
            })?;
        if let Some(open) = self.open.as_mut().filter(|open| open.is_placed) {
            return open.state(self.nodal, &self.drives, time_s, value);
        }
        let mut velocity = vec![0.0; self.nodal.mechanism.dof_count()];
        for (dof, name) in &self.rates {
            velocity[*dof] = known(name)?;
        }
        // loops may close in other ways than where the model starts
        let memory = (self.nodal.charts.as_ref()).map(|_| self.equations.memory());
        Ok(State {
            work_j: value("energy.work").unwrap_or(0.0),
            dissipated_j: value("energy.dissipated").unwrap_or(0.0),
            memory: memory.unwrap_or_default(),
            ..State::new(time_s, self.position.clone(), velocity)
        })
    }

    /// Places the mechanism without deformation twice: with its independent joints as the mechanism was last placed, and on
    /// their nominal motion if there is one. Where it cannot be so, as it was.
    pub(crate) fn place_undeformed(&mut self, time: f64) {
        let mut position = self.position.clone();
        for &(at, value) in &self.undeformed {
            position[at] = value;
        }
        if self.rigid.place(&position, &self.drives).is_err() {
            self.rigid.clone_from(&self.equations);
        }
        if !self.has_nominal() {
            return;
        }
        for (at, curve) in &self.nominal {
            position[*at] = curve.at(time).position;
        }
        if let Some(together) = &mut self.together
            && together.follow(time).is_ok()
        {
            position.copy_from_slice(&together.state().position);
        }
        if self.nominal_place.place(&position, &self.drives).is_err() {
            self.nominal_place.clone_from(&self.rigid);
        }
    }
}

impl<'m> OpenReplay<'m> {
    fn new(nodal: &NodalModel, mechanism: &'m Mechanism) -> Result<Self, NodalError> {
        Ok(Self {
            equations: Equations::new(mechanism)?,
            position: mechanism.assembled_position(),
            recorded: Recorded::of(nodal, mechanism),
            is_placed: false,
        })
    }

    fn place(
        &mut self,
        drives: &[Drive],
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<(), NodalError> {
        for (at, name) in &self.recorded.direct {
            if let Some(value) = value(name) {
                self.position[*at] = value;
            }
        }
        self.equations.place(&self.position, drives)
    }

    /// The mechanism where it was last placed, at rest, with its loops closed in a chart.
    fn closed<'c>(
        &mut self,
        mechanism: &'c Mechanism,
        drives: &[Drive],
    ) -> Result<(Equations<'c>, Motion), NodalError> {
        let motion = Motion {
            position: self.position.clone(),
            velocity: vec![0.0; self.equations.mechanism().dof_count()],
        };
        self.equations.exchanged(mechanism, &motion, drives)
    }

    /// The state where it was last placed, in a chart that suits it.
    fn state(
        &mut self,
        nodal: &NodalModel,
        drives: &[Drive],
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let mut motion = Motion {
            position: self.position.clone(),
            velocity: vec![0.0; self.equations.mechanism().dof_count()],
        };
        for (dof, name) in &self.recorded.rates {
            motion.velocity[*dof] = value(name).ok_or_else(|| StateError::NotRecorded {
                channel: name.clone(),
            })?;
        }
        let found = nodal.charted(&self.equations, &motion, drives);
        let (chart, equations, motion) = found.map_err(|error| StateError::Unplaced {
            reason: error.to_string(),
        })?;
        let mut memory = equations.memory();
        chart.remember(nodal, &mut memory);
        Ok(State {
            work_j: value("energy.work").unwrap_or(0.0),
            dissipated_j: value("energy.dissipated").unwrap_or(0.0),
            memory,
            ..State::new(time_s, motion.position, motion.velocity)
        })
    }
}

/// Coordinates that stand one behind the other.
fn named(coordinates: Vec<Coordinate>, first: usize) -> impl Iterator<Item = (usize, String)> {
    let names = coordinates.into_iter().enumerate();
    names.map(move |(i, coordinate)| (first + i, coordinate.name))
}

fn quaternion_channels(name: &str) -> [String; 4] {
    ["w", "x", "y", "z"].map(|part| format!("{name}.quaternion.{part}"))
}

/// The four positions of an orientation from one on, with their channels.
fn quaternion_at(first: usize, name: &str) -> impl Iterator<Item = (usize, String)> {
    let channels = quaternion_channels(name).into_iter();
    channels
        .enumerate()
        .map(move |(i, channel)| (first + i, channel))
}
