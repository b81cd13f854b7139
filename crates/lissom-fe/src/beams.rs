//! [`Beams`]: beams in space as [`FiniteElements`], by geometrically exact elements of third degree.
//!
//! A section moves by $`u`$ and turns by $`\mathrm{Exp}(\theta)`$, both interpolated between four nodes. With the unit tangent $`t`$ of the
//! undeformed line the strains of Reissner and Simo are, in the axes of the undeformed section and to second order,
//!
//! ```math
//! \begin{aligned}
//! \Gamma &= u' - \theta\times t - \theta\times u' + \tfrac12\theta\times(\theta\times t), \\
//! K &= \theta' - \tfrac12\theta\times\theta' ,
//! \end{aligned}
//! ```
//!
//! which is all that the third derivative of the energy $`\tfrac12\int (\Gamma, K)\cdot C(\Gamma, K)\,ds`$ at rest needs. To that order
//! interpolated rotation vectors are objective: a rigid rotation adds $`\Theta + \tfrac12\Theta\times\theta`$, which is linear in $`\theta`$.
//! Strains are taken at three points of an element, where polynomials of third degree can make each of them vanish: neither shear nor
//! curvature nor the shortening of a bent beam locks.
//!
//! The mass of a section is that of three points which have its mass, centre and second moments, at six stations of an element: enough for
//! exact integrals of products of two displacements, and of sections whose sizes vary linearly, along straight lines.

use std::ops::Range;

use nalgebra::{DMatrix, Matrix3, Matrix6, SMatrix, Vector3, Vector6};

use crate::FeError;
use crate::cholesky::Cholesky;
use crate::finite_elements::{Field, FiniteElements, Moves, Place};
use crate::quadrature::gauss_legendre;
use crate::stop::Stop;
use crate::surface;
use lissom_spec::spec::SurfaceSpec;

/// Nodes of an element.
pub(crate) const NODES: usize = 4;

/// Points of an element where strains are taken.
const STRAIN_POINTS: usize = 3;

/// Stations of an element where its mass is.
const MASS_STATIONS: usize = 6;

/// Corners of a bar that is drawn.
const CORNERS: usize = 8;

/// Beams, joined at their nodes, which have six unknowns each: displacement, then rotation vector.
pub(crate) struct Beams {
    nodes: Vec<Vector3<f64>>,
    elements: Vec<Element>,
    carriers: Vec<Carrier>,
    positions: Field,
    masses: Vec<f64>,
    places: Vec<Place>,
    interfaces: usize,
}

struct Element {
    nodes: [usize; NODES],
    stations: Vec<Station>,
}

/// A point of an element where strains are taken.
pub(crate) struct Station {
    pub(crate) values: [f64; NODES],
    /// Per length of the line.
    pub(crate) slopes: [f64; NODES],
    pub(crate) tangent: Vector3<f64>,
    /// The length that it stands for.
    pub(crate) length: f64,
    pub(crate) law: Matrix6<f64>,
}

/// A rigid frame that carries points of mass: a section, or a lump on a node.
struct Carrier {
    nodes: Vec<(usize, f64)>,
    origin: Vector3<f64>,
    points: Range<usize>,
}

/// What is somewhere on the line of an element.
pub(crate) struct Section {
    /// Forces and moments per strain and curvature, in the axes of the body.
    pub(crate) law: Matrix6<f64>,
    /// Masses per length and their offsets from the line.
    pub(crate) masses: Vec<(f64, Vector3<f64>)>,
}

/// Where strains and motion of a section come from, for one displacement.
struct Strained {
    slope: Vector3<f64>,
    rotation: Vector3<f64>,
    curvature: Vector3<f64>,
    /// Force and moment, times the length that the station stands for.
    force: Vector3<f64>,
    moment: Vector3<f64>,
}

impl Beams {
    pub(crate) fn new(nodes: Vec<Vector3<f64>>) -> Self {
        Self {
            nodes,
            elements: Vec::new(),
            carriers: Vec::new(),
            positions: Vec::new(),
            masses: Vec::new(),
            places: Vec::new(),
            interfaces: 0,
        }
    }

