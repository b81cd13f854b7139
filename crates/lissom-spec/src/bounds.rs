//! [`Bounds`]: between which values every number of the format lies.
//!
//! They are those of anything that might be built, with room to spare: a number beyond them is a slip of the pen or a wrong unit, and
//! products and quotients of a few within them are still numbers. The JSON Schema states them, and the checks ask for them wherever
//! they have nothing more particular to say.

use serde_json::{Value as Json, json};

use crate::check::limits::{
    LARGEST, LARGEST_ANGLE_RAD, LARGEST_ATOL, LARGEST_NEWTON_TOLERANCE, MOST_DIVISIONS,
    MOST_ELEMENTS, MOST_ELEMENTS_PER_LINK, MOST_LOAD_SECTIONS, MOST_MODES, SHORTEST_S,
    SHORTEST_STEP_S, SLOWEST, SMALLEST, SMALLEST_NEWTON_TOLERANCE, SMALLEST_RTOL,
};
use crate::schema::schema_value;
use crate::spec::FORMAT;

/// A number of the format lies between `least` and `most`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least value.
    pub least: f64,
    /// Whether `least` itself is too small.
    pub above: bool,
    /// The largest value.
    pub most: f64,
    /// Whether `most` itself is too large.
    pub below: bool,
}

/// What bounds say of the sign of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Above zero, and not by rounding alone.
    Positive,
    /// Zero or above.
    NotNegative,
}

/// Angles, of which a turn is more than rounding.
const ANGLE: Bounds = within(LARGEST_ANGLE_RAD);
/// Angles that limit something: less is rounding.
const SMALLEST_ANGLE_RAD: f64 = 1e-12;
/// Times, as far from zero as a clock may start.
const LONGEST_S: f64 = 1e12;
/// Durations: thirty years.
const LONGEST_DURATION_S: f64 = 1e9;
/// Lengths, positions and displacements.
const FURTHEST_M: f64 = 1e9;
/// Lengths: less than an atom is no beam.
const SHORTEST_M: f64 = 1e-10;
/// Torsion constants: that of a section as wide as the shortest length.
const SMALLEST_TORSION_CONSTANT_M4: f64 = 1e-40;
/// Resolutions of encoders: a thousandth of what interferometers see.
const FINEST_M: f64 = 1e-15;
/// Factors of shear areas: those of sections are above a tenth.
const SMALLEST_SHEAR_FACTOR: f64 = 1e-3;
/// Newmark's factor: explicit methods have zero, which this one does not know.
const SMALLEST_BETA: f64 = 1e-3;
/// Moduli of materials: a thousandth of the softest gel's.
const SOFTEST_PA: f64 = 1e-3;
/// Densities: a millionth of a gas.
const THINNEST_KG_PER_M3: f64 = 1e-6;
/// Rates of joints and points, and gravity.
const FASTEST: f64 = 1e9;
/// Masses, and masses per length.
const HEAVIEST: f64 = 1e15;
/// Moments of inertia.
const LARGEST_INERTIA: f64 = 1e20;
/// Forces, moments, stiffnesses and dampings.
pub(crate) const STRONGEST: f64 = 1e20;
/// Pure numbers: ratios, components of directions, gains of what is dimensionless.
const LARGEST_RATIO: f64 = 1e12;

const fn between(least: f64, most: f64) -> Bounds {
    Bounds {
        least,
        above: false,
        most,
        below: false,
    }
}

/// Either way.
const fn within(most: f64) -> Bounds {
    between(-most, most)
}

const fn not_negative(most: f64) -> Bounds {
    between(0.0, most)
}

/// Above zero, where nothing particular is known of how small it may be.
const fn positive(most: f64) -> Bounds {
    between(SMALLEST, most)
}

/// The key that says what a number is: its own, or that of the table around it where its own only says which of several it is.
pub(crate) fn key_of<'k>(around: &'k str, own: &'k str) -> &'k str {
    match around {
        "initial_deformations_m" | "initial_rates_m_per_s" | "rest_deformations_m" => around,
        _ => own,
    }
}

