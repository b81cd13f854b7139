//! Loops to measure on: a chain bent back to its own middle, and a planar parallel manipulator.

use std::fmt::Write;

use lissom_engine::model::Model;
use lissom_spatial::{Force, Motion, Scalar, Transform, Vector};
use lissom_spec::ModelSpec;
use lissom_tree::tree::{
    ArticulatedBody, Kinematics, OperationalSpace, bias_accelerations, frame_motion,
};
use lissom_tree::{Closure, ClosureEnd, ClosureKind, ClosureMethod, CoordinateKind, Place};

/// Inertia that the tip and the middle of a chain show to a ball between them, by recursion.
#[derive(Clone, Debug)]
pub struct ClosedChain<'m, T> {
    model: &'m Model,
    position: Vec<T>,
    velocity: Vec<T>,
    ends: [usize; 2],
    influence: [Vec<Motion<T>>; 2],
    accelerations: Vec<Motion<T>>,
    kinematics: Kinematics<T>,
    articulated: ArticulatedBody<T>,
    space: OperationalSpace<T>,
    /// Six forces: along x, y and z at the tip, then at the middle.
    pub matrix: Vec<T>,
}

impl<'m, T: Scalar> ClosedChain<'m, T> {
    /// Buffers for a chain of links.
    pub fn new(model: &'m Model) -> Self {
        let system = &model.linkage.system;
        let lift = |x: &[f64]| x.iter().map(|&x| T::constant(x)).collect::<Vec<T>>();
        let bodies = system.bodies().len();
        let ends = [bodies - 1, bodies / 2];
        let forces: Vec<usize> = ends.iter().flat_map(|&k| [k; 3]).collect();
        Self {
            model,
            position: lift(&model.initial_position),
            velocity: lift(&model.initial_velocity),
            ends,
            influence: ends.map(|k| vec![Motion::zero(); system.bodies()[k].modes()]),
            accelerations: vec![Motion::zero(); bodies],
            kinematics: Kinematics::new(system),
            articulated: ArticulatedBody::with_indirect_from(system, usize::MAX),
            space: OperationalSpace::new(system, &forces),
            matrix: vec![T::zero(); forces.len() * forces.len()],
        }
    }

    /// The whole recursion: kinematics, factor, compliances.
    pub fn operational_space(&mut self) {
        let system = &self.model.linkage.system;
        self.kinematics
            .update(system, &self.position, &self.velocity);
        self.kinematics.update_poses(system);
        bias_accelerations(system, &self.kinematics, &mut self.accelerations);
        for (&k, influence) in self.ends.iter().zip(&mut self.influence) {
            let flexible = system.bodies()[k].flexible.as_ref();
            let place = match flexible {
                Some(body) if !body.nodes.is_empty() => Place::Node {
                    index: 0,
                    offset: Transform::identity(),
                },
                _ => Place::Fixed(Transform::identity()),
            };
            frame_motion(
                system,
                &self.kinematics,
                &self.accelerations,
                k,
                &place,
                &self.position,
                &self.velocity,
                influence,
            );
        }
        self.articulated.factor(system, &self.kinematics);
        let influence = &self.influence;
        self.space.update(
            system,
            &self.kinematics,
            &self.articulated,
            |i| {
                let mut force = Vector::zero();
                force[i % 3] = T::constant(1.0);
                (Force::new(Vector::zero(), force), &influence[i / 3][..])
            },
            &mut self.matrix,
        );
    }
}

