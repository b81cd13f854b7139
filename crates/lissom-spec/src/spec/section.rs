//! Sections of beams by name and dimensions, what they are made of, and the constants that follow.

use std::f64::consts::PI;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Terms of the series for the torsion of a rectangle; what is left of it is 2e-12.
const TERMS: usize = 300;

/// The section of a beam. Its y and z axes are those of the beam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SectionSpec {
    /// A solid circle.
    Circle(CircleSpec),
    /// A round tube.
    Tube(TubeSpec),
    /// A solid rectangle.
    Rectangle(RectangleSpec),
    /// A rectangular tube with thin walls.
    Box(BoxSpec),
    /// Two equal flanges along z and a web along y between their middles.
    IBeam(IBeamSpec),
    /// A solid polygon.
    Polygon(PolygonSpec),
    /// Stiffness and mass by their numbers, whatever the section looks like.
    Properties(BeamPropertiesSpec),
}

/// A solid circle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircleSpec {
    /// Diameter.
    pub diameter_m: f64,
}

/// A round tube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TubeSpec {
    /// Outer diameter.
    pub diameter_m: f64,
    /// Thickness of the wall.
    pub wall_m: f64,
}

/// A solid rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RectangleSpec {
    /// Size along y.
    pub size_y_m: f64,
    /// Size along z.
    pub size_z_m: f64,
}

/// A rectangular tube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxSpec {
    /// Outer size along y.
    pub size_y_m: f64,
    /// Outer size along z.
    pub size_z_m: f64,
    /// Thickness of the walls.
    pub wall_m: f64,
}

/// Two flanges and a web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IBeamSpec {
    /// Whole size along y, flanges included.
    pub size_y_m: f64,
    /// Size along z: that of the flanges.
    pub size_z_m: f64,
    /// Thickness of a flange, along y.
    pub flange_m: f64,
    /// Thickness of the web, along z.
    pub web_m: f64,
}

/// A solid polygon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolygonSpec {
    /// Corners y, z in turn, either way round, measured from the line of the beam.
    pub points_m: Vec<[f64; 2]>,
    /// Torsion constant; Saint-Venant's estimate A⁴/40Iₚ when absent, which is good for compact sections only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torsion_constant_m4: Option<f64>,
    /// Share of the area that resists shear.
    #[serde(default = "five_sixths")]
    pub shear_factor: f64,
}

fn five_sixths() -> f64 {
    5.0 / 6.0
}

/// Stiffness and mass of a section per length, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamPropertiesSpec {
    /// Mass per length.
    pub mass_per_length_kg_per_m: f64,
    /// EA.
    pub axial_stiffness_n: f64,
    /// EI against deflection along y.
    pub bending_stiffness_y_n_m2: f64,
    /// EI against deflection along z.
    pub bending_stiffness_z_n_m2: f64,
    /// GJ.
    pub torsional_stiffness_n_m2: f64,
    /// kGA against shear along y.
    pub shear_stiffness_y_n: f64,
    /// kGA against shear along z.
    pub shear_stiffness_z_n: f64,
    /// ∫ρy²dA about the centre of mass.
    #[serde(default)]
    pub section_inertia_y_kg_m: f64,
    /// ∫ρz²dA about the centre of mass.
    #[serde(default)]
    pub section_inertia_z_kg_m: f64,
    /// Centre of mass y, z from the line of the beam.
    #[serde(default)]
    pub mass_center_m: [f64; 2],
    /// Where an axial force does not bend.
    #[serde(default)]
    pub tension_center_m: [f64; 2],
    /// Where a transverse force does not twist.
    #[serde(default)]
    pub shear_center_m: [f64; 2],
}

/// What a beam is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeamMaterialSpec {
    /// E = 2.1e11 Pa, G = 8.1e10 Pa, 7850 kg/m³.
    Steel,
    /// E = 7.0e10 Pa, G = 2.6e10 Pa, 2700 kg/m³.
    Aluminium,
    /// Ti-6Al-4V: E = 1.14e11 Pa, G = 4.3e10 Pa, 4430 kg/m³.
    Titanium,
    /// Its constants.
    Elastic(ElasticSpec),
}

