//! [`SectionStress`]: stresses in a section of a beam from the force and moment that it transmits.
//!
//! With the axial force $`N`$, the bending moments $`M_y`$, $`M_z`$ and the torque $`T`$ about the section's axes,
//!
//! ```math
//! \sigma(y, z) = \frac{N}{A} - \kappa_y\,y - \kappa_z\,z , \qquad
//! \begin{pmatrix} \int y^2 & \int yz \\ \int yz & \int z^2 \end{pmatrix}
//! \begin{pmatrix} \kappa_y \\ \kappa_z \end{pmatrix} = \begin{pmatrix} M_z \\ -M_y \end{pmatrix} ,
//! ```
//!
//! with integrals over the area about its centre, and $`\tau = T/W`$ where Saint-Venant's torsion is largest. Shear by transverse
//! forces is left out: it vanishes where the normal stress is largest.

use std::f64::consts::PI;

use lissom_spatial::Force;
use lissom_spec::spec::SectionSpec;

/// Terms of the series for the torsion of a rectangle; the first that is left out is below 1e-300 of the sum.
const TERMS: usize = 300;

/// A section whose dimensions are known.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionStress {
    area: f64,
    /// ∫y²dA, ∫yz dA and ∫z²dA about the centre.
    second_moments: [f64; 3],
    outline: Outline,
    /// Largest shear stress per torque, 1/W; unknown for a polygon.
    shear_per_torque: Option<f64>,
}

/// Where normal stresses are largest.
#[derive(Clone, Debug, PartialEq)]
enum Outline {
    /// On a circle of this radius.
    Circle(f64),
    /// At one of these corners y, z from the centre.
    Corners(Vec<[f64; 2]>),
}

/// The largest stresses in a section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stresses {
    /// Largest and smallest normal stress; tension is positive.
    pub normal: [f64; 2],
    /// Largest shear stress of torsion, where it is known.
    pub shear: Option<f64>,
}

impl Stresses {
    /// Von Mises' equivalent of the largest normal and the largest shear stress: that of the worst point of a round section, and
    /// not below it in others, where the two are largest at different points.
    pub fn equivalent(&self) -> Option<f64> {
        let normal = self.normal[0].abs().max(self.normal[1].abs());
        let shear = self.shear?;
        Some((normal * normal + 3.0 * shear * shear).sqrt())
    }
}

impl SectionStress {
    /// `None` for a section that is given by its numbers.
    pub fn of(section: &SectionSpec) -> Option<Self> {
        // shear areas alone depend on the material
        let constants = section.constants(0.0)?;
        let corners = |y: f64, z: f64| {
            let signs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
            let corners = signs.map(|[a, b]| [0.5 * a * y, 0.5 * b * z]);
            Outline::Corners(corners.to_vec())
        };
        let (outline, shear_per_torque) = match section {
            SectionSpec::Circle(own) => round(own.diameter_m, constants.torsion),
            SectionSpec::Tube(own) => round(own.diameter_m, constants.torsion),
            SectionSpec::Rectangle(own) => {
                let [y, z] = [own.size_y_m, own.size_z_m];
                let largest = largest_slope(y.max(z), y.min(z)) / constants.torsion;
                (corners(y, z), Some(largest))
            }
            SectionSpec::Box(own) => {
                let [y, z, wall] = [own.size_y_m, own.size_z_m, own.wall_m];
                let enclosed = (y - wall) * (z - wall);
                (corners(y, z), Some(0.5 / (enclosed * wall)))
            }
            SectionSpec::IBeam(own) => {
                let thickest = own.flange_m.max(own.web_m);
                let outline = corners(own.size_y_m, own.size_z_m);
                (outline, Some(thickest / constants.torsion))
            }
            SectionSpec::Polygon(own) => {
                let [y, z] = constants.centre;
                let corners = own
                    .points_m
                    .iter()
                    .map(|point| [point[0] - y, point[1] - z]);
                (Outline::Corners(corners.collect()), None)
            }
            SectionSpec::Properties(_) => return None,
        };
        Some(Self {
            area: constants.area,
            second_moments: constants.second_moments,
            outline,
            shear_per_torque,
        })
    }

