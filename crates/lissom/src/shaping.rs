//! Input shaping for the modes of a mechanism: [`shaped_modes`].

use lissom_numerics::linear::{ModeAt, TrackedModes};
use lissom_spec::spec::ShapedModeSpec;

/// The modes of a mechanism that vibrate, as `[shaping]` has them: natural frequency and damping ratio by the eigenvalues of the complete equations at
/// the last instant. Modes that grow or do not vibrate are left out.
pub fn shaped_modes(modes: &TrackedModes) -> Vec<ShapedModeSpec> {
    let of_mode = |at: &ModeAt| {
        let [root, _] = at.roots?;
        let damping_ratio = at.damping_ratio()?;
        (root.im != 0.0 && (0.0..1.0).contains(&damping_ratio)).then(|| ShapedModeSpec {
            frequency_rad_per_s: root.norm(),
            damping_ratio: damping_ratio.abs(), // zero has no sign
        })
    };
    let last = modes.modes.iter().filter_map(|mode| mode.last());
    last.filter_map(of_mode).collect()
}
