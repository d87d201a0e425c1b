//! Panics on the device: `assert!`, `unwrap`, an index out of bounds.
//!
//! A panic stops the grid with `trap`. That alone would not show where: a trap
//! ends the CUDA context, and with it everything in the device's memory and its
//! `printf` buffer. So the first thread that panics writes a
//! [`PanicRecord`] to memory that outlives the context: the host allocates one
//! that the device can write (page-locked host memory, mapped into the device's
//! address space), fills it with zeros, and puts its device address into the
//! module's variable [`SINK_SYMBOL`] before it launches. An address of 0, the
//! variable's initial value, means that there is no record.
//!
//! The record holds file, line, column, block and thread. The message is in it
//! only if the kernel crate asks for that:
//!
//! ```toml
//! cuda_std = { …, features = ["panic-messages"] }
//! ```
//!
//! As soon as the handler looks at a message, if only to see whether it is
//! a constant, the compiler keeps the code that formats numbers in every module
//! whose kernels index a slice, and such a kernel takes 50 registers instead of 28.

use core::fmt;

/// The variable of a PTX module (`u64`, in global memory) that holds the device
/// address of a [`PanicRecord`], or 0.
pub const SINK_SYMBOL: &str = "LOCKSTEP_PANIC_SINK";

/// No thread has panicked.
const STATE_EMPTY: u32 = 0;
/// A thread is writing.
#[cfg(target_arch = "nvptx64")]
const STATE_CLAIMED: u32 = 1;
/// The record is complete.
const STATE_WHOLE: u32 = 2;

/// Longest file name and message that a record holds.
const FILE_BYTES: usize = 128;
const MESSAGE_BYTES: usize = 256;

/// The record that the first panicking thread of a launch leaves behind.
///
/// Little-endian, as both sides are. All zeros: no panic.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PanicRecord {
    /// 0 empty, 1 being written, 2 whole.
    state: u32,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
    /// How much of `file` is used.
    file_bytes: u32,
    file: [u8; FILE_BYTES],
    /// How much of `message` is used.
    message_bytes: u32,
    message: [u8; MESSAGE_BYTES],
}

const _: () = assert!(size_of::<PanicRecord>() == PanicRecord::SIZE_BYTES);

impl PanicRecord {
    /// Size of the record in memory.
    pub const SIZE_BYTES: usize = 428;
    /// The required alignment of its address.
    pub const ALIGN_BYTES: usize = 4;

    /// The record in `bytes`, if a thread has panicked.
    ///
    /// It may be incomplete, if the launch was stopped while it was being written;
    /// missing parts are then 0 or empty.
    pub fn from_bytes(bytes: &[u8; Self::SIZE_BYTES]) -> Option<Self> {
        // SAFETY: plain numbers without padding, and the same number of bytes.
        let record: Self = unsafe { core::mem::transmute_copy(bytes) };
        (record.state != STATE_EMPTY).then_some(record)
    }

    /// Whether the thread finished its record.
    pub const fn is_whole(&self) -> bool {
        self.state == STATE_WHOLE
    }

    /// Source file, relative to the repository; its last bytes, if it is long.
    pub fn file(&self) -> &str {
        text(&self.file, self.file_bytes)
    }

    /// The panic's message, truncated if it is too long; empty if the kernels were
    /// compiled without the feature `panic-messages`.
    pub fn message(&self) -> &str {
        text(&self.message, self.message_bytes)
    }

    /// Line, from 1.
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// Column, from 1.
    pub const fn column(&self) -> u32 {
        self.column
    }

    /// Index of the thread's block in the grid.
    pub const fn block(&self) -> [u32; 3] {
        self.block
    }

    /// Index of the thread in its block.
    pub const fn thread(&self) -> [u32; 3] {
        self.thread
    }
}

/// The used part of a text field, up to the first byte that is not UTF-8.
fn text(field: &[u8], used_bytes: u32) -> &str {
    let used = &field[..field.len().min(used_bytes as usize)];
    match core::str::from_utf8(used) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(&used[..error.valid_up_to()]).unwrap_or_default(),
    }
}

