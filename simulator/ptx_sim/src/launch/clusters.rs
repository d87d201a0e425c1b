//! The check of a launch's clusters against its kernel and the devices.

use super::options::{Launch, LaunchOptions};
use crate::cluster::{ClusterShape, MAX_CLUSTER, MAX_NON_PORTABLE_CLUSTER};
use ptx::ir::LaunchBounds;

/// The clusters of a launch that is allowed.
pub(super) fn shape(bounds: &LaunchBounds, options: &LaunchOptions) -> ClusterShape {
    let named = options.cluster.or(bounds.required_cluster);
    ClusterShape {
        blocks: named.unwrap_or([1; 3]),
        is_explicit: named.is_some(),
    }
}

/// Checks the clusters of a launch; says what is wrong with them.
pub(super) fn check_clusters(bounds: &LaunchBounds, launch: &Launch<'_>) -> Result<(), String> {
    if bounds.blocks_are_clusters {
        return Err(
            "the kernel declares .blocksareclusters, which is not simulated: leave the directive \
             out, and give the grid in blocks"
                .to_owned(),
        );
    }
    let shape = shape(bounds, &launch.options);
    check_declared(bounds, &shape)?;
    check_size(&shape, launch.options.non_portable_cluster)?;
    let axis = (0..3).find(|&axis| !launch.grid[axis].is_multiple_of(shape.blocks[axis]));
    match axis {
        Some(axis) => Err(format!(
            "the grid has {} blocks along {}, not a multiple of the cluster's {}: give it whole \
             clusters, and let the surplus blocks do nothing",
            launch.grid[axis],
            ["x", "y", "z"][axis],
            shape.blocks[axis]
        )),
        None => Ok(()),
    }
}

/// The shape against what the kernel declares.
fn check_declared(bounds: &LaunchBounds, shape: &ClusterShape) -> Result<(), String> {
    let [x, y, z] = shape.blocks;
    if let Some(required) = bounds.required_cluster
        && required != shape.blocks
    {
        let [rx, ry, rz] = required;
        return Err(format!(
            "a cluster of {x}×{y}×{z} blocks, but the kernel requires {rx}×{ry}×{rz} \
             (.reqnctapercluster): launch it with that, or without naming a cluster"
        ));
    }
    if bounds.needs_cluster && !shape.is_explicit {
        return Err(
            "the kernel must be launched with a cluster (.explicitcluster): name its shape, \
             even if that is one block"
                .to_owned(),
        );
    }
    match bounds.max_cluster {
        Some(most) if u64::from(most) < n_blocks(shape) => Err(format!(
            "a cluster of {x}×{y}×{z} = {} blocks, but the kernel declares at most {most} \
             (.maxclusterrank)",
            n_blocks(shape)
        )),
        _ => Ok(()),
    }
}

/// The shape against what devices have room for.
fn check_size(shape: &ClusterShape, is_non_portable: bool) -> Result<(), String> {
    let [x, y, z] = shape.blocks;
    let n_blocks = n_blocks(shape);
    if n_blocks == 0 {
        return Err(format!(
            "a cluster of {x}×{y}×{z} blocks: it needs at least one along each axis"
        ));
    }
    if n_blocks > u64::from(MAX_NON_PORTABLE_CLUSTER) {
        return Err(format!(
            "a cluster of {x}×{y}×{z} = {n_blocks} blocks, but the limit is {MAX_CLUSTER}, or \
             {MAX_NON_PORTABLE_CLUSTER} where the launch says that it need not run on all \
             devices"
        ));
    }
    if n_blocks > u64::from(MAX_CLUSTER) && !is_non_portable {
        return Err(format!(
            "a cluster of {x}×{y}×{z} = {n_blocks} blocks, but the limit is {MAX_CLUSTER}: \
             allow cluster sizes that are not portable, or make the cluster smaller"
        ));
    }
    Ok(())
}

/// Blocks of a cluster, however large.
fn n_blocks(shape: &ClusterShape) -> u64 {
    let axes = shape.blocks.iter().map(|&n| u64::from(n));
    axes.fold(1, u64::saturating_mul)
}
