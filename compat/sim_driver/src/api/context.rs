//! Primary contexts and a program's own, and which one a thread uses.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{api, put, put_if, unpoisoned};
use crate::context::{Context, Primary, forget_current};
use crate::driver::driver;
use crate::session;
use crate::status::{Outcome, Status};

/// Flags that a context may have.
const FLAGS: u32 = 0xff;

/// Creates a context on a device and makes it current.
fn create(flags: u32, device: i32) -> Outcome<usize> {
    let driver = driver()?;
    Status::INVALID_VALUE.when(flags & !FLAGS != 0)?;
    let context = Context::new(driver.device(device)?, flags, false)?;
    let handle = context.handle;
    Context::push(context);
    Ok(handle)
}

/// Waits for all of a context's work, of which none may be captured.
fn synchronize(context: &Context) -> Outcome {
    session::permit_wait(context.handle)?;
    context.synchronize()
}

api! {
    fn cuDevicePrimaryCtxRetain(out: *mut usize, device: c_int) {
        let device = driver()?.device(device)?;
        device.check()?;
        let primary = Primary::of(device);
        let mut primary = unpoisoned(primary.lock());
        let context = match &primary.context {
            Some(context) => Arc::clone(context),
            None => Context::new(device, primary.flags, true)?,
        };
        put(out, context.handle)?;
        primary.context = Some(context);
        primary.n_retained += 1;
        Ok(())
    }
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        let primary = Primary::of(driver()?.device(device)?);
        let mut primary = unpoisoned(primary.lock());
        Status::INVALID_CONTEXT.when(primary.n_retained == 0)?;
        primary.n_retained -= 1;
        if primary.n_retained > 0 {
            return Ok(());
        }
        let context = primary.context.take();
        drop(primary);
        context.map_or(Ok(()), |context| context.destroy())
    }
    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        let primary = Primary::of(driver()?.device(device)?);
        let context = unpoisoned(primary.lock()).context.take();
        // Who retained it holds it still, anew.
        let Some(context) = context else { return Ok(()) };
        context.destroy()?;
        let mut primary = unpoisoned(primary.lock());
        if primary.n_retained > 0 {
            primary.n_retained = 0;
        }
        Ok(())
    }
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint) {
        Status::INVALID_VALUE.when(flags & !FLAGS != 0)?;
        let primary = Primary::of(driver()?.device(device)?);
        let mut primary = unpoisoned(primary.lock());
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int) {
        let primary = Primary::of(driver()?.device(device)?);
        let primary = unpoisoned(primary.lock());
        put_if(flags, primary.flags);
        put_if(active, c_int::from(primary.context.is_some()));
        Ok(())
    }
    // On a GPU, its context is for 32-bit addresses; here it is like any other.
    fn cuCtxCreate(out: *mut usize, flags: c_uint, device: c_int) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, create(flags, device)?)
    }
    fn cuCtxCreate_v2(out: *mut usize, flags: c_uint, device: c_int) = cuCtxCreate;
    fn cuCtxCreate_v3(out: *mut usize, _affinity: *mut c_void, n: c_int, flags: c_uint, device: c_int) {
        Status::INVALID_VALUE.when(out.is_null() || n < 0)?;
        Status::NOT_SUPPORTED.when(n > 0)?;
        put(out, create(flags, device)?)
    }
    fn cuCtxCreate_v4(out: *mut usize, _params: *mut c_void, flags: c_uint, device: c_int) {
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, create(flags, device)?)
    }
    fn cuCtxDestroy_v2(handle: usize) {
        let context = Context::of(handle)?;
        Status::INVALID_CONTEXT.when(context.is_primary)?;
        context.destroy()?;
        forget_current(&context);
        Ok(())
    }
    fn cuCtxPushCurrent_v2(handle: usize) {
        Context::push(Context::of(handle)?);
        Ok(())
    }
    fn cuCtxPopCurrent_v2(out: *mut usize) {
        driver()?;
        let context = Context::pop().ok_or(Status::INVALID_CONTEXT)?;
        put_if(out, context.handle);
        Ok(())
    }
    fn cuCtxSetCurrent(handle: usize) {
        driver()?;
        let context = if handle == 0 { None } else { Some(Context::of(handle)?) };
        Context::set_current(context);
        Ok(())
    }
    fn cuCtxGetCurrent(out: *mut usize) {
        driver()?;
        put(out, Context::top().map_or(0, |context| context.handle))
    }
    fn cuCtxGetDevice(out: *mut c_int) {
        driver()?;
        let context = Context::top().ok_or(Status::INVALID_CONTEXT)?;
        put(out, context.device.ordinal as c_int)
    }
    fn cuCtxGetDevice_v2(out: *mut c_int, handle: usize) {
        let context = if handle == 0 { Context::current()? } else { Context::of(handle)? };
        put(out, context.device.ordinal as c_int)
    }
    fn cuCtxGetFlags(out: *mut c_uint) {
        put(out, Context::current()?.flags.load(Ordering::Relaxed))
    }
    fn cuCtxSetFlags(flags: c_uint) {
        Status::INVALID_VALUE.when(flags & !FLAGS != 0)?;
        Context::current()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }
    fn cuCtxGetId(handle: usize, out: *mut u64) {
        let context = if handle == 0 { Context::current()? } else { Context::of(handle)? };
        put(out, context.legacy().id)
    }
    fn cuCtxGetApiVersion(handle: usize, out: *mut c_uint) {
        if handle == 0 { Context::current()? } else { Context::of(handle)? };
        put(out, 3020)
    }
    fn cuCtxSynchronize() {
        let context = Context::current()?;
        synchronize(&context)
    }
    fn cuCtxSynchronize_v2(handle: usize) {
        let context = if handle == 0 { Context::current()? } else { Context::of(handle)? };
        synchronize(&context)
    }
    fn cuCtxGetLimit(out: *mut usize, limit: c_uint) {
        let context = Context::current()?;
        put(out, context.limit(limit)?)
    }
    fn cuCtxSetLimit(limit: c_uint, value: usize) {
        Context::current()?.set_limit(limit, value)
    }
    fn cuCtxResetPersistingL2Cache() {
        Context::current().map(drop)
    }
    fn cuCtxGetCacheConfig(out: *mut c_uint) {
        Context::current()?;
        put(out, 0)
    }
    fn cuCtxSetCacheConfig(config: c_uint) {
        Context::current()?;
        if config > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
    fn cuCtxGetSharedMemConfig(out: *mut c_uint) {
        Context::current()?;
        put(out, 1)
    }
    fn cuCtxSetSharedMemConfig(config: c_uint) {
        Context::current()?;
        if config > 2 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        Context::current()?;
        put_if(least, 0);
        put_if(greatest, -5);
        Ok(())
    }
    fn cuCtxEnablePeerAccess(peer: usize, flags: c_uint) {
        let context = Context::current()?;
        let peer = Context::of(peer)?;
        Status::INVALID_VALUE.when(flags != 0)?;
        context.enable_peer(&peer)
    }
    fn cuCtxDisablePeerAccess(peer: usize) {
        Context::current()?.disable_peer(&*Context::of(peer)?)
    }
    fn cuCtxAttach(_out: *mut usize, _flags: c_uint) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuCtxGetExecAffinity(_out: *mut c_void, _kind: c_uint) {
        Err(Status::NOT_SUPPORTED)
    }
}
