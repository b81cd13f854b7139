//! Texts of models that come with the program.

pub(crate) const BEND: &str = include_str!("../../../../models/bathe_bolourchi_1979/bend.toml");
pub(crate) const BRANCHED_TREE: &str =
    include_str!("../../../../models/examples/branched_tree.toml");
pub(crate) const COOPERATING_ARMS: &str =
    include_str!("../../../../models/fattah_1995/cooperating_arms.toml");
pub(crate) const FLEXIBLE_JOINT: &str =
    include_str!("../../../../models/examples/flexible_joint.toml");
pub(crate) const FLYING_SPAGHETTI: &str =
    include_str!("../../../../models/simo_1986/flying_spaghetti.toml");
pub(crate) const FOUR_BAR: &str = include_str!("../../../../models/examples/four_bar.toml");
pub(crate) const FOUR_BAR_ELEMENTS: &str =
    include_str!("../../../../models/examples/four_bar_elements.toml");
pub(crate) const PLANAR_3RRR: &str =
    include_str!("../../../../models/fattah_1995/planar_3rrr.toml");
pub(crate) const PLANAR_3RRR_FAST: &str =
    include_str!("../../../../models/fattah_1995/planar_3rrr_fast.toml");
pub(crate) const PRINCETON_BEAM: &str =
    include_str!("../../../../models/dowell_traybar_1975/princeton_beam.toml");
pub(crate) const QUARTER_TURN: &str =
    include_str!("../../../../models/jonker_aarts_2001/quarter_turn.toml");
pub(crate) const ROTATING_BEAM: &str =
    include_str!("../../../../models/jonker_aarts_2001/rotating_beam.toml");
pub(crate) const SHUTTLE_ARM: &str =
    include_str!("../../../../models/damaren_1995/shuttle_arm.toml");
pub(crate) const SLIDER_CRANK: &str = include_str!("../../../../models/examples/slider_crank.toml");
pub(crate) const SLIDING_BEAM: &str = include_str!("../../../../models/pan_1990/sliding_beam.toml");
pub(crate) const SLIDING_BOOM: &str = include_str!("../../../../models/pan_1990/sliding_boom.toml");
pub(crate) const SLIDING_BOOM_SPATIAL: &str =
    include_str!("../../../../models/pan_1990/sliding_boom_spatial.toml");
pub(crate) const SLIDING_LINKS: &str =
    include_str!("../../../../models/examples/sliding_links.toml");
pub(crate) const SPACE_ARM: &str = include_str!("../../../../models/examples/space_arm.toml");
pub(crate) const SPATIAL_3RRS: &str =
    include_str!("../../../../models/fattah_1995/spatial_3rrs.toml");
pub(crate) const SPIN_UP_BEAM: &str =
    include_str!("../../../../models/simo_1986/spin_up_beam.toml");
pub(crate) const SPIN_UP_ELEMENTS: &str =
    include_str!("../../../../models/simo_1986/spin_up_elements.toml");
pub(crate) const TWO_LINK: &str =
    include_str!("../../../../models/jonker_aarts_2001/two_link.toml");