    /// Adds an element between nodes in turn; `section` is asked at places from -1 to 1 with the tangent there.
    ///
    /// # Errors
    /// Those of `section`.
    pub(crate) fn add_element<E>(
        &mut self,
        nodes: [usize; NODES],
        section: impl Fn(f64, Vector3<f64>) -> Result<Section, E>,
    ) -> Result<(), E> {
        let places = nodes.map(|node| self.nodes[node]);
        let line = |xi: f64| {
            let (values, slopes) = functions(xi);
            let sum = |factors: [f64; NODES]| -> Vector3<f64> {
                places.iter().zip(factors).map(|(place, f)| place * f).sum()
            };
            let (at, along) = (sum(values), sum(slopes));
            let speed = along.norm();
            (
                values,
                slopes.map(|slope| slope / speed),
                at,
                along / speed,
                speed,
            )
        };
        let mut stations = Vec::with_capacity(STRAIN_POINTS);
        for (xi, weight) in gauss_legendre(STRAIN_POINTS) {
            let (values, slopes, _, tangent, speed) = line(xi);
            stations.push(Station {
                values,
                slopes,
                tangent,
                length: weight * speed,
                law: section(xi, tangent)?.law,
            });
        }
        for (xi, weight) in gauss_legendre(MASS_STATIONS) {
            let (values, _, origin, tangent, speed) = line(xi);
            let masses = section(xi, tangent)?.masses.into_iter();
            let masses = masses.map(|(mass, offset)| (mass * weight * speed, offset));
            self.add_carrier(nodes.into_iter().zip(values).collect(), origin, masses);
        }
        self.elements.push(Element { nodes, stations });
        Ok(())
    }

    /// Fixes masses to a node.
    pub(crate) fn add_lump(
        &mut self,
        node: usize,
        masses: impl Iterator<Item = (f64, Vector3<f64>)>,
    ) {
        self.add_carrier(vec![(node, 1.0)], self.nodes[node], masses);
    }

    fn add_carrier(
        &mut self,
        nodes: Vec<(usize, f64)>,
        origin: Vector3<f64>,
        masses: impl Iterator<Item = (f64, Vector3<f64>)>,
    ) {
        let first = self.masses.len();
        for (mass, offset) in masses {
            self.positions.push((origin + offset).into());
            self.masses.push(mass);
        }
        self.carriers.push(Carrier {
            nodes,
            origin,
            points: first..self.masses.len(),
        });
    }

    /// Names a node; those that are interfaces come first.
    pub(crate) fn add_place(&mut self, name: &str, node: usize, is_interface: bool) {
        self.interfaces += usize::from(is_interface);
        self.places.push(Place {
            name: name.to_owned(),
            position: self.nodes[node].into(),
            moves: Moves::Frame(std::array::from_fn(|k| vec![(6 * node + k, 1.0)])),
        });
    }

    /// Displacement and rotation of a node.
    pub(crate) fn motion(node: usize, unknowns: &[f64]) -> [Vector3<f64>; 2] {
        [6 * node, 6 * node + 3].map(|at| Vector3::from_column_slice(&unknowns[at..at + 3]))
    }

    /// Displacement and rotation of a carrier.
    fn motion_of(carrier: &Carrier, unknowns: &[f64]) -> [Vector3<f64>; 2] {
        Self::motion_between(&carrier.nodes, unknowns)
    }

    /// Displacement and rotation somewhere between nodes.
    fn motion_between(nodes: &[(usize, f64)], unknowns: &[f64]) -> [Vector3<f64>; 2] {
        let mut sum = [Vector3::zeros(); 2];
        for &(node, value) in nodes {
            let [moved, turned] = Self::motion(node, unknowns);
            sum[0] += moved * value;
            sum[1] += turned * value;
        }
        sum
    }

