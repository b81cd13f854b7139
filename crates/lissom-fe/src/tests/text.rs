//! Meshes from text, and what is wrong with them.

use super::nastran::NASTRAN;
use super::{block, clamped, spec};
use crate::{Attached, FeError, Kind, NEVER, parse_abaqus, parse_gmsh, parse_nastran, reduce};

const NODES: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
];

/// Two tetrahedra in two physical groups and a triangle in a third, as version 2.2.
pub(super) const VERSION_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"root\"\n3 2 \"steel part\"\n$EndPhysicalNames\n\
$Comments\nanything\n$EndComments\n\
$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n9 1 1 1\n$EndNodes\n\
$Elements\n3\n1 2 2 1 7 1 2 3\n2 4 2 2 1 1 2 3 4\n3 4 2 5 1 2 9 3 4\n$EndElements\n";

/// The same as version 4.1.
const VERSION_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"root\"\n3 2 \"steel part\"\n$EndPhysicalNames\n\
$Entities\n1 0 1 2\n1 0 0 0 0\n7 0 0 0 1 1 0 1 1 0\n1 0 0 0 1 1 1 1 2 1 7\n2 0 0 0 1 1 1 1 5 0\n$EndEntities\n\
$Nodes\n2 5 1 9\n2 7 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n3 1 0 2\n4\n9\n0 0 1\n1 1 1\n$EndNodes\n\
$Elements\n3 3 1 3\n2 7 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 4\n3 2 4 1\n3 2 9 3 4\n$EndElements\n";

/// Both versions say the same.
#[test]
fn both_versions_are_read() {
    let mesh = parse_gmsh(VERSION_2).unwrap();
    assert_eq!(mesh.nodes, NODES);
    assert_eq!(mesh.solids.len(), 2);
    assert_eq!(mesh.solids[1].nodes, [1, 4, 2, 3]);
    let names: Vec<&str> = mesh
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["root", "steel part", "5"]);
    assert_eq!(mesh.solids[0].groups, [1]);
    assert!(mesh.groups[0].nodes.iter().eq([0, 1, 2].iter()));
    assert_eq!(parse_gmsh(VERSION_4).unwrap(), mesh);
}

/// Every shortening of the text and every word replaced is an error or another mesh, never a panic.
#[test]
fn damaged_texts_are_refused_with_their_line() {
    for text in [VERSION_2, VERSION_4] {
        for end in 0..text.len() {
            let _ = parse_gmsh(&text[..end]);
        }
        let words: Vec<&str> = text.split(' ').collect();
        for index in 0..words.len() {
            for word in ["x", "-1", "1e999", "99999999999999999999", ""] {
                let mut damaged = words.clone();
                damaged[index] = word;
                let _ = parse_gmsh(&damaged.join(" "));
            }
        }
    }
    let wrong = |old: &str, new: &str| {
        parse_gmsh(&VERSION_2.replace(old, new))
            .map_or_else(|error| error, |mesh| mesh.unread.unwrap())
            .to_string()
    };
    for (old, new, words) in [
        ("2.2 0", "2.2 1", "line 2: the file is binary"),
        ("2.2 0", "3.0 0", "line 2: version 3.0"),
        ("1 2 3 4\n", "1 2 3 8\n", "line 23: element 2 has node 8"),
        (
            "9 1 1 1",
            "9 1 x 1",
            "line 18: a coordinate is expected, found \"x\"",
        ),
        ("2 4 2 2 1 1 2 3 4", "2 6 2 2 1 1 2 3 4", "is a prism"),
        ("$EndElements", "", "ends before $EndElements"),
    ] {
        let error = wrong(old, new);
        assert!(error.contains(words), "{error}");
    }
    assert!(
        parse_gmsh("no mesh")
            .unwrap_err()
            .to_string()
            .contains("$MeshFormat")
    );
}

