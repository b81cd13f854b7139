//! [`Map`]: a mechanism at a marker over a grid of two coordinates, of joints or of the marker.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lissom::evaluate::{EndEffector, MarkerTarget, Targets, end_effector};
use lissom::spec::TwistComponent;
use lissom::{Flow, Mechanism, State};
use lissom_spec::nearest;

use crate::csv::quoted;
use crate::size;
use crate::sweep::Values;
use crate::threads::on_threads;

/// Most places of a grid.
pub const MOST_PLACES: usize = 100_000;
/// Entries of a Jacobian below this part of its largest move nothing.
const NO_MOTION: f64 = 1e-9;

/// One axis of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct GridAxis {
    /// A coordinate of a joint as recordings call it, `shoulder.angle`, or a component of a marker, `hand.x`.
    pub name: String,
    /// Its values, rising.
    pub values: Vec<f64>,
}

/// A grid over which a mechanism is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The axes, whose first changes fastest.
    pub axes: [GridAxis; 2],
    /// Their units.
    pub units: [String; 2],
    /// The mechanism at every place, or why it cannot be there. Less than there are places if it was stopped.
    pub places: Vec<Result<EndEffector, String>>,
    /// Components of the marker's velocity that are moved anywhere: 0 for x.
    pub components: Vec<usize>,
}

/// A quantity of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapQuantity {
    /// Lowest natural frequency with the drives held.
    Frequency,
    /// Smallest stiffness at the marker of all directions.
    Stiffness,
    /// Product of the singular values of the Jacobian.
    Manipulability,
    /// Smallest singular value of the Jacobian by its largest: zero where the mechanism is singular.
    Conditioning,
}

impl MapQuantity {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Frequency,
        Self::Stiffness,
        Self::Manipulability,
        Self::Conditioning,
    ];

    /// Name and unit.
    pub fn label(self) -> [&'static str; 2] {
        match self {
            Self::Frequency => ["lowest_frequency", "rad/s"],
            Self::Stiffness => ["least_stiffness", "N/m"],
            Self::Manipulability => ["manipulability", ""],
            Self::Conditioning => ["conditioning", "1"],
        }
    }
}

impl GridAxis {
    /// Reads `NAME=LOW:HIGH:COUNT`, or a list.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        const HOW: &str = "write shoulder.angle=-1:1:21, with values that rise";
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no `=`; {HOW}"))?;
        let Values::List(values) = Values::parse(values.trim())? else {
            return Err(format!("a grid is not drawn at random; {HOW}"));
        };
        let values = values.iter().map(|value| value.parse::<f64>().ok());
        let values = values.collect::<Option<Vec<f64>>>().unwrap_or_default();
        Self::new(name.trim(), values).map_err(|error| format!("{error}; {HOW}"))
    }

    /// An axis of two values or more.
    ///
    /// # Errors
    ///
    /// When they do not rise.
    pub fn new(name: &str, values: Vec<f64>) -> Result<Self, String> {
        let rise = values.windows(2).all(|pair| pair[0] < pair[1]);
        if values.len() < 2 || !rise || !values.iter().all(|value| value.is_finite()) {
            return Err(format!("`{name}` has no values that rise"));
        }
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }

    /// The marker and the component that it names, if it does.
    fn of_marker<'a>(&self, mechanism: &'a Mechanism) -> Option<(&'a str, TwistComponent)> {
        let mut markers = mechanism.spec().marker.iter();
        markers.find_map(|marker| {
            let is_meant =
                |own: &TwistComponent| self.name == format!("{}.{}", marker.name, own.key());
            let component = TwistComponent::ALL.into_iter().find(is_meant)?;
            Some((marker.name.as_str(), component))
        })
    }
}

