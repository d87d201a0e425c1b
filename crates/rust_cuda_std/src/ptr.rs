//! Pointers and address spaces: which one a pointer points to, and its address there.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use cuda_std::gpu_only;

/// The memory that a pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// All threads of the device have the same.
    Global,
    /// All threads of a block have the same.
    Shared,
    /// What a module declares as constant.
    Constant,
    /// Every thread has its own.
    Local,
}

/// Whether a pointer points to that space.
///
/// # Safety
///
/// None is needed; Rust-CUDA's function has the same signature.
#[gpu_only]
#[inline(always)]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    macro_rules! is_in {
        ($space:literal) => {{
            let is_in: u32;
            // SAFETY: compares an address.
            unsafe {
                asm!(
                    "{{",
                    ".reg .pred is_in;",
                    concat!("isspacep.", $space, " is_in, {ptr};"),
                    "selp.u32 {is_in}, 1, 0, is_in;",
                    "}}",
                    ptr = in(reg64) ptr,
                    is_in = out(reg32) is_in,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            is_in != 0
        }};
    }
    match address_space {
        AddressSpace::Global => is_in!("global"),
        AddressSpace::Shared => is_in!("shared"),
        AddressSpace::Constant => is_in!("const"),
        AddressSpace::Local => is_in!("local"),
    }
}

macro_rules! conversions {
    ($($(#[$doc:meta])* $name:ident = $before:literal;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The pointer points to that space.
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $name<T>(ptr: *const T, address_space: AddressSpace) -> *const T {
            macro_rules! convert {
                ($space:literal) => {{
                    let converted;
                    // SAFETY: arithmetic on an address; no memory is touched.
                    unsafe {
                        asm!(
                            concat!($before, $space, ".u64 {}, {};"),
                            out(reg64) converted,
                            in(reg64) ptr,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    converted
                }};
            }
            match address_space {
                AddressSpace::Global => convert!("global"),
                AddressSpace::Shared => convert!("shared"),
                AddressSpace::Constant => convert!("const"),
                AddressSpace::Local => convert!("local"),
            }
        }
    )* };
}
conversions! {
    /// The address of a generic pointer's target within a space: `cvta.to`.
    convert_generic_to_specific_address_space = "cvta.to.";
    /// The generic pointer to an address within a space: `cvta`.
    convert_specific_address_space_to_generic = "cvta.";
}
