//! The recursions for the scalars that other crates use, compiled here and nowhere else.
//!
//! A generic function is compiled again in every crate that calls it, unless it is `#[inline(never)]` and a crate below
//! has compiled it for the same types. `f64` and dual numbers are what runs, equilibria and linear models use, lanes what is
//! evaluated at many states.

use std::hint::black_box;

use lissom_spatial::{Dual, Lanes, Real};

use crate::closure::Constraints;
use crate::tree::{
    ArticulatedBody, HeldForces, Kinematics, MaterialPoints, add_generalized_force, apply_wrench,
    bias_accelerations, energy, frame_motion, inverse_dynamics_from, marker_jacobian,
    marker_motion, mass_diagonal, mass_matrix, momentum,
};

/// Names functions, which makes the compiler write them.
macro_rules! compile {
    ($($function:expr),* $(,)?) => {
        $( black_box($function as *const ()); )*
    };
}

/// What runs use beyond [`differentiated`].
fn plain() {
    compile![
        ArticulatedBody::<f64>::factor,
        ArticulatedBody::<f64>::factor_stage,
        ArticulatedBody::<f64>::forward_dynamics,
        ArticulatedBody::<f64>::forward_dynamics_stage,
        ArticulatedBody::<f64>::solve,
        mass_matrix::<f64>,
        mass_diagonal::<f64>,
        energy::<f64>,
        momentum::<f64>,
    ];
}

/// What is differentiated: forces of a motion, and where places are.
fn differentiated<T: Real>() {
    compile![
        Kinematics::<T>::update_from,
        Kinematics::<T>::update_motion,
        Constraints::<T>::update,
        MaterialPoints::velocities::<T>,
        HeldForces::add::<T>,
        inverse_dynamics_from::<T>,
        marker_motion::<T>,
        marker_jacobian::<T>,
        apply_wrench::<T>,
        frame_motion::<T>,
        add_generalized_force::<T>,
        bias_accelerations::<T>,
    ];
}

/// What several states are evaluated with side by side.
fn side_by_side() {
    compile![
        Kinematics::<Lanes<4>>::update_from,
        ArticulatedBody::<Lanes<4>>::factor,
        ArticulatedBody::<Lanes<4>>::forward_dynamics,
        inverse_dynamics_from::<Lanes<4>>,
        mass_matrix::<Lanes<4>>,
    ];
}

/// Never called: what they name exists because of this.
#[used]
static INSTANCES: [fn(); 4] = [
    plain,
    differentiated::<f64>,
    differentiated::<Dual<f64, 4>>,
    side_by_side,
];
