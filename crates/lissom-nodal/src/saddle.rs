//! Equations of motion in nodal coordinates, as one sparse matrix: nothing is reduced to degrees of freedom.
//!
//! Unknowns are the accelerations $`a`$ of all nodal coordinates that are neither fixed nor prescribed, and the stress resultants
//! $`s`$ of the deformations that are. All other deformations, free or degrees of freedom, push their nodes with
//! stresses that are known:
//!
//! ```math
//! \begin{bmatrix} A & C^T \\ C & 0 \end{bmatrix} \begin{bmatrix} a \\ s \end{bmatrix} =
//! \begin{bmatrix} f - J^T\sigma \\ \ddot e - (D^2\mathcal D\,\dot x)\,\dot x \end{bmatrix} , \qquad
//! A = M \ \text{ or }\ M + w_v\,D + w_p\,K .
//! ```
//!
//! $`C`$ are the rows of $`J = \partial\mathcal D/\partial x`$ of what is held. With the mass matrix alone the solution holds the
//! accelerations, and $`\ddot q`$ is read off it: $`\ddot e = J a + \ldots`$ of deformations, $`a`$ itself of coordinates. With stiffness and damping it is the
//! correction of an implicit step, see [`tangent`](super::tangent).
//!
//! Every entry belongs to one element, so that a chain gives a band, a tree of bodies a tree of fronts, and the cost
//! grows with the number of elements.

use lissom_spatial::{Matrix, Vector};

use super::element::{Element, ElementKind, Gradient};
use super::factor::{Factor, SingularColumn};
use super::fronts::{Order, RowGroup};
use super::mechanism::{Mechanism, Slot};
use super::node::NodeState;

/// A coordinate or deformation that is no unknown.
const ABSENT: usize = usize::MAX;

/// Entries of the matrix between the coordinates of a few nodes.
#[derive(Clone, Debug)]
struct Block {
    nodes: Vec<usize>,
    /// By rows, three per node.
    slots: Vec<usize>,
}

/// Entries of a deformation that is held: its row and its column.
#[derive(Clone, Debug)]
struct Held {
    deformation: usize,
    /// For every coordinate of its nodes.
    slots: Vec<[usize; 2]>,
}

/// The matrix in nodal coordinates, its factors and a right side.
#[derive(Clone, Debug)]
pub(super) struct Saddle {
    factor: Factor,
    /// Place of every coordinate of every node among the unknowns.
    coordinates: Vec<[usize; 3]>,
    /// Place of the stress of every deformation.
    stresses: Vec<usize>,
    /// Between the nodes of every element; without nodes where it never has entries.
    elements: Vec<Block>,
    lumps: Vec<Block>,
    /// Between further groups of nodes, in ascending order each.
    groups: Vec<Block>,
    held: Vec<Held>,
    /// Powers of two that bring the rows to size one.
    scales: Vec<f64>,
    /// Largest entry of every column.
    sizes: Vec<f64>,
    right: Vec<f64>,
    solution: Vec<f64>,
}

/// Whether a deformation is held: fixed or prescribed.
fn is_held(mechanism: &Mechanism, deformation: usize) -> bool {
    let condition = &mechanism.conditions[deformation];
    condition.row.is_some() && !matches!(condition.slot, Slot::Dof(_))
}

impl Saddle {
    /// For the mass matrix alone.
    pub(super) fn of_inertia(mechanism: &Mechanism) -> Self {
        let has_entries = |element: &Element| {
            let heavy = matches!(&element.kind, ElementKind::Beam(beam) if beam.has_inertia());
            heavy || element.rotors().next().is_some()
        };
        Self::new(mechanism, has_entries, &[])
    }

    /// For matrices with stiffness and damping of all elements, and with what couples further groups of nodes.
    pub(super) fn of_tangent(mechanism: &Mechanism, groups: &[Vec<usize>]) -> Self {
        Self::new(mechanism, |_| true, groups)
    }

