//! Yesterday's bits: what `integrate` and `integrate_second_order` gave when this table was written.
//!
//! Proves nothing but change. Right sides are polynomials, so that the only function of the mathematical library in a
//! result is the `powf` of the step controls.

use super::super::{
    Control, FixedStep, Flow, Method, Observer, Schedule, Scheme, Statistics, integrate,
    integrate_second_order,
};
use super::problems::{Chain, Problem, first_order_problems};

const ALPHA: Scheme = Scheme::GeneralizedAlpha {
    spectral_radius: 0.8,
};
const ANNIHILATING_ALPHA: Scheme = Scheme::GeneralizedAlpha {
    spectral_radius: 0.0,
};
const NEWMARK: Scheme = Scheme::Newmark {
    beta: 0.25,
    gamma: 0.5,
};

/// Case, final state, digest of what the observer was told, steps, evaluations.
type Row<C, const N: usize> = (C, [u64; N], u64, u64, u64);

#[rustfmt::skip]
const FIRST_ORDER: [Row<(Method, &str), 2>; 20] = [
    ((Method::Dop853, "forced"), [0x3fe5_d173_3029_c983, 0xbffc_fad2_b8cf_400e], 0x8b0f_2f51_f566_3179, 35, 495),
    ((Method::Dop853, "van der pol"), [0x3ff8_36d7_6572_4426, 0xbfcc_997a_c93a_ec37], 0xaf4f_55f3_7946_26d4, 37, 709),
    ((Method::Dop853, "stiff"), [0x3fff_d6e4_136c_54dc, 0xbf6b_897e_0393_7b0b], 0x11cb_f0c7_6fc1_5d7a, 289, 3811),
    ((Method::Dop853, "bounce"), [0x3fc9_0e75_0c97_1b74, 0xbffc_441e_5193_7de7], 0xb7a5_bdc3_0b47_e10b, 25, 351),
    ((Method::Dop853, "circle"), [0xbfed_27fa_a627_7d49, 0x3fda_6026_383c_0403], 0x9659_61e6_d1d3_ff67, 24, 376),
    ((Method::Dopri5, "forced"), [0x3fe5_d173_3396_9968, 0xbffc_fad2_a4e9_c02e], 0xf64c_cb8d_e092_0de1, 75, 468),
    ((Method::Dopri5, "van der pol"), [0x3ff8_36d7_65cd_f5b9, 0xbfcc_997a_dc17_61ec], 0x0a08_e689_1dec_3bc3, 66, 404),
    ((Method::Dopri5, "stiff"), [0x3fff_d6e4_136b_d5c6, 0xbf6b_897b_b7e8_fbdd], 0x0e67_801d_14d1_69a1, 558, 3356),
    ((Method::Dopri5, "bounce"), [0x3fc9_0e75_314b_ad31, 0xbffc_441e_3fde_f4b6], 0x0c53_7502_31c1_8cfa, 31, 198),
    ((Method::Dopri5, "circle"), [0xbfed_27fa_ab8a_ab5a, 0x3fda_6026_2069_b549], 0xb661_c76f_4282_bae5, 75, 529),
    ((Method::Adams, "forced"), [0x3fe5_d172_b063_cc2f, 0xbffc_fad2_c1e4_78cb], 0x561f_b9c3_b76b_2d24, 151, 281),
    ((Method::Adams, "van der pol"), [0x3ff8_36d7_5460_b8b9, 0xbfcc_997a_d0c1_5333], 0x290c_02ec_40b2_c121, 97, 175),
    ((Method::Adams, "stiff"), [0x3fff_d6e4_0b4c_471b, 0xbf6b_897e_f08b_5b4c], 0x40b1_c127_b13f_0f3e, 2236, 4067),
    ((Method::Adams, "bounce"), [0x3fc9_0e79_f017_57c3, 0xbffc_441b_9c50_f64e], 0x7216_eb6a_57ed_aca8, 108, 173),
    ((Method::Adams, "circle"), [0xbfed_27fa_72f3_8545, 0x3fda_6027_1aa3_61ff], 0x12e9_8423_56cb_6c60, 97, 182),
    ((Method::Radau, "forced"), [0x3fe5_d173_2f93_1796, 0xbffc_fad2_b7cd_9761], 0xc8a8_f031_3f19_8dab, 150, 1120),
    ((Method::Radau, "van der pol"), [0x3ff8_36d7_657d_edaa, 0xbfcc_997a_cc3e_ed07], 0xf399_c86b_ec36_1779, 64, 519),
    ((Method::Radau, "stiff"), [0x3fff_d6e4_136a_1baa, 0xbf6b_897e_07a5_8eb8], 0x9953_dd7b_0afd_049f, 30, 178),
    ((Method::Radau, "bounce"), [0x3fc9_0e75_937c_1548, 0xbffc_441e_0be6_c6d2], 0x953f_cedd_e0a2_740d, 41, 231),
    ((Method::Radau, "circle"), [0xbfed_27fa_a6a3_f655, 0x3fda_6026_3615_a29e], 0x36cd_8d0e_3370_556e, 123, 701),
];