impl Map {
    /// Looks at a mechanism at a marker over a grid, on so many threads. Joints of the grid are where it says, and others where the model
    /// starts; for a grid of the marker they follow by inverse kinematics, from one place to the next. `watch` is told how many places are
    /// done, on this thread, and may stop it.
    ///
    /// # Errors
    ///
    /// A name that is not there, or a grid that is too large.
    pub fn of(
        mechanism: &Mechanism,
        marker: &str,
        axes: &[GridAxis; 2],
        threads: usize,
        watch: &mut dyn FnMut(usize) -> Flow,
    ) -> Result<Self, String> {
        let count = axes[0].values.len().saturating_mul(axes[1].values.len());
        if count > MOST_PLACES {
            return Err(format!(
                "the grid has {count} places, more than {MOST_PLACES}; take fewer values"
            ));
        }
        size::refuse_large_map(count, mechanism.written().position.len())
            .map_err(|error| error.to_string())?;
        let mut markers = mechanism.spec().marker.iter().map(|own| own.name.as_str());
        if !markers.clone().any(|own| own == marker) {
            let near =
                nearest(marker, markers.by_ref()).map(|near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "the model has no marker {marker}{}",
                near.unwrap_or_default()
            ));
        }
        let (grid, units) = Grid::of(mechanism, axes)?;
        let states = grid.states(mechanism, axes, &mut || watch(0) == Flow::Stop);
        let (found, done) = (Mutex::new(vec![None; states.len()]), AtomicUsize::new(0));
        let work = |at: usize, is_stopped: &mut dyn FnMut() -> bool| {
            let place = looked_at(mechanism, marker, &states[at], is_stopped);
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = place;
            done.fetch_add(1, Ordering::Relaxed);
        };
        let mut is_stopped = || watch(done.load(Ordering::Relaxed)) == Flow::Stop;
        on_threads((0..states.len()).collect(), threads, work, &mut is_stopped);
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let places: Vec<Result<EndEffector, String>> =
            found.into_iter().map_while(|place| place).collect();
        Ok(Self {
            axes: axes.clone(),
            units,
            components: moved(&places),
            places,
        })
    }

    /// A quantity at a place; not a number where there is none.
    pub fn value(&self, quantity: MapQuantity, at: usize) -> f64 {
        let Some(Ok(place)) = self.places.get(at) else {
            return f64::NAN;
        };
        let singular = || place.singular_values(&self.components);
        let found = match quantity {
            MapQuantity::Frequency => place.frequency_rad_per_s,
            MapQuantity::Stiffness => place.least_stiffness_n_per_m(),
            MapQuantity::Manipulability => Some(singular())
                .filter(|own| !own.is_empty())
                .map(|own| own.iter().product()),
            MapQuantity::Conditioning => match singular()[..] {
                [largest, .., least] if largest > 0.0 => Some(least / largest),
                _ => None,
            },
        };
        found.unwrap_or(f64::NAN)
    }

    /// Writes the map as CSV, one line per place: both coordinates, position of the marker, the quantities, its compliance, and why there is none of that.
    ///
    /// # Errors
    ///
    /// What the writer reports.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        const PAIRS: [(usize, usize, &str); 6] = [
            (0, 0, "xx"),
            (1, 1, "yy"),
            (2, 2, "zz"),
            (0, 1, "xy"),
            (0, 2, "xz"),
            (1, 2, "yz"),
        ];
        let mut heads: Vec<String> = (self.axes.iter().zip(&self.units))
            .map(|(axis, unit)| format!("{} [{unit}]", axis.name))
            .collect();
        heads.extend(["x", "y", "z"].map(|own| format!("position.{own} [m]")));
        heads.extend(MapQuantity::ALL.map(|own| match own.label() {
            [name, ""] => name.to_owned(),
            [name, unit] => format!("{name} [{unit}]"),
        }));
        heads.extend(PAIRS.map(|(_, _, name)| format!("compliance.{name} [m/N]")));
        heads.push("error".to_owned());
        let heads: Vec<_> = heads.iter().map(|head| quoted(head)).collect();
        writeln!(out, "{}", heads.join(","))?;
        let across = self.axes[0].values.len();
        for (at, place) in self.places.iter().enumerate() {
            let axes = [
                self.axes[0].values[at % across],
                self.axes[1].values[at / across],
            ];
            write!(out, "{:?},{:?}", axes[0], axes[1])?;
            let (position, compliance, error) = match place {
                Ok(place) => (
                    place.position_m,
                    place.compliance_m_per_n.as_ref().ok(),
                    nothing_holds(place),
                ),
                Err(error) => ([f64::NAN; 3], None, Some(error.clone())),
            };
            for value in position {
                write!(out, ",{value:?}")?;
            }
            for quantity in MapQuantity::ALL {
                write!(out, ",{:?}", self.value(quantity, at))?;
            }
            for (i, j, _) in PAIRS {
                let entry = compliance.map_or(f64::NAN, |own| 0.5 * (own[i][j] + own[j][i]));
                write!(out, ",{entry:?}")?;
            }
            let error = error.unwrap_or_default().replace('\n', " ");
            writeln!(out, ",{}", quoted(&error))?;
        }
        Ok(())
    }
}

/// Why there is no stiffness at a place.
fn nothing_holds(place: &EndEffector) -> Option<String> {
    let nothing = place.compliance_m_per_n.as_ref().err();
    let unstable = || (!place.is_stable).then(|| "the equilibrium is unstable".to_owned());
    nothing.map_or_else(unstable, |name| Some(format!("nothing holds {name}")))
}

