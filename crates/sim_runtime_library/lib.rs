//! `libcudart.so.12` or `libcudart.so.13`: the runtime's functions under their own names.
//!
//! Two packages build this one file, each for a version. Each function is one jump to that in
//! [`sim_runtime::api`]; what is not simulated answers so. `build.rs` makes the list.

/// Exports functions under their names.
macro_rules! exports {
    (simulated: $($module:ident::$name:ident)*; others: $($other:ident)*;) => {
        $(
            #[doc = concat!("See `", stringify!($name), "` in the CUDA runtime API's reference.")]
            ///
            /// # Safety
            /// As it says there.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                jump_to!(sim_runtime::api::$module::$name)
            }
        )*
        $(
            #[doc = concat!("Answers that `", stringify!($other), "` is not simulated.")]
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            pub extern "C" fn $other() -> u32 {
                sim_runtime::api::not_supported()
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_to {
    ($function:path) => {
        core::arch::naked_asm!("jmp {}", sym $function)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump_to {
    ($function:path) => {
        core::arch::naked_asm!("b {}", sym $function)
    };
}

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