/// Constants of a material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticSpec {
    /// Young's modulus E.
    pub youngs_modulus_pa: f64,
    /// Shear modulus G.
    pub shear_modulus_pa: f64,
    /// Density.
    pub density_kg_per_m3: f64,
}

impl BeamMaterialSpec {
    /// The constants.
    pub fn constants(&self) -> ElasticSpec {
        let [youngs_modulus_pa, shear_modulus_pa, density_kg_per_m3] = match *self {
            Self::Steel => [2.1e11, 8.1e10, 7850.0],
            Self::Aluminium => [7.0e10, 2.6e10, 2700.0],
            Self::Titanium => [1.14e11, 4.3e10, 4430.0],
            Self::Elastic(own) => return own,
        };
        ElasticSpec {
            youngs_modulus_pa,
            shear_modulus_pa,
            density_kg_per_m3,
        }
    }
}

/// Constants of an area that is filled evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionConstants {
    /// Area.
    pub area: f64,
    /// Its centre y, z.
    pub centre: [f64; 2],
    /// ∫y²dA, ∫yz dA and ∫z²dA about the centre.
    pub second_moments: [f64; 3],
    /// Torsion constant J.
    pub torsion: f64,
    /// Areas that resist shear along y and along z.
    pub shear_areas: [f64; 2],
}

/// Stiffness and mass of a section per length of a beam.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SectionStiffness {
    /// Mass per length.
    pub mass: f64,
    /// ∫ρy²dA, ∫ρyz dA and ∫ρz²dA about the centre of mass.
    pub inertia: [f64; 3],
    /// EA.
    pub axial: f64,
    /// E∫y²dA, E∫yz dA and E∫z²dA about the tension centre.
    pub bending: [f64; 3],
    /// GJ.
    pub torsional: f64,
    /// kGA along y and along z.
    pub shear: [f64; 2],
    /// Centres of mass, of tension and of shear, y, z.
    pub mass_centre: [f64; 2],
    /// Where an axial force does not bend.
    pub tension_centre: [f64; 2],
    /// Where a transverse force does not twist.
    pub shear_centre: [f64; 2],
}

