//! Launches.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::{api, get, list};
use crate::launch::{KernelLaunch, Shape};
use crate::module::Function;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::Stream;

/// `CU_LAUNCH_ATTRIBUTE_…` that change what is computed.
const COOPERATIVE: u32 = 2;
const CLUSTER_DIMENSION: u32 = 4;
const LAST: u32 = 20;

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: usize,
    attributes: *const Attribute,
    n_attributes: u32,
}

impl Config {
    /// For a launch with these attributes.
    pub fn new(
        (grid, block): ([u32; 3], [u32; 3]),
        shared_bytes: u32,
        stream: usize,
        attributes: &[Attribute],
    ) -> Self {
        Self {
            grid,
            block,
            shared_bytes,
            stream,
            attributes: attributes.as_ptr(),
            n_attributes: attributes.len() as u32,
        }
    }
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    number: u32,
    pad: u32,
    value: [u32; 16],
}

impl Attribute {
    /// The size of a cluster in blocks.
    pub fn cluster([x, y, z]: [u32; 3]) -> Self {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&[x, y, z]);
        Self {
            number: CLUSTER_DIMENSION,
            pad: 0,
            value,
        }
    }
}

unsafe fn launch(
    function: usize,
    shape: Shape,
    stream: usize,
    params: *const *mut c_void,
    extra: *const *mut c_void,
) -> Outcome {
    let (context, _) = Stream::of(stream)?;
    Status::INVALID_VALUE.when(!params.is_null() && !extra.is_null())?;
    // A module of another context is reported at once.
    let module = Function::of(function)?.module(&context)?;
    let launch = unsafe { KernelLaunch::gather((function, module), shape, params, extra)? };
    super::submit(stream, Operation::Launch(Arc::new(launch)))
}

/// How a configuration launches a kernel, and in which stream; `default` if it names none.
pub(super) unsafe fn configured(config: *const Config, default: usize) -> Outcome<(Shape, usize)> {
    let config = unsafe { get(config)? };
    let attributes = unsafe { list(config.attributes, config.n_attributes as usize)? };
    let mut cooperative = false;
    let mut cluster = None;
    for attribute in attributes {
        match attribute.number {
            COOPERATIVE => cooperative = attribute.value[0] != 0,
            CLUSTER_DIMENSION => {
                let [x, y, z, ..] = attribute.value;
                cluster = Some([x, y, z]);
            }
            ..=LAST => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    let shape = Shape {
        grid: config.grid,
        block: config.block,
        shared_bytes: config.shared_bytes,
        cooperative,
        cluster,
    };
    let stream = match config.stream {
        0 => default,
        stream => stream,
    };
    Ok((shape, stream))
}

api! {
    fn cuLaunchKernel, cuLaunchKernel_ptsz(function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: usize, params: *const *mut c_void, extra: *const *mut c_void) in stream {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
            cooperative: false,
            cluster: None,
        };
        launch(function, shape, stream, params, extra)
    }
    fn cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz(function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: usize, params: *const *mut c_void) in stream {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
            cooperative: true,
            cluster: None,
        };
        launch(function, shape, stream, params, std::ptr::null())
    }
    fn cuLaunchKernelEx, cuLaunchKernelEx_ptsz(config: *const Config, function: usize, params: *const *mut c_void, extra: *const *mut c_void) with default {
        let (shape, stream) = configured(config, default)?;
        launch(function, shape, stream, params, extra)
    }
}
