//! What commands have found of a mechanism and written, read back to be shown: frequency responses, modes, maps of a workspace.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::csv::fields;
use crate::error::IoError;
use crate::map::MapQuantity;
use crate::resource;

/// An analysis. Numbers that are not there are absent: `null` in JSON, an empty cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Analysis {
    /// What `lissom response --out FILE.json` writes.
    Response(Response),
    /// What `lissom modes --json` prints.
    Modes(Modes),
    /// What `lissom map --out FILE.csv` writes.
    Map(Map),
}

type Numbers = Vec<Option<f64>>;

/// Frequency responses between inputs and outputs, with their poles and zeros.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Where they are known.
    pub frequency_rad_per_s: Vec<f64>,
    /// Inputs, and their units.
    pub input_names: Vec<String>,
    /// Units of the inputs.
    pub input_units: Vec<String>,
    /// Outputs.
    pub output_names: Vec<String>,
    /// Units of the outputs.
    pub output_units: Vec<String>,
    /// Real parts by frequency, output and input.
    pub real: Vec<Vec<Numbers>>,
    /// Imaginary parts.
    pub imaginary: Vec<Vec<Numbers>>,
    /// Real parts of the poles, in 1/s.
    pub pole_real: Numbers,
    /// Imaginary parts of the poles.
    pub pole_imaginary: Numbers,
}

/// Modes at one or several instants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// The model.
    pub model: String,
    /// The instants, in seconds.
    pub time_s: Vec<f64>,
    /// Modes, followed from instant to instant.
    pub modes: Vec<Mode>,
}

/// A mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Real and imaginary part of its eigenvalues at every instant, in 1/s.
    pub eigenvalues: Vec<Option<Vec<[f64; 2]>>>,
}

/// Quantities over a grid of two coordinates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// Names and units of the coordinates; the first changes fastest.
    pub axes: [[String; 2]; 2],
    /// Their values.
    pub values: [Vec<f64>; 2],
    /// Names, units and values at every place.
    pub layers: Vec<Layer>,
}

/// A quantity of a map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its values, place by place.
    pub values: Numbers,
}

/// Why a file is none that can be shown.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] IoError),
    /// It is something else.
    #[error(
        "{file}: {what}; expected what lissom response --out FILE.json, lissom modes --json > FILE.json or lissom map --out FILE.csv \
         writes"
    )]
    Other {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
}

/// Reads a file that one of these commands has written; its content tells which.
///
/// # Errors
///
/// [`AnalysisError`].
pub fn read(path: &Path) -> Result<Analysis, AnalysisError> {
    let bytes = resource::read_file(path)?;
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).map_err(|what| AnalysisError::Other {
        file: path.display().to_string(),
        what,
    })
}

