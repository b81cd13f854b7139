//! What a rigid body is drawn as: bars and a plate between the places where something is attached to it.

use lissom_spatial::Vector;

/// Distance, in parts of the size of a body, below which two places are one, or a place lies in a plane.
const SAME: f64 = 1e-6;

/// Joints that are not in a plane are all connected with each other up to this many, beyond with their middle.
const MOST_PAIRED: usize = 4;

/// Bars and plate of a rigid body.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outline {
    pub(super) struts: Vec<[[f64; 3]; 2]>,
    /// Corners in order; empty without a plate.
    pub(super) plate: Vec<[f64; 3]>,
    /// Whether it connects several joints, so that nothing else has to stand for the body.
    pub(super) connects: bool,
}

impl Outline {
    /// Of a body that `joints` hold, with `others` attached to it: markers and masses. `root` is where bars to these begin if
    /// there are fewer than two joints.
    pub(super) fn new(root: Vector<f64>, joints: &[Vector<f64>], others: &[Vector<f64>]) -> Self {
        let size = (joints.iter().chain(others))
            .map(|&place| length(place - root))
            .fold(0.0, f64::max);
        let near = SAME * size;
        let joints = distinct(joints, near);
        let mut outline = Self {
            connects: joints.len() > 1,
            ..Self::default()
        };
        let plane = Plane::through(&joints, near);
        match (&plane, joints.len()) {
            (_, 0 | 1) => {}
            (Some(Plane::Line(order)), _) => {
                for pair in order.windows(2) {
                    outline.connect(joints[pair[0]], joints[pair[1]]);
                }
            }
            (Some(Plane::Polygon(corners)), _) => {
                for (i, &corner) in corners.iter().enumerate() {
                    outline.connect(joints[corner], joints[corners[(i + 1) % corners.len()]]);
                }
                outline.plate = corners.iter().map(|&corner| joints[corner].0).collect();
            }
            (None, count) if count <= MOST_PAIRED => {
                for (i, &from) in joints.iter().enumerate() {
                    for &to in &joints[i + 1..] {
                        outline.connect(from, to);
                    }
                }
            }
            (None, count) => {
                let sum = joints
                    .iter()
                    .fold(Vector::zero(), |sum, &place| sum + place);
                let middle = sum.scale(1.0 / count as f64);
                for &place in &joints {
                    outline.connect(middle, place);
                }
            }
        }
        let loose = others
            .iter()
            .filter(|&&place| !outline.covers(place, near))
            .copied();
        for place in distinct(&loose.collect::<Vec<_>>(), near) {
            let from = if outline.connects {
                nearest(&joints, place)
            } else {
                root
            };
            if length(place - from) > near {
                outline.connect(from, place);
            }
        }
        outline
    }

    fn connect(&mut self, from: Vector<f64>, to: Vector<f64>) {
        self.struts.push([from.0, to.0]);
    }

    /// Whether a place is on a bar or on the plate.
    fn covers(&self, place: Vector<f64>, near: f64) -> bool {
        let on_bar = self.struts.iter().any(|&[from, to]| {
            let (from, along) = (Vector(from), Vector(to) - Vector(from));
            let share = ((place - from).dot(along) / along.dot(along)).clamp(0.0, 1.0);
            length(place - from - along.scale(share)) <= near
        });
        if on_bar || self.plate.len() < 3 {
            return on_bar;
        }
        let corner = |i: usize| Vector(self.plate[i % self.plate.len()]);
        let normal = (corner(1) - corner(0)).cross(corner(2) - corner(0)).unit();
        (place - corner(0)).dot(normal).abs() <= near
            && (0..self.plate.len()).all(|i| {
                let edge = corner(i + 1) - corner(i);
                edge.cross(place - corner(i)).dot(normal) >= 0.0
            })
    }
}

/// How places in a plane lie, as their indices.
enum Plane {
    /// All on a line, in their order along it.
    Line(Vec<usize>),
    /// Corners of the convex polygon that has all places in it, in order.
    Polygon(Vec<usize>),
}

