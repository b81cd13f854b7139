//! Numbers, strings and mass properties as they are written in a model file.

use lissom_spatial::{RigidInertia, Vector};

/// Rounding of transformed numbers of order one, which would only be noise in a text.
const ROUNDING: f64 = 1e-14;

/// The centre of mass, and the inertia about it.
pub(super) fn central(inertia: &RigidInertia<f64>) -> (Vector<f64>, [[f64; 3]; 3]) {
    let mass = inertia.mass;
    let center = if mass > 0.0 {
        inertia.first_moment.scale(1.0 / mass)
    } else {
        Vector::zero()
    };
    let full = inertia.rotational.full().0;
    let steiner = |i: usize, j: usize| {
        let square = if i == j { center.dot(center) } else { 0.0 };
        full[i][j] - mass * (square - center[i] * center[j])
    };
    let central = [0, 1, 2].map(|i| [0, 1, 2].map(|j| steiner(i, j)));
    (center, central)
}

/// Mass, centre of mass and inertia about it, as keys of a table.
pub(super) fn mass_properties(inertia: &RigidInertia<f64>, between: &str) -> String {
    let (center, central) = central(inertia);
    let mut keys = vec![format!("mass_kg = {}", number(inertia.mass))];
    if !is_zero(center) {
        keys.push(format!("center_of_mass_m = {}", numbers(center)));
    }
    let moments = Vector([0, 1, 2].map(|axis| central[axis][axis]));
    keys.push(format!("inertia_kg_m2 = {}", numbers(moments)));
    let products = Vector([central[0][1], central[0][2], central[1][2]]);
    if !is_zero(products) {
        keys.push(format!("products_of_inertia_kg_m2 = {}", numbers(products)));
    }
    keys.join(between)
}

/// Whether nothing but rounding is there.
pub(super) fn is_zero(v: Vector<f64>) -> bool {
    v.0.iter().all(|x| x.abs() < ROUNDING)
}

/// A number of TOML.
pub(super) fn number(x: f64) -> String {
    let x = if x.abs() < ROUNDING { 0.0 } else { x };
    format!("{x:?}")
}

/// An array of TOML.
pub(super) fn numbers(v: Vector<f64>) -> String {
    format!("[{}]", v.0.map(number).join(", "))
}

/// A key of TOML, in quotes if it needs them.
pub(super) fn key_of_table(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if !key.is_empty() && key.bytes().all(is_bare) {
        return key.to_owned();
    }
    // keys stand on one line, unlike texts
    let escaped = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\U{:08X}", u32::from(letter)),
        letter => letter.to_string(),
    };
    format!("\"{}\"", key.chars().map(escaped).collect::<String>())
}

/// A string of TOML.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
