//! What signals read of a tree.

use super::Equations;
use crate::model::{AxisPlace, LoadedBeam, Model, PrescribedMotion, tip_name};
use lissom_core::{
    Actions, AxisId, BeamPart, ClosureEnd, ClosurePart, Commanded, Coordinates, ElasticId, GaugeId,
    JointId, JointPart, JointReading, MarkerId, MarkerMotion, Parts, Readout, View as _,
};
use lissom_numerics::linear::Label;
use lissom_spatial::{Force, Transform, Vector};
use lissom_tree::tree::{inverse_dynamics, marker_motion};
use lissom_tree::{ClosureKind, Place};

impl Readout for Equations<'_> {
    fn parts(&self) -> Parts {
        parts(self.model)
    }

    fn actions(&self) -> &Actions {
        &self.model.actions
    }

    fn axis(&self, AxisId(axis): AxisId) -> [f64; 2] {
        match self.model.places.axes[axis].place {
            AxisPlace::Joint {
                position, velocity, ..
            } => [self.position[position], self.velocity[velocity]],
            AxisPlace::Motor(motor) => [self.motor_position[motor], self.motor_rate[motor]],
        }
    }

    fn joint(&self, JointId(joint): JointId) -> JointReading {
        let joint = &self.model.places.joints[joint];
        let three = |from: &[f64]| [from[0], from[1], from[2]];
        let [position, velocity] = if joint.translates {
            let rates = &self.velocity[joint.velocity + 3..];
            [three(&self.position[joint.position..]), three(rates)]
        } else {
            [[0.0; 3]; 2]
        };
        JointReading {
            position,
            quaternion: unit_quaternion(&self.position[joint.quaternion()..]),
            angular_velocity: three(&self.velocity[joint.velocity..]),
            velocity,
        }
    }

    fn elastic(&self, ElasticId(at): ElasticId) -> [f64; 2] {
        [self.position[at], self.velocity[self.elastic_rate[at]]]
    }

    fn orientation(&self, ElasticId(at): ElasticId) -> [f64; 4] {
        unit_quaternion(&self.position[at..])
    }

    fn orientation_rate(&self, _: ElasticId) -> [f64; 3] {
        // tips follow from the elastic coordinates
        [f64::NAN; 3]
    }

    fn commands(&self) -> &dyn Commanded {
        &self.commands
    }

    fn driving_effort(&self, drive: usize) -> f64 {
        self.reaction(self.model.motions[drive].velocity)
    }

    fn read_node(&self, _: usize, _: &mut Vec<f64>) {}

    fn marker(&mut self, MarkerId(marker): MarkerId) -> MarkerMotion<f64> {
        let marker = &self.model.linkage.markers[marker];
        self.motion_of(marker.body, &marker.place)
    }

    fn strain(&mut self, gauge: GaugeId) -> f64 {
        self.view().strain(gauge)
    }

    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<f64>> {
        self.accelerated_view().specific_force(marker)
    }

    fn find_reactions(&mut self) {
        let system = &self.model.linkage.system;
        inverse_dynamics(
            system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.unused_force,
        );
        self.find_multipliers();
    }

    fn needed_wrench(&self, body: usize) -> Force<f64> {
        // the share of a stub is its child's, whose weld then carries it
        let stubs = &self.model.places.stubs;
        if (stubs.iter()).any(|stub| [stub.body, stub.counterpart].contains(&body)) {
            return Force::zero();
        }
        let ground_from_body = self.kinematics.ground_from_body(body);
        ground_from_body.force_to_parent(self.inverse.own_force(body))
    }

    fn needed_beyond(&self, beam: usize, section: usize) -> Force<f64> {
        self.model.loaded[beam].sections.needed_beyond(
            section,
            &self.model.linkage.system,
            (&self.kinematics, &self.inverse),
            [&self.position, &self.velocity, &self.acceleration],
        )
    }

    fn section_frame(&mut self, beam: usize, section: usize) -> Transform<f64> {
        self.model.loaded[beam].sections.pose(
            section,
            &self.model.linkage.system,
            &self.kinematics,
            [&self.position, &self.velocity],
            &mut self.influence,
        )
    }

    fn joint_frame(&mut self, joint: usize) -> Transform<f64> {
        let joint = &self.model.places.carrying[joint];
        let bodies = self.model.linkage.system.bodies();
        if joint.reversed {
            let first = &bodies[joint.first];
            self.pose_of(first.parent, &first.outboard)
        } else {
            self.pose_of(Some(joint.body), &bodies[joint.body].inboard)
        }
    }

    fn closure_frame(&mut self, closure: usize) -> Transform<f64> {
        let to = &self.model.linkage.closures[closure].to;
        self.pose_of(to.body, &to.place)
    }

    fn closure_force(&self, closure: usize) -> Force<f64> {
        let from = self.model.linkage.closures[closure].from.body;
        let mut stubs = self.model.places.stubs.iter();
        let force = self.force_of_closure(closure);
        match stubs.find(|stub| Some(stub.body) == from) {
            Some(stub) => force + self.inverse.own_force(stub.counterpart).scale(-1.0),
            None => force,
        }
    }

    fn closure_violation(&self, closure: usize) -> [f64; 2] {
        let loops = self.loops.as_ref().ok().and_then(Option::as_ref);
        loops.map_or([0.0; 2], |loops| loops.violation_of(closure))
    }
}

