//! Reduction of large solid meshes: time and memory.

use std::time::Instant;

use cpu_time::ProcessTime;
use lissom_fe::{Attached, FeError, Kind, NEVER, block, block_spec, reduce};
use lissom_spec::spec::{MaterialSpec, MeshBasisSpec, MeshModesSpec};

/// Modes with all interfaces held.
const MODES: usize = 8;

/// A block to reduce.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is.
    pub name: &'static str,
    kind: Kind,
    cells: [usize; 3],
    size_m: [f64; 3],
}

/// As long as the links of robots are against their thickness.
pub const LINK: Case = Case {
    name: "link, hexahedra of 20 nodes",
    kind: Kind::Hexa20,
    cells: [80, 10, 9],
    size_m: [0.8, 0.12, 0.1],
};

/// As thick as it is long, the worst for a sparse factor, of what meshers make.
pub const THICK: Case = Case {
    name: "cube, tetrahedra of 10 nodes",
    kind: Kind::Tetra10,
    cells: [16, 16, 16],
    size_m: [0.3, 0.3, 0.3],
};

/// What a reduction took.
#[derive(Clone, Copy, Debug)]
pub struct Weighed {
    /// Elements of the mesh.
    pub elements: usize,
    /// Unknowns that deform it.
    pub unknowns: usize,
    /// Processor time.
    pub cpu_s: f64,
    /// Time on the wall.
    pub seconds: f64,
    /// Most memory that this process has had so far, where the system tells.
    pub peak_mib: Option<f64>,
}

/// What reducing [`LINK`] and [`THICK`] takes, as a table.
pub fn table() -> String {
    let mut lines = vec![
        "\nReduction of a mesh to 6 static shapes and 8 modes of Craig and Bampton, with what stiffens it".to_owned(),
        format!(
            "{:<34} {:>9} {:>10} {:>10} {:>10} {:>12}",
            "", "elements", "unknowns", "CPU s", "s", "peak MiB"
        ),
    ];
    // the highest peak last: it is that of the process
    for case in [LINK, THICK] {
        lines.push(match weigh(&case) {
            Ok(Weighed {
                elements,
                unknowns,
                cpu_s,
                seconds,
                peak_mib,
            }) => {
                let peak = peak_mib.map_or_else(|| "unknown".to_owned(), |mib| format!("{mib:.0}"));
                format!(
                    "{:<34} {elements:>9} {unknowns:>10} {cpu_s:>10.1} {seconds:>10.1} {peak:>12}",
                    case.name
                )
            }
            Err(error) => format!("{}: {error}", case.name),
        });
    }
    lines.join("\n")
}

/// Makes a block and reduces it with both ends as interfaces.
///
/// # Errors
///
/// None, unless there is too little memory for numbers.
pub fn weigh(case: &Case) -> Result<Weighed, FeError> {
    let mesh = block(case.kind, case.cells, case.size_m);
    let modes = MeshModesSpec {
        modes: Some(MODES),
        ..MeshModesSpec::default()
    };
    let aluminium = MaterialSpec {
        group: None,
        youngs_modulus_pa: 7.0e10,
        poisson_ratio: 0.33,
        density_kg_per_m3: 2700.0,
    };
    let spec = block_spec(aluminium, MeshBasisSpec::CraigBampton(modes));
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let reduction = reduce(&mesh, &spec, &Attached::default(), NEVER)?;
    Ok(Weighed {
        elements: reduction.source.elements,
        unknowns: reduction.source.unknowns,
        cpu_s: cpu.elapsed().as_secs_f64(),
        seconds: wall.elapsed().as_secs_f64(),
        peak_mib: peak_mib(),
    })
}

/// The most memory that this process has held, as Linux tells it.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::{Case, Kind, weigh};

    /// By construction: a small block is reduced as the large ones are.
    #[test]
    fn a_small_block_is_weighed() {
        let small = Case {
            name: "small",
            kind: Kind::Tetra10,
            cells: [4, 2, 2],
            size_m: [0.4, 0.1, 0.1],
        };
        let weighed = weigh(&small).unwrap();
        // 9 × 5 × 5 nodes, of which the 25 at each end move with a frame, and one frame is held
        assert_eq!((weighed.elements, weighed.unknowns), (96, 3 * 175 + 6));
    }
}
