//! What may go wrong with a mechanism, as data and as a sentence with its remedy.

use std::fmt::{self, Display, Formatter};

use lissom_core::{MISSING_STIFFNESS, NominalError};
use lissom_spatial::rounded;
use serde::{Serialize, Serializer};

/// Digits of numbers that tell an order of size.
const DIGITS: i32 = 5;

/// Something that may go wrong. It is shown and serialised as a sentence that names the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The loops are singular where the model starts.
    #[error(
        "the start is a singular configuration: equations of the loops that are independent nearby are not so there; \
         start elsewhere"
    )]
    SingularStart,
    /// The loops leave no degree of freedom.
    #[error(
        "nothing can move: the loops leave no degree of freedom; take a joint or a loop away, or let one leave more free"
    )]
    Immobile,
    /// No joint moves and no body deforms.
    #[error(
        "nothing can move: no joint and no body has a degree of freedom; give the model a joint that moves or a body that deforms"
    )]
    NoFreedom,
    /// The model starts in equilibrium and at rest.
    #[error(
        "nothing will move: the model starts in equilibrium and at rest, and nothing drives it; give it gravity, an \
         input, a motion or an initial rate"
    )]
    AtRest,
    /// Something that moves has no mass.
    #[error(
        "{coordinate} moves no mass of its own at the start, so that a run will fail there; a beam that can turn about \
         its own axis needs section_inertia_y_kg_m or section_inertia_z_kg_m, other bodies need mass"
    )]
    NoInertia {
        /// The coordinate.
        coordinate: String,
    },
    /// The nominal trajectory cannot be followed or driven.
    #[error(transparent)]
    Nominal(#[from] NominalError),
    /// More inputs follow the nominal trajectory than it needs.
    #[error("{explanation}")]
    RedundantDrives {
        /// How they share the work.
        explanation: String,
    },
    /// A joint starts elsewhere than its nominal motion does.
    #[error(
        "{coordinate} starts at {} {unit}, but its nominal motion begins at {} {unit}, and what drives it is made for that; start it \
         there, let the motion begin where it starts, or have a controller bring it there",
        rounded(*.starts, DIGITS), rounded(*.nominal, DIGITS)
    )]
    StartsOffNominal {
        /// The coordinate or rate.
        coordinate: String,
        /// Its unit.
        unit: &'static str,
        /// Where the model has it start.
        starts: f64,
        /// Where its nominal motion begins.
        nominal: f64,
    },
    /// A support is off its beam where the model starts.
    #[error(
        "support {support:?} starts off beam {beam:?}: it is {} m beyond the {end} of the beam, which is {} m long; move the \
         support or the joint that carries the beam, or make the beam longer",
        rounded(*.beyond_m, DIGITS), rounded(*.length_m, DIGITS)
    )]
    StartsOffBeam {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
        /// The end that it is beyond.
        end: BeamEnd,
        /// By how much.
        beyond_m: f64,
        /// Length of the beam.
        length_m: f64,
    },
    /// Prescribed motions take a support off its beam.
    #[error(
        "support {support:?} leaves beam {beam:?} at t = {} s over its {end}, where a run will end: prescribed motions take it \
         up to {} m beyond the beam, which is {} m long, at t = {} s; make the beam longer, or the motions shorter",
        rounded(*.time_s, DIGITS), rounded(*.beyond_m, DIGITS), rounded(*.length_m, DIGITS), rounded(*.farthest_s, DIGITS)
    )]
    LeavesBeam {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
        /// The end that it slides over first.
        end: BeamEnd,
        /// When it does.
        time_s: f64,
        /// When it is farthest beyond an end.
        farthest_s: f64,
        /// By how much.
        beyond_m: f64,
        /// Length of the beam.
        length_m: f64,
    },
    /// A beam can turn about its own axis.
    #[error(
        "nothing holds the twist of {beam}, which can turn about its own axis without resistance; write twist = \"tied\" at one \
         of its supports, or leave torsion out of its basis"
    )]
    FreeTwist {
        /// The beam.
        beam: String,
    },
    /// A body brings no geometric stiffness.
    #[error(
        "{body} does not stiffen when it rotates: it brings no second-order data of that; rotating faster than {} rad/s it \
         lacks more than {} % of its stiffness. A beam, a mesh or a body reduced with `second_order` stiffens",
        rounded(*.rotation_rad_per_s, DIGITS), 100.0 * MISSING_STIFFNESS
    )]
    DoesNotStiffen {
        /// The body.
        body: String,
        /// Angular velocity at which that begins to matter.
        rotation_rad_per_s: f64,
    },
    /// A body longer than machines are.
    #[error(
        "{body} is {} m long, which no link of a machine is: check the unit of its file (unit_m)", rounded(*.extent_m, DIGITS)
    )]
    Large {
        /// The body.
        body: String,
        /// The distance between two places on it.
        extent_m: f64,
    },
    /// A body that hardly deforms.
    #[error(
        "{body} rings at {} Hz and above, which no link of a machine does: check the units of its file (unit_m, mass_unit_kg, moduli in Pa), or take it as rigid",
        rounded(*.frequency_hz, DIGITS)
    )]
    RingsHigh {
        /// The body.
        body: String,
        /// Its lowest frequency.
        frequency_hz: f64,
    },
    /// Nothing is recorded in space.
    #[error("no place in space is recorded; add a [[marker]] to follow one")]
    NoMarker,
    /// An explicit integrator follows a fast oscillation.
    #[error(
        "{} oscillates at up to {} rad/s, which takes {integrator} about {} steps; {}, or use an integrator for stiff \
         equations: --set simulation.integrator={{radau={{}}}}, or \
         --set simulation.integrator={{generalized_alpha={{step_s=0.005}}}}",
        .fastest.what, rounded(.fastest.frequency_rad_per_s, DIGITS), rounded(*.steps, DIGITS), .fastest.remedy
    )]
    ManySteps {
        /// The oscillation.
        fastest: Oscillation,
        /// The integrator.
        integrator: &'static str,
        /// Steps that it needs at least.
        steps: f64,
    },
    /// Something beside oscillations of bodies and gears is fast.
    #[error(
        "the model is stiff at its start: its fastest mode changes at about {} per second (stiff gears, dampers, friction, \
         feedback, closures or light parts between heavy ones), which takes {integrator} about {} steps; \
         --set simulation.integrator={{auto={{}}}} takes an integrator for stiff equations where it is faster",
        rounded(*.rate_per_s, DIGITS), rounded(*.steps, DIGITS)
    )]
    Stiff {
        /// Magnitude of the largest eigenvalue.
        rate_per_s: f64,
        /// The integrator.
        integrator: &'static str,
        /// Steps that it needs at least.
        steps: f64,
    },
    /// Terms of the equations that do nothing, or too much.
    #[error(transparent)]
    Fidelity(#[from] FidelityWarning),
}

