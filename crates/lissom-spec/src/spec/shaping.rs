//! `[shaping]`: motions that leave modes of vibration as they were.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ModelSpec;
use super::profile::MotionProfile;

/// Input shaping: every motion of the model is convolved with impulses that excite no vibration of some modes \[Singer & Seering 1990\]. Each
/// mode delays the end of the motions, by half of a damped period with `zv` and by a whole one with `zvd`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapingSpec {
    /// Modes by two impulses each: zero vibration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zv: Vec<ShapedModeSpec>,
    /// Modes by three impulses each: zero vibration, and zero derivative of it by the frequency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zvd: Vec<ShapedModeSpec>,
}

/// A mode that motions are not to excite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapedModeSpec {
    /// Its undamped angular frequency.
    pub frequency_rad_per_s: f64,
    /// Its damping ratio, below 1; 0 when absent.
    #[serde(default)]
    pub damping_ratio: f64,
}

/// A share of a motion that comes later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impulse {
    /// The share.
    pub share: f64,
    /// By how much later.
    pub delay_s: f64,
}

impl ShapedModeSpec {
    /// Impulses of its shaper with `order` 1 (ZV) or 2 (ZVD): the binomial of $`(1 + K z)^n / (1 + K)^n`$, half of a damped period apart, with
    /// $`K = e^{-\zeta\pi/\sqrt{1 - \zeta^2}}`$.
    fn impulses(self, order: usize) -> Vec<Impulse> {
        let damped = (1.0 - self.damping_ratio * self.damping_ratio).sqrt();
        let decay = (-self.damping_ratio * std::f64::consts::PI / damped).exp();
        let half_period_s = std::f64::consts::PI / (self.frequency_rad_per_s * damped);
        let two = [
            Impulse {
                share: 1.0 / (1.0 + decay),
                delay_s: 0.0,
            },
            Impulse {
                share: decay / (1.0 + decay),
                delay_s: half_period_s,
            },
        ];
        match order {
            1 => two.to_vec(),
            _ => vec![
                Impulse {
                    share: two[0].share * two[0].share,
                    delay_s: 0.0,
                },
                Impulse {
                    share: 2.0 * two[0].share * two[1].share,
                    delay_s: half_period_s,
                },
                Impulse {
                    share: two[1].share * two[1].share,
                    delay_s: 2.0 * half_period_s,
                },
            ],
        }
    }
}

impl ShapingSpec {
    /// Most modes of both kinds together: each doubles or triples the impulses.
    pub const MOST_MODES: usize = 5;

    /// All impulses, one for every choice of one of each mode.
    pub fn impulses(&self) -> Vec<Impulse> {
        let zv = self.zv.iter().map(|mode| mode.impulses(1));
        let zvd = self.zvd.iter().map(|mode| mode.impulses(2));
        let nothing = Impulse {
            share: 1.0,
            delay_s: 0.0,
        };
        zv.chain(zvd).fold(vec![nothing], |all, own| {
            let both = |one: &Impulse| {
                let one = *one;
                own.iter().map(move |other| Impulse {
                    share: one.share * other.share,
                    delay_s: one.delay_s + other.delay_s,
                })
            };
            all.iter().flat_map(both).collect()
        })
    }
}

impl MotionProfile {
    /// The motion in shares that come one after the other. One at a constant rate stays as it is: it has no beginning, and no acceleration that could excite
    /// anything.
    #[must_use]
    pub fn in_shares(self, impulses: &[Impulse]) -> Self {
        match self {
            Self::ConstantRate { .. } => self,
            profile => Self::Shaped {
                profile: Box::new(profile),
                impulses: impulses.to_vec(),
            },
        }
    }
}

impl ModelSpec {
    /// A motion of the model, shaped if its motions are.
    pub fn shaped(&self, profile: MotionProfile) -> MotionProfile {
        match &self.shaping {
            Some(shaping) => profile.in_shares(&shaping.impulses()),
            None => profile,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Definition: the vibration that impulses leave in each of their modes, damped as it is, vanishes; that of ZVD with its derivative by the
    /// frequency, so that a frequency 5 % off leaves a few hundredths of what ZV does. Shares add up to one.
    #[test]
    fn impulses_cancel_each_other() {
        const ROUNDING: f64 = 1e-14;
        let left = |impulses: &[Impulse], frequency: f64, damping: f64| -> f64 {
            let damped = frequency * (1.0 - damping * damping).sqrt();
            let sum = |part: fn(f64) -> f64| -> f64 {
                let one = |impulse: &Impulse| {
                    let grown = (damping * frequency * impulse.delay_s).exp();
                    impulse.share * grown * part(damped * impulse.delay_s)
                };
                impulses.iter().map(one).sum()
            };
            sum(f64::cos).hypot(sum(f64::sin))
        };
        let mode = |frequency_rad_per_s, damping_ratio| ShapedModeSpec {
            frequency_rad_per_s,
            damping_ratio,
        };
        let both = ShapingSpec {
            zv: vec![mode(7.0, 0.1)],
            zvd: vec![mode(19.0, 0.02)],
        };
        let impulses = both.impulses();
        assert_eq!(impulses.len(), 6);
        let total: f64 = impulses.iter().map(|impulse| impulse.share).sum();
        assert!((total - 1.0).abs() < ROUNDING);
        assert!(left(&impulses, 7.0, 0.1) < 10.0 * ROUNDING);
        assert!(left(&impulses, 19.0, 0.02) < 10.0 * ROUNDING);
        let one = |order: usize| left(&mode(19.0, 0.02).impulses(order), 19.95, 0.02);
        // half of 5 % of half a turn for ZV, the square of that for ZVD
        let off = 0.025 * std::f64::consts::PI;
        assert!((one(1) - off).abs() < 0.1 * off, "{}", one(1));
        assert!((one(2) - off * off).abs() < 0.2 * off * off, "{}", one(2));
    }
}