/// The planar manipulator of Fattah's chapter 5: three legs of two flexible links with `modes` each and a
/// platform, in joint space and in Cartesian space.
///
/// # Panics
/// If the model cannot be built, which would be a defect of this function.
pub fn parallel_manipulator(modes: usize) -> [Model; 2] {
    let lengths = [0.45, 0.55];
    let base = [[0.0, 0.0], [0.6, 0.0], [0.3, 0.3 * 3.0_f64.sqrt()]];
    let height = 0.4 * 3.0_f64.sqrt() / 6.0;
    let corners = [[-0.2, -height], [0.2, -height], [0.0, 2.0 * height]];
    let centre = [0.2, 0.7];
    let mut text = String::from("format = 1\n");
    let mut add = |part: std::fmt::Arguments<'_>| {
        text.write_fmt(part).expect("text grows");
    };
    add(format_args!(
        "[[body]]\nname = \"platform\"\nrigid = {{ mass_kg = 0.0959, inertia_kg_m2 = [1e-3, 1e-3, 1.3e-3] }}\n\
         [[marker]]\nname = \"platform\"\nbody = \"platform\"\nposition_m = [0.0, 0.0, 0.0]\n"
    ));
    let mut carried = 0.0;
    for (i, side) in [1.0, -1.0, -1.0].into_iter().enumerate() {
        let [x, y] = base[i];
        let to = [centre[0] + corners[i][0], centre[1] + corners[i][1]];
        let (dx, dy) = (to[0] - x, to[1] - y);
        let reach = f64::hypot(dx, dy);
        let [a, b] = lengths;
        let inner = ((a * a + reach * reach - b * b) / (2.0 * a * reach)).acos();
        let first = dy.atan2(dx) - side * inner;
        let second = (to[1] - y - a * first.sin()).atan2(to[0] - x - a * first.cos());
        for (name, length) in [("near", a), ("far", b)] {
            add(format_args!(
                "[[body]]\nname = \"{name}_{i}\"\n[body.beam]\nlength_m = {length}\n\
                 mass_per_length_kg_per_m = 0.1384\nbending_stiffness_y_n_m2 = 7.815\n\
                 basis.clamped_free = {{ bending_y = {modes} }}\n\
                 [[marker]]\nname = \"{name}_{i}\"\nbody = \"{name}_{i}\"\nat = \"tip\"\n"
            ));
        }
        add(format_args!(
            "[[joint]]\nname = \"near_{i}\"\nparent = {{ body = \"ground\", position_m = [{x:.17}, {y:.17}, 0.0] }}\n\
             child = \"near_{i}\"\nrevolute = {{ axis = [0, 0, 1], initial_angle_rad = {first:.17} }}\n\
             [[joint]]\nname = \"far_{i}\"\nparent = {{ body = \"near_{i}\", at = \"tip\" }}\n\
             child = \"far_{i}\"\nrevolute = {{ axis = [0, 0, 1], initial_angle_rad = {:.17} }}\n",
            second - first
        ));
        if i == 0 {
            carried = second;
        }
    }
    let [x, y] = corners[0];
    add(format_args!(
        "[[joint]]\nname = \"platform\"\nparent = {{ body = \"far_0\", at = \"tip\" }}\n\
         child = {{ body = \"platform\", position_m = [{x:.17}, {y:.17}, 0.0] }}\n\
         revolute = {{ axis = [0, 0, 1], initial_angle_rad = {:.17} }}\n",
        -carried
    ));
    let spec = ModelSpec::parse(&text, &[]).expect("the text is a model");
    let mut model = Model::build(&spec).expect("its beams can be reduced");
    let marker = |name: &str| {
        let found = model.linkage.markers.iter().position(|m| m.name == name);
        found.expect("the marker exists")
    };
    let platform = marker("platform");
    model.linkage.closures = (1..3)
        .map(|i| {
            let tip = &model.linkage.markers[marker(&format!("far_{i}"))];
            let [x, y] = corners[i];
            let corner = Transform::new(lissom_spatial::Matrix::identity(), Vector([x, y, 0.0]));
            Closure {
                name: format!("pin_{i}"),
                kind: ClosureKind::Revolute {
                    axis: Vector([0.0, 0.0, 1.0]),
                },
                from: ClosureEnd {
                    body: tip.body,
                    place: tip.place.clone(),
                },
                to: ClosureEnd {
                    body: model.linkage.markers[platform].body,
                    place: Place::Fixed(corner),
                },
            }
        })
        .collect();
    let actuated = (model.linkage.velocities.iter().enumerate())
        .filter(|(_, c)| c.kind == CoordinateKind::Joint && c.name.starts_with("near"))
        .map(|(at, _)| at)
        .collect();
    let joint_space = ClosureMethod::JointSpace {
        independent: actuated,
    };
    let cartesian_space = ClosureMethod::CartesianSpace {
        marker: platform,
        components: vec![2, 3, 4],
    };
    [joint_space, cartesian_space].map(|closure_method| {
        let mut model = model.clone();
        model.linkage.closure_method = closure_method;
        model
    })
}

#[cfg(test)]
mod tests {
    use lissom_engine::simulate::Equations;
    use lissom_numerics::integrate::FirstOrder;

    use super::*;
    use crate::chain::chain;
    use crate::counted::{Counted, count};
    use crate::stopwatch::exponent;

    /// Compliances and forces visit every body once more than the articulated bodies do.
    #[test]
    fn operations_of_the_operational_space_grow_linearly_with_bodies() {
        for modes in [0, 4] {
            let points: Vec<(f64, f64)> = [10, 20, 50, 100, 200]
                .into_iter()
                .map(|bodies| {
                    let model = chain(bodies, modes, true);
                    let mut closed = ClosedChain::<Counted>::new(&model);
                    (bodies as f64, count(|| closed.operational_space()) as f64)
                })
                .collect();
            let found = exponent(&points);
            // a line that does not pass the origin by a body or two
            assert!(
                (found - 1.0).abs() < 0.05,
                "{modes} modes: exponent {found}"
            );
            let slope =
                |i: usize| (points[i + 1].1 - points[i].1) / (points[i + 1].0 - points[i].0);
            assert!((slope(3) / slope(0) - 1.0).abs() < 0.01, "{points:?}");
        }
    }

    /// What is measured is the same motion: from one closed state both give the same derivative. Condition
    /// numbers stay below 1e5.
    #[test]
    fn both_spaces_give_the_same_derivative() {
        const AGREEMENT: f64 = 1e-9;
        let models = parallel_manipulator(2);
        let mut equations = Equations::new(&models[0]);
        let mut state = equations.initial_state();
        // bent, so that something moves
        for (x, c) in state.iter_mut().zip(equations.state_layout()) {
            if c.name.ends_with("bending_y_1") {
                *x = 1e-3;
            }
        }
        equations.project(0.0, &mut state);
        let rates = models.each_ref().map(|model| {
            let mut rate = vec![0.0; state.len()];
            Equations::new(model).derivative(0.0, &state, &mut rate);
            rate
        });
        let largest = rates[0].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        assert!(largest > 1.0, "nothing moves: {largest}");
        for (a, b) in rates[0].iter().zip(&rates[1]) {
            assert!((a - b).abs() < AGREEMENT * largest, "{a} against {b}");
        }
    }
}
