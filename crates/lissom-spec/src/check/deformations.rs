//! What a model says of single deformations of elements: roles, values at the start, values without stress.

use super::Checker;
use crate::path::Path;
use crate::spec::{
    BeamDeformationsSpec, BeamElementSpec, Deformation, ElementSpec, RoleSpec as Role,
};

/// Why a deformation that is no degree of freedom cannot be told where to start.
const NOT_A_DOF: &str = "only a degree of freedom starts where it is told: give the deformation the role `dof` or `actuated`";

impl Checker<'_> {
    /// Roles and numbers for deformations that the beam does not have, or that name no single one.
    pub(super) fn beam_deformations(
        &mut self,
        path: &Path,
        element: &ElementSpec,
        beam: &BeamElementSpec,
        planar: bool,
    ) {
        use Deformation as D;
        let roles = beam.roles.unwrap_or_default();
        let numbers = [
            ("initial_deformations_m", beam.initial_deformations_m),
            ("initial_rates_m_per_s", beam.initial_rates_m_per_s),
            ("rest_deformations_m", beam.rest_deformations_m),
        ];
        let (foreign, reason): (&[D], _) = if planar {
            (
                &[
                    D::Torsion,
                    D::BendingYP,
                    D::BendingYQ,
                    D::BendingZP,
                    D::BendingZQ,
                ],
                "a beam in the plane has `elongation`, `bending_p` and `bending_q`",
            )
        } else {
            (
                &[D::BendingP, D::BendingQ],
                "in space bending is along y or z: `bending_y_p` to `bending_z_q`",
            )
        };
        for &deformation in foreign {
            let given = |said: &Option<BeamDeformationsSpec>| {
                said.is_some_and(|said| said.get(deformation).is_some())
            };
            let named = (numbers.iter()).filter(|(_, said)| given(said));
            let named = named.map(|(key, _)| *key);
            for key in named.chain(roles.get(deformation).map(|_| "roles")) {
                self.no_effect(path.key(key).key(deformation.key()), reason);
            }
        }
        let all = element.deformations(planar);
        if beam.divisions > 1 {
            let driven = |role| matches!(role, Role::Prescribed | Role::Actuated);
            let mut paths = Vec::new();
            for &(deformation, _) in all.iter().filter(|&&(_, role)| driven(role)) {
                paths.push(match roles.get(deformation) {
                    Some(_) => path.key("roles").key(deformation.key()),
                    None => path.key("role"),
                });
            }
            let numbers = numbers.iter().filter(|(_, said)| said.is_some());
            paths.extend(numbers.map(|(key, _)| path.key(*key)));
            for path in paths {
                let reason = "a beam that is divided has many such deformations, and this names one: \
                              write elements of their own with `divisions = 1`";
                self.no_effect(path, reason);
            }
            return;
        }
        for (deformation, role) in all {
            for (key, said) in &numbers[..2] {
                let said = said.and_then(|said| said.get(deformation));
                if said.is_some() && !is_dof(role) {
                    self.no_effect(path.key(*key).key(deformation.key()), NOT_A_DOF);
                }
            }
            let rest = beam.rest_deformations_m;
            let rest = rest.and_then(|rest| rest.get(deformation));
            if rest.is_some() && !has_stiffness(beam, deformation) {
                let path = path.key("rest_deformations_m").key(deformation.key());
                self.no_effect(path, "the beam has no stiffness against this deformation");
            }
        }
    }

    /// Where hinges, trusses and sliders start, and where they are slack.
    pub(super) fn start_and_rest(&mut self, path: &Path, element: &ElementSpec) {
        let slack = "without a stiffness it is slack everywhere";
        if let Some(hinge) = &element.hinge {
            let path = path.key("hinge");
            let role = hinge.role.unwrap_or(Role::Dof);
            self.start(
                &path,
                "initial_rotation_rad",
                hinge.initial_rotation_rad,
                role,
            );
            if hinge.rest_rotation_rad.is_some() && hinge.stiffness_n_m_per_rad <= 0.0 {
                self.no_effect(path.key("rest_rotation_rad"), slack);
            }
        }
        if let Some(slider) = &element.slider {
            let path = path.key("slider");
            let role = slider.role.unwrap_or(Role::Dof);
            self.start(&path, "initial_travel_m", slider.initial_travel_m, role);
            if slider.rest_travel_m.is_some() && slider.stiffness_n_per_m <= 0.0 {
                self.no_effect(path.key("rest_travel_m"), slack);
            }
        }
        if let Some(truss) = &element.truss {
            let path = path.key("truss");
            let role = truss.role.unwrap_or(Role::Free);
            self.start(
                &path,
                "initial_elongation_m",
                truss.initial_elongation_m,
                role,
            );
            if truss.rest_length_m.is_some() && role == Role::Fixed {
                let reason = "its elongation is fixed: the distance of its points stays what it is";
                self.no_effect(path.key("rest_length_m"), reason);
            }
        }
    }

    fn start(&mut self, path: &Path, key: &'static str, given: Option<f64>, role: Role) {
        if given.is_some() && !is_dof(role) {
            self.no_effect(path.key(key), NOT_A_DOF);
        }
    }
}

fn is_dof(role: Role) -> bool {
    matches!(role, Role::Dof | Role::Actuated)
}

fn has_stiffness(beam: &BeamElementSpec, deformation: Deformation) -> bool {
    use Deformation as D;
    let stiffness = match deformation {
        D::Elongation => beam.axial_stiffness_n,
        D::Torsion => beam.torsional_stiffness_n_m2,
        D::BendingZP | D::BendingZQ => beam.bending_stiffness_z_n_m2,
        _ => beam.bending_stiffness_y_n_m2,
    };
    stiffness.is_some()
}
