//! [`Changes`]: what is changed of a model on the command line.

use std::fmt;

use clap::{Args, ValueEnum};
use lissom::Override;

use super::values::change;

/// Changes to a model that its file does not know.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Equations instead of the model's: bodies on a tree of joints, or finite elements.
    #[arg(long, value_name = "NAME", value_enum)]
    formulation: Option<FormulationArgument>,
    /// Fidelity preset instead of the model's.
    #[arg(long, value_name = "PRESET", value_enum)]
    fidelity: Option<Preset>,
    /// How tips move, instead of the preset's way.
    #[arg(long, value_name = "TIP", value_enum)]
    tip: Option<TipArgument>,
    /// How the equations of loops are formed, instead of the model's way.
    #[arg(long, value_name = "NAME", value_enum)]
    closure: Option<ClosureArgument>,
    #[arg(
        long = "set",
        value_name = "PATH=VALUE",
        value_parser = change,
        help = "Set a value of the model, for example simulation.duration_s=5"
    )]
    set: Vec<Override>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormulationArgument {
    Tree,
    Nodal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    Default,
    Ruthless,
    Inconsistent,
    Consistent,
    Exact,
    #[value(name = "jain_rodriguez", alias = "jain-rodriguez")]
    JainRodriguez,
    #[value(name = "jain_rodriguez_ruthless", alias = "jain-rodriguez-ruthless")]
    JainRodriguezRuthless,
    Rigid,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TipArgument {
    Rigid,
    Linear,
    #[value(name = "euler_321", alias = "euler-321")]
    Euler321,
    #[value(name = "euler_123", alias = "euler-123")]
    Euler123,
    Exact,
    #[value(name = "rotation_vector", alias = "rotation-vector")]
    RotationVector,
    Chord,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClosureArgument {
    Automatic,
    #[value(name = "joint_space", alias = "joint-space")]
    JointSpace,
    #[value(name = "cartesian_space", alias = "cartesian-space")]
    CartesianSpace,
    Stabilized,
    Projected,
    #[value(name = "operational_space", alias = "operational-space")]
    OperationalSpace,
}

impl Changes {
    /// All changes as overrides, in the order they apply.
    pub(crate) fn overrides(&self) -> Vec<Override> {
        let switch = |key: &str, value: Option<clap::builder::PossibleValue>| {
            Override::parse(&format!("fidelity.{key}={}", value?.get_name())).ok()
        };
        let preset = self.fidelity.and_then(|preset| preset.to_possible_value());
        let tip = self.tip.and_then(|tip| tip.to_possible_value());
        let closure = self.closure.and_then(|closure| {
            let closure = closure.to_possible_value()?;
            let text = format!("simulation.closure={{{}={{}}}}", closure.get_name());
            Override::parse(&text).ok()
        });
        let formulation = self.formulation.and_then(|formulation| {
            let text = match formulation {
                FormulationArgument::Tree => "formulation=tree",
                // keeps the settings of a model that is nodal already
                FormulationArgument::Nodal => "formulation={nodal={}}",
            };
            Override::parse(text).ok()
        });
        let [preset, tip] = [switch("preset", preset), switch("tip", tip)];
        let switches = [formulation, preset, tip, closure];
        let switches = switches.into_iter().flatten();
        switches.chain(self.set.iter().cloned()).collect()
    }
}

impl fmt::Display for Changes {
    /// The changes as they are typed, each behind a space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn name(value: Option<impl ValueEnum>) -> Option<String> {
            Some(value?.to_possible_value()?.get_name().to_owned())
        }
        let switches = [
            ("formulation", name(self.formulation)),
            ("fidelity", name(self.fidelity)),
            ("tip", name(self.tip)),
            ("closure", name(self.closure)),
        ];
        for (option, value) in switches {
            if let Some(value) = value {
                write!(f, " --{option} {value}")?;
            }
        }
        for change in &self.set {
            let text = change.text();
            let plain = |c: char| c.is_ascii_alphanumeric() || "._=-+/:,".contains(c);
            if text.chars().all(plain) {
                write!(f, " --set {text}")?;
            } else {
                write!(f, " --set '{text}'")?;
            }
        }
        Ok(())
    }
}
