//! Modes along a motion: curves of families whose modes are known, and of arms whose curves have to be continuous.

use lissom_core::study::{DrivenJoints, OperatingPoint};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{
    Crossing, Frozen, FrozenPoint, Label, LinearError, Linearization, ModeAt, Terms, TrackedModes,
};
use lissom_spec::ModelSpec;
use nalgebra::{Complex, DMatrix, DVector, Rotation3, Vector3};

use crate::runs::{mechanism, nodal_mechanism, tree_mechanism};

use crate::models::parsed;
use crate::shipped::{PLANAR_3RRR, SHUTTLE_ARM, SLIDING_BOOM};

/// Rounding of squares of frequencies of a few units, through one inverse and one eigenproblem.
const ROUNDING: f64 = 1e-12;

/// A family of equations with unit mass and no damping, at instants from zero to one.
fn family(points: usize, stiffness: impl Fn(f64) -> DMatrix<f64>) -> Frozen {
    let size = stiffness(0.0).nrows();
    let (zero, one) = (DMatrix::zeros(size, size), DMatrix::identity(size, size));
    let points = (0..points).map(|i| {
        let time = i as f64 / (points - 1) as f64;
        FrozenPoint {
            time,
            linear: Linearization {
                mass: one.clone(),
                damping: zero.clone(),
                structural: stiffness(time),
                dynamic: zero.clone(),
                geometric: zero.clone(),
                input: DMatrix::zeros(size, 0),
                loops: None,
            },
            basis: one.clone(),
            inertia: one.clone(),
            gross: None,
        }
    });
    Frozen {
        coordinates: (0..size)
            .map(|i| Label::coordinate(format!("x{i}"), "m", "m/s"))
            .collect(),
        held: Vec::new(),
        rigid: Vec::new(),
        points: points.collect(),
    }
}

fn tracked(family: &Frozen) -> TrackedModes {
    TrackedModes::new(family, Terms::CASES[0], 8).unwrap()
}

/// Property: whoever watches can stop between instants, and between spectra of one interval in which modes meet.
#[test]
fn following_modes_can_be_stopped() {
    // two frequencies that cross, of which one step cannot tell which is which
    let crossing = family(3, |t| {
        DMatrix::from_diagonal(&DVector::from_vec(vec![1.0 + t, 1.5 - 0.4 * (t - 0.4)]))
    });
    let mut told = Vec::new();
    let watch = &mut |time| {
        told.push(time);
        Flow::Continue
    };
    TrackedModes::watched(&crossing, Terms::CASES[0], 2, watch).unwrap();
    // once for motions that nothing resists, once to follow the modes
    let passes = told.chunk_by(|before, after| before <= after);
    assert!(
        passes
            .clone()
            .all(|pass| [0.0, 0.5, 1.0].iter().all(|time| pass.contains(time)))
    );
    assert_eq!(passes.count(), 2, "{told:?}");
    for calls in 0..told.len() {
        let mut left = calls;
        let watch = &mut |_| {
            if left == 0 {
                return Flow::Stop;
            }
            left -= 1;
            Flow::Continue
        };
        let found = TrackedModes::watched(&crossing, Terms::CASES[0], 2, watch);
        assert_eq!(found, Err(LinearError::Stopped { at_s: told[calls] }));
    }
}

/// Largest difference of a curve from its closed form.
fn apart(modes: &TrackedModes, mode: usize, exact: impl Fn(f64) -> Complex<f64>) -> f64 {
    (modes.times.iter().zip(&modes.modes[mode]))
        .map(|(&time, at)| (at.square - exact(time)).norm())
        .fold(0.0, f64::max)
}

fn real(x: f64) -> Complex<f64> {
    Complex::new(x, 0.0)
}

