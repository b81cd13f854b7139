//! Shapes in which a structure deforms, made orthogonal in mass and stiffness.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::FeError;
use crate::hinged::Chord;
use crate::modes::{self, Mode, Wanted, dot};
use crate::stop::Stop;
use crate::structure::{Structure, subtract};
use lissom_spec::spec::{MeshBasisSpec, MeshFrameSpec, MeshModesSpec, NodeSpec};

/// Share of the compliance of a frame below which what modes leave out of it is rounding.
const NOTHING_LEFT: f64 = 1e-8;

/// Mass of a shape of unit stiffness, relative to that of the slowest one, below which it is rounding.
const MASSLESS: f64 = 1e-14;

/// Modes that are looked at first where a share of the deformation is asked for.
const FIRST_GUESS: usize = 4;

/// What is attached to a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attached {
    /// Places at whose nearest nodes something may be attached.
    pub points: Vec<NodeSpec>,
    /// Names of the interfaces where joints, loads or masses sit.
    pub loaded: BTreeSet<String>,
    /// Axes of unit length about which interfaces turn without a moment: those at which a passive hinge sits, and nothing else.
    pub hinges: BTreeMap<String, Vec<[f64; 3]>>,
    /// Whether nothing holds the body: the joint that carries it is free.
    pub floats: bool,
}

/// A basis that was chosen, and in words why.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The basis.
    pub basis: MeshBasisSpec,
    /// What it was chosen for.
    pub reason: String,
}

/// The basis that suits what is attached to the interfaces, if it is to be chosen.
pub(crate) fn choose(
    basis: &MeshBasisSpec,
    structure: &Structure<'_>,
    interfaces: &[&str],
    attached: &Attached,
) -> Option<Chosen> {
    let &MeshBasisSpec::Auto(own) = basis else {
        return None;
    };
    let loaded: Vec<&str> = (interfaces.iter().skip(1).copied())
        .filter(|&name| attached.loaded.contains(name))
        .collect();
    let (basis, reason) = if attached.floats {
        let residual = !loaded.is_empty();
        let basis = MeshBasisSpec::FreeFree(MeshModesSpec { residual, ..own });
        (basis, "the body floats".to_owned())
    } else if loaded.is_empty() {
        let basis = MeshBasisSpec::ClampedFree(own);
        (
            basis,
            "only the first interface carries anything".to_owned(),
        )
    } else if chord(structure, interfaces, attached).is_some() {
        let reason = format!(
            "passive hinges at {} and {} carry no moment about their axes",
            interfaces[0],
            loaded.join(", ")
        );
        (MeshBasisSpec::Hinged(own), reason)
    } else {
        let reason = format!("something is attached to {}", loaded.join(", "));
        (MeshBasisSpec::CraigBampton(own), reason)
    };
    Some(Chosen { basis, reason })
}

/// The frame on the chord between the two interfaces that passive hinges hold, if these are the first and one more, and nothing is
/// attached to others.
fn chord(structure: &Structure<'_>, interfaces: &[&str], attached: &Attached) -> Option<Chord> {
    let mut loaded = (interfaces.iter().enumerate().skip(1))
        .filter(|(_, name)| attached.loaded.contains(**name));
    let (second, name) = loaded.next()?;
    if loaded.next().is_some() {
        return None;
    }
    let axes = [
        attached.hinges.get(interfaces[0])?,
        attached.hinges.get(*name)?,
    ];
    Chord::of(structure, [0, second], axes)
}

/// The modes of a basis, by rising frequency; one that was to be chosen and was not is Craig and Bampton's, which suits everything.
///
/// # Errors
/// If more modes are asked for than there are, if shapes move no mass, or when it is stopped.
pub(crate) fn modes(
    structure: &mut Structure<'_>,
    basis: &MeshBasisSpec,
    interfaces: &[&str],
    attached: &Attached,
    stop: Stop<'_>,
) -> Result<Vec<Mode>, FeError> {
    let modes = match basis {
        MeshBasisSpec::ClampedFree(own) => {
            let loads = structure.inertia_loads();
            natural(structure, own, &loads, stop)?
        }
        MeshBasisSpec::FreeFree(own) => {
            structure.take_mean_axes();
            let loads = structure.frame_loads();
            natural(structure, own, &loads, stop)?
        }
        MeshBasisSpec::CraigBampton(own) | MeshBasisSpec::Auto(own) => {
            let modes = with_static_shapes(structure, own, &structure.frame_loads(), stop)?;
            if own.frame == MeshFrameSpec::Tangent {
                modes
            } else {
                structure.take_mean_axes();
                from_mean_axes(structure, modes)?
            }
        }
        MeshBasisSpec::Hinged(own) => {
            let chord = chord(structure, interfaces, attached).ok_or(FeError::NoHinges)?;
            structure.take_axes(&chord.conditions);
            let statics: Vec<Vec<f64>> = (chord.statics.iter())
                .map(|functional| structure.load(functional))
                .collect();
            with_static_shapes(structure, own, &statics, stop)?
        }
    };
    if modes.is_empty() {
        return Err(FeError::NoModes);
    }
    Ok(modes)
}

