//! Code that is compiled once for every processor and once for those that work on four numbers at a time.
//!
//! The sums along beams, six-vectors, the lanes of a batch and the fronts of a sparse matrix come in groups that AVX2 handles in one
//! instruction. What is computed does not depend on it: the same operations are done in the same
//! order, and nothing is fused.

/// A call of such code. `run` must be inlined, or it is not compiled for these instructions.
pub trait Kernel {
    /// Makes the call.
    fn run(self);
}

/// Runs a kernel with AVX2 where the processor has it.
#[inline(always)]
pub fn run_simd(kernel: impl Kernel) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the compiler cannot see what the processor has")]
        // SAFETY: the processor has AVX2, the only thing that `with_avx2` asks for.
        unsafe {
            with_avx2(kernel);
        }
        return;
    }
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(kernel: impl Kernel) {
    kernel.run();
}
