//! The tests that hold across crates, in one program: it is linked once, and what they
//! share is compiled once. `cargo test -p lockstep-tests schedules` runs one file's.
//!
//! Left out: what needs a process of its own (`tests/gpu.rs`).

mod accesses;
mod also_without_line_tables;
mod backwards;
mod book;
mod broken_catalogue;
mod broken_kernels;
mod catalogue_ptx;
mod commands;
mod crates;
mod explain;
mod gemm_choice;
mod gemm_mutants;
mod lessons;
mod live;
mod local_memory;
mod profile;
mod ptx_contracts;
mod races;
mod registry;
mod reports;
mod schedules;
mod several;
mod support;
mod tensor;
