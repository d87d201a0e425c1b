//! Device memory: allocation, stream-ordered allocation, pools, pointer attributes.

use std::backtrace::Backtrace;
use std::ffi::{c_int, c_uint, c_void};

use super::host::Location;
use super::{api, get, list, put, put_if};
use crate::context::{Allocated, Context};
use crate::driver::{SimDevice, driver};
use crate::happens_before;
use crate::host_memory::{HostKind, HostRange};
use crate::operation::Operation;
use crate::peers;
use crate::pool::{Pool, Share};
use crate::session;
use crate::status::{Outcome, Status};

/// Rows of pitched memory are rounded up to a multiple of this many bytes.
const PITCH: usize = 512;

/// `CUmemAccessDesc`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    location: Location,
    flags: u32,
}

/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;

/// `CU_MEM_ALLOCATION_TYPE_PINNED` and `…_MANAGED`
const PINNED: u32 = 1;
const MANAGED: u32 = 2;

/// `CUmemPoolProps`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    kind: u32,
    handles: u32,
    location: Location,
    security: usize,
    max_bytes: usize,
    usage: u16,
    reserved: [u8; 54],
}

impl PoolProperties {
    /// Of a device's pool of at most this many bytes; 0 for no limit.
    pub fn new(device: c_int, max_bytes: usize) -> Self {
        Self {
            kind: PINNED,
            handles: 0,
            location: Location::of_device(device),
            security: 0,
            max_bytes,
            usage: 0,
            reserved: [0; 54],
        }
    }

    /// The device that it is on.
    fn device(&self) -> Outcome<u32> {
        let is_nowhere = !self.location.is_there()?;
        let is_known = matches!(self.kind, PINNED | MANAGED) && self.reserved == [0; 54];
        Status::INVALID_VALUE.when(!is_known || is_nowhere)?;
        Status::NOT_SUPPORTED.when(self.kind == MANAGED)?;
        self.location.device().map_err(|_| Status::NOT_SUPPORTED)
    }
}

/// Allocates in a context.
fn allocate(context: &Context, n_bytes: usize) -> Outcome<u64> {
    allocate_on(&context.device, context, n_bytes, None)
}

