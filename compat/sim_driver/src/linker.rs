//! Linking: PTX texts that are given one by one, and what stands in for `libcudadevrt.a`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ptx_sim::RegisterLimits;

use crate::jit::Logs;

/// How an archive begins.
const ARCHIVE: &[u8] = b"!<arch>\n";
/// The one member of `libcudadevrt.a`.
const DEVICE_RUNTIME: &[u8] = b"cuda_device_runtime.o";

/// The PTX that stands in for a library, if that is `libcudadevrt.a`.
pub fn stand_in(library: &[u8]) -> Option<&'static str> {
    let mut names = library.strip_prefix(ARCHIVE)?.windows(DEVICE_RUNTIME.len());
    let is_there = names.any(|name| name == DEVICE_RUNTIME);
    is_there.then_some(include_str!("device_runtime.ptx"))
}

/// A link in the making.
#[derive(Default)]
pub struct Linking(Mutex<State>);

/// What has been given so far.
#[derive(Default)]
pub struct State {
    /// Names and texts.
    pub texts: Vec<(String, String)>,
    /// What was made of them; the client has its address.
    pub image: Option<Vec<u8>>,
    /// Where the client wants to read what went wrong.
    pub logs: Option<Logs>,
    /// What registers are to be like.
    pub limits: RegisterLimits,
}

impl Linking {
    /// What has been given so far.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Heeds what is asked for with an input, too: there is one number of registers for all.
    pub fn limit(&self, limits: RegisterLimits) {
        let known = &mut self.state().limits;
        *known = RegisterLimits {
            most: limits.most.or(known.most),
            block_threads: limits.block_threads.or(known.block_threads),
            min_blocks: limits.min_blocks.or(known.min_blocks),
            overrides: limits.overrides || known.overrides,
        };
    }
}
