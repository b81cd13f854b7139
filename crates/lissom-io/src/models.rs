//! The models that come with Lissom, as texts inside the program: files, and variants of them.

use std::sync::LazyLock;

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

/// Every model that comes with Lissom as a file; the first one is the one to begin with.
pub const SHIPPED: [ShippedModel; 29] = [
    ShippedModel {
        name: "two-link-arm",
        title: "two flexible links in a plane, driven at shoulder and elbow",
        text: lissom::TEMPLATE,
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
        name: "four-bar",
        title: "a four-bar with flexible coupler and rocker, driven at the crank",
        text: include_str!("../../../models/examples/four_bar.toml"),
    },
    ShippedModel {
        name: "slider-crank",
        title: "a slider-crank with a flexible rod, turned at constant rate",
        text: include_str!("../../../models/examples/slider_crank.toml"),
    },
    ShippedModel {
        name: "cooperating-arms",
        title: "two planar arms with flexible links that carry one rod (Fattah)",
        text: include_str!("../../../models/fattah_1995/cooperating_arms.toml"),
    },
    ShippedModel {
        name: "planar-3rrr-fast",
        title: "a planar parallel robot with flexible links, moved fast (Fattah)",
        text: include_str!("../../../models/fattah_1995/planar_3rrr_fast.toml"),
    },
    ShippedModel {
        name: "planar-3rrr",
        title: "a planar parallel robot with light flexible links, driven at its joints (Fattah)",
        text: include_str!("../../../models/fattah_1995/planar_3rrr.toml"),
    },
    ShippedModel {
        name: "spatial-3rrs",
        title: "a spatial parallel robot on three flexible legs (Fattah)",
        text: include_str!("../../../models/fattah_1995/spatial_3rrs.toml"),
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
    ShippedModel {
        name: "sliding-links",
        title: "a slider that moves along two flexible links and ties their slopes",
        text: include_str!("../../../models/examples/sliding_links.toml"),
    },
    ShippedModel {
        name: "frame-arm",
        title: "an arm of a bent, tapered link and a lattice of tubes",
        text: include_str!("../../../models/examples/frame_arm.toml"),
    },
    ShippedModel {
        name: "rotating-beam",
        title: "a flexible beam of four elements spun up to 4 rad/s (Jonker & Aarts)",
        text: include_str!("../../../models/jonker_aarts_2001/rotating_beam.toml"),
    },
    ShippedModel {
        name: "quarter-turn",
        title: "the same beam turned by a quarter under feedback of its hub (Jonker & Aarts)",
        text: include_str!("../../../models/jonker_aarts_2001/quarter_turn.toml"),
    },
    ShippedModel {
        name: "spatial-two-link",
        title: "two flexible links in space that track a path under feedback (Jonker & Aarts)",
        text: include_str!("../../../models/jonker_aarts_2001/two_link.toml"),
    },
    ShippedModel {
        name: "spin-up-elements",
        title: "the beam of Simo & Vu-Quoc as 20 elements",
        text: include_str!("../../../models/simo_1986/spin_up_elements.toml"),
    },
    ShippedModel {
        name: "flying-spaghetti",
        title: "a very flexible free beam, pushed and turned at one end (Simo & Vu-Quoc)",
        text: include_str!("../../../models/simo_1986/flying_spaghetti.toml"),
    },
    ShippedModel {
        name: "princeton-beam",
        title: "a cantilever bent far in both planes (Dowell & Traybar)",
        text: include_str!("../../../models/dowell_traybar_1975/princeton_beam.toml"),
    },
    ShippedModel {
        name: "bend-45",
        title: "a curved cantilever loaded across its plane (Bathe & Bolourchi)",
        text: include_str!("../../../models/bathe_bolourchi_1979/bend.toml"),
    },
    ShippedModel {
        name: "four-bar-elements",
        title: "a four-bar of elements with a flexible coupler",
        text: include_str!("../../../models/examples/four_bar_elements.toml"),
    },
];

/// A shipped file with a few words changed, so that no long file is there twice.
struct Variant {
    name: &'static str,
    title: &'static str,
    /// Name of the model it is made of.
    of: &'static str,
    /// What is replaced by what, everywhere and in this order.
    changes: &'static [(&'static str, &'static str)],
}

const BOOM: &str = "clamped_free = { bending_y = 2, bending_z = 2, stretch = 1, torsion = 1 } }";

const VARIANTS: [Variant; 5] = [
    Variant {
        name: "spin-up-pinned-beam-element",
        title: "the same beam as one finite element",
        of: "spin-up-pinned-beam",
        changes: &[
            (
                "basis = { clamped_free = { bending_y = 2, stretch = 1 } }",
                "basis = { elements = { count = 1, stretch = true } }",
            ),
            (
                "name = \"spin-up of a pinned beam\"",
                "name = \"spin-up of a pinned beam, one element\"",
            ),
        ],
    },
    Variant {
        name: "shuttle-arm-slow",
        title: "the Shuttle arm along the same cycloids in 60 s instead of 20 s",
        of: "shuttle-arm",
        changes: &[
            ("I-f:", "I-s:"),
            ("in 20 s,", "in 60 s,"),
            ("manoeuvre I-f", "manoeuvre I-s"),
            ("duration_s = 20.0", "duration_s = 60.0"),
        ],
    },
    Variant {
        name: "shuttle-arm-ii-slow",
        title: "the Shuttle arm under a tenth of the torques for 30 s, then let go",
        of: "shuttle-arm-ii",
        changes: &[
            ("II-f: constant", "II-s: a tenth of its"),
            (
                "for 10 s, then none for 10 s",
                "for 30 s, then none for 30 s",
            ),
            ("manoeuvre II-f", "manoeuvre II-s"),
            ("value_n_m = 10.0", "value_n_m = 1.0"),
            ("value_n_m = 500.0", "value_n_m = 50.0"),
            ("value_n_m = 1000.0", "value_n_m = 100.0"),
            ("value_n_m = 2000.0", "value_n_m = 200.0"),
            ("value_n_m = 3500.0", "value_n_m = 350.0"),
            ("until_s = 10.0", "until_s = 30.0"),
            ("duration_s = 20.0", "duration_s = 60.0"),
        ],
    },
    Variant {
        name: "shuttle-arm-element",
        title: "the Shuttle arm with one finite element per boom",
        of: "shuttle-arm",
        changes: &[
            (
                BOOM,
                "elements = { count = 1, stretch = true, torsion = true } }",
            ),
            ("manoeuvre I-f\"", "manoeuvre I-f, one element per boom\""),
        ],
    },
    Variant {
        name: "shuttle-arm-two-elements",
        title: "the Shuttle arm with two finite elements per boom",
        of: "shuttle-arm",
        changes: &[
            (
                BOOM,
                "elements = { count = 2, stretch = true, torsion = true } }",
            ),
            ("manoeuvre I-f\"", "manoeuvre I-f, two elements per boom\""),
        ],
    },
];

/// Files and variants. The texts of variants are made once and live as long as the program.
static ALL: LazyLock<Vec<ShippedModel>> = LazyLock::new(|| {
    let variant = |variant: &Variant| {
        let base = SHIPPED.into_iter().find(|model| model.name == variant.of)?;
        let mut text = base.text.to_owned();
        for (from, to) in variant.changes {
            text = text.replace(from, to);
        }
        Some(ShippedModel {
            name: variant.name,
            title: variant.title,
            text: text.leak(),
        })
    };
    let variants = VARIANTS.iter().filter_map(variant);
    SHIPPED.into_iter().chain(variants).collect()
});

/// Every model that comes with Lissom: the files of [`SHIPPED`], then variants of them.
pub fn all() -> &'static [ShippedModel] {
    &ALL
}

/// The shipped model of that name.
pub fn find(name: &str) -> Option<ShippedModel> {
    all().iter().copied().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change that no longer finds its words would leave the original under another name.
    #[test]
    fn every_change_of_a_variant_finds_its_words() {
        for variant in &VARIANTS {
            let mut text = find(variant.of).unwrap().text.to_owned();
            for (from, to) in variant.changes {
                assert!(text.contains(from), "{}: {from}", variant.name);
                text = text.replace(from, to);
            }
            assert_eq!(find(variant.name).unwrap().text, text);
        }
    }
}