impl SectionSpec {
    /// Its key in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Circle(_) => "circle",
            Self::Tube(_) => "tube",
            Self::Rectangle(_) => "rectangle",
            Self::Box(_) => "box",
            Self::IBeam(_) => "i_beam",
            Self::Polygon(_) => "polygon",
            Self::Properties(_) => "properties",
        }
    }

    /// Constants of the area; none if the section is given by its numbers. `poisson` is the ratio of the material, on which shear depends.
    ///
    /// Shear of circles, tubes and rectangles is that of Cowper (1966); webs resist that of boxes and I-beams. A box twists as a thin wall
    /// (Bredt), an I-beam as three strips.
    pub fn constants(&self, poisson: f64) -> Option<SectionConstants> {
        // of areas that are symmetric about both axes
        let symmetric =
            |area: f64, [y, z]: [f64; 2], torsion: f64, shear_areas: [f64; 2]| SectionConstants {
                area,
                centre: [0.0; 2],
                second_moments: [y, 0.0, z],
                torsion,
                shear_areas,
            };
        Some(match self {
            Self::Circle(own) => round(own.diameter_m, 0.0, poisson),
            Self::Tube(own) => round(own.diameter_m, own.diameter_m - 2.0 * own.wall_m, poisson),
            Self::Rectangle(own) => {
                let [y, z] = [own.size_y_m, own.size_z_m];
                let shear = y * z * 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
                symmetric(y * z, moments(y, z), torsion_of_rectangle(y, z), [shear; 2])
            }
            Self::Box(own) => {
                let [y, z, t] = [own.size_y_m, own.size_z_m, own.wall_m];
                let (outer, inner) = (moments(y, z), moments(y - 2.0 * t, z - 2.0 * t));
                let area = y * z - (y - 2.0 * t) * (z - 2.0 * t);
                // along the middle of the walls
                let [y, z] = [y - t, z - t];
                let torsion = 2.0 * t * (y * z).powi(2) / (y + z);
                symmetric(
                    area,
                    [outer[0] - inner[0], outer[1] - inner[1]],
                    torsion,
                    [2.0 * t * y, 2.0 * t * z],
                )
            }
            Self::IBeam(own) => {
                let [y, z] = [own.size_y_m, own.size_z_m];
                let between = y - 2.0 * own.flange_m;
                let (outer, inner) = (moments(y, z), moments(between, z - own.web_m));
                let torsion = (2.0 * z * own.flange_m.powi(3) + between * own.web_m.powi(3)) / 3.0;
                symmetric(
                    2.0 * z * own.flange_m + between * own.web_m,
                    // what is missing beside the web is two rectangles, which together have its moments along y
                    [
                        outer[0] - inner[0],
                        2.0 * moments(own.flange_m, z)[1] + moments(between, own.web_m)[1],
                    ],
                    torsion,
                    [
                        own.web_m * (y - own.flange_m),
                        5.0 / 6.0 * 2.0 * own.flange_m * z,
                    ],
                )
            }
            Self::Polygon(own) => own.constants(),
            Self::Properties(_) => return None,
        })
    }

    /// Stiffness and mass per length, of a material; none without one, unless the section is given by its numbers.
    pub fn stiffness(&self, material: Option<&BeamMaterialSpec>) -> Option<SectionStiffness> {
        if let Self::Properties(own) = self {
            return Some(SectionStiffness {
                mass: own.mass_per_length_kg_per_m,
                inertia: [own.section_inertia_y_kg_m, 0.0, own.section_inertia_z_kg_m],
                axial: own.axial_stiffness_n,
                bending: [
                    own.bending_stiffness_y_n_m2,
                    0.0,
                    own.bending_stiffness_z_n_m2,
                ],
                torsional: own.torsional_stiffness_n_m2,
                shear: [own.shear_stiffness_y_n, own.shear_stiffness_z_n],
                mass_centre: own.mass_center_m,
                tension_centre: own.tension_center_m,
                shear_centre: own.shear_center_m,
            });
        }
        let ElasticSpec {
            youngs_modulus_pa: e,
            shear_modulus_pa: g,
            density_kg_per_m3: density,
        } = material?.constants();
        // fibres have moduli that no isotropic material has
        let poisson = (0.5 * e / g - 1.0).clamp(0.0, 0.5);
        let area = self.constants(poisson)?;
        Some(SectionStiffness {
            mass: density * area.area,
            inertia: area.second_moments.map(|moment| density * moment),
            axial: e * area.area,
            bending: area.second_moments.map(|moment| e * moment),
            torsional: g * area.torsion,
            shear: area.shear_areas.map(|area| g * area),
            mass_centre: area.centre,
            tension_centre: area.centre,
            shear_centre: area.centre,
        })
    }

    /// The section between two of one kind, all sizes in proportion; none between sections that do not match.
    #[must_use]
    pub fn between(&self, other: &Self, share: f64) -> Option<Self> {
        let mix = |a: f64, b: f64| a + share * (b - a);
        let mix2 = |a: [f64; 2], b: [f64; 2]| [mix(a[0], b[0]), mix(a[1], b[1])];
        Some(match (self, other) {
            (Self::Circle(a), Self::Circle(b)) => Self::Circle(CircleSpec {
                diameter_m: mix(a.diameter_m, b.diameter_m),
            }),
            (Self::Tube(a), Self::Tube(b)) => Self::Tube(TubeSpec {
                diameter_m: mix(a.diameter_m, b.diameter_m),
                wall_m: mix(a.wall_m, b.wall_m),
            }),
            (Self::Rectangle(a), Self::Rectangle(b)) => Self::Rectangle(RectangleSpec {
                size_y_m: mix(a.size_y_m, b.size_y_m),
                size_z_m: mix(a.size_z_m, b.size_z_m),
            }),
            (Self::Box(a), Self::Box(b)) => Self::Box(BoxSpec {
                size_y_m: mix(a.size_y_m, b.size_y_m),
                size_z_m: mix(a.size_z_m, b.size_z_m),
                wall_m: mix(a.wall_m, b.wall_m),
            }),
            (Self::IBeam(a), Self::IBeam(b)) => Self::IBeam(IBeamSpec {
                size_y_m: mix(a.size_y_m, b.size_y_m),
                size_z_m: mix(a.size_z_m, b.size_z_m),
                flange_m: mix(a.flange_m, b.flange_m),
                web_m: mix(a.web_m, b.web_m),
            }),
            (Self::Polygon(a), Self::Polygon(b)) if a.points_m.len() == b.points_m.len() => {
                let points = a.points_m.iter().zip(&b.points_m);
                Self::Polygon(PolygonSpec {
                    points_m: points.map(|(&a, &b)| mix2(a, b)).collect(),
                    torsion_constant_m4: match (a.torsion_constant_m4, b.torsion_constant_m4) {
                        (Some(a), Some(b)) => Some(mix(a, b)),
                        (None, None) => None,
                        _ => return None,
                    },
                    shear_factor: mix(a.shear_factor, b.shear_factor),
                })
            }
            (Self::Properties(a), Self::Properties(b)) => Self::Properties(BeamPropertiesSpec {
                mass_per_length_kg_per_m: mix(
                    a.mass_per_length_kg_per_m,
                    b.mass_per_length_kg_per_m,
                ),
                axial_stiffness_n: mix(a.axial_stiffness_n, b.axial_stiffness_n),
                bending_stiffness_y_n_m2: mix(
                    a.bending_stiffness_y_n_m2,
                    b.bending_stiffness_y_n_m2,
                ),
                bending_stiffness_z_n_m2: mix(
                    a.bending_stiffness_z_n_m2,
                    b.bending_stiffness_z_n_m2,
                ),
                torsional_stiffness_n_m2: mix(
                    a.torsional_stiffness_n_m2,
                    b.torsional_stiffness_n_m2,
                ),
                shear_stiffness_y_n: mix(a.shear_stiffness_y_n, b.shear_stiffness_y_n),
                shear_stiffness_z_n: mix(a.shear_stiffness_z_n, b.shear_stiffness_z_n),
                section_inertia_y_kg_m: mix(a.section_inertia_y_kg_m, b.section_inertia_y_kg_m),
                section_inertia_z_kg_m: mix(a.section_inertia_z_kg_m, b.section_inertia_z_kg_m),
                mass_center_m: mix2(a.mass_center_m, b.mass_center_m),
                tension_center_m: mix2(a.tension_center_m, b.tension_center_m),
                shear_center_m: mix2(a.shear_center_m, b.shear_center_m),
            }),
            _ => return None,
        })
    }
}

