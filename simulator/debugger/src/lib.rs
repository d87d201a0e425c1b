//! A debugger for kernels on the simulator, which goes forwards and backwards.
//!
//! It works on a [`Session`](ptx_sim::debug::Session) of the simulator, which can be at any moment
//! of a launch. In reading order:
//!
//! - [`debugger`]: the debugger: breakpoints, steps both ways, who wrote a word last;
//! - `watcher`: what looks for the moment to halt at;
//! - [`program`]: source lines and inlined calls of the code;
//! - [`names`], [`element`]: memory with names, and the types of its elements;
//! - [`expression`]: expressions and conditions;
//! - [`places`]: breakpoints as they are written;
//! - [`sources`]: the text of source files;
//! - `text`, [`show`]: everything as text;
//! - [`lines`]: the debugger by lines of text, for terminals, pipes and scripts;
//! - [`dap`]: the debugger in editors;
//! - [`variables`]: where the source's variables are at an instruction of the PTX;
//! - `vars`: their values, at a moment of a launch;
//! - [`front`]: where it talks, for programs that do not know of it.

pub mod dap;
pub mod debugger;
pub mod element;
pub mod expression;
pub mod front;
pub mod lines;
pub mod names;
pub mod places;
pub mod program;
pub mod show;
pub mod sources;
mod text;
pub mod variables;
mod vars;
mod watcher;

pub use debugger::{Debugger, Direction, Reason, Stop};
pub use watcher::{At, Breakpoint, Focus, Reach, Unit};
