//! Where a nodal model starts: positions and rates of its degrees of freedom.
//!
//! Joints start where the file has them, or where loops are closed. A beam that starts deformed has the displacement field of its
//! elastic coordinates, $`r + \sum\psi_\alpha\eta_\alpha - \tfrac12\eta^TS\eta\,e_x`$ with sections turned by
//! $`\mathrm{Exp}(\sum\theta_\alpha\eta_\alpha)`$: its elements start with the deformations that this field has at their nodes, and with
//! their rates.

use std::collections::BTreeMap;

use crate::model::beam_of;
use lissom_nodal::{ElementId, Mechanism, NodeState};
use lissom_spatial::{RotationVector, Transform, Vector};
use lissom_spec::Fidelity;
use lissom_spec::spec::{BeamSpec, BodySpec};
use lissom_tree::flex::{Component, Damping, FlexibleBody, Node, SecondOrderBlock};

use super::NodalModelError;
use super::build::Builder;

/// Value and rate of a deformation at the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeformationStart {
    pub(super) element: ElementId,
    pub(super) deformation: usize,
    pub(super) value: f64,
    pub(super) rate: f64,
}

/// How a spherical or free joint starts: its positions, and their rates in the axes of its child.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallStart {
    pub(super) element: ElementId,
    pub(super) quaternion: [f64; 4],
    pub(super) offset: Vector<f64>,
    pub(super) angular_velocity: Vector<f64>,
    pub(super) velocity: Vector<f64>,
}

impl Builder<'_> {
    /// Notes the deformations with which the elements of a beam start; its frame at assembly is `frame`, its nodes are at
    /// `stations`.
    pub(super) fn bend(
        &mut self,
        (body, beam): (&BodySpec, &BeamSpec),
        frame: &Transform<f64>,
        stations: &[f64],
        elements: &[ElementId],
        kept: &[usize],
    ) -> Result<(), NodalModelError> {
        let Some(initial) = &body.initial else {
            return Ok(());
        };
        let refused = |source| NodalModelError::Reduction {
            name: body.name.clone(),
            source,
        };
        let reduced = beam_of(body, beam).reduce(stations, &Damping::None);
        let flexible = reduced.map_err(refused)?;
        let of = |values: &BTreeMap<String, f64>| -> Vec<f64> {
            let value = |name: &String| values.get(name).copied().unwrap_or(0.0);
            flexible.coordinates.iter().map(value).collect()
        };
        let spec = self.spec;
        let whole = spec.fidelity.resolve(Fidelity::DEFAULT);
        let fidelity = body.fidelity.map_or(whole, |own| own.resolve(whole));
        let field = Field {
            flexible: &flexible,
            shortens: fidelity.shortening.moves_points(),
            elastic: of(&initial.elastic),
            rate: of(&initial.elastic_rate),
        };
        let ends: Vec<[NodeState<f64>; 2]> = (flexible.nodes.iter())
            .map(|node| field.end(node, frame))
            .collect();
        for (pair, &element) in ends.windows(2).zip(elements) {
            let [[p, p_turn], [q, q_turn]] = [&pair[0], &pair[1]];
            let found = self
                .assembly
                .beam_deformations(element, [p, p_turn, q, q_turn]);
            for &deformation in kept {
                if let Some(&[value, rate]) = found.get(deformation) {
                    self.deformation_starts.push(DeformationStart {
                        element,
                        deformation,
                        value,
                        rate,
                    });
                    self.bent.push((element, deformation));
                }
            }
        }
        Ok(())
    }

    /// Positions and velocities of the degrees of freedom at the start.
    pub(super) fn start(&self, mechanism: &Mechanism) -> (Vec<f64>, Vec<f64>) {
        let mut position = mechanism.assembled_position();
        let mut velocity = vec![0.0; mechanism.dof_count()];
        for start in &self.deformation_starts {
            if let Some(dof) = mechanism.deformation_dof(start.element, start.deformation) {
                position[mechanism.dof_positions(dof).start] = start.value;
                velocity[dof] = start.rate;
            }
        }
        for start in &self.ball_starts {
            let rates = start.angular_velocity.0.into_iter().chain(start.velocity.0);
            for (index, rate) in (0..mechanism.deformations_of(start.element)).zip(rates) {
                let Some(dof) = mechanism.deformation_dof(start.element, index) else {
                    continue;
                };
                velocity[dof] = rate;
                let at = mechanism.dof_positions(dof);
                match index.checked_sub(3) {
                    None => position[at].copy_from_slice(&start.quaternion),
                    Some(axis) => position[at.start] = start.offset[axis],
                }
            }
        }
        (position, velocity)
    }
}

