//! Clocks, to time parts of a kernel.
//!
//! | | unit | same for |
//! |---|---|---|
//! | [`clock`], [`clock64`] | cycles of the SM | the threads of an SM |
//! | [`globaltimer`] | nanoseconds | the device |
//!
//! A reading stays where it is written, between the accesses to memory before and after it. Loads
//! before it may still be under way: what uses their values must come before it, too.
//!
//! On the simulator all three are the host's nanoseconds since the launch began: readings never go
//! back, and differences say nothing about a GPU.

macro_rules! clocks {
    ($($(#[$doc:meta])* $name:ident: $type:ident = $instruction:literal, $register:ident;)*) => { $(
        $(#[$doc])*
        #[crate::gpu_only]
        #[inline(always)]
        pub fn $name() -> $type {
            let now;
            // SAFETY: reads a register. Neither `pure` nor `nomem`, so that it stays in its place.
            unsafe {
                ptx!($instruction, out($register) now);
            }
            now
        }
    )* };
}
clocks! {
    /// The lower half of [`clock64`], in one instruction: differences, by `wrapping_sub`, are right
    /// up to 2³² cycles (about two seconds).
    clock: u32 = "mov.u32 {}, %clock;", reg32;
    /// The cycles that this SM has counted.
    clock64: u64 = "mov.u64 {}, %clock64;", reg64;
    /// The device's time in nanoseconds, which moves on in steps: on some devices, of a microsecond
    /// or more.
    globaltimer: u64 = "mov.u64 {}, %globaltimer;", reg64;
}
