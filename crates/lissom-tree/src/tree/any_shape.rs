//! Inertia of a body of any shape that moves to second order, from integrals over its mass.
//!
//! Its points are at $`p = r + \sum\psi_\gamma\eta_\gamma + r_2`$ with the field $`r_2 = t + L\,r + \sum\psi_\gamma a_\gamma`$ of
//! [`SpannedField`], whose coefficients are quadratic in the coordinates. With $`p_0 = r + \sum\psi_\gamma(\eta_\gamma + a_\gamma)`$, a linear field, it is
//! $`p = p_0 + t + L\,r`$, and
//!
//! ```math
//! J_\alpha = \tau_\alpha + \Lambda_\alpha r + \sum_\gamma\psi_\gamma T_{\gamma\alpha}, \qquad
//! \int p\,J_\alpha^T dm = t\int J_\alpha^T dm + L\int r\,J_\alpha^T dm + \int p_0\,dm\,\tau_\alpha^T + \int p_0 r^T dm\,\Lambda_\alpha^T + \sum_\gamma\int p_0\psi_\gamma^T dm\,T_{\gamma\alpha} .
//! ```
//!
//! Nothing is truncated: the kinetic energy is that of the quadratic displacement field.

use super::body_inertia::{BodyInertia, Moments, linear_field};
use crate::flex::{FlexibleBody, SUMS, SpannedField};
use lissom_spatial::{Force, Matrix, Scalar, Vector};

/// Scratch memory of [`evaluate`]. Coefficients are those of uniform fields, of those that grow with the position, and of the shapes.
#[derive(Clone, Debug)]
pub(super) struct AnyShape<T> {
    /// $`\eta + a`$, and its rate.
    elastic: Vec<T>,
    elastic_rate: Vec<T>,
    /// Coefficients of $`r_2`$, of its rate, and of $`\dot J\dot\eta`$ with the products of this one with all fields.
    quadratic: Vec<T>,
    rate: Vec<T>,
    bias: Vec<T>,
    bias_products: Vec<T>,
    /// Coefficients of every $`J_\alpha`$, and its products with all fields, coordinates × fields.
    columns: Vec<T>,
    products: Vec<T>,
    /// $`\int p_0\psi_\gamma^T dm`$ and $`\int \dot p_0\times\psi_\gamma\,dm`$.
    with_position: Vec<Matrix<T>>,
    with_velocity: Vec<Vector<T>>,
}

impl<T: Scalar> AnyShape<T> {
    /// Memory for bodies of at most so many coordinates.
    pub(super) fn new(coordinates: usize) -> Self {
        let numbers = |count: usize| vec![T::zero(); count];
        let fields = SUMS + coordinates;
        Self {
            elastic: numbers(coordinates),
            elastic_rate: numbers(coordinates),
            quadratic: numbers(fields),
            rate: numbers(fields),
            bias: numbers(fields),
            bias_products: numbers(fields),
            columns: numbers(coordinates * fields),
            products: numbers(coordinates * fields),
            with_position: vec![Matrix::zero(); coordinates],
            with_velocity: vec![Vector::zero(); coordinates],
        }
    }

    /// Finds coefficients and products at a state.
    #[inline(always)]
    fn place(&mut self, field: &SpannedField, elastic: &[T], elastic_rate: &[T]) {
        let n = elastic.len();
        let size = SUMS + n;
        for own in [&mut self.quadratic, &mut self.rate, &mut self.bias] {
            own[..size].fill(T::zero());
        }
        let rows = field.coefficients.chunks_exact(n * size);
        for (alpha, row) in rows.enumerate() {
            let column = &mut self.columns[alpha * size..][..size];
            column.fill(T::zero());
            for (beta, entries) in row.chunks_exact(size).enumerate() {
                let rates = elastic_rate[alpha] * elastic_rate[beta];
                for ((own, bias), &entry) in column.iter_mut().zip(&mut self.bias).zip(entries) {
                    *own += elastic[beta] * entry;
                    *bias += rates * entry;
                }
            }
            let (position, rate) = (elastic[alpha] * 0.5, elastic_rate[alpha]);
            let sums = self.quadratic.iter_mut().zip(&mut self.rate);
            for ((quadratic, own_rate), &own) in sums.zip(&*column) {
                *quadratic += position * own;
                *own_rate += rate * own;
            }
            column[SUMS + alpha] += T::constant(1.0);
            times(
                &field.products,
                column,
                &mut self.products[alpha * size..][..size],
            );
        }
        times(
            &field.products,
            &self.bias[..size],
            &mut self.bias_products[..size],
        );
        for gamma in 0..n {
            self.elastic[gamma] = elastic[gamma] + self.quadratic[SUMS + gamma];
            self.elastic_rate[gamma] = elastic_rate[gamma] + self.rate[SUMS + gamma];
        }
    }
}

