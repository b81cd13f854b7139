//! The paper's own formulation, as a second one beside the recursions: every link has a frame that follows the nominal rigid motion,
//! its displacements are measured there and free at both ends, and joints are equations between nodal displacements.
//!
//! With $`d = (x + u - \tfrac12 q^T G q, v, w)`$ in the frame $`(R, A)`$ of the link, a point is at $`r = R + A d`$ (2). Its mass matrix
//! $`\sum m J^T J`$ and bias $`\sum m J^T (\ddot R_0 + \ddot A_0 d + 2\dot A\dot d + A\ddot d_0)`$ are those of Lagrange's equations
//! (42), (43). $`G`$, the shortening as part of the field, may be left out, and the work of the nominal axial force on it,
//! (16)–(18), be counted instead. Joints are (19)–(21), (22)–(25), (26)–(28); multipliers and stabilisation are (48), (49).

use nalgebra::{DMatrix, DVector, Vector3};

use super::frames::{Frame, Jet};
use super::links::{Field, Link};

/// Their choice.
const STABILISATION: f64 = 5.0;

/// What moves a joint of the nominal robot.
pub(crate) enum Joint<'a> {
    /// Position, rate and acceleration.
    Prescribed(&'a dyn Fn(f64) -> [f64; 3]),
    /// Position at the start, and the motion whose rigid inverse dynamics drives it.
    Driven(&'a dyn Fn(f64) -> [f64; 3]),
}

/// A place along a link, or an angle, as a function of the joints.
pub(crate) type LinearizedTrajectory<'a> = &'a dyn Fn(&[Jet]) -> Jet;

/// Equations between nodal displacements; places and angles are functions of the joints.
pub(crate) enum Tie<'a> {
    /// (22), (23): the left end is clamped in its frame.
    Clamped(usize),
    /// (24), (25): a link does not deflect at a place.
    Support(usize, LinearizedTrajectory<'a>),
    /// (26) and, with slopes, (27), (28): two links share displacement and slope at a place of each.
    Slider([usize; 2], [LinearizedTrajectory<'a>; 2], bool),
    /// (19)–(21) and the joint's angle, which is the nominal one, between the right end of a link and the left end of the
    /// next.
    Revolute(usize, usize, LinearizedTrajectory<'a>),
}

pub(crate) struct Robot<'a> {
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<Joint<'a>>,
    pub(crate) ties: Vec<Tie<'a>>,
    /// Frame of every link.
    pub(crate) frames: &'a dyn Fn(&[Jet]) -> Vec<Frame>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) shortening: Shortening,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shortening {
    /// In the displacement field.
    Field,
    /// By the work of the nominal axial force, (16)–(18), with or without what the links after one put on it.
    Work { carried: bool },
}

/// A point of a link with what does not change there.
struct Point {
    link: usize,
    x: f64,
    mass: f64,
    twist_inertia: f64,
    rows: [DVector<f64>; 3],
    twist: DVector<f64>,
    slopes: [DVector<f64>; 2],
    weight: f64,
    shortening: Option<DMatrix<f64>>,
}

/// Equations of a robot: freedoms of all links, then joints.
pub(crate) struct Equations<'a> {
    robot: &'a Robot<'a>,
    points: Vec<Point>,
    stiffness: Vec<DMatrix<f64>>,
    pub(crate) first: Vec<usize>,
    elastic: usize,
}

impl<'a> Equations<'a> {
    pub(crate) fn new(robot: &'a Robot<'a>) -> Self {
        let mut first = vec![0];
        let mut points = Vec::new();
        for (k, link) in robot.links.iter().enumerate() {
            first.push(first[k] + link.freedoms());
            let point = |x: f64, mass: f64, twist_inertia: f64, weight: f64| Point {
                link: k,
                x,
                mass,
                twist_inertia,
                rows: [Field::U, Field::V, Field::W].map(|f| link.row(f, x, 0)),
                twist: link.row(Field::Twist, x, 0),
                slopes: [Field::V, Field::W].map(|f| link.row(f, x, 1)),
                weight,
                shortening: (robot.shortening == Shortening::Field).then(|| link.shortening(x)),
            };
            let polar = link.torsion.map_or(0.0, |t| t[1]);
            for (x, w) in link.gauss() {
                points.push(point(x, w * link.mass_per_length, w * polar, w));
            }
            if link.payload > 0.0 {
                points.push(point(link.length, link.payload, 0.0, 0.0));
            }
        }
        Self {
            points,
            stiffness: robot.links.iter().map(Link::stiffness).collect(),
            elastic: first[robot.links.len()],
            first,
            robot,
        }
    }

    fn len(&self) -> usize {
        self.elastic + self.robot.joints.len()
    }

    /// Joints along the motion, as they turn with `rate`.
    fn jets(&self, q: &DVector<f64>, rate: impl Fn(usize) -> f64) -> Vec<Jet> {
        (0..self.robot.joints.len())
            .map(|k| Jet([q[self.elastic + k], rate(k), 0.0]))
            .collect()
    }

    /// Mass matrix and forces less bias.
    fn dynamics(&self, q: &DVector<f64>, v: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let n = self.len();
        let robot = self.robot;
        let frames = (robot.frames)(&self.jets(q, |k| v[self.elastic + k]));
        let turned: Vec<Vec<Frame>> = (0..robot.joints.len())
            .map(|k| (robot.frames)(&self.jets(q, |j| f64::from(u8::from(j == k)))))
            .collect();
        let mut mass = DMatrix::zeros(n, n);
        let mut force = DVector::zeros(n);
        for point in &self.points {
            let (begin, end) = (self.first[point.link], self.first[point.link + 1]);
            let own = q.rows(begin, end - begin);
            let rate = v.rows(begin, end - begin);
            let [mut u, v_row, w_row] = point.rows.clone();
            let mut d = Vector3::new(point.x + u.dot(&own), v_row.dot(&own), w_row.dot(&own));
            let mut d_bias = Vector3::zeros();
            if let Some(g) = &point.shortening {
                let along = g * own;
                d.x -= 0.5 * along.dot(&own);
                d_bias.x = -(g * rate).dot(&rate);
                u -= along;
            }
            let d_rate = Vector3::new(u.dot(&rate), v_row.dot(&rate), w_row.dot(&rate));
            let frame = &frames[point.link];
            let (_, a) = frame.derivative(0);
            let (_, a1) = frame.derivative(1);
            let (r2, a2) = frame.derivative(2);
            let mut jacobian = DMatrix::zeros(3, n);
            for (i, row) in [&u, &v_row, &w_row].into_iter().enumerate() {
                for j in 0..end - begin {
                    for k in 0..3 {
                        jacobian[(k, begin + j)] += a[(k, i)] * row[j];
                    }
                }
            }
            for (k, turned) in turned.iter().enumerate() {
                let (r, a) = turned[point.link].derivative(1);
                jacobian.set_column(self.elastic + k, &(r + a * d));
            }
            let bias = r2 + a2 * d + 2.0 * a1 * d_rate + a * d_bias;
            mass.gemm_tr(point.mass, &jacobian, &jacobian, 1.0);
            force.gemv_tr(point.mass, &jacobian, &(robot.gravity - bias), 1.0);
            let mut twist = mass.view_mut((begin, begin), (end - begin, end - begin));
            twist += point.twist_inertia * &point.twist * point.twist.transpose();
        }
        for (k, stiffness) in self.stiffness.iter().enumerate() {
            let own = stiffness * q.rows(self.first[k], stiffness.nrows());
            let mut rows = force.rows_mut(self.first[k], stiffness.nrows());
            rows -= own;
        }
        (mass, force)
    }

    /// Takes off the force of the axial work (16), whose axial force (17), (18) is that of the nominal motion.
    fn subtract_axial_work(
        &self,
        q: &DVector<f64>,
        v: &DVector<f64>,
        acceleration: &[f64],
        force: &mut DVector<f64>,
    ) {
        let Shortening::Work { carried } = self.robot.shortening else {
            return;
        };
        let joints: Vec<Jet> = (0..self.robot.joints.len())
            .map(|k| Jet([q[self.elastic + k], v[self.elastic + k], acceleration[k]]))
            .collect();
        let frames = (self.robot.frames)(&joints);
        // inertial and gravitational force per mass at x along a link
        let pull = |k: usize, x: f64| {
            let (r2, a2) = frames[k].derivative(2);
            r2 + a2.column(0) * x - self.robot.gravity
        };
        for point in self.points.iter().filter(|p| p.weight > 0.0) {
            let link = &self.robot.links[point.link];
            let along = frames[point.link].derivative(0).1.column(0).into_owned();
            let rest = link.length - point.x;
            let mut axial =
                -link.mass_per_length * rest * along.dot(&pull(point.link, point.x + 0.5 * rest))
                    - link.payload * along.dot(&pull(point.link, link.length));
            if carried {
                for (k, outer) in self.robot.links.iter().enumerate().skip(point.link + 1) {
                    axial -= outer.mass_per_length
                        * outer.length
                        * along.dot(&pull(k, 0.5 * outer.length))
                        + outer.payload * along.dot(&pull(k, outer.length));
                }
            }
            let begin = self.first[point.link];
            for slope in &point.slopes {
                let own = slope.dot(&q.rows(begin, slope.len()));
                let mut rows = force.rows_mut(begin, slope.len());
                rows -= point.weight * axial * own * slope;
            }
        }
    }

    /// Coefficients of the freedoms in every equation of the ties.
    fn terms(&self, joints: &[Jet]) -> Vec<Vec<(usize, Jet)>> {
        let robot = self.robot;
        let at = |link: usize, field: Field, place: Jet, order: usize| -> Vec<(usize, Jet)> {
            (robot.links[link].functions(field, place.0[0]).into_iter())
                .map(|(freedom, f)| {
                    let f = [
                        f[order],
                        f[order + 1],
                        f.get(order + 2).copied().unwrap_or(0.0),
                    ];
                    (self.first[link] + freedom, place.of(f))
                })
                .collect()
        };
        let times = |factor: Jet, terms: Vec<(usize, Jet)>| -> Vec<(usize, Jet)> {
            terms.into_iter().map(|(i, c)| (i, factor * c)).collect()
        };
        let one = Jet::constant(1.0);
        let mut rows = Vec::new();
        for tie in &robot.ties {
            match tie {
                Tie::Clamped(link) => {
                    let left = Jet::constant(0.0);
                    for (field, order) in [
                        (Field::U, 0),
                        (Field::V, 0),
                        (Field::V, 1),
                        (Field::W, 0),
                        (Field::W, 1),
                        (Field::Twist, 0),
                    ] {
                        rows.push(at(*link, field, left, order));
                    }
                }
                Tie::Support(link, place) => {
                    for field in [Field::V, Field::W] {
                        rows.push(at(*link, field, place(joints), 0));
                    }
                }
                Tie::Slider([one_link, other], places, slopes) => {
                    for field in [Field::V, Field::W] {
                        for order in 0..=usize::from(*slopes) {
                            let mut row = at(*one_link, field, places[0](joints), order);
                            row.extend(times(-one, at(*other, field, places[1](joints), order)));
                            rows.push(row);
                        }
                    }
                }
                Tie::Revolute(before, after, angle) => {
                    let (s, c) = angle(joints).sin_cos();
                    let right = Jet::constant(robot.links[*before].length);
                    let left = Jet::constant(0.0);
                    let mut equation =
                        |end: (Field, usize, f64), parts: &[(Jet, Field, usize, f64)]| {
                            let (field, order, sign) = end;
                            let mut row =
                                times(Jet::constant(sign), at(*before, field, right, order));
                            for &(factor, field, order, sign) in parts {
                                row.extend(times(
                                    -(factor * Jet::constant(sign)),
                                    at(*after, field, left, order),
                                ));
                            }
                            rows.push(row);
                        };
                    equation(
                        (Field::U, 0, 1.0),
                        &[(c, Field::U, 0, 1.0), (-s, Field::V, 0, 1.0)],
                    );
                    equation(
                        (Field::V, 0, 1.0),
                        &[(s, Field::U, 0, 1.0), (c, Field::V, 0, 1.0)],
                    );
                    equation((Field::W, 0, 1.0), &[(one, Field::W, 0, 1.0)]);
                    // about y the turn is minus the slope of w
                    equation(
                        (Field::W, 1, -1.0),
                        &[(c, Field::W, 1, -1.0), (s, Field::Twist, 0, 1.0)],
                    );
                    equation(
                        (Field::Twist, 0, 1.0),
                        &[(-s, Field::W, 1, -1.0), (c, Field::Twist, 0, 1.0)],
                    );
                    equation((Field::V, 1, 1.0), &[(one, Field::V, 1, 1.0)]);
                }
            }
        }
        rows.retain(|row| !row.is_empty());
        rows
    }

    /// Where the right end of a link is, and where it would be on the rigid robot.
    pub(crate) fn end(&self, link: usize, q: &DVector<f64>) -> (Vector3<f64>, Vector3<f64>) {
        let frame = (self.robot.frames)(&self.jets(q, |_| 0.0))[link];
        let (origin, axes) = frame.derivative(0);
        let own = &q.as_slice()[self.first[link]..];
        let link = &self.robot.links[link];
        let moved = [Field::U, Field::V, Field::W].map(|f| link.value(f, link.length, own));
        let rigid = origin + axes.column(0) * link.length;
        (rigid + axes * Vector3::from(moved), rigid)
    }

    /// Accelerations at a time; entries of prescribed joints are put into `q` and `v` first.
    pub(crate) fn accelerations(
        &self,
        time: f64,
        q: &mut DVector<f64>,
        v: &mut DVector<f64>,
    ) -> DVector<f64> {
        let n = self.len();
        let joints = &self.robot.joints;
        let mut given = vec![None; n];
        for (k, joint) in joints.iter().enumerate() {
            if let Joint::Prescribed(motion) = joint {
                let [x, rate, acceleration] = motion(time);
                (q[self.elastic + k], v[self.elastic + k]) = (x, rate);
                given[self.elastic + k] = Some(acceleration);
            }
        }
        let (mass, mut force) = self.dynamics(q, v);
        let nominal: Vec<f64> = given[self.elastic..]
            .iter()
            .map(|a| a.unwrap_or(0.0))
            .collect();
        self.subtract_axial_work(q, v, &nominal, &mut force);
        let drives = self.rigid_inverse_dynamics(time);
        for (k, joint) in joints.iter().enumerate() {
            if let Joint::Driven(_) = joint {
                force[self.elastic + k] += drives[k];
            }
        }
        let (rows, right) = self.constraints(q, v);
        // unknown: free accelerations, multipliers; known: those that are given
        let m = rows.nrows();
        let mut matrix = DMatrix::zeros(n + m, n + m);
        let mut known = DVector::zeros(n + m);
        matrix.view_mut((0, 0), (n, n)).copy_from(&mass);
        matrix.view_mut((n, 0), (m, n)).copy_from(&rows);
        matrix.view_mut((0, n), (n, m)).copy_from(&rows.transpose());
        known.rows_mut(0, n).copy_from(&force);
        known.rows_mut(n, m).copy_from(&right);
        for (i, given) in given.iter().enumerate() {
            if let Some(acceleration) = given {
                matrix.row_mut(i).fill(0.0);
                matrix[(i, i)] = 1.0;
                known[i] = *acceleration;
            }
        }
        let solution = matrix.lu().solve(&known).unwrap();
        solution.rows(0, n).into_owned()
    }

    /// $`\Phi_q`$ and the right side of (49).
    fn constraints(&self, q: &DVector<f64>, v: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let along = self.terms(&self.jets(q, |k| v[self.elastic + k]));
        let mut rows = DMatrix::zeros(along.len(), self.len());
        let mut right = DVector::zeros(along.len());
        for (i, row) in along.iter().enumerate() {
            let (mut value, mut rate) = (0.0, 0.0);
            for &(at, Jet([c, c1, c2])) in row {
                rows[(i, at)] += c;
                value += c * q[at];
                rate += c * v[at] + c1 * q[at];
                right[i] -= 2.0 * c1 * v[at] + c2 * q[at];
            }
            right[i] -= 2.0 * STABILISATION * rate + STABILISATION * STABILISATION * value;
        }
        for k in 0..self.robot.joints.len() {
            let turned = self.terms(&self.jets(q, |j| f64::from(u8::from(j == k))));
            for (i, row) in turned.iter().enumerate() {
                rows[(i, self.elastic + k)] = row.iter().map(|&(at, c)| c.0[1] * q[at]).sum();
            }
        }
        (rows, right)
    }

    /// What the rigid robot needs for its nominal motion.
    fn rigid_inverse_dynamics(&self, time: f64) -> DVector<f64> {
        let n = self.len();
        let (mut q, mut v, mut a) = (DVector::zeros(n), DVector::zeros(n), DVector::zeros(n));
        for (k, joint) in self.robot.joints.iter().enumerate() {
            let (Joint::Prescribed(motion) | Joint::Driven(motion)) = joint;
            let at = self.elastic + k;
            [q[at], v[at], a[at]] = motion(time);
        }
        if !self
            .robot
            .joints
            .iter()
            .any(|j| matches!(j, Joint::Driven(_)))
        {
            return DVector::zeros(self.robot.joints.len());
        }
        let (mass, force) = self.dynamics(&q, &v);
        (mass * a - force)
            .rows(self.elastic, self.robot.joints.len())
            .into_owned()
    }

    /// Rest under gravity, or another acceleration of free fall, with the joints where they begin.
    pub(crate) fn equilibrium(&self, joints: &[f64]) -> DVector<f64> {
        // the shortening is small beside the deflection: every round gains several digits
        const ROUNDS: usize = 12;
        let n = self.len();
        let mut q = DVector::zeros(n);
        for (k, &x) in joints.iter().enumerate() {
            q[self.elastic + k] = x;
        }
        let rest = DVector::zeros(n);
        for _ in 0..ROUNDS {
            let (_, mut force) = self.dynamics(&q, &rest);
            self.subtract_axial_work(&q, &rest, &vec![0.0; joints.len()], &mut force);
            let (rows, _) = self.constraints(&q, &rest);
            let (m, e) = (rows.nrows(), self.elastic);
            let mut matrix = DMatrix::zeros(e + m, e + m);
            let mut known = DVector::zeros(e + m);
            for (k, stiffness) in self.stiffness.iter().enumerate() {
                let at = self.first[k];
                let size = stiffness.nrows();
                matrix.view_mut((at, at), (size, size)).copy_from(stiffness);
                let elastic = stiffness * q.rows(at, size);
                known
                    .rows_mut(at, size)
                    .copy_from(&(force.rows(at, size) + elastic));
            }
            matrix
                .view_mut((e, 0), (m, e))
                .copy_from(&rows.columns(0, e));
            matrix
                .view_mut((0, e), (e, m))
                .copy_from(&rows.columns(0, e).transpose());
            let solution = matrix.lu().solve(&known).unwrap();
            q.rows_mut(0, e).copy_from(&solution.rows(0, e));
        }
        q
    }

    /// States at equal intervals from `start` at rest, with so many steps in each, by Runge and Kutta's method of order 4.
    pub(crate) fn run(
        &self,
        start: DVector<f64>,
        interval: f64,
        samples: usize,
        steps: usize,
    ) -> Vec<DVector<f64>> {
        let h = interval / steps as f64;
        let (mut q, mut v) = (start, DVector::zeros(self.len()));
        let mut states = vec![q.clone()];
        for sample in 0..samples {
            for i in 0..steps {
                let t = (sample as f64 + i as f64 / steps as f64) * interval;
                let stage = |share: f64, dq: &DVector<f64>, dv: &DVector<f64>| {
                    let (mut q, mut v) = (&q + share * h * dq, &v + share * h * dv);
                    let a = self.accelerations(t + share * h, &mut q, &mut v);
                    (v, a)
                };
                let zero = DVector::zeros(self.len());
                let (v1, a1) = stage(0.0, &zero, &zero);
                let (v2, a2) = stage(0.5, &v1, &a1);
                let (v3, a3) = stage(0.5, &v2, &a2);
                let (v4, a4) = stage(1.0, &v3, &a3);
                q += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
                v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
            }
            states.push(q.clone());
        }
        states
    }
}
