//! Views of global and shared memory, with which a kernel needs no `unsafe`.
//!
//! A kernel that is a plain `fn` takes only numbers and these views:
//!
//! | parameter | what the thread may do | PTX parameter |
//! |---|---|---|
//! | [`Global<[T; n]>`](Global) | read any element | address |
//! | [`Disjoint<[T; n]>`](Disjoint) | write its own element | address |
//! | [`Filling<T, L>`](Filling) | put its own element into a tile in shared memory | none |
//! | [`Barrier`] | meet the block's other threads, once | none |
//!
//! The array types belong to the kernel macro: `n` is a parameter of type `u32` or a constant,
//! and `[[T; n_columns]; n_rows]` is a matrix. A view has no length of its own on the
//! device, so it costs no parameter: its length is that number, and the launch checks that
//! the memory has that length.
//!
//! ```
//! # use cuda_std::prelude::*;
//! # use cuda_std::view::{Disjoint, Global};
//! #[kernel]
//! pub fn double(x: Global<[f32; n]>, mut y: Disjoint<[f32; n]>, n: u32) {
//!     let i = thread::index_1d();
//!     if let (Some(x), Some(y)) = (x.get(i), y.own()) {
//!         y.set(2.0 * x);
//!     }
//! }
//! ```
//!
//! A map in the output's type says which element is a thread's own: [`Linear`] if none is
//! written, and [`Tiles<SIDE>`](Tiles) for a matrix of which each block writes a tile.
//!
//! # Soundness
//!
//! - *Inside its memory.* Every access is tested against the view's shape, and the launch
//!   has tested the shape against the buffer.
//! - *One writer.* A thread writes nothing of an output but its own [`Element`], and a [`Map`]
//!   gives no two threads of a launch the same one. The map is part of the parameter's type,
//!   not of the body, so all threads use the same one. Each map says which geometries it
//!   holds for, and the launch checks that.
//! - *No reader of what is written.* An input and an output are never the same memory: on
//!   the host one is borrowed, the other borrowed mutably.
//! - *Shared memory in two phases.* While a tile is [`Filling`], a thread can only put its
//!   own element; once [`Filled`], threads can only read. Between the two is the barrier,
//!   and the tile goes through it by value.
//! - *One way to the barrier.* `#[kernel]` allows [`Filling::sync`] only as a statement of
//!   the body's outermost level, with the token [`Barrier`], which only `#[kernel]` makes.
//!   A kernel has one tile and one barrier, so that no thread can exchange two of them.
//!   So all threads reach the same barrier, or have ended, which counts as having reached
//!   it. `return` and `?` before it are rejected where the macro sees them; hidden in another
//!   macro they are harmless for the same reason.
//!
//! An element that no thread has put into a tile has whatever bits the memory held; for every type
//! allowed here these are some value. The simulator's checks report such a read.
//!
//! # Obligations of a launch
//!
//! Until the kernel has ended, a launch guarantees what `SafeKernel::admit`
//! (`cuda_std::launch`) checks, and what the borrows of its arguments say. A launch by
//! addresses is `unsafe` and has the same obligations.
//!
//! Other barriers are `unsafe` ([`crate::thread`]), and so is everything else that the threads of
//! a warp or of a block must do together: a function that a safe kernel calls cannot wait in
//! diverged code without `unsafe`.
//!
//! Left out: kernels whose threads write several elements, or those of other threads; more than one
//! tile; atomics; and programmatic dependent launch. These take pointers and are `unsafe`.

mod disjoint;
mod global;
mod map;
mod shape;
mod tile;

pub use disjoint::{Disjoint, Element};
pub use global::Global;
pub use map::{Geometry, Ids, Linear, Map, Reason, Tiles};
pub use shape::{Length, Rows, Shape};
pub use tile::{Barrier, Filled, Filling, TileLayout};

pub use crate::device_copy::DeviceCopy;
