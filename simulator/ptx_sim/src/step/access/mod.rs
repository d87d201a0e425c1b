//! Accesses to memory.
//!
//! [`addresses`] computes where the lanes read or write, [`mod@locate`] checks it
//! and finds the bytes, [`host`] moves them. [`load_store`] is `ld` and `st`: lanes
//! that read or write neighbouring words are served by one copy ([`rows`]), those of
//! local memory by [`local`], all others one by one ([`elements`]). Loads of which not all
//! bytes matter are separate ([`parts`]), and so are accesses to other blocks' shared
//! memory ([`mod@by_block`]).

mod addresses;
mod affine;
mod by_block;
mod elements;
mod host;
mod load_store;
mod local;
mod locate;
mod parts;
mod rows;

pub(super) use addresses::{Addresses, lane_addresses};
pub(super) use by_block::{InCluster, by_block};
pub(super) use host::{read8, read16, read32, read64, write8, write16, write32, write64};
pub(super) use load_store::{load, store};
pub(super) use locate::{Located, Request, locate};
pub(super) use parts::load_parts;
