//! Robots of URDF files as models, from the command line.

use crate::Folder;

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
