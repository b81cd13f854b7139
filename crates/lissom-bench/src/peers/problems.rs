//! The problems: what is simulated, by which settings of Lissom and scripts of others, and what of it is compared.

use std::fmt::Write as _;

use cpu_time::ProcessTime;
use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_spec::ModelSpec;

use super::front::{Measured, largest_difference};
use lissom_bench::stiff::chain_text;

/// A problem that several programs solve.
pub(super) struct Problem {
    /// By what it is selected.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) title: &'static str,
    /// Errors at which programs are compared, in metres.
    pub(super) goals: &'static [f64],
    /// Scripts of others, with their arguments.
    pub(super) scripts: &'static [(&'static str, &'static [&'static str])],
    /// Channels that are compared.
    channels: &'static [&'static str],
    /// Values of the channels by others, at numbers of samples.
    published: &'static [(usize, &'static [f64])],
    /// The model of a setting: its discretisation and its integrator.
    model: fn(discretisation: &str, integrator: &str) -> String,
    /// Discretisations of Lissom, in words and as text of the model.
    discretisations: &'static [(&'static str, &'static str)],
    /// Integrators, likewise.
    integrators: &'static [(&'static str, &'static str)],
    /// Discretisation and integrator of the converged run.
    converged: (&'static str, &'static str),
}

const ESDIRK: [(&str, &str); 5] = [
    ("esdirk 1e-2", "esdirk = { rtol = 1e-2, atol = 1e-2 }"),
    ("esdirk 1e-3", "esdirk = { rtol = 1e-3, atol = 1e-3 }"),
    ("esdirk 3e-4", "esdirk = { rtol = 3e-4, atol = 3e-4 }"),
    ("esdirk 1e-4", "esdirk = { rtol = 1e-4, atol = 1e-4 }"),
    ("dop853 1e-4", "dop853 = { rtol = 1e-4, atol = 1e-4 }"),
];

/// Sines in the chord frame, with the stretch of the axis, which is 8e-5 m in twenty links.
const CHAIN: [(&str, &str); 3] = [
    ("1 sine", "pinned_pinned = { bending_y = 1, stretch = 1 }"),
    ("2 sines", "pinned_pinned = { bending_y = 2, stretch = 1 }"),
    ("3 sines", "pinned_pinned = { bending_y = 3, stretch = 1 }"),
];
const CHAIN_CONVERGED: (&str, &str) = (
    "pinned_pinned = { bending_y = 8, stretch = 2 }",
    "radau = { rtol = 1e-8, atol = 1e-10 }",
);
const TIP: [&str; 2] = ["tip.position.x", "tip.position.y"];

/// All of them.
pub(super) fn problems() -> [Problem; 4] {
    [
        Problem {
            name: "chain-5",
            title: "Falling chain, 5 links",
            goals: &[1e-3, 1e-4],
            scripts: &[
                ("mujoco_chain.py", &["5"]),
                ("exudyn_beams.py", &["chain", "5"]),
            ],
            channels: &TIP,
            published: &[
                (10, &[4.563_044_77, -1.232_434_77]),
                (20, &[0.543_203_24, -4.922_226_61]),
            ],
            model: |basis, integrator| chain_text(5, basis, integrator),
            discretisations: &CHAIN,
            integrators: &ESDIRK,
            converged: CHAIN_CONVERGED,
        },
        Problem {
            name: "chain-20",
            title: "Falling chain, 20 links",
            goals: &[1e-3, 1e-4],
            scripts: &[
                ("mujoco_chain.py", &["20"]),
                ("exudyn_beams.py", &["chain", "20"]),
            ],
            channels: &TIP,
            published: &[
                (10, &[19.742_420_22, -1.226_281_59]),
                (20, &[18.221_361_65, -4.904_817_46]),
            ],
            model: |basis, integrator| chain_text(20, basis, integrator),
            discretisations: &CHAIN,
            integrators: &ESDIRK,
            converged: (
                "pinned_pinned = { bending_y = 5, stretch = 2 }",
                "esdirk = { rtol = 1e-7, atol = 1e-7 }",
            ),
        },
        Problem {
            name: "spun-up",
            title: "Beam spun up about its root",
            goals: &[1e-3, 1e-4],
            scripts: &[("exudyn_beams.py", &["spun-up"])],
            channels: &["tip.deflection.y"],
            published: &[],
            model: spun_up,
            discretisations: &[
                ("2 modes", "tree 2"),
                ("3 modes", "tree 3"),
                ("nodal, 4 elements", "nodal 4"),
                ("nodal, 8 elements", "nodal 8"),
            ],
            integrators: &ESDIRK,
            converged: ("nodal 16", "radau = { rtol = 1e-8, atol = 1e-10 }"),
        },
        Problem {
            name: "3rrr",
            title: "Planar 3-RRR, base joints prescribed",
            goals: &[1e-4, 1e-5],
            scripts: &[("exudyn_beams.py", &["3rrr"])],
            channels: &["platform.position.x", "platform.position.y"],
            published: &[],
            model: parallel_robot,
            discretisations: &[
                ("1 function", "1"),
                ("2 functions", "2"),
                ("3 functions", "3"),
            ],
            integrators: &ESDIRK,
            converged: ("6", "radau = { rtol = 1e-9, atol = 1e-11 }"),
        },
    ]
}

