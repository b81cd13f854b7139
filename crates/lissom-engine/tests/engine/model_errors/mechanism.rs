//! Names, the tree, joints, what drives them, and the run.

use super::{assert_error, edited, errors_of, sound};

#[test]
fn names_and_references() {
    assert_error(
        "name = \"tool\"",
        "name = \"\"",
        "payload[0].name",
        "\"\"",
        "the payload has an empty name",
    );
    assert_error(
        "name = \"float\"",
        "name = \"ball\"",
        "joint[4].name",
        "\"ball\"",
        "the joint name \"ball\" is used twice",
    );
    assert_error(
        "{ name = \"middle\", position_m = [0.6, 0.0, 0.0] }",
        "{ name = \"middle\", position_m = [0.6, 0.0, 0.0] }, { name = \"tip\", position_m = [0.6, 0.0, 0.0] }",
        "body[1].node[1].name",
        "\"tip\"",
        "the node name \"tip\" is reserved",
    );
    assert_error(
        "body = \"boom\"\nat = \"tip\"",
        "body = \"bom\"\nat = \"tip\"",
        "marker[0].body",
        "\"bom\"",
        "there is no body called \"bom\"",
    );
    assert_error(
        "joint = \"shoulder\"",
        "joint = \"knee\"",
        "input[0].joint",
        "\"knee\"",
        "there is no joint called \"knee\"",
    );
    assert_error(
        "marker = \"tip\"",
        "marker = \"top\"",
        "input[1].marker",
        "\"top\"",
        "there is no marker called \"top\"",
    );
    let errors = errors_of(&edited("marker = \"tip\"", "marker = \"top\""));
    assert_eq!(errors[0].remedy(), "did you mean \"tip\"?");
}

#[test]
fn tree() {
    assert_error(
        "parent = \"ground\"\nchild = \"base\"",
        "parent = \"stepped\"\nchild = \"base\"",
        "joint[0].parent.body",
        "\"stepped\"",
        "nothing connects these bodies with the ground: stepped, base, boom, scan, panel",
    );
    assert_error(
        "parent = \"stepped\"",
        "parent = \"scan\"",
        "joint[4].parent.body",
        "\"scan\"",
        "joint \"ball\" connects body \"scan\" with itself",
    );
    assert_error(
        "[[joint]]\nname = \"float\"",
        "[[body]]\nname = \"loose\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }\n[[joint]]\nname = \"float\"",
        "body[5].name",
        "\"loose\"",
        "no joint carries body \"loose\"",
    );
    assert_error(
        "[[payload]]\n",
        "[[joint]]\nname = \"extra\"\nparent = \"boom\"\nchild = \"ground\"\nfixed = {}\n[[payload]]\n",
        "joint[5].child",
        "\"ground\"",
        "joint \"extra\" has the ground as its child",
    );
    let errors = errors_of("format = 1\n");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "the model has no body");
    assert_eq!(errors[0].locate("format = 1\n"), None);
}

#[test]
fn joints() {
    assert_error(
        "axis = [1.0, 0.0, 0.0]",
        "axis = [0.0, 0.0, 0.0]",
        "joint[2].prismatic.axis",
        "[0.0, 0.0, 0.0]",
        "`axis` is zero and has no direction",
    );
    assert_error(
        "second = { axis = [0.0, 1.0, 0.0] }",
        "second = { axis = [0.0, 0.0, -2.0] }",
        "joint[1].universal.second.axis",
        "[0.0, 0.0, -2.0]",
        "the two axes of the universal joint are parallel",
    );
    assert_error(
        "limits = { min_m = 0.0, max_m = 0.4",
        "limits = { min_m = 0.5, max_m = 0.4",
        "joint[2].prismatic.limits.min_m",
        "0.5",
        "`min_m` = 0.5 is above the upper limit 0.4",
    );
    assert_error(
        "limits = { min_rad = -1.0, max_rad = 1.0 }",
        "stops = { stiffness_n_m_per_rad = 10.0 }",
        "joint[3].revolute.stops",
        "stops",
        "`stops` are at the limits of the joint's position, and it has none",
    );
    assert_error(
        "limits = { min_rad = -1.0, max_rad = 1.0 }",
        "limits = { min_rad = -1.0 }\nstops = { stiffness_n_m_per_rad = 0.0 }",
        "joint[3].revolute.stops.stiffness_n_m_per_rad",
        "0.0",
        "`stiffness_n_m_per_rad` is 0, expected a number above zero",
    );
    assert_error(
        "gear_ratio = 50.0",
        "gear_ratio = 0.0",
        "joint[3].revolute.motor.gear_ratio",
        "0.0",
        "`gear_ratio` is 0, expected a ratio other than zero",
    );
    assert_error(
        "spring = { stiffness_n_m_per_rad = 3.0 }",
        "spring = { stiffness_n_m_per_rad = -3.0 }",
        "joint[4].spherical.spring.stiffness_n_m_per_rad",
        "-3.0",
        "`stiffness_n_m_per_rad` is -3, expected zero or more",
    );
}

