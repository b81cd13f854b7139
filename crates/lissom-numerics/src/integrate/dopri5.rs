//! Coefficients of DOPRI5: Dormand and Prince's method of order 5 with an error estimate of order 4 and
//! an interpolant of order 4.
//!
//! Source: Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 2nd ed., table II.5.2
//! and section II.6 (dense output).

use super::runge_kutta::Tableau;

/// DOPRI5: six stages and a seventh that opens the next step.
pub(super) const DOPRI5: Tableau = Tableau {
    order: 5,
    nodes: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    coefficients: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[
            19372.0 / 6561.0,
            -25360.0 / 2187.0,
            64448.0 / 6561.0,
            -212.0 / 729.0,
        ],
        &[
            9017.0 / 3168.0,
            -355.0 / 33.0,
            46732.0 / 5247.0,
            49.0 / 176.0,
            -5103.0 / 18656.0,
        ],
        &[
            35.0 / 384.0,
            0.0,
            500.0 / 1113.0,
            125.0 / 192.0,
            -2187.0 / 6784.0,
            11.0 / 84.0,
        ],
    ],
    opening_stage: 6,
    error_stages: 7,
    error: &[&[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339_200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ]],
    interpolant: &[&[
        -12_715_105_075.0 / 11_282_082_432.0,
        0.0,
        87_487_479_700.0 / 32_700_410_799.0,
        -10_690_763_975.0 / 1_880_347_072.0,
        701_980_252_875.0 / 199_316_789_632.0,
        -1_453_857_185.0 / 822_651_844.0,
        69_997_945.0 / 29_380_423.0,
    ]],
    stabilization: 0.04,
    shrink_limit: 0.2,
    growth_limit: 10.0,
    tolerance_share: 1.0,
};
