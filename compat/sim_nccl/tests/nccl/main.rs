//! NCCL's functions on eight simulated devices.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is one of a C API"
)]

#[macro_use]
mod ranks;
mod arguments;
mod arithmetic;
mod collectives;
mod failures;
mod groups;
