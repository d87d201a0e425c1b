//! The debugger as a view that fills the terminal: the source, the lanes of a warp, registers,
//! memory as tiles, and keys that step both ways.
//!
//! In reading order:
//!
//! - [`view`]: what is shown and what keys do, without a terminal;
//! - [`keys`]: the keys;
//! - [`prompt`], [`popup`]: the line that is typed, and texts over everything else;
//! - [`places`]: source lines and instructions that the cursor can be on;
//! - [`warp`]: the lanes of a warp and the warps of a block as cells;
//! - [`access`]: the memory that the current instruction touches;
//! - [`panes`]: what the lower part can show;
//! - [`mod@draw`]: all of it on a screen;
//! - [`terminal`]: the terminal, its keyboard, and how both are left as they were.
//!
//! Left out: everything that moves the launch or computes what it shows, which is the crate
//! `debugger`'s.

pub mod access;
pub mod draw;
pub mod keys;
pub mod panes;
pub mod places;
pub mod popup;
pub mod prompt;
pub mod terminal;
pub mod view;
pub mod warp;

pub use terminal::run;
