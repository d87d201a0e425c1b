//! A thread's device and context: the runtime makes a device's primary context current when a
//! thread first needs one, and leaves a context alone that the program has made current.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::driver;
use crate::error::{Error, Outcome};

thread_local! {
    /// The device that the thread has chosen.
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// Primary contexts that the runtime holds.
#[derive(Default)]
struct Primaries {
    /// By device.
    held: BTreeMap<i32, usize>,
    /// Those ended by a reset of their device: threads may still have them.
    ended: Vec<usize>,
}

fn primaries() -> MutexGuard<'static, Primaries> {
    static PRIMARIES: Mutex<Primaries> = Mutex::new(Primaries {
        held: BTreeMap::new(),
        ended: Vec::new(),
    });
    PRIMARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Initializes the driver.
pub fn initialize() -> Outcome {
    static INITIALIZED: OnceLock<Outcome> = OnceLock::new();
    // SAFETY: it takes no pointers.
    *INITIALIZED.get_or_init(|| unsafe { driver::cuInit(0) })
}

/// Number of devices.
pub fn n_devices() -> Outcome<i32> {
    initialize()?;
    let mut n = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { driver::cuDeviceGetCount(&mut n)? };
    Ok(n)
}

/// An error unless this device exists.
pub fn check_device(device: i32) -> Outcome {
    match (0..n_devices()?).contains(&device) {
        true => Ok(()),
        false => Err(Error::INVALID_DEVICE),
    }
}

/// A device's primary context, which the runtime then holds.
pub fn primary(device: i32) -> Outcome<usize> {
    check_device(device)?;
    let mut primaries = primaries();
    if let Some(&context) = primaries.held.get(&device) {
        return Ok(context);
    }
    let mut context = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { driver::cuDevicePrimaryCtxRetain(&mut context, device)? };
    primaries.ended.retain(|&ended| ended != context);
    primaries.held.insert(device, context);
    Ok(context)
}

/// The thread's context, if it has a living one.
fn context() -> Outcome<Option<usize>> {
    initialize()?;
    let mut context = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { driver::cuCtxGetCurrent(&mut context)? };
    Ok((context != 0 && !primaries().ended.contains(&context)).then_some(context))
}

/// Ensures that the thread has a context, and returns it.
pub fn ready() -> Outcome<usize> {
    if let Some(context) = context()? {
        return Ok(context);
    }
    let context = primary(DEVICE.get())?;
    // SAFETY: it takes no pointers.
    unsafe { driver::cuCtxSetCurrent(context)? };
    Ok(context)
}

/// The thread's device.
pub fn device() -> Outcome<i32> {
    if context()?.is_none() {
        return Ok(DEVICE.get());
    }
    let mut device = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { driver::cuCtxGetDevice(&mut device)? };
    Ok(device)
}

/// Chooses the thread's device.
pub fn set_device(device: i32) -> Outcome {
    let context = primary(device)?;
    DEVICE.set(device);
    // SAFETY: it takes no pointers.
    unsafe { driver::cuCtxSetCurrent(context) }
}

/// Ends the primary context of the thread's device, with everything in it.
pub fn reset() -> Outcome {
    let device = device()?;
    check_device(device)?;
    let mut primaries = primaries();
    let ended = primaries.held.remove(&device);
    primaries.ended.extend(ended);
    // SAFETY: neither takes pointers.
    unsafe {
        driver::cuDevicePrimaryCtxReset_v2(device)?;
        driver::cuCtxSetCurrent(0)
    }
}