impl Problem {
    /// Names of the other programs.
    pub(super) fn peers(&self) -> impl Iterator<Item = &'static str> {
        self.scripts.iter().map(|(script, _)| {
            if script.starts_with("mujoco") {
                "MuJoCo"
            } else {
                "Exudyn"
            }
        })
    }

    /// Samples of the converged run.
    pub(super) fn converged(&self) -> Vec<Vec<f64>> {
        let (discretisation, integrator) = self.converged;
        let spec = self.spec(discretisation, integrator);
        let mechanism = Mechanism::build(&spec).expect("a sound model");
        self.samples(&mechanism.run(&sample_instants(&spec, &[])))
    }

    /// How far samples are from what others have published.
    pub(super) fn distance_from_published(&self, samples: &[Vec<f64>]) -> Option<f64> {
        let of_one = |(sample, values): &(usize, &[f64])| {
            largest_difference(&samples[*sample..=*sample], &[values.to_vec()])
        };
        self.published.iter().map(of_one).reduce(f64::max)
    }

    /// All settings of Lissom.
    pub(super) fn ours(&self, exact: &[Vec<f64>]) -> Vec<Measured> {
        const RUNS: usize = 3;
        let mut measured = Vec::new();
        for (functions, discretisation) in self.discretisations {
            for (method, integrator) in self.integrators {
                let spec = self.spec(discretisation, integrator);
                let mechanism = Mechanism::build(&spec).expect("a sound model");
                let instants = sample_instants(&spec, &[]);
                let mut cpu_s = f64::INFINITY;
                let mut error = f64::INFINITY;
                for _ in 0..RUNS {
                    let start = ProcessTime::now();
                    let run = mechanism.run(&instants);
                    cpu_s = cpu_s.min(start.elapsed().as_secs_f64());
                    error = largest_difference(&self.samples(&run), exact);
                }
                measured.push(Measured {
                    program: "Lissom".to_owned(),
                    setting: format!("{functions}, {method}"),
                    cpu_s,
                    error,
                    failed: None,
                });
            }
        }
        measured
    }

    fn spec(&self, discretisation: &str, integrator: &str) -> ModelSpec {
        let text = (self.model)(discretisation, integrator);
        ModelSpec::parse(&text, &[]).expect("the text is a model")
    }

    fn samples(&self, run: &Run) -> Vec<Vec<f64>> {
        let channels = self.channels.iter().map(|name| {
            let channel = run
                .recording
                .channel(name)
                .expect("the model has the channel");
            &channel.samples
        });
        let channels: Vec<_> = channels.collect();
        let count = channels
            .iter()
            .map(|samples| samples.len())
            .min()
            .unwrap_or(0);
        (0..count)
            .map(|i| channels.iter().map(|samples| samples[i]).collect())
            .collect()
    }
}

/// A beam of 8 m, spun up to 4 rad/s in 15 s, as Jonker & Aarts have it; `tree` with a number of functions or `nodal` with one of
/// elements.
fn spun_up(discretisation: &str, integrator: &str) -> String {
    let (kind, count) = discretisation.split_once(' ').expect("a kind and a number");
    let (formulation, functions) = match kind {
        "nodal" => (
            format!("[formulation.nodal]\nelements_per_link = {count}\n"),
            "3",
        ),
        _ => (String::new(), count),
    };
    format!(
        "format = 1\n{formulation}[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 8.0\nmass_per_length_kg_per_m = 0.20196691\n\
         bending_stiffness_y_n_m2 = 566.6311\nbasis.clamped_free = {{ bending_y = {functions} }}\n\
         [[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"beam\"\nrevolute = {{ axis = [0, 0, 1] }}\n\
         [[motion]]\njoint = \"hub\"\ncycloidal_rate = {{ final_rate_rad_per_s = 4.0, duration_s = 15.0 }}\n\
         [[marker]]\nname = \"tip\"\nbody = \"beam\"\n\
         [simulation]\nduration_s = 20.0\nintegrator.{integrator}\n[output]\nsample_period_s = 0.1\n"
    )
}

