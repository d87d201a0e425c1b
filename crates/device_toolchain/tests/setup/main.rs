//! Setting up the compiler, and everything that can go wrong with it, with programs that
//! stand in for apt, dpkg and rustup: nothing here uses the network.
//!
//! Left out: whether the stand-ins behave like the real programs.
//! Where it matters, their scripts say what the real ones do.
#![cfg(target_os = "linux")]

mod machine;
mod process;
mod standins;

mod cut;
mod damage;
mod disk;
mod ensure;
mod places;
mod concurrent;
