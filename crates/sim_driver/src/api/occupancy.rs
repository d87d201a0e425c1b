//! How many blocks fit on a multiprocessor.

use std::ffi::{c_int, c_uint, c_void};

use super::{api, put};
use crate::context::Context;
use crate::module::Function;
use crate::status::{Outcome, Status};

/// A client's function: dynamic shared memory of a block of some size.
type SharedOfBlock = Option<unsafe extern "C" fn(c_int) -> usize>;

/// Blocks of a kernel that one multiprocessor holds.
fn blocks(function: usize, threads: i32, shared_bytes: usize) -> Outcome<i32> {
    let context = Context::current()?;
    let function = Function::of(function)?;
    let threads = u32::try_from(threads).map_err(|_| Status::INVALID_VALUE)?;
    if threads == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let (own, most) =
        function.with_info(|info| (info.static_shared_bytes, info.bounds.max_threads))?;
    let config = context.device.sim.config();
    let shared = shared_bytes as u64 + u64::from(own);
    if threads > most.unwrap_or(1024) || shared > u64::from(config.shared_limit) {
        return Ok(0);
    }
    let all = config.resident_blocks(threads, shared as u32);
    Ok((all / u64::from(config.n_multiprocessors.max(1))) as i32)
}

/// The block size that keeps most threads busy, and the blocks to fill the device.
unsafe fn best(
    function: usize,
    shared_of: SharedOfBlock,
    shared_bytes: usize,
    limit: i32,
) -> Outcome<(i32, i32)> {
    let context = Context::current()?;
    let most = Function::of(function)?.with_info(|info| info.bounds.max_threads.unwrap_or(1024))?;
    let most = if limit > 0 {
        most.min(limit as u32)
    } else {
        most
    } as i32;
    let mut found = (0, 0, 0);
    let mut threads = (most + 31) / 32 * 32;
    while threads > 0 {
        let size = threads.min(most);
        let shared = match shared_of {
            Some(f) => unsafe { f(size) },
            None => shared_bytes,
        };
        let n = blocks(function, size, shared)?;
        if n * size > found.0 {
            found = (n * size, n, size);
        }
        threads -= 32;
    }
    let n_multiprocessors = context.device.sim.config().n_multiprocessors as i32;
    Ok((found.1 * n_multiprocessors, found.2))
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, function: usize, threads: c_int, shared_bytes: usize) {
        put(out, blocks(function, threads, shared_bytes)?)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: *mut c_int, function: usize, threads: c_int, shared_bytes: usize, flags: c_uint) {
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        put(out, blocks(function, threads, shared_bytes)?)
    }
    fn cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: usize, shared_of: SharedOfBlock, shared_bytes: usize, limit: c_int) {
        let (n, threads) = best(function, shared_of, shared_bytes, limit)?;
        put(grid, n)?;
        put(block, threads)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: usize, shared_of: SharedOfBlock, shared_bytes: usize, limit: c_int, flags: c_uint) {
        if flags > 1 {
            return Err(Status::INVALID_VALUE);
        }
        let (n, threads) = best(function, shared_of, shared_bytes, limit)?;
        put(grid, n)?;
        put(block, threads)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, function: usize, n_blocks: c_int, threads: c_int) {
        let context = Context::current()?;
        let n = u32::try_from(n_blocks).ok().filter(|&n| n > 0).ok_or(Status::INVALID_VALUE)?;
        if blocks(function, threads, 0)? < n_blocks {
            return Err(Status::INVALID_VALUE);
        }
        let own = Function::of(function)?.with_info(|info| info.static_shared_bytes)?;
        let config = context.device.sim.config();
        // One KiB of each block's is the system's; the rest is dealt out in 128 bytes.
        let each = (config.multiprocessor_shared_bytes / n / 128 * 128).saturating_sub(1 << 10);
        put(out, each.min(config.shared_limit).saturating_sub(own) as usize)
    }
    fn cuOccupancyMaxPotentialClusterSize(_out: *mut c_int, _function: usize, _config: *const c_void) {
        Err(Status::NOT_SUPPORTED)
    }
    fn cuOccupancyMaxActiveClusters(_out: *mut c_int, _function: usize, _config: *const c_void) {
        Err(Status::NOT_SUPPORTED)
    }
}
