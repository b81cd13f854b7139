//! Beam element with six deformation parameters in space and three in the plane.
//!
//! Besseling's element as Jonker & Aarts (2001), eqs (2), (3), and Meijaard, *Nonlinear Dynamics* 9
//! (1996), describe it. With $`l = x^q - x^p`$ and the directions $`x, y, z`$ carried by each end,
//!
//! ```math
//! \begin{gathered}
//! \bar e_1 = |l| - l_0, \quad \bar e_2 = \tfrac{l_0}{2}\bigl[(z^p, y^q) - (y^p, z^q)\bigr], \\
//! \bar e_3 = -(z^p, l), \quad \bar e_4 = (z^q, l), \quad
//! \bar e_5 = (y^p, l), \quad \bar e_6 = -(y^q, l) .
//! \end{gathered}
//! ```
//!
//! Second-order terms, each group switchable, make them the strains of a rod that bends and twists a
//! little more than infinitesimally. Without shear they are
//!
//! ```math
//! \begin{aligned}
//! e_1 &= \bar e_1 + \bigl(2\bar e_3^2 + \bar e_3\bar e_4 + 2\bar e_4^2
//!        + 2\bar e_5^2 + \bar e_5\bar e_6 + 2\bar e_6^2\bigr)/(30\,l_0), \\
//! e_2 &= \bar e_2 + (\bar e_4\bar e_5 - \bar e_3\bar e_6)/l_0, \\
//! e_{3,4} &= \bar e_{3,4}(1 - \bar e_1/l_0) \pm \bar e_2(\bar e_5 + \bar e_6)/(6\,l_0), \\
//! e_{5,6} &= \bar e_{5,6}(1 - \bar e_1/l_0) \mp \bar e_2(\bar e_3 + \bar e_4)/(6\,l_0) .
//! \end{aligned}
//! ```
//!
//! The products with $`\bar e_1`$ are not in the papers: without them a chord that stretches between ends of unchanged
//! directions would bend the beam, and a bending moment would shorten its axis by $`EI\kappa^2/EA`$, however short the elements.
//!
//! With shear, $`\Phi = 12 EI/(GA\,l_0^2)`$, the elongation is that of the section normals,
//! $`\int(\tfrac12\varphi^2 + \gamma\varphi)\,dx`$ of the section angles $`\varphi`$ to the chord, which are a
//! parabola with $`\gamma`$ constant. The planar element has $`e_1`$, $`-e_5`$ and $`-e_6`$.

use lissom_spatial::Scalar;
use lissom_spatial::{Matrix, Vector};

use super::element::Gradient;
use super::node::{Followed, NodeState, Tracked};

/// Which second-order terms a beam's deformation parameters have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each group is switched by itself"
)]
pub struct SecondOrderTerms {
    /// Elongation by bending, in $`e_1`$: what stiffens a rotating beam.
    pub elongation: bool,
    /// Torsion by bending in both planes, in $`e_2`$.
    pub torsion: bool,
    /// Bending by torsion, in $`e_3`$ to $`e_6`$.
    pub bending: bool,
    /// Bending by elongation, in $`e_3`$ to $`e_6`$: what keeps stretch out of bending.
    pub stretch: bool,
}

impl SecondOrderTerms {
    /// All terms.
    pub const ALL: Self = Self {
        elongation: true,
        torsion: true,
        bending: true,
        stretch: true,
    };
    /// Elongation by bending alone, which makes the planar beam that of Jonker & Aarts (2).
    pub const ELONGATION: Self = Self {
        elongation: true,
        ..Self::NONE
    };
    /// None: first-order deformation parameters.
    pub const NONE: Self = Self {
        elongation: false,
        torsion: false,
        bending: false,
        stretch: false,
    };
}

/// Section and material of a beam element; stiffnesses of the plane it bends in come first in name.
///
/// Bending `y` displaces along the local y axis, bending `z` along z. Planar beams use the `y` values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSection {
    /// Mass per length.
    pub mass_per_length: f64,
    /// Axial stiffness EA.
    pub axial_stiffness: f64,
    /// Torsional stiffness GJ.
    pub torsional_stiffness: f64,
    /// Bending stiffness EI for displacement along y.
    pub bending_stiffness_y: f64,
    /// Bending stiffness EI for displacement along z.
    pub bending_stiffness_z: f64,
    /// Shear stiffness GA for displacement along y and z; no shear when absent.
    pub shear_stiffness: Option<[f64; 2]>,
    /// Rotary inertia of the section per length about its own x, y, z axes.
    pub rotary_inertia_per_length: [f64; 3],
    /// Stress per rate of deformation over stress per deformation (Kelvin–Voigt), a time.
    pub damping_time: f64,
    /// Second-order terms of the deformation parameters.
    pub second_order: SecondOrderTerms,
}

