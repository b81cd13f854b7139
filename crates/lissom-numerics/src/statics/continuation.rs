//! Parts of the load, each from the equilibrium under the part before.

use nalgebra::DMatrix;

use super::newton::{Diverged, balanced};
use super::pseudo_transient::pseudo_transient;
use super::solve::Scaled;
use super::{Balance, Failure, NoEquilibrium};

/// Smallest part of the load that is tried.
const SMALLEST_PART: f64 = 1.0 / 4096.0;
/// Evaluations before the whole rest of the load is tried for the last time: structures that are loaded within reason take dozens
/// to hundreds, one that is carried away thousands of times its size, or that is caught on its way, would take any number.
const MOST_EVALUATIONS: usize = 2500;
/// Loss of the smallest stiffness that makes the end of an equilibrium a limit point: before one the stiffness falls as
/// the root of the load that is missing, here to about $`\sqrt{1/4096} = 1/64`$.
const LOST: f64 = 1.0 / 8.0;

/// An equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium<P> {
    /// Where it is.
    pub place: P,
    /// Parts in which the load was added.
    pub parts: usize,
    /// Newton's iterations under all parts that were reached.
    pub iterations: usize,
}

/// Finds where the forces balance under the whole load, from a place near where they do without.
///
/// # Errors
/// When no equilibrium is found however small the part of the load that is added.
pub fn equilibrium<B: Balance>(
    balance: &mut B,
    start: &B::Place,
) -> Result<Equilibrium<B::Place>, Failure<B::Error>> {
    let mut found = Equilibrium {
        place: start.clone(),
        parts: 0,
        iterations: 0,
    };
    if balance.scales().is_empty() {
        // everything is held
        found.parts = 1;
        return Ok(found);
    }
    let (mut done, mut part) = (0.0_f64, 1.0_f64);
    // of the whole load at once: what there is to say when not even the smallest part goes
    let mut at_once = None;
    let mut evaluations = 0;
    loop {
        let last = evaluations > MOST_EVALUATIONS;
        let goal = if last { 1.0 } else { (done + part).min(1.0) };
        match balanced(balance, &found.place, goal, false, &mut evaluations) {
            Ok(next) => {
                found.place = next.place;
                found.parts += 1;
                found.iterations += next.iterations;
                if goal >= 1.0 {
                    return Ok(found);
                }
                done = goal;
                if next.quick {
                    part *= 2.0;
                }
            }
            Err(diverged) => {
                part *= 0.5;
                if last || part < SMALLEST_PART {
                    // a start that no load leads away from need not be near an equilibrium; what nothing holds is told
                    let whole = at_once.as_ref().unwrap_or(&diverged);
                    let is_held = !matches!(whole, Diverged::Unbalanced { unheld: true, .. });
                    if found.parts == 0
                        && let Some(next) = from_afar(balance, start, is_held)
                    {
                        return Ok(next);
                    }
                    let diverged = at_once.filter(|_| found.parts == 0).unwrap_or(diverged);
                    return Err(explained(balance, start, &found.place, done, diverged));
                }
                at_once.get_or_insert(diverged);
            }
        }
    }
}

/// The equilibrium under the whole load that Newton's iteration finds, or to which a mechanism settles that something holds.
fn from_afar<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    is_held: bool,
) -> Option<Equilibrium<B::Place>> {
    let found = match balanced(balance, start, 1.0, true, &mut 0) {
        Ok(found) => found,
        Err(_) if is_held => {
            let near = pseudo_transient(balance, start)?;
            balanced(balance, &near, 1.0, true, &mut 0).ok()?
        }
        Err(_) => return None,
    };
    Some(Equilibrium {
        place: found.place,
        parts: 1,
        iterations: found.iterations,
    })
}

/// What is known of the place where the load could not be raised further.
fn explained<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    reached: &B::Place,
    load: f64,
    diverged: Diverged<B::Error>,
) -> Failure<B::Error> {
    let (worst, residual, unheld) = match diverged {
        Diverged::Placement(error) => return Failure::Placement(error),
        Diverged::Unbalanced {
            worst,
            residual,
            unheld,
        } => (worst, residual, unheld),
    };
    Failure::None(if unheld {
        NoEquilibrium::Unheld {
            name: balance.name(worst),
            residual,
        }
    } else if let Some(softest) = softened(balance, start, reached, load) {
        NoEquilibrium::Limit {
            load,
            name: balance.name(softest),
        }
    } else {
        NoEquilibrium::Unbalanced {
            load,
            name: balance.name(worst),
            residual,
        }
    })
}

/// The coordinate that moves most in the direction in which the stiffness has been lost, if one has.
fn softened<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    reached: &B::Place,
    load: f64,
) -> Option<usize> {
    if load == 0.0 {
        return None;
    }
    let scales = balance.scales().to_vec();
    let mut scaled = |place: &B::Place, load: f64| {
        let matrix = balance.stiffness(place, load).ok()?;
        let scaled = Scaled::new(matrix, &scales);
        scaled.is_finite().then_some(scaled.matrix)
    };
    let [before, after] = [scaled(start, 0.0)?, scaled(reached, load)?].map(smallest);
    let ((before, _), (after, direction)) = (before?, after?);
    let coordinates = scales.iter().filter(|scale| scale.is_finite()).count();
    (after < LOST * before).then(|| direction.rows(0, coordinates).icamax())
}

