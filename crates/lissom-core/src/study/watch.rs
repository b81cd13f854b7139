//! [`Watch`]: whoever looks on while a run is made.

use lissom_numerics::integrate::Flow;

use crate::study::simulate::Run;

/// Whoever looks on while a run is made. It changes nothing of the run: with or without checkpoints the numbers are the same, to the
/// last bit.
pub trait Watch {
    /// Called after every step, and now and then among the samples of a long one, with the time reached; may stop the run.
    fn reached(&mut self, time_s: f64) -> Flow;

    /// Whether [`checkpoint`](Self::checkpoint) is to be called now; asked after every step but the last.
    fn is_checkpoint_due(&mut self) -> bool {
        false
    }

    /// Takes the run so far, which has the ending [`Stopped`](super::Ending::Stopped) and goes on afterwards. From its last state
    /// another run can go on, as this one will.
    fn checkpoint(&mut self, _so_far: &Run) {}
}

/// Nobody wants checkpoints of a run that a function looks on.
impl Watch for &mut dyn FnMut(f64) -> Flow {
    fn reached(&mut self, time_s: f64) -> Flow {
        self(time_s)
    }
}
