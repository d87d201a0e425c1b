//! The driver's objects, each owned by a value that gives it back when dropped.
//!
//! Reading order: [`sys`] (the functions), [`context`], [`stream`], [`event`], [`module`],
//! [`graph`], [`memory`], [`tensor_map`]. An error is the driver's own, with its name and its words.
//!
//! `cust` has all of this too. It is not used here, because its build script gives up
//! where no CUDA toolkit is installed unless an environment variable names a folder, and a
//! library cannot set that for the packages that depend on it.
//!
//! Left out: textures, arrays, managed memory, several devices in one context.

pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod stream;
mod sys;
pub(crate) mod tensor_map;

pub(crate) use context::Context;
pub(crate) use event::Event;
pub(crate) use graph::{Graph, GraphExec};
pub(crate) use module::{Function, Module};
pub(crate) use stream::Stream;
