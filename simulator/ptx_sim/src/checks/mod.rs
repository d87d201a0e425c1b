//! Observers, which watch a kernel while it runs.
//!
//! An [`Observer`](observer::Observer) is notified of every block of instructions, every memory
//! access and everything that orders accesses, and cannot change anything: the semantics import
//! nothing from here but this trait, and a run without observers compiles to a loop without them.
//!
//! Reading order: [`access`] and [`observer`], what observers are notified of; [`count`] and
//! [`counters`], what an access costs, and [`links`], what crosses to other devices; [`order`], what comes before what; [`shadow`] and [`races`],
//! unordered accesses; [`copies`], asynchronous copies; [`bulk`], bulk copies; [`proxies`], what
//! works on shared memory alongside the threads, including [`products`] of warpgroups, and
//! [`fragments`] on their registers, kept [`by_register`], combined in [`beside`]; [`written`], reads of unwritten
//! memory, and what is only [`passed_on`]; [`stores`] and their [`pattern`], the threads that should have written it; [`convergence`], barriers and warp-wide instructions, and [`undefined`], the values of
//! shuffles that read from absent lanes; [`remote_shared`], what others do in a block's shared
//! memory, and its end. [`judge`] is the interface to what judges accesses to memory: [`exact`],
//! which reports what is wrong, and [`prefilter`], which only says whether anything could be.
//! [`watch`] passes each event to the checks that it concerns, and [`finding`] is what they find.
//! [`recorder`] keeps more of a run: what it overwrites, or, by [`tracer`], its events, a
//! [`trace`].
//!
//! What each check can miss is in its module's documentation, and for users in
//! `docs/checks.md`.

pub(crate) mod access;
pub(crate) mod recorder;
mod beside;
mod by_register;
pub(crate) mod bulk;
pub(crate) mod copies;
pub mod count;
pub(crate) mod counters;
pub(crate) mod exact;
pub(crate) mod finding;
pub(crate) mod fragments;
pub(crate) mod judge;
pub(crate) mod links;
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
mod uses;
mod remote_shared;
pub(crate) mod watch;
pub(crate) mod written;
