//! The number of blocks that fit on an SM.

use std::ffi::{c_int, c_uint};

use ptx_sim::BlockNeeds;

use super::launch::{Config, configured};
use super::{api, put};
use crate::context::Context;
use crate::launch::Shape;
use crate::module::Function;
use crate::status::{Outcome, Status};

/// A client's function: the dynamic shared memory of a block of a given size.
type SharedOfBlock = Option<unsafe extern "C" fn(c_int) -> usize>;

/// Number of a kernel's blocks that fit on one SM.
fn blocks(function: usize, threads: i32, shared_bytes: usize) -> Outcome<i32> {
    let context = Context::current()?;
    let function = Function::of(function)?;
    let known = function.attributes()?;
    let threads = u32::try_from(threads).ok().filter(|&n| n > 0);
    let threads = threads.ok_or(Status::INVALID_VALUE)?;
    let most_shared = function.dynamic_limit(known.static_shared_bytes);
    if threads > known.max_threads || shared_bytes > most_shared as usize {
        return Ok(0);
    }
    let needs = function.needs(threads, shared_bytes)?;
    Ok(context.device.sim.config().active_blocks(needs) as i32)
}

/// What a block of a launch takes of an SM; `None` if the kernel cannot have it.
fn needs_of(function: &Function, shape: &Shape) -> Outcome<Option<BlockNeeds>> {
    let known = function.attributes()?;
    let axes = shape.block.iter();
    let threads = axes.fold(1, |all: u32, &n| all.saturating_mul(n));
    let fits = (1..=known.max_threads).contains(&threads)
        && shape.shared_bytes <= function.dynamic_limit(known.static_shared_bytes);
    fits.then(|| function.needs(threads, shape.shared_bytes as usize))
        .transpose()
}

/// Number of a launch's clusters that the device holds at once.
fn clusters(function: usize, shape: Shape) -> Outcome<i32> {
    let context = Context::current()?;
    let function = Function::of(function)?;
    let bounds = function.with_info(|info| info.bounds)?;
    let cluster = shape.cluster.or(function.required_cluster(&bounds));
    let axes = cluster.unwrap_or([1; 3]).into_iter();
    let n_blocks = axes.fold(1, u32::saturating_mul);
    Status::INVALID_CLUSTER_SIZE.when(n_blocks == 0 || n_blocks > function.most_of_cluster())?;
    let config = context.device.sim.config();
    let needs = needs_of(&function, &shape)?;
    Ok(needs.map_or(0, |needs| config.active_clusters(needs, n_blocks) as i32))
}

/// Number of blocks in the largest cluster that a launch could have.
fn largest_cluster(function: usize, shape: Shape) -> Outcome<i32> {
    let context = Context::current()?;
    let function = Function::of(function)?;
    let config = context.device.sim.config();
    let needs = needs_of(&function, &shape)?;
    let most = function.most_of_cluster();
    Ok(needs.map_or(0, |needs| config.largest_cluster(needs, most) as i32))
}

/// The block size that keeps most threads busy, and the number of blocks that fills the device.
unsafe fn best(
    function: usize,
    shared_of: SharedOfBlock,
    shared_bytes: usize,
    limit: i32,
) -> Outcome<(i32, i32)> {
    let context = Context::current()?;
    let function = Function::of(function)?;
    let known = function.attributes()?;
    let most_dynamic = function.dynamic_limit(known.static_shared_bytes) as usize;
    let most = match u32::try_from(limit) {
        Ok(limit) if limit > 0 => known.max_threads.min(limit),
        _ => known.max_threads,
    };
    let shared = |threads: u32| {
        let dynamic_bytes = match shared_of {
            Some(f) => unsafe { f(threads as c_int) },
            None => shared_bytes,
        };
        match dynamic_bytes > most_dynamic {
            true => u32::MAX,
            false => known
                .static_shared_bytes
                .saturating_add(dynamic_bytes as u32),
        }
    };
    let config = context.device.sim.config();
    let best = config.best_block(most, known.registers, shared);
    let grid = config.n_multiprocessors * best.blocks;
    Ok((grid as i32, best.threads as i32))
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(out: *mut c_int, function: usize, threads: c_int, shared_bytes: usize) {
        put(out, blocks(function, threads, shared_bytes)?)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: *mut c_int, function: usize, threads: c_int, shared_bytes: usize, flags: c_uint) {
        Status::INVALID_VALUE.when(flags > 1)?;
        put(out, blocks(function, threads, shared_bytes)?)
    }
    fn cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: usize, shared_of: SharedOfBlock, shared_bytes: usize, limit: c_int) {
        let (n, threads) = best(function, shared_of, shared_bytes, limit)?;
        put(grid, n)?;
        put(block, threads)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: usize, shared_of: SharedOfBlock, shared_bytes: usize, limit: c_int, flags: c_uint) {
        Status::INVALID_VALUE.when(flags > 1)?;
        let (n, threads) = best(function, shared_of, shared_bytes, limit)?;
        put(grid, n)?;
        put(block, threads)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, function: usize, n_blocks: c_int, threads: c_int) {
        let context = Context::current()?;
        let n = u32::try_from(n_blocks).ok().filter(|&n| n > 0).ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(blocks(function, threads, 0)? < n_blocks)?;
        let own = Function::of(function)?.with_info(|info| info.static_shared_bytes)?;
        let config = context.device.sim.config();
        // The system takes one KiB of each block's share; the rest is allocated in units of 128
        // bytes.
        let each = (config.multiprocessor_shared_bytes / n / 128 * 128).saturating_sub(1 << 10);
        put(out, each.min(config.shared_limit).saturating_sub(own) as usize)
    }
    fn cuOccupancyMaxPotentialClusterSize(out: *mut c_int, function: usize, config: *const Config) {
        put(out, largest_cluster(function, configured(config, 0)?.0)?)
    }
    fn cuOccupancyMaxActiveClusters(out: *mut c_int, function: usize, config: *const Config) {
        put(out, clusters(function, configured(config, 0)?.0)?)
    }
}
