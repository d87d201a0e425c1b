//! The functions of cuBLASLt in use, and their types.

use super::super::super::super::{EngineError, Library};
use super::super::failure;
use super::super::file::File;
use crate::driver::Stream;
use std::ffi::{c_int, c_void};
use std::path::Path;

/// A library, the description of a product or of a matrix: all are pointers.
pub(super) type Handle = *mut c_void;

type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type GetVersion = unsafe extern "C" fn() -> usize;
type ProductCreate = unsafe extern "C" fn(*mut Handle, c_int, c_int) -> c_int;
type SetAttribute = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> c_int;
type LayoutCreate = unsafe extern "C" fn(*mut Handle, c_int, u64, u64, i64) -> c_int;
type Destroy = unsafe extern "C" fn(Handle) -> c_int;
type GetHeuristic = unsafe extern "C" fn(
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    c_int,
    *mut Heuristic,
    *mut c_int,
) -> c_int;
type ConfigAttribute =
    unsafe extern "C" fn(*const Algorithm, c_int, *mut c_void, usize, *mut usize) -> c_int;
type Run = unsafe extern "C" fn(
    Handle,
    Handle,
    *const f32,
    u64,
    Handle,
    u64,
    Handle,
    *const f32,
    u64,
    Handle,
    u64,
    Handle,
    *const Algorithm,
    u64,
    usize,
    *mut c_void,
) -> c_int;

/// `cublasLtMatmulAlgo_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Algorithm {
    data: [u64; 8],
}

/// `cublasLtMatmulHeuristicResult_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Heuristic {
    algorithm: Algorithm,
    workspace_bytes: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

impl Heuristic {
    const EMPTY: Self = Self {
        algorithm: Algorithm { data: [0; 8] },
        workspace_bytes: 0,
        state: 0,
        waves: 0.0,
        reserved: [0; 4],
    };
}

// The sizes in the header.
const _: () = assert!(size_of::<Algorithm>() == 64);
const _: () = assert!(size_of::<Heuristic>() == 96);
const _: () = assert!(std::mem::offset_of!(Heuristic, workspace_bytes) == 64);
const _: () = assert!(std::mem::offset_of!(Heuristic, state) == 72);

/// `CUBLAS_COMPUTE_32F`: sums in f32, without rounding the summands.
const COMPUTE_F32: c_int = 68;
/// `CUDA_R_32F`, of alpha and beta.
const SCALE_F32: c_int = 0;
/// `CUBLASLT_MATMUL_DESC_TRANSA`, `CUBLASLT_MATMUL_DESC_TRANSB`.
const TRANSPOSE_LEFT: c_int = 3;
const TRANSPOSE_RIGHT: c_int = 4;
/// `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`.
const MAX_WORKSPACE_BYTES: c_int = 1;
/// `CUBLASLT_ALGO_CONFIG_ID`.
const CONFIG_ID: c_int = 0;

fn check(call: &str, code: c_int) -> Result<(), EngineError> {
    failure::check(Library::CublasLt, call, code)
}

/// The operands of a product.
pub(super) struct Call {
    pub(super) product: Handle,
    /// Address and description.
    pub(super) left: (u64, Handle),
    pub(super) right: (u64, Handle),
    /// Address of the old C.
    pub(super) before: u64,
    /// Address of the new one.
    pub(super) output: u64,
    /// Description of both.
    pub(super) result: Handle,
    pub(super) scale: (f32, f32),
    pub(super) workspace: (u64, usize),
}

/// The library.
pub(super) struct Api {
    /// Never destroyed: it lives as long as the context.
    handle: Handle,
    version: usize,
    product_create: ProductCreate,
    product_set: SetAttribute,
    layout_create: LayoutCreate,
    preference_create: Create,
    preference_set: SetAttribute,
    preference_destroy: Destroy,
    get_heuristic: GetHeuristic,
    config_attribute: ConfigAttribute,
    run: Run,
    /// Keeps the functions loaded.
    _file: File,
}

impl Api {
    pub(super) fn load(file: &Path) -> Result<Self, EngineError> {
        let file = File::open(Library::CublasLt, file)?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the names and signatures are those of `cublasLt.h`; it writes one handle, in the
        // context that is current.
        unsafe {
            let create: Create = file.function("cublasLtCreate")?;
            let get_version: GetVersion = file.function("cublasLtGetVersion")?;
            check("cublasLtCreate", create(&mut handle))?;
            Ok(Self {
                handle,
                version: get_version(),
                product_create: file.function("cublasLtMatmulDescCreate")?,
                product_set: file.function("cublasLtMatmulDescSetAttribute")?,
                layout_create: file.function("cublasLtMatrixLayoutCreate")?,
                preference_create: file.function("cublasLtMatmulPreferenceCreate")?,
                preference_set: file.function("cublasLtMatmulPreferenceSetAttribute")?,
                preference_destroy: file.function("cublasLtMatmulPreferenceDestroy")?,
                get_heuristic: file.function("cublasLtMatmulAlgoGetHeuristic")?,
                config_attribute: file.function("cublasLtMatmulAlgoConfigGetAttribute")?,
                run: file.function("cublasLtMatmul")?,
                _file: file,
            })
        }
    }

