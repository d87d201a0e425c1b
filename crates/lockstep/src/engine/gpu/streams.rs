//! The user's own streams, in addition to the engine's.

use super::device::Gpu;
use crate::driver::{Event, GraphExec, Stream};
use crate::engine::{Engine, EngineError, Place, Prepared};
use cuda_driver::DriverError;

impl Gpu {
    pub(crate) fn new_stream(&self) -> Result<Stream, EngineError> {
        self.with_stream(Stream::new)
    }

    /// Makes driver calls that belong to no launch, if the GPU is not lost.
    pub(crate) fn with_stream<R>(
        &self,
        work: impl FnOnce() -> Result<R, DriverError>,
    ) -> Result<R, EngineError> {
        self.with_session(|_| Ok(work()?))
    }

    /// Enqueues a launch in a stream and does not wait for it.
    pub(crate) fn enqueue(&self, stream: &Stream, launch: &Prepared) -> Result<(), EngineError> {
        self.run(&launch.place(), |session| {
            let launch = session.prepare(&self.modules.borrow(), launch, &self.properties)?;
            session.enqueue_in(stream, &launch)
        })
    }

    /// Waits until a stream is empty. Errors name `place`.
    pub(crate) fn wait_for(&self, stream: &Stream, place: &Place) -> Result<(), EngineError> {
        self.run(place, |session| session.wait_for(stream))
    }

    /// Records what `work` enqueues in the stream as a graph.
    pub(crate) fn record(
        &self,
        stream: &Stream,
        work: impl FnOnce() -> Result<(), EngineError>,
    ) -> Result<GraphExec, EngineError> {
        // `work` uses this GPU too, so check that it is usable before rather than around it.
        self.is_usable()?;
        stream.record(work)
    }

    /// Runs a launch to its end; returns the milliseconds between two events.
    pub(crate) fn launch_timed(&self, launch: &Prepared) -> Result<f32, EngineError> {
        self.run(&launch.place(), |session| {
            let resolved = session.prepare(&self.modules.borrow(), launch, &self.properties)?;
            let (start, end) = (Event::timed()?, Event::timed()?);
            session.stream().mark(&start)?;
            session.enqueue(&resolved)?;
            session.stream().mark(&end)?;
            session.wait()?;
            Ok(end.ms_since(&start)?)
        })
    }
}
