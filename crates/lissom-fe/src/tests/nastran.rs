//! Meshes and matrices from bulk data of Nastran.

use super::text::{VERSION_2, told};
use super::{clamped, spec};
use crate::{
    Attached, Matrix, NEVER, dmig_matrices, is_dmig, parse_dmig, parse_gmsh, parse_nastran, reduce,
};

/// The two tetrahedra as bulk data of Nastran, in free, small and large fields.
pub(super) const NASTRAN: &str = "SOL 103\nCEND\nBEGIN BULK\n$ a comment\nGRID,1,,0.,0.,0.\nGRID           2       01.      0.      0.\n\
GRID*                  3                              0.              1.\n*                     0.\nGRID,4,,0.,0.,1.+0\n\
GRID    9               1.      1.      10.-1\nCTETRA,2,7,1,2,3,\n+,4\nCTETRA  3       8       2       9       3       4\n\
PSOLID,7,1\nPSOLID,8,1\nMAT1,1,2.1+5,,.3,7.85-9\nCONM2,5,9,0,2.-3\nRBE2,12,9,123456,1,THRU,3\nSPC1,4,123,1,2\nENDDATA\nanything\n";

/// Third format: the same mesh in the words of Nastran, with material and mass in tonnes and millimetres.
#[test]
fn nastran_files_are_read() {
    let mesh = parse_nastran(NASTRAN).unwrap();
    let gmsh = parse_gmsh(VERSION_2).unwrap();
    assert_eq!(mesh.nodes, gmsh.nodes);
    assert_eq!(mesh.numbers, gmsh.numbers);
    assert_eq!(mesh.solids[0].nodes, gmsh.solids[0].nodes);
    assert_eq!(mesh.solids[1].nodes, gmsh.solids[1].nodes);
    let groups: Vec<(&str, usize)> = (mesh.groups.iter())
        .map(|group| (group.name.as_str(), group.nodes.len()))
        .collect();
    assert_eq!(
        groups,
        [
            ("PSOLID 7", 4),
            ("PSOLID 8", 4),
            ("RBE2 12", 3),
            ("SPC1 4", 2)
        ]
    );
    let mut scaled = mesh.clone();
    scaled.scale(0.001, 1000.0);
    assert_eq!(scaled.materials.len(), 2);
    assert!((scaled.materials[1].youngs_modulus_pa / 2.1e11 - 1.0).abs() < 1e-12);
    assert!((scaled.materials[1].density_kg_per_m3 / 7850.0 - 1.0).abs() < 1e-12);
    assert!(scaled.lumps[0].node == 4 && (scaled.lumps[0].mass - 2.0).abs() < 1e-12);
    // weights instead of masses, in pounds and inches
    let weights = NASTRAN.replace("ENDDATA", "PARAM,WTMASS,.00259\nENDDATA");
    let weights = parse_nastran(&weights).unwrap();
    assert!((weights.lumps[0].mass / (2e-3 * 0.00259) - 1.0).abs() < 1e-12);
    assert!((weights.materials[1].density_kg_per_m3 / (7.85e-9 * 0.00259) - 1.0).abs() < 1e-12);
    assert!((weights.materials[1].youngs_modulus_pa / 2.1e5 - 1.0).abs() < 1e-12);
    // the mass is part of the body
    let mut own = spec(clamped(1), &["RBE2 12"], 0.3);
    own.material.clear();
    let body = reduce(&scaled, &own, &Attached::default(), NEVER)
        .unwrap()
        .body;
    assert!(
        (body.mass_kg - 2.0 - 7850.0 * 0.5e-9).abs() < 1e-9,
        "{}",
        body.mass_kg
    );
    // nothing turns a mass beside its node, nor one on a node without elements
    for (new, words) in [
        ("9,0,2.-3,1.", "has an offset or moments of inertia"),
        ("11,0,2.-3\nGRID,11,,5.,0.,0.", "hangs on no element"),
    ] {
        let mesh = parse_nastran(&NASTRAN.replace("9,0,2.-3", new)).unwrap();
        let error = reduce(&mesh, &own, &Attached::default(), NEVER).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    for end in 0..NASTRAN.len() {
        let _ = parse_nastran(&NASTRAN[..end]);
    }
    let wrong = |old: &str, new: &str| told(parse_nastran(&NASTRAN.replace(old, new)));
    for (old, new, line, words) in [
        ("GRID,4,,0.,0.,1.+0", "GRID,4,,0.,0.,one", 9, "\"one\""),
        (
            "GRID,4,,0.,0.,1.+0",
            "GRID,4,,0.,0.,1.+0,,,,,lost",
            9,
            "\"lost\" stands behind them",
        ),
        ("GRID,4,,", "GRID,1,,", 9, "two nodes 1"),
        ("GRID,4,,", "GRID,4,3,", 9, "basic coordinate system"),
        ("3       4\n", "3       5\n", 13, "node 5"),
        ("CTETRA  3", "CQUAD4  3", 13, "CQUAD4 is not read"),
        ("CTETRA  3", "CMASS2  3", 13, "CMASS2 is not read"),
        (
            "SPC1,4",
            "RBAR,4,1,2,123456\nSPC1,4",
            19,
            "RBAR is not read",
        ),
        (
            "SPC1,4",
            "INCLUDE 'rest.bdf'\nSPC1,4",
            19,
            "write all entries into one file",
        ),
        ("SPC1,4", "GRDSET,,3\nSPC1,4", 19, "basic coordinate system"),
        ("+,4\n", "", 11, "3 nodes"),
        (",.3,7.85-9", ",.6,7.85-9", 16, "Poisson's ratio 0.6"),
        ("9,0,2.-3", "9,1,2.-3", 17, "basic coordinate system"),
        ("0,2.-3", "0,-2.-3", 17, "has the mass -0.002"),
        (
            "CTETRA  3",
            "CTETRA  2",
            13,
            "two elements 2, the first in line 11",
        ),
        ("PSOLID,8,1", "PBAR,7,1,1.,1.,1.", 15, "two properties 7"),
        (
            "CONM2,5,9,0,2.-3",
            "CONM2,5,9,0,2.-3\nCONM2,5,9,0,2.-3",
            18,
            "two masses 5",
        ),
        (
            "CONM2,5",
            "MAT1,1,7.+4,,.3,2.7-9\nCONM2,5",
            17,
            "two materials 1",
        ),
        (
            "SPC1,4",
            "RBE2,12,9,123456,2\nSPC1,4",
            19,
            "two rigid elements 12",
        ),
        ("0,2.-3", "0,0.\n,1.,,1.,,,1.", 17, "has the mass 0"),
        (
            "0,2.-3",
            "0,2.-3\n,1.,,1.,,,3.",
            17,
            "no body has the moments",
        ),
    ] {
        let (found, message) = wrong(old, new);
        assert!(
            found == line && message.contains(words),
            "{found} {line}: {message}"
        );
    }
}

/// Second format: matrices as DMIG are those of triplets, in small and large fields.
#[test]
fn matrices_of_nastran_are_read() {
    let text = "DMIG    KAAX    0       6       2       0                       4\n\
DMIG*   KAAX                          10               1\n*                     10               14.0000000000D+00\n\
*                     10               2-1.000000000D+00\nDMIG,KAAX,10,2,,10,2,3.0\n\
DMIG,MAAX,0,6,2,0,,,2\nDMIG,MAAX,10,1,,10,1,2.0\nDMIG,MAAX,10,2,,10,2,2.0\n";
    assert!(is_dmig(text));
    let (mass, stiffness) = (
        parse_dmig(text, 'M').unwrap(),
        parse_dmig(text, 'K').unwrap(),
    );
    let matrices = dmig_matrices(mass, stiffness).unwrap();
    assert_eq!(matrices.unknowns, Some(vec![(10, 0), (10, 1)]));
    assert_eq!(
        matrices.stiffness,
        Matrix::parse("1 1 4.0\n1 2 -1.0\n2 2 3.0\n").unwrap()
    );
    assert_eq!(matrices.mass, Matrix::parse("1 1 2.0\n2 2 2.0\n").unwrap());
    for (text, words) in [
        (
            text.replace("KAAX", "BAAX"),
            "no matrix (DMIG) whose name begins with K",
        ),
        (
            text.replace("DMIG,KAAX,10", "DMIG,KBBX,10"),
            "several matrices",
        ),
        (
            text.replace("6       2       0", "6       3       0"),
            "real",
        ),
        (
            text.replace("10,2,3.0", "10,7,3.0"),
            "directions are 1 to 6",
        ),
    ] {
        let error = parse_dmig(&text, 'K').map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