/// The displacement field of a beam at the start.
struct Field<'a> {
    flexible: &'a FlexibleBody,
    /// Whether points move to second order, as by the shortening of the bent axis.
    shortens: bool,
    elastic: Vec<f64>,
    rate: Vec<f64>,
}

impl Field<'_> {
    /// Point and orientation of a node on the beam whose frame is `frame`, with their velocities.
    fn end(&self, node: &Node, frame: &Transform<f64>) -> [NodeState<f64>; 2] {
        let sum = |shapes: &[[f64; 3]], values: &[f64]| {
            let terms = shapes.iter().zip(values);
            terms.fold(Vector([0.0; 3]), |sum, (shape, &value)| {
                sum + Vector(*shape).scale(value)
            })
        };
        let mut place = Vector(node.position) + sum(&node.displacement, &self.elastic);
        let mut velocity = sum(&node.displacement, &self.rate);
        let mut turn = sum(&node.rotation, &self.elastic);
        let mut turn_rate = sum(&node.rotation, &self.rate);
        if self.shortens {
            for (component, [value, rate]) in self.second_order(node) {
                let (axis, of, of_rate) = match component {
                    Component::Displacement(axis) => (axis, &mut place, &mut velocity),
                    Component::Rotation(axis) => (axis, &mut turn, &mut turn_rate),
                };
                of[axis] += value;
                of_rate[axis] += rate;
            }
        }
        let turn = RotationVector::new(turn);
        let angular_velocity = turn.rate_matrix() * turn_rate;
        let axes = frame.rotation;
        [
            NodeState {
                position: frame.point(place),
                velocity: axes * velocity,
                ..NodeState::resting()
            },
            NodeState {
                rotation: axes * turn.matrix() * axes.transpose(),
                velocity: axes * angular_velocity,
                ..NodeState::resting()
            },
        ]
    }

    /// $`\tfrac12\eta^TH\eta`$ at a node by components of its motion, and their rates.
    fn second_order(&self, node: &Node) -> Vec<(Component, [f64; 2])> {
        let Some(field) = &self.flexible.second_order else {
            return Vec::new();
        };
        let product = |block: &SecondOrderBlock, entries: &[f64], rows: &[f64], columns: &[f64]| {
            let (rows, columns) = (&rows[block.rows.clone()], &columns[block.columns.clone()]);
            let entries = entries.chunks_exact(columns.len().max(1));
            (rows.iter().zip(entries))
                .map(|(row, entries)| {
                    row * (entries.iter().zip(columns).map(|(h, x)| h * x)).sum::<f64>()
                })
                .sum::<f64>()
        };
        let part = |(block, entries): (&SecondOrderBlock, &[f64])| {
            let product = |rows, columns| product(block, entries, rows, columns);
            // a block beside the diagonal has a mirror image
            let half = if block.is_diagonal() { 0.5 } else { 1.0 };
            let value = half * product(&self.elastic, &self.elastic);
            let rate = product(&self.rate, &self.elastic) + product(&self.elastic, &self.rate);
            (block.component, [value, half * rate])
        };
        field.entries(&node.second_order).map(part).collect()
    }
}
