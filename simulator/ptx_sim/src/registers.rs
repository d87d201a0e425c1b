//! A frame of registers: the slots of one function call of one warp.
//!
//! A slot is a byte offset. A register of `n` bytes takes `32 n` bytes there,
//! lane after lane; a predicate takes four, a bit per lane. Only the decoder knows what is
//! at an offset, so reads and writes are unsafe and rely on its promise: every slot lies
//! within `frame_bytes`, with room for its width, aligned for it.

use std::cell::UnsafeCell;
use std::collections::TryReserveError;
use std::hash::{Hash, Hasher};

use crate::lanes::{Lane, WARP_SIZE, has_wide_vectors};
use crate::program::Slot;

/// One cache line, so that frames are aligned for vector loads.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

/// The host does not have that much memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfMemory;

impl From<TryReserveError> for OutOfMemory {
    fn from(_: TryReserveError) -> Self {
        Self
    }
}

/// The registers of one call.
pub(crate) struct Registers {
    lines: Box<[UnsafeCell<Line>]>,
}

impl Clone for Registers {
    fn clone(&self) -> Self {
        // SAFETY: As for `bytes`.
        let copy = |line: &UnsafeCell<Line>| UnsafeCell::new(unsafe { *line.get() });
        Self {
            lines: self.lines.iter().map(copy).collect(),
        }
    }
}

impl Hash for Registers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl Registers {
    /// Zeroed registers.
    pub fn new(frame_bytes: u32) -> Result<Self, OutOfMemory> {
        let n_lines = (frame_bytes as usize).div_ceil(64);
        let mut lines = Vec::new();
        lines.try_reserve_exact(n_lines)?;
        lines.extend((0..n_lines).map(|_| UnsafeCell::new(Line([0; 64]))));
        Ok(Self {
            lines: lines.into_boxed_slice(),
        })
    }

    /// What they hold.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: They are initialised, and nothing writes them while they are borrowed: their
        // frame's pointer is used by the warp that they belong to, and not meanwhile.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), size_of_val(&*self.lines)) }
    }

    /// Where the frame is.
    pub fn frame(&self) -> FramePtr {
        FramePtr(
            self.lines.as_ptr().cast_mut().cast(),
            #[cfg(debug_assertions)]
            size_of_val(&*self.lines),
        )
    }
}

