//! Tangent of an implicit step in nodal coordinates.
//!
//! A step corrects the accelerations of the degrees of freedom by $`\delta`$, their velocities by $`w_v\,\delta`$ and their positions by
//! $`w_p\,\delta`$. With the nodes that follow, $`\zeta = D\mathcal F\,\delta`$, the lack $`r`$ of the degrees of freedom vanishes to first order where
//!
//! ```math
//! \begin{bmatrix} A & C^T \\ C & 0 \end{bmatrix} \begin{bmatrix} \zeta \\ \mu \end{bmatrix} = \begin{bmatrix} J_q^T\,r \\ 0 \end{bmatrix} ,
//! \qquad \delta = J_q\,\zeta , \qquad
//! A = M + w_p\Bigl[\sum_i s_i\,D^2\mathcal D_i + J^T K J\Bigr] + w_v\,J^T(\tau K + D)\,J
//! ```
//!
//! with the rows $`J_q`$ of what is a degree of freedom, the stress resultants $`s_i`$ of all deformations, held ones
//! included, and their second derivatives, which dual numbers give. Springs, dampers, friction, gears and feedback
//! add to $`K`$ and $`D`$ of the deformations that they act on.
//!
//! What is left out changes with the rates of the mechanism: how inertial forces depend on positions and velocities,
//! and how the transfer functions do. Beside the mass matrix these parts are as small as the turn $`\omega h`$ of the mechanism in a step,
//! by which the iteration contracts; nothing that is stiff is among them. A load $`f`$ that turns with a node adds $`w_p\,\tilde f`$ between the
//! coordinates that it pushes and the rotation of that node.

use std::collections::BTreeMap;

use lissom_spatial::{Dual, Matrix, Scalar, Vector};

use super::element::{ElementId, Gradient, MOST_DEFORMATIONS};
use super::factor::SingularColumn;
use super::mechanism::{Mechanism, Place};
use super::node::{NodeId, NodeState};
use super::pass::Pass;
use super::saddle::Saddle;

/// A displacement or turn of one node.
type Moved = Dual<f64, 3>;

/// Most nodes of an element.
const MOST_NODES: usize = 4;

/// A deformation with a weight.
pub type Weighted = (ElementId, usize, f64);

/// The tangent of a step, formed in some state.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    saddle: Saddle,
    /// Gradients where it was formed.
    gradient: Vec<Gradient<f64>>,
    /// For every coupled damping and deformation in it, the places of its nodes in the group.
    sites: Vec<Vec<[usize; MOST_NODES]>>,
    /// Group of nodes of two elements that are pulled together.
    pairs: BTreeMap<[usize; 2], usize>,
    /// Group of every load that turns, and the places there of the node that it pushes and of the one that it turns with.
    turning: Vec<(usize, [usize; 2])>,
    loads: Vec<Vector<f64>>,
}

