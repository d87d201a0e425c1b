//! NCCL's functions on the driver API: a program that uses several GPUs through NCCL runs without
//! them, and calls that do not fit each other are found.
//!
//! Ranks are threads or processes of one machine. Whoever makes a communicator's id serves it: each
//! rank connects to that hub, which compares what the ranks call, computes the results, and fails
//! with the names of both sides where NVIDIA's library waits for ever.
//!
//! In reading order: [`result`], statuses; [`types`]; `float8` and [`reduce`], the arithmetic;
//! [`call`], what a rank calls; [`settings`]; [`wire`], what ranks and hub tell each other; [`hub`];
//! `connection`, a rank's side of it; `driver`, the driver's functions; `staging`, `operators`,
//! `exchange` and `job`, what streams work with; [`comm`], communicators; `submit`, `group`; [`api`],
//! the functions themselves.
//!
//! Left out: symmetric windows, one-sided transfers and what kernels can call, growing and shrinking
//! communicators, several machines.

pub mod api;
pub mod call;
pub mod comm;
mod connection;
mod driver;
mod exchange;
mod float8;
mod group;
pub mod hub;
mod job;
mod operators;
pub mod reduce;
pub mod result;
pub mod settings;
mod staging;
mod submit;
pub mod types;
pub mod wire;
