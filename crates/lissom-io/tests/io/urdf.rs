//! Robots of URDF files become models.

use lissom::spec::{VisualKind, VisualSpec};
use lissom::{Mechanism, ModelSpec};
use lissom_io::load::load_text;
use lissom_io::urdf::{self, UrdfError, UrdfFault, flexible_file};

/// A crane: a column that turns, a boom along the z axis of its link, a hook frame, and a counterweight fixed to the column.
const CRANE: &str = r#"<?xml version="1.0"?>
<robot name="crane">
  <material name="grey"/>
  <link name="base"/>
  <link name="column">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="4"/>
      <inertia ixx="0.3" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.1"/>
    </inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="counterweight">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/>
    </inertial>
  </link>
  <link name="boom">
    <inertial>
      <origin xyz="0 0 0.6"/>
      <mass value="3"/>
      <inertia ixx="0.36" ixy="0" ixz="0" iyy="0.36" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <link name="hook"/>
  <joint name="slew" type="continuous">
    <parent link="base"/><child link="column"/>
    <axis xyz="0 0 1"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="bolt" type="fixed">
    <origin xyz="-0.5 0 0.9" rpy="0 0 0"/>
    <parent link="column"/><child link="counterweight"/>
  </joint>
  <joint name="luff" type="revolute">
    <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>
    <parent link="column"/><child link="boom"/>
    <axis xyz="0 1 0"/>
    <limit lower="-0.5" upper="1.2" velocity="2" effort="300"/>
  </joint>
  <joint name="eye" type="fixed">
    <origin xyz="0 0 1.2"/>
    <parent link="boom"/><child link="hook"/>
  </joint>
</robot>
"#;

/// The boom as a beam, whose x axis is the link's z axis.
const FLEXIBLE: &str = "
[boom]
pose = { rotation_vector_rad = [0.0, -1.5707963267948966, 0.0] }
beam = { length_m = 1.2, mass_per_length_kg_per_m = 2.5, bending_stiffness_z_n_m2 = 900.0, basis = { clamped_free = { bending_z = 2 } } }
";

/// Transformations and Steiner's terms of numbers of order one.
const ROUNDING: f64 = 1e-12;

/// The model file of a robot, in which meshes are called as the robot calls them.
fn model_text(text: &str, flexible: Option<&str>) -> Result<String, Vec<UrdfError>> {
    urdf::model_text(text, flexible, &|name| Ok(name.to_owned()))
}

