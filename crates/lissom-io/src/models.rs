//! The models that come with Lissom, as texts inside the program.

/// A model that comes with Lissom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedModel {
    /// Name to run it by.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The model file.
    pub text: &'static str,
}

/// Every model that comes with Lissom; the first one is the one to begin with.
pub const SHIPPED: [ShippedModel; 13] = [
    ShippedModel {
        name: "two-link-arm",
        title: "two flexible links in a plane, driven at shoulder and elbow",
        text: lissom::model::TEMPLATE,
    },
    ShippedModel {
        name: "spin-up-beam",
        title: "a slender beam spun up to 6 rad/s about its root (Simo & Vu-Quoc)",
        text: include_str!("../../../models/simo_1986/spin_up_beam.toml"),
    },
    ShippedModel {
        name: "space-arm",
        title: "a free-floating base with a flexible two-link arm, in space",
        text: include_str!("../../../models/examples/space_arm.toml"),
    },
    ShippedModel {
        name: "branched-tree",
        title: "rigid and flexible bodies on every kind of joint, with branches",
        text: include_str!("../../../models/examples/branched_tree.toml"),
    },
    ShippedModel {
        name: "flexible-joint",
        title: "a link behind an elastic gear, with motor, friction and limits",
        text: include_str!("../../../models/examples/flexible_joint.toml"),
    },
    ShippedModel {
        name: "spin-up-pinned-beam",
        title: "a beam on a pin spun up by the torque of a rigid one (Damaren & Sharf)",
        text: include_str!("../../../models/damaren_1995/spin_up_pinned_beam.toml"),
    },
    ShippedModel {
        name: "shuttle-arm",
        title: "the Shuttle arm with 15 t in its hand, six joints driven along cycloids (Damaren & Sharf)",
        text: include_str!("../../../models/damaren_1995/shuttle_arm.toml"),
    },
    ShippedModel {
        name: "shuttle-arm-ii",
        title: "the same arm under constant torques, then let go",
        text: include_str!("../../../models/damaren_1995/shuttle_arm_ii.toml"),
    },
    ShippedModel {
        name: "floating-shuttle-arm",
        title: "the same arm on a Shuttle that floats freely",
        text: include_str!("../../../models/damaren_1995/floating_shuttle_arm.toml"),
    },
    ShippedModel {
        name: "sliding-beam",
        title: "a beam pushed over two supports (Pan, Scott & Ulsoy)",
        text: include_str!("../../../models/pan_1990/sliding_beam.toml"),
    },
    ShippedModel {
        name: "sliding-boom",
        title: "a flexible boom that slides out of a swinging sleeve (Pan, Scott & Ulsoy)",
        text: include_str!("../../../models/pan_1990/sliding_boom.toml"),
    },
    ShippedModel {
        name: "sliding-boom-spatial",
        title: "the same in space, driven by the torque and force of the rigid robot",
        text: include_str!("../../../models/pan_1990/sliding_boom_spatial.toml"),
    },
    ShippedModel {
        name: "telescopic-boom",
        title: "three flexible stages that slide out of each other under gravity",
        text: include_str!("../../../models/examples/telescopic_boom.toml"),
    },
];

/// The shipped model of that name.
pub fn find(name: &str) -> Option<ShippedModel> {
    SHIPPED.into_iter().find(|model| model.name == name)
}
