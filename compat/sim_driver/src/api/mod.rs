//! The driver's functions, as `cuda.h` declares them.
//!
//! Every function catches its own panics, and returns what a driver returns; as with a driver, the
//! client is responsible for what its arguments point to. [`function`] finds one by name. Functions
//! that use a default stream have a variant, `…_ptsz` or `…_ptds`, for programs in which each
//! thread has its own default stream.
#![allow(non_snake_case)]
#![allow(missing_docs, reason = "they are what `cuda.h` documents")]
#![allow(
    clippy::missing_safety_doc,
    reason = "each is what `cuda.h` says of it"
)]
#![allow(clippy::too_many_arguments, reason = "theirs")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every pointer is the client's, checked for null; see `call`"
)]

pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod graph;
pub mod graph_node;
pub mod host;
pub mod kernel;
pub mod launch;
pub mod legacy;
pub mod library;
pub mod link;
pub mod memory;
pub mod misc;
pub mod module;
pub mod occupancy;
pub mod proc_address;
pub mod stream;
pub mod tensor_map;
pub mod user_object;

mod call;
mod table;
mod work;

use crate::client::{get, list, put, put_if, put_list, put_text, text};
pub use call::{Entry, not_simulated};
use call::{answered, api, unpoisoned};
use work::{run, submit, uncaptured, usable};

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static Entry> {
    let tables = table::ALL.iter().copied();
    tables.chain([proc_address::ENTRIES]).flatten()
}

/// The function with this name, to be called with the arguments that `cuda.h` declares.
pub fn function(name: &str) -> Option<*const ()> {
    let entry = functions().find(|entry| entry.name == name);
    entry.map(|entry| entry.function)
}
