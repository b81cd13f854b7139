//! [`Stepper`]: an integration under way, whatever its method.

use lissom_numerics::integrate::{
    IntegrateError, Integration, IntegratorMemory, Observer, Outcome, Statistics,
    StructuralIntegration, Target,
};
use lissom_spec::spec::IntegratorSpec;

use crate::dynamics::Dynamics;
use crate::integrator::Integrator;
use crate::state::State;

/// An integration under way by the method that a model asks for.
pub(crate) enum Stepper {
    /// Of positions, velocities and works.
    Adaptive(Box<Integration>),
    /// Of positions and velocities.
    Fixed(Box<StructuralIntegration>),
}

impl Stepper {
    /// An integration that begins at a state.
    pub(crate) fn new(spec: &IntegratorSpec, start: &State) -> Result<Self, IntegrateError> {
        let (time, position, velocity) = (start.time_s, &start.position, &start.rates());
        Ok(match Integrator::of(spec) {
            Integrator::Adaptive(method, control) => {
                let integration = Integration::new(method, &control, time, &start.packed())?;
                Self::Adaptive(Box::new(integration))
            }
            Integrator::Fixed(scheme, options) => Self::Fixed(Box::new(
                StructuralIntegration::new(scheme, &options, time, position, velocity)?,
            )),
        })
    }

    /// The integration that left a state behind, if it was by the same method and nobody has changed the state since.
    pub(crate) fn resumed(spec: &IntegratorSpec, start: &State) -> Option<Self> {
        let mut memory = start.integrator.clone()?;
        let progress = &mut memory.progress;
        let motion = [&start.position[..], &start.rates()].concat();
        if progress.time != start.time_s || progress.state.get(..motion.len())? != motion {
            return None;
        }
        // whoever goes on records where that is
        progress.sampled = None;
        match Integrator::of(spec) {
            Integrator::Adaptive(method, control) => {
                let resumed = Integration::resume(method, &control, &memory);
                resumed.ok().map(Box::new).map(Self::Adaptive)
            }
            Integrator::Fixed(scheme, options) => {
                let resumed = StructuralIntegration::resume(scheme, &options, &memory);
                resumed.ok().map(Box::new).map(Self::Fixed)
            }
        }
    }

    pub(crate) fn advance(
        &mut self,
        dynamics: &mut dyn Dynamics,
        target: &Target<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, IntegrateError> {
        match self {
            Self::Adaptive(integration) => integration.advance(dynamics, target, observer),
            Self::Fixed(integration) => integration.advance(dynamics, target, observer),
        }
    }

    /// Starts afresh at the present instant.
    pub(crate) fn restart(&mut self) {
        match self {
            Self::Adaptive(integration) => integration.restart(),
            Self::Fixed(integration) => integration.restart(),
        }
    }

    /// The entry of the state from which its errors count components: structural methods count velocities only.
    pub(crate) fn first_component(&self, dynamics: &dyn Dynamics) -> usize {
        match self {
            Self::Adaptive(_) => 0,
            Self::Fixed(_) => dynamics.position_count(),
        }
    }

    /// Whether the works are part of what is integrated.
    pub(crate) fn integrates_work(&self) -> bool {
        matches!(self, Self::Adaptive(_))
    }

    pub(crate) fn time(&self) -> f64 {
        match self {
            Self::Adaptive(integration) => integration.time(),
            Self::Fixed(integration) => integration.time(),
        }
    }

    /// Positions and velocities, and what else is integrated.
    pub(crate) fn state(&self) -> &[f64] {
        match self {
            Self::Adaptive(integration) => integration.state(),
            Self::Fixed(integration) => integration.state(),
        }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        match self {
            Self::Adaptive(integration) => integration.statistics(),
            Self::Fixed(integration) => integration.statistics(),
        }
    }

    pub(crate) fn memory(&self) -> IntegratorMemory {
        match self {
            Self::Adaptive(integration) => integration.memory(),
            Self::Fixed(integration) => integration.memory(),
        }
    }
}
