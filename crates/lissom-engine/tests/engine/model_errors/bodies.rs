//! Bodies, their properties and the places on them.

use lissom_engine::model::Model;
use lissom_spec::spec::{BasisSpec, ElementsSpec, InitialElasticSpec, Membrane, ModeCounts};
use lissom_spec::{ModelSpec, TEMPLATE};

use super::{assert_error, edited, errors_of, sound};

#[test]
fn places() {
    assert_error(
        "at = \"flange\"",
        "at = \"flank\"",
        "joint[1].parent.at",
        "\"flank\"",
        "body \"base\" has no place called \"flank\"",
    );
    assert_error(
        "body = \"boom\"\nat = \"tip\"",
        "body = \"boom\"\nat = \"tip\"\nposition_m = [0.0, 0.0, 0.0]",
        "marker[0]",
        "[[marker]]",
        "the place is said twice, by `at` and by `position_m`",
    );
    assert_error(
        "child = { body = \"panel\", at = \"hinge\" }",
        "child = \"panel\"",
        "joint[3].child",
        "\"panel\"",
        "body \"panel\" is made of nodes, so the place needs the name of a node",
    );
    assert_error(
        "position_m = [0.9, 0.0, 0.0]",
        "position_m = [1.3, 0.0, 0.0]",
        "joint[2].parent.position_m",
        "[1.3, 0.0, 0.0]",
        "x = 1.3 m is outside the beam, which reaches from 0 to 1.2 m",
    );
    assert_error(
        "position_m = [0.6, 0.0, 0.0]",
        "position_m = [0.6, 0.1, 0.0]",
        "body[1].node[0].position_m",
        "[0.6, 0.1, 0.0]",
        "the position [0.6, 0.1, 0] is beside the axis of the beam",
    );
}

