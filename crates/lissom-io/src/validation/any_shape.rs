//! Frequencies of a link of solid elements that is swung around its root, from its mass, stiffness and geometric stiffness.

use std::collections::BTreeMap;

use lissom::spec::{BodySpec, MaterialSpec, MeshBasisSpec, MeshModesSpec, ReducedSpec};
use lissom::{Flow, Mechanism, ModelSpec, OperatingPoint, Override};
use lissom_fe::{Attached, Kind, NEVER, block, block_spec, reduce};
use lissom_numerics::linear::UndampedModes;

/// Length, width in the plane of rotation and thickness across it: other modes than the two lowest across lie above them.
const SIZE_M: [f64; 3] = [1.0, 0.1, 0.01];

const CELLS: [usize; 3] = [24, 2, 1];

const YOUNGS_MODULUS_PA: f64 = 7.0e10;

const DENSITY_KG_PER_M3: f64 = 2700.0;

/// A link on a hinge across its thickness, whose body is put in its place.
const MODEL: &str = r#"
format = 1
[[body]]
name = "link"
rigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }
node = [{ name = "root", position_m = [0.0, 0.0, 0.0] }]
[[joint]]
name = "hub"
parent = "ground"
child = { body = "link", at = "root" }
revolute = { axis = [0.0, 0.0, 1.0] }
[[motion]]
joint = "hub"
constant_rate = { rate_rad_per_s = 1.0 }
"#;

/// The two lowest frequencies across the plane at rest and at 3 and 6 times √(EI/ρAL⁴), as multiples of it, as far as they are found.
pub(super) fn swung_link() -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    for rate in [0, 3, 6] {
        if let Some([first, second]) = lowest(f64::from(rate)) {
            numbers.insert(format!("first_at_{rate}"), first);
            numbers.insert(format!("second_at_{rate}"), second);
        }
    }
    numbers
}

fn lowest(rate: f64) -> Option<[f64; 2]> {
    let [length, _, thickness] = SIZE_M;
    // √(EI/ρAL⁴)
    let unit = (YOUNGS_MODULUS_PA / (12.0 * DENSITY_KG_PER_M3)).sqrt() * thickness / length.powi(2);
    let rate = format!("motion.0.constant_rate.rate_rad_per_s={}", rate * unit);
    let mut spec = ModelSpec::parse(MODEL, &[Override::parse(&rate).ok()?]).ok()?;
    spec.body = vec![BodySpec {
        name: "link".to_owned(),
        reduced: Some(reduced()?),
        ..BodySpec::default()
    }];
    let mechanism = Mechanism::build(&spec).ok()?;
    let mut watch = |_| Flow::Continue;
    let start = mechanism.written();
    let found = mechanism.linearize(&start, OperatingPoint::Start, &[], &mut watch);
    let found = found.ok()?;
    let linear = &found.trajectory.points()[0].linear;
    let modes = UndampedModes::new(&linear.mass, &linear.stiffness()).ok()?;
    let frequencies = modes.frequencies();
    Some([*frequencies.first()?, *frequencies.get(1)?].map(|found| found / unit))
}

fn reduced() -> Option<ReducedSpec> {
    let material = MaterialSpec {
        group: None,
        youngs_modulus_pa: YOUNGS_MODULUS_PA,
        poisson_ratio: 0.0,
        density_kg_per_m3: DENSITY_KG_PER_M3,
    };
    let modes = MeshModesSpec {
        modes: Some(8),
        ..MeshModesSpec::default()
    };
    let spec = block_spec(material, MeshBasisSpec::ClampedFree(modes));
    let mesh = block(Kind::Hexa20, CELLS, SIZE_M);
    Some(reduce(&mesh, &spec, &Attached::default(), NEVER).ok()?.body)
}
