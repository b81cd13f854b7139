//! Fits of synthetic experiments, whose truth is known.

use lissom::{Channel, Flow, Override, Recording};
use lissom_io::fit::{Fit, Fitted, Parameter};
use lissom_io::load::load_text;
use lissom_io::sweep::{Drawing, Points, Variation};

/// An arm on a spring with a damper, which a constant torque pulls away: a damped oscillator in closed form.
const MODEL: &str = r#"
format = 1
[[body]]
name = "arm"
[body.rigid]
mass_kg = 1.0
center_of_mass_m = [0.25, 0.0, 0.0]
inertia_kg_m2 = [0.02, 0.02, 0.02]
[[body.node]]
name = "tip"
position_m = [0.5, 0.0, 0.0]
[[joint]]
name = "hinge"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
[joint.revolute.spring]
stiffness_n_m_per_rad = 4.0
[joint.revolute.friction]
viscous_n_m_s_per_rad = 0.12
[[payload]]
name = "load"
body = "arm"
at = "tip"
mass_kg = 0.4
[[input]]
joint = "hinge"
[input.torque_constant]
value_n_m = 1.0
[simulation]
duration_s = 3.0
[simulation.integrator.dop853]
rtol = 1.0e-9
atol = 1.0e-11
"#;

const PATHS: [&str; 3] = [
    "joint.hinge.revolute.spring.stiffness_n_m_per_rad",
    "joint.hinge.revolute.friction.viscous_n_m_s_per_rad",
    "payload.load.mass_kg",
];
const TRUTH: [f64; 3] = [4.0, 0.12, 0.4];
const SAMPLES: usize = 60;
const NOISE_RAD: f64 = 0.01;

/// The angle after a step of one newton metre, from rest.
fn angle_rad([stiffness, damping, mass]: [f64; 3], time_s: f64) -> f64 {
    let inertia = 0.02 + 0.0625 + 0.25 * mass;
    let decay = 0.5 * damping / inertia;
    let rate = (stiffness / inertia - decay * decay).sqrt();
    let wave = (rate * time_s).cos() + decay / rate * (rate * time_s).sin();
    (1.0 - (-decay * time_s).exp() * wave) / stiffness
}

fn instants() -> Vec<f64> {
    (1..=SAMPLES).map(|k| 0.05 * k as f64).collect()
}

fn measured(noise: &[f64]) -> Recording {
    let time_s = instants();
    let samples = time_s
        .iter()
        .zip(noise)
        .map(|(&t, noise)| angle_rad(TRUTH, t) + noise);
    Recording {
        channels: vec![Channel {
            name: "hinge.angle".to_owned(),
            unit: "rad".to_owned(),
            samples: samples.collect(),
        }],
        time_s,
    }
}

/// Normal numbers of a seed.
fn noise(seed: u64) -> Vec<f64> {
    let drawn = [Variation::parse("noise=normal(0,1)").unwrap()];
    let points = Points::drawn(&drawn, SAMPLES, seed, Drawing::MonteCarlo).unwrap();
    let value = |row: &Vec<String>| NOISE_RAD * row[0].parse::<f64>().unwrap();
    points.rows.iter().map(value).collect()
}

fn fitted(text: &str, paths: &[&str], measured: &Recording) -> Fitted {
    let load = |changes: &[Override]| load_text("arm", text, changes);
    let paths: Vec<String> = paths.iter().map(|&path| path.to_owned()).collect();
    let parameters = Parameter::named(text, &paths, false).unwrap();
    let fit = Fit {
        load: &load,
        parameters: &parameters,
        measured,
        threads: 1,
    };
    fit.run(&mut |_| Flow::Continue).unwrap()
}

/// Property: intervals of 95 % cover the truth about 95 times of 100; fewer than 89 would be chance once in a hundred.
#[test]
fn intervals_cover_the_truth() {
    const SEEDS: u64 = 100;
    const LEAST: usize = 89;
    let covers = |seed: u64| {
        let fitted = fitted(MODEL, &PATHS, &measured(&noise(seed)));
        assert!(fitted.converged, "seed {seed}");
        let inside = |at: usize| {
            let [low, high] = fitted.parameters[at].interval_95;
            low <= TRUTH[at] && TRUTH[at] <= high
        };
        [0, 1, 2].map(inside)
    };
    let half = |first: u64| (first..SEEDS).step_by(2).map(covers).collect::<Vec<_>>();
    let found = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut found = half(0);
        found.extend(other.join().unwrap());
        found
    });
    for (at, path) in PATHS.iter().enumerate() {
        let covered = found.iter().filter(|inside| inside[at]).count();
        assert!(
            (LEAST..=100).contains(&covered),
            "{path}: {covered} of {SEEDS}"
        );
    }
}

