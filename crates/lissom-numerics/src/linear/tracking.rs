//! Modes along a motion: natural frequencies (Jonker & Aarts (33)), damping and shapes, followed so that curves do not swap.

use nalgebra::{Complex, DMatrix, DVector, DVectorView};

use super::assignment::assign;
use super::crossings::{Crossing, Interval, Numbered, SPECTRA};
use super::error::{GoOn, LinearError, asking};
use super::frozen::{Frozen, Pencil};
use super::large::asks_for_few;
use super::quadratic::{Growth, Root, Roots};
use super::rigid::{free_motions, pivots};
use super::spectrum::{Spectrum, skew_part};
use super::symmetric::{MASSLESS, Symmetric};
use super::trajectory::Terms;
use crate::integrate::Flow;

/// Of more eigenvalues than this only the lowest are compared with modes, four for each and some more.
const COMPARED: usize = 256;
/// How much of a real eigenvalue's part in a mode the order of such eigenvalues outweighs.
const SLOWER: f64 = 1e-3;
/// Frequencies whose squares differ by a smaller share have no shapes of their own.
const EQUAL: f64 = 1e-7;

/// A mode at one point of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeAt {
    /// $`\omega^2`$ without velocity terms: negative where the stiffness pushes away, complex where two modes have coalesced.
    pub square: Complex<f64>,
    /// The two eigenvalues with velocity terms of the motion that is most like this mode: conjugate, or real and rising. None if
    /// they were left out.
    pub roots: Option<[Complex<f64>; 2]>,
    /// Whether one of them grows.
    pub growth: Growth,
    /// Shape in the coordinates that were not held, with unit modal mass and the sign of the point before. A shape that
    /// flutters is seen when it is most like the one before.
    pub shape: Vec<f64>,
    /// Modal assurance with the same mode at the point before; one at the first.
    pub mac: f64,
}

impl ModeAt {
    /// Natural frequency in rad/s without velocity terms, $`\mathrm{Re}\,\omega`$; none where the stiffness pushes away.
    pub fn frequency(&self) -> Option<f64> {
        (self.square.im != 0.0 || self.square.re >= 0.0).then(|| self.square.sqrt().re)
    }

    /// Rate at which it grows with all terms; zero if it does not.
    pub fn growth_rate(&self) -> f64 {
        match (self.growth, self.roots) {
            (Growth::Grows, Some(roots)) => roots[0].re.max(roots[1].re),
            _ => 0.0,
        }
    }

    /// Damping ratio, $`\zeta`$ of $`\lambda^2 + 2\zeta\omega\lambda + \omega^2`$ with these roots: negative for a mode that grows
    /// and oscillates, above one for two real ones that decay, none for two of different sign.
    pub fn damping_ratio(&self) -> Option<f64> {
        let [first, second] = self.roots?;
        let square = (first * second).re;
        (square > 0.0).then(|| -0.5 * (first + second).re / square.sqrt())
    }
}

/// Modes that met between two instants, so that something about their numbers is a convention.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// Where the squares meet, or the later of the instants.
    pub time: f64,
    /// Modes, by their places in [`TrackedModes::modes`]; one alone if it met modes beyond those followed.
    pub modes: Vec<usize>,
    /// What happened.
    pub kind: Crossing,
}

/// Modes of linearised equations along a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedModes {
    /// Instants.
    pub times: Vec<f64>,
    /// Coordinates that were not held, those that depend on others among them.
    pub coordinates: Vec<usize>,
    /// Coordinates that tell motions which nothing resists, of a floating mechanism as a whole or of free joints, at no frequency;
    /// the modes are those without momentum along them.
    pub rigid: Vec<usize>,
    /// By rising frequency at the first instant; each with one entry per instant.
    pub modes: Vec<Vec<ModeAt>>,
    /// All eigenvalues that grow at every instant, of conjugate ones that with positive imaginary part; also those of modes that
    /// are not followed.
    pub growing: Vec<Vec<Complex<f64>>>,
    /// With states of controllers in the loop: the eigenvalues at every instant that belong to no mode, of conjugate ones that with positive
    /// imaginary part.
    pub further: Vec<Vec<Complex<f64>>>,
    /// Whether nothing else can grow. Not so where the lowest modes of many were sought alone, and velocity terms or a stiffness that is not
    /// symmetric may let others grow.
    pub judged_all: bool,
    /// Where following modes is not defined, by rising instants.
    pub encounters: Vec<Encounter>,
}

