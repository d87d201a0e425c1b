//! The Debug Adapter Protocol: editors as the debugger's front end.
//!
//! Microsoft's protocol, <https://microsoft.github.io/debug-adapter-protocol>, version 1.68: requests
//! and responses in JSON, over standard input and output or over TCP. A [`Server`] lives as long as
//! the program. It keeps what the editor asked for, and gets the program's launches one after the
//! other, each with [`Server::control`], which returns when the launch is to run to its end.
//!
//! In reading order:
//! - `framing`: messages in a stream of bytes;
//! - `incoming`: the thread that reads them, and halts the launch for them while it runs;
//! - `request`: a request and its arguments;
//! - `server`: what holds for all launches of a program;
//! - `capabilities`: what the editor may ask for;
//! - `addresses`: names by which the editor knows instructions and memory;
//! - `wanted`: breakpoints, kept from launch to launch;
//! - `control`: a launch under the editor's control; `dispatch`: its requests; `going`: its way from
//!   stop to stop; `stops`: why it was halted, in the protocol's words;
//! - `threads`: warps as threads, calls and inlined calls as frames;
//! - `variables`: what there is to unfold; `evaluate`: expressions and commands;
//! - `code`: the PTX as a text and as a disassembly; bytes of memory;
//! - [`adapter`]: what an editor starts, and starts the program.
//!
//! *Threads* of the protocol are warps of the blocks in flight. One lane of each is looked at: the
//! console's `lane 5` chooses another.
//!
//! Messages are [`serde_json::Value`]s, read by `request` and written in place. The crates with the
//! protocol's types (`dap`, `dap-types`, `debug_types`) were made for older versions of it and are
//! not kept up; of a request's arguments two or three are used here; and a wrong type in one of the
//! others must not refuse the request.
//!
//! Left out: hit counts, log points, changing variables, several devices at the same time. Requests
//! that arrive while the program is between two launches are answered at the next one.

pub mod adapter;
mod addresses;
mod capabilities;
mod code;
mod control;
mod dispatch;
mod evaluate;
mod framing;
mod going;
mod incoming;
mod request;
mod server;
mod stops;
mod threads;
mod variables;
mod wanted;

pub use server::{Server, Then};