impl Bounds {
    /// Those of the number at a path, as the schema states them; `None` where it knows no number.
    pub(crate) fn at(steps: &[String]) -> Option<Self> {
        let schema = schema_value();
        found_in(schema, &schema["$defs"], steps)
    }

    /// What lies within both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let other_begins_later = (other.least, other.above) > (self.least, self.above);
        let low = if other_begins_later { other } else { self };
        let other_ends_earlier = (other.most, !other.below) < (self.most, !self.below);
        let high = if other_ends_earlier { other } else { self };
        Self {
            least: low.least,
            above: low.above,
            most: high.most,
            below: high.below,
        }
    }

    /// The bounds of a number by its key, wherever it stands. `None` for a key that is none of the format's numbers.
    pub(crate) fn of(key: &str) -> Option<Self> {
        Some(match key {
            "format" => between(FORMAT as f64, FORMAT as f64),
            "bending_y" | "bending_z" | "stretch" | "torsion" | "clamped_free" | "free_free"
            | "pinned_pinned" | "clamped_clamped" | "fixed_interface" => {
                not_negative(MOST_MODES as f64)
            }
            "modes" | "functions" => between(1.0, MOST_MODES as f64),
            "count" | "elements" => between(1.0, MOST_ELEMENTS as f64),
            "divisions" => between(1.0, MOST_DIVISIONS as f64),
            "elements_per_link" => between(1.0, MOST_ELEMENTS_PER_LINK as f64),
            "load_sections" => between(2.0, MOST_LOAD_SECTIONS as f64),
            "component" => between(1.0, 6.0),
            "triangles" => not_negative(FURTHEST_M),
            "max_steps" => between(1.0, 1e15),
            "counts_per_revolution" => between(1.0, LARGEST_RATIO),
            "seed" => between(0.0, f64::from(u32::MAX)),
            "bias" | "a" | "b" | "c" | "d" | "reference" => within(STRONGEST),

            "rtol" => Self {
                below: true,
                ..between(SMALLEST_RTOL, 1.0)
            },
            // below that the lowest modes are not known to the same digits
            "accuracy" => Self {
                below: true,
                ..between(1e-9, 1.0)
            },
            "atol" => positive(LARGEST_ATOL),
            "tolerance" => Self {
                below: true,
                ..between(SMALLEST_NEWTON_TOLERANCE, LARGEST_NEWTON_TOLERANCE)
            },
            "spectral_radius" | "share" | "path_share" => between(0.0, 1.0),
            "beta" => between(SMALLEST_BETA, 0.5),
            "gamma" => between(0.5, 1.0),

            "start_s" | "from_s" | "until_s" | "time_s" => within(LONGEST_S),
            "duration_s" | "ramp_s" | "jerk_s" => between(SHORTEST_S, LONGEST_DURATION_S),
            "sample_period_s" | "step_s" | "initial_step_s" | "max_step_s" => {
                between(SHORTEST_STEP_S, LONGEST_S)
            }
            "period_s" | "response_time_s" | "rate_filter_s" | "anti_windup_s" => {
                between(SHORTEST_S, LONGEST_S)
            }
            "delay_s" | "damping_time_s" | "stiffness_s" | "mass_per_s" => not_negative(LONGEST_S),

            "modal_ratio" | "modal_ratios" => Self {
                below: true,
                ..between(0.0, 1.0)
            },
            "damping_ratio" => not_negative(LARGEST_RATIO),
            "gear_ratio"
            | "angular_gear_ratio"
            | "gear_ratio_rad_per_m"
            | "linear_gear_ratio_rad_per_m"
            | "axis"
            | "axes"
            | "direction"
            | "y_direction"
            | "z_direction"
            | "rotation_axis"
            | "elastic"
            | "elastic_rate"
            | "influence"
            | "scale" => within(LARGEST_RATIO),
            // components of unit quaternions, to rounding
            "quaternion" | "final_quaternion" => within(1.001),
            "position_gain" | "integral_gain" | "rate_gain" | "rms" => not_negative(STRONGEST),

            // at 1/2 nothing is compressed, below -1 nothing is stable
            "poisson_ratio" => Self {
                least: -1.0,
                above: true,
                most: 0.5,
                below: true,
            },
            "edges_m" | "length_m" | "rest_length_m" | "unit_m" | "diameter_m" | "size_y_m"
            | "size_z_m" | "wall_m" | "flange_m" | "web_m" => between(SHORTEST_M, FURTHEST_M),
            "torsion_constant_m4" => between(SMALLEST_TORSION_CONSTANT_M4, FURTHEST_M),
            "resolution_m" => between(FINEST_M, FURTHEST_M),
            "shear_factor" => between(SMALLEST_SHEAR_FACTOR, 1.0),
            "max_angle_rad" => between(SMALLEST_ANGLE_RAD, LARGEST_ANGLE_RAD),
            "coulomb_rate_rad_per_s"
            | "coulomb_rate_m_per_s"
            | "angular_coulomb_rate_rad_per_s"
            | "linear_coulomb_rate_m_per_s"
            | "max_rate_rad_per_s"
            | "max_rate_m_per_s"
            | "max_acceleration_rad_per_s2"
            | "max_acceleration_m_per_s2"
            | "max_jerk_rad_per_s3"
            | "max_jerk_m_per_s3" => between(SLOWEST, FASTEST),
            "max_force_n"
            | "max_torque_n_m"
            | "max_force_rate_n_per_s"
            | "max_torque_rate_n_m_per_s"
            | "shear_stiffness_n"
            | "shear_stiffness_y_n"
            | "shear_stiffness_z_n" => positive(STRONGEST),
            "youngs_modulus_pa" | "shear_modulus_pa" => between(SOFTEST_PA, STRONGEST),
            "density_kg_per_m3" => between(THINNEST_KG_PER_M3, STRONGEST),

            // a matrix in the units of its coordinates, and factors of powers of time
            "stiffness"
            | "mass_matrix"
            | "displacement_integrals"
            | "position_integrals"
            | "product_integrals"
            | "shape_integrals"
            | "second_order"
            | "displacement"
            | "stress_pa"
            | "coefficients_rad"
            | "coefficients_m"
            | "coefficients_n"
            | "coefficients_n_m" => within(LARGEST),
            "inertia_kg_m2" | "products_of_inertia_kg_m2" => within(LARGEST_INERTIA),
            "angular_inertia_kg_m2" | "linear_inertia_kg_m2" => not_negative(LARGEST_INERTIA),
            key if ["stiffness", "damping", "viscous", "coulomb"]
                .iter()
                .any(|word| key.contains(word)) =>
            {
                not_negative(STRONGEST)
            }
            key => Self::of_unit(key)?,
        })
    }

    /// The bounds of what may have either sign, or is a mass, by its unit.
    fn of_unit(key: &str) -> Option<Self> {
        let ends = |unit: &str| key.ends_with(unit);
        Some(
            if ends("_rad_per_s") || ends("_m_per_s") || ends("_m_per_s2") {
                within(FASTEST)
            } else if ends("_kg") || ends("_kg_per_m") || ends("_kg_m") {
                not_negative(HEAVIEST)
            } else if ends("_n_m") || ends("_n") {
                within(STRONGEST)
            } else if ends("_rad") {
                ANGLE
            } else if ends("_m") {
                within(FURTHEST_M)
            } else {
                return None;
            },
        )
    }

    /// The bounds of a number in a struct of the format, where the checks ask for more than by its key alone.
    fn of_field(definition: &str, key: &str) -> Option<Self> {
        match (definition, key) {
            ("BeamDeformationsSpec", _) => Some(within(FURTHEST_M)),
            (
                "AutoSpec" | "ComputedPdSpec" | "MeshModesSpec" | "ShapedModeSpec"
                | "StabilizedSpec",
                "frequency_rad_per_s",
            ) => Some(between(SLOWEST, FASTEST)),
            ("MeshSpec", "mass_unit_kg") => Some(positive(HEAVIEST)),
            ("ShapedModeSpec", "damping_ratio") => Some(Self {
                below: true,
                ..between(0.0, 1.0)
            }),
            ("StabilizedSpec", "damping_ratio") => Some(positive(LARGEST_RATIO)),
            (
                "RigidSpec" | "PayloadSpec" | "PointMassSpec" | "ReducedSpec" | "LumpSpec",
                "mass_kg",
            )
            | ("BeamSpec" | "SegmentSpec" | "BeamPropertiesSpec", "mass_per_length_kg_per_m") => {
                Some(positive(HEAVIEST))
            }
            ("NodalNodeSpec" | "ReducedSpec", "inertia_kg_m2") => Self::of(key),
            (_, "inertia_kg_m2") => Some(not_negative(LARGEST_INERTIA)),
            ("BeamSpec" | "SegmentSpec" | "BeamPropertiesSpec", key)
                if key.contains("stiffness") =>
            {
                Some(positive(STRONGEST))
            }
            ("RevoluteStopsSpec" | "PrismaticStopsSpec", key) if key.contains("stiffness") => {
                Some(positive(STRONGEST))
            }
            _ => Self::of(key),
        }
    }

    pub(crate) fn contains(self, value: f64) -> bool {
        let is_small = value < self.least || (self.above && value == self.least);
        let is_large = value > self.most || (self.below && value == self.most);
        !is_small && !is_large
    }

    /// The sign that it asks for, if it does.
    pub(crate) fn sign(self) -> Option<Sign> {
        if self.least > 0.0 {
            Some(Sign::Positive)
        } else {
            (self.least == 0.0).then_some(Sign::NotNegative)
        }
    }

    /// The range in words.
    pub(crate) fn words(self) -> String {
        let number = |value: f64| {
            if value.abs() < 1e5 && value.abs() >= 1e-3 || value == 0.0 {
                format!("{value}")
            } else {
                format!("{value:e}")
            }
        };
        let (least, most) = (number(self.least), number(self.most));
        match (self.above, self.below) {
            _ if self == ANGLE => format!("at most {most} rad either way; take whole turns off"),
            (false, false) if self.least == -self.most => format!("at most {most} in size"),
            (false, false) => format!("a number from {least} to {most}"),
            (false, true) => format!("a number from {least} to below {most}"),
            (true, false) => format!("a number above {least} and at most {most}"),
            (true, true) => format!("a number above {least} and below {most}"),
        }
    }
}

