//! cuBLAS, loaded at run time.

use super::super::super::{EngineError, Library, LibraryCall, SgemmMath};
use super::failure::{check, failed};
use super::file::{File, dotted};
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
    _file: File,
}

impl Cublas {
    pub(super) fn load(file: &Path) -> Result<Self, EngineError> {
        let file = File::open(Library::Cublas, file)?;
        let (mut handle, mut version) = (std::ptr::null_mut(), 0);
        // SAFETY: the names and signatures are those of `cublas_api.h`; it writes one handle, in the
        // context that is current, and one int.
        unsafe {
            let create: Create = file.function("cublasCreate_v2")?;
            let get_version: GetVersion = file.function("cublasGetVersion_v2")?;
            check(Library::Cublas, "cublasCreate", create(&mut handle))?;
            let code = get_version(handle, &mut version);
            check(Library::Cublas, "cublasGetVersion", code)?;
            Ok(Self {
                handle,
                version,
                set_stream: file.function("cublasSetStream_v2")?,
                set_math_mode: file.function("cublasSetMathMode")?,
                sgemm: file.function("cublasSgemm_v2")?,
                _file: file,
            })
        }
    }

    pub(super) fn version(&self) -> String {
        dotted(self.version as usize)
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
            let code = (self.set_stream)(self.handle, stream.raw());
            check(Library::Cublas, "cublasSetStream", code)?;
            let code = (self.set_math_mode)(self.handle, mode);
            check(Library::Cublas, "cublasSetMathMode", code)?;
            let (handle, plain) = (self.handle, OPERATION_NONE);
            let code = (self.sgemm)(handle, plain, plain, n, m, k, &one, b, n, a, k, &zero, c, n);
            check(Library::Cublas, "cublasSgemm", code)
        }
    }
}