/// Closed form: without noise the truth is found from afar, and the standard deviations are those of the exact derivatives.
#[test]
fn derivatives_are_those_of_the_closed_form() {
    // a fit stops within a thousandth of a standard deviation, which is nothing without noise
    const FOUND: f64 = 1e-6;
    // differences of runs over 1e-4 of a parameter
    const DERIVATIVE: f64 = 1e-5;
    let away = MODEL
        .replace("= 4.0", "= 5.0")
        .replace("= 0.12", "= 0.2")
        .replace("mass_kg = 0.4", "mass_kg = 0.3");
    let exact = fitted(&away, &PATHS, &measured(&[0.0; SAMPLES]));
    for (found, truth) in exact.parameters.iter().zip(TRUTH) {
        assert!((found.value / truth - 1.0).abs() < FOUND, "{found:?}");
    }
    let noisy = fitted(MODEL, &PATHS, &measured(&noise(1)));
    let at: [f64; 3] = std::array::from_fn(|k| noisy.parameters[k].value);
    // derivatives of the closed form, by differences that are extrapolated to order six
    let derivative = |k: usize, time_s: f64| {
        let slope = |part: f64| {
            let (mut after, mut before) = (at, at);
            after[k] *= 1.0 + part;
            before[k] *= 1.0 - part;
            (angle_rad(after, time_s) - angle_rad(before, time_s)) / (2.0 * part * at[k])
        };
        (64.0 * slope(2e-3) - 20.0 * slope(4e-3) + slope(8e-3)) / 45.0
    };
    let jacobian = nalgebra::DMatrix::from_fn(SAMPLES, 3, |i, k| derivative(k, instants()[i]));
    let variance = noisy.channels[0].rms.powi(2) * SAMPLES as f64 / (SAMPLES - 3) as f64;
    let covariance = (jacobian.transpose() * jacobian)
        .cholesky()
        .unwrap()
        .inverse()
        * variance;
    for (k, found) in noisy.parameters.iter().enumerate() {
        let ratio = found.deviation / covariance[(k, k)].sqrt();
        assert!((ratio - 1.0).abs() < DERIVATIVE, "{found:?} {ratio}");
    }
    assert!(noisy.warnings.is_empty(), "{:?}", noisy.warnings);
}

/// Independent way: channels of a coarse and noisy encoder are fitted as the angle that it measures, with its bias, in a loop that a
/// controller closes over it too.
#[test]
fn sensors_are_read_without_noise_and_steps() {
    // two fits of the same residuals
    const SAME: f64 = 1e-6;
    let sensor = "[[sensor]]\nname = \"encoder\"\nencoder = { joint = \"hinge\", counts_per_revolution = 200 }\nbias = [0.01]\nnoise = { rms = [0.05], period_s = 0.02 }\n\
                  [[controller]]\nname = \"servo\"\nmeasures = [\"encoder\"]\ndrives = [\"hinge\"]\nstate_space = { d = [[-0.5]] }\nsampled = { period_s = 0.02 }\n";
    let blurred = MODEL.replace("[simulation]", &format!("{sensor}[simulation]"));
    let clear = (blurred.replace(", counts_per_revolution = 200", ""))
        .replace("noise = { rms = [0.05], period_s = 0.02 }\n", "");
    let data = measured(&noise(3));
    let mut read = data.clone();
    read.channels[0].name = "encoder".to_owned();
    read.channels[0]
        .samples
        .iter_mut()
        .for_each(|sample| *sample += 0.01);
    let expected = fitted(&clear, &PATHS, &data);
    let found = fitted(&blurred, &PATHS, &read);
    assert!(found.converged);
    for (found, expected) in found.parameters.iter().zip(&expected.parameters) {
        assert!(
            (found.value / expected.value - 1.0).abs() < SAME,
            "{found:?}"
        );
        assert!(
            (found.deviation / expected.deviation - 1.0).abs() < SAME,
            "{found:?}"
        );
    }
    let told = found.warnings.last().unwrap();
    assert!(told.contains("to encoder are left out"), "{told}");
}

/// Independent way: data of a negative damping, which no model takes, leave it at zero, and the others are those of the same model without a damper.
#[test]
fn a_parameter_stays_at_its_bound() {
    // two searches for one minimum end within a thousandth of a standard deviation of it
    const SAME: f64 = 1e-4;
    let mut data = measured(&noise(4));
    let pushed = |(&t, noise): (&f64, f64)| angle_rad([4.0, -0.02, 0.4], t) + noise;
    data.channels[0].samples = data.time_s.iter().zip(noise(4)).map(pushed).collect();
    let found = fitted(MODEL, &PATHS, &data);
    let without = MODEL.replace(
        "[joint.revolute.friction]\nviscous_n_m_s_per_rad = 0.12\n",
        "",
    );
    assert_ne!(without, MODEL);
    let expected = fitted(&without, &[PATHS[0], PATHS[2]], &data);
    assert!(found.converged && expected.converged);
    let [stiffness, damping, mass] = &found.parameters[..] else {
        panic!()
    };
    for (found, expected) in [stiffness, mass].into_iter().zip(&expected.parameters) {
        let off = (found.value - expected.value).abs();
        assert!(off < SAME * expected.deviation, "{found:?} {expected:?}");
        assert!(
            (found.deviation / expected.deviation - 1.0).abs() < SAME,
            "{found:?}"
        );
        assert_eq!(found.bound, None);
    }
    assert_eq!((damping.value, damping.bound), (0.0, Some(0.0)));
    // -0.02 within some 0.005
    assert!(
        damping.interval_95.iter().all(|end| end.is_infinite()),
        "{damping:?}"
    );
    let told = &found.warnings[0];
    assert!(
        told.contains("viscous_n_m_s_per_rad stays at its bound, 0: the data ask for -0.0"),
        "{told}"
    );
    assert_eq!(found.covariance[1], [0.0; 3]);
}

