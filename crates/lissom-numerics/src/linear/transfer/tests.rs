use super::*;
use crate::linear::error::unwatched;

/// Rounding of small dense systems.
const ROUNDING: f64 = 1e-12;

/// Two masses of 2 and 3 kg with 5 N/m between them, the first held by `ground_n_per_m`; forces on both, positions of both.
fn two_masses(ground_n_per_m: f64) -> Transfer {
    let k = 5.0;
    Transfer {
        mass: DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 3.0]),
        damping: DMatrix::zeros(2, 2),
        stiffness: DMatrix::from_row_slice(2, 2, &[k + ground_n_per_m, -k, -k, k]),
        input: DMatrix::identity(2, 2),
        output: DMatrix::identity(2, 4),
        feedthrough: DMatrix::zeros(2, 2),
        loops: None,
    }
}

/// A system with damping, gyroscopic and circulatory terms, which sees positions and rates.
fn coupled() -> Transfer {
    let number = |i: usize, j: usize, seed: usize| {
        let x = (1 + i + 7 * j + 13 * seed) as f64 * 0.754_877_666;
        x.fract() - 0.5
    };
    let size = 5;
    let any = |seed| DMatrix::from_fn(size, size, |i, j| number(i, j, seed));
    let definite = |seed| {
        let root: DMatrix<f64> = any(seed);
        &root * root.transpose() + DMatrix::identity(size, size) * 0.3
    };
    Transfer {
        mass: definite(1),
        damping: definite(2) * 0.1 + any(3) * 0.2,
        stiffness: definite(4) * 40.0 + any(5),
        input: DMatrix::from_fn(size, 2, |i, j| number(i, j, 6)),
        output: DMatrix::from_fn(2, 2 * size, |i, j| number(i, j, 7)),
        feedthrough: DMatrix::zeros(2, 2),
        loops: None,
    }
}

/// Closed form: an oscillator, at its resonance and elsewhere.
#[test]
fn response_of_an_oscillator() {
    let transfer = Transfer {
        mass: DMatrix::from_element(1, 1, 2.0),
        damping: DMatrix::from_element(1, 1, 0.4),
        stiffness: DMatrix::from_element(1, 1, 50.0),
        input: DMatrix::from_element(1, 1, 3.0),
        output: DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 1.0]),
        feedthrough: DMatrix::zeros(2, 1),
        loops: None,
    };
    for w in [0.0, 1.0, 5.0, 80.0] {
        let response = transfer.response(w);
        let expected = Complex::new(3.0, 0.0) / Complex::new(50.0 - 2.0 * w * w, 0.4 * w);
        assert!((response[0] - expected).norm() <= ROUNDING * expected.norm());
        let rate = expected * Complex::new(0.0, w);
        assert!((response[1] - rate).norm() <= ROUNDING * rate.norm());
    }
    let gain = transfer.static_gain().unwrap();
    assert!((gain[0] - 0.06).abs() < ROUNDING * 0.06);
    assert_eq!(gain[1], 0.0);
    let undamped = Transfer {
        damping: DMatrix::zeros(1, 1),
        ..transfer
    };
    assert!(!undamped.response(5.0)[0].re.is_finite());
}

/// By hand: what nothing holds has no static gain.
#[test]
fn static_gain_needs_something_that_holds() {
    assert_eq!(two_masses(0.0).static_gain(), None);
    let held = two_masses(20.0).static_gain().unwrap();
    // 20 N/m hold both, and 5 N/m more the second
    let expected = DMatrix::from_row_slice(2, 2, &[0.05, 0.05, 0.05, 0.25]);
    assert!((held - &expected).norm() < ROUNDING * expected.norm());
}

/// Closed form: pushed and seen at the first mass, the second vibrates on its spring; seen at the second there is none, and none with
/// forces and positions of both.
#[test]
fn zeros_of_two_masses() {
    let transfer = two_masses(0.0);
    let own = transfer.between(&[0], &[0]).zeros(&mut unwatched).unwrap();
    let [zero] = own[..] else {
        panic!("one pair: {own:?}")
    };
    assert!((zero - Complex::new(0.0, (5.0_f64 / 3.0).sqrt())).norm() < ROUNDING);
    assert_eq!(
        transfer.between(&[0], &[1]).zeros(&mut unwatched).unwrap(),
        []
    );
    assert_eq!(transfer.zeros(&mut unwatched).unwrap(), []);
}

