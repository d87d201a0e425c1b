//! Views of global and shared memory, with which a kernel needs no `unsafe`.
//!
//! A kernel that is a plain `fn` takes only numbers and these views:
//!
//! | parameter | what the thread may do | PTX parameter |
//! |---|---|---|
//! | [`Global<[T; n]>`](Global) | read any element | address |
//! | [`Disjoint<[T; n]>`](Disjoint) | write its own elements | address |
//! | [`Atomic<[T; n]>`](Atomic) | add to any element | address |
//! | [`Scattered<[T; n]>`](Scattered) | write any element, which is `unsafe` | address |
//! | [`Filling<T, L>`](Filling) | put its own elements into a tile in shared memory | none |
//! | [`Block`] | wait for the block's other threads, and compute with them | none |
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
//! A map in the output's type says which elements are a thread's own: [`Linear`] if none is
//! written, [`GridStride`] for several, and for a matrix [`Tiles<ROWS, COLUMNS>`](Tiles) or
//! [`RowPerBlock<THREADS>`](RowPerBlock).
//!
//! # Tiles and barriers
//!
//! A tile is filled, read, and filled again; or filled, added to, and read. Between two of these
//! phases is a barrier, which takes the tile and returns it in the next one:
//!
//! ```
//! # use cuda_std::prelude::*;
//! # use cuda_std::view::{Block, Disjoint, Filling, Global};
//! # use thread::thread_idx_x;
//! const THREADS: u32 = 256;
//!
//! const fn in_a_row(_row: u32, column: u32) -> usize {
//!     column as usize
//! }
//! cuda_std::tile_layout! { pub Part = in_a_row(1, THREADS); }
//!
//! /// The force of all bodies on each, on a line.
//! #[kernel(launch_bounds(THREADS))]
//! pub fn forces(
//!     x: Global<[f32; n]>,
//!     mut force: Disjoint<[f32; n]>,
//!     n: u32,
//!     mut part: Filling<f32, Part>,
//!     block: Block,
//! ) {
//!     let own = x.get(thread::index_1d()).unwrap_or(0.0);
//!     let mut sum = 0.0;
//!     for first in (0..n).step_by(THREADS as usize) {
//!         part.put(x.get(first + thread_idx_x()).unwrap_or(own));
//!         let others = block.sync(part);
//!         for i in 0..THREADS {
//!             let distance = others.get(0, i) - own;
//!             sum += distance / (distance * distance + 1.0);
//!         }
//!         part = block.sync(others);
//!     }
//!     if let Some(force) = force.own() {
//!         force.set(sum);
//!     }
//! }
//! ```
//!
//! The operations of [`Block`] are statements of the outermost level of a kernel, or of a `for` loop
//! there that has the same number of rounds for all threads. A tile with more elements than the block
//! has threads is filled by [`Filling::fill`].
//!
//! # Soundness
//!
//! - *Inside its memory.* Every access is tested against the view's shape, and the launch
//!   has tested the shape against the buffer.
//! - *One writer.* A thread writes nothing of an output but its own [`Element`]s, and a [`Map`]
//!   gives no two threads of a launch the same one. The map is part of the parameter's type,
//!   not of the body, so all threads use the same one. Each map says which geometries it
//!   holds for, and the launch checks that. The same holds for a tile that is being filled, whose
//!   layout says how large the block is.
//! - *No reader of what is written.* An input and an output are never the same memory: on
//!   the host one is borrowed, the other borrowed mutably. What is added to is not read.
//! - *Phases.* All threads have a tile in the same phase: it is neither `Copy` nor `Clone`, goes
//!   through each barrier by value, and its type says which of the kernel's tiles it is, so that no
//!   thread can exchange two.
//! - *The same barriers for all threads.* `#[kernel]` makes the only [`Block`], hides its name, and
//!   allows its operations only where all threads get as often. The integers in a loop's range are
//!   literals, constants, and copies of the kernel's parameters or of other such loops' variables;
//!   no code can bind or change them. In a round, `break` and `continue` do not compile. So all threads
//!   do the same operations in the same order, or have ended, which counts as having arrived.
//!   `return` and `?` before the last operation are rejected where the macro sees them; hidden in
//!   another macro they are harmless for the same reason.
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
//! Where no map says which elements are a thread's own, as in a sort, an output is [`Scattered`]: its
//! length is still the launch's concern, and the one promise left to an `unsafe` block is that no two
//! threads write one element.
//!
//! Left out: barriers in branches, and programmatic dependent launch. These take pointers and are
//! `unsafe`.

mod atomic;
mod block;
mod disjoint;
mod global;
mod layout;
mod map;
mod scattered;
mod shape;
mod tile;

pub use atomic::Atomic;
pub use block::Block;
#[doc(hidden)]
pub use block::{Scratch, div_ceil, uniform};
pub use disjoint::{Disjoint, Element};
pub use global::Global;
pub use layout::{ThreadPerElement, TileLayout};
pub use map::{Geometry, GridStride, Ids, Linear, Map, Reason, RowPerBlock, Stride, Tiles};
pub use scattered::Scattered;
pub use shape::{Length, Rows, Shape};
pub use tile::{Adding, Filled, Filling, Phase};

pub use crate::device_copy::{DeviceCopy, is_element};