impl TrackedModes {
    /// The `count` lowest modes at the first point and what becomes of them.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn new(frozen: &Frozen, terms: Terms, count: usize) -> Result<Self, LinearError> {
        Self::watched(frozen, terms, count, &mut |_| Flow::Continue)
    }

    /// The same; `watch` is told the instant after the modes of every point and between points, and may stop.
    ///
    /// # Errors
    /// When there are no modes at some point, or the watcher stops.
    pub fn watched(
        frozen: &Frozen,
        terms: Terms,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Self, LinearError> {
        Self::followed(frozen, terms, count, true, watch)
    }

    /// The same without eigenvalues with velocity terms, at a fraction of the cost.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn undamped(frozen: &Frozen, terms: Terms, count: usize) -> Result<Self, LinearError> {
        Self::followed(frozen, terms, count, false, &mut |_| Flow::Continue)
    }

    /// Whether a mode was not followed from the instant before to this one, so that the two may belong to different curves.
    pub fn is_untracked(&self, mode: usize, time: f64) -> bool {
        (self.encounters.iter()).any(|met| {
            met.kind == Crossing::Untracked && met.time == time && met.modes.contains(&mode)
        })
    }

    fn followed(
        frozen: &Frozen,
        terms: Terms,
        count: usize,
        with_damping: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Self, LinearError> {
        let mut encounters = Vec::new();
        let mut go_on_at = |time_s: f64| asking(watch, time_s)();
        let (pencils, free, complete) = without_free_motions(frozen, terms, count, &mut go_on_at)?;
        let mut numbered: Vec<Numbered> = Vec::with_capacity(pencils.len());
        let mut solved: Vec<Solved> = Vec::with_capacity(pencils.len());
        let mut spectra_left = SPECTRA.0;
        for (at, (point, pencil)) in frozen.points.iter().zip(&pencils).enumerate() {
            let mut go_on = || go_on_at(point.time);
            let (own, spectrum) = Solved::new(pencil, with_damping, &mut go_on)?;
            solved.push(own);
            go_on()?;
            let now = match numbered.pop() {
                Some(before) => {
                    let count = count.min(before.squares.len());
                    let old = &pencils[at - 1];
                    let change = change(old, pencil, &point.inertia)?;
                    let (after, spectrum) = change.onto_before(pencil, spectrum)?;
                    let interval = Interval {
                        before: old,
                        after: &after,
                        count,
                        first: at == 1,
                    };
                    spectra_left += SPECTRA.1;
                    let (mut now, before, met) =
                        interval.follow(before, spectrum, &mut spectra_left, &mut go_on)?;
                    numbered.push(before);
                    now.shapes = change.onto_after(now.shapes);
                    let start = frozen.points[at - 1].time;
                    encounters.extend(met.into_iter().map(|met| Encounter {
                        time: (1.0 - met.share) * start + met.share * point.time,
                        modes: met.modes.into_iter().filter(|&i| i < count).collect(),
                        kind: met.kind,
                    }));
                    now
                }
                None => Numbered {
                    squares: spectrum.squares,
                    shapes: spectrum.shapes,
                },
            };
            numbered.push(now);
        }
        let coordinates = frozen.free();
        let count = count.min(numbered.first().map_or(0, |first| first.squares.len()));
        let mut modes: Vec<Vec<ModeAt>> = vec![Vec::new(); count];
        let mut growing = Vec::with_capacity(pencils.len());
        let mut further = Vec::with_capacity(pencils.len());
        let mut before: Option<DMatrix<f64>> = None;
        for (at, point) in frozen.points.iter().enumerate() {
            let (pencil, found) = (&pencils[at], &numbered[at]);
            let mut go_on = || go_on_at(point.time);
            let (roots, others) = solved[at].roots_of(pencil, found, count, &mut go_on)?;
            further.push(others);
            growing.push(
                solved[at]
                    .roots
                    .as_ref()
                    .map_or_else(Vec::new, Roots::growing),
            );
            let mut now = DMatrix::zeros(frozen.coordinates.len(), count);
            for (mode, roots) in roots.into_iter().enumerate() {
                go_on()?;
                let shape = pencil.basis.map(|x| Complex::new(x, 0.0)) * found.shapes.column(mode);
                let old = before
                    .as_ref()
                    .map(|before| before.column(mode).into_owned());
                let (shape, mac) = if point.inertia.is_empty() {
                    (seen_alone(&shape, pencil, &found.shapes.column(mode)), 1.0)
                } else {
                    seen(&shape, old.as_ref(), &point.inertia)
                };
                modes[mode].push(ModeAt {
                    square: found.squares[mode],
                    roots: roots.as_ref().map(|(roots, _)| *roots),
                    growth: roots.map_or(Growth::None, |(_, growth)| growth),
                    shape: coordinates.iter().map(|&dof| shape[dof]).collect(),
                    mac,
                });
                now.set_column(mode, &shape);
            }
            before = Some(now);
        }
        let conservative = |(solved, pencil): (&Solved, &Pencil)| {
            solved.is_symmetric && pencil.damping.iter().all(|&x| x == 0.0)
        };
        let judged_all = complete || solved.iter().zip(&pencils).all(conservative);
        let mut rigid = frozen.rigid.clone();
        rigid.extend(free);
        rigid.sort_unstable();
        rigid.dedup();
        Ok(Self {
            times: frozen.points.iter().map(|point| point.time).collect(),
            coordinates,
            rigid,
            modes,
            growing,
            further,
            judged_all,
            encounters,
        })
    }
}

