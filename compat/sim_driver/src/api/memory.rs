//! Device memory: allocation, stream-ordered allocation, pools, pointer attributes.

use std::backtrace::Backtrace;
use std::ffi::{c_int, c_uint, c_void};

use super::{api, get, list, put, put_if};
use crate::context::{Allocated, Context};
use crate::driver::{SimDevice, driver};
use crate::host_memory::{HostKind, HostRange};
use crate::operation::Operation;
use crate::peers;
use crate::pool::Pool;
use crate::status::{Outcome, Status};
use crate::stream::Stream;

/// Rows of pitched memory are rounded up to a multiple of this many bytes.
const PITCH: usize = 512;

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    number: c_int,
}

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    location: Location,
    flags: u32,
}

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;

impl Location {
    /// The device that it is.
    fn device(self) -> Outcome<u32> {
        // `CU_MEM_LOCATION_TYPE_DEVICE`
        Status::INVALID_VALUE.when(self.kind != 1)?;
        Ok(driver()?.device(self.number)?.ordinal)
    }
}

/// Allocates in a context.
fn allocate(context: &Context, n_bytes: usize) -> Outcome<u64> {
    allocate_on(&context.device, context, n_bytes)
}

/// Allocates on a device, for a context that may be another one's.
fn allocate_on(device: &SimDevice, context: &Context, n_bytes: usize) -> Outcome<u64> {
    Status::INVALID_VALUE.when(n_bytes == 0)?;
    let mut allocations = context.allocations();
    let label = format!("an allocation of {n_bytes} bytes");
    let allocated = device.sim.alloc(n_bytes as u64, &label);
    let address = allocated.map_err(|_| Status::OUT_OF_MEMORY)?;
    let reported = driver()?.settings.report.is_some();
    let allocated = Allocated {
        n_bytes: n_bytes as u64,
        made: reported.then(Backtrace::force_capture),
    };
    allocations.insert(address, allocated);
    Ok(address)
}

/// Frees what `cuMemAlloc` and similar functions allocated, after all work.
fn free(address: u64) -> Outcome {
    let context = Context::current()?;
    if address == 0 {
        return Ok(());
    }
    let driver = driver()?;
    let device = driver.device_of_address(address);
    let Some(device) = device else {
        let managed = HostRange::find(address).filter(|range| range.base == address);
        Status::INVALID_VALUE.when(managed.is_none_or(|range| range.kind != HostKind::Managed))?;
        context.synchronize()?;
        return match driver.free_host(address, |kind| kind == HostKind::Managed) {
            true => Ok(()),
            false => Err(Status::INVALID_VALUE),
        };
    };
    let owner = Context::owner_of(address).ok_or(Status::INVALID_VALUE)?;
    owner.synchronize()?;
    owner
        .allocations()
        .remove(&address)
        .ok_or(Status::INVALID_VALUE)?;
    device.sim.free(address).map_err(|_| Status::INVALID_VALUE)
}

/// An allocation in stream order, on the stream's device or another one: it is there at once, and
/// used later.
fn allocate_async(out: *mut u64, n_bytes: usize, stream: usize, device: Option<u32>) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    Status::NOT_SUPPORTED.when(stream.capture().is_some())?;
    let device = match device {
        Some(device) => driver()?.device(device as c_int)?,
        None => &context.device,
    };
    let address = match n_bytes {
        0 => 0,
        _ => allocate_on(device, &context, n_bytes)?,
    };
    // SAFETY: the client's pointer, checked for null.
    unsafe { put(out, address) }
}

/// What is known of an address.
struct Known {
    base: u64,
    size_bytes: u64,
    /// `CU_MEMORYTYPE_HOST` or `…_DEVICE`
    memory: u32,
    is_managed: bool,
    context: usize,
    ordinal: i32,
}

fn known(address: u64) -> Outcome<Known> {
    let driver = driver()?;
    if let Some(range) = HostRange::find(address) {
        return Ok(Known {
            base: range.base,
            size_bytes: range.size_bytes,
            memory: 1,
            is_managed: range.kind.is_managed(),
            context: range.context,
            ordinal: Context::of(range.context).map_or(0, |c| c.device.ordinal as i32),
        });
    }
    let device = driver
        .device_of_address(address)
        .ok_or(Status::INVALID_VALUE)?;
    let allocation = device
        .sim
        .allocation_at(address)
        .ok_or(Status::INVALID_VALUE)?;
    let context = Context::owner_of(allocation.address).or_else(Context::top);
    Ok(Known {
        base: allocation.address,
        size_bytes: allocation.size_bytes,
        memory: 2,
        is_managed: false,
        context: context.map_or(0, |context| context.handle),
        ordinal: device.ordinal as i32,
    })
}

