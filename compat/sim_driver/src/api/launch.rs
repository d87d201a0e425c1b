//! Launches.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::{api, get, list, uncaptured};
use crate::context::Context;
use crate::launch::{KernelLaunch, Shape};
use crate::module::Function;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{PER_THREAD, Stream};
use crate::tasks::Task;

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
    let (context, own) = Stream::of(stream)?;
    Status::INVALID_VALUE.when(!params.is_null() && !extra.is_null())?;
    // A module of another context is reported at once.
    let module = Function::of(function)?.module(&context)?;
    let launch = unsafe { KernelLaunch::gather((function, module), shape, params, extra)? };
    if own.capture().is_none() {
        launch.check_room()?;
    }
    super::submit(stream, Operation::Launch(Arc::new(launch)))
}

/// `CUDA_LAUNCH_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OfDevice {
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    stream: usize,
    params: *const *mut c_void,
}

/// `CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_…_LAUNCH_SYNC`
const NO_SYNC_BEFORE: u32 = 1;
const NO_SYNC_AFTER: u32 = 2;

/// A launch on one of several devices, with its stream.
type Prepared = (Arc<Context>, Arc<Stream>, Arc<KernelLaunch>);

impl OfDevice {
    unsafe fn prepare(&self) -> Outcome<Prepared> {
        // Not in a default stream.
        Status::INVALID_HANDLE.when(self.stream <= PER_THREAD)?;
        let (context, stream) = uncaptured(self.stream)?;
        let module = Function::of(self.function)?.module(&context)?;
        let shape = Shape {
            cooperative: true,
            ..Shape::new(self.grid, self.block, self.shared_bytes)
        };
        let function = (self.function, module);
        let launch =
            unsafe { KernelLaunch::gather(function, shape, self.params, std::ptr::null())? };
        Ok((context, stream, Arc::new(launch)))
    }
}

/// Launches a kernel on each of several devices, all at the same time.
unsafe fn launch_on_all(list: &[OfDevice], flags: u32) -> Outcome {
    Status::INVALID_VALUE
        .when(list.is_empty() || flags & !(NO_SYNC_BEFORE | NO_SYNC_AFTER) != 0)?;
    let prepared = list.iter().map(|one| unsafe { one.prepare() });
    let all = prepared.collect::<Outcome<Vec<Prepared>>>()?;
    for (i, (context, _, launch)) in all.iter().enumerate() {
        let is_alike = |(other, _, like): &Prepared| {
            other.device.ordinal != context.device.ordinal
                && like.shape() == launch.shape()
                && like.function().name() == launch.function().name()
        };
        Status::INVALID_VALUE.when(!all[..i].iter().all(is_alike))?;
    }
    let each = |operation: &dyn Fn(&Prepared) -> Operation| -> Vec<Arc<Task>> {
        let submit = |one: &Prepared| one.1.submit(&one.0, operation(one));
        all.iter().map(submit).collect()
    };
    let wait = |tasks: Vec<Arc<Task>>| {
        for (_, stream, _) in &all {
            tasks
                .iter()
                .for_each(|task| stream.wait_for(Arc::clone(task)));
        }
    };
    if flags & NO_SYNC_BEFORE == 0 {
        wait(each(&|_| Operation::Nothing));
    }
    let launches = each(&|(_, _, launch)| Operation::Launch(Arc::clone(launch)));
    if flags & NO_SYNC_AFTER == 0 {
        wait(launches);
    }
    Ok(())
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
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape::new(grid, block, shared_bytes);
        launch(function, shape, stream, params, extra)
    }
    fn cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz(function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: usize, params: *const *mut c_void) in stream {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { cooperative: true, ..Shape::new(grid, block, shared_bytes) };
        launch(function, shape, stream, params, std::ptr::null())
    }
    fn cuLaunchCooperativeKernelMultiDevice(all: *const OfDevice, n: c_uint, flags: c_uint) {
        launch_on_all(&list(all, n as usize)?, flags)
    }
    fn cuLaunchKernelEx, cuLaunchKernelEx_ptsz(config: *const Config, function: usize, params: *const *mut c_void, extra: *const *mut c_void) with default {
        let (shape, stream) = configured(config, default)?;
        launch(function, shape, stream, params, extra)
    }
}
