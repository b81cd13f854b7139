//! A model written in nodes and elements as it stands.

use std::collections::BTreeMap;

use lissom_core::{
    Actions, AxisId, AxisName, Load, LoadTarget, MarkerId, MarkerPath, MotionCurve, rotation_matrix,
};
use lissom_nodal::{
    Assembly, BeamSection, ElementId, End, Mechanism, NodeId, Role, SecondOrderTerms,
};
use lissom_spatial::{Matrix, Vector};
use lissom_spec::spec::{
    BeamDeformationsSpec, BeamElementSpec, Deformation, ElementNodeSpec, ElementSpec, EndSpec,
    Frame, InitialSpec, InputSpec, ModelSpec, RoleSpec, SecondOrderSpec,
};

use super::build::{least_along, missing, tensor};
use super::{NodalAxis, NodalJoint, NodalModel, NodalModelError, Station};

struct Builder<'a> {
    spec: &'a ModelSpec,
    assembly: Assembly,
    nodes: BTreeMap<&'a str, NodeId>,
    elements: BTreeMap<&'a str, ElementId>,
    axes: Vec<NodalAxis>,
    stations: Vec<Station>,
    starts: Vec<DeformationStart>,
    /// The beam that elements are parts of.
    beams: BTreeMap<ElementId, String>,
}

/// How a deformation that is a degree of freedom starts.
struct DeformationStart {
    element: ElementId,
    deformation: usize,
    /// Where it does not start as its nodes are written.
    value: Option<f64>,
    rate: f64,
}

pub(super) fn build(spec: &ModelSpec) -> Result<NodalModel, NodalModelError> {
    let mut builder = Builder {
        spec,
        assembly: Assembly::new(),
        nodes: BTreeMap::new(),
        elements: BTreeMap::new(),
        axes: Vec::new(),
        stations: Vec::new(),
        starts: Vec::new(),
        beams: BTreeMap::new(),
    };
    builder.assembly.set_gravity(spec.gravity_m_per_s2);
    for node in &spec.node {
        builder.add_node(node)?;
    }
    for element in &spec.element {
        builder.add_element(element)?;
    }
    builder.finish()
}

fn role(role: RoleSpec) -> Role {
    match role {
        RoleSpec::Fixed => Role::Fixed,
        RoleSpec::Free => Role::Free,
        RoleSpec::Prescribed => Role::Prescribed,
        RoleSpec::Dof => Role::Dof,
        RoleSpec::Actuated => Role::Actuated,
    }
}

fn turn(vector: [f64; 3]) -> Matrix<f64> {
    rotation_matrix(Vector(vector))
}

impl<'a> Builder<'a> {
    fn add_node(&mut self, node: &'a ElementNodeSpec) -> Result<(), NodalModelError> {
        let name = node.name.as_str();
        let assembly = &mut self.assembly;
        let id = if let Some(point) = &node.point {
            let id = assembly.point(name, point.position_m);
            for (i, &given) in point.roles.iter().flatten().enumerate() {
                assembly.set_coordinate(id, i, role(given));
            }
            assembly.mass(id, point.mass_kg);
            id
        } else if let Some(point) = &node.planar_point {
            let id = assembly.planar_point(name, point.position_m);
            for (i, &given) in point.roles.iter().flatten().enumerate() {
                assembly.set_coordinate(id, i, role(given));
            }
            assembly.mass(id, point.mass_kg);
            id
        } else if let Some(orientation) = &node.orientation {
            let rotation = turn(orientation.rotation_vector_rad);
            let id = assembly.orientation(name, &rotation);
            if let Some(given) = orientation.role {
                assembly.set_node(id, role(given));
            }
            let inertia = tensor(
                orientation.inertia_kg_m2,
                orientation.products_of_inertia_kg_m2,
            );
            assembly.inertia(id, &inertia);
            id
        } else if let Some(angle) = &node.planar_angle {
            let id = assembly.planar_angle(name, angle.angle_rad);
            if let Some(given) = angle.role {
                assembly.set_node(id, role(given));
            }
            let inertia = Matrix([[0.0; 3], [0.0; 3], [0.0, 0.0, angle.inertia_kg_m2]]);
            assembly.inertia(id, &inertia);
            id
        } else {
            return Err(missing(name));
        };
        self.nodes.insert(name, id);
        Ok(())
    }

    fn node(&self, name: &str) -> Result<NodeId, NodalModelError> {
        self.nodes.get(name).copied().ok_or_else(|| missing(name))
    }