    pub(super) fn version(&self) -> usize {
        self.version
    }

    /// The description of a product, with the operation on each factor.
    pub(super) fn product(&self, left: c_int, right: c_int) -> Result<Handle, EngineError> {
        let mut product = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cublasLtMatmulDescCreate", unsafe {
            (self.product_create)(&mut product, COMPUTE_F32, SCALE_F32)
        })?;
        for (attribute, value) in [(TRANSPOSE_LEFT, left), (TRANSPOSE_RIGHT, right)] {
            let value: *const c_int = &value;
            // SAFETY: the description lives; the attribute is one int, which is read.
            check("cublasLtMatmulDescSetAttribute", unsafe {
                (self.product_set)(product, attribute, value.cast(), size_of::<c_int>())
            })?;
        }
        Ok(product)
    }

    /// The description of a column-major matrix.
    pub(super) fn layout(
        &self,
        of: c_int,
        rows: u64,
        columns: u64,
        pitch: i64,
    ) -> Result<Handle, EngineError> {
        let mut layout = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cublasLtMatrixLayoutCreate", unsafe {
            (self.layout_create)(&mut layout, of, rows, columns, pitch)
        })?;
        Ok(layout)
    }

    /// The algorithms that the heuristic suggests for `[product, left, right, result]`, the most
    /// promising first.
    pub(super) fn heuristic(
        &self,
        [product, left, right, result]: [Handle; 4],
        workspace_bytes: usize,
        most: usize,
    ) -> Result<Vec<Heuristic>, EngineError> {
        let mut preference = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cublasLtMatmulPreferenceCreate", unsafe {
            (self.preference_create)(&mut preference)
        })?;
        let workspace: *const usize = &workspace_bytes;
        // SAFETY: the attribute is one size, which is read.
        let set = check("cublasLtMatmulPreferenceSetAttribute", unsafe {
            (self.preference_set)(
                preference,
                MAX_WORKSPACE_BYTES,
                workspace.cast(),
                size_of::<usize>(),
            )
        });
        let mut found = vec![Heuristic::EMPTY; most];
        let mut n_found = 0;
        let asked = set.and_then(|()| {
            // SAFETY: all descriptions live; there is room for the requested number.
            check("cublasLtMatmulAlgoGetHeuristic", unsafe {
                (self.get_heuristic)(
                    self.handle,
                    product,
                    left,
                    right,
                    result,
                    result,
                    preference,
                    most as c_int,
                    found.as_mut_ptr(),
                    &mut n_found,
                )
            })
        });
        // SAFETY: it is ours, and no longer used.
        unsafe { (self.preference_destroy)(preference) };
        asked?;
        found.truncate(usize::try_from(n_found).unwrap_or(0));
        found.retain(|one| one.state == 0);
        Ok(found)
    }

    /// An algorithm's number, as in cuBLASLt's log.
    pub(super) fn algorithm_id(&self, heuristic: &Heuristic) -> Option<c_int> {
        let (mut id, mut written): (c_int, usize) = (0, 0);
        let to: *mut c_int = &mut id;
        // SAFETY: the attribute is one int, for which there is room.
        let code = unsafe {
            (self.config_attribute)(
                &heuristic.algorithm,
                CONFIG_ID,
                to.cast(),
                size_of::<c_int>(),
                &mut written,
            )
        };
        (code == 0 && written == size_of::<c_int>()).then_some(id)
    }

    /// Enqueues a product.
    pub(super) fn matmul(
        &self,
        call: &Call,
        heuristic: &Heuristic,
        stream: &Stream,
    ) -> Result<(), EngineError> {
        let (alpha, beta) = call.scale;
        // SAFETY: all descriptions live; alpha and beta are read before the call returns; the
        // engine checked the ranges of the matrices, and the workspace is ours.
        check("cublasLtMatmul", unsafe {
            (self.run)(
                self.handle,
                call.product,
                &alpha,
                call.left.0,
                call.left.1,
                call.right.0,
                call.right.1,
                &beta,
                call.before,
                call.result,
                call.output,
                call.result,
                &heuristic.algorithm,
                call.workspace.0,
                call.workspace.1,
                stream.raw(),
            )
        })
    }
}
