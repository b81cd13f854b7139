//! What is wrong with a model is found, all of it, at the right place and in the right words.
//!
//! The truth held here is the promise of the format: one edit of a sound model makes one error, whose
//! path, text and message a reader would have given too.

mod bodies;
mod loops;
mod mechanism;
mod text;

use lissom_spec::spec::{AdaptiveSpec, AttachmentSpec, BodySpec, IntegratorSpec, JointKind, Place};
use lissom_spec::{
    ErrorKind, ModelError, ModelSpec, Override, TEMPLATE, json_schema, spanning_tree,
};

/// A sound model with something of everything.
const SOUND: &str = include_str!("sound.toml");

/// The errors of a text, or none.
fn errors_of(text: &str) -> Vec<ModelError> {
    ModelSpec::parse(text, &[]).err().unwrap_or_default()
}

/// Joints of the tree, in its order.
fn tree_order(spec: &ModelSpec) -> Vec<usize> {
    let tree = spanning_tree(spec);
    assert!(tree.cuts.is_empty());
    tree.joints.iter().map(|joint| joint.joint).collect()
}

fn sound() -> ModelSpec {
    ModelSpec::parse(SOUND, &[]).expect("the sound model is sound")
}

/// The sound model with one text exchanged, which must be there exactly once.
fn edited(from: &str, to: &str) -> String {
    assert_eq!(
        SOUND.matches(from).count(),
        1,
        "{from:?} is not there exactly once"
    );
    SOUND.replacen(from, to, 1)
}

/// One edit makes one error with this path, located text and message.
#[track_caller]
fn assert_error(from: &str, to: &str, path: &str, located: &str, message: &str) {
    let text = edited(from, to);
    let errors = errors_of(&text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let error = &errors[0];
    let range = error.locate(&text);
    let found = range.map(|range| text[range].to_owned());
    assert_eq!(
        (
            error.path.to_string().as_str(),
            found.as_deref(),
            error.to_string().as_str()
        ),
        (path, Some(located), message)
    );
    assert!(!error.remedy().is_empty());
}

#[test]
fn the_sound_model_is_sound() {
    let spec = sound();
    assert_eq!(spec.body.len(), 5);
    assert!(matches!(spec.joint[0].kind(), Some(JointKind::Free(_))));
    assert_eq!(tree_order(&spec), [0, 1, 2, 4, 3]);
    assert_eq!(
        spec.body[1].elastic_coordinates().unwrap(),
        ["bending_y_1", "bending_y_2", "stretch_1", "torsion_1"]
    );
    let stepped = spec.find_body("stepped").unwrap();
    assert_eq!(stepped.elastic_coordinates().unwrap().len(), 4);
    assert_eq!(
        stepped.position(Place::Unsaid, false),
        Some([0.8, 0.0, 0.0])
    );
    assert_eq!(stepped.position(Place::Unsaid, true), Some([0.0; 3]));
}

#[test]
fn the_template_is_sound() {
    let spec = ModelSpec::parse(TEMPLATE, &[]).unwrap();
    assert_eq!(spec.body.len(), 2);
    assert_eq!(tree_order(&spec), [0, 1]);
}

/// The example that the documentation shows.
#[test]
fn the_documented_example_is_sound() {
    let text = include_str!("documented.toml");
    let spec = ModelSpec::parse(text, &[]).unwrap();
    assert_eq!(spec.input[0].torque_step.unwrap().until_s, Some(0.5));
    // the variant that its comment names
    let elements = text.replace(
        "[body.beam.basis.clamped_free]      # or free_free, or elements = { count = 4, modes = 6 }\nbending_y = 2\nbending_z = 2\n",
        "basis.elements = { count = 4, modes = 6 }\n",
    );
    assert_ne!(elements, text);
    assert!(ModelSpec::parse(&elements, &[]).is_ok());
}

/// Writing a spec and reading it again changes nothing, in TOML and in JSON.
#[test]
fn a_spec_survives_writing_and_reading() {
    for text in [SOUND, TEMPLATE] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let toml_text = toml::to_string(&spec).unwrap();
        assert_eq!(ModelSpec::parse(&toml_text, &[]).unwrap(), spec);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ModelSpec>(&json).unwrap(), spec);
    }
}

/// The copy of the schema beside the code is the one that the code makes.
#[test]
fn the_checked_in_schema_is_up_to_date() {
    let stored = include_str!("../../../../lissom-spec/schema/lissom.schema.json");
    assert!(
        stored == json_schema(),
        "crates/lissom-spec/schema/lissom.schema.json differs from what `lissom schema` prints"
    );
}

/// Ten different errors in one file are ten errors, in the order of the file.
#[test]
fn everything_is_found_at_once() {
    let text = include_str!("ten_errors.toml");
    let found: Vec<String> = errors_of(text)
        .iter()
        .map(|error| error.path.to_string())
        .collect();
    let expected = [
        "graviti_m_per_s2",
        "body[0].rigid.mass_kg",
        "body[0].rigid.inertia_kg_m2",
        "body[1].rigid.mass_kg",
        "body[1].rigid.inertia_kg_m2[2]",
        "body[2].beam.bending_stiffness_y_n_m2",
        "joint[0].parent.body",
        "joint[0].revolute.axis",
        "joint[2].parent.body",
    ];
    // without the missing name, on which the rest could depend
    let named = text.replace("[[marker]]\n", "[[marker]]\nname = \"m\"\nat = \"top\"\n");
    let all: Vec<String> = errors_of(&named)
        .iter()
        .map(|error| error.path.to_string())
        .collect();
    assert_eq!(all, [&expected[..], &["marker[0].at"]].concat());
    assert_eq!(all.len(), 10);
    // with it, what the text itself shows is still reported
    assert_eq!(
        found,
        ["graviti_m_per_s2", "body[1].rigid.mass_kg", "marker[0]"]
    );
}

