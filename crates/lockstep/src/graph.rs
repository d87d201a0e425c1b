//! Graphs: work recorded from a stream, to be run repeatedly at the cost of one launch.

use crate::Device;
use crate::driver::GraphExec;
use crate::engine::Place;
use crate::step::Step;

/// What [`Stream::record_graph`](crate::Stream::record_graph) recorded.
pub struct Graph {
    device: Device,
    kind: Kind,
}

enum Kind {
    Gpu { exec: GraphExec, places: Vec<Place> },
    Sim(Vec<Step>),
}

impl Graph {
    pub(crate) fn on_gpu(device: &Device, exec: GraphExec, places: Vec<Place>) -> Self {
        Self {
            device: device.clone(),
            kind: Kind::Gpu { exec, places },
        }
    }

    pub(crate) fn on_simulator(device: &Device, steps: Vec<Step>) -> Self {
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
    pub(crate) fn steps(&self) -> &[Step] {
        match &self.kind {
            Kind::Gpu { .. } => &[],
            Kind::Sim(steps) => steps,
        }
    }
}
