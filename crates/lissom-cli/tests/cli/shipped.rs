//! The shipped models run, balance their energy and show what they are there to show.

use lissom_io::models::{self, SHIPPED};

use crate::{Folder, number};

/// Conservation: what the inputs put in and the losses take out is what the mechanism holds, in percent
/// of its peak energy. The models ask for rtol 1e-8 or tighter over a few thousand steps.
#[test]
fn energy_and_momentum_balance() {
    const DRIFT_PERCENT: f64 = 1e-5;
    // of momenta that stay zero while parts of several kg m²/s cancel, in the second model of several thousand
    // at a looser tolerance
    const MOMENTUM: [(&str, f64); 2] = [("space-arm", 1e-8), ("floating-shuttle-arm", 1e-4)];
    // steps of generalised-α damp what they do not resolve
    const BY_FIXED_STEPS: [&str; 4] = [
        "spin-up-elements",
        "flying-spaghetti",
        "princeton-beam",
        "bend-45",
    ];
    const DAMPED_PERCENT: f64 = 1.0;
    let folder = Folder::new();
    for model in SHIPPED {
        let json = folder.json(&["run", model.name, "--json"]);
        assert_eq!(json["completed"], true);
        let drift = number(&json["audit"]["energy"]["max_drift_percent"]);
        let allowed = if BY_FIXED_STEPS.contains(&model.name) {
            DAMPED_PERCENT
        } else {
            DRIFT_PERCENT
        };
        assert!(drift < allowed, "{}: {drift} %", model.name);
        assert!(
            number(&json["audit"]["energy"]["peak_j"]) > 0.1,
            "{} moves",
            model.name
        );
        let momentum = json["audit"].get("momentum");
        let allowed = MOMENTUM.iter().find(|(name, _)| *name == model.name);
        assert_eq!(momentum.is_some(), allowed.is_some());
        if let (Some(momentum), Some((name, allowed))) = (momentum, allowed) {
            for key in ["linear_drift_kg_m_per_s", "angular_drift_kg_m2_per_s"] {
                let drift = number(&momentum[key]);
                assert!(drift < *allowed, "{name}, {key}: {drift}");
            }
        }
    }
}

/// Models of the exact preset with the paper's stretch functions lock, and say so, once for every beam; nothing else is
/// wrong with any shipped model.
#[test]
fn only_locked_beams_are_warned_of() {
    const LOCKED: [(&str, usize); 4] = [
        ("spin-up-pinned-beam", 1),
        ("shuttle-arm", 2),
        ("shuttle-arm-ii", 2),
        ("floating-shuttle-arm", 2),
    ];
    let folder = Folder::new();
    for model in SHIPPED {
        let check = folder.json(&["check", model.name, "--json"]);
        let warnings = check["warnings"].as_array().unwrap();
        let expected = LOCKED.iter().find(|(name, _)| *name == model.name);
        assert_eq!(
            warnings.len(),
            expected.map_or(0, |(_, beams)| *beams),
            "{}: {warnings:?}",
            model.name
        );
        for warning in warnings {
            let warning = warning.as_str().unwrap();
            assert!(warning.contains("membrane locking"), "{warning}");
            assert!(warning.contains("foreshortening = true"), "{warning}");
        }
    }
    let cured = [
        "check",
        "spin-up-pinned-beam",
        "--json",
        "--set",
        "body.beam.beam.basis.clamped_free.foreshortening=true",
    ];
    let warnings = &folder.json(&cured)["warnings"];
    assert_eq!(warnings.as_array().unwrap().len(), 0, "{warnings}");
}

/// Variants are listed, run, and can be written to a file.
#[test]
fn variants_are_models_like_the_others() {
    let folder = Folder::new();
    for model in &models::all()[SHIPPED.len()..] {
        let arguments = [
            "run",
            model.name,
            "--json",
            "--set",
            "simulation.duration_s=0.2",
        ];
        let json = folder.json(&arguments);
        assert_eq!(json["completed"], true, "{}", model.name);
        folder.lissom(&["run"]).says(2, &[model.name]);
        let file = format!("{}.toml", model.name);
        folder
            .lissom(&["new", &file, "--from", model.name])
            .says(0, &[]);
        assert_eq!(folder.read(&file), model.text.as_bytes());
    }
}

/// The audit tells how far bodies bend, and the summary when that is no longer small.
#[test]
fn bending_beyond_the_theory_is_warned_of() {
    let folder = Folder::new();
    let soft = [
        "run",
        "spin-up-pinned-beam",
        "--fidelity",
        "inconsistent",
        "--out",
        "soft",
    ];
    folder
        .lissom(&soft)
        .says(0, &["warning", "beam bends by", "small deflections"]);
    let manifest = folder.read_json("soft/manifest.json");
    let beam = &manifest["summary"]["audit"]["bodies"][0];
    assert_eq!(beam["body"], "beam");
    assert_eq!(beam["small"], false);
    assert_eq!(number(&beam["length_m"]), 10.0);
    let stiff = folder.json(&["run", "spin-up-pinned-beam", "--json"]);
    let beam = &stiff["audit"]["bodies"][0];
    assert_eq!(beam["small"], true);
    let lag = -number(&stiff["channels"]["tip.deflection.y"]["minimum"]["value"]);
    // of a beam that bends in its plane the tip moves most; it also stretches by half a millimetre
    assert!((number(&beam["deflection"]["value"]) - lag).abs() < 1e-4);
}

/// Literature: Simo & Vu-Quoc 1986; a geometrically exact rod gives −0.57384 m.
#[test]
fn the_spin_up_beam_stiffens_only_if_it_shortens() {
    const LAG_M: f64 = -0.573_84;
    // three bending modes without shear
    const TOLERANCE: f64 = 0.01;
    let folder = Folder::new();
    let with = folder.json(&["run", "spin-up-beam", "--json"]);
    let tip = &with["channels"]["tip.deflection.y"];
    let lag = number(&tip["minimum"]["value"]);
    assert!((lag / LAG_M - 1.0).abs() < TOLERANCE, "{lag}");
    assert!(number(&tip["final"]).abs() < 0.01, "steady state");
    let without = folder.lissom(&[
        "run",
        "spin-up-beam",
        "--json",
        "--set",
        "fidelity.shortening=none",
    ]);
    let without: serde_json::Value = serde_json::from_str(&without.stdout).unwrap();
    let lag = number(&without["channels"]["tip.deflection.y"]["minimum"]["value"]);
    assert!(lag < -10.0, "diverges: {lag}");
}

/// Every kind of joint occurs in the tree that says so.
#[test]
fn the_branched_tree_has_every_kind_of_joint() {
    let json = Folder::new().json(&["check", "branched-tree", "--json"]);
    let bodies = json["bodies"].as_array().unwrap();
    let mut kinds: Vec<&str> = bodies
        .iter()
        .map(|b| b["joint"]["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "fixed",
            "free",
            "prismatic",
            "revolute",
            "spherical",
            "universal"
        ]
    );
}

/// The motor behind the elastic gear has a coordinate of its own, and the gear twists.
#[test]
fn the_flexible_joint_twists() {
    let folder = Folder::new();
    let check = folder.json(&["check", "flexible-joint", "--json"]);
    assert_eq!(check["degrees_of_freedom"]["motor"], 1);
    let json = folder.json(&["run", "flexible-joint", "--json", "--at", "1"]);
    let at = &json["at"][0]["channels"];
    let twist = number(&at["drive.motor_angle"]) - number(&at["drive.angle"]);
    assert!(twist.abs() > 1e-4, "{twist}");
}