impl fmt::Display for PanicRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz}) panicked"
        )?;
        if !self.file().is_empty() {
            write!(f, " at {}:{}:{}", self.file(), self.line, self.column)?;
        }
        if !self.message().is_empty() {
            write!(f, ": {}", self.message())?;
        }
        Ok(())
    }
}

impl fmt::Debug for PanicRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(target_arch = "nvptx64")]
mod on_device {
    use core::arch::asm;
    #[cfg(feature = "panic-messages")]
    use core::fmt::{self, Write};
    use core::mem::offset_of;
    use core::panic::PanicInfo;
    use core::sync::atomic::AtomicU64;

    use super::{FILE_BYTES, PanicRecord, STATE_CLAIMED, STATE_EMPTY, STATE_WHOLE};
    use crate::{thread, warp};

    /// See [`super::SINK_SYMBOL`]; only the host writes it.
    #[unsafe(no_mangle)]
    static LOCKSTEP_PANIC_SINK: AtomicU64 = AtomicU64::new(0);

    /// How often a thread checks whether the faster thread has finished
    /// its record, before it stops the grid anyway.
    const N_LOOKS: u32 = 10_000;

    /// Inlined into `core`'s own function for panics, which is not: so the
    /// compiler sees that the message is unused, and drops the code that would format
    /// it. The attribute affects the optimiser, whatever rustc's lint says.
    #[panic_handler]
    #[allow(unused_attributes)]
    #[inline(always)]
    fn panic(info: &PanicInfo) -> ! {
        // The lanes that panic together elect one, so that the others neither
        // race it nor have to wait for it.
        let together = warp::activemask();
        if warp::lane_id() == together.trailing_zeros() {
            let sink: u64;
            // SAFETY: reads this module's own variable.
            unsafe {
                asm!("ld.volatile.global.u64 {}, [{}];", out(reg64) sink, in(reg64) &LOCKSTEP_PANIC_SINK);
            }
            if sink != 0 {
                // SAFETY: the host put a record's address there.
                unsafe { report(sink, info) };
            }
        }
        // SAFETY: all these lanes execute it.
        unsafe { warp::sync_warp(together) };
        core::intrinsics::abort()
    }

    /// Writes the record at `sink`, or waits until the faster thread
    /// has done so.
    ///
    /// # Safety
    ///
    /// `sink` is the address of a [`PanicRecord`] that the device can write.
    unsafe fn report(sink: u64, info: &PanicInfo) {
        let state = sink + offset_of!(PanicRecord, state) as u64;
        let found: u32;
        // SAFETY: by this function's contract, here and below.
        unsafe {
            asm!(
                "atom.acquire.sys.global.cas.b32 {}, [{}], {}, {};",
                out(reg32) found, in(reg64) state, in(reg32) STATE_EMPTY, in(reg32) STATE_CLAIMED,
            );
        }
        if found != STATE_EMPTY {
            let mut n_looks = 0;
            loop {
                let now: u32;
                // SAFETY: as above.
                unsafe {
                    asm!("ld.acquire.sys.global.b32 {}, [{}];", out(reg32) now, in(reg64) state)
                };
                n_looks += 1;
                if now == STATE_WHOLE || n_looks == N_LOOKS {
                    return;
                }
                thread::nanosleep(1_000);
            }
        }

        let number = |offset: usize, value: u32| {
            // SAFETY: `offset` is that of a field of the record.
            unsafe {
                asm!("st.relaxed.sys.global.b32 [{}], {};", in(reg64) sink + offset as u64, in(reg32) value)
            };
        };
        let numbers = |offset: usize, values: thread::Vec3| {
            number(offset, values.x);
            number(offset + 4, values.y);
            number(offset + 8, values.z);
        };
        numbers(offset_of!(PanicRecord, block), thread::block_idx());
        numbers(offset_of!(PanicRecord, thread), thread::thread_idx());
        if let Some(location) = info.location() {
            number(offset_of!(PanicRecord, line), location.line());
            number(offset_of!(PanicRecord, column), location.column());
            let file = location.file().as_bytes();
            let file = file.last_chunk::<FILE_BYTES>().map_or(file, |end| end);
            let field = sink + offset_of!(PanicRecord, file) as u64;
            // SAFETY: the text was cut to the field's size.
            unsafe { store_text(field, file) };
            number(offset_of!(PanicRecord, file_bytes), file.len() as u32);
        }
        #[cfg(feature = "panic-messages")]
        {
            let mut message = Message { sink, n_written: 0 };
            // It fails when the field is full, which truncates the message.
            let _ = write!(message, "{}", info.message());
            number(
                offset_of!(PanicRecord, message_bytes),
                message.n_written as u32,
            );
        }
        // SAFETY: as above.
        unsafe {
            asm!("st.release.sys.global.b32 [{}], {};", in(reg64) state, in(reg32) STATE_WHOLE)
        };
        thread::system_fence();
    }