    /// Radius of the circle with the second moments of a section about its centre.
    fn radius(&self, section: &Carrier) -> f64 {
        let offsets = section.points.clone().map(|p| self.offset(section, p));
        let offsets: Vec<Vector3<f64>> = offsets.collect();
        let count = offsets.len() as f64;
        let mean = offsets.iter().sum::<Vector3<f64>>() / count;
        let square = |offset: &Vector3<f64>| (offset - mean).norm_squared();
        (2.0 * offsets.iter().map(square).sum::<f64>() / count).sqrt()
    }

    /// A direction across another one, far from along it.
    fn across(tangent: Vector3<f64>) -> Vector3<f64> {
        tangent
            .cross(&Vector3::ith(tangent.iamin(), 1.0))
            .normalize()
    }

    fn offset(&self, carrier: &Carrier, point: usize) -> Vector3<f64> {
        Vector3::from(self.positions[point]) - carrier.origin
    }

    /// The points where strains are taken, each with the nodes of its element.
    #[cfg(test)]
    pub(crate) fn stations(&self) -> impl Iterator<Item = (&Station, &[usize; NODES])> {
        self.elements.iter().flat_map(|element| {
            let stations = element.stations.iter();
            stations.map(|station| (station, &element.nodes))
        })
    }

    /// Stiffness of an element, six rows and columns per node: displacement, then rotation.
    fn stiffness(element: &Element) -> DMatrix<f64> {
        let mut stiffness = DMatrix::zeros(6 * NODES, 6 * NODES);
        for station in &element.stations {
            let blocks: [Matrix6<f64>; NODES] = std::array::from_fn(|node| {
                let (value, slope) = (station.values[node], station.slopes[node]);
                let mut block = Matrix6::identity() * slope;
                // −θ × t = t × θ
                let turned = station.tangent.cross_matrix() * value;
                block.fixed_view_mut::<3, 3>(0, 3).copy_from(&turned);
                block
            });
            for (i, row) in blocks.iter().enumerate() {
                let half: SMatrix<f64, 6, 6> = row.transpose() * station.law * station.length;
                for (j, column) in blocks.iter().enumerate() {
                    let mut view = stiffness.fixed_view_mut::<6, 6>(6 * i, 6 * j);
                    view += half * column;
                }
            }
        }
        stiffness
    }

    fn strained(element: &Element, station: &Station, unknowns: &[f64]) -> Strained {
        let (mut slope, mut rotation, mut curvature) =
            (Vector3::zeros(), Vector3::zeros(), Vector3::zeros());
        for (k, &node) in element.nodes.iter().enumerate() {
            let [moved, turned] = Self::motion(node, unknowns);
            slope += moved * station.slopes[k];
            rotation += turned * station.values[k];
            curvature += turned * station.slopes[k];
        }
        let strain = slope - rotation.cross(&station.tangent);
        let strain = Vector6::from_iterator(strain.iter().chain(&curvature).copied());
        let stress = station.law * strain * station.length;
        Strained {
            slope,
            rotation,
            curvature,
            force: stress.fixed_rows::<3>(0).into_owned(),
            moment: stress.fixed_rows::<3>(3).into_owned(),
        }
    }
}

impl Strained {
    /// Work of the forces on second-order strains of two displacements.
    fn work(&self, tangent: &Vector3<f64>, a: &Self, b: &Self) -> f64 {
        let turned = |a: &Self, b: &Self| {
            a.rotation
                .cross(&(b.rotation.cross(tangent) * 0.5 - b.slope))
        };
        let bent = |a: &Self, b: &Self| a.rotation.cross(&b.curvature) * -0.5;
        self.force.dot(&(turned(a, b) + turned(b, a))) + self.moment.dot(&(bent(a, b) + bent(b, a)))
    }
}

impl FiniteElements for Beams {
    fn elements(&self) -> usize {
        self.elements.len()
    }

    fn unknowns(&self) -> usize {
        6 * self.nodes.len()
    }

    fn places(&self) -> &[Place] {
        &self.places
    }

    fn interfaces(&self) -> usize {
        self.interfaces
    }