/// Allocates on a device, for a context that may be another one's.
fn allocate_on(
    device: &SimDevice,
    context: &Context,
    n_bytes: usize,
    share: Option<Share>,
) -> Outcome<u64> {
    Status::INVALID_VALUE.when(n_bytes == 0)?;
    let mut allocations = context.allocations();
    let allocated = device.sim.alloc(n_bytes as u64, "an allocation");
    let address = allocated.map_err(|_| Status::OUT_OF_MEMORY)?;
    let reported = driver()?.settings.report.is_some();
    let allocated = Allocated {
        n_bytes: n_bytes as u64,
        made: reported.then(Backtrace::force_capture),
        share,
    };
    allocations.insert(address, allocated);
    happens_before::allocated(&(address..address + n_bytes as u64));
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

/// An allocation in stream order, from a pool or else the one that the stream's device uses: it is
/// there at once, and used later.
fn allocate_async(out: *mut u64, n_bytes: usize, stream: usize, pool: Option<usize>) -> Outcome {
    let (context, stream) = super::usable(stream)?;
    Status::NOT_SUPPORTED.when(stream.open_capture()?.is_some())?;
    session::permit()?;
    let driver = driver()?;
    let pool = match pool {
        Some(pool) => pool,
        None => driver.current_pool(context.device.ordinal as c_int)?,
    };
    let pool = Pool::of(pool)?;
    let device = driver.device(pool.device as c_int)?;
    let address = match n_bytes {
        0 => 0,
        _ => allocate_on(device, &context, n_bytes, Some(pool.take(n_bytes as u64)?))?,
    };
    // SAFETY: the client's pointer, checked for null.
    unsafe { put(out, address) }
}

/// What is known of an address.
struct Known {
    base: u64,
    size_bytes: u64,
    /// Which of the process's allocations it is.
    number: u64,
    /// How the host uses it at the same address, if it does.
    host: Option<HostKind>,
    context: usize,
    ordinal: i32,
    /// The handle of its pool, if it is from one.
    pool: usize,
}

impl Known {
    fn is_managed(&self) -> bool {
        self.host.is_some_and(HostKind::is_managed)
    }

    /// `CU_MEMORYTYPE_HOST` or `…_DEVICE`, which managed memory counts as.
    fn memory(&self) -> u32 {
        match self.host.is_some() && !self.is_managed() {
            true => 1,
            false => 2,
        }
    }
}

fn known(address: u64) -> Outcome<Known> {
    let driver = driver()?;
    if let Some(range) = HostRange::find(address) {
        // Every device has it; the first one's number is its own.
        let allocation = driver.device(0)?.sim.allocation_at(range.base);
        return Ok(Known {
            base: range.base,
            size_bytes: range.size_bytes,
            number: allocation.map_or(0, |allocation| allocation.number),
            host: Some(range.kind),
            context: range.context,
            ordinal: Context::of(range.context).map_or(0, |c| c.device.ordinal as i32),
            pool: 0,
        });
    }
    let device = driver
        .device_of_address(address)
        .ok_or(Status::INVALID_VALUE)?;
    let allocation = device
        .sim
        .allocation_at(address)
        .ok_or(Status::INVALID_VALUE)?;
    let owner = Context::owner_of(allocation.address);
    let pool = owner.as_ref().map_or(0, |owner| {
        let allocations = owner.allocations();
        let allocated = allocations.get(&allocation.address);
        let share = allocated.and_then(|allocated| allocated.share.as_ref());
        share.map_or(0, Share::pool)
    });
    let context = owner.or_else(Context::top);
    Ok(Known {
        base: allocation.address,
        size_bytes: allocation.size_bytes,
        number: allocation.number,
        host: None,
        context: context.map_or(0, |context| context.handle),
        ordinal: device.ordinal as i32,
        pool,
    })
}

/// Whether kernels of the current context may use what is at an address.
fn is_usable(known: &Known) -> Outcome<bool> {
    if known.host.is_some() {
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
            2 => put(out.cast(), found?.memory()),
            3 => {
                Status::INVALID_VALUE.when(!is_usable(&found?)?)?;
                put(out.cast(), address)
            }
            4 => match found? {
                known if known.host.is_some() => put(out.cast(), address),
                _ => Err(Status::INVALID_VALUE),
            },
            6 => put(out.cast::<u8>(), 0),
            // The block that it is in is always a whole allocation.
            7 | 20 => put(out.cast(), found?.number),
            8 => put(out.cast::<u8>(), u8::from(found?.is_managed())),
            9 => put(out.cast(), found?.ordinal),
            10 => put(out.cast::<u8>(), 0),
            11 => put(out.cast(), found?.base),
            12 => put(out.cast(), found?.size_bytes as usize),
            13 => found.and_then(|_| put(out.cast::<u8>(), 1)),
            14 => found.and_then(|_| put(out.cast::<u64>(), 0)),
            15 => found.and_then(|_| put(out.cast::<u32>(), 0)),
            16 => found.and_then(|_| put(out.cast::<u32>(), READ_WRITE)),
            17 => put(out.cast(), found?.pool),
            18 => put(out.cast(), found?.size_bytes as usize),
            19 => put(out.cast(), found?.base),
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
        allocate_async(out, n_bytes, stream, Some(pool))
    }
    fn cuMemFreeAsync, cuMemFreeAsync_ptsz(address: u64, stream: usize) in stream {
        if address == 0 {
            return Ok(());
        }
        let managed = HostRange::find(address).filter(|range| range.kind.is_managed());
        Status::NOT_SUPPORTED.when(managed.is_some())?;
        let owner = Context::owner_of(address).ok_or(Status::INVALID_VALUE)?;
        // Graphs free only what they allocate.
        let is_captured = super::usable(stream)?.1.open_capture()?.is_some();
        Status::INVALID_VALUE.when(is_captured)?;
        // From now on it is not there to be freed, though its memory is until the stream gets here.
        let freed = owner.allocations().remove(&address);
        freed.ok_or(Status::INVALID_VALUE)?;
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
    fn cuDeviceGetDefaultMemPool(out: *mut usize, device: c_int) {
        put(out, driver()?.default_pool(device)?)
    }
    fn cuDeviceGetMemPool(out: *mut usize, device: c_int) {
        put(out, driver()?.current_pool(device)?)
    }
    fn cuDeviceSetMemPool(device: c_int, pool: usize) {
        driver()?.set_current_pool(device, pool)
    }
    fn cuMemPoolCreate(out: *mut usize, properties: *const PoolProperties) {
        let properties = get(properties)?;
        Status::INVALID_VALUE.when(out.is_null())?;
        let (device, max_bytes) = (properties.device()?, properties.max_bytes as u64);
        Status::OUT_OF_MEMORY.when(max_bytes > driver()?.settings.memory_bytes)?;
        put(out, driver()?.new_pool(device, max_bytes)?)
    }
    fn cuMemPoolDestroy(pool: usize) {
        driver()?.destroy_pool(pool)?;
        peers::forget_pool(pool);
        Ok(())
    }
    fn cuMemPoolTrimTo(pool: usize, n_bytes: usize) {
        Pool::of(pool)?.trim_to(n_bytes as u64);
        Ok(())
    }
    fn cuMemPoolSetAttribute(pool: usize, number: c_uint, value: *const c_void) {
        let pool = Pool::of(pool)?;
        let value = match number {
            1..=3 => u64::from(get(value.cast::<u32>())?),
            4 | 6 | 8 => get(value.cast::<u64>())?,
            _ => return Err(Status::INVALID_VALUE),
        };
        // The most that there was can only be forgotten.
        Status::INVALID_VALUE.when(number > 4 && value != 0)?;
        let mut usage = pool.usage();
        match number {
            6 => usage.reserved_high = usage.reserved,
            8 => usage.used_high = usage.used,
            _ => drop(super::unpoisoned(pool.attributes.lock()).insert(number, value)),
        }
        Ok(())
    }
    fn cuMemPoolGetAttribute(pool: usize, number: c_uint, out: *mut c_void) {
        let pool = Pool::of(pool)?;
        let set = super::unpoisoned(pool.attributes.lock()).get(&number).copied();
        let usage = *pool.usage();
        match number {
            1..=3 => put(out.cast::<u32>(), set.unwrap_or(1) as u32),
            4 => put(out.cast::<u64>(), set.unwrap_or(0)),
            5 => put(out.cast(), usage.reserved),
            6 => put(out.cast(), usage.reserved_high),
            7 => put(out.cast(), usage.used),
            8 => put(out.cast(), usage.used_high),
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
