//! Observers, which watch a kernel while it runs.
//!
//! An [`Observer`](observer::Observer) is notified of every block of instructions, every memory access
//! and everything that orders accesses, and cannot change anything: semantics
//! never import what is in here beyond this trait, and a run without observers
//! compiles to a loop without them.
//!
//! Reading order: [`access`] and [`observer`], what observers are notified of; [`count`] and [`counters`], what an access costs; [`order`],
//! what comes before what; [`shadow`] and [`races`], accesses in no order;
//! [`copies`], asynchronous copies; [`bulk`], bulk copies; [`proxies`], what else works on
//! shared memory beside the threads, [`products`] of warpgroups among it, and [`fragments`]
//! on their registers, all together [`beside`]; [`written`], reads of unwritten memory; [`stores`] and their [`pattern`], who
//! should have written what nobody has;
//! [`convergence`], barriers and warp-wide instructions, and [`undefined`], what shuffles give that
//! read from nobody; [`remote_shared`], what others do in a block's
//! shared memory, and its end. [`judge`] is the interface to what
//! judges accesses to memory: [`exact`], which says what is wrong, and [`prefilter`], which
//! only says whether anything could be. [`watch`] hands each event to those whom it
//! concerns, and [`finding`] is what they find. [`recorder`] is what else is kept of a run: what it
//! overwrites, or, by [`tracer`], its events, a [`trace`].
//!
//! What each check can miss stands in its module's documentation, and for users
//! in `docs/checks.md`.

pub(crate) mod access;
pub(crate) mod recorder;
mod beside;
pub(crate) mod bulk;
pub(crate) mod copies;
pub mod count;
pub(crate) mod counters;
pub(crate) mod exact;
pub(crate) mod finding;
pub(crate) mod fragments;
pub(crate) mod judge;
mod memo;
pub(crate) mod observer;
pub(crate) mod order;
mod passed_on;
pub(crate) mod pattern;
mod products;
pub(crate) mod proxies;
pub(crate) mod races;
pub(crate) mod shadow;
pub(crate) mod stores;
pub(crate) mod prefilter;
pub(crate) mod convergence;
pub mod trace;
pub(crate) mod tracer;
mod undefined;
mod remote_shared;
pub(crate) mod watch;
pub(crate) mod written;
