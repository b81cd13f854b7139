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
    /// Channels that are compared, and what is compared of their values at an instant.
    channels: &'static [&'static str],
    read: fn(time_s: f64, values: &[f64]) -> Vec<f64>,
    /// Values of the channels by others, at numbers of samples.
    published: &'static [(usize, &'static [f64])],
    /// The model of a setting: its discretisation and its integrator.
    model: fn(discretisation: &str, integrator: &str) -> String,
    /// Discretisations of Lissom: under which name, in words, and as text of the model.
    discretisations: &'static [[&'static str; 3]],
    /// Integrators, likewise.
    integrators: &'static [(&'static str, &'static str)],
    /// Discretisation and integrator of the converged run.
    converged: (&'static str, &'static str),
}

const METHODS: [(&str, &str); 7] = [
    ("esdirk 1e-1", "esdirk = { rtol = 1e-1, atol = 1e-1 }"),
    ("esdirk 1e-2", "esdirk = { rtol = 1e-2, atol = 1e-2 }"),
    ("esdirk 1e-3", "esdirk = { rtol = 1e-3, atol = 1e-3 }"),
    ("esdirk 1e-4", "esdirk = { rtol = 1e-4, atol = 1e-4 }"),
    ("esdirk 1e-5", "esdirk = { rtol = 1e-5, atol = 1e-5 }"),
    ("esdirk 1e-6", "esdirk = { rtol = 1e-6, atol = 1e-6 }"),
    ("dop853 1e-4", "dop853 = { rtol = 1e-4, atol = 1e-4 }"),
];

/// Lissom with bodies in a tree, and with nodes and elements.
const TREE: &str = "Lissom";
const NODAL: &str = "Lissom, nodal";

/// Sines in the chord frame, with the stretch of the axis, which is 8e-5 m in twenty links.
const CHAIN: [[&str; 3]; 3] = [
    [
        TREE,
        "1 sine",
        "pinned_pinned = { bending_y = 1, stretch = 1 }",
    ],
    [
        TREE,
        "2 sines",
        "pinned_pinned = { bending_y = 2, stretch = 1 }",
    ],
    [
        TREE,
        "3 sines",
        "pinned_pinned = { bending_y = 3, stretch = 1 }",
    ],
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
            read: |_, values| values.to_vec(),
            published: &[
                (10, &[4.563_044_77, -1.232_434_77]),
                (20, &[0.543_203_24, -4.922_226_61]),
            ],
            model: |basis, integrator| chain_text(5, basis, integrator),
            discretisations: &CHAIN,
            integrators: &METHODS,
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
            read: |_, values| values.to_vec(),
            published: &[
                (10, &[19.742_420_22, -1.226_281_59]),
                (20, &[18.221_361_65, -4.904_817_46]),
            ],
            model: |basis, integrator| chain_text(20, basis, integrator),
            discretisations: &CHAIN,
            integrators: &METHODS,
            converged: (
                "pinned_pinned = { bending_y = 5, stretch = 2 }",
                "esdirk = { rtol = 1e-7, atol = 1e-7 }",
            ),
        },
        Problem {
            name: "spun-up",
            title: "Beam spun up about its root",
            goals: &[3e-3, 1e-3, 3e-4, 1e-4],
            scripts: &[("exudyn_beams.py", &["spun-up"])],
            channels: &TIP,
            read: lag,
            published: &[],
            model: spun_up,
            discretisations: &[
                [TREE, "1 body", "tree 1"],
                [TREE, "2 bodies", "tree 2"],
                [TREE, "4 bodies", "tree 4"],
                [TREE, "6 bodies", "tree 6"],
                [NODAL, "4 elements", "nodal 4"],
                [NODAL, "8 elements", "nodal 8"],
            ],
            integrators: &METHODS,
            converged: ("nodal 32", "radau = { rtol = 1e-8, atol = 1e-10 }"),
        },
        Problem {
            name: "3rrr",
            title: "Planar 3-RRR, base joints prescribed",
            goals: &[1e-4, 1e-5],
            scripts: &[("exudyn_beams.py", &["3rrr"])],
            channels: &["platform.position.x", "platform.position.y"],
            read: |_, values| values.to_vec(),
            published: &[],
            model: parallel_robot,
            discretisations: &[
                [TREE, "1 function", "1"],
                [TREE, "2 functions", "2"],
                [TREE, "3 functions", "3"],
            ],
            integrators: &METHODS,
            converged: ("6", "radau = { rtol = 1e-9, atol = 1e-11 }"),
        },
    ]
}

