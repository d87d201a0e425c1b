//! Names of Rust-CUDA's `CudaBuilder` beyond our own, for build scripts written for it.
//!
//! | Rust-CUDA | here |
//! |---|---|
//! | `arch(NvvmArch::Compute80)` | `arch("sm_80")`; the default is `sm_80`, not 7.5 |
//! | `debug(…)` | the same; line tables are on by default |
//! | `generate_line_info(…)` | [`CudaBuilder::emit_line_tables`] |
//! | `fma_contraction(…)` | off by default: Rust rounds products and sums by themselves |
//! | `ftz(true)` | a warning: rustc has no option for it |
//! | `final_module_path(…)` | the LLVM IR that the PTX is made from |
//! | `build_args(…)` | arguments of rustc, not of cargo |
//!
//! Left out: `nvvm_opts`, `fast_sqrt`, `fast_div`, `optix`, `override_libm`, `emit_llvm_bitcode`
//! and `use_constant_memory_space`, which are options of its own backend.

use crate::arch::Arch;
use crate::builder::CudaBuilder;
use crate::cargo;
use crate::debug_info::DebugInfo;

macro_rules! architectures {
    ($($variant:ident = $name:literal,)*) => {
        /// Rust-CUDA's names of architectures, as far as rustc knows them: `Compute80` is
        /// `"sm_80"`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum NvvmArch {
            $($variant,)*
        }

        impl From<NvvmArch> for Arch {
            fn from(arch: NvvmArch) -> Self {
                Self::new(match arch {
                    $(NvvmArch::$variant => $name,)*
                })
            }
        }
    };
}
architectures! {
    Compute70 = "sm_70",
    Compute72 = "sm_72",
    Compute75 = "sm_75",
    Compute80 = "sm_80",
    Compute86 = "sm_86",
    Compute87 = "sm_87",
    Compute88 = "sm_88",
    Compute89 = "sm_89",
    Compute90 = "sm_90",
    Compute90a = "sm_90a",
    Compute100 = "sm_100",
    Compute100f = "sm_100f",
    Compute100a = "sm_100a",
    Compute101 = "sm_101",
    Compute101f = "sm_101f",
    Compute101a = "sm_101a",
    Compute103 = "sm_103",
    Compute103f = "sm_103f",
    Compute103a = "sm_103a",
    Compute110 = "sm_110",
    Compute110f = "sm_110f",
    Compute110a = "sm_110a",
    Compute120 = "sm_120",
    Compute120f = "sm_120f",
    Compute120a = "sm_120a",
    Compute121 = "sm_121",
    Compute121f = "sm_121f",
    Compute121a = "sm_121a",
}

impl CudaBuilder {
    /// What the PTX says about sources: by default [`DebugInfo::LineTables`].
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// [`CudaBuilder::emit_line_tables`]; unlike Rust-CUDA's, for optimised code too.
    pub fn generate_line_info(self, generate: bool) -> Self {
        self.emit_line_tables(generate)
    }

    /// Whether a product and the sum that it is added to may be rounded once, together, as nvcc
    /// does. By default each is rounded, as in Rust everywhere; `mul_add` asks for one.
    pub fn fma_contraction(self, contract: bool) -> Self {
        if contract {
            self.build_args(&["-Cllvm-args=-nvptx-fma-level=1"])
        } else {
            self
        }
    }

    /// Whether `f32` arithmetic replaces denormal numbers by zero. It never does: `true` has no
    /// effect but a warning, and results are the exact ones.
    pub fn ftz(self, flush: bool) -> Self {
        if flush {
            let text = "ftz(true) has no effect: rustc has no option for it; \
                        denormal numbers stay as they are";
            if cargo::in_build_script() {
                println!("cargo::warning={text}");
            } else {
                eprintln!("warning: {text}");
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_the_compilers_names() {
        assert_eq!(Arch::from(NvvmArch::Compute90a), Arch::new("sm_90a"));
    }

    #[test]
    fn line_tables_are_by_both_names() {
        let named = |name: &str| CudaBuilder::new(name).debug(DebugInfo::None);
        assert_eq!(named("kernels").debug, DebugInfo::None);
        let with_lines = named("kernels").generate_line_info(true);
        assert_eq!(with_lines.debug, DebugInfo::LineTables);
    }
}
