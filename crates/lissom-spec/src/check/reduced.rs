//! `[body.reduced]` and `[body.mesh]`.

use super::Checker;
use super::bodies::INFLUENCE_ROWS;
use super::inertia::CENTRE_OF_MASS;
use crate::error::ErrorKind;
use crate::path::Path;
use crate::spec::{InterfaceSpec, MeshBasisSpec, MeshSpec, ReducedSpec};

impl Checker<'_> {
    pub(super) fn solid_mesh(&mut self, path: &Path, mesh: &MeshSpec) {
        self.positive(path.key("unit_m"), mesh.unit_m);
        for (index, material) in mesh.material.iter().enumerate() {
            let path = path.key("material").index(index);
            self.positive(path.key("youngs_modulus_pa"), material.youngs_modulus_pa);
            self.positive(path.key("density_kg_per_m3"), material.density_kg_per_m3);
            let ratio = material.poisson_ratio;
            self.in_range(
                path.key("poisson_ratio"),
                ratio,
                ratio > -1.0 && ratio < 0.5,
                "a number above -1 and below 0.5",
            );
        }
        let list = path.key("interface");
        let names = |interface: &InterfaceSpec| interface.name.clone();
        let names: Vec<String> = mesh.interface.iter().map(names).collect();
        self.names("interface", &list, names.iter().map(String::as_str));
        for (key, found) in [
            ("interface", mesh.interface.len()),
            ("material", mesh.material.len()),
        ] {
            if found == 0 {
                let key = key.to_owned();
                self.error(path.clone(), ErrorKind::MissingKey { key });
            }
        }
        let (key, modes) = match mesh.basis {
            MeshBasisSpec::ClampedFree(own) => ("clamped_free", own.modes),
            MeshBasisSpec::CraigBampton(own) => ("craig_bampton", own.modes),
        };
        let path = path.key("basis").key(key).key("modes");
        self.positive(path, modes as f64);
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

    /// Whether a matrix has n rows of n numbers; reports what has not.
    fn square_matrix(&mut self, path: &Path, rows: &[Vec<f64>], n: usize) -> bool {
        self.length(path.clone(), rows.len(), n);
        for (row, entries) in rows.iter().enumerate() {
            self.length(path.index(row), entries.len(), n);
        }
        rows.len() == n && rows.iter().all(|row| row.len() == n)
    }
}
