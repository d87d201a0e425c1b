//! An output between two guards, which no kernel may write.
//!
//! The simulator reports an access outside every allocation; a GPU does not
//! notice one that hits another allocation. Guards are poisoned like the output and
//! compared after the launch.

use crate::error::CaseError;
use crate::verify::Element;
use cuda_std::launch::{DevicePtrMut, Output};
use lockstep::engine::{Buffer, Engine, EngineError};

/// Elements of a guard: as many bytes as the alignment of an allocation, so that
/// the output between the guards has that alignment too.
const GUARD: usize = 64;

/// `len` values of `f32` in device memory, poisoned, with a guard on both sides.
pub struct Guarded<'e> {
    buffer: Buffer<'e, f32>,
    len: usize,
}

impl<'e> Guarded<'e> {
    /// Room for `len` values. `label` names it in reports of bad accesses.
    pub fn poisoned(engine: &'e dyn Engine, label: &str, len: usize) -> Result<Self, EngineError> {
        let buffer = Buffer::poisoned(engine, label, GUARD + len + GUARD)?;
        Ok(Self { buffer, len })
    }

    /// The kernel argument for a `*mut f32` to the first value.
    pub fn as_mut_ptr(&self) -> DevicePtrMut<f32> {
        self.buffer.ptr_mut_at(GUARD)
    }

    /// The argument of a safe kernel that writes the values.
    pub fn output(&mut self) -> Output<'_, f32> {
        self.buffer.output_of(GUARD..GUARD + self.len)
    }

    /// Copies the values to the host, poisoned where nothing was written: the caller's comparison
    /// finds those.
    ///
    /// # Errors
    ///
    /// [`CaseError::Wrong`] when something was written to a guard.
    pub fn read(&self) -> Result<Vec<f32>, CaseError> {
        let end = GUARD + self.len;
        let after = self.buffer.read_of_with_gaps(end..end + GUARD)?;
        check(&after, "after the output")?;
        let before = self.buffer.read_of_with_gaps(0..GUARD)?;
        check(&before, "before the output")?;
        // Last, since a wrong element is told by its place in what was read last.
        Ok(self.buffer.read_of_with_gaps(GUARD..end)?)
    }
}

/// Checks that a guard is still poison; `side` says where it is: `after the output`.
///
/// # Errors
///
/// [`CaseError::Wrong`] if something was written to it.
pub fn check<T: Element>(guard: &[T], side: &str) -> Result<(), CaseError> {
    match guard.iter().position(|value| !value.is_poison()) {
        None => Ok(()),
        Some(index) => Err(CaseError::wrong(format!(
            "it wrote {:?} {side}, where it must not write (element {index} of the guard)",
            guard[index]
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::{GUARD, check};
    use crate::verify::Element;
    use lockstep::engine::buffer::POISON;

    #[test]
    fn a_written_guard_is_found() {
        let mut guard = [f32::from_le_bytes([POISON; 4]); GUARD];
        assert!(check(&guard, "after the output").is_ok());
        guard[3] = f32::NAN;
        assert!(!guard[3].is_poison(), "another NaN is not poison");
        let error = check(&guard, "after the output")
            .expect_err("written")
            .to_string();
        assert!(
            error.contains("after the output") && error.contains("element 3"),
            "{error}"
        );
    }
}
