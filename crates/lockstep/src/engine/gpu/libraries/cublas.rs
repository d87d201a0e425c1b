//! cuBLAS, loaded at run time.

use super::super::super::{EngineError, Library, LibraryCall, SgemmMath};
use super::failure::{failed, unloadable};
use crate::driver::Stream;
use std::ffi::{c_int, c_void};
use std::path::Path;

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type GetVersion = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> c_int;
type SetMathMode = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Sgemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    u64,
    c_int,
    u64,
    c_int,
    *const f32,
    u64,
    c_int,
) -> c_int;

// Values of `cublasOperation_t` and `cublasMath_t`, part of its ABI.
const OPERATION_NONE: c_int = 0;
const DEFAULT_MATH: c_int = 0;
const PEDANTIC_MATH: c_int = 2;

pub(super) struct Cublas {
    /// Never destroyed: it lives as long as the context.
    handle: Handle,
    version: c_int,
    set_stream: SetStream,
    set_math_mode: SetMathMode,
    sgemm: Sgemm,
    /// Keeps the functions loaded.
    _library: libloading::Library,
}

fn check(call: &str, code: c_int) -> Result<(), EngineError> {
    if code == 0 {
        return Ok(());
    }
    Err(failed(
        Library::Cublas,
        format!("{call} returned status {code}"),
    ))
}

impl Cublas {
    pub(super) fn load(file: &Path) -> Result<Self, EngineError> {
        let missing = |error: libloading::Error| failed(Library::Cublas, unloadable(file, &error));
        // SAFETY: NVIDIA's library; loading it registers its kernels with the runtime.
        let library = unsafe { libloading::Library::new(file) }.map_err(missing)?;
        // SAFETY: the names and signatures are those of `cublas_api.h`.
        let (create, get_version, set_stream, set_math_mode, sgemm) = unsafe {
            (
                *library
                    .get::<Create>(b"cublasCreate_v2\0")
                    .map_err(missing)?,
                *library
                    .get::<GetVersion>(b"cublasGetVersion_v2\0")
                    .map_err(missing)?,
                *library
                    .get::<SetStream>(b"cublasSetStream_v2\0")
                    .map_err(missing)?,
                *library
                    .get::<SetMathMode>(b"cublasSetMathMode\0")
                    .map_err(missing)?,
                *library.get::<Sgemm>(b"cublasSgemm_v2\0").map_err(missing)?,
            )
        };
        let (mut handle, mut version) = (std::ptr::null_mut(), 0);
        // SAFETY: writes one handle, in the context that is current.
        check("cublasCreate", unsafe { create(&mut handle) })?;
        // SAFETY: writes one int.
        check("cublasGetVersion", unsafe {
            get_version(handle, &mut version)
        })?;
        Ok(Self {
            handle,
            version,
            set_stream,
            set_math_mode,
            sgemm,
            _library: library,
        })
    }

    /// 13 · 10⁴ + 0 · 10² + 2 is 13.0.2.
    pub(super) fn version(&self) -> String {
        let version = self.version;
        format!(
            "{}.{}.{}",
            version / 10_000,
            version / 100 % 100,
            version % 100
        )
    }

    pub(super) fn sgemm(&self, call: &LibraryCall, stream: &Stream) -> Result<(), EngineError> {
        let &LibraryCall::Sgemm {
            a,
            b,
            c,
            m,
            n,
            k,
            math,
        } = call
        else {
            return Err(failed(Library::Cublas, "this call is not a product"));
        };
        let mode = match math {
            SgemmMath::Default => DEFAULT_MATH,
            SgemmMath::Pedantic => PEDANTIC_MATH,
        };
        let size = |extent: u32| {
            c_int::try_from(extent).map_err(|_| failed(Library::Cublas, "an extent above 2³¹ − 1"))
        };
        let (m, n, k) = (size(m)?, size(n)?, size(k)?);
        let (one, zero) = (1.0f32, 0.0f32);
        // cuBLAS is column-major: for it, the product of our rows is Cᵀ = Bᵀ·Aᵀ.
        // SAFETY: the handle lives; alpha and beta are read before the call
        // returns; the engine checked the three ranges.
        unsafe {
            check(
                "cublasSetStream",
                (self.set_stream)(self.handle, stream.raw()),
            )?;
            check("cublasSetMathMode", (self.set_math_mode)(self.handle, mode))?;
            check(
                "cublasSgemm",
                (self.sgemm)(
                    self.handle,
                    OPERATION_NONE,
                    OPERATION_NONE,
                    n,
                    m,
                    k,
                    &one,
                    b,
                    n,
                    a,
                    k,
                    &zero,
                    c,
                    n,
                ),
            )
        }
    }
}