/// Closed form: modes without coupling cross, also where an instant is exactly at the crossing and where a third one
/// goes through the same point; however few instants there are.
#[test]
fn curves_cross() {
    let crossing = |time: f64| {
        let turn = Rotation3::new(Vector3::new(0.4, -0.3, 0.7));
        let turn = DMatrix::from_fn(3, 3, |i, j| turn[(i, j)]);
        let squares = [1.0 + 2.0 * time, 3.0 - 2.0 * time, 2.3 - 0.6 * time];
        &turn * DMatrix::from_diagonal(&squares.to_vec().into()) * turn.transpose()
    };
    for points in [2, 3, 11, 40] {
        let modes = tracked(&family(points, crossing));
        let curves: [fn(f64) -> f64; 3] = [
            |time| 1.0 + 2.0 * time,
            |time| 2.3 - 0.6 * time,
            |time| 3.0 - 2.0 * time,
        ];
        for (mode, curve) in curves.into_iter().enumerate() {
            let error = apart(&modes, mode, |time| real(curve(time)));
            assert!(
                error < ROUNDING,
                "{points} points, mode {mode}: {error:.1e}"
            );
        }
        assert!(modes.encounters.is_empty(), "{:?}", modes.encounters);
    }
}

/// Closed form: coupled modes veer; each keeps to its branch and takes over the other's shape.
#[test]
fn curves_veer() {
    const COUPLING: f64 = 0.01;
    let modes = tracked(&family(7, |time| {
        DMatrix::from_row_slice(2, 2, &[1.0 + time, COUPLING, COUPLING, 2.0 - time])
    }));
    let branch = |sign: f64| {
        move |time: f64| {
            real(1.5 + sign * (0.25 * (1.0 - 2.0 * time).powi(2) + COUPLING.powi(2)).sqrt())
        }
    };
    for (mode, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let error = apart(&modes, mode, branch(sign));
        assert!(error < ROUNDING, "{mode}: {error:.1e}");
    }
    let [first, last] = [&modes.modes[0][0], &modes.modes[0][6]];
    assert!(first.shape[0].abs() > 0.99 && last.shape[1].abs() > 0.99);
}

/// Closed form: two equal frequencies whose plane turns keep the shapes they had, carried along.
#[test]
fn a_plane_of_equal_frequencies_turns() {
    // parallel transport along a cone of directions, by a quarter turn in 20 steps: second order in the step
    const TRANSPORT: f64 = 0.01;
    let normal = |time: f64| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_2 * time).sin_cos();
        Vector3::new(cos, 0.0, sin)
    };
    let modes = tracked(&family(21, |time| {
        let normal = normal(time);
        DMatrix::from_fn(3, 3, |i, j| {
            f64::from(u8::from(i == j)) + 3.0 * normal[i] * normal[j]
        })
    }));
    for mode in 0..2 {
        assert!(apart(&modes, mode, |_| real(1.0)) < ROUNDING);
        let [first, last] = [0, 20].map(|at| Vector3::from_row_slice(&modes.modes[mode][at].shape));
        // the turn about y takes the first plane to the last
        let carried = Vector3::new(-first.z, first.y, first.x);
        assert!((carried - last).norm() < TRANSPORT, "{carried} {last}");
        for at in &modes.modes[mode] {
            assert!(at.mac > 0.99, "{}", at.mac);
        }
    }
    assert!(modes.encounters.is_empty());
}

