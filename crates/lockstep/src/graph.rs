//! Graphs: work recorded from a stream, to be run repeatedly at the cost of one launch.

use crate::Device;
use crate::driver::GraphExec;
use crate::engine::{EngineError, Place};
use crate::step::Recorded;
use std::cell::Cell;
use std::fmt;

/// What [`Stream::record_graph`](crate::Stream::record_graph) recorded.
pub struct Graph {
    device: Device,
    kind: Kind,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}

enum Kind {
    Gpu { exec: GraphExec, places: Vec<Place> },
    Sim(Vec<Recorded>),
}

impl Graph {
    pub(crate) fn on_gpu(device: &Device, exec: GraphExec, places: Vec<Place>) -> Self {
        Self {
            device: device.clone(),
            kind: Kind::Gpu { exec, places },
        }
    }

    pub(crate) fn on_simulator(device: &Device, steps: Vec<Recorded>) -> Self {
        Self {
            device: device.clone(),
            kind: Kind::Sim(steps),
        }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn exec(&self) -> Option<&GraphExec> {
        match &self.kind {
            Kind::Gpu { exec, .. } => Some(exec),
            Kind::Sim(_) => None,
        }
    }

    /// Its launches, on a GPU.
    pub(crate) fn places(&self) -> &[Place] {
        match &self.kind {
            Kind::Gpu { places, .. } => places,
            Kind::Sim(_) => &[],
        }
    }

    /// Its steps, on the simulator.
    pub(crate) fn steps(&self) -> &[Recorded] {
        match &self.kind {
            Kind::Gpu { .. } => &[],
            Kind::Sim(steps) => steps,
        }
    }
}

thread_local! {
    /// How many graphs this thread is recording.
    static RECORDED: Cell<usize> = const { Cell::new(0) };
}

/// While a graph is recorded.
pub(crate) struct Recording;

impl Recording {
    pub fn begin() -> Self {
        RECORDED.set(RECORDED.get() + 1);
        Self
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDED.set(RECORDED.get() - 1);
    }
}

/// An error for a launch in no stream while this thread records a graph: it would be no part of it.
pub(crate) fn refuse_launch_while_recording() -> Result<(), EngineError> {
    match RECORDED.get() {
        0 => Ok(()),
        _ => Err(EngineError::Stream(
            "a graph is being recorded, and this launch would run at once and be no part of it: \
             `Stream::launch` puts it into the stream"
                .to_owned(),
        )),
    }
}
