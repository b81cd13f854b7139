//! Ways that lead nowhere, on a point that a rod holds on the unit circle.

use lissom_spatial::{Motion, Transform};
use lissom_spec::spec::MotionProfile;

use super::{ClosureEquations, NominalError, NominalMotions, Order, RigidMechanism, RigidState};
use super::{MotionCurve, Trajectory, largest};
use crate::action::Actions;
use crate::profile::MotionPoint;
use crate::view::{AxisId, JointId, MarkerId};

/// A point at x and y on the unit circle; its one axis is x.
struct Rod {
    residual: [f64; 1],
    jacobian: [f64; 2],
    bias: [f64; 1],
    placements: usize,
}

impl RigidMechanism for Rod {
    fn start(&self) -> RigidState {
        RigidState {
            position: vec![0.0, 1.0],
            velocity: vec![0.0; 2],
            acceleration: vec![0.0; 2],
        }
    }

    fn start_velocity(&self) -> Vec<f64> {
        vec![0.0; 2]
    }

    fn has_loops(&self) -> bool {
        true
    }

    fn breakpoints(&self) -> Vec<f64> {
        Vec::new()
    }

    fn closures(&self) -> usize {
        1
    }

    fn place(&mut self, _: f64, state: &RigidState) -> Result<(), NominalError> {
        let [x, y] = [state.position[0], state.position[1]];
        self.residual = [x * x + y * y - 1.0];
        self.jacobian = [2.0 * x, 2.0 * y];
        self.placements += 1;
        Ok(())
    }

    fn set_velocity(&mut self, state: &RigidState) {
        self.bias = [2.0 * state.velocity.iter().map(|v| v * v).sum::<f64>()];
    }

    fn displace(&mut self, position: &mut [f64], step: &[f64]) {
        position.iter_mut().zip(step).for_each(|(x, dx)| *x += dx);
    }

    fn closure_equations(&self) -> ClosureEquations<'_> {
        ClosureEquations {
            residual: &self.residual,
            jacobian: &self.jacobian,
            drift: None,
            bias: &self.bias,
        }
    }

    fn set_axis(&self, _: AxisId, point: MotionPoint, state: &mut RigidState) {
        state.position[0] = point.position;
    }

    fn axis(&self, _: AxisId, state: &RigidState) -> f64 {
        state.position[0]
    }

    fn axis_rate(&self, _: AxisId, state: &RigidState) -> f64 {
        state.velocity[0]
    }

    fn write_axis_row(&mut self, _: AxisId, row: &mut [f64]) {
        row[0] = 1.0;
    }

    fn axis_drift(&self, _: AxisId, _: Order) -> f64 {
        0.0
    }

    fn write_component_row(&mut self, _: JointId, _: usize, _: &mut [f64]) {}

    fn marker(&self, _: MarkerId) -> Transform<f64> {
        Transform::identity()
    }

    fn write_marker_rows(&mut self, _: MarkerId, _: &mut [f64]) {}

    fn marker_drift(&self, _: MarkerId, _: Order) -> Motion<f64> {
        Motion::zero()
    }

    fn force(&mut self, _: f64, _: &RigidState, force: &mut [f64]) {
        force.fill(0.0);
    }

    fn mass(&mut self, _: &mut [f64]) {}
}

/// The point is moved along x by 0.1 m/s, and leaves its circle after 10 s.
fn trajectory() -> Trajectory<Rod> {
    let rod = Rod {
        residual: [0.0],
        jacobian: [0.0; 2],
        bias: [0.0],
        placements: 0,
    };
    let along_x = MotionCurve::new(&MotionProfile::ConstantRate { rate: 0.1 }, 0.0);
    let motions = NominalMotions {
        actions: &Actions::default(),
        axes: vec![(AxisId(0), Some(along_x))],
        path: None,
        prescribes: true,
        start_s: 0.0,
    };
    Trajectory::new(rod, &motions).unwrap()
}

/// By hand: a number that is none is told wherever it stands.
#[test]
fn what_is_no_number_is_largest() {
    assert_eq!(largest([1.0, -3.0, 2.0]), 3.0);
    for hidden in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
        assert!(largest(hidden).is_nan());
    }
}

/// Property: what is asked for in vain leaves no trace, and instants beyond it are refused without being sought again, as an
/// integrator asks for them with ever shorter steps.
#[test]
fn a_way_that_leads_nowhere_is_tried_once() {
    let mut trajectory = trajectory();
    trajectory.follow(2.0).unwrap();
    let there = trajectory.state().clone();
    assert!((there.position[0] - 0.2).abs() < 1e-12);

    trajectory.follow(50.0).unwrap_err();
    assert_eq!(trajectory.state(), &there);
    let tried = trajectory.mechanism().placements;
    for time in [50.0, 30.0, 20.0, 12.0] {
        trajectory.follow(time).unwrap_err();
    }
    assert_eq!(trajectory.mechanism().placements, tried);
    assert_eq!(trajectory.state(), &there);
}

/// Property: what lies before is still reached, in either direction, as if nothing had been tried in vain.
#[test]
fn what_lies_before_is_reached() {
    let mut tried = trajectory();
    tried.follow(2.0).unwrap();
    tried.follow(50.0).unwrap_err();
    let mut straight = trajectory();
    straight.follow(2.0).unwrap();
    for time in [4.0, 1.0, 9.9, 0.5] {
        tried.follow(time).unwrap();
        straight.follow(time).unwrap();
        assert_eq!(tried.state(), straight.state());
    }
    tried.follow(10.5).unwrap_err();
    tried.follow(9.99).unwrap();
}
