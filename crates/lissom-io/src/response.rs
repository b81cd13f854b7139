//! Frequency responses, as named arrays.
//!
//! | array | shape | meaning |
//! |---|---|---|
//! | `frequency_rad_per_s` | frequencies | angular frequencies |
//! | `real`, `imaginary` | frequencies × outputs × inputs | $`G(i\omega)`$ |
//! | `static_gain` | outputs × inputs | $`G(0)`$; not a number where something moves that nothing holds |
//! | `pole_real`, `pole_imaginary` | poles | by rising absolute value, of conjugate ones that with positive imaginary part |
//! | `zero_real`, `zero_imaginary` | outputs × inputs × most zeros of a pair | transmission zeros of every pair, not a number behind the last |
//!
//! Texts: `input_names`, `output_names`, and the units of each.

use lissom::{Complex, Flow, LinearError, Linearized, SignalNames, Transfer};
use nalgebra::DMatrix;

use crate::arrays::Arrays;

/// Zeros whose real part is a smaller share of them lie on the imaginary axis, but for rounding.
const ON_THE_AXIS: f64 = 1e-7;
/// Zeros smaller than this part of the largest are rounding of one at the origin, as integrals make them.
const AT_THE_ORIGIN: f64 = 1e-13;

/// Outputs that an input moves by a smaller share than others of their unit, at every frequency, are moved by rounding.
const ROUNDING: f64 = 1e-13;

/// The real or the imaginary part of a number.
type Part = fn(&Complex<f64>) -> f64;

/// Names and units of inputs or outputs.
pub type Signals = Vec<(String, String)>;

/// The response of a model at one state.
#[derive(Clone, Debug)]
pub struct Response {
    /// Names and units of the inputs.
    pub inputs: Signals,
    /// Names and units of the outputs.
    pub outputs: Signals,
    /// Angular frequencies, in rad/s.
    pub frequencies: Vec<f64>,
    /// Poles.
    pub poles: Vec<Complex<f64>>,
    /// From every input to every output, the inputs of one output after each other.
    pub pairs: Vec<Pair>,
}

/// The response from one input to one output.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Numbers of its input and its output.
    pub signals: [usize; 2],
    /// $`G(i\omega)`$ at every frequency.
    pub values: Vec<Complex<f64>>,
    /// $`G(0)`$, where the mechanism is held.
    pub static_gain: Option<f64>,
    /// Transmission zeros.
    pub zeros: Vec<Complex<f64>>,
}

impl Pair {
    /// Zeros with a positive real part: a controller cannot invert what they hold back.
    pub fn unstable_zeros(&self) -> impl Iterator<Item = &Complex<f64>> {
        let sizes = self.zeros.iter().map(|zero| zero.norm());
        let largest = sizes.fold(0.0, f64::max);
        (self.zeros.iter()).filter(move |zero| {
            let size = zero.norm();
            size > AT_THE_ORIGIN * largest && zero.re > ON_THE_AXIS * size
        })
    }
}

/// Angular frequencies at which a response is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Frequencies {
    /// About `count` in a range in rad/s, or from below the slowest pole to above the fastest: evenly by their logarithms, and closer where
    /// lightly damped vibrations make the response peak.
    Spread {
        /// The range.
        range: Option<[f64; 2]>,
        /// How many, without those beside peaks.
        count: usize,
    },
    /// These, in rad/s.
    At(Vec<f64>),
}

