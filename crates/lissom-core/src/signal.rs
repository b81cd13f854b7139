//! [`Signal`]: one quantity that can be named.

use serde::Serialize;

/// A quantity of a mechanism: what recordings, linear models and reports call by one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signal {
    /// Dotted path from the part to the quantity, for example `tip.position.x`; unique in a mechanism.
    pub name: String,
    /// SI unit, `1` when it has none.
    pub unit: String,
    /// What it is to whoever uses it.
    pub kind: Kind,
    /// How far a state must be evaluated to know it.
    pub stage: Stage,
}

/// What a signal is to whoever uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A coordinate or its rate.
    State,
    /// A torque, force or motion from outside.
    Input,
    /// Something that follows.
    Output,
    /// Bookkeeping of energy, momentum and constraints.
    Audit,
}

/// How far a state must be evaluated to know a signal; each stage contains those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Positions are enough.
    Position,
    /// Velocities too.
    Velocity,
    /// Applied forces and accelerations too.
    Acceleration,
    /// Forces of constraint too.
    Reaction,
}

impl Signal {
    /// A signal.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, kind: Kind, stage: Stage) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            kind,
            stage,
        }
    }

    /// A coordinate.
    pub fn position(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::new(name, unit, Kind::State, Stage::Position)
    }

    /// The rate of a coordinate.
    pub fn rate(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::new(name, unit, Kind::State, Stage::Velocity)
    }

    /// A torque or force from outside.
    pub fn input(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::new(name, unit, Kind::Input, Stage::Velocity)
    }

    /// A force of constraint.
    pub fn reaction(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::new(name, unit, Kind::Output, Stage::Reaction)
    }
}