impl PolygonSpec {
    /// Area with the sign of the way round.
    pub fn signed_area(&self) -> f64 {
        0.5 * self.edges().map(|[a, b]| cross(a, b)).sum::<f64>()
    }

    /// Two edges that cross or touch each other, numbered from 1; none for a simple polygon.
    pub fn crossing(&self) -> Option<[usize; 2]> {
        let edges: Vec<[[f64; 2]; 2]> = self.edges().collect();
        let count = edges.len();
        for i in 0..count {
            for j in i + 1..count {
                let neighbours = j == i + 1 || (i == 0 && j == count - 1);
                let [p, q] = [edges[i], edges[j]];
                let touching = if neighbours {
                    // they share a corner, and lie on each other if the edge turns back
                    let [before, corner, after] = if j == i + 1 {
                        [p[0], p[1], q[1]]
                    } else {
                        [q[0], q[1], p[1]]
                    };
                    let (a, b) = (minus(before, corner), minus(after, corner));
                    cross(a, b) == 0.0 && a[0] * b[0] + a[1] * b[1] > 0.0
                } else {
                    intersect(p, q)
                };
                if touching {
                    return Some([i + 1, j + 1]);
                }
            }
        }
        None
    }

    fn edges(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let count = self.points_m.len();
        (0..count).map(move |i| [self.points_m[i], self.points_m[(i + 1) % count]])
    }

