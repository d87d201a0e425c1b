//! Places of instructions: in a module, and the one that a launch is halted at.

use crate::context::LaunchContext;
use crate::diagnostics::Place;
use crate::warp::FrameId;

/// An instruction of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The function's number in the module.
    pub function: usize,
    /// The instruction's number in the function's body.
    pub instruction: u32,
}

impl Position {
    /// Its place in the PTX text and in the source.
    pub(crate) fn place(self, launch: &LaunchContext<'_>) -> Place {
        launch.place(self.function, self.instruction)
    }
}

/// What a launch was about to execute when it was halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Here {
    /// The block's number in the grid, and the warp's in the block.
    pub block: u64,
    pub warp: u32,
    pub frame: FrameId,
    pub function: usize,
    /// The instruction, numbered within the function.
    pub ptx: u32,
    /// The lanes of the path, and those whose guard holds.
    pub lanes: u32,
    pub active: u32,
}