    fn end(&self, end: &EndSpec) -> Result<End, NodalModelError> {
        Ok(End {
            point: self.node(&end.point)?,
            orientation: self.node(&end.orientation)?,
        })
    }

    fn add_element(&mut self, element: &'a ElementSpec) -> Result<(), NodalModelError> {
        let name = element.name.as_str();
        if let Some(beam) = &element.beam {
            return self.add_beam(element, beam);
        }
        if let Some(beam) = &element.rigid_beam {
            let (from, to) = (self.end(&beam.from)?, self.end(&beam.to)?);
            let chord = self.assembly.position(to.point) - self.assembly.position(from.point);
            let none = BeamSection::slender(0.0, 0.0, 0.0, 0.0);
            let id = self.assembly.beam(name, from, to, none, least_along(chord));
            self.assembly.set_deformations(id, Role::Fixed);
            return Ok(());
        }
        let (id, value, rate) = if let Some(hinge) = &element.hinge {
            let (from, to) = (self.node(&hinge.from)?, self.node(&hinge.to)?);
            let axis = hinge.axis.unwrap_or([0.0, 0.0, 1.0]);
            let id = self.assembly.hinge(name, from, to, axis);
            let (stiffness, damping) = (hinge.stiffness_n_m_per_rad, hinge.damping_n_m_s_per_rad);
            self.set_spring(id, stiffness, damping, hinge.rest_rotation_rad);
            (id, hinge.initial_rotation_rad, hinge.initial_rate_rad_per_s)
        } else if let Some(slider) = &element.slider {
            let (from, to) = (self.end(&slider.from)?, self.node(&slider.to)?);
            let across = least_along(Vector(slider.axis));
            let id = self.assembly.slider(name, from, to, slider.axis, across);
            let (stiffness, damping) = (slider.stiffness_n_per_m, slider.damping_n_s_per_m);
            self.set_spring(id, stiffness, damping, slider.rest_travel_m);
            (id, slider.initial_travel_m, slider.initial_rate_m_per_s)
        } else if let Some(truss) = &element.truss {
            let (from, to) = (self.node(&truss.from)?, self.node(&truss.to)?);
            let stiffness = truss.axial_stiffness_n;
            let id = match truss.rest_length_m {
                Some(rest) => (self.assembly).truss_of_length(name, from, to, stiffness, rest),
                None => self.assembly.truss(name, from, to, stiffness),
            };
            (id, truss.initial_elongation_m, truss.initial_rate_m_per_s)
        } else {
            return Err(missing(name));
        };
        self.set_roles(element, id);
        self.starts.push(DeformationStart {
            element: id,
            deformation: 0,
            value,
            rate,
        });
        Ok(())
    }

    /// Gives a hinge or slider its spring and damper.
    fn set_spring(&mut self, id: ElementId, stiffness: f64, damping: f64, rest: Option<f64>) {
        if stiffness > 0.0 {
            self.assembly
                .set_spring(id, 0, stiffness, damping / stiffness);
            self.assembly.set_rest(id, 0, rest.unwrap_or(0.0));
        } else if damping > 0.0 {
            self.assembly.couple_damping(&[(id, 0)], vec![damping]);
        }
    }

    /// Says what each deformation of an element is; what inputs and motions may name is an axis of its own.
    fn set_roles(&mut self, element: &'a ElementSpec, id: ElementId) {
        self.elements.insert(&element.name, id);
        let all = element.deformations(self.spec.is_planar_element(element));
        for (index, (deformation, given)) in all.into_iter().enumerate() {
            self.assembly.set_deformation(id, index, role(given));
            let driven = matches!(given, RoleSpec::Prescribed | RoleSpec::Actuated);
            if driven || element.main_deformation() == Some(deformation) {
                let main = element.main_deformation() == Some(deformation);
                self.axes.push(NodalAxis {
                    name: AxisName {
                        joint: element.name.clone(),
                        suffix: deformation.key().to_owned(),
                        part: (!main).then(|| deformation.key().to_owned()),
                        translates: !deformation.turns(),
                        is_motor: false,
                    },
                    element: id,
                    deformation: index,
                });
            }
        }
    }

