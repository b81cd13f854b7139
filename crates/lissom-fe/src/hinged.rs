//! The frame on the chord of a body that hinges on its neighbours at two interfaces.
//!
//! A hinge that nothing drives carries no moment about its axis. Of twelve displacements and rotations of two interfaces those about the axes of the
//! hinges are left free. Six of the others hold the frame: its origin moves with the first interface, an axis goes through the second
//! one, and it turns about this chord with one of them. What is left of them has static shapes, and modes are those with all of them
//! held: for a slender link sines, where clamped ends would take two shapes to begin with.
//!
//! | of two interfaces that hinge about z, chord along x | is |
//! |---|---|
//! | displacement of the first, displacement across of the second, rotation of the first about x | zero in the frame |
//! | displacement of the second along x, its rotation about x, rotations of both about y | a static shape |
//! | rotations of both about z | free |

use nalgebra::Vector3;

use crate::structure::{Frame, Functional, Structure, value};

/// Shortest part of the chord across the axis of a hinge, of unit length, by which the twist of the frame is held.
const LEAST_ACROSS: f64 = 0.5;

/// Directions nearer to each other than this, of unit length, are the same.
const SAME: f64 = 1e-6;

/// Axes about which an interface turns without a moment.
pub(crate) type Axes = Vec<[f64; 3]>;

/// The conditions of the frame on the chord, and the displacements and rotations that have static shapes.
pub(crate) struct Chord {
    pub(crate) conditions: [Functional; 6],
    pub(crate) statics: Vec<Functional>,
}

impl Chord {
    /// Of the interfaces `ends`, which turn freely about `axes`; none where these leave the frame without a hold.
    pub(crate) fn of(
        structure: &Structure<'_>,
        ends: [usize; 2],
        axes: [&Axes; 2],
    ) -> Option<Self> {
        let [first, second] = ends.map(|end| &structure.frames[end]);
        let [from, to] = [first, second].map(|frame| origin(structure, frame));
        let chord = (to - from).try_normalize(0.0)?;
        let held = axes.map(held_directions);
        // the twist of the frame is that of the interface whose hinge is further from the chord
        let across = |directions: &[Vector3<f64>]| {
            let along = directions.iter().map(|own| own * own.dot(&chord));
            along.sum::<Vector3<f64>>()
        };
        let twists = [across(&held[0]), across(&held[1])];
        let twisted = usize::from(twists[1].norm() > twists[0].norm() + SAME);
        let twist = twists[twisted];
        if twist.norm() < LEAST_ACROSS {
            return None;
        }
        let [aside, upward] = perpendicular(&chord);
        let conditions = [
            displacement(first, &Vector3::x()),
            displacement(first, &Vector3::y()),
            displacement(first, &Vector3::z()),
            displacement(second, &aside),
            displacement(second, &upward),
            rotation([first, second][twisted], &twist.normalize()),
        ];
        let mut statics = vec![displacement(second, &chord)];
        for (end, frame) in [first, second].into_iter().enumerate() {
            let mut known: Vec<Vector3<f64>> = axes[end].iter().map(|&own| own.into()).collect();
            if end == twisted {
                known.push(twist);
            }
            let rest = complement(&known);
            statics.extend(rest.iter().map(|own| rotation(frame, own)));
        }
        Some(Self {
            conditions,
            statics,
        })
    }
}

/// Where the origin of a frame is: what rigid rotations move it by.
fn origin(structure: &Structure<'_>, frame: &Frame) -> Vector3<f64> {
    let moved = |row: usize, motion: usize| value(&frame[row], structure.rigid_motion(motion));
    // about z it moves by (−y, x, 0), about x by (0, −z, y)
    Vector3::new(moved(1, 5), -moved(0, 5), -moved(1, 3))
}

fn displacement(frame: &Frame, along: &Vector3<f64>) -> Functional {
    combined(&frame[..3], along)
}

fn rotation(frame: &Frame, about: &Vector3<f64>) -> Functional {
    combined(&frame[3..], about)
}

fn combined(rows: &[Functional], factors: &Vector3<f64>) -> Functional {
    let scaled = rows.iter().zip(factors.iter()).flat_map(|(row, factor)| {
        row.iter()
            .map(move |&(unknown, own)| (unknown, own * factor))
    });
    scaled.filter(|&(_, factor)| factor != 0.0).collect()
}

/// Directions about which rotations are held.
fn held_directions(axes: &Axes) -> Vec<Vector3<f64>> {
    complement(&axes.iter().map(|&own| own.into()).collect::<Vec<_>>())
}

/// Orthonormal directions across all of `known`.
fn complement(known: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let mut basis: Vec<Vector3<f64>> = Vec::new();
    let left = |basis: &[Vector3<f64>], direction: &Vector3<f64>| {
        let mut left = *direction;
        for own in basis {
            left -= own * own.dot(&left);
        }
        left
    };
    for direction in known {
        if let Some(unit) = left(&basis, direction).try_normalize(SAME * direction.norm()) {
            basis.push(unit);
        }
    }
    let count = basis.len();
    while basis.len() < 3 {
        // the axis that is furthest from those that are there
        let rest = [Vector3::x(), Vector3::y(), Vector3::z()].map(|own| left(&basis, &own));
        let furthest = (rest.iter()).fold(Vector3::zeros(), |best: Vector3<f64>, own| {
            if own.norm() > best.norm() + SAME {
                *own
            } else {
                best
            }
        });
        basis.push(furthest.normalize());
    }
    basis.split_off(count)
}

/// Two directions across a chord and across each other.
fn perpendicular(chord: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let across = complement(&[*chord]);
    [across[0], across[1]]
}