fn mechanism(text: &str) -> Mechanism {
    let spec = ModelSpec::parse(text, &[]).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Mechanism::build(&spec).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn mass_matrix(mechanism: &Mechanism) -> Vec<f64> {
    let start = mechanism.start().unwrap();
    let mut evaluator = lissom::Evaluator::new(mechanism).unwrap();
    let n = evaluator.velocity_count();
    let mut mass = vec![0.0; n * n];
    evaluator.mass_matrix(0.0, &start.position, &mut mass);
    mass
}

/// Closed form: moments of inertia about both axes, where the boom points along x.
#[test]
fn links_have_the_inertia_that_the_file_says() {
    let crane = mechanism(&model_text(CRANE, None).unwrap());
    // the counterweight's axes are turned by a right angle about z, its centre is 0.4 m behind the column
    let counterweight = 0.03 + 2.0 * 0.4 * 0.4;
    let boom = 0.36 + 3.0 * 0.6 * 0.6;
    let about_z = 0.1 + counterweight + boom;
    let expected = [about_z, 0.0, 0.0, boom];
    for (found, expected) in mass_matrix(&crane).iter().zip(expected) {
        assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    }
    let text = model_text(CRANE, None).unwrap();
    for part in [
        "viscous_n_m_s_per_rad = 0.7, coulomb_n_m = 0.2",
        "min_rad = -0.5, max_rad = 1.2, max_rate_rad_per_s = 2.0, max_torque_n_m = 300.0",
        "# Left out: material.",
        "name = \"hook\"",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

/// Two descriptions: a flexible link in the frame of its beam is the arm that is written by hand.
#[test]
fn flexible_links_stand_where_the_links_do() {
    let crane = mechanism(&model_text(CRANE, Some(FLEXIBLE)).unwrap());
    let by_hand = mechanism(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "column"
rigid = { mass_kg = 6.0, center_of_mass_m = [-0.13333333333333333, 0.0, 0.6333333333333333], inertia_kg_m2 = [0.5333333333333333, 0.7966666666666666, 0.3433333333333333], products_of_inertia_kg_m2 = [0.0, 0.21333333333333332, 0.0] }
[[body]]
name = "boom"
beam = { length_m = 1.2, mass_per_length_kg_per_m = 2.5, bending_stiffness_z_n_m2 = 900.0, basis = { clamped_free = { bending_z = 2 } } }
[[joint]]
name = "slew"
parent = "ground"
child = "column"
revolute = { axis = [0.0, 0.0, 1.0], friction = { viscous_n_m_s_per_rad = 0.7, coulomb_n_m = 0.2 } }
[[joint]]
name = "luff"
parent = { body = "column", position_m = [0.0, 0.0, 1.0] }
child = "boom"
revolute = { axis = [0.0, 1.0, 0.0] }
[[marker]]
name = "hook"
body = "boom"
[simulation]
duration_s = 0.2
[output]
sample_period_s = 0.1
"#,
    );
    let [found, expected] = [&crane, &by_hand].map(mass_matrix);
    assert_eq!(found.len(), 16);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    }
    // four turns more are the same orientation
    let turned = FLEXIBLE.replace("-1.5707963267948966", "-26.703537555513243");
    let turned = mechanism(&model_text(CRANE, Some(&turned)).unwrap());
    for (found, expected) in mass_matrix(&turned).iter().zip(&expected) {
        assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    }
    let samples = [0.0, 0.1, 0.2];
    let [found, expected] = [&crane, &by_hand].map(|mechanism| mechanism.run(&samples).recording);
    for axis in ["x", "y", "z"] {
        let name = format!("hook.position.{axis}");
        let [found, expected] =
            [&found, &expected].map(|run| run.channel(&name).unwrap().samples[2]);
        // the integrator's tolerance is far above the rounding by which the two differ
        assert!((found - expected).abs() < 1e-9, "{name} {found} {expected}");
    }
    let z = &expected.channel("hook.position.z").unwrap().samples;
    assert!(z[2] < z[0] - 0.1, "the boom falls: {z:?}");
}

/// Two descriptions: a link as a frame, in the axes of the link, with a stub beside its end on which the next link turns, has the
/// inertia of the beam about both joints.
#[test]
fn links_may_be_frames() {
    /// Rotation of the sections, which the beam leaves out: (d²/8)/(L²/3) = 1e-3, and the stub.
    const SECTIONS: f64 = 3e-3;
    let section =
        "material = \"steel\", section = { tube = { diameter_m = 0.06, wall_m = 0.003 } }";
    let stub = "material = \"steel\", section = { circle = { diameter_m = 0.001 } }";
    let frame = format!(
        r#"[boom]
attach = {{ eye = "beside" }}
[boom.frame]
interface = ["root", "beside"]
basis.clamped_free = {{ modes = 2 }}
node = [
    {{ name = "root", position_m = [0.0, 0.0, 0.0] }},
    {{ name = "end", position_m = [0.0, 0.0, 1.2] }},
    {{ name = "beside", position_m = [0.0, -0.2, 1.2] }},
]
member = [
    {{ from = "root", to = "end", {section} }},
    {{ from = "end", to = "beside", {stub} }},
]
"#
    );
    let beam = format!(
        "[boom]\npose = {{ rotation_vector_rad = [0.0, -1.5707963267948966, 0.0] }}\n\
         beam = {{ length_m = 1.2, {section}, basis = {{ clamped_free = {{ bending_y = 1, bending_z = 1 }} }} }}"
    );
    let beside = CRANE.replace("<origin xyz=\"0 0 1.2\"/>", "<origin xyz=\"0 -0.2 1.2\"/>");
    let [frame, beam] = [(&*beside, frame), (CRANE, beam)].map(|(crane, flexible)| {
        let text = model_text(crane, Some(&flexible)).unwrap();
        let loaded =
            load_text("crane", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mass = mass_matrix(&loaded.mechanism);
        let hook = loaded.mechanism.run(&[0.0]).recording;
        let hook = ["x", "y", "z"]
            .map(|k| hook.channel(&format!("hook.position.{k}")).unwrap().samples[0]);
        // slew, luff, then two shapes
        assert_eq!(mass.len(), 16);
        (mass[0], mass[5], hook)
    });
    assert!(
        (frame.0 / beam.0 - 1.0).abs() < SECTIONS,
        "{frame:?} {beam:?}"
    );
    assert!(
        (frame.1 / beam.1 - 1.0).abs() < SECTIONS,
        "{frame:?} {beam:?}"
    );
    for k in 0..3 {
        let apart = frame.2[k] - beam.2[k] + [0.0, 0.2, 0.0][k];
        assert!(apart.abs() < ROUNDING, "{frame:?} {beam:?}");
    }
}

/// Poses by hand: the sphere of the counterweight is at (0, 0.1, 0) of its link, which is turned by nothing and stands at (-0.5, 0, 0.9) on
/// the column; the base is the ground; a boom that is a beam is drawn as one.
#[test]
fn links_are_drawn_where_they_stand() {
    let with = |link: &str, visuals: &str, text: String| {
        let (empty, full) = (
            format!("<link name={link:?}/>"),
            format!("<link name={link:?}>"),
        );
        let whole = format!("{full}{visuals}");
        if text.contains(&empty) {
            text.replace(&empty, &format!("{whole}</link>"))
        } else {
            text.replace(&full, &whole)
        }
    };
    let sphere =
        r#"<visual><origin xyz="0 0.1 0"/><geometry><sphere radius="0.2"/></geometry></visual>"#;
    let mesh = r#"<visual><geometry><mesh filename="package://crane/boom.stl" scale="1 -1 2"/></geometry></visual>"#;
    let cylinder = r#"<visual><geometry><cylinder radius="0.3" length="0.1"/></geometry></visual>"#;
    // none of these can be drawn, and none of them stops anything
    let odd = r#"<visual/><visual><geometry><capsule radius="1"/></geometry></visual>
        <visual><geometry><box size="1 1"/></geometry></visual>
        <visual><geometry><sphere radius="-1"/></geometry></visual>
        <visual><origin xyz="1e9 0 0"/><geometry><sphere radius="1"/></geometry></visual>"#;
    let robot = with("counterweight", sphere, CRANE.to_owned());
    let robot = with(
        "base",
        &format!("{cylinder}{odd}"),
        with("boom", mesh, robot),
    );
    let text = model_text(&robot, None).unwrap();
    let spec = ModelSpec::parse(&text, &[]).unwrap();
    let on = |body: &str| -> Vec<&VisualSpec> {
        spec.visual.iter().filter(|own| own.body == body).collect()
    };
    let [cylinder] = on("ground")[..] else {
        panic!("{text}");
    };
    let Some(VisualKind::Cylinder(size)) = cylinder.kind() else {
        panic!("{text}");
    };
    assert_eq!((size.diameter_m, size.length_m), (0.6, 0.1));
    let [box_, sphere] = on("column")[..] else {
        panic!("{text}");
    };
    assert!(matches!(box_.kind(), Some(VisualKind::Box(own)) if own.edges_m == [1.0; 3]));
    assert!(matches!(sphere.kind(), Some(VisualKind::Sphere(own)) if own.diameter_m == 0.4));
    assert_eq!(sphere.position_m, [-0.5, 0.1, 0.9]);
    let [boom] = on("boom")[..] else {
        panic!("{text}");
    };
    let own = boom.mesh.as_ref().unwrap();
    assert_eq!(
        (own.file.as_str(), own.scale),
        ("package://crane/boom.stl", [1.0, -1.0, 2.0])
    );
    // two of them stand in one line
    assert_eq!(text.matches("visual of line").count(), 4, "{text}");
    let flexible = model_text(&robot, Some(FLEXIBLE)).unwrap();
    assert!(!flexible.contains("boom.stl"), "{flexible}");
    // a file that is not where the text will stand is told of in the text
    let nowhere = |_: &str| Err("it is elsewhere,\nfar away".to_owned());
    let text = urdf::model_text(&robot, None, &nowhere).unwrap();
    assert!(text.contains("# the mesh \"package://crane/boom.stl\" of \"boom\" is left out: it is elsewhere, far away\n"));
    ModelSpec::parse(&text, &[]).unwrap();
}

/// Closed form: a floating root has its mass and inertia in all six directions.
#[test]
fn roots_may_float() {
    // the base itself has no mass: it is given some
    let heavy = CRANE.replace(
        "<link name=\"base\"/>",
        "<link name=\"base\"><inertial><mass value=\"50\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>",
    );
    let text = model_text(&heavy, Some("root = \"free\"")).unwrap();
    assert!(
        text.contains("free = {}") && text.contains("base_free"),
        "{text}"
    );
    let mass = mass_matrix(&mechanism(&text));
    let n = 8;
    assert_eq!(mass.len(), n * n);
    for axis in 3..6 {
        assert!(
            (mass[axis * n + axis] - 59.0).abs() < ROUNDING,
            "{}",
            mass[axis * n + axis]
        );
    }
}

/// Second description: a joint beside a beam, on an axis through its tip, is moved along that axis.
#[test]
fn joints_move_along_their_axes_to_the_tip() {
    let hook = r#"<link name="gripper"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="wrist" type="continuous"><origin xyz="0 -0.2 1.2"/><parent link="boom"/><child link="gripper"/><axis xyz="0 1 0"/></joint>
</robot>"#;
    let crane = CRANE.replace("</robot>", hook);
    let text = model_text(&crane, Some(FLEXIBLE)).unwrap();
    assert!(
        text.contains("child = { body = \"gripper\", position_m = [0.0, 0.2, 0.0] }"),
        "{text}"
    );
    let [rigid, flexible] = [None, Some(FLEXIBLE)]
        .map(|own| mass_matrix(&mechanism(&model_text(&crane, own).unwrap())));
    // slew, luff and wrist; slew, luff, two functions and wrist: the uniform beam has the inertia of the rigid link but for its roll
    let by_joints = |mass: &[f64], n: usize, joints: [usize; 3]| {
        joints.map(|i| joints.map(|j| mass[i * n + j]))
    };
    let [rigid, flexible] = [
        by_joints(&rigid, 3, [0, 1, 2]),
        by_joints(&flexible, 5, [0, 1, 4]),
    ];
    for (rigid, flexible) in rigid.iter().flatten().zip(flexible.iter().flatten()) {
        assert!((rigid - flexible).abs() < ROUNDING, "{rigid} {flexible}");
    }
}

/// Errors: what cannot be a model is refused by name, with its line, all of it at once.
#[test]
fn what_is_wrong_is_told_with_its_line() {
    let faults = |text: &str, flexible: Option<&str>| model_text(text, flexible).unwrap_err();
    let mimic = CRANE.replace("<limit lower", "<mimic joint=\"slew\"/><limit lower");
    let planar = mimic.replace("type=\"continuous\"", "type=\"planar\"");
    let found = faults(&planar, None);
    assert!(
        matches!(&found[..], [planar, mimic]
            if planar.line == 28 && matches!(planar.fault, UrdfFault::UnknownJoint { .. })
            && mimic.line == 37 && matches!(mimic.fault, UrdfFault::Mimic { .. })),
        "{found:?}"
    );
    let words = |text: &str, flexible: Option<&str>| faults(text, flexible)[0].to_string();
    assert!(words("<robot", None).contains("no XML"));
    assert!(words("<model/>", None).contains("<model>"));
    assert!(words(&CRANE.replace("xyz=\"0 0 1.2\"", "xyz=\"0 0\""), None).contains("\"0 0\""));
    assert!(
        words(
            &CRANE.replace("child link=\"hook\"", "child link=\"hok\""),
            None
        )
        .contains("hok")
    );
    assert!(
        words(
            &CRANE.replace("child link=\"hook\"", "child link=\"boom\""),
            None
        )
        .contains("two joints")
    );
    assert!(words("<robot name=\"none\"/>", None).contains("no root"));
    let light = CRANE.replacen("<mass value=\"3", "<mass value=\"0", 1);
    assert_ne!(light, CRANE);
    let found = faults(&light, None);
    assert!(
        matches!(&found[..], [own] if own.line > 1 && own.to_string().contains("\"boom\" moves on its joint with the mass 0.0")),
        "{found:?}"
    );
    assert!(
        words(
            &CRANE.replace(
                "<link name=\"hook\"/>",
                "<link name=\"hook\"/><link name=\"moon\"/>"
            ),
            None
        )
        .contains("moon")
    );
    assert!(words(CRANE, Some("[bom]\nrigid = {}")).contains("bom"));
    assert!(words(CRANE, Some("[boom]\ndamping = {}")).contains("made of"));
    assert!(words(CRANE, Some("boom = 1")).contains("no table"));
    for wrong in ["\"fre\"", "true", "[1.0]"] {
        let told = words(CRANE, Some(&format!("root = {wrong}")));
        assert!(told.starts_with(&format!("`root` is {wrong};")), "{told}");
    }
    assert_eq!(flexible_file("arm.urdf"), "arm.flexible.toml");
}

/// Robots and sheets that are made to take long are read or refused in a time that grows with their length; keys of any text stay keys.
#[test]
fn large_robots_are_read_in_time() {
    const LINKS: usize = 100_000;
    let link = |i: usize| format!("<link name=\"l{i}\"/><kind{i}/>\n");
    let joint = |i: usize| {
        format!(
            "<joint name=\"j{i}\" type=\"fixed\"><parent link=\"l{i}\"/><child link=\"l{}\"/></joint>\n",
            i + 1
        )
    };
    let links: String = (0..LINKS).map(link).collect();
    let joints: String = (0..LINKS - 1).map(joint).collect();
    let robot = format!("<robot name=\"long\">\n{links}{joints}</robot>");
    let text = model_text(&robot, None).unwrap();
    assert_eq!(text.matches("[[marker]]").count(), LINKS - 1);
    let refused = model_text(&robot, Some("root = \"free\"")).unwrap_err();
    assert!(
        matches!(refused[0].fault, UrdfFault::NoInertia { .. }),
        "{refused:?}"
    );

    let nameless = format!("<robot>\n{}</robot>", "<link/>\n".repeat(LINKS));
    let errors = model_text(&nameless, None).unwrap_err();
    assert_eq!(errors.len(), LINKS);
    assert_eq!(errors[LINKS - 1].line as usize, LINKS + 1);

    let odd = "[boom]\nrigid = {}\n\"x = 1\\n[[joint]]\" = 2\n";
    let text = model_text(CRANE, Some(odd)).unwrap();
    let document: toml::Table = toml::from_str(&text).unwrap();
    let bodies = document["body"].as_array().unwrap();
    assert!(
        bodies
            .iter()
            .any(|body| body.get("x = 1\n[[joint]]").is_some())
    );
}