/// Whether kernels of the current context may use what is at an address.
fn is_usable(known: &Known) -> Outcome<bool> {
    if known.memory == 1 {
        return Ok(true);
    }
    let owner = driver()?.device(known.ordinal)?;
    Ok(Context::top().is_none_or(|context| peers::has_access(&context.device, owner)))
}

/// One attribute of a pointer.
unsafe fn attribute(out: *mut c_void, number: c_uint, address: u64) -> Outcome {
    let found = known(address);
    unsafe {
        match number {
            1 => put(out.cast(), found?.context),
            2 => put(out.cast(), found?.memory),
            3 => {
                Status::INVALID_VALUE.when(!is_usable(&found?)?)?;
                put(out.cast(), address)
            }
            4 => match found? {
                known if known.memory == 1 => put(out.cast(), address),
                _ => Err(Status::INVALID_VALUE),
            },
            6 => put(out.cast::<u8>(), 0),
            7 => put(out.cast(), found?.base),
            8 => put(out.cast::<u8>(), u8::from(found?.is_managed)),
            9 => put(out.cast(), found?.ordinal),
            10 => put(out.cast::<u8>(), 0),
            11 => put(out.cast(), found?.base),
            12 => put(out.cast(), found?.size_bytes as usize),
            13 => put(out.cast::<u8>(), u8::from(found.is_ok())),
            14 | 16 => put(out.cast::<u64>(), 0),
            15 => put(out.cast::<u32>(), 3),
            17 => put(out.cast::<usize>(), 0),
            18 => put(out.cast(), found?.base),
            19 => put(out.cast(), found?.size_bytes as usize),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

api! {
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let context = Context::current()?;
        let all = context.device.sim.config().memory_bytes;
        put_if(free, all.saturating_sub(context.device.sim.used_bytes()) as usize);
        put_if(total, all as usize);
        Ok(())
    }
    fn cuMemAlloc_v2(out: *mut u64, n_bytes: usize) {
        let context = Context::current()?;
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, allocate(&context, n_bytes)?)
    }
    fn cuMemAllocPitch_v2(out: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint) {
        let context = Context::current()?;
        Status::INVALID_VALUE.when(out.is_null() || pitch.is_null() || !matches!(element, 4 | 8 | 16))?;
        let row = width.checked_next_multiple_of(PITCH).ok_or(Status::INVALID_VALUE)?;
        let n_bytes = row.checked_mul(height).ok_or(Status::OUT_OF_MEMORY)?;
        put(out, allocate(&context, n_bytes)?)?;
        put(pitch, row)
    }
    fn cuMemFree_v2(address: u64) {
        free(address)
    }
    fn cuMemAllocAsync, cuMemAllocAsync_ptsz(out: *mut u64, n_bytes: usize, stream: usize) in stream {
        allocate_async(out, n_bytes, stream, None)
    }
    fn cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz(out: *mut u64, n_bytes: usize, pool: usize, stream: usize) in stream {
        let device = Pool::of(pool)?.device;
        allocate_async(out, n_bytes, stream, Some(device))
    }
    fn cuMemFreeAsync, cuMemFreeAsync_ptsz(address: u64, stream: usize) in stream {
        if address == 0 {
            return Ok(());
        }
        let owner = Context::owner_of(address).ok_or(Status::INVALID_VALUE)?;
        if Stream::of(stream)?.1.capture().is_none() {
            // From now on it is not there to be freed, though its memory is until the stream gets here.
            let freed = owner.allocations().remove(&address);
            freed.ok_or(Status::INVALID_VALUE)?;
        }
        super::submit(stream, Operation::Free(address))
    }
    fn cuMemGetAddressRange_v2(base: *mut u64, n_bytes: *mut usize, address: u64) {
        Context::current()?;
        let known = known(address).map_err(|_| Status::NOT_FOUND)?;
        put_if(base, known.base);
        put_if(n_bytes, known.size_bytes as usize);
        Ok(())
    }
    fn cuPointerGetAttribute(out: *mut c_void, number: c_uint, address: u64) {
        attribute(out, number, address)
    }
    fn cuPointerGetAttributes(n: c_uint, numbers: *const c_uint, out: *const *mut c_void, address: u64) {
        for (number, out) in list(numbers, n as usize)?.into_iter().zip(list(out, n as usize)?) {
            Status::INVALID_VALUE.when(out.is_null())?;
            // What does not apply is zero: this function's own rule.
            match attribute(out, number, address) {
                Err(_) if matches!(number, 2 | 9) => put(out.cast::<u32>(), 0)?,
                Err(_) if matches!(number, 6 | 8 | 10 | 13) => put(out.cast::<u8>(), 0)?,
                Err(_) => put(out.cast::<u64>(), 0)?,
                Ok(()) => {}
            }
        }
        Ok(())
    }
    fn cuPointerSetAttribute(_value: *const c_void, number: c_uint, address: u64) {
        known(address)?;
        if number == 6 { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }
    fn cuMemAdvise(address: u64, _n_bytes: usize, _advice: c_uint, _device: c_int) {
        known(address).map(drop)
    }
    fn cuMemAdvise_v2(address: u64, _n_bytes: usize, _advice: c_uint, _location: u64) {
        known(address).map(drop)
    }
    fn cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz(address: u64, _n_bytes: usize, _device: c_int, stream: usize) in stream {
        known(address)?;
        super::submit(stream, Operation::Nothing)
    }
    fn cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz(address: u64, _n_bytes: usize, _location: u64, _flags: c_uint, stream: usize) in stream {
        known(address)?;
        super::submit(stream, Operation::Nothing)
    }
    fn cuMemRangeGetAttribute(_out: *mut c_void, _size: usize, _number: c_uint, address: u64, _n_bytes: usize) {
        known(address)?;
        Err(Status::NOT_SUPPORTED)
    }

    fn cuDeviceGetDefaultMemPool(out: *mut usize, device: c_int) {
        put(out, driver()?.default_pool(device)?)
    }
    fn cuDeviceGetMemPool(out: *mut usize, device: c_int) {
        put(out, driver()?.current_pool(device)?)
    }
    fn cuDeviceSetMemPool(device: c_int, pool: usize) {
        driver()?.set_current_pool(device, pool)
    }
    fn cuMemPoolCreate(out: *mut usize, properties: *const [u32; 4]) {
        let device = get(properties)?[3];
        driver()?.device(device as c_int)?;
        Status::INVALID_VALUE.when(out.is_null())?;
        put(out, driver()?.new_pool(device)?)
    }
    fn cuMemPoolDestroy(pool: usize) {
        driver()?.destroy_pool(pool)
    }
    fn cuMemPoolTrimTo(pool: usize, _n_bytes: usize) {
        Pool::of(pool).map(drop)
    }
    fn cuMemPoolSetAttribute(pool: usize, number: c_uint, value: *const c_void) {
        let pool = Pool::of(pool)?;
        let value = match number {
            1..=3 => u64::from(get(value.cast::<u32>())?),
            4 | 6 | 8 => get(value.cast::<u64>())?,
            _ => return Err(Status::INVALID_VALUE),
        };
        super::unpoisoned(pool.attributes.lock()).insert(number, value);
        Ok(())
    }
    fn cuMemPoolGetAttribute(pool: usize, number: c_uint, out: *mut c_void) {
        let pool = Pool::of(pool)?;
        let set = super::unpoisoned(pool.attributes.lock()).get(&number).copied();
        let used = driver()?.device(pool.device as c_int)?.sim.used_bytes();
        match number {
            1..=3 => put(out.cast::<u32>(), set.unwrap_or(1) as u32),
            4 => put(out.cast::<u64>(), set.unwrap_or(0)),
            5..=8 => put(out.cast::<u64>(), used),
            _ => Err(Status::INVALID_VALUE),
        }
    }
    fn cuMemPoolSetAccess(pool: usize, accesses: *const Access, n: usize) {
        let owner = Pool::of(pool)?.device;
        for Access { location, flags } in list(accesses, n)? {
            let device = location.device()?;
            Status::INVALID_VALUE.when(flags > READ_WRITE)?;
            if device == owner {
                // The device itself cannot be kept out.
                Status::INVALID_VALUE.when(flags != READ_WRITE)?;
                continue;
            }
            peers::set_pool_access(pool, device, owner, flags != 0)?;
        }
        Ok(())
    }
    fn cuMemPoolGetAccess(flags: *mut c_uint, pool: usize, location: *const Location) {
        let owner = Pool::of(pool)?.device;
        let device = get(location)?.device()?;
        let may = device == owner || peers::has_pool_access(pool, device, owner);
        put(flags, if may { READ_WRITE } else { 0 })
    }
}
