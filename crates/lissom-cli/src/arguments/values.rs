//! How single values are read.

use lissom::Override;

pub(super) fn change(text: &str) -> Result<Override, String> {
    Override::parse(text).map_err(|error| format!("{error}; {}", error.remedy()))
}

pub(super) fn stiffening(text: &str) -> Result<u8, String> {
    match text {
        "1" => Ok(1),
        "3" => Ok(3),
        "5" => Ok(5),
        _ => Err("frequencies know cases 1, 3 and 5; 2 and 4 are quasi-static".to_owned()),
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(part) if part.is_finite() && part > 0.0 => Ok(part),
        _ => Err("write a positive number, for example 0.01".to_owned()),
    }
}

pub(super) fn count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count) if (1..=100_000).contains(&count) => Ok(count),
        _ => Err("write a number from 1 to 100000".to_owned()),
    }
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(time_s) if (0.0..=1e9).contains(&time_s) => Ok(time_s),
        _ => Err("write seconds from 0 to 1e9, for example 60".to_owned()),
    }
}

/// Lowest and highest angular frequency of a response, in rad/s.
const FREQUENCIES: [f64; 2] = [1e-12, 1e12];

pub(super) fn frequency(text: &str) -> Result<f64, String> {
    let [least, most] = FREQUENCIES;
    match text.trim().parse::<f64>() {
        Ok(frequency) if (least..=most).contains(&frequency) => Ok(frequency),
        _ => Err(format!(
            "write frequencies in rad/s, from {least:e} to {most:e}"
        )),
    }
}

pub(super) fn instant(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(time_s) if time_s.is_finite() => Ok(time_s),
        _ => Err("write instants in seconds, for example 5,10,20".to_owned()),
    }
}
