//! The execution of instructions.
//!
//! In reading order: [`context`], what an instruction works on; [`run`], the
//! interpreter's loop, which runs the lanes of one path, block after block, until
//! they end, wait, meet others or use up their time slice; [`followed`], what it reports of
//! registers; [`instruction`], which executes one instruction. Each kind has its own file:
//! [`lanewise`], [`access`], [`atomic`], [`collective`], [`matrix`], [`mbarrier`], [`async_store`],
//! [`bulk`], [`warpgroup`]. How a block ends is in [`control`], [`call`], [`external`], [`heap`],
//! [`barrier`] and [`cluster_barrier`]; lanes that come to a warp-wide instruction one after the
//! other meet in [`gather`]; [`whole_warp`] requires all of them. `vectors` puts lanes' elements
//! together; [`transpose`] turns matrices of them.

mod access;
mod async_store;
mod atomic;
mod barrier;
mod bulk;
mod call;
mod cluster_barrier;
mod collective;
mod context;
mod control;
mod external;
mod followed;
mod gather;
mod heap;
mod instruction;
mod lanewise;
mod matrix;
mod mbarrier;
mod next;
mod printf;
mod run;
mod transpose;
#[cfg(target_arch = "x86_64")]
mod vectors;
mod warpgroup;
mod whole_warp;

pub(crate) use bulk::{bytes_awaited, finish_block};
pub(crate) use context::Env;
pub(crate) use gather::wake_complete;
pub(crate) use run::{PathEnd, run_path};
