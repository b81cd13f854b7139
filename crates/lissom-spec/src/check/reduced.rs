//! `[body.reduced]` and `[body.mesh]`.

use std::collections::BTreeSet;

use super::Checker;
use super::bodies::INFLUENCE_ROWS;
use super::inertia::CENTRE_OF_MASS;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{MatricesSpec, MeshBasisSpec, MeshFrameSpec, MeshSpec, ReducedSpec, SurfaceSpec};

impl Checker<'_> {
    pub(super) fn solid_mesh(&mut self, path: &Path, mesh: &MeshSpec) {
        self.positive(path.key("mass_unit_kg"), mesh.mass_unit_kg);
        let list = path.key("interface");
        let names = || mesh.interface.iter().map(|own| own.name.as_str());
        self.names("interface", &list, names());
        if mesh.interface.is_empty() {
            let key = "interface".to_owned();
            self.error(path.clone(), ErrorKind::MissingKey { key });
        }
        let choices = [
            ("material", !mesh.material.is_empty()),
            ("matrices", mesh.matrices.is_some()),
        ];
        if choices.iter().all(|choice| choice.1) {
            self.exactly_one(path, &choices);
        }
        if let Some(matrices) = &mesh.matrices {
            self.matrices(&path.key("matrices"), matrices, &names().collect());
        }
        self.mesh_basis(&path.key("basis"), mesh.basis);
    }

    pub(super) fn mesh_basis(&mut self, path: &Path, basis: MeshBasisSpec) {
        let (key, own) = basis.modes();
        let path = path.key(key);
        let choices = [
            ("modes", own.modes.is_some()),
            ("frequency_rad_per_s", own.frequency_rad_per_s.is_some()),
            ("accuracy", own.accuracy.is_some()),
        ];
        self.exactly_one(&path, &choices);
        if let Some(frequency) = own.frequency_rad_per_s {
            self.frequency(path.key("frequency_rad_per_s"), frequency);
        }
        let (no_residual, no_frame) = match basis {
            MeshBasisSpec::ClampedFree(_) => (None, Some("it is tangent at the first interface")),
            MeshBasisSpec::FreeFree(_) => (None, Some("it is that of mean axes")),
            MeshBasisSpec::CraigBampton(_) => (Some("static shapes leave nothing out"), None),
            MeshBasisSpec::Hinged(_) => (
                Some("static shapes leave nothing out"),
                Some("it lies on the chord"),
            ),
            MeshBasisSpec::Auto(_) => (Some("it is chosen"), Some("it is chosen")),
        };
        if let (true, Some(reason)) = (own.residual, no_residual) {
            self.no_effect(path.key("residual"), reason);
        }
        if let (true, Some(reason)) = (own.frame != MeshFrameSpec::Tangent, no_frame) {
            self.no_effect(path.key("frame"), reason);
        }
    }

    fn matrices(&mut self, path: &Path, matrices: &MatricesSpec, interfaces: &BTreeSet<&str>) {
        for (index, own) in matrices.geometric_stiffness.iter().enumerate() {
            let path = path.key("geometric_stiffness").index(index);
            let choices = [
                ("force_per_mass", own.force_per_mass.is_some()),
                ("force", own.force.is_some()),
                ("moment", own.moment.is_some()),
            ];
            self.exactly_one(&path, &choices);
            for (key, load) in [("force", &own.force), ("moment", &own.moment)] {
                if let Some(load) = load
                    && !interfaces.contains(load.at.as_str())
                {
                    let path = path.key(key).key("at");
                    self.unknown(path, "interface", &load.at, interfaces.iter().copied());
                }
            }
        }
    }

    pub(super) fn reduced(&mut self, path: &Path, reduced: &ReducedSpec) {
        let n = reduced.stiffness.len();
        self.coordinates(path, &reduced.coordinates, n);
        self.positive(path.key("mass_kg"), reduced.mass_kg);
        let inertia = path.key("inertia_kg_m2");
        let rows: Vec<&[f64]> = reduced
            .inertia_kg_m2
            .iter()
            .map(<[f64; 3]>::as_slice)
            .collect();
        if self.symmetric(&inertia, &rows) {
            self.inertia_of_mass(inertia, reduced.inertia_kg_m2, CENTRE_OF_MASS);
        }
        self.stiffness(&path.key("stiffness"), &reduced.stiffness);
        if self.square_matrix(&path.key("mass_matrix"), &reduced.mass_matrix, n) {
            self.stiffness(&path.key("mass_matrix"), &reduced.mass_matrix);
        }
        let own = &reduced.displacement_integrals;
        self.length(path.key("displacement_integrals"), own.len(), n);
        let own = &reduced.position_integrals;
        self.length(path.key("position_integrals"), own.len(), n);
        let products = path.key("product_integrals");
        self.length(products.clone(), reduced.product_integrals.len(), n);
        for (row, entries) in reduced.product_integrals.iter().enumerate() {
            self.length(products.index(row), entries.len(), n);
        }
        self.symmetric_products(&products, &reduced.product_integrals, n);
        let list = path.key("nodes");
        self.names(
            "node",
            &list,
            reduced.nodes.iter().map(|node| node.name.as_str()),
        );
        for (index, node) in reduced.nodes.iter().enumerate() {
            let path = list.index(index);
            if !node.influence.is_empty() {
                let path = path.key("influence");
                self.length(path.clone(), node.influence.len(), INFLUENCE_ROWS);
                for (row, entries) in node.influence.iter().enumerate() {
                    self.length(path.index(row), entries.len(), n);
                }
            }
            let path = path.key("second_order");
            if reduced.second_order.is_none() && !node.second_order.is_empty() {
                self.no_effect(path.clone(), "the body has no second_order");
            }
            if !node.second_order.is_empty() {
                self.length(path.clone(), node.second_order.len(), INFLUENCE_ROWS);
                self.symmetric_matrices(&path, &node.second_order, n);
            }
        }
        if let Some(own) = &reduced.second_order {
            let path = path.key("second_order");
            let integrals = path.key("displacement_integrals");
            self.length(integrals.clone(), own.displacement_integrals.len(), 3);
            self.symmetric_matrices(&integrals, &own.displacement_integrals, n);
            let integrals = path.key("position_integrals");
            self.length(integrals.clone(), own.position_integrals.len(), 3);
            for (row, own) in own.position_integrals.iter().enumerate() {
                self.length(integrals.index(row), own.len(), 3);
                self.symmetric_matrices(&integrals.index(row), own, n);
            }
            let integrals = path.key("shape_integrals");
            self.length(integrals.clone(), own.shape_integrals.len(), n);
            self.symmetric_matrices(&integrals, &own.shape_integrals, n);
        }
        if let Some(surface) = &reduced.surface {
            self.surface(&path.key("surface"), surface, n);
        }
    }

    fn surface(&mut self, path: &Path, surface: &SurfaceSpec, n: usize) {
        let points = surface.positions_m.len();
        let moved = path.key("displacement");
        self.length(moved.clone(), surface.displacement.len(), points);
        for (point, own) in surface.displacement.iter().enumerate() {
            self.length(moved.index(point), own.len(), n);
        }
        if !surface.stress_pa.is_empty() {
            let stress = path.key("stress_pa");
            self.length(stress.clone(), surface.stress_pa.len(), points);
            for (point, own) in surface.stress_pa.iter().enumerate() {
                self.length(stress.index(point), own.len(), n);
            }
        }
        for (index, corners) in surface.triangles.iter().enumerate() {
            if let Some(&corner) = corners.iter().find(|&&corner| corner >= points) {
                let path = path.key("triangles").index(index);
                let expected =
                    format!("the number of a point of the surface, from 0 to below {points}");
                self.in_range(path, corner as f64, false, &expected);
            }
        }
    }

    fn symmetric_matrices(&mut self, path: &Path, matrices: &[Vec<Vec<f64>>], n: usize) {
        for (index, matrix) in matrices.iter().enumerate() {
            let path = path.index(index);
            if self.square_matrix(&path, matrix, n) {
                let rows: Vec<&[f64]> = matrix.iter().map(Vec::as_slice).collect();
                self.symmetric(&path, &rows);
            }
        }
    }

    /// The integrals of two displacements are those of the same two the other way round, transposed: a symmetric matrix of three rows for every coordinate.
    fn symmetric_products(&mut self, path: &Path, products: &[Vec<[[f64; 3]; 3]>], n: usize) {
        if products.len() == n && products.iter().all(|row| row.len() == n) {
            let row = |row: usize| -> Vec<f64> {
                let own = products[row / 3].iter();
                own.flat_map(|product| product[row % 3]).collect()
            };
            let rows: Vec<Vec<f64>> = (0..3 * n).map(row).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            self.symmetric(path, &rows);
        }
    }

    /// Whether a matrix has n rows of n numbers; reports what has not.
    fn square_matrix(&mut self, path: &Path, rows: &[Vec<f64>], n: usize) -> bool {
        self.length(path.clone(), rows.len(), n);
        for (row, entries) in rows.iter().enumerate() {
            self.length(path.index(row), entries.len(), n);
        }
        rows.len() == n && rows.iter().all(|row| row.len() == n)
    }
}