/// The bounds that a schema states of the number at a path in it.
fn found_in(schema: &Json, definitions: &Json, steps: &[String]) -> Option<Bounds> {
    if let Some(name) = schema["$ref"].as_str() {
        let named = &definitions[name.trim_start_matches("#/$defs/")];
        return found_in(named, definitions, steps);
    }
    for branches in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[branches].as_array() {
            let mut found = branches.iter();
            return found.find_map(|branch| found_in(branch, definitions, steps));
        }
    }
    let Some((step, rest)) = steps.split_first() else {
        let end = |closed: &str, open: &str| {
            let found = schema[closed].as_f64().map(|value| (value, false));
            found.or_else(|| Some((schema[open].as_f64()?, true)))
        };
        let (least, above) = end("minimum", "exclusiveMinimum")?;
        let (most, below) = end("maximum", "exclusiveMaximum")?;
        return Some(Bounds {
            least,
            above,
            most,
            below,
        });
    };
    // names and numbers of the items of a list, keys, and names that are keys
    [
        &schema["items"],
        &schema["properties"][step],
        &schema["additionalProperties"],
    ]
    .into_iter()
    .filter(|inside| inside.is_object())
    .find_map(|inside| found_in(inside, definitions, rest))
}

/// States the bounds of every number in a schema.
pub(crate) fn state(schema: &mut Json) {
    if let Some(definitions) = schema["$defs"].as_object_mut() {
        for (name, definition) in definitions {
            state_in(definition, name, None);
        }
    }
    state_in(schema, "", None);
}

