//! What forward dynamics by composite and by articulated bodies cost \[Jain & Rodriguez 1992, section VII\].

use std::hint::black_box;
use std::time::Instant;

use lissom::spec::{
    AttachmentSpec, BasisSpec, BeamSpec, BodySpec, FidelitySpec, JointSpec, ModeCounts,
    RevoluteSpec, RigidSpec,
};
use lissom::{Evaluator, Mechanism, ModelSpec};
use lissom_spec::ShorteningTerms;
use nalgebra::{DMatrix, DVector};
use serde::Deserialize;

use super::Row;

const COUNTED: &str = include_str!("../../../../validation/jain_rodriguez_1992/operations.toml");

/// Bodies of the chain of figure 2.
pub const BODIES: usize = 10;
const MOST_MODES: usize = 12;

/// What one evaluation costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Elastic coordinates of a body.
    pub modes: usize,
    /// By composite bodies: mass matrix, bias, solution.
    pub composite: f64,
    /// By articulated bodies.
    pub articulated: f64,
}

/// Who counts operations.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// The lists of the paper.
    Paper,
    /// A scalar that counts, in our recursions.
    Ours,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    composite: Vec<u32>,
    articulated: Vec<u32>,
}

impl Counting {
    /// Operations of a chain of [`BODIES`] with 0 to 12 modes each.
    ///
    /// # Panics
    /// If the counts that come with the program cannot be read, which a test would tell.
    pub fn counts(self) -> Vec<Cost> {
        let modes = 0..=MOST_MODES;
        match self {
            Self::Paper => modes
                .map(|modes| Cost {
                    modes,
                    composite: paper_composite(modes as f64),
                    articulated: paper_articulated(modes as f64),
                })
                .collect(),
            Self::Ours => {
                let kept: Counted = toml::from_str(COUNTED).expect("a test reads the counts");
                let both = kept.composite.into_iter().zip(kept.articulated);
                modes
                    .zip(both)
                    .map(|(modes, (composite, articulated))| Cost {
                        modes,
                        composite: f64::from(composite),
                        articulated: f64::from(articulated),
                    })
                    .collect()
            }
        }
    }
}

/// Section VII.A, items 1 to 5, multiplications and additions together. The factor k of item 2 sums to 55 over ten bodies.
fn paper_composite(n: f64) -> f64 {
    let bodies = BODIES as f64;
    let unknowns = bodies * (n + 1.0);
    let inertias = n * n + 96.5 * n + 206.0;
    let matrix = 23.0 * n * n + 58.0 * n + 26.0;
    let bias = 4.0 * n * n + 104.0 * n + 349.0;
    let solution =
        unknowns.powi(3) / 3.0 + 2.5 * unknowns * unknowns - 11.0 / 6.0 * unknowns + unknowns;
    bodies * (inertias + bias) + 0.5 * bodies * (bodies + 1.0) * matrix + solution
}

/// Item 1 of section VII.B with the explicit inverse.
fn explicit(n: f64) -> f64 {
    5.0 / 3.0 * n.powi(3) + 23.0 * n * n + 1312.0 / 3.0 * n + 344.0
}

/// Item 1 of section VII.B with the indirect inverse (B3).
fn indirect(n: f64) -> f64 {
    25.0 * n * n + 437.0 * n + 1017.0
}

/// Section VII.B, items 1 to 3, the cheaper inverse of both.
fn paper_articulated(n: f64) -> f64 {
    let inverse = explicit(n).min(indirect(n));
    let inward = 2.0 * n * n + 49.0 * n + 99.0;
    let outward = 37.0 * n + 94.0;
    BODIES as f64 * (inverse + inward + outward)
}

/// Microseconds of one evaluation here, the fastest of several.
pub(super) fn times() -> Option<Vec<Cost>> {
    (0..=MOST_MODES).map(time).collect()
}

fn time(modes: usize) -> Option<Cost> {
    let mechanism = Mechanism::build(&chain_spec(BODIES, modes, false)).ok()?;
    let mut evaluator = Evaluator::new(&mechanism).ok()?;
    let start = mechanism.written();
    let motion = [start.position.as_slice(), start.velocity.as_slice()];
    let n = evaluator.velocity_count();
    let (none, mut force, mut mass) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
    let mut acceleration = vec![0.0; n];
    let articulated = fastest(|| {
        evaluator.forward_dynamics(0.0, motion, &none, &mut acceleration);
        black_box(&acceleration);
    });
    let composite = fastest(|| {
        evaluator.mass_matrix(0.0, motion[0], &mut mass);
        evaluator.inverse_dynamics(0.0, motion, &none, &mut force);
        let matrix = DMatrix::from_row_slice(n, n, &mass);
        let bias = DVector::from_column_slice(&force);
        black_box(matrix.cholesky().map(|factor| factor.solve(&bias)));
    });
    Some(Cost {
        modes,
        composite,
        articulated,
    })
}

/// The fastest of some calls, in microseconds.
fn fastest(mut work: impl FnMut()) -> f64 {
    const CALLS: usize = 30;
    let times = (0..CALLS).map(|_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64() * 1e6
    });
    times.fold(f64::INFINITY, f64::min)
}

