//! Stream functions that `objects` lacks: launches with attributes (clusters, an early start), graphs,
//! and waiting for an event without consuming it.

use super::objects::{Event, Function, Stream};
use super::{GraphExec, sys};
use cuda_driver::{DriverError, check};
use std::ffi::{c_int, c_uint, c_void};

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: a library may make other calls during the recording.
const CAPTURE_MODE_RELAXED: c_int = 2;

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
const COOPERATIVE: c_int = 2;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: c_int = 4;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;

/// The shape of a launch and its attributes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// Blocks in a cluster, by axis; none for a launch without clusters.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Whether it may start before the work ahead of it in the stream has finished.
    pub(crate) uses_pdl: bool,
    /// Whether all its blocks must be resident at once.
    pub(crate) is_cooperative: bool,
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
        let pdl = self
            .uses_pdl
            .then(|| attribute(PROGRAMMATIC_STREAM_SERIALIZATION, &[1]));
        let cooperative = self.is_cooperative.then(|| attribute(COOPERATIVE, &[1]));
        cluster.into_iter().chain(pdl).chain(cooperative).collect()
    }
}

impl Stream {
    /// Enqueues one run of a graph.
    pub(crate) fn run(&self, graph: &GraphExec) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuGraphLaunch", unsafe {
            sys::cuGraphLaunch(graph.raw(), self.raw())
        })
    }

    /// Makes what follows in it wait for the event.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both are alive.
        check("cuStreamWaitEvent", unsafe {
            sys::cuStreamWaitEvent(self.raw(), event.raw(), 0)
        })
    }

    /// Enqueues a launch.
    ///
    /// # Safety
    ///
    /// `params` are the addresses of the kernel's parameters, each as large as the kernel declares,
    /// and device addresses among them point to what the kernel requires. A kernel that starts
    /// early does its own waiting for the work before it.
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        geometry: &Geometry,
        params: &[*mut c_void],
    ) -> Result<(), DriverError> {
        let attributes = geometry.attributes();
        let &Geometry {
            grid,
            block,
            shared_bytes,
            ..
        } = geometry;
        if attributes.is_empty() {
            // SAFETY: the caller's promise.
            return unsafe { self.launch_plainly(function, grid, block, shared_bytes, params) };
        }
        let config = sys::LaunchConfig {
            grid,
            block,
            shared_bytes,
            stream: self.raw(),
            attributes: attributes.as_ptr(),
            n_attributes: attributes.len() as c_uint,
        };
        let params = params.as_ptr().cast_mut();
        // SAFETY: the driver copies the parameters and reads the configuration before it returns;
        // the rest is the caller's promise.
        let code =
            unsafe { sys::cuLaunchKernelEx(&config, function.raw(), params, std::ptr::null_mut()) };
        check("cuLaunchKernelEx", code)
    }

    /// Records what `work` enqueues as a graph, without running it.
    pub(crate) fn record<E: From<DriverError>>(
        &self,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<GraphExec, E> {
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe {
            sys::cuStreamBeginCapture_v2(self.raw(), CAPTURE_MODE_RELAXED)
        })?;
        // Recording ends even after an error or a panic.
        let ends = Ends(self);
        let worked = work();
        std::mem::forget(ends);
        let graph = self.end_recording();
        worked?;
        Ok(graph?.instantiate()?)
    }

    fn end_recording(&self) -> Result<super::Graph, DriverError> {
        let mut graph = std::ptr::null_mut();
        // SAFETY: the stream is alive; writes one handle.
        let ended = check("cuStreamEndCapture", unsafe {
            sys::cuStreamEndCapture(self.raw(), &mut graph)
        });
        let graph = super::Graph::of(graph);
        ended.map(|()| graph)
    }
}

/// Ends a recording from the stream, whatever became of it.
struct Ends<'a>(&'a Stream);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let _ = self.0.end_recording();
    }
}
