//! Robots of URDF files as models, from the command line.

use crate::{Folder, number};

/// A pendulum with a bob that is fixed to it.
const PENDULUM: &str = r#"<robot name="pendulum">
  <link name="wall"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -0.5"/><mass value="0.3"/><inertia ixx="0.025" ixy="0" ixz="0" iyy="0.025" iyz="0" izz="0.001"/></inertial>
  </link>
  <link name="bob"><inertial><mass value="0.2"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <joint name="pivot" type="revolute">
    <parent link="wall"/><child link="rod"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="20" effort="5"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="rod"/><child link="bob"/><origin xyz="0 0 -1"/></joint>
</robot>
"#;

/// Property: a URDF file is a model, and so is what `new` writes of it: the same one.
#[test]
fn robots_run_and_are_written_as_models() {
    let folder = Folder::new();
    folder.write("arm.urdf", PENDULUM);
    folder
        .lissom(&["check", "arm.urdf"])
        .says(0, &["rod", "0.5 kg", "pivot (revolute)"]);
    folder
        .lissom(&["new", "arm.toml", "--from", "arm.urdf"])
        .says(0, &["the robot of arm.urdf"]);
    let start = [
        "--set",
        "joint.pivot.revolute.initial_angle_rad=0.5",
        "--json",
    ];
    for model in ["arm.urdf", "arm.toml"] {
        folder.json(&[&["run", model, "--out", model.split_at(4).1], &start[..]].concat());
    }
    let [urdf, toml] = ["urdf", "toml"].map(|run| folder.read(&format!("{run}/recording.csv")));
    assert!(urdf == toml && urdf.len() > 1000);
}

/// Property: a beam in `arm.flexible.toml` takes the place of a link, and errors name the file, the line and the part.
#[test]
fn flexible_links_stand_beside_the_robot() {
    let folder = Folder::new();
    folder.write("arm.urdf", PENDULUM);
    let beam = "pose = { rotation_vector_rad = [0.0, 1.5707963267948966, 0.0] }
beam = { length_m = 1.0, mass_per_length_kg_per_m = 0.3, bending_stiffness_z_n_m2 = 2.0, basis = { clamped_free = { bending_z = 2 } } }";
    folder.write("arm.flexible.toml", format!("[rod]\n{beam}\n"));
    folder
        .lissom(&["check", "arm.urdf"])
        .says(0, &["rod: beam", "payload bob", "marker bob"]);
    folder.write("arm.flexible.toml", "[rot]\nbeam = {}\n");
    folder
        .lissom(&["check", "arm.urdf"])
        .says(1, &["`rot`", "no such link"]);
    folder.write("arm.flexible.toml", "");
    let mimic = PENDULUM.replace("<limit", "<mimic joint=\"other\"/><limit");
    folder.write("arm.urdf", mimic);
    folder
        .lissom(&["check", "arm.urdf"])
        .says(1, &["arm.urdf:7", "\"pivot\" mimics"]);
}

/// Two ways: what is fixed to something that is fixed to a flexible link is carried by it as by a rigid one, off its axis and turned.
#[test]
fn chains_of_fixed_links_are_carried_by_flexible_ones() {
    /// Rounding of numbers in the text of a model.
    const ROUNDING: f64 = 1e-12;
    let folder = Folder::new();
    let probe = r#"<link name="probe"><inertial><origin xyz="0 0.02 0.01" rpy="0.3 0 0.2"/><mass value="0.1"/>
<inertia ixx="2e-4" ixy="1e-5" ixz="0" iyy="2.2e-4" iyz="2e-5" izz="1e-4"/></inertial></link><link name="flange"/>
<joint name="bolt" type="fixed"><parent link="bob"/><child link="probe"/><origin xyz="0.05 -0.03 0.04" rpy="0.5 -0.2 0.9"/></joint>
<joint name="face" type="fixed"><parent link="bob"/><child link="flange"/><origin xyz="0 0 -0.02"/></joint>
</robot>"#;
    folder.write("arm.urdf", PENDULUM.replace("</robot>", probe));
    let inertia = || number(&folder.json(&["linearize", "arm.urdf", "--json"])["M"][0][0]);
    let rigid = inertia();
    let beam = "pose = { rotation_vector_rad = [0.0, 1.5707963267948966, 0.0] }
beam = { length_m = 1.0, mass_per_length_kg_per_m = 0.3, bending_stiffness_z_n_m2 = 2.0, basis = { clamped_free = { bending_z = 2 } } }";
    folder.write("arm.flexible.toml", format!("[rod]\n{beam}\n"));
    let flexible = inertia();
    assert!(
        (flexible / rigid - 1.0).abs() < ROUNDING,
        "{flexible} {rigid}"
    );
    folder.lissom(&["new", "arm.toml", "--from", "arm.urdf"]);
    let text = String::from_utf8(folder.read("arm.toml")).unwrap();
    assert!(text.contains("No marker at the link \"flange\""));
}