/// What is wrong with a mesh is named.
#[test]
fn bad_meshes_are_refused() {
    let sound = block(Kind::Hexa20, [2, 1, 1], [1.0, 0.1, 0.1]);
    let of = |change: &dyn Fn(&mut crate::Mesh)| {
        let mut mesh = sound.clone();
        change(&mut mesh);
        reduce(
            &mesh,
            &spec(clamped(1), &["root", "tip"], 0.3),
            &Attached::default(),
            NEVER,
        )
        .unwrap_err()
    };
    assert!(matches!(of(&|mesh| mesh.solids.clear()), FeError::NoSolids));
    let repeated = of(&|mesh| mesh.solids[1].nodes[3] = mesh.solids[1].nodes[2]);
    assert!(
        matches!(repeated, FeError::RepeatedNode { element: 2, .. }),
        "{repeated}"
    );
    let inverted = of(&|mesh| {
        let nodes = &mut mesh.solids[1].nodes;
        for (low, high) in [
            (0, 4),
            (1, 5),
            (2, 6),
            (3, 7),
            (8, 12),
            (9, 13),
            (10, 14),
            (11, 15),
        ] {
            nodes.swap(low, high);
        }
    });
    assert!(
        matches!(inverted, FeError::Inverted { element: 2, .. }),
        "{inverted}"
    );
    let apart = of(&|mesh| {
        let far: Vec<usize> = mesh.solids[1].nodes.clone();
        let first = mesh.nodes.len();
        for &node in &far {
            let place = mesh.nodes[node];
            mesh.nodes.push(place);
        }
        mesh.solids[1].nodes = (first..first + far.len()).collect();
    });
    assert!(
        matches!(
            apart,
            FeError::Unconnected {
                parts: 2,
                elements: 1,
                ..
            }
        ),
        "{apart}"
    );
    let empty = of(&|mesh| mesh.groups[1].nodes.clear());
    assert!(matches!(&empty, FeError::EmptyInterface { interface, .. } if interface == "tip"));
    let line = of(&|mesh| {
        let two: Vec<usize> = mesh.groups[1].nodes.iter().copied().take(2).collect();
        mesh.groups[1].nodes = two.into_iter().collect();
    });
    assert!(
        matches!(
            line,
            FeError::InterfaceOnLine { .. } | FeError::EmptyInterface { .. }
        ),
        "{line}"
    );
    let shared = of(&|mesh| mesh.groups[1].nodes = mesh.groups[0].nodes.clone());
    assert!(matches!(shared, FeError::SharedNodes { .. }));
    let unknown = of(&|mesh| "flange".clone_into(&mut mesh.groups[1].name));
    assert!(unknown.to_string().contains("root, flange"), "{unknown}");
    let mut materials = spec(clamped(1), &["root"], 0.3);
    materials.material[0].group = Some("tip".to_owned());
    let bare = reduce(&sound, &materials, &Attached::default(), NEVER).unwrap_err();
    assert!(
        matches!(
            bare,
            FeError::NoMaterial {
                group: None,
                count: 2,
                element: 1
            }
        ),
        "{bare}"
    );
    let many = reduce(
        &sound,
        &spec(clamped(100_000), &["root"], 0.3),
        &Attached::default(),
        NEVER,
    )
    .unwrap_err();
    assert!(matches!(many, FeError::TooManyModes { .. }), "{many}");
}

/// Limit: halves that share an edge alone turn about it without resistance, however many fronts of the factorisation lie between.
#[test]
fn halves_joined_by_an_edge_are_refused() {
    for kind in [Kind::Hexa8, Kind::Hexa20] {
        for cells in [[4, 1, 1], [12, 3, 3], [20, 4, 2], [16, 3, 5]] {
            let mut mesh = block(kind, cells, [1.0, 0.1, 0.1]);
            let middle = 0.5;
            let nodes = mesh.nodes.len();
            let mut copies = std::collections::BTreeMap::new();
            for solid in &mut mesh.solids {
                let is_beyond = solid
                    .nodes
                    .iter()
                    .all(|&node| mesh.nodes[node][0] > middle - 1e-9);
                for node in solid.nodes.iter_mut().filter(|_| is_beyond) {
                    let [x, _, z] = mesh.nodes[*node];
                    if (x - middle).abs() < 1e-9 && z < 0.05 - 1e-9 {
                        let next = nodes + copies.len();
                        *node = *copies.entry(*node).or_insert(next);
                    }
                }
            }
            let mut places: Vec<(usize, usize)> =
                copies.into_iter().map(|(of, new)| (new, of)).collect();
            places.sort_unstable();
            for (_, of) in places {
                mesh.nodes.push(mesh.nodes[of]);
            }
            let found = reduce(
                &mesh,
                &spec(clamped(2), &["root"], 0.3),
                &Attached::default(),
                NEVER,
            );
            assert!(
                matches!(found, Err(FeError::NotHeld { .. })),
                "{kind:?} {cells:?}"
            );
        }
    }
}

