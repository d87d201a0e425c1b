//! The check of a launch against its kernel and the device.

use super::clusters::check_clusters;
use super::options::{Launch, MAX_BLOCK, MAX_GRID};
use crate::decode::layout::SharedLayout;
use crate::device::DeviceConfig;
use crate::occupancy::MAX_BLOCK_THREADS;
use crate::warp::MAX_WARPS;
use ptx::ir;

const _: () = assert!(MAX_BLOCK_THREADS == 32 * MAX_WARPS);

/// Checks a launch; says what is wrong with it.
pub(super) fn validate(
    limits: &DeviceConfig,
    function: &ir::Function,
    shared: &SharedLayout,
    launch: &Launch<'_>,
) -> Result<(), String> {
    check_sizes(launch)?;
    check_trace(launch)?;
    check_bounds(&function.bounds, launch.block)?;
    check_clusters(&function.bounds, launch)?;
    check_shared_memory(limits, shared, launch.dynamic_shared_bytes)?;
    check_params(function, launch.params)
}

/// Grid and block against what any kernel can have.
fn check_sizes(launch: &Launch<'_>) -> Result<(), String> {
    let Launch { grid, block, .. } = launch;
    for axis in 0..3 {
        let name = ["x", "y", "z"][axis];
        if grid[axis] == 0 || block[axis] == 0 {
            let what = if grid[axis] == 0 { "grid" } else { "block" };
            return Err(format!("the {what} has size 0 along {name}"));
        }
        if grid[axis] > MAX_GRID[axis] {
            return Err(format!(
                "the grid has {} blocks along {name}, but the limit is {}",
                grid[axis], MAX_GRID[axis]
            ));
        }
    }
    let n_threads = n_threads(*block);
    if n_threads > u64::from(MAX_BLOCK_THREADS) {
        return Err(format!(
            "a block of {}×{}×{} = {n_threads} threads, but the limit is {MAX_BLOCK_THREADS}",
            block[0], block[1], block[2]
        ));
    }
    for axis in 0..3 {
        if block[axis] > MAX_BLOCK[axis] {
            let name = ["x", "y", "z"][axis];
            return Err(format!(
                "the block has {} threads along {name}, but the limit is {}",
                block[axis], MAX_BLOCK[axis]
            ));
        }
    }
    Ok(())
}

/// The request for a trace against what can be traced.
fn check_trace(launch: &Launch<'_>) -> Result<(), String> {
    let Some(trace) = launch.options.trace else {
        return Ok(());
    };
    if launch.options.check {
        return Err(
            "a launch is either checked or traced: with checks it may run more than once; launch \
             it twice"
                .to_owned(),
        );
    }
    let n_blocks = n_threads(launch.grid);
    if trace.block >= n_blocks {
        return Err(format!(
            "block {} is to be traced, but the grid has {n_blocks}, numbered from 0",
            trace.block
        ));
    }
    Ok(())
}

/// Threads of a block, or blocks of a grid, however large.
fn n_threads(block: [u32; 3]) -> u64 {
    block.iter().fold(1, |all, &n| all.saturating_mul(n.into()))
}

/// The block against what the kernel declares.
fn check_bounds(bounds: &ir::LaunchBounds, block: [u32; 3]) -> Result<(), String> {
    let n_threads = n_threads(block);
    if let Some(max) = bounds.max_threads
        && n_threads > u64::from(max)
    {
        return Err(format!(
            "a block of {n_threads} threads, but the kernel declares at most {max}"
        ));
    }
    if let Some(required) = bounds.required_block
        && required != block
    {
        return Err(format!(
            "a block of {block:?} threads, but the kernel declares {required:?}"
        ));
    }
    Ok(())
}

/// Shared memory against what the device has.
fn check_shared_memory(
    limits: &DeviceConfig,
    shared: &SharedLayout,
    dynamic_shared_bytes: u32,
) -> Result<(), String> {
    if shared.static_bytes > limits.static_shared_limit {
        return Err(format!(
            "{} bytes of static shared memory, but the limit is {}; larger arrays go into dynamic \
             shared memory: together, a block may have {}",
            shared.static_bytes, limits.static_shared_limit, limits.shared_limit
        ));
    }
    let total = u64::from(shared.static_bytes) + u64::from(dynamic_shared_bytes);
    if total > u64::from(limits.shared_limit) {
        return Err(format!(
            "{} bytes of static and {dynamic_shared_bytes} of dynamic shared memory per block, \
             but the limit is {} in total",
            shared.static_bytes, limits.shared_limit
        ));
    }
    Ok(())
}

/// The parameters against those that the kernel takes.
fn check_params(function: &ir::Function, params: &[&[u8]]) -> Result<(), String> {
    if params.len() != function.params.len() {
        let names: Vec<String> = function.params.iter().map(describe).collect();
        return Err(format!(
            "{} parameters given, but the kernel takes {}{}{}",
            params.len(),
            names.len(),
            if names.is_empty() { "" } else { ": " },
            names.join(", ")
        ));
    }
    for (i, (given, declared)) in params.iter().zip(&function.params).enumerate() {
        if given.len() != declared.size_bytes as usize {
            return Err(format!(
                "parameter {i} has {} bytes, but the kernel takes {}",
                given.len(),
                describe(declared)
            ));
        }
    }
    Ok(())
}

/// A parameter's name, type and size.
fn describe(param: &ir::Param) -> String {
    let ir::Param {
        name,
        ty,
        size_bytes,
        ..
    } = param;
    if *size_bytes == ty.size_bytes() {
        format!("`{name}` ({ty}, {size_bytes} bytes)")
    } else {
        format!("`{name}` ({size_bytes} bytes)")
    }
}