    /// By Green's theorem.
    fn constants(&self) -> SectionConstants {
        let signed = self.signed_area();
        let (sign, area) = (signed.signum(), signed.abs());
        let mut first = [0.0; 2];
        let mut second = [0.0; 3];
        for [a, b] in self.edges() {
            let c = sign * cross(a, b);
            for k in 0..2 {
                first[k] += c * (a[k] + b[k]) / 6.0;
            }
            let square = |k: usize| a[k] * a[k] + a[k] * b[k] + b[k] * b[k];
            second[0] += c * square(0) / 12.0;
            second[1] += c * (2.0 * (a[0] * a[1] + b[0] * b[1]) + a[0] * b[1] + b[0] * a[1]) / 24.0;
            second[2] += c * square(1) / 12.0;
        }
        let [y, z] = first.map(|moment| moment / area);
        let about = [y * y, y * z, z * z];
        let second_moments = std::array::from_fn(|k| second[k] - area * about[k]);
        let polar: f64 = second_moments[0] + second_moments[2];
        let estimate = || area.powi(4) / (40.0 * polar);
        SectionConstants {
            area,
            centre: [y, z],
            second_moments,
            torsion: self.torsion_constant_m4.unwrap_or_else(estimate),
            shear_areas: [self.shear_factor * area; 2],
        }
    }
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

/// Whether two segments have a point in common.
fn intersect(p: [[f64; 2]; 2], q: [[f64; 2]; 2]) -> bool {
    let side = |line: [[f64; 2]; 2], point: [f64; 2]| {
        cross(minus(line[1], line[0]), minus(point, line[0]))
    };
    let (a, b) = (side(p, q[0]), side(p, q[1]));
    let (c, d) = (side(q, p[0]), side(q, p[1]));
    let apart = |k: usize| {
        let range = |s: [[f64; 2]; 2]| (s[0][k].min(s[1][k]), s[0][k].max(s[1][k]));
        let (p, q) = (range(p), range(q));
        p.1 < q.0 || q.1 < p.0
    };
    a * b <= 0.0 && c * d <= 0.0 && !apart(0) && !apart(1)
}

/// A circle with a hole.
fn round(outer: f64, inner: f64, poisson: f64) -> SectionConstants {
    let power = |n: i32| outer.powi(n) - inner.powi(n);
    let area = PI * power(2) / 4.0;
    let ratio = (inner / outer).powi(2);
    let (whole, hole) = (
        6.0 * (1.0 + poisson) * (1.0 + ratio).powi(2),
        (20.0 + 12.0 * poisson) * ratio,
    );
    let shear = area * whole / ((7.0 + 6.0 * poisson) * (1.0 + ratio).powi(2) + hole);
    let moment = PI * power(4) / 64.0;
    SectionConstants {
        area,
        centre: [0.0; 2],
        second_moments: [moment, 0.0, moment],
        torsion: 2.0 * moment,
        shear_areas: [shear; 2],
    }
}

/// ∫y²dA and ∫z²dA of a rectangle.
fn moments(y: f64, z: f64) -> [f64; 2] {
    [z * y.powi(3) / 12.0, y * z.powi(3) / 12.0]
}

/// Torsion constant of a rectangle, \[Timoshenko & Goodier, art. 109\].
fn torsion_of_rectangle(y: f64, z: f64) -> f64 {
    let (long, short) = (y.max(z), y.min(z));
    let term = |k: usize| {
        let n = (2 * k + 1) as f64;
        (0.5 * n * PI * long / short).tanh() / n.powi(5)
    };
    let series: f64 = (0..TERMS).map(term).sum();
    long * short.powi(3) * (1.0 / 3.0 - 64.0 / PI.powi(5) * short / long * series)
}

#[cfg(test)]
mod tests;
