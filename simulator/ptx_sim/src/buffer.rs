//! Typed arrays in device memory.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;

use crate::device::{Device, LoadedModule, MemoryError};

/// An array of `T` in device memory: an address and a length.
///
/// A handle, cheap to copy. The memory lives until [`Device::free`] is given its
/// address, or as long as the device.
pub struct Buffer<T> {
    address: u64,
    n_elements: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Buffer<T> {
    /// Where it begins, as a kernel sees it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.n_elements
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.n_elements == 0
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u64 {
        (self.n_elements * size_of::<T>()) as u64
    }

    /// Some of its elements.
    ///
    /// # Panics
    /// If the range is out of bounds, as for a slice.
    #[must_use]
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        assert!(
            range.start <= range.end && range.end <= self.n_elements,
            "elements {range:?} of a buffer of {}",
            self.n_elements
        );
        Self {
            address: self.address + (range.start * size_of::<T>()) as u64,
            n_elements: range.len(),
            element: PhantomData,
        }
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Buffer<T> {}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = std::any::type_name::<T>();
        write!(f, "[{ty}; {}] at {:#x}", self.n_elements, self.address)
    }
}

impl Device {
    /// Allocates an array and copies `data` there. `label` names it in reports.
    ///
    /// ```
    /// let device = ptx_sim::Device::new();
    /// let squares = device.upload(&[0_u32, 1, 4, 9], "squares")?;
    /// assert_eq!(device.download(squares)?, [0, 1, 4, 9]);
    /// assert_eq!(device.download(squares.slice(1..3))?, [1, 4]);
    /// # Ok::<(), ptx_sim::MemoryError>(())
    /// ```
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn upload<T: Pod>(&self, data: &[T], label: &str) -> Result<Buffer<T>, MemoryError> {
        let buffer = self.reserve(data.len(), label)?;
        self.write(buffer.address, bytemuck::cast_slice(data))?;
        Ok(buffer)
    }

    /// Allocates an array of zeros. `label` names it in reports.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn zeros<T: Pod>(&self, n_elements: usize, label: &str) -> Result<Buffer<T>, MemoryError> {
        let buffer = self.reserve::<T>(n_elements, label)?;
        self.fill(buffer.address, buffer.size_bytes(), 0)?;
        Ok(buffer)
    }

    fn reserve<T: Pod>(&self, n_elements: usize, label: &str) -> Result<Buffer<T>, MemoryError> {
        let size_bytes = n_elements as u64 * size_of::<T>() as u64;
        Ok(Buffer {
            address: self.alloc(size_bytes, label)?,
            n_elements,
            element: PhantomData,
        })
    }

    /// Copies an array back.
    ///
    /// # Errors
    /// If it was freed, or belongs to another device.
    pub fn download<T: Pod>(&self, buffer: Buffer<T>) -> Result<Vec<T>, MemoryError> {
        let mut out = vec![T::zeroed(); buffer.n_elements];
        self.read(buffer.address, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
    }

    /// Copies `data` over an array's first elements.
    ///
    /// # Errors
    /// If `data` is longer than the array, or the array was freed.
    pub fn overwrite<T: Pod>(&self, buffer: Buffer<T>, data: &[T]) -> Result<(), MemoryError> {
        if data.len() > buffer.n_elements {
            return Err(MemoryError::TooLong {
                given: data.len(),
                n_elements: buffer.n_elements,
            });
        }
        self.write(buffer.address, bytemuck::cast_slice(data))
    }
}

impl LoadedModule {
    /// A `.global` or `.const` variable as an array of `T`; none if there is no
    /// such variable, or its size is not a multiple of `T`'s.
    pub fn array<T: Pod>(&self, name: &str) -> Option<Buffer<T>> {
        let (address, size_bytes) = self.variable(name)?;
        let size = size_of::<T>().max(1) as u64;
        size_bytes.is_multiple_of(size).then_some(Buffer {
            address,
            n_elements: (size_bytes / size) as usize,
            element: PhantomData,
        })
    }
}