/// The matrices of all points without motions that nothing resists, coordinates that tell these motions, and whether the matrices are those
/// of all modes. Such motions are taken out if there are equally many at every instant.
fn without_free_motions(
    frozen: &Frozen,
    terms: Terms,
    count: usize,
    go_on_at: &mut dyn FnMut(f64) -> Result<(), LinearError>,
) -> Result<(Vec<Pencil>, Vec<usize>, bool), LinearError> {
    let pencils = pencils(frozen, terms, count, go_on_at)?;
    let complete = pencils.iter().all(|pencil| pencil.gross.is_none());
    let mut motions: Vec<DMatrix<f64>> = Vec::with_capacity(pencils.len());
    for (point, pencil) in frozen.points.iter().zip(&pencils) {
        motions.push(free_motions(pencil, &mut || go_on_at(point.time))?);
    }
    let free = motions.first().map_or(0, DMatrix::ncols);
    if free == 0 || motions.iter().any(|motions| motions.ncols() != free) {
        return Ok((pencils, Vec::new(), complete));
    }
    let scales = |mass: &DMatrix<f64>| mass.diagonal().map(|x| x.max(0.0).sqrt());
    let first = &frozen.points[0];
    let all_scales = if first.inertia.is_empty() {
        DVector::from_element(first.basis.nrows(), 1.0)
    } else {
        scales(&first.inertia)
    };
    let told = pivots(&(&pencils[0].basis * &motions[0]), &all_scales);
    let rest = (pencils.iter().zip(&motions)).map(|(pencil, motions)| {
        let pivots = pivots(motions, &scales(&pencil.mass));
        pencil.without(motions, &pivots)
    });
    Ok((rest.collect::<Result<_, _>>()?, told, complete))
}

