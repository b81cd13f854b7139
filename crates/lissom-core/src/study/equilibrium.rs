//! Where a mechanism is at rest in equilibrium.
//!
//! A formulation says how its forces balance ([`Balance`]); `statics` finds where they do. What lies on the mechanism there
//! is the same in both: gravity, inputs and springs, and what `simulation.initial` adds.

use nalgebra::{DMatrix, DVector};

use lissom_numerics::integrate::Flow;
use lissom_numerics::statics::{self, Balance, Failure, NoEquilibrium, Stability};
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
        let state = &found.state;
        Self {
            recording: snapshot(dynamics, state.time_s, &state.position, &state.rates()),
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

/// Finds where the forces of a mechanism balance, from a place near that without load. `state` tells the state without
/// velocities at a place; `watch` is called before every evaluation and may stop the search.
///
/// # Errors
/// When there is no equilibrium, or the mechanism cannot be where the search leads, or it was stopped.
pub fn equilibrium<B: Balance>(
    balance: &mut B,
    start: &B::Place,
    state: impl FnOnce(&mut B, B::Place) -> State,
    watch: &mut dyn FnMut() -> Flow,
) -> Result<Found, Failure<B::Error>> {
    let mut watched = Watched {
        balance,
        watch,
        stopped: false,
    };
    let found = statics::equilibrium(&mut watched, start).and_then(|found| {
        let stability = statics::stability(&mut watched, &found.place);
        Ok((found, stability.map_err(Failure::Placement)?))
    });
    match found {
        Ok((found, stability)) => Ok(Found {
            state: state(balance, found.place),
            stability,
            parts: found.parts,
        }),
        // what a search says that was cut short is not to be believed
        Err(Failure::None(error)) if !watched.stopped => Err(Failure::None(error)),
        Err(Failure::Placement(Some(error))) if !watched.stopped => Err(Failure::Placement(error)),
        Err(_) => Err(Failure::None(NoEquilibrium::Stopped)),
    }
}

/// A balance that cannot be evaluated any more once somebody has stopped the search.
struct Watched<'a, B> {
    balance: &'a mut B,
    watch: &'a mut dyn FnMut() -> Flow,
    stopped: bool,
}

impl<B> Watched<'_, B> {
    fn go_on<E>(&mut self) -> Result<(), Option<E>> {
        self.stopped = self.stopped || (self.watch)() == Flow::Stop;
        if self.stopped { Err(None) } else { Ok(()) }
    }
}

impl<B: Balance> Balance for Watched<'_, B> {
    type Place = B::Place;
    /// None where the search was stopped.
    type Error = Option<B::Error>;

    fn scales(&self) -> &[f64] {
        self.balance.scales()
    }

    fn evaluate(
        &mut self,
        place: &B::Place,
        load: f64,
        residual: &mut DVector<f64>,
    ) -> Result<f64, Self::Error> {
        self.go_on()?;
        Ok(self.balance.evaluate(place, load, residual)?)
    }

    fn stiffness(&mut self, place: &B::Place, load: f64) -> Result<DMatrix<f64>, Self::Error> {
        self.go_on()?;
        Ok(self.balance.stiffness(place, load)?)
    }

    fn displaced(&self, place: &B::Place, change: &DVector<f64>, share: f64) -> B::Place {
        self.balance.displaced(place, change, share)
    }

    fn name(&self, unknown: usize) -> String {
        self.balance.name(unknown)
    }
}