/// What the paper says of its counts.
pub(super) fn rows() -> Vec<Row> {
    let paper = Counting::Paper.counts();
    let ratio = |costs: &[Cost], modes: usize| costs[modes].composite / costs[modes].articulated;
    let cheaper = (1..=MOST_MODES).find(|&n| indirect(n as f64) < explicit(n as f64));
    let digits = "the lists of section VII, summed by hand to three decimals; the paper says \"over a factor\"";
    vec![
        row(
            "composite over articulated, 5 modes, lists of the paper",
            Some(3.681),
            ratio(&paper, 5),
            5e-4,
            digits,
        ),
        row(
            "composite over articulated, 10 modes, lists of the paper",
            Some(7.268),
            ratio(&paper, 10),
            5e-4,
            digits,
        ),
        row(
            "fewest modes for which the indirect inverse (B3) is cheaper",
            Some(8.0),
            cheaper.map_or(f64::NAN, |n| n as f64),
            0.0,
            "a count; the paper changes to it at 8 modes",
        ),
    ]
}

fn row(quantity: &str, reference: Option<f64>, computed: f64, tolerance: f64, reason: &str) -> Row {
    Row {
        case: "operations of forward dynamics, ten bodies".to_owned(),
        source: "jain_rodriguez_1992".to_owned(),
        quantity: quantity.to_owned(),
        printed: None,
        digits: None,
        reference,
        computed: Some(computed),
        tolerance,
        pass: false,
        unmet: false,
        remark: reason.to_owned(),
    }
    .judged()
}

/// A chain of `bodies` links with `modes` elastic coordinates each, revolute axes z, y, z, y, …
pub fn chain_spec(bodies: usize, modes: usize, shortening: bool) -> ModelSpec {
    let name = |i: usize| format!("link_{i}");
    ModelSpec {
        gravity_m_per_s2: [0.0, -9.81, 0.0],
        body: (0..bodies)
            .map(|i| {
                let mut body = BodySpec {
                    name: name(i),
                    ..BodySpec::default()
                };
                if modes == 0 {
                    body.rigid = Some(RigidSpec {
                        mass_kg: 1.0,
                        center_of_mass_m: [0.25, 0.01, 0.02],
                        inertia_kg_m2: [0.002, 0.02, 0.02],
                        products_of_inertia_kg_m2: [0.0; 3],
                    });
                } else {
                    body.beam = Some(link(modes));
                }
                body
            })
            .collect(),
        joint: (0..bodies)
            .map(|i| JointSpec {
                name: format!("joint_{i}"),
                parent: if i == 0 {
                    AttachmentSpec::new("ground")
                } else {
                    AttachmentSpec {
                        position_m: Some([0.5, 0.0, 0.0]),
                        ..AttachmentSpec::new(name(i - 1))
                    }
                },
                child: AttachmentSpec::new(name(i)),
                revolute: Some(RevoluteSpec {
                    axis: if i % 2 == 0 {
                        [0.0, 0.0, 1.0]
                    } else {
                        [0.0, 1.0, 0.0]
                    },
                    initial_angle_rad: 0.3 - 0.1 * (i % 7) as f64,
                    initial_rate_rad_per_s: 0.2 + 0.1 * (i % 5) as f64,
                    ..RevoluteSpec::default()
                }),
                ..JointSpec::default()
            })
            .collect(),
        fidelity: FidelitySpec {
            shortening: (!shortening).then_some(ShorteningTerms::None),
            ..FidelitySpec::default()
        },
        ..ModelSpec::default()
    }
}

/// Half the modes in each plane, the odd one in y.
fn link(modes: usize) -> BeamSpec {
    BeamSpec {
        length_m: Some(0.5),
        section: None,
        material: None,
        mass_per_length_kg_per_m: Some(2.0),
        bending_stiffness_y_n_m2: Some(400.0),
        bending_stiffness_z_n_m2: Some(300.0),
        axial_stiffness_n: None,
        torsional_stiffness_n_m2: None,
        section_inertia_y_kg_m: 1e-4,
        section_inertia_z_kg_m: 1e-4,
        segments: Vec::new(),
        rotary_inertia: true,
        basis: BasisSpec::ClampedFree(ModeCounts {
            bending_y: modes.div_ceil(2),
            bending_z: modes / 2,
            ..ModeCounts::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section VII: articulated bodies win by over a factor of 3 with 5 modes and of 7 with 10, by the lists of the paper and by the
    /// operations of the recursions here; and the two go the same way in between.
    #[test]
    fn articulated_bodies_win_by_the_factors_of_the_paper() {
        for counting in [Counting::Paper, Counting::Ours] {
            let counts = counting.counts();
            let ratio = |modes: usize| counts[modes].composite / counts[modes].articulated;
            assert!(ratio(5) > 3.0 && ratio(10) > 7.0, "{counting:?}");
            for modes in 1..MOST_MODES {
                assert!(
                    ratio(modes + 1) > ratio(modes),
                    "{counting:?}, {modes} modes"
                );
            }
        }
    }
}