    fn rigid_motions(&self) -> Vec<Vec<f64>> {
        let motion = |k: usize| {
            let mut unknowns = Vec::with_capacity(self.unknowns());
            for node in &self.nodes {
                let axis = Vector3::ith(k % 3, 1.0);
                let [moved, turned] = if k < 3 {
                    [axis, Vector3::zeros()]
                } else {
                    [axis.cross(node), axis]
                };
                unknowns.extend(moved.iter().chain(&turned));
            }
            unknowns
        };
        (0..6).map(motion).collect()
    }

    fn factorised(&self, held: &[usize], stop: Stop<'_>) -> Result<Cholesky, FeError> {
        let free = |element: &Element| -> Vec<(usize, usize)> {
            let nodes = element.nodes.iter().enumerate();
            let mut free: Vec<(usize, usize)> = nodes
                .flat_map(|(at, &node)| (0..6).map(move |k| (6 * node + k, 6 * at + k)))
                .filter(|(unknown, _)| !held.contains(unknown))
                .collect();
            free.sort_unstable();
            free
        };
        let free: Vec<Vec<(usize, usize)>> = self.elements.iter().map(free).collect();
        let unknowns: Vec<Vec<usize>> = (free.iter())
            .map(|own| own.iter().map(|&(unknown, _)| unknown).collect())
            .collect();
        let centres: Vec<[f64; 3]> = (self.elements.iter())
            .map(|element| {
                let places = element.nodes.iter().map(|&node| self.nodes[node]);
                (places.sum::<Vector3<f64>>() / NODES as f64).into()
            })
            .collect();
        let matrix = |index: usize| {
            let whole = Self::stiffness(&self.elements[index]);
            let own = &free[index];
            DMatrix::from_fn(own.len(), own.len(), |i, j| whole[(own[i].1, own[j].1)])
        };
        let factor = Cholesky::new(self.unknowns(), &unknowns, &centres, matrix, stop);
        factor.map_err(|fault| fault.told(|unknown| self.nodes[unknown / 6].into()))
    }

    fn positions(&self) -> &Field {
        &self.positions
    }

    fn field(&self, unknowns: &[f64]) -> Field {
        let mut field = vec![[0.0; 3]; self.positions.len()];
        for carrier in &self.carriers {
            let [moved, turned] = Self::motion_of(carrier, unknowns);
            for point in carrier.points.clone() {
                field[point] = (moved + turned.cross(&self.offset(carrier, point))).into();
            }
        }
        field
    }

    fn loads(&self, forces: &Field) -> Vec<f64> {
        let mut loads = vec![0.0; self.unknowns()];
        for carrier in &self.carriers {
            let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
            for point in carrier.points.clone() {
                let own = Vector3::from(forces[point]);
                force += own;
                moment += self.offset(carrier, point).cross(&own);
            }
            for &(node, value) in &carrier.nodes {
                let own = force.iter().chain(&moment);
                for (load, own) in loads[6 * node..6 * node + 6].iter_mut().zip(own) {
                    *load += value * own;
                }
            }
        }
        loads
    }

    fn times_mass(&self, field: &Field) -> Field {
        let points = field.iter().zip(&self.masses);
        points.map(|(own, mass)| own.map(|x| x * mass)).collect()
    }

    fn moments(&self, forces: &Field) -> Vec<Matrix3<f64>> {
        let of_carrier = |carrier: &Carrier| {
            let points = carrier.points.clone();
            points
                .map(|point| {
                    let offset = self.offset(carrier, point);
                    Vector3::from(forces[point]) * offset.transpose()
                })
                .sum()
        };
        self.carriers.iter().map(of_carrier).collect()
    }

    fn rotations(&self, unknowns: &[f64]) -> Vec<Vector3<f64>> {
        let carriers = self.carriers.iter();
        carriers
            .map(|carrier| Self::motion_of(carrier, unknowns)[1])
            .collect()
    }

