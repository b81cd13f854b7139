//! What a method needs to know before the first evaluation, and what it refuses.

use super::super::complement::Complement;
use super::super::error::{ClosureError, Singularity};
use super::super::multipliers::Multipliers;
use super::super::rank::{clear_rounding, row_rank};
use super::super::{Constraints, Workspace};
use super::{Loops, Method, SINGULAR, Watched, articulated_body, largest};
use crate::tree::Kinematics;
use crate::{ClosureMethod, Linkage, Place};
use lissom_spec::Tip;

/// Violation at the start from which a mechanism counts as not assembled. What is below is closed by the first
/// projection.
const ASSEMBLED: f64 = 1e-6;

impl Loops {
    /// The loops of a linkage that starts at `position`, `None` if it has none, or nothing in it that could open them.
    ///
    /// # Errors
    /// When the linkage cannot be run as its method asks.
    pub fn new(linkage: &Linkage, position: &[f64]) -> Result<Option<Self>, ClosureError> {
        if linkage.closures.is_empty() {
            return Ok(None);
        }
        check_tips(linkage)?;
        let system = &linkage.system;
        let n = system.velocity_count();
        let layout = system.layout();
        let given: Vec<usize> = linkage.prescribed.clone();
        let mut is_elastic = vec![false; n];
        for (k, body) in system.bodies().iter().enumerate() {
            is_elastic[layout.elastic_velocity[k]..][..body.modes()].fill(true);
        }
        let free = |wanted: bool| {
            (0..n)
                .filter(|&at| is_elastic[at] == wanted && !given.contains(&at))
                .collect::<Vec<_>>()
        };
        let (joints, elastic) = (free(false), free(true));

        let mut kinematics = Kinematics::new(system);
        let mut constraints = Constraints::new(system, &linkage.closures);
        let at_rest = vec![0.0; n];
        kinematics.update(system, position, &at_rest);
        constraints.update(
            system,
            &linkage.closures,
            &mut kinematics,
            position,
            &at_rest,
        );
        let (worst, violation) = largest(constraints.residual());
        if violation > ASSEMBLED * constraints.reach().max(1.0) {
            return Err(ClosureError::Open {
                equation: constraints.name(&linkage.closures, worst),
                violation,
            });
        }
        if n == 0 {
            return Ok(None);
        }

        let all = row_rank(constraints.jacobian(), n);
        let mut of_free = constraints.jacobian().to_vec();
        for row in of_free.chunks_exact_mut(n) {
            for &at in &given {
                row[at] = 0.0;
            }
        }
        let rank = row_rank(&of_free, n);
        if rank.independent.len() < all.independent.len() {
            let lost = rank
                .redundant
                .iter()
                .find(|row| !all.redundant.contains(row));
            return Err(ClosureError::Overdetermined {
                equation: constraints.name(&linkage.closures, lost.copied().unwrap_or(0)),
            });
        }
        let rows = rank.independent;

        let entries = [&given[..], &joints[..], &elastic[..]];
        let method = method(linkage, &constraints, &rows, entries)?;
        let mut loops = Self {
            multipliers: vec![0.0; constraints.len()],
            change: vec![0.0; n],
            automatic: linkage.closure_method == ClosureMethod::Automatic,
            chosen_condition: 1.0,
            repartitions: Vec::new(),
            worst: None,
            last: Watched {
                time: f64::NAN,
                step: f64::NAN,
                side: 0.0,
                position: position.to_vec(),
                velocity: at_rest.clone(),
            },
            articulated: articulated_body(linkage),
            workspace: Workspace::new(system),
            constraints,
            rows,
            redundant: rank.redundant,
            given,
            joints,
            elastic,
            method,
            kinematics,
        };
        loops.prepare(linkage, position, &at_rest);
        loops.chosen_condition = loops.condition();
        if let Method::Multipliers(multipliers) = &mut loops.method {
            multipliers.choose_reference(&loops.constraints, &loops.joints, &loops.elastic);
        }
        if let Method::Complement(complement) = &mut loops.method {
            let (condition, worst) = complement.condition();
            if condition >= SINGULAR {
                let Singularity {
                    condition,
                    coordinates,
                } = complement.singularity(linkage, condition, worst);
                return Err(ClosureError::Undetermined {
                    coordinates,
                    condition,
                });
            }
        }
        Ok(Some(loops))
    }
}

