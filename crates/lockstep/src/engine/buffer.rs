//! Typed device memory, freed on drop.

pub use super::interface::POISON;

use super::{Engine, EngineError};
use cuda_std::launch::{DeviceCopy, DevicePtr, DevicePtrMut, DeviceSlice, Input, Output};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::rc::Rc;

/// `len` values of type `T` in the memory of an engine's device.
pub struct Buffer<'e, T> {
    engine: Handle<'e>,
    label: Box<str>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> fmt::Debug for Buffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Buffer");
        shown.field("label", &self.label).field("len", &self.len);
        shown.finish_non_exhaustive()
    }
}

/// The engine that owns the memory: borrowed, or kept alive by the buffer.
#[derive(Clone)]
pub(crate) enum Handle<'e> {
    Borrowed(&'e dyn Engine),
    Shared(Rc<dyn HasEngine>),
}

/// What keeps an engine alive.
pub(crate) trait HasEngine {
    /// The engine.
    fn engine(&self) -> &(dyn Engine + 'static);
}

impl<'e> Deref for Handle<'e> {
    type Target = dyn Engine + 'e;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Borrowed(engine) => *engine,
            Self::Shared(owner) => owner.engine(),
        }
    }
}

impl<'e, T: DeviceCopy> Buffer<'e, T> {
    /// Allocates `len` values, every byte [`POISON`]. `label` identifies the buffer in reports of
    /// bad accesses.
    pub fn poisoned(engine: &'e dyn Engine, label: &str, len: usize) -> Result<Self, EngineError> {
        Self::poisoned_in(Handle::Borrowed(engine), label, len)
    }

    pub(crate) fn poisoned_in(
        engine: Handle<'e>,
        label: &str,
        len: usize,
    ) -> Result<Self, EngineError> {
        let buffer = Self::uninitialised_in(engine, label, len)?;
        buffer.poison()?;
        Ok(buffer)
    }

    /// Copies `values` to the device.
    pub fn of(engine: &'e dyn Engine, label: &str, values: &[T]) -> Result<Self, EngineError> {
        Self::of_in(Handle::Borrowed(engine), label, values)
    }

    pub(crate) fn of_in(
        engine: Handle<'e>,
        label: &str,
        values: &[T],
    ) -> Result<Self, EngineError> {
        let buffer = Self::uninitialised_in(engine, label, values.len())?;
        buffer.write(values)?;
        Ok(buffer)
    }

    /// Allocates `len` values without initialising them.
    pub(super) fn uninitialised(
        engine: &'e dyn Engine,
        label: &str,
        len: usize,
    ) -> Result<Self, EngineError> {
        Self::uninitialised_in(Handle::Borrowed(engine), label, len)
    }

