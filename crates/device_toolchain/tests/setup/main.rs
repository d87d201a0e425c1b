//! Setting up the compiler, and all that can go wrong with it, with programs that
//! stand in for apt, dpkg and rustup: nothing here goes to the network.
//!
//! What it leaves out: whether the stand-ins behave as the real programs do.
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