/// Identity: at its zeros a transfer function is zero, and so is the determinant of a square one. There are as many as twice the
/// coordinates less one input that a rate sees at once.
#[test]
fn transfer_functions_vanish_at_their_zeros() {
    let transfer = coupled();
    let typical = transfer.response(2.0);
    for (input, output) in [(0, 0), (0, 1), (1, 0)] {
        let one = transfer.between(&[input], &[output]);
        let zeros = one.zeros(&mut unwatched).unwrap();
        let count: usize = zeros.iter().map(|z| 1 + usize::from(z.im != 0.0)).sum();
        assert_eq!(count, 9, "{zeros:?}");
        for zero in zeros {
            let left = one.at(zero)[0].norm();
            assert!(
                left < 1e-10 * typical[(output, input)].norm(),
                "{zero} {left}"
            );
        }
    }
    let zeros = transfer.zeros(&mut unwatched).unwrap();
    let count: usize = zeros.iter().map(|z| 1 + usize::from(z.im != 0.0)).sum();
    assert_eq!(count, 8, "{zeros:?}");
    for zero in zeros {
        let left = transfer.at(zero).determinant().norm();
        assert!(left < 1e-10 * typical.determinant().norm(), "{zero} {left}");
    }
}

/// Invariance: what no input reaches, or no output sees, changes nothing, even at the same frequency and mixed with what moves.
#[test]
fn zeros_do_not_know_what_does_not_take_part() {
    let alone = two_masses(20.0);
    // a copy of the two masses beside them, turned into each other
    let (sin, cos) = 0.7_f64.sin_cos();
    let mixed = |matrix: &DMatrix<f64>| {
        DMatrix::from_fn(4, 4, |i, j| {
            let turn = [[cos, -sin], [sin, cos]];
            let parts = (0..2).map(|k| turn[i / 2][k] * turn[j / 2][k]);
            parts.sum::<f64>() * matrix[(i % 2, j % 2)]
        })
    };
    let first = |i: usize| if i < 2 { cos } else { sin };
    let transfer = Transfer {
        mass: mixed(&alone.mass),
        damping: DMatrix::zeros(4, 4),
        stiffness: mixed(&alone.stiffness),
        input: DMatrix::from_fn(4, 2, |i, j| first(i) * alone.input[(i % 2, j)]),
        output: DMatrix::from_fn(2, 8, |i, j| {
            if j < 4 {
                first(j) * alone.output[(i, j % 2)]
            } else {
                0.0
            }
        }),
        feedthrough: DMatrix::zeros(2, 2),
        loops: None,
    };
    for w in [0.3, 2.0] {
        let difference = transfer.response(w) - alone.response(w);
        assert!(difference.norm() < ROUNDING * alone.response(w).norm());
    }
    let [one, other] =
        [&transfer, &alone].map(|all| all.between(&[0], &[0]).zeros(&mut unwatched).unwrap());
    assert_eq!(one.len(), 1, "{one:?}");
    assert!((one[0] - other[0]).norm() < 1e-10 * one[0].norm());
    // an output that nothing moves has no zeros of its own: its transfer function vanishes everywhere
    let unseen = Transfer {
        output: DMatrix::zeros(1, 8),
        feedthrough: DMatrix::zeros(1, 2),
        ..transfer
    };
    assert_eq!(unseen.zeros(&mut unwatched).unwrap(), []);
}

/// Property: what is not sound is told.
#[test]
fn unsound_matrices_have_no_zeros() {
    let massless = Transfer {
        mass: DMatrix::zeros(2, 2),
        ..two_masses(1.0)
    };
    assert!(matches!(
        massless.zeros(&mut unwatched),
        Err(LinearError::NoZeros { .. })
    ));
    let infinite = Transfer {
        damping: DMatrix::from_element(2, 2, f64::NAN),
        ..two_masses(1.0)
    };
    assert!(matches!(
        infinite.zeros(&mut unwatched),
        Err(LinearError::NoZeros { .. })
    ));
}

