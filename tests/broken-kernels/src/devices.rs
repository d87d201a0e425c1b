//! Defects between devices. Two devices hand numbers to each other, twice: each stores one in the other's
//! inbox, says so by a flag, waits for its own, and adds what has come.
//!
//! One thread per device.

use cuda_std::atomic::{self, Acquire, Device, Global, Relaxed, Release, System};
use cuda_std::prelude::*;

/// Hands over two numbers; `slot` is where in the inbox each goes.
#[inline(always)]
unsafe fn exchange(
    inboxes: [*mut u32; 2],
    flags: [*mut u32; 2],
    output: *mut u32,
    set: impl Fn(*mut u32, u32),
    wait: impl Fn(*mut u32, u32),
    slot: impl Fn(u32) -> usize,
) {
    let ([own, other], [own_flag, other_flag]) = (inboxes, flags);
    let mut sum = 0;
    let mut step = 0;
    while step < 2 {
        *other.add(slot(step)) = 10 + step;
        set(other_flag, step + 1);
        wait(own_flag, step + 1);
        sum += *own.add(slot(step));
        step += 1;
    }
    *output = sum;
}

#[inline(always)]
unsafe fn release(flag: *mut u32, value: u32) {
    atomic::store(flag, value, Global, System, Release);
}

#[inline(always)]
unsafe fn acquire(flag: *mut u32, value: u32) {
    while atomic::load(flag, Global, System, Acquire) < value {}
}

macro_rules! exchanges {
    ($($(#[$doc:meta])* $name:ident: $set:expr, $wait:expr, $slot:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Inboxes have two numbers, flags one, 0 at first; `output` has room for one. Launch one thread
        /// on each of two devices, at the same time.
        #[kernel]
        pub unsafe fn $name(
            own: *mut u32,
            other: *mut u32,
            own_flag: *mut u32,
            other_flag: *mut u32,
            output: *mut u32,
        ) {
            exchange([own, other], [own_flag, other_flag], output, $set, $wait, $slot);
        }
    )*};
}

exchanges! {
    /// As it should be.
    exchanged_rightly:
        |flag, value| release(flag, value),
        |flag, value| acquire(flag, value),
        |step| (step % 2) as usize;
    /// The flag is for threads of the own device only.
    flag_of_device_scope:
        |flag, value| atomic::store(flag, value, Global, Device, Release),
        |flag, value| acquire(flag, value),
        |step| (step % 2) as usize;
    /// Nothing says that the number comes before the flag.
    flag_without_release:
        |flag, value| atomic::store(flag, value, Global, System, Relaxed),
        |flag, value| acquire(flag, value),
        |step| (step % 2) as usize;
    /// What has not come yet is read.
    halo_not_waited_for:
        |flag, value| release(flag, value),
        |_, _| (),
        |step| (step % 2) as usize;
    /// The second number goes where the first may still be read.
    wrong_parity:
        |flag, value| release(flag, value),
        |flag, value| acquire(flag, value),
        |_| 0;
}

/// Both devices write the same word.
///
/// # Safety
///
/// `word` is a word.
#[kernel]
pub unsafe fn one_word_for_both(word: *mut u32, value: u32) {
    *word = value;
}
