//! NCCL, found when the program runs: NVIDIA's, or the one for simulated devices.
//!
//! The binding is our own: cudarc's has a driver of its own with it, wants NCCL's version when it is
//! compiled, and ends the program where there is no NCCL.

use crate::Error;
use crate::engine::EngineError;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// Where the library is, if the loader does not find it.
const PATH_OVERRIDE: &str = "LOCKSTEP_NCCL";
const NAME: &str = "libnccl.so.2";

/// `ncclUniqueId`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct UniqueId(pub [u8; Self::SIZE]);

impl UniqueId {
    pub const SIZE: usize = 128;
}

/// `ncclComm_t`
pub(super) type Comm = *mut c_void;
type Stream = *mut c_void;
type Code = c_int;

/// `ncclInProgress`
pub(super) const IN_PROGRESS: Code = 7;

/// `ncclConfig_t`, as far as it went in 2.18; later versions take it as it is.
#[repr(C)]
pub(super) struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
    cga_cluster_size: c_int,
    min_ctas: c_int,
    max_ctas: c_int,
    net_name: *const c_char,
    split_share: c_int,
}

impl Config {
    /// Calls return before they are done.
    pub fn nonblocking() -> Self {
        const UNDEFINED: c_int = c_int::MIN;
        Self {
            size: size_of::<Self>(),
            magic: 0xcafe_beef,
            version: 21801,
            blocking: 0,
            cga_cluster_size: UNDEFINED,
            min_ctas: UNDEFINED,
            max_ctas: UNDEFINED,
            net_name: std::ptr::null(),
            split_share: UNDEFINED,
        }
    }
}

macro_rules! functions {
    ($($field:ident = $name:literal($($arg:ty),*);)*) => {
        /// The library's functions.
        pub(super) struct Nccl {
            $(pub $field: unsafe extern "C" fn($($arg),*) -> Code,)*
            error_string: unsafe extern "C" fn(Code) -> *const c_char,
            last_error: unsafe extern "C" fn(Comm) -> *const c_char,
        }

        impl Nccl {
            /// Finds the functions, in the library or where [`load_functions`] says.
            fn load() -> Result<Self, String> {
                let find: Box<dyn Fn(&str) -> Option<*const c_void>> = match FIND.get() {
                    Some(find) => Box::new(find),
                    None => {
                        let library = open()?;
                        Box::new(move |name| {
                            // SAFETY: only the address is taken.
                            let found = unsafe { library.get::<*const c_void>(name.as_bytes()) };
                            found.ok().map(|found| *found)
                        })
                    }
                };
                let function = |name: &str| {
                    find(name).ok_or_else(|| format!("`{NAME}` has no function `{name}`"))
                };
                // SAFETY: the functions have these signatures, and the library stays loaded.
                unsafe {
                    Ok(Self {
                        $($field: std::mem::transmute::<
                            *const c_void,
                            unsafe extern "C" fn($($arg),*) -> Code,
                        >(function($name)?),)*
                        error_string: std::mem::transmute::<
                            *const c_void,
                            unsafe extern "C" fn(Code) -> *const c_char,
                        >(function("ncclGetErrorString")?),
                        last_error: std::mem::transmute::<
                            *const c_void,
                            unsafe extern "C" fn(Comm) -> *const c_char,
                        >(function("ncclGetLastError")?),
                    })
                }
            }
        }
    };
}

/// Opens the library, for good.
fn open() -> Result<&'static Library, String> {
    let file = std::env::var(PATH_OVERRIDE).unwrap_or_else(|_| NAME.to_owned());
    // SAFETY: NCCL's initialisation is sound.
    let library = unsafe { Library::new(&file) }.map_err(|error| {
        format!(
            "`{file}` could not be loaded ({error}): install NCCL (`pip install nvidia-nccl-cu13`), \
             and name the file in {PATH_OVERRIDE} or its folder in LD_LIBRARY_PATH; without a GPU, \
             `cargo xtask sim-run -- PROGRAM` has one for simulated devices"
        )
    })?;
    Ok(Box::leak(Box::new(library)))
}

static FIND: OnceLock<Find> = OnceLock::new();

/// Finds a function of NCCL by name.
pub type Find = fn(&str) -> Option<*const c_void>;

/// Uses these functions instead of the library's, for a program that contains an NCCL.
///
/// # Safety
///
/// They have the signatures of NCCL's functions of these names.
///
/// # Errors
///
/// Others have been named before.
pub unsafe fn load_functions(find: Find) -> Result<(), Find> {
    FIND.set(find)
}

functions! {
    get_version = "ncclGetVersion"(*mut c_int);
    unique_id = "ncclGetUniqueId"(*mut UniqueId);
    init_all = "ncclCommInitAll"(*mut Comm, c_int, *const c_int);
    init_rank = "ncclCommInitRankConfig"(*mut Comm, c_int, UniqueId, c_int, *mut Config);
    abort = "ncclCommAbort"(Comm);
    destroy = "ncclCommDestroy"(Comm);
    async_error = "ncclCommGetAsyncError"(Comm, *mut Code);
    group_start = "ncclGroupStart"();
    group_end = "ncclGroupEnd"();
    all_reduce = "ncclAllReduce"(u64, u64, usize, c_int, c_int, Comm, Stream);
    reduce_scatter = "ncclReduceScatter"(u64, u64, usize, c_int, c_int, Comm, Stream);
    all_gather = "ncclAllGather"(u64, u64, usize, c_int, Comm, Stream);
    broadcast = "ncclBroadcast"(u64, u64, usize, c_int, c_int, Comm, Stream);
    send = "ncclSend"(u64, usize, c_int, c_int, Comm, Stream);
    receive = "ncclRecv"(u64, usize, c_int, c_int, Comm, Stream);
}

impl Nccl {
    /// The library of this process.
    pub fn get() -> Result<&'static Self, Error> {
        static NCCL: OnceLock<Result<Nccl, String>> = OnceLock::new();
        let loaded = NCCL.get_or_init(Self::load).as_ref();
        loaded.map_err(|why| failed(why.clone()))
    }

    /// An error code as an error; a call of a communicator that goes on is not one.
    pub fn check(&self, call: &str, comm: Comm, code: Code) -> Result<(), Error> {
        if code == 0 || code == IN_PROGRESS {
            return Ok(());
        }
        // SAFETY: both give texts that stay; a null communicator stands for the process.
        let [what, why] = unsafe {
            [(self.error_string)(code), (self.last_error)(comm)].map(|text| match text.is_null() {
                true => String::new(),
                false => CStr::from_ptr(text).to_string_lossy().trim().to_owned(),
            })
        };
        Err(failed(match why.is_empty() {
            true => format!("{call}: {what}"),
            false => format!("{call}: {what}: {why}"),
        }))
    }
}

/// An error of the library.
pub(super) fn failed(what: String) -> Error {
    EngineError::Library {
        library: "NCCL",
        what,
    }
}