impl BeamSection {
    /// A slender section that bends alike in both planes, without shear, rotary inertia and damping.
    pub fn slender(
        mass_per_length: f64,
        axial_stiffness: f64,
        torsional_stiffness: f64,
        bending_stiffness: f64,
    ) -> Self {
        Self {
            mass_per_length,
            axial_stiffness,
            torsional_stiffness,
            bending_stiffness_y: bending_stiffness,
            bending_stiffness_z: bending_stiffness,
            shear_stiffness: None,
            rotary_inertia_per_length: [0.0; 3],
            damping_time: 0.0,
            second_order: SecondOrderTerms::ALL,
        }
    }

    /// Shear parameters $`\Phi`$ for displacement along y and z.
    fn shear_parameters(&self, length: f64) -> [f64; 2] {
        self.shear_stiffness.map_or([0.0; 2], |[y, z]| {
            let of = |bending: f64, shear: f64| 12.0 * bending / (shear * length * length);
            [
                of(self.bending_stiffness_y, y),
                of(self.bending_stiffness_z, z),
            ]
        })
    }
}

/// A term `coefficient · ē_first · ē_second` of one deformation parameter.
#[derive(Clone, Copy, Debug)]
struct Product {
    target: usize,
    first: usize,
    second: usize,
    coefficient: f64,
}

/// A beam element with what its kernel reads.
#[derive(Clone, Debug)]
pub(super) struct Beam {
    pub(super) length: f64,
    pub(super) planar: bool,
    pub(super) section: BeamSection,
    /// Local axes in the components of the node at each end, by rows x, y, z.
    pub(super) axes: [[Vector<f64>; 3]; 2],
    products: Vec<Product>,
}

/// First-order parameters kept by a planar beam, with their signs.
const PLANAR: [(usize, f64); 3] = [(0, 1.0), (4, -1.0), (5, -1.0)];
const SPATIAL: [(usize, f64); 6] = [(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 1.0)];

/// The bending parameters, products of a direction with the chord: which, end, axis, sign.
const SIDES: [(usize, usize, usize, f64); 4] = [
    (2, 0, 2, -1.0),
    (3, 1, 2, 1.0),
    (4, 0, 1, 1.0),
    (5, 1, 1, -1.0),
];

impl Beam {
    /// Whether an end points against the chord: then the parameters describe no beam.
    pub(super) fn is_folded(&self, [point_p, end_p, point_q, end_q]: [&NodeState<f64>; 4]) -> bool {
        let chord = point_q.position - point_p.position;
        let against = |node: &NodeState<f64>, end: usize| {
            let along: Vector<f64> = node.direction(self.axes[end][0]);
            along.dot(chord) <= 0.0
        };
        against(end_p, 0) || against(end_q, 1)
    }

    pub(super) fn new(
        length: f64,
        planar: bool,
        section: BeamSection,
        frames: [Matrix<f64>; 2],
    ) -> Self {
        let axes = frames.map(|frame| frame.transpose().0.map(Vector));
        let mut products = Vec::new();
        let mut add = |target, first, second, coefficient| {
            products.push(Product {
                target,
                first,
                second,
                coefficient,
            });
        };
        let [shear_y, shear_z] = section.shear_parameters(length);
        if section.second_order.elongation {
            for (p, q, shear) in [(2, 3, shear_z), (4, 5, shear_y)] {
                let (square, mixed) = elongation_by_bending(shear);
                add(0, p, p, square / length);
                add(0, p, q, mixed / length);
                add(0, q, q, square / length);
            }
        }
        if section.second_order.torsion {
            add(1, 3, 4, 1.0 / length);
            add(1, 2, 5, -1.0 / length);
        }
        if section.second_order.bending {
            let coefficient = 1.0 / (6.0 * length);
            for (target, first, sign) in [(2, 4, 1.0), (3, 4, -1.0), (4, 2, -1.0), (5, 2, 1.0)] {
                add(target, 1, first, sign * coefficient);
                add(target, 1, first + 1, sign * coefficient);
            }
        }
        if section.second_order.stretch {
            for bending in 2..6 {
                add(bending, 0, bending, -1.0 / length);
            }
        }
        if planar {
            products.retain(|p| {
                let kept = |i: usize| PLANAR.iter().any(|&(j, _)| j == i);
                kept(p.target) && kept(p.first) && kept(p.second)
            });
        }
        Self {
            length,
            planar,
            section,
            axes,
            products,
        }
    }