    fn third_derivative(
        &self,
        unknowns: &[Vec<f64>],
        shapes: usize,
        stop: Stop<'_>,
    ) -> Result<Vec<DMatrix<f64>>, FeError> {
        let n = unknowns.len() - shapes;
        let mut found = vec![DMatrix::zeros(n, n); unknowns.len()];
        for element in &self.elements {
            if stop() {
                return Err(FeError::Stopped);
            }
            for station in &element.stations {
                let all: Vec<Strained> = (unknowns.iter())
                    .map(|own| Self::strained(element, station, own))
                    .collect();
                let of_shapes = &all[shapes..];
                for (x, matrix) in all.iter().zip(&mut found) {
                    for (i, a) in of_shapes.iter().enumerate() {
                        for (j, b) in of_shapes[..=i].iter().enumerate() {
                            let t = &station.tangent;
                            matrix[(i, j)] += x.work(t, a, b) + a.work(t, x, b) + b.work(t, x, a);
                        }
                    }
                }
            }
        }
        for matrix in &mut found {
            matrix.fill_upper_triangle_with_lower_triangle();
        }
        Ok(found)
    }

    /// A round bar along every element, as thick as a circle with the second moments of its sections.
    fn surface(&self, modes: &[&[f64]], _shapes: &[Field]) -> Option<SurfaceSpec> {
        let rings = self.elements.len() * (MASS_STATIONS + 2);
        if rings * CORNERS * modes.len() > surface::MOST {
            return None;
        }
        let mut found = SurfaceSpec::default();
        for (element, sections) in (self.elements.iter()).zip(self.carriers.chunks(MASS_STATIONS)) {
            let [first, .., last] = element.nodes;
            let end = |node: usize| (vec![(node, 1.0)], self.nodes[node]);
            let between = sections.iter().map(|own| (own.nodes.clone(), own.origin));
            let along: Vec<_> = std::iter::once(end(first))
                .chain(between)
                .chain([end(last)])
                .collect();
            for ring in 0..along.len() {
                let [before, after] = [ring.saturating_sub(1), (ring + 1).min(along.len() - 1)];
                let tangent = (along[after].1 - along[before].1).normalize();
                let section = &sections[before.min(sections.len() - 1)];
                let across = Self::across(tangent) * self.radius(section);
                let (nodes, origin) = &along[ring];
                let start = found.positions_m.len();
                for corner in 0..CORNERS {
                    let angle = std::f64::consts::TAU * corner as f64 / CORNERS as f64;
                    let offset = across * angle.cos() + tangent.cross(&across) * angle.sin();
                    found.positions_m.push((origin + offset).into());
                    let moved = |unknowns: &&[f64]| {
                        let [moved, turned] = Self::motion_between(nodes, unknowns);
                        <[f64; 3]>::from(moved + turned.cross(&offset)).map(surface::short)
                    };
                    found.displacement.push(modes.iter().map(moved).collect());
                    if ring > 0 {
                        let next = (corner + 1) % CORNERS;
                        let [a, b] = [start - CORNERS + corner, start - CORNERS + next];
                        let [c, d] = [start + corner, start + next];
                        found.triangles.extend([[a, b, d], [a, d, c]]);
                    }
                }
            }
        }
        Some(found)
    }
}

/// Lagrange's functions of four evenly spaced nodes on -1 to 1, and their slopes.
fn functions(xi: f64) -> ([f64; NODES], [f64; NODES]) {
    let third = 1.0 / 3.0;
    let (inner, outer) = (xi * xi - third * third, xi * xi - 1.0);
    let values = [
        -9.0 / 16.0 * inner * (xi - 1.0),
        27.0 / 16.0 * outer * (xi - third),
        -27.0 / 16.0 * outer * (xi + third),
        9.0 / 16.0 * inner * (xi + 1.0),
    ];
    let slopes = [
        -9.0 / 16.0 * (2.0 * xi * (xi - 1.0) + inner),
        27.0 / 16.0 * (2.0 * xi * (xi - third) + outer),
        -27.0 / 16.0 * (2.0 * xi * (xi + third) + outer),
        9.0 / 16.0 * (2.0 * xi * (xi + 1.0) + inner),
    ];
    (values, slopes)
}