/// A tetrahedron with edges of a thousand units, as STL.
const TETRAHEDRON: &str = "solid t
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 0 1000 0
vertex 1000 0 0
endloop
endfacet
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 1000 0 0
vertex 0 0 1000
endloop
endfacet
endsolid
";

/// Property: what a robot looks like is kept with its recording, which then needs no other file; what cannot be read is told and stops
/// nothing; nothing is read outside the package.
#[test]
fn recordings_keep_what_robots_look_like() {
    let visual = |name: &str| {
        format!(
            r#"<visual><geometry><mesh filename="{name}" scale="0.001 0.001 0.001"/></geometry></visual>"#
        )
    };
    let box_ = r#"<visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual>"#;
    let robot = PENDULUM
        .replace(
            "<link name=\"wall\"/>",
            &format!("<link name=\"wall\">{box_}</link>"),
        )
        .replace(
            "<link name=\"rod\">",
            &format!(
                "<link name=\"rod\">{}",
                visual("package://arm_description/meshes/rod.stl")
            ),
        )
        .replace(
            "<link name=\"bob\">",
            &format!(
                "<link name=\"bob\">{}{}{}{}",
                visual("../meshes/rod.stl"),
                visual("package://arm_description/meshes/bob.dae"),
                visual("../../secret.stl"),
                visual("package://elsewhere/bob.stl"),
            ),
        );
    let folder = Folder::new();
    let read = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    folder.write("secret.stl", TETRAHEDRON);
    folder.write("arm_description/package.xml", "<package/>");
    folder.write("arm_description/meshes/rod.stl", TETRAHEDRON);
    folder.write("arm_description/meshes/bob.dae", "<COLLADA/>");
    folder.write("arm_description/urdf/arm.urdf", robot);
    let urdf = "arm_description/urdf/arm.urdf";
    folder.lissom(&["check", urdf]).says(
        0,
        &[
            "bob.dae\" of rod is not drawn: .dae files are not read; save it as STL or OBJ",
            "secret.stl\" of rod is not drawn: the file \"../../secret.stl\" does not lie below",
            "no folder above the URDF file is the package elsewhere",
            "The model can be run",
        ],
    );
    folder
        .lissom(&["run", urdf, "--out", "run"])
        .says(0, &["bob.dae", "(and 2 more, see lissom check)"]);
    let kept = |run: &str| -> Vec<String> {
        let names = std::fs::read_dir(folder.path.join(run)).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("visual-")).collect()
    };
    // both links have the same mesh
    let [name] = &kept("run")[..] else {
        panic!("{:?}", kept("run"));
    };
    assert!(read(&format!("run/{name}")).contains("v 1000.0 0.0 0.0\n"));
    assert!(read("run/manifest.json").contains(name.as_str()));
    // the model file names what lies below its folder, and tells of the rest
    folder
        .lissom(&["new", "arm.toml", "--from", urdf])
        .says(0, &[]);
    let text = read("arm.toml");
    assert!(
        text.contains("file = \"arm_description/meshes/rod.stl\""),
        "{text}"
    );
    assert!(
        text.contains("secret.stl\" of \"rod\" is left out"),
        "{text}"
    );
    folder.write("elsewhere/readme", "");
    folder
        .lissom(&["new", "elsewhere/arm.toml", "--from", urdf])
        .says(0, &[]);
    let text = read("elsewhere/arm.toml");
    assert!(
        text.contains("rod.stl\" of \"rod\" is left out: it does not lie below"),
        "{text}"
    );
    // a recording by itself
    std::fs::remove_dir_all(folder.path.join("arm_description")).unwrap();
    folder
        .lissom(&["report", "run", "--out", "page.html"])
        .says(0, &[]);
    let page = read("page.html");
    for shown in [
        "\"shape\":\"mesh\"",
        "\"shape\":\"box\",\"edges\":[0.2,0.2,0.1]",
        "\"scale\":[0.001,0.001,0.001]",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    // damage is seen
    folder.write(&format!("run/{name}"), "v 0 0 0\n");
    folder
        .lissom(&["report", "run", "--out", "page.html"])
        .says(1, &[name, "not the file that the manifest"]);
}
