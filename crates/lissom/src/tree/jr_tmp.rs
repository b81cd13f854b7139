use super::*;
use crate::flex::*;
use crate::model::*;
use crate::spatial::*;
use serde_json::Value;

fn nums(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(a) => a.iter().flat_map(nums).collect(),
        v => vec![v.as_f64().unwrap()],
    }
}
fn v3(v: &Value) -> [f64; 3] {
    let n = nums(v);
    [n[0], n[1], n[2]]
}
fn m3(v: &Value) -> [[f64; 3]; 3] {
    let n = nums(v);
    std::array::from_fn(|i| std::array::from_fn(|j| n[3 * i + j]))
}

#[test]
fn cases() {
    let root: Value = serde_json::from_str(include_str!(
        "../../../../validation/jain_rodriguez_1992/cases.json"
    ))
    .unwrap();
    for case in root["cases"].as_array().unwrap() {
        let nb = case["bodies"].as_array().unwrap();
        let total = nb.len();
        let mut bodies = vec![];
        for k in (0..total).rev() {
            let b = &nb[k];
            let n = b["n_m"].as_u64().unwrap() as usize;
            let mut nodes = vec![];
            let mut mass_nodes = vec![];
            let mut rigid = RigidInertia::zero();
            for node in b["nodes"].as_array().unwrap() {
                let pi = nums(&node["Pi"]);
                let nd = Node {
                    position: v3(&node["l0"]),
                    displacement: (0..n)
                        .map(|a| std::array::from_fn(|i| pi[(3 + i) * n + a]))
                        .collect(),
                    rotation: (0..n)
                        .map(|a| std::array::from_fn(|i| pi[i * n + a]))
                        .collect(),
                    shortening: vec![],
                };
                let j = m3(&node["J"]);
                let tr = 0.5 * (j[0][0] + j[1][1] + j[2][2]);
                let second: [[f64; 3]; 3] = std::array::from_fn(|r| {
                    std::array::from_fn(|c| if r == c { tr } else { 0.0 } - j[r][c])
                });
                let m = node["m"].as_f64().unwrap();
                let p = v3(&node["p"]);
                rigid = rigid
                    + RigidInertia::from_moments(m, Vector(p).scale(m), Matrix(second))
                        .to_parent(&Transform::new(Matrix::identity(), Vector(nd.position)));
                mass_nodes.push(MassNode {
                    node: nd.clone(),
                    mass: m,
                    centre: p,
                    second_moment: second,
                });
                nodes.push(nd);
            }
            let flexible = (n > 0).then(|| FlexibleBody {
                coordinates: (0..n).map(|i| format!("e{i}")).collect(),
                mass: rigid.mass,
                first_moment: rigid.first_moment.0,
                second_moment: [[0.0; 3]; 3],
                integrals: ModalIntegrals {
                    first: vec![],
                    with_position: vec![],
                    products: vec![],
                    mass_matrix: vec![],
                },
                stiffness: nums(&b["Kff"]),
                damping: vec![0.0; n * n],
                nodes: nodes.clone(),
                shortening: None,
                mass_nodes,
            });
            let h = &b["hinge"];
            let rp = Matrix(m3(&h["Rp"]));
            let rm = Matrix(m3(&h["Rm"]));
            let d = b["d"].as_u64().unwrap() as usize;
            let parent = (k + 1 < total).then(|| total - 1 - (k + 1));
            let outboard = if let Some(p) = parent {
                let pb: &Body = &bodies[p];
                let t = nb[k + 1]["t"].as_u64().unwrap() as usize;
                let pos = v3(&nb[k + 1]["nodes"][t]["l0"]);
                if pb.flexible.is_some() {
                    Place::Node {
                        index: t,
                        offset: Transform::new(rp, Vector::zero()),
                    }
                    .simplified(pb.flexible.as_ref())
                } else {
                    Place::Fixed(Transform::new(rp, Vector(pos)))
                }
            } else {
                Place::Fixed(Transform::new(rp, Vector(v3(&h["r0"]))))
            };
            let inboard = if flexible.is_some() {
                Place::Node {
                    index: d,
                    offset: Transform::new(rm, Vector::zero()),
                }
                .simplified(flexible.as_ref())
            } else {
                Place::Fixed(Transform::new(rm, Vector(nodes[d].position)))
            };
            let axis = Vector(v3(&h["axis"]));
            let kind = if h["type"] == "revolute" {
                JointKind::Revolute { axis }
            } else {
                JointKind::Prismatic { axis }
            };
            bodies.push(Body {
                name: format!("b{k}"),
                parent,
                joint: Joint {
                    name: format!("j{k}"),
                    kind,
                    armature: 0.0,
                    prescribed: false,
                },
                outboard,
                inboard,
                rigid,
                flexible,
            });
        }
        let offsets = nums(&case["dof_offsets"]);
        let ndof = case["ndof"].as_u64().unwrap() as usize;
        // map: ours -> theirs
        let mut map = vec![];
        for k in (0..total).rev() {
            let n = nb[k]["n_m"].as_u64().unwrap() as usize;
            let o = offsets[k] as usize;
            map.push(o + n);
            for a in 0..n {
                map.push(o + a);
            }
        }
        for (name, fid) in [
            ("full", Fidelity::JAIN_RODRIGUEZ),
            ("ruthless", Fidelity::JAIN_RODRIGUEZ_RUTHLESS),
        ] {
            let system = System::new(bodies.clone(), Vector(v3(&case["gravity"])), fid);
            let pick = |key: &str| -> Vec<f64> {
                let x = nums(&case[key]);
                map.iter().map(|&i| x[i]).collect()
            };
            let (q, v, vdot, tau) = (pick("q"), pick("v"), pick("vdot"), pick("tau"));
            let mut kin = Kinematics::<f64>::new(&system);
            kin.update(&system, &q, &v);
            let mut m = vec![0.0; ndof * ndof];
            mass_matrix(&system, &kin, &mut CompositeBody::new(&system), &mut m);
            let mut t = vec![0.0; ndof];
            inverse_dynamics(
                &system,
                &kin,
                &vdot,
                &mut InverseDynamics::new(&system),
                &mut t,
            );
            let mut ab = ArticulatedBody::new(&system);
            ab.factor(&system, &kin);
            let mut acc = vec![0.0; ndof];
            ab.forward_dynamics(&system, &kin, &tau, &mut acc);
            let r = &case[name];
            let rel = |a: &[f64], b: &[f64]| {
                let s = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                a.iter()
                    .zip(b)
                    .map(|(x, y)| (x - y).abs())
                    .fold(0.0, f64::max)
                    / s
            };
            let mref = nums(&r["mass_matrix"]);
            let mref: Vec<f64> = (0..ndof * ndof)
                .map(|x| mref[map[x / ndof] * ndof + map[x % ndof]])
                .collect();
            let pr = |key: &str| -> Vec<f64> {
                let x = nums(&r[key]);
                map.iter().map(|&i| x[i]).collect()
            };
            println!(
                "{} {name} M {:.1e} T {:.1e} acc {:.1e}",
                case["name"],
                rel(&m, &mref),
                rel(&t, &pr("inverse_dynamics_T")),
                rel(&acc, &pr("forward_dynamics_vdot"))
            );
        }
    }
}