/// $`t`$ and $`L`$ of coefficients.
#[inline(always)]
fn affine<T: Scalar>(coefficients: &[T]) -> (Vector<T>, Matrix<T>) {
    (uniform(coefficients), grown(coefficients).transpose())
}

/// Of uniform fields: coefficients, or products with them.
#[inline(always)]
fn uniform<T: Scalar>(own: &[T]) -> Vector<T> {
    Vector([own[0], own[1], own[2]])
}

/// Of fields that grow with the position, which has the row: coefficients, or products with them.
#[inline(always)]
fn grown<T: Scalar>(own: &[T]) -> Matrix<T> {
    Matrix([0, 1, 2].map(|i| [own[3 + 3 * i], own[4 + 3 * i], own[5 + 3 * i]]))
}

/// Product of a symmetric matrix of numbers with a vector.
#[inline(always)]
fn times<T: Scalar>(matrix: &[f64], vector: &[T], product: &mut [T]) {
    product.fill(T::zero());
    for (row, &own) in matrix.chunks_exact(vector.len()).zip(vector) {
        for (product, &entry) in product.iter_mut().zip(row) {
            *product += own * entry;
        }
    }
}

/// Where the body is, or how it moves, seen by fields: what $`\int q f^T dm`$ needs of $`q = q_0 + t + L\,r`$ beside the shapes of $`f`$.
struct Carrier<T> {
    uniform: Vector<T>,
    linear: Matrix<T>,
    /// $`\int q_0\,dm`$ and $`\int q_0 r^T dm`$.
    first: Vector<T>,
    with_position: Matrix<T>,
}

impl<T: Scalar> Carrier<T> {
    /// $`\int q f^T dm`$ of a field by its coefficients and its products, without $`\int q_0\psi_\gamma^T dm`$ times coefficients of shapes.
    #[inline(always)]
    fn against(&self, coefficients: &[T], products: &[T]) -> Matrix<T> {
        let (translation, stretch) = affine(coefficients);
        self.uniform.outer(uniform(products))
            + self.linear * grown(products)
            + self.first.outer(translation)
            + self.with_position * stretch.transpose()
    }
}

