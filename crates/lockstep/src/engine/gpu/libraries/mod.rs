//! NVIDIA's libraries in our context: loaded from files, called on our stream.
//!
//! They use the runtime's API, which works in the device's primary context. So does
//! [`super::session`]: both sides understand each other's addresses and streams.

mod cub;
mod cublas;
mod cublaslt;
mod failure;
mod file;

use super::super::timing::Alone;
use super::super::{EngineError, Library, LibraryCall};
use crate::driver::Stream;
use cub::Cub;
use cublas::Cublas;
use cublaslt::CublasLt;
use failure::failed;
use std::path::Path;

/// The libraries that were loaded.
#[derive(Default)]
pub(super) struct Libraries {
    cub: Option<Cub>,
    cublas: Option<Cublas>,
    cublaslt: Option<CublasLt>,
    /// Measurements of calls that had the device to themselves, stored without addresses.
    alone: Vec<(LibraryCall, Alone)>,
}

impl Libraries {
    /// Loads the library from `file`.
    pub(super) fn load(&mut self, library: Library, file: &Path) -> Result<(), EngineError> {
        match library {
            Library::Cub => self.cub = Some(Cub::load(file)?),
            Library::Cublas => self.cublas = Some(Cublas::load(file)?),
            Library::CublasLt => self.cublaslt = Some(CublasLt::load(file)?),
        }
        Ok(())
    }

    pub(super) fn version(&self, library: Library) -> Option<String> {
        match library {
            Library::Cub => self.cub.as_ref().map(Cub::version),
            Library::Cublas => self.cublas.as_ref().map(Cublas::version),
            Library::CublasLt => self.cublaslt.as_ref().map(CublasLt::version),
        }
    }

    /// How a call is done, if there is a choice and it was made.
    pub(super) fn choice(&self, call: &LibraryCall) -> Option<String> {
        match call {
            LibraryCall::Matmul(product) => self.cublaslt.as_ref()?.choice(product),
            LibraryCall::CubSum { .. } | LibraryCall::Sgemm { .. } => None,
        }
    }

    /// In how many ways a prepared call can be done, the most promising first.
    pub(super) fn n_ways(&self, call: &LibraryCall) -> usize {
        match (call, &self.cublaslt) {
            (LibraryCall::Matmul(product), Some(cublaslt)) => cublaslt.n_ways(product),
            _ => 1,
        }
    }

    /// Does the call in that way from now on.
    pub(super) fn take_way(&mut self, call: &LibraryCall, way: usize) {
        if let (LibraryCall::Matmul(product), Some(cublaslt)) = (call, &mut self.cublaslt) {
            cublaslt.take_way(product, way);
        }
    }

    /// The measurement of such a call, wherever its matrices were.
    pub(super) fn alone(&self, call: &LibraryCall) -> Option<Alone> {
        let kind = call.relocated(&|_| 0);
        let mut known = self.alone.iter();
        known
            .find(|(of, _)| *of == kind)
            .map(|(_, alone)| alone.clone())
    }

    /// Keeps the measurement of a call.
    pub(super) fn note_alone(&mut self, call: &LibraryCall, alone: Alone) {
        self.alone.push((call.relocated(&|_| 0), alone));
    }

    /// Prepares what the call needs in addition to its buffers; trials for that are enqueued and
    /// waited for.
    pub(super) fn prepare(
        &mut self,
        call: &LibraryCall,
        stream: &Stream,
    ) -> Result<(), EngineError> {
        match call {
            LibraryCall::CubSum { n, .. } => {
                loaded(self.cub.as_mut(), Library::Cub)?.prepare_sum(*n)
            }
            LibraryCall::Sgemm { .. } => {
                loaded(self.cublas.as_ref(), Library::Cublas)?;
                Ok(())
            }
            LibraryCall::Matmul(product) => {
                loaded(self.cublaslt.as_mut(), Library::CublasLt)?.prepare(product, stream)
            }
        }
    }

    /// Enqueues the prepared call.
    pub(super) fn enqueue(&self, call: &LibraryCall, stream: &Stream) -> Result<(), EngineError> {
        match call {
            &LibraryCall::CubSum { input, n, output } => {
                loaded(self.cub.as_ref(), Library::Cub)?.sum(input, n, output, stream)
            }
            LibraryCall::Sgemm { .. } => {
                loaded(self.cublas.as_ref(), Library::Cublas)?.sgemm(call, stream)
            }
            LibraryCall::Matmul(product) => {
                loaded(self.cublaslt.as_ref(), Library::CublasLt)?.enqueue(product, stream)
            }
        }
    }
}

fn loaded<T>(functions: Option<T>, library: Library) -> Result<T, EngineError> {
    functions.ok_or_else(|| failed(library, "it was not loaded"))
}

#[cfg(test)]
mod tests {
    use super::super::super::{Major, Matmul, MatrixType, SgemmMath, Stored};
    use super::{Alone, Libraries, Library, LibraryCall};
    use std::path::Path;

    #[test]
    fn what_was_not_loaded_has_no_version_and_no_choice() {
        let stored = Stored {
            address: 0,
            pitch: 8,
        };
        let product = Matmul {
            m: 8,
            n: 8,
            k: 8,
            a: (stored, Major::K),
            b: (stored, Major::K),
            c: stored,
            factors: MatrixType::F16,
            result: MatrixType::F16,
            alpha: 1.0,
            beta: 0.0,
        };
        let libraries = Libraries::default();
        assert_eq!(libraries.version(Library::CublasLt), None);
        assert_eq!(libraries.choice(&LibraryCall::Matmul(product)), None);
    }

    #[test]
    fn a_shape_has_one_baseline_wherever_its_matrices_are() {
        let call = |address, m| LibraryCall::Sgemm {
            a: address,
            b: address + 1,
            c: address + 2,
            m,
            n: 8,
            k: 8,
            math: SgemmMath::Default,
        };
        let mut libraries = Libraries::default();
        assert!(libraries.alone(&call(100, 8)).is_none());
        let alone = Alone {
            steady_ms: vec![1.5],
            ..Alone::default()
        };
        libraries.note_alone(&call(100, 8), alone);
        let found = libraries.alone(&call(900, 8)).expect("measured");
        assert_eq!(found.steady_ms, [1.5]);
        assert!(libraries.alone(&call(100, 16)).is_none());
    }

    #[test]
    fn a_file_that_is_no_library_is_refused_by_its_name() {
        let mut libraries = Libraries::default();
        for library in [Library::Cub, Library::Cublas, Library::CublasLt] {
            let error = libraries
                .load(library, Path::new("/nowhere/libnothing.so"))
                .expect_err("there is none")
                .to_string();
            assert!(error.contains(library.name()), "{error}");
            assert!(error.contains("libnothing.so"), "{error}");
        }
    }
}
