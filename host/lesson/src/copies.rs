//! Copies of the same number of bytes that a kernel moves, with which its time is compared.

use crate::inputs;
use cuda_std::launch::{DevicePtr, DevicePtrMut};
use lockstep::engine::{Buffer, EngineError, Prepared, Timed, Timing};

/// Prepares the launch of a kernel that copies elements.
///
/// # Safety
///
/// Both buffers must hold this many elements, be aligned to 256 bytes, and live as long as
/// the launch.
pub type CopyKernel = unsafe fn(
    input: DevicePtr<f32>,
    output: DevicePtrMut<f32>,
    n_elements: u32,
) -> Result<Prepared, EngineError>;

/// Source and target of a copy, to be timed alongside a kernel.
pub(crate) struct CopyBuffers<'e> {
    from: Buffer<'e, u8>,
    to: Buffer<'e, u8>,
}

impl<'e> CopyBuffers<'e> {
    /// For a copy that reads about this many bytes and writes as many; `None` for zero bytes.
    pub fn new(engine: &'e dyn Timing, size_bytes: u64) -> Result<Option<Self>, EngineError> {
        /// The kernel moves whole chunks.
        const CHUNK: u64 = 16;
        if size_bytes == 0 {
            return Ok(None);
        }
        let size_bytes = size_bytes.next_multiple_of(CHUNK) as usize;
        Ok(Some(Self {
            from: random_bytes(engine, "copy source", size_bytes)?,
            to: Buffer::poisoned(engine, "copy target", size_bytes)?,
        }))
    }

    /// The copy by the driver.
    pub fn by_driver(&self) -> Timed<'static> {
        Timed::Copy {
            to: self.to.address(),
            from: self.from.address(),
            size_bytes: self.from.size_bytes(),
        }
    }

    /// The copy by a kernel.
    pub fn by_kernel(&self, copy: CopyKernel) -> Result<Timed<'static>, EngineError> {
        let n_elements = (self.from.size_bytes() / size_of::<f32>() as u64) as u32;
        // SAFETY: both buffers hold as many elements, are aligned to 256 bytes, and
        // live as long as the launch.
        let launch = unsafe {
            copy(
                DevicePtr::new(self.from.address()),
                DevicePtrMut::new(self.to.address()),
                n_elements,
            )
        }?;
        Ok(Timed::Launches(vec![launch].into()))
    }
}

/// Random bytes on the device: one block of them, repeated.
fn random_bytes<'e>(
    engine: &'e dyn Timing,
    label: &str,
    size_bytes: usize,
) -> Result<Buffer<'e, u8>, EngineError> {
    const BLOCK_BYTES: usize = 16 << 20;
    const SEED: u64 = 99;
    let buffer = Buffer::poisoned(engine, label, size_bytes)?;
    let block = inputs::bytes(SEED, BLOCK_BYTES.min(size_bytes));
    engine.write(buffer.address(), &block)?;
    let mut n_written = block.len();
    while n_written < size_bytes {
        let n = n_written.min(size_bytes - n_written);
        engine.perform(&Timed::Copy {
            to: buffer.address() + n_written as u64,
            from: buffer.address(),
            size_bytes: n as u64,
        })?;
        n_written += n;
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::random_bytes;
    use lockstep::engine::sim::Sim;

    #[test]
    fn random_bytes_fill_the_buffer_beyond_their_block() {
        let engine = Sim::new(Vec::new());
        const N: usize = (40 << 20) + 5;
        let bytes = random_bytes(&engine, "bytes", N).and_then(|buffer| buffer.read());
        let bytes = bytes.expect("memory enough");
        assert_eq!(bytes.len(), N);
        // Poison would be a long run of equal bytes.
        let has_runs = bytes
            .windows(8)
            .any(|run| run.iter().all(|&byte| byte == 0xFF));
        assert!(!has_runs);
        assert_eq!(bytes[32 << 20], bytes[0]);
    }
}
