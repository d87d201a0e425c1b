//! Compiling all kernels while cargo builds the host's side, when neither is there yet.

use crate::workspace;
use cuda_builder::toolchain::Quiet;
use cuda_builder::{Arch, KernelCrate};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The architectures that the host's program asks for.
const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];

/// Work under way.
pub struct WarmUp(Vec<JoinHandle<()>>);

/// Begins to compile every module. Errors are not told: the program that wants the
/// module meets them again.
pub fn warm_up() -> WarmUp {
    let target = cuda_builder::target_dir_of(&workspace::root());
    let Ok(kernels) = KernelCrate::open(workspace::kernels(), target).map(Arc::new) else {
        return WarmUp(Vec::new());
    };
    let compile_for = |arch| {
        let kernels = kernels.clone();
        std::thread::spawn(move || {
            for module in kernels.modules() {
                if kernels.ptx(Some(module), &Arch::new(arch), &Quiet).is_err() {
                    return;
                }
            }
        })
    };
    WarmUp(ARCHES.map(compile_for).into())
}

impl WarmUp {
    /// Waits for its end.
    pub fn wait(self) {
        for thread in self.0 {
            let _ = thread.join();
        }
    }
}