fn state_in(schema: &mut Json, definition: &str, key: Option<&str>) {
    let kind = schema["type"].clone();
    let is = |name: &str| {
        kind == name
            || kind
                .as_array()
                .is_some_and(|all| all.contains(&json!(name)))
    };
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(bounds) = key.and_then(|key| Bounds::of_field(definition, key)) {
        let number = |value: f64| match (is("integer"), value.fract() == 0.0) {
            #[expect(clippy::cast_possible_truncation, reason = "a count")]
            (true, true) => json!(value as i64),
            _ => json!(value),
        };
        if is("number") || is("integer") {
            let least = if bounds.above {
                "exclusiveMinimum"
            } else {
                "minimum"
            };
            let most = if bounds.below {
                "exclusiveMaximum"
            } else {
                "maximum"
            };
            object.remove("minimum");
            object.insert(least.to_owned(), number(bounds.least));
            object.insert(most.to_owned(), number(bounds.most));
        }
    }
    if let Some(properties) = object.get_mut("properties").and_then(Json::as_object_mut) {
        for (key, schema) in properties {
            state_in(schema, definition, Some(key));
        }
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(schema) = object.get_mut(inside) {
            state_in(schema, definition, key);
        }
    }
    for branches in ["oneOf", "anyOf"] {
        for schema in object
            .get_mut(branches)
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            state_in(schema, definition, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: what a path leads to, by its last key and by the table in which it stands.
    #[test]
    fn paths_have_bounds() {
        let at = |path: &str| {
            let steps: Vec<String> = path.split('.').map(str::to_owned).collect();
            Bounds::at(&steps)
        };
        let friction = at("joint.hinge.revolute.friction.viscous_n_m_s_per_rad");
        assert_eq!(friction, Some(not_negative(STRONGEST)));
        assert_eq!(at("payload.load.mass_kg"), Some(positive(HEAVIEST)));
        let bending = at("body.arm.beam.bending_stiffness_y_n_m2");
        assert_eq!(bending, Some(positive(STRONGEST)));
        let moment = at("body.0.rigid.inertia_kg_m2.2");
        assert_eq!(moment, Some(not_negative(LARGEST_INERTIA)));
        let ratio = at("body.arm.damping.modal_ratio").unwrap();
        assert_eq!((ratio.least, ratio.most, ratio.below), (0.0, 1.0, true));
        let deflection = at("body.arm.initial.elastic.bending_y_1");
        assert_eq!(deflection, Bounds::of("elastic"));
        for nothing in ["body.arm.name", "body.arm", "joint.hinge.colour"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
        let both = positive(2.0).and(between(0.0, 3.0));
        assert_eq!(both, positive(2.0));
        assert_eq!(between(0.0, 3.0).and(positive(2.0)), positive(2.0));
        assert_eq!(between(-1.0, 1.0).and(positive(2.0)), positive(1.0));
    }

    /// By hand.
    #[test]
    fn bounds_hold_what_they_say() {
        let rtol = Bounds::of("rtol").unwrap();
        assert!(rtol.contains(1e-14) && !rtol.contains(1e-15) && !rtol.contains(1.0));
        let step = Bounds::of("step_s").unwrap();
        assert!(step.contains(1e-3) && !step.contains(0.0) && !step.contains(1e300));
        assert!(Bounds::of("position_m").unwrap().contains(-1e9));
        assert_eq!(step.words(), "a number from 1e-15 to 1e12");
        assert_eq!(rtol.words(), "a number from 1e-14 to below 1");
        assert_eq!(
            Bounds::of("position_m").unwrap().words(),
            "at most 1e9 in size"
        );
        assert_eq!(Bounds::of("name"), None);
        let sign = |key: &str| Bounds::of(key).unwrap().sign();
        assert_eq!(sign("duration_s"), Some(Sign::Positive));
        assert_eq!(sign("max_force_n"), Some(Sign::Positive));
        assert_eq!(sign("damping_n_s_per_m"), Some(Sign::NotNegative));
        assert_eq!(sign("initial_angle_rad"), None);
    }
}
