//! Moving bytes between registers and memory that host threads share.
//!
//! Each element is moved by one relaxed atomic operation, so that a race in the
//! kernel is not undefined behaviour here.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Copies from memory that other threads may write.
///
/// # Safety
/// `from` is readable and 2-aligned for `n_bytes`, a multiple of 8; `to` is writable,
/// 8-aligned and not shared.
#[inline]
pub(super) unsafe fn copy_out_shared(from: *mut u8, to: *mut u8, n_bytes: usize) {
    // SAFETY: The caller's promise.
    unsafe {
        if from.addr().is_multiple_of(8) {
            for i in 0..n_bytes / 8 {
                *to.cast::<u64>().add(i) = read64(from.add(8 * i));
            }
        } else if from.addr().is_multiple_of(4) {
            for i in 0..n_bytes / 4 {
                *to.cast::<u32>().add(i) = read32(from.add(4 * i));
            }
        } else {
            for i in 0..n_bytes / 2 {
                *to.cast::<u16>().add(i) = read16(from.add(2 * i));
            }
        }
    }
}

/// Copies to memory that other threads may read.
///
/// # Safety
/// As [`copy_out_shared`], the other way round.
#[inline]
pub(super) unsafe fn copy_in_shared(from: *mut u8, to: *mut u8, n_bytes: usize) {
    // SAFETY: The caller's promise.
    unsafe {
        if to.addr().is_multiple_of(8) {
            for i in 0..n_bytes / 8 {
                write64(to.add(8 * i), *from.cast::<u64>().add(i));
            }
        } else if to.addr().is_multiple_of(4) {
            for i in 0..n_bytes / 4 {
                write32(to.add(4 * i), *from.cast::<u32>().add(i));
            }
        } else {
            for i in 0..n_bytes / 2 {
                write16(to.add(2 * i), *from.cast::<u16>().add(i));
            }
        }
    }
}

macro_rules! atomic_access {
    ($read:ident, $write:ident, $t:ty, $atomic:ty) => {
        /// One relaxed atomic load.
        ///
        /// # Safety
        /// `p` is readable and aligned, and only accessed atomically by
        /// other threads.
        #[inline(always)]
        pub(in crate::step) unsafe fn $read(p: *mut u8) -> $t {
            // SAFETY: The caller's promise.
            unsafe { <$atomic>::from_ptr(p.cast()).load(Relaxed) }
        }
        /// One relaxed atomic store.
        ///
        /// # Safety
        /// `p` is writable and aligned, and only accessed atomically by
        /// other threads.
        #[inline(always)]
        pub(in crate::step) unsafe fn $write(p: *mut u8, value: $t) {
            // SAFETY: The caller's promise.
            unsafe { <$atomic>::from_ptr(p.cast()).store(value, Relaxed) }
        }
    };
}
atomic_access!(read8, write8, u8, AtomicU8);
atomic_access!(read16, write16, u16, AtomicU16);
atomic_access!(read32, write32, u32, AtomicU32);
atomic_access!(read64, write64, u64, AtomicU64);

/// Reads 1, 2, 4 or 8 bytes.
///
/// # Safety
/// As [`read64`], for this width.
#[inline]
pub(super) unsafe fn read_element(p: *mut u8, bytes: u32) -> u64 {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => u64::from(read8(p)),
            2 => u64::from(read16(p)),
            4 => u64::from(read32(p)),
            _ => read64(p),
        }
    }
}

/// Writes 1, 2, 4 or 8 bytes.
///
/// # Safety
/// As [`write64`], for this width.
#[inline]
pub(super) unsafe fn write_element(p: *mut u8, bytes: u32, value: u64) {
    // SAFETY: The caller's promise.
    unsafe {
        match bytes {
            1 => write8(p, value as u8),
            2 => write16(p, value as u16),
            4 => write32(p, value as u32),
            _ => write64(p, value),
        }
    }
}
