//! Atomic operations, orders and scopes that an element type does not have.
use cuda_std::atomic::{self, Acquire, Device, Global, Relaxed, Release, SeqCst};

unsafe fn cells(f: *mut f32, i: *mut i32, b: *mut u8) {
    unsafe {
        atomic::min(f, 1.0, Global, Device, Relaxed);
        atomic::xor(f, 1.0, Global, Device, Relaxed);
        atomic::inc(i, 1, Global, Device, Relaxed);
        atomic::exch(b, 1, Global, Device, Relaxed);
        atomic::load(i, Global, Device, Release);
        atomic::store(i, 1, Global, Device, Acquire);
        atomic::add(i, 1, Global, Device, SeqCst);
        atomic::add(i, 1, Device, Global, Relaxed);
    }
}

fn main() {}