    /// Parameters kept of the six, with their signs.
    fn kept(&self) -> &'static [(usize, f64)] {
        if self.planar { &PLANAR } else { &SPATIAL }
    }

    /// Stiffness that makes stress resultants of deformation parameters.
    pub(super) fn stiffness(&self) -> [[f64; 6]; 6] {
        let (section, length) = (&self.section, self.length);
        let mut full = [[0.0; 6]; 6];
        full[0][0] = section.axial_stiffness / length;
        full[1][1] = section.torsional_stiffness / length.powi(3);
        let [shear_y, shear_z] = section.shear_parameters(length);
        for (first, bending, shear) in [
            (2, section.bending_stiffness_z, shear_z),
            (4, section.bending_stiffness_y, shear_y),
        ] {
            let scale = bending / (length.powi(3) * (1.0 + shear));
            full[first][first] = (4.0 + shear) * scale;
            full[first + 1][first + 1] = (4.0 + shear) * scale;
            full[first][first + 1] = (shear - 2.0) * scale;
            full[first + 1][first] = (shear - 2.0) * scale;
        }
        let kept = self.kept();
        let mut stiffness = [[0.0; 6]; 6];
        for (i, &(a, sign_a)) in kept.iter().enumerate() {
            for (j, &(b, sign_b)) in kept.iter().enumerate() {
                stiffness[i][j] = sign_a * sign_b * full[a][b];
            }
        }
        stiffness
    }

    /// Axial strain at a place: deformation parameters that `value` tells, at a fraction of the length and at places y and z in the section.
    ///
    /// The section angles $`\varphi`$ to the chord are $`-e_5/l_0`$ and $`e_6/l_0`$ at the ends for displacement along y, $`e_3/l_0`$ and
    /// $`-e_4/l_0`$ along z; the curvature between them is $`[d - 6a(1 - 2\xi)/(1 + \Phi)]/l_0`$, see [`elongation_by_bending`].
    pub(super) fn strain<T: Scalar>(&self, value: &[T], at: f64, offset: [f64; 2]) -> T {
        let mut full = [T::zero(); 6];
        for (&value, &(index, sign)) in value.iter().zip(self.kept()) {
            full[index] = value * sign;
        }
        let [shear_y, shear_z] = self.section.shear_parameters(self.length);
        let mut strain = full[0] * (1.0 / self.length);
        for (begin, end, shear, beside) in [
            (-full[4], full[5], shear_y, offset[0]),
            (full[2], -full[3], shear_z, offset[1]),
        ] {
            let across = (begin + end) * (-3.0 * (1.0 - 2.0 * at) / (1.0 + shear));
            let curvature = (end - begin + across) * (1.0 / (self.length * self.length));
            strain += curvature * -beside;
        }
        strain
    }

    /// Values and gradients by displacements and turns of `[point p, end p, point q, end q]`.
    #[inline(always)]
    pub(super) fn gradient<T: Scalar>(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<T>; 4],
        value: &mut [T],
        gradient: &mut [Gradient<T>],
    ) {
        let chord = point_q.position - point_p.position;
        let length = chord.dot(chord).sqrt();
        let unit = chord.scale(T::constant(1.0) / length);
        let zero = Vector::zero();
        let mut first = [T::zero(); 6];
        let mut slope = [[zero; 4]; 6];
        first[0] = length - T::constant(self.length);
        slope[0] = [-unit, zero, unit, zero];

        let sides = if self.planar { &SIDES[2..] } else { &SIDES };
        for &(index, end, axis, sign) in sides {
            let node = if end == 0 { end_p } else { end_q };
            let direction = node
                .direction(self.axes[end][axis])
                .scale(T::constant(sign));
            first[index] = direction.dot(chord);
            slope[index][0] = -direction;
            slope[index][2] = direction;
            slope[index][1 + 2 * end] = direction.cross(chord);
        }
        if !self.planar {
            let half = T::constant(0.5 * self.length);
            let [_, y_p, z_p] = self.axes[0].map(|axis| end_p.direction(axis));
            let [_, y_q, z_q] = self.axes[1].map(|axis| end_q.direction(axis));
            first[1] = (z_p.dot(y_q) - y_p.dot(z_q)) * half;
            let turn = (z_p.cross(y_q) - y_p.cross(z_q)).scale(half);
            slope[1][1] = turn;
            slope[1][3] = -turn;
        }

        for (i, &(index, sign)) in self.kept().iter().enumerate() {
            let mut total = first[index];
            let mut row = slope[index];
            for product in self.products.iter().filter(|p| p.target == index) {
                let (a, b) = (first[product.first], first[product.second]);
                total += a * b * product.coefficient;
                for site in 0..4 {
                    row[site] += (slope[product.first][site].scale(b)
                        + slope[product.second][site].scale(a))
                    .scale(T::constant(product.coefficient));
                }
            }
            value[i] = total * sign;
            gradient[i] = row.map(|v| v.scale(T::constant(sign)));
        }
    }

    /// Values with rates and biases.
    #[inline(always)]
    pub(super) fn follow<T: Scalar>(
        &self,
        [point_p, end_p, point_q, end_q]: [&NodeState<T>; 4],
        followed: &mut [Followed<T>],
    ) {
        let chord = Tracked::between(point_p, point_q);
        let length = chord.value.dot(chord.value).sqrt();
        let inverse = T::constant(1.0) / length;
        let rate = chord.value.dot(chord.rate) * inverse;
        let [p, q] = [(end_p, 0), (end_q, 1)]
            .map(|(node, end)| self.axes[end].map(|axis| node.carried(axis)));
        let mut first = [Followed::zero(); 6];
        if !self.planar {
            let (one, other) = (p[2].dot(&q[1]), p[1].dot(&q[2]));
            first[1] = one.plus(other.times(-1.0)).times(0.5 * self.length);
            first[2] = p[2].dot(&chord).times(-1.0);
            first[3] = q[2].dot(&chord);
        }
        first[0] = Followed {
            value: length - T::constant(self.length),
            rate,
            bias: (chord.rate.dot(chord.rate) - rate * rate) * inverse,
        };
        first[4] = p[1].dot(&chord);
        first[5] = q[1].dot(&chord).times(-1.0);
        for (i, &(index, sign)) in self.kept().iter().enumerate() {
            let mut total = first[index];
            for product in self.products.iter().filter(|p| p.target == index) {
                let term = first[product.first].product(first[product.second]);
                total = total.plus(term.times(product.coefficient));
            }
            followed[i] = total.times(sign);
        }
    }
}