/// The matrices of all points. Of one point at which few modes of many are asked for, those of its lowest modes.
fn pencils(
    frozen: &Frozen,
    terms: Terms,
    count: usize,
    go_on_at: &mut dyn FnMut(f64) -> Result<(), LinearError>,
) -> Result<Vec<Pencil>, LinearError> {
    if let [point] = &frozen.points[..]
        && asks_for_few(point.linear.mass.nrows(), count)
        // states of controllers may push any of them
        && point.linear.loops.is_none()
        && let Some(lowest) =
            Pencil::of_lowest(frozen, point, terms, count, &mut || go_on_at(point.time))?
    {
        return Ok(vec![lowest]);
    }
    let points = frozen.points.iter();
    points
        .map(|point| Pencil::new(frozen, point, terms, &mut || go_on_at(point.time)))
        .collect()
}

/// The two eigenvalues of a mode, and whether one of them grows.
type Pair = ([Complex<f64>; 2], Growth);

/// Pairs of modes, where there are some, and eigenvalues that are left.
type Sorted = (Vec<Option<Pair>>, Vec<Complex<f64>>);

/// Eigenvalues of a point with all terms, and the modes in which their shapes are.
struct Solved {
    symmetric: Symmetric,
    /// Whether these are the modes without velocity terms.
    is_symmetric: bool,
    /// None if they were left out.
    roots: Option<Roots>,
}

impl Solved {
    fn new(
        pencil: &Pencil,
        with_damping: bool,
        go_on: &mut GoOn<'_>,
    ) -> Result<(Self, Spectrum), LinearError> {
        let symmetric = Symmetric::new(&pencil.mass, &pencil.stiffness, go_on)?;
        go_on()?;
        let skew = skew_part(&symmetric, &pencil.stiffness);
        let roots = if with_damping {
            let damping = symmetric.project(&pencil.damping);
            let shapes = &symmetric.shapes;
            let loops = pencil.loops.as_ref();
            let loops = loops.map(|loops| loops.projected(shapes, shapes));
            let (skew, loops) = (skew.as_ref(), loops.as_ref());
            Some(Roots::new(&symmetric, skew, &damping, loops, go_on)?)
        } else {
            None
        };
        let is_symmetric = skew.is_none();
        let spectrum = match skew {
            None => Spectrum::of_symmetric(&symmetric),
            Some(skew) => Spectrum::general(&symmetric, skew, go_on)?,
        };
        let solved = Self {
            symmetric,
            is_symmetric,
            roots,
        };
        Ok((solved, spectrum))
    }

