//! Energy, losses and momentum of a mechanism in motion.

use lissom_spatial::Vector;

use super::Equations;
use crate::element::ElementKind;
use crate::inertia::Lump;

/// Energy of a mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Strain energy of all deformations.
    pub strain: f64,
    /// Energy in the field of gravity, zero at the origin.
    pub gravity: f64,
}

impl Energy {
    /// Sum of all parts.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.gravity
    }
}

impl Equations<'_> {
    /// Energy at the place and velocity set last.
    pub fn energy(&self) -> Energy {
        let mut energy = Energy::default();
        let gravity = self.gravity;
        for (index, element) in self.mechanism.elements.iter().enumerate() {
            let first = self.mechanism.first[index];
            let strain = |i: usize| self.pass.value[first + i] - element.rest[i];
            for i in 0..element.count() {
                for j in 0..element.count() {
                    energy.strain += 0.5 * element.stiffness[i][j] * strain(i) * strain(j);
                }
            }
            for (index, inertia) in element.rotors() {
                let rate = self.pass.followed[first + index].rate;
                energy.kinetic += 0.5 * inertia * rate * rate;
            }
            if let ElementKind::Beam(beam) = &element.kind {
                let nodes = std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]]);
                let (kinetic, potential) = beam.energy(nodes, gravity);
                energy.kinetic += kinetic;
                energy.gravity += potential;
            }
        }
        for lump in &self.mechanism.lumps {
            let (kinetic, potential) = lump.energy(&self.pass.nodes, gravity);
            energy.kinetic += kinetic;
            energy.gravity += potential;
        }
        energy
    }

    /// Mass, and mass times its centre at the place set last.
    pub fn mass_and_moment(&self) -> (f64, Vector<f64>) {
        let mut mass = 0.0;
        for element in &self.mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind {
                mass += beam.mass();
            }
        }
        for lump in &self.mechanism.lumps {
            if let Lump::Mass { mass: own, .. } = lump {
                mass += own;
            }
        }
        // the energy in a field of unit strength
        let moment = std::array::from_fn(|axis| {
            let mut field = Vector([0.0; 3]);
            field[axis] = -1.0;
            let nodes = &self.pass.nodes;
            let beams = self.mechanism.elements.iter().map(|element| {
                let ElementKind::Beam(beam) = &element.kind else {
                    return 0.0;
                };
                beam.energy(std::array::from_fn(|i| &nodes[element.nodes[i]]), field)
                    .1
            });
            let lumps = self.mechanism.lumps.iter();
            beams.sum::<f64>() + lumps.map(|lump| lump.energy(nodes, field).1).sum::<f64>()
        });
        (mass, Vector(moment))
    }

    /// Power that dampers of the material take at the place and velocity set last.
    pub fn dissipation(&self) -> f64 {
        let mut power = 0.0;
        for (index, element) in self.mechanism.elements.iter().enumerate() {
            let first = self.mechanism.first[index];
            let rate = |i: usize| self.pass.followed[first + i].rate;
            for i in 0..element.count() {
                for j in 0..element.count() {
                    power += element.damping_time * element.stiffness[i][j] * rate(i) * rate(j);
                }
            }
        }
        for damping in &self.mechanism.dampings {
            let rate = |i: usize| self.pass.followed[damping.deformations[i]].rate;
            let count = damping.deformations.len();
            for (at, stress_per_rate) in damping.matrix.iter().enumerate() {
                power += stress_per_rate * rate(at / count) * rate(at % count);
            }
        }
        power
    }

    /// Linear and angular momentum about the origin at the place and velocity set last, rotors left out.
    pub fn momentum(&self) -> [Vector<f64>; 2] {
        let mut sum = [Vector([0.0; 3]); 2];
        let mut add = |[linear, angular]: [Vector<f64>; 2]| {
            sum[0] += linear;
            sum[1] += angular;
        };
        for element in &self.mechanism.elements {
            if let ElementKind::Beam(beam) = &element.kind {
                add(beam.momentum(std::array::from_fn(|i| &self.pass.nodes[element.nodes[i]])));
            }
        }
        for lump in &self.mechanism.lumps {
            add(lump.momentum(&self.pass.nodes));
        }
        sum
    }
}