/// By construction: elements are in several groups, any of which may have the material; one that is written once for every group is one.
#[test]
fn elements_may_be_in_several_groups() {
    let part = |name: &str, factor: f64| {
        let mut material = spec(clamped(1), &[], 0.3).material.remove(0);
        material.group = Some(name.to_owned());
        material.density_kg_per_m3 *= factor;
        material
    };
    let mut mesh = block(Kind::Hexa20, [2, 1, 1], [1.0, 0.1, 0.1]);
    for name in ["all", "half"] {
        mesh.groups.push(crate::Group {
            name: name.to_owned(),
            ..crate::Group::default()
        });
    }
    mesh.solids[0].groups = vec![2];
    mesh.solids[1].groups = vec![2, 3];
    let with = |materials: Vec<_>| {
        let mut own = spec(clamped(1), &["root"], 0.3);
        own.material.retain(|_| materials.len() == 1);
        own.material.extend(materials);
        reduce(&mesh, &own, &Attached::default(), NEVER)
    };
    // one half is three times as heavy as the other
    let mass = with(vec![part("half", 3.0)]).unwrap().body.mass_kg;
    assert!((mass / (7800.0 * 0.01) - 2.0).abs() < 1e-12, "{mass}");
    let two = with(vec![part("half", 3.0), part("all", 1.0)]).unwrap_err();
    assert!(
        matches!(two, FeError::MaterialsOfElement { element: 2, .. }),
        "{two}"
    );
    let idle = with(vec![part("tip", 1.0)]).unwrap_err();
    assert!(matches!(idle, FeError::IdleMaterial { .. }), "{idle}");
    let once = parse_gmsh(VERSION_2).unwrap();
    let lines: Vec<&str> = VERSION_2.lines().collect();
    let start = lines.iter().position(|line| *line == "$Elements").unwrap();
    let count: usize = lines[start + 1].trim().parse().unwrap();
    let solid = lines
        .iter()
        .position(|line| line.split(' ').nth(1) == Some("4"))
        .unwrap();
    let mut words: Vec<&str> = lines[solid].split(' ').collect();
    (words[0], words[3]) = ("99", "-7");
    let again = format!("{}\n{}", lines[solid], words.join(" "));
    let twice = VERSION_2
        .replacen(
            &format!("$Elements\n{count}"),
            &format!("$Elements\n{}", count + 1),
            1,
        )
        .replacen(lines[solid], &again, 1);
    let twice = parse_gmsh(&twice).unwrap();
    assert_eq!(twice.solids.len(), once.solids.len());
    let groups = twice.solids[0].groups.iter();
    let names: Vec<&str> = groups
        .map(|&group| twice.groups[group].name.as_str())
        .collect();
    assert_eq!(names, ["steel part", "7"]);
}

/// The two tetrahedra as an input file of Abaqus, with sets in every way that they can be written.
const ABAQUS: &str = "*Heading\n an arm\n** a comment\n*NODE, NSET=All\n1, 0., 0., 0.\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1.d0\n9, 1, 1, 1\n\
*Element, type=C3D4, elset=\"Steel Part\"\n2, 1, 2,\n 3, 4\n*ELEMENT, TYPE=C3D4, ELSET=rest\n3, 2, 9, 3, 4\n\
*SURFACE, NAME=root, TYPE=ELEMENT\nsteel part, S1\n*NSET, NSET=same\n1, 2\n 3\n*NSET, NSET=odd, GENERATE\n1, 3, 2\n\
*ELSET, ELSET=both\nrest, 2\n*STEP\n1, 2, 3\n*END STEP\n";

