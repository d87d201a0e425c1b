//! The driver's objects, each owned by a value that gives it back when dropped.
//!
//! Reading order: [`objects`] (what every launch needs, by `cust` or our own), then what stands
//! beside it on the same context: [`sys`] (the functions), [`stream`], [`module`], [`graph`],
//! [`host_memory`], [`tensor_map`]. An error is the driver's own, with its name and its words.
//!
//! Left out: textures, arrays, managed memory, several devices in one context.

pub(crate) mod graph;
pub(crate) mod host_memory;
pub(crate) mod module;
pub(crate) mod objects;
pub(crate) mod stream;
mod sys;
pub(crate) mod tensor_map;

pub(crate) use graph::{Graph, GraphExec};
pub(crate) use objects::{Context, Event, Function, Module, Stream, memory, synchronize};
