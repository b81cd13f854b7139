//! Eigenfunctions of uniform beams in closed form, clamped at the root or free.
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
//! Stretch and torsion: $`\sqrt2\,\sin((k-\tfrac12)\pi x/L)`$ for a clamped root,
//! $`\sqrt2\,\cos(k\pi x/L)`$ for free ends.
//!
//! Signs: clamped functions leave the root with positive curvature (bending) or slope (stretch, torsion);
//! free ones are positive at the root.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::shape::{Field, Shape};

/// How a beam is held at its root; its tip is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The root neither moves nor turns in the body's frame.
    Clamped,
    /// The root is free, the body's frame floats.
    Free,
    /// The root moves and turns in the body's frame: rigid motions are among the deformations, and
    /// something outside the body must hold it.
    Unconstrained,
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
            .map(|order| match field {
                Field::Bending => bending_mode(boundary, order),
                Field::Rod => rod_mode(boundary, order),
            })
            .collect();
        let mut scale = 1.0 / (density * length).sqrt();
        if field == Field::Rod {
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

    pub(super) fn len(&self) -> usize {
        self.modes.len()
    }

    /// Wave number of every mode.
    pub(super) fn wave_numbers(&self) -> impl Iterator<Item = f64> {
        self.modes.iter().map(|mode| mode.phase / self.length)
    }

    /// Every mode at `x`.
    pub(super) fn write(&self, x: f64, shapes: &mut [Shape]) {
        for (mode, shape) in self.modes.iter().zip(shapes) {
            *shape = self.mode_at(mode, x);
            // exact at the clamp, where the terms cancel only to rounding
            if x == 0.0 && self.boundary == Boundary::Clamped {
                shape.value = 0.0;
                if self.field == Field::Bending {
                    shape.slope = 0.0;
                }
            }
        }
    }

    fn mode_at(&self, mode: &Mode, x: f64) -> Shape {
        let argument = mode.phase * x / self.length;
        let wave_number = mode.phase / self.length;
        let (sin, cos) = argument.sin_cos();
        let (value, slope, strain, strain_slope) = match (self.field, self.boundary) {
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
            (Field::Rod, Boundary::Clamped) => (sin, cos, cos, -sin),
            (Field::Rod, Boundary::Free | Boundary::Unconstrained) => (cos, -sin, -sin, -cos),
        };
        Shape {
            value: self.scale * value,
            slope: self.scale * wave_number * slope,
            strain: self.scale * wave_number * strain,
            strain_slope: self.scale * wave_number * wave_number * strain_slope,
        }
    }
}

/// $`\varepsilon`$ of the module's formulas.
fn bending_sign(boundary: Boundary) -> f64 {
    match boundary {
        Boundary::Clamped => -1.0,
        Boundary::Free | Boundary::Unconstrained => 1.0,
    }
}

fn bending_mode(boundary: Boundary, order: usize) -> Mode {
    let sign = bending_sign(boundary);
    let start = match boundary {
        Boundary::Clamped => (order as f64 - 0.5) * PI,
        Boundary::Free | Boundary::Unconstrained => (order as f64 + 0.5) * PI,
    };
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

fn rod_mode(boundary: Boundary, order: usize) -> Mode {
    let phase = match boundary {
        Boundary::Clamped => (order as f64 - 0.5) * PI,
        Boundary::Free | Boundary::Unconstrained => order as f64 * PI,
    };
    Mode {
        phase,
        growing: 0.0,
        ratio: 0.0,
    }
}
