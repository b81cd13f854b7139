//! Spherical and free joints taken apart into single coordinates, where a loop takes a part of their freedoms.
//!
//! A joint that turns in any way has a quaternion, which is independent or dependent as a whole. In its place stand the twist of the relative
//! rotation about an axis $`x`$ and the tilts of that axis (the deformations of a hinge, see `joints` of `lissom-nodal`), and
//! where it slides too its offsets (those of a slider), all counted from where the loops are closed. With angular velocity $`w`$
//! in the axes $`x, y, z`$ of its child their rates are there
//!
//! ```math
//! \dot e_1 = w_x , \qquad \dot e_2 = w_z , \qquad \dot e_3 = -w_y .
//! ```
//!
//! The twist is good for any number of turns, the tilts for less than a right angle. So the axis is the one about which the
//! joint may turn without moving any loop, as a coupler between two ball joints can, or else the one that moves the
//! loops most.

use super::choice::{Choice, Dependent};
use super::{NodalAxis, NodalBall};
use lissom_core::AxisName;
use lissom_nodal::{Assembly, ElementId, Equations, Mechanism, Role};
use lissom_spatial::{Matrix, Vector};
use nalgebra::Matrix3;

const COORDINATES: [&str; 6] = [
    "twist", "tilt_1", "tilt_2", "offset_1", "offset_2", "offset_3",
];

/// How each joint of several freedoms would be taken apart.
pub(super) struct Unfolding<'b>(Vec<Unfolded<'b>>);

struct Unfolded<'b> {
    ball: &'b NodalBall,
    /// The block of its loop.
    block: usize,
    /// Columns of its freedoms there.
    columns: Vec<usize>,
    /// Columns x, y and z in the axes of its child.
    axes: Matrix<f64>,
}

/// A coordinate of a joint that was taken apart, as an axis.
pub(super) struct UnfoldedAxis {
    pub(super) axis: NodalAxis,
    /// The element of the joint.
    pub(super) ball: ElementId,
    /// Where the axis starts.
    pub(super) value: f64,
    /// Its rate by the angular velocity or velocity of the joint in the axes of its child.
    pub(super) direction: Vector<f64>,
}

impl<'b> Unfolding<'b> {
    /// Of the joints of an open mechanism that are in loops.
    pub(super) fn new(choice: &Choice, balls: &'b [NodalBall], open: &Mechanism) -> Self {
        let unfolded = balls.iter().filter_map(|ball| {
            let dofs = ball.dofs(open);
            let places: Vec<_> = dofs.iter().filter_map(|&dof| choice.place(dof)).collect();
            let is_whole = places.len() == open.deformations_of(ball.element);
            let &(block, _) = places.first().filter(|_| is_whole)?;
            let columns: Vec<usize> = places.into_iter().map(|(_, column)| column).collect();
            Some(Unfolded {
                axes: axes(&choice.blocks[block].rows, &columns, choice.smallest),
                ball,
                block,
                columns,
            })
        });
        Self(unfolded.collect())
    }

    /// Those of one block.
    fn of(&self, block: usize) -> impl Iterator<Item = (usize, &Unfolded<'b>)> {
        let all = self.0.iter().enumerate();
        all.filter(move |(_, own)| own.block == block)
    }

    /// Writes rates by the single coordinates where those by the joints stand in a block.
    pub(super) fn unfold(&self, block: usize, rows: &mut [Vec<f64>]) {
        for (_, Unfolded { columns, axes, .. }) in self.of(block) {
            for row in &mut *rows {
                let by_rotation = Vector([0, 1, 2].map(|i| row[columns[i]]));
                let [x, y, z] = axes.transpose_mul(by_rotation).0;
                for (&column, rate) in columns.iter().zip([x, z, -y]) {
                    row[column] = rate;
                }
            }
        }
    }