/// Closed form: a mass under PID feedback with a filtered derivative, whose integral and filter are states of the loop. From a force on
/// the mass to its position $`G = s\,(Ts+1)/(ms^3(Ts+1) + (k_ds^2 + (k_ps + k_i)(Ts+1)))`$.
#[test]
fn loop_states_are_part_of_a_response() {
    let [m, kp, ki, kd, filter] = [2.0, 90.0, 150.0, 12.0, 0.01];
    let row = |values: &[f64]| DMatrix::from_row_slice(values.len(), 1, values);
    let transfer = Transfer {
        mass: row(&[m]),
        damping: row(&[0.0]),
        stiffness: row(&[kp]),
        input: row(&[1.0]),
        output: DMatrix::from_row_slice(1, 4, &[1.0, 0.0, 0.0, 0.0]),
        feedthrough: DMatrix::zeros(1, 1),
        loops: Some(LoopStates {
            own: DMatrix::from_row_slice(2, 2, &[0.0, 0.0, 0.0, -1.0 / filter]),
            position: row(&[-ki, 0.0]),
            rate: row(&[0.0, -1.0 / filter]),
            force: DMatrix::from_row_slice(1, 2, &[1.0, kd]),
        }),
    };
    let denominator = |s: Complex<f64>| {
        let lag = s * filter + 1.0;
        s * s * s * m * lag + s * s * kd + (s * kp + ki) * lag
    };
    for w in [0.1, 3.0, 200.0] {
        let s = Complex::new(0.0, w);
        let expected = s * (s * filter + 1.0) / denominator(s);
        assert!((transfer.response(w)[0] - expected).norm() <= ROUNDING * expected.norm());
    }
    // the same states from the first-order form, by hand; two is a power of two, so that nothing is rounded
    let lines = [
        [0.0, 1.0, 0.0, 0.0],
        [-kp / m, 0.0, 1.0 / m, kd / m],
        [-ki, 0.0, 0.0, 0.0],
        [0.0, -1.0 / filter, 0.0, -1.0 / filter],
    ];
    let state = DMatrix::from_row_slice(4, 4, &lines.concat());
    let without = Transfer {
        loops: None,
        ..transfer.clone()
    };
    assert_eq!(without.with_loops_of(&state), transfer);
    // a constant force is met by the integral alone
    let gain = transfer.static_gain().unwrap();
    assert!(gain[0].abs() < ROUNDING);
    let poles = transfer.poles(&mut unwatched).unwrap();
    // conjugate ones count once
    let count: usize = poles
        .iter()
        .map(|pole| if pole.im > 0.0 { 2 } else { 1 })
        .sum();
    assert_eq!(count, 4);
    for pole in poles {
        // against the largest term
        let size = (pole.norm().powi(4) * m * filter).max(ki);
        assert!(denominator(pole).norm() < ROUNDING * size, "{pole}");
    }
    let zeros = transfer.zeros(&mut unwatched).unwrap();
    assert_eq!(zeros.len(), 2);
    assert!(zeros[0].norm() < ROUNDING && (zeros[1].re + 1.0 / filter).abs() < ROUNDING / filter);
}

/// Closed form: the acceleration of an oscillator, $`G = s^2/(ms^2 + cs + k)`$, which its output and feedthrough by the equations of motion give.
/// It has two zeros, at rest.
#[test]
fn accelerations_answer_at_once() {
    let [m, c, k] = [2.0, 0.4, 50.0];
    let one = |value: f64| DMatrix::from_element(1, 1, value);
    let transfer = Transfer {
        mass: one(m),
        damping: one(c),
        stiffness: one(k),
        input: one(1.0),
        output: DMatrix::from_row_slice(1, 2, &[-k / m, -c / m]),
        feedthrough: one(1.0 / m),
        loops: None,
    };
    for w in [0.3, 5.0, 800.0] {
        let s = Complex::new(0.0, w);
        let expected = s * s / (s * s * m + s * c + k);
        let off = (transfer.response(w)[0] - expected).norm();
        // two terms of the size of the feedthrough are left of each other
        assert!(off <= ROUNDING / m, "{w}: {off}");
    }
    assert!(transfer.static_gain().unwrap()[0].abs() <= ROUNDING / m);
    let zeros = transfer.zeros(&mut unwatched).unwrap();
    assert_eq!(zeros.len(), 2, "{zeros:?}");
    // a double zero at rest: the root of rounding
    assert!(zeros.iter().all(|zero| zero.norm() < 1e-6), "{zeros:?}");
}

/// Identity: with any feedthrough there are as many zeros as states, and the transfer function vanishes there.
#[test]
fn zeros_with_feedthrough() {
    let transfer = Transfer {
        feedthrough: DMatrix::from_row_slice(2, 2, &[0.03, -0.02, 0.05, 0.04]),
        ..coupled()
    };
    let typical = transfer.response(2.0);
    for (all, size) in [
        (transfer.between(&[0], &[1]), typical[(1, 0)].norm()),
        (transfer.clone(), typical.determinant().norm()),
    ] {
        let zeros = all.zeros(&mut unwatched).unwrap();
        let count: usize = zeros.iter().map(|z| 1 + usize::from(z.im != 0.0)).sum();
        assert_eq!(count, 10, "{zeros:?}");
        for zero in zeros {
            let left = all.at(zero).determinant().norm();
            assert!(left < 1e-10 * size, "{zero} {left}");
        }
    }
}
