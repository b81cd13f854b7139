//! Eigenfunctions of uniform beams in closed form.
//!
//! Bending, with $`\beta`$ the roots of $`\cos\beta\cosh\beta = \varepsilon`$ and $`a = \beta x / L`$:
//!
//! ```math
//! \varphi(x) = \cosh a + \varepsilon \cos a - \sigma\,(\sinh a + \varepsilon \sin a), \qquad
//! \sigma = \frac{\cosh\beta - \varepsilon\cos\beta}{\sinh\beta - \varepsilon\sin\beta},
//! ```
//!
//! with $`\varepsilon = -1`$ for a clamped root and $`+1`$ for free ends; $`\int_0^L \varphi^2 dx = L`$.
//! The hyperbolic functions cancel for high modes, so they are written with two decaying exponentials,
//! $`\cosh a - \sigma \sinh a = g\,e^{a-\beta} + \tfrac12(1+\sigma)\,e^{-a}`$ with
//! $`g = \tfrac12(1-\sigma)\,e^{\beta}`$ free of cancellation.
//!
//! Between hinges at both ends bending is $`\sqrt2\,\sin(k\pi x/L)`$.
//!
//! Stretch and torsion: $`\sqrt2\,\sin((k-\tfrac12)\pi x/L)`$ if the root is held, $`\sqrt2\,\sin(k\pi x/L)`$ if both
//! ends are, $`\sqrt2\,\cos(k\pi x/L)`$ for free ends.
//!
//! Signs: clamped functions leave the root with positive curvature (bending) or slope (stretch, torsion), sines with
//! positive slope; free ones are positive at the root.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::shape::{Field, Shape};

/// How the functions of a deformation are held in the body's frame, at the root first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The root neither moves nor turns, the tip is free.
    Clamped,
    /// Both ends are free, the body's frame floats.
    Free,
    /// Both ends are free, and rigid motions are among the deformations: something outside the body must hold it.
    Unconstrained,
    /// The frame lies on the chord: neither end leaves it, and both turn without moment. In stretch and torsion the root
    /// is held and the tip is free.
    PinnedPinned,
    /// Neither end moves or turns.
    ClampedClamped,
    /// The frame lies on the chord, and its ends turn as they are turned: the static shapes of unit slopes at both ends (in
    /// stretch and torsion, of a displacement of the tip), and functions clamped at both ends \[Craig & Bampton 1968\].
    FixedInterface,
}

impl Boundary {
    /// Whether value and slope are held at the root, and at the tip. A rod has values only.
    pub(super) fn held(self, field: Field) -> [[bool; 2]; 2] {
        match (self, field) {
            (Self::Free | Self::Unconstrained, _) => [[false; 2], [false; 2]],
            (Self::Clamped, _) | (Self::PinnedPinned | Self::FixedInterface, Field::Rod) => {
                [[true; 2], [false; 2]]
            }
            (Self::PinnedPinned | Self::FixedInterface, Field::Bending) => {
                [[true, false], [true, false]]
            }
            (Self::ClampedClamped, _) => [[true; 2], [true; 2]],
        }
    }

    /// Whether rigid motions are left to move.
    pub(super) fn is_free(self) -> bool {
        matches!(self, Self::Free | Self::Unconstrained)
    }
}

/// Eigenfunctions of one kind of deformation of a uniform beam, normalised to unit modal mass.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UniformModes {
    field: Field,
    boundary: Boundary,
    length: f64,
    /// Makes $`\int \rho \varphi^2 dx = 1`$.
    scale: f64,
    modes: Vec<Mode>,
}

#[derive(Clone, Debug, PartialEq)]
struct Mode {
    /// $`\beta`$, wave number times length.
    phase: f64,
    /// $`g`$, factor of the exponential that grows towards the tip; bending only.
    growing: f64,
    /// $`\sigma`$; bending only.
    ratio: f64,
}

impl UniformModes {
    /// The lowest `count` elastic modes of a beam with this length and density (mass per length for
    /// bending and stretch, section inertia for torsion).
    pub(super) fn new(
        field: Field,
        boundary: Boundary,
        count: usize,
        length: f64,
        density: f64,
    ) -> Self {
        let modes = (1..=count)
            .map(|order| {
                if is_harmonic(field, boundary) {
                    harmonic_mode(field, boundary, order)
                } else {
                    bending_mode(boundary, order)
                }
            })
            .collect();
        let mut scale = 1.0 / (density * length).sqrt();
        if is_harmonic(field, boundary) {
            scale /= FRAC_1_SQRT_2;
        }
        Self {
            field,
            boundary,
            length,
            scale,
            modes,
        }
    }