#[test]
fn masses_and_inertias() {
    assert_error(
        "mass_kg = 5.0",
        "mass_kg = 0.0",
        "body[0].rigid.mass_kg",
        "0.0",
        "`mass_kg` is 0, expected a number above zero",
    );
    assert_error(
        "mass_kg = 0.25",
        "mass_kg = -0.25",
        "body[1].point_mass[0].mass_kg",
        "-0.25",
        "`mass_kg` is -0.25, expected a number above zero",
    );
    assert_error(
        "products_of_inertia_kg_m2 = [0.01, 0.02, 0.03]",
        "products_of_inertia_kg_m2 = [0.3, 0.0, 0.0]",
        "body[0].rigid.inertia_kg_m2",
        "[0.2, 0.3, 0.4]",
        "`inertia_kg_m2` is not positive definite",
    );
    assert_error(
        "inertia_kg_m2 = [0.2, 0.3, 0.4]",
        "inertia_kg_m2 = [0.2, 0.3, 0.6]",
        "body[0].rigid.inertia_kg_m2",
        "[0.2, 0.3, 0.6]",
        "no distribution of mass has this `inertia_kg_m2`: one principal moment exceeds the sum of the \
         others",
    );
    assert_error(
        "[[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "[[0.1, 0.01, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "body[3].nodal.nodes[1].inertia_kg_m2",
        "[[0.1, 0.01, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "`inertia_kg_m2` is not symmetric: entry (2, 1) is 0, its mirror image is 0.01",
    );
    // tensors are about what the remedy says they are about
    for (from, to, about) in [
        ("[0.2, 0.3, 0.4]", "[0.2, 0.3, 0.6]", "the centre of mass"),
        ("[0.0, 0.0, 0.25]]", "[0.0, 0.0, 0.55]]", "the node"),
    ] {
        let errors = errors_of(&edited(from, to));
        assert!(errors[0].remedy().contains(about), "{errors:?}");
    }
    assert_error(
        "stiffness = [[30.0, 1.0], [1.0, 50.0]]",
        "stiffness = [[30.0, 90.0], [90.0, 50.0]]",
        "body[3].nodal.stiffness",
        "[[30.0, 90.0], [90.0, 50.0]]",
        "`stiffness` is not positive definite",
    );
    // the products are entries of the tensor: these are those of a sphere at (1, 1, 1), minus a little
    let mut sphere = sound();
    let rigid = sphere.body[0].rigid.as_mut().unwrap();
    rigid.inertia_kg_m2 = [2.01, 2.01, 2.01];
    rigid.products_of_inertia_kg_m2 = [-1.0, -1.0, -1.0];
    assert!(sphere.check().is_ok());
}

#[test]
fn beams() {
    assert_error(
        "bending_stiffness_y_n_m2 = 40.0",
        "bending_stiffness_y_n_m2 = -40.0",
        "body[1].beam.bending_stiffness_y_n_m2",
        "-40.0",
        "`bending_stiffness_y_n_m2` is -40, expected a number above zero",
    );
    assert_error(
        "length_m = 0.3",
        "length_m = -0.3",
        "body[2].beam.segments[1].length_m",
        "-0.3",
        "`length_m` is -0.3, expected a number above zero",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.free_free.bending_z = 2",
        "body[2].beam.segments[0].elements",
        "elements",
        "`elements` has no effect: the basis is not one of elements",
    );
    assert_error(
        "axial_stiffness_n = 2.0e5\n",
        "",
        "body[1].beam",
        "beam",
        "stretch needs `axial_stiffness_n`",
    );
    assert_error(
        "torsional_stiffness_n_m2 = 15.0\n",
        "",
        "body[1].beam",
        "beam",
        "torsion needs `torsional_stiffness_n_m2`",
    );
    assert_error(
        "section_inertia_y_kg_m = 1.0e-5\n",
        "",
        "body[1].beam",
        "beam",
        "torsion needs `section_inertia_y_kg_m`",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 3, modes = 400 }",
        "body[2].beam.basis.elements.modes",
        "400",
        "`modes` is 400, expected 1 to 10 modes of each deformation for this mesh",
    );
    // two of them are of the other segment
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 255, modes = 4 }",
        "body[2].beam.basis.elements.count",
        "255",
        "`count` is 257, expected 256 at most",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 254, modes = 4, boundary = \"free\" }",
        "body[2].beam.basis.elements.count",
        "254",
        "`count` is 256, expected 255 at most",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 3, boundary = \"free\" }",
        "body[2].beam.basis.elements",
        "elements",
        "a mesh that is free at both ends needs `modes`",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { modes = 4 }",
        "body[2].beam.basis.elements",
        "elements",
        "key `count` is missing",
    );
    assert_error(
        "bending_stiffness_z_n_m2 = 5.0 }",
        "bending_stiffness_z_n_m2 = 5.0, section_inertia_y_kg_m = -1.0 }",
        "body[2].beam.segments[1].section_inertia_y_kg_m",
        "-1.0",
        "`section_inertia_y_kg_m` is -1, expected zero or more",
    );
}

#[test]
fn bases_without_locking() {
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 3, modes = 4, membrane = \"mean\" }",
        "body[2].beam.basis.elements.membrane",
        "\"mean\"",
        "`membrane` is \"mean\", which is not known here",
    );
    let mut spec = sound();
    let errors_with = |spec: &mut ModelSpec, basis: BasisSpec| {
        spec.body[1].initial = None;
        spec.body[1].damping = None;
        let beam = spec.body[1].beam.as_mut().unwrap();
        beam.basis = basis;
        let errors = spec.check().err().unwrap_or_default();
        errors
            .iter()
            .map(|error| format!("{}: {error}", error.path))
            .collect::<Vec<String>>()
    };
    let foreshortened = |bending_y: usize| ModeCounts {
        bending_y,
        stretch: 1 - bending_y.min(1),
        foreshortening: true,
        ..ModeCounts::default()
    };
    let averaged = BasisSpec::Elements(ElementsSpec {
        count: Some(2),
        membrane: Membrane::Averaged,
        ..ElementsSpec::default()
    });
    let none: [&str; 0] = [];
    assert_eq!(
        errors_with(&mut spec, BasisSpec::ClampedFree(foreshortened(2))),
        none
    );
    assert_eq!(errors_with(&mut spec, averaged.clone()), none);
    assert_eq!(
        errors_with(&mut spec, BasisSpec::ClampedFree(foreshortened(0))),
        [
            "body[1].beam.basis.clamped_free.foreshortening: `foreshortening` has no effect: the beam does not bend"
        ]
    );
    assert_eq!(
        errors_with(&mut spec, BasisSpec::FreeFree(foreshortened(2))),
        [
            "body[1].beam.basis.free_free.foreshortening: `foreshortening` has no effect: foreshortening is measured from a clamped root"
        ]
    );
    spec.body[1].beam.as_mut().unwrap().axial_stiffness_n = None;
    assert_eq!(
        errors_with(&mut spec, BasisSpec::ClampedFree(foreshortened(2))),
        ["body[1].beam: foreshortening needs `axial_stiffness_n`"]
    );
    assert_eq!(
        errors_with(&mut spec, averaged),
        ["body[1].beam: averaged membrane strain needs `axial_stiffness_n`"]
    );
}