/// Deformation that modes are to make.
struct Asked<'l> {
    loads: &'l [Vec<f64>],
    /// Work of every load on what modes are to make of its response.
    left: Vec<f64>,
    /// The largest work of a load of its kind on its whole response.
    scale: Vec<f64>,
}

impl<'l> Asked<'l> {
    /// Loads, of which each three are of a kind; modes are to make what `inverse` makes of them.
    fn of(
        structure: &Structure<'_>,
        loads: &'l [Vec<f64>],
        inverse: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>>,
    ) -> Self {
        let works = |responses: Vec<Vec<f64>>| -> Vec<f64> {
            let pairs = loads.iter().zip(&responses);
            pairs.map(|(load, response)| dot(load, response)).collect()
        };
        let scale = (works(structure.solve(loads)).chunks(3))
            .flat_map(|kind| {
                let most = kind.iter().fold(0.0, |most: f64, own| most.max(*own));
                vec![most; kind.len()]
            })
            .collect();
        Self {
            loads,
            left: works(inverse(loads)),
            scale,
        }
    }

    /// The largest share that is left when modes have made theirs.
    fn share(&self, modes: &[Mode]) -> f64 {
        let left = |((load, left), scale): ((&Vec<f64>, &f64), &f64)| {
            let made = (modes.iter()).map(|mode| dot(&mode.vector, load).powi(2) / mode.square);
            (left - made.sum::<f64>()) / scale
        };
        let shares = self.loads.iter().zip(&self.left).zip(&self.scale).map(left);
        // a load that deforms nothing leaves nothing
        shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
    }
}

/// The lowest modes that something held gives, all of them if a number was asked for; if an accuracy was, as many as leave out no more
/// of the deformation under `loads`.
fn lowest(
    structure: &Structure<'_>,
    spec: &MeshModesSpec,
    loads: &[Vec<f64>],
    inverse: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>>,
    stop: Stop<'_>,
) -> Result<Vec<Mode>, FeError> {
    let size = structure.unknowns;
    let times_mass = |x: &[f64]| structure.times_mass(x);
    let find = |wanted| modes::lowest(wanted, size, &inverse, times_mass, stop);
    match *spec {
        MeshModesSpec {
            modes: Some(modes), ..
        } => {
            let most = structure.deformations();
            let found = if modes > most {
                None
            } else {
                Some(find(Wanted::Count(modes))?)
            };
            match found {
                Some(found) if found.len() >= modes => Ok(found),
                found => Err(FeError::TooManyModes {
                    modes,
                    found: found.map_or(most, |found| found.len()),
                }),
            }
        }
        MeshModesSpec {
            frequency_rad_per_s: Some(frequency),
            ..
        } => {
            let found = find(Wanted::Below(frequency * frequency))?;
            if found.len() > modes::MOST_BELOW {
                return Err(FeError::TooManyBelow { frequency });
            }
            Ok(found)
        }
        MeshModesSpec { accuracy, .. } => {
            let accuracy = accuracy.unwrap_or(0.0);
            let asked = Asked::of(structure, loads, &inverse);
            let mut count = FIRST_GUESS.min(structure.deformations());
            loop {
                let mut found = find(Wanted::Count(count))?;
                let is_enough = |kept: &usize| asked.share(&found[..*kept]) <= accuracy;
                if let Some(kept) = (0..=found.len()).find(is_enough) {
                    found.truncate(kept);
                    return Ok(found);
                }
                if found.len() < count || count >= modes::MOST_BELOW {
                    let (left, modes) = (asked.share(&found), found.len());
                    return Err(FeError::Inaccurate {
                        accuracy,
                        modes,
                        left,
                    });
                }
                count = (2 * count).min(modes::MOST_BELOW);
            }
        }
    }
}