#[test]
fn inputs_and_motions() {
    assert_error(
        "time_s = [0.0, 0.5, 1.0]",
        "time_s = [0.0, 0.5, 0.5]",
        "input[0].torque_table.time_s[2]",
        "0.5",
        "`time_s` does not rise: 0.5 follows 0.5",
    );
    assert_error(
        "value_n_m = [0.0, 1.0, 0.0]",
        "value_n_m = [0.0, 1.0]",
        "input[0].torque_table.value_n_m",
        "[0.0, 1.0]",
        "`value_n_m` has 2 entries, expected 3",
    );
    assert_error(
        "component = 2",
        "component = 3",
        "input[0].component",
        "3",
        "component = 3, but joint \"shoulder\" has components 1 to 2",
    );
    assert_error(
        "torque_table = { time_s = [0.0, 0.5, 1.0], value_n_m = [0.0, 1.0, 0.0] }",
        "force_constant = { value_n = 1.0 }",
        "input[0].force_constant",
        "force_constant",
        "`force_constant` does not suit joint \"shoulder\", which takes a torque here",
    );
    assert_error(
        "joint = \"shoulder\"\ncomponent = 2\n",
        "joint = \"float\"\ncomponent = 6\n",
        "input[0].torque_table",
        "torque_table",
        "`torque_table` does not suit joint \"float\", which takes a force here",
    );
    assert_error(
        "[simulation]\n",
        "[[input]]\njoint = \"slide\"\nforce_constant.value_n = 1.0\n[simulation]\n",
        "motion[0].joint",
        "\"slide\"",
        "component 1 of joint \"slide\" has a prescribed motion, and an input or a controller",
    );
    assert_error(
        "final_displacement_m = 0.2",
        "final_angle_rad = 0.2",
        "motion[0].cycloid.final_angle_rad",
        "final_angle_rad",
        "key `final_angle_rad` has the wrong unit, or none",
    );
    assert_error(
        "final_angle_rad = 0.7, ",
        "",
        "input[2].rigid_inverse_dynamics.cycloid",
        "cycloid",
        "key `final_angle_rad` is missing",
    );
    assert_error(
        "joint = \"wrist\"",
        "joint = \"ball\"",
        "input[2].rigid_inverse_dynamics",
        "rigid_inverse_dynamics",
        "joint \"ball\" has no single angle to prescribe, control or measure: it is spherical",
    );
    assert_error(
        "[simulation]\n",
        "[[motion]]\njoint = \"slide\"\nconstant_rate.rate_m_per_s = 1.0\n[simulation]\n",
        "motion[1].joint",
        "\"slide\"",
        "component 1 of joint \"slide\" has two prescribed motions",
    );
    assert_error(
        "direction = [0.0, 0.0, 1.0]\n",
        "",
        "input[1]",
        "[[input]]",
        "key `direction` is missing",
    );
    let fixed = edited(
        "[joint.spherical]\nspring = { stiffness_n_m_per_rad = 3.0 }\n",
        "fixed = {}\n",
    );
    let fixed = fixed.replacen("joint = \"wrist\"", "joint = \"ball\"", 1);
    let errors = errors_of(&fixed);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(
        errors[0].to_string(),
        "joint \"ball\" is fixed and has no degree of freedom"
    );
}

