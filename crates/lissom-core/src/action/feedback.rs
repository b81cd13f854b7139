//! Controllers: torques and forces by deviations from the nominal motion.

use lissom_numerics::{Coordinate, CoordinateKind};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{ControllerSpec, PidSpec, SensorSpec};

use super::Actions;
use super::sampling::{Due, Sampling};
use super::state_space::StateSpaceLaw;
use crate::axis::AxisName;
use crate::view::{AxisId, View};

/// Feedback on joints with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name, unique among controllers.
    pub name: String,
    /// What it drives, and measures unless that is sensors.
    pub axes: Vec<ControlledAxis>,
    /// Channels that it measures, by their places among those of all sensors.
    pub measures: Vec<usize>,
    /// How.
    pub law: ControlLaw,
    /// When, if not always.
    pub sampling: Option<Sampling>,
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
        model: &ModelSpec,
        spec: &ControllerSpec,
        axis: impl FnMut(&str) -> Option<ControlledAxis>,
    ) -> Option<Self> {
        let channels: Vec<String> = (model.sensor.iter())
            .flat_map(SensorSpec::channels)
            .collect();
        let place =
            |name: Option<String>| channels.iter().position(|own| Some(own) == name.as_ref());
        let measures = model
            .measured_by(spec)
            .map(place)
            .collect::<Option<Vec<_>>>()?;
        let axes = model
            .driven_by(spec)
            .map(axis)
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            name: spec.name.clone(),
            law: ControlLaw::of(model, spec)?,
            axes,
            measures,
            sampling: spec.sampled.as_ref().map(Sampling::of),
        })
    }

    /// Its states: those of its law, of one axis after the other, then the answers that it holds, then those that are delayed.
    pub(super) fn states(&self) -> impl Iterator<Item = Coordinate> {
        let state = |axis: &ControlledAxis, what: &str, unit| {
            let name = format!("{}.{}.{what}", self.name, axis.name.joint);
            Coordinate::new(name, unit, CoordinateKind::Control)
        };
        let numbered = |number: usize| {
            let name = format!("{}.state_{}", self.name, number + 1);
            Coordinate::new(name, "1", CoordinateKind::Control)
        };
        let own = (0..self.law.own_states()).map(numbered);
        let of_law = self.axes.iter().flat_map(move |axis| {
            let [_, rate_unit, effort_unit] = axis.name.units();
            let all = [
                state(axis, "integral", effort_unit),
                state(axis, "filtered_rate", rate_unit),
            ];
            all.into_iter().take(self.law.states_per_axis())
        });
        let answers = ["held", "coming"].into_iter().take(self.answers());
        let answers = answers.flat_map(move |which| {
            self.axes.iter().map(move |axis| {
                let [.., unit] = axis.name.units();
                state(axis, &format!("{which}_{}", axis.name.effort_word()), unit)
            })
        });
        own.chain(of_law).chain(answers)
    }

    /// How many states it has.
    pub(crate) fn state_count(&self) -> usize {
        self.law_states() + self.axes.len() * self.answers()
    }

    /// How many of them are those of its law: the first.
    fn law_states(&self) -> usize {
        self.law.own_states() + self.axes.len() * self.law.states_per_axis()
    }

    /// How many answers are kept for every axis: that which is held, and that which is delayed.
    fn answers(&self) -> usize {
        (self.sampling).map_or(0, |sampling| 1 + usize::from(sampling.delay > 0.0))
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
    /// Gains of every joint, with states.
    Pid(Pid),
    /// A linear system.
    StateSpace(StateSpaceLaw),
}

/// Proportional, integral and derivative feedback of every joint by itself, with $`\delta e`$ the deviation:
///
/// ```math
/// u = -k_p\,\delta e + z + k_v x, \qquad \dot z = -k_i\,\delta e + (\bar u_\Sigma - u_\Sigma)/T_w, \qquad
/// \dot x = (-\delta\dot e - x)/T_f ,
/// ```
///
/// $`x = -\delta\dot e`$ without a filter. The integral is brought back with the time $`T_w`$ while the actuator of the joint clips the sum
/// $`u_\Sigma`$ of what is asked of it to $`\bar u_\Sigma`$.
#[derive(Clone, Debug, PartialEq)]
pub struct Pid {
    /// $`k_p`$.
    pub position: Vec<f64>,
    /// $`k_i`$.
    pub integral: Vec<f64>,
    /// $`k_v`$.
    pub rate: Vec<f64>,
    /// $`T_f`$.
    pub filter: Option<f64>,
    /// $`T_w`$.
    pub tracking: Option<f64>,
}

