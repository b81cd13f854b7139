//! Beams of Nastran: `CBAR` and `CBEAM` with `PBAR`, `PBARL` and `PBEAM`.

use std::collections::{BTreeMap, BTreeSet};

use super::Entry;
use crate::FeError;
use crate::mesh::Bar;
use lissom_spec::spec::{
    BeamMaterialSpec, BoxSpec, CircleSpec, ElasticSpec, MaterialSpec, RectangleSpec, SectionSpec,
    SectionStiffness, TubeSpec,
};

/// Shear stiffness of a bar that does not shear, over its bending stiffness divided by the square of its length, in a chain of so many bars.
///
/// With $`s`$ of these shear adds $`3/(s n^2)`$ to the deflection of the chain under a force at its end, and rounding takes some $`10^{-16} s n^4`$ of
/// its frequencies: both less than $`10^{-6}`$ until fifty bars. Of more, waves that are six bars long are kept to $`10^{-3}`$.
fn does_not_shear(bars: usize) -> f64 {
    (2e8 / (bars as f64).powi(3)).clamp(1e3, 1e7)
}

/// Difference of the walls of a box that is rounding.
const ROUNDING: f64 = 1e-9;

/// A property of beams, of a material by its number.
pub(super) struct Property {
    material: usize,
    kind: Kind,
    /// Mass per length beside that of the material.
    extra_mass: f64,
}

enum Kind {
    /// Area, I1, I2, I12, J and the shear factors of both planes.
    Numbers([f64; 7]),
    Section(SectionSpec),
}

/// A beam, of a property by its number.
pub(super) struct Unfinished {
    number: usize,
    property: usize,
    ends: [usize; 2],
    direction: Direction,
    line: usize,
}

/// What the y axis of a beam is near to.
enum Direction {
    Vector([f64; 3]),
    Node(usize),
}

/// Reads `PBAR`, `PBARL` or `PBEAM`, with its number.
pub(super) fn property(entry: &Entry<'_>) -> Result<(usize, Property), FeError> {
    let number = entry.integer(0, "the number of a property")?;
    let material = entry.integer(1, "a material")?;
    let real = |k: usize| entry.real(k, "a number of the section");
    let (kind, extra_mass) = match entry.name.as_str() {
        "PBAR" => {
            let numbers = [
                real(2)?,
                real(3)?,
                real(4)?,
                real(18)?,
                real(5)?,
                real(16)?,
                real(17)?,
            ];
            (Kind::Numbers(numbers), real(6)?)
        }
        "PBEAM" => {
            let is_tapered = matches!(entry.field(16), "YES" | "NO" | "YESA");
            let beyond = (18..entry.fields.len()).map(real);
            let is_plain = beyond
                .map(|x| x.map(|x| x == 0.0))
                .collect::<Result<Vec<bool>, FeError>>();
            if is_tapered || !is_plain?.iter().all(|&plain| plain) {
                return Err(entry.error("PBEAM: only beams of one section without offsets are read; make a frame of beams that taper"));
            }
            let factor = |k: usize| match entry.field(k) {
                "" => Ok(1.0),
                _ => real(k),
            };
            let numbers = [
                real(2)?,
                real(3)?,
                real(4)?,
                real(5)?,
                real(6)?,
                factor(16)?,
                factor(17)?,
            ];
            (Kind::Numbers(numbers), real(7)?)
        }
        _ => {
            let (section, count) = named(entry)?;
            (Kind::Section(section), real(8 + count)?)
        }
    };
    if let Kind::Numbers([area, first, second, _, torsion, ..]) = kind
        && [area, first, second, torsion].iter().any(|&x| x <= 0.0)
    {
        return Err(entry.error(format!(
            "{} {number} has A = {area}, I1 = {first}, I2 = {second} and J = {torsion}; all of them must be positive",
            entry.name
        )));
    }
    Ok((
        number,
        Property {
            material,
            kind,
            extra_mass,
        },
    ))
}

/// The section of `PBARL`, with the number of its dimensions.
fn named(entry: &Entry<'_>) -> Result<(SectionSpec, usize), FeError> {
    let size = |k: usize| {
        let value = entry.real(7 + k, "a dimension")?;
        let none = || {
            entry.error(format!(
                "PBARL: dimension {k} is {value}, which is not positive"
            ))
        };
        if value > 0.0 { Ok(value) } else { Err(none()) }
    };
    Ok(match entry.field(3) {
        "ROD" => {
            let diameter_m = 2.0 * size(1)?;
            (SectionSpec::Circle(CircleSpec { diameter_m }), 1)
        }
        "TUBE" => {
            let (outer, inner) = (size(1)?, size(2)?);
            let tube = TubeSpec {
                diameter_m: 2.0 * outer,
                wall_m: outer - inner,
            };
            if inner >= outer {
                return Err(
                    entry.error("PBARL: the inner radius of the tube is not below the outer one")
                );
            }
            (SectionSpec::Tube(tube), 2)
        }
        "BAR" => {
            let (size_z_m, size_y_m) = (size(1)?, size(2)?);
            (
                SectionSpec::Rectangle(RectangleSpec { size_y_m, size_z_m }),
                2,
            )
        }
        "BOX" => {
            let (size_z_m, size_y_m, wall_m) = (size(1)?, size(2)?, size(3)?);
            let is_even = (size(4)? - wall_m).abs() < ROUNDING * wall_m;
            if !is_even || 2.0 * wall_m >= size_y_m.min(size_z_m) {
                return Err(entry.error("PBARL: only boxes of one wall that leaves something inside are read; give their numbers by PBAR"));
            }
            let own = BoxSpec {
                size_y_m,
                size_z_m,
                wall_m,
            };
            (SectionSpec::Box(own), 4)
        }
        other => {
            return Err(entry.error(format!(
                "PBARL: {other:?} is not read, ROD, TUBE, BAR and BOX are; give its numbers by PBAR"
            )));
        }
    })
}

