//! Damping of a beam by its modes or its mass: a matrix over the deformations of its elements.
//!
//! Modes are those of the beam alone, clamped at its root, as in the tree. Their damping is proportional to rates of
//! deformation, so that it does not depend on where the beam is carried and how it turns.

use nalgebra::DMatrix;

use super::NodalModelError;
use lissom_nodal::{Assembly, BeamSection, ElementId, End, Equations, NodalError, Role, State};
use lissom_spatial::{Matrix, Vector};
use lissom_spec::spec::DampingSpec;
use lissom_tree::flex::Damping;

/// A beam alone: stations along it, the section between each two, and masses by station.
pub(super) struct Clamped<'a> {
    pub(super) stations: &'a [f64],
    pub(super) sections: &'a [BeamSection],
    pub(super) masses: &'a [(usize, f64)],
    /// Which of the deformations of its elements are suppressed.
    pub(super) suppressed: &'a [usize],
}

/// Damping matrix over the deformations of all elements that are not suppressed, by rows. `None` if damping in
/// proportion to the stiffness of each element is all there is.
pub(super) fn matrix(
    name: &str,
    damping: Option<&DampingSpec>,
    clamped: &Clamped<'_>,
) -> Result<Option<Vec<f64>>, NodalModelError> {
    let damping = match damping {
        None => return Ok(None),
        Some(DampingSpec::Rayleigh(rayleigh)) if rayleigh.mass_per_s == 0.0 => return Ok(None),
        Some(DampingSpec::Rayleigh(rayleigh)) => Damping::Rayleigh {
            mass: rayleigh.mass_per_s,
            // that of stiffness is damping time of the sections
            stiffness: 0.0,
        },
        Some(DampingSpec::ModalRatio(ratio)) => Damping::ModalRatios(vec![*ratio]),
        Some(DampingSpec::ModalRatios(ratios)) => Damping::ModalRatios(ratios.clone()),
    };
    let (mass, stiffness) = clamped.matrices()?;
    let matrix = damping.matrix(&stiffness, &mass, 0.0);
    let matrix = matrix.map_err(|source| NodalModelError::Damping {
        name: name.to_owned(),
        source,
    })?;
    Ok(Some(matrix.transpose().as_slice().to_vec()))
}

impl Clamped<'_> {
    /// Mass and stiffness matrix over its deformations where it is straight.
    fn matrices(&self) -> Result<(DMatrix<f64>, DMatrix<f64>), NodalError> {
        let mut assembly = Assembly::new();
        let mut ends: Vec<End> = Vec::new();
        for (number, &x) in self.stations.iter().enumerate() {
            ends.push(End {
                point: assembly.point(&format!("{number}.point"), [x, 0.0, 0.0]),
                orientation: assembly
                    .orientation(&format!("{number}.orientation"), &Matrix::identity()),
            });
        }
        assembly.set_node(ends[0].point, Role::Fixed);
        assembly.set_node(ends[0].orientation, Role::Fixed);
        for (pair, section) in ends.windows(2).zip(self.sections) {
            let across = [0.0, 1.0, 0.0];
            let id: ElementId = assembly.beam("beam", pair[0], pair[1], *section, across);
            for &index in self.suppressed {
                assembly.set_deformation(id, index, Role::Fixed);
            }
        }
        for &(station, mass) in self.masses {
            assembly.mass(ends[station].point, mass);
        }
        let mechanism = assembly.finish()?;
        let mut equations = Equations::new(&mechanism)?;
        let size = mechanism.dof_count();
        let mut mass = vec![0.0; size * size];
        equations.mass_matrix(&mut mass);
        let (still, position) = (vec![0.0; size], mechanism.assembled_position());
        let loads = vec![Vector([0.0; 3]); mechanism.node_count()];
        let stiffness = equations.tangent_stiffness(&State {
            position: &position,
            velocity: &still,
            acceleration: &still,
            drives: &[],
            loads: &loads,
        })?;
        Ok((DMatrix::from_row_slice(size, size, &mass), stiffness))
    }
}