/// Closed form: a follower-like coupling makes two modes flutter between two instants and leaves a third alone; crossings are
/// told with their instants and modes.
#[test]
fn curves_coalesce_and_part() {
    // the square of the difference of the squares is interpolated between instants, straight where it is a parabola
    const INSTANT: f64 = 0.01;
    const COUPLING: f64 = 0.32;
    let modes = tracked(&family(21, |time| {
        DMatrix::from_row_slice(
            3,
            3,
            &[
                1.0 + time,
                COUPLING,
                0.0,
                -COUPLING,
                2.0 - time,
                0.0,
                0.0,
                0.0,
                1.8 - 0.5 * time,
            ],
        )
    }));
    let gap = |time: f64| real(0.25 * (1.0 - 2.0 * time).powi(2) - COUPLING.powi(2)).sqrt();
    let third = |time: f64| real(1.8 - 0.5 * time);
    assert!(apart(&modes, 1, third) < ROUNDING);
    // the lower frequency becomes the square with positive imaginary part, and back
    let lower = |time: f64| {
        let gap = gap(time);
        if gap.im == 0.0 { 1.5 - gap } else { 1.5 + gap }
    };
    assert!(apart(&modes, 0, lower) < ROUNDING);
    assert!(apart(&modes, 2, |time| 3.0 - lower(time)) < ROUNDING);
    let kinds: Vec<Crossing> = modes.encounters.iter().map(|met| met.kind).collect();
    assert_eq!(kinds, [Crossing::Coalescence, Crossing::Separation]);
    for (met, exact) in modes
        .encounters
        .iter()
        .zip([0.5 - COUPLING, 0.5 + COUPLING])
    {
        assert_eq!(met.modes, [0, 2]);
        assert!((met.time - exact).abs() < INSTANT, "{}", met.time);
    }
    // with velocity terms, of which there are none, one of the two grows and one decays
    let rates = [0, 2].map(|mode| modes.modes[mode][10].growth_rate());
    let exact = (1.5 + gap(0.5)).sqrt().im;
    assert!((rates[0].max(rates[1]) - exact).abs() < ROUNDING && rates[0].min(rates[1]) == 0.0);
    assert!(modes.growing[10].len() == 1 && modes.growing[0].is_empty());
    let ratios = [0, 2].map(|mode| modes.modes[mode][10].damping_ratio().unwrap());
    assert!((ratios[0] + ratios[1]).abs() < ROUNDING && ratios[0].abs() > 0.05);
}

/// Property: motions that nothing resists at some instants, so that they stay among the modes, have shapes that rounding chooses
/// anew for every matrix. They count as equal, and tracking is not given up for them.
#[test]
fn motions_without_frequency_are_told_apart_by_nothing() {
    let direction =
        |time: f64| nalgebra::DVector::from_fn(6, |i, _| (1.0 + i as f64 + 0.3 * time).sin());
    let modes = tracked(&family(5, |time| {
        let first = direction(time);
        let mut stiffness = &first * first.transpose() * 1e8;
        if time == 1.0 {
            stiffness[(0, 0)] += 1e7;
        }
        stiffness
    }));
    assert!(modes.rigid.is_empty());
    assert!(modes.encounters.is_empty(), "{:?}", modes.encounters);
}

fn evenly(spec: &ModelSpec, span: f64, points: usize) -> Vec<f64> {
    let start = spec.simulation.start_s;
    (0..points)
        .map(|i| start + span * i as f64 / (points - 1) as f64)
        .collect()
}

/// Largest change of a frequency between neighbouring instants, flutter among it.
fn largest_jump(mode: &[ModeAt]) -> f64 {
    (mode.windows(2))
        .map(|pair| (pair[1].square.sqrt() - pair[0].square.sqrt()).norm())
        .fold(0.0, f64::max)
}

/// Modes along the simulated motion, driven joints held.
fn along_run(text: &str, points: usize, count: usize) -> TrackedModes {
    let spec = parsed(text);
    let mechanism = mechanism(&spec);
    let times = evenly(&spec, spec.simulation.duration_s, points);
    let watch = &mut |_| Flow::Continue;
    let found = mechanism.frozen(
        &mechanism.start().unwrap(),
        OperatingPoint::Run,
        &times,
        DrivenJoints::default(),
        watch,
    );
    TrackedModes::undamped(&found.unwrap(), Terms::CASES[0], count).unwrap()
}

/// Property: along the fast manoeuvre of the Shuttle arm, whose round booms have pairs of equal frequencies at the start and whose
/// booms stiffen in stretch and soften in bending tenfold, steps of the curves halve when instants are doubled.
#[test]
fn curves_of_the_shuttle_arm_are_continuous() {
    // a half, and what curvature leaves of it where a step is a tenth of what a curve does
    const HALVED: f64 = 0.7;
    let [coarse, fine] = [201, 401].map(|points| along_run(SHUTTLE_ARM, points, 8));
    for mode in 0..8 {
        let [before, after] = [&coarse, &fine].map(|modes| largest_jump(&modes.modes[mode]));
        assert!(after < HALVED * before, "{mode}: {before} {after}");
    }
    assert!(coarse.encounters.is_empty() && fine.encounters.is_empty());
    // a pair that is equal at first is numbered by what it becomes
    let [first, second] =
        [0, 1].map(|at| [5, 6].map(|mode| fine.modes[mode][at].frequency().unwrap()));
    assert!(
        (first[1] - first[0]).abs() < ROUNDING * first[0],
        "{first:?}"
    );
    assert!(second[0] < second[1], "{second:?}");
}