/// How accelerations are formed over independent equations `rows`, for entries of the velocity vector that are prescribed,
/// free joints and free elastic coordinates.
pub(super) fn method(
    linkage: &Linkage,
    constraints: &Constraints<f64>,
    rows: &[usize],
    [given, joints, elastic]: [&[usize]; 3],
) -> Result<Method, ClosureError> {
    let system = &linkage.system;
    let n = system.velocity_count();
    if let ClosureMethod::JointSpace { .. } | ClosureMethod::CartesianSpace { .. } =
        &linkage.closure_method
    {
        check_joints(linkage, constraints, rows, joints)?;
    }
    Ok(match &linkage.closure_method {
        ClosureMethod::Stabilized {
            frequency,
            damping_ratio,
        } => Method::Multipliers(
            Multipliers::new(system, rows.to_vec()).stabilized(*frequency, *damping_ratio),
        ),
        ClosureMethod::Projected => Method::Multipliers(Multipliers::new(system, rows.to_vec())),
        ClosureMethod::OperationalSpace => Method::Multipliers(
            Multipliers::new(system, rows.to_vec()).by_recursion(system, constraints),
        ),
        ClosureMethod::JointSpace {
            independent: chosen,
        } => {
            let dependent: Vec<usize> = (joints.iter().copied())
                .filter(|at| !chosen.contains(at))
                .collect();
            let independent: Vec<usize> = joints
                .iter()
                .chain(elastic)
                .copied()
                .filter(|at| !dependent.contains(at))
                .collect();
            if dependent.len() != rows.len() {
                return Err(ClosureError::IndependentCount {
                    what: "joint coordinates",
                    needed: joints.len().saturating_sub(rows.len()),
                    given: joints.len() - dependent.len(),
                });
            }
            Method::Complement(Complement::new(
                n,
                rows.to_vec(),
                dependent,
                independent,
                given.to_vec(),
            ))
        }
        ClosureMethod::CartesianSpace { marker, components } => {
            let marker = &linkage.markers[*marker];
            let Some(body) = marker.body else {
                return Err(ClosureError::MarkerOnGround {
                    marker: marker.name.clone(),
                });
            };
            if joints.len() != rows.len() + components.len() {
                return Err(ClosureError::IndependentCount {
                    what: "components of the marker's twist",
                    needed: joints.len().saturating_sub(rows.len()),
                    given: components.len(),
                });
            }
            let complement = Complement::new(
                n,
                rows.to_vec(),
                joints.to_vec(),
                elastic.to_vec(),
                given.to_vec(),
            );
            let place = marker.place.clone();
            Method::Complement(complement.with_marker(linkage, body, place, components.clone()))
        }
        ClosureMethod::Automatic => {
            let free = [joints, elastic].concat();
            let (dependent, independent) = free.split_at(rows.len());
            let (dependent, independent) = (dependent.to_vec(), independent.to_vec());
            let mut complement =
                Complement::new(n, rows.to_vec(), dependent, independent, given.to_vec());
            complement.choose(constraints, joints, elastic);
            Method::Complement(complement)
        }
    })
}

/// Refuses closures that joints alone cannot keep, since elastic coordinates have to give way.
fn check_joints(
    linkage: &Linkage,
    constraints: &Constraints<f64>,
    rows: &[usize],
    joints: &[usize],
) -> Result<(), ClosureError> {
    let mut of_joints: Vec<f64> = (rows.iter())
        .flat_map(|&row| joints.iter().map(move |&at| constraints.row(row)[at]))
        .collect();
    clear_rounding(of_joints.iter_mut(), constraints.jacobian().iter().copied());
    let lost = if joints.is_empty() {
        rows.first().copied()
    } else {
        let rank = row_rank(&of_joints, joints.len());
        rank.redundant.first().map(|&i| rows[i])
    };
    match lost {
        None => Ok(()),
        Some(row) => Err(ClosureError::NeedsBending {
            equation: constraints.name(&linkage.closures, row),
        }),
    }
}

/// Refuses bodies on the way to a closure whose poses and rates do not belong together.
fn check_tips(linkage: &Linkage) -> Result<(), ClosureError> {
    let bodies = linkage.system.bodies();
    for closure in &linkage.closures {
        for end in [&closure.from, &closure.to] {
            let mut at_node = matches!(end.place, Place::Node { .. });
            let mut next = end.body;
            while let Some(k) = next {
                let body = &bodies[k];
                let consistent = match body.fidelity.tip {
                    Tip::Rigid | Tip::Linear | Tip::RotationVectorPlainRate => false,
                    _ => !body.fidelity.frozen,
                };
                let floats = matches!(body.inboard, Place::Node { .. });
                if body.flexible.is_some() && (at_node || floats) && !consistent {
                    return Err(ClosureError::InconsistentTip {
                        body: body.name.clone(),
                    });
                }
                at_node = matches!(body.outboard, Place::Node { .. });
                next = body.parent;
            }
        }
    }
    Ok(())
}
