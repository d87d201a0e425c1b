//! Ranks as threads, each with a device.

use std::sync::Arc;

use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::device::*;
use sim_driver::api::memory::*;
use sim_driver::api::stream::*;
use sim_driver::{Settings, initialize_with};
use sim_nccl::api::communicators::*;
use sim_nccl::api::errors::ncclGetLastError;

/// Number of devices.
pub const N: usize = 8;

/// Calls a function that must succeed.
macro_rules! ok {
    ($($call:tt)*) => {{
        #[allow(unused_unsafe, reason = "calls may be in an `unsafe` block for another reason")]
        let status = unsafe { $($call)* };
        $crate::ranks::ok(status);
    }};
}

/// Fails unless a function succeeded.
#[track_caller]
pub fn ok(code: u32) {
    assert_eq!(code, 0, "{}", last_error(0));
}

/// The text of the last error.
pub fn last_error(comm: usize) -> String {
    let text = unsafe { std::ffi::CStr::from_ptr(ncclGetLastError(comm)) };
    text.to_string_lossy().into_owned()
}

/// Makes the driver, with eight devices.
pub fn initialize() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let settings = Settings {
            n_devices: N as u32,
            ..Settings::default()
        };
        initialize_with(settings).expect("nothing else has made a driver");
        sim_runtime::driver::find_with(sim_driver::function).expect("nothing was looked up");
    });
    ok!(cuInit(0));
}

/// Makes a device's primary context current.
pub fn choose(device: usize) {
    let mut context = 0;
    ok!(cuDevicePrimaryCtxRetain(&mut context, device as i32));
    ok!(cuCtxSetCurrent(context));
}

/// A rank, with a stream of its device.
pub struct Rank {
    pub rank: usize,
    pub comm: usize,
    pub stream: usize,
}

impl Rank {
    /// Joins a communicator, with the device of the rank's number.
    pub fn join(id: UniqueId, rank: usize, n: usize) -> Self {
        choose(rank);
        let mut comm = 0;
        ok!(ncclCommInitRank(&mut comm, n as i32, id, rank as i32));
        Self::with(comm, rank)
    }

    /// One whose device is current.
    pub fn with(comm: usize, rank: usize) -> Self {
        let mut stream = 0;
        ok!(cuStreamCreate(&mut stream, 1));
        Self { rank, comm, stream }
    }

    pub fn upload(&self, bytes: &[u8]) -> u64 {
        let mut address = 0;
        ok!(cuMemAlloc_v2(&mut address, bytes.len().max(1)));
        ok!(cuMemcpyHtoD_v2(address, bytes.as_ptr() as u64, bytes.len()));
        address
    }

    pub fn download(&self, address: u64, n_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0; n_bytes];
        ok!(cuStreamSynchronize(self.stream));
        ok!(cuMemcpyDtoH_v2(bytes.as_mut_ptr() as u64, address, n_bytes));
        bytes
    }

    pub fn upload_words(&self, words: &[i32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.upload(&bytes)
    }

    pub fn download_words(&self, address: u64, n: usize) -> Vec<i32> {
        let bytes = self.download(address, 4 * n);
        let words = bytes.chunks_exact(4);
        words
            .map(|word| i32::from_le_bytes(word.try_into().expect("four")))
            .collect()
    }

    pub fn destroy(self) {
        ok!(ncclCommDestroy(self.comm));
    }
}

/// A new id.
pub fn id() -> UniqueId {
    let mut id = UniqueId { internal: [0; 128] };
    ok!(ncclGetUniqueId(&mut id));
    id
}

/// Has each of `n` ranks do something, in a thread of its own.
pub fn each<T: Send + 'static>(
    n: usize,
    work: impl Fn(&Rank) -> T + Send + Sync + 'static,
) -> Vec<T> {
    initialize();
    let (id, work) = (id(), Arc::new(work));
    let start = |rank| {
        let work = Arc::clone(&work);
        std::thread::spawn(move || {
            let rank = Rank::join(id, rank, n);
            let result = work(&rank);
            rank.destroy();
            result
        })
    };
    let threads: Vec<_> = (0..n).map(start).collect();
    let join = |thread: std::thread::JoinHandle<T>| match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    threads.into_iter().map(join).collect()
}
