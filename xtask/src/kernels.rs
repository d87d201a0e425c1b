//! Compilation of kernels while cargo builds the host's side, when neither is there yet.
//!
//! The compiler's own library takes most of that time, for each architecture. Modules that are not
//! compiled when the program is ready are compiled when the program needs them.

use crate::workspace;
use cuda_builder::toolchain::Quiet;
use cuda_builder::{Arch, KernelCrate};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The architectures that the host's program asks for.
const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];

/// Work in flight.
pub struct WarmUp {
    threads: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// Starts compiling all modules, one after another. Errors are not reported: the program that needs
/// the module will meet them again.
pub fn warm_up() -> WarmUp {
    let target = cuda_builder::target_dir_of(&workspace::root());
    let is_over = Arc::new(AtomicBool::new(false));
    let Ok(kernels) = KernelCrate::open(workspace::kernels(), target).map(Arc::new) else {
        return WarmUp {
            threads: Vec::new(),
            is_over,
        };
    };
    let compile_for = |arch| {
        let (kernels, is_over) = (kernels.clone(), is_over.clone());
        std::thread::spawn(move || {
            for module in kernels.modules() {
                let compiled = kernels.ptx(Some(module), &Arch::new(arch), &Quiet);
                if compiled.is_err() || is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        })
    };
    WarmUp {
        threads: ARCHES.map(compile_for).into(),
        is_over,
    }
}

impl WarmUp {
    /// Starts nothing more, and waits for what has begun.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}
