//! The sizes of the block's shared memory.
//!
//! Left out: Rust-CUDA's allocator. Kernels here have no heap.

use cuda_std::gpu_only;

macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident = $register:literal;)*) => { $(
        $(#[$doc])*
        #[gpu_only]
        #[inline(always)]
        pub fn $name() -> u32 {
            let size_bytes;
            // SAFETY: reads a register.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, ", $register, ";"),
                    out(reg32) size_bytes,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            size_bytes
        }
    )* };
}
sizes! {
    /// Bytes of dynamic shared memory that the launch asked for.
    dynamic_smem_size = "%dynamic_smem_size";
    /// Bytes of shared memory of a block, static and dynamic, rounded up to what the device
    /// allocates at once.
    total_smem_size = "%total_smem_size";
}