/// Smallest singular value of a matrix and its direction.
fn smallest(matrix: DMatrix<f64>) -> Option<(f64, nalgebra::DVector<f64>)> {
    let svd = matrix.svd(false, true);
    let directions = svd.v_t?;
    let last = svd.singular_values.imin();
    Some((svd.singular_values[last], directions.row(last).transpose()))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use nalgebra::DVector;

    use super::*;

    /// A spring of one newton per metre under a load, on something of one metre.
    struct Pulled {
        load: f64,
        evaluations: usize,
    }

    impl Balance for Pulled {
        type Place = f64;
        type Error = Infallible;

        fn scales(&self) -> &[f64] {
            &[1.0]
        }

        fn evaluate(
            &mut self,
            place: &f64,
            load: f64,
            residual: &mut DVector<f64>,
        ) -> Result<f64, Infallible> {
            self.evaluations += 1;
            residual[0] = place - load * self.load;
            Ok(self.load)
        }

        fn stiffness(&mut self, _: &f64, _: f64) -> Result<DMatrix<f64>, Infallible> {
            Ok(DMatrix::from_element(1, 1, 1.0))
        }

        fn displaced(&self, place: &f64, change: &DVector<f64>, share: f64) -> f64 {
            place + share * change[0]
        }

        fn name(&self, _: usize) -> String {
            "spring".to_owned()
        }
    }

    /// A pendulum of one newton metre that starts at an angle from where it hangs, and does not weigh on its pivot.
    struct Pendulum;

    impl Balance for Pendulum {
        type Place = f64;
        type Error = Infallible;

        fn scales(&self) -> &[f64] {
            &[1.0]
        }

        fn evaluate(
            &mut self,
            angle: &f64,
            load: f64,
            residual: &mut DVector<f64>,
        ) -> Result<f64, Infallible> {
            residual[0] = load * angle.sin();
            Ok(residual[0].abs())
        }

        fn stiffness(&mut self, angle: &f64, load: f64) -> Result<DMatrix<f64>, Infallible> {
            Ok(DMatrix::from_element(1, 1, load * angle.cos()))
        }

        fn displaced(&self, angle: &f64, change: &DVector<f64>, share: f64) -> f64 {
            angle + share * change[0]
        }

        fn name(&self, _: usize) -> String {
            "pivot".to_owned()
        }
    }

    /// Closed form: from wherever a pendulum sinks it comes to hang, on the side to which it falls.
    #[test]
    fn what_sinks_comes_to_hang() {
        for start in [0.1, 1.5, 2.0, 3.0, -3.0] {
            let near = pseudo_transient(&mut Pendulum, &start).expect("it hangs somewhere");
            let found = balanced(&mut Pendulum, &near, 1.0, true, &mut 0);
            let Ok(found) = found else {
                panic!("from {start}");
            };
            assert!(found.place.abs() < 1e-9, "{} from {start}", found.place);
        }
    }

    /// Something that a force pushes and nothing holds, as a pendulum lying on its side to first order.
    struct Pushed;

    impl Balance for Pushed {
        type Place = f64;
        type Error = Infallible;

        fn scales(&self) -> &[f64] {
            &[1.0]
        }

        fn evaluate(
            &mut self,
            place: &f64,
            load: f64,
            residual: &mut DVector<f64>,
        ) -> Result<f64, Infallible> {
            residual[0] = load * (1.0 - place * place);
            Ok(residual[0].abs())
        }

        fn stiffness(&mut self, place: &f64, load: f64) -> Result<DMatrix<f64>, Infallible> {
            Ok(DMatrix::from_element(1, 1, -2.0 * load * place))
        }

        fn displaced(&self, place: &f64, change: &DVector<f64>, share: f64) -> f64 {
            place + share * change[0]
        }

        fn name(&self, _: usize) -> String {
            "slide".to_owned()
        }
    }

    /// By construction: that nothing holds something is told, and not sought elsewhere.
    #[test]
    fn what_nothing_holds_is_told() {
        let failure = equilibrium(&mut Pushed, &0.0).unwrap_err();
        assert!(
            matches!(&failure, Failure::None(NoEquilibrium::Unheld { name, .. }) if name == "slide"),
            "{failure:?}"
        );
    }

    /// Property: what is carried a hundred times its size away comes to rest, what is carried tens of thousands of times its
    /// size away is given up after a bounded number of evaluations, by name.
    #[test]
    fn searches_end() {
        let mut near = Pulled {
            load: 100.0,
            evaluations: 0,
        };
        let found = equilibrium(&mut near, &0.0).expect("a linear spring balances any load");
        assert!((found.place - 100.0).abs() < 1e-9, "{}", found.place);

        let mut far = Pulled {
            load: 50_000.0,
            evaluations: 0,
        };
        let failure = equilibrium(&mut far, &0.0).unwrap_err();
        assert!(
            matches!(&failure, Failure::None(NoEquilibrium::Unbalanced { name, load, .. })
                if name == "spring" && *load > 0.0 && *load < 1.0),
            "{failure:?}"
        );
        // 40 iterations of the last part, each with an evaluation for the step and one at the end
        assert!(
            far.evaluations <= MOST_EVALUATIONS + 2 * 42,
            "{}",
            far.evaluations
        );
    }
}
