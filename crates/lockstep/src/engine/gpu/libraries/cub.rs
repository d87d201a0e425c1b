//! CUB, through the shared library that nvcc builds from `bench/baselines/libraries/cub.cu`.

use super::super::super::{EngineError, Library};
use super::super::memory;
use super::failure::failed;
use super::file::File;
use crate::driver::{self, Stream};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

/// `int lockstep_cub_sum_f32(void* temporary, size_t* temporary_bytes,
/// const float* input, float* output, long long n, CUstream stream)`.
type Sum = unsafe extern "C" fn(u64, *mut usize, u64, u64, i64, *mut c_void) -> c_int;
type Version = unsafe extern "C" fn() -> c_int;
type Words = unsafe extern "C" fn(c_int) -> *const c_char;

pub(super) struct Cub {
    sum: Sum,
    words: Words,
    version: c_int,
    /// Address and size of CUB's own temporary memory; it lives as long as the context.
    temporary: (u64, usize),
    /// Keeps the functions loaded.
    _file: File,
}

impl Cub {
    pub(super) fn load(file: &Path) -> Result<Self, EngineError> {
        let file = File::open(Library::Cub, file)?;
        // SAFETY: the names and signatures are those of `cub.cu`; the version's takes nothing.
        unsafe {
            let version: Version = file.function("lockstep_cub_version")?;
            Ok(Self {
                sum: file.function("lockstep_cub_sum_f32")?,
                words: file.function("lockstep_cub_words")?,
                version: version(),
                temporary: (0, 0),
                _file: file,
            })
        }
    }

    /// `CUB_VERSION` is 100,000 times the major version plus 100 times the minor one.
    pub(super) fn version(&self) -> String {
        let version = self.version;
        format!(
            "{}.{}.{}",
            version / 100_000,
            version / 100 % 1000,
            version % 100
        )
    }

    fn check(&self, code: c_int) -> Result<(), EngineError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: returns a static string for any code.
        let words = unsafe { std::ffi::CStr::from_ptr((self.words)(code)) };
        Err(failed(Library::Cub, words.to_string_lossy()))
    }

    /// Allocates the temporary memory that a sum of `n` values needs.
    pub(super) fn prepare_sum(&mut self, n: u64) -> Result<(), EngineError> {
        let mut needed = 0;
        // SAFETY: with no temporary memory it only writes how much it needs.
        let code = unsafe { (self.sum)(0, &mut needed, 0, 0, n as i64, std::ptr::null_mut()) };
        self.check(code)?;
        let (address, size) = self.temporary;
        if size < needed {
            if address != 0 {
                driver::memory::free(address)?;
            }
            self.temporary = (memory::alloc(needed as u64, "CUB's own")?, needed);
        }
        Ok(())
    }

    pub(super) fn sum(
        &self,
        input: u64,
        n: u64,
        output: u64,
        stream: &Stream,
    ) -> Result<(), EngineError> {
        let (temporary, mut size) = self.temporary;
        let stream = stream.raw();
        // SAFETY: the engine checked the ranges, and `prepare_sum` provided the memory.
        let code = unsafe { (self.sum)(temporary, &mut size, input, output, n as i64, stream) };
        self.check(code)
    }
}
