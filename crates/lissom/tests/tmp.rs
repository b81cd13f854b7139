use lissom::integrate::Flow;
use lissom::model::{Model, ModelSpec};
use lissom::simulate::{run, sample_instants};

fn go(text: &str) -> lissom::simulate::Run {
    let spec: ModelSpec = toml::from_str(text).unwrap();
    let model = Model::build(&spec).unwrap();
    let samples = sample_instants(&spec, &[]);
    run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    })
}
#[test]
fn svq() {
    for (sh, n) in [("kinematic", 3), ("kinematic", 5), ("none", 3)] {
        let text = format!(
            r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 10.0
mass_per_length_kg_per_m = 1.2
bending_stiffness_y_n_m2 = 1.4e4
section_inertia_y_kg_m = 6e-4
[body.beam.basis.clamped_free]
bending_y = {n}
[[joint]]
name = "hub"
parent = "ground"
child = "beam"
[joint.revolute]
axis = [0,0,1]
[[motion]]
joint = "hub"
[motion.cycloidal_rate]
final_rate_rad_per_s = 6.0
duration_s = 15.0
[[marker]]
name = "tip"
body = "beam"
[fidelity]
shortening = "{sh}"
[simulation]
duration_s = 20.0
[output]
sample_period_s = 0.01
"#
        );
        let t0 = std::time::Instant::now();
        let r = go(&text);
        let c = r.recording.channel("tip.deflection.y").unwrap();
        let e = r
            .recording
            .extremes()
            .into_iter()
            .find(|e| e.name == "tip.deflection.y")
            .unwrap();
        println!(
            "{sh} {n} {:?} min {:?} final {} tip5 {:?} tip10 {:?} steps {:?} audit {:?} {:?}",
            r.ending,
            e.minimum,
            c.samples.last().unwrap(),
            r.recording.value_at(c, 5.0),
            r.recording.value_at(c, 10.0),
            r.statistics,
            r.audit.energy,
            t0.elapsed()
        );
    }
}
#[test]
fn three_link() {
    let mut text = String::from("format = 1\ngravity_m_per_s2 = [0.3, -9.81, 1.0]\n");
    for i in 1..=3 {
        text += &format!(
            r#"
[[body]]
name = "link{i}"
beam = {{ length_m = 1.0, mass_per_length_kg_per_m = 0.5, bending_stiffness_y_n_m2 = 30.0, bending_stiffness_z_n_m2 = 20.0, basis.clamped_free = {{ bending_y = 2, bending_z = 2 }} }}
[[joint]]
name = "j{i}"
parent = "{p}"
child = "link{i}"
[joint.revolute]
axis = {a}
initial_angle_rad = 0.3
initial_rate_rad_per_s = 0.5
"#,
            p = if i == 1 {
                "ground".into()
            } else {
                format!("link{}", i - 1)
            },
            a = ["[0,0,1]", "[0,1,0]", "[0.3,0.2,1]"][i - 1]
        );
    }
    for (sh, rtol) in [
        ("kinematic", "1e-9"),
        ("kinematic", "1e-11"),
        ("none", "1e-11"),
    ] {
        let t = text.clone()
            + &format!(
                r#"
[fidelity]
shortening = "{sh}"
[simulation]
duration_s = 10.0
integrator.dop853 = {{ rtol = {rtol}, atol = 1e-13 }}
"#
            );
        let t0 = std::time::Instant::now();
        let r = go(&t);
        println!(
            "{sh} {:?} {:?} {:?} {:?}",
            r.ending,
            r.audit,
            r.statistics,
            t0.elapsed()
        );
    }
}