impl Plane {
    /// `None` for places that are in no plane.
    fn through(places: &[Vector<f64>], near: f64) -> Option<Self> {
        let origin = *places.first()?;
        let from_origin = |i: usize| places[i] - origin;
        let furthest = (0..places.len())
            .max_by(|&i, &j| length(from_origin(i)).total_cmp(&length(from_origin(j))))?;
        let along = from_origin(furthest);
        if length(along) <= near {
            return None;
        }
        let x = along.unit();
        let aside = |i: usize| from_origin(i) - x.scale(from_origin(i).dot(x));
        let widest =
            (0..places.len()).max_by(|&i, &j| length(aside(i)).total_cmp(&length(aside(j))))?;
        let mut order: Vec<usize> = (0..places.len()).collect();
        if length(aside(widest)) <= near {
            order.sort_by(|&i, &j| from_origin(i).dot(x).total_cmp(&from_origin(j).dot(x)));
            return Some(Self::Line(order));
        }
        let y = aside(widest).unit();
        let z = x.cross(y);
        if (0..places.len()).any(|i| from_origin(i).dot(z).abs() > near) {
            return None;
        }
        // Andrew's monotone chain: the lower half from left to right, the upper half back
        let flat = |i: usize| [from_origin(i).dot(x), from_origin(i).dot(y)];
        order.sort_by(|&i, &j| {
            let ([a, b], [c, d]) = (flat(i), flat(j));
            a.total_cmp(&c).then(b.total_cmp(&d))
        });
        let turns_left = |a: usize, b: usize, c: usize| {
            let ([ax, ay], [bx, by], [cx, cy]) = (flat(a), flat(b), flat(c));
            (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > near * near
        };
        let half = |order: &mut dyn Iterator<Item = usize>| {
            let mut chain: Vec<usize> = Vec::new();
            for next in order {
                while let [.., before, last] = chain[..]
                    && !turns_left(before, last, next)
                {
                    chain.pop();
                }
                chain.push(next);
            }
            chain.pop();
            chain
        };
        let mut corners = half(&mut order.iter().copied());
        corners.extend(half(&mut order.iter().rev().copied()));
        Some(Self::Polygon(corners))
    }
}

fn length(v: Vector<f64>) -> f64 {
    v.dot(v).sqrt()
}

fn distinct(places: &[Vector<f64>], near: f64) -> Vec<Vector<f64>> {
    let mut found: Vec<Vector<f64>> = Vec::new();
    for &place in places {
        if !found.iter().any(|&known| length(place - known) <= near) {
            found.push(place);
        }
    }
    found
}

/// The nearest of some places.
fn nearest(places: &[Vector<f64>], to: Vector<f64>) -> Vector<f64> {
    let least = |a: &&Vector<f64>, b: &&Vector<f64>| length(**a - to).total_cmp(&length(**b - to));
    places.iter().min_by(least).copied().unwrap_or(to)
}

#[cfg(test)]
mod tests {
    use super::Outline;
    use lissom_spatial::Vector;

    fn of(joints: &[[f64; 3]], others: &[[f64; 3]]) -> Outline {
        let vectors = |of: &[[f64; 3]]| of.iter().map(|&p| Vector(p)).collect::<Vec<_>>();
        Outline::new(Vector::zero(), &vectors(joints), &vectors(others))
    }

    /// By hand: a platform is a polygon round its joints, whatever their order, and a marker inside needs no bar.
    #[test]
    fn a_platform_is_a_plate() {
        let corners = [
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [1.0, 0.0, 1.0],
            [0.0, 1.0, 1.0],
        ];
        let outline = of(&corners, &[[0.5, 0.4, 1.0], [0.5, 0.4, 3.0]]);
        assert_eq!(outline.plate.len(), 4);
        for corner in corners {
            assert!(outline.plate.contains(&corner));
        }
        // four edges, none of them a diagonal, and one bar to what stands above
        assert_eq!(outline.struts.len(), 5);
        for [from, to] in &outline.struts[..4] {
            let apart = Vector(*to) - Vector(*from);
            assert!((apart.dot(apart) - 1.0).abs() < 1e-12);
        }
        assert_eq!(outline.struts[4][1], [0.5, 0.4, 3.0]);
        assert!(outline.connects);
    }

    /// By hand: a link is one bar, a body at the end of a chain has bars to what it carries, joints in one line are
    /// connected along it, and those in no plane with each other.
    #[test]
    fn links_are_bars() {
        let link = of(&[[0.0; 3], [2.0, 0.0, 0.0]], &[[1.0, 0.0, 0.0]]);
        assert_eq!(link.struts, [[[0.0; 3], [2.0, 0.0, 0.0]]]);
        let hand = of(&[[0.0; 3]], &[[0.3, 0.0, 0.0], [0.0; 3]]);
        assert_eq!(hand.struts, [[[0.0; 3], [0.3, 0.0, 0.0]]]);
        assert!(!hand.connects);
        let rail = of(&[[1.0, 0.0, 0.0], [0.0; 3], [2.0, 0.0, 0.0]], &[]);
        assert_eq!((rail.struts.len(), rail.plate.len()), (2, 0));
        let knot = of(
            &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            &[],
        );
        assert_eq!((knot.struts.len(), knot.plate.len()), (6, 0));
        assert_eq!(of(&[], &[]), Outline::default());
        assert_eq!(of(&[[0.0; 3], [0.0; 3]], &[]).struts.len(), 0);
    }
}
