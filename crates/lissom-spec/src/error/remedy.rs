//! What to do about each problem of a model.

use super::ErrorKind;
use lissom_spatial::readable;

impl ErrorKind {
    /// What to do about it.
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::Syntax { .. } => "correct the text here; strings need quotes, lists need commas".into(),
            Self::UnknownKey { suggestion: Some(known), .. } => format!("did you mean `{known}`?"),
            Self::UnknownKey { known, .. } if known.is_empty() => "remove it; nothing may stand here".into(),
            Self::UnknownKey { known, .. } => format!("use one of {}, or remove it", list(known)),
            Self::WrongUnit { expected, .. } => {
                format!("write `{expected}` and convert the value to that unit")
            }
            Self::CountedTwice => "write shortening = \"none\" beside it, or elasticity = \"linear\"".into(),
            Self::NotClamped { body, switch, instead, .. } => format!(
                "give body {body} a fidelity of its own with {switch} = \"{instead}\", or a clamped basis"
            ),
            Self::Frame(fault) => fault.remedy(),
            Self::NoSlopes => "write elasticity = \"linear\" for this body".into(),
            Self::NoLumps { .. } => "write inertia = \"full\" for this body".into(),
            Self::MissingKey { key } => format!("add `{key} = …`"),
            Self::WrongType { expected, .. } | Self::OutOfRange { expected, .. } => format!("write {expected}"),
            Self::WrongLength { expected, .. } => format!("write a list of {expected}"),
            Self::UnknownWord { allowed, .. } => format!("use one of {}", list(allowed)),
            Self::NotExactlyOne { given, choices } if given.is_empty() => {
                format!("add one of {}", list(choices))
            }
            Self::NotExactlyOne { given, .. } => format!("keep one of {} and remove the rest", list(given)),
            Self::Unreadable { .. } => "compare the value with the json schema of the format".into(),
            Self::BadOverride { .. } => {
                "write it as path=value, for example joint.shoulder.revolute.initial_angle_rad=0.3".into()
            }
            Self::BadPath { .. } => {
                "name a number that the model writes, for example payload.gripper.mass_kg, or write it into the model first".into()
            }
            Self::UnknownFormat { .. } => "write format = 1, the version this program reads".into(),
            Self::NotFinite { .. } => "write a finite number".into(),
            Self::NoBodies => "add a [[body]] and the [[joint]] that carries it".into(),
            Self::EmptyName { what } => format!("give the {what} a name"),
            Self::DuplicateName { what, .. } => format!("give every {what} a name of its own"),
            Self::ControlCharacter { .. } => "write the name without line breaks and tabs".into(),
            Self::LongName { .. } => "choose a shorter name".into(),
            Self::ShapedJump { .. } => "let it begin and end at rest; constant_rate goes on for ever, and is not changed by shaping".into(),
            Self::ReservedName { .. } => "choose another name".into(),
            Self::UnknownReference { suggestion: Some(name), .. } => format!("did you mean {name:?}?"),
            Self::UnknownReference { what: "body", .. } => {
                "use the name of a [[body]], or \"ground\" where a joint stands".into()
            }
            Self::UnknownReference { what: what @ ("joint" | "marker" | "node" | "element"), .. } => {
                format!("use the name of a [[{what}]]")
            }
            Self::UnknownReference { what, .. } => {
                let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                format!("use the name of {article} {what}")
            }
            Self::GroundAsChild { .. } => "let the ground be the parent, and a body the child".into(),
            Self::NotABeam { .. } => "name a body with [body.beam], or hold the body by a [[loop]]".into(),
            Self::OnlySampled { .. } => {
                "give the controller sampled = { period_s = … }, or measure something else".into()
            }
            Self::NoStrain { .. } => "name a body with [body.beam]".into(),
            Self::NothingToHold { .. } => {
                "let its basis bend along y or z, or guide it by a prismatic joint or loop".into()
            }
            Self::TiedToFlexible { body, .. } => {
                format!("make body {body:?} rigid too, or use slopes = \"free\"")
            }
            Self::OnItself { .. } => "let one of its sides be on another body".into(),
            Self::NoJoint { body } => format!(
                "add a [[joint]] with child = {body:?}; a body that floats is carried by a free joint on \
                 the ground"
            ),
            Self::Adrift { .. } => "let one of their joints stand on the ground or on a body that it carries".into(),
            Self::NotReversible { .. } => {
                "exchange parent and child of that joint, or carry the body by another joint".into()
            }
            Self::CutPrescribed { instead, .. } if instead.is_empty() => {
                "remove the motion, or close the loop by a joint of its own".into()
            }
            Self::CutPrescribed { instead, .. } => {
                format!("write cut = true at {} instead, or remove the motion", list(instead))
            }
            Self::NodesAsTree => {
                "leave `formulation` out, or write the mechanism in bodies and joints".into()
            }
            Self::CutFree { .. } => "remove `cut`, or the joint".into(),
            Self::NotOrthogonal => "choose axes whose scalar product is zero".into(),
            Self::UnknownPlace { known, .. } if known.is_empty() => {
                "name a node of the body, to have a place to attach to".into()
            }
            Self::UnknownPlace { known, .. } => {
                format!("use one of {}, or add a [[body.node]] of that name", list(known))
            }
            Self::PlaceTwice | Self::PrescribedTwice { .. } => "remove one of the two".into(),
            Self::NodeNeeded { .. } => "write at = \"…\" with the name of one of its nodes".into(),
            Self::OutsideBeam { length_m, .. } => {
                format!("choose x between 0 and {}", readable(length_m))
            }
            Self::OffAxis { .. } => "write the position as [x, 0.0, 0.0]; beams run along x".into(),
            Self::NotPositive { .. } => "write a number above zero".into(),
            Self::Negative { .. } => "write zero or a number above it".into(),
            Self::ZeroDirection { .. } => "write a direction such as [0.0, 0.0, 1.0]".into(),
            Self::ParallelAxes => "rotate one of the axes; orthogonal axes are usual".into(),
            Self::NotPositiveDefinite { key } if key.starts_with("inertia") => {
                "every principal moment of inertia must be above zero; check the products of inertia and \
                 their signs"
                    .into()
            }
            Self::NotPositiveDefinite { .. } => {
                "every deformation must store energy; check signs and order of the rows".into()
            }
            Self::NotSymmetric { .. } => "make the two entries equal".into(),
            Self::ImpossibleInertia { about, .. } => {
                format!("check that the moments are about {about} and in the order xx, yy, zz")
            }
            Self::NoModes { .. } => {
                "ask for at least one, for example bending_y = 2, or make the body rigid".into()
            }
            Self::MissingProperty { property, .. } => {
                format!("add `{property} = …`, or do without that deformation")
            }
            Self::NotRising { .. } => "sort the rows by time and write every instant once".into(),
            Self::NoEffect { key, .. } => format!("remove `{key}`"),
            Self::NoFreedom { .. } => "choose a joint that moves, or another kind of joint".into(),
            Self::NoSuchComponent { count: 1, .. } => "remove `component`".into(),
            Self::NoSuchComponent { count, .. } => format!("write a component from 1 to {count}"),
            Self::WrongLoad { key, expected, .. } => {
                let profile = key.split_once('_').map_or("", |(_, profile)| profile);
                format!("write `{expected}_{profile}`, with its own unit in the keys")
            }
            Self::NoSingleAngle { .. } => {
                "name a revolute or prismatic joint, or drive this one with torques".into()
            }
            Self::DrivenAndPrescribed { .. } => "remove the [[motion]], or what else drives the joint".into(),
            Self::LimitsReversed { .. } => "exchange the two limits".into(),
            Self::StopsWithoutLimits => {
                "give a smallest or largest position in `limits`, such as limits = { max_rad = 1.5 } or limits = { max_m = 0.2 }".into()
            }
            Self::UnknownCoordinate { suggestion: Some(name), .. } => format!("did you mean `{name}`?"),
            Self::UnknownCoordinate { .. } => {
                "use the name of a coordinate that the basis has, such as bending_y_1 of functions or v_2 of elements".into()
            }
        }
    }
}

pub(super) fn given_count(given: &[String]) -> String {
    match given.len() {
        0 => "none".into(),
        count => format!("{count} ({})", list(given)),
    }
}

/// Keys as words of a sentence.
pub(super) fn list(keys: &[String]) -> String {
    keys.iter()
        .map(|key| format!("`{key}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
