//! Arguments that know the length of their memory, for safe kernels ([`crate::view`]).
//!
//! [`SafeKernel::admit`] is all that a launch library calls: it takes a launch's geometry,
//! the memory it uses and such arguments, and returns the kernel's arguments by address, or what does not
//! fit. What it cannot check is part of the contracts of [`Input::new`] and [`Output::new`].

use core::fmt;
use core::marker::PhantomData;

use super::{DeviceCopy, DevicePtr, DevicePtrMut, Kernel};
use crate::view::{Geometry, Reason};

/// Device memory that a launch reads, borrowed for `'a`.
pub struct Input<'a, T> {
    address: u64,
    n_elements: u64,
    memory: Option<u64>,
    values: PhantomData<&'a [T]>,
}

impl<T> Clone for Input<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Input<'_, T> {}

/// Device memory that a launch writes, borrowed exclusively for `'a`.
pub struct Output<'a, T> {
    address: u64,
    n_elements: u64,
    memory: Option<u64>,
    values: PhantomData<&'a mut [T]>,
}

impl<T: DeviceCopy> Input<'_, T> {
    /// `n_elements` values from `address` on.
    ///
    /// # Safety
    ///
    /// They are global memory of the device that the launch is for. For `'a`, which lasts
    /// until the launch has ended, they stay allocated and nothing writes them, neither the
    /// host nor a launch.
    pub const unsafe fn new(address: u64, n_elements: u64) -> Self {
        Self {
            address,
            n_elements,
            memory: None,
            values: PhantomData,
        }
    }
    /// The same, of this memory: only launches that use it are admitted. Numbers are the launch
    /// library's; GPUs share one, but simulators have addresses of their own.
    #[must_use]
    pub const fn in_memory(self, number: u64) -> Self {
        Self {
            memory: Some(number),
            ..self
        }
    }
}

impl<T> Input<'_, T> {
    /// The address for the kernel, if the parameter's shape and alignment fit. For
    /// `#[kernel]`.
    #[doc(hidden)]
    pub fn admit(self, wanted: &Wanted) -> Result<DevicePtr<T>, Unfit> {
        wanted.check(self.address, self.n_elements, self.memory, align_of::<T>())?;
        Ok(DevicePtr::new(self.address))
    }
}

impl<T: DeviceCopy> Output<'_, T> {
    /// `n_elements` values from `address` on.
    ///
    /// # Safety
    ///
    /// They are global memory of the device that the launch is for. For `'a`, which lasts
    /// until the launch has ended, they stay allocated and nothing else reads or writes
    /// them, neither the host nor a launch.
    pub const unsafe fn new(address: u64, n_elements: u64) -> Self {
        Self {
            address,
            n_elements,
            memory: None,
            values: PhantomData,
        }
    }
    /// As [`Input::in_memory`].
    #[must_use]
    pub const fn in_memory(self, number: u64) -> Self {
        Self {
            memory: Some(number),
            ..self
        }
    }
}

impl<T> Output<'_, T> {
    /// As [`Input::admit`].
    #[doc(hidden)]
    pub fn admit(self, wanted: &Wanted) -> Result<DevicePtrMut<T>, Unfit> {
        wanted.check(self.address, self.n_elements, self.memory, align_of::<T>())?;
        Ok(DevicePtrMut::new(self.address))
    }
}

/// The requirements of a safe kernel's parameter on its memory. For `#[kernel]`.
#[doc(hidden)]
pub struct Wanted {
    /// The parameter's name.
    pub parameter: &'static str,
    /// Elements of its shape.
    pub n_elements: u64,
    /// The memory that the launch uses.
    pub memory: u64,
}