/// What modes leave out of the deformation under loads of inertia, as a share; none where these deform nothing, as in mean axes.
pub(crate) fn left_out(structure: &Structure<'_>, modes: &[Mode]) -> Option<f64> {
    let loads = structure.inertia_loads();
    let deforms = loads.iter().any(|load| structure.is_deformed_by(load));
    deforms.then(|| Asked::of(structure, &loads, |x| structure.solve(x)).share(modes))
}

/// Modes in the frame of reference, with what they leave out of the compliance of the interfaces if that is asked for.
fn natural(
    structure: &Structure<'_>,
    spec: &MeshModesSpec,
    loads: &[Vec<f64>],
    stop: Stop<'_>,
) -> Result<Vec<Mode>, FeError> {
    let mut modes = lowest(structure, spec, loads, |x| structure.solve(x), stop)?;
    if let (None, true, Some(frequency)) = (spec.modes, modes.is_empty(), spec.frequency_rad_per_s)
    {
        let times_mass = |x: &[f64]| structure.times_mass(x);
        let inverse = |x: &[Vec<f64>]| structure.solve(x);
        let size = structure.unknowns;
        let first = modes::lowest(Wanted::Count(1), size, inverse, times_mass, stop)?;
        if let Some(first) = first.first() {
            let lowest = first.square.sqrt();
            return Err(FeError::NoneBelow { frequency, lowest });
        }
    }
    if spec.residual {
        let left = residual(structure, &modes)?;
        modes.extend(left);
        modes.sort_by(|a, b| a.square.total_cmp(&b.square));
    }
    Ok(modes)
}

/// Responses to forces and moments on the frames that move, without what modes make of them, which are orthogonal to them.
fn residual(structure: &Structure<'_>, modes: &[Mode]) -> Result<Vec<Mode>, FeError> {
    // MacNeal (1971)
    let loads = structure.frame_loads();
    let size = loads.len();
    if size == 0 {
        // a body with one interface, which holds it
        return Ok(Vec::new());
    }
    let mut scaled = Vec::with_capacity(size);
    for (load, mut response) in loads.iter().zip(structure.solve(&loads)) {
        let scale = dot(load, &response).sqrt();
        for mode in modes {
            let share = dot(&mode.vector, load) / mode.square;
            subtract(&mut response, share, &mode.vector);
        }
        for x in &mut response {
            *x /= scale;
        }
        scaled.push((response, scale));
    }
    let stiffness = DMatrix::from_fn(size, size, |i, j| {
        let ij = dot(&loads[i], &scaled[j].0) / scaled[i].1;
        let ji = dot(&loads[j], &scaled[i].0) / scaled[j].1;
        0.5 * (ij + ji)
    });
    if stiffness.iter().any(|entry| !entry.is_finite()) {
        return Err(FeError::NoModes);
    }
    let eigen = SymmetricEigen::new(stiffness);
    let kept = (0..size).filter(|&k| eigen.eigenvalues[k] > NOTHING_LEFT);
    let vectors: Vec<Vec<f64>> = kept
        .map(|k| {
            let mut sum = vec![0.0; structure.unknowns];
            let root = eigen.eigenvalues[k].sqrt();
            for ((response, _), factor) in scaled.iter().zip(&eigen.eigenvectors.column(k)) {
                subtract(&mut sum, -factor / root, response);
            }
            sum
        })
        .collect();
    let unit = DMatrix::identity(vectors.len(), vectors.len());
    orthogonal(structure, &vectors, &unit)
}

