//! Linking: PTX texts that are given one by one, and what stands in for `libcudadevrt.a`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ptx_sim::RegisterLimits;

use crate::handles::{Kind, Table};
use crate::jit::{Logs, Options};
use crate::status::Outcome;

/// How an archive begins.
const ARCHIVE: &[u8] = b"!<arch>\n";
/// The one member of `libcudadevrt.a`.
const DEVICE_RUNTIME: &[u8] = b"cuda_device_runtime.o";
/// What that member's PTX declares, and no other does: what the driver itself brings.
const SYSTEM_CALL: &str = "__cuda_syscall_CGS_sync";

/// The PTX that stands in for an input of a link, if that is `libcudadevrt.a`: the archive,
/// or the fat binary of its member, which nvcc hands over with a program's own.
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

/// Its PTX may be for other devices: it is machine code for those that CUDA knows.
fn is_member(input: &[u8]) -> bool {
    let Ok(fatbin::Image::Fat(binaries)) = fatbin::Image::read(input) else {
        return false;
    };
    let entries = binaries.iter().flat_map(|binary| &binary.entries);
    let mut ptx = entries.filter(|entry| entry.kind == fatbin::Kind::Ptx);
    ptx.any(|entry| entry.ptx().is_ok_and(|text| text.contains(SYSTEM_CALL)))
}

/// A link in the making.
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

/// `CUlinkState`
static LINKERS: Table<Linking> = Table::new(Kind::Linker);

impl Linking {
    /// Begins one; gives its handle.
    pub fn begin(options: Options) -> Outcome<usize> {
        LINKERS.add(Arc::new(Self(Mutex::new(State {
            logs: Some(options.logs),
            limits: options.limits,
            ..State::default()
        }))))
    }

    /// The link of a handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        LINKERS.get(handle)
    }

    /// Forgets it, and what was made of it.
    pub fn destroy(handle: usize) -> Outcome {
        LINKERS.remove(handle).map(drop)
    }

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
