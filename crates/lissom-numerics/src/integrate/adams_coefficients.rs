//! Coefficients of the Adams–Moulton methods of orders 1 to 12 in Nordsieck form.
//!
//! Source: Gear, *Numerical Initial Value Problems in Ordinary Differential Equations* (1971), chapter
//! 9; Byrne & Hindmarsh, *ACM TOMS* 1 (1975). With
//! $`p_q(x) = (x + 1)(x + 2) \cdots (x + q - 1)`$ the corrector of order q adds $`l_j e`$ to the j-th
//! scaled derivative, where $`l(x) = \sum_j l_j x^j`$ is the integral of $`p_q / (q-1)!`$ that vanishes
//! at −1, and the local error is $`\gamma_q h^{q+1} y^{(q+1)}`$ with
//! $`\gamma_q = -\frac{1}{q!} \int_{-1}^0 x\, p_q(x)\, dx`$.

/// Highest order.
pub(super) const HIGHEST_ORDER: usize = 12;

/// $`l`$ and $`\gamma`$ of every order.
#[derive(Clone, Debug)]
pub(super) struct AdamsCoefficients {
    /// $`l_0 \dots l_q`$ at index q; index 0 is unused.
    pub(super) correction: [[f64; HIGHEST_ORDER + 1]; HIGHEST_ORDER + 1],
    /// $`\gamma_q`$ at index q, and $`\gamma_0 = 1`$.
    pub(super) error: [f64; HIGHEST_ORDER + 1],
    /// $`q!`$ at index q.
    pub(super) factorial: [f64; HIGHEST_ORDER + 1],
}

impl AdamsCoefficients {
    pub(super) fn new() -> Self {
        let mut table = Self {
            correction: [[0.0; HIGHEST_ORDER + 1]; HIGHEST_ORDER + 1],
            error: [1.0; HIGHEST_ORDER + 1],
            factorial: [1.0; HIGHEST_ORDER + 1],
        };
        let mut polynomial = [0.0; HIGHEST_ORDER];
        polynomial[0] = 1.0;
        for order in 1..=HIGHEST_ORDER {
            if order > 1 {
                // multiply by x + (order − 1)
                let root = (order - 1) as f64;
                for power in (1..order).rev() {
                    polynomial[power] = polynomial[power - 1] + root * polynomial[power];
                }
                polynomial[0] *= root;
            }
            let previous_factorial = table.factorial[order - 1];
            table.factorial[order] = previous_factorial * order as f64;
            let mut integral = 0.0;
            let mut moment = 0.0;
            let mut sign = 1.0;
            for (power, coefficient) in polynomial[..order].iter().enumerate() {
                integral += sign * coefficient / (power + 1) as f64;
                moment += sign * coefficient / (power + 2) as f64;
                sign = -sign;
                table.correction[order][power + 1] =
                    coefficient / ((power + 1) as f64 * previous_factorial);
            }
            table.correction[order][0] = integral / previous_factorial;
            table.error[order] = moment / table.factorial[order];
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of up to twelve terms of order one.
    const ROUNDING: f64 = 1e-13;

    #[test]
    fn agree_with_printed_tables() {
        // closed forms: Hairer, Nørsett & Wanner I, table III.1.2 (|γ*|) and section III.6 (l)
        let table = AdamsCoefficients::new();
        let l3 = [5.0 / 12.0, 1.0, 3.0 / 4.0, 1.0 / 6.0];
        let l4 = [3.0 / 8.0, 1.0, 11.0 / 12.0, 1.0 / 3.0, 1.0 / 24.0];
        for (found, wanted) in table.correction[3].iter().zip(&l3) {
            assert!((found - wanted).abs() < ROUNDING);
        }
        for (found, wanted) in table.correction[4].iter().zip(&l4) {
            assert!((found - wanted).abs() < ROUNDING);
        }
        let gamma = [
            1.0,
            1.0 / 2.0,
            1.0 / 12.0,
            1.0 / 24.0,
            19.0 / 720.0,
            3.0 / 160.0,
            863.0 / 60480.0,
            275.0 / 24192.0,
            33953.0 / 3_628_800.0,
        ];
        for (found, wanted) in table.error.iter().zip(&gamma) {
            assert!((found - wanted).abs() < ROUNDING);
        }
    }

    #[test]
    fn the_first_derivative_is_corrected_in_full() {
        // closed form: l₁ = 1 makes the corrected derivative that of the corrected state
        let table = AdamsCoefficients::new();
        for order in 1..=HIGHEST_ORDER {
            assert!((table.correction[order][1] - 1.0).abs() < ROUNDING);
        }
    }
}