/// Static shapes of displacements and rotations of interfaces, given by `loads` of one on each, and modes with all of them held, made orthogonal in
/// mass and stiffness: those of Craig and Bampton if they are all that move.
fn with_static_shapes(
    structure: &Structure<'_>,
    spec: &MeshModesSpec,
    loads: &[Vec<f64>],
    stop: Stop<'_>,
) -> Result<Vec<Mode>, FeError> {
    let responses = structure.solve(loads);
    let size = loads.len();
    let compliance = DMatrix::from_fn(size, size, |i, j| dot(&loads[i], &responses[j]));
    let compliance = (&compliance + compliance.transpose()) * 0.5;
    // the compliance of frames that a structure holds is positive definite
    let stiffness = compliance
        .cholesky()
        .map_or_else(|| DMatrix::zeros(size, size), |c| c.inverse());
    let combined = |factors: &[f64]| {
        let mut sum = vec![0.0; structure.unknowns];
        for (response, factor) in responses.iter().zip(factors) {
            subtract(&mut sum, -factor, response);
        }
        sum
    };
    let with_interfaces_held = |rights: &[Vec<f64>]| {
        let mut solved = structure.solve(rights);
        for x in &mut solved {
            let moved = DVector::from_iterator(size, loads.iter().map(|load| dot(load, x)));
            subtract(x, 1.0, &combined((&stiffness * moved).as_slice()));
        }
        solved
    };
    let inertia = structure.inertia_loads();
    let fixed = lowest(structure, spec, &inertia, with_interfaces_held, stop)?;
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|i| combined(stiffness.column(i).as_slice()))
        .collect();
    let squares: Vec<f64> = fixed.iter().map(|mode| mode.square).collect();
    vectors.extend(fixed.into_iter().map(|mode| mode.vector));
    let all = vectors.len();
    let stiffness = DMatrix::from_fn(all, all, |i, j| match (i < size, j < size) {
        (true, true) => stiffness[(i, j)],
        (false, false) if i == j => squares[i - size],
        _ => 0.0,
    });
    orthogonal(structure, &vectors, &stiffness)
}

/// The same shapes seen from mean axes.
fn from_mean_axes(structure: &Structure<'_>, modes: Vec<Mode>) -> Result<Vec<Mode>, FeError> {
    let squares = DVector::from_iterator(modes.len(), modes.iter().map(|mode| mode.square));
    let seen = |mode: Mode| {
        let mut vector = mode.vector;
        structure.seen(&mut vector);
        vector
    };
    let vectors: Vec<Vec<f64>> = modes.into_iter().map(seen).collect();
    orthogonal(structure, &vectors, &DMatrix::from_diagonal(&squares))
}

/// Modes of a small stiffness and the mass of its vectors, as combinations of these.
fn orthogonal(
    structure: &Structure<'_>,
    vectors: &[Vec<f64>],
    stiffness: &DMatrix<f64>,
) -> Result<Vec<Mode>, FeError> {
    let n = vectors.len();
    if n == 0 {
        return Ok(Vec::new());
    }
    let with_mass: Vec<Vec<f64>> = vectors.iter().map(|x| structure.times_mass(x)).collect();
    let mass = DMatrix::from_fn(n, n, |i, j| dot(&vectors[i], &with_mass[j]));
    // by the factor of the stiffness, which is positive definite, so that low modes keep their digits
    let Some(factor) = stiffness.clone().cholesky() else {
        return Ok(Vec::new());
    };
    let lower = factor.l();
    let half = lower
        .solve_lower_triangular(&mass)
        .unwrap_or_else(|| mass.clone());
    let whole = lower
        .solve_lower_triangular(&half.transpose())
        .unwrap_or_else(|| half.transpose());
    let whole = (&whole + whole.transpose()) * 0.5;
    // eigenvalues of what is not finite would be sought for ever
    if whole.iter().any(|entry| !entry.is_finite()) {
        return Err(FeError::NoModes);
    }
    let eigen = SymmetricEigen::new(whole);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let slowest = order.first().map_or(0.0, |&i| eigen.eigenvalues[i]);
    let massless = |&&i: &&usize| eigen.eigenvalues[i] <= MASSLESS * slowest;
    let massless = order.iter().filter(massless).count();
    if massless > 0 {
        return Err(FeError::Massless {
            shapes: massless,
            of: n,
        });
    }
    let mode = |i: usize| {
        let theta = eigen.eigenvalues[i];
        let column = eigen.eigenvectors.column(i).into_owned();
        let column = lower.tr_solve_lower_triangular(&column).unwrap_or(column);
        let mut vector = vec![0.0; structure.unknowns];
        for (own, factor) in vectors.iter().zip(column.iter()) {
            // the columns have unit stiffness; θ is their mass
            subtract(&mut vector, -factor / theta.sqrt(), own);
        }
        Mode {
            square: 1.0 / theta,
            vector,
        }
    };
    Ok(order.into_iter().map(mode).collect())
}