#[test]
fn overrides_reach_every_value() {
    let set = |text: &str| Override::parse(text).unwrap();
    let overrides = [
        set("joint.wrist.revolute.initial_angle_rad=0.3"),
        set("body[1].beam.length_m = 2"),
        set("simulation.start_s=1.5"),
        set("simulation.integrator={ dopri5 = { rtol = 1e-5 } }"),
        set("fidelity.preset=jain_rodriguez"),
        set("joint.\"wrist\".parent=\"stepped\""),
    ];
    let spec = ModelSpec::parse(SOUND, &overrides).unwrap();
    assert_eq!(
        spec.joint[3].revolute.as_ref().unwrap().initial_angle_rad,
        0.3
    );
    assert_eq!(spec.body[1].beam.as_ref().unwrap().length_m, Some(2.0));
    assert_eq!(spec.simulation.start_s, 1.5);
    assert_eq!(spec.joint[3].parent, AttachmentSpec::new("stepped"));

    // one setting of another integrator takes the place of the one in the file, whose settings it leaves alone
    let spec = ModelSpec::parse(SOUND, &[set("simulation.integrator.adams.rtol=1e-4")]).unwrap();
    let IntegratorSpec::Adams(adams) = spec.simulation.integrator else {
        panic!("{:?}", spec.simulation.integrator);
    };
    assert_eq!(
        (adams.rtol, adams.atol),
        (1e-4, AdaptiveSpec::default().atol)
    );
    let spec = ModelSpec::parse(SOUND, &[set("simulation.integrator.radau.atol=1e-4")]).unwrap();
    let IntegratorSpec::Radau(radau) = spec.simulation.integrator else {
        panic!("{:?}", spec.simulation.integrator);
    };
    assert_eq!((radau.rtol, radau.atol), (1e-7, 1e-4));

    // a wrong value is blamed on the override, not on the text of the file
    let errors = ModelSpec::parse(SOUND, &[set("body.base.rigid.mass_kg=-1")]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path.to_string(), "body[0].rigid.mass_kg");
    assert_eq!(
        errors[0].set_by.as_deref(),
        Some("body.base.rigid.mass_kg=-1")
    );
    assert_eq!(errors[0].locate(SOUND), None);
    assert!(errors[0].remedy().contains("set by the override"));

    // where a word or a table may stand, both are named
    for nothing in ["formulation={}", "formulation=nodal"] {
        let errors = ModelSpec::parse(SOUND, &[set(nothing)]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].path.to_string(), "formulation");
        let remedy = errors[0].remedy();
        assert!(
            remedy.contains("`tree`") && remedy.contains("`{ nodal = … }`"),
            "{remedy}"
        );
    }

    let errors = ModelSpec::parse(SOUND, &[set("body.bse.rigid.mass_kg=1")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "override `body.bse.rigid.mass_kg=1` cannot be applied: nothing there is called `bse`; did you \
         mean `base`?"
    );
    for bad in ["", "a", "=1", "a..b=1", "a=", "a=[1", "a=1\nb=2"] {
        let error = Override::parse(bad).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::BadOverride { .. }),
            "{bad:?}"
        );
    }
    for unreachable in [
        "format.x=1",
        "body=3",
        "body.9.name=3",
        "body.base=3",
        "gravity_m_per_s2.0=1",
    ] {
        assert!(
            ModelSpec::parse(SOUND, &[set(unreachable)]).is_err(),
            "{unreachable}"
        );
    }
}

/// A spec made in Rust goes through the same checks.
#[test]
fn specs_made_by_hand_are_checked_too() {
    let mut spec = sound();
    spec.body.push(BodySpec {
        name: "ground".into(),
        ..BodySpec::default()
    });
    let messages: Vec<String> = spec
        .check()
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        messages,
        [
            "the body name \"ground\" is reserved",
            "none of `rigid`, `beam`, `frame`, `mesh`, `reduced`, `reduced_file`, `nodal`, `nodal_file` is given, expected exactly one",
            "no joint carries body \"ground\"",
        ]
    );
}

/// A count that no file can hold.
#[test]
fn what_cannot_be_written_is_refused() {
    let mut spec = sound();
    spec.simulation.integrator = IntegratorSpec::Adams(AdaptiveSpec {
        max_steps: usize::MAX,
        ..AdaptiveSpec::default()
    });
    let errors = spec.check().unwrap_err();
    assert!(
        matches!(errors[0].kind, ErrorKind::Unreadable { .. }),
        "{errors:?}"
    );
}

/// Whatever is done to a model, an answer comes back, and every error is located inside the text.
#[test]
fn damaged_texts_never_panic() {
    let look_at = |text: &str| {
        for error in errors_of(text) {
            let _ = (error.to_string(), error.remedy());
            if let Some(range) = error.locate(text) {
                assert!(text.get(range).is_some());
            }
        }
    };
    for text in [SOUND, TEMPLATE] {
        for end in (0..text.len())
            .step_by(7)
            .filter(|end| text.is_char_boundary(*end))
        {
            look_at(&text[..end]);
        }
        // Knuth's MMIX generator: any reproducible stream will do
        let mut state = 2026_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        for _ in 0..500 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random(4) {
                let place = random(bytes.len());
                bytes[place] = b" \n\"=[]{}.,-019eaxn"[random(18)];
            }
            look_at(&String::from_utf8_lossy(&bytes));
        }
    }
}