impl Problem {
    /// Names under which Lissom is measured.
    pub(super) fn own(&self) -> impl Iterator<Item = &'static str> {
        let names = self.discretisations.iter().map(|[name, ..]| *name);
        [TREE, NODAL]
            .into_iter()
            .filter(move |own| names.clone().any(|name| name == *own))
    }

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
        for [program, functions, discretisation] in self.discretisations {
            for (method, integrator) in self.integrators {
                // explicit steps follow the fastest mode of the elements: minutes of CPU time
                if *program == NODAL && method.starts_with("dop853") {
                    continue;
                }
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
                    program: (*program).to_owned(),
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
        let times = &run.recording.time_s;
        let sample = |i: usize| {
            let values: Vec<f64> = channels.iter().map(|samples| samples[i]).collect();
            (self.read)(times[i], &values)
        };
        (0..count).map(sample).collect()
    }
}

/// Rate to which the beam is spun up, and in what time.
const RATE_RAD_PER_S: f64 = 4.0;
const RAMP_S: f64 = 15.0;

/// Component of the tip of the spun-up beam across its turning axis.
fn lag(time_s: f64, tip: &[f64]) -> Vec<f64> {
    let rate = std::f64::consts::TAU / RAMP_S;
    let angle = if time_s < RAMP_S {
        RATE_RAD_PER_S / RAMP_S
            * (time_s.powi(2) / 2.0 + ((rate * time_s).cos() - 1.0) / rate.powi(2))
    } else {
        RATE_RAD_PER_S * (time_s - RAMP_S / 2.0)
    };
    let (sine, cosine) = angle.sin_cos();
    vec![tip[1] * cosine - tip[0] * sine]
}

/// A beam of 8 m, spun up to 4 rad/s in 15 s, as Jonker & Aarts have it: a row of bodies that are fixed to each other, each a cubic,
/// or nodes and elements. One body bends by two such elements, so that it has the second mode.
fn spun_up(discretisation: &str, integrator: &str) -> String {
    let (kind, count) = discretisation.split_once(' ').expect("a kind and a number");
    let (formulation, bodies) = match kind {
        "nodal" => (
            format!("[formulation.nodal]\nelements_per_link = {count}\n"),
            1,
        ),
        _ => (String::new(), count.parse().expect("a number of bodies")),
    };
    let basis = match (kind, bodies) {
        ("nodal", _) => "clamped_free = { bending_y = 2 }",
        (_, 1) => "elements = { count = 2 }",
        _ => "elements = { count = 1 }",
    };
    let length = 8.0 / f64::from(bodies);
    let body = |k: u32| {
        let (parent, joint) = match k.checked_sub(1) {
            None => ("ground".to_owned(), "revolute = { axis = [0, 0, 1] }"),
            Some(parent) => (format!("b{parent}"), "fixed = {}"),
        };
        format!(
            "[[body]]\nname = \"b{k}\"\n[body.beam]\nlength_m = {length:?}\nmass_per_length_kg_per_m = 0.20196691\n\
             bending_stiffness_y_n_m2 = 566.6311\nbasis.{basis}\n\
             [[joint]]\nname = \"j{k}\"\nparent = \"{parent}\"\nchild = \"b{k}\"\n{joint}\n"
        )
    };
    format!(
        "format = 1\n{formulation}{}\
         [[motion]]\njoint = \"j0\"\ncycloidal_rate = {{ final_rate_rad_per_s = {RATE_RAD_PER_S:?}, duration_s = {RAMP_S:?} }}\n\
         [[marker]]\nname = \"tip\"\nbody = \"b{}\"\n\
         [simulation]\nduration_s = 20.0\nintegrator.{integrator}\n[output]\nsample_period_s = 0.1\n",
        (0..bodies).map(body).collect::<String>(),
        bodies - 1
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
    const ROWS: usize = 21;
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