    fn add_beam(
        &mut self,
        element: &'a ElementSpec,
        beam: &BeamElementSpec,
    ) -> Result<(), NodalModelError> {
        let name = element.name.as_str();
        let (from, to) = (self.end(&beam.from)?, self.end(&beam.to)?);
        let planar = self.spec.is_planar_element(element);
        let section = BeamSection {
            mass_per_length: beam.mass_per_length_kg_per_m,
            axial_stiffness: beam.axial_stiffness_n.unwrap_or(0.0),
            torsional_stiffness: beam.torsional_stiffness_n_m2.unwrap_or(0.0),
            bending_stiffness_y: beam.bending_stiffness_y_n_m2.unwrap_or(0.0),
            bending_stiffness_z: beam.bending_stiffness_z_n_m2.unwrap_or(0.0),
            shear_stiffness: beam.shear_stiffness_n,
            rotary_inertia_per_length: beam.rotary_inertia_kg_m,
            damping_time: beam.damping_time_s,
            second_order: match beam.second_order {
                SecondOrderSpec::All => SecondOrderTerms::ALL,
                SecondOrderSpec::Elongation => SecondOrderTerms::ELONGATION,
                SecondOrderSpec::None => SecondOrderTerms::NONE,
            },
        };
        let start = self.assembly.position(from.point);
        let chord = self.assembly.position(to.point) - start;
        let mut end = from;
        for number in 1..=beam.divisions {
            let label = if beam.divisions == 1 {
                name.to_owned()
            } else {
                format!("{name}.{number}")
            };
            let next = if number == beam.divisions {
                to
            } else {
                let share = number as f64 / beam.divisions as f64;
                self.between(&label, start + chord.scale(share), planar)
            };
            let y = beam.y_direction.unwrap_or_default();
            let id = self.assembly.beam(&label, end, next, section, y);
            self.beams.insert(id, name.to_owned());
            self.set_roles(element, id);
            self.set_deformations(beam, &element.deformations(planar), id);
            end = next;
        }
        Ok(())
    }

    /// Deformations of a beam at the start, and those at which it carries no stress.
    fn set_deformations(
        &mut self,
        beam: &BeamElementSpec,
        deformations: &[(Deformation, RoleSpec)],
        id: ElementId,
    ) {
        let value = |said: &Option<BeamDeformationsSpec>, deformation| {
            said.and_then(|said| said.get(deformation))
        };
        for (index, &(deformation, _)) in deformations.iter().enumerate() {
            if let Some(rest) = value(&beam.rest_deformations_m, deformation) {
                self.assembly.set_rest(id, index, rest);
            }
            self.starts.push(DeformationStart {
                element: id,
                deformation: index,
                value: value(&beam.initial_deformations_m, deformation),
                rate: value(&beam.initial_rates_m_per_s, deformation).unwrap_or(0.0),
            });
        }
    }

    /// A point and an orientation of a beam between its ends.
    fn between(&mut self, label: &str, position: Vector<f64>, planar: bool) -> End {
        let (point, orientation) = (format!("{label}.point"), format!("{label}.orientation"));
        if planar {
            let [x, y, _] = position.0;
            return End {
                point: self.assembly.planar_point(&point, [x, y]),
                orientation: self.assembly.planar_angle(&orientation, 0.0),
            };
        }
        End {
            point: self.assembly.point(&point, position.0),
            orientation: self.assembly.orientation(&orientation, &Matrix::identity()),
        }
    }

    fn load(&mut self, input: &InputSpec) -> Result<Load, NodalModelError> {
        let none = || missing(input.joint.as_deref().unwrap_or("input"));
        if let Some(name) = &input.marker {
            let marker = self.station(name)?;
            let carrier = match (&input.orientation, input.frame) {
                (Some(carrier), Frame::Body) => self.station(carrier)?,
                _ => marker,
            };
            return Load::on_marker(input, marker, carrier).ok_or_else(none);
        }
        let name = input.joint.as_deref().ok_or_else(none)?;
        let id = *self.elements.get(name).ok_or_else(none)?;
        let element = self.spec.find_element(name).ok_or_else(none)?;
        let meant = self.spec.addressed(element, input.deformation);
        let (index, ..) = meant.ok_or_else(none)?;
        let is_meant = |axis: &NodalAxis| (axis.element, axis.deformation) == (id, index);
        let at = self.axes.iter().position(is_meant).ok_or_else(none)?;
        let axis = &self.axes[at].name;
        let target = LoadTarget::Axis(AxisId(at));
        Load::on_joint(self.spec, input, axis.label(), axis.translates, target).ok_or_else(none)
    }

    /// A node at which something acts, or whose axes carry it.
    fn station(&mut self, name: &str) -> Result<MarkerId, NodalModelError> {
        let node = self.node(name)?;
        let spec = self.spec.find_node(name).ok_or_else(|| missing(name))?;
        let turns = spec.turns();
        self.stations.push(Station {
            point: (!turns).then_some(node),
            orientation: turns.then_some((node, Matrix::identity())),
            body: None,
            root: None,
        });
        Ok(MarkerId(self.stations.len() - 1))
    }