    /// The single coordinates of a block with their columns: of joints that would rather be dependent, and of the others.
    pub(super) fn parts(
        &self,
        block: usize,
        is_willing: impl Fn(ElementId) -> bool,
    ) -> [Vec<(Dependent, usize)>; 2] {
        let mut parts = [Vec::new(), Vec::new()];
        for (at, Unfolded { ball, columns, .. }) in self.of(block) {
            let of_ball = columns.iter().enumerate();
            parts[usize::from(!is_willing(ball.element))]
                .extend(of_ball.map(|(part, &column)| (Dependent::Part(at, part), column)));
        }
        parts
    }

    /// Takes those joints apart of which a part is dependent, in an assembly that stands as the equations do.
    pub(super) fn apply(
        &self,
        assembly: &mut Assembly,
        equations: &Equations<'_>,
        chosen: &[Dependent],
    ) -> Vec<UnfoldedAxis> {
        let mut found = Vec::new();
        for (
            at,
            Unfolded {
                ball,
                columns,
                axes,
                ..
            },
        ) in self.0.iter().enumerate()
        {
            let follows = |part: usize| chosen.contains(&Dependent::Part(at, part));
            let following = (0..COORDINATES.len()).filter(|&part| follows(part));
            let following = following.count();
            if following == 0 {
                continue;
            }
            assembly.set_deformations(ball.element, Role::Free);
            if following == columns.len() {
                continue;
            }
            let child_axes = ball.child_axes(equations.node(ball.child.orientation));
            let frame = child_axes * *axes;
            let [p, q] = [ball.parent.orientation, ball.child.orientation];
            let hinge = assembly.hinge_between(&ball.joint, p, q, [frame; 2]);
            let [x, y, z] = axes.transpose().0.map(Vector);
            let mut parts: Vec<(ElementId, f64, Vector<f64>)> =
                [x, z, -y].map(|direction| (hinge, 0.0, direction)).into();
            if ball.translates {
                let sides = child_axes.transpose().0;
                let [from, to] = [ball.parent.point, ball.child.point];
                let offset = equations.node(to).position - equations.node(from).position;
                let slider = assembly.slider(&ball.joint, ball.parent, to, sides[0], sides[1]);
                parts.extend(
                    (0..3).map(|i| (slider, Vector(sides[i]).dot(offset), Vector::axis(i))),
                );
            }
            for (part, (element, value, direction)) in parts.into_iter().enumerate() {
                let role = if follows(part) { Role::Free } else { Role::Dof };
                assembly.set_deformation(element, part % 3, role);
                let name = COORDINATES[part].to_owned();
                found.push(UnfoldedAxis {
                    axis: NodalAxis {
                        name: AxisName {
                            joint: ball.joint.clone(),
                            suffix: name.clone(),
                            part: Some(name),
                            translates: part >= 3,
                            is_motor: false,
                        },
                        element,
                        deformation: part % 3,
                    },
                    ball: ball.element,
                    value,
                    direction,
                });
            }
        }
        found
    }
}

/// The axis of twist with two others orthogonal to it, in the axes of a joint's child: columns of a rotation.
fn axes(rows: &[Vec<f64>], columns: &[usize], smallest: f64) -> Matrix<f64> {
    // how much the loops move when the joint turns about an axis n is nᵀGn
    let gram = Matrix3::from_fn(|i, j| {
        let products = rows.iter().map(|row| row[columns[i]] * row[columns[j]]);
        products.sum::<f64>()
    });
    let eigen = gram.symmetric_eigen();
    let by_size = |a: &usize, b: &usize| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]);
    let mut order = [0, 1, 2];
    order.sort_by(by_size);
    let is_still = eigen.eigenvalues[order[0]] <= smallest * smallest;
    let axis = if is_still { order[0] } else { order[2] };
    let column = |i: usize| Vector(std::array::from_fn(|row| eigen.eigenvectors[(row, i)]));
    let (x, y) = (column(axis), column((axis + 1) % 3));
    Matrix([x.0, y.0, x.cross(y).0]).transpose()
}
