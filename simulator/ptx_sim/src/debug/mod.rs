//! Launches that go forwards and backwards.
//!
//! A launch takes the same course every time, or the one that its schedule names. So it can be
//! halted before any instruction, looked at, and be brought to any earlier moment: a copy of what
//! its blocks have in hand is kept every now and then, with what is overwritten in global memory
//! from there on, and the way from the copy to the moment is run again.
//!
//! *Time* is the number of instructions that warps have executed, in the order in which the
//! simulator runs them. At time `t` instruction number `t`, counted from 0, is about to be executed.
//!
//! In reading order: [`Session`], a launch under control; `kept`, the copies; `walk`, the observer
//! that halts; [`Probe`], which says where; `finding` and `doing`, when what the checks find happens; [`State`]
//! and `values`, what there is to see; `assigned`, which registers have been written.
//!
//! Left out: launches on several devices at the same time; changing what a launch has in memory.

mod assigned;
mod doing;
mod finding;
mod here;
mod kept;
mod probe;
mod session;
mod state;
mod values;
mod walk;

pub use finding::{Found, Party};
pub use here::Position;
pub use probe::{Probe, Touch, Touched};
pub use session::{End, Session, Stopped};
pub use state::{
    BarrierInMemory, BlockState, CopyInFlight, Frame, PathState, SharedVariable, State, Waits,
    WarpState,
};
pub use values::{Known, Moment, Value};