    /// Writes `text` from `address` on.
    ///
    /// # Safety
    ///
    /// The device can write this many bytes there.
    unsafe fn store_text(address: u64, text: &[u8]) {
        for (i, &byte) in text.iter().enumerate() {
            // SAFETY: by this function's contract.
            unsafe {
                asm!("st.relaxed.sys.global.b8 [{}], {};", in(reg64) address + i as u64, in(reg16) u16::from(byte))
            };
        }
    }

    /// The record's message, while it is written.
    #[cfg(feature = "panic-messages")]
    struct Message {
        /// Address of the record.
        sink: u64,
        n_written: usize,
    }

    #[cfg(feature = "panic-messages")]
    impl Write for Message {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = super::MESSAGE_BYTES - self.n_written;
            let cut = text.floor_char_boundary(room);
            let offset = offset_of!(PanicRecord, message) + self.n_written;
            // SAFETY: the host put a record's address there, and its field has room.
            unsafe { store_text(self.sink + offset as u64, &text.as_bytes()[..cut]) };
            self.n_written += cut;
            if cut < text.len() {
                return Err(fmt::Error);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_no_panic() {
        assert!(PanicRecord::from_bytes(&[0; PanicRecord::SIZE_BYTES]).is_none());
    }

    #[test]
    fn a_record_reads_as_a_sentence() {
        let mut bytes = [0; PanicRecord::SIZE_BYTES];
        for (word, value) in [2, 17, 9, 3, 0, 0, 31, 1, 0, 8u32].into_iter().enumerate() {
            bytes[4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[40..48].copy_from_slice(b"src/a.rs");
        let record = PanicRecord::from_bytes(&bytes).unwrap();
        assert!(record.is_whole());
        let expected = "thread (31, 1, 0) of block (3, 0, 0) panicked at src/a.rs:17:9";
        assert_eq!(
            fmt::from_fn(|f| write!(f, "{record}")).to_string(),
            expected
        );
    }

    #[test]
    fn a_message_ends_the_sentence() {
        let mut bytes = [0; PanicRecord::SIZE_BYTES];
        bytes[0] = 2;
        bytes[168] = 4;
        bytes[172..176].copy_from_slice(b"why!");
        let record = PanicRecord::from_bytes(&bytes).unwrap();
        assert_eq!(record.message(), "why!");
        let expected = "thread (0, 0, 0) of block (0, 0, 0) panicked: why!";
        assert_eq!(record.to_string(), expected);
    }

    #[test]
    fn lengths_beyond_the_fields_are_cut() {
        let mut bytes = [b'x'; PanicRecord::SIZE_BYTES];
        bytes[0] = 1;
        let record = PanicRecord::from_bytes(&bytes).unwrap();
        assert_eq!(record.file().len(), 128);
        assert_eq!(record.message().len(), 256);
    }

    extern crate std;
    use std::string::ToString;
}
