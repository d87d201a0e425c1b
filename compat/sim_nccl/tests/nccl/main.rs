//! NCCL's functions on eight simulated devices.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is one of a C API"
)]

mod arguments;
mod arithmetic;
mod collectives;
mod failures;
mod groups;
mod ranks;
