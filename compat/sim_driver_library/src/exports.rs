//! Functions under their own names, in both libraries: each is one jump to the function in the
//! crate that contains it; functions that are not simulated report that.

/// Exports functions under their names.
macro_rules! exports {
    ($krate:ident, $reference:literal; simulated: $($module:ident::$name:ident)*; others: $($other:ident)*;) => {
        $(
            #[doc = concat!("See `", stringify!($name), "` in the CUDA ", $reference, " API's reference.")]
            ///
            /// # Safety
            /// As stated there.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                jump_to!($krate::api::$module::$name)
            }
        )*
        $(
            #[doc = concat!("Reports that `", stringify!($other), "` is not simulated.")]
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            pub extern "C" fn $other() -> u32 {
                $krate::api::not_simulated(stringify!($other))
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
