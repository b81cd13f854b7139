//! [`Choice`]: a fidelity as it is named on the command line, and a model with it.

use std::fmt;
use std::str::FromStr;

use lissom::spec::{FidelityPreset, FidelitySpec};
use lissom_spec::Tip;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::load::{self, LoadError, Loaded};

/// A preset, with its own tips or others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The preset.
    pub preset: FidelityPreset,
    /// How tips move, unless as in the preset.
    pub tip: Option<Tip>,
}

/// A fidelity that is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownFidelity {
    /// The preset.
    #[error(
        "unknown fidelity \"{0}\"; choose default, ruthless, inconsistent, consistent, exact, jain_rodriguez, \
         jain_rodriguez_ruthless or rigid"
    )]
    Preset(String),
    /// The tip.
    #[error(
        "unknown tip \"{0}\"; choose rigid, linear, euler_321, euler_123, exact, rotation_vector or \
         chord"
    )]
    Tip(String),
}

impl Choice {
    /// Lissom's default and the models RL, I, CL and EE of Damaren & Sharf 1995.
    pub const USUAL: [Self; 5] = [
        Self::of(FidelityPreset::Default),
        Self::of(FidelityPreset::Ruthless),
        Self::of(FidelityPreset::Inconsistent),
        Self::of(FidelityPreset::Consistent),
        Self::of(FidelityPreset::Exact),
    ];

    const fn of(preset: FidelityPreset) -> Self {
        Self { preset, tip: None }
    }

    /// Its switches, for `[fidelity]`.
    pub fn switches(self) -> FidelitySpec {
        FidelitySpec {
            preset: Some(self.preset),
            tip: self.tip,
            ..FidelitySpec::default()
        }
    }

    /// The same as they are written, such as `preset=exact`.
    pub(super) fn named_switches(self) -> Vec<String> {
        let preset = format!("preset={}", name(&self.preset));
        let tip = self.tip.map(|tip| format!("tip={}", name(&tip)));
        std::iter::once(preset).chain(tip).collect()
    }
}

impl FromStr for Choice {
    type Err = UnknownFidelity;

    /// Reads `inconsistent` or `inconsistent/euler_123`; hyphens may stand for underscores.
    fn from_str(text: &str) -> Result<Self, UnknownFidelity> {
        let (preset, tip) = match text.split_once('/') {
            Some((preset, tip)) => (preset, Some(tip)),
            None => (text, None),
        };
        let unknown = || UnknownFidelity::Preset(preset.to_owned());
        Ok(Self {
            preset: by_name(preset).ok_or_else(unknown)?,
            tip: match tip {
                Some(tip) => {
                    Some(by_name(tip).ok_or_else(|| UnknownFidelity::Tip(tip.to_owned()))?)
                }
                None => None,
            },
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.preset))?;
        match &self.tip {
            Some(tip) => write!(f, "/{}", name(tip)),
            None => Ok(()),
        }
    }
}

fn by_name<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::String(text.trim().replace('-', "_"))).ok()
}

fn name(item: &impl Serialize) -> String {
    match serde_json::to_value(item) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The model with another fidelity in the place of its own and of those of its bodies.
///
/// # Errors
///
/// If the model cannot be built with it.
pub(super) fn with_fidelity(loaded: &Loaded, switches: FidelitySpec) -> Result<Loaded, LoadError> {
    let spec = loaded.spec.with_fidelity(switches);
    let (mechanism, as_run) =
        load::build(&spec, &loaded.visuals).map_err(|problems| LoadError {
            origin: loaded.label.clone(),
            text: None,
            problems,
        })?;
    Ok(Loaded {
        spec,
        mechanism,
        as_run,
        ..loaded.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identity: a name is read as what it was written from.
    #[test]
    fn names_round_trip() {
        for choice in Choice::USUAL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        let tipped: Choice = "inconsistent/euler-123".parse().unwrap();
        assert_eq!(tipped.tip, Some(Tip::Euler123));
        assert_eq!(tipped.to_string(), "inconsistent/euler_123");
        assert!("precise".parse::<Choice>().is_err());
        assert!("exact/straight".parse::<Choice>().is_err());
    }
}
