//! Surfaces of bodies that were reduced from meshes and frames.

use lissom_spec::spec::BodySpec;
use lissom_tree::Body;
use serde::Serialize;

/// A surface of triangles that deforms, drawn to first order.
///
/// Lists over points and coordinates run over the coordinates of one point first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DrawnSurface {
    /// Undeformed positions of the points in the body's frame.
    pub positions: Vec<[f64; 3]>,
    /// Corners of the triangles.
    pub triangles: Vec<[usize; 3]>,
    /// $`\psi_\alpha`$ at every point; empty for a body that does not deform.
    pub displacement: Vec<[f64; 3]>,
    /// Stress xx, yy, zz, xy, xz, yz in Pa at every point; empty where it is not known.
    pub stress: Vec<[f64; 6]>,
}

/// The surface of a body of the file, if it has one.
pub(super) fn surface(own: &BodySpec, body: &Body) -> Option<DrawnSurface> {
    let surface = own.reduced.as_ref()?.surface.as_ref()?;
    let mut drawn = DrawnSurface {
        positions: surface.positions_m.clone(),
        triangles: surface.triangles.clone(),
        ..DrawnSurface::default()
    };
    if body.modes() > 0 && !body.fidelity.frozen {
        drawn.displacement = surface.displacement.concat();
        drawn.stress = surface.stress_pa.concat();
    }
    Some(drawn)
}