/// A switch of the fidelity that does nothing, or too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FidelityWarning {
    /// The elasticity switch finds no axial strain.
    #[error("{body} has no axial strain to work with: the elasticity switch has no effect on it")]
    NoAxialStrain {
        /// The body.
        body: String,
    },
    /// The elasticity switch finds no stretch.
    #[error("{body} has no stretch coordinates: the elasticity switch has no effect on it")]
    NoStretch {
        /// The body.
        body: String,
    },
    /// The strain energy has no lower bound.
    #[error(
        "the strain energy of {body} to third order has no lower bound: once its slopes exceed a few radii of gyration of \
         its section over its length, nothing brings it back and a run diverges; elasticity = \"full\" keeps the term that \
         bounds it"
    )]
    Unbounded {
        /// The body.
        body: String,
    },
    /// Bending strains the axis, which cannot give way.
    #[error(
        "{body} has no stretch coordinates to give way when it bends: it is locked, and far too stiff; add stretch with \
         foreshortening = true"
    )]
    Locked {
        /// The body.
        body: String,
    },
    /// Stretch cannot follow the bending.
    #[error(
        "membrane locking: the stretch functions of {body} cannot follow its bending, which makes it too stiff; use \
         foreshortening = true, or elements with membrane = \"averaged\""
    )]
    MembraneLocking {
        /// The body.
        body: String,
    },
    /// A support holds the slope of a beam whose curvature jumps.
    #[error(
        "support {support} ties the slope of {beam}, whose curvature jumps at its nodes: where the support passes one, \
         velocities jump and a little energy is dissipated; eigenfunctions as basis are smooth"
    )]
    JumpingSlope {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
    },
    /// A support holds the twist of a beam whose twist per length jumps.
    #[error(
        "support {support} ties the twist of {beam}, whose twist per length jumps at its nodes: where the support passes one, \
         velocities jump and a little energy is lost; eigenfunctions as basis are smooth"
    )]
    JumpingTwist {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
    },
}

/// One end of a beam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamEnd {
    /// Where it begins.
    Root,
    /// Where it ends.
    Tip,
}

impl BeamEnd {
    /// The end that a place along a beam is nearer to.
    pub(super) fn nearest(place: f64, length: f64) -> Self {
        if place < 0.5 * length {
            Self::Root
        } else {
            Self::Tip
        }
    }
}

impl Display for BeamEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::Tip => "tip",
        })
    }
}

/// An oscillation of something.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Oscillation {
    /// What oscillates.
    pub what: String,
    /// How fast.
    pub frequency_rad_per_s: f64,
    /// What makes it slower.
    pub remedy: &'static str,
}

impl Warning {
    /// Whether a run cannot get anywhere before its cause is mended.
    pub fn prevents_runs(&self) -> bool {
        matches!(
            self,
            Self::NoInertia { .. } | Self::Nominal(_) | Self::StartsOffBeam { .. }
        )
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for FidelityWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