    /// Whether shear stresses are known.
    pub fn knows_shear(&self) -> bool {
        self.shear_per_torque.is_some()
    }

    /// The largest stresses under a force and a moment in the section's axes.
    pub fn under(&self, load: &Force<f64>) -> Stresses {
        let (mean, moment) = (load.force[0] / self.area, load.moment);
        let [yy, yz, zz] = self.second_moments;
        let determinant = yy * zz - yz * yz;
        let along = [
            (zz * moment[2] + yz * moment[1]) / determinant,
            (-yy * moment[1] - yz * moment[2]) / determinant,
        ];
        let [least, most] = match &self.outline {
            Outline::Circle(radius) => {
                let bent = radius * along[0].hypot(along[1]);
                [-bent, bent]
            }
            Outline::Corners(corners) => {
                let bent = corners
                    .iter()
                    .map(|at| -along[0] * at[0] - along[1] * at[1]);
                bent.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
                    [least.min(x), most.max(x)]
                })
            }
        };
        Stresses {
            normal: [mean + most, mean + least],
            shear: self
                .shear_per_torque
                .map(|per_torque| per_torque * moment[0].abs()),
        }
    }
}

/// Of circles and tubes.
fn round(diameter: f64, torsion: f64) -> (Outline, Option<f64>) {
    let radius = 0.5 * diameter;
    (Outline::Circle(radius), Some(radius / torsion))
}