/// Fills the modal quantities of one body, and sums its moments.
#[inline(always)]
pub(super) fn evaluate<T: Scalar>(
    body: &FlexibleBody,
    field: &SpannedField,
    elastic: &[T],
    elastic_rate: &[T],
    out: &mut BodyInertia<'_, T>,
) -> Moments<T> {
    let n = elastic.len();
    let size = SUMS + n;
    out.any_shape.place(field, elastic, elastic_rate);
    let [deformed, rate] = {
        let own = &mut *out.any_shape;
        [&mut own.elastic, &mut own.elastic_rate].map(std::mem::take)
    };
    let mut moments = linear_field(body, &deformed[..n], &rate[..n], out);
    let own = &mut *out.any_shape;
    (own.elastic, own.elastic_rate) = (deformed, rate);
    own.with_position[..n].copy_from_slice(out.with_position);
    own.with_velocity[..n].copy_from_slice(out.with_velocity);
    let (mut stretched, mut stretching) = (Matrix::zero(), Matrix::zero());
    for (gamma, r) in body.integrals.with_position.iter().enumerate() {
        let r = Matrix::constant(*r).transpose();
        stretched += r.scale(own.elastic[gamma]);
        stretching += r.scale(own.elastic_rate[gamma]);
    }
    let second = Matrix::constant(body.second_moment);
    let (translation, stretch) = affine(&own.quadratic);
    let place = Carrier {
        uniform: translation,
        linear: stretch,
        first: moments.first,
        with_position: second + stretched,
    };
    let (translation_rate, stretch_rate) = affine(&own.rate);
    let velocity = Carrier {
        uniform: translation_rate,
        linear: stretch_rate,
        first: moments.first_rate,
        with_position: stretching,
    };
    for alpha in 0..n {
        let column = &own.columns[alpha * size..][..size];
        let products = &own.products[alpha * size..][..size];
        let mut with_position = place.against(column, products);
        let mut with_velocity = velocity.against(column, products).cross_of_outer();
        for (gamma, &share) in column[SUMS..].iter().enumerate() {
            with_position += own.with_position[gamma].scale(share);
            with_velocity += own.with_velocity[gamma].scale(share);
        }
        out.with_position[alpha] = with_position;
        out.with_velocity[alpha] = with_velocity;
        out.coupling[alpha].force = uniform(products);
        out.modal_bias[alpha] = dot(products, &own.bias);
        for beta in 0..=alpha {
            let mass = dot(products, &own.columns[beta * size..]);
            out.modal_mass[alpha * n + beta] = mass;
            out.modal_mass[beta * n + alpha] = mass;
        }
    }
    let mut turned = place.against(&own.bias, &own.bias_products);
    for (gamma, &share) in own.bias[SUMS..size].iter().enumerate() {
        turned += own.with_position[gamma].scale(share);
    }
    moments.shortening_bias = Force::new(turned.cross_of_outer(), uniform(&own.bias_products));
    complete(body, &place, &velocity, &mut moments);
    moments
}

/// Completes the moments of $`p_0`$ to those of $`p = p_0 + t + L\,r`$.
#[inline(always)]
fn complete<T: Scalar>(
    body: &FlexibleBody,
    place: &Carrier<T>,
    velocity: &Carrier<T>,
    moments: &mut Moments<T>,
) {
    let mass = T::constant(body.mass);
    let centre = Vector::constant(body.first_moment);
    let second = Matrix::constant(body.second_moment);
    let (t, stretch) = (place.uniform, place.linear);
    let stretched = stretch * centre;
    // ∫p₀(t + Lr)ᵀ and half of ∫(t + Lr)(t + Lr)ᵀ
    let half = place.first.outer(t)
        + place.with_position * stretch.transpose()
        + (t.outer(t).scale(mass) + stretch * second * stretch.transpose()).scale(T::constant(0.5))
        + t.outer(stretched);
    moments.second += half + half.transpose();
    moments.first += t.scale(mass) + stretched;
    moments.first_rate += velocity.uniform.scale(mass) + velocity.linear * centre;
}