    /// Whether the eigenfunctions have a closed form here.
    pub(super) fn exist(field: Field, boundary: Boundary) -> bool {
        match boundary {
            Boundary::Clamped | Boundary::Free | Boundary::PinnedPinned => true,
            Boundary::ClampedClamped => field == Field::Rod,
            Boundary::Unconstrained | Boundary::FixedInterface => false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.modes.len()
    }

    /// Wave number of every mode.
    pub(super) fn wave_numbers(&self) -> impl Iterator<Item = f64> {
        self.modes.iter().map(|mode| mode.phase / self.length)
    }

    /// Every mode at `x`.
    pub(super) fn write(&self, x: f64, shapes: &mut [Shape]) {
        let [root, tip] = self.boundary.held(self.field);
        for (mode, shape) in self.modes.iter().zip(shapes) {
            *shape = self.mode_at(mode, x);
            // exact where the beam is held and the terms cancel only to rounding
            for (end, [value, slope]) in [(0.0, root), (self.length, tip)] {
                if x == end && value {
                    shape.value = 0.0;
                    if slope && self.field == Field::Bending {
                        shape.slope = 0.0;
                    }
                }
            }
        }
    }

    fn mode_at(&self, mode: &Mode, x: f64) -> Shape {
        let argument = mode.phase * x / self.length;
        let wave_number = mode.phase / self.length;
        let (sin, cos) = argument.sin_cos();
        let (value, slope, strain, strain_slope) = match (self.field, self.boundary) {
            (Field::Bending, Boundary::PinnedPinned) => {
                (sin, cos, -wave_number * sin, -wave_number * cos)
            }
            (Field::Bending, boundary) => {
                let sign = bending_sign(boundary);
                let growing = mode.growing * (argument - mode.phase).exp();
                let decaying = 0.5 * (1.0 + mode.ratio) * (-argument).exp();
                (
                    growing + decaying + sign * (cos - mode.ratio * sin),
                    growing - decaying - sign * (sin + mode.ratio * cos),
                    wave_number * (growing + decaying - sign * (cos - mode.ratio * sin)),
                    wave_number * (growing - decaying + sign * (sin + mode.ratio * cos)),
                )
            }
            (Field::Rod, boundary) if boundary.is_free() => (cos, -sin, -sin, -cos),
            (Field::Rod, _) => (sin, cos, cos, -sin),
        };
        Shape {
            value: self.scale * value,
            slope: self.scale * wave_number * slope,
            strain: self.scale * wave_number * strain,
            strain_slope: self.scale * wave_number * wave_number * strain_slope,
        }
    }
}

/// Whether the functions are sines or cosines.
fn is_harmonic(field: Field, boundary: Boundary) -> bool {
    field == Field::Rod || boundary == Boundary::PinnedPinned
}

/// $`\varepsilon`$ of the module's formulas.
fn bending_sign(boundary: Boundary) -> f64 {
    if boundary.is_free() { 1.0 } else { -1.0 }
}

fn bending_mode(boundary: Boundary, order: usize) -> Mode {
    let sign = bending_sign(boundary);
    let start = (order as f64 + 0.5 * sign) * PI;
    // Newton on cos(phase) - sign / cosh(phase), which is nearly straight around the start
    let mut phase = start;
    for _ in 0..20 {
        let residual = phase.cos() - sign / phase.cosh();
        let slope = -phase.sin() + sign * phase.tanh() / phase.cosh();
        let step = residual / slope;
        phase -= step;
        if step.abs() <= f64::EPSILON * phase {
            break;
        }
    }
    // at the root cos and sin are known without rounding from the characteristic equation
    let decay = (-phase).exp();
    let cos = sign / phase.cosh();
    let sin = phase.tanh() * start.sin().signum();
    let growing = (sign * (cos - sin) - decay) / (1.0 - decay * decay - 2.0 * sign * sin * decay);
    Mode {
        phase,
        growing,
        ratio: 1.0 - 2.0 * growing * decay,
    }
}

fn harmonic_mode(field: Field, boundary: Boundary, order: usize) -> Mode {
    // a quarter of a wave more or less where one end only is held
    let [root, tip] = boundary.held(field);
    let start = if root[0] == tip[0] { 0.0 } else { 0.5 };
    Mode {
        phase: (order as f64 - start) * PI,
        growing: 0.0,
        ratio: 0.0,
    }
}
