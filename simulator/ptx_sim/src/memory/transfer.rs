//! Transfers between the host and memory that kernels may use meanwhile.
//!
//! Whatever a kernel writes at the same time, no access here is undefined behaviour: each
//! is one relaxed atomic operation, of eight bytes where that is possible.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Calls `word` with every offset of eight bytes that are aligned at `device`, and `byte`
/// with those of the rest.
#[inline(always)]
fn split(
    device: *mut u8,
    n_bytes: usize,
    mut word: impl FnMut(usize),
    mut byte: impl FnMut(usize),
) {
    let head = device.align_offset(8).min(n_bytes);
    let words = (n_bytes - head) / 8;
    (0..head).for_each(&mut byte);
    for i in 0..words {
        word(head + 8 * i);
    }
    (head + 8 * words..n_bytes).for_each(&mut byte);
}

/// Copies from the device.
///
/// # Safety
/// `from` is readable for as many bytes as `to` has, and others access them atomically only.
pub unsafe fn read(from: *mut u8, to: &mut [u8]) {
    let (to, n_bytes) = (to.as_mut_ptr(), to.len());
    // SAFETY: Offsets are below the length; `to` is borrowed exclusively.
    split(
        from,
        n_bytes,
        |at| unsafe {
            let value = AtomicU64::from_ptr(from.add(at).cast()).load(Relaxed);
            to.add(at).cast::<u64>().write_unaligned(value);
        },
        |at| unsafe { *to.add(at) = AtomicU8::from_ptr(from.add(at)).load(Relaxed) },
    );
}

/// Copies to the device.
///
/// # Safety
/// `to` is writable for as many bytes as `from` has, and others access them atomically only.
pub unsafe fn write(to: *mut u8, from: &[u8]) {
    let n_bytes = from.len();
    let from = from.as_ptr();
    // SAFETY: Offsets are below the length; `from` is borrowed.
    split(
        to,
        n_bytes,
        |at| unsafe {
            let value = from.add(at).cast::<u64>().read_unaligned();
            AtomicU64::from_ptr(to.add(at).cast()).store(value, Relaxed);
        },
        |at| unsafe { AtomicU8::from_ptr(to.add(at)).store(*from.add(at), Relaxed) },
    );
}

/// Sets all bytes to one value.
///
/// # Safety
/// As [`write`], for this many bytes.
pub unsafe fn fill(to: *mut u8, n_bytes: usize, value: u8) {
    let word = u64::from_ne_bytes([value; 8]);
    // SAFETY: Offsets are below the length.
    split(
        to,
        n_bytes,
        |at| unsafe { AtomicU64::from_ptr(to.add(at).cast()).store(word, Relaxed) },
        |at| unsafe { AtomicU8::from_ptr(to.add(at)).store(value, Relaxed) },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_offset_and_any_length() {
        let mut memory = [0_u64; 8];
        let base: *mut u8 = memory.as_mut_ptr().cast();
        for start in 0..9 {
            for n_bytes in 0..40 {
                let data: Vec<u8> = (0..n_bytes).map(|i| i as u8 + 1).collect();
                let mut whole = [0xFF; 64];
                let mut part = vec![0; n_bytes];
                // SAFETY: 9 + 40 bytes are less than 64.
                unsafe {
                    fill(base, 64, 0xEE);
                    write(base.add(start), &data);
                    read(base.add(start), &mut part);
                    read(base, &mut whole);
                }
                assert_eq!(part, data);
                assert!(whole[..start].iter().all(|&b| b == 0xEE));
                assert_eq!(whole[start..start + n_bytes], data);
                assert!(whole[start + n_bytes..].iter().all(|&b| b == 0xEE));
            }
        }
    }
}