/// Property: a boom that comes out of a sleeve, with a support that passes from element to element: its coordinates are chosen
/// anew on the way, and the curves go on.
#[test]
fn curves_of_a_sliding_boom_are_continuous() {
    // a half, and what curvature leaves of it
    const HALVED: f64 = 0.7;
    let [coarse, fine] = [76, 151].map(|points| along_run(SLIDING_BOOM, points, 4));
    for mode in 0..4 {
        let [before, after] = [&coarse, &fine].map(|modes| largest_jump(&modes.modes[mode]));
        assert!(after < HALVED * before, "{mode}: {before} {after}");
    }
    assert!(coarse.encounters.is_empty() && fine.encounters.is_empty());
}

/// Closed form: two bodies in space with a spring between them, $`\omega^2 = k(1/m_1 + 1/m_2)`$, also while they drift and spin about
/// the spring's line; the six motions of the whole are named and are no modes.
#[test]
fn a_floating_pair_of_bodies() {
    let text = |start: &str| {
        format!(
            r#"
format = 1
[[body]]
name = "base"
[body.rigid]
mass_kg = 3.0
inertia_kg_m2 = [1.0, 2.0, 2.0]
[[body]]
name = "slider"
[body.rigid]
mass_kg = 1.0
inertia_kg_m2 = [0.5, 0.7, 0.7]
[[joint]]
name = "float"
parent = "ground"
child = "base"
[joint.free]
{start}
[[joint]]
name = "slide"
parent = "base"
child = "slider"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
spring = {{ stiffness_n_per_m = 12.0 }}
[simulation]
duration_s = 1.0
"#
        )
    };
    let moving = "initial_velocity_m_per_s = [0.3, 0.2, -0.1]\n\
                  initial_angular_velocity_rad_per_s = [2.0, 0.0, 0.0]";
    for start in ["", moving] {
        let mechanism = mechanism(&parsed(&text(start)));
        let watch = &mut |_| Flow::Continue;
        let found = mechanism.frozen(
            &mechanism.start().unwrap(),
            OperatingPoint::Start,
            &[],
            DrivenJoints::default(),
            watch,
        );
        let found = found.unwrap();
        let modes = TrackedModes::new(&found, Terms::CASES[0], 8).unwrap();
        let names: Vec<&str> = (modes.rigid.iter())
            .map(|&dof| found.coordinates[dof].name.as_str())
            .collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], "float.rotation.x");
        assert_eq!(modes.modes.len(), 1);
        assert!((modes.modes[0][0].square - 16.0).norm() < 16.0 * ROUNDING);
        // momentum: three parts of the slider's way are one of the base's
        let shape = &modes.modes[0][0].shape;
        assert!((shape[3] + 0.25 * shape[6]).abs() < ROUNDING, "{shape:?}");
    }
}

/// Property: nothing resists the platform of a 3-RRR at rest without gravity, whose links bend, in either formulation: three motions are
/// told, and rounding of its accelerations makes neither a frequency nor a growth of them.
#[test]
fn a_linkage_without_forces_moves_freely() {
    let spec = parsed(PLANAR_3RRR);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 8)] {
        let joints = DrivenJoints {
            free: true,
            ..DrivenJoints::default()
        };
        let found = mechanism.frozen(
            &mechanism.start().unwrap(),
            OperatingPoint::Start,
            &[],
            joints,
            &mut |_| Flow::Continue,
        );
        let modes = TrackedModes::new(&found.unwrap(), Terms::CASES[0], 8).unwrap();
        assert_eq!(modes.rigid.len(), 3);
        assert!(modes.growing[0].is_empty());
        assert!(modes.modes[0][0].frequency().unwrap() > 10.0);
    }
}