/// Numbers with which nothing sensible can be computed are refused, and written as a person would.
#[test]
fn numbers_out_of_all_proportion() {
    assert_error(
        "gravity_m_per_s2 = [0.0, 0.0, -9.81]",
        "gravity_m_per_s2 = [0.0, 0.0, -1e300]",
        "gravity_m_per_s2[2]",
        "-1e300",
        "`gravity_m_per_s2` is -1e300, expected at most 1e30 in size",
    );
    assert_error(
        "rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.7",
        "rigid_inverse_dynamics.cycloid = { final_angle_rad = 2e6",
        "input[2].rigid_inverse_dynamics.cycloid.final_angle_rad",
        "2e6",
        "`final_angle_rad` is 2e6, expected at most 1e6 rad either way; take whole turns off",
    );
}

/// Names end up in headers of tables and in lines of text.
#[test]
fn names_with_line_breaks() {
    assert_error(
        "name = \"tool\"",
        "name = \"to\\nol\"",
        "payload[0].name",
        "\"to\\nol\"",
        "the payload name \"to\\nol\" contains a control character",
    );
}

#[test]
fn simulation_and_output() {
    assert_error(
        "rtol = 1e-7",
        "rtol = 0.0",
        "simulation.integrator.radau.rtol",
        "0.0",
        "`rtol` is 0, expected at least 1e-14, the rounding of numbers, and below 1",
    );
    // what the integrators refuse is refused before they start
    assert_error(
        "rtol = 1e-7",
        "rtol = 1e-15",
        "simulation.integrator.radau.rtol",
        "1e-15",
        "`rtol` is 1e-15, expected at least 1e-14, the rounding of numbers, and below 1",
    );
    assert_error(
        "rtol = 1e-7",
        "rtol = 1e-7\natol = 1e3",
        "simulation.integrator.radau.atol",
        "1e3",
        "`atol` is 1000, expected at most 1, as errors of coordinates in metres and radians",
    );
    assert_error(
        "channels = [\"tip\"]",
        "channels = []",
        "output.channels",
        "channels",
        "`channels` has no effect: it names no channel to keep; without it every channel is kept",
    );
    assert_error(
        "[simulation]\n",
        "[simulation]\nstart_s = -1e18\n",
        "simulation.start_s",
        "-1e18",
        "`start_s` is -1e18, expected at most 2e9 either way, for a run of this duration",
    );
    assert_error(
        "[simulation.integrator.radau]\nrtol = 1e-7",
        "[simulation.integrator.newmark]\nstep_s = -0.1",
        "simulation.integrator.newmark.step_s",
        "-0.1",
        "`step_s` is -0.1, expected a number above zero",
    );
    assert_error(
        "[simulation.integrator.radau]\nrtol = 1e-7",
        "[simulation.integrator.newmark]\nstep_s = 1e-20",
        "simulation.integrator.newmark.step_s",
        "1e-20",
        "`step_s` is 1e-20, expected at least 2e-10, for 1e10 steps",
    );
    assert_error(
        "[simulation.integrator.radau]\nrtol = 1e-7",
        "[simulation.integrator.newmark]\nstep_s = 1e-3\ntolerance = 1e10",
        "simulation.integrator.newmark.tolerance",
        "1e10",
        "`tolerance` is 1e10, expected a number from 1e-16 to below 1",
    );
    let mut endless = sound();
    endless.simulation.duration_s = f64::from_bits(1);
    let errors = endless.check().unwrap_err();
    assert!(errors.iter().any(|error| {
        error.to_string() == "`duration_s` is 5e-324, expected a number from 1e-12 to 1e9"
    }));
    assert_error(
        "sample_period_s = 0.01",
        "sample_period_s = 0.0",
        "output.sample_period_s",
        "0.0",
        "`sample_period_s` is 0, expected a number above zero",
    );
    // the shortest period that the message names is accepted, though three over it rounds to more than the samples allowed
    let mut shortest = sound();
    shortest.simulation.duration_s = 3.0;
    shortest.output.sample_period_s = Some(3e-8);
    assert_eq!(shortest.check(), Ok(()));
}
