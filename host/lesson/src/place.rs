//! Where an instruction comes from: a line of the kernel's own source.
//!
//! Left out: how it is found, which is `lockstep::source`'s affair.

pub use lockstep::source::{Place, places, places_of};