/// Largest slope of the membrane over a rectangle, in the middle of its long side: shear stress over $`G\vartheta`$
/// \[Timoshenko & Goodier, art. 109, eq. (168)\].
fn largest_slope(long: f64, short: f64) -> f64 {
    let term = |k: usize| {
        let n = (2 * k + 1) as f64;
        1.0 / (n * n * (0.5 * n * PI * long / short).cosh())
    };
    let series: f64 = (0..TERMS).map(term).sum();
    short * (1.0 - 8.0 / (PI * PI) * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_spatial::Vector;
    use lissom_spec::spec::{BoxSpec, CircleSpec, IBeamSpec, PolygonSpec, RectangleSpec, TubeSpec};

    /// Rounding of a few operations.
    const ROUNDING: f64 = 1e-13;
    /// Digits of the table of Timoshenko & Goodier.
    const PRINTED: f64 = 1e-3;

    fn load(force: [f64; 3], moment: [f64; 3]) -> Force<f64> {
        Force::new(Vector(moment), Vector(force))
    }

    fn is_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= ROUNDING * expected.abs(),
            "{found:e} instead of {expected:e}"
        );
    }

    /// Closed forms: the section modulus πd³/32 in bending and πd³/16 in torsion, of bending in any direction.
    #[test]
    fn circles_have_their_section_moduli() {
        let d: f64 = 0.03;
        let circle = SectionStress::of(&SectionSpec::Circle(CircleSpec { diameter_m: d })).unwrap();
        let found = circle.under(&load([700.0, 50.0, 60.0], [4.0, 5.0, -12.0]));
        let mean = 700.0 / (0.25 * PI * d * d);
        let bent = 13.0 * 32.0 / (PI * d.powi(3));
        is_near(found.normal[0], mean + bent);
        is_near(found.normal[1], mean - bent);
        let shear = 4.0 * 16.0 / (PI * d.powi(3));
        is_near(found.shear.unwrap(), shear);
        let worst = mean + bent;
        is_near(
            found.equivalent().unwrap(),
            (worst * worst + 3.0 * shear * shear).sqrt(),
        );
    }

    /// Closed forms: bh²/6 about each axis; 0.208 hb² in torsion of a square, 0.246 of a 2 : 1 rectangle and 0.333 of a strip
    /// \[Timoshenko & Goodier, art. 109, table 7\].
    #[test]
    fn rectangles_have_their_section_moduli() {
        let of = |y: f64, z: f64| {
            let sizes = RectangleSpec {
                size_y_m: y,
                size_z_m: z,
            };
            SectionStress::of(&SectionSpec::Rectangle(sizes)).unwrap()
        };
        let (y, z) = (0.04, 0.02);
        let found = of(y, z).under(&load([0.0; 3], [0.0, 5.0, 7.0]));
        is_near(
            found.normal[0],
            7.0 * 6.0 / (z * y * y) + 5.0 * 6.0 / (y * z * z),
        );
        is_near(found.normal[1], -found.normal[0]);
        for (ratio, factor) in [(1.0, 0.208), (2.0, 0.246), (10.0, 0.312), (100.0, 0.331)] {
            let section = of(ratio * 0.01, 0.01);
            let shear = section.under(&load([0.0; 3], [1.0, 0.0, 0.0])).shear;
            let modulus = 1.0 / (shear.unwrap() * ratio * 0.01 * 0.01 * 0.01);
            assert!((modulus - factor).abs() <= PRINTED, "{ratio}: {modulus}");
        }
    }

    /// Closed form: the corner that is pulled, with the signs of the axes: a positive moment about z presses the side of positive
    /// y, and one about y pulls the side of positive z.
    #[test]
    fn moments_press_and_pull_the_right_sides() {
        // a right-angled triangle, whose centre is a third of its sides away from the right angle
        let triangle = SectionSpec::Polygon(PolygonSpec {
            points_m: vec![[-0.01, -0.01], [0.02, -0.01], [-0.01, 0.02]],
            torsion_constant_m4: None,
            shear_factor: 5.0 / 6.0,
        });
        let section = SectionStress::of(&triangle).unwrap();
        // ∫y² = ∫z² = bh³/36 and ∫yz = -b²h²/72 about the centre
        let side: f64 = 0.03;
        let (own, mixed) = (side.powi(4) / 36.0, -side.powi(4) / 72.0);
        // this moment bends along y alone: κ_z = 0
        let curvature = 1e6;
        let moment = [0.0, -mixed * curvature, own * curvature];
        let found = section.under(&load([0.0; 3], moment));
        is_near(found.normal[0], 0.01 * curvature);
        is_near(found.normal[1], -0.02 * curvature);
        assert_eq!((found.shear, found.equivalent()), (None, None));
    }

    /// Agreement of two ways: a thin tube and a box against Bredt's formula, an I-beam against its strips.
    #[test]
    fn thin_walls_twist_by_bredt() {
        let torque = load([0.0; 3], [2.0, 0.0, 0.0]);
        let wall: f64 = 1e-6;
        let tube = TubeSpec {
            diameter_m: 0.1,
            wall_m: wall,
        };
        let tube = SectionStress::of(&SectionSpec::Tube(tube)).unwrap();
        let bredt = 2.0 / (2.0 * 0.25 * PI * 0.1_f64.powi(2) * wall);
        let found = tube.under(&torque).shear.unwrap();
        // the wall is that thin beside the diameter
        assert!((found / bredt - 1.0).abs() < 1e-4, "{found:e} {bredt:e}");
        let hollow = BoxSpec {
            size_y_m: 0.06,
            size_z_m: 0.04,
            wall_m: 0.002,
        };
        let hollow = SectionStress::of(&SectionSpec::Box(hollow)).unwrap();
        let found = hollow.under(&torque).shear.unwrap();
        is_near(found, 2.0 / (2.0 * 0.058 * 0.038 * 0.002));
        let strips = IBeamSpec {
            size_y_m: 0.1,
            size_z_m: 0.05,
            flange_m: 0.006,
            web_m: 0.004,
        };
        let section = SectionSpec::IBeam(strips);
        let constant = section.constants(0.3).unwrap().torsion;
        let found = SectionStress::of(&section).unwrap().under(&torque).shear;
        is_near(found.unwrap(), 2.0 * 0.006 / constant);
    }
}