    fn finish(mut self) -> Result<NodalModel, NodalModelError> {
        let spec = self.spec;
        let loads = spec.input.iter().map(|input| self.load(input));
        let loads = loads.collect::<Result<Vec<_>, _>>()?;
        let path = MarkerPath::of(spec, |name| self.station(name).ok());
        if let InitialSpec::StaticLoad(case) = &spec.simulation.initial {
            for force in &case.force {
                self.station(&force.marker)?;
            }
        }
        let mechanism = self.assembly.finish()?;
        let drives = mechanism.assembled_drives();
        let mut motions = vec![MotionCurve::held(0.0); drives.len()];
        let mut drive_channels = vec![(String::new(), ""); drives.len()];
        for motion in &spec.motion {
            let name = motion.joint.as_str();
            let element = spec.find_element(name);
            let meant = element.and_then(|e| spec.addressed(e, motion.deformation));
            let drive = match (meant, self.elements.get(name)) {
                (Some((index, ..)), Some(&id)) => mechanism.deformation_drive(id, index),
                _ => (self.nodes.get(name)).and_then(|&node| {
                    let planar_angle = spec.find_node(name)?.planar_angle.is_some();
                    let component = if planar_angle {
                        2
                    } else {
                        motion.component - 1
                    };
                    mechanism.coordinate_drive(node, component)
                }),
            };
            let drive = drive.ok_or_else(|| missing(name))?;
            let profile = motion.profile().ok_or_else(|| missing(name))?;
            let profile = spec.shaped(profile);
            motions[drive] = MotionCurve::new(&profile, drives[drive].value);
            let (turns, only_one) = match (meant, spec.find_node(name)) {
                (Some((index, deformation, _)), _) => (deformation.turns(), index == 0),
                (None, node) => (node.is_some_and(ElementNodeSpec::turns), true),
            };
            drive_channels[drive] = if turns && only_one {
                (format!("{name}.driving_torque"), "N m")
            } else {
                let of = mechanism.drive_name(drive);
                let (what, unit) = if turns {
                    ("torque", "N m")
                } else {
                    ("force", "N")
                };
                (format!("{of}.driving_{what}"), unit)
            };
        }
        let mut position = mechanism.assembled_position();
        let mut velocity = vec![0.0; mechanism.dof_count()];
        for start in self.starts {
            if let Some(dof) = mechanism.deformation_dof(start.element, start.deformation) {
                velocity[dof] = start.rate;
                if let Some(value) = start.value {
                    position[mechanism.dof_positions(dof).start] = value;
                }
            }
        }
        for node in &spec.node {
            if let Some(&id) = self.nodes.get(node.name.as_str()) {
                start_node(&mechanism, id, node, &mut velocity);
            }
        }
        Ok(NodalModel {
            joints: (0..self.axes.len())
                .map(|axis| NodalJoint::Axis(AxisId(axis)))
                .collect(),
            axes: self.axes,
            balls: Vec::new(),
            markers: Vec::new(),
            stations: self.stations,
            nodes: (spec.node.iter())
                .filter_map(|node| self.nodes.get(node.name.as_str()).copied())
                .collect(),
            actions: Actions {
                loads,
                ..Actions::default()
            },
            motions,
            drive_channels,
            carrying: Vec::new(),
            closures: Vec::new(),
            path,
            charts: None,
            has_loops: false,
            rigid: BTreeMap::new(),
            beams: self.beams,
            loaded: Vec::new(),
            gauges: Vec::new(),
            bent: Vec::new(),
            start_s: spec.simulation.start_s,
            initial_position: position,
            initial_velocity: velocity,
            mechanism,
        })
    }
}

/// Writes the velocity of a node's degrees of freedom at the start.
fn start_node(mechanism: &Mechanism, id: NodeId, node: &ElementNodeSpec, velocity: &mut [f64]) {
    let given = if let Some(point) = &node.point {
        point.initial_velocity_m_per_s
    } else if let Some(point) = &node.planar_point {
        let [x, y] = point.initial_velocity_m_per_s;
        [x, y, 0.0]
    } else if let Some(orientation) = &node.orientation {
        orientation.initial_angular_velocity_rad_per_s
    } else if let Some(angle) = &node.planar_angle {
        [0.0, 0.0, angle.initial_rate_rad_per_s]
    } else {
        [0.0; 3]
    };
    for (component, rate) in given.into_iter().enumerate() {
        if let Some(dof) = mechanism.coordinate_dof(id, component) {
            velocity[dof] = rate;
        }
    }
}