impl Wanted {
    fn check(
        &self,
        address: u64,
        n_elements: u64,
        memory: Option<u64>,
        align_bytes: usize,
    ) -> Result<(), Unfit> {
        let parameter = self.parameter;
        if memory.is_some_and(|memory| memory != self.memory) {
            return Err(Unfit::Elsewhere { parameter });
        }
        if self.n_elements > u32::MAX.into() {
            let wanted = self.n_elements;
            return Err(Unfit::TooLarge { parameter, wanted });
        }
        if n_elements < self.n_elements {
            return Err(Unfit::TooShort {
                parameter,
                wanted: self.n_elements,
                found: n_elements,
            });
        }
        let align_bytes = align_bytes as u64;
        if !address.is_multiple_of(align_bytes) {
            return Err(Unfit::Misaligned {
                parameter,
                align_bytes,
                address,
            });
        }
        Ok(())
    }
}

/// The reason why a safe kernel may not be launched like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The kernel would reach past the buffer's end.
    TooShort {
        /// The kernel's parameter.
        parameter: &'static str,
        /// Elements that it needs.
        wanted: u64,
        /// Elements of the buffer.
        found: u64,
    },
    /// The buffer is not in memory that the launch can use.
    Elsewhere {
        /// The kernel's parameter.
        parameter: &'static str,
    },
    /// 32-bit indices cannot count the elements.
    TooLarge {
        /// The kernel's parameter.
        parameter: &'static str,
        /// Elements that it needs.
        wanted: u64,
    },
    /// Accesses would not be aligned.
    Misaligned {
        /// The kernel's parameter.
        parameter: &'static str,
        /// The required alignment of the address.
        align_bytes: u64,
        /// The buffer's address.
        address: u64,
    },
    /// Threads would share an element, or have none.
    Geometry {
        /// The kernel's parameter.
        parameter: &'static str,
        /// The requirement that the launch does not meet.
        reason: Reason,
        /// The launch.
        launch: Geometry,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort {
                parameter,
                wanted,
                found,
            } => write!(
                f,
                "`{parameter}` has {found} elements, but the kernel's other arguments say {wanted}"
            ),
            Self::Elsewhere { parameter } => write!(
                f,
                "`{parameter}` is a buffer of another simulator, or of a GPU if this is none: allocate it on the \
                 module's own device"
            ),
            Self::TooLarge { parameter, wanted } => write!(
                f,
                "`{parameter}` would have {wanted} elements; a safe kernel counts them with 32 bits, so launch it on \
                 parts"
            ),
            Self::Misaligned {
                parameter,
                align_bytes,
                address,
            } => write!(
                f,
                "`{parameter}` begins at address {address:#x}, but the kernel needs a multiple of {align_bytes} bytes"
            ),
            Self::Geometry {
                parameter,
                reason,
                launch,
            } => {
                let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
                write!(
                    f,
                    "`{parameter}` does not fit {gx}×{gy}×{gz} blocks of {bx}×{by}×{bz} threads: {reason}"
                )
            }
        }
    }
}

impl core::error::Error for Unfit {}

impl Unfit {
    /// A map's or tile's reason, with its parameter. For `#[kernel]`.
    #[doc(hidden)]
    pub fn geometry(parameter: &'static str, launch: Geometry) -> impl FnOnce(Reason) -> Self {
        move |reason| Self::Geometry {
            parameter,
            reason,
            launch,
        }
    }
}

/// A kernel that is a safe `fn`; implemented only by `#[kernel]`.
///
/// # Safety
///
/// A launch of the kernel with a geometry that `admit` accepted and the arguments that it
/// returned is sound while the lifetime of its views lasts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a safe kernel",
    label = "not a safe kernel",
    note = "a safe launch (`run`) takes a safe `fn` that has `#[kernel]` above it; a kernel that is an `unsafe fn` is \
            launched by `unsafe {{ module.launch(…) }}`"
)]
pub unsafe trait SafeKernel: Kernel {
    /// Argument types, as a tuple: [`Input`]s, [`Output`]s and numbers.
    type Views<'a>;

    /// The arguments by address, if the kernel may be launched with them on a device that uses
    /// this memory ([`Input::in_memory`]).
    ///
    /// # Errors
    ///
    /// What does not fit, and which parameter it is about.
    fn admit(launch: Geometry, memory: u64, views: Self::Views<'_>) -> Result<Self::Args, Unfit>;
}