/// Radius of the platform's corners and of the base's.
const CORNERS_M: f64 = 0.230_940_107_675_850_3;
const BASE_M: f64 = 0.577_350_269_189_625_8;
const PROXIMAL_M: f64 = 0.45;
const DISTAL_M: f64 = 0.55;
const MOVE_M: f64 = 0.08;
const MOVE_S: f64 = 0.25;

/// Angles of a leg's two links, in the axes of the ground, when the platform has moved by `x`: the elbow to the left of the leg.
fn leg(number: usize, x: f64) -> [f64; 2] {
    let direction = std::f64::consts::PI * (2.0 / 3.0 * number as f64 - 5.0 / 6.0);
    let reach = [
        x + (CORNERS_M - BASE_M) * direction.cos(),
        (CORNERS_M - BASE_M) * direction.sin(),
    ];
    let distance = reach[0].hypot(reach[1]);
    let cosine =
        (PROXIMAL_M.powi(2) + distance.powi(2) - DISTAL_M.powi(2)) / (2.0 * PROXIMAL_M * distance);
    let proximal = reach[1].atan2(reach[0]) + cosine.acos();
    let distal =
        (reach[1] - PROXIMAL_M * proximal.sin()).atan2(reach[0] - PROXIMAL_M * proximal.cos());
    [proximal, distal]
}

/// A planar 3-RRR on a base triangle of 1 m whose rigid platform would move 8 cm along x by a cycloid; `functions` of bending in each link.
fn parallel_robot(functions: &str, integrator: &str) -> String {
    const ROWS: usize = 201;
    let mut text = String::from("format = 1\n");
    let times: Vec<f64> = (0..ROWS)
        .map(|i| MOVE_S * i as f64 / (ROWS - 1) as f64)
        .collect();
    for number in 0..3 {
        let direction = std::f64::consts::PI * (2.0 / 3.0 * number as f64 - 5.0 / 6.0);
        let [proximal, distal] = leg(number, 0.0);
        let angles = times.iter().map(|t| {
            let s = t / MOVE_S;
            leg(
                number,
                MOVE_M * (s - (std::f64::consts::TAU * s).sin() / std::f64::consts::TAU),
            )[0]
        });
        let angles: Vec<f64> = angles.collect();
        let beam = |name: &str, length: f64, mass: f64, basis: &str| {
            format!(
                "[[body]]\nname = \"{name}{number}\"\n[body.beam]\nlength_m = {length}\nmass_per_length_kg_per_m = {}\n\
                 bending_stiffness_y_n_m2 = 7.815\nbasis.{basis} = {{ bending_y = {functions} }}\n",
                mass / length
            )
        };
        text += &beam("proximal", PROXIMAL_M, 0.0623, "clamped_free");
        text += &beam("distal", DISTAL_M, 0.0761, "pinned_pinned");
        let [x, y] = [BASE_M * direction.cos(), BASE_M * direction.sin()];
        let corner = [CORNERS_M * direction.cos(), CORNERS_M * direction.sin()];
        let elbow = distal - proximal;
        let _ = write!(
            text,
            "[[joint]]\nname = \"base{number}\"\nparent = {{ body = \"ground\", position_m = [{x}, {y}, 0] }}\nchild = \"proximal{number}\"\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = {proximal} }}\n\
             [[joint]]\nname = \"elbow{number}\"\nparent = \"proximal{number}\"\nchild = \"distal{number}\"\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = {elbow} }}\n\
             [[joint]]\nname = \"wrist{number}\"\nparent = \"distal{number}\"\nchild = {{ body = \"platform\", position_m = [{}, {}, 0] }}\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = {} }}\n\
             [[motion]]\njoint = \"base{number}\"\ntable = {{ time_s = {times:?}, angle_rad = {angles:?} }}\n",
            corner[0], corner[1], -distal
        );
    }
    // an equilateral plate of side a has the moment of inertia m a^2 / 12 about its normal
    let inertia = 0.0959 * 0.16 / 12.0;
    let _ = write!(
        text,
        "[[body]]\nname = \"platform\"\nrigid = {{ mass_kg = 0.0959, inertia_kg_m2 = [{0}, {0}, {inertia}] }}\n\
         [[marker]]\nname = \"platform\"\nbody = \"platform\"\n\
         [simulation]\nduration_s = 0.5\nintegrator.{integrator}\n[output]\nsample_period_s = 0.01\n",
        inertia / 2.0
    );
    text
}
