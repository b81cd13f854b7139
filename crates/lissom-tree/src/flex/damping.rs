//! Damping matrices of a body from a few numbers.

use nalgebra::DMatrix;

use super::eigen;
use super::error::{FlexError, finite, not_negative};

/// How the elastic motion of a body loses energy.
#[derive(Clone, Debug, PartialEq)]
pub enum Damping {
    /// Not at all.
    None,
    /// Damping ratios of the modes of the body with its frame held, or its root: one value for all of them, or one per
    /// elastic coordinate. In the second case each mode takes the ratio of the coordinate that has the
    /// same rank by stiffness over mass among those it is coupled with; in a modal basis that is the
    /// coordinate of the same name.
    ModalRatios(Vec<f64>),
    /// `mass` times the mass matrix plus `stiffness` times the stiffness matrix.
    Rayleigh {
        /// Factor of the mass matrix in 1/s.
        mass: f64,
        /// Factor of the stiffness matrix in s.
        stiffness: f64,
    },
}

impl Damping {
    /// The damping matrix of a body with positive definite `mass` and `stiffness`; `shift` times the mass makes
    /// a semidefinite stiffness definite.
    ///
    /// # Errors
    /// When ratios do not fit the modes, or the modes cannot be found.
    pub fn matrix(
        &self,
        stiffness: &DMatrix<f64>,
        mass: &DMatrix<f64>,
        shift: f64,
    ) -> Result<DMatrix<f64>, FlexError> {
        let size = stiffness.nrows();
        match self {
            Self::None => Ok(DMatrix::zeros(size, size)),
            Self::ModalRatios(ratios) => {
                modal(&ratio_per_coordinate(ratios, size)?, stiffness, mass, shift)
            }
            Self::Rayleigh {
                mass: mass_factor,
                stiffness: stiffness_factor,
            } => {
                let mass_factor = not_negative(*mass_factor, || {
                    "mass factor of Rayleigh damping".to_owned()
                })?;
                let stiffness_factor = not_negative(*stiffness_factor, || {
                    "stiffness factor of Rayleigh damping".to_owned()
                })?;
                Ok(mass * mass_factor + stiffness * stiffness_factor)
            }
        }
    }
}

fn ratio_per_coordinate(ratios: &[f64], size: usize) -> Result<Vec<f64>, FlexError> {
    for (index, &ratio) in ratios.iter().enumerate() {
        not_negative(ratio, || format!("modal damping ratio {}", index + 1))?;
    }
    match ratios {
        [ratio] => Ok(vec![*ratio; size]),
        _ if ratios.len() == size => Ok(ratios.to_vec()),
        _ => Err(FlexError::WrongCount {
            quantity: "list of modal damping ratios".to_owned(),
            found: ratios.len(),
            expected: size,
        }),
    }
}

/// $`\sum_k 2 \zeta_k \omega_k\, (M\phi_k)(M\phi_k)^T`$, each uncoupled group by itself.
fn modal(
    ratios: &[f64],
    stiffness: &DMatrix<f64>,
    mass: &DMatrix<f64>,
    shift: f64,
) -> Result<DMatrix<f64>, FlexError> {
    let mut damping = DMatrix::zeros(stiffness.nrows(), stiffness.nrows());
    for members in eigen::uncoupled_groups(stiffness, mass) {
        let group_mass = eigen::submatrix(mass, &members);
        let modes = eigen::modes(&eigen::submatrix(stiffness, &members), &group_mass, shift)?;
        let momenta = &group_mass * modes.vectors;

        let quotient = |member: usize| stiffness[(member, member)] / mass[(member, member)];
        let mut ranked = members.clone();
        ranked.sort_by(|&a, &b| quotient(a).total_cmp(&quotient(b)));
        for (mode, &coordinate) in ranked.iter().enumerate() {
            let square = finite(modes.squares[mode], || "a squared frequency".to_owned())?;
            let factor = 2.0 * ratios[coordinate] * square.max(0.0).sqrt();
            for (i, &row) in members.iter().enumerate() {
                for (j, &column) in members.iter().enumerate() {
                    damping[(row, column)] += factor * momenta[(i, mode)] * momenta[(j, mode)];
                }
            }
        }
    }
    Ok(damping)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::Damping;
    use crate::flex::FlexError;

    /// Rounding of a few products.
    const ROUNDING: f64 = 1e-12;

    fn matrix<const N: usize>(rows: [[f64; N]; N]) -> DMatrix<f64> {
        DMatrix::from_row_iterator(N, N, rows.into_iter().flatten())
    }

    fn matrices() -> (DMatrix<f64>, DMatrix<f64>) {
        (
            matrix([[9.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 100.0]]),
            matrix([[2.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 4.0]]),
        )
    }

    /// Identity: with one ratio ζ for all modes, $`C M^{-1} C = 4\zeta^2 K`$.
    #[test]
    fn one_ratio_damps_every_mode() {
        let (stiffness, mass) = matrices();
        let damping = Damping::ModalRatios(vec![0.02])
            .matrix(&stiffness, &mass, 0.0)
            .unwrap();
        let solved = mass.cholesky().unwrap().solve(&damping);
        assert!((&damping * solved - &stiffness * (4.0 * 0.02 * 0.02)).amax() < ROUNDING);
    }

    /// Closed form: uncoupled coordinates keep their own ratio, $`c = 2\zeta\sqrt{km}`$, in any order.
    #[test]
    fn ratios_belong_to_coordinates() {
        let stiffness = matrix([[900.0, 0.0], [0.0, 4.0]]);
        let mass = matrix([[1.0, 0.0], [0.0, 1.0]]);
        let ratios = Damping::ModalRatios(vec![0.1, 0.01]);
        let apart = ratios.matrix(&stiffness, &mass, 0.0).unwrap();
        assert!((apart - matrix([[6.0, 0.0], [0.0, 0.04]])).amax() < ROUNDING);
        // a coupling of the size of rounding does not swap them
        let touching = matrix([[1.0, 1e-16], [1e-16, 1.0]]);
        let together = ratios.matrix(&stiffness, &touching, 0.0).unwrap();
        assert!((together - matrix([[6.0, 0.0], [0.0, 0.04]])).amax() < ROUNDING);
    }

    /// Definition of Rayleigh damping.
    #[test]
    fn rayleigh_is_a_sum() {
        let (stiffness, mass) = matrices();
        let damping = Damping::Rayleigh {
            mass: 0.3,
            stiffness: 0.001,
        };
        let expected = &mass * 0.3 + &stiffness * 0.001;
        assert_eq!(damping.matrix(&stiffness, &mass, 0.0).unwrap(), expected);
    }

    /// Errors name what is wrong.
    #[test]
    fn wrong_ratios_are_refused() {
        let (stiffness, mass) = matrices();
        let error = |damping: Damping| damping.matrix(&stiffness, &mass, 0.0).unwrap_err();
        assert!(matches!(
            error(Damping::ModalRatios(vec![0.1; 2])),
            FlexError::WrongCount {
                found: 2,
                expected: 3,
                ..
            }
        ));
        assert!(matches!(
            error(Damping::ModalRatios(vec![-0.1])),
            FlexError::Negative { .. }
        ));
        let infinite = Damping::Rayleigh {
            mass: f64::INFINITY,
            stiffness: 0.0,
        };
        assert!(matches!(error(infinite), FlexError::NotFinite { .. }));
    }
}