impl Pid {
    fn of(spec: &PidSpec) -> Self {
        Self {
            position: spec.position_gain.clone(),
            integral: spec.integral_gain.clone(),
            rate: spec.rate_gain.clone(),
            filter: spec.rate_filter_s,
            tracking: spec.anti_windup_s,
        }
    }

    /// The effort on an axis for its deviation, the deviation of its rate and its states.
    fn effort(&self, axis: usize, [deviation, rate]: [f64; 2], states: &[f64]) -> f64 {
        let filtered = states.get(1).copied().unwrap_or(-rate);
        -self.position[axis] * deviation + states[0] + self.rate[axis] * filtered
    }

    /// Rates of the states of an axis; `excess` is by how much its actuator clips.
    fn change(
        &self,
        axis: usize,
        [deviation, rate]: [f64; 2],
        excess: f64,
        states: &[f64],
        rates: &mut [f64],
    ) {
        let tracked = self.tracking.map_or(0.0, |time| excess / time);
        rates[0] = -self.integral[axis] * deviation + tracked;
        if let Some(time) = self.filter {
            rates[1] = (-rate - states[1]) / time;
        }
    }
}

impl ControlLaw {
    /// The law of a controller; `None` where none is given.
    pub fn of(model: &ModelSpec, spec: &ControllerSpec) -> Option<Self> {
        if let Some(law) = &spec.state_space {
            let measured = model.measured_by(spec).count();
            let law = StateSpaceLaw::of(law, measured, spec.drives.len());
            return Some(Self::StateSpace(law));
        }
        match (&spec.joint_pd, &spec.computed_pd, &spec.pid) {
            (Some(law), ..) => Some(Self::Joint {
                position: law.position_gain.clone(),
                rate: law.rate_gain.clone(),
            }),
            (None, Some(law), _) => Some(Self::Computed {
                frequency: law.frequency_rad_per_s,
                damping: law.damping_ratio,
            }),
            (None, None, Some(law)) => Some(Self::Pid(Pid::of(law))),
            (None, None, None) => None,
        }
    }

    /// How many states it has for every axis.
    pub fn states_per_axis(&self) -> usize {
        match self {
            Self::Joint { .. } | Self::Computed { .. } | Self::StateSpace(_) => 0,
            Self::Pid(pid) => 1 + usize::from(pid.filter.is_some()),
        }
    }

    /// How many states it has beside those of its axes.
    pub fn own_states(&self) -> usize {
        match self {
            Self::StateSpace(law) => law.states(),
            Self::Joint { .. } | Self::Computed { .. } | Self::Pid(_) => 0,
        }
    }

    /// Torques and forces on the axes of one controller for deviations of their positions and rates; `mass` gives
    /// $`\bar M`$ by places among these axes.
    fn feed_back(
        &self,
        deviations: &[[f64; 2]],
        mass: impl Fn(usize, usize) -> f64,
        states: &[f64],
        efforts: &mut [f64],
    ) {
        let per_axis = self.states_per_axis();
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
                Self::Pid(pid) => {
                    let states = &states[i * per_axis..][..per_axis];
                    pid.effort(i, [*deviation, *rate], states)
                }
                // by readings, not by deviations
                Self::StateSpace(_) => 0.0,
            };
        }
    }
}

/// Evaluates the laws of controllers.
#[derive(Clone, Debug)]
pub struct Feedback {
    /// Deviations of positions and rates of all axes under feedback.
    deviations: Vec<[f64; 2]>,
    /// What the laws say now on all axes, and how their states would change: what sampled ones take over at their ticks.
    fresh: Vec<f64>,
    fresh_rates: Vec<f64>,
    /// What sensors read for continuous controllers.
    readings: Vec<f64>,
}

impl Feedback {
    /// For these controllers.
    pub fn new(controllers: &[Controller]) -> Self {
        let axes: usize = controllers.iter().map(|c| c.axes.len()).sum();
        let states = controllers.iter().map(Controller::state_count).sum();
        Self {
            deviations: vec![[0.0; 2]; axes],
            fresh: vec![0.0; axes],
            fresh_rates: vec![0.0; states],
            readings: Vec::new(),
        }
    }

    /// Reads sensors for continuous controllers.
    pub(crate) fn look(&mut self, actions: &Actions, view: &mut impl View<f64>) {
        let looks = |own: &Controller| own.sampling.is_none() && !own.measures.is_empty();
        if !actions.controllers.iter().any(looks) {
            return;
        }
        self.readings.clear();
        for sensor in &actions.sensors {
            let end = self.readings.len() + sensor.channel_count();
            sensor.see(view, &mut self.readings);
            // those that need accelerations are read at ticks only
            self.readings.resize(end, f64::NAN);
        }
    }