    fn new(
        mechanism: &Mechanism,
        has_entries: impl Fn(&Element) -> bool,
        groups: &[Vec<usize>],
    ) -> Self {
        let mut count = 0;
        let mut next = || {
            count += 1;
            count - 1
        };
        let coordinates: Vec<[usize; 3]> = (mechanism.slots.iter())
            .map(|slots| {
                slots.map(|slot| match slot {
                    Slot::Still | Slot::Drive(_) => ABSENT,
                    Slot::Unknown(_) | Slot::Dof(_) => next(),
                })
            })
            .collect();
        let stresses: Vec<usize> = (0..mechanism.deformation_count())
            .map(|deformation| {
                if is_held(mechanism, deformation) {
                    next()
                } else {
                    ABSENT
                }
            })
            .collect();
        let present = |all: &[usize]| -> Vec<usize> {
            all.iter().copied().filter(|&at| at != ABSENT).collect()
        };
        let node_count = coordinates.len();
        // groups of columns: nodes, then the stresses of elements
        let mut columns: Vec<Vec<usize>> = coordinates.iter().map(|all| present(all)).collect();
        let of_element = mechanism
            .first
            .windows(2)
            .map(|ends| &stresses[ends[0]..ends[1]]);
        columns.extend(of_element.map(present));
        let mut meeting: Vec<Vec<usize>> = (0..node_count).map(|node| vec![node]).collect();
        let mut couple = |nodes: &[usize]| {
            for &node in nodes {
                meeting[node].extend(nodes);
                meeting[node].sort_unstable();
                meeting[node].dedup();
            }
        };
        for element in mechanism
            .elements
            .iter()
            .filter(|element| has_entries(element))
        {
            couple(&element.nodes);
        }
        for nodes in groups {
            couple(nodes);
        }
        for (index, element) in mechanism.elements.iter().enumerate() {
            for &node in &element.nodes {
                meeting[node].push(node_count + index);
            }
        }
        let of_elements = mechanism
            .elements
            .iter()
            .map(|element| element.nodes.clone());
        let rows: Vec<RowGroup> = (meeting.into_iter().chain(of_elements))
            .zip(&columns)
            .map(|(groups, rows)| RowGroup {
                rows: rows.clone(),
                groups,
            })
            .collect();
        let factor = Factor::new(&columns, &rows, Order::FewestColumns);
        let block = |nodes: &[usize]| Block::new(&factor, &coordinates, nodes);
        Self {
            elements: (mechanism.elements.iter())
                .map(|element| {
                    let nodes = if has_entries(element) {
                        &element.nodes[..]
                    } else {
                        &[]
                    };
                    block(nodes)
                })
                .collect(),
            lumps: (mechanism.lumps.iter())
                .map(|lump| block(&[lump.node()]))
                .collect(),
            groups: groups.iter().map(|nodes| block(nodes)).collect(),
            held: held_slots(mechanism, &factor, &coordinates, &stresses),
            scales: vec![1.0; count],
            sizes: vec![0.0; count],
            right: vec![0.0; count],
            solution: vec![0.0; count],
            coordinates,
            stresses,
            factor,
        }
    }

    /// Multiplications of one factorization, about.
    pub(super) fn operations(&self) -> usize {
        self.factor.fronts().operations()
    }

    /// Begins a matrix: mass matrix of the nodes where they stand, and gradients of what is held.
    pub(super) fn set_inertia(
        &mut self,
        mechanism: &Mechanism,
        nodes: &[NodeState<f64>],
        gradient: &[Gradient<f64>],
    ) {
        self.factor.clear();
        for (index, element) in mechanism.elements.iter().enumerate() {
            let first = mechanism.first[index];
            if let ElementKind::Beam(beam) = &element.kind
                && beam.has_inertia()
            {
                let sites = std::array::from_fn(|i| &nodes[element.nodes[i]]);
                let blocks = beam.mass_blocks(sites);
                self.elements[index].add(&mut self.factor, |i, j| blocks[i][j]);
            }
            for (local, inertia) in element.rotors() {
                if self.stresses[first + local] == ABSENT {
                    let slope = gradient[first + local];
                    let product = |i: usize, j: usize| slope[i].outer(slope[j].scale(inertia));
                    self.elements[index].add(&mut self.factor, product);
                }
            }
        }
        for (lump, block) in mechanism.lumps.iter().zip(&self.lumps) {
            let mass = lump.mass_block(nodes);
            block.add(&mut self.factor, |_, _| mass);
        }
        for held in &self.held {
            let slopes = gradient[held.deformation].iter().flat_map(|slope| slope.0);
            for (slots, slope) in held.slots.iter().zip(slopes) {
                if slots[0] != ABSENT {
                    self.factor.add(slots[0], slope);
                    self.factor.add(slots[1], slope);
                }
            }
        }
    }

    /// Adds to the entries between the nodes of an element.
    pub(super) fn add_element(&mut self, element: usize, of: impl Fn(usize, usize) -> Matrix<f64>) {
        self.elements[element].add(&mut self.factor, of);
    }