fn parse(text: &str) -> Result<Analysis, String> {
    if !text.trim_start().starts_with('{') {
        return map(text).map(Analysis::Map);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.get("modes").is_some() {
        let modes: Modes = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let is_whole = |mode: &Mode| mode.eigenvalues.len() == modes.time_s.len();
        return if modes.modes.iter().all(is_whole) {
            Ok(Analysis::Modes(modes))
        } else {
            Err("a mode is not known at as many instants as there are".to_owned())
        };
    }
    let response: Response = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let [frequencies, outputs, inputs] = [
        response.frequency_rad_per_s.len(),
        response.output_names.len(),
        response.input_names.len(),
    ];
    let fits = |parts: &[Vec<Numbers>]| {
        let of_output = |row: &Numbers| row.len() == inputs;
        let of_frequency =
            |rows: &Vec<Numbers>| rows.len() == outputs && rows.iter().all(of_output);
        parts.len() == frequencies && parts.iter().all(of_frequency)
    };
    let units = [
        response.input_units.len() == inputs,
        response.output_units.len() == outputs,
        response.pole_real.len() == response.pole_imaginary.len(),
        fits(&response.real),
        fits(&response.imaginary),
    ];
    if units.into_iter().all(|fits| fits) {
        Ok(Analysis::Response(response))
    } else {
        Err("its lists are not as long as they should be".to_owned())
    }
}

/// Name and unit of a column that is headed `name [unit]`.
fn head(cell: &str) -> [String; 2] {
    match cell.split_once(" [") {
        Some((name, unit)) => [name, unit.trim_end_matches(']')].map(str::to_owned),
        None => [cell.to_owned(), String::new()],
    }
}

fn map(text: &str) -> Result<Map, String> {
    let mut lines = text.lines();
    let heads: Vec<[String; 2]> = match lines.next() {
        Some(first) => fields(first).iter().map(|cell| head(cell)).collect(),
        None => return Err("it is empty".to_owned()),
    };
    let is_layer = |head: &[String; 2]| {
        let mut quantities = MapQuantity::ALL.iter();
        quantities.any(|quantity| quantity.label()[0] == head[0])
    };
    let chosen: Vec<usize> = (2..heads.len())
        .filter(|&at| is_layer(&heads[at]))
        .collect();
    if chosen.is_empty() {
        return Err("it has no column of a map".to_owned());
    }
    let mut layers: Vec<Layer> = chosen
        .iter()
        .map(|&at| Layer {
            name: heads[at][0].clone(),
            unit: heads[at][1].clone(),
            values: Vec::new(),
        })
        .collect();
    let mut places: Vec<[f64; 2]> = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let cells = fields(line);
        let value = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(x), Some(y)) = (value(0), value(1)) else {
            return Err(format!("line {number} has no place"));
        };
        places.push([x, y]);
        for (layer, &at) in layers.iter_mut().zip(&chosen) {
            layer
                .values
                .push(value(at).filter(|value| value.is_finite()));
        }
    }
    let across = places
        .iter()
        .take_while(|place| place[1] == places[0][1])
        .count();
    let values = [
        places.iter().take(across).map(|place| place[0]).collect(),
        places
            .iter()
            .step_by(across.max(1))
            .map(|place| place[1])
            .collect(),
    ];
    let [x, y]: &[Vec<f64>; 2] = &values;
    let grid = y.iter().flat_map(|&y| x.iter().map(move |&x| [x, y]));
    if places.is_empty() || !grid.eq(places.iter().copied()) {
        return Err("its places are no grid".to_owned());
    }
    Ok(Map {
        axes: [heads[0].clone(), heads[1].clone()],
        values,
        layers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a map of two by two places, one of which cannot be reached; and tables that are none.
    #[test]
    fn maps_are_read_as_they_are_written() {
        let head = "a.angle [rad],hand.y [m],position.x [m],lowest_frequency [rad/s],manipulability,error\n";
        let text =
            format!("{head}0,1,0,5,0.5,\n1,1,0,6,0.25,\n0,2,,,,\"too far, here\"\n1,2,0,8,0,\n");
        let Ok(Analysis::Map(map)) = parse(&text) else {
            panic!("no map");
        };
        assert_eq!(map.axes[1], ["hand.y", "m"].map(str::to_owned));
        assert_eq!(map.values, [vec![0.0, 1.0], vec![1.0, 2.0]]);
        let layer = &map.layers[0];
        assert_eq!(
            (layer.name.as_str(), layer.unit.as_str()),
            ("lowest_frequency", "rad/s")
        );
        assert_eq!(layer.values, [Some(5.0), Some(6.0), None, Some(8.0)]);
        assert_eq!(map.layers[1].values[3], Some(0.0));
        for text in [
            "",
            "time_s,x [m]\n0,1\n",
            &format!("{head}0,1,0,5,0.5,\n1,1,0,6,0.25,\n0,2,0,7,1,\n"),
            &format!("{head}x,1,0,5,0.5,\n"),
            head,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    /// By hand: lists that do not fit each other are refused, whatever is in them.
    #[test]
    fn responses_and_modes_are_whole() {
        let response = |real: &str| {
            format!(
                r#"{{"frequency_rad_per_s":[1,2],"input_names":["u"],"input_units":["N m"],"output_names":["y"],"output_units":["m"],
                "real":{real},"imaginary":[[[0]],[[0]]],"pole_real":[-1,null],"pole_imaginary":[2,-2],"static_gain":[[1]]}}"#
            )
        };
        assert!(matches!(
            parse(&response("[[[1]],[[null]]]")),
            Ok(Analysis::Response(_))
        ));
        for real in ["[[[1]]]", "[[[1,2]],[[1]]]", "[[],[]]", "7"] {
            assert!(parse(&response(real)).is_err(), "{real}");
        }
        let modes = r#"{"model":"m","time_s":[0],"modes":[{"eigenvalues":[[[-1,2],[-1,-2]]],"shape":[[1]]}]}"#;
        assert!(matches!(parse(modes), Ok(Analysis::Modes(_))));
        assert!(parse(&modes.replace("\"time_s\":[0]", "\"time_s\":[0,1]")).is_err());
        assert!(parse("{}").is_err() && parse("{").is_err());
    }
}