/// Reads `CBAR` or `CBEAM`; `located` finds nodes, those that are `turned` have axes of their own.
pub(super) fn bar(
    entry: &Entry<'_>,
    located: impl Fn(&Entry<'_>, Vec<usize>) -> Result<Vec<usize>, FeError>,
    turned: &BTreeSet<usize>,
) -> Result<Unfinished, FeError> {
    let number = entry.integer(0, "the number of an element")?;
    let ends = [entry.integer(2, "a node")?, entry.integer(3, "a node")?];
    let ends = located(entry, ends.into())?;
    let is_free = |k: usize| !matches!(entry.field(k), "" | "0");
    let mut offsets = (10..16).map(|k| entry.real(k, "an offset"));
    let has_offsets = offsets.try_fold(false, |any, x| Ok::<bool, FeError>(any || x? != 0.0))?;
    if is_free(8) || is_free(9) || has_offsets {
        return Err(entry.error(format!(
            "{} {number}: released ends and offsets are not read; use nodes and joints of the model",
            entry.name
        )));
    }
    let by_node = entry.field(5).is_empty() && entry.field(6).is_empty();
    let direction = match entry.field(4).parse::<usize>() {
        Ok(node) if by_node && node > 0 => Direction::Node(located(entry, vec![node])?[0]),
        _ => {
            if turned.contains(&ends[0]) {
                return Err(entry.error(format!(
                    "{} {number}: its direction is in the axes of its first node (CD), and only the basic coordinate system is read; give the direction by a node",
                    entry.name
                )));
            }
            let along = [4, 5, 6].map(|k| entry.real(k, "a direction"));
            let [x, y, z] = along;
            Direction::Vector([x?, y?, z?])
        }
    };
    Ok(Unfinished {
        number,
        property: entry.integer(1, "a property")?,
        ends: [ends[0], ends[1]],
        direction,
        line: entry.line,
    })
}

/// A beam with its section.
pub(super) fn finished(
    own: &Unfinished,
    nodes: &[[f64; 3]],
    properties: &BTreeMap<usize, Property>,
    materials: &BTreeMap<usize, MaterialSpec>,
    bars: usize,
) -> Result<Bar, FeError> {
    let error = |message: String| FeError::Text {
        line: own.line,
        message,
    };
    let number = own.number;
    let Some(property) = properties.get(&own.property) else {
        let property = own.property;
        return Err(error(format!(
            "beam {number} has the property {property}, of which there is no PBAR, PBARL or PBEAM"
        )));
    };
    let Some(material) = materials.get(&property.material) else {
        let material = property.material;
        return Err(error(format!(
            "beam {number} is of the material {material}, of which there is no MAT1"
        )));
    };
    let [from, to] = own.ends.map(|node| nodes[node]);
    let towards: [f64; 3] = match own.direction {
        Direction::Vector(along) => along,
        Direction::Node(node) => std::array::from_fn(|k| nodes[node][k] - from[k]),
    };
    let along: [f64; 3] = std::array::from_fn(|k| to[k] - from[k]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let square = dot(along, along);
    let share = dot(towards, along) / square;
    let across: [f64; 3] = std::array::from_fn(|k| towards[k] - share * along[k]);
    let is_sound = square > 0.0 && dot(across, across) > 1e-8 * dot(towards, towards);
    if !is_sound {
        return Err(error(format!(
            "beam {number} has no length, or its direction lies along it"
        )));
    }
    Ok(Bar {
        nodes: own.ends,
        y_direction: across,
        section: property.stiffness(material, does_not_shear(bars) / square),
    })
}

impl Property {
    /// With the shear stiffness over the bending stiffness of a bar that does not shear.
    fn stiffness(&self, material: &MaterialSpec, does_not_shear: f64) -> SectionStiffness {
        let (e, density) = (material.youngs_modulus_pa, material.density_kg_per_m3);
        let g = 0.5 * e / (1.0 + material.poisson_ratio);
        let mut section = match &self.kind {
            Kind::Section(section) => {
                let material = BeamMaterialSpec::Elastic(ElasticSpec {
                    youngs_modulus_pa: e,
                    shear_modulus_pa: g,
                    density_kg_per_m3: density,
                });
                // none of these sections is given by its numbers
                section.stiffness(Some(&material)).unwrap_or_default()
            }
            &Kind::Numbers([area, first, second, mixed, torsion, k1, k2]) => {
                let moments = [first, mixed, second];
                let shear = |factor: f64, moment: f64| {
                    if factor > 0.0 {
                        factor * g * area
                    } else {
                        does_not_shear * e * moment
                    }
                };
                SectionStiffness {
                    mass: density * area,
                    inertia: moments.map(|moment| density * moment),
                    axial: e * area,
                    bending: moments.map(|moment| e * moment),
                    torsional: g * torsion,
                    shear: [shear(k1, first), shear(k2, second)],
                    ..SectionStiffness::default()
                }
            }
        };
        section.mass += self.extra_mass;
        section
    }
}