    fn uninitialised_in(engine: Handle<'e>, label: &str, len: usize) -> Result<Self, EngineError> {
        let size_bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| {
            EngineError::Memory(format!(
                "`{label}`: {len} values are more than any memory can hold"
            ))
        })?;
        let address = engine.alloc(size_bytes as u64, label)?;
        Ok(Self::of_address(engine, label, address, len))
    }

    /// `len` values at an address, which the buffer takes ownership of.
    pub(crate) fn of_address(engine: Handle<'e>, label: &str, address: u64, len: usize) -> Self {
        Self {
            engine,
            label: label.into(),
            address,
            len,
            element: PhantomData,
        }
    }

    /// The engine that owns the memory.
    pub(crate) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Its name in reports of bad accesses.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Device address of the first value.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Sets every byte to [`POISON`], as if it had never been written.
    pub fn poison(&self) -> Result<(), EngineError> {
        self.engine.poison(self.address, self.size_bytes())
    }

    /// Sets every byte to `value`.
    pub fn fill(&self, value: u8) -> Result<(), EngineError> {
        self.engine.fill(self.address, self.size_bytes(), value)
    }

    /// Overwrites all values. `values` must be as long as the buffer.
    pub fn write(&self, values: &[T]) -> Result<(), EngineError> {
        self.check_len(values.len())?;
        self.engine.write(self.address, as_bytes(values))
    }

    /// Copies all values to the host.
    ///
    /// # Errors
    ///
    /// On a simulator with [`Simulator::check`](crate::Simulator::check): nobody has written some of
    /// them ([`EngineError::Unwritten`]).
    pub fn read(&self) -> Result<Vec<T>, EngineError> {
        self.read_of(0..self.len)
    }

    /// Copies this range of values to the host: what a kernel has filled of a buffer that has room
    /// for more.
    ///
    /// # Errors
    ///
    /// As [`Buffer::read`].
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn read_of(&self, values: Range<usize>) -> Result<Vec<T>, EngineError> {
        let (address, len) = self.part(values);
        self.fetch(len as usize, |bytes| {
            self.engine
                .read_values(address, bytes, size_of::<T>(), false)
        })
    }

    /// Copies all values to the host, whether or not somebody has written them: for buffers with
    /// gaps, such as padded rows. What nobody has written is [`POISON`].
    pub fn read_with_gaps(&self) -> Result<Vec<T>, EngineError> {
        self.read_of_with_gaps(0..self.len)
    }

    /// The same of this range of values.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn read_of_with_gaps(&self, values: Range<usize>) -> Result<Vec<T>, EngineError> {
        let (address, len) = self.part(values);
        self.fetch(len as usize, |bytes| {
            self.engine
                .read_values(address, bytes, size_of::<T>(), true)
        })
    }

    /// `len` values that `copy` copies.
    fn fetch(
        &self,
        len: usize,
        copy: impl FnOnce(&mut [u8]) -> Result<(), EngineError>,
    ) -> Result<Vec<T>, EngineError> {
        let mut values = Vec::new();
        values.try_reserve_exact(len).map_err(|_| {
            let what = format!("the host has no room for {} bytes", len * size_of::<T>());
            EngineError::Memory(what)
        })?;
        // SAFETY: the bytes are zeroed before they are used as values, and `DeviceCopy` promises
        // that every bit pattern is valid.
        unsafe {
            std::ptr::write_bytes(values.as_mut_ptr(), 0, len);
            values.set_len(len);
        }
        copy(as_bytes_mut(&mut values))?;
        Ok(values)
    }

    /// Copies all values into `values`, which must be as long as the buffer.
    ///
    /// # Errors
    ///
    /// As [`Buffer::read`].
    pub fn read_into(&self, values: &mut [T]) -> Result<(), EngineError> {
        self.check_len(values.len())?;
        let bytes = as_bytes_mut(values);
        self.engine
            .read_values(self.address, bytes, size_of::<T>(), false)
    }

    fn check_len(&self, len: usize) -> Result<(), EngineError> {
        if len == self.len {
            return Ok(());
        }
        Err(EngineError::Memory(format!(
            "a copy of {len} values to or from `{}`, which has {}",
            self.label, self.len
        )))
    }

    /// The argument for a safe kernel that reads the buffer.
    pub fn input(&self) -> Input<'_, T> {
        self.input_of(0..self.len)
    }

    /// The argument for a safe kernel that reads this range of values.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn input_of(&self, values: Range<usize>) -> Input<'_, T> {
        let (address, len) = self.part(values);
        // SAFETY: the memory stays allocated while it is borrowed, and a launch that writes it
        // borrows it mutably or is `unsafe`.
        unsafe { Input::new(address, len) }.in_memory(self.engine.memory())
    }

    /// The argument for a safe kernel that writes the buffer.
    pub fn output(&mut self) -> Output<'_, T> {
        self.output_of(0..self.len)
    }

    /// The argument for a safe kernel that writes this range of values.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn output_of(&mut self, values: Range<usize>) -> Output<'_, T> {
        let (address, len) = self.part(values);
        // SAFETY: the memory stays allocated while it is borrowed, and the borrow is exclusive.
        unsafe { Output::new(address, len) }.in_memory(self.engine.memory())
    }

    /// Address and length of this range of values.
    #[track_caller]
    fn part(&self, values: Range<usize>) -> (u64, u64) {
        let Range { start, end } = values;
        assert!(
            start <= end && end <= self.len,
            "values {start}..{end} of `{}`, which has {}",
            self.label,
            self.len
        );
        let address = self.address + (start * size_of::<T>()) as u64;
        (address, (end - start) as u64)
    }

    #[track_caller]
    fn address_of(&self, offset: usize) -> u64 {
        assert!(
            offset <= self.len,
            "value {offset} of `{}`, which has {}",
            self.label,
            self.len
        );
        self.address + (offset * size_of::<T>()) as u64
    }

    /// The kernel argument for a `*const T` that points to value `offset`.
    ///
    /// # Panics
    ///
    /// `offset` is past the buffer's end.
    #[track_caller]
    pub fn ptr_at(&self, offset: usize) -> DevicePtr<T> {
        DevicePtr::new(self.address_of(offset))
    }

    /// The kernel argument for a `*mut T` that points to value `offset`.
    ///
    /// # Panics
    ///
    /// As [`Buffer::ptr_at`].
    #[track_caller]
    pub fn ptr_mut_at(&self, offset: usize) -> DevicePtrMut<T> {
        DevicePtrMut::new(self.address_of(offset))
    }

    /// The kernel argument for a `*const T`.
    pub fn as_ptr(&self) -> DevicePtr<T> {
        self.ptr_at(0)
    }

    /// The kernel argument for a `*mut T`.
    pub fn as_mut_ptr(&self) -> DevicePtrMut<T> {
        self.ptr_mut_at(0)
    }

    /// The kernel argument for a `&[T]` of the whole buffer.
    pub fn as_slice(&self) -> DeviceSlice<T> {
        DeviceSlice::new(self.address, self.len as u64)
    }
}

impl<T> Drop for Buffer<'_, T> {
    fn drop(&mut self) {
        // After a fault the memory may already be gone, and a drop cannot report an error.
        let _ = self.engine.free(self.address);
    }
}

fn as_bytes<T: DeviceCopy>(values: &[T]) -> &[u8] {
    // SAFETY: `DeviceCopy` types have no padding, so all bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn as_bytes_mut<T: DeviceCopy>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: no padding, and every bit pattern is a valid value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