/// The product of two vectors, the second of which may be longer.
#[inline(always)]
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sum = T::zero();
    for (&a, &b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::AnyShape;
    use crate::flex::{
        Damping, EquivalentPoint, FlexibleBody, ReducedBody, SecondOrderIntegrals,
        ShorteningInertia, SpannedField, equivalent_points,
    };
    use crate::tree::body_inertia::{BodyInertia, evaluate};
    use crate::tree::shortening::AlongBeam;
    use lissom_spatial::{Force, Matrix, Motion, RigidInertia, Vector};
    use lissom_spec::Inertia;

    /// Coordinates, and lumps of the body that is tried.
    const N: usize = 3;
    const LUMPS: usize = 14;

    /// Rounding of sums of some hundred numbers of the order of ten, after an eigenproblem.
    const ROUNDING: f64 = 1e-9;

    /// Any numbers between -1 and 1.
    fn numbers(mut seed: u32) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            2.0 * f64::from(seed) / f64::from(u32::MAX) - 1.0
        }
    }

    /// A body of lumps whose second derivatives are any, by its integrals.
    fn body() -> FlexibleBody {
        let mut random = numbers(11);
        let mut body = ReducedBody {
            coordinates: (0..N).map(|alpha| format!("mode_{alpha}")).collect(),
            mass: 0.0,
            first_moment: [0.0; 3],
            second_moment: [[0.0; 3]; 3],
            stiffness: DMatrix::<f64>::identity(N, N).as_slice().to_vec(),
            mass_matrix: vec![0.0; N * N],
            first: vec![[0.0; 3]; N],
            with_position: vec![[[0.0; 3]; 3]; N],
            products: vec![[[0.0; 3]; 3]; N * N],
            nodes: Vec::new(),
            second_order: Some(SecondOrderIntegrals {
                sums: vec![[0.0; 12]; N * N],
                with_shapes: vec![0.0; N * N * N],
            }),
        };
        for _ in 0..LUMPS {
            let mut hessians = vec![0.0; 3 * N * N];
            for matrix in hessians.chunks_exact_mut(N * N) {
                for alpha in 0..N {
                    for beta in 0..=alpha {
                        let entry = random();
                        matrix[alpha * N + beta] = entry;
                        matrix[beta * N + alpha] = entry;
                    }
                }
            }
            body.nodes = vec![crate::flex::Node {
                position: [random(), random(), random()],
                displacement: (0..N).map(|_| [random(), random(), random()]).collect(),
                rotation: vec![[0.0; 3]; N],
                second_order: hessians,
            }];
            body.add_point_mass(0, 1.0 + 0.5 * random());
        }
        body.nodes.clear();
        body.reduce(&Damping::None).unwrap()
    }

    /// A point where it is and as it moves: position, rate, J by coordinates and its rate times that of the coordinates.
    fn moved(
        point: &EquivalentPoint,
        eta: &[f64],
        rate: &[f64],
    ) -> (Vector<f64>, Vector<f64>, Vec<Vector<f64>>, Vector<f64>) {
        let h = |alpha: usize, beta: usize| {
            Vector([0, 1, 2].map(|k| point.second_order[k * N * N + alpha * N + beta]))
        };
        let (mut p, mut bias) = (Vector(point.position), Vector::zero());
        let mut columns = Vec::new();
        for alpha in 0..N {
            let shape = Vector(point.displacement[alpha]);
            let mut column = shape;
            p += shape.scale(eta[alpha]);
            for beta in 0..N {
                column += h(alpha, beta).scale(eta[beta]);
                p += h(alpha, beta).scale(0.5 * eta[alpha] * eta[beta]);
                bias += h(alpha, beta).scale(rate[alpha] * rate[beta]);
            }
            columns.push(column);
        }
        let velocity = columns.iter().zip(rate);
        let velocity = velocity.fold(Vector::zero(), |sum, (column, rate)| {
            sum + column.scale(*rate)
        });
        (p, velocity, columns, bias)
    }

    /// By construction: where a source tells of products with one coordinate alone, those are kept although a shape is that coordinate.
    #[test]
    fn what_is_not_told_contradicts_nothing() {
        let mut body = body();
        let mut integrals = body.second_order_integrals.clone().unwrap();
        integrals.with_shapes.fill(0.0);
        for sums in &mut integrals.sums {
            let own = sums[3];
            *sums = [0.0; 12];
            sums[3] = own;
        }
        // the first shape stretches the body along x
        body.integrals.with_position[0] = body.second_moment[0].map(|own| [own, 0.0, 0.0]);
        body.integrals.first[0] = [body.first_moment[0], 0.0, 0.0];
        body.integrals.mass_matrix[0] = body.second_moment[0][0];
        let field = SpannedField::new(&body, &integrals);
        let size = super::SUMS + N;
        for (entry, own) in field.coefficients.chunks_exact(size).enumerate() {
            let product: f64 = (0..size)
                .map(|j| field.products[3 * size + j] * own[j])
                .sum();
            assert!((product - integrals.sums[entry][3]).abs() < ROUNDING);
        }
    }

    /// Second formulation: inertia and bias are sums over points that move by the quadratic field, which has the integrals that the body
    /// came with; and however far the body bends, its kinetic energy is positive.
    #[test]
    fn inertia_is_that_of_points_on_the_quadratic_field() {
        let body = body();
        let integrals = body.second_order_integrals.clone().unwrap();
        let points = equivalent_points(&body);
        for entry in 0..N * N {
            for k in 0..3 {
                let h = |p: &EquivalentPoint| p.mass * p.second_order[k * N * N + entry];
                let close = |sum: f64, wanted: f64| assert!((sum - wanted).abs() < ROUNDING);
                close(points.iter().map(h).sum(), integrals.sums[entry][k]);
                for i in 0..3 {
                    let sum = points.iter().map(|p| h(p) * p.position[i]).sum();
                    close(sum, integrals.sums[entry][3 + 3 * i + k]);
                }
            }
        }
        let shortening = ShorteningInertia::Integrals(SpannedField::new(&body, &integrals));
        let mut random = numbers(5);
        for size in [0.0, 0.1, 1.0, 30.0] {
            let mut any = || size * random();
            let eta: Vec<f64> = (0..N).map(|_| any()).collect();
            let rate: Vec<f64> = (0..N).map(|_| any()).collect();
            let twist = Motion::new(Vector([0.3, -0.7, 0.5]), Vector([0.2, 0.9, -0.4]));
            let mut rigid = RigidInertia::zero();
            let mut bias = Force::zero();
            let mut coupling = [Force::zero(); N];
            let (mut modal_mass, mut modal_bias) = ([0.0; N * N], [0.0; N]);
            let mut with_position = [Matrix::zero(); N];
            let mut with_velocity = [Vector::zero(); N];
            let mut out = BodyInertia {
                rigid: &mut rigid,
                bias: &mut bias,
                coupling: &mut coupling,
                modal_mass: &mut modal_mass,
                modal_bias: &mut modal_bias,
                with_position: &mut with_position,
                with_velocity: &mut with_velocity,
                along: &mut AlongBeam::new(0, 0),
                any_shape: &mut AnyShape::new(N),
            };
            evaluate(
                &body,
                Inertia::Full,
                Some(&shortening),
                twist,
                &eta,
                &rate,
                &mut out,
            );
            let (omega, v) = (twist.angular, twist.linear);
            // rotation, translation, coordinates
            let mut mass: DMatrix<f64> = DMatrix::zeros(6 + N, 6 + N);
            let mut force = [0.0; 6 + N];
            for point in &points {
                let (p, velocity, columns, own_bias) = moved(point, &eta, &rate);
                let acceleration = omega.cross(v)
                    + omega.cross(omega.cross(p))
                    + omega.cross(velocity).scale(2.0)
                    + own_bias;
                let turns = (0..3).map(|k| Vector::axis(k).cross(p));
                let moves = (0..3).map(Vector::axis);
                let all: Vec<Vector<f64>> = turns.chain(moves).chain(columns).collect();
                for (i, a) in all.iter().enumerate() {
                    force[i] += point.mass * a.dot(acceleration);
                    for (j, b) in all.iter().enumerate() {
                        mass[(i, j)] += point.mass * a.dot(*b);
                    }
                }
            }
            let scale = mass
                .amax()
                .max(force.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
            let close = |found: f64, wanted: f64| {
                assert!(
                    (found - wanted).abs() < ROUNDING * scale,
                    "{size}: {found} {wanted}"
                );
            };
            for k in 0..3 {
                close(bias.moment[k], force[k]);
                close(bias.force[k], force[3 + k]);
                for l in 0..3 {
                    close(rigid.rotational.full().0[k][l], mass[(k, l)]);
                }
            }
            let turned = Vector::axis(0).cross(rigid.first_moment);
            close(turned[2], mass[(0, 5)]);
            for alpha in 0..N {
                close(modal_bias[alpha], force[6 + alpha]);
                for k in 0..3 {
                    close(coupling[alpha].moment[k], mass[(k, 6 + alpha)]);
                    close(coupling[alpha].force[k], mass[(3 + k, 6 + alpha)]);
                }
                for beta in 0..N {
                    close(modal_mass[alpha * N + beta], mass[(6 + alpha, 6 + beta)]);
                }
            }
            assert!(mass.cholesky().is_some(), "{size}");
        }
    }
}
