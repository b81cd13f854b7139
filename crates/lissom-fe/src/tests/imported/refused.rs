//! What is wrong with matrices.

use nalgebra::{DMatrix, DVector};

use super::super::{block, clamped, spec};
use super::{Written, imported, with_matrices, written};
use crate::{Attached, FeError, Kind, Matrix, parse_nodes, parse_unknowns};

/// What is wrong with matrices is named.
#[test]
fn bad_matrices_are_refused() {
    let text = |symmetry: &str, entries: &str| {
        format!("%%MatrixMarket matrix coordinate real {symmetry}\n2 2 3\n{entries}")
    };
    for (text, words) in [
        (
            text("general", "1 1 2.0\n1 2 1.0\n2 2 2.0\n"),
            "not symmetric: row 1, column 2",
        ),
        (
            text("symmetric", "1 1 2.0\n2 1 1.0\n"),
            "line 4: the file ends after 2 entries",
        ),
        (
            text("symmetric", "1 1 2.0\n3 1 1.0\n2 2 2.0\n"),
            "line 4: \"3\" is no row or column from 1 to 2",
        ),
        (
            text("symmetric", "1 1 2.0\n2 1 nan\n2 2 2.0\n"),
            "line 4: \"nan\" is no number",
        ),
        (
            text("symmetric", "1 1 2.0\n2 1 1.0\n1 2 1.0\n"),
            "entries in row 1, column 2 and in row 2, column 1",
        ),
        (text("hermitian", ""), "line 1: a hermitian matrix"),
        (
            "%%MatrixMarket matrix coordinate complex general\n".to_owned(),
            "line 1: a matrix of complex numbers",
        ),
        (
            "%%MatrixMarket matrix array real general\n2 3\n".to_owned(),
            "line 2: the matrix has 2 rows and 3 columns",
        ),
        (
            "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n".to_owned(),
            "ends after 2 entries",
        ),
        ("a b c\n".to_owned(), "line 1: \"a\" is no row"),
        (String::new(), "there are no entries"),
    ] {
        let error = Matrix::parse(&text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let array =
        Matrix::parse("%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n5\n").unwrap();
    assert_eq!(array, Matrix::parse("1 1 1\n1 2 2\n2 2 5\n").unwrap());
    for (text, words) in [
        ("1, 0, 0\n", "line 1: expected node, x, y, z"),
        (
            "node,x,y,z\n1,0,0,0\n1,1,0,0\n",
            "line 3: there are two nodes 1",
        ),
        ("1,0,zero,0\n", "line 1: node 1 is at \"zero\""),
        ("", "there are no nodes"),
    ] {
        let error = parse_nodes(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(
        parse_unknowns("1.1\n1.7\n")
            .unwrap_err()
            .to_string()
            .contains("line 2")
    );
    let mesh = block(Kind::Hexa8, [2, 1, 1], [0.4, 0.05, 0.03]);
    let own = spec(clamped(2), &["root"], 0.3);
    let with = with_matrices(own.clone(), 1.0, 1.0);
    let sound = || written(&mesh, &own, 1.0, 1.0);
    let refused = |change: &dyn Fn(&mut Written)| {
        let mut changed = sound();
        change(&mut changed);
        imported(&changed, &with, &Attached::default(), Vec::new())
            .unwrap_err()
            .to_string()
    };
    assert!(imported(&sound(), &with, &Attached::default(), Vec::new()).is_ok());
    for (error, words) in [
        (
            refused(&|own| own.stiffness[(0, 0)] *= 2.0),
            "resists a rigid displacement along x",
        ),
        (
            refused(&|own| own.nodes = own.nodes.replace("0.4", "0.5")),
            "resists a rigid rotation about",
        ),
        (refused(&|own| own.mass[(0, 0)] = -1.0), "which is negative"),
        (refused(&|own| own.mass.fill(0.0)), "singular"),
        (
            refused(&|own| {
                let most = 2.0 * own.mass.diagonal().max();
                (own.mass[(3, 30)], own.mass[(30, 3)]) = (most, most);
            }),
            "would have a negative energy",
        ),
        (
            refused(&|own| {
                let held: Vec<&str> = (own.nodes.lines())
                    .filter_map(|line| line.strip_suffix(", root")?.split(',').next())
                    .collect();
                let of_held = |line: &str| held.contains(&line.split('.').next().unwrap());
                let masses = own
                    .unknowns
                    .lines()
                    .map(|line| f64::from(u8::from(of_held(line))));
                own.mass = DMatrix::from_diagonal(&DVector::from_iterator(36, masses));
            }),
            "give mass to nodes that are not held",
        ),
        (refused(&|own| own.mass[(0, 0)] *= 2.0), "kg along x"),
        (
            refused(&|own| own.unknowns = own.unknowns.replacen(".1", ".2", 1)),
            "two rows",
        ),
        (
            refused(&|own| own.unknowns = own.unknowns.replacen(".1", ".4", 1)),
            "direction 1 of node",
        ),
        (
            refused(&|own| own.unknowns = own.unknowns.replacen("10.1", "9.1", 1)),
            "row 1 of the matrices is of node 9",
        ),
        (
            refused(&|own| own.unknowns.push_str("10.4\n")),
            "36 rows, and there are 37 lines",
        ),
        (
            refused(&|own| own.mass = own.mass.clone().remove_row(35).remove_column(35)),
            "has 36 rows, another one 35",
        ),
        (
            refused(&|own| own.nodes = own.nodes.replace("root", "flange")),
            "its groups are flange, tip",
        ),
    ] {
        assert!(error.contains(words), "{error}");
    }
    // two bars that nothing couples
    let two = Written {
        nodes: format!(
            "{}{}",
            sound().nodes,
            sound()
                .nodes
                .replace("node,x,y,z,group\n", "")
                .replace("root", "")
                .replace("tip", "")
                .lines()
                .enumerate()
                .fold(String::new(), |text, (index, line)| {
                    let (_, rest) = line.split_once(',').unwrap();
                    format!("{text}{},{rest}\n", 1000 + index)
                })
        ),
        unknowns: (0..36).fold(sound().unknowns, |text, row| {
            format!("{text}{}.{}\n", 1000 + row / 3, row % 3 + 1)
        }),
        mass: twice(&sound().mass),
        stiffness: twice(&sound().stiffness),
    };
    let apart = imported(&two, &with, &Attached::default(), Vec::new()).unwrap_err();
    assert!(
        matches!(
            apart,
            FeError::Uncoupled {
                parts: 2,
                nodes: 12,
                ..
            }
        ),
        "{apart}"
    );
}

fn twice(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let n = matrix.nrows();
    let mut both = DMatrix::zeros(2 * n, 2 * n);
    both.view_mut((0, 0), (n, n)).copy_from(matrix);
    both.view_mut((n, n), (n, n)).copy_from(matrix);
    both
}
