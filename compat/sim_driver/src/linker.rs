//! Linking: PTX texts that are added one by one, and a replacement for `libcudadevrt.a`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_sim::RegisterLimits;

use crate::handles::{Kind, Table};
use crate::jit::{Logs, Options};
use crate::status::Outcome;

/// The start of an archive.
const ARCHIVE: &[u8] = b"!<arch>\n";
/// The one member of `libcudadevrt.a`.
const DEVICE_RUNTIME: &[u8] = b"cuda_device_runtime.o";
/// What that member's PTX declares, and no other: a function that the driver itself provides.
const SYSTEM_CALL: &str = "__cuda_syscall_CGS_sync";

/// The PTX that replaces an input of a link, if that is `libcudadevrt.a`: the archive, or the fat
/// binary of its member, which nvcc passes along with a program's own.
pub fn stand_in(input: &[u8]) -> Option<&'static str> {
    let is_one = is_archive(input) || is_member(input);
    is_one.then_some(include_str!("device_runtime.ptx"))
}

fn is_archive(input: &[u8]) -> bool {
    let members = input.strip_prefix(ARCHIVE).unwrap_or_default();
    members
        .windows(DEVICE_RUNTIME.len())
        .any(|name| name == DEVICE_RUNTIME)
}

/// Its PTX may be for other devices: for those that CUDA knows, it is machine code.
fn is_member(input: &[u8]) -> bool {
    let Ok(fatbin::Image::Fat(binaries)) = fatbin::Image::read(input) else {
        return false;
    };
    let entries = binaries.iter().flat_map(|binary| &binary.entries);
    let mut ptx = entries.filter(|entry| entry.kind == fatbin::Kind::Ptx);
    ptx.any(|entry| entry.ptx().is_ok_and(|text| text.contains(SYSTEM_CALL)))
}

/// A link in progress.
pub struct Linking(Mutex<State>);

/// The inputs so far.
#[derive(Default)]
pub struct State {
    /// Names and texts.
    pub texts: Vec<(String, String)>,
    /// The linked image; the client has its address.
    pub image: Option<Vec<u8>>,
    /// Where the client wants to read what went wrong.
    pub logs: Option<Logs>,
    /// The register limits.
    pub limits: RegisterLimits,
}

/// `CUlinkState`
static LINKERS: Table<Linking> = Table::new(Kind::Linker);

impl Linking {
    /// Begins a link; returns its handle.
    pub fn begin(options: Options) -> Outcome<usize> {
        LINKERS.add(Arc::new(Self(Mutex::new(State {
            logs: Some(options.logs),
            limits: options.limits,
            ..State::default()
        }))))
    }

    /// The link with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        LINKERS.get(handle)
    }

    /// Discards it and its image.
    pub fn destroy(handle: usize) -> Outcome {
        LINKERS.remove(handle).map(drop)
    }

    /// The inputs so far.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the limits given with an input: the register limits are common to all inputs.
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