impl Equations<'_> {
    /// Small motions of the coordinates of the state, motors last, one per velocity.
    pub(in crate::simulate) fn deviations(&self) -> Vec<Label> {
        let all = parts(self.model).deviations();
        let motors = &all[self.model.linkage.velocities.len()..];
        let free = self.free_velocities.iter().map(|&at| &all[at]);
        free.chain(motors).cloned().collect()
    }

    /// Motion of a place in the evaluated state.
    fn motion_of(&mut self, body: Option<usize>, place: &Place) -> MarkerMotion<f64> {
        let Some(body) = body else {
            return MarkerMotion::still(*place.offset());
        };
        let motion = marker_motion(
            &self.model.linkage.system,
            &self.kinematics,
            body,
            place,
            &self.position,
            &self.velocity,
            &mut self.influence,
        );
        MarkerMotion {
            pose: motion.pose,
            twist: motion.twist,
            deflection: motion.deflection,
            deflection_rate: motion.deflection_rate,
        }
    }

    fn pose_of(&mut self, body: Option<usize>, place: &Place) -> Transform<f64> {
        self.motion_of(body, place).pose
    }
}

/// What of a tree can be named.
fn parts(model: &Model) -> Parts {
    let linkage = &model.linkage;
    let (system, layout) = (&linkage.system, linkage.system.layout());
    let mut axis_at = vec![None; system.velocity_count()];
    let mut motors = Vec::new();
    for (at, axis) in model.places.axes.iter().enumerate() {
        match axis.place {
            AxisPlace::Joint { velocity, .. } => axis_at[velocity] = Some(AxisId(at)),
            AxisPlace::Motor(_) => motors.push((AxisId(at), axis.name.clone())),
        }
    }
    let mut ball_of = vec![None; system.bodies().len()];
    for (at, joint) in model.places.joints.iter().enumerate() {
        ball_of[joint.body] = Some(JointId(at));
    }
    let mut coordinates = Vec::new();
    for (k, body) in system.bodies().iter().enumerate() {
        let joint = layout.joint_velocity[k];
        if body.joint.kind.velocities() == 1
            && let Some(AxisId(axis)) = axis_at[joint]
        {
            let name = model.places.axes[axis].name.clone();
            coordinates.push(Coordinates::Axis(AxisId(axis), name));
        }
        if let Some(JointId(joint)) = ball_of[k] {
            coordinates.push(Coordinates::Joint {
                joint: JointId(joint),
                name: body.joint.name.clone(),
                translates: model.places.joints[joint].translates,
            });
        }
        for alpha in 0..body.modes() {
            let at = layout.elastic_position[k] + alpha;
            let rate = &linkage.velocities[layout.elastic_velocity[k] + alpha];
            coordinates.push(Coordinates::Elastic {
                at: ElasticId(at),
                name: linkage.positions[at].name.clone(),
                unit: linkage.positions[at].unit,
                rate_unit: rate.unit,
            });
        }
        if let Some(at) = layout.orientation[k] {
            coordinates.push(Coordinates::Orientation {
                at: ElasticId(at),
                name: tip_name(&body.joint.name),
                turns: false,
            });
        }
    }
    let drive = |motion: &PrescribedMotion| {
        let axis = &model.places.axes[axis_at[motion.velocity]?.0];
        let [.., unit] = axis.name.units();
        Some((axis.name.driving_effort(), unit))
    };
    let closures = linkage.closures.iter().map(|closure| ClosurePart {
        name: closure.name.clone(),
        holds: closure.kind.holds(),
        bodies: [closure.from.body, closure.to.body],
    });
    let carrying = model.places.carrying.iter().map(|joint| JointPart {
        name: joint.name.clone(),
        carries: joint.body,
        reversed: joint.reversed,
    });
    Parts {
        coordinates,
        motors,
        drives: model.motions.iter().filter_map(drive).collect(),
        parents: system.bodies().iter().map(|body| body.parent).collect(),
        joints: carrying.collect(),
        closures: closures.collect(),
        beams: (model.loaded.iter())
            .map(|beam| beam_part(model, beam))
            .collect(),
        nodes: Vec::new(),
        markers: (linkage.markers.iter())
            .map(|marker| marker.name.clone())
            .collect(),
        nominal: (model.actions.on_trajectory().into_iter())
            .map(|axis| (axis, model.places.axes[axis.0].name.clone()))
            .collect(),
        tracked: model.nominal_motion.as_ref().map(|path| path.marker),
    }
}