impl Tangent {
    /// For a mechanism in which pulls couple these elements, and loads on one node turn with another.
    pub(super) fn new(
        mechanism: &Mechanism,
        coupled: &[[ElementId; 2]],
        turning: &[[NodeId; 2]],
    ) -> Self {
        let nodes_of = |element: usize| mechanism.elements[element].nodes.iter().copied();
        let union = |elements: &mut dyn Iterator<Item = usize>| {
            let mut nodes: Vec<usize> = elements.flat_map(nodes_of).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let mut groups = Vec::new();
        let mut sites = Vec::new();
        for damping in &mechanism.dampings {
            let elements = damping.deformations.iter();
            let nodes = union(&mut elements.map(|&deformation| mechanism.element_of[deformation]));
            let places = damping.deformations.iter().map(|&deformation| {
                let mut places = [0; MOST_NODES];
                let own = nodes_of(mechanism.element_of[deformation]);
                for (place, node) in places.iter_mut().zip(own) {
                    *place = nodes.binary_search(&node).unwrap_or_default();
                }
                places
            });
            sites.push(places.collect());
            groups.push(nodes);
        }
        let mut pairs = BTreeMap::new();
        for pair in coupled {
            let pair = pair.map(ElementId::index);
            pairs.insert(pair, groups.len());
            groups.push(union(&mut pair.into_iter()));
        }
        let turning = turning.iter().map(|pair| {
            let [pushed, carrier] = pair.map(NodeId::index);
            let mut nodes = vec![pushed, carrier];
            nodes.sort_unstable();
            nodes.dedup();
            let place = |node| usize::from(nodes[0] != node);
            let places = [place(pushed), place(carrier)];
            groups.push(nodes);
            (groups.len() - 1, places)
        });
        let turning = turning.collect();
        Self {
            saddle: Saddle::of_tangent(mechanism, &groups),
            gradient: vec![[Vector([0.0; 3]); 4]; mechanism.deformation_count()],
            sites,
            pairs,
            turning,
            loads: vec![Vector([0.0; 3]); mechanism.node_count()],
        }
    }

    /// Begins the tangent with these weights of positions and velocities, at an evaluated state with its stresses: inertia and elements.
    pub(super) fn form(
        &mut self,
        mechanism: &Mechanism,
        pass: &Pass<f64>,
        references: &[f64],
        weights: [f64; 2],
    ) {
        self.gradient.copy_from_slice(&pass.gradient);
        self.saddle
            .set_inertia(mechanism, &pass.nodes, &pass.gradient);
        for (index, &reference) in references.iter().enumerate() {
            self.add_geometric(mechanism, pass, index, reference, weights[0]);
            self.add_material(mechanism, index, weights);
        }
        for (group, damping) in mechanism.dampings.iter().enumerate() {
            let count = damping.deformations.len();
            for (i, row) in damping.matrix.chunks_exact(count).enumerate() {
                for (j, &factor) in row.iter().enumerate() {
                    let both = [i, j].map(|at| damping.deformations[at]);
                    if factor == 0.0 || both.iter().any(|&at| self.saddle.holds(at)) {
                        continue;
                    }
                    let slopes = both.map(|at| self.gradient[at]);
                    let sites = [i, j].map(|at| self.sites[group][at]);
                    let counts = both.map(|at| {
                        let element = &mechanism.elements[mechanism.element_of[at]];
                        element.nodes.len()
                    });
                    self.add_product(group, slopes, sites, counts, weights[1] * factor);
                }
            }
        }
    }

    /// $`w_p\sum_i s_i\,D^2\mathcal D_i`$ of one element.
    fn add_geometric(
        &mut self,
        mechanism: &Mechanism,
        pass: &Pass<f64>,
        index: usize,
        reference: f64,
        weight: f64,
    ) {
        let element = &mechanism.elements[index];
        let first = mechanism.first[index];
        let mut stress = [0.0; MOST_DEFORMATIONS];
        for (i, stress) in stress[..element.count()].iter_mut().enumerate() {
            let weighed = mechanism.conditions[first + i].row;
            *stress = weight * weighed.map_or(pass.elastic[first + i], |row| pass.stress[row]);
        }
        if stress.iter().all(|&stress| stress == 0.0) {
            return;
        }
        let count = element.nodes.len();
        let mut nodes: [NodeState<Moved>; MOST_NODES] = [NodeState::resting(); MOST_NODES];
        for (lifted, &node) in nodes.iter_mut().zip(&element.nodes) {
            lifted.position = Vector::constant(pass.nodes[node].position.0);
            lifted.rotation = Matrix::constant(pass.nodes[node].rotation.0);
        }
        let mut value = [Moved::constant(0.0); MOST_DEFORMATIONS];
        let mut slopes = [[Vector::zero(); 4]; MOST_DEFORMATIONS];
        let mut blocks = [[Matrix::zero(); MOST_NODES]; MOST_NODES];
        for moved in 0..count {
            let still = nodes[moved];
            let rotation = pass.nodes[element.nodes[moved]].rotation;
            for direction in 0..3 {
                nodes[moved].position[direction].tangent[direction] = 1.0;
                let turn = Matrix::skew(Vector::axis(direction)) * rotation;
                for i in 0..3 {
                    for j in 0..3 {
                        nodes[moved].rotation.0[i][j].tangent[direction] = turn.0[i][j];
                    }
                }
            }
            let (value, slopes) = (
                &mut value[..element.count()],
                &mut slopes[..element.count()],
            );
            element.gradient_at(&nodes, &[0, 1, 2, 3], reference, value, slopes);
            nodes[moved] = still;
            for site in 0..count {
                for (slope, stress) in slopes.iter().zip(stress) {
                    for i in 0..3 {
                        for j in 0..3 {
                            blocks[site][moved].0[i][j] += stress * slope[site][i].tangent[j];
                        }
                    }
                }
            }
        }
        self.saddle.add_element(index, |i, j| blocks[i][j]);
    }

    /// $`J^T(w_p K + w_v\,\tau K)\,J`$ of one element.
    fn add_material(&mut self, mechanism: &Mechanism, index: usize, weights: [f64; 2]) {
        let element = &mechanism.elements[index];
        let first = mechanism.first[index];
        let (count, sites) = (element.count(), element.nodes.len());
        let weight = weights[0] + weights[1] * element.damping_time;
        let slopes = &self.gradient[first..first + count];
        let mut pushed = [[Vector([0.0; 3]); MOST_NODES]; MOST_DEFORMATIONS];
        let mut any = false;
        for i in (0..count).filter(|&i| !self.saddle.holds(first + i)) {
            for j in (0..count).filter(|&j| !self.saddle.holds(first + j)) {
                let stiffness = weight * element.stiffness[i][j];
                if stiffness != 0.0 {
                    any = true;
                    for site in 0..sites {
                        pushed[i][site] += slopes[j][site].scale(stiffness);
                    }
                }
            }
        }
        if any {
            self.saddle.add_element(index, |site, moved| {
                let mut sum = Matrix::zero();
                for (slope, pushed) in slopes.iter().zip(&pushed) {
                    sum += slope[site].outer(pushed[moved]);
                }
                sum
            });
        }
    }

    /// Adds what two deformations, with gradients at these places in a group, push each other with.
    fn add_product(
        &mut self,
        group: usize,
        slopes: [Gradient<f64>; 2],
        sites: [[usize; MOST_NODES]; 2],
        counts: [usize; 2],
        factor: f64,
    ) {
        for a in 0..counts[0] {
            for b in 0..counts[1] {
                let product = slopes[0][a].outer(slopes[1][b].scale(factor));
                (self.saddle).add_to_group(group, [sites[0][a], sites[1][b]], product);
            }
        }
    }

    /// Adds what pulls back a weighted sum of one or two deformations. Those that are held give way to nothing.
    pub(super) fn pull(&mut self, mechanism: &Mechanism, terms: &[Weighted], strength: f64) {
        let deformation = |&(element, index, _): &Weighted| mechanism.deformation(element, index);
        let held = |term: &Weighted| self.saddle.holds(deformation(term));
        let loose = terms.iter().filter(|term| !held(term)).count();
        match *terms {
            [first, second] if loose == 2 => {
                let pair = [first.0, second.0].map(ElementId::index);
                let Some(&group) = self.pairs.get(&pair) else {
                    return;
                };
                for a in [first, second] {
                    for b in [first, second] {
                        let slopes = [a, b].map(|term| self.gradient[deformation(&term)]);
                        let nodes = [a, b].map(|term| &mechanism.elements[term.0.index()].nodes);
                        let sites = nodes.map(|nodes| self.saddle.places_in_group(group, nodes));
                        let counts = nodes.map(Vec::len);
                        self.add_product(group, slopes, sites, counts, strength * a.2 * b.2);
                    }
                }
            }
            _ => {
                for term in terms {
                    if self.saddle.holds(deformation(term)) {
                        continue;
                    }
                    let slope = self.gradient[deformation(term)];
                    let factor = strength * term.2 * term.2;
                    let product = |i: usize, j: usize| slope[i].outer(slope[j].scale(factor));
                    self.saddle.add_element(term.0.index(), product);
                }
            }
        }
    }

    /// Multiplications of one factorization, about.
    pub(super) fn operations(&self) -> usize {
        self.saddle.operations()
    }

    /// Adds what a load that turns changes as its node does: one of those that were told at first, in inertial components.
    pub(super) fn turn(&mut self, index: usize, load: Vector<f64>) {
        let (group, places) = self.turning[index];
        (self.saddle).add_to_group(group, places, Matrix::skew(load));
    }

    /// Factors the tangent.
    pub(super) fn factor(&mut self) -> Result<(), SingularColumn> {
        self.saddle.factor()
    }

    /// Replaces what the degrees of freedom lack by the correction of their accelerations that makes up for it.
    pub(super) fn solve(&mut self, mechanism: &Mechanism, vector: &mut [f64]) {
        self.loads.fill(Vector([0.0; 3]));
        for (entry, &lack) in mechanism.dofs.iter().zip(&*vector) {
            match entry.place {
                Place::Coordinate(node, component) => self.loads[node][component] += lack,
                Place::Deformation(deformation) => {
                    let element = &mechanism.elements[mechanism.element_of[deformation]];
                    for (&node, slope) in element.nodes.iter().zip(&self.gradient[deformation]) {
                        self.loads[node] += slope.scale(lack);
                    }
                }
            }
        }
        for (node, &load) in self.loads.iter().enumerate() {
            self.saddle.set_force(node, load);
        }
        for &deformation in &mechanism.rows {
            if self.saddle.holds(deformation) {
                self.saddle.set_held(deformation, 0.0);
            }
        }
        self.saddle.solve();
        for (entry, correction) in mechanism.dofs.iter().zip(vector) {
            *correction = match entry.place {
                Place::Coordinate(node, component) => self.saddle.motion(node)[component],
                Place::Deformation(deformation) => {
                    let element = &mechanism.elements[mechanism.element_of[deformation]];
                    let along = element.nodes.iter().zip(&self.gradient[deformation]);
                    along.fold(0.0, |sum, (&node, slope)| {
                        sum + slope.dot(self.saddle.motion(node))
                    })
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, End};
    use crate::beam::BeamSection;
    use crate::equations::Equations;
    use crate::role::Role;

    /// A chain in space: an elastic beam, a rigid one and a hinge in turns.
    fn chain(elements: usize) -> Mechanism {
        let section = BeamSection::slender(1.0, 1e5, 20.0, 30.0);
        let mut assembly = Assembly::new();
        let mut last = End {
            point: assembly.point("base", [0.0; 3]),
            orientation: assembly.orientation("clamp", &Matrix::identity()),
        };
        assembly.set_node(last.point, Role::Fixed);
        assembly.set_node(last.orientation, Role::Fixed);
        for i in 1..=elements {
            let next = End {
                point: assembly.point(&format!("point_{i}"), [i as f64, 0.0, 0.0]),
                orientation: assembly.orientation(&format!("end_{i}"), &Matrix::identity()),
            };
            let beam = assembly.beam(&format!("beam_{i}"), last, next, section, [0.0, 1.0, 0.0]);
            last = next;
            if i % 2 == 0 {
                assembly.set_deformations(beam, Role::Fixed);
                let turned = assembly.orientation(&format!("turned_{i}"), &Matrix::identity());
                let axis = [0.0, 0.6, 0.8];
                assembly.hinge(&format!("hinge_{i}"), last.orientation, turned, axis);
                last.orientation = turned;
            }
        }
        assembly.finish().unwrap()
    }

    /// Growth, by counted operations: from 8 to 2000 elements the factors of the conditions, of the mass matrix and of a tangent in nodal
    /// coordinates take the same number of operations per element, but for the ends of the chain.
    #[test]
    fn operations_grow_with_the_number_of_elements() {
        let operations = |elements: usize| {
            let mechanism = chain(elements);
            let equations = Equations::unplaced(&mechanism);
            [
                equations.factor.fronts().operations(),
                Saddle::of_inertia(&mechanism).operations(),
                Tangent::new(&mechanism, &[], &[]).operations(),
            ]
        };
        let (few, many) = (operations(8), operations(2000));
        for (few, many) in few.into_iter().zip(many) {
            let exponent = (many as f64 / few as f64).ln() / (2000.0_f64 / 8.0).ln();
            assert!((exponent - 1.0).abs() < 0.05, "{few} {many} {exponent}");
        }
    }
}