    /// Two eigenvalues for each of the first modes, and whether one grows: those of which the mode is the largest part, together as
    /// much as can be. With states of controllers in the loop also those that are left.
    fn roots_of(
        &self,
        pencil: &Pencil,
        modes: &Numbered,
        count: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Sorted, LinearError> {
        let Some(roots) = &self.roots else {
            return Ok((vec![None; count], Vec::new()));
        };
        let with_states = pencil.loops.is_some();
        let all = roots.values().len();
        let size = modes.squares.len();
        let (rows, columns) = if all <= COMPARED {
            (size, all)
        } else {
            let columns = all.min(4 * count + COMPARED / 2);
            (size.min(2 * count + COMPARED / 4).min(columns), columns)
        };
        let mut found: Vec<Root> = Vec::with_capacity(columns);
        for index in 0..columns {
            go_on()?;
            found.push(roots.root(index));
        }
        let part = self.parts(pencil, modes, &found, rows);
        // equal frequencies are each made of all of them
        let same =
            |a: Complex<f64>, b: Complex<f64>| (a - b).norm() <= EQUAL * a.norm().max(b.norm());
        // every conjugate pair has to go somewhere; of real ones the slower go first, so that a second one is left for each
        let before = |column: usize| match found.get(column) {
            Some(root) if root.value.im == 0.0 => SLOWER * (1.0 - column as f64 / columns as f64),
            // with states of controllers there are more than modes
            Some(_) if with_states => 2.0 * SLOWER,
            Some(_) if columns == all => 2.0,
            _ => 0.0,
        };
        // of several that are the same mode with different states of controllers, the one that is as fast
        let nearness = |row: usize, column: usize| match found.get(column) {
            Some(root) if with_states => {
                let apart = (root.value.norm_sqr() / modes.squares[row].norm())
                    .ln()
                    .abs();
                SLOWER / (1.0 + Some(apart).filter(|x| x.is_finite()).unwrap_or(f64::MAX))
            }
            _ => 0.0,
        };
        let together = DMatrix::from_fn(rows, columns.max(rows), |row, column| {
            let own = modes.squares[row];
            let equal = (0..rows).filter(|&k| same(own, modes.squares[k]));
            let shared: f64 = equal.map(|k| part[(k, column)]).sum();
            // a little of the own part, so that equal frequencies keep to themselves
            shared + EQUAL * part[(row, column)] + before(column) + nearness(row, column)
        });
        let first = assign(&together);
        let real = |column: usize| column < columns && found[column].value.im == 0.0;
        // a second one for those that have one of two real ones
        let single: Vec<usize> = (0..rows).filter(|&row| real(first[row])).collect();
        let left: Vec<usize> = (0..columns)
            .filter(|&column| real(column) && !first.contains(&column))
            .collect();
        let gain = DMatrix::from_fn(single.len(), left.len().max(single.len()), |i, j| {
            left.get(j)
                .map_or(0.0, |&column| together[(single[i], column)])
        });
        let second = assign(&gain);
        let mut pairs = vec![None; count];
        for (row, pair) in pairs.iter_mut().enumerate() {
            let Some(root) = found.get(first[row]) else {
                continue;
            };
            if root.value.im > 0.0 {
                *pair = Some(([root.value, root.value.conj()], root.growth));
                continue;
            }
            let place = single.iter().position(|&other| other == row);
            let other = place.and_then(|place| left.get(second[place]));
            *pair = other.map(|&other| {
                let other = &found[other];
                let mut values = [root.value, other.value];
                values.sort_by(|a, b| a.re.total_cmp(&b.re));
                (values, root.growth.or(other.growth))
            });
        }
        let taken = |column: &usize| {
            let second = second.iter().filter_map(|&at| left.get(at));
            first.contains(column) || second.clone().any(|own| own == column)
        };
        let others = (0..columns).filter(|column| with_states && !taken(column));
        Ok((pairs, others.map(|column| found[column].value).collect()))
    }

    /// Share of each of the first modes in the shape of each eigenvalue.
    fn parts(
        &self,
        pencil: &Pencil,
        modes: &Numbered,
        roots: &[Root],
        rows: usize,
    ) -> DMatrix<f64> {
        let size = modes.squares.len();
        let mut shapes = DMatrix::zeros(size, roots.len());
        for (column, root) in roots.iter().enumerate() {
            shapes.set_column(column, &root.shape);
        }
        let shapes = times(&self.symmetric.shapes, &shapes);
        // modes of symmetric matrices are real and orthogonal
        let parts = if self.is_symmetric {
            let momenta = modes.shapes.map(|x| x.re).transpose() * &pencil.mass;
            Some(times(&momenta, &shapes))
        } else {
            modes.shapes.clone().lu().solve(&shapes)
        };
        let mut part = DMatrix::zeros(size, roots.len().max(rows));
        let Some(parts) = parts else {
            return part;
        };
        for (column, parts) in parts.column_iter().enumerate() {
            let sum: f64 = parts.iter().map(Complex::norm_sqr).sum();
            if !(sum.is_finite() && sum > 0.0) {
                continue;
            }
            for (row, x) in parts.iter().enumerate() {
                part[(row, column)] = x.norm_sqr() / sum;
            }
        }
        part
    }
}

/// Coordinates of a point in those of the point before; none where they are the same.
struct Change(Option<DMatrix<f64>>);

/// What moves most like a coordinate of the point before, in the mass of the point.
fn change(old: &Pencil, new: &Pencil, inertia: &DMatrix<f64>) -> Result<Change, LinearError> {
    if old.basis == new.basis {
        return Ok(Change(None));
    }
    let right = new.basis.transpose() * (inertia * &old.basis);
    let factor = new.mass.clone().cholesky().ok_or(MASSLESS)?;
    Ok(Change(Some(factor.solve(&right))))
}

impl Change {
    /// Matrices and modes in the coordinates of the point before.
    fn onto_before(
        &self,
        pencil: &Pencil,
        spectrum: Spectrum,
    ) -> Result<(Pencil, Spectrum), LinearError> {
        let Some(change) = &self.0 else {
            return Ok((pencil.clone(), spectrum));
        };
        let project = |matrix: &DMatrix<f64>| change.transpose() * matrix * change;
        let complex = change.map(|x| Complex::new(x, 0.0));
        let shapes = (complex.lu().solve(&spectrum.shapes)).ok_or(LinearError::NoModes {
            reason: "the mechanism changes altogether between two instants; take more of them",
        })?;
        let pencil = Pencil {
            mass: project(&pencil.mass),
            damping: project(&pencil.damping),
            stiffness: project(&pencil.stiffness),
            basis: pencil.basis.clone() * change,
            loops: None,
            gross: None,
        };
        Ok((pencil, Spectrum { shapes, ..spectrum }))
    }