/// The coordinates of a foreshortened beam are known when it is built, and what is said of them is checked then.
#[test]
fn foreshortened_coordinates_are_checked_at_build() {
    let mut spec = ModelSpec::parse(TEMPLATE, &[]).unwrap();
    let name = spec.body[0].name.clone();
    let clamped = |foreshortening| {
        BasisSpec::ClampedFree(ModeCounts {
            bending_y: 2,
            foreshortening,
            ..ModeCounts::default()
        })
    };
    spec.body[1].beam.as_mut().unwrap().basis = clamped(false);
    let link = &mut spec.body[0];
    let beam = link.beam.as_mut().unwrap();
    beam.axial_stiffness_n = Some(1e6);
    beam.basis = clamped(true);
    link.initial = Some(InitialElasticSpec {
        elastic: [("stretch_3".to_owned(), 1e-3)].into(),
        ..InitialElasticSpec::default()
    });
    assert_eq!(link.elastic_coordinates(), None);
    spec.check().unwrap();
    let model = Model::build(&spec).unwrap();
    let at = model
        .linkage
        .positions
        .iter()
        .position(|coordinate| coordinate.name == format!("{name}.stretch_3"))
        .unwrap();
    assert_eq!(model.initial_position[at], 1e-3);

    let initial = spec.body[0].initial.as_mut().unwrap();
    initial.elastic = [("stretch_4".to_owned(), 1e-3)].into();
    spec.check().unwrap();
    let errors = Model::build(&spec).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].to_string(),
        format!(
            "body {name:?}: the body has no elastic coordinate \"stretch_4\", its coordinates are \
             bending_y_1, bending_y_2, stretch_1, stretch_2, stretch_3"
        )
    );
}

#[test]
fn elastic_coordinates() {
    assert_error(
        "bending_y_1 = 0.01",
        "bending_y_3 = 0.01",
        "body[1].initial.elastic.bending_y_3",
        "bending_y_3",
        "body \"boom\" has no elastic coordinate \"bending_y_3\"",
    );
    assert_error(
        "modal_ratios = [0.01, 0.02, 0.03, 0.04]",
        "modal_ratios = [0.01, 0.02, 0.03]",
        "body[1].damping.modal_ratios",
        "[0.01, 0.02, 0.03]",
        "`modal_ratios` has 3 entries, expected 4",
    );
    assert_error(
        "modal_ratios = [0.01, 0.02, 0.03, 0.04]",
        "modal_ratio = 1.0",
        "body[1].damping.modal_ratio",
        "1.0",
        "`modal_ratio` is 1, expected a ratio from 0 to below 1, where 0.01 is 1 % of critical damping",
    );
    assert_error(
        "node = [{ name = \"flange\"",
        "damping.modal_ratio = 0.01\nnode = [{ name = \"flange\"",
        "body[0].damping",
        "damping",
        "`damping` has no effect: a rigid body does not deform",
    );
    let mut rigid_beam = sound();
    let beam = rigid_beam.body[2].beam.as_mut().unwrap();
    beam.basis = BasisSpec::FreeFree(ModeCounts::default());
    beam.segments[0].elements = None;
    let errors = rigid_beam.check().unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].to_string(),
        "the beam \"stepped\" has no elastic coordinate"
    );
}