    /// Torques and forces in the order of controllers and their axes: `measured` and `nominal` give position and rate of an
    /// axis, `mass` the entries of $`\bar M`$ by places among all of these axes; `states` are those of the controllers.
    pub fn evaluate(
        &mut self,
        controllers: &[Controller],
        measured: impl Fn(AxisId) -> [f64; 2],
        nominal: impl Fn(AxisId) -> [f64; 2],
        mass: impl Fn(usize, usize) -> f64,
        states: &[f64],
        efforts: &mut [f64],
    ) {
        let (mut first, mut state) = (0, 0);
        for controller in controllers {
            let Controller { axes, law, .. } = controller;
            let own = first..first + axes.len();
            for (deviation, axis) in self.deviations[own.clone()].iter_mut().zip(axes) {
                let ([at, rate], [wanted, wanted_rate]) =
                    (measured(axis.drive), nominal(axis.joint));
                *deviation = [at - wanted, rate - wanted_rate];
            }
            let fresh = &mut self.fresh[own.clone()];
            law.feed_back(
                &self.deviations[own.clone()],
                |i, j| mass(first + i, first + j),
                &states[state..],
                fresh,
            );
            let held = state + controller.law_states();
            if let (ControlLaw::StateSpace(law), None) = (law, controller.sampling) {
                let (own, measured) = (state..held, (&self.readings[..], &controller.measures[..]));
                law.answer(&states[own.clone()], measured, fresh);
                law.change(&states[own.clone()], measured, &mut self.fresh_rates[own]);
            }
            efforts[own.clone()].copy_from_slice(match controller.sampling {
                None => fresh,
                Some(_) => &states[held..held + axes.len()],
            });
            first = own.end;
            state += controller.state_count();
        }
    }

    /// Rates of the states of the controllers where they were evaluated last; `excess` gives by how much the actuator of an axis clips.
    /// Those of sampled ones do not change from tick to tick.
    pub fn change(
        &mut self,
        controllers: &[Controller],
        excess: impl Fn(AxisId) -> f64,
        states: &[f64],
        rates: &mut [f64],
    ) {
        let mut deviations = self.deviations.iter();
        let mut first = 0;
        for controller in controllers {
            let Controller { axes, law, .. } = controller;
            let per_axis = law.states_per_axis();
            // those of a linear system are known from its evaluation
            for (i, (axis, deviation)) in axes.iter().zip(&mut deviations).enumerate() {
                if let ControlLaw::Pid(pid) = law {
                    let own = first + i * per_axis..first + (i + 1) * per_axis;
                    let (states, rates) = (&states[own.clone()], &mut self.fresh_rates[own]);
                    pid.change(i, *deviation, excess(axis.drive), states, rates);
                }
            }
            let own = first..first + controller.state_count();
            match controller.sampling {
                None => rates[own.clone()].copy_from_slice(&self.fresh_rates[own.clone()]),
                Some(_) => rates[own.clone()].fill(0.0),
            }
            first = own.end;
        }
    }

    /// What sampled controllers do at an instant where they were evaluated last: `due` tells what is to be done, `readings` are those of all sensors there, `states` are those of the controllers.
    pub fn tick(
        &self,
        controllers: &[Controller],
        due: impl Fn(&Sampling) -> Due,
        readings: &[f64],
        states: &mut [f64],
    ) {
        let (mut axis, mut state) = (0, 0);
        for controller in controllers {
            let axes = controller.axes.len();
            let of_law = controller.law_states();
            let own = state..state + controller.state_count();
            if let Some(sampling) = &controller.sampling {
                let due = due(sampling);
                let (law, answers) = states[own.clone()].split_at_mut(of_law);
                let (held, coming) = answers.split_at_mut(axes);
                if due.output {
                    held.copy_from_slice(coming);
                }
                if due.sample {
                    let next = if coming.is_empty() { held } else { coming };
                    if let ControlLaw::StateSpace(system) = &controller.law {
                        let measured = (readings, &controller.measures[..]);
                        let before = law.to_vec();
                        system.answer(&before, measured, next);
                        system.change(&before, measured, law);
                    } else {
                        next.copy_from_slice(&self.fresh[axis..axis + axes]);
                        for (state, rate) in law.iter_mut().zip(&self.fresh_rates[own.clone()]) {
                            *state += sampling.period * rate;
                        }
                    }
                }
            }
            axis += axes;
            state = own.end;
        }
    }
}
