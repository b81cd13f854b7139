//! Error against CPU time, a panel for each problem.

use std::fs;
use std::path::Path;

use lissom_report::{Axis, Chart, Curve, Format, Panel, Scale, Style};

use super::front::{Measured, front};
use super::problems::Problem;

/// Writes the settings of each program that nothing of its own beats.
pub(super) fn write(shown: &[(&Problem, Vec<Measured>)], path: &Path) -> Result<(), String> {
    let lines: Vec<_> = shown
        .iter()
        .map(|(problem, measured)| {
            let programs = problem.own().chain(problem.peers());
            let lines = programs.map(|program| {
                let front = front(measured, program);
                let times: Vec<f64> = front.iter().map(|m| m.cpu_s * 1e3).collect();
                let errors: Vec<f64> = front.iter().map(|m| m.error).collect();
                (program, times, errors)
            });
            (problem.title, lines.collect::<Vec<_>>())
        })
        .collect();
    let axis = |label: &str, unit: &str| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Logarithmic,
    };
    let panels = lines.iter().map(|(title, lines)| Panel {
        upward: axis(&format!("{title}: error"), "m"),
        curves: (lines.iter().enumerate())
            .map(|(i, (program, times, errors))| Curve {
                name: (*program).to_owned(),
                channel: (*program).to_owned(),
                points: [times, errors],
                colour: i,
                dash: i,
            })
            .collect(),
    });
    let chart = Chart {
        title: "Error against CPU time".to_owned(),
        across: axis("CPU time", "ms"),
        panels: panels.collect(),
        left_out: Vec::new(),
    };
    let plot = chart
        .draw(Style::default(), Format::Svg)
        .ok_or("nothing to draw")?;
    fs::write(path, plot.bytes).map_err(|e| format!("{}: {e}", path.display()))
}