/// Coefficients of $`\bar e_p^2`$ (and $`\bar e_q^2`$) and of $`\bar e_p\bar e_q`$ in $`l_0 e_1`$.
///
/// With $`a = (\varphi_p + \varphi_q)/2`$, $`d = \varphi_q - \varphi_p`$ and $`c = -6a/(1 + \Phi)`$ the section angle is
/// $`a + d(\xi - \tfrac12) + c\,\xi(1 - \xi)`$ and $`\gamma = c\,\Phi/6`$; the integral of
/// $`\tfrac12\varphi^2 + \gamma\varphi`$ is $`\alpha a^2 + d^2/24`$.
fn elongation_by_bending(shear: f64) -> (f64, f64) {
    let c = -6.0 / (1.0 + shear);
    let gamma = c * shear / 6.0;
    let alpha = 0.5 * (1.0 + c * c / 30.0 + c / 3.0) - gamma * gamma;
    // a = (e_p − e_q)/(2 l₀) and d = −(e_p + e_q)/l₀ up to a common sign
    (alpha / 4.0 + 1.0 / 24.0, 1.0 / 12.0 - alpha / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form: without shear the coefficients are those of Jonker & Aarts (2), 2/30 and 1/30.
    #[test]
    fn elongation_without_shear_is_the_printed_one() {
        let (square, mixed) = elongation_by_bending(0.0);
        assert!((square - 2.0 / 30.0).abs() < f64::EPSILON);
        assert!((mixed - 1.0 / 30.0).abs() < f64::EPSILON);
    }
}