    /// Adds to the entries between two places of a further group of nodes.
    pub(super) fn add_to_group(&mut self, group: usize, places: [usize; 2], matrix: Matrix<f64>) {
        self.groups[group].add_at(&mut self.factor, places, matrix);
    }

    /// Places of the nodes of an element in a further group.
    pub(super) fn places_in_group(&self, group: usize, nodes: &[usize]) -> [usize; 4] {
        let all = &self.groups[group].nodes;
        let mut places = [0; 4];
        for (place, node) in places.iter_mut().zip(nodes) {
            *place = all.binary_search(node).unwrap_or_default();
        }
        places
    }

    /// Factors the matrix. Its rows have units of their own: they are brought to size one first. What rounding leaves of a
    /// pivot that is zero is refused.
    pub(super) fn factor(&mut self) -> Result<(), SingularColumn> {
        self.factor.equilibrate(&mut self.scales, &mut self.sizes);
        let part = 8.0 * f64::EPSILON * self.sizes.len() as f64;
        let sizes = &self.sizes;
        self.factor.factor_above(|column| sizes[column], part)
    }

    /// Sets the force or moment on a node on the right side.
    pub(super) fn set_force(&mut self, node: usize, force: Vector<f64>) {
        for (&place, force) in self.coordinates[node].iter().zip(force.0) {
            if place != ABSENT {
                self.right[place] = force;
            }
        }
    }

    /// Sets what the nodes are to give a deformation that is held.
    pub(super) fn set_held(&mut self, deformation: usize, wanted: f64) {
        self.right[self.stresses[deformation]] = wanted;
    }

    /// Whether a deformation is held.
    pub(super) fn holds(&self, deformation: usize) -> bool {
        self.stresses[deformation] != ABSENT
    }

    /// Solves for the right side that was set; the solution takes its place.
    pub(super) fn solve(&mut self) {
        for (right, scale) in self.right.iter_mut().zip(&self.scales) {
            *right *= scale;
        }
        self.factor.solve(&mut self.right, &mut self.solution);
    }

    /// The solution at a node; zero where the node does not move, or moves as it is prescribed.
    pub(super) fn motion(&self, node: usize) -> Vector<f64> {
        let coordinates = self.coordinates[node];
        Vector(coordinates.map(|place| match place {
            ABSENT => 0.0,
            place => self.right[place],
        }))
    }
}

impl Block {
    fn new(factor: &Factor, coordinates: &[[usize; 3]], nodes: &[usize]) -> Self {
        let places = || nodes.iter().flat_map(|&node| coordinates[node]);
        let slot = |row: usize, column: usize| {
            if row == ABSENT || column == ABSENT {
                ABSENT
            } else {
                factor.fronts().slot(row, column)
            }
        };
        Self {
            nodes: nodes.to_vec(),
            slots: places()
                .flat_map(|row| places().map(move |column| (row, column)))
                .map(|(row, column)| slot(row, column))
                .collect(),
        }
    }

    /// Adds a matrix for every two of its nodes.
    #[inline(always)]
    fn add(&self, factor: &mut Factor, of: impl Fn(usize, usize) -> Matrix<f64>) {
        for i in 0..self.nodes.len() {
            for j in 0..self.nodes.len() {
                self.add_at(factor, [i, j], of(i, j));
            }
        }
    }

    /// Adds a matrix for two of its nodes.
    #[inline(always)]
    fn add_at(&self, factor: &mut Factor, [i, j]: [usize; 2], matrix: Matrix<f64>) {
        for (component, row) in matrix.0.iter().enumerate() {
            let first = ((3 * i + component) * self.nodes.len() + j) * 3;
            for (&slot, &entry) in self.slots[first..first + 3].iter().zip(row) {
                if slot != ABSENT {
                    factor.add(slot, entry);
                }
            }
        }
    }
}

fn held_slots(
    mechanism: &Mechanism,
    factor: &Factor,
    coordinates: &[[usize; 3]],
    stresses: &[usize],
) -> Vec<Held> {
    let held = (0..stresses.len()).filter(|&deformation| stresses[deformation] != ABSENT);
    held.map(|deformation| {
        let nodes = &mechanism.elements[mechanism.element_of[deformation]].nodes;
        let stress = stresses[deformation];
        let places = nodes.iter().flat_map(|&node| coordinates[node]);
        let slots = places.map(|place| match place {
            ABSENT => [ABSENT; 2],
            place => {
                let fronts = factor.fronts();
                [fronts.slot(stress, place), fronts.slot(place, stress)]
            }
        });
        Held {
            deformation,
            slots: slots.collect(),
        }
    })
    .collect()
}
