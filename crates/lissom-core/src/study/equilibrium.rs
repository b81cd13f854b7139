//! Where a mechanism is at rest in equilibrium.
//!
//! A formulation says how its forces balance ([`Balance`]); `statics` finds where they do. What lies on the mechanism there
//! is the same in both: gravity, inputs and springs, and what `simulation.initial` adds.

use lissom_numerics::statics::{self, Balance, Failure, Stability};
use lissom_spatial::Vector;
use lissom_spec::spec::{InitialSpec, LoadProfile, LoadQuantity};

use crate::action::{Load, LoadTarget, Toward};
use crate::dynamics::Dynamics;
use crate::profile::LoadCurve;
use crate::recording::Recording;
use crate::sampler::snapshot;
use crate::state::State;
use crate::view::MarkerId;

/// What lies on a mechanism before a run begins, beside what the model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StaticLoads {
    /// Acceleration of free fall in place of the model's.
    pub gravity: Option<Vector<f64>>,
    /// Forces on markers.
    pub loads: Vec<Load>,
}

impl StaticLoads {
    /// A share of every force at an instant.
    pub fn values(&self, time_s: f64, share: f64) -> Vec<(Load, f64)> {
        let value = |load: &Load| share * LoadCurve::new(&load.profile).value(time_s);
        let loads = self.loads.iter();
        loads.map(|load| (load.clone(), value(load))).collect()
    }

    /// Those of a start; `find` finds a marker by its name.
    pub fn of(initial: &InitialSpec, find: impl Fn(&str) -> Option<MarkerId>) -> Self {
        let InitialSpec::StaticLoad(case) = initial else {
            return Self::default();
        };
        let load = |(name, force): (&String, [f64; 3])| {
            let vector = Vector(force);
            let size = vector.dot(vector).sqrt();
            let toward = Toward {
                direction: vector.scale(1.0 / size),
                carried_by: None,
            };
            let target = LoadTarget::Marker(find(name)?, toward);
            (size > 0.0).then(|| Load {
                name: name.clone(),
                quantity: LoadQuantity::Force,
                target,
                profile: LoadProfile::Constant { value: size },
                in_feedforward: false,
            })
        };
        let forces = case.force.iter();
        Self {
            gravity: case.gravity_m_per_s2.map(Vector),
            loads: forces
                .filter_map(|force| load((&force.marker, force.force_n)))
                .collect(),
        }
    }
}

/// A mechanism at rest in equilibrium.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Equilibrium {
    /// Where it is.
    pub state: State,
    /// Every channel there, as a single sample.
    pub recording: Recording,
    /// Whether it holds when it is touched; `None` where only the modes tell.
    pub stability: Option<Stability>,
    /// Parts in which the load was added.
    pub parts: usize,
}

impl Equilibrium {
    /// The equilibrium that was found, where `dynamics` are made.
    pub fn recorded(found: Found, dynamics: &mut dyn Dynamics) -> Self {
        let State {
            time_s,
            position,
            velocity,
            ..
        } = &found.state;
        Self {
            recording: snapshot(dynamics, *time_s, position, velocity),
            stability: found.stability,
            parts: found.parts,
            state: found.state,
        }
    }
}

/// Where forces balance.
#[derive(Clone, Debug)]
pub struct Found {
    /// At rest there.
    pub state: State,
    /// Whether it holds when it is touched.
    pub stability: Option<Stability>,
    /// Parts in which the load was added.
    pub parts: usize,
}

/// Finds where the forces of a mechanism balance, from a place near where it rests without load. `state` tells the state of
/// rest at a place.
///
/// # Errors
/// When there is no equilibrium, or the mechanism cannot be where the search leads.
pub fn equilibrium<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    state: impl FnOnce(&mut B, B::Place) -> State,
) -> Result<Found, Failure<B::Error>> {
    let found = statics::equilibrium(balance, start)?;
    let stability = statics::stability(balance, &found.place).map_err(Failure::Placement)?;
    Ok(Found {
        state: state(balance, found.place),
        stability,
        parts: found.parts,
    })
}
