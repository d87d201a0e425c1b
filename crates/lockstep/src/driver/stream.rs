//! A stream, and what is put into it.

use super::sys::{self, Handle};
use super::{Event, Function, GraphExec};
use cuda_driver::{DriverError, check};
use std::ffi::{c_int, c_uint, c_void};

/// `CU_STREAM_NON_BLOCKING`: it neither waits for the default stream nor is waited for.
const NON_BLOCKING: c_uint = 1;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: a library may make other calls while it is recorded.
const CAPTURE_MODE_RELAXED: c_int = 2;

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: c_int = 4;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;

/// A stream of the current context.
pub(crate) struct Stream {
    handle: Handle,
}

/// The shape of a launch, and what it may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// Blocks in a cluster, by axis; none for a launch without clusters.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Whether it may start before what is in the stream before it has ended.
    pub(crate) is_early: bool,
}

impl Geometry {
    fn attributes(&self) -> Vec<sys::LaunchAttribute> {
        let attribute = |id, numbers: &[u32]| {
            let mut value = [0; 16];
            for (slot, &number) in value.iter_mut().zip(numbers) {
                *slot = number as c_int;
            }
            sys::LaunchAttribute {
                id,
                padding: 0,
                value,
            }
        };
        let cluster = self
            .cluster
            .map(|cluster| attribute(CLUSTER_DIMENSION, &cluster));
        let early = self
            .is_early
            .then(|| attribute(PROGRAMMATIC_STREAM_SERIALIZATION, &[1]));
        cluster.into_iter().chain(early).collect()
    }
}

impl Stream {
    /// A new one, which does not wait for the default stream.
    pub(crate) fn new() -> Result<Self, DriverError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        check("cuStreamCreateWithPriority", unsafe {
            sys::cuStreamCreateWithPriority(&mut handle, NON_BLOCKING, 0)
        })?;
        Ok(Self { handle })
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.handle
    }

    /// Waits until all that is in it has ended.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe {
            sys::cuStreamSynchronize(self.handle)
        })
    }

    /// Puts an event into it, which is passed when what came before has ended.
    pub(crate) fn mark(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(event.raw(), self.handle)
        })
    }

    /// Puts one run of a graph into it.
    pub(crate) fn run(&self, graph: &GraphExec) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuGraphLaunch", unsafe {
            sys::cuGraphLaunch(graph.raw(), self.handle)
        })
    }

    /// What follows in it waits for the event.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(self.handle, event.raw(), 0)
        })
    }

    /// Puts a launch into it.
    ///
    /// # Safety
    ///
    /// `params` are the addresses of what the kernel takes, each as large as the kernel
    /// says, and what device addresses among them point to is what the kernel asks for. A
    /// kernel that starts early waits for what came before it by itself.
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        geometry: &Geometry,
        params: &[*mut c_void],
    ) -> Result<(), DriverError> {
        let attributes = geometry.attributes();
        let Geometry { grid, block, .. } = geometry;
        let params = params.as_ptr().cast_mut();
        let none = std::ptr::null_mut();
        if attributes.is_empty() {
            // SAFETY: the driver copies the parameters before it returns and does not
            // write them; the rest is the caller's promise.
            let code = unsafe {
                sys::cuLaunchKernel(
                    function.raw(),
                    grid[0],
                    grid[1],
                    grid[2],
                    block[0],
                    block[1],
                    block[2],
                    geometry.shared_bytes,
                    self.handle,
                    params,
                    none,
                )
            };
            return check("cuLaunchKernel", code);
        }
        let config = sys::LaunchConfig {
            grid: *grid,
            block: *block,
            shared_bytes: geometry.shared_bytes,
            stream: self.handle,
            attributes: attributes.as_ptr(),
            n_attributes: attributes.len() as c_uint,
        };
        // SAFETY: as above; the configuration is read before the call returns.
        let code = unsafe { sys::cuLaunchKernelEx(&config, function.raw(), params, none) };
        check("cuLaunchKernelEx", code)
    }

    /// What `work` puts into it, as a graph; it does not run now.
    pub(crate) fn record<E: From<DriverError>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<GraphExec, E> {
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(self.handle, CAPTURE_MODE_RELAXED)
        })?;
        let worked = work();
        // It ends here whatever went wrong.
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is alive; writes one handle.
        let ended = check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(self.handle, &mut graph)
        });
        let graph = super::Graph::of(graph);
        worked?;
        ended?;
        Ok(graph.instantiate()?)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it is ours; the driver lets what is in it end.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.handle) };
    }
}