/// Second format: the same mesh in the words of Abaqus, its sets as groups.
#[test]
fn abaqus_files_are_read() {
    let mesh = parse_abaqus(ABAQUS).unwrap();
    let gmsh = parse_gmsh(VERSION_2).unwrap();
    assert_eq!(mesh.nodes, gmsh.nodes);
    let corners = |mesh: &crate::Mesh| -> Vec<Vec<usize>> {
        mesh.solids
            .iter()
            .map(|solid| solid.nodes.clone())
            .collect()
    };
    assert_eq!(corners(&mesh), corners(&gmsh));
    let nodes = |name: &str| -> Vec<usize> {
        let group = mesh.groups.iter().find(|group| group.name == name);
        group.unwrap().nodes.iter().copied().collect()
    };
    assert!(mesh.solids[0].groups.contains(&1));
    assert_eq!(nodes("Steel Part"), [0, 1, 2, 3]);
    assert_eq!(nodes("root"), [0, 1, 2]);
    assert_eq!(nodes("same"), [0, 1, 2]);
    assert_eq!(nodes("odd"), [0, 2]);
    assert_eq!(nodes("both"), nodes("All"));
    for end in 0..ABAQUS.len() {
        let _ = parse_abaqus(&ABAQUS[..end]);
    }
    let words: Vec<&str> = ABAQUS.split(' ').collect();
    for index in 0..words.len() {
        for word in ["x,", "-1,", "1e999,", "99999999999999999999,", ",", "0,"] {
            let mut damaged = words.clone();
            damaged[index] = word;
            let _ = parse_abaqus(&damaged.join(" "));
        }
    }
    let wrong = |old: &str, new: &str| told(parse_abaqus(&ABAQUS.replace(old, new)));
    for (old, new, line, words) in [
        ("9, 1, 1, 1", "9, 1, one, 1", 9, "\"one\""),
        ("9, 1, 1, 1", "4, 1, 1, 1", 9, "two nodes 4"),
        ("2, 9, 3, 4", "2, 8, 3, 4", 14, "node 8"),
        ("3, 2, 9, 3, 4", "3, 2, 9, 3", 14, "3 nodes"),
        ("type=C3D4", "type=C3D6", 12, "C3D6"),
        ("steel part, S1", "steel part, S5", 16, "S5"),
        ("steel part, S1", "iron, S1", 16, "iron"),
        ("1, 3, 2\n*ELSET", "1, 5\n*ELSET", 21, "no node 5"),
        ("*STEP", "*INSTANCE", 24, "flat"),
        ("*STEP", "*Part, name=arm", 24, "Do not use parts"),
        (
            "*STEP",
            "*SHELL SECTION, ELSET=rest",
            24,
            "SHELL SECTION is not read",
        ),
        ("*STEP", "*TIE", 24, "TIE is not read"),
        ("*STEP", "*MASS", 24, "does not name its elements"),
        (
            "*STEP",
            "*MASS, ELSET=rest\n0.5\n*STEP",
            25,
            "element 3 has not one node",
        ),
    ] {
        let (found, message) = wrong(old, new);
        assert!(
            found == line && message.contains(words),
            "{found} {line}: {message}"
        );
    }
    assert!(parse_abaqus("").is_err());
}

/// By counting: every element of the set of a `*MASS` is that heavy, in the units of the file.
#[test]
fn masses_of_abaqus_are_part_of_the_body() {
    let masses =
        "*ELEMENT, TYPE=MASS, ELSET=rotors\n11, 9\n12, 4\n*MASS, ELSET=Rotors\n2.5e-3,\n*STEP";
    let mut mesh = parse_abaqus(&ABAQUS.replace("*STEP", masses)).unwrap();
    mesh.scale(0.001, 1000.0);
    let own = spec(clamped(1), &["root"], 0.3);
    let mass = |mesh: &crate::Mesh| {
        let made = reduce(mesh, &own, &Attached::default(), NEVER);
        made.unwrap().body.mass_kg
    };
    let with = mass(&mesh);
    mesh.lumps.clear();
    assert!((with - mass(&mesh) - 5.0).abs() < 1e-9, "{with}");
}

/// What a parser says of a text: the error, or what it leaves unread.
pub(super) fn told(parsed: Result<crate::Mesh, FeError>) -> (usize, String) {
    match parsed.map(|mesh| mesh.unread) {
        Err(FeError::Text { line, message }) | Ok(Some(FeError::Text { line, message })) => {
            (line, message)
        }
        other => panic!("{other:?}"),
    }
}

/// By construction: a mesh with elements that are not read is no body, and its nodes and groups serve matrices.
#[test]
fn what_is_not_read_leaves_nodes_and_groups() {
    let shells = "CQUAD4,4,7,1,2,3,4\nRBE2,12";
    let mesh = parse_nastran(&NASTRAN.replace("RBE2,12", shells)).unwrap();
    assert_eq!(mesh.nodes, parse_nastran(NASTRAN).unwrap().nodes);
    assert_eq!(mesh.groups[2].name, "RBE2 12");
    let mut own = spec(clamped(1), &["RBE2 12"], 0.3);
    own.material.clear();
    let error = reduce(&mesh, &own, &Attached::default(), NEVER).unwrap_err();
    assert!(
        error.to_string().contains("line 18: CQUAD4 is not read"),
        "{error}"
    );
    let prism = parse_gmsh(&VERSION_2.replace("2 4 2 2 1 1 2 3 4", "2 6 2 2 1 1 2 3 4")).unwrap();
    assert_eq!(prism.solids.len(), 1);
}

