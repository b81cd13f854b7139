//! Controllers: torques and forces by deviations from the nominal motion.

use lissom_spec::spec::ControllerSpec;

use crate::axis::AxisName;
use crate::view::AxisId;

/// Feedback on joints with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name, unique among controllers.
    pub name: String,
    /// What it measures and drives.
    pub axes: Vec<ControlledAxis>,
    /// How.
    pub law: ControlLaw,
}

/// An axis under feedback.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlledAxis {
    /// What the joint's axis is called.
    pub name: AxisName,
    /// The axis whose nominal motion it is to make.
    pub joint: AxisId,
    /// What is measured and driven: the axis itself, or the motor behind its elastic gear.
    pub drive: AxisId,
}

impl Controller {
    /// A controller of the file, if every joint is known: gains belong to joints by their place.
    pub fn of(
        spec: &ControllerSpec,
        axis: impl FnMut(&String) -> Option<ControlledAxis>,
    ) -> Option<Self> {
        Some(Self {
            name: spec.name.clone(),
            axes: spec.joints.iter().map(axis).collect::<Option<_>>()?,
            law: ControlLaw::of(spec)?,
        })
    }
}

/// Torque or force by deviations from the nominal motion, $`u = -K_p\,\delta e - K_v\,\delta\dot e`$.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlLaw {
    /// Gains of every joint.
    Joint {
        /// Diagonal of $`K_p`$.
        position: Vec<f64>,
        /// Diagonal of $`K_v`$.
        rate: Vec<f64>,
    },
    /// $`K_p = \bar M\Omega^2`$, $`K_v = 2\bar M\beta\,\Omega`$ with the mass matrix of the joints of the rigid mechanism along
    /// the nominal motion \[Jonker & Aarts 2001, eqs (36)–(40)\].
    Computed {
        /// $`\Omega`$.
        frequency: f64,
        /// $`\beta`$.
        damping: f64,
    },
}

impl ControlLaw {
    /// The law of a controller; `None` where none is given.
    pub fn of(spec: &ControllerSpec) -> Option<Self> {
        match (&spec.joint_pd, &spec.computed_pd) {
            (Some(law), _) => Some(Self::Joint {
                position: law.position_gain.clone(),
                rate: law.rate_gain.clone(),
            }),
            (None, Some(law)) => Some(Self::Computed {
                frequency: law.frequency_rad_per_s,
                damping: law.damping_ratio,
            }),
            (None, None) => None,
        }
    }

    /// Torques and forces on the axes of one controller for deviations of their positions and rates; `mass` gives
    /// $`\bar M`$ by places among these axes.
    fn feed_back(
        &self,
        deviations: &[[f64; 2]],
        mass: impl Fn(usize, usize) -> f64,
        efforts: &mut [f64],
    ) {
        for (i, (effort, [deviation, rate])) in efforts.iter_mut().zip(deviations).enumerate() {
            *effort = match self {
                Self::Joint {
                    position,
                    rate: rates,
                } => -position[i] * deviation - rates[i] * rate,
                Self::Computed { frequency, damping } => {
                    let mut sum = 0.0;
                    for (j, [deviation, rate]) in deviations.iter().enumerate() {
                        let wanted =
                            frequency * frequency * deviation + 2.0 * damping * frequency * rate;
                        sum -= mass(i, j) * wanted;
                    }
                    sum
                }
            };
        }
    }
}

/// Evaluates the laws of controllers.
#[derive(Clone, Debug)]
pub struct Feedback {
    /// Deviations of positions and rates of the axes of one controller.
    deviations: Vec<[f64; 2]>,
}

impl Feedback {
    /// For these controllers.
    pub fn new(controllers: &[Controller]) -> Self {
        let most = controllers.iter().map(|controller| controller.axes.len());
        Self {
            deviations: vec![[0.0; 2]; most.max().unwrap_or(0)],
        }
    }

    /// Torques and forces in the order of controllers and their axes: `measured` and `nominal` give position and rate of an
    /// axis, `mass` the entries of $`\bar M`$ by places among all of these axes.
    pub fn evaluate(
        &mut self,
        controllers: &[Controller],
        measured: impl Fn(AxisId) -> [f64; 2],
        nominal: impl Fn(AxisId) -> [f64; 2],
        mass: impl Fn(usize, usize) -> f64,
        efforts: &mut [f64],
    ) {
        let mut first = 0;
        for Controller { axes, law, .. } in controllers {
            for (deviation, axis) in self.deviations.iter_mut().zip(axes) {
                let ([at, rate], [wanted, wanted_rate]) =
                    (measured(axis.drive), nominal(axis.joint));
                *deviation = [at - wanted, rate - wanted_rate];
            }
            let count = axes.len();
            law.feed_back(
                &self.deviations[..count],
                |i, j| mass(first + i, first + j),
                &mut efforts[first..first + count],
            );
            first += count;
        }
    }
}
