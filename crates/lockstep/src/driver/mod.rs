//! The driver's objects, each owned by a value that frees it on drop.
//!
//! Reading order: [`objects`] (what every launch needs, from `cust` or our own), then the rest of
//! the same context: [`sys`] (the functions), [`stream`], [`module`], [`graph`], [`host_memory`],
//! [`tensor_map`], [`peers`]. Errors are the driver's own, with name and description.
//!
//! Left out: textures, arrays, managed memory, several devices in one context.

pub(crate) mod graph;
pub(crate) mod host_memory;
pub(crate) mod module;
pub(crate) mod objects;
pub(crate) mod peers;
pub(crate) mod stream;
mod sys;
pub(crate) mod tensor_map;

pub(crate) use graph::{Graph, GraphExec};
pub(crate) use objects::{Context, Event, Function, Module, Stream, memory};
