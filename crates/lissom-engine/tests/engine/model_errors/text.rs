//! What the text itself shows: syntax, keys, types and numbers.

use lissom_spec::ErrorKind;

use super::{assert_error, edited, errors_of};

#[test]
fn syntax() {
    let text = edited("name = \"base\"", "name = \"base");
    let errors = errors_of(&text);
    assert!(!errors.is_empty());
    assert!(matches!(errors[0].kind, ErrorKind::Syntax { .. }));
    let range = errors[0].locate(&text).unwrap();
    assert_eq!(text[..range.start].lines().count(), 6, "{:?}", &text[range]);
    assert!(
        errors[0]
            .to_string()
            .starts_with("the text is not valid toml: ")
    );
    // two broken lines are two errors
    let text = text.replacen("mass_kg = 2.0", "mass_kg = ", 1);
    assert!(errors_of(&text).len() >= 2);
}

#[test]
fn keys() {
    assert_error(
        "length_m = 1.2",
        "lenght_m = 1.2",
        "body[1].beam.lenght_m",
        "lenght_m",
        "unknown key `lenght_m`",
    );
    assert_error(
        "channels = [\"tip\"]",
        "colour = 3",
        "output.colour",
        "colour",
        "unknown key `colour`",
    );
    assert_error(
        "length_m = 1.2",
        "length_mm = 1200.0",
        "body[1].beam.length_mm",
        "length_mm",
        "key `length_mm` has the wrong unit, or none",
    );
    assert_error(
        "rest_displacement_m = 0.05",
        "rest_angle_rad = 0.05",
        "joint[2].prismatic.spring.rest_angle_rad",
        "rest_angle_rad",
        "key `rest_angle_rad` has the wrong unit, or none",
    );
    assert_error(
        "mass_kg = 0.5\n",
        "",
        "payload[0]",
        "[[payload]]",
        "key `mass_kg` is missing",
    );
    assert_error(
        "format = 1\n",
        "format = 2\n",
        "format",
        "2",
        "format = 2 is not known",
    );
    let errors = errors_of(&edited("format = 1\n", ""));
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].kind,
        ErrorKind::MissingKey {
            key: "format".into()
        }
    );
}

#[test]
fn types() {
    assert_error(
        "length_m = 1.2",
        "length_m = \"long\"",
        "body[1].beam.length_m",
        "\"long\"",
        "`length_m` is the string \"long\", expected a number",
    );
    assert_error(
        "bending_y = 2",
        "bending_y = 2.5",
        "body[1].beam.basis.clamped_free.bending_y",
        "2.5",
        "`bending_y` is the number 2.5, expected a whole number",
    );
    assert_error(
        "bending_y = 2",
        "bending_y = -2",
        "body[1].beam.basis.clamped_free.bending_y",
        "-2",
        "`bending_y` is -2, expected zero or more",
    );
    assert_error(
        "axis = [1.0, 0.0, 0.0]",
        "axis = [1.0, 0.0]",
        "joint[2].prismatic.axis",
        "[1.0, 0.0]",
        "`axis` has 2 entries, expected 3",
    );
    assert_error(
        "parent = \"stepped\"",
        "parent = 3",
        "joint[4].parent",
        "3",
        "`parent` is 3, expected a string or a table",
    );
    assert_error(
        "marker = \"tip\"\n",
        "marker = \"tip\"\nframe = \"moon\"\n",
        "input[1].frame",
        "\"moon\"",
        "`frame` is \"moon\", which is not known here",
    );
    assert_error(
        "damping.rayleigh = { mass_per_s = 0.1, stiffness_s = 1.0e-4 }",
        "damping = { modal_ratio = 0.1, rayleigh = {} }",
        "body[2].damping",
        "damping",
        "2 (`modal_ratio`, `rayleigh`) of `modal_ratio`, `modal_ratios`, `rayleigh` is given, expected \
         exactly one",
    );
    assert_error(
        "nodal_file = \"scan.json\"\n",
        "",
        "body[4]",
        "[[body]]",
        "none of `rigid`, `beam`, `frame`, `mesh`, `reduced`, `reduced_file`, `nodal`, `nodal_file` is given, expected exactly one",
    );
}

#[test]
fn numbers_that_are_not() {
    assert_error(
        "center_of_mass_m = [0.1, 0.0, 0.0]",
        "center_of_mass_m = [0.1, nan, 0.0]",
        "body[3].nodal.nodes[1].center_of_mass_m[1]",
        "nan",
        "`center_of_mass_m` is NaN, which is not a finite number",
    );
    assert_error(
        "rtol = 1e-7",
        "rtol = -inf",
        "simulation.integrator.radau.rtol",
        "-inf",
        "`rtol` is -inf, which is not a finite number",
    );
    assert_error(
        "bending_y_1 = 0.01",
        "bending_y_1 = inf",
        "body[1].initial.elastic.bending_y_1",
        "inf",
        "`bending_y_1` is inf, which is not a finite number",
    );
}

/// A slip of the pen is one error, however much depends on the key that it spoils.
#[test]
fn slips_have_no_consequences() {
    for (from, to) in [
        ("length_m = 1.2", "length_m = true"),
        ("length_m = 1.2", "lenth_m = 1.2"),
        (
            "[body.beam.basis.clamped_free]\nbending_y = 2",
            "[body.beam.basis.clamped_fre]\nbending_y = 2",
        ),
        ("bending_y = 2", "bendin_y = 2"),
        ("bending_y = 2", "bending_y = \"two\""),
        (
            "node = [{ name = \"flange\"",
            "nodes = [{ name = \"flange\"",
        ),
        ("node = [{ name = \"flange\"", "node = [{ nam = \"flange\""),
        ("nodal_file = \"scan.json\"", "nodal_fiel = \"scan.json\""),
        ("nodal_file = \"scan.json\"", "nodal_file = 3"),
        ("child = \"boom\"", "chlid = \"boom\""),
        (
            "child = { body = \"panel\", at = \"hinge\" }",
            "child = { at = \"hinge\" }",
        ),
        ("[joint.universal]", "[joint.univresal]"),
        ("torque_table = { time_s", "torqe_table = { time_s"),
        (
            "cycloid = { final_displacement_m",
            "cicloid = { final_displacement_m",
        ),
        (
            "[simulation.integrator.radau]",
            "[simulation.integrator.radaux]",
        ),
        ("stiffness = [[30.0, 1.0], [1.0, 50.0]]", "stiffness = 3"),
        (
            "inertia_kg_m2 = [0.2, 0.3, 0.4]",
            "inertia_kg_m2 = [0.2, 0.3]",
        ),
        ("name = \"boom\"", "nmae = \"boom\""),
        ("joint = \"slide\"", "joint = 7"),
        ("[output]", "[[output]]"),
        ("[[payload]]", "[payload]"),
    ] {
        let errors = errors_of(&edited(from, to));
        assert_eq!(errors.len(), 1, "{to}: {errors:#?}");
    }
    let errors = errors_of(&edited("[[payload]]", "[payload]"));
    assert_eq!(
        errors[0].to_string(),
        "`payload` is a table, expected a list of tables, each under a header [[payload]]"
    );
}