/// The mechanism at a place; none if it was stopped.
fn looked_at(
    mechanism: &Mechanism,
    marker: &str,
    state: &Result<State, String>,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Option<Result<EndEffector, String>> {
    let state = match state {
        Ok(state) => state,
        Err(error) => return Some(Err(error.clone())),
    };
    let mut watch = |_: f64| {
        if is_stopped() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    let found = end_effector(mechanism, state, marker, &mut watch);
    match found {
        Ok(found) => Some(found.ok_or_else(|| format!("there is no marker {marker} on a body"))),
        Err(_) if watch(0.0) == Flow::Stop => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// What a grid is over.
enum Grid<'a> {
    Joints,
    Marker([(&'a str, TwistComponent); 2]),
}

impl<'a> Grid<'a> {
    /// Both axes as what they name, with their units.
    fn of(mechanism: &'a Mechanism, axes: &[GridAxis; 2]) -> Result<(Self, [String; 2]), String> {
        if let [Some(one), Some(other)] = axes.each_ref().map(|axis| axis.of_marker(mechanism)) {
            let unit = |component: TwistComponent| if component.entry() < 3 { "rad" } else { "m" };
            let units = [one.1, other.1].map(|component| unit(component).to_owned());
            return Ok((Self::Marker([one, other]), units));
        }
        let [positions, _] = mechanism.coordinates().map_err(|error| error.to_string())?;
        let unit = |axis: &GridAxis| {
            let own = positions.iter().find(|own| own.name == axis.name);
            own.map(|own| own.unit.to_owned()).ok_or_else(|| {
                let near = nearest(&axis.name, positions.iter().map(|own| own.name.as_str()));
                let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                format!(
                    "`{}` is no coordinate of the model{near}; take two coordinates of joints, or two components of a marker, as hand.x and hand.y",
                    axis.name
                )
            })
        };
        Ok((Self::Joints, [unit(&axes[0])?, unit(&axes[1])?]))
    }

    /// States at all places, at rest; none if it was stopped.
    fn states(
        &self,
        mechanism: &Mechanism,
        axes: &[GridAxis; 2],
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Vec<Result<State, String>> {
        let mut start = mechanism.written();
        start.velocity.fill(0.0);
        let (columns, rows) = (axes[0].values.len(), axes[1].values.len());
        let mut states = vec![Err(String::new()); columns * rows];
        let mut near = start;
        for row in 0..rows {
            // there and back, so that every place is beside the one before
            let mut places: Vec<usize> = (0..columns).collect();
            if row % 2 == 1 {
                places.reverse();
            }
            for column in places {
                if is_stopped() {
                    return Vec::new();
                }
                let values = [axes[0].values[column], axes[1].values[row]];
                let state = match self {
                    Self::Joints => posed(mechanism, near.time_s, axes, values),
                    Self::Marker(components) => placed(mechanism, &near, *components, values),
                };
                if let (Self::Marker(_), Ok(state)) = (self, &state) {
                    near = state.clone();
                }
                states[row * columns + column] = state;
            }
        }
        states
    }
}

/// The state at rest with two coordinates of joints where they should be, and others as the model writes them.
fn posed(
    mechanism: &Mechanism,
    time_s: f64,
    axes: &[GridAxis; 2],
    values: [f64; 2],
) -> Result<State, String> {
    let given = axes.iter().map(|axis| axis.name.clone()).zip(values);
    let given: BTreeMap<String, f64> = given.collect();
    let mut state = (mechanism.state(time_s, &given)).map_err(|error| error.to_string())?;
    state.velocity.fill(0.0);
    Ok(state)
}

/// The state at rest near another with two components of a marker where they should be.
fn placed(
    mechanism: &Mechanism,
    near: &State,
    components: [(&str, TwistComponent); 2],
    values: [f64; 2],
) -> Result<State, String> {
    let target = |((marker, component), position): ((&str, TwistComponent), f64)| MarkerTarget {
        marker: marker.to_owned(),
        component,
        position,
        rate: 0.0,
    };
    let targets = Targets {
        held: Vec::new(),
        markers: components.into_iter().zip(values).map(target).collect(),
    };
    let found = (mechanism.configured(near, &targets)).map_err(|error| error.to_string())?;
    Ok(found.map_or_else(|| near.clone(), |found| found.state))
}

/// Components of the velocity that driven joints move anywhere.
fn moved(places: &[Result<EndEffector, String>]) -> Vec<usize> {
    let columns = || places.iter().flatten().flat_map(|place| &place.jacobian);
    let largest = columns()
        .flatten()
        .fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let is_moved =
        |component: &usize| columns().any(|own| own[*component].abs() > NO_MOTION * largest);
    (0..3).filter(is_moved).collect()
}