/// Scheme and whether there is a wall; the final state is position and velocity.
#[rustfmt::skip]
const SECOND_ORDER: [Row<(Scheme, bool), 4>; 6] = [
    ((ALPHA, false), [0xbfe5_e1c4_2b7a_828b, 0xbfe6_8b16_42ac_3741, 0xbff9_f801_f7a3_7d57, 0xc002_c921_9bda_ef02], 0xfea4_a1d7_b6ba_77e2, 81, 468),
    ((ALPHA, true), [0xbfe1_932c_af4b_f8e4, 0xbfec_c858_e72f_77c3, 0xbfee_1fca_920b_032d, 0xbffc_79c0_304a_5e52], 0xcad9_df6d_53a1_98ab, 81, 442),
    ((ANNIHILATING_ALPHA, false), [0xbfe5_d7f8_98a2_8da8, 0xbfe6_5e57_270e_2902, 0xbffa_4851_532e_5da6, 0xc002_87b1_4aab_4caf], 0x2c8b_cab3_91f4_f0df, 81, 470),
    ((ANNIHILATING_ALPHA, true), [0xbfe1_a4df_6064_27d4, 0xbfec_8f95_50df_bdb0, 0xbfed_f6f6_e756_9138, 0xbffc_7870_de4e_e0f9], 0x80aa_501d_2964_a311, 81, 455),
    ((NEWMARK, false), [0xbfe5_e1d6_270a_56b2, 0xbfe6_8be2_b455_0f92, 0xbff9_f700_951e_1a95, 0xc002_c9e9_2b97_24bf], 0xbc00_e187_cbae_caf3, 81, 468),
    ((NEWMARK, true), [0xbfe1_92f7_4396_100b, 0xbfec_c922_3c2a_63db, 0xbfee_20b0_80ae_005c, 0xbffc_798a_9a54_dbae], 0xe044_e6c7_b2d1_7d8c, 81, 442),
];

/// Digest of everything an observer is told: instants and states of samples, instants of steps.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        // FNV-1a
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, value: f64) {
        for byte in value.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Observer for Digest {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        self.add(time);
        for &value in state {
            self.add(value);
        }
        Flow::Continue
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        self.sample(time, state)
    }
}

fn bits<const N: usize>(state: [f64; N]) -> [u64; N] {
    state.map(f64::to_bits)
}

fn first_order(method: Method, name: &str) -> ([u64; 2], u64, Statistics) {
    let Problem {
        mut system,
        start: mut state,
        breakpoints,
        ..
    } = first_order_problems()
        .into_iter()
        .find(|problem| problem.name == name)
        .unwrap();
    let samples: Vec<f64> = (0..30).map(|i| 0.1 * f64::from(i)).collect();
    let control = Control {
        rtol: 1e-7,
        atol: vec![1e-8],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end: 3.0,
        breakpoints,
        samples: &samples,
    };
    let mut digest = Digest::new();
    let outcome = integrate(
        method,
        &control,
        system.as_mut(),
        &schedule,
        &mut state,
        &mut digest,
    )
    .unwrap();
    (bits(state), digest.0, outcome.statistics)
}

fn second_order(scheme: Scheme, wall: bool) -> ([u64; 4], u64, Statistics) {
    let samples: Vec<f64> = (0..=18).map(|i| 0.13 * f64::from(i)).collect();
    let schedule = Schedule {
        start: 0.0,
        end: 2.41,
        breakpoints: &[1.0],
        samples: &samples,
    };
    let options = FixedStep {
        step: 0.03,
        tolerance: 1e-10,
        max_iterations: 10,
    };
    let ([mut q, mut v], mut digest) = ([[0.0, 0.1], [0.0, 0.5]], Digest::new());
    let outcome = integrate_second_order(
        scheme,
        &options,
        &mut Chain { wall },
        &schedule,
        &mut q,
        &mut v,
        &mut digest,
    )
    .unwrap();
    (bits([q[0], q[1], v[0], v[1]]), digest.0, outcome.statistics)
}

#[test]
fn regress_first_order_methods() {
    for ((method, name), state, digest, steps, evaluations) in FIRST_ORDER {
        let (found, told, cost) = first_order(method, name);
        assert_eq!(found, state, "{method:?}, {name}");
        assert_eq!(told, digest, "{method:?}, {name}");
        assert_eq!((cost.steps, cost.evaluations), (steps, evaluations));
    }
}

#[test]
fn regress_second_order_schemes() {
    for ((scheme, wall), state, digest, steps, evaluations) in SECOND_ORDER {
        let (found, told, cost) = second_order(scheme, wall);
        assert_eq!(found, state, "{scheme:?}, wall {wall}");
        assert_eq!(told, digest, "{scheme:?}, wall {wall}");
        assert_eq!((cost.steps, cost.evaluations), (steps, evaluations));
    }
}