/// A beam with everything on it.
fn beam_part(model: &Model, beam: &LoadedBeam) -> BeamPart {
    let (linkage, own) = (&model.linkage, beam.sections.body());
    let bodies = linkage.system.bodies();
    let along = |place: &Place| match (place, &bodies[own].flexible) {
        (Place::Node { index, .. }, Some(flexible)) => flexible.nodes[*index].position[0],
        (place, _) => place.offset().translation[0],
    };
    let hanging = bodies.iter().enumerate();
    let hanging = hanging.filter(|(_, body)| body.parent == Some(own));
    let closures = linkage.closures.iter().enumerate();
    let ends = closures.flat_map(|(at, closure)| {
        let slides = matches!(
            closure.kind,
            ClosureKind::OnBeam { .. } | ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam
        );
        let from = (ClosureEnd::From, &closure.from, slides);
        let ends = [from, (ClosureEnd::To, &closure.to, false)].into_iter();
        let on_beam = ends.filter(|(_, end, _)| end.body == Some(own));
        on_beam.map(move |(side, end, slides)| (at, side, (!slides).then(|| along(&end.place))))
    });
    let markers = linkage.markers.iter().enumerate();
    let markers = markers.filter(|(_, marker)| marker.body == Some(own));
    BeamPart {
        name: bodies[own].name.clone(),
        body: own,
        sections: beam.places.clone(),
        held_at: along(&bodies[own].inboard),
        hanging: hanging
            .map(|(at, body)| (at, along(&body.outboard)))
            .collect(),
        closures: ends.collect(),
        markers: markers
            .map(|(at, marker)| (MarkerId(at), along(&marker.place)))
            .collect(),
        section: beam.stress.clone(),
    }
}

/// A recording shows unit quaternions; the integrated ones may be off by the tolerance.
fn unit_quaternion(components: &[f64]) -> [f64; 4] {
    let quaternion: [f64; 4] = std::array::from_fn(|i| components[i]);
    let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
    quaternion.map(|x| x / length)
}
