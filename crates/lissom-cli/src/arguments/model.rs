//! [`ModelArguments`]: the model of a verb, what is changed of it, and where a study of it begins.

use std::fmt;

use clap::{Args, ValueEnum};
use lissom::Override;

use super::values::change;
use crate::source;
use crate::stop::Stop;

/// The model of a verb, and what is changed of it.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// Model file, or name of a shipped model; without one those are listed.
    model: Option<String>,
    /// Equations instead of the model's: bodies on a tree of joints, or finite elements.
    #[arg(long, value_name = "NAME", value_enum)]
    formulation: Option<FormulationArgument>,
    /// Fidelity preset instead of the model's, and of the switches that the model writes beside it.
    #[arg(long, value_name = "PRESET", value_enum)]
    fidelity: Option<Preset>,
    /// How tips move, instead of the model's or the preset's way.
    #[arg(long, value_name = "TIP", value_enum)]
    tip: Option<TipArgument>,
    #[command(flatten)]
    changes: Changes,
}

/// A model of which every fidelity is run, and what else is changed of it.
#[derive(Debug, Args)]
pub(crate) struct ComparedModelArguments {
    /// Model file, or name of a shipped model; without one those are listed.
    model: Option<String>,
    #[command(flatten)]
    changes: Changes,
}

/// What can be changed of a model whatever is done with it.
#[derive(Debug, Args)]
struct Changes {
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

/// Where a study begins.
#[derive(Debug, Args)]
pub(crate) struct StartArguments {
    /// Start from a state: a JSON file of one, or a recording, at its end or at an instant inside.
    #[arg(long, value_name = "FILE|RECORDING[@S]")]
    pub(crate) from: Option<String>,
}

/// A model with changes, as it was named.
#[derive(Debug)]
pub(crate) struct NamedModel {
    /// A file, or a shipped model.
    pub(crate) name: String,
    /// The changes, in the order they apply.
    pub(crate) overrides: Vec<Override>,
    /// The options that said so, as they are typed.
    options: Vec<String>,
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

impl ModelArguments {
    /// What was named; somebody is asked for a model where none was.
    pub(crate) fn named(&self) -> Result<NamedModel, Stop> {
        let mut named = NamedModel::of(self.model.as_ref())?;
        named.change(
            "formulation",
            self.formulation.as_ref(),
            |name| match name {
                // keeps the settings of a model that is nodal already
                "nodal" => "formulation={nodal={}}".to_owned(),
                name => format!("formulation={name}"),
            },
        );
        named.change("fidelity", self.fidelity.as_ref(), |name| {
            // in the place of the whole table: switches of the model would make another fidelity of it
            format!("fidelity={{preset=\"{name}\"}}")
        });
        named.change("tip", self.tip.as_ref(), |name| {
            format!("fidelity.tip={name}")
        });
        named.add(&self.changes);
        Ok(named)
    }
}

impl ComparedModelArguments {
    /// What was named; somebody is asked for a model where none was.
    pub(crate) fn named(&self) -> Result<NamedModel, Stop> {
        let mut named = NamedModel::of(self.model.as_ref())?;
        named.add(&self.changes);
        Ok(named)
    }
}

impl NamedModel {
    fn of(name: Option<&String>) -> Result<Self, Stop> {
        Ok(Self {
            name: name.map_or_else(source::choose, |name| Ok(name.clone()))?,
            overrides: Vec::new(),
            options: Vec::new(),
        })
    }

    /// A model of this name with changes.
    pub(crate) fn with(name: &str, set: &[Override]) -> Self {
        let mut named = Self {
            name: name.to_owned(),
            overrides: Vec::new(),
            options: Vec::new(),
        };
        named.add(&Changes {
            closure: None,
            set: set.to_vec(),
        });
        named
    }

    /// Adds the change that a value of an option stands for.
    fn change<T: ValueEnum>(
        &mut self,
        option: &str,
        value: Option<&T>,
        change: impl Fn(&str) -> String,
    ) {
        let Some(value) = value.and_then(T::to_possible_value) else {
            return;
        };
        self.options
            .push(format!("--{option} {}", value.get_name()));
        // values of options are values of the format, so that all can be parsed
        self.overrides
            .extend(Override::parse(&change(value.get_name())));
    }

    fn add(&mut self, Changes { closure, set }: &Changes) {
        self.change("closure", closure.as_ref(), |name| {
            format!("simulation.closure={{{name}={{}}}}")
        });
        for change in set {
            let text = change.text();
            let plain = |c: char| c.is_ascii_alphanumeric() || "._=-+/:,".contains(c);
            let typed = if text.chars().all(plain) {
                text
            } else {
                // a shell ends its quotes at the first one
                format!("'{}'", text.replace('\'', "'\\''"))
            };
            self.options.push(format!("--set {typed}"));
        }
        self.overrides.extend(set.iter().cloned());
    }

    /// The model with its changes as they are typed, but with another number at a path.
    pub(crate) fn typed_with(&self, path: &str, number: f64) -> String {
        let before = format!("--set {path}=");
        let others = self.options.iter();
        let others = others.filter(|option| !option.starts_with(&before));
        let typed = others.fold(self.name.clone(), |typed, option| {
            format!("{typed} {option}")
        });
        format!("{typed} {before}{number}")
    }

    /// The changes as texts.
    pub(crate) fn changes(&self) -> Vec<String> {
        self.overrides.iter().map(Override::text).collect()
    }
}

impl fmt::Display for NamedModel {
    /// The model with its changes as they are typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.options
            .iter()
            .try_for_each(|option| write!(f, " {option}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedModel, Override};

    /// By hand.
    #[test]
    fn a_number_is_typed_once() {
        let set = ["simulation.duration_s=0.5", "payload.gripper.mass_kg=1"];
        let set = set.map(|change| Override::parse(change).unwrap());
        let named = NamedModel::with("arm.toml", &set);
        assert_eq!(
            named.typed_with("simulation.duration_s", 1.0),
            "arm.toml --set payload.gripper.mass_kg=1 --set simulation.duration_s=1"
        );
    }

    /// By hand: what is shown can be typed, also where a change has quotes of its own.
    #[test]
    fn quotes_are_those_of_a_shell() {
        let change = Override::parse("marker.0.name='my hand'").unwrap();
        let named = NamedModel::with("arm.toml", &[change]);
        assert_eq!(
            named.to_string(),
            r"arm.toml --set 'marker.0.name='\''my hand'\'''"
        );
    }
}