    fn onto_after(&self, shapes: DMatrix<Complex<f64>>) -> DMatrix<Complex<f64>> {
        match &self.0 {
            Some(change) => change.map(|x| Complex::new(x, 0.0)) * shapes,
            None => shapes,
        }
    }
}

/// A real matrix times a complex one.
fn times(real: &DMatrix<f64>, complex: &DMatrix<Complex<f64>>) -> DMatrix<Complex<f64>> {
    let parts = [complex.map(|x| x.re), complex.map(|x| x.im)];
    let [re, im] = parts.map(|part| real * part);
    re.zip_map(&im, Complex::new)
}

/// A shape when it is most real, with unit modal mass, which its coordinates in the matrices tell.
fn seen_alone(
    shape: &DVector<Complex<f64>>,
    pencil: &Pencil,
    own: &DVectorView<'_, Complex<f64>>,
) -> DVector<f64> {
    let largest = shape[shape.icamax()];
    let phase = largest.conj() / largest.norm();
    let real = own.map(|x| (x * phase).re);
    let length = real.dot(&(&pencil.mass * &real)).sqrt();
    &pencil.basis * real / length
}

/// A shape when it is most like the one before, or most real, with unit modal mass; and its modal assurance.
fn seen(
    shape: &DVector<Complex<f64>>,
    before: Option<&DVector<f64>>,
    inertia: &DMatrix<f64>,
) -> (DVector<f64>, f64) {
    let [re, im] = [shape.map(|x| x.re), shape.map(|x| x.im)];
    let largest = shape[shape.icamax()];
    let weighted = before.map(|before| inertia * before);
    let toward = match &weighted {
        Some(weighted) => Complex::new(re.dot(weighted), im.dot(weighted)),
        None => largest,
    };
    let toward = if toward.norm() > 0.0 { toward } else { largest };
    let phase = toward.conj() / toward.norm();
    let real = re * phase.re - im * phase.im;
    let real = &real / real.dot(&(inertia * &real)).sqrt();
    let mac = match (before, weighted) {
        (Some(before), Some(weighted)) => real.dot(&weighted).powi(2) / before.dot(&weighted),
        _ => 1.0,
    };
    (real, mac)
}