/// By construction: a surface and a volume of one number are told apart by what names them.
#[test]
fn surfaces_and_volumes_may_have_one_number() {
    let mut mesh = block(Kind::Hexa20, [2, 1, 1], [1.0, 0.1, 0.1]);
    mesh.groups.push(crate::Group {
        name: "root".to_owned(),
        nodes: (0..mesh.nodes.len()).collect(),
    });
    for solid in &mut mesh.solids {
        solid.groups = vec![2];
    }
    let mut own = spec(clamped(1), &["root", "tip"], 0.3);
    own.material[0].group = Some("root".to_owned());
    for groups in [[0, 1, 2], [2, 1, 0]] {
        let mut turned = mesh.clone();
        turned.groups = groups.map(|group| mesh.groups[group].clone()).into();
        for solid in &mut turned.solids {
            solid.groups = vec![groups.iter().position(|&group| group == 2).unwrap()];
        }
        let body = reduce(&turned, &own, &Attached::default(), NEVER)
            .unwrap()
            .body;
        assert!((body.mass_kg / 78.0 - 1.0).abs() < 1e-12);
        assert!(body.nodes[0].position_m.iter().all(|x| x.abs() < 1e-12));
    }
}

/// Closed form: a face of a quadratic element has its corners and the middles of its edges.
#[test]
fn faces_of_quadratic_elements_have_their_middles() {
    let nodes: Vec<String> = (1..=20)
        .map(|node| format!("{node}, {node}, 0, 0"))
        .collect();
    let all: Vec<String> = (1..=20).map(|node| node.to_string()).collect();
    let text = format!(
        "*NODE\n{}\n*ELEMENT, TYPE=C3D20R\n1, {}\n*SURFACE, NAME=top\n1, S2\n",
        nodes.join("\n"),
        all.join(", ")
    );
    let mesh = parse_abaqus(&text).unwrap();
    let top: Vec<usize> = mesh.groups[0].nodes.iter().map(|place| place + 1).collect();
    assert_eq!(top, [5, 6, 7, 8, 13, 14, 15, 16]);
}

/// By construction: few lines of sets that name more than fits into memory, or than can be gone through in time, are refused.
#[test]
fn sets_of_sets_are_bounded() {
    let line_and_message = |refused: Result<crate::Mesh, FeError>| match refused {
        Err(FeError::Text { line, message }) => (line, message),
        other => panic!("{:?}", other.map(|mesh| mesh.groups.len())),
    };
    let many = "1,THRU,15000000,".repeat(2);
    let text = NASTRAN.replace("SPC1,4,123,1,2\n", &format!("SPC1,4,123,{many}\n"));
    let (line, message) = line_and_message(parse_nastran(&text));
    assert!(line == 19 && message.contains("THRU"), "{line}: {message}");

    let lines = |line: &dyn Fn(usize) -> String| (100..5100).map(line).collect::<Vec<_>>().concat();
    let grids = lines(&|node| format!("GRID,{node},,1.\n"));
    let sets = "SPC1,4,123,100,THRU,5099\n".repeat(5000);
    let text = NASTRAN.replace("ENDDATA", &format!("{grids}{sets}ENDDATA"));
    let (_, message) = line_and_message(parse_nastran(&text));
    assert!(message.contains("20000000 nodes"), "{message}");

    let nodes = lines(&|node| format!("{node}, 1\n"));
    for (set, count) in [("all\n", 5000), ("", 0)] {
        let sets = set.repeat(count);
        let sets = format!("{nodes}*NSET, NSET=again\n{sets}*Element");
        let text = ABAQUS.replacen("*Element", &sets, 1);
        let read = parse_abaqus(&text);
        if count == 0 {
            assert_eq!(read.unwrap().nodes.len(), 5005);
        } else {
            let (_, message) = line_and_message(read);
            assert!(message.contains("20000000 nodes"), "{message}");
        }
    }
}