/// Property: at the bound itself, where every other experiment asks for a value beyond, intervals cover the truth as often as elsewhere.
#[test]
fn intervals_at_a_bound_cover_the_truth() {
    const SEEDS: u64 = 100;
    const LEAST: usize = 89;
    let truth = [4.0, 0.0, 0.4];
    let (mut covered, mut held) = ([0; 3], 0);
    for seed in 0..SEEDS {
        let mut data = measured(&[0.0; SAMPLES]);
        let read = |(&t, noise): (&f64, f64)| angle_rad(truth, t) + noise;
        data.channels[0].samples = data
            .time_s
            .iter()
            .zip(noise(1000 + seed))
            .map(read)
            .collect();
        let found = fitted(MODEL, &PATHS, &data);
        assert!(found.converged, "seed {seed}");
        held += usize::from(found.parameters[1].bound.is_some());
        for ((covered, own), truth) in covered.iter_mut().zip(&found.parameters).zip(truth) {
            let [low, high] = own.interval_95;
            *covered += usize::from(low <= truth && truth <= high);
        }
    }
    assert!((30..=70).contains(&held), "{held}");
    assert!(covered.iter().all(|count| *count >= LEAST), "{covered:?}");
}

/// By construction: what ends at an edge that no bound of the format tells is no result, and says why.
#[test]
fn an_edge_of_the_model_is_told() {
    const EDGE_KG: f64 = 0.45;
    let load = |changes: &[Override]| {
        let is_heavy = |change: &Override| {
            let text = change.text();
            let mass = text.split('=').next_back().unwrap().parse::<f64>();
            mass.unwrap() > EDGE_KG
        };
        let heavy = changes.iter().any(is_heavy);
        let text = if heavy { "format = 2" } else { MODEL };
        load_text("arm", text, if heavy { &[] } else { changes })
    };
    let mut data = measured(&[0.0; SAMPLES]);
    let heavier = |&t: &f64| angle_rad([4.0, 0.12, 0.5], t);
    data.channels[0].samples = data.time_s.iter().map(heavier).collect();
    let parameters = Parameter::named(MODEL, &[PATHS[2].to_owned()], false).unwrap();
    let fit = Fit {
        load: &load,
        parameters: &parameters,
        measured: &data,
        threads: 1,
    };
    let found = fit.run(&mut |_| Flow::Continue).unwrap();
    let value = found.parameters[0].value;
    assert!(!found.converged && found.parameters[0].bound.is_none());
    assert!((0.44..=EDGE_KG).contains(&value), "{value}");
    let told = &found.warnings[0];
    assert!(
        told.contains("better values would lie where the model has none")
            && told.contains(" in arm"),
        "{told}"
    );
}

/// By construction: of two loads in one place only the sum can be told, and what the model lacks is not noise.
#[test]
fn what_cannot_be_told_is_said() {
    let two = MODEL.replace(
        "[[input]]",
        "[[payload]]\nname = \"other\"\nbody = \"arm\"\nat = \"tip\"\nmass_kg = 0.1\n[[input]]",
    );
    let data = measured(&noise(2));
    let found = fitted(
        &two,
        &["payload.load.mass_kg", "payload.other.mass_kg"],
        &data,
    );
    assert!(
        found
            .parameters
            .iter()
            .all(|one| one.deviation.is_infinite()),
        "{found:?}"
    );
    assert!(
        found.warnings[0].contains("payload.other.mass_kg"),
        "{:?}",
        found.warnings
    );
    assert!(
        found.warnings[0].contains("not at all"),
        "{:?}",
        found.warnings
    );
    let stiff = MODEL.replace("= 4.0", "= 5.0");
    let found = fitted(&stiff, &["payload.load.mass_kg"], &data);
    assert!(
        found
            .warnings
            .iter()
            .any(|own| own.contains("more than noise")),
        "{:?}",
        found.warnings
    );
    let written = found.written_into(&stiff).unwrap();
    let value = found.parameters[0].value;
    assert_eq!(
        written,
        stiff.replace("mass_kg = 0.4", &format!("mass_kg = {value:?}"))
    );
}
