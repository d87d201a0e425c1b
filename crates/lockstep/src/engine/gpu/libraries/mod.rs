//! NVIDIA's libraries in our context: loaded from files, called on our stream.
//!
//! They use the runtime's API, which works in the device's primary context. So
//! does [`super::session`]: addresses and streams are understood on both sides.

mod cub;
mod cublas;
mod failure;

use super::super::{EngineError, Library, LibraryCall};
use crate::driver::Stream;
use cub::Cub;
use cublas::Cublas;
use failure::not_loaded;
use std::path::Path;

/// The libraries that were loaded.
#[derive(Default)]
pub(super) struct Libraries {
    cub: Option<Cub>,
    cublas: Option<Cublas>,
}

impl Libraries {
    /// Loads the library from `file`.
    pub(super) fn load(&mut self, library: Library, file: &Path) -> Result<(), EngineError> {
        match library {
            Library::Cub => self.cub = Some(Cub::load(file)?),
            Library::Cublas => self.cublas = Some(Cublas::load(file)?),
        }
        Ok(())
    }

    pub(super) fn version(&self, library: Library) -> Option<String> {
        match library {
            Library::Cub => self.cub.as_ref().map(Cub::version),
            Library::Cublas => self.cublas.as_ref().map(Cublas::version),
        }
    }

    /// Makes ready what the call needs beside its buffers.
    pub(super) fn prepare(&mut self, call: &LibraryCall) -> Result<(), EngineError> {
        match call {
            LibraryCall::CubSum { n, .. } => {
                let cub = self.cub.as_mut().ok_or_else(|| not_loaded(Library::Cub))?;
                cub.prepare_sum(*n)
            }
            LibraryCall::Sgemm { .. } => match self.cublas {
                Some(_) => Ok(()),
                None => Err(not_loaded(Library::Cublas)),
            },
        }
    }

    /// Puts the prepared call into the stream.
    pub(super) fn enqueue(&self, call: &LibraryCall, stream: &Stream) -> Result<(), EngineError> {
        match call {
            &LibraryCall::CubSum { input, n, output } => {
                let cub = self.cub.as_ref().ok_or_else(|| not_loaded(Library::Cub))?;
                cub.sum(input, n, output, stream)
            }
            LibraryCall::Sgemm { .. } => {
                let cublas = self
                    .cublas
                    .as_ref()
                    .ok_or_else(|| not_loaded(Library::Cublas))?;
                cublas.sgemm(call, stream)
            }
        }
    }
}
