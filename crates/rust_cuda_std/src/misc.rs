//! Breakpoints, profiler events and the clock.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
pub use cuda_std::clock::clock64 as clock;
use cuda_std::gpu_only;

/// Stops the kernel where a debugger can look at it: `brkpt`.
#[gpu_only]
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: touches no memory.
    unsafe { asm!("brkpt;", options(nomem, nostack, preserves_flags)) }
}

/// Counts one of the eight events that a kernel has for profilers, once per warp: `pmevent`.
///
/// # Panics
///
/// `counter` is above 7.
#[gpu_only]
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    // The instruction takes a constant.
    macro_rules! count {
        ($($n:literal)*) => {
            match counter {
                // SAFETY: touches no memory.
                $($n => unsafe {
                    asm!(concat!("pmevent ", $n, ";"), options(nomem, nostack, preserves_flags));
                },)*
                _ => panic!("a profiler's counter is 0 to 7"),
            }
        };
    }
    count!(0 1 2 3 4 5 6 7);
}