impl Response {
    /// The response of a model linearised at one state between its inputs and some of its outputs. `watch` is told the instant of the
    /// state after every frequency and every pair, and may stop.
    ///
    /// # Errors
    /// When the mass matrix is singular, eigenvalues are not found, or the watcher stops.
    pub fn of(
        found: &Linearized,
        outputs: &[usize],
        frequencies: &Frequencies,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Self, LinearError> {
        let names = SignalNames::new(&found.trajectory);
        let Some(point) = found.trajectory.points().first() else {
            return Err(LinearError::NoZeros {
                reason: "there is no state",
            });
        };
        let transfer = Transfer::new(&found.trajectory, point)?;
        let signals = [names.inputs, names.outputs];
        Self::between(&transfer, signals, outputs, frequencies, point.time, watch)
    }

    /// The response of equations linearised at `time_s` between inputs and outputs, which have these names and units, in some of the outputs.
    ///
    /// # Errors
    /// When eigenvalues are not found, or the watcher stops.
    pub fn between(
        transfer: &Transfer,
        [inputs, all_outputs]: [Signals; 2],
        outputs: &[usize],
        frequencies: &Frequencies,
        time_s: f64,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Self, LinearError> {
        let mut go_on = || match watch(time_s) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(LinearError::Stopped { at_s: time_s }),
        };
        let poles = transfer.poles(&mut go_on)?;
        let frequencies = match frequencies {
            Frequencies::At(these) => these.clone(),
            &Frequencies::Spread { range, count } => Transfer::spread(&poles, range, count),
        };
        let mut moved = Moved::new(&all_outputs, outputs, inputs.len());
        let mut values = Vec::with_capacity(frequencies.len());
        for &frequency in &frequencies {
            let all = transfer.response(frequency);
            moved.see(&all);
            values.push(all.select_rows(outputs));
            go_on()?;
        }
        let gain = transfer.static_gain();
        let mut pairs = Vec::with_capacity(outputs.len() * inputs.len());
        for (place, &output) in outputs.iter().enumerate() {
            for input in 0..inputs.len() {
                let moves = !moved.known || moved.pairs[(place, input)];
                let or_zero = |value: Complex<f64>| if moves { value } else { Complex::ZERO };
                let gain = gain.as_ref().map(|gain| gain[(output, input)]);
                pairs.push(Pair {
                    signals: [input, place],
                    values: (values.iter().map(|all| or_zero(all[(place, input)]))).collect(),
                    static_gain: gain.map(|gain| if moves { gain } else { 0.0 }),
                    zeros: if moves {
                        transfer.between(&[input], &[output]).zeros(&mut go_on)?
                    } else {
                        Vec::new()
                    },
                });
                go_on()?;
            }
        }
        let named = outputs.iter().map(|&output| all_outputs[output].clone());
        Ok(Self {
            inputs,
            outputs: named.collect(),
            frequencies,
            poles,
            pairs,
        })
    }

    /// As arrays.
    pub fn arrays(&self) -> Arrays {
        let mut arrays = Arrays::default();
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        let frequencies = self.frequencies.clone();
        arrays.push("frequency_rad_per_s", vec![frequencies.len()], frequencies);
        let parts: [(&str, Part); 2] = [("real", |x| x.re), ("imaginary", |x| x.im)];
        for (name, part) in parts {
            let at = |i: usize| self.pairs.iter().map(move |pair| part(&pair.values[i]));
            let values = (0..self.frequencies.len()).flat_map(at).collect();
            let shape = vec![self.frequencies.len(), outputs, inputs];
            arrays.push(name, shape, values);
        }
        let gains = self.pairs.iter().map(|pair| pair.static_gain);
        let gains = gains.map(|gain| gain.unwrap_or(f64::NAN)).collect();
        arrays.push("static_gain", vec![outputs, inputs], gains);
        let most = self.pairs.iter().map(|pair| pair.zeros.len()).max();
        let most = most.unwrap_or(0);
        for (name, part) in parts {
            let poles: Vec<f64> = self.poles.iter().map(part).collect();
            arrays.push(&format!("pole_{name}"), vec![poles.len()], poles);
            let zeros = self.pairs.iter().flat_map(|pair| {
                let own = pair.zeros.iter().map(part);
                own.chain(std::iter::repeat(f64::NAN)).take(most)
            });
            let shape = vec![outputs, inputs, most];
            arrays.push(&format!("zero_{name}"), shape, zeros.collect());
        }
        for (what, signals) in [("input", &self.inputs), ("output", &self.outputs)] {
            let (names, units) = signals.iter().cloned().unzip();
            arrays.texts.push((format!("{what}_names"), names));
            arrays.texts.push((format!("{what}_units"), units));
        }
        arrays
    }
}

/// Which outputs an input moves by more than rounding: an arm along an axis moves a marker across it, and along it by the cosine of a right angle.
struct Moved<'o> {
    /// The outputs that are asked for.
    outputs: &'o [usize],
    /// For every output the first one that has its unit: all of them tell, not those alone that are asked for.
    alike: Vec<usize>,
    /// Whether there is a frequency at which the response has values.
    known: bool,
    /// For every output that is asked for and every input.
    pairs: DMatrix<bool>,
}

impl<'o> Moved<'o> {
    fn new(all: &Signals, outputs: &'o [usize], inputs: usize) -> Self {
        let first = |(_, unit): &(String, String)| all.iter().position(|(_, own)| own == unit);
        Self {
            outputs,
            alike: all.iter().filter_map(first).collect(),
            known: false,
            pairs: DMatrix::from_element(outputs.len(), inputs, false),
        }
    }

    /// Takes the response of all outputs at a frequency into account; where an undamped resonance has no value it tells nothing.
    fn see(&mut self, all: &DMatrix<Complex<f64>>) {
        if all.iter().any(|value| value.norm().is_nan()) {
            return;
        }
        self.known = true;
        let mut largest = DMatrix::<f64>::zeros(all.nrows(), all.ncols());
        for (output, &first) in self.alike.iter().enumerate() {
            for input in 0..all.ncols() {
                let most = &mut largest[(first, input)];
                *most = most.max(all[(output, input)].norm());
            }
        }
        for (place, &output) in self.outputs.iter().enumerate() {
            for input in 0..all.ncols() {
                let rounding = ROUNDING * largest[(self.alike[output], input)];
                self.pairs[(place, input)] |= all[(output, input)].norm() > rounding;
            }
        }
    }
}