/// A pointer to a frame of registers; with debug assertions, also its size.
#[derive(Clone, Copy)]
pub(crate) struct FramePtr(pub *mut u8, #[cfg(debug_assertions)] usize);

impl FramePtr {
    /// The bytes of a register, or of a part of one.
    ///
    /// # Safety
    /// The decoder made a slot that has these `n_bytes` from `slot` on.
    #[inline(always)]
    pub unsafe fn bytes(self, slot: Slot, n_bytes: usize) -> *mut u8 {
        #[cfg(debug_assertions)]
        assert!(
            (slot as usize).saturating_add(n_bytes) <= self.1,
            "{n_bytes} bytes at {slot} of a frame of {}",
            self.1
        );
        let _ = n_bytes;
        // SAFETY: The caller's promise.
        unsafe { self.0.add(slot as usize) }
    }

    /// Where a register's lanes, or a predicate, are: in the frame, and aligned.
    ///
    /// # Safety
    /// The decoder made `slot` for a `T`.
    #[inline(always)]
    unsafe fn at<T>(self, slot: Slot) -> *mut T {
        // SAFETY: The caller's promise.
        let place = unsafe { self.bytes(slot, size_of::<T>()) }.cast::<T>();
        debug_assert!(place.is_aligned(), "slot {slot}");
        place
    }

    /// The 32 lanes of a register.
    ///
    /// # Safety
    /// The frame is alive, the decoder made `slot` for lanes of type `T`, and
    /// the register is not written while the reference lives.
    #[inline(always)]
    pub unsafe fn lanes<'f, T: Lane>(self, slot: Slot) -> &'f [T; WARP_SIZE] {
        // SAFETY: The caller's promise.
        unsafe { &*self.at(slot) }
    }

    /// The 32 lanes of a register, to be written.
    ///
    /// # Safety
    /// As [`FramePtr::lanes`], and the register is not read or written
    /// through anything else while the reference lives.
    #[inline(always)]
    pub unsafe fn lanes_mut<'f, T: Lane>(self, slot: Slot) -> &'f mut [T; WARP_SIZE] {
        // SAFETY: The caller's promise.
        unsafe { &mut *self.at(slot) }
    }

    /// A predicate: one bit per lane.
    ///
    /// # Safety
    /// The frame is alive and the decoder made `slot` for a predicate.
    #[inline(always)]
    pub unsafe fn predicate(self, slot: Slot) -> u32 {
        // SAFETY: The caller's promise.
        unsafe { self.at::<u32>(slot).read() }
    }

    /// Sets a predicate's lanes of `mask`.
    ///
    /// # Safety
    /// As [`FramePtr::predicate`].
    #[inline(always)]
    pub unsafe fn set_predicate(self, slot: Slot, mask: u32, value: u32) {
        // SAFETY: The caller's promise.
        unsafe {
            let p = self.at::<u32>(slot);
            p.write(p.read() & !mask | value & mask);
        }
    }

    /// A register's lane as 64 bits.
    ///
    /// # Safety
    /// The frame is alive and the decoder made `slot` for `bytes` a lane.
    #[inline]
    pub unsafe fn get(self, slot: Slot, bytes: u32, lane: usize) -> u64 {
        debug_assert!(matches!(bytes, 2 | 4 | 8 | 16));
        // SAFETY: The caller's promise.
        unsafe {
            match bytes {
                2 => u64::from(self.lanes::<u16>(slot)[lane]),
                4 => u64::from(self.lanes::<u32>(slot)[lane]),
                8 => self.lanes::<u64>(slot)[lane],
                _ => self.lanes::<u128>(slot)[lane] as u64,
            }
        }
    }

    /// Sets a register's lane from the low bits of a value.
    ///
    /// # Safety
    /// As [`FramePtr::get`].
    #[inline]
    pub unsafe fn set(self, slot: Slot, bytes: u32, lane: usize, value: u64) {
        debug_assert!(matches!(bytes, 2 | 4 | 8 | 16));
        // SAFETY: The caller's promise.
        unsafe {
            match bytes {
                2 => self.lanes_mut::<u16>(slot)[lane] = value as u16,
                4 => self.lanes_mut::<u32>(slot)[lane] = value as u32,
                8 => self.lanes_mut::<u64>(slot)[lane] = value,
                _ => self.lanes_mut::<u128>(slot)[lane] = u128::from(value),
            }
        }
    }

    /// Sets all lanes of a register from the low bits of a value.
    ///
    /// # Safety
    /// As [`FramePtr::get`].
    #[inline(always)]
    pub unsafe fn splat(self, slot: Slot, bytes: u32, value: u64) {
        debug_assert!(matches!(bytes, 2 | 4 | 8 | 16));
        // SAFETY: The caller's promise.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if bytes <= 8 && has_wide_vectors() {
                return splat_wide(self, slot, bytes, value);
            }
            match bytes {
                2 => *self.lanes_mut::<u16>(slot) = [value as u16; WARP_SIZE],
                4 => *self.lanes_mut::<u32>(slot) = [value as u32; WARP_SIZE],
                8 => *self.lanes_mut::<u64>(slot) = [value; WARP_SIZE],
                _ => *self.lanes_mut::<u128>(slot) = [u128::from(value); WARP_SIZE],
            }
        }
    }
}

/// [`FramePtr::splat`] by vectors as instructions read them: one that was written in parts would
/// have to wait until all of them are in the cache.
///
/// # Safety
/// As [`FramePtr::get`], for up to 8 bytes; this machine has the vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn splat_wide(frame: FramePtr, slot: Slot, bytes: u32, value: u64) {
    use std::arch::x86_64::{__m256i, _mm256_set1_epi64x, _mm256_storeu_si256};
    let repeated = match bytes {
        2 => u64::from(value as u16) * 0x0001_0001_0001_0001,
        4 => u64::from(value as u32) * 0x0000_0001_0000_0001,
        _ => value,
    };
    // SAFETY: The caller's promise: a register has 32 lanes, that many bytes for each byte of one.
    unsafe {
        let to = frame
            .bytes(slot, bytes as usize * WARP_SIZE)
            .cast::<__m256i>();
        for vector in 0..bytes as usize {
            _mm256_storeu_si256(to.add(vector), _mm256_set1_epi64x(repeated as i64));
        }
    }
}
